"""Starts that are not the pose that is written down: drivers that hold still elsewhere, joints that are open, velocities."""

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts, look_at


def arm(**joint) -> da.Model:
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), **joint)
    return model


@pytest.mark.parametrize(
    ("motion", "joint", "told"),
    [
        (6.0, {}, 1),
        (2 * np.pi, {}, 1),  # the same pose, and it stands still
        (da.Constant(6.0), {}, 1),  # files do not tell them apart
        (6.0, {"coordinate": 6.0}, 0),
        (6.0, {"coordinate": 5.0}, 1),
        (0.3, {}, 0),  # an arm is held
        (np.radians(90), {}, 0),
        (2.0, {}, 1),
        (0.3, {"coordinate": 0.0}, 1),
        (da.Polynomial((0.3, 0.0)), {}, 1),
        (0.0, {}, 0),  # held where it is
        (da.Polynomial((0.0, 6.0)), {}, 0),
        (da.Polynomial((6.0, 0.0)), {}, 1),  # the order of its numbers was meant the other way
        (da.Polynomial((6.0,)), {}, 1),
        (da.Polynomial((6.0, 0.0)), {"coordinate": 6.0}, 0),
        (da.Polynomial((0.0, 0.0)), {}, 0),  # as where a speed is swept from 0
        (da.Polynomial((6.0, 1.0)), {}, 0),  # motions may begin elsewhere
    ],
)
def test_a_driver_that_holds_still_elsewhere(motion, joint, told):
    model = arm(**joint)
    model.add_driver("motor", "A", motion)
    value = getattr(motion, "coefficients", [getattr(motion, "value", motion)])[0]
    words = [f"driver 'motor' holds 'A' at {value:g} rad for the whole run"] if told else []
    assert [text.partition(",")[0] for text in doubts(model)] == words


def test_a_speed_that_was_meant_is_written_in_the_doubt():
    model = da.Model()
    model.add_body("cart", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.3, 0, 0))
    model.add_prismatic("slide", model.ground, "cart", points=((0, 0, 0), (0, 0, 0)), axis=(1, 0, 0))
    model.add_driver("motor", "slide", 2.0)
    (text,) = doubts(model)
    assert "holds 'slide' at 2 m for the whole run, which the model has at 0.3 m: for a speed of 2 m/s give" in text
    assert "give da.Polynomial((0.3, 2)), in a file {type: polynomial, coefficients: [0.3, 2]}; to hold it there" in text


def test_rounding_of_a_start_is_zero():
    """A bar drawn at 60 degrees has its angle by sines and cosines."""
    model = da.Model()
    end = 0.4 * np.array([np.cos(np.pi / 3), 0.0, np.sin(np.pi / 3)])
    model.add_link("arm", (0, 0, 0), end, mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0.0, -1.0, 0.0))
    model.add_driver("motor", "A", 4 * np.pi)
    (text,) = doubts(model)
    assert "which the model has at 0 rad" in text and "da.Polynomial((0, 12.5664))" in text


def test_a_point_that_is_held_elsewhere():
    model = arm()
    model.add_point_driver("lift", "arm", direction=(0, 0, 1), motion=0.1)
    (text,) = doubts(model)
    assert text.startswith("driver 'lift' holds a point of 'arm' at 0.1 m for the whole run")


def rough(off=(0, 0, 0), **more) -> da.Model:
    """A pendulum of 1 m in body axes, off its pivot."""
    model = da.Model()
    model.add_body("rod", **da.rod(1.0, 1.0, axis="x").body(), position=np.add((0.5, 0, 0), off), **more)
    model.add_revolute("pivot", model.ground, "rod", points=((0, 0, 0), (-0.5, 0, 0)), axes=((0, 1, 0), (0, 1, 0)))
    return model


@pytest.mark.parametrize(("off", "told"), [(0.0, 0), (1e-9, 0), (0.002, 0), (0.012, 1)])
def test_joints_that_are_open_in_the_pose_are_part_of_the_verdict(off, told):
    model = rough((off, 0, 0))
    report = da.simulate(model, 0.05).report()
    words = f"look at the model: assembly moved 'rod' by {off:.3g} m"
    assert report.headline == ("trusted, but " + words if told else "trusted")
    assert sum("assembly moved it" in line.value for line in report.lines) == (not told and off > 1e-6)  # said once


def test_axes_that_do_not_meet():
    model = rough(rotation=da.Rotation.from_axis_angle((1, 0, 0), 0.02))
    assert look_at(doubts(model, model.assemble())) == "look at the model: assembly moved 'rod' by 0.02 rad"


