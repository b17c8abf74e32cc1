"""The README tells the truth: its Python blocks run, its output is what the command prints."""

import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.viewer import animation

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
VARYING = ("compiling kernels", "wall time", "versions", "model hash")  # last digits of sines differ between processors
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

from code_blocks import python_blocks, run_blocks  # noqa: E402


def marked_block(name):
    """The fenced block after <!-- name -->."""
    match = re.search(rf"<!-- {name} -->\s*```\w*\n(.*?)```", README, re.DOTALL)
    assert match, f"README.md has no block after <!-- {name} -->"
    return match[1]


def stable_lines(text):
    """Lines with numbers and spacing evened out, without those that differ from run to run, and without wrapped tails."""
    lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith(VARYING)]
    lines = [line for line in lines if not line.startswith("   ") or " rtol " in line or " h " in line]
    lines = [re.sub(r"(?<=/)[\w-]{16,}(?=/)", "token", line) for line in lines]  # of a live view, new each time
    lines = [re.sub("-{5,}", "-----", line) for line in lines]  # as wide as the times
    lines = [re.sub(r"\[=*\.*\]", "[=]", line) for line in lines]
    lines = [re.sub("worst at '[^']*'", "worst at #", line) for line in lines]  # of rounding, which differs between machines
    even = [re.sub(r"\(?\d[\d.]*(e[+-]?\d+)?\)?", "#", line) for line in lines]
    return [" ".join(re.sub("# m?s$", "#", line.rstrip()).split()) for line in even]


def test_python_blocks_run(tmp_path, monkeypatch):
    """And what they print stands below them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(animation, "usual_speed", lambda span: span)  # animations of one second
    blocks, printed = python_blocks(README), []
    assert len(blocks) >= 2
    names = run_blocks(ROOT / "README.md", printed)
    for (_, code), output in zip(blocks, printed, strict=True):
        behind = README.partition(f"```python\n{code}```\n")[2]
        shown = re.match("\n```text\n(.*?)```\n", behind, re.DOTALL)
        assert (shown is not None) == bool(output), code
        if shown is not None:
            check_shown(code, shown[1], output)
            check_counts(code, shown[1], output)
    assert shown[1] == output  # of the last block, to the digit
    assert names["solution"].report().passed
    check_swing(names["A"], names["B"], names["C"], names["D"], names["swing"])
    assert {path.name for path in tmp_path.iterdir()} == {"own.html", "own.png", "over.png", "own.csv"}


def test_lines_for_own_mechanisms_run():
    """Each of the table with the linkage of the first block, then all of them at once."""
    names = {}
    exec(python_blocks(README)[0][1].partition("solution = ")[0], names)
    lines = re.findall(r"^\| `(\.add_.*?)` \|", README, re.MULTILINE)
    assert len(lines) == 9
    for line in lines:
        exec(f"model{line}", names)
    exec("run = da.simulate(model, t_end=0.1)", names)
    run = names["run"]
    assert run.position("tip").shape[1] == 3 and names["model"].body("block").mass == 0.3
    assert run.coordinate_rate("guide")[0] == pytest.approx(2.0) and run.report()["energy balance"].verdict == "pass"
    assert np.allclose(run.effort("gas").value[:, 1], -5.0 * np.cos(run.coordinate("A")))


def check_swing(A, B, C, D, swing):
    """By the dead centres of a four-bar linkage, where crank and coupler lie on one line."""
    crank, coupler, rocker, ground = (np.linalg.norm(np.subtract(*pair)) for pair in ((A, B), (B, C), (D, C), (A, D)))
    stretched, folded = (
        np.arccos((rocker**2 + ground**2 - reach**2) / (2 * rocker * ground)) for reach in (coupler + crank, coupler - crank)
    )
    assert swing == pytest.approx(np.degrees(stretched - folded), rel=1e-4)  # at 401 times


def test_main_output_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = marked_block("main-command").split("&&")[-1]
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/dalembert"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert stable_lines(result.stdout) == stable_lines(marked_block("main-output"))
    assert (tmp_path / "run.zarr").is_dir()
    assert (tmp_path / "run.png").stat().st_size > 10_000


def printed_by(command, monkeypatch):
    """What a command of the README prints; a view is ended at once, as by Ctrl-C."""

    def interrupt(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("dalembert.cli.view.time", SimpleNamespace(sleep=interrupt))
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    program, *arguments = shlex.split(command)
    assert program == "dalembert"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, (command, result.output)
    return result.stdout


def session(name):
    """(command, output) of every command of a block; output that is left out is a line of three dots."""
    for part in re.split(r"^\$ ", marked_block(name), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def check_shown(command, shown, printed):
    """Every line that the README shows is printed, in this order; between dots, nothing else is."""
    lines = stable_lines(printed)
    at = 0
    for number, piece in enumerate(re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)):
        wanted = stable_lines(piece)
        found = next((k for k in range(at, len(lines) + 1) if lines[k : k + len(wanted)] == wanted), None)
        assert found is not None, (command, wanted, lines[at:])
        assert number or found == 0, (command, lines[:found])
        at = found + len(wanted)
    assert at == len(lines), (command, lines[at:])


def rows(table):
    """Error, steps and evaluations of every row of a comparison."""
    found = re.findall(r"(?:rtol|h) \S+(?: s)? +\(?([\d.e+-]+)\)? +\S+ +\S+ +(\d+) +(\d+) ", table)
    return [tuple(map(float, row)) for row in found]


def check_counts(command, shown, printed):
    """Counts and values are those that are shown, to 5 %, errors of comparisons to a factor of 5; drifts are of rounding."""
    for (error, *counts), (same_error, *same_counts) in zip(rows(shown), rows(printed), strict=False):  # dots: the rest
        assert 0.2 < error / same_error < 5.0 and counts == pytest.approx(same_counts, rel=0.05), command
    if "trust report" not in shown and "..." not in shown and not rows(shown):
        values = [re.findall(r"(?<![\w.-])-?\d+(?:\.\d*)?(?![\w.-])", text) for text in (shown, printed)]
        wanted, found = (np.array(numbers, dtype=float) for numbers in values)
        assert wanted == pytest.approx(found, rel=0.05), command


def test_the_shortest_way_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = marked_block("shortest").splitlines()
    assert commands.pop(0) == ". .venv/bin/activate" and len(commands) == 3
    said = [printed_by(command, monkeypatch) for command in commands]
    assert "\ntrusted\n" in said[1] and "press.zarr is shown at" in said[2]
    below = README.partition("<!-- shortest -->")[2].partition("```python")[0]
    asked = re.findall("^`(dalembert .*?)`", below, re.MULTILINE)
    figure, numbers, table, path = (printed_by(command, monkeypatch) for command in asked)
    assert figure == "written: torque.png\n" and path == "written: path.png\n" and table.startswith("written: torque.csv")
    assert len((tmp_path / "torque.csv").read_text().splitlines()) == 202
    assert [line.split()[0] for line in numbers.splitlines()] == [
        "number",
        "A.f.max",
        "D.range",
        "motor.peak",
        "motor.power.mean",
        "means",  # are over 0 to 2 s, 2 turns of 'motor'
    ]


def test_path_of_a_new_user_is_true(tmp_path, monkeypatch):
    """From the README alone: run, view, a new file, checked, run, a mass edited, run, compared; every output is as shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "116")
    monkeypatch.setattr(animation, "usual_speed", lambda span: span)  # an animation of one second
    CliRunner().invoke(app, shlex.split(marked_block("main-command").split("&&")[-1])[1:])
    commands = list(session("path"))
    assert commands.pop(0)[0] == ". .venv/bin/activate"
    for command, shown in commands:
        check_shown(command, shown, printed_by(command, monkeypatch))
    line = marked_block("edited-line").split("#")[0].rstrip()
    before = Path("mine.yaml").read_text(encoding="utf-8")
    assert line.replace("mass: 4", "mass: 2") in before
    Path("mine.yaml").write_text(before.replace(line.replace("mass: 4", "mass: 2"), line), encoding="utf-8")
    for command, shown in session("path-after-edit"):
        printed = printed_by(command, monkeypatch)
        check_shown(command, shown, printed)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"mine.zarr", "heavy.zarr", "bearing.png", "heavy.gif", "both.html", "mine.html"} <= names
    assert len(rows(shown)) == len(rows(printed)) == 8
    check_counts(command, shown, printed)


