"""What lies where in the three packed arrays: the one declaration that kernels (views.py) and packing both read.

`I` (int64) and `F` (float64) hold the mechanism and the settings of a run and do not change while a kernel runs; `W` is one
thread's workspace. A section is a run of records in one of them; the header entry of `I` named like it holds where it starts.
A table is one or more sections with one record each per member: `system.bodies[b].R`. Body 0 is the ground. Rows 0..m-1 of the
constraints enter the solve; rows m..m_all-1 vanish in the plane, only monitored.

Symbols of the theory, by the names that they have here:

    twists u, accelerations u', wrenches h   of every body, (v, w_B) and (force in world axes, torque in body axes)
    masses M, metrics W                      of every body: the mass matrix, the metric in which states are projected
    A, g, g_t, zeta                          rows [G; Gamma] of the constraints, residuals g, and b, z of A u + b, A u' + z
    K, rhs, Y                                S = A W^-1 A^T in blocks; its right-hand side and, once solved, lam; A W^-1

Some names share their place, where one is done with before the other begins: `displacements` with `wrenches`; `work`,
`unbalanced`, `spare` and `variation`; `bends` with `A` where a run says so (formulations/jet.py).
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from dalembert.kernels.base import tables as T

INT, NUM, MANY, VEC, QUAT, SYM, MAT = "int", "num", "many", "vec", "quat", "sym", "mat"
SIZE = {INT: 1, NUM: 1, MANY: 1, VEC: 3, QUAT: 4, SYM: 6, MAT: 9}


@dataclass(frozen=True)
class Ref:
    """The number of a member of another table: reads as that member."""

    table: str


@dataclass(frozen=True)
class Ints:
    """Several integers in a row."""

    count: int


@dataclass(frozen=True)
class Array:
    """Of a bundle (bundles.py): an array that lies elsewhere, as its address and shape."""

    dimensions: int
    scalar: str = "float64"


def size(kind):
    if isinstance(kind, Ref):
        return 1
    return kind.count if isinstance(kind, Ints) else 1 + kind.dimensions if isinstance(kind, Array) else SIZE[kind]


def shape(kind):
    """Of a field as an array of NumPy."""
    return (3, 3) if kind is MAT else (size(kind),) if size(kind) > 1 else ()


class Record:
    """Fields one after another in one array."""

    def __init__(self, name, **kinds):
        self.name, self.fields, self.width = name, {}, 0
        for label, kind in kinds.items():
            self.fields[label] = (kind, self.width)
            self.width += size(kind)

    def span(self, first, last):
        """The numbers from one field to another."""
        return slice(self.fields[first][1], self.fields[last][1] + size(self.fields[last][0]))


def numbers(names):
    """Fields of these names, a number each."""
    return dict.fromkeys(names.split(), NUM)


def integers(names):
    return dict.fromkeys(names.split(), INT)


class Section(Record):
    """Records in the array `array` from the offset at I[entry] on."""

    def __init__(self, array, entry, **kinds):
        super().__init__(entry, **kinds)
        self.array, self.entry = array, getattr(T, entry)


class Table:
    """count: header entry of I; first: 1 where iteration leaves out member 0, the ground."""

    def __init__(self, name, count, *sections, first=0):
        self.name, self.count, self.first, self.sections = name, getattr(T, count), first, sections
        self.fields = {label: (section, *what) for section in sections for label, what in section.fields.items()}


class Blocks:
    """Numbers one behind the other in W, as many of each as header entries say: "2 nq", "m nq", "6 nb + 6"; "1" is one
    number."""

    def __init__(self, name, entry, **lengths):
        self.name, self.entry, self.fields, self.terms = name, getattr(T, entry), {}, ()
        for label, length in lengths.items():
            self.fields[label] = (NUM if length == "1" else MANY, self.terms)
            self.terms = (*self.terms, *(tuple(term.split()) for term in length.split("+")))

    def offset(self, label, **sizes):
        """For packing: where a block starts in the section."""
        return total(self.fields[label][1], sizes)

    def length(self, **sizes):
        """For packing: how many numbers it has."""
        return total(self.terms, sizes)


def total(terms, sizes):
    """Sum of the products of numbers and of sizes by their names"""
    return sum(math.prod(int(word) if word.isdigit() else int(sizes[word]) for word in term) for term in terms)


POSE = Record("Pose", r=VEC, theta=QUAT)
TWIST = Record("Twist", v=VEC, w=VEC)  # of a body: velocity, angular velocity in body axes
ROW = Record("Row", force=VEC, torque=VEC)  # or a wrench: force in world axes, torque in body axes
BALL = Record("Ball", theta=QUAT)  # of a joint that turns freely: q, and u: angular velocity in the child's joint axes
SPIN = Record("Spin", w=VEC)
INERTIA = Record("Inertia", m=NUM, J=SYM, m_inv=NUM, J_inv=SYM)
PLANE = Record("Plane", e1=VEC, e2=VEC, n=VEC)
# inside : 1 while a point between two steps is projected to be saved; gap : largest |coordinate - f(t)| of a driver after a
# step; leap : largest projection of coordinates at the end of a step over the step's own change; unmet : of G u' + zeta;
# way : sum of the changes of steps; began, step : where the one that a formulation makes by itself (STEP)
# begins, its size
COUNTERS = Record(
    "Counters",
    **numbers("rhs project newton newton_max factor residual dg d2g dinv dependent worst_row worst_value cg"),
    **numbers("power kinetic potential inside gap gap_primitive gap_time leap leap_size leap_time unmet way began step"),
)
# of a user's force, and of a user's law between two bodies: what it reads, then what it leaves; parameters follow
CALL = Record("Call", x=VEC, v=VEC, R=MAT, w=VEC, out=VEC)
RELATIVE = Record("Relative", r=VEC, R=MAT, v=VEC, w=VEC, force=VEC, torque=VEC)
# of the watch over rows (pivots.py): 1 once something is known; row of the smallest pivot, number of the choice, that pivot and
# the time of the last step; smallest pivot of the run and its time; steps that may have led across a singular configuration;
# 1 where v_i had turned over when rows were chosen anew since
PIVOT = Record("Pivot", **numbers("known row choice last time least least_time crossed turned flipped"))
V_PLACES = 16  # where the last steps were that may have led across a singular configuration, behind it
V_GUARD = PIVOT.width + 2 * V_PLACES
# of the choice of rows (choice.py): reference and first pivot in the mass metric and in the other one, number of choices
CHOICE = Record("Choice", **numbers("reference_mass reference_metric first_mass first_metric count"))
# of minimal coordinates: degrees of freedom, basis (0 QR, 1 SVD, 2 eigenvalues), continuation (0 none, order of the
# exponential, -1 integrated), 1 when singular configurations are passed, number of velocities in use, offset of all weights
# in F; in the state, first of s, s', basis, what carries it on, guard, marks; in W, first of columns, small matrices,
# dense factorisation, states of bridge.py
MINIMAL = Record(
    "Minimal",
    **integers("dof kind order passing nu weight s s_dot basis carry guard marks columns small dense bridge"),
)
# marks of minimal coordinates in the state: start of the step, its smallest pivot and the row of that, largest jump of s',
# restarts of the basis, singular configurations passed, number of the choice of rows; where to look for them lies behind
MARKS = Record("Marks", **numbers("time pivot row jump restarts passed choice"))
N_PASSAGES = 8  # of the last ones passed the times between which to look for them
MARKS_SIZE = MARKS.width + 2 * N_PASSAGES
# of Lagrangian systems: external power, T and U
ENERGIES = Record("Energies", **numbers("power kinetic potential"))

_BODY = (
    Section("I", "BODY_I", kind=INT, q=INT, u=INT),
    Section("F", "BODY_F", origin=VEC, R_0=MAT, normal=VEC),  # planar: origin, rotation at beta = 0, normal in body axes
    Section("F", "MASS_F", m=NUM, J=SYM, m_inv=NUM, J_inv=SYM),
    Section("W", "W_BODY", r=VEC, R=MAT, v=VEC, w=VEC),
    Section("W", "W_H", force=VEC, torque=VEC),
    Section("W", "W_ACC", dv=VEC, dw=VEC),
)
# motion : entry of the motions, 0 = none; of traced primitives (U, V), which come last, the number of their code instead;
# row, A_i, A_j : three rows, where they begin in A for bodies i and j; row[1] of A, which has one row: the counter of its angle
_PRIMITIVE = (
    Section(
        "I", "PRIM_I", kind=INT, i=Ref("bodies"), j=Ref("bodies"), motion=INT, row=Ints(3), A_i=Ints(3), A_j=Ints(3), rows=INT
    ),
    Section("F", "PRIM_F", p_i=VEC, p_j=VEC, a_i=VEC, a_j=VEC, n_i=VEC, offset=NUM, scale=NUM),
)
_FORCE = (
    Section(
        "I", "FORCE_I", kind=INT, i=Ref("bodies"), j=Ref("bodies"), motion=INT, joint=Ref("angles"), call=INT, frame=INT,
        **integers("numbers count members curve damper"),
    ),
    Section("F", "FORCE_F", p_i=VEC, p_j=VEC, vector=VEC, k=NUM, c=NUM, l=NUM, E_i=MAT, E_j=MAT),
    Section("W", "W_FORCE", s=NUM, rate=NUM, value=NUM),
)  # fmt: skip
# link b of a tree carries body b. turn : how it turns; rotations, translations : how many, the joint axes of the
# translations; turned : 1 where the joint's axes on the parent differ from the parent's own joint axes; skew : 1 where
# the child's differ from its body axes
_LINK = (
    Section(
        "I", "TREE_I", parent=Ref("links"), turn=INT, q=INT, u=INT, rotations=INT, translations=INT, axis=Ints(3),
        turned=INT, skew=INT,
    ),
    # joint point and axes on the parent and on the child; then in joint axes (of the parent's own joint: quaternion of the
    # joint's axes, from joint point to joint point; of the child's: from its joint point to its centre of mass, the inertia
    # about the joint point as J_0 1 + a a^T + b b^T, mass)
    Section(
        "F", "TREE_F", p_parent=VEC, p_child=VEC, E_parent=MAT, E_child=MAT, theta_0=QUAT, d_0=VEC, c_0=VEC, a=VEC, b=VEC,
        J_0=NUM, m=NUM,
    ),
    # quaternions of the joint axes on the parent and, conjugate and with the link's sign, on the child
    Section("F", "LINK_F", theta_parent=QUAT, theta_child=QUAT),
    # world axes: joint axes of the body as quaternion and as matrix, angular velocity, arms from its joint point to its centre
    # of mass and from the parent's joint point to its own, bias; articulated inertia J, H, M, after elimination of a ball joint
    # its factors (J: L, D^-1; H: L^-1 H); bias force (torque p_w, force p_v), then acceleration of the joint point
    Section(
        "W", "W_TREE", theta=QUAT, R=MAT, w=VEC, c=VEC, d=VEC, bias_w=VEC, bias_v=VEC, J=SYM, H=MAT, M=SYM,
        p_w=VEC, p_v=VEC,
    ),
)  # fmt: skip
TABLES = {
    "bodies": Table("Body", "NB", *_BODY, first=1),
    "primitives": Table("Primitive", "NPRIM", *_PRIMITIVE),
    "motions": Table("Motion", "NMOTION", Section("W", "W_MOTION", f=VEC), first=1),  # (f, f', f''); member 0 stays zero
    "angles": Table(
        "Angle",
        "NANGLE",
        Section("I", "ANGLE_I", i=Ref("bodies"), j=Ref("bodies"), x=INT),
        Section("F", "ANGLE_F", x_i=VEC, y_i=VEC, z_i=VEC, x_j=VEC),
        Section("W", "W_ANGLE", angle=NUM, rate=NUM),
    ),
    "forces": Table("Force", "NFORCE", *_FORCE),
    # of traced primitives: first of the members and how many; what generated code reads and leaves is in traced_rows.py; of a
    # relation first of its parts and how many, its kind (relations.py; 0 is none), its table
    "codes": Table("Code", "NTRACED", Section("I", "CODE_I", **integers("member bodies part parts relation curve"))),
    # a body that a traced primitive acts on, and where its three rows begin in A for it
    "members": Table("Member", "NMEMBER", Section("I", "MEMBER_I", body=INT, A=Ints(3))),
    # a measure that a relation reads: kind, bodies, which members they are, number of the angle that counts it or -1
    "parts": Table(
        "Part",
        "NPART",
        Section("I", "PART_I", kind=INT, i=Ref("bodies"), j=Ref("bodies"), **integers("first second counter")),
        Section("F", "PART_F", p_i=VEC, p_j=VEC, a_i=VEC, a_j=VEC, n_i=VEC, factor=NUM),
    ),
    "sides": Table("Side", "NSIDE", Section("I", "SIDE_I", **integers("body A row"))),  # of a tree: a cut row and a body of it
    # incidence: one node of constraint rows touching one body
    "incidences": Table("Incidence", "NINC", Section("I", "INC_I", **integers("body n A row hub"))),
    # two incidences of one body that is eliminated at once; unit : 1 when both are one coincidence each
    "pairs": Table(
        "Pair", "NPAIR", Section("I", "PAIR_I", e1=Ref("incidences"), e2=Ref("incidences"), K=INT, diagonal=INT, unit=INT)
    ),
    "hubs": Table("Hub", "NHUB", Section("I", "HUB_I", **integers("body K x"))),  # a body kept as a node
    "hub_incidences": Table("HubIncidence", "NHUB_INC", Section("I", "HUB_INC_I", e=Ref("incidences"), K=INT, hub_rows=INT)),
    "links": Table("Link", "NB", *_LINK, first=1),
    # axis s of a rotation or translation, U = I s, D = 1 / (s . U), e = s . p left over
    "columns": Table("Column", "NCOL", Section("W", "W_COL", s=VEC, U_w=VEC, U_v=VEC, D=NUM, e=NUM)),
}
# records of one array that are addressed by a number: array, header entry, record, numbers from one to the next, offset
RECORDS = {
    "masses": ("F", T.MASS_F, INERTIA, INERTIA.width, 0),
    "metrics": ("F", T.METRIC_F, INERTIA, INERTIA.width, 0),
    "wrenches": ("W", T.W_H, ROW, 6, 0),
    "accelerations": ("W", T.W_ACC, TWIST, 6, 0),
    "displacements": ("W", T.W_H, TWIST, 6, 0),
    "work": ("W", T.W_WORK, TWIST, 6, 0),
    "unbalanced": ("W", T.W_WORK, ROW, 6, 0),  # h - M u'
    "guard": ("W", T.W_PIVOT, TWIST, 6, V_GUARD),
    "twists": ("W", T.W_BODY, TWIST, 18, 12),
    "A": ("W", T.W_A, ROW, 1, 0),  # rows of the constraints, numbered by their first entry
    "Y": ("W", T.W_Y, ROW, 1, 0),
    "bends": ("W", T.W_BEND, ROW, 1, 0),  # rows of d(A u + g_t)/dq
}
# one record: array, header entry, record
RECORD = {
    "plane": ("F", T.PLANE_F, PLANE),
    "call": ("W", T.W_CALL, CALL),
    "relative": ("W", T.W_CALL, RELATIVE),
    "count": ("W", T.W_STAT, COUNTERS),
    "pivot": ("W", T.W_PIVOT, PIVOT),
    "choice": ("W", T.W_CHOICE, CHOICE),
    "minimal": ("I", T.MINIMAL_I, MINIMAL),
    "energies": ("W", T.W_SCALARS, ENERGIES),
}
_BODIES = "6 nb + 6"  # six numbers per body, the ground included
# blocks: those of all systems, of bodies, of Lagrangian systems
_BLOCKS = (
    # what velocity-level formulations remember in the state: time since the step began, size of the last step, its impulses; of
    # the step's start lam, q, accelerations u_dot, what lam adds to them, power of moving constraints; last the velocity gained
    # from forces
    Blocks(
        "memory", "MEMORY_X", h="1", done="1", impulse="m", lam="m", q="nq", u_dot="nu", share="nu", power="1", gain="nu"
    ),
    Blocks("variation", "W_WORK", q=_BODIES, u=_BODIES, trial=_BODIES, x="nx"),  # gradient or displacement; a state kept
    # the orthogonal projection: matrix, right-hand side, one multiplier, a column or the diagonal, response of the bodies in q
    # and u to a multiplier, rows of d(A u + g_t)/dq
    Blocks("saddle", "W_DENSE", S="4 m m", c="2 m", unit="2 m", column="2 m", q=_BODIES, u=_BODIES, B="12 m"),
    # variational steps of bodies: momenta p, S and E of the forces, the same at other velocities, work of the forces,
    # 1 where D is known before the step, what forces add to the matrix
    Blocks(
        "impulses", "W_STAGES", p=_BODIES, S=_BODIES, E=_BODIES, S_other=_BODIES, E_other=_BODIES,
        work="1", known="1", D="nu nu",
    ),
    Blocks("point", "W_CALL", q="nq", v="nq"),  # what the generated code reads; parameters follow
    Blocks("invariant", "W_INVARIANT", f="1", f_q="nq", f_v="nq", B="m nq"),  # an invariant, its gradient, B = d(A v + b)/dq
    # variational steps (lagrangian/discrete.py): what the generated code reads beside q and v
    Blocks("step", "W_PI", pi="nq", lam="m", h="1"),
    # E, Lam_q + f_q, Lam_u + f_u, derivatives of the last two by (u, pi), work of the forces
    Blocks("discrete", "W_DISCRETE", E="nq", on_q="nq", on_u="nq", J="4 nq nq", work="1"),
    Blocks("bend", "W_FLOW", reaction="nq nq", rows="m nq"),  # derivatives by q of A^T lam and of A v + b
    Blocks("curve", "W_CURVE", end="nq", d_end="nq nq"),  # phi_h(q, w) in closed form, its derivative by w
    # the flow of a tangent field (constraint_flow.py): rates of both halves, point, rate there, middle, end; derivatives by w
    # of the rates of one half, of the middle, the end, the point
    Blocks(
        "stages", "W_STAGES", rates="8 nq", point="nq", y="nq", middle="nq", end="nq",
        d_rates="4 nq nq", d_middle="nq nq", d_end="nq nq", d_point="nq nq",
    ),
    # Newton's method: matrix, residual, unknowns z = (u, pi, w, lam), pivots; at the start of the step q, momentum p, A, b
    Blocks(
        "node", "W_SYSTEM", matrix="unknowns unknowns", residual="unknowns", z="unknowns", pivots="2 unknowns",
        q="nq", p="nq", A="m nu", b="m",
    ),
)  # fmt: skip
BLOCKS = {blocks.name: blocks for blocks in _BLOCKS}
# plain numbers: array, header entry, offset
NUMBERS = {
    # of trees u_dot : answer of the joint velocities to forces, or what displaces the coordinates; cg : conjugate gradients,
    # and beside them room for right-hand sides and what is left of them
    **{name.lower(): ("W", getattr(T, f"W_{name}"), 0) for name in "G ZETA RHS DIAG CG FRAME CORRECT H U_DOT".split()},
    # of Lagrangian systems: M, its root L, bias z of the rows, A', momentum L_v; A and Y = A L^-T as m x n numbers; of trees M*
    # and, below it, rows of the cut joints (frame_matrices.py)
    **{name.lower(): ("W", getattr(T, f"W_{name}"), 0) for name in "MASS ROOT BIAS TURN MOMENTUM".split()},
    **{name: ("W", entry, 0) for name, entry in (("jacobian", T.W_A), ("scaled", T.W_Y), ("K", T.W_K), ("g_t", T.W_GT))},
    "acc": ("W", T.W_ACC, 6),  # accelerations, after the ground's
    "guard_u": ("W", T.W_PIVOT, V_GUARD),  # of a tree: v_i of pivots.py in joint velocities
    # poses and twists of all bodies; angles and their rates
    **{name: ("W", entry, 0) for name, entry in (("poses", T.W_BODY), ("counted", T.W_ANGLE), ("spare", T.W_WORK))},
    **{name: ("W", entry, 0) for name, entry in (("called", T.W_CALL), ("counts", T.W_STAT), ("pivots", T.W_PIVOT))},
    "data": ("F", T.PRIM_F, 0),  # of the primitives, one record behind the other
    "crossings": ("W", T.W_PIVOT, PIVOT.width),
    "before": ("W", T.W_BEFORE, 0),  # idle flags of rows at the start of a step, room for a matrix, and the rows
    "references": ("W", T.W_CHOICE, 0),
    "idle": ("W", T.W_CHOICE, CHOICE.width),  # 1 per idle row; then work: a number per row and a group's matrix
    # where in I begin the tape of each node of the elimination, the records of motions that constraints follow
    **{name: ("I", entry, 0) for name, entry in (("tapes", T.NODE_I), ("followed", T.MOTION_I))},
    **{name: ("I", entry, 0) for name, entry in (("order", T.ORDER_I), ("cut", T.CUT_I), ("groups", T.CHOICE_I))},
    "in_use": ("I", T.MINIMAL_I, MINIMAL.width),  # the velocities that minimal coordinates use
    "soft": ("F", T.SOFT_F, 0),
    "stops": ("F", T.STOP_F, 0),
    "kept": ("F", T.INVARIANT_F, 0),
    "quadrature": ("F", T.FLOW_F, 0),
    "integers": ("I", None, 0),  # I itself, for offsets that are kept in I
    "constants": ("F", None, 0),
    "all": ("W", None, 0),
}
_HEADERS = list(vars(T))
# numbers in the header of I, and in that of F behind gravity, by their names in small letters
HEADER_I = {name.lower(): getattr(T, name) for name in _HEADERS[_HEADERS.index("NB") : _HEADERS.index("HEADER_I")]}
HEADER_F = {
    "gravity": (VEC, T.GRAVITY_X),
    **{name.lower(): (NUM, getattr(T, name)) for name in _HEADERS[_HEADERS.index("TOL_POSITION") : _HEADERS.index("HEADER_F")]},
}
_NAMES = [*TABLES, *RECORDS, *RECORD, *BLOCKS, *NUMBERS, *HEADER_I, *HEADER_F]
assert len(_NAMES) == len(set(_NAMES)), sorted(name for name in set(_NAMES) if _NAMES.count(name) > 1)


_OF = {section.entry: (section, table) for table in TABLES.values() for section in table.sections}
_OF[T.METRIC_F] = (INERTIA, TABLES["bodies"])


def width(entry):
    """Of Python: numbers per record of the section at this header entry."""
    return _OF[entry][0].width


def column(entry, label):
    """Of Python: where a field starts in the records of that section."""
    return _OF[entry][0].fields[label][1]


@cache
def _fields(entry, scalar):
    return np.dtype([(label, scalar, shape(kind)) for label, (kind, _) in _OF[entry][0].fields.items()])


def records(I, array, entry, count=None):
    """Of Python: the records of a section as fields by name, records(..)["kind"].

    array : I, also as a list, F or W, or many of these as rows;  count : how many; default: all of their table, member 0
    included where that is the ground
    """
    (section, table), first = _OF[entry], I[entry]
    last = first + section.width * (I[table.count] + table.first if count is None else count)
    part = np.array(array[first:last], dtype=np.int64) if isinstance(array, list) else array[..., first:last]
    return part.view(_fields(entry, part.dtype))
