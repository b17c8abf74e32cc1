"""SUNDIALS' CVODE through scikit-sundae, with Pinocchio's forward dynamics as right-hand side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sksundae
from sksundae.cvode import CVODE

from benchmarks.peers.pinocchio import (
    GAINS,
    Rate,
    chain_model,
    chain_rate,
    chain_tip,
    crank_model,
    crank_outcome,
    crank_rate,
    pin,
)
from benchmarks.peers.problems import CHAIN_END, CHAIN_RATE, CRANK_END, LENGTH, SAMPLES, Method, Outcome, Stopwatch, powers

PROGRAM = "CVODE"
VERSION = f"{sksundae.__version__} (SUNDIALS {sksundae.SUNDIALS_VERSION})"
TOLERANCES = powers(1e-4, 1e-13)
_WHAT = "Adams method, Newton with matrix-free GMRES (fixed-point iteration is not offered), rtol = atol scanned"


def _solver(
    f: Rate, x_0: np.ndarray, times: np.ndarray, outcome: Callable[[float, np.ndarray, int], Outcome], at: int = 0
) -> Callable[..., Outcome]:
    def fill(t: float, y: np.ndarray, yp: np.ndarray) -> None:
        yp[:] = f(t, y)

    def solve(tolerance: float, rate: np.ndarray | None = None) -> Outcome:
        start = x_0.copy()
        if rate is not None:
            start[at : at + 3] = rate
        solver = CVODE(fill, method="Adams", linsolver="gmres", rtol=tolerance, atol=tolerance, max_num_steps=1_000_000)
        watch = Stopwatch()
        with watch.running():
            found = solver.solve(times, start)
        return outcome(watch.seconds, found.y.T, found.nfev)

    return solve


def chain(n: int) -> list[Method]:
    model = chain_model(n)
    x_0 = np.concatenate([pin.neutral(model), CHAIN_RATE, np.zeros(model.nv - 3)])

    def outcome(seconds: float, x: np.ndarray, count: int) -> Outcome:
        return Outcome(seconds, chain_tip(model, LENGTH, x[:, -1]), evaluations=count)

    solve = _solver(chain_rate(model), x_0, np.array([0.0, CHAIN_END]), outcome, model.nq)
    return [Method(PROGRAM, "Adams, Pinocchio", f"Pinocchio's aba; {_WHAT}", TOLERANCES, solve)]


def slider_crank() -> list[Method]:
    model, speeds = crank_model()
    x_0, times = np.concatenate([np.zeros(model.nq), speeds]), np.linspace(0.0, CRANK_END, SAMPLES + 1)

    def outcome(seconds: float, x: np.ndarray, count: int) -> Outcome:
        return crank_outcome(model, seconds, x, count)

    return [
        Method(
            PROGRAM,
            f"Adams, Pinocchio, {'Baumgarte' if gain else 'no Baumgarte'}",
            f"Pinocchio's constraintDynamics, Baumgarte {gain:g}/s; {_WHAT}",
            TOLERANCES,
            _solver(crank_rate(model, gain), x_0, times, outcome),
        )
        for gain in GAINS
    ]
