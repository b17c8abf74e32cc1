"""Sweeps: every run is that of simulate_many, a store goes on where it was, and what is wrong gets one message."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dalembert as da
from dalembert.io.sweep_store import SweepStore
from dalembert.simulation import ensemble_variants
from dalembert.simulation.sweep import _fingerprint
from dalembert.simulation.sweep_drive import Crew

pytestmark = pytest.mark.nojit
T_END, TIMES = 0.04, [0.02, 0.03, 0.04]
GRID = da.grid(length=[0.5, 1.0, 1.5], mass=[1.0, 2.0])


def pendulum(length, mass=1.0):
    """One that cannot be built at all at length 9, one whose function breaks at length 8."""
    if length == 8.0:
        raise ZeroDivisionError("of the user")
    model = da.Model(name="pendulum")
    model.add_body(
        "rod", **da.rod(mass, length if length < 9.0 else -1.0, axis="x", radius=0.01).body(), position=(length / 2, 0, 0)
    )
    model.add_revolute("pivot", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def fastest(solution):
    """One number of a run."""
    return np.abs(solution.coordinate_rate("pivot")).max()


OUTPUTS = ["rod.x", "pivot", "total_energy", fastest]


def sweep(path, parameters=GRID, **options):
    return da.simulate_many(
        pendulum, T_END, **{"save_at": TIMES, "outputs": OUTPUTS, "block": 2, "parameters": parameters, "out": path, **options}
    )


def files(path):
    """Every byte of a store."""
    return {file.relative_to(path): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweeps") / "s.zarr"
    return path, sweep(path)


def test_runs_are_those_of_an_ensemble(made):
    _, found = made
    many = da.simulate_many(pendulum, T_END, parameters=GRID, save_at=TIMES)
    assert (len(found), set(found.status), found.message, found.interrupted) == (6, {"complete"}, {}, False)
    np.testing.assert_allclose(found["rod.x"].values, many.position("rod")[..., 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["pivot"].values, many.coordinate("pivot"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["fastest"].values, np.abs(many.coordinate_rate("pivot")).max(axis=1), rtol=1e-9)
    assert found["steps"].values.tolist() == [run.statistics.accepted for run in many]
    assert found["length"].values.tolist() == [0.5, 0.5, 1.0, 1.0, 1.5, 1.5]
    assert found["position_drift"].values.max() < 1e-10
    assert 0.0 < found["energy_error"].values.max() < 1e-8  # from the start on, which was not saved
    assert found["rod.x"].attrs["units"] == "m"
    np.testing.assert_array_equal(found.t, TIMES)


def test_grid_comes_back(made):
    grid = made[1].unstack("fastest", "rod.x")
    assert grid["rod.x"].dims == ("length", "mass", "time")
    assert float(grid["fastest"].sel(length=1.5, mass=2.0)) == made[1]["fastest"].values[5]
    assert np.array_equal(grid["rod.x"].values.reshape(6, 3), made[1]["rod.x"].values)


def test_a_store_is_read_on_demand(made, monkeypatch):
    path, found = made
    known = found["rod.x"].values
    opened = []
    read = SweepStore.read
    monkeypatch.setattr(
        SweepStore, "read", lambda self, name, block, *more: (opened.append((name, block)), read(self, name, block))[1]
    )
    again = da.load(path)
    assert opened == []
    one = again["rod.x"][3, 1]
    assert float(one) == known[3, 1]
    assert opened == [("rod.x", 1)]
    np.testing.assert_array_equal(again.dataset["rod.x"].isel(run=[5, 0], time=1).values, known[[5, 0], 1])
    np.testing.assert_array_equal(again.dataset["rod.x"][1:6:2].values, known[1:6:2])


def test_other_readers_open_it(made):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(made[0], mode="r")
    assert np.array_equal(group["rod_x"][:], made[1]["rod.x"].values)
    assert np.array_equal(group["status"][:], [1] * 6)


@pytest.mark.parametrize("harm", ["no mark", "torn mark", "torn chunk", "no chunk"])
def test_only_what_is_missing_is_computed_again(made, tmp_path, harm, monkeypatch):
    import shutil

    from dalembert.simulation import sweep_drive

    path = tmp_path / "s.zarr"
    shutil.copytree(made[0], path)
    mark, chunk = path / "blocks" / "1.json", path / "rod_x" / "c" / "1" / "0"
    if harm == "no chunk":
        chunk.unlink()
    elif harm == "no mark":
        mark.unlink()
    else:
        torn = mark if harm == "torn mark" else chunk
        torn.write_bytes(torn.read_bytes()[:-9])
    (path / "blocks" / "0123.partial").touch()  # of a writer that was killed
    if "chunk" in harm:
        with pytest.raises(da.StoreError, match=r"runs 2 to 3 .* computes them again"):
            da.load(path)["rod.x"].load()
    else:
        assert da.load(path).status.tolist() == ["complete"] * 2 + ["missing"] * 2 + ["complete"] * 2
        assert np.isnan(da.load(path)["rod.x"].values[2:4]).all()
    done = []
    run = sweep_drive.run_blocks
    monkeypatch.setattr(
        sweep_drive, "run_blocks", lambda job, work, threads: (done.extend(w[0] for w in work), run(job, work, threads))[1]
    )
    sweep(path)
    assert done == [1]
    assert files(path) == files(made[0])


def test_no_bit_depends_on_who_computes(made, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        sweep(tmp_path / "s.zarr", client=pool)
    assert files(tmp_path / "s.zarr") == files(made[0])


def test_runs_at_fault_fail_alone(tmp_path):
    lengths = [1.0, 8.0, 1.2, 9.0, 1.3, 1.4, 9.0, 8.0]
    found = sweep(tmp_path / "s.zarr", {"length": lengths}, block=4)
    assert found.failed.tolist() == [1, 3, 6, 7]
    assert "ZeroDivisionError" in found.message[1] and "run 1 (length = 8): " in found.message[1]
    assert "run 6 " in found.message[6] and found.dataset["message"].values[6] == found.message[6]
    assert np.isnan(found["fastest"].values[found.failed]).all()
    good = [0, 2, 4, 5]
    others = sweep(tmp_path / "t.zarr", {"length": np.array(lengths)[good]}, block=4)
    np.testing.assert_allclose(found["rod.x"].values[good], others["rod.x"].values, rtol=0, atol=1e-12)


def test_runs_that_fail_only_together_end_the_sweep(tmp_path, monkeypatch):
    """It tried for ever: no run was at fault, so the block was tried again."""

    def many(self, todo):
        if len(todo):
            raise KeyError("together")
        return todo

    monkeypatch.setattr(ensemble_variants._Making, "many", many)
    with pytest.raises(da.SimulationError, match=r"runs 0 to 1 cannot be computed together, though each can alone: KeyError"):
        sweep(tmp_path / "s.zarr", {"length": [1.0, 0.5]}, block=2)


def test_an_output_that_breaks_fails_its_run(tmp_path):
    def late(solution):
        return [1.0] if solution.position("rod")[0, 0] > 0.4 else []

    found = sweep(tmp_path / "s.zarr", {"length": [1.0, 0.5]}, outputs={"late": late}, block=2)
    assert found.failed.tolist() == [1] and "'late' has the shape (0,), in other runs (1,)" in found.message[1]


def test_states_are_kept_by_default_and_starts_can_be_swept(tmp_path):
    model = pendulum(1.0)
    base = da.simulate(model, 0.01)
    starts = np.tile(np.concatenate([base.q[0], base.u[0]]), (3, 1))
    starts[:, -2], starts[:, -4] = [0.0, 1.0, 2.0], [0.0, -0.5, -1.0]
    found = da.simulate_many(model, T_END, initial_states=starts, out=tmp_path / "s.zarr")
    assert found["q"].shape == (3, 2, 7) and found["u"].shape == (3, 2, 6)
    np.testing.assert_allclose(found["u"].values[:, 0], starts[:, 7:], rtol=0, atol=1e-12)
    assert found.dataset["initial_states"].shape == (3, 13)
    for k, run in enumerate(da.simulate_many(model, T_END, initial_states=starts)):
        assert found["steps"].values[k] == run.statistics.accepted
        assert found["energy_error"].values[k] == np.ptp(run.energy.total) / run.energy.scale
        assert found["position_drift"].values[k] == run.drift.position.max()
        assert found["velocity_drift"].values[k] == run.drift.velocity.max()
    assert len(set(found["energy_error"].values.tolist())) == 3


def test_states_and_their_errors_of_variants(tmp_path):
    found = da.simulate_many(pendulum, T_END, parameters=GRID, out=tmp_path / "s.zarr", save_at=TIMES)
    for k, run in enumerate(da.simulate_many(pendulum, T_END, parameters=GRID, save_at=[0.0, *TIMES])):
        assert np.array_equal(found["q"].values[k], run.q[1:]) and np.array_equal(found["u"].values[k], run.u[1:])
        assert found["energy_error"].values[k] == np.abs(run.energy.total - run.energy.total[0]).max() / run.energy.scale
        assert found["position_drift"].values[k] == run.drift.position.max()
        assert found["velocity_drift"].values[k] == run.drift.velocity.max()


def test_angles_of_many_starts_are_those_of_few(monkeypatch):
    """By compiled code from 64 starts on, by plain Python below."""
    from dalembert.simulation import ensemble_variants

    mechanism = da.compile(pendulum(1.0))
    turned = np.linspace(-2.0, 2.0, 5)
    starts = np.tile(mechanism.x_0[:13], (5, 1))
    starts[:, 3], starts[:, 5] = np.cos(turned / 2), np.sin(turned / 2)
    few = ensemble_variants.full_states(mechanism, starts)
    monkeypatch.setattr(ensemble_variants, "_MANY", 1)
    np.testing.assert_allclose(ensemble_variants.full_states(mechanism, starts), few, rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.abs(few[:, 14]), np.abs(turned), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({"length": [1.0, 2.0], "mass": [1.0]}, {}, r"lengths \{'length': 2, 'mass': 1\}"),
        ({"lenght": [1.0]}, {}, "takes no 'lenght'.*length"),
        ({"mass": [1.0]}, {}, "also needs length"),
        ({"length": [1.0, np.nan]}, {}, "length of run 1 is nan"),
        ({"length": [1.0]}, {"outputs": ["rod.q"]}, "no signal 'rod.q'"),
        ({"length": [1.0]}, {"outputs": "rod.x"}, "give a list of signals"),
        ({"length": [1.0]}, {"outputs": {"mass": fastest, "length": fastest}}, "'length' has the name of a parameter"),
        ({"length": [1.0]}, {"outputs": [fastest, fastest]}, "two have the same name"),
        ({"length": [1.0]}, {"block": 0}, "block is 0"),
        ({"length": [1.0]}, {"client": 3}, "client is a int; give a dask Client"),
        ({"length": [9.0]}, {}, r"run 0 \(length = 9\)"),
        ({"length": [8.0]}, {}, "no run of those tried.*ZeroDivisionError"),
        (3.0, {}, "give a dict of arrays"),
        ({"length": [1.0]}, {"out": None}, "outputs, client and overwrite go with out="),
    ],
)
def test_bad_input_gets_one_message(tmp_path, parameters, options, message):
    with pytest.raises(da.ModelError, match=message):
        sweep(tmp_path / "s.zarr", parameters, **options)
    if "client" not in options:
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"block": 3}, "block"),
        ({"outputs": ["rod.x"]}, "outputs"),
        ({"integrator": da.DormandPrince()}, "integrator"),
        ({"save_at": [0.04]}, "save at"),
        ({"parameters": da.grid(length=[0.5, 1.0, 1.6], mass=[1.0, 2.0])}, "model, parameters"),
    ],
)
def test_a_store_with_other_settings_is_refused(made, changed, named):
    before = files(made[0])
    with pytest.raises(da.StoreError, match=rf"other settings \({named}\); give another path"):
        sweep(made[0], **changed)
    assert files(made[0]) == before


def test_a_store_with_other_settings_is_replaced_where_asked(tmp_path):
    """Whole or not at all; the same settings go on; files of others are not removed."""
    path = tmp_path / "s.zarr"
    sweep(path, outputs=["pivot"])
    before = files(path)
    sweep(path, outputs=["pivot"], overwrite=True)
    assert files(path) == before
    (path / "notes.txt").write_text("mine")
    with pytest.raises(da.StoreError, match=r"none of the sweep's \(notes.txt\); move them away first"):
        sweep(path, outputs=["rod.x"], overwrite=True)
    (path / "notes.txt").unlink()
    with pytest.raises(da.ModelError, match=r"no signal 'rod.q'"):
        sweep(path, outputs=["rod.q"], overwrite=True)
    assert files(path) == before
    found = sweep(path, outputs=["rod.x"], overwrite=True)
    assert "rod.x" in found.dataset and "pivot" not in found.dataset and (found.status == "complete").all()
    assert list(tmp_path.iterdir()) == [path]


def test_outputs_with_something_unknown_are_told_apart():
    """An object that is known by identity only does not hide constants, defaults and other values beside it."""

    class Unknown:
        pass

    def reader(source, factor, known=Unknown):
        names = {"known": known(), "factor": factor}
        exec(source, names)
        return _fingerprint(names["read"])

    source = "def read(solution, a={}): return known, factor, {}"
    same = reader(source.format(1.0, 2.0), 3.0)
    assert reader(source.format(1.0, 2.0), 3.0) == same
    others = {reader(source.format(1.5, 2.0), 3.0), reader(source.format(1.0, 2.5), 3.0), reader(source.format(1.0, 2.0), 3.5)}
    assert len(others | {same}) == 4


def test_what_is_no_sweep_is_not_touched(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(da.StoreError, match="not a sweep of dalembert; move it away"):
        sweep(tmp_path)
    with pytest.raises(da.StoreError, match="no such path"):
        da.load(tmp_path / "none.zarr")
    with pytest.raises(da.StoreError, match="does not exist; create it"):
        sweep(tmp_path / "none" / "s.zarr")


def test_a_full_disk_loses_nothing(made, tmp_path, monkeypatch):
    put, left = SweepStore._put, [12]

    def full(self, path, data):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        put(self, path, data)

    monkeypatch.setattr(SweepStore, "_put", full)
    with pytest.raises(da.StoreError, match=r"No space left on device.*; 2 of 6 runs are stored, and the same call goes on"):
        sweep(tmp_path / "s.zarr")
    monkeypatch.undo()
    sweep(tmp_path / "s.zarr")
    assert files(tmp_path / "s.zarr") == files(made[0])


def test_a_client_that_is_gone(made, tmp_path):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(da.SimulationError, match=r"client is gone \(.*\); 0 of 6 runs are stored, and the same call goes on"):
        sweep(tmp_path / "s.zarr", client=pool)
    sweep(tmp_path / "s.zarr")
    assert files(tmp_path / "s.zarr") == files(made[0])


def test_a_cluster_without_workers_is_told():
    class Idle:
        status = "running"

        def nthreads(self):
            return {}

        def get_executor(self, pure):
            return None

    with pytest.warns(RuntimeWarning, match="no workers; the sweep waits until some come"):
        Crew(Idle())


def test_a_client_that_leaves_on_the_way(tmp_path):
    pool, calls = ThreadPoolExecutor(1), []

    def leaving(solution):
        calls.append(solution)
        if len(calls) == 4:  # one look at shapes, two runs of the first block, one of the second
            pool.shutdown(wait=False, cancel_futures=True)
        return solution.position("rod")[-1, 0]

    with pytest.raises(da.SimulationError, match=r"client is gone \(.*\); 4 of 6 runs are stored, and the same call goes on"):
        sweep(tmp_path / "s.zarr", outputs=[leaving], client=pool)
    assert da.load(tmp_path / "s.zarr").status.tolist() == ["complete"] * 4 + ["missing"] * 2
    found = sweep(tmp_path / "s.zarr", outputs=[leaving])
    assert (found.status == "complete").all()
    assert len(calls) == 7  # four, the one beside the fourth, the two that were missing


def test_one_sweep_at_a_time_writes_a_store(made):
    from threading import Event, Thread

    from dalembert.io.lock import FolderLock

    lock, stop = [], Event()
    holder = Thread(target=lambda: (lock.append(FolderLock(made[0])), stop.wait(30)))
    holder.start()
    try:
        while not lock:
            pass
        with pytest.raises(da.StoreError, match="another run is writing it"):
            sweep(made[0])
    finally:
        stop.set()
        holder.join()
        lock[0].release()


def test_progress_goes_to_the_end(tmp_path):
    seen = []
    sweep(tmp_path / "s.zarr", {"length": [0.5, 1.0, 1.5]}, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 3) and seen[-1] == (3, 3) and seen == sorted(seen)


def test_samples_cover_their_ranges():
    from scipy.stats import norm

    found = da.sample(256, seed=4, length=(0.5, 1.5), mass=norm(2.0, 0.1), noise="seed")
    again = da.sample(256, seed=4, length=(0.5, 1.5), mass=norm(2.0, 0.1), noise="seed")
    assert found.identical(again) and not found.identical(
        da.sample(256, seed=5, length=(0.5, 1.5), mass=norm(2.0, 0.1), noise="seed")
    )
    counts = np.histogram(found["length"], 16, (0.5, 1.5))[0]
    assert set(counts) == {16}  # what makes a Sobol sequence one
    assert abs(found["mass"].mean() - 2.0) < 1e-3 and len(set(found["noise"].values.tolist())) == 256
    for method in ("halton", "latin-hypercube"):
        values = da.sample(50, seed=1, method=method, length=(1.0, 2.0))["length"]
        assert values.min() >= 1.0 and values.max() <= 2.0
    for bad, message in (({"length": (2.0, 1.0)}, "smaller one first"), ({"length": 3.0}, r"give \(low, high\)")):
        with pytest.raises(da.ModelError, match=message):
            da.sample(4, seed=1, **bad)
    with pytest.raises(da.ModelError, match="each once"):
        da.grid(length=[1.0, 1.0])


def test_plots(made, tmp_path):
    assert made[1].plot.map("fastest").axes[0].get_xlabel() == "length"
    assert "mass = 2" in made[1].plot.map("rod.x", "length", at={"mass": 2.2}).axes[0].get_title("left")
    fan = made[1].plot.fan("pivot")
    assert "6 of 6 runs" in fan.axes[0].get_title("left")
    assert fan.get_suptitle() == made[1].plot.map("pivot").get_suptitle() == made[1].dataset.attrs["model"]
    made[1].plot.save(tmp_path / "fan.png", fan)
    assert (tmp_path / "fan.png").stat().st_size > 1000
    with pytest.raises(TypeError, match="save takes the path, then a figure"):
        made[1].plot.save(fan, tmp_path / "fan.png")
    plain, turned = (made[1].plot.fan("pivot", degrees=wanted).axes[0] for wanted in (False, True))
    assert "[rad]" in plain.get_ylabel() and "[deg]" in turned.get_ylabel()
    for one, other in zip(plain.get_lines(), turned.get_lines(), strict=True):
        np.testing.assert_allclose(other.get_ydata(), np.degrees(one.get_ydata()), rtol=1e-12)
    ends = sweep(tmp_path / "s.zarr", {"length": [0.5, 1.0]}, save_at=TIMES[-2:], outputs=["pivot"])
    with pytest.raises(da.ModelError, match="kept 2 instants, too few for curves"):
        ends.plot.fan("pivot")
    with pytest.raises(da.ModelError, match="no series"):
        made[1].plot.fan("fastest")
    with pytest.raises(da.ModelError, match="no parameter 'width'"):
        made[1].plot.map("fastest", "width")


def test_functions_with_names_and_units(tmp_path):
    """They were refused with the address of the function, in a message that said a name twice."""
    found = sweep(tmp_path / "s.zarr", {"length": [1.0]}, outputs=[("travel [m]", lambda s: s.signal("rod.x")), "rod.x"])
    assert (found.dataset["travel [m]"].units, found.dataset["travel [m]"].long_name) == ("m", "travel of the run")
    np.testing.assert_array_equal(found["travel [m]"], found["rod.x"])
    with pytest.raises(
        da.ModelError, match=r"outputs: \('a', 'b'\) is none; give a signal such as 'slider\.x', a function of a"
    ):
        sweep(tmp_path / "t.zarr", outputs=[("a", "b")])
