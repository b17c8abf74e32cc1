"""Relative coordinates of a mechanism: a spanning tree of its joints, tables for its kernels, conversion of states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array, symmetric
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack import place_sections
from dalembert.compilation.pack_choices import choice_section, choices_of
from dalembert.compilation.rows import new_workspace
from dalembert.compilation.trajectory import cross, rotation_matrices
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import CHOICE, V_GUARD, column, records, width
from dalembert.kernels.base.views import System
from dalembert.model.elements import GROUND, Joint
from dalembert.model.joints import JOINTS, TRAVEL, JointType
from dalembert.model.rotation import matrix_to_quaternion
from dalembert.model.validation import nearest

Kind = tuple[int, int, tuple[int, ...]]
Frames = tuple[Array, Array, Array, Array]
_TURNS = (T.NO_TURN, T.ONE_ANGLE, T.TWO_ANGLES, T.QUATERNION)  # by the number of rotations


def _kind(row: JointType) -> Kind | None:
    """How it turns, number of rotations, translations along which axes of the parent's joint frame; None unless its coordinates
    are all that it lets move."""
    held = sum(row.count(kind) for kind in ("C", "SO", "O")) == len(row.rows)
    if not held or row.conditions + len(row.coordinates) != 6:
        return None
    slides = tuple(TRAVEL[name] for name in row.coordinates if name in TRAVEL)
    return _TURNS[row.rotations], row.rotations, slides


TREE_JOINTS: dict[str, Kind] = {name: kind for name, row in JOINTS.items() if (kind := _kind(row)) is not None}
_FREE, _BALL = (T.QUATERNION, 3, (0, 1, 2)), (T.QUATERNION, 3, ())
_POINT = (T.NO_TURN, 0, (0, 1, 2))
EXCHANGED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])  # a cross seen from its other body


@dataclass(frozen=True, eq=False)
class Link:
    """How a body hangs on its parent: joint (None = free), frames on both sides, first coordinate and
    velocity, and the sign that makes absolute quaternions start as the mechanism's."""

    body: int
    parent: int
    joint: str | None
    kind: Kind
    p_p: Array
    p_c: Array
    E_p: Array
    E_c: Array
    q: int = 0
    u: int = 0
    sign: float = 1.0

    @property
    def nq(self) -> int:
        turn, rotations, slides = self.kind
        return (4 if turn >= T.QUATERNION else rotations) + len(slides)

    @property
    def nu(self) -> int:
        return self.kind[1] + len(self.kind[2])


