"""What force elements do at saved states, asked of the compiled kernel with its tables cut down to the records of one element.

There is no second implementation of a law: `effort` tells what acted in the run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, InShort
from dalembert.compilation.callbacks import Callbacks, row_callback
from dalembert.compilation.catalogue import compiled_kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.one_element import cut_to
from dalembert.compilation.trajectory import Trajectory, cross
from dalembert.errors import ModelError, SimulationError
from dalembert.kernels.base import tables as T
from dalembert.model.elements import Force
from dalembert.model.validation import nearest


@dataclass(frozen=True, eq=False, repr=False)
class Wrench(InShort):
    """(nt, 3) each, world axes: force [N], torque [N m] about `point` [m]."""

    force: Array
    torque: Array
    point: Array


@dataclass(frozen=True, eq=False, repr=False)
class Effort(InShort):
    """What a force element or a driver does over time, SI units.

    on : by name of each body that it acts on, in its order, force and torque at its point there (spring end, joint point, else
        the centre of mass; of the ground the origin)
    coordinate, rate, value : (nt,), or (nt, n) of an element with n coordinates: length, its rate and the tension of what acts
        along a line; joint coordinate (of a driver as it is prescribed), its rate and the effort along it; of a bushing the six
        deflections in its axes. None where there is no coordinate
    power : (nt,) what it gives to all bodies together;  energy : (nt,) what it has stored
    """

    on: dict[str, Wrench]
    coordinate: Array | None
    rate: Array | None
    value: Array | None
    power: Array
    energy: Array

    @property
    def force(self) -> Array:
        """(nt, 3) on its second (or only) body, world axes, acting at `point` [N]."""
        return self._last.force

    @property
    def torque(self) -> Array:
        """(nt, 3) on its second (or only) body about `point`, world axes [N m]."""
        return self._last.torque

    @property
    def point(self) -> Array:
        """(nt, 3) where it acts on its second (or only) body, world [m]."""
        return self._last.point

    @property
    def _last(self) -> Wrench:
        return list(self.on.values())[-1]


def effort_of(states: Trajectory, element: object) -> Effort:
    """What one force element does at given states."""
    forces = {force.name: force for force in states.mechanism.model.forces}
    name = str(getattr(element, "name", element))
    model = states.mechanism.model
    if name in {joint.name for joint in model.joints}:
        own = [driver.name for driver in model.drivers if driver.joint == name]
        own += [force.name for force in model.forces if getattr(force, "joint", None) == name]
        asked = " or ".join([*(f"effort({other!r}), which acts along it," for other in own), f"reaction({name!r})"])
        raise ModelError(f"{name!r} is a joint, no force element; ask for {asked}")
    if name not in forces:
        known = [*(driver.name for driver in model.drivers), *forces]
        raise ModelError(f"there is no force element or driver {name!r}; {nearest(name, known)}")
    force = forces[name]
    wrenches, records, energy = _asked(states, force)
    joints = {joint.name: joint for joint in states.mechanism.model.joints}
    on, power = {}, np.zeros(len(states.t))
    for body, p in force.sides(joints):
        b = states._body(body)
        acting, twisting = wrenches[:, 6 * b : 6 * b + 3], wrenches[:, 6 * b + 3 : 6 * b + 6]
        point = states.point(body, p)
        on[body] = Wrench(acting, twisting - cross(point - states.position(body), acting), point)
        power += np.sum(acting * states.velocity(body) + twisting * states.angular_velocity(body), axis=1)
    along = (records[:, k::3] for k in range(3)) if force.coordinates else (None, None, None)
    coordinate, rate, value = (part if part is None or force.coordinates > 1 else part[:, 0] for part in along)
    return Effort(on, coordinate, rate, value, power, energy)


def without_rows(mechanism: Compiled, what: str, name: str) -> str:
    """Why a name has no multipliers, where only joints and drivers, or so, have."""
    if name in {force.name for force in getattr(mechanism.model, "forces", ())}:
        return f"{name!r} is a force element, no {what}; ask for effort({name!r})"
    return f"there is no {what} {name!r}; {nearest(name, dict.fromkeys(row.element for row in mechanism.rows))}"


def _asked(states: Trajectory, force: Force) -> tuple[Array, Array, Array]:
    """(nt, 6 (nb + 1)) wrenches, (nt, 3 records), (nt,) energy of one element."""
    from dalembert.compilation.compiled_loops import compiled
    from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, FORCES_SIGNATURE, address
    from dalembert.kernels.base.views import System

    mechanism, nt = states.mechanism, len(states.t)
    callbacks = None if force.function is None else Callbacks(mechanism)  # others may be missing in a run that was loaded
    I = cut_to(mechanism, force)
    called = row_callback(mechanism.row_source) if callbacks is None else callbacks.compiled
    kept = (compiled_kernel("force_elements"), compiled_kernel("force_laws" if I[T.NLAW] else "no_forces"), called)
    signatures = (FORCES_SIGNATURE, FORCES_SIGNATURE, CALLBACK_SIGNATURE)
    I[T.AT_FORCES], I[T.AT_LAWS], I[T.AT_CALLBACK] = map(address, kept, signatures)
    count = int(I[T.NFORCE])
    W = mechanism.workspace()
    out = np.zeros((nt, 6 * (mechanism.nb + 1))), np.zeros((nt, 3 * count)), np.zeros(nt)
    status = compiled("evaluate_forces")(
        np.ascontiguousarray(states.t), np.ascontiguousarray(states.x), *out, System(I, mechanism.F, W)
    )
    if callbacks is not None and callbacks.error is not None:
        (name, problem), callbacks.error = callbacks.error, None
        raise SimulationError(f"user function {name!r} raised {problem!r}") from problem
    if status != T.OK:
        raise SimulationError(f"{force.noun} {force.name!r} could not be evaluated at the saved states")
    return out
