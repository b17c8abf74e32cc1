"""dalembert export"""

from __future__ import annotations

import math
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalembert.cli.console import Answer, Code, names_in, number_option, print_json, reported_errors, warn
from dalembert.cli.method import grouped
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.simulation.solution import AnySolution

FORMATS = (".csv", ".nc", ".parquet", ".html", ".png", ".gif", ".mp4")  # of a result

SourceName = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="Result store of `dalembert run --out`, or of `sweep` (for .csv), or a model (for .yaml)."
    ),
]
Target = Annotated[
    Path | None,
    typer.Argument(
        metavar="TARGET",
        help="File to write. Of a result: table (.csv, .nc, .parquet), page (.html), picture (.png), animation (.gif, .mp4);"
        " of a sweep: .csv, one row per run; of a model: .yaml. Without it, numbers of the whole run that --output names are"
        " printed.",
    ),
]
Fps = Annotated[float, number_option("Of an animation: pictures per second.")]
Speed = Annotated[
    float | None, number_option("Of an animation: seconds of motion per second; default: real time, slow motion if short.")
]
Size = Annotated[str, typer.Option(help="Of a picture or an animation: WIDTHxHEIGHT in pixels.")]
Time = Annotated[float | None, number_option("Of a picture: the time in seconds; default: the start.", "--at")]
CameraFrom = Annotated[
    str | None,
    typer.Option(
        "--camera",
        help="Of a picture or an animation: front, back, left, right, top, bottom, iso, or x,y,z from the mechanism to the"
        " camera; default: well chosen.",
    ),
]
Output = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        help="Of a table: signals to write alone, 'motor,C.f,slider.x', '*.f' for all of a kind; default: all named outputs (in"
        " .csv of a model in a plane without those that are zero there). Without a file: numbers of the whole run,"
        " 'C.f.max,motor.min', '*.f.max', .peak (largest size), with the times at which, .range, .mean, .rms over time.",
    ),
]
Degrees = Annotated[bool, typer.Option("--degrees", help="Of tables and printed numbers: angles in degrees, rates in deg/s.")]
Every = Annotated[float | None, number_option("Of a table: seconds between rows; default: the saved times.")]


@grouped
def export(
    source: SourceName,
    target: Target = None,
    fps: Fps = 25.0,
    output: Output = None,
    every: Every = None,
    speed: Speed = None,
    size: Size = "800x600",
    camera: CameraFrom = None,
    at: Time = None,
    degrees: Degrees = False,
    *,
    answer: Answer,
) -> None:
    """Write a result as a table for other programs, as a page, a picture or an animation; a model (a gallery name, a Python
    file, a result's) as a model file. Without a file, print numbers of a whole run: --output A.f.max,motor.min.

    Exit codes:
    0 = written, or printed; 1 = printed, of a run that failed or whose verdict did; 2 = bad input (source, format, path, name).
    """
    with reported_errors(answer.voice):
        if target is None:
            if every is not None:
                whole = "printed numbers are those of the whole run, at saved times and between them"
                raise ModelError(f"option --every is for tables: give a file to write, as in run.csv; {whole}")
            _print_numbers(source, names_of(output), degrees, answer)
            return
        if answer.as_json:
            raise ModelError(f"option --json is for numbers of a whole run; leave out {target}, or --json")
        from dalembert.cli.run import save_times
        from dalembert.cli.source import YAML
        from dalembert.io.sweep_store import is_sweep
        from dalembert.results.signals import spelt_out_of
        from dalembert.simulation.load import load
        from dalembert.simulation.solution import Solution

        is_store = Path(source).is_dir()
        suffix = target.suffix.lower()
        for option, given in (("--every", every is not None), ("--output", output is not None), ("--degrees", degrees)):
            if given and (suffix in (*YAML, ".html", ".png", ".gif", ".mp4") or (is_store and is_sweep(source))):
                raise ModelError(f"option {option} is for tables of one run; leave it out")
        if is_store and is_sweep(source):
            if suffix != ".csv":
                fix = f"give a path that ends in .csv for a table of its runs; draw it by `dalembert plot {source} map OUTPUT`"
                raise ModelError(f"{target}: {source} holds a sweep; {fix}")
            load(source).export(target)
        elif suffix in YAML:
            _write_model(source, target, is_store)
        elif not is_store:
            what = "is no result store" if Path(source).exists() else "there is no such result store"
            raise ModelError(f"{source}: {what}; give what `dalembert run MODEL --out` wrote, or a .yaml target")
        elif suffix not in FORMATS:
            known = f"{', '.join(FORMATS)}, or .yaml for its model"
            if suffix in (".pdf", ".svg"):
                known += f"; `dalembert plot {source} NAME --out {target}` draws figures"
            raise ModelError(f"{target}: unknown suffix '{target.suffix}'; give a path that ends in one of {known}")
        elif suffix in (".html", ".png", ".gif", ".mp4"):
            from dalembert.viewer.animation import export_animation, export_picture
            from dalembert.viewer.page import export_page
            from dalembert.viewer.server import load_run

            pixels, direction = _numbers("--size", size, "x", 2), camera and _camera(camera)
            solution = load_run(Path(source))
            if suffix == ".html":
                export_page([solution], target)
            elif suffix == ".png":
                export_picture(solution, target, t=at, size=(int(pixels[0]), int(pixels[1])), camera=direction)
            else:
                width, height = (int(edge) for edge in pixels)
                bar = answer.progress
                export_animation(solution, target, fps=fps, speed=speed, size=(width, height), camera=direction, progress=bar)
        else:
            run = load(source)
            times = save_times(every, float(run.t[-1] - run.t[0]), "--every") if len(run.t) else None
            even = run if times is None else run((run.t[0] + times).clip(max=run.t[-1]))
            names, left = spelt_out_of(run, names_of(output))
            even.export(target, *names, degrees=degrees)
            for text in left:
                warn(f"{source}: {text}")
            _is_trusted(source, run)
            if suffix == ".csv" and isinstance(run, Solution):
                answer.voice.say(f"written: {target}, {'units: m, s, deg' if degrees else 'SI units: m, s, rad'}, N, N m, W, J")
                return
        answer.voice.say(f"written: {target}")


