"""Models that are written down in a plane: the same as in space, with fewer numbers."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.compile import compile
from dalembert.errors import ModelError
from dalembert.model.plane import PLANES

pytestmark = pytest.mark.nojit


def flat(plane="xy"):
    m = da.Model(plane=plane, name="arm")
    m.add_body("a", mass=2, inertia=0.4, position=(0.5, 0.1), rotation=0.3, velocity=(0, 0), angular_velocity=1.5)
    m.add_link("b", (1, 0), (2, 0.5), mass=1)
    m.add_point_mass("bead", mass=1, position=(2, 1))
    m.add_revolute("A", "ground", "a", point=(0, 0))
    m.add_revolute("B", "a", "b", points=((0.5, 0), (-0.5, 0)))
    m.add_distance("rod", "b", "bead", between=((2, 0.5), (2, 1)))
    m.add_force("push", "b", (1, 2), at=(1.5, 0.25))
    m.add_torque("turn", "b", 0.7)
    m.add_spring_damper("k", "ground", "bead", stiffness=10, between=((3, 1), (2, 1)))
    m.add_marker("tip", "b", (0.5, 0))
    return m


def spatial(plane):
    e1, e2 = np.eye(3)[["xyz".index(letter) for letter in plane]]
    n = np.cross(e1, e2)

    def at(a, b):
        return a * e1 + b * e2

    m = da.Model(-9.81 * e2, name="arm")
    J = 0.2 * np.eye(3) + 0.2 * np.outer(n, n)
    m.add_body("a", mass=2, inertia=J, position=at(0.5, 0.1), rotation=da.Rotation.from_axis_angle(n, 0.3), velocity=(0, 0, 0),
               angular_velocity=1.5 * n)  # fmt: skip
    m.add_body("b", **da.rod(1, axis=plane[0], between=(at(1, 0), at(2, 0.5))).body())
    m.add_point_mass("bead", mass=1, position=at(2, 1))
    m.add_revolute("A", "ground", "a", point=(0, 0, 0), axis=n)
    m.add_revolute("B", "a", "b", points=(at(0.5, 0), at(-0.5, 0)), axis=n)
    m.add_distance("rod", "b", "bead", between=(at(2, 0.5), at(2, 1)))
    m.add_force("push", "b", at(1, 2), at=at(1.5, 0.25))
    m.add_torque("turn", "b", 0.7 * n)
    m.add_spring_damper("k", "ground", "bead", stiffness=10, between=(at(3, 1), at(2, 1)))
    m.add_marker("tip", "b", at(0.5, 0))
    return m


@pytest.mark.parametrize("plane", PLANES)
def test_it_is_the_spatial_model(plane):
    data = flat(plane).to_dict()
    assert data.pop("plane") == plane
    assert data == spatial(plane).to_dict()


@pytest.mark.parametrize("plane", PLANES)
def test_cables_and_cams_are_those_of_space(plane):
    """A roller on a cam that turns about another axis than the plane's normal would go unnoticed."""
    one, two = flat(plane), spatial(plane)
    e1, e2 = one._flat.axes
    one.add_cable("rope", [("b", (0.5, 0)), ("ground", (3, 3)), ("bead", (0, 0))])
    two.add_cable("rope", [("b", 0.5 * e1), ("ground", 3 * e1 + 3 * e2), ("bead", (0, 0, 0))])
    one.add_cam("cam", "a", "b", pitch=[0.5] * 4, point=(0.1, 0))
    two.add_cam("cam", "a", "b", pitch=[0.5] * 4, point=0.1 * e1, axis=np.cross(e1, e2), zero=e1)
    assert one.to_dict()["elements"] == two.to_dict()["elements"]


