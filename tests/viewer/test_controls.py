"""Keys, focus, default plots and chips of the page, in a real browser."""

import re

import pytest

import dalembert as da
from dalembert import gallery


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages of runs by name, made once."""
    folder = tmp_path_factory.mktemp("pages")

    def page(name, t_end, **options):
        path = folder / f"{name}.html"
        if not path.exists():
            da.simulate(gallery.build(name), t_end, **options).export_html(path)
        return path

    return page


def test_one_key_press_is_one_frame_of_a_short_run(open_tab, pages):
    tab = open_tab(pages("andrews", 0.03))
    assert tab.state["speed"] == 0.002, "slow motion that lasts about ten seconds"
    tab.page.keyboard.press("ArrowRight")
    assert tab.state["time"] == pytest.approx(0.002 / 60)
    tab.page.keyboard.press("-")
    tab.page.keyboard.press("ArrowRight")
    assert tab.state["time"] == pytest.approx(0.003 / 60)
    assert "0.001×" in tab.page.locator(".speed").inner_text()


def test_space_plays_after_a_click_and_presses_the_button_that_keys_have_reached(fresh_tab):
    for button in (".tools button[aria-label='forces']", "button.play", ".chip", ".trust summary"):
        tab = fresh_tab
        if tab.state["playing"]:
            tab.do("viewer.pause()")
        tab.page.locator(button).first.click()
        tab.do("viewer.pause()")
        before = tab.state["settings"], tab.do("document.querySelector('.trust').open")
        assert tab.do("document.activeElement === document.body"), f"the focus stays on {button}"
        tab.page.keyboard.press("Space")
        assert tab.state["playing"], button
        assert (tab.state["settings"], tab.do("document.querySelector('.trust').open")) == before, button
    tab.do("viewer.pause()")
    for key, forces in (("Space", False), ("Enter", True)):
        tab.page.locator(".tools button[aria-label='forces']").focus()  # as the tabulator key would
        tab.page.keyboard.press(key)
        assert tab.state["settings"]["forces"] is forces and not tab.state["playing"], key


@pytest.mark.parametrize(
    ("name", "plots"),
    [
        ("euler_top", ["position of top", "velocity of top", "energy"]),  # no joint
        ("simple_pendulum", ["position of bob", "velocity of bob", "energy"]),  # a rod of constant length
        ("symmetric_top", ["rotation of tip", "rate of rotation of tip", "change of energy"]),
    ],
)
def test_plots_at_first_are_three_different_ones_that_show_something(open_tab, pages, name, plots):
    tab = open_tab(pages(name, 0.5))
    assert [plot["name"] for plot in tab.state["plots"]] == plots


def test_the_page_follows_what_rolls_away(open_tab, pages):
    tab = open_tab(pages("bicycle", 3.0))
    places = []
    for t in (0.0, 3.0, 1.5):
        tab.do(f"viewer.scrub({t})")
        frame = next(body["position"] for body in tab.state["bodies"][0] if body["name"] == "frame")
        places.append(tab.do(f"viewer.project(...{frame})"))
    assert all(abs(x - 470) < 120 and abs(y - 380) < 200 for x, y in places), places


def test_the_chip_says_which_check_failed(open_tab, pages):
    tab = open_tab(pages("slider_crank", 0.5, integrator=da.Euler(step=0.01)))
    assert tab.page.locator(".chip").first.inner_text().startswith("✗ not trusted: energy balance")


def test_the_chip_counts_what_to_be_careful_about(open_tab, pages):
    tab = open_tab(pages("four_bar", 0.1))
    chip = tab.page.locator(".chip").first
    assert chip.inner_text() == "✓ trusted · 2 notes"
    assert chip.get_attribute("title") == "show the trust report (R); careful: redundant rows, reactions not unique"
    chip.click()
    notes = tab.page.locator(".trust details").filter(has=tab.page.get_by_text("careful", exact=True))
    assert notes.locator("tr").count() == 2


def test_minus_signs_are_of_one_kind(fresh_tab):
    tab = fresh_tab
    tab.page.locator(".plot select").first.select_option("reaction force of D")
    tab.do("viewer.scrub(1.3)")
    tab.page.locator(".chip").first.click()
    text = tab.do("document.querySelector('.panel').innerText")
    assert "−" in text
    assert re.findall(r"(?<![\w.])-\d|\de-\d", text.replace("model hash", "")) == []


def test_the_page_brings_its_icon(fresh_tab):
    assert fresh_tab.do("document.querySelector('link[rel=icon]').href").startswith("data:image/svg+xml,%3Csvg")


def test_doubts_and_what_is_not_unique_are_told_by_part(open_tab, tmp_path):
    """A slider-crank of revolute joints about y, one of them 5 mm off the end of its link: forces in the plane are unique."""
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0, 0, 0.205), mass=1.0, radius=0.01)
    model.add_link("rod", (0, 0, 0.2), (0.6, 0, 0), mass=1.0, radius=0.01)
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.6, 0, 0))
    for name, first, second, point in (
        ("A", "ground", "crank", (0, 0, 0)),
        ("B", "crank", "rod", (0, 0, 0.2)),
        ("C", "rod", "slider", (0.6, 0, 0)),
    ):
        model.add_revolute(name, first, second, point=point, axis=(0, 1, 0))
    model.add_prismatic("D", "ground", "slider", point=(0.6, 0, 0), axis=(1, 0, 0))
    page = tmp_path / "page.html"
    da.simulate(model, 0.5).export_html(page)
    tab = open_tab(page)
    chip = tab.page.locator(".chip").first
    assert chip.inner_text() == "! trusted, but look at the model: joint 'B' is 0.005 m off the end of body 'crank'"
    assert "warn" in chip.get_attribute("class")
    tab.do("viewer.command('tree')")
    tab.page.locator(".row", has=tab.page.get_by_text("B", exact=True)).click()
    card = " ".join(tab.page.locator(".card").inner_text().split())
    assert "reaction, not unique" not in card and card.endswith("not unique force along y, torque about own x and y")
    tab.screenshot("controls_not_unique")


def pendulum():
    model = da.Model(plane="xz")
    model.add_link("rod", (0, 0, 0), (0, 0, -0.5), mass=1.0)
    model.add_revolute("A", model.ground, "rod", point=(0, 0, 0))
    return model


def test_one_pose_has_no_plots_and_no_time(open_tab, tmp_path):
    """Three empty plots, a clock 0.000 / 0.000 s, and a red chip."""
    da.equilibrium(pendulum()).export_html(tmp_path / "rest.html")
    tab = open_tab(tmp_path / "rest.html")
    for part in (".transport", ".dock", ".plot"):
        assert tab.page.locator(f"{part}:visible").count() == 0, part
    assert tab.page.locator(".chip").first.inner_text().startswith("✓ trusted")
    assert tab.page.locator(".chip.quiet").first.inner_text() == "at rest"


def test_a_sweep_goes_over_its_coordinate(open_tab, tmp_path):
    """An angle of 1 rad was called 1 s."""
    da.kinematics(pendulum(), sweep={"A": [0.0, 0.5, 1.0]}).export_html(tmp_path / "sweep.html")
    tab = open_tab(tmp_path / "sweep.html")
    assert tab.page.locator(".clock").inner_text() == "A 0.00 / 1.00 rad"
    assert tab.page.locator(".dock").inner_text().split("\n")[1] == "A" or " A " in tab.page.locator(".dock").inner_text()
    assert tab.do("viewer.state().plots.length") > 0
    assert tab.page.locator(".slider").get_attribute("aria-label") == "A"
