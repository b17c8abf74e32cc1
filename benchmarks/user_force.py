"""A whole `simulate` with a force that is a function of the user beside one without it, the second call in a process.

CPU time, the two in turns; the median of each counts. The two runs differ by what the force does, so their steps do, too.
Then the time in which new processes load the function from disk, once everything else that a run needs is loaded.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert import gallery

ROUNDS = 60


def push(t, r, v, R, w):
    return np.array([0.1 * np.sin(3.0 * t), -0.1 * v[1], 0.0])


def free_body() -> da.Model:
    model = da.Model()
    model.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(0.1, 2.0, 0.1))
    return model


def pendulum() -> da.Model:
    model = da.Model()
    model.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0))
    model.add_revolute("pin", model.ground, "body", point=(0, 0, 0), axis=(0, 1, 0))
    return model


CASES = {
    "free body, 1 s": (free_body, "body", 1.0),
    "pendulum, 1 s": (pendulum, "body", 1.0),
    "pendulum, 5 s": (pendulum, "body", 5.0),
    "slider-crank, 1 s": (gallery.slider_crank, "rod", 1.0),
    "slider-crank, 5 s": (gallery.slider_crank, "rod", 5.0),
}


def load() -> None:
    """In a new process: what the function takes beyond a run without it."""
    from dalembert.compilation.callbacks import Callbacks

    da.simulate(free_body(), 1.0)
    model = free_body()
    model.add_force("push", "body", push)
    mechanism = da.compile(model)
    begin = time.process_time()
    Callbacks(mechanism)
    print(f"{time.process_time() - begin:.3f}", end=" ")


def main() -> None:
    if sys.argv[1:] == ["load"]:
        load()
        return
    table = Table("run", "without [ms]", "with [ms]", "ratio", "evaluations without, with")
    for name, (make, body, t_end) in CASES.items():
        models = make(), make()
        models[1].add_force("push", body, push)
        times: list[list[float]] = [[], []]
        for k in range(ROUNDS + 2):
            for model, spent in zip(models, times, strict=True):
                begin = time.process_time()
                da.simulate(model, t_end)
                spent += [] if k < 2 else [1e3 * (time.process_time() - begin)]
        a, b = map(np.median, times)
        counts = [str(da.simulate(model, t_end).statistics.rate_evaluations) for model in models]
        table.add_row(name, f"{a:.2f}", f"{b:.2f}", f"{b / a:.2f}", ", ".join(counts))
    Console().print(table)
    print("loaded in a new process, s of CPU: ", end="", flush=True)
    for _ in range(5):
        subprocess.run([sys.executable, __file__, "load"], check=True)
    print()


if __name__ == "__main__":
    main()
