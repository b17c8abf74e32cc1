"""A mechanism keeps what formulations prepared for it: further runs are the same to the bit, and see functions that changed."""

import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.formulations.base import prepared

PUSH = 1.0


def pendulum():
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0.5, 0, 0))
    model.add_revolute("pin", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def push(t, r, v, R, w):
    return np.array([PUSH, 0.0, 0.0])


@pytest.mark.parametrize(
    "options",
    [
        {"formulation": da.Jet()},
        {"formulation": da.MovingFrame()},
        {"formulation": da.Minimal()},
        {"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=0.01)},
        {"formulation": da.Variational(), "integrator": da.FixedStep(step=0.01)},
        {"formulation": da.Jet(invariants="energy"), "integrator": da.GaussLegendre(2)},
    ],
    ids=lambda given: type(given["formulation"]).__name__ + str(bool(getattr(given["formulation"], "invariants", None))),
)
def test_further_runs_are_the_same(options):
    mechanism = da.compile(pendulum())
    first, second, third = (da.simulate(mechanism, 0.5, **options) for _ in range(3))
    fresh = da.simulate(pendulum(), 0.5, **options)
    for run in (second, third, fresh):
        assert np.array_equal(run.x, first.x) and replace(run.statistics, time={}) == replace(first.statistics, time={})
    assert [formulation for formulation, _ in mechanism.prepared] == [options["formulation"]]


def test_runs_have_workspaces_of_their_own():
    mechanism = da.compile(pendulum())
    one, other = (prepared(da.Jet(), mechanism) for _ in range(2))
    assert one.I is other.I and one.W is not other.W and np.array_equal(one.W, other.W)
    assert one.view.W is one.W and other.view.W is other.W


def test_threads_share_a_mechanism():
    mechanism, found = da.compile(pendulum()), []
    expected = da.simulate(mechanism, 0.5).x
    threads = [threading.Thread(target=lambda: found.append(da.simulate(mechanism, 0.5).x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(x, expected) for x in found)


def test_changed_functions_are_seen(monkeypatch):
    model = pendulum()
    model.add_force("push", "arm", push)
    mechanism = da.compile(model)
    before = da.simulate(mechanism, 0.2).x[-1]
    assert np.array_equal(da.simulate(mechanism, 0.2).x[-1], before)
    monkeypatch.setitem(globals(), "PUSH", 5.0)
    after = da.simulate(mechanism, 0.2).x[-1]
    assert np.array_equal(after, da.simulate(model, 0.2).x[-1]) and not np.array_equal(after, before)


def test_changed_options_are_seen():
    mechanism, stiffness, fixed = da.compile(pendulum()), {"default": 1e6}, da.RungeKutta4(step=1e-3)
    formulation = da.Soft(stiffness=stiffness)
    stiff = da.simulate(mechanism, 0.1, formulation=formulation, integrator=fixed).drift.position.max()
    formulation.stiffness["default"] = 1e4
    soft = da.simulate(mechanism, 0.1, formulation=formulation, integrator=fixed).drift.position.max()
    assert soft > 10 * stiff


def test_few_are_kept_and_none_is_written():
    mechanism = da.compile(pendulum())
    for tolerance in (1e-9, 1e-10, 1e-11, 1e-12, 1e-13):
        solution = da.simulate(mechanism, 0.1, formulation=da.Jet(tolerance=tolerance), save_at=[0.1])
    assert len(mechanism.prepared) == 3
    copy = pickle.loads(pickle.dumps(solution))
    assert "prepared" not in copy.mechanism.__dict__ and np.array_equal(copy.x, solution.x)
    assert np.array_equal(copy.steps.x, solution.steps.x) and len(copy.steps.t) > 2
