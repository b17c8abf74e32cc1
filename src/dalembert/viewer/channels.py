"""What a page shows over time: curves by name, reactions, what force elements and drivers do, the sizes of steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.model.elements import GROUND, Joint
from dalembert.model.joints import direction_of, type_of
from dalembert.model.model import Model
from dalembert.results.angles import body_angle, body_rate
from dalembert.results.coupling_efforts import MEASURED
from dalembert.results.efforts import Effort
from dalembert.results.signal_names import effort_kind, turning_bodies, words_of
from dalembert.results.solution import BodyResult

Kind = Literal["load", "applied", "spring", "driver", "gravity"]

CHANGE = "change of energy"
_SAID = ("force", "torque")  # nouns of what a model says to act on a body


@dataclass(frozen=True, eq=False)
class Load:
    """An arrow: a force [N] or torque [N m] on a body, world axes, at a point in body axes; values of gravity are (1, 3).

    kind : "load" where the model says this force or torque on the body itself
    """

    tag: str
    kind: Kind
    what: Literal["force", "torque"]
    body: str
    point: Array
    values: Array


def groups(solution: BodyResult, coordinates: Collection[str] | None = None) -> Iterator[dict[str, Any]]:
    """Plots: name, unit, whether the axis is logarithmic, (name, values at saved states, signal) of each curve, the element.

    Names are those of signals: what `dalembert plot` writes at its axes.  coordinates : only these, by the names of their plots
    """
    model = solution.mechanism.model
    with suppress(DalembertError):  # the report says why
        energy = solution.energy
        parts = [("kinetic T", energy.kinetic, "kinetic_energy"), ("potential U", energy.potential, "potential_energy")]
        if np.any((solution.source or solution).energy.external_work):  # some states of a run have the same plots
            parts.append(("external work W", energy.external_work, "external_work"))
        parts.append(("balance T + U − W" if len(parts) > 2 else "total T + U", energy.total, "total_energy"))
        yield _group("energy", "J", parts)
        error = np.abs(energy.total - energy.total[0]) / energy.scale
        yield _group("energy error, relative", "", [("energy error, relative", error, "")], log=True)
        yield _group(CHANGE, "J", [(f"change of {name}", values - values[0], "") for name, values, _ in parts])
    with suppress(DalembertError):
        drift = solution.drift
        drifts = [("position drift", drift.position, ""), ("velocity drift", drift.velocity, "")]
        yield _group("constraint drift", "", drifts, log=True)
    for k, joint in enumerate(model.joints):
        for what, of in (("coordinate", solution.coordinate), ("rate", solution.coordinate_rate)):
            plots = [plot for plot in coordinate_plots(model, joint, what) if coordinates is None or plot[0] in coordinates]
            if not plots:
                continue
            columns = of(joint.name).reshape(len(solution.t), -1).T
            for name, unit, some in plots:
                words = [words_of(model, what, joint.name, joint.coordinates[part])[0] for part in some]
                signals = [_signal(joint, part, what) for part in some]
                yield _group(name, unit, list(zip(words, columns[some], signals, strict=True)), tag=f"joint {k}")
    for name in turning_bodies(model):
        for kind, angle in (("angle", body_angle), ("turning", body_rate)):
            with suppress(DalembertError):
                label, unit = words_of(model, kind, name, "rate")
                signal = f"{name}.angle" if kind == "angle" else f"{name}.angle.rate"
                yield _group(label, unit, [(label, angle(solution, name), signal)])
    tags = {force.name: f"force {k}" for k, force in enumerate(model.forces)}
    tags |= {driver.name: f"driver {k}" for k, driver in enumerate(model.drivers)}
    measured = {joint.name: (f"joint {k}", joint) for k, joint in enumerate(model.joints) if joint.type in MEASURED}
    for name, effort in efforts(solution).items():
        tag = tags[name] if name in tags else measured[name][0]
        label, unit = words_of(model, "effort", name, "")
        if effort.value is not None:
            columns = effort.value.reshape(len(solution.t), -1).T
            if name in measured and (coupled := measured[name][1].coupled):
                turns = {direction_of(model.joint(other), component) is None for other, component in coupled}
                unit = unit if len(turns) > 1 else "N m" if turns.pop() else "N"
                labels = [f"{label} on {other}" for other, _ in coupled]
            else:
                labels = [label] if len(columns) == 1 else [f"{label}, {k + 1}" for k in range(len(columns))]
            signals = [name if effort_kind(model, name)[0] else ""] * len(columns)
            yield _group(label, unit, list(zip(labels, columns, signals, strict=True)), tag=tag)
        label, unit = words_of(model, "power", name, "")
        yield _group(label, unit, [(label, effort.power, f"{name}.power" if name in tags else "")], tag=tag)


def coordinate_plots(model: Model, joint: Joint, kind: str) -> Iterator[tuple[str, str, list[int]]]:
    """Name, unit, and which coordinates of a joint are in a plot: those of one unit; kind : "coordinate" or "rate" """
    units = [words_of(model, kind, joint.name, part)[1] for part in joint.coordinates]
    for unit in dict.fromkeys(units):
        parts = [k for k, one in enumerate(units) if one == unit]
        several = ", ".join(dict.fromkeys(joint.coordinates[k].split("_")[0] for k in parts))  # angle_first, angle_second
        part = several if len(parts) > 1 else joint.coordinates[parts[0]]
        yield words_of(model, kind, joint.name, part)[0], unit, parts


def _signal(joint: Joint, part: int, kind: str) -> str:
    """Of a coordinate, or its rate where that is a signal."""
    coordinate = joint.coordinates[part]
    name = joint.name if len(joint.coordinates) == 1 else f"{joint.name}.{coordinate}"
    return name if kind == "coordinate" else "" if coordinate.startswith("rot") else f"{name}.rate"


def _group(name: str, unit: str, series: Sequence[tuple[str, Array, str]], log: bool = False, tag: str = "") -> dict[str, Any]:
    return {"name": name, "unit": unit, "log": log, "tag": tag, "series": series}


def vectors(model: Model, acting: Sequence[Load]) -> Iterator[dict[str, Any]]:
    """Plots of the vectors that a page has in tables: the first of three columns; names and signals of the components that
    there are, all or those of a model in a plane, and of the size.

    acting : loads with columns of their own
    """
    inside = [k for k in range(3) if model.plane is None or "xyz"[k] in model.plane]
    about = [k for k in range(3) if model.plane is None or k not in inside]
    rigid = {body.name for body in model.bodies if body.kind == "rigid"}

    def plot(table: str, at: int, tag: str, kind: str, owner: str, stem: str, name: str, on: str = "") -> dict[str, Any]:
        axes = about if stem in ("t", "w") else inside
        ends = ["xyz"[k] for k in axes] + [""] * (kind != "position")
        words = [words_of(model, kind, owner, stem + end) for end in ends]
        labels = [label + on for label, _ in words]
        told = not on and (kind != "spin" or owner in rigid)
        return {
            "name": name or labels[-1].replace("|", "", 2),
            "unit": words[0][1],
            "tag": tag,
            "table": table,
            "at": at,
            "axes": axes,
        } | {
            "series": labels,
            "signals": [f"{owner}.{stem}{end}" if told else "" for end in ends],
        }

    for k, joint in enumerate(model.joints):
        yield plot("reactions", 3 * k, f"joint {k}", "load", joint.name, "f", "")
    for n, k in enumerate(turning(model)):
        yield plot("torques", 3 * n, f"joint {k}", "load", model.joints[k].name, "t", "")
    for b, name in enumerate((*(body.name for body in model.bodies), *(marker.name for marker in model.markers))):
        yield plot("poses", 7 * b, f"body {b}", "position", name, "", f"position of {name}")
        yield plot("twists", 6 * b, f"body {b}", "velocity", name, "v", f"velocity of {name}")
        yield plot("twists", 6 * b + 3, f"body {b}", "spin", name, "w", "")
    joints = {joint.name: joint for joint in model.joints}
    ends = {f"force {k}": (force.name, [body for body, _ in force.sides(joints)]) for k, force in enumerate(model.forces)}
    ends |= {f"driver {k}": (driver.name, [driver.first, driver.second]) for k, driver in enumerate(model.drivers)}
    for k, load in enumerate(acting):
        name, bodies = ends[load.tag]
        alone = load.body == bodies[-1] and {*bodies} <= {GROUND, load.body}  # signals tell what acts on the last one
        yield plot("loads", 3 * k, load.tag, "load", name, load.what[0], "", "" if alone else f" on {load.body}")


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
            reaction, row = solution.reaction(driver.name), driver.primitive
            own = driver.second != GROUND
            body, point, sign = (driver.second, row.p_j, 1.0) if own else (driver.first, row.p_i, -1.0)
            yield Load(f"driver {k}", "driver", "force", body, point, sign * reaction.force)
            if driver.joint is not None:  # a torque may be anywhere on a body: it is looked for at the joint
                joint = model.joint(driver.joint)
                point = joint.p_j if own else joint.p_i
            yield Load(f"driver {k}", "driver", "torque", body, point, sign * reaction.torque)
    weightless = solution.settings.get("without_mass", ())
    for b, heavy in enumerate(model.bodies):
        if np.any(model.gravity) and heavy.name not in weightless:
            yield Load(f"body {b}", "gravity", "force", heavy.name, np.zeros(3), heavy.mass * model.gravity[None])


def applied(solution: BodyResult) -> Iterator[Load]:
    """Of these, what pictures and pages show at first: what the model says itself, as far as its functions are at hand."""
    for k, force in enumerate(solution.mechanism.model.forces):
        if force.noun in _SAID:
            with suppress(DalembertError):
                yield from _of_force(solution, k, solution.effort(force.name))


def _of_force(solution: BodyResult, k: int, effort: Effort | None) -> Iterator[Load]:
    """What a force element does to bodies, NaN where that is not known."""
    model, nothing = solution.mechanism.model, np.full((len(solution.t), 3), np.nan)
    force = model.forces[k]
    kind: Kind = "load" if force.noun in _SAID else "spring" if force.glyph == "spring" else "applied"
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
