"""Derivatives of graphs by forward mode: each node carries its non-zero derivatives as nodes of the same graph.

    d f(a, b) = f_a da + f_b db                                     [GriewankWalther2008, 3.1]

Applied twice for second derivatives. Exact to rounding: nothing is differenced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dalembert.kernels.base.dual import SLOPES
from dalembert.lagrangian.graph import INPUT, Graph, Node, reachable

Sparse = dict[int, Node]


def partials(node: Node) -> tuple[Node, ...]:
    """Derivatives of an operation with respect to its arguments."""
    graph, a, b = node.graph, node.args[0], node.args[-1]
    one = graph.constant(1.0)
    match node.op:
        case "+":
            return one, one
        case "-":
            return one, graph.constant(-1.0)
        case "*":
            return b, a
        case "/":
            return one / b, -node / b
        case "power":
            slope = b * graph.make("power", a, b - 1.0) if b.args or b.op == INPUT else b * graph.power(a, b.value - 1.0)
            return slope, node * a.log()
        case "arctan2":
            r2 = a * a + b * b
            return b / r2, -a / r2
        case "sign":
            return (graph.constant(0.0),)
        case "abs":
            return (graph.make("sign", a),)
        case _:
            return (SLOPES[node.op](a, node),)


def _sweep(outputs: Sequence[Node], seeds: Mapping[int, Sparse]) -> list[Sparse]:
    """Derivatives of the outputs in the directions that the seeds of the inputs name."""
    found: dict[int, Sparse] = {}
    for node in reachable(outputs):
        if not node.args:
            found[node.index] = dict(seeds.get(node.index, {}))
            continue
        total: Sparse = {}
        parts = [found[a.index] for a in node.args]
        if any(parts):
            for partial, inner in zip(partials(node), parts, strict=True):
                for direction, value in inner.items():
                    term = partial * value
                    total[direction] = total[direction] + term if direction in total else term
        found[node.index] = {k: v for k, v in total.items() if not v.is_constant(0.0)}
    return [found[node.index] for node in outputs]


def jacobian(outputs: Sequence[Node], inputs: Sequence[Node]) -> list[Sparse]:
    """Per output its non-zero derivatives, by position of the input."""
    graph = inputs[0].graph if inputs else Graph()
    one = graph.constant(1.0)
    return _sweep(outputs, {node.index: {k: one} for k, node in enumerate(inputs)})


def gradient(output: Node, inputs: Sequence[Node]) -> list[Node]:
    """Derivatives of one output by all inputs, zeros among them."""
    zero = output.graph.constant(0.0)
    slopes = jacobian([output], inputs)[0]
    return [slopes.get(k, zero) for k in range(len(inputs))]


def along(outputs: Sequence[Node], directions: Sequence[tuple[Node, Node]]) -> list[Node]:
    """Derivative of every output when each input changes at the given rate."""
    if not outputs:
        return []
    zero = outputs[0].graph.constant(0.0)
    rates = _sweep(outputs, {node.index: {0: rate} for node, rate in directions})
    return [rate.get(0, zero) for rate in rates]
