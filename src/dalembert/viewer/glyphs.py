"""Joints as small machine parts: pin and ring, ball and socket, cross, rail and carriage; the same in pages and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND, Joint
from dalembert.model.joints import type_of
from dalembert.model.rotation import Rotation, matrix_to_quaternion
from dalembert.results.coupling_efforts import MEASURED
from dalembert.viewer.parts import Part

PIN, BALL, RAIL = "#6b7380", "#c9ced6", "#9aa2ae"
RAILS = ("prismatic", "cylindrical", "point_on_line")  # the joints that have one

_ALONG_X, _ALONG_Y = np.sqrt(0.5) * np.array([1.0, 0.0, 1.0, 0.0]), np.sqrt(0.5) * np.array([1.0, -1.0, 0.0, 0.0])
_STRAIGHT, _Z = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


def glyph(joint: Joint, radius: float, travel: Sequence[float] | None, gap: float) -> Iterator[tuple[str, Part]]:
    """(body, part in its axes) of all that is drawn of a joint; the axis of its frames is z.

    radius : of the joint [m];  travel : least and largest coordinate of one that slides [m]
    gap : from the first body to the second along the axis of a hinge [m]
    """
    if type_of(joint).form or not type_of(joint).has_point or joint.type in MEASURED:
        return
    r, held = radius, joint.first != GROUND
    first: list[Part] = []
    second: list[Part] = []
    match joint.type:
        case "revolute":
            low, high = min(gap, 0.0) - 2.1 * r, max(gap, 0.0) + 2.1 * r
            caps = [_pin(0.85 * r, 0.3 * r, end * _Z) for end in (low, high)]
            first = [_pin(0.62 * r, high - low, 0.5 * (low + high) * _Z), *caps]
            second = [Part("ring", (r, 0.3 * r), colour=BALL)]
        case "universal":
            first = [_pin(0.36 * r, 3.6 * r, turn=_ALONG_X)]
            second = [_pin(0.36 * r, 3.6 * r, turn=_ALONG_Y), _ball(0.8 * r)]
        case "prismatic":
            first, second = _rail(r, travel, False, held), [_cube((1.7 * r, 1.7 * r, 2.6 * r), colour=PIN)]
        case "cylindrical":
            first, second = _rail(r, travel, True, held), [_pin(1.1 * r, 2.4 * r, colour=BALL)]
        case "point_on_line":
            first, second = _rail(r, travel, True, held), [_ball(r)]
        case "fixed":
            first = [_cube((1.8 * r, 1.8 * r, 1.8 * r), colour=PIN)]
        case "planar":
            first, second = [_plate(r)], [_pin(1.2 * r, 0.8 * r)]
            if not held:  # of the ground's plane that part is seen on which the body is
                first, second = [], first + second
        case "point_on_plane":
            first, second = [_plate(r)], [_ball(r)]
        case "distance":
            first, second = [_ball(0.7 * r)], [_ball(0.7 * r)]
        case "spherical" | "coincidence":
            second = [_ball(1.08 * r)]
        case _:
            second = [_ball(r)]
    for body, p, E, parts in ((joint.first, joint.p_i, joint.E_i, first), (joint.second, joint.p_j, joint.E_j, second)):
        turn = Rotation(matrix_to_quaternion(E))
        for part in parts:
            yield body, replace(part, at=p + E @ part.at, turn=(turn * Rotation(part.turn)).quaternion)


def rail_ends(r: float, travel: Sequence[float] | None) -> tuple[float, float]:
    """Where the rail of a joint that slides begins and ends, along its axis [m]."""
    low, high = (-8 * r, 8 * r) if travel is None else travel
    return low - 4 * r, high + 4 * r


def _rail(r: float, travel: Sequence[float] | None, round_: bool, held: bool) -> list[Part]:
    """A bar with plates at its ends, or a shaft with collars; that of a body, which shall be seen as well, is thin."""
    low, high = rail_ends(r, travel)
    length, at = high - low, 0.5 * (low + high) * _Z
    thick, wide = (0.5, 1.6) if held else (0.9, 2.2)
    if round_:
        return [_pin(0.6 * thick * r, length, at, colour=RAIL), *(_pin(0.43 * wide * r, 0.5 * r, z * _Z) for z in (low, high))]
    ends = [_cube((wide * r, wide * r, 0.5 * r), z * _Z, PIN) for z in (low, high)]
    return [_cube((thick * r, thick * r, length), at), *ends]


def _pin(radius: float, length: float, at: Array = 0 * _Z, turn: Array = _STRAIGHT, colour: str = PIN) -> Part:
    return Part("cylinder", (radius, length), at, turn, colour=colour)


def _cube(size: tuple[float, float, float], at: Array = 0 * _Z, colour: str = RAIL) -> Part:
    return Part("box", size, at, colour=colour)


def _plate(r: float) -> Part:
    return Part("box", (12 * r, 12 * r, 0.2 * r), colour=RAIL, clear=True)


def _ball(radius: float) -> Part:
    return Part("sphere", (radius,), colour=BALL)
