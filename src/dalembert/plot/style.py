"""One look for all figures: colours that colour-blind readers can tell apart, line styles that survive print."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from cycler import cycler
from matplotlib import rc_context, rcParams
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import EngFormatter

from dalembert.errors import StoreError
from dalembert.files import check_parent, written_whole
from dalembert.model.validation import Hinted
from dalembert.results.quantities import CONSTANT

# the ten colours of Matplotlib's style "petroff10", the pale ones last
COLOURS = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#a96b59"),
    *("#e76300", "#717581", "#b9ac70", "#92dadd", "#94a4a2"),
)
LINES = ("-", "--", "-.", ":")
_HANDLE, _APART, _BETWEEN, _LETTER = 2.6, 1.6, 0.3, 0.56  # of legends: line, gaps, usual width of a letter, over its height
_WIDER = 1.2  # axes are when figures are laid out
MUTED = "#555555"
DARK = "#222222"

_HYPHEN = re.compile(r"(?<![\w.\-])-(?=\d)|(?<=\de)-(?=\d)")  # of a number, or of its exponent

_T = TypeVar("_T")
CYCLE = cycler(color=COLOURS * 2) + cycler(linestyle=LINES * 5)

_STYLE: Any = {
    "axes.prop_cycle": CYCLE,
    "axes.grid": True,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.titlesize": 13,
    "figure.titleweight": "bold",
    "font.size": 10,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.dpi": 150,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib's settings while a figure is drawn; those of the caller come back afterwards."""
    with rc_context(_STYLE):
        yield


class _Figure(Figure):
    """A figure that shows itself in a notebook, where no part of Matplotlib that would do it has been loaded.

    Its titles and labels are names, not formulas: a $ is a $; numbers in them have the minus signs of the axes.
    """

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with house_style():
            self.savefig(picture, format="png", dpi=100)
        return picture.getvalue()

    def draw(self, renderer: Any) -> None:
        """Draw it."""
        todo: list[Any] = [self]
        while todo:
            artist = todo.pop()
            if isinstance(artist, Text):
                artist.set_parse_math(False)
                artist.set_text(_HYPHEN.sub("−", artist.get_text()))
            todo += [artist.label] if isinstance(artist, Axis) else artist.get_children()
        super().draw(renderer)


def new_figure(width: float = 8.0, height: float = 4.2) -> Figure:
    """A figure that belongs to no window [inches]."""
    return _Figure(figsize=(width, height), layout="constrained")


def stacked(count: int, ax: Axes | None = None) -> tuple[Figure, list[Axes]]:
    """A figure of panels below each other, or all of them in given axes."""
    if ax is not None:
        return owner_of(ax), [ax] * count
    figure = new_figure(8.0, 1.4 + 2.8 * count)
    return figure, list(figure.subplots(count, squeeze=False)[:, 0])


def by_unit(items: Iterable[_T], told: Callable[[_T], tuple[str, str]]) -> list[list[_T]]:
    """What is of one unit, for a panel each; what has none may be anything.  told : label and unit of an item"""
    units: dict[str, list[_T]] = {}
    for item in items:
        label, unit = told(item)
        units.setdefault(unit or label, []).append(item)
    return list(units.values())


def owner_of(ax: Axes) -> Figure:
    """The figure that axes belong to."""
    figure = ax.figure.figure  # get_figure(root=True) came with Matplotlib 3.10
    assert isinstance(figure, Figure)
    return figure


def told(value: float, unit: str) -> str:
    """A number with three digits and a unit with its prefix, "101 kJ"."""
    return EngFormatter(unit)(float(f"{value:.3g}"))


def calm(ax: Axes, *, both: bool = False) -> None:
    """What is constant but for rounding is drawn as constant, instead of its rounding as a jagged curve. both : along x, too"""
    along: list[tuple[Any, Any]] = [
        (ax.dataLim.intervaly, ax.set_ylim),
        *([(ax.dataLim.intervalx, ax.set_xlim)] if both else []),
    ]
    for (low, high), limits in along:
        size = max(abs(low), abs(high))
        if 0.0 < high - low < CONSTANT * size:
            limits(low - 0.05 * size, high + 0.05 * size, auto=None)


def legend_above(*panels: Axes) -> None:
    """Legends between the titles and the axes, where they cover no data and leave them their width; titles of panels beside
    each other are on one height."""
    rows = {ax: _legend(ax) for ax in panels}
    beside: dict[object, int] = {}
    for ax, count in rows.items():
        beside[_row(ax)] = max(count, beside.get(_row(ax), 0))
    size = float(rcParams["legend.fontsize"])
    for ax in panels:
        if count := beside[_row(ax)]:
            ax.set_title(ax.get_title("left"), loc="left", pad=6.0 + size * (0.5 + (1.1 + _BETWEEN) * count))


def _row(ax: Axes) -> object:
    place = ax.get_subplotspec()
    return ax if place is None else place.rowspan.start


def _legend(ax: Axes) -> int:
    """A legend above axes in as many columns as there is room for; how many rows it has."""
    labels = ax.get_legend_handles_labels()[1]
    if not labels:
        return 0
    size = float(rcParams["legend.fontsize"])
    widths = np.array([_HANDLE + 0.8 + _LETTER * len(label) for label in labels])
    room = _WIDER * ax.get_position().width * owner_of(ax).get_figwidth() * 72.0 / size
    fits = (n for n in range(len(labels), 1, -1) if sum(w.max() + _APART for w in np.array_split(widths, n)) - _APART < room)
    rows = -(-len(labels) // next(fits, 1))
    columns = -(-len(labels) // rows)  # as many in each row
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2, "borderpad": 0.1}
    ax.legend(ncols=columns, handlelength=_HANDLE, columnspacing=_APART, labelspacing=_BETWEEN, **place)
    return rows


class Figures(Hinted):
    """What has figures by name can write them.  _example : of its own"""

    _example: ClassVar[str] = "energy()"

    def save(self, path: str | os.PathLike[str], figure: Figure) -> None:
        """Write a figure, whole or not at all; format by the path's suffix."""
        if not isinstance(path, str | os.PathLike) or not isinstance(figure, Figure):
            raise TypeError(f"save takes the path, then a figure: plot.save('figure.png', plot.{self._example})")
        save_figure(figure, path)


def check_picture_path(path: str | os.PathLike[str]) -> None:
    """Raise a StoreError unless a picture can be written there."""
    target = Path(path)
    known = Figure().canvas.get_supported_filetypes()
    suffix = target.suffix.lstrip(".").lower()
    if suffix not in known:
        raise StoreError(f"{target}: {suffix or 'no suffix'!r} is no picture format; give one of {', '.join(sorted(known))}")
    if target.is_dir():
        raise StoreError(f"{target}: cannot write: it is a folder; choose another path")
    check_parent(target)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure whole or not at all, in the format of the path's suffix."""
    check_picture_path(path)
    with house_style(), written_whole(Path(path)) as temporary:
        figure.savefig(temporary)
