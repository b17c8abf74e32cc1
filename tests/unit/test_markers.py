"""Named points: where they are, how they move, in tables, files, stored runs, plots and the viewer."""

import matplotlib
import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError

matplotlib.use("Agg")
pytestmark = pytest.mark.nojit


def model_of(plane=False):
    model = da.Model(name="marked")
    model.add_body("arm", **da.rod(1.0, 0.5).body(), position=(0.25, 0, 0), rotation=(0.6, 0, 0.8, 0))
    model.add_revolute("hinge", "ground", "arm", point=(0.0, 0, 0), axis=(0, 1, 0), rate=2.0)
    model.add_marker("tip", "arm", (0.25, 0, 0.1))
    model.add_marker("there", "arm", at=(0.3, 0.1, 0.2))
    model.add_marker("wall", "ground", at=(1, 2, 3))
    return model


@pytest.fixture(scope="module")
def run():
    return da.simulate(model_of(), 0.1, save_at=np.linspace(0, 0.1, 41), integrator=da.DormandPrince(rtol=1e-9, atol=1e-9))


def test_outputs_follow_the_body(run):
    np.testing.assert_allclose(run.position("there")[0], (0.3, 0.1, 0.2), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(run.position("tip"), run.point("arm", (0.25, 0, 0.1)))
    np.testing.assert_array_equal(run.position("wall"), np.tile((1.0, 2.0, 3.0), (41, 1)))
    assert not run.velocity("wall").any() and not run.acceleration("wall").any()
    h = run.t[1]
    for name in ("tip", "there"):
        x, v, a = run.position(name), run.velocity(name), run.acceleration(name)
        # saved between steps to about 1e-9, divided by h = 2.5 ms; accelerations follow from the states
        np.testing.assert_allclose((8 * (x[3:-1] - x[1:-3]) - (x[4:] - x[:-4])) / (12 * h), v[2:-2], rtol=0, atol=4e-6)
        np.testing.assert_allclose((8 * (v[3:-1] - v[1:-3]) - (v[4:] - v[:-4])) / (12 * h), a[2:-2], rtol=0, atol=4e-5)
    np.testing.assert_allclose(run(0.0501).position("tip"), run(0.0501).point("arm", (0.25, 0, 0.1)))


def test_same_in_every_coordinate_kind(run):
    for kind, method in (("planar", da.Jet()), ("tree", da.MovingFrame())):
        other = da.simulate(model_of(), 0.1, save_at=run.t, coordinates=kind, formulation=method)
        for output in ("position", "velocity", "acceleration"):
            np.testing.assert_allclose(getattr(other, output)("tip"), getattr(run, output)("tip"), rtol=0, atol=1e-6)


def test_tables_files_and_stored_runs(run, tmp_path):
    data = run.to_xarray()
    np.testing.assert_array_equal(data["marker_velocity"].sel(marker="tip"), run.velocity("tip"))
    run.export(tmp_path / "run.csv")
    assert "there.az" in (tmp_path / "run.csv").read_text().splitlines()[0]
    run.save(tmp_path / "run.zarr")
    np.testing.assert_array_equal(da.load(tmp_path / "run.zarr").position("there"), run.position("there"))
    model = model_of()
    model.to_yaml(tmp_path / "m.yaml")
    text = (tmp_path / "m.yaml").read_text()
    assert "markers:\n  tip:\n    body: arm\n    point: [0.25, 0, 0.1]\n" in text
    assert da.Model.from_yaml(tmp_path / "m.yaml").hash == model.hash == da.Model.from_dict(model.to_dict()).hash


def test_a_model_without_markers_is_as_it_was():
    model = da.Model()
    model.add_body("a", mass=1, inertia=(1, 1, 1))
    assert [e["class"] for e in model.to_dict()["elements"]] == ["Body"]


def test_viewer_and_plots_draw_the_path(run):
    from dalembert.viewer.scene import scene_of

    scene = scene_of(run)
    assert [body["name"] for body in scene["bodies"]] == ["arm", "tip", "there", "wall"]
    assert scene["trails"] == [1, 2]  # of markers on bodies instead of centres of mass
    stems = [
        part for part in scene["bodies"][0]["parts"] if part["kind"] == "capsule" and part["size"][0] < 0.003 * scene["scale"]
    ]
    assert len(stems) == 2  # to markers beside the rod, thinner than that to the hinge
    model = da.Model()
    model.add_body("arm", **da.rod(1.0, 0.5).body())
    model.add_marker("wall", "ground", at=(1, 2, 3))
    assert scene_of(da.simulate(model, 0.1))["trails"] == [0]
    labels = [line.get_label() for line in run.plot.trajectories().axes[0].lines]
    assert {"tip", "there"} <= set(labels)
    ax = run.plot.trajectories("tip", "arm").axes[0]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["arm", "tip", "ground joint"]
    assert ax.get_title("left") == "paths of tip, arm; bars and dots: start"
    with pytest.raises(da.ModelError, match="there is no body or marker 'tipp'; did you mean 'tip'"):
        run.plot.trajectories("tipp")


def test_a_path_that_is_no_body_is_answered_by_how_to_name_it():
    model = da.Model()
    model.add_body("a", mass=1, inertia=(1, 1, 1))
    with pytest.raises(
        da.ModelError, match="no body or marker 'hand'; known: 'a'; other points of bodies get names by add_marker"
    ):
        da.simulate(model, 0.1).plot.trajectories("hand")


@pytest.mark.parametrize(
    "add, text",
    [
        (lambda m: m.add_marker("tip", "arm"), "marker 'tip': this name is already used by a Marker"),
        (lambda m: m.add_marker("m", "leg"), "marker 'm': there is no body 'leg'"),
        (
            lambda m: m.add_marker("m", "arm", (0, 0, 0), at=(0, 0, 0)),
            r"marker 'm': got both point= and at=; give point= \(body",
        ),
        (lambda m: m.add_marker("m", "arm", (0, 0)), r"marker 'm': point has shape \(2,\)"),
        (lambda m: m.add_marker("m", "arm", at=(0, 0, np.nan)), "marker 'm': at is .*finite"),
        (lambda m: m.add_marker("m", "bead", (0, 0, 1)), "point mass 'bead'; give"),
        (lambda m: m.add_marker("m", "bead", at=(0, 0, 1)), r"at is \(0, 0, 1\) on point mass 'bead'; give \[0.0, 1.0, 0.0\]"),
    ],
)
def test_bad_markers(add, text):
    model = model_of()
    model.add_point_mass("bead", mass=1, position=(0, 1, 0))
    with pytest.raises(ModelError, match=text):
        add(model)


def test_axes_of_a_marker_are_those_of_its_body(run):
    with pytest.raises(ModelError, match="'tip' is a marker, a point without axes; give its body 'arm'"):
        run.rotation("tip")
    with pytest.raises(ModelError, match="there is no body 'tib'; did you mean 'tip'"):
        run.position("tib")
