"""Model -> Mechanism: assemble, choose the plane if there is one, find redundant rows, pack."""

from __future__ import annotations

from collections.abc import Container
from typing import overload

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.assembly import absolute_state, assembled, with_angles
from dalembert.compilation.compiled import KINDS, Coordinates, Row
from dalembert.compilation.flatten import FlatModel
from dalembert.compilation.lagrangian import LagrangianMechanism, compile_system
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack import Packed, arranged, with_choices
from dalembert.compilation.planarity import Plane, check_held, find_plane
from dalembert.compilation.plane_forces import check_forces
from dalembert.compilation.rank import analyse, dependent_rows, inverse_root_mass
from dalembert.compilation.rows import dense_rows, join_states, move
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.assembly import Assembly
from dalembert.model.elements import Body, Force
from dalembert.model.model import Model
from dalembert.model.rotation import quaternion_to_matrix
from dalembert.model.validation import shown

RowKey = tuple[int, int]
_PACKED = ("I", "F", "rows", "functions", "row_source", "bend_source", "turn_source")


@overload
def compile(model: Model, coordinates: Coordinates | None = None, *, t_start: float = 0.0) -> Mechanism: ...
@overload
def compile(
    model: LagrangianSystem, coordinates: Coordinates | None = None, *, t_start: float = 0.0
) -> LagrangianMechanism: ...
def compile(
    model: Model | LagrangianSystem, coordinates: Coordinates | None = None, *, t_start: float = 0.0
) -> Mechanism | LagrangianMechanism:
    """Frozen tables and a consistent initial state: a `Mechanism`, of a Lagrangian system a `LagrangianMechanism`.

    coordinates : "absolute" (position and Euler parameters per body), "planar" (x, y, angle per body, all in one plane) or
        "tree" (those of the joints of a spanning tree; results are told in absolute ones); default: "planar" for a model that
        was written down in a plane, else "absolute"
    t_start : when the initial data hold and drivers start [s]
    """
    if coordinates is None:
        coordinates = usual_coordinates(model)
    if coordinates not in KINDS:
        raise ModelError(f"coordinates are {coordinates!r}; give one of {', '.join(map(repr, KINDS))}")
    if isinstance(model, LagrangianSystem):
        return compile_system(model, t_start)
    if not isinstance(model, Model):
        raise ModelError(f"the model is {shown(model)}; give a Model or a LagrangianSystem")
    return _compile_bodies(model, coordinates, t_start)


def usual_coordinates(model: object, taken: Container[str] = KINDS) -> Coordinates:
    """Planar for a model that was written down in a plane, where these are taken, else absolute."""
    return "planar" if getattr(model, "plane", None) is not None and "planar" in taken else "absolute"


def _compile_bodies(model: Model, coordinates: Coordinates, t_0: float) -> Mechanism:
    if not model.bodies:
        raise ModelError("the model has no bodies; add one with add_body or add_point_mass")
    model = model.copy()  # what is added to the user's model later was not compiled
    assembly, placed, tables = assembled(model, t_0)
    plane = find_plane(model, assembly.bodies) if coordinates == "planar" else None
    if plane is not None:
        check_held(model, placed.bodies, plane, held_bodies(placed, plane, tables))
    return mechanism_of(model, coordinates, placed, plane, tables, assembly)


def mechanism_of(
    model: Model,
    coordinates: Coordinates,
    placed: FlatModel,
    plane: Plane | None,
    tables: Packed,
    assembly: Assembly,
    x_0: Array | None = None,
) -> Mechanism:
    """What a model compiles to, from its tables in space; x_0 : a consistent state, default that of the assembled bodies."""
    vanishing = frozenset[RowKey]() if plane is None else _out_of_plane(placed, plane, tables)
    in_plane = tables if plane is None else arranged(tables, placed, plane, vanishing)
    x_0 = initial_state(placed, in_plane, plane) if x_0 is None else x_0
    report = analyse(in_plane, x_0)
    _refuse_overdriven(in_plane, report.redundant)
    packed = with_choices(in_plane, report.choices)
    for array in (packed.I, packed.F, x_0):
        array.flags.writeable = False

    def named(keys: frozenset[RowKey]) -> tuple[Row, ...]:
        return tuple(row for row in packed.rows if (row.primitive, row.component) in keys)

    warnings = assembly.warnings
    if report.singular_start:
        warnings += ("the initial configuration is singular: the constraint rank is lower there than nearby",)
    mechanism = Mechanism(
        model=model,
        coordinates=coordinates,
        plane=plane,
        **{label: getattr(packed, label) for label in _PACKED},
        redundant=named(report.redundant),
        out_of_plane=named(vanishing),
        not_unique=tuple(dict.fromkeys(row.element for row in named(report.not_unique))),
        angles=tuple((angle.joint, angle.component) for angle in placed.angles),
        x_0=x_0,
        assembly=assembly,
        moved=assembly.changed,
        completed=assembly.completed,
        warnings=warnings,
        t_0=packed.t_0,
        given_at=packed.t_0,
        undetermined=named(report.not_unique),
    )
    refuse_forces(mechanism)
    return mechanism