def test_runs_are_planar_where_the_formulation_takes_it():
    step = da.RungeKutta4(step=0.005)
    run = da.simulate(flat(), 0.01, integrator=step)
    assert run.mechanism.coordinates == "planar"
    other = da.simulate(flat(), 0.01, formulation=da.MovingFrame(), integrator=step)
    assert other.mechanism.coordinates == "absolute"
    np.testing.assert_allclose(run.position("tip"), other.position("tip"), rtol=0, atol=1e-9)
    assert da.simulate(flat(), 0.01, coordinates="absolute", integrator=step).mechanism.coordinates == "absolute"
    assert da.compile(flat()).coordinates == "planar" and da.compile(spatial("xy")).coordinates == "absolute"


def test_copies_files_and_stored_models_keep_it(tmp_path):
    model = flat()
    model.to_yaml(tmp_path / "m.yaml")
    assert "plane: xy" in (tmp_path / "m.yaml").read_text()
    for again in (model.copy(), da.Model.from_yaml(tmp_path / "m.yaml"), da.Model.from_dict(model.to_dict())):
        assert again.plane == "xy" and again.hash == model.hash
        again.add_marker("more", "a", (1, 2))
    model.replace("a", mass=3)
    assert model.body("a").mass == 3


def lever():
    """A bit of everything that a plane has shorter words for, with numbers that no twelve digits hold."""
    m = da.Model(plane="xz", gravity=(0.5, -9.0))
    m.add_link("crank", (0, 0), (-0.3, -0.1), mass=0.2, radius=0.01, angular_velocity=-2.0)
    m.add_link("odd", (0, 0), (np.sqrt(2), np.pi), mass=1.0)
    m.add_link("light", (0, 0), (0, -1))
    m.add_body("block", mass=0.1, inertia=1e-4, position=(-0.1, -0.2), rotation=-2.1, velocity=(1, 0), angular_velocity=1 / 3)
    m.add_body("box", **da.box(0.1, (0.1, 0.2, 0.3)).body(), rotation=da.Rotation.from_rpy(0.1, 0.2, 0.3), position=(1, 0.5, 2))
    m.add_point_mass("bead", mass=1, position=(-2, -1))
    m.add_revolute("A", "ground", "crank", point=(0, 0))
    m.add_revolute("B", "crank", "block", points=((0.1, 0), (1 / 3, -0.2)), coordinate=0.2)
    m.add_revolute("C", "ground", "box", point=(1, 0.5, 2), axis=(0, 1, 0))
    m.add_prismatic("D", "ground", "block", point=(-0.1, -0.2), axis=(-1, -1))
    m.add_planar_joint("E", "ground", "odd", point=(0, 0), coordinate=(1, None, None))
    m.add_cable("rope", [("odd", (0.5, 0)), ("ground", (3, 3)), ("bead", (0, 0))])
    m.add_cam("cam", "crank", "block", pitch=[0.5] * 4, point=(0.1, 0))
    m.add_force("push", "block", (-1, -2), at=(0.1, 0.2))
    m.add_torque("turn", "block", -0.7)
    m.add_torque("tilt", "block", (1.0, 0.0, 0.0))
    m.add_marker("tip", "block", at=(-0.5, -0.1))
    return m


def test_files_of_a_model_in_a_plane_say_it_in_the_plane(tmp_path):
    model = lever()
    model.to_yaml(tmp_path / "m.yaml")
    text = (tmp_path / "m.yaml").read_text()
    again = da.Model.from_yaml(tmp_path / "m.yaml")
    assert again.hash == model.hash
    assert json.dumps(again.to_dict(), sort_keys=True) == json.dumps(model.to_dict(), sort_keys=True)  # -0.0 is not 0.0
    for said in (
        "gravity: [0.5, -9]",
        "start: [0, 0]\n    end: [-0.3, -0.1]\n    mass: 0.2\n    angular_velocity: -2\n    radius: 0.01",
        "rotation: -2.1\n    velocity: [1, 0]\n    angular_velocity: 0.3333333333333333",
        "inertia: 0.0001",
        "second: crank\n    point: [0, 0]\n  B:",
        "points: [[0.1, 0], [0.3333333333333333, -0.2]]\n    coordinate: 0.2",
        "axis: [0, 1, 0]",
        "force: [-1, -2]",
        "torque: -0.7",
        "torque: [1, 0, 0]",
        "points: [[odd, [0.5, 0]], [ground, [3, 3]], [bead, [0, 0]]]",
    ):
        assert said in text, said
    assert text.count("rotation: [") == 1 and "frames" not in text  # of the box, which is turned out of the plane


