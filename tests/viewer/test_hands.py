"""The page under mouse, fingers and keys as a reader uses them: real clicks, real typing, in a real browser."""

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

import dalembert as da
from dalembert.gallery import slider_crank

ACTIVE = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName"


@pytest.fixture
def fresh(fresh_tab):
    fresh_tab.do("viewer.command('tree')")
    return fresh_tab


def row(tab, name):
    return tab.page.locator(".row", has=tab.page.get_by_text(name, exact=True))


def picture(tab):
    """What the canvas holds, (height, width, 3)."""
    data = base64.b64decode(tab.do("viewer.picture()").partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def test_text_fields_take_what_is_typed_after_a_click(fresh):
    page = fresh.page
    before = fresh.state["settings"]
    page.locator(".search").click()
    page.keyboard.type("slid d")
    assert page.locator(".search").input_value() == "slid d"
    plot = page.locator(".plot").first
    plot.get_by_role("button", name="add a curve, set limits").click()
    assert fresh.do(ACTIVE) == "add an output, by name"
    page.keyboard.type("speed of rod")
    for end, number in (("from", "0"), ("to", "20")):
        plot.get_by_label(end, exact=True).click()
        page.keyboard.type(number)
    page.keyboard.press("Enter")
    assert fresh.state["settings"] == before and not fresh.state["playing"], "no letter was a command"
    assert fresh.state["plots"][0]["curves"] == ["angle of A", "speed of rod"]
    assert plot.get_by_label("to", exact=True).input_value() == "20"


def test_a_list_keeps_the_focus_of_keys(fresh):
    page = fresh.page
    for chosen in (page.locator(".plot select").first, page.locator(".speed")):
        chosen.focus()
        before = chosen.input_value()
        page.keyboard.press("ArrowDown")
        assert chosen.input_value() != before
        assert fresh.do("document.activeElement.tagName") == "SELECT"
        page.keyboard.press("ArrowUp")
        assert chosen.input_value() == before, "the next arrow is for the list, too"
    assert fresh.state["time"] == 0


def test_the_sheet_of_keys_is_a_dialog(fresh):
    page = fresh.page
    row(fresh, "rod").click()
    page.locator(".hint").focus()
    page.keyboard.press("Enter")
    sheet = page.get_by_role("dialog", name="Keys")
    assert sheet.get_attribute("aria-modal") == "true"
    assert fresh.do("document.activeElement.className") == "sheet"
    for _ in range(3):
        page.keyboard.press("Tab")
        assert fresh.do("Boolean(document.activeElement.closest('.sheet'))"), "the focus stays in it"
    page.keyboard.press("f")
    assert fresh.state["settings"]["forces"] is False
    page.keyboard.press("Escape")
    assert not sheet.is_visible()
    assert fresh.state["chosen"] == "rod", "escape closes the sheet alone"
    assert fresh.do("document.activeElement.className") == "hint"


def test_the_picture_is_turned_and_zoomed_by_keys(fresh):
    page = fresh.page
    start = fresh.state["camera"]
    page.keyboard.press("ArrowRight")
    assert fresh.state["camera"]["direction"] == pytest.approx(start["direction"]) and fresh.state["time"] > 0
    time = fresh.state["time"]
    page.locator(".stage > canvas").focus()
    page.keyboard.press("ArrowRight")
    turned = fresh.state["camera"]
    angle = np.degrees(np.arctan2(*reversed(turned["direction"][:2])) - np.arctan2(*reversed(start["direction"][:2])))
    assert angle == pytest.approx(5.0, abs=1e-6)
    page.keyboard.press("ArrowUp")
    assert fresh.state["camera"]["direction"][2] > turned["direction"][2]
    page.keyboard.press("+")
    assert fresh.state["camera"]["distance"] == pytest.approx(start["distance"] / 1.15)
    page.keyboard.press("Shift+ArrowUp")
    assert fresh.state["camera"]["target"][2] > start["target"][2]
    assert fresh.state["time"] == time
    for _ in range(60):
        page.keyboard.press("ArrowUp")
    assert 0.99 < fresh.state["camera"]["direction"][2] < 1, "not over the top"
    page.mouse.click(30, 400)
    page.keyboard.press("ArrowRight")
    assert fresh.state["time"] > time, "a click leaves arrows to time"


def test_the_edge_of_the_plots_says_where_it_is(fresh):
    edge = fresh.page.get_by_role("separator")
    fresh.wait("document.querySelector('.edge').ariaValueNow")
    assert [edge.get_attribute(f"aria-value{name}") for name in ("now", "min", "max")] == ["376", "220", "896"]
    edge.focus()
    fresh.page.keyboard.press("ArrowLeft")
    fresh.wait("document.querySelector('.edge').ariaValueNow === '416'")
    box = edge.bounding_box()
    seen = np.asarray(Image.open(io.BytesIO(fresh.page.screenshot())).convert("L")).astype(int)
    strip = seen[:, round(box["x"]) : round(box["x"] + box["width"])]
    assert strip[340:420].min() < 130, "a grip"


def test_what_is_seen_through_is_so_where_it_is_chosen(fresh):
    """The rim is around it, not behind it."""
    row(fresh, "crank").click()
    fresh.page.keyboard.press("x")
    chosen = picture(fresh)
    fresh.page.keyboard.press("x")
    solid = picture(fresh)
    fresh.page.keyboard.press("h")
    without = picture(fresh)
    inside = np.abs(solid - without).max(axis=2) > 60
    blue = np.array([0x1F, 0x66, 0xA8])  # of the rim
    rim = np.abs(chosen - blue).max(axis=2) < 12
    assert (inside & rim).sum() < 0.35 * inside.sum()
    assert rim.sum() > 200, "there is one"


def test_what_is_hidden_leaves_no_marks(fresh):
    fresh.do("viewer.command('trails'); viewer.command('trails')")
    row(fresh, "crank").click()
    fresh.page.keyboard.press("h")
    fresh.wait("viewer.settled()")
    hidden = picture(fresh)
    fresh.page.keyboard.press("Escape")
    fresh.wait("viewer.settled()")
    assert np.array_equal(hidden, picture(fresh))


def test_the_rim_of_a_plate_is_closed(open_tab, tmp_path):
    """Of a triangle of 0.1 m: as long as its circumference, and three pixels wide, but for what lies over it."""
    da.simulate(da.gallery.build("andrews"), 0.001).export_html(tmp_path / "andrews.html")
    tab = open_tab(tmp_path / "andrews.html")
    tab.do("viewer.command('tree')")
    row(tab, "K3").click()
    tab.wait("viewer.settled()")
    rim = np.abs(picture(tab) - [0x1F, 0x66, 0xA8]).max(axis=2) < 40
    ends = [tab.do(f"viewer.project({x}, 0, 0)")[0] for x in (0.0, 0.01)]
    around = 0.07 / 0.01 * (ends[1] - ends[0])
    assert rim.sum() > 0.7 * 3 * around
    tab.screenshot("hands_plate")


def test_a_chosen_torque_has_a_rim(open_tab, tmp_path):
    model = slider_crank()
    model.add_torque("drive", "crank", (0.1, 0, 0))
    da.simulate(model, 0.2).export_html(tmp_path / "torque.html")
    tab = open_tab(tmp_path / "torque.html")
    tab.do("viewer.command('tree')")
    tab.wait("viewer.settled()")
    plain = picture(tab)
    row(tab, "drive").click()
    tab.wait("viewer.settled()")
    assert (np.abs(picture(tab) - plain).max(axis=2) > 40).sum() > 200
    tab.screenshot("hands_torque")


def test_the_whole_motion_is_seen_again_after_following_a_body(fresh):
    start = fresh.state["camera"]
    row(fresh, "slider").click()
    fresh.do("viewer.scrub(0.4)")
    fresh.page.keyboard.press("k")
    assert fresh.page.get_by_text("camera follows slider").is_visible()
    fresh.do("viewer.scrub(0.9)")
    assert np.linalg.norm(np.subtract(fresh.state["camera"]["target"], start["target"])) > 0.02
    fresh.page.keyboard.press("c")
    assert fresh.state["camera"]["target"] == pytest.approx(start["target"], abs=1e-9)
    assert not fresh.page.get_by_text("camera follows").is_visible()
    fresh.page.keyboard.press("Escape")
    fresh.page.keyboard.press("k")
    assert fresh.page.get_by_text("camera follows slider").is_visible(), "the heaviest"
    fresh.do("viewer.scrub(0.2)")
    stays = fresh.state["camera"]["target"]
    fresh.page.keyboard.press("k")
    fresh.do("viewer.scrub(1.2)")
    assert fresh.state["camera"]["target"] == pytest.approx(stays, abs=1e-9)
    fresh.page.keyboard.press("c")
    assert fresh.state["camera"]["target"] == pytest.approx(start["target"], abs=1e-9)


def test_nothing_is_drawn_over_arrows(fresh):
    """Neither the grid nor what is seen through: their pixels are the same without."""
    fresh.do("viewer.scrub(0.25); viewer.command('forces'); viewer.command('trails'); viewer.command('trails')")
    orange = np.array([0xD9, 0x48, 0x0F])

    def arrows():
        fresh.wait("viewer.settled()")
        image = picture(fresh)
        return image, (image @ orange) / (np.linalg.norm(image, axis=2) * np.linalg.norm(orange) + 1e-9) > 0.995

    for name in ("crank", "rod", "slider"):
        row(fresh, name).click()
        fresh.page.keyboard.press("x")
        fresh.page.keyboard.press("Escape")
    with_ground, seen = arrows()
    fresh.page.keyboard.press("g")
    _, there = arrows()
    both = seen & there
    assert both.sum() > 300
    for name in ("crank", "rod", "slider"):
        row(fresh, name).click()
        fresh.page.keyboard.press("h")
        fresh.page.keyboard.press("Escape")
    alone, left = arrows()
    same = left & (np.abs(alone - with_ground).max(axis=2) < 4)
    assert same.sum() > 0.97 * left.sum()


def test_the_triad_says_from_where_and_goes_on_to_the_other_side(fresh):
    page = fresh.page
    page.keyboard.press("1")
    ball = page.locator(".triad g[aria-label='from +x']")
    ball.locator("circle").click()
    assert fresh.state["camera"]["direction"] == pytest.approx((1, 0, 0), abs=1e-6)
    assert fresh.do("document.activeElement === document.body")
    order = "[...document.querySelectorAll('.triad g')].map((g) => g.getAttribute('aria-label'))"
    fresh.wait("viewer.settled()")
    assert fresh.do(order)[-1] == "from +x", "what is in front is drawn last"
    ball.locator("circle").click()
    assert fresh.state["camera"]["direction"] == pytest.approx((-1, 0, 0), abs=1e-6)
    fresh.wait("viewer.settled()")
    assert fresh.do(order)[0] == "from +x"
    ball.focus()
    page.keyboard.press("Space")
    assert fresh.state["camera"]["direction"] == pytest.approx((1, 0, 0), abs=1e-6)
    fresh.wait("viewer.settled()")
    assert fresh.do(order)[-1] == "from +x" and fresh.do(ACTIVE) == "from +x", "also while it has the focus"


def test_a_search_without_hits_says_so(fresh):
    fresh.page.locator(".search").click()
    fresh.page.keyboard.type("zzz")
    assert fresh.page.get_by_text("no element has “zzz” in its name or kind").is_visible()
    fresh.page.locator(".search").fill("rod")
    assert not fresh.page.locator(".none").is_visible()


def test_a_finger_scrubs_across_a_plot_and_scrolls_along_it(browser, crank_page):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(crank_page.as_uri())
    page.wait_for_function("() => window.viewer")
    if not page.evaluate("viewer.state().settings.panel"):
        page.evaluate("viewer.command('panel')")
    page.wait_for_timeout(100)
    touch = context.new_cdp_session(page)

    def drag(x, y, across, down):
        at = lambda k: [{"x": x + across * k / 8, "y": y + down * k / 8}]  # noqa: E731
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at(0)})
        for k in range(1, 9):
            touch.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": at(k)})
            page.wait_for_timeout(16)
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_timeout(100)
        return page.evaluate("[viewer.state().time, document.querySelector('.panel').scrollTop]")

    box = page.locator(".plot .u-over").first.bounding_box()
    x, y = box["x"] + 0.2 * box["width"], box["y"] + 0.5 * box["height"]
    time, scrolled = drag(x, y, 0.5 * box["width"], 4)
    assert time == pytest.approx(0.7 * 2.0, abs=0.05) and scrolled == 0
    begun, scrolled = drag(x, y, 2, -80)
    assert scrolled > 40
    after, _ = drag(150, 250, 100, 40)  # turns the view
    context.close()
    assert after == begun


def test_the_bar_of_a_failed_check_goes_beyond_the_limit(open_tab, tmp_path):
    run = da.simulate(slider_crank(), 0.5, integrator=da.Euler(step=0.01))
    run.export_html(tmp_path / "failed.html")
    tab = open_tab(tmp_path / "failed.html")
    tab.page.locator(".chip").first.click()
    told = "[...document.querySelectorAll('.trust .fail .share')].map((bar) => getComputedStyle(bar, '::after').content)"
    assert set(tab.do(told)) == {'">"'}
    assert tab.page.locator(".trust tr.pass .share.over").count() == 0
    text = tab.page.locator(".trust").inner_text()
    assert re.findall(r"e−0\d", text) == [], "exponents as everywhere in the page"
    tab.screenshot("hands_failed")
