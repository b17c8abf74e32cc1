"""How large errors in time may be: the tolerance of adaptive steps, or a sample of fixed steps against two halves of each; and
whether sensitivities are what runs beside this one say."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.results.dense import methods_of
from dalembert.results.quantities import ROUNDING
from dalembert.results.report.checks import ENDED_WELL
from dalembert.results.report.scales import moving_parts
from dalembert.results.report.table import Line, limited

if TYPE_CHECKING:
    from dalembert.results.moving import Moving
    from dalembert.results.solution import Result

NAME = "error estimate"
LOOSEST = 1e-2  # of the motion
_EVEN, _WORST = 8, 4  # steps spread over the run; steps at which accelerations change most


def error_estimate(solution: Result) -> Line:
    """One line for every run; a note where there is no estimate."""
    if solution.settings.get("kinematics"):
        if solution.settings.get("mode"):
            return Line(NAME, "none: the shape of a mode is no motion of the model")
        return Line(NAME, "none is needed: every pose is closed by itself, nothing is integrated", None, "pass", 0.0)
    if solution.status not in ENDED_WELL or len(solution.steps.t) < 2:
        return Line(NAME, f"none: the run is {solution.status}" if len(solution.t) else "none: no states saved")
    if solution.settings["integrator"]["options"].get("step") is None:
        return _by_tolerance(solution)
    if solution.formulation_type.compliant:
        return Line(NAME, "none: compliant joints vibrate faster than the steps; compare runs of several step sizes")
    try:
        return _by_halving(solution)
    except DalembertError as problem:
        return Line(NAME, f"none: steps could not be repeated: {problem}")


def _by_tolerance(solution: Result) -> Line:
    """What step control promises of each step, relative to how far each part moves."""
    options = solution.settings["integrator"]["options"]
    rtol, atol = float(options["rtol"]), float(options["atol"])
    shown, worst, small = f"rtol = {rtol:.3g}, atol = {atol:.3g} in every step", 0.0, ""
    for part in moving_parts(solution.steps):
        if part.at_rest(float(np.max(solution.steps.drift.position, initial=0.0))):
            continue
        share = min((atol + rtol * part.distance) / (part.travel or 1e-300), (atol + rtol) / (part.turn or 1e-300))
        if share > worst:
            worst = share
            if share > LOOSEST:
                small = f"; {part.part.name} moves by {part.travel:.3g} m, {part.turn:.3g} rad: ask for a smaller atol"
                if max(part.travel, part.size * part.turn) < 1e-3 * part.size:  # it may be meant to stand still
                    return Line(NAME, f"none: {shown}{small}", data=share)
    return limited(NAME, shown + small, worst, LOOSEST)


def _by_halving(solution: Result) -> Line:
    """Sum over all steps of the difference from two steps of half the size [HairerNorsettWanner1993, II.4], from a sample:
    the mean of evenly chosen ones stands for all, the few at which accelerations change most are added."""
    steps = solution.steps
    h = float(solution.settings["integrator"]["options"]["step"])
    even, worst = _chosen(steps, h)
    one, two, order = _repeated(steps, np.concatenate([even, worst]), h)
    richardson = 2.0**order / (2.0**order - 1.0)
    count = max(1, round(float(steps.t[-1] - steps.t[0]) / h))
    largest = (-1.0, "")
    for name, differences, scale, rounding in _motions(steps, one, two):
        errors = np.maximum(richardson * differences - rounding, 0.0)
        total = count * float(np.mean(errors[: len(even)])) + float(np.sum(errors[len(even) :]))
        share = total / scale if scale > 0 else 0.0
        if not share <= largest[0]:
            largest = share, name
    shown = f"{largest[0]:.3g} of {largest[1]}, from {len(even) + len(worst)} of {count} steps of {h:.3g} s against halves"
    return limited(NAME, shown, largest[0], LOOSEST)


def _chosen(steps: Result, h: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """States from which a step is repeated: spread over the run, and before the largest changes of accelerations."""
    usable = int(np.searchsorted(steps.t, steps.t[-1] - 0.999 * h, side="right"))
    even = np.unique(np.linspace(0, max(usable - 1, 0), _EVEN).round().astype(np.int64))
    a = steps.evaluated.acceleration
    jumps = np.linalg.norm(np.diff(a, axis=0), axis=1)[: max(usable, 1)]
    ranked = [k for k in np.argsort(-jumps) if np.isfinite(jumps[k]) and k not in even]
    return even, np.array(ranked[:_WORST], dtype=np.int64)


def _repeated(steps: Result, chosen: npt.NDArray[np.int64], h: float) -> tuple[Any, Any, int]:
    """The ends of one step from each chosen state, and of two halves, as trajectories; order of the method."""
    from dalembert.run.steps import one_step

    formulation, whole = methods_of(steps)
    half = dataclasses.replace(whole, step=h / 2)
    run = formulation.prepare(steps.mechanism)
    ends: tuple[list[Array], list[Array]] = ([], [])
    for k in chosen:
        t = float(steps.t[k])
        x = run.from_absolute(steps.x[k], t)
        for end, method in zip(ends, (whole, half), strict=True):
            end.append(run.to_absolute(one_step(run, method, t, x, t + h)[None])[0])
    times = steps.t[chosen] + h
    one, two = (steps.mechanism.trajectory(times, np.array(end)) for end in ends)
    return one, two, whole.order


def _motions(steps: Any, one: Any, two: Any) -> Iterator[tuple[str, Array, float, float]]:
    """Of each part: what moves, (k,) differences of the ends, how far it goes in the run, rounding of the differences."""
    parts = moving_parts(steps)
    if not parts:
        yield from _coordinates(steps, one, two)
    for part in parts:
        if not part.at_rest(float(np.max(steps.drift.position, initial=0.0))):
            yield from _part(part, one, two)


def _part(part: Moving, one: Any, two: Any) -> Iterator[tuple[str, Array, float, float]]:
    steps, name = part.states, part.part.name
    differences = {key: np.zeros(len(one.t)) for key in ("path", "turning", "velocities", "spins")}
    paths = dict.fromkeys(differences, 0.0)
    for body in part.part.bodies:
        chord = np.linalg.norm(one.rotation(body) - two.rotation(body), axis=(1, 2)) / np.sqrt(2.0)
        found = {
            "path": np.linalg.norm(one.position(body) - two.position(body), axis=1),
            "turning": chord,
            "velocities": np.linalg.norm(one.velocity(body) - two.velocity(body), axis=1),
            "spins": np.linalg.norm(one.angular_velocity(body) - two.angular_velocity(body), axis=1),
        }
        b = 6 * steps.mechanism.body_names.index(body)
        a, alpha = (np.linalg.norm(steps.evaluated.acceleration[:, k : k + 3], axis=1) for k in (b, b + 3))  # type: ignore[attr-defined]
        v, w = np.linalg.norm(steps.velocity(body), axis=1), np.linalg.norm(steps.angular_velocity(body), axis=1)
        gone = (v, w, a, alpha)
        for key, series in zip(differences, gone, strict=True):
            differences[key] = np.maximum(differences[key], found[key])
            paths[key] = max(paths[key], float(np.trapezoid(series, steps.t)))
    largest = {"path": part.travel, "turning": part.turn, "velocities": part.speed, "spins": part.spin}
    speed, spin = part.speed + part.size * part.spin, part.spin + (part.speed / part.size if part.size > 0.0 else 0.0)
    size = {"path": part.distance, "turning": 1.0, "velocities": speed, "spins": spin}  # what only slides has spins by rounding
    shares = {"path": part.size, "turning": 1.0, "velocities": part.speed, "spins": part.spin}
    for key, values in differences.items():
        scale = max(paths[key], largest[key], 1e-3 * shares[key])
        yield f"the {key} of {name}", values, scale, 10 * ROUNDING * size[key]


def _coordinates(steps: Any, one: Any, two: Any) -> Iterator[tuple[str, Array, float, float]]:
    """The same of generalised coordinates; one that hardly moves is compared with the others."""
    for what, x, a, b, rates in (
        ("", steps.q, one.q, two.q, steps.u),
        ("'", steps.u, one.u, two.u, steps.evaluated.acceleration),
    ):
        paths = np.maximum(np.trapezoid(np.abs(rates), steps.t, axis=0), np.ptp(x, axis=0))
        paths = np.maximum(paths, 1e-3 * float(np.max(paths, initial=0.0)))
        for k, name in enumerate(steps.mechanism.model.coordinates):
            rounding = 10 * ROUNDING * float(np.max(np.abs(x[:, k])))
            yield f"the path of {name}{what}", np.abs(a[:, k] - b[:, k]), float(paths[k]), rounding


def trajectory_error(solution: Result) -> Iterator[Line]:
    """How far a second run, tighter and by another formulation, went from this one; where it was asked for."""
    found = solution.settings.get("trajectory_error")
    if not isinstance(found, dict):
        return
    if "problem" in found:
        yield Line("trajectory error", f"none: {found['problem']}", block="careful")
        return
    told = (f"{item['error']:.3g} {item['unit']}".rstrip() + _place(item) for item in found.get("largest", [found]))
    shown = f"{', '.join(told)}; {found['share']:.2g} of the motion of {found['where']!r}; against {found['against']}"
    yield dataclasses.replace(limited("trajectory error", shown, float(found["share"]), LOOSEST), data=found)


def _place(item: dict[str, Any]) -> str:
    return f" at {item['where']!r}, t = {item['time']:.4g} s" if item["error"] > 0 else ""


_SENSITIVITIES = "sensitivities"
PREDICTED = 1e-3  # of the change that they predict


def sensitivity_lines(solution: Result) -> Iterator[Line]:
    """One line, of a run that has them: all parameters changed together, by two more runs."""
    found = solution.sensitivities
    if found is None or found.check is None:
        return
    try:
        difference, step = found.check()
    except DalembertError as problem:
        yield Line(_SENSITIVITIES, f"not checked: the runs beside this one failed: {problem}", None, "WARN")
        return
    shown = f"by {', '.join(found.names)}: {difference:.2g} off a central difference of runs, parameters changed by {step:.1g}"
    yield limited(_SENSITIVITIES, shown, difference, PREDICTED)
