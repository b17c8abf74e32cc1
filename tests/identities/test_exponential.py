"""The exponential on S^3 and SO(3): its derivative, the inverse of that, and how it changes, for small and large turns."""

import numpy as np
import pytest

from dalembert.kernels.base.algebra import rotation_matrix
from dalembert.kernels.coordinates.exponential import dexp, dexp_inverse, dexp_inverse_change, exponential4, multiply4, turned

# below and above both limits at which series take over (|x| of 1e-3 and 0.1), and close to a whole turn
SIZES = [0.0, 1e-9, 9e-4, 1.1e-3, 0.09, 0.11, 1.0, 3.0, 6.0]
each_size = pytest.mark.parametrize("size", SIZES)


def vectors(size):
    rng = np.random.default_rng(3)
    x = rng.normal(size=3)
    return size * x / np.linalg.norm(x), rng.normal(size=3), rng.normal(size=3)


def matrix(x):
    return np.reshape(rotation_matrix(exponential4(tuple(x))), (3, 3))


@each_size
def test_unit_length_and_rotation(size):
    x, y, _ = vectors(size)
    theta = exponential4(tuple(x))
    assert abs(np.linalg.norm(theta) - 1) <= 3e-16
    np.testing.assert_allclose(turned(tuple(x), tuple(y)), matrix(x) @ y, atol=4e-15)
    half = exponential4(tuple(x / 2))
    np.testing.assert_allclose(multiply4(half, half), theta, atol=4e-16)
    np.testing.assert_allclose(
        matrix(x) @ matrix(y), np.reshape(rotation_matrix(multiply4(theta, exponential4(tuple(y)))), (3, 3)), atol=4e-15
    )


@each_size
def test_derivative(size):
    """exp(-x) d exp(x) = (dexp_{-x} d)^, by four-point differences."""
    x, d, _ = vectors(size)
    e = 1e-3
    sides = [matrix(x + k * e * d) for k in (-2, -1, 1, 2)]
    skew = matrix(x).T @ (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * e)
    np.testing.assert_allclose(dexp(tuple(-x), tuple(d)), [skew[2, 1], skew[0, 2], skew[1, 0]], atol=1e-11)


@each_size
def test_inverse_and_its_change(size):
    x, y, d = vectors(size)
    np.testing.assert_allclose(dexp_inverse(tuple(x), dexp(tuple(x), tuple(y))), y, atol=1e-13)
    e = 1e-3
    sides = [np.array(dexp_inverse(tuple(x + k * e * d), tuple(y))) for k in (-2, -1, 1, 2)]
    found = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * e)
    np.testing.assert_allclose(dexp_inverse_change(tuple(x), tuple(y), tuple(d)), found, rtol=1e-8, atol=1e-9)


@each_size
def test_turning_the_axes_carries_one_derivative_into_the_other(size):
    x, y, _ = vectors(size)
    np.testing.assert_allclose(turned(tuple(x), dexp(tuple(-x), tuple(y))), dexp(tuple(x), tuple(y)), atol=4e-15)
