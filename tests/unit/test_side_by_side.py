"""Runs side by side in lanes: the arithmetic of one run to the last bit, steps that suit all, failures that stay alone."""

from dataclasses import replace

import numpy as np
import pytest
from random_mechanisms import add_forces, add_joint, add_random_body

import dalembert as da
from dalembert import gallery
from dalembert.compilation.tree import TREE_JOINTS
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.base.views import System
from dalembert.run import side_by_side

pytestmark = pytest.mark.skipif(not JIT, reason="lanes are compiled code")
MOVING = da.MovingFrame()


def tree(forces):
    """A body on every joint type that a tree can have, on the one before it or on ground."""
    rng = np.random.default_rng(5)
    model = da.Model((0.5, -1.0, -9.0))
    bodies, joints = [model.ground], []
    for k, kind in enumerate(sorted(TREE_JOINTS)):
        bodies.append(add_random_body(model, rng, f"body {k}", (0.8 * k, 0.0, 0.0)))
        joints.append(add_joint(model, rng, kind, f"joint {k}", bodies[0 if k == 4 else -2], bodies[-1]))
    if forces:
        add_forces(model, rng, joints)
    add_random_body(model, rng, "free")
    return da.compile(model)


def starts(mechanism, count):
    """States along a run: consistent, and all different."""
    s = da.simulate(mechanism, 2.0, save_at=np.linspace(0.0, 2.0, count))
    return np.hstack([s.q, s.u])


@pytest.fixture(scope="module")
def chain():
    mechanism = da.compile(gallery.chain(4))
    return mechanism, starts(mechanism, 67)


def both(monkeypatch, model, t_end, formulation=MOVING, **options):
    """The same runs in lanes and one by one."""
    lanes = da.simulate_many(model, t_end, formulation=formulation, **options)
    with monkeypatch.context() as patch:
        patch.setattr(side_by_side, "ENOUGH", 10**9)
        return lanes, da.simulate_many(model, t_end, formulation=formulation, **options)


def loop():
    """A closed chain, its cut joint included, with a spring."""
    model = gallery.slider_crank()
    model.add_spring_damper("spring", "crank", "slider", stiffness=2.0, damping=0.1)
    return da.compile(model)


@pytest.mark.parametrize("kind", ["tree", "tree with forces", "loop", "bodies"])
def test_slot_gives_every_lane_what_it_gives_one_run(kind):
    closed = kind in ("loop", "bodies")
    run = (da.Jet() if kind == "bodies" else MOVING).prepare(loop() if closed else tree(kind == "tree with forces"))
    group = side_by_side.group_of(run, run.F[None], da.DOP853(), 1000)
    assert (run.I[T.M] > 0) == closed and (run.I[T.NFORCE] > 20) == (kind == "tree with forces")
    rng = np.random.default_rng(2)
    F = run.F * rng.uniform(1.0, 1.0001 if closed else 1.1, (group.lanes, len(run.F)))  # every number in every lane
    (together_F,), _ = side_by_side.tables(F[None], np.tile(run.W, (1, group.lanes, 1)))
    group = replace(group, F=together_F)
    aside = {"loop": 0.01, "bodies": 0.02}.get(kind, 0.1)
    x = run.from_absolute(run.mechanism.x_0) + aside * rng.standard_normal((group.lanes, run.state_size))
    together = group.gather(x)[0]
    rates, rate = np.zeros(group.state_size), np.zeros((group.lanes, run.state_size))
    assert rates.size == group.lanes * run.state_size
    for mode in (T.RATE, T.PROJECT):
        assert group.system(mode, 0.3, together, rates, group.view) == T.OK
        for lane in range(group.lanes):
            status = run.system(mode, 0.3, x[lane], rate[lane], System(run.I, F[lane], run.W))
            assert status == T.OK
        result = (rates, rate) if mode == T.RATE else (together, x)
        for lane in range(group.lanes):
            assert np.array_equal(group.lane(result[0], lane), result[1][lane])
        assert np.ptp(result[1], axis=0).max() > 0.05  # lanes that are all alike would show nothing
    assert group.view.count.rhs == 1 and run.view.count.rhs == group.lanes


