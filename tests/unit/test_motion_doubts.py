"""What only a run shows: rods that leave their barrels, speeds of drivers that jump, loads across the motion."""

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import MODEL
from dalembert.remarks.kinks import kinks


def cylinder(motion, kind="prismatic", side=1.0, **solids) -> da.Model:
    """A barrel from 0 to 0.5 m on a pivot, and a rod from 0.3 to 0.8 m that is drawn along it."""
    model = da.Model(gravity=(0, 0, 0))
    parts = {"barrel": da.rod(3.0, 0.5, axis="x", radius=0.03), "rod": da.rod(1.0, 0.5, axis="x", radius=0.01)} | solids
    for name, x in (("barrel", 0.25), ("rod", 0.55)):
        model.add_body(name, **parts[name].body(), position=(x, 0, 0))
    model.add_revolute("foot", model.ground, "barrel", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("swing", "foot", da.Polynomial((0.0, 0.5)))
    getattr(model, f"add_{kind}")("slide", "barrel", "rod", point=(0.5, 0, 0), axis=(side, 0, 0))
    model.add_driver("push", "slide", motion)
    if kind == "cylindrical":
        model.add_driver("hold", "slide", 0.0, component=1)
    return model


def doubted(model, t_end=2.0) -> list[str]:
    return [line.value for line in da.simulate(model, t_end).report().lines if line.name == MODEL]


FAR = da.SmoothStep(0.0, 0.4, 0.0, 2.0)  # half of it at t = 1, where 0.2 m of overlap are used up


@pytest.mark.parametrize(
    ("motion", "given", "at"),
    [
        (FAR, {}, 1.0),
        (-1.0 * FAR, {"side": -1.0}, 1.0),
        (FAR, {"kind": "cylindrical"}, 1.0),
        (da.Polynomial((0.0, -1.0)), {}, 0.8),  # through the bottom, and out behind
        (da.Polynomial((0.0, 0.1)), {}, None),  # to the very end
        (da.Harmonic(0.19, 3.0), {}, None),
        (FAR, {"rod": da.box(1.0, (0.1, 0.1, 0.1))}, None),  # a carriage on a rail
        (FAR, {"rod": da.rod(1.0, 0.1, axis="x", radius=0.01)}, None),  # no overlap at the start, as it is drawn
    ],
)
def test_a_rod_that_leaves_its_barrel(motion, given, at):
    told = doubted(cylinder(motion, **given))
    assert len(told) == (at is not None)
    if at is not None:
        assert told[0].startswith(f"'rod' leaves 'barrel' at t = {at:.3g} s: as they are drawn they overlap by 0.2 m along")


@pytest.mark.parametrize("x", [0.55, 0.1, 1.2])
def test_the_rod_is_where_it_is_drawn_and_not_where_its_centre_of_mass_is(x):
    model = da.Model(gravity=(0, 0, 0))
    model.add_link("barrel", (0, 0, 0), (0.5, 0, 0), mass=3.0, radius=0.03)
    model.add_link("rod", (0.3, 0, 0), (0.8, 0, 0), mass=1.0, radius=0.01, centre=(x, 0, 0), inertia=0.02)
    model.add_revolute("foot", model.ground, "barrel", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("swing", "foot", da.Polynomial((0.0, 0.5)))
    model.add_prismatic("slide", "barrel", "rod", point=(0.5, 0, 0), axis=(1, 0, 0))
    model.add_driver("push", "slide", FAR)
    (told,) = doubted(model)
    assert told.startswith("'rod' leaves 'barrel' at t = 1 s: as they are drawn they overlap by 0.2 m along")


def test_it_is_in_the_verdict_of_the_run_and_of_runs_in_pieces():
    first = da.simulate(cylinder(FAR), 0.5)
    assert first.report().headline == "trusted"
    later = da.simulate(first, 2.0)
    for run in (later, da.concatenate([first, later])):
        assert run.report().headline == "trusted, but look at the model: 'rod' leaves 'barrel' at t = 1 s"
    assert np.isclose(later.report()[MODEL].data, 1.0, atol=1e-3)


def press(force=None, **options) -> da.Model:
    """A crank that drives a slider along x."""
    model = da.Model(name="press")
    model.add_link("crank", (0, 0, 0), (0, 0, 0.1), mass=0.2)
    model.add_link("rod", (0, 0, 0.1), (0.4, 0, 0), mass=0.5)
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.4, 0, 0))
    for name, first, second, point in (
        ("A", "ground", "crank", (0, 0, 0)),
        ("B", "crank", "rod", (0, 0, 0.1)),
        ("C", "rod", "slider", (0.4, 0, 0)),
    ):
        model.add_revolute(name, first, second, point=point, axis=(0, 1, 0))
    model.add_prismatic("D", model.ground, "slider", point=(0.4, 0, 0), axis=(1, 0, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    if force is not None:
        model.add_force("load", "slider", force, **options)
    return model


def idle(model, t_end=0.5) -> list[str]:
    report = da.simulate(model, t_end).report()
    assert report.headline == "trusted"
    return [line.value for line in report.lines if line.name == "no work" and (line.block, line.verdict) == ("careful", "note")]


TOLD = "force 'load' on 'slider': square to the motion all along, only reactions feel it; see its axes"


@pytest.mark.parametrize(
    ("force", "options", "told"),
    [
        ((0, 0, -100.0), {}, True),
        ((0, 50.0, -100.0), {"frame": "body"}, True),
        ((0, 0, -100.0), {"factor": da.Harmonic(1.0, 3.0)}, True),
        ((-100.0, 0, 0), {}, False),
        ((-1.0, 0, -100.0), {}, False),
        ((0, 0, 0), {}, False),
        ((0, 0, -100.0), {"factor": da.SmoothStep(0.0, 1.0, 1.0, 2.0)}, False),  # not in this run
        (lambda t: (0.0, 0.0, -100.0), {}, False),
    ],
)
def test_loads_square_to_the_motion_are_hinted_at(force, options, told):
    assert idle(press(force, **options)) == [TOLD] * told


def test_torques_and_what_rests():
    model = press()
    model.add_torque("brake", "crank", (1.0, 0, 0))
    model.add_torque("drag", "crank", (0, 1.0, 0))
    model.add_force("thrust", "crank", (0, 1.0, 0), at=(0, 0, 0))  # at the pivot, which rests
    model.add_torque("twist", "slider", (0, 1.0, 0))  # which does not turn
    assert idle(model) == [TOLD.replace("force 'load' on 'slider'", "torque 'brake' on 'crank'")]


@pytest.mark.filterwarnings("ignore:.*not smooth everywhere")
@pytest.mark.parametrize(
    ("motion", "told"),
    [
        (lambda t: 3.0 * np.abs(t - 1.0), "from -3 to 3 rad/s at once, at t = 1 s:"),
        (lambda t: t + 0.01 * np.abs(t - 1.0123), "from 0.99 to 1.01 rad/s at once, at t = 1.0123 s:"),
        (lambda t: np.sqrt((t - 1.0) ** 2), "from -1 to 1 rad/s at once, at t = 1 s:"),  # without a rate there
        (da.Polynomial((0.0, 1.0)) * (lambda t: np.sqrt((t - 0.5) ** 2)), "from -0.5 to 0.5 rad/s at once, at t = 0.5 s:"),
        (lambda t: np.abs(np.sin(5.0 * t)), "from -5 to 5 rad/s at once, at t = 0.628319 s, and at other times:"),
        (lambda t: np.abs(t), "from 0 to 1 rad/s at once, at t = 0 s:"),  # where the run begins
        (lambda t: np.abs(t + 0.1), None),
        (lambda t: np.abs(t - 1.0) * (t - 1.0), None),  # only the acceleration jumps
        (lambda t: t + 0.01 * np.tanh(3000.0 * (t - 1.0)), None),  # nearly a jump
        (lambda t: 0.01 * np.sin(300.0 * t), None),
        (da.Table((0, 0.5, 1, 2), (0.0, 1.0, 0.0, 0.5)), None),
    ],
)
def test_speeds_of_drivers_that_jump(motion, told):
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0.1, 0), mass=1.0)
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_driver("motor", "A", motion)
    for run in (da.simulate(model, 2.0), da.simulate(model, 2.0, integrator=da.RungeKutta4(step=0.007))):
        found = [line.value for line in run.report().lines if line.name == MODEL and "starts at" not in line.value]
        assert [text.startswith(f"driver 'motor' goes over {told} that takes an impulse") for text in found] == [True] * bool(
            told
        )


