"""Figures of a solution: `solution.plot.overview()`, `.energy()`, `.drift()`, ... No window is ever opened.

Each method returns a Matplotlib `Figure`; with `ax=` it draws into axes of the caller's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.arrays import Array
from dalembert.compilation.parts import connected_parts
from dalembert.errors import ModelError, SimulationError
from dalembert.model.model import Model
from dalembert.model.serialise import MissingFunction
from dalembert.plot.degrees import in_degrees, of_label
from dalembert.plot.paths import draw_paths
from dalembert.plot.signals import QUANTITIES, acting, draw_over_time, draw_phase, draw_spectrum
from dalembert.plot.style import (
    CYCLE,
    DARK,
    MUTED,
    Figures,
    by_unit,
    check_picture_path,
    house_style,
    legend_above,
    new_figure,
    owner_of,
    save_figure,
    stacked,
    told,
)
from dalembert.results.invariants import Monitored, as_list, kept_invariants
from dalembert.results.report.checks import checks
from dalembert.results.sampling import curve
from dalembert.results.signals import Signal, signal

if TYPE_CHECKING:
    from dalembert.results.solution import Result

__all__ = ["Plots", "check_picture_path", "save_figure"]


_BINS = 120
_MAX_JOINTS = 8
_SMALLEST = 1e-17  # smaller residuals and errors are rounding; a logarithmic axis ends here


class Plots(Figures):
    """Figures by name; see the module."""

    _meant: ClassVar = {
        **dict.fromkeys(
            ("path", "paths"), 'plot.trajectories() draws the paths of bodies and markers, plot.trajectories("tip") one of them'
        ),
        **dict.fromkeys(
            ("torque", "force", "power", "angle", "speed", "position", "velocity", "coordinate", "effort", "signal"),
            'plot.time("motor", "motor.power", "A", "A.rate", "A.f", "tip.x") draws anything over time',
        ),
    }

    _solution: Any

    def __init__(self, solution: Result) -> None:
        if not len(solution.t):
            raise SimulationError("the solution holds no states; there is nothing to plot")
        self._solution = solution

    def overview(self) -> Figure:
        """Paths and energies above; below them what drivers do, and what all is trusted by, with the limits of the report:
        drift, energy error."""
        massless = bool(self._solution.settings.get("without_mass"))
        model = self._solution.mechanism.model
        lost = any(isinstance(force.function, MissingFunction) for force in getattr(model, "forces", ()))  # of a loaded run
        drivers = [] if massless or lost else [driver.name for driver in getattr(model, "drivers", ())]
        efforts = [signal(self._curve, name) for name in drivers[:_MAX_JOINTS]]
        if len({item.unit for item in efforts}) == 1:  # else torques and forces fill the row
            efforts += [signal(self._curve, f"{name}.power") for name in drivers[:_MAX_JOINTS]]
        units = list(dict.fromkeys(item.unit for item in efforts))
        rows, held = 3 if efforts else 2, len(self._solution.mechanism.rows) > 0
        with house_style():
            figure = new_figure(14.0, 1.0 + 3.8 * rows)
            self._motion(figure, (rows, 2, 1))
            for k, unit in enumerate(units):
                panel = figure.add_subplot(rows, 2, 3 + k)
                draw_over_time(panel, self._curve.t, [item for item in efforts if item.unit == unit], self._solution.over)
                few = f", first {_MAX_JOINTS} of {len(drivers)}" if len(drivers) > _MAX_JOINTS else ""
                panel.set_title(f"{QUANTITIES[unit]} of drivers{few}")
            if not massless:
                self._energy(figure.add_subplot(rows, 2, 2))
                self._energy_error(figure.add_subplot(rows, 2, 2 * rows if held else (2 * rows - 1, 2 * rows)))
            if held:
                self._drift(figure.add_subplot(rows, 2, 2 * rows - 1), "position")
            legend_above(*figure.axes)
            figure.suptitle(self._title())
            figure.supxlabel(self._method(), fontsize=9, color=MUTED)
        return figure

    def energy(self, *, ax: Axes | None = None) -> Figure:
        """Kinetic and potential energy, external work, and their balance; below, not in `ax`, how far that is off.

        Where one of them is farther from zero than it changes, as heights count from anywhere, all are changes since the start.
        """
        if ax is not None:
            return self._single(self._energy, ax)
        with house_style():
            figure = new_figure(8.0, 6.0)
            above, below = figure.subplots(2, 1, height_ratios=(5, 2))
            self._energy(above)
            self._energy_off(below)
            legend_above(above)
            figure.suptitle(self._title())
        return figure

    def energy_error(self, *, ax: Axes | None = None) -> Figure:
        """Relative error of the energy balance, logarithmic."""
        return self._single(self._energy_error, ax)

    def invariants(self, which: Monitored | Sequence[Monitored] = (), *, ax: Axes | None = None) -> Figure:
        """Relative change of what should stay constant, logarithmic: the energy and what the formulation kept, or `which`.

        which : names, functions, `Invariant`s, see `Solution.invariant`
        """
        return self._single(lambda axes: self._invariants(axes, as_list(which)), ax)

    def drift(self, *, level: Literal["position", "velocity"] = "position", ax: Axes | None = None) -> Figure:
        """Constraint residual by joint, logarithmic."""
        return self._single(lambda axes: self._drift(axes, level), ax)

    def trajectories(self, *names: object, ax: Axes | None = None) -> Figure:
        """Paths of bodies (of their centres of mass) and markers, all or those named: in their plane or in space."""
        with house_style():
            figure = new_figure(8.5, 6.0) if ax is None else owner_of(ax)
            legend_above(draw_paths(figure, self._curve, ax, wanted=names))
            if ax is None:
                figure.suptitle(self._title())
        return figure

    def reactions(
        self, joint: object, *more: object, quantity: Literal["force", "torque"] | None = None, ax: Axes | None = None
    ) -> Figure:
        """What a joint, driver or force element does to its second body, world axes: force and torque, or one of them.

        quantity : default both, each in its panel, but not what is zero throughout; in `ax` only one
        """
        if more or isinstance(joint, list | tuple):
            raise ModelError('plot.reactions takes one joint; of several plot.time("A.f", "B.f") draws the sizes of the forces')
        drawn = acting(self._curve, joint, quantity)[: 1 if ax is not None else None]
        with house_style():
            figure, panels = stacked(len(drawn), ax)
            for panel, (title, unit, values, axes) in zip(panels, drawn, strict=True):
                panel.set_prop_cycle(CYCLE)
                for k in axes:
                    panel.plot(self._curve.t, values[:, k], label="xyz"[k])
                panel.plot(self._curve.t, np.linalg.norm(values, axis=1), label="magnitude", color=MUTED, linewidth=1.0)
                self._over_time(panel, title, unit)
                legend_above(panel)
            if ax is None:
                figure.suptitle(self._title())
        return figure

    def time(self, *signals: object, degrees: bool = False, ax: Axes | None = None) -> Figure:
        """Signals over time, see `results.signals`: "slider.x", "A", "B.fz"; one panel for each unit, or all in `ax`.

        signals : names, or functions of a solution, named ("travel [m]", function) or not
        degrees : angles in deg and their rates in deg/s, instead of rad and rad/s
        """
        if not signals:
            raise ModelError("plot.time: of what? give names of signals, such as 'slider.x' for a body, 'A' for a joint")
        items = [self._signal(self._curve, name, degrees) for name in signals]
        factor, over = self._over(degrees)
        return self._by_unit(items, lambda axes, some: draw_over_time(axes, factor * self._curve.t, some, over), ax, degrees)

    def phase(self, signal: object, *others: object, degrees: bool = False, ax: Axes | None = None) -> Figure:
        """Phase plane: the rate of change of a joint coordinate (or of another signal, see `results.signals`) over its values.

        signal, degrees : as for `time`;  others : drawn instead of that rate, phase("A", "motor") is a torque over an angle;
            one panel for each unit, or all in `ax`
        """
        over, *items = [self._signal(self._curve, name, degrees) for name in (signal, *others)]
        if not items:
            return self._single(lambda axes: draw_phase(axes, over), ax, degrees)
        return self._by_unit(items, lambda axes, some: draw_phase(axes, over, some), ax, degrees)

    def spectrum(self, signal: object, *, degrees: bool = False, ax: Axes | None = None) -> Figure:
        """Amplitude spectrum of a signal, see `results.signals`;  signal, degrees : as for `time`"""
        item = self._signal(self._solution, signal, degrees)
        return self._single(lambda axes: draw_spectrum(axes, self._solution.t, item), ax, degrees)

    def step_sizes(self, *, ax: Axes | None = None) -> Figure:
        """Accepted step sizes; needs a run that saved every step."""
        steps = self._solution.statistics.accepted
        if len(self._solution.t) != steps + 1:
            raise SimulationError(
                f"{len(self._solution.t)} states were saved of {steps} steps, so step sizes are not known;"
                " simulate without save_at"
            )
        return self._single(self._step_sizes, ax)

    def save(self, path: str | os.PathLike[str], figure: Figure | None = None) -> None:
        """Write a figure, by default the overview, whole or not at all; format by the path's suffix."""
        if isinstance(path, str | os.PathLike):
            check_picture_path(path)  # before the overview is drawn
        super().save(path, self.overview() if figure is None else figure)

    def _single(self, draw: Callable[[Axes], None], ax: Axes | None, degrees: bool = False) -> Figure:
        """Draw into the given axes, or into a new figure with a title."""
        with house_style():
            figure = new_figure() if ax is None else owner_of(ax)
            axes = figure.add_subplot() if ax is None else ax
            axes.set_prop_cycle(CYCLE)
            draw(axes)
            legend_above(axes)
            if ax is None:
                figure.suptitle(self._title(degrees))
        return figure

    def _by_unit(
        self, items: list[Signal], draw: Callable[[Axes, list[Signal]], None], ax: Axes | None, degrees: bool
    ) -> Figure:
        """A panel for the signals of each unit, below each other in a new figure with a title, or all in the given axes."""
        alike = by_unit(items, lambda item: (item.label, item.unit))
        with house_style():
            figure, panels = stacked(len(alike), ax)
            for panel, some in zip(panels, alike, strict=True):
                draw(panel, some)
                legend_above(panel)
            if ax is None:
                figure.suptitle(self._title(degrees))
        return figure

    def _motion(self, figure: Figure, place: tuple[int, int, int]) -> None:
        draw_paths(figure, self._curve, None, place)

    @cached_property
    def _curve(self) -> Any:
        """The run with as many states as smooth curves need."""
        return curve(self._solution)

    def _signal(self, motion: Any, name: object, degrees: bool) -> Signal:
        return in_degrees(signal(motion, name)) if degrees else signal(motion, name)

    def _over(self, degrees: bool = False) -> tuple[float, str]:
        """What `t` is multiplied by, and the label of its axis."""
        return of_label(self._solution.over) if degrees else (1.0, self._solution.over)

    def _title(self, degrees: bool = False) -> str:
        name = self._solution.mechanism.model.name or "unnamed model"
        ended = {"complete": "", "event": ", stopped by an event"}.get(self._solution.status, f", {self._solution.status}")
        factor, over = self._over(degrees)
        what, _, unit = over.removeprefix("time ").rstrip("]").partition(" [")
        first, last = factor * self._solution.t[0], factor * self._solution.t[-1]
        return f"{name}, {what} = {first:g} to {last:.6g} {unit}{ended}"

    def _method(self) -> str:
        """Formulation, integrator and tolerances, for the foot of a figure."""
        settings = self._solution.settings
        integrator = settings["integrator"]
        options = integrator["options"]
        step = f"step {options['step']:g} s" if options["step"] else f"rtol {options['rtol']:g}, atol {options['atol']:g}"
        coordinates, version = settings["coordinates"], self._solution.versions["dalembert"]
        method = f"{settings['formulation']['type']}, {integrator['type']}, {step}, {coordinates} coordinates"
        if settings.get("kinematics"):
            method = f"{settings.get('mode', 'kinematics')}, every pose closed by itself"
        return f"{method}; dalembert {version}"

    def _over_time(self, ax: Axes, title: str, unit: str) -> None:
        ax.set_title(title)
        ax.set_xlabel(self._solution.over)
        ax.set_ylabel(unit)

    def _energy(self, ax: Axes) -> None:
        energy, t, works = self._curve.energy, self._curve.t, bool(np.any(self._curve.energy.external_work))
        balance = "balance T + U − W" if works else "total T + U"
        drawn = {"kinetic T": energy.kinetic, "potential U": energy.potential}
        drawn |= {"external work W": energy.external_work} if works else {}
        drawn[balance] = energy.total
        since = energy.far
        for label, values in drawn.items():
            style: Any = {"color": DARK, "linestyle": "-", "linewidth": 1.1} if label == balance else {}
            ax.plot(t, values - since * values[0], label=label, **style)
        what = "change of energy since the start" if since else "energy"
        started = ", ".join(f"{label.split()[-1]}(0) = {told(values[0], 'J')}" for label, values in [*drawn.items()][:2])
        self._over_time(ax, f"{what}; {started}" if since else what, "change of energy [J]" if since else "energy [J]")

    def _energy_off(self, ax: Axes) -> None:
        """What is left of the balance [J], in the saved states."""
        energy = self._solution.energy
        ax.plot(self._solution.t, energy.total - energy.total[0])
        ax.yaxis.set_major_formatter("{x:g}")
        balance = "T + U − W" if np.any(energy.external_work) else "T + U"
        self._over_time(ax, f"how far the balance is off: change of {balance} since the start", "error [J]")

    def _energy_error(self, ax: Axes) -> None:
        energy, t = self._solution.energy, self._solution.t
        error = np.abs(energy.total - energy.total[0]) / energy.scale
        first = int(len(t) > 1)  # at t = 0 the error is zero by definition
        _logarithmic(ax, t[first:], error[first:])
        model = self._solution.mechanism.model
        if not isinstance(model, Model) or len(connected_parts(model)) == 1:  # each part is judged by its own energy
            self._limit(ax, "energy balance")
        title = f"how far the energy is off, of E_ref = {told(energy.scale, 'J')}"
        self._over_time(ax, title, "|E − E(0)| / E_ref [−]")

    def _limit(self, ax: Axes, check: str) -> None:
        """The limit of a check of the report, where it has one."""
        if limit := next((line.limit for line in checks(self._solution) if line.name == check), None):
            ax.axhline(float(limit), color=MUTED, linewidth=1.0, linestyle=(0, (1, 2)), label=f"limit of the report, {limit}")

    def _invariants(self, ax: Axes, which: Sequence[Monitored]) -> None:
        t, first = self._solution.t, int(len(self._solution.t) > 1)  # the first state is what the others are compared with
        for what in which or ("energy", *kept_invariants(self._solution)):
            made = self._solution.invariant(what)
            label = f"{made.name}, of {made.scale:.3g} {made.unit}".rstrip()
            _logarithmic(ax, t[first:], made.deviation[first:], label=label)
        self._over_time(ax, "change of what should stay constant", "|f − f(0)| / scale [−]")

    def _drift(self, ax: Axes, level: Literal["position", "velocity"]) -> None:
        drift = self._solution.drift
        names = list(dict.fromkeys(row.element for row in self._solution.mechanism.rows))
        values = {name: np.asarray(getattr(drift.by_joint(name), level)) for name in names}
        worst = sorted(names, key=lambda name: -float(values[name].max(initial=0.0)))[:_MAX_JOINTS]
        for name in names:
            if name in worst:
                _logarithmic(ax, self._solution.t, values[name], label=name)
        if len(names) > len(worst):
            rest = np.max([values[name] for name in names if name not in worst], axis=0)
            count = len(names) - len(worst)
            label = f"{count} other{'s' * (count > 1)}"
            _logarithmic(ax, self._solution.t, rest, label=label, color=MUTED, linestyle=":")
        self._limit(ax, f"{level} drift")
        title, unit = ("come apart", "m or rad") if level == "position" else ("slip", "m/s or rad/s")
        self._over_time(ax, f"how far the joints {title} ({level} drift)", f"residual [{unit}]")

    def _step_sizes(self, ax: Axes) -> None:
        t = self._solution.t
        ax.step(t, np.append(np.diff(t), np.nan), where="post")
        ax.set_yscale("log")
        self._over_time(ax, "step size", "step [s]")


def _logarithmic(ax: Axes, t: Array, values: Array, **line: Any) -> None:
    """The largest value in each of many short intervals."""
    t, largest = _envelope(t, values)
    ax.plot(t, np.maximum(largest, _SMALLEST), **line)
    ax.set_yscale("log")


def _envelope(t: Array, values: Array) -> tuple[Array, Array]:
    """Maxima over at most _BINS groups of neighbouring states."""
    if len(t) <= _BINS:
        return t, values
    starts = np.linspace(0, len(t), _BINS, endpoint=False).astype(int)
    return t[starts], np.maximum.reduceat(values, starts)
