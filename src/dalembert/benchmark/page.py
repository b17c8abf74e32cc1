"""The suite as one HTML file: no other file, no network."""

from __future__ import annotations

import datetime
import html
import os
import platform
from typing import TYPE_CHECKING

from dalembert.results.html_parts import as_svg, page, page_table

if TYPE_CHECKING:
    from dalembert.benchmark.record import ProblemResult, Run, SuiteResult

_NUMBERS = ("error", "allowed", "drift", "velocity drift", "energy", "steps", "evaluations", "CPU", "compile")
_COLUMNS = (("formulation", "left"), ("integrator", "left"), *((name, "right") for name in _NUMBERS), ("verdict", "left"))


def to_html(suite: SuiteResult) -> str:
    """The page."""
    from dalembert.benchmark.plot import draw_overview

    made = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    done = sum(result.passed for result in suite.problems)
    facts = {
        "verdict": "interrupted" if suite.interrupted else "passed" if suite.passed else "failed",
        "problems passed": f"{done} of {len(suite.problems)}",
        "time": f"{suite.seconds:.1f} s, {suite.cpu_seconds:.1f} s of CPU, compilation included",
        "made": made,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        **{name: version for name, version in suite.versions.items()},
    }
    told = "".join(f"<div><dt>{_e(key)}</dt><dd>{_e(value)}</dd></div>" for key, value in facts.items())
    contents = "".join(_line(result) for result in suite.problems)
    overview = as_svg(draw_overview(suite)) if suite.problems else ""
    parts = (f"{_HEAD}<dl>{told}</dl>", f"<ol>{contents}</ol>", overview, *(_section(result) for result in suite.problems))
    return page("dalembert: published problems", "\n".join(parts), "benchmark", suite.to_dict(), _STYLE)


def _line(result: ProblemResult) -> str:
    p = result.problem
    return (
        f'<li><a href="#{_e(p.name)}"><span class="badge {_e(result.verdict)}">{_e(result.verdict)}</span> {_e(p.title)}</a>'
        f" <small>{result.met} formulations meet the values, {result.required} wanted</small></li>"
    )


def _section(result: ProblemResult) -> str:
    p = result.problem
    expected = "".join(
        f"<li>{_e(e.origin)}; known to {e.accuracy:.1e}; {len(e.t)} {'time' if len(e.t) == 1 else 'times'}: "
        f"{_e(', '.join(e.values))}</li>"
        for e in p.expected
    )
    said = "".join(f"<li>{_e(text)}</li>" for text in result.evidence)
    notes = [f"{', '.join(run.formulation for run in runs)}: {note}" for note, runs in _by_note(result).items()]
    reasons = [f"{run.formulation} {run.verdict}: {run.reason}" for run in result.runs if run.reason and run.by == "values"]
    remarks = "".join(f"<li>{_e(text)}</li>" for text in (*notes, *reasons))
    return f"""<section id="{_e(p.name)}">
<h2><span class="badge {_e(result.verdict)}">{_e(result.verdict)}</span> {_e(p.title)}</h2>
<p><code>{_e(p.call)}</code>, t = 0 to {p.t_end:g} s. Source: {_e(", ".join(p.source))}.
<small>{_e("; ".join(p.found_in))}</small></p>
<h3>Expected values</h3><ul>{expected}</ul>
{page_table(_COLUMNS, [(run.verdict, _cells(run)) for run in result.runs])}
{result.picture}
{f"<h3>What the runs say about published values</h3><ul>{said}</ul>" if said else ""}
{f"<h3>Remarks</h3><ul class='small'>{remarks}</ul>" if remarks else ""}
</section>"""


def _by_note(result: ProblemResult) -> dict[str, list[Run]]:
    """Runs that were not made in the usual way, by what is said of them."""
    found: dict[str, list[Run]] = {}
    for run in result.runs:
        if run.note:
            found.setdefault(run.note, []).append(run)
        if run.outcomes and run.t_end < result.problem.t_end:
            found.setdefault(f"up to {run.t_end:g} s, while errors of low order are small", []).append(run)
    return found


def _cells(run: Run) -> tuple[str, ...]:
    _, formulation, settings, error, allowed, drift, energy, steps, cpu, compiling, verdict = run.cells()
    velocity = f"{run.velocity_drift:.1e}" if run.outcomes else ""
    evaluations = str(run.rate_evaluations) if run.outcomes else ""
    return formulation, settings, error, allowed, drift, velocity, energy, steps, evaluations, cpu, compiling, verdict


def _e(text: object) -> str:
    return html.escape(str(text))


_STYLE = """
h2 { margin-top: 0; }
h3 { font-size: 0.95rem; margin: 1rem 0 0.2rem; color: #444; }
section { border-top: 2px solid #e3e6ea; margin-top: 2.2rem; padding-top: 1.2rem; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.4rem 1.2rem; margin: 1rem 0; }
dt { font-size: 0.78rem; color: #666; }
dd { margin: 0; }
.small, small { font-size: 0.82rem; color: #666; }
a { color: inherit; }
table { width: 100%; }
th { font-weight: 600; color: #444; }
tr.cannot td { color: #999; }
tr.failed td { color: #b3261e; }
tr.passed td:last-child { color: #1b7f3b; }
.badge { display: inline-block; font-size: 0.75rem; font-weight: 600; border-radius: 0.6rem; padding: 0.05rem 0.6rem; }
.badge { background: #eee; color: #555; vertical-align: 0.1rem; }
.badge.passed { background: #d9f2e0; color: #1b7f3b; }
.badge.failed { background: #fbdcd9; color: #b3261e; }
"""
_HEAD = """<h1>Published problems</h1>
<p>Every problem by every formulation that applies. Error: largest |value − expected| over time, relative to the largest
expected value of a quantity; allowed: 1e-8, or the accuracy of the expected values where that is worse. Methods of order 1
and 2 must approach the values with their order when the step is halved. Drift: largest constraint residual [m or rad].
Energy: largest |E − E(0)| relative to the largest kinetic energy or change of potential energy. CPU: time of the run,
compilation apart.</p>
"""
