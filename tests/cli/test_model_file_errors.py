"""Every kind of malformed model file: one clear line with its place for each problem, exit code 2, never a traceback."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dalembert.cli import app

GOOD = """\
name: test
parameters:
  l: 0.4
bodies:
  arm:
    mass: 1.0
    inertia: [0.01, 0.02, 0.02]
    position: [l / 2, 0, 0]
  bob: {type: point_mass, mass: 2, position: [l, 0, 0]}
joints:
  hinge:
    type: revolute
    first: ground
    second: arm
    point: [0, 0, 0]
    axis: [0, 1, 0]
  ball: {type: spherical, first: arm, second: bob, point: [l, 0, 0]}
forces:
  push: {type: force, body: bob, force: [0, 0, 1]}
"""
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 10)
)


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.chdir(folder)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check_refused(result, *places):
    """One line on standard error for each (line number, words), and nothing else."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.exception is None or isinstance(result.exception, SystemExit)
    lines = result.stderr.splitlines()
    assert len(lines) == len(places), result.stderr
    for line, (number, *words) in zip(lines, places, strict=True):
        assert line.startswith(f"dalembert: error: m.yaml:{number}:"), line
        assert line.split(":")[4].isdigit(), line  # the column
        for word in words:
            assert word in line, line


def test_the_good_file_is_good():
    Path("m.yaml").write_text(GOOD)
    result = call("check", "m.yaml")
    assert result.exit_code == 0, result.output
    assert "test: 2 bodies, 2 joints, 1 degree of freedom" in result.stdout


