"""What to do about a line that does not pass: one sentence each, with the numbers of the run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from dalembert.results.report.scales import passed_on
from dalembert.results.report.table import Line

if TYPE_CHECKING:
    from dalembert.results.solution import Result

_FIRST_WORDS = {
    "contact": "use the motion only before that time, or let an event open the contact there",
    "cam": "use the motion only before that time, or press the follower on by a spring",
    "undercut": "use the motion only away from there, or give the cam a larger base circle",
    "tables": "give the table times for the whole run, or say that it is periodic, or that it keeps its ends (clamp)",
    "energy": "put runs of one model together, each going on from the end of the one before",
    "cable": "use the motion only before that time, or let an event take the cable out of force there",
    "rate": "leave it out of the invariants, or mend the function: the equations of motion do not conserve it",
    "plane": 'run it with coordinates="absolute"',
    "rounding": "ask for a larger rtol, or take another formulation",
    "force": "give the element data for what it meets in this run",
    "unit": "check who changed the states: a run keeps these lengths to rounding",
}
_STATUS = {
    "interrupted": "run it again, or go on from its end in Python: simulate(solution, t_end)",
    "failed": "mend what the status names; states before it are kept, but are not judged",
    "incomplete": "run it again, or use the states that are stored with care",
}


_FAR = 1e6  # times the limit: errors that say nothing about the next step
OPEN = 1e-6  # residual of a redundant row that is no rounding [m or rad]
_CAUSES = ("status", "cable")  # lines that tell why a run failed


def advised(line: Line, solution: Result, *, doubted: bool = False) -> Line:
    """The line with what to do, where it does not pass; of a run that failed, only about that: the rest may come from it.

    doubted : whether something is said of the model, which may be why it failed
    """
    if line.verdict not in ("FAIL", "WARN") or line.advice or (solution.status == "failed" and line.name not in _CAUSES):
        return line
    first = "look first at what is said of the model above; then " if doubted and solution.status == "failed" else ""
    return replace(line, advice=first + _advice(line, solution))


def _advice(line: Line, solution: Result) -> str:
    name, formulation = line.name, solution.settings["formulation"]
    if name == "status":
        return _STATUS.get(solution.status, "run it again")
    if line.value.startswith("cannot be checked"):
        if "no state" in line.value:
            return "save states after the start: give save_at other times, or leave it out"
        return "mend what it names, so that it can be checked"
    if name in ("position drift", "velocity drift", "prescribed motions"):
        if formulation["options"].get("projection") == "none":
            return f'let {formulation["type"]} project: leave out projection="none"'
        if name == "prescribed motions" and abs(float(line.data) - 2.0 * math.pi) < 1e-3:
            return "give an angle that goes on over full turns: that of the function jumps by one"
        if name == "position drift" and opened(solution):
            names = ", ".join(dict.fromkeys(repr(row.element) for row in solution.mechanism.redundant))
            return (
                f"start from another pose, as what {names} holds twice is so at the start only; or look at the axes of its loop"
            )
        option = "velocity_tolerance" if name.startswith("velocity") else "tolerance"
        asked = formulation["options"].get(option)
        smaller = f"give {formulation['type']} a {option} below {asked:g}, or " if asked else ""
        return f"{smaller}{_finer(line, solution)}"
    if name == "balance of forces":
        return "ask equilibrium for it once more: the state is of another model, or was changed"
    if name == "stability":
        return "look for the stable one next to it (starts=), if that is what you want"
    if name == "energy balance":
        otherwise = f"{_finer(line, solution)}; if it stays, look for a force that jumps, or whose work is not counted"
        return _light(line, solution) or otherwise
    if name == "error estimate":
        atol = f"ask for an atol that is small beside the motion (it is {_options(solution)['atol']:g})"
        return atol if line.value.endswith("atol") else _finer(line, solution)
    if name == "trajectory error":
        return f"{_finer(line, solution)}; if it stays, the motion is chaotic: only a shorter run can be known"
    if name == "largest projection":
        return f"look for a constraint that jumps, such as an angle that wraps; else {_finer(line, solution)}"
    if name == "breakpoints":
        return "choose a step that divides the times at which motions change their law, or an adaptive integrator"
    if name == "mass conditioning":
        return "take a formulation without multipliers (Minimal), or give the light body a mass nearer to the others"
    if name == "accelerations":
        return "take a formulation without multipliers (Minimal), or give inertias nearer to mass times length squared"
    if name == "branch":
        return 'take Minimal(singular="pass"), which stays on its branch or refuses'
    return _FIRST_WORDS.get(name.split()[0], f"{_finer(line, solution)}, or check that it should be constant at all")


def _light(line: Line, solution: Result) -> str:
    """Where what is missing is little beside the work that goes through a mechanism, and much beside what is in its motion."""
    moved, through = solution.steps.energy.exchanged, passed_on(solution.steps)
    masses = {body.name: body.mass for body in getattr(solution.mechanism.model, "bodies", ())}
    if line.limit is None or not 0.0 < float(line.data) * moved <= float(line.limit) * through:
        return ""
    lightest = min(masses, key=lambda name: masses[name])
    return (
        f"see that masses are not too small (the least is {masses[lightest]:g} kg, of {lightest!r}): forces do {through:.3g} J"
        f" of work that others take, {moved:.3g} J are in the motion, and no rtol mends that; if they are right,"
        " estimate_error=True (--estimate-error) judges the motion itself"
    )


def opened(solution: Result) -> bool:
    """Whether rows that the others implied at the start are violated later on: the start was singular."""
    if not solution.mechanism.redundant or not len(solution.t):
        return False
    drift = solution.drift
    return max(float(drift.by_joint(row.element).position.max()) for row in solution.mechanism.redundant) > OPEN


def _options(solution: Result) -> dict[str, float]:
    options: dict[str, float] = solution.settings["integrator"]["options"]
    return options


def _finer(line: Line, solution: Result) -> str:
    """Shorter steps or a smaller tolerance, and about which, where errors are large enough to tell and small enough to go like
    a power of the step."""
    options, method = _options(solution), solution.integrator
    far = line.share if line.share is not None and 1.0 < line.share < _FAR else None
    if (step := options.get("step")) is not None:
        known = far is not None and method is not None and not method.by_formulation
        about = _about(step * far ** (-1.0 / method.order), " s") if known else ""  # type: ignore[operator,union-attr]
        return f"take steps shorter than {step:g} s{about}"
    if solution.statistics.rounded_steps:
        return "see rounding, as a smaller rtol gains nothing"
    about = _about(options["rtol"] / far) if far and "rtol" in options else ""
    return f"ask for an rtol below {options['rtol']:g}{about}" if "rtol" in options else "compute it more finely"


def _about(value: float, unit: str = "") -> str:
    """One digit of it, not above."""
    power = 10.0 ** math.floor(math.log10(value))
    return f", about {math.floor(value / power) * power:g}{unit}"
