"""The work-precision diagram of a comparison. Line and colour tell the formulation, the marker tells the integrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from dalembert.plot.style import COLOURS, MUTED, house_style, new_figure

if TYPE_CHECKING:
    from dalembert.comparison.table import Comparison

_LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (1, 1.2)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
_SMALLEST = 1e-17
_GREY = {"color": "#c9ccd1", "linewidth": 0.9, "zorder": 1}


def draw_comparison(comparison: Comparison) -> Figure:
    """Error against CPU time: one panel per formulation with the others in grey, and one with what nothing else beats.

    Lower and further left is better. All panels have the same axes.
    """
    formulations = list(dict.fromkeys(m.formulation for m in comparison.measurements))
    integrators = list(dict.fromkeys(m.integrator for m in comparison.measurements))
    times = [m.time for m in comparison.measurements]
    ticks = (1.0,) if max(times) > 30.0 * min(times) else (1.0, 2.0, 5.0)  # so that labels do not touch
    panels = len(formulations) + 1
    columns = min(panels, 3 if panels % 3 != 1 else 2 if panels == 4 else 4)  # so that none has a line for itself
    lines = -(-panels // columns)
    with house_style():
        figure = new_figure(1.6 + 3.7 * columns, 1.2 + 3.1 * lines)
        axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for k, (ax, title) in enumerate(zip(axes, ["the best of all", *formulations], strict=False)):
            ax.set_title(title)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.xaxis.set_major_locator(LogLocator(subs=ticks))
            ax.xaxis.set_major_formatter(lambda t, _: f"{1e3 * t:g}")
            ax.xaxis.set_minor_formatter(NullFormatter())
            ax.tick_params(labelbottom=k + columns > len(formulations))
            for formulation, integrator in comparison.pairs:
                style = _style(formulations.index(formulation), integrators.index(integrator))
                mine = formulation == title
                _curve(ax, comparison, formulation, integrator, style if mine else style | _GREY, mine)
            if k == 0:
                _front(ax, comparison, formulations, integrators)
            if k + columns > len(formulations):
                ax.set_xlabel("CPU time [ms]")
            if k % columns == 0:
                ax.set_ylabel("error [−]")
            _accuracy(ax, comparison.reference.accuracy, named=k == 0)
        for ax in axes[len(formulations) + 1 :]:
            ax.set_visible(False)
        figure.legend(handles=_legend(formulations, integrators), loc="outside right upper", handlelength=3.4)
        figure.suptitle(f"{comparison.name}, t = 0 to {comparison.t_end:g} s")
        hollow = f"hollow: smaller than the accuracy of the reference, {comparison.reference.accuracy:.1e}"
        foot = f"lower and further left is better; {hollow}"
        figure.supxlabel(f"{foot}; dalembert {comparison.versions['dalembert']}", fontsize=9, color=MUTED)
    return figure


def _front(ax: Axes, comparison: Comparison, formulations: list[str], integrators: list[str]) -> None:
    """The Pareto front as stairs: what is to be had in a time."""
    runs = comparison.pareto
    across, values = [run.time for run in runs], [max(run.error, _SMALLEST) for run in runs]
    ax.step(across, values, where="post", color=MUTED, linewidth=1.2, zorder=2)
    for run, a, v in zip(runs, across, values, strict=True):
        style = _style(formulations.index(run.formulation), integrators.index(run.integrator))
        face = style["color"] if run.resolved else "white"
        ax.plot(a, v, **(style | {"linestyle": "none"}), markerfacecolor=face, zorder=4)


def _style(formulation: int, integrator: int) -> dict[str, Any]:
    return {
        "color": COLOURS[formulation % len(COLOURS)],
        "linestyle": _LINES[formulation % len(_LINES)],
        "marker": _MARKERS[integrator % len(_MARKERS)],
        "markersize": 6.5,
        "linewidth": 1.4,
    }


def _curve(ax: Axes, comparison: Comparison, formulation: str, integrator: str, style: dict[str, Any], mine: bool) -> None:
    runs = comparison.of(formulation, integrator)
    across, values = [run.time for run in runs], [max(run.error, _SMALLEST) for run in runs]
    ax.plot(across, values, **(style | {"marker": "none"}), label=f"{formulation}, {integrator}")
    for run, a, v in zip(runs, across, values, strict=True) if mine else ():
        face = style["color"] if run.resolved else "white"
        ax.plot(a, v, **(style | {"linestyle": "none"}), markerfacecolor=face, zorder=3)


def _accuracy(ax: Axes, accuracy: float, *, named: bool) -> None:
    """What lies below is as exact as the reference can tell."""
    if np.isfinite(accuracy) and accuracy > 0:
        low = min(ax.get_ylim()[0], accuracy / 10)
        ax.axhspan(low, accuracy, color="#dddddd", alpha=0.6, zorder=0, linewidth=0)
        ax.set_ylim(bottom=low)
        if named:
            ax.annotate("accuracy of the reference", (0.99, accuracy), xycoords=("axes fraction", "data"),
                        ha="right", va="top", fontsize=8, color=MUTED)  # fmt: skip


def _legend(formulations: list[str], integrators: list[str]) -> list[Line2D]:
    none: Any = []
    handles = [Line2D(none, none, linestyle="none", label="formulation")]
    for k, name in enumerate(formulations):
        style = _style(k, 0) | {"marker": "none", "linewidth": 2.2}
        handles.append(Line2D(none, none, label=name, **style))
    handles.append(Line2D(none, none, linestyle="none", label="\nintegrator"))
    for k, name in enumerate(integrators):
        handles.append(Line2D(none, none, label=name, **(_style(0, k) | {"linestyle": "none", "color": MUTED})))
    return handles
