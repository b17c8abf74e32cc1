"""Bodies whose position was left out, or is far off, are doubted; bobs far from their pivots are not."""

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts

CRANK, TOP = np.array([0.052, 0.0, 0.03]), np.array([0.0, 0.0, 0.24])


def press(solid, position=(0, 0, 0)) -> da.Model:
    model = da.Model()
    model.add_link("crank", (0, 0, 0), CRANK, mass=0.5)
    model.add_link("rod", CRANK, TOP, mass=0.8)
    model.add_body("ram", **solid.body(), position=position)
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "crank", "rod", point=CRANK, axis=(0, 1, 0))
    model.add_revolute("C", "rod", "ram", point=TOP, axis=(0, 1, 0))
    model.add_prismatic("guide", model.ground, "ram", point=TOP, axis=(0, 0, 1))
    model.add_driver("motor", "A", da.Polynomial((0.0, 9.42)))
    return model


@pytest.mark.parametrize(
    ("solid", "position", "told"),
    [
        (da.box(3.0, (0.06, 0.06, 0.08)), (0, 0, 0), "0.08"),
        (da.sphere(3.0, 0.03), (0, 0, 0), "0.06"),
        (da.cylinder(3.0, 0.02, 0.06), (0, 0, 0), "0.06"),
        (da.box(3.0, (0.06, 0.06, 0.08)), TOP, None),
        (da.box(3.0, (0.06, 0.06, 0.08)), (0, 0, 0.001), None),  # placed there
        (da.box(3.0, (0.1, 0.1, 0.15)), (0, 0, 0), None),
    ],
)
def test_a_ram_whose_position_was_left_out(solid, position, told):
    words = f"body 'ram' is at the origin and its joints 0.24 m away, near (0, 0, 0.24), while it is {told} m large"
    assert doubts(press(solid, position)) == ([f"{words}: its position may have been left out"] if told else [])


@pytest.mark.parametrize(
    ("position", "told"),
    [
        ((1, 0, 0), "1.03"),
        ((0, 0, 0.6), "0.36"),
        ((0, 0, 0.44), None),  # nearer than the mechanism is large: a pin of an arm that is not drawn
        (TOP, None),
    ],
)
def test_a_ram_far_from_its_pin(position, told):
    words = f"body 'ram' is {told} m away from its pin 'C', while it is 0.08 m large and all the rest 0.246 m: see its position"
    assert doubts(press(da.box(3.0, (0.06, 0.06, 0.08)), position)) == ([words] if told else [])


def test_rams_that_are_large_or_swing_may_be_far_from_their_pins():
    assert doubts(press(da.box(3.0, (0.3, 0.3, 0.5)), (0, 0, 0.6))) == []
    clock = da.Model()
    clock.add_body("bob", **da.sphere(1.0, 0.05).body(), position=(0, 0, -1))  # a pivot, and beside it the pin of a crutch
    clock.add_link("crutch", (0, 0, -0.05), (0.1, 0, -0.05), mass=0.1)
    clock.add_revolute("pivot", clock.ground, "bob", point=(0, 0, 0), axis=(0, 1, 0))
    clock.add_revolute("pin", "crutch", "bob", point=(0, 0, -0.05), axis=(0, 1, 0))
    assert doubts(clock) == []


def test_bobs_and_small_pictures_of_links_are_not_doubted():
    model = da.Model()
    model.add_body("bob", **da.sphere(1.0, 0.05).body())  # in the origin, below its pivot
    model.add_revolute("A", model.ground, "bob", point=(0, 0, 1), axis=(0, 1, 0))
    assert doubts(model) == []
    model = da.Model()
    model.add_body("link", **da.sphere(1.0, 0.05).body())  # in the middle of its hinges
    model.add_body("next", **da.sphere(1.0, 0.05).body(), position=(1, 0, 0))
    model.add_revolute("A", model.ground, "link", point=(-0.5, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "link", "next", point=(0.5, 0, 0), axis=(0, 1, 0))
    assert doubts(model) == []
