"""What leaves a trail, and which point of it: one rule for pages and pictures, which stays as it is when bodies are added."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.model.elements import GROUND
from dalembert.model.model import Model
from dalembert.remarks.pins import AT, HINGES, Link, links_of

MOST_TRAILS = 12


def trails_of(model: Model) -> list[tuple[int, Array]]:
    """What leaves trails, and which point of it, in body axes: markers, which count behind the bodies, where there are some on
    bodies, for their paths are wanted; else all of a few bodies; of many, those at the ends of the tree, on which nothing else
    hangs. Of a bar it is the end away from the ground, of other bodies the centre of mass."""
    names, centre = [body.name for body in model.bodies], np.zeros(3)
    if marked := [len(names) + k for k, marker in enumerate(model.markers) if marker.body != GROUND]:
        return [(k, centre) for k in marked]
    firsts = {joint.first for joint in model.joints} if len(names) > MOST_TRAILS else set()
    left = [(b, name) for b, name in enumerate(names) if name not in firsts][:MOST_TRAILS]
    links, steps = links_of(model), _steps(model)
    bars = {name: link for name, link in links.items() if link is not None and link.bar}
    ends = {name: far_end(model, bars[name], steps) if name in bars else None for _, name in left}
    return [(b, centre if (end := ends[name]) is None else end) for b, name in left]


def far_end(model: Model, bar: Link, steps: dict[str, float]) -> Array | None:
    """(3,) The end of a bar, in body axes, from which more joints lead to the ground, or none, as where it is free; None where
    both are alike, as of a coupler."""
    ends = [bar.middle + s * 0.5 * bar.length * bar.along for s in (-1.0, 1.0)]
    away = [np.inf, np.inf]
    for joint in (joint for joint in model.joints if not joint.members and bar.body in (joint.first, joint.second)):
        first = joint.first == bar.body
        point, frame, other = (joint.p_i, joint.E_i, joint.second) if first else (joint.p_j, joint.E_j, joint.first)
        axis = frame[:, 2] if joint.type in HINGES else np.zeros(3)  # a hinge is anywhere along it
        for k, end in enumerate(ends):
            way = point - end
            if np.linalg.norm(way - (way @ axis) * axis) <= AT * bar.length:
                away[k] = min(away[k], steps[other])
    return None if away[0] == away[1] else ends[int(away[1] > away[0])]


def _steps(model: Model) -> dict[str, float]:
    """How many joints lead from the ground to each body; more than there are where none do."""
    steps = dict.fromkeys((body.name for body in model.bodies), 1.0 + len(model.joints)) | {GROUND: 0.0}
    for _ in model.bodies:
        before = dict(steps)
        for joint in (joint for joint in model.joints if not joint.members):
            for name, other in ((joint.first, joint.second), (joint.second, joint.first)):
                steps[name] = min(steps[name], steps[other] + 1.0)
        if steps == before:
            break
    return steps