def names_of(output: list[str] | None) -> list[str]:
    return [name for text in output or () for name in names_in(text) or ()]


def _print_numbers(source: str, names: list[str], degrees: bool, answer: Answer) -> None:
    """A table of numbers of a whole run by name, with units and the times at which they are reached."""
    from rich.table import Table

    from dalembert.cli.source import check_result
    from dalembert.io.sweep_store import is_sweep
    from dalembert.questions.objectives import of_whole_run
    from dalembert.results.signal_names import OVER_TIME
    from dalembert.results.signals import signal, spelt_out_of
    from dalembert.simulation.load import load

    if not names:
        fix = "give a file to write, as in run.csv, or numbers of the whole run to print, as in --output A.f.max,motor.min"
        raise ModelError(f"export: what of {source}? {fix}")
    if files := [name for name in names if name.lower().endswith(FORMATS)]:
        fix = f"give it without: `dalembert export {source} {files[0]}`"
        raise ModelError(f"{files[0]!r} is a file, --output takes signals; {fix}")
    check_result(source)
    if is_sweep(source):
        return _print_runs(source, names, degrees, answer)
    run = load(source)
    if len(run.t) < 2:
        raise ModelError(f"{source}: the run has {len(run.t)} states; numbers of a whole run need more")
    numbers, wrong = {}, []
    asked, left = spelt_out_of(run, names)
    for name in (name for name in names if "*" in name and name.rpartition(".")[2] not in OVER_TIME):
        numbers_of = ", ".join(f"{name}.{part}" for part in OVER_TIME)
        raise ModelError(f"{name!r} are signals over time; give a file to write them to, or numbers of the run: {numbers_of}")
    for text in left:
        warn(f"{source}: {text}")
    for name in asked:
        try:
            numbers[name] = of_whole_run(run, name)
        except ModelError as problem:  # is told behind the others
            wrong.append(str(problem))
    idle = [name for name, (value, *_) in numbers.items() if value == 0.0 and name not in names]
    idle = [name for name in idle if not signal(run, name.rpartition(".")[0]).values.any()]
    if len(idle) < len(numbers):  # of what a star found: a driver of an angle has no force
        numbers = {name: found for name, found in numbers.items() if name not in idle}
    if degrees:
        from dalembert.results.signal_names import of_unit

        turned = {name: of_unit(unit) for name, (_, unit, _) in numbers.items()}
        numbers = {name: (value * turned[name][0], turned[name][1], when) for name, (value, _, when) in numbers.items()}
    if run.status not in ("complete", "event"):
        warn(f"{source}: the run is {run.status}; these are numbers of what there is, {run.span(*run.t[[0, -1]])}")
    trusted = _is_trusted(source, run)
    if answer.as_json:
        keys = ("value", "unit", "at", "trusted")
        print_json({name: dict(zip(keys, (*found, trusted), strict=True)) for name, found in numbers.items()})
    elif numbers:
        table = Table(box=None, pad_edge=False)
        for k, title in enumerate(("number", "value", "unit", f"at {run.over}", *([] if trusted else ["verdict"]))):
            table.add_column(title, justify="right" if k % 2 else "left", no_wrap=True, overflow="fold")
        shown, units = list(numbers.items()), [unit for _, unit, _ in numbers.values()]
        if len(asked) > len(names):  # the largest of what a star found is at the top
            shown.sort(key=lambda item: (units.index(item[1][1]), -abs(item[1][0])))
        for name, (value, unit, when) in shown:
            table.add_row(
                name, f"{value:.6g}", unit, "" if when is None else f"{when:.6g}", *([] if trusted else ["not trusted"])
            )
        answer.voice.show(table)
        if any(name.endswith((".mean", ".rms")) for name in numbers):
            answer.voice.say(_over(run))
    if wrong:
        raise ModelError("\n".join(dict.fromkeys(wrong)))
    if not trusted:
        raise typer.Exit(Code.FAILED)


