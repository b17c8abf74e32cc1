"""Return to an invariant, f_inv = 0, in relative coordinates [JetMultibody, (5.5)].

    energy   f = T + U - W_ext - E_0      h_q = -(conservative wrenches), h_u = momenta of the bodies
    user     f(t, q, u) - f_0             of the mechanism's own q and u, as in every formulation; central differences

With the gradients h_q in displacements and h_u in twists of the bodies, twists and displacements held, the step goes along

    M* dq = B^T h_q + G^T mu,                G dq = 0
    M* du = B^T (h_u - M c) + G^T lam,       G du = -(change of G u + g_t along dq),     c = change of B u along dq, u held

so that cut joints stay closed to first order; f changes by h_q . B dq + h_u . (B du + c), for the energy a sum of squares.
Each is the tree's response to wrenches: O(n). Deviation: the norm is the kinetic energy.
"""

import numpy as np

from dalembert.kernels.base.algebra import (
    axpy3,
    euler_parameter_rates,
    load3,
    load4,
    load6,
    normalise4,
    scale3,
    store3,
    store4,
    sub3,
    sym_mul,
)
from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.slots import callback, forces
from dalembert.kernels.base.tables import (
    B_KIND,
    B_Q,
    B_U,
    BODY_I,
    BODY_I_W,
    COL_W,
    CONSERVATIVE,
    ENERGY,
    GRAVITY_X,
    INVARIANT_F,
    K_ACC,
    MASS_F,
    METRIC_W,
    MJ,
    MM,
    MOTIONS,
    MOVED,
    N_DINV,
    NB,
    NINVARIANT,
    NON_FINITE,
    NQ,
    NQ_BODY,
    NU,
    NU_BODY,
    NX,
    OK,
    QUATERNION,
    R_Q,
    R_TURN,
    RIGID,
    S_V,
    S_W,
    STATE_W,
    TOL_INVARIANT,
    TREE_I,
    TREE_I_W,
    W_ACC,
    W_BODY,
    W_CALL,
    W_COL,
    W_CORRECT,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    M,
)
from dalembert.kernels.coordinates.articulated import add_body_accelerations, eliminate_tree, respond
from dalembert.kernels.coordinates.kinematics import load_angles
from dalembert.kernels.coordinates.tree import displace_tree, move_tree, place_bodies
from dalembert.kernels.coordinates.tree_states import absolute_state
from dalembert.kernels.formulations.invariants import energy_residual
from dalembert.kernels.formulations.moving_frame import add_cut_row, clear, solve_cut_rows, subtract_cut_rows
from dalembert.kernels.mechanics.inertia import mechanical_energy
from dalembert.kernels.mechanics.primitives import constraint_rows


@inline
def unit_quaternions(x, system):
    """Exactly, since functions of theta may take its length for granted."""
    I = system.I
    for b in range(1, I[NB] + 1):
        k = I[TREE_I] + TREE_I_W * b
        if I[k + R_TURN] == QUATERNION:
            store4(x, I[k + R_Q], normalise4(load4(x, I[k + R_Q])))


@inline
def user_value(k, t, system):
    """f_k - f_k(0) at the state in W_CALL, and status."""
    I, F, W = system.I, system.F, system.W
    s = I[W_CALL]
    status = callback(1000 + k, t, system, s)
    return W[s + I[NQ_BODY] + I[NU_BODY] + I[NX] - I[NQ] - I[NU]] - F[I[INVARIANT_F] + k], status


