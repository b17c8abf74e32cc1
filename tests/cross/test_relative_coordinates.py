"""Relative coordinates against absolute ones: the same accelerations, motions and reactions from different equations."""

import dataclasses
import itertools

import numpy as np
import pytest
from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert.compilation.tree import TREE_JOINTS
from dalembert.gallery import GALLERY, build
from dalembert.gallery.chain import add_rods
from dalembert.integrators import INTEGRATORS
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.slots import as_system
from dalembert.kernels.formulations.jet import jet

SEEDS = range(6)
BODIES = [name for name in GALLERY if isinstance(build(name), da.Model)]


def body_accelerations(run, x, mode=T.RATE):
    """(v', w_B') of all bodies and the external power at one state of a run."""
    dx = np.zeros(int(run.I[T.NX]))
    assert run.system(mode, 0.0, x, dx, run.view) == T.OK
    return run.W[run.I[T.W_ACC] + 6 :][: 6 * run.mechanism.nb].copy(), dx[run.size]


def check_three_ways(mechanism, bounds=(1e-11, 1e-11)):
    """Articulated bodies and the source's matrices against absolute coordinates, relative to the largest acceleration: rounding
    times the condition of the loops and, in the source's way, of M*."""
    absolute = da.Jet().prepare(mechanism)
    expected, power = body_accelerations(absolute, mechanism.x_0.copy())
    scale = max(1.0, np.abs(expected).max())
    for path, bound in zip(("fast", "reference"), bounds, strict=True):
        relative = da.MovingFrame(path=path).prepare(mechanism)
        found, other_power = body_accelerations(relative, relative.from_absolute(mechanism.x_0), T.OUTPUT)
        np.testing.assert_allclose(found, expected, rtol=0, atol=bound * scale)
        assert other_power == pytest.approx(power, abs=bound * max(1.0, abs(power)) * scale)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_accelerations_of_random_mechanisms(shape, seed):
    """Every joint type, drivers, forces, hubs, loops; cut joints come back as multipliers."""
    check_three_ways(da.compile(random_model(seed, shape, 8)))


@pytest.mark.parametrize("name", BODIES)
def test_accelerations_in_the_gallery(name):
    """Chains of up to 64 bodies, several loops, redundant rows."""
    mechanism = da.compile(build(name))
    rng = np.random.default_rng(3)
    u = slice(mechanism.nq, mechanism.nq + mechanism.nu)
    x = mechanism.x_0.copy()
    x[u] += rng.standard_normal(mechanism.nu)  # most of them start at rest, where B' has no part
    absolute, relative = da.Jet().prepare(mechanism), da.MovingFrame().prepare(mechanism)
    assert absolute.project(T.PROJECT, 0.0, x, x.copy(), absolute.view) == T.OK
    x = relative.to_absolute(relative.from_absolute(x)[None])[0]  # what the projection leaves, stiff dampers would show
    # M* of 64 rods has a condition number of 3e7: its factorisation, not the recursion, loses that many digits
    check_three_ways(dataclasses.replace(mechanism, x_0=x), (1e-11, 1e-9 if name == "coiled_chain" else 1e-11))


def test_random_trees_hang_on_every_joint_type():
    used, cut = set(), set()
    for shape, seed in itertools.product(SHAPES, SEEDS):
        model = random_model(seed, shape, 8)
        tree = da.MovingFrame().prepare(da.compile(model)).tree
        types = {joint.name: joint.type for joint in model.joints}
        used |= {types[link.joint] for link in tree.links if link.joint is not None}
        used |= {"free" for link in tree.links if link.joint is None and link.nu == 6}
        cut |= {types.get(name, "driver") for name in tree.cut}
    assert used == {*TREE_JOINTS, "free"}
    assert {"coincidence", "distance", "perpendicular", "point_on_line", "driver"} <= cut


@pytest.mark.parametrize("integrator", [name for name, cls in INTEGRATORS.items() if not cls.by_formulation])
def test_every_integrator_runs_on_the_reference_path(integrator):
    """The same steps on both paths part only by rounding, over 20 of them."""
    options = {"integrator": INTEGRATORS[integrator](step=0.01)}
    fast, reference = (
        da.simulate(build("four_bar"), 0.2, formulation=da.MovingFrame(path=path), **options) for path in ("fast", "reference")
    )
    assert fast.statistics.accepted == reference.statistics.accepted == 20
    np.testing.assert_allclose(reference.x, fast.x, rtol=0, atol=1e-10)  # cut joints are closed to 1e-11
    assert reference.drift.position.max() <= 1e-10


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_states_convert_there_and_back(shape, seed):
    mechanism = da.compile(random_model(seed, shape, 8))
    run = da.MovingFrame().prepare(mechanism)
    back = run.to_absolute(run.from_absolute(mechanism.x_0)[None])[0]
    np.testing.assert_allclose(back, mechanism.x_0, rtol=0, atol=1e-11)  # cut joints are assembled to 1e-12


@pytest.mark.parametrize("name", BODIES)
def test_gallery_moves_alike(name):
    """Both at 1e-11: what is left is the error of either run over a second, or as long as the mechanism is meant to run, or
    until the four-bar lies flat, singular. That of the torsion chains is 7e-9 of the largest number: they run at 1e-12."""
    end = 0.7 if name == "n_four_bar" else min(1.0, GALLERY[name].t_end)
    tolerance = 1e-12 if name.startswith("torsion_chain") else 1e-11
    options = {"integrator": da.DOP853(rtol=tolerance, atol=tolerance), "save_at": np.linspace(0.0, end, 11)}
    mechanism = da.compile(build(name))
    expected = da.simulate(mechanism, end, **options)
    found = da.simulate(mechanism, end, formulation=da.MovingFrame(), **options)
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


@pytest.mark.parametrize("path", ["fast", "reference"])
def test_projection_closes_an_open_loop(path):
    mechanism = da.compile(build("slider_crank"))
    run = da.MovingFrame(path=path).prepare(mechanism)
    x = run.from_absolute(mechanism.x_0) + 1e-3 * np.random.default_rng(1).standard_normal(int(run.I[T.NX]))
    assert run.project(T.PROJECT, 0.0, x, np.zeros_like(x), run.view) == T.OK
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
    np.testing.assert_allclose(
        solution(0.5).position("slider"), da.simulate(model, 0.5).position("slider")[-1], rtol=0, atol=1e-7
    )


def test_errors_of_steps_do_not_add_up_along_ball_joints():
    """The fast path counts rotations from the world, the source's from the parent: the end of a chain that swings in space is
    nearer for the same tolerance (15 times here, with 4 % more evaluations)."""
    model = da.Model()
    add_rods(model, [da.Rotation.from_axis_angle((1, 0, 0), 0.1)] * 16, angular_velocity=(0, 0.1, 0))
    exact = da.simulate(model, 2.0, formulation=da.Jet(), integrator=da.DOP853(rtol=1e-12, atol=1e-12), save_at=[2.0])
    errors = []
    for path in ("fast", "reference"):
        options = {"formulation": da.MovingFrame(path=path), "integrator": da.DOP853(rtol=1e-7, atol=1e-7)}
        run = da.simulate(model, 2.0, save_at=[2.0], **options)
        errors.append(np.abs(run.position("rod 16") - exact.position("rod 16")).max())
    assert errors[0] < 0.3 * errors[1]
