"""Twenty thousand turns of an oscillator: who keeps energy, momentum and circle, and who is right about where it is.

python examples/oscillator_energy.py        writes oscillator_energy.png; figures 2 and 3 of [Variational] with the error beside
"""

import numpy as np
from matplotlib.figure import Figure

import dalembert as da
from dalembert import gallery

PERIODS, STEP = 20_000, 0.25
EVERY = STEP * np.linspace(0, round(PERIODS * 2 * np.pi / STEP), 1201).astype(int)
WAYS = {
    "symplectic Euler": {"integrator": da.SymplecticEuler(step=STEP)},
    "variational, midpoint": {"formulation": da.Variational(), "integrator": da.FixedStep(step=STEP)},
    "variational, RK4 curve": {"formulation": da.Variational(curve="rk4"), "integrator": da.FixedStep(step=STEP)},
    "Runge-Kutta 4": {"integrator": da.RungeKutta4(step=STEP)},
    "Dormand-Prince, rtol 1e-3": {"integrator": da.DormandPrince(rtol=1e-3, atol=1e-6)},  # the source's default
    "Dormand-Prince, our default": {"integrator": da.DormandPrince()},
}


def build() -> da.LagrangianSystem:
    """k = m = 1, started on the unit circle with unit speed: (cos t, sin t)."""
    return gallery.oscillator()


def run() -> dict[str, da.LagrangianSolution]:
    """The same motion by every method."""
    return {name: da.simulate(build(), EVERY[-1], save_at=EVERY, **way) for name, way in WAYS.items()}


def errors(solution: da.LagrangianSolution) -> dict[str, np.ndarray]:
    """Of energy, angular momentum, radius, and of the position itself."""
    x, y, t = solution["x"], solution["y"], solution.t
    return {
        "energy: |E / E(0) - 1|": solution.invariant("energy", scale=solution.energy.total[0]).deviation,
        "angular momentum: |p / p(0) - 1|": solution.invariant(lambda q, v: q.x * v.y - q.y * v.x, scale=1.0).deviation,
        "circle: |x^2 + y^2 - 1|": np.abs(x**2 + y**2 - 1),
        "position: distance from (cos t, sin t)": np.hypot(x - np.cos(t), y - np.sin(t)),
    }


def check(solutions: dict[str, da.LagrangianSolution]) -> None:
    """Bounded for the symplectic methods but for rounding (below 1e-16 a step), lost by the others; bounded energy alone says
    nothing about the position."""
    found = {name: list(errors(solution).values()) for name, solution in solutions.items()}
    limits = {
        "symplectic Euler": (0.05, 1e-12, 0.2),
        "variational, midpoint": (1e-11,) * 3,
        "variational, RK4 curve": (1e-8,) * 3,
    }
    for name, largest in limits.items():
        assert all(values.max() < limit for values, limit in zip(found[name], largest, strict=False))
    for name, loss in {"Runge-Kutta 4": 0.5, "Dormand-Prince, rtol 1e-3": 0.5, "Dormand-Prince, our default": 1e-5}.items():
        for values in found[name][:2]:  # energy and momentum: grow all the time
            assert np.all(np.diff(values) > -1e-9) and values[-1] > loss
    assert found["variational, midpoint"][3].max() > 1.9
    assert found["variational, RK4 curve"][3].max() < 1e-3


def draw(solutions: dict[str, da.LagrangianSolution]) -> Figure:
    """One panel per error."""
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    for k, title in enumerate(errors(next(iter(solutions.values())))):
        ax = figure.add_subplot(2, 2, k + 1, title=title, yscale="log", ylim=(1e-16, 10), xlabel="periods")
        for name, solution in solutions.items():
            ax.plot(solution.t / (2 * np.pi), np.maximum(errors(solution)[title], 1e-16), linewidth=0.8, label=name)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


if __name__ == "__main__":
    results = run()
    check(results)
    draw(results).savefig("oscillator_energy.png", dpi=110)
