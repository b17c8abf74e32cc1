"""Runs that follow each other as one solution: parts of a run between events that act, or runs that went on.

Each piece is a solution with its own equations; what is known of the states alone is put together, the rest is asked of the
pieces. At a time where two pieces meet the state is that of the later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.results.solution import Result
from dalembert.run.statistics import Statistics
from dalembert.simulation.solution import AnySolution, LagrangianSolution, Solution, joined_solution

MEET = 1e-9  # times and states of runs that follow each other, relative


def concatenate(solutions: Sequence[Solution | LagrangianSolution]) -> Any:
    """One solution of consecutive runs: each must start where the one before ended, in time and in its state.

    Named outputs go over all of them; `pieces` has the runs, each with its own report; states are those of the later run where
    two meet.
    """
    given = list(solutions) if isinstance(solutions, list | tuple) else []
    if not given or not all(isinstance(one, AnySolution) for one in given):
        raise ModelError(f"concatenate got {solutions!r}; give a list of solutions")
    parts = [piece for one in given for piece in (one.pieces or (one,))]
    for before, after in pairwise(parts):
        _check_meeting(before, after)
    return joined(parts)


def _check_meeting(before: Result, after: Result) -> None:
    if not len(before.t) or not len(after.t):
        raise ModelError("concatenate: a run holds no states; leave it out")
    mine, other = before.mechanism, after.mechanism
    if mine.coordinates != other.coordinates or mine.body_names != other.body_names or mine.nq != other.nq:
        raise ModelError("concatenate: the runs are of different models or in different coordinates; give parts of one run")
    end, begin = before.end_time, after.begin_time
    if abs(end - begin) > MEET * max(1.0, abs(end)):
        raise ModelError(
            f"concatenate: a run ends at t = {end:.6g} s and the next starts at {begin:.6g} s; give runs that meet"
        )
    q, x = after.mechanism.x_0[: mine.nq], before.end_state[: mine.nq]
    if not np.abs(q - x).max(initial=0.0) <= 1e-6 * (1.0 + np.abs(x).max(initial=0.0)):
        raise ModelError(
            f"concatenate: at t = {end:.6g} s a run ends elsewhere than the next starts, by"
            f" {np.abs(q - x).max():.3g} m; give runs of which one goes on with the other"
        )


def joined(pieces: Sequence[Any], times: Array | None = None) -> Any:
    """Pieces as one solution; times : those asked for, None for all."""
    pieces = list(pieces)
    if len(pieces) == 1:
        return pieces[0]
    kept = []
    for k, piece in enumerate(pieces):
        later = pieces[k + 1].t[:1] if k + 1 < len(pieces) else np.zeros(0)
        use = ~np.isin(piece.t, later) & (piece.t < (later[0] if len(later) else np.inf))
        kept.append(use if times is None else use & np.isin(piece.t, times))
    last = pieces[-1]
    return joined_solution(
        pieces[0].mechanism,
        np.concatenate([p.t[use] for p, use in zip(pieces, kept, strict=True)]),
        np.concatenate([p.x[use] for p, use in zip(pieces, kept, strict=True)]),
        pieces=tuple(pieces),
        kept=tuple(kept),
        settings={**last.settings, "t_start": pieces[0].begin_time},
        statistics=total([p.statistics for p in pieces]),
        status=last.status,
        message=last.message,
        events=tuple(event for p in pieces for event in p.events),
        versions=last.versions,
        formulation=last.formulation,
        integrator=last.integrator,
        warnings=tuple(dict.fromkeys(text for p in pieces for text in p.warnings)),
        more=_more(pieces, kept),
    )


def _more(pieces: Sequence[Result], kept: Sequence[npt.NDArray[np.bool_]]) -> dict[str, Array]:
    """What formulations saved beside the states, where it has one shape in all pieces."""
    names = [name for name in pieces[0].more if all(name in p.more for p in pieces)]
    alike = [name for name in names if len({p.more[name].shape[1:] for p in pieces}) == 1]
    return {name: np.concatenate([p.more[name][use] for p, use in zip(pieces, kept, strict=True)]) for name in alike}


def total(parts: Sequence[Statistics]) -> Statistics:
    """What all of them cost together: counts add, of extremes the extreme one counts."""
    worst = max(parts, key=lambda s: s.driver_gap)
    leap = max(parts, key=lambda s: s.largest_projection_share)
    known = [s for s in parts if s.smallest_pivot >= 0.0]
    pivot = min(known, key=lambda s: s.smallest_pivot) if known else parts[0]
    extreme: dict[str, Any] = {f"driver_gap{tail}": getattr(worst, f"driver_gap{tail}") for tail in ("", "_name", "_time")}
    extreme |= {f"largest_projection{tail}": getattr(leap, f"largest_projection{tail}") for tail in ("", "_share", "_at")}
    extreme |= {"smallest_pivot": pivot.smallest_pivot, "smallest_pivot_time": pivot.smallest_pivot_time}
    extreme |= {"smallest_step": min(s.smallest_step for s in parts), "largest_step": max(s.largest_step for s in parts)}
    extreme |= {name: max(getattr(s, name) for s in parts) for name in ("newton_maximum", "rounded_error")}
    extreme |= {"stage_iterations_maximum": max(s.stage_iterations_maximum for s in parts)}
    extreme |= {"stage_solver": ", ".join(dict.fromkeys(s.stage_solver for s in parts if s.stage_solver))}
    projections = sum(s.projections for s in parts)
    extreme["newton_average"] = sum(s.newton_average * s.projections for s in parts) / max(projections, 1)
    extreme["stage_iterations_average"] = sum(s.stage_iterations_average * s.accepted for s in parts) / max(
        sum(s.accepted for s in parts), 1
    )
    extreme["time"] = {name: sum(s.time.get(name, 0.0) for s in parts) for name in parts[0].time}
    counts = {f.name: sum(getattr(s, f.name) for s in parts) for f in fields(Statistics) if f.name not in extreme}
    return replace(parts[0], **counts, **extreme)
