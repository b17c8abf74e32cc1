"""Assembly: consistent initial positions and velocities by weighted projection, in `absolute` coordinates.

    positions    minimise |dq|_W   with g(q + dq, 0) = 0 and the given joint coordinates
    velocities   minimise |du|_W   with G u + g_t = 0 and the given joint rates

W weighs with the masses and the diagonals of the inertias. Bodies marked `fixed` keep their data. What cannot be met
raises and names the joints; what was moved is reported.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.flatten import FlatModel, FlatPrimitive, arms, flatten
from dalembert.compilation.least_change import least_change, might_be_zero
from dalembert.compilation.misfits import no_positions, no_velocities
from dalembert.compilation.pack import Packed, arranged, pack
from dalembert.compilation.pack_motions import motion_values
from dalembert.compilation.rank import arm_length, inverse_root_mass, radians
from dalembert.compilation.rows import blame, dense_rows, measured, move, velocity_residual
from dalembert.errors import AssemblyError, ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.model.assembly import OPEN, ROUNDING, Assembly, Moved
from dalembert.model.elements import Body, Primitive
from dalembert.model.joints import driver_primitive
from dalembert.model.later import carried_out
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Polynomial
from dalembert.model.rotation import quaternion_to_matrix
from dalembert.model.validation import size_of

POSITION_TOLERANCE = 1e-12  # times the size of the mechanism
VELOCITY_TOLERANCE = 1e-13  # times sizes of rows and velocities
_MAX_ITERATIONS = 60
_ANGLE_STEP = 0.5  # rad; well inside the quarter turn within which the sine of an angle error points home


def absolute_state(bodies: tuple[Body, ...], angles: int) -> Array:
    """State vector of rigid bodies and point masses: q, u, then zeros for external work and angle counters."""
    q, u = list[float](), list[float]()
    for body in bodies:
        q += body.position.tolist()
        u += body.velocity.tolist()
        if body.kind == "rigid":
            q += body.rotation.tolist()
            u += (body.matrix.T @ body.angular_velocity).tolist()
    return np.array([*q, *u, *[0.0] * (1 + angles)])


def _bodies_from_state(bodies: tuple[Body, ...], x: Array, I: npt.NDArray[np.int64]) -> tuple[Body, ...]:
    nq, table = int(I[T.NQ]), records(I, I, T.BODY_I)
    made = []
    for body, (_, q, u) in zip(bodies, table[1:].tolist(), strict=True):
        rotation, angular = body.rotation, body.angular_velocity
        if body.kind == "rigid":
            rotation = x[q + 3 : q + 7].copy()
            angular = quaternion_to_matrix(rotation) @ x[nq + u + 3 : nq + u + 6]
        position, velocity = x[q : q + 3].copy(), x[nq + u : nq + u + 3].copy()
        made.append(replace(body, position=position, rotation=rotation, velocity=velocity, angular_velocity=angular))
    return tuple(made)


def assemble(model: Model) -> Assembly:
    """Consistent initial data for a model, or an AssemblyError that names the joints in the way."""
    return assembled(model)[0]


def assembled(model: Model, t_0: float = 0.0) -> tuple[Assembly, FlatModel, Packed]:
    """The same at a time, the flat model, and its tables in absolute coordinates."""
    try:
        return assembled_from(*assembly_tables(model, t_0))
    except AssemblyError as problem:
        raise carried_out("explained", problem, model, t_0) from None


def assembly_tables(model: Model, t_0: float) -> tuple[FlatModel, Packed, list[FlatPrimitive]]:
    """A model with rows for its given joint coordinates and rates, its tables, and those rows."""
    if names := [body.name for body in model.bodies if not body.mass]:
        raise ModelError(
            f"bodies without mass: {', '.join(map(repr, names))}; give links a mass, bodies mass and inertia or a solid such"
            " as a rod or a box (**da.rod(mass, length).body(), in a file solid:); kinematics alone needs none"
        )
    given = _given_values(model, t_0)
    flat = flatten(model, given)
    return flat, pack(flat, t_0=t_0), given


def assembled_from(flat: FlatModel, packed: Packed, given: list[FlatPrimitive]) -> tuple[Assembly, FlatModel, Packed]:
    """`assembled`, from its tables."""
    movable = np.repeat([not body.fixed for body in flat.bodies], 6)
    x = with_angles(flat, packed, absolute_state(flat.bodies, len(flat.angles)))

    G, g = _defined_rows(packed, x)
    far, sizes, turn = _sizes(flat, packed, G)
    position_rows, velocity_rows = rows_for(packed)
    start, x = _assemble_positions(flat, packed, x, g[position_rows], movable, position_rows, far * sizes, turn)
    pace = 1.0 + max((max(size_of(b.velocity) / turn[0], size_of(b.angular_velocity)) for b in flat.bodies), default=0.0)
    untold = np.repeat([not given for body in flat.bodies for given in body.given], 3)
    velocity_start, x, free = _assemble_velocities(flat, packed, x, movable, untold, velocity_rows, pace * sizes[velocity_rows])

    own = {id(row) for row in given}
    bodies = _bodies_from_state(flat.bodies, x, packed.I)
    moved = tuple(m for old, new in zip(flat.bodies, bodies, strict=True) if (m := _moved(old, new, turn[0], far)))
    counters = tuple(x[len(x) - len(flat.angles) :].tolist()) if packed.I[T.NPART] else ()
    rows = tuple(row for row in flat.primitives if id(row) not in own)
    flat = replace(flat, bodies=bodies, primitives=rows, counters=counters)
    opened = _open_joints(packed, G, g) if moved else ()
    chosen = tuple(flat.bodies[k].name for k in free)
    return (
        Assembly(bodies, moved, start, velocity_start, opened, chosen),
        flat,
        arranged(packed, flat, None) if given else packed,
    )


def _open_joints(packed: Packed, G: Array, g: Array) -> tuple[str, ...]:
    """Joints whose residuals g of rows G are above `OPEN`; not those that are asked for, which have a motion."""
    rows = np.array([row.index for row in packed.rows if not row.rheonomic and not row.nonholonomic], dtype=np.int64)
    sizes = np.linalg.norm(G[rows] * radians(packed), axis=1)
    shares = g[rows] / np.where(sizes > 0.0, sizes, np.inf)
    return tuple(name for name, share in blame(packed.rows, rows, shares) if share > OPEN)


def with_angles(flat: FlatModel, packed: Packed, x: Array) -> Array:
    """A state whose joint angles are counted from their given or driven values, or from what assembly found."""
    return _measured(packed, counted(flat, packed.t_0, x))


def counted(flat: FlatModel, t_0: float, x: Array) -> Array:
    """The same with angles that are still those given or driven."""
    first = len(x) - len(flat.angles)
    joints = {joint.name: joint for joint in flat.joints}
    driven = _driven_angles(flat, t_0)
    x = x.copy()
    for k, item in enumerate(flat.angles):
        joint = joints[item.joint]
        value = joint.coordinate[item.component]
        x[first + k] = driven.get((joint.name, joint.coordinates[item.component]), 0.0) if value is None else value
    if flat.counters:
        x[first:] = flat.counters
    return x


def _measured(packed: Packed, x: Array) -> Array:
    """The state with its joint angles measured, nearest to what they were."""
    angles = measured(packed, x)
    x[len(x) - len(angles) :] = angles
    return x


def _driven_angles(flat: FlatModel, t_0: float) -> dict[tuple[str | None, str], float]:
    """(joint, coordinate) -> where its driver starts, whole turns included."""
    return {
        (driver.joint, driver.primitive.labels[0]): float(motion_values(driver.primitive.motion, t_0)[0])
        for driver in flat.model.drivers
        if driver.primitive.kind == "A"
    }


def _defined_rows(packed: Packed, x: Array) -> tuple[Array, Array]:
    """G and g at the model pose; refuses rows that have no value or no derivative there, as of a disc that lies flat."""
    with np.errstate(all="ignore"):
        G, g, g_t, _ = dense_rows(packed, packed.t_0, x)
        if math.isfinite(float(G.sum() + g.sum() + g_t.sum())):
            return G, g
    bad = set(np.flatnonzero(~np.isfinite(np.column_stack([G, g, g_t])).all(axis=1)).tolist())
    names = tuple(dict.fromkeys(row.element for row in packed.rows if row.index in bad))
    if names:
        raise AssemblyError(
            f"constraints {', '.join(map(repr, names))} are not defined in the model pose (NaN or infinite), as that of a disc"
            " which lies flat on its plane has no contact point; place the bodies a little beside it",
            joints=names,
        )
    return G, g


def _given_values(model: Model, t_0: float) -> list[FlatPrimitive]:
    """Rows for the joint coordinates and rates that the model asks for; labels "coordinate", "rate" or "both"."""
    index = {body.name: k + 1 for k, body in enumerate(model.bodies)}
    rows = []
    for joint in model.joints:
        for component in range(len(joint.coordinates)):
            value, rate = joint.coordinate[component], joint.rate[component]
            if value is None and rate is None:
                continue
            first, second, row = driver_primitive(f"joint {joint.name!r}", joint, component, Constant(0.0))
            label = "rate" if value is None else ("coordinate" if rate is None else "both")
            if value is None:  # the angle at which the rate holds: near the model pose, where assembly will stay
                value = _angle_at_pose(model, first, second, row) if row.kind == "A" else 0.0
            slope = 0.0 if rate is None else rate
            motion = Polynomial((value - slope * t_0, slope))
            rows.append(
                FlatPrimitive(
                    joint.name, index.get(first, 0), index.get(second, 0), replace(row, labels=(label,), motion=motion)
                )
            )
    return rows


def _angle_at_pose(model: Model, first: str, second: str, row: Primitive) -> float:
    R_i, R_j = (quaternion_to_matrix(model.body(name).rotation) for name in (first, second))
    d = R_i.T @ R_j @ row.a_j
    return float(np.arctan2(np.cross(row.n_i, row.a_i) @ d, row.a_i @ d))


def rows_for(packed: Packed) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows that positions must meet, and those that velocities must."""
    positions = [row.index for row in packed.rows if row.label != "rate" and not row.nonholonomic]
    velocities = [row.index for row in packed.rows if row.label != "coordinate"]
    return np.array(positions, dtype=np.int64), np.array(velocities, dtype=np.int64)


