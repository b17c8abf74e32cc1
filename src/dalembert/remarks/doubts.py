"""What a model says twice and not alike, as where numbers were swapped or given in other axes or units, and what it leaves out,
as a joint: notes of `check` and of reports. Nothing is refused for it: drawings may be rough, and bodies large, or thrown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motions_of
from dalembert.compilation.parts import falling
from dalembert.compilation.wrong_angles import in_degrees
from dalembert.compilation.wrong_axes import PARALLEL, wrong_axes
from dalembert.model.assembly import Assembly
from dalembert.model.couplings import LAW
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.forces.loads import PointForce
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.forces.springs import SpringDamper
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.model.motions import Table, leaves
from dalembert.remarks.body_words import UP, gravity_words
from dalembert.remarks.loose_ends import loose_ends
from dalembert.remarks.missing_joints import on_level_springs, unjoined
from dalembert.remarks.missing_positions import positions_left_out
from dalembert.remarks.pins import bars_off_planes, pins_off_links, slides_off_bars
from dalembert.remarks.points_far_off import points_off_plane
from dalembert.remarks.points_off_bodies import points_in_other_axes
from dalembert.remarks.starts_elsewhere import held_elsewhere, misfits, moved_far_by_drivers
from dalembert.remarks.wrong_units import in_grams, in_millimetres, too_large

TOLD = 3  # causes of a failure
MODEL = "model"  # name of lines that doubt it: the run may be right of what is written, and that not what is meant
TOUCH = 0.1  # how well drawn wheels reach each other's axes where they are in mesh, as part of their radii
ALIKE = 0.2  # how far drawn radii are from those of the pitch circles
SAME = 1e-9  # [m] between points that are one
BEYOND = 0.5  # how far a spline through values goes beyond them, over their range; smooth data and single steps stay below
_SHORT = re.compile(r"""(?:'(?:[^'\\]|\\.)*'|"[^"]*"|[,:](?! )|[^,:])*""")  # up to a comma or colon that is in no name


def doubts(model: Model, assembly: Assembly | None = None, t: float = 0.0) -> list[str]:
    """One sentence for each; what comes before its first comma or colon is enough to find it. assembly : what it found, at t"""
    of_parts = [*falling(model), *(f"{text}: a joint may be missing" for text in [unjoined(model)] if text)]
    of_parts += on_level_springs(model)
    of_laws = [*_idle(model), *_between_centres(model), *_weighed_twice(model), *_upward(model), *_tables(model)]
    return [*of_parts, *of_places(model, assembly, t), *of_laws]


def of_places(model: Model, assembly: Assembly | None = None, t: float = 0.0) -> list[str]:
    """Those of where things are and what holds them, for which joints may stay open."""
    of_starts = [*positions_left_out(model), *held_elsewhere(model)]
    of_starts += [] if assembly is None else [*misfits(model, assembly), *moved_far_by_drivers(model, assembly, t)]
    of_axes = [*wrong_axes(model)] or [*bars_off_planes(model)]
    of_bars = [*_twice(model), *loose_ends(model), *of_axes, *pins_off_links(model), *slides_off_bars(model)]
    of_units = [*points_off_plane(model), *in_degrees(model), *in_millimetres(model), *in_grams(model), *too_large(model)]
    return [*of_starts, *of_units, *_wheels(model), *of_bars, *points_in_other_axes(model), *_rolling(model)]


def likely_causes(mechanism: Compiled) -> list[str]:
    """The first doubts, for a run that failed: it may be right to fail with what is written."""
    if not isinstance(mechanism, Mechanism):
        return []
    return doubts(mechanism.whole or mechanism.model, mechanism.assembly, mechanism.given_at)[:TOLD]


def look_at(doubtful: Sequence[str]) -> str:
    """The first of them in short, and how many more there are, for who has to look at the model."""
    more = f", and {len(doubtful) - 1} more" if len(doubtful) > 1 else ""
    return f"look at the model: {_SHORT.match(doubtful[0])[0]}{more}"  # type: ignore[index]


def _twice(model: Model) -> Iterator[str]:
    """Joints that hold the same bodies in the same way at one place, and hinges that hold them like one body."""
    alike: dict[tuple[frozenset[str], str], list[Joint]] = {}
    for joint in (joint for joint in model.joints if joint.type in ("revolute", "prismatic", "spherical", "fixed")):
        alike.setdefault((frozenset(joint.bodies), joint.type), []).append(joint)
    for one, two in (pair for joints in alike.values() for pair in combinations(joints, 2)):
        first, second = model.body(one.first), model.body(two.first)
        axes = first.matrix @ one.E_i[:, 2], second.matrix @ two.E_i[:, 2]
        gap = world_point(second, two.p_i) - world_point(first, one.p_i)
        parallel = one.type in ("spherical", "fixed") or np.linalg.norm(np.cross(*axes)) < PARALLEL
        aside = float(np.linalg.norm(np.cross(gap, axes[0])))
        words = f"joints {one.name!r} and {two.name!r} hold {two.bodies[0]!r} and {two.bodies[1]!r}"
        if parallel and np.linalg.norm(gap) <= SAME:
            yield f"{words} twice in the same way: leave one out, or see which bodies it joins"
        elif parallel and one.type == "revolute" and aside > SAME:
            yield f"{words} like one body: two hinges {aside:.3g} m apart; see which bodies they join"


