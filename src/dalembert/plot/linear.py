"""Figures of a linear model: eigenvalues in the complex plane, Bode diagrams; eigenvalues over a parameter."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.validation import nearest
from dalembert.plot.degrees import tick
from dalembert.plot.style import CYCLE, DARK, MUTED, Figures, by_unit, house_style, legend_above, new_figure, owner_of
from dalembert.results.signals import with_unit

if TYPE_CHECKING:
    from collections.abc import Sequence


_FREQUENCIES = 6  # that are written beside eigenvalues, at most
_LETTER, _LINE = 0.58, 1.5  # width of a letter, height of a line, over the size of the text


class Linear(Protocol):
    """What is drawn of a linear model."""

    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def verdict(self) -> str: ...
    @property
    def eigenvalues(self) -> npt.NDArray[np.complex128]: ...
    @property
    def frequencies(self) -> Array: ...
    @property
    def input_names(self) -> Sequence[str]: ...
    @property
    def output_names(self) -> Sequence[str]: ...
    @property
    def input_units(self) -> Sequence[str]: ...
    @property
    def output_units(self) -> Sequence[str]: ...

    def frequency_response(self, frequencies: npt.ArrayLike) -> npt.NDArray[np.complex128]: ...


class LinearPlots(Figures):
    """Figures by name; see the module."""

    _example = "bode()"

    def __init__(self, linear: Linear) -> None:
        self._linear = linear

    def eigenvalues(self, *, ax: Axes | None = None) -> Figure:
        """All eigenvalues in the complex plane [1/s], with frequency and damping ratio of a few; what is right of the vertical
        line grows."""
        with house_style():
            figure = owner_of(ax) if ax is not None else new_figure(7.0, 5.6)
            axes = ax if ax is not None else figure.add_subplot()
            values = self._linear.eigenvalues
            least = 1e-9 * np.abs(values).max(initial=1e-300)
            axes.axvline(0.0, color=MUTED, linewidth=0.8)
            axes.axhline(0.0, color=MUTED, linewidth=0.8)
            kinds = ((values.real < -least, "o", "decays"), (np.abs(values.real) <= least, "s", "stays"))
            for chosen, marker, label in (*kinds, (values.real > least, "X", "grows")):
                if chosen.any():
                    axes.plot(values[chosen].real, values[chosen].imag, marker, label=label, markersize=7)
            axes.set_xlabel("real part [1/s]")
            axes.set_ylabel("imaginary part [rad/s]")
            axes.set_title("eigenvalues, frequency and damping ratio")
            axes.margins(0.12)
            _widen(axes)
            legend_above(axes)
            if ax is None:
                figure.suptitle(f"{self._name}: {self._linear.verdict}")
                figure.draw_without_rendering()  # where points are
            _annotate(axes, values)
        return figure

    def bode(self, *, input: str | None = None, output: str | None = None, frequencies: npt.ArrayLike | None = None) -> Figure:
        """Amplitude and phase of outputs over frequency, for one input; default the first one, all outputs. Amplitudes have a
        panel for each unit.

        frequencies : [Hz], default from a tenth of the lowest to ten times the highest of the model
        """
        linear = self._linear
        if not linear.input_names or not linear.output_names:
            raise ModelError("bode: the linear model has no inputs or no outputs; give both to linearise")
        column = _index("input", input, linear.input_names) if input is not None else 0
        rows = [_index("output", output, linear.output_names)] if output is not None else range(len(linear.output_names))
        f = np.asarray(_frequencies(linear) if frequencies is None else frequencies, dtype=float)
        response = linear.frequency_response(f)[:, :, column]
        largest = np.where(np.isfinite(response), np.abs(response), 0.0).max(axis=0)
        units = by_unit(rows, lambda row: (linear.output_names[row], linear.output_units[row]))
        told = ([row for row in alike if largest[row] > 1e-12 * largest[alike].max()] for alike in units)
        panels = [alike for alike in told if alike]  # rounding has no phase
        if not panels:
            raise ModelError(
                f"bode: nothing follows {linear.input_names[column]!r}; give input= one of the others, or other outputs"
            )
        name, unit, styles = linear.input_names[column], linear.input_units[column], cycle(CYCLE)
        with house_style():
            figure = new_figure(9.0, 1.4 + 2.6 * (1 + len(panels)))
            *above, below = figure.subplots(1 + len(panels), 1, sharex=True)
            for panel, alike in zip(above, panels, strict=True):
                for row, style in zip(alike, styles, strict=False):
                    panel.loglog(f, np.abs(response[:, row]), label=linear.output_names[row], **style)
                    below.semilogx(f, np.degrees(np.unwrap(np.angle(response[:, row]))), **style)
                panel.set_ylabel(_gain(linear.output_units[alike[0]], unit, name))
                legend_above(panel)
            below.set_ylabel("phase [deg]")
            tick(below.yaxis, "deg")
            below.set_xlabel("frequency [Hz]")
            figure.suptitle(f"{self._name}: response to {with_unit(name, unit)}")
        return figure

    @property
    def _name(self) -> str:
        return self._linear.mechanism.model.name or "unnamed model"


def _gain(output: str, input: str, name: str) -> str:
    """Label of an amplitude over that of an input."""
    if input and output:
        return f"amplitude [{output} / {f'({input})' if ' ' in input else input}]"
    return with_unit("amplitude", output) + (f" per {input}" if input else f" per unit of {name}")


def _annotate(axes: Axes, values: npt.NDArray[np.complex128]) -> None:
    """Frequency and damping ratio beside those that oscillate, the slowest first, where there is room."""
    size = float(rcParams["legend.fontsize"])
    points = axes.transData.transform(np.column_stack([values.real, values.imag])) * 72.0 / owner_of(axes).dpi
    frame = axes.get_window_extent().get_points() * 72.0 / owner_of(axes).dpi
    taken = [np.stack([point - 4.0, point + 4.0]) for point in points]
    upper = np.flatnonzero(values.imag > 1e-9 * np.abs(values).max(initial=1e-300))
    for k in upper[np.argsort(values[upper].imag)][:_FREQUENCIES]:
        frequency, damping = abs(values[k]) / (2.0 * np.pi), -values[k].real / abs(values[k])
        text = f"{frequency:.3g} Hz, {100.0 * damping:.2g} %" if abs(damping) > 1e-9 else f"{frequency:.3g} Hz, 0 %"
        wide, high = _LETTER * size * len(text), _LINE * size
        for x, y in ((8.0, -0.5 * high), (-8.0 - wide, -0.5 * high), (-0.5 * wide, 6.0), (-0.5 * wide, -6.0 - high)):
            box = points[k] + np.array([[x, y], [x + wide, y + high]])
            inside = (box[0] > frame[0]).all() and (box[1] < frame[1]).all()
            if inside and not any((box[0] < other[1]).all() and (other[0] < box[1]).all() for other in taken):
                taken.append(box)
                place: Any = {"xytext": (x, y + 0.35 * size), "textcoords": "offset points", "fontsize": size, "color": DARK}
                axes.annotate(text, (values[k].real, values[k].imag), **place)
                break


def draw_curves(model: str, name: str, values: Array, curves: npt.NDArray[np.complex128]) -> Figure:
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
        figure.suptitle(f"{model or 'unnamed model'}: eigenvalues over {name}")
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
