"""Variants of a model: each is what `compile` makes of it, whatever came before; another structure is noticed."""

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.family import Family
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records


def slider_crank(length=0.3, mass=0.5, tilt=0.0, spring=False):
    """In the plane; tilt : of gravity out of it."""
    model = da.Model(gravity=(0.0, -9.81 * np.cos(tilt), -9.81 * np.sin(tilt)), plane="xy")
    B = 0.1 * np.array([np.cos(0.8), np.sin(0.8)])
    C = np.array([B[0] + np.sqrt(max(length**2 - B[1] ** 2, 1e-4)), 0.0])
    spin = {"velocity": 6.0 * np.array([-B[1], B[0]]) / 2, "angular_velocity": 6.0, "fixed": True}
    crank = model.add_link("crank", (0, 0), B, mass=0.2, radius=0.01, **spin)
    arm = 0.5 * length * (C - B) / np.linalg.norm(C - B)
    rod = model.add_body("rod", mass=mass, inertia=mass * length**2 / 12, position=B + arm)
    model.add_revolute("A", model.ground, crank, point=(0, 0))
    model.add_revolute("B", crank, rod, point=B)
    model.add_point_on_line("C", model.ground, rod, points=((0, 0), arm), axes=((1, 0),))
    if spring:
        model.add_spring_damper("spring", model.ground, rod, stiffness=1e2, length=0.1)
    return model


def four_bar(shift=0.0, plane=None):
    """A parallelogram of hinges on three cranks, one too many; shift : of the foot of one, which then locks."""
    model = da.Model(plane=plane, gravity=(0, -9.81, 0))
    model.add_link("bar", (0, 0.2, 0), (0.6, 0.2, 0), mass=1.0, radius=0.01)
    for name, x, foot in (("a", 0.0, 0.0), ("b", 0.3, 0.3 + shift), ("c", 0.6, 0.6)):
        model.add_link(name, (foot, 0, 0), (x, 0.2, 0), mass=0.2, radius=0.01)
        model.add_revolute(f"{name} 0", model.ground, name, point=(foot, 0, 0), axis=(0, 0, 1))
        model.add_revolute(f"{name} 1", name, "bar", point=(x, 0.2, 0), axis=(0, 0, 1))
    return model


def assert_rounded(got, wanted):
    """Formulas do one operation after the other, where compile multiplies matrices, in which products may be fused."""
    assert (np.abs(got - wanted) <= 1e-14 * np.abs(wanted) + 1e-15).all()


def check(family, build, **parameters):
    """The same as if it had been compiled alone."""
    got, alone = family.mechanism(parameters), da.compile(build(**parameters))
    assert np.array_equal(got.I, alone.I)
    assert_rounded(got.F, alone.F)
    np.testing.assert_allclose(got.x_0, alone.x_0, rtol=0, atol=1e-12)
    for name in ("rows", "redundant", "out_of_plane", "not_unique", "completed", "warnings", "degrees_of_freedom"):
        assert getattr(got, name) == getattr(alone, name), name
    return got


def test_a_variant_is_what_compile_makes_of_it():
    family = Family(slider_crank)
    for parameters in ({}, {"length": 0.31}, {"length": 0.25, "mass": 2.0}, {"mass": 0.1}):
        check(family, slider_crank, **parameters)
    assert family.structures == 1


def test_no_variant_depends_on_those_before():
    lengths = [0.3, 0.32, 0.4]
    there, back = Family(slider_crank), Family(slider_crank)
    states = [there.mechanism({"length": length}).x_0 for length in lengths]
    for length, x_0 in zip(lengths[::-1], states[::-1], strict=True):
        assert np.array_equal(back.mechanism({"length": length}).x_0, x_0)


def test_another_structure_is_compiled_and_remembered():
    family = Family(slider_crank)
    for spring in (False, True, False, True):
        check(family, slider_crank, spring=spring, length=0.35)
    assert family.structures == 2


@pytest.mark.parametrize("plane", [None, "xy"])
def test_another_rank_is_noticed(plane):
    """Where the third crank locks the others, every table has the same shape, and one row less is redundant."""
    family = Family(four_bar)
    freedoms = [check(family, four_bar, shift=shift, plane=plane).degrees_of_freedom for shift in (0.0, 0.05, 0.0)]
    assert freedoms == [1, 0, 1]
    assert family.structures == 2


