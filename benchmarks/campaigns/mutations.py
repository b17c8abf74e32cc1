"""`python -m benchmarks.campaigns.mutations`: deliberate errors in the sources, each against the tests that should notice.

Case 0 is the source as it is and must pass. Every other one changes one expression in one file of a temporary copy, and runs
the tests of `TESTS` for that file in a fork of this process, uncompiled (NUMBA_DISABLE_JIT=1: a kernel takes 10 s and more to
compile, a short run of plain Python a tenth of a second), until one fails. A mutant that no test notices is `survived`, unless
`EQUIVALENT` says why it changes nothing that can be seen.
"""

from __future__ import annotations

import os
import sys

os.environ["NUMBA_DISABLE_JIT"] = os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import atexit  # noqa: E402
import importlib  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
import signal  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from functools import cache  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.campaigns.equivalent import EQUIVALENT  # noqa: E402
from benchmarks.campaigns.mutants import Mutant, mutants  # noqa: E402
from benchmarks.campaigns.runner import Campaign, Outcome, main  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "dalembert"
SECONDS = 240.0  # CPU time of the tests of one mutant; one that takes longer is noticed
PRELOADED = ("numba", "scipy.integrate", "scipy.linalg", "scipy.interpolate", "pytest", "hypothesis", "matplotlib.pyplot")

RUNS = "tests/campaigns/test_small_runs.py"
QUICK = "(57 or 75 or 24 or 31)"
BODIES = (RUNS, "-k", QUICK)
ADAPTIVE, FIXED = (RUNS, "-k", f"(adaptive or projection) and {QUICK}"), (RUNS, "-k", f"fixed and {QUICK}")
REACTIONS, TRACED = (RUNS, "-k", "reactions"), (RUNS, "-k", "57 or 75")
LAGRANGIAN = (f"{RUNS}::test_lagrangian_system",)
WORK = (RUNS, "-k", "work or rests or drivers or hanging or longest")
SMALL = ("tests/campaigns/test_small_lagrangian.py",)
INVARIANTS = ("tests/cross/test_tree_invariants.py", "-m", "nojit")
IDENTITIES = ("tests/identities", "tests/unit/test_kernels_projection.py", "-m", "nojit")
ASSEMBLY = ("tests/unit/test_assembly.py", "tests/unit/test_plan_rank.py")
CONTACTS = ("tests/closed_form/test_contact_reactions.py", "-k", "newton")
HANGING = ("tests/unit/test_solution_reactions.py",)
TRACER = ("tests/unit/test_tracer.py",)
# pattern of files -> groups of tests, tried in this order; the first that fails has noticed
TESTS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    (r"kernels/time/", (SMALL, ADAPTIVE)),
    (r"tree_invariants", (INVARIANTS, ADAPTIVE)),
    (r"lagrangian_|(compilation|results)/lagrangian|kernels/.*(variational\.|constraint_flow)", (SMALL, LAGRANGIAN, WORK)),
    (r"kernels/.*(vectors|motion)", (ADAPTIVE, IDENTITIES, WORK)),
    (r"kernels/.*(variational_bodies|constant_twist|impulse|velocity_step)", (WORK, FIXED)),
    (r"kernels/.*(minimal|tangent_basis|tangent_space|orthogonal)", (WORK, ADAPTIVE, LAGRANGIAN)),
    (r"lagrangian/(body_rows|laws)", (TRACED, CONTACTS, WORK)),
    (r"lagrangian/|kernels/.*lagrangian", (SMALL, LAGRANGIAN, TRACED, TRACER, WORK)),
    (r"reactions\.py", (REACTIONS, HANGING, CONTACTS)),
    (r"assembly\.py|rank\.py", (SMALL, ADAPTIVE, ASSEMBLY)),
    (r"", (WORK, BODIES, REACTIONS, IDENTITIES)),
)
NAMES = set(
    """
    vectors articulated constant_twist constraint_flow distribution forces impulse inertia kinematics lagrangian
    lagrangian_impulse lagrangian_minimal minimal minimal_end minimal_step minimal_tree motion moving_frame
    primitives project runge_kutta solve tangent_basis tangent_space traced_rows tree tree_invariants
    variational variational_bodies velocity_step assembly flatten pack rank reactions body_rows derivatives
    discrete equations graph laws source tracer
    """.split()  # noqa: SIM905
)
FOLDERS = ("kernels", "compilation", "results", "lagrangian")
FILES = tuple(
    str(file.relative_to(SOURCES))
    for folder in FOLDERS
    for file in sorted((SOURCES / folder).rglob("*.py"))
    if file.stem in NAMES and file.parent.name != "report"
)