def _idle(model: Model) -> Iterator[str]:
    """Springs of joints that do nothing; they may well be 0 among the runs of a sweep."""
    for force in model.forces:
        if isinstance(force, JointSpringDamper) and force.stiffness == force.damping == 0.0:
            yield f"{force.noun} {force.name!r} has no stiffness and no damping: it does nothing; give one of them"


def _between_centres(model: Model) -> Iterator[str]:
    """Springs between the centres of two bodies on one hinge, as where the ends were left out."""
    hinges = {frozenset(joint.bodies): joint.name for joint in model.joints if joint.type == "revolute"}
    for force in (force for force in model.forces if isinstance(force, SpringDamper)):
        hinge = hinges.get(frozenset((force.first, force.second)))
        together = force.length == 0.0
        if hinge and not together and GROUND not in (force.first, force.second) and not (force.p_i.any() or force.p_j.any()):
            yield (
                f"{force.noun} {force.name!r} acts between the centres of {force.first!r} and {force.second!r}, which joint"
                f" {hinge!r} joins: at the joint it is a joint_spring_damper (add_joint_spring_damper), elsewhere give between"
            )


def _weighed_twice(model: Model) -> Iterator[str]:
    """Constant forces that are the weight of their body, beside gravity."""
    for force in (force for force in model.forces if isinstance(force, PointForce) and force.frame == "world"):
        weight = model.body(force.body).mass * model.gravity
        plain = force.call is None and force.factor is None and weight.any()
        if plain and np.linalg.norm(np.asarray(force.value) - weight) < 1e-3 * np.linalg.norm(weight):
            yield f"force {force.name!r} is the weight of {force.body!r}, on which gravity acts already: leave one out"


def _upward(model: Model) -> Iterator[str]:
    """Gravity that points up as a model in a plane is drawn, unless it hangs that way from its pins in the ground."""
    pins = [joint.p_i if joint.first == GROUND else joint.p_j for joint in model.joints if GROUND in joint.bodies]
    if pins and gravity_words(model).endswith(UP):
        falls = sum(body.mass * float((body.position - np.mean(pins, axis=0)) @ model.gravity) for body in model.bodies)
        if falls <= 0.0:
            yield "gravity points up as the model is drawn: for weights that pull down give it with a minus"


def _rolling(model: Model) -> Iterator[str]:
    """What rolls with another radius than it is drawn with; a spool may roll on its hub."""
    for joint in (joint for joint in model.joints if joint.type in ("rolling_disc", "rolling_sphere")):
        shape: Mapping[str, Any] = model.body(joint.second).shape or {}
        drawn, radius = shape.get("radius", 0.0), joint.primitives[0].offset
        if shape.get("type") in ("sphere", "disc", "wheel", "cylinder") and not drawn / 9.0 < radius < 3.0 * drawn:
            yield f"{joint.name!r} rolls on a radius of {radius:.4g} m, {joint.second!r} is drawn with {drawn:.4g} m: see both"


def _wheels(model: Model) -> Iterator[str]:
    """Couplings of two wheels that are drawn in mesh, on the ground or on a carrier that may turn, too; axes may meet."""
    for coupling in model.joints:
        if not coupling.coupled or [(row.law, row.function) for row in coupling.primitives] != [(LAW, None)]:
            continue
        joints = [model.joint(name) for name, _ in coupling.coupled]
        if any(joint.coordinates[component] != "angle" for joint, (_, component) in zip(joints, coupling.coupled, strict=True)):
            continue
        axes = [model.body(joint.first).matrix @ joint.E_i[:, 2] for joint in joints]
        if any(np.linalg.norm(np.cross(axes[0], axis)) > 1e-6 for axis in axes):
            if len(joints) == 2:
                yield from _bevels(model, coupling, joints, axes)
            continue
        ends = [name for joint in joints for name in joint.bodies if name != GROUND]
        carriers = {name for name in ends if ends.count(name) > 1} or {GROUND}
        wheels = [model.body(name) for name in ends if name not in carriers]
        on_ground = all(GROUND in joint.bodies for joint in joints)
        if len(carriers) != 1 or len(wheels) != 2 or (GROUND in carriers and not on_ground):
            continue
        turns = dict.fromkeys((GROUND, *ends), 0.0)  # coefficients of the angular velocities along the first axis
        for factor, joint, axis in zip(coupling.primitives[0].numbers[::10], joints, axes, strict=True):
            turns[joint.second] += factor * float(np.sign(axes[0] @ axis))
            turns[joint.first] -= factor * float(np.sign(axes[0] @ axis))
        hinges = [next(joint for joint in joints if wheel.name in joint.bodies) for wheel in wheels]
        radii = [_radius(wheel.shape, wheel.matrix.T @ axes[0]) for wheel in wheels]
        places = [world_point(model.body(hinge.first), hinge.p_i) for hinge in hinges]
        gap = places[1] - places[0]
        distance = float(np.linalg.norm(gap - (gap @ axes[0]) * axes[0]))
        if min(radii) == 0.0:
            continue
        inside = abs(abs(radii[0] - radii[1]) - distance) < abs(sum(radii) - distance)
        reach = abs(radii[0] - radii[1]) if inside else sum(radii)
        if distance == 0.0 or abs(reach - distance) > TOUCH * max(radii):
            continue
        a, b = (turns[wheel.name] for wheel in wheels)
        if swapped := _ratio(coupling, wheels, abs(a / b), radii):
            yield swapped
        elif (a * b < 0.0) != inside and (
            inside or 0.7 < max(abs(a), abs(b)) < 1.5
        ):  # of gears; belts may be beside what is drawn
            way = ("inside the other", "against each other") if inside else ("beside the other", "the same way")
            names = " and ".join(repr(wheel.name) for wheel in wheels)
            yield f"{coupling.name!r} turns {names} {way[1]}, but one is drawn in mesh {way[0]}: see internal="


