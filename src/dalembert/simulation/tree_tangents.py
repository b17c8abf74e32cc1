"""Trees in sensitivities: states with the signs of a run, and inertias of links, J = J_0 1 + a a^T + b b^T: how a, b, J_0
change with J.

The vectors come from eigenvectors, which turn at random where moments are equal; J itself is smooth. A change of J is

    dJ = dJ_0 1 + da a^T + a da^T + db b^T + b db^T

which has a solution wherever a and b do not vanish; where they do, the kernel of the reference path reads J itself.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.tree import Tree
from dalembert.errors import ModelError
from dalembert.formulations.run import Run
from dalembert.kernels.base import layout as L
from dalembert.kernels.base import tables as T

_FIELDS = {label: L.TABLES["links"].fields[label] for label in ("a", "b", "J_0")}
_UPPER = np.triu_indices(3)


def _places(run: Run) -> list[int]:
    """Where a, b and J_0 of each link begin in F; they lie one behind the other."""
    if run.tree is None:
        return []
    section, _, first = _FIELDS["a"]
    start = int(run.I[section.entry]) + first
    return [start + section.width * b for b in range(1, run.mechanism.nb + 1)]  # type: ignore[attr-defined]


def as_run(tree: Tree, x: Array, told: Array) -> Array:
    """(nt, n) relative states with signs and turns as in the run that was told as (nt, nx) absolute ones.

    Rotations alone do not tell them. A quaternion of a body is signed as that of the link before it times that of its own.
    """
    x, found = x.copy(), tree.to_absolute(x)
    signs, columns = np.ones((len(x), tree.mechanism.nb + 1)), iter(tree.mechanism.quaternion_columns)
    for b, (kind, _, _) in enumerate(tree.mechanism.body_columns, start=1):
        if kind == T.RIGID:
            q = next(columns)
            signs[:, b] = np.sign((found[:, q : q + 4] * told[:, q : q + 4]).sum(axis=1))
    for link in tree.links:
        other = signs[:, link.body] != (1.0 if link.kind[0] == T.WORLD else signs[:, link.parent])
        if link.kind[0] >= T.QUATERNION:
            x[other, link.q : link.q + 4] *= -1.0
        elif link.kind[0] in (T.ONE_ANGLE, T.TWO_ANGLES):
            x[other, link.q] += 2.0 * np.pi
    return x


def as_inertias(run: Run, F: Array) -> Array:
    """F with the six numbers of J in the places of a, b and J_0, of which there are seven."""
    F = F.copy()
    for k in _places(run):
        a, b, J_0 = F[k : k + 3], F[k + 3 : k + 6], F[k + 6]
        F[k : k + 6] = (J_0 * np.eye(3) + np.outer(a, a) + np.outer(b, b))[_UPPER]
        F[k + 6] = 0.0
    return F


def tangent_of(run: Run, dF: Array, name: str) -> Array:
    """Changes of a, b and J_0 from those of J."""
    dF = dF.copy()
    for k in _places(run):
        dJ = dF[k : k + 6].copy()
        if not dJ.any():
            continue
        a, b = run.F[k : k + 3], run.F[k + 3 : k + 6]
        columns = [np.outer(e, v) + np.outer(v, e) for v in (a, b) for e in np.eye(3)]
        matrix = np.array([column[_UPPER] for column in (*columns, np.eye(3))]).T
        found = np.linalg.lstsq(matrix, dJ, rcond=1e-9)[0]
        if np.abs(matrix @ found - dJ).max() > 1e-9 * np.abs(dJ).max():
            raise ModelError(
                f"parameter {name!r} changes a moment of inertia that is equal to another one, about a joint: MovingFrame has"
                ' no derivative there; use MovingFrame(path="reference"), or Jet'
            )
        dF[k : k + 7] = found
    return dF