@pytest.mark.parametrize("size", [1e-3, 1.0, 100.0])
def test_how_far_open_is_measured_by_the_size(size):
    for off, told in ((0.002, 0), (0.01, 1)):
        model = da.Model()
        model.add_body("rod", **da.rod(1.0, size, axis="x").body(), position=((0.5 + off) * size, 0, 0))
        model.add_spherical("pivot", model.ground, "rod", points=((0, 0, 0), (-0.5 * size, 0, 0)))
        assert len([text for text in doubts(model, model.assemble()) if "assembly" in text]) == told


def test_what_was_asked_for_is_no_misfit():
    for model in (arm(coordinate=0.5), arm(rate=3.0)):
        assert doubts(model, model.assemble()) == []
    model = arm()
    model.add_driver("motor", "A", da.Polynomial((0.5, 6.0)))
    assert model.assemble().changed != () and doubts(model, model.assemble()) == []


def test_a_motion_that_begins_far_from_the_pose_is_doubted():
    """An angle from an axis, say; where the joint is given it too, it is meant."""
    model = arm()
    model.add_driver("motor", "A", da.Harmonic(0.3, 2.0, 0.0, np.radians(130)))
    report = da.simulate(model, t_end=0.01).report()
    told = "driver 'motor' starts at 2.269, where 'A' has 0 in the pose that is given: assembly moved it there and turned 'arm'"
    assert report["model"].value.startswith(f"{told} by 2.27 rad; motions count from that pose")
    assert report.headline == "trusted, but look at the model: driver 'motor' starts at 2.269"
    assert "start" not in [line.name for line in report.lines]
    given = arm(coordinate=np.radians(130))
    given.add_driver("motor", "A", da.Harmonic(0.3, 2.0, 0.0, np.radians(130)))
    assert da.simulate(given, t_end=0.01).report().headline == "trusted"
    turned = arm()
    turned.add_driver("motor", "A", da.Harmonic(0.3, 2.0, 0.0, 2 * np.pi + 0.9))
    assert da.simulate(turned, t_end=0.01).report().headline == "trusted"


@pytest.mark.parametrize(("begin", "told"), [(0.3, 1), (0.19, 0)])
def test_a_slide_that_begins_farther_off_than_half_the_mechanism_is_doubted(begin, told):
    model = da.Model()
    model.add_body("cart", **da.box(1.0, (0.4, 0.1, 0.1)).body())
    model.add_prismatic("slide", model.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_driver("motor", "slide", da.Polynomial((begin, 1.0)))
    assert len(doubts(model, model.assemble())) == told


def test_a_motion_that_begins_elsewhere_is_told_without_velocities_that_nobody_gave():
    model = arm()
    model.add_driver("motor", "A", da.Polynomial((np.pi / 4, 6.0)))
    report = da.simulate(model, t_end=0.01).report()
    told = "driver 'motor' starts at 0.7854, where 'A' has 0 in the pose that is given: assembly moved it there"
    assert (report["start"].value, report["start"].block, report.headline) == (told, "careful", "trusted")
    assert report["assembly moved"].data == ["arm: moved 1.531e-01 m, turned 7.854e-01 rad"]
    lift = arm()
    lift.add_point_driver("lift", "arm", direction=(0, 0, 1), motion=da.Polynomial((0.1, 0.1)))
    told = "driver 'lift' starts at 0.1, which is at 0 in the pose that is given: assembly moved it there"
    assert da.simulate(lift, t_end=0.01).report()["start"].value == told
    held = arm()
    held.add_driver("motor", "A", 0.3)
    report = da.simulate(held, t_end=0.01).report()
    told = "driver 'motor' starts at 0.3, where 'A' has 0 in the pose that is given: assembly moved it there"
    assert (report["start"].value, report.headline) == (told, "trusted")
    assert report["driven"].value == "'motor' holds 'arm' at 17.19 degrees (joint 'A')"
    assert report["assembly moved"].value.endswith("turned 3.000e-01 rad: drivers and coordinates that are given ask for it")
    off = rough((0.001, 0, 0))  # by coordinates of three digits
    off.add_driver("motor", "pivot", da.Polynomial((0.0, 6.0)))
    assert da.simulate(off, t_end=0.01).report()["assembly moved"].value.endswith("the initial data did not fit")
    for motion in (da.Polynomial((0.0, 6.0)), da.Polynomial((2 * np.pi, 6.0))):  # where it is, and a turn on
        model = arm()
        model.add_driver("motor", "A", motion)
        assert "start" not in [line.name for line in da.simulate(model, t_end=0.01).report().lines]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"velocity": (0, 0, -2.0), "angular_velocity": (0, 4.0, 0)}, None),
        ({"velocity": (0, 0, -2.005), "angular_velocity": (0, 4.0, 0)}, None),
        ({"angular_velocity": (0, 4.0, 0)}, None),  # the other one is completed
        ({"velocity": (1.0, 0, 0)}, "1 m/s"),
        ({"velocity": (0, 0, -2.0), "angular_velocity": (0, -4.0, 0)}, "1.5 m/s and 5 rad/s"),
    ],
)
def test_velocities_that_had_to_change(given, told):
    model = rough(**given)
    words = f"assembly changed the velocity that is given for 'rod' by {told}: joints, rates and drivers ask for another"
    found = doubts(model, model.assemble())
    if told and "and" in told:
        assert len(found) == 1 and " m/s and " in found[0] and "rad/s: " in found[0]
    else:
        assert found == ([words] if told else [])


