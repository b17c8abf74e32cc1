"""Values of the wrong kind, where a number, a word or a list belongs: one message of the library, never Python's own error."""

import numpy as np
import pytest

import dalembert as da

WRONG = ["abc", b"x", {}, object(), True, 1j, np.zeros((2, 2)), np.zeros(0), [1, [2, 3]], float("nan")]
OPTIONS = [
    *((da.DOP853, label) for label in ("step", "rtol", "atol", "first_step", "max_step", "safety", "factor_min", "factor_max")),
    *((cls, "step") for cls in (da.RungeKutta4, da.StoermerVerlet, da.FixedStep, da.RadauIIA)),
    *((da.Jet, label) for label in ("projection", "metric", "solver", "baumgarte", "invariants", "tolerance")),
    *((da.MovingFrame, label) for label in ("cut", "invariants", "max_newton")),
    *((da.Minimal, label) for label in ("cut", "basis", "singular")),
    *((da.Impulse, label) for label in ("stabilisation", "metric")),
    *((da.Variational, label) for label in ("curve", "quadrature", "constraint_curve", "max_newton")),
    (da.DOP853, "max_steps"),
    (da.Polynomial, "coefficients"),
]


def slider() -> da.Model:
    model = da.Model()
    model.add_body("a", mass=1.0, inertia=(1, 1, 1))
    model.add_prismatic("A", model.ground, "a", point=(0, 0, 0), axis=(1, 0, 0))
    return model


@pytest.mark.parametrize(("cls", "label"), OPTIONS, ids=lambda value: getattr(value, "__name__", value))
def test_options_of_methods(cls, label):
    for value in WRONG[: -2 if label == "cut" else None]:  # names in a list are looked at when there is a model
        with pytest.raises(da.ModelError, match=rf"{cls.__name__}: {label}"):
            cls(**{label: value})


@pytest.mark.parametrize("value", [value for value in WRONG if value is not True], ids=lambda value: type(value).__name__)
def test_arguments_of_verbs(value):
    model = slider()
    for verb, arguments in (
        (model.add_spring_damper, {"first": "ground", "second": "a", "stiffness": value}),
        (model.add_spring_damper, {"first": "ground", "second": "a", "damping": value}),
        (model.add_bushing, {"first": "ground", "second": "a", "stiffness": value}),
        (model.add_revolute, {"first": "ground", "second": "a", "point": (0, 0, 0), "axis": (0, 0, 1), "rate": value}),
        (model.add_distance, {"first": "ground", "second": "a", "points": value}),
    ):
        with pytest.raises(da.ModelError, match="'new'"):
            verb("new", **arguments)


@pytest.mark.parametrize("value", [np.array(5.0), np.array([[1.0]])], ids=["number", "matrix"])
def test_arrays_of_the_wrong_shape(value):
    for call in (
        lambda: slider().add_cylindrical("new", "ground", "a", point=(0, 0, 0), axis=(0, 0, 1), rate=value),
        lambda: slider().add_body("new", mass=1.0, inertia=value),
        lambda: slider().add_coincidence("new", "ground", "a", points=value),
        lambda: da.Table(value, (0.0, 1.0)),
    ):
        with pytest.raises(da.ModelError):
            call()


@pytest.mark.parametrize("value", [0.0, "", [], {}, "abc", np.zeros(2)], ids=repr)
def test_arguments_of_runs(value):
    for call in (
        lambda: da.simulate(slider(), 1.0, formulation=value),
        lambda: da.simulate(slider(), 1.0, integrator=value),
        lambda: da.simulate_many(slider(), 1.0, initial_states=np.zeros((1, 13)), formulation=value),
    ):
        with pytest.raises(da.ModelError):
            call()
    with pytest.raises(da.ModelError, match="save_at is"):
        da.simulate_many(slider(), 1.0, initial_states=np.zeros((1, 13)), save_at="abc")
    with pytest.raises(da.ModelError, match="parameters is"):
        da.simulate(slider, 1.0, parameters=["mass"])
    with pytest.raises(da.ModelError, match="t_end"):
        da.simulate(slider(), 10**400)
    with pytest.raises(da.ModelError, match="starts is"):
        da.equilibrium(slider(), starts=0.5)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: da.simulate(slider(), 1.0, out=1.0), "out is 1.0; give a path"),
        (lambda: da.simulate(slider(), 1.0, sensitivities=np.array(["mass", "size"])), "sensitivities go with"),
        (lambda: da.simulate(slider(), 1.0, free=np.array(["A", "B"])), "simulate: free"),
        (lambda: da.simulate(slider(), 1.0, progress=lambda t: None), "progress is"),
        (lambda: da.mesh(None, density=1.0), "mesh: file is None; give a path"),
        (lambda: da.equilibrium(slider(), starts=10**50), "starts is 1000"),
        (lambda: slider().add_cable("new", [("ground", (1, 1, 0)), ("a", (0, 0, 0))], damping=np.array([1, 2])), "damping is"),
        (lambda: slider().add_cam("new", "ground", "a", support=10**400, normal=(1, 0, 0)), "support is"),
        (lambda: slider().add_driver("new", "A", type), "arguments cannot be known"),
        (lambda: slider().add_driver("new", "A", lambda *t: t), r"argument 't' has no place of its own \(\*args"),
    ],
)
def test_one_argument(call, match):
    with pytest.raises(da.ModelError, match=match):
        call()


@pytest.mark.parametrize("verb", ["simulate", "equilibrium", "inverse_dynamics", "linearise", "compare", "kinematics", "load"])
def test_wrong_names_of_arguments_are_told_with_the_nearest(verb):
    with pytest.raises(TypeError, match=f"{verb} has no argument 'colour'; "):
        getattr(da, verb)(da.Model(), colour=1)


@pytest.mark.parametrize(("option", "example"), [("integrator", "DOP853"), ("formulation", "Jet")])
def test_methods_by_name_are_told_as_objects(option, example):
    with pytest.raises(da.ModelError, match=rf"{option} is 'dop835'; give an object, as {option}=da\.{example}\("):
        da.simulate(da.Model(), 1.0, **{option: "dop835"})
