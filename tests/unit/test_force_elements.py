"""Laws, tables and bushings: what is refused and how, what goes into files, what a report says, what is compiled when."""

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.compile import compile
from dalembert.formulations.derivatives import Derivatives
from dalembert.kernels.base import compiler

compiled_only = pytest.mark.skipif(not compiler.JIT, reason="user functions are plain Python in this process")
SIX = [400.0, 300.0, 500.0, 6.0, 5.0, 4.0]


def pair() -> da.Model:
    """Two bodies that fly, a hinge and a slide to the ground, a point mass."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("a", mass=1.0, inertia=(1, 1.2, 1.4), angular_velocity=(0.3, 0.1, 0.2))
    model.add_body("b", mass=1.0, inertia=(1, 1.2, 1.4), position=(1, 0, 0), velocity=(0.1, 0.2, 0.3))
    model.add_body("c", mass=1.0, inertia=(1, 1, 1), position=(3, 0, 0))
    model.add_body("d", mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0))
    model.add_revolute("hinge", model.ground, "c", point=(3, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("slide", model.ground, "d", point=(5, 0, 0), axis=(0, 0, 1))
    model.add_spherical("ball", "c", "a", point=(2, 0, 0))
    model.add_point_mass("p", mass=1.0, position=(0, 5, 0))
    return model


def of_length(t, l, l_dot):
    return 1.0


def of_pose(t, r, R, v, w):
    return r, w


def of_pair(t, s, s_dot, k):
    return k * s


BAD = {
    "unknown joint": (lambda m: m.add_joint_law("x", ["hinge", "hing"], of_pair), "joint law 'x': there is no joint 'hing'"),
    "no list": (lambda m: m.add_joint_law("x", "hinge", of_pair), r"joint law 'x': joints is 'hinge'; give a list"),
    "twice": (lambda m: m.add_joint_law("x", ["hinge", "hinge"], of_pair, parameters={"k": 1}), "joint 'hinge' is there twice"),
    "component": (lambda m: m.add_joint_law("x", [("hinge", 2)], of_pair), r"joint law 'x': component is 2"),
    "ball": (lambda m: m.add_joint_law("x", ["ball"], of_pair), r"joint law 'x': .*ball"),
    "arguments": (
        lambda m: m.add_motor("x", "hinge", of_pair),
        r"motor 'x': the function has 4 arguments \(t, s, s_dot, k\); give effort\(t, s, s_dot\); name those that are numbers",
    ),
    "no such parameter": (
        lambda m: m.add_motor("x", "hinge", of_pair, parameters={"kk": 1.0}),
        r"motor 'x': parameters has 'kk', which is no argument of its function; did you mean 'k'\?",
    ),
    "parameter is text": (
        lambda m: m.add_motor("x", "hinge", of_pair, parameters={"k": "1"}),
        "parameter 'k' is '1'; give a number",
    ),
    "parameter is NaN": (lambda m: m.add_motor("x", "hinge", of_pair, parameters={"k": np.nan}), "parameter 'k' is nan"),
    "parameters of a number": (
        lambda m: m.add_motor("x", "hinge", 3.0, parameters={"k": 1}),
        "motor 'x': parameters go with a function",
    ),
    "law is a number": (
        lambda m: m.add_joint_law("x", ["hinge"], 3.0),
        r"joint law 'x': the law is 3.0; give a function law\(t, s, s_dot\)",
    ),
    "force is a number": (
        lambda m: m.add_spring_damper("x", "a", "b", force=3.0),
        r"spring-damper 'x': force is 3.0; give a function",
    ),
    "nothing": (lambda m: m.add_spring_damper("x", "a", "b"), "spring-damper 'x': got no stiffness, damping or force"),
    "spring of five": (lambda m: m.add_spring_damper("x", "a", "b", force=of_pose), r"5 arguments .*; give law\(t, l, l_dot\)"),
    "periodic": (
        lambda m: m.add_spring_damper("x", "a", "b", force=da.Table((0, 1, 2), (0, 1, 0), periodic=True)),
        "spring-damper 'x': force is a periodic or clamped table",
    ),
    "periodic of a joint": (
        lambda m: m.add_joint_spring_damper("x", "hinge", damping=da.Table((0, 1, 2), (0, 1, 0), periodic=True)),
        "joint spring-damper 'x': damping is a periodic or clamped table",
    ),
    "motion of a joint": (
        lambda m: m.add_joint_spring_damper("x", "hinge", stiffness=da.Harmonic(1.0, 2.0)),
        r"'x': stiffness is Harmonic\(.*\), a motion; give a number, or a Table of what it depends on",
    ),
    "table of a ball": (
        lambda m: m.add_joint_spring_damper("x", "ball", damping=da.Table((0, 1), (0, 1))),
        "'x': damping is a Table, law 'rotation-vector' takes a number; use law=\"coordinate\"",
    ),
    "point mass": (lambda m: m.add_interaction("x", "a", "p", of_pose), "interaction 'x': point mass 'p' cannot turn"),
    "itself": (lambda m: m.add_interaction("x", "a", "a", of_pose), "interaction 'x': connects body 'a' with itself"),
    "interaction of three": (
        lambda m: m.add_interaction("x", "a", "b", of_length),
        r"3 arguments .*; give law\(t, r, R, v, w\)",
    ),
    "five numbers": (
        lambda m: m.add_bushing("x", "a", "b", point=(0, 0, 0), stiffness=SIX[:5]),
        "bushing 'x': stiffness has shape",
    ),
    "negative": (
        lambda m: m.add_bushing("x", "a", "b", point=(0, 0, 0), stiffness=[-1.0] * 6),
        "stiffness has the eigenvalue -1.0",
    ),
    "not symmetric": (
        lambda m: m.add_bushing("x", "a", "b", point=(0, 0, 0), stiffness=np.diag(SIX) + np.eye(6, k=1)),
        "bushing 'x': stiffness is not symmetric and has no potential; .* or use add_interaction",
    ),
    "no gains": (lambda m: m.add_bushing("x", "a", "b", point=(0, 0, 0), stiffness=[0.0] * 6), "stiffness and damping are 0"),
    "no point": (lambda m: m.add_bushing("x", "a", "b", stiffness=SIX), "bushing 'x': got neither point= nor points="),
    "axes": (
        lambda m: m.add_bushing("x", "a", "b", point=(0, 0, 0), stiffness=SIX, axes=np.ones((3, 3))),
        "bushing 'x': axes is a matrix",
    ),
    "both": (
        lambda m: m.add_bushing("x", "a", "b", point=(0, 0, 0), stiffness=SIX, axes=np.eye(3), frames=(np.eye(3),) * 2),
        "bushing 'x': got both axes= and frames=",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case):
    build, text = BAD[case]
    with pytest.raises(da.ModelError, match=text):
        build(pair())


LAWS = {
    "motor": (lambda m, f: m.add_motor("x", "hinge", f), "one number"),
    "joint law": (lambda m, f: m.add_joint_law("x", ["hinge", "slide"], f), "2 numbers"),
    "spring-damper": (lambda m, f: m.add_spring_damper("x", "a", "b", force=f), "one number"),
    "interaction": (lambda m, f: m.add_interaction("x", "a", "b", f), "force and torque, three numbers each"),
}
GOOD = {"one number": 1.0, "2 numbers": np.ones(2), "force and torque, three numbers each": np.ones((2, 3))}


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("returned", [np.ones(3), None, (1.0, (2.0, 3.0)), np.nan], ids=["three", "None", "ragged", "nan"])
def test_what_a_law_returns_is_looked_at_before_it_is_compiled(kind, returned):
    add, wanted = LAWS[kind]
    value = GOOD[wanted] * np.nan if returned is np.nan else returned

    def law(t, a, b):
        return value

    def of_five(t, r, R, v, w):
        return value

    model = pair()
    add(model, of_five if kind == "interaction" else law)
    end = "at the start; return finite numbers" if returned is np.nan else f"return {wanted}"
    with pytest.raises(da.ModelError, match=f"{kind} 'x': its function '(law|of_five)' returned .*{end}"):
        da.simulate(model, 1.0)


ALONE = {
    "number": lambda t, s, s_dot: 2.0 - 3.0 * s[0] - 0.1 * s_dot[0],
    "tuple": lambda t, s, s_dot: (2.0 - 3.0 * s[0] - 0.1 * s_dot[0],),
    "array": lambda t, s, s_dot: 2.0 - 3.0 * s - 0.1 * s_dot,
}


@pytest.mark.nojit
@pytest.mark.parametrize("form", ALONE)
def test_a_law_of_one_coordinate_may_return_a_number(form):
    """Mass 1: s'' + 0.1 s' + 3 s = 2, with exact derivatives but of arrays, which are differenced."""
    model = pair()
    model.add_joint_law("law", ["slide"], ALONE[form])
    run = da.simulate(model, 0.3, integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    w, t = np.sqrt(3.0 - 0.05**2), run.t
    expected = 2.0 / 3.0 * (1.0 - np.exp(-0.05 * t) * (np.cos(w * t) + 0.05 / w * np.sin(w * t)))
    assert np.abs(run.coordinate("slide") - expected).max() < 1e-10
    prepared = da.Jet().prepare(compile(model))
    assert not prepared.callbacks.slow
    derivatives = Derivatives(prepared)
    assert derivatives.differenced == (("law",) if compiler.JIT and form == "array" else ())


def test_a_law_of_one_coordinate_returns_one_number():
    model = pair()
    model.add_joint_law("law", ["hinge"], lambda t, s, s_dot: (1.0, 2.0))
    with pytest.raises(da.ModelError, match=r"returned \(1.0, 2.0\), of shape \(2,\); return one number"):
        da.simulate(model, 1.0)
    model.replace("law", law=lambda t, s, s_dot: np.zeros(1 if t < 0.5 else 2))
    with pytest.raises(da.SimulationError, match=r"'law' raised .*return one number"):
        da.simulate(model, 1.0)


def test_a_law_that_is_not_finite_later_is_named():
    def later(t, l, l_dot):
        return np.sqrt(0.5 - t)

    model = pair()
    model.add_spring_damper("fine", "a", "b", stiffness=3.0)
    model.add_spring_damper("later", "a", "b", force=later)
    with pytest.raises(da.SimulationError, match=r"not finite .* t = 0\.[45].*'later'"):
        da.simulate(model, 1.0)


def test_a_narrow_push_is_not_stepped_over():
    """Of a body that flies through a detent of 1 mm at 1 m/s: what it loses there is found although steps are long."""

    def detent(t, s, s_dot, width):
        x = (s - 0.5) / width
        return -2000.0 * x * np.exp(-(x**2)) - 40.0 * np.exp(-(x**2)) * s_dot

    model = da.Model(gravity=(0, 0, 0))
    model.add_body("d", mass=1.0, inertia=(1, 1, 1), velocity=(1.0, 0, 0))
    model.add_prismatic("slide", model.ground, "d", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_motor("detent", "slide", detent, parameters={"width": 1e-3})
    fast = da.simulate(model, 1.0, save_at=[1.0]).velocity("d")[0, 0]
    fine = da.simulate(model, 1.0, save_at=[1.0], integrator=da.DOP853(rtol=1e-10, atol=1e-10, max_step=1e-4)).velocity("d")[
        0, 0
    ]
    assert fine < 0.99
    assert abs(fast - fine) < 1e-5


def test_reports_tell_of_tables_left_and_bushings_turned_over():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("a", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0), angular_velocity=(0, 0, 5.0))
    model.add_bushing("mount", model.ground, "a", point=(0, 0, 0), stiffness=[1.0, 1.0, 1.0, 0.1, 0.1, 0.1])
    curve = da.Table((0.0, 0.2, 0.4), (0.0, 1.0, 3.0))
    model.add_spring_damper("rope", model.ground, "a", force=curve, length=0.2, points=((0, 0, 1), (0, 0, 0.5)))
    model.add_spring_damper("loss", model.ground, "a", damping=da.Table((-0.1, 0.1), (-1, 1)), points=((2, 0, 0), (0, 0, 0)))
    report = da.simulate(model, 0.5).report()
    said = [line.value for line in report.lines if line.name == "force elements"]
    assert all(line.verdict == "WARN" for line in report.lines if line.name == "force elements")
    assert "bushing 'mount': turned by up to 1" in said[0]
    assert "spring-damper 'rope': length [m] from" in said[1]
    assert "its table from 0 to 0.4" in said[1]
    assert "spring-damper 'loss': rate [m/s] from" in said[2]
    assert report["energy balance"].verdict == "pass"


@pytest.mark.parametrize("sign", [1, -1])
def test_reports_tell_what_functions_give_and_tables_that_end(sign):
    """How they could be wrong unnoticed: a damper that drives, a table of time that is shorter than the run."""
    model = da.Model(gravity=(0, 0, 0))
    for k, name in enumerate("ab"):
        model.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0))
        model.add_revolute(f"hinge {name}", model.ground, name, point=(k, 0, 0), axis=(0, 0, 1), rate=1.0 - k)
    model.add_motor("damper", "hinge a", lambda t, s, s_dot: sign * 0.5 * s_dot)
    model.add_motor("short", "hinge b", da.Table((0.0, 0.25, 0.5), (0.0, 0.0, 0.0)))
    report = da.simulate(model, 1.0).report()
    assert report["external work"].data == pytest.approx(0.5 * (np.exp(sign * 1.0) - 1.0), abs=1e-7)
    assert report["external work"].value.endswith("J given by 'damper', 'short'")
    assert report["tables"].verdict == "WARN" and "that of 'short' has t = 0 to 0.5 s" in report["tables"].value
    model.replace("short", effort=da.Table((0.0, 0.5, 1.0), (0.0, 0.0, 0.0)))
    assert da.simulate(model, 1.0).report().verdict == "pass"