def _print_runs(source: str, names: list[str], degrees: bool, answer: Answer) -> None:
    """The same of a sweep, at the times that it kept: a row for each run."""
    from rich.table import Table

    from dalembert.results.signal_names import of_unit
    from dalembert.results.signals import with_unit
    from dalembert.simulation.sweep import Sweep
    from dalembert.simulation.sweep_table import table_of

    sweep = Sweep(source)
    given = [name for name, of_run in sweep.dataset.coords.items() if of_run.dims == ("run",) and name != "run"]
    columns = {name: values for name, values in table_of(sweep).items() if name in ("run", "status", *given)}
    for name in names:
        array = sweep[name]
        if array.dims != ("run",):
            raise ModelError(
                f"{source}: {name!r} is not one number of a run; give {name}.max, .min, .peak, .range, .mean or .rms"
            )
        factor, unit = of_unit(str(array.attrs.get("units", ""))) if degrees else (1.0, str(array.attrs.get("units", "")))
        columns[with_unit(name, unit)] = factor * array.values
    rows = [*zip(*(column.tolist() for column in columns.values()), strict=True)]
    if answer.as_json:
        plain = ([None if isinstance(cell, float) and not isfinite(cell) else cell for cell in row] for row in rows)
        print_json([dict(zip(columns, row, strict=True)) for row in plain])
        return
    table = Table(box=None, pad_edge=False)
    for title, values in columns.items():
        table.add_column(title, justify="left" if values.dtype.kind in "UO" else "right", no_wrap=True, overflow="fold")
    for row in rows:
        table.add_row(*(f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row))
    answer.voice.show(table)


def _over(run: AnySolution) -> str:
    """Over what means are taken: the time, and the turns of drivers that turn steadily."""
    from dalembert.remarks.row_words import turning

    span, unit = float(run.t[-1] - run.t[0]), run.over.rpartition("[")[2].removesuffix("]")
    told = [f"{run.t[0]:.6g} to {run.t[-1]:.6g} {unit}"]
    for name, rate in turning(run.mechanism).items() if "over" not in run.settings else ():
        turns = f"{abs(rate) * span / (2.0 * math.pi):.6g}"
        told.append(f"{turns} turn{'s' * (turns != '1')} of {name!r}")
    return f"means are over {', '.join(told)}"


def _is_trusted(source: str, run: AnySolution) -> bool:
    """Whether its report lets a run pass; if not, it is told."""
    report = run.report()
    trusted = report.passed and run.status != "failed"
    if not trusted:
        warn(f"{source}: {report.headline}")
    return trusted


def _camera(text: str) -> str | list[float]:
    from dalembert.viewer.framing import VIEWS

    if text in VIEWS:
        return text
    if not any(sign.isdigit() for sign in text):
        raise ModelError(
            f"option --camera is {text!r}; give one of {', '.join(VIEWS)}, or x,y,z from the mechanism to the camera"
        )
    return _numbers("--camera", text, ",", 3)


def _numbers(option: str, text: str, between: str, count: int) -> list[float]:
    try:
        values = [float(part) for part in text.split(between)]
    except ValueError:
        values = []
    if len(values) != count:
        raise ModelError(f"option {option} is {text!r}; give {count} numbers with {between!r} between")
    return values


def _write_model(source: str, target: Path, is_store: bool) -> None:
    from dalembert.cli.source import find_model
    from dalembert.model.file.write import write_model
    from dalembert.model.model import Model
    from dalembert.simulation.load import load

    if is_store:
        run = load(source)
        model = run.model
        if not isinstance(model, Model):
            raise ModelError(f"{source}: a Lagrangian system has no bodies; a model file cannot hold it")
        of_time = not run.settings.get("kinematics")
        write_model(model, target, t_end=run.settings.get("t_end") if of_time else None)
    else:
        found = find_model(source, masses=False)
        write_model(found.bodies, target, t_end=found.t_end)
