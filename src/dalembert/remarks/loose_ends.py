"""Ends of bars that nothing holds, where an end of another bar is, or a joint of other bodies: one may be missing there.

A bar is what pins.py takes for one. Its end is loose where no joint and no force of its own is at it, within `AT` of its
length; along the axis of a hinge does not count. Bodies that are joined elsewhere may well touch: folded links, a piston in its
barrel, what is welded. Cables and constraints of the user may hold any point of a body. On another bar, between its ends, they
may lie by chance: that is asked of bars that are left free (missing_joints.py). Bars whose length is doubted say nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND, Body
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.pins import AT, HINGES, Link, links_of
from dalembert.remarks.points_off_bodies import drawn_as
from dalembert.remarks.wrong_units import too_long

ALONG = 0.1  # sine of the angle between bars that lie along each other, as folded ones
_ACROSS = np.eye(3)
Hold = tuple[Array, Array | None, set[str]]  # a point; a projection along the axis of a hinge, None for anywhere; bodies


def loose_ends(model: Model) -> Iterator[str]:
    """One sentence for each place."""
    ends, held = _ends(model)
    loose = [not bodies for bodies in held]
    if not any(loose):
        return
    near, bodies = _neighbours(model), {body.name: body for body in (model.ground, *model.bodies)}
    spots = [({bar.body}, f"an end of {bar.body!r}", world_point(bodies[bar.body], p)) for bar, p in ends]
    for joint in model.joints:
        if not joint.coupled:
            spots.append((set(joint.bodies), f"joint {joint.name!r}", world_point(bodies[joint.first], joint.p_i)))
    places = np.array([x for *_, x in spots])
    told = set[int]()
    for k in np.flatnonzero(loose).tolist():
        bar = ends[k][0]
        there = np.flatnonzero(np.linalg.norm(places - places[k], axis=1) <= AT * bar.length).tolist()
        bars = [m for m in there if m < len(ends)]
        meant = {
            m for m in bars if held[k ^ 1] & held[m ^ 1] or np.linalg.norm(places[k ^ 1] - places[m ^ 1]) <= AT * bar.length
        }
        other = next((m for m in there if m not in meant and not spots[m][0] & {bar.body, *near[bar.body]}), None)
        if other is not None and not told & set(there):
            told.add(k)
            yield f"an end of {bar.body!r} is at {spots[other][1]} and nothing joins them there: a joint may be missing"


def ends_on_bars(model: Model, bodies: Sequence[Body]) -> Iterator[tuple[str, str, str]]:
    """Bars with a loose end on another one, between its ends and across it, and a sentence for each; bodies : in their pose"""
    near, placed = _neighbours(model), {body.name: body for body in bodies}
    links = [link for link in links_of(model).values() if link]
    for (bar, p), held in zip(*_ends(model), strict=True):
        own = placed[bar.body]
        for other in (link for link in links if not held and link.body not in {bar.body, *near[bar.body]}):
            body = placed[other.body]
            x = body.matrix.T @ (world_point(own, p) - body.position) - other.middle
            s, aside = abs(float(x @ other.along)) / other.length, np.linalg.norm(np.cross(x, other.along))
            folded = np.linalg.norm(np.cross(body.matrix @ other.along, own.matrix @ bar.along)) < ALONG
            if s < 0.5 - AT and aside <= AT * min(bar.length, other.length) and not folded:
                yield (
                    bar.body,
                    other.body,
                    f"an end of {bar.body!r} is on {other.body!r} and nothing joins them there: a joint may be missing",
                )


def blocks_at_bodies(model: Model, bodies: Sequence[Body]) -> Iterator[tuple[str, str, str]]:
    """Those that one hinge holds and nothing else, which reach another body there; bodies : in their pose"""
    near, held = _neighbours(model), _held(model)
    links = {name for name, link in links_of(model).items() if link}
    for body in (body for body in bodies if body.name not in links and len(held.get(body.name, ())) == 1):
        joint = next((joint for joint in model.joints if body.name in joint.bodies and joint.type == "revolute"), None)
        drawn = drawn_as(body.shape)
        if joint is None or drawn is None or GROUND in joint.bodies:
            continue
        place = world_point(body, joint.p_i if joint.first == body.name else joint.p_j)
        for other in (other for other in bodies if other.name not in {body.name, *near[body.name]}):
            solid = drawn_as(other.shape)
            if solid is not None and solid.off(other.matrix.T @ (place - other.position)) <= 0.5 * drawn.size:
                text = f"{body.name!r} is at {other.name!r} and nothing joins them there: a joint may be missing"
                yield body.name, other.name, text


def _ends(model: Model) -> tuple[list[tuple[Link, Array]], list[set[str]]]:
    """Both ends of every bar, in its axes, one after the other, and the bodies that hold them."""
    doubted, held = {name for name, _ in too_long(model)}, _held(model)
    bars = [link for link in links_of(model).values() if link and link.bar and link.body not in doubted]
    ends = [(bar, bar.middle + s * 0.5 * bar.length * bar.along) for bar in bars for s in (-1.0, 1.0)]
    return ends, [_holders(bar, p, held.get(bar.body, [])) for bar, p in ends]


def free_end(model: Model, bar: Link) -> Array | None:
    """(3,) the end of a bar, in body axes, at which no joint is, where joints hold it elsewhere; None where both are alike."""
    held: list[Hold] = []
    for joint in (joint for joint in model.joints if not joint.members):
        for name, p, axis in ((joint.first, joint.p_i, joint.E_i[:, 2]), (joint.second, joint.p_j, joint.E_j[:, 2])):
            if name == bar.body:
                held.append((p, _ACROSS - np.outer(axis, axis) if joint.type in HINGES else _ACROSS, {name}))
    free = [p for s in (-1.0, 1.0) if not _holders(bar, p := bar.middle + s * 0.5 * bar.length * bar.along, held)]
    return free[0] if len(free) == 1 else None


def _holders(bar: Link, p: Array, own: list[Hold]) -> set[str]:
    """Bodies that hold a bar there; none where it is loose."""
    holds = [by for at, across, by in own if across is None or np.linalg.norm(across @ (at - p)) <= AT * bar.length]
    return set[str]().union(*holds)


def _held(model: Model) -> dict[str, list[Hold]]:
    """What acts on each body; of what is no joint of two the body itself is told, which no other has."""
    found: dict[str, list[Hold]] = {}
    for joint in model.joints:
        if joint.members or any(row.function is not None for row in joint.primitives):
            for name in joint.bodies:
                found.setdefault(name, []).append((joint.p_i, None, {name}))
            continue
        for name, p, axis in ((joint.first, joint.p_i, joint.E_i[:, 2]), (joint.second, joint.p_j, joint.E_j[:, 2])):
            across = _ACROSS - np.outer(axis, axis) if joint.type in HINGES else _ACROSS
            found.setdefault(name, []).append((p, across, set(joint.bodies) - {name}))
    for name, p in (place for force in model.forces for place in force.places()):
        found.setdefault(name, []).append((p, _ACROSS, {name}))
    return found


def _neighbours(model: Model) -> dict[str, set[str]]:
    """Bodies that are joined to each body, the ground left out."""
    found: dict[str, set[str]] = {body.name: set() for body in model.bodies}
    for joint in model.joints:
        for name in set(joint.bodies) - {GROUND}:
            found[name] |= set(joint.bodies) - {GROUND}
    return found
