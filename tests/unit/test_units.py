"""Angles in degrees, lengths in millimetres and masses in grams are doubted; round numbers that may be meant are not."""

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts
from dalembert.remarks.wrong_units import extent, in_millimetres


def turned(rotation, coordinate=None) -> da.Model:
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), rotation=rotation)
    model.add_revolute("hip", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0), coordinate=coordinate)
    return model


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"axis": (0, 1, 0), "angle": 45}, 45),
        ({"axis": (1, 2, 3), "angle": -180}, 180),
        ({"axis": (0, 0, 1), "angle": np.radians(45)}, 0),
        ({"axis": (0, 0, 1), "angle": 5}, 0),
        ({"rpy": (0, 30, 90)}, 90),
        ({"rpy": np.radians((20, 30, 90))}, 0),
        ({"rpy": (0.5, 30, 90)}, 90),
        ({"axis": (0, 1, 0), "angle": -71.5}, 71.5),
        ({"axis": (1, 2, 3), "angle": 12.37}, 12.37),
        ({"rpy": (0.2, -71.57, 0.3)}, 71.57),
        ({"rpy": (0.2, -1.57, 6.28)}, 0),
        ({"axis": (1, 2, 3), "angle": 3 * np.pi}, 0),
    ],
)
def test_rotations_in_degrees(given, told):
    rotation = da.Rotation.from_rpy(*given["rpy"]) if "rpy" in given else da.Rotation.from_axis_angle(**given)
    words = f"body 'arm' is turned by {told} rad: {told} degrees are radians({told}), in Python np.radians({told})"
    assert doubts(turned(rotation)) == ([words] if told else [])


def test_no_rotation_by_whole_degrees_is_taken_for_one_in_degrees():
    model = da.Model()
    for k in range(-360, 361):
        for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, 3)):
            rotation = da.Rotation.from_axis_angle(axis, np.radians(k))
            model.add_body(f"{k} {axis}", mass=1.0, inertia=(1, 1, 1), rotation=rotation)
    assert doubts(model) == []


def test_no_other_rotation_is_taken_for_one_in_degrees():
    model, rng = da.Model(), np.random.default_rng(1)
    for k, axis in enumerate(rng.standard_normal((2000, 3))):
        rotation = da.Rotation.from_axis_angle(axis, rng.uniform(0, 7))
        model.add_body(f"{k}", mass=1.0, inertia=(1, 1, 1), rotation=rotation, position=axis)
    assert [text for text in doubts(model) if "is turned by" in text] == []


def test_angles_of_joints_in_degrees():
    assert [doubts(turned(da.Rotation(), start)) for start in (np.radians(30), 6.0, 10, 2.5 * np.pi, 33, 400)] == [[]] * 6
    model = turned(da.Rotation(), 30)
    assert [text.partition(":")[0] for text in doubts(model)] == ["joint 'hip' starts at 30 rad"]
    model.add_joint_spring_damper("coil", "hip", stiffness=1.0, law="coordinate", reference=-90)
    assert [text.partition(":")[0] for text in doubts(model)[1:]] == ["joint spring-damper 'coil' is slack at -90 rad"]


@pytest.mark.parametrize(
    ("motion", "told"),
    [
        (da.SmoothStep(0, 90, 0, 1), 90),
        (da.SmoothStep(0, 100, 0, 1), 0),  # a shaft
        (da.Harmonic(20, 1.0), 20),
        (da.Harmonic(17, 2.0), 17),
        (da.Harmonic(-7, 2.0), -7),
        (da.Harmonic(6, 2.0), 0),
        (da.Harmonic(7.5, 2.0), 0),
        (da.Polynomial((45, 6)), 45),
        (da.Polynomial((0, 345)), 0),  # a rate
        (da.Table((0, 1, 2), (0, -30, 15)), -30),
        (da.Table((0, 1, 2), (0, 31, 15)), 0),
        (0.1 + da.SmoothStep(0, 90, 0, 1), 90),
        (np.pi / 180 * da.SmoothStep(0, 90, 0, 1), 0),
    ],
)
def test_drivers_in_degrees(motion, told):
    model = turned(da.Rotation())
    model.add_driver("motor", "hip", motion)
    assert [text.partition(":")[0] for text in doubts(model)] == ([f"driver 'motor' goes to {told} rad"] if told else [])
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_prismatic("slide", model.ground, "arm", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_driver("motor", "slide", motion)  # metres
    assert doubts(model) == []


@pytest.mark.parametrize(("phase", "told"), [(90, True), (-45, True), (6, False), (2.5 * np.pi, False)])
def test_phases_in_degrees(phase, told):
    model = turned(da.Rotation())
    model.add_driver("motor", "hip", da.Harmonic(0.3, 2.0, phase))
    assert [text.partition(":")[0] for text in doubts(model)] == [f"driver 'motor' has a phase of {phase} rad"] * told


@pytest.mark.parametrize("rate", [-360, 1500, 21000, 120])
def test_rates_are_told_in_rpm_and_not_doubted(rate):
    """Propellers turn at 720 rad/s, turbochargers at 21000."""
    model = turned(da.Rotation())
    model.add_driver("motor", "hip", da.Polynomial((0, rate)))
    assert doubts(model) == []
    told = da.simulate(model, 1e-6).report()["driven"].value
    assert told == f"'motor' turns 'arm' about (0, 1, 0) at {rate:.4g} rad/s = {rate * 30 / np.pi:.4g} rpm (joint 'hip')"


def test_springs_of_drums_may_be_wound_up():
    """A mainspring; an arm beside its axis hardly turns five times."""
    for x, told in ((0.0, []), (0.5, ["joint spring-damper 'main' is slack at 30 rad"])):
        model = da.Model()
        model.add_body("drum", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0))
        model.add_revolute("A", "ground", "drum", point=(0, 0, 0.2), axis=(0, 0, 1))
        model.add_joint_spring_damper("main", "A", stiffness=1e-3, reference=30.0)
        assert [text.partition(":")[0] for text in doubts(model)] == told


