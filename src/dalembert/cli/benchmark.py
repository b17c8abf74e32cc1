"""dalembert benchmark"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalembert.cli.console import (
    Answer,
    Code,
    Formulations,
    complain,
    names_in,
    print_json,
    reported_errors,
    show_listed,
    show_measured,
)
from dalembert.cli.method import grouped

if TYPE_CHECKING:
    from dalembert.benchmark.record import SuiteResult

Names = Annotated[list[str] | None, typer.Argument(metavar="PROBLEM", help="Problems to run; default: all but the long ones.")]
Listing = Annotated[bool, typer.Option("--list", help="List the problems with their sources and run nothing.")]
Out = Annotated[list[Path] | None, typer.Option(help="Report to write, .html or .json; may be repeated.")]


@grouped
def benchmark(
    problems: Names = None,
    listing: Listing = False,
    formulations: Formulations = None,
    out: Out = None,
    *,
    answer: Answer,
) -> None:
    """Run the published problems by every formulation and compare with the values from outside.

    Error, drift, energy, CPU time and verdict of every run, and what the runs say about published values that are wrong or
    contradict each other. Reports are written whole after every problem, so that what was finished survives an interruption.

    Exit codes:
    0 = all verdicts pass; 1 = a verdict failed; 2 = bad input (name, option, path); 130 = interrupted.
    """
    with reported_errors(answer.voice):
        from dalembert.benchmark.record import check_report_path

        for path in out or []:
            check_report_path(path)
        if listing:
            _list(answer.as_json)
            return
        from dalembert.benchmark.runner import run_suite

        def keep(so_far: SuiteResult) -> None:
            for path in out or []:
                so_far.save(path)

        chosen = names_in(formulations)
        result = run_suite(problems or None, formulations=chosen, progress=answer.progress, after_each=keep)
        show_measured(answer, result, out, "problems were run")
        if not result.passed:
            complain(f"failed: {', '.join(r.problem.name for r in result.problems if not r.passed)}")
            raise typer.Exit(Code.FAILED)


def _list(as_json: bool) -> None:
    from dalembert.benchmark.problems import make_problems

    listed = make_problems().values()
    if as_json:
        print_json([{"name": p.name, "title": p.title, "model": p.call, "t_end": p.t_end, "source": p.source} for p in listed])
        return
    rows = ((p.name, f"{p.title}{' *' * p.long} [{', '.join(p.source)}]", p.t_end) for p in listed)
    show_listed(("name", "what it is (* only when named) [sources]", "t_end"), rows)
