"""The viewer as a workbench, in a real browser: camera, tree, selection, dock, arrows, strip, phone, contrast.

One page of one model with every kind of element serves most tests; names in it try to become code.
"""

import csv
import io
import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import dalembert as da

HOSTILE = '</script><img src=x onerror="window.hacked=1">'


@pytest.fixture(scope="module")
def run():
    model = da.Model(name=f"workbench {HOSTILE}")
    model.add_body("arm", mass=2.0, inertia=(0.02, 0.17, 0.17), position=(0.5, 0, 1))
    model.add_body(HOSTILE, mass=1.0, inertia=(0.01, 0.02, 0.03), position=(1.2, 0, 1))
    model.add_revolute("hinge", model.ground, "arm", point=(0, 0, 1), axis=(0, 1, 0))
    model.add_spherical("knee", "arm", HOSTILE, point=(1, 0, 1))
    model.add_driver("motor", "hinge", da.Harmonic(0.3, omega=4.0))
    model.add_spring_damper("rope", model.ground, HOSTILE, between=((2, 0, 1.5), (1.4, 0, 1)), stiffness=30.0, length=0.5)
    model.add_force("push", HOSTILE, (0, 3.0, 0))
    model.add_marker("tip", HOSTILE, point=(0.3, 0, 0))
    return da.simulate(model, 1.0)


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "bench.html"
    run.export_html(path)
    return path


@pytest.fixture(scope="module")
def shared_bench(open_shared, page):
    return open_shared(page)


@pytest.fixture
def bench(shared_bench):
    tab = shared_bench
    tab.do("viewer.pause(); viewer.scrub(0); viewer.command('unhide'); viewer.command('camera')")
    tab.page.keyboard.press("Escape")
    if not tab.state["settings"]["tree"]:
        tab.do("viewer.command('tree')")
    return tab


def row(tab, name):
    return tab.page.locator(".row", has=tab.page.get_by_text(name, exact=True))


def test_names_are_text_and_nothing_is_fetched(bench, page):
    assert bench.do("window.hacked === undefined")
    assert bench.requests == [page.as_uri()]
    assert HOSTILE in bench.do("document.querySelector('.tree').innerText")
    assert bench.page.locator("img").count() == 0


def test_standard_views_look_along_axes(bench):
    for key, direction in (("1", (0, -1, 0)), ("2", (1, 0, 0)), ("3", (0, 0, 1))):
        bench.page.keyboard.press(key)
        assert bench.state["camera"]["direction"] == pytest.approx(direction, abs=2e-4)
    ends = bench.page.locator(".triad g")
    assert ends.count() == 6
    bench.page.locator(".triad g[aria-label='from −x']").dispatch_event("click")
    assert bench.state["camera"]["direction"] == pytest.approx((-1, 0, 0), abs=1e-6)
    bench.page.locator(".triad g[aria-label='from +y']").focus()
    bench.page.keyboard.press("Enter")
    assert bench.state["camera"]["direction"] == pytest.approx((0, 1, 0), abs=1e-6)


def test_an_orthographic_picture_has_parallel_lines_and_the_same_size(bench):
    def lengths():
        """Of a vertical metre, near and far from the camera, and where its foot is."""
        feet = [bench.do(f"viewer.project(1, {y}, 1)") for y in (-0.4, 0.4)]
        tops = [bench.do(f"viewer.project(1, {y}, 1.5)") for y in (-0.4, 0.4)]
        return [foot[1] - top[1] for foot, top in zip(feet, tops, strict=True)]

    bench.page.keyboard.press("1")
    near, far = lengths()
    assert near > 1.05 * far
    bench.page.keyboard.press("o")
    assert bench.state["settings"]["orthographic"]
    flat = lengths()
    assert flat[0] == pytest.approx(flat[1], rel=1e-6)
    assert far < flat[0] < near
    bench.page.keyboard.press("o")
    assert lengths() == pytest.approx([near, far], rel=1e-6)


