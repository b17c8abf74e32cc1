"""Ranges of the first plots: right to the digits that are shown, also where laws change fast and saved times are far apart."""

import base64

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.scene import scene_of, scenes_of

FAST = da.Table((-9.0, 0.0, 0.01, 9.0), (0.0, 0.0, 60.0, 60.0))  # a damper that holds one way: forces have kinks


def damped(press, motion=None, length=2.0):
    model = press.copy()
    model.remove("load")
    model.add_joint_spring_damper("damper", "D", damping=FAST)
    if motion is not None:
        model.remove("motor")
        model.add_driver("motor", "A", motion)
    return da.simulate(model, length)


def curves(scene):
    """Numbers of a page by the names of curves, and what signal each is."""
    return {
        one["name"]: (np.frombuffer(base64.b64decode(one["values"]), "<f4").astype(float), one["signal"])
        for group in scene["groups"]
        for one in group["series"]
    }


def pendulum():
    model = da.Model(name="double pendulum", plane="xz")
    model.add_link("upper", (0, 0), (0.6, 0), mass=1.0)
    model.add_link("lower", (0.6, 0), (1.1, 0), mass=1.0)
    model.add_revolute("S", "ground", "upper", point=(0, 0))
    model.add_revolute("E", "upper", "lower", point=(0.6, 0))
    return model


def pump():
    """Its torque is least where its damper begins to hold: there is a kink, no smooth bottom."""
    model = da.Model(name="pump", plane="xz")
    model.add_link("crank", (0, 0), (0.04, 0), mass=0.09)
    model.add_link("rod", (0.04, 0), (0.2, 0), mass=0.15)
    model.add_body("slider", **da.box(0.3, (0.06, 0.06, 0.06)).body(), position=(0.2, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0.04, 0))
    model.add_revolute("C", "rod", "slider", point=(0.2, 0))
    model.add_prismatic("D", "ground", "slider", point=(0.2, 0), axis=(-1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 12.0)))
    model.add_joint_spring_damper("damper", "D", damping=FAST)
    return da.simulate(model, 2.0)


@pytest.mark.parametrize("case", ["pump", "turning", "swinging", "free"])
def test_ranges_are_right_to_the_digits_that_are_shown(press, case):
    """Four; those of `largest` and `smallest`. At evenly spaced instants the least torque of the pump is 3 % off."""
    make = {
        "pump": pump,
        "turning": lambda: damped(press),
        "swinging": lambda: damped(press, da.Harmonic(0.5, 9.0), 6.0),
        "free": lambda: da.simulate(pendulum(), 3.0),
    }
    run = make[case]()
    scene = scene_of(run)
    known, first = curves(scene), {name for plot in scene["plots"] for name in plot}
    assert first - {"energy", "change of energy"} <= set(scene["exact"])
    compared = 0
    for name in scene["exact"]:
        values, signal = known[name]
        if not signal or "balance" in name or "total" in name:  # changes, and what is constant but for rounding
            continue
        for shown, true in ((values.min(), da.smallest(run, signal)), (values.max(), da.largest(run, signal))):
            digit = 10.0 ** (np.floor(np.log10(abs(true) or 1.0)) - 3)
            size = np.abs(values).max()
            assert abs(shown - true) < 0.5 * digit + 1e-7 * size, (name, shown, float(true))  # single precision
            compared += 1
    assert compared >= 4


def test_a_peak_between_all_instants_of_the_page_is_found(press):
    """Loads that act later than what is looked at have the same curves; changes of energy count from the start."""
    model = press.copy()
    model.add_force("push", "slider", (300.0, 0), factor=da.Table((1.5, 1.51, 1.52), (0, 1, 0), clamp=True))
    run = da.simulate(model, 2.0)
    values, _ = curves(scene_of(run))["torque of motor"]
    assert values.max() == pytest.approx(float(da.largest(run, "motor")), rel=1e-5)
    assert values.min() == pytest.approx(float(da.smallest(run, "motor")), rel=1e-5)
    swung = damped(press, da.Harmonic(0.5, 9.0), 3.0)
    values, _ = curves(scene_of(swung))["change of kinetic T"]
    kinetic = float(da.largest(swung, "kinetic_energy")) - swung.energy.kinetic[0]
    assert "change of kinetic T" in scene_of(swung)["exact"] and values.max() == pytest.approx(kinetic, rel=1e-4)


