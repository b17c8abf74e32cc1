"""The right-hand side of minimal coordinates: Maggi's equations in a basis fixed during a step [QRContinuation, 2.2-2.3].

    V = P Z                       Z the basis at the start of the step, P onto null(G) at this configuration
    s' = Z^T W u                  the independent velocities
    u^ = V (Z^T W V)^-1 (s' - Z^T W p') + p',   p'  = -G^+ g_t                                 (9)-(11)
    u' = V y + p'',               p'' = -G^+ zeta(u^),   V^T M V y = V^T (h(u^) - M p'')       (12)-(15)

No multipliers. u^ is the one velocity with G u^ + g_t = 0 and Z^T W u^ = s', so a stage meets the velocity constraints exactly
and depends on q and s' alone: an ordinary differential equation on the constraints, whatever the Runge-Kutta method.
Deviation: V follows the configuration within a step, where (15) takes the basis at a step's start; with that every method of
order above one would lose its order.
"""

import numpy as np

from dalembert.kernels.base.algebra import (
    axpy3,
    dot3,
    euler_parameter_rates,
    load3,
    load4,
    load6,
    scale3,
    store3,
    store4,
    sym_mul,
)
from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import dense_cholesky, solve_with_factor
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import (
    ANGLE_I,
    ANGLE_I_W,
    B_KIND,
    B_Q,
    BENDS,
    BF_NORMAL,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    G_X,
    MASS_F,
    METRIC_F,
    METRIC_W,
    MINIMAL_I,
    MJ,
    MJ_INV,
    MM,
    MM_INV,
    MOTIONS,
    N_RHS,
    NANGLE,
    NB,
    NMOTION,
    NON_FINITE,
    NQ,
    NTRACED,
    NU,
    PLANAR,
    PLANE_F,
    POWER,
    RIGID,
    S_V,
    S_W,
    STATE_W,
    W_ACC,
    W_ANGLE,
    W_BODY,
    W_GT,
    W_H,
    W_RHS,
    W_STAT,
    W_WORK,
    WRENCH,
    Z_BASIS,
    Z_CARRY,
    Z_COLUMNS,
    Z_DOF,
    Z_ORDER,
    Z_PASS,
    Z_ROWS,
    Z_S,
    Z_SMALL,
    Z_WEIGHT,
    M,
)
from dalembert.kernels.base.views import Numbers, Rows, Twists
from dalembert.kernels.coordinates.kinematics import load_angles, load_poses
from dalembert.kernels.coordinates.solve import (
    assemble_blocks,
    back_solve,
    factor,
    pull_back_rows,
    subtract_row_products,
    weakest_row,
)
from dalembert.kernels.formulations.tangent_space import (
    clear_rows,
    gather,
    inner,
    project_tangent,
    smallest_solution,
    spread,
    turning,
)
from dalembert.kernels.mechanics.inertia import gravity_and_gyroscopic, pull_back_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows, velocity_gradient_rows

POOR = 0.05  # smallest pivot below which every projection is done twice, where singular configurations are passed


@inline
def solve_small(A, c, n, W):
    """W[c] <- A^-1 W[c] for the n x n matrix at W[A], positive definite, lower triangle given; its diagonal is kept aside."""
    for i in range(n):
        W[A + n * n + i] = W[A + n * i + i]
    dense_cholesky(Numbers(W, A), n, Numbers(W, A + n * n), 1e-13)
    solve_with_factor(Numbers(W, A), Numbers(W, c), n)


