"""Constraints at velocity level: an unconstrained step, then impulses [ConstraintNotes, 3-5].

    u*                                    end of the unconstrained step M u' = h, any explicit integrator                  (9)
    (A M^-1 A^T + D^-1) Lam = c,   u+ = u* + M^-1 A^T Lam                                                            (10)-(12)

    rigid       D^-1 = 0                   c = -(A u* + g_t)                                                              (12)
    Baumgarte   D^-1 = 0                   c = -(A u* + g_t) - g / tau                                                    (26)
    soft        D = h (h kp + kd)          c = -A u* - (kp g + kd g_t) / (h kp + kd),   g at (q_k, t_k+1)           (27)-(32)

As printed, A belongs to q_k and q+ = q_k (+) h N u+: order 1. PREDICT has order 2, as RATTLE [HairerLubichWanner2006, VII.1]:
half of the reaction at its start acts from there on, u* = u_k + int M^-1 h dt + h/2 M^-1 A_k^T lam_k with the known multipliers
lam_k; q+ = q_k (+) (h u_k + h^2/2 u_k'), and the impulse that is left, about the other half, belongs to A at q+.

Deviation: (12) has M^-1 and (29)-(32) the factors and g_t that the print lost; the soft solve is in its dual form, which needs
no inverse of M + G^T D G; g is taken at the new time, so that a prescribed motion is met without lag.
"""

from dalembert.kernels.base.compiler import flat, inline
from dalembert.kernels.base.tables import (
    BAUMGARTE,
    MEM_DONE,
    MEM_H,
    MEM_LAM,
    MEMORY_X,
    NQ,
    NU,
    OK,
    PREDICT,
    PROJECTION,
    SOFT_F,
    STABILISE,
    TAU,
    W_G,
    W_GT,
    W_RHS,
    M,
)


@inline
def memory_of_start(system):
    """Where in the state the memory of the step's start lies: lam, q, accelerations, share of lam in them, power, gain."""
    I = system.I
    lam = I[MEMORY_X] + MEM_LAM + I[M]
    q, a = lam + I[M], lam + I[M] + I[NQ]
    return lam, q, a, a + I[NU], a + 2 * I[NU], a + 2 * I[NU] + 1


@flat
def remember_start(x, dx, power, system):
    """Accelerations dx and multipliers W_RHS at the start of a step go into the memory of x; power : that of the forces."""
    I, W = system.I, system.W
    nq, nu = I[NQ], I[NU]
    lam, _, a, _, moving, _ = memory_of_start(system)
    for i in range(nu):
        x[a + i] = dx[nq + i]
    for i in range(I[M]):
        x[lam + i] = W[I[W_RHS] + i]
    x[moving] = dx[nq + nu] - power


@flat
def store_memory_rates(x, dx, system):
    """The clock runs; where the reaction acts, velocities follow the known acceleration and their gain is kept apart."""
    I = system.I
    nq, nu = I[NQ], I[NU]
    _, _, a, share, power, gain = memory_of_start(system)
    for i in range(I[MEMORY_X], x.size):
        dx[i] = 0.0
    dx[I[MEMORY_X] + MEM_H] = 1.0
    if I[PREDICT] == 1:
        for i in range(nu):
            dx[gain + i] = dx[nq + i] if x[I[MEMORY_X] + MEM_H] > 0.0 else x[a + i] - x[share + i]
            dx[nq + i] = x[a + i]
        dx[nq + nu] += (0.5 if x[I[MEMORY_X] + MEM_H] > 0.0 else -0.5) * x[power]


@inline
def mean_reaction(x, i, system):
    """Of row i in the step to x; what is not known (NaN) stays so; at the start nothing has given way yet."""
    I = system.I
    done = x[I[MEMORY_X] + MEM_DONE]
    return x[I[MEMORY_X] + MEM_LAM + i] / done if done != 0.0 else 0.0


