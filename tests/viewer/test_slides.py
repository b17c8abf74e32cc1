"""Rails, carriages and telescopes are drawn where something slides, wherever the point of the joint is."""

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.stage import stage_of


def press(point, width=0.12):
    """A ram in an upright guide, whose joint has its point somewhere along the guide."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0.6), (0.08, 0.6), mass=0.5)
    model.add_link("rod", (0.08, 0.6), (0, 0.25), mass=0.8)
    model.add_body("ram", **da.box(5.0, (width, 0.06, 0.06)).body(), position=(0, 0.25))
    model.add_revolute("A", "ground", "crank", point=(0, 0.6))
    model.add_revolute("B", "crank", "rod", point=(0.08, 0.6))
    model.add_revolute("C", "rod", "ram", point=(0, 0.25))
    model.add_prismatic("guide", "ground", "ram", point=point, axis=(0, 1))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    return da.simulate(model, 1.1)


def parts_of(stage, run, joint, body):
    number = [j.name for j in run.mechanism.model.joints].index(joint)
    return [f.part for f in stage.fittings if f.tag == f"joint {number}" and f.body == body]


@pytest.mark.parametrize("point", [(0, 0.25), (0, 0.6), (0, -3.0)])
def test_a_rail_covers_the_travel_wherever_the_point_of_its_joint_is(point):
    run = press(point)
    stage = stage_of(run)
    rail, *_ = parts_of(stage, run, "guide", "ground")
    z = run.position("ram")[:, 2]
    low, high = rail.at[2] - rail.half[2], rail.at[2] + rail.half[2]
    margin = 0.15 * stage.scale
    assert z.min() - margin < low < z.min() and z.max() < high < z.max() + margin
    assert stage.scale < 0.7 and [part.kind for part in stage.pictures["ram"].parts] == ["box"]  # and no stem to the point
    (carriage,) = parts_of(stage, run, "guide", "ram")
    assert np.linalg.norm(carriage.at[[0, 2]]) < 1e-9


def test_a_guide_beside_its_body_stays_where_it_is_said():
    """The line of the guide is 0.3 m beside the ram: a stem leads there, straight across."""
    run = press((0.3, -1.0))
    stage = stage_of(run)
    rail, *_ = parts_of(stage, run, "guide", "ground")
    assert rail.at[0] == pytest.approx(0.3)
    _, stem, *_ = stage.pictures["ram"].parts
    assert np.abs(stem.matrix[:, 2]) == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("at", [0.0, 0.9, 1.476])
def test_bars_that_slide_in_each_other_are_a_tube_and_its_rod(at):
    """A hydraulic cylinder: no rail through everything, no carriage."""
    a, b = np.array([0.8, -0.8]), np.array([1.5, 0.5])
    along = (b - a) / np.linalg.norm(b - a)
    model = da.Model(plane="xz")
    model.add_link("boom", (0, 0), (3, 1.0), mass=200)
    model.add_link("tube", a, a + 0.9 * along, mass=20)
    model.add_link("rod", a + 0.7 * along, b, mass=10)
    model.add_revolute("pivot", "ground", "boom", point=(0, 0))
    model.add_revolute("foot", "ground", "tube", point=a)
    model.add_revolute("eye", "rod", "boom", point=b)
    model.add_prismatic("cylinder", "tube", "rod", point=a + at * along, axis=along)
    model.add_driver("pump", "cylinder", da.Polynomial((0.0, 0.1)))
    for end, missing in ((1.0, 0), (4.0, 1)):  # after 4 s the rod has left the tube by 0.2 m
        run = da.simulate(model, end)
        stage = stage_of(run)
        (sleeve,) = parts_of(stage, run, "cylinder", "tube")
        bar = stage.pictures["tube"].parts[0]
        assert sleeve.half[2] == pytest.approx(0.45) and sleeve.at == pytest.approx(bar.at, abs=1e-9)
        assert sleeve.size[0] > 1.2 * bar.size[0]
        rest = parts_of(stage, run, "cylinder", "rod")
        assert len(rest) == missing and all(2 * part.half[2] > 0.2 for part in rest)
        for name in ("tube", "rod"):
            assert sum(part.half.max() > 0.1 for part in stage.pictures[name].parts) == 1  # its bar, no stem


def test_the_slot_of_a_lever_is_where_its_block_slides():
    """The point of the joint is at the lever's pin."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0.3), (0.1, 0.3), mass=0.2)
    model.add_link("lever", (0, 0), (0.16, 0.48), mass=0.5)
    model.add_body("block", **da.box(0.05, (0.03, 0.03, 0.03)).body(), position=(0.1, 0.3))
    model.add_revolute("O", "ground", "crank", point=(0, 0.3))
    model.add_revolute("Q", "ground", "lever", point=(0, 0))
    model.add_revolute("P", "crank", "block", point=(0.1, 0.3))
    model.add_prismatic("slot", "lever", "block", point=(0, 0), axis=(1, 3))
    model.add_driver("motor", "O", da.Polynomial((0.0, 6.0)))
    run = da.simulate(model, 1.05)
    stage = stage_of(run)
    assert [part.kind for part in stage.pictures["block"].parts] == ["box"]
    rail, *_ = parts_of(stage, run, "slot", "lever")
    way = np.linalg.norm(run.position("block"), axis=1)  # from Q
    ends = [np.linalg.norm(run.point("lever", rail.at + side * rail.half[2] * rail.matrix[:, 2])[0]) for side in (-1, 1)]
    margin = 0.15 * stage.scale
    assert way.min() - margin < min(ends) < way.min() and way.max() < max(ends) < way.max() + margin
