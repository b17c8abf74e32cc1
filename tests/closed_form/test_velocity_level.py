"""Impulse and Soft against the towing-tank reference, the slider-crank and each other [ConstraintNotes]."""

import itertools
from functools import cache

import numpy as np
import pytest
from reference_data import load

import dalembert as da
from dalembert import gallery
from dalembert.compilation.rows import dense_rows
from dalembert.gallery.towing_tank import OFFSET
from dalembert.kernels.base import tables as T

REFERENCE = load("ship_heave_pitch")
TIMES = np.array(REFERENCE["t"])
WEIGHT = 120.0 * 9.81
CRANK_END = 0.4


def sail(formulation, step, integrator=da.RungeKutta4):
    return da.simulate(
        gallery.towing_tank_ship(), 10.0, formulation=formulation, integrator=integrator(step=step), save_at=TIMES
    )


def pitch_error(solution):
    return np.abs(solution.cardan("ship").pitch - REFERENCE["columns"]["theta"]).max()


def mount_loads(solution):
    """Force, and moment about the mount: roll and yaw act as torques, the others at the mount itself."""
    force = sum(solution.reaction(name).force for name in ("surge", "sway", "heave"))
    return force, sum(solution.reaction(name).torque for name in ("roll", "yaw"))


def load_errors(solution, first=0):
    loads = zip(mount_loads(solution), ("F_mount", "M_mount"), strict=True)
    return [np.abs(value - np.array(REFERENCE["columns"][name]))[first:].max() for value, name in loads]


@pytest.mark.parametrize("metric", ["euclidean", "mass"])
def test_ship_by_impulses(metric):
    """Pitch to 1e-6 rad and loads of 1.2 kN to 1e-6 of that at h = 1e-4; measured 6e-9 and 4e-10."""
    solution = sail(da.Impulse(metric=metric), 1e-4)
    assert pitch_error(solution) <= 1e-6 / 100
    assert max(load_errors(solution)) <= 1e-6 * WEIGHT / 100
    assert solution.drift.position.max() <= 1e-10
    assert solution.drift.velocity.max() <= 1e-10
    assert np.ptp(solution.energy.total) <= 1e-6  # the work of the heave is accounted for
    assert solution.report().passed
    # the mean reaction over a step is that of its middle: off by h/2 times a rate of at most 0.1 kN/s
    mean = solution.mean_reaction("heave").force[1:, 2]
    assert np.abs(mean - solution.reaction("heave").force[1:, 2]).max() <= 0.5e-4 * 110
    assert np.isnan(solution.mean_reaction("heave").force[0]).all()
    # the last of 1e5 steps takes up their rounding, 1e-7 of a step
    np.testing.assert_allclose(solution.impulse("heave").force[1:, 2], 1e-4 * mean, rtol=1e-6)


def test_ship_by_jet():
    solution = da.simulate(gallery.towing_tank_ship(), 10.0, integrator=da.DOP853(rtol=1e-12, atol=1e-12), save_at=TIMES)
    assert pitch_error(solution) <= 1e-9
    assert max(load_errors(solution)) <= 1e-9 * WEIGHT


@cache
def crank_reference():
    tight = da.DOP853(rtol=1e-12, atol=1e-12)
    return da.simulate(gallery.slider_crank(), CRANK_END, integrator=tight, save_at=np.linspace(0, CRANK_END, 21))


@cache
def crank_errors(formulation, integrator, steps):
    reference = crank_reference()
    solution = da.simulate(
        reference.mechanism,
        CRANK_END,
        formulation=formulation,
        integrator=integrator(step=CRANK_END / steps),
        save_at=reference.t,
    )
    return np.abs(solution.q - reference.q).max(), np.abs(solution.u - reference.u).max(), solution.drift.position.max()


