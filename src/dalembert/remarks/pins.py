"""Pins that are not where the links are drawn that they hold, and slides that are not along them: one sentence for each.

Ends are known of round bars, of da.rod, add_link and da.cylinder. Of these a pin is doubted that is near an end and not at it,
where another is at the other end, or as far away as the bar is long; or beside the bar, outside what is drawn. All other pins
may be anywhere along a bar, or a little beyond it, as in an eye; in pairs on both sides of it; and along its own axis, unless
it joins two bars that lie in one plane. Rollers and what slides in a slot are pins of the body whose point they hold, ends of
cables too; welds are pins that may themselves be anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.wrong_axes import PARALLEL, loops_of
from dalembert.model.cables import CABLE, cable_points
from dalembert.model.elements import GROUND, Body, Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model

HINGES = ("revolute", "cylindrical")  # anywhere along an axis
PINS = (*HINGES, "spherical", "universal", "coincidence", "distance", "fixed")  # at a point of both bodies
SLIDING = ("point_on_line", "point_on_plane", "in_plane")  # at a point of the second one
AT = 0.005  # how far a pin may be from an end of a bar, over its length, to be at it: coordinates of three digits
NEAR = 0.03  # how far it is from an end that it may have been meant to be at
OFF = 0.05  # how far a pin is from anywhere on the link that is drawn, over its length
SKEW = 0.4  # how far a bar is from the plane in which it turns that may have been meant to lie in it [rad]
THIN = 0.2  # radius over length of what is drawn like a link


@dataclass(frozen=True, eq=False)
class Link:
    """What is drawn as one straight link: its middle and direction in body axes, a round bar or not."""

    body: str
    middle: Array
    along: Array
    length: float
    radius: float
    bar: bool


@dataclass(frozen=True, eq=False)
class Pin:
    """A joint on a link: its point from the middle, in body axes, and its axis, None where it has none."""

    joint: Joint
    link: Link
    p: Array
    axis: Array | None

    @property
    def flat(self) -> Array:
        """Projection along the axis."""
        return np.eye(3) if self.axis is None else np.eye(3) - np.outer(self.axis, self.axis)

    @property
    def across(self) -> bool:
        """Whether the bar does not lie along the axis of the pin, as a shaft does."""
        return self.axis is None or abs(float(self.axis @ self.link.along)) < 1e-6

    @property
    def end(self) -> float:
        """The end of the link, -1 or 1, at which it is, 0 between both."""
        s = float(self.p @ self.link.along) / self.link.length
        return float(np.sign(s)) if self.across and abs(s) >= 0.5 - OFF else 0.0

    def gap(self, end: float) -> float:
        """Distance from an end of the link, -1 or 1, over its length."""
        return float(np.linalg.norm(self.flat @ (self.p - 0.5 * end * self.link.length * self.link.along))) / self.link.length


def pins_off_links(model: Model) -> Iterator[str]:
    """Pins, balls and ends of distances that lie off the link that is drawn, or not at its end."""
    by_link: dict[Link, list[Pin]] = {}
    by_joint: dict[str, list[Pin]] = {}
    for pin in pins_of(model):
        by_link.setdefault(pin.link, []).append(pin)
        by_joint.setdefault(pin.joint.name, []).append(pin)
    for link, own in by_link.items():
        told = set()
        for pin, text in [*_not_at_ends([pin for pin in own if link.bar and pin.across]), *_off(own)]:
            if pin not in told and pin.joint.type != "fixed" and not _of_a_yoke(pin, own):
                told.add(pin)
                word = "cable" if pin.joint.type == CABLE else "joint"
                yield f"{word} {pin.joint.name!r} is {text} {link.length:.3g} m: see its point and the link's ends"
    for both in by_joint.values():
        yield from _out_of_plane(both)


def bars_on_one_line(model: Model, bodies: Sequence[Body]) -> Iterator[tuple[Joint, Link, Link, float]]:
    """Slides of two bars that lie on one line, as barrel and piston, and how far their axes are off it [rad]; bodies : in their
    pose"""
    links, placed = links_of(model), {body.name: body for body in bodies}
    for joint in model.joints:
        one, two = links.get(joint.first), links.get(joint.second)
        if joint.type not in ("prismatic", "cylindrical") or one is None or two is None or not (one.bar and two.bar):
            continue
        first, second = placed[joint.first], placed[joint.second]
        along, axis = first.matrix @ one.along, first.matrix @ joint.E_i[:, 2]
        gap = world_point(second, two.middle) - world_point(first, one.middle)
        coaxial = np.linalg.norm(np.cross(along, second.matrix @ two.along)) <= AT
        if coaxial and np.linalg.norm(np.cross(along, gap)) <= AT * max(one.length, two.length):
            yield joint, one, two, float(np.arctan2(np.linalg.norm(np.cross(along, axis)), abs(along @ axis)))


def slides_off_bars(model: Model) -> Iterator[str]:
    """Those of bars on one line that do not go along it; hinges may be across."""
    for joint, one, two, off in bars_on_one_line(model, model.bodies):
        if off > AT and (joint.type == "prismatic" or np.cos(off) > 1e-6):
            yield (
                f"the axis of joint {joint.name!r} is not along the bars {one.body!r} and {two.body!r} that it joins, which lie"
                f" on one line: it is {np.degrees(off):.3g} degrees off"
            )


def bars_off_planes(model: Model) -> Iterator[str]:
    """Bars that a hinge at their end lets turn about an axis to which they are nearly, and not, perpendicular, where a loop, a
    parallel hinge of the bar, or another bar of the hinge tells that they belong in its plane; else they turn on a cone."""
    looped = {joint.name for loop in loops_of(model) for joint in loop}
    axes = {pin: pin.axis for pin in pins_of(model) if pin.axis is not None and pin.link.bar and pin.joint.type == "revolute"}
    told = set[Link]()
    for pin, axis in axes.items():
        off = float(np.arcsin(min(1.0, abs(float(axis @ pin.link.along)))))
        if not AT < off < SKEW or min(pin.gap(-1.0), pin.gap(1.0)) > AT or pin.link in told:
            continue
        others = [other for other in axes if other is not pin]
        again = any(other.link is pin.link and np.linalg.norm(np.cross(axes[other], axis)) < PARALLEL for other in others)
        if again or pin.joint.name in looped or any(other.joint is pin.joint and other.across for other in others):
            told.add(pin.link)
            words = (
                f"the bar {pin.link.body!r} is {np.degrees(off):.3g} degrees off the plane in which joint {pin.joint.name!r}"
            )
            yield f"{words} lets it turn: see the bar's ends and the joint's axis"


def links_of(model: Model) -> dict[str, Link | None]:
    return {body.name: _link(body.name, body.shape) for body in model.bodies}


def pins_of(model: Model) -> Iterator[Pin]:
    """Of all links."""
    links = links_of(model)
    for joint in model.joints:
        for name, p, E in _places(joint):
            if name != GROUND and (link := links[name]) is not None:
                yield Pin(joint, link, p - link.middle, E[:, 2] if joint.type in HINGES else None)


def _places(joint: Joint) -> Iterator[tuple[str, Array, Array]]:
    """Bodies that a joint holds at a point, where, and its axes there."""
    if joint.type in PINS:
        yield joint.first, joint.p_i, joint.E_i
    if joint.type in PINS or joint.type in SLIDING:
        yield joint.second, joint.p_j, joint.E_j
    if joint.type == CABLE and joint.primitives:  # none while it is free
        yield from ((name, p, joint.E_i) for name, p in cable_points(joint)[:: len(joint.primitives[0].parts) - 1])


def _link(body: str, shape: Mapping[str, object] | None) -> Link | None:
    if shape is None or shape["type"] not in ("rod", "cylinder", "box") or {"rotation", "fixed"} & shape.keys():
        return None
    middle = np.asarray(shape.get("position", np.zeros(3)), dtype=float)
    if shape["type"] == "box":
        size = np.asarray(shape["size"], dtype=float)
        along, length, radius = int(np.argmax(size)), float(size.max()), 0.5 * float(np.sort(size)[1])
    else:
        along = "xyz".index(str(shape.get("axis", "z")))
        length, radius = (float(str(shape.get(key, 0.0))) for key in ("length", "radius"))
    return Link(body, middle, np.eye(3)[along], length, radius, shape["type"] != "box") if radius <= THIN * length else None


def _of_a_yoke(pin: Pin, pins: list[Pin]) -> bool:
    """Whether another is opposite to it, as far from the bar: rods in pairs on both sides of an arm."""
    across = np.eye(3) - np.outer(pin.link.along, pin.link.along)
    gaps = [across @ (pin.p + other.p) + (np.eye(3) - across) @ (pin.p - other.p) for other in pins if other is not pin]
    return any(float(np.linalg.norm(gap)) <= AT * pin.link.length for gap in gaps)


def _off(pins: list[Pin]) -> Iterator[tuple[Pin, str]]:
    """Those that are far from all of the link, or outside a bar; beams may have eyes beside them."""
    for pin in pins:
        link = pin.link
        u, at = pin.flat @ link.along, pin.flat @ pin.p
        s = float(at @ u) / float(u @ u) if u @ u > 1e-12 else 0.0
        off = float(np.linalg.norm(at - np.clip(s, -0.5 * link.length, 0.5 * link.length) * u))
        aside = float(np.linalg.norm(at - s * u))
        beyond = abs(s) > 0.5 * link.length
        limit = max(AT * link.length, link.radius) if pin.across else OFF * link.length + link.radius
        if (beyond and off > OFF * link.length + link.radius) or (link.bar and aside > limit):
            ends = min(pin.gap(-1.0), pin.gap(1.0)) * link.length
            where = "beyond its end" if beyond else f"beside it, {ends:.3g} m from its nearer end"
            yield pin, f"{off:.3g} m off body {link.body!r}, {where}, which is drawn as a link of"


def _not_at_ends(pins: list[Pin]) -> Iterator[tuple[Pin, str]]:
    """Those near an end of a bar whose other end has a pin, and those as far apart as a bar is long that lies elsewhere."""
    at = {end: [pin for pin in pins if pin.gap(end) <= AT] for end in (-1.0, 1.0)}
    missed: list[tuple[Pin, float]] = []
    for end in (-1.0, 1.0):
        near = min(pins, key=lambda pin: pin.gap(end), default=None)
        if at[-end] and not at[end] and near is not None and near.gap(end) <= NEAR:
            missed.append((near, near.gap(end)))
    if not at[-1.0] and not at[1.0]:
        for one, two in combinations(pins, 2):
            apart = float(np.linalg.norm(one.flat @ two.flat @ (one.p - two.p))) / one.link.length
            if abs(apart - 1.0) <= AT:
                missed += [(pin, min(pin.gap(-1.0), pin.gap(1.0))) for pin in (one, two)]
    for pin, gap in (item for item in missed if item[0].joint.type not in ("distance", CABLE)):  # props may be anywhere
        length = pin.link.length
        yield pin, f"{gap * length:.3g} m off the end of body {pin.link.body!r}, which is drawn as a link of"


def _out_of_plane(pins: list[Pin]) -> Iterator[str]:
    """A hinge of two bars that lie in one plane across the axis, and not in it; pins : those of one joint."""
    hinged = [pin for pin in pins if pin.axis is not None and pin.link.bar and pin.across]
    off = [float(pin.p @ pin.axis) for pin in hinged if pin.axis is not None]
    length = min((pin.link.length for pin in hinged), default=0.0)
    if len(hinged) == 2 and abs(off[0] - off[1]) <= AT * length < abs(off[0]):
        one, two = (pin.link.body for pin in hinged)
        yield (
            f"joint {hinged[0].joint.name!r} is {abs(off[0]):.3g} m along its axis off bodies {one!r} and {two!r}, which are"
            " drawn in one plane: see its point"
        )
