"""A toggle press by a model file: what its author may get wrong, and what is told of it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app

PRESS = """
name: toggle press
plane: xz
t_end: 2
parameters:
  crank: 0.06
  rod: 0.25
  link: 0.3
  ez: 0.6                          # the upper pivot
  ax: 0.3377                       # that of the crank
  az: 0.2531
  knee: radians(17)
  speed: 90 * pi / 30
  kx: link * sin(knee)
  kz: ez - link * cos(knee)
  cz: kz - link * cos(knee)
  gap: hypot(ax - kx, az - kz)
  turn: atan2(kz - az, kx - ax) + acos((crank**2 + gap**2 - rod**2) / (2 * crank * gap))
  bx: ax + crank * cos(turn)
  bz: az + crank * sin(turn)
bodies:
  crank: {type: link, start: [ax, az], end: [bx, bz], mass: 1}
  rod: {type: link, start: [bx, bz], end: [kx, kz], mass: 2}
  upper: {type: link, start: [0, ez], end: [kx, kz], mass: 3}
  lower: {type: link, start: [kx, kz], end: [0, cz], mass: 3}
  ram:
    solid: {type: box, mass: 8, size: [0.1, 0.1, 0.1]}
    position: [0, cz]
joints:
  A: {type: revolute, first: ground, second: crank, point: [ax, az]}
  B: {type: revolute, first: crank, second: rod, point: [bx, bz]}
  E: {type: revolute, first: ground, second: upper, point: [0, ez]}
  K: {type: revolute, first: rod, second: upper, point: [kx, kz]}
  L: {type: revolute, first: upper, second: lower, point: [kx, kz]}
  C: {type: revolute, first: lower, second: ram, point: [0, cz]}
  D: {type: prismatic, first: ground, second: ram, point: [0, cz], axis: [0, 1]}
drivers:
  motor:
    joint: A
    motion: {type: polynomial, coefficients: [0, speed]}
forces:
  load: {type: force, body: ram, force: [0, 2000]}
