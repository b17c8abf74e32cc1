"""Reference motions that no source prints, each derived here from scratch and integrated in extended precision.

    python -m benchmarks.references            writes src/dalembert/benchmark/data/derived.json

Nothing of the library is used: one-degree-of-freedom mechanisms by second derivatives of their closed kinematics, the top by
Euler's equations, the governor by Lagrange's equations in its three coordinates. Numbers are 80-bit (x86); steps are those of
Gragg-Bulirsch-Stoer extrapolation, for the stiff governor of Radau IIA with five stages [HairerWanner1996, IV.5]. Every motion
is integrated twice, with different tolerances or step sizes; their largest relative difference is stored as its accuracy.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from benchmarks.references.equations import crank_rates, governor_rates, squeezer_rates, top_rates
from benchmarks.references.integration import radau, series, twice
from benchmarks.references.jets import PI, L

TARGET = Path(__file__).parents[2] / "src/dalembert/benchmark/data/derived.json"


def governor(times, fine):
    """Steps grow from 1e-7 s across the boundary layer to 1/fine s; every output time is a grid point."""
    grid, h = [L(0)], L(1e-7)
    marks = [L(t) for t in times]
    while grid[-1] < marks[-1]:
        ahead = next(m for m in marks if m > grid[-1])
        step = min(h, ahead - grid[-1])
        grid.append(ahead if ahead - grid[-1] <= h * L("1.01") else grid[-1] + step)
        h = min(h * L("1.25"), L(1) / fine)
    states = radau(governor_rates, [2 * PI, PI / 6, L("0.5"), L(0), L(0)], grid)
    at = {float(t): y for t, y in zip(grid, states, strict=True)}
    return [at[t] for t in times]


def jacobi_difference(times, omega):
    """From w = (a_1 cn, a_2 sn, a_3 dn)(p t + v_0 | m), I = (1, 2, 3), L^2 > 2 T I_2 [LandauLifshitz1976, 37]."""
    from scipy.special import ellipj, ellipkinc

    I, w = np.array([1.0, 2.0, 3.0]), np.array([0.6, 0.2, 1.1])
    energy, momentum = float(I @ w**2), float((I * w) @ (I * w))
    low, high = energy * I[2] - momentum, momentum - energy * I[0]
    a = np.sqrt([low / (I[0] * (I[2] - I[0])), low / (I[1] * (I[2] - I[1])), high / (I[2] * (I[2] - I[0]))])
    p, m = np.sqrt((I[2] - I[1]) * high / I.prod()), (I[1] - I[0]) * low / ((I[2] - I[1]) * high)
    sn, cn, dn, _ = ellipj(p * np.array(times) + ellipkinc(np.arctan2(w[1] / a[1], w[0] / a[0]), m), m)
    return float(np.abs(np.stack([a[0] * cn, a[1] * sn, a[2] * dn], axis=1) - omega.astype(float)).max())


def floats(values):
    return [float(v) for v in values]


def main():
    made = {}
    times = [round(0.005 * k, 3) for k in range(1, 11)]
    for name, beta in (("andrews", L("-0.0617138900142764496358948458001")), ("andrews_rounded_start", L("-0.0620"))):
        y, accuracy = series(squeezer_rates, [beta, 0], times)
        F = [(L("0.007") * np.cos(b), L("0.007") * np.sin(b)) for b in y[:, 0]]
        made[name] = {
            "origin": "one coordinate beta, loops closed by intersecting circles, M beta'' + M'/2 beta'^2 + U' = torque",
            "accuracy": accuracy,
            "t": times,
            "values": {
                "x_F": floats(f[0] for f in F),
                "y_F": floats(f[1] for f in F),
                "beta": floats(y[:, 0]),
                "beta_rate": floats(y[:, 1]),
            },
        }
        print(name, accuracy, flush=True)
    times = [0.1 * k for k in range(1, 51)]
    times = [round(t, 1) for t in times]
    for name, inertia in (("slider_crank_a", ("4e-3", "4e-4", "4e-3")), ("slider_crank_c", ("4e-3", "4e-3", "4e-4"))):
        rates, slider = crank_rates(inertia)
        y, accuracy = series(rates, [0, 6], times)
        x = [slider(*row) for row in y]
        made[name] = {
            "origin": "one coordinate theta, closed kinematics, M theta'' + M'/2 theta'^2 + U' = 0",
            "accuracy": accuracy,
            "t": times,
            "values": {
                "slider_x": floats(v[0] for v in x),
                "slider_v": floats(v[1] for v in x),
                "crank_angle": floats(y[:, 0]),
                "crank_rate": floats(y[:, 1]),
            },
        }
        print(name, accuracy, flush=True)
    times = [round(0.1 * k, 1) for k in range(1, 21)]
    y, accuracy = series(top_rates, [1, 0, 0, 0, 0, 150, L("-4.61538")], times)
    made["heavy_top"] = {
        "origin": "Euler's equations about the fixed point, Euler parameters",
        "accuracy": accuracy,
        "t": times,
        "values": {"theta": [floats(row[:4]) for row in y], "omega": [floats(row[4:]) for row in y]},
    }
    print("heavy_top", accuracy, flush=True)
    times = [float(k) for k in range(1, 11)]
    inertia, w = np.array([L(1), L(2), L(3)]), [L("0.6"), L("0.2"), L("1.1")]
    y, accuracy = series(lambda t, y: top_rates(t, y, inertia, L(0)), [1, 0, 0, 0, *w], times)
    made["euler_top"] = {
        "origin": "Euler's equations without torque, Euler parameters",
        "accuracy": accuracy,
        "difference_from_elliptic_functions": jacobi_difference(times, y[:, 4:]),
        "t": times,
        "values": {"theta": [floats(row[:4]) for row in y], "omega": [floats(row[4:]) for row in y]},
    }
    print("euler_top", accuracy, made["euler_top"]["difference_from_elliptic_functions"], flush=True)
    times = [0.001, 0.01, 0.1, *[round(0.5 * k, 1) for k in range(1, 21)]]
    y, accuracy = twice(lambda k: governor(times, (150, 250)[k]))
    made["flyball_governor"] = {
        "origin": "three coordinates (turning angle, rod angle, slider height), Lagrange's equations, Radau IIA of order 9",
        "accuracy": accuracy,
        "t": times,
        "values": {"s": floats(y[:, 2]), "alpha": floats(y[:, 1]), "shaft_rate": floats(y[:, 0])},
    }
    print("flyball_governor", accuracy, flush=True)
    text = json.dumps({"source": ["benchmarks/references"], **made}, indent=1)
    text = re.sub(r"\[[^][{}\"]*\]", lambda found: " ".join(found.group().split()), text)  # one line for a row of numbers
    TARGET.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
