"""simulate_many: every run is the run that simulate makes; failures stay alone; threads change nothing."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

MOVING = da.MovingFrame()


def starts(mechanism, count):
    """States along a run: consistent, and all different."""
    s = da.simulate(mechanism, 2.0, save_at=np.linspace(0.0, 2.0, count))
    return np.hstack([s.q, s.u])


@pytest.mark.parametrize("formulation", [da.Jet(), MOVING, da.Minimal(), da.Jet(invariants="energy")], ids=repr)
@pytest.mark.parametrize(
    "integrator",
    [da.DOP853(), da.RungeKutta4(step=1e-3), da.GaussLegendre(stages=2, step=1e-2)],
    ids=lambda i: type(i).__name__,
)
def test_every_run_is_that_of_simulate(formulation, integrator):
    mechanism = da.compile(gallery.slider_crank())
    states = starts(mechanism, 5)
    times = np.linspace(0.0, 0.3, 4)
    options = {"formulation": formulation, "integrator": integrator, "save_at": times}
    many = da.simulate_many(mechanism, 0.3, initial_states=states, **options)
    assert many.status.tolist() == ["complete"] * 5
    assert many.position("slider").shape == (5, 4, 3)
    for k, state in enumerate(states):
        x_0 = mechanism.x_0.copy()
        x_0[: len(state)] = state
        alone = da.simulate(replace(mechanism, x_0=x_0), 0.3, **options)
        np.testing.assert_allclose(many[k].position("slider"), alone.position("slider"), rtol=0, atol=1e-10)
        np.testing.assert_allclose(many[k].reaction("B").force, alone.reaction("B").force, rtol=0, atol=1e-6)
        assert many[k].statistics.accepted == pytest.approx(alone.statistics.accepted, abs=1)
        assert many[k].report().passed


STEP = da.RungeKutta4(step=1e-3)


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [
        (da.Impulse(), STEP),
        (da.Impulse(stabilisation="baumgarte"), STEP),
        (da.Soft(stiffness=1e6, damping=10.0), STEP),
        (da.Variational(), da.FixedStep(step=1e-3)),
    ],
    ids=repr,
)
def test_every_variant_is_that_of_simulate(formulation, integrator):
    """Runs with Baumgarte's stabilisation failed at their start: it was divided by a step that was not made."""
    values = {"rate": [6.0, 5.0]}
    options = {"formulation": formulation, "integrator": integrator, "save_at": [0.0, 0.005, 0.01]}
    many = da.simulate_many(gallery.slider_crank, 0.01, parameters=values, **options)
    assert many.status.tolist() == ["complete"] * 2
    for k in range(2):
        alone = da.simulate(gallery.slider_crank(rate=values["rate"][k]), 0.01, **options)
        for output in ("position", "acceleration"):
            found, wanted = (getattr(run, output)("slider") for run in (many[k], alone))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * (1.0 + np.abs(wanted).max()))
        found, wanted = (run.reaction("B").force for run in (many[k], alone))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * (1.0 + np.abs(wanted).max()))


@pytest.mark.parametrize("damping", [0.0, 1e2])
def test_compliant_joints_start_as_they_are(damping):
    """Before the first step no joint has given way; nothing is divided by a step that was not made."""
    mechanism, fixed = da.compile(gallery.rolling_disc()), da.RungeKutta4(step=1e-3)
    options = {"formulation": da.Soft(stiffness=1e6, damping=damping), "integrator": fixed, "save_at": [0.0, 0.05]}
    alone = da.simulate(mechanism, 0.05, **options)
    many = da.simulate_many(mechanism, 0.05, initial_states=mechanism.x_0[None], **options)
    assert many.status.tolist() == ["complete"]
    assert np.array_equal(many[0].x, alone.x)


def test_threads_change_no_bit():
    mechanism = da.compile(gallery.chain(4))
    states = starts(mechanism, 40)
    one, three = (
        da.simulate_many(mechanism, 3.0, initial_states=states, formulation=MOVING, threads=threads) for threads in (1, 3)
    )
    for k in range(40):
        assert np.array_equal(one[k].x, three[k].x)
        assert one[k].statistics == three[k].statistics


