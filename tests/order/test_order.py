"""The order-of-convergence table: every integrator, q, u and lambda, constrained spatial motion, stages projected or not."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.integrators import INTEGRATORS

# Projection close to rounding, so that what is measured is the method: errors go down to 1e-11.
EXACT = {"tolerance": 1e-13, "velocity_tolerance": 1e-13}
PROBLEMS = {
    "pendulum with torque": (lambda: gallery.pendulum_3d(torque=(0.0, 10.0, 0.0)), 0.8),
    "slider-crank": (gallery.slider_crank, 0.24),
}
# numbers of steps, coarse to fine: small enough to be in the asymptotic range, large enough to stay above rounding
STEPS = {
    "euler": (400, 800, 1600),
    "symplectic-euler": (400, 800, 1600),
    "midpoint": (100, 200, 400),
    "stoermer-verlet": (100, 200, 400),
    "rk4": (40, 80, 160),
    "dormand-prince": (32, 64, 128),
    "dop853": (12, 16, 24),
    "gauss-legendre": (12, 24, 48),
    "radau": (16, 32, 64),
}
# the slider-crank is asymptotic only at smaller steps
FASTER = {"rk4": (80, 160, 320), "dop853": (16, 24, 32), "gauss-legendre": (24, 48, 64), "radau": (32, 64, 96)}
METHODS = {name: cls for name, cls in INTEGRATORS.items() if not cls.by_formulation}
ORDERS = {name: cls(step=1.0).order for name, cls in METHODS.items()}
EXPLICIT = [name for name, cls in METHODS.items() if cls.loop == "runge_kutta"]
every_integrator = pytest.mark.parametrize("name", METHODS)


def steps_of(problem, name):
    return FASTER.get(name, STEPS[name]) if problem == "slider-crank" else STEPS[name]


@cache
def mechanism(problem):
    return da.compile(PROBLEMS[problem][0]())


@cache
def checkpoints(problem):
    """Four times that every step sequence meets."""
    return PROBLEMS[problem][1] * np.array([0.25, 0.5, 0.75, 1.0])


def simulate(problem, name, steps, stages="none"):
    t_end = PROBLEMS[problem][1]
    return da.simulate(
        mechanism(problem),
        t_end,
        formulation=da.Jet(stages=stages, **EXACT),
        integrator=INTEGRATORS[name](step=t_end / steps),
        save_at=checkpoints(problem),
    )


@cache
def reference(problem):
    """DOP853 with 400 steps: all but rounding, as 300 steps show."""
    fine, finer = simulate(problem, "dop853", 300), simulate(problem, "dop853", 400)
    assert np.abs(fine.x - finer.x).max() <= 5e-12
    return finer


def slope(steps, errors):
    """Order: negative slope of log(error) over log(number of steps)."""
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


def check_order(measured, order):
    """Errors of two leading terms of like size hide or add half an order at these steps; less than the next lower order."""
    assert measured >= order - (0.15 if order < 5 else 0.5)
    assert measured <= order + (0.15 if order < 4 else 1.0)


@every_integrator
@pytest.mark.parametrize("stages", ["none", "constraints"])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_order_of_convergence(name, stages, problem):
    exact, order = reference(problem), ORDERS[name]
    errors = {"q": [], "u": [], "lambda": []}
    for steps in steps_of(problem, name):
        solution = simulate(problem, name, steps, stages)
        errors["q"].append(np.linalg.norm(solution.q - exact.q))
        errors["u"].append(np.linalg.norm(solution.u - exact.u))
        errors["lambda"].append(np.linalg.norm(solution.evaluated.lam - exact.evaluated.lam))
    for values in errors.values():
        check_order(slope(steps_of(problem, name), values), order)


BETWEEN = 0.8 * np.linspace(0.0, 1.0, 24)[1:-1]  # never at a step's end


@cache
def exact_between():
    """Steps that end at each time exactly."""
    states = []
    for t in BETWEEN:
        solution = da.simulate(
            mechanism("pendulum with torque"),
            float(t),
            formulation=da.Jet(**EXACT),
            integrator=da.DOP853(step=float(t) / 200),
            save_at=[t],
        )
        states.append(solution.x[0])
    return np.array(states)


DENSE_ORDER = {
    "euler": 1,
    "symplectic-euler": 1,
    "midpoint": 2,
    "stoermer-verlet": 2,
    "rk4": 4,
    "dormand-prince": 4,
    "dop853": 7,
    "gauss-legendre": 5,
    "radau": 4,
}
DENSE_STEPS = {
    "euler": (100, 200, 400),
    "symplectic-euler": (100, 200, 400),
    "midpoint": (50, 100, 200),
    "stoermer-verlet": (50, 100, 200),
    "rk4": (20, 40, 80, 160),
    "dormand-prince": (10, 20, 40, 80),
    "dop853": (6, 12, 24),
    "gauss-legendre": (8, 16, 32),
    "radau": (10, 20, 40),
}


@every_integrator
def test_saved_values_between_steps(name):
    """Dense output keeps the order of the interpolant (4 for Hermite, Dormand-Prince and Radau, 7 for DOP853, 5 for Gauss)."""
    n = mechanism("pendulum with torque").nq + mechanism("pendulum with torque").nu
    errors = []
    for steps in DENSE_STEPS[name]:
        solution = da.simulate(
            mechanism("pendulum with torque"),
            0.8,
            formulation=da.Jet(**EXACT),
            integrator=INTEGRATORS[name](step=0.8 / steps),
            save_at=BETWEEN,
        )
        np.testing.assert_array_equal(solution.t, BETWEEN)
        errors.append(np.abs(solution.x[:, :n] - exact_between()[:, :n]).max())
        assert solution.drift.position.max() <= 1e-12  # interpolated states are projected as well
    measured = slope(DENSE_STEPS[name], errors)
    assert DENSE_ORDER[name] - 0.2 <= measured <= ORDERS[name] + 0.5


@every_integrator
def test_called_solution_between_steps(name):
    """solution(t) integrates from the saved state before: the order of the method itself."""
    n = mechanism("pendulum with torque").nq + mechanism("pendulum with torque").nu
    errors = []
    for steps in DENSE_STEPS[name]:
        solution = da.simulate(
            mechanism("pendulum with torque"),
            0.8,
            formulation=da.Jet(**EXACT),
            integrator=INTEGRATORS[name](step=0.8 / steps),
        )
        errors.append(np.abs(solution(BETWEEN).x[:, :n] - exact_between()[:, :n]).max())
    check_order(slope(DENSE_STEPS[name], errors), ORDERS[name])


# evaluations at the loosest and at the tightest tolerance below: measured 357 and 4161, 430 and 1870, 2351 and 5173, 1607 and
# 26800, plus 10 %
WORK = {"dormand-prince": (400, 4600), "dop853": (480, 2100), "gauss-legendre": (2600, 5700), "radau": (1800, 29500)}
ADAPTIVE = [name for name, cls in INTEGRATORS.items() if cls.estimates_error]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_error_is_proportional_to_the_tolerance(name):
    """Slope 1 within 0.3 over six decades, and no more evaluations than a stated bound."""
    tolerances = 10.0 ** -np.arange(4, 11)
    exact = da.simulate(
        mechanism("pendulum with torque"),
        8.0,
        formulation=da.Jet(**EXACT),
        integrator=da.DOP853(rtol=1e-13, atol=1e-13),
        save_at=[8.0],
    )
    errors, work = [], []
    for tolerance in tolerances:
        solution = da.simulate(
            mechanism("pendulum with torque"),
            8.0,
            formulation=da.Jet(**EXACT),
            integrator=INTEGRATORS[name](rtol=tolerance, atol=tolerance),
            save_at=[8.0],
        )
        errors.append(np.abs(solution.x - exact.x).max())
        work.append(solution.statistics.rate_evaluations)
        # nothing is evaluated that the method does not need: its stages per attempted step, and three to start
        steps = solution.statistics.accepted + solution.statistics.rejected
        if name in EXPLICIT:
            assert work[-1] <= INTEGRATORS[name]().tableau.stages * steps + 3
    assert 0.7 <= np.polyfit(np.log10(tolerances), np.log10(errors), 1)[0] <= 1.3
    assert errors[-1] <= 1e-7
    assert work[0] <= WORK[name][0]
    assert work[-1] <= WORK[name][1]


@pytest.mark.parametrize("name", EXPLICIT)
def test_work_of_fixed_steps(name):
    """Exactly one evaluation per stage, one to begin with."""
    integrator = INTEGRATORS[name](step=0.1 / 50)
    solution = da.simulate(mechanism("slider-crank"), 0.1, integrator=integrator)
    assert solution.statistics.accepted == 50
    assert solution.statistics.rejected == 0
    assert solution.statistics.rate_evaluations == integrator.tableau.stages * 50 + 1