def test_what_compile_refuses_is_refused():
    family = Family(slider_crank)
    family.mechanism({})
    with pytest.raises(da.ModelError, match="gravity leaves the plane"):
        family.mechanism({"tilt": 0.1})
    with pytest.raises(da.ModelError, match="mass is nan"):
        family.mechanism({"mass": float("nan")})
    with pytest.raises(da.AssemblyError, match="cannot be assembled"):
        family.mechanism({"length": 0.01})
    with pytest.raises(da.ModelError, match="no argument 'lenght'; did you mean 'length'"):
        family.mechanism({"lenght": 0.1})
    with pytest.raises(da.ModelError, match="return a Model or"):
        Family(lambda: 3.0).mechanism({})
    check(family, slider_crank, length=0.33)
    assert family.structures == 1


def test_a_function_is_simulated_like_its_model():
    """What is remembered of a function's family changes nothing."""
    options = {"save_at": [0.0, 0.05], "formulation": da.Jet()}
    alone = da.simulate(slider_crank(length=0.32), 0.05, **options)
    for _ in range(2):
        got = da.simulate(slider_crank, 0.05, parameters={"length": 0.32}, **options)
        np.testing.assert_allclose(got.x, alone.x, rtol=0, atol=1e-12)
        assert got.mechanism.model.body("rod").mass == 0.5
    assert np.array_equal(da.simulate(slider_crank, 0.05, **options).x, da.simulate(slider_crank(), 0.05, **options).x)
    with pytest.raises(da.ModelError, match="parameters go with a function that returns a Model"):
        da.simulate(slider_crank(), 0.05, parameters={"length": 0.3})
    with pytest.raises(da.ModelError, match="the model is 3; give a Model"):
        da.simulate(3, 0.05)


def test_parameters_of_a_lagrangian_system():
    system = da.LagrangianSystem(
        lambda q, v, t, p: 0.5 * p.m * v.x**2 - 0.5 * p.k * q.x**2, ["x"], parameters={"m": 1.0, "k": 1.0}, initial={"x": 1.0}
    )
    got = da.simulate(system, 0.5, parameters={"k": 4.0}, save_at=[0.5])
    assert got["x"][-1] == pytest.approx(np.cos(2.0 * 0.5), abs=1e-6)
    family = Family(system)
    codes = {id(family.mechanism({"k": k}).code) for k in (1.0, 2.0)}
    assert len(codes) == family.structures == 1


def counted(build):
    """The function, and a list of what it was called with."""
    calls = []

    def counting(**parameters):
        calls.append(parameters)
        return build(**parameters)

    return counting, calls


def loaded(length=1.0, angle=0.3, stiffness=40.0, speed=2.0):
    """A driven crank with a bar, a point mass on a rod, springs, and solids of every size that formulas go through."""
    model = da.Model(name="loaded")
    turn = da.Rotation.from_axis_angle((0, 1, 0), angle)
    tip = length * turn.matrix[:, 0]
    model.add_body("arm", **da.cylinder(2.0, 0.05, length, axis="x").body(), position=0.5 * tip, rotation=turn)
    model.add_link("bar", tip, tip + np.array([0.0, 0.3, -0.4]), mass=0.3 * length, radius=0.02)
    model.add_point_mass("ball", mass=0.5, position=tip + np.array([0.0, 0.3, -0.4 - length]))
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_universal("B", "arm", "bar", point=tip, axes=((0, 1, 0), tip / np.linalg.norm(tip)))
    model.add_distance("rod", "bar", "ball", points=(np.array([0.25, 0, 0]), (0, 0, 0)))
    model.add_driver("motor", "A", da.Polynomial((0.0, speed)))
    model.add_spring_damper("spring", model.ground, "ball", points=((2, 0, 0), (0, 0, 0)), stiffness=stiffness, length=0.2)
    model.add_joint_spring_damper("twist", "B", component=0, stiffness=stiffness / 100)
    return model


BUILDS = {
    "in the plane": (slider_crank, {"length": 0.3, "mass": 0.5}),
    "three cranks": (four_bar, {"shift": 0.0}),
    "loaded": (loaded, {"length": 1.0, "angle": 0.3, "stiffness": 40.0, "speed": 2.0}),
}


@pytest.mark.parametrize("name", BUILDS)
def test_formulas_give_what_compile_gives(name):
    build, at = BUILDS[name]
    counting, calls = counted(build)
    family, rng = Family(counting), np.random.default_rng(5)
    family.begin()
    family.mechanism(at, within=True)
    built = len(calls)
    assert len(family.formulas) == 1
    for _ in range(5):
        p = {label: value * float(rng.uniform(0.95, 1.05)) for label, value in at.items()}
        got, alone = family.mechanism(p, within=True), da.compile(build(**p))
        assert len(calls) == built
        assert np.array_equal(got.I, alone.I)
        assert_rounded(got.F, alone.F)
        np.testing.assert_allclose(got.x_0, alone.x_0, rtol=0, atol=1e-12)
        for label in ("completed", "warnings", "uneven"):
            assert getattr(got, label) == getattr(alone, label)
        assert [text.split(":")[0] for text in got.moved] == [text.split(":")[0] for text in alone.moved]
        assert_rounded(da.compile(got.model).F, alone.F)
        assert len(calls) == built  # the function fills a list: it is not asked again for what it built


