"""The table of a run: columns that are signals have the names of signals, see `results.signals`; the others keep theirs.

`A.reaction_force.x` is `A.fx`, and behind its components is their size, `A.f`; `A.angle.coordinate_rate` is `A.rate`. Of a
body in a plane angular velocity and acceleration about the normal are `crank.angle.rate` and `crank.angle.acceleration`, as
angles count. What would mean two things keeps the name that `spread` gives it, and so do efforts of functions that are not
there. For people there is no column of what says nothing in a plane, nor of how far joints are off: the report judges it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.io.export import columns_of
from dalembert.io.plane_table import idle_columns, turns_in_plane
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.plane import InPlane
from dalembert.model.serialise import MissingFunction
from dalembert.results.over import per
from dalembert.results.signal_names import ENERGIES, meant, of_unit, units_along, words_of
from dalembert.results.signals import label_and_unit, with_unit

if TYPE_CHECKING:
    import xarray

_RESIDUALS = ("position_drift", "velocity_drift", "joint_position_drift", "joint_velocity_drift", "residual")
_DERIVATIVES = {"q": "", "velocity": "'", "acceleration": "''"}  # of coordinates of a Lagrangian system


def signal_table(dataset: xarray.Dataset, model: Model | LagrangianSystem, *, whole: bool = False) -> xarray.Dataset:
    """One variable over time for each column; whole : also for those that say nothing to people."""
    columns = columns_of(dataset if whole else dataset.drop_vars(_RESIDUALS, errors="ignore"))
    columns.pop(dataset["time"].attrs.get("signal", ""), None)  # what was swept is a coordinate
    if isinstance(model, LagrangianSystem):
        names = {title: name for title, name in _of_system(model) if name not in ENERGIES}
    else:
        for title in () if whole else idle_columns(dataset, model):
            columns.pop(title, None)
        columns = dict(_with_sizes(dataset, columns))
        if turns_in_plane(dataset, model):
            columns = dict(_with_angles(model, columns, whole))
        names = {title: name for title, name in _of_bodies(model) if title in columns and _means_one(model, name)}
    own = {title: values for title, values in columns.items() if title not in names}
    made = {}
    for title, values in columns.items():
        name = names.get(title, title)
        if title in own or name not in own:
            made[name] = values
        elif not np.array_equal(own[name], values, equal_nan=True):  # what is called like that is another output
            made[title] = values
    variables = {name: ("time", values) for name, values in made.items() if name != "time"}
    return dataset.drop_vars(dataset.variables).assign_coords(time=dataset["time"]).assign(variables)


def in_degrees(table: xarray.Dataset, model: Model | LagrangianSystem) -> xarray.Dataset:
    """Columns of angles, their rates and accelerations in degrees, which their names then say; also what was swept."""
    if isinstance(model, LagrangianSystem):
        raise ModelError("degrees: which coordinates of a Lagrangian system are angles is not known; leave it out")
    turned, names, along = {}, dict[str, str](), table["time"]
    by, others = str(along.attrs.get("units", "s")), _units_of_others(model)
    for name, values in ((str(name), values) for name, values in table.data_vars.items()):
        before = str(values.attrs.get("units") or per(_unit(model, name) or others.get(name, ""), by))
        factor, unit = of_unit(before)
        told = name if unit == before else _told_in(name, unit)
        if told in names:
            raise ModelError(
                f"degrees: the columns {names[told]!r} and {name!r} would both be {told!r};"
                ' give functions names of their own, ("swing [rad]", function)'
            )
        names[told] = name
        turned[told] = "time", factor * values.values, values.attrs | ({} if unit == before else {"units": unit})
    factor, unit = of_unit(by)
    about = along.attrs if unit == by else along.attrs | {"units": unit, "signal": _told_in(along.attrs["signal"], unit)}
    return table.drop_vars(table.variables).assign_coords(time=("time", factor * along.values, about)).assign(turned)


def _told_in(name: str, unit: str) -> str:
    return with_unit(label_and_unit(name)[0], unit)


def _unit(model: Model, name: str) -> str:
    """Of a column that is a signal."""
    return words_of(model.structure, *meant(model.structure, name))[1] if _means_one(model, name) else ""


def _units_of_others(model: Model) -> dict[str, str]:
    """Of columns of coordinates, rates and angular velocities that are no signals."""
    units = {}
    for joint, (kind, ending) in product(model.joints, (("coordinate", "coordinate"), ("rate", "coordinate_rate"))):
        for coordinate in joint.coordinates:
            units[f"{joint.name}.{coordinate}.{ending}"] = words_of(model, kind, joint.name, coordinate)[1]
    for force in model.forces:
        for k, unit in enumerate(units_along(model, force)):
            label = force.name if force.coordinates == 1 else f"{force.name}[{k}]"
            units |= {f"{label}.effort_coordinate": unit, f"{label}.effort_rate": f"{unit}/s"}
    for body, axis in product(model.bodies, "xyz"):
        units[f"{body.name}.angular_velocity.{axis}"] = "rad/s"
        units[f"{body.name}.angular_acceleration.{axis}"] = "rad/s^2"
    return units


def _with_sizes(dataset: xarray.Dataset, columns: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """The columns, behind the components of each reaction force their size."""
    forces = dataset.get("reaction_force")
    joints = [] if forces is None else forces["joint"].values.tolist()
    last: dict[str, tuple[str, int]] = {}
    for k, joint in enumerate(joints):
        kept = [title for axis in "xyz" if (title := f"{joint}.reaction_force.{axis}") in columns]
        last |= dict.fromkeys(kept[-1:], (joint, k))
    for title, values in columns.items():
        yield title, values
        if forces is not None and title in last:
            joint, k = last[title]
            yield f"{joint}.reaction_force", np.linalg.norm(forces.values[:, k], axis=1)


def _with_angles(model: Model, columns: Mapping[str, Array], whole: bool) -> Iterator[tuple[str, Array]]:
    """The columns, angular velocities and accelerations about the normal of the plane as those of angles."""
    assert model.plane is not None
    normal, names = InPlane(model.plane).normal, {}
    axis = int(np.abs(normal).argmax())
    for body, (kind, part) in product(model.bodies, (("velocity", "rate"), ("acceleration", "acceleration"))):
        names[f"{body.name}.angular_{kind}.{'xyz'[axis]}"] = f"{body.name}.angle.{part}"
    for title, values in columns.items():
        turning = title in names and _means_one(model, names[title])
        if turning:
            yield names[title], normal[axis] * values
        if whole or not turning:
            yield title, values


def _of_system(model: LagrangianSystem) -> Iterator[tuple[str, str]]:
    for name in model.coordinates:
        yield from ((f"{name}.{kind}", f"{name}{dashes}") for kind, dashes in _DERIVATIVES.items())


def _of_bodies(model: Model) -> Iterator[tuple[str, str]]:
    """Titles of columns, and the signals that they are."""
    bodies, markers = [body.name for body in model.bodies], [marker.name for marker in model.markers]
    for kind, owners in (("", bodies), ("marker_", markers)):
        for owner in owners:
            yield from ((f"{owner}.{kind}position.{axis}", f"{owner}.{axis}") for axis in "xyz")
            yield from ((f"{owner}.{kind}velocity.{axis}", f"{owner}.v{axis}") for axis in "xyz")
            yield from ((f"{owner}.{kind}acceleration.{axis}", f"{owner}.a{axis}") for axis in "xyz")
    for body in bodies:
        yield from ((f"{body}.angular_velocity.{axis}", f"{body}.w{axis}") for axis in "xyz")
        yield from ((f"{body}.angular_acceleration.{axis}", f"{body}.w{axis}.rate") for axis in "xyz")
    for joint in model.joints:
        for coordinate in joint.coordinates:
            label = f"{joint.name}.{coordinate}"
            name = joint.name if len(joint.coordinates) == 1 else label
            yield f"{label}.coordinate", name
            if not coordinate.startswith("rot"):
                yield f"{label}.coordinate_rate", f"{name}.rate"
    held = [*(joint.name for joint in model.joints), *(driver.name for driver in model.drivers)]
    acting = [force.name for force in model.forces if not isinstance(force.function, MissingFunction)]
    for kind, owners in (("reaction", held), ("effort", acting)):
        for owner in owners:
            yield from ((f"{owner}.{kind}_force.{axis}", f"{owner}.f{axis}") for axis in "xyz")
            yield from ((f"{owner}.{kind}_torque.{axis}", f"{owner}.t{axis}") for axis in "xyz")
    yield from ((f"{owner}.reaction_force", f"{owner}.f") for owner in held)
    yield from ((f"{force}.effort", force) for force in acting)
    yield from ((f"{force}.effort_power", f"{force}.power") for force in acting)


def _means_one(model: Model, name: str) -> bool:
    try:
        meant(model.structure, name)
    except ModelError:
        return False
    return True
