"""Digits that a run may have lost: singular configurations, projections that move more than the steps, light bodies among
heavy ones, rounding of the accelerations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows
from dalembert.formulations import FORMULATIONS
from dalembert.results.report.checks import guarded
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.solution import Result

NEAR = 0.02  # pivot below which the joints that lock are named
GRAZED = 1e-4  # pivot below which rounding and tolerances may have changed the branch


def conditioning(solution: Result) -> Iterator[Line]:
    """A line on the smallest pivot of every run with constraints; a FAIL where a branch point was crossed."""
    s, mechanism = solution.statistics, solution.mechanism
    if not isinstance(mechanism, Mechanism) or mechanism.rank == 0 or s.smallest_pivot < 0.0:
        return
    shown = f"smallest pivot {s.smallest_pivot:.2g} at {solution.instant(s.smallest_pivot_time, 4)}"
    data: dict[str, Any] = {"pivot": s.smallest_pivot, "time": s.smallest_pivot_time, "branch_points": s.branch_points}
    if len(solution.t) and s.smallest_pivot < NEAR:
        k = int(np.abs(solution.t - s.smallest_pivot_time).argmin())
        condition, joints = mechanism.locking(float(solution.t[k]), solution.x[k])
        near = "the mechanism is near a singular configuration" if condition > 1.0 / NEAR else "only the rows in use are"
        where = solution.instant(solution.t[k], 4)
        shown += f": {near} (condition {condition:.1e} at {where}, joints {', '.join(map(repr, joints))})"
        data |= {"condition": condition, "joints": joints}
        close = s.smallest_pivot < GRAZED and condition > 1.0 / NEAR
        if close and not s.branch_points and not solution.formulation_type.keeps_branch:
            text = f"branch not certain: a singular configuration was grazed, pivot {s.smallest_pivot:.2g}"
            text += f" at {solution.instant(s.smallest_pivot_time, 4)}"
            yield Line("branch", text, verdict="WARN", data=s.smallest_pivot)
    yield Line("conditioning", shown, data=data, block="careful" if s.smallest_pivot < NEAR else "details")
    if s.branch_points:
        keeping = next(cls.keeps_branch for cls in FORMULATIONS.values() if cls.keeps_branch)
        text = f"branch not certain: singular configurations crossed: {s.branch_points}; {keeping} stays on its"
        yield Line("branch", f"{text} branch, or refuses", verdict="FAIL", data=s.branch_points)


LIMIT = 0.5


def projection_lines(solution: Result) -> Iterator[Line]:
    """The largest projection of a step over the step's own change; those of a hundredth of the way, at most 1e-6 m or
    rad, are left out.

    Adaptive steps count a tenth of it as error and so never come near the limit; fixed steps have nothing else that would
    tell a residual that jumps. Compliant joints project nothing: from rest, all that their steps change would seem so.
    """
    statistics = solution.statistics
    if statistics.largest_projection > 0.0 and not solution.formulation_type.compliant:
        share = statistics.largest_projection_share
        shown = f"{share:.3g} of its step's own change ({statistics.largest_projection:.3g} m or rad)"
        yield limited("largest projection", f"{shown}, {solution.instant(statistics.largest_projection_at, 4)}", share, LIMIT)


_SAMPLES = 5
_MOST_ROWS = 400  # dense algebra


def mass_conditioning(solution: Result) -> Iterator[Line]:
    """Condition of G M^-1 G^T with rows of unit length, where masses make it worse than geometry: lam loses its digits."""
    mechanism, kind = solution.mechanism, solution.formulation_type
    if not isinstance(mechanism, Mechanism) or not 0 < mechanism.m <= _MOST_ROWS or not len(solution.steps.t):
        return
    if not kind.by_multipliers or not mechanism.uneven:
        return
    steps = solution.steps
    chosen = np.unique(np.linspace(0, len(steps.t) - 1, _SAMPLES).round().astype(int))
    found = [_conditions(mechanism, float(steps.t[k]), steps.x[k]) for k in chosen if np.all(np.isfinite(steps.x[k]))]
    worst = max((by_mass for by_mass, by_shape in found if by_mass > 10 * by_shape), default=0.0)
    limit = _digits(solution)
    lost = float(np.finfo(float).eps) * worst
    lost **= 1 + kind.refinements(solution.settings["formulation"]["options"])
    if lost > 1e-3 * limit:
        lightest = min(mechanism.model.bodies, key=lambda body: body.mass).name
        shown = f"condition {worst:.2g}: accelerations are rounded to {lost:.2g}; body {lightest!r} is light beside the others"
        if lost > limit:
            shown += f", use {next(cls.__name__ for cls in FORMULATIONS.values() if not cls.by_multipliers)}"
        yield limited("mass conditioning", shown, lost, limit)


def _digits(solution: Result) -> float:
    """What accelerations may be off by, relative."""
    options = solution.settings["integrator"]["options"]
    return 1e-6 if options.get("step") is not None else float(min(1e-6, max(10 * options["rtol"], 1e-11)))


def accelerations(solution: Result) -> Iterator[Line]:
    """Whether accelerations fit the constraints: `unmet` (formulations/evaluation.py), of the solve by multipliers where a run
    went by it, of what is told in the others."""
    mechanism, kind, steps = solution.mechanism, solution.formulation_type, solution.steps
    if not isinstance(mechanism, Mechanism) or not mechanism.m or kind.compliant or not len(steps.t):
        return
    column = 0 if kind.by_multipliers and mechanism.degrees_of_freedom > 0 else 1
    yield guarded("accelerations", lambda name: _unmet(steps, name, column, _digits(solution)))


def _unmet(steps: Result, name: str, column: int, limit: float) -> Line:
    unmet = steps.evaluated.unmet[:, column]
    k = int(np.argmax(np.nan_to_num(unmet, nan=np.inf)))
    why = "" if unmet[k] <= limit else ": lengths, masses and inertias differ too much"
    shown = f"meet joints to {unmet[k]:.2g} of their terms, {steps.instant(steps.t[k], 4)}{why}"
    return limited(name, shown, float(unmet[k]), limit)


def rounding(solution: Result) -> Iterator[Line]:
    """Steps in which rounding of the accelerations is more than the tolerance: no smaller step makes less of it."""
    s = solution.statistics
    if s.rounded_steps:
        shown = f"in {s.rounded_steps} of {s.accepted} steps that of the accelerations is the error, up to"
        shown += f" {s.rounded_error:.2g} tolerances: ask for less, or use another formulation"
        yield Line("rounding", shown, "1", "WARN", {"steps": s.rounded_steps, "error": s.rounded_error})


def _conditions(mechanism: Mechanism, t: float, x: Array) -> tuple[float, float]:
    """Of G M^-1 G^T with the bodies' masses, and with all masses 1 and radii of gyration as they are."""
    from scipy.linalg import block_diag

    G = dense_rows(mechanism, t, x)[0][: mechanism.m]
    blocks: tuple[list[Array], list[Array]] = ([], [])
    for body in mechanism.model.bodies:
        J = body.inertia if body.kind == "rigid" else body.mass * np.eye(3)
        root = np.linalg.cholesky(np.linalg.inv(J))
        for block, mass in zip(blocks, (1.0, body.mass), strict=True):
            block += [np.eye(3) * np.sqrt(mass / body.mass), root * np.sqrt(mass)]
    by_mass, by_shape = (_condition(G @ block_diag(*block), mechanism.rank) for block in blocks)
    return by_mass, by_shape


def _condition(rows: Array, rank: int) -> float:
    """Squared condition of rows of unit length, that of their products; redundant ones do not count."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    values = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return float((values[0] / max(values[rank - 1], 1e-300)) ** 2)
