"""Ready-made mechanisms from the literature, each a function returning a `Model` or a `LagrangianSystem`.
`gallery.build("slider_crank")` makes one by name; `GALLERY` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import pi
from typing import Any

from dalembert.errors import ModelError
from dalembert.gallery.ball_robot import ball_robot
from dalembert.gallery.bicycle import bicycle
from dalembert.gallery.car_axis import car_axis, car_axis_of_bodies
from dalembert.gallery.chain import chain
from dalembert.gallery.four_bar import spatial_four_bar
from dalembert.gallery.governor import flyball_governor
from dalembert.gallery.iftomm import bricard, n_four_bar, simple_pendulum
from dalembert.gallery.jet import crank_mechanism, pendulum_3d, planar_quadrangle
from dalembert.gallery.lagrangian import (
    chaplygin_sleigh,
    nonholonomic_particle,
    oscillator,
    oscillator_on_circle,
    rolling_disc_in_coordinates,
    routh_sphere_in_coordinates,
)
from dalembert.gallery.minimal import planar_pendulum, spherical_pendulum, spin_top
from dalembert.gallery.moving_frame import coiled_chain, mobile, ring, symmetric_top, tethered_chain, torsion_chain
from dalembert.gallery.rolling import (
    homogeneous_sphere,
    rattleback,
    rising_sphere,
    rocking_sphere,
    rolling_disc,
    routh_sphere,
    sleigh,
)
from dalembert.gallery.slider_crank import slider_crank
from dalembert.gallery.squeezer import andrews
from dalembert.gallery.tops import euler_top, heavy_top
from dalembert.gallery.towing_tank import towing_tank_ship
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import nearest, shown

__all__ = [
    "GALLERY",
    "Entry",
    "andrews",
    "ball_robot",
    "bicycle",
    "bricard",
    "build",
    "car_axis",
    "car_axis_of_bodies",
    "chain",
    "chaplygin_sleigh",
    "coiled_chain",
    "crank_mechanism",
    "euler_top",
    "flyball_governor",
    "heavy_top",
    "homogeneous_sphere",
    "mobile",
    "n_four_bar",
    "nonholonomic_particle",
    "oscillator",
    "oscillator_on_circle",
    "pendulum_3d",
    "planar_pendulum",
    "planar_quadrangle",
    "rattleback",
    "ring",
    "rising_sphere",
    "rocking_sphere",
    "rolling_disc",
    "rolling_disc_in_coordinates",
    "routh_sphere",
    "routh_sphere_in_coordinates",
    "simple_pendulum",
    "sleigh",
    "slider_crank",
    "spatial_four_bar",
    "spherical_pendulum",
    "spin_top",
    "symmetric_top",
    "tethered_chain",
    "torsion_chain",
    "towing_tank_ship",
]


@dataclass(frozen=True)
class Entry:
    """One mechanism of the gallery.

    source : citation key, "" where the mechanism is this library's own;  t_end : suggested end of the run [s]
    options : keywords given to the function
    """

    name: str
    function: Callable[..., Model | LagrangianSystem]
    description: str
    source: str
    t_end: float
    options: Mapping[str, Any] = field(default_factory=dict)

    def build(self) -> Model | LagrangianSystem:
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
        Entry("towing_tank_ship", towing_tank_ship, "ship in a tank, driven heave, free pitch", "ConstraintNotes", 10.0),
        Entry(
            "towing_tank_ship_compliant",
            towing_tank_ship,
            "the same on a compliant mount",
            "ConstraintNotes",
            10.0,
            {"mount": "compliant"},
        ),
        Entry("planar_pendulum", planar_pendulum, "point mass on a rod in a plane", "QRContinuation", 5.0),
        Entry("spherical_pendulum", spherical_pendulum, "point mass on a rod, released sideways", "QRContinuation", 5.0),
        Entry("spin_top", spin_top, "heavy top with its tip on a sphere: five degrees of freedom", "QRContinuation", 5.0),
        Entry("simple_pendulum", simple_pendulum, "point mass on a bar, released level", "IFToMM", 10.0),
        Entry("n_four_bar", n_four_bar, "two windows that fold flat: singular twice a turn", "IFToMM", 10.0),
        Entry("bricard", bricard, "overconstrained spatial loop of five rods on six hinges", "IFToMM", 10.0),
        Entry("mobile", mobile, "branched tree: seven beams and eight balls on ball joints", "", 10.0),
        Entry("andrews", andrews, "Andrews' squeezing mechanism: seven plane bodies, three loops", "IVPTestSet", 0.05),
        Entry("flyball_governor", flyball_governor, "governor with stiff spring-dampers", "IFToMM", 10.0),
        Entry("heavy_top", heavy_top, "fast heavy top with a fixed point", "BruelsCardonaArnold2012", 2.0),
        Entry("euler_top", euler_top, "free asymmetric body", "LandauLifshitz1976", 10.0),
        Entry("routh_sphere", routh_sphere, "rolling sphere, centre of mass off its centre", "Variational", 2.0),
        Entry("homogeneous_sphere", homogeneous_sphere, "the same, homogeneous: rolls straight", "Variational", 20.0),
        Entry("rising_sphere", rising_sphere, "the same, its centre of mass tends to the top", "Variational", 15.0),
        Entry("rocking_sphere", rocking_sphere, "the same, rocking in a plane", "Variational", 60.0),
        Entry("rolling_disc", rolling_disc, "thin disc rolling on its edge", "NeimarkFufaev1972", 5.0),
        Entry("rattleback", rattleback, "ellipsoid that reverses its spin", "KaneLevinson1982", 5.0),
        Entry("sleigh", sleigh, "Chaplygin sleigh: a plate on a knife edge", "NeimarkFufaev1972", 10.0),
        Entry("bicycle", bicycle, "Whipple bicycle, hands off", "BasuMandalChatterjeePapadopoulos2007", 5.0),
        Entry("ball_robot", ball_robot, "robot on three ball wheels, turned by rollers", "Variational", 3.0),
        Entry("oscillator", oscillator, "a mass on two springs in the plane", "Variational", 20.0),
        Entry("oscillator_on_circle", oscillator_on_circle, "the same held by x x' + y y' = 0", "Variational", 20.0),
        Entry("nonholonomic_particle", nonholonomic_particle, "a free particle with z' = y x'", "Variational", 10.0),
        Entry("car_axis", car_axis, "two masses on springs over a bumpy road", "IVPTestSet", 3.0),
        Entry("chaplygin_sleigh", chaplygin_sleigh, "a sleigh on one knife edge", "", 10.0),
        Entry("rolling_disc_in_coordinates", rolling_disc_in_coordinates, "a disc rolls, in Euler angles", "", 5.0),
        Entry(
            "routh_sphere_in_coordinates",
            routh_sphere_in_coordinates,
            "a loaded sphere rolls, Euler parameters as coordinates",
            "Variational",
            2.0,
        ),
        Entry("ring", ring, "closed ring of twenty rods, hung at a corner, spinning", "", 10.0),
    )
}


def build(name: str) -> Any:
    """The gallery's model of this name."""
    if name not in GALLERY:
        raise ModelError(f"gallery: there is no mechanism {shown(name)}; {nearest(name, GALLERY)}")
    return GALLERY[name].build()
