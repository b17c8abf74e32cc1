"""dalembert inverse"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalembert.cli.console import AsJson, ModelName, Set, Voice, print_json, reported_errors, say_written
from dalembert.cli.kinematics import TIMES
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.model.model import Model
    from dalembert.questions.inverse import InverseDynamics

Times = Annotated[str | None, typer.Option("--times", help=TIMES)]
Run = Annotated[Path | None, typer.Option("--run", help="Result store of a run of this model, whose motion is taken instead.")]
Actuators = Annotated[
    list[str] | None,
    typer.Option("--actuator", help="Motor, driver or joint that supplies; several times for several. Default: the drivers."),
]
Out = Annotated[Path | None, typer.Option(help="Table of efforts and powers over time to write (.csv).")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Picture of the efforts over time (.png, .svg, .pdf).")]


def inverse(
    model: ModelName,
    times: Times = None,
    run: Run = None,
    actuator: Actuators = None,
    set_: Set = None,
    out: Out = None,
    plot: Picture = None,
    as_json: AsJson = False,
) -> None:
    """What motors, drivers or joints must supply for a motion: that of the model's drivers (--times), or of a run (--run).

    Exit codes:
    0 = done; 1 = the motion cannot be made by these actuators, and what is not met is named; 2 = bad input.
    """
    with reported_errors():
        from dalembert.cli.source import find_model
        from dalembert.plot import save_figure

        if (times is None) == (run is None):
            raise ModelError("inverse: give --times FROM:TO:STEP, or --run RESULT, one of the two")
        if out is not None and out.suffix.lower() != ".csv":
            raise ModelError(f"option --out is '{out}'; give a path that ends in .csv")
        bodies = find_model(model, set_).bodies
        found = _of_run(bodies, run, actuator) if run is not None else _of_drivers(bodies, str(times), actuator)
        if out is not None:
            _write(found, out)
        if plot is not None:
            save_figure(found.plot(), plot)
        if as_json:
            print_json(_data(found))
        else:
            _show(found, bodies.name or "model")
            say_written(out, plot)
        if found.uncontrolled:
            raise typer.Exit(1)


def _of_run(model: Model, run: Path, actuators: list[str] | None) -> InverseDynamics:
    from dalembert.cli.source import check_result
    from dalembert.questions.inverse import inverse_dynamics
    from dalembert.simulation.load import load

    check_result(str(run))
    names = actuators or [driver.name for driver in model.drivers]
    if not names:
        raise ModelError("inverse: the model has no drivers; name what supplies with --actuator NAME")
    motion: Any = load(run)
    return inverse_dynamics(model, motion, names)


def _of_drivers(model: Model, times: str, actuators: list[str] | None) -> InverseDynamics:
    from dalembert.cli.kinematics import values_of
    from dalembert.questions.inverse import inverse_dynamics
    from dalembert.questions.kinematics import kinematics

    t = values_of("--times", times)
    if not model.drivers:
        raise ModelError(
            "inverse: the model has no drivers to make a motion; add one (add_driver, in a file under `drivers`), or give"
            " --run RESULT"
        )
    names = actuators or [driver.name for driver in model.drivers]
    free = model.copy()
    for driver in model.drivers:
        if driver.name not in names:
            free.remove(driver.name)
    if any(driver.joint is None for driver in model.drivers):
        motion: Any = kinematics(model, t)
        return inverse_dynamics(free, motion, names)
    on_joints: dict[Any, Any] = {}
    for driver in model.drivers:
        component = model.joint(str(driver.joint)).coordinates.index(driver.primitive.labels[0])
        on_joints[driver.joint, component] = driver.primitive.motion
    return inverse_dynamics(free, on_joints, names, t=t)


def _columns(found: InverseDynamics) -> dict[str, Any]:
    """Efforts by name, with their units."""
    model = found.motion.mechanism.model
    return {f"{a.name} [{'N' if a.slides(model) else 'N m'}]": found.effort(a.name) for a in found.actuators}


def _write(found: InverseDynamics, path: Path) -> None:
    import numpy as np

    from dalembert.errors import StoreError

    columns = {"t [s]": found.t} | _columns(found) | {f"{a.name} [W]": found.power(a.name) for a in found.actuators}
    names = ",".join('"' + name.replace('"', '""') + '"' for name in columns)
    try:
        np.savetxt(path, np.column_stack(list(columns.values())), delimiter=",", header=names, comments="")
    except OSError as problem:
        raise StoreError(f"{path}: cannot be written: {problem.strerror}") from None


def _data(found: InverseDynamics) -> dict[str, Any]:
    return {
        "note": found.note,
        "unique": found.unique,
        "uncontrolled": list(found.uncontrolled),
        "t": found.t.tolist(),
        "efforts": {a.name: found.effort(a.name).tolist() for a in found.actuators},
        "powers": {a.name: found.power(a.name).tolist() for a in found.actuators},
        "residual": found.residual.tolist(),
    }


def _show(found: InverseDynamics, name: str) -> None:
    from rich.table import Table

    from dalembert.results.signal_names import OVER_TIME

    table, columns = Table(box=None, pad_edge=False), _columns(found)
    for title in ("effort of", "smallest", "largest", "root mean square", "smallest power [W]", "largest power [W]"):
        table.add_column(title, justify="right")
    for actuator, (label, values) in zip(found.actuators, columns.items(), strict=True):
        power = found.power(actuator.name)
        rms = OVER_TIME["rms"][1](values[None], found.t)[0] if len(found.t) > 1 else abs(values[0])
        numbers = values.min(), values.max(), rms, power.min(), power.max()
        table.add_row(label, *(f"{number:.6g}" for number in numbers))
    voice = Voice()
    voice.say(f"{name}: {len(found.t)} instants, smallest and largest are those at these times; {found.note}")
    voice.show(table)
    voice.say(f"worst residual {found.residual.max():.2e}")
