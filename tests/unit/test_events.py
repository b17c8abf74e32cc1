"""Events: found, located, recorded or stopped at; and what happens when their function fails."""

import numpy as np
import pytest
from scipy.special import ellipk

import dalembert as da

TIGHT = da.DOP853(rtol=1e-12, atol=1e-12)
# A pendulum of 1 m released level passes the bottom after K(1/2) sqrt(l / g), and every half period after.
QUARTER = float(ellipk(0.5) / np.sqrt(9.81))
LOCATED = 1e-10  # demanded; the run's own error at 1e-12 is some 1e-12 s, the root is found to 1e-14


def pendulum():
    model = da.Model((0, -9.81, 0))
    bob = model.add_point_mass("bob", mass=1.0, position=(-1, 0, 0))
    model.add_distance("rod", model.ground, bob)
    return model


def sideways(state):
    return state.position("bob")[0]


def run(*events, t_end=5.0, integrator=TIGHT, **options):
    return da.simulate(pendulum(), t_end, integrator=integrator, events=events, **options)


@pytest.mark.parametrize(("direction", "passages"), [(0, [1, 3, 5, 7]), (1, [1, 5]), (-1, [3, 7])])
def test_recorded_and_located(direction, passages):
    solution = run(da.Event(sideways, name="bottom", direction=direction))
    assert [name for name, _ in solution.events] == ["bottom"] * len(passages)
    np.testing.assert_allclose([t for _, t in solution.events], QUARTER * np.array(passages), rtol=0, atol=LOCATED)
    assert solution.status == "complete"
    assert solution.t[-1] == 5.0


@pytest.mark.parametrize(
    ("integrator", "bound"),
    [
        (da.DormandPrince(rtol=1e-12, atol=1e-12), LOCATED),
        # fixed steps: the method's own error at this step, of order h^4 and h^8
        (da.RungeKutta4(step=1e-3), 1e-10),
        (da.DOP853(step=0.02), 1e-10),
    ],
    ids=["DormandPrince", "RungeKutta4", "DOP853 fixed"],
)
def test_every_kind_of_step(integrator, bound):
    solution = run(da.Event(sideways), t_end=2.0, integrator=integrator)
    (found,) = [t for _, t in solution.events[:1]]
    assert found == pytest.approx(QUARTER, abs=bound)


def test_single_event_needs_no_list():
    solution = da.simulate(pendulum(), 1.0, events=da.Event(sideways, name="bottom"))
    assert len(solution.events) == 1


def test_stops_at_the_event():
    solution = run(da.Event(sideways, name="bottom", stop=True))
    assert solution.status == "event"
    assert solution.message == f"stopped by event 'bottom' at t = {QUARTER:.6g} s"
    assert solution.t[-1] == pytest.approx(QUARTER, abs=LOCATED)
    assert solution.events == (("bottom", solution.t[-1]),)
    assert abs(solution.position("bob")[-1, 0]) <= 5 * LOCATED  # it passes at 4.4 m/s
    assert np.all(np.diff(solution.t) > 0)
    assert solution.drift.position.max() <= 1.1e-11  # also at the stop


def test_stop_with_save_at():
    times = np.array([0.0, 0.2, 0.4, 0.6, 0.8])
    solution = run(da.Event(sideways, stop=True), save_at=times)
    np.testing.assert_array_equal(solution.t[:-1], times[times < QUARTER])
    assert solution.t[-1] == pytest.approx(QUARTER, abs=LOCATED)


def test_recording_changes_no_state():
    plain, watched = run(t_end=2.0), run(da.Event(sideways), t_end=2.0)
    np.testing.assert_array_equal(plain.t, watched.t)
    np.testing.assert_array_equal(plain.x, watched.x)


def test_several_events_in_one_step():
    """Three places passed within one step, and a stop between: in order of time, and only what comes before the stop."""
    integrator = da.DOP853(step=0.05)
    marks = [0.03, -0.02, 0.01]
    events = [da.Event(lambda s, x=x: s.position("bob")[0] - x, name=f"at {x}") for x in marks]
    solution = run(*events, t_end=1.0, integrator=integrator)
    assert [name for name, _ in solution.events] == ["at -0.02", "at 0.01", "at 0.03"]
    times = [t for _, t in solution.events]
    assert times == sorted(times)
    assert solution.t[np.searchsorted(solution.t, times[0])] >= times[2]  # no step ended in between
    stopped = run(*events, da.Event(sideways, name="stop", stop=True), t_end=1.0, integrator=integrator)
    assert [name for name, _ in stopped.events] == ["at -0.02", "stop"]


def test_earliest_stop_wins():
    late = da.Event(lambda s: s.position("bob")[0] - 0.05, name="late", stop=True)
    early = da.Event(lambda s: s.position("bob")[0] + 0.05, name="early", stop=True)
    solution = run(late, early, integrator=da.DOP853(step=0.05))
    assert solution.events[-1][0] == "early"
    assert len(solution.events) == 1