@dataclass(frozen=True, eq=False)
class Tree:
    """Links in the order from the roots outwards, the names of the joints and drivers that stay constraint rows, and the
    numbers of the primitives of these in the mechanism."""

    mechanism: Mechanism
    links: tuple[Link, ...]
    cut: tuple[str, ...]
    primitives: tuple[int, ...]
    I: npt.NDArray[np.int64]
    F: Array

    @property
    def row_elements(self) -> list[str]:
        """Joint or driver of every constraint row."""
        return [row.element for row in self.mechanism.rows if row.element in self.cut]

    @property
    def nq(self) -> int:
        return sum(link.nq for link in self.links)

    @property
    def nu(self) -> int:
        return sum(link.nu for link in self.links)

    @cached_property
    def x_0(self) -> Array:
        """The mechanism's initial state in relative coordinates."""
        return self.from_absolute(self.mechanism.x_0.copy())

    def from_absolute(self, x: Array, frames: Frames | None = None) -> Array:
        """(n,) or (nt, n) relative states (q, u, external work, angles) of absolute ones; frames : (nt, links, ..) of each."""
        if x is self.mechanism.x_0:  # as at the start of every run
            return self.x_0.copy()
        mechanism = self.mechanism
        x_all = np.atleast_2d(x)
        nt, nb, (p, c) = len(x_all), mechanism.nb, (self.index("parent"), self.index("body"))
        R = np.tile(np.eye(3), (nt, nb + 1, 1, 1))
        r, v, w = np.zeros((3, nt, nb + 1, 3))
        three, four = np.arange(3), np.arange(4)
        kinds, first_q, first_u = np.array(mechanism.body_columns).reshape(-1, 3).T
        first_u = first_u + mechanism.nq
        r[:, 1:], v[:, 1:] = x_all[:, first_q[:, None] + three], x_all[:, first_u[:, None] + three]
        turns = kinds == T.RIGID
        rigid = np.flatnonzero(turns) + 1
        R[:, rigid] = rotation_matrices(x_all[:, first_q[turns, None] + 3 + four].reshape(-1, 4)).reshape(nt, -1, 3, 3)
        w[:, rigid] = np.einsum("tbij,tbj->tbi", R[:, rigid], x_all[:, first_u[turns, None] + 3 + three])
        p_p, p_c, E_p, E_c = self.frames if frames is None else frames
        E, C = R[:, p] @ E_p, R[:, c] @ E_c
        turn, w_rel = np.swapaxes(E, 2, 3) @ C, w[:, c] - w[:, p]
        arm_p, arm_c = (R[:, p] @ p_p[..., None])[..., 0], (R[:, c] @ p_c[..., None])[..., 0]
        gap = r[:, c] + arm_c - r[:, p] - arm_p
        speed = v[:, c] - v[:, p] + cross(w[:, c], arm_c) - cross(w[:, p], arm_p + gap)
        world = np.array([link.kind[0] == T.WORLD for link in self.links])[:, None]
        w_ball = np.where(world, w[:, c], w_rel)
        w_E, w_C, gap, speed = (np.einsum("tlij,tli->tlj", A, b) for A, b in ((E, w_rel), (C, w_ball), (E, gap), (E, speed)))
        quaternions = matrix_to_quaternion(np.where(world[:, None], C, turn))
        q, u = np.zeros((nt, self.nq)), np.zeros((nt, self.nu))
        for k, link in enumerate(self.links):
            kind, rotations, slides = link.kind
            at, rate, Q = link.q, link.u, turn[:, k]
            if kind >= T.QUATERNION:
                q[:, at : at + 4], u[:, rate : rate + 3] = quaternions[:, k], w_C[:, k]
                at += 1
            elif kind == T.ONE_ANGLE:
                q[:, at], u[:, rate] = np.arctan2(Q[:, 1, 0], Q[:, 0, 0]), w_E[:, k, 2]
            elif kind == T.TWO_ANGLES:
                q[:, at], q[:, at + 1] = np.arctan2(Q[:, 2, 1], Q[:, 1, 1]), np.arctan2(Q[:, 0, 2], Q[:, 0, 0])
                u[:, rate], u[:, rate + 1] = w_E[:, k, 0], w_C[:, k, 1]
            for j, axis in enumerate(slides, start=rotations):
                q[:, at + j], u[:, rate + j] = gap[:, k, axis], speed[:, k, axis]
        states = np.concatenate([q, u, x_all[:, mechanism.nq + mechanism.nu :]], axis=1)
        return states if x.ndim > 1 else states[0]

    def index(self, name: Literal["parent", "body"]) -> npt.NDArray[np.int64]:
        """Bodies of all links."""
        return np.array([getattr(link, name) for link in self.links], dtype=np.int64)

    @cached_property
    def frames(self) -> Frames:
        """p_p, p_c, E_p, E_c of all links."""
        return _frames(self.links)

    def to_absolute(self, x: Array) -> Array:
        """(nt, nx) absolute states of (nt, n) relative ones; quaternions are as continuous as the relative ones."""
        from dalembert.compilation.compiled_loops import entry

        out = np.zeros((len(x), len(self.mechanism.x_0)))
        entry("tree_states")(np.ascontiguousarray(x), out, System(self.I, self.F, new_workspace(self.I)))
        return out

    def signed(self, x: Array) -> Tree:
        """The same tree, with the absolute quaternions of the relative state x signed as those of the initial state."""
        F, start = self.F[None].copy(), self.to_absolute(x[None])
        turns = [start[:, at : at + 4] for at in self.mechanism.quaternion_columns]
        flipped = self.flip(F, turns, self.mechanism.x_0[None])[0].tolist()
        links = tuple(replace(link, sign=link.sign * flip) for link, flip in zip(self.links, flipped, strict=True))
        made = replace(self, links=links, F=F[0])
        vars(made).update({name: vars(self)[name] for name in ("x_0", "frames") if name in vars(self)})  # no sign is in them
        return made

    def flip(self, F: Array, turns: Sequence[Array], x_0: Array) -> Array:
        """Change signs in (runs, ..) constants, so that quaternions of rigid bodies are signed as in initial states; by link.

        turns : (runs, 4) of each body
        """
        flips, columns = np.ones((len(F), self.mechanism.nb + 1)), self.mechanism.quaternion_columns
        rigid = [b for b, (kind, _, _) in enumerate(self.mechanism.body_columns, start=1) if kind == T.RIGID]
        for b, at, turn in zip(rigid, columns, turns, strict=True):
            flips[:, b] = np.sign((turn * x_0[:, at : at + 4]).sum(axis=1))
        world = [link.kind[0] == T.WORLD for link in self.links]
        flips[:, self.index("body")] *= np.where(world, 1.0, flips[:, self.index("parent")])
        records(self.I, F, T.LINK_F)["theta_child"] *= flips[:, :, None]
        return flips[:, self.index("body")]


