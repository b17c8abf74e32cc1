"""The README tells the truth: its Python blocks run, its output is what the command prints."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dalembert.cli import app

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
VARYING = ("compiling kernels", "wall time", "versions")


def marked_block(name):
    """The fenced block after <!-- name -->."""
    match = re.search(rf"<!-- {name} -->\s*```\w*\n(.*?)```", README, re.DOTALL)
    assert match, f"README.md has no block after <!-- {name} -->"
    return match[1]


def stable_lines(text):
    """Lines with numbers and spacing evened out, without those that differ from run to run, and without wrapped tails."""
    lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith(VARYING)]
    lines = [line for line in lines if not line.startswith("   ")]
    return [" ".join(re.sub(r"\d[\d.]*(e[+-]?\d+)?", "#", line).split()) for line in lines]


def test_python_blocks_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 5
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["solution"].report().passed
    assert names["run"].status == "event"
    assert names["run"].t[-1] == pytest.approx(4 * 3.141592653589793 / 6.0, abs=1e-9)
    assert [name for name, _ in names["run"].events].count("middle") == 4
    assert names["result"].energy.external_work[-1] < 0
    assert names["kept"].report().passed
    written = {"slider_crank.png", "kept.zarr", "kept.csv", "work.png", "work.html", "mechanism.yaml"}
    written |= {"kept.html", "kept.gif"}
    assert {path.name for path in tmp_path.iterdir()} == written


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


def test_path_of_a_new_user_is_true(tmp_path, monkeypatch):
    """From the README alone: a new file, checked, run, drawn, compared; the table has the rows that the README prints."""
    monkeypatch.chdir(tmp_path)
    for command in marked_block("path-commands").splitlines():
        program, *arguments = shlex.split(command)
        assert program == "dalembert"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, (command, result.output)
    printed, shown = (re.sub(r"\S+ ms", "", text) for text in (result.stdout, marked_block("compare-output")))
    assert "- reference: jet" in shown
    wanted, rows = ({line for line in stable_lines(text) if "rtol" in line or " h " in line} for text in (shown, printed))
    assert wanted <= rows
    assert {"mine.yaml", "mine.zarr", "spectrum.png", "mine.html"} <= {path.name for path in tmp_path.iterdir()}


def test_test_command_runs_pytest():
    assert "pytest" in marked_block("test-command")
