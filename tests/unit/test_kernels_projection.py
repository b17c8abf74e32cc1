"""The projection onto constraints: residuals, optimality, metrics, counters and failures."""

import numpy as np
import pytest
from kernel_calls import copy_tables, count, mass_matrix, moved, project, restrict, rows, twist, velocity_gradient
from random_mechanisms import SHAPES, planar_chain, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records

TOLERANCE = 1e-12  # what copy_tables asks of the kernel, in both positions and velocities
TIME = 0.3
CASES = [(shape, seed) for shape in SHAPES for seed in (0, 1, 2)]


def mechanism_of(shape, seed=0):
    if shape == "planar":
        return compile(planar_chain(seed), "planar")
    return compile(random_model(seed, shape))


def residuals(mechanism, t, x):
    G, g, g_t, _ = rows(mechanism, t, x)
    return np.abs(g).max(), np.abs(G @ twist(mechanism, x) + g_t).max()


def lengths(mechanism, x):
    """|theta| of all rigid bodies."""
    table = records(mechanism.I, mechanism.I, T.BODY_I)
    return [np.linalg.norm(x[q + 3 : q + 7]) for kind, q, _ in table if kind == T.RIGID]


def nearby(mechanism, x, rng, size):
    dq, du = (size * restrict(mechanism, v) for v in rng.standard_normal((2, 6 * mechanism.nb)))
    return moved(mechanism, x, dq, du)


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize(("shape", "seed"), [*CASES, ("planar", 0), ("planar", 1)])
def test_perturbed_states_return(shape, seed, orthogonal, rng):
    mechanism = mechanism_of(shape, seed)
    x = nearby(mechanism, mechanism.x_0, rng, 0.01)
    x[: mechanism.nq] *= 1.0 + 1e-3 * rng.uniform(-1, 1, mechanism.nq)  # Euler parameters of any length
    assert max(residuals(mechanism, TIME, x)) > 1e-3
    status, y, W = project(mechanism, TIME, x, orthogonal=orthogonal)
    assert status == T.OK
    assert max(residuals(mechanism, TIME, y)) <= TOLERANCE
    assert np.allclose(lengths(mechanism, y), 1.0, rtol=0, atol=4e-16)  # one division and one root
    assert count(mechanism, W).project == 1 and count(mechanism, W).newton >= 1


@pytest.mark.nojit
@pytest.mark.bounds
@pytest.mark.parametrize("orthogonal", [False, True])
def test_perturbed_states_return_selection(orthogonal, rng):
    mechanism = compile(random_model(1, "ring", 3))
    status, y, _ = project(mechanism, TIME, nearby(mechanism, mechanism.x_0, rng, 0.01), orthogonal=orthogonal)
    assert status == T.OK and max(residuals(mechanism, TIME, y)) <= TOLERANCE


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("shape", ["chain", "hub", "ring", "planar"])
def test_consistent_states_stay(shape, orthogonal, rng):
    mechanism = mechanism_of(shape)
    _, x, _ = project(mechanism, TIME, nearby(mechanism, mechanism.x_0, rng, 0.01))
    status, y, W = project(mechanism, TIME, x, orthogonal=orthogonal)
    # nothing but another normalisation: one rounding
    assert status == T.OK and np.abs(y - x).max() <= 4e-16 * np.abs(x).max()
    assert count(mechanism, W).newton == 0


def gradient(mechanism, x, a):
    """Gradient of 1/2 |q - a_q|^2 + 1/2 |u - a_u|^2 in (r, theta), (r', w_B / 2), in quasi-displacements."""
    in_q, in_u = np.zeros((mechanism.nb, 6)), np.zeros((mechanism.nb, 6))
    u, v = twist(mechanism, x).reshape(-1, 6), twist(mechanism, a).reshape(-1, 6)
    table = records(mechanism.I, mechanism.I, T.BODY_I)[1:]
    for b, (kind, q, _) in enumerate(table):
        in_q[b, :3], in_u[b, :3] = x[q : q + 3] - a[q : q + 3], (u - v)[b, :3]
        if kind == T.RIGID:
            s, p = x[q + 3], x[q + 4 : q + 7]
            c, d = a[q + 3], a[q + 4 : q + 7]
            in_q[b, 3:] = -0.5 * (s * d - c * p - np.cross(p, d))  # d(1 - theta . a) = -1/2 (H(theta) a) . dphi
            in_u[b, 3:] = 0.25 * (u - v)[b, 3:]
    return in_q.ravel(), in_u.ravel()


