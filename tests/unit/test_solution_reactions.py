"""Reactions: sign and size on a hanging mass, and the laws of Newton and Euler for every body of a mechanism."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

G = 9.81


def joint_types():
    return {
        "spherical": lambda m, b: m.add_spherical("hook", m.ground, b, point=(0, 0, 0)),
        "revolute": lambda m, b: m.add_revolute("hook", m.ground, b, point=(0, 0, 0), axis=(0, 1, 0)),
        "universal": lambda m, b: m.add_universal("hook", m.ground, b, point=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0))),
        "fixed": lambda m, b: m.add_fixed("hook", m.ground, b, point=(0, 0, 0)),
        "distance": lambda m, b: m.add_distance("hook", m.ground, b, points=((0, 0, 1), (0, 0, 1))),
        "prismatic": lambda m, b: m.add_prismatic("hook", m.ground, b, point=(0, 0, 0), axis=(1, 0, 0)),
        "planar": lambda m, b: m.add_planar_joint("hook", m.ground, b, point=(0, 0, 0), axis=(0, 0, 1)),
    }


@pytest.mark.parametrize("kind", list(joint_types()))
def test_hanging_mass_is_held_along_z(kind):
    model = da.Model(gravity=(0, 0, -G))
    body = model.add_body("weight", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1))
    joint_types()[kind](model, body)
    s = da.simulate(model, 0.2)
    np.testing.assert_allclose(s.reaction("hook").force, np.tile([0, 0, 3.0 * G], (len(s.t), 1)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(s.reaction("hook").torque, 0.0, rtol=0, atol=1e-9)
    assert s.reaction("hook").unique


def test_hanging_point_mass():
    model = da.Model(gravity=(0, 0, -G))
    model.add_point_mass("weight", mass=2.0, position=(0, 0, -1))
    model.add_distance("string", model.ground, "weight", points=((0, 0, 0), (0, 0, 0)))
    s = da.simulate(model, 0.2)
    np.testing.assert_allclose(s.reaction("string").force, np.tile([0, 0, 2.0 * G], (len(s.t), 1)), rtol=0, atol=1e-9)


def test_joint_away_from_the_centre_of_mass_takes_the_moment():
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("beam", mass=2.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    model.add_fixed("wall", model.ground, "beam", point=(0, 0, 0))
    s = da.simulate(model, 0.1)
    # about the wall: gravity turns by (0.5, 0, 0) x (0, 0, -m g) = (0, 0.5 m g, 0); the wall turns back
    np.testing.assert_allclose(s.reaction("wall").torque, np.tile([0, -0.5 * 2 * G, 0], (len(s.t), 1)), rtol=0, atol=1e-9)


def balance(solution, body):
    """Sum of joint forces on a body, of their moments about its centre of mass, world axes; their largest sizes."""
    force, moment, size = np.zeros((len(solution.t), 3)), np.zeros((len(solution.t), 3)), 0.0
    for joint in solution.mechanism.model.joints:
        if body.name not in (joint.first, joint.second):
            continue
        sign = 1.0 if body.name == joint.second else -1.0
        reaction = solution.reaction(joint)
        arm = solution.point(joint.second, joint.p_j) - solution.position(body.name)
        force += sign * reaction.force
        moment += sign * (reaction.torque + np.cross(arm, reaction.force))
        size += np.abs(reaction.force).max() + np.abs(reaction.torque).max()
    return force, moment, size


def check_newton_euler(solution):
    model = solution.mechanism.model
    assert not model.forces
    for k, body in enumerate(model.bodies):
        force, moment, size = balance(solution, body)
        # exact at every state, up to rounding and to arms that differ by the residual of the joint
        tolerance = (1e-11 + 4 * solution.drift.position.max()) * size
        expected = body.mass * (solution.acceleration(body.name) - model.gravity)
        np.testing.assert_allclose(force, expected, rtol=0, atol=tolerance, err_msg=body.name)
        w_dot = solution.evaluated.acceleration[:, 6 * k + 3 : 6 * k + 6]
        w = solution.angular_velocity(body.name, frame="body")
        in_body = w_dot @ body.inertia + np.cross(w, w @ body.inertia)
        in_world = np.einsum("tij,tj->ti", solution.rotation(body.name), in_body)
        np.testing.assert_allclose(moment, in_world, rtol=0, atol=tolerance, err_msg=body.name)


@pytest.mark.parametrize("name", ["slider_crank", "four_bar", "four_bar_twin", "chain", "pendulum_3d"])
def test_every_body_obeys_newton_and_euler(name):
    check_newton_euler(da.simulate(gallery.build(name), 2.0))


def test_driver_reaction_moves_the_body():
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("cabin", mass=4.0, inertia=(1, 1, 1))
    model.add_prismatic("shaft", model.ground, "cabin", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("winch", "shaft", da.Polynomial((0.0, 0.0, 1.0)))  # a = 2 m/s^2
    s = da.simulate(model, 1.0)
    np.testing.assert_allclose(s.reaction("winch").force, np.tile([0, 0, 4 * (G + 2)], (len(s.t), 1)), rtol=0, atol=1e-8)
    # work of the winch: m g z + m v^2 / 2 with z = t^2, v = 2 t
    np.testing.assert_allclose(s.energy.external_work, 4 * (G * s.t**2 + 2 * s.t**2), rtol=0, atol=1e-7)


def test_redundant_joints_share_what_their_twin_carries():
    """Which share is not unique; what they do together is: the sum on the ground is that of the twin."""
    times = np.linspace(0, 1, 11)
    sums = []
    for name in ("four_bar", "four_bar_twin"):
        s = da.simulate(gallery.build(name), 1.0, save_at=times)
        on_ground = [j.name for j in s.mechanism.model.joints if "ground" in (j.first, j.second)]
        assert len(on_ground) == 2
        sign = {j.name: 1.0 if j.first == "ground" else -1.0 for j in s.mechanism.model.joints}
        sums.append(sum(sign[n] * s.reaction(n).force for n in on_ground))
        assert s.reaction(on_ground[0]).unique == (name == "four_bar_twin")
    # the motions agree to the integration error; forces are of order 10 to 100 N
    np.testing.assert_allclose(sums[0], sums[1], rtol=0, atol=1e-5)
