"""Force elements on bodies: wrenches, power of what has no potential, potential energy. Compiled only where a model has any.

A wrench is (force in world axes, torque about the centre of mass in body axes). Conservative are gravity and the elastic part
of springs and bushings (not the "euler-321" law, which has no potential: errata of [MovingFrame]); all the rest is external
and its power is integrated with the state as W_ext.

An element has one record for each coordinate that it acts on, one behind the other; `s`, `rate` and `value` of a record are the
coordinate, its rate and the effort along it, of a spring the length, its rate and the tension. A user function reads what it
acts on and its parameters from W and leaves its value there. Elements that few models have are in laws.py.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.layout import CALL
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import callback, laws
from dalembert.kernels.base.tables import BENDS, CALLBACK_FAILED, CONSERVATIVE, MOTIONS, OK, POSITIONS, POTENTIAL
from dalembert.kernels.base.vectors import Vec3, cross
from dalembert.kernels.mechanics.motion import evaluate_motions, follow, spline_integral
from dalembert.kernels.mechanics.rotations import euler_321, rotation_vector

# kinds of elements, named by `records` of those in model/forces
(
    POINT_FORCE,
    TORQUE,
    USER_FORCE,
    USER_TORQUE,
    SPRING,
    JOINT_ANGLE,
    JOINT_SLIDE,
    JOINT_ROTATION_VECTOR,
    JOINT_EULER_321,
    MOTOR_ANGLE,
    MOTOR_SLIDE,
) = range(11)
BEHIND_CALL = CALL.width  # where parameters of a user's force begin


@inline
def stored_energy(system):
    """Potential energy of all springs that have one; laws.py has the rest."""
    U = 0.0
    for e in system.forces:
        i, j, s = e.i, e.j, e.l
        if e.kind == SPRING or e.kind == JOINT_SLIDE:
            d = (j.r + j.R @ e.p_j) - (i.r + i.R @ e.p_i)
            s = np.sqrt(d @ d) if e.kind == SPRING else (i.R @ e.vector) @ d
        elif e.kind == JOINT_ANGLE:
            s = e.joint.angle
        elif e.kind == JOINT_ROTATION_VECTOR:
            v = rotation_vector((i.R @ e.E_i).T @ (j.R @ e.E_j))
            s = e.l + np.sqrt(v @ v)
        if e.curve >= 0:
            U += spline_integral(e.curve, s, system)
        U += 0.5 * e.k * (s - e.l) ** 2
    return U


@inline
def apart(e):
    """x_j - x_i of its ends and their relative velocity."""
    i, j, p_i, p_j = e.i, e.j, e.p_i, e.p_j
    R_i, R_j, w_i = i.R, j.R, i.w
    d = (j.r + R_j @ p_j) - (i.r + R_i @ p_i)
    return d, (j.v + R_j @ cross(j.w, p_j)) - (i.v + R_i @ cross(w_i, p_i))


@inline
def straight(e):
    """(l, l', n) of the line between its ends: length, direction d / |d|."""
    d, v = apart(e)
    s = np.sqrt(d @ d)
    n = (1.0 / s if s > 0.0 else 0.0) * d  # without slack length no direction is needed where it vanishes
    return s, n @ v, n


@inline
def along_line(e):
    """`straight` of a spring; of a slide s = z_i . d: direction z_i."""
    if e.kind == SPRING:
        return straight(e)
    d, v = apart(e)
    n = e.i.R @ e.vector
    return n @ d, n @ v + (e.i.R @ cross(e.i.w, e.vector)) @ d, n


@inline
def pull(e, force):
    """Adds a force on body j at x_j, and its reaction on i at the same world point: action equals reaction."""
    i, j = e.i, e.j
    j.force += force
    j.torque += cross(e.p_j, j.R.T @ force)
    i.force -= force
    i.torque += i.R.T @ cross(force, j.r + j.R @ e.p_j - i.r)


@inline
def turn(e, torque):
    """Adds a torque on body j about the axis of its joint, and its reaction on i."""
    i, j = e.i, e.j
    i.torque -= torque * e.vector
    j.torque += torque * (j.R.T @ (i.R @ e.vector))


@inline
def give_parameters(e, at, system):
    """Behind what a function reads and leaves."""
    copy(system.called + at, system.constants + e.numbers, e.count)


@kernel
def force_elements(mode, t, system):
    """WRENCH: add every element to the wrenches, power <- power of the external ones; CONSERVATIVE: only those with a
    potential; POTENTIAL: power <- energy stored in the elements; MOTIONS, POSITIONS, BENDS: prescribed motions of the
    constraints alone. Status."""
    if mode == MOTIONS or mode == POSITIONS or mode == BENDS:
        evaluate_motions(t, system)
        return OK
    if mode == POTENTIAL:
        system.count.power = stored_energy(system)
        return laws(mode, t, system) if system.nlaw > 0 else OK
    power, conservative_only, zero = 0.0, mode == CONSERVATIVE, Vec3(0.0, 0.0, 0.0)
    for e in system.forces:
        i, j, kind, p_i = e.i, e.j, e.kind, e.p_i
        R_i, R_j, w_i, w_j = i.R, j.R, i.w, j.w
        angle, motor = kind == JOINT_ANGLE or kind == MOTOR_ANGLE, kind == MOTOR_ANGLE or kind == MOTOR_SLIDE
        if kind == SPRING or kind == JOINT_SLIDE or angle or motor:
            s, rate, n = (e.joint.angle, e.joint.rate, e.vector) if angle else along_line(e)
            elastic, external = -e.k * (s - e.l), -e.c * rate
            if e.curve >= 0:
                elastic -= follow(e.curve, s, system).x
            if e.damper >= 0:
                external -= follow(e.damper, rate, system).x
            if motor:
                elastic, external = 0.0, follow(e.motion, t, system).x
            elif e.call >= 0 and not conservative_only:
                system.called[0], system.called[1] = s, rate
                give_parameters(e, 3, system)
                if callback(e.call, t, system, system.w_call) != OK:
                    return CALLBACK_FAILED
                external -= system.called[2]
            if conservative_only:
                external = 0.0
            power += external * rate
            effort = elastic + external
            e.s, e.rate, e.value = s, rate, -effort if kind == SPRING else effort
            if angle:
                turn(e, effort)
            else:
                pull(e, effort * n)
        elif kind == JOINT_ROTATION_VECTOR or kind == JOINT_EULER_321:
            R = (R_i @ e.E_i).T @ (R_j @ e.E_j)
            w = R_j @ w_j - R_i @ w_i  # world axes
            damping = -e.c * w
            elastic = -e.k * (R_i @ (e.E_i @ rotation_vector(R)))
            if kind == JOINT_EULER_321:
                elastic = -e.k * (R_i @ (e.E_i @ euler_321(R)))
                damping = damping + elastic  # no potential: counted as external
                elastic = zero
            if conservative_only:
                damping = zero
            power += damping @ w
            torque = elastic + damping
            i.torque -= R_i.T @ torque
            j.torque += R_j.T @ torque
        elif kind <= USER_TORQUE and not conservative_only:
            v, vector = i.v + R_i @ cross(w_i, p_i), e.vector
            if kind == USER_FORCE or kind == USER_TORQUE:
                call = system.call
                call.x, call.v, call.R = i.r + R_i @ p_i, v, R_i
                call.w = R_i @ w_i
                give_parameters(e, BEHIND_CALL, system)
                if callback(e.call, t, system, system.w_call) != OK:
                    return CALLBACK_FAILED
                vector = call.out
            elif e.motion >= 0:
                vector = follow(e.motion, t, system).x * vector
            if kind == POINT_FORCE or kind == USER_FORCE:
                if e.frame == 1:
                    vector = R_i @ vector
                power += vector @ v
                i.force += vector
                i.torque += cross(p_i, R_i.T @ vector)
            elif kind == TORQUE or kind == USER_TORQUE:
                if e.frame == 0:
                    vector = R_i.T @ vector
                power += vector @ w_i
                i.torque += vector
    system.count.power = power
    return laws(mode, t, system) if system.nlaw > 0 else OK
