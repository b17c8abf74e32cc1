"""Work-precision diagrams: error against CPU time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.measure import Curve
from dalembert.plot.style import COLOURS, DARK, house_style, new_figure

_MARKERS = "os^Dv<>P"


def work_precision(panels: Sequence[tuple[str, Sequence[Curve]]], accuracies: Sequence[float], file: Path) -> None:
    """Panels below each other, one per problem; lower and further left is better."""
    with house_style():
        columns = 2
        rows = -(-len({f"{c.method.program}: {c.method.label}" for _, curves in panels for c in curves}) // columns)
        figure = new_figure(7.2, 3.8 * len(panels) + 0.2 * rows)
        axes = figure.subplots(len(panels), squeeze=False)[:, 0]
        shown: dict[str, object] = {}
        names = list(dict.fromkeys(c.method.program for _, curves in panels for c in curves if not c.method.ours))
        for ax, (title, curves) in zip(axes, panels, strict=True):
            for curve in curves:
                method = curve.method
                points = [(p.outcome.seconds, p.error) for p in curve.points if p.outcome is not None and 0 < p.error < 1]
                if not points:
                    continue
                same = [c.method.label for c in curves if c.method.program == method.program]
                at = same.index(method.label)
                colour = DARK if method.ours else COLOURS[names.index(method.program)]
                (line,) = ax.loglog(
                    *zip(*points, strict=True),
                    marker=_MARKERS[at],
                    markersize=4,
                    color=colour,
                    linestyle=("-", "--", ":", "-.")[at % 4],
                    linewidth=2.4 if method.ours else 1.2,
                )
                shown.setdefault(f"{method.program}: {method.label}", line)
            for accuracy in accuracies:
                ax.axhline(accuracy, color="#999999", linewidth=0.8, zorder=0)
            ax.set_title(title)
            ax.set_xlabel("CPU time [s]")
            ax.set_ylabel("error [m]")
        figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=columns, fontsize=8)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=110)
