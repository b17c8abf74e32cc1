"""One step of a discrete Lagrange-d'Alembert integrator for bodies on R^3 x S^3 [Variational, 4-7], by Newton's method.

A body moves from q_k to q_k+1 with the constant twist xi = (v, w_B): r + s v, theta exp(s w_B), so |theta| = 1 without effort;
planar bodies and point masses likewise. Nodes c_i and weights b_i of a quadrature give L_h and the virtual work of forces:

    L_h = h/2 xi . M xi - h sum b_i U(q_i),   q_i = q_k (+) c_i h xi,   x = h w_B
    y  = M xi + S,   S = h sum b_i c_i dexp_{c_i x} f_i,   E = h sum b_i exp(c_i x) f_i,   f_i : wrench at (q_i, xi), body axes
    p_k + A(q_k)^T lam = dexp_{-x}^-1 y - E            -D1 L_h - f^-
    p_k+1 = dexp_x^-1 y                                 D2 L_h + f^+

(translations: dexp and exp are 1). Rows must vanish in the mean along the curve. Holonomic ones then hold at q_k+1 for any
curve; nonholonomic ones are integrated by four Gauss nodes, error (h w)^8 / 2e9:

    g(q_k+1, t_k+1) = 0,       int_0^h (Gamma xi + gamma_t) ds = 0

For rolling on a plane at rest, where Gamma depends on the rotation alone, this is the end of the curve that turns with constant
w_B and obeys the constraint at every instant: [Variational, (72)]. Other curves that obey it, as that of a skate, end O(h^3)
away. At the nodes p = M u + A^T mu with A u + b = 0 makes momenta and velocities the same thing. Unknowns xi, lam.

Deviation: S^3 by its exponential instead of an additional row (66) in R^4. The matrix is exact but for force elements, which
know no derivatives: there differences; the solution does not depend on them.
"""

import numpy as np

from dalembert.kernels.base.algebra import (
    add3,
    add_to3,
    dot6,
    load3,
    load6,
    scale3,
    store3,
    sub3,
    sym_mul,
)
from dalembert.kernels.base.compiler import flat, inline, light
from dalembert.kernels.base.dense import factor_general, solve_general
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    BENDS,
    E_A,
    E_BODY,
    E_N,
    E_ROW,
    FLOW_F,
    GRAVITY_X,
    H_COUNT,
    H_IDLE,
    INC_I,
    INC_I_W,
    MASS_F,
    MAX_NEWTON,
    METRIC_W,
    MJ,
    MM,
    MOTIONS,
    N_FACTOR,
    N_NEWTON,
    N_NEWTON_MAX,
    N_PROJECT,
    NB,
    NCHOICE,
    NFORCE,
    NINC,
    NODES,
    NON_FINITE,
    NQ,
    NU,
    NVELOCITY,
    OK,
    POSITIONS,
    POWER,
    STAGES_FAILED,
    STEP,
    W_A,
    W_CHOICE,
    W_G,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    W_SYSTEM,
    WRENCH,
    M,
)
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.exponential import (
    dexp,
    dexp_inverse,
    dexp_inverse_change,
    turned,
)
from dalembert.kernels.coordinates.kinematics import displace, load_angles, load_poses
from dalembert.kernels.coordinates.solve import (
    apply_inverse_metric,
    assemble_blocks,
    factor,
    metric_correction,
    pull_back_rows,
    velocity_residual,
)
from dalembert.kernels.formulations.constant_twist import add_components, direction, freedoms, momentum_along, move, twist
from dalembert.kernels.formulations.jet import jet
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.mechanics.inertia import pull_back_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows

MEAN = 4  # Gauss nodes along a step for nonholonomic rows


@inline
def layout(system):
    """Where things lie in W_SYSTEM behind the matrix: residual, unknowns, pivots, A_k, b_k; per body p_k, S, E, spares."""
    I = system.I
    N, bodies = I[NU] + I[M], 6 * (I[NB] + 1)
    r = I[W_SYSTEM] + N * N
    A_k = r + 4 * N
    b_k = A_k + I[NU] * I[M]
    p = b_k + I[M]
    return r, r + N, r + 2 * N, A_k, b_k, p, p + bodies, p + 2 * bodies, p + 3 * bodies


