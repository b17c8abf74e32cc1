"""Force elements that few models have: laws of joint coordinates, laws between two bodies, bushings, cables that stretch.
Compiled only with them.

    law of joint coordinates     efforts = law(t, s, s')                     one along each coordinate
    law between two bodies       force, torque = law(t, r, R, v, w)          on the second at x_j, in axes of the first
    cable                        tension = k (L - l) + c L', not below 0, and 0 where L <= l       L = sum of |x_j - x_i|

The first record of an element acts for all of its records.
"""

from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.layout import RELATIVE
from dalembert.kernels.base.slots import callback
from dalembert.kernels.base.tables import CALLBACK_FAILED, CONSERVATIVE, OK, POTENTIAL
from dalembert.kernels.base.vectors import cross
from dalembert.kernels.mechanics.bushing import bushing, bushing_energy
from dalembert.kernels.mechanics.forces import along_line, give_parameters, pull, straight, turn

(LAW_ANGLE, LAW_SLIDE, INTERACTION, BUSHING, CABLE) = range(100, 105)  # kinds of elements, above those of forces.py
BEHIND_RELATIVE = RELATIVE.width  # where parameters of a law between two bodies begin


@inline
def act_on_joints(e, t, system):
    """Adds the wrenches of a law of joint coordinates, + on the second body of a joint, - on the first. Status, power."""
    n, power = e.members, 0.0
    for k in range(n):
        one = system.forces[e.number + k]
        if one.kind == LAW_ANGLE:
            one.s, one.rate = one.joint.angle, one.joint.rate
        else:
            one.s, one.rate, _ = along_line(one)
        system.called[k], system.called[n + k] = one.s, one.rate
    give_parameters(e, 3 * n, system)
    if callback(e.call, t, system, system.w_call) != OK:
        return CALLBACK_FAILED, 0.0
    for k in range(n):
        one, value = system.forces[e.number + k], system.called[2 * n + k]
        one.value = value
        power += value * one.rate
        if one.kind == LAW_ANGLE:
            turn(one, value)
        else:
            pull(one, value * (one.i.R @ one.vector))
    return OK, power


@inline
def interact(e, t, system):
    """Adds the wrenches of a law between two bodies, what it returns acting on body j at x_j. Status, power.

    r = R_i^T (x_j - x_i), R = R_i^T R_j, v = r', w = R_i^T (w_j - w_i)
    """
    i, j, relative = e.i, e.j, system.relative
    R_i, R_j, x_i, x_j = i.R, j.R, i.R @ e.p_i, j.R @ e.p_j
    w_i, w_j = R_i @ i.w, R_j @ j.w
    d = (j.r + x_j) - (i.r + x_i)
    v = R_i.T @ ((j.v + cross(w_j, x_j)) - (i.v + cross(w_i, x_i + d)))
    w = R_i.T @ (w_j - w_i)
    relative.r, relative.R = R_i.T @ d, R_i.T @ R_j
    relative.v, relative.w = v, w
    give_parameters(e, BEHIND_RELATIVE, system)
    if callback(e.call, t, system, system.w_call) != OK:
        return CALLBACK_FAILED, 0.0
    f, m = relative.force, relative.torque
    force = R_i @ f
    j.force += force
    j.torque += R_j.T @ (cross(x_j, force) + R_i @ m)
    i.force -= force  # at the same world point: action equals reaction
    i.torque -= R_i.T @ cross(x_i + d, force) + m
    return OK, f @ v + m @ w


@inline
def cable_length(e, system):
    """L, L' of a cable along all of its records."""
    length, rate = 0.0, 0.0
    for k in range(e.members):
        s, s_dot, _ = straight(system.forces[e.number + k])
        length, rate = length + s, rate + s_dot
    return length, rate


@inline
def cable(e, conservative_only, system):
    """Adds the pull of a cable that stretches; its length, rate and tension go to its first record. Power, if it is damped:
    one that goes slack while stretched would keep what it stored, so that all it does counts as external then."""
    length, rate = cable_length(e, system)
    tension = 0.0 * rate
    if length > e.l and not (conservative_only and e.c > 0.0):
        tension = e.k * (length - e.l) + e.c * rate
        if tension < 0.0:
            tension = 0.0 * rate
    e.s, e.rate, e.value = length, rate, tension
    for k in range(e.members):
        one = system.forces[e.number + k]
        _, _, n = straight(one)
        pull(one, -tension * n)
    return -tension * rate if e.c > 0.0 else 0.0 * rate


@inline
def energy_of_laws(system):
    """Potential energy of bushings and cables."""
    U = 0.0
    for e in system.forces:
        if e.kind == BUSHING and e.members > 0:
            U += bushing_energy(e, system)
        elif e.kind == CABLE and e.members > 0 and e.c == 0.0:
            length, _ = cable_length(e, system)
            if length > e.l:
                U += 0.5 * e.k * (length - e.l) ** 2
    return U


@kernel
def force_laws(mode, t, system):
    """As `force_elements` for the elements of this file, what it finds added to the power. Status."""
    if mode == POTENTIAL:
        system.count.power += energy_of_laws(system)
        return OK
    for e in system.forces:
        status, power = OK, 0.0
        if e.kind < LAW_ANGLE or e.members == 0:
            continue
        if e.kind == BUSHING:
            power = bushing(e, mode == CONSERVATIVE, system)
        elif e.kind == CABLE:
            power = cable(e, mode == CONSERVATIVE, system)
        elif mode != CONSERVATIVE and e.kind == INTERACTION:
            status, power = interact(e, t, system)
        elif mode != CONSERVATIVE:
            status, power = act_on_joints(e, t, system)
        if status != OK:
            return status
        system.count.power += power
    return OK
