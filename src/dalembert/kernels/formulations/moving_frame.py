"""The moving-frame formulation's slot [MovingFrame, 2-3]: relative coordinates of a tree, loops closed by multipliers.

    u' by the articulated-body recursion; with cut joints  S lam = -zeta - A a_0,  S = A (response of the tree to A^T)

Each row of a cut joint costs one more O(n) sweep, S is as small as the number of such rows. Idle rows (choice.py) get
no multiplier. Deviation: the thesis treats open chains of spherical joints; other joints and loops are what it leaves open.
"""

from dalembert.kernels.base.compiler import flat, inline, kernel, vectorised
from dalembert.kernels.base.dense import add_transposed, solve_with_factor, weakest_dense_row
from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot, negate, plus_dot
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, OK, OUTPUT, POSITIONS, PROJECT, WRENCH
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.coordinates.articulated import (
    accelerate_by_columns,
    accelerate_tree,
    add_body_accelerations,
    carry_wrenches,
    clear_forces,
    column_forces,
    eliminate_tree,
    subtract_wrench,
    subtract_wrenches,
)
from dalembert.kernels.coordinates.choice import silence
from dalembert.kernels.coordinates.cut_rows import solve_cut_schur, subtract_cut_rows
from dalembert.kernels.coordinates.kinematics import count_turns, finish_rates, load_angle_rates
from dalembert.kernels.coordinates.solve import clear_twists
from dalembert.kernels.coordinates.tree import UNIT, displace_tree, locate_tree, move_tree, normalise_tree, place_bodies
from dalembert.kernels.formulations.newton import largest, largest_term, restore
from dalembert.kernels.formulations.pivots import comparable, note_pivot, turned_far
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.mechanics.inertia import clear_wrenches
from dalembert.kernels.mechanics.primitives import constraint_rows


@vectorised
def solve_cut_rows(system):
    """rhs <- S^-1 rhs: one sweep inwards per row, then a dense factorisation. Behind S and its scales what the sweeps left of
    each row, and the inverse pivots of the tree."""
    m, nu, S = system.m, system.nu, system.K
    e = S + (m * m + m)
    D_inv = e + m * nu
    for r in range(m):
        clear_forces(system)
        for k in range(system.cut[r], system.cut[r + 1]):
            side = system.sides[k]
            if side.body > 0:
                subtract_wrench(side.body, system.A[side.A], system)
        carry_wrenches(system)
        column_forces(e + nu * r, D_inv, system)
        for s in range(r + 1):
            dot = 0.0
            for i in range(nu):
                dot += e[nu * r + i] * D_inv[i] * e[nu * s + i]
            S[m * r + s] = dot
    solve_cut_schur(system)
    system.count.factor += 1.0
    return 0


@inline
def respond_to_multipliers(lam, system):
    """u_dot <- response of the tree to A^T lam, from what `solve_cut_rows` left of each row."""
    m, nu = system.m, system.nu
    e = system.K + (m * m + m)
    total = e + m * nu
    clear(total, nu)
    add_transposed(total, e, lam, m, nu)
    accelerate_by_columns(total, system)


@inline
def respond_to_row(row, system):
    """u_dot <- accelerations by a unit of the multiplier of a row and what the others answer: v_i of pivots.py."""
    for i in range(system.m):
        system.rhs[i] = 1.0 if i == row else 0.0
    solve_with_factor(system.K, system.rhs, system.m)
    respond_to_multipliers(system.rhs, system)


@inline
def along_guard(system):
    """The guard . u_dot"""
    return plus_dot(0.0, system.guard_u, system.u_dot, system.nu)


@inline
def watch_cut_rows(t, system):
    """`watch_rows` of pivots.py for the rows of cut joints."""
    m, S, pivot = system.m, system.K, system.pivot
    row, least = weakest_dense_row(S, m, S + m * m, 0)
    across = pivot.turned != 0.0 or turned_far(t, system)
    for turn in range(2):
        if turn == 1 or comparable(system):
            respond_to_row(row if turn == 1 else int(pivot.row), system)
            across |= turn == 0 and along_guard(system) < 0.0
    copy(system.guard_u, system.u_dot, system.nu)
    note_pivot(t, row, least, across, system)
    return 0


@flat
def locate(level, iteration, t, x, dx, system):
    """`locate` of newton.py for trees: poses, twists and rows at x, rhs <- minus g or g' of the cut joints; how many

    After two corrections idle rows no longer count: they follow the others, as far as the geometry of the model is exact.
    """
    rhs = system.rhs
    locate_tree(x, dx, system)
    count_turns(x, system)
    forces(POSITIONS if level == 0 else MOTIONS, t, system)
    constraint_rows(system)
    system.count.dg += 1.0
    negate(rhs, system.g if level == 0 else system.g_t, system.m)
    if level == 1:
        subtract_cut_rows(system.twists, rhs, system)
    if iteration > 1:
        silence(rhs, 0.0, system)
    return system.m


