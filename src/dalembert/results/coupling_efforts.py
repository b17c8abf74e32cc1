"""What drivers, couplings, cables and cams do, from the multipliers of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.pack_motions import motion_values
from dalembert.compilation.trajectory import Trajectory, cross
from dalembert.model.cables import cable_points
from dalembert.model.elements import Driver, Joint
from dalembert.results.efforts import Effort, Wrench
from dalembert.results.reactions import Reaction, resultant

Measured = tuple[Array, Array, Array, Array]


@dataclass(frozen=True, eq=False, repr=False)
class CouplingEffort(Effort):
    """What a coupling, a cable or a cam does over time, SI units; what it does to each body is told about its centre of mass.

    joints : (joint, component) of every coordinate that a coupling joins, else ()
    coordinate, rate : (nt, n) coupled coordinates and their rates; (nt,) length of a cable and its rate, distance of a cam
    value : (nt, n) effort on each coordinate (torque or force, positive the way it grows); (nt,) tension of a cable, normal
        force of a cam, which would be negative where the one goes slack and the other lifts off
    power : (nt,) what it gives to all bodies together: zero, unless it depends on time;  energy : zero, nothing is stored
    """

    joints: tuple[tuple[str, int], ...] = ()


def driver_effort(states: Trajectory, driver: Driver, acting: Reaction) -> Effort:
    """What a driver does along the coordinate that it prescribes, at given states with this reaction on its second body."""
    row, first, turns = driver.primitive, driver.first, driver.primitive.kind == "A"
    on = {name: Wrench(s * acting.force, s * acting.torque, acting.point) for name, s in ((first, -1.0), (driver.second, 1.0))}
    along, w = states.rotation(first) @ (row.n_i if turns else row.a_i), states.angular_velocity(first)
    if turns:
        value, moving = acting.torque, states.angular_velocity(driver.second) - w
    else:  # of the point, seen from the first body
        arm = states.point(driver.second, row.p_j) - states.position(first)
        value, moving = acting.force, states.velocity(driver.second, row.p_j) - states.velocity(first) - cross(w, arm)
    value, rate = np.sum(value * along, axis=1), np.sum(moving * along, axis=1)
    return Effort(on, motion_values(row.motion, states.t), rate, value, value * rate, np.zeros(len(states.t)))


def coupling_effort(states: Trajectory, joint: Joint, lam: Array | None) -> CouplingEffort:
    """What one of them does at given states with these multipliers (nt, rows); None where it is not in force."""
    on, zero = {}, np.zeros((len(states.t), 3))
    for body in joint.bodies:
        if lam is None:
            on[body] = Wrench(zero, zero, states.position(body))
        else:
            acting = resultant(states, joint.name, lam, body)
            on[body] = Wrench(acting.force, acting.torque, acting.point)
    given = np.zeros((len(states.t), sum(len(row.labels) for row in joint.primitives))) if lam is None else lam
    coordinate, rate, value, power = MEASURED[joint.type](states, joint, given, on[joint.second].force)
    return CouplingEffort(on, coordinate, rate, value, power, np.zeros(len(states.t)), joint.coupled)


def _of_coupling(run: Trajectory, joint: Joint, lam: Array, force: Array) -> Measured:
    found = [run.mechanism.model.joint(name) for name, _ in joint.coupled]
    parts = list(zip(found, (component for _, component in joint.coupled), strict=True))
    s = np.column_stack([run._coordinate(*part) for part in parts])
    s_dot = np.column_stack([run._rate(*part) for part in parts])
    row = joint.primitives[0]
    if row.function is None:
        value = lam * np.array(row.numbers[::10])
    else:
        from dalembert.lagrangian.body_rows import function_arguments
        from dalembert.lagrangian.relations import slopes

        value = np.einsum("tr,trk->tk", lam, slopes(row.function, s, run.t, function_arguments(row.function)[1]))
    return s, s_dot, value, np.sum(value * s_dot, axis=1)


def _of_cable(run: Trajectory, joint: Joint, lam: Array, force: Array) -> Measured:
    ends = cable_points(joint)
    x, v = [run.point(*end) for end in ends], [run.velocity(*end) for end in ends]
    length, rate = np.zeros(len(run.t)), np.zeros(len(run.t))
    for (x_0, x_1), (v_0, v_1) in zip(pairwise(x), pairwise(v), strict=True):
        part = np.linalg.norm(x_1 - x_0, axis=1)
        length += part
        rate += np.sum((x_1 - x_0) * (v_1 - v_0), axis=1) / np.where(part > 0.0, part, 1.0)
    tension = -lam[:, 0]
    return length, rate, tension, -tension * rate


def _of_cam(run: Trajectory, joint: Joint, lam: Array, force: Array) -> Measured:
    row = joint.primitives[0]
    e = run.point(joint.second, row.p_j) - run.point(joint.first, row.p_i)
    e_dot = run.velocity(joint.second, row.p_j) - run.velocity(joint.first, row.p_i)
    m, base = run.rotation(joint.second) @ row.a_j, joint.second
    if not row.a_j.any():  # a roller: along the line of centres, seen from the cam, whose axis may turn too
        n, base = run.rotation(joint.first) @ row.n_i, joint.first
        m = e - np.sum(e * n, axis=1, keepdims=True) * n
        m /= np.linalg.norm(m, axis=1, keepdims=True)
    rate = np.sum(m * (e_dot - np.cross(run.angular_velocity(base), e)), axis=1)
    pressed = np.sign(lam[:, 0]) * np.linalg.norm(force, axis=1)
    return np.sum(m * e, axis=1), rate, pressed, np.zeros(len(run.t))


MEASURED = {"coupling": _of_coupling, "cable": _of_cable, "cam_flat": _of_cam, "cam_roller": _of_cam}
