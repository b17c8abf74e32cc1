"""dalembert check"""

from __future__ import annotations

from dataclasses import asdict
from math import inf, isfinite, pi
from typing import TYPE_CHECKING, Any

from dalembert.cli.console import AsJson, ModelName, Set, Verbose, Voice, print_json, reported_errors
from dalembert.cli.method import Coordinates, known_kind
from dalembert.cli.words import in_options

if TYPE_CHECKING:
    from dalembert.compilation.compiled import Compiled
    from dalembert.compilation.mechanism import Mechanism
    from dalembert.model.assembly import Assembly

MOST_BODIES = 6  # that are told without --verbose
_POSES, _TURNS = 201, 20  # that are looked at, in as many turns of the fastest driver at most


def check(
    model: ModelName, set_: Set = None, coordinates: Coordinates = None, verbose: Verbose = False, as_json: AsJson = False
) -> None:
    """Assemble a mechanism without running it: degrees of freedom, redundant joints, consistency of the initial data.

    Exit codes:
    0 = it can be simulated; 2 = bad input, or it cannot be assembled.
    """
    with reported_errors():
        from dalembert.cli.source import find_model
        from dalembert.compilation.compile import compile

        kind = known_kind(coordinates)
        source = find_model(model, set_)
        mechanism = compile(source.bodies, kind)
        findings = examine(source.name, mechanism, mechanism.assembly, source.t_end)
        if as_json:
            print_json(findings)
        else:
            _show(headline(source.name, mechanism), findings, mechanism, verbose)


def headline(name: str, mechanism: Compiled) -> str:
    """Name and size of a mechanism in one line."""
    from dalembert.remarks.row_words import freedom

    if mechanism.coordinates == "generalised":
        parts = [_count(mechanism.nq, "coordinate"), _count(len(mechanism.model.constraints), "constraint")]
    else:
        parts = [_count(len(mechanism.model.bodies), "body", "bodies"), _count(len(mechanism.model.joints), "joint")]
    parts.append(freedom(mechanism))
    if mechanism.redundant:
        parts.append(_count(len(mechanism.redundant), "redundant constraint row"))
    return f"{mechanism.model.name or name}: {', '.join(parts)}"


def _count(number: int, one: str, more: str | None = None) -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def examine(name: str, mechanism: Mechanism, assembly: Assembly, end: float | None = None) -> dict[str, Any]:
    """Everything that `check` shows, as plain data;  end : of a run, where it is known."""
    from dalembert.compilation.parts import unconnected
    from dalembert.remarks.body_words import body_facts, joint_facts
    from dalembert.remarks.doubts import MODEL, doubts
    from dalembert.remarks.driver_words import driven, strokes
    from dalembert.remarks.left_free import left_free
    from dalembert.remarks.periods import periods_apart
    from dalembert.results.versions import current_versions

    model = mechanism.model
    free = [*left_free(mechanism)]
    doubtful = [
        *(text for name, text in free if name == MODEL),
        *doubts(model, assembly),
        *strokes(mechanism, mechanism.t_0, end),
    ]
    return {
        "name": model.name or name,
        "bodies": len(model.bodies),
        "each_body": [asdict(facts) for facts in body_facts(model)],
        "each_joint": [
            {"name": joint.name, "type": joint.type, "bodies": [*joint.bodies], "at": at}
            for joint, at in joint_facts(model, assembly.bodies)
        ],
        "gravity": model.gravity.tolist(),
        "joints": len(model.joints),
        "drivers": len(model.drivers),
        "forces": len(model.forces),
        "degrees_of_freedom": mechanism.degrees_of_freedom,
        "driven": [{"does": text, **facts} for text, facts in driven(mechanism, mechanism.t_0, end)],
        "constraint_rows": len(mechanism.rows),
        "rank": mechanism.rank,
        "out_of_plane_rows": len(mechanism.out_of_plane),
        "redundant_rows": [f"{row.element}.{row.label}" for row in mechanism.redundant],
        "redundant_joints": list(dict.fromkeys(row.element for row in mechanism.redundant)),
        "reactions_not_unique": list(mechanism.not_unique),
        "position_residual": {"given": assembly.position_residual[0], "assembled": assembly.position_residual[1]},
        "velocity_residual": {"given": assembly.velocity_residual[0], "assembled": assembly.velocity_residual[1]},
        "unconnected": unconnected(model),
        "left_free": {name: text for name, text in free if name != MODEL},
        "reach": _reach(mechanism, end),
        "moved": list(mechanism.moved),
        "completed": list(mechanism.completed),
        "warnings": [*mechanism.warnings, *periods_apart(mechanism), *doubtful],
        "doubts": doubtful,
        "coordinates": mechanism.coordinates,
        "sizes": {"q": mechanism.nq, "u": mechanism.nu},
        "versions": current_versions(),
        "model_hash": model.hash,
    }


