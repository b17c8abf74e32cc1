"""Flat model -> the packed arrays of kernels/base/tables.py: bodies, primitives, forces, motions, the elimination plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array, IntArray
from dalembert.compilation.compiled import Row
from dalembert.compilation.flatten import TRACED, FlatModel, FlatPrimitive, turning_length
from dalembert.compilation.pack_choices import Choice, choice_section, choice_workspace
from dalembert.compilation.pack_codes import Codes, members
from dalembert.compilation.pack_motions import breakpoints, function_numbers, motion_rates, motion_values
from dalembert.compilation.pack_rows import Frame, Item, frame_of
from dalembert.compilation.planarity import Plane
from dalembert.compilation.rows import AtState
from dalembert.compilation.topology import Edge, Forest
from dalembert.compilation.writer import Writer
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import BLOCKS, COUNTERS, V_GUARD, records, width
from dalembert.kernels.mechanics import forces, laws
from dalembert.lagrangian.time_functions import motion_parts
from dalembert.model.elements import Force, Primitive
from dalembert.model.motions import Function, leaves
from dalembert.model.rotation import cross
from dalembert.model.validation import frozen

RowKey = tuple[int, int]  # primitive and component of a row

_ONE = np.eye(3)
_UPPER = np.triu_indices(3)
_KINDS = {"C": T.C, "SO": T.SO, "O": T.O, "D": T.D, "A": T.A, "U": T.U, "V": T.V}


@dataclass(frozen=True)
class Packed:
    """The packed arrays and what is needed to read them; t_0 : when a run starts;  quick : see `rows.compiled_of`

    begin : how much of I and F is the same in space and in a plane;  motions : of primitives, by their identity, offsets in I
    calls : numbers of the code of traced primitives
    """

    I: IntArray
    F: Array
    rows: tuple[Row, ...]
    nodes: tuple[Edge, ...]
    forest: Forest
    row_source: str
    bend_source: str
    turn_source: str
    functions: tuple[Force, ...]
    t_0: float
    begin: tuple[int, int]
    motions: Mapping[int, int]
    calls: Sequence[int]
    quick: AtState | None = None


def pack(flat: FlatModel, *, t_0: float = 0.0) -> Packed:
    """Lay everything out, in space: motions, forces and the code of traced rows first, then what `arranged` makes anew."""
    functions_of_time = function_numbers(
        [*(item.primitive.motion for item in flat.primitives), *(motion for force in flat.forces for motion in force.motions)]
    )
    out = Writer(functions_of_time)
    out.F[T.GRAVITY_X : T.GRAVITY_X + 3] = list(flat.model.gravity)
    out.F[T.EPS_PIVOT] = 1e-11
    sources, calls = _traced(flat, functions_of_time)
    motions = {id(item): out.motion(item.primitive.motion) for item in flat.primitives}
    codes = Codes(out)
    for item in flat.primitives[len(flat.primitives) - len(calls) :]:
        codes.add(item)
    codes.write()
    functions = _forces(out, flat)
    begin = len(out.I), len(out.F)
    frame = _arrange(out, flat, None, frozenset(), motions, calls)
    I, F = np.array(out.I, dtype=np.int64), np.array(out.F)
    return Packed(I, F, frame.rows, frame.nodes, frame.forest, *sources, functions, t_0, begin, motions, calls)


def arranged(packed: Packed, flat: FlatModel, plane: Plane | None, dropped: frozenset[RowKey] = frozenset()) -> Packed:
    """The same tables in a plane, or without primitives that only assembly had; rows in `dropped` are monitored only."""
    out = Writer({})
    out.I, out.F = packed.I[: packed.begin[0]].tolist(), packed.F[: packed.begin[1]].tolist()
    frame = _arrange(out, flat, plane, dropped, packed.motions, packed.calls)
    I, F = np.array(out.I, dtype=np.int64), np.array(out.F)
    return replace(packed, I=I, F=F, rows=frame.rows, nodes=frame.nodes, forest=frame.forest, quick=None)


def _arrange(
    out: Writer,
    flat: FlatModel,
    plane: Plane | None,
    dropped: frozenset[RowKey],
    motions: Mapping[int, int],
    calls: Sequence[int],
) -> Frame:
    """What depends on how bodies may move, and on which rows are solved for."""
    nq, nu = _bodies(out, flat, plane)
    out.I[T.NB], out.I[T.NQ], out.I[T.NU] = len(flat.bodies), nq, nu
    out.I[T.NANGLE], out.I[T.NX] = len(flat.angles), nq + nu + 1 + len(flat.angles)
    own = [motions[id(item)] for item in flat.primitives]
    frame = _constraints(out, flat, dropped, plane, own, calls)
    choice_section(out.I, ())
    _angles(out, flat, nq + nu + 1)
    _breakpoints(out)
    _workspace(out.I, frame.a_size)
    return frame


def with_choices(packed: Packed, choices: Sequence[Choice[RowKey]]) -> Packed:
    """The same tables with groups that have more rows than rank."""
    if not choices:
        return packed
    I: list[int] = packed.I.tolist()
    number = {(row.primitive, row.component): row.index for row in packed.rows}
    choice_section(I, [choice.among(number) for choice in choices])
    _workspace(I, I[T.W_Y] - I[T.W_A])  # A stays as long as it is
    return replace(packed, I=np.array(I, dtype=np.int64))


def _metrics(weights: Sequence[float], J: Sequence[Array]) -> list[float]:
    """Records of MASS_F or METRIC_F, that of the ground first."""
    records = [0.0] * width(T.MASS_F)
    for weight, matrix in zip(weights, J, strict=True):
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = matrix.tolist()
        records += [weight, xx, xy, xz, yy, yz, zz, 1.0 / weight]
        if xy == xz == yz == 0.0:
            records += [1.0 / xx, 0.0, 0.0, 1.0 / yy, 0.0, 1.0 / zz]
        else:
            records += np.linalg.inv(frozen(matrix))[_UPPER].tolist()
    return records


def _bodies(out: Writer, flat: FlatModel, plane: Plane | None) -> tuple[int, int]:
    nq, nu = 0, 0
    table: list[int] = [T.GROUND, 0, 0]
    planar: list[float] = [0.0] * width(T.BODY_F)
    inertias, weights = [], []
    length = turning_length(flat)
    for body in flat.bodies:
        record, inertia, weight = [0.0] * width(T.BODY_F), _ONE, _ONE
        kind = T.PLANAR if plane is not None else (T.POINT if body.kind == "point" else T.RIGID)
        if plane is not None:  # a point mass in the plane keeps an idle angle
            R_0 = body.matrix
            n_B = R_0.T @ plane.normal
            record = [*plane.normal * (plane.normal @ body.position), *R_0.ravel(), *n_B]
            if body.kind == "rigid":
                inertia, weight = (n_B @ body.inertia @ n_B) * _ONE, length**2 * _ONE
        elif kind == T.RIGID:
            inertia, weight = body.inertia, 0.25 * length**2 * _ONE
        table += [kind, nq, nu]
        nq, nu = nq + (7 if kind == T.RIGID else 3), nu + (6 if kind == T.RIGID else 3)
        planar += record
        inertias.append(inertia)
        weights.append(weight)
    out.section_i(T.BODY_I, table)
    out.section_f(T.BODY_F, planar)
    out.section_f(T.MASS_F, _metrics([body.mass for body in flat.bodies], inertias))
    out.section_f(T.METRIC_F, _metrics([1.0] * len(flat.bodies), weights))
    out.section_f(T.PLANE_F, [] if plane is None else [*plane.e1, *plane.e2, *plane.normal])
    return nq, nu


def _constraints(
    out: Writer,
    flat: FlatModel,
    dropped: frozenset[RowKey],
    plane: Plane | None,
    motions: Sequence[int],
    calls: Sequence[int],
) -> Frame:
    """Primitives, nodes, incidences, and the plan of the block solve."""
    items: list[Item] = []
    for item in flat.primitives:
        row = item.primitive
        counter = flat.counter_of(item.element) if row.kind == "A" else 0
        items.append((item.element, row.kind, row.labels, item.i, item.j, item.members, row.motion is not None, counter))
    frame = frame_of(len(flat.bodies), tuple(items), dropped, plane is None)
    table: list[int] = []
    moving = [motion for motion in motions if motion >= 0]
    first = len(items) - len(calls)
    for p, item in enumerate(flat.primitives):
        fourth = calls[p - first] if p >= first else moving.index(motions[p]) + 1 if motions[p] >= 0 else 0
        table += [_KINDS[item.primitive.kind], item.i, item.j, fourth, *frame.columns[p], len(item.primitive.labels)]
    out.I[T.NPRIM], out.I[T.NTRACED], out.I[T.NMOTION] = first, len(calls), len(moving)
    out.section_i(T.MOTION_I, moving)
    out.section_i(T.PRIM_I, table)
    out.section_f(T.PRIM_F, _primitive_numbers(flat))
    traced = zip(flat.primitives[first:], frame.places[first:], strict=True)
    out.section_i(T.MEMBER_I, [entry for item, places in traced for entry in members(item, places)])
    for entry, count in frame.counts.items():
        out.I[entry] = count
    for entry, values in frame.sections.items():
        out.section_i(entry, values)
    out.section_i(T.NODE_I, [out.I[T.TAPE_I] + start for start in frame.plan.starts])
    return frame


def _primitive_numbers(flat: FlatModel) -> list[float]:
    """Records of PRIM_F."""
    numbers: list[float] = []
    for item in flat.primitives:
        p = item.primitive
        for v in (p.p_i, p.p_j, p.a_i, p.a_j, p.n_i):
            numbers += v.tolist()
        numbers += [p.offset, 1.0 / _start_of(item)]
    return numbers


def _traced(flat: FlatModel, functions: dict[Callable[..., Any], int]) -> tuple[tuple[str, str, str], list[int]]:
    """Code of the rows of traced primitives: alone, with d(A u + g_t)/dq, with their turning; the number of each one's code.
    Behind it that of functions of time."""
    names = ("ground", *(body.name for body in flat.bodies))
    traced = [item for item in flat.primitives if item.primitive.kind in TRACED]
    if not traced and not functions:
        return ("", "", ""), []
    from dalembert.lagrangian.body_rows import row_source

    given = [(f"constraint {p.element!r}", tuple(names[b] for b in p.bodies), p.primitive) for p in traced]
    rows, bend, turn, calls = row_source(given, motion_parts(functions))
    return (rows, bend, turn), calls


def _start_of(item: FlatPrimitive) -> float:
    """l_0 of a primitive; refuses a motion that has no value, or no length, at the start."""
    motion, length = item.primitive.motion, reference_length(item.primitive)
    if any(isinstance(leaf, Function) for leaf in leaves(motion)) and not np.isfinite(motion_rates(motion, 0.0)).all():
        values = ", ".join(f"{value:g}" for value in motion_rates(motion, 0.0)[0])
        raise ModelError(
            f"{item.element!r}: its motion and its two rates are {values} at t = 0; give a function that is smooth"
        )
    if not length > 0.0:
        raise ModelError(f"joint {item.element!r}: its length is {length:g} m at t = 0; give one that begins above 0")
    return length


def reference_length(primitive: Primitive) -> float:
    """l_0, what a distance residual is divided by: its length at t = 0, so that the residual is in metres."""
    if primitive.kind != "D":
        return 1.0
    return primitive.offset if primitive.motion is None else float(primitive.offset + motion_values(primitive.motion, 0.0)[0])


def _angles(out: Writer, flat: FlatModel, first: int) -> None:
    table, numbers = list[int](), list[float]()
    for k, item in enumerate(flat.angles):
        table += [item.i, item.j, first + k]
        angle = item.angle
        for v in (angle.a_i, cross(angle.n_i, angle.a_i), angle.n_i, angle.a_j):
            numbers += v.tolist()
    out.section_i(T.ANGLE_I, table)
    out.section_f(T.ANGLE_F, numbers)


def _forces(out: Writer, flat: FlatModel) -> tuple[Force, ...]:
    """Force elements; returns those whose value is a user function, in the order of their callback numbers."""
    table, numbers, functions = force_rows(flat, out)
    out.I[T.NFORCE] = len(table) // width(T.FORCE_I)
    out.section_i(T.FORCE_I, table)
    out.section_f(T.FORCE_F, numbers)
    made = records(out.I, out.I, T.FORCE_I)
    out.I[T.NLAW], out.I[T.UNREAD] = int((made["kind"] >= laws.LAW_ANGLE).sum()), int((made["joint"] < 0).all())
    return functions


def _breakpoints(out: Writer) -> None:
    """Where steps end, of motions of constraints and of forces."""
    forces = records(out.I, out.I, T.FORCE_I)["motion"].tolist()
    rows = out.I[out.I[T.MOTION_I] :][: out.I[T.NMOTION]]
    times, again = breakpoints(out.I, out.F, [*rows, *(motion for motion in forces if motion >= 0)])
    out.I[T.NSTOP], out.I[T.NAGAIN] = len(times), len(again) // 2
    out.section_f(T.STOP_F, [*times, *again])


def place_sections(I: list[int], own: Mapping[int, int], state: int) -> int:
    """Where the sections of W start, those of all coordinates and `own` ones of a kind with their sizes; length of W.

    state : number of what a user's function reads
    """
    nb6, m_all = 6 * (I[T.NB] + 1), I[T.M_ALL]
    sizes = {
        T.W_BODY: width(T.W_BODY) * (I[T.NB] + 1),
        **dict.fromkeys((T.W_H, T.W_ACC), nb6),
        **dict.fromkeys((T.W_G, T.W_GT, T.W_ZETA), m_all),
        T.W_ANGLE: 2 * I[T.NANGLE],
        T.W_MOTION: 3 * (I[T.NMOTION] + 1),
        T.W_STAT: COUNTERS.width,
        T.W_CALL: max(state + 32, I[T.CALL_SIZE], call_size(I)),
        T.W_FORCE: width(T.W_FORCE) * I[T.NFORCE],
        T.W_WORK: 3 * nb6 + I[T.NX],
        **own,
    }
    used = 0
    for entry, size in sizes.items():
        I[entry], used = used, used + size
    return used


def _workspace(I: list[int], a_size: int) -> None:
    """Sections of W for bodies; the dense part for the orthogonal projection comes last, only some runs have it."""
    nb6, m, nx = 6 * (I[T.NB] + 1), I[T.M], I[T.NX]
    own = {
        **dict.fromkeys((T.W_A, T.W_Y), a_size),
        T.W_K: I[T.K_SIZE],
        **dict.fromkeys((T.W_RHS, T.W_DIAG), m + 6 * I[T.NHUB]),
        T.W_CG: 5 * m + nb6,
        T.W_PIVOT: V_GUARD + nb6,
        T.W_CHOICE: choice_workspace(I),
        **({T.W_BEFORE: m + m * m + a_size} if m <= _KEPT_ROWS else {}),
    }
    used = place_sections(I, own, nx)
    I[T.W_DENSE], I[T.W_BEND] = used, used + BLOCKS["saddle"].offset("B", m=m, nb=I[T.NB])
    I[T.W_SIZE] = I[T.W_BEND] + a_size


_KEPT_ROWS = 60  # above, a determinant takes longer than the step
_FORCE_KINDS = vars(laws) | vars(forces)


def call_size(I: Sequence[int]) -> int:
    """How much of W the functions of force elements need at most."""
    table = records(I, I, T.FORCE_I)
    sizes = (24 + 3 * table["members"] + table["count"])[table["call"] >= 0]
    return int(sizes.max(initial=0))


def force_rows(flat: FlatModel, out: Writer) -> tuple[list[int], list[float], tuple[Force, ...]]:
    """Both tables, and the elements whose value is a user function, in the order of their callback numbers.

    out : takes their motions, tables and numbers
    """
    joints = {joint.name: joint for joint in flat.model.joints}
    counters = {(item.joint, item.component): k for k, item in enumerate(flat.angles)}
    table: list[int] = []
    constants: list[float] = []
    functions: list[Force] = []
    for force in flat.forces:
        members = force.records(joints)
        call = -1 if force.function is None else len(functions)
        functions += [] if force.function is None else [force]
        for k, r in enumerate(members):
            angle = -1 if r.angle is None else counters[r.angle]
            table += [_FORCE_KINDS[r.kind], flat.index[r.first], flat.index[r.second], out.motion(r.motion), angle, call]
            table += [int(r.frame == "body"), len(out.F), len(r.numbers), 0 if k else len(members)]
            out.F += r.numbers
            table += [out.curve(r.curve, r.gains[2], r.origin), out.curve(r.damper)]
            for v in (r.p_i, r.p_j, r.vector, np.array(r.gains), r.E_i, r.E_j):
                constants += v.ravel().tolist()
    return table, constants, tuple(functions)