@pytest.mark.parametrize(
    ("gravity", "size", "told"),
    [(9.81, 0.4, False), (9810, 0.4, True), (981, 0.4, True), (9806.65, 0.4, True), (9810, 400, False), (1000, 0.4, False)],
)
def test_gravity_in_millimetres_and_lengths_in_metres(gravity, size, told):
    """Noted; a hundred g may be meant, as in a centrifuge."""
    model = da.Model((0, 0, -gravity))
    model.add_body("arm", mass=1.0, inertia=(0.001, 0.001, 0.001), position=(size, 0, 0))
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    line = da.simulate(model, 0.01).report()["gravity"]
    said = f"{gravity:g} m/s^2 along -z" + ": where lengths are in m it is 9.81 on earth" * told
    assert (line.value, line.block, line.verdict, doubts(model)) == (said, "careful" if told else "details", "note", [])


@pytest.mark.parametrize(("inertia", "told"), [(0.001, False), (1000.0, True)])
def test_inertias_in_square_millimetres(inertia, told):
    model = slider_crank(inertia=inertia)
    assert [text.partition(" in a ")[0] for text in doubts(model)] == ["body 'rod' has a radius of gyration of 31.6 m"] * told


@pytest.mark.parametrize(("inertia", "told"), [(0.02, False), (5.0, False), (200.0, True)])  # 200 kg cm^2 are 0.02 kg m^2
def test_inertias_of_what_is_drawn(inertia, told):
    """Its pin may be anywhere, and near its centre; what is drawn may be a part of it."""
    model = da.Model()
    model.add_body("plate", **{**da.box(1.0, (0.4, 0.2, 0.01)).body(), "inertia": (inertia,) * 3}, position=(0.002, 0, 0))
    model.add_revolute("A", model.ground, "plate", point=(0, 0, 0), axis=(0, 0, 1))
    words = "body 'plate' has a radius of gyration of 14.1 m and is drawn 0.4 m large: its inertia may be in other units"
    assert doubts(model) == [words] * told


def test_large_bodies_that_are_meant():
    """A dish of 8 m whose axes are 0.2 m apart; a ship with a pendulum; a rotor of 4e7 kg m^2 on a short shaft."""
    dish = da.Model()
    dish.add_body("mast", mass=1000.0, inertia=(10, 10, 10))
    dish.add_body("dish", mass=3000.0, inertia=(2e5, 2e5, 2e5), position=(0, 0, 0.2))
    dish.add_revolute("az", "ground", "mast", point=(0, 0, 0), axis=(0, 0, 1))
    dish.add_revolute("el", "mast", "dish", point=(0, 0, 0.2), axis=(0, 1, 0))
    ship = da.Model()
    ship.add_body("ship", mass=1e7, inertia=(1e9, 1e10, 1e10))
    ship.add_planar_joint("sea", "ground", "ship", point=(0, 0, 0), axis=(0, 0, 1))
    ship.add_body("bob", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0, 0, -0.5))
    ship.add_revolute("P", "ship", "bob", point=(0, 0, 0), axis=(1, 0, 0))
    turbine = da.Model()
    for name, mass, inertia, x in (("rotor", 1.1e5, (4e7, 2e7, 2e7), 0.0), ("generator", 2e4, (500, 400, 400), 0.5)):
        turbine.add_body(name, mass=mass, inertia=inertia, position=(x, 0, 0))
        turbine.add_revolute(f"bearing of {name}", "ground", name, point=(x, 0, 0), axis=(1, 0, 0))
    assert [doubts(model) for model in (dish, ship, turbine)] == [[], [], []]


