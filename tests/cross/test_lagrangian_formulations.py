"""Lagrangian systems in Minimal, Impulse and Soft against Jet: the same motion, multipliers, energy; each to its own order."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError, SimulationError
from dalembert.kernels.base import tables as T

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
TIMES = np.linspace(0, 1, 6)
NAMES = [
    "oscillator",
    "oscillator_on_circle",
    "nonholonomic_particle",
    "chaplygin_sleigh",
    "rolling_disc_in_coordinates",
    "car_axis",
    "routh_sphere_in_coordinates",
]


@cache
def jet(name):
    return da.simulate(gallery.build(name), 1.0, integrator=TIGHT, save_at=TIMES)


@pytest.mark.parametrize("name", NAMES)
def test_minimal_moves_as_jet(name):
    """Both at 1e-11: what is left is the error of either run over a second, 5e-10 of the largest velocity."""
    expected = jet(name)
    size = max(1.0, np.abs(expected.u).max())
    for options in ({}, {"basis": "svd", "order": 4}, {"basis": "eigen", "order": 1}, {"continuation": False}):
        found = da.simulate(expected.mechanism, 1.0, formulation=da.Minimal(**options), integrator=TIGHT, save_at=TIMES)
        assert np.abs(found.x - expected.x).max() <= 5e-10 * size
        assert np.abs(found.evaluated.lam - expected.evaluated.lam).max(initial=0) <= 1e-10 * size
        assert found.statistics.basis_restarts == 0
        assert found.report().passed
        f = found.mechanism.degrees_of_freedom
        for t, x, basis in zip(TIMES, found.x, found.minimal.basis, strict=True):
            A = found.mechanism.evaluate(T.ROWS_PART, t, x).A
            np.testing.assert_allclose(basis.T @ basis, np.eye(f), rtol=0, atol=1e-13)
            assert np.abs(A @ basis).max(initial=0) <= 1e-12 * np.abs(A).max(initial=1)


def test_carried_basis_is_continuous():
    """The change of s' in a step is proportional to the step with continuation, and a discontinuity without."""

    def jump(step, **options):
        integrator = da.DormandPrince(step=step)
        system = gallery.routh_sphere_in_coordinates()
        run = da.simulate(system, 0.5, formulation=da.Minimal(**options), integrator=integrator, save_at=[0.5])
        return run.minimal.jump[-1]

    for order in ("integrator", 1, 4):
        assert jump(4e-3, order=order) / jump(1e-3, order=order) == pytest.approx(4.0, rel=0.1)
    assert jump(1e-3, continuation=False) > 10 * jump(1e-3)


SPLIT = [  # car axis and Soft: stiff springs, an error of 1e-2 is far from its limit at these steps
    (da.Impulse(), 2, NAMES[1:6]),
    (da.Impulse(stabilisation="baumgarte"), 2, NAMES[1:6]),
    (da.Impulse(stabilisation=None), 2, NAMES[1:6]),
    (da.Impulse(metric="mass"), 2, NAMES[1:6]),
    (da.Impulse(predict=False), 1, NAMES[1:5]),
    (da.Soft(stiffness=1e9, damping=1e7), 1, NAMES[1:5]),
]


@pytest.mark.parametrize(("formulation", "order", "names"), SPLIT, ids=str)
def test_order_at_velocity_level(formulation, order, names):
    for name in names:
        errors = []
        for step in (0.005, 0.0025):
            integrator = da.RungeKutta4(step=step / 2 if name == "car_axis" else step)
            run = da.simulate(jet(name).mechanism, 1.0, formulation=formulation, integrator=integrator, save_at=TIMES)
            errors.append(np.abs(run.x[-1, : run.mechanism.nq * 2] - jet(name).x[-1, : run.mechanism.nq * 2]).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15), name
        assert errors[1] <= 0.1


