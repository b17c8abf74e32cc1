"""Groups of redundant rows in the tables, for kernels/coordinates/choice.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import CHOICE

Row = TypeVar("Row")


@dataclass(frozen=True)
class Choice(Generic[Row]):
    """A group of redundant rows: rank of all and of those that hold positions; the latter, and those of velocities alone."""

    rank: int
    held_rank: int
    held: tuple[Row, ...]
    others: tuple[Row, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.held + self.others

    def among(self, number: Mapping[Row, int]) -> Choice[int]:
        """The same with rows by number; those that have none are independent of the others and hold by themselves."""
        held, others = (tuple(number[row] for row in rows if row in number) for rows in (self.held, self.others))
        left = len(self.held) - len(held)
        return Choice(self.rank - left, self.held_rank - left, held, others)


def choice_section(I: list[int], choices: Sequence[Choice[int]]) -> None:
    """Groups of redundant rows for kernels/coordinates/choice.py."""
    I[T.NCHOICE], I[T.CHOICE_I] = len(choices), len(I)
    I[T.NIDLE] = sum(len(choice.rows) - choice.rank for choice in choices)
    for choice in choices:
        I += [choice.rank, len(choice.rows), choice.held_rank, len(choice.held), *choice.rows]


def choices_of(I: list[int]) -> list[Choice[int]]:
    """The groups in a table."""
    found, at = [], I[T.CHOICE_I]
    for _ in range(I[T.NCHOICE]):
        rank, count, held_rank, held = I[at : at + 4]
        rows = I[at + 4 : at + 4 + count]
        found.append(Choice(rank, held_rank, tuple(rows[:held]), tuple(rows[held:])))
        at += 4 + count
    return found


def choice_workspace(I: list[int]) -> int:
    """Size of the section W_CHOICE: flags, a number per row, the matrix of the largest group."""
    largest = max((len(choice.rows) for choice in choices_of(I)), default=0)
    return CHOICE.width + 2 * I[T.M] + largest**2 if largest else 0
