"""`python -m benchmarks.campaigns.mutations`: deliberate errors in the sources, each against the tests that should notice.

Case 0 is the source as it is: every group of tests must pass. Every other one changes one expression in one file of a temporary
copy, and runs the tests of `TESTS` for that file in a fork of this process, uncompiled (NUMBA_DISABLE_JIT=1: a kernel takes
10 s and more to compile, a short run of plain Python a tenth of a second), until one fails. A mutant that no test notices is
`survived`, unless `EQUIVALENT` says why it changes nothing that can be seen.
"""

from __future__ import annotations

import os
import sys

os.environ["NUMBA_DISABLE_JIT"] = os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import atexit  # noqa: E402
import importlib  # noqa: E402
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
SECONDS = 120.0  # CPU time of the tests of one mutant; one that takes longer is noticed
PRELOADED = ("numba", "scipy.integrate", "scipy.linalg", "scipy.interpolate", "pytest", "hypothesis", "matplotlib.pyplot")

RUNS = "tests/campaigns/test_small_runs.py"
QUICK = "(57 or 75 or 24 or 31)"
BODIES = (RUNS, "-k", QUICK)
ADAPTIVE, FIXED = (RUNS, "-k", f"(adaptive or projection) and {QUICK}"), (RUNS, "-k", f"fixed and {QUICK}")
REACTIONS, TRACED = (RUNS, "-k", "reactions"), (RUNS, "-k", "57 or 75")
LAGRANGIAN = (f"{RUNS}::test_lagrangian_system",)
MODELS = "tests/campaigns/test_small_models.py"
WORK = (MODELS, "-k", "not cranks or hanging")
SMALL = ("tests/campaigns/test_small_lagrangian.py",)
INVARIANTS = ("tests/cross/test_tree_invariants.py", "-m", "nojit")
IDENTITIES = ("tests/identities", "tests/unit/test_kernels_projection.py", "tests/unit/test_model_rotation.py", "-m", "nojit")
ASSEMBLY = ("tests/unit/test_assembly.py", "tests/unit/test_plan_rank.py")
CONTACTS = ("tests/closed_form/test_contact_reactions.py", "-k", "newton")
HANGING = ("tests/unit/test_solution_reactions.py",)
TRACER = ("tests/unit/test_tracer.py",)
DUAL = ("tests/unit/test_dual.py",)
FACTORS = ("tests/unit/test_complex_factors.py",)
RATES = ("tests/cross/test_rate_derivatives.py", "-k", "every_shape or lagrangian or laws")
TANGENTS = ("tests/cross/test_sensitivities.py", "-k", "period or lagrangian or plane")
DENSE = ("tests/cross/test_dense_reference.py", "-m", "nojit")
BUSHING = ("tests/identities/test_bushing_identities.py",)
ELEMENTS = ("tests/campaigns/test_small_elements.py",)
EFFORTS = ("tests/unit/test_efforts.py", "-k", "move_every_body and 1 or laws_act_alike and (minimal or variational)")
PACKED = (*ELEMENTS, CONTACTS[0], "-k", "newton or small_elements")
CABLES = ("tests/closed_form/test_cables.py", "-k", "through_bodies")
OTHERS, TREE = (RUNS, "-k", "other_ways"), (RUNS, "-k", "other_ways and (tree or reference)")
OFF = ("tests/closed_form/test_velocity_level.py", "-k", "acceleration_level and not holds")
KIND = ("tests/unit/test_tree_kind.py",)
REDUNDANT = (MODELS, "-k", "cranks")
STEPS = ("tests/campaigns/test_small_steps.py",)
HUB, CARRIED = (*STEPS, "-k", "dense_algebra"), (*STEPS, "-k", "carried")
OF_BODIES, DRIVEN = (*STEPS, "-k", "of_its_bodies"), (*STEPS, "-k", "driven_slide")
PARTS = ("tests/campaigns/test_small_parts.py",)
TURNING = ("tests/cross/test_overconstrained.py", "-k", "chosen_anew or idle_rows")
# files of the sources and groups of tests, tried in this order: the first that fails has noticed
TESTS: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...] = (
    ("kernels/base", "vectors dense loops", (PARTS, ADAPTIVE, IDENTITIES, LAGRANGIAN, WORK)),
    ("kernels/base", "dual", (DUAL, RATES, TANGENTS)),
    ("kernels/mechanics", "motion primitives rotations inertia", (ADAPTIVE, IDENTITIES, WORK, REACTIONS)),
    ("kernels/mechanics", "forces", (BODIES, IDENTITIES, WORK, ELEMENTS, EFFORTS)),
    ("kernels/mechanics", "bushing laws", (BUSHING, CABLES, EFFORTS)),
    ("kernels/mechanics", "relations traced_rows", (ELEMENTS, TRACED, WORK)),
    ("kernels/coordinates", "articulated kinematics exponential one_state solve", (ADAPTIVE, IDENTITIES, FIXED, WORK, DENSE)),
    ("kernels/coordinates", "tree tree_states dense_rows", (ADAPTIVE, INVARIANTS, WORK, TREE)),
    ("kernels/coordinates", "choice choosing cut_rows", (REDUNDANT, ADAPTIVE, TURNING, WORK)),
    ("kernels/coordinates", "frame_matrices", (OF_BODIES, REDUNDANT, TREE, DENSE)),
    ("kernels/coordinates", "lagrangian", (SMALL, LAGRANGIAN, TRACED, WORK)),
    ("kernels/formulations", "derivatives jet_derivatives", (PARTS, RATES, TANGENTS)),
    ("kernels/formulations", "tree_invariants invariants invariant_steps", (INVARIANTS, ADAPTIVE, LAGRANGIAN, WORK)),
    ("kernels/formulations", "variational constraint_flow discrete_newton lagrangian_impulse", (SMALL, LAGRANGIAN, WORK)),
    ("kernels/formulations", "lagrangian_minimal lagrangian_invariants minimal_dense", (SMALL, LAGRANGIAN, ADAPTIVE)),
    ("kernels/formulations", "variational_bodies constant_twist impulse velocity_step", (FIXED, HUB, WORK)),
    ("kernels/formulations", "impulse_tree", (DRIVEN, KIND, TREE)),
    ("kernels/formulations", "minimal minimal_end minimal_step minimal_tree", (ADAPTIVE, CARRIED, TREE, WORK)),
    (
        "kernels/formulations",
        "tangent_basis tangent_space orthogonal continuation",
        (ADAPTIVE, CARRIED, IDENTITIES, OTHERS, TURNING),
    ),
    ("kernels/formulations", "distribution jet moving_frame newton project", (PARTS, ADAPTIVE, HUB, WORK, BODIES)),
    ("kernels/formulations", "baumgarte conjugate_gradient moving_frame_reference", (OF_BODIES, OTHERS, DENSE, OFF)),
    ("kernels/time", "runge_kutta stepping watch saving outputs own_steps", (PARTS, SMALL, ADAPTIVE, WORK, STEPS, EFFORTS)),
    ("kernels/time", "functional_iteration implicit_runge_kutta implicit_stages simplified_newton partitioned", (STEPS,)),
    ("kernels/time", "complex_factors", (FACTORS, STEPS)),
    ("kernels/time", "tangents", (PARTS, TANGENTS)),
    ("kernels/time", "poses ensemble", (STEPS,)),
    ("compilation", "assembly rank rows", (PARTS, SMALL, ADAPTIVE, ASSEMBLY)),
    ("compilation", "flatten pack pack_codes pack_motions pack_rows", (PARTS, ADAPTIVE, IDENTITIES, PACKED, WORK)),
    ("compilation", "pack_choices", (REDUNDANT, ASSEMBLY)),
    ("compilation", "tree topology", (PARTS, ADAPTIVE, INVARIANTS, TREE, WORK)),
    ("compilation", "lagrangian lagrangian_start lagrangian_trajectory", (SMALL, LAGRANGIAN, WORK)),
    ("results", "reactions", (REACTIONS, CONTACTS, HANGING)),
    ("results", "efforts coupling_efforts", (CABLES, ELEMENTS, EFFORTS)),
    ("results", "lagrangian", (SMALL, LAGRANGIAN)),
    ("lagrangian", "body_rows laws", (TRACED, CONTACTS, WORK)),
    ("lagrangian", "relations time_functions", (PARTS, ELEMENTS, TRACER, EFFORTS)),
    ("lagrangian", "derivatives discrete equations graph source tracer", (SMALL, TRACER, LAGRANGIAN, TRACED, WORK)),
)
# kernels that are in no line above
LEFT_OUT = {
    "what compiled code is made of, which does not run uncompiled": """
        base/view_types base/vector_types base/dual_types base/loop_types base/view_makers base/lanes base/compiler base/cache
        base/bundles base/slots base/scalar_types base/front_end base/told coordinates/at_state coordinates/tree_lanes
        formulations/jet_lanes time/steps
    """,
    "declarations: what is written and what is read change together": "base/layout base/tables base/views time/records",
    "singular configurations, in runs that are too long uncompiled": "formulations/bridge formulations/pivots",
    "Jacobians that only long runs ask for": "time/slopes formulations/variational_forces",
}


