"""FixedStep: the step that a formulation makes by itself, or a symmetric composition of such steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from dalembert.integrators.integrator import Integrator
from dalembert.integrators.tableau import EULER, Tableau

_CUBE, _FOURTH = 2 ** (1 / 3), 4 ** (1 / 3)
_YOSHIDA = (0.78451361047755726382, 0.23557321335935813368, -1.17767998417887100695)
# substeps as parts of a step [HairerLubichWanner2006, II (4.4), (4.5), V (3.11)]
COMPOSITIONS: dict[int, tuple[float, ...]] = {
    1: (1.0,),
    3: (1 / (2 - _CUBE), -_CUBE / (2 - _CUBE), 1 / (2 - _CUBE)),
    5: (*[1 / (4 - _FOURTH)] * 2, -_FOURTH / (4 - _FOURTH), *[1 / (4 - _FOURTH)] * 2),
    7: (*_YOSHIDA, 1 - 2 * sum(_YOSHIDA), *reversed(_YOSHIDA)),
}


@dataclass(frozen=True, kw_only=True)
class FixedStep(Integrator):
    """Steps of the formulation itself (`Variational`).

    composition : substeps per step: 1; 3 or 5 raise a symmetric method of order 2 to order 4, 7 to order 6
    Other options as in `Integrator`; step is needed, tolerances have no effect.
    """

    composition: Literal[1, 3, 5, 7] = 1

    estimates_error: ClassVar[bool] = False
    by_formulation: ClassVar[bool] = True
    loop: ClassVar[str] = "own_steps"
    citations: ClassVar[tuple[str, ...]] = ("HairerLubichWanner2006",)

    @property
    def tableau(self) -> Tableau:
        """One step without stages; the substeps lie in e."""
        return replace(EULER, e=np.array([COMPOSITIONS[self.composition]]))
