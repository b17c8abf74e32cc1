"""What a sweep follows: one joint coordinate instead of time, all else where it is held.

A driver s = t moves the coordinate; others are held at plain numbers. Drivers of these coordinates give way, and so does the
only one of a model that has no freedom beside it. What else moves in time stands still as it is at one time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motion_values
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.model.elements import Joint
from dalembert.model.joints import angle_of, check_coordinate
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Motion, Polynomial
from dalembert.model.validation import is_number, nearest, number, shown

SWEEP, HELD = "swept ", "held "  # names of the drivers of a sweep, before those of the coordinates


class Swept(NamedTuple):
    """values : of the coordinate;  begin : the one of the model's pose;  told : settings that results should know"""

    mechanism: Mechanism
    values: Array
    begin: float
    told: dict[str, object]


def values_of(label: str, values: object) -> Array:
    """Those that poses are asked for."""
    try:
        array = np.ascontiguousarray(np.atleast_1d(np.asarray(values, dtype=float)))
    except (TypeError, ValueError):
        raise ModelError(f"kinematics: {label} is {shown(values)}; give finite numbers in one direction") from None
    steps = np.diff(array)
    if array.ndim != 1 or not array.size or not np.all(np.isfinite(array)) or not (np.all(steps > 0) or np.all(steps < 0)):
        raise ModelError(f"kinematics: {label} is {shown(values)}; give finite numbers that rise, or fall, all the way")
    return array


def swept(model: Model, sweep: object, t: object, coordinates: Coordinates | None) -> Swept:
    """The mechanism with a driver s = t on a joint coordinate; t : when what moves in time stands still."""
    if t is not None and not is_number(t):
        raise ModelError(f"kinematics: t is {shown(t)}; with a sweep give one time, at which drivers stand, or leave it out")
    at_time = number("kinematics", "t", t or 0.0)
    key, values = _chosen(sweep)
    assert isinstance(sweep, Mapping)
    model, replaced = _released(model, [coordinate_of(model, key) for key in sweep])
    model, still = _standing(model, at_time)
    for other in (other for other in sweep if other != key):
        joint, component = coordinate_of(model, other)
        value = number("kinematics", f"sweep[{other!r}]", sweep[other])
        _drive(model, HELD, joint, component, Constant(value))
        _place(model, joint, component, value)
    joint, component = coordinate_of(model, key)
    wanted = values_of(f"sweep[{key!r}]", values)
    pose = compile(model)
    s = pose.trajectory(np.zeros(1), pose.x_0[None]).coordinate(joint.name)
    begin = float(s[0] if s.ndim == 1 else s[0, component])
    driven = model.copy()
    _drive(driven, SWEEP, joint, component, Polynomial((begin, 1.0)))
    mechanism = compile(driven, coordinates)
    exact = model.copy()
    _drive(exact, SWEEP, joint, component, Polynomial((0.0, 1.0)))
    F = mechanism.F.copy()
    record = int(mechanism.I[T.MOTION_I]) + mechanism.I[T.NMOTION] - 1
    F[mechanism.I[int(mechanism.I[record]) + 1]] = 0.0  # the last motion: s = t, and the pose belongs to t = s
    F.flags.writeable = False
    label, unit = joint.coordinates[component], "rad" if angle_of(joint, component) is not None else "m"
    over = f"{label.replace('_', ' ')} of {joint.name} [{unit}]"
    told: dict[str, object] = {"over": over, "swept": [_name(joint, component), unit]}
    if replaced:
        told["replaced"] = replaced
    if still:
        told["still"] = {"at": at_time, "elements": still}
    if functions := [force.name for force in model.forces if force.call is not None]:
        told["functions"] = functions
    warned = mechanism.warnings[len(mechanism.assembly.warnings) :] if len(sweep) > 1 else mechanism.warnings  # moved as asked
    return Swept(replace(mechanism, F=F, model=exact, given_at=begin, warnings=warned), wanted, begin, told)


