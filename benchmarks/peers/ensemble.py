"""P3: a thousand chains of four links, from different starts or of different masses and lengths, on all cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from multiprocessing import get_context

import numpy as np

import dalembert as da
from benchmarks.peers.ours import chain_model
from benchmarks.peers.problems import CHAIN_END, CHAIN_RATE, CHAIN_ROTATION, LENGTH, SWING, Method, moments
from dalembert.run.ensemble_work import Work

LINKS, RUNS, CHECKED, ACCURACY, SHARE = 4, 1000, 20, 1e-6, 25
TOLERANCES = (1e-5, 5e-6, 3e-6, 2e-6, 1e-6, 5e-7, 3e-7, 2e-7, 1e-7)
SWINGS = np.random.default_rng(4).uniform(-0.3, 0.3, (RUNS, 3))  # rad/s, world axes
RODS = np.random.default_rng(5).uniform((20.0, 1.5), (80.0, 2.5), (RUNS, 2))  # kg, m
VARIANTS = ("pinocchio", "mujoco")  # files whose chains may have other rods


@dataclass
class Rate:
    """One program: runs per second of wall time on all cores, and per second of CPU time of one; largest error of CHECKED.
    alone : runs per CPU second of the integration, models made beforehand
    """

    program: str
    method: str
    setting: float
    per_second: float
    per_cpu_second: float
    alone: float
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


def variant(mass: float, length: float) -> da.Model:
    """The chain with other rods."""
    model, (across, axial) = da.Model(), moments(mass, length)
    previous = model.ground
    for k in range(LINKS):
        top, centre = (CHAIN_ROTATION @ np.array([0.0, 0.0, -at * length]) for at in (k, k + 0.5))
        rod = model.add_body(
            f"rod {k + 1}",
            mass=mass,
            inertia=(across, across, axial),
            position=centre,
            rotation=CHAIN_ROTATION,
            velocity=np.cross(SWING, centre),
            angular_velocity=SWING,
        )
        model.add_spherical(f"joint {k + 1}", previous, rod, point=top)
        previous = rod
    return model


def _from_starts(tolerance: float, count: int) -> da.Ensemble:
    return da.simulate_many(_mechanism(), CHAIN_END, initial_states=starts()[:count], **_options(tolerance))


def _of_variants(tolerance: float, count: int) -> da.Ensemble:
    mass, length = RODS[:count].T
    return da.simulate_many(variant, CHAIN_END, parameters={"mass": mass, "length": length}, **_options(tolerance))


def _options(tolerance: float) -> dict[str, object]:
    integrator = da.DOP853(rtol=tolerance, atol=tolerance)
    return {"formulation": da.MovingFrame(), "integrator": integrator, "save_at": [CHAIN_END]}


def _ends(runs: da.Ensemble, lengths: np.ndarray) -> np.ndarray:
    """(CHECKED, 3) lower ends of the first runs."""
    return np.array([runs[k].point(f"rod {LINKS}", (0, 0, -lengths[k] / 2))[-1] for k in range(CHECKED)])


@cache
def _mechanism() -> da.Mechanism:
    return da.compile(chain_model(LINKS))


@lru_cache(maxsize=1)
def _method(file: str, label: str, *rods: float) -> Method:
    import importlib

    return next(m for m in importlib.import_module(f"benchmarks.peers.{file}").chain(LINKS, *rods) if m.label == label)


def _share(file: str, label: str, setting: float, cases: np.ndarray) -> tuple[list[np.ndarray], float, float]:
    """End points, CPU seconds in all and of the integration, of some runs (angular velocity, rods), in a worker process."""
    points, alone, begin = [], 0.0, time.process_time()
    for case in cases:
        outcome = _method(file, label, *case[3:].tolist()).solve(setting, np.ascontiguousarray(case[:3]))
        points.append(outcome.point)
        alone += outcome.seconds
    return points, time.process_time() - begin, alone


def measure(chosen: list[tuple[str, str, str, float]], variants: bool = False) -> list[Rate]:
    """chosen : (file, program, label, setting) of each peer's fastest method on the single chain."""
    run, lengths = (_of_variants, RODS[:, 1]) if variants else (_from_starts, np.full(RUNS, LENGTH))
    reference = _ends(run(1e-13, CHECKED), lengths)
    results = [_measure_ours(run, reference, lengths)]
    cases = np.hstack([np.tile(CHAIN_RATE, (RUNS, 1)), RODS]) if variants else SWINGS @ CHAIN_ROTATION
    cores = os.cpu_count() or 1
    for file, program, label, setting in chosen:
        if variants and file not in VARIANTS:
            continue
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            for _ in range(4):  # imports, models; and the setting is tightened until the runs looked at are exact enough
                warm = [pool.submit(_share, file, label, setting, part) for part in np.array_split(cases[:CHECKED], 2 * cores)]
                points = np.array([p for done in warm for p in done.result()[0]])
                error = float(np.linalg.norm(points - reference, axis=1).max())
                if error <= ACCURACY:
                    break
                settings = _method(file, label).settings
                setting = settings[min(settings.index(setting) + 1, len(settings) - 1)]
            begin = time.perf_counter()
            parts = [pool.submit(_share, file, label, setting, part) for part in np.array_split(cases, RUNS // SHARE)]
            cpu, alone = np.sum([part.result()[1:] for part in parts], axis=0)
            wall = time.perf_counter() - begin
            results.append(Rate(program, label, setting, RUNS / wall, RUNS / cpu, RUNS / alone, error))
    return results


def _measure_ours(run: Callable[[float, int], da.Ensemble], reference: np.ndarray, lengths: np.ndarray) -> Rate:
    """The loosest tolerance that is exact enough, where all runs go through the machine as they will."""
    for tolerance in TOLERANCES:
        error = float(np.linalg.norm(_ends(run(tolerance, RUNS), lengths) - reference, axis=1).max())
        if error <= ACCURACY:
            break
    timed, go = [], Work.go
    for _ in range(5):
        loops = [0.0]

        def watched(work: Work, *arguments: object, spent: list[float] = loops) -> None:
            begin = time.process_time()
            go(work, *arguments)  # type: ignore[arg-type]
            spent[0] += time.process_time() - begin

        Work.go = watched  # type: ignore[method-assign,assignment]
        begin, cpu = time.perf_counter(), time.process_time()
        try:
            run(tolerance, RUNS)
        finally:
            Work.go = go  # type: ignore[method-assign]
        timed.append((time.perf_counter() - begin, time.process_time() - cpu, loops[0]))
    wall, cpu, alone = np.median(timed, axis=0)
    return Rate("dalembert", "simulate_many", tolerance, RUNS / wall, RUNS / cpu, RUNS / alone, error)
