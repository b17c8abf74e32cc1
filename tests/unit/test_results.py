"""Saving and loading solutions: every bit of the states, every output, and messages for what cannot be read."""

import json
import os
import re

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import AssemblyError, ModelError, SimulationError, StoreError
from dalembert.io import results
from dalembert.io.store import StoreWriter, read_store, write_store

TIMES = np.linspace(0.0, 1.0, 21)


def sideways(t, r, v, R, w):
    return (0.3 * np.sin(t), 0.0, -0.1 * v[2])


def driven_arm():
    """A hinged arm with a user force, a driven joint beside it, and a point mass on a rod."""
    model = da.Model(name="driven arm")
    arm = model.add_body("arm", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    wheel = model.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0, 2, 0))
    ball = model.add_point_mass("ball", mass=0.5, position=(1, 0, -1))
    model.add_revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("bearing", model.ground, wheel, point=(0, 2, 0), axis=(0, 0, 1))
    model.add_driver("motor", "bearing", da.Polynomial((0.0, 0.0, 1.5)))
    model.add_distance("string", arm, ball, points=((0.5, 0, 0), (0, 0, 0)))
    model.add_force("wind", arm, sideways)
    return model


@pytest.fixture(scope="module")
def slider_crank():
    return da.simulate(gallery.build("slider_crank"), 1.0, save_at=TIMES)


@pytest.fixture(scope="module")
def arm():
    return da.simulate(driven_arm(), 1.0)


@pytest.fixture
def stored(slider_crank, tmp_path):
    path = tmp_path / "run.zarr"
    slider_crank.save(path)
    return path


def check_same(loaded, solution):
    for name in ("t", "x"):
        assert getattr(loaded, name).tobytes() == getattr(solution, name).tobytes()
    for name in ("lam", "acceleration", "g", "g_dot", "energy"):
        assert getattr(loaded.evaluated, name).tobytes() == getattr(solution.evaluated, name).tobytes()
    assert loaded.mechanism.x_0.tobytes() == solution.mechanism.x_0.tobytes()
    assert loaded.mechanism.model.hash == solution.mechanism.model.hash
    for name in ("settings", "statistics", "status", "message", "events", "versions", "citations"):
        assert getattr(loaded, name) == getattr(solution, name)


def test_loading_gives_back_every_bit(slider_crank, stored):
    check_same(da.load(stored), slider_crank)


def test_planar_coordinates_and_events_come_back(tmp_path):
    model = gallery.build("planar_quadrangle")
    event = da.Event(lambda state: state.time - 0.25, name="quarter", stop=True)
    solution = da.simulate(model, 1.0, coordinates="planar", events=event)
    solution.save(tmp_path / "run.zarr")
    loaded = da.load(tmp_path / "run.zarr")
    check_same(loaded, solution)
    assert loaded.status == "event"
    assert loaded.events == (("quarter", pytest.approx(0.25)),)
    assert loaded.mechanism.coordinates == "planar"


def test_streamed_store_equals_saved_one(slider_crank, tmp_path):
    path = tmp_path / "run.zarr"
    solution = da.simulate(gallery.build("slider_crank"), 1.0, save_at=TIMES, out=path)
    check_same(da.load(path), solution)
    assert solution.x.tobytes() == slider_crank.x.tobytes()


def test_dense_output_and_reactions_after_loading(slider_crank, stored):
    loaded = da.load(stored)
    assert loaded.formulation is None
    assert loaded.integrator is None
    assert loaded(0.123).position("rod").tobytes() == slider_crank(0.123).position("rod").tobytes()
    assert loaded.reaction("B").force.tobytes() == slider_crank.reaction("B").force.tobytes()
    assert str(loaded.report()) == str(slider_crank.report())


def test_saving_a_loaded_solution_again(slider_crank, stored, tmp_path):
    da.load(stored).save(tmp_path / "again.zarr")
    check_same(da.load(tmp_path / "again.zarr"), slider_crank)


