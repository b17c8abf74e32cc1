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
    taking = "a model in these takes one of MovingFrame, Minimal, Impulse"
    text = f"{FORMULATIONS[name].__name__} does not take 'tree' coordinates; {taking}"
    with pytest.raises(da.ModelError, match=text):
        da.simulate(gallery.build("slider_crank"), 0.1, coordinates="tree", formulation=FORMULATIONS[name](), integrator=method)


@pytest.mark.parametrize("name", ["four_bar", "chain"])  # redundant rows in a cut joint; no cut joint
def test_impulses_on_a_tree_converge_like_those_on_bodies(name):
    t_end, exact = 0.08, da.simulate(gallery.build(name), 0.08, integrator=da.DOP853(rtol=1e-11, atol=1e-11))

    def error(coordinates, steps):
        integrator = da.RungeKutta4(step=t_end / steps)
        run = da.simulate(gallery.build(name), t_end, coordinates=coordinates, formulation=da.Impulse(), integrator=integrator)
        assert run.drift.position.max() <= 1e-10
        size = exact.mechanism.nq + exact.mechanism.nu
        return np.abs(run.x[-1] - exact.x[-1])[:size].max()

    on_tree = [error("tree", steps) for steps in (8, 16)]
    assert 3.4 <= on_tree[0] / on_tree[1] <= 4.6  # order 2
    assert on_tree[1] <= error("absolute", 16)


def test_impulses_of_cut_joints_are_those_on_bodies():
    options = {"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=2e-3)}
    runs = [da.simulate(gallery.build("four_bar_twin"), 0.02, coordinates=kind, **options) for kind in ("absolute", "tree")]
    bodies, tree = (run.impulse("C") for run in runs)  # the joint that closes the loop
    np.testing.assert_allclose(tree.force, bodies.force, rtol=0, atol=1e-7)
    np.testing.assert_allclose(tree.torque, bodies.torque, rtol=0, atol=1e-7)
    assert np.abs(tree.force[1:]).min() > 1e-3
    assert np.isnan(runs[1].impulse("A").force).all()  # its coordinates hold it: there is no impulse to tell
    np.testing.assert_allclose(runs[1].reaction("A").force, runs[0].reaction("A").force, rtol=0, atol=1e-4)


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
