"""What a page shows over time: curves by name, reactions, what force elements and drivers do, the sizes of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.model.elements import GROUND
from dalembert.model.joints import TRAVEL, type_of
from dalembert.model.model import Model
from dalembert.results.coupling_efforts import MEASURED
from dalembert.results.efforts import Effort
from dalembert.results.signal_names import effort_kind
from dalembert.results.solution import BodyResult

Kind = Literal["applied", "spring", "driver", "gravity"]

_LENGTHS = (*TRAVEL, "length")


@dataclass(frozen=True, eq=False)
class Load:
    """An arrow: a force [N] or torque [N m] on a body, world axes, at a point in body axes; values of gravity are (1, 3)."""

    tag: str
    kind: Kind
    what: Literal["force", "torque"]
    body: str
    point: Array
    values: Array


def groups(solution: BodyResult) -> Iterator[dict[str, Any]]:
    """Plots: name, unit, whether the axis is logarithmic, and (name, values at saved states) of each curve."""
    model = solution.mechanism.model
    with suppress(DalembertError):  # the report says why
        energy = solution.energy
        parts = [("kinetic T", energy.kinetic), ("potential U", energy.potential), ("total T + U", energy.total)]
        if np.any(energy.external_work):
            parts[2:] = [("external work W", energy.external_work), ("balance T + U − W", energy.total)]
        yield _group("energy", "J", parts)
        error = np.abs(energy.total - energy.total[0]) / energy.scale
        yield _group("energy error, relative", "", [("error", error)], log=True)
    with suppress(DalembertError):
        drift = solution.drift
        yield _group("constraint drift", "", [("position", drift.position), ("velocity", drift.velocity)], log=True)
    for joint in model.joints:
        if joint.coordinates:
            lengths = [name in _LENGTHS for name in joint.coordinates]
            unit = "m" if all(lengths) else "m, rad" if any(lengths) else "rad"
            for what, per in (("coordinate", ""), ("rate", "/s")):
                values = solution.coordinate(joint.name) if what == "coordinate" else solution.coordinate_rate(joint.name)
                columns = values.reshape(len(solution.t), -1).T
                series = [(name.replace("_", " "), column) for name, column in zip(joint.coordinates, columns, strict=True)]
                yield _group(f"{what} of {joint.name}", unit.replace(",", f"{per},") + per, series)
    for name, effort in efforts(solution).items():
        if effort.value is not None:
            columns = effort.value.reshape(len(solution.t), -1).T
            what, unit = effort_kind(model, name)
            labels = [what or "value"] if len(columns) == 1 else [f"value {k + 1}" for k in range(len(columns))]
            yield _group(f"effort of {name}", unit, list(zip(labels, columns, strict=True)))
        yield _group(f"power of {name}", "W", [("power", effort.power)])


def _group(name: str, unit: str, series: Sequence[tuple[str, Array]], log: bool = False) -> dict[str, Any]:
    return {"name": name, "unit": unit, "log": log, "series": series}


def efforts(solution: BodyResult) -> dict[str, Effort]:
    """What each driver, force element and coupling does; those whose functions are not in the file are left out."""
    found, model = {}, solution.mechanism.model
    acting = [force.name for force in model.forces] + [joint.name for joint in model.joints if joint.type in MEASURED]
    for name in (*(driver.name for driver in model.drivers), *acting):
        with suppress(DalembertError):
            found[name] = solution.effort(name)
    return found


def loads(solution: BodyResult) -> Iterator[Load]:
    """All arrows beside reactions, the same ones for every part of a run: elements that only push have no torque."""
    model = solution.mechanism.model
    known = efforts(solution)
    for k, force in enumerate(model.forces):
        yield from _of_force(solution, k, known.get(force.name))
    for k, driver in enumerate(model.drivers):
        with suppress(DalembertError):
            reaction, point = solution.reaction(driver.name), driver.primitive.p_j
            body, sign = (driver.second, 1.0) if driver.second != GROUND else (driver.first, -1.0)
            yield Load(f"driver {k}", "driver", "force", body, point, sign * reaction.force)
            yield Load(f"driver {k}", "driver", "torque", body, point, sign * reaction.torque)
    weightless = solution.settings.get("without_mass", ())
    for b, heavy in enumerate(model.bodies):
        if np.any(model.gravity) and heavy.name not in weightless:
            yield Load(f"body {b}", "gravity", "force", heavy.name, np.zeros(3), heavy.mass * model.gravity[None])


def applied(solution: BodyResult) -> Iterator[Load]:
    """Of these, the forces and torques on bodies that the model says, as far as their functions are at hand."""
    for k, force in enumerate(solution.mechanism.model.forces):
        if force.noun in ("force", "torque"):
            with suppress(DalembertError):
                yield from (load for load in _of_force(solution, k, solution.effort(force.name)) if load.what == force.noun)


def _of_force(solution: BodyResult, k: int, effort: Effort | None) -> Iterator[Load]:
    """What a force element does to bodies, NaN where that is not known."""
    model, nothing = solution.mechanism.model, np.full((len(solution.t), 3), np.nan)
    force = model.forces[k]
    kind: Kind = "spring" if force.glyph == "spring" else "applied"
    for body, point in force.sides({joint.name: joint for joint in model.joints}):
        if body == GROUND:
            continue
        wrench = None if effort is None else effort.on[body]
        if force.noun != "torque":
            yield Load(f"force {k}", kind, "force", body, point, nothing if wrench is None else wrench.force)
        if not force.places():
            yield Load(f"force {k}", kind, "torque", body, point, nothing if wrench is None else wrench.torque)


def turning(model: Model) -> list[int]:
    """Joints whose reaction may have a torque about the joint point."""
    return [k for k, joint in enumerate(model.joints) if type_of(joint).holds_rotation]


def reactions(solution: BodyResult, quantity: Literal["force", "torque"], joints: Sequence[int]) -> Array:
    """(nt, joints, 3) on the second bodies, world axes [N or N m]; NaN where they cannot be computed."""
    values = np.full((len(solution.t), len(joints), 3), np.nan)
    with suppress(DalembertError):  # the report says why
        for k, joint in enumerate(joints):
            values[:, k] = getattr(solution.reaction(solution.mechanism.model.joints[joint].name), quantity)
    return values


def twists(solution: BodyResult) -> Array:
    """(nt, bodies and markers, 6) velocities [m/s] and angular velocities [rad/s], world axes."""
    model = solution.mechanism.model
    names = [(body.name, body.name) for body in model.bodies] + [(marker.name, marker.body) for marker in model.markers]
    each = [np.concatenate([solution.velocity(name), solution.angular_velocity(body)], axis=1) for name, body in names]
    return np.stack(each, axis=1) if each else np.zeros((len(solution.t), 0, 6))


def step_sizes(solution: BodyResult) -> tuple[Array, Array]:
    """Ends of steps [s] and how long they were [s]; empty where a long run kept only some of its steps.

    Of more than two thousand the shortest of each neighbourhood is kept.
    """
    cost = solution.statistics
    t = np.union1d(solution.t[:1], solution.t if solution.watched is None else solution.watched[0])
    ends, sizes = t[1:], np.diff(t)
    whole = sizes[:-1]  # the last one is cut off at the end of the run
    counted = [cost.smallest_step, cost.largest_step]
    if not len(whole) or not np.allclose([whole.min(), whole.max()], counted, rtol=1e-6, atol=0.0):  # chosen times
        return np.zeros(0), np.zeros(0)
    starts = np.unique(np.linspace(0, len(ends), min(2001, len(ends) + 1)).astype(int))[:-1]
    which = [int(a + sizes[a:b].argmin()) for a, b in zip(starts, [*starts[1:], len(ends)], strict=True)]
    return ends[which], sizes[which]