CASES = {
    "wrong indentation": ("    mass: 1.0\n", "   mass: 1.0\n", (7, "not valid YAML", "check indentation")),
    "wrong indentation is measured": (
        "    mass: 1.0\n",
        "   mass: 1.0\n",
        (7, "check indentation: line 7 begins with 4 spaces, line 6 with 3"),
    ),
    "tab": ("    mass: 1.0\n", "\tmass: 1.0\n", (6, "spaces, not with tabs")),
    "missing colon": (
        "    type: revolute\n",
        "    type revolute\n",
        (13, "not valid YAML", "line 12 has no colon; write 'name: value'"),
    ),
    "equals sign": ("  l: 0.4", "  k: 1\n  l = 0.4", (5, "line 4 has no colon; write 'name: value'")),
    "missing comma": (
        "{type: force, body: bob, force",
        "{type: force, body: bob force",
        (19, "not valid YAML", "before here a comma is missing, or the } of what begins in line 19, column 9"),
    ),
    "missing comma in a list": (
        "position: [l, 0, 0]}",
        "position: [2 l, 0, 0]}",
        (9, "between 2 and l something is missing: a comma for two"),
    ),
    "dashes": ("  arm:\n", "  - arm:\n", (9, "elements of a section are 'name: ...' lines, without -")),
    "no space in braces": (
        "mass: 2,",
        "mass:2,",
        (9, "the key 'mass' is missing"),
        (9, "a space is missing after the colon: 'mass: 2'"),
    ),
    "decimal comma": ("l: 0.4", "l: 0,4", (3, "parameter 'l': '0,4' has a comma; decimals have a point: 0.4")),
    "decimal comma in braces": ("mass: 2,", "mass: 2,5,", (9, "no key '5'; decimals have a point, not a comma: 'mass: 2.5'")),
    "decimal comma in a list": (
        "point: [0, 0, 0]",
        "point: [0,5, 0, 0]",
        (15, "4 entries", "decimals have a point, not a comma"),
    ),
    "section by its noun": ("bodies:\n", "body:\n", (4, "no key 'body'; did you mean 'bodies'?")),
    "capital letter": ("second: arm", "second: Arm", (14, "no body 'Arm'; did you mean 'arm'?")),
    "minus of a word processor": ("mass: 1.0", "mass: \u22121.0", (6, "has the sign '\u2212', which is no minus; write -")),
    "number with gaps": ("mass: 1.0", "mass: 1 000", (6, "'1 000' is a number with gaps; write 1000")),
    "half an exponent": ("mass: 1.0", "mass: 5e-", (6, "'5e-' is neither a number nor arithmetic")),
    "power by a caret": ("l / 2", "l ^ 2", (8, "'l ^ 2' is not allowed; a power is **")),
    "empty element": (
        "  bob: {type: point_mass, mass: 2, position: [l, 0, 0]}",
        "  bob:",
        (9, "body 'bob': is empty; give 'key: value' lines"),
    ),
    "no coefficients": (
        "forces:\n",
        "drivers: {motor: {joint: hinge, motion: {type: polynomial, coefficients: []}}}\nforces:\n",
        (18, "motion.coefficients has 0 entries, []; give at least 1"),
    ),
    "no space": ("    first: ground", "    first:ground", (14, "a space is missing after the colon of 'first:'")),
    "no space at the end": ("axis: [0, 1, 0]", "axis:[0, 1, 0]", (17, "a space is missing after the colon of 'axis:'")),
    "open bracket": ("axis: [0, 1, 0]", "axis: [0, 1, 0", (17, "not valid YAML")),
    "open quote": ("name: test", 'name: "test', (1, "not valid YAML", "quoted")),
    "unknown key": ("    axis: [0, 1, 0]", "    axs: [0, 1, 0]", (16, "joint 'hinge'", "no key 'axs'", "did you mean 'axis'?")),
    "unknown section": ("forces:", "force:", (18, "no key 'force'", "did you mean 'forces'?")),
    "unknown type": ("type: revolute", "type: revolut", (12, "joint 'hinge'", "no type 'revolut'", "did you mean 'revolute'?")),
    "unknown type, and more": (
        "    type: revolute\n    first: ground\n    second: arm\n    point: [0, 0, 0]\n",
        "    type: revolut\n    first: grund\n    second: arn\n    point: [0, zero, 0]\n",
        (12, "joint 'hinge'", "no type 'revolut'", "did you mean 'revolute'?"),
        (13, "joint 'hinge'", "no body 'grund'", "did you mean 'ground'?"),
        (14, "joint 'hinge'", "no body 'arn'", "did you mean 'arm'?"),
        (15, "joint 'hinge'", "point.1", "no parameter 'zero'"),
    ),
    "type that is like none, and more": (
        "type: revolute\n    first: ground\n",
        "type: xyz\n    first: grund\n",
        (12, "no type 'xyz'"),
        (13, "no body 'grund'"),
    ),
    "spring on a joint": (
        "{type: force, body: bob, force: [0, 0, 1]}",
        "{type: spring, joint: hinge, stiffness: 2}",
        (19, "no type 'spring'; did you mean 'joint_spring_damper'?"),
    ),
    "missing type": ("    type: revolute\n", "", (11, "joint 'hinge'", "the key 'type' is missing", "revolute")),
    "misspelt body": ("    second: arm\n", "    second: amr\n", (14, "no body 'amr'", "did you mean 'arm'?")),
    "misspelt joint": (
        "forces:\n",
        "drivers: {motor: {joint: hing, motion: 1}}\nforces:\n",
        (18, "driver 'motor'", "no joint 'hing'", "did you mean 'hinge'?"),
    ),
    "unit written": ("mass: 1.0", "mass: 1.0 kg", (6, "body 'arm'", "units are SI", "leave out 'kg'")),
    "unit of a parameter": ("l: 0.4", "l: 0.4 N/m", (3, "parameter 'l'", "units are SI", "leave out 'N/m'")),
    "degrees": ("l: 0.4", "l: 60 deg", (3, "parameter 'l'", "write radians(60)")),
    "sine": (
        "forces:\n",
        "drivers: {motor: {joint: hinge, motion: {type: sine, amplitude: 1, omega: 2}}}\nforces:\n",
        (18, "there is no type 'sine'; did you mean 'harmonic'?"),
    ),
    "revolutions per minute": ("l: 0.4", "l: 60 rpm", (3, "parameter 'l'", "write 60 * pi / 30, which is 6.28318531")),
    "millimetres": ("mass: 1.0", "mass: 300 mm", (6, "write 300 * 1e-3, which is 0.3")),
    "degrees per second": ("mass: 1.0", "mass: 90 deg/s", (6, "write radians(90)")),
    "unknown unit": ("mass: 1.0", "mass: 3 pounds", (6, "write the number in m, kg, s, rad, N")),
    "unit as a factor": ("mass: 1.0", "mass: 60 * rpm", (6, "no parameter 'rpm', and units are SI; write pi / 30")),
    "unit as a function": ("mass: 1.0", "mass: deg(90)", (6, "no function 'deg', and units are SI; write (90) * pi / 180")),
    "parameter that needs a wrong one": ("l: 0.4", "l: 0.4 ell\n  k: sqrt(l - 2)", (3, "parameter 'l'")),
    "gravity by its letter": ("mass: 1.0", "mass: 2 * g", (6, "no parameter 'g'; for gravity write 9.81")),
    "text for a number": ("mass: 1.0", "mass: heavy", (6, "no parameter 'heavy'")),
    "truth for a number": ("mass: 1.0", "mass: yes and no", (6, "'yes and no' is not allowed")),
    "boolean for a number": ("mass: 1.0", "mass: true", (6, "mass is True; give a number")),
    "empty value": ("mass: 1.0", "mass:", (5, "body 'arm'", "the key 'mass' is missing")),
    "number for a vector": ("point: [0, 0, 0]", "point: 0", (15, "point is 0; give a list in [ ]")),
    "short vector": ("axis: [0, 1, 0]", "axis: [0, 1]", (16, "axis has 2 entries", "give 3")),
    "long vector": ("axis: [0, 1, 0]", "axis: [0, 1, 0, 0]", (16, "axis has 4 entries", "give 3")),
    "duplicate key": (
        "    mass: 1.0\n",
        "    mass: 1.0\n    mass: 2.0\n",
        (7, "'mass' is already given in line 6; keep one of them"),
    ),
    "duplicate body": (
        "  bob: {",
        "  arm: {mass: 1}\n  bob: {",
        (9, "'arm' is already given in line 5; give one of them another name"),
    ),
    "name used twice": ("  push: {", "  arm: {", (19, "already used")),
    "NaN": ("mass: 1.0", "mass: .nan", (6, "mass is nan; give a finite number")),
    "infinity": ("point: [0, 0, 0]", "point: [0, -.inf, 0]", (15, "point.1 is -inf; give a finite number")),
    "too large a number": ("mass: 1.0", "mass: 1e999", (6, "mass is inf")),
    "negative end": ("name: test", "t_end: -l", (1, "t_end is -0.4; give a number above 0")),
    "type as a key": (
        "    mass: 1.0\n    inertia: [0.01, 0.02, 0.02]\n",
        "    link: 1\n",
        (6, "no key 'link'; did you mean 'type: link'?"),
    ),
    "link without mass": (
        "  bob: {type: point_mass",
        "  bar: {type: link, start: [0, 0, 0], end: [l, 0, 0]}\n  bob: {type: point_mass",
        (9, "body 'bar': has no mass; give a link its mass"),
    ),
    "negative mass": ("mass: 1.0", "mass: -1.0", (6, "mass is -1; give a number greater than 0")),
    "impossible inertia": ("[0.01, 0.02, 0.02]", "[0.01, 0.02, 0.2]", (7, "no body has one greater than the sum")),
    "missing joint axis": ("    axis: [0, 1, 0]\n", "", (11, "joint 'hinge'", "no axis")),
    "axis of length zero": ("axis: [0, 1, 0]", "axis: [0, 0, 0]", (16, "axis has length 0")),
    "joint of a body with itself": ("second: arm", "second: ground", (11, "connects body 'ground' with itself")),
    "missing body of a joint": ("    second: arm\n", "", (11, "joint 'hinge'", "the key 'second' is missing")),
    "bodies as a list": (
        "bodies:\n",
        "bodies: [1]\nold:\n",
        (4, "bodies is [1]", "name: ..."),
        (5, "no key 'old'"),
    ),
    "body that is text": (
        "  bob: {type: point_mass, mass: 2, position: [l, 0, 0]}",
        "  bob: heavy",
        (9, "body 'bob'", "key: value"),
    ),
    "division by zero": ("l / 2", "l / 0", (8, "divides by zero")),
    "no value": ("l / 2", "sqrt(l - 2 * l)", (8, "'sqrt(l - 2 * l)' has no value", "with l = 0.4")),
    "code": ("l / 2", "__import__('os').system('ls')", (8, "not allowed")),
    "attribute": ("l / 2", "l.real", (8, "not allowed")),
    "unknown function": ("l / 2", "sine(l)", (8, "no function 'sine'", "did you mean 'sin'?")),
    "huge power": ("l / 2", "9**9**9", (8, "exponent", "too large")),
    "long expression": ("l / 2", "1+" * 150 + "1", (8, "at most 200")),
    "parameter of another name": (
        "  l: 0.4",
        "  sin: 0.4",
        (3, "parameter 'sin'"),
        (8, "no parameter 'l'"),
        (9, "'l'"),
        (17, "'l'"),
    ),
    "parameter that is used before": ("  l: 0.4", "  l: 2 * k\n  k: 1", (3, "parameter 'l'", "no parameter 'k'")),
    "tag": ("mass: 1.0", "mass: !!python/object/apply:os.getcwd []", (6, "tag", "not supported")),
    "merge key": ("    mass: 1.0\n", "    <<: {mass: 1.0}\n", (6, "merge keys")),
    "alias without anchor": ("mass: 1.0", "mass: *m", (6, "alias *m has no anchor")),
    "second document": ("joints:\n", "---\njoints:\n", (10, "second document")),
    "control character": ("name: test", "name: te\x07st", (1, "not allowed in YAML")),
    "wrong version": ("name: test", "dalembert: 3", (1, "dalembert is 3")),
    "name that is a number": ("name: test", "name: 12", (1, "name is 12", "quotes")),
    "wrong choice": ("force: [0, 0, 1]}", "force: [0, 0, 1], frame: wold}", (19, "frame is 'wold'", "did you mean 'world'?")),
    "unknown motion": (
        "force: [0, 0, 1]}",
        "force: [0, 0, 1], factor: {type: harmonc}}",
        (19, "factor", "no type 'harmonc'", "did you mean 'harmonic'?"),
    ),
    **{
        f"function of the motion, {guess}": (
            "force: [0, 0, 1]}",
            f"force: [0, 0, 1], factor: {guess}}}",
            (19, "factor", told, "a force along a joint against its rate is a joint_spring_damper with a table as damping"),
        )
        for guess, told in {
            "{type: sign, joint: hinge}": "there is no type 'sign'; known: 'number'",
            "hinge.rate > 0": "'hinge.rate > 0' is not allowed; use numbers",
            "sign(hinge.rate)": "there is no function 'sign'; functions of the motion",
            "2 * hinge.rate": "'hinge.rate' is not allowed",
        }.items()
    },
    "module": (
        "mass: 1.0",
        "mass: np.pi",
        (6, "'np.pi' is not allowed; use numbers, parameters, + - * / **, ( ) and functions"),
    ),
    "damping that follows time": (
        "forces:\n",
        "forces:\n  drag: {type: joint_spring_damper, joint: hinge, damping: {type: harmonic, amplitude: 1, omega: 2}}\n",
        (19, "'drag': damping is Harmonic(", "a motion; give a number, or a Table of what it depends on"),
    ),
    "solid and mass": (
        "    mass: 1.0\n",
        "    mass: 1.0\n    solid: {type: sphere, mass: 1, radius: 1}\n",
        (7, "body 'arm'", "one or the other"),
    ),
    "mesh outside the folder": (
        "mass: 1.0",
        "mass: 1.0\n    shape: {type: mesh, file: ../secret.stl}",
        (7, "in the model file's folder"),
    ),
    "mesh by absolute path": (
        "mass: 1.0",
        "mass: 1.0\n    shape: {type: mesh, file: /etc/passwd}",
        (7, "in the model file's folder"),
    ),
    "mesh that is not there": ("mass: 1.0", "mass: 1.0\n    shape: {type: mesh, file: a.stl}", (7, "does not exist")),
}


