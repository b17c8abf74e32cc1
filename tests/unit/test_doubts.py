"""What a model says twice and not alike is told: swapped teeth, points in other axes, meshes in millimetres."""

import json
import re
from html import escape

import numpy as np
import pytest

import dalembert as da
from dalembert.remarks.doubts import doubts, look_at
from dalembert.results.report import Line, Report


def wheels(radii, distance, flip=False, **gear) -> da.Model:
    """Two discs on parallel axes in the ground, the second joint also the other way round."""
    model = da.Model(gravity=(0, 0, 0))
    for name, r, x in (("first", radii[0], 0.0), ("second", radii[1], distance)):
        model.add_body(name, **da.disc(1.0, r, axis="z").body(), position=(x, 0, 0))
    model.add_revolute("A", model.ground, "first", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute(
        "B", *(("second", model.ground) if flip else (model.ground, "second")), point=(distance, 0, 0), axis=(0, 0, 1)
    )
    model.add_gear("gear", "first", "second", **gear)
    return model


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    ("radii", "distance", "gear", "told"),
    [
        ((0.04, 0.02), 0.06, {"teeth": (40, 20)}, None),
        ((0.0442, 0.0231), 0.06, {"teeth": (40, 20)}, None),  # with the heads of the teeth
        ((0.04, 0.02), 0.06, {"teeth": (20, 40)}, "0.5 times the teeth.* radii of 0.04 and 0.02 m"),
        ((0.04, 0.02), 0.06, {"ratio": 2.0}, "swapped"),  # z_second / z_first is 0.5
        ((0.04, 0.02), 0.06, {"teeth": (40, 20), "internal": True}, "the same way, but one is drawn in mesh beside the other"),
        ((0.06, 0.02), 0.04, {"teeth": (60, 20), "internal": True}, None),
        ((0.06, 0.02), 0.04, {"teeth": (60, 20)}, "against each other, but one is drawn in mesh inside the other"),
        ((0.04, 0.02), 0.5, {"teeth": (20, 40)}, None),  # not in mesh: other wheels are between them
    ],
)
def test_wheels_that_are_drawn_in_mesh(radii, distance, gear, told, flip):
    found = doubts(wheels(radii, distance, flip, **gear))
    assert len(found) == (told is not None)
    if told is not None:
        with pytest.raises(ValueError, match=told):
            raise ValueError(found[0])


def test_rollers_beside_each_other_on_chains():
    """Their sprockets are not drawn."""
    model = wheels((0.05, 0.05), 0.105, teeth=(1, 1))
    model.remove("gear")
    model.add_belt("chain", "first", "second", radii=(0.03, 0.03))
    assert doubts(model) == []


def test_doubts_of_a_gear_are_those_of_its_file(tmp_path):
    """Which holds a coupling."""
    model = wheels((0.04, 0.02), 0.06, teeth=(40, 20), internal=True)
    model.to_yaml(tmp_path / "model.yaml")
    assert doubts(da.Model.from_yaml(tmp_path / "model.yaml")) == doubts(model) != []


def test_names_with_both_kinds_of_quotes_in_short():
    name = 'it\'s "x, y": z'
    assert look_at([f"joint {name!r} is off: see"]) == f"look at the model: joint {name!r} is off"


@pytest.mark.parametrize(
    ("inner", "outer", "told"),
    [
        ((30, 20), (20, 70), []),
        ((20, 30), (20, 70), ["'inner' couples"]),
        ((30, 20), (70, 20), ["'outer' couples"]),
        ((30, 20), (20, 70, "external"), ["'outer' turns"]),
    ],
)
def test_wheels_on_a_carrier_that_turns(inner, outer, told):
    """A planetary gear: sun and ring turn on the ground, the planet on its arm."""
    model = da.Model(gravity=(0, 0, 0))
    for name, radius, x in (("sun", 0.03, 0.0), ("arm", 0.05, 0.0), ("planet", 0.02, 0.05), ("ring", 0.07, 0.0)):
        model.add_body(name, **da.disc(1.0, radius, axis="z").body(), position=(x, 0, 0))
    for name, first, second, x in (("S", "ground", "sun", 0.0), ("C", "arm", "ground", 0.0), ("R", "ground", "ring", 0.0)):
        model.add_revolute(name, first, second, point=(x, 0, 0), axis=(0, 0, 1))
    model.add_revolute("P", "arm", "planet", point=(0.05, 0, 0), axis=(0, 0, -1))
    model.add_gear("inner", "sun", "planet", carrier="arm", teeth=inner)
    model.add_gear("outer", "planet", "ring", carrier="arm", teeth=outer[:2], internal="external" not in outer)
    assert [text[: len(start)] for text, start in zip(doubts(model), told, strict=True)] == told


