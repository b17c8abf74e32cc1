"""Gradients, fits and optima of runs against closed forms, and what fits say of themselves."""

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app

FAST = {"integrator": da.RungeKutta4(step=0.02)}
TIMES = np.linspace(0.02, 0.4, 20)


def oscillator(mass=1.5, stiffness=40.0, damping=0.6, start=0.2):
    """m x'' + c x' + k x = 0 along x; the spring has its length at x = 1."""
    model = da.Model(gravity=(0, 0, 0))
    bob = model.add_point_mass("bob", mass=mass, position=(1.0 + start, 0, 0))
    ends = ((0, 0, 0), (0, 0, 0))
    model.add_spring_damper("spring", model.ground, bob, points=ends, stiffness=stiffness, damping=damping, length=1.0)
    return model


def closed_form(t, mass=1.5, stiffness=40.0, damping=0.6, start=0.2):
    d = damping / (2 * mass)
    w = np.sqrt(stiffness / mass - d**2)
    return 1.0 + start * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))


def force(solution):
    return solution.effort("spring").value


def measured(seed=1, noise=0.01, t=TIMES, **truth):
    x = closed_form(t, **truth)
    return {"t": t, "bob.x": x + noise * np.ptp(x) * np.random.default_rng(seed).standard_normal(len(t))}


def bottom(mass=1.5, stiffness=40.0, damping=0.6, start=0.2):
    """The first lowest value, where x' = 0: half a period after the start."""
    d = damping / (2 * mass)
    half = np.pi / np.sqrt(stiffness / mass - d**2)
    return 1.0 - start * np.exp(-d * half)


def area(**p):
    x, w = np.polynomial.legendre.leggauss(40)
    return 0.4 * w @ closed_form(0.4 + 0.4 * x, **p)


def test_gradients_of_a_last_value_an_integral_and_an_extremum():
    """Against closed forms and their differences [1e-7: h^4 of the steps, h^2 of the differences]."""
    start = {"stiffness": 40.0, "damping": 0.6}
    options = {"save_at": np.linspace(0.0, 0.8, 41), "integrator": da.RungeKutta4(step=0.005)}
    run = da.gradient(oscillator, "bob.x", start, t_end=0.8, **options)
    expected = {
        lambda s: s.position("bob")[-1, 0]: lambda **p: closed_form(0.8, **p),
        lambda s: da.integral(s, "bob.x"): area,
        lambda s: da.smallest(s, "bob.x"): bottom,
    }
    for function, exact in expected.items():
        assert abs(function(run.solution) - exact(**start)) < 1e-7
        for name, value in start.items():
            h = 1e-4 * value
            slope = (exact(**{**start, name: value + h}) - exact(**{**start, name: value - h})) / (2 * h)
            assert abs(run.solution.sensitivities.slope(run.solution, function, name) - slope) < 1e-7
    assert run["damping"] == run.solution.derivative("bob.x", "damping")[-1]


def test_a_fit_of_clean_data_finds_the_truth():
    found = da.fit(oscillator, measured(noise=0.0), {"stiffness": 44.0, "damping": 0.5}, **FAST)
    assert found.converged and found.evaluations < 10
    assert abs(found.estimates["stiffness"] - 40.0) < 1e-3 and abs(found.estimates["damping"] - 0.6) < 1e-4
    shown = found._repr_html_()
    assert ">converged<" in shown and shown.count("<svg") == 1 and "95 % confidence" in shown


def test_standard_errors_are_those_of_the_linear_theory():
    """Against sigma^2 (J^T J)^-1 with a Jacobian of the closed form [1e-3: differences]."""
    noise = 0.01 * np.ptp(closed_form(TIMES))
    found = da.fit(oscillator, measured(), {"stiffness": 44.0, "damping": 0.5}, sigma={"bob.x": noise}, **FAST)
    at, columns = dict(found.estimates), []
    for name, value in at.items():
        h = 1e-4 * value
        ends = [closed_form(TIMES, **{**at, name: value + sign * h}) for sign in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * h))
    J = np.array(columns).T / noise
    expected = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
    assert np.allclose(list(found.standard_errors.values()), expected, rtol=1e-3)
    low, high = found.intervals["stiffness"]
    assert np.isclose(high - low, 2 * 1.959964 * found.standard_errors["stiffness"])
    report = found.report()
    assert report.passed and report["noise"].verdict == "pass" and report["error estimate"].verdict == "pass"
    assert report["sensitivities"].verdict == "pass"


