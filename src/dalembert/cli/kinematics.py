"""dalembert kinematics"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.console import AsJson, ModelName, Set, Voice, number_of, print_json, reported_errors, rounded, say_written
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.model.model import Model
    from dalembert.simulation.solution import Solution

TIMES = "FROM:TO:STEP in seconds, of a model with drivers: 0:2:0.01 is 0, 0.01, 0.02, ..., 2."
_POSES = "JOINT=FROM:TO:STEP of its coordinate, angles in degrees, lengths in metres: A=0:360:5 is 0, 5, 10, ..., 360."
Sweep = Annotated[str | None, typer.Option(help=_POSES)]
Times = Annotated[str | None, typer.Option("--times", help=TIMES)]
Out = Annotated[Path | None, typer.Option(help="Result store to write (.zarr), for `view`, `plot` and `export`.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Picture of all joint coordinates (.png, .svg, .pdf).")]
MOST_ROWS = 25
MOST_TURNS = 6  # of a coordinate: more are an oscillation
_TIMES = 12  # that a curve through them takes


def kinematics(
    model: ModelName,
    sweep: Sweep = None,
    times: Times = None,
    set_: Set = None,
    out: Out = None,
    plot: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Poses of a mechanism without integration, over a joint coordinate (--sweep) or over time (--times), as far as they reach.

    Exit codes:
    0 = done, or as far as a dead centre, which is named; 1 = the mechanism cannot follow; 2 = bad input.
    """
    with reported_errors():
        from dalembert.cli.source import find_model
        from dalembert.questions.kinematics import kinematics as follow

        if (sweep is None) == (times is None):
            raise ModelError("kinematics: give --sweep JOINT=FROM:TO:STEP, or --times FROM:TO:STEP, one of the two")
        bodies = find_model(model, set_, masses=False).bodies
        if times is not None:
            found: Any = follow(bodies, values_of("--times", times))
        else:
            name, values, unit = _swept(bodies, str(sweep))
            found = follow(bodies, sweep={name: unit * values})
        if out is not None:
            found.save(out)
        if plot is not None:
            plots = found.plot
            plots.save(plot, plots.time(*(joint.name for joint in bodies.joints if joint.coordinates), degrees=True))
        if as_json:
            print_json(_data(found))
            return
        _show(found)
        say_written(out, plot)


def values_of(option: str, text: str) -> Any:
    """FROM:TO:STEP, both ends included."""
    import numpy as np

    try:
        first, last, step = (number_of(part) for part in text.split(":"))
    except (ValueError, ModelError):
        raise ModelError(f"option {option} is {text!r}; give FROM:TO:STEP, as in 0:360:1") from None
    if not (np.isfinite([first, last, step]).all() and step != 0.0):
        raise ModelError(f"option {option} is {text!r}; give finite numbers, and a STEP that is not 0")
    step = float(np.copysign(step, last - first))  # its sign is that of the way
    count = (last - first) / step
    if 0 < count < 1 - 1e-12:
        fix = f"{first:g}:{last:g}:{(last - first) / 100:g} are 101 values"
        raise ModelError(f"option {option} is {text!r}: STEP, from value to value, leads beyond TO; give a smaller one: {fix}")
    if count > 1e6:
        raise ModelError(f"option {option} is {text!r}: {count:.3g} values; give a larger STEP")
    return first + step * np.arange(int(count * (1 + 1e-12)) + 1)


def _swept(model: Model, text: str) -> tuple[str, Any, float]:
    """Joint, values, and what one of them is in SI units."""
    import numpy as np

    from dalembert.model.joints import angle_of
    from dalembert.questions.swept import coordinate_of

    name, equals, numbers = text.rpartition("=")
    if not equals:
        raise ModelError(f"option --sweep is {text!r}; give JOINT=FROM:TO:STEP, as in A=0:360:1")
    turns = angle_of(*coordinate_of(model, name)) is not None
    return name, values_of("--sweep", numbers), np.pi / 180 if turns else 1.0


def _columns(solution: Solution) -> dict[str, Any]:
    """Joint coordinates by name, angles in degrees."""
    import numpy as np

    from dalembert.model.joints import angle_of

    columns = {}
    for joint in solution.mechanism.model.joints:
        for k, label in enumerate(joint.coordinates):
            values = solution.coordinate(joint)
            values = values if values.ndim == 1 else values[:, k]
            turns = angle_of(joint, k) is not None
            name = joint.name if len(joint.coordinates) == 1 else f"{joint.name}.{label}"
            unit = "deg" if turns else "rad" if label.startswith("rotation") else "m"
            columns[f"{name} [{unit}]"] = np.degrees(values) if turns else values
    return columns


