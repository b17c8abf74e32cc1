"""The formulation of a run that names none: one rule, for Python, ensembles and the command line."""

from __future__ import annotations

import numpy as np

from dalembert.compilation.mechanism import Compiled, Mechanism
from dalembert.formulations import Formulation
from dalembert.formulations.jet import Jet
from dalembert.formulations.moving_frame import MovingFrame

UNEVEN = 1e4  # masses that differ by more cost multipliers half of the digits that the default tolerance leaves


def default_formulation(mechanism: Compiled) -> tuple[Formulation, str]:
    """The formulation, and why. Evidence: benchmarks/campaigns/default_formulation.py.

    Jet runs every model in every kind of coordinates. Its multipliers lose digits by the ratio of masses, which equations in
    joint coordinates do not: a link of 1e-9 kg between bodies of 1 kg costs Jet 8e-6 rad in 2 s, MovingFrame 5e-8 rad.
    """
    if isinstance(mechanism, Mechanism) and mechanism.coordinates == "absolute":
        masses = [body.mass for body in mechanism.model.bodies]
        ratio = float(np.max(masses) / np.min(masses)) if min(masses, default=0.0) > 0 else 1.0
        if ratio > UNEVEN:
            return MovingFrame(), f"masses differ by {ratio:.1g}, which costs multipliers as many digits"
    return Jet(), "it runs every model in all coordinates"
