"""The gallery: what is registered, and the numbers that its sources print."""

import inspect
import re

import numpy as np
import pytest

from dalembert import gallery
from dalembert.errors import ModelError


def test_registry_names_are_unique_and_described():
    for name, entry in gallery.GALLERY.items():
        assert entry.name == name
        assert entry.description
        assert entry.t_end > 0
        assert not entry.source or f"[{entry.source}" in inspect.getdoc(entry.function)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ModelError, match="no mechanism 'slider-crank'; did you mean 'slider_crank'"):
        gallery.build("slider-crank")


def test_pendulum_torque_is_in_body_axes():
    assert gallery.pendulum_3d().forces == ()
    (torque,) = gallery.build("pendulum_3d_torque").forces
    assert torque.frame == "body"
    np.testing.assert_array_equal(torque.torque, (0, 10, 0))


def test_quadrangle_meets_the_printed_table_3():
    """Table 3 prints three digits: each coordinate within 5e-4."""
    model = gallery.planar_quadrangle()
    printed = {
        "crank": ((0.5, 0.866, 0), (0.866, 0, 0, 0.5)),
        "coupler": ((2.824, 2.553, 0), (0.978, 0, 0, 0.21)),
        "rocker": ((3.574, 1.687, 0), (0.877, 0, 0, 0.481)),
    }
    for name, (position, rotation) in printed.items():
        np.testing.assert_allclose(model.body(name).position, position, atol=5.01e-4)
        np.testing.assert_allclose(model.body(name).rotation, rotation, atol=5.01e-4)
    crank = model.body("crank").rotation
    assert 2 * np.arctan2(crank[3], crank[0]) == pytest.approx(np.pi / 3, abs=1e-15)


@pytest.mark.parametrize(
    ("mechanism", "types"),
    [
        (gallery.planar_quadrangle, ["revolute", "spherical", "cylindrical", "revolute"]),
        (gallery.crank_mechanism, ["spherical", "prismatic", "universal", "revolute"]),
    ],
)
def test_jet_joints_in_the_order_of_their_table(mechanism, types):
    assert [joint.type for joint in mechanism().joints] == types


def test_slider_crank_rod_variants():
    """A: axial (y) 4e-4; C: 4e-4 about n x u (z). The quaternion was computed independently for the same axes."""
    slender, other = gallery.slider_crank().body("rod"), gallery.slider_crank("C").body("rod")
    np.testing.assert_array_equal(np.diag(slender.inertia), (4e-3, 4e-4, 4e-3))
    np.testing.assert_array_equal(np.diag(other.inertia), (4e-3, 4e-3, 4e-4))
    independent = (0.4292576555326036, 0.5619055660577252, -0.6945534765828469, -0.13264791052512168)
    np.testing.assert_allclose(slender.rotation, independent, atol=1e-15)
    with pytest.raises(ModelError, match=re.escape("slider_crank: rod_inertia is 'B'; give 'A' or 'C'")):
        gallery.slider_crank("B")


def test_four_bar_lies_in_no_coordinate_plane():
    model = gallery.spatial_four_bar()
    normal = np.linalg.svd(np.array([b.position for b in model.bodies]))[2][-1]
    assert np.abs(normal).min() > 0.1


@pytest.mark.parametrize("joint", ["spherical", "revolute", "universal"])
def test_chain_hangs_together(joint):
    model = gallery.chain(5, joint)
    assert [j.type for j in model.joints] == [joint] * 5
    # inertia printed in the source: homogeneous prism m (l^2 + b^2) / 12 and m b^2 / 6
    np.testing.assert_allclose(np.diag(model.body("rod 1").inertia), [50 * 4.04 / 12] * 2 + [50 * 0.04 / 6], rtol=1e-14)
    np.testing.assert_allclose(model.body("rod 5").position, 9 * np.array([0, np.sin(0.1), -np.cos(0.1)]), atol=1e-13)


def test_chain_refuses_no_rods():
    with pytest.raises(ModelError, match="chain: n is 0; give a number of rods, at least 1"):
        gallery.chain(0)