def test_runs_that_are_compared_have_the_peaks_of_each(press):
    one, other = damped(press), damped(press, da.Harmonic(0.5, 9.0))
    scenes = scenes_of([one, other])
    assert scenes[0]["times"] == scenes[1]["times"]
    for scene, run in zip(scenes, (one, other), strict=True):
        values, _ = curves(scene)["torque of motor"]
        assert values.max() == pytest.approx(float(da.largest(run, "motor")), rel=1e-5)


def test_what_has_no_states_between_saved_ones_is_said_to_be_of_those(tmp_path):
    """The function of a force is not in the file."""
    model = da.Model(name="pushed")
    model.add_body("body", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("A", "ground", "body", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_force("push", "body", lambda t: (0.0, 0.0, 2.0 * np.sin(3.0 * t)))
    run = da.simulate(model, 0.5)
    assert "angle of A" in scene_of(run)["exact"]
    run.save(tmp_path / "pushed.zarr")
    assert scene_of(da.load(tmp_path / "pushed.zarr"))["exact"] == []


def test_bodies_without_joints_have_ranges_of_where_they_are():
    model = da.Model(name="thrown")
    model.add_body("stone", mass=1.0, inertia=(0.1, 0.2, 0.3), velocity=(1.0, 0.0, 4.0))
    scene = scene_of(da.simulate(model, 1.0))
    assert scene["plots"][:2] == [["position of stone"], ["velocity of stone"]]
    poses = np.frombuffer(base64.b64decode(scene["poses"]), "<f4").reshape(-1, 7)
    g = float(np.abs(model.gravity).max())
    assert poses[:, np.argmax(np.abs(model.gravity))].max() == pytest.approx(16.0 / (2.0 * g), rel=1e-6)
    assert {"z of stone", "velocity z of stone"} <= set(scene["exact"])


def test_all_free_coordinates_of_one_unit_are_in_the_first_plot():
    """It had the angle of the first pendulum, and its rate, and nothing of the second one."""
    model = pendulum()
    together = [["angle of S", "angle of E"], ["rate of angle of S", "rate of angle of E"]]
    assert scene_of(da.simulate(model, 0.5))["plots"][:2] == together
    model.add_driver("hand", "S", da.Harmonic(0.2, 5.0))
    assert scene_of(da.simulate(model, 0.5))["plots"][:2] == [together[0], ["torque of hand"]]
    turned = pendulum()
    turned.add_driver("motor", "S", da.Polynomial((0.0, 5.0)))
    assert scene_of(da.simulate(turned, 0.5))["plots"][:2] == [["angle of E"], ["torque of motor"]]
    cart = da.Model(plane="xz")
    cart.add_body("cart", mass=1.0, inertia=0.1)
    cart.add_link("bar", (0, 0), (0.4, -0.1), mass=1.0)
    cart.add_prismatic("rail", "ground", "cart", point=(0, 0), axis=(1, 0))
    cart.add_revolute("pin", "cart", "bar", point=(0, 0))
    assert scene_of(da.simulate(cart, 0.5))["plots"][:2] == [["translation of rail"], ["rate of translation of rail"]]


def test_the_page_tells_ranges_and_what_they_are_of(open_tab, press, tmp_path):
    """With the difference: the stroke of a slider. A saved picture of a plot has them too."""
    run = damped(press)
    run.export_html(tmp_path / "press.html")
    tab = open_tab(tmp_path / "press.html")
    first = tab.state["plots"][0]
    low, high = float(da.smallest(run, "D")), float(da.largest(run, "D"))
    assert first["name"] == "translation of D"
    told = f"{low:.4g} … {high:.4g} (Δ {high - low:.4g})".replace("-", "−")
    assert first["extremes"] == [told]
    note = tab.page.locator(".plot .legend small").first
    assert note.get_attribute("title").endswith("of the whole time")
    tab.do("""(() => {
      const { prototype } = CanvasRenderingContext2D;
      const write = prototype.fillText;
      window.written = [];
      prototype.fillText = function (text, ...at) { window.written.push(text); return write.call(this, text, ...at); };
    })()""")
    with tab.page.expect_download():
        tab.page.get_by_role("button", name="save this plot as a picture").first.click()
    assert any(text.startswith("translation of D") and told in text for text in tab.do("window.written"))
    tab.page.get_by_role("button", name="show less time").click()
    assert "of the states that are shown" in note.get_attribute("title")
    tab.page.get_by_role("button", name="show the whole time").click()
    tab.page.locator(".plot select").first.select_option("angle of B")
    assert "of the states that are shown" in note.get_attribute("title")
    tab.page.locator(".plot select").first.select_option("constraint drift")
    assert "Δ" not in tab.state["plots"][0]["extremes"][0], "the axis is logarithmic"
    tab.screenshot("ranges")


def test_the_wheel_scrolls_the_dock_and_with_ctrl_it_zooms(open_tab, press, tmp_path):
    damped(press).export_html(tmp_path / "press.html")
    tab = open_tab(tmp_path / "press.html")
    tab.page.set_viewport_size({"width": 1280, "height": 500})
    box = tab.page.locator(".plot .u-over").first.bounding_box()
    tab.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    tab.page.mouse.wheel(0, 120)
    tab.wait("document.querySelector('.panel').scrollTop > 50")
    assert tab.state["plots"][0]["window"] is None
    tab.do("document.querySelector('.panel').scrollTop = 0")
    tab.page.keyboard.down("Control")
    tab.page.mouse.wheel(0, -200)
    tab.page.keyboard.up("Control")
    tab.wait("viewer.state().plots[0].window !== null")
    low, high = tab.state["plots"][0]["window"]
    assert (
        high - low == pytest.approx(2.0 * np.exp(-0.4), rel=1e-6) and tab.do("document.querySelector('.panel').scrollTop") == 0
    )
    tab.page.get_by_role("button", name="keys", exact=True).click()
    assert "Ctrl and wheel, pinch" in tab.page.locator(".sheet dt").all_inner_texts()


def test_escape_leaves_a_field_as_it_was(open_tab, press, tmp_path):
    """What was typed next went into the name: "B.fxe"."""
    damped(press).export_html(tmp_path / "press.html")
    tab = open_tab(tmp_path / "press.html")
    tab.page.get_by_role("button", name="add a curve, set limits").first.click()
    before = tab.state["settings"]["tree"]
    tab.page.keyboard.type("B.fx")
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("e")
    assert tab.state["settings"]["tree"] is not before
    assert tab.page.get_by_label("add an output, by name").input_value() == ""
    assert tab.state["plots"][0]["curves"] == ["translation of D"] and tab.page.locator(".plot .told").first.inner_text() == ""


def test_what_only_slides_does_not_turn(fresh_tab, crank):
    """Its card said: angular velocity 0, −1.35e−15, −3.03e−15 rad/s; nor does its plot say so."""
    assert 0 < np.abs(crank(1.3).angular_velocity("slider")).max() < 1e-12, "there is rounding"
    fresh_tab.do("viewer.pause(); viewer.scrub(1.3); viewer.command('tree')")
    fresh_tab.page.locator(".row", has=fresh_tab.page.get_by_text("slider", exact=True)).first.click()
    assert "angular velocity 0, 0, 0 rad/s" in " ".join(fresh_tab.page.locator(".card").inner_text().split())
    fresh_tab.page.locator(".plot select").first.select_option("angular velocity of slider")
    assert fresh_tab.state["plots"][0]["extremes"] == ["0 … 0"] * 3
