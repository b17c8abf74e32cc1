"""Derivatives of runs behind events that act, against closed forms and differences of runs; what has none is refused."""

import pickle

import numpy as np
import pytest

import dalembert as da

FINE = da.DOP853(rtol=1e-12, atol=1e-12)
KEPT = 0.8  # part of the speed that a bounce leaves


def ball(height=1.0, g=9.81):
    model = da.Model(gravity=(0, 0, -g))
    model.add_point_mass("ball", mass=1.3, position=(0, 0, height), velocity=(0.7, 0, 0))
    return model


def bounced(state):
    return {"ball": np.array(state.velocity("ball")) * np.array([1.0, 1.0, -KEPT])}


FLOOR = da.Event(lambda state: state.position("ball")[2], name="floor", direction=-1, action=bounced)


def height_of(t, height=1.0, g=9.81):
    """With at most two bounces, at t_1 and t_2."""
    t_1 = np.sqrt(2 * height / g)
    v = KEPT * g * t_1
    t_2 = t_1 + 2 * v / g
    first, second, third = height - 0.5 * g * t**2, v * (t - t_1) - 0.5 * g * (t - t_1) ** 2, KEPT * v * (t - t_2)
    return np.where(t < t_1, first, np.where(t < t_2, second, third - 0.5 * g * (t - t_2) ** 2))


def slope(function, value):
    steps = [h * value for h in (2e-3, 1e-3)]
    rough, fine = ((function(value + h) - function(value - h)) / (2 * h) for h in steps)
    return (4 * fine - rough) / 3


def test_a_ball_that_bounces_twice():
    """Closed form [1e-8]."""
    t = np.array([0.2, 0.4, 0.5, 0.8, 1.1, 1.25, 1.4])
    run = da.simulate(ball, 1.4, sensitivities=["height", "g"], save_at=t, events=FLOOR, integrator=FINE)
    assert len(run.pieces) == 3
    for name, value in (("height", 1.0), ("g", 9.81)):
        expected = slope(lambda p, name=name: height_of(t, **{name: p}), value)
        assert np.abs(run.derivative("ball.z", name) - expected).max() < 1e-8
    line = run.report()["sensitivities"]
    assert line.verdict == "pass"
    wrong = da.simulate(ball, 1.4, sensitivities=["height"], save_at=t, events=FLOOR, integrator=FINE)
    wrong.sensitivities.states[3:] *= 1.01
    assert wrong.report()["sensitivities"].verdict == "FAIL"


def pendulum(length=1.3, angle=0.6):
    model = da.Model(gravity=(0, 0, -9.81))
    bob = model.add_point_mass("bob", mass=1.0, position=(length * np.sin(angle), 0, -length * np.cos(angle)))
    model.add_distance("rod", model.ground, bob, points=((0, 0, 0), (0, 0, 0)))
    return model


def test_a_pendulum_that_is_pushed_at_a_place():
    """Against extrapolated differences of runs [1e-8]; velocities behind the push fit the rod."""
    push = da.Event(lambda s: s.position("bob")[0] - 0.3, name="push", action=da.Push("bob", impulse=(0.4, 0, 0.1)))
    t = np.array([0.3, 0.5, 0.7])
    options = {"save_at": t, "events": push, "integrator": FINE, "formulation": da.Jet()}
    run = da.simulate(pendulum, 0.7, sensitivities=["length", "angle"], **options)
    assert len(run.pieces) > 1
    for name, value in (("length", 1.3), ("angle", 0.6)):
        for output in ("bob.x", "bob.vz"):
            k = output.split(".")[1]

            def values(p, name=name, k=k):
                beside = da.simulate(pendulum, 0.7, parameters={name: p}, **options)
                return beside.position("bob")[:, 0] if k == "x" else beside.velocity("bob")[:, 2]

            assert np.abs(run.derivative(output, name) - slope(values, value)).max() < 1e-8


