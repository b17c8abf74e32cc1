"""Variational steps of bodies: orders on every kind of row and force, compositions, the work of forces and drivers, momenta."""

import subprocess
import sys

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

TIGHT = da.DOP853(rtol=1e-13, atol=1e-13)


def damped():
    """A body on a ball joint with a spring-damper and a torque that has no potential."""
    model = da.Model((0, 0, -9.81))
    body = model.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0, 0), angular_velocity=(1, 2, 0.5))
    model.add_spherical("pivot", model.ground, body, point=(0, 0, 0))
    ends = ((0, 0.3, 1.0), (0.3, 0.1, 0.2))
    model.add_spring_damper("rope", model.ground, body, points=ends, stiffness=30.0, damping=2.0, length=0.5)
    model.add_torque("motor", body, (0.1, 0.2, 0.3), frame="body")
    return model


def driven():
    """An arm turned by a driver, a body hanging from it."""
    model = da.Model((0, 0, -9.81))
    arm = model.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(0.5, 0, 0))
    model.add_revolute("axle", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0))
    load = model.add_body("load", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1.0, 0, -0.5), angular_velocity=(0, 1, 3))
    model.add_spherical("hook", arm, load, point=(1, 0, 0))
    model.add_driver("motor", "axle", da.Polynomial((0, 0, 0.5, 0.3)))
    return model


def ball_on_turning_table():
    model = da.Model((0, 0, -9.81))
    table = model.add_body("table", **da.disc(5.0, 1.0).body(), angular_velocity=(0, 0, 3.0))
    model.add_revolute("axle", model.ground, table, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "axle", da.Polynomial((0, 3.0)))
    model.add_body("ball", **da.sphere(1.0, 0.1).body(), position=(0.4, 0, 0.1), velocity=(0.1, 0.2, 0))
    model.add_rolling_sphere("contact", "ball", radius=0.1, on="table")
    return model


def planar():
    return da.compile(gallery.build("planar_quadrangle"), "planar")


CASES = {
    "free body": (lambda: gallery.build("euler_top"), 1.0, 0.02),
    "ball joint": (lambda: gallery.build("spin_top"), 1.0, 0.02),
    "closed loop": (lambda: gallery.build("slider_crank"), 0.4, 0.002),
    "redundant rows": (lambda: gallery.build("four_bar"), 0.5, 0.01),
    "planar coordinates": (planar, 0.5, 0.01),
    "point masses": (lambda: gallery.build("spherical_pendulum"), 0.2, 0.004),
    "rolling sphere": (gallery.routh_sphere, 0.2, 0.002),
    "rolling disc": (gallery.rolling_disc, 0.5, 0.01),
    "rolling wheels": (lambda: gallery.build("bicycle"), 0.1, 0.004),
    "rolling on a moving plane": (ball_on_turning_table, 0.5, 0.01),
    "knife edge": (gallery.sleigh, 1.0, 0.05),
    "forces": (damped, 0.5, 0.01),
    "driver": (driven, 0.5, 0.01),
}
each = pytest.mark.parametrize("case", CASES)


def run(model, t_end, step, composition=1, **options):
    integrator = da.FixedStep(step=step, composition=composition)
    return da.simulate(model, t_end, formulation=da.Variational(**options), integrator=integrator)


def errors(case, steps, **options):
    make, t_end, _ = CASES[case]
    model = make()
    exact = da.simulate(model, t_end, integrator=TIGHT)
    n = exact.mechanism.nq + exact.mechanism.nu
    return np.array([np.abs(run(model, t_end, step, **options).x[-1, :n] - exact.x[-1, :n]).max() for step in steps])


def order(found):
    return float(np.log2(found[-2] / found[-1]))


@each
def test_midpoint_has_order_two(case):
    step = CASES[case][2]
    assert order(errors(case, (step / 2, step / 4))) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize("case", ["ball joint", "rolling sphere", "forces", "driver"])
def test_curves_have_their_orders(case):
    """One for symplectic Euler, two for Verlet, of any quadrature two on straight lines."""
    step = CASES[case][2]
    for options, expected in (
        ({"curve": "symplectic-euler"}, 1),
        ({"curve": "verlet"}, 2),
        ({"curve": "midpoint", "quadrature": "gauss-3"}, 2),
    ):
        assert order(errors(case, (step / 4, step / 8), **options)) == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(("composition", "expected"), [(3, 4), (5, 4), (7, 6)])
@pytest.mark.parametrize("case", ["closed loop", "rolling sphere", "rolling disc", "knife edge"])
def test_symmetric_compositions_raise_the_order(case, composition, expected):
    step = CASES[case][2]
    assert order(errors(case, (2 * step, step), composition=composition)) == pytest.approx(expected, abs=0.15)


@each
def test_every_point_is_on_the_constraints(case):
    make, t_end, step = CASES[case]
    solution = run(make(), t_end, step)
    assert solution.drift.position.max() <= 1e-13
    assert solution.drift.velocity.max() <= 1e-13
    for body in solution.mechanism.body_names:
        assert np.abs(np.linalg.norm(solution.quaternion(body), axis=1) - 1).max() <= 1e-15


