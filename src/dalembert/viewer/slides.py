"""Where joints that slide are seen. Mechanics does not mind where along its axis the point of one is, it may be at a pin far
away; the eye wants rail and carriage where the body slides. Bars that slide in each other are a tube and its rod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import Joint
from dalembert.viewer.parts import Part, along_z

Forms = Mapping[str, Sequence[Part]]
Span = tuple[float, float]

_SLIM = 3.0  # a bar is as many times longer than it is thick
_TUBE = 1.45  # radius of a tube, over that of the thicker one of both bars


def guided(joint: Joint, forms: Forms, whole: bool, travel: Span | None, near: float) -> Joint:
    """The same joint where the body is that slides, as far as it can be on the body that guides it, too.

    forms : parts of bodies by name;  whole : nothing leads from the second body to a point beside it
    near : what is not farther away is at a body [m]
    """
    if joint.type not in ("prismatic", "cylindrical") or joint.second not in forms or travel is None:
        return joint
    low, high = spans = _span(forms[joint.second], joint.p_j, joint.E_j[:, 2], near) or (np.inf, -np.inf)
    if low > high:
        if whole and joint.type == "prismatic":
            return replace(joint, p_i=joint.p_i - joint.E_i @ (joint.E_j.T @ joint.p_j), p_j=0.0 * joint.p_j)
        return _along(joint, -float(joint.p_j @ joint.E_j[:, 2]))
    at = 0.0 if low - near <= 0.0 <= high + near else 0.5 * (low + high)
    room = _span(forms.get(joint.first, ()), joint.p_i, joint.E_i[:, 2], near)
    if room is not None:
        first, last = room[0] - travel[0], room[1] - travel[1]  # there it stays on the guide
        at = float(np.clip(at, first, last)) if first <= last else 0.5 * (first + last)
    return _along(joint, float(np.clip(at, *spans)))


def _along(joint: Joint, way: float) -> Joint:
    return replace(joint, p_i=joint.p_i + way * joint.E_i[:, 2], p_j=joint.p_j + way * joint.E_j[:, 2])


def _span(parts: Sequence[Part], point: Array, axis: Array, near: float) -> Span | None:
    """Where a line through a point is at parts, from the first to the last of them [m]."""
    found = []
    for part in parts:
        start, along = part.matrix.T @ (point - part.at), part.matrix.T @ axis
        steep = np.abs(along) > 1e-9
        if np.any(np.abs(start[~steep]) > part.half[~steep] + near):
            continue
        middle, half = -start[steep] / along[steep], (part.half + near)[steep] / np.abs(along[steep])
        low, high = float((middle - half).max()), float((middle + half).min())
        if low <= high:
            found.append((low, high))
    if not found:
        return None
    low, high = min(low for low, _ in found), max(high for _, high in found)
    room = min(near, 0.5 * (high - low))
    return low + room, high - room


def telescope(joint: Joint, forms: Forms, travel: Span | None) -> Iterator[tuple[str, Part]]:
    """(body, part in its axes) of the tube around the bar of the first body, in which that of the second one slides, and of
    what is missing of that at its farthest; nothing where they are no bars along the axis."""
    outer = _bar(forms.get(joint.first, ()), joint.p_i, joint.E_i[:, 2])
    inner = _bar(forms.get(joint.second, ()), joint.p_j, joint.E_j[:, 2])
    if joint.type not in ("prismatic", "cylindrical") or outer is None or inner is None or travel is None:
        return
    (low, high), (first, last) = outer[1], inner[1]
    radius = _TUBE * max(outer[0], inner[0])
    yield joint.first, _rod(radius, low, high, joint.p_i, joint.E_i[:, 2])
    upwards = first + last + travel[0] + travel[1] > low + high
    missing = first + travel[1] - high if upwards else low - last - travel[0]
    if missing > 0.0:
        missing += 3.0 * radius
        ends = (first - missing, first) if upwards else (last, last + missing)
        yield joint.second, _rod(0.5 * inner[0], *ends, joint.p_j, joint.E_j[:, 2])


def _bar(parts: Sequence[Part], point: Array, axis: Array) -> tuple[float, Span] | None:
    """Radius and ends of the longest bar along a line through a point [m]."""
    found = []
    for part in parts:
        size, along = np.sort(part.half), np.abs(part.matrix.T @ axis)
        off = point - part.at
        beside = float(np.linalg.norm(off - (off @ axis) * axis))
        k = int(np.argmax(part.half))
        if size[2] > _SLIM * size[1] and along[k] > 0.999 and beside < size[1] and part.kind != "mesh":
            middle = float(-off @ axis)
            found.append((float(size[1]), (middle - float(size[2]), middle + float(size[2]))))
    return max(found, key=lambda bar: bar[1][1] - bar[1][0], default=None)


def _rod(radius: float, low: float, high: float, point: Array, axis: Array) -> Part:
    return Part("cylinder", (radius, high - low), point + 0.5 * (low + high) * axis, along_z(axis))
