"""What a reader finds in a page without asking: words, units, loads, legends, reports; what it says where it cannot draw."""

import csv
import io

import numpy as np
import pytest
from PIL import Image

import dalembert as da
from dalembert.viewer.animation import Film


@pytest.fixture(scope="module")
def run(press):
    return da.simulate(press, 2.0)


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("reading") / "press.html"
    run.export_html(path)
    return path


def number(text):
    return float(text.replace("−", "-"))


def ends(text):
    """Of "least … largest (Δ difference)"."""
    return [number(end) for end in text.split(" (")[0].split(" … ")]


def test_plots_are_those_of_the_driver_and_axes_say_what_they_are(open_tab, page, run):
    """Names of signals, as `dalembert plot` has them; a scale that can be read off."""
    tab = open_tab(page)
    tab.screenshot("reading_press")
    plots = tab.state["plots"]
    assert [plot["name"] for plot in plots] == ["translation of D", "torque of motor", "energy"]
    assert plots[1]["curves"] == [run.plot.time("motor").axes[0].get_ylabel().removesuffix(" [N m]")]
    assert tab.page.locator(".plot .unit").all_inner_texts() == ["[m]", "[N m]", "[J]"]
    for plot in plots:
        assert plot["axes"][0]["label"] == "t [s]"
        assert sum(bool(tick) for tick in plot["axes"][1]["ticks"]) >= 3


def test_a_mechanism_in_a_plane_is_drawn_without_perspective(open_tab, page, tmp_path):
    """Equal lengths in the plane are equally long wherever they are, and levels are level; in space there is perspective."""
    tab = open_tab(page)
    assert tab.state["settings"]["orthographic"]
    places = [tab.do(f"viewer.project({x}, {y}, 0)") for y in (0.0, -0.05) for x in (-0.1, 0.0, 0.2, 0.3)]
    across = np.diff(np.array(places).reshape(2, 4, 2), axis=1)[:, [0, 2], 0]
    assert across == pytest.approx(across[0, 0], rel=1e-6)
    assert np.ptp([y for _, y in places[:4]]) < 1e-3
    path = tmp_path / "space.html"
    da.simulate(da.gallery.build("crank_mechanism"), 0.2).export_html(path)
    assert not open_tab(path).state["settings"]["orthographic"]


def test_angles_are_in_degrees_for_who_asks(open_tab, page, run):
    """In plots, their numbers, tables and cards, as by `--degrees`; ticks at parts of a turn."""
    tab = open_tab(page)
    tab.do("viewer.scrub(0.25)")
    tab.page.locator(".plot select").first.select_option("angle of A")
    tab.page.get_by_role("button", name="angles in degrees (A)").click()
    tab.wait("viewer.state().plots[0].values[0].startsWith('90')")
    assert tab.page.locator(".plot .unit").all_inner_texts() == ["[deg]", "[N m]", "[J]"]
    first = tab.state["plots"][0]
    assert ends(first["extremes"][0]) == [0.0, 720.0]
    assert {number(tick) % 90 for tick in first["axes"][1]["ticks"] if tick} == {0.0}
    plot = tab.page.locator(".plot").first
    plot.get_by_role("button", name="add a curve, set limits").click()
    plot.get_by_label("to", exact=True).fill("360")
    tab.page.keyboard.press("Enter")
    assert max(number(tick) for tick in tab.state["plots"][0]["axes"][1]["ticks"] if tick) == 360.0
    tab.page.get_by_role("button", name="angles in degrees (A)").click()
    assert number(plot.get_by_label("to", exact=True).input_value()) == pytest.approx(2 * np.pi)
    tab.page.get_by_role("button", name="angles in degrees (A)").click()
    assert plot.get_by_label("to", exact=True).input_value() == "360"
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="save these curves as numbers").first.click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))
    assert rows[0] == ["t [s]", "angle of A [deg]"] and float(rows[-1][1]) == pytest.approx(720.0, rel=1e-6)
    if not tab.state["settings"]["tree"]:
        tab.do("viewer.command('tree')")
    tab.page.locator(".row", has=tab.page.get_by_text("A", exact=True)).click()
    assert "90 deg" in tab.page.locator(".card").inner_text()
    tab.page.locator(".row", has=tab.page.get_by_text("crank", exact=True)).click()
    assert "0, −360, 0 deg/s" in tab.page.locator(".card").inner_text()
    tab.screenshot("reading_degrees")
    tab.page.keyboard.press("a")
    assert "0, −6.28, 0 rad/s" in tab.page.locator(".card").inner_text()
    assert tab.page.get_by_role("button", name="angles in degrees (A)").get_attribute("aria-pressed") == "false"


