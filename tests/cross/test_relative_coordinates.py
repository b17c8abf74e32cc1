"""Relative coordinates against absolute ones: the same accelerations, motions and reactions from different equations."""

import numpy as np
import pytest
from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert.gallery import GALLERY, build
from dalembert.kernels import tables as T
from dalembert.kernels.jet import jet
from dalembert.kernels.slots import as_system

SEEDS = range(6)


def body_accelerations(run, x, mode=T.RATE):
    """(v', w_B') of all bodies and the external power at one state of a run."""
    dx = np.zeros(int(run.I[T.NX]))
    status = run.system(mode, 0.0, x, dx, run.I, run.F, run.W, run.forces, run.callbacks.compiled)
    assert status == T.OK
    return run.W[run.I[T.W_ACC] + 6 :][: 6 * run.mechanism.nb].copy(), dx[run.size]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_accelerations_of_random_mechanisms(shape, seed):
    """Every joint type, drivers, forces, hubs, loops; cut joints come back as multipliers."""
    mechanism = da.compile(random_model(seed, shape, 8))
    absolute, relative = da.Jet().prepare(mechanism), da.MovingFrame().prepare(mechanism)
    x = relative.from_absolute(mechanism.x_0)
    expected, power = body_accelerations(absolute, mechanism.x_0.copy())
    found, other_power = body_accelerations(relative, x)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)  # rounding times the condition of the loops
    assert other_power == pytest.approx(power, abs=1e-11 * max(1.0, abs(power)) * scale)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_states_convert_there_and_back(shape, seed):
    mechanism = da.compile(random_model(seed, shape, 8))
    run = da.MovingFrame().prepare(mechanism)
    back = run.to_absolute(run.from_absolute(mechanism.x_0)[None])[0]
    np.testing.assert_allclose(back, mechanism.x_0, rtol=0, atol=1e-11)  # cut joints are assembled to 1e-12


@pytest.mark.parametrize("name", GALLERY)
def test_gallery_moves_alike(name):
    """Both at 1e-11: what is left is the error of either run over a second (or until the four-bar lies flat, singular)."""
    t_end = 0.7 if name == "n_four_bar" else 1.0
    options = {"integrator": da.DOP853(rtol=1e-11, atol=1e-11), "save_at": np.linspace(0.0, t_end, 11)}
    mechanism = da.compile(build(name))
    expected = da.simulate(mechanism, t_end, **options)
    found = da.simulate(mechanism, t_end, formulation=da.MovingFrame(), **options)
    size = mechanism.nq + mechanism.nu
    scale = max(1.0, np.abs(expected.x[:, :size]).max())
    np.testing.assert_allclose(found.x[:, :size], expected.x[:, :size], rtol=0, atol=5e-9 * scale)
    assert found.drift.position.max() <= 1e-10
    assert found.drift.velocity.max() <= 1e-10
    assert found.report().passed
    for joint in mechanism.model.joints:
        if joint.name not in mechanism.not_unique:
            force = expected.reaction(joint).force
            np.testing.assert_allclose(found.reaction(joint).force, force, rtol=0, atol=1e-6 * max(1.0, np.abs(force).max()))


def test_a_tree_has_no_rows_and_no_drift():
    run = da.MovingFrame().prepare(da.compile(build("chain")))
    assert run.I[T.M] == 0
    solution = da.simulate(build("chain"), 5.0, formulation=da.MovingFrame())
    assert solution.drift.position.max() <= 1e-13  # rounding of the conversion


def test_the_user_names_the_cut_joint():
    model = build("slider_crank")
    options = {"integrator": da.DOP853(rtol=1e-11, atol=1e-11), "save_at": [1.0]}
    reference = da.simulate(model, 1.0, **options).position("slider")
    for joint in ("A", "B", "C", "D"):
        formulation = da.MovingFrame(cut=(joint,))
        assert formulation.prepare(da.compile(model)).tree.cut == (joint,)
        solution = da.simulate(model, 1.0, formulation=formulation, **options)
        np.testing.assert_allclose(solution.position("slider"), reference, rtol=0, atol=1e-9)


def test_unknown_cut_joint_is_refused():
    with pytest.raises(da.ModelError, match="cut: there is no joint 'Z'"):
        da.simulate(build("slider_crank"), 1.0, formulation=da.MovingFrame(cut=("Z",)))


def test_projection_closes_an_open_loop():
    mechanism = da.compile(build("slider_crank"))
    run = da.MovingFrame().prepare(mechanism)
    x = run.from_absolute(mechanism.x_0) + 1e-3 * np.random.default_rng(1).standard_normal(int(run.I[T.NX]))
    status = run.project(T.PROJECT, 0.0, x, np.zeros_like(x), run.I, run.F, run.W, run.forces, run.callbacks.compiled)
    assert status == T.OK
    state = run.to_absolute(x[None])[0]
    check = da.Jet().prepare(mechanism)
    as_system(jet)
    body_accelerations(check, state, T.OUTPUT)
    m = mechanism.m
    assert np.abs(check.W[check.I[T.W_G] :][:m]).max() <= 1e-10
    assert np.abs(check.W[check.I[T.W_ZETA] :][:m]).max() <= 1e-10


def test_events_and_dense_output_in_relative_coordinates():
    model = build("slider_crank")
    event = da.Event(lambda state: state.position("slider")[0] - 0.25, name="passes", direction=1)
    found = [
        da.simulate(model, 1.0, formulation=f, events=event, integrator=da.DOP853(rtol=1e-11, atol=1e-11)).events
        for f in (da.Jet(), da.MovingFrame())
    ]
    np.testing.assert_allclose([t for _, t in found[1]], [t for _, t in found[0]], rtol=0, atol=1e-9)
    solution = da.simulate(model, 1.0, formulation=da.MovingFrame())
    np.testing.assert_allclose(solution(0.5).position("slider"), da.simulate(model, 0.5).position("slider")[-1], atol=1e-7)