def test_a_run_does_not_depend_on_its_neighbours():
    mechanism = da.compile(gallery.slider_crank())
    states = starts(mechanism, 6)
    all_runs = da.simulate_many(mechanism, 0.5, initial_states=states, formulation=da.Minimal(), threads=1)
    last = da.simulate_many(mechanism, 0.5, initial_states=states[-1:], formulation=da.Minimal())
    assert np.array_equal(all_runs[-1].x, last[0].x)


def test_parameters_of_a_function_that_builds_the_model():
    """Small swings of a pendulum: T = 2 pi sqrt(l / g) for each length."""

    def pendulum(length, mass):
        model = da.Model(name="pendulum")
        model.add_point_mass("bob", mass=mass, position=(length * np.sin(1e-4), 0, -length * np.cos(1e-4)))
        model.add_distance("rod", model.ground, "bob", points=((0, 0, 0), (0, 0, 0)))
        return model

    lengths = np.array([0.5, 1.0, 2.0])
    table = {"length": lengths, "mass": [1.0, 2.0, 3.0]}
    many = da.simulate_many(pendulum, 1.5, parameters=table, save_at=[1.5], integrator=da.DOP853(rtol=1e-12, atol=1e-12))
    x = lengths * 1e-4 * np.cos(np.sqrt(9.81 / lengths) * 1.5)
    np.testing.assert_allclose(many.position("bob")[:, 0, 0], x, rtol=0, atol=1e-11)
    assert [s.mechanism.model.bodies[0].mass for s in many] == [1.0, 2.0, 3.0]


def test_parameters_of_a_lagrangian_system():
    system = da.LagrangianSystem(
        lambda q, v, t, p: 0.5 * p.m * v.x**2 - 0.5 * p.k * q.x**2, ["x"], parameters={"m": 1.0, "k": 1.0}, initial={"x": 1.0}
    )
    k = np.linspace(1.0, 9.0, 20)
    many = da.simulate_many(system, 2.0, parameters={"k": k}, save_at=[0.0, 1.0, 2.0])
    np.testing.assert_allclose(many["x"], np.cos(np.sqrt(k)[:, None] * [0.0, 1.0, 2.0]), rtol=0, atol=1e-7)


def test_initial_states_that_do_not_fit_are_moved_and_named():
    mechanism = da.compile(gallery.slider_crank())
    states = np.tile(mechanism.x_0[: mechanism.nq + mechanism.nu], (3, 1))
    states[1, 0] += 1e-3
    with pytest.warns(RuntimeWarning, match=r"1 initial states did not satisfy the constraints and were moved, run 1 by"):
        many = da.simulate_many(mechanism, 0.1, initial_states=states)
    assert many.moved[0] < 1e-10 < 1e-4 < many.moved[1] < 2e-3
    assert many[1].report().passed


def falling(force):
    model = da.Model()
    model.add_point_mass("p", mass=1.0)
    model.add_force("push", "p", force)
    return model


