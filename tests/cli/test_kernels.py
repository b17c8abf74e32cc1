"""How long compiling takes is said beforehand: kernels that others call are counted, and the README says the same."""

import builtins
import inspect
from pathlib import Path

import pytest

import dalembert as da
from dalembert.cli.kernels import KERNELS, duration, needed
from dalembert.compilation.compile import compile

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
    """And of the tutorial: as announced before a first run with the defaults."""
    root = Path(__file__).parents[2]
    default = f"{duration(kernel for kernel in KERNELS if not kernel.optional)} "
    assert (root / "README.md").read_text(encoding="utf-8").replace("\n", " ").count(default) == 3
    assert default in (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