@pytest.mark.parametrize(
    ("solid", "told"),
    [
        (
            da.rod(1.0, 160, radius=0.01),
            "body 'part' of 1 kg is 160 m large, lighter than a wire: lengths are in m, 160 mm are 0.16",
        ),
        (da.rod(0.5, 300), "body 'part' of 0.5 kg is 300 m large, lighter than a wire: lengths are in m, 300 mm are 0.3"),
        (da.rod(0.5, 300, radius=5), "lighter than air"),
        (da.disc(0.5, 50), "lighter than foil"),
        (da.box(2, (60, 60, 60)), "lighter than air"),
        (da.sphere(7, 60), "lighter than air"),
        (da.rod(0.5, 0.3), None),
        (da.rod(3, 100), None),
        (da.box(1, (5, 5, 5)), None),
        (da.sphere(1, 6), None),  # a balloon
    ],
)
def test_lengths_in_millimetres(solid, told):
    for gravity, meant in ((9.81, False), (9810, True)):
        model = da.Model((0, 0, -gravity))
        model.add_body("part", **solid.body())
        assert [told in text for text in doubts(model)] == ([True] if told and not meant else [])


@pytest.mark.parametrize(("length", "told"), [(3000, True), (3, False), (150, False)])
def test_the_only_bar_in_millimetres(length, told):
    """A load on a trolley, by a bar of 40 kg that is no lighter than a wire."""
    model = da.Model()
    model.add_body("trolley", **da.box(200.0, (0.6, 0.4, 0.3)).body())
    model.add_body("bar", **da.rod(40.0, length).body(), position=(0, 0, -0.5 * length))
    words = f"bar 'bar' is {length} m long, 5e+03 times as long as the next of the model: lengths are in m"
    assert [text.startswith(words) for text in doubts(model)] == [True] * told


@pytest.mark.parametrize(
    ("lengths", "told"),
    [((60, 0.22), True), ((60, 0.22, 0.3), True), ((60, 50, 0.22), False), ((15, 0.22), False), ((67,), False)],  # two masts
)
def test_one_bar_in_millimetres(lengths, told):
    model = da.Model()
    for k, length in enumerate(lengths):
        model.add_body(f"bar {k}", **da.rod(100.0, length, axis="x").body(), position=(0, 0, k))
    model.add_body("bob", **da.sphere(20.0, 0.1).body())  # of a pendulum of 67 m
    words = f"bar 'bar 0' is {lengths[0]} m long, 273 times as long as the next of the model: lengths are in m, 60 mm are 0.06"
    assert [*in_millimetres(model)] == ([words if len(lengths) == 2 else words.replace("273", "200")] if told else [])


@pytest.mark.parametrize(
    ("solid", "told"),
    [
        (da.box(3000, (0.06, 0.06, 0.08)), "body 'part' of 3000 kg is 0.08 m large, 1e+07 kg/m^3 where steel has 7850"),
        (da.sphere(270, 0.03), "body 'part' of 270 kg is 0.06 m large"),
        (da.cylinder(500, 0.02, 0.1), "body 'part' of 500 kg is 0.1 m large"),
        (da.rod(500, 0.22, radius=0.008), "body 'part' of 500 kg is 0.22 m large"),
        (da.box(3, (0.06, 0.06, 0.08)), None),
        (da.box(2, (0.02, 0.02, 0.02)), None),  # heavier than osmium, in examples
        (da.rod(400, 0.14), "body 'part' of 400 kg is 0.14 m large, more than any cube of that size: masses are in kg"),
        (da.rod(60, 0.14), None),
        (da.rod(1, 0.045), None),
        (da.disc(500, 0.1), None),
    ],
)
def test_masses_in_grams(solid, told):
    model = da.Model()
    model.add_body("part", **solid.body())
    assert [text.partition(",")[0] for text in doubts(model)] == ([told.partition(",")[0]] if told else [])
    assert all(text.startswith(told) and f"{solid.mass:g} g are {solid.mass / 1000:g}" in text for text in doubts(model))
    large = (25 * solid.mass * extent(solid.body()["shape"])[0] ** 2,) * 3
    drawn = {"mass": solid.mass, "inertia": large, "shape": solid.body()["shape"]}  # small, and a small part of it
    model = da.Model()
    model.add_body("part", **drawn)
    assert doubts(model) == []


