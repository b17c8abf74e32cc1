"""How the cost of accelerations grows with the number of links: recursion, sparse multipliers, and dense matrices.

python examples/growth.py          writes growth.png
"""

import time

import numpy as np

import dalembert as da
from dalembert.gallery import chain
from dalembert.plot.style import house_style, legend_above, new_figure, save_figure

SIZES, STEP = (4, 8, 16, 32, 64), 1e-4
WAYS = {
    "MovingFrame, recursion": da.MovingFrame(),
    "Jet, block-sparse": da.Jet(),
    "MovingFrame, dense reference": da.MovingFrame(path="reference"),
}


def build(n: int = 4) -> da.Model:
    """A hanging chain of n rods on ball joints, let go at an angle."""
    return chain(n, angle=0.3)


def timed(model: da.Mechanism, formulation: object, steps: int) -> tuple[float, da.Solution]:
    """CPU seconds of a run, the least of two, and its last state."""
    times = []
    for _ in range(2):
        start, end = time.process_time(), STEP * steps
        solution = da.simulate(model, end, formulation=formulation, integrator=da.RungeKutta4(step=STEP), save_at=[end])
        times.append(time.process_time() - start)
    return min(times), solution


def run() -> dict[tuple[str, int], tuple[float, da.Solution]]:
    """Seconds per evaluation, from two runs of different length, and the state after the shorter one."""
    results = {}
    for name, formulation in WAYS.items():
        for n in SIZES:
            more = 60_000 // n**2 if "dense" in name else 100_000 // n
            model = da.compile(build(n))
            (short, solution), (long, _) = (timed(model, formulation, steps) for steps in (10, 10 + more))
            results[name, n] = (long - short) / (4 * more), solution
    return results


def check(results: dict[tuple[str, int], tuple[float, da.Solution]]) -> None:
    """Three ways, one motion; the dense one falls behind."""
    recursion, sparse, dense = WAYS
    for n in SIZES:
        for other in (sparse, dense):
            np.testing.assert_allclose(results[other, n][1].u, results[recursion, n][1].u, atol=1e-8)
    assert results[dense, 64][0] > 3 * results[recursion, 64][0]


if __name__ == "__main__":
    measured = run()
    check(measured)
    with house_style():
        figure = new_figure(9.0, 4.6)
        ax = figure.add_subplot(xlabel="links n", ylabel="one evaluation [µs]", xscale="log", yscale="log")
        for name in WAYS:
            ax.plot(SIZES, [1e6 * measured[name, n][0] for n in SIZES], marker="o", label=name)
        ax.plot(SIZES, [0.2 * n for n in SIZES], color="#999999", linewidth=1, linestyle=":", label="growth with n")
        ax.set_xticks(SIZES, map(str, SIZES), minor=False)
        ax.minorticks_off()
        ax.set_title("chains of ball joints: cost of the accelerations")
        legend_above(ax)
    save_figure(figure, "growth.png")
