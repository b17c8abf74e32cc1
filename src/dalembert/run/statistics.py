"""What a run cost: counters of its steps and of the compiled code."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import NamedTuple

from dalembert.compilation.mechanism import Mechanism
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import PIVOT, V_PLACES

_NOTED = [PIVOT.fields[name][1] for name in ("known", "least", "least_time", "crossed")]
_COUNTED = ["accepted", "rejected", "refused", "h_smallest", "h_largest", "rounded", "rounded_error"]
_COUNTED += ["solves", "newton", "iterations", "iterations_max", "jacobians"]


@dataclass(frozen=True, repr=False)
class Statistics:
    """What a run cost: counters as [JetMultibody] tabulates them, and wall time by part [s].

    basis_restarts : how often Minimal could not continue its basis and found it afresh
    cpu_time : CPU time inside the compiled time loop [s]
    driver_gap : largest |coordinate - f(t)| of a driver after any step [rad or m], with its name and when
    rounded_steps, rounded_error : steps whose error estimate was rounding of the accelerations; the largest, in tolerances
    largest_projection : at the end of any step, of a coordinate [m or rad], as a share of the step's own change, and when;
        the one with the largest share, of those above 1e-6, or a hundredth of the way where that is less
    smallest_pivot, smallest_pivot_time : sine of the smallest angle of a constraint row to the others at the end of a step,
        -1 where it is not known
    branch_points : singular configurations that the run went through without a way to stay on its branch
    stage_* : how implicit stages were solved, "functional iteration", "Newton" or both; empty for explicit methods
    """

    accepted: int = 0
    rejected: int = 0
    refused: int = 0
    rate_evaluations: int = 0
    projections: int = 0
    newton_average: float = 0.0
    newton_maximum: int = 0
    factorisations: int = 0
    first_differentials: int = 0
    second_differentials: int = 0
    invariant_gradients: int = 0
    conjugate_gradient_steps: int = 0
    dependent_rows: int = 0
    smallest_step: float = 0.0
    largest_step: float = 0.0
    stage_solver: str = ""
    stage_iterations_average: float = 0.0
    stage_iterations_maximum: int = 0
    stage_newton_steps: int = 0
    stage_jacobians: int = 0
    basis_restarts: int = 0
    cpu_time: float = field(default=0.0, compare=False)
    driver_gap: float = 0.0
    driver_gap_name: str = ""
    driver_gap_time: float = 0.0
    largest_projection: float = 0.0
    largest_projection_share: float = 0.0
    largest_projection_at: float = 0.0
    rounded_steps: int = 0
    rounded_error: float = 0.0
    smallest_pivot: float = -1.0
    smallest_pivot_time: float = 0.0
    branch_points: int = 0
    time: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        """What is not as by default."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "time"}
        told = [f"{name} {value:.6g}" for name, value in own.items() if value and value != -1.0 and not isinstance(value, str)]
        told += [f"{name} {value!r}" for name, value in own.items() if value and isinstance(value, str)]
        told += [f"{name} {seconds:.3g} s" for name, seconds in self.time.items()]
        return f"<Statistics: {', '.join(told)}>"


class Pivots(NamedTuple):
    """The smallest pivot of a run (sine of the angle of a row to the others, -1 where none is known) and
    its time; steps to look at again, and how many there were before these."""

    smallest: float
    time: float
    forgotten: int
    steps: tuple[tuple[float, float], ...]


_UNKNOWN = Pivots(-1.0, 0.0, 0, ())


def pivots_of(run: Run) -> Pivots:
    """What the kernels noted in a run."""
    first = run.I.item(T.W_PIVOT)
    if first == 0 or run.I[T.M] == 0 or not isinstance(run.mechanism, Mechanism):
        return _UNKNOWN
    known, least, least_time, crossed = [run.W.item(first + at) for at in _NOTED]
    if known == 0.0:
        return _UNKNOWN
    forgotten, steps = max(0, int(crossed) - V_PLACES), []
    for k in range(forgotten, int(crossed)):
        ends = run.view.crossings + 2 * (k % V_PLACES)
        steps.append((float(min(ends[0], ends[1])), float(max(ends[0], ends[1]))))
    return Pivots(least, least_time, forgotten, tuple(steps))


def statistics_of(run: Run, advance: Advance, parts: dict[str, float]) -> Statistics:
    """What a run cost."""
    count, steps, pivots = run.view.count.now, advance.bundle.numbers(_COUNTED), pivots_of(run.plain)
    projections, solves, newton = int(count["project"]), steps["solves"], steps["newton"]
    solvers = {"functional iteration": newton < solves, "Newton": newton > 0} if advance.integrator.implicit else {}
    return Statistics(
        accepted=steps["accepted"],
        rejected=steps["rejected"],
        refused=steps["refused"],
        rate_evaluations=int(count["rhs"]),
        projections=projections,
        newton_average=count["newton"] / projections if projections else 0.0,
        newton_maximum=int(count["newton_max"]),
        factorisations=int(count["factor"]),
        first_differentials=int(count["dg"] + count["rhs"]),
        second_differentials=int(count["d2g"]),
        invariant_gradients=int(count["dinv"]),
        conjugate_gradient_steps=int(count["cg"]),
        dependent_rows=int(count["dependent"]),
        smallest_step=min(steps["h_smallest"], steps["h_largest"]),  # the last one, cut to end on time, does not count
        largest_step=steps["h_largest"],
        stage_solver=", ".join(name for name, used in solvers.items() if used),
        stage_iterations_average=steps["iterations"] / solves if solves else 0.0,
        stage_iterations_maximum=steps["iterations_max"],
        stage_newton_steps=newton,
        stage_jacobians=steps["jacobians"] - advance.jacobians_before,
        basis_restarts=run.restarts(advance.x),
        cpu_time=advance.cpu_time,
        driver_gap=count["gap"],
        driver_gap_name=run.element_of_primitive(int(count["gap_primitive"])) if run.I[T.NMOTION] > 0 else "",
        driver_gap_time=count["gap_time"],
        largest_projection=count["leap_size"],
        largest_projection_share=count["leap"],
        largest_projection_at=count["leap_time"],
        rounded_steps=steps["rounded"],
        rounded_error=steps["rounded_error"],
        smallest_pivot=pivots.smallest,
        smallest_pivot_time=pivots.time,
        time=dict(parts),
    )
