"""Formulations by name: how constraints enter the equations. Adding one is one file and one row here."""

from __future__ import annotations

from dalembert.formulations.impulse import Impulse
from dalembert.formulations.jet import Jet
from dalembert.formulations.minimal import Minimal
from dalembert.formulations.moving_frame import MovingFrame
from dalembert.formulations.soft import Soft
from dalembert.formulations.variational import Variational

Formulation = Jet | MovingFrame | Minimal | Impulse | Soft | Variational
FORMULATIONS: dict[str, type[Formulation]] = {
    "jet": Jet,
    "moving-frame": MovingFrame,
    "minimal": Minimal,
    "impulse": Impulse,
    "soft": Soft,
    "variational": Variational,
}
