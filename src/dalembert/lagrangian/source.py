"""A graph as straight-line source for the callback slot, compiled and cached on disk by its content.

    callback(k, t, W, s)     part k: inputs from W[s], outputs to their places after them (kernels/base/slots.py)

Values used once are written where they are used. No name is given in two parts: Numba goes through all of the code for each
that is, up to two thirds of compiling. An output that is zero for every input is not written: the workspace holds zeros.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dalembert.lagrangian.graph import CONSTANT, Node, reachable

Part = Mapping[int, Node]  # offset from W[s] -> value
_LONGEST = 90


def write_source(parts: Mapping[int, Part], inputs: Mapping[str, int]) -> str:
    """Source of the callback that computes the part of each number; inputs : their offsets from W[s]."""
    places = {name: f"W[s + {k}]" for name, k in inputs.items()} | {"t": "t"}
    lines = ["def callback(k, t, W, s):"]
    for n, (k, part) in enumerate(parts.items()):
        lines.append(f"    if k == {k}:")
        lines += [f"        {line}" for line in (*_statements(part, places, f"v{n}_"), "return 0")]
    return "\n".join([*lines, "    return 0", ""])


def uses_time(source: str) -> bool:
    """Whether the code of a callback reads t."""
    return re.search(r"\bt\b", source.partition("\n")[2]) is not None


def _statements(part: Part, places: Mapping[str, str], v: str) -> list[str]:
    """v : begins the names of its values"""
    outputs = {at: node for at, node in part.items() if not node.is_constant(0.0)}
    nodes = reachable(outputs.values())
    uses = dict.fromkeys((node.index for node in nodes), 0)
    for node in nodes:
        for used in node.args:
            uses[used.index] += 1
    for node in outputs.values():
        uses[node.index] += 1
    text: dict[int, str] = {}
    lines = []
    for node in nodes:
        if node.op == CONSTANT:
            text[node.index] = repr(float(node.value)) if node.value >= 0 else f"({float(node.value)!r})"
            continue
        if not node.args:
            place = places[node.value]
            text[node.index] = place if uses[node.index] == 1 or place == "t" else f"{v}{node.index}"
            if text[node.index] != place:
                lines.append(f"{v}{node.index} = {place}")
            continue
        written = _operation(node, [text[a.index] for a in node.args])
        if uses[node.index] == 1 and len(written) <= _LONGEST:
            text[node.index] = written
        else:
            text[node.index] = f"{v}{node.index}"
            lines.append(f"{v}{node.index} = {written}")
    return lines + [f"W[s + {at}] = {text[node.index]}" for at, node in sorted(outputs.items())]


def _operation(node: Node, args: list[str]) -> str:
    if node.op == "power":
        return f"({args[0]} ** {args[1]})"
    if node.op == "*" and node.args[0].is_constant(-1.0):
        return f"(-{args[1]})"
    if len(node.op) == 1:
        return f"({args[0]} {node.op} {args[1]})"
    return f"np.{node.op}({', '.join(args)})"
