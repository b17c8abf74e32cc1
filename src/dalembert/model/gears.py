"""Gears, racks, belts, differentials and screws: couplings whose factors follow from the geometry of the model pose.

A wheel is a body that turns about one axis relative to a carrier, through one joint or through joints about the same axis (a
sun wheel on the housing, seen from the planet carrier). phi is its angle relative to the carrier about the axis z of the first
of them. Two wheels in mesh have the same velocity at their contact; so has a rack there:

    gear    z_1 phi_1 + e z_2 phi_2 = 0      e = 1 where the axes point the same way, -1 where they are opposed; internal: -e
    rack    s = r ((z x n) . d) phi          n from the axis to the rack, d its direction
    belt    r_1 phi_1 - e r_2 phi_2 = 0      crossed: plus

All start as the model pose has them: wheels drawn in mesh are in mesh.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp, log2

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.couplings import CouplingVerbs
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.frames import rotation_matrix, world_point
from dalembert.model.joint_verbs import JointVerbs, Pair
from dalembert.model.joints import angle_of, direction_of
from dalembert.model.validation import number, numbers, shown, vector

BodyRef = Body | str
Term = tuple[Joint, int, float]
PARALLEL = 1e-9  # sine of the angle between axes that are the same
NEAR = 1e-9  # of a distance, relative to the points it is between


@dataclass(frozen=True)
class _Wheel:
    """A wheel on its carrier: terms of phi, world axis and a point on it in the model pose."""

    terms: tuple[Term, ...]
    axis: Array
    point: Array

    def times(self, factor: float) -> list[Term]:
        return [(joint, component, factor * c) for joint, component, c in self.terms]


class GearVerbs(CouplingVerbs, JointVerbs):
    """Gears. Arguments that they share:

    carrier : the body on which wheels turn and racks slide, default the ground; the joints between them are found
    """

    def add_gear(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        carrier: BodyRef = GROUND,
        teeth: Sequence[float] | None = None,
        ratio: float | None = None,
        internal: bool = False,
    ) -> Joint:
        """Two wheels in mesh: parallel axes, or axes that meet (bevel).

        teeth : numbers of teeth (z_first, z_second), or radii; instead of it
        ratio : z_second / z_first > 0: turns of the first wheel for one of the second
        internal : one of them is a ring with teeth inside; both turn the same way
        carrier : the body that carries both axes, default the ground; of a planetary gear the planet carrier
        """
        owner = self._new_name("gear", name)
        z_1, z_2 = _teeth(owner, teeth, ratio)
        # by a power of two, so that the ratio stays: the residual is about that of an angle; it jumps at no round number
        exponent = round(log2(max(z_1, z_2)))
        z_1, z_2 = ldexp(z_1, -exponent), ldexp(z_2, -exponent)
        wheels = [self._wheel(owner, wheel, carrier) for wheel in (first, second)]
        side = self._mesh(owner, *wheels)
        if not isinstance(internal, bool):
            raise ModelError(f"{owner}: internal is {shown(internal)}; give True or False")
        side = -side if internal else side
        return self._couple(owner, name, wheels[0].times(z_1) + wheels[1].times(side * z_2), None)

    def add_rack(
        self,
        name: str,
        pinion: BodyRef,
        rack: BodyRef,
        *,
        radius: float,
        carrier: BodyRef = GROUND,
        contact: npt.ArrayLike | None = None,
    ) -> Joint:
        """A pinion that moves a rack along its prismatic joint: s = +- radius phi, as the rack lies beside the axis.

        radius : of the pitch circle [m]
        contact : a world point of the model pose on the rack's side of the pinion, where the point of its joint does not tell
        """
        owner = self._new_name("rack", name)
        r = number(owner, "radius", radius, above=0.0)
        wheel, (slide, component, sense) = self._wheel(owner, pinion, carrier), self._slide(owner, rack, carrier)
        direction = direction_of(slide, component)
        assert direction is not None
        i = self.body(slide.first)
        d = sense * (rotation_matrix(i) @ direction)
        if abs(float(d @ wheel.axis)) > 1e-6:
            raise ModelError(f"{owner}: rack and axis have cosine {float(d @ wheel.axis):.3g}; give a rack normal to the axis")
        at = world_point(i, slide.p_i) if contact is None else vector(owner, "contact", contact)
        side = np.cross(wheel.axis, d) @ (wheel.point - at)  # (z x n) . d = (d x z) . n
        if abs(float(side)) <= NEAR * (1.0 + float(np.abs(at).max())):
            raise ModelError(
                f"{owner}: the point of joint {slide.name!r} lies on the pinion's axis, so that nothing says on which side the"
                " rack is; give contact=, a point on that side"
            )
        return self._couple(owner, name, [(slide, component, 1.0), *wheel.times(-r * float(np.sign(side)))], None)

    def add_belt(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        radii: Sequence[float],
        crossed: bool = False,
        carrier: BodyRef = GROUND,
    ) -> Joint:
        """A belt or chain that does not slip, around two pulleys with parallel axes: both turn the same way.

        radii : (r_first, r_second) [m], or numbers of teeth;  crossed : they turn against each other
        """
        owner = self._new_name("belt", name)
        r_1, r_2 = (_positive(owner, "radii", r) for r in numbers(owner, "radii", radii, (2,)))
        wheels = [self._wheel(owner, wheel, carrier) for wheel in (first, second)]
        if np.linalg.norm(np.cross(wheels[0].axis, wheels[1].axis)) > PARALLEL:
            raise ModelError(f"{owner}: the axes of the pulleys are not parallel; a belt needs parallel ones")
        if not isinstance(crossed, bool):
            raise ModelError(f"{owner}: crossed is {shown(crossed)}; give True or False")
        side = float(np.sign(wheels[0].axis @ wheels[1].axis)) * (1.0 if crossed else -1.0)
        return self._couple(owner, name, wheels[0].times(r_1) + wheels[1].times(side * r_2), None)

    def add_differential(
        self,
        name: str,
        case: BodyRef,
        first: BodyRef,
        second: BodyRef,
        *,
        share: float = 0.5,
        carrier: BodyRef = GROUND,
    ) -> Joint:
        """A differential on one axis: phi_case = share phi_first + (1 - share) phi_second.

        case : driven, turns on the carrier (the housing) about the axis of both shafts
        share : part of the torque that goes to the first shaft, between 0 and 1
        """
        owner = self._new_name("differential", name)
        part = number(owner, "share", share, above=0.0)
        if part >= 1.0:
            raise ModelError(f"{owner}: share is {part:g}; give a number between 0 and 1")
        wheels = [self._wheel(owner, wheel, carrier) for wheel in (case, first, second)]
        terms = wheels[0].times(1.0)
        for wheel, own in zip(wheels[1:], (part, 1.0 - part), strict=True):
            if np.linalg.norm(np.cross(wheels[0].axis, wheel.axis)) > PARALLEL:
                raise ModelError(f"{owner}: the axes of the case and of the shafts are not parallel; give them one axis")
            terms += wheel.times(-own * float(np.sign(wheels[0].axis @ wheel.axis)))
        return self._couple(owner, name, terms, None)

    def add_screw(
        self,
        name: str,
        first: BodyRef,
        second: BodyRef,
        *,
        pitch: float,
        point: npt.ArrayLike | None = None,
        axis: npt.ArrayLike | None = None,
        points: Pair | None = None,
        axes: Pair | None = None,
    ) -> Joint:
        """Screw and nut: a cylindrical joint `name` whose translation and angle are coupled by `name thread`.

        pitch : travel of the second body for one turn of it about the axis [m]; > 0 a right-handed thread, < 0 a left-handed
        point, axis : world coordinates of the model pose;  points, axes : in the axes of each body, instead
        """
        owner = self._new_name("screw", name)
        self._new_name("screw", f"{name} thread")
        lead = number(owner, "pitch", pitch)
        if lead == 0.0:
            raise ModelError(f"{owner}: pitch is 0; give metres for one turn, or use add_revolute")
        joint = self.add_cylindrical(name, first, second, point=point, axis=axis, points=points, axes=axes)
        self._couple(owner, f"{name} thread", [(joint, 0, 1.0), (joint, 1, -lead / (2.0 * np.pi))], None)
        return joint

    def _wheel(self, owner: str, which: object, carrier: object) -> _Wheel:
        """How a wheel turns on its carrier: the joints about one axis that lead to it."""
        wheel, base = self._body(owner, which), self._body(owner, carrier)
        if wheel is base:
            raise ModelError(f"{owner}: wheel and carrier are both {wheel.name!r}; give two different bodies")
        found: dict[str, tuple[tuple[Term, ...], Array, Array]] = {}
        queue: list[tuple[str, tuple[Term, ...], Array | None, Array]] = [(base.name, (), None, np.zeros(3))]
        for body, terms, axis, point in queue:
            for joint in self.joints:
                component = next((k for k, label in enumerate(joint.coordinates) if label == "angle"), None)
                if component is None or body not in (joint.first, joint.second) or joint.type == "planar":
                    continue
                other = joint.second if joint.first == body else joint.first
                angle = angle_of(joint, component)
                assert angle is not None
                z, at = rotation_matrix(self.body(joint.first)) @ angle.n_i, world_point(self.body(joint.first), joint.p_i)
                if other == base.name or other in found or (axis is not None and not _same_line(axis, point, z, at)):
                    continue
                sense = (1.0 if joint.first == body else -1.0) * (1.0 if axis is None else float(np.sign(axis @ z)))
                found[other] = ((*terms, (joint, component, sense)), z if axis is None else axis, at if axis is None else point)
                queue.append((other, *found[other]))
        if wheel.name not in found:
            raise ModelError(
                f"{owner}: {wheel.name!r} does not turn about one axis on {base.name!r}; join them by add_revolute, directly or"
                " through bodies on the same axis, or give another carrier="
            )
        return _Wheel(*found[wheel.name])

    def _slide(self, owner: str, which: object, carrier: object) -> tuple[Joint, int, float]:
        """The prismatic joint of a rack on its carrier, and 1 where the rack is its second body, else -1."""
        rack, base = self._body(owner, which), self._body(owner, carrier)
        for joint in self.joints:
            component = next((k for k, label in enumerate(joint.coordinates) if label == "translation"), None)
            if component is not None and {joint.first, joint.second} == {rack.name, base.name}:
                return joint, component, 1.0 if joint.second == rack.name else -1.0
        raise ModelError(
            f"{owner}: {rack.name!r} does not slide on {base.name!r}; join them by add_prismatic, or give another carrier="
        )

    def _mesh(self, owner: str, first: _Wheel, second: _Wheel) -> float:
        """1 where wheels in outer mesh turn against each other about their axes, -1 where the axes are opposed."""
        turn = np.cross(first.axis, second.axis)
        sine, gap = float(np.linalg.norm(turn)), second.point - first.point
        if sine <= PARALLEL:
            return float(np.sign(first.axis @ second.axis))
        if abs(float(gap @ turn)) > 1e-6 * sine * (1.0 + float(np.linalg.norm(gap))):
            raise ModelError(f"{owner}: the axes of the wheels are neither parallel nor meet; skew axes are not covered")
        # where the axes meet: first.point + a z_1 = second.point + b z_2; wheels on the same side of it in both axes mesh as -
        a = float(np.cross(gap, second.axis) @ turn) / sine**2
        b = float(np.cross(gap, first.axis) @ turn) / sine**2
        if min(abs(a), abs(b)) <= NEAR * (1.0 + float(np.linalg.norm(gap))):
            raise ModelError(
                f"{owner}: a joint point of its wheels is where their axes meet, so that nothing says on which side the wheel"
                " is; put the joint points at the wheels"
            )
        return float(np.sign(a * b))


def _same_line(axis: Array, point: Array, z: Array, at: Array) -> bool:
    gap = np.cross(axis, at - point)
    return bool(np.linalg.norm(np.cross(axis, z)) <= PARALLEL and np.linalg.norm(gap) <= NEAR * (1.0 + np.linalg.norm(at)))


def _teeth(owner: str, teeth: object, ratio: object) -> tuple[float, float]:
    if (teeth is None) == (ratio is None):
        got = "neither teeth= nor ratio=" if teeth is None else "both teeth= and ratio="
        raise ModelError(f"{owner}: got {got}; give teeth=(z_first, z_second) or ratio=z_second / z_first")
    if ratio is not None:
        return 1.0, _positive(owner, "ratio", ratio)
    z_1, z_2 = numbers(owner, "teeth", teeth, (2,))
    return _positive(owner, "teeth", z_1), _positive(owner, "teeth", z_2)


def _positive(owner: str, label: str, value: object) -> float:
    return number(owner, label, value, above=0.0)
