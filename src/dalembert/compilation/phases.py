"""Phases of a run: the same bodies with some joints held, some out of force, other numbers of forces; states that go over.

A joint that is free keeps its coordinates and loses its rows; one that is locked is held where it is by drivers of its own,
"lock of NAME". Bodies, coordinates and counted angles are those of the whole model, so that a state of one phase is a state of
the next. What velocities lose there, they lose in the mass metric: M du = G^T Lambda, G (u + du) + g_t = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array, symmetric
from dalembert.compilation.compile import mechanism_of
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.flatten import flatten
from dalembert.compilation.lagrangian import LagrangianMechanism
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack import Packed, arranged, pack
from dalembert.compilation.rows import dense_rows, measured, move, velocity_residual
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.model.elements import Driver, Force, Joint
from dalembert.model.joints import driver_primitive
from dalembert.model.model import Model
from dalembert.model.motions import Constant
from dalembert.model.validation import nearest, number, shown

Numbers = float | tuple[Any, ...]  # one, a vector or a matrix; compared by value
MEETS = 1e-6  # residual at which rows may come into force, of the mechanism's size [m or rad]


@dataclass(frozen=True)
class Phase:
    """What differs from a model: joints and drivers that are free, joints that are held at values of their coordinates, force
    elements with other numbers, by argument of their verb or name of a parameter."""

    free: frozenset[str] = frozenset()
    locked: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    changed: Mapping[str, Mapping[str, Numbers]] = field(default_factory=dict)

    def of(self, model: Model) -> Model:
        """The model with only the rows that are in force."""
        made = model.copy()
        for name in self.free:
            element = made._elements[name]
            if isinstance(element, Joint):
                made._elements[name] = replace(element, primitives=())
            else:
                del made._elements[name]
        for name, values in self.locked.items():
            joint = made.joint(name)
            for component, value in enumerate(values):
                first, second, row = driver_primitive(f"lock of {name!r}", joint, component, Constant(value))
                made._add(Driver(lock_name(joint, component), name, first, second, row))
        for name, numbers in self.changed.items():
            change(made, name, numbers)
        return made


def change(model: Model, name: str, numbers: Mapping[str, Numbers]) -> None:
    """Give a force element other numbers, those of its law among them."""
    own = parameters_of(model, name)
    of_law = {key: value for key, value in numbers.items() if key in own}
    rest: dict[str, Any] = {key: value for key, value in numbers.items() if key not in own}
    model.replace(name, **rest, **({"parameters": {**own, **of_law}} if of_law else {}))


def parameters_of(model: Model, name: str) -> dict[str, Any]:
    """Those of the law of a force element, by name."""
    element = model._elements[name]
    return dict((element.told().get("parameters") if isinstance(element, Force) else None) or {})


def as_numbers(owner: str, given: object) -> Numbers:
    """A number, or numbers in tuples."""
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        array = np.full(1, np.nan)
    if not np.isfinite(array).all():
        raise ModelError(f"{owner} is {shown(given)}; give a finite number, or a vector or matrix of them")
    return _nested(array)


def _nested(array: Array) -> Numbers:
    return tuple(_nested(part) for part in array) if array.ndim else float(array)


def lock_name(joint: Joint, component: int) -> str:
    """The driver that holds a coordinate of a locked joint."""
    return f"lock of {joint.name}" + (f", {joint.coordinates[component]}" if len(joint.coordinates) > 1 else "")


def check_names(owner: str, model: Model, names: tuple[object, ...], kinds: tuple[type, ...] = (Joint, Driver)) -> None:
    """Refuse what is no joint or driver of a model."""
    word = "joint" if kinds == (Joint,) else "force element" if kinds == (Force,) else "joint or driver"
    known = {name: element for name, element in model._elements.items() if isinstance(element, kinds)}
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ModelError(f"{owner}: there is no {word} {shown(name)}; {nearest(name, known)}")


def as_data(phase: Phase) -> dict[str, Any]:
    """A phase as plain data."""
    locked = {name: list(values) for name, values in phase.locked.items()}
    return {"free": sorted(phase.free), "locked": locked, "changed": {name: dict(own) for name, own in phase.changed.items()}}


def phase_of_data(model: Model, data: object) -> Phase:
    """A phase from plain data, checked as if a stranger wrote them."""
    free = data.get("free") if isinstance(data, Mapping) else None
    locked = data.get("locked") if isinstance(data, Mapping) else None
    changed = data.get("changed", {}) if isinstance(data, Mapping) else None
    if not (isinstance(free, list) and isinstance(locked, Mapping) and isinstance(changed, Mapping)):
        raise ModelError(f"the phase is {shown(data)}; give lists of what is free, locked and changed")
    check_names("phase: free", model, tuple(free))
    check_names("phase: locked", model, tuple(locked), (Joint,))
    check_names("phase: changed", model, tuple(changed), (Force,))
    for name, values in locked.items():
        if not isinstance(values, list) or len(values) != len(model.joint(name).coordinates):
            raise ModelError(f"phase: joint {name!r} is locked at {shown(values)}; give a number for each coordinate")
    held = {name: tuple(number("phase", name, value) for value in values) for name, values in locked.items()}
    numbers: dict[str, dict[str, Numbers]] = {}
    for name, own in changed.items():
        if not isinstance(own, Mapping):
            raise ModelError(f"phase: {name!r} is changed to {shown(own)}; give numbers by name")
        numbers[name] = {str(key): as_numbers(f"phase: {key} of {name!r}", value) for key, value in own.items()}
    return Phase(frozenset(free), held, numbers)


def next_phase(model: Model, phase: Phase, before: Mechanism, t: float, x: Array) -> Mechanism:
    """The mechanism of another phase on the bodies of the one before, from its state."""
    variant = phase.of(model)
    placed = replace(flatten(variant), bodies=before.assembly.bodies)
    tables = pack(placed, t_0=t)
    _refuse_open(tables if before.plane is None else arranged(tables, placed, before.plane), before, t, x)
    made = mechanism_of(variant, before.coordinates, placed, before.plane, tables, before.assembly, x.copy())
    return replace(made, given_at=before.given_at, whole=model)


def _refuse_open(tables: Packed, before: Mechanism, t: float, x: Array) -> None:
    """Rows that come into force must hold already."""
    g = np.abs(dense_rows(tables, t, x)[1])
    new = [row for row in tables.rows if not row.nonholonomic and not before.rows_of(row.element)]
    worst = max(new, key=lambda row: float(g[row.index]), default=None)
    if worst is not None and not g[worst.index] < MEETS * (1.0 + float(np.abs(x[: before.nq]).max(initial=0.0))):
        raise ModelError(
            f"{worst.element!r} is {g[worst.index]:.3g} m or rad from where it would hold; let it come into force when its"
            " residual is zero"
        )


def is_idle(model: Model, phase: Phase, name: str) -> bool:
    """Whether a joint, a driver or a lock of a model is not in force."""
    locks = {lock_name(joint, k) for joint in model.joints for k in range(len(joint.coordinates))}
    return name in phase.free or (name in locks and name not in {*model._elements})


def rows_in_force(model: Model, name: str) -> int:
    """How many rows a joint, a driver or a lock has where it is in force."""
    element = model._elements.get(name)
    return sum(len(row.labels) for row in element.primitives) if isinstance(element, Joint) else 1


def coordinates_of(mechanism: Mechanism, joint: str, t: float, x: Array) -> tuple[float, ...]:
    """The coordinates of a joint at a state, angles counted."""
    values = np.atleast_1d(mechanism.state(t, x).coordinate(joint))
    return tuple(float(value) for value in values)


def with_velocities(mechanism: Compiled, x: Array, owner: str, changes: Mapping[Any, Any]) -> Array:
    """A state with other velocities of some bodies, (v) or (v, w) in world axes, or of some generalised coordinates."""
    x = x.copy()
    nq = mechanism.nq
    names = mechanism.model.coordinates if isinstance(mechanism, LagrangianMechanism) else mechanism.body_names
    for name, value in changes.items():
        key = str(getattr(name, "name", name)).removesuffix("'")
        if key not in names:
            word = "coordinate" if isinstance(mechanism, LagrangianMechanism) else "body"
            raise ModelError(f"{owner}: there is no {word} {key!r}; {nearest(key, names)}")
        if isinstance(mechanism, LagrangianMechanism):
            x[nq + names.index(key)] = _numbers(owner, key, value, 1)[0]
        else:
            assert isinstance(mechanism, Mechanism)
            _set_body(mechanism, x, names.index(key) + 1, _numbers(owner, key, value, 3, 6))
    return x


def _numbers(owner: str, name: str, value: object, *lengths: int) -> Array:
    wanted = "one number" if lengths == (1,) else "three numbers (v), or two times three (v, w)"
    try:
        numbers = np.asarray(value, dtype=float).ravel()
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if len(numbers) not in lengths:
        raise ModelError(f"{owner}: the velocity of {name!r} is {shown(value)}; give {wanted}")
    if not np.isfinite(numbers).all():
        raise ModelError(f"{owner}: the velocity of {name!r} is {shown(value)}; give finite numbers")
    return numbers


def _set_body(mechanism: Mechanism, x: Array, body: int, values: Array) -> None:
    kind, _, u = mechanism.body_columns[body - 1]
    at = mechanism.nq + u
    if kind == T.PLANAR:
        plane = mechanism.plane
        assert plane is not None
        x[at : at + 2] = plane.e1 @ values[:3], plane.e2 @ values[:3]
        if len(values) == 6:
            x[at + 2] = plane.normal @ values[3:]
        return
    x[at : at + 3] = values[:3]
    if kind == T.RIGID and len(values) == 6:
        R = mechanism.state(0.0, x).rotation(mechanism.body_names[body - 1])
        x[at + 3 : at + 6] = R.T @ values[3:]


def consistent(mechanism: Compiled, t: float, x: Array, owner: str) -> Array:
    """A state on the constraints: positions by what rounding left open, velocities by the impulses of all rows."""
    if isinstance(mechanism, LagrangianMechanism):
        return _consistent_system(mechanism, t, x)
    assert isinstance(mechanism, Mechanism)
    x = x.copy()
    inverse, zero = _inverse_mass(mechanism), np.zeros(6 * mechanism.nb)
    held = [row.index for row in mechanism.rows if not row.nonholonomic and row.index < mechanism.m]
    size = 1.0 + float(np.abs(x[: mechanism.nq]).max(initial=0.0))
    for sweep in range(5):
        G, g, *_ = dense_rows(mechanism, t, x)
        worst = float(np.abs(g[held]).max(initial=0.0))
        if sweep == 0 and not worst < MEETS * size:
            name = mechanism.element_of_row(held[int(np.argmax(np.abs(g[held])))])
            raise ModelError(f"{owner}: the state misses {name!r} by {worst:.3g} m or rad at t = {t:.6g} s; give one that fits")
        if worst <= 1e-15 * size:
            break
        move(mechanism, x, -_impulses(G[held], inverse, g[held]), zero)
    if len(mechanism.angles):
        x[len(x) - len(mechanism.angles) :] = measured(mechanism, x)
    _stop_across(mechanism, t, x, inverse, owner)
    return x


def _stop_across(mechanism: Mechanism, t: float, x: Array, inverse: Array, owner: str) -> None:
    """x <- with velocities that all rows allow, the nearest in the mass metric."""
    m, zero = mechanism.m, np.zeros(6 * mechanism.nb)
    speed = 1.0 + float(np.abs(x[mechanism.nq : mechanism.nq + mechanism.nu]).max(initial=0.0))
    for _ in range(3):
        r = velocity_residual(mechanism, t, x)
        if np.abs(r[:m]).max(initial=0.0) <= 1e-15 * speed:
            return
        move(mechanism, x, zero, -_impulses(dense_rows(mechanism, t, x)[0][:m], inverse, r[:m]))
    r = velocity_residual(mechanism, t, x)
    worst = float(np.abs(r[:m]).max(initial=0.0))
    if not worst <= 1e-9 * speed:
        name = mechanism.element_of_row(int(np.argmax(np.abs(r[:m]))))
        raise ModelError(
            f"{owner}: no velocities fit at t = {t:.6g} s: {name!r} keeps a residual of {worst:.3g} m/s or rad/s; the rows in"
            " force then leave no freedom for what is driven: free a driver or a joint"
        )


def _impulses(G: Array, inverse: Array, r: Array) -> Array:
    """M^-1 G^T Lambda with G M^-1 G^T Lambda = r, redundant rows too."""
    blocks = np.einsum("bij,rbj->rbi", inverse, G.reshape(len(G), -1, 6)).reshape(G.shape)
    return np.asarray(blocks.T @ np.linalg.lstsq(G @ blocks.T, r, rcond=1e-12)[0])


def _inverse_mass(mechanism: Mechanism) -> Array:
    """(nb, 6, 6) M^-1 of every body in (v, w_B)."""
    made, bodies = np.zeros((mechanism.nb, 6, 6)), records(mechanism.I, mechanism.F, T.MASS_F)[1:]
    made[:, :3, :3], made[:, 3:, 3:] = bodies["m_inv"][:, None, None] * np.eye(3), symmetric(bodies["J_inv"])
    return made


def _consistent_system(mechanism: LagrangianMechanism, t: float, x: Array) -> Array:
    x, n = x.copy(), mechanism.nq
    M = mechanism.evaluate(T.MOTION_PART, t, x).M
    rows = mechanism.evaluate(T.ROWS_PART, t, x)
    if len(rows.A):
        Y = np.linalg.lstsq(M, rows.A.T, rcond=None)[0]
        x[n : 2 * n] -= Y @ np.linalg.lstsq(rows.A @ Y, rows.A @ x[n : 2 * n] + rows.b, rcond=1e-12)[0]
    return x
