"""The model as a container: verbs, handles, copies, data and hash."""

import ast
import json
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import dalembert.model as model_package
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.model.forces.loads import PointForce
from dalembert.model.forces.on_joints import JointSpringDamper
from dalembert.model.joints import COORDINATES, JOINTS
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Polynomial, SmoothStep, Table
from dalembert.model.rotation import Rotation
from dalembert.model.shapes import rod
from dalembert.model.validation import argument_count
from dalembert.simulation.simulate import simulate

I = (1.0, 1.1, 1.2)
STRENGTH = 3.0


def push(t):
    return (STRENGTH * t, 0.0, 0.0)


def drag(t, r, v, R, w):
    return -v


def everything():
    """A model with every kind of element."""
    m = Model(gravity=(0.1, 0.2, -9.81), name="all of it")
    m.add_body("a", **rod(1.0, 0.5).body(), position=(0.1, 1 / 3, -0.0), rotation=Rotation.from_rpy(0.1, 0.2, 0.3))
    m.add_body("b", mass=2, inertia=np.diag(I), rotation=np.eye(3), velocity=(1, 2, 3), fixed=True)
    m.add_point_mass("p", mass=0.1, position=(0, 0, 1))
    m.add_revolute("R", "ground", "a", point=(0, 0, 0), axis=(1, 2, 3), coordinate=0.0, rate=1.5)
    m.add_universal("U", "a", "b", point=(0, 1, 0), axes=((1, 0, 0), (0, 1, 0)), coordinate=(None, 0.1))
    m.add_cylindrical("Y", "a", "b", point=(0, 1, 0), axis=(0, 0, 1))
    m.add_prismatic("P", "ground", "b", point=(0, 0, 0), axis=(0, 1, 0))
    m.add_planar_joint("E", "ground", "b", point=(0, 0, 0), axis=(0, 0, 1))
    m.add_spherical("S", "a", "b", points=((0, 0, 0), (1, 0, 0)))
    m.add_fixed("F", "a", "b")
    m.add_distance("D", "a", "p", length=Table((0, 1, 2), (1, 2, 1)))
    m.add_point_on_line("L", "a", "p", points=((0, 0, 0), (0, 0, 0)), axes=((1, 0, 0),))
    m.add_point_on_plane("N", "ground", "p", point=(0, 0, 1), axis=(0, 0, 1))
    m.add_coincidence("c", "a", "b", points=((0, 0, 0), (1, 0, 0)))
    m.add_perpendicular("so", "a", "b", axes=((1, 0, 0), (0, 1, 0)))
    m.add_in_plane("o", "a", "p", direction=(1, 0, 0), offset=0.1)
    m.add_driver("turn", "R", SmoothStep(0, 1, 0, 2))
    m.add_driver("turn second", "U", Polynomial((0, 1, 2)), component=1)
    m.add_point_driver("lift", "b", point=(0, 0, 1), direction=(0, 0, 1), motion=Harmonic(0.1, 2.0))
    m.add_force("wind", "a", (1, 0, 0), point=(0, 0, 0.1), factor=Harmonic(1, 2, 3, 4))
    m.add_force("push", "a", push)
    m.add_torque("drag", "b", drag, frame="world")
    m.add_spring_damper("spring", "a", "p", stiffness=10, damping=1)
    m.add_joint_spring_damper("hinge spring", "R", stiffness=5, reference=0.2)
    m.add_joint_spring_damper("ball spring", "S", stiffness=5, law="euler-321")
    m.add_motor("motor", "Y", 2.0, component=1)
    return m


def test_round_trip_through_json_is_exact():
    model = everything()
    data = model.to_dict()
    text = json.dumps(data)
    again = Model.from_dict(json.loads(text))
    assert json.dumps(again.to_dict()) == text
    assert again.hash == model.hash
    assert str(again) == str(model)
    for one, two in zip(model.bodies, again.bodies, strict=True):
        np.testing.assert_array_equal(one.rotation, two.rotation)
        assert (one.kind, one.mass, one.fixed, one.shape) == (two.kind, two.mass, two.fixed, two.shape)
    assert [j.primitives[-1].motion for j in again.joints] == [j.primitives[-1].motion for j in model.joints]
    assert again.joint("U").coordinate == (None, 0.1)


