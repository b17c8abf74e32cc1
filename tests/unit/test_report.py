"""The trust report: what passes, what must fail, and that nothing is left out."""

import json
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert import gallery
from dalembert.compilation.callbacks import SlowFunctionWarning
from dalembert.results.report import Line, Report
from dalembert.simulation.solution import Solution

CHECKS = [
    "status",
    "position drift",
    "velocity drift",
    "unit length error",
    "energy balance",
    "error estimate",
    "accelerations",
]


def run(name="slider_crank", t_end=1.0, **options):
    return da.simulate(gallery.build(name), t_end, **options)


@pytest.fixture(scope="module")
def solution():
    return run(t_end=5.0)


def with_states(solution, x, **changes):
    """A solution that claims other states."""
    keep = {name: getattr(solution, name) for name in ("settings", "statistics", "status", "message")}
    return Solution(solution.mechanism, solution.t, x, **{**keep, **changes})


def failures(solution):
    return [line.name for line in solution.report().failures]


def test_default_run_passes_every_line(solution):
    report = solution.report()
    assert report.passed
    assert {line.verdict for line in report.lines} == {"pass", "note"}
    assert [line.name for line in report.lines if line.verdict == "pass"] == CHECKS


@pytest.mark.parametrize("name", sorted(set(gallery.GALLERY) - {"slider_crank"}))
def test_gallery_passes(name):
    crossing = ["branch"] if name == "n_four_bar" else []  # its links pass through one line, where branches meet
    assert failures(run(name)) == crossing


def test_report_names_everything(solution):
    text = " ".join(str(solution.report(verbose=True)).split())
    s = solution.statistics
    for part in (
        f"{s.accepted} accepted, {s.rejected} rejected ({s.refused} refused)",
        f"{s.rate_evaluations} rate evaluations, {s.projections} projections",
        "17 of rank 17",
        "assembly",
        "integration",
        "Jet(projection='quasi-orthogonal'",
        "DOP853(step=None, rtol=1e-09",
        "absolute",
        f"dalembert {da.__version__}",
        solution.mechanism.model.hash,
        "JetMultibody, HairerNorsettWanner1993",
    ):
        assert part in text


def test_report_for_programs(solution):
    data = json.loads(json.dumps(solution.report().to_dict(), allow_nan=False))
    assert data["passed"] is True
    lines = {line["name"]: line for line in data["lines"]}
    assert lines["position drift"]["data"] == solution.drift.position.max()
    assert lines["velocity drift"]["data"] == solution.drift.velocity.max()
    assert lines["unit length error"]["data"] == solution.unit_length_error
    assert lines["degrees of freedom"]["data"]["degrees_of_freedom"] == 1
    assert lines["steps"]["data"]["accepted"] == solution.statistics.accepted
    assert lines["model hash"]["data"] == solution.mechanism.model.hash


def test_drift_line_names_joint_and_time(solution):
    line = solution.report()["position drift"]
    drift = solution.drift
    k = int(np.argmax(drift.position))
    assert f"worst at {drift.worst_joint!r}, t = {solution.t[k]:.4g} s" in line.value
    assert line.limit == "1e-10"


def test_loose_projection_fails_the_drift_lines():
    loose = run(
        t_end=5.0,
        integrator=da.Euler(step=1e-2),
        formulation=da.Jet(tolerance=1e-3, velocity_tolerance=1e-3),
    )
    assert failures(loose) == ["position drift", "velocity drift", "energy balance", "error estimate"]
    assert loose.report()["position drift"].limit == "1e-06"
    modest = run(formulation=da.Jet(tolerance=1e-8, velocity_tolerance=1e-8))
    assert failures(modest) == []
    assert modest.report()["velocity drift"].limit == "1e-07"


def test_loose_integration_fails_the_energy_line():
    loose = run(t_end=5.0, integrator=da.DormandPrince(rtol=1e-3, atol=1e-3))
    assert failures(loose) == ["energy balance"]
    assert loose.report()["energy balance"].limit == "0.01"