def test_a_length_whose_speed_jumps():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("bob", mass=1.0, position=(1.0, 0, 0))
    with pytest.warns(UserWarning, match="not smooth"):
        model.add_distance("rope", "ground", "bob", length=lambda t: 1.0 + 0.5 * np.abs(t - 0.3))
    assert doubted(model, 1.0)[0].startswith("distance 'rope' goes over from -0.5 to 0.5 m/s at once, at t = 0.3 s:")


@pytest.mark.filterwarnings("ignore:.*not smooth everywhere")
def test_angles_that_jump_by_a_turn():
    """Told with both numbers, and no tolerance asked for."""
    model = da.Model()
    model.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_revolute("A", "ground", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "A", lambda t: np.arctan2(np.sin(6 * t), np.cos(6 * t)))
    report = da.simulate(model, 1.0).report()
    told = "driver 'motor' jumps from 180 to -180 degrees at t = 0.5236 s: give an angle that goes on, without arctan2"
    assert report[MODEL].value == told and "tolerance" not in report["prescribed motions"].advice
    assert report.headline == f"not trusted: prescribed motions; look at the model: {told.partition(':')[0]}"


@pytest.mark.filterwarnings("ignore:.*not smooth everywhere")
@pytest.mark.parametrize(
    ("motion", "told"),
    [
        (lambda t: 0.5 * np.sin(2 * np.pi * 50 * t), []),  # told to jump from 20.4 to 20.8 degrees
        (lambda t: np.arctan2(np.sin(40 * t), np.cos(40 * t)), ["from 180 to -180 degrees at t = 0.07854 s, and at other"]),
    ],
)
def test_fast_angles_jump_only_by_a_turn(motion, told):
    """Seldom looked at: 50 Hz in a minute, and 2.4 rad between two looks."""
    model = da.Model()
    model.add_body("disc", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_revolute("A", "ground", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "A", motion)
    found = list(kinks(model, np.linspace(0.0, 60.0, 30_001)))
    assert [text.startswith(f"driver 'motor' jumps {told[0]}") for text in found] == [True] * len(told), found


@pytest.mark.parametrize(
    ("stiffness", "length", "told"), [(0.5, 0.2, True), (500.0, 0.2, False), (0.5, 0.0, False), (0.5, 20.0, False)]
)
def test_springs_that_give_way(stiffness, length, told):
    """2 kg on a spring of 0.5 N/mm, which was given as 0.5."""
    model = da.Model()
    model.add_point_mass("bob", mass=2.0, position=(0, 0, -0.2))
    model.add_spring_damper("spring", "ground", "bob", points=((0, 0, 0), (0, 0, 0)), stiffness=stiffness, length=length)
    words = "spring-damper 'spring' is stretched to 18.2 m, 91.2 times its slack length: its stiffness is in N/m"
    assert [text.startswith(words) for text in doubted(model, 2.0) if "stretched" in text] == [True] * told


def test_a_bump_in_millimetres_is_no_soft_tyre():
    for bump, told in ((0.05, []), (50.0, ["driver 'bump' moves by 50 m in a mechanism of 0.6 m"])):
        model = da.Model(gravity=(0, 0, 0))
        for name, z in (("road", 0.0), ("wheel", 0.3)):
            model.add_body(name, **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0, 0, z))
            model.add_prismatic(f"guide of {name}", "ground", name, point=(0, 0, 2 * z), axis=(0, 0, 1))
        model.add_driver("bump", "guide of road", da.SmoothStep(0.0, -bump, 0.0, 0.1))
        model.add_spring_damper("tyre", "road", "wheel", stiffness=100.0)
        assert [text.partition(":")[0] for text in doubted(model, 0.1)] == told


