"""What becomes of the constraints: nothing done, Baumgarte, projection, soft joints and Jet on the spatial slider-crank.

python examples/drift_study.py          writes drift_study.png
"""

import numpy as np

import dalembert as da
from dalembert import gallery
from dalembert.plot.style import house_style, legend_above, new_figure, save_figure

STEP, T_END = 2e-3, 5.0
UNSTABLE = "Baumgarte, τ = 0.45 h"
WAYS = {
    "nothing": da.Impulse(stabilisation=None),
    UNSTABLE: da.Impulse(stabilisation="baumgarte", tau=0.45),
    "Baumgarte, τ = 2 h": da.Impulse(stabilisation="baumgarte", tau=2.0),
    "Baumgarte, τ = 20 h": da.Impulse(stabilisation="baumgarte", tau=20.0),
    "soft joints, 10⁶ N/m": da.Soft(stiffness=1e6, damping=1e3),
    "projection": da.Impulse(),
    "Jet": da.Jet(),
}


def build() -> da.Model:
    """The benchmark's slider-crank."""
    return gallery.slider_crank()


def run() -> dict[str, da.Solution]:
    """Every way with the same integrator and step; one that fails is kept as far as it came."""
    solutions = {}
    for name, formulation in WAYS.items():
        try:
            solutions[name] = da.simulate(build(), T_END, formulation=formulation, integrator=da.RungeKutta4(step=STEP))
        except da.SimulationError as failure:
            solutions[name] = failure.solution
    return solutions


def check(solutions: dict[str, da.Solution]) -> None:
    """Drift without stabilisation grows; a tau below h/2 is unstable; a larger tau holds less; projection holds."""
    worst = {name: np.nanmax(solution.drift.position) for name, solution in solutions.items()}
    assert worst["projection"] < 1e-10 and worst["Jet"] < 1e-10
    assert worst["Baumgarte, τ = 2 h"] < worst["Baumgarte, τ = 20 h"] < worst["nothing"] < worst[UNSTABLE]


if __name__ == "__main__":
    results = run()
    check(results)
    with house_style():
        figure = new_figure(10.0, 5.0)
        ax = figure.add_subplot(xlabel="time t [s]", ylabel="largest residual [m or rad]", yscale="log", ylim=(1e-16, 1e2))
        for name, solution in results.items():
            starts = np.arange(1, len(solution.t), 1 + len(solution.t) // 100)  # the largest of every hundredth of the run
            largest = np.maximum.reduceat(solution.drift.position, starts)
            ax.plot(solution.t[starts], np.maximum(largest, 1e-16), label=name)
        ax.set_title(f"position drift of the slider-crank, RungeKutta4, h = {STEP:g} s")
        legend_above(ax)
    save_figure(figure, "drift_study.png")
