"""Models of one structure by formulas: the function that builds them is run once on recorded numbers, and never again.

What is recorded goes through the verbs of the model, through `flatten` and `pack`, up to tables and placed bodies. A further
model is these formulas at other parameters, and `Fitting`. Where a guard comes out otherwise, where a body must be moved, or
where rows depend on each other, there is no answer, and the model is made as any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array, symmetric
from dalembert.compilation.assembly import absolute_state, assembled, assembly_tables, counted
from dalembert.compilation.fitting import Fitting, Mask, independent
from dalembert.compilation.mechanism import Mechanism, uneven
from dalembert.compilation.pack import Packed, arranged
from dalembert.compilation.planarity import SLACK, Plane, find_plane
from dalembert.compilation.rank import RankReport, analyse, longest_arms
from dalembert.compilation.trajectory import rotation_matrices
from dalembert.compilation.user_functions import Surroundings
from dalembert.kernels.base import tables as T
from dalembert.lagrangian.recorded import Formulas, Recording, TraceError, filled
from dalembert.model.assembly import Assembly, Moved
from dalembert.model.elements import GROUND, Body, Force, Joint
from dalembert.model.model import Model

VANISHES = 1e-9  # residual of a row that the plane implies, of the size of the mechanism
_SAME, _SMALL = 1e-9, 1e-12  # what formulas may differ by from tables made without them: of a number, of the largest in x_0
_ASIDE = 1e-4  # how far from where they were recorded that is tried as well, of each parameter
_PLANE = tuple(field.name for field in fields(Plane))
Make = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class Made:
    """(runs, ..) of the models that came out: constants F, initial states, by how much velocities of bodies changed, planes,
    joint frames p_i, p_j, E_i, E_j, and whether masses differ much"""

    F: Array
    x_0: Array
    changed: Array
    planes: Array | None
    frames: Array
    uneven: Mask

    def of(self, which: Any) -> Made:
        """Some of them."""
        values = (getattr(self, field.name) for field in fields(self))
        return Made(*(None if value is None else value[which] for value in values))  # type: ignore[arg-type]


class ByFormula:
    """first, packed, tables : a mechanism of the structure, its tables, and those of its assembly
    make : a model of parameters;  parameters : where to record;  outside : what `make` depends on beside them
    names : parameters that the formulas are of, floats;  fixed : what the others are

    Raises whatever the recorded function raises on recorded numbers.
    """

    def __init__(
        self,
        first: Mechanism,
        packed: Packed,
        tables: Packed,
        report: RankReport,
        make: Make,
        parameters: Mapping[str, Any],
        outside: Surroundings,
    ) -> None:
        self.first, self._packed, self._report, self._make, self._outside = first, packed, report, make, outside
        numbers, self.fixed = split(parameters)
        self.names = tuple(numbers)
        graph = Recording(numbers)
        model = make({**parameters, **{name: graph.input(name) for name in numbers}})
        if graph.refused:
            raise TraceError("goes on without what it was refused")
        flat, own, given = assembly_tables(model, first.t_0)
        still = [replace(body, velocity=np.zeros(3), angular_velocity=np.zeros(3)) for body in flat.bodies]
        plane = None if first.plane is None else find_plane(model, tuple(still))  # `_planar` looks at velocities
        if not same(own, tables) or own.row_source or own.functions:
            raise TraceError("has code of its own, or another structure")
        if plane is not None and any(type(force).leaving is not Force.leaving for force in model.forces):
            raise TraceError("has forces that may leave the plane")
        pose = _Pose(flat.bodies)
        if any(force.undirected(pose, 1e-12) for force in model.forces):
            raise TraceError("has forces without direction")
        x = counted(flat, first.t_0, absolute_state(flat.bodies, len(flat.angles)).astype(object))
        asked = {id(row) for row in given}
        flat = replace(flat, primitives=tuple(row for row in flat.primitives if id(row) not in asked))
        self._moves_tables = plane is not None or bool(given)
        vanishing = frozenset((row.primitive, row.component) for row in first.out_of_plane)
        final = arranged(own, flat, plane, vanishing) if self._moves_tables else own
        if not same(final, packed):
            raise TraceError("has another structure")
        frames = [v for j in model.joints for part in (j.p_i, j.p_j, j.E_i, j.E_j) for v in part.ravel()]
        axes = [] if plane is None else [v for name in _PLANE for v in getattr(plane, name)]
        parts = [own.F, x, final.F if self._moves_tables else [], axes, frames]
        self._parts = np.cumsum([len(part) for part in parts])[:-1]
        self._formulas = Formulas(graph, [v for part in parts for v in part], self.names)
        self._fitting = Fitting(flat, replace(own, quick=tables.quick))
        self._record = model.to_dict()
        self._given = [body.given for body in model.bodies]
        self._rigid = np.array([body.kind == "rigid" for body in model.bodies])
        self._singular = first.warnings[len(first.assembly.warnings) :]

    def one(self, parameters: Mapping[str, Any]) -> tuple[bool, Mechanism | None]:
        """Whether the guards hold, and the mechanism where it could be made."""
        if not self.takes(parameters):
            return False, None
        numbers = self._formulas.of([float(parameters[name]) for name in self.names])
        if numbers is None:
            return False, None
        fits, made = self._made(numbers[None])
        return True, self.mechanism(parameters, made) if fits[0] else None

    def takes(self, parameters: Mapping[str, Any]) -> bool:
        """Whether the formulas are of these parameters."""
        given, fixed = split(parameters)
        same_kind = given.keys() == set(self.names) and fixed.keys() == self.fixed.keys()
        return same_kind and all(type(fixed[name]) is type(v) and fixed[name] == v for name, v in self.fixed.items())

    def many(self, table: Sequence[Array]) -> tuple[Mask, Mask, Made | None]:
        """Where guards hold; where a model could be made; those models. table : (runs,) values of each parameter"""
        holds, numbers = self._formulas.of_many(table)
        if not holds.any():
            return holds, holds, None
        fits, made = self._made(numbers[holds])
        can = holds.copy()
        can[holds] = fits
        return holds, can, made.of(fits)

    def mechanism(self, parameters: Mapping[str, Any], made: Made) -> Mechanism:
        """One that was made; its model and its assembly come when they are asked for.

        made : of one run
        """
        first, F, x_0 = self.first, made.F[0], made.x_0[0]
        F.flags.writeable = x_0.flags.writeable = False
        model = ModelLater(lambda: self._model(parameters), first.model, made.frames[0])
        assembly = AssemblyLater(lambda: assembled(model, first.t_0)[0])
        plane = None if made.planes is None else Plane(*made.planes[0].reshape(-1, 3))
        moved = [
            Moved(name, 0.0, 0.0, v, w, not (v and given[0]) and not (w and given[1]), given)
            for name, (v, w), given in zip(first.body_names, made.changed[0].tolist(), self._given, strict=True)
            if v or w
        ]
        mechanism = replace(
            first,
            model=model,
            F=F,
            x_0=x_0,
            plane=plane,
            functions=(),
            assembly=assembly,
            moved=tuple(str(item) for item in moved if not item.completed),
            completed=tuple(item.body for item in moved if item.completed),
            warnings=self._singular,
        )
        mechanism.__dict__["uneven"] = bool(made.uneven[0])
        return mechanism

    def _model(self, parameters: Mapping[str, Any]) -> Model:
        """What the function builds; what was recorded of it, where it may build something else by now."""
        if self._outside.known and self._outside.unchanged():
            return self._make(parameters)  # type: ignore[no-any-return]
        return Model.from_dict(filled(self._record, {name: float(parameters[name]) for name in self.names}))

    def agrees(self, mechanism: Mechanism, parameters: Mapping[str, Any]) -> bool:
        """Whether formulas give the numbers of a mechanism that was made without them, where they have an answer."""
        holds, made = self.one(parameters)
        if made is None:
            return holds
        size = np.abs(mechanism.x_0).max(initial=0.0)
        near = np.abs(made.F - mechanism.F) <= _SAME * np.abs(mechanism.F) + _SMALL * size
        return bool(near.all() and (np.abs(made.x_0 - mechanism.x_0) <= _SAME * size).all())

    def aside(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Every parameter a little aside, as far as formulas have an answer there."""
        moved = dict(parameters)
        for name in self.names:
            for step in (_ASIDE, -_ASIDE):
                trial = {**moved, name: parameters[name] + step * (abs(parameters[name]) or 1.0)}
                if self.one(trial)[1] is not None:
                    moved = trial
                    break
        return moved

    def _made(self, numbers: Array) -> tuple[Mask, Made]:
        """Which of (runs, outputs) numbers are models as they are, and all of them."""
        F, x, final, axes, frames = (np.ascontiguousarray(part) for part in np.split(numbers, self._parts, axis=1))
        fits, x, G, changed = self._fitting(F, x)
        packed, quick, masses = self._packed, self._packed.quick, self._fitting.masses(F)
        if self.first.plane is not None:
            x, flat = _planar(self._fitting, x, axes.reshape(len(x), 3, 3), self._rigid, longest_arms(packed.I, F)[1])
            own = np.concatenate([getattr(self.first.plane, name) for name in _PLANE])
            fits &= flat & (np.abs(axes - own).max(axis=1) < VANISHES)
        if self._moves_tables:
            assert quick is not None
            rows = quick.many(final, packed.t_0, x)  # type: ignore[attr-defined]
            if packed.I[T.NANGLE]:
                x[:, -rows.angles.shape[1] :] = rows.angles
            F, G, dropped = final, rows.G, np.abs(rows.g[:, packed.I[T.M] :]).max(axis=1, initial=0.0)
            fits &= dropped <= VANISHES * (1.0 + np.abs(x[:, : packed.I[T.NQ]]).max(axis=1, initial=0.0))
        J, arm = _moments(masses["J"][:, self._rigid]), longest_arms(packed.I, F)[0]
        pulled = np.abs(F[:, T.GRAVITY_X : T.GRAVITY_X + 3]).max(axis=1) > 0.0
        much = uneven(masses["m"], self._rigid, J, arm, pulled)
        if self._report == RankReport((), frozenset(), frozenset(), False):
            fits &= independent(packed.I, F, G)
        else:
            for k in np.flatnonzero(fits):
                fits[k] = analyse(replace(packed, F=F[k]), x[k]) == self._report
        return fits, Made(F, x, changed, axes if self.first.plane is not None else None, frames, much)


