"""`python -m benchmarks.campaigns.mechanisms`: random mechanisms by every formulation against the oracle.

A case is a structure with MEMBERS sets of numbers. Adaptive formulations must meet the oracle; those of one impulse or one
discrete step run with a step and its half, and must approach it with their order.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # and by inheritance in its workers
    for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(_name, "1")

import sys
import warnings
from collections import Counter
from dataclasses import fields
from typing import Any

import numpy as np

import dalembert as da
from benchmarks.campaigns.generator import family
from benchmarks.campaigns.oracle import Oracle, State, Unsuitable, Violent, rotation
from benchmarks.campaigns.runner import Campaign, Outcome, main

MEMBERS = 24
T_END = 0.25
TOLERANCE = 1e-12  # of adaptive runs: a step that runs over a knot of a table costs two digits
LIMIT = 1e-8  # of their error, times the growth of small changes of the start
STEPS = (25, 50, 100, 200, 400)  # of the runs with fixed steps; from the second on an order may show
ORDERS = {"Impulse": 2, "Variational": 2, "Soft": 1}
FLOOR = {"Impulse": 1e-8, "Variational": 1e-8, "Soft": 1e-6}  # Soft: the deflection under stiffness 1e8 N/m
LARGEST = 0.1  # error at which a fixed step is too rough to show an order
CHANGE = 1e-7  # of the start, to see how it grows


def formulations(rng: np.random.Generator) -> dict[str, Any]:
    """The formulations with options that must not change the motion."""
    return {
        "Jet": da.Jet(
            projection=str(rng.choice(("quasi-orthogonal", "orthogonal"), p=(0.8, 0.2))),
            stages=str(rng.choice(("none", "constraints"), p=(0.8, 0.2))),
            metric=str(rng.choice(("euclidean", "mass"), p=(0.8, 0.2))),
        ),
        "MovingFrame": da.MovingFrame(),
        "Minimal": da.Minimal(
            basis=str(rng.choice(("qr", "svd", "eigen"), p=(0.6, 0.2, 0.2))),
            continuation=bool(rng.random() < 0.7),
            velocities=str(rng.choice(("bodies", "joints"))),
        ),
        "Impulse": da.Impulse(metric=str(rng.choice(("euclidean", "mass")))),
        "Soft": da.Soft(),
        "Variational": da.Variational(curve=str(rng.choice(("midpoint", "verlet")))),
    }


def case(rng: np.random.Generator, index: int) -> Outcome:
    models, what = family(rng, MEMBERS)
    ways = formulations(rng)
    models, oracle, end, left = solved(models)
    figures, counts, words = {"oracle residual": left}, Counter({"left out": MEMBERS - len(models)}), []
    for k, model in enumerate(models):
        truth = truth_of(oracle, end, k)
        counts["mechanisms"] += 1
        counts["rolling or nonholonomic"] += any(p.kind == "V" for j in model.joints for p in j.primitives)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                mechanism = da.compile(model)
            except da.ModelError as reason:  # a driver of what the joints hold already
                words += [] if overdriven(model) else [f"{what}, member {k}: {str(reason)[:200]}"]
                counts["over-driven"] += 1
                continue
            for name, way in ways.items():
                verdict, error, why = judged(name, way, mechanism, model, truth)
                counts[f"{name} {verdict}"] += 1
                if verdict == "right":
                    figures[f"{name} error"] = max(figures.get(f"{name} error", 0.0), error)
                elif verdict not in ("refused", "rough"):
                    words.append(f"{what}, member {k}, {short(way)}: {verdict}, error {error:.2e} {why}")
        words += [f"{what}, member {k}: warns {str(w.message)[:200]}" for w in said]
    verdict = "wrong" if any(" wrong" in name for name in counts) else "stopped" if words else "right"
    return Outcome(
        verdict, figures, "; ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else ""), dict(counts)
    )


def solved(models: list[Any]) -> tuple[list[Any], Oracle, State, float]:
    """The models that stay away from singular poses, with the oracle's solution; those that do not are left out."""
    while True:
        oracle = Oracle(models)
        try:
            return models, oracle, *oracle.run(T_END)
        except Violent as reason:
            models = models[: reason.member] + models[reason.member + 1 :]


