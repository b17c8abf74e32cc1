"""Formulas of a function that builds models: what could make them give something else than the function does."""

import math
from functools import partial

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.by_formula import ByFormula
from dalembert.compilation.family import Family

MASS = 1.0


def hanging(length, mass=1.0, stiffness=10.0, slack=0.1):
    model = da.Model()
    model.add_point_mass("ball", mass=mass, position=(length, 0, 0))
    model.add_distance("rod", model.ground, "ball", points=((0, 0, 0), (0, 0, 0)))
    model.add_spring_damper("spring", model.ground, "ball", points=((0, 1, 0), (0, 0, 0)), stiffness=stiffness, length=slack)
    return model


def otherwise(function, instead=1.0):
    """What a careful function does that does not know what it is given."""
    try:
        return function()
    except Exception:
        return instead


@pytest.mark.parametrize(
    "seen",
    [
        lambda p: p if isinstance(p, float) else 1.0,
        lambda p: p if np.isscalar(p) else 1.0,
        lambda p: p if hasattr(p, "is_integer") else 1.0,
        lambda p: otherwise(lambda: math.sqrt(p)),
        lambda p: otherwise(lambda: p % 3.0),
        lambda p: 1.0 + otherwise(lambda: int(p) - 1),  # the same beside 1, not at 2
        lambda p: 1.0 + otherwise(lambda: round(p) - 1),
        lambda p: otherwise(lambda: {1.0: 1.0, 2.3: 3.0}.get(p, 1.0)),
    ],
)
def test_a_function_that_looks_at_what_kind_of_number_it_got(seen):
    """At 1, where it is recorded, its way without plain numbers gives the same."""
    family = Family(lambda length: hanging(seen(length)))
    family.begin()
    for length in (1.0, 1.2, 2.3):
        made = family.mechanism({"length": length}, within=True)
        assert made.x_0[0] == seen(length)


def test_random_numbers_beside_large_ones_are_noticed():
    """Slack lengths beside a stiffness of 1e9."""
    rng = np.random.default_rng(0)
    runs = da.simulate_many(
        lambda length: hanging(length, stiffness=1e9, slack=1.0 + rng.uniform()), 1e-5, parameters={"length": np.ones(4)}
    )
    assert len({runs[k].effort("spring").value[0] for k in range(4)}) == 4


def test_the_model_of_a_run_stays_what_was_run(monkeypatch):
    """Also where nobody looked at it before the function came to build another one."""

    def build(length):
        return hanging(length, mass=MASS)

    alone = da.simulate(build, 0.01, parameters={"length": 1.0})
    runs = da.simulate_many(build, 0.01, parameters={"length": np.array([1.0, 1.1])})
    monkeypatch.setitem(globals(), "MASS", 5.0)
    for solution, length in ((alone, 1.0), (runs[0], 1.0), (runs[1], 1.1)):
        assert solution.model.body("ball").mass == 1.0
        assert solution.model.hash == hanging(length).hash
    assert da.simulate(build, 0.01, parameters={"length": 1.0}).model.body("ball").mass == 5.0


def test_shapes_of_a_model_are_those_of_its_parameters(monkeypatch):
    def build(radius):
        model = da.Model()
        shape = {"type": "wheel", "radius": radius, "width": 0.1 * MASS}
        model.add_body("wheel", mass=MASS, inertia=(1, 1, 1), shape=shape)
        return model

    family = Family(build)
    family.begin()
    made = [family.mechanism({"radius": radius}, within=True) for radius in (0.5, 0.7)]
    assert family.formulas
    monkeypatch.setitem(globals(), "MASS", 2.0)
    assert [one.model.body("wheel").shape["radius"] for one in made] == [0.5, 0.7]
    with pytest.raises(da.ModelError, match="give one smaller than the radius"):
        family.mechanism({"radius": 0.05}, within=True)


def of_options(length, options):
    return hanging(length, mass=options[0])


def test_what_functions_are_given_once_is_looked_at():
    """Defaults, arguments of a partial, attributes."""
    listed, default, by_name, array = [1.0], [1.0], [1.0], np.ones(1)

    def by_default(length, options=default):
        return hanging(length, mass=options[0])

    def by_keyword(length, *, options=by_name):
        return hanging(length, mass=options[0])

    def by_array(length, options=array):
        return hanging(length, mass=options[0])

    def by_attribute(length):
        return hanging(length, mass=by_attribute.options[0])

    by_attribute.options = kept = [1.0]
    builds = (partial(of_options, options=listed), by_default, by_keyword, by_array, by_attribute)
    for build, changing in zip(builds, (listed, default, by_name, array, kept), strict=True):
        family = Family(build)
        for mass in (1.0, 2.0):
            changing[0] = mass
            for length in (1.0, 1.1):
                made = family.mechanism({"length": length})
                assert family.formulas
                np.testing.assert_allclose(made.F, da.compile(hanging(length, mass=mass)).F, rtol=1e-14)


@pytest.mark.parametrize("size, inertia", [(4e-3, 1e-8), (1.0, 1e-9), (1.0, 1e-2)])
def test_whether_numbers_are_uneven_is_asked_of_every_variant(size, inertia):
    """A mechanism of millimetres under gravity, a body that is small beside its arm: multipliers are refined."""

    def build(length, J):
        model = da.Model()
        model.add_body("arm", mass=1e-3, inertia=(J, J, J), position=(length, 0, 0))
        model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
        return model

    family = Family(build)
    family.mechanism({"length": 1.0, "J": 1e-2})
    made = family.mechanism({"length": size, "J": inertia})
    assert family.formulas
    assert made.uneven == da.compile(build(size, inertia)).uneven == (inertia != 1e-2)


def test_coordinates_of_joints_need_no_model_built_for_each_run(monkeypatch):
    names, times = ("ball", "tube", "bar"), [0.0, 0.01, 0.02]

    def build(length):
        model, places = da.Model(), ((0.5 * length, 0, 0), (1.5 * length, 0, 0), (1.5 * length, length, 0))
        for k, position in enumerate(places):
            model.add_body(str(k), mass=1.0, inertia=(1, 1.1, 1.2), position=position)
        model.add_spherical("ball", model.ground, "0", point=(0, 0, 0.1 * length))
        model.add_cylindrical("tube", "0", "1", point=(length, 0, 0), axis=(1, length, 0))
        model.add_distance("bar", "1", "2", points=((0, 0.2 * length, 0), (0, 0, length)))
        return model

    def told(run):
        return [values for name in names for values in (run.coordinate(name), run.coordinate_rate(name))]

    runs = da.simulate_many(build, times[-1], parameters={"length": np.linspace(0.5, 1.5, 5)}, save_at=times)
    built, make = [], ByFormula._model
    monkeypatch.setattr(ByFormula, "_model", lambda *given: (built.append(given), make(*given))[1])
    found = [told(runs.solution(k)) for k in range(5)]
    assert not built
    for k in range(5):
        run = runs.solution(k)
        assert len(run.model.bodies) == 3
        for values, expected in zip(found[k], told(run), strict=True):
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)
    assert len(built) == 5