@flat
def admissible_twists(passes, x, system):
    """Columns <- V, twists in W_BODY <- u^."""
    I, F, W = system.I, system.F, system.W
    k = I[MINIMAL_I]
    n, f, nq, weight = I[NU], I[k + Z_DOF], I[NQ], I[k + Z_WEIGHT]
    nb6, V, C = 6 * (I[NB] + 1), I[k + Z_COLUMNS], I[k + Z_SMALL]
    c, p = C + f * f + f, I[W_ACC]
    moving = I[NMOTION] + I[NTRACED] > 0
    if moving:
        smallest_solution(passes, system.g_t, Twists(system.W, p), system)
    for j in range(f):
        z, v = I[k + Z_BASIS] + n * j, V + nb6 * j
        s = 0.0
        for i in range(n):
            s += x[z + i] * F[weight + i] * x[nq + i]
        W[c + j] = s
        spread(x, z, Twists(system.W, v), system)
        if moving:
            W[c + j] -= inner(Twists(system.W, v), Twists(system.W, p), system)
        project_tangent(passes, Twists(system.W, v), system)
        for i in range(j + 1):
            W[C + f * j + i] = inner(Twists(system.W, V + nb6 * i), Twists(system.W, v), system)
    solve_small(C, c, f, W)
    for b in range(1, I[NB] + 1):
        linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if moving:
            linear, angular = load3(W, p + 6 * b), load3(W, p + 6 * b + 3)
        for j in range(f):
            v = V + nb6 * j + 6 * b
            linear, angular = axpy3(W[c + j], load3(W, v), linear), axpy3(W[c + j], load3(W, v + 3), angular)
        store3(W, I[W_BODY] + STATE_W * b + S_V, linear)
        store3(W, I[W_BODY] + STATE_W * b + S_W, angular)


@flat
def reduced_accelerations(passes, system):
    """W_ACC <- u' from h, zeta and the columns V."""
    I, F, W = system.I, system.F, system.W
    k = I[MINIMAL_I]
    f, nb6, V, N = I[k + Z_DOF], 6 * (I[NB] + 1), I[k + Z_COLUMNS], I[k + Z_SMALL]
    c, rest, Mv = N + f * f + f, I[W_WORK], I[W_WORK] + nb6
    smallest_solution(passes, system.zeta, system.accelerations, system)
    for b in range(1, I[NB] + 1):
        m, a, h = I[MASS_F] + METRIC_W * b, I[W_ACC] + 6 * b, I[W_H] + 6 * b
        store3(W, rest + 6 * b, axpy3(-F[m + MM], load3(W, a), load3(W, h)))
        store3(W, rest + 6 * b + 3, axpy3(-1.0, sym_mul(load6(F, m + MJ), load3(W, a + 3)), load3(W, h + 3)))
    for j in range(f):
        v = V + nb6 * j
        s = 0.0
        for b in range(1, I[NB] + 1):
            m, o = I[MASS_F] + METRIC_W * b, 6 * b
            s += dot3(load3(W, v + o), load3(W, rest + o)) + dot3(load3(W, v + o + 3), load3(W, rest + o + 3))
            store3(W, Mv + o, scale3(F[m + MM], load3(W, v + o)))
            store3(W, Mv + o + 3, sym_mul(load6(F, m + MJ), load3(W, v + o + 3)))
        W[c + j] = s
        for i in range(j + 1):
            s = 0.0
            for e in range(6, nb6):
                s += W[V + nb6 * i + e] * W[Mv + e]
            W[N + f * j + i] = s
    solve_small(N, c, f, W)
    for j in range(f):
        for e in range(6, nb6):
            W[I[W_ACC] + e] += W[c + j] * W[V + nb6 * j + e]


@flat
def power_of_moving_constraints(system):
    """-lam . g_t with the multipliers of M u' = h + G^T lam by least squares: G W^-1 G^T lam = G W^-1 (M u' - h)."""
    I, F, W = system.I, system.F, system.W
    clear_rows(system)
    for b in range(1, I[NB] + 1):
        m, w, a, h = I[MASS_F] + METRIC_W * b, I[METRIC_F] + METRIC_W * b, I[W_ACC] + 6 * b, I[W_H] + 6 * b
        force = axpy3(-F[m + MM], load3(W, a), load3(W, h))
        torque = axpy3(-1.0, sym_mul(load6(F, m + MJ), load3(W, a + 3)), load3(W, h + 3))
        store3(W, I[W_WORK] + 6 * b, scale3(F[w + MM_INV], force))
        store3(W, I[W_WORK] + 6 * b + 3, sym_mul(load6(F, w + MJ_INV), torque))
    subtract_row_products(system.A, system.work, system.rhs, False, system)
    back_solve(system)
    s = 0.0
    for i in range(I[M]):
        s -= W[I[W_RHS] + i] * W[I[W_GT] + i]
    return s


