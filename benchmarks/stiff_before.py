"""The governor and the stiff coil of stiff.py beside an earlier commit of this library: errors and CPU times of the same run.

    python benchmarks/stiff_before.py [--commit edf20e5] [--repeat 5]

edf20e5 is the last one whose Jacobians were all differences. Its sources are checked out into a directory of their own, and two
processes, one for each version, take the cases in turns: what else the machine does meets both. Times are the least of all
turns, errors the largest in the position of any body at 21 and at 401 times, against RadauIIA(5) of these sources. The
last line counts the cases within the goal: at most 0.7 of the time, with the same or a smaller error at the 21 times.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert.gallery.governor import flyball_governor
from dalembert.gallery.moving_frame import coiled_chain

HERE = Path(__file__).resolve().parents[1]
T_END, GOAL = 10.0, 0.7
FEW, MANY = 21, 401  # saved times
METHODS = (("RadauIIA", 3), ("RadauIIA", 5), ("GaussLegendre", 3))
TOLERANCES = (1e-6, 1e-8)
# builder, tolerance of the reference by RadauIIA(5); GaussLegendre(6) is 2e-13 m from the governor's, Jet 3e-11
MODELS = {"governor": (flyball_governor, 1e-12), "coil": (lambda: coiled_chain(64, joint_damping=7000.0), 1e-11)}
CASES = [(model, *method, tolerance) for model in MODELS for method in METHODS for tolerance in TOLERANCES]


def timed(mechanism: da.Mechanism, integrator: Any, count: int) -> tuple[da.Solution, float]:
    """In relative coordinates, saved at so many times; CPU seconds of the whole call."""
    options = {"formulation": da.MovingFrame(), "integrator": integrator, "save_at": np.linspace(0.0, T_END, count)}
    begin = time.process_time()
    solution = da.simulate(mechanism, T_END, progress=False, **options)
    return solution, time.process_time() - begin


def positions(solution: da.Solution) -> np.ndarray:
    return np.stack([solution.position(body.name) for body in solution.mechanism.model.bodies])


def reference(name: str, count: int) -> np.ndarray:
    build, tolerance = MODELS[name]
    return positions(timed(da.compile(build()), da.RadauIIA(5, rtol=tolerance, atol=tolerance), count)[0])


def work(references: str) -> None:
    """Cases and how many times to save from standard input; to standard output: errors at few and at all of them, seconds."""
    mechanisms = {name: da.compile(build()) for name, (build, _) in MODELS.items()}
    exact = np.load(references)
    for line in sys.stdin:
        (model, method, stages, tolerance), count = json.loads(line)
        integrator, every = getattr(da, method)(stages, rtol=tolerance, atol=tolerance), (MANY - 1) // (count - 1)
        solution, seconds = timed(mechanisms[model], integrator, count)
        errors = np.abs(positions(solution) - exact[model][:, ::every]).max(axis=(0, 2))
        print(json.dumps([errors[:: (count - 1) // (FEW - 1)].max(), errors.max(), seconds]), flush=True)


def process(sources: Path, references: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(sources / "src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--work", str(references)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(worker: subprocess.Popen[str], *question: Any) -> list[float]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(question) + "\n")
    worker.stdin.flush()
    answer: list[float] = json.loads(worker.stdout.readline())
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="edf20e5")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return
    with tempfile.TemporaryDirectory() as directory:
        before, references = Path(directory) / "before", Path(directory) / "references.npz"
        subprocess.run(["git", "-C", str(HERE), "worktree", "add", "--detach", str(before), options.commit], check=True)
        try:
            study(before, references, options.commit, options.repeat)
        finally:
            subprocess.run(["git", "-C", str(HERE), "worktree", "remove", "--force", str(before)], check=True)


def study(before: Path, references: Path, commit: str, repeat: int) -> None:
    best: dict[tuple[int, Any], list[float]] = {}
    np.savez(references, **{name: reference(name, MANY) for name in MODELS})
    workers = [process(sources, references) for sources in (before, HERE)]
    for turn in range(1 + repeat):  # the first one compiles, and tells the errors; the coil's seconds need no more than one
        for case in CASES if turn < 2 else CASES[: len(CASES) // 2]:
            for k, worker in enumerate(workers):
                few, many, seconds = ask(worker, case, FEW if turn else MANY)
                kept = best.setdefault((k, case), [few, many, np.inf])
                kept[2] = min(kept[2], seconds if turn else np.inf)
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.close()
        worker.wait()
    table, met = Table(title=f"CPU time and error in metres, {commit} and now", title_justify="left"), 0
    for heading in ("case", "tolerance", "before, s", "now, s", "ratio", "error at 21", "now", "error at 401", "now"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in CASES:
        (few, many, then), (few_now, many_now, now) = best[0, case], best[1, case]
        met += now <= GOAL * then and few_now <= few
        model, method, stages, tolerance = case
        table.add_row(
            f"{model}, {method}({stages})", f"{tolerance:g}", f"{then:.4f}", f"{now:.4f}", f"{now / then:.2f}",
            f"{few:.2e}", f"{few_now:.2e}", f"{many:.2e}", f"{many_now:.2e}",
        )  # fmt: skip
    console = Console(width=128)
    console.print(table)
    console.print(f"{met} of {len(CASES)} in at most {GOAL:g} of the time with the same or a smaller error")


if __name__ == "__main__":
    main()
