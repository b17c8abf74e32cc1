"""dalembert plot"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from dalembert.cli.console import Voice, reported_errors, warn
from dalembert.errors import ModelError
from dalembert.model.validation import nearest

OVER_TIME, PATHS = "time", "trajectories"
ALONE = ("overview", "energy", "energy-error", "drift", PATHS, "step-sizes")
OF_SOMETHING = {
    OVER_TIME: "signals",
    "invariants": "what should stay constant",
    "reactions": "a joint, driver or force element",
    "phase": "a joint coordinate or position",
    "spectrum": "a signal",
}
IN_DEGREES = (OVER_TIME, "phase", "spectrum", "map", "fan")
_MOST = 12  # names that are listed
OF_SWEEP = {
    "map": "an output over parameters, of a series its last value, or its .max, .min, .peak, .range, .mean, .rms",
    "fan": "an output of all runs over time",
}

Run = Annotated[str, typer.Argument(metavar="RUN", help="Result store of `dalembert run --out` or of `dalembert sweep`.")]
_NAMES = f"One of {', '.join((*ALONE, *OF_SOMETHING))}; of a sweep {' or '.join(OF_SWEEP)}."
Name = Annotated[str, typer.Argument(metavar="NAME", help=_NAMES)]
_SOMETHING = (
    "a joint 'A', a driver, motor or spring, a signal 'A.angle', 'slider.x', 'crank.angle', 'B.fz', 'B.f' (its size),"
    " 'motor.power',"
    " an invariant 'angular momentum z', a body or marker for `trajectories` (default: all), of a sweep 'B.f.max' for `map`"
)
Things = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="OF",
        help=f"Of what: {_SOMETHING}; `time` and `trajectories` take several, `time` '*.f', too; `phase` draws the others over"
        " the first.",
    ),
]
Of = Annotated[str | None, typer.Option(help="The same as an option.")]
Degrees = Annotated[bool, typer.Option("--degrees", help=f"Angles in degrees, rates in deg/s: of {', '.join(IN_DEGREES)}.")]
Out = Annotated[Path | None, typer.Option(help="Picture to write (.png, .svg, .pdf); default: NAME.png.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def _there(found: Any, name: str) -> list[str]:
    """What a result holds for a figure of something, where that is a short list."""
    if name in OF_SWEEP:
        drawn = [("run", "time")] if name == "fan" else [("run", "time"), ("run",)]
        held = [str(key) for key, array in found.dataset.data_vars.items() if array.dims in drawn and array.dtype.kind == "f"]
        return sorted(held, key=lambda key: key.endswith(("_drift", "_error")))  # what was asked for first
    model = found.mechanism.model
    if name == "invariants":
        return list(found.named_invariants())
    if not hasattr(model, "joints"):  # a Lagrangian system
        return [] if name == "reactions" else list(model.coordinates)
    if name == "reactions":
        return [element.name for element in (*model.joints, *model.drivers, *model.forces)]
    acting = model.drivers if name == OVER_TIME else ()
    single = [joint.name for joint in model.joints if len(joint.coordinates) == 1]
    return [*single, *(f"{body.name}.x" for body in model.bodies), *(driver.name for driver in acting)]


def _of_body(run: str, name: str) -> str:
    """What draws a body or marker of that name, "" where there is none."""
    from dalembert.io.sweep_store import is_sweep
    from dalembert.simulation.load import load

    if not Path(run).is_dir() or is_sweep(run):
        return ""
    model = load(run).model
    named = [item.name for item in (*getattr(model, "bodies", ()), *getattr(model, "markers", ()))]
    if name not in named:
        return ""
    way, of = f"`dalembert plot {run}", shlex.quote(name)
    return f"{way} trajectories {of}` draws its path, {way} time {of}.x` where it is over time"


def plot(
    run: Run,
    name: Name = "overview",
    things: Things = None,
    of: Of = None,
    degrees: Degrees = False,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Draw a figure of a result: quantities over time, energy, invariants, drift, reactions, paths, step sizes, phase
    planes, spectra.

    Exit codes:
    0 = written; 1 = the result does not hold what the figure needs; 2 = bad input (run, name, path).
    """
    with reported_errors(Voice(quiet=quiet)):
        of_something = OF_SOMETHING | OF_SWEEP
        if name not in ALONE and name not in of_something:
            body = _of_body(run, name)
            hint = body or f"`dalembert plot {run} time {name}` draws what is called so over time"
            text = nearest(name, (*ALONE, *of_something))
            close = text.startswith("did") and not body
            raise ModelError(f"there is no plot {name!r}; {text if close else f'{hint}; {text}'}")
        asked = [*(things or []), *([] if of is None else [of])]
        if asked and name in ALONE and name != PATHS:
            raise ModelError(f"plot {name}: {asked[-1]!r} has no meaning; leave it out")
        if degrees and name not in IN_DEGREES:
            raise ModelError(f"plot {name}: --degrees has no meaning; it is for {', '.join(IN_DEGREES)}")
        if len(asked) > 1 and name not in (OVER_TIME, PATHS, "phase"):
            several = f"`dalembert plot {run} time {' '.join(f'{thing}.f' for thing in asked)}` draws the sizes of the forces"
            more = several if name == "reactions" else "draw a figure of each"
            raise ModelError(f"plot {name} takes one name, not {len(asked)}; {more}")
        from dalembert.cli.source import check_result
        from dalembert.plot import check_picture_path, save_figure
        from dalembert.results.signals import spelt_out_of
        from dalembert.simulation.load import load
        from dalembert.simulation.sweep import Sweep

        check_result(run)

        target = out or Path(f"{name}.png")
        check_picture_path(target)
        found = load(run)
        if isinstance(found, Sweep) != (name in OF_SWEEP):
            other = ("a run", "a sweep; draw 'map OUTPUT' or 'fan OUTPUT'")[isinstance(found, Sweep)]
            raise ModelError(f"plot {name}: {run} holds {other}")
        if name in of_something and not asked:
            example = next(iter(there := _there(found, name)), "...")
            listed = f" ({', '.join(there[:_MOST])}{', ...' * (len(there) > _MOST)})" if there else ""
            what = f"{of_something[name]}{listed}, as in `dalembert plot {run} {name} {shlex.quote(example)}`"
            raise ModelError(f"plot {name}: of what? name {what}")
        if name in (OVER_TIME, "phase"):
            asked, left = spelt_out_of(found, asked)
            for text in left:
                warn(f"{run}: {text}")
        options = {"degrees": True} if degrees else {}
        save_figure(getattr(found.plot, name.replace("-", "_"))(*asked, **options), target)
        Voice(quiet=quiet).say(f"written: {target}")
