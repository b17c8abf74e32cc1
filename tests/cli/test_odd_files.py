"""Files and names that would exhaust, hang or confuse: one message each, no traceback, nothing raw on the terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app
from dalembert.io.results import RunWriter

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = [sys.executable, "-c", "from dalembert.cli import app; app()"]
BODY = "bodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n"
ODD = """\
name: "[/x] $\\\\frac{1}{$"
bodies:
  "[/x]": {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
  "$\\\\frac{1}{$": {mass: 1, inertia: [1, 1, 1], position: [2, 0, 0]}
joints:
  "[red]": {type: revolute, first: ground, second: "[/x]", point: [0, 0, 0], axis: [0, 1, 0]}
  "$\\\\frac{$": {type: revolute, first: "[/x]", second: "$\\\\frac{1}{$", point: [1, 0, 0], axis: [0, 1, 0]}
"""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check(text):
    Path("m.yaml").write_text(text)
    return call("check", "m.yaml")


def check_refused(result, *words, lines=1):
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert len(result.stderr.splitlines()) == lines, result.stderr
    for word in words:
        assert word in result.stderr


def test_chained_parameters_are_not_copied(monkeypatch):
    """42 kB took seconds when each parameter copied all before it; one table serves them all."""
    from dalembert.model.file import read

    tables, evaluate = [], read.evaluate

    def watched(text, names):
        tables.append((id(names), len(names)))
        return evaluate(text, names)

    monkeypatch.setattr(read, "evaluate", watched)
    text = "parameters:\n  p0: 1\n" + "".join(f"  p{k}: p{k - 1} + 1\n" for k in range(1, 3000)) + BODY
    read.read_string(text, "m.yaml", Path())
    assert {table for table, _ in tables} == {tables[0][0]}
    assert [size for _, size in tables] == list(range(1, 3000))


MANY = {
    "unknown keys of bodies": "bodies:\n" + "".join(f"  b{k}: {{x: 1, y: 2}}\n" for k in range(3000)),
    "unknown sections": "".join(f"b{k}: 1\n" for k in range(3000)),
    "wrong parameters": "parameters:\n" + "".join(f"  b{k}: c{k}\n" for k in range(3000)),
    "missing bodies": BODY + "joints:\n" + "".join(f"  j{k}: {{type: fixed, first: x{k}, second: a}}\n" for k in range(3000)),
    "bodies without mass": "bodies:\n" + "".join(f"  b{k}: {{inertia: [1, 1, 1]}}\n" for k in range(3000)),
    "given twice": "a: 1\n" * 3000,
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_a_hundred_problems_are_enough(text):
    result = check(text)
    check_refused(result, "m.yaml: and more; mend these 100 first", lines=101)


def test_many_keys_in_one_place_are_one_problem():
    check_refused(check("bodies:\n  a:\n" + "".join(f"    b{k}: 1\n" for k in range(3000))), "3000 keys in one place")
    table = "{type: table, times: [" + "x, " * 3000 + "], values: [1]}"
    check_refused(check(f"{BODY}forces:\n  f: {{type: motor, joint: j, effort: {table}}}\n"), "times.0", lines=2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_pipes_and_devices_do_not_hang():
    os.mkfifo("pipe.yaml")
    Path("zero.yaml").symlink_to("/dev/zero")
    for name in ("pipe.yaml", "zero.yaml"):
        check_refused(call("check", name), f"{name}: cannot read: is not a regular file")
    os.mkfifo("pipe.py")
    check_refused(call("check", "pipe.py"), "is no file")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ("{mass: 1, inertia: [1, 1, 1], position: [1e200, 0, 0]}", "position is [1e+200, 0.0, 0.0]; give numbers in SI units"),
        ("{mass: 1e200, inertia: [1, 1, 1]}", "mass is 1e+200; give a number in SI units"),
        ("{solid: {type: rod, mass: 1, length: 1e200}}", "length is 1e+200"),
        ('{mass: 1, inertia: [1, 1, 1], shape: {type: mesh, file: "a\\0b.stl"}}', "cannot be a name"),
        (f"{{mass: 1, inertia: [1, 1, 1], shape: {{type: mesh, file: {'x' * 5000}.stl}}}}", "cannot be a name"),
    ],
)
def test_values_beyond_all_bounds(record, words):
    check_refused(check(f"bodies:\n  a: {record}\n"), words)


def test_control_characters_in_names_are_refused_and_never_printed():
    for text in (
        'bodies:\n  "a\\e[31m": {mass: 1, inertia: [1, 1, 1]}\n',
        'name: "a\\e]0;x\\a"\n' + BODY,
        'name: "a\\u202Eb"\n' + BODY,
    ):
        result = check(text)
        check_refused(result, "with control characters")
        assert "\x1b" not in result.stderr and "\u202e" not in result.stderr
    with pytest.raises(da.ModelError, match="control characters"):
        da.Model().add_point_mass("a\x1b[31m", mass=1.0)
    with pytest.raises(da.ModelError, match="at most 200"):
        da.Model().add_point_mass("a" * 300, mass=1.0)


def test_control_characters_in_paths_are_escaped():
    result = call("check", "a\x1b[31m.yaml")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr and "\\x1b[31m.yaml" in result.stderr


def test_names_are_neither_markup_nor_formulas():
    Path("odd.yaml").write_text(ODD)
    result = call("run", "odd.yaml", "--t-end", 0.5, "--out", "odd.zarr", "--plot", "odd.png")
    assert result.exit_code == 0, result.output
    assert "trust report of '[/x] $\\\\frac{1}{$'" in result.stdout and "'[red]'" in result.stdout
    for arguments in (("check", "odd.yaml"), ("plot", "odd.zarr", "drift", "--out", "d.svg"), ("export", "odd.zarr", "o.html")):
        result = call(*arguments)
        assert result.exit_code == 0, result.output


def run_into(out, *arguments):
    """Exit code and standard error of a program whose standard output is what is given."""
    done = subprocess.run(
        [*PROGRAM, *arguments], env={**os.environ, "PYTHONPATH": str(SOURCE)}, stdout=out, stderr=subprocess.PIPE, text=True
    )
    return done.returncode, done.stderr


def test_full_standard_output_keeps_the_result():
    with open("/dev/full", "w") as full:
        code, errors = run_into(full, "run", "pendulum_3d", "--t-end", "1", "--out", "a.zarr")
    assert code == 1
    assert errors == "dalembert: error: standard output: No space left on device; the rest is not shown\n"
    assert da.load("a.zarr").status == "complete"


def test_closed_standard_output_keeps_the_result():
    read, write = os.pipe()
    os.close(read)
    code, errors = run_into(write, "run", "pendulum_3d", "--t-end", "1", "--out", "a.zarr")
    os.close(write)
    assert (code, errors) == (0, "")
    assert da.load("a.zarr").status == "complete"
    shell = [
        f"exec '{sys.executable}' -c 'from dalembert.cli import app; app()' run pendulum_3d --t-end 1 --out b.zarr >&- 2>&-"
    ]
    done = subprocess.run(["sh", "-c", *shell], env={**os.environ, "PYTHONPATH": str(SOURCE)})
    assert done.returncode == 0
    assert da.load("b.zarr").status == "complete"


@pytest.mark.parametrize("name", ["slider_crank", "oscillator"])
def test_export_of_a_run_killed_before_its_first_state(name):
    solution = da.simulate(gallery.build(name), 0.01)
    RunWriter(solution.mechanism, solution.settings, "a.zarr")
    for target in ("a.csv", "a.nc", "a.parquet", "a.gif", "a.html"):
        result = call("export", "a.zarr", target)
        assert result.exit_code in (1, 2), result.output
        assert isinstance(result.exception, SystemExit)
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert not Path(target).exists()
    if name == "oscillator":
        check_refused(call("export", "a.zarr", "a.yaml"), "a Lagrangian system has no bodies")
