"""Model files: exact both ways, the same verbs as Python, YAML 1.2 values, arithmetic and nothing more."""

import contextlib
import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.gallery import GALLERY
from dalembert.model.file.expression import evaluate
from dalembert.model.file.problems import ModelFileError
from dalembert.model.file.read import read_model, read_string
from dalembert.model.file.schema import CODE, RECORDS, SCHEMA_FILE, json_schema
from dalembert.model.file.syntax import parse
from dalembert.model.file.write import write_model

FILES = Path(inspect.getfile(read_model)).parent


def everything():
    """A model with every verb and awkward values."""
    m = da.Model((0.1, -0.0, -9.81), name="it's: {all} #1 \xa0 'é' 😀")
    m.add_body("a b", **da.rod(1 / 3, 0.7, radius=0.01).body(), position=(0.1, 0.2, 0.3), rotation=(0.5, 0.5, 0.5, 0.5))
    m.add_body("no", mass=0.1 + 0.2, inertia=[[2.0, 0.1, 0], [0.1, 3.0, -0.2], [0, -0.2, 2.5]], position=(1, 2, 3),
               rotation=da.Rotation.from_rpy(0.1, 0.2, 0.3), velocity=(1e-300, -0.0, 1e22), fixed=True)  # fmt: skip
    m.add_body("c: d", **da.box(1.0, (1, 2, 3)).body(), angular_velocity=(1, 2, 3))
    m.add_point_mass("1e-3", mass=1.0, position=(0.3, 0.1, 0.7), velocity=(0, 0, 1), shape={"type": "sphere", "radius": 1})
    parts = [{"type": "disc", "radius": 0.1, "axis": "x"}, {"type": "box", "size": (1, 2, 3), "rotation": (1, 0, 0, 0)}]
    m.add_body("e", mass=1, inertia=(1, 1, 1), shape={"type": "compound", "position": (1, 0, 0), "parts": parts})
    x = np.array([1.0, 2.0, -0.5])
    m.add_spherical("s1", "ground", "a b", point=(0.3, 0.1, 0.2))
    m.add_spherical("s2", "a b", "no", points=((0.1, 0, 0), (0, 1 / 3, 0)))
    m.add_universal("u1", "a b", "no", point=x, axes=((0, 0.6, 0.8), (1, 0, 0)), coordinate=(None, 0.1), rate=(1.0, None))
    m.add_universal("u2", "a b", "no", points=(x, x), axes=((0, 0.6, 0.8), (0.1, 1, 0.3)))
    m.add_revolute("r1", "ground", "c: d", point=x, axis=x, rate=6.0, coordinate=1 / 3)
    m.add_revolute("r2", "no", "c: d", points=(x, -x), axes=(x, (1, 1, 1)))
    m.add_cylindrical("cy", "no", "c: d", points=(x, -x), vectors=((1, 0, 0), (0, 1, 0), (0, 0.1, 1), (0, 1, -0.1)))
    m.add_prismatic("pr", "ground", "no", point=(0.1, 0.7, 0.9), axis=(0.3, 0.1, 0.9))
    m.add_planar_joint("pl", "ground", "no", point=(0.1, 0.7, 0.9), axis=(0.3, 0.1, 0.9), coordinate=(1, None, None))
    m.add_fixed("f1", "no", "c: d")
    m.add_fixed("f2", "no", "e", points=(x, x))
    m.add_distance("d1", "ground", "1e-3")
    m.add_distance("d2", "no", "1e-3", points=(x, (0, 0, 0)), length=da.Harmonic(0.1, 2.0, offset=0.7))
    m.add_distance("d3", "no", "c: d", length=da.Constant(0.3))
    m.add_point_on_line("pol", "no", "1e-3", point=(0.3, 0.1, 0.7), axis=x)
    m.add_point_on_plane("pop", "no", "1e-3", points=((1, 0, 0), (0, 0, 0)), axes=(x,), rate=(None, 1.0))
    m.add_coincidence("co", "no", "c: d", points=(x, -x))
    m.add_perpendicular("pe", "no", "c: d", axes=(x, (1, 0.3, 0)))
    m.add_in_plane("ip", "no", "c: d", direction=x, points=(x, -x), offset=0.1)
    m.add_rolling_sphere("ro", "c: d", radius=1 / 3, centre=(0.1, 0, 0.2), plane=((0, 0, 0.1), (0.1, 0.2, 1)))
    m.add_rolling_disc("rd", "e", radius=0.1, axis=(1, 2, 3))
    m.add_rolling_ellipsoid("re", "e", semi_axes=(0.1, 0.2, 1 / 3))
    m.add_skate("sk", "e", direction=(1, 2, 0), point=(0.1, 0, 0), on="a b")
    m.add_driver("m1", "r1", da.Polynomial((0.1, 6.0, -1 / 3)))
    m.add_driver("m2", "cy", da.SmoothStep(0, 1, 0.5, 1.5), component=1)
    m.add_driver("m3", "r2", 0.7)
    m.add_point_driver("m4", "no", direction=x, motion=da.Table((0, 1, 2.5), (0, 1 / 3, -1)), reference="c: d", origin=x)
    m.add_force("F1", "no", (1, 2, 1 / 3), point=x, frame="body", factor=da.Harmonic(1.0, 2.0))
    m.add_force("F2", "1e-3", (1, 2, 1 / 3), factor=da.Constant(2.0))
    m.add_torque("T1", "no", (1, 2, 1 / 3), frame="body")
    m.add_torque("T2", "no", (1, 2, 1 / 3), frame="world", factor=da.Polynomial((1.0,)))
    m.add_spring_damper("sd", "no", "c: d", stiffness=10, damping=1 / 3, points=(x, -x))
    m.add_joint_spring_damper("j1", "r1", stiffness=3, damping=0.1, reference=0.3)
    m.add_joint_spring_damper("j2", "s1", stiffness=3, law="euler-321")
    m.add_joint_spring_damper("j3", "cy", damping=1.0, component=1)
    m.add_motor("mo", "u1", da.Harmonic(1.0, 2.0), component=1)
    return m


