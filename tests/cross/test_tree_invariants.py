"""Invariants in relative coordinates: kept as in absolute ones, without leaving loops or spoiling the motion."""

import numpy as np
import pytest
from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert import gallery
from dalembert.gallery.chain import chain
from dalembert.kernels.base import tables as T
from dalembert.kernels.coordinates.tree_states import absolute_state


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES)
def test_user_functions_see_the_states_of_the_mechanism(shape, seed):
    """The kernel's conversion is the solution's, signs of quaternions included."""
    mechanism = da.compile(random_model(seed, shape, 8))
    run = da.MovingFrame().prepare(mechanism)
    x = run.from_absolute(mechanism.x_0)
    x[: run.size] += 0.3 * np.random.default_rng(seed).standard_normal(run.size)
    for link in run.tree.links:
        if link.kind[0] >= T.QUATERNION:
            x[link.q : link.q + 4] /= np.linalg.norm(x[link.q : link.q + 4])
    dx = np.zeros_like(x)
    run.system(T.OUTPUT, 0.0, x, dx, run.view)
    absolute_state(x, run.view)
    expected = run.to_absolute(x[None])[0]
    found = run.W[run.I[T.W_CALL] :][: len(expected)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("shape", SHAPES)
def test_energy_of_random_mechanisms(shape):
    """All joints, drivers and forces, loops; Newton's method is quadratic: one step per state is enough."""
    found = []
    for path in ("fast", "reference"):
        formulation = da.MovingFrame(invariants="energy", path=path)
        solution = da.simulate(random_model(1, shape), 0.5, integrator=da.RungeKutta4(step=0.002), formulation=formulation)
        E = solution.energy.total
        assert np.abs(E - E[0]).max() <= 1e-12 * max(1.0, solution.energy.scale)
        assert 0 < solution.statistics.invariant_gradients <= solution.statistics.accepted
        assert solution.drift.position.max() <= 1e-10
        assert solution.drift.velocity.max() <= 1e-10
        found.append(solution.x)
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-9 * np.abs(found[0]).max())  # projections stop at 1e-11


@pytest.mark.parametrize("name", ["slider_crank", "crank_mechanism", "four_bar", "symmetric_top", "mobile"])
def test_energy_with_large_steps(name):
    """A method of order 2 whose own energy error is far above the tolerance; external work and redundant rows too."""
    options = {"integrator": da.Midpoint(step=0.002), "save_at": np.linspace(0.0, 1.0, 101)}
    free = da.simulate(gallery.build(name), 1.0, formulation=da.MovingFrame(), **options)
    kept = da.simulate(gallery.build(name), 1.0, formulation=da.MovingFrame(invariants="energy"), **options)
    error = [np.abs(s.energy.total - s.energy.total[0]).max() / s.energy.scale for s in (free, kept)]
    assert error[0] > 1e-9
    assert error[1] <= 1e-12
    assert kept.drift.position.max() <= 1e-10
    assert kept.drift.velocity.max() <= 1e-10
    assert kept.report().passed


def test_turning_points_do_not_suffer():
    """A pendulum stops twice in each swing. There velocities alone could not mend the energy: positions are corrected with
    them, and the motion is nearer to the true one than without."""
    times = np.linspace(0.0, 20.0, 2001)

    def swing(rtol, invariants=None):
        integrator = da.DOP853(rtol=rtol, atol=rtol)
        formulation = da.MovingFrame(invariants=invariants)
        return da.simulate(chain(1, angle=1.5), 20.0, formulation=formulation, integrator=integrator, save_at=times)

    true, free, kept = swing(1e-13), swing(1e-9), swing(1e-9, "energy")
    assert kept.energy.kinetic[1:].min() < 1e-7 * kept.energy.kinetic.max()
    assert np.abs(kept.energy.total - kept.energy.total[0]).max() <= 1e-12 * kept.energy.scale
    for output in ("position", "velocity"):
        errors = [np.abs(getattr(s, output)("rod 1") - getattr(true, output)("rod 1")).max() for s in (free, kept)]
        assert errors[1] < errors[0] < 1e-5


