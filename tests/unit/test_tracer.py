"""The tracer: derivatives to rounding against SymPy in 40 digits, folding, sharing, generated code, refusals."""

import math
import re

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from dalembert.errors import ModelError
from dalembert.kernels.base.compiler import generated
from dalembert.kernels.base.slots import CALLBACK_SIGNATURE
from dalembert.lagrangian.derivatives import along, jacobian
from dalembert.lagrangian.graph import Graph, evaluate, reachable
from dalembert.lagrangian.source import write_source
from dalembert.lagrangian.tracer import Named, trace

NAMES = ("a", "b", "c")
SMOOTH = ("sin", "cos", "tanh", "exp", "arctan", "sinh", "arcsinh", "cosh")
IN_SYMPY = {"arctan": sympy.atan, "arcsinh": sympy.asinh}


def leaves():
    return st.sampled_from(NAMES) | st.floats(-2, 2).map(lambda x: round(x, 3))


def grown(inner):
    unary = st.tuples(st.sampled_from((*SMOOTH, "root", "ratio", "log", "cube")), inner)
    return unary | st.tuples(st.sampled_from(("+", "-", "*", "atan2", "power")), inner, inner)


EXPRESSIONS = st.recursive(leaves(), grown, max_leaves=6)


def build(tree, values, function, log, sqrt, atan2):
    """The same expression over nodes, SymPy symbols or numbers; arguments of log, root, ratio and power are kept positive."""
    if isinstance(tree, str):
        return values[tree]
    if isinstance(tree, float):
        return tree
    op, *parts = tree
    parts = [build(part, values, function, log, sqrt, atan2) for part in parts]
    x, y = parts[0], parts[-1]
    match op:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "atan2":
            return atan2(x, 1 + y * y)
        case "power":
            return (1.5 + x * x) ** (function("tanh")(y))
        case "root":
            return sqrt(1 + x * x)
        case "ratio":
            return 1 / (1 + x * x)
        case "log":
            return log(2 + x * x)
        case "cube":
            return x**3
    return function(op)(x)


def traced(tree):
    graph = Graph()
    q = Named("q", {name: graph.input(name) for name in NAMES})

    def f(q):
        return build(tree, {name: q[name] for name in NAMES}, lambda op: getattr(np, op), np.log, np.sqrt, np.arctan2)

    return graph, list(q), trace("f", f, {"q": q}, graph)[0]


def in_sympy(tree):
    symbols = dict(zip(NAMES, sympy.symbols(NAMES), strict=True))
    function = lambda op: IN_SYMPY.get(op) or getattr(sympy, op)  # noqa: E731
    return symbols, sympy.sympify(build(tree, symbols, function, sympy.log, sympy.sqrt, sympy.atan2))


@settings(max_examples=50, deadline=None)
@given(EXPRESSIONS, st.tuples(*[st.floats(-1.2, 1.2)] * 3))
def test_first_and_second_derivatives_are_exact_to_rounding(tree, point):
    """Against 40 digits. The bound: 1e-12 of the largest value in the computation, for some hundred operations."""
    _, inputs, f = traced(tree)
    first = jacobian([f], inputs)[0]
    second = {k: jacobian([node], inputs)[0] for k, node in first.items()}
    nodes = [f, *first.values(), *(node for row in second.values() for node in row.values())]
    values = dict(zip(NAMES, point, strict=True))
    found = evaluate(nodes, values)
    symbols, expression = in_sympy(tree)
    variables = list(symbols.values())
    wanted = [expression]
    wanted += [sympy.diff(expression, variables[k]) for k in first]
    wanted += [sympy.diff(expression, variables[k], variables[j]) for k, row in second.items() for j in row]
    with mpmath.workdps(40):
        exact = [float(mpmath.mpf(w.subs({s: mpmath.mpf(values[str(s)]) for s in variables}).evalf(40))) for w in wanted]
    scale = np.abs(evaluate(reachable(nodes), values)).max()
    if np.isfinite(scale) and scale < 1e8:
        np.testing.assert_allclose(found, exact, atol=1e-12 * max(1.0, scale), rtol=1e-12)
    absent = [sympy.diff(expression, variables[k]) for k in range(3) if k not in first]
    at = {s: sympy.Rational(1, 3) + k for k, s in enumerate(variables)}
    assert all(abs(w.subs(at).evalf()) < 1e-12 for w in absent)


