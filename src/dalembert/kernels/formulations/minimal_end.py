"""The end of a step in minimal coordinates [QRContinuation, 2.3, 2.5], written over operators of the coordinates (`end_step`).

    g(q (+) Q1 p, t) = 0 by Newton's method, then G u + g_t = 0 along Q1                              (17)-(19)
    Z_1 <- orthonormal(P_1 Z),  Z the basis Z_0 carried along the step (continuation.py), or factored afresh (tangent_basis.py)

Deviation: Q1 spans range(W^-1 G^T) at the uncorrected end of the step, where G is at hand, not at its start.

How near the configuration is to a singular one is read from the smallest pivot of G W^-1 G^T. What is left of that row without
the other rows vanishes in a singular configuration and comes back with the other sign. A step that ends where the pivot is
below 1 / SINGULAR, or across which what is left turns over, is refused or, with singular="pass", made (bridge.py) and marked.
Where a point was interpolated the tangent space is as good as not known: the basis is carried on and only made orthonormal.
"""

from dalembert.kernels.base.compiler import flat
from dalembert.kernels.base.layout import MARKS, N_PASSAGES
from dalembert.kernels.base.loops import clear, copy
from dalembert.kernels.base.tables import NEAR_SINGULAR, OK
from dalembert.kernels.base.views import Marks, Numbers
from dalembert.kernels.coordinates.choice import choices
from dalembert.kernels.formulations.continuation import exponential, orthonormalise, weighted_product

NEAR = 1e-5  # 1 / SINGULAR of compilation/rank.py
BEHIND_MARKS = MARKS.width
BLIND = 1e-4  # pivot below which rounding leaves nothing of the accelerations, so that only interpolation can pass


@flat
def make_tangent(onto_tangent, X, system):
    """X <- the nearest orthonormal basis of the tangent space; True when there is one."""
    for j in range(system.minimal.dof):
        onto_tangent(X + system.nu * j, system)
    return orthonormalise(X, system)


@flat
def tangent_rates(tangent_rate, X, out, system):
    """out <- -G^+ G' of every column of X"""
    for j in range(system.minimal.dof):
        tangent_rate(X + system.nu * j, out + system.nu * j, system)


@flat
def carried_basis(onto_tangent, tangent_rate, h, x, X, D, system):
    """X <- the basis of the step's start, carried along the step to its end; D : room for four of these"""
    k, size = system.minimal, system.nu * system.minimal.dof
    copy(X, Numbers(x, k.carry if k.order < 0 else k.basis), size)
    if k.order > 0 and h != 0.0:  # h = 0 where an invariant has moved the end of a step
        copy(D, Numbers(x, k.basis), size)
        copy(D + size, Numbers(x, k.carry), size)
        clear(D + 2 * size, 2 * size)
        if k.order == 4 and make_tangent(onto_tangent, X, system):
            copy(D + 2 * size, X, size)
            tangent_rates(tangent_rate, X, D + 3 * size, system)
        exponential(h, D, X, system)


@flat
def turned_over(dual_vector, watch, t, row, pivot, x, system):
    """Whether the step led across a singular configuration."""
    k, marks = system.minimal, Marks(x, system.minimal.marks)
    across, v = False, system.all + k.columns
    if system.m > 0 and system.count.inside == 0.0:  # between two steps the marks are mixed
        dual_vector(int(marks.row), v, system)
        across = weighted_product(v, Numbers(x, k.guard), system) < 0.0
        noted = watch(t, row, pivot, system)
        if marks.choice != choices(system):  # other rows act since the step began
            across = noted
        across |= system.w_pivot > 0 and system.pivot.flipped != 0.0  # Lagrangian systems have no such watch
    return across


@flat
def mark_passage(t, x, system):
    """Between which times to look for the singular configuration."""
    marks, k = Marks(x, system.minimal.marks), system.minimal
    if marks.pivot >= NEAR:
        marks.passed += 1.0
        where = Numbers(x, k.marks + BEHIND_MARKS + 2 * (int(marks.passed - 1.0) % N_PASSAGES))
        where[0] = marks.time
        where[1] = t


@flat
def end_step(close, weakest_row_at, bend, onto_tangent, tangent_rate, fresh_basis, dual_vector, watch, t, x, dx, system):
    """x <- onto the constraints along Q1, its basis <- that of the tangent space there. Status.

    close(first, t, x, dx, ..)   x <- onto the constraints; status, whether it was interpolated
    weakest_row_at(t, x, ..)     factors the rows there; row and size of the smallest pivot
    bend(t, ..)                  what `tangent_rate` needs
    onto_tangent(v, ..)          v <- P v
    tangent_rate(z, out, ..)     out <- -G^+ G' z
    fresh_basis(X, room, ..)     X <- a basis from the rows alone
    dual_vector(row, out, ..)    out <- v with G v = e_row
    watch(t, row, pivot, ..)     notes the pivot; whether rows turned over
    """
    k, n, f = system.minimal, system.nu, system.minimal.dof
    marks, X, size = Marks(x, k.marks), system.all + k.dense, n * f
    first = marks.time != marks.time
    status, crossed = close(first, t, x, dx, system)
    if status != OK:
        return status
    row, pivot = weakest_row_at(t, x, system)
    near = pivot < NEAR
    if not first:
        near |= turned_over(dual_vector, watch, t, row, pivot, x, system)
    if near and (first or k.passing == 0):
        return NEAR_SINGULAR
    if near:
        mark_passage(t, x, system)
    if k.passing and pivot < BLIND and not crossed:
        return NEAR_SINGULAR
    bend(t, system)
    made = crossed
    if crossed or (k.order != 0 and not first):
        carried_basis(onto_tangent, tangent_rate, 0.0 if crossed else t - marks.time, x, X, X + size, system)
        if crossed:
            orthonormalise(X, system)
        else:
            made = make_tangent(onto_tangent, X, system)
            marks.restarts += 0.0 if made else 1.0
    if not made:
        fresh_basis(X, X + size, system)
        if pivot < NEAR or not make_tangent(onto_tangent, X, system):
            return NEAR_SINGULAR
    carry, s_dot = Numbers(x, k.carry), Numbers(x, k.s_dot)
    copy(Numbers(x, k.basis), X, size)
    copy(carry, X, size)
    if k.order > 0 and crossed:
        clear(carry, size)
    elif k.order > 0:
        tangent_rates(tangent_rate, X, carry, system)
    for j in range(f):
        s = weighted_product(X + n * j, Numbers(x, system.nq), system)
        if not first:
            marks.jump = max(marks.jump, abs(s - s_dot[j]))
        s_dot[j] = s
    if system.m > 0:
        dual_vector(row, Numbers(x, k.guard), system)
    marks.time, marks.pivot, marks.row, marks.choice = t, pivot, row, choices(system)
    return OK