@pytest.mark.parametrize("name", [name for name in gallery.GALLERY if isinstance(gallery.build(name), Model)])
def test_gallery_round_trip(name):
    model = gallery.build(name)
    assert Model.from_dict(json.loads(json.dumps(model.to_dict()))).hash == model.hash


def test_read_user_functions_raise_when_called():
    forces = {f.name: f for f in Model.from_dict(everything().to_dict()).forces}
    with pytest.raises(ModelError, match=r"^PointForce 'push': the user function '.*\.push' was not stored"):
        forces["push"].force(0.0)
    assert argument_count(forces["push"].force) == 1
    assert argument_count(forces["drag"].torque) == 5
    assert "STRENGTH * t" in forces["push"].force.record["source"]


def test_hash_sees_every_number_and_the_constants_of_user_functions():
    def model(position=0.0, strength=1.0):
        def force(t):
            return (strength, 0.0, 0.0)

        m = Model()
        m.add_body("a", mass=1, inertia=I, position=(position, 0, 0))
        m.add_force("f", "a", force)
        return m

    assert model().hash == model().hash
    assert model(position=np.nextafter(0.0, 1.0)).hash != model().hash
    assert model(strength=2.0).hash != model().hash
    assert len(model().hash) == 64


def test_elements_cannot_be_changed():
    arm = everything().body("a")
    with pytest.raises(ValueError, match="read-only"):
        arm.position[0] = 1.0
    with pytest.raises(AttributeError):
        arm.mass = 2.0


def test_inputs_are_copied():
    position = np.zeros(3)
    model = Model()
    body = model.add_body("a", mass=1, inertia=I, position=position)
    position[0] = 5.0
    assert body.position[0] == 0.0


def test_handles_and_names_mean_the_same():
    model = Model()
    a = model.add_body("a", mass=1, inertia=I)
    by_handle = model.add_revolute("1", model.ground, a, point=(0, 0, 0), axis=(0, 0, 1))
    by_name = model.add_revolute("2", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1))
    assert (by_handle.first, by_handle.second) == (by_name.first, by_name.second) == ("ground", "a")
    assert model.body(a) is model.body("a") is a
    assert model.joint("1") is by_handle
    assert model.body("ground") is model.ground


def test_collections_keep_the_order_and_leave_the_ground_out():
    model = everything()
    assert [b.name for b in model.bodies] == ["a", "b", "p"]
    assert [j.type for j in model.joints] == [
        *("revolute", "universal", "cylindrical", "prismatic", "planar", "spherical", "fixed", "distance"),
        *("point_on_line", "point_on_plane", "coincidence", "perpendicular", "in_plane"),
    ]
    assert {j.type for j in model.joints} == set(JOINTS)
    assert [d.name for d in model.drivers] == ["turn", "turn second", "lift"]
    assert [f.name for f in model.forces][:3] == ["wind", "push", "drag"]


def test_copy_grows_on_its_own():
    model = everything()
    other = model.copy()
    other.add_force("extra", model.body("a"), (1, 0, 0))
    assert other.hash != model.hash
    assert len(other.forces) == len(model.forces) + 1
    other.add_fixed("hold", other.ground, "b")
    assert other.joint("hold").first == "ground"


def test_joint_registry_counts_as_published():
    """[JetMultibody, Table 1]"""
    table = {"spherical": 3, "universal": 4, "revolute": 5, "cylindrical": 4, "prismatic": 5}
    assert {name: JOINTS[name].conditions for name in table} == table
    rest = {"fixed": 6, "planar": 3, "distance": 1, "point_on_line": 2, "point_on_plane": 1}
    assert {name: JOINTS[name].conditions for name in rest} == rest
    for row in JOINTS.values():
        assert set(row.coordinates) <= set(COORDINATES)


def test_joint_coordinates_and_initial_values():
    joints = {j.type: j for j in everything().joints}
    assert joints["revolute"].coordinate == (0.0,)
    assert joints["revolute"].rate == (1.5,)
    assert joints["planar"].coordinate == (None, None, None)
    assert joints["fixed"].coordinates == joints["fixed"].rate == ()


def test_ball_joint_of_a_point_mass_has_no_rotation():
    model = everything()
    assert model.add_spherical("bead", "a", "p", points=((0, 0, 1), (0, 0, 0))).coordinates == ()
    with pytest.raises(ModelError, match=r"'x': law 'rotation-vector' on spherical joint 'bead'; .* two rigid bodies"):
        model.add_joint_spring_damper("x", "bead", stiffness=1)


