"""What the equations of motion imply at one state: balance of forces, multipliers that do no work, power = dE/dt."""

import numpy as np
import pytest
from kernel_calls import (
    DIFFERENCE,
    conservative_wrench,
    difference,
    energies,
    evaluate,
    mass_matrix,
    moved,
    project,
    restrict,
    rows,
    twist,
)
from random_mechanisms import SHAPES, planar_chain, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.kernels.mechanics.forces import MOTOR_SLIDE, POINT_FORCE, SPRING, TORQUE

CASES = [(shape, seed) for shape in SHAPES for seed in range(4)]
FEW = [("tree", 1), ("hub", 0), ("ring", 1)]
FORCES = {POINT_FORCE, TORQUE, *range(SPRING, MOTOR_SLIDE + 1)}  # all but the user's own
# Block solves with up to 6 joints per body, cond(S) <= 1e4 for these seeds: 1e4 eps = 2e-12 of the largest term
SOLVE = 1e-11


def planar_models():
    return [planar_chain(0), planar_chain(3), gallery.planar_quadrangle()]


def mechanisms(shape, seed):
    if shape == "planar":
        return compile(planar_models()[seed], "planar")
    return compile(random_model(seed, shape))


def consistent(mechanism, t):
    """A state on the constraints at time t (drivers have moved since 0)."""
    status, x, _ = project(mechanism, t, mechanism.x_0)
    assert status == T.OK
    return x


def admissible(mechanism, G, rng):
    """A random velocity with G v = 0 that the bodies can have."""
    v = restrict(mechanism, rng.standard_normal(6 * mechanism.nb))
    return v - np.linalg.lstsq(G, G @ v, rcond=None)[0]


def check_balance(mechanism, t, rng):
    x = consistent(mechanism, t)
    e = evaluate(mechanism, t, x)
    assert e.status == T.OK
    G, _, _, zeta = rows(mechanism, t, x)
    M = mass_matrix(mechanism)
    force = M @ e.acceleration
    size = 1.0 + np.abs(force).max() + np.abs(e.wrench).max() + np.abs(zeta).max()
    assert np.abs(G @ e.acceleration + zeta).max() <= SOLVE * size
    assert np.abs(force - e.wrench - G.T @ e.lam).max() <= SOLVE * size
    v = admissible(mechanism, G, rng)
    work = (force - e.wrench) @ v
    assert abs(work) <= SOLVE * size * np.abs(v).sum()
    return x, e, M


@pytest.mark.parametrize(("shape", "seed"), [*CASES, *(("planar", k) for k in range(3))])
def test_balance_and_workless_multipliers(shape, seed, rng):
    x, e, _ = check_balance(mechanisms(shape, seed), 0.4, rng)
    assert np.isfinite(e.rate).all() and len(e.rate) == len(x)


@pytest.mark.nojit
@pytest.mark.bounds
@pytest.mark.parametrize(("shape", "seed"), FEW)
def test_balance_and_workless_multipliers_selection(shape, seed, rng):
    x, e, _ = check_balance(compile(random_model(seed, shape, 4)), 0.4, rng)
    assert np.isfinite(e.rate).all() and len(e.rate) == len(x)


@pytest.mark.parametrize(("shape", "seed"), [*CASES, *(("planar", k) for k in range(3))])
def test_power_balance(shape, seed, rng):
    """d/dt (T + U) = power of damping, motors, applied forces and moving constraints."""
    mechanism = mechanisms(shape, seed)
    t = 0.75
    x, e, M = check_balance(mechanism, t, rng)
    u = twist(mechanism, x)
    kinetic = u @ M @ e.acceleration
    potential = difference(lambda s: energies(mechanism, moved(mechanism, x, s * u))[1])
    # the same sum in another order
    assert energies(mechanism, x)[0] == pytest.approx(0.5 * u @ M @ u, rel=1e-13)
    size = 1.0 + np.abs(u) @ np.abs(M @ e.acceleration) + abs(potential)
    assert abs(kinetic + potential - e.power) <= DIFFERENCE * size


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_energy_along_the_flow(shape, seed):
    """The same by differences of T + U - W_ext along the flow itself, all of it from the right-hand side."""
    mechanism = mechanisms(shape, seed)
    t = 0.75
    x = consistent(mechanism, t)

    def rate(t, x):
        return evaluate(mechanism, t, x).rate

    def flow(s):
        """One step of the classical Runge-Kutta method: error s^5, which the stencil sees as s^4."""
        k1 = rate(t, x)
        k2 = rate(t + s / 2, x + s / 2 * k1)
        k3 = rate(t + s / 2, x + s / 2 * k2)
        k4 = rate(t + s, x + s * k3)
        return x + s / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def balance(s):
        y = flow(s)
        return sum(energies(mechanism, y)) - y[mechanism.nq + mechanism.nu]

    size = 1.0 + sum(map(abs, energies(mechanism, x)))
    # accelerations of 100 m/s^2 make the fifth derivative large: ten times the allowance of plain differences
    assert abs(difference(balance)) <= 10 * DIFFERENCE * size * (1.0 + np.abs(rate(t, x)).max())


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_conservative_wrench_is_minus_the_gradient_of_the_potential(shape, seed, rng):
    mechanism = mechanisms(shape, seed)
    x = mechanism.x_0
    wrench = conservative_wrench(mechanism, x)
    for _ in range(3):
        d = restrict(mechanism, rng.standard_normal(6 * mechanism.nb))
        slope = difference(lambda s, d=d: energies(mechanism, moved(mechanism, x, s * d))[1])
        assert abs(slope + wrench @ d) <= DIFFERENCE * (1.0 + np.abs(wrench) @ np.abs(d))


def test_every_force_kind_is_met():
    kinds = set()
    for shape, seed in CASES:
        I = mechanisms(shape, seed).I
        kinds |= {int(k) for k in records(I, I, T.FORCE_I)["kind"]}
    assert kinds == FORCES


def test_reaction_points_up_under_a_hanging_mass():
    """The sign of lam: a mass hanging on a ball joint has a reaction along +z [DESIGN, Symbols]."""
    from dalembert.model.model import Model

    model = Model((0, 0, -9.81))
    bob = model.add_point_mass("bob", mass=2.0, position=(0, 0, -1))
    rod = model.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5))
    model.add_spherical("top", model.ground, rod, point=(0, 0, 0))
    model.add_spherical("bottom", rod, bob, point=(0, 0, -1))
    mechanism = compile(model)
    e = evaluate(mechanism, 0.0, mechanism.x_0)
    lam = dict(zip(mechanism.row_names(), e.lam, strict=True))
    # statics: exact but for a few roundings
    assert lam["top.z"] == pytest.approx(3.0 * 9.81, rel=1e-13)
    assert lam["bottom.z"] == pytest.approx(2.0 * 9.81, rel=1e-13)
    assert np.abs(e.acceleration).max() <= 1e-13