@pytest.mark.parametrize("streamed", [False, True])
def test_every_output_of_a_model_with_user_functions(arm, tmp_path, streamed):
    path = tmp_path / "run.zarr"
    solution = da.simulate(driven_arm(), 1.0, out=path) if streamed else arm
    if not streamed:
        solution.save(path)
    loaded = da.load(path)
    check_same(loaded, solution)
    assert loaded.energy.total.tobytes() == solution.energy.total.tobytes()
    for name in ("hinge", "motor", "string"):
        assert loaded.reaction(name).force.tobytes() == solution.reaction(name).force.tobytes()
        assert loaded.reaction(name).torque.tobytes() == solution.reaction(name).torque.tobytes()
    assert loaded.report().passed
    with pytest.raises(ModelError, match=r"'wind'.*sideways.*build the model again"):
        loaded(0.5)


def test_crashed_run_with_user_functions_says_what_is_missing(arm, tmp_path):
    path = tmp_path / "run.zarr"
    writer = results.RunWriter(arm.mechanism, arm.settings, path)
    writer.append(arm.t, arm.x)
    writer._flush()
    loaded = da.load(path)
    assert loaded.status == "incomplete"
    assert "killed" in loaded.message
    assert loaded.x.tobytes() == arm.x.tobytes()
    np.testing.assert_array_equal(loaded.coordinate("hinge"), arm.coordinate("hinge"))
    with pytest.raises(ModelError, match="sideways"):
        loaded.reaction("hinge")
    report = loaded.report()
    checks = ["status", "position drift", "velocity drift", "energy balance", "accelerations"]
    assert [line.name for line in report.failures] == checks
    assert "sideways" in report["energy balance"].value


def test_incomplete_store_without_user_functions_gives_everything(slider_crank, tmp_path):
    writer = results.RunWriter(slider_crank.mechanism, slider_crank.settings, tmp_path / "run.zarr")
    writer.append(slider_crank.t[:7], slider_crank.x[:7])
    assert len(da.load(tmp_path / "run.zarr").t) == 0
    writer._flush()
    loaded = da.load(tmp_path / "run.zarr")
    assert loaded.reaction("A").force.tobytes() == slider_crank.reaction("A").force[:7].tobytes()
    assert [line.name for line in loaded.report().failures] == ["status"]


def test_appends_are_gathered(slider_crank, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "_SECONDS_BETWEEN_APPENDS", 60.0)
    monkeypatch.setattr(results, "_VALUES_PER_APPEND", 5 * slider_crank.x.shape[1])
    writer = results.RunWriter(slider_crank.mechanism, slider_crank.settings, tmp_path / "run.zarr")
    committed = []
    for k in range(13):
        writer.append(slider_crank.t[k : k + 1], slider_crank.x[k : k + 1])
        committed.append(len(read_store(tmp_path / "run.zarr")[0]["t"][1]))
    assert committed == [0, 0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10, 10]  # 5 (nx + 1) values, the times included


def test_interrupt_returns_what_was_computed(tmp_path):
    def interrupt(t, t_end):
        if t > 1.0:
            raise KeyboardInterrupt

    path = tmp_path / "run.zarr"
    solution = da.simulate(gallery.build("slider_crank"), 1e6, progress=interrupt, out=path)
    assert solution.status == "interrupted"
    assert "interrupted by the user" in solution.message
    assert solution.t[-1] > 1.0
    assert np.all(np.diff(solution.t) > 0)
    check_same(da.load(path), solution)
    assert [line.name for line in solution.report().failures] == ["status"]


def fail_once(monkeypatch, problem):
    """The first append of a store raises, the way the store does it: the writer is closed afterwards."""
    original, calls = StoreWriter.append, []

    def append(self, blocks):
        calls.append(1)
        if len(calls) == 1:
            self._closed = True
            raise problem
        original(self, blocks)

    monkeypatch.setattr(StoreWriter, "append", append)
    monkeypatch.setattr(results, "_SECONDS_BETWEEN_APPENDS", 0.0)


