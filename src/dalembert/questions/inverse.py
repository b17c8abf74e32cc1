"""inverse_dynamics: what actuators must supply for a given motion.

At each state, with accelerations w of the bodies, everything but the actuators and the joints is known:

    M w - h = G^T lam + B tau          T^T (M w - h) = T^T B tau,    G T = 0

B has the directions of the actuated joint coordinates, T spans what the joints allow. As many actuators as freedoms: tau is
unique; more: the smallest of weighted size; fewer: what is left over cannot be met, in directions that are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.between_mechanisms import told_by
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import AssemblyError, ModelError
from dalembert.model.elements import Driver
from dalembert.model.forces.on_joints import JointMotor
from dalembert.model.joints import angle_of, check_coordinate, direction_of
from dalembert.model.model import Model
from dalembert.model.motions import MotionLike, Table
from dalembert.model.validation import by_name, nearest, shown
from dalembert.questions.equations import body_matrix, null_space, twist_map
from dalembert.questions.kinematics import kinematics
from dalembert.questions.rows import CompiledRows, Rows
from dalembert.questions.state import size_of
from dalembert.results.reactions import Reaction, resultant
from dalembert.results.signals import Signal
from dalembert.results.solution import BodyResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRESCRIBED = "prescribed "  # name of a driver that makes the motion, before that of its joint
MET = 1e-7  # of what is needed: more than this left over is not met
VIOLATED = 1e-5  # of angles, the size and their rates: more than integration leaves


@dataclass(frozen=True)
class Actuator:
    """An effort along one coordinate of a joint, named like the motor, driver or joint that supplies it; or along the
    direction of a point driver, which then is in `point`."""

    name: str
    joint: str
    component: int
    point: Driver | None = field(default=None, repr=False)

    def slides(self, model: Model) -> bool:
        """Whether it is a force."""
        return self.point is not None or angle_of(model.joint(self.joint), self.component) is None

    def rate(self, states: Trajectory) -> Array:
        """(nt,) of its coordinate, at given states."""
        if self.point is None:
            values = states.coordinate_rate(self.joint)
            return values if values.ndim == 1 else values[:, self.component]
        row, i, j = self.point.primitive, self.point.first, self.point.second
        along, apart = states.rotation(i) @ row.a_i, states.point(j, row.p_j) - states.point(i, row.p_i)
        moving = states.velocity(j, row.p_j) - states.velocity(i, row.p_i)
        turning = np.cross(states.angular_velocity(i), along)
        return np.asarray(np.sum(along * moving + turning * apart, axis=1))


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """What actuators supply along a motion.

    t : (nt,) [s];  unique : no other efforts give the motion;  residual : (nt,) largest share of what is needed that no
    actuator can supply;  uncontrolled : coordinates that the actuators cannot accelerate as wanted
    note : what a reader should know
    """

    t: Array
    motion: BodyResult
    actuators: tuple[Actuator, ...]
    unique: bool
    residual: Array
    uncontrolled: tuple[str, ...]
    _states: Trajectory = field(repr=False)
    _efforts: Array = field(repr=False)
    _multipliers: Array = field(repr=False)

    def effort(self, actuator: object) -> Array:
        """(nt,) torque [N m] or force [N] of an actuator, + on the second body of its joint, or on the body that is driven."""
        return np.asarray(self._efforts[:, self._number(actuator)])

    def power(self, actuator: object) -> Array:
        """(nt,) what it supplies [W]."""
        return self.effort(actuator) * self.actuators[self._number(actuator)].rate(self.motion)

    def reaction(self, joint: object) -> Reaction:
        """What a joint does to its second body, as `Solution.reaction`."""
        name = str(getattr(joint, "name", joint))
        mechanism = self._states.mechanism
        rows = mechanism.rows_of(name)
        if not rows:
            raise ModelError(f"there is no joint {name!r}; {nearest(name, [row.element for row in mechanism.rows])}")
        return resultant(
            self._states, name, np.pad(self._multipliers, ((0, 0), (0, 1)))[:, [min(k, mechanism.m) for k in rows]]
        )

    @cached_property
    def note(self) -> str:
        if self.uncontrolled:
            names = ", ".join(map(repr, self.uncontrolled))
            return f"not met: the actuators cannot make {names} move as wanted ({np.max(self.residual):.2g} of what is needed)"
        if not self.unique:
            return "a choice: there are more actuators than freedoms, and the smallest weighted efforts are given"
        return "unique"

    def motions(self) -> dict[str, Table]:
        """The efforts as motions, for `add_motor`."""
        if len(self.t) < 2:
            raise ModelError("inverse dynamics: one instant makes no motion; ask for more times")
        return {a.name: Table(tuple(self.t.tolist()), tuple(self.effort(a.name).tolist())) for a in self.actuators}

    def plot(self) -> Figure:
        """The efforts over time."""
        from dalembert.plot.fits import draw_efforts

        efforts = [self._signal(actuator) for actuator in self.actuators]
        return draw_efforts(self.motion.mechanism.model.name, self.t, efforts, self.note)

    def _signal(self, actuator: Actuator) -> Signal:
        what, unit = ("force", "N") if actuator.slides(self.motion.mechanism.model) else ("torque", "N m")
        return Signal(f"{what} of {actuator.name}", unit, self.effort(actuator))

    def __repr__(self) -> str:
        names = ", ".join(repr(actuator.name) for actuator in self.actuators)
        return f"<InverseDynamics of {names} at {len(self.t)} instants: {self.note}>"

    def _number(self, actuator: object) -> int:
        name = str(getattr(actuator, "name", actuator))
        names = [a.name for a in self.actuators]
        if name not in names:
            raise ModelError(f"there is no actuator {name!r}; {nearest(name, names)}")
        return names.index(name)


@by_name
def inverse_dynamics(
    model: Model,
    motion: Mapping[str | tuple[str, int], MotionLike] | BodyResult,
    actuators: Sequence[str],
    *,
    t: npt.ArrayLike | None = None,
    weights: Sequence[float] | None = None,
) -> InverseDynamics:
    """What actuators must supply for a given motion, and the reactions that come with it.

    motion : {joint: motion of its coordinate}, {(joint, component): ...} where it has several, at times t [s]; or a solution,
        whose states and accelerations are taken as they are
    actuators : names of motors, drivers or joints; the model's own efforts of these do not count, nor what the other drivers do
        where the actuators alone can make the motion or could not act beside them
    weights : of the squares of the efforts, where there are more actuators than freedoms; default 1
    """
    if not isinstance(model, Model):
        raise ModelError(f"inverse dynamics: the model is {shown(model)}; give a Model of bodies")
    named = [_actuator(model, name) for name in _listed(actuators)]
    scale = _weights(weights, len(named))
    free = _without(model, {actuator.name for actuator in named})
    if isinstance(motion, BodyResult):
        if t is not None:
            raise ModelError("inverse dynamics: a solution brings its own times; leave out t")
        given: BodyResult = motion
    else:
        given = _prescribed(free, motion, t)
    acting = {(actuator.joint, actuator.component) for actuator in named}
    replaced = {driver.name for driver in free.drivers if driver.joint is not None and _driven(free, driver) in acting}
    free = _without(free, replaced)
    kind: Coordinates = "planar" if given.mechanism.coordinates == "planar" else "absolute"
    mechanism = compile(free, kind)
    if given.mechanism.body_names != mechanism.body_names:
        raise ModelError("inverse dynamics: the solution is one of another model; give one of the same bodies")
    if free.drivers:
        released = compile(_without(free, {driver.name for driver in free.drivers}), kind)
        if _in_the_way([_actuator(free, driver.name) for driver in free.drivers], released, given, named):
            mechanism = released
    return _efforts(mechanism, given, tuple(named), scale)


def _in_the_way(drivers: Sequence[Actuator], released: Mechanism, motion: BodyResult, actuators: Sequence[Actuator]) -> bool:
    """Whether drivers do what the actuators are asked for: these can do all that those do, or one cannot act beside them."""
    states, rows, map_ = _states(released, motion), CompiledRows(released), twist_map(released)
    B, D = directions(states, actuators), directions(states, drivers)
    acts, suffice = np.zeros(len(actuators), dtype=bool), False
    for k in np.unique(np.linspace(0, len(motion.t) - 1, 5).astype(int)):
        T = null_space(rows(float(motion.t[k]), states.x[k]).G @ map_)
        acting, driving = T.T @ B[k], T.T @ D[k]
        suffice |= _rank(acting, driving) == _rank(acting)
        acts |= [_rank(driving, column[:, None]) > _rank(driving) for column in acting.T]
    return suffice or not acts.all()


def _rank(*columns: Array) -> int:
    stacked = np.hstack(columns)
    return int(np.linalg.matrix_rank(stacked / np.maximum(np.linalg.norm(stacked, axis=0), 1e-12), tol=1e-9))


def _listed(actuators: Sequence[str]) -> list[str]:
    if isinstance(actuators, str) or not isinstance(actuators, Sequence) or not actuators:
        raise ModelError(
            f"inverse dynamics: actuators is {shown(actuators)}; give a list of names of motors, drivers or joints"
        )
    names = [str(getattr(item, "name", item)) for item in actuators]
    if len(set(names)) < len(names):
        raise ModelError(f"inverse dynamics: actuators {shown(names)} has a name twice; give each once")
    return names


def _weights(weights: Sequence[float] | None, count: int) -> Array:
    values = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    if values.shape != (count,) or not np.all(np.isfinite(values) & (values > 0)):
        raise ModelError(f"inverse dynamics: weights is {shown(weights)}; give a positive number for each of {count} actuators")
    return values


def _actuator(model: Model, name: str) -> Actuator:
    joints = {joint.name: joint for joint in model.joints}
    motors = {motor.name: motor for motor in model.forces if isinstance(motor, JointMotor)}
    drivers = {driver.name: driver for driver in model.drivers if driver.joint is not None}
    if name in motors:
        return Actuator(name, motors[name].joint, motors[name].component)
    if name in drivers:
        return Actuator(name, *_driven(model, drivers[name]))
    points = {driver.name: driver for driver in model.drivers if driver.joint is None}
    if name in points:
        return Actuator(name, "", 0, points[name])
    if name in joints:
        check_coordinate(f"inverse dynamics, joint {name!r}", joints[name], 0)
        return Actuator(name, name, 0)
    known = [*motors, *drivers, *points, *joints]
    raise ModelError(f"inverse dynamics: there is no motor, driver or joint {name!r}; {nearest(name, known)}")


def _driven(model: Model, driver: Driver) -> tuple[str, int]:
    """The joint of a driver, and which of its coordinates."""
    joint = model.joint(str(driver.joint))
    return joint.name, joint.coordinates.index(driver.primitive.labels[0])


def _without(model: Model, names: set[str]) -> Model:
    """A copy without motors and drivers of these names; joints stay."""
    made = model.copy()
    for name in names & {element.name for element in model.drivers} | names & {element.name for element in model.forces}:
        del made._elements[name]
    return made


def _prescribed(free: Model, motion: Mapping[str | tuple[str, int], MotionLike], t: npt.ArrayLike | None) -> BodyResult:
    """The motion pose by pose."""
    if not isinstance(motion, Mapping) or not motion:
        raise ModelError(f"inverse dynamics: motion is {shown(motion)}; give {{joint: motion}}, or a solution")
    if t is None:
        raise ModelError("inverse dynamics: give the times t at which efforts are asked for")
    driven, joints = free.copy(), [joint.name for joint in free.joints]
    for key, value in motion.items():
        name, component = key if isinstance(key, tuple) else (key, 0)
        if name not in joints:
            fix = nearest(str(name), joints)
            if str(name).partition(".")[0] in [*(body.name for body in free.bodies), *(marker.name for marker in free.markers)]:
                fix = (
                    "the motion of a point is that of add_point_driver, one for each direction: da.inverse_dynamics(model,"
                    " da.kinematics(model, t), actuators)"
                )
            raise ModelError(f"inverse dynamics: motion: there is no joint {name!r}; {fix}")
        driven.add_driver(f"{PRESCRIBED}{name} {component}", name, value, component=component)
        joint = driven.joint(name)  # it begins where the motion does
        start = (None if k == component else one for k, one in enumerate(joint.coordinate))
        driven._add(replace(joint, coordinate=tuple(start)))
    try:
        found = kinematics(driven, t)
    except AssemblyError as problem:
        raise ModelError(f"inverse dynamics: the motion violates a joint: {problem}") from problem
    assert isinstance(found, BodyResult)
    asked = np.atleast_1d(np.asarray(t, dtype=float))
    if len(found.t) < len(asked):
        raise ModelError(f"inverse dynamics: the motion cannot be made: {found.message}")
    return found


def _states(mechanism: Mechanism, motion: BodyResult) -> Trajectory:
    states = mechanism.trajectory(motion.t, told_by(mechanism, motion.mechanism, motion.x))
    assert isinstance(states, Trajectory)
    return states


def directions(states: Trajectory, actuators: Sequence[Actuator]) -> Array:
    """(nt, nu, n): rates of the actuated coordinates by the velocities, which is how efforts act."""
    mechanism = states.mechanism
    nq, nu = mechanism.nq, mechanism.nu
    found = np.zeros((len(states.t), nu, len(actuators)))
    x = states.x.copy()
    for k in range(nu):
        x[:, nq : nq + nu] = np.eye(nu)[k]
        moved = mechanism.trajectory(states.t, x)
        for a, actuator in enumerate(actuators):
            found[:, k, a] = actuator.rate(moved)
    return found


def _efforts(mechanism: Mechanism, motion: BodyResult, actuators: tuple[Actuator, ...], weights: Array) -> InverseDynamics:
    states = _states(mechanism, motion)
    x = states.x
    B, rows = directions(states, actuators), CompiledRows(mechanism)
    M, map_ = body_matrix(mechanism), twist_map(mechanism)
    efforts = np.zeros((len(motion.t), len(actuators)))
    lam, residual = np.zeros((len(motion.t), mechanism.m)), np.zeros(len(motion.t))
    unique, left, size = True, np.zeros(mechanism.nu), size_of(mechanism, mechanism.x_0)
    for k, (t, w) in enumerate(zip(motion.t, motion.evaluated.acceleration, strict=True)):
        at = rows(float(t), x[k])
        _refuse_violation(mechanism, float(t), at, map_ @ x[k, mechanism.nq : mechanism.nq + mechanism.nu], w, size)
        G = at.G @ map_
        needed, T = map_.T @ (M @ w - at.h), null_space(G)
        reduced = (T.T @ B[k]) / np.sqrt(weights)
        target = T.T @ needed
        tau, _, rank, _ = np.linalg.lstsq(reduced, target, rcond=1e-10)
        unique &= int(rank) == len(actuators)
        efforts[k] = tau / np.sqrt(weights)
        rest = needed - B[k] @ efforts[k]
        scale = float(np.abs(needed).max(initial=0.0)) or 1.0
        missing = T @ (T.T @ rest)
        residual[k] = float(np.abs(missing).max(initial=0.0)) / scale
        left = np.maximum(left, np.abs(missing) / scale)
        if len(G):
            lam[k] = np.linalg.lstsq(G.T, rest - missing, rcond=1e-10)[0]
    uncontrolled = tuple(_named(mechanism, left)) if np.max(residual, initial=0.0) > MET else ()
    return InverseDynamics(motion.t, motion, actuators, unique, residual, uncontrolled, states, efforts, lam)


def _refuse_violation(mechanism: Mechanism, t: float, at: Rows, u: Array, w: Array, size: float) -> None:
    """Joints and drivers that stay must allow places, velocities and accelerations, by angles and parts of the size."""
    unit = np.tile(np.repeat([size, 1.0], 3), mechanism.nb)
    along = np.maximum(np.linalg.norm(at.G * unit, axis=1), 1e-300)
    rate, second = (float(np.abs(one / unit).max(initial=0.0)) for one in (u, w))
    rate, second = max(rate, np.sqrt(second)), max(second, rate**2)
    for what, wrong, scale in (
        ("place", at.g, 1.0), ("velocity", at.G @ u + at.g_t, rate), ("acceleration", at.G @ w + at.zeta, second),
    ):  # fmt: skip
        share = np.abs(wrong) / along / (scale + 1e-4)  # at rest not against rounding
        if share.max(initial=0.0) > VIOLATED:
            element = next(row.element for row in mechanism.rows if row.index == int(np.argmax(share)))
            raise ModelError(
                f"inverse dynamics: the motion violates {element!r} at t = {t:.6g} s, whose {what} is off by {share.max():.2g}"
                " of what there is; give a motion that the joints of this model allow"
            )


def _named(mechanism: Mechanism, left: Array) -> Iterator[str]:
    """Joint coordinates that move with what is left over, or the bodies."""
    start = mechanism.trajectory(np.zeros(1), mechanism.x_0[None])
    assert isinstance(start, Trajectory)
    pairs = [
        Actuator(joint.name, joint.name, k)
        for joint in mechanism.model.joints
        for k in range(len(joint.coordinates))
        if angle_of(joint, k) is not None or direction_of(joint, k) is not None
    ]
    shares = np.abs(directions(start, pairs)[0]).T @ left if pairs else np.zeros(0)
    if not np.any(shares > 0):
        yield from mechanism.body_names
        return
    for pair, share in zip(pairs, shares, strict=True):
        if share > 0.3 * shares.max():
            yield pair.joint
