"""Prescribed motions and short forces after a long rest: steps end where they begin, or look for them."""

import dataclasses

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.rows import dense_rows
from dalembert.kernels.base import tables as T

ADAPTIVE = {
    "dop853": da.DOP853(),
    "dormand-prince": da.DormandPrince(),
    "gauss": da.GaussLegendre(3),
    "radau": da.RadauIIA(3),
}


def arm(motion) -> da.Model:
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("arm", **da.rod(2.0, 1.0, axis="x", radius=0.02).body(), position=(0.5, 0, 0))
    model.add_revolute("shoulder", model.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "shoulder", motion)
    return model


def cart() -> da.Model:
    """A bob that hangs on a cart, which is driven."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cart", mass=1.0, inertia=(1, 1, 1))
    model.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, -1))
    model.add_prismatic("rail", model.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_revolute("pin", "cart", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("drive", "rail", da.SmoothStep(0, 1, 5.0, 6.0))
    return model


def mass(force, **options) -> da.Model:
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("mass", mass=2.0)
    model.add_force("push", "mass", force, **options)
    return model


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=lambda f: type(f).__name__)
def test_half_a_turn_after_five_seconds_of_rest(formulation):
    solution = da.simulate(arm(da.SmoothStep(0.0, np.pi, 5.0, 5.5)), t_end=10.0, formulation=formulation)
    assert solution.coordinate("shoulder")[-1] == pytest.approx(np.pi, abs=1e-10)  # ten times the projection's tolerance
    assert {5.0, 5.25, 5.5} <= set(solution.t)
    line = solution.report()["prescribed motions"]
    assert line.verdict == "pass" and line.data < 1e-10


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=lambda f: type(f).__name__)
def test_times_saved_within_steps_are_no_gaps(formulation):
    at = np.linspace(0.0, 2.0, 33)
    solution = da.simulate(arm(da.SmoothStep(0.0, 1.0, 0.5, 1.5)), t_end=2.0, formulation=formulation, save_at=at)
    line = solution.report()["prescribed motions"]
    assert line.verdict == "pass" and line.data < 1e-10


@pytest.mark.parametrize("turns", [0.5, 1.0, 3.0, -2.5])
def test_a_driver_follows_whole_turns(turns):
    solution = da.simulate(arm(da.SmoothStep(0.0, 2 * np.pi * turns, 1.0, 1.02)), t_end=3.0)
    assert solution.coordinate("shoulder")[-1] == pytest.approx(2 * np.pi * turns, abs=1e-10)


@pytest.mark.parametrize("integrator", ADAPTIVE.values(), ids=ADAPTIVE)
def test_a_kick_is_felt_by_what_is_free(integrator):
    reference = da.simulate(cart(), t_end=10.0, integrator=da.RungeKutta4(step=0.005)).coordinate("pin")[-1]
    solution = da.simulate(cart(), t_end=10.0, integrator=integrator)
    assert solution.coordinate("pin")[-1] == pytest.approx(reference, abs=1e-6)  # fourth order: 0.005^4 x 2e3
    assert solution.report().passed


def test_a_pulse_given_as_a_table():
    """The natural spline through a triangle of 10 ms: its integral is h (y_1 + ...) - h^3/24 (sum of f'')."""
    times, values = (0.0, 6.0, 6.005, 6.01, 10.0), (0.0, 0.0, 100.0, 0.0, 0.0)
    from scipy.interpolate import CubicSpline

    impulse = float(CubicSpline(times, values, bc_type="natural").integrate(0.0, 10.0))
    solution = da.simulate(mass((1.0, 0.0, 0.0), factor=da.Table(times, values)), t_end=10.0)
    assert solution.velocity("mass")[-1, 0] == pytest.approx(impulse / 2.0, rel=1e-9)
    assert set(times) <= set(solution.t)


@pytest.mark.parametrize("integrator", [da.RungeKutta4(step=0.01), da.RadauIIA(2, step=0.01)], ids=["rk4", "radau"])
def test_fixed_steps_end_at_breakpoints_and_go_on_with_their_grid(integrator):
    solution = da.simulate(arm(da.SmoothStep(0.0, 1.0, 0.1234, 0.2234)), t_end=0.4, integrator=integrator)
    extra = {0.1234, 0.1734, 0.2234}
    assert extra <= set(solution.t)
    grid = np.array([t for t in solution.t if t not in extra])
    assert np.allclose(grid, 0.01 * np.arange(41), rtol=0, atol=1e-15)


def pulse(start: float, length: float, base: float = 0.0):
    """One smooth push with an impulse of 1 N s, and a slow force beside it."""

    def force(t):
        s = (t - start) / length
        inside = 1.0 if 0.0 < s < 1.0 else 0.0
        return np.array([inside * 30.0 * (s * (1.0 - s)) ** 2 / length, base * np.cos(2 * np.pi * t), 0.0])

    return force


@pytest.mark.parametrize("integrator", ADAPTIVE.values(), ids=ADAPTIVE)
@pytest.mark.parametrize(("start", "length", "t_end"), [(6.1234, 0.01, 10.0), (0.51234, 0.001, 1.0)])
def test_a_thousandth_of_the_run_is_found(integrator, start, length, t_end):
    solution = da.simulate(mass(pulse(start, length)), t_end=t_end, integrator=integrator)
    assert solution.velocity("mass")[-1, 0] == pytest.approx(0.5, abs=1e-6)  # some thousand steps of tolerance 1e-9


def test_a_pulse_while_something_swings():
    model = cart()
    model.add_force("push", "bob", pulse(2.34567, 0.005))
    solution = da.simulate(model, t_end=4.0)
    coarse = da.simulate(model, t_end=4.0, integrator=da.DOP853(max_step=0.001))
    assert solution.coordinate("pin")[-1] == pytest.approx(coarse.coordinate("pin")[-1], abs=1e-6)
    assert abs(solution.coordinate("pin")[-1]) > 0.1


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=lambda f: type(f).__name__)
def test_looks_at_functions_take_no_evaluations(formulation):
    """Of a smooth law, 2000 of them: some steps more than without it."""
    model = cart()
    plain = da.simulate(model, t_end=4.0, formulation=formulation).statistics.rate_evaluations
    model.add_force("drag", "bob", lambda t, r, v, R, w: np.array([np.sin(t), 0.1 * v[0] * r[0], 0.0]) - 0.1 * v)
    solution = da.simulate(model, t_end=4.0, formulation=formulation)
    assert solution.statistics.rate_evaluations < plain + 600
    fine = da.simulate(model, t_end=4.0, integrator=da.DOP853(max_step=0.01))
    assert solution.coordinate("pin")[-1] == pytest.approx(fine.coordinate("pin")[-1], abs=1e-7)


@pytest.mark.parametrize("base", [1.0, 1e5])
@pytest.mark.parametrize("integrator", list(ADAPTIVE.values())[:2], ids=list(ADAPTIVE)[:2])
def test_a_pulse_on_top_of_a_smooth_force_is_found(integrator, base):
    """A thousandth of the run long, 1875 N at most."""
    solution = da.simulate(mass(pulse(0.51234, 0.001, base)), t_end=1.0, integrator=integrator)
    assert solution.velocity("mass")[-1, 0] == pytest.approx(0.5, abs=1e-6)


def test_a_push_at_a_place_is_found():
    """Of no time at all: passed within a five-hundredth of the run; 1 m/s and 2 J before it."""

    def bump(t, r, v, R, w):
        s = (r[0] - 0.5) / 0.002
        return np.array([1e3 * 30.0 * (s * (1.0 - s)) ** 2 if 0.0 < s < 1.0 else 0.0, 0.0, 0.0])

    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("mass", mass=2.0, velocity=(1, 0, 0))
    model.add_force("push", "mass", bump)
    solution = da.simulate(model, t_end=1.0)
    assert solution.velocity("mass")[-1, 0] ** 2 == pytest.approx(1.0 + 2.0, abs=1e-6)


def test_a_function_that_raises_where_it_is_only_looked_at_is_named():
    def strict(t):
        if 0.5 < t < 0.502:
            raise ValueError("not now")
        return np.zeros(3)

    with pytest.raises(da.SimulationError, match="'push'"):
        da.simulate(mass(strict), t_end=1.0)


def test_time_in_a_lagrangian_is_looked_at():
    bump = lambda q, v, t: 0.5 * v.x**2 + q.x * np.exp(-(((t - 6.1234) / 0.003) ** 2))  # noqa: E731
    solution = da.simulate(da.LagrangianSystem(bump, "x"), t_end=10.0)
    assert solution["x'"][-1] == pytest.approx(0.003 * np.sqrt(np.pi), abs=1e-6)


def test_the_residual_of_a_driver_is_the_angle():
    """Not its sine: a quarter of a turn and more away, residual and slope stay those of the angle."""
    mechanism = da.compile(arm(da.Polynomial((0.0, 1.0))))
    row = next(row.index for row in mechanism.rows if row.element == "motor")
    for t in (0.3, 2.0, 3.0):  # the arm still stands at 0
        G, g, *_ = dense_rows(mechanism, t, mechanism.x_0)
        assert g[row] == pytest.approx(-t, abs=1e-12)
        assert np.linalg.norm(G[row]) == pytest.approx(1.0, abs=1e-12)


def test_the_report_fails_where_a_driver_is_left_behind():
    solution = da.simulate(arm(da.Polynomial((0.0, 1.0))), t_end=0.5)
    assert solution.report().passed
    solution.statistics = dataclasses.replace(solution.statistics, driver_gap=1e-3)
    assert [line.name for line in solution.report().failures] == ["prescribed motions"]


def test_the_report_fails_where_a_step_goes_over_a_breakpoint():
    solution = da.simulate(arm(da.SmoothStep(0.0, 1.0, 0.1, 0.2)), t_end=0.5)
    assert solution.report()["breakpoints"].value == "0 of 3 inside a step"
    F = solution.mechanism.F.copy()
    F[solution.mechanism.I[T.STOP_F]] += 0.01
    solution.mechanism = dataclasses.replace(solution.mechanism, F=F)
    assert [line.name for line in solution.report().failures] == ["breakpoints"]


def test_the_report_says_how_closely_functions_were_looked_at():
    solution = da.simulate(mass(pulse(0.5, 0.1)), t_end=1.0)
    assert "every 0.0005 s" in solution.report()["functions of time"].value


@pytest.mark.parametrize(("law", "time"), [(lambda t, s, v: -5.0 * s, False), (lambda t, s, v: np.sin(t) - s, True)])
def test_a_law_of_an_angle_is_not_called_a_function_of_time(law, time):
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (1, 0, 0), mass=1.0)
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_motor("spring", "A", law)
    names = [line.name for line in da.simulate(model, 0.1).report().lines if line.name.startswith("functions of")]
    assert names == ["functions of time" if time else "functions of the state"]
