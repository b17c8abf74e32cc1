"""Motions that are composed: sums, products, functions of time, periodic and clamped tables, against closed forms."""

import json

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import dalembert as da
from dalembert.compilation.pack_motions import motion_rates, stops_between
from dalembert.errors import ModelError, StoreError
from dalembert.results.report.elements import driver_lines

TIMES = np.linspace(-0.7, 3.1, 41)


def arm(motion) -> da.Model:
    model = da.Model()
    model.add_body("arm", **da.rod(2.0, 1.0, axis="x", radius=0.02).body(), position=(0.5, 0, 0))
    model.add_revolute("shoulder", model.ground, "arm", point=(0, 0, 0), axis=(0, -1, 0))
    model.add_driver("motor", "shoulder", motion)
    return model


def test_sum_of_products_has_the_rates_of_its_closed_form():
    """f = (1 + 2 t) 3 sin(5 t) - t^2 / 2, by hand; 1e-13: a few roundings of numbers up to 525."""
    motion = da.Polynomial((1.0, 2.0)) * (3.0 * da.Harmonic(1.0, omega=5.0)) - 0.5 * da.Polynomial((0.0, 0.0, 1.0))
    t, p = TIMES, 1.0 + 2.0 * TIMES
    s, c = np.sin(5.0 * t), np.cos(5.0 * t)
    expected = np.array([3 * p * s - t**2 / 2, 6 * s + 15 * p * c - t, 60 * c - 75 * p * s - 1.0]).T
    assert np.allclose(motion_rates(motion, t), expected, rtol=0.0, atol=1e-12)
    assert motion_rates(1.0 - da.Constant(3.0), 0.0)[0, 0] == -2.0
    assert isinstance(np.float64(2.0) * da.Constant(1.0), type(da.Constant(1.0) * 2.0))


def test_product_of_sums_is_multiplied_out():
    a, b = da.Harmonic(0.3, 2.0), da.SmoothStep(0.0, 1.0, 0.2, 1.9)
    f, g = motion_rates(a, TIMES), motion_rates(b, TIMES)
    product = motion_rates((a + 1.0) * (b + a), TIMES)
    x, y = f + np.array([1.0, 0.0, 0.0]), g + f
    expected = [x[:, 0] * y[:, 0], x[:, 1] * y[:, 0] + x[:, 0] * y[:, 1]]
    expected.append(x[:, 2] * y[:, 0] + 2 * x[:, 1] * y[:, 1] + x[:, 0] * y[:, 2])
    assert np.allclose(product, np.array(expected).T, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=lambda f: type(f).__name__)
def test_function_as_driver_is_the_harmonic(formulation):
    """The same steps and states to 1e-12, and the same torque."""
    fixed = {"t_end": 0.1, "integrator": da.RungeKutta4(step=0.02), "formulation": formulation}
    plain = da.simulate(arm(da.Harmonic(0.4, 6.0, phase=0.2)), **fixed)
    traced = da.simulate(arm(lambda t: 0.4 * np.sin(6.0 * t + 0.2)), **fixed)
    assert np.abs(plain.x - traced.x).max() < 1e-12
    assert np.abs(plain.reaction("motor").torque - traced.reaction("motor").torque).max() < 1e-11
    assert traced.report()["prescribed motions"].verdict == "pass"