@lru_cache(maxsize=8)
def make_tree(mechanism: Mechanism, cut: tuple[str, ...] = (), *, world: bool = False) -> Tree:
    """A spanning tree of the joints that relative coordinates can describe, breadth first from the ground.

    cut : joints that must stay constraint rows; others are cut where the tree closes a loop
    world : ball joints have quaternion and angular velocity of their body against the world, not the parent
    """
    model = mechanism.model
    if mechanism.coordinates == "planar":
        raise ModelError("relative coordinates start from a mechanism compiled with coordinates='tree' or 'absolute'")
    names = [joint.name for joint in model.joints]
    for name in cut:
        if name not in names:
            raise ModelError(f"cut: there is no joint {name!r}; {nearest(name, names)}")
    index = {GROUND: 0, **{name: k + 1 for k, name in enumerate(mechanism.body_names)}}
    points = {index[body.name] for body in model.bodies if body.kind == "point"}
    usable = [j for j in model.joints if j.type in TREE_JOINTS and j.primitives and j.name not in cut]  # not out of force
    usable = [j for j in usable if not points & {index[j.first], index[j.second]}]
    implied = {row.element for row in mechanism.redundant}
    usable.sort(key=lambda j: j.name in implied)  # redundant rows belong into cut joints, where they can be left out
    links: list[Link] = []
    used: set[str] = set()
    placed = [0]
    free = iter(range(1, mechanism.nb + 1))
    while True:
        for body in placed:  # grows while it is walked
            for joint in usable:
                ends = (index[joint.first], index[joint.second])
                other = ends[1] if ends[0] == body else ends[0]
                if body in ends and other not in placed:
                    link = _link(joint, body, other, exchanged=ends[0] != body)
                    links.append(replace(link, kind=(T.WORLD, 3, ())) if world and link.kind == _BALL else link)
                    used.add(joint.name)
                    placed.append(other)
        root = next((body for body in free if body not in placed), None)
        if root is None:
            break
        zero, one = np.zeros(3), np.eye(3)
        links.append(Link(root, 0, None, _POINT if root in points else _FREE, zero, zero, one, one))
        placed.append(root)
    counted = []
    q = u = 0
    for link in links:
        counted.append(replace(link, q=q, u=u))
        q, u = q + link.nq, u + link.nu
    rows = tuple(dict.fromkeys(row.element for row in mechanism.rows if row.element not in used))
    primitives = tuple(dict.fromkeys(row.primitive for row in mechanism.rows if row.element in rows))
    frames = tuple(part[None] for part in _frames(counted))
    F, flags = tree_numbers(mechanism, counted, primitives, mechanism.F[None], frames)  # type: ignore[arg-type]
    tree = Tree(mechanism, tuple(counted), rows, primitives, _integers(mechanism, counted, primitives, flags[0]), F[0])
    return tree.signed(tree.from_absolute(mechanism.x_0))


