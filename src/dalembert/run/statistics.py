"""What a run cost: counters of its steps and of the compiled code."""

from __future__ import annotations

from dataclasses import dataclass, field

from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.kernels.base import tables as T


@dataclass(frozen=True)
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


def statistics_of(run: Run, advance: Advance, parts: dict[str, float]) -> Statistics:
    """What a run cost."""
    count, steps = run.view.count, advance.bundle
    projections = count.project
    solvers = {"functional iteration": steps.newton < steps.solves, "Newton": steps.newton > 0}
    return Statistics(
        accepted=advance.accepted,
        rejected=int(steps.rejected),
        refused=int(steps.refused),
        rate_evaluations=int(count.rhs),
        projections=int(projections),
        newton_average=float(count.newton / projections) if projections else 0.0,
        newton_maximum=int(count.newton_max),
        factorisations=int(count.factor),
        first_differentials=int(count.dg + count.rhs),
        second_differentials=int(count.d2g),
        invariant_gradients=int(count.dinv),
        conjugate_gradient_steps=int(count.cg),
        dependent_rows=int(count.dependent),
        smallest_step=float(min(steps.h_smallest, steps.h_largest)),  # the last one, cut to end on time, does not count
        largest_step=float(steps.h_largest),
        stage_solver=", ".join(name for name, used in solvers.items() if used and advance.integrator.implicit),
        stage_iterations_average=int(steps.iterations) / int(steps.solves) if steps.solves else 0.0,
        stage_iterations_maximum=int(steps.iterations_max),
        stage_newton_steps=int(steps.newton),
        stage_jacobians=int(steps.jacobians) - advance.jacobians_before,
        basis_restarts=run.restarts(advance.x),
        cpu_time=advance.cpu_time,
        driver_gap=float(count.gap),
        driver_gap_name=run.element_of_primitive(int(count.gap_primitive)) if run.I[T.NMOTION] > 0 else "",
        driver_gap_time=float(count.gap_time),
        largest_projection=float(count.leap_size),
        largest_projection_share=float(count.leap),
        largest_projection_at=float(count.leap_time),
        rounded_steps=int(steps.rounded),
        rounded_error=float(steps.rounded_error),
        time=dict(parts),
    )