def test_a_lane_that_is_not_finite_is_noticed():
    run = MOVING.prepare(da.compile(gallery.chain(2)))
    group = side_by_side.group_of(run, run.F[None], da.DOP853(), 1000)
    for lane in range(group.lanes):
        x = np.repeat(run.from_absolute(run.mechanism.x_0), group.lanes)
        x[group.lanes * int(run.I[T.NQ]) + lane] = np.nan
        assert group.system(T.RATE, 0.0, x, np.zeros_like(x), group.view) == T.NON_FINITE


def test_equal_steps_give_equal_bits(monkeypatch, chain):
    """Also at times between steps, and in the three runs left over."""
    options = {"integrator": da.RungeKutta4(step=0.01), "save_at": np.linspace(0.0, 0.5, 8)}
    lanes, alone = both(monkeypatch, chain[0], 0.5, initial_states=chain[1], **options)
    for one, other in zip(lanes, alone, strict=True):
        assert np.array_equal(one.x, other.x)
        assert one.statistics == other.statistics


def test_variants_with_equal_steps_give_equal_bits(monkeypatch):
    """Masses and lengths by run; one that cannot be made fails alone, the others close ranks."""

    def pendulums(mass, length):
        model = da.Model()
        previous = model.ground
        for k in range(2):
            rod = model.add_body(f"rod {k}", mass=mass, inertia=(mass, mass, 0.1 * mass), position=(length * (k + 0.5), 0, 0))
            model.add_revolute(f"hinge {k}", previous, rod, point=(length * k, 0, 0), axis=(0, 1, k))
            previous = rod
        model.add_spring_damper(
            "spring", model.ground, previous, stiffness=30.0 * length, length=0.1, points=((0, 0, 1), (0, 0, 0))
        )
        return model

    count = 67
    parameters = {"mass": np.linspace(1.0, 3.0, count), "length": np.linspace(0.5, 1.5, count) ** 2}
    parameters["mass"][5] = -1.0
    options = {"parameters": parameters, "integrator": da.RungeKutta4(step=0.01), "save_at": [0.25, 0.5]}
    with pytest.warns(RuntimeWarning, match="1 of 67 runs could not start"):
        lanes, alone = both(monkeypatch, pendulums, 0.5, **options)
    assert lanes.failed.tolist() == alone.failed.tolist() == [5] and lanes.message == alone.message
    rest = [k for k in range(count) if k != 5]
    for k in rest:
        assert np.array_equal(lanes[k].x, alone[k].x) and lanes[k].statistics == alone[k].statistics
    assert np.ptp([lanes[k].x[-1] for k in rest], axis=0).max() > 0.1
    one = da.simulate(pendulums(2.0, 1.0), 0.5, formulation=MOVING, integrator=da.RungeKutta4(step=0.01), save_at=[0.5])
    assert np.array_equal(one.x[-1], lanes[33].x[-1])


@pytest.mark.parametrize("formulation", [MOVING, da.Jet()], ids=["moving-frame", "jet"])
def test_loops_with_equal_steps_give_equal_bits(monkeypatch, formulation):
    """Rates in lanes, Newton's method and the watch over rows run by run: states, counters and smallest pivots are the same."""
    mechanism = loop()
    options = {"integrator": da.RungeKutta4(step=0.004), "save_at": [0.05, 0.1010]}
    lanes, alone = both(monkeypatch, mechanism, 0.2, formulation, initial_states=starts(mechanism, 66), **options)
    of_the_group = dict.fromkeys(("largest_projection", "largest_projection_share", "largest_projection_at"), 0.0)
    for one, other in zip(lanes, alone, strict=True):
        assert np.array_equal(one.x, other.x)
        assert replace(one.statistics, **of_the_group) == replace(other.statistics, **of_the_group)
        assert one.statistics.largest_projection_share >= other.statistics.largest_projection_share
    pivots = np.array([one.statistics.smallest_pivot for one in lanes])
    assert np.ptp(pivots[:4]) > 0.0


