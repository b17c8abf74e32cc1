"""The exported page in a real browser, opened from disk."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

import dalembert as da
from dalembert.plot.style import COLOURS

TIMES = (0, 40, 95, 131, -1)


def picture(tab):
    """What the canvas holds, (height, width, 3)."""
    data = base64.b64decode(tab.do("viewer.picture()").partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(float)


def hues(image):
    """How many pixels have the hue of each of the first three body colours."""
    strong = image[np.ptp(image, axis=2) > 60]
    wanted = np.array([[int(colour[k : k + 2], 16) for k in (1, 3, 5)] for colour in COLOURS[:3]], dtype=float)
    across = strong / np.linalg.norm(strong, axis=1, keepdims=True) @ (wanted / np.linalg.norm(wanted, axis=1)[:, None]).T
    return [(across[:, k] > 0.985).sum() for k in range(3)]


def position(tab, run=0):
    return {body["name"]: np.array(body["position"]) for body in tab.state["bodies"][run]}


def test_canvas_shows_the_bodies_and_nothing_is_fetched(tab, crank_page):
    image = picture(tab)
    assert image.shape[0] > 500 and image.shape[1] > 800
    assert min(hues(image)) > 300, "each of crank, rod and slider covers some of the picture"
    assert tab.requests == [crank_page.as_uri()]
    tab.do("viewer.scrub(1.2)")
    tab.screenshot("slider_crank")


def test_scrubbing_moves_bodies_to_the_positions_of_the_solution(tab, crank):
    for k in TIMES:
        tab.do(f"viewer.scrub({float(crank.t[k])!r})")
        seen = position(tab)
        rotation = {body["name"]: np.roll(body["rotation"], 1) for body in tab.state["bodies"][0]}
        for name in crank.mechanism.body_names:
            assert seen[name] == pytest.approx(crank.position(name)[k], abs=1e-5)
            assert abs(rotation[name] @ crank.quaternion(name)[k]) == pytest.approx(1.0, abs=1e-6)


def test_times_between_saved_states_are_interpolated(tab, crank):
    """0.1 mm on a mechanism of 0.3 m: between frames the page goes straight, at 50 frames per second."""
    for t in (0.4137, 1.0521, 1.6):
        tab.do(f"viewer.scrub({t})")
        assert position(tab)["rod"] == pytest.approx(crank(t).position("rod"), abs=3e-4)


def test_playing_advances_time_and_pause_stops_it(tab):
    assert tab.state["time"] == 0.0
    assert not tab.state["playing"], "a reader who wants less motion gets a page at rest"
    tab.page.keyboard.press("Space")
    tab.wait("viewer.state().time > 0.05")
    assert tab.state["playing"]
    tab.page.keyboard.press("Space")
    still = tab.state["time"]
    tab.page.wait_for_timeout(150)
    assert tab.state["time"] == still > 0.05


def test_play_loops(fresh_tab):
    fresh_tab.do("viewer.scrub(1.95); viewer.play()")
    fresh_tab.wait("viewer.state().time < 1 && viewer.state().playing")
    fresh_tab.do("viewer.pause(); viewer.command('loop'); viewer.scrub(1.98); viewer.play()")
    fresh_tab.wait("!viewer.state().playing")
    assert fresh_tab.state["time"] == fresh_tab.state["end"]


def test_plots_follow_the_cursor(tab, crank):
    k = 95
    tab.do(f"viewer.scrub({float(crank.t[k])!r})")
    plots = {plot["name"]: plot for plot in tab.state["plots"]}
    assert set(plots) == {"angle of A", "rate of angle of A", "energy"}
    for plot in plots.values():
        assert plot["cursor"] == pytest.approx(crank.t[k], abs=2.0 / 200)  # a pixel of a plot 200 wide
    kinetic, potential, total = (float(value.replace("−", "-")) for value in plots["energy"]["values"])
    assert kinetic == pytest.approx(crank.energy.kinetic[k], rel=1e-3)
    assert potential == pytest.approx(crank.energy.potential[k], rel=1e-3)
    assert total == pytest.approx(crank.energy.total[k], rel=1e-3)
    assert float(plots["angle of A"]["values"][0]) == pytest.approx(crank.coordinate("A")[k], rel=1e-3)


def test_an_error_of_zero_is_said_to_be_zero(fresh_tab):
    """Its curve ends where the logarithmic axis does, its number is 0."""
    fresh_tab.page.locator(".plot select").first.select_option("energy error, relative")
    fresh_tab.do("viewer.scrub(0)")
    assert next(plot for plot in fresh_tab.state["plots"] if plot["name"] == "energy error, relative")["values"] == ["0"]


def test_a_plot_shows_what_is_chosen(fresh_tab, crank):
    fresh_tab.page.locator(".plot select").first.select_option("reaction force of D")
    fresh_tab.do(f"viewer.scrub({float(crank.t[131])!r})")
    first = fresh_tab.state["plots"][0]
    assert first["name"] == "reaction force of D"
    shown = [float(value.replace("−", "-")) for value in first["values"]]
    assert shown == pytest.approx(crank.reaction("D").force[131], rel=1e-3, abs=1e-6)


def test_dragging_in_a_plot_moves_in_time(tab):
    box = tab.page.locator(".plot .u-over").first.bounding_box()
    tab.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 20)
    assert tab.state["time"] == pytest.approx(1.0, abs=0.02)


def test_keys(fresh_tab):
    keys = fresh_tab.page.keyboard
    keys.press("End")
    assert fresh_tab.state["time"] == fresh_tab.state["end"]
    keys.press("Home")
    keys.press("Shift+ArrowRight")
    assert fresh_tab.state["time"] == pytest.approx(0.2)
    keys.press("-")
    assert fresh_tab.state["speed"] == 0.5
    letters = {"f": "forces", "m": "torques", "j": "joints", "g": "grid", "n": "names", "d": "dark", "p": "panel"}
    for key, setting in letters.items():
        before = fresh_tab.state["settings"][setting]
        keys.press(key)
        assert fresh_tab.state["settings"][setting] is not before, key
    keys.press("?")
    assert fresh_tab.page.locator(".sheet").is_visible()
    keys.press("Escape")
    assert not fresh_tab.page.locator(".sheet").is_visible()


def test_names_on_hover_and_live_values_on_click(tab, crank):
    x, y = tab.do(f"viewer.project(...{crank.position('rod')[0].tolist()})")
    tab.page.mouse.move(x, y)
    tab.page.locator(".tip", has_text="rod").wait_for()
    tab.page.mouse.click(x, y)
    card = tab.page.locator(".card")
    assert card.locator("h2").inner_text() == "rod"
    cell = "document.querySelector('.card td').textContent"
    tab.wait(f"{cell} !== ''")
    first = tab.do(cell)
    tab.do("viewer.scrub(1.0)")
    tab.wait(f"{cell} !== {first!r}")
    shown = [float(v) for v in tab.do(cell).replace("−", "-").removesuffix(" m").split(", ")]
    assert shown == pytest.approx(crank(1.0).position("rod"), abs=1e-3)


def test_reaction_arrows_and_trails_are_drawn(fresh_tab):
    fresh_tab.do("viewer.scrub(1.0)")
    plain = picture(fresh_tab)
    fresh_tab.do("viewer.command('forces')")
    fresh_tab.do("viewer.scrub(1.0)")
    arrows = picture(fresh_tab)
    assert (np.abs(arrows - plain).max(axis=2) > 40).sum() > 300
    fresh_tab.do("viewer.command('forces'); viewer.command('trails'); viewer.command('trails'); viewer.scrub(1.0)")
    assert (np.abs(picture(fresh_tab) - plain).max(axis=2) > 20).sum() > 100
    fresh_tab.do("viewer.command('forces')")
    fresh_tab.screenshot("slider_crank_forces")
    fresh_tab.do("viewer.command('forces'); viewer.scrub(0.25)")
    plain = picture(fresh_tab)
    fresh_tab.do("viewer.command('torques'); viewer.scrub(0.25)")
    assert (np.abs(picture(fresh_tab) - plain).max(axis=2) > 40).sum() > 300
    assert fresh_tab.page.locator(".key p").inner_text().endswith("N m")
    fresh_tab.screenshot("slider_crank_torques")


def test_a_page_at_rest_does_not_draw(tab):
    tab.wait("viewer.settled()")
    tab.page.wait_for_timeout(200)
    drawn = tab.do("viewer.scriptTimes().length")
    tab.page.wait_for_timeout(200)
    assert tab.do("viewer.scriptTimes().length") == drawn
    tab.do("viewer.scrub(0.5)")
    tab.wait(f"viewer.scriptTimes().length > {drawn}")


def test_light_and_dark(open_tab, crank_page):
    light, dark = (open_tab(crank_page, scheme=scheme) for scheme in ("light", "dark"))
    assert picture(light).mean() > 180
    assert picture(dark).mean() < 80
    assert min(hues(picture(dark))) > 300
    dark.do("viewer.command('report')")
    dark.screenshot("slider_crank_dark")


def test_trust_report_is_a_panel(tab, crank):
    chip = tab.page.locator("button.chip")
    assert chip.inner_text() == "✓ trusted"
    chip.click()
    rows = tab.page.locator(".trust tr")
    report = crank.report()
    assert rows.count() == len(report.lines)
    assert tab.page.locator(".trust .share").count() == sum(line.share is not None for line in report.lines)
    assert tab.page.locator(".trust details summary").all_inner_texts() == ["details"]
    assert "limit 1e−10" in rows.nth(1).inner_text()


def test_two_runs_overlaid_and_side_by_side(open_tab, crank, coarse_crank, tmp_path):
    path = tmp_path / "two.html"
    crank.export_html(path, compare=coarse_crank)
    tab = open_tab(path)
    tab.do("viewer.scrub(2.0)")
    first, second = position(tab, 0)["slider"], position(tab, 1)["slider"]
    assert first == pytest.approx(crank.position("slider")[-1], abs=1e-5)
    assert second == pytest.approx(coarse_crank.position("slider")[-1], abs=1e-5)
    assert len(tab.state["plots"][2]["values"]) == 6, "kinetic, potential, total of both"
    tab.screenshot("two_runs_ghost")
    overlaid = picture(tab)
    tab.do("viewer.command('compare')")
    tab.screenshot("two_runs_side_by_side")
    side = picture(tab)
    middle = side.shape[1] // 2
    assert min(hues(side[:, :middle])) > 60 and min(hues(side[:, middle:])) > 60
    assert (np.abs(side - overlaid).max(axis=2) > 20).mean() > 0.01


def test_two_runs_have_the_names_of_their_files(open_tab, crank, coarse_crank, tmp_path):
    crank.save(tmp_path / "fine.zarr")
    coarse_crank.save(tmp_path / "coarse.zarr")
    fine, coarse = da.load(tmp_path / "fine.zarr"), da.load(tmp_path / "coarse.zarr")
    for second, names in ((coarse, ["fine.zarr", "coarse.zarr"]), (coarse_crank, ["run 1", "run 2"])):
        path = tmp_path / "named.html"
        fine.export_html(path, compare=second)
        tab = open_tab(path)
        assert tab.page.locator(".plot").first.locator(".legend em").all_inner_texts() == names
        chips = tab.page.locator(".chip.quiet").all_inner_texts()
        assert chips[:2] == [f"{names[0]}: Jet · DOP853", f"compared with {names[1]}: Jet · RungeKutta4"]
        tab.screenshot(f"named_{names[0].replace(' ', '_')}")
        tab.do("viewer.command('compare')")
        assert tab.page.locator(".halves span").all_inner_texts() == [chips[0], f"{names[1]}: Jet · RungeKutta4"]


def test_64_bodies_for_10_seconds(open_tab, long_chain, tmp_path):
    """Below 6 MB, at most a hundred frames a second; what opening and drawing it cost is measured by `benchmarks/page.py`."""
    path = tmp_path / "chain.html"
    long_chain.export_html(path)
    assert path.stat().st_size < 6e6
    tab = open_tab(path)
    assert 500 < tab.state["frames"][0] <= 1001
    assert 20_000 < tab.state["triangles"] < 120_000, "small parts are round enough with few corners"
    marks = tab.do("performance.getEntriesByType('mark').map(({ name }) => name)")
    assert marks == ["script", "data", "built", "picture", "furnished"], "curves are made when the picture is seen"
    tab.do("viewer.command('forces'); viewer.play()")
    tab.wait("viewer.scriptTimes().length > 5")
    tab.do("viewer.pause(); viewer.scrub(10)")
    assert position(tab)["rod 64"] == pytest.approx(long_chain.position("rod 64")[-1], abs=2e-5)
    tab.screenshot("chain_64")
