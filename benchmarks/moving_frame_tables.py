"""Tables 3.2 and 3.3 of [MovingFrame] beside ours, and the coiled chain of its 3.3.4 with stiff joint dampers.

Chains of n rods, 0.1 rad from hanging, over 10 s, Gauss-Legendre with h = 0.01 (Table 3.3, three stages) and for four rods
Dormand-Prince at 1e-13 and two stages (Table 3.2); as in the source no quaternion is normalised there. Ours stops iterating as
soon as the error left is below the stage tolerance, the source when the last change was: compare errors and evaluations.
SciPy's RK45, which the source used, takes as many evaluations on these equations as ours does.
Times are CPU seconds of the integration alone, the best of three runs, of one beyond 64 links.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert.gallery.chain import chain
from dalembert.gallery.moving_frame import coiled_chain
from dalembert.integrators.advance import Advance
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.slots import as_system, no_correction

SIZES = (4, 8, 16, 32, 48, 64, 128, 256)
# [MovingFrame, Table 3.3], seconds
PUBLISHED = {4: 0.719, 8: 2.27, 16: 10.7, 32: 45.6, 48: 103.0, 64: 204.0}
# [MovingFrame, Table 3.2]: | |u| - 1 | of links 1 to 4 at t = 10 s, relative energy error, function evaluations
PUBLISHED_ERRORS = {
    "RK45, 1e-13": (5.55e-15, 2.47e-14, 2.24e-14, 2.50e-14, 7.22e-14, 15794),
    "GL2, 1e-9": (2.22e-15, 5.55e-16, 3.00e-15, 1.66e-15, 3.00e-13, 11334),
}
T_END, STEP = 10.0, 0.01


def chain_seconds(n: int, repeats: int, stage_tolerance: float) -> tuple[float, int]:
    """CPU seconds of the run of Table 3.3 alone, and its function evaluations."""
    mechanism = da.compile(chain(n))
    integrator = da.GaussLegendre(3, step=STEP, stage_tolerance=stage_tolerance)
    best, evaluations = np.inf, 0
    for _ in range(repeats):
        run = da.MovingFrame().prepare(mechanism)
        advance = Advance(run, integrator, 0.0, run.from_absolute(mechanism.x_0), T_END, np.array([T_END]))
        begin = time.process_time()
        status = advance.steps(10**6)
        best = min(best, time.process_time() - begin)
        assert status == T.OK, f"the run of {n} rods ended with status {status}"
        evaluations = int(run.view.count.rhs)
    return best, evaluations


def table_3_3(console: Console, tolerance: float) -> None:
    """The table does not say how far its stages were iterated; 1e-9 is what the section before it recommends."""
    chain_seconds(4, 1, tolerance)  # compiled and warm
    ours = {n: chain_seconds(n, 3 if n <= 64 else 1, tolerance) for n in SIZES}
    title = f"Table 3.3: GL3, h = {STEP:g}, stages to {tolerance:g}, 10 s"
    table = Table(title=title, title_justify="left")
    for heading in ("links", "published [s]", "ours [s]", "ratio", "evaluations", "us each"):
        table.add_column(heading, justify="right")
    for n, (seconds, evaluations) in ours.items():
        published = PUBLISHED.get(n)
        shown = ("", "") if published is None else (f"{published:g}", f"{published / seconds:,.0f}")
        microseconds = 1e6 * seconds / evaluations
        table.add_row(str(n), shown[0], f"{seconds:.3f}", shown[1], f"{evaluations:,}", f"{microseconds:.2f}")
    console.print(table)
    console.print(f"64 links: {PUBLISHED[64] / ours[64][0]:,.0f} times faster than published (at least 500)")
    known = tuple(PUBLISHED)
    seconds = {n: values[0] for n, values in ours.items()}
    each = {n: values[0] / values[1] for n, values in ours.items()}
    console.print(
        f"growth with n: n^{growth(SIZES, seconds):.2f} (limit 1.2); up to 64 links n^{growth(known, seconds):.2f}, published"
        f" n^{growth(known, PUBLISHED):.2f}; one evaluation n^{growth(SIZES, each):.2f}\n"
    )


def growth(sizes: tuple[int, ...], values: dict[int, float]) -> float:
    """Fitted exponent."""
    return float(np.polyfit(np.log(sizes), np.log([values[n] for n in sizes]), 1)[0])


def errors(integrator: Integrator) -> tuple[float, ...]:
    """Our row of Table 3.2: a run without any projection."""
    mechanism = da.compile(chain(4))
    run = replace(da.MovingFrame().prepare(mechanism), project=as_system(no_correction))
    advance = Advance(run, integrator, 0.0, run.from_absolute(mechanism.x_0), T_END, np.array([T_END]))
    assert advance.steps(10**6) == T.OK
    lengths = np.linalg.norm(advance.x[:16].reshape(4, 4), axis=1)
    start, end = sum(mechanism.energies(mechanism.x_0)), sum(mechanism.energies(advance.state))
    return *np.abs(lengths - 1.0), abs(end - start) / abs(start), float(run.view.count.rhs)


def table_3_2(console: Console) -> None:
    ours = {
        "RK45, 1e-13": errors(da.DormandPrince(rtol=1e-13, atol=1e-13)),
        "GL2, 1e-9": errors(da.GaussLegendre(2, step=STEP, stage_tolerance=1e-9, solver="fixed-point")),
        "GL2, 1e-14": errors(da.GaussLegendre(2, step=STEP, stage_tolerance=1e-14)),
        "GL3, 1e-14": errors(da.GaussLegendre(3, step=STEP, stage_tolerance=1e-14)),
    }
    table = Table(title="Table 3.2: four links at t = 10 s, | |u| - 1 | without normalisation", title_justify="left")
    for heading in ("", "link 1", "link 2", "link 3", "link 4", "energy error", "evaluations"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, row in ours.items():
        if name in PUBLISHED_ERRORS:
            table.add_row(f"{name} published", *_cells(PUBLISHED_ERRORS[name]))
        table.add_row(f"{name} ours", *_cells(row))
    console.print(table)
    console.print()


def _cells(row: tuple[float, ...]) -> list[str]:
    return [*(f"{value:.2e}" for value in row[:-1]), f"{row[-1]:,.0f}"]


def coil(console: Console) -> None:
    """64 rods fall from a coil and whip: adaptive steps of a stiff method."""
    table = Table(title="coiled chain of 64 links, 10 s, joint dampers [MovingFrame, 3.3.4]", title_justify="left")
    headings = ("damping [N m s]", "method", "steps", "rejected", "Jacobians", "evaluations", "energy error", "CPU [s]")
    for heading in headings:
        table.add_column(heading, justify="right")
    stages, tolerance = 5, 1e-6
    for damping in (70.0, 7000.0):
        integrator = da.RadauIIA(stages, rtol=tolerance, atol=tolerance)
        mechanism = da.compile(coiled_chain(64, joint_damping=damping))
        options = {"formulation": da.MovingFrame(), "integrator": integrator, "save_at": np.linspace(0, T_END, 11)}
        begin = time.process_time()
        solution = da.simulate(mechanism, T_END, progress=False, **options)
        seconds = time.process_time() - begin
        assert solution.status == "complete"
        s, energy = solution.statistics, solution.energy
        error = np.abs(energy.total - energy.total[0]).max() / energy.scale
        counts = (f"{count:,}" for count in (s.accepted, s.rejected, s.stage_jacobians, s.rate_evaluations))
        table.add_row(f"{damping:g}", f"Radau IIA {stages}, {tolerance:g}", *counts, f"{error:.1e}", f"{seconds:.1f}")
    console.print(table)


def main() -> None:
    console = Console(width=120)
    table_3_3(console, 1e-9)
    table_3_3(console, 1e-15)
    table_3_2(console)
    coil(console)


if __name__ == "__main__":
    main()
