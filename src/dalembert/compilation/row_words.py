"""Rows of constraints in words: the motion that each holds, or the part of a reaction that it carries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from dalembert.compilation.compiled import Compiled, Row

Side = Literal["motion", "reaction"]
_TURNS, _SLIDES = re.compile(r"SO\((.), (.)\)"), re.compile(r"O\((.)\)")
_SAID = {"motion": ("motion", "turning"), "reaction": ("force", "torque")}


def in_words(labels: Iterable[str], side: Side) -> str:
    """Labels of the rows of one joint or driver, such as "z" and "SO(x, z)": "force along z, torque about its own y"."""
    along, about = (f"{word} " for word in _SAID[side])
    groups: dict[str, list[str]] = {}
    for label in labels:
        if label in ("x", "y", "z"):
            what, axis = f"{along}along", label
        elif slides := _SLIDES.fullmatch(label):
            what, axis = f"{along}along its own", slides[1]
        elif turns := _TURNS.fullmatch(label):
            (third,) = set("xyz") - {*turns.groups()} if turns[1] != turns[2] else ("",)
            what, axis = (f"{about}about its own", third) if third else (about.strip(), "")
        else:
            what, axis = label, ""
        groups.setdefault(what, []).append(axis)
    return ", ".join(f"{what} {_listed(sorted(axes))}".strip() for what, axes in groups.items())


def _listed(axes: list[str]) -> str:
    return " and ".join(part for part in (", ".join(axes[:-1]), axes[-1]) if part)


def held_twice(mechanism: Compiled) -> list[str]:
    """What redundant rows hold, by joint or driver."""
    found: dict[str, list[str]] = {}
    for row in mechanism.redundant:
        found.setdefault(row.element, []).append(row.label)
    return [f"{name} ({in_words(labels, 'motion')})" for name, labels in found.items()]


def undetermined_rows(mechanism: Compiled, name: str) -> list[Row]:
    """Rows of a joint or driver whose multipliers redundancy leaves undetermined; [] for all of them."""
    rows: list[Row] = [row for row in getattr(mechanism, "undetermined", ()) if row.element == name]
    return [] if len(rows) == sum(row.element == name for row in mechanism.rows) else rows


def not_unique(mechanism: Compiled, name: str) -> str:
    """An element whose reactions are not, with those parts that are meant where it is not all of them."""
    rows = undetermined_rows(mechanism, name)
    return f"{name} ({in_words([row.label for row in rows], 'reaction')})" if rows else name
