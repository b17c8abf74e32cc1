"""Figures of a linear model: eigenvalues in the complex plane, Bode diagrams; eigenvalues over a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.validation import Hinted, nearest
from dalembert.plot.degrees import tick
from dalembert.plot.style import MUTED, house_style, legend_above, new_figure, owner_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class Linear(Protocol):
    """What is drawn of a linear model."""

    @property
    def eigenvalues(self) -> npt.NDArray[np.complex128]: ...
    @property
    def frequencies(self) -> Array: ...
    @property
    def input_names(self) -> Sequence[str]: ...
    @property
    def output_names(self) -> Sequence[str]: ...

    def frequency_response(self, frequencies: npt.ArrayLike) -> npt.NDArray[np.complex128]: ...


class LinearPlots(Hinted):
    """Figures by name; see the module."""

    def __init__(self, linear: Linear) -> None:
        self._linear = linear

    def eigenvalues(self, *, ax: Axes | None = None) -> Figure:
        """All eigenvalues in the complex plane [1/s]; what is right of the vertical line grows."""
        with house_style():
            figure = owner_of(ax) if ax is not None else new_figure(7.0, 5.6)
            axes = ax if ax is not None else figure.add_subplot()
            values = self._linear.eigenvalues
            grows = values.real > 1e-9 * np.abs(values).max(initial=1e-300)
            axes.axvline(0.0, color=MUTED, linewidth=0.8)
            axes.axhline(0.0, color=MUTED, linewidth=0.8)
            for chosen, marker, label in ((~grows, "o", "decays or stays"), (grows, "X", "grows")):
                if chosen.any():
                    axes.plot(values[chosen].real, values[chosen].imag, marker, label=label, markersize=7)
            axes.set_xlabel("real part [1/s]")
            axes.set_ylabel("imaginary part [rad/s]")
            axes.set_title("Eigenvalues")
            axes.margins(0.12)
            _widen(axes)
            legend_above(axes)
        return figure

    def bode(self, *, input: str | None = None, output: str | None = None, frequencies: npt.ArrayLike | None = None) -> Figure:
        """Amplitude and phase of outputs over frequency, for one input; default the first one, all outputs.

        frequencies : [Hz], default from a tenth of the lowest to ten times the highest of the model
        """
        linear = self._linear
        if not linear.input_names or not linear.output_names:
            raise ModelError("bode: the linear model has no inputs or no outputs; give both to linearise")
        column = _index("input", input, linear.input_names) if input is not None else 0
        rows = [_index("output", output, linear.output_names)] if output is not None else range(len(linear.output_names))
        f = np.asarray(_frequencies(linear) if frequencies is None else frequencies, dtype=float)
        response = linear.frequency_response(f)[:, :, column]
        largest = np.abs(response[np.isfinite(response)]).max(initial=0.0)
        with house_style():
            figure = new_figure(9.0, 6.6)
            above, below = figure.subplots(2, 1, sharex=True)
            for row in rows:
                if np.abs(response[:, row]).max() > 1e-12 * largest:  # rounding has no phase
                    above.loglog(f, np.abs(response[:, row]), label=linear.output_names[row])
                    below.semilogx(f, np.degrees(np.unwrap(np.angle(response[:, row]))))
            above.set_ylabel("amplitude per unit of input")
            below.set_ylabel("phase [deg]")
            tick(below.yaxis, "deg")
            below.set_xlabel("frequency [Hz]")
            above.set_title(f"Response to {linear.input_names[column]!r}")
            legend_above(above)
        return figure


def draw_curves(name: str, values: Array, curves: npt.NDArray[np.complex128]) -> Figure:
    """Real and imaginary parts (n, k) over a parameter; crossings of zero show where stability changes."""
    with house_style():
        figure = new_figure(9.0, 7.0)
        above, below = figure.subplots(2, 1, sharex=True)
        for column in curves.T:
            (line,) = above.plot(values, column.real, linestyle="-")
            below.plot(values, np.abs(column.imag), color=line.get_color(), linestyle="-")
        above.axhline(0.0, color=MUTED, linewidth=0.8)
        above.set_ylabel("real part [1/s]")
        below.set_ylabel("imaginary part [rad/s]")
        below.set_xlabel(name)
        above.set_title(f"Eigenvalues over {name}")
    return figure


def _widen(axes: Axes) -> None:
    """An axis along which nothing differs keeps some width."""
    for low, high, put in ((*axes.get_xlim(), axes.set_xlim), (*axes.get_ylim(), axes.set_ylim)):
        other: Any = max(abs(axes.get_xlim()[1] - axes.get_xlim()[0]), abs(axes.get_ylim()[1] - axes.get_ylim()[0]))
        if high - low < 1e-3 * other:
            put(0.5 * (low + high) - 0.05 * other, 0.5 * (low + high) + 0.05 * other)


def _index(label: str, name: str, known: Sequence[str]) -> int:
    if name not in known:
        raise ModelError(f"bode: there is no {label} {name!r}; {nearest(name, known)}")
    return list(known).index(name)


def _frequencies(linear: Linear) -> Array:
    own = linear.frequencies
    low, high = (own.min(), own.max()) if len(own) else (1.0, 1.0)
    grid = np.geomspace(0.1 * low, 10.0 * high, 600)
    return np.unique(np.concatenate([grid, *(one * (1.0 + np.linspace(-0.02, 0.02, 41)) for one in own)]))