def test_a_branch_of_the_function_has_its_own_formulas():
    def build(length=1.0, mass=1.0):
        model = da.Model()
        long = length > 1.2
        size = 2.0 * length if long else length**2
        model.add_body("arm", mass=mass, inertia=(0.1, size, size), position=(length / 2, 0, 0))
        model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
        return model

    counting, calls = counted(build)
    table = {"length": np.linspace(0.8, 1.6, 40), "mass": np.linspace(1.0, 2.0, 40)}
    runs = da.simulate_many(counting, 0.1, parameters=table)
    assert len(calls) == 6  # of either branch one as it is, one that is recorded, and one beside it
    for k in (0, 10, 19, 20, 39):
        p = {name: float(values[k]) for name, values in table.items()}
        alone = da.simulate(build(**p), 0.1, save_at=[0.0, 0.1], formulation=da.Jet())
        np.testing.assert_allclose(runs[k].x, alone.x, rtol=0, atol=1e-12)
        assert runs[k].model.body("arm").mass == p["mass"]


def pendulum(length, mass=1.0):
    model = da.Model()
    model.add_body("arm", mass=mass, inertia=(0.1, 0.1, 0.1), position=(0.5 * length, 0, 0))
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    return model


MASS = {"now": 1.0}
TOOLS = {"numpy": np, "now": MASS}  # cannot be copied


def test_functions_that_depend_on_more_than_their_parameters(monkeypatch):
    import math

    rng = np.random.default_rng(3)
    tried = {
        "draws": lambda length: pendulum(length, 1.0 + rng.uniform()),
        "is told by": lambda length: pendulum(length, MASS["now"]),
        "takes a plain root": lambda length: pendulum(math.sqrt(length)),
        "has modules in a table": lambda length: pendulum(length, TOOLS["now"]["now"]),
    }
    masses = []
    for name, build in tried.items():
        family = Family(build)
        for length in (1.0, 1.1, 1.2):
            monkeypatch.setitem(MASS, "now", 2.0 * length)
            made = family.mechanism({"length": length})
            at = made.model.body("arm")
            masses.append(at.mass)
            assert records(made.I, made.F, T.MASS_F)["m"][1] == at.mass
            assert at.position[0] == pytest.approx(0.5 * (math.sqrt(length) if "root" in name else length), rel=1e-15)
        assert bool(family.formulas) == (name == "is told by")
    assert len(set(masses[:3])) == 3
    for told in (masses[3:6], masses[9:]):
        np.testing.assert_allclose(told, [2.0, 2.2, 2.4], rtol=1e-15)


def test_an_infeasible_variant_of_many_fails_alone():
    lengths = np.array([0.3, 0.31, 0.05, 0.32, 0.33])

    def build(length):
        if length < 0.1:
            raise da.ModelError("the rod does not reach")
        return slider_crank(length=length)

    with pytest.warns(RuntimeWarning, match=r"run 2 \(length = 0.05\): the rod does not reach"):
        runs = da.simulate_many(build, 0.05, parameters={"length": lengths})
    assert runs.status.tolist() == ["complete", "complete", "failed", "complete", "complete"]
    assert len(set(runs.structure[[0, 1, 3, 4]])) == 1


def hanging(length, doubled=False):
    model = da.Model()
    bob = model.add_point_mass("bob", mass=1.0, position=(length, 0, 0))
    model.add_distance("rod", model.ground, bob)
    if doubled:
        model.add_point_mass("second", mass=1.0, position=(2 * length, 0, 0))
        model.add_distance("other", bob, "second")
    return model


def test_formulas_serve_those_that_name_the_same_parameters():
    """Those of a sweep over lengths alone made all of the next one, which also says how many bobs there are."""
    lengths = [1.0, 1.1, 1.2]
    da.simulate_many(hanging, 0.1, parameters={"length": lengths})
    with pytest.warns(RuntimeWarning, match="2 structures"):
        both = da.simulate_many(hanging, 0.1, parameters={"length": lengths, "doubled": [False, True, False]})
    assert [len(run.model.bodies) for run in both] == [1, 2, 1]
    again = da.simulate_many(hanging, 0.1, parameters={"length": lengths})
    assert [len(run.model.bodies) for run in again] == [1, 1, 1]
