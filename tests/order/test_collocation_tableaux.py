"""Coefficients of collocation methods: closed forms, simplifying conditions, estimators, interpolant, spectrum."""

import numpy as np
import pytest

from dalembert.integrators.collocation_tableau import gauss_tableau, radau_tableau, spectrum
from dalembert.kernels.time.watch import interpolate

ROUNDING = 4e-16  # sums of at most 8 rounded terms below 1
every_method = pytest.mark.parametrize("s", range(1, 9))


def parts(s):
    tableau = gauss_tableau(s)
    return tableau.a[1 : s + 1, 1 : s + 1], tableau.a[s + 1, 1 : s + 1], tableau.c[1 : s + 1]


def test_closed_forms():
    """[HairerLubichWanner2006, II.1.3, (1.16) and Table 1.1]"""
    r, w = np.sqrt(3.0), np.sqrt(15.0)
    known = {
        1: ([[1 / 2]], [1.0], [1 / 2]),
        2: ([[1 / 4, 1 / 4 - r / 6], [1 / 4 + r / 6, 1 / 4]], [1 / 2, 1 / 2], [1 / 2 - r / 6, 1 / 2 + r / 6]),
        3: (
            [
                [5 / 36, 2 / 9 - w / 15, 5 / 36 - w / 30],
                [5 / 36 + w / 24, 2 / 9, 5 / 36 - w / 24],
                [5 / 36 + w / 30, 2 / 9 + w / 15, 5 / 36],
            ],
            [5 / 18, 4 / 9, 5 / 18],
            [1 / 2 - w / 10, 1 / 2, 1 / 2 + w / 10],
        ),
    }
    for s, expected in known.items():
        for ours, closed in zip(parts(s), expected, strict=True):
            np.testing.assert_allclose(ours, closed, rtol=0, atol=2e-16)