def orders(formulation, integrator, steps=(800, 1600, 3200)):
    errors = np.array([crank_errors(formulation, integrator, n)[:2] for n in steps])
    return np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize(
    ("formulation", "integrator", "order"),
    [
        (da.Impulse(predict=False), da.Euler, 1),
        (da.Impulse(predict=False), da.RungeKutta4, 1),
        (da.Impulse(predict=False, stabilisation=None), da.RungeKutta4, 1),
        (da.Impulse(), da.Euler, 1),
        (da.Impulse(), da.Midpoint, 2),
        (da.Impulse(), da.RungeKutta4, 2),
        (da.Impulse(metric="mass"), da.DormandPrince, 2),
        (da.Impulse(stabilisation=None), da.RungeKutta4, 2),
        (da.Impulse(stabilisation="baumgarte"), da.RungeKutta4, 2),
        (da.Soft(stiffness=1e12), da.RungeKutta4, 1),
    ],
    ids=str,
)
def test_order_of_convergence(formulation, integrator, order):
    """The splitting as printed has order 1 whatever the integrator; with the reaction at the start it has order 2."""
    measured = orders(formulation, integrator)
    assert measured.min() >= order - 0.25, measured
    assert measured.max() <= order + 0.6, measured


@pytest.mark.parametrize("metric", ["euclidean", "mass"])
@pytest.mark.parametrize("predict", [True, False])
def test_projection_leaves_no_drift(metric, predict):
    assert crank_errors(da.Impulse(metric=metric, predict=predict), da.RungeKutta4, 800)[2] <= 1e-10


def test_baumgarte_needs_tau_above_half_a_step():
    """An error decays by 1 - 1/tau per step: |.| < 1 for tau > 1/2 [ConstraintNotes, (26)]."""
    drift = {
        tau: crank_errors(da.Impulse(stabilisation="baumgarte", tau=tau), da.RungeKutta4, 400)[2] for tau in (0.6, 2.0, 20.0)
    }
    assert drift[2.0] < drift[20.0] < crank_errors(da.Impulse(stabilisation=None), da.RungeKutta4, 400)[2]
    assert drift[0.6] < 1e-3
    with pytest.raises(da.SimulationError):
        crank_errors(da.Impulse(stabilisation="baumgarte", tau=0.4), da.RungeKutta4, 400)


