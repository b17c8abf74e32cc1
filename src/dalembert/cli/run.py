"""dalembert run"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.console import (
    Answer,
    Code,
    ModelName,
    Set,
    Verbose,
    Voice,
    complain,
    number_option,
    print_json,
    reported_errors,
    warn,
)
from dalembert.cli.method import Method, grouped, positive
from dalembert.compilation.compiled import KINDS
from dalembert.errors import ModelError, SimulationError, StoreError
from dalembert.model.validation import nearest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dalembert.cli.source import Source
    from dalembert.compilation.compiled import Compiled
    from dalembert.results.report import Report
    from dalembert.simulation.solution import AnySolution

MAX_SAVED = 20_000_000

TEnd = Annotated[float | None, number_option("End of the run in seconds; default: what the model's file or gallery says.")]
Projection = Annotated[str | None, typer.Option(help="quasi-orthogonal (default) or orthogonal.")]
Invariants = Annotated[str | None, typer.Option(help="energy: keep the energy balance by projection.")]
Singular = Annotated[
    str | None,
    typer.Option(help="Of minimal, where joints lock: stop (default), or pass on along the branch that the run is on."),
]
Monitor = Annotated[
    list[str] | None,
    typer.Option(help="What should stay constant, a line of the report: 'angular momentum z', ...; may be repeated."),
]
SaveEvery = Annotated[float | None, number_option("Seconds between saved states; default: every step.")]
Out = Annotated[Path | None, typer.Option(help="Result store to write, for example run.zarr; replaces an older result.")]
Picture = Annotated[Path | None, typer.Option(help="Picture to write, for example run.png, .svg or .pdf.")]
EstimateError = Annotated[
    bool,
    typer.Option("--estimate-error", help="Run it again, tighter and by another formulation, and say how far they differ."),
]


@grouped
def run(
    model: ModelName,
    method: Method,
    set_: Set = None,
    t_end: TEnd = None,
    projection: Projection = None,
    invariants: Invariants = None,
    singular: Singular = None,
    monitor: Monitor = None,
    save_every: SaveEvery = None,
    out: Out = None,
    plot: Picture = None,
    estimate_error: EstimateError = False,
    verbose: Verbose = False,
    *,
    answer: Answer,
) -> None:
    """Assemble and simulate a mechanism, print the trust report, write a result and a picture.

    Ctrl-C ends the run and keeps what was computed.

    Exit codes:
    0 = all verdicts pass; 1 = a verdict failed, the run failed or could not be stored;
    2 = bad input (model, option, path); 130 = interrupted.
    """
    voice = answer.voice
    with reported_errors(voice):
        from dalembert.cli.source import end_of_run, find_model
        from dalembert.compilation.compile import usual_coordinates
        from dalembert.formulations.base import check_pair, default_formulation

        source = find_model(model, set_)  # first: a Python file may register methods of its own
        stepping, coordinates = method.make_integrator(), method.make_coordinates()
        end = end_of_run(source, t_end)
        times = save_times(save_every, end)
        _check_paths(out, plot)
        entering = method.make_formulation(projection=projection, invariants=invariants, singular=singular)
        if entering is not None:
            check_pair(entering, stepping)
        usual = usual_coordinates(source.model, KINDS if entering is None else entering.coordinates)
        mechanism = _assemble(source, coordinates or usual, voice)
        _check_monitored(mechanism, monitor or [])
        used = entering or default_formulation(mechanism)[0]
        _compile(mechanism, used, stepping, voice)
        voice.say(f"simulating to t = {end:g} s with {type(used).__name__} and {type(stepping).__name__}\n")
        options: dict[str, Any] = {"formulation": entering, "integrator": stepping, "save_at": times, "out": out}
        solution, failure = _simulate(mechanism, end, progress=answer.progress, estimate_error=estimate_error, **options)
        code = _report(solution, solution.report(invariants=monitor or [], verbose=verbose), answer)
        unwritten = None if failure is None else failure.__cause__
        if isinstance(unwritten, StoreError):
            code, out = Code.FAILED, None
        if plot is not None and len(solution.t):
            solution.plot.save(plot)
        written = [str(path) for path in (out, plot) if path is not None and path.exists()]
        if written:
            voice.say(f"written: {', '.join(written)}")
        if isinstance(unwritten, StoreError):
            complain(f"{unwritten}; the run is not stored, an older result there is as it was")
        elif failure is not None:
            complain(failure if answer.quiet or answer.as_json or failure.__cause__ else _in_short(failure))
        elif code == Code.INTERRUPTED:
            kept = f"what was computed is in {out}" if out else "give --out to keep what is computed"
            complain(f"{solution.message}; {kept}")
    raise typer.Exit(code)


def save_times(every: float | None, end: float, option: str = "--save-every") -> npt.NDArray[np.float64] | None:
    """Multiples of `every` from 0, and the end."""
    import numpy as np

    positive(option, every)
    if every is None:
        return None
    if end / every > MAX_SAVED:
        raise ModelError(f"option {option} {every:g} s would save {end / every:.3g} states; give a longer time")
    times = every * np.arange(int(end / every * (1 + 1e-12)) + 1)
    return np.append(times[times < end * (1 - 1e-12)], end)


def _check_paths(out: Path | None, plot: Path | None) -> None:
    """Refuse before the run what could not be written after it."""
    if out is not None:
        from dalembert.io.place import check_target

        check_target(out, overwrite=True)
    if plot is not None:
        from dalembert.plot import check_picture_path

        check_picture_path(plot)


def _assemble(source: Source, coordinates: Any, voice: Voice) -> Compiled:
    from dalembert.cli.check import headline
    from dalembert.compilation.compile import compile
    from dalembert.compilation.mechanism import Mechanism

    mechanism: Compiled = compile(source.model, coordinates)
    voice.say(headline(source.name, mechanism))
    if isinstance(mechanism, Mechanism):
        assembly = str(mechanism.assembly)
    else:
        assembly = "\n".join(mechanism.moved) or "nothing was moved"
    for line in assembly.splitlines():
        voice.say(f"  assembly: {line}")
    return mechanism


def _compile(mechanism: Compiled, formulation: Any, integrator: Any, voice: Voice) -> None:
    """Compile what is missing, and say so, because it takes a while."""
    from dalembert.cli.kernels import duration, needed, not_compiled

    missing = not_compiled(needed(mechanism, formulation, integrator))
    if missing:
        voice.compiling(duration(missing))
    for kernel in missing:
        kernel.compile()
    voice.announced = False  # what else the run compiles is told again


def _simulate(mechanism: Compiled, end: float, **options: Any) -> tuple[AnySolution, SimulationError | None]:
    """The solution, whole or partial, and what broke the run."""
    from dalembert.simulation.simulate import simulate
    from dalembert.simulation.solution import AnySolution

    try:
        return simulate(mechanism, end, overwrite=True, **options), None
    except SimulationError as problem:
        if not isinstance(problem.solution, AnySolution):
            raise
        return problem.solution, problem


def _in_short(failure: SimulationError) -> str:
    """What happened, and where: the report's status has the rest already."""
    return f"{str(failure).splitlines()[0].partition('; ')[0]} (see status)"


def _check_monitored(mechanism: Compiled, names: list[str]) -> None:
    """Refuse a name before the run that could only be refused after it."""
    import numpy as np

    from dalembert.simulation.solution import solution_of

    known = solution_of(mechanism, np.zeros(0), np.zeros((0, len(mechanism.x_0))), settings={}).named_invariants()
    for name in names:
        if name not in known:
            raise ModelError(f"option --monitor: there is no invariant {name!r}; {nearest(name, known)}")


def _report(solution: AnySolution, report: Report, answer: Answer) -> int:
    """Print the report; the exit code that follows from it."""
    from dalembert.cli.words import report_in_options
    from dalembert.remarks.doubts import MODEL

    if answer.as_json:
        print_json(report.to_dict())
    else:
        answer.voice.show(report_in_options(report))
    if answer.quiet:  # what only a person can judge is told always
        for line in report.lines:
            if line.name == MODEL:
                warn(f"{MODEL}: {line.value}")
    if solution.status == "interrupted":
        return Code.INTERRUPTED
    return Code.PASSED if report.passed and solution.status != "failed" else Code.FAILED
