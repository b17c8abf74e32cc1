"""Gauss-Legendre methods on constrained motion: orders for each number of stages, symmetry, invariants, stiff stages."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.integrators.advance import Advance
from dalembert.integrators.collocation_tableau import gauss_tableau
from dalembert.kernels.base import tables as T
from dalembert.kernels.time.implicit_stages import apply_velocity_map

EXACT = {"tolerance": 1e-13, "velocity_tolerance": 1e-13}
PROBLEMS = {
    "pendulum with torque": (lambda: gallery.pendulum_3d(torque=(0.0, 10.0, 0.0)), 0.8),
    "slider-crank": (gallery.slider_crank, 0.24),
}
# numbers of steps, multiples of four, in the asymptotic range and above rounding
STEPS = {
    "pendulum with torque": {1: (100, 200, 400), 2: (40, 80, 160), 3: (12, 24, 48), 4: (8, 12, 16)},
    "slider-crank": {1: (100, 200, 400), 2: (40, 80, 160), 3: (24, 48, 64), 4: (12, 16, 24, 32)},
}
every_problem = pytest.mark.parametrize("problem", PROBLEMS)
every_method = pytest.mark.parametrize("stages", range(1, 9))


@cache
def mechanism(problem):
    return da.compile(PROBLEMS[problem][0]())


def simulate(problem, integrator, **options):
    """States at four times that every step sequence meets."""
    t_end = PROBLEMS[problem][1]
    times = t_end * np.array([0.25, 0.5, 0.75, 1.0])
    return da.simulate(mechanism(problem), t_end, formulation=da.Jet(**EXACT, **options), integrator=integrator, save_at=times)


@cache
def reference(problem):
    return simulate(problem, da.DOP853(step=PROBLEMS[problem][1] / 400))


def slope(steps, errors):
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


@every_problem
@pytest.mark.parametrize("projected", ["none", "constraints"])
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_order_is_twice_the_number_of_stages(problem, projected, stages):
    exact, steps = reference(problem), STEPS[problem][stages]
    errors = {"q": [], "u": [], "lambda": []}
    for n in steps:
        solution = simulate(problem, da.GaussLegendre(stages, step=PROBLEMS[problem][1] / n), stages=projected)
        errors["q"].append(np.linalg.norm(solution.q - exact.q))
        errors["u"].append(np.linalg.norm(solution.u - exact.u))
        errors["lambda"].append(np.linalg.norm(solution.evaluated.lam - exact.evaluated.lam))
    for name, values in errors.items():
        measured = slope(steps, values)
        # two leading terms of like size hide or add part of an order; less than the next lower even order is excluded
        allowed = {1: 0.1, 2: 0.15, 3: 0.8, 4: 1.3}[stages]
        assert abs(measured - 2 * stages) <= allowed, (name, measured)


@every_problem
def test_more_stages_are_more_accurate(problem):
    """At one step size, until projection and rounding (1e-11) are met."""
    steps = {"pendulum with torque": 8, "slider-crank": 16}[problem]
    errors = []
    for stages in range(1, 9):
        solution = simulate(problem, da.GaussLegendre(stages, step=PROBLEMS[problem][1] / steps))
        errors.append(np.abs(solution.x - reference(problem).x).max())
    for coarse, fine in pairwise(errors):
        assert fine <= max(0.2 * coarse, 1e-11)
    assert errors[-1] <= 1e-11


DENSE_STEPS = {1: (50, 100, 200), 2: (20, 40, 80), 3: (8, 16, 32), 4: (8, 12, 16), 5: (5, 7, 10)}


@pytest.mark.parametrize("stages", DENSE_STEPS)
def test_saved_values_between_steps(stages):
    """Order min(2 s, s + 2): stages have order s, ends order 2 s."""
    times = 0.8 * np.linspace(0.0, 1.0, 24)[1:-1]
    system, formulation = mechanism("pendulum with torque"), da.Jet(**EXACT)
    n = system.nq + system.nu
    fine = da.simulate(system, 0.8, formulation=formulation, integrator=da.GaussLegendre(8, step=0.8 / 24), save_at=times)
    finer = da.simulate(system, 0.8, formulation=formulation, integrator=da.GaussLegendre(8, step=0.8 / 36), save_at=times)
    assert np.abs(fine.x - finer.x).max() <= 2e-12
    errors = []
    for steps in DENSE_STEPS[stages]:
        integrator = da.GaussLegendre(stages, step=0.8 / steps)
        solution = da.simulate(system, 0.8, formulation=formulation, integrator=integrator, save_at=times)
        errors.append(np.abs(solution.x[:, :n] - finer.x[:, :n]).max())
        assert solution.drift.position.max() <= 1e-12
    assert slope(DENSE_STEPS[stages], errors) >= min(2 * stages, stages + 2) - 0.3


@every_method
def test_error_follows_the_tolerance(stages):
    """err per step = tolerance is C h^(2s+1), so the error at the end goes with tolerance^(2s / (2s + 1)) or faster."""
    tolerances = 10.0 ** -np.arange(4, 8 if stages == 1 else 11)
    system, formulation = mechanism("pendulum with torque"), da.Jet(**EXACT)
    tight = da.DOP853(rtol=1e-13, atol=1e-13)
    exact = da.simulate(system, 8.0, formulation=formulation, integrator=tight, save_at=[8.0])
    errors = []
    for tolerance in tolerances:
        integrator = da.GaussLegendre(stages, rtol=tolerance, atol=tolerance)
        solution = da.simulate(system, 8.0, formulation=formulation, integrator=integrator, save_at=[8.0])
        errors.append(np.abs(solution.x - exact.x).max())
        assert errors[-1] <= 5e3 * tolerance ** (2 * stages / (2 * stages + 1))
    measured = np.polyfit(np.log10(tolerances), np.log10(errors), 1)[0]
    assert 2 * stages / (2 * stages + 1) - 0.2 <= measured <= 1.4


def spinning_body_on_springs():
    """Six degrees of freedom, no constraint: what is kept is kept by the method, not by a projection."""
    model = da.Model()
    body = model.add_body("body", mass=2.0, inertia=(0.3, 0.5, 0.7), velocity=(0.3, 0, 0), angular_velocity=(3.0, 0.2, -1.0))
    for k, point in enumerate([(0.5, 0, 0), (0, 0.4, 0), (0, 0, -0.3)]):
        anchor = tuple(2.0 * c for c in point)
        model.add_spring_damper(f"spring {k}", model.ground, body, points=(anchor, point), stiffness=60.0, length=0.4)
    return model


@every_method
def test_unit_length_is_kept_without_normalisation(stages):
    """A quadratic invariant: the length before normalisation, over one step from a unit quaternion."""
    run = da.Jet().prepare(da.compile(spinning_body_on_springs()))
    integrator = da.GaussLegendre(stages, step=0.05)
    advance = Advance(run, integrator, 0.0, run.mechanism.x_0, 1.0, None)
    worst = 0.0
    for _ in range(20):
        x_0, begin = advance.x.copy(), advance.t
        assert advance.steps(1) in (T.OK, T.TOO_MANY_STEPS)
        advance.saved()
        k = advance.bundle.stages[1 : stages + 1]  # rates at the stages of the step
        x_1 = x_0 + (advance.t - begin) * integrator.tableau.a[stages + 1, 1 : stages + 1] @ k
        worst = max(worst, abs(np.linalg.norm(x_1[3:7]) - 1.0))
    assert worst <= 1e-13  # the stage tolerance


@every_method
def test_forward_and_back(stages):
    """A symmetric method undoes its steps: with the velocities reversed it returns to where it came from."""
    system = da.compile(spinning_body_on_springs())
    run, integrator = da.Jet().prepare(system), da.GaussLegendre(stages, step=0.05)

    def integrate(x_0):
        advance = Advance(run, integrator, 0.0, x_0, 1.0, None)
        assert advance.steps(1000) == T.OK
        assert advance.accepted == 20
        return advance.x.copy()

    def reversed_state(x):
        x = x.copy()
        x[system.nq : system.nq + system.nu] *= -1.0
        return x

    end = integrate(system.x_0)
    assert np.abs(end - system.x_0).max() > 0.1
    back = reversed_state(integrate(reversed_state(end)))
    n = system.nq + system.nu
    assert np.abs(back[:n] - system.x_0[:n]).max() <= 2e-11  # 40 steps solved to 1e-13, and the motion spreads them


@every_method
def test_quadratic_invariants_of_the_free_top(stages):
    """Energy w.J w / 2 and |J w|^2 are kept by the coarsest step, as is every quadratic invariant."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("top", mass=2.0, inertia=(0.3, 0.5, 0.7), angular_velocity=(0.3, 3.0, -0.2))
    solution = da.simulate(model, 20.0, integrator=da.GaussLegendre(stages, step=0.1))
    w_B = solution.angular_velocity("top", frame="body")
    momentum = np.linalg.norm(w_B * (0.3, 0.5, 0.7), axis=1)
    for values in (solution.energy.total, momentum):
        assert np.abs(values / values[0] - 1.0).max() <= 1e-11  # 200 steps solved to 1e-13
    assert np.ptp(w_B[:, 1]) > 1.0  # it tumbles


