"""What the library says in Python, said in options: for who runs commands and never wrote any Python.

Of models their keys in files: arguments in Python have the same names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.results.report import Report


def _integrator(found: re.Match[str]) -> str:
    return f"give --integrator {_names().get(found[1], found[1])} without --step"


_PHRASES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"""\bMinimal\(singular=(['"])pass\1\)""", "--formulation minimal --singular pass"),
    (r"without multipliers \(Minimal\)", "without multipliers (--formulation minimal)"),
    (r"\b\w+\(step=\.\.\.\)", "--step SECONDS"),
    (r"\bgive (\w+)\(\) without a step", _integrator),
    (r"""\bcoordinates=(['"])(\w+)\1( \(--coordinates \w+\))?""", r"--coordinates \2"),
    (r"\bsave_at= \(--save-every\)|\bsave_at=, --save-every|\bsave_at(?= other times)", "--save-every"),
    (r"\boverwrite=True \(--overwrite\)", "--overwrite"),
    (r"\buse simulate, which", "use `dalembert run`, which"),
    (r"\badd_driver on (.*? leaves none of them), or sweep one instead", r"a driver on \1, or sweep one instead (--sweep)"),
    (r"\bUse at=da\.equilibrium\(model\) \(dalembert modes --equilibrium\)", "Use --equilibrium"),
    (r"\blook at plot\.residuals\(\)", "look at the residuals (--plot)"),
    (r"\bexport_picture: t is\b", "option --at is"),
    (r"\bsolution\.export\('all\.csv'\)", "`dalembert export RUN all.csv`"),
    (r"\bda\.[A-Z]\w+\(.*?\), in a file ", ""),  # keys say the same
    (r"(?<![-\w])[a-z]\w*= \((--[-\w]+)\)", r"\1"),
    (r"(?<![-\w])([a-z]\w*)=(?=[\s,;:.)]|$)", r"\1"),  # an argument is a key of the same name
)
_LISTS = ("; pairs that do: ", " takes one of ")  # of classes


def in_options(text: object) -> str:
    """A message with options in place of what they are called in Python."""
    told = str(text)
    for pattern, words in _PHRASES:
        told = re.sub(pattern, words, told)
    if any(said in told for said in _LISTS):
        named = _names()
        told = re.sub(r"\b[A-Z]\w+\b", lambda found: named.get(found[0], found[0]), told)
    return told


def report_in_options(report: Report) -> Report:
    """A report whose lines are told so."""
    return replace(
        report,
        lines=tuple(replace(line, value=in_options(line.value), advice=in_options(line.advice)) for line in report.lines),
    )


def _names() -> dict[str, str]:
    """Formulations and integrators as options name them, by class."""
    from dalembert.formulations import FORMULATIONS
    from dalembert.integrators import INTEGRATORS

    return {cls.__name__: name for known in (FORMULATIONS, INTEGRATORS) for name, cls in known.items()}
