"""Groups of redundant rows in the tables, for kernels/coordinates/choice.py."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.kernels.base import tables as T


def choice_section(I: list[int], choices: Sequence[tuple[int, Sequence[int]]]) -> None:
    """Groups of redundant rows for kernels/coordinates/choice.py: rank and rows of each."""
    I[T.NCHOICE], I[T.CHOICE_I] = len(choices), len(I)
    I[T.NIDLE] = sum(len(rows) - rank for rank, rows in choices)
    for rank, rows in choices:
        I += [rank, len(rows), *rows]


def choice_workspace(I: list[int]) -> int:
    """Size of the section W_CHOICE: flags, a number per row, the matrix of the largest group."""
    at, largest = I[T.CHOICE_I], 0
    for _ in range(I[T.NCHOICE]):
        largest = max(largest, I[at + 1])
        at += 2 + I[at + 1]
    return T.H_IDLE + 2 * I[T.M] + largest**2 if largest else 0
