"""The result of a run: states, what they imply, how they were obtained."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled, Series
from dalembert.compilation.phases import Phase, is_idle, rows_in_force
from dalembert.compilation.trajectory import Trajectory, apply, cross
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import FORMULATIONS, REFERENCE, Formulation
from dalembert.formulations.evaluation import Evaluated, evaluate
from dalembert.integrators.integrator import Integrator
from dalembert.model.model import Model
from dalembert.results.coupling_efforts import MEASURED, coupling_effort, driver_effort
from dalembert.results.dense import integrate_to, times_of
from dalembert.results.efforts import Effort, effort_of, without_rows
from dalembert.results.invariants import Invariant, Monitored, make_invariant, required_arguments
from dalembert.results.later import Later
from dalembert.results.momentum import Momentum, total_momentum
from dalembert.results.over import Over
from dalembert.results.pieces import (
    at_times,
    drift_in_pieces,
    effort_in_pieces,
    evaluated_in_pieces,
    multiplier_in_pieces,
    reaction_in_pieces,
)
from dalembert.results.quantities import Drift, Energy, MinimalCoordinates
from dalembert.results.reactions import Reaction, resultant
from dalembert.results.sensitivities import Sensitivities
from dalembert.results.versions import current_versions
from dalembert.run.ending import Ending
from dalembert.run.settings import from_data
from dalembert.run.statistics import Statistics

if TYPE_CHECKING:
    from pathlib import Path


Steps = tuple[Array, Array, dict[str, Array]]  # times, states of the mechanism, what is saved beside them by name


class Result(Over, Series):
    """States of a run with the compiled model, settings, statistics and status they belong to: what every solution has.

    t : (nt,) [s];  x : (nt, nx) states;  status : "complete", "event", "interrupted" or "failed", with a message
    path : the store that `load` read it from, else None;  source : the run that these states lie between or beside
    more : what the formulation saved beside the states, by name;  warnings : what happened in the run that a reader should know
    pieces : of a run in several, see `concatenate`, each a solution of its own;  kept : which of the states of each it has
    model, phase : the whole model, and what of it is not in force;  ending : where the run ended, with all that it remembers
    acted : of a piece that an event ended by its action, (name, t, change of energy)
    sensitivities : how the states depend on parameters, where that was asked for
    """

    def __init__(
        self,
        mechanism: Compiled,
        t: Array,
        x: Array,
        *,
        settings: dict[str, Any],
        statistics: Statistics | Callable[[], Statistics] | None = None,
        status: str = "complete",
        message: str = "",
        events: tuple[tuple[str, float], ...] = (),
        evaluated: Evaluated | None = None,
        versions: dict[str, str] | None = None,
        formulation: Formulation | None = None,
        integrator: Integrator | None = None,
        more: dict[str, Array] | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        super().__init__(mechanism, t, x)
        self.model: Any = mechanism.model
        self.warnings = warnings
        self.more = more or {}
        self.settings = settings
        self.statistics = statistics or Statistics()
        self.status = status
        self.message, self.events = message, events
        self.formulation, self.integrator = formulation, integrator
        self.versions = versions or current_versions()
        if evaluated is not None:
            self.__dict__["evaluated"] = evaluated

    elements: ClassVar[str] = "joint or driver"  # what has multipliers
    path: Path | None = None
    source: Any = None
    pieces: tuple[Any, ...] = ()
    kept: tuple[npt.NDArray[np.bool_], ...] = ()
    phase = Phase()
    acted: tuple[str, float, float] | None = None
    sensitivities: Sensitivities | None = None
    watched = Later[Steps | None]()  # steps that the report checks where other times are saved
    ending = Later[Ending | None]()
    statistics = Later[Statistics]()

    def settle(self) -> None:
        """Make what would be made when it is asked for."""
        for name in ("watched", "ending", "statistics"):
            getattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        return self.__dict__

    def needs_masses(self, what: str) -> None:
        """Refused where `kinematics` followed bodies without mass."""
        if names := self.settings.get("without_mass"):
            without = ", ".join(map(repr, names))
            raise ModelError(f"{what} need masses, and there are bodies without: {without}; give them to add_body")

    @property
    def unit_length_error(self) -> float | None:
        """Largest ||theta| - 1| of all bodies and times; None where there are no Euler parameters."""
        return None

    def __repr__(self) -> str:
        name = self.mechanism.model.name or "model"
        return f"<Solution of {name!r}: {self.reached(self.t)}, {self.status}>"

    def _is_idle(self, name: str) -> bool:
        """Whether a joint, driver or lock is not in force in this run: it has no reaction."""
        known = self.pieces or not isinstance(self.model, Model) or self.mechanism.rows_of(name)
        return not known and is_idle(self.model, self.phase, name)

    @property
    def begin_time(self) -> float:
        """When the run started [s]."""
        return float(self.settings.get("t_start", 0.0))

    @property
    def end_time(self) -> float:
        """When the run ended [s]: its last state may be saved before."""
        if self.pieces:
            return float(self.pieces[-1].end_time)
        return self.ending.t if self.ending is not None else float(self.t[-1])

    @property
    def end_state(self) -> Array:
        """(nx,) state at the end of the run."""
        if self.pieces:
            return np.asarray(self.pieces[-1].end_state)
        return self.ending.x if self.ending is not None else self.x[-1]

    @property
    def formulation_type(self) -> type[Formulation]:
        """The class of the formulation, of a stored run too; the bare protocol where it is not known any more."""
        name = self.settings["formulation"]["type"]
        return next((cls for cls in FORMULATIONS.values() if cls.__name__ == name), Formulation)

    @cached_property
    def steps(self) -> Any:
        """What the checks of the report run over: the saved states and, where times were chosen, accepted steps beside them.

        All steps of a run of up to about a thousand, else evenly chosen ones; a stored run has them where all forces are known.
        """
        if self.watched is None:
            return self
        t, x, more = self.watched
        order = np.argsort(times := np.concatenate([self.t, t[new := ~np.isin(t, self.t)]]))
        joined = {name: np.concatenate([values, more[name][new]])[order] for name, values in self.more.items()}
        record = {name: getattr(self, name) for name in ("settings", "statistics", "status", "formulation", "integrator")}
        return type(self)(self.mechanism, times[order], np.concatenate([self.x, x[new]])[order], more=joined, **record)

    @cached_property
    def evaluated(self) -> Evaluated:
        """Multipliers, accelerations, residuals and energies at every saved state, computed once on demand."""
        if self.pieces:
            return evaluated_in_pieces(self)
        if not self.formulation_type.compliant:
            return evaluate(REFERENCE().prepare(self.mechanism.as_told), self.t, self.x)
        if not self.more:
            raise ModelError("reactions of compliant joints belong to the steps; ask the solution, with save_at= the time")
        formulation: Formulation = self.formulation or from_data(self.settings["formulation"], FORMULATIONS)
        return formulation.evaluate(self.mechanism, self.t, self.x, self.more)

    def __call__(self, t: float | npt.ArrayLike) -> Any:
        """Dense output: the state at any time of the run, integrated from the nearest saved state before it.

        solution(0.3).position("slider"), .effort("spring"), .reaction("B"), .energy: all that the solution has, then or at an
        array of times.
        """
        times = times_of(t)
        if times.size and not (self.t[0] <= times.min() and times.max() <= self.t[-1]):
            raise SimulationError(f"the run covers {self.span(*self.t[[0, -1]])}; {times} is outside")
        made = at_times(self, times) if self.pieces else self._alone(times)
        if np.ndim(t) > 0:
            return made
        state = self.mechanism.state(float(times[0]), made.x[0])
        state.result = lambda: made
        return state

    def _alone(self, times: Array) -> Result:
        """A solution with states between those that were saved, of one piece."""
        record: dict[str, Any] = {"settings": self.settings, "formulation": self.formulation, "integrator": self.integrator}
        made = type(self)(self.mechanism, times, integrate_to(self, times), **record)
        made.model, made.phase, made.source = self.model, self.phase, self
        return made

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential, external work and their balance over time."""
        self.needs_masses("energies")
        values = self.evaluated.energy
        return Energy(values[:, 0], values[:, 1], self.x[:, self.mechanism.nq + self.mechanism.nu])

    @cached_property
    def drift(self) -> Drift:
        """Constraint residuals over time, redundant rows included at position level."""
        if self.pieces:
            return drift_in_pieces(self)
        g, g_dot = np.abs(self.evaluated.g), np.abs(self.evaluated.g_dot)
        by_element = {}
        for name in dict.fromkeys([*(row.element for row in self.mechanism.rows), *sorted(self.phase.free)]):
            at, moving = self.mechanism.position_rows(name), self.mechanism.velocity_rows(name)
            by_element[name] = (g[:, at].max(axis=1, initial=0.0), g_dot[:, moving].max(axis=1, initial=0.0))
        return Drift(g.max(axis=1, initial=0.0), g_dot.max(axis=1, initial=0.0), by_element)

    def multiplier(self, element: object) -> Array:
        """(nt, rows) multipliers of a joint or driver; zero for redundant rows, and where the element is not in force."""
        self.needs_masses("reactions and efforts")
        if self.pieces:
            return multiplier_in_pieces(self, element)
        return self._rows_of(element, self.evaluated.lam)

    @property
    def minimal(self) -> MinimalCoordinates:
        """Independent coordinates and velocities of a run with `Minimal`, and their basis."""
        if "basis" not in self.more:
            used, others = self.settings["formulation"]["type"], _saving("basis")
            if used in others:  # states beside those of a run
                raise ModelError("minimal coordinates have no derivatives: a run chooses its basis; ask for those of q and u")
            raise ModelError(f"this run has no minimal coordinates: it used {used}, not {' or '.join(others)}")
        return MinimalCoordinates(**{name: self.more[name] for name in ("s", "s_dot", "basis", "jump")})

    @property
    def impulses(self) -> Array:
        """(nt, m) impulses of all rows in the step to each saved state, of `Impulse` and `Soft`."""
        if "impulse" not in self.more:
            used, others = self.settings["formulation"]["type"], " or ".join(f"{name}()" for name in _saving("impulse"))
            raise ModelError(f"{used} has no impulses; simulate with formulation={others}, or use reaction()")
        return self.more["impulse"]

    def _rows_of(self, element: object, values: Array) -> Array:
        """The columns of a joint or driver in (nt, m) values; zero for redundant rows."""
        name = str(getattr(element, "name", element))
        rows = self.mechanism.rows_of(name)
        if self._is_idle(name):
            return np.zeros((len(self.t), rows_in_force(self.model, name)))
        if not rows:
            raise ModelError(without_rows(self.mechanism, self.elements, name))
        padded = np.pad(values, ((0, 0), (0, 1)))
        return np.asarray(padded[:, [min(k, self.mechanism.m) for k in rows]])

    def invariant(self, what: Monitored, *, name: str | None = None, scale: float | None = None) -> Invariant:
        """A quantity that should stay constant: .values, .deviation (nt,) relative to .scale; see invariants.py.

        what : a name ("energy", ...), a function of the solution, or one of the states as `Jet(invariants=...)` takes it
        scale : what a change is compared with, default for a function its largest value
        """
        return make_invariant(self, what, name, scale)

    def named_invariants(self) -> dict[str, Callable[[str], Invariant]]:
        """Invariants that have a name, made on demand."""
        return {"energy": lambda name: Invariant(name, self.energy.total, self.energy.scale, "J")}

    @abstractmethod
    def values_of(self, function: Callable[..., Any]) -> Array:
        """(nt,) or (nt, n) values of a user's function of the solution or of its states."""

    @abstractmethod
    def kept_values(self, function: Callable[..., Any]) -> Array:
        """(nt,) values of a function f(t, q, u) that the formulation kept."""

    @property
    def citations(self) -> tuple[str, ...]:
        """Keys of what a publication with this run should cite."""
        return tuple(self.settings.get("citations", ()))


