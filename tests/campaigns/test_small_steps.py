"""Steps of implicit and partitioned methods beside their stability functions, poses of driven mechanisms, many runs.

Uncompiled. On x'' = -x a method with R(z) as its stability function makes y_1 = R(i h) y_0 of y = x' + i x, exactly.
"""

from types import SimpleNamespace

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.rows import dense_rows
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.formulations.distribution import SMALL_ROW, unmet
from dalembert.kernels.time import implicit_stages, poses, simplified_newton
from dalembert.kernels.time.simplified_newton import put

pytestmark = [
    pytest.mark.nojit,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(JIT, reason="many kernels: their sources as plain Python are enough"),
]

H = 0.3
PREDICTED = {"step": H, "stage_tolerance": 1e-10}
PADE = {  # numerator and denominator of R(z), from z^0 on [HairerWanner1996, IV.3 and IV.5]
    "gauss 1": (da.GaussLegendre(1, step=H), [1, 1 / 2], [1, -1 / 2]),
    "gauss 2": (da.GaussLegendre(2, step=H), [1, 1 / 2, 1 / 12], [1, -1 / 2, 1 / 12]),
    "gauss 3": (da.GaussLegendre(3, step=H), [1, 1 / 2, 1 / 10, 1 / 120], [1, -1 / 2, 1 / 10, -1 / 120]),
    "gauss 2 newton": (da.GaussLegendre(2, step=H, solver="newton"), [1, 1 / 2, 1 / 12], [1, -1 / 2, 1 / 12]),
    "gauss 2 fixed-point": (da.GaussLegendre(2, step=H, solver="fixed-point"), [1, 1 / 2, 1 / 12], [1, -1 / 2, 1 / 12]),
    "radau 2": (da.RadauIIA(2, step=H), [1, 1 / 3], [1, -2 / 3, 1 / 6]),
    "radau 3": (da.RadauIIA(3, step=H), [1, 2 / 5, 1 / 20], [1, -3 / 5, 3 / 20, -1 / 60]),
    "midpoint": (da.Midpoint(step=H), [1, 1, 1 / 2], [1]),
    "rk4": (da.RungeKutta4(step=H), [1, 1, 1 / 2, 1 / 6, 1 / 24], [1]),
}


def oscillator(frequency=1.0):
    return da.LagrangianSystem(
        lambda q, v, p: 0.5 * v.x**2 - 0.5 * p.w**2 * q.x**2,
        "x",
        parameters={"w": frequency},
        initial={"x": 0.4},
        velocities={"x": 0.9},
    )


@pytest.mark.parametrize("name", PADE)
def test_stability_functions(name):
    method, above, below = PADE[name]
    run = da.simulate(oscillator(), 3 * H, integrator=method)
    R = np.polyval(above[::-1], 1j * H) / np.polyval(below[::-1], 1j * H)
    y = R ** np.arange(4) * (0.9 + 0.4j)
    np.testing.assert_allclose(run.t, H * np.arange(4), rtol=1e-14)
    np.testing.assert_allclose(run["x"] - 1j * run["x'"], -1j * y, rtol=0, atol=1e-12)
    assert run.statistics.accepted == 3 and run.statistics.rejected == 0


@pytest.mark.parametrize(
    "method", [*(da.GaussLegendre(3, solver=solver, **PREDICTED) for solver in ("auto", "newton")), da.RadauIIA(3, **PREDICTED)]
)
def test_stages_are_predicted(method):
    """x'' = 0.7 - 1.3 t has rates that are polynomials: after the first step, one iteration finds them as they should be."""
    ramp = da.LagrangianSystem(
        lambda q, v, t: 0.5 * v.x**2 + q.x * (0.7 - 1.3 * t), "x", initial={"x": 0.4}, velocities={"x": 0.9}
    )
    run = da.simulate(ramp, 4.5 * H, integrator=method)  # the last step is shorter
    assert run.statistics.accepted == 5 and run.statistics.stage_iterations_average == 6 / 5
    assert run["x"][-1] == pytest.approx(0.4 + 0.9 * 1.35 + 0.35 * 1.35**2 - 1.3 / 6 * 1.35**3, abs=1e-13)