def _frames(links: Sequence[Link]) -> Frames:
    p_p, p_c, E_p, E_c = (np.array([getattr(link, name) for link in links]) for name in ("p_p", "p_c", "E_p", "E_c"))
    return p_p, p_c, E_p, E_c


def _link(joint: Joint, parent: int, child: int, *, exchanged: bool) -> Link:
    kind = TREE_JOINTS[joint.type]
    if not exchanged:
        return Link(child, parent, joint.name, kind, joint.p_i, joint.p_j, joint.E_i, joint.E_j)
    turn = EXCHANGED if kind[0] == T.TWO_ANGLES else np.eye(3)
    return Link(child, parent, joint.name, kind, joint.p_j, joint.p_i, joint.E_j @ turn, joint.E_i @ turn)


def _integers(
    mechanism: Mechanism, links: Sequence[Link], primitives: Sequence[int], flags: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """The mechanism's tables with relative coordinates and only the cut joints as rows; flags : see `tree_numbers`"""
    I = mechanism.I.tolist()
    nb = mechanism.nb
    nq, nu = sum(link.nq for link in links), sum(link.nu for link in links)
    tree_i = np.zeros((nb + 1, width(T.TREE_I)), dtype=np.int64)
    for link, turned in zip(links, flags, strict=True):
        turn, rotations, slides = link.kind
        tree_i[link.body, :6] = link.parent, turn, link.q, link.u, rotations, len(slides)
        tree_i[link.body, 6 : 6 + len(slides)] = slides
        tree_i[link.body, 9:] = turned
    prim_i = records(I, I, T.PRIM_I, I[T.NPRIM] + I[T.NTRACED])[list(primitives)]
    members, codes = records(I, I, T.MEMBER_I), records(I, I, T.CODE_I)
    sides: list[int] = []  # row by row: body, where its part of the row begins in A, row
    first: list[int] = []
    rows = 0
    renumbered: dict[int, int] = {}
    for p, record in zip(primitives, prim_i, strict=True):
        for c in range(record["rows"]):
            renumbered[int(record["row"][c])] = rows
            first.append(len(sides) // width(T.SIDE_I))
            at = 6 * first[-1]
            touched = [int(record["i"]), int(record["j"])]
            if p >= I[T.NPRIM]:
                code = codes[p - I[T.NPRIM]]
                own = members[code["member"] :][: code["bodies"]]
                touched = own["body"].tolist()
                own["A"][:, c] = at + 6 * np.arange(len(own))
            record["row"][c], record["A_i"][c], record["A_j"][c] = rows, at, at + 6
            sides += [entry for k, body in enumerate(touched) for entry in (body, at + 6 * k, rows)]
            rows += 1
    I[T.NQ_BODY], I[T.NU_BODY] = I[T.NQ], I[T.NU]
    I[T.NQ], I[T.NU], I[T.NX] = nq, nu, nq + nu + 1 + I[T.NANGLE]
    I[T.NPRIM] = len(prim_i) - I[T.NTRACED]  # traced constraints are always cut
    I[T.M], I[T.M_ALL], I[T.NCOL], I[T.NINC], I[T.NSIDE] = rows, rows, nu, 0, len(sides) // width(T.SIDE_I)
    choice_section(I, [choice.among(renumbered) for choice in choices_of(I)])  # tree joints hold by themselves
    for k in range(I[T.NANGLE]):
        I[I[T.ANGLE_I] + width(T.ANGLE_I) * k + column(T.ANGLE_I, "x")] = nq + nu + 1 + k
    for entry, values in (
        (T.PRIM_I, prim_i.view(np.int64).tolist()),
        (T.MEMBER_I, members.view(np.int64).tolist()),
        (T.SIDE_I, sides),
        (T.CUT_I, [*first, len(sides) // width(T.SIDE_I)]),
        (T.TREE_I, tree_i.ravel().tolist()),
        (T.ORDER_I, [link.body for link in links]),
    ):
        I[entry] = len(I)
        I += values
    I[T.PRIM_F] = len(mechanism.F)
    I[T.TREE_F] = I[T.PRIM_F] + width(T.PRIM_F) * len(primitives)
    I[T.LINK_F] = I[T.TREE_F] + width(T.TREE_F) * (nb + 1)
    _workspace(I)
    return np.array(I, dtype=np.int64)


def tree_numbers(
    mechanism: Mechanism, links: Sequence[Link], primitives: Sequence[int], F: Array, frames: Frames
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """(runs, ..) constants of trees from those of mechanisms, behind which are those of cut joints, of links, and joint axes on
    parent and child as quaternions; and (runs, links, 2) which links are turned, which skew.

    frames : (runs, links, ..)
    """
    I, nb, (p_p, p_c, E_p, E_c) = mechanism.I, mechanism.nb, frames
    number, one = {link.body: k for k, link in enumerate(links)}, np.eye(3)
    bodies, parents = [link.body for link in links], [number.get(link.parent, -1) for link in links]
    E = np.concatenate([E_c, np.tile(one, (len(F), 1, 1, 1))], axis=1)[:, parents].swapaxes(2, 3)
    p = np.concatenate([p_c, np.zeros((len(F), 1, 3))], axis=1)[:, parents]
    turn, c = E @ E_p, -(E_c.swapaxes(2, 3) @ p_c[..., None])[..., 0]
    masses = records(I, F, T.MASS_F)[:, bodies]
    m, J = masses["m"][:, :, None], symmetric(masses["J"])
    moved = m[..., None] * ((c * c).sum(axis=2)[..., None, None] * one - c[..., None] * c[..., None, :])
    moments, axes = np.linalg.eigh(E_c.swapaxes(2, 3) @ J @ E_c + moved)
    ab = np.sqrt(moments[..., 1:] - moments[..., :1])[..., None] * axes.swapaxes(2, 3)[:, :, 1:]
    d_0 = (E @ (p_p - p)[..., None])[..., 0]
    parts = (p_p, p_c, E_p, E_c, matrix_to_quaternion(turn), d_0, c, ab, moments[..., :1], m)
    table, turns = np.zeros((len(F), nb + 1, width(T.TREE_F))), np.zeros((len(F), nb + 1, width(T.LINK_F)))
    table[:, bodies] = np.concatenate([part.reshape(*p_p.shape[:2], -1) for part in parts], axis=2)
    turns[:, bodies, :4], turns[:, bodies, 4:] = matrix_to_quaternion(E_p), matrix_to_quaternion(E_c.swapaxes(2, 3))
    cut = np.take(records(I, F, T.PRIM_F, I[T.NPRIM] + I[T.NTRACED]), primitives, axis=1).view(np.float64)
    rounding = 1e-15  # axes that are the same but for this are the same
    flags = np.stack([np.abs(of - one).max(axis=(2, 3)) > rounding for of in (turn, E_c)], axis=2)
    return np.concatenate([F, cut, table.reshape(len(F), -1), turns.reshape(len(F), -1)], axis=1), flags


def _workspace(I: list[int]) -> None:
    """Sections of W for the tree kernels."""
    nb6, m, nu = 6 * (I[T.NB] + 1), I[T.M], I[T.NU]
    own = {
        T.W_TREE: width(T.W_TREE) * (I[T.NB] + 1),
        T.W_COL: width(T.W_COL) * I[T.NCOL],
        T.W_U_DOT: nu,
        T.W_A: 6 * I[T.NSIDE] + 12,
        T.W_RHS: m,
        T.W_K: m * m + m + (m + 1) * nu,
        T.W_CORRECT: 3 * nb6 + m + 2 * nu + I[T.NQ],
        T.W_PIVOT: V_GUARD + nu,
        T.W_CHOICE: CHOICE.width + 4 * m + 2 * m * m if I[T.NCHOICE] else 0,
    }
    used = place_sections(I, own, I[T.NQ_BODY] + I[T.NU_BODY] + I[T.NANGLE])
    I[T.W_FRAME] = I[T.W_DENSE] = used  # what follows is for the reference path
    I[T.W_MASS] = used + 2 * nb6 * nu
    I[T.W_Y] = I[T.W_MASS] + nu * nu
    I[T.W_SIZE] = I[T.W_Y] + (m + 1) * nu
