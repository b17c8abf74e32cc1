"""What repeats in time and does not stay in step with what turns steadily, as a load of every turn after a change of speed."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motions_of
from dalembert.model.motions import Table, leaves
from dalembert.remarks.row_words import turning

SAME = 1e-6  # of a ratio that is a whole number


def periods_apart(mechanism: Compiled) -> Iterator[str]:
    """One sentence for each periodic table, where its period is no multiple or part of the turn of any driver."""
    turns = {name: 2.0 * pi / abs(rate) for name, rate in turning(mechanism).items()}
    if not turns or not isinstance(mechanism, Mechanism):
        return
    driver, turn = next(iter(turns.items()))
    for name, motion in motions_of(mechanism.model):
        for table in (leaf for leaf in leaves(motion) if isinstance(leaf, Table) and leaf.periodic):
            period = table.times[-1] - table.times[0]
            if not any(_in_step(period, other) for other in turns.values()):
                yield f"{name!r} repeats every {period:.4g} s, {driver!r} turns once in {turn:.4g} s: they go apart"


def _in_step(one: float, other: float) -> bool:
    ratio = max(one, other) / min(one, other)
    return abs(ratio - round(ratio)) <= SAME * ratio
