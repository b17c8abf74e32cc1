"""Many runs of one model, from many starts or with many parameters, on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled, Coordinates
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import OUTPUTS
from dalembert.errors import ModelError, warn
from dalembert.formulations import REFERENCE, Formulation
from dalembert.formulations.base import check_pair, default_formulation
from dalembert.formulations.evaluation import Evaluated
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.integrators.explicit_rk import DOP853
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import COUNTERS, V_GUARD
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import by_name
from dalembert.results.versions import current_versions
from dalembert.run.ensemble_work import Work
from dalembert.run.failure import failure_of
from dalembert.run.progress import Progress, ProgressFunction
from dalembert.run.statistics import Statistics, statistics_of
from dalembert.simulation.ensemble_variants import FromStarts, RunGroup, full_states, groups_of, variants
from dalembert.simulation.parameters import check_names, table_of
from dalembert.simulation.simulate import describe, duration, save_times
from dalembert.simulation.solution import note_what_happened, solution_of
from dalembert.simulation.start import as_compiled, refuse_vanishing_lengths

if TYPE_CHECKING:
    import xarray

EVALUATED = (
    "acceleration", "angular_acceleration", "reaction", "effort",
    "multiplier", "impulse", "mean_reaction", "conjugate_momentum", "signal",
)  # fmt: skip
QUANTITIES, _FIGURES = ("energy", "drift"), ", with .plot; simulate_many(..., out=...) gives a Sweep, with .plot of all runs"
_FITS = 1e-6  # initial states that are moved by more than this deserve a word


@by_name
def simulate_many(
    model: Model | LagrangianSystem | Compiled | Callable[..., Model],
    t_end: float,
    *,
    initial_states: npt.ArrayLike | None = None,
    parameters: Mapping[str, npt.ArrayLike] | xarray.Dataset | None = None,
    formulation: Formulation | None = None,
    integrator: Integrator | None = None,
    coordinates: Coordinates | None = None,
    save_at: npt.ArrayLike | None = None,
    threads: int | None = None,
    progress: bool | ProgressFunction | None = None,
    out: str | os.PathLike[str] | None = None,
    outputs: Sequence[object] | Mapping[str, str | Callable[[Any], Any]] | None = None,
    client: Any = None,
    block: int = 256,
    overwrite: bool = False,
) -> Any:
    """Integrate many runs from t = 0 to t_end, compiled and on all cores; a run that fails stops alone.

    initial_states : (runs, nq + nu) rows (q, u) as in `solution.q`, `solution.u`; each is brought onto the constraints.
        Angles are counted from the model's; whole states as in `solution.x` keep the turns that springs and gears count
    parameters : name -> one value per run, of a LagrangianSystem, or arguments of `model` when it is a function that returns
        a Model; those that differ in numbers share what is compiled. A dict of arrays, a Dataset, `grid(...)`, `sample(...)`
    save_at : times to save, default the start and the end;  threads : default one per core; no result depends on it
    progress : as in `simulate`, by finished runs

    From 64 runs of one structure on, those with MovingFrame or Jet and explicit Runge-Kutta steps go four at a time through the
    processor's vector registers, but for those with drivers, redundant joints, user functions, invariants or, with Jet, masses
    that differ by orders of magnitude. Such neighbours share their steps, small enough for each, so a run depends on them
    within its tolerance.
    Ctrl-C returns what was computed; runs that did not get to their end have the status "interrupted".
    Without `out` the result is an `Ensemble` in memory. With it, it is a `Sweep`, written while it is computed:

    out : a store; the same call goes on with one that exists; one with other settings is refused, or replaced by `overwrite`
    outputs : what to keep of each run, signals by name ("slider.x", "A", "B.fz", see `plot.time`) and functions of its
        solution, named ("travel [m]", function) or not, also as a dict by name; default the states q and u
    client : a dask `Client` or a `concurrent.futures.Executor` whose workers compute, with one thread each; default: here
    block : runs that are computed and written together; part of the settings, as such runs may share steps. Fewer of long runs
    """
    integrator = DOP853() if integrator is None else integrator
    check_pair(REFERENCE() if formulation is None else formulation, integrator)
    t_end = duration(t_end)
    times = save_times((0.0, t_end) if save_at is None else save_at, t_end)
    assert times is not None
    after = times[times > 0.0]
    dims: dict[str, int] = {}
    if parameters is not None:
        parameters, dims = table_of(parameters)
        if not isinstance(model, LagrangianSystem) and callable(model):
            check_names(model, parameters)
    if out is None and (outputs is not None or client is not None or overwrite):
        raise ModelError("simulate_many: outputs, client and overwrite go with out=, the store that a sweep is written to")
    if (initial_states is None) == (parameters is None):
        raise ModelError("simulate_many: give either initial_states or parameters; for one run there is simulate")
    if out is not None:
        from dalembert.simulation.sweep import run_sweep

        return run_sweep(
            model,
            t_end,
            parameters if isinstance(parameters, dict) else {"": np.atleast_2d(np.asarray(initial_states, dtype=float))},
            dims,
            out=out,
            outputs=outputs,
            client=client,
            block=block,
            overwrite=overwrite,
            times=times,
            threads=threads,
            progress=progress,
            options={"formulation": formulation, "integrator": integrator, "coordinates": coordinates},
        )
    mechanisms: Sequence[Compiled]
    if parameters is not None:
        formulation = formulation or REFERENCE()
        made = variants(model, parameters, coordinates, formulation, t_end)
        mechanisms, runs, groups, given, problems = made.mechanisms, made.runs, made.groups, made.given, made.problems
    else:
        if not isinstance(model, Model | LagrangianSystem | Compiled):
            raise ModelError("simulate_many: initial_states go with a model; a function of parameters takes parameters")
        base, problems = as_compiled(model, coordinates, formulation), {}
        if base.t_0 != 0.0:
            raise ModelError(f"simulate_many: the mechanism was compiled for t = {base.t_0:g} s; many runs start at 0")
        refuse_vanishing_lengths(base, 0.0, t_end)
        formulation = formulation or default_formulation(base)[0]
        given = list(full_states(base, initial_states))
        mechanisms = FromStarts(base, given)
        own = getattr(formulation, "invariants", None) is not None  # kept values differ from run to run
        runs = [formulation.prepare(m) for m in mechanisms] if own else [formulation.prepare(base)] * len(given)
        groups = groups_of(runs, given)
    works: list[tuple[RunGroup, Work]] = []
    with Progress(progress, "simulating", "{task.completed:.0f} of {task.total:.0f} runs") as bar:
        for group in groups:
            work = Work(group.run, group.tables, integrator, group.starts.copy(), t_end, after, threads)
            work.status[[k in problems for k in group.numbers]] = T.NEWTON_FAILED  # not to be run
            works.append((group, work))
            if not works[0][1].stopped:
                work.go_side_by_side(bar)
            if not works[0][1].stopped and (work.status == T.NOT_RUN).any():
                work.go(bar)
    return Ensemble(mechanisms, runs, formulation, integrator, works, times, given, problems)


class Ensemble:
    """Runs of one model in the order given: `ensemble[k]` is the solution of run k, outputs have the run as first axis.

    t : (nt,) times saved;  status : (runs,) "complete", "failed" or "interrupted";  message : what stopped a run, by run
    steps : (runs,) accepted ones;  moved : (runs,) how far an initial state was off its constraints
    structure : (runs,) which of the compiled structures
    warnings : what a reader should know

    `ensemble.position("rod 4")` is (runs, nt, 3), `ensemble.reaction("A").force` too, `ensemble.energy.kinetic` (runs, nt), and
    so on for every output of a solution over time; of a Lagrangian system `ensemble["x"]` is (runs, nt). NaN where a run did
    not get; a variant of the model that cannot be assembled has failed and has no states.
    """

    def __init__(
        self,
        mechanisms: Sequence[Compiled],
        runs: Sequence[Run],
        formulation: Formulation,
        integrator: Integrator,
        works: list[tuple[RunGroup, Work]],
        times: Array,
        given: list[Array],
        problems: dict[int, str],
    ) -> None:
        self.t = times
        self.formulation, self.integrator, self.t_end = formulation, integrator, works[0][1].t_end
        self._mechanisms, self._runs, self._problems = mechanisms, runs, problems
        self._settings: dict[str, dict[str, Any]] = {}
        self._versions = current_versions()
        self._groups = [group for group, _ in works]
        self._works = {int(k): (work, j) for group, work in works for j, k in enumerate(group.numbers)}
        code, self.steps, self.structure = (np.zeros(len(runs), dtype=np.int64) for _ in range(3))
        structures: dict[tuple[bytes, int], int] = {}  # by its first run; of one, some may refine where others do not
        for group, work in works:
            run, numbers = group.run, group.numbers
            first = structures.setdefault((run.mechanism.I.tobytes(), id(run.callbacks.compiled)), int(numbers[0]))
            code[numbers], self.steps[numbers] = work.status, work.accepted
            self.structure[numbers] = list(structures.values()).index(first)
        self.status = np.where(code == T.OK, "complete", "failed").astype("U11")
        self.status[(code == T.NOT_RUN) | ((code == T.TOO_MANY_STEPS) & (self.steps < integrator.max_steps))] = "interrupted"
        self.message = {int(k): self._why(int(k)) for k in np.flatnonzero(self.status == "failed")}
        self.moved = np.full(len(runs), np.nan)
        for group, work in works:
            self.moved[group.numbers] = _moved(group, runs, work, given)
        self.moved[list(problems)] = np.nan
        self.warnings: tuple[str, ...] = ()
        if np.nanmax(self.moved, initial=0.0) > _FITS:
            worst, count = int(np.nanargmax(self.moved)), int(np.sum(self.moved > _FITS))
            text = f"{count} initial states did not satisfy the constraints and were moved, run {worst}"
            self.warnings += (f"{text} by {self.moved[worst]:.3g}",)
        broken = {k: text for k, text in self.message.items() if k not in problems}
        for some, how in ((problems, "could not start"), (broken, "failed on their way")):
            self.warnings += (f"{len(some)} of {len(self)} runs {how}; {next(iter(some.values()), '')}",) * bool(some)
        if len(structures) > 1:
            listed = ", ".join(map(str, [*structures.values()][:5])) + (", ..." if len(structures) > 5 else "")
            self.warnings += (f"the runs have {len(structures)} structures, each compiled by itself; those of runs {listed}",)
        for text in self.warnings:
            warn(text)

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.sum(self.status == word)} {word}" for word in dict.fromkeys(self.status.tolist()))
        return f"<Ensemble of {self._mechanisms[0].model.name or 'model'!r}: {len(self)} runs, {counts}>"

    def _repr_html_(self) -> str:
        """For a notebook: how many runs ended how, what stopped the others, and how some of them move."""
        from dalembert.viewer.notebook import ensemble_html

        return ensemble_html(self)

    def __getstate__(self) -> dict[str, Any]:
        """What a pickle holds: states and counters instead of compiled code."""
        records = [self._record(k) for k in range(len(self))]
        return self.__dict__ | {"_records": records, "_runs": None, "_works": None, "_groups": []}

    @property
    def failed(self) -> npt.NDArray[np.int64]:
        """Runs that could not go on."""
        return np.flatnonzero(self.status == "failed")

    def __getitem__(self, which: int | str) -> Any:
        """The solution of one run, or (runs, nt) of a coordinate of a Lagrangian system."""
        if isinstance(which, str):
            return self._stack(lambda solution: solution[which])
        if not -len(self) <= which < len(self):
            raise IndexError(f"there are {len(self)} runs; {which} is not one of them")
        k = int(which) % len(self)
        solution = self.solution(k)
        if self._runs is not None:
            run, advance = self._stand(k)
            note_what_happened(run, advance.x, solution)
        return solution

    def __getattr__(self, name: str) -> Any:
        if name in QUANTITIES:
            return self._stack(lambda solution: getattr(solution, name), evaluated=True)
        if name not in (*OUTPUTS, *EVALUATED):
            known = ", ".join((*OUTPUTS, *EVALUATED, *QUANTITIES))
            more = _FIGURES if name == "plot" else ""
            raise AttributeError(f"an Ensemble has no {name!r}; it has {known}, and ensemble[k] is a Solution{more}")
        return lambda *args, **options: self._stack(
            lambda solution: getattr(solution, name)(*args, **options), evaluated=name in EVALUATED
        )

    def solution(self, k: int, evaluated: Evaluated | None = None, *, counters: bool = True) -> Any:
        """The states of one run, without a look at singular configurations that it may have crossed; `ensemble[k]` has one.

        evaluated : where it is known;  counters : with its statistics, most of what it takes to make one
        """
        t, x, more, statistics = self._record(k, counters=counters)
        mechanism = self._mechanisms[k]
        if mechanism.coordinates not in self._settings:
            self._settings[mechanism.coordinates] = describe(self.formulation, self.integrator, mechanism, self.t_end)
        return solution_of(
            mechanism,
            t,
            x,
            more=more,
            settings=dict(self._settings[mechanism.coordinates]),
            formulation=self.formulation,
            integrator=self.integrator,
            statistics=statistics,
            versions=self._versions,
            status=str(self.status[k]),
            message=self.message.get(k, ""),
            evaluated=evaluated,
        )

    def states(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Times, coordinates, velocities and external work of one run, as far as it went."""
        (t, x, _, _), like = self._record(k, counters=False), self._works[k][0].advance.run.mechanism
        return t, x[:, : like.nq], x[:, like.nq : like.nq + like.nu], x[:, like.nq + like.nu]

    def _record(self, k: int, *, counters: bool = True) -> tuple[Array, Array, dict[str, Array], Statistics | None]:
        """Times, states and counters of a run."""
        if "_records" in self.__dict__:
            record: tuple[Array, Array, dict[str, Array], Statistics | None] = self._records[k]
            return record
        (t, x), like = self._saved(k), self._works[k][0].advance.run
        run = like if like.as_told else self._runs[k]  # states that are told as they are do not depend on the run's numbers
        return t, run.to_absolute(x), run.more(x), statistics_of(*self._stand(k), {}) if counters else None

    @property
    def alike(self) -> bool:
        """Whether all runs are of one mechanism: many starts, not many parameters."""
        first = self._mechanisms[0]
        return all(other.I is first.I and other.F is first.F for other in self._mechanisms)

    @cached_property
    def evaluations(self) -> list[Evaluated]:
        """Multipliers, accelerations and energies of every run."""
        return [known or self.solution(k, counters=False).evaluated for k, known in enumerate(self.evaluated_together())]

    def evaluated_together(self) -> list[Evaluated | None]:
        """The same of runs whose mechanism or structure is that of others; None of those to be evaluated by themselves."""
        if not self.alike:
            known: list[Evaluated | None] = [None] * len(self)
            for group in self._groups if self.formulation == REFERENCE() else ():  # whose constants outputs are made with
                for k, evaluated in zip(group.numbers, group.evaluated(self._saved), strict=True):
                    known[k] = evaluated
            return known
        records, whole = [self._record(k, counters=False) for k in range(len(self))], self.solution(0, counters=False)
        whole.t, whole.x = (np.concatenate([record[part] for record in records]) for part in (0, 1))
        whole.more = {name: np.concatenate([record[2][name] for record in records]) for name in whole.more}
        ends = np.cumsum([len(record[0]) for record in records])[:-1]
        parts = {field.name: np.split(getattr(whole.evaluated, field.name), ends) for field in fields(Evaluated)}
        return [Evaluated(*(parts[name][k] for name in parts)) for k in range(len(self))]

    def _stack(self, output: Callable[[Any], Any], *, evaluated: bool = False) -> Any:
        """An output of all runs, of a record (reactions, energies) each of its arrays."""
        known = self.evaluations if evaluated else [None] * len(self)
        return _stacked([output(self.solution(k, known[k])) for k in range(len(self))], len(self.t))

    def _saved(self, k: int) -> tuple[Array, Array]:
        """Times and states of a run, as far as it went."""
        work, j = self._works[k]
        if k in self._problems or (self.status[k] == "interrupted" and work.status[j] == T.NOT_RUN):
            return self.t[:0], work.out[j, :0]
        x = work.out[j, : work.saved[j]]
        if self.t[0] == 0.0:
            x = np.concatenate([work.start[j : j + 1], x])
        return self.t[: len(x)], x

    def _stand(self, k: int) -> tuple[Run, Advance]:
        """A run as it ended, with its counters."""
        (work, j), run = self._works[k], self._runs[k]
        W = run.W.copy()
        W[run.I[T.W_STAT] :][: COUNTERS.width] = work.counters[j, : COUNTERS.width]
        if run.I[T.W_PIVOT] > 0:
            W[run.I[T.W_PIVOT] :][:V_GUARD] = work.counters[j, COUNTERS.width :]
        return (run := replace(run, W=W)), work.advance.at(run, work.x[j], work.kept[j])

    def _why(self, k: int) -> str:
        work, j = self._works[k]
        if k in self._problems:
            return self._problems[k]
        _, advance = self._stand(k)
        if work.status[j] == T.TOO_MANY_STEPS:
            return f"{advance.accepted} steps reached only t = {advance.t:.6g} s; raise max_steps or loosen the tolerances"
        if j in work.errors:
            name, problem = work.errors[j]
            return f"user function {name!r} raised {problem!r} at t = {advance.t:.6g} s"
        return str(failure_of(int(work.status[j]), advance))


