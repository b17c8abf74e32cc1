"""The exponential on S^3 and SO(3): its derivative, the inverse of that, and how it changes, for small and large turns."""

import numpy as np
import pytest

from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.coordinates import exponential as kernels
from dalembert.kernels.coordinates.exponential import exponential
from dalembert.kernels.coordinates.kinematics import rotation

# below and above both limits at which series take over (|x| of 1e-3 and 0.1), and close to a whole turn
SIZES = [0.0, 1e-9, 9e-4, 1.1e-3, 0.09, 0.11, 1.0, 3.0, 6.0]
each_size = pytest.mark.parametrize("size", SIZES)


def vectors(size):
    rng = np.random.default_rng(3)
    x = rng.normal(size=3)
    return size * x / np.linalg.norm(x), rng.normal(size=3), rng.normal(size=3)


def of_vectors(function):
    """The same for arrays."""
    return lambda *given: np.array([*function(*(Vec3(*v) for v in given))])


dexp, dexp_inverse, dexp_inverse_change, turned = map(
    of_vectors, (kernels.dexp, kernels.dexp_inverse, kernels.dexp_inverse_change, kernels.turned)
)


def matrix(x):
    return np.reshape([*rotation(exponential(Vec3(*x)))], (3, 3))


@each_size
def test_unit_length_and_rotation(size):
    x, y, _ = vectors(size)
    theta, half = exponential(Vec3(*x)), exponential(Vec3(*(x / 2)))
    assert abs(np.linalg.norm([*theta]) - 1) <= 3e-16
    np.testing.assert_allclose(turned(x, y), matrix(x) @ y, rtol=0, atol=4e-15)
    np.testing.assert_allclose([*(half @ half)], [*theta], rtol=0, atol=4e-16)
    both = rotation(theta @ exponential(Vec3(*y)))
    np.testing.assert_allclose(matrix(x) @ matrix(y), np.reshape([*both], (3, 3)), rtol=0, atol=4e-15)


@each_size
def test_derivative(size):
    """exp(-x) d exp(x) = (dexp_{-x} d)^, by four-point differences."""
    x, d, _ = vectors(size)
    e = 1e-3
    sides = [matrix(x + k * e * d) for k in (-2, -1, 1, 2)]
    skew = matrix(x).T @ (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * e)
    np.testing.assert_allclose(dexp(-x, d), [skew[2, 1], skew[0, 2], skew[1, 0]], rtol=0, atol=1e-11)


@each_size
def test_inverse_and_its_change(size):
    x, y, d = vectors(size)
    np.testing.assert_allclose(dexp_inverse(x, dexp(x, y)), y, rtol=0, atol=1e-13)
    e = 1e-3
    sides = [dexp_inverse(x + k * e * d, y) for k in (-2, -1, 1, 2)]
    found = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * e)
    np.testing.assert_allclose(dexp_inverse_change(x, y, d), found, rtol=1e-8, atol=1e-9)


@each_size
def test_turning_the_axes_carries_one_derivative_into_the_other(size):
    x, y, _ = vectors(size)
    np.testing.assert_allclose(turned(x, dexp(-x, y)), dexp(x, y), rtol=0, atol=4e-15)
