"""Views of the packed arrays: the layout, both ways of reading, and what they refuse."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import config, types

import dalembert as da
from dalembert import gallery
from dalembert.kernels.base import layout as L
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import bind, kernel
from dalembert.kernels.base.view_types import SYSTEM
from dalembert.kernels.base.views import System

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="compiled code only")


@pytest.fixture(scope="module")
def system():
    mechanism = da.compile(gallery.slider_crank())
    run = da.Jet().prepare(mechanism)
    return run.view


@compiled_only
def test_compiled_and_plain_views_read_the_same(system):
    def sum_up(system):
        s = 0.0
        for body in system.bodies:
            s += body.m + body.J[5] + (body.R_0 @ body.r).x + system.metrics[body.number].m_inv
        for p in system.primitives:
            s += p.p_i @ p.i.r + p.row[0] + system.rhs[p.A_i[0]] + (system.rhs + 1)[0] + system.count.rhs
        return s + system.gravity.z

    assert bind(kernel(sum_up), types.float64(SYSTEM))(system) == sum_up(system) != 0.0


def test_sections_do_not_overlap():
    """Fields of a section follow one another without gaps, so that packing and kernels agree on its width."""
    for table in L.TABLES.values():
        for section in table.sections:
            at = 0
            for kind, offset in section.fields.values():
                assert offset == at
                at += L.size(kind)
            assert section.width == at


@compiled_only
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("system.bodies[1].positoin", "positoin"),
        ("system.boddies", "boddies"),
    ],
)
def test_a_misspelt_field_fails_with_its_name(source, words):
    made = {"__name__": "typed_in"}
    exec(f"def wrong(system):\n    return {source}.x", made)
    with pytest.raises(Exception, match=words):
        bind(kernel(made["wrong"]), types.float64(SYSTEM))


@compiled_only
@pytest.mark.parametrize(
    "line",
    ["system.bodies[1].m = 2.0", "system.soft[0] = 1.0", "system.plane.n = system.plane.n", "system.masses[1].m = 1.0"],
)
def test_a_kernel_that_writes_to_the_fixed_tables_fails(line):
    made = {"__name__": "typed_in"}
    exec(f"def wrong(system):\n    {line}\n    return 0", made)
    with pytest.raises(Exception, match=r"do not change while a kernel runs|setitem"):
        bind(kernel(made["wrong"]), types.int64(SYSTEM))


def test_no_kernel_writes_to_the_arrays_of_the_fixed_tables():
    """Views refuse it (above); what still takes the arrays themselves is looked at here."""
    import ast
    from pathlib import Path

    import dalembert.kernels as package

    for file in Path(package.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                assert ast.unparse(node.value) not in ("I", "F", "system.I", "system.F"), f"{file.name}:{node.lineno}"


@compiled_only
def test_a_kernel_does_not_begin_with_what_is_no_array():
    """It would write wherever the stack points to."""
    made = {"__name__": "typed_in"}
    exec("def first(system):\n    return system.nb", made)
    function = bind(kernel(made["first"]), types.int64(SYSTEM))
    I, F = np.zeros(T.HEADER_I, dtype=np.int64), np.zeros(T.HEADER_F)
    for W in ([0.0], np.zeros(4, dtype=np.float32)):
        with pytest.raises(TypeError, match="unbox array"):
            function(System(I, F, W))


OUT_OF_BOUNDS = """
import numpy as np
from numba import types
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import bind, kernel
from dalembert.kernels.base.view_types import SYSTEM
from dalembert.kernels.base.views import System

def read_number(system):
    return system.rhs[10_000]

def read_before(system):
    return (system.rhs + 1)[-2]

def read_field(system):
    return system.bodies[500].r.x

def write_field(system):
    system.A[9_000].force = system.bodies[0].r
    return 0.0

I, F, W = np.zeros(T.HEADER_I, dtype=np.int64), np.zeros(50), np.zeros(100)
for function in (read_number, read_before, read_field, write_field):
    try:
        bind(kernel(function), types.float64(SYSTEM))(System(I, F, W))
    except IndexError as problem:
        print(function.__name__, "caught:", problem)
"""


@compiled_only
def test_bounds_are_checked_in_views(tmp_path):
    file = tmp_path / "out_of_bounds.py"
    file.write_text(OUT_OF_BOUNDS)
    settings = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(file)], env=settings, capture_output=True, text=True, timeout=300)
    caught = [line.partition(" ")[0] for line in done.stdout.splitlines() if "caught" in line]
    assert caught == ["read_number", "read_before", "read_field", "write_field"], done.stdout + done.stderr


def test_a_system_in_plain_python_names_what_it_does_not_have(system):
    with pytest.raises(AttributeError, match="nonsense"):
        _ = System(np.zeros(T.HEADER_I, dtype=np.int64), np.zeros(20), np.zeros(20)).nonsense
