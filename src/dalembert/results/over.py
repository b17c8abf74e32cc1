"""What the `t` of a result is, in words: time, or the joint coordinate that `kinematics` swept."""

from __future__ import annotations

import re
from typing import Any

from dalembert.arrays import Array


def per(unit: str, by: str) -> str:
    """A unit per second as one per unit of what is followed instead of time: by "rad", m/s is m/rad and W is J/rad."""
    return unit if by == "s" else re.sub(r"/s\b", f"/{by}", "J/s" if unit == "W" else unit)


class Over:
    """settings : "over", the label of an axis, and "swept", name and unit of a signal, where it is no time"""

    settings: dict[str, Any]

    @property
    def over(self) -> str:
        """What `t` is, for the axis of a plot: time, or the coordinate that `kinematics` swept."""
        return str(self.settings.get("over", "time t [s]"))

    @property
    def along(self) -> tuple[str, str]:
        """Name and unit of `t`: "t", "s"; of a sweep the signal that was swept, as "A", "rad"."""
        name, unit = self.settings.get("swept", ("t", "s"))
        return str(name), str(unit)

    def per(self, unit: str) -> str:
        """The unit of a rate as this result has it: "m/s"; of a sweep "m/rad"."""
        return per(unit, self.along[1])

    def span(self, begin: float, end: float) -> str:
        """From one of the `t` to another: "t = 0 to 0.3 s"."""
        name, unit = self.along
        return f"{name} = {begin:.6g} to {end:.6g} {unit}"

    def reached(self, t: Array) -> str:
        """How many states there are and to where; of a sweep, which may fall, from where to where."""
        if not len(t):
            return "0 states"
        return f"{len(t)} states{f', {self.span(t[0], t[-1])}' if 'swept' in self.settings else f' to {self.instant(t[-1])}'}"

    def instant(self, t: float, digits: int = 6) -> str:
        """One of the `t` in words: "t = 0.3 s"; of a sweep "A = 0.3 rad"."""
        name, unit = self.along
        return f"{name} = {t:.{digits}g} {unit}"