def test_interrupt_while_writing(tmp_path, monkeypatch):
    fail_once(monkeypatch, KeyboardInterrupt())
    original = results.RunWriter.append
    # t = 0 is written before the loop; a later block is interrupted
    monkeypatch.setattr(results.RunWriter, "append", lambda self, t, *rest: original(self, t, *rest) if t[0] > 0 else None)
    solution = da.simulate(gallery.build("slider_crank"), 5.0, out=tmp_path / "run.zarr")
    assert solution.status == "interrupted"
    check_same(da.load(tmp_path / "run.zarr"), solution)


def test_full_disk_does_not_end_the_run(tmp_path, monkeypatch):
    fail_once(monkeypatch, StoreError("run.zarr: cannot write: No space left on device"))
    with pytest.warns(RuntimeWarning, match=r"No space left.*the run goes on"):
        solution = da.simulate(gallery.build("slider_crank"), 0.5, out=tmp_path / "run.zarr")
    assert solution.status == "complete"
    check_same(da.load(tmp_path / "run.zarr"), solution)


def test_run_that_cannot_be_written_at_its_end_is_attached(tmp_path, monkeypatch):
    def close(self, status, attributes, arrays):
        raise StoreError("run.zarr: cannot write: No space left on device")

    monkeypatch.setattr(StoreWriter, "close", close)
    with pytest.raises(SimulationError, match=r"No space left.*error.solution.save") as caught:
        da.simulate(gallery.build("slider_crank"), 0.5, out=tmp_path / "run.zarr")
    assert caught.value.solution.status == "complete"
    assert caught.value.solution.t[-1] == 0.5


def test_failed_run_is_stored_with_its_message(tmp_path):
    model = driven_arm()
    model.add_force("gust", "arm", lambda t: (np.nan if t > 0.5 else 0.0, 0.0, 0.0))
    with pytest.raises(SimulationError) as caught:
        da.simulate(model, 1.0, out=tmp_path / "run.zarr")
    loaded = da.load(tmp_path / "run.zarr")
    assert loaded.status == "failed"
    assert loaded.message == str(caught.value)
    assert loaded.x.tobytes() == caught.value.solution.x.tobytes()
    status = loaded.report()["status"]
    assert status.verdict == "FAIL"
    assert "gust" in status.value


def not_reached(t, t_end):
    raise AssertionError("the run started")


@pytest.mark.parametrize("where", ["missing/run.zarr", "file/run.zarr", "file"])
def test_unwritable_path_fails_before_the_run(tmp_path, where):
    (tmp_path / "file").write_text("mine")
    path = tmp_path / where
    with pytest.raises(StoreError, match=re.escape(str(path))):
        da.simulate(gallery.build("slider_crank"), 1.0, out=path, progress=not_reached)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission_fails_before_the_run(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="ermission"):
        da.simulate(gallery.build("slider_crank"), 1.0, out=folder / "run.zarr", progress=not_reached)


def test_existing_store_is_replaced_only_when_asked(slider_crank, stored):
    with pytest.raises(StoreError, match=r"already exists.*overwrite=True"):
        slider_crank.save(stored)
    with pytest.raises(StoreError, match="already exists"):
        da.simulate(gallery.build("slider_crank"), 1.0, out=stored, progress=not_reached)
    slider_crank.save(stored, overwrite=True)
    check_same(da.load(stored), slider_crank)
    da.simulate(gallery.build("slider_crank"), 0.1, out=stored, overwrite=True)
    assert da.load(stored).t[-1] == 0.1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: os.truncate(p / "x" / "c" / "0" / "0", 100), "corrupt or truncated: array 'x'"),
        (lambda p: (p / "lam" / "c" / "0" / "0").unlink(), "corrupt or truncated: array 'lam'"),
        (lambda p: (p / "commit" / "zarr.json").write_text("{"), "corrupt or truncated: commit record"),
        (lambda p: (p / "zarr.json").write_text((p / "zarr.json").read_text()[:100]), "damaged"),
        (lambda p: (p / "zarr.json").unlink(), "not a dalembert result"),
    ],
)
def test_damaged_store_is_refused(stored, damage, message):
    damage(stored)
    with pytest.raises(StoreError, match=message) as caught:
        da.load(stored)
    assert str(stored) in str(caught.value)
    assert re.search("copy|again", str(caught.value))


