"""Functions of the user: checked before they are compiled, compiled once per content, and told apart by content."""

import json
import os
import subprocess
import sys
from collections import namedtuple
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest

import dalembert as da
from dalembert.compilation import callbacks
from dalembert.compilation.compile import compile
from dalembert.compilation.user_functions import content
from dalembert.kernels.base import compiler

compiled_only = pytest.mark.skipif(not compiler.JIT, reason="user functions are plain Python in this process")
SOURCE = Path(da.__file__).parents[1]
GAIN = 2.0


def body(force=None, torque=None):
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("body", mass=1.0, inertia=(1, 1, 1), velocity=(0, 7, 0))
    if force is not None:
        model.add_force("push", "body", force)
    if torque is not None:
        model.add_torque("twist", "body", torque, frame="body")
    return model


def two(t, r, v, R, w):
    return np.array([1.0, 2.0, 99.0])[:2]


def four(t, r, v, R, w):
    return np.array([1.0, 2.0, 3.0, 4.0])


def pair(t):
    return 1.0, 2.0


def scalar(t):
    return 1.0


def column(t):
    return np.ones((3, 1))


def nothing(t):
    pass


def imaginary(t):
    return np.ones(3) * 1j


def not_finite(t, r, v, R, w):
    return np.array([0.0, 1.0, 0.0]) / np.abs(r[0])


@pytest.mark.parametrize("function", [two, four, pair, scalar, column, nothing, imaginary], ids=lambda f: f.__name__)
@pytest.mark.parametrize("element", ["force", "torque"])
def test_shapes_are_checked_before_anything_is_compiled(element, function):
    name = {"force": "push", "torque": "twist"}[element]
    text = rf"{element} '{name}': its function '{function.__name__}' returned .* of shape .*; return three numbers"
    with pytest.raises(da.ModelError, match=text):
        da.simulate(body(**{element: function}), 1.0)


def test_values_that_are_not_finite_at_the_start_are_named():
    with pytest.raises(da.ModelError, match=r"force 'push': its function 'not_finite' returned \[.*inf.*\] at the start"):
        da.simulate(body(not_finite), 1.0)


def beyond(t, r, v, R, w):
    return np.array([r[3], 0.0, 0.0])


def beyond_later(t, r, v, R, w):
    return np.array([r[3 if t > 0.5 else 2], 0.0, 0.0])


def shorter_later(t, r, v, R, w):
    return np.ones(2 if t > 0.5 else 3)


def shorter_later_in_python(t, r, v, R, w):
    json.dumps({})  # cannot be compiled
    return np.ones(2 if t > 0.5 else 3)


@pytest.mark.filterwarnings("ignore::dalembert.compilation.callbacks.SlowFunctionWarning")
@pytest.mark.parametrize("function", [beyond, beyond_later, shorter_later, shorter_later_in_python], ids=lambda f: f.__name__)
def test_no_memory_is_read_beyond_an_array_at_any_time(function):
    with pytest.raises(da.SimulationError, match=r"user function 'push' raised .*(out of bounds|three numbers).* at t = 0"):
        da.simulate(body(function), 1.0)


@pytest.mark.parametrize("returned", [(1.0, 2.0), [1.0], 1j, np.ones(1)], ids=repr)
def test_invariants_return_one_number(returned):
    def kept(t, q, u):
        return returned

    with pytest.raises(da.ModelError, match=r"invariant 'kept': its function 'kept' returned .*; return one number"):
        da.simulate(body(), 1.0, formulation=da.Jet(invariants=[kept]))


@pytest.mark.parametrize(
    ("returned", "text"), [(np.ones(3), r"shape \(3,\)"), (True, "True"), (np.True_, "True"), ("1", "'1'")]
)
def test_events_return_one_number(returned, text):
    with pytest.raises(da.DalembertError, match=rf"event 'hit': its function returned .*{text}.*; return a number"):
        da.simulate(body(), 1.0, events=da.Event(lambda state: returned, name="hit"))


def scaled(t, r, v, R, w):
    return -GAIN * v


@numba.njit
def helper(v):
    return -GAIN * v


def by_helper(t, r, v, R, w):
    return helper(v)


def by_closure(gain):
    return lambda t, r, v, R, w: -gain * v


def by_inner_function(t, r, v, R, w):
    return np.array([-GAIN * component for component in v])


def end(function):
    """Velocity after 1 s of v' = -gain v."""
    return da.simulate(body(function), 1.0, save_at=[1.0]).velocity("body")[0, 1]


@pytest.mark.parametrize(
    "function", [scaled, by_helper, by_inner_function, numba.njit(scaled)], ids=["plain", "helper", "inner", "njit"]
)
def test_a_global_that_changes_is_noticed(function, monkeypatch):
    """v = 7 exp(-gain t); the default tolerance of 1e-8 leaves some 1e-7."""
    assert end(function) == pytest.approx(7 * np.exp(-2.0), abs=1e-6)
    monkeypatch.setitem(globals(), "GAIN", 3.0)
    assert end(function) == pytest.approx(7 * np.exp(-3.0), abs=1e-6)


def test_a_closure_value_that_changes_is_noticed():
    assert end(by_closure(1.0)) == pytest.approx(7 * np.exp(-1.0), abs=1e-6)
    assert end(by_closure(4.0)) == pytest.approx(7 * np.exp(-4.0), abs=1e-6)


def compiled(function):
    return da.Jet().prepare(compile(body(function))).callbacks.compiled


