"""A small share of the campaigns against files: kills, model files, stores."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
pytest.importorskip("benchmarks.campaigns.runner", reason="the sources come without benchmarks")

from benchmarks.campaigns import kills, model_files, stores
from benchmarks.campaigns.runner import run


def check_good(campaign, indices):
    summary = run(campaign, indices)
    assert summary.bad == {}, str(summary)
    assert sum(summary.counts.values()) == len(indices)


def test_mutated_model_files():
    check_good(model_files.CAMPAIGN, range(40))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked on this system")
def test_kills():
    check_good(kills.CAMPAIGN, range(3))


def test_mutated_stores(monkeypatch):
    monkeypatch.setattr("dalembert.io.column.BLOCK_ROWS", 16)  # which the campaign sets for good
    monkeypatch.setattr(stores, "NAMES", ("slider_crank",) * 3)  # the others need more kernels
    check_good(stores.CAMPAIGN, range(8))


def test_the_campaign_notices(monkeypatch):
    """A store whose states were changed under right checksums of the blocks only would load wrong numbers."""
    monkeypatch.setattr("dalembert.io.column.BLOCK_ROWS", 16)
    _, solution = stores.original("slider_crank")
    assert stores._is_part(solution, solution)
    shifted = type(solution)(solution.mechanism, solution.t, solution.x + 1e-16, settings=solution.settings)
    shifted.x[3, 0] += 1.0
    assert not stores._is_part(shifted, solution)
    assert not kills.is_start_of(shifted, solution)
