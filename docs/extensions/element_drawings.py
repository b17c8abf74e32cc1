"""A drawing of every joint, condition, coupling, driver and force element, and the directive that shows those of a family.

Blue arrows are motions that it leaves free, prescribes or ties to one another; red ones are what it does to its second body.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from drawn_forces import COUPLINGS, DRIVERS, FORCES
from drawn_joints import CONDITIONS, JOINTS, ROLLING
from sketch import Sketch
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FAMILIES = {
    "joints": JOINTS,
    "conditions": CONDITIONS,
    "rolling": ROLLING,
    "couplings": COUPLINGS,
    "drivers": DRIVERS,
    "forces": FORCES,
}


def draw(folder: Path) -> None:
    """Of every verb VERB.png into a folder."""
    from dalembert.plot.style import house_style, new_figure, save_figure

    with house_style():
        for verb, rows in [row for family in FAMILIES.values() for row in family.items()]:
            figure = new_figure(2.32, 1.76)
            figure.set_layout_engine("none")
            ax = figure.add_axes((0, 0, 1, 1), xlim=(-1.45, 1.45), ylim=(-1.1, 1.1))
            ax.set_axis_off()
            sketch = Sketch(ax)
            for method, *arguments in rows:
                getattr(sketch, method)(*arguments)
            save_figure(figure, folder / f"{verb}.png")


class Drawings(SphinxDirective):
    """Those of a family, each with the name of its verb, a link to the reference."""

    required_arguments = 1

    def run(self) -> list[Any]:
        """Called by docutils."""
        lines = ["::::{grid} 2 2 3 3", ":gutter: 2", ":class-container: drawings", ""]
        for verb in FAMILIES[self.arguments[0]]:
            lines += [
                ":::{grid-item}",
                f"![{verb}](/_build/pictures/{verb}.png)",
                "",
                f"{{py:meth}}`{verb} <dalembert.Model.{verb}>`",
            ]
            lines += [":::", ""]
        return self.parse_text_to_nodes("\n".join([*lines, "::::"]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("drawings", Drawings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
