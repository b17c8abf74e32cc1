"""The result of a run: states, what they imply, how they were obtained."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import Formulation
from dalembert.formulations.jet import Jet
from dalembert.integrators.integrator import Integrator
from dalembert.kernels import tables as T
from dalembert.mechanism import Mechanism
from dalembert.model.elements import Primitive
from dalembert.pack import motion_values, reference_length
from dalembert.trajectory import State, Trajectory, nearest

if TYPE_CHECKING:
    import xarray

    from dalembert.plot import Plots
    from dalembert.report import Report

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """What a run cost: counters as [JetMultibody] tabulates them, and wall time by part [s].

    basis_restarts : how often Minimal could not continue its basis and found it afresh
    stage_* : how implicit stages were solved, "functional iteration", "Newton" or both; empty for explicit methods
    """

    accepted: int = 0
    rejected: int = 0
    refused: int = 0
    rate_evaluations: int = 0
    projections: int = 0
    newton_average: float = 0.0
    newton_maximum: int = 0
    factorisations: int = 0
    first_differentials: int = 0
    second_differentials: int = 0
    invariant_gradients: int = 0
    conjugate_gradient_steps: int = 0
    dependent_rows: int = 0
    smallest_step: float = 0.0
    largest_step: float = 0.0
    stage_solver: str = ""
    stage_iterations_average: float = 0.0
    stage_iterations_maximum: int = 0
    stage_newton_steps: int = 0
    stage_jacobians: int = 0
    basis_restarts: int = 0
    time: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Energy:
    """(nt,) each [J]; total = kinetic + potential - external_work stays constant."""

    kinetic: Array
    potential: Array
    external_work: Array

    @property
    def total(self) -> Array:
        return self.kinetic + self.potential - self.external_work

    @property
    def scale(self) -> float:
        """What an energy error is compared with: the largest kinetic energy or change of potential energy in the run.

        At rest both vanish; the floor then keeps rounding of T, U and the work from looking like an error.
        """
        swing = float(np.ptp(self.potential)) if len(self.potential) else 0.0
        largest = max(float(np.max(np.abs(e), initial=0.0)) for e in (self.potential, self.external_work))
        return max(float(np.max(self.kinetic, initial=0.0)), swing, 1e-5 * largest, 1e-14)


@dataclass(frozen=True, eq=False)
class Reaction:
    """Force and torque of a joint or driver on its second body, world axes, at the joint point of that body.

    unique : False when redundant constraints leave it undetermined; the value is then one of many that give the motion
    """

    force: Array
    torque: Array
    unique: bool


@dataclass(frozen=True, eq=False)
class Drift:
    """Largest constraint residual over time: position [m or 1], velocity [m/s or 1/s]."""

    position: Array
    velocity: Array
    _by_element: dict[str, tuple[Array, Array]]

    def by_joint(self, name: object) -> Drift:
        """The same for one joint or driver."""
        key = str(getattr(name, "name", name))
        if key not in self._by_element:
            raise ModelError(f"there is no joint or driver {key!r}{nearest(key, self._by_element)}")
        return Drift(*self._by_element[key], self._by_element)

    @property
    def worst_joint(self) -> str | None:
        """The joint or driver with the largest position residual."""
        return max(self._by_element, key=lambda k: self._by_element[k][0].max(initial=0.0), default=None)


@dataclass(frozen=True, eq=False)
class Evaluated:
    """lam (nt, m), accelerations (nt, 6 nb), g (nt, m_all), g_dot (nt, m), energy (nt, 2) at the saved states."""

    lam: Array
    acceleration: Array
    g: Array
    g_dot: Array
    energy: Array


@dataclass(frozen=True, eq=False)
class MinimalCoordinates:
    """Independent coordinates s (nt, f), integrals of the velocities s_dot (nt, f), and the basis (nt, nu, f) of the latter.

    u = basis s_dot, up to what prescribed motions ask for; basis^T W basis = 1 with W Euclidean in (r', theta')
    jump : (nt,) largest change of an s_dot within one step so far: small with continuation, whatever it was saved at
    """

    s: Array
    s_dot: Array
    basis: Array
    jump: Array


class Solution(Trajectory):
    """States of a run with the mechanism, settings, statistics and status they belong to.

    t : (nt,) [s];  x : (nt, nx) states;  status : "complete", "event", "interrupted" or "failed", with a message
    more : what the formulation saved beside the states, by name;  warnings : what happened in the run that a reader should know
    """

    def __init__(
        self,
        mechanism: Mechanism,
        t: Array,
        x: Array,
        *,
        settings: dict[str, Any],
        statistics: Statistics | None = None,
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
        self.warnings = warnings
        self.more = more or {}
        self.settings = settings
        self.statistics = statistics or Statistics()
        self.status = status
        self.message = message
        self.events = events
        self.formulation = formulation
        self.integrator = integrator
        self.versions = versions or current_versions()
        if evaluated is not None:
            self.__dict__["evaluated"] = evaluated

    def __repr__(self) -> str:
        name = self.mechanism.model.name or "model"
        reached = f" to t = {self.t[-1]:.6g} s" if len(self.t) else ""
        return f"<Solution of {name!r}: {len(self.t)} states{reached}, {self.status}>"

    @cached_property
    def evaluated(self) -> Evaluated:
        """Multipliers, accelerations, residuals and energies at every saved state, computed once on demand."""
        return evaluate(self.mechanism, self.t, self.x)

    def __call__(self, t: float | npt.ArrayLike) -> State | Trajectory:
        """Dense output: the state at any time of the run, integrated from the nearest saved state before it."""
        from dalembert.simulation import integrate_to

        times = np.atleast_1d(np.asarray(t, dtype=float))
        if times.size and not (self.t[0] <= times.min() and times.max() <= self.t[-1]):
            raise SimulationError(f"the run covers t = {self.t[0]:g} to {self.t[-1]:g} s; {times} is outside")
        x = integrate_to(self, times)
        return State(self.mechanism, float(times[0]), x[0]) if np.ndim(t) == 0 else Trajectory(self.mechanism, times, x)

    def acceleration(self, body: object) -> Array:
        """(nt, 3) acceleration of the centre of mass [m/s^2]."""
        b = self._body(body)
        return self.evaluated.acceleration[:, 6 * (b - 1) : 6 * b - 3] if b else np.zeros((len(self.t), 3))

    @cached_property
    def energy(self) -> Energy:
        """Kinetic, potential, external work and their balance over time."""
        values = self.evaluated.energy
        return Energy(values[:, 0], values[:, 1], self.x[:, self.mechanism.nq + self.mechanism.nu])

    @cached_property
    def drift(self) -> Drift:
        """Constraint residuals over time, redundant rows included at position level."""
        g, g_dot = np.abs(self.evaluated.g), np.abs(self.evaluated.g_dot)
        by_element = {}
        for name in dict.fromkeys(row.element for row in self.mechanism.rows):
            rows = self.mechanism.rows_of(name)
            kept = [k for k in rows if k < self.mechanism.m]
            by_element[name] = (g[:, rows].max(axis=1), g_dot[:, kept].max(axis=1, initial=0.0))
        return Drift(g.max(axis=1, initial=0.0), g_dot.max(axis=1, initial=0.0), by_element)

    @property
    def minimal(self) -> MinimalCoordinates:
        """Independent coordinates and velocities of a run with `Minimal`, and their basis."""
        if "basis" not in self.more:
            raise ModelError(
                f"this run has no minimal coordinates: it used {self.settings['formulation']['type']}, not Minimal"
            )
        return MinimalCoordinates(**{name: self.more[name] for name in ("s", "s_dot", "basis", "jump")})

    @property
    def unit_length_error(self) -> float:
        """Largest ||theta| - 1| of all bodies and times."""
        worst = 0.0
        for b in range(1, self.mechanism.nb + 1):
            kind, q, _ = self._columns(b)
            if kind == T.RIGID:
                length = np.linalg.norm(self.q[:, q + 3 : q + 7], axis=1)
                worst = float(np.max(np.abs(length - 1.0), initial=worst))
        return worst

    def multiplier(self, element: object) -> Array:
        """(nt, rows) multipliers of a joint or driver; zero for redundant rows."""
        name = str(getattr(element, "name", element))
        rows = self.mechanism.rows_of(name)
        if not rows:
            known = dict.fromkeys(row.element for row in self.mechanism.rows)
            raise ModelError(f"there is no joint or driver {name!r}{nearest(name, known)}")
        padded = np.pad(self.evaluated.lam, ((0, 0), (0, 1)))
        return np.asarray(padded[:, [min(k, self.mechanism.m) for k in rows]])

    def reaction(self, element: object) -> Reaction:
        """What a joint or driver does to its second body: .force, .torque (nt, 3), world axes, at the joint point."""
        name = str(getattr(element, "name", element))
        lam = self.multiplier(name)
        force, torque = np.zeros((len(self.t), 3)), np.zeros((len(self.t), 3))
        first, second, primitives = self._element(name)
        at = 0
        for primitive in primitives:
            rows = lam[:, at : at + len(primitive.labels)]
            at += len(primitive.labels)
            if primitive.kind == "C":
                force += rows
            elif primitive.kind in ("O", "D"):
                force += rows * self._direction(primitive, first, second)
            else:
                d_i, d_j = self._direction(primitive, first, second), self.rotation(second) @ primitive.a_j
                torque += rows * np.cross(d_j, d_i)
        return Reaction(force, torque, name not in self.mechanism.not_unique)

    def _element(self, name: str) -> tuple[str, str, tuple[Primitive, ...]]:
        if name in self._joints:
            joint = self._joints[name]
            return joint.first, joint.second, joint.primitives
        driver = next(d for d in self.mechanism.model.drivers if d.name == name)
        return driver.first, driver.second, (driver.primitive,)

    def _direction(self, primitive: Primitive, first: str, second: str) -> Array:
        """World direction that a row's multiplier acts along (forces) or turns against (torques)."""
        if primitive.kind == "D":
            e = self.point(second, primitive.p_j) - self.point(first, primitive.p_i)
            return e / reference_length(primitive)
        if primitive.kind == "A":
            angle = primitive.offset + motion_values(primitive.motion, self.t)
            side = np.cross(primitive.n_i, primitive.a_i)
            a = -np.sin(angle)[:, None] * primitive.a_i + np.cos(angle)[:, None] * side
            return np.asarray(np.einsum("tij,tj->ti", self.rotation(first), a))
        return self.rotation(first) @ primitive.a_i

    def report(self) -> Report:
        """The trust report: prints as a table, `.to_dict()` for programs, `.passed`."""
        from dalembert.report import make_report

        return make_report(self)

    @property
    def plot(self) -> Plots:
        """Plots by name: solution.plot.energy(), .drift(), ..."""
        from dalembert.plot import Plots

        return Plots(self)

    @property
    def citations(self) -> tuple[str, ...]:
        """Keys of what a publication with this run should cite."""
        return tuple(self.settings.get("citations", ()))

    def to_xarray(self) -> xarray.Dataset:
        """All named outputs as an xarray Dataset with named dimensions and units."""
        from dalembert.io.dataset import to_dataset

        return to_dataset(self)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """A self-describing zarr store, written whole or not at all; `dalembert.load` reads it back bit for bit."""
        from dalembert.io.results import save

        save(self, path, overwrite=overwrite)

    def export(self, path: str | os.PathLike[str]) -> None:
        """netCDF (.nc), Parquet (.parquet) or CSV (.csv) by the path's suffix."""
        from dalembert.io.export import export_dataset

        export_dataset(self.to_xarray(), path)


