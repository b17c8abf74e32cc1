"""What planar coordinates leave out of forces: what of them leaves the plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.model.serialise import MissingFunction

if TYPE_CHECKING:
    from dalembert.compilation.mechanism import Mechanism


def leaving_plane(states: Trajectory) -> Iterator[tuple[str, Array]]:
    """Name of each force or torque given as a function, and (nt,) what of it leaves the plane [N] or [N m]."""
    plane = states.mechanism.plane
    assert plane is not None
    for force in states.mechanism.functions:
        if not isinstance(force.function, MissingFunction):
            yield force.name, force.leaving(states, plane.normal)


def check_forces(mechanism: Mechanism) -> None:
    """Refuse what leaves the plane at the start."""
    if mechanism.plane is None or not mechanism.model.forces:
        return
    start, normal = Trajectory(mechanism, np.zeros(1), mechanism.x_0[None]), mechanism.plane.normal
    for force in mechanism.model.forces:
        if isinstance(force.function, MissingFunction):
            continue
        try:
            leaves = force.leaving(start, normal)[0] > 0
        except ModelError:
            raise
        except Exception:  # of the user's function: the run will say so, and name it
            continue
        if leaves:
            shown = ", ".join(f"{v + 0.0:.4g}" for v in normal)
            raise ModelError(
                f"{force.noun} {force.name!r} leaves the plane with normal ({shown}) at t = 0; use coordinates='absolute'"
            )
