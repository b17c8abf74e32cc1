"""Slips in loads, laws and pairs of joints are told: weights twice, gravity upwards, wheels of other radii, joints twice."""

import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts


@pytest.mark.parametrize(("gains", "idle"), [({}, True), ({"stiffness": 0.0}, True), ({"damping": 1.0}, False)])
def test_springs_of_joints_that_do_nothing(gains, idle):
    """A key that was forgotten; a sweep may well begin at 0."""
    model = da.Model()
    model.add_body("slider", mass=1.0, inertia=(1, 1, 1))
    model.add_prismatic("rail", model.ground, "slider", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_joint_spring_damper("back", "rail", **gains)
    told = ["joint spring-damper 'back' has no stiffness and no damping: it does nothing; give one of them"]
    assert doubts(model) == told * idle


@pytest.mark.parametrize(
    ("kind", "point", "axis", "told"),
    [
        ("revolute", (0.1, 0, 0), (0, 1, 0), "twice in the same way"),
        ("revolute", (0.1, 0, 0), (0, -1, 0), "twice in the same way"),
        ("revolute", (0.3, 0, 0), (0, 1, 0), "like one body: two hinges 0.2 m apart"),
        ("revolute", (0.1, 0.2, 0), (0, 1, 0), None),  # of a door
        ("revolute", (0.1, 0, 0), (0, 0, 1), None),
        ("spherical", (0.1, 0, 0), None, None),  # other rows
    ],
)
def test_two_joints_of_the_same_bodies(kind, point, axis, told):
    """The second one may have been meant for other bodies."""
    model = da.Model(gravity=(0, 0, 0))
    for name, x in (("crank", 0.05), ("rod", 0.2)):
        model.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(x, 0, 0))
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "crank", "rod", point=(0.1, 0, 0), axis=(0, 1, 0))
    getattr(model, f"add_{kind}")("C", "rod", "crank", point=point, **({} if axis is None else {"axis": axis}))
    found = [text for text in doubts(model) if text.startswith("joints")]
    assert [text.startswith(f"joints 'B' and 'C' hold 'rod' and 'crank' {told}") for text in found] == [True] * (
        told is not None
    )


@pytest.mark.parametrize(
    ("force", "more", "told"),
    [
        ((0, 0, -19.62), {}, True),
        ((0, 0, 19.62), {}, False),
        ((0, 0, -20.0), {}, False),
        ((0, 0, -19.62), {"frame": "body"}, False),
        ((0, 0, -19.62), {"factor": da.Harmonic(1.0, 2.0)}, False),
    ],
)
def test_weights_that_are_given_beside_gravity(force, more, told):
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (0.5, 0, 0), mass=2.0)
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_force("weight", "arm", force, **more)
    assert doubts(model) == ["force 'weight' is the weight of 'arm', on which gravity acts already: leave one out"] * told


@pytest.mark.parametrize(("end", "told"), [((0.5, 0), True), ((0, -0.5), True), ((0.3, 0.4), False)])
def test_gravity_that_points_up_in_a_plane(end, told):
    """From a pin below, a pendulum hangs that way, and z may be meant to point down."""
    for gravity, up in ((9.81, True), (-9.81, False)):
        model = da.Model(gravity=(0, gravity), plane="xz")
        model.add_link("arm", (0, 0), end, mass=2.0)
        model.add_revolute("A", "ground", "arm", point=(0, 0))
        words = "gravity points up as the model is drawn: for weights that pull down give it with a minus"
        assert doubts(model) == [words] * (told and up)


@pytest.mark.parametrize(("radius", "told"), [(0.3, False), (0.1, False), (0.03, True), (3.0, True)])
@pytest.mark.parametrize("kind", ["disc", "sphere"])
def test_wheels_that_roll_with_another_radius(radius, told, kind):
    """A spool may roll on its hub."""
    model = da.Model()
    solid, axis = (da.disc(1.0, 0.3, axis="y"), {"axis": (0, 1, 0)}) if kind == "disc" else (da.sphere(1.0, 0.3), {})
    model.add_body("wheel", **solid.body(), position=(0, 0, radius))
    getattr(model, f"add_rolling_{kind}")("roll", "wheel", radius=radius, **axis)
    words = f"'roll' rolls on a radius of {radius:g} m, 'wheel' is drawn with 0.3 m: see both"
    assert doubts(model) == [words] * told
