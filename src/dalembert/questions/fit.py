"""fit: parameters of a model from measured motion, by least squares with exact Jacobians.

    minimise  sum_k | (y_k(p) - data_k) / sigma_k |^2            k : outputs

Where noise levels sigma are not given, outputs are weighed by their range first, then by what is left of them, and the fit goes
on from there. The covariance is (J^T J)^-1 of the weighed Jacobian; bounds of confidence are those of Student's distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import AssemblyError, ModelError, SimulationError
from dalembert.model.validation import by_name, nearest, number, shown
from dalembert.questions.gradient import RunOptions, Runs
from dalembert.questions.unknowns import Unknowns
from dalembert.results.report.table import Report, as_text
from dalembert.results.signals import signal

if TYPE_CHECKING:
    from rich.console import Console

    from dalembert.plot.fits import FitPlots

_TIME = ("t", "time")
_ALIKE = 0.02  # noise levels that change by less are those of the last fit
_ROUNDS = 3  # of weighing
_FLAT = 1e-6  # part by which the last step lowers the sum of squares: of n residuals, n 1e-6 standard errors squared
_SINGULAR = 1e-8  # of the largest singular value of the scaled Jacobian


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimates with their uncertainty.

    estimates : by name, inertias by moments;  values : as the user's function takes them;  start : where it began
    standard_errors : by name, inf where data do not tell, nan where a bound holds the parameter;  names : their order
    covariance : (p, p);  confidence : level of `intervals`
    t, data, residuals : by output, data - model;  sigma : by output, given or estimated (`estimated`) [unit of the output]
    evaluations : runs that were made;  converged, message : SciPy's verdict;  solution : the run at the estimates
    """

    names: tuple[str, ...]
    estimates: Mapping[str, float]
    values: Mapping[str, Any]
    start: Mapping[str, float]
    standard_errors: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    covariance: Array
    confidence: float
    t: Array
    data: Mapping[str, Array]
    residuals: Mapping[str, Array]
    sigma: Mapping[str, float]
    estimated: bool
    at_bounds: tuple[str, ...]
    weak: str
    evaluations: int
    converged: bool
    message: str
    solution: Any
    bent: Callable[[], float]

    def report(self) -> Report:
        """Whether to believe the estimates: convergence, what data do not tell, what the residuals look like, derivatives."""
        from dalembert.questions.fit_report import fit_report

        return fit_report(self)

    @property
    def plot(self) -> FitPlots:
        """Plots by name: fit.plot.residuals()"""
        from dalembert.plot.fits import FitPlots

        return FitPlots(self)

    def to_dict(self) -> dict[str, Any]:
        """Estimates and what belongs to them as plain data."""
        told = {
            name: {
                "estimate": self.estimates[name],
                "standard_error": self.standard_errors[name],
                "interval": list(self.intervals[name]),
                "start": self.start[name],
            }
            for name in self.names
        }
        return {
            "parameters": told,
            "confidence": self.confidence,
            "covariance": self.covariance.tolist(),
            "noise": dict(self.sigma),
            "noise_estimated": self.estimated,
            "evaluations": self.evaluations,
            "converged": self.converged,
            "message": self.message,
        }

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings, and a row for each parameter."""
        rows: list[tuple[str, ...]] = []
        for name in self.names:
            low, high = self.intervals[name]
            between = f"{low:.6g} .. {high:.6g}" if np.isfinite([low, high]).all() else "not known"
            value, spread = f"{self.estimates[name]:.6g}", f"{self.standard_errors[name]:.2g}"
            rows.append((name, value, spread, between, f"{self.start[name]:g}"))
        return ("parameter", "estimate", "standard error", f"{100 * self.confidence:g} % confidence", "start"), rows

    def _repr_html_(self) -> str:
        """For notebooks: the estimates, and the data with the fitted motion; `report()` says whether to believe them."""
        from dalembert.results.html_parts import BAD, GOOD, badge, beside, small_curves, table

        head = badge("converged", GOOD) if self.converged else badge("did not converge", BAD)
        curves = [small_curves(n, self.t, {"data": y, "fit": y - self.residuals[n]}) for n, y in self.data.items()]
        return f"<div>{head} fit in {self.evaluations} runs{table(*self._table())}{beside(*curves)}</div>"

    def print(self, console: Console | None = None) -> None:
        """The table of estimates, to a rich console."""
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        headings, rows = self._table()
        for heading in headings:
            table.add_column(heading, justify="left" if heading == "parameter" else "right")
        for cells in rows:
            table.add_row(*cells)
        (console or Console()).print(table)

    def __str__(self) -> str:
        return as_text(self.print, 100)

    def __repr__(self) -> str:
        parts = ", ".join(f"{n} {self.estimates[n]:.6g} +- {self.standard_errors[n]:.2g}" for n in self.names)
        return f"<fit in {self.evaluations} runs: {parts}>"


@by_name
def fit(
    build: Any,
    data: Any,
    parameters: Mapping[str, Any],
    *,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    sigma: Mapping[str, float] | None = None,
    outputs: Mapping[str, Callable[[Any], Any]] | None = None,
    confidence: float = 0.95,
    max_evaluations: int = 100,
    **options: Unpack[RunOptions],
) -> Fit:
    """Parameters of a model from measured motion.

    build : a function of the parameters that returns a Model, or a LagrangianSystem
    data : a dict of arrays, a pandas DataFrame or an xarray Dataset: "t" (or "time") [s], and outputs by name, "slider.x", "A"
    parameters : where to start, by name: numbers, or a `PhysicalInertia`;  bounds : (low, high) by name, None for none
    sigma : standard deviation of the noise by output, default: estimated from what is left
    outputs : functions of a solution for names in `data` that are no signals;  confidence : level of the intervals
    max_evaluations : runs before it gives up;  other options : formulation, integrator, coordinates, as in `simulate`

    A trial whose loops do not close, or whose run fails, is stepped back from.
    """
    from scipy.optimize import least_squares

    if not 0.0 < number("fit", "confidence", confidence) < 1.0:
        raise ModelError(f"fit: confidence is {confidence:g}; give a number between 0 and 1, such as 0.95")
    unknowns = Unknowns("fit", build, parameters, bounds)
    t, measured = _measured(data)
    functions = _functions(measured, outputs)
    if (count := sum(map(len, measured.values()))) < len(unknowns.names):
        raise ModelError(f"fit: {count} values in the data for {len(unknowns.names)} parameters; give more data")
    if options.get("save_at") is not None:
        raise ModelError("fit: save_at follows from the times of the data; leave it out")
    runs = Runs(unknowns, float(t[-1]), {**options, "save_at": t})
    noise = _noise(measured, sigma)
    model = _Weighed(runs, functions, measured, noise)
    model.residuals(unknowns.start, strict=True)  # what is wrong from the beginning is told as it is
    x, found = unknowns.start, None
    for _ in range(1 if sigma is not None else _ROUNDS):
        left = max(1, max_evaluations - runs.count)
        found = least_squares(
            model.residuals,
            x,
            model.jacobian,
            (unknowns.low, unknowns.high),
            x_scale="jac",
            ftol=_FLAT,
            max_nfev=left,
        )
        x = found.x
        if sigma is not None:
            break
        before, model.noise = model.noise, model.left(x)
        if found.status == 0 or (len(measured) == 1) or all(abs(model.noise[k] / before[k] - 1.0) < _ALIKE for k in before):
            break
    assert found is not None
    return _told(unknowns, model, x, found, t, confidence, estimated=sigma is None)


class _Weighed:
    """Residuals of all outputs, over their noise, and their Jacobian. noise : by output"""

    def __init__(self, runs: Runs, functions: Mapping[str, Any], data: Mapping[str, Array], noise: Mapping[str, float]) -> None:
        self.runs, self.functions, self.data, self.noise = runs, functions, data, dict(noise)

    def residuals(self, x: Array, *, strict: bool = False) -> Array:
        try:
            solution = self.runs.at(x)
        except (AssemblyError, SimulationError, ModelError):
            if strict:
                raise
            return np.full(sum(map(len, self.data.values())), np.inf)
        return np.concatenate([(self.of(solution, k) - self.data[k]) / self.noise[k] for k in self.data])

    def of(self, solution: Any, name: str) -> Array:
        values = np.asarray(self.functions[name](solution), dtype=float)
        if values.shape != self.data[name].shape:
            raise ModelError(f"fit: output {name!r} has the shape {values.shape}, its data {self.data[name].shape}")
        return values

    def jacobian(self, x: Array) -> Array:
        solution, weights = self.runs.at(x), np.array([self.noise[k] for k in self.data])
        both = [solution.derivative(self._all, p) / weights for p in self.runs.unknowns.names]
        return np.array([one.T.ravel() for one in both]).T

    def _all(self, solution: Any) -> Array:
        """(nt, outputs)"""
        return np.stack([self.of(solution, k) for k in self.data], axis=1)

    def left(self, x: Array) -> dict[str, float]:
        """Noise levels that the residuals say; each output gives up its share of the degrees of freedom."""
        solution = self.runs.at(x)
        total, p = sum(map(len, self.data.values())), len(self.runs.unknowns.names)
        share = 1.0 - p / total
        found = {k: float(np.sqrt(np.mean((self.of(solution, k) - self.data[k]) ** 2) / share)) for k in self.data}
        return {k: max(found[k], 1e-12 * self.noise[k], np.finfo(float).tiny) for k in self.data}


def _told(unknowns: Unknowns, model: _Weighed, x: Array, found: Any, t: Array, confidence: float, *, estimated: bool) -> Fit:
    """What a fit says of its end."""
    from scipy.stats import norm
    from scipy.stats import t as student

    solution, J = model.runs.at(x), model.jacobian(x)
    scale = np.linalg.norm(J, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    wanted = x - np.linalg.lstsq(J / scale, model.residuals(x), rcond=_SINGULAR)[0] / scale
    free = (unknowns.low <= wanted) & (wanted <= unknowns.high)  # others would go on, if their bounds let them
    _, s, V = np.linalg.svd((J / scale)[:, free], full_matrices=False)
    known = s > _SINGULAR * s[0]
    half = V[known] / s[known, None]
    C = np.full((len(x), len(x)), np.nan)
    C[np.ix_(free, free)] = (half.T @ half) / np.outer(scale[free], scale[free])
    names = [name for name, one in zip(unknowns.names, free, strict=True) if one]
    weak = ""
    if not known.all():
        row = V[~known][0]
        weak = ", ".join(f"{names[k]}" for k in np.argsort(-np.abs(row)) if abs(row[k]) > 0.1)
    D = unknowns.values_by_vector(x)
    C_told = D @ np.where(np.isnan(C), 0.0, C) @ D.T
    errors = np.sqrt(np.diag(C_told))
    moved = np.abs(D) @ (~free) > 0
    lost = (np.abs(D[:, free] / scale[free]) @ np.abs(V[~known]).T > 1e-6 * np.abs(D / scale).max(axis=1)[:, None]).any(axis=1)
    errors = np.where(moved, np.nan, np.where(lost, np.inf, errors))
    count = sum(map(len, model.data.values()))
    factor = float(
        student.ppf(0.5 + 0.5 * confidence, max(1, count - len(x))) if estimated else norm.ppf(0.5 + 0.5 * confidence)
    )
    told, values, start = unknowns.told, unknowns.values(x), unknowns.values(unknowns.start)

    def bent() -> float:
        """How far the sum of squares is from the parabola that intervals assume: along the least known direction."""
        ahead = np.zeros(len(x))
        ahead[free] = V[known][-1] / s[known][-1] / scale[free]
        at = [np.clip(x + sign * ahead, unknowns.low, unknowns.high) for sign in (1.0, -1.0)]
        base = float(np.sum(model.residuals(x) ** 2))
        rise = [float(np.sum(model.residuals(one) ** 2)) - base for one in at]
        expected = [float(np.sum((J @ (one - x)) ** 2)) for one in at]
        return max(abs(r / e - 1.0) if e > 0.0 else 0.0 for r, e in zip(rise, expected, strict=True))

    return Fit(
        names=told,
        estimates=dict(zip(told, values.tolist(), strict=True)),
        values=unknowns.given_as(x),
        start=dict(zip(told, start.tolist(), strict=True)),
        standard_errors=dict(zip(told, errors.tolist(), strict=True)),
        intervals={n: (float(v - factor * e), float(v + factor * e)) for n, v, e in zip(told, values, errors, strict=True)},
        covariance=C_told,
        confidence=confidence,
        t=t,
        data=model.data,
        residuals={k: model.data[k] - model.of(solution, k) for k in model.data},
        sigma=dict(model.noise),
        estimated=estimated,
        at_bounds=tuple(name for name, one in zip(unknowns.names, free, strict=True) if not one),
        weak=weak,
        evaluations=model.runs.count,
        converged=bool(found.status > 0),
        message=str(found.message),
        solution=solution,
        bent=bent,
    )


def _measured(data: Any) -> tuple[Array, dict[str, Array]]:
    """Times and outputs, checked."""
    if hasattr(data, "data_vars"):  # xarray
        table = {str(name): data[name].values for name in (*data.coords, *data.data_vars)}
    elif hasattr(data, "columns") and hasattr(data, "to_numpy"):  # pandas
        table = {str(name): data[name].to_numpy() for name in data.columns}
    elif isinstance(data, Mapping):
        table = {str(name): np.asarray(values) for name, values in data.items()}
    else:
        raise ModelError(f"fit: data are {shown(data)}; give a dict of arrays, a DataFrame or a Dataset")
    times = [name for name in table if name in _TIME]
    if len(times) != 1:
        raise ModelError(f'fit: data have {", ".join(table) or "nothing"}; give the times as "t" [s]')
    try:
        table = {name: np.asarray(values, dtype=float) for name, values in table.items()}
    except (TypeError, ValueError) as problem:
        raise ModelError(f"fit: data are not all numbers: {problem}") from None
    t = table.pop(times[0])
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all() or np.any(np.diff(t) <= 0.0) or t[0] < 0.0:
        raise ModelError("fit: the times of the data must be finite, increasing, and not before 0, at least two of them")
    if not table:
        raise ModelError('fit: data have times only; add outputs by name, such as "slider.x"')
    for name, values in table.items():
        if values.shape != t.shape:
            raise ModelError(f"fit: {name!r} has {values.shape[0] if values.ndim else 'no'} values, there are {len(t)} times")
        if not np.isfinite(values).all():
            k = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ModelError(f"fit: {name!r} is {values[k]} at t = {t[k]:g} s; leave that time out")
    return t, table


def _functions(measured: Mapping[str, Array], outputs: Mapping[str, Any] | None) -> dict[str, Any]:
    given = outputs or {}
    for name, function in given.items():
        if name not in measured:
            raise ModelError(f"fit: outputs has {name!r}, for which there are no data; {nearest(name, measured)}")
        if not callable(function):
            raise ModelError(f"fit: outputs[{name!r}] is {shown(function)}; give a function of a solution")
    return {name: given.get(name) or (lambda s, name=name: signal(s, name).values) for name in measured}


def _noise(measured: Mapping[str, Array], sigma: Mapping[str, float] | None) -> dict[str, float]:
    """Weights to begin with."""
    if sigma is None:
        return {name: 0.01 * float(np.ptp(values) or np.abs(values).max() or 1.0) for name, values in measured.items()}
    for name in sigma:
        if name not in measured:
            raise ModelError(f"fit: sigma of {name!r}, for which there are no data; {nearest(name, measured)}")
    missing = [name for name in measured if name not in sigma]
    if missing:
        raise ModelError(f"fit: sigma lacks {', '.join(missing)}; give one for every output, or leave sigma out")
    return {name: number("fit", f"sigma of {name!r}", sigma[name], above=0.0) for name in measured}
