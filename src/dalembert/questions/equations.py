"""equations: the matrices of a mechanism at one state, for own methods.

    M u' = h + G^T lam      g(q, t) = 0      G u + g_t = 0      G u' + zeta = 0      q' = N u

Everything is found in the twists (v, w_B) of the bodies first and pulled back to other velocities, twists = B u:

    M = B^T M_b B      h = B^T (h_b - M_b B' u)      G = G_b B      zeta = zeta_b + G_b B' u

Minimal velocities are those in the null space T of G, u = T v + u_p with G u_p = -g_t: M and h are those of v, and no row is
left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.formulations.moving_frame import MovingFrame
from dalembert.formulations.run import Run
from dalembert.kernels.base import tables as T
from dalembert.model.model import Model
from dalembert.model.validation import choice
from dalembert.questions.rows import CompiledRows
from dalembert.questions.state import state_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Velocities = Literal["absolute", "planar", "tree", "minimal"]
RANK = 1e-9  # of pivots of rows of G; rounding leaves 1e-15


@dataclass(frozen=True, eq=False)
class Equations:
    """M u' = h + G^T lam, g = 0, G u + g_t = 0, G u' + zeta = 0, q' = N u at one state, with names of rows and columns.

    t : [s];  q, u : (nq,), (nu,);  M, h : (nu, nu), (nu,);  G : (m, nu), redundant rows included;  N : (nq, nu)
    g, g_t, zeta : (m,)
    tangent : (nu, f) orthonormal basis of the velocities that G allows
    nonholonomic : (m,) rows that constrain velocities only; their g is zero
    """

    t: float
    q: Array
    u: Array
    M: Array
    h: Array
    G: Array
    g: Array
    g_t: Array
    zeta: Array
    N: Array
    tangent: Array
    nonholonomic: npt.NDArray[np.bool_]
    coordinates: Velocities
    coordinate_names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    row_names: tuple[str, ...]

    def accelerations(self) -> tuple[Array, Array]:
        """u' and lam: the smallest multipliers where rows are redundant."""
        n, m = len(self.h), len(self.g)
        if m == 0:
            return np.asarray(np.linalg.solve(self.M, self.h)), np.zeros(0)
        matrix = np.block([[self.M, -self.G.T], [self.G, np.zeros((m, m))]])
        found = np.linalg.lstsq(matrix, np.concatenate([self.h, -self.zeta]), rcond=1e-12)[0]
        return found[:n], found[n:]

    def sparse(self) -> dict[str, csr_array]:
        """M, G, N and the tangent basis as SciPy sparse arrays; entries of rounding size are left out."""
        from scipy.sparse import csr_array

        found = {}
        for name in ("M", "G", "N", "tangent"):
            dense = getattr(self, name)
            found[name] = csr_array(np.where(np.abs(dense) > 1e-15 * np.abs(dense).max(initial=0.0), dense, 0.0))
        return found

    def __repr__(self) -> str:
        n, m, f = len(self.velocity_names), len(self.row_names), self.tangent.shape[1]
        return f"<Equations in {self.coordinates} coordinates at t = {self.t:g} s: {n} velocities, {m} rows, {f} free>"


def equations(model: Model | Mechanism, state: Trajectory | None = None, *, coordinates: Velocities = "absolute") -> Equations:
    """M, h, G, g, g_t, zeta, N and the tangent basis at a state, in coordinates of a choice.

    state : default the initial one; else one of a solution, `solution(t)`
    coordinates : "absolute", "planar" (x, y, angle per body), "tree" (those of the joints of a spanning tree), or "minimal"
        (independent velocities in the null space of G: no rows are left)
    """
    choice("equations", "coordinates", coordinates, ("absolute", "planar", "tree", "minimal"))
    mechanism, t, x = state_of("equations", model, state, "planar" if coordinates == "planar" else "absolute")
    found = _of_bodies(mechanism, t, x)
    if coordinates == "tree":
        found = _on_tree(mechanism, found, x)
    return _minimal(found) if coordinates == "minimal" else found


