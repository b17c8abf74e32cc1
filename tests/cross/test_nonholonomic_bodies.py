"""Rolling bodies, skates and rows written by users in every formulation: the same motion, each to its own order."""

from functools import cache

import numpy as np
import pytest
from kernel_calls import difference, mass_matrix, moved, rows, twist

import dalembert as da
from dalembert import gallery
from dalembert.kernels.base import tables as T

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
END = 0.4
TIMES = np.linspace(0, END, 5)


def written_skate():
    """A plate on a floor that heaves and slides: every row a user's function, of time too."""
    model = da.Model((0, 0, -9.81))
    model.add_body(
        "plate", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0, 0, 0.2), velocity=(0.5, 0, 0), angular_velocity=(0, 0, 0.7)
    )
    model.add_constraint("height", lambda b, t: b.r[2] - 0.2 - 0.05 * np.sin(3 * t), "plate")
    model.add_constraint("upright", lambda b: np.array([b.R[0, 2], b.R[1, 2]]), "plate")
    floor = lambda t: np.array([0.3 * np.cos(t), 0, 0])  # noqa: E731
    model.add_velocity_constraint("edge", lambda b, t: (b.R.T @ (b.v - floor(t)))[1] + 0.1 * b.w[2], "plate")
    return model


def ball_on_a_turning_table(rate=3.0, radius=0.1):
    model = da.Model((0, 0, -9.81))
    table = model.add_body("table", **da.disc(5.0, 1.0).body(), angular_velocity=(0, 0, rate))
    model.add_revolute("axle", model.ground, table, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "axle", da.Polynomial((0, rate)))
    model.add_body("ball", **da.sphere(1.0, radius).body(), position=(0.4, 0, radius), velocity=(0.1, 0.2, 0))
    model.add_rolling_sphere("contact", "ball", radius=radius, on="table")
    return model


MODELS = {
    "skate": written_skate,
    "table": ball_on_a_turning_table,
    **{name: getattr(gallery, name) for name in ("routh_sphere", "rolling_disc", "rattleback", "sleigh", "ball_robot")},
}


@cache
def jet(name):
    return da.simulate(MODELS[name](), END, integrator=TIGHT, save_at=TIMES)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "formulation", [da.MovingFrame(), da.Minimal(), da.Minimal(order=4)], ids=["frame", "minimal", "order 4"]
)
def test_ordinary_differential_equations(name, formulation):
    """At 1e-11, each 1e-9 of the largest value; external work too, which moving rows do."""
    expected = jet(name)
    found = da.simulate(expected.mechanism, END, formulation=formulation, integrator=TIGHT, save_at=TIMES)
    size = max(1.0, np.abs(expected.u).max())
    assert np.abs(found.q - expected.q).max() <= 1e-10 * size
    assert np.abs(found.u - expected.u).max() <= 1e-9 * size
    assert np.abs(found.energy.external_work - expected.energy.external_work).max() <= 1e-9
    assert found.report().passed


VELOCITY_LEVEL = [  # limit of the error at 1 ms, relative to the largest velocity
    (da.Impulse(), 2, 1e-3),
    (da.Impulse(stabilisation="baumgarte"), 2, 1e-3),
    (da.Impulse(predict=False), 1, 3e-2),
    (da.Soft(stiffness=1e11, damping=1e8), 1, 3e-2),
]


@pytest.mark.parametrize(("formulation", "order", "limit"), VELOCITY_LEVEL, ids=["rigid", "baumgarte", "printed", "soft"])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("rattleback", "ball_robot")])
def test_order_at_velocity_level(name, formulation, order, limit):
    expected, errors = jet(name), []
    for step in (2e-3, 1e-3):
        integrator = da.RungeKutta4(step=step)
        run = da.simulate(expected.mechanism, END, formulation=formulation, integrator=integrator, save_at=TIMES)
        errors.append(
            np.abs(run.x[:, : run.mechanism.nq + run.mechanism.nu] - expected.x[:, : run.mechanism.nq + run.mechanism.nu]).max()
        )
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.12)
    assert errors[1] <= limit * max(1.0, np.abs(expected.u).max())
    if isinstance(formulation, da.Impulse) and formulation.stabilisation == "projection":
        assert run.drift.position.max() <= 1e-10
        assert run.drift.velocity.max() <= 1e-11