def test_the_wheel_zooms_to_the_pointer_and_a_double_click_looks_at_a_part(bench, run):
    tip = run.position(HOSTILE)[0].tolist()
    before = bench.do(f"viewer.project(...{tip})")
    distance = bench.state["camera"]["distance"]
    bench.page.mouse.move(*before)
    bench.page.mouse.wheel(0, -300)
    bench.wait(f"viewer.state().camera.distance < {0.95 * distance}")
    after = bench.do(f"viewer.project(...{tip})")
    assert np.hypot(*np.subtract(after, before)) < 25, "what is under the pointer stays there"
    bench.do("viewer.command('camera')")
    bench.page.mouse.dblclick(*bench.do("viewer.project(0.3, 0, 1)"))
    state = bench.state
    assert state["chosen"] == "arm"
    assert state["camera"]["target"] == pytest.approx((0.5, 0, 1), abs=0.1)
    box = bench.page.locator(".stage").bounding_box()
    middle = bench.do("viewer.project(0.5, 0, 1)")
    assert middle == pytest.approx([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2], abs=60)


def test_the_camera_follows_the_chosen_body(bench):
    row(bench, "arm").click()
    start = bench.do("viewer.project(...viewer.state().bodies[0][0].position)")
    bench.do("viewer.scrub(0.4)")
    moved = bench.do("viewer.project(...viewer.state().bodies[0][0].position)")
    assert np.hypot(*np.subtract(moved, start)) > 15
    bench.do("viewer.scrub(0)")
    bench.page.keyboard.press("k")
    bench.do("viewer.scrub(0.4)")
    followed = bench.do("viewer.project(...viewer.state().bodies[0][0].position)")
    bench.page.keyboard.press("k")
    assert followed == pytest.approx(start, abs=1.0)


def test_the_tree_finds_hides_isolates_and_sees_through(bench):
    assert bench.page.locator(".tree h3").all_inner_texts() == [
        "Bodies (2)", "Joints (2)", "Drivers (1)", "Forces (2)", "Markers (1)",
    ]  # fmt: skip
    bench.page.locator(".search").fill("KNEE")
    assert bench.page.locator(".row:visible").count() == 1
    bench.page.locator(".search").fill("")
    row(bench, "arm").click()
    before = bench.do("viewer.picture()")
    bench.page.keyboard.press("h")  # the row has the focus
    assert bench.state["hidden"] == ["body 0"]
    assert row(bench, "arm").locator("[aria-pressed=true]").count() == 1
    hidden = bench.do("viewer.picture()")
    bench.page.keyboard.press("h")
    bench.page.keyboard.press("x")
    clear = bench.do("viewer.picture()")
    assert len({before, hidden, clear}) == 3
    bench.page.keyboard.press("i")
    assert len(bench.state["hidden"]) == 7, "all others"
    bench.page.keyboard.press("ArrowDown")
    bench.page.keyboard.press("Enter")
    assert bench.state["chosen"] == HOSTILE
    bench.page.get_by_role("button", name="show all").click()
    assert bench.state["hidden"] == []
    bench.screenshot("workbench_tree")