def mass_matrix(mechanism):
    blocks = [np.r_[np.full(3, body.mass), np.zeros(3)] for body in mechanism.model.bodies]
    M = np.diag(np.concatenate(blocks))
    for b, body in enumerate(mechanism.model.bodies):
        M[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = body.inertia
    return M


def test_mass_metric_takes_the_least_kinetic_energy():
    """The correction is the smallest in the norm of M among all that lead to admissible velocities."""
    mechanism = da.compile(gallery.slider_crank())
    rng = np.random.default_rng(5)
    M = mass_matrix(mechanism)
    G, _, g_t, _ = dense_rows(mechanism, 0.0, mechanism.x_0)
    u_star = rng.normal(size=len(M))
    u, impulse = da.constrain(M, u_star, G, g_t)
    least = (u - u_star) @ M @ (u - u_star)
    np.testing.assert_allclose(M @ (u - u_star), G.T @ impulse, rtol=0, atol=1e-12)
    null = np.linalg.svd(G)[2][np.linalg.matrix_rank(G) :]
    for _ in range(50):
        other = u + null.T @ (0.1 * rng.normal(size=len(null)))
        assert np.abs(G @ other + g_t).max() <= 1e-12
        assert (other - u_star) @ M @ (other - u_star) > least


def one_step(model, h):
    """(u after one step of Impulse as printed, u* by hand, M, A at q_0 and t_1, b)."""
    mechanism = da.compile(model)
    formulation = da.Impulse(predict=False, stabilisation=None)
    solution = da.simulate(mechanism, h, formulation=formulation, integrator=da.Euler(step=h))
    assert len(solution.t) == 2
    M, u = mass_matrix(mechanism), solution.u[0]
    f = np.zeros(len(u))
    for b, body in enumerate(model.bodies):
        w = u[6 * b + 3 : 6 * b + 6]
        f[6 * b : 6 * b + 3] = body.mass * np.array(model.gravity)
        f[6 * b + 3 : 6 * b + 6] = -np.cross(w, body.inertia @ w)
    A, _, g_t, _ = dense_rows(mechanism, h, mechanism.x_0)
    return solution, u + h * np.linalg.solve(M, f), M, A, g_t


@pytest.mark.parametrize("model", [gallery.slider_crank, gallery.towing_tank_ship, gallery.spatial_four_bar])
def test_constrain_gives_the_same_velocities(model):
    """Dense, sparse and compiled; the four-bar has redundant rows, which `constrain` keeps and the library leaves out."""
    from scipy import sparse

    solution, u_star, M, A, b = one_step(model(), 1e-3)
    if solution.mechanism.redundant:  # rows that the library leaves out are zero in A: repeat two of the others instead
        A, b = np.vstack([A[: solution.mechanism.m], A[:2]]), np.concatenate([b[: solution.mechanism.m], b[:2]])
    dense = da.constrain(M, u_star, A, b)
    scale = np.abs(solution.u[1]).max()
    np.testing.assert_allclose(dense.velocity, solution.u[1], rtol=0, atol=1e-11 * scale)
    for kind in (sparse.csr_matrix, sparse.csc_array):
        other = da.constrain(kind(M), u_star, kind(A), b)
        np.testing.assert_allclose(other.velocity, dense.velocity, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(
            A.T @ other.impulse, A.T @ dense.impulse, rtol=0, atol=1e-9 * np.abs(A.T @ dense.impulse).max()
        )


def test_redundant_constraints_give_the_same_motion():
    runs = [
        da.simulate(gallery.build(name), 1.0, formulation=formulation, integrator=da.RungeKutta4(step=1 / 512))
        for name, formulation in itertools.product(("four_bar", "four_bar_twin"), (da.Impulse(), da.Soft(stiffness=1e9)))
    ]
    for k in (0, 1):
        redundant, twin = runs[k], runs[k + 2]
        assert len(redundant.mechanism.redundant) == 3
        assert not twin.mechanism.redundant
        for body in redundant.mechanism.body_names:
            # rigid: rounding, and what projection leaves; soft: joints of other kinds give way differently, by 1e-8 m
            difference = np.abs(redundant.position(body) - twin.position(body)).max()
            assert difference <= (1e-9 if k == 0 else 1e-5), (k, body, difference)
    assert "redundant rows" in [line.name for line in runs[0].report().lines]


def test_soft_tends_to_rigid_as_stiffness_grows():
    """The mount gives way by force / kp: the error falls tenfold with every tenfold stiffness."""
    solutions = {kp: sail(da.Soft(stiffness=kp, damping=0.02 * kp), 2.5e-4) for kp in (1e5, 1e6, 1e7)}
    heave = {kp: solution.drift.by_joint("heave").position[4:].max() for kp, solution in solutions.items()}
    assert heave[1e5] / heave[1e6] == pytest.approx(10, rel=0.01)  # 10.009 and 10.069; halving the step halves the rest
    assert heave[1e6] / heave[1e7] == pytest.approx(10, rel=0.01)
    force = np.array(REFERENCE["columns"]["F_mount"])[4:, 2]
    assert heave[1e6] == pytest.approx(np.abs(force).max() / 1e6, rel=0.01)
    rigid = sail(da.Impulse(predict=False, stabilisation=None), 1e-3)
    stiff = sail(da.Soft(stiffness=1e12), 1e-3)
    assert np.abs(stiff.q - rigid.q).max() <= 3e-4  # both of order 1 in h = 1e-3
    for solution in (*solutions.values(), stiff):
        report = solution.report()
        assert report.passed, report
        assert report["position drift"].verdict == "note"
        assert "joints give way, as asked for" in report["position drift"].value


@pytest.mark.parametrize("damping", [0.0, 1.0])
@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12])
def test_soft_is_stable_for_any_stiffness(stiffness, damping):
    solution = sail(da.Soft(stiffness=stiffness, damping=damping * stiffness), 1e-2)
    assert pitch_error(solution) <= 3e-3
    assert load_errors(solution, first=1)[0] <= 1e-3 * WEIGHT  # at the start nothing has given way
    # force / kp, and h / 2 times the heave's acceleration of 0.4 m/s^2 over the kd / kp = 1 s that a damped joint takes
    force = np.abs(REFERENCE["columns"]["F_mount"]).max()
    assert solution.drift.position.max() <= 1.001 * force / stiffness + damping * 0.5e-2 * 0.4 + 5e-6


