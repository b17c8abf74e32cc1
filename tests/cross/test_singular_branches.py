"""Singular configurations along a run: branch points are noticed in every formulation, and only those."""

import warnings

import numpy as np
import pytest

import dalembert as da


def bar(model, name, p, q):
    length = np.linalg.norm(q - p)
    d = (q - p) / length
    moments = length**2 / 12 * np.array([0.01, 1.0, 1.005])
    turn = np.column_stack([d, [0, 1, 0], np.cross(d, [0, 1, 0])])
    model.add_body(name, mass=1.0, inertia=moments, position=(p + q) / 2, rotation=turn)


def four_bar(size=1.0, **options):
    points = {"A": (0, 0, 0), "B": (0, 0, 0.15), "C": (0.4, 0, 0.45), "D": (0.4, 0, 0)}
    points = {name: size * np.array(p, float) for name, p in points.items()}
    model = da.Model(**options)
    for name, p, q in (("crank", "A", "B"), ("coupler", "B", "C"), ("rocker", "D", "C")):
        bar(model, name, points[p], points[q])
    ends = {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": ("ground", "rocker")}
    for name, (first, second) in ends.items():
        rate = {"rate": 10 / np.sqrt(size)} if name == "A" else {}
        model.add_revolute(name, first, second, point=points[name], axis=(0, 1, 0), **rate)
    return model


def parallelogram(angle, rate):
    v, a, d = 0.3 * np.array([np.cos(angle), 0, np.sin(angle)]), np.zeros(3), np.array([0.5, 0, 0])
    model = da.Model(gravity=(0, 0, 0))
    for name, p, q in (("crank", a, a + v), ("coupler", a + v, d + v), ("rocker", d, d + v)):
        bar(model, name, p, q)
    ends = {"A": ("ground", "crank", a), "B": ("crank", "coupler", a + v), "C": ("coupler", "rocker", d + v)}
    ends["D"] = ("ground", "rocker", d)
    for name, (first, second, point) in ends.items():
        model.add_revolute(name, first, second, point=point, axis=(0, -1, 0), **({"rate": rate} if name == "A" else {}))
    return model


RUNS = {
    "Jet": (da.Jet(), da.DOP853()),
    "MovingFrame": (da.MovingFrame(), da.DOP853()),
    "RungeKutta4": (da.Jet(), da.RungeKutta4(step=0.005)),
    "Impulse": (da.Impulse(), da.RungeKutta4(step=0.005)),
    "Variational": (da.Variational(), da.FixedStep(step=0.005)),
}


@pytest.mark.parametrize("name", RUNS)
def test_change_points_of_a_parallelogram_are_not_passed_in_silence(name):
    """The crank is at 0.5 rad and turns by 3.5 rad: it is in line with the base once, after (pi - 0.5) / 3.5 s."""
    formulation, integrator = RUNS[name]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            solution = da.simulate(parallelogram(0.5, 3.5), 1.0, formulation=formulation, integrator=integrator)
        except da.SimulationError as refusal:
            assert "singular" in str(refusal)
            return
    report = solution.report()
    assert not report.passed and [line.name for line in report.failures] == ["branch"]
    assert solution.statistics.branch_points == 1
    (text,) = [text for text in solution.warnings if "crossed" in text]
    when = float(text.split("t = ")[1].split(" s")[0])
    assert abs(when - (np.pi - 0.5) / 3.5) < 2e-2
    assert "'A'" in text and any("crossed" in str(w.message) for w in said)


def test_two_change_points_within_one_step_are_not_passed_in_silence():
    """Minimal refuses steps across one; of two in a step, a turn of the crank apart, the second hid the first."""
    integrator = da.DOP853(rtol=1e-8, atol=1e-8)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = da.simulate(
                parallelogram(0.9, 4.7), 4.0, formulation=da.Minimal(velocities="joints"), integrator=integrator
            )
    except da.SimulationError as refusal:
        assert "singular" in str(refusal)
        return
    assert [line.name for line in solution.report().failures] == ["branch"]


def test_passing_on_its_branch_is_no_failure():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = da.simulate(parallelogram(0.5, 3.5), 1.0, formulation=da.Minimal(singular="pass"))
    assert solution.statistics.branch_points == 0
    assert not [line for line in solution.report().lines if line.name == "branch"]
    assert np.abs(solution.rotation("coupler") - solution.rotation("coupler")[0]).max() < 1e-6


@pytest.mark.parametrize("name", RUNS)
def test_a_four_bar_without_change_points_passes_and_says_how_near_it_came(name):
    formulation, integrator = RUNS[name]
    solution = da.simulate(four_bar(), 0.5, formulation=formulation, integrator=integrator)
    line = solution.report()["conditioning"]
    assert line.data["branch_points"] == 0 and 0.0 < line.data["pivot"] < 1.0 and 0.0 <= line.data["time"] <= 0.5
    assert not [line for line in solution.report().failures if line.name == "branch"]


def test_fast_turns_are_no_branch_points():
    """Steps in which a body turns by more than a right angle: what the kernels note is looked at again."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("rotor", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0))
    model.add_revolute("hinge", model.ground, "rotor", point=(0, 0, 0), axis=(0, 0, 1), rate=30.0)
    solution = da.simulate(model, 1.0, integrator=da.DormandPrince(rtol=1e-2, atol=1e-2))
    assert solution.statistics.branch_points == 0
