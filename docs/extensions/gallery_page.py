"""The gallery's page: a picture of every mechanism, made by simulating it, and how to run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dalembert.gallery import GALLERY, Entry

_SIZE = (480, 360)
_TRAIL = 1.2  # s
_LONGEST = {"bicycle": 0.5, "rolling_disc": 1.0}  # s; what rolls away is small in a picture of the whole way


def draw(folder: Path) -> None:
    """NAME.png of every mechanism: bodies at the end of the run with trails, or a Lagrangian system's coordinates."""
    import dalembert as da
    from dalembert.lagrangian.system import LagrangianSystem
    from dalembert.plot.style import house_style, new_figure, save_figure
    from dalembert.viewer.animation import Film

    for entry in GALLERY.values():
        model = entry.build()
        end = min(entry.t_end, _LONGEST.get(entry.name, 3.0))
        solution = da.simulate(model, end, progress=False)
        target = folder / f"gallery_{entry.name}.png"
        if isinstance(model, LagrangianSystem):
            with house_style():
                figure = new_figure(4.8, 3.6)
                solution.plot.trajectories(ax=figure.add_subplot())
                save_figure(figure, target)
        else:
            film = Film(solution, _SIZE)
            times = np.linspace(film.start, film.end, 120)
            next(film.pictures(times, _TRAIL * end / 2, only=[len(times) - 1])).save(target)


class GalleryCards(SphinxDirective):
    """Cards of all mechanisms."""

    def run(self) -> list[Any]:
        """Called by docutils."""
        lines = ["::::{grid} 1 2 3 3", ":gutter: 3", ":class-container: gallery", ""]
        for entry in GALLERY.values():
            lines += _card(entry)
        return self.parse_text_to_nodes("\n".join([*lines, "::::"]))


def _card(entry: Entry) -> list[str]:
    source = f" [{entry.source}]" if entry.source else ""
    return [
        f":::{{grid-item-card}} {entry.name}",
        f":img-top: _build/pictures/gallery_{entry.name}.png",
        f":img-alt: {entry.description}",
        "",
        f"{entry.description}{source}",
        "",
        f"`dalembert run {entry.name} --t-end {entry.t_end:g}`",
        ":::",
        "",
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("gallery-cards", GalleryCards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
