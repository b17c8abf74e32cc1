"""Efforts of actuators over time."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from dalembert.arrays import Array
from dalembert.plot.style import house_style, legend_beside, new_figure


def draw_efforts(t: Array, efforts: Mapping[str, Array], note: str) -> Figure:
    """One line for each actuator [N m or N]."""
    with house_style():
        figure = new_figure()
        axes = figure.add_subplot()
        for name, values in efforts.items():
            axes.plot(t, values, label=name)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("effort [N m or N]")
        axes.set_title(f"Inverse dynamics: {note.split(':')[0]}")
        legend_beside(axes)
    return figure
