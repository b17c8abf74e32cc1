"""Numbers that may be in other units: millimetres for metres, grams for kilograms. One sentence for each.

Millimetres make a solid lighter than air, and a bar lighter than a wire; a model whose gravity is told in mm/s^2 means them.
Nobody gives less than a millimetre, so that numbers below 1 are none.
Grams make a solid of any material heavier than all there are, and a bar heavier than a cube of its length; a body that is only
drawn small has another inertia than what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import Body
from dalembert.model.forces.springs import SpringDamper
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.pins import AT, links_of, pins_of
from dalembert.remarks.points_far_off import IN_MILLIMETRES, points_far_off

SAME = 1e-9  # of lengths: rounding
LARGE = 100.0  # a bar over the next; millimetres make 1000 times as much
WIDE = 50.0  # radius of gyration over the size of the mechanism; inertias in kg mm^2 make 1000 times as much
DRAWN = 20.0  # the same over the size of what is drawn, which may be a small part of it
HEAVIER = 10.0  # mass of a body over that of all others, from which it may be what the mechanism is on
LIKE_G, SMALL = (9.7, 9.9), 3.0  # times 100 or 1000 gravity is in cm/s^2 or mm/s^2; a model of less is hardly in these
LONG = 10.0  # size from which a body is doubted that is too light for it [m]
LIGHT = {1: 1e-2, 2: 1e-3, 3: 1e-3}  # [kg/m], [kg/m^2], [kg/m^3], far below a wire, foil, air; millimetres make 8e-6 of steel
HEAVY = 5e5  # [kg/m^3], 20 times osmium: bodies of examples are often heavier than they can be; grams make 2.7e6 of aluminium
OSMIUM = 22590.0  # [kg/m^3], of a bar that is as thick as long; bars of aluminium, five times as long, make 1e5 in grams
SLENDER = 1000.0  # length over radius of a bar that is held to be a wire
SLACK = 50.0  # slack length of a spring over the distance of its ends, or the reverse, from which it is doubted


def in_millimetres(model: Model) -> Iterator[str]:
    """Points far off, springs slack far from where they start, and bodies that are too long."""
    told = {**dict(_slack_lengths(model)), **dict(points_far_off(model))}
    yield from (told | dict(too_long(model))).values()


def gravity_in_millimetres(model: Model) -> bool:
    """Whether it seems to be in cm/s^2 or mm/s^2 in a model that is hardly in these; 100 g may be meant, as in a centrifuge."""
    g = float(np.linalg.norm(model.gravity))
    points = [world_point(model.body(name), p) for name, p in _ends(model)] + [body.position for body in model.bodies]
    size = max(_spread(np.array(points), 0.0), *(extent(body.shape or {})[0] for body in model.bodies), 0.0)
    return any(LIKE_G[0] < g / times < LIKE_G[1] for times in (100.0, 1000.0)) and 0.0 < size < SMALL


def too_long(model: Model) -> Iterator[tuple[str, str]]:
    """Solids that are much too light for their size, a bar far longer than others: bodies, and a sentence for each."""
    if np.linalg.norm(model.gravity) >= IN_MILLIMETRES:
        return
    bars = sorted((link.length, link.body) for link in links_of(model).values() if link is not None and link.bar)
    longest = bars[-1] if bars else (0.0, "")
    solids = max((extent(body.shape or {})[0] for body in model.bodies if body.name != longest[1]), default=0.0)
    other, more = (bars[-2][0], LARGE) if len(bars) > 1 else (solids, 10.0 * LARGE)  # blocks on long bars may be small
    for body in model.bodies:
        if body.name == longest[1] and longest[0] > max(more * other, 1.0) and other > 0.0 and not _held_at_ends(model, body):
            length, ratio = longest[0], longest[0] / other
            words = f"bar {body.name!r} is {length:.4g} m long, {ratio:.3g} times as long as the next of the model"
            yield body.name, f"{words}: lengths are in m, {length:.4g} mm are {1e-3 * length:.4g}"
            continue
        if body.shape is None or body.mass == 0.0:
            continue
        size, dimension, content = extent(body.shape)
        if size > LONG and body.mass < LIGHT[dimension] * content:
            than = {1: "a wire", 2: "foil", 3: "air"}[dimension]
            words = f"body {body.name!r} of {body.mass:.3g} kg is {size:.4g} m large, lighter than {than}"
            yield body.name, f"{words}: lengths are in m, {size:.4g} mm are {1e-3 * size:.4g}"


def _held_at_ends(model: Model, body: Body) -> bool:
    """Whether pins are at both ends of a bar, as of a rope or a tether: its length is told twice."""
    gaps = [[pin.gap(end) for pin in pins_of(model) if pin.link.body == body.name] for end in (-1.0, 1.0)]
    return all(min(own, default=1.0) <= AT for own in gaps)


def in_grams(model: Model) -> Iterator[str]:
    """Plain solids and bars, with the inertia of such, that are much too heavy for their size."""
    for body in model.bodies if np.linalg.norm(model.gravity) < IN_MILLIMETRES else ():
        size, dimension, content = extent(body.shape or {})
        most = {1: OSMIUM * size**3, 3: HEAVY * content}.get(dimension, 0.0)
        if body.mass > most > 0.0 and _is_solid(body):
            told = (
                f"{body.mass / content:.2g} kg/m^3 where steel has 7850"
                if dimension == 3
                else "more than any cube of that size"
            )
            units = f"masses are in kg, {body.mass:.4g} g are {1e-3 * body.mass:.4g}; lengths in m"
            yield f"body {body.name!r} of {body.mass:.4g} kg is {size:.3g} m large, {told}: {units}"


def _is_solid(body: Body) -> bool:
    """Whether the inertia is that of the solid that is drawn."""
    shape: Mapping[str, Any] = body.shape or {}
    match shape:
        case {"type": "cylinder", "radius": r, "length": length}:
            expected = r**2 + length**2 / 6.0
        case {"type": "rod", "length": length}:
            expected = length**2 / 6.0
        case {"type": "sphere", "radius": r}:
            expected = 1.2 * r**2
        case {"type": "box", "size": size}:
            expected = float(np.sum(np.square(size))) / 6.0
        case _:
            return False
    return bool(abs(np.trace(body.inertia) / (body.mass * expected) - 1.0) < 1e-3)


def _slack_lengths(model: Model) -> Iterator[tuple[str, str]]:
    """Springs much longer or shorter than the distance of their ends; a length of 0, and ends in one point, are meant."""
    for force in model.forces:
        if not isinstance(force, SpringDamper) or not force.stiffness:
            continue
        a, b = (world_point(model.body(name), p) for name, p in force.places())
        apart, rounding = float(np.linalg.norm(b - a)), SAME * float(np.abs((a, b)).max())
        short, long = sorted((force.length, apart))
        if short > rounding and long > max(SLACK * short, 1.0):
            words = (
                f"{force.noun} {force.name!r} is slack at a length of {force.length:.4g} m, its ends are {apart:.4g} m apart"
            )
            yield force.name, f"{words}: lengths and points are in m, {long:.4g} mm are {1e-3 * long:.4g}"


def extent(shape: Mapping[str, Any]) -> tuple[float, int, float]:
    """Size [m], dimension, and length, area or volume of a plain solid; nothing of others."""
    match shape:
        case {"type": "rod", "length": length}:
            return length, 1, length
        case {"type": "disc", "radius": r}:
            return 2.0 * r, 2, np.pi * r**2
        case {"type": "cylinder", "radius": r, "length": length} if length > SLENDER * r:  # only its length is in millimetres
            return length, 1, length
        case {"type": "cylinder", "radius": r, "length": length}:
            return max(2.0 * r, length), 3, np.pi * r**2 * length
        case {"type": "sphere", "radius": r}:
            return 2.0 * r, 3, np.pi * r**3 * 4.0 / 3.0
        case {"type": "box", "size": size}:
            return max(size), 3, float(np.prod(size))
    return 0.0, 3, 0.0


def too_large(model: Model) -> Iterator[str]:
    """Bodies that are much larger than what is drawn of them; of others, than the mechanism that they are in."""
    points = [*_ends(model), *(place for force in model.forces for place in force.places())]
    points += [(marker.body, marker.point) for marker in model.markers]
    places = np.array([world_point(model.body(name), p) for name, p in points]).reshape(-1, 3)
    bodies = np.array([body.position for body in model.bodies]).reshape(-1, 3)
    rounding = 1e-12 * max((float(np.abs(at).max()) for at in (*(p for _, p in points), *bodies)), default=0.0)
    mass = sum(body.mass for body in model.bodies)
    for k, body in enumerate(model.bodies):
        around, shape = _gyration(body), body.shape or {}
        told = f"body {body.name!r} has a radius of gyration of {around:.3g} m"
        if (drawn := extent(shape)[0]) > 0.0:
            if around > DRAWN * drawn:
                yield f"{told} and is drawn {drawn:.3g} m large: its inertia may be in other units"
        elif shape.get("type") == "mesh" or not 0.0 < HEAVIER * (mass - body.mass) < body.mass:  # a ship, a station, the earth
            others = np.concatenate([places, np.delete(bodies, k, axis=0)])
            size = _spread(others, rounding) or _spread(np.append(places, bodies[k : k + 1], axis=0), rounding)
            if 0.0 < WIDE * size < around:
                yield f"{told} in a mechanism of {size:.3g} m: its mesh, or its inertia, may be in other units"


def _ends(model: Model) -> list[tuple[str, Array]]:
    """Bodies and points of joints: one end of each, as what a joint is open by is no size."""
    ends = [(joint.first, joint.p_i) for joint in model.joints]
    return ends + [(joint.second, joint.p_j) for joint in model.joints if joint.type == "distance"]


def _spread(points: Array, rounding: float) -> float:
    """Size of what (n, 3) points span, 0 where it is rounding."""
    size = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    return size if size > rounding else 0.0


def _gyration(body: Body) -> float:
    """The largest radius of gyration [m]."""
    return float(np.sqrt(np.linalg.eigvalsh(body.inertia)[-1] / body.mass)) if body.mass > 0.0 else 0.0
