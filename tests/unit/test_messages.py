"""What the user wrote is what messages point at: lines of traced functions, names, shapes."""

import functools
import inspect
import types

import numpy as np
import pytest

import dalembert as da
from dalembert.model.validation import near


def model():
    made = da.Model()
    made.add_body("rod", mass=1.0, inertia=(1, 1, 1))
    return made


def unknown_name(rod):
    x = rod.r[0]
    return x - nowhere  # noqa: F821


def branching(rod):
    d = rod.r[0]

    return d if d > 0 else -d


def helper(rod):
    return rod.nothing


def by_helper(rod):
    x = rod.r[0]
    return helper(rod) - x


@pytest.mark.parametrize(("function", "offset"), [(unknown_name, 2), (branching, 3), (by_helper, 2)])
@pytest.mark.parametrize("verb", ["add_constraint", "add_velocity_constraint"])
def test_traced_constraints_name_the_line_of_the_user(function, offset, verb):
    line = inspect.getsourcelines(function)[1] + offset
    with pytest.raises(da.ModelError, match=rf"constraint 'c', line {line}: "):
        getattr(model(), verb)("c", function, "rod")


def test_traced_invariants_name_the_line_of_the_user():
    def kept(t, q, u):
        return q[0] * nowhere  # noqa: F821

    system = da.LagrangianSystem(lambda q, v: 0.5 * v.x**2 - 0.5 * q.x**2, ["x"], initial={"x": 1.0})
    line = inspect.getsourcelines(kept)[1] + 1
    with pytest.raises(da.ModelError, match=rf"invariant 'kept', line {line}: raised NameError"):
        da.simulate(system, 0.1, formulation=da.Jet(invariants=[kept]))
    with pytest.raises(da.ModelError, match=r"invariant '<lambda>' is nan at the start"):
        da.simulate(system, 0.1, formulation=da.Jet(invariants=[lambda t, q, u: np.log(q[0] - 2.0)]))


@pytest.mark.parametrize(
    ("verb", "function"),
    [
        ("add_constraint", lambda rod: np.sqrt(rod.r[0] - 5.0)),
        ("add_constraint", lambda rod: 1.0 / rod.r[0]),
        ("add_velocity_constraint", lambda rod: rod.v[0] * np.log(rod.r[0])),
        ("add_velocity_constraint", lambda rod: rod.v[0] / rod.r[0]),
    ],
)
def test_constraints_that_are_not_finite_at_the_start_are_named(verb, function):
    made = model()
    getattr(made, verb)("c", function, "rod")
    with pytest.raises(da.AssemblyError, match="constraints 'c' are not defined in the model pose"):
        da.simulate(made, 0.1)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("world", "did you mean 'ground'"),
        ("World", "did you mean 'ground'"),
        ("base", "did you mean 'ground'"),
        ("Ground", "did you mean 'ground'"),
        ("rood", "did you mean 'rod'"),
        ("wheel", "known: 'rod', 'ground'"),
    ],
)
def test_hints_that_help(name, hint):
    with pytest.raises(da.ModelError, match=f"there is no body '{name}'; {hint}"):
        model().add_revolute("hinge", name, "rod", point=(0, 0, 0), axis=(0, 0, 1))


def test_a_body_of_that_beginning_is_nearer_than_the_ground():
    made = model()
    made.add_body("base_link", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(da.ModelError, match="did you mean 'base_link'"):
        made.add_revolute("hinge", "base", "rod", point=(0, 0, 0), axis=(0, 0, 1))


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ({}, "give a dict with a 'type', one of box, "),
        ({"radius": 1}, "give a dict with a 'type'"),
        ({"type": "spere", "radius": 1}, "there is no shape 'spere'; did you mean 'sphere'"),
        ({"type": 3}, "there is no shape 3.0"),
        ({"type": "sphere"}, "the shape 'sphere' has no 'radius'"),
        ({"type": "sphere", "radius": -1}, "shape 'sphere': radius is -1; give a number greater than 0"),
        ({"type": "sphere", "radius": "1"}, "shape 'sphere': radius is '1'; give a number"),
        ({"type": "sphere", "radius": 1, "radus": 2}, "shape 'sphere': there is no key 'radus'; did you mean 'radius'"),
        ({"type": "box", "size": (1, 2)}, r"shape 'box': size has shape \(2,\)"),
        ({"type": "box", "size": (1, 2, 0)}, "shape 'box': size is .*; give three lengths greater than 0"),
        ({"type": "rod", "length": 1, "axis": "w"}, "shape 'rod': axis is 'w'; give 'x' or 'y' or 'z'"),
        ({"type": "mesh", "file": ""}, "shape 'mesh': file is ''"),
        ({"type": "disc", "radius": 1, "position": (0, 0)}, "shape 'disc': position has shape"),
        ({"type": "disc", "radius": 1, "rotation": (2, 0, 0, 0)}, "shape 'disc': rotation"),
        ({"type": "plate", "points": [], "radius": 1, "thickness": 1}, r"shape 'plate': points is \[\]; give a list of points"),
        ({"type": "plate", "points": [(0, 0)], "radius": 1, "thickness": 1}, "shape 'plate': points has shape"),
        (
            {"type": "plate", "points": [(0, 0, 0), (0, 0, 2)], "radius": 1, "thickness": 1},
            "give points of a plane across the axis",
        ),
        ({"type": "wheel", "radius": 1, "width": 2}, "shape 'wheel': width is 2; give one smaller than the radius, 1"),
        ({"type": "disc", "radius": 1, "clear": 1}, "shape 'disc': clear is 1"),
        ({"type": "compound", "parts": {}}, "shape 'compound': parts is {}; give a list of shapes"),
        ({"type": "compound", "parts": [{"type": "disc"}]}, ": the shape 'disc' has no 'radius'"),
    ],
)
def test_shapes_are_checked_when_they_are_given(shape, text):
    with pytest.raises(da.ModelError, match=f"body 'b'.*{text}"):
        da.Model().add_body("b", mass=1.0, inertia=(1, 1, 1), shape=shape)


