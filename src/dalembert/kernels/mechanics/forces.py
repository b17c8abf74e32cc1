"""Force elements on bodies: wrenches, power of what has no potential, potential energy. Compiled only where a model has any.

A wrench is (force in world axes, torque about the centre of mass in body axes). Conservative are gravity and the elastic part
of springs (not the "euler-321" law, which has no potential: errata of [MovingFrame]); all the rest is external and its power
is integrated with the state as W_ext.
"""

import numpy as np

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    BENDS,
    CALLBACK_FAILED,
    CONSERVATIVE,
    JOINT_ANGLE,
    JOINT_EULER_321,
    JOINT_ROTATION_VECTOR,
    JOINT_SLIDE,
    MOTIONS,
    MOTOR_ANGLE,
    MOTOR_SLIDE,
    OK,
    POINT_FORCE,
    POSITIONS,
    POTENTIAL,
    SPRING,
    TORQUE,
    USER_FORCE,
    USER_TORQUE,
)
from dalembert.kernels.base.vectors import Vec3, cross
from dalembert.kernels.mechanics.motion import evaluate_motions, follow


@inline
def euler_321(R):
    """(phi, theta, psi) of R = Rz(psi) Ry(theta) Rx(phi).  Deviation: corrected as in the errata of [MovingFrame]."""
    x, z = R[0], R[2]
    return Vec3(np.arctan2(z.y, z.z), -np.arcsin(min(1.0, max(-1.0, z.x))), np.arctan2(R[1].x, x.x))


@inline
def rotation_vector(R):
    """Rotation vector of R, angle in [0, pi], through the quaternion with the largest component (no cancellation)."""
    x, y, z = R[0], R[1], R[2]
    t = x.x + y.y + z.z
    if t > 0.0:
        a, b, c, d = 1.0 + t, z.y - y.z, x.z - z.x, y.x - x.y
    elif x.x >= y.y and x.x >= z.z:
        a, b, c, d = z.y - y.z, 1.0 + x.x - y.y - z.z, x.y + y.x, x.z + z.x
    elif y.y >= z.z:
        a, b, c, d = x.z - z.x, x.y + y.x, 1.0 - x.x + y.y - z.z, y.z + z.y
    else:
        a, b, c, d = y.x - x.y, x.z + z.x, y.z + z.y, 1.0 - x.x - y.y + z.z
    if a < 0.0:
        a, b, c, d = -a, -b, -c, -d
    v = np.sqrt(b * b + c * c + d * d)
    if v == 0.0:
        return Vec3(0.0 * v, 0.0 * v, 0.0 * v)
    s = 2.0 * np.arctan2(v, a) / v
    return Vec3(s * b, s * c, s * d)


@inline
def stored_energy(system):
    """Potential energy of all springs that have one."""
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
        U += 0.5 * e.k * (s - e.l) ** 2
    return U


@kernel
def force_elements(mode, t, system):
    """WRENCH: add every element to the wrenches, power <- power of the external ones; CONSERVATIVE: only those with a
    potential; POTENTIAL: power <- energy stored in the elements; MOTIONS, POSITIONS: prescribed motions of the constraints;
    BENDS: nothing more. Status."""
    if mode == MOTIONS or mode == POSITIONS or mode == BENDS:
        evaluate_motions(t, system)
        return OK
    if mode == POTENTIAL:
        system.count.power = stored_energy(system)
        return OK
    power, conservative_only, zero = 0.0, mode == CONSERVATIVE, Vec3(0.0, 0.0, 0.0)
    for e in system.forces:
        i, j, kind, p_i, p_j = e.i, e.j, e.kind, e.p_i, e.p_j
        R_i, R_j, w_i, w_j = i.R, j.R, i.w, j.w
        if kind == SPRING or kind == JOINT_SLIDE or kind == MOTOR_SLIDE:
            x_i, x_j = i.r + R_i @ p_i, j.r + R_j @ p_j
            d, v = x_j - x_i, (j.v + R_j @ cross(w_j, p_j)) - (i.v + R_i @ cross(w_i, p_i))
            if kind == SPRING:  # tension along n = d / |d|
                s = np.sqrt(d @ d)
                n = (1.0 / s if s > 0.0 else 0.0) * d  # without slack length no direction is needed where it vanishes
                rate = n @ v
            else:  # along z_i through x_j: the slide s = z_i . d
                n = R_i @ e.vector
                s = n @ d
                rate = n @ v + (R_i @ cross(w_i, e.vector)) @ d
            elastic, external = -e.k * (s - e.l), -e.c * rate
            if kind == MOTOR_SLIDE:
                elastic, external = 0.0, follow(e.motion, t, system).x
            if conservative_only:
                external = 0.0
            power += external * rate
            force = (elastic + external) * n
            j.force += force
            j.torque += cross(p_j, R_j.T @ force)
            i.force -= force  # at the same world point: action equals reaction
            i.torque += R_i.T @ cross(force, x_j - i.r)
        elif kind == JOINT_ANGLE or kind == MOTOR_ANGLE:
            rate = e.joint.rate
            elastic, external = -e.k * (e.joint.angle - e.l), -e.c * rate
            if kind == MOTOR_ANGLE:
                elastic, external = 0.0, follow(e.motion, t, system).x
            if conservative_only:
                external = 0.0
            power += external * rate
            i.torque += (-elastic - external) * e.vector
            j.torque += (elastic + external) * (R_j.T @ (R_i @ e.vector))
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
        elif not conservative_only:
            v, vector = i.v + R_i @ cross(w_i, p_i), e.vector
            if kind == USER_FORCE or kind == USER_TORQUE:
                call = system.call
                call.x, call.v, call.R = i.r + R_i @ p_i, v, R_i
                call.w = R_i @ w_i
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
    return OK