def leg() -> da.Model:
    model = da.Model()
    model.add_body("leg", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(5, 0, 0))
    model.add_revolute("hip", model.ground, "leg", point=(4.5, 0, 0), axis=(0, 1, 0))
    return model


def test_a_mesh_in_millimetres(tmp_path):
    """A cube of 200 mm as a mesh of 200 m, put in its place or where its file has it: told by `check` and by the report."""
    from typer.testing import CliRunner

    from dalembert.cli import app

    x = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    text = [f"v {a} {b} {c}" for a, b, c in 200 * x] + ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    (tmp_path / "cube.obj").write_text("\n".join(text))
    for scale, placed, told in ((1e-3, True, 0), (1e-3, False, 0), (1.0, False, 1), (1.0, True, 1)):
        model, cube = da.Model(gravity=(0, 0, 0)), da.mesh(str(tmp_path / "cube.obj"), density=1000.0, scale=scale).body()
        model.add_body("cube", **cube | ({"position": (0.1, 0, 0)} if placed else {}))
        model.add_revolute("pin", model.ground, "cube", point=(0, 0, 0), axis=(0, 1, 0))
        if not placed:
            model.add_point_mass("bob", mass=1.0, position=(0.3, 0, 0))
        assert len(doubts(model)) == told
    assert "radius of gyration of 81.6 m in a mechanism of 0.1 m" in doubts(model)[0]
    model.to_yaml(tmp_path / "cube.yaml")
    shown = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "cube.yaml"), "--json"]).stdout)
    assert shown["warnings"] == doubts(model)
    line = da.simulate(model, 0.01).report()["model"]
    assert (line.block, line.verdict, line.value) == ("careful", "WARN", doubts(model)[0])


def test_tables_whose_curve_leaves_their_values():
    """A pulse between two rests: the curve through five values falls to -2 between 0 and 0.05."""
    for times, values, told in (
        ((0, 3, 3.02, 3.04, 9), (0, 0, 0.05, 0, 0), 1),
        (np.linspace(0.0, 6.0, 9), np.sin(np.linspace(0.0, 6.0, 9)), 0),
        ((0.0, 1.0, 2.0, 3.0), (0.0, 0.0, 1.0, 1.0), 0),
        ((0.0, 1.0), (2.0, 2.0), 0),
    ):
        model = leg()
        model.add_driver("drive", "hip", 2 * da.Table(tuple(times), tuple(values), clamp=True) + da.Constant(0.1))
        model.add_force("push", "leg", (0, 0, 1), factor=da.Table(tuple(times), tuple(values)))
        found = doubts(model)
        assert len(found) == 2 * told
    model = leg()
    model.add_driver("drive", "hip", da.Table((0, 3, 3.02, 3.04, 9), (0, 0, 0.05, 0, 0)))
    told = "the table of 'drive' goes from -.* to .* on a smooth curve through values from 0 to 0.05: "
    assert re.match(told, doubts(model)[0])


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ((0.4, 0, 0), None),
        ((0.4, 0.3, 0), None),  # along the pin: links lie beside each other
        ((0.2, 0, 0), None),
        ((0.401, 0, 0), None),  # rounded
        ((0.41, 0, 0), "joint 'B' is 0.01 m off the end of body 'crank', which is drawn as a link of 0.4 m"),
        ((0.39, 0, 0), "0.01 m off the end"),
        ((0.38, 0, 0), None),
        ((0.4, 0, 0.01), "0.01 m off the end"),
        ((0.4, 0.2, 0.01), "0.01 m off the end"),
        ((0.3, 0, 0), None),
        ((0.5, 0, 0), r"joint 'B' is 0.1 m off body 'crank', beyond its end, which is drawn as a link of 0.4 m"),
        ((0.2, 0, 0.1), r"joint 'B' is 0.1 m off body 'crank', beside it, 0.224 m from its nearer end"),
    ],
)
@pytest.mark.parametrize("solid", [da.rod(1.0, 0.4), da.rod(1.0, 0.4, radius=0.01), da.box(1.0, (0.4, 0.01, 0.02))])
def test_pins_off_the_link_that_is_drawn(point, told, solid):
    model = da.Model()
    model.add_body("crank", **solid.body(), position=(0.2, 0, 0))
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.6, 0, 0))  # may be held from anywhere
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "crank", "slider", point=point, axis=(0, 1, 0))
    found = doubts(model)
    told = None if solid.shape["type"] == "box" and told and "beyond" not in told else told  # beams may have eyes there
    assert len(found) == (told is not None)
    if told is not None:
        with pytest.raises(ValueError, match=told):
            raise ValueError(found[0])


