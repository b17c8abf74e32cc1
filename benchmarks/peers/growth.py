"""Time of one run against the number of bodies: chains, trees and closed rings."""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median

import numpy as np

import dalembert as da
from benchmarks.peers.ours import chain_model
from dalembert.gallery import mobile, ring

LIMIT = 1.15
T_END, TOLERANCE, ROUNDS = 2.0, 1e-8, 5
SIZES = {"chain": (8, 16, 32, 64, 128, 256), "tree": (2, 3, 4, 5, 6), "ring": (8, 16, 32, 64, 128, 256)}
MAKE = {"chain": chain_model, "tree": mobile, "ring": ring}


@dataclass
class Growth:
    """bodies, seconds, evaluations of each size; exponents of the time of a run and of one evaluation"""

    kind: str
    bodies: list[int]
    seconds: list[float]
    evaluations: list[int]
    run: float
    evaluation: float


def _run(mechanism: da.Mechanism) -> int:
    """Evaluations of one run."""
    integrator = da.DOP853(rtol=TOLERANCE, atol=TOLERANCE)
    solution = da.simulate(mechanism, T_END, formulation=da.MovingFrame(), integrator=integrator, save_at=[T_END])
    return solution.statistics.rate_evaluations


def measure() -> list[Growth]:
    """Chains (ball joints), trees (the gallery's mobile by levels) and rings (one cut joint) in relative coordinates."""
    mechanisms = {(kind, size): da.compile(MAKE[kind](size)) for kind, sizes in SIZES.items() for size in sizes}
    seconds: dict[tuple[str, int], list[float]] = {key: [] for key in mechanisms}
    counts: dict[tuple[str, int], int] = {}
    for _ in range(ROUNDS):
        for key, mechanism in mechanisms.items():
            _run(mechanism)  # makes the tree of relative coordinates, of which only a few are kept
            begin = time.process_time()
            counts[key] = _run(mechanism)
            seconds[key].append(time.process_time() - begin)
    results = []
    for kind, sizes in SIZES.items():
        bodies = [len(mechanisms[kind, size].model.bodies) for size in sizes]
        times = [median(seconds[kind, size]) for size in sizes]
        evaluations = [counts[kind, size] for size in sizes]
        logs = np.log(bodies)
        run = float(np.polyfit(logs, np.log(times), 1)[0])
        one = float(np.polyfit(logs, np.log(np.array(times) / evaluations), 1)[0])
        results.append(Growth(kind, bodies, times, evaluations, run, one))
    return results
