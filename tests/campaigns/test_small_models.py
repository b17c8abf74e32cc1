"""Short runs of a few small models beside closed forms and balances: what works, rests, hangs, is redundant or not finite.

Quick without compiling, as `test_small_runs.py` is, and for the same mutations of the sources.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.compilation.flatten import flatten, turning_length
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import JIT

pytestmark = [pytest.mark.nojit, pytest.mark.filterwarnings("ignore")]

T_END = 0.02
ADAPTIVE = {"integrator": da.DOP853(rtol=1e-9, atol=1e-9, first_step=T_END), "save_at": [0.5 * T_END, T_END]}
plain_only = pytest.mark.skipif(JIT, reason="many kernels: their sources as plain Python are enough")


def lift(motion):
    """A pendulum on a driven slide."""
    model = da.Model()
    model.add_body("lift", mass=1.0, inertia=(1, 1, 1))
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.add_prismatic("rail", "ground", "lift", point=(0, 0, 0), axis=(0, 0, 1))
    if motion is not None:
        model.add_driver("drive", "rail", motion)
    model.add_revolute("hinge", "lift", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.mark.parametrize(
    ("way", "order"),
    [
        (da.Impulse(), 2),
        (da.Soft(), 1),
        (da.Variational(), 2),
        (da.Jet(), 4),
        (da.MovingFrame(), 4),
        (da.Minimal(), 4),
        (da.Minimal(velocities="joints"), 4),
    ],
)
def test_work_of_moving_constraints(way, order):
    """T + U - W_ext is constant to the order of the step where a driver works."""
    method = da.FixedStep if isinstance(way, da.Variational) else da.RungeKutta4
    left = []
    for step in (0.02, 0.01):
        energy = da.simulate(lift(da.Harmonic(0.2, 5.0)), 0.4, formulation=way, integrator=method(step=step)).energy
        left.append(np.abs(energy.total - energy.total[0]).max())
    assert left[1] <= 0.5 ** (order - 0.1) * left[0] and left[1] <= 0.1 * np.ptp(energy.external_work)


@plain_only
@pytest.mark.parametrize("way", [da.Minimal(), da.Minimal(velocities="joints")])
def test_work_of_a_written_motion(way):
    """The slide's motion as a row of one's own, beside the driver by Jet: places, velocities and work."""
    written = lift(None)
    written.add_constraint("drive", lambda lift, t: lift.r[2] - 0.2 * np.sin(5.0 * t), "lift")
    step, driven = da.DOP853(step=T_END), lift(da.Harmonic(0.2, 5.0))
    one, other = da.simulate(driven, T_END, integrator=step), da.simulate(written, T_END, formulation=way, integrator=step)
    for name in ("lift", "arm"):
        np.testing.assert_allclose(other.position(name), one.position(name), rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.velocity(name), one.velocity(name), rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.energy.external_work, one.energy.external_work, rtol=0, atol=1e-9)
    assert np.abs(one.energy.external_work).max() > 0.01


def test_work_of_a_pendulum_that_is_drawn_up():
    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - 9.81 * q.y,
        "x y",
        holonomic={"length": lambda q, t: q.x**2 + q.y**2 - (1 + 0.2 * np.sin(5 * t)) ** 2},
        initial={"x": 1.0, "y": 0.0},
        velocities={"x": 1.0, "y": 0.0},
    )
    energies = [
        da.simulate(system, 0.4, formulation=da.Variational(), integrator=da.FixedStep(step=h)).energy for h in (0.02, 0.01)
    ]
    left = [np.abs(energy.total - energy.total[0]).max() for energy in energies]
    assert left[1] <= 0.27 * left[0] and left[1] <= 0.01 * np.ptp(energies[1].external_work)


def test_work_of_rows_of_two_bodies_and_time():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("a", mass=1.0, velocity=(0, 0.3, 0))
    model.add_point_mass("b", mass=2.0, position=(1, 0, 0), velocity=(0.1, 0, 0))
    model.add_constraint("apart", lambda a, b, t: b.r[0] - a.r[0] - 1.0 - 0.1 * np.sin(t), ("a", "b"))
    run = da.simulate(model, 0.3, save_at=[0.3])
    assert run.position("b")[-1, 0] - run.position("a")[-1, 0] == pytest.approx(1 + 0.1 * np.sin(0.3), abs=1e-10)


def test_work_that_a_start_has_stored():
    """m v^2 / 2, and m g z with what a spring and a bushing have of it."""
    model = da.Model(gravity=(0, 0, -10.0))
    model.add_body("bob", mass=2.0, inertia=(1, 1, 1), position=(0.3, 0, 0.4), velocity=(0, 3.0, 0))
    model.add_spring_damper("spring", "ground", "bob", stiffness=50.0, length=0.2)
    at = ((0, 0, 0), (0, 0, 0))
    model.add_bushing("rubber", "ground", "bob", stiffness=(30.0, 30.0, 30.0, 1.0, 1.0, 1.0), points=at)
    found = da.compile(model).energies(da.compile(model).x_0, 0.0)
    assert found == pytest.approx((9.0, 8.0 + 25.0 * 0.3**2 + 15.0 * 0.5**2), rel=1e-14)


@plain_only
def test_work_of_a_function_that_is_kept():
    """Coarse steps of a ball pendulum lose energy; where a function of states asks for it they do not."""
    model = da.Model(gravity=(0, 0, -10.0))
    model.add_body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0, -0.4), angular_velocity=(2, 5, 1))
    model.add_spherical("hook", "ground", "ball", point=(0, 0, 0))

    def energy(t, q, u):
        return u[0] ** 2 + u[1] ** 2 + u[2] ** 2 + 0.05 * (u[3] ** 2 + u[4] ** 2 + u[5] ** 2) + 20.0 * q[2]

    lost = []
    for kept in (None, [energy]):
        run = da.simulate(model, 0.04, formulation=da.Jet(invariants=kept), integrator=da.Midpoint(step=0.02))
        lost.append(np.ptp([energy(0.0, q, u) for q, u in zip(run.q, run.u, strict=True)]))
    assert lost[0] >= 1e-5 and lost[1] <= 1e-12


@plain_only
def test_work_of_rows_of_velocities_and_time():
    """x' = sin(9 t) as a row of velocities: each step of Variational takes its mean over the step, by Gauss nodes."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cart", mass=2.0, inertia=(1, 1, 1), velocity=(0, 0.3, 0))
    model.add_velocity_constraint("belt", lambda cart, t: cart.v[0] - np.sin(9 * t), "cart")
    run = da.simulate(model, 0.2, formulation=da.Variational(), integrator=da.FixedStep(step=0.1))
    np.testing.assert_allclose(run.position("cart")[:, 0], (1 - np.cos(9 * run.t)) / 9, rtol=0, atol=1e-5)