def _sizes(flat: FlatModel, packed: Packed, G: Array) -> tuple[float, Array, Array]:
    """What tolerances are measured by: largest distance from the origin or arm, at least 1 m; what a radian changes in every
    row, at most 1, and at least what it is worth in metres; that in the velocities of every body, at most 1 m."""
    distances = [size_of(body.position) for body in flat.bodies]
    far = max([*distances, *(size_of(v) for item in flat.primitives for _, v in arms(item))], default=1.0)
    metres = min(1.0, max(arm_length(packed), 1e-3 * far))  # far from the origin, 1e-12 of less is below rounding
    turn = np.tile([metres] * 3 + [1.0] * 3, len(flat.bodies))
    return max(1.0, far), np.clip(np.linalg.norm(G * turn, axis=1), metres, 1.0), turn


def _angle_errors(flat: FlatModel, packed: Packed, x: Array) -> dict[int, float]:
    """Primitive -> how far a prescribed angle is from its value at the start, in (-pi, pi]; the residual is its sine."""
    prescribed = [  # a rate holds wherever its angle is
        (p, item) for p, item in enumerate(flat.primitives) if item.primitive.kind == "A" and item.primitive.labels != ("rate",)
    ]
    rotation = [np.eye(3), *(body.matrix for body in _bodies_from_state(flat.bodies, x, packed.I))] if prescribed else []
    errors = {}
    for p, item in prescribed:
        row = item.primitive
        d = rotation[item.i].T @ rotation[item.j] @ row.a_j
        angle = np.arctan2(np.cross(row.n_i, row.a_i) @ d, row.a_i @ d)
        target = row.offset + motion_values(row.motion, packed.t_0)[0]
        errors[p] = float(np.pi - (np.pi - angle + target) % (2.0 * np.pi))
    return errors


