"""Short runs of Lagrangian systems that mutations of the sources are held against: closed forms and identities, uncompiled.

`test_small_runs.py` compares motions; here is what a right motion does not show: results by name, parameters, the start, names
of constraints, statistics, the work of rows that move, and that going back takes the same curve.
"""

import numpy as np
import pytest
from scipy.integrate import DOP853

import dalembert as da
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.formulations.lagrangian_minimal import weakest_row_at

pytestmark = [pytest.mark.nojit, pytest.mark.filterwarnings("ignore")]

T_END, BACK = 0.08, np.array([1, 1, 1, -1, -1, -1])


def test_results_by_name():
    """One coordinate, two parameters: a'' = -(g / l) sin a, p = l^2 a', and E from functions of the states."""
    system = da.LagrangianSystem(
        lambda q, v, p: 0.5 * p.l**2 * v.a**2 + p.g * p.l * np.cos(q.a),
        "a",
        parameters={"l": 0.7, "g": 9.0},
        initial={"a": 0.6},
        velocities={"a": 1.1},
    )
    run = da.simulate(system, 0.1, integrator=da.DOP853(rtol=1e-10, atol=1e-10))
    a, rate = run["a"], run["a'"]
    assert abs(a[-1] - a[0]) > 0.05
    np.testing.assert_allclose(run["a''"], -9.0 / 0.7 * np.sin(a), rtol=1e-13)
    np.testing.assert_allclose(run.conjugate_momentum("a"), 0.49 * rate, rtol=1e-14)
    energy = 0.5 * 0.49 * rate**2 - 6.3 * np.cos(a)
    for function in (
        lambda t, q, v: 0.5 * 0.49 * v[0] ** 2 - 6.3 * np.cos(q[0]),
        lambda q, v, p: 0.5 * p.l**2 * v.a**2 - p.g * p.l * np.cos(q.a),
        lambda solution: 0.5 * 0.49 * solution["a'"] ** 2 - 6.3 * np.cos(solution["a"]),
    ):
        np.testing.assert_allclose(run.invariant(function).values, energy, rtol=1e-13)
    np.testing.assert_allclose(run.invariant(lambda p: p.g * p.l).values, np.full(len(run.t), 6.3), rtol=1e-14)
    state = run.mechanism.state(run.t[1], run.x[1])
    assert (state.time, state["a"], state["a'"]) == (run.t[1], a[1], rate[1])


