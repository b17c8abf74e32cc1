"""How wrong is the trajectory? A second run, tighter and by another formulation, against the first.

    error(t) = |r_1 - r_2| of each body and the angle between R_1 and R_2, at the times that the first run saved

It is the error of the first run as far as the second is better. What both have in common is not seen: the model, and pushes
shorter than the steps of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import angles_between
from dalembert.errors import DalembertError
from dalembert.formulations import FORMULATIONS, Formulation
from dalembert.formulations.base import check_pair
from dalembert.integrators.explicit_rk import DOP853
from dalembert.integrators.integrator import Integrator
from dalembert.results.report.checks import ENDED_WELL

TIGHTER, TIGHTEST, TIGHT = 1e-2, 1e-13, 1e-10


def error_against_second_run(solution: Any, again: Callable[[Formulation, Integrator], Any]) -> dict[str, Any]:
    """The difference that is the largest share of its motion, as plain data, and the `largest` in m and in rad, or {"problem":
    why there is none};  again : the same run by another method."""
    if solution.status not in ENDED_WELL or len(solution.t) < 2:
        return {"problem": f"the run is {solution.status}" if len(solution.t) else "no states saved"}
    reasons: list[str] = []
    for way, method in _methods(solution.formulation, solution.integrator, solution.mechanism):
        try:
            check_pair(way, method)
            second = again(way, method)
        except DalembertError as problem:
            reasons.append(f"{type(way).__name__}: {problem}")
            continue
        if second.status not in ENDED_WELL:
            return {"problem": f"the second run is {second.status}"}
        times, mine, other = np.intersect1d(solution.t, second.t, return_indices=True)
        if len(times) < 2:
            return {"problem": "the second run saved none of the times of the first"}
        apart = [*_differences(solution, second, mine, other)]
        worst = max(apart, key=lambda item: item["share"])
        units = dict.fromkeys(item["unit"] for item in apart)
        largest = [max((item for item in apart if item["unit"] == unit), key=lambda item: item["error"]) for unit in units]
        return worst | {"largest": largest, "against": _described(way, method)}
    return {"problem": f"no second run was possible: {'; '.join(reasons)}"}


def _methods(first: Formulation, stepping: Integrator, mechanism: Compiled) -> Iterator[tuple[Formulation, Integrator]]:
    """What to try, those of other algebra first; joints that give way have no other formulation."""
    if not first.compliant:
        fit = [cls for cls in FORMULATIONS.values() if not cls.compliant and cls.steps == "any" and cls is not type(first)]
        fit = [cls for cls in fit if cls.largest_order is None and mechanism.coordinates in cls.coordinates]
        for cls in sorted(fit, key=lambda cls: cls.by_multipliers == first.by_multipliers):
            yield cls(), _tighter(stepping)
    yield first, _finer(stepping) if first.steps != "any" or first.compliant else _tighter(stepping)


def _tighter(stepping: Integrator) -> Any:
    options: Any = stepping
    if stepping.by_formulation or not (stepping.estimates_error or stepping.implicit):
        return DOP853(rtol=TIGHT, atol=TIGHT)
    if stepping.adaptive:
        return replace(options, **{name: max(TIGHTEST, TIGHTER * getattr(options, name)) for name in ("rtol", "atol")})
    return replace(options, step=None, rtol=TIGHT, atol=TIGHT) if stepping.estimates_error else _finer(stepping)


def _finer(stepping: Integrator) -> Any:
    options: Any = stepping
    return _tighter(stepping) if stepping.adaptive else replace(options, step=options.step / 4)


def _described(way: Formulation, method: Any) -> str:
    settings = f"rtol = {method.rtol:g}" if method.step is None else f"h = {method.step:g} s"
    return f"{type(way).__name__}, {type(method).__name__}, {settings}"


def _differences(one: Any, two: Any, mine: Any, other: Any) -> Iterator[dict[str, Any]]:
    """Largest distance and angle of every body, and how much of its path or turning they are: what hardly moves is compared
    with a thousandth of what moves most."""
    pairs: list[tuple[str, str, Array, float]] = []  # name, unit, (nt,) errors, motion
    if isinstance(one.mechanism, Mechanism):
        for body in one.mechanism.body_names:
            r, R = one.position(body), one.rotation(body)
            distance = np.linalg.norm(r[mine] - two.position(body)[other], axis=1)
            angle = angles_between(R[mine], two.rotation(body)[other])
            turned = float(np.linalg.norm(R - R[:1], axis=(1, 2)).max() / np.sqrt(2.0))
            pairs.append((body, "m", distance, float(np.linalg.norm(np.ptp(r, axis=0)))))
            pairs.append((body, "rad", angle, max(turned, 1e-6)))
    else:
        for k, name in enumerate(one.mechanism.model.coordinates):
            pairs.append((name, "", np.abs(one.q[mine, k] - two.q[other, k]), float(np.ptp(one.q[:, k]))))
    most = {unit: max(motion for _, kind, _, motion in pairs if kind == unit) for _, unit, _, _ in pairs}
    for name, unit, error, motion in pairs:
        k = int(np.argmax(error))
        scale = max(motion, 1e-3 * most[unit])
        share = float(error[k]) / scale if scale > 0 else 0.0
        yield {"error": float(error[k]), "unit": unit, "where": name, "time": float(one.t[mine][k]), "share": share}
