"""What a table of a run in a plane is without, for people: quaternions, in favour of angles, and what is zero in every run
because nothing leaves the plane.

What is across the plane (positions, velocities and forces along the normal, turning and torques about the axes in it) stays
where it is not zero: bars drawn beside each other load their pins across. Where they are zero throughout, torques of hinges are
left out, and of a driver or a force element its force or its torque: what drives an angle has no force. The torque of what acts
along one angle has a column by its name, which counts as the angle does; about an axis of the world it may count the other way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.model.joints import type_of
from dalembert.model.model import Model
from dalembert.model.plane import InPlane
from dalembert.results.signal_names import effort_kind

if TYPE_CHECKING:
    import xarray

Mask = npt.NDArray[np.bool_]

_ROUNDING = 1e-10  # of the largest value of its kind
_LOADS = {"reaction": "joint", "effort": "force_element"}  # and the dimension that names what has them
_ABOUT = ("angular_velocity", "angular_acceleration", "reaction_torque", "effort_torque")


def idle_columns(dataset: xarray.Dataset, model: Model) -> set[str]:
    """Titles of columns, see `columns_of`, that say nothing; none where a body leaves the plane of the model, or where it has
    none."""
    if not turns_in_plane(dataset, model):
        return set()
    assert model.plane is not None
    across = np.abs(InPlane(model.plane).normal) > 0.5
    zeros = {str(name): _zero(dataset, str(name)) for name, v in dataset.data_vars.items() if v.dims[2:] == ("axis",)}
    idle = {name: zero & (~across if name in _ABOUT else across) for name, zero in zeros.items()}
    for name in (name for name in ("angular_velocity", "angular_acceleration") if name in idle):
        idle[name] |= np.isnan(dataset["angle"].values).all(axis=0)[:, None]  # point masses do not turn
    joints = {joint.name: type_of(joint).holds_rotation and "angle" not in joint.coordinates for joint in model.joints}
    for kind, dim in ((kind, dim) for kind, dim in _LOADS.items() if f"{kind}_torque" in idle):
        force, torque = (np.asarray(zeros[f"{kind}_{what}"].all(axis=1)) for what in ("force", "torque"))
        names = dataset[dim].values.tolist()
        idle[f"{kind}_torque"] |= (torque & ~np.array([joints.get(name, False) for name in names], dtype=bool))[:, None]
        idle[f"{kind}_force"] |= (force & ~torque & ~np.array([name in joints for name in names], dtype=bool))[:, None]
    bodies, components = (dataset[dim].values.tolist() for dim in ("body", "quaternion_component"))
    turning = [(kind, name) for kind, dim in _LOADS.items() if dim in dataset.dims for name in dataset[dim].values.tolist()]
    points = np.isnan(dataset["angle"].values).all(axis=0)
    return {
        *(f"{body}.quaternion.{component}" for body in bodies for component in components),
        *(f"{body}.angle" for body, point in zip(bodies, points, strict=True) if point),
        *(
            f"{name}.{kind}_torque.{axis}"
            for kind, name in turning
            if effort_kind(model, name)[0] == "torque"
            for axis in "xyz"
        ),
        *(
            f"{label}.{name}.{axis}"
            for name, gone in idle.items()
            for label, row in zip(dataset[dataset[name].dims[1]].values, gone, strict=True)
            for axis, out in zip("xyz", row, strict=True)
            if out
        ),
    }


def turns_in_plane(dataset: xarray.Dataset, model: Model) -> bool:
    """Whether its bodies have one angle each."""
    return model.plane is not None and "angle" in dataset and dataset["angle"].dims == ("time", "body")


def _zero(dataset: xarray.Dataset, name: str) -> Mask:
    """(labels, 3) whether a vector is zero throughout, to rounding, beside the largest of its kind."""
    values = np.abs(dataset[name].values)
    size = _largest(values)
    if name == "angular_acceleration":  # at constant speed it is rounding alone
        size = max(size, _largest(dataset["angular_velocity"].values) ** 2)
    if name.endswith("_torque"):
        forces = [dataset[f"{kind}_force"].values for kind in _LOADS if f"{kind}_force" in dataset]
        span = float(np.ptp(dataset["position"].values.reshape(-1, 3), axis=0).max(initial=0.0))
        size = max(size, span * max(map(_largest, forces)))
    return np.asarray(values.max(axis=0, initial=0.0) <= _ROUNDING * size)


def _largest(values: Array) -> float:
    return float(np.nan_to_num(np.abs(values)).max(initial=0.0))
