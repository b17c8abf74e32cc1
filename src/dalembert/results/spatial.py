"""Reactions across the plane of a run in planar coordinates: its states once more in absolute ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalembert.compilation.between_mechanisms import told_by
from dalembert.compilation.compile import compile
from dalembert.formulations import REFERENCE

if TYPE_CHECKING:
    from dalembert.results.solution import BodyResult


def spatial_twin(solution: BodyResult) -> BodyResult:
    """The same states in absolute coordinates, where rows across the plane have multipliers too."""
    mechanism = compile(solution.mechanism.model, "absolute", t_start=solution.mechanism.given_at)
    x = told_by(mechanism, solution.mechanism, solution.x)
    settings = {**solution.settings, "formulation": {"type": REFERENCE.__name__, "options": {}}}
    return type(solution)(mechanism, solution.t, x, settings=settings)