def test_a_turned_pendulum_about_the_origin_is_not_small():
    """Its pin is at (0, 0, 0) of the ground, and 1e-17 m from there by its own body: told as a mechanism of that size once."""
    assert doubts(turned(da.Rotation.from_axis_angle((0, 0, 1), 0.7))) == []


@pytest.mark.parametrize(
    ("length", "told"), [(300, True), (0.3, False), (None, False), (0.0, False), (15.0, False), (0.01, False), (0.005, False)]
)
def test_slack_lengths_in_millimetres(length, told):
    """Ends 0.4 m apart; a length of 0 is a spring that only pulls, one of 5 mm nearly so; nobody means 0.4 mm."""
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    ends = ((0.4, 0, 0.4), (0.4, 0, 0))
    model.add_spring_damper("spring", model.ground, "arm", between=ends, stiffness=50.0, length=length)
    slack = f"spring-damper 'spring' is slack at a length of {length} m, its ends are 0.4 m apart: lengths and points are in m"
    assert [text.startswith(slack) for text in doubts(model)] == [True] * told
    if length == 300:
        assert doubts(model)[0].endswith("300 mm are 0.3")


def test_bars_in_millimetres_are_not_said_to_meet():
    """Half a per cent of 450 m is more than the gap between two of them; what is right still is."""
    model = da.Model(plane="xz")
    for name, x in (("one", 0.0), ("two", 0.4)):
        model.add_link(name, (x, 0), (x, 450), mass=0.5)
        model.add_link(f"lever {name}", (x, 0), (0.2, 0.1), mass=0.5)
        model.add_revolute(name.upper(), "ground", name, point=(x, 0))
        model.add_revolute(f"at {name}", name, f"lever {name}", point=(x, 0))
    said = ["body 'one' of 0.5 kg is 450 m large", "body 'two' of 0.5 kg is 450 m large"]
    assert [text.partition(",")[0] for text in doubts(model)[:2]] == said
    assert [text.partition(" and ")[0] for text in doubts(model)[2:]] == ["an end of 'lever one' is at an end of 'lever two'"]


def slider_crank(inertia=0.01, **given) -> da.Model:
    """Of 0.35 m;  given : points of the guide, of the wall, of a force, of a marker, and the centre of the rod"""
    at = {"guide": (0.3, 0), "wall": (0.5, 0), "push": (0.3, 0), "tip": (0.2, 0), "rod": (0.2, 0.0)} | given
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0.1, 0), mass=1.0)
    model.add_body("rod", mass=1.0, inertia=inertia, position=at["rod"])
    model.add_body("slider", **da.box(1.0, (0.06, 0.06, 0.06)).body(), position=(0.3, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0.1, 0))
    model.add_revolute("C", "rod", "slider", point=(0.3, 0))
    model.add_prismatic("D", "ground", "slider", point=at["guide"], axis=(1, 0))
    model.add_spring_damper("spring", "ground", "slider", between=(at["wall"], (0.3, 0)), stiffness=50.0)
    model.add_force("push", "slider", (10, 0), at=at["push"])
    model.add_marker("tip", "rod", at=at["tip"])
    return model


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, None),
        ({"wall": (5.0, 0)}, None),
        ({"wall": (500, 0)}, "spring-damper 'spring' has a point of 'ground' 499.7 m off, at (500, 0, 0)"),
        ({"wall": (-60, 0)}, "spring-damper 'spring' has a point of 'ground' 60.2 m off, at (-60, 0, 0)"),
        ({"guide": (300, 0)}, "joint 'D' has a point of 'ground' 299.7 m off, at (300, 0, 0)"),
        ({"push": (300, 0)}, "force 'push' has a point of 'slider' 299.7 m off, at (300, 0, 0)"),
        ({"tip": (0, 200)}, "marker 'tip' has a point of 'rod' 200 m off, at (0, 0, 200)"),
        ({"rod": (200, 0)}, "body 'rod' is 199.7 m off, at (200, 0, 0)"),
    ],
)
def test_points_in_millimetres_among_metres(given, told):
    found = doubts(slider_crank(**given))
    assert [text.startswith(told) and text.endswith("500 mm are 0.5") for text in found] == [True] * (told is not None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"wall": (0, 0.05, 0)}, None),  # a layer
        ({"wall": (0, 5, 0)}, "spring-damper 'spring' has a point of 'ground' 5 m off the plane, at (0, 5, 0)"),
        ({"push": (0, 3, 0)}, "force 'push' has a point of 'slider' 3 m off the plane, at (0, 3, 0)"),
        ({"rod": (0, 2, 0)}, "body 'rod' is 2 m off the plane, at (0, 2, 0)"),
    ],
)
def test_decimal_commas_that_leave_the_plane(given, told):
    found = [text for text in doubts(slider_crank(**given)) if " off the plane" in text]
    assert [text.startswith(told) and 'plane="xz", with points for decimals' in text for text in found] == [True] * bool(told)


