"""Whether to believe a fit: what would make its estimates or their bounds wrong, each as a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.results.report.accuracy import sensitivity_lines
from dalembert.results.report.table import Line, Report, limited

if TYPE_CHECKING:
    from dalembert.questions.fit import Fit

_BENT = 0.5  # by which the rise of the sum of squares may differ from a parabola's, one standard error away
_LEVEL = 1e-4  # of tests that a good fit fails by chance


def fit_report(fit: Fit) -> Report:
    """The lines, checks first."""
    return Report("report of a fit", tuple(_lines(fit)))


def _lines(fit: Fit) -> Iterator[Line]:
    more = "" if fit.converged else "start nearer to the answer, or give more runs (max_evaluations)"
    yield Line("converged", f"{fit.evaluations} runs: {fit.message}", None, "pass" if fit.converged else "FAIL", advice=more)
    if fit.weak:
        text = f"the data do not tell {fit.weak}: they may change together without a trace"
        yield Line("identifiable", text, None, "FAIL", advice="fix one of them, or measure something that depends on them")
    else:
        yield Line("identifiable", "every parameter changes the outputs in a way of its own", None, "pass")
    if fit.at_bounds:
        text = f"{', '.join(fit.at_bounds)}: held by bounds, without standard errors; those of others hold as if it were known"
        yield Line("at bounds", text, None, "WARN", advice="widen the bounds where nature allows it")
    for name in fit.residuals:
        yield _white(fit, name)
    if not fit.estimated:
        yield _explained(fit)
    if fit.converged and not fit.weak:
        bent = fit.bent()
        text = f"standard errors: one away, the sum of squares is {bent:.2g} off the parabola that they assume"
        line, more = limited("error estimate", text, bent, _BENT), "intervals are rough; take more data"
        yield line if line.verdict == "pass" else replace(line, verdict="WARN", advice=more)
    yield from sensitivity_lines(fit.solution)
    run = fit.solution.report()
    failed = [line.name for line in run.lines if line.verdict == "FAIL"]
    yield Line("run at the estimates", run.headline, None, "FAIL" if failed else "pass", failed)


def _white(fit: Fit, name: str) -> Line:
    """Neighbouring residuals of a model that explains its data have nothing in common."""
    from scipy.stats import norm

    r, called = np.asarray(fit.residuals[name]), f"residuals of {name}"
    part = float(np.std(r) / (np.ptp(fit.data[name]) or 1.0))
    if part < 1e-7 or len(r) < 8:
        return Line(called, f"{part:.2g} of the range of the data", None, "pass", part)
    limit = float(norm.ppf(1.0 - _LEVEL / 2.0) / np.sqrt(len(r)))
    lag = float(np.sum(r[1:] * r[:-1]) / np.sum(r * r))
    line = limited(called, f"{part:.2g} of the range; neighbours correlated by {lag:.2g}", abs(lag), limit)
    why = "the model does not explain the data, or the fit is in a local minimum: start elsewhere, look at plot.residuals()"
    return line if line.verdict == "pass" else replace(line, data=lag, advice=why)


def _explained(fit: Fit) -> Line:
    """What is left against the noise that was given."""
    from scipy.stats import chi2

    total = sum(float(np.sum((fit.residuals[k] / fit.sigma[k]) ** 2)) for k in fit.residuals)
    freedom = max(1, sum(map(len, fit.residuals.values())) - len(fit.names))
    low, high = (float(chi2.ppf(q, freedom) / freedom) for q in (_LEVEL / 2.0, 1.0 - _LEVEL / 2.0))
    found, shown = total / freedom, f"{total / freedom:.3g} of the variance that sigma says"
    good = low <= found <= high
    why = "" if good else "sigma is not that of the data, or the model does not explain them"
    return Line("noise", shown, f"{low:.3g} .. {high:.3g}", "pass" if good else "FAIL", found, advice=why)