def body_matrix(mechanism: Mechanism) -> Array:
    """(6 nb, 6 nb) masses and inertias; 1 where a point mass or its angle has none."""
    M = np.eye(6 * mechanism.nb)
    for b, body in enumerate(mechanism.model.bodies):
        M[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] *= body.mass
        if body.kind == "rigid":
            M[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = body.inertia
    return M


def twist_map(mechanism: Mechanism) -> Array:
    """(6 nb, nu): twists (v, w_B) of the bodies of absolute or planar velocities."""
    B = np.zeros((6 * mechanism.nb, mechanism.nu))
    for b, (kind, _, u) in enumerate(mechanism.body_columns):
        if kind == T.PLANAR:
            assert mechanism.plane is not None
            B[6 * b : 6 * b + 3, u] = mechanism.plane.e1
            B[6 * b : 6 * b + 3, u + 1] = mechanism.plane.e2
            B[6 * b + 3 : 6 * b + 6, u + 2] = mechanism.start_in_plane(b + 1)[2]
        else:
            size = 6 if kind == T.RIGID else 3
            B[6 * b : 6 * b + size, u : u + size] = np.eye(size)
    return B


def _of_bodies(mechanism: Mechanism, t: float, x: Array) -> Equations:
    """In the mechanism's own coordinates."""
    m, nq, nu = mechanism.m, mechanism.nq, mechanism.nu
    rows = CompiledRows(mechanism)
    at = rows(t, x)
    M_b, B = body_matrix(mechanism), twist_map(mechanism)
    G = at.G @ B
    kinds = {row.index: row.nonholonomic for row in mechanism.rows}
    names, velocities = _body_names(mechanism)
    return Equations(
        t, x[:nq].copy(), x[nq : nq + nu].copy(), B.T @ M_b @ B, B.T @ at.h, G, at.g, at.g_t, at.zeta,
        _rates_of(rows.run, x), null_space(G), np.array([kinds[k] for k in range(m)], dtype=bool),
        mechanism.coordinates, names, velocities, tuple(mechanism.row_names()),
    )  # fmt: skip


def _on_tree(mechanism: Mechanism, absolute: Equations, x: Array) -> Equations:
    """The same in joint coordinates; rows of joints of the tree hold by themselves."""
    run = MovingFrame(path="reference").prepare(mechanism)  # its ball joints turn against their parents
    tree = run.tree
    assert tree is not None
    nq, nu, n = tree.nq, tree.nu, mechanism.nq
    relative = tree.from_absolute(x[None])[0]
    poses = np.tile(relative, (nu, 1))
    poses[:, nq : nq + nu] = np.eye(nu)
    B = tree.to_absolute(poses)[:, n : n + mechanism.nu].T
    rates = np.zeros(len(relative))
    if run.rate(absolute.t, relative, rates) != T.OK:
        raise ModelError(f"equations: joint accelerations at t = {absolute.t:g} s cannot be found; the state is singular")
    bias = absolute.accelerations()[0] - B @ rates[nq : nq + nu]
    kept = [k for k in range(mechanism.m) if mechanism.element_of_row(k) in tree.cut]
    G = absolute.G[kept] @ B
    names, velocities = _tree_names(mechanism, tree)
    return Equations(
        absolute.t, relative[:nq], relative[nq : nq + nu], B.T @ absolute.M @ B, B.T @ (absolute.h - absolute.M @ bias), G,
        absolute.g[kept], absolute.g_t[kept], absolute.zeta[kept] + absolute.G[kept] @ bias, _rates_of(run, relative),
        null_space(G), absolute.nonholonomic[kept], "tree", names, velocities, tuple(absolute.row_names[k] for k in kept),
    )  # fmt: skip


def _minimal(full: Equations) -> Equations:
    """In the velocities of the tangent basis."""
    basis, none = full.tangent, np.zeros(0)
    bias = -np.linalg.lstsq(full.G, full.zeta, rcond=RANK)[0] if len(full.g) else np.zeros(len(full.u))
    f = basis.shape[1]
    return Equations(
        full.t, full.q, basis.T @ full.u, basis.T @ full.M @ basis, basis.T @ (full.h - full.M @ bias), np.zeros((0, f)),
        none, none, none, full.N @ basis, np.eye(f), np.zeros(0, dtype=bool), "minimal", full.coordinate_names,
        tuple(f"v{k}" for k in range(f)), (),
    )  # fmt: skip


def null_space(G: Array) -> Array:
    """(n, f) orthonormal basis of the velocities u with G u = 0; rows count by their direction, those of rounding not."""
    from scipy.linalg import qr

    lengths = np.linalg.norm(G, axis=1)
    G = G[lengths > RANK * lengths.max(initial=0.0)]
    if not len(G):
        return np.eye(G.shape[1])
    Q, triangle, _ = qr((G / np.linalg.norm(G, axis=1, keepdims=True)).T, pivoting=True)
    pivots = np.abs(np.diag(triangle))
    return np.ascontiguousarray(Q[:, int(np.sum(pivots > RANK * pivots[0])) :])


def _rates_of(run: Run, x: Array) -> Array:
    """N of q' = N u."""
    nq = int(run.I[T.NQ])
    N = np.zeros((nq, int(run.I[T.NU])))
    for q, u, count in run.velocity_map:
        k = int(u) - nq
        if count > 0:
            N[q : q + count, k : k + count] = np.eye(count)
        else:
            a, b, c, d = x[q : q + 4]
            N[q : q + 4, k : k + 3] = 0.5 * np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]])
    return N


def _body_names(mechanism: Mechanism) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names: list[str] = []
    velocities: list[str] = []
    for body in mechanism.model.bodies:
        if mechanism.coordinates == "planar":
            own = ["x", "y", "angle"]
            rates = ["x'", "y'", "angle'"]
        else:
            own, rates = ["x", "y", "z"], ["vx", "vy", "vz"]
            if body.kind == "rigid":
                own += [f"theta{k}" for k in range(4)]
                rates += ["wx", "wy", "wz"]
        names += [f"{body.name}.{part}" for part in own]
        velocities += [f"{body.name}.{part}" for part in rates]
    return tuple(names), tuple(velocities)


def _tree_names(mechanism: Mechanism, tree: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names: list[str] = []
    velocities: list[str] = []
    for link in tree.links:  # type: ignore[attr-defined]
        owner = link.joint or mechanism.body_names[link.body - 1]
        turn, rotations, slides = link.kind
        free = turn == T.QUATERNION
        own = [f"theta{k}" for k in range(4)] if free else [f"angle{k + 1 if rotations > 1 else ''}" for k in range(rotations)]
        rates = ["wx", "wy", "wz"] if free else [f"{name}'" for name in own]
        moved = ["xyz"[axis] for axis in slides] if len(slides) > 1 or free else ["translation"] * len(slides)
        names += [f"{owner}.{part}" for part in (*own, *moved)]
        velocities += [f"{owner}.{part}" for part in (*rates, *(f"{part}'" for part in moved))]
    return tuple(names), tuple(velocities)
