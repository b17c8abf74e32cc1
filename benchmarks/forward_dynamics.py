"""One forward-dynamics evaluation of chains of n ball joints in relative coordinates, beside Pinocchio's aba (C++).

Both evaluate the same chain at the same random state, and their accelerations are compared first, up to n = 16. Rounds are
interleaved; the smallest time of each case counts, the median shows how quiet the machine was.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from calls import seconds_per_call
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert.gallery.chain import LENGTH, MASS, SIDE, chain
from dalembert.kernels.base import tables as T

SIZES = (4, 8, 16, 32, 64, 128, 256)
LARGEST = 64  # for Pinocchio, whose data grow with n^3
COMPARED = 16  # rounding grows in its local frames: 4e-12 here, 0.2 at n = 64, where 60 digits agree with ours to 4e-14
ROUNDS = 25
CALLS = 64_000  # so many links per measurement, that entering compiled code does not count
LIMIT = 0.25  # of Pinocchio's time, n = 64
Case = tuple[Callable[[], float], np.ndarray]  # seconds of one evaluation, accelerations


def state(n: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, 4) unit quaternions, scalar first, and (n, 3) relative angular velocities in the child's axes."""
    rng = np.random.default_rng(n)
    theta = rng.standard_normal((n, 4))
    return theta / np.linalg.norm(theta, axis=1)[:, None], rng.standard_normal((n, 3))


def ours(n: int) -> Case:
    run = da.MovingFrame().prepare(da.compile(chain(n)))
    theta, w = state(n)
    x = np.concatenate([theta.ravel(), w.ravel(), [0.0]])
    dx = np.zeros_like(x)
    assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    count = CALLS // n
    return lambda: seconds_per_call(run, run.system, T.RATE, 0.0, x, count), dx[4 * n : 7 * n]


def pinocchio(n: int) -> Case | None:
    """None where Pinocchio is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    model = pin.Model()
    parent = 0
    across, axial = MASS * (LENGTH**2 + SIDE**2) / 12, MASS * SIDE**2 / 6
    for k in range(n):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTH if k else 0.0]))
        parent = model.addJoint(parent, pin.JointModelSpherical(), place, f"joint{k}")
        inertia = pin.Inertia(MASS, np.array([0.0, 0.0, -LENGTH / 2]), np.diag([across, across, axial]))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    data, tau = model.createData(), np.zeros(model.nv)
    theta, w = state(n)
    q, v = theta[:, [1, 2, 3, 0]].ravel(), w.ravel()
    count = CALLS // n

    def one() -> float:
        begin = time.perf_counter()
        for _ in range(count):
            pin.aba(model, data, q, v, tau)
        return (time.perf_counter() - begin) / count

    return one, np.array(pin.aba(model, data, q, v, tau))


def main() -> None:
    console = Console(width=100)
    cases = {("ours", n): ours(n) for n in SIZES}
    for n in SIZES:
        peer = pinocchio(n) if n <= LARGEST else None
        if peer is not None:
            cases["aba", n] = peer
            a, b = cases["ours", n][1], peer[1]
            assert n > COMPARED or np.abs(a - b).max() <= 1e-10 * np.abs(b).max(), f"accelerations differ for n = {n}"
    times: dict[tuple[str, int], list[float]] = {key: [] for key in cases}
    for _ in range(ROUNDS):
        for key, (case, _) in cases.items():
            times[key].append(case())
    table = Table(title="one forward-dynamics evaluation, chain of n ball joints [microseconds]", title_justify="left")
    for heading in ("n", "ours", "median", "aba", "median", "ours / aba"):
        table.add_column(heading, justify="right")
    for n in SIZES:
        row = [f"{1e6 * value:.2f}" for value in (min(times["ours", n]), np.median(times["ours", n]))]
        if ("aba", n) in times:
            row += [f"{1e6 * value:.2f}" for value in (min(times["aba", n]), np.median(times["aba", n]))]
            row += [f"{min(times['ours', n]) / min(times['aba', n]):.2f}"]
        table.add_row(str(n), *row)
    console.print(table)
    exponent = np.polyfit(np.log(SIZES), np.log([min(times["ours", n]) for n in SIZES]), 1)[0]
    console.print(f"growth: n^{exponent:.2f} (limit 1.2)")
    if ("aba", 64) in times:
        ratio = min(times["ours", 64]) / min(times["aba", 64])
        console.print(f"chain of 64 against Pinocchio's aba: {ratio:.2f} (limit {LIMIT})")
    else:
        console.print("Pinocchio is not installed: pip install -e '.[bench]'")


if __name__ == "__main__":
    main()
