"""G, g_t, zeta and the gradient of the velocity residual against differences, on all joints, drivers, coordinates."""

import numpy as np
import pytest
from kernel_calls import DIFFERENCE, difference, moved, restrict, rows, twist, velocity_gradient
from random_mechanisms import KINDS, MOTIONS, POINT_KINDS, SHAPES, pair_model, planar_chain, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import records

TIME = 0.75  # away from the knots of tables, inside smooth steps

PAIRS = [(kind, MOTIONS[k % len(MOTIONS)], False) for k, kind in enumerate(KINDS)]
PAIRS += [(kind, MOTIONS[(k + 2) % len(MOTIONS)], False) for k, kind in enumerate(KINDS)]
PAIRS += [(kind, MOTIONS[(k + 1) % len(MOTIONS)], True) for k, kind in enumerate(POINT_KINDS)]
PAIRS += [(kind, None, False) for kind in ("spherical", "cylindrical", "fixed", "distance")]

MODELS = {f"{kind}-{motion}{'-point' * point}": (pair_model, (1, kind), {"motion_kind": motion, "point": point})
          for kind, motion, point in PAIRS}  # fmt: skip
MODELS |= {f"{shape}-{seed}": (random_model, (seed, shape, 5), {}) for shape in SHAPES for seed in (0, 1, 4)}
PLANAR = {
    "planar-chain-0": (planar_chain, (0,), {}),
    "planar-chain-1": (planar_chain, (1,), {}),
    "planar-quadrangle": (gallery.planar_quadrangle, (), {}),
}
CASES = [*((name, "absolute") for name in MODELS), *((name, "planar") for name in PLANAR)]
FEW = [("prismatic-table", "absolute"), ("universal-polynomial", "absolute"), ("planar-chain-0", "planar")]


def mechanism_of(name, coordinates="absolute"):
    function, arguments, options = (MODELS | PLANAR)[name]
    return compile(function(*arguments, **options), coordinates)


def off_manifold(mechanism, rng):
    """A state far from the constraints, and two vectors in quasi-coordinates that the bodies can follow."""
    n = 6 * mechanism.nb
    vectors = [restrict(mechanism, v) for v in rng.standard_normal((4, n))]
    return moved(mechanism, mechanism.x_0, 0.3 * vectors[0], vectors[1]), vectors[2], vectors[3]


def scale(mechanism, t, x):
    """Size of the numbers that are differenced: rows have levers of a few metres."""
    return 1.0 + np.abs(rows(mechanism, t, x)[0]).max() * (1.0 + np.abs(twist(mechanism, x)).max())


def check_all(name, coordinates, rng):
    mechanism = mechanism_of(name, coordinates)
    x, d, a = off_manifold(mechanism, rng)
    u = twist(mechanism, x)
    G, _, g_t, zeta = rows(mechanism, TIME, x)
    tolerance = DIFFERENCE * scale(mechanism, TIME, x)

    along = difference(lambda s: rows(mechanism, TIME, moved(mechanism, x, s * d))[1])
    assert np.abs(along - G @ d).max() <= tolerance

    in_time = difference(lambda s: rows(mechanism, TIME + s, x)[1])
    assert np.abs(in_time - g_t).max() <= tolerance

    def residual(t, y):
        G, _, g_t, _ = rows(mechanism, t, y)
        return G @ twist(mechanism, y) + g_t

    def motion(s):
        """q' = N u, u' = a, up to terms s^3, which the stencil cancels."""
        return moved(mechanism, x, s * u + 0.5 * s * s * a, s * a)

    second = difference(lambda s: residual(TIME + s, motion(s)))
    assert np.abs(second - (G @ a + zeta)).max() <= tolerance * (1.0 + np.abs(u).max() ** 2)

    gradient = difference(lambda s: residual(TIME, moved(mechanism, x, s * d)))
    assert np.abs(gradient - velocity_gradient(mechanism, TIME, x) @ d).max() <= tolerance * (1.0 + np.abs(u).max())


@pytest.mark.parametrize(("name", "coordinates"), CASES)
def test_rows_and_bias_against_differences(name, coordinates, rng):
    for _ in range(2):
        check_all(name, coordinates, rng)


@pytest.mark.nojit
@pytest.mark.bounds
@pytest.mark.parametrize(("name", "coordinates"), FEW)
def test_rows_and_bias_against_differences_selection(name, coordinates, rng):
    check_all(name, coordinates, rng)
    assert mechanism_of(name, coordinates).m > 0


def test_the_collection_covers_every_joint_motion_and_primitive():
    models = [f(*a, **o) for f, a, o in MODELS.values()]
    assert {j.type for m in models for j in m.joints} == set(KINDS)
    driven = [r.motion for m in models for e in (*m.joints, *m.drivers) for r in getattr(e, "primitives", ())]
    driven += [d.primitive.motion for m in models for d in m.drivers]
    kinds = {type(f).__name__ for f in driven if f is not None}
    assert kinds == {"Constant", "Polynomial", "Harmonic", "SmoothStep", "Table"}
    tables = [compile(m).I for m in models]
    primitives = {int(k) for I in tables for k in records(I, I, T.PRIM_I)["kind"]}
    assert primitives == {T.C, T.SO, T.O, T.D, T.A}
    rheonomic = {int(row["kind"]) for I in tables for row in records(I, I, T.PRIM_I) if row["motion"] > 0}
    assert rheonomic == {T.O, T.D, T.A}


def test_initial_states_are_consistent():
    for name, coordinates in CASES:
        mechanism = mechanism_of(name, coordinates)
        G, g, g_t, _ = rows(mechanism, 0.0, mechanism.x_0)
        size = 1.0 + np.abs(mechanism.x_0).max()
        # assembly stops at 1e-12 of the mechanism's size, velocities at 1e-13 of the largest speed times the row
        assert np.abs(g).max() <= 1e-11 * size, name
        assert np.abs(G @ twist(mechanism, mechanism.x_0) + g_t).max() <= 1e-11 * size, name
