"""Why a model cannot be assembled, where two of its numbers say it: rates against drivers, angles in degrees, axes."""

from __future__ import annotations

from collections.abc import Iterator

from dalembert.compilation.pack_motions import motion_rates
from dalembert.compilation.wrong_angles import in_degrees
from dalembert.compilation.wrong_axes import wrong_axes
from dalembert.errors import AssemblyError
from dalembert.model.model import Model

SAME = 1e-9  # rates that are the same but for rounding, over the larger one
NO_VELOCITIES = "no velocities fit"


def explained(problem: AssemblyError, model: Model, t_0: float) -> AssemblyError:
    """The same error, with what the numbers of the model say about it."""
    text, joints = str(problem), problem.joints
    if text.startswith(NO_VELOCITIES) and (found := [*_rates_against_drivers(model, t_0)]):
        text = f"{NO_VELOCITIES}: {'; '.join(words for words, _ in found)}"
        joints = tuple(name for _, names in found for name in names)
    elif text.startswith(NO_VELOCITIES) and (wrong := [*wrong_axes(model)]):
        text = text.replace(": ", f": {'; '.join(wrong)}; ", 1)
    return AssemblyError("; ".join([text, *in_degrees(model)]), joints=joints)


def _rates_against_drivers(model: Model, t_0: float) -> Iterator[tuple[str, tuple[str, str]]]:
    for driver in model.drivers:
        if driver.joint is None:
            continue
        joint = model.joint(driver.joint)
        given = joint.rate[joint.coordinates.index(driver.primitive.labels[0])]
        asked = float(motion_rates(driver.primitive.motion, t_0)[0, 1])
        if given is not None and abs(given - asked) > SAME * max(abs(given), abs(asked)):
            unit = "rad/s" if driver.primitive.kind == "A" else "m/s"
            words = f"joint {joint.name!r} is given rate {given:.6g} {unit}, driver {driver.name!r} asks for {asked:.6g} {unit}"
            yield f"{words} at t = {t_0:.6g} s: leave out the rate", (joint.name, driver.name)
