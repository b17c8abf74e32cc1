"""All named outputs of a run of a Lagrangian system as one xarray Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.io.dataset import about, attributes, time_series

if TYPE_CHECKING:
    import xarray

    from dalembert.results.lagrangian import LagrangianResult

__all__ = ["to_dataset"]


def to_dataset(solution: LagrangianResult) -> xarray.Dataset:
    """Dimensions: time, coordinate, row ("rod.1"). Units are those of the user's Lagrangian."""
    import xarray

    mechanism = solution.mechanism
    coordinates: dict[str, Any] = {
        "time": ("time", solution.t, {"units": "s", "long_name": "time"}),
        "coordinate": ("coordinate", np.array(mechanism.model.coordinates, dtype=object)),
        "row": ("row", np.array([name.rstrip(".") for name in mechanism.row_names()], dtype=object)),
    }
    over = ("time", "coordinate")
    variables = {
        "q": (over, solution.q, about("as given", "coordinates")),
        "velocity": (over, solution.u, about("as given", "velocities")),
        "acceleration": (over, solution.evaluated.acceleration, about("as given", "accelerations")),
        "multiplier": (("time", "row"), solution.evaluated.lam, about("as given", "multipliers, M v' = h + A^T lam")),
        "residual": (("time", "row"), solution.evaluated.g_dot, about("as given", "residual of the rows, velocity level")),
        **time_series(solution),
    }
    return xarray.Dataset(variables, coordinates, attributes(solution))