def test_bounds_of_confidence_hold_over_seeds():
    """20 trials of 2 parameters at 95 %: 38 expected; fewer than 33 would have a chance of 0.2 %."""
    inside = 0
    for seed in range(20):
        found = da.fit(oscillator, measured(seed), {"stiffness": 43.0, "damping": 0.5}, **FAST)
        assert found.converged and found.evaluations < 20
        inside += sum(found.intervals[n][0] <= v <= found.intervals[n][1] for n, v in (("stiffness", 40.0), ("damping", 0.6)))
    assert inside >= 33


def test_outputs_of_different_noise_are_weighed_by_what_is_left():
    rng, x = np.random.default_rng(5), closed_form(TIMES)
    run = da.simulate(oscillator, TIMES[-1], save_at=TIMES, **FAST)
    loud = force(run) + 0.2 * np.ptp(force(run)) * rng.standard_normal(len(x))
    quiet = x + 1e-4 * rng.standard_normal(len(x))
    data = {"t": TIMES, "bob.x": quiet, "force": loud}
    found = da.fit(oscillator, data, {"stiffness": 44.0, "damping": 0.5}, outputs={"force": force}, **FAST)
    assert 0.5e-4 < found.sigma["bob.x"] < 2e-4
    assert abs(found.estimates["stiffness"] - 40.0) < 4 * found.standard_errors["stiffness"] < 0.5


def test_what_data_do_not_tell_is_said():
    """Motion alone tells stiffness / mass and damping / mass."""
    found = da.fit(oscillator, measured(), {"mass": 1.4, "stiffness": 44.0, "damping": 0.5}, **FAST)
    line = found.report()["identifiable"]
    assert line.verdict == "FAIL" and "mass" in line.value and "stiffness" in line.value
    assert np.isinf(found.standard_errors["mass"])


def test_a_wrong_model_and_a_bound_are_noticed():
    wrong = measured(noise=1e-4, t=np.linspace(0.01, 0.4, 40))
    wrong["bob.x"] = wrong["bob.x"] + 0.02 * np.sin(30 * wrong["t"])
    found = da.fit(oscillator, wrong, {"stiffness": 44.0}, **FAST)
    assert found.report()["residuals of bob.x"].verdict == "FAIL"
    held = da.fit(oscillator, measured(), {"stiffness": 35.0, "damping": 0.5}, bounds={"stiffness": (None, 38.0)}, **FAST)
    assert held.at_bounds == ("stiffness",) and held.report()["at bounds"].verdict == "WARN"
    assert np.isnan(held.standard_errors["stiffness"]) and np.isfinite(held.standard_errors["damping"])