def _ratio(coupling: Joint, wheels: list[Body], ratio: float, radii: list[float]) -> str:
    """What is to be said of wheels in mesh, the first with `ratio` times the teeth of the second; "" if they are alike."""
    if abs(np.log(ratio * radii[1] / radii[0])) <= np.log(1.0 + ALIKE):
        return ""
    names = " and ".join(repr(wheel.name) for wheel in wheels)
    return (
        f"{coupling.name!r} couples {names} like wheels with {ratio:.4g} times the teeth, which are drawn in mesh"
        f" with radii of {radii[0]:.4g} and {radii[1]:.4g} m: its numbers may be swapped"
    )


def _bevels(model: Model, coupling: Joint, joints: list[Joint], axes: list[Array]) -> Iterator[str]:
    """Two wheels on axes that are not parallel, whose rims touch."""
    shared = set(joints[0].bodies) & set(joints[1].bodies)
    wheels = [model.body(name) for joint in joints for name in joint.bodies if name not in shared]
    if len(shared) != 1 or len(wheels) != 2:
        return
    radii = [_radius(wheel.shape, wheel.matrix.T @ axis) for wheel, axis in zip(wheels, axes, strict=True)]
    across = np.cross(axes[0], axes[1])
    if min(radii) == 0.0:
        return
    rims = [
        [wheel.position + side * radius * np.cross(axis, across) / np.linalg.norm(across) for side in (-1.0, 1.0)]
        for wheel, axis, radius in zip(wheels, axes, radii, strict=True)
    ]
    thick = sum(0.5 * float(str((wheel.shape or {}).get("length", 0.0))) for wheel in wheels)
    if min(float(np.linalg.norm(x - y)) for x in rims[0] for y in rims[1]) > TOUCH * max(radii) + thick:
        return
    a, b = coupling.primitives[0].numbers[::10]
    if swapped := _ratio(coupling, wheels, abs(a / b), radii):
        yield swapped


def _radius(shape: Mapping[str, object] | None, axis: Array) -> float:
    """The largest that a body is drawn with across an axis in body axes, 0 where it is not known."""
    if shape is None or "rotation" in shape:
        return 0.0
    if shape["type"] == "compound":
        parts = shape["parts"]
        assert isinstance(parts, list)
        return max((_radius(part, axis) for part in parts), default=0.0)
    along = abs(float(axis["xyz".index(str(shape.get("axis", "z")))])) > 1 - 1e-9
    return float(str(shape["radius"])) if along and shape["type"] in ("cylinder", "cone", "disc", "wheel") else 0.0


def _tables(model: Model) -> Iterator[str]:
    """Tables of time whose splines swing far beyond their values, as through a short pulse between long rests."""
    for name, motion in motions_of(model):
        for table in (leaf for leaf in leaves(motion) if isinstance(leaf, Table)):
            knots, pieces = table.spline()
            x = np.linspace(0.0, 1.0, 17)[:, None] * np.diff(knots)
            curve = pieces[:, 0] + x * (pieces[:, 1] + x * (pieces[:, 2] + x * pieces[:, 3]))
            low, high, least, most = min(table.values), max(table.values), float(curve.min()), float(curve.max())
            if max(low - least, most - high) > BEYOND * (high - low) + 1e-9 * max(abs(low), abs(high)):
                yield (
                    f"the table of {name!r} goes from {least:.4g} to {most:.4g} on a smooth curve through values from {low:.4g}"
                    f" to {high:.4g}: a load takes da.Table(..., monotone=True), in a file {{type: table, ...,"
                    " monotone: true}; else give more of them where they change, or a sum of steps, one for each change:"
                    " da.SmoothStep(...) + da.SmoothStep(...), in a file {type: sum, parts: [{type: smooth_step, ...}, ...]}"
                )
