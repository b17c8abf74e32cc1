"""Plots of the tables of the performance page, read from the page: `python -m benchmarks.peers.page_plots` draws them again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from benchmarks.peers.report import PAGE
from dalembert.plot.style import COLOURS, DARK, house_style, new_figure, save_figure

FIGURES = Path("docs/performance")
_FACTOR = {"ms": 1e-3, "s": 1.0}


@dataclass
class Table:
    """Of a section of the page. title : what stands above it"""

    section: str
    title: str
    rows: list[dict[str, str]]  # cells by the heads of their columns


def tables(text: str) -> list[Table]:
    """All of a page."""
    found: list[Table] = []
    section = title = ""
    head: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif not line.startswith("|"):
            title, head = line.strip("* ") or title, []
        elif not head:
            head = _cells(line)
            found.append(Table(section, title, []))
        elif not line.startswith("|--"):
            found[-1].rows.append(dict(zip(head, _cells(line), strict=True)))
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip()[1:-1].split("|")]


def _seconds(cell: str) -> float | None:
    """Of "1.2 ms"; None of what did not reach the accuracy, "1.8e-03 m in 4.18 s"."""
    value, _, unit = cell.partition(" ")
    return float(value) * _FACTOR[unit] if unit in _FACTOR else None


def _numbers(cell: str, unit: str = "") -> list[float]:
    """Of "8 .. 256" or "0.677 ms .. 43.7 ms"."""
    parts = [part.strip() for part in cell.split("..")]
    return [float(part) if not unit else _seconds(part) or 0.0 for part in parts]


def draw(page: Path = PAGE, figures: Path = FIGURES) -> None:
    """All of them, of those sections that the page has."""
    found = tables(page.read_text(encoding="utf-8"))
    names = list(dict.fromkeys(row["program"] for table in found for row in table.rows if "program" in row))
    colours = {name: DARK if k == 0 else COLOURS[k - 1] for k, name in enumerate(names)}
    with house_style():
        _chains([t for t in found if t.title.startswith("n = ")], colours, figures / "chain_times.png")
        crank = [t for t in found if t.title.startswith("slider-crank, error")]
        _dots(crank, "time", "CPU time [s]", colours, figures / "slider_crank_times.png")
        many = [t for t in found if "runs per second" in (t.rows[0] if t.rows else {})]
        _dots(many, "runs per second", "runs per second of wall time", colours, figures / "ensemble.png")
        _growth([t for t in found if t.section.startswith("Growth")], figures / "growth.png")
        _memory([t for t in found if t.section == "Memory"], figures / "memory.png")


def _chains(found: Sequence[Table], colours: dict[str, str], file: Path) -> None:
    """Time against the number of links, one panel for each accuracy."""
    errors = list(dict.fromkeys(table.title.partition("error ")[2] for table in found))
    if not errors:
        return
    figure = new_figure(7.2, 0.6 + 3.6 * len(errors))
    for ax, error in zip(figure.subplots(len(errors), squeeze=False)[:, 0], errors, strict=True):
        here = {int(re.findall(r"\d+", t.title)[0]): t.rows for t in found if t.title.endswith(f"error {error}")}
        for k, (name, colour) in enumerate(colours.items()):
            times = {n: _seconds(row["time"]) for n, rows in here.items() for row in rows if row["program"] == name}
            points = {n: time for n, time in times.items() if time is not None}
            ax.loglog(
                points.keys(), points.values(), "-", marker="os^Dv<>P"[k], color=colour, lw=2.6 if k == 0 else 1.4, label=name
            )
        ax.set_xticks(list(here), [str(n) for n in here])
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_title(f"error {error}")
        ax.set_ylabel("CPU time [s]")
    ax.set_xlabel("links")
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    save_figure(figure, file)


def _dots(found: Sequence[Table], column: str, label: str, colours: dict[str, str], file: Path) -> None:
    """One panel for each table, with the table's numbers."""
    if not found:
        return
    counts = [len(table.rows) for table in found]
    figure = new_figure(7.2, 0.4 + sum(0.95 + 0.28 * count for count in counts))
    panels = figure.subplots(len(found), height_ratios=[count + 1.5 for count in counts], squeeze=False, sharex=True)[:, 0]
    for ax, table in zip(panels, found, strict=True):
        for k, row in enumerate(table.rows):
            value = _seconds(row[column]) if column == "time" else float(row[column])
            if value is None:
                ax.text(
                    0.01,
                    k,
                    f"not reached: {row[column]}",
                    transform=ax.get_yaxis_transform(),
                    va="center",
                    fontsize=9,
                    backgroundcolor="white",
                )
            else:
                ax.plot(value, k, "o", markersize=9, color=colours[row["program"]])
                ax.annotate(row[column], (value, k), (8, 0), textcoords="offset points", va="center", fontsize=9)
        _named(ax, [row["program"] for row in table.rows])
        ax.set_title(_headline(table.title))
        ax.tick_params(labelbottom=True)
        ax.set_xscale("log")
        ax.margins(x=0.14)
    ax.set_xlabel(label)
    save_figure(figure, file)


def _headline(title: str) -> str:
    """The first words of what stands above a table."""
    return re.split(r"[:,] (?!error)|:$", title)[0]


def _named(ax: Axes, names: Sequence[str]) -> None:
    """The names of rows, the first above."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


def _growth(found: Sequence[Table], file: Path) -> None:
    """Time of a run against the number of bodies."""
    if not found:
        return
    figure = new_figure(7.2, 3.8)
    ax = figure.add_subplot()
    for k, row in enumerate(found[0].rows):
        kind = next(iter(row.values()))
        exponent = row["exponent of a run"]
        ax.loglog(
            _numbers(row["bodies"]), _numbers(row["time"], "s"), "--", marker="os^"[k], label=f"{kind}: exponent {exponent}"
        )
    ax.set_xlabel("bodies")
    ax.set_ylabel("CPU time of a run [s]")
    ax.legend()
    save_figure(figure, file)


def _memory(found: Sequence[Table], file: Path) -> None:
    """Largest resident memory of every run."""
    if not found:
        return
    what, peak = "run in a process of its own", "largest resident memory"
    figure = new_figure(7.2, 1.9)
    ax = figure.add_subplot()
    for k, row in enumerate(found[0].rows):
        bar = ax.barh(k, float(row[peak].removesuffix(" MB")), color=DARK, height=0.6)
        ax.bar_label(bar, [row[peak]], padding=4, fontsize=9)
    _named(ax, [row[what] for row in found[0].rows])
    ax.set_xlabel("largest resident memory [MB]")
    ax.grid(visible=False)
    ax.margins(x=0.12)
    save_figure(figure, file)


if __name__ == "__main__":
    draw()
