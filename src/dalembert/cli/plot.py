"""dalembert plot"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli.console import Voice, reported_errors
from dalembert.errors import ModelError
from dalembert.model.validation import nearest

OVER_TIME = "time"
ALONE = ("overview", "energy", "energy-error", "drift", "trajectories", "step-sizes")
OF_SOMETHING = {
    OVER_TIME: "signals",
    "invariants": "what should stay constant",
    "reactions": "a joint or driver",
    "phase": "a joint coordinate or position",
    "spectrum": "a signal",
}

Run = Annotated[str, typer.Argument(metavar="RUN", help="Result store of `dalembert run --out`.")]
Name = Annotated[str, typer.Argument(help=f"One of {', '.join((*ALONE, *OF_SOMETHING))}.")]
_SOMETHING = "a joint 'A', a signal 'A.angle', 'slider.x', 'B.fz', an invariant 'angular momentum z'"
Things = Annotated[list[str] | None, typer.Argument(metavar="OF...", help=f"Of what: {_SOMETHING}; `time` takes several.")]
Of = Annotated[str | None, typer.Option(help="The same as an option.")]
Out = Annotated[Path | None, typer.Option(help="Picture to write (.png, .svg, .pdf); default: NAME.png.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def plot(
    run: Run, name: Name = "overview", things: Things = None, of: Of = None, out: Out = None, quiet: Quiet = False
) -> None:
    """Draw a figure of a result: quantities over time, energy, invariants, drift, reactions, paths, step sizes, phase
    planes, spectra.

    Exit codes:
    0 = written; 1 = the result does not hold what the figure needs; 2 = bad input (run, name, path).
    """
    with reported_errors():
        if name not in ALONE and name not in OF_SOMETHING:
            raise ModelError(f"there is no plot {name!r}; {nearest(name, (*ALONE, *OF_SOMETHING))}")
        asked = [*(things or []), *([] if of is None else [of])]
        if name in OF_SOMETHING and not asked:
            raise ModelError(f"plot {name}: of what? name {OF_SOMETHING[name]}, as in `dalembert plot RUN {name} ...`")
        if len(asked) > (0 if name in ALONE else 1) and name != OVER_TIME:
            raise ModelError(f"plot {name}: {asked[-1]!r} has no meaning; leave it out")
        from dalembert.cli.source import check_result
        from dalembert.plot import check_picture_path
        from dalembert.simulation.load import load

        check_result(run)

        target = out or Path(f"{name}.png")
        check_picture_path(target)
        plots = load(run).plot
        draw = getattr(plots, name.replace("-", "_"))
        plots.save(target, draw(*asked))
        Voice(quiet=quiet).say(f"written: {target}")
