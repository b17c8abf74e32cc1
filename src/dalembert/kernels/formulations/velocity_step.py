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
from dalembert.kernels.base.loops import add_multiple, clear, copy
from dalembert.kernels.base.tables import BAUMGARTE, OK, OUTPUT, PROJECT, PROJECTION
from dalembert.kernels.base.views import Numbers, System


@inline
def memory_of(x, system):
    """What a state remembers of its step, see layout.py; of dx the rates of that."""
    return System(system.I, system.F, x).memory


@flat
def remember_start(x, dx, power, system):
    """Accelerations dx and multipliers rhs at the start of a step go into the memory of x; power : that of the forces."""
    memory = memory_of(x, system)
    copy(memory.u_dot, Numbers(dx, system.nq), system.nu)
    copy(memory.lam, system.rhs, system.m)
    memory.power = dx[system.nq + system.nu] - power


@flat
def store_memory_rates(x, dx, system):
    """The clock runs; where the reaction acts, velocities follow the known acceleration and their gain is kept apart."""
    nq, nu, memory, rates = system.nq, system.nu, memory_of(x, system), memory_of(dx, system)
    clear(Numbers(dx, system.memory_x), x.size - system.memory_x)
    rates.h = 1.0
    if system.predict == 1:
        begun = memory.h > 0.0
        for i in range(nu):
            rates.gain[i] = dx[nq + i] if begun else memory.u_dot[i] - memory.share[i]
            dx[nq + i] = memory.u_dot[i]
        dx[nq + nu] += (0.5 if begun else -0.5) * memory.power


@inline
def mean_reactions(x, system):
    """rhs <- those of the step to x; what is not known (NaN) stays so; at the start nothing has given way yet."""
    memory = memory_of(x, system)
    for i in range(system.m):
        system.rhs[i] = memory.impulse[i] / memory.done if memory.done != 0.0 else 0.0


@flat
def wanted_rates(h, x, system):
    """rhs <- c + A u*, what A u+ + D^-1 Lam has to be (rigid: A u+), (12), (26), (27)-(32)"""
    m, on_g, on_gt = system.m, 0.0, 1.0
    longest = max(h, memory_of(x, system).done)  # the last step may be cut short
    if system.stabilise == BAUMGARTE and longest > 0.0:  # else a start, whose velocities alone are made to fit
        on_g = 1.0 / (system.tau * longest)
        if system.predict == 0:  # the rows are at q_k, so that g there at the old time is g - h g_t
            on_gt = 1.0 - h * on_g
    for i in range(m):
        if system.soft_f > 0:
            kp, kd = system.soft[i], system.soft[m + i]
            on_g = kp / (h * kp + kd)
            on_gt = 1.0 - h * on_g
        system.rhs[i] = -on_g * system.g[i] - on_gt * system.g_t[i]


@inline
def compliance(h, row, system):
    """D^-1 of a row"""
    return 1.0 / (h * (h * system.soft[row] + system.soft[system.m + row]))


@flat
def add_work(h, side, x, system):
    """The external work in x takes that of the impulses in rhs; side : -1 before positions move, 1 after it.

    A compliant force Lam / h works along what its residual g changes by, not along h A u+: positions move on tangents, which
    leave what is curved by as much as the next step brings back. Rows of velocities have no g.
    """
    work = 0.0
    for i in range(system.m):
        impulse, g_t = system.rhs[i], system.g_t[i]
        if system.soft_f > 0 and system.soft[i] > 0.0:
            work += side * impulse / h * system.g[i]
        elif side < 0.0:
            held = impulse / (h * system.soft[system.m + i]) if system.soft_f > 0 else 0.0
            work -= impulse * (g_t + held)
    x[system.nq + system.nu] += work


@flat
def end_step(project, normalise, correct_velocities, advance_positions, inside, t, x, system):
    """x <- end of the step that the unconstrained one led to; inside a step only what stabilisation asks for. Status.

    As printed: impulse with the rows at q_k, positions, stabilisation. Predicted: stabilisation, impulse with the rows at q+.
    Projected positions ask for velocities that fit, again by an impulse.

    project(t, x, ..) : onto the constraints, status;  normalise(x, ..) : unit quaternions, where nothing is projected
    correct_velocities(t, h, x, ..) : u* -> u+ by the impulses of the rows at the q in x, left in rhs
    advance_positions(t, h, x, ..) : q (+) h N u, of compliant runs g there and the power of the forces
    """
    status, m, nq, nu = OK, system.m, system.nq, system.nu
    memory, q, u = memory_of(x, system), Numbers(x, 0), Numbers(x, nq)
    h, predicted, projected = memory.h, system.predict == 1, system.stabilise == PROJECTION
    if not inside:
        for i in range(m):
            memory.impulse[i] = 0.5 * h * memory.lam[i] if predicted else 0.0
        for i in range(nu if predicted else 0):  # u* = u_k + gain + half of the reaction's share
            u[i] += memory.gain[i] - h * (memory.u_dot[i] - 0.5 * memory.share[i])
        if not predicted:
            copy(q, memory.q, nq)
    begun = h != 0.0 or system.soft_f == 0  # before its first step nothing has given way: a compliant start is as it was given
    for turn in range(2 if begun else 0):
        if turn == 0 and (inside or predicted):
            continue
        if turn == 1:
            if projected:
                status = project(t, x, system)
            else:
                normalise(x, system)
                if inside or not predicted:
                    continue
        correct_velocities(t, h, x, system)
        add_work(h, -1.0, x, system)
        if not inside:
            add_multiple(memory.impulse, 1.0, system.rhs, m)
        if turn == 0:
            power = advance_positions(t, h, x, system)
            if system.soft_f > 0:
                add_work(h, 1.0, x, system)
                x[nq + nu] += 0.5 * h * (power - memory.power)
    if not inside:
        memory.h, memory.done = 0.0, h
    copy(memory.q, q, nq)
    clear(memory.gain, nu)
    return status


@flat
def velocity_level(
    start_step, free_rates, soft_outputs, project, normalise, correct_velocities, advance_positions, mode, t, x, dx, system
):
    """RATE: dx <- unconstrained rates; at the start of a step also what x remembers of it. OUTPUT: what a saved state and the
    compliant force of the step to it imply. PROJECT: x <- end of the step, or a stabilised state between two steps. Status.

    start_step(t, x, dx, ..) : accelerations dx, multipliers rhs, the reaction's share in the memory of x; status, power
    """
    if mode == PROJECT:
        inside = system.count.inside != 0.0
        return end_step(project, normalise, correct_velocities, advance_positions, inside, t, x, system)
    if mode == OUTPUT:
        return soft_outputs(t, x, system)
    if system.predict == 1 and memory_of(x, system).h == 0.0:
        status, power = start_step(t, x, dx, system)
        remember_start(x, dx, power, system)
    else:
        status = free_rates(t, x, dx, system)
    if system.soft_f > 0:  # forces work along the path that joints leave, whose ends are known: by the trapezoidal rule
        memory = memory_of(x, system)
        if memory.h == 0.0:
            memory.power = dx[system.nq + system.nu]
        dx[system.nq + system.nu] = memory.power
    store_memory_rates(x, dx, system)
    return status