@pytest.mark.parametrize("plane", PLANES)
def test_angles_in_files_are_those_of_python(plane, tmp_path):
    rng = np.random.default_rng(5)
    model = da.Model(plane=plane)
    for k, angle in enumerate([*rng.uniform(-4, 4, 40), 0.0, np.pi, -np.pi, 2 * np.pi, 1e-9]):
        model.add_body(f"b{k}", mass=1, inertia=1, rotation=float(angle))
        model.add_link(f"c{k}", rng.uniform(-1, 1, 2).round(3), rng.uniform(-1, 1, 2), mass=1)
    model.to_yaml(tmp_path / "m.yaml")
    assert da.Model.from_yaml(tmp_path / "m.yaml").hash == model.hash
    text = (tmp_path / "m.yaml").read_text()
    assert text.count("rotation: [") < 16 and text.count("type: link") > 29  # rounding hides the ends of some bars


def test_single_numbers_in_files_need_a_plane(tmp_path):
    from dalembert.model.file.problems import ModelFileError
    from dalembert.model.file.read import read_string

    file = """
plane: xz
bodies:
  arm: {mass: 2, inertia: 0.1, rotation: radians(30), angular_velocity: 2}
forces:
  twist: {type: torque, body: arm, torque: -3}
"""
    model = da.Model(plane="xz")
    model.add_body("arm", mass=2, inertia=0.1, rotation=np.radians(30), angular_velocity=2)
    model.add_torque("twist", "arm", -3)
    assert read_string(file, "arm.yaml", tmp_path).model.hash == model.hash
    with pytest.raises(ModelFileError) as refused:
        read_string(file.replace("plane: xz", ""), "arm.yaml", tmp_path)
    for said in (
        "body 'arm': inertia is 0.1; give 3 of them in [ ], or a 3x3 matrix; one number, about its normal, does where the file",
        "body 'arm': rotation is 0.523599; give a quaternion (scalar first), {axis: ..., angle: ...} or {rpy: ...}; one number",
        "body 'arm': angular_velocity is 2; give 3 of them in [ ]; one number, about its normal, does where the file has a",
        "force 'twist': torque is -3; give 3 of them in [ ]; one number",
    ):
        assert said in str(refused.value)


def test_models_in_space_are_as_they_were():
    assert da.Model().plane is None and "plane" not in da.Model().to_dict()
    np.testing.assert_array_equal(da.Model().gravity, (0, 0, -9.81))
    with pytest.raises(ModelError, match=r"marker 'm': point has shape \(2,\)"):
        da.Model().add_marker("m", "ground", (1, 2))


@pytest.mark.parametrize(
    "add, text",
    [
        (lambda m: da.Model(plane="zx"), "model: plane is 'zx'; give 'xy' or 'xz' or 'yz'"),
        (lambda m: m.add_marker("m", "a", (1, 2, 3, 4)), r"marker 'm': point has shape \(4,\)"),
        (lambda m: m.add_body("c", mass=1, inertia="much"), "body 'c': inertia is 'much'"),
        (lambda m: m.add_prismatic("p", "ground", "b", point=(0, 0)), "joint 'p': got no axis"),
        (lambda m: m.add_revolute("A", "ground", "b", point=(0, 0)), "this name is already used"),
    ],
)
def test_bad_input(add, text):
    with pytest.raises(ModelError, match=text):
        add(flat())


def test_a_body_without_mass_is_named():
    model = flat()
    model.add_body("c")
    with pytest.raises(ModelError, match=r"'c'.*mass"):
        da.simulate(model, 1.0)


