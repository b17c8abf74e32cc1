"""dalembert modes, dalembert equilibrium"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.console import AsJson, ModelName, Set, Voice, print_json, reported_errors, rounded, say_written
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.questions.equilibrium import Equilibrium
    from dalembert.questions.linear_model import LinearModel

Rates = Annotated[list[str] | None, typer.Option("--rate", help="NAME=RATE of what moves at a constant rate, rad/s or m/s.")]
Balanced = Annotated[bool, typer.Option("--equilibrium", help="At the equilibrium near the given state, not at that itself.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Picture of the eigenvalues (.png, .svg, .pdf).")]
Number = Annotated[int, typer.Option("--mode", help="Which mode --out writes, counted from 0 as in the table.")]
Motion = Annotated[Path | None, typer.Option("--out", help="Result store (.zarr) of a period of --mode, for `view` to play.")]
Pose = Annotated[Path | None, typer.Option("--out", help="Result store (.zarr) of the pose, for `view`, `plot` and `export`.")]


def modes(
    model: ModelName,
    equilibrium: Balanced = False,
    rate: Rates = None,
    mode: Number = 0,
    set_: Set = None,
    out: Motion = None,
    plot: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Eigenvalues, frequencies and damping ratios of small motions about the initial state, or about an equilibrium.

    Exit codes:
    0 = done; 1 = no equilibrium was found; 2 = bad input.
    """
    with reported_errors():
        from dalembert.cli.source import find_model
        from dalembert.plot import save_figure
        from dalembert.questions.equilibrium import equilibrium as balance
        from dalembert.questions.linearise import linearise

        bodies = find_model(model, set_).bodies
        at: Any = balance(bodies, rates=rates_of(rate) or None) if equilibrium or rate else None
        linear = linearise(bodies, at)
        if out is not None:
            linear.motion(mode).save(out)
        if plot is not None:
            save_figure(linear.plot.eigenvalues(), plot)
        if as_json:
            print_json(_modes_data(linear))
            return
        _show_modes(linear)
        say_written(out, plot)


def equilibrium(
    model: ModelName, rate: Rates = None, set_: Set = None, out: Pose = None, plot: Picture = None, as_json: AsJson = False
) -> None:
    """A pose at rest near the given one, or a steady motion (--rate), with its reactions and stability.

    Exit codes:
    0 = found; 1 = there is none near, and what keeps moving is named; 2 = bad input.
    """
    with reported_errors():
        from dalembert.cli.source import find_model
        from dalembert.plot import save_figure
        from dalembert.questions.equilibrium import equilibrium as balance

        found: Any = balance(find_model(model, set_).bodies, rates=rates_of(rate) or None)
        if out is not None:
            found.solution.save(out)
        if plot is not None:
            save_figure(found.linear.plot.eigenvalues(), plot)
        if as_json:
            print_json(_equilibrium_data(found))
            return
        _show_equilibrium(found)
        say_written(out, plot)


def rates_of(texts: list[str] | None) -> dict[str, float]:
    """Of NAME=RATE."""
    found = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        try:
            found[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise ModelError(f"option --rate is {text!r}; give NAME=RATE, as in bearing=10")
    return found


def _modes_data(linear: LinearModel) -> dict[str, Any]:
    return {
        "steady_rates": linear.steady_rates,
        "residual": linear.residual,
        "states": list(linear.state_names),
        "eigenvalues": [[value.real, value.imag] for value in linear.eigenvalues.tolist()],
        "modes": linear.table(),
        "steady": linear.steady,
        "stable": linear.stable,
    }


def _show_modes(linear: LinearModel) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("\nmode", "real\n[1/s]", "imaginary\n[rad/s]", "frequency\n[Hz]", "damping\nratio"):
        table.add_column(name, justify="right")
    table.add_column("\nmoves most", overflow="fold")
    names = [name for name in linear.state_names if not name.endswith("'")]
    most = [max(names, key=lambda name: abs(mode.coordinate(name))) for mode in linear.modes]
    for k, (row, moving) in enumerate(zip(linear.texts(6), most, strict=True)):
        table.add_row(str(k), *row, moving)
    voice = Voice()
    moving = ", ".join(f"{name} at {rate:.6g}" for name, rate in linear.steady_rates.items())
    moving = (
        f"{moving or 'at rest'}; {linear.verdict}"
        if linear.steady
        else "the state is not steady, and nothing is said of stability"
    )
    voice.say(f"{linear.mechanism.model.name or 'model'}: {moving}")
    if table.row_count:
        voice.show(table)
    zeros = len(linear.eigenvalues) - len(linear.reduced_eigenvalues)
    if zeros:
        count = "one eigenvalue is" if zeros == 1 else f"{zeros} eigenvalues are"
        voice.say(f"{count} zero: what can be shifted, and steady motions next to this one")
    voice.say(f"residual {linear.residual:.2e}")


def _equilibrium_data(found: Equilibrium) -> dict[str, Any]:
    joints = [joint.name for joint in found.mechanism.model.joints]
    reactions = {name: found.reaction(name) for name in joints}
    return {
        "bodies": {name: found.position(name).tolist() for name in found.mechanism.body_names},
        "reactions": {name: {"force": r.force.tolist(), "torque": r.torque.tolist()} for name, r in reactions.items()},
        "stiffness": found.stiffness.tolist(),
        "steady_rates": found.steady_rates,
        "stable": found.stable,
        "residual": found.residual,
    }


def _show_equilibrium(found: Equilibrium) -> None:
    from rich.table import Table

    voice, data = Voice(), _equilibrium_data(found)
    moving = ", ".join(f"{name} at {rate:.6g}" for name, rate in found.steady_rates.items()) or "at rest"
    voice.say(f"{found.mechanism.model.name or 'model'}: {moving}; {found.verdict}")
    for title, rows in (("body [m]", data["bodies"]), ("reaction [N]", {k: r["force"] for k, r in data["reactions"].items()})):
        table = Table(box=None, pad_edge=False)
        for name in (title, "x", "y", "z"):
            table.add_column(name, justify="right")
        among = [value for row in rows.values() for value in row]
        for name, values in rows.items():
            table.add_row(name, *(rounded(value, among) for value in values))
        voice.show(table)
    voice.say(f"residual {found.residual:.2e}, {found.iterations} step{'s' if found.iterations != 1 else ''}")