IN_A_PLANE = {
    "decimal comma in a vector": (
        "force: [-20, 0]",
        "force: [-20,5, 0]",
        (44, "force 'load': force is [-20, 5, 0]; decimals have a point, not a comma; if three numbers are meant"),
    ),
    "decimal comma without a space": (
        "start: A",
        "start: [0,5,0]",
        (24, "body 'crank': start is [0, 5, 0]; decimals have a point, not a comma; if three numbers are meant, put a space"),
    ),
    "decimal comma without a space, in a list of points": (
        "forces:\n",
        "forces:\n  s: {type: spring_damper, first: ground, second: slider, stiffness: 1, between: [[0,5,0], [reach, 0]]}\n",
        (44, "force 's': between.0 is [0, 5, 0]; decimals have a point"),
    ),
    "decimal commas without a space": (
        "end: B",
        "end: [0,0,0,1]",
        (24, "body 'crank': end has 4 entries, [0, 0, 0, 1]; give 3", "decimals have a point, not a comma"),
    ),
    "decimal comma among parameters": (
        "position: C",
        "position: [0,28, crank]",
        (28, "position is [0, 28, 'crank']"),
    ),
    "empty list": ("start: A", "start: []", (24, "body 'crank': start has 0 entries, []; give 3, or 2, along x and z")),
    "letter for an axis": (
        "axis: [1, 0]",
        "axis: x",
        (35, "joint 'D': axis is 'x'; give a list in [ ] of numbers: 3, or 2, along x and z"),
    ),
    "wrong plane": ("plane: xz", "plane: x-z", (8, "plane is 'x-z'; did you mean 'xz'?")),  # and nothing on vectors of two
    "no joints": ("joints: ", "joint: ", (31, "there is no key 'joint'; did you mean 'joints'?")),  # and nothing on its drivers
    "itself": ("first: crank, second: rod", "first: rod, second: rod", (33, "joint 'B': connects body 'rod' with itself")),
    "degrees": ("[0, speed]", "[90°, speed]", (41, "motion.coefficients.0", "'90°' has a unit", "write radians(90)")),
    "millimetres": ("crank: 0.1 ", "crank: 100 mm ", (12, "parameter 'crank'", "write 100 * 1e-3, which is 0.1")),
    "point that there is not": (
        "position: C",
        "position: Cx",
        (28, "body 'slider': position is 'Cx', which is no point; did you mean 'C'?, or give a list in [ ] of numbers"),
    ),
    "coordinate that there is not": (
        "C: [reach, offset]",
        "C: [reach, E.z]",
        # and nothing on its uses
        (21, "point 'C'[1] cannot be computed: there is no coordinate 'E.z' before this; did you mean 'B.z'?"),
    ),
    "point that names itself": (
        "C: [reach, offset]",
        "C: [C.x + 1, offset]",
        (21, "point 'C'[0] cannot be computed: there is no coordinate 'C.x' before this; did you mean 'B.x'?"),
    ),
    "point that is used before": (
        "B: [0, crank]",
        "B: [C.x, crank]",
        (20, "point 'B'[0] cannot be computed: there is no coordinate 'C.x' before this; did you mean 'A.x'?"),
    ),
    "point that is a number": (
        "B: [0, crank]",
        "B: crank",
        (20, "point 'B' is 'crank'; give a list in [ ] of numbers: 3, or 2"),
    ),
    "point of no name": (
        "C: [reach, offset]",
        "pi: [reach, offset]",
        (21, "point 'pi': this name has"),
        *((k, "'C'") for k in (25, 28, 34, 35)),
    ),
    "name where axes are those of bodies": (
        "revolute, first: crank, second: rod, point: B",
        "revolute, first: crank, second: rod, points: [B, B]",
        (33, "joint 'B': points.0 is 'B'; give a list in [ ] of numbers"),
        (33, "joint 'B': points.1 is 'B'; give a list in [ ] of numbers"),
    ),
    "text in quotes": (
        "mass: 0.5}",
        'mass: "half"}',
        (24, "body 'crank': mass cannot be computed: there is no parameter 'half'"),
    ),
}


