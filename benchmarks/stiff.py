"""Stiff problems at the tolerance asked: the flyball governor [IFToMM, A05] and the coiled chain of 64 rods with joint dampers
of 7,000 N m s [MovingFrame, 3.3.4], 10 s each, in relative coordinates.

    python -m benchmarks.stiff

Errors are the largest in the position of any body at 21 times, against the references of stiff_before.py. Steps that follow
accuracy grow in number like tolerance^(-1 / (stages + 1)); what stability would allow an explicit method is shown by DOP853,
over the first 0.5 s. Times are CPU seconds of the whole call, with exact Jacobians and, in the same run, with differences for
all of them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from rich.console import Console
from rich.table import Table

import dalembert as da
from benchmarks.stiff_before import FEW, METHODS, MODELS, T_END, TOLERANCES, positions, reference, timed
from dalembert.gallery.moving_frame import coiled_chain
from dalembert.integrators import advance
from dalembert.integrators.slopes import NEVER, Slopes

SHORT = 0.5


class Differences:
    """Takes the place of exact Jacobians."""

    at = NEVER
    arrays: ClassVar[dict[str, Any]] = {}

    def __init__(self, run: object) -> None: ...


def study(console: Console, title: str, model: str) -> None:
    mechanism, exact = da.compile(MODELS[model][0]()), reference(model, FEW)
    table = Table(title=title, title_justify="left")
    for heading in (
        "method",
        "tolerance",
        "error [m]",
        "steps",
        "rejected",
        "mean step [s]",
        "evaluations",
        "Jacobians",
        "CPU [s]",
        "differences [s]",
    ):
        table.add_column(heading, justify="right" if heading != "method" else "left")
    accepted: dict[str, list[int]] = {}
    for method, stages in METHODS:
        name = f"{method}({stages})"
        for tolerance in TOLERANCES:
            integrator = getattr(da, method)(stages, rtol=tolerance, atol=tolerance)
            solution, seconds = timed(mechanism, integrator, FEW)
            advance.Slopes = Differences  # type: ignore[assignment, misc]
            before = timed(mechanism, integrator, FEW)[1]
            advance.Slopes = Slopes  # type: ignore[misc]
            s = solution.statistics
            error = np.abs(positions(solution) - exact).max()
            share = s.rejected / (s.accepted + s.rejected)
            counts = f"{s.rate_evaluations:,}", f"{s.stage_jacobians:,}"
            table.add_row(
                name, f"{tolerance:g}", f"{error:.1e}", f"{s.accepted:,}", f"{share:.0%}", f"{T_END / s.accepted:.1e}", *counts,
                f"{seconds:.2f}", f"{before:.2f}",
            )  # fmt: skip
            accepted.setdefault(name, []).append(s.accepted)
    console.print(table)
    explicit = da.simulate(
        mechanism, SHORT, formulation=da.MovingFrame(), integrator=da.DOP853(rtol=1e-6, atol=1e-6), progress=False
    )
    growth = ", ".join(f"{name} {steps[1] / steps[0]:.1f}" for name, steps in accepted.items())
    console.print(f"steps from {TOLERANCES[0]:g} to {TOLERANCES[1]:g}: times {growth}; order 4 and 6 estimates: 3.2 and 2.2")
    console.print(f"DOP853 at 1e-6: mean step {SHORT / explicit.statistics.accepted:.1e} s over the first {SHORT:g} s\n")


def main() -> None:
    console = Console(width=128)
    warm = da.compile(coiled_chain(2))
    for integrator in (da.RadauIIA(3, step=0.1), da.DOP853()):
        da.simulate(warm, 0.1, formulation=da.MovingFrame(), integrator=integrator, progress=False)
    stiff = da.compile(coiled_chain(16, joint_damping=7000.0))  # so many Jacobians that exact ones are compiled
    da.simulate(stiff, 1.0, formulation=da.MovingFrame(), integrator=da.RadauIIA(3, rtol=1e-6, atol=1e-6), progress=False)
    study(console, "flyball governor, 10 s", "governor")
    study(console, "coiled chain of 64 rods, dampers of 7,000 N m s, 10 s", "coil")


if __name__ == "__main__":
    main()
