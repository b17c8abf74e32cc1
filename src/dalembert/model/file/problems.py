"""Everything that is wrong with a model file, each with its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dalembert.errors import ModelError


@dataclass(frozen=True, order=True)
class Problem:
    """line, column : counted from 1;  text : what is wrong and how to mend it"""

    line: int
    column: int
    text: str


class ModelFileError(ModelError):
    """A model file cannot be read. `problems` lists all that was found; the message has one line for each."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        self.file = name
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(f"{name}:{p.line}:{p.column}: {p.text}" for p in self.problems))