@plain_only
def test_work_of_a_spring_as_its_effort():
    """Length, its rate, tension k (l - l_0) + c l' and power -F l' of a mass on a line; beside it, a tension of time."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("bob", mass=2.0, position=(1.5, 0, 0), velocity=(0.7, 0, 0))
    model.add_spring_damper("rope", "ground", "bob", stiffness=8.0, damping=3.0, length=1.0)
    model.add_spring_damper("winch", "ground", "bob", force=lambda t, l, l_dot: 5.0 * np.cos(9.0 * t))
    run = da.simulate(model, 0.1, integrator=da.RungeKutta4(step=0.05))
    effort, l, rate = run.effort("rope"), run.position("bob")[:, 0], run.velocity("bob")[:, 0]
    tension = 8.0 * (l - 1.0) + 3.0 * rate
    for found, expected in (
        (effort.coordinate, l),
        (effort.rate, rate),
        (effort.value, tension),
        (effort.power, -tension * rate),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_allclose(effort.force, -tension[:, None] * np.array([1, 0, 0]), rtol=1e-13)
    np.testing.assert_allclose(effort.energy, 4.0 * (l - 1.0) ** 2, rtol=1e-13)
    np.testing.assert_allclose(run.effort("winch").value, 5.0 * np.cos(9.0 * run.t), rtol=1e-13)


def test_motion_rests_after_its_end():
    run = da.simulate(lift(da.SmoothStep(0.0, 0.2, 0.05, 0.15)), 0.3, save_at=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(run.coordinate("rail").ravel(), (0.1, 0.2, 0.2), rtol=0, atol=1e-9)


def test_drivers_that_part():
    """Each driver follows its own counted angle; the two are more than half a turn apart at the end."""
    model = da.Model(gravity=(0, 0, 0))
    for name, place in (("one", 0.0), ("two", 1.0)):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(place, 0, 0))
        model.add_revolute(f"hinge {name}", "ground", name, point=(place, 0, 0), axis=(0, 1, 0))
    model.add_driver("up", "hinge one", da.SmoothStep(0.0, 2.5, 0.0, 0.1))
    model.add_driver("down", "hinge two", da.SmoothStep(0.0, -2.5, 0.0, 0.1))
    run = da.simulate(model, 0.1, integrator=da.DOP853(rtol=1e-6, atol=1e-6), save_at=[0.1])
    found = [float(run.coordinate(f"hinge {name}").ravel()[-1]) for name in ("one", "two")]
    assert found == pytest.approx([2.5, -2.5], abs=1e-9) and run.statistics.driver_gap <= 1e-9


def test_impulses_of_a_hanging_mass():
    """The impulses of a mass at rest carry its weight."""
    model = da.Model(gravity=(0, 0, -10.0))
    model.add_body("mass", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1))
    model.add_spherical("hook", "ground", "mass", point=(0, 0, 0))
    run = da.simulate(model, 0.02, formulation=da.Impulse(), integrator=da.RungeKutta4(step=0.01))
    np.testing.assert_allclose(run.mean_reaction("hook").force[1:], [[0, 0, 30.0]] * 2, rtol=0, atol=1e-11)


@plain_only
@pytest.mark.parametrize("way", [da.Jet(), da.MovingFrame(), da.Minimal(), da.Minimal(velocities="joints")])
def test_rates_of_a_hanging_mass_that_are_not_finite_are_told(way):
    """Velocities of 1e100 have finite squares, of 1e200 not."""
    model = da.Model(gravity=(0, 0, -10.0))
    model.add_body("mass", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1), angular_velocity=(1, 2, 3))
    model.add_spherical("hook", "ground", "mass", point=(0, 0, 0))
    run, told = way.prepare(da.compile(model)), []
    for size in (1e100, 1e200):
        x = run.mechanism.x_0.copy()
        x[run.mechanism.nq :] *= size
        x = run.from_absolute(x)
        told.append(run.rate(0.0, x, np.zeros(len(x))))
    assert told == [T.OK, T.NON_FINITE]


@pytest.mark.parametrize(("place", "length"), [(20.0, 20.0), (2.0, 1.0), (0.02, 0.02)])
def test_longest_arm(place, length):
    """What a radian is worth in the projection: the arm on the only body, where that is not of the size of a metre."""
    model = da.Model()
    model.add_body("mass", mass=3.0, inertia=(1, 1, 1), position=(place, 0, 0))
    model.add_spherical("hook", "ground", "mass", point=(0, 0, 0))
    assert turning_length(flatten(model)) == pytest.approx(length)


@pytest.mark.parametrize("way", [da.Jet(), da.MovingFrame(), da.Minimal()])
def test_drivers_and_statistics(way):
    """Four stages a step and the rates at the start; one iteration brings each end of a step onto the constraints."""
    s = da.simulate(lift(da.Harmonic(0.2, 5.0)), 0.04, formulation=way, integrator=da.RungeKutta4(step=0.01)).statistics
    assert (s.accepted, s.rejected, s.rate_evaluations) == (4, 0, 17)
    assert 4 <= s.projections <= 5 and s.newton_average * s.projections == pytest.approx(4) and s.newton_maximum == 1
    assert s.rate_evaluations + 4 <= s.factorisations <= s.rate_evaluations + 2 * s.projections


def cranks(l, m, M, J, start, rate, gravity):
    across = np.array([np.sin(start), 0, -np.cos(start)])
    model = da.Model(gravity=gravity)
    model.add_body("coupler", mass=M, inertia=(0.1, 0.2, 0.3), position=l * across + (0.5, 0, 0))
    for k, x in enumerate((0.0, 0.6, 1.3)):
        foot = np.array([x, 0, 0])
        model.add_body(f"crank {k}", mass=m, inertia=(0.01, J, 0.03), position=foot + 0.5 * l * across)
        given = {"rate": -rate} if k == 0 else {}
        model.add_revolute(f"foot {k}", "ground", f"crank {k}", point=foot, axis=(0, 1, 0), **given)
        model.add_revolute(f"head {k}", f"crank {k}", "coupler", point=foot + l * across, axis=(0, 1, 0))
    return model


@plain_only
@pytest.mark.parametrize("way", [da.Jet(), da.MovingFrame(), da.MovingFrame(path="reference"), da.Minimal(), da.Impulse()])
def test_redundant_cranks(way):
    """Three equal cranks of hinges carry a coupler, which moves on a circle: (3 (J + m l^2 / 4) + M l^2) a'' = weights."""
    l, m, M, J, start, rate = 0.4, 0.5, 2.0, 0.02, 0.8, 1.5
    model = cranks(l, m, M, J, start, rate, gravity=(0, 0, -9.81))
    inertia, weight = 3 * (J + 0.25 * m * l * l) + M * l * l, 9.81 * l * (1.5 * m + M)
    exact = solve_ivp(lambda t, y: [y[1], -weight / inertia * np.sin(y[0])], (0, T_END), [start, rate], rtol=1e-12, atol=1e-12)
    a, a_dot = exact.y[:, -1]
    options, limit = ADAPTIVE, 1e-10
    if isinstance(way, da.Impulse):
        options, limit = {"integrator": da.RungeKutta4(step=T_END / 4), "save_at": [T_END]}, 1e-4
    run = da.simulate(model, T_END, formulation=way, **options)
    assert len(run.mechanism.redundant) == 7
    np.testing.assert_allclose(run.position("coupler")[-1], (l * np.sin(a) + 0.5, 0, -l * np.cos(a)), rtol=0, atol=limit)
    np.testing.assert_allclose(run.velocity("coupler")[-1] / a_dot, (l * np.cos(a), 0, l * np.sin(a)), rtol=0, atol=limit)
    assert run.drift.position.max() <= 1e-11 and run.drift.velocity.max() <= 1e-10


@plain_only
def test_redundant_cranks_hanging():
    """Where gravity pulls along the cranks nothing moves: what is left of it in the rows is rounding, beside the weights."""
    model = cranks(0.4, 0.5, 2.0, 0.02, 0.8, 0.0, gravity=9.81 * np.array([np.sin(0.8), 0, -np.cos(0.8)]))
    mechanism = da.compile(model)
    run, dx = da.Jet().prepare(mechanism), np.zeros(len(mechanism.x_0))
    assert run.system(T.OUTPUT, 0.0, mechanism.x_0, dx, run.view) == T.OK
    assert np.abs(dx).max() <= 1e-12 and run.view.count.unmet <= 1e-12
