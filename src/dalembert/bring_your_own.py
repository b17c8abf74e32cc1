"""Constraints for a simulator that exists already: its matrices in, corrected velocities or coordinates out [ConstraintNotes].

    u_star = u + h * M^-1 f                                 # a step of the simulator as it is
    u, impulse = da.constrain(M, u_star, A, b)              # A u + b = 0 holds
    q = q + h * u                                           # its own way to advance positions
    q = da.project(q, g, G)                                 # g(q) = 0 holds

Plain functions on NumPy arrays or SciPy-sparse matrices; nothing else of the library is needed to use them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError

# rows whose direction is a combination of others to this relative precision count as dependent
_DEPENDENT = 1e-10
# what must be left of A u + b, relative to its terms; more means that dependent rows contradict each other
_CONTRADICTION = 1e-7


class Constrained(NamedTuple):
    """velocity : (n,) with A velocity + b = 0;  impulse : (m,) with M (velocity - u_star) = A^T impulse"""

    velocity: Array
    impulse: Array


def constrain(M: Any, u_star: npt.ArrayLike, A: Any, b: npt.ArrayLike) -> Constrained:
    """The velocities nearest to u_star in kinetic energy that fulfil A u + b = 0, and the impulses that lead there.

        M (u - u_star) = A^T Lam,   A u + b = 0   ->   Lam = -(A M^-1 A^T)^-1 (b + A u_star)   [ConstraintNotes, (10)-(12)]

    M : (n, n) mass matrix, symmetric and positive definite;  A : (m, n) constraint rows; both dense or SciPy-sparse
    u_star : (n,) velocities of the unconstrained step;  b : (m,), the time derivative g_t of prescribed motions, else zero

    Dependent rows are allowed (pseudo-inverse: the velocities are unique, the impulses those of least norm); rows that
    contradict each other raise. Deviation: (12) is printed without the inverse of M.
    """
    u_star, b = _vector("constrain: u_star", u_star), _vector("constrain: b", b)
    M, A = _matrix("constrain: M", M, (len(u_star),) * 2, symmetric=True), _matrix("constrain: A", A, (len(b), len(u_star)))
    velocity, impulse = _nearest("constrain: M", M, A, -(A @ u_star + b))
    velocity = u_star + velocity
    left, reach = np.abs(A @ velocity + b), np.full(len(u_star), np.abs(velocity).max() + np.abs(u_star).max())
    size = np.abs(A) @ reach + np.abs(b)
    if np.any(left > _CONTRADICTION * size):
        rows = np.flatnonzero(left > _CONTRADICTION * size).tolist()
        raise ModelError(f"constrain: rows {rows} of A u + b = 0 contradict other rows; check b, or leave rows out")
    return Constrained(velocity, impulse)


def project(
    q: npt.ArrayLike,
    g: Callable[[Array], npt.ArrayLike],
    G: Callable[[Array], Any],
    *,
    metric: Any = None,
    tolerance: float = 1e-10,
    max_newton: int = 50,
) -> Array:
    """Coordinates with |g(q)| <= tolerance, near to q in the metric: Newton's method.

        dq = -W^-1 G^T (G W^-1 G^T)^-1 g                                                 [ConstraintNotes, (20)-(24)]

    g : function of q, (m,) residuals;  G : function of q, (m, n) their derivatives dg/dq, dense or SciPy-sparse
    metric : W, (n, n) symmetric positive definite, e.g. the mass matrix (least kinetic energy); None = Euclidean
    """
    q = _vector("project: q", q).copy()
    if not callable(g) or not callable(G):
        raise ModelError("project: give g and G as functions of q: g(q) -> (m,), G(q) -> (m, n)")
    W = np.eye(len(q)) if metric is None else _matrix("project: metric", metric, (len(q),) * 2, symmetric=True)
    worst = np.inf
    for _ in range(max_newton + 1):
        residual = _vector("project: g(q)", g(q))
        worst = float(np.max(np.abs(residual), initial=0.0))
        if worst <= tolerance:
            return q
        q = q + _nearest("project: metric", W, _matrix("project: G(q)", G(q), (len(residual), len(q))), -residual)[0]
    raise SimulationError(
        f"project: g(q) = 0 not met after {max_newton} iterations, {worst:.3g} is left; start nearer, or check G"
    )


def _nearest(name: str, M: Any, A: Any, c: Array) -> tuple[Array, Array]:
    """(d, Lam) with A d = c and M d = A^T Lam: the smallest such d in the norm of M."""
    from scipy import sparse

    return _sparse(name, M, A, c) if sparse.issparse(M) or sparse.issparse(A) else _dense(name, M, A, c)


def _dense(name: str, M: Array, A: Array, c: Array) -> tuple[Array, Array]:
    """By the Cholesky factor of M and the singular values of A L^-T, rows scaled to unit length."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise _not_definite(name) from None
    Y = np.linalg.solve(L, A.T).T
    scale = np.linalg.norm(Y, axis=1)
    scale[scale == 0] = 1.0
    U, s, Vt = np.linalg.svd(Y / scale[:, None], full_matrices=False)
    kept = s > _DEPENDENT * np.max(s, initial=0.0)
    part = (U[:, kept].T @ (c / scale)) / s[kept]
    return np.linalg.solve(L.T, Vt[kept].T @ part), (U[:, kept] @ (part / s[kept])) / scale


