"""What depends on time itself: Lagrangians with t in them in every formulation, forces F(t) in discrete steps."""

import numpy as np
import pytest

import dalembert as da
from dalembert.lagrangian.discrete import QUADRATURES

GROWTH, OMEGA = 0.3, 2.0
TIMES = np.linspace(0.0, 1.5, 4)
TIGHT = da.DOP853(rtol=1e-12, atol=1e-12)


def growing():
    """L = e^(2 g t) (|v|^2 - w^2 |q|^2) / 2 on the line y = 2 x: x'' + 2 g x' + w^2 x = 0, by d2L/dv dt alone."""

    def L(q, v, t, p):
        return 0.5 * np.exp(2.0 * p.g * t) * (v.x**2 + v.y**2 - p.w**2 * (q.x**2 + q.y**2))

    return da.LagrangianSystem(
        L,
        "x y",
        holonomic={"line": lambda q: q.y - 2.0 * q.x},
        parameters={"g": GROWTH, "w": OMEGA},
        initial={"x": 1.0, "y": 2.0},
        velocities={"x": 0.5, "y": 1.0},
    )


def closed_form(t):
    """x and x' of the damped oscillator from x = 1, x' = 0.5."""
    nu = np.sqrt(OMEGA**2 - GROWTH**2)
    c, s = np.cos(nu * t), np.sin(nu * t)
    b = (0.5 + GROWTH) / nu
    x = np.exp(-GROWTH * t) * (c + b * s)
    return x, -GROWTH * x + np.exp(-GROWTH * t) * nu * (b * c - s)


def error(run):
    x, rate = closed_form(run.t)
    return max(np.abs(run["x"] - x).max(), np.abs(run["x'"] - rate).max(), np.abs(run["y"] - 2 * x).max())


@pytest.fixture(scope="module")
def compiled():
    return da.compile(growing())


@pytest.mark.parametrize("formulation", [da.Jet(), da.Minimal(), da.Jet(invariants="energy")], ids=str)
def test_lagrangian_of_time(compiled, formulation):
    """Energy with the work -dL/dt: T + U = W_ext + constant; both tolerances allow for 20 steps of 1e-12."""
    run = da.simulate(compiled, 1.5, formulation=formulation, integrator=TIGHT, save_at=TIMES)
    assert error(run) <= 2e-10
    energy = 2.5 * np.exp(2 * GROWTH * run.t) * (run["x'"] ** 2 + OMEGA**2 * run["x"] ** 2)
    np.testing.assert_allclose(run.energy.kinetic + run.energy.potential, energy, rtol=1e-12)
    assert np.ptp(run.energy.external_work) > 1.0  # the work matters here
    assert np.ptp(run.energy.total) <= 1e-9 * np.abs(energy).max()


@pytest.mark.parametrize(
    ("formulation", "method", "order"),
    [
        (da.Impulse(), da.RungeKutta4, 2),
        (da.Soft(stiffness=1e9, damping=1e7), da.RungeKutta4, 1),
        (da.Variational(), da.FixedStep, 2),
        (da.Variational(curve="verlet"), da.FixedStep, 2),
        (da.Variational(curve="symplectic-euler"), da.FixedStep, 1),
    ],
    ids=str,
)
def test_lagrangian_of_time_to_the_order_of_the_step(compiled, formulation, method, order):
    errors, balances = [], []
    for step in (0.01, 0.005):
        run = da.simulate(compiled, 1.5, formulation=formulation, integrator=method(step=step))
        errors.append(error(run))
        balances.append(np.ptp(run.energy.total))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert errors[1] <= (0.02 if order == 1 else 2e-4)
    if isinstance(formulation, da.Variational):  # work by the same quadrature: the balance closes with the order too
        assert np.log2(balances[0] / balances[1]) >= order - 0.2


