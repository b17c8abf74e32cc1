"""Names of signals: what a name means, told from the model alone; and what was meant by one that there is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import degrees

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.elements import Force
from dalembert.model.forces.on_joints import JointLaw
from dalembert.model.model import Model
from dalembert.model.validation import near, nearest

_OfSeries = Callable[[Array, Array], Array]
OVER_TIME: dict[str, tuple[str, _OfSeries]] = {  # of a series (run, time) that a sweep keeps, at the times that it saved
    "max": ("largest saved {}", lambda y, t: np.asarray(y.max(1))),
    "min": ("smallest saved {}", lambda y, t: np.asarray(y.min(1))),
    "peak": ("largest saved size of {}", lambda y, t: np.asarray(np.abs(y).max(1))),
    "range": ("range of saved {}", lambda y, t: np.ptp(y, 1)),
    "mean": ("mean over time of saved {}", lambda y, t: _mean(y, t)),
    "rms": ("root mean square of saved {}", lambda y, t: np.sqrt(_mean(y**2, t))),
}
_IN_PYTHON = {"max": "da.largest", "min": "da.smallest"}
OF_A_RUN = {  # what is looked for by these names
    **dict.fromkeys(("max", "maximum", "peak", "largest"), 'da.largest(solution, "A.f") is the largest value in a run'),
    **dict.fromkeys(("min", "minimum", "smallest"), 'da.smallest(solution, "A.f") is the smallest value in a run'),
    **dict.fromkeys(
        ("mean", "average", "rms", "work"),
        'da.integral(solution, "motor.power") is the work, an integral over np.ptp(solution.t) the mean of a signal',
    ),
}
ENERGIES = {f"{name}_energy": name for name in ("total", "kinetic", "potential")} | {"external_work": "external_work"}
_VECTOR = ("", "x", "y", "z")
_OF_POINTS = ("x", "y", "z", *(kind + axis for kind in "va" for axis in ("x", "y", "z", "")))
_SAID = {"load": "force or torque", "effort": "force or torque", "turning": "rate or acceleration of the angle"}


def _mean(y: Array, t: Array) -> Array:
    """Over time, by the trapezoidal rule."""
    return np.asarray(np.average(0.5 * (y[:, 1:] + y[:, :-1]), axis=1, weights=np.diff(t)))


def meant(model: Model, text: str) -> tuple[str, str, str]:
    """What it is of, the element that has it, and which part of it. Names of elements may have any letters: what means two
    things is refused.

    of : "energy", "coordinate", "rate", "position", "velocity", "acceleration", "spin" (angular velocity), "spin rate",
        "angle", "turning" (of the angle, its rate or acceleration), "effort", "power", "load"
    """
    found = [*_meanings(model, text)]
    if len(found) > 1:
        told = " and ".join(f"{_SAID.get(kind, kind)} of {owner!r}" if owner else f"the {kind}" for kind, owner, _ in found)
        raise ModelError(f"signal {text!r} means two things, {told}; rename {text!r}, the element")
    if found:
        return found[0]
    joints = {joint.name: joint for joint in model.joints}
    owner, _, part = (text, "", "") if text in joints else text.rpartition(".")
    bodies = [body.name for body in model.bodies] + [marker.name for marker in model.markers]
    drivers, forces = [driver.name for driver in model.drivers], [force.name for force in model.forces]
    if text in forces:
        noun = next(force.noun for force in model.forces if force.name == text)
        raise ModelError(f"{noun} {text!r} acts along no single coordinate; give '{text}.f', its size, or '{text}.fx', y, z")
    elements = [*joints, *drivers, *forces]
    turned = text.removesuffix(".rate").removesuffix(".acceleration")
    if turned.endswith(".angle") and (of := turned.removesuffix(".angle")) in bodies:
        raise ModelError(f"there is no signal {text!r}; {_without_angle(model, of)}")
    if part in OVER_TIME and owner:
        one = f"`dalembert export RUN --output {text}` prints it ({_IN_PYTHON.get(part, 'da.largest, da.smallest')} in Python)"
        many = f"of a sweep keep {owner!r} at many times (save_at=, --save-every), then `dalembert plot SWEEP map {text}`"
        raise ModelError(f"{text!r} is of a whole run, no signal over time; {one}; {many}")
    along = [*drivers, *(force.name for force in model.forces if force.coordinates == 1)]
    alike = next((name for name in (*bodies, *elements) if name.lower() == text.lower()), None)
    if known := next((name for name in signals_of(model) if name.lower() == text.lower()), None):
        hint = f"did you mean {known!r}?"
    elif owner + part in signals_of(model):  # "tip.a.z"
        hint = f"did you mean {owner + part!r}?"
    elif part and owner in (*bodies, *elements):
        hint = _of_owner(model, owner, bodies, along)
    elif alike:
        hint = _of_owner(model, alike, bodies, along)
    elif acting := [name for name in along if effort_kind(model, name)[0] == text]:
        hint = ", ".join(f"that of {name!r} is called {name!r}" for name in acting[:3])
    else:
        hint = _near(text, tuple(signals_of(model)))
        if hint.endswith("..."):
            hint += "; solution.export('all.csv') has the names of all in its first line"
        if hint.startswith("known") and part in _OF_POINTS:
            hint += "; a point of a body needs a marker: add_marker, `markers:` in a file"
    raise ModelError(f"there is no signal {text!r}; {hint}")


def _meanings(model: Model, text: str) -> Iterator[tuple[str, str, str]]:
    """All that a name may be: one element is named like no other, but may be like a signal of another."""
    if text in ENERGIES:
        yield "energy", "", text
    owner, _, part = text.rpartition(".")
    for joint in model.joints:
        if joint.name == text and len(joint.coordinates) == 1:
            yield "coordinate", text, joint.coordinates[0]
        if joint.name == owner and part in joint.coordinates:
            yield "coordinate", owner, part
    for kind, of, coordinate in _meanings(model, owner) if part in ("rate", "acceleration") else ():
        if kind == "angle":
            yield "turning", of, part
        elif kind == "coordinate" and part == "rate" and not coordinate.startswith("rot"):
            yield "rate", of, coordinate
        elif kind == "spin" and part == "rate" and coordinate != "w":
            yield "spin rate", of, coordinate
    if owner in {*(body.name for body in model.bodies), *(marker.name for marker in model.markers)}:
        if part in ("x", "y", "z"):
            yield "position", owner, part
        if part[:1] == "v" and part[1:] in _VECTOR:
            yield "velocity", owner, part
        if part[:1] == "a" and part[1:] in _VECTOR:
            yield "acceleration", owner, part
    if part[:1] == "w" and part[1:] in _VECTOR and owner in _rigid(model):
        yield "spin", owner, part
    if part == "angle" and owner in turning_bodies(model):
        yield "angle", owner, part
    acting = {*(driver.name for driver in model.drivers), *(force.name for force in model.forces)}
    if text in acting and effort_kind(model, text)[0]:
        yield "effort", text, ""
    if owner in acting and part == "power":
        yield "power", owner, part
    if (owner in acting or owner in {joint.name for joint in model.joints}) and part[:1] in ("f", "t") and part[1:] in _VECTOR:
        yield "load", owner, part


def turning_bodies(model: Model) -> list[str]:
    """Bodies that have one angle."""
    return [] if model.plane is None else _rigid(model)


def _rigid(model: Model) -> list[str]:
    return [body.name for body in model.bodies if body.kind == "rigid"]


def signals_of(model: Model) -> Iterator[str]:
    """All names that there are, first those that are asked for most."""
    acting = [*(driver.name for driver in model.drivers), *(force.name for force in model.forces)]
    yield from (name for name in acting if effort_kind(model, name)[0])
    for joint in model.joints:
        names = [joint.name] if len(joint.coordinates) == 1 else [f"{joint.name}.{c}" for c in joint.coordinates]
        yield from names
        yield from (f"{name}.rate" for name, c in zip(names, joint.coordinates, strict=False) if not c.startswith("rot"))
    for name in (*(body.name for body in model.bodies), *(marker.name for marker in model.markers)):
        yield from (f"{name}.{part}" for part in _OF_POINTS)
        yield from (f"{name}.{part}" for part in ("angle", "angle.rate", "angle.acceleration") if name in turning_bodies(model))
    for name in (*(joint.name for joint in model.joints), *acting):
        yield from (f"{name}.{kind}{axis}" for kind in "ft" for axis in ("x", "y", "z", ""))
    yield from (f"{name}.power" for name in acting)
    yield from (f"{name}.w{axis}{of}" for name in _rigid(model) for of in ("", ".rate") for axis in "xyz")
    yield from (f"{name}.w" for name in _rigid(model))
    yield from ENERGIES


def spelt_out(model: object, names: Sequence[str]) -> list[str]:
    """Names of signals and of numbers of a run, with all that there are in place of each with a "*": "*.f.max", "crank.*"."""
    known, found = [*signals_of(model)] if isinstance(model, Model) else _of_system(model), list[str]()
    for name in names:
        signal, _, kind = name.rpartition(".")
        pattern, ending = (signal, f".{kind}") if kind in OVER_TIME else (name, "")
        pattern = ".*".join(map(re.escape, pattern.split("*")))
        alike = [one + ending for one in known if re.fullmatch(pattern, one)] if "*" in name else [name]
        if not alike:
            raise ModelError(
                f"there are no signals {name!r}; give a name, or one with * for any letters, as in '*.f', 'crank.*'"
            )
        found += alike
    return [*dict.fromkeys(found)]


def _of_system(model: object) -> list[str]:
    """Coordinates of a Lagrangian system and their rates, energies."""
    names: Sequence[str] = getattr(model, "coordinates", ())
    return [*(f"{name}{dash}" for name in names for dash in ("", "'")), *(name for name in ENERGIES if name not in names)]


def _near(text: str, known: Sequence[str]) -> str:
    """The name that is spelt most like it, with the same part if there is one; else those with that part first."""
    owner, _, part = text.rpartition(".")
    owners = [name.removesuffix(f".{part}") for name in known if name.endswith(f".{part}")] if part else []
    if not (owner and owners):
        return nearest(text, known)
    if close := near(owner, owners):
        return f"did you mean '{close}.{part}'?"
    alike = [f"{name}.{part}" for name in owners]
    return "known: " + ", ".join(map(repr, alike[:12])) + ", ..."


def _of_owner(model: Model, owner: str, bodies: Sequence[str], along: Sequence[str]) -> str:
    """What there is of an element, to choose from; along : names of what acts along one coordinate."""
    acts = [f"{owner}.{kind}x, y, z ({what}), {owner}.{kind} (its size)" for kind, what in (("f", "force"), ("t", "torque"))]
    if owner in bodies:
        turns = f", {owner}.wx, wy, wz (angular velocity), {owner}.wx.rate (its rate)" * (owner in _rigid(model))
        if owner in turning_bodies(model):
            turns = f"; {owner}.angle, {owner}.angle.rate and {owner}.angle.acceleration"
        moves = f"{owner}.vx, vy, vz (velocity), {owner}.v (its size), {owner}.ax, ay, az, a (acceleration)"
        return f"{owner!r} has {owner}.x, y, z (position), {moves}{turns}"
    names = [f"{owner} (its {effort_kind(model, owner)[0]})"] * (owner in along) + [f"{owner}.power"]
    if joint := next((joint for joint in model.joints if joint.name == owner), None):
        several = len(joint.coordinates) > 1
        names = [f"{owner}.{name}" if several else f"{owner} ({name}), {owner}.rate" for name in joint.coordinates]
    return f"{owner!r} has {', '.join((*names, *acts))}"


def _without_angle(model: Model, owner: str) -> str:
    """Why a body or marker has no angle, and what there is instead."""
    if marker := next((marker for marker in model.markers if marker.name == owner), None):
        turns = (
            f"'{marker.body}.angle' is that of its body" if marker.body in turning_bodies(model) else "its body has none either"
        )
        return f"{owner!r} is a marker, a point without axes; {turns}"
    if model.plane is not None:
        return f"{owner!r} is a point mass, which does not turn; give a body, or the angle of a joint"
    hinge = next((joint.name for joint in model.joints if joint.coordinates == ("angle",)), "A")
    return (
        f"in space a body has no single angle: give the angle of a joint, {hinge!r}, ask for solution.cardan({owner!r}), or"
        ' write the model in a plane, Model(plane="xz")'
    )


def words_of(model: Model, kind: str, owner: str, part: str) -> tuple[str, str]:
    """Label and unit of what is meant, as axes, legends, tables and pages have them."""
    match kind:
        case "energy":
            return part.replace("_", " "), "J"
        case "coordinate":
            return f"{part.replace('_', ' ')} of {owner}", "rad" if part.startswith(("angle", "rotation")) else "m"
        case "rate":
            label, unit = words_of(model, "coordinate", owner, part)
            return f"rate of {label}", f"{unit}/s"
        case "angle":
            return f"angle of {owner}", "rad"
        case "turning":
            return f"{part} of angle of {owner}", "rad/s" if part == "rate" else "rad/s^2"
        case "position":
            return f"{part} of {owner}", "m"
        case "velocity":
            return _of_vector("velocity" if part[1:] else "speed", owner, part), "m/s"
        case "acceleration":
            return _of_vector("acceleration", owner, part), "m/s^2"
        case "spin":
            return _of_vector("angular velocity", owner, part), "rad/s"
        case "spin rate":
            return _of_vector("angular acceleration", owner, part), "rad/s^2"
        case "effort":
            what, unit = effort_kind(model, owner)
            return f"{what or 'effort'} of {owner}", unit
        case "power":
            return f"power of {owner}", "W"
    what, unit = ("force", "N") if part[0] == "f" else ("torque", "N m")
    acts = any(force.name == owner for force in model.forces)
    return _of_vector(what if acts else f"reaction {what}", owner, part), unit


def of_unit(unit: str) -> tuple[float, str]:
    """What to multiply by for degrees, and the unit then: "rad" and "rad/s" become "deg" and "deg/s", of sweeps "rad/rad" and
    "m/rad" become "deg/deg" and "m/deg"."""
    above, _, below = unit.partition("/")
    powers = {"rad": 1, "rad^2": 2}
    if below not in powers and (above != "rad" or below not in ("", "s", "s^2", "m", "m^2")):
        return 1.0, unit
    return degrees(1.0) ** ((above == "rad") - powers.get(below, 0)), re.sub(r"\brad\b", "deg", unit)


def _of_vector(what: str, owner: str, part: str) -> str:
    """A component by the axis that a name ends with; the size of it, where the name has but one letter."""
    return f"{what} {part[1]} of {owner}" if part[1:] else f"{what if what == 'speed' else f'|{what}|'} of {owner}"


def effort_kind(model: Model, name: str) -> tuple[str, str]:
    """What the effort of a driver or force element along its one coordinate is called, and its unit; "" where there is none."""
    turning, pushing = ("torque", "N m"), ("force", "N")
    for driver in model.drivers:
        if driver.name == name:
            return turning if driver.primitive.kind == "A" else pushing
    force = next((force for force in model.forces if force.name == name), None)
    if force is None or force.coordinates != 1:
        return "", "N or N m"
    joint, component = getattr(force, "joint", None), getattr(force, "component", 0)
    if isinstance(force, JointLaw):
        joint, component = force.joints[0], force.components[0]
    if joint is None:
        return "tension", "N"
    return turning if model.joint(joint).coordinates[component].startswith("angle") else pushing


def units_along(model: Model, force: Force) -> tuple[str, ...]:
    """Of the coordinates that a force element acts along."""
    if isinstance(force, JointLaw):
        parts = [*zip(force.joints, force.components, strict=True)]
    elif (joint := getattr(force, "joint", None)) is not None:
        parts = [(joint, getattr(force, "component", 0))] * force.coordinates
    else:  # a length, or the deflections of a bushing
        return ("m", "m", "m", "rad", "rad", "rad")[: force.coordinates]
    return tuple(words_of(model, "coordinate", name, model.joint(name).coordinates[k])[1] for name, k in parts)