@pytest.mark.parametrize("case", IN_A_PLANE)
def test_malformed_in_a_plane(case):
    """Slips in the file of `dalembert new --plane`."""
    old, new, *places = IN_A_PLANE[case]
    call("new", "m.yaml", "--plane")
    text = Path("m.yaml").read_text()
    assert old in text
    Path("m.yaml").write_text(text.replace(old, new, 1))
    check_refused(call("check", "m.yaml"), *places)


def test_three_numbers_that_are_meant():
    """With spaces; directions of the world; zeros; and without spaces where all points have three."""
    call("new", "m.yaml", "--plane")
    text = Path("m.yaml").read_text()
    given = {"force: [-20, 0]": "force: [-20, 0, 5]", "axis: [1, 0]": "axis: [1,0,0]", "A: [0, 0]": "A: [0,0,0]"}
    for old, new in given.items():
        assert old in text
        text = text.replace(old, new)
    Path("n.yaml").write_text(text)
    assert call("check", "n.yaml").exit_code == 0
    arm = "{type: link, start: [0,0,0], end: [0,0,-1], mass: 1}"
    Path("o.yaml").write_text(
        f"plane: xz\nbodies:\n  arm: {arm}\njoints:\n  A: {{type: revolute, first: ground, second: arm, point: [0,0,-1]}}\n"
    )
    assert call("check", "o.yaml").exit_code == 0


