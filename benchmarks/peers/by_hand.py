"""C++ written for the chain alone (chain_by_hand.cpp, g++): how far from the metal a library for any mechanism is."""

from __future__ import annotations

import ctypes

import numpy as np

from benchmarks.peers.cpp import FLAGS, compiled, pointer, tableau
from benchmarks.peers.problems import (
    CHAIN_END,
    CHAIN_RATE,
    CHAIN_ROTATION,
    GRAVITY,
    LENGTH,
    MASS,
    Method,
    Outcome,
    Stopwatch,
    moments,
    powers,
)
from dalembert.model.rotation import matrix_to_quaternion, quaternion_to_matrix

PROGRAM, VERSION = "C++ for this chain alone", "g++"
TOLERANCES = powers(1e-3, 1e-12)


def chain(n: int, mass: float = MASS, length: float = LENGTH) -> list[Method]:
    library = compiled("chain_by_hand.cpp")
    if library is None:
        return []
    numbers = [ctypes.c_double(v) for v in (mass, length, *moments(mass, length), GRAVITY, CHAIN_END)]

    def solve(tolerance: float, rate: np.ndarray = CHAIN_RATE) -> Outcome:
        start = np.concatenate([np.tile(matrix_to_quaternion(CHAIN_ROTATION), n), np.tile(rate, n)])
        x, count, watch = np.ascontiguousarray(start), ctypes.c_long(), Stopwatch()
        with watch.running():
            library.chain(n, *numbers, ctypes.c_double(tolerance), *tableau(), pointer(x), ctypes.byref(count))
        units = x[: 4 * n].reshape(n, 4) / np.linalg.norm(x[: 4 * n].reshape(n, 4), axis=1)[:, None]
        ends = [quaternion_to_matrix(units[k]) @ np.array([0.0, 0.0, -length]) for k in range(n)]
        return Outcome(watch.seconds, np.sum(ends, axis=0), evaluations=count.value)

    what = f"quaternions and a recursion for this chain, DOP853 in C++ (g++ {' '.join(FLAGS[:2])}), rtol = atol scanned"
    return [Method(PROGRAM, "DOP853", what, TOLERANCES, solve)]


def slider_crank() -> list[Method]:
    """Is written for the chain."""
    return []
