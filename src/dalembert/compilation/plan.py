"""The elimination plan of the block-sparse solve, made once per mechanism [GolubVanLoan2013, 11.1].

Nodes are constraint nodes (all rows of one set of bodies, mostly a pair) and hubs (bodies with many constraint nodes, kept as
unknowns because eliminating them first would couple all their joints). The order is minimum degree under one rule that keeps
every pivot definite: a tree joint waits for its outer body if that is a hub, a loop-closing joint for the hubs on its loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dalembert.compilation.topology import Edge, Forest

HUB_DEGREE = 4


@dataclass(frozen=True)
class Plan:
    """order : nodes (constraint nodes first, then hubs, by number) in elimination order
    unknown : first unknown of every node;  block : (later, earlier) -> offset of that block, (k, k) for diagonals
    tape, starts : the numeric program of kernels/coordinates/solve.py and where each node's part begins
    """

    hubs: tuple[int, ...]
    order: tuple[int, ...]
    unknown: tuple[int, ...]
    block: dict[tuple[int, int], int]
    block_size: int
    tape: tuple[int, ...]
    starts: tuple[int, ...]


def find_hubs(bodies: int, edges: Sequence[Edge]) -> tuple[int, ...]:
    """Bodies with at least HUB_DEGREE constraint nodes."""
    degree = [0] * (bodies + 1)
    for edge in edges:
        for body in edge:
            degree[body] += 1
    return tuple(b for b in range(1, bodies + 1) if degree[b] >= HUB_DEGREE)


def make_plan(bodies: int, edges: Sequence[Edge], sizes: Sequence[int], forest: Forest) -> Plan:
    """Plan for constraint nodes `edges` (sets of bodies, 0 = ground) with `sizes` rows each."""
    hubs = find_hubs(bodies, edges)
    node_of_hub = {b: len(edges) + k for k, b in enumerate(hubs)}
    size = [*sizes, *([6] * len(hubs))]
    neighbours = _neighbours(bodies, edges, node_of_hub)
    order, below = _eliminate(neighbours, size, _prerequisites(edges, forest, node_of_hub))
    position = {node: k for k, node in enumerate(order)}

    unknown = [0] * len(size)
    rows = sum(sizes)
    cursor = 0
    for node in order:
        if node < len(edges):
            unknown[node], cursor = cursor, cursor + size[node]
    for k in range(len(hubs)):
        unknown[len(edges) + k] = rows + 6 * k

    block: dict[tuple[int, int], int] = {}
    used = 0
    for node in order:
        for other in (node, *below[node]):
            block[other, node] = used
            used += size[other] * size[node]

    def is_hub(node: int) -> bool:
        return node >= len(edges)

    tape: list[int] = []
    starts: list[int] = []
    for k in order:
        starts.append(len(tape))
        rest = sorted(below[k], key=position.__getitem__)
        tape += [size[k], block[k, k], unknown[k], len(rest), len(rest) * (len(rest) + 1) // 2]
        for i in rest:
            forward = -1 if is_hub(i) and not is_hub(k) else 1
            backward = -1 if is_hub(k) and not is_hub(i) else 1
            tape += [size[i], block[i, k], unknown[i], forward, backward]
        for at, i in enumerate(rest):
            for j in rest[: at + 1]:
                sign = -1 if is_hub(i) == is_hub(j) != is_hub(k) else 1
                tape += [block[i, k], block[j, k], block[i, j], size[i], size[j], sign, int(i == j)]
    return Plan(hubs, tuple(order), tuple(unknown), block, used, tuple(tape), tuple(starts))


def _neighbours(bodies: int, edges: Sequence[Edge], node_of_hub: dict[int, int]) -> list[set[int]]:
    """Two constraint nodes are coupled through an eliminated body, a constraint node and a hub directly."""
    neighbours: list[set[int]] = [set() for _ in range(len(edges) + len(node_of_hub))]
    at_body: list[list[int]] = [[] for _ in range(bodies + 1)]
    for e, pair in enumerate(edges):
        for body in pair:
            if body:
                at_body[body].append(e)
    for body in range(1, bodies + 1):
        if body in node_of_hub:
            hub = node_of_hub[body]
            neighbours[hub].update(at_body[body])
            for e in at_body[body]:
                neighbours[e].add(hub)
        else:
            for e in at_body[body]:
                neighbours[e].update(at_body[body])
    for node, around in enumerate(neighbours):
        around.discard(node)
    return neighbours


def _prerequisites(edges: Sequence[Edge], forest: Forest, node_of_hub: dict[int, int]) -> list[set[int]]:
    waits: list[set[int]] = [set() for _ in range(len(edges) + len(node_of_hub))]
    for body, e in enumerate(forest.parent_edge):
        if e >= 0 and body in node_of_hub:
            waits[e].add(node_of_hub[body])
    for cut in forest.cuts:
        waits[cut] = {node_of_hub[b] for b in forest.around(edges[cut]) if b in node_of_hub}
    return waits


def _eliminate(neighbours: list[set[int]], size: Sequence[int], waits: list[set[int]]) -> tuple[list[int], dict[int, set[int]]]:
    """Minimum degree (in unknowns) among the nodes that wait for nothing; ties by number. Returns order and fill."""
    left = set(range(len(neighbours)))
    degree = {node: sum(size[other] for other in neighbours[node]) for node in left}
    order: list[int] = []
    below: dict[int, set[int]] = {}
    while left:
        node = min((n for n in left if not waits[n]), key=lambda n: (degree[n], n))
        around = set(neighbours[node])
        order.append(node)
        below[node] = around
        left.discard(node)
        for other in around:
            neighbours[other] |= around
            neighbours[other] -= {node, other}
            degree[other] = sum(size[n] for n in neighbours[other])
        for waiting in waits:
            waiting.discard(node)
    return order, below
