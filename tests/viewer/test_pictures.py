"""Pictures without a browser: what is nearer is in front, trails are round, floors carry what rolls, stands what hangs."""

import base64

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app
from dalembert.viewer.animation import Film
from dalembert.viewer.framing import framing, standard_view
from dalembert.viewer.parts import Part
from dalembert.viewer.raster import painted, rgb
from dalembert.viewer.scene import scene_of
from dalembert.viewer.stage import colours, stage_of
from dalembert.viewer.surfaces import faces_of


@pytest.fixture(scope="module")
def andrews(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "andrews.zarr"
    da.simulate(gallery.build("andrews"), 0.03, out=path)
    return path


def scene(name, t_end=0.2):
    return scene_of(da.simulate(gallery.build(name), t_end))


def test_plates_that_pass_through_each_other_are_each_seen_where_they_are_nearer():
    """An X of two wide plates seen along their crossing: no order of whole faces draws it right."""
    model = da.Model((0, 0, 0))
    for name, angle in (("one", 0.6), ("two", -0.6)):
        turn = da.Rotation.from_axis_angle((0, 0, 1), angle)
        shape = {"type": "box", "size": (2.0, 0.02, 2.0)}
        model.add_body(name, mass=1.0, inertia=(1, 1, 1), rotation=turn, shape=shape, angular_velocity=(0, 0, 1e-3))
    film = Film(da.simulate(model, 0.1), (300, 240), np.array([0.0, -1.0, 0.0]))
    (picture,) = film.pictures(np.array([0.0]), 0.1)
    image = np.asarray(picture).astype(float)
    hues = np.array([rgb(colour) / np.linalg.norm(rgb(colour)) for colour in colours(2)])
    for x, nearer in ((-0.4, 0), (0.4, 1)):  # at -x the plate turned by +0.6 is nearer to a camera at -y
        for z in (-0.7, 0.0, 0.7):
            (column, row), _ = film.camera.seen(np.array([x, 0.0, z]))
            pixel = image[round(row / 2), round(column / 2)]
            assert np.argmax(hues @ pixel) == nearer, (x, z)


def test_trails_are_round_however_few_pictures_there_are():
    """A wheel of 4 turns per second in a film of 5 pictures per second."""
    model = da.Model((0, 0, 0))
    model.add_point_mass("bob", mass=1.0, position=(1, 0, 0), velocity=(0, 8 * np.pi, 0))
    model.add_distance("rod", model.ground, "bob", points=((0, 0, 0), (0, 0, 0)))
    film = Film(da.simulate(model, 1.0, save_at=np.linspace(0, 1, 33)), (200, 200))
    path = film.paths[0]
    chords = np.linalg.norm(0.5 * (path[1:] + path[:-1]), axis=1)
    assert chords.min() > 1 - 2e-3, "no chord leaves the circle by more than a thousandth of its width"
    first, second = (np.asarray(picture).astype(float) for picture in film.pictures(np.array([0.0, 0.9]), 0.2))
    angles = 0.9 * 8 * np.pi + np.arange(-0.9, 5.3, 0.1)
    around = [film.camera.seen(np.array([np.cos(a), np.sin(a), 0.0]))[0] / 2 for a in angles]
    differs = [np.abs(second - first)[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2].max() > 15 for x, y in around]
    assert np.mean(differs) > 0.6


def test_where_a_path_comes_back_the_newer_part_is_seen():
    """Though the older one, which is nearly gone, is a little nearer."""
    film = Film(da.simulate(gallery.build("euler_top"), 0.1), (100, 80), np.array([0.0, -1.0, 0.0]))
    out, back = np.array([[-1.0, -0.02, 0.0], [1.0, -0.02, 0.0]]), np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    old = film.camera.ribbon(out, np.array([1.0, 0.0, 0.0]), np.array([0.9, 0.9]))
    new = film.camera.ribbon(back, np.array([1.0, 0.0, 0.0]), np.array([0.1, 0.0]))
    none = film.camera.faces(np.zeros((0, 4, 3)), np.zeros((0, 3)))
    seen = np.asarray(painted(film.empty, [none], [old, new], none))
    (column, row), _ = film.camera.seen(np.zeros(3))
    assert seen[round(row), round(column)].tolist() == pytest.approx([253, 57, 56], abs=12)  # 0.8 of the newer one


def test_joints_of_a_long_chain_do_not_hide_its_links():
    model = da.Model(plane="xz")
    for k in range(60):
        model.add_link(f"link {k}", (0.1 * k, 0), (0.1 * (k + 1), 0), mass=0.1)
        model.add_revolute(f"pin {k}", f"link {k - 1}" if k else "ground", f"link {k}", point=(0.1 * k, 0))
    widest = max(max(f.part.half[:2]) for f in stage_of(da.simulate(model, 0.01)).fittings)
    assert 0.005 < widest < 0.03  # m


def press(crank):
    """A crank of that length [m], and a rod to a slider 1 m away."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, crank), mass=0.1)
    model.add_link("rod", (0, crank), (1, 0), mass=0.1)
    model.add_body("slider", mass=1.0, inertia=1e-3, position=(1, 0), shape={"type": "box", "size": (0.1, 0.05, 0.05)})
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, crank))
    model.add_revolute("C", "rod", "slider", point=(1, 0))
    model.add_prismatic("D", "ground", "slider", point=(1, 0), axis=(1, 0))
    return da.simulate(model, 0.01)


def test_a_short_crank_is_seen_between_its_joints():
    """What is around its two pins, seen along them, leaves half of its length free; elsewhere sizes are the usual ones."""
    crank = 0.04
    stage = stage_of(press(crank))
    rod, *eyes = stage.pictures["rod"].parts
    covered = {"joint 0": 0.0, "joint 1": max(rod.size[0], *(eye.size[0] for eye in eyes))}
    for fitting in stage.fittings:
        if fitting.tag in covered:
            covered[fitting.tag] = max(covered[fitting.tag], fitting.part.half[0])
    assert 0.3 * crank < sum(covered.values()) < 0.55 * crank
    usual = stage_of(press(0.2)).pictures["rod"].parts[0].size[0]
    assert rod.size[0] == pytest.approx(0.5 * usual, rel=0.1)


def test_mechanisms_in_a_plane_are_seen_in_parallel_projection():
    """What stands behind is as large; a mechanism in space is seen in perspective."""
    ends = np.array([[0.0, -0.5, 0.0], [1.0, -0.5, 0.0], [0.0, 0.5, 0.0], [1.0, 0.5, 0.0]])
    for run, larger in ((press(0.2), 1.0), (da.simulate(gallery.build("slider_crank"), 0.01), 1.1)):
        film = Film(run, (400, 300), np.array([0.0, -1.0, 0.0]))
        (x, _), (other, _), (far, _), (far_other, _) = film.camera.seen(ends)[0]
        ratio = (other - x) / (far_other - far)
        assert ratio == pytest.approx(1.0, abs=1e-3) if larger == 1.0 else ratio > larger
        assert film.camera.look.parallel == (larger == 1.0)


def test_export_chooses_slow_motion_and_takes_options(andrews, tmp_path):
    def frames(*options):
        result = CliRunner().invoke(app, ["export", str(andrews), str(tmp_path / "a.gif"), *options])
        assert result.exit_code == 0, result.output
        with Image.open(tmp_path / "a.gif") as gif:
            return gif.n_frames, gif.size, gif.info["duration"]

    assert frames("--fps", "1", "--size", "80x60") == (16, (80, 60), 1000)  # 15 s at 1/500
    assert frames("--fps", "2", "--size", "80x60", "--speed", "0.01", "--camera", "0,0,1") == (7, (80, 60), 500)


@pytest.mark.parametrize(
    ("option", "value"), [("--size", "80"), ("--camera", "1,2"), ("--camera", "frnt"), ("--camera", "0,0,0"), ("--speed", "-1")]
)
def test_export_refuses(andrews, tmp_path, option, value):
    result = CliRunner().invoke(app, ["export", str(andrews), str(tmp_path / "a.gif"), option, value])
    assert result.exit_code == 2 and option[2:] in result.stderr and result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["routh_sphere", "rolling_disc", "rattleback", "bicycle", "ball_robot"])
def test_the_floor_is_the_plane_that_bodies_roll_on(name):
    shown = scene(name)
    assert shown["floor"] == 0.0
    assert shown["normal"] == shown["up"]


def test_a_floor_can_be_a_slope():
    normal = np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    model = da.Model()
    model.add_body("ball", **da.sphere(1.0, 0.1).body(), position=0.1 * normal)
    model.add_rolling_sphere("slope", "ball", radius=0.1, plane=((0, 0, 0), normal))
    shown = scene_of(da.simulate(model, 0.1))
    assert shown["normal"] == pytest.approx(normal) and shown["floor"] == 0.0


def test_bodies_that_do_not_roll_rest_on_the_floor_and_not_above_it():
    """A sphere: its lowest point, not that of the box around it."""
    model = da.Model((0, 0, 0))
    model.add_body("ball", **da.sphere(1.0, 0.5).body(), angular_velocity=(1, 0, 0))
    shown = scene_of(da.simulate(model, 1.0))
    assert shown["floor"] == pytest.approx(-0.5, abs=5e-3)


@pytest.mark.parametrize("name", ["pendulum_3d", "four_bar", "tethered_chain"])
def test_what_is_held_by_the_ground_stands_on_the_floor(name):
    shown = scene(name)
    up = np.array(shown["up"])
    posts = [part for part in shown["ground"] if part["kind"] == "capsule"]
    lowest = [part["at"] @ up - part["size"][1] / 2 for part in posts]
    size = shown["scale"]
    assert min(lowest) == pytest.approx(shown["floor"], abs=1e-6 * size)
    plates = [part for part in shown["ground"] if part["kind"] == "cylinder"]
    feet = [part for part in plates if part["at"] @ up - part["size"][1] / 2 < shown["floor"] + 0.003 * size]
    assert len(feet) == sum(part["kind"] == "cone" for part in shown["ground"]), "each mount has a foot, or is one"


def test_shapes_of_the_gallery():
    (stone,) = scene("rattleback")["bodies"]
    assert [(part["kind"], part["size"]) for part in stone["parts"]] == [("ellipsoid", [0.2, 0.03, 0.02])]
    spheres = [part for part in scene("spin_top")["ground"] if part["kind"] == "sphere"]
    assert [part["size"] for part in spheres] == [[1.0]]
    ship = scene("towing_tank_ship")
    (water,) = (part for part in ship["ground"] if part["kind"] == "box")
    (hull,) = (part for part in ship["bodies"][0]["parts"] if part["kind"] == "ellipsoid")
    assert water["size"][0] > 2 * hull["size"][0] and water["at"][2] + water["size"][2] / 2 == pytest.approx(-0.2)
    parts = {body["name"]: body["parts"] for body in scene("bicycle")["bodies"]}
    assert len(parts["frame"]) > 8 and len(parts["fork"]) > 3
    (tyre,) = (part for part in parts["rear wheel"] if part["kind"] == "ring")
    assert sum(tyre["size"]) == pytest.approx(0.3) and len(parts["rear wheel"]) == 10  # and a hub and eight spokes


@pytest.mark.parametrize(
    ("name", "reached"),
    [("slider_crank", "AB"), ("four_bar", "ABCD"), ("planar_quadrangle", "ABCD"), ("andrews", "OFBGHA5A7E2E4E6")],
)
def test_shapes_made_for_a_mechanism_reach_its_joints(name, reached):
    """Within the thickness of a plate, a layer or a pin of the point on both bodies."""
    shown = scene(name, 0.01)
    model, look = gallery.build(name), {body["name"]: body["parts"] for body in shown["bodies"]}
    for joint in model.joints:
        for body, point in ((joint.first, joint.p_i), (joint.second, joint.p_j)):
            if body in look and joint.name in reached:
                assert min(part_gap(part, point) for part in look[body]) < 0.02 * shown["scale"], (joint.name, body)


def part_gap(part, point):
    """From a point to the box around a part of a page."""
    x, y, z, w = part["turn"]
    local = da.Rotation((w, x, y, z)).matrix.T @ (np.array(point) - part["at"])
    match part["kind"]:
        case "mesh":
            half = np.abs(np.frombuffer(base64.b64decode(part["triangles"]), "<f4").reshape(-1, 3)).max(axis=0)
        case "box":
            half = 0.5 * np.array(part["size"])
        case _:
            half = np.array([part["size"][0], part["size"][0], part["size"][1] / 2])
    return float(np.linalg.norm(np.maximum(np.abs(local) - half, 0.0)))


@pytest.mark.parametrize(
    ("gravity", "front", "right"), [((0, 0, -9.81), (0, -1, 0), (1, 0, 0)), ((0, -9.81, 0), (0, 0, 1), (1, 0, 0))]
)
def test_standard_views_have_names(gravity, front, right):
    """As the viewer's keys 1 to 3 have them; from above and from below the front is where the right is to the right."""
    up = -np.array(gravity) / 9.81
    sides = {"front": front, "right": right, "top": up}
    for (name, side), other in zip(sides.items(), ("back", "left", "bottom"), strict=True):
        np.testing.assert_allclose(standard_view(name, up), side, rtol=0, atol=1e-15)
        np.testing.assert_allclose(standard_view(other, up), -np.array(side), rtol=0, atol=1e-15)
    np.testing.assert_allclose(standard_view("iso", up) @ np.array(list(sides.values())).T, np.full(3, 3**-0.5), rtol=1e-12)
    for name in ("front", "top", "bottom"):
        look = framing(np.eye(3), up, 0.1, standard_view(name, up), up, 0.0)
        np.testing.assert_allclose(look.axes[0], right, rtol=0, atol=1e-12)


def test_the_camera_goes_along_with_what_rolls_away():
    """A bicycle that goes 9 m is as large at the end as at the start."""
    solution = da.simulate(gallery.build("bicycle"), 2.0)
    shown = scene_of(solution)
    assert shown["follow"] and shown["camera"]["radius"] < 3.0
    film = Film(solution, (320, 240))
    covered = []
    for picture in film.pictures(np.array([0.0, 2.0]), 1e-6):
        image = np.asarray(picture).astype(float)
        covered.append((np.ptp(image, axis=2) > 40).sum())  # coloured tubes; floor and rider are grey
    assert covered[0] > 800 and 0.7 < covered[1] / covered[0] < 1.4
    assert not scene("rolling_disc", 0.1)["follow"] and not scene("slider_crank")["follow"]


def test_a_gallery_run_with_user_functions_is_viewed_again(tmp_path):
    path = tmp_path / "robot.zarr"
    made = da.simulate(gallery.build("ball_robot"), 0.05, out=path)
    again = da.load(path)
    np.testing.assert_array_equal(again.x, made.x)
    assert again(0.02).x == pytest.approx(made(0.02).x, abs=1e-12)
    result = CliRunner().invoke(app, ["view", str(path), "--out", str(tmp_path / "robot.html")])
    assert result.exit_code == 0, result.output
    other = da.simulate(gallery.ball_robot(spin=2.0), 0.05)
    other.save(tmp_path / "other.zarr")
    with pytest.raises(da.StoreError, match="load\\(path, model="):
        da.load(tmp_path / "other.zarr")


def test_a_picture_of_an_instant(crank, andrews, tmp_path):
    crank.export_picture(tmp_path / "now.png", t=0.5, size=(200, 150), camera=(0, -1, 0))
    crank.export_picture(tmp_path / "start.png", size=(200, 150), camera=(0, -1, 0))
    now, start = (np.asarray(Image.open(tmp_path / f"{name}.png").convert("RGB")).astype(float) for name in ("now", "start"))
    assert now.shape == start.shape == (150, 200, 3)
    assert (np.abs(now - start).max(axis=2) > 40).mean() > 0.01
    crank.export_picture(tmp_path / "front.png", t=0.0, size=(200, 150), camera="front")
    assert (tmp_path / "front.png").read_bytes() == (tmp_path / "start.png").read_bytes()
    with pytest.raises(da.ModelError, match="no view 'frnt'; give one of front, back, left, right, top, bottom, iso, or"):
        crank.export_picture(tmp_path / "x.png", camera="frnt")
    for options, message in (
        ({"t": 9.0}, "give one of the run, t = 0 to 2 s"),
        ({"size": (1, 1)}, "size is 1"),
        ({"camera": (0, 0, 0)}, "camera"),
    ):
        with pytest.raises(da.ModelError, match=message):
            crank.export_picture(tmp_path / "no.png", **options)
    with pytest.raises(da.StoreError, match="no format of pictures"):
        crank.export_picture(tmp_path / "no.jpg")
    result = CliRunner().invoke(app, ["export", str(andrews), str(tmp_path / "a.png"), "--size", "80x60", "--at", "0.01"])
    assert result.exit_code == 0, result.output
    assert Image.open(tmp_path / "a.png").size == (80, 60)
    assert not (tmp_path / "no.png").exists()


def test_a_picture_of_the_start_shows_the_paths_ahead():
    """A bob that goes half around: its path is on the circle, nearer to the bob the stronger."""
    model = da.Model((0, 0, 0))
    model.add_point_mass("bob", mass=1.0, position=(1, 0, 0), velocity=(0, np.pi, 0))
    model.add_distance("rod", model.ground, "bob", points=((0, 0, 0), (0, 0, 0)))
    film = Film(da.simulate(model, 1.0), (300, 300), np.array([0.0, 0.0, 1.0]))
    ahead, none = (np.asarray(next(film.pictures(np.array([0.0]), m))).astype(float) for m in (-1.2, 1e-9))
    strength = []
    for angle in (0.5, 1.5, 2.5):  # the run ends at 3.1
        x, y = film.camera.seen(np.array([np.cos(angle), np.sin(angle), 0.0]))[0] / 2
        strength.append(np.abs(ahead - none)[round(y) - 1 : round(y) + 2, round(x) - 1 : round(x) + 2].max())
    assert strength[0] > strength[1] > strength[2] > 10


def test_joints_are_the_same_parts_in_pages_and_in_pictures(crank):
    """And they are where the joint is: in the middle of the parts of its first body there is the point of the joint."""
    shown, model, film = scene_of(crank), crank.mechanism.model, Film(crank, (80, 60))
    tags = {joint.name: f"joint {k}" for k, joint in enumerate(model.joints)}
    parts = {name: [f for f in shown["fittings"] if f["tag"] == tag] for name, tag in tags.items()}
    kinds = {name: sorted(f["part"]["kind"] for f in its) for name, its in parts.items()}
    assert kinds["A"] == ["cylinder", "cylinder", "cylinder", "ring"]
    assert kinds["B"] == ["sphere"] and kinds["D"] == ["box"] * 4
    pin = next(f for f in parts["A"] if f["part"]["kind"] == "cylinder")
    hinge = model.joint("A")
    assert pin["body"] == -1 and np.allclose(pin["part"]["at"], hinge.p_i)
    x, y, z, w = pin["part"]["turn"]
    assert np.allclose(da.Rotation((w, x, y, z)).apply((0, 0, 1)), hinge.E_i[:, 2])
    drawn = [(f["body"], f["part"]["at"]) for f in shown["fittings"]]
    assert sum(len(body["parts"]) for body in shown["bodies"]) + len(shown["ground"]) + len(drawn) == len(film.surfaces)
    for (body, at), surface in zip(drawn, film.surfaces[-len(drawn) :], strict=True):
        middle = 0.5 * (surface.faces.min((0, 1)) + surface.faces.max((0, 1)))
        assert surface.body == body and middle == pytest.approx(at, abs=3e-4 * shown["scale"])  # rails: ways between samples


def test_bars_have_eyes_where_they_turn_on_pins():
    found = scene("n_four_bar")
    for body in found["bodies"]:
        bar, *eyes = body["parts"]
        assert len(eyes) == sum(body["name"] in (joint.first, joint.second) for joint in gallery.build("n_four_bar").joints)
        assert all(eye["kind"] == "cylinder" and eye["size"][0] > bar["size"][0] for eye in eyes)


def test_a_ring_looks_outwards():
    faces = faces_of(Part("ring", (1.0, 0.1)))
    middle = faces.mean(axis=1)
    core = middle * [1, 1, 0] / np.linalg.norm(middle[:, :2], axis=1)[:, None]
    normal = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1])
    assert (np.sum(normal * (middle - core), axis=1) > 0).all()
    assert np.abs(faces).max(axis=(0, 1)) == pytest.approx(Part("ring", (1.0, 0.1)).half)