def test_what_is_chosen_shows_its_data_and_loads_its_curves(bench, run):
    for name, text, plot in (
        ("arm", "2 kg", "position of arm"),
        ("hinge", "revolute joint", "angle of hinge"),
        ("rope", "spring-damper", "tension of rope"),
        ("motor", "driver of hinge", "torque of motor"),
        ("tip", "marker", "position of tip"),
    ):
        count = len(bench.state["plots"])
        row(bench, name).click()
        assert text in bench.page.locator(".card").inner_text()
        assert bench.state["plots"][0]["name"] == plot
        assert len(bench.state["plots"]) <= count + 1
        shown = [one["name"] for one in bench.state["plots"]]
        assert len(set(shown)) == len(shown), "what is there already is not drawn twice"
    assert len(bench.state["plots"]) == 4, "one plot is taken over again and again"
    row(bench, "arm").click()
    bench.do(f"viewer.scrub({float(run.t[-1])})")
    speed = np.linalg.norm(run.velocity("arm")[-1])
    for text in (f"{speed:.3g} m/s", "0.02, 0.17, 0.17 kg m²"):
        bench.wait(f"document.querySelector('.card').innerText.includes({text!r})")
    row(bench, "rope").click()
    tension = float(bench.state["plots"][0]["values"][0].replace("−", "-"))
    assert tension == pytest.approx(run.effort("rope").value[-1], rel=1e-3)


def test_the_dock_adds_zooms_limits_and_saves(bench, run):
    page = bench.page
    row(bench, "arm").click()
    plot = page.locator(".plot").first
    plot.get_by_role("button", name="add a curve, set limits").click()
    plot.get_by_label("add an output, by name").fill("speed of arm")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    state = bench.state["plots"][0]
    assert state["curves"] == ["x of arm", "y of arm", "z of arm", "speed of arm"]
    speeds = np.linalg.norm(run.velocity("arm"), axis=1)
    low, high = (float(v.replace("−", "-")) for v in state["extremes"][3].split(" (")[0].split(" … "))
    assert high == pytest.approx(speeds.max(), rel=0.01) and 0 <= low <= 1.005 * speeds.min()  # three digits
    with page.expect_download() as download:
        plot.get_by_role("button", name="save these curves as numbers").click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    assert rows[0] == ["t [s]", "x of arm [m]", "y of arm [m]", "z of arm [m]", "speed of arm [m/s]"]
    assert float(rows[-1][0]) == 1.0 and float(rows[-1][1]) == pytest.approx(run.position("arm")[-1, 0], abs=1e-6)
    with page.expect_download() as download:
        plot.get_by_role("button", name="save this plot as a picture").click()
    assert download.value.path().read_bytes()[:4] == b"\x89PNG"
    page.get_by_role("button", name="show less time").click()
    assert bench.state["plots"][0]["window"] == pytest.approx([0.0, 0.5])
    page.get_by_role("button", name="show the whole time").click()
    assert bench.state["plots"][0]["window"] is None
    width = page.locator(".panel").bounding_box()["width"]
    page.locator(".edge").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".panel").bounding_box()["width"] == pytest.approx(width + 40, abs=2)
    plot.get_by_role("button", name="close this plot").click()
    assert sorted(plot["name"] for plot in bench.state["plots"]) == ["angle of hinge", "change of energy", "torque of motor"]


def test_arrows_have_numbers_kinds_and_a_scale(bench, run):
    bench.do("viewer.scrub(0.4); viewer.command('forces')")
    bench.wait("document.querySelectorAll('.labels .number').length > 3")
    assert bench.page.locator(".kind").all_inner_texts() == ["joints", "loads", "springs", "drivers", "weights"]
    numbers = bench.page.locator(".labels .number:visible")
    shown, boxes = numbers.all_inner_texts(), [one.bounding_box() for one in numbers.all()]
    for a, b in itertools.combinations(boxes, 2):  # none covers another
        assert abs(a["x"] - b["x"]) >= min(a["width"], b["width"]) or abs(a["y"] - b["y"]) >= min(a["height"], b["height"])
    assert "3 N" in shown, "the push"
    assert "9.81 N" not in shown
    bench.page.get_by_role("button", name="weights").click()
    bench.wait("[...document.querySelectorAll('.labels .number')].some((n) => n.textContent === '9.81 N')")
    key, chip = (bench.page.locator(name).bounding_box() for name in (".key", ".chips"))
    assert key["y"] >= chip["y"] + chip["height"], "a long title pushes nothing under the legend"
    bench.wait("document.querySelectorAll('.scale path').length === 2")
    before = bench.page.locator(".scale").inner_html()
    bench.page.get_by_role("button", name="longer arrows").click()
    bench.wait("viewer.settled()")
    assert bench.page.locator(".scale").inner_html() != before
    bench.page.get_by_role("button", name="shorter arrows").click()
    bench.page.get_by_role("button", name="weights").click()
    bench.screenshot("workbench_forces")
    bench.do("viewer.command('torques')")
    bench.wait("document.querySelector('.scale').innerText.includes('N m')")
    bench.do("viewer.command('torques'); viewer.command('forces')")
    assert not bench.page.locator(".key").is_visible()


