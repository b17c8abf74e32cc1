"""Ends of bars at which a joint was forgotten, and bars that lie skew to the plane of their hinge."""

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts

C = (0.5, 0, 0.3)


def four_bar(without="", end=C, **plane) -> da.Model:
    model = da.Model(**plane)
    for name, start, stop in (("crank", (0, 0, 0), (0, 0, 0.1)), ("rod", (0, 0, 0.1), C), ("rocker", (0.5, 0, 0), end)):
        model.add_link(name, start, stop, mass=1.0)
    axis = {} if plane else {"axis": (0, 1, 0)}
    for name, first, second, point in (
        ("A", "ground", "crank", (0, 0, 0)),
        ("B", "crank", "rod", (0, 0, 0.1)),
        ("C", "rod", "rocker", C),
        ("D", "ground", "rocker", (0.5, 0, 0)),
    ):
        if name != without:
            model.add_revolute(name, first, second, point=point, **axis)
    return model


@pytest.mark.parametrize("plane", [{}, {"plane": "xz"}])
def test_a_joint_that_was_forgotten_in_a_loop(plane):
    assert doubts(four_bar(**plane)) == []
    said = "an end of 'rod' is at an end of 'rocker' and nothing joins them there: a joint may be missing"
    assert doubts(four_bar("C", **plane)) == [said]
    assert doubts(four_bar("C", (0.5, 0, 0.32), **plane)) == []  # it does not reach there
    assert (
        da.simulate(four_bar("C", **plane), 0.05).report().headline
        == f"trusted, but look at the model: {said.partition(':')[0]}"
    )


@pytest.mark.parametrize("by", ["spring", "rod", "constraint", "weld", "hinge beside"])
def test_whatever_is_at_an_end_holds_it(by):
    model = four_bar("C")
    match by:
        case "spring":
            model.add_bushing("C", "rod", "rocker", point=C, stiffness=(1e4,) * 6)
        case "rod":
            model.add_in_plane("C", "rod", "rocker", points=((0.2693, 0, 0), (0, 0, 0.15)), direction=(0, 0, 1))
        case "constraint":
            model.add_constraint("C", lambda rod, rocker: rod.r[0] - rocker.r[0] + 0.25, ["rod", "rocker"])
        case "weld":
            model.add_fixed("C", "rod", "rocker", point=(1, 0, 0))
        case "hinge beside":
            model.add_revolute("C", "rod", "rocker", point=np.add(C, (0, 0.2, 0)), axis=(0, 1, 0))
    assert [text for text in doubts(model) if "nothing joins" in text] == []


def test_a_rod_that_was_not_joined_to_its_slider():
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0, 0, 0.1), mass=1.0)
    model.add_link("rod", (0, 0, 0.1), (0.5, 0, 0), mass=1.0)
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.5, 0, 0))
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0, 0.1), axis=(0, 1, 0))
    model.add_prismatic("D", model.ground, "slider", point=(0.5, 0, 0), axis=(1, 0, 0))
    assert doubts(model) == ["an end of 'rod' is at joint 'D' and nothing joins them there: a joint may be missing"]
    model.add_revolute("C", "rod", "slider", point=(0.5, 0, 0), axis=(0, 1, 0))
    assert doubts(model) == []


@pytest.mark.parametrize("slide", [False, True])
def test_folded_links_and_pistons_are_joined_elsewhere(slide):
    model = da.Model()
    model.add_link("one", (0, 0, 0), (0.3, 0, 0), mass=1.0)
    model.add_link("two", (0, 0, 0), (0.3, 0, 0), mass=1.0)
    model.add_revolute("A", model.ground, "one", point=(0, 0, 0), axis=(0, 1, 0))
    if slide:
        model.add_prismatic("B", "one", "two", point=(0.1, 0, 0), axis=(1, 0, 0))
    else:
        model.add_revolute("B", "one", "two", point=(0.3, 0, 0), axis=(0, 1, 0))
    assert doubts(model) == []


