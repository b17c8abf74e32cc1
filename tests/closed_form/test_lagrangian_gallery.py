"""Lagrangian systems against values computed elsewhere in extended precision: 1e-9 at rtol 1e-11, as asked."""

import numpy as np
import pytest
from reference_data import load

import dalembert as da
from dalembert import gallery

LIMIT = 1e-9


def run(system, times, **formulation):
    tight = da.DOP853(rtol=1e-11, atol=1e-11)
    return da.simulate(system, times[-1], integrator=tight, save_at=times, formulation=da.Jet(**formulation))


def test_oscillators():
    data = load("oscillators")
    columns = data["columns"]
    free = run(gallery.oscillator(4.0, 0.25, (1.0, -0.5, 0.3, 1.2)), data["t"])
    np.testing.assert_allclose(free.x[:, :4], columns["free"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(free.energy.total, columns["E"], rtol=0, atol=LIMIT)
    momentum = free.invariant(lambda q, v, p: p.m * (q.x * v.y - q.y * v.x))
    np.testing.assert_allclose(momentum.values, columns["p"], rtol=0, atol=LIMIT)
    circle = run(gallery.oscillator_on_circle(), data["t"])
    np.testing.assert_allclose(circle.x[:, :4], columns["circle"], rtol=0, atol=LIMIT)
    # Deviation: k - m thetadot^2, the sign of M u' = h + G^T lam; the source's multiplier is the opposite
    np.testing.assert_allclose(circle.multiplier("circle")[:, 0], -columns["circle_lambda"], rtol=0, atol=LIMIT)


def test_nonholonomic_particle():
    data = load("nonholonomic_particle")
    columns = data["columns"]
    solution = run(gallery.nonholonomic_particle(), data["t"])
    for name, key in (("x", "x"), ("y", "y"), ("z", "z"), ("x'", "vx"), ("z'", "vz")):
        np.testing.assert_allclose(solution[name], columns[key], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.multiplier("slope")[:, 0], columns["multiplier"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.energy.total, 0.945, rtol=0, atol=LIMIT)
    reaction = solution.multiplier("slope") * np.stack([-solution["y"], 0 * solution.t, np.ones_like(solution.t)], axis=1)
    np.testing.assert_allclose(solution.reaction("slope"), reaction, rtol=0, atol=1e-14)
    assert solution.report().passed


def test_particle_of_the_source():
    data = load("particle_of_the_source")
    p, columns = data["params"], data["columns"]
    solution = run(gallery.nonholonomic_particle((p["x0"], p["y0"], p["z0"]), (p["vx"], p["vy"])), data["t"])
    np.testing.assert_allclose(solution.q, columns["q"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.u, columns["v"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.multiplier("slope")[:, 0], columns["lam"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.energy.total, columns["E"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(
        solution.invariant(lambda q, v: v.x * np.sqrt(1 + q.y**2)).values, columns["c"], rtol=0, atol=LIMIT
    )


def test_chaplygin_sleigh():
    data = load("chaplygin_sleigh")
    columns = data["columns"]
    solution = run(gallery.chaplygin_sleigh(), data["t"])
    for name, key in (("x", "xP"), ("y", "yP"), ("theta", "theta"), ("theta'", "omega")):
        np.testing.assert_allclose(solution[name], columns[key], rtol=0, atol=LIMIT)
    forward = solution["x'"] * np.cos(solution["theta"]) + solution["y'"] * np.sin(solution["theta"])
    np.testing.assert_allclose(forward, columns["v"], rtol=0, atol=LIMIT)


def test_rolling_disc():
    data = load("rolling_disc")
    columns = data["columns"]
    solution = run(gallery.rolling_disc_in_coordinates(), data["t"])
    for name, key in (("yaw", "q1_yaw"), ("lean", "q2_lean"), ("spin", "q3_spin")):
        np.testing.assert_allclose(solution[name], columns[key], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.q[:, :2], columns["contact_xy"], rtol=0, atol=LIMIT)
    s, c, yaw = np.sin(solution["lean"]), np.cos(solution["lean"]), solution["yaw'"]
    rates = np.stack([solution["lean'"], solution["spin'"] + yaw * s, yaw * c], axis=1)
    np.testing.assert_allclose(rates, columns["u"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.energy.total, data["energy"], rtol=0, atol=LIMIT)


def test_steady_rolling_disc():
    """A lean and a spin that keep each other: the contact runs round a circle."""
    steady = load("rolling_disc")["steady"]
    system = gallery.rolling_disc_in_coordinates(lean=steady["lean"], u=(0.0, steady["u2"], steady["u3"]))
    solution = run(system, np.linspace(0, 5, 26))
    np.testing.assert_allclose(solution["lean"], steady["lean"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution["yaw'"], steady["yaw_rate"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution["spin'"], steady["spin_rate_q3dot"], rtol=0, atol=LIMIT)
    centre = solution.q[0, :2] - np.sign(steady["yaw_rate"]) * np.array([0.0, -steady["contact_circle_radius"]])
    radius = np.linalg.norm(solution.q[:, :2] - centre, axis=1)
    np.testing.assert_allclose(radius, steady["contact_circle_radius"], rtol=0, atol=LIMIT)


def sphere_integrals(solution):
    """Jellett's and Routh's integrals of the loaded sphere from Euler parameters and their rates, by quaternion algebra."""
    p = solution.mechanism.model.parameters
    I_1, I_3, m, R, alpha = p["J[0]"], p["J[2]"], p["m"], p["R"], p["alpha"]
    a, b, c, d = solution.q[:, 3:].T
    conjugate = np.stack([[a, b, c, d], [-b, a, d, -c], [-c, -d, a, b], [-d, c, -b, a]])
    w = 2 * np.einsum("ijt,tj->ti", conjugate, solution.u[:, 3:])[:, 1:]
    gamma = np.stack([2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d], axis=1)
    arm = R * (alpha * np.array([0, 0, 1.0]) - gamma)
    jellett = -np.sum(w * (I_1, I_1, I_3) * arm, axis=1) / R
    z, s, g_1 = gamma[:, 2], m * R**2 / I_3, I_1 / I_3
    return jellett, I_3 * w[:, 2] * np.sqrt(g_1 + s * (alpha - z) ** 2 + s * g_1 * (1 - z**2))


@pytest.mark.parametrize("invariants", [None, "energy"])
def test_routh_sphere(invariants):
    """Euler parameters as coordinates: their mass matrix is singular by itself, the constraints make it regular."""
    system = gallery.routh_sphere_in_coordinates()
    data = load("routh_sphere")
    columns = data["columns"]
    solution = run(system, data["t"], invariants=invariants)
    reference = columns["quat_wxyz"]
    same = np.sign(np.sum(solution.q[:, 3:] * reference, axis=1))[:, None]
    np.testing.assert_allclose(solution.q[:, 3:], same * reference, rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.q[:, :2], columns["xy_com"], rtol=0, atol=LIMIT)
    jellett, routh = sphere_integrals(solution)
    np.testing.assert_allclose(jellett, data["jellett"], rtol=1e-10)
    np.testing.assert_allclose(routh, data["routh"], rtol=1e-10)
    np.testing.assert_allclose(solution.energy.total, data["energy"], rtol=1e-10)


def test_routh_sphere_rocking():
    data = load("rocking_sphere")
    system = gallery.routh_sphere_in_coordinates(1.0, 1.0, 0.2, (1.0, 1.0, 0.8), 1.0, 0.0, (0.0, 0.0, 0.0))
    half = data["params"]["theta0"] / 2
    start = {"x": -0.2 * np.sin(2 * half), "e0": np.cos(half), "e1": 0.0, "e2": np.sin(half), "e3": 0.0}
    solution = run(system.replace(initial=start), data["t"])
    np.testing.assert_allclose(2 * np.arctan2(solution["e2"], solution["e0"]), data["columns"]["theta"], rtol=0, atol=LIMIT)
    np.testing.assert_allclose(solution.q[:, :3], data["columns"]["a"], rtol=0, atol=LIMIT)


def nonholonomic_cases():
    """System, times up to 2 s, and its coordinates and velocities there, as far as the reference has them: {column: values}."""
    data = load("oscillators")
    free, circle = (dict(enumerate(data["columns"][key].T)) for key in ("free", "circle"))
    yield "oscillator", gallery.oscillator(4.0, 0.25, (1.0, -0.5, 0.3, 1.2)), data["t"], free
    yield "oscillator_on_circle", gallery.oscillator_on_circle(), data["t"], circle
    data = load("nonholonomic_particle")
    given = {k: data["columns"][key] for k, key in enumerate(("x", "y", "z", "vx"))}
    yield "nonholonomic_particle", gallery.nonholonomic_particle(), data["t"], given
    data = load("particle_of_the_source")
    given = dict(enumerate([*data["columns"]["q"].T, *data["columns"]["v"].T]))
    yield "particle_of_the_source", gallery.nonholonomic_particle((0.2, -1.0, 0.5), (1.0, 0.8)), data["t"], given
    data = load("chaplygin_sleigh")
    given = {k: data["columns"][key] for k, key in ((0, "xP"), (1, "yP"), (2, "theta"), (5, "omega"))}
    yield "chaplygin_sleigh", gallery.chaplygin_sleigh(), data["t"], given


@pytest.mark.parametrize(("curve", "order"), [("symplectic-euler", 1), ("midpoint", 2), ("verlet", 2)])
@pytest.mark.parametrize("case", list(nonholonomic_cases()), ids=lambda case: case[0])
def test_variational_methods_meet_the_values_with_their_order(case, curve, order):
    name, system, t, given = case
    if curve == "symplectic-euler" and name not in ("oscillator", "chaplygin_sleigh"):
        order = 2  # L does not change along the step at constant velocity: its left end is as good as its middle
    times = t[(t > 0) & (t <= 2)]
    errors = []
    for step in (0.025, 0.0125):
        way = {"formulation": da.Variational(curve=curve), "integrator": da.FixedStep(step=step)}
        solution = da.simulate(system, times[-1], save_at=times, **way)
        errors.append(max(np.abs(solution.x[:, k] - values[(t > 0) & (t <= 2)]).max() for k, values in given.items()))
    assert errors[1] < 0.1
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), order, rtol=0, atol=0.15)


def test_symplectic_euler_iterates_of_the_source():
    """[Variational, (31)-(32)] with h = 0.25, k = m = 1: exact rationals in the first steps; E + (h/2) q . v is kept."""
    rows = np.array(load("oscillators")["symplectic_euler"])
    times = 0.25 * rows[:, 0]
    solution = da.simulate(gallery.oscillator(), times[-1], integrator=da.SymplecticEuler(step=0.25), save_at=times)
    error = np.abs(solution.x[:, :4] - rows[:, 1:5]).max(axis=1)
    assert np.all(error <= 1e-13 + 1e-15 * rows[:, 0])  # the last row is after 20,000 periods
    kept = solution.energy.total + 0.125 * np.sum(solution.q * solution.u, axis=1)
    np.testing.assert_allclose(kept, rows[:, 7], rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.energy.total, rows[:, 5], rtol=0, atol=1e-9)


def test_variational_symplectic_euler_makes_the_same_iterates():
    """Its discrete velocities are the momenta at the next node; started from them it makes the points of the source."""
    rows = [row for row in load("oscillators")["symplectic_euler"] if row[0] <= 1000]
    times = [0.25 * row[0] for row in rows]
    system = gallery.oscillator(start=(1.0, 0.0, 0.25, 1.0))  # p_0 = v_0 + h q_0
    way = {"formulation": da.Variational(curve="symplectic-euler"), "integrator": da.FixedStep(step=0.25)}
    solution = da.simulate(system, times[-1], save_at=times, **way)
    np.testing.assert_allclose(solution.q, [row[1:3] for row in rows], rtol=0, atol=1e-12)


def test_discrete_equation_of_the_source_on_the_circle():
    """[Variational, 5] with the errata: end points turn by a constant angle g h per step, where
    m (v_0 - v_1) . a = (k h / 2)(q_0 + q_1) . a holds by symmetry; any closed form or flow gives the same points."""

    def turn(q, v, h):
        a = h * (q.x * v.y - q.y * v.x) / (q.x**2 + q.y**2)
        return np.array([q.x * np.cos(a) - q.y * np.sin(a), q.x * np.sin(a) + q.y * np.cos(a)])

    ends = []
    for curve in ("flow", turn):
        way = {"formulation": da.Variational(constraint_curve=curve), "integrator": da.FixedStep(step=0.25)}
        solution = da.simulate(gallery.oscillator_on_circle(), 50.0, **way)
        angle = np.unwrap(np.arctan2(solution["y"], solution["x"]))
        np.testing.assert_allclose(np.diff(angle), angle[1] - angle[0], rtol=0, atol=1e-12)
        ends.append(solution.x[-1, :4])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11)
