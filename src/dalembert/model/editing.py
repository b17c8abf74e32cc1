"""Changing a model that is there: replace, remove, rename an element. Elements themselves never change."""

from __future__ import annotations

from dataclasses import fields, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

from dalembert.errors import ModelError
from dalembert.model.couplings import recoupled
from dalembert.model.elements import GROUND, Body, Driver, Force, Joint, Marker
from dalembert.model.frames import WORLD_POINTS, locate
from dalembert.model.joints import JOINTS
from dalembert.model.store import SECTIONS, Element
from dalembert.model.validation import near, nearest, shown

if TYPE_CHECKING:
    from dalembert.model.model import Model

_NAMES = ("first", "second", "body", "joint", "bodies", "joints", "members", "coupled")  # fields with names of other elements


def owner_of(element: Element) -> str:
    """What messages call it: "joint 'knee'"."""
    noun = next(noun for noun, cls in SECTIONS.values() if isinstance(element, cls))
    return f"{getattr(element, 'noun', noun)} {element.name!r}"


def found(model: Model, name: object) -> Element:
    """An element by handle or name."""
    text = getattr(name, "name", name)
    if text == GROUND or text not in model._elements:
        known = list(model._elements)
        why = "the ground cannot be changed" if text == GROUND else f"there is no element {shown(text)}; {nearest(text, known)}"
        raise ModelError(f"model: {why}")
    return model._elements[text]


def refers(element: Element, name: str) -> bool:
    """Whether an element names another."""
    return any(_renamed(value, name, "") != value for value in _named(element).values())


def _named(element: Element) -> dict[str, Any]:
    return {item.name: getattr(element, item.name) for item in fields(element) if item.name in _NAMES}


def remove(model: Model, name: object) -> None:
    """Take an element out; refused while others refer to it."""
    element = found(model, name)
    users = [owner_of(other) for other in model._elements.values() if refers(other, element.name)]
    if users:
        listed = ", ".join(users[:6]) + (", ..." if len(users) > 6 else "")
        text = "refers to it; remove that first" if len(users) == 1 else "refer to it; remove them first"
        raise ModelError(f"{owner_of(element)}: {listed} {text}")
    del model._elements[element.name]


def rename(model: Model, name: object, new: str) -> Element:
    """Another name, in everything that refers to it, too; the order stays."""
    element = found(model, name)
    if new == element.name:
        return element
    model._new_name("new name", new)
    old, elements = element.name, model._elements
    model._elements = {}
    for key, other in elements.items():
        changes = {label: _renamed(value, old, new) for label, value in _named(other).items() if refers(other, old)}
        changes |= {"name": new} if key == old else {}
        model._elements[new if key == old else key] = replace(other, **changes) if changes else other
    return model._elements[new]


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_renamed(part, old, new) for part in value)
    return new if value == old else value


def replaced(model: Model, name: object, changes: dict[str, Any]) -> Element:
    """An element made anew by its verb, with other arguments; what is not given stays."""
    element = found(model, name)
    scratch = model.copy()
    del scratch._elements[element.name]
    verb, arguments = _said(scratch, element)
    for key in changes:
        if key not in arguments:
            known = ", ".join(arguments)
            close = near(key, arguments)
            hint = f"did you mean {close!r}?" if close else f"it has {known}; for anything else remove it and add it anew"
            raise ModelError(f"{owner_of(element)}: has no {key!r} that could be replaced; {hint}")
    made: Element = verb(element.name, **(arguments | changes))
    model._elements[element.name] = made
    for other in model.joints:  # couplings hold the places and axes of their joints
        if other.coupled and refers(other, made.name):
            model._elements[other.name] = recoupled(model, other)
    return made


def _said(model: Model, element: Element) -> tuple[Any, dict[str, Any]]:
    """The verb and the arguments that make an element."""
    match element:
        case Body(kind="point"):
            velocity = element.velocity if element.given[0] else None
            still = ("mass", "position", "shape", "fixed")
            return model.add_point_mass, {**{key: getattr(element, key) for key in still}, "velocity": velocity}
        case Body():
            keys = ("mass", "inertia", "position", "rotation", "shape", "fixed")
            moving = {
                key: getattr(element, key) if given else None
                for key, given in zip(("velocity", "angular_velocity"), element.given, strict=True)
            }
            none = {} if element.mass else {"mass": None, "inertia": None}
            return model.add_body, {**{key: getattr(element, key) for key in keys}, **moving, **none}
        case Joint():
            return _joint(model, element)
        case Driver(joint=None):
            row = element.primitive
            ends = {"body": element.second, "reference": element.first, "point": row.p_j, "origin": row.p_i}
            return model.add_point_driver, {**ends, "direction": row.a_i, "motion": row.motion}
        case Driver():
            component = model.joint(str(element.joint)).coordinates.index(element.primitive.labels[0])
            motion = element.primitive.motion
            return model.add_driver, {"joint": element.joint, "motion": motion, "component": component}
    return getattr(model, f"add_{element.verb}"), arguments_of(element)


def arguments_of(element: Force | Marker) -> dict[str, Any]:
    """What its verb was given: each argument is an attribute of the same name, `points` are p_i and p_j."""
    from dalembert.model.model import Model

    own = element.told() if isinstance(element, Force) else {}
    told: dict[str, Any] = {}
    for key in list(signature(getattr(Model, f"add_{element.verb}")).parameters)[2:]:
        if key not in WORLD_POINTS:
            ends = ("p_i", "p_j")
            if key in own:
                told[key] = own[key]
            else:
                told[key] = tuple(getattr(element, end) for end in ends) if key == "points" else getattr(element, key)
    return told


def _joint(model: Model, joint: Joint) -> tuple[Any, dict[str, Any]]:
    """On its own frames, with other points, initial values, length or offset."""
    if joint.type not in JOINTS:
        raise ModelError(f"{owner_of(joint)}: a {joint.type} joint cannot be replaced in parts; remove it and add it anew")
    row = joint.primitives[0]
    arguments: dict[str, Any] = {"first": joint.first, "second": joint.second, "points": (joint.p_i, joint.p_j)}
    if joint.coordinates and row.kind != "D":
        arguments |= {"coordinate": joint.coordinate, "rate": joint.rate}
    if row.kind == "D":
        arguments["length"] = row.offset if row.motion is None else row.motion
        return model.add_distance, arguments
    if joint.type == "in_plane":
        arguments["offset"] = row.offset

    def verb(name: str, first: str, second: str, points: Any, **values: Any) -> Joint:
        owner, i, j = model._start(name, joint.type, first, second)
        place = locate(owner, i, j, None, points)
        return model._finish(name, joint.type, i, j, place, (joint.E_i, joint.E_j), **values)

    return verb, arguments