@pytest.mark.parametrize(
    ("pins", "told"),
    [
        ((0.01, 0.39), []),  # eyes inside both ends
        ((-0.01, 0.41), []),  # and at them
        ((0.0, 0.2, 0.38, 0.4), []),
        ((0.0, 0.2, 0.37, 0.39), ["0.01 m off the end"]),  # the nearest
        ((0.0, 0.38), []),  # a pan that hangs at 95 % of a lever
        ((0.02,), []),  # of a pendulum
        ((0.02, 0.42), ["0.02 m off the end"] * 2),  # as far apart as the bar is long, which was put elsewhere
    ],
)
def test_pins_near_the_ends_of_a_bar(pins, told):
    model = da.Model(gravity=(0, 0, 0))
    model.add_link("bar", (0, 0, 0), (0.4, 0, 0), mass=1.0, radius=0.01)
    for k, x in enumerate(pins):
        model.add_point_mass(f"bob {k}", mass=1.0, position=(x, 0, 0))
        model.add_spherical(f"pin {k}", "bar", f"bob {k}", point=(x, 0, 0))
    assert [word in text for word, text in zip(told, doubts(model), strict=True)] == [True] * len(told)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["point_on_line", "point_on_plane", "in_plane", "distance", "cable", "fixed"])
def test_whatever_holds_a_point_of_a_bar_is_the_pin_at_its_end(kind, turned):
    """An arm of a lift on a roller, or on a rope: its hinge is 0.05 m off the other end; or the roller is. Props and ropes may
    be anywhere."""
    for roller, hinge in ((0.0, 2.0), (0.0, 1.95), (0.05, 2.0)):
        model = da.Model()
        model.add_link("arm", (0, 0, 0), (2, 0, 0), mass=1.0, radius=0.03)
        model.add_body("cart", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 0.5))
        model.add_revolute("hinge", *((model.ground, "arm")[:: -1 if turned else 1]), point=(hinge, 0, 0), axis=(0, 1, 0))
        at = (roller - 1.0, 0, 0)
        match kind:
            case "cable":
                model.add_cable("roller", [("cart", (0, 0, 0)), ("ground", (0, 0, 2)), ("arm", at)])
            case "distance":
                model.add_distance("roller", "cart", "arm", points=((0, 0, 0), at))
            case "in_plane":
                model.add_in_plane("roller", "cart", "arm", points=((0, 0, -0.5), at), direction=(0, 0, 1))
            case "fixed":
                model.add_fixed("roller", "cart", "arm", point=(roller, 0, 0))
            case _:
                getattr(model, f"add_{kind}")("roller", "cart", "arm", point=(roller, 0, 0), axis=(1, 0, 0))
        off = "hinge" if hinge != 2.0 else "roller" if roller and kind not in ("fixed", "distance", "cable") else ""
        told = [f"joint {off!r} is 0.05 m off the end of body 'arm'"]
        assert [text.partition(",")[0] for text in doubts(model)] == told * bool(off)


