"""What the code of traced primitives reads beside their records: bodies, numbers of their own, counted angles."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.compilation.flatten import FlatPrimitive
from dalembert.kernels.base import tables as T


class Codes:
    """The sections of all traced primitives, filled one after the other."""

    def __init__(self) -> None:
        self.table: list[int] = []
        self.members: list[int] = []
        self.turns: list[int] = []
        self.numbers: list[float] = []
        self.largest = 0

    def add(self, item: FlatPrimitive, places: Sequence[Sequence[int]]) -> None:
        """The next primitive; places : where its rows begin in A, per body."""
        from dalembert.lagrangian.body_rows import size_of

        own = item.primitive.numbers
        self.table += [len(self.members) // T.MEMBER_I_W, len(item.bodies), len(self.numbers), len(own)]
        self.table += [len(self.turns), len(item.turns)]
        for body, at in zip(item.bodies, places, strict=True):
            self.members += [body, *at, *([0] * (3 - len(at)))]
        self.turns += item.turns
        self.numbers += own
        self.largest = max(self.largest, size_of(len(item.bodies), item.primitive).total)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Bodies and angles in all, the most that one code reads and leaves."""
        return len(self.members) // T.MEMBER_I_W, len(self.turns), self.largest

    @property
    def sections(self) -> dict[int, list[int]]:
        """By header entry."""
        return {T.CODE_I: self.table, T.MEMBER_I: self.members, T.TURN_I: self.turns}