def test_round_trip_of_everything(tmp_path):
    model = everything()
    path = tmp_path / "m.yaml"
    model.to_yaml(path)
    again = da.Model.from_yaml(path)
    assert again.to_dict() == model.to_dict()
    assert json.dumps(again.to_dict(), sort_keys=True) == json.dumps(model.to_dict(), sort_keys=True)  # -0.0 is not 0.0
    assert again.hash == model.hash
    again.to_yaml(tmp_path / "n.yaml")
    assert (tmp_path / "n.yaml").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", [name for name in GALLERY if isinstance(gallery.build(name), da.Model)])
def test_round_trip_of_the_gallery(name, tmp_path):
    model = gallery.build(name)
    try:
        model.to_yaml(tmp_path / "m.yaml")
    except ModelError as problem:
        assert "it is a Python function" in str(problem)
        return
    assert da.Model.from_yaml(tmp_path / "m.yaml").hash == model.hash


def test_common_joints_are_written_shortly(tmp_path):
    gallery.build("slider_crank").to_yaml(tmp_path / "m.yaml")
    text = (tmp_path / "m.yaml").read_text()
    assert "point: [0, 0.1, 0.12]\n    axis: [1, 0, 0]" in text
    assert "frames" not in text


def test_order_of_kinds_does_not_matter():
    """A model that mixes bodies and joints is the same as one that does not, in hash and in tables."""
    mixed, sorted_ = da.Model(), da.Model()
    for k in (1, 2):
        mixed.add_body(f"b{k}", mass=1, inertia=(1, 1, 1), position=(k, 0, 0))
        mixed.add_spherical(f"j{k}", "ground" if k == 1 else "b1", f"b{k}", point=(k - 1, 0, 0))
    for k in (1, 2):
        sorted_.add_body(f"b{k}", mass=1, inertia=(1, 1, 1), position=(k, 0, 0))
    for k in (1, 2):
        sorted_.add_spherical(f"j{k}", "ground" if k == 1 else "b1", f"b{k}", point=(k - 1, 0, 0))
    assert mixed.hash == sorted_.hash
    np.testing.assert_array_equal(da.compile(mixed).F, da.compile(sorted_).F)


