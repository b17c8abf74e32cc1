"""Points and bodies far from all the rest of a model, as where one is in millimetres among metres: one sentence for each.

Most points of a model are about its middle. What is a hundred times as far from there as those are from each other is hardly
meant; but ropes are long, and orbits large. So a joint has to be left among the others; its numbers exceed theirs, and are not
below 1, which would be less than a millimetre; the origin and markers of the ground may be anywhere; a point of a body is
doubted where its body is among the others, and a body where two of its joints are. Pins of what is drawn as a link are told by
pins.py; a model whose gravity is told in mm/s^2 means them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.wrong_axes import shown_axis
from dalembert.model.cables import CABLE, cable_points
from dalembert.model.elements import GROUND, Joint
from dalembert.model.frames import world_point
from dalembert.model.model import Model
from dalembert.model.plane import InPlane
from dalembert.remarks.pins import PINS, links_of

FAR = 100.0  # from the middle, over the size of what is about it; millimetres make 1000 times as much
FEW = 0.25  # of all elements; more may be in layers
ROUNDING = 1e-12  # of the largest coordinate
IN_MILLIMETRES = 1000.0  # gravity of that and more is told in mm/s^2


def points_far_off(model: Model) -> Iterator[tuple[str, str]]:
    """Names of elements, and a sentence for each."""
    elements, links = _elements(model), links_of(model)
    middle, size = _most(np.array([x for _, places in elements for *_, x in places]).reshape(-1, 3))
    numbers = max(float(np.abs(middle).max()) + size, 1.0)
    if size == 0.0 or np.linalg.norm(model.gravity) >= IN_MILLIMETRES:
        return

    def off(x: Array) -> float:
        """0 for what is not far."""
        distance = float(np.linalg.norm(x - middle))
        return distance if distance > FAR * size and np.abs(x).max() >= numbers else 0.0

    joints = [places for _, places in elements[: len(model.joints)] if places]
    kept = [{body for _, body, *_ in places} for places in joints if not any(off(x) for *_, x in places)]
    bodies = {body.name: sum(body.name in held for held in kept) > 1 for body in model.bodies if off(body.position)}
    told_by_pins = {one.name for one in model.joints if one.type in PINS and any(links.get(name) for name in one.bodies)}
    for name, places in elements if kept else ():
        for words, body, p, x in places if name not in told_by_pins else ():
            meant = not p.any() if body == GROUND else body in bodies and not (bodies[body] and words.startswith("body"))
            if not meant and (distance := off(x)):
                told = f"{words} {distance:.4g} m off, at {shown_axis(x)}, and all the rest is {size:.3g} m large"
                yield name, f"{told}: lengths are in m, 500 mm are 0.5"
                break


def points_off_plane(model: Model) -> Iterator[str]:
    """A few points of a model in a plane that are farther from that of most than it is large: one sentence for all."""
    if model.plane is None:
        return
    n, elements = InPlane(model.plane).normal, [places for _, places in _elements(model) if places]
    level = np.median([n @ x for places in elements for *_, x in places]) if elements else 0.0
    _, size = _most(np.array([x - (n @ x) * n for places in elements for *_, x in places]).reshape(-1, 3))
    worst = [max(places, key=lambda place: abs(float(n @ place[3]) - level)) for places in elements]
    off = [(words, x, far) for words, _, _, x in worst if (far := abs(float(n @ x) - level)) > size > 0.0]
    if off and len(off) <= FEW * len(elements):
        words, x, far = off[0]
        more = f" ({len(off) - 1} more are, too)" if len(off) > 1 else ""
        told = f"{words} {far:.4g} m off the plane{more}, at {shown_axis(x)}, and all the rest is {size:.3g} m large"
        yield f'{told}: give two numbers in plane="{model.plane}", with points for decimals'


def _elements(model: Model) -> list[tuple[str, list[tuple[str, str, Array, Array]]]]:
    """Names of joints, then of all else; of each point words for it, its body, its place there and in the world."""
    bodies = {body.name: body for body in (model.ground, *model.bodies)}
    given = [("joint", joint.name, _places(joint)) for joint in model.joints]
    given += [(force.noun, force.name, force.places()) for force in model.forces]
    given += [("marker", marker.name, ((marker.body, marker.point),)) for marker in model.markers if marker.body != GROUND]
    found = [
        (name, [(f"{noun} {name!r} has a point of {body!r}", body, p, world_point(bodies[body], p)) for body, p in places])
        for noun, name, places in given
    ]
    return found + [(body.name, [(f"body {body.name!r} is", body.name, np.zeros(3), body.position)]) for body in model.bodies]


def _most(points: Array) -> tuple[Array, float]:
    """Middle and size of the larger part of points, up to where the next is far from it; size 0 where it is rounding."""
    if not len(points):
        return np.zeros(3), 0.0
    middle, rounding = np.median(points, axis=0), ROUNDING * float(np.abs(points).max())
    distances = np.linalg.norm(points - middle, axis=1)
    order = np.argsort(distances)
    near, next_ = distances[order[:-1]], distances[order[1:]]
    gaps = (np.flatnonzero((near > rounding) & (next_ > FAR * near)) + 1).tolist()
    count = next((k for k in gaps if 2 * k > len(points)), len(points))
    size = float(np.linalg.norm(np.ptp(points[order[:count]], axis=0)))
    return middle, size if size > rounding else 0.0


def _places(joint: Joint) -> Sequence[tuple[str, Array]]:
    """Bodies that a joint holds, and where; nothing of couplings and of constraints of the user."""
    if joint.type == CABLE and joint.primitives:
        return cable_points(joint)
    if joint.coupled or joint.members or any(row.function is not None for row in joint.primitives):
        return ()
    return (joint.first, joint.p_i), (joint.second, joint.p_j)
