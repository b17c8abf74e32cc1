"""Ready-made mechanisms from the literature, each a function returning a `Model`.
`gallery.build("slider_crank")` makes one by name; `GALLERY` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dalembert.errors import ModelError
from dalembert.gallery.chain import chain
from dalembert.gallery.four_bar import spatial_four_bar
from dalembert.gallery.jet import crank_mechanism, pendulum_3d, planar_quadrangle
from dalembert.gallery.slider_crank import slider_crank
from dalembert.model.model import Model
from dalembert.model.validation import nearest, shown

__all__ = [
    "GALLERY",
    "Entry",
    "build",
    "chain",
    "crank_mechanism",
    "pendulum_3d",
    "planar_quadrangle",
    "slider_crank",
    "spatial_four_bar",
]


@dataclass(frozen=True)
class Entry:
    """One mechanism of the gallery.

    source : citation key, "" where the mechanism is this library's own;  t_end : suggested end of the run [s]
    options : keywords given to the function
    """

    name: str
    function: Callable[..., Model]
    description: str
    source: str
    t_end: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Model:
        """The model of this entry."""
        return self.function(**self.options)


GALLERY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry("pendulum_3d", pendulum_3d, "pendulum on a ball joint, released level", "JetMultibody", 10.0),
        Entry(
            "pendulum_3d_torque",
            pendulum_3d,
            "the same with a constant body torque: a three-dimensional motion",
            "JetMultibody",
            10.0,
            {"torque": (0.0, 10.0, 0.0)},
        ),
        Entry("planar_quadrangle", planar_quadrangle, "four-bar with R-S-C-R joints and torque", "JetMultibody", 10.0),
        Entry("crank_mechanism", crank_mechanism, "spatial crank, rod and slider with torque", "JetMultibody", 10.0),
        Entry("slider_crank", slider_crank, "spatial slider-crank benchmark, slender rod", "IFToMM", 5.0),
        Entry(
            "slider_crank_c",
            slider_crank,
            "the same with the rod inertia that meets the published curves",
            "IFToMM",
            5.0,
            {"rod_inertia": "C"},
        ),
        Entry("four_bar", spatial_four_bar, "four-bar of four hinges in a tilted plane: 3 redundant rows", "", 10.0),
        Entry(
            "four_bar_twin",
            spatial_four_bar,
            "the same motion from hinge, ball, sleeve, hinge: no redundant row",
            "",
            10.0,
            {"redundant": False},
        ),
        Entry("chain", chain, "four hanging rods on ball joints", "MovingFrame", 10.0),
    )
}


def build(name: str) -> Model:
    """The gallery's model of this name."""
    if name not in GALLERY:
        raise ModelError(f"gallery: there is no mechanism {shown(name)}; {nearest(name, GALLERY)}")
    return GALLERY[name].build()
