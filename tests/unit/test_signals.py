"""Signals by name: of markers, of one run as numbers, of sweeps as one number per run; and what other names are answered by."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dalembert as da


def arm(length=0.4):
    """A driven arm with a marker at its tip."""
    model = da.Model(plane="xz", name="arm")
    model.add_link("arm", (0, 0), (length, 0), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0))
    model.add_marker("tip", "arm", at=(length, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 2.0)))
    return model


@pytest.fixture(scope="module")
def run():
    return da.simulate(arm(), t_end=1.0, save_at=np.linspace(0.0, 1.0, 41))


def test_markers_are_signals_as_bodies_are(run):
    angle = 2.0 * run.t
    x, vz, v = (da.largest(run, f"tip.{part}") for part in ("x", "vz", "v"))
    np.testing.assert_allclose([x, vz, v], [0.4, 0.8, 0.8], rtol=1e-8)
    ax = run.plot.time("tip.x", "tip.z").axes[0]
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata()[[0, -1]], 0.4 * np.cos(angle[[0, -1]]), rtol=0, atol=1e-9)
    assert isinstance(run.plot.phase("tip.z"), Figure)
    with pytest.raises(da.ModelError, match=r"there is no signal 'tip\.angle'; 'tip' has tip\.x, y, z \(position\)"):
        run.plot.time("tip.angle")


def test_sweeps_keep_markers_and_have_ranges(tmp_path):
    options = {"parameters": {"length": [0.3, 0.4]}, "save_at": np.linspace(0.0, 1.0, 41)}
    found = da.simulate_many(arm, 1.0, outputs=["tip.x"], out=tmp_path / "s.zarr", progress=False, **options)
    kept = found["tip.x"].values
    for kind, expected in (("max", kept.max(1)), ("min", kept.min(1)), ("peak", abs(kept).max(1)), ("range", np.ptp(kept, 1))):
        np.testing.assert_array_equal(found[f"tip.x.{kind}"].values, expected)
    assert found["tip.x.range"].attrs["long_name"] == "range of x of tip"
    with pytest.raises(da.ModelError, match=r"of 'tip\.x' there are tip\.x\.max, tip\.x\.min, tip\.x\.peak, tip\.x\.range$"):
        found["tip.x.swing"]


def test_reactions_are_of_one_joint(run):
    for given in (("A", "motor"), (["A", "motor"],)):
        with pytest.raises(da.ModelError, match=r'takes one joint; of several plot\.time\("A\.f", "B\.f"\)'):
            run.plot.reactions(*given)