@every_problem
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_energy_over_a_thousand_steps(problem, stages):
    """Projection is not symmetric, so energy errors grow, linearly at most [HairerLubichWanner2006, V.4]; bounds are measured
    (1.1e-4, 1.3e-8, 3.2e-10 and 8.9e-6, 1.3e-8, 3.8e-10) plus a half."""
    builder = {"pendulum with torque": gallery.pendulum_3d, "slider-crank": gallery.slider_crank}[problem]
    step = {"pendulum with torque": 0.05, "slider-crank": 0.004}[problem]
    bound = {"pendulum with torque": (1.6e-4, 2e-8, 5e-10), "slider-crank": (1.4e-5, 2e-8, 6e-10)}[problem][stages - 2]
    solution = da.simulate(builder(), 1000 * step, integrator=da.GaussLegendre(stages, step=step))
    errors = np.abs(solution.energy.total - solution.energy.total[0]) / solution.energy.scale
    assert errors.max() <= bound
    assert errors[-500:].max() <= 3.0 * errors[:500].max()


def damped_rotor(rate):
    """A rotor on a revolute joint whose damper stops it like exp(-rate t)."""
    model = da.Model(gravity=(0, 0, 0))
    rotor = model.add_body("rotor", mass=1.0, inertia=(0.2, 0.2, 1 / 3), angular_velocity=(0, 0, 2.0))
    model.add_revolute("hinge", model.ground, rotor, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint_spring_damper("damper", "hinge", damping=rate / 3)
    return model


def stability_function(s, z):
    a = gauss_tableau(s).a
    b, a = a[s + 1, 1 : s + 1], a[1 : s + 1, 1 : s + 1]
    return 1 + z * b @ np.linalg.solve(np.eye(s) - z * a, np.ones(s))


@every_method
@pytest.mark.parametrize("rate", [840.0, 8_400.0, 84_000.0])
def test_stiff_damper_needs_newton(stages, rate):
    """w_n = R(-h rate)^n w_0 to rounding; Newton is chosen where functional iteration cannot contract. Accelerated
    it does at 840 / s for some methods, and up to 8,400 / s for the one unknown of the midpoint rule, a secant method."""
    model = damped_rotor(rate)
    solution = da.simulate(model, 0.2, integrator=da.GaussLegendre(stages, step=0.01))
    expected = 2.0 * stability_function(stages, -0.01 * rate) ** np.arange(21)
    np.testing.assert_allclose(solution.angular_velocity("rotor")[:, 2], expected, rtol=0, atol=1e-11)
    statistics = solution.statistics
    if rate > (10_000.0 if stages == 1 else 1000.0):
        assert statistics.stage_solver == "Newton"
        assert statistics.stage_newton_steps == 20
        assert 1 <= statistics.stage_jacobians <= 3  # a linear damper: one Jacobian would do but for the end of the run
        text = "the stage equations could not be solved at t = 0 s: .*; use solver='newton' or a smaller step"
        with pytest.raises(da.SimulationError, match=text):
            da.simulate(model, 0.2, integrator=da.GaussLegendre(stages, step=0.01, solver="fixed-point"))


@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        *((name, da.Jet()) for name in ("chain", "slider_crank", "andrews", "oscillator_on_circle")),
        *((name, da.MovingFrame()) for name in ("chain", "slider_crank", "mobile", "four_bar", "euler_top")),
        ("slider_crank", da.Minimal()),
    ],
)
def test_velocity_map(name, formulation):
    """q' = N(q) u block by block, in absolute, planar, relative and generalised coordinates, at random velocities."""
    planar = {"coordinates": "planar"} if name == "andrews" else {}
    run = formulation.prepare(da.compile(gallery.build(name), **planar))
    x = run.from_absolute(run.mechanism.x_0)
    nq, rng = run.mechanism.nq if run.tree is None else int(run.I[T.NQ]), np.random.default_rng(3)
    if not isinstance(formulation, da.Minimal):  # whose velocities are tangent to the constraints
        x[nq : run.size] = rng.standard_normal(run.size - nq)
    rate, found = np.zeros_like(x), np.zeros_like(x)
    assert run.system(T.RATE, 0.0, x, rate, run.view) == T.OK
    apply_velocity_map(run.velocity_map, x, x, found)
    np.testing.assert_allclose(found[:nq], rate[:nq], rtol=0, atol=1e-13)


