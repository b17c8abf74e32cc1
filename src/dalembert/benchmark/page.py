"""The suite as one HTML file: no other file, no network."""

from __future__ import annotations

import datetime
import html
import json
import os
import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.benchmark.record import ProblemResult, Run, SuiteResult

_COLUMNS = (
    *("formulation", "integrator", "error", "allowed", "drift", "velocity drift", "energy", "steps"),
    *("evaluations", "CPU", "compile", "verdict"),
)
_LEFT = ("formulation", "integrator", "verdict")


def to_html(suite: SuiteResult) -> str:
    """The page."""
    from dalembert.benchmark.plot import as_svg, draw_overview

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
    data = json.dumps(suite.to_dict(), allow_nan=False).replace("</", "<\\/")
    return _PAGE.format(
        facts="".join(f"<div><dt>{_e(key)}</dt><dd>{_e(value)}</dd></div>" for key, value in facts.items()),
        contents="".join(_line(result) for result in suite.problems),
        overview=as_svg(draw_overview(suite)) if suite.problems else "",
        problems="\n".join(_section(result) for result in suite.problems),
        data=data,
    )


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
    head = "".join(f'<th class="{_side(name)}">{name}</th>' for name in _COLUMNS)
    return f"""<section id="{_e(p.name)}">
<h2><span class="badge {_e(result.verdict)}">{_e(result.verdict)}</span> {_e(p.title)}</h2>
<p><code>{_e(p.call)}</code>, t = 0 to {p.t_end:g} s. Source: {_e(", ".join(p.source))}.
<small>{_e("; ".join(p.found_in))}</small></p>
<h3>Expected values</h3><ul>{expected}</ul>
<div class="scroll"><table><thead><tr>{head}</tr></thead>
<tbody>{"".join(_row(run) for run in result.runs)}</tbody></table></div>
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


def _row(run: Run) -> str:
    _, formulation, settings, error, allowed, drift, energy, steps, cpu, compiling, verdict = run.cells()
    velocity = f"{run.velocity_drift:.1e}" if run.outcomes else ""
    evaluations = str(run.rate_evaluations) if run.outcomes else ""
    cells = (formulation, settings, error, allowed, drift, velocity, energy, steps, evaluations, cpu, compiling)
    made = "".join(f'<td class="{_side(name)}">{_e(cell)}</td>' for name, cell in zip(_COLUMNS, cells, strict=False))
    return f'<tr class="{_e(run.verdict)}">{made}<td class="left">{_e(verdict)}</td></tr>'


def _side(name: str) -> str:
    return "left" if name in _LEFT else "right"


def _e(text: object) -> str:
    return html.escape(str(text))


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>dalembert: published problems</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 84rem; margin: 1.5rem auto; }}
body {{ padding: 0 1.2rem; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.6rem; margin-bottom: 0.4rem; }}
h2 {{ font-size: 1.2rem; margin: 0 0 0.4rem; }}
h3 {{ font-size: 0.95rem; margin: 1rem 0 0.2rem; color: #444; }}
section {{ border-top: 2px solid #e3e6ea; margin-top: 2.2rem; padding-top: 1.2rem; }}
dl {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.4rem 1.2rem; margin: 1rem 0; }}
dt {{ font-size: 0.78rem; color: #666; }}
dd {{ margin: 0; }}
ol, ul {{ padding-left: 1.3rem; margin: 0.3rem 0; }}
.small, small {{ font-size: 0.82rem; color: #666; }}
a {{ color: inherit; }}
svg {{ width: 100%; height: auto; margin-top: 0.8rem; }}
.scroll {{ overflow-x: auto; margin-top: 0.8rem; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.88rem; width: 100%; }}
th, td {{ padding: 0.2rem 0.9rem 0.2rem 0; border-bottom: 1px solid #e3e6ea; white-space: nowrap; }}
th {{ font-weight: 600; color: #444; }}
.left {{ text-align: left; }}
.right {{ text-align: right; }}
tr.cannot td {{ color: #999; }}
tr.failed td {{ color: #b3261e; }}
tr.passed td:last-child {{ color: #1b7f3b; }}
tbody tr:hover {{ background: #f3f6fa; }}
.badge {{ display: inline-block; font-size: 0.75rem; font-weight: 600; border-radius: 0.6rem; padding: 0.05rem 0.6rem; }}
.badge {{ background: #eee; color: #555; vertical-align: 0.1rem; }}
.badge.passed {{ background: #d9f2e0; color: #1b7f3b; }}
.badge.failed {{ background: #fbdcd9; color: #b3261e; }}
</style>
</head>
<body>
<h1>Published problems</h1>
<p>Every problem by every formulation that applies. Error: largest |value − expected| over time, relative to the largest
expected value of a quantity; allowed: 1e-8, or the accuracy of the expected values where that is worse. Methods of order 1
and 2 must approach the values with their order when the step is halved. Drift: largest constraint residual [m or rad].
Energy: largest |E − E(0)| relative to the largest kinetic energy or change of potential energy. CPU: time of the run,
compilation apart.</p>
<dl>{facts}</dl>
<ol>{contents}</ol>
{overview}
{problems}
<script type="application/json" id="benchmark">{data}</script>
</body>
</html>
"""
