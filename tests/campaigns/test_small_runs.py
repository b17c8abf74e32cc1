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


@plain_only
@pytest.mark.parametrize("way", ["cg", "orthogonal"])
def test_other_ways_of_many_pendulums(way):
    """Seven of them that do not know of each other move as one does, in coarse steps that leave the joints."""

    def ended(count):
        model = da.Model()
        for k in range(count):
            model.add_body(f"arm {k}", mass=1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0.1, 0))
            model.add_revolute(f"hinge {k}", "ground", f"arm {k}", point=(0, 0, 0), axis=(0, 1, 0.2), rate=4.0)
        steps = da.Midpoint(step=0.05)
        run = da.simulate(model, 0.1, formulation=OTHER_WAYS[way][0], integrator=steps, save_at=[0.1])
        return [np.concatenate([run.position(f"arm {k}")[-1], run.velocity(f"arm {k}")[-1]]) for k in range(count)]

    np.testing.assert_allclose(ended(7), ended(1) * 7, rtol=0, atol=1e-12)


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
