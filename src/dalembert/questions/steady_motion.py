"""A steady motion near a state: Newton's method for the state and the rates of what goes on.

    Y'(x) - sum c_i zeta_i(x) = 0,      rates that were given,      c in the combinations that the constraints allow

Unknowns are steps y in the chart and c; the shortest step where there are more unknowns than equations: steady motions come in
families, and each can be shifted along its actions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError, SimulationError
from dalembert.model.validation import nearest
from dalembert.questions.independent_coordinates import Named, coordinates_by_name
from dalembert.questions.neighbourhood import Neighbourhood
from dalembert.questions.steady import Linearised, linearised
from dalembert.questions.symmetries import Action, Steady, actions, choices, columns, symmetries

_STEPS = 60
_LARGEST = 0.3


def steady_motion(mechanism: Mechanism, x: Array, rates: dict[str, float]) -> tuple[Array, Linearised, int]:
    """The state, its linearisation, and how many steps it took."""
    found = actions(mechanism)
    _refuse_unknown(mechanism, found, rates)
    around = Neighbourhood("equilibrium", mechanism, 0.0, x)
    problem: SimulationError | None = None
    for free in choices(found, symmetries(found, around)):
        try:
            state, iterations = _solved(around, found, free, rates)
            at = linearised(Neighbourhood("equilibrium", mechanism, 0.0, state))
        except SimulationError as error:
            problem = error
            continue
        if at.steady:
            return state, at, iterations
        problem = SimulationError(
            f"equilibrium: no steady motion with these rates was found near the start: {at.left}; give other rates, or start"
            " nearer",
            time=0.0,
        )
    raise problem or SimulationError("equilibrium: no joint or body of the model can go on at a constant rate", time=0.0)


def _joint_names(mechanism: Mechanism) -> list[str]:
    return [joint.name for joint in mechanism.model.joints if len(joint.coordinates) == 1]


def _refuse_unknown(mechanism: Mechanism, found: Sequence[Action], rates: dict[str, float]) -> None:
    known = list(dict.fromkeys([*_joint_names(mechanism), *(action.name for action in found)]))
    for name in rates:
        if name not in known:
            raise ModelError(f"equilibrium: rates: nothing {name!r} could move at a constant rate; {nearest(name, known)}")


def _solved(around: Neighbourhood, chosen: list[Action], free: Array, rates: dict[str, float]) -> tuple[Array, int]:
    mechanism = around.mechanism
    by_name = {action.name: k for k, action in enumerate(chosen)}
    joints = {name: coordinates_by_name(mechanism, name) for name in rates if name in _joint_names(mechanism)}
    rheonomic = any(row.rheonomic for row in mechanism.rows)
    c = _first_rates(around, chosen, free, rates, by_name, rheonomic)
    around = Neighbourhood("equilibrium", mechanism, 0.0, _moving_along(around, Steady(chosen, c)))
    size = np.inf
    for iteration in range(_STEPS):
        residual, J = _equations(around, chosen, c, free, rates, joints, by_name, rheonomic)
        scale = np.abs(around.rates_derivative).max(initial=1.0)
        before, size = size, float(np.abs(residual).max(initial=0.0)) / scale
        if size < 1e-15 or (size < 1e-10 and size > 0.3 * before):
            return around.x, iteration
        step = np.linalg.lstsq(J, -residual, rcond=1e-11)[0].astype(float)
        y, w = step[: -free.shape[1]], step[-free.shape[1] :]
        part = min(1.0, _LARGEST / max(around.largest(y), 1e-300))
        around = Neighbourhood("equilibrium", mechanism, 0.0, around.moved(part * y))
        c = c + part * (free[:-1] @ w)
    raise SimulationError(
        f"equilibrium: no steady motion with rates {rates} was found near the start ({size:.1e} is left); give other rates, or "
        "start nearer",
        time=0.0,
    )


def _first_rates(
    around: Neighbourhood, chosen: list[Action], free: Array, rates: dict[str, float], by_name: dict[str, int], rheonomic: bool
) -> Array:
    """Those nearest to the motion at the start that have the given ones."""
    n = around.positions.shape[1]
    light = 1e-4 * columns(chosen, around, around.x).T[:n]
    wanted = [1e-4 * around.rate[:n]]
    rows = [light @ free[:-1]]
    for name, value in rates.items():
        if name in by_name:
            rows.append(free[by_name[name]][None])
            wanted.append(np.array([value]))
    if rheonomic:
        rows.append(free[-1:])
        wanted.append(np.ones(1))
    weights = np.linalg.lstsq(np.vstack(rows), np.concatenate(wanted), rcond=1e-10)[0]
    return np.asarray(free[:-1] @ weights)


def _moving_along(around: Neighbourhood, zeta: Steady) -> Array:
    """The state with the velocities of the actions, as far as constraints allow."""
    n = around.positions.shape[1]
    poses = around.bodies(around.x[None])
    moved, _ = zeta.at(poses)
    change = moved - np.concatenate([poses[2], poses[3]], axis=2)
    y = around.in_chart(np.zeros_like(change), change)[0]
    y[:n] = 0.0
    return around.moved(y)


def _equations(
    around: Neighbourhood, chosen: list[Action], c: Array, free: Array, rates: dict[str, float],
    joints: dict[str, Named], by_name: dict[str, int], rheonomic: bool,
) -> tuple[Array, Array]:  # fmt: skip
    """Residual and Jacobian by (y, w)."""
    zeta = Steady(chosen, c)
    centre = around.mechanism.trajectory(np.array([around.t]), around.x[None])
    parts = [around.rate - zeta.in_chart(around, around.x[None])[0]]
    by_y = [around.rates_derivative - around.derivative(zeta.in_chart(around, around.states))]
    by_w = [-columns(chosen, around, around.x).T @ free[:-1]]
    for name, value in rates.items():
        if name in joints:
            parts.append(joints[name].rate(centre) - value)
            by_y.append(around.derivative(joints[name].rate(around.series)[:, None]))
            by_w.append(np.zeros((1, free.shape[1])))
        else:
            parts.append(np.array([c[by_name[name]] - value]))
            by_y.append(np.zeros((1, by_y[0].shape[1])))
            by_w.append(free[by_name[name]][None])
    if rheonomic:
        parts.append(np.zeros(1))
        by_y.append(np.zeros((1, by_y[0].shape[1])))
        by_w.append(free[-1:])
    return np.concatenate(parts), np.hstack([np.vstack(by_y), np.vstack(by_w)])