def refuse_forces(mechanism: Mechanism) -> None:
    """Those that leave the plane; a spring whose ends coincide, which pushes nowhere, unless it has no slack length."""
    forces = [force for force in mechanism.model.forces if type(force).undirected is not Force.undirected]
    check_forces(mechanism)
    for force in forces:
        if force.undirected(Trajectory(mechanism, np.zeros(1), mechanism.x_0[None]), 1e-12):
            raise ModelError(
                f"{force.noun} {force.name!r}: its ends coincide at the start while it has a length when slack,"
                " so that its force has no direction; move an end, or give length=0"
            )


def initial_state(flat: FlatModel, packed: Packed, plane: Plane | None) -> Array:
    """State at the start."""
    x = absolute_state(flat.bodies, len(flat.angles)) if plane is None else _planar_state(flat.bodies, plane, flat)
    return with_angles(flat, packed, x)


def _planar_state(bodies: tuple[Body, ...], plane: Plane, flat: FlatModel) -> Array:
    """(x, y, beta = 0) per body: the rotation at the start is R_0 itself."""
    q, u = [], []
    for body in bodies:
        q += [plane.e1 @ body.position, plane.e2 @ body.position, 0.0]
        rate = plane.normal @ body.angular_velocity if body.kind == "rigid" else 0.0
        u += [plane.e1 @ body.velocity, plane.e2 @ body.velocity, rate]
    return join_states([np.array(q), np.array(u), np.zeros(1 + len(flat.angles))])


def held_bodies(flat: FlatModel, plane: Plane, packed: Packed) -> npt.NDArray[np.bool_]:
    """(nb,) whether the joints bar each body's three motions out of the plane: their rows span them."""
    from scipy.linalg import qr

    G, *_ = dense_rows(packed, packed.t_0, absolute_state(flat.bodies, len(flat.angles)))
    scale = inverse_root_mass(packed)
    Q, triangle, _ = qr((G * scale).T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(triangle))
    span = Q[:, : len(pivots)][:, pivots > 1e-9 * pivots.max(initial=0.0)]
    held = []
    for b, body in enumerate(flat.bodies):
        R = quaternion_to_matrix(body.rotation)
        outward = np.zeros((len(scale), 3 if body.kind == "rigid" else 1))
        outward[6 * b : 6 * b + 3, 0] = plane.normal
        if body.kind == "rigid":
            outward[6 * b + 3 : 6 * b + 6, 1:] = R.T @ np.column_stack([plane.e1, plane.e2])
        outward *= scale[:, None]
        outward /= np.linalg.norm(outward, axis=0)
        held.append(bool(np.linalg.norm(outward - span @ (span.T @ outward)) < 1e-6))
    return np.array(held)


def _out_of_plane(flat: FlatModel, plane: Plane, packed: Packed) -> frozenset[RowKey]:
    """Rows that hold by themselves for any planar pose: zero gradient in the plane, or implied within their own joint."""
    rng = np.random.default_rng(1)
    scale = inverse_root_mass(packed)
    in_plane = np.zeros((len(scale), 3 * len(flat.bodies)))
    for b, body in enumerate(flat.bodies):
        in_plane[6 * b : 6 * b + 3, 3 * b : 3 * b + 2] = np.column_stack([plane.e1, plane.e2])
        in_plane[6 * b + 3 : 6 * b + 6, 3 * b + 2] = quaternion_to_matrix(body.rotation).T @ plane.normal
    vanishing: set[RowKey] | None = None
    by_element: dict[str, list[Row]] = {}
    for row in packed.rows:
        by_element.setdefault(row.element, []).append(row)
    for _ in range(2):
        x = initial_state(flat, packed, None)
        move(packed, x, in_plane @ rng.uniform(-0.3, 0.3, in_plane.shape[1]), np.zeros(len(scale)))
        G = (dense_rows(packed, packed.t_0, x)[0] @ in_plane) / np.linalg.norm(in_plane / scale[:, None], axis=0)
        here = {
            (rows[k].primitive, rows[k].component)
            for rows in by_element.values()
            for k in dependent_rows(_clean(G[[row.index for row in rows]]), range(len(rows)))
        }
        vanishing = here if vanishing is None else vanishing & here
    return frozenset(vanishing or ())


def _clean(G: Array) -> Array:
    """Rows of pure rounding become zero."""
    return np.where(np.abs(G) < 1e-12 * max(1.0, np.abs(G).max(initial=0.0)), 0.0, G)


def _refuse_overdriven(packed: Packed, redundant: frozenset[RowKey]) -> None:
    driven = [row for row in packed.rows if row.rheonomic and (row.primitive, row.component) in redundant]
    if driven:
        names = ", ".join(repr(name) for name in dict.fromkeys(row.element for row in driven))
        raise ModelError(
            f"the mechanism is over-driven: the other joints and drivers leave no freedom for {names};"
            " remove a driver, or a joint that prescribes the same coordinate"
        )