def test_fixed_step_has_the_loosest_energy_limit():
    fixed = run(integrator=da.RungeKutta4(step=1e-2))
    line = fixed.report()["energy balance"]
    energy = fixed.energy
    assert (line.verdict, line.limit) == ("pass", "0.01")
    assert run(integrator=da.Euler(step=5e-2)).report()["energy balance"].verdict == "FAIL"
    assert line.data == np.abs(energy.total - energy.total[0]).max() / energy.scale
    assert line.data > 1e-10


def test_energy_invariant_keeps_its_limit():
    kept = run(formulation=da.Jet(invariants="energy")).report()["energy balance"]
    assert (kept.verdict, kept.limit) == ("pass", "1e-10")


def test_energy_invariant_has_the_tightest_limit(solution):
    settings = json.loads(json.dumps(solution.settings))
    settings["formulation"]["options"]["invariants"] = "energy"
    claimed = with_states(solution, solution.x, settings=settings)
    line = claimed.report()["energy balance"]
    assert line.limit == "1e-10"
    assert line.verdict == "FAIL"
    assert "kept by projection" in line.value


def test_energy_is_compared_with_the_start_also_when_it_was_not_saved(solution):
    late = run(t_end=5.0, save_at=[4.0, 5.0])
    assert late.t[0] == 4.0
    whole = solution.energy
    error = abs(late.energy.total[-1] - whole.total[0]) / late.steps.energy.scale
    assert late.report()["energy balance"].data >= 0.99 * error
    shifted = late.x.copy()
    shifted[:, late.mechanism.nq + late.mechanism.nu] += 1.0
    assert failures(with_states(late, shifted)) == ["energy balance"]


def test_wrong_states_fail_the_line_concerned(solution):
    moved, longer, faster = (solution.x.copy() for _ in range(3))
    moved[100, 14] += 1e-6  # slider along its axis
    longer[50, 3:7] *= 1 + 1e-9
    faster[-1, solution.mechanism.nq] += 1e-7
    assert "position drift" in failures(with_states(solution, moved))
    assert f"t = {solution.t[100]:.4g} s" in with_states(solution, moved).report()["position drift"].value
    assert "unit length error" in failures(with_states(solution, longer))
    assert failures(with_states(solution, faster)) == ["velocity drift"]


def test_states_that_are_not_numbers_fail(solution):
    broken = solution.x.copy()
    broken[200] = np.nan
    assert failures(with_states(solution, broken)) == [
        "position drift",
        "velocity drift",
        "unit length error",
        "energy balance",
        "accelerations",
    ]


@pytest.mark.parametrize("status", ["failed", "interrupted", "incomplete"])
def test_run_that_did_not_reach_its_end_fails(solution, status):
    line = with_states(solution, solution.x, status=status, message="the reason").report()["status"]
    assert line.verdict == "FAIL"
    assert line.value.startswith(f"{status}: the reason ({len(solution.t)} states")


def test_failed_run_says_why():
    model = gallery.build("slider_crank")
    model.add_force("gust", "slider", lambda t: (np.nan if t > 0.5 else 0.0, 0.0, 0.0))
    with pytest.raises(da.SimulationError) as caught:
        da.simulate(model, 1.0)
    report = caught.value.solution.report()
    assert not report.passed
    assert str(caught.value) in report["status"].value


def test_run_without_states_is_reported(solution):
    empty = Solution(solution.mechanism, np.zeros(0), solution.x[:0], settings=solution.settings, status="failed")
    report = empty.report()
    assert [line.name for line in report.failures] == ["status"]
    assert "no states saved" in report["status"].value


def test_redundancy_is_named():
    report = run("four_bar").report()
    assert report["redundant rows"].data == ["C.z", "C.SO(x, z)", "C.SO(y, z)"]
    assert report["reactions not unique"].data == ["A", "B", "C", "D"]
    assert report["degrees of freedom"].data["rank"] == 17
    assert report["redundant rows"].verdict == "note"


def test_events_are_listed():
    found = run(events=da.Event(lambda state: state.time - 0.5, name="half")).report()["events"]
    assert found.data[0][0] == "half"
    assert found.value == "'half' at t = 0.5 s"