def test_sweeps_of_long_chains():
    """Functional iteration contracts like (h w)^2, w the highest frequency, which grows with the root of the number of rods:
    2.0 and 4.7 sweeps per step to 1e-15, where changes that are not passed on to q' take 4.4 and 10.2."""
    for rods, bound in ((4, 2.1), (64, 5.2)):
        options = {"formulation": da.MovingFrame(), "integrator": da.GaussLegendre(3, step=0.01, solver="fixed-point")}
        solution = da.simulate(gallery.chain(rods, angle=0.1), 2.0, save_at=[2.0], **options)
        assert solution.statistics.stage_iterations_average <= bound


def test_stiff_chain_in_space():
    """The twist of a chain with dampers of 70 and 7,000 kg m^2/s in its joints, h = 0.01: energy balance and solver."""
    for damping in (70.0, 7000.0):
        model = gallery.chain(4, angle=0.8)
        for k in range(1, 5):
            model.add_joint_spring_damper(f"damper {k}", f"joint {k}", damping=damping)
        model.add_torque("twist", "rod 4", (0.0, 0.0, 20.0), frame="body")
        solution = da.simulate(model, 2.0, integrator=da.GaussLegendre(3, step=0.01))
        assert "Newton" in solution.statistics.stage_solver
        assert solution.statistics.stage_jacobians <= 20
        errors = np.abs(solution.energy.total - solution.energy.total[0]) / solution.energy.scale
        assert errors.max() <= 1e-5
        report = {line["name"]: line["value"] for line in solution.report().to_dict()["lines"]}
        assert "Jacobian" in report["implicit stages"]


