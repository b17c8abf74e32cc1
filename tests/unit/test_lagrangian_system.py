"""LagrangianSystem: two ways to write one, equations against SymPy, errors that name the culprit, runs that are kept."""

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import dalembert as da
from dalembert.errors import AssemblyError, ModelError
from dalembert.kernels.base import tables as T

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)


def lagrangian(q, v, p):
    """A cart with a pendulum of mass m and length l."""
    vx, vy = v.x + p.l * np.cos(q.a) * v.a, p.l * np.sin(q.a) * v.a
    return p.M / 2 * v.x**2 + p.m / 2 * (vx**2 + vy**2) + p.m * p.g * p.l * np.cos(q.a)


PARAMETERS = {"M": 2.0, "m": 0.7, "l": 0.9, "g": 9.81}
START = {"initial": {"x": 0.2, "a": 0.8}, "velocities": {"x": -0.3, "a": 0.5}}


def cart(**more):
    return da.LagrangianSystem(lagrangian, "x a", parameters=PARAMETERS, **{**START, **more})


def cart_in_sympy(**more):
    x, a = dynamicsymbols("x a")
    t, M, m, l, g = dynamicsymbols._t, *sympy.symbols("M m l g")
    vx, vy = x.diff(t) + l * sympy.cos(a) * a.diff(t), l * sympy.sin(a) * a.diff(t)
    L = M / 2 * x.diff(t) ** 2 + m / 2 * (vx**2 + vy**2) + m * g * l * sympy.cos(a)
    values = dict(zip((M, m, l, g), PARAMETERS.values(), strict=True))
    return L, (x, a), da.LagrangianSystem(L, [x, a], parameters=values, **{**START, **more})


def test_mass_matrix_and_forces_are_those_of_sympy():
    L, (x, a), system = cart_in_sympy()
    method = LagrangesMethod(L, [x, a])
    method.form_lagranges_equations()
    t = dynamicsymbols._t
    numbers = {sympy.Symbol(k): value for k, value in PARAMETERS.items()}
    numbers |= {x.diff(t): -0.3, a.diff(t): 0.5}
    numbers_q = {x: 0.2, a: 0.8}
    M = np.array(method.mass_matrix.subs(numbers).subs(numbers_q), dtype=float)
    h = np.array(method.forcing.subs(numbers).subs(numbers_q), dtype=float).ravel()
    mechanism = system.compile()
    values = mechanism.evaluate(T.MOTION_PART, 0.0, mechanism.x_0)
    np.testing.assert_allclose(values.M, M, rtol=1e-14)
    np.testing.assert_allclose(values.h, h, rtol=1e-14)


def test_functions_and_expressions_give_the_same_motion():
    one, two = (da.simulate(system, 2.0, integrator=TIGHT) for system in (cart(), cart_in_sympy()[2]))
    np.testing.assert_allclose(one.x[-1], two.x[-1], rtol=0, atol=1e-9)
    x, a = dynamicsymbols("x a")
    np.testing.assert_array_equal(two[x], two["x"])
    np.testing.assert_array_equal(two[a.diff(dynamicsymbols._t)], two["a'"])


def test_parameters_change_without_new_code():
    system = cart()
    longer = system.replace(parameters={"l": 1.3})
    assert longer.source == system.source
    assert longer.compile().code.compiled is system.compile().code.compiled
    fresh = da.LagrangianSystem(lagrangian, "x a", parameters=PARAMETERS | {"l": 1.3}, **START)
    runs = [da.simulate(item, 1.0) for item in (longer, fresh)]
    np.testing.assert_array_equal(runs[0].x, runs[1].x)
    with pytest.raises(ModelError, match="parameters: there is no 'len'"):
        system.replace(parameters={"len": 1.0})