@inline
def force_terms(t, h, x, z, S, E, y, system):
    """W[S], W[E] <- S and E, 6 numbers per body; status, work of the forces."""
    I, F, W = system.I, system.F, system.W
    status, work, count, gravity = OK, 0.0, I[NODES], load3(F, GRAVITY_X)
    for i in range(6 * (I[NB] + 1)):
        W[S + i], W[E + i] = 0.0, 0.0
    for k in range(count):
        c, weight = F[I[FLOW_F] + k], h * F[I[FLOW_F] + count + k]
        move(c * h, x, z, y, system)
        load_angles(y, system)
        for b in range(I[NB] + 1):
            store3(W, I[W_H] + 6 * b, scale3(F[I[MASS_F] + METRIC_W * b + MM], gravity))
            store3(W, I[W_H] + 6 * b + 3, (0.0, 0.0, 0.0))
        seen = forces(WRENCH, t + c * h, system)
        status = seen if status == OK else status
        pull_back_wrenches(system)
        work += weight * W[I[W_STAT] + POWER]
        for b in range(1, I[NB] + 1):
            f, torque, a = load3(W, I[W_H] + 6 * b), load3(W, I[W_H] + 6 * b + 3), scale3(c * h, twist(b, system)[1])
            add_to3(W, S + 6 * b, scale3(weight * c, f))
            add_to3(W, E + 6 * b, scale3(weight, f))
            add_to3(W, S + 6 * b + 3, scale3(weight * c, dexp(a, torque)))
            add_to3(W, E + 6 * b + 3, scale3(weight, turned(a, torque)))
    return status, work


@flat
def balance(h, differentiate, system):
    """Rows 0..nu-1: minus (dexp_{-x}^-1 y - E - p_k - A_k^T lam), and their derivatives without those of S and E."""
    I, F, W = system.I, system.F, system.W
    nu, m, N, A = I[NU], I[M], I[NU] + I[M], I[W_SYSTEM]
    r, z, _, A_k, _, p, S, E, _ = layout(system)
    for j in range(nu):
        s = 0.0
        for i in range(m):
            s += W[A_k + nu * i + j] * W[z + nu + i]
            if differentiate:
                W[A + N * j + nu + i] = -W[A_k + nu * i + j]
        W[r + j] = s
    for b in range(1, I[NB] + 1):
        y_v, y_w = momentum_along(b, S, system)
        x = scale3(-h, twist(b, system)[1])
        left_v = sub3(add3(load3(W, p + 6 * b), load3(W, E + 6 * b)), y_v)
        left_w = sub3(add3(load3(W, p + 6 * b + 3), load3(W, E + 6 * b + 3)), dexp_inverse(x, y_w))
        add_components(r, 1, 1.0, left_v, left_w, b, system)
        if differentiate:
            first, count = freedoms(b, system)
            mass, J = F[I[MASS_F] + METRIC_W * b + MM], load6(F, I[MASS_F] + METRIC_W * b + MJ)
            for c in range(count):
                d_v, d_w = direction(b, c, system)
                change = add3(dexp_inverse(x, sym_mul(J, d_w)), dexp_inverse_change(x, y_w, scale3(-h, d_w)))
                add_components(A + first + c, N, 1.0, scale3(mass, d_v), change, b, system)


@flat
def differentiate_forces(t, h, x, y, system):
    """Adds dexp_{-x}^-1 dS - dE to the matrix, by forward differences over xi."""
    I, W = system.I, system.W
    nu, N, A = I[NU], I[NU] + I[M], I[W_SYSTEM]
    _, z, _, _, _, _, S, E, spare = layout(system)
    other, status = spare + 6 * (I[NB] + 1), OK
    for j in range(nu):
        kept = W[z + j]
        W[z + j] = kept + 1.5e-8 * max(1.0, abs(kept))
        inverse = 1.0 / (W[z + j] - kept)
        status, _ = force_terms(t, h, x, z, spare, other, y, system)
        W[z + j] = kept
        if status != OK:
            break
        for b in range(1, I[NB] + 1):
            turn = scale3(-h, twist(b, system)[1])
            d_v = sub3(sub3(load3(W, spare + 6 * b), load3(W, S + 6 * b)), sub3(load3(W, other + 6 * b), load3(W, E + 6 * b)))
            d_S = sub3(load3(W, spare + 6 * b + 3), load3(W, S + 6 * b + 3))
            d_E = sub3(load3(W, other + 6 * b + 3), load3(W, E + 6 * b + 3))
            add_components(A + j, N, inverse, d_v, sub3(dexp_inverse(turn, d_S), d_E), b, system)
    return status


