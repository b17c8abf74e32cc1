"""Plots of the page: which outputs by which names, axes and their units, limits, tables; two runs and their strip."""

import base64
import csv
import io

import numpy as np
import pytest

import dalembert as da
from dalembert.results.signal_names import meant, words_of

NAME = "add an output, by name"


@pytest.fixture(scope="module")
def plane(press):
    """Without its load."""
    model = press.copy()
    model.remove("load")
    return da.simulate(model, 1.0)


@pytest.fixture(scope="module")
def page(plane, tmp_path_factory):
    path = tmp_path_factory.mktemp("plots") / "plane.html"
    plane.export_html(path)
    return path


@pytest.fixture
def tab(open_tab, page):
    tab = open_tab(page)
    tab.page.locator(".plot").first.get_by_role("button", name="add a curve, set limits").click()
    return tab


def number(text):
    return float(text.replace("−", "-"))


def ends(text):
    """Of "least … largest (Δ difference)"."""
    return [number(end) for end in text.split(" (")[0].split(" … ")]


def enter(tab, text, label=NAME):
    field = tab.page.locator(".plot").first.get_by_label(label, exact=True)
    field.click()
    field.fill("")
    tab.page.keyboard.type(text)
    tab.page.keyboard.press("Enter")


def told(tab):
    return tab.page.locator(".plot .told").first.inner_text()


def test_outputs_have_the_names_of_signals(tab, plane):
    """Whatever an output of the page is called in it, `dalembert plot` has the same curve under its signal."""
    tab.do("viewer.scrub(0.6)")
    at = plane(0.6)
    for signal, label, value in (
        ("slider.x", "x of slider", at.position("slider")[0]),
        ("A.f", "|reaction force| of A", np.linalg.norm(at.reaction("A").force)),
        ("motor.power", "power of motor", None),
        ("rod.wy", "angular velocity y of rod", at.angular_velocity("rod")[1]),
        ("kinetic_energy", "kinetic T", None),
    ):
        tab.page.locator(".plot select").first.select_option("angle of A")
        enter(tab, signal)
        plot = tab.state["plots"][0]
        assert plot["curves"] == ["angle of A", label], signal
        if value is not None:
            assert number(plot["values"][1]) == pytest.approx(value, rel=2e-3, abs=1e-6)
    options = tab.do("[...document.querySelectorAll('#outputs option')].map((one) => [one.label, one.value])")
    signals = {signal: label for signal, label in options if signal != label}
    assert len(signals) > 40
    for signal, label in signals.items():
        kind, owner, part = meant(plane.mechanism.model, signal)
        assert kind == "energy" or words_of(plane.mechanism.model, kind, owner, part)[0] == label
    tab.screenshot("plots_signal")


def test_what_there_is_not_is_said_in_words(tab):
    enter(tab, "slider.q")
    assert "there is no output “slider.q”" in told(tab)
    enter(tab, "slide")
    assert "there is x of slider" in told(tab) or "slider" in told(tab).split(";")[1]
    for wrong, near in (("crank.f", "crank."), ("moter", "motor"), ("B.fq", "B.f"), ("angle off A", "angle of A")):
        enter(tab, wrong)
        assert told(tab).split("; there is ")[1].startswith(near), "nearest names first"
    assert tab.state["plots"][0]["curves"] == ["translation of D"]
    enter(tab, "slider.x")
    assert told(tab) == ""


def test_an_added_curve_is_removed_again(tab):
    enter(tab, "slider.x")
    assert len(tab.state["plots"][0]["curves"]) == 2
    tab.page.get_by_role("button", name="remove x of slider").click()
    assert tab.state["plots"][0]["curves"] == ["translation of D"]
    enter(tab, "slider.x")
    tab.page.get_by_role("button", name="remove x of slider").focus()
    tab.page.keyboard.press("Enter")
    assert tab.state["plots"][0]["curves"] == ["translation of D"]


def test_a_model_in_a_plane_has_no_components_out_of_it(tab):
    names = tab.do("[...document.querySelectorAll('#outputs option')].map((one) => one.value)")
    assert {"x of rod", "z of rod", "angular velocity y of rod", "reaction force x of A"} <= set(names)
    assert not {"y of rod", "velocity y of rod", "angular velocity x of rod", "reaction force y of A"} & set(names)


