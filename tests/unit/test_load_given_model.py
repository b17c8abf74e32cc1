"""Runs of models with user functions, loaded with the model given again: the same outputs, and nothing but the same model."""

import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import StoreError


def wire(bead, t):
    return bead.r[2] - 0.1 * bead.r[0] ** 2 - 0.02 * np.sin(t)


def bead(constraint=wire, mass=1.0, name="wire", force=lambda t: (np.sin(t), 0.0, 0.0)):
    model = da.Model(name="bead")
    model.add_point_mass("bead", mass=mass, position=(1, 0, 0.1), velocity=(0, 0, 0.02))
    model.add_constraint(name, constraint, "bead")
    model.add_velocity_constraint("rail", lambda bead: bead.v[1], "bead")
    model.add_force("push", "bead", force)
    return model


@pytest.fixture
def stored(tmp_path):
    solution = da.simulate(bead(), 0.5, save_at=np.linspace(0, 0.5, 6))
    solution.save(tmp_path / "run.zarr")
    return solution, tmp_path / "run.zarr"


def test_constraints_written_as_functions_need_the_model(stored):
    with pytest.raises(StoreError, match=r"run\.zarr: the run has constraints or motions written as functions.*\(path, model="):
        da.load(stored[1])


def test_loaded_with_its_model_everything_is_there(stored):
    solution, path = stored
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = da.load(path, model=bead())
    np.testing.assert_array_equal(again.x, solution.x)
    np.testing.assert_array_equal(again.reaction("wire").force, solution.reaction("wire").force)
    np.testing.assert_array_equal(again(0.123).x, solution(0.123).x)
    assert again.report().passed == solution.report().passed
    again.save(path, overwrite=True)
    np.testing.assert_array_equal(da.load(path, model=bead()).x, solution.x)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            bead(mass=2.0),
            r"not the one that ran: elements\['bead'\]\.mass is 2\.0, stored 1\.0; build it",
        ),
        (bead(name="cable"), r"elements\['cable'\]\.name is 'cable', stored 'wire'"),
        (bead(force=(1.0, 0.0, 0.0)), r"elements\['push'\]\.force is"),
        (da.Model(), "not the one that ran: name is '', stored 'bead'"),
        (gallery.oscillator(), "the run is of another kind of model than <LagrangianSystem"),
        ("bead", "model is 'bead'; give the Model or LagrangianSystem that was simulated"),
    ],
    ids=["mass", "name", "force", "empty", "kind", "text"],
)
def test_another_model_is_refused(stored, model, message):
    with pytest.raises(StoreError, match=message):
        da.load(stored[1], model=model)


def test_another_function_is_taken_with_a_warning(stored):
    solution, path = stored

    def steeper(bead, t):
        return bead.r[2] - 0.2 * bead.r[0] ** 2 + 0.1 - 0.02 * np.sin(t)

    with pytest.warns(RuntimeWarning, match=r"functions at elements\['wire'\]\.primitives\[0\]\.function read otherwise"):
        again = da.load(path, model=bead(steeper))
    np.testing.assert_array_equal(again.x, solution.x)


def test_lagrangian_runs_load_with_and_without_their_system(tmp_path):
    system = gallery.nonholonomic_particle()
    solution = da.simulate(system, 0.5)
    solution.save(tmp_path / "run.zarr")
    for again in (da.load(tmp_path / "run.zarr"), da.load(tmp_path / "run.zarr", model=system)):
        np.testing.assert_array_equal(again.x, solution.x)
        np.testing.assert_array_equal(again(0.3).x, solution(0.3).x)
    with pytest.raises(StoreError, match=r"not the one that ran: parameters\.m is 2\.0, stored 1\.0"):
        da.load(tmp_path / "run.zarr", model=system.replace(parameters={"m": 2.0}))
