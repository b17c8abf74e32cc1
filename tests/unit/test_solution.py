"""Every named output of a solution: shapes, meaning, names that do not exist, joint coordinates over many turns."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

NT = 41
TIMES = np.linspace(0.0, 1.0, NT)


@pytest.fixture(scope="module")
def solution():
    return da.simulate(gallery.build("slider_crank"), 1.0, save_at=TIMES)


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_every_output_has_its_shape(coordinates):
    s = da.simulate(gallery.build("planar_quadrangle"), 1.0, save_at=TIMES, coordinates=coordinates)
    body, joints = s.mechanism.body_names[1], s.mechanism.model.joints
    assert s.t.shape == (NT,)
    assert s.x.shape == (NT, len(s.mechanism.x_0))
    assert s.q.shape == (NT, s.mechanism.nq)
    assert s.u.shape == (NT, s.mechanism.nu)
    assert s.rotation(body).shape == (NT, 3, 3)
    assert s.quaternion(body).shape == (NT, 4)
    for values in (
        s.position(body),
        s.velocity(body),
        s.acceleration(body),
        s.angular_velocity(body),
        s.angular_velocity(body, frame="body"),
        s.point(body, (1, 2, 3)),
        s.velocity(body, (1, 2, 3)),
        s.reaction(joints[0].name).force,
        s.reaction(joints[0]).torque,
    ):
        assert values.shape == (NT, 3)
    for joint in joints:
        n = len(joint.coordinates)
        expected = (NT,) if n == 1 else (NT, n)
        assert s.coordinate(joint).shape == expected
        assert s.coordinate_rate(joint.name).shape == expected
        assert s.drift.by_joint(joint).position.shape == (NT,)
    for values in (s.energy.kinetic, s.energy.potential, s.energy.external_work, s.energy.total):
        assert values.shape == (NT,)
    for values in (s.drift.position, s.drift.velocity):
        assert values.shape == (NT,)
    assert s.statistics.accepted > 0
    assert s.statistics.rate_evaluations > s.statistics.accepted
    assert set(s.statistics.time) >= {"assembly", "integration"}
    assert s.report().passed
    assert s(0.5).position(body).shape == (3,)
    assert s([0.25, 0.5]).position(body).shape == (2, 3)


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_outputs_belong_together(coordinates):
    s = da.simulate(gallery.build("planar_quadrangle"), 1.0, save_at=TIMES, coordinates=coordinates)
    for body in s.mechanism.body_names:
        a, b, _, d = s.quaternion(body).T
        R = s.rotation(body)
        np.testing.assert_allclose(R[:, 2, 1] - R[:, 1, 2], 4 * a * b, rtol=0, atol=1e-13)
        np.testing.assert_allclose(R[:, 1, 0] - R[:, 0, 1], 4 * a * d, rtol=0, atol=1e-13)
        np.testing.assert_allclose(np.einsum("tij,tkj->tik", R, R), np.tile(np.eye(3), (NT, 1, 1)), rtol=0, atol=1e-14)
        w_W, w_B = s.angular_velocity(body), s.angular_velocity(body, frame="body")
        np.testing.assert_allclose(w_W, np.einsum("tij,tj->ti", R, w_B), rtol=0, atol=1e-13 * np.abs(w_W).max())
        arm = s.point(body, (0.1, 0.2, 0.3)) - s.position(body)
        relative = s.velocity(body, (0.1, 0.2, 0.3)) - s.velocity(body)
        np.testing.assert_allclose(relative, np.cross(w_W, arm), rtol=0, atol=1e-13 * np.abs(w_W).max())


def test_ground_is_a_body_at_rest(solution):
    assert not solution.position("ground").any()
    assert not solution.velocity("ground").any()
    np.testing.assert_array_equal(solution.rotation("ground"), np.tile(np.eye(3), (NT, 1, 1)))
    np.testing.assert_array_equal(solution.point("ground", (1, 2, 3)), np.tile([1.0, 2.0, 3.0], (NT, 1)))


def test_unknown_names_give_the_nearest(solution):
    cases = [
        (lambda: solution.position("slidr"), "no body 'slidr'; did you mean 'slider'"),
        (lambda: solution.angular_velocity("krank"), "did you mean 'crank'"),
        (lambda: solution.coordinate("E"), "no joint 'E'; known: 'A', 'B', 'C', 'D'"),
        (lambda: solution.reaction("a"), "no joint or driver 'a'"),
        (lambda: solution.drift.by_joint("X"), "no joint or driver 'X'"),
        (lambda: solution.angular_velocity("rod", frame="joint"), "frame is 'joint'; give 'world' or 'body'"),
    ]
    for call, message in cases:
        with pytest.raises(da.ModelError, match=message):
            call()


def test_fixed_joint_has_no_coordinates():
    model = da.Model()
    model.add_body("block", mass=1.0, inertia=(1, 1, 1))
    model.add_fixed("weld", model.ground, "block", point=(0, 0, 0))
    s = da.simulate(model, 0.1)
    with pytest.raises(da.ModelError, match="fixed joint 'weld' has no coordinates"):
        s.coordinate("weld")


def test_dense_output_agrees_with_a_run_that_saves_there(solution):
    sparse = da.simulate(gallery.build("slider_crank"), 1.0, save_at=[0.0, 1.0])
    between = sparse([0.3, 0.775])
    # both within the integration error at rtol = 1e-9 of the same motion
    np.testing.assert_allclose(between.position("slider"), solution.position("slider")[[12, 31]], rtol=0, atol=1e-8)
    np.testing.assert_array_equal(solution(TIMES[7]).position("rod"), solution.position("rod")[7])
    with pytest.raises(da.SimulationError, match="the run covers t = 0 to 1 s"):
        solution(1.5)


def test_dense_output_at_an_array_of_times_has_all_outputs(solution):
    times = solution.t[0] + (solution.t[-1] - solution.t[0]) * np.array([0.31, 0.62])
    both, joint = solution(times), solution.mechanism.model.joints[0].name
    for k, t in enumerate(times):
        np.testing.assert_allclose(both.reaction(joint).force[k], solution(t).reaction(joint).force, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(both.energy.total[k], solution(t).energy.total, rtol=1e-9)


def test_angle_counts_turns_between_sparse_times():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("rotor", mass=1.0, inertia=(1, 2, 3), angular_velocity=(0, 0, 10))
    model.add_revolute("axle", model.ground, "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    s = da.simulate(model, 50.0, save_at=[0.0, 0.1, 20.0, 50.0])
    # 80 turns; what the integrator leaves over 50 s at rtol = 1e-9
    np.testing.assert_allclose(s.coordinate("axle"), 10 * s.t, rtol=0, atol=1e-6)
    np.testing.assert_allclose(s.coordinate_rate("axle"), 10.0, rtol=0, atol=1e-9)


def many_joints():
    """One loose body per joint type with coordinates, all moving."""
    model = da.Model(gravity=(0.1, -0.2, -0.3), name="many joints")
    spin = {"revolute": (0, 0, 2), "cylindrical": (0, 0, 1), "planar": (0, 0, 3), "universal": (0.5, 0.7, 0)}
    speed = {"cylindrical": (0, 0, 1), "prismatic": (0, 0, 2), "planar": (1, -1, 0), "distance": (0, 0.3, 0)}
    for k, kind in enumerate(("revolute", "cylindrical", "prismatic", "planar", "universal", "distance")):
        x = 3.0 * k
        model.add_body(
            kind, mass=1.0, inertia=(1, 2, 2.5), position=(x, 0, 0),
            angular_velocity=spin.get(kind, (0, 0, 0)), velocity=speed.get(kind, (0, 0, 0)),
        )  # fmt: skip
        name = f"to {kind}"
        if kind == "universal":
            model.add_universal(name, model.ground, kind, point=(x, 0, 0), axes=((1, 0, 0), (0, 1, 0)))
        elif kind == "distance":
            model.add_distance(name, model.ground, kind, points=((x, 0, 1), (0, 0, 0.2)))
        elif kind == "planar":
            model.add_planar_joint(name, model.ground, kind, point=(x, 0, 0), axis=(0, 0, 1))
        else:
            getattr(model, f"add_{kind}")(name, model.ground, kind, point=(x, 0, 0), axis=(0, 0, 1))
    return model


def test_coordinate_rates_are_the_slopes_of_coordinates(solution):
    h = 1e-3
    fine = np.arange(0, 1 + h / 2, h)
    runs = [
        da.simulate(many_joints(), 1.0, save_at=fine),
        da.simulate(gallery.build("slider_crank"), 1.0, save_at=fine),
    ]
    checked = 0
    for s in runs:
        for joint in s.mechanism.model.joints:
            if joint.type == "spherical":  # its rate is the angular velocity, tested below
                continue
            q, rate = s.coordinate(joint), s.coordinate_rate(joint)
            slope = (q[2:] - q[:-2]) / (2 * h)
            third = np.abs(np.diff(rate, 2, axis=0)).max() / h**2
            # central differences: h^2/6 q''' and the integration error over h
            np.testing.assert_allclose(slope, rate[1:-1], rtol=0, atol=h**2 / 6 * third * 1.1 + 1e-6, err_msg=joint.name)
            checked += 1
    assert checked == 9


def test_spherical_rate_is_the_relative_angular_velocity(solution):
    joint = next(j for j in solution.mechanism.model.joints if j.type == "spherical")
    w = solution.angular_velocity(joint.second) - solution.angular_velocity(joint.first)
    axes = solution.rotation(joint.second) @ joint.E_j
    np.testing.assert_allclose(solution.coordinate_rate(joint), np.einsum("tji,tj->ti", axes, w), rtol=0, atol=1e-12)


def test_drift_of_one_joint_is_part_of_the_whole(solution):
    every = [solution.drift.by_joint(name) for name in "ABCD"]
    np.testing.assert_array_equal(np.max([d.position for d in every], axis=0), solution.drift.position)
    np.testing.assert_array_equal(np.max([d.velocity for d in every], axis=0), solution.drift.velocity)
    assert solution.drift.worst_joint in "ABCD"