@inline
def add_rows(velocity, scale, along, s, differentiate, system):
    """Rows of W_A that are (or are not) of velocities: residual += -scale A xi where `along` is 0; matrix += scale A d, with d
    the change of xi (along 0) or of the pose after s (along 1) by a unit of xi."""
    I, F, W = system.I, system.F, system.W
    nu, N, A = I[NU], I[NU] + I[M], I[W_SYSTEM]
    r = A + N * N + nu
    flags = I[FLOW_F] + 2 * I[NODES] + 2 * MEAN
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        b = I[k + E_BODY]
        first, count = freedoms(b, system)
        v, w = twist(b, system)
        turn = scale3(-s, w)
        for i in range(I[k + E_N]):
            row = I[k + E_ROW] + i
            if F[flags + row] != velocity:
                continue
            a = load6(W, I[W_A] + I[k + E_A] + 6 * i)
            if velocity == 1.0 and along == 0:
                W[r + row] -= scale * dot6(a, v + w)
            for c in range(count if differentiate else 0):
                d_v, d_w = direction(b, c, system)
                if along == 1:
                    d_w = dexp(turn, d_w)
                W[A + N * (nu + row) + first + c] += scale * dot6(a, d_v + d_w)


@flat
def mean_rows(t, h, differentiate, x, y, system):
    """Rows nu..: minus the mean of g' along the curve: g(q_k+1) / h, the mean of Gamma xi + gamma_t by Gauss nodes."""
    I, F, W = system.I, system.F, system.W
    nu, m, flags = I[NU], I[M], I[FLOW_F] + 2 * I[NODES] + 2 * MEAN
    r, z = layout(system)[0], layout(system)[1]
    move(h, x, z, y, system)
    forces(POSITIONS, t + h, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    for i in range(m):
        W[r + nu + i] = 0.0 if F[flags + i] == 1.0 else -W[I[W_G] + i] / h
    add_rows(0.0, 1.0, 1, h, differentiate, system)
    for k in range(MEAN if I[NVELOCITY] > 0 else 0):
        c, weight = F[flags - 2 * MEAN + k], F[flags - MEAN + k]
        move(c * h, x, z, y, system)
        forces(MOTIONS, t + c * h, system)
        pull_back_rows(system.A, system)
        for i in range(m):
            W[r + nu + i] -= weight * W[I[W_GT] + i] * F[flags + i]
        add_rows(1.0, weight, 0, c * h, differentiate, system)
        if differentiate:
            forces(BENDS, t + c * h, system)
            pull_back_rows(system.A, system)
            add_rows(1.0, weight * c * h, 1, c * h, differentiate, system)
    silence(Numbers(system.W, r + nu), 0.0, system)
    for i in range(m if differentiate and I[NCHOICE] > 0 else 0):  # idle rows have the multiplier 0
        if W[I[W_CHOICE] + H_IDLE + i] != 0.0:
            row = I[W_SYSTEM] + (nu + m) * (nu + i)
            for j in range(nu):
                W[row + j] = 0.0
            W[row + nu + i] = 1.0


@flat
def load_node(t, x, system):
    """p_k = M u, A_k, b_k, and the first guess: xi = u, lam = 0."""
    I, W = system.I, system.W
    nu = I[NU]
    _, z, _, A_k, b_k, p, S, _, _ = layout(system)
    for j in range(nu):
        W[z + j] = x[I[NQ] + j]
    for i in range(6 * (I[NB] + 1)):
        W[S + i] = 0.0
    load_poses(x, system)
    for b in range(1, I[NB] + 1):
        p_v, p_w = momentum_along(b, S, system)
        store3(W, p + 6 * b, p_v)
        store3(W, p + 6 * b + 3, p_w)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    if I[NCHOICE] > 0 and W[I[W_CHOICE] + H_COUNT] == 0.0:
        assemble_blocks(system.masses, system)
        factor(0, system)
    for i in range(I[M]):
        W[z + nu + i], W[b_k + i] = 0.0, W[I[W_GT] + i]
    for i in range(I[M] * nu):
        W[A_k + i] = 0.0
    for e in range(I[NINC]):
        k = I[INC_I] + INC_I_W * e
        for i in range(I[k + E_N]):
            a = I[W_A] + I[k + E_A] + 6 * i
            row = A_k + nu * (I[k + E_ROW] + i)
            add_components(row, 1, 1.0, load3(W, a), load3(W, a + 3), I[k + E_BODY], system)


@flat
def solve_step(t, h, x, y, system):
    """Newton's method, its matrix kept while it contracts; status, work of the forces."""
    I, W = system.I, system.W
    nu, N, A = I[NU], I[NU] + I[M], I[W_SYSTEM]
    r, z, pivots, _, _, _, S, E, _ = layout(system)
    before, fresh, status, floor, work = 1e300, True, STAGES_FAILED, 0.0, 0.0
    for j in range(I[NQ]):  # a velocity that moves q by its rounding
        floor = max(floor, abs(x[j] / h))
    for iteration in range(I[MAX_NEWTON]):
        seen, work = force_terms(t, h, x, z, S, E, y, system)
        if fresh:
            for i in range(N * N):
                W[A + i] = 0.0
        balance(h, fresh, system)
        if fresh and I[NFORCE] > 0 and seen == OK:
            seen = differentiate_forces(t, h, x, y, system)
        if seen != OK:
            return seen, work
        mean_rows(t, h, fresh, x, y, system)
        if fresh:
            factor_general(Numbers(W, A), N, 0, Numbers(W, pivots))
            W[I[W_STAT] + N_FACTOR] += 1.0
        solve_general(Numbers(W, A), N, Numbers(W, pivots), Numbers(W, r))
        change, size = 0.0, floor
        for i in range(N):
            W[z + i] += W[r + i]
            if not np.isfinite(W[z + i]):
                return NON_FINITE, work
            if i < nu:
                change, size = max(change, abs(W[r + i])), max(size, abs(W[z + i]))
        stalled = iteration > 0 and change > 0.3 * before and change <= 1e-10 * size
        if change <= 1e-16 * size or stalled:
            W[I[W_STAT] + N_NEWTON] += iteration + 1
            W[I[W_STAT] + N_NEWTON_MAX] = max(W[I[W_STAT] + N_NEWTON_MAX], iteration + 1.0)
            status = OK
            break
        fresh = change > 1e-5 * size
        before = change
    return status, work


@flat
def store_node(t, h, work, x, y, system):
    """x <- (q_k+1, u from p_k+1, work, angles)."""
    I, W = system.I, system.W
    nq, nu = I[NQ], I[NU]
    _, z, _, _, b_k, _, S, _, minus_p = layout(system)
    move(h, x, z, y, system)
    for b in range(1, I[NB] + 1):
        y_v, y_w = momentum_along(b, S, system)
        store3(W, minus_p + 6 * b, scale3(-1.0, y_v))
        store3(W, minus_p + 6 * b + 3, scale3(-1.0, dexp_inverse(scale3(h, twist(b, system)[1]), y_w)))
    for i in range(nq):
        x[i] = y[i]
    for i in range(nu):
        x[nq + i] = 0.0
    for _ in range(2):  # u += M^-1 (p - M u); once alone, the rounding of M^-1 would act with the same sign in every step
        load_poses(x, system)
        for b in range(1, I[NB] + 1):
            p_v, p_w = momentum_along(b, minus_p, system)
            store3(W, I[W_H] + 6 * b, scale3(-1.0, p_v))
            store3(W, I[W_H] + 6 * b + 3, scale3(-1.0, p_w))
        apply_inverse_metric(system.masses, system.wrenches, system.accelerations, system)
        displace(1, x, system.accelerations, 1.0, system)
    load_poses(x, system)
    for i in range(I[M]):
        work -= W[z + nu + i] * W[b_k + i]
    forces(MOTIONS, t + h, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    assemble_blocks(system.masses, system)
    factor(0, system)
    for _ in range(2):  # the second time removes what rounding left
        velocity_residual(system.rhs, system)
        metric_correction(system.accelerations, system)
        displace(1, x, system.accelerations, 1.0, system)
        load_poses(x, system)
        for i in range(I[M]):
            work -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    x[nq + nu] += work
    snap_angles(x, system)


@light
def variational_bodies(mode, t, x, dx, system):
    """STEP: x <- after a step of dx[0], dx is lost. Else as `jet`."""
    I, W = system.I, system.W
    if mode != STEP:
        return jet(mode, t, x, dx, system)
    h = dx[0]
    W[I[W_STAT] + N_PROJECT] += 1.0
    load_node(t, x, system)
    status, work = solve_step(t, h, x, dx, system)
    if status == OK:
        store_node(t, h, work, x, dx, system)
        watch_rows(t + h, system)
    return status