@flat
def wanted_rates(h, x, system):
    """W_RHS <- c + A u*, what A u+ has to be, (12), (26), (27)-(32)"""
    I, F, W = system.I, system.F, system.W
    m, soft = I[M], I[SOFT_F]
    on_g, on_gt = 0.0, 1.0
    if I[STABILISE] == BAUMGARTE:
        on_g = 1.0 / (F[TAU] * max(h, x[I[MEMORY_X] + MEM_DONE]))  # the last step may be cut short
        if I[PREDICT] == 0:  # the rows are at q_k, so that g there at the old time is g - h g_t
            on_gt = 1.0 - h * on_g
    for i in range(m):
        if soft > 0:
            on_g = F[soft + i] / (h * F[soft + i] + F[soft + m + i])
            on_gt = 1.0 - h * on_g
        W[I[W_RHS] + i] = -on_g * W[I[W_G] + i] - on_gt * W[I[W_GT] + i]


@inline
def compliance(h, row, system):
    """D^-1 of a row"""
    I, F = system.I, system.F
    soft = I[SOFT_F]
    return 1.0 / (h * (h * F[soft + row] + F[soft + I[M] + row]))


@flat
def add_work(h, x, system):
    """The external work in x takes that of the impulses in W_RHS."""
    I, F, W = system.I, system.F, system.W
    m, soft = I[M], I[SOFT_F]
    work = 0.0
    for i in range(m):
        impulse, rate = W[I[W_RHS] + i], -W[I[W_GT] + i]
        if soft > 0:  # the compliant force works along A u+, which moves the positions
            kp, kd = F[soft + i], F[soft + m + i]
            rate = -(kp * W[I[W_G] + i] + kd * W[I[W_GT] + i] + impulse / h) / (h * kp + kd)
        work += impulse * rate
    x[I[NQ] + I[NU]] += work


@flat
def end_step(stabilise, correct_velocities, advance_positions, inside, t, x, system):
    """x <- end of the step that the unconstrained one led to; inside a step only what stabilisation asks for. Status.

    As printed: impulse with the rows at q_k, positions, stabilisation. Predicted: stabilisation, impulse with the rows at q+.
    Projected positions ask for velocities that fit, again by an impulse.

    stabilise(t, x, ..) : positions onto the constraints where the run projects, status;  correct_velocities(t, h, x, ..) :
    u* -> u+ by the impulses of the rows at the q in x, which it leaves in W_RHS;  advance_positions(h, x, ..) : q (+) h N u
    """
    I, W = system.I, system.W
    status, memory, m, nq, nu = OK, I[MEMORY_X], I[M], I[NQ], I[NU]
    lam, q_old, a, share, _, gain = memory_of_start(system)
    h, predicted, projected = x[memory + MEM_H], I[PREDICT] == 1, I[STABILISE] == PROJECTION
    if not inside:
        for i in range(m):
            x[memory + MEM_LAM + i] = 0.5 * h * x[lam + i] if predicted else 0.0
        for i in range(nu if predicted else 0):  # u* = u_k + gain + half of the reaction's share
            x[nq + i] += x[gain + i] - h * (x[a + i] - 0.5 * x[share + i])
        for i in range(0 if predicted else nq):
            x[i] = x[q_old + i]
    begun = h != 0.0 or I[SOFT_F] == 0  # before its first step nothing has given way: a compliant start is as it was given
    for turn in range(2 if begun else 0):
        if turn == 0 and (inside or predicted):
            continue
        if turn == 1:
            status = stabilise(t, x, system)
            if not projected and (inside or not predicted):
                continue
        correct_velocities(t, h, x, system)
        for i in range(0 if inside else m):
            x[memory + MEM_LAM + i] += W[I[W_RHS] + i]
        if turn == 0:
            advance_positions(h, x, system)
    if not inside:
        x[memory + MEM_H], x[memory + MEM_DONE] = 0.0, h
    for i in range(nq):
        x[q_old + i] = x[i]
    for i in range(nu):
        x[gain + i] = 0.0
    return status