def test_start_is_put_on_the_constraints():
    """What was not given follows: y = x^2 and y' = 2 x x'."""
    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2),
        "x y",
        holonomic={"parabola": lambda q: q.y - q.x**2},
        initial={"x": 3.0},
        velocities={"x": 2.0},
    )
    np.testing.assert_allclose(da.compile(system).x_0[:4], (3.0, 9.0, 2.0, 12.0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_start_is_moved_whatever_the_size_of_a_row(size):
    """A redundant row in another unit neither contradicts the other nor lets the start stay off it."""
    rows = {"circle": lambda q: q.x**2 + q.y**2 - 1.0, "again": lambda q: size * (q.x**2 + q.y**2 - 1.0)}
    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2),
        "x y",
        holonomic=rows,
        initial={"x": 0.9, "y": 0.9},
        velocities={"x": 1.0, "y": 0.5},
    )
    x, y, x_dot, y_dot = da.compile(system).x_0[:4]
    np.testing.assert_allclose((x**2 + y**2, x * x_dot + y * y_dot), (1.0, 0.0), rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_redundant_rows_of_any_size(size):
    """Which reactions are not unique does not depend on the unit of a row."""
    rows = {"one": lambda q: q.x - q.y, "two": lambda q: size * (q.y - q.x), "other": lambda q: q.z - 1.0}
    mechanism = da.compile(
        da.LagrangianSystem(lambda q, v: v.x**2 + v.y**2 + v.z**2, "x y z", holonomic=rows, initial={"z": 1.0})
    )
    assert [row.element for row in mechanism.redundant] == ["two"] and mechanism.not_unique == ("one", "two")


def test_rows_that_almost_depend():
    """Two lines at an angle of a: condition cot(a / 2), and their names."""
    rows = {"far": lambda q: q.z, "one": lambda q: q.x, "two": lambda q: q.x * np.cos(0.01) + q.y * np.sin(0.01)}
    mechanism = da.compile(da.LagrangianSystem(lambda q, v: v.x**2 + v.y**2 + v.z**2, "x y z", holonomic=rows))
    condition, names = mechanism.locking(0.0, mechanism.x_0)
    assert condition == pytest.approx(1 / np.tan(0.005), rel=1e-9) and names == ["one", "two"]


def test_joints_that_almost_depend():
    """The same of a point on two rods: condition and names."""
    model, ways = da.Model(), {"far": (0, 0, 1), "one": (1, 0, 0), "two": (np.cos(0.01), np.sin(0.01), 0)}
    model.add_point_mass("bob", mass=2.0)
    for name, way in ways.items():
        model.add_distance(name, "ground", "bob", points=(way, (0, 0, 0)))
    mechanism = da.compile(model)
    condition, names = mechanism.locking(0.0, mechanism.x_0)
    assert condition == pytest.approx(1 / np.tan(0.005), rel=1e-9) and sorted(names) == ["one", "two"]


def belt(x=0.3, y=0.2, speed=1.2):
    """A blade on a slope that lies on a moving belt, its turn prescribed; even about T_END / 2, where the belt turns round."""

    def late(t):
        return t - 0.5 * T_END

    return da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2 + 0.3 * v.phi**2) - 2.0 * q.y,
        "x y phi",
        holonomic={"turn": lambda q, t: q.phi - 0.3 - 20.0 * late(t) ** 2},
        nonholonomic={"edge": lambda q, v, t: (v.y - 30.0 * late(t)) * np.cos(q.phi) - v.x * np.sin(q.phi)},
        initial={"x": x, "y": y},
        velocities={"x": speed},
    )


def test_going_back_takes_the_same_curve():
    """Variational on nonholonomic rows of time: the centred curve makes steps that are their own inverse."""
    way = {"formulation": da.Variational(), "integrator": da.FixedStep(step=T_END / 4)}
    there = da.simulate(belt(), T_END, **way)
    end = there.x[-1]
    back = da.simulate(belt(x=end[0], y=end[1], speed=-end[3]), T_END, **way)
    assert np.abs(end[:2] - there.x[0, :2]).max() > 0.05
    np.testing.assert_allclose(back.x[-1, :6] * BACK, there.x[0, :6], rtol=0, atol=1e-12)
    assert 1 <= there.statistics.newton_average <= there.statistics.newton_maximum


def test_iterations_of_one_step():
    """Their mean is their maximum."""
    way = {"formulation": da.Variational(), "integrator": da.FixedStep(step=T_END / 4)}
    one = da.simulate(belt(), T_END / 4, **way).statistics
    assert one.newton_average == one.newton_maximum >= 2


@pytest.mark.parametrize("way", [da.Variational(), da.Impulse()])
def test_work_of_moving_rows(way):
    """T + U - W_ext is constant to the order of the step; both rows work."""
    method, left = da.FixedStep if isinstance(way, da.Variational) else da.RungeKutta4, []
    for step in (T_END / 4, T_END / 8):
        energy = da.simulate(belt(), T_END, formulation=way, integrator=method(step=step)).energy
        left.append(np.abs(energy.total - energy.total[0]).max())
    assert left[1] <= 0.3 * left[0] and left[1] <= 0.05 * np.ptp(energy.external_work), left


def test_impulses_of_a_floor():
    """They carry a weight of 30 N; no step leads to the start. A step factors once for velocities."""
    system = da.LagrangianSystem(
        lambda q, v: 1.5 * (v.x**2 + v.y**2) - 30.0 * q.y, "x y", holonomic={"floor": lambda q: q.y}, velocities={"x": 1.0}
    )
    run = da.simulate(system, 0.04, formulation=da.Impulse(), integrator=da.RungeKutta4(step=0.01))
    np.testing.assert_allclose(run.mean_reaction("floor"), [[np.nan] * 2, *[[0.0, 30.0]] * 4], rtol=0, atol=1e-11)
    assert run.statistics.factorisations >= 4