def test_default_spring_laws():
    laws = {f.name: f.law for f in everything().forces if isinstance(f, JointSpringDamper)}
    assert laws == {"hinge spring": "coordinate", "ball spring": "euler-321"}
    model = everything()
    assert model.add_joint_spring_damper("u", "U", damping=1).law == "rotation-vector"
    assert model.add_joint_spring_damper("v", "U", damping=1, law="coordinate", component=1).component == 1


def test_numbers_become_constant_motions():
    model = everything()
    assert model.add_driver("d", "P", 2).primitive.motion == Constant(2.0)
    assert model.add_motor("m", "P", 3).effort == Constant(3.0)


def test_translational_is_prismatic():
    assert Model.add_translational is Model.add_prismatic


def test_full_inertia_is_kept():
    matrix = Rotation.from_rpy(0.3, 0.2, 0.1).matrix @ np.diag(I) @ Rotation.from_rpy(0.3, 0.2, 0.1).matrix.T
    body = Model().add_body("a", mass=1, inertia=matrix)
    np.testing.assert_allclose(body.inertia, matrix, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(body.inertia, body.inertia.T)


def test_flat_bodies_are_bodies():
    """Equality in the triangle inequality, up to rounding of the data."""
    body = Model().add_body("plate", mass=1, inertia=(0.1, 0.2, 0.1 + 0.2))
    assert body.inertia[2, 2] == 0.1 + 0.2


def test_user_function_kinds():
    model = everything()

    class Jet:
        def __call__(self, t):
            return (0.0, 0.0, t)

    force = model.add_force("jet", "a", Jet())
    assert isinstance(force, PointForce)
    assert argument_count(force.force) == 1
    assert "Jet" in model.to_dict()["elements"][-1]["force"]["function"]


def test_texts_for_people():
    model = everything()
    assert repr(model) == "<Model 'all of it': bodies 3, joints 13, drivers 3, forces 7>"
    lines = str(model).splitlines()
    assert len(lines) == 1 + 3 + 13 + 3 + 7
    assert any("revolute" in line and "ground - a, 5 rows" in line for line in lines)


def test_the_model_layer_imports_only_numpy_and_itself():
    """Keeps `import dalembert` fast, and models, of bodies or by a Lagrangian, free of solvers."""
    files = [*Path(model_package.__file__).parent.glob("*.py"), *Path(gallery.__file__).parent.glob("*.py")]
    allowed = ("dalembert.model", "dalembert.lagrangian", "dalembert.errors", "dalembert.arrays", "dalembert.gallery", "numpy")
    top = [node for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body]
    names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in top if isinstance(node, ast.ImportFrom)}
    assert names
    assert [n for n in names if not n.startswith(allowed) and n.split(".")[0] not in sys.stdlib_module_names] == []


def test_errors_show_the_users_line_and_not_the_way_from_there():
    """At most two frames of dalembert's, none of another error; those of a function of the user's stay."""

    def build(length):
        return Model(plane="xz").add_revolute("A", "ground", "crk", point=(0, length))

    model = Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 1), mass=1)
    calls = {
        "there is no body 'crk'": lambda: model.add_revolute("A", "ground", "crk", point=(0, 0)),
        "point is": lambda: model.add_revolute("B", "ground", "crank", point=(0, "a")),
        "coordinates are 'polar'": lambda: simulate(model, 1.0, coordinates="polar"),
        "t_end is -1": lambda: simulate(model, -1.0),
        "has no bodies": lambda: simulate(Model(), 1.0),
        "no body 'crk'; known: 'ground'": lambda: simulate(build, 1.0, parameters={"length": 1.0}),
    }
    for text, call in calls.items():
        with pytest.raises(ModelError, match=text) as caught:
            call()
        lines = "".join(traceback.format_exception(caught.value)).splitlines()
        inside = [line for line in lines if line.startswith("  File") and str(Path(model_package.__file__).parents[1]) in line]
        assert len(inside) <= 2 or "known" in text
        assert sum(line.startswith("Traceback") for line in lines) == 1
        assert ("known" in text) == any(line.endswith("in build") for line in lines)
