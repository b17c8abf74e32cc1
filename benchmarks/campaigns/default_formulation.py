"""Evidence for the default formulation: gallery and random mechanisms by each candidate at default settings.

    python -m benchmarks.campaigns.default_formulation [SEEDS] [SECONDS]

Errors are the largest distance from a run at rtol = atol = 1e-12, over bodies, at the end: |r - r_ref| / size or the angle
between rotations, divided by rtol. A case whose two tight runs (Jet, MovingFrame) differ by more than 1e-6 is left out of the
errors (chaotic, or one of them is wrong: it is listed). Robustness first: failures and wrong results decide before time does.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert import gallery
from dalembert.model.model import Model

WAYS = {"Jet": da.Jet(), "MovingFrame": da.MovingFrame(), "Minimal": da.Minimal()}
TIGHT = da.DOP853(rtol=1e-12, atol=1e-12, max_steps=20_000)
DEFAULT = da.DOP853(max_steps=20_000)
CHAOTIC = 1e-6


def cases(seeds: int, t_end: float) -> Iterator[tuple[str, Any, float]]:
    """Name, model, duration."""
    for name in gallery.GALLERY:
        model = gallery.build(name)
        if isinstance(model, Model):
            yield name, model, t_end
    for seed in range(seeds):
        shape = SHAPES[seed % len(SHAPES)]
        try:
            yield f"random {seed} ({shape})", random_model(seed, shape), 0.5 * t_end
        except da.DalembertError:
            continue


def distance(one: Any, two: Any) -> float:
    """At the end, over bodies."""
    worst = 0.0
    paths = np.concatenate([two.position(body) for body in two.mechanism.body_names])
    size = float(np.linalg.norm(np.ptp(paths, axis=0))) or 1.0
    for body in two.mechanism.body_names:
        apart = float(np.linalg.norm(one.position(body)[-1] - two.position(body)[-1])) / size
        chord = float(np.linalg.norm(one.rotation(body)[-1] - two.rotation(body)[-1]))
        worst = max(worst, apart, 2 * np.arcsin(min(chord / np.sqrt(8.0), 1.0)))
    return worst


def attempt(mechanism: Any, t_end: float, way: Any, method: Any) -> Any:
    try:
        return da.simulate(mechanism, t_end, formulation=way, integrator=method, progress=False)
    except da.DalembertError as problem:
        return str(problem)


def main(seeds: int = 40, t_end: float = 1.0, budget: float = 300.0) -> None:
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, list[float]]] = {name: {"error": [], "steps": [], "cpu": []} for name in WAYS}
    failed: dict[str, list[str]] = {name: [] for name in WAYS}
    failing_reports: dict[str, int] = dict.fromkeys(WAYS, 0)
    left_out, count, begin = [], 0, time.process_time()
    for name, model, span in cases(seeds, t_end):
        if time.process_time() - begin > budget:
            print(f"stopped after {count} cases: {budget:g} s of CPU time are used up")
            break
        try:
            mechanism = da.compile(model)
        except da.DalembertError:
            continue
        count += 1
        tight = [attempt(mechanism, span, WAYS[way], TIGHT) for way in ("Jet", "MovingFrame")]
        runs = {way: attempt(mechanism, span, options, DEFAULT) for way, options in WAYS.items()}
        for way, run in runs.items():
            if isinstance(run, str):
                failed[way].append(f"{name}: {run[:110]}")
        good = [run for run in tight if not isinstance(run, str)]
        if not good or (len(good) == 2 and distance(*good) > CHAOTIC):
            left_out.append(f"{name}: tight runs differ by {distance(*good):.1e}" if len(good) == 2 else name)
            continue
        if any(isinstance(run, str) for run in runs.values()):
            continue  # compared only where all run
        for way, run in runs.items():
            found[way]["error"].append(distance(run, good[-1]) / DEFAULT.rtol)
            found[way]["steps"].append(run.statistics.accepted)
            found[way]["cpu"].append(run.statistics.cpu_time)
            failing_reports[way] += not run.report().passed
    print(f"{count} mechanisms; {len(found['Jet']['error'])} compared; {len(left_out)} left out")
    print(f"{'formulation':12} {'failed':>7} {'report FAIL':>12} {'error/rtol: median':>19} {'90 %':>9} {'worst':>9}"
          f" {'steps':>8} {'CPU time':>10}")  # fmt: skip
    for way, figures in found.items():
        errors = np.array(figures["error"] or [np.nan])
        row = (
            f"{way:12} {len(failed[way]):7} {failing_reports[way]:12} {np.median(errors):19.3g} {np.quantile(errors, 0.9):9.3g}"
        )
        print(f"{row} {errors.max():9.3g} {int(sum(figures['steps'])):8} {1e3 * sum(figures['cpu']):7.1f} ms")
    for way, texts in failed.items():
        for text in texts:
            print(f"failed: {way}, {text}")
    for text in left_out:
        print(f"left out: {text}")


if __name__ == "__main__":
    given = [float(text) for text in sys.argv[1:]]
    main(*([int(given[0]), *given[1:]] if given else []))
