"""A whole `simulate` with a force that is a function of the user beside one without it, the second call in a process.

CPU time, the two in turns; the median of each counts. The two runs differ by what the force does, so their steps do, too.
"""

from __future__ import annotations

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


def main() -> None:
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


if __name__ == "__main__":
    main()