def test_loads_are_shown_at_first_as_in_pictures(open_tab, page, run, crank_page):
    """The same arrows at the same scale within the same camera; the key shows the other ones, then none."""
    tab, film = open_tab(page), Film(run, (904, 760))
    tab.wait("document.querySelectorAll('.labels .number').length > 0")
    numbers = tab.page.locator(".labels .number:visible")
    assert numbers.all_inner_texts() == ["20 N"]
    (arrow,), (key,) = film.arrows, film.keys
    drawn = np.linalg.norm(arrow.vectors[0]) * film.camera.metre  # [px] of 20 N
    assert key.text == "10 N" and key.pixels == pytest.approx(0.5 * drawn, rel=1e-12)
    assert tab.page.locator(".scale span").all_inner_texts() == ["10 N"]
    start = run.position("slider")
    for k in np.unique([start[:, 0].argmin(), start[:, 0].argmax()]):
        tab.do(f"viewer.scrub({float(run.t[k])!r})")
        for point in (start[k], start[k] + arrow.vectors[0]):
            x, y = tab.do(f"viewer.project(...{point.tolist()})")
            assert 0 < x < 900 and 0 < y < 700
        tab.wait("viewer.settled()")
        tip = tab.do(f"viewer.project(...{(start[k] + arrow.vectors[0]).tolist()})")
        box = numbers.first.bounding_box()
        assert box["x"] + box["width"] < tip[0], "the number is before the tip of an arrow to the left, not over it"
    tab.page.keyboard.press("f")
    tab.wait("document.querySelectorAll('.labels .number:not([hidden])').length > 3")
    assert tab.page.locator(".kind[aria-pressed=true]").all_inner_texts() == ["joints", "loads", "drivers"]
    tab.screenshot("reading_forces")
    tab.page.keyboard.press("f")
    assert not tab.page.locator(".key").is_visible()
    without = open_tab(crank_page)
    assert not without.page.locator(".key").is_visible() and without.state["settings"]["forces"] is False


def test_the_page_says_where_keys_are_told_and_what_the_report_means(open_tab, page):
    tab = open_tab(page)
    tab.page.get_by_text("keys: ?").click()
    assert "space" in tab.page.locator(".sheet").inner_text()
    tab.page.keyboard.press("Escape")
    tab.page.locator("button.chip").click()
    text = tab.page.locator(".trust").inner_text()
    assert "Verdict: trusted. Each check has a limit" in text and "full at the limit" in text


def test_of_two_runs_the_difference_is_theirs_and_each_has_its_report(open_tab, press, run, tmp_path):
    """The page has both at the same instants: what is between its points is in no difference."""
    model = press.copy()
    model.add_body("swing", mass=1.0, inertia=0.01, position=(0, -0.5))
    model.add_revolute("E", "ground", "swing", point=(0.2, -0.2))
    fine = da.simulate(model, 2.0)
    coarse = da.simulate(model, 2.0, integrator=da.RungeKutta4(step=0.02))
    fine.export_html(tmp_path / "two.html", compare=coarse)
    tab = open_tab(tmp_path / "two.html")
    tab.page.get_by_role("button", name="difference of the two runs").click()
    tab.page.locator(".plot select").first.select_option("position of slider")
    low, high = ends(tab.state["plots"][0]["extremes"][0])
    assert max(-low, high) < 1e-7, "both are driven alike; between their own points chords would differ by 1e-5 m"
    tab.page.locator(".plot select").first.select_option("angle of E")
    times = np.linspace(0, 2, 401)
    gap = coarse(times).coordinate("E") - fine(times).coordinate("E")
    shown = ends(tab.state["plots"][0]["extremes"][0])
    assert shown == pytest.approx([gap.min(), gap.max()], rel=0.05, abs=3e-7)  # single precision
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="save this plot as a picture").first.click()
    drawn = Image.open(download.value.path())
    pixels = np.asarray(drawn.convert("RGB")).astype(int)
    assert drawn.width == 900 and (pixels[60:400, :, 2] - pixels[60:400, :, 0] > 60).sum() > 500, "a blue curve"
    assert tab.page.locator(".plot canvas").first.bounding_box()["width"] < 400, "the one in the page is as it was"
    tab.page.locator("button.chip", has_text="run 2: trusted").click()
    opened = tab.page.locator(".trust[open] > summary").all_inner_texts()
    assert opened == ["Trust report of run 2"]
    tab.screenshot("reading_two")


