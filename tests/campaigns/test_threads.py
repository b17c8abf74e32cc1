"""One case of the campaign of threads; the library's own tests of threads are in tests/unit."""

import numpy as np

from benchmarks.campaigns import threads
from benchmarks.campaigns.runner import generator


def test_first_simulations_of_a_process_in_threads():
    outcome = threads.case(generator("threads", 0, 0), 0)
    assert outcome.verdict == "right", outcome.words


def test_an_error_is_an_outcome():
    def failing():
        raise ValueError("no")

    assert threads.outcome_of(failing) == "ValueError: no"
    run = type("Run", (), {"t": np.zeros(1), "x": np.ones(1)})
    other = type("Run", (), {"t": np.zeros(1), "x": np.nextafter(np.ones(1), 2)})
    assert threads.outcome_of(lambda: run) != threads.outcome_of(lambda: other)
