"""The gallery: what is registered, and the numbers that its sources print."""

import inspect
import re

import numpy as np
import pytest

from dalembert import Rotation, compile, gallery, simulate
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
        np.testing.assert_allclose(model.body(name).position, position, rtol=0, atol=5.01e-4)
        np.testing.assert_allclose(model.body(name).rotation, rotation, rtol=0, atol=5.01e-4)
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
    np.testing.assert_allclose(slender.rotation, independent, rtol=0, atol=1e-15)
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
    np.testing.assert_allclose(model.body("rod 5").position, 9 * np.array([0, np.sin(0.1), -np.cos(0.1)]), rtol=0, atol=1e-13)


def test_chain_refuses_no_rods():
    with pytest.raises(ModelError, match="chain: n is 0; give a number of rods, at least 1"):
        gallery.chain(0)


# rigid bodies with 3 rows per ball joint: 6 n - 3 joints; the ring has one joint more than rods
FREEDOMS = {
    "towing_tank_ship": 1,
    "towing_tank_ship_compliant": 2,
    "pendulum_3d": 3,
    "pendulum_3d_torque": 3,
    "planar_quadrangle": 1,
    "crank_mechanism": 1,
    "slider_crank": 1,
    "slider_crank_c": 1,
    "four_bar": 1,
    "four_bar_twin": 1,
    "single_pendulum": 3,
    "double_pendulum": 6,
    "chain": 12,
    "chain_16": 48,
    "symmetric_top": 3,
    "torsion_chain": 12,
    "torsion_chain_rotation_vector": 12,
    "tethered_chain": 48,
    "tethered_chain_undamped": 48,
    "coiled_chain": 192,
    "mobile": 45,
    "ring": 57,
    "routh_sphere": 3,
    "homogeneous_sphere": 3,
    "rising_sphere": 3,
    "rocking_sphere": 3,
    "rolling_disc": 3,
    "rattleback": 3,
    "sleigh": 2,
    "bicycle": 3,
    "ball_robot": 6,
    "andrews": 1,
    "flyball_governor": 4,
    "heavy_top": 3,
    "euler_top": 6,
    "planar_pendulum": 1,
    "spherical_pendulum": 2,
    "spin_top": 5,
    "simple_pendulum": 1,
    "n_four_bar": 1,
    "bricard": 1,
}


LAGRANGIAN_FREEDOMS = {  # coordinates minus rows
    "oscillator": 2,
    "oscillator_on_circle": 1,
    "nonholonomic_particle": 2,
    "car_axis": 2,
    "chaplygin_sleigh": 2,
    "rolling_disc_in_coordinates": 3,
    "routh_sphere_in_coordinates": 3,
}


@pytest.mark.parametrize("name", LAGRANGIAN_FREEDOMS)
def test_every_lagrangian_entry_fits_its_constraints(name):
    mechanism = compile(gallery.build(name))
    assert mechanism.moved == ()
    assert mechanism.redundant == ()
    assert mechanism.degrees_of_freedom == LAGRANGIAN_FREEDOMS[name]


@pytest.mark.parametrize("name", [name for name in gallery.GALLERY if name not in LAGRANGIAN_FREEDOMS])
def test_every_entry_assembles_as_it_is(name):
    model = gallery.build(name)
    assembly = model.assemble()
    assert assembly.moved == ()
    assert assembly.position_residual[0] <= 1e-14  # rounding, for mechanisms of 1 to 30 m
    assert assembly.velocity_residual[0] <= 1e-14
    assert compile(model).degrees_of_freedom == FREEDOMS[name]


def test_top_has_the_mass_properties_of_its_parts():
    """Closed forms of the errata: mass 9 pi, centre of mass at 0.4 m exactly, I_1 and I_3 about it."""
    top = gallery.symmetric_top().body("top")
    assert top.mass == pytest.approx(9 * np.pi, rel=1e-15)
    assert np.linalg.norm(top.position) == pytest.approx(0.4, rel=1e-15)
    np.testing.assert_allclose(np.diag(top.inertia), (1.195768703772615, 1.195768703772615, 2.0145462891144548), rtol=1e-14)