def test_function_as_effort_factor_and_length():
    """A mass on a rod of prescribed length and one that is pushed: x'' = f(t) / m."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("far", mass=1.0, position=(2.0, 0, 0))
    model.add_point_mass("pushed", mass=2.0)
    model.add_distance("rod", model.ground, "far", length=lambda t: 2.0 + t**3)
    model.add_force("push", "pushed", (0, 3.0, 0), factor=lambda t: t * np.exp(-t))
    solution = da.simulate(model, t_end=0.4, integrator=da.RungeKutta4(step=0.02))
    t = solution.t
    assert np.allclose(solution.position("far")[:, 0], 2.0 + t**3, rtol=0.0, atol=1e-10)
    assert np.allclose(solution.position("pushed")[:, 1], 1.5 * ((t + 2.0) * np.exp(-t) + t - 2.0), rtol=0.0, atol=1e-8)
    assert all(line.name != "functions of time" for line in solution.report().lines)  # fixed steps are what was asked for


def test_breakpoints_are_those_of_all_parts_and_steps_end_there():
    table = da.Table((0.0, 0.03, 0.05), (0.0, 0.1, 0.0), periodic=True)
    motion = table * da.SmoothStep(0.0, 1.0, 0.01, 0.02) + da.Harmonic(0.1, 2.0)
    solution = da.simulate(arm(motion), t_end=0.17)
    I, F = solution.mechanism.I, solution.mechanism.F
    expected = [0.01, 0.015, 0.02, 0.03, 0.05, 0.08, 0.1, 0.13, 0.15]
    assert np.allclose(stops_between(I, F, 0.0, 0.17), expected, rtol=0.0, atol=1e-15)
    assert all(np.abs(solution.t - t).min() < 1e-14 for t in expected)
    report = solution.report()
    assert report["breakpoints"].verdict == "pass" and report["prescribed motions"].verdict == "pass"


def test_breakpoints_before_time_zero_are_steps_too():
    """Their report compared distances with a share of a negative time, and told of steps over each of them."""
    table = da.Table((0.0, 0.03, 0.05), (0.0, 0.1, 0.0), periodic=True)
    solution = da.simulate(arm(table), t_start=-0.11, t_end=0.04)
    assert all(np.abs(solution.t - t).min() < 1e-14 for t in (-0.1, -0.07, -0.05, -0.02, 0.0, 0.03))
    assert solution.report()["breakpoints"].verdict == "pass"


def test_line_on_breakpoints_notices_steps_over_them():
    solution = da.simulate(arm(da.Table((0.0, 0.03, 0.05), (0.0, 0.1, 0.0), periodic=True)), t_end=0.12)
    solution.t = np.delete(solution.t, np.abs(solution.t - 0.08).argmin())
    solution.statistics = type(solution.statistics)(**{**vars(solution.statistics), "accepted": len(solution.t) - 1})
    assert {line.name: line.verdict for line in driver_lines(solution)}["breakpoints"] == "FAIL"


def test_clamped_table_holds_and_is_smooth():
    table = da.Table((0.0, 1.0, 1.5, 2.0), (0.2, 1.0, 1.0, -0.5), clamp=True)
    held = motion_rates(table, [-5.0, 0.0, 2.0, 2.2, 50.0])
    assert np.array_equal(held[:, 0], [0.2, 0.2, -0.5, -0.5, -0.5]) and not held[:, 1:].any()
    assert np.allclose(motion_rates(table, table.times)[:, 0], table.values, rtol=0.0, atol=1e-14)
    inside = np.linspace(1e-3, 2.0 - 1e-3, 50)
    near = motion_rates(table, inside + 1e-6) - motion_rates(table, inside - 1e-6)
    assert np.allclose(near[:, :2] / 2e-6, motion_rates(table, inside)[:, 1:], rtol=0.0, atol=2e-4)  # |f'''| up to 100
    two = motion_rates(da.Table((0.0, 1.0), (0.0, 2.0), clamp=True), [0.0, 0.5, 1.0])
    assert np.allclose(two[:, 0], [0.0, 1.0, 2.0], rtol=0.0, atol=1e-15) and abs(two[1, 2]) < 1e-13


def test_periodic_table_repeats():
    x = np.linspace(0.0, 2.0, 41)
    table = da.Table(tuple(x), tuple(np.append(np.sin(np.pi * x[:-1]), 0.0)), periodic=True)
    rates = motion_rates(table, TIMES)
    assert np.allclose(rates, motion_rates(table, TIMES + 6.0), rtol=0.0, atol=1e-12)
    assert np.allclose(rates[:, 0], np.sin(np.pi * TIMES), rtol=0.0, atol=2e-6)  # spline error 5/384 (pi h)^4 = 8e-6


def test_models_with_composed_motions_are_written_and_read(tmp_path):
    motion = 2.0 * da.Harmonic(0.1, 3.0) + da.Table((0.0, 1.0, 2.0), (0.0, 1.0, 0.0), periodic=True)
    model = arm(motion)
    assert da.Model.from_dict(model.to_dict()).hash == model.hash
    model.to_yaml(tmp_path / "arm.yaml")
    assert "type: sum" in (tmp_path / "arm.yaml").read_text()
    assert da.Model.from_yaml(tmp_path / "arm.yaml").hash == model.hash


def test_functions_stay_out_of_files(tmp_path):
    model = arm(lambda t: np.sin(t))
    with pytest.raises(ModelError, match="'motor': a model file cannot hold it; it follows a Python function of t"):
        model.to_yaml(tmp_path / "arm.yaml")
    solution = da.simulate(model, t_end=0.02, integrator=da.RungeKutta4(step=0.01))
    solution.save(tmp_path / "arm.zarr")
    with pytest.raises(StoreError, match="constraints or motions written as functions"):
        da.load(tmp_path / "arm.zarr")
    assert np.array_equal(da.load(tmp_path / "arm.zarr", model=model).x, solution.x)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{type: harmonic, amplitude: 1, frequency: 3}", "there is no key 'frequency'; it is called 'omega', in rad/s"),
        ("sin(2 * t)", "there is no parameter 't'; a function of time is a motion"),
        ("{type: sum, parts: [1, {type: harmonic, amplitude: 1}]}", "the key 'omega' is missing"),
        ("{type: product, parts: []}", "parts has 0 entries"),
    ],
)
def test_messages_of_files(tmp_path, text, message):
    file = tmp_path / "m.yaml"
    file.write_text(f"bodies: {{A: {{mass: 1, inertia: [1, 1, 1]}}}}\njoints: {{J: {{type: revolute, first: ground, second: A,"
                    f" point: [0, 0, 0], axis: [0, 0, 1]}}}}\ndrivers: {{D: {{joint: J, motion: {text}}}}}\n")  # fmt: skip
    with pytest.raises(ModelError, match=message.replace("(", r"\(")):
        da.Model.from_yaml(file)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: arm(lambda t: (t, t)), "driver 'motor': the function of its motion returned 2 numbers; return one"),
        (lambda: arm(lambda x: x), "its argument 'x' is not known"),
        (lambda: arm(lambda t: 1.0 if t > 0.5 else 0.0), "driver 'motor': the function of its motion"),
        (lambda: da.simulate(arm(lambda t: np.sqrt(t)), t_end=1.0), "'motor': its motion and its two rates are 0, inf, -inf"),
        (lambda: da.Constant(1.0) + "x", "a sum of motions: its part is 'x'; give a number, Constant"),
        (lambda: da.Table((0, 1), (0, 1), periodic=True), "Table: periodic, but values begin with 0 and end with 1"),
        (lambda: da.Table((0, 1), (0, 0), periodic=True, clamp=True), "Table: periodic and clamp are both True"),
        (lambda: da.Table((0, 1), (0, 0), clamp=1), "Table: clamp is 1; give True or False"),
    ],
)
def test_messages(build, message):
    with pytest.raises(ModelError, match=message):
        build()


def test_length_that_a_function_lets_vanish_is_refused():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("far", mass=1.0, position=(1.0, 0, 0))
    model.add_distance("rod", model.ground, "far", length=lambda t: 1.0 - 2.0 * t)
    with pytest.raises(ModelError, match=r"joint 'rod': its length reaches 0 at t = 0.5"):
        da.simulate(model, t_end=1.0)


PUSH = {"times": (0.0, 0.36, 0.38, 1.11, 1.13, 1.5), "values": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0)}


def test_a_monotone_table_stays_within_its_values():
    """As SciPy's curve of Fritsch and Carlson; it repeats, or holds its ends; a natural spline went from -2.6 to 10.3 here."""
    t = np.linspace(-1.0, 4.0, 5001)
    again = da.Table(**PUSH, periodic=True, monotone=True)
    f = motion_rates(again, t)[:, 0]
    assert f.min() == 0.0 and f.max() == 1.0
    np.testing.assert_allclose(motion_rates(again, t + 1.5)[:, 0], f, rtol=0, atol=1e-9)
    inside = np.linspace(0.0, 1.5, 1501)
    curve = PchipInterpolator(PUSH["times"], PUSH["values"])
    np.testing.assert_allclose(
        motion_rates(again, inside)[:, :2], np.stack([curve(inside), curve(inside, 1)], axis=1), atol=1e-12
    )
    held = da.Table((0.1, 0.2, 0.5), (1.0, 3.0, -1.0), clamp=True, monotone=True)
    np.testing.assert_array_equal(motion_rates(held, [-5.0, 0.1, 0.2, 0.5, 9.0])[:, :2], [[v, 0.0] for v in (1, 1, 3, -1, -1)])
    bent = motion_rates(da.Table((0.0, 1.0, 2.0, 3.0), (0.0, 2.0, 1.0, 0.0), periodic=True, monotone=True), [0.0, 3.0 - 1e-12])
    np.testing.assert_allclose(bent[1, :2], bent[0, :2], atol=1e-9)