def _chosen(sweep: object) -> tuple[Any, object]:
    """The one joint that moves, with its values."""
    if not isinstance(sweep, Mapping) or not sweep:
        raise ModelError(f"kinematics: sweep is {shown(sweep)}; give one joint with its values, {{joint: values}}")
    several = [key for key, value in sweep.items() if len(sweep) == 1 or not is_number(value)]
    if len(several) != 1:
        got = f"values for {', '.join(map(repr, several))}" if several else "one number for each joint"
        raise ModelError(
            f"kinematics: sweep has {got}; give values for one joint, and for each further joint the number at which it is held"
        )
    return several[0], sweep[several[0]]


def coordinate_of(model: Model, key: object) -> tuple[Joint, int]:
    """key : a joint, (joint, component), or the name that a coordinate has in tables, "P.x" """
    if isinstance(key, tuple) and len(key) != 2:
        raise ModelError(f"kinematics: sweep[{shown(key)}] is no coordinate; give a joint, (joint, component), or 'joint.x'")
    which, component = key if isinstance(key, tuple) else (key, 0)
    name, joints = str(getattr(which, "name", which)), {joint.name: joint for joint in model.joints}
    owner, _, label = name.rpartition(".")
    if name not in joints and owner in joints and not isinstance(key, tuple):
        name, component = owner, label
    if name not in joints:
        raise ModelError(f"kinematics: there is no joint {name!r}; {nearest(name, joints)}")
    labels = joints[name].coordinates
    component = labels.index(component) if isinstance(component, str) and component in labels else component
    check_coordinate(f"kinematics: sweep[{shown(key)}]", joints[name], component)
    return joints[name], component


def _name(joint: Joint, component: int) -> str:
    """As tables have it."""
    return joint.name if len(joint.coordinates) == 1 else f"{joint.name}.{joint.coordinates[component]}"


def _released(model: Model, given: list[tuple[Joint, int]]) -> tuple[Model, list[str]]:
    """The model without the drivers in whose place the sweep is, and their names."""
    moved = [(joint.name, joint.coordinates[component]) for joint, component in given]
    names = [d.name for d in model.drivers if d.joint is not None and (d.joint, d.primitive.labels[0]) in moved]
    if not names and len(model.drivers) == 1 and compile(model).degrees_of_freedom == 0:
        names = [model.drivers[0].name]
    made = model.copy()
    for name in names:
        made.remove(name)
    return made, names


def _drive(model: Model, word: str, joint: Joint, component: int, motion: Motion) -> None:
    try:
        model.add_driver(word + _name(joint, component), joint.name, motion, component=component)
    except ModelError as problem:
        raise ModelError(f"kinematics: {problem}") from None


def _place(model: Model, joint: Joint, component: int, value: float) -> None:
    """The coordinate is given where it is held, so that nobody takes that for a speed; what assembly moves for it is told."""
    given = [*joint.coordinate[:component], value, *joint.coordinate[component + 1 :]]
    model._add(replace(joint, coordinate=tuple(given)))


def _standing(model: Model, t: float) -> tuple[Model, list[str]]:
    """The model with all that moves in time as it is at a time, and the names of that."""
    made, still = model.copy(), list[str]()

    def stopped(item: Any) -> Any:
        own = {field.name: getattr(item, field.name) for field in fields(item)}
        moving = {name: m for name, m in own.items() if isinstance(m, Motion) and not isinstance(m, Constant)}
        return replace(item, **{name: Constant(float(motion_values(m, t)[0])) for name, m in moving.items()})

    def moves(motions: Iterable[Motion | None]) -> bool:
        return any(not isinstance(motion, Constant | None) for motion in motions)

    for joint in (joint for joint in model.joints if moves(row.motion for row in joint.primitives)):
        still.append(made._add(replace(joint, primitives=tuple(map(stopped, joint.primitives)))).name)
    for driver in (driver for driver in model.drivers if moves([driver.primitive.motion])):
        still.append(made._add(replace(driver, primitive=stopped(driver.primitive))).name)
        if driver.joint is not None:
            joint, value = made.joint(driver.joint), float(motion_values(driver.primitive.motion, t)[0])
            _place(made, joint, joint.coordinates.index(driver.primitive.labels[0]), value)
    still += [made._add(stopped(force)).name for force in model.forces if moves(force.motions)]
    return made, still