def test_without_webgl_the_page_says_so_and_what_to_do(browser, program, page):
    """Also where scripts are switched off, as in the preview of a mail."""
    blind = browser.browser_type.launch(executable_path=program, args=["--no-sandbox", "--disable-3d-apis"])
    told, complaints = blind.new_page(), []
    told.on("pageerror", lambda error: complaints.append(str(error)))
    told.goto(page.as_uri())
    text = told.locator(".without").inner_text()
    silent = blind.new_context(java_script_enabled=False).new_page()
    silent.goto(page.as_uri())
    assert "switched off" in silent.locator("noscript").inner_text()
    blind.close()
    assert complaints == []
    for part in ("press", "trusted", "WebGL 2", "hardware acceleration", "dalembert view RUN --out motion.gif"):
        assert part in text


def test_what_is_rounding_is_shown_as_zero(open_tab, tmp_path):
    """The sleeve of a governor carries nothing in the plane of its arms but 1e-11 N beside the 200 N of other joints."""
    path = tmp_path / "governor.html"
    da.simulate(da.gallery.build("flyball_governor"), 0.2).export_html(path)
    tab = open_tab(path)
    tab.do("viewer.scrub(0.1)")
    if not tab.state["settings"]["tree"]:
        tab.do("viewer.command('tree')")
    tab.page.locator(".row", has=tab.page.get_by_text("sleeve", exact=True)).click()
    card = " ".join(tab.page.locator(".card").inner_text().split())
    assert "reaction force 0, 0, 0 N its size 0 N" in card
    assert tab.state["plots"][0]["name"] == "translation of sleeve"


def test_plots_of_a_free_mechanism_are_of_a_pin_rather_than_a_rail(open_tab, tmp_path):
    """Whatever was named first; on a phone nothing lies over the little that is left of the picture beside plots."""
    path = tmp_path / "crank.html"
    da.simulate(da.gallery.build("crank_mechanism"), 0.5).export_html(path)
    tab = open_tab(path)
    assert [plot["name"] for plot in tab.state["plots"]] == ["angle of revolute", "rate of angle of revolute", "energy"]
    triad = tab.page.locator(".triad")
    assert triad.is_visible()
    tab.page.set_viewport_size({"width": 390, "height": 844})
    assert not triad.is_visible()
    key = tab.page.locator(".strip-key")
    assert key.evaluate("key => key.scrollWidth <= key.clientWidth"), "what the strip shows is told in full"
    tab.screenshot("reading_phone")
    tab.do("viewer.command('panel')")
    assert triad.is_visible()


def test_a_short_push_is_in_proportion_in_pages_too(open_tab, press, tmp_path):
    """The scale was that of 20 N, which acts all the time."""
    model = press.copy()
    model.add_force("push", "slider", (1000.0, 0), factor=da.Table((0, 0.02, 0.04), (0, 1, 0), clamp=True))
    run = da.simulate(model, 2.0)
    run.export_html(tmp_path / "push.html")
    tab, film = open_tab(tmp_path / "push.html"), Film(run, (904, 760))
    (key,) = film.keys
    tab.wait("document.querySelectorAll('.scale span').length > 0")
    (told,) = tab.page.locator(".scale span").all_inner_texts()
    assert int(told[:-2]) >= 200 <= int(key.text[:-2])


def test_no_number_of_an_arrow_is_under_a_card(open_tab, tmp_path):
    """The force on the tip leads under the title, and under the key of arrows: "5 N" was read "N" there."""
    model = da.Model(name="arm", plane="xz")
    model.add_link("arm", (0.3, 0), (0.3, 0.45), mass=0.3)
    model.add_revolute("D", "ground", "arm", point=(0.3, 0))
    model.add_driver("motor", "D", da.Harmonic(0.6, 3.0))
    model.add_force("drag", "arm", (-5, 0), at=(0.3, 0.45))
    da.simulate(model, 2.0).export_html(tmp_path / "arm.html")
    tab = open_tab(tmp_path / "arm.html")
    tab.wait("document.querySelectorAll('.labels .number').length > 0")
    number, met = tab.page.locator(".labels .number").first, 0
    cards = [tab.page.locator(f".{name}").first.bounding_box() for name in ("title", "key", "tools", "triad", "transport")]
    for t in np.linspace(0, 2, 21):
        tab.do(f"viewer.scrub({t})")
        tab.wait("viewer.settled()")
        box = number.bounding_box()
        apart = [
            box["x"] + box["width"] <= card["x"] or card["x"] + card["width"] <= box["x"]
            or box["y"] + box["height"] <= card["y"] or card["y"] + card["height"] <= box["y"]
            for card in cards
        ]  # fmt: skip
        assert all(apart), t
        met += number.is_visible()
    assert met == 21
