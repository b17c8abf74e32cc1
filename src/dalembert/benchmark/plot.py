"""Drawings of the benchmark suite: one row of three panels for a problem, one chart of errors for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.plot.style import COLOURS, DARK, MUTED, house_style, new_figure

if TYPE_CHECKING:
    from dalembert.benchmark.record import ProblemResult, Run, SuiteResult

_FLOOR = 1e-17  # errors of zero are drawn here
_MARKERS = ("o", "s", "^", "D", "v", "P")


def draw_problem(result: ProblemResult) -> Figure:
    """The motion with the expected values, the error and the energy error of every formulation."""
    runs = [run for run in result.runs if run.curves is not None]
    problem = result.problem
    with house_style():
        figure = new_figure(13.0, 3.3)
        motion, error, energy = figure.subplots(1, 3)
        _motion(motion, result, runs)
        for k, run in enumerate(runs):
            assert run.curves is not None
            c, style = run.curves, {"color": COLOURS[k], "label": run.formulation}
            error.plot(c.t_error, np.maximum(c.error, _FLOOR), marker=_MARKERS[k % 6], markersize=4, linewidth=1.0, **style)
            energy.plot(c.t[1:], np.maximum(c.energy[1:], _FLOOR), linewidth=1.2, **style)
        error.axhline(problem.expected[0].bound, color=DARK, linewidth=0.9, linestyle=(0, (4, 2)))
        for ax, title, label in (
            (error, "error (dashed: allowed)", "relative error [−]"),
            (energy, "energy", "|E − E(0)| / E_ref [−]"),
        ):
            ax.set_yscale("log")
            ax.set_title(title)
            ax.set_xlabel("t [s]")
            ax.set_ylabel(label)
        if runs:
            energy.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    return figure


def _motion(ax: Axes, result: ProblemResult, runs: list[Run]) -> None:
    problem = result.problem
    ax.set_title("motion, circles: expected")
    ax.set_xlabel("t [s]")
    ax.set_ylabel(problem.axis)
    longest = max((run for run in runs), key=lambda run: run.curves.t[-1] if run.curves else 0.0, default=None)
    if longest is None or longest.curves is None:
        return
    ax.plot(longest.curves.t, longest.curves.motion, color=COLOURS[0], linestyle="-", linewidth=1.3)
    first = next(iter(problem.outputs))
    for expected in problem.expected:
        if first in expected.values:
            values = expected.values[first].reshape(len(expected.t), -1)
            for column in values.T:
                ax.plot(expected.t, column, linestyle="none", marker="o", markersize=3.6, markerfacecolor="none", color=DARK)
            break


def draw_overview(suite: SuiteResult) -> Figure:
    """The error of every run as a share of what is allowed: below 1 the values are met."""
    names = [result.problem.name for result in suite.problems]
    formulations = list(dict.fromkeys(run.formulation for result in suite.problems for run in result.runs if run.outcomes))
    with house_style():
        figure = new_figure(13.0, 0.8 + 0.32 * max(len(names), 3))
        ax = figure.subplots()
        for k, formulation in enumerate(formulations):
            points: dict[str, list[Any]] = {"x": [], "y": []}
            for row, result in enumerate(suite.problems):
                for run in result.runs:
                    if run.formulation == formulation and run.outcomes:
                        points["x"].append(max(run.error, _FLOOR))
                        points["y"].append(row)
            ax.plot(
                points["x"],
                points["y"],
                linestyle="none",
                marker=_MARKERS[k % 6],
                color=COLOURS[k],
                markersize=7,
                label=formulation,
            )
        ax.axvline(1e-8, color=DARK, linewidth=0.9, linestyle=(0, (4, 2)))
        ax.set_xscale("log")
        ax.set_yticks(range(len(names)), names)
        ax.invert_yaxis()
        ax.set_xlabel("largest relative error [−]   (dashed: 1e-8; impulse, soft and variational are methods of order 1 and 2)")
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
        ax.tick_params(axis="y", length=0, colors=MUTED)
    return figure
