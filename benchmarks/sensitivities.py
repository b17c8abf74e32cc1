"""What sensitivities of a run cost, in runs without them.

    python -m benchmarks.sensitivities

Slider-crank of fit_slider_crank.py over 2 s with 101 saved times, by 1, 2 and 6 parameters. CPU times, medians of interleaved
rounds; the ratio of one run with sensitivities to one without, and what of it goes into models beside and into repeated steps.
"""

import os
import time

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

import dalembert as da
from benchmarks.fit_slider_crank import TIMES, TRUTH, slider_crank
from dalembert.simulation import sensitivities

ROUNDS, COUNTS = 15, (0, 1, 2, 6)
spent = {}


def timed(name):
    """Add up the CPU time of a function of the module."""
    function = getattr(sensitivities, name)

    def call(*args, **options):
        begin = time.process_time()
        try:
            return function(*args, **options)
        finally:
            spent[name] = spent.get(name, 0.0) + time.process_time() - begin

    setattr(sensitivities, name, call)


def run(count):
    """Seconds of CPU for one run: in all, for tables, for steps."""
    spent.clear()
    begin = time.process_time()
    da.simulate(slider_crank, TIMES[-1], parameters=TRUTH, save_at=TIMES, sensitivities=list(TRUTH)[:count])
    return time.process_time() - begin, spent.get("table_tangents", 0.0), spent.get("tangents", 0.0)


def main():
    for name in ("table_tangents", "tangents"):
        timed(name)
    for count in COUNTS:
        run(count)
    rounds = np.array([[run(count) for count in COUNTS] for _ in range(ROUNDS)])
    plain = np.median(rounds[:, 0, 0])
    for k, count in enumerate(COUNTS):
        total, tables, steps = np.median(rounds[:, k], axis=0)
        print(
            f"{count} parameters: {1e3 * total:6.1f} ms, {total / plain:5.2f} runs;"
            f" models beside {tables / plain:5.2f}, steps {steps / plain:5.2f}"
        )


if __name__ == "__main__":
    main()
