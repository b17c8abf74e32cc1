"""Figures of a run of a Lagrangian system: its coordinates over time where bodies have paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.errors import ModelError
from dalembert.plot import Plots
from dalembert.results.signals import Signal

if TYPE_CHECKING:
    from dalembert.results.lagrangian import LagrangianResult


class CoordinatePlots(Plots):
    """Figures by name; see `Plots`."""

    _solution: LagrangianResult

    def coordinates(self, names: Sequence[str] = (), *, ax: Axes | None = None) -> Figure:
        """Coordinates over time, all or those named ("x", "x'")."""
        return self._single(lambda axes: self._coordinates(axes, names), ax)

    def _coordinates(self, ax: Axes, names: Sequence[str] = ()) -> None:
        for name in names or self._solution.mechanism.model.coordinates:
            ax.plot(self._curve.t, self._curve[name], label=name)
        self._over_time(ax, "coordinates", "as in the Lagrangian")

    def _signal(self, motion: Any, name: object, degrees: bool) -> Signal:
        if degrees:
            mend = f"draw numpy.degrees(solution[{str(name)!r}]) yourself"
            raise ModelError(f"degrees: which coordinates of a Lagrangian system are angles is not known; {mend}")
        return super()._signal(motion, name, degrees)

    def _motion(self, figure: Figure, place: tuple[int, int, int]) -> None:
        self._coordinates(figure.add_subplot(*place))

    def trajectories(self, *names: object, ax: Axes | None = None) -> Figure:
        """Coordinates over time, all or those named."""
        return self.coordinates([str(name) for name in names], ax=ax)

    def reactions(self, joint: object, *more: object, quantity: Any = "force", ax: Axes | None = None) -> Figure:
        """Generalised forces of a constraint, one line per coordinate."""
        if more:
            raise ModelError("plot.reactions takes one constraint; draw a figure of each")
        return self._single(lambda axes: self._generalised(axes, joint), ax)

    def _generalised(self, ax: Axes, constraint: object) -> None:
        values = self._curve.reaction(constraint)
        for k, name in enumerate(self._solution.mechanism.model.coordinates):
            ax.plot(self._curve.t, values[:, k], label=name)
        self._over_time(ax, f"generalised reaction of {constraint!r}", "as in the Lagrangian")
