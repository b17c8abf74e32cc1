"""What models and runs show of themselves as the result of a notebook's cell."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import escape
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compile import compile, usual_coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import DalembertError
from dalembert.model.model import Model
from dalembert.remarks.row_words import freedom
from dalembert.results.html_parts import BAD, CARE, GOOD, PLAIN, badge, beside, folded, runs_html, small_curves, table
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.report import Report
from dalembert.results.sampling import curve
from dalembert.results.signal_names import words_of
from dalembert.results.solution import BodyResult, Result

_MOST_BODIES = 80  # of a picture that takes no time
_CURVES = 4


def model_html(model: Model) -> str:
    """A picture of the assembled model, its joints and degrees of freedom; where it cannot be assembled, why."""
    name = f"<b>{escape(model.name or 'model')}</b>"
    try:
        mechanism: Mechanism | None = compile(model, usual_coordinates(model)) if model.bodies else None
    except DalembertError as problem:
        return f"<div>{name} {badge('cannot be assembled', BAD)}<div>{escape(str(problem))}</div>{_joints(model, None)}</div>"
    if mechanism is None:
        return f"<div>{name} {badge('no bodies yet')}</div>"
    head = badge(freedom(mechanism))
    redundant = ", ".join(dict.fromkeys(row.element for row in mechanism.redundant))
    head += f" {badge(f'redundant: {redundant}', CARE)}" if redundant else ""
    bodies = table(("body", "kind", "mass [kg]"), [(b.name, b.kind, f"{b.mass:g}") for b in model.bodies])
    lists = _joints(model, mechanism) + folded("bodies", bodies)
    if model.forces or model.drivers:
        rows = [(d.name, "driver", d.joint or f"{d.first} - {d.second}") for d in model.drivers]
        rows += [(f.name, f.noun, " - ".join(f.ends({j.name: j for j in model.joints}))) for f in model.forces]
        lists += folded("forces and drivers", table(("name", "kind", "acts on"), rows))
    result = BodyResult(mechanism, np.zeros(1), mechanism.x_0[None], settings={})
    return f"<div>{name} {head}{beside(thumbnail(result), lists)}</div>"


def _joints(model: Model, mechanism: Mechanism | None) -> str:
    """With how many rows each has, in the plane of a plane model, where they are known."""
    beside = () if mechanism is None else mechanism.out_of_plane
    counts = Counter(row.element for row in (mechanism.rows if mechanism else ()) if row not in beside)
    rows = [(j.name, j.type, " - ".join(j.bodies), *([counts[j.name]] if mechanism else [])) for j in model.joints]
    return table(("joint", "type", "between", "rows")[: 3 + bool(mechanism)], rows) if rows else "no joints"


def thumbnail(result: BodyResult, size: tuple[int, int] = (320, 240)) -> str:
    """The first state as a small picture; nothing where it cannot be drawn."""
    from dalembert.viewer.animation import Film
    from dalembert.viewer.frames import poses

    if len(result.mechanism.body_names) > _MOST_BODIES:
        return ""
    try:
        film = Film(result, size)
        film.title = ""  # it stands above the picture
        picture = film.picture(film.start, poses(film.motion, np.array([film.start]))[0], 1.0, "")
    except DalembertError:
        return ""
    data = io.BytesIO()
    picture.save(data, "PNG", optimize=True)
    return (
        f'<img width="{size[0]}" alt="the mechanism" src="data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}">'
    )


def solution_html(solution: Result, report: Report) -> str:
    """The verdict, and the motion in two small pictures; the report is folded."""
    colour = {"pass": GOOD, "FAIL": BAD, "WARN": CARE}.get(report.verdict, PLAIN)
    head = f"{badge(report.headline, colour)} {escape(repr(solution).strip('<>'))}"
    curves = []
    if len(solution.t) > 1:
        smooth = curve(solution)
        curves.append(_motion(smooth))
        try:
            e = smooth.energy
            shown = {"kinetic": e.kinetic, "potential": e.potential, "T + U - W": e.total}
            curves.append(small_curves("energy", smooth.t, shown, "J", solution.along))
        except DalembertError:  # the report says why
            pass
    return f"<div>{head}{beside(*curves)}{folded('trust report', report._repr_html_())}</div>"


def ensemble_html(runs: Any) -> str:
    """How many runs ended how, and the same coordinate of some of them; runs : an `Ensemble`"""
    some = [k for k in np.unique(np.linspace(0, len(runs) - 1, _CURVES).round().astype(int)) if runs.status[k] == "complete"]
    drawn = ""
    if some and len(runs.t) > 1:
        name, unit, values = next(_coordinates(runs[int(some[0])]), ("", "", None))
        found = {f"run {k}": next(_coordinates(runs[int(k)]))[2] for k in some} if values is not None else {}
        drawn = small_curves(name, runs.t, found, unit) if found else ""
    return runs_html(repr(runs).strip("<>"), runs.status.tolist(), runs.message) + drawn


def _motion(solution: Result) -> str:
    """The first few joint coordinates, those of driven joints first, coordinates or heights."""
    if found := [*_coordinates(solution)]:
        units = " or ".join(sorted({unit for _, unit, _ in found}, reverse=True))
        return _few("joint coordinates", solution, {name: values for name, _, values in found}, units)
    assert isinstance(solution, BodyResult)
    return _few("z of bodies", solution, {name: solution.position(name)[:, 2] for name in solution.mechanism.body_names}, "m")


def _coordinates(solution: Result) -> Iterator[tuple[str, str, Array]]:
    """Name, unit and values of coordinates, those of driven joints first."""
    if isinstance(solution, LagrangianResult):
        yield from ((name, "", solution[name]) for name in solution.model.coordinates)
        return
    assert isinstance(solution, BodyResult)
    model = solution.mechanism.model
    driven = {driver.joint for driver in model.drivers}
    for joint in sorted(model.joints, key=lambda joint: joint.name not in driven):
        if len(joint.coordinates) == 1:
            with suppress(DalembertError):
                values = np.asarray(solution.coordinate(joint.name)).reshape(len(solution.t))
                yield joint.name, words_of(model, "coordinate", joint.name, joint.coordinates[0])[1], values


def _few(title: str, solution: Result, curves: Mapping[str, Array], unit: str = "") -> str:
    """The first few curves, and how many more there are."""
    drawn = small_curves(title, solution.t, dict([*curves.items()][:_CURVES]), unit, solution.along)
    more = len(curves) - _CURVES
    return drawn + (f'<div style="font-size:11px;padding-left:8px">and {more} more</div>' if drawn and more > 0 else "")
