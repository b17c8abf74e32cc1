"""Angles in degrees, and their rates in degrees per second, for who reads a figure so; everything else stays as it is."""

from __future__ import annotations

from matplotlib.axis import Axis
from matplotlib.ticker import MultipleLocator

from dalembert.results.signal_names import of_unit
from dalembert.results.signals import Signal

_STEPS = (5.0, 10.0, 15.0, 30.0, 45.0, 90.0, 180.0, 360.0)  # between ticks, smallest first
_LEAST, _MOST = 4, 9  # of them on an axis; less wide ones have usual ticks


def of_label(label: str) -> tuple[float, str]:
    """The same of the label of an axis, "angle of A [rad]"."""
    what, _, unit = label.rstrip("]").rpartition(" [")
    factor, turned = of_unit(unit)
    return (factor, f"{what} [{turned}]") if turned != unit else (1.0, label)


def in_degrees(item: Signal) -> Signal:
    """A signal with its rate; as it is where it is no angle."""
    (factor, unit), (rate_factor, _) = of_unit(item.unit), of_unit(f"{item.unit}/{item.by}")
    rates, by = item.rates, of_unit(item.by)[1]
    return Signal(item.label, unit, factor * item.values, None if rates is None else lambda: rate_factor * rates(), by)


def tick(axis: Axis, unit: str) -> None:
    """An axis in degrees, with its data drawn, has ticks at parts of a turn: 15, 30, 45, 90 degrees rather than 20, 25, 50."""
    low, high = axis.get_view_interval()
    step = next((step for step in _STEPS if high - low <= _MOST * step), None)
    if unit == "deg" and step is not None and high - low >= _LEAST * step:
        axis.set_major_locator(MultipleLocator(step))
