"""Series that a solution computes from its states: energies, constraint residuals, independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, InShort
from dalembert.errors import ModelError
from dalembert.model.validation import nearest

CONSTANT = 1e-6  # of the largest value: what changes by less is told as constant
ROUNDING = 10 * float(np.finfo(float).eps)  # of a sum of some terms, relative to their size


@dataclass(frozen=True, eq=False, repr=False)
class Energy(InShort):
    """(nt,) each [J]; total = kinetic + potential - external_work stays constant."""

    kinetic: Array
    potential: Array
    external_work: Array

    @property
    def total(self) -> Array:
        return self.kinetic + self.potential - self.external_work

    @property
    def scale(self) -> float:
        """What an energy error is compared with: the energy that moves, or the rounding of T, U and W where nothing does."""
        terms = (self.kinetic, self.potential, self.external_work)
        largest = max(float(np.max(np.abs(e), initial=0.0)) for e in terms)
        return max(self.exchanged, ROUNDING * largest) or 1.0

    @property
    def exchanged(self) -> float:
        """The largest kinetic energy, or change of potential energy or of external work, in the run."""
        swings = [float(np.ptp(e)) if len(e) else 0.0 for e in (self.potential, self.external_work)]
        return max(float(np.max(self.kinetic, initial=0.0)), *swings)

    @property
    def far(self) -> bool:
        """Whether one of them is farther from zero than they change, as heights count from anywhere: changes are drawn then."""
        terms = (self.kinetic, self.potential, self.external_work)
        change = max(float(np.ptp(e)) for e in (*terms, self.total))
        least = max(float(np.abs(e).min()) for e in terms)
        return CONSTANT * least < change < least


@dataclass(frozen=True, eq=False, repr=False)
class Drift(InShort):
    """Largest constraint residual over time: position [m or 1], velocity [m/s or 1/s]."""

    position: Array
    velocity: Array
    _by_element: dict[str, tuple[Array, Array]]

    def by_joint(self, name: object) -> Drift:
        """The same for one joint or driver."""
        key = str(getattr(name, "name", name))
        if key not in self._by_element:
            raise ModelError(f"there is no joint or driver {key!r}; {nearest(key, self._by_element)}")
        return Drift(*self._by_element[key], self._by_element)

    @property
    def worst_joint(self) -> str | None:
        """The joint or driver with the largest position residual."""
        return max(self._by_element, key=lambda k: self._by_element[k][0].max(initial=0.0), default=None)


@dataclass(frozen=True, eq=False, repr=False)
class MinimalCoordinates(InShort):
    """Independent coordinates s (nt, f), the integrals of the velocities s_dot (nt, f), and the basis (nt, nu, f) of these.

    u = basis s_dot, up to what prescribed motions ask for; basis^T W basis = 1 with W Euclidean in (r', theta'), or in the
    velocities of the joints where these are used; in mechanisms below 0.1 m or above 10 m a radian weighs their lever arms
    jump : (nt,) largest change of an s_dot within one step so far: small with continuation, whatever it was saved at
    """

    s: Array
    s_dot: Array
    basis: Array
    jump: Array
