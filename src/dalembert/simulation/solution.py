"""Solutions as users hold them: results of a run with ways out of it, to reports, plots, files and the viewer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError, SimulationError, StoreError, warn
from dalembert.formulations.run import Run
from dalembert.results.invariants import Monitored
from dalembert.results.lagrangian import LagrangianResult
from dalembert.results.report import Report, make_report
from dalembert.results.report.pieces import report_in_pieces
from dalembert.results.signals import signal
from dalembert.results.solution import BodyResult, Result
from dalembert.run.conditioning import crossed
from dalembert.run.progress import ProgressFunction
from dalembert.run.statistics import pivots_of

if TYPE_CHECKING:
    import xarray

    from dalembert.plot import Plots
    from dalembert.plot.coordinates import CoordinatePlots
    from dalembert.viewer.view import View


class AnySolution(Result, ABC):
    """What solutions of every kind of model can do.

    beside : the run to which these are near states, for its derivatives, see `like`;  peaks : more of them, at its peaks
    """

    beside: AnySolution | None = None
    peaks: AnySolution | None = None

    def signal(self, name: object) -> Array:
        """(nt,) values of a signal by its name: "A", "A.rate", "A.f", "motor", "motor.power", "tip.x", "crank.angle", ...; a
        wrong one is answered by others. At the times `t`; extremes lie between them: `da.largest(solution, "A.f")`."""
        run: Any = self
        return signal(run, name).values

    def report(self, *, invariants: Monitored | Sequence[Monitored] = (), verbose: bool = False) -> Report:
        """The trust report: prints the verdict, the checks and what to do; `.to_dict()` for programs, `.passed`.

        invariants : what should have stayed constant, one line each, see `invariant`
        verbose : print settings, versions and counters, too
        """
        if self.pieces:
            return report_in_pieces(self, lambda piece: make_report(piece, invariants, verbose=verbose))
        return make_report(self, invariants, verbose=verbose)

    def derivative(self, output: object, parameter: str) -> Array:
        """(nt, ...) derivative of an output by a parameter, at fixed times, of a run with `sensitivities`.

        output : a signal by name ("slider.x", "A", "B.fx", "total_energy", ...), or a function of a solution that returns one
            value, or several, for each time: lambda s: s.effort("spring").value
        """
        if self.sensitivities is None:
            raise ModelError("the run has no sensitivities; simulate(build, t_end, parameters=..., sensitivities=[names])")
        function = output if callable(output) else lambda solution: signal(solution, output).values
        return self.sensitivities.derivative(self, function, parameter)

    def derivatives(self) -> xarray.Dataset:
        """All outputs of `to_xarray` over time but drifts and minimal coordinates, differentiated, with a further dimension
        `parameter`."""
        import xarray

        if self.sensitivities is None:
            raise ModelError("the run has no sensitivities; simulate(build, t_end, parameters=..., sensitivities=[names])")
        own, parameters = self.like(self.mechanism, self.x).to_xarray(), list(self.sensitivities.names)
        over = {str(name): v for name, v in own.data_vars.items() if v.dims[:1] == ("time",) and v.dtype.kind == "f"}
        names = [name for name in over if not name.endswith("drift")]  # is rounding, which has no derivative
        ends = np.cumsum([own[name][0].size for name in names])

        def everything(solution: AnySolution) -> Array:
            found = solution.to_xarray()
            return np.concatenate([found[name].values.reshape(len(self.t), -1) for name in names], axis=1)

        columns = np.stack([self.derivative(everything, parameter) for parameter in parameters], axis=-1)
        parts = {
            name: ((*own[name].dims, "parameter"), part.reshape(*own[name].shape, len(parameters)))
            for name, part in zip(names, np.split(columns, ends[:-1], axis=1), strict=True)
        }
        kept = {name: c for name, c in own.coords.items() if set(c.dims) <= {d for name in names for d in own[name].dims}}
        return xarray.Dataset(parts, {**kept, "parameter": parameters})

    def like(self, mechanism: Compiled, x: Array, t: Array | None = None) -> Any:
        """Other states, of a model with other numbers, at the times of this run or at others, as its result."""
        record = {name: getattr(self, name) for name in ("settings", "statistics", "status", "formulation", "integrator")}
        made = type(self)(mechanism, self.t if t is None else t, x, **record)
        made.beside = made.source = self.beside or self
        return made

    def _repr_html_(self) -> str:
        """For a notebook: the verdict of the report, and small curves."""
        from dalembert.viewer.notebook import solution_html

        return solution_html(self, self.report())

    @property
    def plot(self) -> Plots:
        """Plots by name: solution.plot.energy(), .drift(), ..."""
        from dalembert.plot import Plots

        return Plots(self)

    @abstractmethod
    def to_xarray(self) -> xarray.Dataset:
        """All named outputs as an xarray Dataset with named dimensions and units."""

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """A self-describing zarr store, written whole or not at all; `dalembert.load` reads it back bit for bit."""
        from dalembert.io.results import save

        if self.pieces:
            raise StoreError(
                f"{path}: the run is in {len(self.pieces)} pieces with equations of their own; save each of solution.pieces,"
                " load them, and put them together again by concatenate"
            )
        save(self, path, overwrite=overwrite)

    def export(self, path: str | os.PathLike[str], *names: object, degrees: bool = False) -> None:
        """netCDF (.nc), Parquet (.parquet) or CSV (.csv) by the path's suffix, in SI units.

        names : signals, "motor", "C.f", ("travel [m]", function), to write these alone; default: all named outputs, in tables
            by the names of signals, in .csv of a model in a plane those that say something there, see `signal_table` and
            `plane_table`
        degrees : of tables: angles and their rates in columns "A [deg]", "A.rate [deg/s]" instead of A and A.rate
        """
        from dalembert.io.dataset import signal_dataset
        from dalembert.io.export import PICTURES, export_dataset
        from dalembert.io.signal_table import in_degrees, signal_table

        if not len(self.t):
            raise SimulationError(f"the solution holds no states; there is nothing to export to {path}")
        suffix = Path(path).suffix.lower()
        if hasattr(self, other := PICTURES.get(suffix, "")):
            raise StoreError(f"{path}: a {suffix} is no table; solution.{other}({Path(path).name!r}) writes it")
        run: Any = self
        dataset = signal_dataset(run, names) if names else self.to_xarray()
        if not names and suffix in (".csv", ".parquet"):
            dataset = signal_table(dataset, run.mechanism.model, whole=suffix == ".parquet")
        if degrees:
            if suffix == ".nc" and not names:
                raise StoreError(f"{path}: degrees are for tables, .csv and .parquet, and for signals by name; leave it out")
            dataset = in_degrees(dataset, run.mechanism.model)
        export_dataset(dataset, path)


class Solution(AnySolution, BodyResult):
    """A run of a mechanism of bodies, with its named outputs over time."""

    _meant: ClassVar = {
        "power": 'solution.effort("motor").power has it',
        **dict.fromkeys(("time", "times"), "solution.t has the times"),
        **dict.fromkeys(
            ("angle", "angles"),
            'solution.coordinate("A") has the angle of a joint, coordinate_rate its rate; solution.signal("crank.angle") has'
            " that of a body of a model in a plane",
        ),
        **dict.fromkeys(
            ("torque", "force", "forces"), 'see solution.effort("motor").value, solution.reaction("A").force, .torque'
        ),
        **dict.fromkeys(("max", "peak", "largest"), 'da.largest(solution, "A.f") is the largest value of a signal in the run'),
        **dict.fromkeys(("min", "smallest"), 'da.smallest(solution, "A.f") is the smallest value of a signal in the run'),
        **dict.fromkeys(
            ("mean", "average", "rms", "work"),
            'da.integral(solution, "motor.power") is the work, an integral over np.ptp(solution.t) the mean of a signal',
        ),
        **dict.fromkeys(("animate", "animation", "save_animation"), 'solution.export_animation("run.gif") writes one'),
        **dict.fromkeys(("save_html", "to_html"), 'solution.export_html("run.html") writes it'),
        **dict.fromkeys(
            ("to_pandas", "to_dataframe", "to_csv"), 'solution.export("run.csv") writes a table, to_xarray() has all'
        ),
        "state": "solution(0.3) is the state then",
        "coordinate_acceleration": 'accelerations are those of bodies: solution.acceleration("link"), angular_acceleration',
        "summary": "print(solution.report())",
    }

    if not TYPE_CHECKING:

        def __getitem__(self, name: object) -> Any:
            raise TypeError(
                'a Solution has no items; solution.signal("A.f") has values by name, solution(0.3) is the state then'
            )

    def to_xarray(self) -> xarray.Dataset:
        """All named outputs as an xarray Dataset with named dimensions and units."""
        from dalembert.io.dataset import to_dataset

        return to_dataset(self)

    def view(self, *, compare: Solution | None = None) -> View:
        """Show the run in the browser, or in place in a notebook; `compare` is another run, shown as a ghost."""
        from dalembert.viewer.view import view

        return view(self, compare)

    def export_html(self, path: str | os.PathLike[str], *, compare: Solution | None = None) -> None:
        """The viewer with this run in it as one HTML file that works offline."""
        from dalembert.viewer.page import export_page

        export_page([self] if compare is None else [self, compare], path)

    def export_animation(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float = 25.0,
        speed: float | None = None,
        size: tuple[int, int] = (800, 600),
        camera: str | npt.ArrayLike | None = None,
        progress: bool | ProgressFunction | None = None,
    ) -> None:
        """The motion as a GIF (.gif), or as a video (.mp4) with imageio-ffmpeg; needs neither screen nor browser.

        fps : pictures per second;  speed : seconds of motion per second of animation, default: real time, slow motion of
            about ten seconds for a run below one second
        size : pixels;  camera : "front", "back", "left", "right", "top", "bottom", "iso", or (x, y, z) from the mechanism to
            the camera; default: well chosen
        progress : True, False, a function of (pictures, all pictures), None = a bar on a terminal after one second
        """
        from dalembert.viewer.animation import export_animation

        export_animation(self, path, fps=fps, speed=speed, size=size, camera=camera, progress=progress)

    def export_picture(
        self,
        path: str | os.PathLike[str],
        *,
        t: float | None = None,
        size: tuple[int, int] = (800, 600),
        camera: str | npt.ArrayLike | None = None,
    ) -> None:
        """The mechanism at one instant with the trails that lead there, as a picture (.png); needs neither screen nor browser.

        t : default: the start of the run, with the paths that lie ahead [s]
        size : pixels;  camera : "front", "back", "left", "right", "top", "bottom", "iso", or (x, y, z) from the mechanism to
            the camera; default: well chosen
        """
        from dalembert.viewer.animation import export_picture

        export_picture(self, path, t=t, size=size, camera=camera)


class LagrangianSolution(AnySolution, LagrangianResult):
    """A run of a Lagrangian system: solution["x"], solution["x'"], solution["x''"], energy, drift, reactions by constraint."""

    @property
    def plot(self) -> CoordinatePlots:
        """Plots by name: solution.plot.coordinates(), .energy(), .drift(), ..."""
        from dalembert.plot.coordinates import CoordinatePlots

        return CoordinatePlots(self)

    def to_xarray(self) -> xarray.Dataset:
        """Coordinates, velocities, accelerations, multipliers, energy and drift with named dimensions."""
        from dalembert.io.dataset import system_dataset

        return system_dataset(self)


def solution_of(mechanism: Compiled, t: Array, x: Array, **record: Any) -> Solution | LagrangianSolution:
    """States of a run with what belongs to them."""
    return (Solution if isinstance(mechanism, Mechanism) else LagrangianSolution)(mechanism, t, x, **record)


def joined_solution(
    mechanism: Compiled,
    t: Array,
    x: Array,
    *,
    pieces: tuple[AnySolution, ...],
    kept: tuple[npt.NDArray[np.bool_], ...],
    **record: Any,
) -> Solution | LagrangianSolution:
    """Pieces of a run as one solution."""
    made = solution_of(mechanism, t, x, **record)
    made.pieces, made.kept, made.model = pieces, kept, pieces[0].model
    return made


def note_what_happened(run: Run, x: Array, solution: Solution | LagrangianSolution) -> None:
    """A solution takes what its run met; x : where the run ended."""
    formulation, integrator = solution.formulation, solution.integrator
    assert formulation is not None and integrator is not None
    passes = getattr(formulation, "singular", "stop") == "pass"  # and says so itself
    if passes:
        solution.settle()  # before the run is asked again
    texts = () if passes else crossed(run, pivots_of(run), integrator, solution)
    if texts:
        solution.statistics = replace(solution.statistics, branch_points=len(texts))
    solution.warnings = (*formulation.warnings(run, x, solution), *texts)
    for text in solution.warnings:
        warn(text)
