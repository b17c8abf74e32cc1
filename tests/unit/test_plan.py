"""The elimination plan: every pivot is definite when its turn comes, and fill grows linearly with the mechanism."""

import numpy as np
import pytest

from dalembert.compilation.plan import HUB_DEGREE, make_plan
from dalembert.compilation.topology import loop_blocks, spanning_forest


def chain(n):
    return n, [(k - 1, k) for k in range(1, n + 1)]


def binary_tree(n):
    return n, [(k // 2, k) for k in range(1, n + 1)]


def star(n):
    return n, [(0, 1), *((1, k) for k in range(2, n + 1))]


def floating_star(n):
    return n, [(1, k) for k in range(2, n + 1)]


def ring(n):
    return n, [*chain(n)[1], (0, n)]


def floating_ring(n):
    return n, [*((k - 1, k) for k in range(2, n + 1)), (1, n)]


def four_bars(n):
    """n four-bars in a row: n + 1 posts on the ground, a coupler between neighbours."""
    posts, couplers = range(1, n + 2), range(n + 2, 2 * n + 2)
    between = [(posts[k + end], couplers[k]) for k in range(n) for end in (0, 1)]
    return 2 * n + 1, [*((0, post) for post in posts), *between]


def truss(n):
    """Two floating rails of n bodies with rungs between."""
    rails = [(k, k + 2) for k in range(1, 2 * n - 1)]
    return 2 * n, rails + [(2 * k - 1, 2 * k) for k in range(1, n + 1)]


def grounded_truss(n):
    """The same with every body on the ground as well: all inner bodies are hubs in loops."""
    bodies, edges = truss(n)
    return bodies, [*((0, b) for b in range(1, bodies + 1)), *edges]


def loops_on_a_hub(n):
    """A body that carries n triangles."""
    edges = [(0, 1)]
    for k in range(n):
        a, b = 2 + 2 * k, 3 + 2 * k
        edges += [(1, a), (a, b), (1, b)]
    return 1 + 2 * n, edges


SHAPES = [
    chain,
    binary_tree,
    star,
    floating_star,
    ring,
    floating_ring,
    four_bars,
    truss,
    grounded_truss,
    loops_on_a_hub,
]


def plan_of(shape, n, rows=3):
    bodies, edges = shape(n)
    forest = spanning_forest(bodies, edges)
    return bodies, edges, forest, make_plan(bodies, edges, [rows] * len(edges), forest)


@pytest.mark.parametrize("shape", SHAPES)
def test_fill_grows_linearly(shape):
    """Twice the bodies, twice the numbers: each doubling adds twice what the one before added, up to the ends."""
    for size in (lambda plan: plan.block_size, lambda plan: len(plan.tape)):
        small, medium, large = (size(plan_of(shape, n)[3]) for n in (16, 32, 64))
        assert large / medium <= 2.1
        assert (large - medium) / (medium - small) <= 2.05


@pytest.mark.parametrize("shape", [chain, binary_tree, star, ring, four_bars])
def test_fill_of_the_common_shapes(shape):
    entries = [plan_of(shape, n)[3].block_size for n in (16, 32, 64)]
    assert entries[1] / entries[0] <= 2.1 and entries[2] / entries[1] <= 2.1


@pytest.mark.parametrize("shape", SHAPES)
def test_no_pivot_is_undefined(shape, rng):
    """On random rows every pivot block is definite, and no update leaves the planned blocks.

    The numeric phase in NumPy, on the graph of the plan: K = [[S, A], [-A^T, W_h]] by blocks in the planned order.
    Two rows per joint, so that no shape has more rows than velocities.
    """
    bodies, edges, _, plan = plan_of(shape, 8, rows=2)
    hubs = {b: len(edges) + k for k, b in enumerate(plan.hubs)}
    size = [2] * len(edges) + [6] * len(hubs)
    at = np.concatenate([[0], np.cumsum(size)])
    rows = {(e, b): rng.standard_normal((2, 6)) for e, pair in enumerate(edges) for b in pair if b}
    K = np.zeros((at[-1], at[-1]))

    def part(i, j):
        return slice(at[i], at[i + 1]), slice(at[j], at[j + 1])

    for b in range(1, bodies + 1):
        around = [e for e, pair in enumerate(edges) if b in pair]
        for e in around:
            if b in hubs:
                K[part(e, hubs[b])] = rows[e, b]
                K[part(hubs[b], e)] = -rows[e, b].T
            else:
                for f in around:
                    K[part(e, f)] += rows[e, b] @ rows[f, b].T
    for node in hubs.values():
        K[part(node, node)] = np.eye(6)
    left = K.copy()
    for k, node in enumerate(plan.order):
        pivot = left[part(node, node)]
        # random rows of size 1 leave pivots above 1e-3; one that is definite by rounding alone would be 1e-15
        assert np.linalg.eigvalsh(0.5 * (pivot + pivot.T)).min() > 1e-6, f"pivot {k}"
        for i in plan.order[k + 1 :]:
            column = left[part(i, node)] @ np.linalg.inv(pivot)
            if (i, node) not in plan.block:
                assert not column.any(), "an update that the plan does not know"
                continue
            for j in plan.order[k + 1 :]:
                left[part(i, j)] -= column @ left[part(node, j)]


@pytest.mark.parametrize("shape", SHAPES)
def test_unknowns_blocks_and_tape_fit_together(shape):
    _, edges, _, plan = plan_of(shape, 6)
    assert sorted(plan.order) == list(range(len(edges) + len(plan.hubs)))
    constraint = sorted(plan.unknown[: len(edges)])
    assert constraint == list(range(0, 3 * len(edges), 3))  # multipliers are numbered without gaps, hubs come after
    assert list(plan.unknown[len(edges) :]) == [3 * len(edges) + 6 * k for k in range(len(plan.hubs))]
    assert len(plan.starts) == len(plan.order) and max(plan.block.values()) < plan.block_size


def test_hubs_are_bodies_of_many_joints():
    assert plan_of(star, HUB_DEGREE)[3].hubs == (1,)
    assert plan_of(star, HUB_DEGREE - 1)[3].hubs == ()
    assert plan_of(chain, 20)[3].hubs == ()


def test_minimum_degree_does_not_eliminate_the_centre_of_a_star_late():
    """A star's block count stays that of its joints: no two arms are ever coupled."""
    plan = plan_of(star, 40)[3]
    arms = {(i, j) for i, j in plan.block if i != j and max(i, j) < 40}
    assert not arms


def test_spanning_forest_and_loops():
    bodies, edges = ring(5)
    forest = spanning_forest(bodies, edges)
    assert len(forest.cuts) == 1 and forest.parent[0] == -1 and max(forest.depth) <= 3
    assert sorted(loop_blocks(forest, edges)[0]) == list(range(6))
    bodies, edges = loops_on_a_hub(3)
    blocks = loop_blocks(spanning_forest(bodies, edges), edges)
    assert sorted(map(len, blocks)) == [3, 3, 3]  # triangles that share a body do not share loops
    assert loop_blocks(spanning_forest(*chain(4)), chain(4)[1]) == []
    bodies, edges = floating_ring(4)
    assert spanning_forest(bodies, edges).depth.count(0) == 2  # the ground and one root