def test_labels_at_one_place_do_not_cover_each_other(open_tab, tmp_path):
    """Numbers of three forces and a joint, names of two bodies, a marker and the joint, all at one point; each has its name."""
    model = da.Model(name="crowd", gravity=(0, 0, 0))
    for name in ("first body", "second body"):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_fixed("weld", "first body", "second body", point=(0, 0, 0))
    for k, name in enumerate(("push", "pull", "lift")):
        model.add_force(name, "first body", (0, 1e-3 * k, 12345.6 + k))
    model.add_marker("tip", "second body", point=(0, 0, 0))
    da.simulate(model, 0.01).export_html(tmp_path / "crowd.html")
    tab = open_tab(tmp_path / "crowd.html")
    tab.do("viewer.command('forces'); viewer.command('names')")
    tab.wait("document.querySelectorAll('.labels .number').length > 3")
    tab.screenshot("workbench_crowd")
    labels = tab.page.locator(".labels span:visible")
    boxes = [one.bounding_box() for one in labels.all()]
    names = ["first body", "second body", "tip", "weld", "push 12300 N", "pull 12300 N", "lift 12300 N"]
    told = labels.all_inner_texts()
    assert set(names) < set(told) and len(told) == 8 and any(text.startswith("weld ") for text in told), told
    for a, b in itertools.combinations(boxes, 2):
        beside = any(p[x] + p[size] <= q[x] for p, q in ((a, b), (b, a)) for x, size in (("x", "width"), ("y", "height")))
        assert beside, (a, b)