@pytest.mark.parametrize(
    ("method", "accepted", "iterations"),
    [(da.GaussLegendre(3, rtol=1e-8, atol=1e-8), (5, 8), 4), (da.RadauIIA(3, rtol=1e-8, atol=1e-8), (40, 55), 2.2)],
)
def test_adaptive_implicit_steps(method, accepted, iterations):
    """An oscillation of two radians a second at the end, and between steps where the stages' polynomial is asked."""
    run = da.simulate(oscillator(2.0), 1.0, integrator=method, save_at=[0.25, 0.5, 1.0])
    exact = 0.4 * np.cos(2 * run.t) + 0.45 * np.sin(2 * run.t)
    assert abs(run["x"][-1] - exact[-1]) <= 1e-7 and np.abs(run["x"] - exact).max() <= 5e-6
    assert accepted[0] <= run.statistics.accepted <= accepted[1] and run.statistics.rejected <= 1
    assert run.statistics.stage_iterations_average <= iterations


def test_sweeps_end_when_what_they_leave_is_small_and_when_they_do_not_contract():
    """The second sweep changes more than 1e-6, by a contraction that leaves less; two that do not contract are enough."""
    gentle = da.GaussLegendre(2, step=H, solver="fixed-point", stage_tolerance=1e-6)
    assert da.simulate(oscillator(), H, integrator=gentle).statistics.stage_iterations_maximum == 2
    stiff = da.simulate(oscillator(1000.0), 2 * H, integrator=da.GaussLegendre(2, step=H)).statistics
    assert stiff.stage_newton_steps == 2 and stiff.rate_evaluations <= 32


def test_exact_slopes_take_the_place_of_differences():
    """Of the derivatives of x' by every component, u' is kept by rows, above the point where they were taken; a NaN is told."""
    out, jacobian = np.arange(25.0).reshape(5, 5), np.ones((3, 5))
    steps = SimpleNamespace(jacobian=jacobian, n=5)
    assert put(steps, out)
    np.testing.assert_array_equal(jacobian, [out[:, 3], out[:, 4], np.ones(5)])
    out[2, 4] = np.nan
    assert not put(steps, out)


