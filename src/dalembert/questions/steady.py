"""The linearisation of a steady state or motion in the chart of its neighbourhood: Y' = A Y in a frame that goes along.

A = D(Y' - zeta)      with zeta(x_0) = Y'(x_0), zero at rest
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.trajectory import Trajectory
from dalembert.questions.neighbourhood import Neighbourhood, bodies_of
from dalembert.questions.symmetries import Steady, actions, choices, fitted, symmetries

RESTING = 1e-6  # of what is left over of accelerations and velocities, against those that are there
_ERROR, _ERROR_MOVING = 1e-15, 1e-12  # of A against its size: of exact derivatives, at rest; of differences along actions
_ZERO = 100.0  # of these errors, singular values of directions along which nothing happens


@dataclass(frozen=True, eq=False)
class Linearised:
    """A in the chart;  zeta : the actions along which the state moves;  residual : what is left over, as part of what is there

    left : which body is farthest from steady, by what, in words
    """

    A: Array
    zeta: Steady
    residual: float
    left: str

    @property
    def steady(self) -> bool:
        return self.residual <= RESTING

    @property
    def error(self) -> float:
        """Of A against its size."""
        return _ERROR_MOVING if self.zeta.actions else _ERROR

    @property
    def grows(self) -> bool:
        """Whether a real part is positive, by more than errors of A make of it: much, where eigenvalues share a vector."""
        from scipy.linalg import eig

        k, _, upper = self.staircase()
        if k == len(upper):
            return False
        rest = upper[k:, k:]
        values, left, right = eig(rest, left=True, right=True)
        own = np.maximum(np.abs(np.sum(left.conj() * right, axis=0)), 1e-300)  # cosine of left and right vector
        unsure = 1e-9 * np.abs(values).max() + self.error * np.linalg.norm(rest, 2) / own
        return bool(np.any(values.real > unsure))

    def staircase(self) -> tuple[int, Array, Array]:
        """Of A, with zeros as its errors allow."""
        return staircase(self.A, _ZERO * self.error)


def linearised(around: Neighbourhood) -> Linearised:
    """In a frame that goes along with the motion."""
    around.refuse_kinks()
    if _rests(around):
        return _with(around, Steady((), np.zeros(0)))
    found = actions(around.mechanism)
    free = symmetries(found, around)
    for combinations in choices(found, free):
        if (one := _with(around, fitted(found, combinations, around))).steady:
            return one
    return _with(around, Steady((), np.zeros(0)))


def staircase(A: Array, least: float) -> tuple[int, Array, Array]:
    """(k, Q, Q^-1 A Q): k zero eigenvalues, taken out kernel by kernel, come first in an upper block triangle.

    Eigenvalues that are zero more often than they have vectors would come out as roots of rounding errors otherwise. A is
    balanced first: beside accelerations k/m of something fast, a rate of 1 for a velocity of 1 looks like nothing; but not
    by entries that are errors of their row, or the errors of a cyclic coordinate would be scaled up to be seen.
    """
    from scipy.linalg import matrix_balance

    n, k, Q = len(A), 0, np.eye(len(A))
    lengths = np.ones(n)
    if n:
        size = np.abs(A)
        told = np.where(size > least * size.max(axis=1, keepdims=True), A, 0.0)
        _, (lengths, _) = matrix_balance(told, permute=False, separate=True)
        A = A * lengths / lengths[:, None]
    scale = float(np.linalg.norm(A, 2)) if n else 0.0
    while k < n and scale > 0.0:
        rest = (Q.T @ A @ Q)[k:, k:]
        _, values, V = np.linalg.svd(rest)
        zeros = int(np.sum(values <= least * scale))
        if not zeros:
            break
        turn = np.vstack([V[len(values) - zeros :], V[: len(values) - zeros]]).T
        Q[:, k:] = Q[:, k:] @ turn
        k += zeros
    return (k if scale > 0.0 else n), lengths[:, None] * Q, Q.T @ A @ Q


def eigenvalues(chart: Linearised) -> npt.NDArray[np.complex128]:
    """All of them, exact zeros included, by imaginary part, then real part."""
    k, _, upper = chart.staircase()
    found = np.concatenate([np.zeros(k), np.linalg.eigvals(upper[k:, k:])]).astype(complex)
    return found[np.lexsort((found.imag, found.real.round(12), np.abs(found.imag).round(12)))]


def divided(a: Array, b: Array) -> Array:
    """a b^-1"""
    return np.asarray(np.linalg.solve(b.T, a.T).T, dtype=float)


def scale_of(around: Neighbourhood) -> tuple[float, float]:
    """Velocities [m/s] and accelerations [m/s^2] that are there: what residuals are compared with."""
    _, _, v, w = around.bodies(around.x[None])
    acceleration = around.centre.acceleration.reshape(-1, 6)
    speed = float(np.abs(v).max(initial=0.0) + around.size * np.abs(w).max(initial=0.0))
    gravity = float(np.linalg.norm(around.mechanism.model.gravity))
    there = np.abs(acceleration[:, :3]).max(initial=0.0) + around.size * np.abs(acceleration[:, 3:]).max(initial=0.0)
    loads = np.abs(around.rates_derivative).max(initial=0.0) * 1e-6
    return speed or 1.0, max(gravity, there, speed**2 / around.size, float(loads) * around.size) or 1.0


def _rests(around: Neighbourhood) -> bool:
    mechanism = around.mechanism
    nq, nu = mechanism.nq, mechanism.nu
    g_t = dense_rows(mechanism, around.t, around.x)[2]
    return not np.abs(around.x[nq : nq + nu]).max(initial=0.0) > 1e-12 and not np.abs(g_t).max(initial=0.0) > 0.0


def _with(around: Neighbourhood, zeta: Steady) -> Linearised:
    A = around.rates_derivative
    if zeta.actions:
        A = A - around.derivative(zeta.in_chart(around, around.states))
    series = around.mechanism.trajectory(np.array([around.t]), around.x[None])
    return Linearised(A, zeta, *off_steady(series, around.centre.acceleration, zeta, *scale_of(around), around.size))


def off_rates(
    series: Trajectory, acceleration: Array, rates: Mapping[str, float], speed: float, most: float, size: float
) -> tuple[float, str]:
    """`off_steady` of a motion whose actions have these rates, by name."""
    found = actions(series.mechanism)
    zeta = Steady(found, np.array([rates.get(action.name, 0.0) for action in found]))
    return off_steady(series, acceleration, zeta, speed, most, size)


def off_steady(
    series: Trajectory, acceleration: Array, zeta: Steady, speed: float, most: float, size: float
) -> tuple[float, str]:
    """What of the velocities and accelerations (nb, 6) of one state is not that of the actions, as part of those that are
    there (speed, most), and where that is, in words."""
    poses = bodies_of(series)
    moved, changed = zeta.at(poses)
    left = np.concatenate([poses[2], poses[3]], axis=2) - moved
    acceleration = acceleration.reshape(1, -1, 6) - changed
    amounts = {  # of each body, and in what they are measured as part of what is there
        ("velocity", "m/s", speed): left[0, :, :3],
        ("angular velocity", "rad/s", speed / size): left[0, :, 3:],
        ("acceleration", "m/s^2", most): acceleration[0, :, :3],
        ("angular acceleration", "rad/s^2", most / size): acceleration[0, :, 3:],
    }
    sizes = {key: np.abs(values).max(axis=1) for key, values in amounts.items()}
    worst = max(sizes, key=lambda key: float(sizes[key].max()) / key[2])
    k, (word, unit, scale) = int(np.argmax(sizes[worst])), worst
    share = float(sizes[worst][k]) / scale
    told = f"the {word} of body {series.mechanism.body_names[k]!r} is off by {sizes[worst][k]:.3g} {unit}"
    return share, f"{told}, {share:.2g} of those that are there"
