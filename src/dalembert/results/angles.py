"""The angle of a body of a model in a plane: of its x axis (of a link the way from its start to its end) against the first axis
of the plane, positive towards the second. At the start it lies within half a turn, from there on it counts turns.

In a plane yz the x axis of a body that was not turned out of it is the normal; then it is the angle of the y axis.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.plane import InPlane
from dalembert.results.solution import BodyResult

_TURN = 2.0 * np.pi
_ACROSS = 1e-6  # an axis is the normal; a body leaves the plane [rad]
_HALF = 1e-9  # half a turn is positive [rad]
_SURE = 0.25  # of a turn: what rates may leave open between two states


def body_angle(solution: BodyResult, body: str) -> Array:
    """(nt,) [rad]"""
    flat, plane = _plane_of(solution), solution.mechanism.plane
    if plane is None:
        return _counted(solution, body, flat)
    b, side = solution._body(body), float(plane.normal @ flat.normal)
    if abs(side) < 1.0 - _ACROSS:
        raise _leaves(body, flat)
    start = _start(solution, b, flat)
    if solution.source is not None:  # beside a run: on the same side of half a turn
        start += float(_whole(_start(solution.source, b, flat) - start))
    return np.asarray(start + np.sign(side) * solution.q[:, solution._columns(b)[1] + 2])


def body_rate(solution: BodyResult, body: str) -> Array:
    """(nt,) how fast it grows [rad/s]"""
    return np.asarray(solution.angular_velocity(body) @ _plane_of(solution).normal)


def body_acceleration(solution: BodyResult, body: str) -> Array:
    """(nt,) of its rate [rad/s^2]"""
    return np.asarray(solution.angular_acceleration(body) @ _plane_of(solution).normal)


def _plane_of(solution: BodyResult) -> InPlane:
    name = solution.mechanism.model.structure.plane
    assert name is not None
    return InPlane(name)


def _leaves(body: str, flat: InPlane) -> ModelError:
    fix = f"ask for its rotation, solution.rotation({body!r}), or for angles of joints"
    return ModelError(f"body {body!r} leaves the plane {flat.name} of the model, where it would have one angle; {fix}")


def _start(solution: BodyResult, b: int, flat: InPlane) -> float:
    """In the pose from which planar coordinates count."""
    return float(_angles(solution.mechanism.start_in_plane(b)[1][None], flat)[0])


def _angles(R: Array, flat: InPlane) -> Array:
    """(nt,) of rotations (nt, 3, 3), each within half a turn."""
    axis = R[:, :, 0 if abs(flat.normal @ R[0, :, 0]) < 1.0 - _ACROSS else 1]
    values = np.arctan2(axis @ flat.axes[1], axis @ flat.axes[0])
    return np.asarray(np.where(values < _HALF - np.pi, values + _TURN, values))


def _whole(apart: Array | float) -> Array:
    return np.asarray(_TURN * np.round(np.asarray(apart) / _TURN))


def _counted(solution: BodyResult, body: str, flat: InPlane) -> Array:
    """In coordinates that count no turns of bodies: by their rates, from step to step of the run that these states are of: its
    accuracy keeps steps close to each other, where saved times may be far apart."""
    R, run = solution.rotation(body), solution
    if not len(R):
        return np.zeros(0)
    normal = np.swapaxes(R, 1, 2) @ flat.normal
    if np.ptp(normal, axis=0).max() > _ACROSS:
        raise _leaves(body, flat)
    while run.source is not None:
        run = run.source
    parts = [(s.t, _angles(s.rotation(body), flat), body_rate(s, body)) for s in (one.steps for one in run.pieces or (run,))]
    t, known, rate = map(np.concatenate, zip(*parts, strict=True))
    turns, unsure = _turns(np.diff(t), known[:-1], known[1:], rate[:-1], rate[1:])
    known[1:] += np.cumsum(turns)
    at = np.clip(np.searchsorted(t, solution.t, side="right") - 1, 0, None)
    values = _angles(R, flat)
    turns, also = _turns(solution.t - t[at], known[at], values, rate[at], body_rate(solution, body))
    if max(unsure, also) > _SURE * _TURN:
        raise ModelError(
            f"angle of body {body!r}: saved times are too far apart to count its turns in {solution.mechanism.coordinates}"
            " coordinates; save more of them, or leave out coordinates= (planar ones count)"
        )
    return values + turns


def _turns(dt: Array, before: Array, after: Array, rate: Array, then: Array) -> tuple[Array, float]:
    """What full turns are missing in the later ones of angles, and what their rates leave open [rad]: half a turn either way is
    told for sure where rates between are between these two."""
    apart = before + dt * 0.5 * (rate + then) - after
    whole = _whole(apart)
    return whole, float(np.maximum(np.abs(apart - whole), np.abs(dt * 0.25 * (then - rate))).max(initial=0.0))