def test_holonomic_constraint_is_the_same_as_fewer_coordinates():
    """A pendulum as a point on a circle and as an angle; the rod's tension by hand."""
    point = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - 9.81 * q.y,
        "x y",
        holonomic={"rod": lambda q: np.hypot(q.x, q.y) - 1.0},
        initial={"x": 0.6, "y": -0.8},
        velocities={"x": 0.8, "y": 0.6},
    )
    angle = da.LagrangianSystem(
        lambda q, v: 0.5 * v.a**2 + 9.81 * np.cos(q.a), "a", initial={"a": np.arcsin(0.6)}, velocities={"a": 1.0}
    )
    times = np.linspace(0, 3, 31)
    one, two = (da.simulate(system, 3.0, integrator=TIGHT, save_at=times) for system in (point, angle))
    np.testing.assert_allclose(one["x"], np.sin(two["a"]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(one.multiplier("rod")[:, 0], -(two["a'"] ** 2) - 9.81 * np.cos(two["a"]), rtol=0, atol=1e-8)
    np.testing.assert_allclose(one["y''"] + 9.81, one.reaction("rod")[:, 1], rtol=0, atol=1e-8)
    assert one.drift.position.max() <= 1.1e-11
    assert one.report().passed


def test_moving_constraint_and_damping_are_in_the_energy_balance():
    """A bead on a wire that turns at a prescribed rate, with drag: total energy minus external work is constant."""
    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2),
        "x y",
        holonomic={"wire": lambda q, t: q.x * np.sin(2 * t) - q.y * np.cos(2 * t)},
        forces={"x": lambda v, p: -p.c * v.x, "y": lambda v, p: -p.c * v.y},
        parameters={"c": 0.3},
        initial={"x": 1.0},
    )
    solution = da.simulate(system, 1.5, integrator=TIGHT)
    assert abs(np.ptp(solution.energy.total)) <= 1e-9 * solution.energy.scale
    assert solution.energy.external_work[-1] > 1.0
    r = np.hypot(solution["x"], solution["y"])
    root = np.sqrt(0.3**2 / 4 + 4)  # r'' = 4 r - c r'
    s_1, s_2 = -0.15 + root, -0.15 - root
    exact = (s_1 * np.exp(s_2 * solution.t) - s_2 * np.exp(s_1 * solution.t)) / (s_1 - s_2)
    np.testing.assert_allclose(r, exact, rtol=1e-9)


@pytest.mark.parametrize(
    "integrator", [da.Euler(step=1e-3), da.GaussLegendre(2, step=0.02), da.GaussLegendre(3), da.DormandPrince()]
)
def test_every_kind_of_integrator(integrator):
    solution = da.simulate(cart(), 1.0, integrator=integrator)
    reference = da.simulate(cart(), 1.0, integrator=TIGHT)
    limit = 2e-2 if isinstance(integrator, da.Euler) else 1e-5
    np.testing.assert_allclose(solution.x[-1, :4], reference.x[-1, :4], rtol=0, atol=limit)


@pytest.mark.parametrize("metric", ["euclidean", "mass"])
def test_invariants_are_kept(metric):
    """A coarse fixed step; without projection the energy moves by more than 1e-6."""
    system = da.LagrangianSystem(
        lagrangian, "x a", parameters=PARAMETERS, nonholonomic={"drag": lambda q, v: v.x - 0.4 * np.sin(q.a) * v.a}, **START
    )
    free, kept = (
        da.simulate(system, 5.0, integrator=da.RungeKutta4(step=0.05), formulation=da.Jet(invariants=what, metric=metric))
        for what in (None, "energy")
    )
    assert np.ptp(free.energy.total) > 1e-6
    assert np.ptp(kept.energy.total) <= 1e-12 * kept.energy.scale


def test_runs_are_saved_and_loaded_with_their_equations(tmp_path):
    solution = da.simulate(cart(), 1.0)
    solution.save(tmp_path / "cart.zarr")
    again = da.load(tmp_path / "cart.zarr")
    np.testing.assert_array_equal(again.x, solution.x)
    assert again.mechanism.model.hash == solution.mechanism.model.hash
    assert again(0.7)["a"] == solution(0.7)["a"]
    data = again.to_xarray()
    np.testing.assert_array_equal(data["q"].sel(coordinate="a"), solution["a"])
    assert set(data.dims) == {"time", "coordinate", "row"}
    again.plot.save(tmp_path / "cart.png")
    assert (tmp_path / "cart.png").stat().st_size > 10_000


def test_events_read_coordinates_by_name():
    event = da.Event(lambda state: state["a"], "down", stop=True)
    solution = da.simulate(cart(), 5.0, events=event)
    assert solution.status == "event"
    assert abs(solution["a"][-1]) < 1e-10


def test_a_state_of_a_run_has_what_solutions_have():
    system = da.LagrangianSystem(lagrangian, "x a", parameters=PARAMETERS, holonomic={"rail": lambda q: q.x - 0.2}, **START)
    solution = da.simulate(system, 1.0)
    state, there = solution(0.7), solution(np.array([0.7]))
    assert state.energy.total == there.energy.total[0]
    np.testing.assert_array_equal(state.reaction("rail"), there.reaction("rail")[0])
    assert state.conjugate_momentum("a") == there.conjugate_momentum("a")[0]
    with pytest.raises(AttributeError, match="no 'reaction'"):
        solution.mechanism.state(0.7, there.x[0]).reaction("rail")  # of no run


def flat(q, v):
    return 0.5 * (v.x**2 + v.y**2)


