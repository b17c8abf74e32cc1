"""Force elements on bodies: wrenches, power of what has no potential, potential energy. Compiled only where a model has any.

W_H holds (force in world axes, torque about the centre of mass in body axes) per body. Conservative are gravity and the
elastic part of springs (not the "euler-321" law, which has no potential: errata of [MovingFrame]); all the rest is external
and its power is integrated with the state as W_ext.
"""

import numpy as np

from dalembert.kernels.base.algebra import (
    add3,
    add_to3,
    cross,
    dot3,
    load3,
    load9,
    matmul,
    mul,
    mul_t,
    rotation_vector,
    scale3,
    store3,
    store9,
    sub3,
    transpose,
)
from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import (
    BENDS,
    CALLBACK_FAILED,
    CONSERVATIVE,
    F_ANGLE,
    F_BI,
    F_BJ,
    F_CALL,
    F_FRAME,
    F_KIND,
    F_MOTION,
    FF_C,
    FF_EI,
    FF_EJ,
    FF_K,
    FF_L,
    FF_PI,
    FF_PJ,
    FF_VEC,
    FORCE_F,
    FORCE_F_W,
    FORCE_I,
    FORCE_I_W,
    JOINT_ANGLE,
    JOINT_EULER_321,
    JOINT_ROTATION_VECTOR,
    JOINT_SLIDE,
    MOTIONS,
    MOTOR_ANGLE,
    MOTOR_SLIDE,
    NFORCE,
    OK,
    POINT_FORCE,
    POSITIONS,
    POTENTIAL,
    POWER,
    S_R,
    S_ROT,
    S_V,
    S_W,
    SPRING,
    STATE_W,
    TORQUE,
    USER_FORCE,
    USER_TORQUE,
    W_ANGLE,
    W_BODY,
    W_CALL,
    W_H,
    W_STAT,
)
from dalembert.kernels.mechanics.motion import evaluate_motions, motion


@inline
def add_force_at(b, f_W, p, R, system):
    """Add a force f_W (world) at the body point p to the wrench of body b."""
    I, W = system.I, system.W
    h = I[W_H] + 6 * b
    add_to3(W, h, f_W)
    add_to3(W, h + 3, cross(p, mul_t(R, f_W)))


@inline
def euler_321(R):
    """(phi, theta, psi) of R = Rz(psi) Ry(theta) Rx(phi).  Deviation: corrected as in the errata of [MovingFrame]."""
    return np.arctan2(R[7], R[8]), -np.arcsin(min(1.0, max(-1.0, R[6]))), np.arctan2(R[3], R[0])


@inline
def stored_energy(system):
    """Potential energy of all springs that have one."""
    I, F, W = system.I, system.F, system.W
    U = 0.0
    for e in range(I[NFORCE]):
        k, f = I[FORCE_I] + FORCE_I_W * e, I[FORCE_F] + FORCE_F_W * e
        kind = I[k + F_KIND]
        si, sj = I[W_BODY] + STATE_W * I[k + F_BI], I[W_BODY] + STATE_W * I[k + F_BJ]
        R_i, R_j = load9(W, si + S_ROT), load9(W, sj + S_ROT)
        s = F[f + FF_L]
        if kind == SPRING or kind == JOINT_SLIDE:
            d = sub3(
                add3(load3(W, sj + S_R), mul(R_j, load3(F, f + FF_PJ))),
                add3(load3(W, si + S_R), mul(R_i, load3(F, f + FF_PI))),
            )
            s = np.sqrt(dot3(d, d)) if kind == SPRING else dot3(mul(R_i, load3(F, f + FF_VEC)), d)
        elif kind == JOINT_ANGLE:
            s = W[I[W_ANGLE] + 2 * I[k + F_ANGLE]]
        elif kind == JOINT_ROTATION_VECTOR:
            v = rotation_vector(matmul(transpose(matmul(R_i, load9(F, f + FF_EI))), matmul(R_j, load9(F, f + FF_EJ))))
            s = F[f + FF_L] + np.sqrt(dot3(v, v))
        U += 0.5 * F[f + FF_K] * (s - F[f + FF_L]) ** 2
    return U


