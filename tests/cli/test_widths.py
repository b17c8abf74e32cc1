"""What commands print fits the terminal: at 80, 100, 120 and 200 columns, with and without colour, and in a pipe."""

import io
import re
import sys

import pytest

from dalembert.cli import app

COLOURED = re.compile("\x1b\\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")  # bold and the like are no colours
ESCAPE = re.compile("\x1b\\[[0-9;?]*[A-Za-z]")
COMMANDS = {
    "run": "run simple_pendulum --t-end 0.1",
    "run in full": "run slider_crank --t-end 0.05 --verbose",
    "check": "check bricard",
    "check in full": "check mine.yaml --verbose",
    "gallery": "gallery",
    "doctor": "doctor",
    "new": "new mine.yaml --force",
    "plot": "plot run.zarr energy --out energy.png",
    "export": "export run.zarr run.csv",
    "view": "view run.zarr --out run.html",
    "kinematics": "kinematics slider_crank --sweep A=0:90:30",
    "equilibrium": "equilibrium simple_pendulum",
    "modes": "modes simple_pendulum --equilibrium",
    "modes with long names": "modes bicycle",
    "run with doubts": "run n_four_bar --t-end 1",
    "compare": "compare simple_pendulum --t-end 0.1 --formulations jet --integrators rk4,dop853",
    "benchmark": "benchmark --list",
    "sweep": "sweep mine.yaml --set crank=0.1,0.12 --t-end 0.05 --out sweep.zarr",
    "inverse": "inverse rod.yaml --run rod.zarr --actuator pivot",
    "fit": "fit rod.yaml --data rod.csv --set length=1.1:0.5:2",
    "warmup": "warmup",
    "help": "--help",
    "help of run": "run --help",
    "help of plot": "plot --help",
    "help of export": "export --help",
    "help of benchmark": "benchmark --help",
    "error": "run slidercrank",
}

ROD = """
t_end: 0.1
parameters: {length: 1.0}
bodies:
  rod: {solid: {type: rod, mass: 1, length: length, axis: x, radius: 0.01}, position: [length / 2, 0, 0]}
joints:
  pivot: {type: revolute, first: ground, second: rod, point: [0, 0, 0], axis: [0, 1, 0]}
"""


class Terminal(io.StringIO):
    """Takes text as a terminal does."""

    def isatty(self):
        return True

    def fileno(self):
        raise OSError("no file")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With results, model files and data in it."""
    place = tmp_path_factory.mktemp("widths")
    (place / "rod.yaml").write_text(ROD)
    (place / "rod.csv").write_text("time,pivot\n0.0,0.0\n0.05,0.0184\n0.1,0.0735\n")
    runs = ("run simple_pendulum --t-end 0.1 --out run.zarr --quiet", "run rod.yaml --out rod.zarr --quiet", "new mine.yaml")
    for command in runs:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(place)
            assert said(command, patch, None) is not None
    return place


def said(command, monkeypatch, width, colour=False):
    """What a command prints, standard error included; without a width there is no terminal."""
    out = io.StringIO() if width is None else Terminal()
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm-256color")
        if not colour:
            monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", out)
    with pytest.raises(SystemExit) as left:
        app(command.split())
    assert left.value.code == {COMMANDS["error"]: 2, COMMANDS["run with doubts"]: 1}.get(command, 0), out.getvalue()
    return out.getvalue()


@pytest.mark.parametrize("name", COMMANDS)
def test_output_fits(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for width in (None, 80, 100, 120, 200):
        for colour in (False, True) if width else (False,):
            text = said(COMMANDS[name], monkeypatch, width, colour)
            if not colour:
                assert not COLOURED.search(text), "no colours where none are wanted"
            seen = ESCAPE.sub("", text)
            assert seen.strip(), name
            assert "…" not in seen, "nothing is cut"
            heads = [line for line in seen.splitlines() if "powers of 10" in line]
            assert all(line.startswith("check ") for line in heads), f"{name} at {width}: a table is broken into lines twice"
            parted = re.search(
                r"\bt( =( [-+.e\d]+)?)?( {2}|$)|wheel\.rot(?!ation_x)|Chatterjee(?!Papadopoulos2007)", seen, re.M
            )
            assert parted is None, f"{name} at {width}: what belongs together is on two lines: {parted}"
            wide = (line.rstrip() for line in re.split("[\r\n]", seen) if len(line.rstrip()) > (width or 120))
            long = [line for line in wide if width or not line.startswith("dalembert: ")]  # in a pipe one line each
            assert long == [], f"{name} at {width}"


def test_arguments_in_usage_are_in_brackets_once(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("help of plot", "help of export", "help of benchmark"):
        usage = next(line for line in said(COMMANDS[name], monkeypatch, None).splitlines() if "Usage:" in line)
        assert "[[" not in usage and "..]..." not in usage
        assert usage.partition("[OPTIONS]")[2].isupper(), "named as the README names them"


def test_warnings_and_errors_hang_from_their_first_word(folder, monkeypatch):
    monkeypatch.chdir(folder)
    first, *more = said(COMMANDS["error"], monkeypatch, 80).rstrip("\n").split("\n")
    assert first.startswith("dalembert: error: ") and more and all(line.startswith("  ") for line in more)
    assert said(COMMANDS["error"], monkeypatch, None).count("\n") == 1, "one line for programs"


def test_notes_of_a_comparison_hang_from_their_dashes(folder, monkeypatch):
    monkeypatch.chdir(folder)
    _, *notes = said(COMMANDS["compare"], monkeypatch, 80).split("\n- ")
    assert len(notes) > 3 and any("\n" in note for note in notes)
    assert all(line.startswith("  ") for note in notes for line in note.rstrip("\n").split("\n")[1:])


def test_every_command_is_tried():
    names = {command.callback.__name__ for command in app.registered_commands}
    assert {command.split()[0] for command in COMMANDS.values()} >= names
