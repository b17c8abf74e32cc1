"""Room for what is looked at: nothing of the page over it, no floor, post or table through it, nothing too thin to be seen."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

import dalembert as da
from dalembert.gallery.chain import chain
from dalembert.viewer.raster import Camera
from dalembert.viewer.scene import scene_of
from dalembert.viewer.stage import stage_of


def arm(**start):
    model = da.Model(name="arm", plane="xz")
    model.add_link("upper", (0, 0), (0.4, 0), mass=1.0)
    model.add_link("fore", (0.4, 0), (0.4, -0.3), mass=0.5)
    model.add_revolute("S", "ground", "upper", point=(0, 0), **start)
    model.add_revolute("E", "upper", "fore", point=(0.4, 0))
    model.add_driver("drive", "S", da.SmoothStep(0, np.pi / 2, 0, 1))
    model.add_joint_spring_damper("spring", "E", stiffness=2.0, damping=0.05)
    return model


def opened(open_tab, path, *runs):
    runs[0].export_html(path, **({"compare": runs[1]} if len(runs) > 1 else {}))
    tab = open_tab(path)
    tab.page.set_viewport_size({"width": 1400, "height": 900})
    tab.do("viewer.scrub(0.4)")
    tab.wait("viewer.settled()")
    return tab


def rail_ends(run):
    """In the world."""
    number = [joint.type for joint in run.mechanism.model.joints].index("prismatic")
    parts = [f.part for f in stage_of(run).fittings if f.tag == f"joint {number}" and f.body == "ground"]
    return [part.at + side * part.half[2] * part.matrix[:, 2] for part in parts for side in (-1, 1)]


def is_on_top(tab, point, half=0.0):
    """Whether the picture is at a point of the world, and no card of the page; half : of its width, to the right"""
    x, y = tab.do(f"viewer.project(...{point.tolist()})")
    shift = half * tab.page.locator("canvas").first.bounding_box()["width"]
    return tab.do(f"document.elementFromPoint({x + shift}, {y})?.tagName") == "CANVAS"


def test_no_card_is_over_the_mechanism(open_tab, tmp_path):
    run = da.simulate(da.gallery.build("slider_crank"), 2.0)
    tab = opened(open_tab, tmp_path / "run.html", run)
    assert all(is_on_top(tab, end) for end in rail_ends(run))
    boxes = {name: tab.page.locator(f".{name}").bounding_box() for name in ("triad", "transport")}
    assert boxes["transport"]["x"] + boxes["transport"]["width"] < boxes["triad"]["x"]


def slider(crank, rod):
    model = da.Model(name="feed", plane="xz")
    model.add_link("crank", (0, 0), (0, crank), mass=0.5)
    model.add_link("rod", (0, crank), (rod, 0), mass=0.8)
    model.add_body("ram", **da.box(2.0, (0.06, 0.06, 0.06)).body(), position=(rod, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, crank))
    model.add_revolute("C", "rod", "ram", point=(rod, 0))
    model.add_prismatic("D", "ground", "ram", point=(rod, 0), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 2 * np.pi)))
    return da.simulate(model, 1.0)


def test_both_runs_are_clear_of_the_buttons(open_tab, tmp_path):
    runs = slider(0.02, 0.3), slider(0.14, 0.5)
    tab = opened(open_tab, tmp_path / "two.html", *runs)
    assert all(is_on_top(tab, end) for run in runs for end in rail_ends(run))
    tab.page.keyboard.press("b")
    tab.wait("viewer.settled()")
    assert all(is_on_top(tab, end, 0.5 * k) for k, run in enumerate(runs) for end in rail_ends(run))


def test_the_legend_is_beside_the_title(open_tab, tmp_path):
    """Below it, it would be over the picture, which begins 105 px below the edge."""
    tab = opened(open_tab, tmp_path / "run.html", da.simulate(arm(), 1.0))
    for key in "fmn":
        tab.page.keyboard.press(key)
    title, legend = (tab.page.locator(f".{name}").bounding_box() for name in ("title", "key"))
    assert title["x"] + title["width"] < legend["x"] and legend["y"] + legend["height"] < 105
    assert title["height"] < 75, "as before"


def pixels(tab):
    tab.wait("viewer.settled()")
    data = base64.b64decode(tab.do("viewer.picture()").split(",")[1])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(float)


def test_the_supports_of_what_is_hidden_are_hidden(open_tab, tmp_path):
    """They are those of a joint; a click on them tells which, and looking at it does not make them fill the picture."""
    run = da.simulate(arm(), 1.0)
    stage = stage_of(run)
    assert set(stage.holds) == {"joint 0", ""} and stage.holds.count("") == 1, "the floor"
    post = next(part for part, tag in zip(stage.ground, stage.holds, strict=True) if tag and part.kind == "capsule")
    tab = opened(open_tab, tmp_path / "run.html", run)
    x, y = (round(c) for c in tab.do(f"viewer.project(...{post.at.tolist()})"))
    with_post = pixels(tab)[y, x]
    tab.page.mouse.click(x, y)
    assert tab.state["chosen"] == "S"
    tab.page.keyboard.press("h")
    tab.do("viewer.scrub(0.4)")
    without = pixels(tab)[y, x]
    assert with_post.max() < 190 < without.min(), "paper, or a line of the grid"


def test_the_floor_is_below_all_that_swings():
    """By a 25th of the mechanism's size; what stands still stands on it."""
    model = da.Model(plane="xz")
    model.add_link("upper", (0, 0), (0, -0.5), mass=1.0)
    model.add_link("lower", (0, -0.5), (0, -1.0), mass=1.0)
    model.add_revolute("A", "ground", "upper", point=(0, 0))
    model.add_revolute("B", "upper", "lower", point=(0, -0.5))
    shown = scene_of(da.simulate(model, 0.5))
    assert -1.0 - shown["floor"] > 0.04 * shown["scale"]


