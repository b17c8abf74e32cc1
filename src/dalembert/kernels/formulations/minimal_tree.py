"""Minimal coordinates of a tree with loops: the joint velocities of a spanning tree in place of the bodies'.

    M* u' = F* - N* u + G^T lam,  G u' + zeta + A B' u = 0        the matrices of frame_matrices.py, G = A B
    G' y = A' B y + A B' y
    q <- q (+) d,  d = -G^+ g,  until the cut joints are closed;  then u <- u - G^+ (G u + g_t)             (17)-(19)

[QRContinuation, (9)-(19)] on relative coordinates; q (+) d turns the quaternion of a ball joint by d. Without loops there are
no rows, V = Z = 1 and s' = u: the equations of motion of the tree. Dense, O(n^3): trees with few loops that need speed take
MovingFrame.
"""

import numpy as np

from dalembert.kernels.base.compiler import flat, inline, kernel
from dalembert.kernels.base.dense import weakest_dense_row
from dalembert.kernels.base.loops import clear, copy, negate
from dalembert.kernels.base.slots import forces
from dalembert.kernels.base.tables import MOTIONS, OK
from dalembert.kernels.base.vectors import cross
from dalembert.kernels.base.views import Twists
from dalembert.kernels.coordinates.cut_rows import factor_cut_schur
from dalembert.kernels.coordinates.dense_rows import add_weighted, dual_vector, least_solution, onto_tangent
from dalembert.kernels.coordinates.frame_matrices import (
    blocks,
    derivatives,
    fill_blocks,
    fill_forces,
    fill_reduced_matrix,
    multiply,
    right_hand_side,
)
from dalembert.kernels.coordinates.kinematics import count_turns, load_angle_rates
from dalembert.kernels.coordinates.solve import product
from dalembert.kernels.coordinates.tree import displace_tree, locate_tree
from dalembert.kernels.formulations.distribution import load_turns
from dalembert.kernels.formulations.minimal_dense import maggi_rates
from dalembert.kernels.formulations.minimal_end import end_step
from dalembert.kernels.formulations.moving_frame import close_cut_joints
from dalembert.kernels.formulations.moving_frame_reference import velocity_terms
from dalembert.kernels.formulations.pivots import note_pivot, turned_far
from dalembert.kernels.formulations.project import snap_angles
from dalembert.kernels.formulations.tangent_basis import null_basis
from dalembert.kernels.mechanics.primitives import constraint_rows


@inline
def reach(r, system):
    """What |G_r|^2 of W^-1 could be if the row lay in the direction in which its bodies move most: |A|^2 |B|^2, parts apart.

    In relative coordinates a row itself can vanish in a singular configuration, so its own size tells nothing.
    """
    B, size, weight = blocks(system), 0.0, system.constants + system.minimal.weight
    for number in range(system.cut[r], system.cut[r + 1]):
        side = system.sides[number]
        k, a, v_2, w_2 = system.nu * side.body, system.A[side.A], 0.0, 0.0
        for c in range(system.nu):
            v_2 += B[k + c].v @ B[k + c].v / weight[c]
            w_2 += B[k + c].w @ B[k + c].w / weight[c]
        size += v_2 * (a.force @ a.force)
        size += w_2 * (a.torque @ a.torque)
    return size


@inline
def weakest_row_at(t, x, system):
    """Of minimal_end.py, by sqrt(pivot / reach): B, B' and the rows of the poses and twists there are, factored."""
    n, m, G, S, weight = system.nu, system.m, system.scaled, system.K, system.constants + system.minimal.weight
    fill_blocks(x, system)
    fill_reduced_matrix(system)
    for i in range(m):
        S[m * m + i] = reach(i, system)
        for j in range(i + 1):
            s = 0.0
            for c in range(n):
                s += G[n * i + c] * G[n * j + c] / weight[c]
            S[m * i + j] = s
    system.count.factor += 1.0
    factor_cut_schur(system)
    return weakest_dense_row(S, m, S + m * m, 0)


@inline
def rows_at(t, x, dx, system):
    """Of minimal_dense.py: poses, rates of q, rows at the velocities of x, factored. Status."""
    locate_tree(x, dx, system)
    count_turns(x, system)
    forces(MOTIONS, t, system)
    constraint_rows(system)
    weakest_row_at(t, x, system)
    return OK


@flat
def load(t, x, dx, rest, system):
    """Of minimal_dense.py: rest <- F* - N* u, zeta <- zeta + A B' u, rates of q. Status, external power."""
    locate_tree(x, dx, system)
    load_angle_rates(x, system)
    status, power = velocity_terms(t, x, system)
    negate(system.zeta, system.rhs, system.m)
    fill_forces(system.wrenches, system)
    copy(rest, right_hand_side(system), system.nu)
    return status, power


@inline
def tangent_rate(y, out, system):
    """Of minimal_end.py: out <- -G^+ G' y [QRContinuation, (27)]; `bends` (`load_turns`) with A (0, w x w_y) are A' B y.

    The twists of the bodies and B, B' belong to the velocities of the state.
    """
    A, along, across = system.A, system.work, Twists(system.spare, 6 * (system.nb + 1))
    multiply(blocks(system), y, along, system)
    multiply(derivatives(system), y, across, system)
    for body in system.bodies:
        across[body.number].w += cross(body.w, along[body.number].w)
    for r in range(system.m):
        s = 0.0
        for k in range(system.cut[r], system.cut[r + 1]):
            side = system.sides[k]
            s += product(system.bends[side.A], along[side.body]) + product(A[side.A], across[side.body])
        system.zeta[r] = s
    least_solution(system.zeta, out, system)


@flat
def factor_along_rows(level, x, system):
    weakest_row_at(0.0, x, system)


@flat
def correct_along_rows(level, x, system):
    """By G^+ rhs"""
    clear(system.u_dot, system.nu)
    add_weighted(system.u_dot, system)
    displace_tree(level, x, 1.0, system)


@flat
def close(first, t, x, dx, system):
    """(status, whether x was interpolated): x <- onto the cut joints"""
    status, _ = close_cut_joints(factor_along_rows, correct_along_rows, t, x, dx, system)
    snap_angles(x, system)
    return status, False


@flat
def fresh_basis(X, room, system):
    """X <- a basis from the rows alone, W^-1/2 of the null space of G W^-1/2"""
    n, m, f, weight = system.nu, system.m, system.minimal.dof, system.constants + system.minimal.weight
    for c in range(n):
        for r in range(m):
            room[n * r + c] = system.scaled[n * r + c] / np.sqrt(weight[c])
    null_basis(system.minimal.kind, room, n, m, f, X)
    for c in range(n):
        for j in range(f):
            X[n * j + c] /= np.sqrt(weight[c])


@flat
def watch(t, row, pivot, system):
    """Steps in which a body turns far may cross twice, and v_i points as before: they are looked at again."""
    note_pivot(t, row, pivot, turned_far(t, system), system)
    return False


@kernel
def minimal_tree(mode, t, x, dx, system):
    """dx <- rates at x in the basis that x holds. Status."""
    return maggi_rates(rows_at, load, load_turns, tangent_rate, system.nmotion + system.ntraced > 0, t, x, dx, system)


@kernel
def minimal_tree_step(mode, t, x, dx, system):
    """x <- onto the cut joints along Q1, its basis <- that of the tangent space there. Status."""
    return end_step(
        close, weakest_row_at, load_turns, onto_tangent, tangent_rate, fresh_basis, dual_vector, watch, t, x, dx, system
    )
