"""Lagrangian systems against values computed elsewhere in extended precision: 1e-9 at rtol 1e-11, as asked."""

import json
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

DATA = json.loads((Path(__file__).parents[1] / "data" / "lagrangian.json").read_text(encoding="utf-8"))
LIMIT = 1e-9


def run(system, times, **formulation):
    tight = da.DOP853(rtol=1e-11, atol=1e-11)
    return da.simulate(system, times[-1], integrator=tight, save_at=times, formulation=da.Jet(**formulation))


def column(name, key):
    return np.array([row[key] for row in DATA[name]["rows"]])


def test_oscillators():
    data = DATA["oscillator"]
    free = run(gallery.oscillator(4.0, 0.25, (1.0, -0.5, 0.3, 1.2)), data["t"])
    np.testing.assert_allclose(free.x[:, :4], data["free"], atol=LIMIT)
    circle = run(gallery.oscillator_on_circle(), data["t"])
    np.testing.assert_allclose(circle.x[:, :4], data["circle"], atol=LIMIT)
    np.testing.assert_allclose(circle.multiplier("circle"), 2.0 - 1.5**2, atol=LIMIT)  # k - m thetadot^2 on the unit circle


def test_nonholonomic_particle():
    solution = run(gallery.nonholonomic_particle(), list(column("nonholonomic_particle", "t")))
    for name in ("x", "y", "z"):
        np.testing.assert_allclose(solution[name], column("nonholonomic_particle", name), atol=LIMIT)
    np.testing.assert_allclose(solution["x'"], column("nonholonomic_particle", "vx"), atol=LIMIT)
    np.testing.assert_allclose(solution["z'"], column("nonholonomic_particle", "vz"), atol=LIMIT)
    np.testing.assert_allclose(solution.multiplier("slope")[:, 0], column("nonholonomic_particle", "multiplier"), atol=LIMIT)
    reaction = solution.multiplier("slope") * np.stack([-solution["y"], 0 * solution.t, np.ones_like(solution.t)], axis=1)
    np.testing.assert_allclose(solution.reaction("slope"), reaction, atol=1e-14)
    assert solution.report().passed


def test_particle_of_the_source():
    p, data = DATA["particle_of_the_source"]["params"], DATA["particle_of_the_source"]
    system = gallery.nonholonomic_particle((p["x0"], p["y0"], p["z0"]), (p["vx"], p["vy"]))
    np.testing.assert_allclose(run(system, data["t"]).q, data["q"], atol=LIMIT)


def test_chaplygin_sleigh():
    solution = run(gallery.chaplygin_sleigh(), list(column("chaplygin_sleigh", "t")))
    for name, key in (("x", "xP"), ("y", "yP"), ("theta", "theta"), ("theta'", "omega")):
        np.testing.assert_allclose(solution[name], column("chaplygin_sleigh", key), atol=LIMIT)
    forward = solution["x'"] * np.cos(solution["theta"]) + solution["y'"] * np.sin(solution["theta"])
    np.testing.assert_allclose(forward, column("chaplygin_sleigh", "v"), atol=LIMIT)


def test_rolling_disc():
    solution = run(gallery.rolling_disc_in_coordinates(), list(column("rolling_disc", "t")))
    for name, key in (("yaw", "q1_yaw"), ("lean", "q2_lean"), ("spin", "q3_spin")):
        np.testing.assert_allclose(solution[name], column("rolling_disc", key), atol=LIMIT)
    np.testing.assert_allclose(solution.q[:, :2], column("rolling_disc", "contact_xy"), atol=LIMIT)
    np.testing.assert_allclose(solution.energy.total, DATA["rolling_disc"]["energy"], atol=LIMIT)


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
    solution = run(system, list(column("routh_sphere", "t")), invariants=invariants)
    reference = column("routh_sphere", "quat_wxyz")
    same = np.sign(np.sum(solution.q[:, 3:] * reference, axis=1))[:, None]
    np.testing.assert_allclose(solution.q[:, 3:], same * reference, atol=LIMIT)
    np.testing.assert_allclose(solution.q[:, :2], column("routh_sphere", "xy_com"), atol=LIMIT)
    jellett, routh = sphere_integrals(solution)
    np.testing.assert_allclose(jellett, DATA["routh_sphere"]["jellett"], rtol=1e-10)
    np.testing.assert_allclose(routh, DATA["routh_sphere"]["routh"], rtol=1e-10)
    np.testing.assert_allclose(solution.energy.total, DATA["routh_sphere"]["energy"], rtol=1e-10)


def test_routh_sphere_rocking():
    data = DATA["routh_rocking"]
    system = gallery.routh_sphere_in_coordinates(1.0, 1.0, 0.2, (1.0, 1.0, 0.8), 1.0, 0.0, (0.0, 0.0, 0.0))
    half = data["params"]["theta0"] / 2
    start = {"x": -0.2 * np.sin(2 * half), "e0": np.cos(half), "e1": 0.0, "e2": np.sin(half), "e3": 0.0}
    solution = run(system.replace(initial=start), data["t"])
    np.testing.assert_allclose(2 * np.arctan2(solution["e2"], solution["e0"]), data["theta"], atol=LIMIT)
    np.testing.assert_allclose(solution.q[:, :3], data["a"], atol=LIMIT)


def test_symplectic_euler_iterates_of_the_source():
    """[Variational, (31)-(32)] with h = 0.25, k = m = 1: exact rationals in the first steps; E + (h/2) q . v is kept."""
    rows = [row for row in DATA["oscillator"]["symplectic_euler"] if row[0] <= 1000]
    times = [0.25 * row[0] for row in rows]
    solution = da.simulate(gallery.oscillator(), times[-1], integrator=da.SymplecticEuler(step=0.25), save_at=times)
    np.testing.assert_allclose(solution.x[:, :4], [row[1:5] for row in rows], atol=1e-13)
    kept = solution.energy.total + 0.125 * np.sum(solution.q * solution.u, axis=1)
    np.testing.assert_allclose(kept, 1.0, atol=1e-13)


def test_variational_symplectic_euler_makes_the_same_iterates():
    """Its discrete velocities are the momenta at the next node; started from them it makes the points of the source."""
    rows = [row for row in DATA["oscillator"]["symplectic_euler"] if row[0] <= 1000]
    times = [0.25 * row[0] for row in rows]
    system = gallery.oscillator(start=(1.0, 0.0, 0.25, 1.0))  # p_0 = v_0 + h q_0
    way = {"formulation": da.Variational(curve="symplectic-euler"), "integrator": da.FixedStep(step=0.25)}
    solution = da.simulate(system, times[-1], save_at=times, **way)
    np.testing.assert_allclose(solution.q, [row[1:3] for row in rows], atol=1e-12)


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
        np.testing.assert_allclose(np.diff(angle), angle[1] - angle[0], atol=1e-12)
        ends.append(solution.x[-1, :4])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-11)
