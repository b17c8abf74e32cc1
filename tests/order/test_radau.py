"""Radau IIA on constrained and stiff motion: orders, damping, Jacobian matrices, steps set by accuracy."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.integrators.advance import Advance
from dalembert.integrators.collocation_tableau import radau_tableau
from dalembert.kernels.base import tables as T

every_method = pytest.mark.parametrize("stages", range(1, 6))


@cache
def pendulum():
    return da.compile(gallery.pendulum_3d(torque=(0.0, 10.0, 0.0)))


@cache
def reference(t_end):
    return da.simulate(pendulum(), t_end, formulation=EXACT, integrator=da.DOP853(step=t_end / 400), save_at=[t_end]).x[0]


EXACT = da.Jet(tolerance=1e-13, velocity_tolerance=1e-13)
STEPS = {1: (400, 800, 1600), 2: (50, 100, 200), 3: (16, 32, 64), 4: (10, 14, 20), 5: (6, 8, 10)}


@every_method
def test_order_is_twice_the_number_of_stages_less_one(stages):
    errors = []
    for n in STEPS[stages]:
        integrator = da.RadauIIA(stages, step=0.8 / n)
        solution = da.simulate(pendulum(), 0.8, formulation=EXACT, integrator=integrator, save_at=[0.8])
        errors.append(np.abs(solution.x[0] - reference(0.8)).max())
    measured = -np.polyfit(np.log(STEPS[stages]), np.log(errors), 1)[0]
    assert 2 * stages - 1 - 0.5 <= measured <= 2 * stages - 1 + 1.0


BETWEEN = {2: (50, 100, 200), 3: (16, 32, 64), 4: (10, 14, 20), 5: (6, 8, 11)}


@pytest.mark.parametrize("stages", BETWEEN)
def test_saved_values_between_steps(stages):
    """Order min(2 s - 1, s + 2): stages have order s, ends order 2 s - 1; it was s + 1, three times the error of the ends."""
    times, n = 0.8 * np.linspace(0.0, 1.0, 24)[1:-1], pendulum().nq + pendulum().nu
    integrator, errors = da.GaussLegendre(8, step=0.8 / 36), []
    exact = da.simulate(pendulum(), 0.8, formulation=EXACT, integrator=integrator, save_at=times).x[:, :n]
    for steps in BETWEEN[stages]:
        integrator = da.RadauIIA(stages, step=0.8 / steps)
        solution = da.simulate(pendulum(), 0.8, formulation=EXACT, integrator=integrator, save_at=times)
        errors.append(np.abs(solution.x[:, :n] - exact)[times > 0.8 / min(BETWEEN[stages])].max())
    measured = -np.polyfit(np.log(BETWEEN[stages]), np.log(errors), 1)[0]
    assert measured >= min(2 * stages - 1, stages + 2) - 0.3, errors


def test_saved_values_in_a_first_step_that_is_stiff():
    """f at the start is 840 times what the step needs of it: the interpolant of the first step goes without."""
    times = 0.01 * np.linspace(0.0, 1.0, 11)
    solution = da.simulate(damped_rotor(84_000.0), 0.02, integrator=da.RadauIIA(3, step=0.01), save_at=times)
    assert np.abs(solution.angular_velocity("rotor")[:, 2]).max() <= 2.0 + 1e-9


def damped_rotor(rate):
    """A rotor on a revolute joint whose damper stops it like exp(-rate t)."""
    model = da.Model(gravity=(0, 0, 0))
    rotor = model.add_body("rotor", mass=1.0, inertia=(0.2, 0.2, 1 / 3), angular_velocity=(0, 0, 2.0))
    model.add_revolute("hinge", model.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint_spring_damper("damper", "hinge", damping=rate / 3)
    return model


@every_method
@pytest.mark.parametrize("rate", [84.0, 84_000.0])
def test_damped_rotor(stages, rate):
    """w_n = R(-h rate)^n w_0 to rounding, in absolute and relative coordinates; what is stiff is gone after a few steps."""
    a, z = radau_tableau(stages).a, -0.01 * rate
    growth = 1 + z * a[stages + 1, 1 : stages + 1] @ np.linalg.solve(
        np.eye(stages) - z * a[1 : stages + 1, 1 : stages + 1], np.ones(stages)
    )
    for formulation in (da.Jet(), da.MovingFrame()):
        solution = da.simulate(damped_rotor(rate), 0.2, formulation=formulation, integrator=da.RadauIIA(stages, step=0.01))
        expected = 2.0 * growth ** np.arange(21)
        np.testing.assert_allclose(solution.angular_velocity("rotor")[:, 2], expected, rtol=0, atol=1e-11)
        assert solution.statistics.stage_solver == "Newton"
        assert solution.statistics.stage_jacobians <= 3
    assert abs(expected[-1]) <= (1e-4 if rate < 100 else 1e-12)


FORMULATIONS = {"jet": da.Jet(), "moving frame": da.MovingFrame(), "minimal": da.Minimal()}


@pytest.mark.parametrize("name", FORMULATIONS)
def test_jacobian_matrix(name):
    """Derivatives of u' by central differences in the time loop, 1e-9 of the largest, against Richardson's extrapolation; and
    the coordinates' part that is eliminated, d(N u)/dq = Omega(w) / 2."""
    mechanism = da.compile(gallery.slider_crank())
    run = FORMULATIONS[name].prepare(mechanism)
    x_0 = run.from_absolute(mechanism.x_0)
    advance = Advance(run, da.RadauIIA(3, step=1e-4), 0.0, x_0, 1.0, None)
    assert advance.steps(1) == T.TOO_MANY_STEPS
    jacobian = advance.bundle.jacobian
    nu, n = jacobian.shape[0] - 1, jacobian.shape[1]
    x_0 = x_0.copy()
    x_0[:n] = jacobian[nu]

    def rate(x):
        dx = np.zeros_like(x)
        assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
        return dx[:n]

    def central(j, delta):
        step = np.zeros_like(x_0)
        step[j] = delta
        return (rate(x_0 + step) - rate(x_0 - step)) / (2 * delta)

    exact = np.array([(64 * central(j, 1e-3) - 20 * central(j, 2e-3) + central(j, 4e-3)) / 45 for j in range(n)]).T
    assert np.abs(jacobian[:nu] - exact[n - nu :]).max() <= 1e-9 * np.abs(exact).max()