def test_a_shot_leaves_its_barrel():
    """By a force it may be meant; the overlap is no longer than the bullet."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("barrel", **da.cylinder(1.0, 0.01, 0.5, axis="x").body())
    model.add_body("bullet", **da.cylinder(0.01, 0.005, 0.03, axis="x").body(), position=(-0.2, 0, 0))
    model.add_fixed("F", "ground", "barrel", point=(0, 0, 0))
    model.add_prismatic("bore", "barrel", "bullet", point=(-0.2, 0, 0), axis=(1, 0, 0))
    model.add_force("gas", "bullet", (200, 0, 0))
    report = da.simulate(model, 0.02).report()
    assert report.headline == "trusted" and (report["barrel"].verdict, report["barrel"].block) == ("note", "careful")
    assert "as they are drawn they overlap by 0.03 m along 'bore' at the start" in report["barrel"].value


@pytest.mark.parametrize(("torque", "told"), [(5000.0, True), (5.0, False)])
def test_speeds_that_no_machine_has(torque, told):
    """5 N m as 5000 N mm on 4e-3 kg m^2 for half a second."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("disc", **da.disc(0.8, 0.1, axis="z").body())
    model.add_revolute("A", "ground", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_torque("motor", "disc", (0, 0, torque))
    words = "a speed of 5.97e+06 rpm is more than any machine has: 'disc' reaches it; torques are in N m"
    assert [text.startswith(words) for text in doubted(model, 0.5)] == [True] * told


@pytest.mark.parametrize("given", ["driven", "given", "light"])
def test_speeds_that_are_meant(given):
    """A turbine of a micrometre, a molecule, what light turns."""
    model, mass = da.Model(gravity=(0, 0, 0)), 1e-12 if given == "light" else 1.0
    spin = {"angular_velocity": (0, 0, 2e5)} if given == "given" else {}
    model.add_body("rotor", mass=mass, inertia=(1e-12 * mass,) * 3, **spin)
    model.add_revolute("A", "ground", "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    if given == "driven":
        model.add_driver("motor", "A", da.Polynomial((0.0, 2e5)))
    elif given == "light":
        model.add_torque("light", "rotor", (0, 0, 1e-15))
    assert doubted(model, 1e-3 if given == "light" else 1e-5) == []


def test_the_fastest_body_is_named():
    model = da.Model(gravity=(0, 0, 0))
    for name in "ab":
        model.add_body(name, mass=1.0, inertia=(1e-6,) * 3)
    model.add_spherical("S", "a", "b", point=(0, 0, 0))
    model.add_torque("T", "b", (1000.0, 0, 0))
    (told,) = doubted(model, 1e-2)
    assert "any machine has: 'b' reaches it; torques" in told


def test_a_run_that_rests_under_loads_names_them():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body())
    model.add_prismatic("guide", "ground", "slider", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_torque("T", "slider", (0, 5.0, 0))
    told = da.simulate(model, 0.1).report()["nothing moves"].value
    assert told.startswith("the run starts in an equilibrium and stays there, though torque 'T' acts: see axes and points;")
