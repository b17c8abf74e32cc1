"""The slots of the jet formulation and the plain-Python kernels at one state, as the tests call them.

Only this file knows how the kernels are entered.
"""

from dataclasses import dataclass

import numpy as np

from dalembert.compilation.rows import dense_rows
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import CHOICE, records, width
from dalembert.kernels.base.slots import (
    CALLBACK_SIGNATURE,
    FORCES_SIGNATURE,
    address,
    as_system,
    bind,
    forces,
    no_callback,
    no_forces,
)
from dalembert.kernels.base.views import Rows, System
from dalembert.kernels.coordinates import one_state
from dalembert.kernels.coordinates.choosing import choosing_bodies
from dalembert.kernels.coordinates.kinematics import load_angles, load_poses
from dalembert.kernels.coordinates.solve import pull_back_rows
from dalembert.kernels.formulations.conjugate_gradient import jet_rate_by_cg
from dalembert.kernels.formulations.jet import jet
from dalembert.kernels.formulations.orthogonal import project_orthogonal
from dalembert.kernels.mechanics.forces import force_elements
from dalembert.kernels.mechanics.inertia import pull_back_wrenches
from dalembert.kernels.mechanics.motion import evaluate_motions
from dalembert.kernels.mechanics.primitives import velocity_gradient_rows

STENCIL = ((-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0))
STEP = 1e-3
# Four-point differences: truncation STEP^4 / 30 f^(5) = 3e-14 f^(5), rounding 1.5 eps |f| / STEP = 3e-13 |f|.
# With f^(5) up to 1e4 (angular velocities of 5 rad/s to the fifth power) the error stays below 1e-9.
DIFFERENCE = 2e-9


def difference(f, h=STEP):
    """f'(0) by four points, error O(h^4)."""
    return sum(w * np.asarray(f(k * h)) for k, w in STENCIL) / h


@dataclass
class Evaluation:
    """What one right-hand side leaves behind: rows 0..m-1 of G, wrenches and accelerations with 6 numbers per body."""

    status: int
    rate: np.ndarray
    acceleration: np.ndarray
    lam: np.ndarray
    wrench: np.ndarray
    power: float
    W: np.ndarray


def copy_tables(mechanism, **settings):
    """Writable I and F with the projection's defaults and the settings given by their names in tables."""
    I, F = mechanism.I.copy(), mechanism.F.copy()
    values = {"MAX_NEWTON": 50, "TOL_POSITION": 1e-12, "TOL_VELOCITY": 1e-12, **settings}
    for name, value in values.items():
        (F if name.startswith("TOL_") else I)[getattr(T, name)] = value
    return I, F


def view(mechanism, I, F, W):
    """What kernels take: the force elements, compiled only where there are any, and no user's functions."""
    elements = choosing_bodies if I[T.NCHOICE] else force_elements if I[T.NFORCE] else no_forces
    I[T.AT_FORCES] = address(bind(elements, FORCES_SIGNATURE), FORCES_SIGNATURE)
    I[T.AT_CALLBACK] = address(bind(no_callback, CALLBACK_SIGNATURE), CALLBACK_SIGNATURE)
    I[T.W_SIZE] = len(W)
    return System(I, F, W)


def evaluate(mechanism, t, x, *, conjugate_gradients=False):
    """Accelerations, multipliers and wrenches at one state through the compiled right-hand side."""
    I, F = copy_tables(mechanism)
    system = as_system(jet_rate_by_cg if conjugate_gradients else jet)
    W, dx = mechanism.workspace(), np.zeros(len(x))
    status = system(T.RATE, t, x.copy(), dx, view(mechanism, I, F, W))
    nb6 = 6 * mechanism.nb
    return Evaluation(
        status,
        dx,
        W[I[T.W_ACC] + 6 :][:nb6].copy(),
        W[I[T.W_RHS] :][: mechanism.m].copy(),
        W[I[T.W_H] + 6 :][:nb6].copy(),
        float(dx[mechanism.nq + mechanism.nu]),
        W,
    )


def project(mechanism, t, x, *, orthogonal=False, metric=None, chosen=None, **settings):
    """(status, projected copy of x, workspace) through the compiled projection; chosen : a workspace whose rows act too."""
    I, F = copy_tables(mechanism, **settings)
    if metric is not None:
        I[T.METRIC_F] = metric
    W, x, dx = mechanism.workspace(dense=orthogonal), x.copy(), np.zeros(len(x))
    if chosen is not None and I[T.NCHOICE]:
        rows = slice(I[T.W_CHOICE], I[T.W_CHOICE] + CHOICE.width + I[T.M])
        W[rows] = chosen[rows]
    system = as_system(project_orthogonal if orthogonal else jet)
    return system(T.PROJECT, t, x, dx, view(mechanism, I, F, W)), x, W