def test_functions_are_refused_by_name(tmp_path):
    model = da.Model()
    model.add_point_mass("bob", mass=1)
    model.add_force("drag", "bob", lambda t: (t, 0, 0))
    with pytest.raises(ModelError, match="force 'drag': a model file cannot hold it; it is a Python function"):
        model.to_yaml(tmp_path / "m.yaml")
    model = da.Model()
    model.add_point_mass("bead", mass=1)
    model.add_constraint("wire", lambda bead: bead.r[2] - 0.1 * np.sin(bead.r[0]), "bead")
    with pytest.raises(ModelError, match="joint 'wire': a model file cannot hold it; it is a Python function"):
        model.to_yaml(tmp_path / "m.yaml")
    assert list(tmp_path.iterdir()) == []


def test_records_are_the_verbs():
    """Every verb has a record, with the verb's own arguments."""
    verbs = {name[4:]: verb for name, verb in inspect.getmembers(da.Model, inspect.isfunction) if name.startswith("add_")}
    functions = {"constraint", "velocity_constraint", "interaction", "joint_law"}
    assert functions <= CODE
    for verb in ("translational", *CODE):  # another name of prismatic; functions
        del verbs[verb]
    records = {kind: record for section in RECORDS.values() for kind, record in section.items()}
    assert records.keys() == verbs.keys()
    for kind, record in records.items():
        assert all(field.description for key, field in record.model_fields.items() if key != "type"), kind
        own = set(record.model_fields) - {"type", "frames", "solid"}
        code = {"frames", "parameters", *(["joints"] if kind == "coupling" else [])}  # what only functions take, and frames
        assert own == set(inspect.signature(verbs[kind]).parameters) - {"self", "name"} - code, kind


def test_schema_describes_every_record():
    schema = json.loads(json.dumps(json_schema()))
    records = {record.__name__: kind for section in RECORDS.values() for kind, record in section.items()}
    assert records.keys() <= schema["$defs"].keys()
    for name, kind in records.items():
        record = schema["$defs"][name]
        assert record["description"] in inspect.getdoc(getattr(da.Model, f"add_{kind}"))
        assert record["properties"]["type"]["const"] == kind and record["additionalProperties"] is False


def test_code_is_refused_by_name():
    text = "bodies: {a: {type: point_mass, mass: 1}}\njoints: {w: {type: constraint, bodies: a}}"
    with pytest.raises(ModelFileError, match="'constraint' is a Python function, and model files hold no code"):
        read_string(text, "m.yaml", Path())


