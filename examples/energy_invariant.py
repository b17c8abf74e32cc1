"""A double pendulum with a coarse fixed step: what keeping the energy by projection changes.

python examples/energy_invariant.py         writes energy_invariant.png
"""

import numpy as np

import dalembert as da


def build() -> da.Model:
    """Two rods of 1 m on hinges, released level."""
    model = da.Model(gravity=(0, 0, -9.81), name="double pendulum")
    for k, name in enumerate(("upper", "lower")):
        model.add_body(name, **da.rod(1.0, 1.0, axis="x", radius=0.02).body(), position=(k + 0.5, 0, 0))
    model.add_revolute("shoulder", model.ground, "upper", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("elbow", "upper", "lower", point=(1, 0, 0), axis=(0, 1, 0))
    return model


def run() -> tuple[da.Solution, da.Solution]:
    """The same 20 s without and with the energy as an invariant."""
    step = da.RungeKutta4(step=0.01)
    free = da.simulate(build(), t_end=20.0, integrator=step)
    kept = da.simulate(build(), t_end=20.0, integrator=step, formulation=da.Jet(invariants="energy"))
    return free, kept


def energy_error(solution: da.Solution) -> float:
    """Largest change of the total energy, relative to the energy in motion."""
    energy = solution.energy
    return float(np.abs(energy.total - energy.total[0]).max() / energy.scale)


def check(solutions: tuple[da.Solution, da.Solution]) -> None:
    """Both keep the joints closed; only one keeps the energy."""
    free, kept = solutions
    for solution in solutions:
        assert solution.drift.position.max() < 1e-10
    assert energy_error(free) > 1e-6
    assert energy_error(kept) < 1e-11


if __name__ == "__main__":
    from matplotlib.figure import Figure

    results = run()
    check(results)
    figure = Figure(figsize=(9, 7), layout="constrained")
    for ax, result, label in zip(figure.subplots(2, sharey=True), results, ("free", "kept"), strict=True):
        result.plot.energy_error(ax=ax)
        ax.set_title(f"energy {label}: fourth-order Runge-Kutta, step 0.01 s", loc="left")
    results[0].plot.save("energy_invariant.png", figure)
