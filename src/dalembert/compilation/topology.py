"""The graph of bodies and constraint nodes: spanning forest, loops, blocks of loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Edge = tuple[int, int]


@dataclass(frozen=True)
class Forest:
    """A spanning forest of the bodies 0..n (0 = ground) over the given edges.

    parent, parent_edge, depth : per body, -1 for a root;  cuts : edges that close loops
    """

    parent: tuple[int, ...]
    parent_edge: tuple[int, ...]
    depth: tuple[int, ...]
    cuts: tuple[int, ...]

    def path_below_meeting(self, a: int, b: int) -> list[int]:
        """Bodies on the tree path between a and b, without the body where the two branches meet."""
        path = []
        while a != b:
            if self.depth[a] >= self.depth[b]:
                path.append(a)
                a = self.parent[a]
            else:
                path.append(b)
                b = self.parent[b]
        return path


def spanning_forest(bodies: int, edges: Sequence[Edge]) -> Forest:
    """Breadth first from the ground, then from the best connected body of every floating part."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(bodies + 1)]
    for e, (a, b) in enumerate(edges):
        neighbours[a].append((b, e))
        neighbours[b].append((a, e))
    parent, parent_edge, depth = [-1] * (bodies + 1), [-1] * (bodies + 1), [-1] * (bodies + 1)
    used: set[int] = set()
    for root in [0, *sorted(range(1, bodies + 1), key=lambda b: -len(neighbours[b]))]:
        if depth[root] >= 0:
            continue
        depth[root] = 0
        queue = [root]
        for body in queue:
            for other, e in neighbours[body]:
                if depth[other] < 0:
                    parent[other], parent_edge[other], depth[other] = body, e, depth[body] + 1
                    used.add(e)
                    queue.append(other)
    return Forest(tuple(parent), tuple(parent_edge), tuple(depth), tuple(e for e in range(len(edges)) if e not in used))


def loop_blocks(forest: Forest, edges: Sequence[Edge]) -> list[list[int]]:
    """Sets of edges that share loops (biconnected parts with more than one edge); rows of different sets are independent."""
    leader = list(range(len(edges)))

    def find(e: int) -> int:
        while leader[e] != e:
            leader[e] = leader[leader[e]]
            e = leader[e]
        return e

    for cut in forest.cuts:
        a, b = edges[cut]
        for body in forest.path_below_meeting(a, b):
            leader[find(forest.parent_edge[body])] = find(cut)
    groups: dict[int, list[int]] = {}
    for e in range(len(edges)):
        groups.setdefault(find(e), []).append(e)
    return [group for group in groups.values() if len(group) > 1]
