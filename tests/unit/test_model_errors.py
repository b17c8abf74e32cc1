"""Bad input: each message names the element, what was got, what was expected, and the fix."""

import copy
import pickle
import re

import numpy as np
import pytest

from dalembert.errors import AssemblyError, DalembertError, ModelError, SimulationError
from dalembert.model.model import Model
from dalembert.model.motions import Harmonic

I = (1.0, 1.1, 1.2)
O, X, Y, Z = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
AT = {"point": O, "axis": Z}


def base():
    """Two bodies, a point mass, and one joint of several kinds."""
    model = Model()
    model.add_body("arm", mass=1, inertia=I, position=(1, 0, 0))
    model.add_body("leg", mass=1, inertia=I, position=(2, 0, 0))
    model.add_point_mass("bead", mass=1, position=(0, 0, 1))
    model.add_revolute("hip", "ground", "arm", **AT)
    model.add_spherical("ball", "arm", "leg", point=(1.5, 0, 0))
    model.add_fixed("weld", "ground", "leg")
    model.add_distance("string", "ground", "bead")
    model.add_driver("crank", "hip", 0.5)
    return model


CASES = {
    # bodies
    "zero mass": (lambda m: m.add_body("b", mass=0, inertia=I), "body 'b': mass is 0; give a number greater than 0"),
    "negative mass": (
        lambda m: m.add_point_mass("p", mass=-1, position=O),
        "point mass 'p': mass is -1; give a number",
    ),
    "nan mass": (lambda m: m.add_body("b", mass=np.nan, inertia=I), "body 'b': mass is nan; give a finite number"),
    "text mass": (lambda m: m.add_body("b", mass="2 kg", inertia=I), "body 'b': mass is '2 kg'; give a number"),
    "bool mass": (lambda m: m.add_body("b", mass=True, inertia=I), "body 'b': mass is True; give a number"),
    "thin inertia": (
        lambda m: m.add_body("b", mass=1, inertia=(0, 1, 1)),
        "body 'b': inertia has principal values (0, 1, 1) kg m^2; a rigid body needs all three greater than 0: "
        "give a thin rod a small radius, or use add_point_mass",
    ),
    "negative inertia": (
        lambda m: m.add_body("b", mass=1, inertia=np.diag([1.0, 1, -1])),
        "body 'b': inertia has principal values (-1, 1, 1) kg m^2; a rigid body needs all three",
    ),
    "triangle": (
        lambda m: m.add_body("b", mass=1, inertia=(1, 1, 2.1)),
        "body 'b': inertia has principal values (1, 1, 2.1) kg m^2; no body has one greater than the sum of the other "
        "two: check units",
    ),
    "skew inertia": (
        lambda m: m.add_body("b", mass=1, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
        "body 'b': inertia is not symmetric",
    ),
    "inertia shape": (
        lambda m: m.add_body("b", mass=1, inertia=(1, 2)),
        "body 'b': inertia has shape (2,), (1, 2); give 3 numbers",
    ),
    "inertia rows": (
        lambda m: m.add_body("b", mass=1, inertia=[[1, 0], [0, 1], [0, 0]]),
        "body 'b': inertia has shape (3, 2), [[1, 0], [0, 1], [0, 0]]; give a 3x3 matrix",
    ),
    "inertia None": (lambda m: m.add_body("b", mass=1, inertia=None), "body 'b': inertia is None; give 3 numbers, or a solid"),
    "position": (
        lambda m: m.add_body("b", mass=1, inertia=I, position=(0, np.inf, 0)),
        "body 'b': position is [0.0, inf, 0.0]; give finite numbers",
    ),
    "velocity": (
        lambda m: m.add_body("b", mass=1, inertia=I, velocity=1.0),
        "body 'b': velocity has shape (), 1.0; give 3 numbers",
    ),
    "ragged": (
        lambda m: m.add_body("b", mass=1, inertia=I, velocity=(1, (2, 3), 4)),
        "body 'b': velocity is (1, (2, 3), 4); give 3 numbers",
    ),
    "complex": (
        lambda m: m.add_body("b", mass=1, inertia=I, angular_velocity=(1j, 0, 0)),
        "body 'b': angular_velocity is (1j, 0, 0); give 3 numbers",
    ),
    "fixed flag": (lambda m: m.add_body("b", mass=1, inertia=I, fixed=1), "body 'b': fixed is 1; give True or False"),
    "shape": (
        lambda m: m.add_body("b", mass=1, inertia=I, shape={"mesh": object}),
        "body 'b': shape is {'mesh': <class 'object'>}; give a dict of numbers, strings and lists",
    ),
    "gravity": (lambda m: Model(gravity=(0, 0)), "model: gravity has shape (2,), (0, 0); give 3 numbers"),
    "model name": (lambda m: Model(name=3), "model: name is 3; give a string"),
    # names
    "empty name": (lambda m: m.add_body(" ", mass=1, inertia=I), "body: the name is ' '; give a non-empty string"),
    "no name": (lambda m: m.add_revolute(None, "arm", "leg", **AT), "joint: the name is None; give a non-empty string"),
    "duplicate": (
        lambda m: m.add_torque("arm", "leg", X),
        "torque 'arm': this name is already used by a Body; choose another",
    ),
    "ground name": (
        lambda m: m.add_body("ground", mass=1, inertia=I),
        "body 'ground': this name belongs to the ground; choose another",
    ),
    "unknown body": (
        lambda m: m.add_revolute("j", "arn", "leg", **AT),
        "joint 'j': there is no body 'arn'; did you mean 'arm'?",
    ),
    "unknown, its letters in a longer name": (
        lambda m: m.body("rod"),
        "model: there is no body 'rod'; known: 'arm', 'leg', 'bead', 'ground'",
    ),
    "unknown far": (
        lambda m: m.body("zzzz"),
        "model: there is no body 'zzzz'; known: 'arm', 'leg', 'bead', 'ground'",
    ),
    "unknown joint": (
        lambda m: m.add_driver("d", "hipp", 1),
        "driver 'd': there is no joint 'hipp'; did you mean 'hip'",
    ),
    "no joints": (
        lambda m: Model().add_driver("d", "hip", 1),
        "driver 'd': there is no joint 'hip'; there are none yet",
    ),
    "joint as body": (lambda m: m.add_force("f", "hip", X), "force 'f': 'hip' is a joint; give a body, one of 'arm'"),
    "foreign body": (
        lambda m: m.add_force("f", base().body("arm"), X),
        "force 'f': body 'arm' belongs to another model; give a body of this one",
    ),
    "foreign joint": (
        lambda m: m.add_driver("d", base().joint("hip"), 1),
        "driver 'd': joint 'hip' belongs to another model; give a joint of this one",
    ),
    # joints
    "self": (
        lambda m: m.add_revolute("j", "arm", m.body("arm"), **AT),
        "joint 'j': connects body 'arm' with itself; give two different bodies",
    ),
    "ground self": (lambda m: m.add_fixed("j", "ground", m.ground), "joint 'j': connects body 'ground' with itself"),
    "zero axis": (
        lambda m: m.add_revolute("j", "arm", "leg", point=O, axis=O),
        "joint 'j': axis has length 0; give a non-zero 3-vector",
    ),
    "nan axis": (
        lambda m: m.add_prismatic("j", "arm", "leg", point=O, axis=(0, np.nan, 1)),
        "joint 'j': axis is [0.0, nan, 1.0]; give finite numbers",
    ),
    "zero pair": (
        lambda m: m.add_cylindrical("j", "arm", "leg", point=O, axes=(X, O)),
        "joint 'j': axes[1] has length 0; give a non-zero 3-vector",
    ),
    "no axis": (
        lambda m: m.add_revolute("j", "arm", "leg", point=O),
        "joint 'j': got no axis; give axis= (world, model pose) or axes=(a_first, a_second) or vectors=(a_i, b_i, a_j[, b_j])"
        ' (body-fixed), or write `plane: xz`, in Python Model(plane="xz"), if all moves in a plane',
    ),
    "two axes": (
        lambda m: m.add_revolute("j", "arm", "leg", point=O, axis=X, axes=(X, X)),
        "joint 'j': got axis= and axes=; give axis= (world, model pose) or",
    ),
    "one of axes": (
        lambda m: m.add_revolute("j", "arm", "leg", point=O, axes=X),
        "joint 'j': axes is (1, 0, 0); give a pair of 3-vectors, one fixed in each body",
    ),
    "line axes": (
        lambda m: m.add_point_on_line("j", "arm", "leg", points=(O, O), axes=(X, X)),
        "joint 'j': axes is ((1, 0, 0), (1, 0, 0)); give (a_first,), one 3-vector fixed in the first body",
    ),
    "no point": (
        lambda m: m.add_revolute("j", "arm", "leg", axis=X),
        "joint 'j': got neither point= nor points=; give point= (world) or points=(p_first, p_second) (body-fixed)",
    ),
    "both points": (
        lambda m: m.add_spherical("j", "arm", "leg", point=O, points=(O, O)),
        "joint 'j': got both point= and points=; give",
    ),
    "points": (
        lambda m: m.add_spherical("j", "arm", "leg", points=(O, (1, 2))),
        "joint 'j': points[1] has shape (2,), (1, 2); give 3 numbers",
    ),
    "vectors": (
        lambda m: m.add_revolute("j", "arm", "leg", point=O, vectors=(X, (1, 1, 0), Z)),
        "joint 'j': vectors a_i, b_i have cosine 0.707; give perpendicular ones",
    ),
    "second vectors": (
        lambda m: m.add_prismatic("j", "arm", "leg", point=O, vectors=(X, Y, Z, (0, 1, 1))),
        "joint 'j': vectors a_j, b_j have cosine 0.707; give perpendicular ones",
    ),
    "vector count": (
        lambda m: m.add_revolute("j", "arm", "leg", point=O, vectors=(X, Y)),
        "joint 'j': vectors is ((1, 0, 0), (0, 1, 0)); give (a_i, b_i, a_j) or (a_i, b_i, a_j, b_j)",
    ),
    "parallel cross": (
        lambda m: m.add_universal("j", "arm", "leg", point=O, axes=(X, (-2, 0, 0))),
        "joint 'j': axes are parallel at the model pose; give two perpendicular axes of the cross",
    ),
    "zero distance": (
        lambda m: m.add_distance("j", "arm", "leg", points=((1, 0, 0), O)),
        "joint 'j': length is 0 m; give a length greater than 0 (for 0 use add_spherical or add_coincidence)",
    ),
    "negative distance": (
        lambda m: m.add_distance("j", "arm", "leg", length=-1),
        "joint 'j': length is -1 m; give a length",
    ),
    "shrinking distance": (
        lambda m: m.add_distance("j", "arm", "leg", length=Harmonic(2, 1, 0, 1)),
        "joint 'j': length is -1 m; give a length greater than 0",
    ),
    "coordinate count": (
        lambda m: m.add_cylindrical("j", "arm", "leg", **AT, coordinate=1.0),
        "joint 'j': coordinate is 1.0; give 2 entries (translation, angle), None where free",
    ),
    "rate": (
        lambda m: m.add_revolute("j", "arm", "leg", **AT, rate=np.inf),
        "joint 'j': rate angle is inf; give a finite number",
    ),
    # point masses
    "hinge on a bead": (
        lambda m: m.add_revolute("j", "ground", "bead", **AT),
        "joint 'j': point mass 'bead' has no axes and cannot take part in a revolute joint; use a spherical joint (",
    ),
    "line on a bead": (
        lambda m: m.add_point_on_line("j", "bead", "arm", point=(0, 0, 1), axis=X),
        "joint 'j': point mass 'bead' has no axes and can only be the second body of a point_on_line joint; exchange",
    ),
    "point off a bead": (
        lambda m: m.add_distance("j", "arm", "bead", points=(O, X)),
        "joint 'j': the point is 1 m off point mass 'bead'; put the point of a point mass at (0, 0, 0)",
    ),
    "ball off a bead": (
        lambda m: m.add_spherical("j", "arm", "bead", point=O),
        "joint 'j': the point is 1 m off point mass 'bead'; put the joint point where the point mass is",
    ),
    "torque on a bead": (
        lambda m: m.add_torque("t", "bead", X),
        "torque 't': point mass 'bead' cannot turn; use add_body, or add_force",
    ),
    "force off a bead": (
        lambda m: m.add_force("f", "bead", X, point=X),
        "force 'f': point is [1.0, 0.0, 0.0] on point mass 'bead'; give (0, 0, 0)",
    ),
    "body force on a bead": (
        lambda m: m.add_force("f", "bead", X, frame="body"),
        "force 'f': point mass 'bead' has no axes of its own; use frame=\"world\"",
    ),
    "driver off a bead": (
        lambda m: m.add_point_driver("d", "bead", point=X, direction=X, motion=1),
        "driver 'd': point is [1.0, 0.0, 0.0] on point mass 'bead'; give (0, 0, 0)",
    ),
    "driver from a bead": (
        lambda m: m.add_point_driver("d", "arm", direction=X, motion=1, reference="bead"),
        "driver 'd': reference 'bead' is a point mass without axes; give a rigid body or ground",
    ),
    # drivers and motors
    "driven twice": (
        lambda m: m.add_driver("d", "hip", 1),
        "driver 'd': angle of joint 'hip' is already driven by 'crank'; keep one",
    ),
    "driven weld": (
        lambda m: m.add_driver("d", "weld", 1),
        "driver 'd': fixed joint 'weld' has no coordinates; choose another joint",
    ),
    "driven ball": (
        lambda m: m.add_driver("d", "ball", 1),
        "driver 'd': coordinate 'rotation_x' of spherical joint 'ball' cannot be used alone; use add_torque",
    ),
    "driven string": (
        lambda m: m.add_driver("d", "string", 1),
        "driver 'd': coordinate 'length' of distance joint 'string' cannot be used alone; the joint itself holds the "
        "length: give the motion to add_distance(length=...)",
    ),
    "component": (
        lambda m: m.add_motor("m", "hip", 1, component=1),
        "motor 'm': component is 1; joint 'hip' has 0: angle",
    ),
    "motion": (
        lambda m: m.add_driver("d", "hip", "fast"),
        "driver 'd': motion is 'fast'; give a number, Constant, Polynomial, Harmonic, SmoothStep, Table, a sum",
    ),
    "direction": (
        lambda m: m.add_point_driver("d", "arm", direction=O, motion=1),
        "driver 'd': direction has length 0; give a non-zero 3-vector",
    ),
    # forces
    "force on ground": (
        lambda m: m.add_force("f", m.ground, X),
        "force 'f': acts on the ground, which never moves; give a body",
    ),
    "frame": (
        lambda m: m.add_force("f", "arm", X, frame="local"),
        "force 'f': frame is 'local'; give 'world' or 'body'",
    ),
    "force value": (lambda m: m.add_force("f", "arm", "down"), "force 'f': force is 'down'; give 3 numbers"),
    "factor": (lambda m: m.add_force("f", "arm", X, factor=2.0), "force 'f': factor is 2.0; give a motion"),
    "function factor": (
        lambda m: m.add_torque("t", "arm", lambda t: (t, 0, 0), factor=Harmonic(1, 1)),
        "torque 't': factor goes with a constant torque; put it into the function instead",
    ),
    "function": (
        lambda m: m.add_force("f", "arm", lambda t, r: (0, 0, 0)),
        "force 'f': the function has 2 arguments (t, r); give f(t) or f(t, r, v, R, w)",
    ),
    "star function": (
        lambda m: m.add_force("f", "arm", lambda *a: (0, 0, 0)),
        "force 'f': the function has arguments that cannot be counted",
    ),
    "stiffness": (
        lambda m: m.add_spring_damper("s", "arm", "leg", stiffness=-1),
        "spring-damper 's': stiffness is -1; give a number not less than 0",
    ),
    "damping": (
        lambda m: m.add_joint_spring_damper("s", "hip", damping=-2),
        "joint spring-damper 's': damping is -2; give a number not less than 0",
    ),
    "slack length": (
        lambda m: m.add_spring_damper("s", "arm", "leg", stiffness=1, length=-1),
        "spring-damper 's': length is -1; give a number not less than 0",
    ),
    "law": (
        lambda m: m.add_joint_spring_damper("s", "hip", law="rotation-vector"),
        "joint spring-damper 's': law 'rotation-vector' on revolute joint 'hip'; it needs a spherical or universal",
    ),
    "unknown law": (
        lambda m: m.add_joint_spring_damper("s", "hip", law="linear"),
        "joint spring-damper 's': law is 'linear'; give 'coordinate' or 'rotation-vector' or 'euler-321'",
    ),
    "law reference": (
        lambda m: m.add_joint_spring_damper("s", "ball", stiffness=1, reference=0.1),
        "joint spring-damper 's': reference and component mean nothing in law 'rotation-vector'; use law",
    ),
    "coordinate law on a ball": (
        lambda m: m.add_joint_spring_damper("s", "ball", stiffness=1, law="coordinate"),
        "joint spring-damper 's': coordinate 'rotation_x' of spherical joint 'ball' cannot be used alone",
    ),
    "huge integer": (lambda m: m.add_body("b", mass=10**400, inertia=I), "body 'b': mass is inf; give a finite number"),
    "array as body": (lambda m: m.add_force("f", np.eye(3), X), "force 'f': there is no body [[1.0, 0.0, 0.0]"),
    "array as frame": (lambda m: m.add_force("f", "arm", X, frame=np.eye(3)), "force 'f': frame is [[1.0, 0.0, 0.0]"),
    # stored models
    "elements": (lambda m: Model.from_dict(m.to_dict() | {"elements": 3}), "model data: elements is 3; give the list"),
    "not a model": (lambda m: Model.from_dict({"a": 1}), "model data: got {'a': 1}; give the dict of Model.to_dict()"),
    "version": (
        lambda m: Model.from_dict(m.to_dict() | {"version": 99}),
        "model data: version is 99; this release reads 1",
    ),
    "element": (
        lambda m: Model.from_dict(m.to_dict() | {"elements": [{"class": "Wheel"}]}),
        "model data: found {'class': 'Wheel'}; expected a dict whose 'class' is one of Body, Joint",
    ),
    "missing entry": (
        lambda m: Model.from_dict(m.to_dict() | {"elements": [{"class": "Body", "name": "b"}]}),
        "Body 'b': the entry 'kind' is missing; give the data of Model.to_dict() unchanged",
    ),
    "dangling": (
        lambda m: Model.from_dict(m.to_dict() | {"elements": m.to_dict()["elements"][3:]}),
        "Joint 'hip': there is no body 'arm'; ",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_message(case):
    act, message = CASES[case]
    model = base()
    before = model.hash
    with pytest.raises(ModelError, match="^" + re.escape(message)):
        act(model)
    assert model.hash == before, "a refused verb leaves the model as it was"


def test_every_message_says_what_to_do():
    for act, _ in CASES.values():
        with pytest.raises(ModelError) as caught:
            act(base())
        text = str(caught.value)
        assert ";" in text and "\n" not in text, text


def test_errors_carry_what_they_know():
    assert AssemblyError("loop", ["A", "B"]).joints == ("A", "B")
    error = SimulationError("stopped", solution="partial", time=1.5, joint="knee")
    assert (error.solution, error.time, error.joint) == ("partial", 1.5, "knee")
    assert issubclass(ModelError, DalembertError)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("slider", "prismatic"), ("hinge", "revolute"), ("pin", "revolute"), ("ball_joint", "spherical"), ("weld", "fixed")],
)
def test_joints_by_other_names(said, meant):
    with pytest.raises(AttributeError, match=rf"a Model has no 'add_{said}'; did you mean 'add_{meant}'\?$"):
        getattr(Model(), f"add_{said}")


@pytest.mark.parametrize("plane", [None, "xz"])
def test_arguments_that_need_a_name(plane):
    model = Model(plane=plane)
    with pytest.raises(TypeError) as caught:
        model.add_revolute("A", "ground", "arm", (0, 0, 0), (0, 1, 0))
    told = "add_revolute takes name, first, second, and all else by name: point=(0, 0, 0), axis=(0, 1, 0)"
    assert str(caught.value) == told
    assert pickle.loads(pickle.dumps(model)).plane == plane


def test_misspelt_verb():
    model = Model()
    with pytest.raises(AttributeError, match=r"a Model has no 'add_revolut'; did you mean 'add_revolute'\?$"):
        model.add_revolut("j")
    with pytest.raises(AttributeError, match=r"a Model has no 'zzzz'$"):
        _ = model.zzzz
    assert not hasattr(model, "__array__") and copy.copy(model).name == model.name