@inline
def user_gradients(k, t, hq, hu, system):
    """W[hq], W[hu] <- df_k/d(dr, dphi_B), df_k/d(v, w_B) by central differences at the state in W_CALL. Status."""
    I, W = system.I, system.W
    h = 6e-6
    for b in range(1, I[NB] + 1):
        body = I[BODY_I] + BODY_I_W * b
        q, u = I[W_CALL] + I[body + B_Q], I[W_CALL] + I[NQ_BODY] + I[body + B_U]
        rigid = I[body + B_KIND] == RIGID
        theta = load4(W, q + 3) if rigid else (1.0, 0.0, 0.0, 0.0)
        for i in range(12):
            c = i % 6
            at, out = (q if i < 6 else u) + c, (hq if i < 6 else hu) + 6 * b + c
            W[out] = 0.0
            if c >= 3 and not rigid:
                continue
            value = W[at]
            for sign in (1.0, -1.0):
                W[at] = value + sign * h
                if 3 <= i < 6:
                    d = sign * h
                    e = (d if i == 3 else 0.0, d if i == 4 else 0.0, d if i == 5 else 0.0)
                    store4(W, q + 3, normalise4(add4(theta, euler_parameter_rates(theta, e))))
                f, status = user_value(k, t, system)
                if status != OK:
                    return status
                W[out] += sign * f / (2.0 * h)
            W[at] = value
            if 3 <= i < 6:
                store4(W, q + 3, theta)
    return OK


@inline
def add4(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]


@flat
def energy_gradients(t, hq, hu, system):
    """W[hq] <- -(conservative wrenches), W[hu] <- (m v, J w_B)"""
    I, F, W = system.I, system.F, system.W
    gravity = load3(F, GRAVITY_X)
    for b in range(I[NB] + 1):
        m, body = I[MASS_F] + METRIC_W * b, I[W_BODY] + STATE_W * b
        store3(W, I[W_H] + 6 * b, scale3(F[m + MM], gravity))
        store3(W, I[W_H] + 6 * b + 3, (0.0, 0.0, 0.0))
        store3(W, hu + 6 * b, scale3(F[m + MM], load3(W, body + S_V)))
        store3(W, hu + 6 * b + 3, sym_mul(load6(F, m + MJ), load3(W, body + S_W)))
    forces(CONSERVATIVE, t, system)
    for i in range(6 * (I[NB] + 1)):
        W[hq + i] = -W[I[W_H] + i]


@inline
def put_columns(d, system):
    """The columns' accelerations <- W[d], as `displace_tree` takes them."""
    I, W = system.I, system.W
    for c in range(I[NU]):
        W[I[W_COL] + COL_W * c + K_ACC] = W[d + c]


@flat
def change_along(t, x, dx, d, c, rows, keep, system):
    """W[c] <- change of all twists, W[rows] <- of G u + g_t per unit of the displacement W[d], u held. Poses are lost."""
    I, W = system.I, system.W
    n, m = 6 * (I[NB] + 1), I[M]
    largest = 0.0
    for i in range(I[NU]):
        largest = max(largest, abs(W[d + i]))
    step = 1e-5 / largest if largest > 0.0 else 0.0
    for i in range(n):
        W[c + i] = 0.0
    for i in range(m):
        W[rows + i] = 0.0
    for i in range(I[NQ]):
        W[keep + i] = x[i]
    for side in range(2 if largest > 0.0 else 0):
        scale = step if side == 0 else -step
        put_columns(d, system)
        displace_tree(0, x, scale, system)
        move_tree(x, dx, system)
        place_bodies(x, system)
        for b in range(1, I[NB] + 1):
            twist = I[W_BODY] + STATE_W * b + S_V
            for i in range(6):
                W[c + 6 * b + i] += W[twist + i] / (2.0 * scale)
        if m > 0:
            forces(MOTIONS, t, system)
            constraint_rows(system)
            for i in range(m):
                W[I[W_RHS] + i] = -W[I[W_GT] + i]
            subtract_cut_rows(I[W_BODY] + S_V, STATE_W, I[W_RHS], system)
            for i in range(m):
                W[rows + i] -= W[I[W_RHS] + i] / (2.0 * scale)
        for i in range(I[NQ]):
            x[i] = W[keep + i]


