"""Campaigns are imported from the folder above; a source distribution comes without them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
pytest.importorskip("benchmarks.campaigns.runner", reason="the sources come without benchmarks")
