"""Two bars on one line of which one slides in the other, as the rod of a cylinder in its barrel: which way it goes out, and
where it leaves the barrel or goes through its foot. One sentence for each.

It goes out where the outer ends of both go apart: those with pins, else those that are farther apart as they are drawn. Bars
that are long beside the other are rails; rods that stick out on both sides at the start, with no pin in the way, are meant to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import Body, Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.remarks.pins import AT, OFF, Link, Pin, bars_on_one_line, pins_of

RAIL = 2.0  # length over that of the other bar
IN_MM = 50.0  # how far bars are apart over their lengths, from where on lengths may be in millimetres


@dataclass(frozen=True, eq=False)
class Telescope:
    """The bars of the first and the second body of a joint, and the direction, 1 or -1 along the first, in which the second
    goes out; 0 where both are alike.  pinned : whether the outer ends of both have pins"""

    joint: Joint
    one: Link
    two: Link
    out: float
    pinned: tuple[bool, bool]

    def misfits(self, t: Array, gap: Array, rate: Array, instant: Callable[[float], str]) -> Iterator[tuple[str, float]]:
        """At most one sentence, and a time.  gap : of the middles along the first bar at times t, with its rate"""
        one, two, name = self.one, self.two, self.joint.name
        short, half = min(one.length, two.length), 0.5 * (one.length + two.length)
        overlap, slack = half - np.abs(gap), AT * short
        if overlap[0] > slack and (apart := -float(overlap.min())) > slack:
            at = _first_zero(t, overlap, -np.sign(gap) * rate)
            units = f", which are in m: {apart:.4g} mm are {1e-3 * apart:.4g}" if apart > IN_MM * half else ""
            yield (
                f"{two.body!r} leaves {one.body!r} at {instant(at)}: as they are drawn they overlap by"
                f" {min(overlap[0], short):.3g} m along {name!r} at the start and are {apart:.3g} m apart later on; see their"
                f" lengths and its travel{units}",
                at,
            )
            return
        barrel, rod = (two, one) if one.radius < two.radius else (one, two)
        inside = self.out * gap + half - rod.length
        through = -float(inside.min())
        closed = self.pinned[barrel is two] or inside[0] >= -slack
        if self.out and closed and through > OFF * barrel.length and max(one.length, two.length) <= RAIL * short:
            at = _first_zero(t, inside, self.out * rate)
            yield (
                f"{rod.body!r} goes through the foot of {barrel.body!r} at {instant(at)}: as they are drawn it is"
                f" {through:.3g} m beyond that end; see their lengths, and the sign of the motion along {name!r}",
                at,
            )


def telescopes(model: Model, bodies: Sequence[Body]) -> Iterator[Telescope]:
    """bodies : in their pose"""
    placed, pins = {body.name: body for body in bodies}, [*pins_of(model)]
    for joint, one, two, off in bars_on_one_line(model, bodies):
        if off > AT:
            continue
        first, second = placed[joint.first], placed[joint.second]
        along = first.matrix @ one.along
        same = float(np.sign(along @ second.matrix @ two.along))
        gap = float(along @ (world_point(second, two.middle) - world_point(first, one.middle)))
        ends = [
            _pinned_end([pin for pin in pins if pin.link.body == bar.body and pin.joint is not joint]) for bar in (one, two)
        ]
        drawn = np.sign(gap) if abs(gap) > AT * max(one.length, two.length) else 0.0
        out = float(np.sign(same * ends[1] - ends[0]) or drawn)
        yield Telescope(joint, one, two, out, (ends[0] == -out, same * ends[1] == out))


def _pinned_end(pins: list[Pin]) -> float:
    """The end of a bar, -1 or 1, that has pins, 0 where both or none has; welds may be anywhere."""
    return float(np.sign(sum(pin.end for pin in pins if pin.joint.type != "fixed")))


def _first_zero(t: Array, x: Array, rate: Array) -> float:
    """Where x becomes negative, between two steps by the cubic of both."""
    from scipy.interpolate import CubicHermiteSpline

    k = int(np.argmax(x < 0.0))
    step = slice(k - 1, k + 1)
    return (
        float(np.min(CubicHermiteSpline(t[step], x[step], rate[step]).roots(extrapolate=False), initial=t[k]))
        if k
        else float(t[0])
    )