def test_verbs_are_all_listed():
    listed = re.search("<!-- verbs -->(.*?)<!-- end of verbs -->", README, re.DOTALL)[1]
    verbs = [name for name in dir(da.Model) if name.startswith("add_")]
    assert sorted(re.findall(r"`(add_\w+)`", listed)) == sorted(verbs)


def test_message_about_a_wrong_key_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["new", "mine.yaml"])
    text = Path("mine.yaml").read_text(encoding="utf-8")
    Path("mine.yaml").write_text(text.replace("    axis: [0, 1, 0]", "    axs: [0, 1, 0]", 1), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", "mine.yaml"])
    assert result.exit_code == 2
    assert f"`{result.stderr.strip().removeprefix('dalembert: error: ')}`" in README


def test_false_outputs_are_caught():
    printed = "one 1\ntwo\nthree 3e-4\n"
    for shown in ("one 7\ntwo\nthree 3e-9", "one 1\n...\nthree 5\n", "...\nthree 1\n"):
        check_shown("", shown, printed)
    for shown in ("two\nthree 1\n", "one 1\ntwo\n", "one 1\nthree 1\n", "one 1\n...\nfour\n", "two\n...\nthree 1\n"):
        with pytest.raises(AssertionError):
            check_shown("", shown, printed)
    row = " jet  dop853  rtol 1e-04  3.3e-05  1.1e-05  3.9e-13  26  358  1 ms\n"
    check_counts("", row, row.replace("358", "361").replace("3.3e", "4.4e") + row)
    check_counts("", "(244, 1)\n4e-13\n", "(246, 1)\n9e-15\n")
    false = [(row, row.replace("358", "379")), (row, row.replace("3.3e-05", "7.0e-04")), ("(26, 1)\n", "(24, 1)\n")]
    for shown, printed in false:
        with pytest.raises(AssertionError):
            check_counts("", shown, printed)


def test_test_command_runs_pytest():
    assert "pytest" in marked_block("test-command")


def test_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert {"docs/tutorial.md", "docs/howto/model_files.md", "docs/reference/conventions.md"} <= set(links)
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
