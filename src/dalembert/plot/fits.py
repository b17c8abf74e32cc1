"""Figures of a fit, and of the efforts of actuators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.plot.signals import draw_over_time
from dalembert.plot.style import COLOURS, DARK, Figures, by_unit, house_style, legend_above, new_figure, stacked
from dalembert.results.signals import Signal, signal


class FitPlots(Figures):
    """Figures of a `Fit` by name."""

    _example = "residuals()"

    def __init__(self, fit: Any) -> None:
        self._fit = fit

    def residuals(self) -> Figure:
        """Data with the fitted run, and what is left of them, over time, a row for each output; a band of two sigma."""
        fit, count = self._fit, len(self._fit.data)
        with house_style():
            figure = new_figure(9.0, 1.2 + 2.4 * count)
            panels: Any = figure.subplots(count, 2, squeeze=False, sharex=True)
            for (left, right), (name, data) in zip(panels, fit.data.items(), strict=True):
                left.plot(fit.t, data, ".", color=COLOURS[0], label="data", markersize=3)
                left.plot(fit.t, data - fit.residuals[name], "-", color=DARK, linewidth=1.0, label="fit")
                left.set_ylabel(_labelled(fit.solution, name))
                right.axhspan(-2.0 * fit.sigma[name], 2.0 * fit.sigma[name], color=COLOURS[6], alpha=0.25, linewidth=0)
                right.plot(fit.t, fit.residuals[name], ".", color=COLOURS[0], markersize=3)
                right.set_ylim(*(1.1 * max(np.abs(fit.residuals[name]).max(), 2.0 * fit.sigma[name]) * np.array([-1, 1])))
            panels[0, 0].set_title("data and fit")
            panels[0, 1].set_title("what is left, and two standard deviations")
            legend_above(*panels[0])
            figure.suptitle(fit.solution.mechanism.model.name or "unnamed model")
            for panel in panels[-1]:
                panel.set_xlabel("time t [s]")
        return figure


def draw_efforts(name: str, t: Array, efforts: Sequence[Signal], note: str) -> Figure:
    """One line for each actuator, torques and forces each in a panel of theirs."""
    alike = by_unit(efforts, lambda effort: (effort.label, effort.unit))
    with house_style():
        figure, panels = stacked(len(alike))
        panels[0].set_title(f"what the motion needs: {note.split(':')[0]}")
        for panel, some in zip(panels, alike, strict=True):
            draw_over_time(panel, t, some, "time t [s]")
            legend_above(panel)
        figure.suptitle(name or "unnamed model")
    return figure


def _labelled(solution: Any, name: str) -> str:
    """An output with its unit, where it is a signal and no function of the user's."""
    try:
        return f"{name} [{signal(solution, name).unit}]"
    except DalembertError:
        return name