def test_the_command_line_runs_it_so(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from dalembert.cli import app

    monkeypatch.chdir(tmp_path)
    flat().to_yaml("m.yaml")
    told = CliRunner().invoke(app, ["check", "m.yaml"]).output
    assert "3 degrees of freedom" in told  # the bead would have a fourth out of the plane


@pytest.mark.parametrize("size", [1.0, 1e-10])
def test_what_leaves_the_plane_is_told_at_every_size(size):
    """A ball joint lets the body go out of the plane of gravity and arm, here by a twentieth of its speed."""
    model = da.Model(gravity=(0, -9.81 * size, 0))
    model.add_body("ball", mass=1.0, inertia=[0.1 * size**2] * 3, position=(size, 0, 0), velocity=(0, size, 0.05 * size))
    model.add_spherical("socket", "ground", "ball", point=(0, 0, 0))
    with pytest.raises(da.ModelError, match="leaves the plane"):
        da.compile(model, "planar")


@pytest.mark.parametrize("rate", [0.3, 0.1, 7.0])
def test_what_slides_without_turning_does_not_leave_the_plane_by_rounding(rate):
    """A block with a bar across: velocities that follow from a rate have turns of 1e-14 rad/s."""
    model = da.Model(plane="xz")
    model.add_body("block", **da.box(2.0, (0.1, 0.06, 0.06)).body(), position=(0, 0, 0))
    model.add_link("bar", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_prismatic("slide", model.ground, "block", point=(0, 0, 0), axis=(1, 0, 0), rate=rate)
    model.add_revolute("pin", "block", "bar", point=(0, 0, 0))
    assert da.compile(model).coordinates == "planar"


@pytest.mark.parametrize("formulation", [da.MovingFrame(), da.Minimal(velocities="joints")], ids=["moving frame", "joints"])
def test_formulations_of_joints_take_it_in_space(formulation):
    """Planar coordinates are those of bodies: these formulations go on without them, unless they are asked for."""
    run = {"integrator": da.RungeKutta4(step=0.01)}
    solution, other = da.simulate(flat(), 0.02, formulation=formulation, **run), da.simulate(flat(), 0.02, **run)
    assert (solution.mechanism.coordinates, other.mechanism.coordinates) == ("absolute", "planar")
    np.testing.assert_allclose(solution.position("bead"), other.position("bead"), rtol=0, atol=1e-9)
    with pytest.raises(ModelError, match="does not take 'planar' coordinates; a model in these takes one of Jet, "):
        da.simulate(flat(), 0.02, formulation=formulation, coordinates="planar", **run)


def test_which_way_angles_turn_is_told_and_true():
    """By README, the file of `dalembert new` and the tutorial: about +y from x down, in the plane xz without an axis up."""
    root = Path(__file__).parents[2]
    texts = [(root / name).read_text() for name in ("README.md", "docs/tutorial.md", "src/dalembert/model/file/starter.yaml")]
    own = texts[0].partition("## Models in files, and the command line")[2].partition("\n## ")[0]
    for text in (own, *texts[1:]):
        assert "right-hand rule: about +y" in text
        assert "radians(30)" in text
    assert "with `plane: xz` and no axis, from x up towards z" in own
    assert "angles count from x (right) towards z (up)" in texts[2]
    for plane, axis, height in ((None, (0, 1, 0), -0.25), ("xz", None, 0.25), ("xz", (0, 1, 0), -0.25)):
        model = da.Model(plane=plane)
        points = ((0, 0), (1, 0)) if plane else ((0, 0, 0), (1, 0, 0))
        model.add_link("arm", *points, mass=1.0)
        given = {} if axis is None else {"axis": axis}
        model.add_revolute("A", "ground", "arm", point=points[0], coordinate=np.radians(30), **given)
        assert model.assemble().bodies[0].position[2] == pytest.approx(height)


@pytest.mark.parametrize(("plane", "fits"), [("xz", "(1, 0, 0)"), ("yz", "(0, 1, 0)")])
def test_a_rail_across_the_plane_is_told_what_fits(plane, fits):
    model = da.Model(plane=plane)
    model.add_body("slider", mass=1.0, inertia=1.0)
    model.add_body("arm", mass=1.0, inertia=1.0)
    across = {"xz": (0, 1, 0), "yz": (1, 0, 0)}[plane]
    model.add_prismatic("rail", model.ground, "slider", point=(0, 0), axis=across)
    model.add_revolute("pin", "slider", "arm", point=(0, 0))
    said = f"joint 'rail': its axis is {across}, across the plane {plane} of the model; give one in the plane, such as {fits}"
    with pytest.raises(da.ModelError, match=re.escape(said)):
        da.compile(model)


def test_files_with_a_plane_take_two_numbers(tmp_path):
    from dalembert.model.file.problems import ModelFileError
    from dalembert.model.file.read import read_string

    file = """
plane: xz
parameters: {length: 0.5}
gravity: [0, -9.81]
bodies:
  arm: {type: link, start: [0, 0], end: [length, "-length / 2"], mass: 2}
  bob: {type: point_mass, mass: 1, position: [1, -2], velocity: [3, 0, 4]}
joints:
  A: {type: revolute, first: ground, second: arm, point: [0, 0]}
  rope: {type: distance, first: ground, second: bob, points: [[0, 0], [0, 0]]}
markers:
  tip: {body: arm, at: [length, "-length / 2"]}
"""

    def read(text):
        return read_string(text, "arm.yaml", tmp_path)

    model = da.Model(plane="xz", gravity=(0, 0, -9.81))
    model.add_link("arm", (0, 0), (0.5, -0.25), mass=2)
    model.add_point_mass("bob", mass=1, position=(1, -2), velocity=(3, 0, 4))
    model.add_revolute("A", "ground", "arm", point=(0, 0))
    model.add_distance("rope", "ground", "bob", points=((0, 0), (0, 0)))
    model.add_marker("tip", "arm", at=(0.5, -0.25))
    assert read(file).model.hash == model.hash
    with pytest.raises(
        ModelFileError, match=r"end has 2 entries, \[0\.5, -0\.25\]; give 3; two do where the file has a plane: xz"
    ):
        read(file.replace("plane: xz\n", ""))
    with pytest.raises(ModelFileError, match=r"position has 1 entries, \[1\.0\]; give 3, or 2, along x and z$"):
        read(file.replace("position: [1, -2]", "position: [1]"))
    with pytest.raises(ModelFileError, match=r"plane is 'zx'.*"):
        read(file.replace("plane: xz", "plane: zx"))


@pytest.mark.parametrize(
    ("verb", "function", "fits"),
    [
        ("force", lambda t: (0.0, 5 * np.sin(t)), "(fx, 0, fz)"),
        ("force", lambda t, r, v, R, w: (0.0, -400 * np.tanh(v[1] / 0.01)), "(fx, 0, fz)"),
        ("torque", lambda t: 3.0 * t, "(0, ty, 0)"),
    ],
)
def test_functions_in_a_plane_return_three_numbers(verb, function, fits):
    m = flat("xz")
    getattr(m, f"add_{verb}")("load", "b", function)
    text = rf"{verb} 'load': its function .* of shape .*; return three numbers in a plane too: {re.escape(fits)}, along x"
    with pytest.raises(ModelError, match=text):
        da.compile(m)


def test_interactions_in_a_plane_return_six_numbers():
    m = flat("xz")
    m.add_interaction("law", "ground", "b", lambda t, r, R, v, w: ((0.0, 1.0), 2.0))
    with pytest.raises(ModelError, match=r"interaction 'law': .*; return force and torque, three numbers each, in a plane too"):
        da.compile(m)


def test_functions_that_raise_at_the_start_are_left_to_the_run():
    m = flat("xz")
    m.add_force("load", "b", lambda t, r, v, R, w: (v[3], 0.0, 0.0))
    assert da.compile(m).plane is not None


TWO = "; give two numbers (x, z), or three"
TOLD = {
    "axis": (lambda m: m.add_prismatic("P", "ground", "b", point=(0, 0), axis="z"), f"joint 'P': axis is 'z'{TWO}"),
    "zero": (
        lambda m: m.add_prismatic("P", "ground", "b", point=(0, 0), axis=(0, 0)),
        "has length 0; give a non-zero vector (x, z)",
    ),
    "force": (lambda m: m.add_force("F", "b", 400.0), f"force 'F': force has shape (), 400.0{TWO}"),
    "points": (lambda m: m.add_revolute("P", "ground", "b", points=(0.1, 0)), f"joint 'P': points[0] has shape (), 0.1{TWO}"),
    "pair": (
        lambda m: m.add_revolute("P", "ground", "b", points=5),
        "points is 5; give a pair of vectors (x, z), one fixed in",
    ),
    "gravity": (lambda m: da.Model(plane="xz", gravity=9.81), f"model: gravity has shape (), 9.81{TWO}"),
    "no inertia": (lambda m: m.add_body("c", mass=1), "inertia is None; give one number, about the normal, three, or a solid"),
    "inertia": (
        lambda m: m.add_body("c", mass=1, inertia=(1, 2)),
        "inertia has shape (2,), (1, 2); give one number, about the",
    ),
    "torque": (
        lambda m: m.add_torque("T", "b", (1, 2)),
        "torque has shape (2,), (1, 2); give one number, about the normal, or three",
    ),
    "rotation": (
        lambda m: m.add_body("c", mass=1, inertia=1, rotation=(1, 2)),
        "rotation is (1, 2); give an angle [rad], a quaternion",
    ),
    "in space": (
        lambda m: da.Model().add_link("c", (0, 0), (0, 1), mass=1),
        "give 3 numbers, or make the model in a plane, da.Model(",
    ),
    "of shapes": (
        lambda m: m.add_body("c", mass=1, inertia=1, shape={"type": "box", "size": [1, 2]}),
        "[1.0, 2.0]; give 3 numbers",
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_what_to_give_is_told_in_numbers_of_the_plane(case):
    make, text = TOLD[case]
    with pytest.raises(ModelError, match=re.escape(text)):
        make(flat("xz"))
    with pytest.raises(ModelError, match=r"give 3 numbers$"):
        da.Model(gravity=9.81)  # what is said of the plane ends with the verb


@pytest.mark.parametrize("kind", ["jack", "gantry", "sledge"])
@pytest.mark.parametrize("plane", ["xz", "yz", None])
def test_the_plane_of_what_only_slides(plane, kind):
    """No hinge tells the normal, and what rounding makes of spins is none; bodies may be in layers."""
    e = np.eye(3)[["xyz".index(letter) for letter in plane or "xz"]]

    def at(a, b):
        return (a, b) if plane else a * e[0] + b * e[1] + 0.1 * np.cross(*e) * (b > 0.0)

    model, box = da.Model(plane=plane), da.box(1.0, (0.1, 0.1, 0.1)).body()
    if kind != "jack":
        model.add_body("sledge", **box, position=at(0.3, 0))
        model.add_prismatic("feed", "ground", "sledge", point=at(0.3, 0), axis=at(1, 0))
    model.add_body("ram", **box, position=at(0.3, 0.5))
    model.add_prismatic("lift", "ground" if kind == "jack" else "sledge", "ram", point=at(0.3, 0.5), axis=e[1])
    model.add_driver("pump", "lift", da.Polynomial((0.0, 0.1)))
    if kind == "gantry":
        model.add_driver("motor", "feed", da.Harmonic(0.1, 3.0))
    assert np.allclose(compile(model, "planar").plane.normal, np.abs(np.cross(*e)), atol=1e-12)


def test_a_vertical_cylinder_is_planar():
    model = da.Model(plane="xz")
    model.add_link("barrel", (0, 0), (0, 0.5), mass=3.0)
    model.add_link("rod", (0, 0.02), (0, 0.55), mass=2.0)
    model.add_fixed("weld", "ground", "barrel", point=(0, 0))
    model.add_prismatic("C", "barrel", "rod", point=(0, 0), axis=(0, 1))
    model.add_driver("cylinder", "C", da.Polynomial((0.0, 0.15)))
    assert compile(model, "planar").plane.normal.tolist() == [0.0, 1.0, 0.0]