def test_numbers_in_quotes_are_numbers():
    call("new", "m.yaml", "--plane")
    text = Path("m.yaml").read_text()
    Path("n.yaml").write_text(text.replace("mass: 0.5}", 'mass: "0.5"}'))
    assert call("check", "n.yaml").stdout == call("check", "m.yaml").stdout


@pytest.mark.parametrize("case", CASES)
def test_malformed(case):
    old, new, *places = CASES[case]
    assert GOOD.count(old) == 1
    Path("m.yaml").write_text(GOOD.replace(old, new))
    check_refused(call("check", "m.yaml"), *places)


WHOLE = {
    "empty file": ("", (1, "the file is empty", "dalembert new")),
    "only comments": ("# nothing\n", (1, "the file is empty")),
    "text": ("hello", (1, "the file holds 'hello'")),
    "a list": ("- a\n- b\n", (1, "the file holds ['a', 'b']")),
    "billion laughs": (LAUGHS, (1, "more than 1000000 values")),
    "alias within itself": ("bodies: &a [*a]\n", (1, "nested more than 20 levels")),
    "deep nesting": ("a: " + "[" * 100_000, (1, "nested more than 20 levels")),
    "key that is a list": ("[a, b]: 1\n", (1, "a key is not plain text")),
    "no bodies": ("name: x\n", None),
}