def test_doors_legs_and_twins_may_meet():
    """Two bars of one body or of the ground; bars that lie on each other. Else a joint is missing between two of a loop."""
    doors = da.Model(plane="xz")
    for name, x in (("left", -1.0), ("right", 1.0)):
        doors.add_link(name, (x, 0), (0, 0), mass=1.0)
        doors.add_revolute(name.upper(), "ground", name, point=(x, 0))
    legs = da.Model(plane="xz")
    legs.add_body("pelvis", mass=30.0, inertia=1.0, position=(0, 1.2))
    legs.add_prismatic("rail", "ground", "pelvis", point=(0, 1.2), axis=(1, 0))
    for name, x in (("l", -0.1), ("r", 0.1)):
        legs.add_link(name, (x, 1), (0, 0), mass=7.0)
        legs.add_revolute(f"hip {name}", "pelvis", name, point=(x, 1))
    twins = da.Model(plane="xz")
    for k in (1, 2):
        twins.add_link(f"a{k}", (0, 0), (1, 0), mass=1.0)
        twins.add_link(f"b{k}", (1, 0), (2, 0), mass=1.0)
        twins.add_revolute(f"A{k}", "ground", f"a{k}", point=(0, 0))
        twins.add_revolute(f"B{k}", f"a{k}", f"b{k}", point=(1, 0), rate=0.001 * k)
    assert [doubts(model) for model in (doors, legs, twins)] == [[], [], []]
    doors.add_link("next", (0, 0), (1, 1), mass=1.0)  # of which the other end is free
    assert [text.partition(":")[0] for text in doubts(doors)[1:]] == [
        "an end of 'left' is at an end of 'next' and nothing joins them there"
    ]


@pytest.mark.parametrize(
    ("end", "axis", "told"),
    [
        ((0.4, 0, 0), (0, 1, 0), None),
        ((0.4, 0.001, 0), (0, 1, 0), None),  # rounded
        ((0.4, 0.08, 0), (0, 1, 0), "11.3"),
        ((0.4, 0, 0), (0, 1, 0.2), None),  # along its bar
        ((0.4, 0, 0), (0.2, 1, 0), "11.3"),
        ((0.4, 0.4, 0), (0, 1, 0), None),  # a cone is meant
        ((0, 0.4, 0), (0, 1, 0), None),  # a shaft
    ],
)
@pytest.mark.parametrize("by", ["bar", "hinge", "loop", None])
def test_bars_skew_to_the_plane_of_their_hinge(end, axis, told, by):
    """Another bar of the hinge, a parallel hinge or a loop tells the plane; a jib or a wiper alone may be raised."""
    model = da.Model()
    model.add_link("bar", (0, 0, 0), end, mass=1.0)
    if by == "bar":
        model.add_link("arm", (0, 0, 0), np.cross(axis, (0, 0, 0.3)), mass=1.0)
    model.add_revolute("A", "arm" if by == "bar" else "ground", "bar", point=(0, 0, 0), axis=axis)
    for k in range(0 if by in (None, "bar") else 2):
        model.add_body(f"other {k}", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    if by == "hinge":
        model.add_revolute("pin", "bar", "other 0", point=end, axis=axis)
    elif by == "loop":
        for name, *bodies in (("pin", "bar", "other 0"), ("next", "other 0", "other 1"), ("close", "ground", "other 1")):
            model.add_cylindrical(name, *bodies, point=end, axis=axis)
    words = f"the bar 'bar' is {told} degrees off the plane in which joint 'A' lets it turn"
    found = [text.partition(":")[0] for text in doubts(model) if text.startswith("the bar")]
    assert found == ([words] if told and by else [])


def test_bars_that_are_hinged_inside_may_be_skew():
    model = da.Model()
    model.add_link("rotor", (-0.2, -0.02, 0), (0.2, 0.02, 0), mass=1.0)
    model.add_revolute("A", model.ground, "rotor", point=(0, 0, 0), axis=(0, 1, 0))
    assert doubts(model) == []
