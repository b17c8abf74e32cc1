"""Events between the ends of a step: all of them, in order, also where two cancel; and stops that a step would run through."""

import numpy as np
import pytest

import dalembert as da
from dalembert.run.events import brackets


def ball() -> da.Model:
    model = da.Model()
    model.add_point_mass("ball", mass=1.0, velocity=(1, 0, 5))
    return model


def wheel(rate: float = 20.0) -> da.Model:
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("wheel", mass=1, inertia=(1, 1, 1))
    model.add_revolute("hinge", model.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), rate=rate)
    return model


def height(z):
    return da.Event(lambda state: state.position("ball")[2] - z, name=f"{z} m")


@pytest.mark.parametrize(
    "integrator",
    [
        da.DOP853(),
        da.DormandPrince(),
        da.RungeKutta4(step=1.0),
        da.GaussLegendre(2),
        da.RadauIIA(3),
        da.StoermerVerlet(step=1.5),
    ],
    ids=lambda integrator: type(integrator).__name__,
)
def test_up_and_down_within_one_step(integrator):
    """z = 5 t - 4.905 t^2 passes 1 m twice, and almost touches 1.274 m, the top being 5^2 / (2 g)."""
    top = 25 / (2 * 9.81) - 1e-4
    solution = da.simulate(ball(), 1.5, integrator=integrator, events=[height(1.0), height(top)])
    expected = {z: np.sort(np.roots([-4.905, 5.0, -z])) for z in (1.0, top)}
    for z, times in expected.items():
        found = [t for name, t in solution.events if name == f"{z} m"]
        np.testing.assert_allclose(found, times, rtol=0, atol=1e-9)
    assert [t for _, t in solution.events] == sorted(t for _, t in solution.events)


def test_first_of_two_stops_the_run():
    event = da.Event(lambda state: state.position("ball")[2] - 1.0, name="1 m", stop=True)
    solution = da.simulate(ball(), 1.5, events=event)
    assert solution.status == "event"
    assert solution.t[-1] == pytest.approx(np.roots([-4.905, 5.0, -1.0]).min(), abs=1e-9)


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("rate", [20.0, 2 * np.pi * 3.2])
def test_every_half_turn_is_found(formulation, rate):
    event = da.Event(lambda state: np.sin(state.coordinate("hinge") - 0.1), name="half turn")
    solution = da.simulate(wheel(rate), 10.0, formulation=formulation, events=event)
    times = (0.1 + np.pi * np.arange(200)) / rate
    np.testing.assert_allclose([t for _, t in solution.events], times[times < 10.0], rtol=0, atol=1e-7)


def test_a_wall_far_away_stops_the_run():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("p", mass=1, position=(-100.3, 0, 0), velocity=(1, 0, 0))
    wall = da.Event(lambda state: abs(state.position("p")[0]) - 0.1, name="wall", stop=True)
    solution = da.simulate(model, t_end=200, events=wall)
    assert solution.status == "event"
    assert solution.t[-1] == pytest.approx(100.2, abs=1e-9)


def test_angles_of_a_lagrangian_system():
    system = da.LagrangianSystem(lambda q, v: 0.5 * v.a**2, "a", velocities={"a": 25.0})
    solution = da.simulate(system, 10.0, events=da.Event(lambda state: np.cos(state["a"]), name="quarter"))
    np.testing.assert_allclose(
        [t for _, t in solution.events], (0.5 + np.arange(len(solution.events))) * np.pi / 25.0, rtol=0, atol=1e-7
    )
    assert len(solution.events) == int(250.0 / np.pi + 0.5)


def test_directions_are_told_apart_within_a_step():
    for direction, which in ((1, 0), (-1, 1)):
        event = da.Event(lambda state: state.position("ball")[2] - 1.0, direction=direction)
        (found,) = da.simulate(ball(), 1.5, events=event).events
        assert found[1] == pytest.approx(np.sort(np.roots([-4.905, 5.0, -1.0]))[which], abs=1e-9)


@pytest.mark.parametrize(
    ("function", "roots"),
    [
        (lambda t: (t - 0.31) * (t - 0.3105), [0.31, 0.3105]),
        (lambda t: (t - 0.51) ** 2 + 1e-9, []),
        (lambda t: abs(t - 0.6) - 1e-3, [0.599, 0.601]),
        (lambda t: np.cos(20.0 * t), (0.5 + np.arange(6)) * np.pi / 20.0),
        (lambda t: t, []),  # zero at the start is no event
    ],
    ids=["close pair", "almost touches", "kink", "many", "starts at zero"],
)
def test_brackets(function, roots):
    t = np.linspace(0.0, 1.0, 5)
    found = brackets(function, t, [function(x) for x in t])
    assert len(found) == len(roots)
    assert all(a <= r <= b for (a, b), r in zip(found, roots, strict=True))


def test_what_stays_on_zero_is_not_halved_for_ever():
    looks = []
    assert brackets(lambda t: looks.append(t) or 0.0, np.linspace(0.0, 1.0, 5), [0.0] * 5) == []
    assert len(looks) == 4
