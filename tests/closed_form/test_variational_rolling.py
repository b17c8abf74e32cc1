"""Variational steps of rolling bodies against independent values, with their order; steady rolling as the source has it."""

import numpy as np
import pytest
from reference_data import largest, load
from test_rolling import same_rotation

import dalembert as da
from dalembert import gallery


def run(model, times, step, composition=1, curve="midpoint"):
    integrator = da.FixedStep(step=step, composition=composition)
    return da.simulate(model, float(times[-1]), formulation=da.Variational(curve=curve), integrator=integrator, save_at=times)


def routh(step, **options):
    data = load("routh_sphere")
    solution = run(gallery.routh_sphere(), data["t"], step, **options)
    return same_rotation(solution.quaternion("sphere"), data["columns"]["quat_wxyz"])


def disc(step, **options):
    data = load("rolling_disc")
    solution = run(gallery.rolling_disc(), data["t"], step, **options)
    axis = solution.rotation("disc")[:, :, 1]
    lean_z = np.cross(np.cross(axis, (0, 0, 1)), axis)
    contact = solution.position("disc") - 0.5 * lean_z / np.linalg.norm(lean_z, axis=1)[:, None]
    lean = largest(np.arcsin(axis[:, 2]) - data["columns"]["q2_lean"])
    return max(lean, largest(contact[:, :2] - data["columns"]["contact_xy"]))


def rocking(step, **options):
    data = load("rocking_sphere")
    solution = run(gallery.rocking_sphere(), data["t"], step, **options)
    angle = data["columns"]["theta"]
    expected = np.column_stack([np.cos(angle / 2), 0 * angle, np.sin(angle / 2), 0 * angle])
    return same_rotation(solution.quaternion("sphere"), expected)


PROBLEMS = {"routh": (routh, 1e-3), "disc": (disc, 0.005), "rocking": (rocking, 0.1)}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("options", "order"), [({}, 2), ({"curve": "symplectic-euler"}, 1), ({"composition": 5}, 4)])
def test_reference_values_are_met_with_the_order(problem, options, order):
    error, step = PROBLEMS[problem]
    coarse, fine = error(step, **options), error(step / 2, **options)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.12)
    assert fine < {1: 0.3, 2: 0.03, 4: 1e-5}[order]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_reference_values_are_met_by_a_composition_of_order_six(problem):
    error, step = PROBLEMS[problem]
    assert error(step / 2, composition=7) <= 1e-8


def product(p, q):
    w = p[0] * q[0] - p[1:] @ q[1:]
    return np.array([w, *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def turned(q, x):
    return product(product(q, np.array([0, *x])), q * (1, -1, -1, -1))[1:]


def discrete_equations(q_0, q_1, q_2, a_0, a_1, a_2, h):
    """X_i . [D2 L_h(q_0, q_1) + D1 L_h(q_1, q_2)] of [Variational, 7.2] for alpha = 0, m = I = g = 1, by complex steps.

    L of (65) at the left end of straight lines in R^7; X_i : rolling with a unit of w_i.
    """

    def action(q, a, q_next, a_next):
        rate = product(q * (1, -1, -1, -1), (q_next - q) / h) / (q @ q)
        v = (a_next - a) / h
        return h * (2 * rate[1:] @ rate[1:] + 0.5 * v @ v - a[2])

    residual = []
    for i in range(3):
        unit = np.eye(3)[i]
        d_q, d_a = product(q_1, np.array([0, *(unit / 2)])), np.cross(turned(q_1, unit), (0, 0, 1))
        e = 1e-30j
        changed = action(q_0, a_0, q_1 + e * d_q, a_1 + e * d_a) + action(q_1 + e * d_q, a_1 + e * d_a, q_2, a_2)
        residual.append(changed.imag / 1e-30)
    return np.array(residual)


def test_steady_rolling_solves_the_discrete_equations_of_the_source():
    """Turning by the same angle in every step, along the constraint curve (72): its drift is none of the method."""
    h, rate = 0.05, 0.5
    q = [np.array([np.cos(k * h * rate), 0, np.sin(k * h * rate), 0]) for k in range(3)]
    a = [np.array([2 * rate * k * h, 0, 1]) for k in range(3)]
    assert largest(discrete_equations(*q, *a, h)) <= 2e-15
    faster = [np.array([np.cos(x), 0, np.sin(x), 0]) for x in (0, h * rate, 2.01 * h * rate)]
    assert largest(discrete_equations(*faster, *a, h)) > 1e-3  # the equations do tell