@pytest.mark.parametrize("gains", [{}, {"stiffness": 1e10, "damping": 1e6}])
def test_the_work_of_stiff_joints_does_not_grow_with_time(gains):
    """A double pendulum falls under a law: joints that hardly give way do no work, and the balance is that of a step."""
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (0.5, 0, 0), mass=1.0)
    model.add_link("fore", (0.5, 0, 0), (1.0, 0, 0), mass=0.7)
    model.add_revolute("shoulder", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("elbow", "arm", "fore", point=(0.5, 0, 0), axis=(0, 1, 0))
    run = {"formulation": da.Soft(**gains), "integrator": da.RungeKutta4(step=2.5e-4), "save_at": [0.0, 0.25, 0.5]}
    bare = da.simulate(model, 0.5, **run)
    assert np.abs(bare.energy.external_work).max() <= 1e-5 * bare.energy.scale  # 1.6e-5 of 7 J; along h A u+ 2.4e-2
    model.add_motor("motor", "shoulder", lambda t, s, s_dot: -5.0 * (s - 0.3) - 0.5 * s_dot)
    solution = da.simulate(model, 0.5, **run)
    exact = da.simulate(model, 0.5, integrator=da.DOP853(rtol=1e-10, atol=1e-10), save_at=run["save_at"])
    assert solution.report()["energy balance"].data <= 2e-3
    assert np.abs(solution.energy.external_work - exact.energy.external_work).max() <= 2e-3 * exact.energy.scale


def test_soft_gains_by_joint():
    """A vertical driver of 1e5 N/m holds the weight with 12 mm; the others, by default, do not move."""
    gains = {"heave": 1e5, "default": 1e10}
    solution = sail(da.Soft(stiffness=gains, damping={"heave": 2e3}), 1e-3)
    drift = {name: solution.drift.by_joint(name).position[4:].max() for name in ("heave", "surge", "roll")}
    assert 0.9 * WEIGHT / 1e5 <= drift["heave"] <= 1.2 * WEIGHT / 1e5
    assert drift["surge"] <= 1e-6 and drift["roll"] <= 1e-6
    # g = -lam / kp: the reaction is the compliant force
    g = solution.evaluated.g[:, solution.mechanism.rows_of("heave")[0]]
    g_dot = solution.evaluated.g_dot[:, solution.mechanism.rows_of("heave")[0]]
    np.testing.assert_allclose(solution.reaction("heave").force[1:, 2], -(1e5 * g + 2e3 * g_dot)[1:], rtol=1e-3)


def test_compliant_mount_in_the_gallery():
    """The same ship on a sprung mount tends to the rigid one: error proportional to 1 / stiffness."""
    errors = []
    for stiffness in (2e5, 2e6):
        model = gallery.towing_tank_ship("compliant", stiffness=stiffness, damping=0.02 * stiffness)
        solution = da.simulate(model, 10.0, save_at=TIMES)
        assert solution.report().passed
        assert solution.mechanism.degrees_of_freedom == 2
        errors.append(pitch_error(solution))
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.25)