@pytest.mark.parametrize(
    "formulation", [da.Impulse(), da.Impulse(predict=False, stabilisation=None), da.Soft(damping=1e7)], ids=str
)
def test_impulses_change_the_momentum(formulation, tmp_path):
    """No force acts on the particle: m (v_k+1 - v_k) is the impulse of its constraint, by Newton's law."""
    m, h = 1.7, 0.01
    system = gallery.nonholonomic_particle(m=m)
    run = da.simulate(system, 0.5, formulation=formulation, integrator=da.RungeKutta4(step=h))
    change = m * np.diff(run.u, axis=0)
    rows = np.stack([-run["y"], 0 * run.t, 1 + 0 * run.t], axis=1)
    if getattr(formulation, "predict", False):  # half of the known reaction at the start, the rest with the rows at the end
        lam = run.multiplier("slope")
        start = 0.5 * h * lam[:-1] * rows[:-1]
        expected = start + (run.impulses[1:] - 0.5 * h * lam[:-1]) * rows[1:]
    else:
        expected = run.impulses[1:] * rows[:-1]
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.impulse("slope"), run.impulses * rows, rtol=0, atol=1e-15)
    mean = run.mean_reaction("slope")
    middle = 0.5 * (run.reaction("slope")[1:] + run.reaction("slope")[:-1])
    assert np.isnan(mean[0]).all()
    assert np.abs(mean[3:] - middle[2:]).max() <= 0.02  # h times the rate of the reaction, about 1 / s, and that of the row
    run.save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    np.testing.assert_array_equal(again.impulse("slope"), run.impulse("slope"))
    np.testing.assert_array_equal(again.reaction("slope"), run.reaction("slope"))
    np.testing.assert_array_equal(again(0.123).x, run(0.123).x)