"""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(*changes) -> str:
    """The press as its file, with (old, new) texts."""
    text = PRESS
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    Path("press.yaml").write_text(text)
    return "press.yaml"


def flowing(text: str) -> str:
    return " ".join(text.split())


def test_a_crank_that_cannot_turn_round():
    """Its rod is too short to stretch as far as the crank turns: speeds at the dead centre are no matter of units."""
    result = call("run", write(), "--set", "crank=0.067")
    assert result.exit_code == 1
    assert "\nnot trusted: status\n" in result.stdout
    assert "than any machine has" not in result.output
    told = "the step size collapsed at t = 0.111232 s: driver 'motor' cannot turn past 1.048 rad = 60.07 degrees, the mechanism"
    assert f"failed: {told} reaches no further; check its sign and range, lengths, and the axis of 'D', (0, 1); the" in flowing(
        result.stdout
    )
    assert result.stderr == f"dalembert: error: {told} reaches no further (see status)\n"


AT_THE_KNEE = "point: [kx, kz]"


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (
            ("second: upper, point: [0, ez]", f"second: upper, {AT_THE_KNEE}"),
            "an end of 'upper', at (0, 0.6), is joined to nothing, and all its joints, 'E', 'K', 'L', are at the other: see",
        ),
        (
            ("second: ram, point: [0, cz]}\n  D", f"second: ram, {AT_THE_KNEE}}}\n  D"),
            "an end of 'lower', at (0, 0.02622), is joined to nothing, and all its joints, 'L', 'C', are at the other: see",
        ),
        (
            ("first: upper, second: lower", "first: upper, second: ram"),
            "an end of 'lower' is at an end of 'rod' and nothing joins them there: a joint may be missing; the",
        ),
    ],
)
def test_a_joint_at_the_wrong_pin(change, cause):
    """The likely cause comes first; advice is that for a plane, and numbers have units."""
    result = call("check", write(change))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"dalembert: error: no velocities fit: {cause}")
    assert "hinge)" not in result.stderr
    assert result.stderr.endswith(" keep the velocity residual in brackets, in m/s or rad/s\n")


def test_what_stays_open_has_units_and_what_is_doubted_is_told_first():
    wrong = ("second: upper, point: [0, ez]", f"second: upper, {AT_THE_KNEE}")
    told = call("check", write(wrong, ("[0, 1]}", "[0, 1], coordinate: 3}"))).stderr
    assert told.startswith("dalembert: error: the mechanism cannot be assembled: an end of 'upper', at (0, 0.6), is joined to")
    assert "stay open by the residual in brackets, in m or rad; check their points" in told


def test_a_pin_of_three_bars():
    """Two joints at one point; what is in a list, or called alike, is told how."""
    told = call("check", write(("first: rod, second: upper", "first: rod, second: [upper, lower]"))).stderr
    fix = "give one body: a pin of 3 bodies is 2 joints at the same point, of other names, as rod - upper, upper - lower"
    assert told.endswith(f": joint 'K': second is ['upper', 'lower']; {fix}\n")
    told = call("check", write(("  L: {", "  K: {"))).stderr
    assert told == "dalembert: error: press.yaml:34:3: 'K' is already given in line 33; give one of them another name\n"


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    """A run of a turn and a half."""
    folder = tmp_path_factory.mktemp("press")
    (folder / "press.yaml").write_text(PRESS)
    store = folder / "press.zarr"
    assert call("run", folder / "press.yaml", "--t-end", 1, "--out", store, "--quiet").exit_code == 0
    return store


def names_of(table: str) -> list[str]:
    return [line.split()[0] for line in table.splitlines()[1:]]


def test_names_of_signals_with_a_star(stored):
    """The largest force of every pin in one line; tables, figures and sweeps take such names as well."""
    numbers = call("export", stored, "--output", "*.f.max,ram.*.range,A.f.max")
    assert numbers.exit_code == 0, numbers.output
    names = [f"{pin}.f.max" for pin in (*"ABEKLCD", "load")]  # the motor has a torque
    found = [line.split()[:2] for line in numbers.stdout.splitlines()[1:] if ".f.max" in line]
    assert sorted(name for name, _ in found) == sorted(names) and found[0][0] == "E.f.max"
    assert [float(value) for _, value in found] == sorted((float(value) for _, value in found), reverse=True)
    assert {"ram.x.range", "ram.vz.range", "ram.v.range"} < {*names_of(numbers.stdout)}
    assert call("export", stored, "pins.csv", "--output", "?.f,*.power").exit_code == 2  # only a star
    assert call("export", stored, "pins.csv", "--output", "*.power,E.f").exit_code == 0
    assert Path("pins.csv").read_text().splitlines()[0] == "time,motor.power,load.power,E.f"
    assert call("plot", stored, "time", "*.f", "--out", "pins.png").exit_code == 0
    refused = call("export", stored, "--output", "*.q")
    assert refused.exit_code == 2 and "there are no signals '*.q'; give a name, or one with *" in refused.stderr
    options = ("--t-end", 0.01, "--set", "rod=0.25,0.26", "--output", "*.f,ram.z", "--out", "s.zarr")
    assert call("sweep", write(), *options).exit_code == 0
    kept = call("export", "s.zarr", "s.csv")
    assert kept.exit_code == 0, kept.output
    assert "E.f" in Path("s.csv").read_text().splitlines()[0]


def test_means_say_over_what(stored):
    shown = call("export", stored, "--output", "motor.power.mean,A.f.max").stdout
    assert shown.splitlines()[-1] == "means are over 0 to 1 s, 1.5 turns of 'motor'"
    assert "means" not in call("export", stored, "--output", "A.f.max").stdout
    assert call("export", stored, "--output", "A.f.mean", "--json").stdout.endswith("}\n")


@pytest.mark.parametrize("option", ["--t-end", "--save-every"])
def test_options_take_arithmetic(option):
    """A turn at 90 rpm takes 2/3 s; what is no number is answered as in --set."""
    model = write(("t_end: 2\n", "t_end: 2/3\n"))
    assert call("run", model, option, "2/3", "--out", "r.zarr", "--quiet").exit_code == 0
    assert da.load("r.zarr").t[-1] == 2 / 3
    told = call("run", model, option, "90deg")
    assert told.exit_code == 2 and told.stderr.count("\n") == 1
    assert f"Invalid value for '{option}': '90deg' has a unit; units are SI and are not written: write" in told.stderr


def test_times_and_pictures_take_arithmetic(stored):
    assert call("export", stored, "still.png", "--at", "2/3", "--size", "200x100").exit_code == 0
    assert "'90deg' has a unit" in call("export", stored, "still.png", "--at", "90deg").stderr
    assert "21 poses" in call("kinematics", write(), "--times", "0:2/3:1/30").stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("still.png", "--at", "2.5"), "error: option --at is 2.5; give one of the run, t = 0 to 1 s"),
        (("force.pdf",), "`dalembert plot {} NAME --out force.pdf` draws figures"),
        (
            ("--output", "A.f.max", "--every", "0.1"),
            "option --every is for tables: give a file to write, as in run.csv; printed",
        ),
        (("run.csv", "--output", "heat"), "..., `dalembert export RUN all.csv` has the names of all in its first line"),
    ],
)
def test_words_of_export(stored, arguments, told):
    result = call("export", stored, *arguments)
    assert result.exit_code == 2 and told.format(stored) in result.stderr.replace("...;", "...,"), result.stderr


def test_advice_is_in_keys_of_files():
    """A driver that holds its angle, a bar whose start nothing tells, a table that swings."""
    model = write(("coefficients: [0, speed]", "coefficients: [0.3]"))
    told = flowing(call("check", model).stdout)
    assert "for a speed of 0.3 rad/s give {type: polynomial, coefficients: [0, 0.3]}; to hold" in told and "da." not in told
    pulse = "factor: {type: table, times: [0, 0.5, 0.55, 0.6, 1, 2], values: [0, 0, 1, 0, 0, 0]}"
    told = flowing(call("check", write(("force: [0, 2000]}", f"force: [0, 2000], {pulse}}}"))).stdout)
    assert "a load takes {type: table, ..., monotone: true}; else give more" in told and "SmoothStep" not in told
    assert "or a sum of steps, one for each change: {type: sum, parts: [{type: smooth_step," in told


def test_check_tells_inertias_in_space():
    """About own axes; principal ones where these are none; none of a point mass."""
    model = da.Model()
    model.add_body("box", mass=2.0, inertia=(0.3, 0.4, 0.5))
    model.add_body("skew", mass=2.0, inertia=((2.0, 1.0, 0.0), (1.0, 2.0, 0.0), (0.0, 0.0, 3.5)), position=(1, 0, 0))
    model.add_point_mass("bob", mass=1.0, position=(2, 0, 0))
    model.to_yaml("three.yaml")
    shown = " ".join(call("check", "three.yaml", "--verbose").stdout.split())
    assert "box 2 kg (0.3, 0.4, 0.5) kg m^2 skew 2 kg (1, 3, 3.5) kg m^2 bob 1 kg" in shown