def files(lines: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...]) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Path below the sources -> its groups of tests; a name twice or without a file is an error."""
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for folder, names, groups in lines:
        for name in names.split():
            path = f"{folder}/{name}.py"
            if path in found or not (SOURCES / path).is_file():
                raise ValueError(f"{path} is {'twice in TESTS' if path in found else 'in TESTS, but there is no such file'}")
            found[path] = groups
    return found


FILES = files(TESTS)


def case(rng: np.random.Generator, index: int) -> Outcome:
    if index == 0:
        noticed, words, seconds = attack(None, tuple(dict.fromkeys(group for groups in FILES.values() for group in groups)))
        return Outcome("noticed by mistake" if noticed else "passes", {"seconds": seconds}, words)
    mutant = chosen(rng)
    name = str(mutant.path.relative_to(SOURCES))
    noticed, words, seconds = attack(mutant, FILES[name])
    figures, what = {"seconds": seconds}, f"{name}:{mutant.line} ({mutant.kind})\n{mutant.diff}"
    if noticed:
        return Outcome("killed", figures, f"{what}\n{words}")
    for (file, old, new), why in EQUIVALENT.items():
        if name == file and f"-{old}" in _squeezed(mutant.diff) and f"+{new}" in _squeezed(mutant.diff):
            return Outcome("equivalent", figures, f"{what}\n{why}")
    return Outcome("survived", figures, what)


def chosen(rng: np.random.Generator) -> Mutant:
    """A file, then one of its mutants."""
    found = mutants(SOURCES / str(rng.choice([*FILES])))
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
    text = log.read_text(errors="replace") if log.exists() else ""
    if status == 5 or "ERROR: usage:" in text:
        raise RuntimeError(f"no test is selected by {' '.join(arguments)}: {text[-200:]}")
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

        options = [
            "-o",
            "addopts=",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--no-header",
            "--tb=line",
        ]  # no plugins, no options of theirs
        status = int(pytest.main([*options, *arguments]))
        import dalembert

        if not str(dalembert.__file__).startswith(str(folder)):
            status = 98
    finally:
        os._exit(status)


CAMPAIGN = Campaign("mutations", case, good=("killed", "equivalent", "passes"))

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN, count=181))
