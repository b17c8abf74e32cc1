"""Points in world coordinates of the model pose, wherever bodies take points; bars between two of them."""

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError
from dalembert.model.file.read import read_string
from dalembert.model.frames import world_point

pytestmark = pytest.mark.nojit
A, B = np.array([0.1, -0.2, 0.3]), np.array([0.7, 0.5, -0.4])
TURNED = da.Rotation.from_axis_angle((1, 2, 3), 0.7)


def model_of():
    model = da.Model()
    model.add_body("a", mass=1, inertia=(1, 1, 1), position=(1, 2, 3), rotation=TURNED)
    model.add_body("b", mass=1, inertia=(1, 1, 1), position=(-1, 0, 3), rotation=da.Rotation.from_rpy(1, 0.2, 3))
    model.add_point_mass("bead", mass=1, position=B)
    return model


def test_points_of_the_world_are_points_of_bodies():
    m = model_of()
    force = m.add_force("push", "a", (1, 0, 0), at=A)
    spring = m.add_spring_damper("spring", "a", "b", stiffness=1, between=(A, B))
    rod = m.add_distance("rod", "a", "bead", between=(A, B))
    marker = m.add_marker("there", "b", at=B)
    a, b = m.body("a"), m.body("b")
    for body, p, x in ((a, force.point, A), (a, spring.p_i, A), (b, spring.p_j, B), (a, rod.p_i, A), (b, marker.point, B)):
        np.testing.assert_allclose(world_point(body, p), x, rtol=0, atol=1e-15)
    assert not rod.p_j.any()
    length = np.linalg.norm(B - A)
    assert spring.length == pytest.approx(length, rel=1e-15) and rod.primitives[0].offset == pytest.approx(length, rel=1e-15)


def test_files_take_them(tmp_path):
    text = """
        bodies:
          bar: {type: link, start: [0, 0, 0], end: [0, 0, 1], mass: 2}
          rod: {solid: {type: rod, mass: 1, between: [[0, 0, 1], [1, 0, 1]]}}
        joints:
          d: {type: distance, first: bar, second: rod, between: [[0, 0, 0], [1, 0, 1]]}
        forces:
          k: {type: spring_damper, first: bar, second: rod, between: [[0, 0, 0], [1, 0, 1]], stiffness: 3}
          F: {type: force, body: bar, force: [1, 0, 0], at: [0, 0, 1]}
        markers:
          tip: {body: rod, at: [1, 0, 1]}
        """
    model = read_string(text, "m.yaml", tmp_path).model
    np.testing.assert_allclose(model.markers[0].point, (0.5, 0, 0), rtol=0, atol=1e-15)
    model.to_yaml(tmp_path / "m.yaml")
    assert da.Model.from_yaml(tmp_path / "m.yaml").hash == model.hash


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("direction", [(1, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, -1), (0.3, -0.4, 0.5)])
def test_a_rod_between_two_points_reaches_both(axis, direction):
    end = A + np.array(direction)
    model = da.Model()
    body = model.add_body("rod", **da.rod(2.0, axis=axis, between=(A, end)).body())
    half = 0.5 * np.linalg.norm(direction) * np.eye(3)["xyz".index(axis)]
    np.testing.assert_allclose(world_point(body, -half), A, rtol=0, atol=1e-15)
    np.testing.assert_allclose(world_point(body, half), end, rtol=0, atol=1e-15)
    assert da.rod(2.0, axis=axis, between=(A, end)).inertia == da.rod(2.0, float(np.linalg.norm(direction)), axis).inertia


def test_a_link_swings_as_a_rod_does():
    """A thin bar on a hinge, against the same as a body: T = 2 pi sqrt(2 l / (3 g)) follows from either."""
    runs = []
    for link in (True, False):
        model = da.Model()
        if link:
            model.add_link("bar", (0, 0, 0), (0.5, 0, 0), mass=1.0)
        else:
            model.add_body("bar", **da.rod(1.0, 0.5).body(), position=(0.25, 0, 0))
        model.add_revolute("hinge", "ground", "bar", point=(0, 0, 0), axis=(0, 1, 0))
        runs.append(da.simulate(model, 0.02, integrator=da.RungeKutta4(step=0.01)).x[-1])
    np.testing.assert_array_equal(*runs)


def test_torques_and_forces_are_in_world_axes_unless_said():
    m = model_of()
    assert m.add_torque("t", "a", (1, 0, 0)).frame == m.add_force("f", "a", (1, 0, 0)).frame == "world"


def test_files_of_the_first_version_say_what_they_meant(tmp_path):
    text = "dalembert: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\nforces: {t: {type: torque, body: a, torque: [1, 0, 0]%s}}"
    with pytest.raises(ModelError, match="torque 't': frame is missing; version 1 meant body axes, say so: frame: body"):
        read_string(text % "", "m.yaml", tmp_path)
    assert read_string(text % ", frame: body", "m.yaml", tmp_path).model.forces[0].frame == "body"
    assert read_string(text.replace("1\n", "2\n", 1) % "", "m.yaml", tmp_path).model.forces[0].frame == "world"


@pytest.mark.parametrize(
    "add, text",
    [
        (lambda m: m.add_force("f", "a", A, point=A, at=A), r"force 'f': got both point= and at="),
        (lambda m: m.add_force("f", "bead", A, at=A), "force 'f': at is .* on point mass 'bead'; give .*, where it is"),
        (lambda m: m.add_distance("d", "a", "b", points=(A, B), between=(A, B)), "joint 'd': got both points= and between="),
        (lambda m: m.add_distance("d", "a", "bead", between=(A, A)), r"joint 'd': between\[1\] is .* on point mass 'bead'"),
        (lambda m: m.add_spring_damper("s", "a", "b", stiffness=1, between=(A,)), "spring-damper 's': between is .*a pair of"),
        (lambda m: m.add_link("l", A, A, mass=1), "body 'l': start and end are both"),
        (lambda m: m.add_link("l", A, (1, 2), mass=1), r"body 'l': end has shape \(2,\)"),
        (lambda m: m.add_link("l", A, B, mass=0), "body 'l': mass is 0"),
        (lambda m: m.add_link("a", A, B, mass=1), "body 'a': this name is already used by a Body"),
        (lambda m: da.rod(1.0), "rod: got neither length nor between"),
        (lambda m: da.rod(1.0, 2.0, between=(A, B)), "rod: got both length and between"),
        (lambda m: da.rod(1.0, between=(A, A)), "rod: between holds .* twice"),
    ],
)
def test_bad_points(add, text):
    with pytest.raises(ModelError, match=text):
        add(model_of())
