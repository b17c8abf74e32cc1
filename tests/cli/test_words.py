"""What is wrong is told in the words of the command line: options, not classes of Python."""

import re

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.cli.words import in_options, report_in_options
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS
from dalembert.results.report.table import Line, Report

CLASSES = [cls.__name__ for known in (FORMULATIONS, INTEGRATORS) for cls in known.values()]


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--formulation", "impulse"], "give a step size, --step SECONDS"),
        (["--formulation", "variational"], "pairs that do: jet, moving-frame or minimal with "),
        (["--formulation", "jet", "--integrator", "fixed-step", "--step", 0.01], "variational with fixed-step"),
        (["--singular", "pass", "--step", 0.01], "give --integrator dop853 without --step"),
        (["--formulation", "jet", "--singular", "pass"], "option --singular has no meaning for formulation jet"),
    ],
)
def test_pairs_that_have_no_meaning_are_told_in_options(arguments, words):
    result = call("run", "four_bar", "--t-end", 0.1, *arguments)
    assert result.exit_code == 2 and words in result.stderr and "simulating" not in result.stdout
    if "pairs that do" in result.stderr:
        told = result.stderr.partition("has no meaning; ")[2]
        assert not re.search(rf"\b({'|'.join(CLASSES)})\b", told), told


def test_an_option_of_a_formulation_chooses_it():
    result = call("run", "pendulum_3d", "--t-end", 0.1, "--singular", "pass", "--verbose")
    assert result.exit_code == 0 and "singular='pass'" in " ".join(result.stdout.split())
    assert "with Minimal and DOP853" in result.stdout


def test_freedom_is_told_without_verbs():
    result = call("kinematics", "four_bar", "--times", "0:1:0.1")
    assert result.exit_code == 2
    assert re.search("; a driver on '[AD]' leaves none of them, or sweep one instead [(]--sweep[)]", result.stderr)


def test_messages():
    for cls in FORMULATIONS.values():
        if cls.keeps_branch:
            assert in_options(f"{cls.keeps_branch} goes through") == "--formulation minimal --singular pass goes through"
    told = in_options('take coordinates="planar" (--coordinates planar): all')
    assert told == "take --coordinates planar: all"
    assert in_options("'A' leaves the plane; use coordinates='absolute'") == "'A' leaves the plane; use --coordinates absolute"
    told = in_options("got point= and at=; give point= (body axes), or at=(0, 1): t = 0.1; keep outputs= (--output)")
    assert told == "got point and at; give point (body axes), or at=(0, 1): t = 0.1; keep --output"
    line = Line("branch", "not certain", verdict="FAIL", advice='take Minimal(singular="pass"), which stays')
    (shown,) = report_in_options(Report("of a run", (line,))).lines
    assert shown.advice == "take --formulation minimal --singular pass, which stays"
    named = "joints 'Jet' and 'Soft' lock"  # names are left alone
    assert in_options(named) == named


def test_what_the_library_says_is_met():
    """Phrases are made from what the library says; where that is reworded, the table of phrases follows."""
    sleigh = da.Model(plane="xz")
    sleigh.add_link("bar", (0, 0), (1, 0), mass=1.0)
    with pytest.raises(da.ModelError) as refused:
        da.simulate(sleigh, 0.1, formulation=da.Minimal(singular="pass"), integrator=da.RungeKutta4(step=0.1))
    assert in_options(refused.value) != str(refused.value)
    with pytest.raises(da.ModelError) as refused:
        da.kinematics(sleigh, [0.0, 1.0])
    assert "degrees of freedom" in in_options(refused.value)
