"""Long runs: no drift off the constraints, energy where it is asked for, and redundancy that changes nothing."""

from functools import cache

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

TIMES = np.linspace(0.0, 1000.0, 10_001)


@cache
def long_run(invariants):
    """1,000 s of the slider-crank, about 1,700 turns, with the default integrator and tolerances."""
    return da.simulate(gallery.slider_crank(), 1000.0, formulation=da.Jet(invariants=invariants), save_at=TIMES)


@pytest.mark.slow
@pytest.mark.parametrize("invariants", [None, "energy"])
def test_no_drift_in_a_thousand_seconds(invariants):
    """Residuals at every saved time within 1e-10 as demanded; the projection's own tolerance is 1e-11."""
    solution = long_run(invariants)
    assert solution.status == "complete"
    assert len(solution.t) == len(TIMES)
    assert solution.drift.position.max() <= 1e-10
    assert solution.drift.velocity.max() <= 1e-10
    assert solution.unit_length_error <= 1e-15
    assert abs(solution.coordinate("A")[-1]) > 1000 * 2 * np.pi  # it did turn, and every turn was counted


@pytest.mark.slow
def test_energy_invariant_holds_over_the_run():
    """Relative 1e-10 as demanded; one Newton step per saved or accepted state brings it to rounding, 1e-13."""
    solution = long_run("energy")
    E = solution.energy.total
    assert np.abs(E / E[0] - 1.0).max() <= 1e-12
    assert 0 < solution.statistics.invariant_gradients <= 1.5 * (solution.statistics.accepted + len(TIMES))


@pytest.mark.slow
def test_energy_drift_without_the_invariant_shows():
    """At rtol = atol = 1e-9 the balance drifts by some 1e-7 in 1,000 s, steadily; the solution does not hide it."""
    E = long_run(None).energy.total
    error = np.abs(E / E[0] - 1.0)
    assert 1e-9 < error[-1] < 1e-5
    thirds = [part.mean() for part in np.array_split(error, 3)]
    assert thirds == sorted(thirds)


@pytest.mark.slow
def test_long_run_with_and_without_invariant_start_alike():
    """The invariant corrects within the integration error: over 20 s the two agree to a few hundred times 1e-9."""
    free, kept = long_run(None), long_run("energy")
    first = TIMES <= 20.0
    assert np.abs(free.position("slider")[first] - kept.position("slider")[first]).max() <= 1e-6


@cache
def four_bars():
    integrator = da.DOP853(rtol=1e-11, atol=1e-11)
    return tuple(
        da.simulate(gallery.build(name), 10.0, integrator=integrator, save_at=np.linspace(0.0, 10.0, 201))
        for name in ("four_bar", "four_bar_twin")
    )


def test_redundant_four_bar_moves_like_its_twin():
    """1e-9 as demanded; velocities within 1e-8, as the rods turn at up to 9 rad/s."""
    redundant, twin = four_bars()
    for body in ("crank", "coupler", "rocker"):
        assert np.abs(redundant.position(body) - twin.position(body)).max() <= 1e-9
        assert np.abs(redundant.rotation(body) - twin.rotation(body)).max() <= 1e-9
        assert np.abs(redundant.velocity(body) - twin.velocity(body)).max() <= 1e-8
        assert np.ptp(twin.position(body)[:, 2]) > 0.05  # it does move
    # redundant rows are only monitored: within ten times the tolerance of those that imply them
    assert redundant.drift.position.max() <= 2e-10
    assert twin.drift.position.max() <= 1.1e-11


def test_redundant_rows_are_named():
    redundant, twin = (solution.mechanism for solution in four_bars())
    assert len(redundant.redundant) == 3
    assert len(redundant.rows) == 20
    assert redundant.rank == twin.rank == 17
    assert redundant.degrees_of_freedom == twin.degrees_of_freedom == 1
    assert {row.element for row in redundant.redundant} <= {"A", "B", "C", "D"}
    assert twin.redundant == ()


def test_reactions_that_are_not_unique_are_marked():
    """All four hinges share the redundancy; with ball and sleeve every reaction is determined."""
    redundant, twin = four_bars()
    for joint in "ABCD":
        assert not redundant.reaction(joint).unique
        assert twin.reaction(joint).unique
    # what is determined all the same: joint forces and weight accelerate each body as the motion says
    crank = redundant.mechanism.model.body("crank")
    total = redundant.reaction("A").force - redundant.reaction("B").force
    expected = crank.mass * (redundant.acceleration("crank") + np.array([0, 0, 9.81]))
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_ring_of_twenty_links_stays_closed():
    """100 s of a ring that collapses and whirls, 57 degrees of freedom: closure within 1e-10, energy within 1e-9 as demanded.

    DOP853 at its default 1e-9; the loop is cut where its halves meet, closed to 1e-11, the energy kept to 1e-13.
    """
    formulation = da.MovingFrame(invariants="energy")
    solution = da.simulate(gallery.build("ring"), 100.0, formulation=formulation, save_at=np.linspace(0.0, 100.0, 401))
    assert solution.status == "complete"
    assert solution.drift.position.max() <= 1e-10
    assert solution.drift.velocity.max() <= 1e-10
    error = np.abs(solution.energy.total - solution.energy.total[0]).max()
    assert error <= 1e-12 * solution.energy.scale
    assert solution.energy.kinetic.max() > 1e4  # J: it does move


@pytest.mark.parametrize(("damping", "bound"), [(70.0, 1e-2), (7000.0, 1e-4)])
def test_coiled_chain_with_stiff_dampers(damping, bound):
    """16 rods fall from a coil for 10 s; the dampers relax within 1e-3 and 1e-5 s, below the steps. 64 rods: benchmarks.

    Loose tolerances as befits a stiff method; the energy balance, with what the dampers took, shows that they are met.
    """
    integrator = da.GaussLegendre(3, rtol=1e-4, atol=1e-4, stage_tolerance=1e-8, solver="newton")
    model = gallery.coiled_chain(16, joint_damping=damping)
    solution = da.simulate(model, 10.0, formulation=da.MovingFrame(), integrator=integrator, save_at=np.linspace(0, 10, 51))
    assert solution.status == "complete"
    energy = solution.energy
    assert np.abs(energy.total - energy.total[0]).max() <= bound * energy.scale
    assert np.all(np.diff(energy.external_work) < 0)
    assert solution.statistics.accepted * 1e-3 < 10.0
    assert solution.statistics.stage_newton_steps >= solution.statistics.accepted