def _sparse(name: str, M: Any, A: Any, c: Array) -> tuple[Array, Array]:
    """By the saddle point [M -A^T; A 0]; where that is singular by the pseudo-inverse of A M^-1 A^T."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    M, A = sparse.csc_matrix(M), sparse.csc_matrix(A)
    n = len(M.indptr) - 1
    try:
        factor = splu(M, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        raise _not_definite(name) from None
    if not (np.array_equal(factor.perm_r, factor.perm_c) and np.all(factor.U.diagonal() > 0)):
        raise _not_definite(name)
    try:
        saddle = splu(sparse.bmat([[M, -A.T], [A, None]], format="csc"))
        pivots = np.abs(saddle.U.diagonal())
        if pivots.min(initial=np.inf) > _DEPENDENT * pivots.max(initial=0.0):
            both = saddle.solve(np.concatenate([np.zeros(n), c]))
            return both[:n], both[n:]
    except RuntimeError:  # exactly singular: dependent rows
        pass
    Y = factor.solve(A.T.toarray())
    S = A @ Y
    scale = np.sqrt(np.diag(S))
    scale[scale == 0] = 1.0
    Lam = np.linalg.pinv(S / np.outer(scale, scale), rcond=1e-13, hermitian=True) @ (c / scale) / scale
    return Y @ Lam, Lam


def _not_definite(name: str) -> ModelError:
    return ModelError(f"{name} is not positive definite; give the mass matrix of velocities that all carry mass")


def _vector(name: str, given: npt.ArrayLike) -> Array:
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is {given!r}; give an array of numbers") from None
    if values.ndim != 1 or not len(values):
        raise ModelError(f"{name} has shape {values.shape}; give a vector with at least one entry")
    if not np.all(np.isfinite(values)):
        raise ModelError(f"{name} holds values that are not finite (entries {np.flatnonzero(~np.isfinite(values)).tolist()})")
    return values


def _matrix(name: str, given: Any, shape: tuple[int, int], *, symmetric: bool = False) -> Any:
    """A finite matrix of this shape, dense or sparse."""
    from scipy import sparse

    values = given.tocsr().astype(float) if sparse.issparse(given) else np.asarray(given, dtype=float)
    if values.shape != shape:
        raise ModelError(f"{name} has shape {values.shape}; give {shape}, to fit the vectors")
    stored = values.data if sparse.issparse(values) else values
    if not np.all(np.isfinite(stored)):
        raise ModelError(f"{name} holds values that are not finite")
    if symmetric and abs(values - values.T).max() > 1e-10 * np.max(np.abs(stored), initial=0.0):
        raise ModelError(f"{name} is not symmetric; give the mass matrix itself, not its factor or a part of it")
    return values
