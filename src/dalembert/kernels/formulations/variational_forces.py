"""What forces add to the matrix of a variational step of bodies (variational_bodies.py), by numbers with derivatives: exact.

A file of its own: only runs that ask for it compile it. COUNT columns come from one evaluation of the forces; beside these
nothing is compiled for such numbers.
"""

import numpy as np

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.dual import value_of
from dalembert.kernels.base.dual_types import COUNT, SIZE, as_duals
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.tables import NON_FINITE, OK
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.base.views import Numbers, System, Wrenches
from dalembert.kernels.coordinates.exponential import dexp_inverse
from dalembert.kernels.formulations.constant_twist import add_components, freedoms
from dalembert.kernels.formulations.variational_bodies import columns, felt_by, force_terms


@light
def exact_forces(steps, system):
    """impulses.D <- dexp_{-phi}^-1 dS - dE at the first guess of a step from y; it is `known` if all are numbers. Status."""
    x, h, nq, nu = steps.y, system.count.step, system.nq, system.nu
    duals = System(steps.slopes_I, system.F, as_duals(steps.slopes_W, COUNT))
    y, z_doubles, f_doubles = (
        steps.slopes_work[: SIZE * x.size],
        steps.slopes_work[SIZE * x.size : SIZE * (x.size + nu)],
        steps.slopes_work[SIZE * (x.size + nu) : SIZE * (x.size + 2 * nu)],
    )
    z, f, made, finite, status = as_duals(z_doubles, COUNT), as_duals(f_doubles, COUNT), duals.impulses, True, OK
    S, E, D, count = Wrenches(made.S, 0), Wrenches(made.E, 0), system.impulses.D, int(columns(system)[0])
    for b in range(system.nb + 1):  # the ground, and axes of point masses, stay what they are
        duals.bodies[b].r, duals.bodies[b].R = system.bodies[b].r, system.bodies[b].R
    for first in range(0, count, COUNT):
        lanes = min(COUNT, count - first)
        copy(z, Numbers(x, nq), nu)
        for k in range(lanes):
            c, felt = felt_by(first + k, system)
            for body in system.bodies:
                if int(felt[body.number]) == body.number:
                    z_doubles[SIZE * (body.u + c) + 1 + k] = 1.0
        seen, _ = force_terms(system.count.began, h, x, z, made.S, made.E, as_duals(y, COUNT), duals)
        status = seen if status == OK else status
        clear(f, nu)
        for body in duals.bodies:
            s, e, w = S[body.number], E[body.number], body.w
            turn = -h * Vec3(value_of(w.x), value_of(w.y), value_of(w.z))
            add_components(f, 1, 1.0, s.force - e.force, dexp_inverse(turn, s.torque) - e.torque, body, duals.plane)
        for k in range(lanes):
            c, felt = felt_by(first + k, system)
            for body in system.bodies:
                other = int(felt[body.number])
                for i in range(body.u, body.u + freedoms(body) if other > 0 else 0):
                    change = f_doubles[SIZE * i + 1 + k]
                    finite &= np.isfinite(change)
                    D[nu * i + system.bodies[other].u + c] = change
    if status == OK and not finite:
        status = NON_FINITE
    system.impulses.known = 1.0 if status == OK else 0.0
    return status