def test_what_has_no_derivative_is_refused():
    flat = da.Event(lambda s: (s.position("ball")[0] - 0.05) ** 3, name="touch", action={"ball": (0.7, 0, 0)})
    with pytest.raises(da.SimulationError, match=r"'touch' .* grazes"):
        da.simulate(ball, 0.1, sensitivities=["g"], events=flat)
    free = da.Event(lambda s: s.position("bob")[0] - 0.3, action=da.Free("rod"))
    with pytest.raises(da.ModelError, match="locks, frees or closes joints is not covered"):
        da.simulate(pendulum, 0.5, sensitivities=["length"], events=free)


def test_all_outputs_as_a_dataset_with_a_dimension_of_parameters():
    t = np.array([0.1, 0.2])
    run = da.simulate(pendulum, 0.2, sensitivities=["length", "angle"], save_at=t)
    found = run.derivatives()
    assert list(found.parameter.values) == ["length", "angle"]
    for k, name in enumerate(("length", "angle")):
        place = found["position"].sel(body="bob", axis="x", parameter=name).values
        assert np.abs(place - run.derivative("bob.x", name)).max() < 1e-11
        energy = found["total_energy"].isel(parameter=k).values
        assert np.abs(energy - run.derivative("total_energy", name)).max() < 1e-9
        force = found["reaction_force"].sel(joint="rod", axis="z", parameter=name).values
        assert np.abs(force - run.derivative("rod.fz", name)).max() < 1e-9


def test_numbers_of_a_run_move_with_an_event_that_stops_it():
    """A ball that falls from a height is on the floor at T = (2 height / g)^(1/2), 0.7 T further, with g T."""
    floor = da.Event(lambda state: state.position("ball")[2], direction=-1, stop=True)
    g, height, options = 9.81, 1.0, {"t_end": 1.0, "events": floor, "integrator": FINE}
    T = np.sqrt(2 * height / g)
    expected = {
        "height": (T / (2 * height), lambda dT: 0.7 * dT, lambda dT: -g * dT, lambda dT: 0.7 * T * dT),
        "g": (-T / (2 * g), lambda dT: 0.7 * dT, lambda dT: -T - g * dT, lambda dT: 0.7 * T * dT),
    }
    objectives = (lambda s: s.t[-1], "ball.x", "ball.vz", lambda s: da.integral(s, "ball.x"))
    found = [da.gradient(ball, objective, {"height": height, "g": g}, **options) for objective in objectives]
    for name, (dT, *others) in expected.items():
        for number, wanted in zip(found, (dT, *(of(dT) for of in others)), strict=True):
            assert abs(number[name] - wanted) < 1e-8


def test_the_check_of_a_run_that_an_event_stops():
    """Runs beside it stopped a little earlier or later, and right derivatives were said to be wrong."""
    low = da.Event(lambda s: s.position("bob")[0] - 0.3, stop=True)
    run = da.simulate(pendulum, 0.7, sensitivities=["length"], events=low)
    assert run.status == "event"
    assert run.report()["sensitivities"].verdict == "pass"
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again.derivative("bob.x", "length"), run.derivative("bob.x", "length"))
    last = [one.sensitivities.slope(one, lambda s: s.t[-1], "length") for one in (run, again)]
    assert last[0] == last[1] != 0.0
    run.sensitivities.states[:, :, 0] *= 1.01
    run.sensitivities.check.cache_clear()
    assert run.report()["sensitivities"].verdict == "FAIL"


def test_runs_without_times_and_values_at_their_limit():
    empty = da.simulate(ball, 0.1, sensitivities=["g"], save_at=[])
    assert empty.report().passed and len(empty.derivative("ball.z", "g")) == 0

    def damped(damping=0.0):
        model = da.Model()
        bob = model.add_point_mass("bob", mass=1.0, position=(1, 0, 0))
        model.add_spring_damper("spring", model.ground, bob, stiffness=9.0, damping=damping, length=1.0)
        return model

    with pytest.raises(da.ModelError, match=r"both sides of damping = 0: .*damping is -"):
        da.simulate(damped, 0.1, sensitivities=["damping"])
