"""Trees of many mechanisms of one structure at once: constants and first states in relative coordinates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.tree import EXCHANGED, Tree, tree_numbers
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.model.elements import GROUND


def tree_variants(tree: Tree, F: Array, x_0: Array, frames: Array) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Constants and relative states of mechanisms with the structure of a tree, and for which of them they are right.

    F, x_0 : (runs, ..) constants and initial states;  frames : (runs, 24 numbers per joint) p_i, p_j, E_i, E_j
    """
    joints = {joint.name: (24 * k, joint) for k, joint in enumerate(tree.mechanism.model.joints)}
    bodies = (GROUND, *tree.mechanism.body_names)
    parts: list[list[Array]] = []
    for link in tree.links:
        part: list[Array] = [np.broadcast_to(v, (len(F), *v.shape)) for v in (link.p_p, link.p_c, link.E_p, link.E_c)]
        if link.joint is not None:
            at, joint = joints[link.joint]
            p_i, p_j, E = frames[:, at : at + 3], frames[:, at + 3 : at + 6], frames[:, at + 6 : at + 24].reshape(-1, 2, 3, 3)
            part = [p_i, p_j, E[:, 0], E[:, 1]]
            if bodies.index(joint.first) != link.parent:
                turn = EXCHANGED if link.kind[0] == T.TWO_ANGLES else np.eye(3)
                part = [p_j, p_i, E[:, 1] @ turn, E[:, 0] @ turn]
        parts.append(part)
    p_p, p_c, E_p, E_c = (np.stack(of_links, axis=1) for of_links in zip(*parts, strict=True))
    made, flags = tree_numbers(tree.mechanism, tree.links, tree.primitives, F, (p_p, p_c, E_p, E_c))
    x = tree.from_absolute(x_0, (p_p, p_c, E_p, E_c))
    tree.flip(made, _turns(tree, made, x), x_0)
    table = records(tree.I, tree.I, T.TREE_I)[tree.index("body")]
    return made, x, (flags == np.stack([table["turned"], table["skew"]], axis=1)).all(axis=(1, 2))


def _turns(tree: Tree, F: Array, x: Array) -> list[Array]:
    """(runs, 4) quaternions of the rigid bodies, as kernels/coordinates/tree_states.py has them."""
    sides = records(tree.I, F, T.LINK_F)
    turns: dict[int, Array] = {}
    for link in tree.links:
        theta, (turn, _, _) = sides["theta_parent"][:, link.body], link.kind
        if turn == T.WORLD:
            theta = x[:, link.q : link.q + 4]
        elif link.parent:
            theta = _product(turns[link.parent], theta)
        if turn == T.QUATERNION:
            theta = _product(theta, x[:, link.q : link.q + 4])
        axes = {T.ONE_ANGLE: (3,), T.TWO_ANGLES: (1, 2)}.get(turn, ())
        for k, axis in enumerate(axes):
            half = 0.5 * x[:, link.q + k]
            own = np.zeros((len(x), 4))
            own[:, 0], own[:, axis] = np.cos(half), np.sin(half)
            theta = _product(theta, own)
        turns[link.body] = _product(theta, sides["theta_child"][:, link.body])
    kinds = (kind for kind, _, _ in tree.mechanism.body_columns)
    return [turns[b] for b, kind in enumerate(kinds, start=1) if kind == T.RIGID]


def _product(a: Array, b: Array) -> Array:
    """Of quaternions, (runs, 4)."""
    (s, x, y, z), (t, p, q, r) = a.T, b.T
    parts = (s * t - x * p - y * q - z * r, s * p + t * x + y * r - z * q, s * q + t * y + z * p - x * r)
    return np.stack([*parts, s * r + t * z + x * q - y * p], axis=1)
