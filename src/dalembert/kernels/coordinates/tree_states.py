"""Absolute states of relative ones: poses and twists of the bodies, Euler parameters continuous in the joint coordinates."""

import numpy as np

from dalembert.kernels.base.algebra import load3, load4, normalise4, store3, store4
from dalembert.kernels.base.compiler import inline, kernel
from dalembert.kernels.base.tables import (
    B_KIND,
    B_Q,
    B_U,
    BODY_I,
    BODY_I_W,
    LF_C,
    LF_P,
    LINK_F,
    LINK_F_W,
    NB,
    NQ,
    NQ_BODY,
    NU,
    NU_BODY,
    NX,
    ONE_ANGLE,
    ORDER_I,
    QUATERNION,
    R_PARENT,
    R_Q,
    R_TURN,
    RIGID,
    S_R,
    S_V,
    S_W,
    STATE_W,
    TREE_I,
    TREE_I_W,
    TWO_ANGLES,
    W_BODY,
    W_CALL,
    W_WORK,
)
from dalembert.kernels.coordinates.tree import move_tree, place_bodies, product4


@kernel
def tree_states(x, out, system):
    """out (nt, nx) <- absolute states of x (nt, n); Euler parameters have unit length."""
    I, W = system.I, system.W
    s, dx = I[W_CALL], W[I[W_WORK] : I[W_WORK] + I[NX]]
    for k in range(x.shape[0]):
        move_tree(x[k], dx, system)
        place_bodies(x[k], system)
        absolute_state(x[k], system)
        for i in range(out.shape[1]):
            out[k, i] = W[s + i]
        for b in range(1, I[NB] + 1):
            body = I[BODY_I] + BODY_I_W * b
            if I[body + B_KIND] == RIGID:
                q = I[body + B_Q] + 3
                store4(out[k], q, normalise4(load4(out[k], q)))


@inline
def relative_quaternion(turn, x, q):
    """Of R(q) of a joint, continuous in q."""
    if turn == QUATERNION:
        return load4(x, q)
    if turn == TWO_ANGLES:
        first = (np.cos(0.5 * x[q]), np.sin(0.5 * x[q]), 0.0, 0.0)
        return product4(first, (np.cos(0.5 * x[q + 1]), 0.0, np.sin(0.5 * x[q + 1]), 0.0))
    return (np.cos(0.5 * x[q]), 0.0, 0.0, np.sin(0.5 * x[q])) if turn == ONE_ANGLE else (1.0, 0.0, 0.0, 0.0)


@inline
def absolute_state(x, system):
    """W_CALL <- the mechanism's own state (r, theta; v, w_B; work, angles), for poses and twists in W_BODY."""
    I, F, W = system.I, system.F, system.W
    s = I[W_CALL]
    for at in range(I[NB]):
        b = I[I[ORDER_I] + at]
        k, f, link, body = I[BODY_I] + BODY_I_W * b, I[LINK_F] + LINK_F_W * b, I[TREE_I] + TREE_I_W * b, I[W_BODY] + STATE_W * b
        q, u, p = s + I[k + B_Q], s + I[NQ_BODY] + I[k + B_U], I[link + R_PARENT]
        store3(W, q, load3(W, body + S_R))
        store3(W, u, load3(W, body + S_V))
        if I[k + B_KIND] == RIGID:
            theta = product4(load4(F, f + LF_P), relative_quaternion(I[link + R_TURN], x, I[link + R_Q]))
            theta = product4(theta, load4(F, f + LF_C))
            if p > 0:
                theta = product4(load4(W, s + I[I[BODY_I] + BODY_I_W * p + B_Q] + 3), theta)
            store4(W, q + 3, theta)
            store3(W, u + 3, load3(W, body + S_W))
    tree, absolute = I[NQ] + I[NU], s + I[NQ_BODY] + I[NU_BODY]
    for i in range(I[NX] - tree):
        W[absolute + i] = x[tree + i]
