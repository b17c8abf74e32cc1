"""What sensitivities of a run cost, in runs without them.

    python -m benchmarks.sensitivities [SECONDS ...]

Slider-crank of fit_slider_crank.py over 1, 2 and 5 s, with a saved time every 20 ms, by 1 to 8 parameters. CPU times,
medians of interleaved rounds; the ratio of one run with sensitivities to one without, and that of their compiled loops.
"""

import os
import sys
import time

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

import dalembert as da
from benchmarks.fit_slider_crank import TRUTH, slider_crank

ROUNDS, COUNTS, LENGTHS = 15, (0, 1, 2, 3, 4, 6, 8), (1.0, 2.0, 5.0)
PARAMETERS = {**TRUTH, "crank_mass": 0.12, "length": 0.2}


def run(length, count):
    """Seconds of CPU for one run: in all, in the loop."""
    begin = time.process_time()
    times, names = np.linspace(0.0, length, round(50 * length) + 1), list(PARAMETERS)[:count]
    made = da.simulate(slider_crank, length, parameters=PARAMETERS, save_at=times, sensitivities=names)
    return time.process_time() - begin, made.statistics.cpu_time


def main():
    lengths = [float(word) for word in sys.argv[1:]] or LENGTHS
    for length in lengths:
        for count in COUNTS:
            run(length, count)
        rounds = np.array([[run(length, count) for count in COUNTS] for _ in range(ROUNDS)])
        plain, loop = np.median(rounds[:, 0], axis=0)
        print(f"run of {length:g} s: {1e3 * plain:.1f} ms, of which {1e3 * loop:.1f} ms in the loop")
        for k, count in enumerate(COUNTS[1:], 1):
            total, steps = np.median(rounds[:, k], axis=0)
            print(
                f"  {count} parameters: {total / plain:5.2f} runs (at most {1 + 0.4 * count:.1f} wanted);"
                f" loop {steps / loop:5.2f} loops"
            )


if __name__ == "__main__":
    main()