def test_tether_is_slack_at_the_start():
    """Unstretched, straight above the end of the level chain; dampers between rods only, unless asked for."""
    model = gallery.tethered_chain()
    tether = model.forces[0]
    end = model.body("rod 16").position + np.array([0, 1, 0])
    np.testing.assert_allclose(tether.p_i - end, (0, 0, 10), rtol=0, atol=1e-14)
    assert (tether.length, tether.stiffness, tether.damping) == (10.0, 800.0, 50.0)
    assert [f.name for f in model.forces[1:]] == [f"damper {k}" for k in range(2, 17)]
    assert [f.name for f in gallery.tethered_chain(2, ground_damper=True).forces] == ["tether", "damper 1", "damper 2"]


def test_coil_lies_flat_and_does_not_cross_itself():
    model = gallery.coiled_chain()
    ends = np.array([np.zeros(3), *(body.position - body_axes(body) @ (0, 0, 1) for body in model.bodies)])
    assert np.abs(ends[:, 2]).max() <= 1e-13

    def side(p, q, r):
        return np.cross(q - p, r - p)[2]

    for i in range(64):
        for j in range(i + 2, 64):
            a, b, c, d = ends[i], ends[i + 1], ends[j], ends[j + 1]
            assert side(a, b, c) * side(a, b, d) > 0 or side(c, d, a) * side(c, d, b) > 0


@pytest.mark.parametrize("n", [3, 4, 20])
def test_ring_closes(n):
    model = gallery.ring(n)
    corners = np.array([body.position + body_axes(body) @ (0, 0, 1) for body in model.bodies])
    assert np.linalg.matrix_rank(corners[1:], tol=1e-9) == 2  # a plane through the origin, which is a corner
    lengths = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    np.testing.assert_allclose(lengths, 2.0, rtol=1e-14)
    mechanism = compile(model)
    assert mechanism.degrees_of_freedom == 3 * n - 3
    assert not mechanism.redundant


def body_axes(body):
    return Rotation(body.rotation).matrix


def test_ring_keeps_closed_and_its_energy():
    """Two seconds at the default tolerances of 1e-9."""
    solution = simulate(gallery.ring(), 2.0)
    assert solution.drift.position.max() <= 1.1e-11  # the projection's tolerance
    E = solution.energy
    assert np.abs(E.total - E.total[0]).max() <= 1e-8 * E.scale
    assert E.scale > 1000.0


def test_mobile_branches():
    model = gallery.mobile(2)
    joined = {joint.name: (joint.first, joint.second) for joint in model.joints}
    assert joined == {
        "hook": ("ground", "beam"),
        "hook L": ("beam", "beam L"),
        "hook R": ("beam", "beam R"),
        "hook LL": ("beam L", "ball LL"),
        "hook LR": ("beam L", "ball LR"),
        "hook RL": ("beam R", "ball RL"),
        "hook RR": ("beam R", "ball RR"),
    }
    assert len(gallery.mobile(4).bodies) == 31


def test_mobile_swings_and_keeps_its_energy():
    """Default tolerances of 1e-9; its beams tip one way and the other, 6 J in all."""
    solution = simulate(gallery.mobile(), 2.0)
    E = solution.energy
    assert np.abs(E.total - E.total[0]).max() <= 1e-7 * E.scale
    assert E.kinetic.max() > 1.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: gallery.ring(2), "ring: n is 2; give a number of rods, at least 3"),
        (lambda: gallery.coiled_chain(0), "coiled_chain: n is 0; give a number of rods, at least 1"),
        (lambda: gallery.mobile(0), "mobile: levels is 0; give a number of levels, at least 1"),
        (lambda: gallery.torsion_chain(()), "torsion_chain: stiffness is (); give one value per rod"),
        (lambda: gallery.torsion_chain(law="angles"), "torsion_chain: law is 'angles'; give 'euler-321' or 'rotation-vector'"),
    ],
)
def test_new_chains_refuse_what_is_no_chain(build, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        build()