def test_the_strip_marks_the_worst_instant(bench, run):
    energy = run.energy
    error = np.abs(energy.total - energy.total[0]) / energy.scale
    strip = bench.page.locator(".strip")
    assert strip.get_attribute("aria-label").startswith("logarithmic: energy error ")
    key = bench.page.locator(".strip-key")
    told, step = (
        re.fullmatch(r"energy error (\S+) of \S+ J at \S+ s", key.locator("button").inner_text()),
        key.locator("span").inner_text(),
    )
    assert float(told[1].replace("−", "-")) == pytest.approx(error.max(), rel=0.06)
    value = run.report()["energy balance"].value.partition(" ")[0]
    assert float(told[1].replace("−", "-")) == float(value), "the digits of the report"
    sizes = np.diff(run.t)
    assert step == f"step {sizes.min():.2g} … {sizes.max():.2g} s"
    key.locator("button").click()
    assert bench.state["time"] == bench.state["worst"]["t"]
    bench.do("viewer.scrub(0)")
    bench.page.keyboard.press("w")
    assert error[np.abs(run.t - bench.state["time"]).argmin()] == pytest.approx(error.max(), rel=0.3)
    assert bench.state["worst"]["value"] >= 0.99 * error.max()
    box = strip.bounding_box()
    bench.page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 10)
    assert bench.state["time"] == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_that_of_wcag_aa(open_tab, page, scheme):
    """4.5 for text, 3 for icons, borders, marks of what is on, swatches and the triad: WCAG 2.2, 1.4.3 and 1.4.11."""
    tab = open_tab(page, scheme=scheme)
    tab.do("viewer.command('tree'); viewer.command('forces'); viewer.command('names'); viewer.command('report')")
    if tab.page.get_by_role("button", name="torques").count():
        tab.do("viewer.command('torques')")
    row(tab, "arm").click()
    tab.wait("document.querySelectorAll('.labels .number').length > 3")
    found = tab.do((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8"))
    assert len(found) > 60 and sum("curve" in one[2] for one in found) > 6
    words = ("triad x minus", "triad letter", "swatch", "arrow ", "number ", "border", "mark ", "--edge", "--error", "keys: ?")
    assert [word for word in words if not any(word in one[2] for one in found)] == []
    assert [one for one in found if one[0] < one[1]] == []
    assert [one for one in found if not one[2]] == [], "every control has a name"
    tab.screenshot(f"workbench_{scheme}")


def test_on_a_phone_the_scrubber_is_as_wide_as_the_page(open_tab, page):
    tab = open_tab(page)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.do("viewer.command('panel')")
    slider = tab.page.locator(".slider").bounding_box()
    assert slider["width"] > 330 and slider["height"] >= 44
    assert tab.do("document.documentElement.scrollWidth") <= 390
    for button in tab.page.locator(".tool").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
    tab.page.mouse.click(slider["x"] + 0.5 * slider["width"], slider["y"] + 22)
    assert tab.state["time"] == pytest.approx(0.5, abs=0.05)
    plots = tab.page.get_by_role("button", name="plots and report", exact=True).bounding_box()
    assert plots["x"] + plots["width"] < 390, "seen without moving the row of buttons"
    tab.do("viewer.command('tree')")
    tree, main, stage = (tab.page.locator(name).bounding_box() for name in (".side", ".main", ".stage"))
    assert tree["y"] == pytest.approx(main["y"] + main["height"], abs=2), "the tree lies below the picture, not over it"
    assert stage["height"] > 200
    tab.do("viewer.command('tree')")
    for x in (0.0, 1.4):  # a page that becomes narrow still shows the whole mechanism
        assert 0 < tab.do(f"viewer.project({x}, 0, 1)")[0] < 390
    tab.screenshot("workbench_phone")


def test_on_a_phone_the_legend_is_one_row_above_the_picture(open_tab, page):
    """It lay over half of the picture where plots are shown, too; numbers end at the edge; help tells gestures."""
    tab = open_tab(page)
    tab.page.set_viewport_size({"width": 390, "height": 844})
    tab.do("viewer.command('forces')")
    key, stage = (tab.page.locator(name).bounding_box() for name in (".key", ".stage"))
    assert key["y"] + key["height"] <= stage["y"] and key["height"] <= 40 and key["x"] + key["width"] <= 390
    boxes = [number.bounding_box() for number in tab.page.locator(".labels .number:visible").all()]
    assert boxes and all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    tab.screenshot("workbench_phone_forces")
    tab.page.get_by_role("button", name="keys", exact=True).click()
    assert {"drag, one finger", "wheel, pinch", "click, tap a part"} < set(tab.page.locator(".sheet dt").all_inner_texts())


@pytest.mark.parametrize("width", [390, 500, 600])
def test_a_narrow_window_shows_all_buttons(open_tab, page, width):
    """In rows above the picture, beside the legend."""
    tab = open_tab(page)
    tab.page.set_viewport_size({"width": width, "height": 800})
    tab.do("viewer.command('panel'); viewer.command('forces')")
    key, stage = (tab.page.locator(name).bounding_box() for name in (".key", ".stage"))
    boxes = [button.bounding_box() for button in tab.page.locator(".tools button").all()]
    assert len(boxes) > 12
    for box in boxes:
        assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= stage["y"]
        assert box["y"] >= key["y"] + key["height"]


def test_beside_tree_and_plots_the_picture_is_left_alone(open_tab, page):
    """Of a window 1000 pixels wide little is left for the picture: what lay over it is in rows above and below it."""
    tab = open_tab(page)
    tab.page.set_viewport_size({"width": 1000, "height": 700})
    tab.do("viewer.command('tree'); viewer.command('forces'); viewer.command('names')")
    row(tab, "arm").click()
    stage, slider = (tab.page.locator(name).bounding_box() for name in (".stage", ".slider"))
    assert slider["width"] > 300 and stage["height"] > 200
    boxes = {
        name: tab.page.locator(name).bounding_box() for name in (".title", ".key", ".tools", ".card", ".triad", ".transport")
    }
    for name, box in boxes.items():
        outside = box["y"] + box["height"] <= stage["y"] + 1 or box["y"] + 1 >= stage["y"] + stage["height"]
        assert outside or name in (".card", ".triad"), name
        assert box["x"] >= stage["x"] and box["x"] + box["width"] <= stage["x"] + stage["width"], name
    assert boxes[".triad"]["y"] + boxes[".triad"]["height"] <= boxes[".card"]["y"]
    for x, z in ((0, 1), (1, 1), (1.4, 1)):  # the mechanism is above the card
        assert stage["y"] < tab.do(f"viewer.project({x}, 0, {z})")[1] < boxes[".card"]["y"]
    tab.screenshot("workbench_1000")
    tab.page.get_by_role("button", name="close", exact=True).click()
    assert tab.state["chosen"] is None and not tab.page.locator(".card").is_visible()


def test_the_card_is_beside_the_triad_and_targets_are_large_enough(open_tab, page):
    """24 pixels: WCAG 2.2, 2.5.8."""
    tab = open_tab(page)
    tab.page.set_viewport_size({"width": 1600, "height": 800})
    tab.do("viewer.command('tree'); viewer.command('report')")
    row(tab, "arm").click()
    card, triad = (tab.page.locator(name).bounding_box() for name in (".card", ".triad"))
    assert card["x"] + card["width"] <= triad["x"]
    for target in tab.page.locator("button:visible, summary:visible, input:visible").all():
        assert target.bounding_box()["height"] >= 24, target.inner_text()


def test_in_a_narrow_dock_titles_and_buttons_of_plots_are_whole(open_tab, page):
    tab = open_tab(page)
    edge = tab.page.locator(".edge")
    for _ in range(5):
        edge.press("ArrowRight")
    dock = tab.page.locator(".panel").bounding_box()
    assert dock["width"] == 220
    for name in (".plot header button", ".plot header select", ".dock button"):
        for one in tab.page.locator(name).all():
            box = one.bounding_box()
            assert box["x"] + box["width"] <= dock["x"] + dock["width"], name
    choice = tab.page.locator(".plot select").first
    assert choice.evaluate("node => node.scrollWidth <= node.clientWidth")
    tab.screenshot("workbench_narrow_dock")


def test_two_runs_have_a_difference(open_tab, run, tmp_path):
    other = da.simulate(run.mechanism.model, 1.0, integrator=da.RungeKutta4(step=0.2))
    run.export_html(tmp_path / "two.html", compare=other)
    tab = open_tab(tmp_path / "two.html")
    assert not other.report().passed
    assert tab.page.locator(".chip.fail").all_inner_texts() == [f"✗ run 2: {other.report().headline}"]
    tab.do("viewer.scrub(0.5)")
    tab.page.get_by_role("button", name="difference of the two runs").click()
    tab.wait("Math.abs(viewer.state().plots[0].cursor - 0.5) < 0.01")  # drawn again at the time that is shown
    tab.do("viewer.scrub(1.0)")
    energy = next(plot for plot in tab.state["plots"] if plot["name"] == "change of energy")
    assert energy["curves"][0] == "Δ change of kinetic T"
    gap = other.energy.kinetic[-1] - run.energy.kinetic[-1]
    assert float(energy["values"][0].replace("−", "-")) == pytest.approx(gap, abs=1e-6 + 0.02 * abs(gap))