def test_runs_that_break_at_other_times_share_no_steps():
    run = MOVING.prepare(da.compile(gallery.chain(2)))
    I = run.I.copy()
    I[T.STOP_F], I[T.NSTOP] = len(run.F), 1
    alike = np.tile(np.append(run.F, 0.3), (64, 1))
    other = alike.copy()
    other[7, -1] = 0.4
    stopped = replace(run, I=I, F=alike[0])
    assert side_by_side.group_of(stopped, alike, da.DOP853(), 64) is not None
    assert side_by_side.group_of(stopped, other, da.DOP853(), 64) is None


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8])
def test_shared_steps_suit_every_run(monkeypatch, chain, tolerance):
    """Errors against tight runs are no larger than those of runs that choose their steps alone."""
    mechanism, states = chain
    options = {"initial_states": states, "save_at": np.linspace(0.0, 5.0, 7)}
    lanes, alone = both(monkeypatch, mechanism, 5.0, integrator=da.DOP853(rtol=tolerance, atol=tolerance), **options)
    _, exact = both(monkeypatch, mechanism, 5.0, integrator=da.DOP853(rtol=1e-12, atol=1e-12), **options)
    tip = exact.position("rod 4")
    errors = [np.abs(ensemble.position("rod 4") - tip).max(axis=(1, 2)) for ensemble in (lanes, alone)]
    assert np.median(errors[0]) < np.median(errors[1]) < tolerance
    assert errors[0].max() < errors[1].max()
    steps = [np.array([s.statistics.accepted for s in ensemble]) for ensemble in (lanes, alone)]
    assert (steps[0][:64].reshape(-1, 4) == steps[0][:64:4, None]).all()
    assert (steps[0][64:] == steps[1][64:]).all()
    assert np.mean(steps[1]) < np.mean(steps[0][:64]) < 1.25 * np.mean(steps[1])
    assert all(s.report().passed for s in lanes)


def test_failures_stay_alone(monkeypatch, chain):
    mechanism, states = chain[0], chain[1].copy()
    states[5, mechanism.nq + 3 :] = 1e200
    with pytest.warns(RuntimeWarning, match="moved"):
        lanes, alone = both(monkeypatch, mechanism, 1.0, initial_states=states)
    assert lanes.failed.tolist() == alone.failed.tolist() == [5]
    assert lanes.message == alone.message
    for k in (4, 6, 7, 64, 65, 66):  # its neighbours are run one by one, like those left over
        assert np.array_equal(lanes[k].x, alone[k].x)
    assert not np.array_equal(lanes[8].x, alone[8].x)


def test_threads_change_no_bit(chain):
    mechanism, states = chain
    one, three = (
        da.simulate_many(mechanism, 1.0, initial_states=states, formulation=MOVING, threads=threads) for threads in (1, 3)
    )
    for k in range(len(states)):
        assert np.array_equal(one[k].x, three[k].x)
        assert one[k].statistics == three[k].statistics


def test_interruption(chain):
    def stop(done, total):
        raise KeyboardInterrupt

    many = da.simulate_many(chain[0], 1e5, initial_states=chain[1], formulation=MOVING, progress=stop)
    assert set(many.status) == {"interrupted"}


def test_progress_counts_runs(chain):
    seen = []
    da.simulate_many(
        chain[0], 0.1, initial_states=chain[1], formulation=MOVING, progress=lambda done, total: seen.append((done, total))
    )
    assert (64, 64) in seen and seen[-1] == (67, 67)