@flat
def rounding(level, x, system):
    """What it leaves of the rows of cut joints, where bodies are far away or fast, or have turned often."""
    worst = max(1.0, largest_term(level, system))
    for b in range(1, system.nb + 1):
        worst = max(worst, largest(system.twists[b].v if level else system.bodies[b].r))
    return 1e-12 * worst


@flat
def close_cut_joints(factor, correct, t, x, dx, system):
    """Onto the cut joints by Newton's method. Status, whether rows were factored.

    factor(level, x, ..), correct(level, x, ..) : see newton.py; factors belong to the poses of the moment, and are not kept
    """
    normalise_tree(UNIT, x, system)
    return restore(locate, factor, correct, rounding, False, True, t, x, dx, system)


@flat
def factor_by_recursion(level, x, system):
    """The tree, then the rows of the cut joints; rhs <- their multipliers"""
    eliminate_tree(system)
    solve_cut_rows(system)


@flat
def correct_by_recursion(level, x, system):
    """Least in the metric of the kinetic energy."""
    respond_to_multipliers(system.rhs, system)
    displace_tree(level, x, 1.0, system)


@flat
def project_cut_joints(t, x, dx, system):
    """Onto the cut joints, and the watch over their rows. Status."""
    status, factored = close_cut_joints(factor_by_recursion, correct_by_recursion, t, x, dx, system)
    if status == OK:
        eliminate_tree(system)
        if not factored:  # S of where the step ends is there in any case
            solve_cut_rows(system)
        if system.count.inside == 0.0:
            watch_cut_rows(t, system)
    return status


@flat
def project_tree(x, dx, system):
    """Unit quaternions, and poses of the bodies where angles are counted: all that a tree without cut joints needs."""
    normalise_tree(UNIT, x, system)
    if system.nangle > 0:
        locate_tree(x, dx, system)


@flat
def force_wrenches(t, tree, system):
    clear_wrenches(tree)
    return forces(WRENCH, t, tree)


@flat
def tree_rates(act, placed, t, x, dx, tree, system):
    """dx <- rates of q, accelerations of the tree without its cut joints; placed : of bodies too. Status, power of forces.

    act(t, tree, system) : wrenches of the tree <- those of force elements; status.  tree : the system, or its runs in lanes
    """
    status, power = OK, 0.0
    move_tree(x, dx, tree)
    if placed or system.nforce + system.nangle > 0:
        place_bodies(x, tree)
        load_angle_rates(x, tree)
    if system.nforce > 0:
        status = act(t, tree, system)
        power = tree.count.power
        subtract_wrenches(tree.wrenches, tree)
    eliminate_tree(tree)
    accelerate_tree(Numbers(dx, system.nq), 1.0, tree)
    if placed:
        clear_twists(tree.accelerations, tree)
        add_body_accelerations(tree.accelerations, 1.0, tree)
    return status, power


@flat
def hold_cut_joints(power, t, dx, system):
    """The motions of the moment, then what cut joints answer. Power with theirs."""
    forces(MOTIONS, t, system)
    return answer_of_cut_joints(power, dx, system)


@flat
def answer_of_cut_joints(power, dx, system):
    """rhs <- multipliers of the cut joints, u_dot <- what they add to the accelerations in dx. Power with theirs."""
    lam, u_dot = system.rhs, Numbers(dx, system.nq)
    constraint_rows(system)
    negate(lam, system.zeta, system.m)
    subtract_cut_rows(system.accelerations, lam, system)
    solve_cut_rows(system)
    respond_to_multipliers(lam, system)
    add_multiple(u_dot, 1.0, system.u_dot, system.nu)
    return minus_dot(power, lam, system.g_t, system.m)


@kernel
def moving_frame(mode, t, x, dx, system):
    """RATE: dx <- rates of the relative coordinates; OUTPUT: also the accelerations of the bodies.
    PROJECT: x <- onto unit quaternions and cut joints; dx is scratch."""
    m = system.m
    if mode == PROJECT:
        status = OK
        if m > 0:
            status = project_cut_joints(t, x, dx, system)
        else:
            project_tree(x, dx, system)
        snap_angles(x, system)
        return status
    system.count.rhs += 1.0
    status, power = tree_rates(force_wrenches, m > 0 or mode == OUTPUT, t, x, dx, system, system)
    if m > 0:
        power = hold_cut_joints(power, t, dx, system)
        add_body_accelerations(system.accelerations, 0.0, system)
    return finish_rates(status, power, dx, system)
