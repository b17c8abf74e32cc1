"""Sweeps: blocks that are stored leave nothing in memory, and how runs ended is read without their starts."""

import gc

import numpy as np
import pytest

import dalembert as da
from dalembert.io.sweep_store import SweepStore

pytestmark = pytest.mark.nojit
T_END = 0.01


def pendulum(length):
    """One that cannot be built at length 9."""
    model = da.Model(name="pendulum")
    model.add_body("rod", **da.rod(1.0, length if length < 9.0 else -1.0, axis="x").body(), position=(length / 2, 0, 0))
    model.add_revolute("pivot", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def lengths(*failing):
    values = np.linspace(0.5, 1.5, 12)
    values[list(failing)] = 9.0
    return {"model": pendulum, "parameters": {"length": values}}


def starts():
    model = pendulum(1.0)
    base = da.simulate(model, T_END)
    return {"model": model, "initial_states": np.tile(np.concatenate([base.q[0], base.u[0]]), (12, 1))}


@pytest.fixture
def left():
    """What a function leaves behind for the collector of Python, of our kinds, but not what was there before the test."""
    gc.freeze()  # all other tests' objects: a second of each look at them

    def look(function):
        gc.collect()
        gc.disable()
        try:
            function()
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
            return {type(found).__name__ for found in gc.garbage if type(found).__module__.startswith("dalembert.")}
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()

    yield look
    gc.unfreeze()


@pytest.mark.parametrize("outputs", [None, ["pivot"]])
@pytest.mark.parametrize("given", [lengths, lambda: lengths(4, 5, 6, 7, 9), starts], ids=["lengths", "failing", "starts"])
def test_runs_are_gone_when_their_block_is_stored(tmp_path, left, given, outputs):
    """The collector counts objects: some hundred that hold each other keep megabytes, in every process."""

    what = {"t_end": T_END, "save_at": [T_END], "outputs": outputs, "block": 4, "progress": False, **given()}

    def sweep(name):
        da.simulate_many(out=tmp_path / name, **what)

    sweep("first.zarr")  # what is kept for the next sweep is made here
    assert left(lambda: sweep("second.zarr")) == set()


def test_how_runs_ended_is_told_without_reading_their_starts(tmp_path, monkeypatch):
    found = da.simulate_many(t_end=T_END, block=5, out=tmp_path / "s.zarr", progress=False, **starts())
    (found.path / "blocks" / "1.json").unlink()
    monkeypatch.setattr(SweepStore, "columns", lambda self: pytest.fail("reads all starts"))
    assert found.status.tolist() == ["complete"] * 5 + ["missing"] * 5 + ["complete"] * 2
    assert "7 complete" in repr(found)
