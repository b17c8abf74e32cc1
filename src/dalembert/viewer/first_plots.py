"""What a page plots until its reader chooses."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import compress, islice

import numpy as np

from dalembert.errors import DalembertError
from dalembert.model.elements import GROUND
from dalembert.remarks.row_words import turning as steady_rates
from dalembert.results.signal_names import words_of
from dalembert.results.solution import BodyResult
from dalembert.viewer.channels import CHANGE, coordinate_plots

_TOGETHER = 6  # curves in one plot


def first_plots(motion: BodyResult, scale: float) -> list[list[str]]:
    """What moves, and what drivers take for it or how fast; energy, or its changes where `plot.energy` has them. Each as the
    name of a plot and those of curves that it has beside.

    One unit in each: as many coordinates as move freely or are driven, what turns steadily only where nothing else moves. Of a
    joint with several coordinates those alone.
    """
    model = motion.mechanism.model
    moved, fast = _moving(motion, scale)
    takes = [words_of(model, "effort", driver.name, "") for driver in model.drivers]
    acts = takes and all(body.mass for body in model.bodies)
    far = False
    with suppress(DalembertError):  # the report says why
        far = motion.energy.far
    return [moved, _together(takes) if acts else fast, [CHANGE if far else "energy"]]


def _moving(motion: BodyResult, scale: float) -> tuple[list[str], list[str]]:
    """Plots of coordinates and of their rates; of the body that goes furthest where no joint has any."""
    model = motion.mechanism.model
    driven, steady = [driver.joint for driver in model.drivers], steady_rates(motion.mechanism)
    ramps = {driver.joint for driver in model.drivers if driver.name in steady}
    # what turns steadily last, else what is driven, then those with one coordinate, those on the ground, pins before rails
    order = {
        j.name: (
            *(j.name in ramps, j.name not in driven, len(j.coordinates) > 1, GROUND not in j.bodies),
            "angle" not in j.coordinates,
        )
        for j in model.joints
    }
    moving = (
        (joint, coordinate[:2], rate[:2])
        for joint in sorted(model.joints, key=lambda joint: order[joint.name])
        for coordinate, rate in zip(*(coordinate_plots(model, joint, kind) for kind in ("coordinate", "rate")), strict=True)
        if np.ptp(motion.coordinate(joint.name).reshape(len(motion.t), -1)[:, coordinate[2]], axis=0).max() > 1e-6 * scale
    )
    free = motion.mechanism.degrees_of_freedom + sum(driver.name not in steady for driver in model.drivers)
    found = list(islice(moving, min(max(free, 1), _TOGETHER)))
    if not found:
        paths = {body.name: float(np.ptp(motion.position(body.name), axis=0).max()) for body in model.bodies}
        most = max(paths, key=lambda name: paths[name])
        return [f"position of {most}"], [f"velocity of {most}"]
    alone = [len(joint.coordinates) == 1 for joint, _, _ in found]
    _, coordinates, rates = zip(*(compress(found, alone) if alone[0] else found[:1]), strict=True)
    return _together(coordinates), _together(rates)


def _together(known: Sequence[tuple[str, str]]) -> list[str]:
    """A few of what is known by names and units: those of the first one's unit."""
    return [name for name, unit in known if unit == known[0][1]][:_TOGETHER]