def test_shapes_within_shapes_have_an_end():
    shape = {"type": "compound", "parts": []}
    for _ in range(20):
        shape = {"type": "compound", "parts": [shape]}
    with pytest.raises(da.ModelError, match="not more than 16 deep"):
        da.Model().add_body("b", mass=1.0, inertia=(1, 1, 1), shape=shape)


NUMBER = 1.0
LIST = [1.0, 2.0]
TABLE = {"gain": 1.0}
MODULE = types.ModuleType("my_settings")
MODULE.gain = 1.0


def scale():
    return NUMBER


class Law:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t):
        return self.gain, 0.0, 0.0

    def force(self, t):
        return self.gain, 0.0, 0.0


def with_gain(gain, t):
    return gain, 0.0, 0.0


FUNCTIONS = {
    "number": lambda t: (NUMBER, 0.0, 0.0),
    "helper": lambda t: (scale(), 0.0, 0.0),
    "list": lambda t: (LIST[0], 0.0, 0.0),
    "table": lambda t: (TABLE["gain"], 0.0, 0.0),
    "module": lambda t: (MODULE.gain, 0.0, 0.0),
    "inner function": lambda t: [(NUMBER * x, 0.0, 0.0) for x in (1.0,)][-1],
}


def hash_of(function):
    made = model()
    made.add_force("push", "rod", function)
    return made.hash


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_hash_of_a_model_sees_what_its_functions_use(name, monkeypatch):
    before = hash_of(FUNCTIONS[name])
    assert hash_of(FUNCTIONS[name]) == before
    monkeypatch.setitem(globals(), "NUMBER", np.nan)  # what JSON has no number for
    monkeypatch.setitem(globals(), "LIST", [2.0, 2.0])
    monkeypatch.setitem(TABLE, "gain", 2.0)
    monkeypatch.setattr(MODULE, "gain", 2.0)
    assert hash_of(FUNCTIONS[name]) != before


def test_the_hash_of_a_model_sees_what_objects_hold():
    for make in (Law, lambda gain: Law(gain).force, lambda gain: functools.partial(with_gain, gain)):
        assert hash_of(make(1.0)) == hash_of(make(1.0)) != hash_of(make(2.0))
    assert len(str(encoded(np.zeros(10**6)))) < 2000


def encoded(array):
    made = model()
    made.add_force("push", "rod", lambda t: (array[0], 0.0, 0.0))
    return made.to_dict()


@pytest.mark.parametrize("label", ["forces", "parameters", "initial", "velocities"])
@pytest.mark.parametrize("given", [lambda q, v: [1.0], [1.0], 3.0])
def test_what_goes_by_name_is_a_dict(label, given):
    with pytest.raises(da.ModelError, match=rf"{label} is .*; give a dict by name"):
        da.LagrangianSystem(lambda q, v: 0.5 * v.x**2, ["x"], **{label: given})


def test_what_begins_a_longer_name_is_meant():
    assert near("add_spring", dir(da.Model)) == "add_spring_damper"
    assert near("add_revolut", dir(da.Model)) == "add_revolute"
    assert near("ab", ["abc", "xyz"]) == "abc" and near("abcd", ["xyz"]) is None


def test_help_of_a_verb_has_the_arguments_that_it_shares():
    slider, bare = da.Model.add_prismatic.__doc__, da.Model.add_coincidence.__doc__
    assert "point : joint point" in slider and "rate : their initial rates" in slider and "\naxis : " in slider
    assert "axis : " not in bare and bare.count("points : ") == 1 and "first, second : bodies" in bare
    assert "plane : (point, normal)" in da.Model.add_rolling_disc.__doc__


def test_options_of_methods_are_told_where_they_go():
    with pytest.raises(TypeError, match=r"simulate has no argument 'rtol'; .*integrator=da\.DOP853\(rtol="):
        da.simulate(da.gallery.build("four_bar"), 1.0, rtol=1e-6)
