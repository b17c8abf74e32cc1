"""Angles in degrees, and their rates in degrees per second, for who reads a figure so; everything else stays as it is."""

from __future__ import annotations

from math import degrees

from matplotlib.axis import Axis
from matplotlib.ticker import MaxNLocator

from dalembert.results.signals import Signal


def of_unit(unit: str) -> tuple[float, str]:
    """What to multiply by, and the unit then: "rad" and "rad/s" become "deg" and "deg/s"."""
    return (degrees(1.0), f"deg{unit[3:]}") if unit in ("rad", "rad/s", "rad/s^2") else (1.0, unit)


def of_label(label: str) -> tuple[float, str]:
    """The same of the label of an axis, "angle of A [rad]"."""
    what, _, unit = label.rstrip("]").rpartition(" [")
    factor, unit = of_unit(unit)
    return (factor, f"{what} [{unit}]") if factor != 1.0 else (1.0, label)


def in_degrees(item: Signal) -> Signal:
    """A signal with its rate; as it is where it is no angle."""
    factor, unit = of_unit(item.unit)
    rates = item.rates
    return Signal(item.label, unit, factor * item.values, None if rates is None else lambda: factor * rates())


def tick(axis: Axis, unit: str) -> None:
    """An axis in degrees has its ticks at 15, 30, 60 or 90 degrees rather than at 20, 25 or 50."""
    if unit == "deg":
        axis.set_major_locator(MaxNLocator(9, steps=[1, 1.5, 3, 6, 9, 10]))
