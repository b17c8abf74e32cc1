"""Why a model cannot be assembled, where its numbers say it: rates against drivers, bars that are held at one end alone, and
what is doubted anyway of the joints that stay open."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dalembert.compilation.misfits import NO_POSITIONS, NO_VELOCITIES
from dalembert.compilation.pack_motions import motion_rates
from dalembert.compilation.wrong_angles import in_degrees
from dalembert.compilation.wrong_axes import shown_axis, wrong_axes
from dalembert.errors import AssemblyError
from dalembert.model.elements import GROUND
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.doubts import of_places
from dalembert.remarks.loose_ends import free_end
from dalembert.remarks.pins import AT, links_of
from dalembert.remarks.would_move import would_move

SAME = 1e-9  # rates that are the same but for rounding, over the larger one
TOLD = 3  # causes


def explained(problem: AssemblyError, model: Model, t_0: float) -> AssemblyError:
    """The same error, with what the numbers of the model say about it: the likely causes first."""
    what, _, rest = str(problem).partition(": ")
    if what not in (NO_POSITIONS, NO_VELOCITIES):
        return problem
    rates = [*_rates_against_drivers(model, t_0)] if what == NO_VELOCITIES else []
    of_model = [*wrong_axes(model), *in_degrees(model), *_held_at_one_end(model), *_doubts(problem, model)]
    likely = [*(words for words, _ in rates), *of_model]
    likely = likely or ([*would_move(model, t_0)] if what == NO_VELOCITIES else [])
    joints = tuple(name for _, names in rates for name in names) or problem.joints
    return AssemblyError(f"{what}: {'; '.join([*[*dict.fromkeys(likely)][:TOLD], *([] if rates else [rest])])}", joints=joints)


def _doubts(problem: AssemblyError, model: Model) -> Iterator[str]:
    """Those that name joints and drivers in the way, or bodies of these."""
    names = set(problem.joints)
    names |= {name for joint in model.joints if joint.name in problem.joints for name in joint.bodies}
    names |= {name for driver in model.drivers if driver.name in problem.joints for name in (driver.first, driver.second)}
    return (text for text in of_places(model) if any(repr(name) in text for name in names - {GROUND}))


def _held_at_one_end(model: Model) -> Iterator[str]:
    """Bars with several joints, all of them at the same end: one of them was probably meant for the other. The end of a rod in
    its barrel is free."""
    for bar in links_of(model).values():
        if not bar or not bar.bar or (p := free_end(model, bar)) is None:
            continue
        own = [joint for joint in model.joints if bar.body in joint.bodies]
        points = [joint.p_i if joint.first == bar.body else joint.p_j for joint in own]
        slides = any(joint.type in ("prismatic", "cylindrical") for joint in own)
        if len(own) > 1 and not slides and all(np.linalg.norm(x + p - 2.0 * bar.middle) <= AT * bar.length for x in points):
            where = shown_axis(world_point(model.body(bar.body), p), model.plane)
            names = ", ".join(repr(joint.name) for joint in own)
            held = f"all its joints, {names}, are at the other"
            yield f"an end of {bar.body!r}, at {where}, is joined to nothing, and {held}: see their points"


def _rates_against_drivers(model: Model, t_0: float) -> Iterator[tuple[str, tuple[str, str]]]:
    for driver in model.drivers:
        if driver.joint is None:
            continue
        joint = model.joint(driver.joint)
        given = joint.rate[joint.coordinates.index(driver.primitive.labels[0])]
        asked = float(motion_rates(driver.primitive.motion, t_0)[0, 1])
        if given is not None and abs(given - asked) > SAME * max(abs(given), abs(asked)):
            unit = "rad/s" if driver.primitive.kind == "A" else "m/s"
            words = f"joint {joint.name!r} is given rate {given:.6g} {unit}, driver {driver.name!r} asks for {asked:.6g} {unit}"
            yield f"{words} at t = {t_0:.6g} s: leave out the rate", (joint.name, driver.name)