@kernel
def force_elements(mode, t, system):
    """WRENCH: add every element to W_H, POWER <- power of the external ones; CONSERVATIVE: only those with a potential;
    POTENTIAL: POWER <- energy stored in the elements; MOTIONS, POSITIONS: W_MOTION <- prescribed motions of the constraints;
    BENDS: nothing more. Status."""
    I, F, W = system.I, system.F, system.W
    if mode == MOTIONS or mode == POSITIONS or mode == BENDS:
        evaluate_motions(t, system)
        return OK
    if mode == POTENTIAL:
        W[I[W_STAT] + POWER] = stored_energy(system)
        return OK
    power, conservative_only = 0.0, mode == CONSERVATIVE
    for e in range(I[NFORCE]):
        k, f = I[FORCE_I] + FORCE_I_W * e, I[FORCE_F] + FORCE_F_W * e
        kind, bi, bj = I[k + F_KIND], I[k + F_BI], I[k + F_BJ]
        si, sj = I[W_BODY] + STATE_W * bi, I[W_BODY] + STATE_W * bj
        R_i, R_j = load9(W, si + S_ROT), load9(W, sj + S_ROT)
        w_i, w_j = load3(W, si + S_W), load3(W, sj + S_W)
        p_i, p_j = load3(F, f + FF_PI), load3(F, f + FF_PJ)
        if kind == SPRING or kind == JOINT_SLIDE or kind == MOTOR_SLIDE:
            x_i = add3(load3(W, si + S_R), mul(R_i, p_i))
            x_j = add3(load3(W, sj + S_R), mul(R_j, p_j))
            d = sub3(x_j, x_i)
            v = sub3(add3(load3(W, sj + S_V), mul(R_j, cross(w_j, p_j))), add3(load3(W, si + S_V), mul(R_i, cross(w_i, p_i))))
            if kind == SPRING:  # tension along n = d / |d|
                s = np.sqrt(dot3(d, d))
                n = scale3(1.0 / s if s > 0.0 else 0.0, d)  # without slack length no direction is needed where it vanishes
                rate = dot3(n, v)
            else:  # along z_i through x_j: the slide s = z_i . d
                n = mul(R_i, load3(F, f + FF_VEC))
                s = dot3(n, d)
                rate = dot3(n, v) + dot3(mul(R_i, cross(w_i, load3(F, f + FF_VEC))), d)
            elastic, external = -F[f + FF_K] * (s - F[f + FF_L]), -F[f + FF_C] * rate
            if kind == MOTOR_SLIDE:
                elastic, external = 0.0, motion(I[k + F_MOTION], t, system)[0]
            if conservative_only:
                external = 0.0
            power += external * rate
            force = scale3(elastic + external, n)
            add_force_at(bj, force, p_j, R_j, system)
            add_to3(W, I[W_H] + 6 * bi, scale3(-1.0, force))  # at the same world point: action equals reaction
            arm = sub3(x_j, load3(W, si + S_R))
            add_to3(W, I[W_H] + 6 * bi + 3, mul_t(R_i, cross(force, arm)))
        elif kind == JOINT_ANGLE or kind == MOTOR_ANGLE:
            c = I[W_ANGLE] + 2 * I[k + F_ANGLE]
            elastic, external = -F[f + FF_K] * (W[c] - F[f + FF_L]), -F[f + FF_C] * W[c + 1]
            if kind == MOTOR_ANGLE:
                elastic, external = 0.0, motion(I[k + F_MOTION], t, system)[0]
            if conservative_only:
                external = 0.0
            power += external * W[c + 1]
            axis = load3(F, f + FF_VEC)
            add_to3(W, I[W_H] + 6 * bi + 3, scale3(-elastic - external, axis))
            add_to3(W, I[W_H] + 6 * bj + 3, scale3(elastic + external, mul_t(R_j, mul(R_i, axis))))
        elif kind == JOINT_ROTATION_VECTOR or kind == JOINT_EULER_321:
            E_i, E_j = load9(F, f + FF_EI), load9(F, f + FF_EJ)
            R_rel = matmul(transpose(matmul(R_i, E_i)), matmul(R_j, E_j))
            w_rel = sub3(mul(R_j, w_j), mul(R_i, w_i))  # world axes
            damping = scale3(-F[f + FF_C], w_rel)
            elastic = scale3(-F[f + FF_K], mul(R_i, mul(E_i, rotation_vector(R_rel))))
            if kind == JOINT_EULER_321:
                elastic = scale3(-F[f + FF_K], mul(R_i, mul(E_i, euler_321(R_rel))))
                damping = add3(damping, elastic)  # no potential: counted as external
                elastic = (0.0, 0.0, 0.0)
            if conservative_only:
                damping = (0.0, 0.0, 0.0)
            power += dot3(damping, w_rel)
            torque = add3(elastic, damping)
            add_to3(W, I[W_H] + 6 * bi + 3, scale3(-1.0, mul_t(R_i, torque)))
            add_to3(W, I[W_H] + 6 * bj + 3, mul_t(R_j, torque))
        elif not conservative_only:
            v = add3(load3(W, si + S_V), mul(R_i, cross(w_i, p_i)))
            vector = load3(F, f + FF_VEC)
            if kind == USER_FORCE or kind == USER_TORQUE:
                s = I[W_CALL]
                store3(W, s, add3(load3(W, si + S_R), mul(R_i, p_i)))
                store3(W, s + 3, v)
                store9(W, s + 6, R_i)
                store3(W, s + 15, mul(R_i, w_i))
                if callback(I[k + F_CALL], t, system, s) != OK:
                    return CALLBACK_FAILED
                vector = load3(W, s + 18)
            elif I[k + F_MOTION] >= 0:
                vector = scale3(motion(I[k + F_MOTION], t, system)[0], vector)
            if kind == POINT_FORCE or kind == USER_FORCE:
                if I[k + F_FRAME] == 1:
                    vector = mul(R_i, vector)
                power += dot3(vector, v)
                add_force_at(bi, vector, p_i, R_i, system)
            elif kind == TORQUE or kind == USER_TORQUE:
                if I[k + F_FRAME] == 0:
                    vector = mul_t(R_i, vector)
                power += dot3(vector, w_i)
                add_to3(W, I[W_H] + 6 * bi + 3, vector)
    W[I[W_STAT] + POWER] = power
    return OK