def test_points_in_layers_of_a_plane_model():
    """Mechanisms at y = 0.5, as drawn elsewhere; valves beside each other. Of several slips the first is told."""
    for layers in ((0.5,), (0.0, 0.2, 0.4)):
        model = da.Model(plane="xz")
        for y in layers:
            model.add_link(f"bar {y}", (0, y, 0), (0.1, y, 0), mass=1.0)
            model.add_revolute(f"A {y}", "ground", f"bar {y}", point=(0, y, 0))
        assert doubts(model) == []
    found = doubts(slider_crank(wall=(0, 5, 0), push=(0, 3, 0)))
    told = "spring-damper 'spring' has a point of 'ground' 5 m off the plane (1 more are, too), at (0, 5, 0)"
    assert [text.startswith(told) for text in found] == [True]


def test_far_points_that_are_no_millimetres():
    """A lever of 4 mm on a wire of 0.5 m; a kite at (100, 0, 60) on a line of 134 m; marks on the floor."""
    switch = da.Model(plane="xz")
    switch.add_link("lever", (0, 0), (0.004, 0), mass=1e-5)
    switch.add_revolute("A", "ground", "lever", point=(0, 0))
    switch.add_spring_damper("wire", "ground", "lever", between=((0.5, 0), (0.004, 0)), stiffness=0.1)
    switch.add_marker("floor", "ground", (0, -3))
    kite = da.Model()
    kite.add_body("kite", mass=2.0, inertia=(1, 1, 1), position=(100, 0, 60))
    kite.add_link("bridle", (99, 0, 59.5), (100, 0, 60), mass=0.05)
    kite.add_revolute("k", "bridle", "kite", point=(100, 0, 60), axis=(0, 1, 0))
    kite.add_spring_damper("line", "ground", "bridle", between=((-20, 0, 0), (99, 0, 59.5)), stiffness=1000.0)
    assert [doubts(model) for model in (switch, kite)] == [[], []]


def test_a_rope_that_is_pinned_at_both_ends():
    """Its length is told twice; a hook of 0.25 m hangs from it."""
    for end, told in ((-30, []), (-0.3, ["bar 'rope' is 30 m long"])):
        model = da.Model(plane="xz")
        model.add_link("rope", (0, 0), (0, -30), mass=20.0)
        model.add_link("hook", (0, end), (0, end - 0.25), mass=30.0)
        model.add_revolute("T", "ground", "rope", point=(0, 0))
        model.add_revolute("H", "rope", "hook", point=(0, end))
        assert [text.partition(",")[0] for text in doubts(model)] == told


def test_long_ropes_and_far_origins_are_meant():
    """A bob of 67 m with a hook; a crane over a load of parts; two bodies in orbit, pulled to the origin."""
    pendulum = da.Model()
    pendulum.add_body("bob", **da.sphere(20.0, 0.1).body(), position=(0, 0, -67))
    pendulum.add_spherical("pivot", "ground", "bob", point=(0, 0, 0))
    for k in range(5):
        pendulum.add_marker(f"mark {k}", "bob", point=(0, 0.01 * k, 0.1))
    crane = da.Model()
    crane.add_body("trolley", **da.box(50.0, (0.5, 0.5, 0.2)).body())
    crane.add_prismatic("rail", "ground", "trolley", point=(0.1, 0, 0), axis=(1, 0, 0))
    crane.add_point_mass("load", mass=100.0, position=(0, 0, -60))
    crane.add_distance("rope", "trolley", "load", points=((0, 0, -0.1), (0, 0, 0)))
    orbit = da.Model(gravity=(0, 0, 0))
    for name, x in (("one", 7e6), ("two", 7e6 + 2.0)):
        orbit.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
        orbit.add_interaction(f"gravity on {name}", "ground", name, lambda t, r, R, v, w: (-r, 0.0 * r))
    orbit.add_revolute("hinge", "one", "two", point=(7e6 + 1.0, 0, 0), axis=(0, 0, 1))
    assert [doubts(model) for model in (pendulum, crane, orbit)] == [[], [], []]
