"""The formulation of a run that names none: one rule, for Python, ensembles and the command line."""

from __future__ import annotations

from dalembert.compilation.compiled import Compiled
from dalembert.formulations import FORMULATIONS, Formulation


def default_formulation(mechanism: Compiled) -> tuple[Formulation, str]:
    """The formulation, and why: of those that suit the mechanism, the last that was registered."""
    chosen = [(cls, why) for cls in FORMULATIONS.values() if (why := cls.suits(mechanism))]
    cls, why = chosen[-1]
    return cls(), why
