"""How the states of a run depend on parameters: derivatives ride along as further components of its state.

    x = (x_1 .. x_n, then for every block of parameters x_1 and dx_1/dp, .., x_n and dx_n/dp)

Points of a method are linear in states and rates, so that the time loop treats these components as all others; error norms do
not see them. Here rates and projections of numbers with derivatives stand behind the seams of the run: what comes out is the
derivative of the discrete solution [GriewankWalther2008, 15]. Values are those of the run without derivatives, to the last bit.
Where a motion breaks, derivatives are those before it; those behind it are for who goes on from there (run/tangents.py).

Deviation: projections, of invariants too, have their derivatives through Newton's iterations, as many as values take and with
the factors that these keep, not by one solve where they end (implicit function theorem, which jet_derivatives.py uses for
rates). So every formulation has them from its own kernels, and they are those of the states as they are computed, also where a
projection has nothing to do and so no factors. Of dg/dp about as much is left as of g: both fall with the tolerance.

    I = (this run's, the run's without derivatives, for each block the same with kernels for numbers with derivatives)
    F = (without derivatives, with those of each block, then the sizes of I and of a state)
    W = (without derivatives, those of the blocks)
"""

import numpy as np

from dalembert.kernels.base.compiler import JIT, flat, kernel
from dalembert.kernels.base.layout import COUNTERS
from dalembert.kernels.base.slots import correction, equations, projection
from dalembert.kernels.base.tables import CORRECT, MOVED, OK, PROJECT, W_STAT
from dalembert.kernels.base.views import System

if JIT:
    from dalembert.kernels.base.dual_types import COUNT, FEW, FOUR, MANY, ONE, as_duals


N_STAT = COUNTERS.width
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
def ask(mode, t, x, dx, system):
    """The seam that a mode belongs to. Status."""
    if mode == PROJECT:
        return projection(mode, t, x, dx, system)
    if mode == CORRECT:
        return correction(mode, t, x, dx, system)
    return equations(mode, t, x, dx, system)


@flat
def carry(count, mode, t, x, dx, system):
    """What fills the seams of a run, with derivatives of x and dx. Status."""
    one, moves = 1 + count, mode == PROJECT or mode == CORRECT
    F, W, f_size, w_size = system.F, system.W, system.f_size, system.w_size
    size, n, status, before = int(F[f_size - 2]), int(F[f_size - 1]), OK, before_break(t, system)
    blocks = (x.size // n - 1) // one
    own_F, own_W = (f_size - 2) // (1 + one * blocks), w_size // (1 + one * blocks)
    first, last = system.I[W_STAT], system.I[W_STAT] + N_STAT
    if system.nchoice > 0:  # the workspace tells which rows act
        first, last = 0, own_W
    for b in range(blocks):
        at_x, at_F, at_W = n * (1 + one * b), own_F * (1 + one * b), own_W * (1 + one * b)
        for i in range(first, last):
            W[at_W + one * i] = W[i]
        for i in range(n):
            if x[at_x + one * i] != x[i]:  # hardly ever: a register that was just written in part is slow to read
                x[at_x + one * i] = x[i]
        state, rate = as_duals(x[at_x : at_x + one * n], count), as_duals(dx[at_x : at_x + one * n], count)
        duals = System(system.I[(2 + b) * size :], as_duals(F[at_F:], count), as_duals(W[at_W:], count))
        status = ask(mode, before, state, rate, duals)
        if status != OK and status != MOVED:  # by an invariant: the values below move as well, and say so
            return status
        if not moves:
            for i in range(n):
                dx[i] = dx[at_x + one * i]
            for i in range(first, last):
                W[i] = W[at_W + one * i]
    if moves or before != t:  # also for what the workspace tells of the point
        status = ask(mode, t, x[:n], dx[:n], System(system.I[size:], F, W))
    return status


@kernel
def carried(mode, t, x, dx, system):
    return carry(COUNT, mode, t, x, dx, system)


@kernel
def carried_many(mode, t, x, dx, system):
    return carry(MANY, mode, t, x, dx, system)


@kernel
def carried_four(mode, t, x, dx, system):
    return carry(FOUR, mode, t, x, dx, system)


@kernel
def carried_few(mode, t, x, dx, system):
    return carry(FEW, mode, t, x, dx, system)


@kernel
def carried_one(mode, t, x, dx, system):
    return carry(ONE, mode, t, x, dx, system)
