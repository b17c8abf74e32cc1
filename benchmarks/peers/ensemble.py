"""P3: a thousand chains of four links from different starts, on all cores."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import numpy as np

import dalembert as da
from benchmarks.peers.ours import chain_model
from benchmarks.peers.problems import CHAIN_END, CHAIN_ROTATION, Method
from dalembert.gallery.chain import LENGTH, LOWER

LINKS, RUNS, CHECKED, ACCURACY, SHARE = 4, 1000, 20, 1e-6, 25
SWINGS = np.random.default_rng(4).uniform(-0.3, 0.3, (RUNS, 3))  # rad/s, world axes


@dataclass
class Rate:
    """One program: runs per second of wall time on all cores, and per second of CPU time of one; largest error of CHECKED."""

    program: str
    method: str
    setting: float
    per_second: float
    per_cpu_second: float
    error: float


def starts() -> np.ndarray:
    """(RUNS, nq + nu) states of the mechanism: the whole chain turns about its upper end like a rigid body."""
    mechanism = _mechanism()
    q, u = mechanism.x_0[: mechanism.nq], np.zeros((RUNS, mechanism.nu))
    for k in range(LINKS):
        centre = CHAIN_ROTATION @ np.array([0.0, 0.0, -(k + 0.5) * LENGTH])
        u[:, 6 * k : 6 * k + 3] = np.cross(SWINGS, centre)
        u[:, 6 * k + 3 : 6 * k + 6] = SWINGS @ CHAIN_ROTATION
    return np.hstack([np.tile(q, (RUNS, 1)), u])


def _ours(tolerance: float, states: np.ndarray) -> da.Ensemble:
    return da.simulate_many(
        _mechanism(),
        CHAIN_END,
        initial_states=states,
        formulation=da.MovingFrame(),
        integrator=da.DOP853(rtol=tolerance, atol=tolerance),
        save_at=[CHAIN_END],
    )


def _ends(runs: da.Ensemble) -> np.ndarray:
    """(runs, 3) lower ends."""
    return runs.point(f"rod {LINKS}", LOWER)[:, -1]


@cache
def _mechanism() -> da.Mechanism:
    return da.compile(chain_model(LINKS))


@cache
def _method(file: str, label: str) -> Method:
    import importlib

    return next(m for m in importlib.import_module(f"benchmarks.peers.{file}").chain(LINKS) if m.label == label)


def _share(file: str, label: str, setting: float, rates: np.ndarray) -> tuple[list[np.ndarray], float]:
    """End points and CPU seconds of some runs, in a worker process."""
    method, begin = _method(file, label), time.process_time()
    points = [method.solve(setting, np.ascontiguousarray(rate)).point for rate in rates]
    return points, time.process_time() - begin


def measure(chosen: list[tuple[str, str, str, float]]) -> list[Rate]:
    """chosen : (file, program, label, setting) of each peer's fastest method on the single chain."""
    states = starts()
    reference = _ends(_ours(1e-13, states[:CHECKED]))
    results = []
    for tolerance in (1e-5, 3e-6, 1e-6, 3e-7, 1e-7):
        error = float(np.linalg.norm(_ends(_ours(tolerance, states[:CHECKED])) - reference, axis=1).max())
        if error <= ACCURACY:
            break
    timed = []
    for _ in range(5):
        begin, cpu = time.perf_counter(), time.process_time()
        _ours(tolerance, states)
        timed.append((time.perf_counter() - begin, time.process_time() - cpu))
    wall, cpu = np.median(timed, axis=0)
    results.append(Rate("dalembert", "simulate_many", tolerance, RUNS / wall, RUNS / cpu, error))
    cores = os.cpu_count() or 1
    rates = SWINGS @ CHAIN_ROTATION
    for file, program, label, setting in chosen:
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            for _ in range(4):  # imports, models; and the setting is tightened until the starts looked at are exact enough
                warm = [pool.submit(_share, file, label, setting, part) for part in np.array_split(rates[:CHECKED], 2 * cores)]
                points = np.array([p for done in warm for p in done.result()[0]])
                error = float(np.linalg.norm(points - reference, axis=1).max())
                if error <= ACCURACY:
                    break
                settings = _method(file, label).settings
                setting = settings[min(settings.index(setting) + 1, len(settings) - 1)]
            begin = time.perf_counter()
            parts = [pool.submit(_share, file, label, setting, part) for part in np.array_split(rates, RUNS // SHARE)]
            cpu = sum(part.result()[1] for part in parts)
            results.append(Rate(program, label, setting, RUNS / (time.perf_counter() - begin), RUNS / cpu, error))
    return results
