"""Rows of constraints in words: the motion that each holds, the part of a reaction that it carries, what it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import pi
from typing import Literal

from dalembert.compilation.compiled import Compiled
from dalembert.compilation.pack_motions import motion_values
from dalembert.compilation.wrong_axes import loops_of, shown_axis
from dalembert.model.model import Model
from dalembert.model.motions import Polynomial

Side = Literal["motion", "reaction"]
_TURNS, _SLIDES = re.compile(r"SO\((.), (.)\)"), re.compile(r"O\((.)\)")
_SAID = {"motion": ("motion", "turning"), "reaction": ("force", "torque")}


def freedom(mechanism: Compiled, *, alone: bool = False) -> str:
    """ "1 degree of freedom"; those that drivers move are not among them: "0 degrees of freedom left, 1 driven", "2 degrees of
    freedom left beside 1 driven"; alone : "0 left, 1 driven"."""
    n, drivers = mechanism.degrees_of_freedom, {driver.name for driver in getattr(mechanism.model, "drivers", ())}
    driven = len(drivers - {row.element for row in mechanism.redundant})
    of = "" if alone else " degree of freedom" if n == 1 else " degrees of freedom"
    return f"{n}{of} left{' beside' if n else ','} {driven} driven" if driven else f"{n}{of}"


def turning(mechanism: Compiled) -> dict[str, float]:
    """Rates [rad/s] of drivers that turn at a constant one, by name."""
    drivers = [(driver.name, driver.primitive) for driver in getattr(mechanism.model, "drivers", ())]
    motions = [(name, row.motion) for name, row in drivers if row.kind == "A" and isinstance(row.motion, Polynomial)]
    return {name: c[1] for name, motion in motions if any((c := motion.coefficients)[1:2]) and not any(c[2:])}


def in_words(labels: Iterable[str], side: Side) -> tuple[str, ...]:
    """Labels of the rows of one joint or driver, such as "z" and "SO(x, z)": "force along z", "torque about own y"."""
    along, about = _SAID[side]
    groups: dict[str, list[str]] = {}
    for label in sorted(labels, key=lambda label: label.startswith("SO")):
        if label in ("x", "y", "z"):
            what, axis = f"{along} along", label
        elif slides := _SLIDES.fullmatch(label):
            what, axis = f"{along} along own", slides[1]
        elif (turns := _TURNS.fullmatch(label)) and turns[1] != turns[2]:
            (axis,) = set("xyz") - {*turns.groups()}
            what = f"{about} about own"
        else:
            what, axis = about if turns else label, ""
        groups.setdefault(what, []).append(axis)
    return tuple(f"{what} {_listed(sorted(axes))}".strip() for what, axes in groups.items())


def _listed(axes: list[str]) -> str:
    return " and ".join(part for part in (", ".join(axes[:-1]), axes[-1]) if part)


def held_twice(mechanism: Compiled) -> str:
    """What redundant rows hold, by joint or driver."""
    found: dict[str, list[str]] = {}
    for row in mechanism.redundant:
        found.setdefault(row.element, []).append(row.label)
    return _together({name: in_words(labels, "motion") for name, labels in found.items()})


def undetermined_parts(mechanism: Compiled, name: str) -> tuple[str, ...]:
    """Parts of a joint's or driver's reaction that redundancy leaves undetermined, in words; () for all of it, or none."""
    rows = [row for row in getattr(mechanism, "undetermined", ()) if row.element == name]
    every = len(rows) == sum(row.element == name for row in mechanism.rows)
    return () if every else in_words((row.label for row in rows), "reaction")


def not_unique(mechanism: Compiled) -> str:
    """Elements whose reactions are not, with those parts that are meant where it is not all of them."""
    return _together({name: undetermined_parts(mechanism, name) for name in mechanism.not_unique})


def _together(words: dict[str, tuple[str, ...]]) -> str:
    """Names with what is said of them, those of which the same is said together: "A, B (force along x), C"."""
    said: dict[str, list[str]] = {}
    for name, parts in words.items():
        said.setdefault(", ".join(parts), []).append(name)
    return ", ".join(", ".join(names) + (f" ({text})" if text else "") for text, names in said.items())


def beyond_reach(mechanism: Compiled, t: float, locking: Iterable[str]) -> str:
    """Of elements that lock, those that prescribe a position: it does not change there with what they leave free, so that the
    mechanism goes no further; "" for none."""
    model, names = mechanism.model, set(locking)
    asked = [("joint", joint.name, row) for joint in getattr(model, "joints", ()) for row in joint.primitives]
    asked += [("driver", driver.name, driver.primitive) for driver in getattr(model, "drivers", ())]
    told = [
        f"{word} {name!r} cannot {stop_words(row.kind == 'A', row.offset + float(motion_values(row.motion, t)[0]))}"
        for word, name, row in asked
        if name in names and row.motion is not None
    ]
    return (
        f"{', '.join(told)}, the mechanism reaches no further; check its sign and range{_shapes(model, names)}" if told else ""
    )


def stop_words(turns: bool, value: float) -> str:
    """Where a driven coordinate stays: "turn past 1.05 rad = 60.2 degrees"."""
    return f"turn past {value:.4g} rad = {value * 180.0 / pi:.4g} degrees" if turns else f"go past {value:.4g} m"


def _shapes(model: object, names: set[str]) -> str:
    """What may be wrong besides: lengths, and axes of slides that nothing drives in loops of what locks."""
    if not isinstance(model, Model):
        return ""
    driven = {driver.joint for driver in model.drivers}
    joints = names | {driver.joint for driver in model.drivers if driver.name in names}
    loops = [loop for loop in loops_of(model) if joints & {joint.name for joint in loop}]
    slides = {joint.name: joint for loop in loops for joint in loop if joint.type == "prismatic" and joint.name not in driven}
    axes = [f"{name!r}, {shown_axis(model.body(j.first).matrix @ j.E_i[:, 2], model.plane)}" for name, j in slides.items()]
    of = " and of ".join(axes) if len(axes) < 3 else ""
    return f", lengths, and the ax{'e' if axes[1:] else 'i'}s of {of}" if of else ", and lengths"