def spinning(body):
    """A free body that turns about a joint's axis y against a spring: its moment about y is what data tell."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("rotor", mass=body.mass, inertia=body.inertia, position=(0, 0, 0), angular_velocity=(0, 2.0, 0))
    model.add_revolute("A", model.ground, "rotor", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint_spring_damper("spring", "A", stiffness=3.0)
    return model


def test_inertias_stay_physical():
    true = da.PhysicalInertia(2.0, (0.03, 0.05, 0.04))
    again = da.PhysicalInertia.of(true.numbers())
    assert np.allclose(again.inertia, true.inertia, rtol=0, atol=1e-15) and np.isclose(again.mass, 2.0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        J = np.linalg.eigvalsh(da.PhysicalInertia.of(rng.normal(0.0, 2.0, 7)).inertia)
        assert J[0] > 0 and J[2] <= J[0] + J[1]
    with pytest.raises(da.ModelError, match="each must be less than the sum of the others"):
        da.PhysicalInertia(1.0, (1.0, 1.0, 2.0))
    w = np.sqrt(3.0 / 0.05)
    data = {"t": TIMES, "A": 2.0 / w * np.sin(w * TIMES)}
    found = da.fit(spinning, data, {"body": da.PhysicalInertia(2.0, (0.03, 0.04, 0.04))}, **FAST)
    assert abs(found.estimates["body.yy"] - 0.05) < 1e-5
    assert isinstance(found.values["body"], da.PhysicalInertia)
    assert found.report()["identifiable"].verdict == "FAIL"  # mass and the other moments


def test_an_optimum_with_a_constraint():
    """Least overshoot with the damper as strong as it may be; then the stiffness at which x(0.8) = 1 for the first time."""
    options = {"t_end": 0.8, "save_at": np.linspace(0.0, 0.8, 41), "integrator": da.RungeKutta4(step=0.01)}
    low = da.optimise(
        oscillator, lambda s: -da.smallest(s, "bob.x"), {"damping": 0.6}, bounds={"damping": (0.1, 4.0)}, **options
    )
    assert low.converged and low.at_bounds == ("damping",) and np.isclose(low.parameters["damping"], 4.0)
    assert low.report().passed
    what = ("bob.x", 1.0, 1.0)
    found = da.optimise(oscillator, lambda s: da.integral(s, "bob.x"), {"stiffness": 8.0}, constraints=[what], **options)
    w = np.sqrt(found.parameters["stiffness"] / 1.5 - 0.2**2)
    assert abs(np.cos(0.8 * w) + 0.2 / w * np.sin(0.8 * w)) < 1e-5


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"parameters": {"stifness": 40.0}}, "no argument 'stifness'; did you mean 'stiffness'"),
        ({"parameters": {"stiffness": np.nan}}, "stiffness"),
        ({"parameters": {}}, "give where to start"),
        ({"bounds": {"damping": (0, 1)}}, "which is no parameter"),
        ({"bounds": {"stiffness": (50, 60)}}, "outside its bounds"),
        ({"data": {"bob.x": TIMES}}, 'give the times as "t"'),
        ({"data": {"t": TIMES, "bob.x": TIMES[:-1]}}, "has 19 values, there are 20 times"),
        ({"data": {"t": TIMES, "bob.x": np.where(TIMES > 0.3, np.nan, 1.0)}}, "is nan at t = "),
        ({"data": {"t": TIMES, "bob.u": TIMES}}, "no signal 'bob.u'"),
        ({"sigma": {"bob.y": 1.0}}, "for which there are no data"),
        ({"sigma": {"bob.x": 0.0}}, "sigma of 'bob.x'"),
        ({"outputs": {"bob.x": 3}}, "give a function of a solution"),
        ({"confidence": 95.0}, "between 0 and 1"),
        (
            {"data": {"t": [0.1, 0.2], "bob.x": [1.0, 1.1]}, "parameters": {"stiffness": 44.0, "damping": 0.5, "mass": 1.0}},
            "2 values in the data for 3 parameters",
        ),
    ],
)
def test_bad_input(change, told):
    given = {"data": measured(), "parameters": {"stiffness": 44.0}, **change}
    with pytest.raises(da.ModelError, match=told):
        da.fit(oscillator, given.pop("data"), given.pop("parameters"), **given, **FAST)


MODEL = """
import dalembert as da

def build(stiffness=44.0):
    model = da.Model(gravity=(0, 0, 0))
    bob = model.add_point_mass("bob", mass=1.5, position=(1.2, 0, 0))
    ends = ((0, 0, 0), (0, 0, 0))
    model.add_spring_damper("spring", model.ground, bob, points=ends, stiffness=stiffness, damping=0.6, length=1.0)
    return model
"""


def test_command(tmp_path):
    model, data = tmp_path / "m.py", tmp_path / "d.csv"
    model.write_text(MODEL)
    rows = np.array(list(measured().values())).T
    data.write_text("t,bob.x\n" + "\n".join(f"{t!r},{x!r}" for t, x in rows.tolist()))
    stepping = ["--integrator", "rk4", "--step", "0.02"]
    call = ["fit", str(model), "--data", str(data), "--set", "stiffness=44:10:90", *stepping]
    picture = tmp_path / "r.png"
    result = CliRunner().invoke(app, [*call, "--plot", str(picture)])
    assert result.exit_code == 0, result.output
    assert "stiffness" in result.output and "95 % confidence" in result.output and picture.stat().st_size > 5000
    assert CliRunner().invoke(app, [*call[:4], *stepping]).exit_code == 2
    assert CliRunner().invoke(app, [*call[:5], "stiffness", *stepping]).exit_code == 2