def _moved(group: RunGroup, runs: Sequence[Run], work: Work, states: Sequence[Array]) -> Array:
    """Largest change of a coordinate or velocity by the projection of each start; signs of quaternions do not count."""
    first, x = group.run.mechanism, group.told(work.start, runs, states)
    given = np.array([states[k] for k in group.numbers])
    n = first.nq + first.nu
    change = np.abs(x[:, :n] - given[:, :n])
    for at in first.quaternion_columns if isinstance(first, Mechanism) else ():
        flipped = np.abs(x[:, at : at + 4] + given[:, at : at + 4])
        change[:, at : at + 4] = np.minimum(change[:, at : at + 4], flipped)
    moved: Array = change.max(axis=1, initial=0.0)
    moved[work.status == T.NOT_RUN] = np.nan
    return moved


def _stacked(values: list[Any], nt: int) -> Any:
    """(runs, nt, ...) of arrays that begin with the times a run reached; records of such arrays field by field."""
    first = values[0]
    if isinstance(first, dict):
        return {key: _stacked([value[key] for value in values], nt) for key in first}
    if isinstance(first, tuple):
        return tuple(_stacked([value[i] for value in values], nt) for i in range(len(first)))
    if is_dataclass(first):
        return replace(first, **{f.name: _stacked([getattr(v, f.name) for v in values], nt) for f in fields(first)})  # type: ignore[type-var]
    if not isinstance(first, np.ndarray):
        return all(values) if isinstance(first, bool) else first
    shape = next((v.shape[1:] for v in values if len(v)), ())
    stacked = np.full((len(values), nt, *shape), np.nan)
    for k, value in enumerate(values):
        stacked[k, : len(value)] = value
    return stacked
