"""Inertia and gravity of bodies, and what each kind of body can do."""

from dalembert.kernels.base.algebra import axpy3, cross, dot3, load3, load6, scale3, store3, sym_mul
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import (
    B_KIND,
    BF_NORMAL,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    GRAVITY_X,
    MASS_F,
    METRIC_W,
    MJ,
    MM,
    NB,
    PLANAR,
    PLANE_F,
    POINT,
    S_R,
    S_V,
    S_W,
    STATE_W,
    W_BODY,
    W_H,
)


@inline
def gravity_and_gyroscopic(system):
    """W_H <- (m g, -w_B x I w_B)  [JetMultibody, (3.4); Newton-Euler form]"""
    I, F, W = system.I, system.F, system.W
    gravity = load3(F, GRAVITY_X)
    for b in range(I[NB] + 1):
        h, m = I[W_H] + 6 * b, I[MASS_F] + METRIC_W * b
        w = load3(W, I[W_BODY] + STATE_W * b + S_W)
        store3(W, h, scale3(F[m + MM], gravity))
        store3(W, h + 3, cross(sym_mul(load6(F, m + MJ), w), w))


@inline
def pull_back(a, b, system):
    """Restrict the 6-vector at W[a] (row or wrench of body b) to the directions in which the body can move."""
    I, F, W = system.I, system.F, system.W
    kind = I[I[BODY_I] + BODY_I_W * b + B_KIND]
    if kind == POINT:
        store3(W, a + 3, (0.0, 0.0, 0.0))
    elif kind == PLANAR:
        n, n_B = load3(F, I[PLANE_F] + 6), load3(F, I[BODY_F] + BODY_F_W * b + BF_NORMAL)
        v = load3(W, a)
        store3(W, a, axpy3(-dot3(n, v), n, v))
        store3(W, a + 3, scale3(dot3(n_B, load3(W, a + 3)), n_B))


@inline
def pull_back_wrenches(system):
    """Restrict W_H to what planar bodies and point masses can do."""
    I = system.I
    for b in range(1, I[NB] + 1):
        pull_back(I[W_H] + 6 * b, b, system)


@inline
def mechanical_energy(system):
    """(T, U) without force elements: T = 1/2 sum m |v|^2 + w_B . I w_B, U = -sum m g . r"""
    I, F, W = system.I, system.F, system.W
    T, U, gravity = 0.0, 0.0, load3(F, GRAVITY_X)
    for b in range(1, I[NB] + 1):
        m, s = I[MASS_F] + METRIC_W * b, I[W_BODY] + STATE_W * b
        v, w = load3(W, s + S_V), load3(W, s + S_W)
        T += 0.5 * (F[m + MM] * dot3(v, v) + dot3(w, sym_mul(load6(F, m + MJ), w)))
        U -= F[m + MM] * dot3(gravity, load3(W, s + S_R))
    return T, U
