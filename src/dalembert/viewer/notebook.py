"""What models and runs show of themselves as the result of a notebook's cell."""

from __future__ import annotations

import base64
import io
from html import escape

import numpy as np

from dalembert.compilation.compile import compile, usual_coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import DalembertError
from dalembert.model.model import Model
from dalembert.remarks.row_words import freedom
from dalembert.results.html_parts import BAD, CARE, GOOD, PLAIN, badge, beside, folded, small_curves, table
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.report import Report
from dalembert.results.solution import BodyResult, Result

_MOST_BODIES = 80  # of a picture that takes no time
_CURVES = 4


def model_html(model: Model) -> str:
    """A picture of the assembled model, its joints and degrees of freedom; where it cannot be assembled, why."""
    name = f"<b>{escape(model.name or 'model')}</b>"
    try:
        mechanism: Mechanism | None = compile(model, usual_coordinates(model)) if model.bodies else None
    except DalembertError as problem:
        return f"<div>{name} {badge('cannot be assembled', BAD)}<div>{escape(str(problem))}</div>{_joints(model)}</div>"
    if mechanism is None:
        return f"<div>{name} {badge('no bodies yet')}</div>"
    head = badge(freedom(mechanism))
    redundant = ", ".join(dict.fromkeys(row.element for row in mechanism.redundant))
    head += f" {badge(f'redundant: {redundant}', CARE)}" if redundant else ""
    bodies = table(("body", "kind", "mass [kg]"), [(b.name, b.kind, f"{b.mass:g}") for b in model.bodies])
    lists = _joints(model) + folded("bodies", bodies)
    if model.forces or model.drivers:
        rows = [(d.name, "driver", d.joint or f"{d.first} - {d.second}") for d in model.drivers]
        rows += [(f.name, f.noun, " - ".join(f.ends({j.name: j for j in model.joints}))) for f in model.forces]
        lists += folded("forces and drivers", table(("name", "kind", "acts on"), rows))
    result = BodyResult(mechanism, np.zeros(1), mechanism.x_0[None], settings={})
    return f"<div>{name} {head}{beside(thumbnail(result), lists)}</div>"


def _joints(model: Model) -> str:
    rows = [(j.name, j.type, " - ".join(j.bodies), sum(len(p.labels) for p in j.primitives)) for j in model.joints]
    return table(("joint", "type", "between", "rows"), rows) if rows else "no joints"


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
        curves.append(_motion(solution))
        try:
            e = solution.energy
            shown = {"kinetic": e.kinetic, "potential": e.potential, "T + U - W": e.total}
            curves.append(small_curves("energy", solution.t, shown, "J", solution.along))
        except DalembertError:  # the report says why
            pass
    return f"<div>{head}{beside(*curves)}{folded('trust report', report._repr_html_())}</div>"


def _motion(solution: Result) -> str:
    """The first few joint coordinates, coordinates or heights."""
    if isinstance(solution, LagrangianResult):
        return small_curves("coordinates", solution.t, {name: solution[name] for name in solution.model.coordinates[:_CURVES]})
    assert isinstance(solution, BodyResult)
    found: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}
    for joint in solution.mechanism.model.joints:
        if len(joint.coordinates) == 1 and len(found) < _CURVES:
            try:
                found[joint.name] = np.asarray(solution.coordinate(joint.name)).reshape(len(solution.t))
            except DalembertError:
                continue
    if found:
        return small_curves("joint coordinates", solution.t, found, "rad or m", solution.along)
    names = solution.mechanism.body_names[:_CURVES]
    heights = {name: solution.position(name)[:, 2] for name in names}
    return small_curves("z of bodies", solution.t, heights, "m", solution.along)