@flat
def carry_basis(passes, t, x, dx, system):
    """Rates of the carried basis Y: Y' = -G^+ G' Y [QRContinuation, (27)], and of the coordinates: s' = Y^T W u^."""
    I, W = system.I, system.W
    k = I[MINIMAL_I]
    n, nb6 = I[NU], 6 * (I[NB] + 1)
    velocity_gradient_rows(Rows(system.W, I[k + Z_ROWS]), system)
    forces(BENDS, t, system)
    pull_back_rows(Rows(system.W, I[k + Z_ROWS]), system)
    y, turned, u = I[W_WORK] + nb6, I[k + Z_COLUMNS], I[W_WORK] + 2 * nb6
    for b in range(1, I[NB] + 1):
        for i in range(6):
            W[u + 6 * b + i] = W[I[W_BODY] + STATE_W * b + S_V + i]
    for j in range(I[k + Z_DOF]):
        at = I[k + Z_CARRY] + n * j
        spread(x, at, Twists(system.W, y), system)
        dx[I[k + Z_S] + j] = inner(Twists(system.W, y), Twists(system.W, u), system)
        turning(passes, Twists(system.W, y), Rows(system.W, I[k + Z_ROWS]), Twists(system.W, turned), system)
        gather(Twists(system.W, turned), dx, at, system)


@inline
def store_configuration_rates(x, dx, system):
    """dx_q = N(q) u from the twists in W_BODY."""
    I, F, W = system.I, system.F, system.W
    for b in range(1, I[NB] + 1):
        k, s = I[BODY_I] + BODY_I_W * b, I[W_BODY] + STATE_W * b
        q, kind = I[k + B_Q], I[k + B_KIND]
        v, w = load3(W, s + S_V), load3(W, s + S_W)
        if kind == PLANAR:
            dx[q] = dot3(load3(F, I[PLANE_F]), v)
            dx[q + 1] = dot3(load3(F, I[PLANE_F] + 3), v)
            dx[q + 2] = dot3(load3(F, I[BODY_F] + BODY_F_W * b + BF_NORMAL), w)
        else:
            store3(dx, q, v)
            if kind == RIGID:
                store4(dx, q + 3, euler_parameter_rates(load4(x, q + 3), w))


@flat
def maggi_rates(t, x, dx, system):
    """dx <- rates of (q, u, external work, angles, s, ...) at x; the basis stays. Status."""
    I, F, W = system.I, system.F, system.W
    W[I[W_STAT] + N_RHS] += 1.0
    k, nq, nu = I[MINIMAL_I], I[NQ], I[NU]
    load_poses(x, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    pull_back_rows(system.A, system)
    assemble_blocks(system.metrics, system)
    factor(1, system)
    passes = 2 if I[k + Z_PASS] and weakest_row(system)[1] < POOR else 1
    admissible_twists(passes, x, system)
    load_angles(x, system)
    gravity_and_gyroscopic(system)
    status = forces(WRENCH, t, system)
    pull_back_wrenches(system)
    forces(MOTIONS, t, system)
    constraint_rows(system)  # zeta at u^
    pull_back_rows(system.A, system)
    power = W[I[W_STAT] + POWER]
    reduced_accelerations(passes, system)
    if I[NMOTION] + I[NTRACED] > 0:
        power += power_of_moving_constraints(system)
    for i in range(nq + nu, x.size):
        dx[i] = 0.0
    store_configuration_rates(x, dx, system)
    gather(system.accelerations, dx, nq, system)
    dx[nq + nu] = power
    for c in range(I[NANGLE]):
        dx[I[I[ANGLE_I] + ANGLE_I_W * c + G_X]] = W[I[W_ANGLE] + 2 * c + 1]
    if I[k + Z_ORDER] < 0:
        carry_basis(passes, t, x, dx, system)
    else:
        for j in range(I[k + Z_DOF]):
            for i in range(nu):
                dx[I[k + Z_S] + j] += x[I[k + Z_BASIS] + nu * j + i] * F[I[k + Z_WEIGHT] + i] * x[nq + i]
    for i in range(nq + nu + 1):
        if not np.isfinite(dx[i]):
            status = NON_FINITE
    return status


@kernel
def minimal(mode, t, x, dx, system):
    """`maggi_rates` as a slot."""
    return maggi_rates(t, x, dx, system)