@compiled_only
def test_compiled_once_per_content(monkeypatch):
    first = compiled(by_closure(5.0))
    known = len(compiler._generated)
    for _ in range(3):
        assert compiled(by_closure(5.0)) is first
    assert len(compiler._generated) == known
    assert compiled(by_closure(6.0)) is not first
    for module, known in ((compiler, "_generated"), (callbacks, "_made")):  # as in the next process
        monkeypatch.setattr(module, known, type(getattr(module, known))())
    assert sum(compiled(by_closure(5.0)).stats.cache_hits.values()) == 1


@compiled_only
@pytest.mark.filterwarnings("ignore::dalembert.compilation.callbacks.SlowFunctionWarning")
def test_plain_functions_are_known_by_identity():
    """What they refer to may change while they run, so each is called as it is; nothing is compiled anew for it."""
    calls = []

    def recording(t):
        calls.append(t)
        return 0.0, 0.0, 0.0

    assert compiled(recording) is compiled(recording)
    da.simulate(body(recording), 0.1)
    assert len(calls) > 10


PROGRAM = """
import runpy, sys
import dalembert as da
from dalembert.compilation.compile import compile
mechanism = compile(runpy.run_path(sys.argv[1], run_name="robot")["model"])
callback = da.Jet().prepare(mechanism).callbacks.compiled
print(sum(callback.stats.cache_hits.values()), da.simulate(mechanism, 0.01).position("body")[-1])
"""


@compiled_only
def test_the_next_process_finds_it_on_disk(tmp_path):
    """Of a model file whose module nobody can import, whose helper is compiled too, and whose code needs much of Numba."""
    file = tmp_path / "robot.py"
    file.write_text(
        "import numba, numpy as np, dalembert as da\n"
        "@numba.njit\n"
        f"def helper(v): return v * {os.getpid()}.25\n"
        "def push(t, r, v, R, w):\n"
        "    if t < 0: raise ValueError('never')\n"
        "    gains = {'k': 2.0, 'c': 3.0}\n"
        "    push = [gains['k'] * t, gains['c']]\n"
        "    push.append(np.random.uniform(1.0, 1.0))\n"
        "    return helper(np.linalg.solve(np.eye(3), np.sort(np.array(push)))) + R @ v\n"
        "model = da.Model()\n"
        "model.add_body('body', mass=1.0, inertia=(1, 1, 1))\n"
        "model.add_force('push', 'body', push)\n"
    )
    command = [sys.executable, "-c", PROGRAM, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    hits = [
        subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=True).stdout for _ in "12"
    ]
    first, second = (told.split(maxsplit=1) for told in hits)
    assert (first[0], second[0]) == ("0", "1")
    assert first[1] == second[1]


TABLE = (1.0, 2.0)
SETTINGS = {"gain": 1.0}


def by_table(t):
    return TABLE[0], SETTINGS["gain"], 0.0


def calls_by_table(t):
    return [by_table(s) for s in (t, t)][-1]


def test_content_follows_what_functions_refer_to(monkeypatch):
    before = content(calls_by_table)
    assert before is not None
    assert content(calls_by_table) == before
    monkeypatch.setitem(SETTINGS, "gain", 2.0)
    changed = content(calls_by_table)
    assert changed != before
    monkeypatch.setitem(globals(), "TABLE", (1.0, 3.0))
    assert content(calls_by_table) not in (before, changed)
    assert content(by_closure(np.arange(3.0))) == content(by_closure(np.arange(3.0)))
    assert content(by_closure(np.arange(3.0))) != content(by_closure(np.arange(3)))
    assert content(by_closure(object())) is None


@pytest.mark.parametrize("first", [{"k": 1.0}, {"k": 1.0, "l": (2.0, 3.0)}, {"a": {"b": 1.0}}])
def test_content_of_dictionaries_one_behind_the_other(first):
    """Pairs of the first are gone when those of the second are made, at the same place in memory."""
    told = {content((dict(first), {"k": last})) for last in (2.0, 3.0, 4.0, 5.0)}
    assert len(told) == 4


def test_content_follows_names_of_fields_and_modules_at_any_depth():
    """Numba compiles p.k of a named tuple and of a record to a place in it."""
    for made in (
        lambda *fields: namedtuple("Gains", fields)(2.0, 3.0),
        lambda *fields: np.array([(2.0, 3.0)], dtype=[(name, float) for name in fields]),
    ):
        assert content(by_closure(made("k", "c"))) == content(by_closure(made("k", "c")))
        assert content(by_closure(made("k", "c"))) != content(by_closure(made("c", "k")))
    modules = [ModuleType(name) for name in "abcde"]
    for outer, inner in pairwise(modules):
        outer.inner = inner
    a, told = modules[0], set()
    for gain in (1.0, 2.0):
        modules[-1].gain = gain
        told.add(content(lambda t: (a.inner.inner.inner.inner.gain, 0.0, 0.0)))
    assert len(told) == 2


@compiled_only
def test_helpers_that_only_identity_tells_are_noticed():
    """A helper of numba.vectorize that is made anew, as when its cell of a notebook runs again."""
    space = {}
    exec("def push(t):\n    return half(2.0), 0.0, 0.0\n", space)
    for gain, half in ((1.0, lambda v: 0.5 * v), (4.0, lambda v: 2.0 * v)):
        space["half"] = numba.vectorize(["float64(float64)"])(half)
        assert content(space["push"]) is None
        assert da.simulate(body(space["push"]), 0.1).velocity("body")[-1, 0] == pytest.approx(0.1 * gain, abs=1e-9)
