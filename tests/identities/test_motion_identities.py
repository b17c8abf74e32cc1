"""Prescribed motions: f' and f'' against differences, ends and continuity."""

import numpy as np
import pytest
from kernel_calls import difference
from random_mechanisms import MOTIONS, motion

from dalembert.compilation.compile import compile
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records
from dalembert.kernels.base.views import System
from dalembert.kernels.mechanics.motion import follow as evaluate
from dalembert.model.model import Model
from dalembert.model.motions import Polynomial, SmoothStep, Table

# rounding 1.5 eps |f| / h = 3e-13 |f|, truncation h^4 / 30 f^(5) < 1e-11, for f and its derivatives of size 1 to 10
TOLERANCE = 1e-9


def kernel_motion(f):
    """(f, f', f'') as a function of time, evaluated from the packed tables of a model with a motor."""
    model = Model()
    body = model.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    hinge = model.add_revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_motor("motor", hinge, f)
    I, F = compile(model).I.tolist(), compile(model).F.tolist()
    at = records(I, I, T.FORCE_I)["motion"][0]
    return lambda t: np.array(list(evaluate(at, t, System(I, F, []))))


@pytest.mark.nojit
@pytest.mark.bounds
@pytest.mark.parametrize("kind", MOTIONS)
def test_derivatives(kind, rng):
    for _ in range(3):
        f = kernel_motion(motion(rng, kind, 0.3))
        for t in (0.02, 0.75, 1.37, -0.3, 1.9):  # knots of the table: multiples of 0.5; ends of the step: -0.1, 1.4
            slopes = difference(lambda s, t=t, f=f: f(t + s)[:2])
            assert np.abs(slopes - f(t)[1:]).max() <= TOLERANCE


def test_polynomial_against_numpy(rng):
    c = rng.standard_normal(6)
    f, p = kernel_motion(Polynomial(tuple(c))), np.polynomial.Polynomial(c)
    for t in (-1.5, 0.0, 0.7, 2.0):
        # Horner with 6 terms: a dozen roundings of terms up to 2^5
        assert np.allclose(f(t), [p(t), p.deriv()(t), p.deriv(2)(t)], rtol=1e-13, atol=1e-13)


def test_smooth_step_ends():
    f = kernel_motion(SmoothStep(1.0, 3.0, 0.5, 1.5))
    assert f(0.0).tolist() == f(0.5).tolist() == [1.0, 0.0, 0.0]
    assert f(1.5).tolist() == f(9.0).tolist() == [3.0, 0.0, 0.0]
    assert f(1.0)[0] == pytest.approx(2.0, abs=1e-15) and f(1.0)[2] == 0.0  # halfway by symmetry


def test_table_is_the_natural_spline_and_goes_on_with_its_end_slope(rng):
    from scipy.interpolate import CubicSpline

    times, values = np.array([0.0, 0.4, 1.0, 1.3, 2.0]), rng.standard_normal(5)
    f, spline = kernel_motion(Table(tuple(times), tuple(values))), CubicSpline(times, values, bc_type="natural")
    for t in (*times, 0.2, 0.99, 1.7):
        # one cubic evaluated in another order: a few roundings
        assert np.allclose(f(t), [spline(t, nu) for nu in range(3)], rtol=1e-12, atol=1e-12)
    for end, t in ((0.0, -0.7), (2.0, 2.9)):
        assert np.allclose(f(t), [f(end)[0] + f(end)[1] * (t - end), f(end)[1], 0.0], rtol=1e-14, atol=1e-14)
