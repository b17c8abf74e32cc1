"""Identities that the coefficients of a Runge-Kutta method of its order satisfy [HairerNorsettWanner1993, II]."""

import numpy as np
import pytest

from dalembert.integrators import INTEGRATORS

# DOP853 is tabulated to 20 digits; sums of 16 terms of size up to 43 then hold to a few hundred ulp.
ROUNDING = 1e-13
TABLEAUX = {name: cls(step=1.0).tableau for name, cls in INTEGRATORS.items() if cls.loop == "runge_kutta"}
every_tableau = pytest.mark.parametrize("tableau", TABLEAUX.values(), ids=list(TABLEAUX))
ORDERS = {"euler": 1, "midpoint": 2, "rk4": 4, "dormand-prince": 5, "dop853": 8}


def test_registered_orders():
    assert {name: tableau.order for name, tableau in TABLEAUX.items()} == ORDERS


@every_tableau
def test_explicit_with_consistent_nodes(tableau):
    s = tableau.stages
    np.testing.assert_array_equal(np.triu(tableau.a[: s + 1, : s + 1]), 0.0)
    np.testing.assert_allclose(tableau.a.sum(axis=1), tableau.c, rtol=0, atol=ROUNDING)
    assert tableau.c[0] == 0.0
    assert tableau.c[s] == pytest.approx(1.0, abs=ROUNDING)


@every_tableau
def test_quadrature_conditions(tableau):
    """sum b_i c_i^k = 1 / (k + 1) up to the order, and not beyond."""
    s = tableau.stages
    b, c = tableau.a[s, :s], tableau.c[:s]  # first same as last
    for k in range(tableau.order):
        assert b @ c**k == pytest.approx(1 / (k + 1), abs=ROUNDING), k
    assert abs(b @ c**tableau.order - 1 / (tableau.order + 1)) > 1e-6


@every_tableau
def test_tree_conditions(tableau):
    """Conditions that are not quadrature: b A c^k, b c A c and b A A c."""
    s = tableau.stages
    a, b, c = tableau.a[:s, :s], tableau.a[s, :s], tableau.c[:s]
    for k in range(1, tableau.order - 1):
        assert b @ a @ c**k == pytest.approx(1 / ((k + 1) * (k + 2)), abs=ROUNDING)
    if tableau.order >= 4:
        assert (b * c) @ a @ c == pytest.approx(1 / 8, abs=ROUNDING)
        assert b @ a @ a @ c == pytest.approx(1 / 24, abs=ROUNDING)


@pytest.mark.parametrize(("name", "orders"), [("dormand-prince", [4]), ("dop853", [5, 3])])
def test_embedded_methods(name, orders):
    """b - e integrates to the embedded method's order; e is not zero at the next power."""
    tableau = TABLEAUX[name]
    c = tableau.c[: tableau.stages + 1]
    for e, order in zip(tableau.e, orders, strict=True):
        for k in range(order):
            assert e @ c**k == pytest.approx(0.0, abs=ROUNDING), k
        assert abs(e @ c**order) > 1e-6


@pytest.mark.parametrize(("name", "order"), [("dormand-prince", 4), ("dop853", 7)])
def test_interpolant_integrates_powers(name, order):
    """The dense output of x' = t^k is t^(k+1) / (k+1) for k below its order, at any fraction of the step."""
    from dalembert.kernels.time.watch import interpolate

    tableau = TABLEAUX[name]
    s = tableau.stages
    for k in range(order):
        rates = tableau.c**k if k else np.ones_like(tableau.c)
        end = 1 / (k + 1)
        dense = np.zeros((8, 1))
        bend = rates[0] - end
        dense[:3, 0] = end, bend, end - rates[s] - bend
        dense[3 : 3 + len(tableau.d), 0] = tableau.d @ rates[: tableau.d.shape[1]]
        for theta in (0.1, 0.37, 0.5, 0.92):
            out = np.zeros(1)
            interpolate(theta, np.zeros(1), dense, 2 + len(tableau.d), out)
            assert out[0] == pytest.approx(theta ** (k + 1) / (k + 1), abs=ROUNDING), (k, theta)
