"""Tables 8-11 of [JetMultibody] beside ours: pendulum, planar quadrangle, crank mechanism over 10 s.

Same tolerances, facmax = 3, h0 = 0.25, Newton tolerance 1e-5; stages projected onto the constraints, steps also onto the
energy (Tables 8-10) or not (Table 11). Time by part: counted calls times the measured cost of one call on the run's states.
"""

from __future__ import annotations

import numpy as np
from calls import seconds_per_call
from rich.console import Console
from rich.table import Table

import dalembert as da
from dalembert.gallery import build
from dalembert.kernels.base import tables as T

TOLERANCE = {"pendulum_3d": 1e-6, "planar_quadrangle": 1e-8, "crank_mechanism": 1e-7}
ROWS = ("steps (rejected)", "Newton av (max)", "distributions", "projections", "time dist", "time proj", "time total", "dg")

# [JetMultibody, Tables 8, 9, 10]: quasi-orthogonal, orthogonal, with the energy invariant; times in s on a 1.75 GHz PC of 2006
PAPER_ENERGY = {
    "pendulum_3d": (
        ("164 (36)", "0.97 (8)", "1395", "1280", "0.84", "1.65", "2.53", "4856"),
        ("151 (12)", "1.43 (4)", "1136", "1070", "0.69", "4.30", "5.05", "6124"),
    ),
    "planar_quadrangle": (
        ("1300 (168)", "3.25 (265)", "10139", "9721", "42.46", "175.66", "218.91", "47842"),
        ("1218 (149)", "1.82 (4)", "9427", "10932", "40.95", "457.73", "499.41", "57473"),
    ),
    "crank_mechanism": (
        ("2086 (352)", "6.69 (215)", "16859", "13358", "88.08", "757.65", "848.67", "124303"),
        ("2070 (113)", "2.61 (6)", "15175", "17458", "78.44", "3198.90", "3292.00", "123597"),
    ),
}
# [JetMultibody, Table 11]: the same without the invariant
PAPER_FREE = {
    "pendulum_3d": (
        ("153 (23)", "0.929 (2)", "", "795", "", "", "1.98", "4158"),
        ("152 (13)", "0.987 (4)", "", "833", "", "", "4.80", "5885"),
    ),
    "planar_quadrangle": (
        ("1487 (181)", "0.113 (2)", "", "4332", "", "", "95.03", "32003"),
        ("1226 (161)", "0.995 (3)", "", "6852", "", "", "301.05", "40476"),
    ),
    "crank_mechanism": (
        ("1996 (87)", "0.325 (2)", "", "7133", "", "", "191.27", "45054"),
        ("2077 (129)", "1.42 (5)", "", "11147", "", "", "2099.30", "87018"),
    ),
}


def settings(name: str, projection: str, invariants: str | None) -> tuple[da.Jet, da.DormandPrince]:
    """The paper's settings for a model."""
    formulation = da.Jet(
        projection=projection,
        invariants=invariants,
        stages="constraints",
        tolerance=1e-5,
        velocity_tolerance=1e-5,
        invariant_tolerance=1e-9,
    )
    tolerance = TOLERANCE[name]
    return formulation, da.DormandPrince(rtol=tolerance, atol=tolerance, factor_max=3.0, first_step=0.25)


def run(name: str, projection: str, invariants: str | None) -> tuple[tuple[str, ...], da.Solution, float]:
    """Our column: counters and time by part."""
    mechanism = da.compile(build(name))
    formulation, integrator = settings(name, projection, invariants)
    options = {"formulation": formulation, "integrator": integrator, "progress": False}
    da.simulate(mechanism, 0.5, **options)  # compiled and warm
    solution = da.simulate(mechanism, 10.0, **options)
    total = solution.statistics.time["integration"]
    s = solution.statistics
    dist, proj = cost_per_call(solution, formulation)
    column = (
        f"{s.accepted} ({s.rejected})",
        f"{s.newton_average:.2f} ({s.newton_maximum})",
        str(s.rate_evaluations),
        str(s.projections),
        f"{1e3 * dist * s.rate_evaluations:.2f} ms",
        f"{1e3 * proj * s.projections:.2f} ms",
        f"{1e3 * total:.2f} ms",
        str(s.first_differentials),
    )
    return column, solution, total


def cost_per_call(solution: da.Solution, formulation: da.Jet) -> tuple[float, float]:
    """Seconds of one distribution and of one projection of a state 1e-5 off, averages over 50 states of the run."""
    run = formulation.prepare(solution.mechanism)
    n = solution.mechanism.nq + solution.mechanism.nu
    rng = np.random.default_rng(0)
    spent = np.zeros(2)
    chosen = np.linspace(0, len(solution.t) - 1, 50).astype(int)
    for k in chosen:
        x = solution.x[k].copy()
        for part, (mode, function, size) in enumerate(((T.RATE, run.system, 0.0), (T.PROJECT, run.project, 1e-5))):
            x[:n] += size * rng.standard_normal(n)
            spent[part] += seconds_per_call(run, function, mode, float(solution.t[k]), x)
    dist, proj = spent / len(chosen)
    return float(dist), float(proj)


def main() -> None:
    console = Console(width=150)
    for title, paper, invariants in (
        ("with the energy invariant (Tables 8-10)", PAPER_ENERGY, "energy"),
        ("without it (Table 11)", PAPER_FREE, None),
    ):
        for name in TOLERANCE:
            table = Table(title=f"{name}, {title}, rtol = atol = {TOLERANCE[name]:g}", title_justify="left")
            for heading in ("", "paper quasi", "ours quasi", "paper orthogonal", "ours orthogonal"):
                table.add_column(heading)
            quasi, solution, t_quasi = run(name, "quasi-orthogonal", invariants)
            full, _, t_full = run(name, "orthogonal", invariants)
            for row, a, b, c, d in zip(ROWS, paper[name][0], quasi, paper[name][1], full, strict=True):
                table.add_row(row, a, b, c, d)
            console.print(table)
            ratio = float(paper[name][0][6]) / t_quasi
            steps = solution.statistics.accepted / int(paper[name][0][0].split()[0]) - 1.0
            drift = np.ptp(solution.energy.total) / solution.energy.scale
            console.print(
                f"accepted steps {100 * steps:+.0f} % against the paper; total {ratio:,.0f} times faster than published;"
                f" orthogonal / quasi-orthogonal time {t_full / t_quasi:.2f}; relative energy error {drift:.1e}\n"
            )


if __name__ == "__main__":
    main()
