"""The published problems, each a gallery model with values from outside; `dalembert benchmark` runs them."""

from __future__ import annotations

from dalembert.benchmark import mechanisms, tops_and_wheels
from dalembert.benchmark.problem import Problem


def make_problems() -> dict[str, Problem]:
    """All problems by name, in the order in which they run."""
    a03, a03_rounded, andrews = mechanisms.andrews()
    listed = (
        mechanisms.pendulum(),
        mechanisms.n_four_bar(2, 10.0),
        a03,
        a03_rounded,
        mechanisms.bricard(),
        mechanisms.governor(),
        mechanisms.slider_crank("A"),
        mechanisms.slider_crank("C"),
        andrews,
        mechanisms.car_axis(),
        tops_and_wheels.heavy_top(),
        tops_and_wheels.euler_top(),
        tops_and_wheels.rolling_disc(),
        tops_and_wheels.bicycle(),
        mechanisms.n_four_bar(40, 2.0),
    )
    return {problem.name: problem for problem in listed}