def test_curves_of_explicit_methods_see_the_time_of_each_stage():
    """L = e^(2 g t) (v^2 - w^2 q^2) / 2 without a constraint: order 4 for Heun's curve, which one wrong time spoils."""
    system = da.LagrangianSystem(
        lambda q, v, t: 0.5 * np.exp(2.0 * GROWTH * t) * (v.x**2 - OMEGA**2 * q.x**2),
        "x",
        initial={"x": 1.0},
        velocities={"x": 0.5},
    )
    errors = []
    for step in (0.25, 0.125):
        run = da.simulate(system, 1.5, formulation=da.Variational(curve="heun"), integrator=da.FixedStep(step=step))
        errors.append(np.abs(run["x"] - closed_form(run.t)[0]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def pushed(t):
    return 1.0 + 2.0 * np.sin(3.0 * t) + t * t


def discrete_motion(quadrature, step, count, mass=1.0):
    """q, p under the force F(t) by hand: u = (p + sum h w (1 - c) F) / m, p+ = m u + sum h w c F [Variational, (22)]."""
    c, w = (np.array(part) for part in QUADRATURES[quadrature])
    q = p = 0.0
    for k in range(count):
        F = step * w * pushed(step * (k + c))
        u = (p + ((1 - c) * F).sum()) / mass
        q, p = q + step * u, mass * u + (c * F).sum()
    return q, p


@pytest.mark.parametrize("quadrature", ["left", "right", "trapezoidal", "gauss-3"])
def test_nodes_of_a_discrete_lagrangian(quadrature):
    """L = v^2 / 2 + q F(t), and the same F(t) as a force: both are the sum over the nodes, to rounding."""
    step, count = 0.125, 8
    q, p = discrete_motion(quadrature, step, count)
    way = {"formulation": da.Variational(quadrature=quadrature), "integrator": da.FixedStep(step=step)}
    inside = da.LagrangianSystem(lambda q, v, t: 0.5 * v.x**2 + q.x * pushed(t), "x")
    outside = da.LagrangianSystem(lambda q, v: 0.5 * v.x**2, "x", forces={"x": lambda t: pushed(t)})
    for system in (inside, outside):
        run = da.simulate(system, step * count, **way)
        assert run["x"][-1] == pytest.approx(q, abs=1e-13)
        assert run["x'"][-1] == pytest.approx(p, abs=1e-13)


@pytest.mark.parametrize("quadrature", QUADRATURES)
def test_nodes_of_forces_on_bodies(quadrature):
    """A body pushed by F(t) = 2 sin(3 t) and t^2 - t through its centre: the same sums, no other time enters."""
    step, count, mass = 0.125, 8, 2.0
    model = da.Model((1.0, 0, 0))
    model.add_body("body", mass=mass, inertia=(1, 1, 1))
    model.add_force("wave", "body", (1, 0, 0), factor=da.Harmonic(2.0, 3.0))
    model.add_force("ramp", "body", (1, 0, 0), factor=da.Polynomial((-1.0, 0.0, 1.0)))
    way = {"formulation": da.Variational(quadrature=quadrature), "integrator": da.FixedStep(step=step)}
    run = da.simulate(model, step * count, **way)
    q, p = discrete_motion(quadrature, step, count, mass)  # gravity 1 m/s^2 times 2 kg - 1 N is the constant 1 N
    assert run.position("body")[-1, 0] == pytest.approx(q, abs=1e-12)
    assert run.velocity("body")[-1, 0] == pytest.approx(p / mass, abs=1e-12)


def test_turning_force_under_variational_has_order_two():
    """A pendulum shaken by F(t): the run approaches the adaptive one with the square of the step."""
    model = da.Model((0, 0, -9.81))
    bob = model.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.05), position=(0.6, 0, -0.8))
    model.add_spherical("pivot", model.ground, bob, point=(0, 0, 0))
    model.add_force("shake", bob, (3.0, 5.0, 0.0), point=(0.1, 0, 0.2), factor=da.Harmonic(1.0, 6.0))
    mechanism = da.compile(model)
    exact = da.simulate(mechanism, 1.0, integrator=TIGHT, save_at=[1.0]).position("bob")[-1]
    errors = []
    for step in (0.02, 0.01):
        run = da.simulate(mechanism, 1.0, formulation=da.Variational(), integrator=da.FixedStep(step=step))
        errors.append(np.abs(run.position("bob")[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.15)
