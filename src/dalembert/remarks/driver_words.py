"""What drivers do to which bodies, in words: who reversed a sign, or drives another joint than was meant, sees it.

    'motor' turns 'crank' about (0, 1, 0) at 6 rad/s = 57.3 rpm (joint 'A')
    'spindle' turns 'tool' about (0, 0, 1) from 0 to 7200 degrees in 2 s, 20 turns at up to 1125 rpm (joint 'B')
    'cylinder' moves 'rod' out of 'barrel' from 0 to 0.3 m in 2 s (joint 'C')

Values are those of the driven coordinate, angles in degrees; it grows along and about what is told, in the pose of the start.
Lengths that joints prescribe are told like drivers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motion_rates, motion_values
from dalembert.compilation.trajectory import State
from dalembert.compilation.wrong_axes import shown_axis
from dalembert.model.elements import GROUND, Driver
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Motion, Polynomial, SmoothStep, Table, leaves
from dalembert.remarks.telescopes import Telescope, telescopes

TOLD = 3  # drivers, of many
LOOKS = 400  # at a motion
SAME = 1e-9  # of values: rounding
_UNEVEN = 0.5 * (5.0**0.5 - 1.0)  # looks at its multiples are in step with no period


def driven(
    mechanism: Compiled, begin: float, end: float | None = None, *, whole: Model | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """One sentence for each driver, and its numbers for programs; of many the first, and how many more there are.

    end : of the run, None where nobody has said how long it takes;  whole : the model of a run in pieces, in each of which
        others may be in force
    """
    if not isinstance(mechanism, Mechanism) or not (drivers := drivers_of(whole or mechanism.model)):
        return []
    start = mechanism.state(mechanism.t_0, mechanism.x_0)
    told = [_told(start, driver, begin, end) for driver in drivers[:TOLD]]
    if others := [driver.name for driver in drivers[TOLD:]]:
        told.append((f"and {len(others)} more", {"drivers": others}))
    return told


def strokes(mechanism: Compiled, begin: float, end: float | None) -> Iterator[str]:
    """What is doubted of the way that drivers move bars along each other, before they have; at a speed it takes an end."""
    if not isinstance(mechanism, Mechanism):
        return
    start = mechanism.state(begin, mechanism.x_0)
    for driver in drivers_of(mechanism.model):
        motion = driver.primitive.motion
        if (item := _telescope(start, driver)) and motion is not None:
            t = _looks(motion, begin, _shown(motion, begin) if end is None else end)
            (x, rate), along = motion_rates(motion, t).T[:2], start.rotation(item.one.body) @ item.one.along
            sign = _sign(driver, item)
            gap = along @ (start.point(item.two.body, item.two.middle) - start.point(item.one.body, item.one.middle))
            yield from (text for text, _ in item.misfits(t, gap + sign * (x - x[0]), sign * rate, lambda t: f"t = {t:.3g} s"))


def drivers_of(model: Model) -> list[Driver]:
    lengths = [(joint, row) for joint in model.joints for row in joint.primitives if row.kind == "D" and row.motion is not None]
    return [*model.drivers, *(Driver(joint.name, None, joint.first, joint.second, row) for joint, row in lengths)]


def _told(start: State, driver: Driver, begin: float, end: float | None) -> tuple[str, dict[str, Any]]:
    row, motion = driver.primitive, driver.primitive.motion
    assert motion is not None
    verb, scale, unit = ("turns", 180.0 / pi, "degrees") if row.kind == "A" else ("moves", 1.0, "m")
    on = f" (joint {driver.joint!r})" if driver.joint else ""
    rate, stop = _steady(motion), _shown(motion, begin) if end is None else end
    t = _looks(motion, begin, stop)
    x = row.offset + motion_values(motion, t)
    size, change, spread = float(np.abs(x).max()), float(x[-1] - x[0]), float(np.ptp(x))
    first, last, least, most = (f"{scale * v if abs(v) > SAME * size else 0.0:.4g}" for v in (x[0], x[-1], x.min(), x.max()))
    one_way = abs(change) >= (1.0 - SAME) * spread
    way, side = _way(start, driver, (change or rate or 0.0) if one_way else 0.0)
    if rate and row.kind == "A":
        how = f"at {side * rate:.4g} rad/s = {side * rate * 30 / pi:.4g} rpm"
    elif rate:
        how = f"at {side * rate:.4g} m/s" + (f" from {first} to {last} m" if stop is not None else "")
    elif stop is None:
        how = f"from {first} {unit} on"
    elif spread <= SAME * size:
        verb, way, how = "holds", "", f"at {first} {unit}{_later(motion, begin, stop)}"
    elif one_way:
        takes = t[np.flatnonzero(x != x[-1])[-1] + 1] - t[np.flatnonzero(x != x[0])[0] - 1]
        how = f"from {first} to {last} {unit} in {takes:.4g} s"
        if row.kind == "A" and spread > 2.0 * pi:
            fastest = float(np.abs(motion_rates(motion, t)[:, 1]).max())
            how += f", {spread / (2.0 * pi):.4g} turns at up to {fastest * 30 / pi:.4g} rpm"
    else:
        how = f"between {least} and {most} {unit}"
        match [leaf for leaf in leaves(motion) if not isinstance(leaf, Constant)]:
            case [Harmonic(omega=omega)]:
                how += f", {abs(omega) / (2.0 * pi):.4g} times a second"
        at_first = float(next((v for v in x - x[0] if abs(v) > SAME * size), 0.0))
        worded = (row.kind == "A" and start.mechanism.model.plane) or _telescope(start, driver)
        towards = f"towards {most if at_first > 0.0 else least} {unit}"
        how += f", starts {_way(start, driver, at_first)[0] if worded else towards}"
    words = (f"{driver.name!r} {verb} {_what(start, driver)}", way, how)
    facts = {"driver": driver.name, "rate": rate, "range": None if stop is None else [float(x.min()), float(x.max())]}
    return " ".join(filter(None, words)) + on, facts


def _what(start: State, driver: Driver) -> str:
    """Bodies that are moved."""
    if driver.primitive.kind == "D":
        return f"points of {driver.first!r} and {driver.second!r}"
    one, other = (driver.first, driver.second) if driver.second == GROUND else (driver.second, driver.first)
    against = "" if other == GROUND or _telescope(start, driver) else f" against {other!r}"
    return f"{'' if driver.joint else 'a point of '}{one!r}{against}"


def _way(start: State, driver: Driver, change: float) -> tuple[str, float]:
    """Where to, and the sign with which rates are told of it;  change : 0 for to and fro"""
    row, plane = driver.primitive, start.mechanism.model.plane
    if row.kind == "D":
        return ("apart" if change > 0.0 else "together" if change else "to and fro"), 1.0
    side = -1.0 if driver.second == GROUND else 1.0
    axis = side * start.rotation(driver.first) @ (row.n_i if row.kind == "A" else row.a_i)
    if item := _telescope(start, driver):
        way = "in and out of" if not change else "out of" if change * _sign(driver, item) * item.out >= 0.0 else "into"
        return f"{way} {driver.first!r}", -1.0 if change < 0.0 else 1.0
    if row.kind == "A" and plane:
        e_1, e_2 = (np.eye(3)["xyz".index(letter)] for letter in plane)
        sign = -1.0 if change < 0.0 else 1.0
        return ("counterclockwise" if sign * float(axis @ np.cross(e_1, e_2)) > 0.0 else "clockwise"), sign
    return f"{'about' if row.kind == 'A' else 'along'} {shown_axis(axis)}", 1.0


def _telescope(start: State, driver: Driver) -> Telescope | None:
    """What it drives, where that is a slide along two bars on one line, as barrel and piston."""
    mechanism = start.mechanism
    found = telescopes(mechanism.model, mechanism.assembly.bodies) if driver.primitive.kind == "O" else ()
    return next((item for item in found if item.joint.name == driver.joint), None)


def _sign(driver: Driver, item: Telescope) -> float:
    """1 where its coordinate grows as the second bar moves along the first, else -1."""
    return float(np.sign(driver.primitive.a_i @ item.one.along))


def _steady(motion: Motion) -> float | None:
    """The rate of one that does not change, or None."""
    c = motion.coefficients if isinstance(motion, Polynomial) else ()
    return c[1] if any(c[1:2]) and not any(c[2:]) else None


def _shown(motion: Motion, begin: float) -> float | None:
    """When a motion has shown all of its values; None where that has no end."""
    ends = [begin]
    for leaf in leaves(motion):
        match leaf:
            case SmoothStep():
                ends.append(leaf.t_stop)
            case Table():
                ends.append(leaf.times[-1])
            case Harmonic():
                ends.append(begin + (2.0 * pi / abs(leaf.omega) if leaf.omega else 0.0))
            case Polynomial() if any(leaf.coefficients[1:]):
                return None
            case Constant() | Polynomial():
                pass
            case _:
                return None
    return max(ends)


def _later(motion: Motion, begin: float, stop: float) -> str:
    """What is to be said of a motion that rests in the run and not after it."""
    t = _looks(motion, begin, _shown(motion, begin))
    moves = np.flatnonzero(np.abs(np.diff(motion_values(motion, t))) > SAME)
    return f" in the whole run, and moves from t = {t[moves[0]]:.4g} s on" if len(moves) and t[moves[0]] >= stop - SAME else ""


def _looks(motion: Motion, begin: float, stop: float | None) -> Array:
    """Times from begin to stop, those of its knots and extremes among them."""
    if stop is None or stop <= begin or isinstance(motion, Constant):
        return np.array([begin])
    if _steady(motion):
        return np.array([begin, stop])
    t = [np.array([stop]), begin + (stop - begin) * (_UNEVEN * np.arange(LOOKS) % 1.0)]
    for leaf in leaves(motion):
        match leaf:
            case SmoothStep():
                t.append(np.array([leaf.t_start, leaf.t_stop]))
            case Table():
                knots = np.array(leaf.times)
                t.append(begin + (knots - begin) % (knots[-1] - knots[0]) if leaf.periodic else knots)
            case Harmonic() if leaf.omega:
                quarter = 0.5 * pi - leaf.phase - leaf.omega * begin
                t.append(begin + (quarter / leaf.omega) % (pi / abs(leaf.omega)) + np.array([0.0, pi / abs(leaf.omega)]))
    every = np.unique(np.concatenate(t))
    return every[(every >= begin) & (every <= stop)]
