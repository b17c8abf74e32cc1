"""Parts of the sources that mutations are held against by themselves: what they say to a few numbers. Uncompiled."""

from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.pack_motions import breakpoints, motion_rates, stops_between
from dalembert.compilation.rows import move
from dalembert.compilation.topology import spanning_forest
from dalembert.compilation.writer import Writer
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.base.dense import factor_general, solve_general
from dalembert.kernels.base.layout import COUNTERS
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.formulations import derivatives
from dalembert.kernels.formulations.newton import restore
from dalembert.kernels.time import own_steps, tangents, watch
from dalembert.model.motions import Function

pytestmark = [pytest.mark.nojit, pytest.mark.skipif(JIT, reason="kernels as plain Python are enough")]


def test_bodies_around_an_edge():
    """Of two bodies the loop, of three all ways to the root."""
    forest = spanning_forest(6, [(0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6)])
    assert set(forest.around((4, 5))) == {4, 5} and set(forest.around((5, 6))) == {5, 2, 6, 3}
    assert set(forest.around((4, 5, 2))) == {4, 5, 2, 1}


def test_redundant_equations():
    """The third is the sum of the others: one unknown is zero, all equations hold; NaN where none may vanish."""
    A, c = np.array([[2.0, 1, 0], [1, 3, 1], [3, 4, 1]]), np.array([1.0, 2, 3])
    for null in (1, 0):
        factors, x = A.copy().ravel(), c.copy()
        pivots = Numbers(np.zeros(6), 0)
        factor_general(Numbers(factors, 0), 3, null, pivots)
        solve_general(Numbers(factors, 0), 3, pivots, Numbers(x, 0))
        if null == 1:
            np.testing.assert_allclose(A @ x, c, rtol=0, atol=1e-14)
            assert np.count_nonzero(x) == 2
        else:
            assert np.isnan(x).any()


def test_breakpoints_of_a_product():
    """Those of its factors, whatever else the tables hold: here a header that reads like smooth steps."""
    out = Writer({})
    out.I, out.F = [T.SMOOTH_STEP] * 6, [7.0] * 9
    at = out.motion(da.Harmonic(0.1, 2.0) * da.SmoothStep(0.0, 1.0, 0.1, 0.3))
    assert breakpoints(out.I, out.F, [at])[0] == pytest.approx([0.1, 0.2, 0.3])


def test_breakpoints_that_come_again():
    """Once at 0.25, and from 0.1 on (before, too) every 0.2."""
    I, F = np.zeros(T.HEADER_I, dtype=np.int64), np.array([0.25, 0.1, 0.2])
    I[T.NSTOP], I[T.NAGAIN], I[T.STOP_F] = 1, 1, 0
    np.testing.assert_allclose(stops_between(I, F, -0.2, 0.5), [-0.1, 0.1, 0.25, 0.3], rtol=0, atol=1e-15)
    np.testing.assert_allclose(stops_between(I, F, 0.2, 0.8), [0.25, 0.3, 0.5, 0.7], rtol=0, atol=1e-15)


def test_rates_of_a_function_of_time():
    s, c = np.sin(0.6), np.cos(0.6)
    np.testing.assert_allclose(motion_rates(Function(lambda t: np.sin(3 * t)), 0.2), [[s, 3 * c, -9 * s]], rtol=1e-14)
    with pytest.raises(da.ModelError, match="returned 2 numbers"):
        motion_rates(Function(lambda t: np.array([t, t])), 0.2)


@pytest.mark.parametrize(
    ("begins", "force", "place", "shorter"),
    [(0.52, 1.0, 0.0, 0.5), (0.02, 1.0, 0.0, 0.05), (2.0, 1.0, 0.0, 0.0), (0.52, 0.005, 1e3, 0.0), (0.52, 0.02, 1e3, 0.5)],
)
def test_step_that_passes_a_force_is_gone_back_to(monkeypatch, begins, force, place, shorter):
    """Ten looks into a step of 1 s at rest: it ends at the last one before the force, at half of the first, or as it is, also
    where what the force does in a tenth of the step is below a thousand times 1e-9 + 1e-9 |x|."""

    def equations(mode, t, x, dx, system):
        dx[0] = force if t > begins else 0.0
        return T.OK

    monkeypatch.setattr(watch, "equations", equations)
    steps = SimpleNamespace(x=np.full(1, place), dense=np.zeros((4, 1)), t=0.0, h=1.0, stages=np.zeros((2, 1)), free=1, n=1)
    steps.look, steps.atol, steps.rtol, steps.e = 0.1, 1e-9, 1e-9, np.zeros((0, 0))  # no error estimate has seen anything
    assert watch.look_between(steps, None) == pytest.approx(shorter)