def case(rng: np.random.Generator, index: int) -> Outcome:
    if index == 0:
        noticed, words, seconds = attack(None, (BODIES, LAGRANGIAN, REACTIONS, TRACER))
        return Outcome("noticed by mistake" if noticed else "passes", {"seconds": seconds}, words)
    mutant = chosen(rng)
    name = str(mutant.path.relative_to(SOURCES))
    groups = next(tests for pattern, tests in TESTS if re.search(pattern, name))
    noticed, words, seconds = attack(mutant, groups)
    figures, what = {"seconds": seconds}, f"{name}:{mutant.line} ({mutant.kind})\n{mutant.diff}"
    if noticed:
        return Outcome("killed", figures, f"{what}\n{words}")
    for (file, old, new), why in EQUIVALENT.items():
        if name == file and f"-{old}" in _squeezed(mutant.diff) and f"+{new}" in _squeezed(mutant.diff):
            return Outcome("equivalent", figures, f"{what}\n{why}")
    return Outcome("survived", figures, what)


def chosen(rng: np.random.Generator) -> Mutant:
    """A file, then one of its mutants."""
    found = mutants(SOURCES / str(rng.choice(FILES)))
    return found[int(rng.integers(len(found)))]


def _squeezed(diff: str) -> str:
    """Lines of a diff without the indentation behind their sign."""
    return "\n".join(line[:1] + line[1:].strip() for line in diff.splitlines())


@cache
def copied() -> Path:
    """A folder with a copy of the sources and their bytecode, for the life of this process."""
    for name in PRELOADED:
        importlib.import_module(name)
    folder = Path(tempfile.mkdtemp(prefix="mutants-"))
    atexit.register(shutil.rmtree, folder)  # forks end by os._exit and leave it
    shutil.copytree(SOURCES, folder / "dalembert", ignore=shutil.ignore_patterns("*.code", "*.nbi", "*.nbc", "web", "static"))
    return folder


def attack(mutant: Mutant | None, groups: tuple[tuple[str, ...], ...]) -> tuple[bool, str, float]:
    """Run groups of tests on a copy of the sources; whether one fails, its last words, and CPU seconds."""
    assert "dalembert" not in sys.modules, "the library must be loaded by the forks alone"
    folder, before = copied(), os.times()
    try:
        if mutant is not None:
            (folder / "dalembert" / mutant.path.relative_to(SOURCES)).write_text(mutant.text, encoding="utf-8")
        for arguments in groups:
            status, text = _forked(folder, arguments)
            if status != 0:
                return True, text, _spent(before)
        return False, "", _spent(before)
    finally:
        if mutant is not None:
            shutil.copy2(mutant.path, folder / "dalembert" / mutant.path.relative_to(SOURCES))


def _spent(before: os.times_result) -> float:
    now = os.times()
    return now.children_user + now.children_system - before.children_user - before.children_system


def _forked(folder: Path, arguments: tuple[str, ...]) -> tuple[int, str]:
    """Exit status of pytest in a fork that imports the library from the folder, and the last line that says why."""
    log = folder / "log.txt"
    log.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        _child(folder, log, arguments)
    started = time.monotonic()
    status = None
    while status is None:
        done, code = os.waitpid(child, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(code)
        elif time.monotonic() - started > 20 * SECONDS:  # asleep: the limit of CPU time does not see it
            os.kill(child, signal.SIGKILL)
        else:
            time.sleep(0.05)
    if status == 5:
        raise RuntimeError(f"no test is selected by {' '.join(arguments)}")
    text = log.read_text(errors="replace") if log.exists() else ""
    failed = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR", "E   "))]
    return status, (failed[-1] if failed else f"status {status}")[:200]


def _child(folder: Path, log: Path, arguments: tuple[str, ...]) -> None:
    """Never returns."""
    import resource

    status = 99
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS) + 5))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        output = os.open(log, os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(ROOT)
        sys.path[:0] = [str(folder)]
        import pytest

        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line", *arguments]))
        import dalembert

        if not str(dalembert.__file__).startswith(str(folder)):
            status = 98
    finally:
        os._exit(status)


CAMPAIGN = Campaign("mutations", case, good=("killed", "equivalent", "passes"))

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN, count=181))
