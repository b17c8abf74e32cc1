"""What a benchmark problem is: a model, where it comes from, what its motion must be and how well that is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any

import numpy as np

from dalembert import gallery
from dalembert.arrays import Array
from dalembert.compilation.compiled import Coordinates
from dalembert.formulations import FORMULATIONS

Output = Callable[[Any], Array]  # of a solution: (nt,) or (nt, k)

DEMANDED = 1e-8  # largest relative error, unless the expected values are known less well


@dataclass(frozen=True, eq=False)
class Expected:
    """Values from outside: origin : who found them and how;  accuracy : relative to the largest value of a quantity

    t : (nt,) [s];  values : by quantity, first axis time
    """

    origin: str
    accuracy: float
    t: Array
    values: Mapping[str, Array]

    def until(self, end: float) -> Expected:
        """Those before `end`."""
        n = int(np.count_nonzero(self.t <= end))
        return replace(self, t=self.t[:n], values={name: column[:n] for name, column in self.values.items()})

    @property
    def bound(self) -> float:
        """The largest relative error that passes: `DEMANDED`, or the accuracy of the values if that is worse."""
        return max(DEMANDED, self.accuracy)


@dataclass(frozen=True)
class Way:
    """How one formulation runs a problem. integrator : None = the usual one;  coordinates : of bodies

    note : why not in the usual way;  model : made in another way, None = the problem's
    """

    formulation: Any
    integrator: Any = None
    coordinates: Coordinates = "absolute"
    note: str = ""
    model: Callable[[], Any] | None = None


def adaptive_ways(integrator: Any, note: str) -> dict[str, Way]:
    """Formulations of no order of their own, all with another integrator than the usual one."""
    return {name: Way(cls(), integrator, note=note) for name, cls in FORMULATIONS.items() if cls.largest_order is None}


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem of the suite.

    call : the gallery's function that makes the model, as text, and model : that call;  source : citation keys
    outputs : quantities by name, from a solution; the first one is drawn;  axis : its label
    ways : formulations that do not run in the usual way (an adaptive method of high order at 1e-12)
    steps, short : number of fixed steps of formulations of low order, and where they end, default t_end: short of the motion
        where errors of order 1 are no longer small
    cannot : formulations that cannot show these values, and why
    extra : more times to save, by methods of low order only if extra_always
    long : runs only when it is named
    evidence : what the runs say about published values, from (formulation, solution) pairs
    """

    name: str
    title: str
    call: str
    model: Callable[[], Any]
    t_end: float
    source: tuple[str, ...]
    outputs: Mapping[str, Output]
    axis: str
    expected: tuple[Expected, ...]
    found_in: tuple[str, ...] = ()
    holonomic: bool = True
    ways: Mapping[str, Way] = field(default_factory=dict)
    steps: int = 20000
    short: float | None = None
    cannot: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[float, ...] = ()
    extra_always: bool = False
    long: bool = False
    evidence: Callable[[list[tuple[str, Any]]], list[str]] | None = None

    def shortened(self) -> Problem:
        """The problem up to `short`."""
        if self.short is None:
            return self
        end = self.short * (1 + 1e-9)
        return replace(self, t_end=self.short, short=None, expected=tuple(e.until(end) for e in self.expected if e.t[0] <= end))

    @property
    def required(self) -> int:
        """How many formulations must meet the values: three, two where constraints are nonholonomic."""
        return 3 if self.holonomic else 2


def stored(name: str) -> Any:
    """A data file of this package."""
    return json.loads((files("dalembert.benchmark") / "data" / f"{name}.json").read_text(encoding="utf-8"))


def expected_of(data: Any) -> tuple[Expected, ...]:
    """The entries "expected" of a data file."""
    return tuple(_expected(entry) for entry in data["expected"])


def of_gallery(function: str, *arguments: Any, data: str = "", **told: Any) -> Problem:
    """A problem with a model of the gallery; data : file with its values and where they were found, if not named like it."""
    told["call"] = f"gallery.{function}({', '.join(map(json.dumps, arguments))})"
    told["model"] = lambda: getattr(gallery, function)(*arguments)
    if "found_in" not in told:
        found = stored(data or function)
        told = {"found_in": tuple(found["source"]), "expected": expected_of(found), **told}
    return Problem(**told)


def derived(name: str) -> Expected:
    """One motion of data/derived.json, made by benchmarks/references."""
    return _expected(stored("derived")[name])


def _expected(entry: Any) -> Expected:
    values = {name: np.array(column, dtype=float) for name, column in entry["values"].items()}
    return Expected(entry["origin"], float(entry["accuracy"]), np.array(entry["t"], dtype=float), values)