def test_before_a_break():
    """At 0.25, at 0.1 + 0.2 k and at 0.5 + k a moment earlier, else as it is."""
    system = SimpleNamespace(stops=np.array([0.25, 0.1, 0.2, 0.5, 1.0]), nstop=1, nagain=2)
    for t, there in ((0.25, True), (0.1 + 0.2 * 3, True), (1.5, True), (0.2, False), (1.0, False), (1.25, False)):
        found = tangents.before_break(t, system)
        assert (found < t) == there and found == pytest.approx(t, rel=1e-14), t


@pytest.mark.parametrize("nchoice", [0, 1])
@pytest.mark.parametrize("t", [0.2, 0.25])
@pytest.mark.parametrize("mode", [T.RATE, T.PROJECT, T.CORRECT])
def test_derivatives_ride_along(monkeypatch, mode, t, nchoice):
    """x' = (p + c) x, or x <- (p + c) x, with c one more from 0.25 on: values at t, derivatives p' x + p x' + c x' before it.

    Two blocks of two parameters. Two numbers of the workspace count calls; only the first is carried on without choices.
    """
    n, count, blocks, calls = 3, 2, 2, []

    def seam(mode, t, x, dx, system):
        calls.append((x.ndim, t))
        c = 1.0 if t >= 0.25 else 0.0
        system.W[1 + COUNTERS.width - 1] += 1.0 if x.ndim == 1 else np.eye(1 + count)[0]
        system.W[0] += 1.0 if x.ndim == 1 else np.eye(1 + count)[0]
        p, out = system.F[1], x if mode != T.RATE else dx
        if x.ndim == 1:
            out[:] = (p + c) * x
        else:
            out[:] = (p[0] + c) * x + np.outer(x[:, 0], np.append(0.0, p[1:]))
        return T.OK

    def as_duals(a, count):
        return a[: a.size // (1 + count) * (1 + count)].reshape(-1, 1 + count)

    monkeypatch.setattr(tangents, "System", lambda I, F, W: SimpleNamespace(I=I, F=F, W=W))
    rng, own = np.random.default_rng(1), COUNTERS.width + 2
    x_0, dx_0, p, dp = rng.random(n), rng.random((blocks, n, count)), 0.7, rng.random((blocks, count))
    F, W = [np.array([9.0, p])], [np.zeros(own)]
    for b in range(blocks):
        F.append(np.array([[9.0, 0, 0], [p, *dp[b]]]).ravel())
        W.append(np.full(own * (1 + count), 50.0))
    F, W = np.concatenate([*F, [T.HEADER_I, n]]), np.concatenate(W)
    I = np.zeros((2 + blocks) * T.HEADER_I, dtype=np.int64)
    I[T.W_STAT] = 1
    system = SimpleNamespace(I=I, F=F, W=W, f_size=len(F), w_size=len(W), nchoice=nchoice)
    system.stops, system.nstop, system.nagain = np.array([0.25]), 1, 0
    x, dx = np.zeros((2, n * (1 + blocks * (1 + count))))
    x[:n], x[n:].reshape(blocks, n, 1 + count)[:, :, 1:] = x_0, dx_0
    monkeypatch.setattr(tangents, "ask", seam)
    monkeypatch.setattr(tangents, "as_duals", as_duals, raising=False)
    assert tangents.carry(count, mode, t, x, dx, system) == T.OK
    found = x if mode != T.RATE else dx
    np.testing.assert_allclose(found[:n], (p + (t >= 0.25)) * x_0, rtol=1e-14)
    expected = p * dx_0 + x_0[:, None] * dp[:, None, :]
    np.testing.assert_allclose(found[n:].reshape(blocks, n, 1 + count)[:, :, 1:], expected, rtol=1e-14)
    last = mode != T.RATE or t == 0.25
    assert [kind for kind, _ in calls] == [2, 2, 1][: 2 + last]
    assert all((at < 0.25) if kind == 2 else (at == t) for kind, at in calls)
    counted = last + (0 if mode != T.RATE else blocks)
    assert W[COUNTERS.width] == counted and W[0] == (counted if nchoice else last)


def test_factors_are_kept_where_newton_gains_twenty_times():
    """x^2 = 2 from 3 on: the slope is taken anew where |x^2 - 2| is left above 5 %, then kept."""
    slope, taken = [], []
    count = SimpleNamespace(project=0.0, newton=0.0, newton_max=0.0)
    system = SimpleNamespace(count=count, rhs=np.zeros(1), tol_position=1e-13, tol_velocity=1e-13, max_newton=20)

    def locate(level, iteration, t, x, dx, system):
        system.rhs[0] = 2.0 - x[0] ** 2 if level == 0 else 0.0
        return 1

    def factor(level, x, system):
        taken.append(float(x[0]))
        slope[:] = [2.0 * x[0]]

    def correct(level, x, system):
        x[0] += system.rhs[0] / slope[0]

    x = np.array([3.0])
    assert restore(locate, factor, correct, lambda *_: 0.0, True, True, 0.0, x, x, system) == (T.OK, True)
    once = 3 - 7 / 6
    assert taken == pytest.approx([3.0, once, once - (once**2 - 2) / (2 * once)], rel=1e-14)
    assert x[0] == pytest.approx(np.sqrt(2), rel=1e-13) and count.newton == count.newton_max and count.project == 1


def test_families_of_models_are_moved_by_their_own_code():
    told = []
    quick = SimpleNamespace(move=lambda *given: told.append(given))
    move(SimpleNamespace(quick=quick, F="F"), "x", "dq", "du")
    assert told == [("F", "x", "dq", "du")]


@pytest.mark.parametrize("share", [0.0, 1.0, 0.5])
def test_what_rates_explain_of_a_step(share):
    """Rates of its start, of its end or their mean, but for 0.01 in one coordinate."""
    h, old, new = 0.1, np.array([1.0, -2.0, 0.5]), np.array([3.0, -1.0, 2.5])
    d = h * ((1 - share) * old + share * new) + np.array([0, 0, 0.01])
    x = np.array([0.3, 0.2, 0.1])
    steps = SimpleNamespace(x=x, y=x + d, h=h)
    own_steps.explain(old, new, steps, SimpleNamespace(nq=3))
    assert (steps.moved, steps.change) == pytest.approx((0.01, np.abs(d).max()), rel=1e-12)


def test_columns_of_a_jacobian(monkeypatch):
    """x' = t B x + w and x_0 t in the workspace: t B by columns, more than are found at once, and by time B x."""
    size, n, t = derivatives.SIZE, derivatives.COUNT + 2, 0.7

    def equations(mode, t, x, dx, system):
        y = B @ x
        dx[:] = t[0] * y + np.outer(y[:, 0], np.append(0.0, t[1:])) + system.W[0]
        system.W[1] = t[0] * x[0] + x[0, 0] * np.append(0.0, t[1:])
        return T.OK

    monkeypatch.setattr(derivatives, "equations", equations)
    monkeypatch.setattr(derivatives, "as_duals", lambda a, count: a.reshape(-1, size))
    monkeypatch.setattr(derivatives, "System", lambda I, F, W: SimpleNamespace(W=W))
    rng = np.random.default_rng(2)
    B, x, columns = rng.random((n, n)), rng.random(n), np.array([n, *range(n)])
    rate, out, system = np.zeros(n), np.zeros((n + 1, n + 1)), SimpleNamespace(I=None, F=None, W=np.full(2 * size, 5.0))
    work, W = np.full((2 * n + 1) * size, 5.0), np.array([0.3, 0.0])
    assert derivatives.rate_columns(t, x, columns, np.array([1]), W, rate, out, work, system) == T.OK
    np.testing.assert_allclose(rate, t * B @ x + 0.3, rtol=1e-14)
    np.testing.assert_allclose(out[:, :n], [B @ x, *t * B.T], rtol=1e-14)
    np.testing.assert_allclose(out[:, n], [x[0], t, *[0.0] * (n - 1)], rtol=1e-14)
