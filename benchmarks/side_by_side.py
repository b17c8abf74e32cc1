"""`python -m benchmarks.side_by_side OTHER`: this tree beside another checkout, in turns, as ratios of CPU time.

Two processes, one for each tree's `src`, compute the same cases in turns, so that both meet the same machine. `loop` is the
time within the compiled loop for each evaluation of rates, `run` the CPU time of a whole `simulate` on a compiled mechanism; of
all rounds the smallest counts.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROUNDS = 15
LIMIT = 1.03
SHORTEST = 0.05  # CPU seconds of a measurement: short runs are repeated
HERE = Path(__file__).resolve().parents[1]
# name -> model of the gallery with arguments, end of the run, formulation, integrator
CASES = {
    "jet slider_crank": ("slider_crank", {}, 5.0, "Jet()", "DOP853()"),
    "jet slider_crank rk4": ("slider_crank", {}, 2.0, "Jet()", "RungeKutta4(step=1e-3)"),
    "jet chain 16 rk4": ("chain", {"n": 16}, 0.5, "Jet()", "RungeKutta4(step=1e-3)"),
    "jet four_bar": ("four_bar", {}, 5.0, "Jet()", "DOP853()"),
    "jet andrews": ("andrews", {}, 0.03, "Jet()", "DOP853()"),
    "jet rolling_disc": ("rolling_disc", {}, 5.0, "Jet()", "DOP853()"),
    "jet governor": ("flyball_governor", {}, 5.0, "Jet()", "DOP853()"),
    "jet orthogonal": ("slider_crank", {}, 2.0, 'Jet(projection="orthogonal")', "DOP853()"),
    "jet energy": ("four_bar", {}, 2.0, 'Jet(invariants="energy")', "DOP853()"),
    "frame slider_crank": ("slider_crank", {}, 5.0, "MovingFrame()", "DOP853()"),
    "frame chain 4 rk4": ("chain", {"n": 4}, 2.0, "MovingFrame()", "RungeKutta4(step=1e-3)"),
    "frame chain 64 rk4": ("chain", {"n": 64}, 0.5, "MovingFrame()", "RungeKutta4(step=1e-3)"),
    "frame andrews": ("andrews", {}, 0.03, "MovingFrame()", "DOP853()"),
    "minimal slider_crank": ("slider_crank", {}, 5.0, "Minimal()", "DOP853()"),
    "minimal four_bar": ("four_bar", {}, 2.0, "Minimal()", "DOP853()"),
    "impulse slider_crank": ("slider_crank", {}, 2.0, "Impulse()", "RungeKutta4(step=1e-3)"),
    "soft slider_crank": ("slider_crank", {}, 0.5, "Soft()", "RungeKutta4(step=1e-4)"),
    "variational slider_crank": ("slider_crank", {}, 0.5, "Variational()", "FixedStep(step=1e-3)"),
    "gauss slider_crank": ("slider_crank", {}, 2.0, "Jet()", "GaussLegendre(3, step=2e-3)"),
    "radau governor": ("flyball_governor", {}, 2.0, "Jet()", "RadauIIA()"),
    "lagrangian": ("spherical_pendulum", {}, 2.0, "Jet()", "DOP853()"),
}


def serve() -> None:
    """Read the name of a case per line, print its times."""
    import time
    import warnings

    import dalembert as da
    from dalembert import gallery

    warnings.simplefilter("ignore")
    ready: dict[str, Any] = {}
    for line in sys.stdin:
        name = line.strip()
        model, arguments, t_end, formulation, integrator = CASES[name]
        try:
            if name not in ready:
                options = [eval("da." + text, {"da": da}) for text in (formulation, integrator)]  # the cases are ours
                made = getattr(gallery, model)(**arguments) if arguments else gallery.build(model)
                ready[name] = (da.compile(made), *options)
                da.simulate(ready[name][0], t_end, formulation=ready[name][1], integrator=ready[name][2])
            mechanism, *options = ready[name]
            spent, loop, count, evaluations = 0.0, 0.0, 0, 0
            while spent < SHORTEST:
                before = time.process_time()
                solution = da.simulate(mechanism, t_end, formulation=options[0], integrator=options[1])
                spent += time.process_time() - before
                loop += solution.statistics.cpu_time
                evaluations += solution.statistics.rate_evaluations or solution.statistics.accepted
                count += 1
            print(json.dumps({"run": spent / count, "loop": loop / max(evaluations, 1), "evaluations": evaluations // count}))
        except Exception as problem:  # the other tree may lack something
            print(json.dumps({"problem": f"{type(problem).__name__}: {str(problem)[:150]}"}))
        sys.stdout.flush()


def started(tree: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--serve", "-"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=tree)


def ask(process: subprocess.Popen[str], name: str) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def compared(other: Path, names: list[str], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Smallest times of each case in the other tree and in this one."""
    processes = [started(other), started(HERE)]
    found: dict[str, list[dict[str, Any]]] = {}
    try:
        for name in names:
            best: list[dict[str, Any]] = [{}, {}]
            for turn in range(rounds):
                for k in (0, 1) if turn % 2 else (1, 0):
                    answer = ask(processes[k], name)
                    best[k] = {key: min(value, best[k].get(key, value)) for key, value in answer.items()}
            found[name] = best
            print(".", end="", file=sys.stderr, flush=True)
        return found
    finally:
        print(file=sys.stderr)
        for process in processes:
            process.kill()
            process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--cases", default="", help="regular expression over names of cases")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return 0
    names = [name for name in CASES if re.search(arguments.cases, name)]
    table = Table(title="CPU time over that of the other tree", title_justify="left")
    for heading in ("case", "loop [us]", "ratio", "run [ms]", "ratio", ""):
        table.add_column(heading, justify="left" if heading in ("case", "") else "right")
    over = 0
    for name, (before, now) in compared(arguments.other, names, arguments.rounds).items():
        if "problem" in before or "problem" in now:
            table.add_row(name, "", "", "", "", now.get("problem", before.get("problem", "")))
            continue
        ratios = [now[key] / before[key] for key in ("loop", "run")]
        steps = "" if now["evaluations"] == before["evaluations"] else f"{before['evaluations']} -> {now['evaluations']}"
        over += max(ratios) > LIMIT
        cells = (f"{1e6 * now['loop']:.3f}", f"{ratios[0]:.3f}", f"{1e3 * now['run']:.2f}", f"{ratios[1]:.3f}", steps)
        table.add_row(name, *cells)
    Console(width=110).print(table)
    print(f"{over} of {len(names)} above {LIMIT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