def test_adaptive_steps_through_a_stiff_start():
    """exp(-84,000 t), then nothing: the steps grow a thousandfold, and no faster mode holds them."""
    solution = da.simulate(damped_rotor(84_000.0), 0.5, integrator=da.RadauIIA(rtol=1e-7, atol=1e-7))
    assert np.abs(solution.angular_velocity("rotor")[:, 2] - 2.0 * np.exp(-84_000.0 * solution.t)).max() <= 1e-6
    assert solution.statistics.largest_step > 1000 * solution.statistics.smallest_step
    assert solution.statistics.accepted <= 150


def test_steps_are_set_by_accuracy():
    """A coil of rods with joint dampers of 7,000 N m s, which relax within 1e-5 s: errors follow the tolerance, steps are
    proportional to tolerance^(-1/4) (estimate of order stages + 1 = 4) and far beyond what an explicit method could take."""
    mechanism = da.compile(gallery.coiled_chain(6, joint_damping=7000.0))
    solutions = {}
    for stages, tolerance in ((5, 1e-11), (3, 1e-6), (3, 1e-8), (3, 1e-10)):
        integrator = da.RadauIIA(stages, rtol=tolerance, atol=tolerance)
        solution = da.simulate(mechanism, 2.0, formulation=da.MovingFrame(), integrator=integrator, save_at=[0.7, 1.3, 2.0])
        assert solution.statistics.rejected <= 0.1 * solution.statistics.accepted
        solutions[tolerance] = solution
    for tolerance in (1e-6, 1e-8):
        for k in range(1, 7):
            error = np.abs(solutions[tolerance].position(f"rod {k}") - solutions[1e-11].position(f"rod {k}")).max()
            assert error <= 10 * tolerance
    steps = [solutions[tolerance].statistics.accepted for tolerance in (1e-8, 1e-10)]
    assert steps[1] / steps[0] == pytest.approx(100**0.25, rel=0.25)
    assert solutions[1e-6].statistics.largest_step > 1e-2


@pytest.mark.parametrize("value", [0, 6, 2.5, True, "three"])
def test_number_of_stages_is_checked(value):
    with pytest.raises(ModelError, match=r"RadauIIA: stages is .*; give a whole number from 1 to 5"):
        da.RadauIIA(value)