def split(parameters: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, Any]]:
    """Floats, which formulas are of, and the rest: whole numbers may count something."""
    numbers = {name: float(value) for name, value in parameters.items() if isinstance(value, float)}
    return numbers, {name: value for name, value in parameters.items() if name not in numbers}


def _planar(fitting: Fitting, x: Array, axes: Array, rigid: Mask, arm: Array) -> tuple[Array, Mask]:
    """States in a plane for those in space, and which do not leave it; axes : (runs, 3, 3) e1, e2 and normal; arm : longest"""
    r, v, w = fitting.motion(x)
    R = rotation_matrices(fitting.turns(x).reshape(-1, 4)).reshape(len(x), -1, 3, 3)
    w[:, rigid] = (R @ w[:, rigid, :, None])[..., 0]
    r, v, w = (vectors @ np.swapaxes(axes, 1, 2) for vectors in (r, v, w))
    off = (np.abs(v[:, :, 2]), np.hypot(w[:, :, 0], w[:, :, 1]))
    speed, spin = (np.linalg.norm(of, axis=2).max(axis=1, keepdims=True) for of in (v, w))
    arm = arm[:, None]
    turning = spin + np.divide(speed, arm, out=np.zeros_like(speed), where=arm > 0.0)
    flat = [part <= SLACK * size for part, size in zip(off, (speed + spin * arm, turning), strict=True)]
    q, u = r.copy(), v.copy()
    q[:, :, 2], u[:, :, 2] = 0.0, w[:, :, 2]
    counters = x[:, len(x[0]) - fitting.counters - 1 :]
    return np.concatenate([q.reshape(len(x), -1), u.reshape(len(x), -1), counters], axis=1), (flat[0] & flat[1]).all(axis=1)


