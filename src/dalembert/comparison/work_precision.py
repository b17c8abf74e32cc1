"""Work-precision diagrams of a comparison. Line and colour tell the formulation, the marker tells the integrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dalembert.plot.style import COLOURS, MUTED, house_style, new_figure

if TYPE_CHECKING:
    from dalembert.comparison.table import Comparison

_LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (1, 1.2)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">")
_SMALLEST = 1e-17
_PANELS = (
    ("accuracy for the time it takes", "time", "error", "CPU time [s]", "error [−]"),
    ("accuracy for the work it takes", "rate_evaluations", "error", "rate evaluations [−]", "error [−]"),
    ("energy", "time", "energy_error", "CPU time [s]", "largest |E − E(0)| / E_ref [−]"),
    ("constraints", "time", "position_drift", "CPU time [s]", "largest position residual [m or rad]"),
)


def draw_comparison(comparison: Comparison) -> Figure:
    """Error against CPU time and against work, energy error and drift against CPU time; lower and further left is better."""
    formulations = list(dict.fromkeys(m.formulation for m in comparison.measurements))
    integrators = list(dict.fromkeys(m.integrator for m in comparison.measurements))
    with house_style():
        figure = new_figure(13.0, 9.0)
        axes = figure.subplots(2, 2).ravel()
        for ax, (title, x, y, x_label, y_label) in zip(axes, _PANELS, strict=True):
            ax.set_title(title)
            ax.set_xlabel(x_label)
            ax.set_ylabel(y_label)
            ax.set_xscale("log")
            ax.set_yscale("log")
            for formulation, integrator in comparison.pairs:
                style = _style(formulations.index(formulation), integrators.index(integrator))
                _curve(ax, comparison, formulation, integrator, x, y, style)
            if y == "error":
                _accuracy(ax, comparison.reference.accuracy)
        figure.legend(handles=_legend(formulations, integrators), loc="outside right upper", handlelength=3.4)
        figure.suptitle(f"{comparison.name}, t = 0 to {comparison.t_end:g} s")
        hollow = f"hollow: smaller than the accuracy of the reference, {comparison.reference.accuracy:.1e}"
        foot = f"lower and further left is better; {hollow}"
        figure.supxlabel(f"{foot}; dalembert {comparison.versions['dalembert']}", fontsize=9, color=MUTED)
    return figure


def _style(formulation: int, integrator: int) -> dict[str, Any]:
    return {
        "color": COLOURS[formulation % len(COLOURS)],
        "linestyle": _LINES[formulation % len(_LINES)],
        "marker": _MARKERS[integrator % len(_MARKERS)],
        "markersize": 6.5,
        "linewidth": 1.4,
    }


def _curve(ax: Axes, comparison: Comparison, formulation: str, integrator: str, x: str, y: str, style: dict[str, Any]) -> None:
    runs = comparison.of(formulation, integrator)
    across = [getattr(run, x) for run in runs]
    values = [max(getattr(run, y), _SMALLEST) for run in runs]
    if y != "position_drift":  # it keeps to the tolerance of projection, whatever the step
        ax.plot(across, values, **(style | {"marker": "none"}), label=f"{formulation}, {integrator}")
    for run, a, v in zip(runs, across, values, strict=True):
        hollow = y == "error" and not run.resolved
        face = "white" if hollow else style["color"]
        ax.plot(a, v, **(style | {"linestyle": "none"}), markerfacecolor=face, zorder=3)


def _accuracy(ax: Axes, accuracy: float) -> None:
    """What lies below is as exact as the reference can tell."""
    if np.isfinite(accuracy) and accuracy > 0:
        low = min(ax.get_ylim()[0], accuracy / 10)
        ax.axhspan(low, accuracy, color="#dddddd", alpha=0.6, zorder=0, linewidth=0)
        ax.set_ylim(bottom=low)
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
