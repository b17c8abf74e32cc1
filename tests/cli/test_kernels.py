"""How long compiling takes is said beforehand: kernels that others call are counted, and the README says the same."""

import builtins
import inspect
import io
from pathlib import Path

import pytest
from numba import int64
from numba.core.registry import cpu_target
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.cli.kernels import KERNELS, duration, needed
from dalembert.compilation.compile import compile
from dalembert.kernels.base import told
from dalembert.kernels.base.cache import DiskCache
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.base.told import LISTENERS

KNOWN = {kernel.name: kernel for kernel in KERNELS}


def called(function, seen):
    """Names of the kernels that the code of a function comes to, through functions that are none."""
    code = getattr(function, "py_func", function)
    found = set()
    for name in code.__code__.co_names:
        value = code.__globals__.get(name, getattr(builtins, name, None))
        inner = getattr(value, "py_func", value)
        if not inspect.isfunction(inner) or not inner.__module__.startswith("dalembert.kernels") or inner in seen:
            continue
        seen.add(inner)
        found |= {name} if name in KNOWN and KNOWN[name].function is value else called(value, seen)
    return found


def test_calls_are_found():
    assert called(KNOWN["choosing_bodies"].function, set()) == {"forces_and_rows"}
    assert called(KNOWN["variational_bodies"].function, set()) == {"jet"}


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("name", ["slider_crank", "n_four_bar", "rolling_disc", "tethered_chain"])
def test_kernels_that_others_call_are_counted(name, formulation, monkeypatch):
    """Those of force elements were left out where joints are redundant, which slots call that choose rows."""
    mechanism = compile(da.gallery.build(name))
    names = {kernel.name for kernel in needed(mechanism, formulation, da.DOP853())}
    assert {inner for outer in names for inner in called(KNOWN[outer].function, set())} <= names
    run = formulation.prepare(mechanism)
    monkeypatch.setattr("dalembert.formulations.run.compiled_kernel", lambda name: name)
    assert {run.forces, run.laws} <= names


def test_durations_of_the_readme():
    """And of the tutorial, and of what Python says: as announced before a first run with the defaults."""
    root = Path(__file__).parents[2]
    default = f"{duration(kernel for kernel in KERNELS if not kernel.optional)} "
    assert (root / "README.md").read_text(encoding="utf-8").replace("\n", " ").count(default) == 3
    assert default in (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
    assert default in told.SAID  # in Python, which does not know what the run will need


SAID = "compiling kernels, once: a few seconds each\n"


@pytest.mark.parametrize(
    ("command", "question", "stdout", "stderr"),
    [
        (["compare", "slider_crank"], "comparison.compare.compare", SAID, ""),
        (["compare", "slider_crank", "--json"], "comparison.compare.compare", "", SAID),
        (["compare", "slider_crank", "--quiet"], "comparison.compare.compare", "", ""),
        (["modes", "slider_crank"], "questions.linearise.linearise", "", SAID),
        (["kinematics", "slider_crank", "--sweep", "A=0:90:30"], "questions.kinematics.kinematics", "", SAID),
    ],
)
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_commands_say_that_they_compile(command, question, stdout, stderr, monkeypatch):
    """Once, where machine code is not found, whichever command it is."""

    def asking(*_, **__):
        for label in ("callback-0", "odd.kernel-1", "odd.kernel-2"):
            assert DiskCache(label, "").load_overload(int64(int64), cpu_target.target_context) is None
        raise da.ModelError("enough")

    for name in da.__all__:  # so that nothing that is loaded later keeps what is put in place here
        getattr(da, name)
    monkeypatch.setattr(f"dalembert.{question}", asking)
    result = CliRunner().invoke(app, command)
    assert (result.stdout, result.stderr) == (stdout, f"{stderr}dalembert: error: enough\n")
    assert LISTENERS == []


class _Terminal(io.StringIO):
    def isatty(self):
        return True


class _Notebook(io.StringIO):
    pass


_Notebook.__module__ = "ipykernel.iostream"


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (_Terminal, f"{told.SAID}\n"),
        (_Notebook, f"{told.SAID}\n"),
        (io.StringIO, ""),
        (type(None), ""),
    ],
)
def test_python_says_that_it_compiles(stream, said, monkeypatch):
    """Once to a person, not to a file."""
    stderr = stream()
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(told, "_said", [])
    for label in ("callback-0", "odd.kernel-1", "odd.kernel-2"):
        assert DiskCache(label, "").load_overload(int64(int64), cpu_target.target_context) is None
    assert ("" if stderr is None else stderr.getvalue()) == said
