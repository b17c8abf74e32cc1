"""What is drawn beside the parts of a machine: trails, markers, arrows and their numbers, where one looks for them."""

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.animation import Film
from dalembert.viewer.channels import loads
from dalembert.viewer.fittings import travel_of
from dalembert.viewer.scene import scene_of
from dalembert.viewer.stage import stage_of
from dalembert.viewer.trails import trails_of


def arm(payload=True, marker=False):
    """Two links, the first driven, a spring in the elbow, a weight in the hand."""
    model = da.Model(name="arm", plane="xz")
    model.add_link("upper", (0, 0), (0.4, 0), mass=1.0)
    model.add_link("fore", (0.4, 0), (0.4, -0.3), mass=0.5)
    model.add_revolute("S", "ground", "upper", point=(0, 0))
    model.add_revolute("E", "upper", "fore", point=(0.4, 0))
    model.add_driver("drive", "S", da.SmoothStep(0, np.pi / 2, 0, 1))
    model.add_joint_spring_damper("spring", "E", stiffness=2.0, damping=0.05)
    if payload:
        model.add_point_mass("weight", mass=0.25, position=(0.4, -0.3))
        model.add_spherical("hand", "fore", "weight", point=(0.4, -0.3))
    if marker:
        model.add_marker("mark", "fore", at=(0.02, 0))
    return model


def feed(**gains):
    """A ram that a crank drives, the bearing of the crank on the line of the rail."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.5)
    model.add_link("rod", (0, 0.1), (0.28, 0), mass=0.8)
    model.add_body("ram", **da.box(2.0, (0.06, 0.06, 0.06)).body(), position=(0.28, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "ram", point=(0.28, 0))
    model.add_prismatic("D", "ground", "ram", point=(0.28, 0), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 2 * np.pi)))
    if gains:
        model.add_joint_spring_damper("tool", "D", **gains)
    return model


@pytest.mark.parametrize("payload", [False, True])
def test_bars_leave_the_trail_of_their_end_away_from_the_ground(payload):
    """Also when something hangs there; of a bar that is held alike at both ends, or at none, it is the centre of mass."""
    model = arm(payload)
    model.add_link("loose", (1, 0), (1.2, 0), mass=0.2)
    run = da.simulate(model, 0.3)
    expected = [(0.2, 0, 0), (0.15, 0, 0), *([(0, 0, 0)] * (1 + payload))]
    scene = scene_of(run)
    assert scene["trails"] == list(range(len(expected)))
    np.testing.assert_allclose(scene["trail_points"], expected, rtol=0, atol=1e-12)
    film = Film(run, (320, 240))
    np.testing.assert_allclose(film.paths[1] - film.layers[1], film.motion.point("fore", (0.15, 0, 0)), rtol=0, atol=1e-12)
    ends = dict(trails_of(feed()))
    assert ends[0] == pytest.approx((0.05, 0, 0)) and not ends[1].any(), "crank and rod"


def test_a_marker_is_a_dot_over_its_body():
    """In pictures; with a white rim, in the middle of a bar that is thicker."""
    run = da.simulate(arm(marker=True), 0.5)
    film = Film(run, (640, 480))
    image = np.asarray(next(film.pictures(np.array([0.25]), 1e-6))).astype(float)
    at = run(np.array([0.25])).position("mark")[0] + film.layers[3]
    column, row = (film.camera.seen(at)[0] / 2).astype(int)
    colour = film.colours[3]
    found = image[row, column]
    assert found @ colour / np.linalg.norm(found) / np.linalg.norm(colour) > 0.97
    around = image[row - 8 : row + 9, column - 8 : column + 9].reshape(-1, 3)
    assert (around.min(axis=1) > 200).sum() > 10, "the rim"


def test_markers_of_pages_are_dots_over_their_bodies(open_tab, tmp_path):
    tab = opened(open_tab, arm(marker=True), tmp_path)
    assert tab.page.get_by_label("trails of markers: recent, whole, none").count() == 1
    at = da.simulate(arm(marker=True), 0.8)(np.array([0.4])).position("mark")[0]
    x, y = tab.do(f"viewer.project(...{at.tolist()})")
    tab.page.mouse.move(x, y)
    tab.page.locator(".tip", has_text="mark").wait_for()


@pytest.mark.parametrize("turned", [False, True])
def test_the_torque_of_a_driver_is_at_its_joint(turned):
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (1, 0), mass=1.0)
    model.add_revolute("A", *(("bar", "ground") if turned else ("ground", "bar")), point=(0, 0))
    model.add_driver("motor", "A", da.Harmonic(0.1, 2.0))
    run = da.simulate(model, 0.2)
    (torque,) = (load for load in loads(run) if load.tag == "driver 0" and load.what == "torque")
    assert torque.body == "bar"
    np.testing.assert_allclose(run.point("bar", torque.point), 0.0, rtol=0, atol=1e-9)


def opened(open_tab, model, tmp_path):
    path = tmp_path / "run.html"
    da.simulate(model, 0.8).export_html(path)
    tab = open_tab(path)
    tab.do("viewer.scrub(0.4)")
    return tab


def test_an_element_has_one_number_in_one_place_beside_its_arc(open_tab, tmp_path):
    """A spring acts on both links at their pin, one against the other."""
    tab = opened(open_tab, arm(), tmp_path)
    for key in "fmn":
        tab.page.keyboard.press(key)
    number = tab.page.locator(".number", has_text="spring")
    number.first.wait_for()
    tab.wait("viewer.settled()")
    assert number.count() == 1
    drive = tab.page.locator(".number", has_text="drive").bounding_box()
    x, y = tab.do("viewer.project(0, 0, 0)")
    assert drive["x"] > x + 10 and abs(drive["y"] + drive["height"] / 2 - y) < 5, "to the right of the pin, not over it"


@pytest.mark.parametrize(
    ("gains", "drawn"),
    [
        ({"stiffness": 0.0, "damping": da.Table((-2.0, 2.0), (-50.0, 50.0))}, []),
        ({"stiffness": 50.0, "damping": da.Table((-2.0, 2.0), (-50.0, 50.0))}, ["spring"]),
        ({"stiffness": 0.0, "damping": 20.0}, ["pot", "piston"]),
    ],
)
def test_a_table_on_a_rail_is_no_machine_part(gains, drawn):
    """What is drawn keeps clear of the crank's bearing, and so does the rail."""
    run = da.simulate(feed(**gains), 1.0)
    lines = [line for line in stage_of(run).lines if line.tag == "force 0"]
    assert [line.kind for line in lines] == drawn
    assert all(line.start[1][0] > 0.3 for line in lines)
    joint = run.mechanism.model.joint("D")
    alone = travel_of(da.simulate(feed(), 1.0), joint)
    low, high = travel_of(run, joint)
    assert low == pytest.approx(alone[0], abs=1e-6)
    assert high - low == pytest.approx((2.0 if drawn else 1.0) * (alone[1] - alone[0]), abs=1e-3)
