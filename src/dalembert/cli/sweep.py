"""dalembert sweep"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.console import (
    Answer,
    Code,
    ModelName,
    Voice,
    complain,
    names_in,
    number_option,
    print_json,
    reported_errors,
    warn,
)
from dalembert.cli.method import Method, grouped
from dalembert.cli.run import TEnd
from dalembert.errors import DalembertError, ModelError, SimulationError, UnknownParameter
from dalembert.model.validation import nearest

if TYPE_CHECKING:
    from dalembert.simulation.sweep import Sweep

_HOW = (
    "NAME=FROM:TO:COUNT, so many values from end to end (crank=0.1:0.3:5 is 0.1, 0.15, 0.2, 0.25, 0.3), or NAME=A,B,C;"
    " an argument of `build(...)` or of a gallery function, or a parameter of a YAML file"
)
Set = Annotated[list[str] | None, typer.Option("--set", help=f"{_HOW}; repeated: all combinations.")]
Out = Annotated[Path, typer.Option(help="Store to write, as in --out s.zarr; the same command goes on with one that exists.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a sweep at --out that was called otherwise.")]
_WHAT = "What to keep: 'slider.x,A,B.fz'; 'B.f' is the size of a force, '*.f' those of all, 'motor.power'; default: states."
Output = Annotated[list[str] | None, typer.Option("--output", help=_WHAT)]
Processes = Annotated[int | None, typer.Option(help="Compute in so many processes; default: threads of this one.")]
Scheduler = Annotated[str | None, typer.Option(help="Compute on a dask cluster: the address of its scheduler.")]
Block = Annotated[int, typer.Option(help="Runs that are computed and written together.")]
SaveEvery = Annotated[float | None, number_option("Seconds between saved instants; default: the start and the end alone.")]
_SHOWN = 3  # messages
_PARAMETERS = 2  # that are told of a run; of more its number


@grouped
def sweep(
    model: ModelName,
    out: Out,
    method: Method,
    set_: Set = None,
    output: Output = None,
    t_end: TEnd = None,
    save_every: SaveEvery = None,
    block: Block = 256,
    overwrite: Overwrite = False,
    processes: Processes = None,
    scheduler: Scheduler = None,
    *,
    answer: Answer,
) -> None:
    """Simulate all combinations of parameters (--set) into one store; what is interrupted or killed goes on when called again.

    Exit codes:
    0 = all runs are complete; 1 = some failed, or the sweep could not go on; 2 = bad input; 130 = interrupted.
    """
    with reported_errors(answer.voice):
        from dalembert.cli.run import save_times
        from dalembert.cli.source import Builder, end_of_run
        from dalembert.results.signal_names import spelt_out
        from dalembert.simulation.ensemble import simulate_many
        from dalembert.simulation.parameters import grid

        build = Builder(model)
        coordinates = method.make_coordinates()
        if not set_:
            raise ModelError("sweep: over what? give --set NAME=FROM:TO:COUNT, or --set NAME=A,B,C")
        end = end_of_run(build, t_end)
        values = dict(map(values_of, set_))
        if len(values) < len(set_):
            raise ModelError("option --set: a name is given twice; give each once")
        for text, (name, given) in zip(set_, values.items(), strict=True):
            if build.parameters is not None and name not in build.parameters:
                text = f"option --set: {model} has no parameter {name!r}; {nearest(name, build.parameters)}"
                raise UnknownParameter(text, name)
            if build.parameters is not None and given.dtype.kind == "U":
                raise ModelError(f"option --set is {text!r}; parameters of model files are numbers")
        first = {name: given[0].item() for name, given in values.items()}
        outputs = [name for text in output or () for name in names_in(text) or ()]
        if any("*" in name for name in outputs):
            outputs = spelt_out(_first_model(build, first), outputs)
        with _client(processes, scheduler) as client:
            found = simulate_many(
                build,
                end,
                parameters=grid(**values),
                formulation=method.make_formulation(),
                integrator=method.make_integrator(),
                coordinates=coordinates,
                save_at=save_times(save_every, end),
                out=out,
                outputs=outputs or None,
                client=client,
                block=block,
                overwrite=overwrite,
                progress=answer.progress,
            )
        data = _data(found)
        if answer.as_json:
            print_json(data)
        else:
            _show(found, data, answer.voice)
        for text in _doubts(build, first):
            warn(f"model: {text}")  # what only a person can judge is told always, as of one run
        if found.interrupted:
            complain("interrupted; the same command goes on with what is missing")
    raise typer.Exit(Code.INTERRUPTED if found.interrupted else Code.PASSED if data["complete"] == len(found) else Code.FAILED)


def values_of(text: str) -> tuple[str, Any]:
    """Name and values of NAME=FROM:TO:COUNT or NAME=A,B,C."""
    import numpy as np

    from dalembert.cli.source import value_of

    name, equals, given = text.partition("=")
    wrong = ModelError(f"option --set is {text!r}; give NAME=FROM:TO:COUNT, as in crank=0.1:0.3:100, or NAME=A,B,C")
    if not (equals and name.isidentifier() and given):
        raise wrong
    if ":" in given:
        try:
            *ends, count = given.split(":")
            first, last = (float(value_of(text, end)) for end in ends)
            values = np.linspace(first, last, int(count))
        except ValueError:
            raise wrong from None
        return name, values
    parts = given.split(",")
    found = [value_of(text, part) for part in parts]
    return name, np.array(parts) if any(isinstance(value, str) for value in found) else np.array(found)


def _first_model(build: Any, first: dict[str, Any]) -> Any:
    """The model as its file has it, or as the first run does where it needs values."""
    needed = [p.name for p in build.__signature__.parameters.values() if p.default is p.empty and p.name in first]
    return build(**{name: first[name] for name in needed})


def _doubts(build: Any, first: dict[str, Any]) -> list[str]:
    """About that model; none of what cannot be compiled."""
    from dalembert.cli.check import examine
    from dalembert.compilation.compile import compile
    from dalembert.model.model import Model

    with suppress(DalembertError, TypeError):
        if isinstance(model := _first_model(build, first), Model):
            mechanism = compile(model)
            return list(examine(build.__name__, mechanism, mechanism.assembly)["doubts"])
    return []


@contextmanager
def _client(count: int | None, scheduler: str | None) -> Iterator[Any]:
    """Who computes."""
    if count is not None and scheduler is not None:
        raise ModelError("options --processes and --scheduler exclude each other; give one of them")
    if count is not None:
        from dalembert.simulation.sweep_drive import processes

        if count < 1:
            raise ModelError(f"option --processes is {count}; give a number above 0")
        with processes(count) as pool:
            yield pool
    elif scheduler is not None:
        try:
            from distributed import Client
        except ImportError:
            raise ModelError("option --scheduler needs dask: pip install distributed") from None
        try:
            client: Any = Client(scheduler, timeout=10)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as problem:
            raise SimulationError(f"option --scheduler: nobody answers at {scheduler!r} ({problem})") from None
        with client:
            yield client
    else:
        yield None


def _data(sweep: Sweep) -> dict[str, Any]:
    import numpy as np

    def worst(name: str) -> float | None:
        values = sweep[name].values
        return float(np.nanmax(values)) if np.isfinite(values).any() else None

    return {
        "store": str(sweep.path),
        "runs": len(sweep),
        **{word: int(np.sum(sweep.status == word)) for word in ("complete", "failed", "missing")},
        "steps": int(sweep["steps"].values.sum()),
        **{f"worst_{name}": worst(name) for name in ("position_drift", "velocity_drift", "energy_error")},
        "outputs": _outputs(sweep),
        "messages": {str(run): text for run, text in sweep.message.items()},
    }


def _outputs(sweep: Sweep) -> dict[str, dict[str, float | int]]:
    """Numbers of outputs that were asked for in the first and the last run that have them, and where they are extreme."""
    import numpy as np

    from dalembert.simulation.sweep_block import STATES
    from dalembert.simulation.sweep_table import numbers_of

    found: dict[str, dict[str, float | int]] = {}
    for name, values in numbers_of(sweep).items() if sweep.settings["outputs"] != dict.fromkeys(STATES) else ():
        runs = np.flatnonzero(np.isfinite(values)) if values.dtype.kind in "fiu" else np.zeros(0, dtype=int)
        if len(runs):
            least, most = (int(runs[k]) for k in (np.argmin(values[runs]), np.argmax(values[runs])))
            told = {"first": int(runs[0]), "last": int(runs[-1]), "smallest": least, "largest": most}
            found[name] = {what: float(values[run]) for what, run in told.items()} | {
                "smallest_run": least,
                "largest_run": most,
            }
    return found


def _show_outputs(sweep: Sweep, outputs: dict[str, dict[str, float | int]], voice: Voice) -> None:
    from rich.table import Table

    from dalembert.results.signals import with_unit
    from dalembert.simulation.parameters import told_parameters

    over = {name: sweep[name].values for name in sweep._store.attributes["parameters"]}
    moving = {name: values for name, values in over.items() if values.ndim == 1 and len(set(values.tolist())) > 1}

    def at(run: int) -> str:
        values = {name: values[run].tolist() for name, values in moving.items()}
        return told_parameters(values) if 0 < len(values) <= _PARAMETERS else f"run {run}"

    table = Table(box=None, pad_edge=False)
    table.add_column("output", no_wrap=True, overflow="fold")
    for title in ("first run", "last run", "smallest", "largest"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, of in outputs.items():
        ends = (f"{of[what]:.6g} ({at(int(of[f'{what}_run']))})" for what in ("smallest", "largest"))
        series = name in sweep.dataset and "time" in sweep.dataset[name].dims
        kept = name if name in sweep.dataset else name.rpartition(".")[0]
        unit = sweep.dataset[kept].attrs.get("units", "") if kept in sweep.dataset else ""
        table.add_row(
            with_unit(f"{name} at the end" if series else name, unit), f"{of['first']:.6g}", f"{of['last']:.6g}", *ends
        )
    voice.show(table)


def _show(sweep: Sweep, data: dict[str, Any], voice: Voice) -> None:
    from dalembert.simulation.parameters import run_named

    counts = ", ".join(f"{data[word]} {word}" for word in ("complete", "failed", "missing") if data[word])
    voice.say(f"{sweep.path}: {len(sweep)} runs, {counts}; {data['steps']} steps")
    if data["complete"]:
        drift, energy = data["worst_position_drift"], data["worst_energy_error"]
        voice.say(f"worst of all runs: position drift {drift:.2e}, energy error {energy:.2e}")
    if data["outputs"]:
        _show_outputs(sweep, data["outputs"], voice)
        if any(name.endswith(".max") and name not in sweep.dataset for name in data["outputs"]):
            voice.say(f".min and .max are those at the {len(sweep.t)} saved times")
    for run in sweep.failed[:_SHOWN].tolist():
        values = {name: sweep[name].values[run].tolist() for name in sweep._store.attributes["parameters"]}
        text, named = sweep.message[run], run_named(run, values)
        voice.say(f"failed: {text if text.startswith(named) else f'{named}: {text}'}")
    if len(sweep.failed) > _SHOWN:
        voice.say(f"... and {len(sweep.failed) - _SHOWN} more: da.load({str(sweep.path)!r}).message")