def _assemble_positions(
    flat: FlatModel,
    packed: Packed,
    x: Array,
    g: Array,
    movable: npt.NDArray[np.bool_],
    rows: npt.NDArray[np.int64],
    sizes: Array,
    turn: Array,
) -> tuple[tuple[float, float], Array]:
    """Positions by Gauss-Newton. Prescribed angles come in steps: their residual also vanishes half a turn away.

    g : residuals of the rows at x
    """
    errors = _angle_errors(flat, packed, x)
    steps = max([1, *(int(np.ceil(abs(error) / _ANGLE_STEP)) for error in errors.values())])
    start = float(np.abs(g).max(initial=0.0))
    sizes = sizes[rows]
    if steps == 1 and np.all(np.abs(g) <= POSITION_TOLERANCE * sizes):
        return (start, start), x
    for step in range(1, steps + 1):
        F = packed.F.copy()
        for p, error in errors.items():
            records(packed.I, F, T.PRIM_F, p + 1)["offset"][p] += error * (1.0 - step / steps)
        x, g = _gauss_newton(replace(packed, F=F), x, movable, rows, sizes, turn)
    residual = float(np.abs(g).max(initial=0.0))
    blamed = blame(packed.rows, rows, g)
    if np.all(np.abs(g) <= 100 * POSITION_TOLERANCE * sizes):
        blamed = [
            (flat.primitives[p].element, error) for p, error in _angle_errors(flat, packed, x).items() if abs(error) > 1.0
        ]
        if not blamed:
            return (start, residual), x
    raise no_positions(blamed)


