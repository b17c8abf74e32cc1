"""Unknowns of a fit or a design: numbers, and inertias that stay physical whatever their numbers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.validation import inertia as checked_inertia
from dalembert.model.validation import nearest, number, shown

_LOWER = np.tril_indices(3)
_MOMENTS = ("mass", "xx", "yy", "zz", "xy", "xz", "yz")


def named_values(values: Mapping[str, float]) -> str:
    """One line with all of them."""
    return ", ".join(f"{name} {value:.6g}" for name, value in values.items())


@dataclass(frozen=True, eq=False)
class PhysicalInertia:
    """Mass [kg] and inertia [kg m^2] of a body about its centre of mass, body axes, as an unknown of `fit` or `optimise`.

    It is varied by seven numbers, log m and the log-Cholesky factor of S = tr(J)/2 1 - J = L L^T [RuckerWensing2022]: any
    numbers give a positive mass and moments that fulfil the triangle inequality. `build` is given one of these:
    model.add_body("rod", mass=rod.mass, inertia=rod.inertia, ...).
    """

    mass: float
    inertia: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", number("PhysicalInertia", "mass", self.mass, above=0.0))
        object.__setattr__(self, "inertia", checked_inertia("PhysicalInertia", self.inertia))
        if not np.linalg.eigvalsh(self._second).min() > 0.0:
            raise ModelError(
                "PhysicalInertia: the moments are those of a flat or of no body; each must be less than the sum of the others"
            )

    @property
    def _second(self) -> Array:
        J = self.inertia
        return np.asarray(0.5 * np.trace(J) * np.eye(3) - J)

    def numbers(self) -> Array:
        """(7,) that vary freely."""
        L = np.linalg.cholesky(self._second)
        scale = np.sqrt(np.outer(np.diag(L), np.diag(L)))
        L = np.where(np.eye(3) > 0, np.log(np.diag(L)), L / scale)
        return np.concatenate([[np.log(self.mass)], L[_LOWER]])

    @classmethod
    def of(cls, numbers: Array) -> PhysicalInertia:
        """From seven numbers."""
        L = np.zeros((3, 3))
        L[_LOWER] = numbers[1:]
        d = np.exp(np.diag(L))
        L = np.where(np.eye(3) > 0, np.diag(d), L * np.sqrt(np.outer(d, d)))
        S = L @ L.T
        return cls(float(np.exp(numbers[0])), np.trace(S) * np.eye(3) - S)

    def moments(self) -> Array:
        """(7,) mass and moments in the order of `_MOMENTS`."""
        J = self.inertia
        return np.array([self.mass, J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


class Unknowns:
    """What is varied, as a vector.

    names : of the vector's entries;  start, low, high : (p,);  build : of keywords with these names
    told : names under which values are told, and `values` gives them: moments of an inertia instead of its free numbers
    """

    def __init__(self, owner: str, build: Any, parameters: object, bounds: object) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise ModelError(f"{owner}: parameters are {shown(parameters)}; give where to start, {{'length': 0.3, ...}}")
        self._given: dict[str, Any] = {str(name): value for name, value in parameters.items()}
        inertias = {name: value for name, value in self._given.items() if isinstance(value, PhysicalInertia)}
        self.start_by_name: dict[str, float] = {}
        for name, value in self._given.items():
            if name in inertias:
                self.start_by_name |= {f"{name}.{k}": float(v) for k, v in enumerate(value.numbers())}
            else:
                self.start_by_name[name] = number(owner, f"parameter {name!r}", value)
        self.names = tuple(self.start_by_name)
        self.start = np.array(list(self.start_by_name.values()))
        self.low, self.high = self._bounds(owner, bounds, inertias)
        self.build = _Unfolded(build, tuple(inertias)) if inertias else build
        self._inertias = tuple(inertias)

    def _bounds(self, owner: str, bounds: object, inertias: Mapping[str, Any]) -> tuple[Array, Array]:
        low, high = np.full(len(self.names), -np.inf), np.full(len(self.names), np.inf)
        if bounds is not None and not isinstance(bounds, Mapping):
            raise ModelError(f"{owner}: bounds are {shown(bounds)}; give {{'length': (0.1, 0.5), ...}}, None for no bound")
        for name, pair in (bounds or {}).items():
            if name in inertias:
                raise ModelError(f"{owner}: {name!r} is an inertia, which stays physical without bounds; leave them out")
            if name not in self.names:
                raise ModelError(f"{owner}: bounds of {name!r}, which is no parameter; {nearest(name, self.names)}")
            k = self.names.index(name)
            try:
                lower, upper = pair
            except (TypeError, ValueError):
                raise ModelError(f"{owner}: bounds of {name!r} are {shown(pair)}; give (low, high)") from None
            low[k], high[k] = -np.inf if lower is None else lower, np.inf if upper is None else upper
            if not low[k] < high[k]:
                raise ModelError(f"{owner}: bounds of {name!r} are {shown(pair)}; give the smaller one first")
            if not low[k] <= self.start[k] <= high[k]:
                raise ModelError(
                    f"{owner}: {name!r} starts at {self.start[k]:g}, outside its bounds {low[k]:g} to {high[k]:g}; start inside"
                )
        return low, high

    def keywords(self, x: Array) -> dict[str, float]:
        """What `build` takes, of a vector."""
        return dict(zip(self.names, np.asarray(x, dtype=float).tolist(), strict=True))

    def given_as(self, x: Array) -> dict[str, Any]:
        """As the user's function takes them."""
        return _folded(self.keywords(x), self._inertias)

    @cached_property
    def told(self) -> tuple[str, ...]:
        names: list[str] = []
        for name in self._given:
            names += [f"{name}.{part}" for part in _MOMENTS] if name in self._inertias else [name]
        return tuple(names)

    def values(self, x: Array) -> Array:
        """What is told of a vector."""
        given = self.given_as(x)
        parts = [given[n].moments() if n in self._inertias else np.array([given[n]]) for n in self._given]
        return np.concatenate(parts)

    def values_by_vector(self, x: Array) -> Array:
        """(told, p) derivative of `values`; of inertias by central differences of a smooth closed form."""
        D = np.eye(len(x))
        if not self._inertias:
            return D
        return np.array([(self.values(x + 1e-5 * e) - self.values(x - 1e-5 * e)) / 2e-5 for e in D]).T


class _Unfolded:
    """A user's function whose inertias are told by single numbers."""

    def __init__(self, build: Any, inertias: tuple[str, ...]) -> None:
        self._build, self._inertias = build, inertias

    def __call__(self, **given: Any) -> Any:
        return self._build(**_folded(given, self._inertias))


def _folded(given: Mapping[str, Any], inertias: tuple[str, ...]) -> dict[str, Any]:
    """Single numbers of inertias as one argument each."""
    made = {name: value for name, value in given.items() if name.rpartition(".")[0] not in inertias}
    for name in inertias:
        made[name] = PhysicalInertia.of(np.array([given[f"{name}.{k}"] for k in range(7)]))
    return made
