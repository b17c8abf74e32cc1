"""An oscillator held on a circle by x x' + y y' = 0 alone: after four thousand turns the circle is still there, or not.

python examples/oscillator_on_circle.py     writes oscillator_on_circle.png; figure 4 of [Variational] with the error beside
"""

import numpy as np
from matplotlib.figure import Figure

import dalembert as da
from dalembert import gallery

PERIODS, STEP = 4_000, 0.4
EVERY = STEP * np.linspace(0, round(PERIODS * 2 * np.pi / STEP), 1201).astype(int)
WAYS = {
    "variational, constraint curve by its flow": {"formulation": da.Variational(), "integrator": da.FixedStep(step=STEP)},
    "Runge-Kutta 4, velocities projected": {"integrator": da.RungeKutta4(step=STEP)},
}


def build() -> da.LagrangianSystem:
    """k = 2, m = 1, unit speed: the constraint is at work, and the motion is (cos t, sin t)."""
    return gallery.oscillator_on_circle(k=2.0, angle=0.0, speed=1.0)


def run() -> dict[str, da.LagrangianSolution]:
    """The same motion by both methods."""
    return {name: da.simulate(build(), EVERY[-1], save_at=EVERY, **way) for name, way in WAYS.items()}


def errors(solution: da.LagrangianSolution) -> dict[str, np.ndarray]:
    """Of the constraint as given, of what it implies, and of the position itself."""
    x, y, t = solution["x"], solution["y"], solution.t
    return {
        "constraint: |x x' + y y'|": np.abs(x * solution["x'"] + y * solution["y'"]),
        "circle: |x^2 + y^2 - 1|": np.abs(x**2 + y**2 - 1),
        "energy: |E / E(0) - 1|": solution.invariant("energy", scale=solution.energy.total[0]).deviation,
        "position: distance from (cos t, sin t)": np.hypot(x - np.cos(t), y - np.sin(t)),
    }


def check(solutions: dict[str, da.LagrangianSolution]) -> None:
    """Both keep the constraint as given; only curves that lie in it keep the circle. The phase error is the step's, order 2."""
    variational, runge_kutta = (list(errors(solution).values()) for solution in solutions.values())
    assert all(values.max() <= 1e-12 for values in variational[:3])
    assert runge_kutta[0].max() <= 1e-10
    assert runge_kutta[1][-1] > 0.5 and runge_kutta[2][-1] > 0.5
    assert variational[3].max() > 1.9
    multiplier = next(iter(solutions.values())).multiplier("circle")
    np.testing.assert_allclose(multiplier, 1.0, atol=1e-10)  # k - m speed^2


def draw(solutions: dict[str, da.LagrangianSolution]) -> Figure:
    """One panel per error."""
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    for k, title in enumerate(errors(next(iter(solutions.values())))):
        ax = figure.add_subplot(2, 2, k + 1, title=title, yscale="log", ylim=(1e-17, 10), xlabel="periods")
        for name, solution in solutions.items():
            ax.plot(solution.t / (2 * np.pi), np.maximum(errors(solution)[title], 1e-17), linewidth=0.8, label=name)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(solutions))
    return figure


if __name__ == "__main__":
    results = run()
    check(results)
    draw(results).savefig("oscillator_on_circle.png", dpi=110)
