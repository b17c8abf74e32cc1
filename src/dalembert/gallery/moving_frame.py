"""The loaded chains and the top of [MovingFrame, 3.3], a tree and a ring of the same kind; z is up, joints are spherical."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Literal

import numpy as np

from dalembert.errors import ModelError
from dalembert.gallery.chain import E1, E2, E3, LENGTH, LOWER, UPPER, add_rods, number_of_rods
from dalembert.model.model import Model
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import box, cylinder, sphere
from dalembert.model.validation import choice, number, shown


def symmetric_top(*, tilt: float = 0.3, spin: float = 40.0) -> Model:
    """Heavy symmetric top on a ball joint at the origin [MovingFrame, 3.3.1]: a rod that carries a disc, 1000 kg/m^3.

    Rod of radius 0.05 m from z' = 0 to 0.4 m, disc of radius 0.4 m from 0.4 to 0.45 m; z' is the body's z.

    tilt : of z' about x from upright [rad];  spin : about z' [rad/s]
    Body "top", joint "tip".

    Deviation: the centre of mass is the mass-weighted mean, at z' = 0.4 m; tilt, spin and gravity are not printed.
    """
    parts = (
        (cylinder(1000.0 * pi * 0.05**2 * 0.4, 0.05, 0.4), 0.2),
        (cylinder(1000.0 * pi * 0.4**2 * 0.05, 0.4, 0.05), 0.425),
    )
    mass = sum(part.mass for part, _ in parts)
    height = sum(part.mass * z for part, z in parts) / mass
    across = sum(part.inertia[0] + part.mass * (z - height) ** 2 for part, z in parts)
    axial = sum(part.inertia[2] for part, _ in parts)
    shapes = [{**part.shape, "position": (0.0, 0.0, z - height)} for part, z in parts]
    turn = Rotation.from_axis_angle(E1, number("symmetric_top", "tilt", tilt))
    axis = turn.apply(E3)
    model = Model(name="heavy symmetric top")
    top = model.add_body(
        "top",
        mass=mass,
        inertia=(across, across, axial),
        position=height * axis,
        rotation=turn,
        angular_velocity=number("symmetric_top", "spin", spin) * axis,
        shape={"type": "compound", "parts": shapes},
    )
    model.add_spherical("tip", model.ground, top, points=((0, 0, 0), (0, 0, -height)))
    return model


def torsion_chain(
    stiffness: Sequence[float] = (4000.0, 3000.0, 2000.0, 1000.0),
    *,
    law: Literal["euler-321", "rotation-vector"] = "euler-321",
    bend: float = 0.2,
) -> Model:
    """A chain with torsional springs at its joints, released from rest bent [MovingFrame, 3.3.2, Table 3.5].

    stiffness : one value per rod, from the ground on [N m/rad];  bend : each rod against the one before, by this angle
    about its x, then about its y [rad]
    law : the moment is stiffness times the 3-2-1 Euler angles, as in the source, or times the rotation vector
    Rods and joints as in `chain`; springs "spring 1" .. at the joints.

    Deviation: the printed signs and frames give a negative stiffness and are corrected; with Euler angles as moments the
    springs have no potential and feed energy, with the rotation vector they have one. The angle is not printed.
    """
    choice("torsion_chain", "law", law, ("euler-321", "rotation-vector"))
    if not len(stiffness):
        raise ModelError(f"torsion_chain: stiffness is {shown(stiffness)}; give one value per rod")
    angle = number("torsion_chain", "bend", bend)
    step = Rotation.from_axis_angle(E1, angle) * Rotation.from_axis_angle(E2, angle)
    model = Model(name=f"chain of {len(stiffness)} rods with torsional springs, {law}")
    add_rods(model, _turned(step, [step] * (len(stiffness) - 1)))
    for k, value in enumerate(stiffness, start=1):
        model.add_joint_spring_damper(f"spring {k}", f"joint {k}", stiffness=value, law=law)
    return model


def tethered_chain(
    n: int = 16,
    *,
    stiffness: float = 800.0,
    damping: float = 50.0,
    joint_damping: float = 70.0,
    ground_damper: bool = False,
) -> Model:
    """A level chain at rest, its end tied to a point 10 m above by a spring-damper [MovingFrame, 3.3.3, Table 3.6].

    stiffness, damping : [N/m], [N s/m] of the spring "tether", slack at the start;  joint_damping : between rods [N m s]
    ground_damper : also between the ground and the first rod, where the source leaves it open
    Rods of side 0.25 m, else as in `chain`; dampers "damper 2" .. "damper n", if ground_damper also "damper 1".

    Deviation: signs of both dampers are corrected; the tether's upper end and slack length are not printed.
    """
    number_of_rods("tethered_chain", n)
    model = Model(name=f"chain of {n} rods on a tether")
    add_rods(model, [Rotation.from_axis_angle(E1, pi / 2)] * n, side=0.25)
    above = (0.0, n * LENGTH, 10.0)
    model.add_spring_damper(
        "tether",
        model.ground,
        f"rod {n}",
        stiffness=stiffness,
        damping=damping,
        length=10.0,
        points=(above, LOWER),
    )
    _add_dampers(model, joint_damping, 1 if ground_damper else 2)
    return model


def coiled_chain(n: int = 64, *, joint_damping: float = 70.0) -> Model:
    """A chain coiled up in the level plane z = 0 that falls from rest, dampers between its rods [MovingFrame, 3.3.4].

    Rod 1 lies along x; rod k is turned by 2 pi / (6 + k/4) against the one before, about z: a spiral that widens.

    joint_damping : [N m s]; rods and joints as in `chain`, dampers "damper 2" .. "damper n"

    Deviation: the coil is not specified in the source.
    """
    number_of_rods("coiled_chain", n)
    model = Model(name=f"coiled chain of {n} rods")
    steps = [Rotation.from_axis_angle(E1, 2.0 * pi / (6.0 + k / 4.0)) for k in range(2, n + 1)]
    add_rods(model, _turned(Rotation.from_axis_angle(E2, -pi / 2), steps))
    _add_dampers(model, joint_damping, 2)
    return model


def ring(n: int = 20, *, tilt: float = 0.3, spin: float = 0.5) -> Model:
    """A closed ring of n rods on ball joints, a regular polygon hung at one corner; 3 n - 3 degrees of freedom.

    tilt : of its plane from the vertical [rad];  spin : of the whole ring about the vertical at the start [rad/s]
    Rods and joints as in `chain`; joint "closure" from the last rod back to the first, both ends of it at the origin.
    """
    number_of_rods("ring", n, least=3)
    lean = Rotation.from_axis_angle(E2, number("ring", "tilt", tilt))
    first = lean * Rotation.from_axis_angle(E1, -pi / 2 + pi / n)
    step = Rotation.from_axis_angle(E1, 2.0 * pi / n)
    model = Model(name=f"ring of {n} rods")
    add_rods(model, _turned(first, [step] * (n - 1)), angular_velocity=(0.0, 0.0, number("ring", "spin", spin)))
    model.add_spherical("closure", f"rod {n}", "rod 1", points=(LOWER, UPPER))
    return model


def mobile(levels: int = 3) -> Model:
    """A mobile: a beam on a ball joint, from both ends of it smaller mobiles, balls at last; released level, at rest.

    Each beam stands at 1 rad against the one it hangs on; the ball on the right is twice the one on the left, so that
    every beam starts to move. With `levels` levels of beams 2^(levels + 1) - 1 bodies, three degrees of freedom each.

    Bodies "beam", "beam L", "beam R", "beam LL" .. and "ball LLL" ..; joints "hook", "hook L" .. and so on.
    """
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 1:
        raise ModelError(f"mobile: levels is {shown(levels)}; give a number of levels, at least 1")
    model = Model(name=f"mobile of {levels} levels")
    _hang(model, levels, "", model.ground.name, np.zeros(3), np.zeros(3), 0.0)
    return model


def _hang(model: Model, levels: int, path: str, parent: str, at: np.ndarray, hook: np.ndarray, heading: float) -> None:
    """Hang what is below at the point `at` (world), which is `hook` in the parent's axes."""
    label = f" {path}" if path else ""
    if levels == 0:
        name, drop = f"ball{label}", 0.3
        model.add_body(name, **sphere(2.0 if path.endswith("R") else 1.0, 0.1).body(), position=at - [0.0, 0.0, drop])
    else:
        name, drop = f"beam{label}", 0.1
        half = 0.4 * 1.6 ** (levels - 1)
        turn = Rotation.from_axis_angle(E3, heading)
        solid = box(2.0 * half, (2.0 * half, 0.05, 0.05))
        model.add_body(name, **solid.body(), position=at - [0.0, 0.0, drop], rotation=turn)
        for side, x in (("L", -half), ("R", half)):
            end = np.array([x, 0.0, 0.0])
            below = at - [0.0, 0.0, drop] + turn.apply(end)
            _hang(model, levels - 1, path + side, name, below, end, heading + 1.0)
    model.add_spherical(f"hook{label}", parent, name, points=(hook, (0.0, 0.0, drop)))


def _turned(first: Rotation, steps: Sequence[Rotation]) -> list[Rotation]:
    """Rotations to the world from the first one and each relative to the one before."""
    rotations = [first]
    for step in steps:
        rotations.append(rotations[-1] * step)
    return rotations


def _add_dampers(model: Model, damping: float, first: int) -> None:
    """Dampers "damper k" on the relative angular velocity of "joint k", k >= first, unless they would do nothing."""
    for k in range(first, len(model.joints) + 1) if damping != 0.0 else ():
        model.add_joint_spring_damper(f"damper {k}", f"joint {k}", damping=damping)
