"""Orders of the variational methods, compositions, constraints, forces, long runs."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.lagrangian.discrete import CURVES

TIGHT = da.DOP853(rtol=1e-13, atol=1e-13)


def coupled(**more):
    """Two coupled coordinates, neither linear nor separable."""
    return da.LagrangianSystem(
        lambda q, v: 0.5 * v.a**2 + v.b**2 + np.cos(q.a) - 0.5 * q.b**2 * (1 + q.a**2),
        "a b",
        initial={"a": 1.0, "b": 0.5},
        **more,
    )


def variable_mass():
    return da.LagrangianSystem(
        lambda q, v: 0.5 * v.a**2 * (1 + 0.3 * np.cos(q.a)) + 0.2 * v.a * v.b + v.b**2 - q.b**2 - q.a * q.b,
        "a b",
        initial={"a": 1.0, "b": 0.5},
    )


def pendulum():
    return da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - q.y, "x y", holonomic={"rod": lambda q: q.x**2 + q.y**2 - 1}, initial={"x": 1.0}
    )


def slopes(system, steps, t_end=2.0, composition=1, **options):
    """Observed orders of q and v between neighbouring step sizes."""
    reference = da.simulate(system, t_end, integrator=TIGHT).x[-1]
    n = 2 * len(system.coordinates)
    errors = []
    for step in steps:
        way = {"formulation": da.Variational(**options), "integrator": da.FixedStep(step=step, composition=composition)}
        errors.append(np.abs(da.simulate(system, t_end, **way).x[-1, :n] - reference[:n]).max())
    return np.log2(np.array(errors[:-1]) / errors[1:]), errors[-1]


# as measured: the smaller of the quadrature's order and twice the order of the curve
ORDERS = {"symplectic-euler": 1, "euler": 1, "midpoint": 2, "verlet": 2, "heun": 4, "explicit-midpoint": 4, "rk4": 8}


@pytest.mark.parametrize("curve", CURVES)
def test_order_of_every_curve(curve):
    steps = (0.4, 0.2, 0.1) if curve == "rk4" else (0.1, 0.05, 0.025)
    found, error = slopes(coupled(), steps, curve=curve)
    np.testing.assert_allclose(found[-1], ORDERS[curve], rtol=0, atol=0.25)
    assert error < 0.1 ** ORDERS[curve] * 2


@pytest.mark.parametrize(("quadrature", "order"), [("left", 1), ("trapezoidal", 2), ("simpson", 4), ("gauss-3", 6)])
def test_order_is_that_of_the_quadrature_on_an_accurate_curve(quadrature, order):
    steps = (0.2, 0.1) if order == 6 else (0.1, 0.05)
    found, _ = slopes(coupled(), steps, curve="rk4", quadrature=quadrature)
    np.testing.assert_allclose(found[-1], order, rtol=0, atol=0.3)


@pytest.mark.parametrize(("composition", "order"), [(3, 4), (5, 4), (7, 6)])
def test_symmetric_compositions_raise_the_order(composition, order):
    found, _ = slopes(coupled(), (0.1, 0.05), composition=composition)
    np.testing.assert_allclose(found[-1], order, rtol=0, atol=0.2)


@pytest.mark.parametrize("curve", ["midpoint", "verlet"])
@pytest.mark.parametrize("make", [variable_mass, pendulum, gallery.nonholonomic_particle, gallery.chaplygin_sleigh])
def test_order_two_with_constraints_and_variable_mass(make, curve):
    found, _ = slopes(make(), (0.1, 0.05, 0.025), curve=curve)
    np.testing.assert_allclose(found[-1], 2, rtol=0, atol=0.1)


def test_composition_of_constrained_steps_has_order_four():
    for system in (pendulum(), gallery.oscillator_on_circle()):
        found, _ = slopes(system, (0.05, 0.025), t_end=1.0, composition=5)
        np.testing.assert_allclose(found[-1], 4, rtol=0, atol=0.2)


def test_forces_enter_by_their_virtual_work():
    damped = coupled(forces={"a": lambda v: -0.3 * v.a, "b": lambda q, v, t: np.sin(t) - 0.1 * v.b * q.a**2})
    for curve, order in (
        ("midpoint", 2),
        ("verlet", 2),
        ("heun", 2),
    ):  # forces have no action to be stationary: the curve's order
        found, _ = slopes(damped, (0.05, 0.025), curve=curve)
        assert found[-1] > order - 0.2
    way = {"formulation": da.Variational(curve="heun"), "integrator": da.FixedStep(step=0.05)}
    energy = da.simulate(damped, 2.0, **way).energy
    assert np.ptp(energy.total) <= 1e-3 * np.ptp(energy.external_work)  # the work is integrated by the same quadrature


def test_work_of_a_moving_constraint_closes_the_energy_balance():
    """Both impulses at a node work: the one that ends a step and the one that begins the next."""

    def rod(q, t):
        return (q.x - 0.3 * np.sin(2 * t)) ** 2 + q.y**2 - 1

    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - q.y, "x y", holonomic={"rod": rod}, initial={"x": 0.6, "y": -0.8}
    )
    exact = da.simulate(system, 2.0, integrator=TIGHT).energy.external_work[-1]
    found = []
    for step in (0.02, 0.01):
        energy = da.simulate(system, 2.0, formulation=da.Variational(), integrator=da.FixedStep(step=step)).energy
        found.append((np.ptp(energy.total), abs(energy.external_work[-1] - exact)))
    np.testing.assert_allclose(np.log2(np.array(found[0]) / found[1]), 2, rtol=0, atol=0.1)


def test_rattle_puts_every_point_on_the_constraint():
    solution = da.simulate(pendulum(), 100.0, formulation=da.Variational(curve="verlet"), integrator=da.FixedStep(step=0.05))
    assert solution.drift.position.max() <= 1e-14
    assert solution.drift.velocity.max() <= 1e-14
    energy = solution.energy.total
    assert np.abs(energy).max() < 5e-3  # of a swing of 1; bounded, h^2
    assert abs(energy[len(energy) // 2 :].mean() - energy[: len(energy) // 2].mean()) < 1e-4


PERIODS, STEP = 20_000, 0.25
LAST = round(PERIODS * 2 * np.pi / STEP)


def oscillation(**way):
    times = STEP * np.linspace(0, LAST, 501).astype(int)
    solution = da.simulate(gallery.oscillator(), times[-1], save_at=times, **way)
    momentum = solution["x"] * solution["y'"] - solution["y"] * solution["x'"]
    return np.abs(solution.energy.total / solution.energy.total[0] - 1), np.abs(momentum - 1)


@pytest.mark.parametrize(
    ("curve", "limit"), [("symplectic-euler", 0.15), ("midpoint", 1e-10), ("verlet", 2e-2), ("rk4", 1e-10)]
)
def test_energy_and_momentum_stay_bounded_for_twenty_thousand_periods(curve, limit):
    """Step 0.25. Linear and quadratic invariants are kept to rounding by midpoint; angular momentum by all of them."""
    energy, momentum = oscillation(formulation=da.Variational(curve=curve), integrator=da.FixedStep(step=STEP))
    assert energy.max() < limit
    assert momentum.max() < 1e-10
    half = len(energy) // 2
    assert energy[half:].max() < 1.1 * energy[:half].max() + 1e-10


def test_symplectic_euler_as_an_integrator_is_bounded_too():
    energy, momentum = oscillation(integrator=da.SymplecticEuler(step=STEP))
    assert 1e-3 < energy.max() < 0.15
    assert momentum.max() < 1e-10


@pytest.mark.parametrize("integrator", [da.RungeKutta4(step=STEP), da.DormandPrince(rtol=1e-3, atol=1e-6)])
def test_explicit_methods_lose_the_energy(integrator):
    """Fixed steps of the classical method, and the default tolerances of the package that the source compares with."""
    energy, momentum = oscillation(integrator=integrator)
    assert energy[-1] > 0.5
    assert momentum[-1] > 0.5


def turn(q, v, h):
    a = h * (q.x * v.y - q.y * v.x) / (q.x**2 + q.y**2)
    return np.array([q.x * np.cos(a) - q.y * np.sin(a), q.x * np.sin(a) + q.y * np.cos(a)])


@pytest.mark.parametrize(("curve", "periods"), [("flow", 1000), (turn, 20_000)])
def test_circle_is_kept_though_only_its_derivative_was_given(curve, periods):
    """1e-12 after 20,000 periods; the flow goes all the way in examples/oscillator_on_circle.py, here a twentieth."""
    last = round(periods * 2 * np.pi / STEP)
    times = STEP * np.linspace(0, last, 201).astype(int)
    system = gallery.oscillator_on_circle(k=2.0, speed=1.0, angle=0.0)
    way = {"formulation": da.Variational(constraint_curve=curve), "integrator": da.FixedStep(step=STEP)}
    solution = da.simulate(system, times[-1], save_at=times, **way)
    limit = 1e-12 * max(0.1, periods / 20_000)
    assert np.abs(solution["x"] ** 2 + solution["y"] ** 2 - 1).max() <= limit
    assert np.ptp(solution.energy.total) <= 1e-11
    assert solution.multiplier("circle")[-1, 0] == pytest.approx(1.0, abs=0.05)  # k - m speed^2: the constraint is at work


def test_curves_take_arrays_of_parameters():
    """As Lagrangians and constraints do; a circle of radius r[1] = 2, whose points are those of the flow to rounding."""

    def around(q, v, h, p):
        a = h * (q.x * v.y - q.y * v.x) / p.r[1] ** 2
        return np.array([q.x * np.cos(a) - q.y * np.sin(a), q.x * np.sin(a) + q.y * np.cos(a)])

    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2),
        "x y",
        nonholonomic={"circle": lambda q, v: q.x * v.x + q.y * v.y},
        parameters={"r": [1.0, 2.0]},
        initial={"x": 2.0},
        velocities={"y": 1.0},
    )
    ends = []
    for curve in ("flow", around):
        way = {"formulation": da.Variational(constraint_curve=curve), "integrator": da.FixedStep(step=0.25)}
        ends.append(da.simulate(system, 2.0, **way).q)
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-12)


def test_options_are_checked():
    for options, words in (
        ({"curve": "spline"}, "curve is 'spline'; give one of symplectic-euler"),
        ({"quadrature": "exact"}, "quadrature is 'exact'; give one of left"),
        ({"constraint_curve": "line"}, "constraint_curve is 'line'"),
        ({"max_newton": 0}, "max_newton is 0"),
    ):
        with pytest.raises(da.ModelError, match=words):
            da.Variational(**options)
    with pytest.raises(da.ModelError, match="composition is 4; give one of 1, 3, 5, 7"):
        da.FixedStep(step=0.1, composition=4)
    with pytest.raises(da.ModelError, match="FixedStep has no error estimate: give a step size"):
        da.FixedStep()