def test_singular_start_and_dependent_rows_are_notes(solution):
    from dataclasses import replace

    mechanism = replace(solution.mechanism, warnings=("the initial configuration is singular",))
    statistics = replace(solution.statistics, dependent_rows=2)
    claimed = Solution(mechanism, solution.t, solution.x, settings=solution.settings, statistics=statistics)
    report = claimed.report()
    assert report["warning"].value == "the initial configuration is singular"
    assert "became dependent during the run, as in a singular configuration: 2" in report["dependent rows"].value
    assert report.passed


def test_plain_python_functions_are_named():
    def odd(t):
        return tuple(float(text) for text in f"0 0 {t!r}".split())

    model = gallery.build("pendulum_3d")
    model.add_force("odd", model.bodies[0], odd)
    with pytest.warns(SlowFunctionWarning):
        report = da.simulate(model, 0.1).report()
    assert report["plain Python"].data == ["odd"]
    assert report["plain Python"].verdict == "note"


def test_mechanism_at_rest_passes():
    model = da.Model()
    model.add_body("weight", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1))
    model.add_spherical("hook", model.ground, "weight", point=(0, 0, 0))
    assert failures(da.simulate(model, 10.0)) == []


def test_free_body_has_nothing_to_drift():
    model = da.Model()
    model.add_point_mass("stone", mass=1.0, velocity=(1, 0, 5))
    report = da.simulate(model, 1.0).report()
    assert report.passed
    assert report["position drift"].value == "nothing to drift"


def test_table_fits_any_width():
    from io import StringIO

    from rich.console import Console

    long = Line("check", "value " * 60, "1e-10", "FAIL")
    report = Report("a report", (long, Line("word", "x" * 300)))
    assert not report.passed
    for width in (40, 80, 200):
        out = StringIO()
        report.print(Console(file=out, width=width))
        assert max(map(len, out.getvalue().splitlines())) <= width
        assert out.getvalue().count("value") == 61  # heading and all words
        assert out.getvalue().count("x") == 300
        assert out.getvalue().splitlines()[0] == "not trusted: check"
    str(report).encode("ascii")
    assert ">not trusted: check<" in report._repr_html_()
    with pytest.raises(KeyError, match="no line 'drift'; it has check, word"):
        report["drift"]


def test_first_line_is_the_verdict_and_details_wait(solution):
    report, all_of_it = solution.report(), str(solution.report(verbose=True))
    text, model = str(report), solution.mechanism.model
    assert text.splitlines()[0] == "trusted" == report.headline and max(map(len, text.splitlines())) <= 100
    assert "not shown: conditioning, constraint rows, steps" in text and model.hash not in text
    assert "degrees of freedom  note  1" in text  # a joint that is missing is seen in it
    assert "degrees of freedom" in report._repr_html_().partition("<details><summary><b>details")[0]
    assert model.hash in all_of_it and "not shown" not in all_of_it
    assert "<details><summary><b>details" in report._repr_html_()
    assert repr(report) == f"<trust report of {model.name!r}: trusted>"


def test_bar_has_a_cell_for_each_factor_of_ten():
    def cells(share):
        return Line("x", "", "1", "pass", 0.0, share).cells

    assert [cells(s) for s in (0.0, 1e-300, 1e-9, 5e-3, 0.5, 1.0, 3.0, np.inf, np.nan)] == [0, 0, 1, 7, 9, 10, 10, 10, 10]
    assert cells(None) is None
    bars = str(Report("t", (Line("a", "", "1", "pass", 0.0, 5e-3), Line("b", "", "1", "FAIL", 2.0, 2.0))))
    assert "[=======...]" in bars and "[=========>]" in bars


def test_what_to_do_names_the_numbers_of_the_run():
    report = run(integrator=da.Euler(step=5e-2)).report()
    assert report["energy balance"].advice.startswith("take steps shorter than 0.05 s")
    assert "what to do" in str(report) and "what to do" in report._repr_html_()
    assert all(line.advice for line in report.lines if line.verdict in ("FAIL", "WARN"))


