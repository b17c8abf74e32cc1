"""The four lengths of a four-bar from a coupler curve, from ten starts: by `fit`, and by SciPy with differences of runs.

    python -m benchmarks.fit_coupler_curve [starts]

A crank is driven by one turn; the middle of the coupler is measured at 40 angles. Lengths start up to 10 % away. The way before
there were derivatives: least_squares with forward differences, each variant a model of its own.
"""

import sys
import time

import numpy as np
from scipy.optimize import least_squares

import dalembert as da

TRUTH = {"ground": 1.0, "crank": 0.35, "coupler": 0.9, "rocker": 0.7}
TIMES = np.linspace(0.025, 1.0, 40)
AWAY = 0.1


def four_bar(ground=1.0, crank=0.35, coupler=0.9, rocker=0.7):
    """In the x-z plane, its crank driven with one turn per second from where it points along z; the rocker is above."""
    tip = np.array([0.0, 0.0, crank])
    far = np.array([ground, 0.0, 0.0])
    d = far - tip
    distance = np.linalg.norm(d)
    along = (coupler**2 - rocker**2 + distance**2) / (2.0 * distance)
    if not abs(along) < coupler:
        raise da.ModelError(f"four-bar: rods of {coupler:g} m and {rocker:g} m do not meet over {distance:g} m")
    e = d / distance
    top = tip + along * e + np.sqrt(coupler**2 - along**2) * np.array([-e[2], 0.0, e[0]])
    model = da.Model(gravity=(0, 0, 0), name="four-bar")
    for name, a, b in (("crank", 0.0 * tip, tip), ("coupler", tip, top), ("rocker", far, top)):
        x, z = (b - a)[[0, 2]]
        half = -0.5 * np.arctan2(z, x)
        turned = (np.cos(half), 0.0, np.sin(half), 0.0)
        model.add_body(name, mass=1.0, inertia=(0.01, 0.02, 0.02), position=0.5 * (a + b), rotation=turned)
    axis = (0, 1, 0)
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=axis)
    model.add_revolute("B", "crank", "coupler", point=tip, axis=axis)
    model.add_revolute("C", "coupler", "rocker", point=top, axis=axis)
    model.add_revolute("D", model.ground, "rocker", point=far, axis=axis)
    model.add_driver("motor", "A", da.Polynomial((0.0, 2.0 * np.pi)))
    return model


def curve(solution):
    return {"coupler.x": solution.position("coupler")[:, 0], "coupler.z": solution.position("coupler")[:, 2]}


OPTIONS = {"coordinates": "planar"}


def starts(count, seed=3):
    rng = np.random.default_rng(seed)
    return [{name: value * (1.0 + AWAY * rng.uniform(-1, 1)) for name, value in TRUTH.items()} for _ in range(count)]


def fitted(data, start):
    return da.fit(four_bar, {"t": TIMES, **data}, start, sigma=dict.fromkeys(data, 1e-3), **OPTIONS)


def by_differences(data, start):
    """(estimates, runs)"""
    runs = 0

    def residuals(x):
        nonlocal runs
        runs += 1
        try:
            run = da.simulate(four_bar(*x), TIMES[-1], save_at=TIMES, **OPTIONS)
        except da.DalembertError:
            return np.full(2 * len(TIMES), 1e3)
        return np.concatenate([(y - data[name]) / 1e-3 for name, y in curve(run).items()])

    return least_squares(residuals, list(start.values()), x_scale="jac").x, runs


def main(count=10):
    data = curve(da.simulate(four_bar, TIMES[-1], parameters=TRUTH, save_at=TIMES, **OPTIONS))
    truth = np.array(list(TRUTH.values()))
    fitted(data, starts(1)[0])  # compiles
    for name, way in (("fit", fitted), ("differences", by_differences)):
        begin, errors, runs = time.process_time(), [], 0
        for start in starts(count):
            found = way(data, start)
            x, made = (list(found.estimates.values()), found.evaluations) if name == "fit" else found
            errors.append(np.abs(x - truth).max())
            runs += made
        spent = (time.process_time() - begin) / count
        print(
            f"{name:12s} {spent:.3f} s a start (CPU), {runs / count:.1f} runs; off by {min(errors):.1e} .. {max(errors):.1e} m"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