@pytest.mark.parametrize("case", ["forces", "driver"])
def test_energy_balance_closes_with_the_order(case):
    """T + U - work of dampers, torques and drivers: the work is that of the discrete principle itself."""
    make, t_end, step = CASES[case]
    balance = []
    for h in (step, step / 2):
        energy = run(make(), t_end, h).energy
        balance.append(np.ptp(energy.total))
        assert np.ptp(energy.external_work) > 100 * balance[-1]
    assert order(balance) == pytest.approx(2, abs=0.05)


def test_reactions_are_those_of_the_states():
    make, t_end, step = CASES["closed loop"]
    exact = da.simulate(make(), t_end, integrator=TIGHT)
    found = [
        np.abs(run(make(), t_end, h).reaction("B").force[-1] - exact.reaction("B").force[-1]).max() for h in (step, step / 2)
    ]
    assert order(found) == pytest.approx(2, abs=0.1)


def test_momenta_of_symmetries_are_kept_to_rounding():
    """Noether's theorem for sums: a free body keeps R I w, a top what of it is vertical, whatever the step."""
    solution = run(gallery.build("euler_top"), 50.0, 0.1)
    body = solution.mechanism.body_names[0]
    J = np.asarray(solution.mechanism.model.bodies[0].inertia)
    momentum = np.einsum("tij,tj->ti", solution.rotation(body), solution.angular_velocity(body, frame="body") @ J)
    assert np.ptp(momentum, axis=0).max() <= 1e-13 * np.linalg.norm(momentum[0]) * len(solution.t) ** 0.5
    top = run(gallery.build("spin_top"), 10.0, 0.05)
    name = top.mechanism.body_names[0]
    J = np.asarray(top.mechanism.model.bodies[0].inertia)
    turning = np.einsum("tij,tj->ti", top.rotation(name), top.angular_velocity(name, frame="body") @ J)
    pivot = top.mechanism.model.joints[0]
    arm = top.position(name) - np.asarray(pivot.p_i)
    vertical = (turning + top.mechanism.model.bodies[0].mass * np.cross(arm, top.velocity(name)))[:, 2]
    assert np.ptp(vertical) <= 1e-12 * np.abs(vertical[0])


def test_newton_stops_with_words():
    with pytest.raises(da.SimulationError, match="Newton's method did not solve the equations of the step at t = 0"):
        run(gallery.build("slider_crank"), 1.0, 0.1, max_newton=3)


MATRIX = """
import numpy as np
import dalembert as da
from dalembert import gallery
from dalembert.kernels.formulations import variational_bodies as kernels

for model in (gallery.build("bicycle"), gallery.build("slider_crank"), gallery.routh_sphere()):
    run = da.Variational(quadrature="simpson").prepare(da.compile(model))
    system, x, t, h = run.view, run.from_absolute(run.mechanism.x_0), 0.3, 0.07
    N, node, y = int(system.unknowns), system.node, x.copy()
    kernels.load_node(t, x, system)
    z, residual, matrix = (run.W[v.at : v.at + n] for v, n in ((node.z, N), (node.residual, N), (node.matrix, N * N)))
    z += np.random.default_rng(1).normal(size=N)
    kernels.assemble(t, h, True, x, y, system)
    matrix, at, e = matrix.reshape(N, N).copy(), z.copy(), 1e-4
    for j in range(N):
        sides = []
        for k in (-2, -1, 1, 2):
            z[:] = at
            z[j] += k * e
            kernels.assemble(t, h, False, x, y, system)
            sides.append(residual.copy())
        found = -(sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * e)
        assert np.abs(found - matrix[:, j]).max() <= 1e-9 * np.abs(matrix).max(), (j, found - matrix[:, j])
print("exact")
"""


def test_newton_matrix_is_exact():
    """Against differences of the residual at a point that is no solution; gravity alone, so no differences in it."""
    from os import environ

    options = {"capture_output": True, "text": True, "env": {**environ, "NUMBA_DISABLE_JIT": "1"}}
    done = subprocess.run([sys.executable, "-c", MATRIX], check=False, **options)
    assert done.stdout.strip() == "exact", done.stderr


def test_bodies_that_share_no_force_are_differentiated_at_once():
    """A chain with dampers in its joints takes three groups, whatever its length: 18 evaluations and not 6 for
    every rod."""
    from dalembert.formulations.variational import _columns

    for n in (5, 12):
        count, *felt = _columns(da.compile(gallery.coiled_chain(n, joint_damping=50.0)).I)
        felt = np.reshape(felt, (int(count), n + 2)).astype(int)
        assert count == 18 and felt[:, 0].tolist() == [*range(6)] * 3
        felt = felt[::6, 1:]
        own = felt == np.arange(n + 1)
        own[:, 0] = False
        assert (own.sum(axis=0) == np.r_[0, np.ones(n)]).all()  # every rod is in one group, and feels its neighbours there
        for group, members in zip(felt, own, strict=True):
            for b in np.flatnonzero(members):
                assert (group[max(b - 1, 1) : b + 2] == b).all()
    model = da.Model()
    for k in range(3):
        model.add_body(f"body{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(k, 0, 0))
    assert _columns(da.compile(model).I).tolist() == [0.0]  # no forces