def count(mechanism, W):
    """The counters in a workspace."""
    return System(mechanism.I, mechanism.F, W).count


def moved(mechanism, x, dq, du=None):
    """x (+) (dq, du) with 6 numbers per body."""
    x = x.copy()
    du = np.zeros(len(dq)) if du is None else du
    one_state.move(x, dq, du, mechanism.I, mechanism.F, mechanism.workspace())
    return x


def twist(mechanism, x):
    """(v, w_B) of every body, 6 numbers each."""
    W = mechanism.workspace()
    load_poses(x, System(mechanism.I, mechanism.F, W))
    table = records(mechanism.I, W, T.W_BODY)[1:]
    return np.hstack([table["v"], table["w"]]).ravel()


def poses(mechanism, x):
    """Positions (nb, 3) and rotations (nb, 3, 3)."""
    W = mechanism.workspace()
    load_poses(x, System(mechanism.I, mechanism.F, W))
    table = records(mechanism.I, W, T.W_BODY)[1:]
    return table["r"], table["R"]


def restrict(mechanism, v):
    """A random 6-vector per body, cut down to what each body can do (point masses, planar bodies)."""
    x = np.zeros(len(mechanism.x_0))
    x[: mechanism.nq] = mechanism.x_0[: mechanism.nq]
    return twist(mechanism, moved(mechanism, x, np.zeros(len(v)), v))


def mass_matrix(mechanism, metric=None):
    """Block-diagonal (6 nb, 6 nb) mass matrix (or another metric table)."""
    at = int(mechanism.I[T.MASS_F] if metric is None else metric)
    M = np.zeros((6 * mechanism.nb, 6 * mechanism.nb))
    for b in range(1, mechanism.nb + 1):
        m, xx, xy, xz, yy, yz, zz = mechanism.F[at + width(T.MASS_F) * b :][:7]
        k = 6 * (b - 1)
        M[k : k + 3, k : k + 3] = m * np.eye(3)
        M[k + 3 : k + 6, k + 3 : k + 6] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return M


def rows(mechanism, t, x):
    """Dense G, g, g_t, zeta of the independent rows."""
    m = mechanism.m
    return tuple(a[:m] for a in dense_rows(mechanism, t, x))


def velocity_gradient(mechanism, t, x):
    """Dense d(G u + g_t)/dq in quasi-displacements."""
    I, F, W = mechanism.I.tolist(), mechanism.F.tolist(), mechanism.workspace().tolist()
    base, size = len(W), I[T.W_Y] - I[T.W_A]
    W += [0.0] * size
    system = System(I, F, W)
    load_poses(x.tolist(), system)
    evaluate_motions(t, system)
    velocity_gradient_rows(Rows(W, base), system)
    pull_back_rows(Rows(W, base), system)
    B = np.zeros((mechanism.m, 6 * mechanism.nb))
    for e in range(I[T.NINC]):
        body, n, a, row, _ = records(I, I, T.INC_I)[e].tolist()
        B[row : row + n, 6 * (body - 1) : 6 * body] = np.reshape(W[base + a : base + a + 6 * n], (n, 6))
    return B


def energies(mechanism, x):
    """(T, U)"""
    return one_state.energies(x.tolist(), mechanism.I.tolist(), mechanism.F.tolist(), mechanism.workspace().tolist())


def conservative_wrench(mechanism, x):
    """-dU/dq, 6 numbers per body."""
    I, F, W = mechanism.I.copy(), mechanism.F.copy(), mechanism.workspace()
    system = view(mechanism, I, F, W)
    load_poses(x, system)
    load_angles(x, system)
    for b in range(1, mechanism.nb + 1):
        W[I[T.W_H] + 6 * b :][:3] = records(I, F, T.MASS_F)["m"][b] * F[T.GRAVITY_X :][:3]
    assert forces(T.CONSERVATIVE, 0.0, system) == T.OK
    pull_back_wrenches(system)
    return W[I[T.W_H] + 6 :][: 6 * mechanism.nb].copy()


def relative(a, b):
    """Largest difference over the larger norm."""
    return float(np.abs(a - b).max(initial=0.0) / max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0), 1e-300))
