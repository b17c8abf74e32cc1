"""How large a mechanism is."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism


def size_of(mechanism: Mechanism, x: Array) -> float:
    """How far bodies and joints of a state are from each other [m]."""
    start = mechanism.trajectory(np.zeros(1), x[None])
    points = [start.position(body.name)[0] for body in mechanism.model.bodies]
    for joint in mechanism.model.joints:
        points += [start.point(joint.first, joint.p_i)[0], start.point(joint.second, joint.p_j)[0]]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) or 1.0