def evaluate(mechanism: Mechanism, t: Array, x: Array) -> Evaluated:
    """Outputs of the equations of motion at given states."""
    from dalembert.integrators.loops import compiled_outputs

    run = Jet().prepare(mechanism)
    nt = len(t)
    m_all = int(mechanism.I[T.M_ALL])
    out = Evaluated(
        np.full((nt, mechanism.m), np.nan),
        np.full((nt, 6 * mechanism.nb), np.nan),
        np.full((nt, m_all), np.nan),
        np.full((nt, mechanism.m), np.nan),
        np.full((nt, 2), np.nan),
    )
    status = compiled_outputs()(
        run.system, run.forces, run.callbacks.compiled, np.ascontiguousarray(t), np.ascontiguousarray(x),
        np.zeros(x.shape[1]), out.lam, out.acceleration, out.g, out.g_dot, out.energy, run.I, run.F, run.W,
    )  # fmt: skip
    if run.callbacks.error is not None:
        name, problem = run.callbacks.error
        raise SimulationError(f"user function {name!r} raised {problem!r}") from problem
    if status not in (T.OK, T.NON_FINITE):
        raise SimulationError("the saved states could not be evaluated")
    return out


def current_versions() -> dict[str, str]:
    """Versions that a result depends on."""
    import platform
    from importlib.metadata import version

    from dalembert import __version__

    packages = {name: version(name) for name in ("numpy", "scipy", "numba")}
    return {"dalembert": __version__, "python": platform.python_version(), **packages}
