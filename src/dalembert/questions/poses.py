"""Other poses of a mechanism: with given joint coordinates, at random, and how far two are apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.between_mechanisms import told_by
from dalembert.compilation.compile import compile
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError, SimulationError
from dalembert.model.model import Model
from dalembert.model.validation import nearest, number, shown
from dalembert.questions.neighbourhood import Neighbourhood
from dalembert.questions.state import size_of


def posed(owner: str, mechanism: Mechanism, coordinates: Mapping[str, float]) -> Array:
    """The state at rest in which joints have given coordinates."""
    if not isinstance(coordinates, Mapping) or not coordinates:
        raise ModelError(f"{owner}: a start is {shown(coordinates)}; give {{joint: coordinate}}")
    model = unmoved(mechanism.model)
    names = [joint.name for joint in model.joints if len(joint.coordinates) == 1]
    for name, value in coordinates.items():
        if name not in names:
            raise ModelError(f"{owner}: there is no joint {name!r} with one coordinate; {nearest(name, names)}")
        joint = model.joint(name)
        model._add(replace(joint, coordinate=(number(owner, f"starts: {name!r}", value),), rate=(None,)))
    start = compile(model, mechanism.coordinates)
    return np.asarray(told_by(mechanism, start, start.x_0[None])[0])


def unmoved(model: Model) -> Model:
    """A copy whose bodies are given no velocities, and none is fixed."""
    made = model.copy()
    for body in model.bodies:
        made._add(replace(body, velocity=np.zeros(3), angular_velocity=np.zeros(3), given=(False, False), fixed=False))
    return made


def scattered(mechanism: Mechanism, count: int) -> list[Array]:
    """The given state and random ones around it, up to some radians away."""
    found, rng = [mechanism.x_0.copy()], np.random.default_rng(0)
    for _ in range(20 * count):
        if len(found) > count:
            break
        x = mechanism.x_0.copy()
        x[mechanism.nq : mechanism.nq + mechanism.nu] = 0.0
        try:
            for _ in range(int(rng.integers(1, 8))):
                around = Neighbourhood("equilibrium", mechanism, 0.0, x, moving=False)
                y = np.asarray(rng.standard_normal(around.positions.shape[1]))
                x = around.moved(rng.uniform(0.0, 0.7) * y / around.largest(y))
        except SimulationError:
            continue
        found.append(x)
    return found


def apart(mechanism: Mechanism, x: Array, y: Array) -> float:
    """How far two poses are apart: the largest rotation [rad], or displacement over the mechanism's size."""
    both, size = mechanism.trajectory(np.zeros(2), np.array([x, y])), size_of(mechanism, mechanism.x_0)
    largest = 0.0
    for body in mechanism.model.bodies:
        r, R = both.position(body.name), both.rotation(body.name)
        largest = max(largest, float(np.abs(r[0] - r[1]).max()) / size, float(np.abs(R[0] - R[1]).max()))
    return largest