def by_lengths(tip=(0.25, 0), drawn=True) -> da.Model:
    """A four-bar of which lengths are known, and the pose roughly; tip : of the coupler;  drawn : else it has no shape"""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0.1, 0), mass=1.0)
    if drawn:
        model.add_link("coupler", (0.1, 0), (0.6, 0), mass=1.0)
    else:
        model.add_body("coupler", mass=1.0, inertia=0.02, position=(0.35, 0))
    model.add_link("rocker", (0.5, 0), (0.5, 0.3), mass=1.0)
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "coupler", points=((0.05, 0), (-0.25, 0)))
    model.add_revolute("C", "coupler", "rocker", points=(tip, (0.15, 0)))
    model.add_revolute("D", "ground", "rocker", point=(0.5, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    return model


def test_a_loop_by_lengths_may_be_given_roughly():
    model = by_lengths()
    assert "C" in model.assemble().open and doubts(model, model.assemble()) == []
    line = da.simulate(model, 0.01).report()["assembly moved"]
    assert "coupler: moved" in line.value and line.block == "careful"
    assert line.value.endswith("loops were closed from a rough pose; they may close in other ways, too: look at the start")


@pytest.mark.parametrize("given", [{"tip": (0.3, 0.02)}, {"drawn": False}])  # beside the bar; nothing else tells its length
def test_a_loop_that_does_not_agree_with_what_is_drawn_is_doubted(given):
    model = by_lengths(**given)
    assert [text for text in doubts(model, model.assemble()) if text.startswith("assembly moved")] != []


@pytest.mark.parametrize(("placed", "told"), [("", 0), ("a", 1), ("ab", 1)])
def test_bodies_in_the_origin_are_placed_by_points(placed, told):
    """A double pendulum in body axes; but where one has a position the other is to fit."""
    model = da.Model()
    for name in "ab":
        at = (0, 0, -1.2) if name in placed else (0, 0, 0)
        model.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=at)
    axes = ((0, 1, 0), (0, 1, 0))
    model.add_revolute("A", "ground", "a", points=((0, 0, 0), (0, 0, 0.5)), axes=axes)
    model.add_revolute("B", "a", "b", points=((0, 0, -0.5), (0, 0, 0.5)), axes=axes)
    assert len([text for text in doubts(model, model.assemble()) if "assembly moved" in text]) == told


def test_only_what_moves_is_told_of_a_start():
    model = da.Model()
    model.add_body("cart", **da.box(1.0, (0.1, 0.1, 0.1)).body())
    model.add_prismatic("rail", "ground", "cart", point=(0, 0, 0), axis=(1, 0, 0), coordinate=0.1)
    (told,) = model.assemble().warnings
    assert told.endswith(": assembly moved it by 0.1 m to fit joints, given coordinates and drivers")


@pytest.mark.parametrize(("up", "along", "told"), [(0.0, 0.0, 0), (0.0, 0.1, 0), (0.05, 0.0, 1)])
def test_a_slider_that_is_beside_its_guide_is_doubted_and_not_one_that_is_elsewhere_along_it(up, along, told):
    """The guide is where the pose has it: the slider would run 0.05 m above the crank's axis."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=1.0)
    model.add_link("rod", (0, 0.1), (0.4, 0), mass=1.0)
    model.add_body("slider", **da.box(1.0, (0.08, 0.05, 0.08)).body(), position=(0.4 + along, up))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "slider", points=((0.5 * np.hypot(0.4, 0.1), 0), (0, 0)))
    model.add_prismatic("D", "ground", "slider", point=(0.4, 0), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    assert len([text for text in doubts(model, model.assemble()) if "assembly moved" in text]) == told


def test_a_beam_that_is_misplaced_is_doubted():
    """One of its pins is given by the pose, so that its arm is wrong; pins anywhere in a box are on it."""
    model = by_lengths()
    for name in ("B", "C", "coupler"):
        model.remove(name)
    model.add_body("coupler", **da.box(1.0, (0.55, 0.05, 0.05)).body(), position=(0.38, 0.02))  # not (0.35, 0)
    model.add_revolute("B", "crank", "coupler", point=(0.1, 0))
    model.add_revolute("C", "coupler", "rocker", points=((0.25, 0), (0.15, 0)))
    assert [text for text in doubts(model, model.assemble()) if text.startswith("assembly moved 'coupler' by")] != []
