"""One evaluation of the equations of motion with ball joints written by the user (`add_constraint`) and with the built-in ones.

Chains of rods in absolute coordinates (`Jet`). Rounds are interleaved, the smallest time of each case counts.
"""

from __future__ import annotations

import numpy as np
from calls import seconds_per_call
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert.kernels.base import tables as T

SIZES = (1, 2, 8)
ROUNDS = 40


def rods(n: int, written: bool) -> da.Model:
    """n level rods of 1 m on ball joints, moving."""
    model = da.Model()
    hung = None
    for k in range(n):
        rod = model.add_body(f"rod {k}", **da.rod(1.0, 1.0, radius=0.1).body(), position=(k + 0.5, 0, 0))
        if not written:
            model.add_spherical(f"joint {k}", hung or model.ground, rod, point=(k, 0, 0))
        elif hung is None:
            model.add_constraint(f"joint {k}", lambda rod: rod.point((-0.5, 0, 0)), rod)
        else:
            model.add_constraint(f"joint {k}", lambda a, b: b.point((-0.5, 0, 0)) - a.point((0.5, 0, 0)), (hung, rod))
        hung = rod
    return model


def main() -> None:
    cases, rng = {}, np.random.default_rng(0)
    for n in SIZES:
        for written in (False, True):
            mechanism = da.compile(rods(n, written))
            run = da.Jet().prepare(mechanism)
            x = mechanism.x_0.copy()
            if written:
                x = cases[n, False][1]
            else:
                x[mechanism.nq : mechanism.nq + mechanism.nu] = rng.standard_normal(mechanism.nu)
            cases[n, written] = (run, x, 4000 // n)
    times: dict[tuple[int, bool], list[float]] = {case: [] for case in cases}
    for _ in range(ROUNDS):
        for case, (run, x, count) in cases.items():
            times[case].append(seconds_per_call(run, run.system, T.RATE, 0.0, x, count))
    table = Table(title="one evaluation [microseconds]", title_justify="left")
    for heading in ("rods", "built in", "written", "ratio (limit 2)"):
        table.add_column(heading, justify="right")
    for n in SIZES:
        joint, written = (min(times[n, kind]) for kind in (False, True))
        table.add_row(str(n), f"{1e6 * joint:.2f}", f"{1e6 * written:.2f}", f"{written / joint:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
