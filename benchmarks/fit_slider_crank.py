"""Masses, lengths, stiffness and damping of a slider-crank from data with 1 % noise: how often bounds of confidence hold.

    python -m benchmarks.fit_slider_crank [trials]

Each trial has its own noise, of 1 % of the range of each output, and its own start, up to 15 % away from the truth. A motion
alone tells ratios of forces and masses only, so one force is measured, that of the spring.
"""

import sys
import time

import numpy as np

import dalembert as da

TRUTH = {"rod_mass": 0.5, "slider_mass": 2.0, "crank": 0.08, "rod": 0.3, "stiffness": 60.0, "damping": 0.8}
TIMES = np.linspace(0.0, 2.0, 101)
NOISE, AWAY = 0.01, 0.15


def slider_crank(rod_mass=0.5, slider_mass=2.0, crank=0.08, rod=0.3, stiffness=60.0, damping=0.8, crank_mass=0.12, length=0.2):
    """Crank, rod and slider with a spring and a damper to the ground; starts with 6 rad/s."""
    model = da.Model(gravity=(0, 0, -9.81), name="slider-crank")
    a = np.arcsin(crank / rod)
    end, turned = (rod * np.cos(a), 0, 0), (np.cos(a / 2), 0, np.sin(a / 2), 0)
    first = model.add_body(
        "crank", mass=crank_mass, inertia=(1e-4, 1e-4, 1e-5), position=(0, 0, crank / 2), angular_velocity=(0, 6, 0)
    )
    middle = model.add_body(
        "rod", mass=rod_mass, inertia=(4e-4, 4e-3, 3.9e-3), position=(end[0] / 2, 0, crank / 2), rotation=turned
    )
    slider = model.add_body("slider", mass=slider_mass, inertia=(1e-3, 1.1e-3, 1.2e-3), position=end)
    model.add_revolute("A", model.ground, first, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spherical("B", first, middle, point=(0, 0, crank))
    model.add_universal("C", middle, slider, point=end, axes=((0, 1, 0), (0, 0, 1)))
    model.add_prismatic("D", model.ground, slider, point=end, axis=(1, 0, 0))
    ends = ((0.6, 0, 0), (0, 0, 0))
    model.add_spring_damper("spring", model.ground, slider, points=ends, stiffness=stiffness, damping=damping, length=length)
    return model


def spring_force(solution):
    return solution.effort("spring").value


def measured():
    """Outputs of the true model, without noise."""
    run = da.simulate(slider_crank, TIMES[-1], parameters=TRUTH, save_at=TIMES)
    return {"A": run.coordinate("A"), "slider.x": run.position("slider")[:, 0], "force": spring_force(run)}


def trial(seed, clean, confidence=0.95):
    """A fit of data with noise."""
    rng = np.random.default_rng(seed)
    data = {name: y + NOISE * np.ptp(y) * rng.standard_normal(len(y)) for name, y in clean.items()}
    start = {name: value * (1.0 + AWAY * rng.uniform(-1.0, 1.0)) for name, value in TRUTH.items()}
    bounds = {name: (0.2 * value, 5.0 * value) for name, value in TRUTH.items()}
    return da.fit(
        slider_crank, {"t": TIMES, **data}, start, bounds=bounds, outputs={"force": spring_force}, confidence=confidence
    )


def main(trials=100):
    clean, inside, jointly, runs, failed = measured(), dict.fromkeys(TRUTH, 0), 0, [], 0
    begin = time.process_time()
    for seed in range(trials):
        fit = trial(seed, clean)
        within = {name: fit.intervals[name][0] <= TRUTH[name] <= fit.intervals[name][1] for name in TRUTH}
        for name, one in within.items():
            inside[name] += one
        sigmas = [abs(fit.estimates[name] - TRUTH[name]) / fit.standard_errors[name] for name in TRUTH]
        jointly += max(sigmas) <= 2.638  # each at 1 - 0.05 / 6, all together at 95 %
        runs.append(fit.evaluations)
        failed += not fit.converged
    spent = time.process_time() - begin
    print(f"{trials} trials, {spent / trials:.2f} s each (CPU), {failed} not converged")
    print(f"  runs: mean {np.mean(runs):.1f}, at most {max(runs)}")
    for name, count in inside.items():
        print(f"  {name:12s} within 95 % bounds in {count}")
    print(f"  all together within simultaneous 95 % bounds in {jointly}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
