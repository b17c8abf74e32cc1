"""Mechanisms in a plane are drawn in layers; their numbers stay as they are."""

import base64
from itertools import pairwise

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.viewer.animation import Film
from dalembert.viewer.raster import rgb
from dalembert.viewer.scene import scene_of
from dalembert.viewer.stage import colours, stage_of


@pytest.fixture(scope="module")
def crossed():
    """A four-bar whose links cross away from joints."""
    model = da.Model(plane="xz")
    model.add_link("left", (0, 0), (0.3, 0.35), mass=0.5)
    model.add_link("right", (0.4, 0), (0.1, 0.35), mass=0.5)
    model.add_link("top", (0.3, 0.35), (0.1, 0.35), mass=0.3)
    model.add_revolute("A", "ground", "left", point=(0, 0))
    model.add_revolute("B", "left", "top", point=(0.3, 0.35))
    model.add_revolute("C", "top", "right", point=(0.1, 0.35))
    model.add_revolute("D", "right", "ground", point=(0.4, 0))
    model.add_marker("tip", "top", at=(0.2, 0.4))
    return da.simulate(model, 0.1)


def depths(run, stage, body):
    """From where to where it is drawn, towards who looks."""
    n = stage.layers.normal
    own = run.rotation(body)[0].T @ n
    reach = [(part.at @ own, part.reach(part.matrix.T @ own)) for part in stage.pictures[body].parts]
    at = run.position(body)[0] @ n + stage.layers.of(body)
    return at + min(m - half for m, half in reach), at + max(m + half for m, half in reach)


def test_links_that_cross_are_apart_in_depth_and_pins_bridge_the_gap(crossed):
    stage = stage_of(crossed)
    assert stage.layers.normal == pytest.approx((0, -1, 0))  # towards who looks
    ranges = sorted(depths(crossed, stage, body) for body in ("left", "right", "top"))
    assert all(below[1] < above[0] for below, above in pairwise(ranges))
    assert ranges[-1][1] - ranges[0][0] < 0.15 * stage.scale
    for k, joint in enumerate(crossed.mechanism.model.joints):
        first, second = (stage.layers.of(name) for name in (joint.first, joint.second))
        pin = max((f.part for f in stage.fittings if f.tag == f"joint {k}"), key=lambda part: part.half[2])
        middle = first + pin.at @ crossed.rotation(joint.first)[0].T @ stage.layers.normal
        assert middle - pin.half[2] < min(first, second) and middle + pin.half[2] > max(first, second)


def test_the_link_in_front_hides_the_other_where_they_cross(crossed):
    film = Film(crossed, (600, 450), np.array([0.0, -1.0, 0.0]))
    image = np.asarray(next(film.pictures(np.array([0.0]), 1e-6))).astype(float)
    stage = stage_of(crossed)
    names = crossed.mechanism.body_names
    front = max(("left", "right"), key=stage.layers.of)
    hues = {n: rgb(c) / np.linalg.norm(rgb(c)) for n, c in zip(names, colours(4), strict=False)}
    ends = {"left": ((0, 0), (0.3, 0.35)), "right": ((0.4, 0), (0.1, 0.35))}[front]
    start, way = np.array(ends[0]), np.subtract(ends[1], ends[0])
    crossing = 0.2 / abs(way[0])  # at x = 0.2
    for s in crossing + np.linspace(-0.1, 0.1, 11):
        x, z = start + s * way
        (column, row), _ = film.camera.seen(np.array([x, 0.0, z]) + stage.layers.offset(front))
        pixel = image[round(row / 2), round(column / 2)]
        assert max(hues, key=lambda name: hues[name] @ pixel) == front, s


def test_data_stay_where_they_are(crossed):
    scene, stage = scene_of(crossed), stage_of(crossed)
    times = np.frombuffer(base64.b64decode(scene["times"]), "<f8")
    poses = np.frombuffer(base64.b64decode(scene["poses"]), "<f4").reshape(len(times), -1, 7)
    names = [*crossed.mechanism.body_names, "tip"]
    for b, name in enumerate(names):
        assert poses[0, b, :3] == pytest.approx(crossed.position(name)[0], abs=1e-7)
        assert scene["bodies"][b]["layer"] == pytest.approx(stage.layers.offset("top" if name == "tip" else name))
    assert scene["bodies"][3]["layer"][1] != 0.0  # a marker is in the layer of its body


