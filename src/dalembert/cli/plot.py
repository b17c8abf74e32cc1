"""dalembert plot"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli.console import Voice, reported_errors
from dalembert.errors import ModelError
from dalembert.model.validation import nearest

ALONE = ("overview", "energy", "energy-error", "drift", "trajectories", "step-sizes")
OF_SOMETHING = {
    "invariants": "what should stay constant",
    "reactions": "a joint or driver",
    "phase": "a joint coordinate or position",
    "spectrum": "a signal",
}

Run = Annotated[str, typer.Argument(metavar="RUN", help="Result store of `dalembert run --out`.")]
Name = Annotated[str, typer.Argument(help=f"One of {', '.join((*ALONE, *OF_SOMETHING))}.")]
Of = Annotated[
    str | None,
    typer.Option(help="Of what: a joint 'A', a signal 'A.angle', 'slider.x', 'B.fz', an invariant 'angular momentum z'."),
]
Out = Annotated[Path | None, typer.Option(help="Picture to write (.png, .svg, .pdf); default: NAME.png.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def plot(run: Run, name: Name = "overview", of: Of = None, out: Out = None, quiet: Quiet = False) -> None:
    """Draw a figure of a result: energy, invariants, drift, reactions, paths, step sizes, phase planes, spectra.

    Exit codes:
    0 = written; 1 = the result does not hold what the figure needs; 2 = bad input (run, name, path).
    """
    with reported_errors():
        if name not in ALONE and name not in OF_SOMETHING:
            raise ModelError(f"there is no plot {name!r}; {nearest(name, (*ALONE, *OF_SOMETHING))}")
        if name in OF_SOMETHING and of is None:
            raise ModelError(f"plot {name}: of what? give --of with the name of {OF_SOMETHING[name]}")
        if name in ALONE and of is not None:
            raise ModelError(f"option --of has no meaning for plot {name}; leave it out")
        from dalembert.cli.source import check_result
        from dalembert.io.results import load
        from dalembert.plot import check_picture_path

        check_result(run)

        target = out or Path(f"{name}.png")
        check_picture_path(target)
        plots = load(run).plot
        draw = getattr(plots, name.replace("-", "_"))
        plots.save(target, draw(of) if name in OF_SOMETHING else draw())
        Voice(quiet=quiet).say(f"written: {target}")