class BodyResult(Result, Trajectory):
    """A run of a mechanism of bodies, with its named outputs over time."""

    def acceleration(self, body: object, point: npt.ArrayLike | None = None) -> Array:
        """(nt, 3) acceleration of the centre of mass, of a point given in body axes [m], or of a marker, world axes [m/s^2]."""
        if (marker := self._marker(body)) is not None:
            body, point = marker.body, marker.point
        b = self._body(body)
        if b == 0:
            return np.zeros((len(self.t), 3))
        a = self.evaluated.acceleration[:, 6 * (b - 1) : 6 * b - 3]
        if point is None:
            return a
        w, arm = self.angular_velocity(body), self._arm(body, point)
        return a + cross(self.angular_acceleration(body), arm) + cross(w, cross(w, arm))

    def angular_acceleration(self, body: object, frame: str = "world") -> Array:
        """(nt, 3) angular acceleration in "world" or "body" axes [rad/s^2]."""
        if frame not in ("world", "body"):
            raise ModelError(f"frame is {frame!r}; give 'world' or 'body'")
        b = self._body(body)
        if b == 0:
            return np.zeros((len(self.t), 3))
        dw_B = self.evaluated.acceleration[:, 6 * b - 3 : 6 * b]
        return dw_B if frame == "body" else apply(self.rotation(body), dw_B)

    def effort(self, element: object) -> Effort:
        """What a force element or driver does: .force, .torque (nt, 3) on its second body at .point, .on["crank"] of any body,
        .value along its .coordinate with its .rate, .power and stored .energy; see `Effort`. Of a coupling, gear, cable or cam
        too.
        """
        name = str(getattr(element, "name", element))
        if self.pieces:
            return effort_in_pieces(self, name)
        for joint in self.model.joints:
            if joint.name == name and joint.type in MEASURED:
                return coupling_effort(self, joint, None if self._is_idle(name) else self.multiplier(name))
        driver = next((driver for driver in self.model.drivers if driver.name == name), None)
        return effort_of(self, element) if driver is None else driver_effort(self, driver, self.reaction(name))

    @cached_property
    def momentum(self) -> Momentum:
        """.linear, .angular (nt, 3) of all bodies together, world axes, about the origin or .about(point)."""
        self.needs_masses("momenta")
        return total_momentum(self)

    def named_invariants(self) -> dict[str, Callable[[str], Invariant]]:
        names = (f"{kind} momentum{axis}" for kind in ("linear", "angular") for axis in ("", " x", " y", " z"))
        return super().named_invariants() | {name: lambda name: self.momentum.invariant(name) for name in names}

    def values_of(self, function: Callable[..., Any]) -> Array:
        return self.kept_values(function) if len(required_arguments(function)) == 3 else np.asarray(function(self), dtype=float)

    def kept_values(self, function: Callable[..., Any]) -> Array:
        rows = zip(self.t, self.q, self.u, strict=True)
        return np.array([function(float(t), q, u) for t, q, u in rows], dtype=float)

    @property
    def unit_length_error(self) -> float:
        lengths = [np.linalg.norm(self.q[:, k : k + 4], axis=1) for k in self.mechanism.quaternion_columns]
        return float(np.max(np.abs(np.array(lengths) - 1.0), initial=0.0))

    def reaction(self, element: object, body: object = None) -> Reaction:
        """What a joint or driver does to its second body: .force, .torque (nt, 3), world axes, acting at .point (nt, 3).

        body : another of the bodies that it acts on

        It follows from the saved states; of `Soft` joints it is the compliant force of the step to the state. In planar
        coordinates it comes from the same states in absolute ones, with what acts across the plane.
        """
        name = str(getattr(element, "name", element))
        if self._is_idle(name):
            zero = np.zeros((len(self.t), 3))
            return Reaction(zero, zero, True, np.full_like(zero, np.nan))
        if self.pieces and any(piece.mechanism.rows_of(name) for piece in self.pieces):
            return reaction_in_pieces(self, name, body)
        if self._spatial is not None and name in self._spatial.drift._by_element:
            return self._spatial.reaction(name, body)
        return resultant(self, name, self.multiplier(name), None if body is None else str(getattr(body, "name", body)))

    @cached_property
    def _spatial(self) -> BodyResult | None:
        if self.mechanism.plane is None or self.formulation_type.compliant:
            return None
        from dalembert.results.spatial import spatial_twin

        return spatial_twin(self)

    def impulse(self, element: object) -> Reaction:
        """Impulses [N s, N m s] of the step to each saved state, of `Impulse` and `Soft`; see `mean_reaction`.

        Zero at the start; at times between two steps interpolated.
        """
        return resultant(self, str(getattr(element, "name", element)), self._rows_of(element, self.impulses))

    def mean_reaction(self, element: object) -> Reaction:
        """`impulse` divided by the step: the mean reaction over it, that of its middle to second order; NaN at the start."""
        impulse, h = self.impulse(element), np.where(self.more["step"] > 0, self.more["step"], np.nan)[:, None]
        return replace(impulse, force=impulse.force / h, torque=impulse.torque / h)


def _saving(what: str) -> list[str]:
    """Names of the formulations that save something beside the states."""
    return [cls.__name__ for cls in FORMULATIONS.values() if what in cls.saves]
