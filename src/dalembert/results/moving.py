"""Connected parts along a run: how far each goes, how fast, with what energy."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dalembert.compilation.parts import Part, spread
from dalembert.compilation.trajectory import Trajectory
from dalembert.results.quantities import ROUNDING, Energy


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
        radii = [float(np.sqrt(np.trace(body.inertia) / (2 * body.mass))) for body in self._bodies if body.mass > 0]
        return spread(start, self.part) + max(radii, default=0.0)

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
        model = self.states.mechanism.model
        joints = {joint.name: joint for joint in model.joints}
        for force in model.forces:
            if force.name in self.part.forces:
                stored, size = force.stored(self.states, joints, self.distance + self.size)
                U, terms = U + stored, terms + size
        return Energy(T, U, np.zeros_like(T)), float(np.max(T + terms, initial=0.0))
