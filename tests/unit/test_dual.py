"""Numbers with derivatives: every operation against differences of the same operation on plain numbers, compiled and not."""

import itertools
import operator
from types import FunctionType

import numpy as np
import pytest

from dalembert.kernels.base.compiler import JIT, compile_for, kernel
from dalembert.kernels.base.dual import SLOPES, Dual, smooth, value_of

pytestmark = pytest.mark.nojit
A, B, H = 0.3, 0.7, 1e-3
OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, np.arctan2, np.hypot)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def slope(f):
    """f'(0) by Richardson's extrapolation: error h^6 f^(7)."""
    rows = [(f(h) - f(-h)) / (2.0 * h) for h in (H, H / 2.0, H / 4.0)]
    one, two = ((4.0 * b - a) / 3.0 for a, b in itertools.pairwise(rows))
    return (16.0 * two - one) / 15.0


def seeded(*values):
    return [Dual(np.float64(v), e) for v, e in zip(values, np.eye(len(values)), strict=True)]


@pytest.mark.parametrize("name", SLOPES)
def test_functions_of_one_argument(name):
    function, at = getattr(np, name), A + (1.0 if name == "arccosh" else 0.0)
    (a,) = seeded(at)
    found = function(a)
    assert found.value == function(at)
    assert found.tangents[0] == pytest.approx(slope(lambda s: function(at + s)), rel=1e-10)


@pytest.mark.parametrize("function", OPERATORS)
def test_functions_of_two_arguments(function):
    a, b = seeded(A, B)
    for first, second in ((a, b), (a, B), (np.float64(A), b), (A, b)):
        found = function(first, second)
        assert found.value == function(A, B)
        for k, (x, by) in enumerate(((first, (1.0, 0.0)), (second, (0.0, 1.0)))):
            expected = slope(lambda s, by=by: function(A + s * by[0], B + s * by[1])) if type(x) is Dual else 0.0
            assert found.tangents[k] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_comparisons_and_whole_parts_are_those_of_the_value():
    (a,) = seeded(-1.7)
    for how in COMPARISONS:
        assert how(a, -1.7) == how(-1.7, -1.7) and how(a, 0.0) == how(-1.7, 0.0) and how(0.0, a) == how(0.0, -1.7)
    assert np.floor(a) == -2.0 and np.sign(a) == -1.0 and int(a) == -1 and np.isfinite(a) and not np.isnan(a)
    assert abs(a).value == 1.7 and abs(a).tangents[0] == -1.0
    assert max(a, 1.0) == np.maximum(a, 1.0) == 1.0 and min(1.0, a) is np.minimum(1.0, a) is a


def test_arrays_of_them():
    a, b = seeded(A, B)
    v = np.array([a, b, 2.0])
    assert value_of((a * v)[2]) == 2.0 * A and (v @ v).tangents == pytest.approx([2.0 * A, 2.0 * B])
    assert (np.sin(v[0] + v) / b)[1].value == np.sin(A + B) / B


def test_nothing_loses_its_derivatives_unnoticed():
    (a,) = seeded(0.0)
    with pytest.raises(TypeError, match=r"use np\.sin instead of math\.sin"):
        float(a)
    with pytest.raises(TypeError):
        np.fabs(a)
    with np.errstate(all="ignore"):
        assert smooth(a) and not smooth(np.sqrt(a * a)) and not smooth(np.sqrt(a))


COUNT = None  # of derivatives, where it is compiled


def as_duals(a, count):
    """That of dual_types.py where it is compiled."""
    return a


def formulas(x, y):
    """On an array of numbers with derivatives."""
    a, b = as_duals(x, COUNT), as_duals(y, COUNT)
    s = 0.0
    for i in range(3):
        s += a[i] * a[i]
    if not np.isfinite(s):
        s = np.nan
    elif s < 0.0:
        s = 0.0
    b[0] = s - 1 + int(a[2]) * a[0] + np.floor(a[2]) + np.sign(a[0]) + max(a[0], a[1]) + min(a[0], 0.1) + abs(-a[2])
    b[1] = a[0] * a[1] / a[2] - 3.0 * a[0] + a[1] / 2.0 - 2.0 / a[0] - (1.0 - a[1])
    b[2] = np.sin(a[0]) * np.cos(a[1]) + np.sqrt(a[2]) + np.arctan2(a[0], a[1]) + np.arctan2(a[0], 2.0) + np.arctan2(2.0, a[0])
    b[3] = a[0] ** 2 + a[2] ** a[0] + 2.0 ** a[0] + a[2] ** 1.5 + np.power(a[1], 3)
    b[4] = np.tanh(a[0]) + np.exp(a[1]) + np.log(a[2]) + np.arcsin(a[0]) + np.arccos(a[0]) + np.arctan(a[0]) + np.sinh(a[0])
    b[5] = np.cosh(a[0]) + np.arcsinh(a[0]) + np.arccosh(a[2]) + np.arctanh(a[0]) + np.expm1(a[0]) + np.log1p(a[0])
    b[6] = np.tan(a[0]) * (1.0 if a[0] < a[1] and a[2] >= a[0] and a[0] != 0.0 else 2.0)
    b[7] = -a[0] if smooth(a[0]) and not smooth(np.sqrt(a[0] - a[0])) else a[1] * value_of(a[2])


@pytest.mark.skipif(not JIT, reason="this process compiles nothing")
@pytest.mark.parametrize("most", [8, 7, 4, 3, 1])
def test_compiled_ones_equal_plain_ones(most):
    from numba import types

    from dalembert.kernels.base import dual_types

    size = 1 + most
    count, given = min(3, size - 1), np.array([A, B, 2.2])
    made = FunctionType(formulas.__code__, globals() | {"as_duals": dual_types.as_duals, "COUNT": most})
    made.__qualname__ = f"formulas_{most}"  # its name on disk
    compiled = compile_for(kernel(made), types.void(types.float64[::1], types.float64[::1]))
    x, y = np.zeros((3, size)), np.zeros((8, size))
    x[:, 0], x[:, 1 : 1 + count] = given, np.eye(3)[:, :count]
    compiled(x.ravel(), y.ravel())
    out = [None] * 8
    with np.errstate(all="ignore"):
        formulas(seeded(*given), out)
    for k, (row, number) in enumerate(zip(y, out, strict=True)):
        last_digit = (
            np.spacing(number.value) if k == 6 else 0.0
        )  # NumPy's own tan on some processors, that of C in compiled code
        assert abs(row[0] - number.value) <= last_digit
        np.testing.assert_allclose(row[1 : 1 + count], number.tangents[:count], rtol=1e-14, atol=1e-15)
        assert not row[1 + count :].any()
