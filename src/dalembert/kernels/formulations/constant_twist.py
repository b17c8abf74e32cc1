"""Bodies that move with constant velocities xi = (v, w_B) for a while, and the directions in which each kind of body can move.

    r + s v,   theta exp(s w_B)  (rigid);   r + s v  (point mass);   x, y, beta + s (x', y', beta')  (planar)

|theta| = 1 at every s; the product is normalised against rounding alone.
"""

from dalembert.kernels.base.algebra import add3, axpy3, load3, load4, load6, normalise4, scale3, store3, store4, sym_mul
from dalembert.kernels.base.compiler import inline
from dalembert.kernels.base.tables import (
    B_KIND,
    B_Q,
    B_U,
    BF_NORMAL,
    BODY_F,
    BODY_F_W,
    BODY_I,
    BODY_I_W,
    MASS_F,
    METRIC_W,
    MJ,
    MM,
    NB,
    NQ,
    NU,
    PLANAR,
    PLANE_F,
    RIGID,
    S_V,
    S_W,
    STATE_W,
    W_BODY,
)
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.coordinates.exponential import exponential4, multiply4
from dalembert.kernels.coordinates.kinematics import in_plane, load_poses


@inline
def freedoms(b, system):
    """(first velocity, number of velocities) of a body"""
    I = system.I
    k = I[BODY_I] + BODY_I_W * b
    return I[k + B_U], 6 if I[k + B_KIND] == RIGID else 3


@inline
def direction(b, c, system):
    """(v, w_B) of a unit of the body's velocity c"""
    I, F = system.I, system.F
    if I[I[BODY_I] + BODY_I_W * b + B_KIND] == PLANAR:
        if c == 2:
            return (0.0, 0.0, 0.0), load3(F, I[BODY_F] + BODY_F_W * b + BF_NORMAL)
        return load3(F, I[PLANE_F] + 3 * c), (0.0, 0.0, 0.0)
    return (
        (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0),
        (1.0 if c == 3 else 0.0, 1.0 if c == 4 else 0.0, 1.0 if c == 5 else 0.0),
    )


@inline
def add_components(out, stride, scale, v, w, b, system):
    """W[out + stride u] += scale times the part of the 6-vector (v, w) that works along velocity u of the body."""
    I, W = system.I, system.W
    first, count = freedoms(b, system)
    if I[I[BODY_I] + BODY_I_W * b + B_KIND] == PLANAR:
        c = in_plane(Vec3(v[0], v[1], v[2]), Vec3(w[0], w[1], w[2]), system.bodies[b], system.plane)
        v = (c.x, c.y, c.z)
    for c in range(3):
        W[out + stride * (first + c)] += scale * v[c]
    if count == 6:
        for c in range(3):
            W[out + stride * (first + 3 + c)] += scale * w[c]


@inline
def move(s, x, z, y, system):
    """y <- state x after s of the constant velocities W[z], and these velocities."""
    I, W = system.I, system.W
    nq = I[NQ]
    for i in range(x.size):
        y[i] = x[i]
    for i in range(I[NU]):
        y[nq + i] = W[z + i]
    for b in range(1, I[NB] + 1):
        k = I[BODY_I] + BODY_I_W * b
        q, u = I[k + B_Q], nq + I[k + B_U]
        store3(y, q, axpy3(s, load3(y, u), load3(x, q)))
        if I[k + B_KIND] == RIGID:
            turn = exponential4(scale3(s, load3(y, u + 3)))
            store4(y, q + 3, normalise4(multiply4(load4(x, q + 3), turn)))
    load_poses(y, system)


@inline
def twist(b, system):
    I, W = system.I, system.W
    s = I[W_BODY] + STATE_W * b
    return load3(W, s + S_V), load3(W, s + S_W)


@inline
def momentum_along(b, S, system):
    """y = M xi + S of a body"""
    I, F, W = system.I, system.F, system.W
    m = I[MASS_F] + METRIC_W * b
    v, w = twist(b, system)
    return (
        axpy3(F[m + MM], v, load3(W, S + 6 * b)),
        add3(sym_mul(load6(F, m + MJ), w), load3(W, S + 6 * b + 3)),
    )
