"""Everything that is wrong with a model file, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from dalembert.errors import ModelError


@dataclass(frozen=True, order=True)
class Problem:
    """line, column : counted from 1;  text : what is wrong and how to mend it"""

    line: int
    column: int
    text: str


MAX_PROBLEMS = 100


class ModelFileError(ModelError):
    """A model file cannot be read. `problems` lists the first 100 that were found; the message has one line for each."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        found = list(islice(problems, MAX_PROBLEMS + 1))
        self.file = name
        self.problems = tuple(sorted(set(found[:MAX_PROBLEMS])))
        lines = [f"{name}:{p.line}:{p.column}: {p.text}" for p in self.problems]
        if len(found) > MAX_PROBLEMS:
            lines.append(f"{name}: and more; mend these {MAX_PROBLEMS} first")
        super().__init__("\n".join(lines))


def pin_of_several(record: Mapping[str, Any], label: str, bodies: list[Any]) -> str:
    """How a pin of several bodies is written."""
    other = record.get("second" if label == "first" else "first")
    names = [str(name) for name in (other, *bodies) if isinstance(name, str)]
    pairs = [f"{one} - {two}" for one, two in pairwise(names)]
    return f"a pin of {len(names)} bodies is {len(pairs)} joints at the same point, of other names, as {', '.join(pairs)}"
