"""coordinates="tree": a choice like the others, for the formulations that take it; results are told in absolute ones."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.formulations import FORMULATIONS

STEP = da.RungeKutta4(step=1e-3)
pytestmark = pytest.mark.nojit


@pytest.mark.parametrize(
    ("on_tree", "on_bodies"),
    [(None, da.MovingFrame()), (da.MovingFrame(), da.MovingFrame()), (da.Minimal(), da.Minimal(velocities="joints"))],
)
def test_same_states_as_by_the_formulation_alone(on_tree, on_bodies):
    model = gallery.build("slider_crank")
    tree = da.simulate(model, 0.005, coordinates="tree", formulation=on_tree, integrator=STEP)
    usual = da.simulate(model, 0.005, formulation=on_bodies, integrator=STEP)
    np.testing.assert_array_equal(tree.x, usual.x)
    assert tree.settings["coordinates"] == "tree" and tree.mechanism.coordinates == "tree"
    assert type(tree.formulation) is type(on_bodies)


@pytest.mark.parametrize("name", [name for name, cls in FORMULATIONS.items() if "tree" not in cls.coordinates])
def test_others_refuse_it(name):
    method = da.FixedStep(step=1e-3) if FORMULATIONS[name].steps == "own" else STEP
    text = f"{FORMULATIONS[name].__name__} does not take 'tree' coordinates; a model in these takes one of MovingFrame, Minimal"
    with pytest.raises(da.ModelError, match=text):
        da.simulate(gallery.build("slider_crank"), 0.1, coordinates="tree", formulation=FORMULATIONS[name](), integrator=method)


def test_unknown_coordinates_are_refused():
    with pytest.raises(da.ModelError, match="coordinates are 'trees'; give one of 'absolute', 'planar', 'tree'"):
        da.compile(gallery.build("slider_crank"), coordinates="trees")


def test_stored_runs_come_back(tmp_path):
    run = da.simulate(gallery.build("slider_crank"), 0.005, coordinates="tree", integrator=STEP)
    run.save(tmp_path / "run.zarr")
    assert da.load(tmp_path / "run.zarr").mechanism.coordinates == "tree"


def test_reports_and_reactions_are_those_of_bodies():
    model = gallery.build("slider_crank")
    tree = da.simulate(model, 0.005, coordinates="tree", formulation=da.MovingFrame(), integrator=STEP)
    usual = da.simulate(model, 0.005, formulation=da.MovingFrame(), integrator=STEP)
    assert tree.report().passed
    np.testing.assert_array_equal(tree.reaction("A").force, usual.reaction("A").force)