def test_soft_rows_of_velocities_slip_with_their_load():
    """A homogeneous sphere pushed along the floor: rolling friction F / 3.5 is carried at a slip of F / (3.5 kd)."""
    model = da.Model((0, 0, -9.81))
    model.add_body("ball", **da.sphere(7.0, 0.1).body(), position=(0, 0, 0.1))
    model.add_rolling_sphere("contact", "ball", radius=0.1)
    model.add_force("push", "ball", (3.5, 0, 0))
    slips = []
    for kd in (1e3, 2e3):
        formulation = da.Soft(stiffness=1e9, damping={"contact": kd})
        run = da.simulate(model, 0.5, formulation=formulation, integrator=da.RungeKutta4(step=1e-3), save_at=[0.5])
        slips.append(run.velocity("ball")[-1, 0] - 0.1 * run.angular_velocity("ball")[-1, 1])
        assert run.reaction("contact").force[-1, 0] == pytest.approx(-1.0, rel=1e-6)  # F 2/7 of a homogeneous sphere
        assert run.reaction("contact").force[-1, 2] == pytest.approx(7 * 9.81, rel=1e-6)
    np.testing.assert_allclose(slips, (1e-3, 5e-4), rtol=1e-5)


def jellett(t, q, u):
    """-(I w) . r / (m R) of Routh's sphere in the gallery, with r = R (alpha e_3 - gamma), gamma the vertical in body axes."""
    a, b, c, d = q[3], q[4], q[5], q[6]
    J_1, J_3 = 131 / 350 * 0.02**2, 0.4 * 0.02**2
    x, y, z = 2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d
    return J_1 * (u[3] * x + u[4] * y) + J_3 * u[5] * (z - 0.3)


@pytest.mark.parametrize("name", ["rolling_disc", "ball_robot", "skate"])
@pytest.mark.parametrize(
    "formulation",
    [
        da.MovingFrame(invariants="energy"),
        da.Minimal(invariants="energy"),
        da.Minimal(velocities="joints", invariants="energy"),
    ],
    ids=["frame", "minimal", "joints"],
)
def test_energy_is_kept(name, formulation):
    loose = da.DormandPrince(rtol=1e-6, atol=1e-6)
    run = da.simulate(jet(name).mechanism, END, formulation=formulation, integrator=loose, save_at=TIMES)
    assert np.ptp(run.energy.total) <= 1e-11 * run.energy.scale
    assert run.statistics.invariant_gradients > 0
    assert run.drift.velocity.max() <= 1e-11
    assert np.abs(run.q - jet(name).q).max() <= 1e-5


def test_functions_are_kept_in_relative_coordinates():
    formulation, loose = da.MovingFrame(invariants=[jellett]), da.DormandPrince(rtol=1e-6, atol=1e-6)
    runs = [
        da.simulate(jet("routh_sphere").mechanism, END, formulation=f, integrator=loose, save_at=TIMES)
        for f in (da.MovingFrame(), formulation)
    ]
    free, kept = (np.ptp([jellett(0.0, q, u) for q, u in zip(run.q, run.u, strict=True)]) for run in runs)
    size = abs(jellett(0.0, runs[0].q[0], runs[0].u[0]))
    assert free > 1e-8 * size
    assert kept <= 1e-13  # of max(|f|, 1)
    assert np.abs(runs[1].q - jet("routh_sphere").q).max() <= 1e-4


@pytest.mark.parametrize("name", ["rolling_disc", "routh_sphere", "skate"])
def test_carried_basis_turns_with_rows_of_velocities(name):
    """Y' = -A^+ A' Y: A Y stays zero along the motion; A' by differences of 1e-4, right to 1e-7."""
    mechanism = jet(name).mechanism
    run = da.Minimal().prepare(mechanism)
    x = run.from_absolute(mechanism.x_0)
    dx = np.zeros(len(x))
    assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    nq, nu, at = mechanism.nq, mechanism.nu, int(run.places.carry)

    def spread(v):
        return twist(mechanism, np.concatenate([mechanism.x_0[:nq], v, np.zeros(64)]))

    u = spread(mechanism.x_0[nq:][:nu])
    A, *_ = rows(mechanism, 0.0, mechanism.x_0)
    A_dot = difference(lambda h: rows(mechanism, h, moved(mechanism, mechanism.x_0, h * u))[0], 1e-4)
    W = mass_matrix(mechanism, mechanism.I[T.METRIC_F])
    columns = [(spread(x[at + nu * j :][:nu]), spread(dx[at + nu * j :][:nu])) for j in range(mechanism.degrees_of_freedom)]
    assert max(np.abs(y_dot).max() for _, y_dot in columns) > 1e-3
    for y, y_dot in columns:
        np.testing.assert_allclose(A @ y_dot + A_dot @ y, 0, rtol=0, atol=1e-6 * max(1.0, np.abs(A_dot).max()))
        for other, _ in columns:
            assert abs(other @ W @ y_dot) <= 1e-12 * max(1.0, np.abs(y_dot).max())


