"""Statistics and the end of a run are made when they are asked for: what happens in between changes nothing in them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery


def in_a_line():
    """A parallelogram that goes through its singular configuration, which is looked at again after the run."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0, 0.5), angular_velocity=(0, 2.0, 0))
    model.add_body("rocker", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(2.0, 0, 0.5))
    model.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.0, 0, 1.0))
    axis = (0, 1, 0)
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=axis)
    model.add_revolute("B", "crank", "bar", point=(0, 0, 1), axis=axis)
    model.add_revolute("C", "bar", "rocker", point=(2, 0, 1), axis=axis)
    model.add_revolute("D", "rocker", model.ground, point=(2, 0, 0), axis=axis)
    return da.simulate(model, t_end=1.2)


@pytest.mark.parametrize("save_at", [None, [0.4]])
def test_asked_for_late_or_at_once(save_at):
    mechanism = da.compile(gallery.slider_crank())
    late = da.simulate(mechanism, t_end=0.4, save_at=save_at)
    at_once = da.simulate(mechanism, t_end=0.4, save_at=save_at)
    at_once.settle()
    da.simulate(mechanism, t_end=0.4)  # prepares nothing that the first one still needs
    late.evaluated  # noqa: B018
    costs = [replace(solution.statistics, time={}) for solution in (late, at_once)]
    assert costs[0] == costs[1] and costs[0].accepted > 3
    for name, kept in at_once.ending.kept.items():
        np.testing.assert_array_equal(late.ending.kept[name], kept)
    np.testing.assert_array_equal(late.ending.state, at_once.ending.state)


def test_looks_at_a_singular_configuration_do_not_count():
    with pytest.warns(RuntimeWarning, match="singular configuration"):
        solution = in_a_line()
    steps = solution.statistics.accepted + solution.statistics.rejected
    assert solution.statistics.rate_evaluations <= 13 * steps + 10


def test_pickled_and_read_again():
    solution = da.simulate(gallery.slider_crank(), t_end=0.2)
    again = pickle.loads(pickle.dumps(solution))
    assert again.statistics == solution.statistics and again.ending.t == solution.ending.t == 0.2
