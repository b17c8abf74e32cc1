"""Figures of a sweep: an output over two parameters, or over time with all runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.errors import ModelError
from dalembert.model.validation import nearest
from dalembert.plot.style import COLOURS, DARK, Figures, calm, house_style, legend_above, new_figure, owner_of
from dalembert.results.quantities import CONSTANT
from dalembert.results.signal_names import of_unit

if TYPE_CHECKING:
    import xarray

Array = npt.NDArray[Any]
_BANDS = ((0.05, 0.95, 0.25), (0.25, 0.75, 0.45))  # quantiles and how opaque
_SHOWN, _ALL = 5, 12  # single runs beside quantiles; the most that are shown one by one
_AT_ONCE = 2**24  # numbers in memory


class SweepPlots(Figures):
    """Figures of a `Sweep` by name. Runs that failed or are missing are left white, or left out."""

    _example = "fan('motor')"

    def __init__(self, sweep: Any) -> None:
        self._sweep = sweep

    def map(
        self,
        output: str,
        x: str | None = None,
        y: str | None = None,
        *,
        at: Mapping[str, float] | None = None,
        time: float | None = None,
        degrees: bool = False,
        ax: Axes | None = None,
    ) -> Figure:
        """An output over two parameters, in colours: of a grid as a map, of a sample as points; over one as a line.

        output : of a series also one number of each run, "slider.x.max", .min, .peak (largest size), .range, .mean, .rms
        at : the nearest value of a grid's further parameters, default the first;  time : of a series, default the last [s]
        degrees : an angle in deg, a rate in deg/s
        """
        sweep, array = self._sweep, self._sweep[output]
        factor, text = _scale(output, array, degrees)
        values = factor * self._per_run(output, array, time)
        names = [n for n in sweep._store.attributes["parameters"] if sweep[n].ndim == 1 and sweep[n].dtype.kind in "fiu"]
        chosen = [name for name in (x, y) if name is not None]
        for name in (*chosen, *(at or {})):
            if name not in names:
                raise ModelError(f"plot.map: there is no parameter {name!r}; {nearest(name, names)}")
        chosen += [name for name in names if name not in chosen and name not in (at or {})][: max(0, 2 - len(chosen))]
        if not chosen:
            raise ModelError("plot.map: the sweep has no parameters that are numbers")
        axes, fixed = {name: sweep[name].values for name in chosen}, ""
        keep = np.ones(len(sweep), dtype=bool)
        if sweep._store.attributes["dims"]:
            for name in names:
                if name in chosen:
                    continue
                along = sweep[name].values
                wanted = (at or {}).get(name, along[0])
                nearest_value = along[np.argmin(np.abs(along - wanted))]
                keep &= along == nearest_value
                fixed += f", {name} = {nearest_value:g}"
        with house_style():
            figure = new_figure(6.4, 4.6) if ax is None else owner_of(ax)
            panel = figure.add_subplot() if ax is None else ax
            if len(chosen) == 1:
                order = np.argsort(axes[chosen[0]][keep])
                panel.plot(axes[chosen[0]][keep][order], values[keep][order], marker=".")
                panel.set_ylabel(text)
                calm(panel)
            else:
                drawn = _coloured(panel, axes[chosen[0]][keep], axes[chosen[1]][keep], values[keep])
                figure.colorbar(drawn, ax=panel, label=text)
                panel.set_ylabel(chosen[1])
                panel.grid(False)
            panel.set_xlabel(chosen[0])
            when = f" at t = {self._time(time):g} s" if "time" in array.dims else ""
            panel.set_title(f"{output}{when}{fixed}")
            self._entitle(figure, ax)
        return figure

    def fan(self, output: str, *, degrees: bool = False, ax: Axes | None = None) -> Figure:
        """A series of all runs over time: up to twelve one by one, with their parameters; of more the median, the middle half
        and nine tenths of the runs, and a few of them.

        degrees : as for `map`
        """
        array = self._sweep[output]
        factor, text = _scale(output, array, degrees)
        if tuple(array.dims) != ("run", "time"):
            raise ModelError(
                f"plot.fan: {output!r} is no series over time; it has the dimensions {', '.join(map(str, array.dims))}"
            )
        good, t = np.flatnonzero(self._sweep.status == "complete"), self._sweep.t
        if not len(good):
            raise ModelError("plot.fan: no run is complete")
        if len(t) < 3:
            raise ModelError(f"plot.fan: the sweep kept {len(t)} instants, too few for curves; give save_at= (--save-every)")
        if len(good) <= _ALL:
            return self._each(output, array, good, factor, text, ax)
        each = max(1, _AT_ONCE // len(good))  # times at once
        levels = sorted({0.5, *(q for band in _BANDS for q in band[:2])})
        parts = [factor * np.quantile(array[:, k : k + each].values[good], levels, axis=0) for k in range(0, len(t), each)]
        lines = dict(zip(levels, np.concatenate(parts, axis=1), strict=True))
        with house_style():
            figure = new_figure() if ax is None else owner_of(ax)
            panel = figure.add_subplot() if ax is None else ax
            for low, high, opaque in _BANDS:
                label = f"{100 * (high - low):.0f} % of runs"
                panel.fill_between(t, lines[low], lines[high], color=COLOURS[0], alpha=opaque, linewidth=0, label=label)
            for k, run in enumerate(good[np.unique(np.linspace(0, len(good) - 1, _SHOWN).round().astype(int))]):
                first = "single runs" if k == 0 else None
                panel.plot(t, factor * array[int(run)].values, color=COLOURS[6], linewidth=0.8, linestyle="-", label=first)
            panel.plot(t, lines[0.5], color=DARK, linestyle="-", label="median")
            panel.set_xlabel("time t [s]")
            panel.set_ylabel(text)
            calm(panel)
            panel.set_title(f"{output}: {len(good)} of {len(self._sweep)} runs")
            legend_above(panel)
            self._entitle(figure, ax)
        return figure

    def _each(self, output: str, array: xarray.DataArray, good: Array, factor: float, text: str, ax: Axes | None) -> Figure:
        """Every run as a line, from dark to bright, named by the parameters that differ."""
        sweep = self._sweep
        values = {name: sweep[name].values[good] for name in sweep._store.attributes["parameters"] if sweep[name].ndim == 1}
        differ = {name: of for name, of in values.items() if len(set(of.tolist())) > 1} or values
        with house_style():
            figure = new_figure() if ax is None else owner_of(ax)
            panel = figure.add_subplot() if ax is None else ax
            colours = colormaps["viridis"](np.linspace(0.0, 0.9, len(good)))
            for k, run in enumerate(good.tolist()):
                told = (
                    f"{name} = {of[k]:.6g}" if of.dtype.kind in "fiu" else f"{name} = {of[k]}" for name, of in differ.items()
                )
                label = ", ".join(told) or f"run {run}"
                panel.plot(sweep.t, factor * array[run].values, color=colours[k], linestyle="-", label=label)
            panel.set_xlabel("time t [s]")
            panel.set_ylabel(text)
            calm(panel)
            panel.set_title(f"{output}: {len(good)} of {len(sweep)} runs")
            legend_above(panel)
            self._entitle(figure, ax)
        return figure

    def _entitle(self, figure: Figure, ax: Axes | None) -> None:
        if ax is None:
            figure.suptitle(self._sweep._store.attributes["model"] or "unnamed model")

    def _time(self, time: float | None) -> float:
        t = self._sweep.t
        return float(t[-1] if time is None else t[np.argmin(np.abs(t - time))])

    def _per_run(self, output: str, array: xarray.DataArray, time: float | None) -> Array:
        """(runs,) values of an output, of a series at a time; NaN where a run is not complete."""
        if "time" in array.dims:
            array = array.sel(time=self._time(time))
        if array.ndim != 1:
            raise ModelError(f"plot.map: {output!r} has several values per run; make one of them an output of its own")
        return np.where(self._sweep.status == "complete", array.values.astype(float), np.nan)


def _scale(output: str, array: xarray.DataArray, degrees: bool) -> tuple[float, str]:
    """What to multiply an output by, and the label of its axis."""
    unit = str(array.attrs.get("units", ""))
    factor, unit = of_unit(unit) if degrees else (1.0, unit)
    return factor, f"{array.attrs.get('long_name', output)}{f' [{unit}]' if unit else ''}"


def _coloured(panel: Axes, x: Array, y: Array, values: Array) -> Any:
    """A map where the points are a full grid, else the points themselves."""
    known = values[np.isfinite(values)]
    low, high = known.min(initial=np.inf), known.max(initial=-np.inf)
    size = max(abs(low), abs(high))
    calmed = {"vmin": low - 0.05 * size, "vmax": high + 0.05 * size} if 0.0 < high - low < CONSTANT * size else {}
    across, column = np.unique(x, return_inverse=True)
    up, row = np.unique(y, return_inverse=True)
    if len(across) * len(up) == len(values) and min(len(across), len(up)) > 1:
        table = np.full((len(up), len(across)), np.nan)
        table[row, column] = values
        return panel.pcolormesh(across, up, table, shading="nearest", rasterized=True, **calmed)
    return panel.scatter(x, y, c=values, s=max(4.0, 60.0 / np.sqrt(1 + len(x) / 30)), linewidths=0, **calmed)
