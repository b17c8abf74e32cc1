"""Settings common to all tests: reproducible random numbers, modest hypothesis runs, no windows."""

import os
import random

import matplotlib
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")

# Compiled kernels make the first example slow, so no deadline; `thorough` is for a machine with time.
settings.register_profile(
    "default", deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("default"), derandomize=False, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def fixed_seeds():
    """Seed the global generators, for code that uses them; tests themselves take `rng`."""
    random.seed(20240229)
    np.random.seed(20240229)


@pytest.fixture
def rng():
    """A seeded random generator."""
    return np.random.default_rng(20240229)