def test_stages_are_mixed_as_least_squares_say(monkeypatch):
    """Of the last three iterates of K = B K + c the mixture, with weights of sum one, whose residuals mix to the smallest."""
    monkeypatch.setattr(implicit_stages, "pass_on", lambda *_: None)
    rng, nq, nu, s = np.random.default_rng(3), 2, 3, 2
    B, c = 0.3 * rng.standard_normal((s * nu, s * nu)), rng.random(s * nu)
    steps = SimpleNamespace(
        stages=np.zeros((s + 2, nq + nu)), memory=np.zeros((7, s * nu)), last=s + 1, n=nq + nu, x=None, y=None
    )
    K, values, residuals = rng.random(s * nu), [], []
    steps.memory[implicit_stages.INPUT] = K
    for iteration in range(1, 6):
        values.append(B @ K + c)
        residuals.append(values[-1] - K)
        steps.stages[1 : 1 + s, nq:] = values[-1].reshape(s, nu)
        implicit_stages.accelerate(iteration, steps)
        g, r = np.array(values[-3:]), np.array(residuals[-3:])
        weights = np.linalg.lstsq((r[:-1] - r[-1]).T, -r[-1])[0]
        K = g[-1] + weights @ (g[:-1] - g[-1])
        np.testing.assert_allclose(steps.stages[1 : 1 + s, nq:].ravel(), K, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(steps.stages[:, :nq], 0.0)


@pytest.mark.parametrize(
    ("seen", "change", "iteration", "expected"),
    [
        (T.NON_FINITE, 0.1, 1, T.NON_FINITE),
        (T.OK, np.nan, 1, T.NON_FINITE),
        (T.NON_FINITE, 0.1, 3, T.STAGES_FAILED),
        (T.CALLBACK_FAILED, 0.1, 1, T.CALLBACK_FAILED),
        (T.CALLBACK_FAILED, 0.1, 3, T.CALLBACK_FAILED),
        (T.OK, 1e-9, 3, T.OK),
    ],
)
def test_what_ends_an_iteration(seen, change, iteration, expected):
    """Numbers that are not finite where it begins and what a function raised are told; later on it has diverged."""
    steps = SimpleNamespace(contraction=0.0, stage_tolerance=1e-8)
    assert implicit_stages.assess(seen, change, 1.0, 0.0, 0, iteration, 0.0, steps)[0] == expected


@pytest.mark.parametrize("mu", [0.2 + 0.0j, 0.2 - 0.1j])
def test_stage_matrices_are_those_of_dense_algebra(mu):
    """(I - mu J)^-1 b for y' = (N(q) u, f), with a quaternion that spins turn and coordinates whose rates are velocities."""
    rng, nq, nu = np.random.default_rng(5), 7, 6
    n, at = nq + nu, rng.standard_normal(nq + nu)
    jacobian, b = np.vstack([rng.standard_normal((nu, n)), at]), rng.standard_normal(n) + 1j * rng.standard_normal(n) * mu.imag
    w, theta = at[nq + 3 :], at[3:7]
    J = np.zeros((n, n))
    J[nq:] = jacobian[:nu]
    J[:3, nq : nq + 3] = np.eye(3)
    spin = np.array([[0, *-w], [w[0], 0, w[2], -w[1]], [w[1], -w[2], 0, w[0]], [w[2], w[1], -w[0], 0]])
    J[3:7, 3:7] = 0.5 * spin  # theta' = 1/2 theta (0, w)
    p, v = theta[0], theta[1:]
    J[3, nq + 3 :] = -0.5 * v
    J[4:7, nq + 3 :] = 0.5 * (p * np.eye(3) + np.cross(v, np.eye(3)).T)
    steps = SimpleNamespace(h=1.0, jacobian=jacobian, velocity_map=np.array([[0, nq, 3], [3, nq + 3, -4]]))
    steps.factors, steps.pivots = np.zeros((1, 2, nu + 1, n)), np.zeros((1, nu), dtype=np.int64)
    steps.spectrum = np.array([[mu]])
    simplified_newton.factorise(steps)
    steps.factors[0, 0, nu], steps.factors[0, 1, nu] = b.real, b.imag
    simplified_newton.solve(mu, 0, steps)
    found = steps.factors[0, 0, nu] + 1j * steps.factors[0, 1, nu]
    np.testing.assert_allclose(found, np.linalg.solve(np.eye(n) - mu * J, b), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["euler", "verlet"])
def test_partitioned_steps(name):
    """x_1 = x_0 + h u_0, u_1 = u_0 - h x_1; or half a kick, a drift, half a kick."""
    method = da.SymplecticEuler(step=H) if name == "euler" else da.StoermerVerlet(step=H)
    run = da.simulate(oscillator(), 3 * H, integrator=method)
    x, u, before, after = 0.4, 0.9, *((0.0, 1.0) if name == "euler" else (0.5, 0.5))
    for k in range(1, 4):
        u -= before * H * x
        x += H * u
        u -= after * H * x
        assert (run["x"][k], run["x'"][k]) == pytest.approx((x, u), abs=1e-13), k


TURN = {"integrator": da.DOP853(rtol=1e-11, atol=1e-11), "save_at": [0.05]}


def top():
    """A heavy body about a fixed point, turned and turning about all of its axes."""
    model = da.Model()
    turned = da.Rotation.from_axis_angle((1, 2, 0.5), 0.7)
    model.add_body("top", mass=2.0, inertia=(0.1, 0.2, 0.15), rotation=turned, angular_velocity=(3, -2, 6))
    model.add_spherical("point", "ground", "top", point=(0.2, -0.1, 0.3))
    return model


@pytest.mark.parametrize(
    ("method", "close"),
    [
        (da.GaussLegendre(3, step=0.01), 1e-8),
        (da.GaussLegendre(2, step=0.01, solver="newton"), 1e-6),
        (da.RadauIIA(3, step=0.01), 1e-7),
        (da.StoermerVerlet(step=0.0025), 1e-4),
    ],
)
def test_methods_turn_bodies_alike(method, close):
    """Implicit and partitioned steps know q' = N(q) u: the same top as by DOP853."""
    model = da.compile(top())
    exact, run = da.simulate(model, 0.05, **TURN), da.simulate(model, 0.05, integrator=method, save_at=[0.05])
    np.testing.assert_allclose(run.rotation("top")[-1], exact.rotation("top")[-1], rtol=0, atol=close)
    np.testing.assert_allclose(run.angular_velocity("top")[-1], exact.angular_velocity("top")[-1], rtol=0, atol=100 * close)
    assert np.abs(run.drift.position).max() <= 1e-10
    assert run.statistics.newton_maximum <= 3


@pytest.mark.parametrize(("order", "found"), [(1, 2), (4, 4), ("integrator", 5)])
def test_basis_is_carried_with_its_order(order, found):
    """Which basis of the tangent space is carried along is defined by Q2' = -A^+ A' Q2 alone: steps come nearer to it."""
    model = da.compile(top())

    def basis(order, step):
        way = {"formulation": da.Minimal(order=order), "integrator": da.DormandPrince(step=step), "save_at": [0.08]}
        return da.simulate(model, 0.08, **way).minimal.basis[-1]

    exact = basis("integrator", 0.005)
    coarse, fine = (np.abs(basis(order, step) - exact).max() for step in (0.04, 0.02))
    assert np.log2(coarse / fine) == pytest.approx(found, abs=0.2)


def test_basis_of_a_tree_is_carried_with_its_order():
    """The same where a tail on the top is held by a rod, in relative coordinates."""
    model = top()
    model.add_body("tail", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0.4, 0))
    model.add_revolute("hinge", "top", "tail", point=(0.3, 0.2, 0.1), axis=(1, 0.3, 0), rate=2.0)
    model.add_distance("rod", "ground", "tail", between=((1, 1, 1), (0.6, 0.5, 0.1)))
    tree, way = da.compile(model, "tree"), {"formulation": da.Minimal(order=4), "save_at": [0.08]}
    steps = (0.04, 0.02, 0.01)
    rough, coarse, fine = (
        da.simulate(tree, 0.08, integrator=da.DormandPrince(step=step), **way).minimal.basis[-1] for step in steps
    )
    assert np.abs(coarse - fine).max() <= 0.5**3.5 * np.abs(rough - coarse).max()