def test_work_that_cancels_is_not_told():
    """A motor that turns a brake gives what the brake takes: their sum is rounding."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("rotor", **da.cylinder(1.0, 0.1, 0.1, axis="z").body())
    model.add_revolute("hinge", model.ground, "rotor", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "hinge", da.Polynomial((0.0, 5.0)))
    model.add_motor("brake", "hinge", lambda t, s, s_dot: -2.0 * s_dot)
    run = da.simulate(model, 1.0)
    assert run.effort("brake").power[-1] == pytest.approx(-50.0) and abs(run.energy.external_work[-1]) < 1e-6
    assert "external work" not in [line.name for line in run.report().lines]


def test_data_go_into_files_and_functions_do_not(tmp_path):
    model = pair()
    matrix = np.diag(SIX) + np.eye(6, k=1) + np.eye(6, k=-1)
    turned = da.Rotation.from_axis_angle((1, 2, 3), 0.7)
    model.add_bushing("mount", "a", "b", point=(0.5, 0.1, 0), stiffness=matrix, damping=SIX, axes=turned)
    curve, damper = da.Table((0.5, 1.0, 2.0), (-20.0, 0.0, 30.0)), da.Table((-1, 0, 1), (-3, 0, 1))
    model.add_spring_damper("strut", "a", "b", force=curve, damping=damper, length=0.9)
    model.add_joint_spring_damper("stop", "hinge", stiffness=curve, damping=damper, reference=0.1)
    model.to_yaml(tmp_path / "model.yaml")
    same = da.Model.from_yaml(tmp_path / "model.yaml")
    assert same.hash == model.hash
    again = da.Model.from_dict(model.to_dict())
    assert again.hash == model.hash
    model.add_interaction("law", "a", "b", of_pose)
    with pytest.raises(da.ModelError, match=r"'law'.*Python function"):
        model.to_yaml(tmp_path / "other.yaml")
    with pytest.raises(da.ModelError, match=r"interaction 'law': a model file cannot hold it"):
        da.Model.from_dict({**model.to_dict()}).to_yaml(tmp_path / "other.yaml")
    text = (tmp_path / "model.yaml").read_text().replace("type: bushing", "type: interaction")
    (tmp_path / "model.yaml").write_text(text)
    with pytest.raises(da.ModelError, match=r"interaction.*Python function"):
        da.Model.from_yaml(tmp_path / "model.yaml")


def sprung(k: float, reach: float = 0.5) -> da.Model:
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("weight", mass=1.0, position=(1, 0, 0))
    model.add_spring_damper("law", model.ground, "weight", force=pull, parameters={"k": k, "at": [reach, 0.0]})
    return model


def pull(t, l, l_dot, k, at):
    return k * (l - at[0])


def test_parameters_may_be_swept():
    """x'' = -k (x - 1/2): x = 1/2 + cos(sqrt(k) t) / 2."""
    k = np.array([1.0, 2.0, 3.0, 9.0])
    many = da.simulate_many(sprung, 2.0, parameters={"k": k}, save_at=[1.0, 2.0])
    expected = 0.5 + 0.5 * np.cos(np.sqrt(k)[:, None] * many.t)
    assert np.abs(many.position("weight")[:, :, 0] - expected).max() < 1e-6


@compiled_only
def test_changing_a_parameter_compiles_nothing():
    def run(k):
        return da.simulate(sprung(k), 1.0, save_at=[1.0]).effort("law").value[0]

    values, known = [run(1.0)], len(compiler._generated)
    callback = da.Jet().prepare(compile(sprung(1.0))).callbacks.compiled
    values += [run(k) for k in (2.0, 3.0, 4.0)]
    assert len(set(values)) == 4
    assert len(compiler._generated) == known
    assert da.Jet().prepare(compile(sprung(5.0))).callbacks.compiled is callback


def test_the_layout_of_parameters_belongs_to_the_law():
    """The same function with a number here and another order there."""

    def law(t, l, l_dot, a, b):
        return a + 10.0 * b

    ends = []
    for parameters in ({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0}):
        model = da.Model(gravity=(0, 0, 0))
        model.add_point_mass("weight", mass=1.0, position=(1, 0, 0))
        model.add_spring_damper("law", model.ground, "weight", force=law, parameters=parameters)
        ends.append(da.simulate(model, 0.1).effort("law").value[-1])
    assert ends == [21.0, 21.0]


def test_elements_are_replaced_in_parts():
    model = pair()
    model.add_joint_law("law", [("hinge", 0), "slide"], of_pair, parameters={"k": [1.0, 2.0]})
    model.add_bushing("mount", "a", "b", point=(0.5, 0.1, 0), stiffness=SIX)
    model.add_spring_damper("line", "a", "b", force=pull, parameters={"k": 1.0, "at": [0.5, 0.0]})
    before = model.hash
    assert model.replace("law", law=of_pair).components == (0, 0)
    model.replace("mount", damping=[1.0] * 6)
    model.replace("line", parameters={"k": 3.0, "at": [0.5, 0.0]})
    assert model.hash != before
    model.replace("mount", damping=[0.0] * 6)
    model.replace("line", parameters={"k": 1.0, "at": [0.5, 0.0]})
    assert model.hash == before
    model.rename("hinge", "pivot")
    assert model.forces[0].joints == ("pivot", "slide")
