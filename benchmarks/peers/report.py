"""The performance page: tables of the measurements, with machine, versions and settings."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.peers import growth, memory
from benchmarks.peers.ensemble import Rate
from benchmarks.peers.measure import Curve, Time, best_per_program
from benchmarks.peers.programs import Programs
from dalembert.results.versions import current_versions

PAGE = Path("docs/performance.md")
BEGIN, END = "% begin results", "% end results"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, numbers to the right; names of methods may be broken into lines."""
    sides = ["---" if k == 0 or name == "method" else "--:" for k, name in enumerate(head)]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(sides) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def machine(programs: Programs, command: str) -> str:
    """Date, machine, versions and how to repeat this."""
    own = ", ".join(f"{name} {number}" for name, number in current_versions().items())
    peers = ", ".join(f"{m.PROGRAM} {m.VERSION}" for m in programs.found[1:])
    missing = "".join(f"\n{name} was skipped: {why}." for name, why in programs.missing.items())
    return (
        f"Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC on {os.cpu_count()} cores of {processor()}, {platform.system()}"
        f" (load {os.getloadavg()[0]:.1f}); {own}; {peers}.{missing}\n\n"
        f"```sh\npip install -e '.[bench]'\n{command}\n```\n"
    )


def accuracies(title: str, times: Sequence[Time], curves: Sequence[Curve], wanted: Sequence[float]) -> str:
    """One row per program with its fastest method: time, how many times ours, drifts where there is a loop."""
    names = list(dict.fromkeys(c.method.program for c in curves))
    loops = any(t.outcome.loop is not None for t in times)
    text = ""
    for accuracy in wanted:
        best = best_per_program(times, accuracy)
        ours = next((t for t in best.values() if t.curve.method.ours), None)
        rows = []
        for name in names:
            time = best.get(name)
            if time is None:
                nearest = min((c for c in curves if c.method.program == name), key=lambda c: c.best)
                cells = [f"{nearest.best:.1e} m in {milliseconds(nearest.longest)}", "", nearest.method.label, ""] + [
                    "",
                    "",
                ] * loops
            else:
                cells = [milliseconds(time.seconds), f"{time.seconds / ours.seconds:.2g}" if ours else ""]
                cells += [time.curve.method.label, f"{time.setting:g}"]
                if loops:
                    cells += [f"{v:.1e}" if v is not None else "" for v in (time.outcome.loop, time.outcome.energy)]
            rows.append([name, *cells])
        drifts = ["loop drift [m]", "energy drift"] * loops
        text += f"\n**{title}, error {accuracy:g} m**\n\n" + table(
            ["program", "time", "times ours", "method", "setting", *drifts], rows
        )
    return text


def folded(title: str, text: str) -> str:
    """What a reader of the page opens."""
    return f"\n:::{{dropdown}} {title}\n{text.rstrip()}\n:::\n"


def settings(curves: Iterable[Curve]) -> str:
    """Every method once."""
    seen = dict.fromkeys(f"- {c.method.program}, {c.method.label}: {c.method.what}." for c in curves)
    return "\n".join(seen) + "\n"


def growth_section(results: Sequence[growth.Growth]) -> str:
    rows = []
    for r in results:
        span = f"{r.bodies[0]} .. {r.bodies[-1]}"
        ends = f"{milliseconds(r.seconds[0])} .. {milliseconds(r.seconds[-1])}"
        rows.append([r.kind, span, ends, f"{r.evaluations[0]} .. {r.evaluations[-1]}", f"{r.run:.2f}", f"{r.evaluation:.2f}"])
    head = ["", "bodies", "time", "evaluations", "exponent of a run", "exponent of time / evaluations"]
    return table(head, rows) + f"\nLimit for a run: {growth.LIMIT}.\n"


def rates_section(rates: Sequence[Rate]) -> str:
    """Runs per second, ours first."""
    ours = rates[0]
    rows = []
    for r in rates:
        cells = [r.program]
        for label in ("per_second", "per_cpu_second", "alone"):
            its = getattr(r, label)
            cells += [f"{its:.0f}", f"{getattr(ours, label) / its:.2g}"]
        rows.append(cells)
    head = ["program", "runs per second", "ours / its", "per CPU second", "ours / its", "alone", "ours / its"]
    how = [[r.program, r.method, f"{r.setting:g}", f"{r.error:.1e}"] for r in rates]
    return table(head, rows) + "\n" + table(["program", "method", "setting", "error [m]"], how)


def memory_section(results: Sequence[memory.Memory]) -> str:
    rows = [[m.what, f"{m.peak:.0f} MB", str(m.steps)] for m in results]
    return table(["run in a process of its own", "largest resident memory", "steps"], rows)


def write(text: str) -> None:
    """Between the marks of the page, which is made where it is missing."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else f"# Performance\n\n{BEGIN}\n{END}\n"
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8")
