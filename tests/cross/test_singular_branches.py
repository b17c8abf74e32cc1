"""Singular configurations along a run: branch points are noticed in every formulation, and only those."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

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


@pytest.mark.parametrize("driven", [True, False])
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=["jet", "frame", "minimal"])
def test_long_steps_are_not_blind(formulation, driven):
    """Steps of 0.6 rad, none of which begins or ends near the change point at pi: no row is nearly dependent there."""
    model = parallelogram(0.5, 2 * np.pi)
    if driven:
        model.add_driver("turn", "A", da.Polynomial((0.0, 2 * np.pi)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            solution = da.simulate(model, 0.9, formulation=formulation)
        except da.SimulationError as problem:
            assert problem.time == pytest.approx((np.pi - 0.5) / (2 * np.pi), abs=1e-4)
        else:
            assert solution.statistics.branch_points == 1 and not solution.report().passed
            assert solution.statistics.accepted < 20  # else it tests nothing


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


def scissors(stages, angle):
    """Bars of 1 m and 1 kg that cross in their middles and stand on each other; the lower right end slides along x."""
    w, h = np.cos(angle), np.sin(angle)
    model = da.Model(gravity=(0, 0, -9.81))
    for k in range(stages):
        for name, z, end in (("rising", k * h, (k + 1) * h), ("falling", (k + 1) * h, k * h)):
            bar(model, f"{name} {k}", np.array([0, 0, z]), np.array([w, 0, end]))
        pairs = [("M", f"rising {k}", f"falling {k}", (w / 2, 0, (k + 0.5) * h))]
        if k > 0:
            pairs.append(("L", f"falling {k - 1}", f"rising {k}", (0, 0, k * h)))
            pairs.append(("R", f"rising {k - 1}", f"falling {k}", (w, 0, k * h)))
        for name, first, second, point in pairs:
            model.add_revolute(f"{name}{k}", first, second, point=point, axis=(0, 1, 0))
    model.add_body("shoe", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), position=(w, 0, 0))
    model.add_revolute("G", "ground", "rising 0", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("T", "shoe", "falling 0", point=(w, 0, 0), axis=(0, 1, 0))
    model.add_prismatic("S", "ground", "shoe", point=(w, 0, 0), axis=(1, 0, 0))
    return model


def test_what_is_said_of_passages_does_not_lose_the_run():
    """Redundant rows that carry the motion where it ends are dependent where it began, when the passage is looked at again."""
    stages, start, t_end = 4, 0.6, 1.0
    k = np.arange(stages) + 0.5

    def fall(t, state):
        """T = A(q) q'^2 / 2 of all bars and the shoe, V = sum of m g z."""
        q, rate = state
        A = 2 * np.sum(1 / 12 + (np.sin(q) / 2) ** 2 + (k * np.cos(q)) ** 2) + 0.5 * np.sin(q) ** 2
        slope = np.sin(2 * q) * (2 * np.sum(0.25 - k**2) + 0.5)
        return rate, -(slope * rate**2 / 2 + 2 * 9.81 * np.sum(k) * np.cos(q)) / A

    reference = solve_ivp(fall, (0, t_end), (start, 0), rtol=1e-12, atol=1e-12, method="DOP853", dense_output=True).sol
    with pytest.warns(RuntimeWarning, match="singular configuration was passed at t = 0.55868"):
        solution = da.simulate(scissors(stages, start), t_end, formulation=da.Minimal(singular="pass"))
    assert solution.report().passed
    x = np.cos(reference(solution.t)[0])
    np.testing.assert_allclose(solution.position("shoe")[:, 0], x, rtol=0, atol=1e-8)  # tolerance 1e-9, ten steps or so


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()])
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3)])
def test_a_small_parallelogram_keeps_its_branch_or_says_so(axis, formulation):
    """0.1 mm: MovingFrame changed its branch at the second change point, and no line spoke of it."""
    n = np.array(axis) / np.linalg.norm(axis)
    e = np.cross(n, (0.1, 0.7, 0.3)) / np.linalg.norm(np.cross(n, (0.1, 0.7, 0.3)))
    A, B, C, D = (1e-4 * (x * e + y * np.cross(n, e)) for x, y in ((0, 0), (0, 1), (2, 1), (2, 0)))
    model = da.Model(gravity=(0, 0, 0))
    for name, ends in (("crank", (A, B)), ("rod", (B, C)), ("rocker", (C, D))):
        model.add_body(name, mass=1.0, inertia=1e-9 * np.ones(3), position=np.add(*ends) / 2)
    for name, pair, point in (("A", ("ground", "crank"), A), ("B", ("crank", "rod"), B), ("C", ("rod", "rocker"), C)):
        model.add_revolute(name, *pair, point=point, axis=n)
    model.add_revolute("D", "ground", "rocker", point=D, axis=n)
    model.add_driver("drive", "A", da.Polynomial((0.0, 2 * np.pi)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run = da.simulate(model, 0.9, formulation=formulation)
        except da.SimulationError as stopped:  # which steps come so near to the point that they stop there, rounding rules
            assert "the configuration is singular" in str(stopped) and abs((4 * stopped.time) % 2 - 1) < 1e-4
            return
    if abs(run.coordinate("A")[-1] - run.coordinate("D")[-1]) > 1e-6:
        assert run.report()["branch"].verdict in ("FAIL", "WARN")