def test_a_plane_on_a_slant_is_seen_from_above_without_a_slab():
    shown = scene_of(da.simulate(da.gallery.build("four_bar"), 1.0))
    up, direction = np.array(shown["up"]), np.array(shown["camera"]["direction"])
    assert 0.1 < direction @ up < 0.9
    assert not any(part.get("clear") for part in shown["ground"])
    assert shown["sheet"]["normal"] == shown["normal"]


def test_bars_of_long_chains_are_seen():
    """As thick as four thousandths of the chain, or as a fifth of their own length where that is less."""
    stage = stage_of(da.simulate(chain(64, angle=0.3), 0.2))
    bars = [part for part in stage.pictures["rod 1"].parts if part.kind in ("box", "cylinder")]
    assert bars
    for bar in bars:
        thin, _, long = np.sort(bar.half)
        assert thin == pytest.approx(min(0.004 * 0.5 * stage.scale, 0.4 * long), rel=0.5)


@pytest.mark.parametrize("name", ["ring", "chain_16"])
def test_the_post_is_beside_what_hangs(name):
    """In the picture, too."""
    run = da.simulate(da.gallery.build(name), 2.0)
    stage = stage_of(run)
    camera = Camera(stage.look, (800, 600))
    post = max(
        (part for part in stage.ground if part.kind == "capsule"), key=lambda part: abs(part.matrix[2, 2]) * part.half[2]
    )
    places = np.concatenate([run.position(body) for body in run.mechanism.body_names])
    columns = camera.seen(places)[0][:, 0]
    column = camera.seen(post.at)[0][0]
    assert not columns.min() < column < columns.max()


def test_the_plane_of_a_sleigh_goes_with_it():
    run = da.simulate(da.gallery.build("sleigh"), 0.5)
    joints = [joint.type for joint in run.mechanism.model.joints]
    tables = [f for f in stage_of(run).fittings if f.tag == f"joint {joints.index('planar')}" and f.part.clear]
    assert len(tables) == 1 and tables[0].body != "ground"


def test_the_inertia_of_a_thin_bar_is_seen(open_tab, tmp_path):
    """Purple over its blue, and beside it the rim."""
    run = da.simulate(arm(), 1.0)
    tab = opened(open_tab, tmp_path / "run.html", run)
    before = pixels(tab)
    tab.do("document.querySelector('canvas').focus()")
    x, y = tab.do(f"viewer.project(...{run(np.array([0.4])).position('upper')[0].tolist()})")
    tab.page.mouse.click(x, y)
    tab.page.locator(".card h2", has_text="upper").wait_for()
    after = pixels(tab)
    row, column = round(y), round(x)
    near = (slice(row - 60, row + 61), slice(column - 60, column + 61))
    purple = np.array([0x7A, 0x3F, 0xC4], dtype=float)
    rim = np.abs(after[near] - purple).max(axis=-1) < 60
    assert rim.sum() > 40 and np.abs(before[near] - purple).max(axis=-1).min() > 0
