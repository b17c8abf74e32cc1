"""Errors of assembly: joints that stay open, velocities that do not fit, and which drivers and rates have no freedom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.least_change import smallest
from dalembert.compilation.pack import Packed
from dalembert.compilation.rows import blame
from dalembert.errors import AssemblyError

NO_POSITIONS, NO_VELOCITIES = "the mechanism cannot be assembled", "no velocities fit"
_GIVEN = ("rate", "both")  # labels of rows that ask for the rate of a joint coordinate


def no_positions(blamed: Sequence[tuple[str, float]]) -> AssemblyError:
    """blamed : joints with their residuals, the worst first"""
    return AssemblyError(
        f"{NO_POSITIONS}: joints {_listed(blamed)} stay open by the residual in brackets, in m or rad;"
        " check their points, axes and given coordinates, let a fixed body move, or, where links are stretched or folded"
        " in one line, bend them a little the way they should go",
        joints=tuple(name for name, _ in blamed),
    )


def no_velocities(packed: Packed, A: Array, rows: npt.NDArray[np.int64], r: Array, plane: str | None) -> AssemblyError:
    """A, r : rows over the roots of the masses and residuals that they keep;  plane : of the model"""
    blamed = blame(packed.rows, rows, r)
    locked, doubled = _without_freedom(packed, A, rows)
    cause = "check rates, drivers and the velocities of fixed bodies"
    if doubled:
        cause = f"the rates given at {', '.join(doubled)} follow from the drivers and other rates and contradict them;"
        cause += " leave out those that follow"
    if locked:
        cause = f"the mechanism is over-constrained: the other joints and drivers leave no freedom for {', '.join(locked)};"
        remedies = ["check the axes and points of the joints", "leave out a driver or rate"]
        if plane is not None:
            remedies[0] = "check the points of the joints, the bodies that they join, and the axes of slides"
        cause += f" {', '.join(remedies if len(locked) == 1 else remedies[::-1])}"
        cause += ", or free a joint (a spherical or cylindrical one in place of a hinge)" * (plane is None)
    return AssemblyError(
        f"{NO_VELOCITIES}: {cause}; joints {_listed(blamed)} keep the velocity residual in brackets, in m/s or rad/s",
        joints=tuple(name for name, _ in blamed),
    )


def _listed(blamed: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name!r} ({value:.3g})" for name, value in blamed)


def _without_freedom(packed: Packed, A: Array, rows: npt.NDArray[np.int64]) -> tuple[list[str], list[str]]:
    """Drivers and given rates whose coordinate cannot change by itself, because of the joints and drivers alone; given rates
    that have no freedom only because of drivers and other rates."""
    wanted = {row.index: row for row in packed.rows if row.rheonomic or row.label in _GIVEN}
    length = np.linalg.norm(A, axis=1)
    A = A / np.where(length > 0.0, length, 1.0)[:, None]
    asked = [wanted.get(int(index)) for index in rows]
    rate = np.array([row is not None and row.label in _GIVEN for row in asked])
    driven = np.array([row is not None for row in asked]) & ~rate

    def depends(k: int, others: npt.NDArray[np.bool_]) -> bool:
        B = A[others & (np.arange(len(A)) != k)]
        return float(np.linalg.norm(A[k] - B.T @ smallest(B.T, A[k], 1.0))) < 1e-6

    locked, doubled = [], []
    for k, row in enumerate(asked):
        if row is not None:
            if depends(k, ~rate & ~driven if rate[k] else ~rate):
                locked.append(repr(row.element))
            elif rate[k] and depends(k, np.ones(len(A), dtype=bool)):
                doubled.append(repr(row.element))
    return list(dict.fromkeys(locked)), list(dict.fromkeys(doubled))
