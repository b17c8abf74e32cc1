"""Factors of stage matrices against NumPy: wrong ones would only make Newton's method slow, which nobody would notice."""

import numpy as np
import pytest

from dalembert.kernels.time.complex_factors import back_substitute, exchange_and_eliminate


@pytest.mark.nojit
@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_solutions(size, n, real):
    """Rows are exchanged within four columns and beyond them, however small they are; zeros are skipped."""
    rng = np.random.default_rng(n)
    factor, solve = (getattr(f, "py_func", f) for f in (exchange_and_eliminate, back_substitute))
    re, im = rng.standard_normal((2, n, n)) * (rng.random((2, n, n)) < 0.8) + [0.1 * np.eye(n), np.zeros((n, n))]
    re, im, (x, y) = size * re, size * im, size * rng.standard_normal((2, n))
    if real:
        im[:], y[:] = 0.0, 0.0
    expected = np.linalg.solve(re + 1j * im, x + 1j * y)
    pivots = np.zeros(n, dtype=np.int64)
    factor(re, im, pivots, real)
    solve(re, im, pivots, x, y, real)
    np.testing.assert_allclose(x + 1j * y, expected, rtol=1e-10, atol=1e-12)
    assert n < 4 or np.any(pivots != np.arange(n))
