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


@pytest.fixture(autouse=True)
def registries_stay_as_they_are():
    """What a test registers is gone after it."""
    from dalembert.formulations import FORMULATIONS
    from dalembert.integrators import INTEGRATORS

    before = dict(FORMULATIONS), dict(INTEGRATORS)
    yield
    for known, was in zip((FORMULATIONS, INTEGRATORS), before, strict=True):
        known.clear()
        known.update(was)
