"""What the page is given, checked without a browser."""

import base64
import json
import re

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import GALLERY
from dalembert.model.joints import type_of
from dalembert.model.mesh import read_mesh
from dalembert.model.shapes import box, cylinder, sphere
from dalembert.results.sampling import filled, thinned
from dalembert.results.signal_names import ENERGIES, signals_of
from dalembert.results.signals import signal
from dalembert.viewer import bundle, view
from dalembert.viewer.channels import groups
from dalembert.viewer.frames import poses, rates_of
from dalembert.viewer.page import page_of
from dalembert.viewer.parts import equivalent_solid, given_parts, picture_of
from dalembert.viewer.scene import scene_of
from dalembert.viewer.surfaces import faces_of

SMALL = ("slider_crank", "four_bar", "chain", "mobile", "symmetric_top", "tethered_chain", "flyball_governor")


def decoded(text, kind="<f4"):
    return np.frombuffer(base64.b64decode(text), kind)


def body_of(**options):
    return da.Model().add_body("body", **{"mass": 1.0, "inertia": (1, 1, 1), **options})


def test_frames_hold_the_saved_states(crank):
    scene = scene_of(crank)
    times = decoded(scene["times"], "<f8")
    frames = decoded(scene["poses"]).reshape(len(times), 3, 7)
    saved = np.flatnonzero(np.isin(times, crank.t))
    states = np.searchsorted(crank.t, times[saved])
    assert len(saved) > 150
    assert times[0] == 0 and times[-1] == crank.t[-1]
    assert np.diff(times).max() <= 1 / 50 + 1e-12
    for b, name in enumerate(("crank", "rod", "slider")):
        assert np.abs(frames[saved, b, :3] - crank.position(name)[states]).max() < 1e-7  # float32
        aligned = np.sum(frames[saved, b, 3:] * np.roll(crank.quaternion(name)[states], -1, axis=1), axis=1)
        assert np.abs(aligned) == pytest.approx(1.0, abs=1e-6)


def test_frames_between_saved_states_are_on_the_motion():
    """Cubic Hermite interpolation: errors fall as h^4, against the integrator's own dense output."""
    errors = []
    for n in (81, 161):
        solution = da.simulate(GALLERY["slider_crank"].build(), 1.0, save_at=np.linspace(0, 1, n))
        times = filled(solution.t, 1000.0 * solution.t)
        exact, found = solution(times), poses(solution, times)
        assert np.linalg.norm(found[:, :, 3:], axis=2) == pytest.approx(1.0, abs=1e-12)
        aligned = np.sum(found[:, 1, 3:] * np.roll(exact.quaternion("rod"), -1, axis=1), axis=1)
        errors.append((np.abs(found[:, 1, :3] - exact.position("rod")).max(), 2 * np.sqrt(2 - 2 * np.abs(aligned).min())))
    coarse, fine = np.array(errors)
    assert np.log2(coarse / fine) == pytest.approx(4.0, abs=0.4)
    assert fine[0] < 1e-6  # m, on a mechanism of 0.3 m


def test_channels_are_the_solutions(crank):
    scene = scene_of(crank)
    times = decoded(scene["channel_times"], "<f8")
    assert np.array_equal(times, decoded(scene["times"], "<f8")), "curves are as dense as the motion"
    saved = np.isin(times, crank.t)
    states = np.searchsorted(crank.t, times[saved])
    groups = {group["name"]: {s["name"]: decoded(s["values"])[saved] for s in group["series"]} for group in scene["groups"]}
    assert groups["energy"]["kinetic T"] == pytest.approx(crank.energy.kinetic[states], rel=1e-6)
    assert groups["constraint drift"]["position drift"] == pytest.approx(crank.drift.position[states], rel=1e-5)
    assert groups["angle of A"]["angle of A"] == pytest.approx(crank.coordinate("A")[states], rel=1e-6)
    forces = decoded(scene["reactions"]).reshape(len(times), 4, 3)[saved]
    assert forces[:, 1] == pytest.approx(crank.reaction("B").force[states], rel=1e-5, abs=1e-5)
    assert scene["turning"] == [0, 2, 3]  # a ball joint has no torque
    torques = decoded(scene["torques"]).reshape(len(times), 3, 3)[saved]
    assert torques[:, 2] == pytest.approx(crank.reaction("D").torque[states], rel=1e-5, abs=1e-5)
    assert [line["name"] for line in scene["report"]["lines"]] == [line.name for line in crank.report().lines]


