"""How the states of a run depend on parameters: derivatives ride along as further components of its state.

    x = (x_1 .. x_n, then for every block of parameters dx_1/dp, .., dx_n/dp)

Points of a method are linear in states and rates, so that the time loop treats these components as all others; error norms do
not see them. Here rates and projections of numbers with derivatives stand behind the seams of the run: what comes out is the
derivative of the discrete solution [GriewankWalther2008, 15], Newton's iterations of its projections included. Values are those
of the run without derivatives, to the last bit. Where a motion breaks, derivatives are those before it; those behind it are for
who goes on from there (run/tangents.py).

    I = (this run's, the run's without derivatives, the same with kernels for numbers with derivatives)
    F = (without derivatives, with those of each block, then the sizes of I and of a state)
    W = (without derivatives, those of the blocks, then a state and its rate)
"""

import numpy as np

from dalembert.kernels.base.compiler import JIT, flat, kernel
from dalembert.kernels.base.slots import correction, equations, projection
from dalembert.kernels.base.tables import N_STAT, OK, PROJECT, W_STAT
from dalembert.kernels.base.views import System

if JIT:
    from dalembert.kernels.base.dual_types import COUNT, FEW, as_duals, as_few_duals


BESIDE = 1e-15  # of a time, for what holds before or behind it


@flat
def before_break(t, system):
    """A moment before t, where a motion breaks there, else t."""
    there, stops, count = False, system.stops, system.nstop
    for k in range(count):
        there |= t == stops[k]
    for k in range(count, count + 2 * system.nagain, 2):  # those of periodic motions
        there |= t == stops[k] + stops[k + 1] * np.floor((t - stops[k]) / stops[k + 1] + 0.5)
    return t - BESIDE * abs(t) if there else t


@flat
def carry(seam, as_duals, count, mode, t, x, dx, system):
    """What fills a seam, with derivatives of x and dx. Status."""
    one = 1 + count
    F, W, f_size, w_size = system.F, system.W, system.f_size, system.w_size
    size, n, status, before = int(F[f_size - 2]), int(F[f_size - 1]), OK, before_break(t, system)
    blocks, work = (x.size // n - 1) // count, w_size - 2 * one * n
    own_F, own_W = (f_size - 2) // (1 + one * blocks), work // (1 + one * blocks)
    first, last = system.I[W_STAT], system.I[W_STAT] + N_STAT
    if system.nchoice > 0:  # the workspace tells which rows act
        first, last = 0, own_W
    for b in range(blocks):
        at_x, at_F, at_W = n + count * n * b, own_F * (1 + one * b), own_W * (1 + one * b)
        for i in range(first, last):
            W[at_W + one * i] = W[i]
        for i in range(n):
            W[work + one * i] = x[i]
            for k in range(count):
                W[work + one * i + 1 + k] = x[at_x + count * i + k]
        duals = System(system.I[2 * size :], as_duals(F[at_F:]), as_duals(W[at_W:work]))
        status = seam(mode, before, as_duals(W[work : work + one * n]), as_duals(W[work + one * n : w_size]), duals)
        if status != OK:
            return status
        for i in range(n):
            for k in range(count):
                if mode == PROJECT:
                    x[at_x + count * i + k] = W[work + one * i + 1 + k]
                else:
                    dx[at_x + count * i + k] = W[work + one * (n + i) + 1 + k]
            if mode != PROJECT:
                dx[i] = W[work + one * (n + i)]
        if mode != PROJECT:
            for i in range(first, last):
                W[i] = W[at_W + one * i]
    if mode == PROJECT or before != t:  # also for what the workspace tells of the point
        status = seam(mode, t, x[:n], dx[:n], System(system.I[size:], F, W))
    return status


@kernel
def carried(mode, t, x, dx, system):
    """Rates and projection."""
    if mode == PROJECT:
        return carry(projection, as_duals, COUNT, mode, t, x, dx, system)
    return carry(equations, as_duals, COUNT, mode, t, x, dx, system)


@kernel
def carried_few(mode, t, x, dx, system):
    if mode == PROJECT:
        return carry(projection, as_few_duals, FEW, mode, t, x, dx, system)
    return carry(equations, as_few_duals, FEW, mode, t, x, dx, system)


@kernel
def carried_correction(mode, t, x, dx, system):
    """Back to the invariants that are kept."""
    return carry(correction, as_duals, COUNT, mode, t, x, dx, system)


@kernel
def carried_few_correction(mode, t, x, dx, system):
    return carry(correction, as_few_duals, FEW, mode, t, x, dx, system)