def test_a_failing_run_stops_alone():
    """x'' = x'^2 ends at t = 1 / x'_0: in one of three runs within the time."""

    def push(t, r, v, R, w):
        return (v[0] * v[0], 0.0, 0.0)

    states = np.zeros((3, 6))
    states[:, 3] = 0.1, 2.0, 0.2
    with pytest.warns(RuntimeWarning, match=r"1 of 3 runs failed on their way; .*the step size collapsed at t = 0.5"):
        many = da.simulate_many(falling(push), 1.0, initial_states=states, save_at=np.linspace(0, 1, 10))
    assert many.status.tolist() == ["complete", "failed", "complete"]
    assert many.failed.tolist() == [1]
    assert "the step size collapsed at t = 0.5" in many.message[1]
    got = many.position("p")[:, :, 0]
    v_0 = states[:, 3, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        exact = np.where(v_0 * many.t < 1, -np.log(1 - v_0 * many.t), np.nan)
    np.testing.assert_allclose(got, exact, rtol=0, atol=1e-7)
    assert len(many[1].t) == 5
    assert repr(many).endswith("3 runs, 2 complete, 1 failed>")


@pytest.mark.parametrize("compiled", [True, False])
def test_what_a_user_function_raises_is_kept(compiled):
    known = {} if compiled else {"limit": 0.5}

    def push(t, r, v, R, w):
        if v[0] > (0.5 if compiled else known["limit"]):
            raise ValueError("too fast")
        return (1.0, 0.0, 0.0)

    states = np.zeros((4, 6))
    states[:, 3] = 0.0, 0.3, 0.1, 0.2
    if compiled:
        many = da.simulate_many(falling(push), 0.25, initial_states=states)
    else:
        with pytest.warns(UserWarning, match="plain Python"):
            many = da.simulate_many(falling(push), 0.25, initial_states=states)
    assert many.status.tolist() == ["complete", "failed", "complete", "complete"]
    assert "user function 'push' raised ValueError" in many.message[1]


def test_interruption_keeps_what_is_done():
    mechanism = da.compile(gallery.chain(4))
    states = starts(mechanism, 8)

    def stop(done, total):
        raise KeyboardInterrupt

    many = da.simulate_many(mechanism, 1e5, initial_states=states, formulation=MOVING, progress=stop)
    assert set(many.status) == {"interrupted"}
    assert np.isnan(many.position("rod 1")[:, -1]).all()


def test_too_many_steps_are_a_failure():
    mechanism = da.compile(gallery.chain(4))
    many = da.simulate_many(
        mechanism, 10.0, initial_states=starts(mechanism, 2), formulation=MOVING, integrator=da.DOP853(max_steps=5)
    )
    assert many.message[0].startswith("5 steps reached only t = ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either initial_states or parameters"),
        ({"initial_states": np.zeros((2, 3))}, r"initial_states have the shape \(2, 3\); give \(runs, 13\)"),
        ({"initial_states": np.full((2, 13), np.nan)}, "initial_states of run 0 are not finite"),
        ({"initial_states": "many"}, r"give an array \(runs, nq \+ nu\)"),
        ({"parameters": {"length": [1.0]}}, "parameters go with a LagrangianSystem or with a function"),
        ({"initial_states": np.zeros((2, 13)), "threads": 0}, "threads is 0; give a positive whole number"),
        ({"initial_states": np.zeros((2, 13)), "save_at": [3.0]}, "save_at: times from 3 to 3 s; the run covers 0 to 1 s"),
    ],
)
def test_bad_input_is_named(options, message):
    model = da.Model()
    model.add_body("b", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(da.ModelError, match=message):
        da.simulate_many(model, 1.0, **options)


def test_runs_that_differ_in_numbers_alone_have_one_structure():
    """Some of these rods are so thin that their solves are refined."""

    def pendulum(length):
        model = da.Model()
        model.add_body("rod", **da.rod(1.0, length, axis="x", radius=0.01).body(), position=(length / 2, 0, 0))
        model.add_revolute("pivot", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
        return model

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        many = da.simulate_many(pendulum, 0.1, parameters={"length": [0.5, 2.0, 0.6]})
    assert many.structure.tolist() == [0, 0, 0]
    np.testing.assert_array_equal(many[1].x[-1], da.simulate(pendulum(2.0), 0.1).x[-1])


def test_runs_of_several_structures_join():
    """Each is the run that the function and `simulate` make; of what both have, there are arrays."""
    options = {"formulation": da.Jet(), "save_at": [0.0, 0.2]}
    with pytest.warns(RuntimeWarning, match="the runs have 2 structures, each compiled by itself; those of runs 0, 1"):
        many = da.simulate_many(gallery.chain, 0.2, parameters={"n": [2, 3, 2], "angle": [1.0, 1.2, 0.5]}, **options)
    assert many.structure.tolist() == [0, 1, 0]
    assert many.position("rod 1").shape == (3, 2, 3)
    for k, (n, angle) in enumerate([(2, 1.0), (3, 1.2), (2, 0.5)]):
        alone = da.simulate(gallery.chain, 0.2, parameters={"n": n, "angle": angle}, **options)
        np.testing.assert_allclose(many[k].x, alone.x, rtol=0, atol=1e-12)


def test_models_of_a_sweep_that_cannot_be_built():
    with pytest.raises(da.ModelError, match="lengths"):
        da.simulate_many(gallery.chain, 1.0, parameters={"n": [2, 3], "angle": [1.0]})
    with pytest.warns(RuntimeWarning, match=r"1 of 2 runs could not start; run 1 \(mass = -1\)"):
        many = da.simulate_many(_mass, 1.0, parameters={"mass": [1.0, -1.0]})
    assert many.status.tolist() == ["complete", "failed"]
    assert "mass is -1" in many.message[1]


def _mass(mass):
    model = da.Model()
    model.add_point_mass("p", mass=mass)
    return model