def test_functional_iteration_is_taken_up_again():
    """A damper that vanishes after a while: Newton first, functional iteration when it contracts again."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("bead", mass=1.0, position=(0, 0, 0), velocity=(1.0, 0, 0))
    model.add_force("drag", "bead", lambda t, r, v, R, w: (-1000.0 * v if t < 0.5 else 0.0 * v) - 4.0 * r)
    solution = da.simulate(model, 4.0, integrator=da.GaussLegendre(2, step=0.01))
    statistics = solution.statistics
    assert statistics.stage_solver == "functional iteration, Newton"
    assert 50 <= statistics.stage_newton_steps <= 110
    assert statistics.accepted == 400


@every_problem
def test_solvers_agree(problem):
    step = PROBLEMS[problem][1] / 32
    by_newton = simulate(problem, da.GaussLegendre(3, step=step, solver="newton"))
    by_iteration = simulate(problem, da.GaussLegendre(3, step=step, solver="fixed-point"))
    assert np.abs(by_newton.x - by_iteration.x).max() <= 1e-11
    assert by_newton.statistics.stage_newton_steps == by_newton.statistics.accepted == 32
    assert by_iteration.statistics.stage_newton_steps == by_iteration.statistics.stage_jacobians == 0
    assert by_iteration.statistics.stage_solver == "functional iteration"
    assert by_newton.statistics.stage_solver == "Newton"
    for solution in (by_newton, by_iteration):
        assert 1.0 < solution.statistics.stage_iterations_average <= solution.statistics.stage_iterations_maximum <= 30


def test_adaptive_steps_through_a_stiff_start():
    """exp(-840 t): small steps while it matters, then large ones, by either solver."""
    solution = da.simulate(damped_rotor(840.0), 0.5, integrator=da.GaussLegendre(3, rtol=1e-7, atol=1e-7))
    exact = 2.0 * np.exp(-840.0 * solution.t)
    assert np.abs(solution.angular_velocity("rotor")[:, 2] - exact).max() <= 1e-5
    assert solution.statistics.largest_step > 10 * solution.statistics.smallest_step


def test_events_are_located_with_the_order_of_the_method():
    """The pendulum passes its lowest point: the same time as with DOP853."""
    times = []
    for integrator in (da.GaussLegendre(3, step=0.01), da.DOP853(rtol=1e-12, atol=1e-12)):
        model = gallery.pendulum_3d()
        name = model.bodies[0].name
        event = da.Event(lambda state, name=name: state.velocity(name)[1], name="lowest", direction=1)
        solution = da.simulate(model, 3.0, integrator=integrator, events=event)
        times.append([t for _, t in solution.events])
    assert len(times[0]) >= 1
    np.testing.assert_allclose(times[0], times[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("value", [0, 9, 2.5, True, "three"])
def test_number_of_stages_is_checked(value):
    with pytest.raises(ModelError, match=r"GaussLegendre: stages is .*; give a whole number from 1 to 8"):
        da.GaussLegendre(value)


def test_other_options_are_checked():
    with pytest.raises(ModelError, match="GaussLegendre: solver is 'wrong'; give one of auto, fixed-point, newton"):
        da.GaussLegendre(solver="wrong")
    for value in (0.0, -1.0, float("nan")):
        with pytest.raises(ModelError, match=r"GaussLegendre: stage_tolerance is .*; give a positive number"):
            da.GaussLegendre(stage_tolerance=value)
