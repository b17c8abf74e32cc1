"""eigenvalue_curves: eigenvalues over a parameter, followed by continuity: root locus, Campbell and speed diagrams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.model import Model
from dalembert.model.validation import by_name, shown
from dalembert.questions.linear_model import LinearModel
from dalembert.questions.linearise import linearise

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class EigenvalueCurves:
    """parameter : its name;  values : (n,) of it;  eigenvalues : (n, k), one curve per column;  models : the linear models"""

    parameter: str
    values: Array
    eigenvalues: npt.NDArray[np.complex128]
    models: tuple[LinearModel, ...]

    @property
    def stable(self) -> npt.NDArray[np.bool_]:
        """(n,) whether no eigenvalue grows."""
        return np.array([model.stable for model in self.models])

    def crossings(self) -> list[tuple[float, float]]:
        """(value, imaginary part [rad/s]) where a curve crosses the imaginary axis, by a parabola through neighbours."""
        found = []
        for column in self.eigenvalues.T:
            for k in np.flatnonzero(np.sign(column.real[1:]) * np.sign(column.real[:-1]) < 0):
                near = slice(max(min(int(k) - 1, len(column) - 4), 0), max(min(int(k) - 1, len(column) - 4), 0) + 4)
                at = _root(self.values[near], column.real[near], self.values[k], self.values[k + 1])
                found.append((at, float(abs(np.interp(at, self.values[k : k + 2], column.imag[k : k + 2])))))
        return sorted(set(found))

    def plot(self) -> Figure:
        """Real and imaginary parts over the parameter."""
        from dalembert.plot.linear import draw_curves

        return draw_curves(self.models[0].mechanism.model.name, self.parameter, self.values, self.eigenvalues)


@by_name
def eigenvalue_curves(build: Callable[..., Model | LinearModel], **parameter: npt.ArrayLike) -> EigenvalueCurves:
    """Eigenvalues over a parameter, followed by continuity; zeros of cyclic coordinates are left out.

    build : makes the model, or a linear model (`da.linearise(model, at=da.equilibrium(model))`), from build(name=value)
    parameter : one name with its values, eigenvalue_curves(build, speed=np.linspace(0, 10, 101))
    """
    if len(parameter) != 1:
        raise ModelError(f"eigenvalue_curves: {len(parameter)} parameters; give one with its values, speed=[...]")
    ((name, given),) = parameter.items()
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise ModelError(f"eigenvalue_curves: {name} is {shown(given)}; give at least two finite numbers")
    models = []
    for value in values.tolist():
        made = build(**{name: value})
        models.append(made if isinstance(made, LinearModel) else linearise(made))
    most = max(len(model.reduced_eigenvalues) for model in models)
    rows = [np.append(one.reduced_eigenvalues, np.zeros(most - len(one.reduced_eigenvalues))) for one in models]
    return EigenvalueCurves(name, values, _followed(values, np.array(rows)), tuple(models))


def _followed(values: Array, rows: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """Columns that go on: each row ordered so that it is nearest to the continuation of those before."""
    from scipy.optimize import linear_sum_assignment

    ordered = rows.copy()
    for k in range(1, len(rows)):
        expected = ordered[k - 1]
        if k > 1 and values[k - 1] != values[k - 2]:
            slope = (ordered[k - 1] - ordered[k - 2]) / (values[k - 1] - values[k - 2])
            expected = expected + slope * (values[k] - values[k - 1])
        distance = np.abs(expected[:, None] - rows[k][None])
        ordered[k] = rows[k][linear_sum_assignment(distance)[1]]
    return ordered


def _root(x: Array, y: Array, low: float, high: float) -> float:
    """Zero of the cubic through four points that lies between two values."""
    middle, scale = x.mean(), np.ptp(x)
    roots = np.roots(np.polyfit((x - middle) / scale, y, len(x) - 1)) * scale + middle
    real = roots[np.abs(roots.imag) < 1e-9 * scale].real
    inside = real[(real >= min(low, high)) & (real <= max(low, high))]
    return float(inside[0] if len(inside) else 0.5 * (low + high))