def test_many_runs_are_the_single_ones():
    frequencies, way = (0.5, 1.0, 2.0), {"integrator": da.RungeKutta4(step=0.2), "save_at": [0.2, 0.6]}
    many = da.simulate_many(oscillator(), 0.6, parameters={"w": frequencies}, threads=1, **way)
    for k, w in enumerate(frequencies):
        np.testing.assert_allclose(many[k].x, da.simulate(oscillator(w), 0.6, **way).x, rtol=0, atol=1e-15)
    model, way = da.compile(top()), {"integrator": da.RungeKutta4(step=0.01)}
    many = da.simulate_many(model, 0.02, initial_states=np.array([model.x_0] * 2), threads=1, **way)
    one, other = da.simulate(model, 0.02, **way).statistics, many[1].statistics
    assert other.accepted == one.accepted
    assert other.smallest_pivot == pytest.approx(one.smallest_pivot, rel=1e-3)  # theirs looks at the start as well


def test_poses_are_tried_nearer_until_they_are_found(monkeypatch):
    """Up to 0.2 s away they are, from 0 on: half of a way that fails, twice one that does not; nothing shorter than allowed."""
    tried, farthest = [], 0.2

    def attempt(t, x, dx, before, trial, way, system):
        tried.append(t)
        assert len(tried) < 50
        found = t - way[poses.NOW] <= farthest
        way[poses.NOW] = t if found else way[poses.NOW]
        return found

    def follow():
        way = np.zeros(10)
        way[poses.FARTHEST], way[poses.SMALLEST] = np.inf, 0.01
        x, system = np.zeros(1), SimpleNamespace(nq=1, nx=1)
        return poses.follow_poses(np.ones(1), np.zeros((1, 1)), x, x, x, np.zeros((4, 1)), way, system)

    monkeypatch.setattr(poses, "attempt", attempt)
    assert follow() == 1 and tried[:7] == [1, 1 / 2, 1 / 4, 1 / 8, 3 / 8, 1 / 4, 1 / 2]
    tried, farthest = [], 0.0
    assert follow() == 0 and tried == [0.5**k for k in range(7)]


