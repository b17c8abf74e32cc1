"""Points that are off their body, and on it in other axes, are told with the key that is meant."""

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts


def leg() -> da.Model:
    model = da.Model()
    model.add_body("leg", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(5, 0, 0))
    model.add_revolute("hip", model.ground, "leg", point=(4.5, 0, 0), axis=(0, 1, 0))
    return model


def test_points_in_other_axes():
    model = leg()
    model.add_marker("foot", "leg", (0.5, 0, 0))
    model.add_marker("toe", "leg", at=(5.6, 0, 0))
    model.add_marker("far", "leg", (3, 3, 0))  # on it in no axes: meant
    model.add_spring_damper("spring", model.ground, "leg", between=((5, 0, 1), (5.2, 0, 0)), stiffness=1.0)
    assert doubts(model) == []
    model.add_marker("world", "leg", (5.5, 0, 0))
    model.add_marker("body", "leg", at=(0.5, 0, 0))
    model.add_force("push", "leg", (0, 0, 1), point=(5.4, 0, 0))
    told = doubts(model)
    assert [text.partition(" is ")[0] for text in told] == ["marker 'world'", "marker 'body'", "force 'push'"]
    assert ["give at=" in text for text in told] == [True, True, True]
    assert ["do not give at= but point=" in text for text in told] == [False, True, False]


def test_points_in_other_axes_are_told_with_the_key_that_the_element_has():
    """World coordinates where body axes were asked for; and a spring with body axes where the world was."""

    def law(t, r, R, v, w):
        return np.zeros(3), np.zeros(3)

    model, points = leg(), ((0, 0, 1), (5.4, 0, 0))
    model.add_spring_damper("spring", "ground", "leg", points=points, stiffness=1.0)
    model.add_bushing("bush", "ground", "leg", points=points, stiffness=(1, 1, 1, 1, 1, 1))
    model.add_interaction("law", "ground", "leg", law, points=points)
    model.add_cable("rope", [("ground", (0, 0, 1)), ("leg", (5.4, 0, 0))], stiffness=1.0)
    model.add_spring_damper("back", "ground", "leg", between=((0, 0, 1), (0.4, 0, 0)), stiffness=1.0)
    fixes = ["give between=", "give point=", "give point=", "give it in axes of the body", "do not give between= but points="]
    assert [text.partition(", then ")[2] for text in doubts(model)] == fixes


@pytest.mark.parametrize(
    ("solid", "p", "told"),
    [
        (da.rod(1.0, 0.4), 0.4, 0.2),  # the end of the bar as a point of the world
        (da.rod(1.0, 0.4, radius=0.01), 0.4, 0.2),
        (da.box(1.0, (0.4, 0.02, 0.02)), 0.4, 0.2),
        (da.rod(1.0, 0.4), 0.3, 0.1),
        (da.rod(1.0, 0.4), 0.2, None),  # its end in its own axes
        (da.rod(1.0, 0.4), 0.215, None),  # in an eye at it
        (da.rod(1.0, 0.4), 0.5, None),  # beyond it in both
        (da.box(1.0, (0.4, 0.4, 0.4)), 0.4, 0.2),
        (da.box(1.0, (0.4, 0.4, 0.4)), 0.25, None),  # on a stud that is not drawn
        (da.box(1.0, (0.06, 0.06, 0.06)), 0.2, 0.17),  # the centre of a slider
    ],
)
def test_ends_of_springs_off_the_body_that_is_drawn(solid, p, told):
    """Joints do not tell where such a body ends: a bar with one pin, a slider whose joint is at its centre."""
    model = da.Model()
    model.add_body("bar", **solid.body(), position=(0.2, 0, 0))
    at = (0.2, 0, 0) if solid.shape["type"] == "box" else (0, 0, 0)
    model.add_revolute("A", model.ground, "bar", point=at, axis=(0, 1, 0))
    model.add_spring_damper("spring", model.ground, "bar", points=((0.6, 0, 0.2), (p, 0, 0)), stiffness=1.0)
    words = f"spring-damper 'spring' is {told} m off body 'bar' as it is drawn: its point may be one of the world, then give"
    assert doubts(model) == ([] if told is None else [f"{words} between="])
    if told is not None:  # the numbers of the other reading, given as it asks for
        model.remove("spring")
        model.add_spring_damper("spring", model.ground, "bar", between=((0.6, 0, 0.2), (p, 0, 0)), stiffness=1.0)
        assert doubts(model) == []


def test_points_within_the_joints_of_a_body_are_on_it():
    """A head on a stick that is not drawn, whose foot is where the world has its origin."""
    model = da.Model()
    model.add_body("head", **da.box(1.0, (0.2, 0.2, 0.2)).body(), position=(0, 0, 1))
    model.add_spherical("foot", model.ground, "head", point=(0, 0, 0))
    model.add_marker("ground contact", "head", at=(0, 0, 0))
    assert doubts(model) == []


def test_forces_far_beside_a_bar_are_doubted():
    def told(at):
        model = da.Model(plane="xz")
        model.add_link("boom", (0, 0), (2.8, 1.0), mass=120.0)
        model.add_revolute("A", "ground", "boom", point=(0, 0))
        model.add_force("load", "boom", (0, -2000.0), at=at)
        return [text for text in doubts(model) if "load" in text]

    (text,) = told((3.0, 0.0))
    assert "force 'load' is 1." in text and "off body 'boom' as it is drawn: was its point meant to be on the bar?" in text
    for at in ((2.8, 1.0), (1.4, 0.5), (2.85, 1.1), (1.4, 0.7)):  # on it, at its end, on a small bracket
        assert not told(at)


@pytest.mark.parametrize("swapped", [False, True])
def test_ends_of_a_spring_that_are_swapped(swapped):
    """The strut of a wishbone, which is farther from its top than it is long."""
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (0.3, 0, 0), mass=3.0)
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    ends = ((0.1, 0, 0.5), (0.2, 0, 0))
    model.add_spring_damper("strut", "ground", "arm", between=ends[:: -1 if swapped else 1], stiffness=2e4)
    told = "spring-damper 'strut' is 0.5 m off body 'arm' as it is drawn: was its point meant to be on the bar?"
    assert doubts(model) == [told] * swapped


def test_markers_far_beside_a_bar_are_noted():
    """Points of couplers are there: nothing is doubted."""
    model = da.Model(plane="xz")
    model.add_link("arm", (0, 0), (0.3, 0), mass=1.0)
    model.add_revolute("A", "ground", "arm", point=(0, 0))
    model.add_marker("end", "arm", (0.15, 0, 0))
    model.add_marker("tip", "arm", at=(0.15, 0.3))
    report = da.simulate(model, 0.01).report()
    told = "marker 'tip' is 0.3 m off body 'arm' as it is drawn; at= is in the world, point= in axes of the body"
    assert [line.value for line in report.lines if line.name == "marker"] == [told]
    assert (report["marker"].block, report.headline) == ("careful", "trusted")
