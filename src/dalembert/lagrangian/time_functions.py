"""Functions of time as motions: traced once, with exact first and second derivatives, as parts of the callback's code.

f, f', f''     at the places of `Call.out` (kernels/base/layout.py), where kernels/mechanics/motion.py looks for them
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dalembert.errors import ModelError
from dalembert.kernels.base.layout import CALL
from dalembert.lagrangian.derivatives import along
from dalembert.lagrangian.graph import Graph, Node
from dalembert.lagrangian.source import Part
from dalembert.lagrangian.tracer import trace
from dalembert.model.serialise import MissingFunction
from dalembert.model.validation import plain_function

_SMOOTH = (
    "a smooth formula), or as a sum or product of motions: a bump is SmoothStep(0, h, t_1, t_2) - SmoothStep(0, h, t_2, t_3),"
    " a move that then holds is the first of them alone, anything else a Table(times, values, clamp=True"
)


def traced_rates(owner: str, function: Callable[..., Any]) -> tuple[Node, Node, Node]:
    """f, f' and f'' of a user's function of t; refuses what does not return one finite number at t = 0."""
    if isinstance(function, MissingFunction):
        function()  # raises and names what the file could not hold
    graph = Graph(_SMOOTH)
    t = graph.input("t")
    values = trace(owner, plain_function(function), {"t": t}, graph)
    if len(values) != 1:
        raise ModelError(f"{owner} returned {len(values)} numbers; return one")
    moving = [(t, graph.constant(1.0))]
    (rate,) = along(values, moving)
    (second,) = along([rate], moving)
    return values[0], rate, second


def motion_parts(functions: Mapping[Callable[..., Any], int]) -> dict[int, Part]:
    """The code of each function, by its number in the callback."""
    out = CALL.fields["out"][1]
    return {
        number: {out + k: node for k, node in enumerate(traced_rates("a function of t", function))}
        for function, number in functions.items()
    }