@every_method
def test_simplifying_conditions(s):
    """B(2s), C(s), D(s) [HairerWanner1996, IV.5], which give order 2s."""
    a, b, c = parts(s)
    assert gauss_tableau(s).order == 2 * s
    for k in range(1, 2 * s + 1):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=ROUNDING)
    for k in range(1, s + 1):
        np.testing.assert_allclose(a @ c ** (k - 1), c**k / k, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose((b * c ** (k - 1)) @ a, b * (1 - c**k) / k, rtol=0, atol=ROUNDING)
    next_one = abs(b @ c ** (2 * s) - 1 / (2 * s + 1))
    assert next_one > 1e-11  # and not B(2s + 1)


@every_method
def test_symplectic_and_symmetric(s):
    """b_i a_ij + b_j a_ji = b_i b_j keeps quadratic invariants; a_(s+1-i,s+1-j) = b_j - a_ij is symmetry."""
    a, b, c = parts(s)
    np.testing.assert_allclose(b[:, None] * a + (b[:, None] * a).T, np.outer(b, b), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(a[::-1, ::-1], b - a, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(c[::-1], 1 - c, rtol=0, atol=ROUNDING)


def linear_rates(s, z):
    """Rates of h x' = z x over a step from x = 1 at the old point, the stages and the new point."""
    a, b, _ = parts(s)
    k = z * np.linalg.solve(np.eye(s) - z * a, np.ones(s))
    return np.concatenate([[z], k, [z * (1 + b @ k)]])


@pytest.mark.parametrize("s", range(1, 5))  # more stages err by less than rounding where the leading term dominates
def test_error_estimate_is_the_error_of_the_linear_problem(s):
    z = {1: 0.02, 2: 0.1, 3: 0.3, 4: 0.9}[s]
    rates = linear_rates(s, z)
    one, two = np.abs(gauss_tableau(s).e @ rates)
    error = abs(1 + gauss_tableau(s).a[s + 1] @ rates - np.exp(z))
    assert one * (one / two) ** s == pytest.approx(error, rel=0.5)


@every_method
def test_interpolant_integrates_powers(s):
    """The dense output of x' = t^k is t^(k+1) / (k+1) for k up to s + 1, at any fraction of the step."""
    tableau = gauss_tableau(s)
    for k in range(s + 2):
        rates = tableau.c**k if k else np.ones_like(tableau.c)
        end = 1 / (k + 1)
        dense = np.zeros((len(tableau.d) + 4, 1))
        bend = rates[0] - end
        dense[:3, 0] = end, bend, end - rates[-1] - bend
        if s > 1:
            dense[3:-1, 0] = tableau.d @ rates
        for theta in (0.1, 0.37, 0.5, 0.92):
            out = np.zeros(1)
            interpolate(theta, np.zeros(1), dense, 2 + len(tableau.d), out)
            assert out[0] == pytest.approx(theta ** (k + 1) / (k + 1), abs=1e-13), (k, theta)


@every_method
def test_spectrum_rebuilds_the_coefficients(s):
    """cond(T) is 8e3 for 8 stages, so 2.2e-16 becomes 2e-12; Newton's method needs no more than a few digits."""
    table = spectrum(gauss_tableau(s))
    assert table.shape == (2 * s + 1, (s + 1) // 2)
    values, vectors, inverse = table[0], table[1 : s + 1], table[s + 1 :]
    np.testing.assert_allclose(((vectors * values) @ inverse.T).real, parts(s)[0], rtol=0, atol=2e-12)
    assert np.all(values.real > 0)


every_radau = pytest.mark.parametrize("s", range(1, 6))


def radau_parts(s):
    tableau = radau_tableau(s)
    return tableau.a[1 : s + 1, 1 : s + 1], tableau.a[s + 1, 1 : s + 1], tableau.c[1 : s + 1]


def test_radau_in_closed_form():
    """[HairerWanner1996, IV.5, Tables 5.5 and 5.6]"""
    r = np.sqrt(6.0)
    known = {
        2: ([[5 / 12, -1 / 12], [3 / 4, 1 / 4]], [1 / 3, 1.0]),
        3: (
            [
                [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
                [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
                [(16 - r) / 36, (16 + r) / 36, 1 / 9],
            ],
            [(4 - r) / 10, (4 + r) / 10, 1.0],
        ),
    }
    for s, (a, c) in known.items():
        np.testing.assert_allclose(radau_parts(s)[0], a, rtol=0, atol=2e-16)
        np.testing.assert_allclose(radau_parts(s)[2], c, rtol=0, atol=2e-16)


@every_radau
def test_radau_simplifying_conditions(s):
    """B(2s - 1), C(s), D(s - 1), which give order 2s - 1; stiffly accurate: the last stage is the new point."""
    a, b, c = radau_parts(s)
    assert radau_tableau(s).order == 2 * s - 1
    np.testing.assert_array_equal(a[-1], b)
    assert c[-1] == 1.0
    for k in range(1, 2 * s):
        assert b @ c ** (k - 1) == pytest.approx(1 / k, abs=ROUNDING)
    for k in range(1, s + 1):
        np.testing.assert_allclose(a @ c ** (k - 1), c**k / k, rtol=0, atol=ROUNDING)
    for k in range(1, s):
        np.testing.assert_allclose((b * c ** (k - 1)) @ a, b * (1 - c**k) / k, rtol=0, atol=ROUNDING)


@every_radau
def test_radau_is_l_stable(s):
    """R(z) = b-row of the linear problem: |R| <= 1 on the imaginary axis, R(-inf) = 0, real parts of all poles positive."""
    a, b, _ = radau_parts(s)

    def grow(z):
        return 1 + z * b @ np.linalg.solve(np.eye(s) - z * a, np.ones(s))

    assert max(abs(grow(1j * w)) for w in np.geomspace(1e-2, 1e4, 200)) <= 1.0 + 1e-13
    assert abs(grow(-1e8)) <= 1e-6
    assert np.all(np.linalg.eigvals(a).real > 0)
    table = spectrum(radau_tableau(s))
    np.testing.assert_allclose(((table[1 : s + 1] * table[0]) @ table[s + 1 :].T).real, a, rtol=0, atol=1e-13)


@every_radau
def test_radau_estimate_and_interpolant(s):
    """The estimate vanishes for rates of degree s - 1 and is gamma times what it misses of t^s; the interpolant, to
    which the rate at the start of the step is known, integrates powers up to s."""
    tableau = radau_tableau(s)
    for k in range(s):
        rates = tableau.c**k if k else np.ones_like(tableau.c)
        assert abs(tableau.e[0] @ rates) <= 1e-14
    gamma = tableau.e[0, 0]
    assert abs(tableau.e[0] @ tableau.c**s) == pytest.approx(gamma * np.prod(tableau.c[1 : s + 1]), rel=1e-12)
    for k in range(s + (s > 1)):
        rates = tableau.c**k if k else np.ones_like(tableau.c)
        dense = np.zeros((len(tableau.d) + 4, 1))
        end, bend = 1 / (k + 1), rates[0] - 1 / (k + 1)
        dense[:3, 0] = end, bend, end - rates[-1] - bend
        if s > 2:
            dense[3:-1, 0] = tableau.d[:, : s + 2] @ rates + tableau.d[:, 2 * s + 2] * rates[0]
        for theta in (0.1, 0.37, 0.92):
            out = np.zeros(1)
            interpolate(theta, np.zeros(1), dense, 2 + len(tableau.d), out)
            assert out[0] == pytest.approx(theta ** (k + 1) / (k + 1), abs=1e-13), (k, theta)
