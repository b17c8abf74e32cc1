"""Many short runs into one store: throughput and memory, a local cluster beside, and what kills leave behind.

    python -m benchmarks.sweep [--count 20000] [--by rod|starts] [--cluster 4000] [--kills 2000] [--folder FOLDER]

Slider-cranks over a rod's length, or from many speeds, 0.1 s each, of which the final state is kept. Processes, one per core,
write into one store. `--cluster` runs that many through two workers of a local dask cluster and through two processes in turn;
`--kills` ends workers by SIGKILL at ten random moments and drivers at five, and compares every byte with an undisturbed store.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import dalembert as da
from benchmarks.fit_slider_crank import slider_crank
from dalembert.simulation.sweep_drive import processes

T_END, ROUNDS, WORKER_KILLS, DRIVER_KILLS = 0.1, 5, 10, 5


def sweep(out, count, by, client=None, block=256):
    """Final states of `count` runs."""
    options = {"save_at": [T_END], "out": out, "client": client, "block": block, "progress": False}
    if by == "rod":
        return da.simulate_many(slider_crank, T_END, parameters={"rod": np.linspace(0.25, 0.35, count)}, **options)
    model = slider_crank()
    base = da.simulate(model, 1e-3)
    starts = np.tile(np.concatenate([base.q[0], base.u[0]]), (count, 1))
    starts[:, base.q.shape[1] :] *= np.linspace(0.5, 1.5, count)[:, None]
    return da.simulate_many(model, T_END, initial_states=starts, **options)


def children(pid):
    """Processes that a process started, and theirs."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children(child)]
    return found


class Memory:
    """Largest sum of the resident memory of this process and all that it started, looked at every 0.2 s [bytes]."""

    def __enter__(self):
        self.most, self._end = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _look(self):
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._end.wait(0.2):
            total = 0
            for pid in (os.getpid(), *children(os.getpid())):
                try:
                    total += page * int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                except (OSError, IndexError):  # ended meanwhile
                    continue
            self.most = max(self.most, total)


def seconds(pids):
    """CPU time of processes so far."""
    tick, total = os.sysconf("SC_CLK_TCK"), 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / tick


def contents(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def same_bytes(path, expected):
    """In words: whether a store has the files of another, and which differ."""
    found = contents(path)
    other = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
    kinds = [
        f"{name} ({'missing' if name not in found else 'more' if name not in expected else 'differs'})" for name in other[:5]
    ]
    return f"same bytes {not other}" + (f": {len(other)} files, {', '.join(kinds)}" if other else "")


def throughput(folder, count, by):
    cores = os.cpu_count() or 1
    with processes(cores) as pool, Memory() as memory:
        sweep(folder / "warm.zarr", 2 * cores * 256, by, pool)
        pids = (os.getpid(), *children(os.getpid()))
        begin, cpu = time.perf_counter(), seconds(pids)
        found = sweep(folder / "all.zarr", count, by, pool)
        spent, cpu = time.perf_counter() - begin, seconds(pids) - cpu
    files = [file.stat().st_size for file in (folder / "all.zarr").rglob("*") if file.is_file()]
    ends = {word: int(np.sum(found.status == word)) for word in ("complete", "failed", "missing")}
    print(f"{count} runs by {by} on {cores} processes: {spent:.1f} s, {count / spent:.0f} runs/s, {ends}")
    print(f"  CPU {1e3 * cpu / count:.3f} ms a run, {count / cpu:.0f} runs per second of CPU")
    print(f"  all processes at most {memory.most / 1e6:.0f} MB; store {sum(files) / 1e6:.0f} MB in {len(files)} files")


def cluster(folder, count, by):
    """CPU and wall time of the same sweep, in turn; both sides compute with two single threads."""
    from distributed import Client, LocalCluster

    spent = {"processes": [], "cluster": []}
    with (
        processes(2) as pool,
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as workers,
        Client(workers) as client,
    ):
        for label, who in (("processes", pool), ("cluster", client)):
            sweep(folder / f"warm_{label}.zarr", 1024, by, who)
        for k in range(ROUNDS):
            for label, who in (("processes", pool), ("cluster", client)):
                pids = (os.getpid(), *children(os.getpid()))
                begin, cpu = time.perf_counter(), seconds(pids)
                sweep(folder / f"{label}_{k}.zarr", count, by, who)
                spent[label].append((time.perf_counter() - begin, seconds(pids) - cpu))
    assert contents(folder / "processes_0.zarr") == contents(folder / "cluster_0.zarr")
    for what, k in (("wall time", 0), ("CPU time", 1)):
        direct, others = (np.median([one[k] for one in spent[label]]) for label in spent)
        print(f"{count} runs by {by}, {what}: processes {direct:.2f} s, workers {others:.2f} s, ratio {others / direct:.3f}")


def killed(folder, count, by):
    """Workers and drivers that are killed; the bytes of the stores afterwards."""
    whole, rng = folder / "whole.zarr", random.Random(1)
    sweep(whole, count, by, block=32)
    expected, blocks = contents(whole), -(-count // 32)

    def stored(path):
        return len(list((path / "blocks").glob("[0-9]*.json"))) if path.exists() else 0

    path, ended = folder / "workers.zarr", []

    def end_workers():
        for after in sorted(rng.sample(range(1, blocks - 2), WORKER_KILLS)):
            while stored(path) < after:
                time.sleep(0.01)
            time.sleep(rng.uniform(0.0, 0.2))
            mine = [pid for pid in children(os.getpid()) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
            for pid in mine[:1]:
                os.kill(pid, signal.SIGKILL)
                ended.append(stored(path))

    thread = threading.Thread(target=end_workers, daemon=True)
    with processes(2) as pool:
        thread.start()
        sweep(path, count, by, pool, block=32)
    thread.join(5)
    print(f"{len(ended)} workers killed, with {ended} of {blocks} blocks stored: {same_bytes(path, expected)}")
    path, ended = folder / "driver.zarr", []
    for after in sorted(rng.sample(range(blocks - 2), DRIVER_KILLS)):
        same = ["--drive", str(path), "--count", str(count), "--by", by]
        driver = subprocess.Popen([sys.executable, "-m", "benchmarks.sweep", *same])
        while stored(path) < after and driver.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        driver.kill()
        driver.wait()
        ended.append(stored(path))
        time.sleep(1.0)  # its workers see that they are alone
    sweep(path, count, by, block=32)
    print(f"{len(ended)} drivers killed, with {ended} of {blocks} blocks stored: {same_bytes(path, expected)}")


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("count", 20000), ("cluster", 0), ("kills", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--by", choices=("rod", "starts"), default="rod")
    parser.add_argument("--folder")
    parser.add_argument("--drive", help=argparse.SUPPRESS)  # the driver that is killed
    given = parser.parse_args()
    if given.drive:
        with processes(2) as pool:
            sweep(Path(given.drive), given.count, given.by, pool, block=32)
        return
    folder = Path(tempfile.mkdtemp(dir=given.folder))
    try:
        if given.count:
            throughput(folder, given.count, given.by)
        if given.cluster:
            cluster(folder, given.cluster, given.by)
        if given.kills:
            killed(folder, given.kills, given.by)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