def test_careful_names_components_that_are_not_unique():
    report = run("four_bar", 0.01).report()
    assert report["reactions not unique"].value.startswith("A, B, C, D: ") and "careful" in str(report)
    model = da.Model(gravity=(0, 0, -9.81))
    model.add_body("beam", mass=1.0, inertia=(0.1, 0.1, 0.1))
    for x in (-1.0, 1.0):  # hinges along x share what acts along x, and torques about y and z by pairs of forces
        model.add_revolute(f"h{x:g}", model.ground, "beam", point=(x, 0, 0), axis=(1, 0, 0))
    value = da.simulate(model, 0.01).report()["reactions not unique"].value
    assert re.match(r"h-1( \(.*\))?, h1", value), value


def test_hostile_names_are_escaped():
    html = Report("<b>t", (Line("<script>", "<img src=x>", "<i>", "FAIL", 2.0, 2.0, "checks", "<u>"),))._repr_html_()
    assert "<script>" not in html and "<img" not in html and "<i>" not in html and "<u>" not in html and "&lt;img" in html


def test_trajectory_error_is_the_distance_from_a_tighter_run(tmp_path):
    """A pendulum's angle against SciPy's: the estimate is the error to a few per cent."""
    model = da.Model(gravity=(0, 0, -9.81))
    model.add_body("bob", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0, 1.0, 0))
    model.add_revolute("A", model.ground, "bob", point=(0, 0, 0), axis=(1, 0, 0))
    loose = da.simulate(model, 1.0, integrator=da.RungeKutta4(step=0.05), estimate_error=True, out=tmp_path / "a.zarr")
    rate = 9.81 / (1.0 + 1e-3)
    exact = solve_ivp(lambda t, y: (y[1], -rate * np.cos(y[0])), (0, 1), (0.0, 0.0), rtol=1e-12, atol=1e-12, t_eval=loose.t)
    path = np.column_stack([0 * exact.t, np.cos(exact.y[0]), np.sin(exact.y[0])])
    error = np.linalg.norm(loose.position("bob") - path, axis=1).max()
    line = loose.report()["trajectory error"]
    assert line.data["where"] == "bob" and line.data["against"].startswith("MovingFrame, DOP853")
    angle = 2 * np.arcsin(error / 2)
    assert line.data["error"] == pytest.approx(error if line.data["unit"] == "m" else angle, rel=0.02)
    metres, radians = line.data["largest"]
    assert metres["error"] == pytest.approx(error, rel=0.02) and radians["error"] == pytest.approx(angle, rel=0.02)
    assert f"{metres['error']:.3g} m at 'bob', t = " in line.value and f" s, {radians['error']:.3g} rad at 'bob'" in line.value
    assert line.verdict == "pass" and da.load(tmp_path / "a.zarr").report()["trajectory error"] == line
    assert "trajectory error" not in [one.name for one in run(t_end=0.01).report().lines]
    del loose.settings["trajectory_error"]["largest"]  # as in stores before 0.2
    loose.save(tmp_path / "b.zarr")
    older = da.load(tmp_path / "b.zarr").report()["trajectory error"]
    assert older.verdict == "pass" and older.value.startswith(f"{line.data['error']:.3g} {line.data['unit']} at 'bob', t = ")


def test_trajectory_error_says_why_there_is_none():
    stopped = run(t_end=0.05, save_at=[0.0], estimate_error=True)
    line = stopped.report()["trajectory error"]
    assert (line.verdict, line.block) == ("note", "careful") and line.value == "none: the run is complete"


def test_advice_that_is_followed_helps():
    """The step that is told, by the order of the method, where errors go like its power."""
    model = gallery.build("slider_crank")
    coarse = da.simulate(model, 2.0, integrator=da.RungeKutta4(step=0.02)).report()["energy balance"]
    step = re.match(r"take steps shorter than 0\.02 s, about (0\.\d+) s;", coarse.advice)
    assert coarse.verdict == "FAIL" and step is not None
    assert da.simulate(model, 2.0, integrator=da.RungeKutta4(step=float(step[1]))).report()["energy balance"].verdict == "pass"