def _gauss_newton(
    packed: Packed, x: Array, movable: npt.NDArray[np.bool_], rows: npt.NDArray[np.int64], sizes: Array, turn: Array
) -> tuple[Array, Array]:
    """Damped Gauss-Newton on g = 0 in the mass metric: state and residuals where it ends."""
    scale = inverse_root_mass(packed) * movable
    zero = np.zeros(len(scale))
    G, g, *_ = dense_rows(packed, packed.t_0, x)
    for _ in range(_MAX_ITERATIONS):
        if np.all(np.abs(g[rows]) <= POSITION_TOLERANCE * sizes):
            break
        A = G[rows] * scale
        length = np.linalg.norm(A, axis=1)  # rows in metres and rows in radians weigh the same, however small the mechanism
        length[length == 0.0] = 1.0
        step = -scale * np.linalg.lstsq(A / length[:, None], g[rows] / length, rcond=1e-8)[0]
        largest = np.abs(step / turn).max(initial=0.0)
        damping = min(1.0, 0.5 * max(1.0, sizes.max()) / largest) if largest > 0 else 0.0
        for _ in range(12):
            trial = x.copy()
            move(packed, trial, damping * step, zero)
            trial = _measured(packed, trial) if packed.I[T.NPART] else trial
            G_new, g_new, *_ = dense_rows(packed, packed.t_0, trial)
            if np.linalg.norm(g_new[rows] / sizes) < np.linalg.norm(g[rows] / sizes) * (1.0 - 1e-4 * damping):
                break
            damping *= 0.5
        else:
            break
        x, G, g = trial, G_new, g_new
    return x, g[rows]


def _assemble_velocities(
    flat: FlatModel,
    packed: Packed,
    x: Array,
    movable: npt.NDArray[np.bool_],
    free: npt.NDArray[np.bool_],
    rows: npt.NDArray[np.int64],
    sizes: Array,
) -> tuple[tuple[float, float], Array, list[int]]:
    """Residuals before and after, the state, bodies that move though they might rest with what was given. Velocities that
    were not given (`free`) change first; those that were, only if that is not enough."""
    scale = inverse_root_mass(packed) * movable
    x, change = x.copy(), np.zeros(len(scale))
    G, *_ = dense_rows(packed, packed.t_0, x)
    r = velocity_residual(packed, packed.t_0, x)[rows]
    start = float(np.abs(r).max(initial=0.0))
    enough = 1e-9 * sizes * (1.0 + np.abs(r / sizes).max(initial=0.0))
    for _ in range(3):
        if np.all(np.abs(r) <= VELOCITY_TOLERANCE * sizes):
            break
        y = least_change(G[rows] * scale / sizes[:, None], r / sizes, free)
        move(packed, x, np.zeros(len(y)), -scale * y)
        change -= y
        r = velocity_residual(packed, packed.t_0, x)[rows]
    worst = float(np.abs(r).max(initial=0.0))
    if not np.all(np.abs(r) <= enough):
        raise no_velocities(packed, G[rows] * scale, rows, r, flat.model.plane)
    untold = free & movable & (scale > 0.0)
    chosen = might_be_zero(G[rows] * scale / sizes[:, None], change, untold) if change.any() and untold.any() else []
    return (start, worst), x, list(dict.fromkeys(k // 2 for k in chosen))


def _moved(old: Body, new: Body, metres: float, size: float) -> Moved | None:
    angle = 0.0
    if old.rotation.tolist() != new.rotation.tolist():
        turn = old.matrix.T @ new.matrix
        angle = abs(float(np.arctan2(np.linalg.norm(turn - turn.T) / np.sqrt(8.0), (np.trace(turn) - 1.0) / 2.0)))
    distance = math.dist(new.position, old.position)
    velocity = math.dist(new.velocity, old.velocity)
    angular_velocity = math.dist(new.angular_velocity, old.angular_velocity)
    speed = 1.0 + math.hypot(*old.velocity) / metres + math.hypot(*old.angular_velocity)
    faster = [change > ROUNDING * speed for change in (velocity / metres, angular_velocity)]
    pose = distance > ROUNDING * metres * size or angle > ROUNDING
    completed = not pose and not any(change and given for change, given in zip(faster, old.given, strict=True))
    return Moved(old.name, distance, angle, velocity, angular_velocity, completed, old.given) if pose or any(faster) else None
