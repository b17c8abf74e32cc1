"""What joints and drivers leave free at the start, where something is driven, in words: a joint may be missing, an axis wrong.

Free velocities are the null space of the rows of joints and drivers, in twists (v, w) of the bodies. Those that move one body
alone are told of it; a turn about an axis through its centre is a spin. What is left, across these, falls into groups of bodies
between which its projector vanishes; a group is told by the body that cannot move alone, which takes the others along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rank import arm_length, unit
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.trajectory import Trajectory
from dalembert.compilation.wrong_axes import loops_of, shown_axis
from dalembert.model.elements import GROUND
from dalembert.remarks.doubts import MODEL
from dalembert.remarks.missing_joints import misses_joint, on_springs, unguided, unjoined, unjoined_ends
from dalembert.remarks.pins import links_of
from dalembert.remarks.row_words import turning

MANY = 30  # bodies above which a motion is not asked for by name
SMALL = 1e-7  # of rows and motions of unit length; rounding leaves 1e-14, geometry more than 1e-3
TOLD = 3  # motions; groups that move in more ways are meant to, as chains and vehicles
FREE, UNMEANT = "left free", ": a joint may be missing, if this is not meant"
_IDLE, _HELD = ", which moves nothing else", ", on springs, motors or laws"


def left_free(mechanism: Compiled) -> Iterator[tuple[str, str]]:
    """Sentences, by name: drivers that move one body of many and nothing else, or turn steadily inside a loop; what is free
    besides the driven; doubts, where a joint is likely to be missing."""
    if not isinstance(mechanism, Mechanism) or not mechanism.model.drivers or mechanism.nb > MANY:
        return
    start = _Start(mechanism)
    if lonely := [*start.lonely(), *_between_moving(mechanism)]:
        yield "driver", "; ".join(lonely)
    if found := [*start.motions()] if mechanism.degrees_of_freedom else []:
        more = f"; and {len(found) - TOLD} more" if len(found) > TOLD else ""
        told = [words for _, words in found]
        cause = "" if all(words.endswith((_IDLE, _HELD)) for words in told) else UNMEANT
        yield FREE, f"besides what is driven, {'; '.join(told[:TOLD])}{more}{cause}"
        free = set[str]().union(*(bodies for bodies, _ in found))
        yield from ((MODEL, text) for text in (*unjoined_ends(mechanism, free), *unguided(mechanism, free)))
        missing = [bodies for bodies, _ in found if misses_joint(mechanism, start.state, bodies)]
        if names := [body.name for body in mechanism.model.bodies if any(body.name in bodies for bodies in missing)]:
            others = f" and {names[1]!r}" if len(names) == 2 else f" and {len(names) - 1} more" if names[2:] else ""
            are = "are" if others else "is"
            yield MODEL, f"{names[0]!r}{others} {are} left free beside what is driven: a joint may be missing (see left free)"


def _between_moving(mechanism: Mechanism) -> Iterator[str]:
    """Steady drivers about a hinge of two moving bodies, in a loop with hinges in the ground that nothing drives."""
    model, steady = mechanism.model, turning(mechanism)
    driven = {driver.joint for driver in model.drivers}
    for driver in (driver for driver in model.drivers if driver.name in steady and driver.joint):
        loop = next((loop for loop in loops_of(model) if driver.joint in {joint.name for joint in loop}), [])
        hinges = [joint.name for joint in loop if joint.type == "revolute" and GROUND in joint.bodies]
        if hinges and GROUND not in (driver.first, driver.second) and not driven & set(hinges):
            which = " and ".join(map(repr, hinges)) + (" are" if len(hinges) > 1 else " is")
            yield f"{driver.name!r} drives {driver.joint!r} between two moving bodies; {which} in the ground and not driven"


class _Start:
    """Rows at the start in (v over the longest arm, w) of the bodies, world axes: those of joints and drivers, then what is
    held of each body without them, in a plane or as a point mass."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.model, self.names = mechanism, mechanism.model, mechanism.body_names
        self.state = Trajectory(mechanism, np.array([mechanism.t_0]), mechanism.x_0[None])
        self.length, self.n = arm_length(mechanism), len(self.names)
        G = dense_rows(mechanism, mechanism.t_0, mechanism.x_0)[0][: mechanism.m].reshape(-1, self.n, 6)
        for b, name in enumerate(self.names):
            G[:, b, 3:] = G[:, b, 3:] @ self.state.rotation(name)[0].T
        G[:, :, :3] *= self.length
        held = np.zeros((self.n, 6, self.n, 6))
        for b, body in enumerate(self.model.structure.bodies):
            n = np.zeros(3) if mechanism.plane is None else mechanism.plane.normal
            held[b, :3, b, :3] = np.outer(n, n)
            held[b, 3:, b, 3:] = np.eye(3) * (body.kind == "point" or n.any()) - np.outer(n, n) * (body.kind != "point")
        more = held.reshape(6 * self.n, -1)
        self.rows = np.vstack([unit(G.reshape(len(G), -1))[0], more[more.any(axis=1)]])

    def _alone(self, b: int, but: Sequence[int] = ()) -> Array:
        """(k, 6) motions of one body while all others rest; but : rows that do not count."""
        return _null_space(np.delete(self.rows, but, axis=0)[:, 6 * b : 6 * b + 6])

    def lonely(self) -> Iterator[str]:
        """Drivers of a body that joints connect to others, none of which they or forces let it move."""
        joints = {joint.name: joint for joint in self.model.joints}
        for driver in (driver for driver in self.model.drivers if driver.joint):
            rows = self.mechanism.velocity_rows(driver.name)
            for name in (name for name in (driver.first, driver.second) if name != GROUND):
                others = [joint.bodies for joint in self.model.joints if joint.name != driver.joint and name in joint.bodies]
                pushed = [ends for force in self.model.forces if name in (ends := force.ends(joints))]
                near, by_forces = (any(set(ends) - {name, GROUND} for ends in items) for items in (others, pushed))
                b = self.names.index(name)
                if near and not by_forces and len(self._alone(b, rows)) > len(self._alone(b)):
                    yield f"driver {driver.name!r} moves {name!r} and nothing else: see the axis of {driver.joint!r}"

    def motions(self) -> Iterator[tuple[set[str], str]]:
        """Bodies that move, and how; nothing in a singular pose, in which more is free than in others."""
        from scipy.sparse.csgraph import connected_components  # a tenth of a second, for driven models alone

        free = _null_space(self.rows)
        if len(free) != self.mechanism.degrees_of_freedom:
            return
        alone = [self._alone(b) for b in range(self.n)]
        single = [np.pad(own, ((0, 0), (6 * b, 6 * (self.n - b - 1)))) for b, own in enumerate(alone)]
        free = _null_space(np.vstack(single) @ free.T) @ free
        projector = np.abs(free.T @ free).reshape(self.n, 6, self.n, 6).max(axis=(1, 3)) > SMALL
        labels, free = connected_components(projector)[1], free.reshape(-1, self.n, 6)
        groups = [np.flatnonzero(labels == label).tolist() for label in dict.fromkeys(labels[projector.any(axis=1)].tolist())]
        sizes = [int(np.linalg.matrix_rank(free[:, group].reshape(len(free), -1), SMALL)) for group in groups]
        meant = {b for group, size in zip(groups, sizes, strict=True) if size > TOLD for b in group}
        spins, loose = dict[str, list[int]](), unjoined(self.model)
        for b in (b for b, own in enumerate(alone) if len(own) and b not in meant):
            if spin := self._spin(b, alone[b]):
                spins.setdefault(spin, []).append(b)
            elif loose.startswith(repr(self.names[b])):
                yield {self.names[b]}, loose
            elif any(self.names[b] in joint.bodies for joint in self.model.joints):  # others may be on springs
                yield {self.names[b]}, f"{self.names[b]!r} is free to {self._told([b], alone[b])}{self._on({self.names[b]})}"
        for group, size in zip(groups, sizes, strict=True):
            if size <= TOLD:
                names = {self.names[b] for b in group}
                words = self._shared(group, free, [b for b in group if not len(alone[b])], size)
                yield names, words + self._on(names)
        for spin, bodies in spins.items():
            are, its = ("are", "their") if len(bodies) > 1 else ("is", "its")
            yield set(), f"{self._listed(bodies)} {are} free to spin about {its} own {spin}{_IDLE}"

    def _shared(self, group: list[int], free: Array, leads: list[int], size: int) -> str:
        """leads : bodies that cannot move alone; as one body where all of them move alike."""
        centres = np.array([self.state.position(self.names[b])[0] for b in leads]).reshape(-1, 3) / self.length
        alike = free[:, leads].copy()
        alike[..., :3] -= np.cross(alike[..., 3:], centres)
        if leads and np.abs(alike - alike[:, :1]).max() < SMALL:
            along = [b for b in group if b not in leads]
            are, it = ("are", "them") if len(leads) > 1 else ("is", "it")
            also = f", {self._listed(along)} with {it}" if along else ""
            return f"{self._listed(leads)} {are} free to {self._told(leads, _span(free[:, leads[0]]))}{also}"
        return f"{self._listed(group)} are free to move together" + (f" in {size} ways" if size > 1 else "")

    def _listed(self, bodies: Sequence[int]) -> str:
        return ", ".join(repr(self.names[b]) for b in bodies)

    def _on(self, bodies: set[str]) -> str:
        return _HELD if on_springs(self.model, bodies) else ""

    def _spin(self, b: int, own: Array) -> str:
        """The axis of what only turns about one through its centre; "" for what does not."""
        if len(own) > 1 or np.linalg.norm(own[0, :3]) > SMALL:
            return ""
        link, axis = links_of(self.model).get(self.names[b]), own[0, 3:]
        along = 0.0 if link is None else self.state.rotation(self.names[b])[0] @ link.along @ axis
        return "length" if abs(along) > 1 - SMALL else f"axis {_sided(axis)}"

    def _told(self, bodies: list[int], own: Array) -> str:
        """Turns and shifts, as of one body; own : (k, 6) orthonormal, of the first of the bodies."""
        U, values, W = np.linalg.svd(own[:, 3:])
        turns = int(np.sum(values > SMALL))
        shifts, turning = _span(U.T[turns:] @ own[:, :3]), U.T[:turns] @ own
        words = []
        if len(shifts):
            words.append("move " + ("", f"along {_sided(shifts[0])}", f"across {_across(shifts)}", "anywhere")[len(shifts)])
        if turns:
            axes = ("", f"about {_sided(W[0])}", f"about all axes across {_across(W[:2])}", "about all axes")[turns]
            words.append(f"turn {axes}{self._through(bodies, turning, shifts) if len(shifts) < 2 else ''}")
        return " and to ".join(words)

    def _through(self, bodies: list[int], turning: Array, shifts: Array) -> str:
        """A joint or else a point that rests in all turns, but for shifts; "" where there is none."""
        centre, names = self.state.position(self.names[bodies[0]])[0], {self.names[b] for b in bodies}
        across = np.eye(3) - shifts.T @ shifts
        A = np.vstack([across @ np.cross(w, np.eye(3)).T for w in turning[:, 3:]])  # w x d
        v = np.concatenate([across @ v for v in turning[:, :3]])
        for joint in (joint for joint in self.model.joints if names & set(joint.bodies) and not joint.coupled):
            second = joint.second in names
            d = self.state.point(*((joint.second, joint.p_j) if second else (joint.first, joint.p_i)))[0] - centre
            if np.abs(A @ d / self.length + v).max() < SMALL:
                return f" through joint {joint.name!r}"
        d = np.linalg.lstsq(A, -v, rcond=SMALL)[0]
        return f" through {shown_axis(centre + self.length * d)}" if np.abs(A @ d + v).max() < SMALL else ""


def _null_space(rows: Array) -> Array:
    """(k, n) orthonormal vectors that no row sees."""
    _, values, V = np.linalg.svd(rows, full_matrices=len(rows) < rows.shape[1])
    return np.asarray(V[int(np.sum(values > SMALL)) :])


def _span(rows: Array) -> Array:
    """(k, n) orthonormal vectors that rows are made of."""
    _, values, V = np.linalg.svd(rows)
    return np.asarray(V[: int(np.sum(values > SMALL))])


def _across(axes: Array) -> str:
    return _sided(np.cross(axes[0], axes[1]) if len(axes) > 1 else axes[0])


def _sided(axis: Array) -> str:
    """The direction of the two that has its largest number positive."""
    return shown_axis(axis * np.sign(axis[int(np.argmax(np.abs(np.round(axis, 9))))]))
