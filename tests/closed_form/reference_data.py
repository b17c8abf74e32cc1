"""Reference problems of tests/data, and what the closed-form tests have in common."""

import json
from pathlib import Path

import numpy as np

import dalembert as da

FOLDER = Path(__file__).parents[1] / "data"

# The tolerances at which the reference motions are demanded; every bound on a result below follows from them.
TIGHT = {"rtol": 1e-11, "atol": 1e-11}
INTEGRATORS = [da.DOP853(**TIGHT), da.DormandPrince(**TIGHT)]
NAMES = [type(integrator).__name__ for integrator in INTEGRATORS]


def load(name):
    """One problem; `t` and `columns` as arrays."""
    data = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    if "t" in data:
        data["t"] = np.array(data["t"])
        data["columns"] = {key: np.array(values) for key, values in data["columns"].items()}
    if "series" in data:
        rows = data["series"]
        data["t"] = np.array([row["t"] for row in rows])
        data["columns"] = {key: np.array([row[key] for row in rows]) for key in rows[0] if key != "t"}
    return data


def run(model, times, integrator=None, **options):
    """Simulate to the last of `times` and save at all of them."""
    integrator = da.DOP853(**TIGHT) if integrator is None else integrator
    return da.simulate(model, float(times[-1]), integrator=integrator, save_at=times, **options)


def largest(difference):
    return float(np.abs(difference).max())