def test_points_by_name():
    """Every key that takes a point of the pose takes its name; their coordinates are numbers of the file."""
    text = """
plane: xz
parameters: {l: 0.5}
points: {A: [0, 0], B: [l, 0.1], C: [B.x + 0.3, 2 * B.z]}
bodies:
  bar: {type: link, start: A, end: B, mass: 1}
  block: {mass: 1, inertia: 0.1, position: C}
  rod: {solid: {type: rod, mass: 1, between: [B, C]}}
joints:
  A: {type: revolute, first: ground, second: bar, point: A}
  B: {type: revolute, first: bar, second: rod, point: B}
  C: {type: revolute, first: rod, second: block, point: C, coordinate: C.z - 2 * B.z}
forces:
  f: {type: force, body: bar, force: [0, -1], at: B}
  s: {type: spring_damper, first: ground, second: block, between: [[0, 0.4], C], stiffness: 3}
markers: {tip: {body: block, at: C}}
"""
    plain = text.replace("points: {A: [0, 0], B: [l, 0.1], C: [B.x + 0.3, 2 * B.z]}\n", "").replace("C.z - 2 * B.z", "0")
    for key in ("start", "end", "position", "point", "at"):
        for name, place in (("A", "[0, 0]"), ("B", "[l, 0.1]"), ("C", "[l + 0.3, 0.2]")):
            plain = plain.replace(f" {key}: {name}", f" {key}: {place}")
    plain = plain.replace("[B, C]", "[[l, 0.1], [l + 0.3, 0.2]]").replace(" C]", " [l + 0.3, 0.2]]")
    named, written = (read_string(one, "m.yaml", Path()) for one in (text, plain))
    assert named.model.hash == written.model.hash and named.parameters == ("l",)
    moved = read_string(text, "m.yaml", Path(), {"l": 0.7}).model
    assert moved.body("block").position.tolist() == [1.0, 0.0, 0.2]


@pytest.mark.parametrize("name", ["starter.yaml", "starter_plane.yaml"])
def test_starter_runs_and_says_units(name):
    text = (FILES / name).read_text()
    found = read_string(text, name, FILES)
    assert "SI: m, kg, s, rad" in text
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n")
    assert da.simulate(found.model, found.t_end).report().passed


def test_forces_of_the_starter_are_right_when_uncommented():
    lines = (FILES / "starter_plane.yaml").read_text().splitlines()
    text = "\n".join(re.sub(r"^  # (?=\w+: {)", "  ", line) for line in lines)
    model = read_string(text, "m.yaml", FILES).model
    assert [force.name for force in model.forces] == ["load", "spring", "friction", "cut"]
    run = da.simulate(model, 2.0)
    assert run.report().passed
    fine = run(np.linspace(0, 2, 500))
    cut, rate = fine.effort("cut").value, fine.coordinate_rate("D")
    assert np.all(cut[rate > 0.01] == -400.0) and np.all(cut[rate <= 0] == 0.0)
    assert rate.max() > 0.5 and rate.min() < -0.5


def test_file_and_python_say_the_same():
    text = """
        bodies:
          arm: {solid: {type: rod, mass: 0.5, length: 0.2, axis: z, radius: 0.01}, rotation: {axis: [0, 1, 0], angle: pi / 6}}
          tip: {solid: {type: sphere, mass: 1, radius: r}, rotation: {rpy: [0.1, 0, r]}, position: [0, 0, "-2*r"]}
        parameters: {r: 0.1}
        joints:
          A: {type: revolute, first: ground, second: arm, point: [0, 0, r], axis: [0, 1, 0], rate: 2 * pi}
          B: {type: planar_joint, first: arm, second: tip, point: [0, 0, "-r"], axis: [0, 1, 0], coordinate: [null, 0.1, null]}
        drivers:
          D: {joint: A, motion: {type: harmonic, amplitude: r, omega: 3}}
        """
    model = da.Model()
    turned = da.Rotation.from_axis_angle((0, 1, 0), math.pi / 6)
    model.add_body("arm", **da.rod(0.5, 0.2, axis="z", radius=0.01).body(), rotation=turned)
    model.add_body("tip", **da.sphere(1, 0.1).body(), rotation=da.Rotation.from_rpy(0.1, 0, 0.1), position=(0, 0, -0.2))
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0.1), axis=(0, 1, 0), rate=2 * math.pi)
    model.add_planar_joint("B", "arm", "tip", point=(0, 0, -0.1), axis=(0, 1, 0), coordinate=(None, 0.1, None))
    model.add_driver("D", "A", da.Harmonic(0.1, 3))
    assert read_string(text, "m.yaml", Path()).model.hash == model.hash


