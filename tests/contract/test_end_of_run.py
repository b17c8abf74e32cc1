"""One rule for the end of a run: fixed steps make as many steps as the run is long, none of them a sliver."""

import numpy as np
import pytest

import dalembert as da

METHODS = {
    "RungeKutta4": (da.Jet(), lambda h: da.RungeKutta4(step=h)),
    "GaussLegendre": (da.Jet(), lambda h: da.GaussLegendre(2, step=h)),
    "RadauIIA": (da.Jet(), lambda h: da.RadauIIA(2, step=h)),
    "SymplecticEuler": (da.Jet(), lambda h: da.SymplecticEuler(step=h)),
    "StoermerVerlet": (da.Jet(), lambda h: da.StoermerVerlet(step=h)),
    "Variational": (da.Variational(), lambda h: da.FixedStep(step=h)),
    "Impulse": (da.Impulse(), lambda h: da.SymplecticEuler(step=h)),
    "Soft": (da.Soft(), lambda h: da.StoermerVerlet(step=h)),
}


def pendulum() -> da.Model:
    model = da.Model()
    model.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.add_revolute("hinge", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.fixture(scope="module")
def mechanism():
    return da.compile(pendulum())


@pytest.mark.parametrize("name", METHODS)
def test_two_seconds_are_two_thousand_milliseconds(mechanism, name):
    formulation, method = METHODS[name]
    solution = da.simulate(mechanism, 2.0, formulation=formulation, integrator=method(0.001))
    assert solution.statistics.accepted == 2000
    steps = np.diff(solution.t)
    assert abs(steps / 0.001 - 1).max() < 1e-12 * 2000  # rounding of times up to 2 s beside a step
    assert np.array_equal(solution.t, np.append(0.001 * np.arange(2000), 2.0))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("step", "count"), [(0.1, 3), (0.1, 7), (0.01, 29), (0.003, 35), (0.07, 11), (1 / 30, 3), (0.0625, 7)])
def test_decimal_steps_leave_no_sliver(mechanism, name, step, count):
    formulation, method = METHODS[name]
    t_end = float(f"{step * count:.12g}") if step != 1 / 30 else 0.1
    solution = da.simulate(mechanism, t_end, formulation=formulation, integrator=method(step))
    assert solution.statistics.accepted == count
    assert solution.t[-1] == t_end


@pytest.mark.parametrize("name", METHODS)
def test_a_shorter_last_step_is_made(mechanism, name):
    formulation, method = METHODS[name]
    solution = da.simulate(mechanism, 0.1025, formulation=formulation, integrator=method(0.01))
    assert solution.statistics.accepted == 11
    assert solution.t[-1] - solution.t[-2] == pytest.approx(0.0025, abs=1e-15)
    assert solution.statistics.smallest_step == pytest.approx(0.01)