@pytest.mark.parametrize("case", WHOLE)
def test_malformed_as_a_whole(case):
    text, place = WHOLE[case]
    Path("m.yaml").write_text(text)
    if place is None:
        result = call("check", "m.yaml")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == "dalembert: error: the model has no bodies; add one with add_body or add_point_mass\n"
    else:
        check_refused(call("check", "m.yaml"), place)


def test_not_text():
    Path("m.yaml").write_bytes(b"name: x\nbodies: \xff\xfe\n")
    check_refused(call("check", "m.yaml"), (2, "byte 0xff is not UTF-8"))


def test_huge_file_is_not_even_read():
    with open("m.yaml", "wb") as file:
        file.truncate(100_000_000)
    check_refused(call("check", "m.yaml"), (1, "100 MB", "more than 16 MB"))


def test_mesh_through_a_link_outside():
    Path("../secret.stl").write_text("solid")
    os.symlink("../secret.stl", "inside.stl")
    Path("m.yaml").write_text(GOOD.replace("mass: 1.0", "mass: 1.0\n    shape: {type: mesh, file: inside.stl}"))
    check_refused(call("check", "m.yaml"), (7, "in the model file's folder"))


def test_all_problems_are_told_at_once():
    text = (
        GOOD.replace("mass: 1.0", "mass: 1 kg").replace("axis: [0, 1, 0]", "axs: [0, 1, 0]").replace("body: bob", "body: bobb")
    )
    Path("m.yaml").write_text(text)
    check_refused(call("run", "m.yaml", "--t-end", 1), (6, "kg"), (16, "axs"), (19, "did you mean 'bob'?"))


def test_one_broken_body_does_not_blame_its_joints():
    Path("m.yaml").write_text(GOOD.replace("mass: 1.0", "mass: 0").replace("[0, 0, 1]}", "[0, 0, 1], frame: body}"))
    check_refused(call("check", "m.yaml"), (6, "mass is 0"), (19, "point mass 'bob' has no axes"))


def test_missing_file_and_folder():
    result = call("check", "no.yaml")
    assert (result.exit_code, result.stderr) == (
        2,
        "dalembert: error: no.yaml: there is no such file; `dalembert new` writes one\n",
    )
    Path("d.yaml").mkdir()
    result = call("check", "d.yaml")
    assert (result.exit_code, result.stderr) == (2, "dalembert: error: d.yaml: is a folder; give a model file (.yaml)\n")


def test_impossible_assembly_is_one_line():
    text = GOOD.replace("point: [l, 0, 0]", "points: [[l, 0, 0], [0, 0, 0]]").replace("mass: 2,", "mass: 2, fixed: true,")
    Path("m.yaml").write_text(text.replace("    position: [l / 2", "    fixed: true\n    position: [l / 2"))
    result = call("check", "m.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith("dalembert: error: the mechanism cannot be assembled")
    assert result.stderr.count("\n") == 1