@pytest.mark.parametrize("way", [da.Jet(), da.Minimal()])
def test_statistics_of_fixed_steps(way):
    """Four stages a step, and the rates at the start; consistent states need no iterations, and one look at the rows."""
    s = da.simulate(belt(), T_END, formulation=way, integrator=da.RungeKutta4(step=T_END / 4)).statistics
    assert (s.accepted, s.rejected, s.rate_evaluations) == (4, 0, 17)
    assert 4 <= s.projections <= 5 and s.newton_maximum == 0 and s.basis_restarts == 0
    assert s.first_differentials == s.rate_evaluations + s.projections
    assert s.rate_evaluations + 4 <= s.factorisations <= s.rate_evaluations + 2 * s.projections


@pytest.mark.parametrize("metric", ["euclidean", "mass"])
def test_projection_is_that_of_dense_algebra(metric):
    """From anywhere onto x + 2 y = 1 + 0.3 t and its rate: q - M^-1 A^T (A M^-1 A^T)^-1 (A q - c), with M or 1."""
    system = da.LagrangianSystem(
        lambda q, v: 1.5 * v.x**2 + 0.5 * v.y**2 + 0.7 * v.x * v.y,
        "x y",
        holonomic={"line": lambda q, t: q.x + 2 * q.y - 0.3 * t - 1},
        initial={"x": 1.0, "y": 0.0},
    )
    run = da.Jet(metric=metric).prepare(da.compile(system))
    M, A, t = np.array([[3.0, 0.7], [0.7, 1.0]]) if metric == "mass" else np.eye(2), np.array([1.0, 2.0]), 0.4
    x = np.array([0.4, -0.3, 1.1, 0.6, 0.0])
    along = np.linalg.solve(M, A)
    along /= A @ along
    expected = np.concatenate([x[:2] - along * (A @ x[:2] - 0.3 * t - 1), x[2:4] - along * (A @ x[2:4] - 0.3)])
    assert run.project(T.PROJECT, t, x, np.zeros(5), run.view) == T.OK
    np.testing.assert_allclose(x[:4], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("way", [da.Jet(), da.Jet(metric="mass"), da.Minimal()])
def test_coarse_steps_end_on_the_rows(way):
    """Bead on y = x^2 / (1 + t), which moves: by steps of order 2, place and velocity as the rows have them at the end."""
    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - 9.81 * q.y,
        "x y",
        holonomic={"wire": lambda q, t: q.y - q.x**2 / (1 + t)},
        initial={"x": 1.0, "y": 1.0},
        velocities={"x": 2.0, "y": 3.0},
    )
    run = da.simulate(system, 0.2, formulation=way, integrator=da.Midpoint(step=0.05))
    t, x, y, u, v = run.t, run["x"], run["y"], run["x'"], run["y'"]
    np.testing.assert_allclose(y, x**2 / (1 + t), rtol=0, atol=1e-11)
    np.testing.assert_allclose(v, 2 * x * u / (1 + t) - x**2 / (1 + t) ** 2, rtol=0, atol=1e-10)


def test_energy_is_kept_where_it_is_mostly_potential():
    """Coarse steps of an oscillator near its turning point: the gradient by x is the larger part."""
    system = da.LagrangianSystem(lambda q, v: 0.5 * v.x**2 - 0.5 * q.x**2, "x", initial={"x": 0.9}, velocities={"x": 0.1})
    run = da.simulate(system, 0.2, formulation=da.Jet(invariants="energy"), integrator=da.Midpoint(step=0.1))
    assert np.ptp(run.energy.total) <= 1e-13