def test_energies_are_named_as_in_the_figures(crank):
    model = GALLERY["pendulum_3d"].build()
    model.add_force("push", model.bodies[0], (0.0, 1.0, 0.0))
    for solution, last in ((crank, ["total T + U"]), (da.simulate(model, 0.2), ["external work W", "balance T + U − W"])):
        energies = scene_of(solution)["groups"][0]["series"]
        assert [series["name"] for series in energies] == ["kinetic T", "potential U", *last]
        assert decoded(energies[-1]["values"])[-1] == pytest.approx(solution.energy.total[-1], rel=1e-6)
        shown = solution.plot.energy().axes[0].get_legend_handles_labels()[1]
        assert shown == [series["name"] for series in energies]


def test_a_run_from_a_file_has_its_name(crank, tmp_path):
    assert scene_of(crank)["file"] == ""
    crank.save(tmp_path / "crank.zarr")
    assert scene_of(da.load(tmp_path / "crank.zarr"))["file"] == "crank.zarr"


@pytest.mark.parametrize("name", SMALL)
def test_every_body_and_joint_has_a_picture_within_the_camera(name):
    solution = da.simulate(GALLERY[name].build(), 0.2)
    scene = scene_of(solution)
    json.dumps(scene, allow_nan=False)
    assert all(body["parts"] for body in scene["bodies"])
    drawn = {entry["tag"] for entry in (*scene["lines"], *scene["fittings"])}
    pointed = [k for k, j in enumerate(solution.mechanism.model.joints) if type_of(j).has_point and not type_of(j).form]
    assert {f"joint {k}" for k in pointed} <= drawn
    target, radius = np.array(scene["camera"]["target"]), scene["camera"]["radius"]
    for body in solution.mechanism.body_names:
        assert np.linalg.norm(solution.position(body) - target, axis=1).max() < radius
        assert (solution.position(body) @ scene["up"]).min() > scene["floor"]
    assert np.linalg.norm(scene["camera"]["direction"]) == pytest.approx(1.0)


def test_mechanisms_in_a_plane_are_seen_straight():
    """So that lengths and angles look true; what is deep along its hinges is seen from its broad side."""

    def off(model, normal):
        camera = scene_of(da.simulate(model, 0.05))["camera"]["direction"]
        return np.degrees(np.arccos(normal @ np.array(camera)))

    def rod(axis, **options):
        model = da.Model(**options)
        model.add_link("rod", (0, 0, 0), (1, 0, 0), mass=1.0)
        model.add_revolute("A", "ground", "rod", point=(0, 0, 0), axis=axis)
        model.add_torque("turn", "rod", axis)
        return model

    front = np.array([0.0, -1.0, 0.0])
    assert off(rod((0, 1, 0)), front) < 1e-6
    assert off(rod((0, 1, 0), plane="xz"), front) < 1e-6
    assert scene_of(da.simulate(rod((0, 1, 0)), 0.05))["camera"]["direction"][0] == pytest.approx(0.0, abs=1e-15)
    assert 0 < off(rod((0, 0, 1)), np.array([0.0, 0.0, 1.0])) < 0.01  # from above, and the camera knows what is upright
    assert 0 < off(GALLERY["andrews"].build(), np.array([0.0, 0.0, 1.0])) < 0.01
    deep = rod((0, 1, 0))
    deep.add_body("shaft", **da.cylinder(1.0, 0.1, 3.0, axis="y").body())
    deep.add_revolute("B", "rod", "shaft", point=(1, 0, 0), axis=(0, 1, 0))
    assert off(deep, front) > 25
    assert off(rod((0, 1, 1)), np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0)) < 1e-5  # from where it faces up


