"""Return to an invariant, f_inv = 0, along its gradient [JetMultibody, (5.5)].

    energy   f = T + U - W_ext - E_0          gradient in q: -(conservative wrench), in u: M u
    user     f(t, q, u) - f_0                 gradient by central differences in (dr, dphi_B) and (v, w_B)

Deviation: the gradient is that of f on the constraints: with G dq = 0 and the velocities that follow q (second derivatives
of g), so that Newton's method converges quadratically. In the whole space it does not, and may settle elsewhere.

W_ext is integrated with the state. Deviation: [JetMultibody] uses the trapezoidal rule, which is O(h^2) and would then be
enforced (errata).
"""

import numpy as np

from dalembert.kernels.base.algebra import load3, load6, scale3, store3, sym_mul
from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.slots import callback, forces
from dalembert.kernels.base.tables import (
    BENDS,
    CALLBACK_FAILED,
    CONSERVATIVE,
    ENERGY,
    ENERGY_0,
    ENERGY_SCALE,
    GRAVITY_X,
    INVARIANT_F,
    MASS_F,
    METRIC_W,
    MJ,
    MM,
    MOTIONS,
    MOVED,
    N_D2G,
    N_DINV,
    NB,
    NHUB,
    NINVARIANT,
    NON_FINITE,
    NQ,
    NU,
    NX,
    OK,
    POTENTIAL,
    POWER,
    S_V,
    S_W,
    STATE_W,
    TOL_INVARIANT,
    W_BODY,
    W_CALL,
    W_H,
    W_RHS,
    W_STAT,
    W_WORK,
    M,
)
from dalembert.kernels.base.views import Twists, Wrenches
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses
from dalembert.kernels.coordinates.solve import (
    add_rows_transposed,
    apply_inverse_metric,
    assemble_blocks,
    back_solve,
    factor,
    pull_back_rows,
    subtract_row_products,
)
from dalembert.kernels.mechanics.inertia import mechanical_energy, pull_back
from dalembert.kernels.mechanics.primitives import constraint_rows, velocity_gradient_rows


@flat
def energy_residual(t, x, system):
    """T + U - W_ext - E_0 at the poses and angles in W, and the largest of the terms, which sets its rounding."""
    I, F, W = system.I, system.F, system.W
    forces(POTENTIAL, t, system)
    T, U = mechanical_energy(system)
    U, work = U + W[I[W_STAT] + POWER], x[I[NQ] + I[NU]]
    return T + U - work - F[ENERGY_0], max(F[ENERGY_SCALE], T, abs(U), abs(work))


@flat
def energy_gradient(t, gq, gu, system):
    """W[gq] <- dU/dq (minus the conservative wrench), W[gu] <- M u, 6 numbers per body."""
    I, F, W = system.I, system.F, system.W
    gravity = load3(F, GRAVITY_X)
    for b in range(I[NB] + 1):
        m, s = I[MASS_F] + METRIC_W * b, I[W_BODY] + STATE_W * b
        store3(W, I[W_H] + 6 * b, scale3(F[m + MM], gravity))
        store3(W, I[W_H] + 6 * b + 3, (0.0, 0.0, 0.0))
        store3(W, gu + 6 * b, scale3(F[m + MM], load3(W, s + S_V)))
        store3(W, gu + 6 * b + 3, sym_mul(load6(F, m + MJ), load3(W, s + S_W)))
    forces(CONSERVATIVE, t, system)
    for b in range(1, I[NB] + 1):
        pull_back(system.wrenches[b], system.bodies[b], system.plane)
        for i in range(6):
            W[gq + 6 * b + i] = -W[I[W_H] + 6 * b + i]


@inline
def user_residual(k, t, x, system):
    """f_k(t, q, u) - f_k(0) and status."""
    I, F, W = system.I, system.F, system.W
    s = I[W_CALL]
    for i in range(I[NX]):
        W[s + i] = x[i]
    status = callback(1000 + k, t, system, s)
    return W[s + I[NX]] - F[I[INVARIANT_F] + k], status