def test_cables_and_rods_are_straight_and_plates_are_seen_through():
    model = da.Model(name="Atwood's machine on a plane")
    model.add_point_mass("a", mass=1.0, position=(0, 0, -1))
    model.add_point_mass("b", mass=3.0, position=(1, 0, -1))
    model.add_point_mass("c", mass=1.0, position=(1, 0, -1.5))
    model.add_cable("rope", [("a", (0, 0, 0)), ("ground", (0, 0, 0)), ("ground", (1, 0, 0)), ("b", (0, 0, 0))])
    model.add_distance("rod", "b", "c", points=((0, 0, 0), (0, 0, 0)))
    model.add_point_on_plane("wall", model.ground, "a", point=(0, 0, -1), axis=(0, 1, 0))
    run = da.simulate(model, 0.1)
    shown = scene_of(run)
    assert [(line["tag"], line["kind"]) for line in shown["lines"]] == [("joint 0", "cable")] * 3 + [("joint 1", "rod")]
    assert [f["part"]["kind"] for f in shown["fittings"] if f["part"].get("clear")] == ["box"]
    film = Film(run, (400, 300), np.array([0.0, -1.0, 0.0]))
    lines, pictures = film.lines, []
    for film.lines in (lines, lines[:3], lines[3:]):
        pictures.append(np.asarray(next(film.pictures(np.array([0.0]), 0.1))).astype(float))
    whole, *less = pictures
    middles = ((1.0, 0.0, -1.25), (0.5, 0.0, 0.0))  # of the rod, of the rope between its eyes
    for k, middle in enumerate(middles):
        column, row = np.round(film.camera.seen(np.array(middle))[0] / 2).astype(int)
        changed = [np.abs(whole - other)[row - 2 : row + 3, column - 2 : column + 3].max() > 30 for other in less]
        assert changed == [j == k for j in range(2)], "a line is drawn where it is, and only there"