@pytest.mark.skipif(JIT, reason="the kernel by itself")
def test_row_that_vanishes_is_the_weakest():
    """x^2 = y^2 has no slope at the origin; that the row given twice has no pivot is known of all places."""
    row = {"cross": lambda q: q.x**2 - q.y**2}
    for rows in (row, row | {"again": lambda q: q.y**2 - q.x**2}):
        start = {"initial": {"x": 1.0, "y": 1.0}, "velocities": {"x": -1.0, "y": -1.0}}
        system = da.LagrangianSystem(lambda q, v: 0.5 * (v.x**2 + v.y**2), "x y", holonomic=rows, **start)
        view = da.Minimal().prepare(da.compile(system)).view
        assert [weakest_row_at(0.0, np.array([x, x, -1.0, -1.0, 0.0]), view)[1] for x in (1.0, 0.0)] == [
            pytest.approx(1.0),
            0.0,
        ]


def test_steps_are_those_of_scipy():
    """DOP853 of another author on the same pendulum takes each of our steps as it is and ends where we do; its next step,
    h 0.9 err^(-1/8), tells its error, and from two of them follows the length of ours [HairerWanner1996, IV (8.24)], after a
    smaller step from the length of the one before it at most."""
    system = da.LagrangianSystem(lambda q, v: 0.5 * v.a**2 + np.cos(q.a), "a", initial={"a": 1.0}, velocities={"a": 1.5})
    settings = {"rtol": 1e-10, "atol": 1e-10, "first_step": 5.0}
    run = da.simulate(system, 12.0, integrator=da.DOP853(**settings, factor_max=10.0))
    y, h, following = np.stack([run["a"], run["a'"]], axis=1), np.diff(run.t), []
    for k in range(len(h)):
        settings["first_step"] = h[k]
        solver = DOP853(lambda t, y: np.array([y[1], -np.sin(y[0])]), run.t[k], y[k], 12.0, **settings)
        solver.step()
        assert solver.t == pytest.approx(run.t[k + 1], rel=1e-12)
        np.testing.assert_allclose(solver.y, y[k + 1], rtol=0, atol=1e-12)
        following.append(solver.h_abs / h[k])
    factor = np.array(following)
    err = (factor / 0.9) ** -8.0
    trend = h[1:] / h[:-1] * (np.maximum(err[:-1], 1e-2) / err[1:]) ** 0.125
    most = np.where(h[1:] < h[:-1], np.minimum(factor[1:], h[:-1] / h[1:]), factor[1:])
    expected = h[1:-2] * (most * np.minimum(1.0, trend))[:-2]  # the last step ends on time
    same = np.abs(h[2:-1] / expected - 1.0) < 1e-6
    assert run.statistics.rejected > 0
    assert np.all(h[2:-1] <= expected * (1 + 1e-6)) and np.mean(same) > 0.5, h[2:-1] / expected  # shorter after a rejected one


def test_closed_curve_is_the_flow():
    """On a circle the curve that turns by an angle and the flow of the tangent field have the same points."""

    def turn(q, v, h):
        a = h * (q.x * v.y - q.y * v.x) / (q.x**2 + q.y**2)
        return np.array([q.x * np.cos(a) - q.y * np.sin(a), q.x * np.sin(a) + q.y * np.cos(a)])

    system = da.gallery.oscillator_on_circle()
    ways = [da.Variational(constraint_curve=curve) for curve in ("flow", turn)]
    runs = [da.simulate(system, 1.0, formulation=way, integrator=da.FixedStep(step=0.25)) for way in ways]
    np.testing.assert_allclose(runs[0].x[:, :4], runs[1].x[:, :4], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("row", "told"), [(lambda q, v: q.x * v.x, True), (lambda q, z: q.x - z, False)])
def test_row_of_velocities_is_told_where_to_go(row, told):
    """Only where the argument that is not known is the velocities."""
    with pytest.raises(da.ModelError, match="is not known; arguments are chosen from") as caught:
        da.compile(da.LagrangianSystem(lambda q, v: 0.5 * v.x**2, "x", holonomic={"row": row}))
    assert ("nonholonomic" in str(caught.value)) == told
