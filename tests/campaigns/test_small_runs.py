"""Short runs of a few mechanisms and a Lagrangian system against the oracle, tight, quick even without compiling.

Together the mechanisms have every joint, force and kind of motion. Run with NUMBA_DISABLE_JIT=1, this is what most mutations
of the sources are held against (benchmarks/campaigns/mutations.py).
"""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from benchmarks.campaigns.generator import family
from benchmarks.campaigns.joint_rows import cross
from benchmarks.campaigns.mechanisms import difference, truth_of
from benchmarks.campaigns.oracle import Oracle, rotation
from benchmarks.campaigns.runner import generator
from dalembert.compilation.flatten import flatten, turning_length
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import JIT

pytestmark = pytest.mark.filterwarnings("ignore")

QUICK = [pytest.param(case, marks=pytest.mark.nojit) for case in (57, 75, 24, 31)]
CASES = [*QUICK, 10, 64, 19, 35, 43, 61, 40, 18, 49, 15]
T_END = 0.02
ADAPTIVE = {"integrator": da.DOP853(rtol=1e-9, atol=1e-9, first_step=T_END), "save_at": [0.5 * T_END, T_END]}
WAYS = [
    da.Jet(),
    da.MovingFrame(),
    da.Minimal(),
    da.Minimal(velocities="joints", basis="svd"),
    da.Jet(metric="mass", stages="constraints", invariants="energy"),
    da.MovingFrame(invariants="energy"),
    da.Minimal(basis="eigen", continuation=False),
]
OTHER_WAYS = {
    "cg": (da.Jet(solver="cg"), "absolute"),
    "baumgarte": (da.Jet(projection="none", baumgarte=(5.0, 7.0)), "absolute"),
    "orthogonal": (da.Jet(projection="orthogonal"), "absolute"),
    "reference": (da.MovingFrame(path="reference"), "absolute"),
    "tree": (da.MovingFrame(), "tree"),
    "minimal tree": (da.Minimal(order=4), "tree"),
}
plain_only = pytest.mark.skipif(JIT, reason="many kernels: their sources as plain Python are enough")


@cache
def solved(case):
    """Model, mechanism, and name -> (r, R, v, w) by the oracle at T_END / 2 and T_END."""
    models, _ = family(generator("small", 0, case), 1)
    oracle = Oracle(models)
    ends = [oracle.run(t, 1e-12)[0] for t in (0.5 * T_END, T_END)]
    return models[0], da.compile(models[0]), [truth_of(oracle, end, 0) for end in ends], (oracle, ends)


def errors(run, model, truths):
    """Largest errors at the saved times."""
    return [difference(run, model, truth, at=k) for k, truth in enumerate(truths)]


@pytest.mark.parametrize("case", CASES)
def test_adaptive(case):
    """A step or two of order 8: rounding at their end, the dense output's order in between."""
    model, mechanism, truths, _ = solved(case)
    for way in WAYS:
        run = da.simulate(mechanism, T_END, formulation=way, **ADAPTIVE)
        middle, end = errors(run, model, truths)
        assert end <= 2e-11 and middle <= 1e-9, way
        energy = run.energy
        assert np.ptp(energy.total) <= 1e-10 * (1 + np.abs(energy.kinetic).max())


@plain_only
@pytest.mark.parametrize("case", QUICK)
@pytest.mark.parametrize("way", OTHER_WAYS, ids=str)
def test_other_ways(way, case):
    """What fewer runs use: other solvers, projections, paths and kinds of coordinates."""
    model, mechanism, truths, _ = solved(case)
    formulation, kind = OTHER_WAYS[way]
    mechanism = mechanism if kind == "absolute" else da.compile(model, kind)
    run = da.simulate(mechanism, T_END, formulation=formulation, **ADAPTIVE)
    middle, end = errors(run, model, truths)
    assert end <= 2e-11 and middle <= 1e-9
    if way != "baumgarte":  # coarse steps, as in `test_projection`
        run = da.simulate(mechanism, T_END, formulation=formulation, integrator=da.Midpoint(step=T_END / 2), save_at=[T_END])
        assert run.drift.position.max() <= 1e-11 and run.drift.velocity.max() <= 1e-10
        assert difference(run, model, truths[1]) <= 1e-3 and run.statistics.newton_maximum <= (1 if kind == "tree" else 5)


