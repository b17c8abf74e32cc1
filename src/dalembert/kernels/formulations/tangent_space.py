"""The tangent space of the constraints at one configuration, in the metric W of the projection (Euclidean in r' and theta').

    P v = v - W^-1 G^T (G W^-1 G^T)^-1 G v                                       onto null(G), W-orthogonal
    G^+ c = W^-1 G^T (G W^-1 G^T)^-1 c                                           smallest solution of G v = c

Both use the block-sparse factor of solve.py, O(n) per vector; rows that depend on others take no part. A basis Z has columns of
unit length, Z^T W Z = I: [QRContinuation, (8)] with Q2 = W^1/2 Z, orthonormal in (r', theta') as the source has it.
"""

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.loops import clear, negate
from dalembert.kernels.base.tables import POINT, RIGID
from dalembert.kernels.base.vectors import Vec3, cross
from dalembert.kernels.base.views import Twist
from dalembert.kernels.coordinates.kinematics import in_plane
from dalembert.kernels.coordinates.solve import add_rows_transposed, back_solve, clear_twists, subtract_row_products


@inline
def spread(velocities, out, system):
    """out <- twists of the bodies from their velocities, numbers as in the state"""
    zero = Vec3(0.0, 0.0, 0.0)
    for body in system.bodies:
        o, u = out[body.number], Twist(velocities, body.u)
        if body.kind == RIGID:
            o.v, o.w = u.v, u.w
        elif body.kind == POINT:
            o.v, o.w = u.v, zero
        else:
            c, plane = u.v, system.plane
            o.v, o.w = c.x * plane.e1 + c.y * plane.e2, c.z * body.normal


@inline
def gather(twists, velocities, system):
    """velocities <- those of the twists of the bodies: the inverse of `spread`"""
    for body in system.bodies:
        v, w, u = twists[body.number].v, twists[body.number].w, Twist(velocities, body.u)
        if body.kind == RIGID:
            u.v, u.w = v, w
        else:
            u.v = v if body.kind == POINT else in_plane(v, w, body, system.plane)


@inline
def inner(a, b, system):
    """a . W b of the twists a, b of all bodies, in the metric of the projection"""
    s = 0.0
    for body in system.bodies:
        k, metric = body.number, system.metrics[body.number]
        s += metric.m * (a[k].v @ b[k].v)
        s += a[k].w @ (metric.J @ b[k].w)
    return s


@inline
def clear_rows(system):
    """rhs <- 0"""
    clear(system.rhs, system.m + 6 * system.nhub)


@inline
def project_tangent(passes, v, system):
    """v <- P v; the blocks are factored already.

    passes : 2 removes what the first one leaves near a singular configuration, where the condition of G W^-1 G^T is that of G
        squared; the error is then that of an orthogonal factorisation [GolubVanLoan2013, 5.3]
    """
    for _ in range(passes):
        clear_rows(system)
        subtract_row_products(system.A, v, system.rhs, False, system)
        back_solve(system.K, system.rhs, system)
        add_rows_transposed(system.Y, system.rhs, v, system)


@inline
def smallest_solution(passes, c, out, system):
    """out <- -G^+ c for the rows' right-hand side c."""
    clear_twists(out, system)
    for _ in range(passes):
        clear_rows(system)
        negate(system.rhs, c, system.m)
        subtract_row_products(system.A, out, system.rhs, False, system)
        back_solve(system.K, system.rhs, system)
        add_rows_transposed(system.Y, system.rhs, out, system)


@inline
def tangent_twist_rate(passes, z, out, system):
    """out <- -G^+ G' z, how a tangent vector z must change to stay tangent [QRContinuation, (27)].

    `bends` : what `load_turns` left. G' z differs from them by G [u, z] = G (0, w x w_z), because w_B is no rate of
    coordinates.
    """
    known = system.work
    clear_twists(out, system)
    for _ in range(passes):
        for body in system.bodies:
            k = body.number
            known[k].v, known[k].w = out[k].v, out[k].w + cross(body.w, z[k].w)
        clear_rows(system)
        subtract_row_products(system.bends, z, system.rhs, False, system)
        subtract_row_products(system.A, known, system.rhs, False, system)
        back_solve(system.K, system.rhs, system)
        add_rows_transposed(system.Y, system.rhs, out, system)


@inline
def dual_vector(row, out, system):
    """out <- v with G v = e_row: orthogonal to all other rows, its length one over the distance of this row from them."""
    clear_rows(system)
    system.rhs[row] = 1.0
    back_solve(system.K, system.rhs, system)
    clear_twists(out, system)
    add_rows_transposed(system.Y, system.rhs, out, system)