def _reach(mechanism: Mechanism, end: float | None) -> dict[str, Any] | None:
    """Where a mechanism that is driven in all its freedoms goes no further: within a run, or a turn of its drivers."""
    import numpy as np

    from dalembert.errors import ModelError, SimulationError
    from dalembert.questions.kinematics import kinematics
    from dalembert.remarks.row_words import turning

    rates, drivers = turning(mechanism), {driver.name for driver in mechanism.model.drivers}
    speeds = sorted(map(abs, rates.values()))
    turn = 2.0 * pi / max(speeds[0], speeds[-1] / _TURNS) if drivers and drivers == rates.keys() else inf
    last = min(turn, inf if end is None else end)
    if not drivers or mechanism.degrees_of_freedom or mechanism.t_0 or not isfinite(last) or last <= 0.0:
        return None
    try:
        poses: Any = kinematics(mechanism, np.linspace(0.0, last, _POSES))
    except (ModelError, SimulationError):  # rows of velocities, poses that are singular from the start: what a run tells
        return None
    return None if poses.status == "complete" else {"t": poses.events[-1][1], "why": poses.message}


def _show(title: str, findings: dict[str, Any], mechanism: Mechanism, verbose: bool = False) -> None:
    from rich.table import Table

    from dalembert.remarks.body_words import body_facts, gravity_words, spring_words
    from dalembert.remarks.cures import cure
    from dalembert.remarks.doubts import look_at
    from dalembert.remarks.row_words import freedom, held_twice, not_unique

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")

    def add(name: str, text: str) -> None:
        table.add_row(name, in_options(text))

    f = findings
    held = f"{_count(f['joints'], 'joint')} and {_count(f['drivers'], 'driver')}"
    beside = f["out_of_plane_rows"]
    left = f", without {_count(beside, 'row')} out of the plane" if beside else ""
    rows = [("degrees of freedom", freedom(mechanism, alone=True))]
    rows += [("driven", item["does"]) for item in f["driven"]]
    rows += [("constraints", f"{f['constraint_rows'] - beside} rows of {held}, rank {f['rank']}{left}")]
    rows += [("redundant joints", ", ".join(f["redundant_joints"]) or "none")]
    if f["redundant_rows"]:
        rows += [("redundant rows", f"{held_twice(mechanism)}: other joints hold this already, the motion is not affected")]
    if f["reactions_not_unique"]:
        rows += [("reactions not unique", f"{not_unique(mechanism)}; for unique ones, {cure(mechanism)}")]
    rows += zip(("position residual", "velocity residual"), mechanism.assembly.residuals, strict=True)
    facts = [f"{item.name} {item.mass:.4g} kg{item.shown and f' ({item.shown})'}" for item in body_facts(mechanism.model)]
    rows += [("bodies", ", ".join(facts))] if len(facts) <= MOST_BODIES else []
    rows += spring_words(mechanism.model, mechanism.assembly.bodies)
    rows += [("gravity", gravity_words(mechanism.model))]
    for name, value in rows:
        add(name, value)
    if f["unconnected"]:
        add("unconnected", f"{', '.join(f['unconnected'])}: no joint, no force element; a joint may be missing")
    for name, item in f["left_free"].items():
        add(name, item)
    if mechanism.assembly.chosen:
        add("start", mechanism.assembly.choice)
    if f["reach"]:
        add("reach", f["reach"]["why"])
    for item in f["moved"] or ["nothing"]:
        add("assembly moved", item)
    for item in f["warnings"]:
        add("model" if item in f["doubts"] else "warning", item)
    if verbose:
        add("coordinates", f"{f['coordinates']}: {f['sizes']['q']} coordinates, {f['sizes']['u']} velocities")
        add("force elements", str(f["forces"]))
        add("versions", ", ".join(f"{name} {version}" for name, version in f["versions"].items()))
        add("model hash", f["model_hash"])
    voice = Voice()
    voice.say(title)
    voice.show(table)
    if verbose:
        bodies = Table("body", "mass", "inertia about its centre", "drawn as", box=None, pad_edge=False)
        for item in body_facts(mechanism.model):
            inertia = ", ".join(f"{value:.4g}" for value in item.inertia)
            inertia = f"({inertia})" if len(item.inertia) > 1 else inertia
            bodies.add_row(item.name, f"{item.mass:.4g} kg", f"{inertia} kg m^2" if inertia else "", item.shown)
        voice.say("")
        voice.show(bodies)
        voice.say("")
        joints = Table("joint", "type", "between", "at the start at [m]", box=None, pad_edge=False)
        for item in f["each_joint"]:
            at = ", ".join(f"{x:.4g}" for x in item["at"])
            joints.add_row(item["name"], item["type"], " - ".join(item["bodies"]), f"({at})")
        voice.show(joints)
        voice.say("")
    far = f" as far as t = {f['reach']['t']:.4g} s" if f["reach"] else ""
    voice.say(f"it can be simulated{far}{', but ' + look_at(f['doubts']) if f['doubts'] else ''}")