@pytest.mark.parametrize(
    ("does", "kinds"),
    [
        ({"stiffness": 300.0}, ["spring"]),
        ({"damping": 5.0}, ["pot", "piston"]),
        ({"damping": da.Table((-1.0, 1.0), (-5.0, 5.0))}, ["pot", "piston"]),
        ({"stiffness": 300.0, "damping": 5.0}, ["spring", "pot", "piston"]),
    ],
)
def test_what_damps_is_a_dashpot(does, kinds):
    """Between points and along rails; the pot keeps its length while the piston's rod comes out of it."""
    model = da.Model(plane="xz")
    for x, name in enumerate(("free", "guided")[: 1 if isinstance(does.get("damping"), da.Table) else 2]):
        box = {"type": "box", "size": (0.2, 0.1, 0.1)}
        model.add_body(name, mass=1.0, inertia=0.01, position=(x, -0.5), velocity=(0, -1), shape=box)
        if name == "free":
            model.add_spring_damper("strut", "ground", name, between=((x, 0), (x, -0.45)), **does)
        else:
            model.add_prismatic("rail", "ground", name, point=(x, -0.5), axis=(0, 1))
            model.add_joint_spring_damper("brake", "rail", **does)
    run = da.simulate(model, 0.2)
    shown = scene_of(run)
    for k in range(len(model.forces)):
        assert [line["kind"] for line in shown["lines"] if line["tag"] == f"force {k}"] == kinds
    if "pot" in kinds:
        film = Film(run, (400, 300), np.array([0.0, -1.0, 0.0]))
        pot = next(line for line, *_ in film.lines if line.kind == "pot")
        least, most = (abs(end - 0.05) for end in run.position("free")[[0, -1], 2])
        assert 0.4 * most < pot.reach < least < most
        assert next(line for line in shown["lines"] if line["kind"] == "pot")["reach"] == pytest.approx(pot.reach, rel=1e-2)
        for t in (0.0, 0.2):
            image = np.asarray(next(film.pictures(np.array([t]), 1e-6))).astype(float)

            def width(z, image=image, film=film):
                """Of what is dark at a height [px]."""
                column, row = np.round(film.camera.seen(np.array([0.0, 0.0, z]))[0] / 2).astype(int)
                return int((image[row, column - 15 : column + 16].max(axis=1) < 190).sum())

            assert width(0.03 - pot.reach) > 1.4 * width(-0.03 - pot.reach) > 0