def test_poses_of_a_driven_crank():
    """A crank at constant speed: angle, centripetal acceleration, torque against its weight."""
    model = da.Model(gravity=(0, -9.81, 0))
    model.add_body("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.25, 0, 0))
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "A", da.Polynomial((0.0, 3.0)))
    t = np.linspace(0, 2, 5)
    run = da.kinematics(model, t)
    np.testing.assert_allclose(run.coordinate("A"), 3 * t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(run.reaction("drive").torque[:, 2], 2 * 9.81 * 0.25 * np.cos(3 * t), rtol=0, atol=1e-10)
    centripetal = -9 * 0.25 * np.column_stack([np.cos(3 * t), np.sin(3 * t), 0 * t])
    np.testing.assert_allclose(run.acceleration("arm"), centripetal, rtol=0, atol=1e-11)


def star(driven):
    """A body with so many joints that it is a node of its own beside its arms; its mechanism, M, and f(u)."""
    model = da.Model(gravity=(1.0, -2.0, -9.81))
    model.add_body("hub", mass=2.0, inertia=(0.1, 0.2, 0.15), angular_velocity=(0, 0, 2.0))
    model.add_revolute("mast", "ground", "hub", point=(0, 0, 0), axis=(0, 0, 1))
    for k, place in enumerate([(0.5, 0, 0.1), (0, 0.6, 0), (-0.4, 0, 0)]):
        model.add_body(f"arm {k}", mass=0.5 + k, inertia=(0.02, 0.03, 0.04), position=2 * np.array(place))
        model.add_revolute(f"hinge {k}", "hub", f"arm {k}", point=place, axis=(place[1], -place[0], 0.2))
    model.add_torque("twist", "hub", (0.3, -0.4, 0.7), frame="body")
    if driven:
        model.add_driver("drive", "mast", da.Polynomial((0.0, 2.0, 3.0)))
    mechanism, n = da.compile(model), len(model.bodies)
    assert mechanism.I[T.NHUB] == 1
    M = np.zeros((6 * n, 6 * n))
    for b, body in enumerate(model.bodies):
        M[6 * b :, 6 * b :][:3, :3], M[6 * b + 3 :, 6 * b + 3 :][:3, :3] = body.mass * np.eye(3), body.inertia

    def f(u):
        found = np.zeros(6 * n)
        for b, body in enumerate(model.bodies):
            w = u[6 * b + 3 : 6 * b + 6]
            found[6 * b : 6 * b + 6] = *(body.mass * np.array(model.gravity)), *(-np.cross(w, body.inertia @ w))
        found[3:6] += (0.3, -0.4, 0.7)
        return found

    return mechanism, M, f


def test_accelerations_of_a_hub_are_those_of_dense_algebra():
    """M u' = f + A^T lam with A u' + zeta = 0."""
    mechanism, M, f = star(driven=False)
    run, x, dx = da.Jet().prepare(mechanism), mechanism.x_0, np.zeros(len(mechanism.x_0))
    assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    A, _, _, zeta = dense_rows(mechanism, 0.0, x)
    nq, nu = mechanism.nq, mechanism.nu
    lam = np.linalg.solve(A @ np.linalg.solve(M, A.T), -zeta - A @ np.linalg.solve(M, f(x[nq : nq + nu])))
    np.testing.assert_allclose(dx[nq : nq + nu], np.linalg.solve(M, f(x[nq : nq + nu]) + A.T @ lam), rtol=0, atol=1e-10)


@pytest.mark.parametrize("loaded", [False, True])
def test_what_is_unmet_is_that_of_dense_algebra(loaded):
    """|A u' + zeta| of wrong accelerations, row by row over what it is made of: |zeta| + |A| (|u'| + |M^-1 f|)."""
    mechanism, M, f = star(driven=False)
    run, x, nq, nu = da.Jet().prepare(mechanism), mechanism.x_0, mechanism.nq, mechanism.nu
    assert run.system(T.RATE, 0.0, x, np.zeros(len(x)), run.view) == T.OK
    rates = np.linspace(-1.0, 2.0, nu)
    for b in range(nu // 6):
        twist = run.view.accelerations[b + 1]
        twist.v, twist.w = Vec3(*rates[6 * b : 6 * b + 3]), Vec3(*rates[6 * b + 3 : 6 * b + 6])
    A, _, _, zeta = dense_rows(mechanism, 0.0, x)
    sizes = np.abs(rates).reshape(-1, 3).max(axis=1)
    if loaded:
        sizes = sizes + np.abs(np.linalg.solve(M, f(x[nq : nq + nu]))).reshape(-1, 3).max(axis=1)
    below = np.abs(zeta) + np.abs(A).reshape(len(A), -1, 3).max(axis=2) @ sizes
    expected = np.max(np.abs(A @ rates + zeta) / (below + SMALL_ROW * below.max()))
    assert unmet(run.view.cg, loaded, run.view) == pytest.approx(expected, rel=1e-12)


def test_soft_steps_are_those_of_dense_algebra():
    """(A M^-1 A^T + D^-1) Lam = c of two steps."""
    (mechanism, M, f), h, kp, kd = star(driven=True), 0.01, 2e4, 30.0
    run = da.simulate(mechanism, 2 * h, formulation=da.Soft(stiffness=kp, damping=kd), integrator=da.Euler(step=h))
    for k in range(2):
        A, g, g_t, _ = dense_rows(mechanism, (k + 1) * h, run.x[k])
        u = run.u[k] + h * np.linalg.solve(M, f(run.u[k]))
        c = -A @ u - (kp * g + kd * g_t) / (h * kp + kd)
        S = A @ np.linalg.solve(M, A.T) + np.eye(len(A)) / (h * (h * kp + kd))
        u += np.linalg.solve(M, A.T @ np.linalg.solve(S, c))
        np.testing.assert_allclose(run.u[k + 1], u, rtol=0, atol=1e-11)


def test_residuals_of_velocities_are_those_of_dense_algebra():
    """G u + g_t with its sign, where a coarse step has left the rows."""
    mechanism, _, _ = star(driven=True)
    run = da.simulate(mechanism, 0.02, formulation=da.Jet(projection="none"), integrator=da.Euler(step=0.02))
    A, _, g_t, _ = dense_rows(mechanism, 0.02, run.x[-1])
    np.testing.assert_allclose(run.evaluated.g_dot[-1], A @ run.u[-1] + g_t, rtol=0, atol=1e-13)
    assert run.drift.velocity[-1] > 1e-3


def test_accelerations_of_a_tree_are_those_of_its_bodies():
    """A slide that carries an arm, which carries a body on a ball: by dense matrices of relative coordinates, beside Jet."""
    model = da.Model(gravity=(1.0, -2.0, -9.81))
    model.add_body("lift", mass=1.0, inertia=(1, 1, 1))
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.add_body("tip", mass=0.5, inertia=(0.1, 0.2, 0.3), position=(1.2, 0.1, 0.3))
    model.add_prismatic("rail", "ground", "lift", point=(0, 0, 0), axis=(0.2, 0, 1))
    model.add_revolute("hinge", "lift", "arm", point=(0, 0, 0), axis=(0, 1, 0), rate=2.0)
    model.add_spherical("ball", "arm", "tip", point=(1, 0, 0))
    mechanism, found = da.compile(model), {}
    for way in (da.Jet(), da.MovingFrame(path="reference")):
        run = way.prepare(mechanism)
        x = run.from_absolute(mechanism.x_0)
        dx = found[type(way)] = np.zeros(len(x))
        assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    rates = [[*a.v, *a.w] for a in (run.view.accelerations[b] for b in (1, 2, 3))]
    np.testing.assert_allclose(rates, found[da.Jet][mechanism.nq :][:18].reshape(3, 6), rtol=0, atol=1e-12)


def test_driven_slide_of_a_tree_has_its_speed_without_projection():
    """Impulses at the end of a step bring velocities onto the motion at that time."""
    model = da.Model()
    model.add_body("lift", mass=1.0, inertia=(1, 1, 1))
    model.add_prismatic("rail", "ground", "lift", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "rail", da.Harmonic(0.2, 5.0))
    way = {"formulation": da.Impulse(stabilisation=None), "integrator": da.RungeKutta4(step=0.01)}
    run = da.simulate(da.compile(model, "tree"), 0.02, **way)
    np.testing.assert_allclose(run.velocity("lift")[:, 2], np.cos(5 * run.t), rtol=0, atol=1e-13)
