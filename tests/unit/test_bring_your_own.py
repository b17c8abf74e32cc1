"""`constrain` and `project` on a user's own matrices: identities, dependent rows, and what is refused."""

import numpy as np
import pytest
from scipy import sparse

import dalembert as da

RNG = np.random.default_rng(3)
N, ROWS = 12, 5
M = (lambda B: B @ B.T + np.eye(N))(RNG.normal(size=(N, N)))
A = RNG.normal(size=(ROWS, N))
U, B = RNG.normal(size=N), RNG.normal(size=ROWS)
KINDS = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_array}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@every_kind
def test_constrain_solves_its_equations(kind):
    velocity, impulse = da.constrain(kind(M), U, kind(A), B)
    np.testing.assert_allclose(A @ velocity + B, 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(M @ (velocity - U), A.T @ impulse, rtol=0, atol=1e-11)
    # [ConstraintNotes, (12)], corrected
    expected = -np.linalg.solve(A @ np.linalg.solve(M, A.T), B + A @ U)
    np.testing.assert_allclose(impulse, expected, rtol=1e-9)


@every_kind
def test_dependent_rows_change_nothing(kind):
    rows = np.vstack([A, A[0] + 2 * A[1], np.zeros(N), 1e4 * A[3]])
    b = np.concatenate([B, [B[0] + 2 * B[1], 0.0, 1e4 * B[3]]])
    velocity, impulse = da.constrain(kind(M), U, kind(rows), b)
    np.testing.assert_allclose(velocity, da.constrain(M, U, A, B).velocity, rtol=0, atol=1e-8)
    np.testing.assert_allclose(M @ (velocity - U), rows.T @ impulse, rtol=0, atol=1e-7)


@every_kind
def test_contradicting_rows_are_refused(kind):
    with pytest.raises(da.ModelError, match=r"constrain: rows \[.*\] of A u \+ b = 0 contradict other rows; check b"):
        da.constrain(kind(M), U, kind(np.vstack([A, A[0]])), np.append(B, B[0] + 1))


@every_kind
def test_what_does_not_fit_is_refused(kind):
    skew = M.copy()
    skew[0, 1] += 1.0
    hole = A.copy()
    hole[1, 2] = np.nan
    for arguments, text in (
        ((kind(M[:5, :5]), U, kind(A), B), r"constrain: M has shape \(5, 5\); give \(12, 12\)"),
        ((kind(M), U, kind(A[:, :7]), B), r"constrain: A has shape \(5, 7\); give \(5, 12\)"),
        ((kind(M), U, kind(A), B[:3]), r"constrain: A has shape \(5, 12\); give \(3, 12\)"),
        ((kind(M), U[:, None], kind(A), B), r"constrain: u_star has shape \(12, 1\); give a vector"),
        ((kind(M), U, kind(A), "b"), "constrain: b is 'b'; give an array of numbers"),
        (
            (kind(M), np.where(np.arange(N) == 3, np.inf, U), kind(A), B),
            r"u_star holds values that are not finite \(entries \[3\]",
        ),
        ((kind(M), U, kind(hole), B), "constrain: A holds values that are not finite"),
        ((kind(skew), U, kind(A), B), "constrain: M is not symmetric"),
        ((kind(M - 5 * np.eye(N)), U, kind(A), B), "constrain: M is not positive definite"),
        ((kind(np.diag([0.0] + [1.0] * (N - 1))), U, kind(A), B), "constrain: M is not positive definite"),
    ):
        with pytest.raises(da.ModelError, match=text):
            da.constrain(*arguments)


def sphere_and_plane(q):
    return np.array([q @ q - 4.0, q[0] - q[1] * q[2]])


def gradients(q):
    return np.array([2 * q, [1.0, -q[2], -q[1]]])


def test_project_finds_the_nearest_point():
    """On a sphere alone the nearest point is known; Newton's method ends on the constraint, near it to second order."""
    q = np.array([1.2, 0.9, 1.5])
    found = da.project(q, lambda q: sphere_and_plane(q)[:1], lambda q: gradients(q)[:1])
    np.testing.assert_allclose(found, 2 * q / np.linalg.norm(q), rtol=0, atol=1e-10)


@every_kind
@pytest.mark.parametrize("metric", [None, np.diag([1.0, 5.0, 20.0])], ids=["euclidean", "mass"])
def test_project_meets_the_constraints_in_its_metric(kind, metric):
    q = np.array([1.2, 0.9, 1.4])
    found = da.project(q, sphere_and_plane, lambda q: kind(gradients(q)), metric=metric, tolerance=1e-12)
    assert np.abs(sphere_and_plane(found)).max() <= 1e-12
    near = np.array([1e-4, -2e-4, 1e-4]) + found  # so close that one step is the projection
    back = da.project(near, sphere_and_plane, gradients, metric=metric)
    W = np.eye(3) if metric is None else metric
    tangent = np.cross(*gradients(found))
    assert abs(tangent @ W @ (back - near)) <= 1e-3 * np.linalg.norm(W @ (back - near)) * np.linalg.norm(tangent)


def test_project_says_why_it_stops():
    with pytest.raises(da.SimulationError, match=r"project: g\(q\) = 0 not met after 50 iterations, .* is left"):
        da.project([1.0, 1.0], lambda q: [q @ q + 1.0], lambda q: [2 * q])
    with pytest.raises(da.ModelError, match="project: give g and G as functions of q"):
        da.project([1.0, 1.0], [0.0], lambda q: [2 * q])
    with pytest.raises(da.ModelError, match=r"project: G\(q\) has shape \(2,\); give \(1, 2\)"):
        da.project([1.0, 1.0], lambda q: [q @ q - 1.0], lambda q: 2 * q)
    with pytest.raises(da.ModelError, match="project: metric is not positive definite"):
        da.project([1.0, 1.0], lambda q: [q @ q - 1.0], lambda q: [2 * q], metric=np.diag([1.0, 0.0]))
