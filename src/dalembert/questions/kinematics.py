"""kinematics: the motion of a mechanism whose drivers leave no freedom, pose by pose, without integration.

    g(q, t) = 0      G u + g_t = 0      G u' + zeta = 0

From one pose to the next by the rates here and before, extrapolated, and Newton's method: the branch is followed, never
jumped, because a correction that is not small against the step halves the step. Where steps shrink to nothing, (q, t) is
followed along the curve g = 0 itself, by its length (curve.py): at a dead centre t has an extremum along it, at a change point
another curve crosses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Coordinates
from dalembert.compilation.compiled_loops import compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows, measured
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations.evaluation import evaluate
from dalembert.formulations.moving_frame import MovingFrame
from dalembert.formulations.run import Run
from dalembert.integrators.explicit_rk import DOP853
from dalembert.kernels.base import tables as T
from dalembert.kernels.time import poses
from dalembert.model.elements import GROUND
from dalembert.model.joints import angle_of, direction_of
from dalembert.model.model import Model
from dalembert.model.validation import by_name, shown
from dalembert.questions.curve import Curve, Point
from dalembert.questions.equations import null_space, twist_map
from dalembert.questions.poses import apart, unmoved
from dalembert.questions.state import closing, size_of
from dalembert.questions.swept import SWEEP, swept, values_of
from dalembert.remarks.row_words import beyond_reach
from dalembert.run.statistics import Pivots, Statistics, pivots_of
from dalembert.simulation.simulate import describe
from dalembert.simulation.solution import Solution

FARTHEST = 0.1  # between two poses: of a Euler parameter, or over the mechanism's size
TRUSTED = 0.1  # correction of a predicted pose over the step
ROUNDING = 1e-9  # corrections below are no matter
SMALLEST = 1e-7  # step over the largest one, where a limit is looked for
CURVE = 0.02  # length of a step along the curve, rad or of the size
_MOST_ALONG = 400  # steps along the curve
_STARTS = 400  # random poses from which other branches are looked for


@by_name
def kinematics(
    model: Model | Mechanism,
    t: npt.ArrayLike | None = None,
    *,
    sweep: Mapping[str | tuple[str, int], npt.ArrayLike] | None = None,
    branches: bool = False,
) -> Solution | list[Solution]:
    """Positions, velocities, accelerations and reactions of a mechanism whose drivers leave no freedom, without integration.

    t : times [s], in one direction
    sweep : {joint: values} of its coordinate [rad or m] instead, {"P.x": values} or {("P", 0): values} where it has several;
        `solution.t` then holds these values, in rising order, and rates are per unit of the coordinate. Further ones are held
        at numbers, {"A": values, "B": 0.0}; a driver of these, or of all, gives way to the sweep; what else moves in time
        stands still as it is at the one time t, default 0
    branches : a list of solutions, one for each way in which the mechanism can be assembled at the first value

    The result is a `Solution`, as far as the motion can go: where it ends before the last value, at a dead centre, its status
    is "event" and its message says so; `solution.events` has dead centres and change points, where branches meet, with their
    values. Reactions follow from the masses; external work is what the motion takes. Bodies may be without mass: positions,
    velocities and accelerations are the same, reactions, efforts and energies are refused.
    """
    if t is None and sweep is None:
        raise ModelError("kinematics: give times, or sweep={joint: values}, one of the two")
    plain, without = _with_masses(_without_rates(model))
    coordinates: Coordinates | None = "absolute" if branches else None
    told: dict[str, object] = {"kinematics": True} | ({"without_mass": without} if without else {})
    if sweep is None:
        mechanism, values, begin = compile(plain, coordinates), values_of("t", t), 0.0
    else:
        mechanism, values, begin, more = swept(plain, sweep, t, coordinates)
        told |= more
    _refuse_freedom(mechanism, sweep)
    starts = [mechanism.x_0]
    if branches:
        starts += _other_branches(mechanism, begin)
    found = [_followed(mechanism, values, begin, x, told) for x in starts]
    return found if branches else found[0]


def _without_rates(model: Model | Mechanism) -> Model:
    """The model without given velocities and rates: those of drivers are all that counts."""
    own = model.model if isinstance(model, Mechanism) else model
    if not isinstance(own, Model):
        raise ModelError(f"kinematics: the model is {shown(model)}; give a Model of bodies")
    made = unmoved(own)
    for joint in own.joints:
        made._add(replace(joint, rate=(None,) * len(joint.rate)))
    return made


def _with_masses(model: Model) -> tuple[Model, list[str]]:
    """The model with a mass for bodies that have none, and their names: poses and rates do not depend on it."""
    without = [body for body in model.bodies if not body.mass]
    if not without:
        return model, []
    mass = float(np.mean([body.mass for body in model.bodies if body.mass] or [1.0]))
    points = [body.position for body in model.bodies] + [np.zeros(3)]
    size = float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
    for body in without:
        model._add(replace(body, mass=mass, inertia=0.1 * mass * size**2 * np.eye(3)))
    return model, [body.name for body in without]


def _refuse_freedom(mechanism: Mechanism, sweep: object = None) -> None:
    rolling = [row.element for row in mechanism.rows if row.nonholonomic]
    if rolling:
        raise ModelError(
            f"kinematics: {rolling[0]!r} relates velocities, so that poses depend on the way to them; use simulate, which"
            " integrates them"
        )
    if (free := mechanism.degrees_of_freedom) > 0:
        joints, bodies = missing_drivers(mechanism)
        instead = "sweep one instead" if sweep is None else "hold them in the sweep, {joint: values, other: number}"
        fixes = [f"add_driver on {', '.join(joints)} leaves none of them, or {instead}"] if joints else []
        if bodies:
            fixes.append(
                f"no driver of a joint takes {free - len(joints)} of them, motion of"
                f" {', '.join(bodies)}: a rod between two ball joints turns about itself until one is a universal joint, a"
                " free body needs a joint or add_point_driver"
            )
        raise ModelError(f"kinematics: the mechanism still has {free} degree{'s' * (free > 1)} of freedom; {'; '.join(fixes)}")


def missing_drivers(mechanism: Mechanism) -> tuple[list[str], list[str]]:
    """Joint coordinates, those on the ground first, whose drivers take the freedom that is left, and the bodies that may move
    on nevertheless."""
    from scipy.linalg import qr

    x = mechanism.x_0
    B = twist_map(mechanism)
    basis = null_space(dense_rows(mechanism, 0.0, x)[0][: mechanism.m] @ B)
    moved = np.tile(x, (basis.shape[1], 1))
    moved[:, mechanism.nq : mechanism.nq + mechanism.nu] = basis.T
    series = mechanism.trajectory(np.zeros(len(moved)), moved)
    names, found = [], [np.zeros(len(moved))]  # nothing, that there be a row
    for joint in mechanism.model.joints:
        rates = series.coordinate_rate(joint.name).reshape(len(moved), -1) if joint.coordinates else np.zeros((0, 0))
        for component, label in enumerate(joint.coordinates):
            if angle_of(joint, component) is not None or direction_of(joint, component) is not None:
                which = "" if len(joint.coordinates) == 1 else f" (component={component}, {label})"
                names.append(repr(joint.name) + which)
                found.append(rates[:, component] * (1.0 if GROUND in (joint.first, joint.second) else 1e-3))
    rows = np.array(found)
    _, triangle, order = qr(rows.T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    chosen = order[: np.sum(pivots > 1e-9 * pivots.max(initial=1e-300))][: mechanism.degrees_of_freedom]
    joints = [names[k - 1] for k in chosen]
    if len(joints) == mechanism.degrees_of_freedom:
        return joints, []
    left = np.abs(B @ basis @ null_space(rows[chosen])).max(axis=1, initial=0.0).reshape(-1, 6).max(axis=1)
    return joints, [repr(name) for name, share in zip(mechanism.body_names, left, strict=True) if share > 1e-6 * left.max()]


class _Way:
    """Poses one after another; x : state at time t."""

    def __init__(self, run: Run, t: float, x: Array, size: float) -> None:
        self.run, self.x, self.size, self.count = run, x, size, 0
        self._dx, self._before, self._trial = np.zeros_like(x), np.zeros_like(x), np.ones((4, len(x)))
        turning = {k + i for k in run.mechanism.quaternion_columns for i in range(4)}  # type: ignore[attr-defined]
        self._trial[3] = [1.0 if k in turning else 1.0 / size for k in range(len(x))]
        self._way = np.zeros(poses.WAY)
        self._way[[poses.NOW, poses.BEFORE]] = t
        self._way[[poses.FARTHEST, poses.TRUSTED, poses.ROUNDING, poses.SMALLEST]] = FARTHEST, TRUSTED, ROUNDING, SMALLEST
        status = run.project(T.PROJECT, t, x, self._dx, run.view)
        if status != T.OK or run.rate(t, x, self._dx) != T.OK or not np.isfinite(self._dx).all():
            raise SimulationError("kinematics: the first pose cannot be closed, or is singular; begin beside it", time=t)

    @property
    def t(self) -> float:
        return float(self._way[poses.NOW])

    @property
    def crossed(self) -> int:
        """How many steps may have led across a singular pose."""
        return int(self.run.view.pivot.crossed)

    def to(self, values: Array) -> Array:
        """States at values, as far as they are reached."""
        states = np.zeros((len(values), len(self.x)))
        count = compiled("follow_poses")(
            values, states, self.x, self._dx, self._before, self._trial, self._way, self.run.view
        )  # fmt: skip
        return states[:count]

    @property
    def statistics(self) -> Statistics:
        way, pivots = self._way, pivots_of(self.run)
        return Statistics(
            accepted=self.count, projections=int(way[poses.PROJECTIONS]), largest_projection=float(way[poses.SIZE]),
            largest_projection_share=float(way[poses.SHARE]), largest_projection_at=float(way[poses.WHEN]),
            smallest_pivot=pivots.smallest, smallest_pivot_time=pivots.time,
        )  # fmt: skip


def _followed(mechanism: Mechanism, values: Array, begin: float, x: Array, told: dict[str, object]) -> Solution:
    """Poses at all values, as far as they can be reached from the given one; told : settings that results should know."""
    size = size_of(mechanism, x)
    formulation = closing(size)
    run = formulation.prepare(mechanism)
    way = _Way(run, begin, x.copy(), size)
    curve = Curve(mechanism, way.size)
    found = way.to(values)
    way.count, times = len(found), values[: len(found)]
    events = _change_points(curve, pivots_of(run), begin, x, times, found)
    status, message = "complete", ""
    if len(found) < len(values):
        end, locking = _dead_centre(curve, way, float(values[len(found)]))
        why = f"a dead centre: {', '.join(map(repr, locking)) or 'the mechanism'} cannot follow further"
        events.append((why, end))
        if "over" not in told and (reach := beyond_reach(mechanism, end, locking)):
            why += f"; {reach}"
        early = "" if len(found) else f" before the first value, {values[0]:.6g},"
        status, message = "event", f"the motion ends{early} at {end:.7g}{'' if 'over' in told else ' s'}, {why}"
    settings = describe(formulation, DOP853(), mechanism, float(values[-1]))
    settings |= {"plain_python": list(run.callbacks.slow)} | told
    if len(times) > 1 and times[1] < times[0]:
        times, found = times[::-1].copy(), found[::-1].copy()
    if len(times):
        energy = evaluate(run, times, found).energy.sum(axis=1)
        found[:, mechanism.nq + mechanism.nu] = energy - float(sum(mechanism.energies(mechanism.x_0)))
    solution = Solution(
        mechanism, times, found, settings=settings, formulation=formulation, integrator=DOP853(), status=status,
        message=message, events=tuple(events), statistics=way.statistics,
        warnings=tuple(f"{name} at {at:.10g}" for name, at in events),
    )  # fmt: skip
    if not len(times):
        raise SimulationError(f"kinematics: {message}", solution=solution, time=begin)
    return solution


def _change_points(
    curve: Curve, pivots: Pivots, begin: float, x: Array, times: Array, states: Array
) -> list[tuple[str, float]]:
    """Those within the steps that the kernels noted."""
    events: list[tuple[str, float]] = []
    known, at = np.concatenate([[begin], times]), np.concatenate([x[None], states])
    forward = len(times) < 1 or times[-1] > begin
    for first, last in pivots.steps:
        start, end = (first, last) if forward else (last, first)
        k = max(int(np.sum(known <= start if forward else known >= start)) - 1, 0)
        found = _change_point(curve, float(known[k]), at[k], end)
        if found is not None and all(abs(found[1] - other) > 1e-6 for _, other in events):
            events.append(found)
    return events


def _dead_centre(curve: Curve, way: _Way, value: float) -> tuple[float, list[str]]:
    """The extremum of t along the curve beyond the last pose, and the joints and drivers that lock there."""
    for point, ahead in _along(curve, way.t, way.x, value):
        if ahead.rate * point.rate <= 0:
            turn = curve.root(point, CURVE, "rate")
            return turn.t, [name for name in curve.mechanism.locking(turn.t, turn.x)[1] if not name.startswith(SWEEP)]
    raise SimulationError(
        f"kinematics: poses beyond {way.t:.10g} could not be followed, though no dead centre was found; give closer values",
        time=way.t,
    )


def _change_point(curve: Curve, t: float, x: Array, value: float) -> tuple[str, float] | None:
    """(name, t) where branches cross between a pose and the next, None where they do not."""
    for point, ahead in _along(curve, t, x, value):
        if ahead.sign * point.sign < 0:
            return "a change point, where branches meet", curve.root(point, CURVE, "sign").t
    return None


def _along(curve: Curve, t: float, x: Array, value: float) -> Iterator[tuple[Point, Point]]:
    """Neighbouring points of the curve from a pose on, as far as a value."""
    point = curve.point(t, x, float(np.sign(value - t)))
    for _ in range(_MOST_ALONG):
        ahead = curve.beyond(point, CURVE)
        if ahead is None:
            return
        yield point, ahead
        if (ahead.t - value) * (point.t - value) <= 0:
            return
        point = ahead


def _other_branches(mechanism: Mechanism, begin: float) -> list[Array]:
    """States of the other ways in which the mechanism can be assembled, from seeded random poses of its joints."""
    size = size_of(mechanism, mechanism.x_0)
    run, close = MovingFrame().prepare(mechanism), closing(size).prepare(mechanism)
    tree, rng = run.tree, np.random.default_rng(0)
    assert tree is not None
    x_0 = mechanism.x_0.copy()
    known = [x_0]
    for _ in range(_STARTS):
        x = tree.x_0.copy()
        for link in tree.links:
            turn, rotations, slides = link.kind
            at = link.q
            if turn >= T.QUATERNION:
                theta = rng.standard_normal(4)
                x[at : at + 4], at = theta / np.linalg.norm(theta), at + 4
            else:
                x[at : at + rotations], at = x[at : at + rotations] + rng.uniform(-np.pi, np.pi, rotations), at + rotations
            x[at : at + len(slides)] += rng.uniform(-size, size, len(slides))
        if run.project(T.PROJECT, begin, x, np.zeros_like(x), run.view) != T.OK or not np.isfinite(x).all():
            continue
        state = tree.to_absolute(x[None])[0]
        state[mechanism.nq + mechanism.nu :] = x_0[mechanism.nq + mechanism.nu :]
        state[len(state) - int(mechanism.I[T.NANGLE]) :] = measured(mechanism, state)
        if close.project(T.PROJECT, begin, state, np.zeros_like(state), close.view) != T.OK or not np.isfinite(state).all():
            continue
        if all(apart(mechanism, state, other) > 1e-6 for other in known):
            known.append(state)
    return known[1:]