def test_two_axes_have_two_units(tab):
    """Which are told beside the title, in the line that has the plot's buttons."""
    tab.page.set_viewport_size({"width": 1400, "height": 900})
    tab.do("viewer.scrub(0.3)")
    enter(tab, "A")
    items = tab.page.locator(".plot").first.locator(".legend span.value").all_inner_texts()
    assert [item.split()[-1] for item in items] == ["m", "rad"]
    enter(tab, "motor")
    assert told(tab) == "the axes have [m] and [rad]; add another plot for [N m]"
    assert tab.state["plots"][0]["curves"] == ["translation of D", "angle of A"]
    assert tab.page.locator(".plot .unit").first.inner_text() == "[m], [rad]"
    for head in tab.page.locator(".plot header").all():
        top, *others = [part.bounding_box()["y"] for part in head.locator("select, button").all()]
        assert all(abs(y - top) < 6 for y in others)
    tab.screenshot("plots_two_axes")


def test_limits_are_numbers_the_smaller_one_first(tab):
    def ticks(axis):
        return [number(tick) for tick in tab.state["plots"][0]["axes"][axis]["ticks"] if tick]

    tab.page.locator(".plot select").first.select_option("angle of A")
    enter(tab, "2", "from")
    before = ticks(1)
    for text, words in (("1", "from 2 to 1"), ("abc", "“abc” is no number")):
        enter(tab, text, "to")
        assert words in told(tab)
        assert ticks(1) == before, "the axis is as it was"
    enter(tab, "1", "from")
    enter(tab, "3", "to")
    assert told(tab) == "" and min(ticks(1)) >= 1 and max(ticks(1)) <= 3
    enter(tab, "slider.x")
    enter(tab, "0", "from, right axis")
    enter(tab, "1", "to, right axis")
    assert [min(ticks(2)), max(ticks(2))] == [0, 1]
    enter(tab, "50", "from")
    enter(tab, "", "to")
    assert all(tick >= 50 for tick in ticks(1)), "all is below the one end that is set"
    tab.page.locator(".plot select").first.select_option("constraint drift")
    enter(tab, "0", "from")
    assert "logarithmic" in told(tab)


def test_tables_of_plots_have_the_digits_that_the_page_has(tab):
    """Single precision: eight."""
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="save these curves as numbers").first.click()
    rows = list(csv.reader(io.StringIO(download.value.path().read_text())))[1:]
    assert max(len(value.replace("-", "").replace(".", "").lstrip("0")) for _, value in rows if "e" not in value) <= 8
    assert "dalembert export" in tab.page.locator("button[aria-label='save these curves as numbers']").first.get_attribute(
        "title"
    )


def test_a_new_plot_is_of_what_is_not_shown_yet(tab):
    for _ in range(3):
        tab.page.get_by_role("button", name="add a plot").click()
    shown = [plot["name"] for plot in tab.state["plots"]]
    assert len(set(shown)) == 6


def test_rounding_beside_numbers_is_zero_in_plots_too(open_tab, tmp_path):
    """The angle of a link that begins at 1e-18 rad."""
    path = tmp_path / "andrews.html"
    da.simulate(da.gallery.build("andrews"), 0.01).export_html(path)
    tab = open_tab(path)
    for plot in tab.state["plots"]:
        numbers = [*map(number, plot["values"]), *(end for both in plot["extremes"] for end in ends(both))]
        assert [value for value in numbers if value and abs(value) < 1e-14] == []


def test_nothing_moves_while_numbers_change(open_tab, tmp_path):
    da.simulate(da.gallery.build("andrews"), 0.02).export_html(tmp_path / "andrews.html")
    tab = open_tab(tmp_path / "andrews.html")
    tab.do("viewer.command('tree')")
    tab.page.locator(".row", has=tab.page.get_by_text("K1", exact=True)).click()
    tops = set()
    for k in range(40):
        tab.do(f"viewer.scrub({0.0005 * k})")
        tops.add(tab.do("document.querySelector('.trust').getBoundingClientRect().top"))
    assert len(tops) == 1


def test_what_is_read_stays_where_it_is_while_elements_are_chosen(open_tab, page):
    tab = open_tab(page)
    tab.do("viewer.command('tree')")
    tab.page.set_viewport_size({"width": 1280, "height": 500})
    tab.do("document.querySelector('.panel').scrollTop = 200")
    plots = "[...document.querySelectorAll('.plot')]"
    top = f"{plots}.find((plot) => plot.querySelector('select').value === 'energy').getBoundingClientRect().top"
    before = tab.do(top)
    for name in ("crank", "B", "slider"):
        tab.page.locator(".row", has=tab.page.get_by_text(name, exact=True)).click()
        tab.page.wait_for_timeout(50)
        assert tab.do(top) == pytest.approx(before, abs=1), name