def distance(mechanism, x, a):
    """In (r, theta), (r', w_B / 2)."""
    u = (twist(mechanism, x) - twist(mechanism, a)).reshape(-1, 6) * [1, 1, 1, 0.5, 0.5, 0.5]
    return np.hypot(np.linalg.norm(x[: mechanism.nq] - a[: mechanism.nq]), np.linalg.norm(u))


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_orthogonal_projection_is_stationary(shape, seed, rng):
    """The gradient of the distance lies in the span of the rows of both levels: A^T mu + B^T alpha, A^T alpha."""
    mechanism = mechanism_of(shape, seed)
    a = nearby(mechanism, mechanism.x_0, rng, 0.01)
    status, x, _ = project(mechanism, TIME, a, orthogonal=True)
    assert status == T.OK
    A, *_ = rows(mechanism, TIME, x)
    B = velocity_gradient(mechanism, TIME, x)
    span = np.block([[A.T, B.T], [np.zeros_like(A.T), A.T]])
    whole = np.concatenate(gradient(mechanism, x, a))
    multipliers = np.linalg.lstsq(span, -whole, rcond=None)[0]
    # the iteration ends with a step below 1e-9 and contracts linearly
    assert np.abs(whole + span @ multipliers).max() <= 1e-8
    assert np.abs(whole).max() > 1e-4


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_orthogonal_is_nearest(shape, seed, rng):
    """No nearer than the orthogonal projection: not the quasi-orthogonal one, nor projections of its neighbours."""
    mechanism = mechanism_of(shape, seed)
    a = nearby(mechanism, mechanism.x_0, rng, 0.01)
    best = project(mechanism, TIME, a, orthogonal=True)[1]
    least = distance(mechanism, best, a)
    others = [a, *(nearby(mechanism, best, rng, 1e-3) for _ in range(4))]
    for other in others:
        status, x, _ = project(mechanism, TIME, other)
        assert status == T.OK
        # the square of the distance is stationary to 1e-8 (see above), so it can fall by 1e-8 times the step of 1e-2
        assert distance(mechanism, x, a) ** 2 >= least**2 - 1e-10


@pytest.mark.parametrize("name", ["crank_mechanism", "planar_quadrangle", "spatial_four_bar"])
def test_quasi_orthogonal_agrees_to_second_order_at_rest(name, rng):
    """At rest B = d(G u)/dq is small, and both step along G^T: half the distance, a quarter of the difference.

    In motion they differ to first order, because the orthogonal one also moves q to mend the velocities. Of redundant rows the
    same ones act at all distances: others, equally good, have another constant (7.7e-4 or 3.3e-4 of the four-bar).
    """
    mechanism = compile(getattr(gallery, name)())
    chosen = project(mechanism, 0.0, mechanism.x_0)[2]
    direction = rng.standard_normal((2, 6 * mechanism.nb))
    differences = []
    for size in (4e-3, 2e-3, 1e-3):
        a = moved(mechanism, mechanism.x_0, *(size * direction))
        x, y = (project(mechanism, 0.0, a, orthogonal=orthogonal, chosen=chosen)[1] for orthogonal in (False, True))
        differences.append(distance(mechanism, x, y) / size)
    ratios = np.array(differences[:-1]) / differences[1:]
    # 2 per halving, after division by the size; third-order terms of relative size 4e-3 times curvature 10 to 100
    assert (ratios > 1.7).all() and (ratios < 2.4).all()


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_mass_metric_minimises_the_kinetic_energy_of_the_correction(shape, seed, rng):
    mechanism = mechanism_of(shape, seed)
    _, x, _ = project(mechanism, TIME, mechanism.x_0)
    kick = restrict(mechanism, rng.standard_normal(6 * mechanism.nb))
    a = moved(mechanism, x, np.zeros(len(kick)), kick)
    M = mass_matrix(mechanism)
    status, y, _ = project(mechanism, TIME, a, metric=mechanism.I[T.MASS_F])
    assert status == T.OK
    correction = twist(mechanism, y) - twist(mechanism, a)
    euclidean = twist(mechanism, project(mechanism, TIME, a)[1]) - twist(mechanism, a)
    assert correction @ M @ correction < euclidean @ M @ euclidean
    G, *_ = rows(mechanism, TIME, x)
    for _ in range(4):
        v = restrict(mechanism, rng.standard_normal(len(kick)))
        v -= np.linalg.lstsq(G, G @ v, rcond=None)[0]
        other = correction + 0.1 * v
        assert other @ M @ other > correction @ M @ correction
        # orthogonal in the mass metric, up to the solve: cond(S) <= 1e4, correction and v of size 1 to 10
        assert abs(v @ M @ correction) <= 1e-10