def _moments(J: Array) -> Array:
    """(runs, bodies, 3) principal moments of (runs, bodies, 6) inertias."""
    if not J[:, :, [1, 2, 4]].any():
        return np.asarray(J[:, :, [0, 3, 5]])
    return np.asarray(np.linalg.eigvalsh(symmetric(J)))


def same(one: Packed, other: Packed) -> bool:
    """Whether two models differ in numbers only."""
    names = ("rows", "row_source", "bend_source", "turn_source")
    return np.array_equal(one.I, other.I) and all(getattr(one, name) == getattr(other, name) for name in names)


class _Pose:
    """Placed bodies as `States`, as far as recorded forces ask."""

    t = np.zeros(1)

    def __init__(self, bodies: Sequence[Body]) -> None:
        self._bodies = {body.name: body for body in bodies}

    def point(self, body: str, point: Array) -> Array:
        """(1, 3)"""
        if body == GROUND:
            return point[None]
        return np.asarray(self._bodies[body].position + self._bodies[body].matrix @ point)[None]

    def __getattr__(self, name: str) -> Any:
        raise TraceError(f"asks for {name} of the bodies")


class ModelLater(Model):
    """A model that is built when somebody looks at its numbers; `structure` : another one with the same elements

    frames : p_i, p_j, E_i, E_j of its joints, one after the other
    """

    def __init__(self, make: Callable[[], Model], structure: Model, frames: Array) -> None:
        self.__dict__.update(_make=make, _structure=structure, _frames=frames)

    @property
    def structure(self) -> Model:
        return self if self.__dict__.get("_make") is None else self.__dict__["_structure"].structure

    @property
    def framed(self) -> tuple[Joint, ...]:
        if self.__dict__.get("_make") is None:
            return self.joints
        joints = self.structure.joints
        rows = self.__dict__["_frames"].reshape(len(joints), 24)
        return tuple(
            replace(joint, p_i=row[:3], p_j=row[3:6], E_i=row[6:15].reshape(3, 3), E_j=row[15:].reshape(3, 3))
            for joint, row in zip(joints, rows, strict=True)
        )

    def __getattr__(self, name: str) -> Any:
        make = self.__dict__.get("_make")
        if make is None or (name.startswith("__") and name.endswith("__")):
            return super().__getattr__(name)  # type: ignore[misc]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given when it was recorded
            self.__dict__.update(make().copy().__dict__)
        for label in ("_make", "_structure", "_frames"):
            self.__dict__.pop(label, None)
        self._flatten_verbs()
        return getattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        len(self.bodies)
        return self.__dict__


class AssemblyLater(Assembly):
    """What assembly would say, asked when somebody looks at it."""

    def __init__(self, make: Callable[[], Assembly]) -> None:
        self.__dict__["_make"] = make

    def __getattr__(self, name: str) -> Any:
        if name not in (field.name for field in fields(Assembly)):
            raise AttributeError(name)
        self.__dict__.update(self.__dict__["_make"]().__dict__)
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(Assembly)}
