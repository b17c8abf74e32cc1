"""One right-hand side of `Minimal` against one distribution of `Jet` on the slider-crank, interleaved; smallest of all rounds.

Limit: 2.5, with the basis carried along by the integrator (the default) and with the exponential at the end of a step.
"""

from __future__ import annotations

import numpy as np
from calls import seconds_per_call

import dalembert as da
from dalembert.gallery import build
from dalembert.kernels.base import tables as T

ROUNDS, COUNT, LIMIT = 40, 2000, 2.5


def main() -> None:
    mechanism = da.compile(build("slider_crank"))
    formulations = {"Jet()": da.Jet(), "Minimal()": da.Minimal(), "Minimal(order=1)": da.Minimal(order=1)}
    runs = {name: formulation.prepare(mechanism) for name, formulation in formulations.items()}
    states = {name: run.from_absolute(mechanism.x_0) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            times[name].append(seconds_per_call(run, run.system, T.RATE, 0.0, states[name], COUNT))
    jet = min(times["Jet()"])
    for name, values in times.items():
        ratio = "" if name == "Jet()" else f"   ratio {min(values) / jet:.2f} (limit {LIMIT})"
        print(f"{name:18s} {1e6 * min(values):6.2f} us, median {1e6 * np.median(values):6.2f}{ratio}")


if __name__ == "__main__":
    main()