def test_what_cannot_go_side_by_side():
    def group_of(model, formulation=MOVING, integrator=None, count=64):
        run = formulation.prepare(da.compile(model))
        return side_by_side.group_of(run, run.F[None], integrator or da.DOP853(), count)

    chain = gallery.chain(2)
    assert group_of(chain) is not None
    assert group_of(chain, integrator=da.RungeKutta4(step=0.1)) is not None
    assert group_of(chain, count=63) is None
    assert group_of(chain, integrator=da.GaussLegendre(stages=2)) is None
    assert group_of(chain, da.Jet()) is not None
    assert group_of(chain, da.Jet(projection="orthogonal")) is None
    assert group_of(chain, da.Jet(solver="cg")) is None
    assert group_of(chain, da.MovingFrame(path="reference")) is None
    assert group_of(chain, da.MovingFrame(invariants="energy")) is None
    assert group_of(gallery.build("four_bar")) is None  # redundant rows
    driven = gallery.slider_crank()
    driven.add_driver("motor", driven.joints[0].name, 6.0)
    assert group_of(driven) is None
    chain.add_force("push", "rod 1", lambda t, r, v, R, w: (t, 0.0, 0.0))
    assert group_of(chain) is None


def test_arithmetic_of_lanes():
    """Every operation against NumPy, lane by lane; numbers on either side; comparisons of all lanes."""
    import numba

    from dalembert.kernels.base.compiler import _ALL
    from dalembert.kernels.base.lanes import COUNT, as_lanes

    @numba.njit(**_ALL)
    def calculate(given, first, out, answers):
        x, y = as_lanes(given, first), as_lanes(out, 0)
        a, b = x[0], x[1]
        y[0], y[1], y[2], y[3] = a + b, a - b, a * b, a / b
        y[4], y[5], y[6], y[7] = 2.0 + a, a - 3, 2 * a, 1.0 / a
        y[8], y[9], y[10], y[11] = -a, abs(a), np.sqrt(b), np.floor(a)
        y[12], y[13], y[14], y[15] = np.sin(a), np.cos(a), np.arctan2(a, b), 7
        total = 0.0
        for i in range(x.size):
            total += x[i]
        y[16] = total
        y[17] += a
        answers[0], answers[1], answers[2] = a < b, a <= b, a == b
        answers[3], answers[4], answers[5] = a > b, a >= b, a != b

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(COUNT), rng.uniform(3.0, 4.0, COUNT)
    one = np.ones(COUNT)
    expected = [
        *(a + b, a - b, a * b, a / b, 2.0 + a, a - 3, 2 * a, 1.0 / a, -a, abs(a), np.sqrt(b), np.floor(a)),
        *(np.sin(a), np.cos(a), np.arctan2(a, b), 7 * one, 0.0 + a + b, one + a),
    ]
    out, answers = np.ones((18, COUNT)), np.zeros(6, dtype=bool)
    cases = {(): [1, 1, 0, 0, 0, 1], (1,): [0, 0, 0, 1, 1, 1], tuple(range(COUNT)): [0, 0, 0, 1, 1, 1]}
    for larger, truth in cases.items():  # lanes in which a > b
        other = b.copy()
        other[list(larger)] = -5.0
        calculate(np.concatenate([[np.nan], a, other]), 1, out.reshape(-1), answers)
        assert answers.tolist() == [bool(value) for value in truth]
    calculate(np.concatenate([[np.nan], a, a]), 1, out.reshape(-1), answers)
    assert answers.tolist() == [False, True, True, False, True, False]
    calculate(np.concatenate([[np.nan], a, [np.nan], b[1:]]), 1, out.reshape(-1), answers)
    assert answers.tolist() == [False, False, False, False, False, True]
    out[17] = 1.0
    calculate(np.concatenate([[np.nan], a, b]), 1, out.reshape(-1), answers)
    np.testing.assert_allclose(out, expected, rtol=4e-16, atol=0)


def test_groups_gather_runs():
    run = MOVING.prepare(da.compile(gallery.chain(2)))
    group = side_by_side.group_of(run, run.F[None], da.DOP853(), 64)
    x = np.arange(10.0 * 3).reshape(10, 3)
    together = group.gather(x)
    assert together[1, :5].tolist() == [12.0, 15.0, 18.0, 21.0, 13.0]
    for k in range(group.lanes):
        assert np.array_equal(group.lane(together, k), x[[k, k + 4]])
        assert np.array_equal(group.lane(np.stack([together, together + 1], axis=1), k)[:, 1], x[[k, k + 4]] + 1)