def test_what_is_not_a_store(tmp_path):
    with pytest.raises(StoreError, match="no such path"):
        da.load(tmp_path / "nothing.zarr")
    (tmp_path / "file.zarr").write_text("text")
    with pytest.raises(StoreError, match="is a file"):
        da.load(tmp_path / "file.zarr")
    write_store(tmp_path / "other.zarr", {"t": (("time",), TIMES)}, {})
    with pytest.raises(StoreError, match=r"other.zarr: a result store without a dalembert run.*versions"):
        da.load(tmp_path / "other.zarr")


def rewrite(path, change):
    """The same store after `change(arrays, attributes)`."""
    arrays, attributes, _ = read_store(path)
    change(arrays, attributes)
    write_store(path, arrays, attributes, overwrite=True)


def change_mass(arrays, attributes):
    attributes["model"]["elements"][0]["mass"] = 77.0


def change_class(arrays, attributes):
    attributes["model"]["elements"][0]["class"] = "Blob"


def change_version(arrays, attributes):
    change_mass(arrays, attributes)
    attributes["versions"]["dalembert"] = "0.0.9"


def rename_row(arrays, attributes):
    attributes["rows"][0] = "A.other"


def drop_state(arrays, attributes):
    arrays["x"] = (("time", "state"), arrays["x"][1][:, 1:])


def other_model_version(arrays, attributes):
    attributes["model"]["version"] = 99


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_mass, "does not match its hash; this dalembert, .*, wrote it: the file was changed"),
        (change_version, "does not match its hash; read it with dalembert 0.0.9, which wrote it"),
        (change_class, "does not compile:.*Blob.*this dalembert, .*, wrote it: .*; run it again"),
        (other_model_version, "does not compile:.*version is 99"),
        (rename_row, "other constraint rows"),
        (drop_state, r"array 'x' has shape \(21, 42\); the stored model needs \(21, 43\)"),
    ],
)
def test_store_that_does_not_fit_its_model(stored, change, message):
    rewrite(stored, change)
    with pytest.raises(StoreError, match=message) as caught:
        da.load(stored)
    assert str(stored) in str(caught.value)


def test_model_that_no_longer_compiles(stored, monkeypatch):
    def refuse(model, coordinates, **options):
        raise AssemblyError("joint 'B' cannot close", joints=("B",))

    monkeypatch.setattr(results, "compile", refuse)
    with pytest.raises(StoreError, match=r"run.zarr: the stored model does not compile: joint 'B' .*; this dalembert"):
        da.load(stored)


def test_other_format_version(stored):
    from dalembert.io.record import read_record, write_record

    header = read_record(stored)
    write_record(stored, {**header, "format_version": 99})
    with pytest.raises(StoreError, match="format version 99; this dalembert reads version 2"):
        da.load(stored)


def test_attributes_are_readable_without_dalembert(stored):
    record = json.loads((stored / "zarr.json").read_text())["attributes"]["record"]["attributes"]
    assert record["bodies"] == ["crank", "rod", "slider"]
    assert record["rows"][0] == "A.x"
    assert record["settings"]["integrator"]["type"] == "DOP853"
    assert record["model"]["name"] == "spatial slider-crank, rod A"


def test_steps_between_saved_states_are_stored_for_the_report(slider_crank, arm, stored, tmp_path):
    loaded = da.load(stored)
    assert loaded.steps.x.tobytes() == slider_crank.steps.x.tobytes()
    assert len(loaded.steps.t) > len(loaded.t)
    da.simulate(driven_arm(), 1.0, save_at=[0.0, 1.0], out=tmp_path / "arm.zarr")
    assert da.load(tmp_path / "arm.zarr").report().passed  # forces that a file cannot hold: its states only