def test_loads_that_a_file_does_not_hold_are_told_so(open_tab, tmp_path):
    model = da.Model(name="pushed")
    model.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("A", "ground", "body", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_force("push", "body", lambda t: (0.0, 0.0, 2.0 * np.sin(3.0 * t)))
    da.simulate(model, 0.5).save(tmp_path / "pushed.zarr")
    da.load(tmp_path / "pushed.zarr").export_html(tmp_path / "pushed.html")
    tab = open_tab(tmp_path / "pushed.html")
    tab.do("viewer.command('tree')")
    before = [plot["name"] for plot in tab.state["plots"]]
    tab.page.locator(".row", has=tab.page.get_by_text("push", exact=True)).click()
    assert "not in the file: a function of the program" in tab.page.locator(".card").inner_text()
    assert [plot["name"] for plot in tab.state["plots"]] == before
    assert "force of push" not in tab.page.locator(".plot select").first.inner_text()


def test_a_run_without_its_functions_says_how_to_a_page_of_it(tmp_path):
    model = da.Model(name="cam", gravity=(0, 0, 0))
    model.add_body("cam", **da.disc(1.0, 0.1, axis="z").body())
    model.add_body("valve", mass=0.2, inertia=(1e-4, 1e-4, 1e-4), position=(0, 0.1, 0))
    model.add_revolute("C", "ground", "cam", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("V", "ground", "valve", point=(0, 0.1, 0), axis=(0, 1, 0))
    model.add_driver("shaft", "C", da.Polynomial((0.0, 20.0)))
    model.add_cam("lobe", "cam", "valve", support=lambda psi: 0.1 + 0.01 * np.cos(2 * psi), normal=(0, 1, 0))
    da.simulate(model, 0.02).save(tmp_path / "cam.zarr")
    with pytest.raises(da.DalembertError, match=r"\.export_html\(page\), opens"):
        da.load(tmp_path / "cam.zarr")
    page = tmp_path / "cam.html"
    da.load(tmp_path / "cam.zarr", model=model).export_html(page)
    assert page.exists()


@pytest.fixture
def two(open_tab, crank, coarse_crank, tmp_path):
    crank.save(tmp_path / "fine.zarr")
    coarse_crank.save(tmp_path / "coarse.zarr")
    path = tmp_path / "two.html"
    da.load(tmp_path / "fine.zarr").export_html(path, compare=da.load(tmp_path / "coarse.zarr"))
    tab = open_tab(path)
    tab.do("viewer.command('tree')")
    return tab


def test_the_strip_has_the_worst_instants_of_both_runs(two, crank, coarse_crank):
    key = two.page.locator(".strip-key button")
    for k, (name, run) in enumerate((("fine.zarr", crank), ("coarse.zarr", coarse_crank))):
        line = run.report()["energy balance"]
        said, _, t = line.value.replace("-0", "−").replace("-", "−").partition(", worst at t = ")
        t = t.split(" s")[0]
        assert key.nth(k).inner_text() == f"{name}: energy error {said} at {t} s", "as the report has it, and relative to what"
        key.nth(k).click()
        assert two.state["time"] == pytest.approx(float(t))
    two.do("viewer.scrub(0)")
    two.page.keyboard.press("w")
    assert two.state["time"] == pytest.approx(float(t)), "the worst of both is of the coarse one"
    two.screenshot("plots_strip")


def test_side_by_side_each_half_has_its_own_marks(two):
    """Card, names and numbers say of which run they are, and are where that is."""
    two.do("viewer.scrub(1.7); viewer.command('compare')")
    stage = two.page.locator(".stage > canvas").bounding_box()
    place = two.state["bodies"][1][1]["position"]
    x, y = two.do(f"viewer.project(...{place})")
    two.page.mouse.click(x + stage["width"] / 2, y)
    card = two.page.locator(".card").inner_text()
    assert card.startswith("rod") and "in coarse.zarr" in card
    assert [f"{value:.3g}".replace("-", "−") in card for value in place] == [True] * 3
    two.do("viewer.command('names'); viewer.command('forces')")
    two.wait("document.querySelectorAll('.labels .number').length > 3")
    middle = stage["x"] + stage["width"] / 2
    for kind in (".labels .body", ".labels .number"):
        at = [one.bounding_box()["x"] for one in two.page.locator(f"{kind}:visible").all()]
        assert sum(x < middle for x in at) == sum(x > middle for x in at) >= 3, kind
    for half, run in enumerate(two.state["bodies"]):
        x, y = two.do(f"viewer.project(...{run[2]['position']})")
        x += half * stage["width"] / 2
        near = [one.bounding_box() for one in two.page.locator(".labels .body:visible", has_text="slider").all()]
        assert any(abs(box["x"] - x) < 60 and abs(box["y"] - y) < 60 for box in near)
    two.screenshot("plots_side")
    two.page.locator(".row", has=two.page.get_by_text("rod", exact=True)).click()
    assert "in fine.zarr" in two.page.locator(".card").inner_text()


def test_values_lie_in_the_ranges_that_are_told(open_tab, tmp_path):
    """The balance was 1.055, of 1.06 … 1.06."""
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (1, 0.11), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    run = da.simulate(model, 1.0)
    run.export_html(tmp_path / "bar.html")
    tab = open_tab(tmp_path / "bar.html")
    for plot in tab.state["plots"]:
        for value, told_ends in zip(plot["values"], plot["extremes"], strict=True):
            low, high = ends(told_ends)
            assert low <= number(value) <= high, plot["name"]


def test_all_drivers_are_plotted_at_first(open_tab, tmp_path):
    """One plot had the first driver's torque, none the second one's."""
    model = da.Model(plane="xz")
    for name, x in (("left", 0.0), ("right", 1.0)):
        model.add_link(f"{name} bar", (x, 0), (x, -0.4), mass=1.0)
        model.add_revolute(f"{name} pin", "ground", f"{name} bar", point=(x, 0))
        model.add_driver(name, f"{name} pin", da.Harmonic(0.3, 2.0))
    da.simulate(model, 1.0).export_html(tmp_path / "two.html")
    angles, torques, _ = open_tab(tmp_path / "two.html").state["plots"]
    assert angles["curves"] == ["angle of left pin", "angle of right pin"]
    assert torques["curves"] == ["torque of left", "torque of right"]


def test_energies_far_from_zero_are_plotted_as_changes():
    """As `plot.energy` does; swings of 0.01 J were flat lines at -6 J."""
    from dalembert.viewer.scene import scene_of

    def plots(z):
        model = da.Model(plane="xz")
        model.add_link("bar", (0, z), (0.1, z - 1), mass=1.0)
        model.add_revolute("A", "ground", "bar", point=(0, z))
        run = da.simulate(model, 1.0)
        return scene_of(run), run

    scene, run = plots(0.0)
    assert scene["plots"][-1] == ["change of energy"] and run.energy.far
    assert plots(0.5)[0]["plots"][-1] == ["energy"]
    group = next(group for group in scene["groups"] if group["name"] == "change of energy")
    assert [one["name"] for one in group["series"]] == ["change of kinetic T", "change of potential U", "change of total T + U"]
    values = [np.frombuffer(base64.b64decode(one["values"]), "<f4") for one in group["series"]]
    assert values[0][0] == values[1][0] == 0.0 and values[1].min() == pytest.approx(-values[0].max(), rel=1e-6)


def test_rotation_vectors_have_gaps_where_they_turn_over(open_tab, tmp_path):
    """From one end of half a turn to the other no line goes, however close the instants are."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("ball", **da.sphere(1.0, 0.1).body(), angular_velocity=(0, 0, 2.0))
    model.add_spherical("hook", "ground", "ball", point=(0, 0, 0))
    da.simulate(model, 3.0).export_html(tmp_path / "ball.html")
    tab = open_tab(tmp_path / "ball.html")
    picture = tab.do("""(() => {
      const { width, height } = document.querySelector(".plot canvas");
      const { data } = document.querySelector(".plot canvas").getContext("2d").getImageData(0, 0, width, height);
      return [height, width, Array.from(data)];
    })()""")
    r, g, b, a = np.moveaxis(np.reshape(picture[2], (*picture[:2], 4)), 2, 0)
    red = ((r > 150) & (g < 80) & (b < 80) & (a > 99)).sum(axis=0)
    assert red.max() < 0.1 * picture[0] and np.count_nonzero(red) > 0.6 * picture[1]  # it is there, and nowhere upright
