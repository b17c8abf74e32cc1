"""Overconstrained linkages that move: every formulation, joints in several orders, against closed forms; random twins.

The whole family (ten linkages, five formulations, six orders) and 2,000 random mechanisms are campaigns
(benchmarks/campaigns); here is a share of each.
"""

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.kernels.base import tables as T

sys.path.insert(0, str(Path(__file__).parents[2]))
pytest.importorskip("benchmarks.campaigns.linkages", reason="the sources come without benchmarks")

from benchmarks.campaigns import overconstrained, redundant_twins
from benchmarks.campaigns.linkages import LINKAGES, bennett, sarrus, three_cranks
from benchmarks.campaigns.runner import generator

LIMIT = 1e-7  # of the issue; what the runs leave is 1e-10
NAMES = [make().name for make in LINKAGES]


def reordered(linkage, seed):
    return [str(name) for name in np.random.default_rng(seed).permutation(list(linkage.joints))]


@pytest.mark.parametrize("formulation", overconstrained.FORMULATIONS)
@pytest.mark.parametrize("k", range(len(LINKAGES)), ids=NAMES)
def test_a_turn_of_the_crank_follows_the_closed_form(k, formulation):
    linkage = LINKAGES[k]()
    error, solution = overconstrained.driven_error(linkage, formulation, reordered(linkage, k + 1))
    assert error <= LIMIT
    assert solution.drift.position.max() <= 1e-9
    assert solution.report().passed, solution.report().failures


@pytest.mark.parametrize("formulation", ["Jet", "MovingFrame", "Minimal"])
@pytest.mark.parametrize("size", [1e-5, 1e4])
def test_size_and_place_of_a_linkage(size, formulation):
    """Reports of right runs passed at sizes near 1 m only: 2e-13 of the speed was called drift of the redundant rows."""
    linkage = three_cranks()
    away = replace(linkage, axes=lambda angle: {n: (size * (p + 10.0), d) for n, (p, d) in linkage.axes(angle).items()})
    model = away.model()
    for body in model.bodies:
        model._add(replace(body, inertia=size**2 * body.inertia))
    solution = da.simulate(model, 1.0, formulation=overconstrained.FORMULATIONS[formulation][0])
    for body in away.bodies:
        exact = [away.pose(body, away.angle(t))[0] for t in solution.t]
        np.testing.assert_allclose(solution.position(body), exact, rtol=0, atol=1e-7 * size)
    assert solution.report().passed, solution.report().failures


@pytest.mark.parametrize("formulation", ["Jet", "MovingFrame", "Minimal"])
@pytest.mark.parametrize("k", range(len(LINKAGES)), ids=NAMES)
def test_free_linkages_keep_their_shape_and_energy(k, formulation):
    linkage = LINKAGES[k]()
    pose, energy = overconstrained.free_error(linkage, formulation, reordered(linkage, k + 7))
    assert pose <= LIMIT and energy <= LIMIT


@pytest.mark.parametrize("seed", range(6))
def test_rank_does_not_depend_on_the_order_of_joints(seed):
    for make, rank, redundant in ((bennett, 17, 3), (sarrus, 29, 1), (three_cranks, 23, 7)):
        linkage = make()
        mechanism = da.compile(linkage.model(reordered(linkage, seed), driven=False))
        assert (mechanism.rank, len(mechanism.redundant), mechanism.degrees_of_freedom) == (rank, redundant, 1)


@pytest.mark.parametrize(("way", "length"), [(da.Jet(), 0.005), (da.MovingFrame(), 0.5)])
def test_rows_are_chosen_anew_while_a_bennett_loop_turns(way, length):
    """The rows of the start are dependent at other angles; the rank is not lower there, however small the links are."""
    run = way.prepare(da.compile(bennett(length, 0.6 * length).model(driven=False)))
    x = run.from_absolute(run.mechanism.x_0)
    from dalembert.integrators.advance import Advance

    advance = Advance(run, da.DOP853(), 0.0, x, 1.0, None)
    while advance.t < 1.0:
        assert advance.steps(1000) == T.OK
    assert run.view.choice.count > 1
    assert run.view.pivot.least > 0.1  # the mechanism itself stays far from singular
    assert run.view.pivot.crossed == 0


def test_orthogonal_projection_leaves_idle_rows_out():
    """Of positions and of velocities: with idle rows in place of others Newton's method does not end."""
    run = da.Jet(projection="orthogonal").prepare(da.compile(bennett().model(driven=False)))
    from dalembert.integrators.advance import Advance

    advance = Advance(run, da.DOP853(), 0.0, run.from_absolute(run.mechanism.x_0), 0.3, None)
    assert advance.steps(8) == T.OK and run.view.count.newton > 0
    assert run.view.count.newton_max <= 4


@pytest.mark.parametrize("index", range(12))
def test_redundant_mechanisms_move_like_their_twins(index):
    outcome = redundant_twins.case(generator("redundant_twins", 0, index), index)
    assert outcome.verdict in redundant_twins.CAMPAIGN.good, outcome.words


def test_reactions_that_are_unique_are_those_of_the_twin():
    """A pendulum on a Bennett loop: its hinge is outside of the redundancy, whichever rows act."""
    linkage = bennett()
    model = linkage.model(gravity=(0.0, 0.0, -9.81))
    point, axis = linkage.axes(linkage.start)["R2"][0], (0.0, 1.0, 0.0)
    model.add_body("bob", mass=0.3, inertia=(0.01, 0.01, 0.01), position=point - np.array([0.0, 0.0, 0.3]))
    model.add_revolute("pin", "l1", "bob", point=point, axis=axis)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = da.simulate(model, 1.0, save_at=np.linspace(0, 1, 21))
    reaction = a.reaction("pin")
    assert reaction.unique and not a.reaction("R2").unique
    expected = 0.3 * (a.acceleration("bob") + np.array([0.0, 0.0, 9.81]))
    np.testing.assert_allclose(reaction.force, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", [da.Jet(), da.Minimal(), da.MovingFrame()])
def test_small_mechanisms_are_no_more_singular_than_large_ones(formulation):
    """A four-bar of 1e-6 m takes the steps of one of 1 m: time goes with the root of the size."""
    from test_singular_branches import four_bar

    steps = {}
    for size in (1.0, 1e-6):
        solution = da.simulate(four_bar(size), 0.5 * np.sqrt(size), formulation=formulation)
        steps[size] = solution.statistics.accepted
        assert abs(solution.coordinate("A")[-1] - 7.12121534) < 1e-7
    assert steps[1e-6] <= 1.5 * steps[1.0]