def top_momentum(t, q, u):
    """Angular momentum about the vertical through the tip, from (r, theta) and (v, w_B) of the gallery's top."""
    a, b, c, d = q[3], q[4], q[5], q[6]
    z_x, z_y, z_z = 2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d
    turning = ACROSS * (z_x * u[3] + z_y * u[4]) + AXIAL * z_z * u[5]
    return MASS * (q[0] * u[1] - q[1] * u[0]) + turning


def top_energy(t, q, u):
    turning = ACROSS * (u[3] ** 2 + u[4] ** 2) + AXIAL * u[5] ** 2
    return 0.5 * (MASS * (u[0] ** 2 + u[1] ** 2 + u[2] ** 2) + turning) + 9.81 * MASS * q[2]


TOP = gallery.build("symmetric_top").body("top")
MASS, ACROSS, AXIAL = float(TOP.mass), float(TOP.inertia[0, 0]), float(TOP.inertia[2, 2])


def test_functions_of_the_user():
    """The same functions of (t, q, u) serve absolute and relative coordinates."""
    functions, integrator = [top_momentum, top_energy], da.RungeKutta4(step=0.002)
    values = {}
    for label, formulation in {
        "free": da.MovingFrame(),
        "kept": da.MovingFrame(invariants=functions),
        "jet": da.Jet(invariants=functions),
    }.items():
        solution = da.simulate(gallery.build("symmetric_top"), 1.0, formulation=formulation, integrator=integrator)
        series = [[f(0.0, q, u) for f in functions] for q, u in zip(solution.q, solution.u, strict=True)]
        values[label] = np.abs(np.array(series) - series[0]).max(axis=0) / np.abs(series[0])
        if label != "free":
            assert solution.statistics.invariant_gradients >= solution.statistics.accepted
    assert np.all(values["free"] > 1e-10)
    assert np.all(values["kept"] <= 4e-13)  # 1e-13 each; the second spoils the first by no more
    assert np.all(values["jet"] <= 4e-13)


@pytest.mark.nojit
def test_a_function_of_positions_alone():
    """Then positions are corrected: the rod is held at its height, 1e-4 m off at the start, and its joint does not open."""

    def height(t, q, u):
        return q[2] - (1e-4 if t > 0.0 else 0.0)

    formulation = da.MovingFrame(invariants=[height])
    solution = da.simulate(chain(1, angle=1.0), 0.01, formulation=formulation, integrator=da.RungeKutta4(step=0.001))
    r = solution.position("rod 1")
    np.testing.assert_allclose(r[1:, 2] - r[0, 2], 1e-4, rtol=0, atol=2e-13)
    np.testing.assert_allclose(np.linalg.norm(r, axis=1), 1.0, rtol=0, atol=1e-14)


def test_functions_that_fail_are_named():
    def bad(t, q, u):
        return np.nan if t > 0.1 else 1.0

    def worse(t, q, u):
        if t > 0.1:
            raise ValueError("no")
        return 1.0

    with pytest.raises(da.SimulationError, match="not finite"):
        da.simulate(chain(1), 1.0, formulation=da.MovingFrame(invariants=[bad]))
    with pytest.raises(da.SimulationError, match="user function 'worse' raised ValueError"):
        da.simulate(chain(1), 1.0, formulation=da.MovingFrame(invariants=[worse]))


def test_options_are_checked():
    with pytest.raises(da.ModelError, match="MovingFrame: path is 'wrong'"):
        da.MovingFrame(path="wrong")
    with pytest.raises(da.ModelError, match="MovingFrame: invariants is 'momentum'; give None, 'energy' or a list"):
        da.MovingFrame(invariants="momentum")
    with pytest.raises(da.ModelError, match=r"give functions f\(t, q, u\)"):
        da.MovingFrame(invariants=[lambda q: 0.0])
