"""Phones and frames in other pages: what is in rows shows that it goes on, cards have lines to read, the picture is seen."""

import pytest

import dalembert as da


@pytest.fixture
def phone(open_tab, crank_page):
    """Opened as it is: plots are not shown at first."""

    def open_(width, height, page=crank_page):
        tab = open_tab(page)
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.reload()
        tab.wait("viewer.scriptTimes().length > 0")
        tab.do("viewer.pause(); viewer.scrub(0)")
        return tab

    return open_


def test_a_legend_that_goes_on_fades_at_its_end(phone, press, tmp_path):
    """It was 623 pixels wide in 374, and nothing showed that there is more; scrolled to its end all of it is seen."""
    da.simulate(press, 1.0).export_html(tmp_path / "press.html")
    tab = phone(390, 844, tmp_path / "press.html")
    tab.do("viewer.command('forces')")
    key = tab.page.locator(".key")
    assert key.evaluate("key => key.scrollWidth > key.clientWidth")
    fade = key.evaluate("key => getComputedStyle(key).maskImage.match(/(\\d+)px/)[1]")
    last = key.locator(".kind").last
    key.evaluate("key => (key.scrollLeft = key.scrollWidth)")
    box, end = last.bounding_box(), key.bounding_box()
    assert box["x"] + box["width"] <= end["x"] + end["width"] - int(fade) + 1
    tab.screenshot("small_legend")


def test_a_card_beside_the_tree_of_a_phone_has_lines_to_read(phone):
    """It had one; what moves is seen above it."""
    tab = phone(390, 844)
    tab.do("viewer.command('tree')")
    tab.page.locator(".row", has=tab.page.get_by_text("slider", exact=True)).first.click()
    card = tab.page.locator(".card").bounding_box()
    rows = [row.bounding_box() for row in tab.page.locator(".card tr").all()]
    assert sum(row["y"] + row["height"] <= card["y"] + card["height"] for row in rows) >= 3
    bodies, top = tab.state["bodies"][0], tab.page.locator(".stage").bounding_box()["y"]
    for body in bodies:
        assert top < tab.do(f"viewer.project(...{body['position']})")[1] < card["y"], body["name"]
    tab.screenshot("small_card")


@pytest.mark.parametrize(("width", "height"), [(320, 200), (390, 180), (600, 240), (390, 300)])
def test_in_a_short_frame_the_picture_has_most_of_it(phone, width, height):
    """It had a quarter: title, buttons and the bar of time lay over it. What stays: title, trust, keys, and time."""
    tab = phone(width, height)
    head, bar = (tab.page.locator(name).bounding_box() for name in (".head", ".transport"))
    assert bar["y"] - head["y"] - head["height"] > 0.45 * height
    assert bar["x"] >= 0 and bar["x"] + bar["width"] <= width and bar["y"] + bar["height"] <= height
    loop = tab.page.get_by_role("button", name="play in a loop").bounding_box()
    assert loop["x"] + loop["width"] <= bar["x"] + bar["width"]
    for name in (".title h1", "button.chip", ".hint", ".play", ".slider"):
        assert tab.page.locator(name).first.is_visible(), name
    for body in tab.state["bodies"][0]:
        x, y = tab.do(f"viewer.project(...{body['position']})")
        assert 0 < x < width and head["y"] + head["height"] < y < bar["y"], body["name"]
    tab.screenshot(f"small_{width}_{height}")
    tab.page.keyboard.press("e")
    assert tab.state["settings"]["tree"], "keys do what buttons do that are not there"