def test_meshes_are_found_beside_the_file(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.stl").write_text("solid")
    path = tmp_path / "m.yaml"
    path.write_text("bodies: {a: {mass: 1, inertia: [1, 1, 1], shape: {type: mesh, file: parts/a.stl, scale: 1e-3}}}")
    model = da.Model.from_yaml(path)
    assert model.bodies[0].shape == {"type": "mesh", "file": str((tmp_path / "parts/a.stl").resolve()), "scale": 1e-3}
    model.to_yaml(tmp_path / "n.yaml")
    assert 'file: "parts/a.stl"' in (tmp_path / "n.yaml").read_text()
    (tmp_path / "other").mkdir()
    with pytest.raises(ModelError, match="mesh in the file's folder"):
        model.to_yaml(tmp_path / "other" / "m.yaml")


def test_suggested_end(tmp_path):
    write_model(gallery.build("pendulum_3d"), tmp_path / "m.yaml", t_end=7.5)
    assert read_model(tmp_path / "m.yaml").t_end == 7.5


@pytest.mark.parametrize(
    "text, value",
    [("1e-3", 1e-3), ("no", "no"), ("on", "on"), ("1:30", "1:30"), ("0o17", 15), ("0x1F", 31), ("010", 10), ("~", None),
     ("", None), ("true", True), ("+1.", 1.0), (".5", 0.5), ("-.inf", -math.inf), ("'1'", "1"), ("2001-01-01", "2001-01-01"),
     ("1_000", "1_000"), ("=", "="), ("é", "é"), ("|\n  1", "1")],
)  # fmt: skip
def test_yaml_1_2_core(text, value):
    read = parse(f"a: {text}", "m.yaml").data["a"]
    assert (read, type(read)) == (value, type(value))


def test_aliases_are_copies():
    document = parse("a: &p [1, {b: 2}]\nc: *p\nd: [*p, *p]", "m.yaml")
    assert document.data == {"a": [1, {"b": 2}], "c": [1, {"b": 2}], "d": [[1, {"b": 2}]] * 2}
    assert document.place(("c",)) == (2, 4)


@pytest.mark.parametrize(
    "text, value",
    [("2*pi", 2 * math.pi), ("-2**2", -4.0), ("(1+2)/4", 0.75), ("sqrt(l)", math.sqrt(0.3)), ("atan2(1, -1)", 3 * math.pi / 4),
     ("hypot(3, 4) - max(1, l)", 4.0), ("+1e-3", 1e-3), ("radians(180)", math.pi), ("log(exp(2))", 2.0), ("2 ** -1", 0.5)],
)  # fmt: skip
def test_arithmetic(text, value):
    assert evaluate(text, {"l": 0.3}) == value


@pytest.mark.parametrize(
    "text",
    ["open('x')", "l.__class__", "[1][0]", "lambda: 1", "1 if l else 2", "l == 1", "'a' * 9", "1 // 2", "5 % 3", "1 << 9",
     "f'{l}'", "(l := 2)", "sqrt(x=1)", "sqrt(*[1])", "exec('1')", "9**999", "(-1)**0.5", "sqrt(-1)", "exp(1000)", "1/0", "",
     "True", "1j", "((((" * 60, "-" * 300 + "1", "1e308*10", "sqrt", "pi()", "min()"],
)  # fmt: skip
def test_nothing_but_arithmetic(text):
    with pytest.raises(ModelError):
        evaluate(text, {"l": 0.3})


@given(st.text(max_size=300))
def test_any_text_is_a_model_or_a_model_error(text):
    try:
        read_string(text, "m.yaml", Path())
    except ModelFileError as problem:
        assert problem.problems and all(p.line >= 1 and p.column >= 1 for p in problem.problems)


@given(st.text(alphabet="l0123456789.+-*/() e,sinqrtpax", max_size=40))
def test_any_expression_is_a_number_or_a_model_error(text):
    with contextlib.suppress(ModelError):
        assert math.isfinite(evaluate(text, {"l": 0.3}))