def drivers():
    arm = da.Model((0, -9.81, 0), name="angle")
    body = arm.add_body("arm", mass=1.5, inertia=(0.01, 0.02, 0.03), position=(0, -0.4, 0))
    arm.add_revolute("hinge", arm.ground, body, point=(0, 0, 0), axis=(0, 0, 1))
    bob = arm.add_body("bob", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0, -0.8, 0))
    arm.add_revolute("tip", body, bob, point=(0, -0.6, 0), axis=(0, 0, 1))
    arm.add_driver("drive", "hinge", da.Harmonic(0.5, 4.0, 0.3, 0.1))
    slide = da.Model((0, -9.81, 0), name="slide")
    cart = slide.add_body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    slide.add_prismatic("rail", slide.ground, cart, point=(0, 0, 0), axis=(1, 0, 0))
    bob = slide.add_body("bob", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0, -0.3, 0))
    slide.add_revolute("pin", cart, bob, point=(0, 0, 0), axis=(0, 0, 1))
    slide.add_driver("drive", "rail", da.Harmonic(0.2, 3.0))
    point = da.Model((0, -9.81, 0), name="point")
    bob = point.add_body("bob", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0.1, -0.3, 0))
    point.add_planar_joint("table", point.ground, bob, point=(0.1, -0.3, 0), axis=(0, 0, 1))
    for name, direction, motion in (("x", (1, 0, 0), da.Harmonic(0.2, 3.0)), ("y", (0, 1, 0), da.Polynomial((0, 0.1, 0.2)))):
        point.add_point_driver(name, bob, direction=direction, point=(-0.1, 0.3, 0), motion=motion)
    return [arm, slide, point]


WAYS = {
    "jet": (da.Jet(), None, "absolute", 1e-8),
    "jet planar": (da.Jet(), None, "planar", 1e-8),
    "moving frame": (da.MovingFrame(), None, "absolute", 1e-8),
    "minimal": (da.Minimal(), None, "absolute", 1e-8),
    "minimal planar": (da.Minimal(), None, "planar", 1e-8),
    "impulse": (da.Impulse(), da.RungeKutta4(step=1e-3), "absolute", 2e-4),
    "impulse planar": (da.Impulse(metric="mass"), da.RungeKutta4(step=1e-3), "planar", 2e-4),
    "soft": (da.Soft(stiffness=1e9), da.RungeKutta4(step=1e-3), "absolute", 2e-2),
}


@pytest.mark.parametrize("model", drivers(), ids=lambda model: model.name)
@pytest.mark.parametrize("way", WAYS)
def test_drivers_in_every_formulation(model, way):
    """The same motion, the same force of the drive, and its work in the energy balance."""
    times = np.linspace(0, 1, 11)
    exact = da.simulate(model, 1.0, integrator=da.DOP853(rtol=1e-11, atol=1e-11), save_at=times)
    formulation, integrator, coordinates, bound = WAYS[way]
    solution = da.simulate(model, 1.0, formulation=formulation, integrator=integrator, coordinates=coordinates, save_at=times)
    assert np.abs(solution.position("bob") - exact.position("bob")).max() <= bound
    assert np.abs(solution.angular_velocity("bob") - exact.angular_velocity("bob")).max() <= 20 * bound
    scale = exact.energy.scale
    assert np.abs(solution.energy.total - solution.energy.total[0]).max() <= 10 * bound * scale
    assert np.ptp(exact.energy.external_work) > 0.01 * scale
    assert np.abs(solution.energy.external_work - exact.energy.external_work).max() <= 20 * bound * scale
    for driver in model.drivers:
        a, b = solution.reaction(driver.name), exact.reaction(driver.name)
        size = max(np.abs(b.force).max(), np.abs(b.torque).max())
        first = int(way == "soft")  # nothing has given way at the start
        assert np.abs(a.force - b.force)[first:].max() <= 50 * bound * size
        assert np.abs(a.torque - b.torque)[first:].max() <= 50 * bound * size