def _sizes(solution: Solution) -> dict[str, float]:
    """By unit, beside which coordinates may be rounding."""
    import numpy as np

    reach = float(max((np.abs(solution.position(body)).max() for body in solution.mechanism.model.bodies), default=0.0))
    return {"deg": 180.0, "rad": np.pi, "m": reach}


def _turning_points(solution: Solution) -> dict[str, list[tuple[float, float]]]:
    """(where, value) at which coordinates turn back, by their names in the table; of those that do so now and then."""
    import numpy as np
    from scipy.interpolate import make_interp_spline
    from scipy.optimize import brentq

    found, sizes = {}, _sizes(solution)
    at = iter(_columns(solution).items())
    for joint in solution.mechanism.model.joints:
        rates: Any = solution.coordinate_rate(joint).reshape(len(solution.t), -1).T if joint.coordinates else []
        for label, rate, (name, values) in zip(joint.coordinates, rates, at, strict=False):
            moves = np.flatnonzero(np.abs(rate) > 1e-9 * np.abs(rate).max())
            back = np.flatnonzero((rate[moves[:-1]] * rate[moves[1:]] < 0.0) & (np.diff(moves) <= 2))  # a rest has no instant
            rests = np.ptp(values) <= 1e-9 * sizes[name.rpartition("[")[2].rstrip("]")]
            if not 0 < len(back) <= MOST_TURNS or len(values) < _TIMES or rests or label.startswith("rotation"):
                continue
            slope, value = (make_interp_spline(solution.t, y, k=5) for y in (rate, values))
            places = [brentq(slope, *solution.t[moves[k : k + 2]]) for k in back]
            found[name] = [(float(place), float(value(place))) for place in places]
    return found


def _data(solution: Solution) -> dict[str, Any]:
    return {
        "turning_points": _turning_points(solution),
        "status": solution.status,
        "message": solution.message,
        "events": [{"name": name, "at": at} for name, at in solution.events],
        "values": solution.t.tolist(),
        "coordinates": {name: values.tolist() for name, values in _columns(solution).items()},
    }


def _show(solution: Solution) -> None:
    """A table whose first column is what was swept, or time; its last rows are over all poses."""
    import numpy as np
    from rich.table import Table

    voice, swept = Voice(), solution.settings.get("swept", [""])[0]
    where = f"smallest and largest are those at these {'poses' if swept else 'times'}"
    rows = np.unique(np.linspace(0, len(solution.t) - 1, min(MOST_ROWS, len(solution.t))).round().astype(int))
    few = f", {len(rows)} of them below" if len(rows) < len(solution.t) else ""
    voice.say(f"{solution.mechanism.model.name or 'model'}: {len(solution.t)} poses{few}; {where}")
    sizes = _sizes(solution)
    columns = {name: (values, sizes[name.rpartition("[")[2].rstrip("]")]) for name, values in _columns(solution).items()}
    lead = next((name for name in columns if name.startswith(f"{swept} [")), None)
    columns = ({lead: columns[lead]} if lead else {"t [s]": (solution.t, 0.0)}) | columns
    first, *others = (
        [name, *(rounded(value, (size,)) for value in (*values[rows], values.min(), values.max()))]
        for name, (values, size) in columns.items()
    )
    first[-2:] = "smallest", "largest"
    for piece in _pieces(first, others, voice.width):
        table = Table(box=None, pad_edge=False)
        for name, *_ in piece:
            table.add_column(name, justify="right", no_wrap=True, overflow="fold")
        for cells in zip(*(column[1:] for column in piece), strict=True):
            table.add_row(*cells)
        voice.show(table)
    of, _, unit = solution.over.removeprefix("time ").rstrip("]").partition(" [")
    factor, unit = (180.0 / np.pi, "deg") if unit == "rad" else (1.0, unit)
    for name, places in _turning_points(solution).items():
        coordinate, _, its = name.rstrip("]").partition(" [")
        told = ", ".join(f"{factor * where:.6g} {unit} ({value:.6g} {its})" for where, value in places)
        voice.say(f"{coordinate} turns back at {of} = {told}")
    for name, at in solution.events:
        voice.say(f"{name}, at {at:.10g} in SI units")
    voice.say(f"worst residual {solution.drift.position.max():.2e}")


def _pieces(first: list[str], others: list[list[str]], width: int) -> Iterator[list[list[str]]]:
    """Columns of texts, as many beside each other as fit; each piece begins with the first column."""
    piece, used = [first], max(map(len, first))
    for column in others:
        wide = 2 + max(map(len, column))
        if len(piece) > 1 and used + wide > width:
            yield piece
            piece, used = [first], max(map(len, first))
        piece.append(column)
        used += wide
    yield piece
