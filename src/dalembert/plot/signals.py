"""Signals of a solution over time, as phase planes and spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from dalembert.arrays import Array
from dalembert.errors import ModelError, SimulationError
from dalembert.model.validation import nearest
from dalembert.plot.degrees import tick
from dalembert.plot.style import DARK, MUTED, calm
from dalembert.results.reactions import Reaction
from dalembert.results.signals import Signal, with_unit
from dalembert.results.solution import BodyResult

MOST_SAMPLES = 8192
_SHORTEST = 16  # states; fewer make no spectrum
_FLOOR = 1e-9  # of the largest amplitude: what lies below is the interpolation's
ROUNDING = 1e-9  # torque [N m] over force [N] that is zero
QUANTITIES = {
    **{"m": "length", "rad": "angle", "deg": "angle", "m/s": "velocity", "rad/s": "rate", "deg/s": "rate"},
    **{"m/s^2": "acceleration", "rad/s^2": "angular acceleration", "deg/s^2": "angular acceleration"},
    **{"N": "force", "N m": "torque", "W": "power"},
}
_AXES = ("x", "y", "z")
_CLOSE = 1e-9  # of a turn
_TURN = {"rad": 2 * np.pi, "deg": 360.0}


def draw_over_time(ax: Axes, t: Array, items: Sequence[Signal], over: str) -> None:
    """Signals of one unit, or one of none that is known; the legend names them, or the axis where there is only one."""
    for item in items:
        turn = _TURN.get(item.unit, np.inf) if item.rates is None else np.inf  # rotation vectors jump to the other side
        jumps = 1 + np.flatnonzero(np.abs(np.diff(item.values)) > 0.5 * turn)
        ax.plot(*(np.insert(v, jumps, np.nan) for v in (t, item.values)), label=item.label if len(items) > 1 else None)
    what = items[0].label if len(items) == 1 else QUANTITIES.get(items[0].unit, "")
    ax.set_xlabel(over)
    ax.set_ylabel(with_unit(what, items[0].unit))
    calm(ax)
    tick(ax.yaxis, items[0].unit)
    tick(ax.xaxis, over.rstrip("]").rpartition("[")[2])


def acting(
    solution: BodyResult, element: object, quantity: Literal["force", "torque"] | None
) -> list[tuple[str, str, Array, list[int]]]:
    """Title, axis, values (nt, 3) and which of them to draw, of what a joint, driver or force element does: of a quantity, or
    all that is not zero. In planar coordinates what has no part across the plane is not drawn there."""
    name = str(getattr(element, "name", element))
    model = solution.mechanism.model
    force = next((force for force in model.forces if force.name == name), None)
    known = [*(joint.name for joint in model.joints), *(d.name for d in model.drivers), *(f.name for f in model.forces)]
    try:
        found = solution.reaction(name) if force is None else solution.effort(name)
    except ModelError:
        if name in known:
            raise
        raise ModelError(f"there is no joint, driver or force element {name!r}; {nearest(name, known)}") from None
    largest = float(np.abs(found.force).max(initial=0.0))
    both = float(np.abs(found.torque).max(initial=0.0)) > ROUNDING * largest
    shown = [quantity] if quantity else ["force"] * (largest > 0.0 or not both) + ["torque"] * both
    drawn = []
    plane = solution.mechanism.plane
    across = plane is not None and name not in solution.mechanism.not_unique  # what is held twice is so across the plane
    for what in shown:
        title = f"{what} of {force.noun} {name!r}" if force else f"reaction {what} of {name!r}"
        if isinstance(found, Reaction) and not found.unique:
            parts = ", ".join(part for part in found.undetermined if part.startswith(what))
            if across and (parts or not found.undetermined):
                title += "; out of the plane: not determined"
            else:
                whole = "" if found.undetermined else "; not unique (redundant constraints)"
                title += f"; not unique: {parts}" if parts else whole
        values = getattr(found, what)
        normal = np.zeros(3, dtype=bool) if plane is None else np.abs(plane.normal) == 1.0
        beyond = normal if what == "force" or not normal.any() else ~normal
        axes = [k for k in range(3) if values[:, k].any() or not beyond[k]]
        drawn.append((title, "force [N]" if what == "force" else "torque [N m]", values, axes))
    return drawn


def draw_phase(ax: Axes, item: Signal, others: Sequence[Signal] = ()) -> None:
    """Rate of change, or other signals of one unit, over the values of one, with the start of a single curve marked."""
    curves = [(other.label, other.values) for other in others]
    if not others:
        rate = item.rate
        if rate is None:
            fix = "give a joint coordinate or a position, or what to draw over it"
            raise ModelError(f"the rate of {item.label!r} is not known; {fix}")
        curves = [("", rate)]
    turn = _TURN.get(item.unit, np.inf)
    turns = np.ptp(item.values) > turn * (1 + _CLOSE) or abs(item.values[0]) > turn * (1 + _CLOSE)
    for label, along in curves:
        x, y, u, v = _wrapped(item.values, along, turn) if turns else (item.values, along, item.values, along)
        _turn_by_turn(ax, u, v, label if len(curves) > 1 else "_")
        if len(curves) == 1:
            ax.plot(x[:1], y[:1], marker="o", markersize=6, color=DARK, linestyle="none", label="start")
            ax.plot(x[-1:], y[-1:], marker="s", markersize=6, color=MUTED, linestyle="none", label="end")
    what, unit = (others[0].label, others[0].unit) if others else ("rate of change", f"{item.unit}/{item.by}")
    what = QUANTITIES.get(unit, "") if len(others) > 1 else what
    name = f"{what or 'several'} over {item.label}" if others else f"phase plane: {item.label}"
    within = ", one turn from its start" if turns and _one_way(item.values, turn) else ", within one turn"
    within += ", later turns darker" if np.ptp(item.values) > 2 * turn * (1 + _CLOSE) else ""
    ax.set_title(f"{name}{within if turns else ''}")
    ax.set_xlabel(item.title)
    ax.set_ylabel(with_unit(what, unit))
    calm(ax, both=True)
    if len(others) == 1 and _of_one_point(item, others[0]):  # its path
        ax.set_aspect("equal", adjustable="datalim")
    tick(ax.xaxis, item.unit)
    tick(ax.yaxis, unit)


def _turn_by_turn(ax: Axes, x: Array, y: Array, label: str) -> None:
    """A curve whose pieces between gaps become darker one after the other."""
    pieces, color = np.split(np.arange(len(x)), np.flatnonzero(np.isnan(x))), None
    for k, piece in enumerate(pieces, 1):
        dark = 1.0 if k == len(pieces) else 0.25 + 0.6 * k / len(pieces)
        (line,) = ax.plot(x[piece], y[piece], "-", linewidth=1.2, color=color, alpha=dark)
        color = line.get_color()
    line.set_label(label)


def _of_one_point(*items: Signal) -> bool:
    """Whether both are coordinates of a body or marker."""
    (a, _, of), (b, _, other) = (item.label.partition(" of ") for item in items)
    return of == other != "" and a in _AXES and b in _AXES and all(item.unit == "m" for item in items)


def _one_way(values: Array, turn: float) -> bool:
    steps = np.diff(values)
    return len({*np.sign(steps[np.abs(steps) > _CLOSE * turn]).tolist()}) == 1


def _wrapped(values: Array, others: Array, turn: float) -> tuple[Array, Array, Array, Array]:
    """Angles modulo one turn with what goes over them, and both as curves that reach the ends of the turn and are cut there:
    from the first value on where it turns one way, else between minus and plus half a turn."""
    one_way = _one_way(values, turn)
    sign, base = (np.sign(values[-1] - values[0]), np.fmod(values[0], turn)) if one_way else (1.0, -0.5 * turn)
    along = sign * (values - (values[0] if one_way else base))
    count = np.floor(along / turn - _CLOSE)
    count[0] = max(count[0], 0.0) if one_way else count[0]
    angles = base + sign * (along - count * turn)
    x, y, at = [], [], 0
    for k in (1 + np.flatnonzero(np.diff(count))).tolist():
        up = count[k] > count[k - 1]
        edge = turn * max(count[k], count[k - 1])
        other = np.interp(edge, *(np.sort(along[k - 1 : k + 1]), others[k - 1 : k + 1][:: 1 if up else -1]))
        ends = base + sign * turn * np.array([up, not up])
        x += [angles[at:k], ends[:1], [np.nan], ends[1:]]
        y += [others[at:k], [other], [np.nan], [other]]
        at = k
    return angles, others, np.concatenate([*x, angles[at:]]), np.concatenate([*y, others[at:]])


def draw_spectrum(ax: Axes, t: Array, item: Signal) -> None:
    """One-sided amplitude spectrum, logarithmic."""
    frequency, amplitude = spectrum(t, item)
    shown = amplitude > _FLOOR * amplitude.max()
    last = int(np.flatnonzero(shown)[-1]) + 1 if shown.any() else len(frequency)
    ax.plot(frequency[1:last], np.maximum(amplitude[1:last], _FLOOR * amplitude.max()), linestyle="-", linewidth=1.2)
    peak = 1 + int(np.argmax(amplitude[1:]))
    label = f"largest: {f'{amplitude[peak]:.3g} {item.unit}'.strip()} at {frequency[peak]:.4g} Hz"
    ax.plot(frequency[peak], amplitude[peak], marker="o", markersize=6, color=DARK, linestyle="none", label=label)
    ax.set_yscale("log")
    ax.set_title(f"spectrum: {item.label}, mean removed, Hann window")
    ax.set_xlabel("frequency f [Hz]")
    ax.set_ylabel(with_unit("amplitude", item.unit))


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
