"""Signals of a solution by name, over time, as phase planes and spectra.

"A"           coordinate of a joint that has one           "A.angle"     one of several, see `joints.COORDINATES`
"slider.x"    position of a body, world axes; y, z          "slider.vx"   its velocity; vy, vz
"B.fx"        reaction force of a joint or driver; fy, fz   "B.tx"        reaction torque; ty, tz
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dalembert.errors import ModelError, SimulationError
from dalembert.model.validation import nearest
from dalembert.plot.style import DARK, MUTED
from dalembert.results.solution import BodyResult

Array = npt.NDArray[np.float64]

MOST_SAMPLES = 8192
_SHORTEST = 16  # states; fewer make no spectrum
_FLOOR = 1e-9  # of the largest amplitude: what lies below is the interpolation's


_QUANTITIES = {"m": "length", "rad": "angle", "m/s": "velocity", "N": "force", "N m": "torque"}


@dataclass(frozen=True, eq=False)
class Signal:
    """label and unit for axes;  values : (nt,);  rate : its time derivative where it is known exactly"""

    label: str
    unit: str
    values: Array
    rate: Array | None = None


def signal(solution: BodyResult, name: object) -> Signal:
    """A signal by its name, see the module."""
    text = str(getattr(name, "name", name))
    model = solution.mechanism.model
    joints = {joint.name: joint for joint in model.joints}
    owner, _, part = (text, "", "") if text in joints else text.rpartition(".")
    if owner in joints:
        coordinates = joints[owner].coordinates
        part = part or (coordinates[0] if len(coordinates) == 1 else "")
        if part in coordinates:
            return _coordinate(solution, owner, coordinates, part)
    bodies = [body.name for body in model.bodies]
    if owner in bodies and part in ("x", "y", "z"):
        k = "xyz".index(part)
        return Signal(f"{part} of {owner}", "m", solution.position(owner)[:, k], solution.velocity(owner)[:, k])
    if owner in bodies and part in ("vx", "vy", "vz"):
        return Signal(f"velocity {part[1]} of {owner}", "m/s", solution.velocity(owner)[:, "xyz".index(part[1])])
    elements = [*joints, *(driver.name for driver in model.drivers)]
    if owner in elements and part[:1] in ("f", "t") and part[1:] in ("x", "y", "z"):
        reaction = solution.reaction(owner)
        values, what, unit = (reaction.force, "force", "N") if part[0] == "f" else (reaction.torque, "torque", "N m")
        return Signal(f"reaction {what} {part[1]} of {owner}", unit, values[:, "xyz".index(part[1])])
    known = [f"{j.name}.{c}" if len(j.coordinates) > 1 else j.name for j in model.joints for c in j.coordinates]
    known += [f"{body}.{part}" for body in bodies for part in ("x", "y", "z", "vx", "vy", "vz")]
    known += [f"{element}.{part}" for element in elements for part in ("fx", "fy", "fz", "tx", "ty", "tz")]
    raise ModelError(f"there is no signal {text!r}; {nearest(text, known)}")


def _coordinate(solution: BodyResult, joint: str, coordinates: tuple[str, ...], part: str) -> Signal:
    k = coordinates.index(part)
    both = solution.coordinate(joint), solution.coordinate_rate(joint)
    values, rates = (np.reshape(columns, (len(solution.t), -1))[:, k] for columns in both)
    turns = part.startswith(("angle", "rotation"))
    return Signal(f"{part.replace('_', ' ')} of {joint}", "rad" if turns else "m", values, None if part[:3] == "rot" else rates)


def draw_over_time(ax: Axes, t: Array, items: Sequence[Signal], over: str) -> None:
    """Signals of one unit; the legend names them, or the axis where there is only one."""
    for item in items:
        ax.plot(t, item.values, label=item.label if len(items) > 1 else None)
    what = items[0].label if len(items) == 1 else _QUANTITIES.get(items[0].unit, "")
    ax.set_xlabel(over)
    ax.set_ylabel(f"{what} [{items[0].unit}]".strip())


def draw_phase(ax: Axes, solution: BodyResult, name: object) -> None:
    """Value against rate of change, with the start marked."""
    item = signal(solution, name)
    if item.rate is None:
        raise ModelError(f"the rate of {item.label!r} is not known; give a joint coordinate or a position")
    values, turns = item.values, item.unit == "rad" and np.ptp(item.values) > 2 * np.pi
    if turns:
        values = np.pi - (np.pi - values) % (2 * np.pi)
    jumps = 1 + np.flatnonzero(np.abs(np.diff(values)) > np.pi) if turns else np.zeros(0, dtype=int)
    ax.plot(*(np.insert(v, jumps, np.nan) for v in (values, item.rate)), linestyle="-", linewidth=1.2)
    ax.plot(values[:1], item.rate[:1], marker="o", markersize=6, color=DARK, linestyle="none", label="start")
    ax.plot(values[-1:], item.rate[-1:], marker="s", markersize=6, color=MUTED, linestyle="none", label="end")
    ax.set_title(f"phase plane: {item.label}{', modulo one turn' if turns else ''}")
    ax.set_xlabel(f"{item.label} [{item.unit}]")
    ax.set_ylabel(f"rate of change [{item.unit}/s]")


def draw_spectrum(ax: Axes, solution: BodyResult, name: object) -> None:
    """One-sided amplitude spectrum, logarithmic."""
    item = signal(solution, name)
    frequency, amplitude = spectrum(solution.t, item)
    shown = amplitude > _FLOOR * amplitude.max()
    last = int(np.flatnonzero(shown)[-1]) + 1 if shown.any() else len(frequency)
    ax.plot(frequency[1:last], np.maximum(amplitude[1:last], _FLOOR * amplitude.max()), linestyle="-", linewidth=1.2)
    peak = 1 + int(np.argmax(amplitude[1:]))
    label = f"largest: {amplitude[peak]:.3g} {item.unit} at {frequency[peak]:.4g} Hz"
    ax.plot(frequency[peak], amplitude[peak], marker="o", markersize=6, color=DARK, linestyle="none", label=label)
    ax.set_yscale("log")
    ax.set_title(f"spectrum: {item.label}, mean removed, Hann window")
    ax.set_xlabel("frequency f [Hz]")
    ax.set_ylabel(f"amplitude [{item.unit}]")


def spectrum(t: Array, item: Signal) -> tuple[Array, Array]:
    """Frequencies [Hz] and amplitudes of a signal; a sine wave of amplitude a over many periods peaks at a.

    Saved states are not evenly spaced, so the signal is first interpolated (cubic) to even times; the mean is removed and
    a Hann window applied.
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    if len(t) < _SHORTEST:
        raise SimulationError(f"{len(t)} states were saved; a spectrum needs at least {_SHORTEST}: save more")
    count = int(np.clip(2 * len(t), 256, MOST_SAMPLES))
    times = np.linspace(t[0], t[-1], count, endpoint=False)
    curve = CubicSpline(t, item.values) if item.rate is None else CubicHermiteSpline(t, item.values, item.rate)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(count) / count)
    values = curve(times)
    values = (values - np.sum(values * window) / np.sum(window)) * window
    frequencies = np.fft.rfftfreq(count, (t[-1] - t[0]) / count)
    return np.asarray(frequencies), np.asarray(2.0 * np.abs(np.fft.rfft(values)) / np.sum(window))