@inline
def user_gradient(k, t, x, gq, gu, system):
    """Central differences; the copy of x lives at the end of W_WORK, one displacement in the last 6 (NB + 1) numbers."""
    I, W = system.I, system.W
    n = 6 * (I[NB] + 1)
    d = I[W_WORK] + 2 * n
    keep = d + n
    for i in range(I[NX]):
        W[keep + i] = x[i]
    for i in range(n):
        W[d + i] = 0.0
    h = 6e-6
    for c in range(6, n):
        W[d + c] = 1.0
        for part in range(2):
            values = 0.0
            for sign in (1.0, -1.0):
                displace(part, x, Twists(system.W, d), sign * h, system)
                value, status = user_residual(k, t, x, system)
                values += sign * value
                for i in range(I[NX]):
                    x[i] = W[keep + i]
                if status != OK:
                    return CALLBACK_FAILED
            W[(gq if part == 0 else gu) + c] = values / (2.0 * h)
        W[d + c] = 0.0
    for b in range(1, I[NB] + 1):
        pull_back(Wrenches(W, gq)[b], system.bodies[b], system.plane)
        pull_back(Wrenches(W, gu)[b], system.bodies[b], system.plane)
    return OK


@inline
def state_size(x, system):
    """1 + |u|^2"""
    I = system.I
    size = 1.0
    for i in range(I[NQ], I[NQ] + I[NU]):
        size += x[i] * x[i]
    return size


@flat
def tangent_step(g, system):
    """W[g] <- P W^-1 gradient, P = I - W^-1 A^T S^-1 A; returns gradient . step. Blocks are factored, W_Y holds A W^-1."""
    I, W = system.I, system.W
    n, d = 6 * (I[NB] + 1), I[W_H]
    apply_inverse_metric(system.metrics, Wrenches(system.W, g), Twists(system.W, d), system)
    for i in range(I[M] + 6 * I[NHUB]):
        W[I[W_RHS] + i] = 0.0
    subtract_row_products(system.Y, Twists(system.W, g), system.rhs, False, system)
    back_solve(system)
    add_rows_transposed(system.Y, system.rhs, Twists(system.W, d), system)
    slope = 0.0
    for i in range(6, n):
        slope += W[g + i] * W[d + i]
        W[g + i] = W[d + i]
    return slope


@flat
def newton_direction(t, gq, gu, system):
    """W[gq], W[gu] <- direction on the constraints along which f falls fastest, from its gradients; returns the slope.

    G dq = 0 and G du + B dq = 0 with B = d(G u + g_t)/dq: velocities follow q, which changes f to first order as well.
    """
    I, W = system.I, system.W
    slope = tangent_step(gu, system)  # leaves y = -S^-1 A W^-1 gu in W_RHS
    velocity_gradient_rows(system.A, system)  # B takes the place of A
    forces(BENDS, t, system)
    pull_back_rows(system.A, system)
    W[I[W_STAT] + N_D2G] += 1.0
    add_rows_transposed(system.A, system.rhs, Twists(system.W, gq), system)
    slope += tangent_step(gq, system)
    for i in range(I[M] + 6 * I[NHUB]):
        W[I[W_RHS] + i] = 0.0
    subtract_row_products(system.A, Twists(system.W, gq), system.rhs, False, system)
    back_solve(system)
    add_rows_transposed(system.Y, system.rhs, Twists(system.W, gu), system)
    return slope


@kernel
def correct_invariants(mode, t, x, dx, system):
    """One Newton step per invariant: MOVED when the constraints must be projected again, OK when all hold."""
    I, F, W = system.I, system.F, system.W
    n = 6 * (I[NB] + 1)
    gq, gu = I[W_WORK], I[W_WORK] + n
    moved = 0
    for k in range(-I[ENERGY], I[NINVARIANT]):  # -1 is the energy
        load_poses(x, system)
        load_angles(x, system)
        if k < 0:
            f, scale = energy_residual(t, x, system)
            status = OK
        else:
            f, status = user_residual(k, t, x, system)
            scale = max(1.0, abs(F[I[INVARIANT_F] + k]))
        if status != OK:
            return status
        if not np.isfinite(f):
            return NON_FINITE
        if abs(f) <= F[TOL_INVARIANT] * scale:
            continue
        W[I[W_STAT] + N_DINV] += 1.0
        if k < 0:
            energy_gradient(t, gq, gu, system)
        else:
            status = user_gradient(k, t, x, gq, gu, system)
            if status != OK:
                return status
            load_poses(x, system)
        forces(MOTIONS, t, system)
        constraint_rows(system)
        pull_back_rows(system.A, system)
        assemble_blocks(system.metrics, system)
        factor(1, system)
        slope = newton_direction(t, gq, gu, system)
        # the step has the length |f| / sqrt(slope): a hundredth of the state or more means a stationary point, where no
        # admissible direction changes f; the report shows what is left
        if 1e-4 * slope * state_size(x, system) <= f * f:
            continue
        displace(0, x, Twists(system.W, gq), -f / slope, system)
        displace(1, x, Twists(system.W, gu), -f / slope, system)
        moved += 1
    return MOVED if moved > 0 else OK
