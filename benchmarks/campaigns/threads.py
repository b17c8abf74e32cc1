"""`python -m benchmarks.campaigns.threads`: the first and later simulations of a process in several threads.

A case is two new processes that make the same simulations, one of them one by one, the other in as many threads as there are
simulations, all let go at once and twice: first and later runs must equal the single-threaded ones bit by bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.campaigns.runner import Campaign, Outcome, main

ROOT = Path(__file__).resolve().parents[2]
JOBS = 6
T_END = 0.05


def simulations(seed: int) -> list[Any]:
    """Functions without arguments that simulate; some of their models have functions of a user, compiled in the run."""
    import dalembert as da
    from benchmarks.campaigns import user_functions
    from benchmarks.campaigns.generator import family
    from benchmarks.campaigns.mechanisms import formulations

    rng = np.random.default_rng(seed)
    made = []
    for k in range(JOBS):
        (model,), _ = family(rng, 1)
        body = next((b for b in model.bodies if b.kind == "rigid"), None)
        if k % 3 == 1 and body is not None and "gust" not in (f.name for f in model.forces):
            model.add_force("gust", body, user_functions.gust)
            model.add_torque("stir", body, user_functions.stir, frame="body")
        name = str(rng.choice(("Jet", "MovingFrame", "Minimal", "Impulse", "Variational")))
        way = formulations(rng)[name]
        integrator: Any = da.DOP853()
        if name in ("Impulse", "Variational"):
            integrator = (da.FixedStep if name == "Variational" else da.RungeKutta4)(step=T_END / 10)

        def job(model: Any = model, way: Any = way, integrator: Any = integrator) -> Any:
            return da.simulate(model, T_END, formulation=way, integrator=integrator)

        made.append(job)
    return made


def outcome_of(job: Any) -> str:
    """A digest of all states, or the error."""
    try:
        solution = job()
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return hashlib.sha256(solution.t.tobytes() + solution.x.tobytes()).hexdigest()


def child(seed: int, threads: bool) -> None:
    """Print the digests of two rounds."""
    warnings.simplefilter("ignore")
    jobs = simulations(seed)
    rounds: list[list[str]] = []
    for _ in range(2):
        found = [""] * len(jobs)
        gate = threading.Barrier(len(jobs))

        def work(k: int, found: list[str] = found, gate: threading.Barrier = gate) -> None:
            gate.wait()
            found[k] = outcome_of(jobs[k])

        if threads:
            all_threads = [threading.Thread(target=work, args=(k,)) for k in range(len(jobs))]
            for thread in all_threads:
                thread.start()
            for thread in all_threads:
                thread.join()
        else:
            found[:] = [outcome_of(job) for job in jobs]
        rounds.append(found)
    print(json.dumps(rounds))


def case(rng: np.random.Generator, index: int) -> Outcome:
    seed = int(rng.integers(2**31))
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    answers = []
    for threads in ("one", "many"):
        command = [sys.executable, "-m", "benchmarks.campaigns.threads", "--child", str(seed), threads]
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1800)
        if ended.returncode:
            return Outcome("crashed", {}, f"{threads}: status {ended.returncode}: {ended.stderr[-500:]}")
        answers.append(json.loads(ended.stdout.splitlines()[-1]))
    (expected, again), (first, later) = answers
    counts = {"simulations in threads": 2 * JOBS}
    if expected != again:
        return Outcome("not repeatable", {}, "one thread, twice the same simulation", counts)
    wrong = [f"first, job {k}: {a[:200]}" for k, (a, b) in enumerate(zip(first, expected, strict=True)) if a != b]
    wrong += [f"later, job {k}: {a[:200]}" for k, (a, b) in enumerate(zip(later, expected, strict=True)) if a != b]
    return Outcome("different" if wrong else "right", {}, "; ".join(wrong), counts)


CAMPAIGN = Campaign("threads", case)

if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(int(sys.argv[2]), sys.argv[3] == "many")
    else:
        sys.exit(main(CAMPAIGN, count=20))