def short(way: Any) -> str:
    """A formulation with those options that are not the default."""
    changed = [f"{f.name}={getattr(way, f.name)!r}" for f in fields(way) if getattr(way, f.name) != f.default]
    return f"{type(way).__name__}({', '.join(changed)})"


def truth_of(oracle: Oracle, s: State, k: int) -> dict[str, Any]:
    """Name of each body -> (r, R, v, w) of one member."""
    R = rotation(s.theta)
    return {name: (s.r[:, b, k], R[:, :, b, k], s.v[:, b, k], s.w[:, b, k]) for b, name in enumerate(oracle.names)}


def difference(solution: Any, model: Any, truth: dict[str, Any], at: int = -1) -> float:
    """Largest error of a pose or a velocity in one saved state, relative to 1 and the largest velocity."""
    speed = 1.0 + max(float(np.abs(x).max()) for part in truth.values() for x in part[2:])
    worst = 0.0
    for body in model.bodies:
        r, R, v, w = truth[body.name]
        found = [(solution.position(body.name)[at], r, 1.0), (solution.velocity(body.name)[at], v, speed)]
        if body.kind == "rigid":
            found += [(solution.rotation(body.name)[at], R, 1.0), (solution.angular_velocity(body.name)[at], w, speed)]
        for got, expected, scale in found:
            error = float(np.abs(got - expected).max()) / scale
            worst = error if not error <= worst else worst
    return worst


def judged(name: str, way: Any, mechanism: Any, model: Any, truth: dict[str, Any]) -> tuple[str, float, str]:
    """Verdict, error and words on one formulation."""
    errors: list[float] = []
    integrators: list[Any] = [da.DOP853(rtol=TOLERANCE, atol=TOLERANCE)]
    if name in ORDERS:
        method = da.FixedStep if name == "Variational" else da.RungeKutta4
        integrators = [method(step=T_END / n) for n in STEPS]
    for integrator in integrators:
        try:
            solution = da.simulate(mechanism, T_END, formulation=way, integrator=integrator, save_at=[T_END])
        except da.ModelError as reason:
            return "refused", 0.0, str(reason)[:200]
        except da.SimulationError as reason:
            return "stopped", float("nan"), str(reason)[:200]
        errors.append(difference(solution, model, truth))
        if name not in ORDERS:
            if errors[0] <= LIMIT or errors[0] <= LIMIT * growth(model):
                return "right", errors[0], ""
            return "wrong", errors[0], report_of(mechanism, way, integrator)
        if len(errors) == 1:
            continue
        coarse, fine = errors[-2:]
        if fine <= max(FLOOR[name], 0.5 ** (ORDERS[name] - 0.5) * coarse) and fine <= LARGEST:
            return "right", fine, ""
    words = f"(with {STEPS} steps {', '.join(f'{error:.2e}' for error in errors)}) "
    return ("rough" if errors[0] > LARGEST else "wrong"), errors[-1], words + report_of(mechanism, way, integrators[-1])


def overdriven(model: Any) -> bool:
    """Whether drivers leave the freedom of the joints as it is, by the oracle."""
    with_drivers, without = (Oracle([model], drivers=drivers) for drivers in (True, False))
    return with_drivers.conditioning(0.0, with_drivers.start)[0] == without.conditioning(0.0, without.start)[0]


def growth(model: Any) -> float:
    """How much a small change of the start has grown at the end, by the oracle."""
    oracle, rng = Oracle([model]), np.random.default_rng(0)
    s = oracle.start
    changed = State(s.r, s.theta, s.v + CHANGE * rng.standard_normal(s.v.shape), s.w)
    try:
        ends = [oracle.run(T_END, start=x)[0].flat() for x in (s, oracle.consistent(changed))]
    except Unsuitable:
        return 1.0
    return float(np.abs(ends[1] - ends[0]).max() / CHANGE)


def report_of(mechanism: Any, way: Any, integrator: Any) -> str:
    """What the trust report says about a run that is wrong."""
    try:
        report = da.simulate(mechanism, T_END, formulation=way, integrator=integrator).report()
        return "report: " + ("PASSES" if report.passed else "fails: " + ", ".join(line.name for line in report.failures))
    except da.SimulationError as reason:
        return f"with every step saved: {str(reason)[:200]}"


CAMPAIGN = Campaign("mechanisms", case)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN, count=420))
