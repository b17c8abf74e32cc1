"""A hundred thousand steps of Routh's sphere: who keeps its three integrals, and who is right about how it has turned.

python examples/rolling_sphere_energy.py        writes rolling_sphere_energy.png
"""

import numpy as np
from matplotlib.figure import Figure

import dalembert as da
from dalembert import gallery

STEP, STEPS, SHOWN = 4e-3, 100_000, 1000  # the sphere turns by 0.16 rad in a step
TIMES = STEP * np.linspace(0, STEPS, SHOWN + 1).astype(int)
WAYS = {
    "variational, midpoint": {"formulation": da.Variational(), "integrator": da.FixedStep(step=STEP)},
    "variational, order 4": {"formulation": da.Variational(), "integrator": da.FixedStep(step=5 * STEP, composition=5)},
    "Runge-Kutta 4": {"integrator": da.RungeKutta4(step=STEP)},
    "Dormand-Prince, rtol 1e-3": {"integrator": da.DormandPrince(rtol=1e-3, atol=1e-6)},
}


def build() -> da.Model:
    """Radius 2 cm, centre of mass 6 mm below the centre, 40 rad/s."""
    return gallery.routh_sphere()


def run() -> dict[str, da.Solution]:
    """The same motion by every method, and to 1e-12 as reference; all but the variational ones project onto the constraints."""
    ways = WAYS | {"reference": {"integrator": da.DOP853(rtol=1e-12, atol=1e-12)}}
    return {name: da.simulate(build(), TIMES[-1], save_at=TIMES, **way) for name, way in ways.items()}


def errors(solution: da.Solution, reference: da.Solution) -> dict[str, np.ndarray]:
    """Of energy, of Jellett's and Routh's integrals (relative), and the angle from the true orientation."""
    m, R, alpha = 0.02, 0.02, 0.3
    J = m * R**2 * np.array([131 / 350, 131 / 350, 0.4])
    w, up = solution.angular_velocity("sphere", frame="body"), solution.rotation("sphere")[:, 2, :]
    s = R * ((0, 0, alpha) - up)  # from the centre of mass to the contact
    routh = w[:, 2] * np.sqrt(J[0] * J[2] + m * np.sum(s * J * s, axis=1))
    kept = {"energy": solution.energy.total, "Jellett: (I w) . s": np.sum(w * J * s, axis=1), "Routh: w3 f(s)": routh}
    between = np.abs(np.sum(solution.quaternion("sphere") * reference.quaternion("sphere"), axis=1))
    turned = 2 * np.arccos(np.minimum(between, 1))
    return {name: np.abs(v / v[0] - 1) for name, v in kept.items()} | {"orientation [rad]": turned}


def check(solutions: dict[str, da.Solution]) -> None:
    """Bounded for the variational steps and growing for the others; what is right about the angle is another matter."""
    found = {name: errors(solutions[name], solutions["reference"]) for name in WAYS}
    half = len(TIMES) // 2
    for name in ("variational, midpoint", "variational, order 4"):
        for values in list(found[name].values())[:3]:
            assert values[half:].max() <= 1.1 * values[:half].max() + 1e-10
    lost = found["Runge-Kutta 4"]["energy"]
    assert lost[half:].max() > 1.8 * lost[:half].max()  # linear in time
    assert found["Dormand-Prince, rtol 1e-3"]["energy"].max() > 0.05


def draw(solutions: dict[str, da.Solution]) -> Figure:
    """One panel per error."""
    figure = Figure(figsize=(12, 7.5), layout="constrained")
    found = {name: errors(solutions[name], solutions["reference"]) for name in WAYS}
    for k, title in enumerate(next(iter(found.values()))):
        ax = figure.add_subplot(2, 2, k + 1, title=title, yscale="log", xlabel="steps of 4 ms")
        for name in WAYS:
            ax.plot(TIMES[1:] / STEP, np.maximum(found[name][title][1:], 1e-16), linewidth=0.8, label=name)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(WAYS))
    return figure


if __name__ == "__main__":
    results = run()
    draw(results).savefig("rolling_sphere_energy.png", dpi=110)
    check(results)
