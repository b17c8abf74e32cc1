"""What drivers do is told in words, so that a reversed sign, or a driver on the wrong joint, is seen."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.compilation.compile import compile
from dalembert.remarks.driver_words import driven, strokes
from dalembert.results.report.table import WIDTH, as_text

FOOT, EYE = np.array([0.4, -0.3]), np.array([0.6, 0.3])


def crane(motion=None, ends=("barrel", "rod"), side=1.0, **heavy) -> da.Model:
    """A boom on a cylinder;  ends : of the slide;  side : of its axis, 1 towards the boom;  heavy : centre of the rod"""
    model = da.Model(plane="xz", name="crane")
    model.add_link("boom", (0, 0), 2 * EYE, mass=20.0)
    model.add_link("barrel", FOOT, FOOT + 0.6 * (EYE - FOOT), mass=3.0, radius=0.03)
    model.add_link("rod", FOOT + 0.3 * (EYE - FOOT), EYE, mass=2.0, radius=0.015, **heavy)
    model.add_revolute("A", "ground", "boom", point=(0, 0))
    model.add_revolute("B", "ground", "barrel", point=FOOT)
    model.add_revolute("D", "rod", "boom", point=EYE)
    model.add_prismatic("C", *ends, point=EYE, axis=side * (EYE - FOOT))
    if motion is not None:
        model.add_driver("cylinder", "C", motion)
    return model


def told(model, *times, coordinates=None) -> list[str]:
    return [text for text, _ in driven(compile(model, coordinates), *(times or (0.0,)))]


OUT = da.SmoothStep(0.0, 0.1, 0.5, 1.5)


@pytest.mark.parametrize("coordinates", ["absolute", "planar", "tree"])
@pytest.mark.parametrize(
    ("motion", "given", "words"),
    [
        (OUT, {}, "'rod' out of 'barrel' from 0 to 0.1 m in 1 s"),
        (-1.0 * OUT, {}, "'rod' into 'barrel' from 0 to -0.1 m in 1 s"),
        (OUT, {"side": -1.0}, "'rod' into 'barrel' from 0 to 0.1 m in 1 s"),
        (OUT, {"ends": ("rod", "barrel")}, "'barrel' into 'rod' from 0 to 0.1 m in 1 s"),
        (OUT, {"centre": FOOT, "inertia": 1.0}, "'rod' out of 'barrel' from 0 to 0.1 m in 1 s"),  # as it is drawn
        (
            da.Harmonic(0.1, 3.0),
            {},
            "'rod' in and out of 'barrel' between -0.1 and 0.1 m, 0.4775 times a second, starts out of 'barrel'",
        ),
        (da.Polynomial((0.0, 0.05)), {}, "'rod' out of 'barrel' at 0.05 m/s"),
    ],
)
def test_a_cylinder_that_goes_out_or_in(motion, given, words, coordinates):
    assert told(crane(motion, **given), coordinates=coordinates) == [f"'cylinder' moves {words} (joint 'C')"]


def arm(motion, *, kind="revolute", ends=("ground", "arm"), plane=None) -> da.Model:
    model = da.Model(plane=plane)
    point = (0, 0) if plane else (0, 0, 0)
    model.add_link("arm", point, (*point[:-1], -1.0), mass=1.0)
    axis = {} if plane else {"axis": (0, 1, 0) if kind == "revolute" else (0, 0, 1)}
    getattr(model, f"add_{kind}")("A", *ends, point=point, **axis)
    model.add_driver("motor", "A", motion)
    return model


@pytest.mark.parametrize(
    ("motion", "given", "words"),
    [
        (da.Polynomial((0.0, -6.0)), {}, "turns 'arm' about (0, 1, 0) at -6 rad/s = -57.3 rpm"),
        (da.Polynomial((0.0, 6.0)), {"ends": ("arm", "ground")}, "turns 'arm' about (0, -1, 0) at 6 rad/s = 57.3 rpm"),
        (da.Polynomial((0.0, 6.0)), {"plane": "xz"}, "turns 'arm' counterclockwise at 6 rad/s = 57.3 rpm"),
        (da.Polynomial((0.0, -6.0)), {"plane": "xz"}, "turns 'arm' clockwise at 6 rad/s = 57.3 rpm"),
        (da.Polynomial((0.0, -6.0)), {"plane": "xz", "ends": ("arm", "ground")}, "turns 'arm' counterclockwise at 6 rad/s"),
        (da.SmoothStep(0.0, np.pi / 2, 0.0, 1.0), {}, "turns 'arm' about (0, 1, 0) from 0 to 90 degrees in 1 s"),
        (da.SmoothStep(0.0, 1.0, 5.0, 6.0), {}, "holds 'arm' at 0 degrees"),  # in this run
        (
            da.Table((0, 1, 2), (0.0, np.pi / 6, 0.0)),
            {},
            "turns 'arm' about (0, 1, 0) between 0 and 30 degrees, starts towards 30 degrees",
        ),
        (lambda t: 0.5 * t * t, {}, "turns 'arm' about (0, 1, 0) from 0 to 114.6 degrees in 2 s"),
        (
            lambda t: 60 * t * t,
            {"plane": "xz"},
            "turns 'arm' counterclockwise from 0 to 1.375e+04 degrees in 2 s, 38.2 turns at up to",
        ),
        (0.5, {}, "holds 'arm' at 28.65 degrees"),
        (da.Polynomial((0.1, 0.2)), {"kind": "prismatic"}, "moves 'arm' along (0, 0, 1) at 0.2 m/s from 0.1 to 0.5 m"),
        (da.SmoothStep(0.1, -0.2, 0.0, 1.0), {"kind": "prismatic"}, "moves 'arm' along (0, 0, 1) from 0.1 to -0.2 m in 1 s"),
        (
            da.Harmonic(0.3, 2 * np.pi),
            {"plane": "xz"},
            "turns 'arm' counterclockwise between -17.19 and 17.19 degrees, 1 times a second, starts counterclockwise (",
        ),
        (
            da.Harmonic(-0.3, 2 * np.pi),
            {"plane": "xz"},
            "turns 'arm' counterclockwise between -17.19 and 17.19 degrees, 1 times a second, starts clockwise (",
        ),
        (
            da.Harmonic(-0.1, 4.0),
            {"kind": "prismatic"},
            "moves 'arm' along (0, 0, 1) between -0.1 and 0.1 m, 0.6366 times a second, starts towards -0.1 m (",
        ),
        (da.Harmonic(0.1, 1000 * np.pi), {"kind": "prismatic"}, "moves 'arm' along (0, 0, 1) between -0.1 and 0.1 m"),
    ],
)
def test_drivers_over_two_seconds(motion, given, words):
    (text,) = told(arm(motion, **given), 0.0, 2.0)
    assert text.startswith(f"'motor' {words}") and text.endswith(" (joint 'A')")


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        (da.SmoothStep(0.0, np.pi / 2, 0.5, 1.0), "from 0 to 90 degrees in 0.5 s"),
        (
            da.Harmonic(np.pi / 6, 3.0, phase=1.0),
            "between -30 and 30 degrees, 0.4775 times a second, starts towards 30 degrees",
        ),
        (
            0.5 * da.Harmonic(np.pi / 6, 120.0) + np.pi / 6,
            "between 15 and 45 degrees, 19.1 times a second, starts towards 45 degrees",
        ),
        (da.SmoothStep(0.0, 40 * np.pi, 0.0, 2.0), "from 0 to 7200 degrees in 2 s, 20 turns at up to 1125 rpm"),
        (da.Polynomial((0.0, 0.1, 0.2)), "from 0 degrees on"),
        (lambda t: 0.1 * t, "from 0 degrees on"),
    ],
)
def test_where_nobody_says_how_long_a_run_takes(motion, words):
    assert told(arm(motion)) == [f"'motor' turns 'arm' about (0, 1, 0) {words} (joint 'A')"]


def test_points_lengths_and_two_moving_bodies():
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (1, 0, 0), mass=1.0)
    model.add_link("hand", (1, 0, 0), (2, 0, 0), mass=1.0)
    model.add_spherical("A", "ground", "arm", point=(0, 0, 0))
    model.add_revolute("B", "arm", "hand", point=(1, 0, 0), axis=(0, 1, 0))
    model.add_driver("wrist", "B", da.Polynomial((0.0, 1.0)))
    model.add_point_driver("lift", "arm", direction=(0, 0, 1), motion=da.SmoothStep(0.0, 0.1, 0.0, 1.0))
    length = da.SmoothStep(1.0, 0.8, 0.0, 1.0)
    model.add_distance("rope", "ground", "arm", points=((0.5, 1, 0), (0, 0, 0)), length=length)
    assert told(model) == [
        "'wrist' turns 'hand' against 'arm' about (0, 1, 0) at 1 rad/s = 9.549 rpm (joint 'B')",
        "'lift' moves a point of 'arm' along (0, 0, 1) from 0 to 0.1 m in 1 s",
        "'rope' moves points of 'ground' and 'arm' together from 1 to 0.8 m in 1 s",
    ]


def test_of_many_the_first_three_are_told():
    model = da.Model()
    for k in range(5):
        model.add_link(f"arm {k}", (0, k, 0), (1, k, 0), mass=1.0)
        model.add_revolute(f"A{k}", "ground", f"arm {k}", point=(0, k, 0), axis=(0, 1, 0))
        model.add_driver(f"motor {k}", f"A{k}", da.Polynomial((0.0, 1.0)))
    *first, more = driven(compile(model), 0.0)
    assert [facts["driver"] for _, facts in first] == ["motor 0", "motor 1", "motor 2"]
    assert more == ("and 2 more", {"drivers": ["motor 3", "motor 4"]})


def test_report_page_and_check_tell_it_on_one_line(tmp_path):
    words = "'cylinder' moves 'rod' into 'barrel' from 0 to -0.1 m in 1 s (joint 'C')"
    model = crane(-1.0 * OUT)
    report = da.simulate(model, 2.0).report()
    assert (report["driven"].value, report["driven"].verdict, report["driven"].block) == (words, "note", "checks")
    assert report["driven"].data == {"driver": "cylinder", "rate": None, "range": [-0.1, 0.0]}
    assert f"driven              note  {words}\n" in as_text(report.print, WIDTH)
    assert words.replace("'", "&#x27;") in report._repr_html_()
    model.to_yaml(tmp_path / "crane.yaml")
    check = ["check", str(tmp_path / "crane.yaml")]
    assert f"driven              {words}\n" in CliRunner().invoke(app, check).stdout
    (told,) = json.loads(CliRunner().invoke(app, [*check, "--json"]).stdout)["driven"]
    assert told == {"does": words, **report["driven"].data}


def test_what_is_swept_is_not_driven():
    poses = da.kinematics(crane(), sweep={"A": np.linspace(0.0, 0.1, 3)})
    assert not [line for line in poses.report().lines if line.name == "driven"]


def test_a_run_in_pieces_is_told_as_one():
    model = crane(OUT)
    model.add_link("jib", 2 * EYE, 3 * EYE, mass=1.0)
    model.add_revolute("E", "boom", "jib", point=2 * EYE)
    model.add_driver("fold", "E", da.Polynomial((0.0, 0.1)))
    first = da.simulate(model, 1.0)
    whole = da.concatenate([first, da.simulate(first, 2.0)])
    told = [line.value for line in whole.report().lines if line.name == "driven"]
    assert told == [
        "'cylinder' moves 'rod' out of 'barrel' from 0 to 0.1 m in 1 s (joint 'C')",
        "'fold' turns 'jib' against 'boom' counterclockwise at 0.1 rad/s = 0.9549 rpm (joint 'E')",
    ]
    free = da.simulate(model, 0.1, free=["cylinder"]).report()
    assert [line.data["driver"] for line in free.lines if line.name == "driven"] == ["fold"]


def test_a_motion_after_the_run():
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0.1, 0, 0), mass=1.0)
    model.add_revolute("A", "ground", "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "A", da.SmoothStep(0.0, 1.0, 1.0, 2.0))
    for end, told in ((0.3, "'motor' holds 'crank' at 0 degrees in the whole run, and moves from t = 1 s on (joint 'A')"),):
        assert da.simulate(model, end).report()["driven"].value == told
    assert "holds" not in da.simulate(model, 1.5).report()["driven"].value


def jack(side=1.0, speed=0.15, ends=("barrel", "rod"), foot=0.0, pins=False) -> da.Model:
    """A cylinder, nearly retracted, whose barrel is welded to the ground, or on pins at its foot (its height) and its eye."""
    model = da.Model(plane="xz")
    model.add_link("barrel", (0, foot), (0, foot + 0.5), mass=3.0)
    model.add_link("rod", (0, 0.02), (0, 0.55), mass=2.0)
    model.add_prismatic("C", *ends, point=(0, 0), axis=(0, side))
    if pins:
        model.add_body("load", **da.box(9.0, (0.1, 0.1, 0.1)).body(), position=(0, 0.55))
        model.add_prismatic("guide", "ground", "load", point=(0, 0.55), axis=(0, 1))
        model.add_revolute("eye", "rod", "load", point=(0, 0.55))
        model.add_revolute("foot", "ground", "barrel", point=(0, foot))
    else:
        model.add_fixed("weld", "ground", "barrel", point=(0, 0))
    model.add_driver("cylinder", "C", da.Polynomial((0.0, speed)))
    return model


OUT_OF, INTO = "'rod' out of 'barrel'", "'rod' into 'barrel'"
THROUGH = "'rod' goes through the foot of 'barrel' at t = {} s: as they are drawn it is {} m beyond that end;"


@pytest.mark.parametrize(
    ("given", "way", "through"),
    [
        ({}, OUT_OF, None),
        ({"side": -1.0, "speed": -0.15}, OUT_OF, None),
        ({"side": -1.0}, INTO, ("0.133", "0.28")),
        ({"speed": -0.15}, INTO, ("0.133", "0.28")),
        ({"ends": ("rod", "barrel")}, "'barrel' into 'rod'", ("0.333", "0.25")),
        ({"pins": True}, OUT_OF, None),
        ({"pins": True, "foot": 0.35}, OUT_OF, ("0", "0.33")),  # the foot was moved: it overlaps too much from the start
        ({"pins": True, "foot": 0.035}, OUT_OF, None),  # a little
    ],
)
def test_a_nearly_retracted_cylinder(given, way, through, tmp_path):
    """By its eye and its foot, and not by which of two poses overlaps more; at a speed, not a negative one."""
    model = jack(**given)
    to = "-0.3" if model.drivers[0].primitive.motion.coefficients[1] < 0.0 else "0.3"
    assert told(model, 0.0, 2.0) == [f"'cylinder' moves {way} at 0.15 m/s from 0 to {to} m (joint 'C')"]
    report = da.simulate(model, 2.0).report()
    doubted = [line.value for line in report.lines if line.name == "model"]
    assert doubted == [*strokes(compile(model), 0.0, 2.0)] and len(doubted) == (through is not None)
    if through:
        names = way.split("'")[1::2]
        assert doubted[0].startswith(
            THROUGH.format(*through).replace("rod", "?").replace("barrel", names[1]).replace("?", names[0])
        )
        assert report.headline == f"trusted, but look at the model: {doubted[0].partition(':')[0]}"


def test_rods_that_stick_out_on_both_sides_and_rails_are_meant():
    for rod, barrel in (((-0.3, 0.8), (0.0, 0.55)), ((0.0, 1.2), (0.0, 0.3))):
        model = da.Model(plane="xz")
        model.add_link("barrel", *((0, z) for z in barrel), mass=3.0, radius=0.03)
        model.add_link("rod", *((0, z) for z in rod), mass=2.0, radius=0.01)
        model.add_fixed("weld", "ground", "rod", point=(0, 0))
        model.add_prismatic("C", "rod", "barrel", point=(0, 0), axis=(0, 1))
        model.add_driver("feed", "C", da.Polynomial((0.0, 0.1)))
        assert [*strokes(compile(model), 0.0, 2.0)] == []


def test_check_tells_a_stroke_in_millimetres(tmp_path):
    jack(speed=172.0).to_yaml(tmp_path / "jack.yaml")
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "jack.yaml"), "--json"])
    assert json.loads(shown.stdout)["doubts"] == []  # nobody knows for how long
    (tmp_path / "jack.yaml").write_text((tmp_path / "jack.yaml").read_text() + "t_end: 2.0\n")
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "jack.yaml")]).stdout
    assert shown.endswith("but look at the model: 'rod' leaves 'barrel' at t = 0.00279 s\n")
    assert "343.5 mm are 0.3435" in " ".join(shown.split())


def cutter(period, speed=2 * np.pi) -> da.Model:
    model = arm(da.Polynomial((0.0, speed)))
    times = [k * period / 4 for k in range(5)]
    model.add_force("cutting", "arm", (1.0, 0, 0), factor=da.Table(times, (0, 1, 2, 1, 0), periodic=True))
    return model


@pytest.mark.parametrize(
    ("period", "speed", "told"),
    [
        (1.0, 2 * np.pi, False),
        (2.0, 2 * np.pi, False),  # once in two turns
        (1 / 3, 2 * np.pi, False),
        (0.6667, 3 * np.pi, True),  # rounded
        (1.0, -3 * np.pi, True),  # another speed
    ],
)
def test_a_load_that_does_not_stay_in_step_with_the_motor(period, speed, told, tmp_path):
    """A note, and no doubt."""
    turn = f"{2 * np.pi / abs(speed):.4g}"
    words = [f"'cutting' repeats every {period:.4g} s, 'motor' turns once in {turn} s: they go apart"] * told
    report = da.simulate(cutter(period, speed), 0.1).report()
    assert [line.value for line in report.lines if line.name == "periods" and line.block == "careful"] == words
    assert report.headline == "trusted"
    cutter(period, speed).to_yaml(tmp_path / "cutter.yaml")
    found = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "cutter.yaml"), "--json"]).stdout)
    assert (found["warnings"], found["doubts"]) == (words, [])
