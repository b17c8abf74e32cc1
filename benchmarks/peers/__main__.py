"""`python -m benchmarks.peers`: this library beside others at equal accuracy; prints tables and writes docs/performance.md."""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse  # noqa: E402
import tempfile  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks.peers import ensemble, growth, memory, ours, page_plots, problems, report  # noqa: E402
from benchmarks.peers.measure import Curve, best_per_program, race, scan  # noqa: E402
from benchmarks.peers.plots import work_precision  # noqa: E402
from benchmarks.peers.programs import Programs, programs  # noqa: E402

SIZES = (4, 8, 16, 32, 64)
CHAIN_ACCURACIES, CRANK_ACCURACIES = (1e-6, 1e-9), (1e-5, 1e-8)  # m
REFERENCE = 1e-13  # tolerance of the reference runs
ONCE = "Curves go from loose to tight settings, each run once; times of the tables are medians of several runs."
LOOKED = (
    "Where those of dalembert jump to the right, steps are so large that some are made again in small parts,"
    " to see whether the run went through a singular configuration."
)
PARTS = ("chains", "crank", "ensemble", "growth", "memory")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--peers", nargs="*", help="only these (default: all that are installed)")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="numbers of links")
    parser.add_argument("--no-page", action="store_true", help="print only")
    options = parser.parse_args()
    problems.consistent()
    here = programs(None if options.peers is None else set(options.peers))
    for name, why in here.missing.items():
        print(f"{name}: skipped, {why}")
    made = {
        "chains": lambda: chains(here, options.sizes, figures),
        "crank": lambda: crank(here, figures),
        "ensemble": lambda: many(here),
        "growth": lambda: (
            "\n## Growth with the number of bodies\n\n![time of a run against the number of bodies](performance/growth.png)\n\n"
            "Points are the smallest and the largest of each kind; exponents are fitted to all sizes.\n"
            + report.folded("Table", report.growth_section(growth.measure()))
        ),
        "memory": lambda: (
            "\n## Memory\n\n![largest resident memory](performance/memory.png)\n"
            + report.folded("Table", report.memory_section(memory.measure()))
        ),
    }
    text = report.machine(here, "python -m benchmarks.peers")
    with tempfile.TemporaryDirectory() as nowhere:
        figures = Path(nowhere) if options.no_page else page_plots.FIGURES
        for part in options.parts:
            section = made[part]()
            print(section, flush=True)
            text += section
    if not options.no_page:
        report.write(text)
        page_plots.draw()


def chains(here: Programs, sizes: tuple[int, ...], figures: Path) -> str:
    """P1: chains of n rods on ball joints for 10 s."""
    text = ""
    head = (
        "\n## Chains of n links on ball joints, 10 s\n\n"
        "Rods of 50 kg and 2 m, hung at 0.1 rad, thrown sideways at 0.1 rad/s;"
        " error: distance of the chain's lower end from the reference at 10 s.\n"
    )
    panels: list[tuple[str, list[Curve]]] = []
    for n in sizes:
        methods = [method for program in here.found for method in program.chain(n)]
        reference = ours.chain(n)[0].solve(REFERENCE).point
        curves = [scan(method, reference, min(CHAIN_ACCURACIES)) for method in methods]
        times = race(curves, CHAIN_ACCURACIES)
        text += _checked(curves, n) + report.accuracies(f"n = {n}", times, curves, CHAIN_ACCURACIES)
        panels.append((f"chain of {n} links", curves))
    few = {sizes[0], sizes[len(sizes) // 2], sizes[-1]}
    shown = [panel for n, panel in zip(sizes, panels, strict=True) if n in few]
    work_precision(shown, CHAIN_ACCURACIES, figures / "chains.png")
    every = [curve for _, curves in panels for curve in curves]
    figure = "\n![time against the number of links](performance/chain_times.png)\n"
    figure += "\nWhere there is no point, the accuracy was not reached.\n"
    return (
        head
        + figure
        + report.folded("Error against time", f"![error against time](performance/chains.png)\n\n{ONCE}\n")
        + report.folded("Tables", text)
        + report.folded("Settings", report.settings(every))
    )


def crank(here: Programs, figures: Path) -> str:
    """P2: the spatial slider-crank for 5 s."""
    methods = [method for program in here.found for method in program.slider_crank()]
    reference = ours.slider_crank()[0].solve(REFERENCE).point
    curves = [scan(method, reference, min(CRANK_ACCURACIES)) for method in methods]
    tables = report.accuracies("slider-crank", race(curves, CRANK_ACCURACIES), curves, CRANK_ACCURACIES)
    work_precision([("spatial slider-crank", curves)], CRANK_ACCURACIES, figures / "slider_crank.png")
    return (
        "\n## Spatial slider-crank, a closed loop, 5 s\n\n"
        "Error: distance of the rod's centre of mass from the reference at 5 s;"
        " drifts are the largest of the run, that of the energy relative to the largest kinetic energy.\n"
        + "\n![time of each program](performance/slider_crank_times.png)\n"
        + report.folded("Error against time", f"![error against time](performance/slider_crank.png)\n\n{ONCE} {LOOKED}\n")
        + report.folded("Tables", _checked(curves, 0) + tables)
        + report.folded("Settings", report.settings(curves))
    )


def many(here: Programs) -> str:
    """P3: a thousand chains of four links."""
    reference = ours.chain(ensemble.LINKS)[0].solve(REFERENCE).point
    chosen = []
    for program in here.found[1:]:
        curves = [scan(method, reference, ensemble.ACCURACY) for method in program.chain(ensemble.LINKS)]
        best = best_per_program(race(curves, [ensemble.ACCURACY]), ensemble.ACCURACY)
        file = program.__name__.rpartition(".")[2]
        chosen += [(file, name, time.curve.method.label, time.setting) for name, time in best.items()]
    return (
        f"\n## {ensemble.RUNS} chains of {ensemble.LINKS} links, 10 s each\n\n"
        f"Error {ensemble.ACCURACY:g} m, on all {os.cpu_count()} cores: ours in threads, the others in as many processes,"
        " started and warmed before the clock.\n\n![runs per second of each program](performance/ensemble.png)\n"
        + report.folded(
            "Tables",
            "Alone: CPU time of the integration only.\n\nFrom different starts:\n\n"
            + report.rates_section(ensemble.measure(chosen))
            + "\nOf different masses and lengths, their models made within the clock but for the column `alone`:\n\n"
            + report.rates_section(ensemble.measure(chosen, variants=True)),
        )
    )


def _checked(curves: list[Curve], n: int) -> str:
    """How near other programs come to the reference, which is ours at a tight tolerance."""
    nearest = min(((c.best, c.method.program) for c in curves if not c.method.ours), default=(np.inf, "none"))
    name = f"n = {n}: " if n else ""
    return f"\n{name}nearest to the reference of the other programs: {nearest[1]}, {nearest[0]:.1e} m.\n"


if __name__ == "__main__":
    main()
