"""The block-sparse solve and conjugate gradients against dense linear algebra, on mechanisms of every shape."""

import numpy as np
import pytest
from kernel_calls import count, evaluate, mass_matrix, project, relative, rows
from random_mechanisms import SHAPES, add_joint, add_random_body, planar_chain, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.compilation.rows import dense_rows
from dalembert.kernels.base import tables as T
from dalembert.model.model import Model

# cond(S) reaches 1e4 for these seeds, both sides lose cond eps = 2e-12
AGREEMENT = 1e-11
TIME = 0.4
CASES = [(shape, seed, n) for shape in SHAPES for seed, n in ((0, 3), (1, 6), (2, 12), (5, 25))]
FEW = [("hub", 1, 5), ("ring", 2, 4)]


def dense(mechanism, x, wrench, every_row=False):
    """Accelerations and multipliers by least squares on G M^-1/2; redundant rows may stay in."""
    G, _, _, zeta = dense_rows(mechanism, TIME, x) if every_row else rows(mechanism, TIME, x)
    C = np.linalg.cholesky(mass_matrix(mechanism))
    free = np.linalg.solve(C, wrench)
    Y = np.linalg.solve(C, G.T)  # C^-1 G^T: C^T u' = C^-1 h + Y lam,  Y^T (C^T u') = -zeta
    lam = np.linalg.lstsq(Y.T @ Y, -zeta - Y.T @ free, rcond=1e-13)[0]
    return np.linalg.solve(C.T, free + Y @ lam), lam


def at_time(mechanism):
    status, x, _ = project(mechanism, TIME, mechanism.x_0)
    assert status == T.OK
    return x


@pytest.mark.parametrize(("shape", "seed", "n"), CASES)
def test_block_solve(shape, seed, n):
    mechanism = compile(random_model(seed, shape, n))
    x = at_time(mechanism)
    e = evaluate(mechanism, TIME, x)
    acceleration, lam = dense(mechanism, x, e.wrench)
    assert e.status == T.OK and count(mechanism, e.W).dependent == 0
    assert relative(e.acceleration, acceleration) <= AGREEMENT
    assert relative(e.lam, lam) <= AGREEMENT


@pytest.mark.nojit
@pytest.mark.bounds
@pytest.mark.parametrize(("shape", "seed", "n"), FEW)
def test_block_solve_selection(shape, seed, n):
    mechanism = compile(random_model(seed, shape, n))
    e = evaluate(mechanism, TIME, mechanism.x_0)
    assert relative(e.acceleration, dense(mechanism, mechanism.x_0, e.wrench)[0]) <= AGREEMENT


def test_hubs_are_really_used():
    mechanism = compile(random_model(1, "hub", 6))
    assert mechanism.I[T.NHUB] == 1 and mechanism.I[T.NHUB_INC] >= 6
    assert compile(random_model(1, "chain", 6)).I[T.NHUB] == 0


@pytest.mark.parametrize("seed", range(6))
def test_ball_joints_alone(seed):
    """Trees of coincidences, on either side of a body, with point masses: their blocks take a short cut."""
    rng = np.random.default_rng(seed)
    model = Model(rng.uniform(-5, 5, 3))
    bodies = [model.ground]
    for k in range(1, 10):
        bodies.append(add_random_body(model, rng, f"body {k}", (k, 0, 0), point=k > 7))
        first, second = bodies[max(0, min(k - 1 - int(rng.integers(2)), 7))], bodies[k]
        kind = ("spherical", "coincidence")[k % 2]
        add_joint(model, rng, kind, f"joint {k}", *((second, first) if k % 3 == 0 and k <= 7 else (first, second)))
    mechanism = compile(model)
    e = evaluate(mechanism, TIME, mechanism.x_0)
    acceleration, lam = dense(mechanism, mechanism.x_0, e.wrench)
    assert relative(e.acceleration, acceleration) <= AGREEMENT
    assert relative(e.lam, lam) <= AGREEMENT


