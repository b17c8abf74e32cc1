"""Inertia and gravity of bodies, and what each kind of body can do."""

from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.loops import clear
from dalembert.kernels.base.tables import PLANAR, POINT
from dalembert.kernels.base.vectors import Vec3, cross


@inline
def clear_wrenches(system):
    """Of every body and the ground."""
    clear(system.h, 6 * (system.nb + 1))


@inline
def gravity(system):
    """Wrench of every body, ground included, <- (m g, 0)"""
    for b in range(system.nb + 1):
        body = system.bodies[b]
        body.force, body.torque = body.m * system.gravity, Vec3(0.0, 0.0, 0.0)


@inline
def gravity_and_gyroscopic(system):
    """Wrench of every body, ground included, <- (m g, -w_B x J w_B)  [JetMultibody, (3.4); Newton-Euler form]"""
    for b in range(system.nb + 1):
        body = system.bodies[b]
        body.force = body.m * system.gravity
        body.torque = cross(body.J @ body.w, body.w)


@inline
def pull_back(row, body, plane):
    """Restrict a row or wrench of a body to the directions in which it can move."""
    if body.kind == POINT:
        row.torque = Vec3(0.0, 0.0, 0.0)
    elif body.kind == PLANAR:
        n, n_B, v = plane.n, body.normal, row.force
        row.force = -(n @ v) * n + v
        row.torque = (n_B @ row.torque) * n_B


@inline
def pull_back_wrenches(system):
    """Restrict wrenches to what planar bodies and point masses can do."""
    for body in system.bodies:
        pull_back(system.wrenches[body.number], body, system.plane)


@inline
def mechanical_energy(system):
    """(T, U) without force elements: T = 1/2 sum m |v|^2 + w_B . J w_B, U = -sum m g . r"""
    T, U = 0.0, 0.0
    for body in system.bodies:
        T += 0.5 * (body.m * (body.v @ body.v) + body.w @ (body.J @ body.w))
        U -= body.m * (system.gravity @ body.r)
    return T, U
