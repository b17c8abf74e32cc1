"""How constraints enter the equations: the formulations that come with the library. Adding one is a file and a row here."""

from dalembert.formulations.base import FORMULATIONS, Formulation, register_formulation
from dalembert.formulations.impulse import Impulse
from dalembert.formulations.jet import Jet
from dalembert.formulations.minimal import Minimal
from dalembert.formulations.moving_frame import MovingFrame
from dalembert.formulations.soft import Soft
from dalembert.formulations.variational import Variational

__all__ = ["FORMULATIONS", "REFERENCE", "Formulation", "register_formulation"]

REFERENCE = Jet  # takes every model; evaluates what states imply
register_formulation("jet", Jet)
register_formulation("moving-frame", MovingFrame)
register_formulation("minimal", Minimal)
register_formulation("impulse", Impulse)
register_formulation("soft", Soft)
register_formulation("variational", Variational)