@pytest.mark.parametrize("seed", range(6))
def test_hubs_in_loops(seed):
    """Two hubs, joined by several arms: loop-closing joints wait for the hubs on their loops."""
    mechanism = compile(two_hubs(seed))
    assert mechanism.I[T.NHUB] == 2
    e = evaluate(mechanism, TIME, mechanism.x_0)
    acceleration, lam = dense(mechanism, mechanism.x_0, e.wrench)
    assert relative(e.acceleration, acceleration) <= AGREEMENT
    assert relative(e.lam, lam) <= AGREEMENT


def two_hubs(seed, arms=5):
    """Platform and base, free or hinged to ground, with arms on ball joints or rods between."""
    rng = np.random.default_rng(seed)
    model = Model(rng.uniform(-5, 5, 3))
    base = add_random_body(model, rng, "base")
    platform = add_random_body(model, rng, "platform", (2.0, 0.0, 0.0))
    if seed % 2:
        add_joint(model, rng, "revolute", "hinge", model.ground, base)
    if seed % 3 == 0:  # a joint between the two hubs themselves: no body of its own to stand on
        add_joint(model, rng, "spherical", "direct", base, platform)
    for k in range(arms):
        if k % 2 and seed % 3:
            add_joint(model, rng, "distance", f"rod {k}", base, platform)
        arm = add_random_body(model, rng, f"arm {k}", (1.0, k, 0.0))
        add_joint(model, rng, "spherical", f"lower {k}", base, arm)
        kind = "spherical" if k % 2 else "point_on_line"
        add_joint(model, rng, kind, f"upper {k}", *((platform, arm) if k % 2 else (arm, platform)))
    return model


@pytest.mark.parametrize(("shape", "seed"), [(shape, seed) for shape in SHAPES for seed in (1, 2)])
def test_conjugate_gradients(shape, seed):
    mechanism = compile(random_model(seed, shape, 6))
    x = at_time(mechanism)
    e = evaluate(mechanism, TIME, x)
    c = evaluate(mechanism, TIME, x, conjugate_gradients=True)
    # residual 1e-14 relative in the preconditioned norm, times cond(S) <= 1e4
    assert c.status == T.OK and relative(e.acceleration, c.acceleration) <= 1e-10
    assert count(mechanism, c.W).cg > 0


def moving(mechanism):
    """A state of the mechanism that turns."""
    x = mechanism.x_0.copy()
    x[mechanism.nq : mechanism.nq + mechanism.nu] = np.sin(np.arange(mechanism.nu))
    status, x, _ = project(mechanism, 0.0, x)
    assert status == T.OK
    return x


def test_redundant_four_bar_and_its_twin():
    """Dropping redundant rows changes no acceleration: against all rows in a pseudo-inverse, and against the twin."""
    model = gallery.spatial_four_bar(crank_angle=0.3)
    redundant, twin = compile(model), compile(gallery.spatial_four_bar(False, crank_angle=0.3))
    assert len(redundant.redundant) == 3 and not twin.redundant
    x = moving(redundant)
    a, b = evaluate(redundant, 0.0, x), evaluate(twin, 0.0, x[: len(twin.x_0)])
    # cond(S) is 6e5: cond eps = 1.3e-10 at worst, and the solve is better than its bound
    assert relative(a.acceleration, b.acceleration) <= 1e-10
    acceleration, _ = dense(undropped(model), x, a.wrench, every_row=True)
    assert relative(a.acceleration, acceleration) <= 1e-10


def undropped(model):
    """The packed tables of a model with every row kept."""
    from dalembert.compilation.flatten import flatten
    from dalembert.compilation.pack import pack

    class Complete:
        packed = pack(flatten(model))
        I, F, nb, row_source = packed.I, packed.F, int(packed.I[T.NB]), packed.row_source

    return Complete


def test_planar_chain_dense():
    mechanism = compile(planar_chain(2, 6), "planar")
    e = evaluate(mechanism, 0.0, mechanism.x_0)
    G, _, _, zeta = rows(mechanism, 0.0, mechanism.x_0)
    assert np.abs(G @ e.acceleration + zeta).max() <= AGREEMENT * np.abs(zeta).max()
