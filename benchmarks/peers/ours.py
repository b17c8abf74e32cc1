"""This library."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import dalembert as da
from benchmarks.peers.problems import (
    CHAIN_END,
    CRANK_END,
    SWING,
    TILT,
    Method,
    Outcome,
    Stopwatch,
    crank_model,
    powers,
)
from dalembert.gallery.chain import LOWER, add_rods
from dalembert.model.rotation import Rotation

PROGRAM, VERSION = "dalembert", da.__version__
TOLERANCES = powers(1e-3, 1e-12)


def chain_model(n: int) -> da.Model:
    model = da.Model(name=f"swinging chain of {n} rods")
    add_rods(model, [Rotation.from_axis_angle((1.0, 0.0, 0.0), TILT)] * n, angular_velocity=SWING)
    return model


def chain(n: int) -> list[Method]:
    mechanism = da.compile(chain_model(n))

    def solve(tolerance: float) -> Outcome:
        watch = Stopwatch()
        with watch.running():
            solution = da.simulate(
                mechanism,
                CHAIN_END,
                formulation=da.MovingFrame(),
                integrator=da.DOP853(rtol=tolerance, atol=tolerance),
                save_at=[CHAIN_END],
            )
        tip = solution.point(f"rod {n}", LOWER)[-1]
        return Outcome(watch.seconds, tip, evaluations=solution.statistics.rate_evaluations)

    what = "the whole of `da.simulate` on a compiled mechanism, rtol = atol scanned, only the end is saved"
    return [Method(PROGRAM, "MovingFrame, DOP853", what, TOLERANCES, solve, ours=True)]


def slider_crank() -> list[Method]:
    mechanism = da.compile(crank_model())

    def method(label: str, make: Callable[[], da.Formulation]) -> Method:
        def solve(tolerance: float) -> Outcome:
            watch = Stopwatch()
            with watch.running():
                solution = da.simulate(
                    mechanism, CRANK_END, formulation=make(), integrator=da.DOP853(rtol=tolerance, atol=tolerance)
                )
            energy = solution.energy
            drift = np.abs(energy.total - energy.total[0]).max() / energy.kinetic.max()
            gaps = solution.drift.position.max()
            point, count = solution.position("rod")[-1], solution.statistics.rate_evaluations
            return Outcome(watch.seconds, point, float(gaps), float(drift), count)

        what = "the whole of `da.simulate` on a compiled mechanism, rtol = atol scanned, every step saved"
        return Method(PROGRAM, label, what, TOLERANCES, solve, ours=True)

    return [
        method("Jet, DOP853", da.Jet),
        method("MovingFrame, DOP853", da.MovingFrame),
        method("Minimal, DOP853", da.Minimal),
    ]
