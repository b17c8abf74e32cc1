"""The table for people: columns that are signals have the names of signals, see `results.signals`; the others keep theirs.

`reaction_force[A,x]` is `A.fx`, and behind its components is their size, `A.f`; `coordinate_rate[A.angle]` is `A.rate`. Of a
body in a plane angular velocity and acceleration about the normal are `crank.angle.rate` and `crank.angle.acceleration`, as
angles count. What would mean two things keeps the name that it has in the dataset, and so do efforts of functions that are not
there. How far joints are off is no column: the report judges it.
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
from dalembert.results.signal_names import ENERGIES, meant

if TYPE_CHECKING:
    import xarray

_RESIDUALS = ("position_drift", "velocity_drift", "joint_position_drift", "joint_velocity_drift", "residual")
_DERIVATIVES = {"q": "", "velocity": "'", "acceleration": "''"}  # of coordinates of a Lagrangian system


def signal_table(dataset: xarray.Dataset, model: Model | LagrangianSystem) -> xarray.Dataset:
    """One variable over time for each column that says something."""
    columns = columns_of(dataset.drop_vars(_RESIDUALS, errors="ignore"))
    if isinstance(model, LagrangianSystem):
        names = {title: name for title, name in _of_system(model) if name not in ENERGIES}
    else:
        for title in idle_columns(dataset, model):
            columns.pop(title, None)
        columns = dict(_with_sizes(dataset, columns))
        names = {title: name for title, name in _of_bodies(model) if title in columns and _means_one(model, name)}
        if turns_in_plane(dataset, model):
            names |= _turning(model, columns)
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


def _with_sizes(dataset: xarray.Dataset, columns: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """The columns, behind the components of each reaction force their size."""
    forces = dataset.get("reaction_force")
    joints = [] if forces is None else forces["joint"].values.tolist()
    last: dict[str, tuple[str, int]] = {}
    for k, joint in enumerate(joints):
        kept = [title for axis in "xyz" if (title := f"reaction_force[{joint},{axis}]") in columns]
        last |= dict.fromkeys(kept[-1:], (joint, k))
    for title, values in columns.items():
        yield title, values
        if forces is not None and title in last:
            joint, k = last[title]
            yield f"reaction_force[{joint}]", np.linalg.norm(forces.values[:, k], axis=1)


def _turning(model: Model, columns: dict[str, Array]) -> dict[str, str]:
    """Angular velocities and accelerations about the normal of the plane, made those of angles."""
    assert model.plane is not None
    normal, names = InPlane(model.plane).normal, {}
    axis = int(np.abs(normal).argmax())
    for body, (kind, part) in product(model.bodies, (("velocity", "rate"), ("acceleration", "acceleration"))):
        title, name = f"angular_{kind}[{body.name},{'xyz'[axis]}]", f"{body.name}.angle.{part}"
        if title in columns and _means_one(model, name):
            names[title], columns[title] = name, normal[axis] * columns[title]
    return names


def _of_system(model: LagrangianSystem) -> Iterator[tuple[str, str]]:
    for name in model.coordinates:
        yield from ((f"{kind}[{name}]", f"{name}{dashes}") for kind, dashes in _DERIVATIVES.items())


def _of_bodies(model: Model) -> Iterator[tuple[str, str]]:
    """Titles of columns, and the signals that they are."""
    bodies, markers = [body.name for body in model.bodies], [marker.name for marker in model.markers]
    for kind, owners in (("", bodies), ("marker_", markers)):
        for owner in owners:
            yield from ((f"{kind}position[{owner},{axis}]", f"{owner}.{axis}") for axis in "xyz")
            yield from ((f"{kind}velocity[{owner},{axis}]", f"{owner}.v{axis}") for axis in "xyz")
            yield from ((f"{kind}acceleration[{owner},{axis}]", f"{owner}.a{axis}") for axis in "xyz")
    yield from ((f"angle[{body}]", f"{body}.angle") for body in bodies)
    for joint in model.joints:
        for coordinate in joint.coordinates:
            label = f"{joint.name}.{coordinate}"
            name = joint.name if len(joint.coordinates) == 1 else label
            yield f"coordinate[{label}]", name
            if not coordinate.startswith("rot"):
                yield f"coordinate_rate[{label}]", f"{name}.rate"
    held = [*(joint.name for joint in model.joints), *(driver.name for driver in model.drivers)]
    acting = [force.name for force in model.forces if not isinstance(force.function, MissingFunction)]
    for kind, owners in (("reaction", held), ("effort", acting)):
        for owner in owners:
            yield from ((f"{kind}_force[{owner},{axis}]", f"{owner}.f{axis}") for axis in "xyz")
            yield from ((f"{kind}_torque[{owner},{axis}]", f"{owner}.t{axis}") for axis in "xyz")
    yield from ((f"reaction_force[{owner}]", f"{owner}.f") for owner in held)
    yield from ((f"effort[{force}]", force) for force in acting)
    yield from ((f"effort_power[{force}]", f"{force}.power") for force in acting)


def _means_one(model: Model, name: str) -> bool:
    try:
        meant(model.structure, name)
    except ModelError:
        return False
    return True
