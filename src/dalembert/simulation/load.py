"""load: a stored run as a solution, a stored sweep as a sweep."""

from __future__ import annotations

import os
from typing import Any

from dalembert.io.results import read
from dalembert.io.sweep_store import is_sweep
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import by_name
from dalembert.simulation.solution import solution_of
from dalembert.simulation.sweep import Sweep


@by_name
def load(path: str | os.PathLike[str], *, model: Model | LagrangianSystem | None = None) -> Any:
    """The solution of a result store: states bit for bit, every named output, the report, dense output.

    model : the model that ran, with its user functions, which a file cannot hold: needed for constraints written by users,
        and for dense output with users' forces. It has to match the stored one in everything but the functions.

    A run that was killed while `simulate(..., out=path)` wrote it loads with the states committed until then and
    status "incomplete". A store of `simulate_many(..., out=path)` loads as a `Sweep`.
    """
    if is_sweep(path):
        return Sweep(path)
    return read(path, model=model, made_by=solution_of)