@pytest.mark.parametrize("integrator", [None, da.RungeKutta4(step=0.01)])
def test_a_push_of_each_turn_gives_its_impulse(integrator):
    """m v = the integral of the force; file and Python say the same."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("sledge", mass=2.0, inertia=(1, 1, 1))
    model.add_prismatic("rail", "ground", "sledge", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_force("push", "sledge", (300.0, 0, 0), factor=da.Table(**PUSH, periodic=True, monotone=True))
    run = da.simulate(da.Model.from_dict(model.to_dict()), 4.0, **({} if integrator is None else {"integrator": integrator}))
    whole, rest = (PchipInterpolator(PUSH["times"], PUSH["values"]).integrate(0.0, end) for end in (1.5, 1.0))
    assert run.velocity("sledge")[-1, 0] == pytest.approx(150.0 * (2 * whole + rest), rel=1e-9)
    assert da.largest(run, "push.f") == pytest.approx(300.0, rel=1e-12)
    assert run.report().headline == "trusted"


def test_constraints_refuse_monotone_tables():
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(1, 1, 1))
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    motion = 2.0 * da.Table((0, 1), (0, 1), monotone=True)
    with pytest.raises(da.ModelError, match=r"driver 'motor': motion has a monotone table, .* that is for loads"):
        model.add_driver("motor", "A", motion)
    with pytest.raises(da.ModelError, match="length has a monotone table"):
        model.add_distance("rope", "ground", "arm", points=((0, 0, 0), (0.5, 0, 0)), length=motion)
    model.add_driver("motor", "A", da.Table((0, 1), (0, 1)))
    data = json.loads(json.dumps(model.to_dict()).replace('"periodic": false', '"periodic": false, "monotone": true'))
    with pytest.raises(da.ModelError, match="motion has a monotone table"):
        da.Model.from_dict(data)