@pytest.mark.parametrize(
    "formulation", [da.Jet(), da.Minimal(), da.Impulse(), da.MovingFrame()], ids=lambda f: type(f).__name__
)
def test_positions_are_projected_onto_holonomic_rows_only(formulation):
    """A sphere lifted, shifted and turned: only its height comes back; its velocities then roll."""
    model = da.Model((0, 0, -9.81))
    model.add_body("ball", **da.sphere(1.0, 0.1).body(), position=(0, 0, 0.1), velocity=(0.3, 0, 0), angular_velocity=(0, 3, 0))
    model.add_rolling_sphere("contact", "ball", radius=0.1)
    mechanism = da.compile(model)
    run = formulation.prepare(mechanism)
    off = mechanism.x_0.copy()
    off[:3] += (0.02, -0.03, 0.004)
    off[7:10] += (0.1, 0.2, 0.3)
    x = run.from_absolute(mechanism.x_0)
    x[: len(off)] = off if run.tree is None else run.tree.from_absolute(off)
    status = run.project(T.PROJECT, 0.0, x, np.zeros_like(x), run.view)
    assert status == T.OK
    after = run.to_absolute(x[None])[0]
    np.testing.assert_allclose(after[:7], [0.02, -0.03, 0.1, 1, 0, 0, 0], rtol=0, atol=1e-12)
    v, w = after[7:10], after[10:13]
    np.testing.assert_allclose(v + np.cross(w, (0, 0, -0.1)), 0, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["table", "routh_sphere", "rolling_disc"])
def test_orthogonal_projection(name):
    """Coarse steps by both projections: the same motion to the order of the steps, residuals and energy as asked for."""
    orthogonal = [da.Jet(projection="orthogonal", invariants=f) for f in (None, "energy")]
    steps = da.RungeKutta4(step=0.005)
    mechanism, end = da.compile(MODELS[name]()), [0.05]
    expected = da.simulate(mechanism, 0.05, integrator=TIGHT, save_at=end)
    for formulation in orthogonal:
        run = da.simulate(mechanism, 0.05, formulation=formulation, integrator=steps, save_at=end)
        assert np.abs(run.x - expected.x).max() <= 1e-3 * max(1.0, np.abs(expected.u).max())
        assert max(run.drift.position.max(), run.drift.velocity.max()) <= 1.1e-11
        assert run.statistics.newton_maximum > 0
    assert np.ptp(run.energy.total) <= 1e-11 * run.energy.scale


@pytest.mark.parametrize("name", ["skate", "routh_sphere", "rolling_disc"])
def test_orthogonal_projection_is_stationary(name, rng):
    """The gradient of the distance lies in the span of A^T mu + B^T alpha, A^T alpha, where rows of velocities have no mu.

    B = d(A u + g_t)/dq by differences of 1e-3, right to 1e-8; the iteration ends with a step below 1e-9.
    """
    mechanism = da.compile(MODELS[name]())
    run, n = da.Jet(projection="orthogonal", tolerance=1e-13).prepare(mechanism), 6 * mechanism.nb
    W, held = mass_matrix(mechanism, mechanism.I[T.METRIC_F]), [not row.nonholonomic for row in mechanism.rows]
    a = moved(mechanism, mechanism.x_0, *(1e-3 * rng.standard_normal((2, n))))
    x = a.copy()
    assert run.project(T.PROJECT, 0.2, x, np.zeros_like(x), run.view) == T.OK

    def velocity_residual(y):
        A, _, g_t, _ = rows(mechanism, 0.2, y)
        return A @ twist(mechanism, y) + g_t

    def distance(d):
        y = (moved(mechanism, x, d) - a)[: mechanism.nq].reshape(-1, 7)
        return 0.5 * np.sum(y[:, :3] ** 2) + 2.0 * W[3, 3] * np.sum(y[:, 3:] ** 2)

    A = rows(mechanism, 0.2, x)[0]
    one = np.eye(n)
    B = np.array([difference(lambda h, e=e: velocity_residual(moved(mechanism, x, h * e))) for e in one]).T
    in_q = np.array([difference(lambda h, e=e: distance(h * e)) for e in one])
    whole = np.concatenate([in_q, W @ (twist(mechanism, x) - twist(mechanism, a))])
    span = np.block([[A[held].T, B.T], [np.zeros_like(A[held].T), A.T]])
    multipliers = np.linalg.lstsq(span, -whole, rcond=None)[0]
    assert np.abs(whole + span @ multipliers).max() <= 1e-7 * np.abs(whole).max() + 1e-9
    assert np.abs(whole).max() > 1e-5