@plain_only
def test_other_ways_measure_the_row_of_a_tree():
    """Two arms and a rod between their ends n apart: |G| of the angles over |A| |B|, how far they move at most."""
    places, ends = np.array([[0.3, 0.2, 0], [1.6, 0.3, 0]]), np.array([[0.7, 0.1, 0], [1.3, 0.4, 0]])
    feet, model = np.array([[0, 0, 0], [2, 0, 0]]), da.Model()
    for k, name in enumerate(("one", "two")):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=places[k])
        model.add_revolute(f"foot {name}", "ground", name, point=feet[k], axis=(0, 0, 1))
    model.add_distance("rod", "one", "two", points=ends - places)
    tree, steps = da.compile(model, "tree"), da.RungeKutta4(step=1e-6)
    run, *others = (
        da.simulate(tree, 1e-6, formulation=f, integrator=steps) for f in (da.Minimal(), da.MovingFrame(), da.Impulse())
    )
    n = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    along = np.cross((0, 0, 1), ends - feet) @ n
    reach = ((places - feet) ** 2).sum() + (np.cross(ends - places, n) ** 2).sum()
    assert run.statistics.smallest_pivot == pytest.approx(np.linalg.norm(along) / np.sqrt(reach), rel=1e-5)
    assert all(0 < other.statistics.smallest_pivot <= 1 for other in others)


@pytest.mark.parametrize("case", QUICK)
def test_projection(case):
    """Two coarse steps of order 2 leave the joints by far more than the 1e-11 that are asked for: every way puts them back."""
    model, mechanism, truths, _ = solved(case)
    for way in WAYS:
        run = da.simulate(mechanism, T_END, formulation=way, integrator=da.Midpoint(step=T_END / 2), save_at=[T_END])
        assert run.drift.position.max() <= 1e-11 and run.drift.velocity.max() <= 1e-10, way
        assert difference(run, model, truths[1]) <= 1e-3 and run.statistics.basis_restarts == 0, way
        if way.invariants is not None:
            assert np.ptp(run.energy.total) <= 1e-10 * (1 + np.abs(run.energy.kinetic).max()), way
        assert run.statistics.newton_maximum <= 5, way


@pytest.mark.parametrize("case", QUICK[2:3])
def test_projection_stops_at_its_limit(case):
    """One iteration is not enough after such a step (the other runs take two and more): the run says so and ends."""
    _, mechanism, _, _ = solved(case)
    with pytest.raises(da.SimulationError, match="constraints could not be restored"):
        way = da.Jet(max_newton=1, tolerance=1e-14)
        da.simulate(mechanism, T_END, formulation=way, integrator=da.Midpoint(step=T_END), save_at=[T_END])


@pytest.mark.parametrize("case", CASES)
def test_fixed_steps(case):
    """Impulse and Variational: order 3 at least is left after extrapolation of order 2; Soft: order 1, and its springs."""
    model, mechanism, truths, _ = solved(case)
    for way, method in ((da.Impulse(), da.RungeKutta4), (da.Variational(), da.FixedStep)):
        found = []
        for step in (T_END / 2, T_END / 4):
            run = da.simulate(mechanism, T_END, formulation=way, integrator=method(step=step), save_at=[T_END])
            found.append(
                np.concatenate([x for b in model.bodies for x in (run.position(b.name)[-1], run.velocity(b.name)[-1])])
            )
            rough = difference(run, model, truths[1])
            assert run.statistics.newton_maximum <= 6, way  # quadratic: the matrix is exact
        exact = np.concatenate([x for b in model.bodies for x in (truths[1][b.name][0], truths[1][b.name][2])])
        plain = np.abs(found[1] - exact).max()
        better = np.abs((4 * found[1] - found[0]) / 3 - exact).max()
        assert rough <= 1e-4 and better <= max(0.25 * plain, 1e-9), (way, rough, plain, better)
    run = da.simulate(mechanism, T_END, formulation=da.Soft(), integrator=da.RungeKutta4(step=T_END / 5), save_at=[T_END])
    assert difference(run, model, truths[1]) <= 0.01


