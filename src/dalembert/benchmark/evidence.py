"""What the runs of the suite say about published values: every figure in these sentences is computed from the runs."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.benchmark.problem import derived, stored

Runs = list[tuple[str, Any]]  # formulation and solution, of those that met the values


def at(solution: Any, t: Any) -> Any:
    """Indices of saved times."""
    return np.array([int(np.argmin(np.abs(solution.t - value))) for value in np.atleast_1d(t)])


def _spread(values: list[Array]) -> float:
    """Largest difference between formulations."""
    return float(np.ptp(np.stack(values), axis=0).max())


def _several(runs: Runs) -> str:
    return f"{len(runs)} formulations" if len(runs) > 1 else "one formulation"


def pendulum(runs: Runs) -> list[str]:
    """The energy drift that is asked for."""
    limit = stored("simple_pendulum")["energy_limit"]["value"]
    worst = max(float(np.abs(s.energy.total - s.energy.total[0]).max()) for _, s in runs)
    return [f"energy drift asked for: at most {limit:g} J; ours: at most {worst:.1e} J over 10 s"]


def n_four_bar(runs: Runs) -> list[str]:
    """EXUDYN's values at 10 s."""
    published = stored("n_four_bar_2")["exudyn"]
    sentences = []
    for label, key in (
        ("with its step of 1.25e-4 s", "EXUDYN_N2_t10_h_1_25e_4"),
        ("extrapolated", "EXUDYN_Richardson_extrapolated"),
    ):
        value = np.array(published[key]["pos"])
        off = [float(np.linalg.norm(s.point("link 0", (0, 0.5, 0))[-1, :2] - value)) for _, s in runs]
        sentences.append(f"EXUDYN's B0 at 10 s, {label}, is {min(off):.1e} to {max(off):.1e} m from ours")
    between = _spread([s.point("link 0", (0, 0.5, 0))[-1, :2] for _, s in runs])
    return [*sentences, f"our {_several(runs)} differ by {between:.1e} m there: the published digits end at its step size"]


def andrews(runs: Runs) -> list[str]:
    """The printed digits of the test set."""
    data = stored("andrews")
    published, exact = data["published"], data["expected"][0]
    printed = published["q"][0]
    beta = exact["values"]["beta"][-1]
    ours = [float(s.coordinate("O")[at(s, 0.03)[0]]) - 0.0617138900142764 for _, s in runs]
    columns = {"beta": 0, "gamma": 2, "delta": 4, "epsilon": 6}
    ahead = [
        (published["q"][k] - exact["values"][name][-1]) / exact["values"][f"{name}_rate"][-1] for name, k in columns.items()
    ]
    listed = ", ".join(f"{shift:.3e}" for shift in ahead)
    return [
        f"beta(0.03 s): printed {printed:.15g}; {_several(runs)} are {max(abs(b - printed) for b in ours):.2e} rad from it and "
        f"{max(abs(b - beta) for b in ours):.1e} rad from the 80-bit value, {beta:.15g}",
        f"against the latter the printed {', '.join(columns)} are ahead by one and the same time ({listed} s): an error of the "
        "printed run along its motion; its 16 digits hold to about 10",
    ]


def a03(runs: Runs) -> list[str]:
    """The printed support B; the balance of energy that A03 asks for."""
    printed = stored("andrews")["printed_in_A03"]
    beta = -0.0617138900142764
    E = (0.007 - 0.028) * np.array([cos(beta), sin(beta)])
    off = [float(np.linalg.norm(E - np.array(b))) for b in (printed["B"], (-printed["B"][0], printed["B"][1]))]
    worst = max(float(np.abs(s.energy.total - s.energy.total[0]).max()) for _, s in runs)
    scale = max(s.energy.scale for _, s in runs)
    return [
        f"printed B = ({printed['B'][0]}, {printed['B'][1]}) cannot be: crank and K2 put E {off[0]:.5f} m from it, the "
        f"triangle needs 0.035 m; with x of B negative, as in the IVP test set, the distance is {off[1]:.5f} m",
        f"T + V - E_0 - torque (beta - beta_0), zero in theory: at most {worst:.1e} J of {scale:.2g} J",
    ]


def a03_rounded(runs: Runs) -> list[str]:
    """What rounding of the start does."""
    exact = derived("andrews")
    F = np.array([exact.values["x_F"][-1], exact.values["y_F"][-1]])
    s = runs[0][1]
    off = float(np.linalg.norm(s.point("K1", (0.007 - 0.00092, 0, 0))[-1, :2] - F))
    return [f"the start rounded to -0.0620 rad moves F at 0.05 s by {off:.1e} m: values of the two readings are not comparable"]


def bricard(runs: Runs) -> list[str]:
    """The published plot."""
    s = runs[0][1]
    P = s.point("rod 2", (0.5, 0, 0))
    k = int(np.argmin(P[:, 0]))
    return [
        f"published is a plot ({stored('bricard')['plot']}); ours: x = {P[k, 0]:.4f} at {s.t[k]:.2f} s, largest y "
        f"{P[:, 1].max():.4f}, smallest z {P[:, 2].min():.4f} m",
        f"redundant rows found: {len(s.mechanism.redundant)} (six hinges give 30 rows for 30 velocities and one motion)",
    ]


def slider_crank(runs: Runs) -> list[str]:
    """Every published submission against this reading."""
    s = runs[0][1]
    x = s.position("slider")[:, 0]
    rows, ends = [], []
    for name, series in stored("slider_crank")["submissions"].items():
        off = np.abs(x[at(s, series["t"])] - np.array(series["x"]))
        rows.append(f"{name} {off.max():.1e}")
        ends.append(series["x"][-1])
    return [
        f"the six published series contradict each other: x(5 s) from {min(ends):.6g} to {max(ends):.6g} m; ours {x[-1]:.9f} m",
        f"largest distance of each from this reading, where sampled [m]: {', '.join(rows)}",
    ]


def heavy_top(runs: Runs) -> list[str]:
    """Lagrange's integrals."""
    s = runs[0][1]
    w = s.angular_velocity("top", frame="body")
    L = np.einsum("tij,tj->ti", s.rotation("top"), w * np.array([15.234375, 0.46875, 15.234375]))[:, 2]
    return [
        f"spin of 150 rad/s kept to {float(np.abs(w[:, 1] - 150).max()):.1e} rad/s, vertical angular momentum to "
        f"{float(np.ptp(L) / np.abs(L).max()):.1e} of itself ({runs[0][0]})"
    ]


def euler_top(runs: Runs) -> list[str]:
    """Constant angular momentum."""
    worst = 0.0
    for _, s in runs:
        L = np.einsum("tij,tj->ti", s.rotation("top"), s.angular_velocity("top", frame="body") * np.array([1.0, 2.0, 3.0]))
        worst = max(worst, float(np.abs(L - L[0]).max() / np.linalg.norm(L[0])))
    return [f"angular momentum in space kept to {worst:.1e} of itself by all of {_several(runs)}"]


def bicycle(runs: Runs) -> list[str]:
    """The state that is printed beside the accelerations."""
    state = stored("bicycle")["state"]
    s = runs[0][1]
    off = np.abs(s.velocity("rear wheel")[0] - (-state["xd"], state["yd"], -state["zd"])).max()
    return [f"the printed velocity of the rear wheel follows from rolling: {off:.1e} m/s from ours (13 digits are printed)"]
