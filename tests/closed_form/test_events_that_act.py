"""Events that act, against closed forms: a Geneva drive, impacts, pushes, lift-off; and what is refused."""

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError, SimulationError

ARM, APART = np.sin(np.pi / 4), 1.0  # of a Geneva drive with four slots: the pin enters along its slot


def geneva() -> da.Model:
    """The crank turns about the origin, its pin at -45 degrees enters the first slot of the wheel."""
    model = da.Model(gravity=(0, 0, 0), name="Geneva drive")
    pin = np.array([ARM * np.cos(np.pi / 4), -ARM * np.sin(np.pi / 4), 0.0])
    model.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_body("wheel", mass=2.0, inertia=(0.2, 0.2, 0.2), position=(APART, 0, 0))
    model.add_revolute("shaft", model.ground, "crank", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute("hub", model.ground, "wheel", point=(APART, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "shaft", da.Polynomial((0.0, 2.0 * np.pi)))  # a turn per second
    slot = (pin - [APART, 0, 0]) / np.linalg.norm(pin - [APART, 0, 0])
    for k, along in enumerate((slot, np.cross([0, 0, 1], slot))):  # opposite slots lie in one line
        model.add_point_on_line(f"slot {k}", "wheel", "crank", points=((0, 0, 0), pin), axes=(along,))
    return model


def pin_in_slot(state) -> float:
    return np.cos(state.coordinate("shaft") - np.pi / 4) - np.cos(np.pi / 4)


GENEVA = [
    da.Event(
        pin_in_slot,
        name="pin enters",
        direction=1,
        action=lambda s: [da.Unlock("hub"), da.Close(f"slot {round(s.coordinate('shaft') / (2 * np.pi)) % 2}")],
    ),
    da.Event(
        pin_in_slot,
        name="pin leaves",
        direction=-1,
        action=lambda s: [da.Lock("hub"), da.Free(f"slot {int(s.coordinate('shaft') // (2 * np.pi)) % 2}")],
    ),
]


def wheel_angle(t):
    """tan(phi) = a sin(theta) / (b - a cos(theta)) while the pin is in a slot, a quarter turn less after each."""
    theta = 2.0 * np.pi * t - np.pi / 4
    turn = np.floor((theta + np.pi) / (2.0 * np.pi))
    own = theta - 2.0 * np.pi * turn
    inside = np.abs(own) < np.pi / 4
    phi = np.arctan2(ARM * np.sin(own), APART - ARM * np.cos(own))
    locked = -np.pi / 2 * np.where(own > 0, turn + 1, turn)
    return np.where(inside, -(phi + np.pi / 4) - np.pi / 2 * turn, locked), inside


@pytest.mark.parametrize("formulation", [da.Jet(), da.Minimal()], ids=lambda f: type(f).__name__)
def test_geneva_drive_through_three_turns(formulation):
    integrator = da.DOP853(rtol=1e-10, atol=1e-10)
    run = da.simulate(geneva(), 3.0, formulation=formulation, integrator=integrator, events=GENEVA, free=["slot 1"])
    expected, inside = wheel_angle(run.t)
    gap = np.abs(run.coordinate("hub") - expected)
    assert gap[inside].max() < 1e-8 and gap[~inside].max() < 1e-10
    assert [name for name, _ in run.events] == ["pin leaves", "pin enters"] * 2 + ["pin leaves"]
    assert np.allclose([t for _, t in run.events], [0.25, 1.0, 1.25, 2.0, 2.25], rtol=0.0, atol=1e-9)
    for piece in run.pieces:
        if piece.phase.locked:  # held where it was, to what a projection leaves
            assert np.ptp(piece.coordinate("hub")) < 1e-11 and np.abs(piece.angular_velocity("wheel")).max() < 1e-10
    assert abs(run(1.1).coordinate("hub") - wheel_angle(1.1)[0]) < 1e-8
    report = run.report()
    assert report.passed and "'pin leaves' (3), 'pin enters' (2)" in report["events that act"].value
    away = ~inside & (run.t > 0.0) & (run.t < 2.0)
    assert not run.reaction("slot 0").force[away].any() and run.reaction("slot 1").force.any()
    assert run.reaction("lock of hub").torque.shape == (len(run.t), 3)


def test_geneva_in_the_plane():
    """In planar coordinates, through the first two phases."""
    events = GENEVA
    run = da.simulate(geneva(), 0.3, coordinates="planar", events=events, free=["slot 1"])
    assert np.abs(run.coordinate("hub") - wheel_angle(run.t)[0]).max() < 1e-8 and run.report().passed


def test_pieces_are_stored_with_their_phase_and_go_on(tmp_path):
    run = da.simulate(geneva(), 0.3, events=GENEVA, free=["slot 1"])
    for k, piece in enumerate(run.pieces):
        piece.save(tmp_path / f"{k}.zarr")
    stored = [da.load(tmp_path / f"{k}.zarr") for k in range(2)]
    assert [piece.phase for piece in stored] == [piece.phase for piece in run.pieces]
    joined = da.concatenate(stored)
    assert np.array_equal(joined.x, run.x) and joined.report().passed
    later = da.simulate(stored[1], 1.1, events=GENEVA)
    assert [name for name, _ in later.events] == ["pin enters"]
    assert np.abs(later.coordinate("hub") - wheel_angle(later.t)[0]).max() < 1e-8


def ball() -> da.Model:
    model = da.Model(gravity=(0, 0, -10.0))
    model.add_point_mass("ball", mass=2.0, position=(0, 0, 5.0))  # a second to the floor
    return model


def bounce(share: float) -> da.Event:
    return da.Event(
        lambda s: s.position("ball")[2],
        name="floor",
        direction=-1,
        action=lambda s: {"ball": s.velocity("ball") * [1, 1, -share]},
    )


def test_ball_bounces_and_its_energy_is_accounted_for():
    """Half the speed is left: flights of 1, 0.5 and 0.25 s, three quarters of the kinetic energy lost in each."""
    run = da.simulate(ball(), 2.7, events=bounce(0.5))
    assert np.allclose([t for _, t in run.events], [1.0, 2.0, 2.5], rtol=0.0, atol=1e-9)
    assert np.allclose([piece.acted[2] for piece in run.pieces[:-1]], [-75.0, -18.75, -4.6875], rtol=0.0, atol=1e-7)
    assert np.ptp(run.energy.total) < 1e-7 and abs(run.energy.external_work[-1] + 98.4375) < 1e-7
    assert run.position("ball")[:, 2].min() > -1e-9
    line = run.report()["events that act"]
    assert "energy changed by -98.4 J" in line.value and run.report().passed


@pytest.mark.parametrize("share", [0.05, 0.5, 0.8])
def test_ball_that_bounces_to_rest_is_not_lost(share):
    """How it could be wrong unnoticed: bounces become too short to be seen and the ball falls through the floor."""
    end = 1.0 + 2.0 * share / (1.0 - share)
    with pytest.raises(SimulationError, match=r"event .floor.( acts ever faster|: its function came back)") as caught:
        da.simulate(ball(), 2.0 * end, events=bounce(share))
    assert caught.value.solution.t[-1] == pytest.approx(end, rel=1e-2)
    assert caught.value.solution.position("ball")[:, 2].min() > -1e-5  # the step in which it was noticed


@pytest.mark.parametrize("integrator", [da.DOP853(), da.RungeKutta4(step=0.3)], ids=["adaptive", "fixed"])
def test_bounces_shorter_than_a_step_are_found(integrator):
    """Flights of 1, 0.5, 0.25, ... s: the last ones begin and end within the first two looks at a step."""
    with pytest.raises(SimulationError, match="acts ever faster") as caught:
        da.simulate(ball(), 9.0, integrator=integrator, events=bounce(0.5))
    run = caught.value.solution
    assert len(run.events) > 12
    assert np.allclose([t for _, t in run.events], 3.0 - 2.0 * 0.5 ** np.arange(len(run.events)), rtol=0.0, atol=1e-9)
    assert run.position("ball")[:, 2].min() > -1e-9


def test_ball_that_is_stopped_on_the_floor_and_falls_on_is_said():
    """Its action leaves it at rest on the floor, and nothing holds it there: it is 5 m below a second later."""
    run = da.simulate(ball(), 2.0, events=bounce(0.0))
    assert run.position("ball")[-1, 2] == pytest.approx(-5.0, abs=1e-9)
    line = run.report()["events that act"]
    assert line.verdict == "WARN" and "brought to rest on zero at t = 1 s" in line.value and "Lock" in line.advice
    stopped = da.Event(lambda s: s.time - 0.5, name="brake", action={"ball": (0.0, 0.0, 0.0)})  # time goes on as ever
    assert da.simulate(ball(), 1.0, events=stopped).report().verdict == "pass"


@pytest.mark.parametrize("before", [0.0, 1e-13, 1e-8])
def test_a_run_that_goes_on_at_the_floor_bounces_and_passes(before):
    """A piece too short to move in has nothing to check, and step control is measured by the whole run."""
    first = da.simulate(ball(), 1.0 - before, events=bounce(1.0))
    run = da.simulate(first, 1.6, events=bounce(1.0))
    assert run.position("ball")[-1, 2] == pytest.approx(10.0 * 0.6 - 5.0 * 0.6**2, abs=1e-7)
    assert run.report().verdict == "pass", str(run.report())


def test_push_of_a_pinned_rod():
    """An impulse p at the tip of a pinned rod: w = 3 p / (m l), and the pin's impulse does no work."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("rod", **da.rod(2.0, 1.0, axis="x", radius=0.001).body(), position=(0.5, 0, 0))
    model.add_revolute("pin", model.ground, "rod", point=(0, 0, 0), axis=(0, 0, 1))
    event = da.Event(lambda s: s.time - 0.05, action=da.Push("rod", (0, 3.0, 0), point=(0.5, 0, 0)))
    run = da.simulate(model, 0.1, events=event, integrator=da.RungeKutta4(step=0.02))
    inertia = model.body("rod").inertia[2, 2] + 0.5
    assert run.pieces[1].coordinate_rate("pin")[0] == pytest.approx(3.0 / inertia, abs=1e-12)
    assert run.pieces[0].acted[2] == pytest.approx(0.5 * 9.0 / inertia, abs=1e-12)
    assert np.ptp(run.energy.total) < 1e-6  # of the integrator


def platform(frequency: float) -> da.Model:
    """A block on a table that goes up and down by 0.1 m; the seat is a joint, whose force may become a pull."""
    model = da.Model(gravity=(0, 0, -9.81))
    model.add_body("table", mass=5.0, inertia=(1, 1, 1))
    model.add_body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.2))
    model.add_prismatic("guide", model.ground, "table", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_fixed("seat", "table", "block", point=(0, 0, 0.1))
    model.add_driver("shaker", "guide", da.Harmonic(0.1, omega=frequency))
    return model


def test_lift_off_is_found_by_the_reaction():
    """N = m (g - a w^2 sin(w t)) vanishes at sin(w t) = g / (a w^2)."""
    w = 12.0
    event = da.Event(lambda s: s.reaction("seat").force[2], name="lift-off", direction=-1, stop=True)
    run = da.simulate(platform(w), 0.2, events=event)
    assert abs(run.events[0][1] - np.arcsin(9.81 / (0.1 * w**2)) / w) < 1e-9
    assert abs(run.reaction("seat").force[-1, 2]) < 1e-6


def test_multipliers_of_what_is_free_vanish():
    """A ball on a string that goes slack at cos = (2 g l - v^2) / (3 g l), and flies: functions of events are asked on."""
    model = da.Model()
    model.add_point_mass("ball", mass=2.0, position=(0, 0, -1), velocity=(6.0, 0, 0))
    model.add_distance("string", model.ground, "ball", points=((0, 0, 0), (0, 0, 0)))
    event = da.Event(lambda s: s.multiplier("string")[0], name="slack", action=da.Free("string"))
    run = da.simulate(model, 1.0, events=event)
    ((_, t),) = run.events
    assert abs(run(t).position("ball")[2] + (2 * 9.81 - 36) / (3 * 9.81)) < 1e-8
    assert run(0.9).multiplier("string").tolist() == [0.0] and run.pieces[1].multiplier("string").shape[1] == 1
    assert np.ptp(run.velocity("ball")[run.t > t, 0]) < 1e-12 and run.report().passed
    assert run(0.9).drift.by_joint("string").position == 0.0 and run(0.1).drift.by_joint("string").position < 1e-9


def test_arrays_of_times_have_all_that_a_run_in_pieces_has():
    """In any order, across pieces: what single states have."""
    model = da.Model()
    model.add_point_mass("ball", mass=2.0, position=(0, 0, -1), velocity=(6.0, 0, 0))
    model.add_distance("string", model.ground, "ball", points=((0, 0, 0), (0, 0, 0)))
    slack = da.Event(lambda s: s.multiplier("string")[0], name="slack", action=da.Free("string"))
    run, times = da.simulate(model, 1.0, events=slack), np.array([0.9, 0.1, 0.05, 0.8])
    many, single = run(times), [run(float(t)) for t in times]
    assert np.allclose(many.reaction("string").force, [s.reaction("string").force for s in single], rtol=0.0, atol=1e-9)
    assert np.allclose(many.energy.total, [s.energy.total for s in single], rtol=0.0, atol=1e-9)
    assert np.allclose(many.position("ball"), [s.position("ball") for s in single], rtol=0.0, atol=1e-12)
    assert many.drift.by_joint("string").position[[0, 3]].tolist() == [0.0, 0.0] and many.t.tolist() == times.tolist()
    assert np.linalg.norm(many.reaction("string").force[1]) > 1.0 and run(np.array([0.8, 0.9])).t.tolist() == [0.8, 0.9]
    assert len(run(np.zeros(0)).t) == 0


def test_a_stone_leaves_a_sling_that_is_let_go():
    """A cable that is free has no rows; reports looked for its ends in them. Straight on from there, and no tension."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("stone", mass=0.5, position=(1, 0, 0), velocity=(0, 3.0, 0))
    model.add_cable("sling", [("ground", (0, 0, 0)), ("stone", (0, 0, 0))])
    let_go = da.Event(lambda s: s.position("stone")[0] - 0.5, action=da.Free("sling"))
    run = da.simulate(model, 0.6, events=let_go, integrator=da.DOP853(rtol=1e-10, atol=1e-10))
    assert run.report().passed and abs(run.events[0][1] - np.pi / 9) < 1e-9
    free = run.t > run.events[0][1]
    tension = run.effort("sling").value
    assert np.allclose(tension[run.t < run.events[0][1]], 0.5 * 9.0, rtol=0, atol=1e-8) and not tension[free].any()
    assert np.allclose(run.velocity("stone")[-1], (-3 * np.sin(np.pi / 3), 3 * np.cos(np.pi / 3), 0), rtol=0, atol=1e-8)


def test_event_of_an_effort():
    """The tension of a spring k = 8 under a mass 2 vanishes after a quarter of a period, pi / 4."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("mass", mass=2.0, position=(1.5, 0, 0))
    model.add_spring_damper("spring", model.ground, "mass", stiffness=8.0, length=1.0)
    slack = da.Event(lambda s: s.effort("spring").value, name="slack", stop=True)
    run = da.simulate(model, 2.0, events=slack)
    assert abs(run.events[0][1] - np.pi / 4) < 1e-9


def test_block_flies_and_lands():
    """It leaves with the speed of the table, and lands where its parabola meets the table; the speed between them is lost."""
    from scipy.optimize import brentq

    w = 12.0
    t_0 = np.arcsin(9.81 / (0.1 * w**2)) / w
    z_0, v_0 = 0.1 * np.sin(w * t_0), 0.1 * w * np.cos(w * t_0)

    def height(t):
        return z_0 + v_0 * (t - t_0) - 9.81 / 2 * (t - t_0) ** 2 - 0.1 * np.sin(w * t)

    t_1 = brentq(height, t_0 + 0.05, t_0 + 0.5, xtol=1e-14)
    leaves = da.Event(lambda s: s.reaction("seat").force[2], name="leaves", direction=-1, action=da.Free("seat"))
    lands = da.Event(
        lambda s: s.position("block")[2] - s.position("table")[2] - 0.2, name="lands", direction=-1, action=da.Close("seat")
    )
    flying = da.simulate(platform(w), t_0 + 0.02, events=leaves)
    run = da.concatenate([flying, da.simulate(flying, t_1 + 0.01, events=lands)])
    assert abs(run.events[1][1] - t_1) < 1e-8
    before, after = v_0 - 9.81 * (t_1 - t_0), 0.1 * w * np.cos(w * t_1)
    jump = next(piece.acted[2] for piece in run.pieces if piece.acted and piece.acted[0] == "lands")
    assert jump == pytest.approx(0.5 * 2.0 * (after**2 - before**2), abs=1e-7)
    assert np.allclose(run.velocity("block")[-1], run.velocity("table")[-1], rtol=0.0, atol=1e-10)


FREED = {
    "jet": {"formulation": da.Jet()},
    "tree": {"coordinates": "tree"},
    "moving frame": {"formulation": da.MovingFrame()},
    "minimal": {"formulation": da.Minimal()},
    "minimal joints": {"formulation": da.Minimal(velocities="joints")},
    "impulse": {"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=0.001)},
    "impulse tree": {"formulation": da.Impulse(), "coordinates": "tree", "integrator": da.RungeKutta4(step=0.001)},
}


@pytest.mark.parametrize("way", FREED)
def test_a_rod_that_is_let_go_flies_straight(way):
    """Out of a joint that a tree would be made of: without gravity both rods then turn evenly, one about its pin."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_link("arm", (0, 0, 0), (0.5, 0, 0), mass=1.0)
    model.add_link("fore", (0.5, 0, 0), (1.0, 0, 0), mass=0.7)
    model.add_revolute("shoulder", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), rate=2.0)
    model.add_revolute("elbow", "arm", "fore", point=(0.5, 0, 0), axis=(0, 1, 0), rate=3.0)
    let_go = da.Event(lambda s: s.time - 0.1, action=da.Free("elbow"))
    run = da.simulate(model, 0.4, events=let_go, save_at=[0.1, 0.2, 0.4], **FREED[way])
    assert run.report().passed
    for turning in (run.angular_velocity("fore")[:, 1], run.coordinate_rate("shoulder")):
        assert np.ptp(turning) < 1e-8
    flown = run.position("fore") - run.position("fore")[0] - np.outer(run.t - run.t[0], run.velocity("fore")[0])
    assert np.abs(flown).max() < 1e-8
    apart = run.point("fore", (-0.25, 0, 0)) - run.point("arm", (0.25, 0, 0))
    assert np.linalg.norm(apart, axis=1)[-1] > 0.1


def test_velocities_of_a_lagrangian_system_are_set_too():
    """A mass on a spring that is stopped at its largest speed stays where it is."""
    system = da.LagrangianSystem(lambda q, v: 0.5 * v.x**2 - 0.5 * q.x**2, ["x"], initial={"x": -1.0}, velocities={"x": 0.0})
    run = da.simulate(system, 2.0, events=da.Event(lambda s: s["x"], action={"x": 0.0}))
    assert run.events[0][1] == pytest.approx(np.pi / 2, abs=1e-8) and np.abs(run["x"][-1]) < 1e-8
    assert run.pieces[0].acted[2] == pytest.approx(-0.5, abs=1e-8)


def pull(t, l, l_dot, k):
    return k * (l - 1.0)


@pytest.mark.parametrize("law", [False, True], ids=["argument", "parameter"])
def test_numbers_of_forces_change(law, tmp_path):
    """k = 8 becomes 32 at a stretch of 0.3: (m v^2 + k s^2) / 2 from then on, with what was put into the spring as work."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("mass", mass=2.0, position=(1.5, 0, 0))
    given = {"force": pull, "parameters": {"k": 8.0}} if law else {"stiffness": 8.0, "length": 1.0}
    model.add_spring_damper("spring", model.ground, "mass", **given)
    action = da.Change("spring", **({"k": 32.0} if law else {"stiffness": 32.0}))
    stiffer = da.Event(lambda s: s.position("mass")[0] - 1.3, name="stiffer", action=action, direction=-1)
    run = da.simulate(model, 1.0, events=stiffer, integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    t_1, w = np.arccos(0.6) / 2.0, 4.0
    tau, v_1 = run.t - t_1, -2.0 * 0.5 * 0.8
    later = 0.3 * np.cos(w * tau) + v_1 / w * np.sin(w * tau)
    expected = np.where(tau < 0, 0.5 * np.cos(2.0 * run.t), later)
    assert abs(run.events[0][1] - t_1) <= 1e-9 and np.abs(run.position("mass")[:, 0] - 1.0 - expected).max() <= 1e-8
    stretch = run.position("mass")[:, 0] - 1.0
    assert np.abs(run.effort("spring").value - np.where(tau < 0, 8.0, 32.0) * stretch)[run.t != t_1].max() <= 1e-9
    if not law:  # a function stores nothing
        assert run.pieces[0].acted[2] == pytest.approx(0.5 * 24.0 * 0.3**2, abs=1e-8)
    assert np.ptp(run.energy.total) <= 1e-8 and run.report().passed
    assert model.forces[0].stiffness == (0.0 if law else 8.0)  # the model is as it was
    run.pieces[1].save(tmp_path / "later.zarr")
    again = da.load(tmp_path / "later.zarr", model=model)
    assert again.phase == run.pieces[1].phase
    assert np.array_equal(again.effort("spring").value, run.pieces[1].effort("spring").value)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: da.Change("sprong", stiffness=1.0), "event 'e': Change: there is no force element 'sprong'; did you mean"),
        (
            lambda: da.Change("spring", stifness=1.0),
            "event 'e': Change: .*'spring': has no 'stifness' .* mean 'stiffness'",
        ),
        (lambda: da.Change("spring", stiffness=-1.0), "event 'e': Change: .*'spring': stiffness is -1"),
        (lambda: da.Change("spring", stiffness=np.nan), "Change of 'spring': stiffness is nan; give a finite number"),
        (lambda: da.Change("spring"), "Change of 'spring': got no numbers"),
        (lambda: da.Change("rope", length=2.0), "'length' is an argument and a parameter of 'rope'"),
    ],
)
def test_what_may_change(action, message):
    model = ball()
    model.add_spring_damper("spring", model.ground, "ball", stiffness=8.0, length=1.0)
    law = {"force": lambda t, l, l_dot, length: l - length, "parameters": {"length": 1.0}}
    model.add_spring_damper("rope", model.ground, "ball", **law)
    with pytest.raises(ModelError, match=message):
        da.simulate(model, 0.01, events=da.Event(lambda s: s.time - 0.005, name="e", action=action()))


def test_actions_at_the_same_time_act_together():
    """A push that one event gives is not lost because another acts at the same time."""
    model = ball()
    model.add_point_mass("other", mass=1.0, position=(3, 0, 5.0))
    events = [
        da.Event(lambda s, b=b: s.position(b)[2], name=b, direction=-1, action=lambda s, b=b: {b: s.velocity(b) * [1, 1, -1]})
        for b in ("ball", "other")
    ]
    run = da.simulate(model, 1.5, events=events)
    assert [name for name, _ in run.events] == ["ball", "other"] and len(run.pieces) == 2
    assert np.allclose(run.velocity("ball")[-1], run.velocity("other")[-1]) and run.velocity("ball")[-1, 2] > 0.0


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: da.Lock("hup"), "event 'e': Lock: there is no joint 'hup'; did you mean 'hub'"),
        (lambda: da.Lock("motor"), "event 'e': Lock: there is no joint 'motor'"),
        (lambda: da.Free("moter"), "event 'e': Free: there is no joint or driver 'moter'; did you mean 'motor'"),
        (lambda: da.Lock(), "Lock: got no name"),
        (lambda: da.Push("weel", (1, 0, 0)), "event 'e': Push: there is no body 'weel'"),
        (lambda: da.Push("wheel", (1, 0)), "Push: impulse"),
        (lambda: 3.0, r"event 'e': action is 3.0; give Lock, Unlock, Free, Close, Change, Push"),
        (lambda: ["hub"], "event 'e': action is 'hub'; give Lock"),
    ],
)
def test_messages_before_the_run(action, message):
    with pytest.raises(ModelError, match=message):
        da.simulate(geneva(), 0.01, events=da.Event(lambda s: s.time - 0.005, name="e", action=action()), free=["slot 1"])


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda s: {"wheel": (1.0, 2.0)}, "event 'e': the velocity of 'wheel' is .*; give three numbers"),
        (lambda s: {"wheel": (np.nan, 0, 0)}, "event 'e': the velocity of 'wheel' is .*; give finite numbers"),
        (lambda s: {"weel": (0, 0, 0)}, "event 'e': there is no body 'weel'; did you mean 'wheel'"),
        (lambda s: 1 / 0, "event 'e': action raised ZeroDivisionError"),
        (lambda s: "stop", "event 'e': action: what it returned is 'stop'; give Lock"),
        (
            lambda s: [da.Free("slot 0"), da.Close("slot 1")],
            "event 'e' at t = 0.005 s: 'slot 1' is .* from where it would hold",
        ),
        (lambda s: da.Lock("hub"), "event 'e' at t = 0.005 s: the mechanism is over-driven: .* no freedom for 'lock of hub'"),
        (lambda s: da.Lock("slot 1"), "joint 'slot 1' is free; close it"),
    ],
)
def test_messages_of_what_an_action_returns(action, message):
    event = da.Event(lambda s: s.time - 0.005, name="e", action=action)
    with pytest.raises(SimulationError, match=message) as caught:
        da.simulate(geneva(), 0.01, events=event, free=["slot 1"], integrator=da.RungeKutta4(step=0.002))
    assert caught.value.solution.status == "failed" and caught.value.solution.t[-1] == pytest.approx(0.005)


def test_free_names_are_checked():
    with pytest.raises(ModelError, match="simulate: free: there is no joint or driver 'slot 9'; did you mean"):
        da.simulate(geneva(), 0.01, free=["slot 9"])


def test_out_is_refused_before_the_run(tmp_path):
    with pytest.raises(ModelError, match=r"out: a run with events that act is in pieces"):
        da.simulate(ball(), 10.0, events=bounce(0.5), out=tmp_path / "run.zarr")
