"""Outputs of a run in pieces: each is asked of the piece that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.formulations.evaluation import Evaluated
from dalembert.results.efforts import Effort, Wrench
from dalembert.results.quantities import Drift
from dalembert.results.reactions import Reaction


def _kept(solution: Any, values: list[Array]) -> Array:
    return np.concatenate([part[use] for part, use in zip(values, solution.kept, strict=True)])


def evaluated_in_pieces(solution: Any) -> Evaluated:
    """In the rows of the first piece; zero where a row is not in force."""
    pieces = solution.pieces
    parts = [piece.evaluated for piece in pieces]
    first = pieces[0].mechanism
    rows, monitored = first.row_names(), first.residual_names()

    def placed(names: list[str], own: list[str], values: Array) -> Array:
        made = np.zeros((len(values), len(names)))
        for k, name in enumerate(names):
            if name in own:
                made[:, k] = values[:, own.index(name)]
        return made

    owns = [(piece.mechanism.row_names(), piece.mechanism.residual_names()) for piece in pieces]
    return Evaluated(
        lam=_kept(solution, [placed(rows, own, e.lam) for (own, _), e in zip(owns, parts, strict=True)]),
        acceleration=_kept(solution, [e.acceleration for e in parts]),
        g=_kept(solution, [placed(monitored, own, e.g) for (_, own), e in zip(owns, parts, strict=True)]),
        g_dot=_kept(solution, [placed(rows, own, e.g_dot) for (own, _), e in zip(owns, parts, strict=True)]),
        energy=_kept(solution, [e.energy for e in parts]),
        unmet=_kept(solution, [e.unmet for e in parts]),
    )


def drift_in_pieces(solution: Any) -> Drift:
    parts = [piece.drift for piece in solution.pieces]
    names = dict.fromkeys(name for part in parts for name in part._by_element)
    zero = [np.zeros(len(piece.t)) for piece in solution.pieces]
    found = {}
    for name in names:
        columns = [part._by_element.get(name, (none, none)) for part, none in zip(parts, zero, strict=True)]
        found[name] = (_kept(solution, [c[0] for c in columns]), _kept(solution, [c[1] for c in columns]))
    return Drift(_kept(solution, [p.position for p in parts]), _kept(solution, [p.velocity for p in parts]), found)


def multiplier_in_pieces(solution: Any, element: object) -> Array:
    name = str(getattr(element, "name", element))
    known = [piece for piece in solution.pieces if piece.mechanism.rows_of(name)]
    rows = (known or solution.pieces)[0].multiplier(name).shape[1]
    return _kept(solution, [p.multiplier(name) if p in known else np.zeros((len(p.t), rows)) for p in solution.pieces])


def effort_in_pieces(solution: Any, name: str) -> Effort:
    """Each piece by its own numbers; zero where a coupling is not in force."""
    parts: list[Effort] = [piece.effort(name) for piece in solution.pieces]
    labels, ends = ("coordinate", "rate", "value", "power", "energy"), ("force", "torque", "point")
    own = {label: [getattr(part, label) for part in parts] for label in labels}
    values: dict[str, Any] = {label: None if made[0] is None else _kept(solution, made) for label, made in own.items()}
    on = {}
    for body in parts[0].on:
        sides = [part.on[body] for part in parts]
        on[body] = Wrench(*(_kept(solution, [getattr(side, label) for side in sides]) for label in ends))
    return replace(parts[0], on=on, **values)


def reaction_in_pieces(solution: Any, name: str, body: object) -> Reaction:
    """Zero, at no point (NaN), where the element is not in force."""
    parts = []
    for piece in solution.pieces:
        if piece.mechanism.rows_of(name):
            parts.append(piece.reaction(name, body))
        else:
            zero = np.zeros((len(piece.t), 3))
            parts.append(Reaction(zero, zero, True, np.full_like(zero, np.nan)))
    force, torque, point = (_kept(solution, [getattr(p, label) for p in parts]) for label in ("force", "torque", "point"))
    parts.sort(key=lambda part: part.unique)  # what is left undetermined anywhere is told first
    return Reaction(force, torque, parts[0].unique, point, parts[0].undetermined)


def at_times(solution: Any, times: Array) -> Any:
    """Dense output: each time by the piece that it belongs to; where two pieces meet, by the later one."""
    begins = np.array([piece.begin_time for piece in solution.pieces])
    which = np.clip(np.searchsorted(begins, times, side="right") - 1, 0, None)
    groups = np.split(np.arange(len(times)), 1 + np.flatnonzero(np.diff(which)))  # in the order asked for
    parts = tuple(solution.pieces[which[group[0]]](times[group]) for group in groups if len(group))
    made = parts[0] if len(parts) == 1 else None
    if made is None:
        x = np.concatenate([part.x for part in parts]) if parts else np.zeros((0, solution.x.shape[1]))
        made = type(solution)(solution.mechanism, times, x, settings=solution.settings)
        made.pieces, made.kept, made.model = parts, tuple(np.ones(len(part.t), dtype=bool) for part in parts), solution.model
    made.source = solution
    return made