@inline
def respond_to_wrenches(system):
    """Columns and W_ACC <- response of the tree at rest to W_H."""
    I = system.I
    respond(I[W_H], I[W_COL] + K_ACC, system)
    clear(I[W_ACC], system)
    add_body_accelerations(I[W_ACC], 0.0, system)


@flat
def newton_direction(t, x, dx, hq, hu, system):
    """W[d], W[d + nu] <- dq and du from the gradients W[hq] and W[hu]; returns (slope, d)."""
    I, F, W = system.I, system.F, system.W
    n, m, nu = 6 * (I[NB] + 1), I[M], I[NU]
    c = hu + n
    rows = c + n
    d = rows + m
    keep = d + 2 * nu
    slope = 0.0
    for i in range(n):
        W[I[W_H] + i] = W[hq + i]
    for i in range(m):
        W[rows + i] = 0.0
    for part in range(2):
        if m > 0:
            forces(MOTIONS, t, system)
            constraint_rows(system)
        eliminate_tree(system)
        respond_to_wrenches(system)
        if m > 0:
            for i in range(m):
                W[I[W_RHS] + i] = -W[rows + i]
            subtract_cut_rows(I[W_ACC], 6, I[W_RHS], system)
            solve_cut_rows(I[W_RHS], system)
            for i in range(m):
                add_cut_row(i, W[I[W_RHS] + i], I[W_H], system)
            respond_to_wrenches(system)
        for i in range(6, n):
            slope += W[(hq if part == 0 else hu) + i] * W[I[W_ACC] + i]
        for i in range(nu):
            W[d + nu * part + i] = W[I[W_COL] + COL_W * i + K_ACC]
        if part == 0:
            change_along(t, x, dx, d, c, rows, keep, system)
            move_tree(x, dx, system)
            place_bodies(x, system)
            for b in range(1, I[NB] + 1):
                k = I[MASS_F] + METRIC_W * b
                v, w = load3(W, c + 6 * b), load3(W, c + 6 * b + 3)
                store3(W, I[W_H] + 6 * b, axpy3(-F[k + MM], v, load3(W, hu + 6 * b)))
                store3(W, I[W_H] + 6 * b + 3, sub3(load3(W, hu + 6 * b + 3), sym_mul(load6(F, k + MJ), w)))
    for i in range(6, n):
        slope += W[hu + i] * W[c + i]
    return slope, d


@kernel
def correct_tree_invariants(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the cut joints must be projected again, OK when all hold."""
    I, F, W = system.I, system.F, system.W
    hq = I[W_CORRECT]
    hu = hq + 6 * (I[NB] + 1)
    moved = 0
    unit_quaternions(x, system)
    for k in range(-I[ENERGY], I[NINVARIANT]):  # -1 is the energy
        move_tree(x, dx, system)
        place_bodies(x, system)
        load_angles(x, system)
        status = OK
        if k < 0:
            f, scale = energy_residual(t, x, system)
        else:
            absolute_state(x, system)
            f, status = user_value(k, t, system)
            scale = max(1.0, abs(F[I[INVARIANT_F] + k]))
        if status != OK:
            return status
        if not np.isfinite(f):
            return NON_FINITE
        if abs(f) <= F[TOL_INVARIANT] * scale:
            continue
        W[I[W_STAT] + N_DINV] += 1.0
        T, _ = mechanical_energy(system)
        if k < 0:
            energy_gradients(t, hq, hu, system)
        else:
            status = user_gradients(k, t, hq, hu, system)
            if status != OK:
                return status
        slope, d = newton_direction(t, x, dx, hq, hu, system)
        # the step has the size |f| / sqrt(slope) in the kinetic norm: a hundredth of the state or more means a stationary
        # point, where no admissible direction changes f; the report shows what is left
        if 1e-4 * slope * (1.0 + T) <= f * f:
            continue
        for level in range(2):
            put_columns(d + I[NU] * level, system)
            displace_tree(level, x, -f / slope, system)
        moved += 1
    return MOVED if moved > 0 else OK