CULPRITS = [
    ({"lagrangian": lambda q, v: 0.5 * v.x**2 + v.y**2 - q.z}, ModelError, r"the Lagrangian, line \d+: uses q\.z"),
    ({"lagrangian": lambda q, v, p: p.mas * v.x**2, "parameters": {"mass": 1.0}}, ModelError, "p.mas,.*did you mean 'mass'"),
    ({"lagrangian": lambda v: 0.5 * v.x**2}, ModelError, "no kinetic energy and no constraint for the velocity y'"),
    ({"lagrangian": lambda v: 0.5 * (v.x + v.y) ** 2}, ModelError, "for the velocity x', y' together"),
    ({"lagrangian": lambda v: 0.5 * v.x**2 - 0.5 * v.y**2}, ModelError, "kinetic energy is negative for the velocity y'"),
    ({"nonholonomic": {"speed": lambda v: v.x**2 + v.y**2 - 1}}, ModelError, "'speed' is not linear in the velocities x', y'"),
    ({"nonholonomic": {"place": lambda q: q.x}}, ModelError, "'place' does not contain a velocity; give it as holonomic"),
    ({"holonomic": {"rate": lambda q, v: v.x}}, ModelError, "'rate': its argument 'v' is not known.*nonholonomic"),
    ({"holonomic": {"a": lambda q: q.x, "b": lambda q: q.x - 1}}, AssemblyError, r"'a' \(0.5\), 'b' \(0.5\) keep the residual"),
    (
        {"nonholonomic": {"slow": lambda v: v.x - 1, "fast": lambda v: v.x - 2}},
        AssemblyError,
        r"no velocities fit: the constraints 'slow' \(0.5\), 'fast' \(0.5\)",
    ),
    ({"holonomic": {"zero": lambda p: p.c}, "parameters": {"c": 1.0}}, ModelError, "'zero' does not depend on any coordinate"),
    ({"forces": {"w": 1.0}}, ModelError, "forces: there is no coordinate 'w'"),
    ({"initial": {"X": 1.0}}, ModelError, "initial: there is no coordinate 'X'"),
    ({"initial": {"x": np.nan}}, ModelError, "initial: x is nan; give a finite number"),
    ({"lagrangian": lambda v: v}, ModelError, "the Lagrangian returned 2 values"),
    (
        {"lagrangian": lambda q, v: 0.5 * (v.x**2 + v.y**2) - 1 / q.x},
        ModelError,
        "not finite at the start: the equation of 'x'",
    ),
    ({"coordinates": "x x"}, ModelError, "'x' cannot be one"),
]


@pytest.mark.parametrize(("given", "error", "message"), CULPRITS, ids=range(len(CULPRITS)))
def test_errors_name_the_culprit(given, error, message):
    options = {"lagrangian": flat, "coordinates": "x y"} | given
    with pytest.raises(error, match=message):
        da.simulate(da.LagrangianSystem(options.pop("lagrangian"), options.pop("coordinates"), **options), 1.0)


def test_sympy_errors_name_the_symbol():
    x = dynamicsymbols("x")
    t, k = dynamicsymbols._t, sympy.Symbol("stiff")
    with pytest.raises(ModelError, match="'stiff' is neither a coordinate nor a parameter"):
        da.LagrangianSystem(x.diff(t) ** 2 / 2 - k * x**2, [x])
    with pytest.raises(ModelError, match="is not a velocity; use first rates only"):
        da.LagrangianSystem(x.diff(t, 2) * x, [x])
    with pytest.raises(ModelError, match="Piecewise of SymPy has no smooth formula here"):
        da.LagrangianSystem(x.diff(t) ** 2 + sympy.Piecewise((x, x > 0), (0, True)), [x])


def test_start_moves_what_was_not_given_first():
    system = da.LagrangianSystem(flat, "x y", holonomic={"curve": lambda q: q.x**2 + q.y + q.y**3 - 1}, initial={"x": 0.6})
    mechanism = system.replace(velocities={"y": 0.3}).compile()
    assert mechanism.moved == ()
    y = mechanism.x_0[1]
    assert y + y**3 == pytest.approx(0.64, abs=1e-12)
    assert mechanism.x_0[3] == pytest.approx(0.3, abs=1e-15)
    moved = system.replace(initial={"y": 0.9}).compile().moved
    assert len(moved) == 2 and moved[0].startswith("x: 0.6 -> ")


def test_redundant_constraints_are_named_and_do_no_harm():
    system = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - q.y,
        "x y",
        holonomic={"circle": lambda q: q.x**2 + q.y**2 - 1, "again": lambda q: 3 * (q.x**2 + q.y**2 - 1)},
        initial={"x": 1.0},
    )
    solution = da.simulate(system, 2.0, integrator=TIGHT)
    assert [row.element for row in solution.mechanism.redundant] == ["again"]
    assert set(solution.mechanism.not_unique) == {"circle", "again"}
    single = da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2) - q.y, "x y", holonomic=[lambda q: q.x**2 + q.y**2 - 1], initial={"x": 1.0}
    )
    np.testing.assert_allclose(solution.x[-1], da.simulate(single, 2.0, integrator=TIGHT).x[-1], rtol=0, atol=1e-9)