def test_soft_is_a_spring_and_a_damper():
    """A mass on a compliant holonomic row is an oscillator; on a compliant velocity row it slips at F / kd."""

    def L(q, v, p):
        return p.m / 2 * (v.x**2 + v.z**2) - p.m * 9.81 * q.z

    system = da.LagrangianSystem(
        L, "x z", holonomic={"floor": lambda q: q.z}, nonholonomic={"belt": lambda v: v.x - 2.0}, forces={"x": 3.0},
        parameters={"m": 2.0}, velocities={"x": 2.0},
    )  # fmt: skip
    formulation = da.Soft(stiffness={"floor": 5e4}, damping={"floor": 2e3, "belt": 150.0})
    run = da.simulate(system, 3.0, formulation=formulation, integrator=da.RungeKutta4(step=1e-3))
    assert run["z"][-1] == pytest.approx(-2 * 9.81 / 5e4, rel=1e-6)
    assert run["x'"][-1] == pytest.approx(2.0 + 3.0 / 150.0, rel=1e-6)
    np.testing.assert_allclose(run.reaction("belt")[-1], (-3.0, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.reaction("floor")[-1], (0, 2 * 9.81), rtol=0, atol=1e-5)
    held = da.simulate(system, 3.0, formulation=da.Soft(damping={"floor": 2e3}), integrator=da.RungeKutta4(step=1e-3))
    assert held["x'"][-1] == pytest.approx(2.0, abs=1e-7)  # 3 N of 1e8 N s/m
    with pytest.raises(ModelError, match=r"Soft: 'belt\.' has neither stiffness nor damping"):
        da.simulate(system, 1.0, formulation=da.Soft(damping={"belt": 0.0}), integrator=da.RungeKutta4(step=1e-3))


@pytest.mark.parametrize("formulation", [da.Impulse(), da.Soft(), da.Minimal()], ids=str)
def test_redundant_rows_do_no_harm(formulation):
    """The rod of a pendulum given twice, the second time in other words."""

    def pendulum(*more):
        return da.LagrangianSystem(
            lambda q, v: 0.5 * (v.x**2 + v.y**2) - 9.81 * q.y, "x y", initial={"x": 0.6, "y": -0.8},
            holonomic={"rod": lambda q: q.x**2 + q.y**2 - 1, **{f"rod {k}": more[k] for k in range(len(more))}},
        )  # fmt: skip

    integrator = TIGHT if isinstance(formulation, da.Minimal) else da.RungeKutta4(step=1e-3)
    twice = pendulum(lambda q: np.sqrt(q.x**2 + q.y**2) - 1)
    assert len(da.compile(twice).redundant) == 1
    runs = [da.simulate(s, 1.0, formulation=formulation, integrator=integrator, save_at=TIMES) for s in (pendulum(), twice)]
    limit = 1e-10 if not isinstance(formulation, da.Soft) else 1e-6  # both rows carry: the rod is stiffer, 1e8 N/m give 2e-7 m
    assert np.abs(runs[0].x - runs[1].x).max() <= limit


def test_positions_are_projected_onto_holonomic_rows_only():
    """Off by 1e-3 everywhere: the change of q is a combination of the holonomic rows; a system without any keeps its q."""
    for name in ("oscillator_on_circle", "routh_sphere_in_coordinates", "rolling_disc_in_coordinates"):
        mechanism = da.compile(gallery.build(name))
        n, m = mechanism.nq, int(mechanism.I[T.M_HOLONOMIC])
        off = np.random.default_rng(3).uniform(-1e-3, 1e-3, 2 * n) * 0.02
        formulations = [da.Jet(), da.Minimal()] + ([da.Impulse()] if name != "routh_sphere_in_coordinates" else [])
        for formulation in formulations:
            run = formulation.prepare(mechanism)
            x = run.from_absolute(mechanism.x_0)
            x[: 2 * n] += off
            before = x[:n].copy()
            G = mechanism.evaluate(T.ROWS_PART, 0.0, x).A[:m].copy()
            status = run.project(T.PROJECT, 0.0, x, np.zeros_like(x), run.view)
            assert status == T.OK
            values = mechanism.evaluate(T.ROWS_PART, 0.0, x)
            np.testing.assert_allclose(values.A @ x[n : 2 * n] + values.b, 0, rtol=0, atol=1e-10)
            if m == 0:
                np.testing.assert_array_equal(x[:n], before)
                continue
            assert np.abs(values.g).max() <= 1e-10
            moved = x[:n] - before
            assert np.linalg.norm(moved) > 1e-6
            outside = moved - G.T @ np.linalg.lstsq(G.T, moved, rcond=None)[0]
            assert np.linalg.norm(outside) <= 1e-2 * np.linalg.norm(moved)  # the rows turn a little in Newton's steps
            gamma = values.A[m:] - values.A[m:] @ np.linalg.pinv(G) @ G
            assert np.abs(gamma @ moved).max() <= 1e-2 * np.abs(gamma).max() * np.linalg.norm(moved)


def test_a_coordinate_without_inertia_is_refused_by_impulses():
    text = "Impulse steps as if there were no constraints, and without them the velocity e0', e1' together has no inertia"
    with pytest.raises(ModelError, match=text):
        da.simulate(gallery.routh_sphere_in_coordinates(), 0.1, formulation=da.Impulse(), integrator=da.RungeKutta4(step=0.01))


def test_minimal_keeps_invariants():
    def momentum(t, q, u):
        return q.x * u.y - q.y * u.x

    loose = da.DormandPrince(rtol=1e-5, atol=1e-5)
    for name, invariants in (("routh_sphere_in_coordinates", "energy"), ("oscillator", [momentum])):
        runs = [
            da.simulate(gallery.build(name), 1.0, formulation=da.Minimal(invariants=kept), integrator=loose, save_at=TIMES)
            for kept in (None, invariants)
        ]
        free, kept = (
            np.ptp(run.energy.total if invariants == "energy" else run["x"] * run["y'"] - run["y"] * run["x'"]) for run in runs
        )
        assert free > 1e-9
        assert kept <= 2.1e-13  # the tolerance, of 1 J, on either side
        assert runs[1].drift.velocity.max() <= 1e-10
        assert np.abs(runs[1].q - jet(name).q).max() <= 1e-2


def test_minimal_stops_at_a_singular_configuration():
    """sin a = sin b, two branches that cross where both are pi / 2."""
    system = da.LagrangianSystem(
        lambda v: (v.a**2 + v.b**2) / 2, "a b", holonomic={"link": lambda q: np.sin(q.a) - np.sin(q.b)},
        velocities={"a": 1.0, "b": 1.0},
    )  # fmt: skip
    with pytest.raises(SimulationError, match=r"singular configuration at t = 1\.57\d* s .*'link'"):
        da.simulate(system, 2.0, formulation=da.Minimal())
    with pytest.raises(ModelError, match="singular='pass' is for bodies"):
        da.simulate(system, 1.0, formulation=da.Minimal(singular="pass"))
