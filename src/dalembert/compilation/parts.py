"""Connected parts of a model: what moves without knowing of the rest has an energy, a size and a speed of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dalembert.model.elements import GROUND, JointMotor, JointSpringDamper, PointForce, SpringDamper, Torque
from dalembert.model.joints import angle_of
from dalembert.model.model import Model
from dalembert.results.quantities import ROUNDING, Energy
from dalembert.results.trajectory import Trajectory, rotation_vectors

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """bodies, elements (joints and drivers), forces : names of what hangs together, not through the ground

    worked_on : external forces, dampers or prescribed motions change its energy
    """

    bodies: tuple[str, ...]
    elements: tuple[str, ...]
    forces: tuple[str, ...]
    worked_on: bool

    @property
    def name(self) -> str:
        """The bodies, the first of many."""
        shown = ", ".join(repr(body) for body in self.bodies[:2])
        return shown + (f" and {len(self.bodies) - 2} more" if len(self.bodies) > 2 else "")


def connected_parts(model: Model) -> tuple[Part, ...]:
    """Bodies that joints, drivers, springs and motors connect; the ground connects nothing."""
    group = {body.name: {body.name} for body in model.bodies}
    links = [(item.name, _ends(model, item)) for item in (*model.joints, *model.drivers, *model.forces)]
    for _, ends in links:
        joined: set[str] = set().union(*(group[end] for end in ends))
        group.update(dict.fromkeys(joined, joined))
    worked = {name: _works(item) for name, item in ((i.name, i) for i in (*model.joints, *model.drivers, *model.forces))}
    forces = {force.name for force in model.forces}
    parts = []
    for members in {id(found): found for found in group.values()}.values():
        names = [name for name, ends in links if ends and ends[0] in members]
        parts.append(
            Part(
                tuple(body.name for body in model.bodies if body.name in members),
                tuple(name for name in names if name not in forces),
                tuple(name for name in names if name in forces),
                any(worked[name] for name in names),
            )
        )
    return tuple(parts)


def unconnected(model: Model) -> list[str]:
    """Bodies that no joint and no force element holds or moves."""
    return [body for part in connected_parts(model) if not part.elements and not part.forces for body in part.bodies]


def _ends(model: Model, item: object) -> list[str]:
    """Bodies that an element acts on."""
    if isinstance(item, PointForce | Torque):
        return [item.body]
    if isinstance(item, JointSpringDamper | JointMotor):
        item = next(joint for joint in model.joints if joint.name == item.joint)
    return [end for end in (item.first, item.second) if end != GROUND]  # type: ignore[attr-defined]


def _works(item: object) -> bool:
    """Whether an element changes T + U."""
    if isinstance(item, JointSpringDamper):
        return item.damping != 0.0 or item.law == "euler-321"
    if isinstance(item, SpringDamper):
        return item.damping != 0.0
    if isinstance(item, PointForce | Torque | JointMotor):
        return True
    primitives = getattr(item, "primitives", None) or (item.primitive,)  # type: ignore[attr-defined]
    return any(primitive.motion is not None or primitive.function is not None for primitive in primitives)


class Moving:
    """A part along a run.

    size : of the part itself at the start [m];  travel, turn : how far its bodies go and turn [m], [rad], largest
    speed, spin : largest |v| and |w| [m/s], [rad/s]
    """

    def __init__(self, part: Part, states: Trajectory) -> None:
        self.part, self.states = part, states
        self._bodies = [body for body in states.mechanism.model.bodies if body.name in part.bodies]

    @cached_property
    def size(self) -> float:
        start = Trajectory(self.states.mechanism, np.zeros(1), self.states.mechanism.x_0[None])
        points = [start.position(body.name)[0] for body in self._bodies]
        for item in self.states.mechanism.model.joints:
            if item.name in self.part.elements:
                points += [start.point(item.first, item.p_i)[0], start.point(item.second, item.p_j)[0]]
        radii = [float(np.sqrt(np.trace(body.inertia) / (2 * body.mass))) for body in self._bodies if body.mass > 0]
        return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) + max(radii, default=0.0)

    @cached_property
    def travel(self) -> float:
        return max(float(np.linalg.norm(np.ptp(self.states.position(b.name), axis=0))) for b in self._bodies)

    @cached_property
    def turn(self) -> float:
        chords = [np.linalg.norm(R - R[:1], axis=(1, 2)) for R in (self.states.rotation(b.name) for b in self._bodies)]
        return max(float(np.max(chord, initial=0.0) / np.sqrt(2.0)) for chord in chords)

    @cached_property
    def speed(self) -> float:
        return max(float(np.max(np.linalg.norm(self.states.velocity(b.name), axis=1), initial=0.0)) for b in self._bodies)

    @cached_property
    def spin(self) -> float:
        spins = [np.linalg.norm(self.states.angular_velocity(b.name), axis=1) for b in self._bodies]
        return max(float(np.max(w, initial=0.0)) for w in spins)

    @cached_property
    def distance(self) -> float:
        """How far from the origin it goes [m]."""
        return max(float(np.max(np.abs(self.states.position(b.name)), initial=0.0)) for b in self._bodies)

    def at_rest(self, residual: float) -> bool:
        """Nothing moves but rounding and what constraint residuals of this size allow."""
        slack = 10 * min(residual, 1e-9 * self.size) + 1e3 * ROUNDING * (self.size + self.distance)
        return self.travel <= slack and self.turn * self.size <= slack and self.turn <= max(slack, 1e3 * ROUNDING)

    @cached_property
    def energy(self) -> tuple[Energy, float]:
        """T and U (without work), and the sum of the sizes of all terms that were added, which rounding is relative to."""
        g = self.states.mechanism.model.gravity
        T, U, terms = (np.zeros(len(self.states.t)) for _ in range(3))
        for body in self._bodies:
            v, w_B = self.states.velocity(body.name), self.states.angular_velocity(body.name, "body")
            T += 0.5 * body.mass * np.sum(v * v, axis=1) + 0.5 * np.einsum("ti,ij,tj->t", w_B, body.inertia, w_B)
            r = self.states.position(body.name)
            U -= body.mass * r @ g
            terms += body.mass * np.abs(r) @ np.abs(g)
        for k, stretch, reach in self._springs():
            U += 0.5 * k * stretch**2
            terms += 0.5 * k * stretch**2 + k * np.abs(stretch) * reach
        return Energy(T, U, np.zeros_like(T)), float(np.max(T + terms, initial=0.0))

    def _springs(self) -> Iterator[tuple[float, Array, float]]:
        """Stiffness, deflection and the size that rounding of the deflection is relative to, as in mechanics/forces.py."""
        for force in self.states.mechanism.model.forces:
            if force.name not in self.part.forces:
                continue
            if isinstance(force, SpringDamper):
                d = self.states.point(force.second, force.p_j) - self.states.point(force.first, force.p_i)
                yield force.stiffness, np.linalg.norm(d, axis=1) - force.length, self.distance + self.size
            elif isinstance(force, JointSpringDamper) and force.law == "coordinate":
                s = self.states.coordinate(force.joint)
                s = s[:, force.component] if s.ndim > 1 else s
                joint = next(j for j in self.states.mechanism.model.joints if j.name == force.joint)
                turns = angle_of(joint, force.component) is not None
                reach = 1.0 + float(np.max(np.abs(s), initial=0.0)) if turns else self.distance + self.size
                yield force.stiffness, s - force.reference, reach
            elif isinstance(force, JointSpringDamper) and force.law == "rotation-vector":
                joint = next(j for j in self.states.mechanism.model.joints if j.name == force.joint)
                R_i = self.states.rotation(joint.first) @ joint.E_i
                R_j = self.states.rotation(joint.second) @ joint.E_j
                yield force.stiffness, np.linalg.norm(rotation_vectors(np.swapaxes(R_i, 1, 2) @ R_j), axis=1), np.pi