def test_metric_of_the_position_correction(rng):
    """To first order dq = -W^-1 G^T (G W^-1 G^T)^-1 g, for both metrics."""
    mechanism = compile(gallery.crank_mechanism())
    a = moved(mechanism, mechanism.x_0, 1e-5 * rng.standard_normal(6 * mechanism.nb))
    for metric in (int(mechanism.I[T.METRIC_F]), int(mechanism.I[T.MASS_F])):
        _, x, _ = project(mechanism, 0.0, a, metric=metric)
        G, g, _, _ = rows(mechanism, 0.0, a)
        inverse = np.linalg.inv(mass_matrix(mechanism, metric))
        step = -inverse @ G.T @ np.linalg.solve(G @ inverse @ G.T, g)
        expected = moved(mechanism, a, step)
        # second order in a step of 1e-4 at most
        assert np.abs(x[: mechanism.nq] - expected[: mechanism.nq]).max() <= 1e-7
        assert np.abs(step).max() > 1e-6


@pytest.mark.parametrize("orthogonal", [False, True])
def test_failure_names_the_worst_row(orthogonal, rng):
    mechanism = compile(gallery.crank_mechanism())
    x = nearby(mechanism, mechanism.x_0, rng, 0.1)
    status, _, W = project(mechanism, 0.0, x, orthogonal=orthogonal, MAX_NEWTON=1)
    assert status == T.NEWTON_FAILED and count(mechanism, W).worst_value > TOLERANCE
    assert 0 <= count(mechanism, W).worst_row < mechanism.m


@pytest.mark.nojit
@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("entry", ["position", "velocity"])
def test_not_a_number_is_never_taken_for_convergence(orthogonal, entry):
    """One row that is not a number, the rows after it zero: the worst of them is still not a number."""
    mechanism = compile(gallery.pendulum_3d())
    x = mechanism.x_0.copy()
    x[0 if entry == "position" else mechanism.nq] = np.nan
    status, _, W = project(mechanism, 0.0, x, orthogonal=orthogonal)
    assert status in (T.NON_FINITE, T.NEWTON_FAILED)
    assert np.isnan(count(mechanism, W).worst_value)


def test_angle_counters_follow_whole_turns():
    model = gallery.crank_mechanism()
    mechanism = compile(model)
    x = mechanism.x_0.copy()
    x[-1] += 4.0 * np.pi + 0.3  # two turns more, and wrong by less than half a turn
    _, y, _ = project(mechanism, 0.0, x)
    assert mechanism.angles[-1][0] == "revolute"
    assert y[-1] - mechanism.x_0[-1] == pytest.approx(4.0 * np.pi, abs=1e-12)  # the projected pose's own rounding


def test_settings_do_not_leak_into_the_mechanism():
    mechanism = compile(gallery.pendulum_3d())
    copy_tables(mechanism, MAX_NEWTON=3)
    assert mechanism.I[T.MAX_NEWTON] == 0
    with pytest.raises(ValueError, match="read-only"):
        mechanism.I[T.MAX_NEWTON] = 1