@settings(max_examples=40, deadline=None)
@given(EXPRESSIONS, st.tuples(*[st.floats(-1.2, 1.2)] * 3), st.tuples(*[st.floats(-1, 1)] * 3))
def test_rate_along_a_direction_is_the_jacobian_times_it(tree, point, direction):
    graph, inputs, f = traced(tree)
    rates = [graph.constant(value) for value in direction]
    values = dict(zip(NAMES, point, strict=True))
    slopes = jacobian([f], inputs)[0]
    found = evaluate(along([f], list(zip(inputs, rates, strict=True))), values)[0]
    parts = evaluate(list(slopes.values()), values) * [direction[k] for k in slopes]
    assert found == pytest.approx(parts.sum(), rel=1e-11, abs=1e-12 * (1 + np.abs(parts).sum()))


def test_equal_expressions_are_one_node_and_constants_fold():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert np.sin(x) * y is y * np.sin(x)
    assert (x + y) - (y + x) is graph.constant(0.0)
    assert 0.0 * np.exp(x) is graph.constant(0.0)
    minus = -x
    assert x * 1.0 is x and x + 0.0 is x and -minus is x and x / 1 is x
    assert x**2 is x * x and x**0.5 is np.sqrt(x) and x**1 is x
    assert (graph.constant(2.0) * 3.0 + np.cos(graph.constant(0.0))).value == 7.0


def test_arrays_work_as_in_numpy():
    graph = Graph()
    q = Named("q", {name: graph.input(name) for name in NAMES})
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    def f(q):
        v = R @ np.array([q.a, q.b, q[2]])
        return (
            np.cross(v, q) @ np.ones(3) + np.linalg.norm(v) + np.sum(q * q) + np.dot(q, q) + (2 * q - 1)[0] / np.hypot(3, q.b)
        )

    values = {"a": 0.3, "b": -0.7, "c": 1.1}
    x = np.array(list(values.values()))
    v = R @ x
    exact = np.cross(v, x).sum() + np.linalg.norm(v) + 2 * x @ x + (2 * x[0] - 1) / np.hypot(3, x[1])
    assert evaluate(trace("f", f, {"q": q}, graph), values)[0] == pytest.approx(exact, rel=1e-14)


def test_generated_code_computes_the_graph():
    tree = ("*", ("sin", "a"), ("power", "b", ("+", "c", ("root", "a"))))
    _, inputs, f = traced(tree)
    slopes = jacobian([f], inputs)[0]
    part = {3 + k: node for k, node in enumerate([f, *slopes.values()])}
    source = write_source({7: part}, {name: k for k, name in enumerate(NAMES)})
    callback = generated(source, "callback", CALLBACK_SIGNATURE)
    W = np.array([0.4, -0.3, 0.8, 0, 0, 0, 0, 5.0])
    assert callback(7, 0.0, W, 0) == 0
    expected = evaluate(list(part.values()), dict(zip(NAMES, W[:3], strict=True)))
    np.testing.assert_allclose(W[3:7], expected, rtol=1e-15)
    assert W[7] == 5.0
    assert generated(source, "callback", CALLBACK_SIGNATURE) is callback


def test_unused_values_are_dropped():
    graph = Graph()
    x = graph.input("x")
    np.exp(x) * 3.0
    source = write_source({0: {1: np.sin(x)}}, {"x": 0})
    assert "exp" not in source and "np.sin" in source


def test_parts_share_no_names():
    """Numba would go through the whole code for each name that is given twice."""
    x = Graph().input("x")
    y = np.sin(x)
    source = write_source({4: {1: y * y + x}, 7: {1: y + y * x}}, {"x": 0})
    names = re.findall(r"^ +(\w+) = ", source, re.MULTILINE)
    assert len(names) == 4 == len(set(names))


def fill(q):
    out = np.zeros(2)
    out[0] = q.a
    return out


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda q: math.sin(q.a), "use np.sin instead of math.sin"),
        (lambda q: float(q.a), "into a plain number"),
        (fill, r"build arrays with np.array\(\[...\]\) instead of filling np.zeros"),
        (lambda q: q.a if q.a > 0 else -q.a, "compares or branches on a value that changes during the run"),
        (lambda q: np.where(q.a == 0, 1.0, 2.0), "compares or branches"),
        (lambda q: max(q.a, 0.0), "compares or branches"),
        (lambda q: q.d, r"uses q\.d, but among the coordinates"),
        (lambda q: undefined_name, "raised NameError: name 'undefined_name' is not defined"),  # noqa: F821
        (lambda q: np.linalg.inv(np.array([[q.a, 1], [0, q.b]])), "use names that exist, and NumPy functions"),
        (lambda w: w, "its argument 'w' is not known; arguments are chosen from q"),
        (lambda q: "text", "returned 'text'; return a number or an array of numbers"),
        (lambda q: math.nan, "returned nan"),
    ],
)
def test_what_cannot_be_traced_is_refused_with_the_reason(function, words):
    graph = Graph()
    q = Named("q", {name: graph.input(name) for name in NAMES})
    with pytest.raises(ModelError, match=f"my force.*{words}"):
        trace("my force", function, {"q": q}, graph)