def test_event_of_time_and_of_joint_coordinates():
    model = da.Model((0, -9.81, 0))
    arm = model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 0, 1))
    events = (
        da.Event(lambda s: s.time - 0.3, name="clock"),
        da.Event(lambda s: s.coordinate("hinge") + 0.5, name="angle"),
        da.Event(lambda s: s.coordinate_rate("hinge") + 1.0, name="rate"),
    )
    solution = da.simulate(model, 1.0, events=events, integrator=TIGHT)
    found = dict(solution.events)
    assert found["clock"] == pytest.approx(0.3, abs=1e-13)
    assert solution(found["angle"]).coordinate("hinge") == pytest.approx(-0.5, abs=1e-11)
    assert solution(found["rate"]).coordinate_rate("hinge") == pytest.approx(-1.0, abs=1e-11)


ROUNDING = 1e-15  # products of one matrix and of a stack of them may round differently


def test_state_has_every_output_of_a_solution_without_its_time_axis():
    """Joint coordinates and rates need points and rotations: each must agree with the trajectory's first row."""
    model = da.Model()
    base = model.add_body("base", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 2.0))
    arm = model.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(0, 2.0, 0.5))
    model.add_revolute("axle", model.ground, base, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_cylindrical("sleeve", base, arm, point=(1, 0, 0), axis=(0, 0, 1))
    model.add_spherical("ball", model.ground, base, point=(0, 0, 0))
    solution = da.simulate(model, 0.1)
    state = solution(0.1)
    for name in ("position", "velocity", "quaternion", "rotation", "angular_velocity", "point"):
        np.testing.assert_allclose(getattr(state, name)("arm"), getattr(solution, name)("arm")[-1], rtol=0, atol=ROUNDING)
    for name in ("coordinate", "coordinate_rate"):
        for joint in ("axle", "sleeve", "ball"):
            np.testing.assert_allclose(getattr(state, name)(joint), getattr(solution, name)(joint)[-1], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(
        state.angular_velocity("base", frame="body"), [0, 0, state.coordinate_rate("axle")], rtol=0, atol=1e-15
    )


def test_start_on_a_root_is_no_event():
    level = da.Event(lambda s: s.position("bob")[1], name="level")
    solution = run(level, t_end=1.0)
    assert solution.events == ()


@pytest.mark.parametrize("offset", [1e-13, -1e-13, 1e-15, 0.0])
def test_event_at_the_very_end_of_a_step(offset):
    """Within rounding of a step's end, where integrating that step again gives the other sign."""
    plain = run(t_end=1.0)
    for k in range(5, len(plain.t) - 1, 7):
        x = plain.position("bob")[k, 0] + offset
        solution = run(da.Event(lambda s, x=x: s.position("bob")[0] - x), t_end=1.0)
        assert len(solution.events) == 1
        assert solution.events[0][1] == pytest.approx(plain.t[k], abs=1e-9)


def failing(kind):
    def function(state):
        if state.time < 0.4:
            return 1.0
        if kind == "raises":
            raise ZeroDivisionError("no such angle")
        return np.nan

    return function


@pytest.mark.parametrize(
    ("kind", "text"), [("raises", r"raised ZeroDivisionError\('no such angle'\)"), ("nan", "returned nan")]
)
def test_failing_event_function_is_named(kind, text):
    with pytest.raises(da.SimulationError, match=rf"event 'odd': its function {text} at t = 0\.4") as caught:
        run(da.Event(failing(kind), name="odd"))
    error = caught.value
    assert error.time == pytest.approx(0.4, abs=0.1)
    assert error.solution.status == "failed"
    assert error.solution.message == str(error)
    assert 0.0 < error.solution.t[-1] <= error.time + 1e-12
    assert error.solution.position("bob").shape == (len(error.solution.t), 3)
    if kind == "raises":
        assert isinstance(error.__cause__, ZeroDivisionError)


def test_event_that_fails_at_once_leaves_the_first_state():
    with pytest.raises(da.SimulationError, match=r"event 'event': its function returned nan at t = 0 s") as caught:
        run(da.Event(lambda s: np.nan))
    np.testing.assert_array_equal(caught.value.solution.t, [0.0])


def test_event_that_returns_no_number_is_named():
    with pytest.raises(da.SimulationError, match=r"event 'vector': its function returned .* of shape \(3,\)"):
        run(da.Event(lambda s: s.position("bob"), name="vector"))
    with pytest.raises(da.SimulationError, match=r"event 'pair': its function returned \[1.0, \[2.0, 3.0\]\]; return a number"):
        run(da.Event(lambda s: [1.0, [2.0, 3.0]], name="pair"))
    with pytest.raises(da.SimulationError, match=r"event 'typo': its function raised ModelError.*did you mean 'bob'"):
        run(da.Event(lambda s: s.position("bobb")[0], name="typo"))
