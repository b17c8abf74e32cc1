"""The rows of a structure: their numbers, what is solved together, the plan of the block solve. Found once for many models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from dalembert.compilation.compiled import Row
from dalembert.compilation.plan import Plan, make_plan
from dalembert.compilation.topology import Edge, Forest, spanning_forest
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import width

# of a primitive: element, kind, labels, first and second body, all bodies of one with more, rheonomic, counted angle
Item = tuple[str, str, tuple[str, ...], int, int, tuple[int, ...], bool, int]


@dataclass(frozen=True)
class Frame:
    """What rows are and where they go, of any numbers.

    sections : header entries with what lies there, one after the other;  counts : header entries with numbers
    places : where the rows of a primitive begin in A, per body;  a_size : length of A
    """

    rows: tuple[Row, ...]
    nodes: tuple[Edge, ...]
    forest: Forest
    plan: Plan
    columns: tuple[tuple[int, ...], ...]
    places: tuple[tuple[tuple[int, ...], ...], ...]
    a_size: int
    counts: dict[int, int]
    sections: dict[int, tuple[int, ...]]


@lru_cache(maxsize=128)
def frame_of(bodies: int, items: tuple[Item, ...], dropped: frozenset[tuple[int, int]], in_space: bool) -> Frame:
    """The rows of a structure, which many models may share."""
    kept: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for p, (_, _, labels, i, j, members, *_) in enumerate(items):
        for c in range(len(labels)):
            if (p, c) not in dropped:
                kept.setdefault(tuple(sorted(set(members or (i, j)))), []).append((p, c))
    nodes = tuple(kept)
    forest = spanning_forest(bodies, nodes)
    plan = make_plan(bodies, nodes, [len(kept[node]) for node in nodes], forest)

    number: dict[tuple[int, int], int] = {}
    place: dict[tuple[int, int, int], int] = {}
    incidences: list[tuple[int, int, int, int, int]] = []
    incidence_at: dict[tuple[int, int], int] = {}
    a_size = 0
    for node, touched in enumerate(nodes):
        own = kept[touched]
        for local, row in enumerate(own):
            number[row] = plan.unknown[node] + local
        for body in touched:
            if body == 0:
                continue
            incidence_at[node, body] = len(incidences)
            incidences.append((body, len(own), a_size, plan.unknown[node], int(body in plan.hubs)))
            for local, row in enumerate(own):
                place[*row, body] = a_size + 6 * local
            a_size += 6 * len(own)

    m, rows = len(number), list[Row]()
    columns, places = list[tuple[int, ...]](), list[tuple[tuple[int, ...], ...]]()
    for p, (element, kind, labels, i, j, members, rheonomic, counter) in enumerate(items):
        each = range(len(labels))
        index = []
        for c in each:
            index.append(number.get((p, c), m + sum(row.index >= m for row in rows)))
            rows.append(Row(element, labels[c], rheonomic, p, c, index[c], kind == "V"))
        index += [counter] if kind == "A" else []
        three = (index, [place.get((p, c, i), a_size) for c in each], [place.get((p, c, j), a_size) for c in each])
        columns.append(tuple(entry for column in three for entry in (*column, *([0] * (3 - len(column))))))
        places.append(tuple(tuple(place.get((p, c, body), a_size) for c in each) for body in members or (i, j)))
    unit = {node for node, touched in enumerate(nodes) if in_space and _is_coincidence(items, kept[touched])}
    pairs, hubs, hub_rows = _couplings(nodes, plan, incidence_at, unit)
    counts = {
        T.NVELOCITY: sum(item[1] == "V" for item in items),
        **{T.M: m, T.M_ALL: len(rows), T.NINC: len(incidences), T.NNODE: len(plan.order), T.K_SIZE: plan.block_size},
        **{T.NPAIR: len(pairs) // width(T.PAIR_I), T.NHUB: len(plan.hubs), T.NHUB_INC: len(hub_rows) // 3},
    }
    sections = {T.INC_I: tuple(entry for incidence in incidences for entry in incidence)}
    sections |= {T.PAIR_I: tuple(pairs), T.HUB_I: tuple(hubs), T.HUB_INC_I: tuple(hub_rows), T.TAPE_I: plan.tape}
    spare = 6  # takes what ground and dropped rows would write
    return Frame(tuple(rows), nodes, forest, plan, tuple(columns), tuple(places), a_size + spare, counts, sections)


def _is_coincidence(items: tuple[Item, ...], rows: list[tuple[int, int]]) -> bool:
    """True for the three rows of one C primitive and nothing else."""
    return items[rows[0][0]][1] == "C" and rows == [(rows[0][0], c) for c in range(3)]


def _couplings(
    nodes: tuple[Edge, ...], plan: Plan, incidence_at: dict[tuple[int, int], int], unit: set[int]
) -> tuple[list[int], list[int], list[int]]:
    """Which products A W^-1 A^T go into which block, the hubs, and which rows couple to which of them."""
    position = {node: k for k, node in enumerate(plan.order)}
    at_body: dict[int, list[int]] = {}
    for node, touched in enumerate(nodes):
        for body in touched:
            if body:
                at_body.setdefault(body, []).append(node)
    pairs: list[int] = []
    hub_rows: list[int] = []
    for body, around in at_body.items():
        around.sort(key=position.__getitem__)
        if body in plan.hubs:
            hub = len(nodes) + plan.hubs.index(body)
            for node in around:
                hub_first = position[hub] > position[node]
                block = plan.block[hub, node] if hub_first else plan.block[node, hub]
                hub_rows += [incidence_at[node, body], block, int(hub_first)]
            continue
        for k, late in enumerate(around):
            for early in around[: k + 1]:
                e1, e2 = incidence_at[late, body], incidence_at[early, body]
                pairs += [e1, e2, plan.block[late, early], int(late == early), int({late, early} <= unit)]
    hubs = [
        entry
        for k, body in enumerate(plan.hubs)
        for entry in (body, plan.block[len(nodes) + k, len(nodes) + k], plan.unknown[len(nodes) + k])
    ]
    return pairs, hubs, hub_rows