def slider_crank(reach):
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.5)
    model.add_link("rod", (0, 0.1), (reach, 0), mass=0.8)
    model.add_body("slider", **da.box(2.0, (0.06, 0.06, 0.06)).body(), position=(reach, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "slider", point=(reach, 0))
    model.add_prismatic("D", "ground", "slider", point=(reach, 0), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    return da.simulate(model, 1.0)


def test_the_pin_of_a_slider_as_deep_as_a_third_of_the_mechanism_is_in_front_of_it():
    """It was inside the slider, and so was the rod."""
    run = slider_crank(0.18)
    stage = stage_of(run)
    front = depths(run, stage, "slider")[1]
    assert depths(run, stage, "rod")[0] > front
    pin = max((f.part for f in stage.fittings if f.tag == "joint 2" and f.body == "rod"), key=lambda part: part.half[2])
    n = stage.layers.normal
    assert pin.at @ (run.rotation("rod")[0].T @ n) + pin.half[2] + stage.layers.of("rod") > front


def test_rails_of_the_ground_are_behind_all_that_passes():
    run = slider_crank(0.28)
    stage = stage_of(run)
    rail = next(f.part for f in stage.fittings if f.tag == "joint 3" and f.body == "ground")
    ranges = {body: depths(run, stage, body) for body in run.mechanism.body_names}
    front = rail.reach(rail.matrix.T @ stage.layers.normal) + rail.at @ stage.layers.normal
    assert front < min(low for low, _ in ranges.values())
    carriage = next(f.part for f in stage.fittings if f.tag == "joint 3" and f.body == "slider")
    assert carriage.at @ stage.layers.normal + stage.layers.of("slider") == pytest.approx(rail.at @ stage.layers.normal)
    assert ranges["rod"][0] > ranges["slider"][1] and ranges["rod"][0] > ranges["crank"][1] - 1e-12
    assert ranges["rod"][0] - ranges["crank"][1] < 0.02 * stage.scale  # side by side, whatever the slider's depth


def test_wheels_in_mesh_and_tubes_with_their_rods_are_in_one_layer():
    model = da.Model(plane="xz", gravity=(0, 0, 0))
    model.add_body("small", **da.disc(1.0, 0.1, axis="y").body(), position=(0, 0))
    model.add_body("large", **da.disc(1.0, 0.2, axis="y").body(), position=(0.3, 0))
    model.add_link("tube", (0, 1), (0.4, 1), mass=1.0)
    model.add_link("rod", (0.3, 1), (0.7, 1), mass=1.0)
    model.add_revolute("A", "ground", "small", point=(0, 0), rate=1.0)
    model.add_revolute("B", "ground", "large", point=(0.3, 0))
    model.add_revolute("C", "ground", "tube", point=(0, 1))
    model.add_prismatic("slide", "tube", "rod", point=(0.3, 1), axis=(1, 0))
    model.add_gear("mesh", "small", "large", teeth=(10, 20))
    layers = stage_of(da.simulate(model, 0.1)).layers
    assert layers.of("small") == layers.of("large") == 0.0
    assert layers.of("tube") == layers.of("rod")


@pytest.mark.parametrize("name", ["slider_crank", "four_bar", "andrews", "pendulum_3d", "bricard"])
def test_looks_of_their_own_and_mechanisms_in_space_stay_as_they_are(name):
    layers = stage_of(da.simulate(gallery.build(name), 0.01)).layers
    assert not any(layers.depth.values())


def swing_arm(deep):
    """A wheel on an arm, its tyre a spring to its centre."""
    model, wheel = da.Model(plane="xz"), da.cylinder(8.0, 0.3, deep, axis="y")
    model.add_link("arm", (-0.5, 0.3), (0, 0.3), mass=2.0)
    model.add_body("wheel", mass=wheel.mass, inertia=wheel.inertia[1], shape=wheel.shape, position=(0, 0.3))
    model.add_revolute("A", "ground", "arm", point=(-0.5, 0.3))
    model.add_revolute("axle", "arm", "wheel", point=(0, 0.3))
    model.add_spring_damper("strut", "ground", "arm", between=((-0.4, 0.7), (-0.25, 0.3)), stiffness=1e3, length=0.5)
    model.add_spring_damper("tyre", "ground", "wheel", between=((0.1, -0.05), (0, 0.3)), stiffness=2e4, length=0.36)
    return da.simulate(model, 0.05)


@pytest.mark.parametrize("deep", [0.1, 0.3])
def test_a_spring_that_ends_within_a_body_is_in_front_of_it_on_pegs(deep):
    run = swing_arm(deep)
    stage = stage_of(run)
    strut, tyre = ([line for line in stage.lines if line.tag == f"force {k}"] for k in (0, 1))
    assert all(abs(end[1] @ stage.layers.normal) < 1e-12 for line in strut for end in (line.start, line.end))  # as it was
    for line in tyre:
        at = [run.point(*end)[0] @ stage.layers.normal + stage.layers.of(end[0]) for end in (line.start, line.end)]
        assert at[0] == pytest.approx(at[1]) and at[1] > depths(run, stage, "wheel")[1]
    pegs = [fitting for fitting in stage.fittings if fitting.tag == "force 1"]
    assert sorted(peg.body for peg in pegs) == ["ground", "wheel"]
    film = Film(run, (600, 450), stage.layers.normal)
    image = np.asarray(next(film.pictures(np.array([0.0]), 1e-6))).astype(float)
    film.lines = []
    bare = np.asarray(next(film.pictures(np.array([0.0]), 1e-6))).astype(float)
    (x, y), _ = film.camera.seen(np.array([0.015, 0.0, 0.25]))
    around = np.abs(image - bare)[round(y / 2) - 15 : round(y / 2) + 15, round(x / 2) - 15 : round(x / 2) + 15]
    assert (around.max(axis=2) > 20).sum() > 40  # before the wheel it is seen