def lift(motion):
    """A pendulum on a driven slide."""
    model = da.Model()
    model.add_body("lift", mass=1.0, inertia=(1, 1, 1))
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.add_prismatic("rail", "ground", "lift", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "rail", motion)
    model.add_revolute("hinge", "lift", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    return model


@pytest.mark.nojit
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


@pytest.mark.nojit
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


@pytest.mark.nojit
def test_work_of_rows_of_two_bodies_and_time():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("a", mass=1.0, velocity=(0, 0.3, 0))
    model.add_point_mass("b", mass=2.0, position=(1, 0, 0), velocity=(0.1, 0, 0))
    model.add_constraint("apart", lambda a, b, t: b.r[0] - a.r[0] - 1.0 - 0.1 * np.sin(t), ("a", "b"))
    run = da.simulate(model, 0.3, save_at=[0.3])
    assert run.position("b")[-1, 0] - run.position("a")[-1, 0] == pytest.approx(1 + 0.1 * np.sin(0.3), abs=1e-10)


@pytest.mark.nojit
@plain_only
def test_work_of_rows_of_velocities_and_time():
    """x' = sin(9 t) as a row of velocities: each step of Variational takes its mean over the step, by Gauss nodes."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cart", mass=2.0, inertia=(1, 1, 1), velocity=(0, 0.3, 0))
    model.add_velocity_constraint("belt", lambda cart, t: cart.v[0] - np.sin(9 * t), "cart")
    run = da.simulate(model, 0.2, formulation=da.Variational(), integrator=da.FixedStep(step=0.1))
    np.testing.assert_allclose(run.position("cart")[:, 0], (1 - np.cos(9 * run.t)) / 9, rtol=0, atol=1e-5)


@pytest.mark.nojit
def test_motion_rests_after_its_end():
    run = da.simulate(lift(da.SmoothStep(0.0, 0.2, 0.05, 0.15)), 0.3, save_at=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(run.coordinate("rail").ravel(), (0.1, 0.2, 0.2), rtol=0, atol=1e-9)


@pytest.mark.nojit
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


@pytest.mark.nojit
def test_impulses_of_a_hanging_mass():
    """The impulses of a mass at rest carry its weight."""
    model = da.Model(gravity=(0, 0, -10.0))
    model.add_body("mass", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1))
    model.add_spherical("hook", "ground", "mass", point=(0, 0, 0))
    run = da.simulate(model, 0.02, formulation=da.Impulse(), integrator=da.RungeKutta4(step=0.01))
    np.testing.assert_allclose(run.mean_reaction("hook").force[1:], [[0, 0, 30.0]] * 2, rtol=0, atol=1e-11)


@plain_only
@pytest.mark.nojit
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


@pytest.mark.nojit
@pytest.mark.parametrize(("place", "length"), [(20.0, 20.0), (2.0, 1.0), (0.02, 0.02)])
def test_longest_arm(place, length):
    """What a radian is worth in the projection: the arm on the only body, where that is not of the size of a metre."""
    model = da.Model()
    model.add_body("mass", mass=3.0, inertia=(1, 1, 1), position=(place, 0, 0))
    model.add_spherical("hook", "ground", "mass", point=(0, 0, 0))
    assert turning_length(flatten(model)) == pytest.approx(length)


@pytest.mark.nojit
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
@pytest.mark.nojit
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
@pytest.mark.nojit
def test_redundant_cranks_hanging():
    """Where gravity pulls along the cranks nothing moves: what is left of it in the rows is rounding, beside the weights."""
    model = cranks(0.4, 0.5, 2.0, 0.02, 0.8, 0.0, gravity=9.81 * np.array([np.sin(0.8), 0, -np.cos(0.8)]))
    mechanism = da.compile(model)
    run, dx = da.Jet().prepare(mechanism), np.zeros(len(mechanism.x_0))
    assert run.system(T.OUTPUT, 0.0, mechanism.x_0, dx, run.view) == T.OK
    assert np.abs(dx).max() <= 1e-12 and run.view.count.unmet <= 1e-12


@pytest.mark.parametrize("case", [24, 31, 35, 43, 40, 15])
def test_reactions(case):
    """All reactions on a body together are what its acceleration needs beyond the applied forces, by the oracle."""
    model, mechanism, _, (oracle, ends) = solved(case)
    run = da.simulate(mechanism, T_END, **ADAPTIVE)
    s = ends[1]
    chosen = oracle.independent(oracle.velocity_rows(T_END, s)[0])
    held = oracle.accelerations(T_END, s, chosen).reshape(oracle.n, 6)
    free = oracle.accelerations(T_END, s, chosen[:0]).reshape(oracle.n, 6)
    R = rotation(s.theta)
    for k, body in enumerate(model.bodies):
        force, moment, size = np.zeros(3), np.zeros(3), 1.0
        for element in (*model.joints, *model.drivers):
            if body.name not in (element.first, element.second):
                continue
            sign = 1.0 if body.name == element.second else -1.0
            reaction = run.reaction(element.name)
            p = element.p_j if hasattr(element, "p_j") else element.primitive.p_j
            arm = run.point(element.second, p)[-1] - run.position(body.name)[-1]
            force += sign * reaction.force[-1]
            moment += sign * (reaction.torque[-1] + cross(arm, reaction.force[-1]))
            size += np.abs(reaction.force[-1]).max() + np.abs(reaction.torque[-1]).max()
        np.testing.assert_allclose(force, body.mass * (held - free)[k, :3], rtol=0, atol=1e-9 * size, err_msg=body.name)
        if body.kind == "rigid":
            J = R[:, :, k, 0] @ body.inertia @ R[:, :, k, 0].T
            np.testing.assert_allclose(moment, J @ (held - free)[k, 3:], rtol=0, atol=1e-9 * size, err_msg=body.name)


def ice(t, y):
    """A heavy blade on a slope that grows with time, by hand: x, y, phi, s with velocity s along the blade."""
    e = np.array([np.cos(y[2]), np.sin(y[2])])
    return [*(y[3] * e), 0.7 + 0.4 * np.sin(3 * t), -(9.81 * (0.2 + 0.5 * t)) * e[1]]


def blade():
    """The same as a Lagrangian with t in it, a nonholonomic row and a prescribed turn."""
    return da.LagrangianSystem(
        lambda q, v, t: 0.5 * (v.x**2 + v.y**2 + 0.3 * v.phi**2) - 9.81 * (0.2 + 0.5 * t) * q.y,
        "x y phi",
        holonomic={"turn": lambda q, t: q.phi - 0.7 * t + 0.4 / 3 * (np.cos(3 * t) - 1)},
        nonholonomic={"edge": lambda q, v: v.y * np.cos(q.phi) - v.x * np.sin(q.phi)},
        initial={"x": 0.3, "y": 0.2, "phi": 0.0},
        velocities={"x": 1.2, "y": 0.0, "phi": 0.7},
    )


def damped(t):
    """x of x'' + 0.6 x' + 4 x = 0 from 0.5 + 0.3 0.5^3 with the rate 0.8 (1 + 0.9 0.5^2)."""
    x_0, rate, nu = 0.5375, 0.98, np.sqrt(4 - 0.09)
    return np.exp(-0.3 * t) * (x_0 * np.cos(nu * t) + (rate + 0.3 * x_0) / nu * np.sin(nu * t))


def bent():
    """The same as L = e^(0.6 t) (x'^2 + y'^2 - 4 x^2 - 4 y^2) / 2 on y = 2 x, with x = s + 0.3 s^3: mass of s and of t."""

    def L(q, v, t):
        x, rate = q.s + 0.3 * q.s**3, (1 + 0.9 * q.s**2) * v.s
        return 0.5 * np.exp(0.6 * t) * (rate**2 + v.y**2 - 4 * x**2 - 4 * q.y**2)

    return da.LagrangianSystem(
        L,
        "s y",
        holonomic={"line": lambda q: q.y - 2 * (q.s + 0.3 * q.s**3)},
        initial={"s": 0.5, "y": 1.075},
        velocities={"s": 0.8, "y": 1.96},
    )


def y_of_bent(t):
    return [2 * damped(t)]


def states_of_blade(t):
    return solve_ivp(ice, (0, t), [0.3, 0.2, 0.0, 1.2], method="DOP853", rtol=1e-13, atol=1e-13).y[:3, -1]


@pytest.mark.nojit
@pytest.mark.parametrize(("system", "solution"), [(bent, y_of_bent), (blade, states_of_blade)], ids=["bent", "blade"])
def test_lagrangian_system(system, solution):
    mechanism, t_end = da.compile(system()), 0.05
    exact = solution(t_end)
    n = len(exact)
    way = {"integrator": da.DOP853(rtol=1e-10, atol=1e-10, first_step=0.02), "save_at": [0.0, t_end]}
    for formulation in (da.Jet(), da.Minimal(), da.Jet(invariants="energy"), da.Minimal(basis="svd", order=4)):
        run = da.simulate(mechanism, t_end, formulation=formulation, **way)
        np.testing.assert_allclose(run.q[-1, -n:], exact, rtol=0, atol=1e-11)
        assert np.ptp(run.energy.total) <= 1e-11
    for formulation, method, limit in (
        (da.Impulse(), da.RungeKutta4, 0.3),
        (da.Variational(), da.FixedStep, 0.3),
        (da.Soft(), da.RungeKutta4, 0.6),
    ):
        found = []
        for step in (0.01, 0.005):
            run = da.simulate(mechanism, t_end, formulation=formulation, integrator=method(step=step), save_at=[t_end])
            found.append(np.abs(run.q[-1, -n:] - exact).max())
            assert run.statistics.newton_maximum <= 4, formulation
        assert found[1] <= max(limit * found[0], 1e-8) and found[1] <= 1e-3, (formulation, found)
