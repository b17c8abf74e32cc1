"""Numbers of a whole run: integrals over time and extrema of its outputs, for `gradient`, `optimise` and `constraints`.

Integrals are those of the spline of degree five through the saved times: errors h^6 where the output is smooth. The spline
through every second time tells where there are too few of them, as beside jumps: there the run itself is asked for states
between, where it has them, and intervals are halved until Lobatto's formulas agree. Extrema are looked for in the run itself,
see `extremum`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError
from dalembert.model.validation import by_name, near, shown
from dalembert.questions.extremum import EQUAL, at_peak, first_of, is_dense, true_maximum
from dalembert.results.signal_names import OVER_TIME
from dalembert.results.signals import signal

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

_DEGREE = 5
_NOUGHT = 1e-9  # means below that part of the largest size are what rounding and steps leave
_TIMES = 2 * _DEGREE + 2  # that it takes for both splines
_APART = 1e-3  # times to the spline through half of them, of the range of the output
_ROUNDING = 1e-12  # of the size of the output
_CLOSE, _JUMP = 1e-7, 1e-3  # of the range times an interval, integrals agree; least interval that counts, of the run's time
_HALVES, _FALL = 40, 2  # of an interval, at most; in as many rounds differences of what is no noise fall to a half


class Extreme(float):
    """A largest or smallest value, which is a number like others.  t : when it is reached, first if several times"""

    t: float

    def __new__(cls, value: float, t: float) -> Extreme:
        made = super().__new__(cls, value)
        made.t = t
        return made

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]  # copies need both
        return float(self), self.t


@by_name
def integral(solution: Any, output: object) -> float:
    """An output integrated over the time of a run; output : a signal by name, or a function of the solution."""
    between = is_dense(solution) and solution.sensitivities is None
    t, y = _series(solution, output, 2 if between else _TIMES)
    step, fine, rough = np.diff(t), np.zeros(len(t) - 1), np.full(len(t) - 1, np.inf)
    if len(t) >= _TIMES:
        fine, rough = (np.diff(spline.antiderivative()(t)) for spline in _splines(t, y))
    limit = np.maximum(_CLOSE * float(np.ptp(y)) * np.maximum(step, _JUMP * (t[-1] - t[0])), _ROUNDING * np.abs(step * y[1:]))
    poor = np.abs(fine - rough) > limit
    if between and np.any(poor) and not _is_noise(t, y):
        with suppress(DalembertError):  # a stored run has no states between where its functions are not at hand
            fine[poor], rough[poor] = _halved(solution, output, t[:-1][poor], t[1:][poor], limit[poor])
            poor[:] = False
    jumps = np.isfinite(rough) & poor & (np.abs(fine - rough) > _APART * float(np.ptp(y)) * step)
    if np.any(jumps) and solution.sensitivities is solution.beside is None:
        rough[jumps], fine[jumps] = fine[jumps], np.diff(_within(t, y))[jumps]
    if np.any(np.isinf(rough)):
        _series(solution, output, _TIMES)  # refused
    _enough("integral", output, abs(float(np.sum(fine - rough))) / float(t[-1] - t[0]), y)
    return float(np.sum(fine))


def _is_noise(t: Array, y: Array) -> bool:
    """Whether most values are as far from the line through those beside them as from their mean."""
    if len(t) < _TIMES:
        return False
    line = y[:-2] + (y[2:] - y[:-2]) * np.diff(t)[:-1] / (t[2:] - t[:-2])
    return float(np.median(np.abs(y[1:-1] - line))) > 0.5 * float(np.mean(np.abs(y - np.mean(y))))


def _within(t: Array, y: Array) -> Array:
    """The integral up to each time of a curve that stays between the values at its ends."""
    from scipy.interpolate import PchipInterpolator

    return np.asarray(PchipInterpolator(t, y).antiderivative()(t))


def _halved(solution: Any, output: object, begin: Array, end: Array, limit: Array) -> tuple[Array, Array]:
    """Integrals over intervals of states between those that were saved, by seven and by four points, halved where these differ
    by more than a limit."""
    inner = np.array([-np.sqrt(2.0 / 3.0), -np.sqrt(0.2), 0.0, np.sqrt(0.2), np.sqrt(2.0 / 3.0)])
    points = np.concatenate([[-1.0], inner, [1.0]])
    seven = np.array([77.0, 432.0, 625.0, 672.0, 625.0, 432.0, 77.0]) / 2940.0  # Gander and Gautschi 2000
    four = np.array([1.0, 0.0, 5.0, 0.0, 5.0, 0.0, 1.0]) / 12.0
    whole, check = np.zeros(len(begin)), np.zeros(len(begin))
    of, a, b, apart = np.arange(len(begin)), begin, end, list[float]()
    for _ in range(_HALVES):
        times = 0.5 * (a + b)[:, None] + 0.5 * (b - a)[:, None] * points
        at, where = np.unique(times, return_inverse=True)
        y = signal(solution(at), output).values[where.reshape(times.shape)]
        fine, rough = (b - a) * (y @ seven), (b - a) * (y @ four)
        open_ = (np.abs(fine - rough) > limit[of]) & (b - a > 1e-13 * np.maximum(np.abs(a), np.abs(b)))
        apart.append(float(np.sum(np.abs(fine - rough)[open_])))
        if len(apart) == _HALVES or (len(apart) > _FALL and apart[-1] > 0.5 * apart[-1 - _FALL]):  # noise
            open_[:] = False
        np.add.at(whole, of[~open_], fine[~open_])
        np.add.at(check, of[~open_], rough[~open_])
        middle = 0.5 * (a + b)[open_]
        of, a, b = np.tile(of[open_], 2), np.concatenate([a[open_], middle]), np.concatenate([middle, b[open_]])
        if not len(of):
            break
    return whole, check


@by_name
def largest(solution: Any, output: object) -> Extreme:
    """The largest value that an output has in a run, between saved times as well; output : as of `integral`. It is a number,
    and its `.t` is the time at which it is reached, the first one if there are several.

    Between them it is that of the run itself (its dense output); in poses of `kinematics` that of a smooth curve through the
    values at saved times, where these are enough for one.
    """
    return _extremum(solution, output, 1.0)


@by_name
def smallest(solution: Any, output: object) -> Extreme:
    """The smallest value that an output has in a run, between saved times as well, with its `.t`; see `largest`."""
    return _extremum(solution, output, -1.0)


def of_whole_run(solution: Any, name: str) -> tuple[float, str, float | None]:
    """Value, unit and time of "A.f.max", .min, .peak (largest size), as of `largest`; of .range, .mean and .rms none."""
    output, _, kind = name.rpartition(".")
    try:
        signal(solution, name)
    except ModelError as error:
        close = near(kind, OVER_TIME)
        if output and close not in (None, kind) and "did you mean" not in str(error):
            raise ModelError(f"there is no number {name!r}; did you mean '{output}.{close}'?") from None
        if kind not in OVER_TIME or not output:
            raise ModelError(f"{error}; numbers of the run end in {', '.join(f'.{part}' for part in OVER_TIME)}") from None
    else:
        parts = ", ".join(f"{name}.{part}" for part in OVER_TIME)
        raise ModelError(f"{name!r} is a signal over time; give a file to write it to, or one number of the run: {parts}")
    unit = signal(solution, output).unit
    if kind in ("mean", "rms"):
        power = 2 if kind == "rms" else 1
        mean = integral(solution, lambda s: signal(s, output).values ** power) / float(solution.t[-1] - solution.t[0])
        if abs(mean) < _NOUGHT * float(np.abs(signal(solution, output).values).max()) ** power:
            mean = 0.0
        return max(mean, 0.0) ** 0.5 if power == 2 else mean, unit, None
    found = [_extremum(solution, output, sign) for sign in {"max": (1.0,), "min": (-1.0,)}.get(kind, (1.0, -1.0))]
    if kind == "range":
        return found[0] - found[1], unit, None
    size = (1.0 - EQUAL) * max(map(abs, found))
    one = min((one for one in found if abs(one) >= size), key=lambda one: one.t, default=found[0])
    return abs(one) if kind == "peak" else float(one), unit, one.t


def _extremum(solution: Any, output: object, sign: float) -> Extreme:
    """The largest of an output, or with the sign -1 the smallest."""
    t, value = _largest_of(solution, output, sign)
    return Extreme(sign * value, t)


def _largest_of(solution: Any, output: object, sign: float) -> tuple[float, float]:
    """Of an output times a sign: when, and how much."""

    def values(s: Any) -> Array:
        return sign * _series(s, output)[1]

    if is_dense(solution):
        values(solution)  # what is wrong with it is told
        try:
            return true_maximum(solution, values, (output, sign))
        except DalembertError:  # a stored run has no states between where its functions are not at hand
            if solution.sensitivities is not None:
                solution.sensitivities.again = None  # nor have those beside it
    if (found := at_peak(solution, values)) is not None:
        return found
    t, y = _series(solution, output, _TIMES)
    found, rough = (_maximum(s, t) for s in _splines(t, sign * y))
    if _enough("largest" if sign > 0 else "smallest", output, abs(found[1] - rough[1]), y):
        return found
    k = first_of(sign * y)
    return float(t[k]), float(sign * y[k])


def function_of(objective: object) -> Callable[[Any], float]:
    """An objective as a function of a solution: a name is the last value of that output."""
    if callable(objective):
        return objective
    if isinstance(objective, str):
        return lambda solution: float(signal(solution, objective).values[-1])
    raise ModelError(
        f'the objective is {shown(objective)}; give a function of a solution that returns a number, or an output by name, "A"'
    )


def _series(solution: Any, output: object, least: int = 1) -> tuple[Array, Array]:
    t = np.asarray(solution.t, dtype=float)
    found = signal(solution, output)
    y = found.values
    if not np.all(np.isfinite(y)):
        at = solution.instant(t[np.argmin(np.isfinite(y))])
        raise ModelError(f"{found.label}: the output is not finite at {at}; give one that is a number at all times")
    if len(t) < least:
        raise ModelError(
            f"the run has {len(t)} saved times; integrals and extrema need at least {least}: give more, save_at= (--save-every)"
            ", or more poses"
        )
    return t, y


def _splines(t: Array, y: Array) -> tuple[BSpline, BSpline]:
    from scipy.interpolate import make_interp_spline  # half a second, which few need

    half = np.unique(np.append(np.arange(0, len(t), 2), len(t) - 1))
    return make_interp_spline(t, y, k=_DEGREE), make_interp_spline(t[half], y[half], k=_DEGREE)


def _maximum(spline: BSpline, t: Array) -> tuple[float, float]:
    from scipy.interpolate import PPoly

    at = np.atleast_1d(PPoly.from_spline(spline.derivative()).roots(extrapolate=False))
    at = np.sort(np.concatenate([t[[0, -1]], at[np.isfinite(at)]]))
    values = spline(at)
    return float(at[first_of(values)]), float(np.max(values))


def _enough(what: str, output: object, apart: float, y: Array) -> bool:
    """Whether saved times are; it says where they are not."""
    if apart <= max(_APART * float(np.ptp(y)), _ROUNDING * float(np.abs(y).max())):
        return True
    name, whole = repr(output) if isinstance(output, str) else "an output", what == "integral"
    warnings.warn(
        f"{what} of {name}: the {len(y)} saved times may be too few, it {'may' if whole else 'is that at these times, and may'}"
        f" be off by more than {100 * _APART:g} % of the range of the output; give more,"
        f" save_at=np.linspace(0, t_end, {4 * len(y)}), unless it jumps",
        RuntimeWarning,
        stacklevel=4 if whole else 6,
    )
    return False
