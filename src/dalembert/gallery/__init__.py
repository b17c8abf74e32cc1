"""Ready-made mechanisms from the literature, each a function returning a `Model`.
`gallery.build("slider_crank")` makes one by name; `GALLERY` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import pi
from typing import Any

from dalembert.errors import ModelError
from dalembert.gallery.chain import chain
from dalembert.gallery.four_bar import spatial_four_bar
from dalembert.gallery.iftomm import bricard, n_four_bar
from dalembert.gallery.jet import crank_mechanism, pendulum_3d, planar_quadrangle
from dalembert.gallery.minimal import planar_pendulum, spherical_pendulum, spin_top
from dalembert.gallery.moving_frame import coiled_chain, mobile, ring, symmetric_top, tethered_chain, torsion_chain
from dalembert.gallery.slider_crank import slider_crank
from dalembert.model.model import Model
from dalembert.model.validation import nearest, shown

__all__ = [
    "GALLERY",
    "Entry",
    "bricard",
    "build",
    "chain",
    "coiled_chain",
    "crank_mechanism",
    "mobile",
    "n_four_bar",
    "pendulum_3d",
    "planar_pendulum",
    "planar_quadrangle",
    "ring",
    "slider_crank",
    "spatial_four_bar",
    "spherical_pendulum",
    "spin_top",
    "symmetric_top",
    "tethered_chain",
    "torsion_chain",
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
        Entry("single_pendulum", chain, "a hanging rod on a ball joint", "MovingFrame", 10.0, {"n": 1}),
        Entry("double_pendulum", chain, "two hanging rods on ball joints", "MovingFrame", 10.0, {"n": 2}),
        Entry("chain", chain, "four hanging rods on ball joints", "MovingFrame", 10.0),
        Entry("chain_16", chain, "sixteen rods, released level", "MovingFrame", 10.0, {"n": 16, "angle": pi / 2}),
        Entry("symmetric_top", symmetric_top, "heavy symmetric top of a rod and a disc", "MovingFrame", 10.0),
        Entry("torsion_chain", torsion_chain, "four rods, springs on Euler angles: not conservative", "MovingFrame", 15.0),
        Entry(
            "torsion_chain_rotation_vector",
            torsion_chain,
            "the same with springs on the rotation vector, which have a potential",
            "MovingFrame",
            15.0,
            {"law": "rotation-vector"},
        ),
        Entry("tethered_chain", tethered_chain, "sixteen rods, end spring-damper, joint dampers", "MovingFrame", 10.0),
        Entry(
            "tethered_chain_undamped",
            tethered_chain,
            "the same with the spring alone",
            "MovingFrame",
            10.0,
            {"damping": 0.0, "joint_damping": 0.0},
        ),
        Entry("coiled_chain", coiled_chain, "sixty-four rods fall from a flat coil, joint dampers", "MovingFrame", 10.0),
        Entry("planar_pendulum", planar_pendulum, "point mass on a rod in a plane", "QRContinuation", 5.0),
        Entry("spherical_pendulum", spherical_pendulum, "point mass on a rod, released sideways", "QRContinuation", 5.0),
        Entry("spin_top", spin_top, "heavy top with its tip on a sphere: five degrees of freedom", "QRContinuation", 5.0),
        Entry("n_four_bar", n_four_bar, "two windows that fold flat: singular twice a turn", "IFToMM", 10.0),
        Entry("bricard", bricard, "overconstrained spatial loop of five rods on six hinges", "IFToMM", 10.0),
        Entry("mobile", mobile, "branched tree: seven beams and eight balls on ball joints", "", 10.0),
        Entry("ring", ring, "closed ring of twenty rods, hung at a corner, spinning", "", 10.0),
    )
}


def build(name: str) -> Model:
    """The gallery's model of this name."""
    if name not in GALLERY:
        raise ModelError(f"gallery: there is no mechanism {shown(name)}; {nearest(name, GALLERY)}")
    return GALLERY[name].build()
