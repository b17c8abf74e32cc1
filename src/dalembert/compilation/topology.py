"""The graph of bodies and constraint nodes: spanning forest, loops, blocks of loops.

A node is the set of bodies that its rows act on, mostly a pair. One of more bodies is never part of the forest. The forest
orders the block-sparse elimination (plan.py) and the search for redundant rows (rank.py). It is not `MovingFrame`'s tree, whose
joints and cuts are chosen in tree.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Edge = tuple[int, ...]


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

    def path_to_root(self, a: int) -> list[int]:
        """Bodies from a down to its root, which is left out where it is the ground."""
        path = []
        while a > 0:
            path.append(a)
            a = self.parent[a]
        return path

    def around(self, edge: Edge) -> list[int]:
        """Bodies whose joints rows of this edge can depend on: the loop that it closes; of more than two bodies all ways to
        the root, because nothing says that only motions relative to each other matter."""
        if len(edge) == 2:
            return self.path_below_meeting(*edge)
        return list(dict.fromkeys(b for a in edge for b in self.path_to_root(a)))


def spanning_forest(bodies: int, edges: Sequence[Edge]) -> Forest:
    """Breadth first from the ground, then from the best connected body of every floating part."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(bodies + 1)]
    for e, edge in enumerate(edges):
        if len(edge) == 2:
            a, b = edge
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
    leader = list(range(len(edges) + len(forest.parent)))  # edges, then bodies, which join edges of more than two of them

    def find(e: int) -> int:
        while leader[e] != e:
            leader[e] = leader[leader[e]]
            e = leader[e]
        return e

    for cut in forest.cuts:
        for body in forest.around(edges[cut]):
            if forest.parent_edge[body] >= 0:
                leader[find(forest.parent_edge[body])] = find(cut)
            if len(edges[cut]) != 2:
                leader[find(len(edges) + body)] = find(cut)
    groups: dict[int, list[int]] = {}
    for e in range(len(edges)):
        groups.setdefault(find(e), []).append(e)
    return [group for group in groups.values() if len(group) > 1]