def test_slots_in_a_bar_are_no_pins_of_it():
    """A line of the bar, which its point may be anywhere on, and beside."""
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (2, 0, 0), mass=1.0, radius=0.03)
    model.add_point_mass("bob", mass=1.0, position=(1.95, 0, 0.05))
    model.add_revolute("hinge", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_point_on_line("slot", "arm", "bob", point=(1.95, 0, 0.05), axis=(1, 0, 0))
    assert doubts(model) == []


@pytest.mark.parametrize("radius", [0.0, 0.03])
@pytest.mark.parametrize("aside", [0.009, 0.025, 0.04, 0.2])
def test_pins_beside_a_bar(radius, aside):
    """More than its radius, or 0.5 % of its length, off its axis."""
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (2, 0, 0), mass=1.0, **({"radius": radius} if radius else {}))
    model.add_body("other", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.add_revolute("base", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("middle", "arm", "other", point=(1, 0.5, aside), axis=(0, 1, 0))
    told = f"joint 'middle' is {aside:.3g} m off body 'arm', beside it, {np.hypot(1, aside):.3g} m from its nearer end"
    assert [text.rpartition(",")[0] for text in doubts(model)] == [told] * (aside > max(radius, 0.01))


def test_pairs_of_rods_on_both_sides_of_an_arm():
    """As of a delta robot; one of them alone is told."""
    for sides, told in (((-0.04, 0.04), 0), ((-0.02, 0.02), 0), ((0.04,), 1), ((0.04, 0.03), 2)):
        model = da.Model()
        model.add_link("arm", (0, 0, 0), (0.25, 0, 0), mass=1.0)
        model.add_revolute("hip", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
        for y in sides:
            model.add_point_mass(f"end {y}", mass=1.0, position=(0.25, y, -0.5))
            model.add_distance(f"rod {y}", "arm", f"end {y}", points=((0.125, y, 0), (0, 0, 0)))
        assert len(doubts(model)) == told


@pytest.mark.parametrize(
    ("plane", "pin", "told"),
    [(0.0, 0.0, 0), (0.0, 0.02, 1), (0.02, 0.02, 0), (0.02, 0.01, 0)],  # links beside each other have their pin anywhere
)
@pytest.mark.parametrize("of", [1.0, -1.0])
def test_pins_along_their_axis_off_two_bars_in_one_plane(plane, pin, told, of):
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0.2, 0, 0), mass=1.0)
    model.add_link("rod", (0.2, plane, 0), (0.6, plane, 0), mass=1.0)
    model.add_revolute("A", model.ground, "crank", point=(0, 0.3, 0), axis=(0, of, 0))  # where the bearing is
    model.add_revolute("B", "crank", "rod", point=(0.2, pin, 0), axis=(0, of, 0))
    found = doubts(model)
    assert ["joint 'B' is 0.02 m along its axis off bodies 'crank' and 'rod'" in text for text in found] == [True] * told


@pytest.mark.parametrize(
    ("kind", "axis", "shift", "told"),
    [
        ("prismatic", (0.6, 0, 0.8), 0.0, None),
        ("prismatic", (-0.6, 0, -0.8), 0.0, None),
        ("prismatic", (0.602, 0, 0.799), 0.0, None),  # rounded
        ("prismatic", (0.8, 0, 0.6), 0.0, "16.3"),
        ("prismatic", (0, 1, 0), 0.0, "90"),
        ("prismatic", (0.8, 0, 0.6), 0.1, None),  # bars beside each other
        ("cylindrical", (0.6, 0, 0.8), 0.0, None),
        ("cylindrical", (1, 0, 0), 0.0, "53.1"),
        ("cylindrical", (0, 1, 0), 0.0, None),  # a hinge of links in one line
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_slides_that_are_not_along_barrel_and_piston(kind, axis, shift, told, turned):
    model = da.Model()
    model.add_link("barrel", (0, 0, 0), (0.6, 0, 0.8), mass=1.0, radius=0.03)
    ends = [(0.3, shift, 0.4), (0.9, shift, 1.2)]
    model.add_link("piston", *ends[:: -1 if turned else 1], mass=1.0, radius=0.02)
    model.add_revolute("foot", model.ground, "barrel", point=(0, 0, 0), axis=(0, 1, 0))
    getattr(model, f"add_{kind}")("pump", "barrel", "piston", point=(0.45, 0, 0.6), axis=axis)
    words = "the axis of joint 'pump' is not along the bars 'barrel' and 'piston' that it joins, which lie on one line: it is"
    found = [text for text in doubts(model) if "pump" in text and "axis" in text]
    assert found == ([] if told is None else [f"{words} {told} degrees off"])


def test_a_doubt_is_part_of_the_verdict(tmp_path):
    """In every form of the report, at the end of `check`, and on standard error of what is quiet; nothing fails for it."""
    from typer.testing import CliRunner

    from dalembert.cli import app
    from dalembert.viewer.scene import report_of

    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0.205, 0, 0), mass=1.0, radius=0.01)
    model.add_point_mass("bob", mass=1.0, position=(0.2, 0, 0))
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spherical("B", "crank", "bob", point=(0.2, 0, 0))
    words = "look at the model: joint 'B' is 0.005 m off the end of body 'crank'"
    solution = da.simulate(model, 0.1)
    report = solution.report()
    assert (report.headline, report.verdict, report.passed) == (f"trusted, but {words}", "WARN", True)
    assert str(report).startswith(report.headline)
    assert all(escape(words) in page for page in (report._repr_html_(), solution._repr_html_()))
    assert (report_of(solution)["headline"], report_of(solution)["verdict"]) == (report.headline, "WARN")
    file = str(tmp_path / "model.yaml")
    model.to_yaml(file)
    checked = CliRunner().invoke(app, ["check", file])
    assert (checked.exit_code, checked.stdout.splitlines()[-1]) == (0, f"it can be simulated, but {words}")
    assert json.loads(CliRunner().invoke(app, ["check", file, "--json"]).stdout)["doubts"] == doubts(model)
    quiet = CliRunner().invoke(app, ["run", file, "--t-end", "0.1", "--quiet"])
    assert (quiet.exit_code, quiet.stdout) == (0, "")
    assert quiet.stderr == f"dalembert: warning: model: {doubts(model)[0]}\n"


def test_doubts_beside_other_verdicts():
    """One doubt goes on from what else is said; of several the first is told, and how many there are."""
    doubt = Line("model", "joint 'B, 2' is off, which is told: so", verdict="WARN", block="careful")
    good, bad, care = Line("error estimate", "", verdict="pass"), Line("x", "", verdict="FAIL"), Line("y", "", verdict="WARN")
    for lines, words in (
        ((good,), "trusted"),
        ((good, doubt), "trusted, but look at the model: joint 'B, 2' is off"),
        ((good, doubt, doubt), "trusted, but look at the model: joint 'B, 2' is off, and 1 more"),
        ((good, bad, doubt), "not trusted: x; look at the model: joint 'B, 2' is off"),
        ((good, care, doubt), "trusted with care: y; look at the model: joint 'B, 2' is off"),
        ((doubt,), "no inconsistency found, but nothing estimates the error; look at the model: joint 'B, 2' is off"),
    ):
        assert Report("", lines).headline == words


def test_doubts_of_a_run_in_pieces_are_told_once():
    model = da.Model()
    for k in (0, 1):
        model.add_link(f"arm {k}", (0, k, 0), (0.205, k, 0), mass=1.0, radius=0.01)
        model.add_revolute(f"A {k}", model.ground, f"arm {k}", point=(0, k, 0), axis=(0, 1, 0))
        model.add_point_mass(f"bob {k}", mass=1.0, position=(0.2, k, 0))
        model.add_spherical(f"B {k}", f"arm {k}", f"bob {k}", point=(0.2, k, 0))
    first = da.simulate(model, 0.05)
    whole = da.concatenate([first, da.simulate(first, 0.1)])
    assert len(doubts(model)) == 2
    assert [line.value for line in whole.report().lines if line.name == "model"] == doubts(model)


def test_nothing_is_doubted_in_the_gallery():
    for name in da.gallery.GALLERY:
        model = da.gallery.build(name)
        assert not isinstance(model, da.Model) or doubts(model) == [], name


@pytest.mark.parametrize(
    ("radii", "teeth", "told"),
    [((0.04, 0.02), (40, 20), 0), ((0.04, 0.02), (20, 40), 1), ((0.04, 0.01), (20, 40), 0)],  # the last do not touch
)
def test_bevels_that_are_drawn_in_mesh(radii, teeth, told):
    """Axes x and z meet in the origin; the pitch circles touch at (0.02, 0, 0.04)."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("first", **da.disc(1.0, radii[0], axis="x").body(), position=(0.02, 0, 0))
    model.add_body("second", **da.disc(1.0, radii[1], axis="z").body(), position=(0, 0, 0.04))
    model.add_revolute("A", model.ground, "first", point=(0.02, 0, 0), axis=(1, 0, 0))
    model.add_revolute("B", "second", model.ground, point=(0, 0, 0.04), axis=(0, 0, 1))
    model.add_gear("gear", "first", "second", teeth=teeth)
    assert ["0.5 times the teeth" in text for text in doubts(model)] == [True] * told


@pytest.mark.parametrize("name", list(da.gallery.GALLERY))
def test_built_in_mechanisms_are_not_doubted(name):
    """False alarms are as bad as silence."""
    model = da.gallery.build(name)
    if isinstance(model, da.Model):
        assert doubts(model, model.assemble()) == []
    else:
        assert isinstance(model, da.LagrangianSystem)