def test_baumgarte_at_acceleration_level():
    """G u' + zeta = -2 alpha (G u + g_t) - beta^2 g at a state off the constraints."""
    mechanism = da.compile(gallery.towing_tank_ship())
    alpha, beta = 3.0, 7.0
    run = da.Jet(projection="none", baumgarte=(alpha, beta)).prepare(mechanism)
    rng = np.random.default_rng(2)
    x, dx = mechanism.x_0 + 0.01 * rng.normal(size=len(mechanism.x_0)), np.zeros(len(mechanism.x_0))
    x[3:7] /= np.linalg.norm(x[3:7])
    assert run.system(T.RATE, 0.3, x, dx, run.view) == T.OK
    G, g, g_t, zeta = dense_rows(mechanism, 0.3, x)
    u, u_dot = x[7:13], dx[7:13]
    assert np.abs(g).min() > 1e-5
    np.testing.assert_allclose(G @ u_dot + zeta, -2 * alpha * (G @ u + g_t) - beta**2 * g, rtol=0, atol=1e-11)


def test_baumgarte_at_acceleration_level_holds_without_projection():
    drift = {}
    for gains in (None, (20.0, 20.0)):
        formulation = da.Jet(projection="none", baumgarte=gains)
        solution = da.simulate(
            gallery.slider_crank(), 5.0, formulation=formulation, integrator=da.RungeKutta4(step=2e-3), coordinates="absolute"
        )
        assert not solution.report().passed  # drift is not hidden
        drift[gains] = solution.drift.position.max()
    assert 0 < drift[20.0, 20.0] < 0.1 * drift[None]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"baumgarte": (1.0, 1.0)}, "corrects twice; give projection='none'"),
        ({"baumgarte": (1.0,), "projection": "none"}, r"give \(alpha, beta\), two numbers"),
        ({"baumgarte": (1.0, -1.0), "projection": "none"}, r"give \(alpha, beta\), two numbers"),
        ({"projection": "none", "invariants": "energy"}, "projection='none' goes with invariants=None, not 'energy'"),
        ({"projection": "none", "solver": "cg"}, "projection='none' goes with solver='block', not 'cg'"),
    ],
)
def test_baumgarte_options_are_checked(options, text):
    with pytest.raises(da.ModelError, match=text):
        da.Jet(**options)


@pytest.mark.parametrize(
    "formulation", [da.Impulse(), da.Soft(stiffness={"heave": 1e6, "default": 1e8})], ids=["impulse", "soft"]
)
def test_impulses_are_saved(formulation, tmp_path):
    """Impulses, settings and dense output come back from a file; a formulation without impulses says so."""
    ship, step = gallery.towing_tank_ship(), da.RungeKutta4(step=1 / 64)
    solution = da.simulate(ship, 1.0, formulation=formulation, integrator=step, out=tmp_path / "run.zarr")
    solution.save(tmp_path / "saved.zarr")
    for name in ("run.zarr", "saved.zarr"):
        again = da.load(tmp_path / name)
        np.testing.assert_array_equal(again.impulse("heave").force, solution.impulse("heave").force)
        np.testing.assert_array_equal(again.reaction("heave").force, solution.reaction("heave").force)
        np.testing.assert_array_equal(again(0.3).position("ship"), solution(0.3).position("ship"))
    event = da.Event(lambda state: state.point("ship", -OFFSET)[2] - 0.05, name="up", stop=True)
    stopped = da.simulate(ship, 1.0, formulation=formulation, integrator=step, events=event)
    assert stopped.status == "event"
    assert 0 < stopped.more["step"][-1] <= 1 / 64
    assert np.isfinite(stopped.mean_reaction("heave").force[1:]).all()
    with pytest.raises(da.ModelError, match="Jet has no impulses; simulate with formulation=Impulse"):
        da.simulate(ship, 0.1).impulse("heave")