def test_what_damps_a_ball_joint_is_a_ring_about_it():
    """Beside the joint it would hide short links."""
    run = da.simulate(gallery.build("tethered_chain"), 0.01)
    tags = {f"force {k}": force for k, force in enumerate(run.mechanism.model.forces) if getattr(force, "joint", "")}
    rings = [fitting for fitting in stage_of(run).fittings if fitting.tag in tags]
    assert len(rings) == len(tags) and {ring.part.kind for ring in rings} == {"ring"}
    for ring in rings:
        np.testing.assert_array_equal(ring.part.at, run.mechanism.model.joint(tags[ring.tag].joint).p_i)


def test_pictures_are_seen_through_where_pages_are():
    """Opacity 0.4 over what is behind, the nearer pane over the farther one, nothing over what stands before it."""
    panes = [
        {"type": "box", "size": (2, 0.02, 2), "position": (0, y, 0), "colour": c, "fixed": True, "clear": True}
        for y, c in ((-0.8, "#00ff00"), (-0.4, "#0000ff"), (0.9, "#ff00ff"))
    ]
    model = da.Model((0, 0, 0))
    ball = {"type": "sphere", "radius": 0.3, "colour": "#ff0000"}
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1), shape={"type": "compound", "parts": [*panes, ball]})
    film = Film(da.simulate(model, 0.1), (200, 150), np.array([0.0, -1.0, 0.0]))
    surfaces, seen = film.surfaces, []
    green, blue, pink = (surface for surface in surfaces if surface.clear)
    for behind in ([], [blue], [green], [pink], [pink, blue, green]):
        film.surfaces = [surface for surface in surfaces if not surface.clear] + behind
        seen.append(np.asarray(next(film.pictures(np.array([0.0]), 0.1)))[75, 100].astype(float))
    bare, with_blue, with_green, with_pink, with_all = seen
    assert bare[0] > 150 and (with_pink == bare).all(), "the ball hides what is behind it"
    near, far = ((with_one - 0.6 * bare) / 0.4 for with_one in (with_green, with_blue))
    assert near[1] > 120 and far[2] > 120 and max(near[0], near[2], far[0], far[1]) < 5
    assert with_all == pytest.approx(0.6 * (0.6 * bare + 0.4 * far) + 0.4 * near, abs=3)


def test_large_cylinders_are_smooth_and_their_sides_of_one_colour():
    """A wheel seen from its side: no bands of facets, no edge between light and dark quarters."""
    model = da.Model((0, 0, 0))
    wheel = da.cylinder(1.0, 0.4, 0.3, axis="x").body()
    model.add_body("wheel", **wheel, angular_velocity=(1e-3, 0, 0))
    film = Film(da.simulate(model, 0.1), (400, 400), np.array([0.0, -1.0, 0.0]))
    image = np.asarray(next(film.pictures(np.array([0.0]), 1e-6))).astype(float)
    ends, _ = film.camera.seen(np.array([[0.1, -0.3, 0.26], [0.1, -0.3, -0.26]]))
    (column, high), (_, low) = (np.round(ends / 2)).astype(int)
    shades = image[high:low, column]
    assert np.ptp(shades) > 40 and np.abs(np.diff(shades, axis=0)).max() <= 4