@pytest.mark.parametrize("formless", [False, True])
def test_slot_of_a_lever_is_seen_as_part_of_it(formless):
    """Its rail is a darker tone of the lever's colour, thinner than the lever; a lever without a shape lies along the slot."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0.3), (0.1, 0.3), mass=0.2)
    if formless:
        model.add_body("lever", mass=0.5, inertia=0.01, position=(0.08, 0.24))
    else:
        model.add_link("lever", (0, 0), (0.16, 0.48), mass=0.5)
    model.add_body("block", **box(0.05, (0.03, 0.03, 0.03)).body(), position=(0.1, 0.3))
    model.add_revolute("O", "ground", "crank", point=(0, 0.3))
    model.add_revolute("Q", "ground", "lever", point=(0, 0))
    model.add_revolute("P", "crank", "block", point=(0.1, 0.3))
    slot = model.add_prismatic("slot", "lever", "block", point=(0.1, 0.3), axis=(1, 3))
    model.add_driver("motor", "O", da.Polynomial((0.0, 6.0)))
    scene = scene_of(da.simulate(model, 0.5))
    _, lever, _ = scene["bodies"]
    rail = [entry["part"] for entry in scene["fittings"] if entry["tag"] == "joint 3" and entry["body"] == 1]
    tones = {tuple(bytes.fromhex(part["colour"][1:])) for part in rail}
    assert len(rail) == 3 and tones == {tuple(int(0.7 * level) for level in bytes.fromhex(lever["colour"][1:]))}
    bars = [
        part for part in lever["parts"] if part["kind"] in ("capsule", "cylinder") and part["size"][1] > 6 * part["size"][0]
    ]
    assert bars and all(part["kind"] != "box" for part in lever["parts"])
    assert 0.5 * max(part["size"][0] for part in rail if part["size"][2] > 0.1) < bars[0]["size"][0]
    for part in bars:
        along = da.Rotation(np.roll(part["turn"], 1)).apply((0, 0, 1))
        assert abs(along @ slot.E_i[:, 2]) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", ["Impulse", "Soft", "MovingFrame", "Minimal"])
def test_runs_of_every_formulation_can_be_shown(kind):
    formulation = getattr(da, kind)()
    options = {"integrator": da.RungeKutta4(step=0.005)} if kind in ("Impulse", "Soft") else {}
    solution = da.simulate(GALLERY["pendulum_3d"].build(), 0.2, formulation=formulation, **options)
    scene = scene_of(solution)
    assert len(decoded(scene["times"], "<f8")) >= 10
    assert np.isfinite(decoded(scene["groups"][0]["series"][0]["values"])).all()


@pytest.mark.parametrize("solid", [box(2.0, (0.3, 0.2, 0.1)), cylinder(1.5, 0.1, 0.6, "x"), cylinder(1.5, 0.4, 0.05, "y")])
def test_equivalent_solid_has_the_bodys_inertia(solid):
    """The picture is the very solid that the inertia came from, whatever its axes."""
    turn = da.Rotation.from_rpy(0.3, -0.7, 1.1).matrix
    body = body_of(mass=solid.mass, inertia=turn @ np.diag(solid.inertia) @ turn.T)
    part = equivalent_solid(body, 1e-6)
    again = box(solid.mass, part.size) if part.kind == "box" else cylinder(solid.mass, *part.size)
    assert part.matrix @ np.diag(again.inertia) @ part.matrix.T == pytest.approx(body.inertia, abs=1e-9)


def test_body_without_shape_gets_links_to_its_joints():
    body = body_of()
    straight = picture_of(body, [np.array([0.5, 0, 0]), np.array([-0.5, 0, 0])], 1.0)
    assert [part.kind for part in straight.parts] == ["capsule"]
    assert straight.parts[0].size[1] == pytest.approx(1.0 + 2 * straight.parts[0].size[0])
    bent = picture_of(body, [np.array([0.5, 0, 0]), np.array([0, 0.5, 0])], 1.0)
    assert [part.kind for part in bent.parts] == ["capsule", "capsule"]
    hanging = picture_of(body, [np.array([0, 0, 0.5])], 1.0)
    assert [part.kind for part in hanging.parts] == ["capsule", "box"]


def test_shape_that_does_not_reach_a_joint_gets_a_stem():
    body = body_of(**sphere(1.0, 0.1).body())
    assert [part.kind for part in picture_of(body, [np.array([0, 0, 0.1])], 1.0).parts] == ["sphere"]
    assert [part.kind for part in picture_of(body, [np.array([0, 0, 0.3])], 1.0).parts] == ["sphere", "capsule"]


def test_placed_and_compound_shapes():
    inner = {"type": "cylinder", "radius": 0.1, "length": 0.4, "axis": "x", "position": (0, 0, 0.5)}
    turned = {"type": "compound", "parts": [inner], "rotation": da.Rotation.from_axis_angle((1, 0, 0), np.pi / 2).quaternion}
    (part,) = given_parts("body", turned, 1.0)
    assert part.at == pytest.approx((0, -0.5, 0), abs=1e-12)
    assert part.matrix[:, 2] == pytest.approx((1, 0, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"type": "mesh", "file": "part.step"}, "'.step' is no mesh format; give one of .stl, .obj"),
        ({"type": "mesh", "file": "nowhere.stl"}, "cannot be read"),
    ],
)
def test_mesh_files_that_make_no_sense(shape, message):
    with pytest.raises(da.ModelError, match=re.escape(message)):
        given_parts("b", shape, 1.0)


def test_mesh_files(tmp_path):
    """The same tetrahedron from text STL, binary STL and OBJ."""
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)], dtype=float)
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    triangles = points[np.array(faces)]
    corners = "\n".join("outer loop\n" + "\n".join(f"vertex {x} {y} {z}" for x, y, z in t) + "\nendloop" for t in triangles)
    (tmp_path / "text.stl").write_text(f"solid s\n{corners}\nendsolid s\n")
    record = b"".join(np.concatenate([np.zeros(3), t.ravel()]).astype("<f4").tobytes() + b"\0\0" for t in triangles)
    (tmp_path / "binary.stl").write_bytes(b"solid".ljust(80) + len(faces).to_bytes(4, "little") + record)
    lines = [f"v {x} {y} {z}" for x, y, z in points] + [f"f {a + 1}/1 {b + 1} {c - 4}" for a, b, c in faces]
    (tmp_path / "part.obj").write_text("\n".join(lines))
    for name in ("text.stl", "binary.stl", "part.obj"):
        assert np.array_equal(read_mesh("body", str(tmp_path / name)).triangles, triangles.astype(np.float32)), name
    (tmp_path / "empty.stl").write_text("solid s\nendsolid s\n")
    with pytest.raises(da.ModelError, match="0 triangles"):
        read_mesh("body", str(tmp_path / "empty.stl"))


def test_surfaces_are_closed_and_look_outwards():
    """Volume by the divergence theorem; round ones are polygons, so they hold a little less; edges of boxes are rounded unless
    they have a colour of their own."""
    for shape, volume in (
        ({"type": "box", "size": (0.1, 0.2, 1.5), "colour": "red"}, 0.03),
        ({"type": "box", "size": (0.1, 0.2, 1.5)}, 0.03),
        ({"type": "cylinder", "radius": 0.1, "length": 2.0}, np.pi * 0.02),
        ({"type": "sphere", "radius": 0.5}, np.pi / 6),
        ({"type": "plate", "points": [(1, 2, 0), (1, 2, 3)], "radius": 0.5, "thickness": 0.1, "axis": "x"}, 0.3 + np.pi / 40),
    ):
        (part,) = given_parts("b", shape, 1.0)
        a, b, c, d = np.moveaxis(faces_of(part), 1, 0)
        found = (np.sum(a * np.cross(b, c)) + np.sum(a * np.cross(c, d))) / 6
        assert found == pytest.approx(volume, rel=1e-12 if "colour" in shape else 0.08)
        assert found < volume * (1 + 1e-12)


def test_times_are_thinned_and_filled():
    dense = np.linspace(0, 1, 10_001)
    kept = dense[thinned(dense, 100.0)]
    assert kept[0] == 0 and kept[-1] == 1 and 100 <= len(kept) <= 102
    sparse = np.array([0.0, 0.5, 0.505, 1.0])
    times = filled(sparse, 50.0 * sparse)
    assert set(sparse) <= set(times) and np.diff(times).max() <= 0.02 + 1e-12 and np.all(np.diff(times) > 0)
    assert rates_of(10.0, 837).usual == 50.0
    assert rates_of(1e-3, 30).usual == 300_000.0
    assert rates_of(1e5, 837).most * 1e5 * 837 <= 1_500_001


def test_states_that_are_not_finite_are_left_out(crank):
    x = crank.x.copy()
    x[50:] = np.nan
    broken = da.Solution(crank.mechanism, crank.t, x, settings=crank.settings, status="failed")
    assert decoded(scene_of(broken)["times"], "<f8")[-1] == crank.t[49]
    x[:] = np.nan
    with pytest.raises(da.SimulationError, match="nothing to view"):
        scene_of(da.Solution(crank.mechanism, crank.t, x, settings=crank.settings, status="failed"))


def test_no_name_can_break_out_of_the_page():
    model = da.Model(name="</script><script>alert(1)</script>")
    model.add_body("<img src=x onerror=alert(1)>", **sphere(1.0, 0.1).body())
    page = page_of([da.simulate(model, 0.1)])
    assert page.count("</script>") == 2
    assert "<script>alert" not in page and "<img" not in page


def test_notebook_shows_the_page_in_place_and_elsewhere_a_browser_opens(crank, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(view.webbrowser, "open", lambda url: opened.append(url) or True)
    monkeypatch.setattr(view.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    shown = crank.view()
    assert opened == [(tmp_path / "view.html").as_uri()]
    assert shown.path.read_text(encoding="utf-8") == shown.page
    monkeypatch.setattr(view, "_in_notebook", lambda: True)
    inside = crank.view()
    assert inside.path is None and len(opened) == 1
    assert inside._repr_html_().startswith("<iframe") and "srcdoc=" in inside._repr_html_()


def test_viewer_that_was_not_built_says_why(crank, monkeypatch, tmp_path):
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    (tmp_path / "problem.txt").write_text("npm ci failed (E404)\n")
    with pytest.raises(da.ViewerError, match=r"the viewer was not built: npm ci failed \(E404\); install dalembert again"):
        crank.export_html(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_body_with_a_bad_shape_is_named():
    """When it is given, not when somebody looks at it."""
    with pytest.raises(da.ModelError, match="body 'slider': there is no shape 'teapot'"):
        da.Model(name="bad").add_body("slider", mass=1.0, inertia=(1, 1, 1), shape={"type": "teapot"})


def test_pages_plot_what_is_driven_and_by_how_much():
    """First what a driver moves that turns steadily, or what it drives; then its torque, which has its unit; without a driver
    as many coordinates as there are free ones, and their rates. One unit in each."""
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.3)
    model.add_link("coupler", (0, 0.1), (0.35, 0.25), mass=0.6)
    model.add_link("rocker", (0.35, 0.25), (0.4, 0), mass=0.5)
    for name, first, second, point in (
        ("A", "ground", "crank", (0, 0)),
        ("B", "crank", "coupler", (0, 0.1)),
        ("C", "coupler", "rocker", (0.35, 0.25)),
        ("D", "rocker", "ground", (0.4, 0)),
    ):
        model.add_revolute(name, first, second, point=point)
    free = da.simulate(model, 0.2)
    assert scene_of(free)["plots"] == [["angle of A"], ["rate of angle of A"], ["change of energy"]]
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    run = da.simulate(model, 0.2)
    assert scene_of(run)["plots"] == [["angle of D"], ["torque of motor"], ["change of energy"]]
    swung = model.copy()
    swung.remove("motor")
    swung.add_driver("motor", "A", da.Harmonic(0.3, 6.0))
    assert scene_of(da.simulate(swung, 0.2))["plots"][0] == ["angle of A"]
    found = {group["name"]: group for group in groups(run)}
    assert found["torque of motor"]["unit"] == "N m" and found["torque of motor"]["series"][0][0] == "torque of motor"
    np.testing.assert_allclose(found["power of motor"]["series"][0][1], 6.0 * run.effort("motor").value, atol=1e-9)


def test_curves_of_a_page_are_called_as_signals_are():
    """Label and unit as in `dalembert plot time`, of every signal that a page has: one name for one thing."""
    model = da.Model(name="words", plane="xz")
    model.add_body("arm", mass=1.0, inertia=0.1)
    model.add_revolute("hinge", "ground", "arm", point=(-0.5, 0))
    model.add_link("rod", (0.5, 0), (1.0, 0.2), mass=0.5)
    model.add_revolute("knee", "arm", "rod", point=(0.5, 0))
    model.add_driver("motor", "hinge", da.Harmonic(0.3, omega=4.0))
    model.add_spring_damper("rope", "ground", "rod", between=((2, 0), (1.0, 0.2)), stiffness=30.0, length=0.5)
    model.add_force("push", "rod", (3.0, 0))
    model.add_marker("tip", "rod", point=(1.0, 0.2))
    spatial = GALLERY["crank_mechanism"].build()
    for run in (da.simulate(model, 0.1), da.simulate(spatial, 0.1)):
        scene = scene_of(run)
        drawn = {name: plot["unit"] for plot in scene["vectors"] for name in plot["series"]}
        drawn |= {series["name"]: plot["unit"] for plot in scene["groups"] for series in plot["series"]}
        known = 0
        for name in signals_of(run.mechanism.model):
            if name in ENERGIES or re.search(r"\.a[xyz]?$|\.acceleration$|\.w[xyz]\.rate$", name):
                continue  # energies have the names of their figure; accelerations are in no page
            item = signal(run, name)
            known += item.label in drawn
            assert drawn.get(item.label) == item.unit or np.abs(item.values).max() < 1e-12, name  # only pushes: no torque
        assert known > 50
        assert len(drawn) == sum(len(plot["series"]) for plot in (*scene["vectors"], *scene["groups"])), "each name once"
