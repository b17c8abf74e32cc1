"""One evaluation of the equations of motion (the distribution of [JetMultibody, Algorithm 5.2]).

The slider-crank, chains of n spherical joints with the growth exponent, and Pinocchio's aba on a chain of 64 in the same run.
Rounds are interleaved; the smallest time of each case counts, the median shows how quiet the machine was.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from calls import seconds_per_call
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert.gallery import build
from dalembert.gallery.chain import chain
from dalembert.kernels.base import tables as T

SIZES = (8, 16, 32, 64, 128, 256)
ROUNDS = 25


def ours(model: da.Model, count: int) -> Callable[[], float]:
    """Seconds of one evaluation at the initial state, moving."""
    mechanism = da.compile(model)
    run = da.Jet().prepare(mechanism)
    x = mechanism.x_0.copy()
    return lambda: seconds_per_call(run, run.system, T.RATE, 0.0, x, count)


def pinocchio_chain(n: int, count: int) -> Callable[[], float] | None:
    """Seconds of one aba on a chain of n spherical joints, or None where Pinocchio is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pin.Model()
    parent = 0
    for k in range(n):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -1.0 if k else 0.0]))
        parent = model.addJoint(parent, pin.JointModelSpherical(), place, f"joint{k}")
        inertia = pin.Inertia(1.0, np.array([0.0, 0.0, -0.5]), np.diag([0.1, 0.1, 0.01]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data = model.createData()
    rng = np.random.default_rng(0)
    q, v, tau = pin.neutral(model), rng.standard_normal(model.nv), np.zeros(model.nv)

    def one() -> float:
        begin = time.perf_counter()
        for _ in range(count):
            pin.aba(model, data, q, v, tau)
        return (time.perf_counter() - begin) / count

    return one


def main() -> None:
    cases: dict[str, Callable[[], float]] = {"slider-crank": ours(build("slider_crank"), 2000)}
    cases |= {f"chain {n}": ours(chain(n), max(20, 6400 // n)) for n in SIZES}
    aba = pinocchio_chain(64, 100)
    if aba is not None:
        cases["Pinocchio aba, chain 64"] = aba
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            times[name].append(case())
    console = Console(width=100)
    table = Table(title="one evaluation [microseconds]", title_justify="left")
    for heading in ("case", "smallest", "median"):
        table.add_column(heading, justify="right" if heading != "case" else "left")
    for name, values in times.items():
        table.add_row(name, f"{1e6 * min(values):.2f}", f"{1e6 * np.median(values):.2f}")
    console.print(table)
    smallest = [min(times[f"chain {n}"]) for n in SIZES]
    exponent = np.polyfit(np.log(SIZES), np.log(smallest), 1)[0]
    console.print(f"growth of the chain's time: n^{exponent:.2f} (limit 1.15)")
    console.print(f"slider-crank: {1e6 * min(times['slider-crank']):.2f} us (limit 3)")
    if aba is None:
        console.print("Pinocchio is not installed: pip install -e '.[bench]'")
    else:
        ratio = min(times["chain 64"]) / min(times["Pinocchio aba, chain 64"])
        console.print(f"chain 64 against Pinocchio's aba: {ratio:.2f} (limit 1)")


if __name__ == "__main__":
    main()
