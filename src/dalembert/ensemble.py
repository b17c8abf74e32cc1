"""Many runs of one model, from many starts or with many parameters, on all cores."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.compilation import compile, refuse_vanishing_lengths
from dalembert.ensemble_work import Work
from dalembert.errors import DalembertError, ModelError
from dalembert.failure import failure_of
from dalembert.formulations import Formulation
from dalembert.formulations.jet import Jet
from dalembert.formulations.run import Run
from dalembert.integrators.advance import Advance
from dalembert.integrators.explicit_rk import DOP853
from dalembert.integrators.integrator import Integrator
from dalembert.kernels import tables as T
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.mechanism import Compiled, Mechanism
from dalembert.model.model import Model
from dalembert.pack import Coordinates
from dalembert.pairs import check_pair
from dalembert.progress import Progress, ProgressFunction
from dalembert.simulation import as_compiled, describe, duration, save_times, statistics_of
from dalembert.trajectory import OUTPUTS

Array = npt.NDArray[np.float64]
_FITS = 1e-6  # initial states that are moved by more than this deserve a word


def simulate_many(
    model: Model | LagrangianSystem | Compiled | Callable[..., Model],
    t_end: float,
    *,
    initial_states: npt.ArrayLike | None = None,
    parameters: Mapping[str, npt.ArrayLike] | None = None,
    formulation: Formulation | None = None,
    integrator: Integrator | None = None,
    coordinates: Coordinates | None = None,
    save_at: npt.ArrayLike | None = None,
    threads: int | None = None,
    progress: bool | ProgressFunction | None = None,
) -> Ensemble:
    """Integrate many runs from t = 0 to t_end, compiled and on all cores; a run that fails stops alone.

    initial_states : (runs, nq + nu) rows (q, u) as in `solution.q`, `solution.u`; each is brought onto the constraints
    parameters : name -> one value per run, of a LagrangianSystem, or arguments of `model` when it is a function that returns
        a Model; the models may differ in their numbers only
    save_at : times to save, default the start and the end;  threads : default one per core; no result depends on it
    progress : as in `simulate`, by finished runs

    From 64 initial states on, trees with MovingFrame and explicit Runge-Kutta steps go four at a time through the processor's
    vector registers. Such neighbours share their steps, small enough for each, so a run depends on them within its tolerance.

    Ctrl-C returns what was computed; runs that did not get to their end have the status "interrupted".
    """
    formulation = Jet() if formulation is None else formulation
    integrator = DOP853() if integrator is None else integrator
    check_pair(formulation, integrator)
    t_end = duration(t_end)
    times = np.array([0.0, t_end]) if save_at is None else np.atleast_1d(np.asarray(save_at, dtype=float))
    after = save_times(times, t_end)
    assert after is not None
    if (initial_states is None) == (parameters is None):
        raise ModelError("simulate_many: give either initial_states or parameters; for one run there is simulate")
    if parameters is not None:
        mechanisms = _variants(model, parameters, coordinates)
        runs = [formulation.prepare(mechanism) for mechanism in mechanisms]
        _check_same(runs)
        given = np.array([mechanism.x_0 for mechanism in mechanisms])
    else:
        if not isinstance(model, Model | LagrangianSystem | Compiled):
            raise ModelError("simulate_many: initial_states go with a model; a function of parameters takes parameters")
        base = as_compiled(model, coordinates)
        given = _states(base, initial_states)
        mechanisms = [replace(base, x_0=x) for x in given]  # type: ignore[type-var]
        own = getattr(formulation, "invariants", None) is not None  # kept values differ from run to run
        runs = [formulation.prepare(m) for m in mechanisms] if own else [formulation.prepare(base)] * len(given)
    for mechanism in mechanisms:
        refuse_vanishing_lengths(mechanism.model, t_end)
    work = Work(runs, integrator, _starts(runs, given), t_end, after, threads)
    with Progress(progress, "simulating", "{task.completed:.0f} of {task.total:.0f} runs") as bar:
        work.go_side_by_side(bar)
        if (work.status == T.NOT_RUN).any():
            work.go(bar)
    return Ensemble(mechanisms, runs, formulation, integrator, work, times, given)


def _variants(model: Any, parameters: Mapping[str, npt.ArrayLike], coordinates: Coordinates | None) -> list[Compiled]:
    """The model compiled for every row of the table."""
    table = {name: np.asarray(values) for name, values in parameters.items()}
    lengths = {name: (len(values) if values.ndim else 0) for name, values in table.items()}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise ModelError(f"parameters: give one value per run for each name; got lengths {lengths or 'of nothing'}")
    rows = [{name: values[k] for name, values in table.items()} for k in range(next(iter(lengths.values())))]
    if isinstance(model, LagrangianSystem):
        return [model.replace(parameters=row).compile() for row in rows]
    if not callable(model):
        raise ModelError(
            "parameters go with a LagrangianSystem or with a function that returns a Model, "
            f"def model({', '.join(table)}): ...; got {type(model).__name__}"
        )
    made = []
    for k, row in enumerate(rows):
        try:
            made.append(compile(model(**row), coordinates or "absolute"))
        except DalembertError as problem:
            problem.args = (f"run {k} with {row}: {problem}",)
            raise
    return made


def _check_same(runs: list[Run]) -> None:
    """All runs share the integer tables, so that one compiled loop can take them."""
    for k, run in enumerate(runs):
        if len(run.F) != len(runs[0].F) or not np.array_equal(run.I, runs[0].I):
            raise ModelError(f"run {k} has another structure than run 0; parameters may change numbers only")
        if run.mechanism.functions or run.mechanism.functions != runs[0].mechanism.functions:
            raise ModelError("simulate_many: models with user-written forces take initial_states, not parameters")


def _states(mechanism: Compiled, initial: npt.ArrayLike | None) -> Array:
    """(runs, nx) states from rows (q, u) or whole states."""
    try:
        states = np.atleast_2d(np.asarray(initial, dtype=float))
    except (TypeError, ValueError):
        raise ModelError("initial_states: give an array (runs, nq + nu)") from None
    n, nx = mechanism.nq + mechanism.nu, len(mechanism.x_0)
    if states.ndim != 2 or states.shape[1] not in (n, nx) or not len(states):
        raise ModelError(f"initial_states have the shape {states.shape}; give (runs, {n}): q and u of every run")
    bad = np.flatnonzero(~np.isfinite(states).all(axis=1))
    if len(bad):
        raise ModelError(f"initial_states of run {bad[0]} are not finite")
    if states.shape[1] == nx:
        return states.copy()
    full = np.tile(mechanism.x_0, (len(states), 1))
    full[:, :n] = states
    if isinstance(mechanism, Mechanism) and mechanism.angles:
        from dalembert.kernels.one_state import measure_angles

        for x in full:
            angles = np.zeros(len(mechanism.angles))
            measure_angles(x, angles, mechanism.I, mechanism.F, mechanism.workspace())
            x[n + 1 :] = angles
    return full


def _starts(runs: list[Run], given: Array) -> Array:
    """(runs, n) states of the runs from those of their mechanisms."""
    run = runs[0]
    if type(run) is Run and all(other is run for other in runs):
        return np.ascontiguousarray(run.from_absolute(given))
    return np.array([r.from_absolute(x) for r, x in zip(runs, given, strict=True)])


class Ensemble:
    """Runs of one model in the order given: `ensemble[k]` is the solution of run k, outputs have the run as first axis.

    t : (nt,) times saved;  status : (runs,) "complete", "failed" or "interrupted";  message : what stopped a run, by run
    moved : (runs,) how far an initial state was off its constraints;  warnings : what a reader should know

    `ensemble.position("rod 4")` is (runs, nt, 3), and so on for every output of a solution over time; of a Lagrangian system
    `ensemble["x"]` is (runs, nt). NaN where a run did not get.
    """

    def __init__(
        self,
        mechanisms: list[Compiled],
        runs: list[Run],
        formulation: Formulation,
        integrator: Integrator,
        work: Work,
        times: Array,
        given: Array,
    ) -> None:
        self.t = times
        self.formulation, self.integrator = formulation, integrator
        self._mechanisms, self._runs, self._work = mechanisms, runs, work
        code = work.status
        self.status = np.where(code == T.OK, "complete", "failed").astype("U11")
        self.status[(code == T.NOT_RUN) | ((code == T.TOO_MANY_STEPS) & (work.accepted < integrator.max_steps))] = "interrupted"
        self.message = {int(k): self._why(int(k)) for k in np.flatnonzero(self.status == "failed")}
        self.moved = self._moved(given)
        self.warnings: tuple[str, ...] = ()
        if np.nanmax(self.moved, initial=0.0) > _FITS:
            worst, count = int(np.nanargmax(self.moved)), int(np.sum(self.moved > _FITS))
            text = (
                f"{count} initial states did not satisfy the constraints and were moved, run {worst} by {self.moved[worst]:.3g}"
            )
            self.warnings = (text,)
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.sum(self.status == word)} {word}" for word in dict.fromkeys(self.status.tolist()))
        return f"<Ensemble of {self._mechanisms[0].model.name or 'model'!r}: {len(self)} runs, {counts}>"

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
        t, x = self._saved(k)
        run, message = self._runs[k], self.message.get(k, "")
        return self._mechanisms[k].solution(
            t,
            run.to_absolute(x),
            more=run.more(x),
            settings=describe(self.formulation, self.integrator, self._mechanisms[k], self._work.t_end),
            formulation=self.formulation,
            integrator=self.integrator,
            statistics=statistics_of(*self._stand(k), {}),
            status=str(self.status[k]),
            message=message,
        )

    def __getattr__(self, name: str) -> Any:
        if name not in OUTPUTS:
            raise AttributeError(f"an Ensemble has no {name!r}; it has {', '.join(OUTPUTS)}, and ensemble[k] is a Solution")
        return lambda *args, **options: self._stack(lambda solution: getattr(solution, name)(*args, **options))

    def _stack(self, output: Callable[[Any], Array]) -> Array:
        values = [output(solution) for solution in self]
        shape = next((v.shape[1:] for v in values if len(v)), ())
        stacked = np.full((len(self), len(self.t), *shape), np.nan)
        for k, value in enumerate(values):
            stacked[k, : len(value)] = value
        return stacked

    def _saved(self, k: int) -> tuple[Array, Array]:
        """Times and states of a run, as far as it went."""
        work = self._work
        if self.status[k] == "interrupted" and work.status[k] == T.NOT_RUN:
            return self.t[:0], work.out[k, :0]
        x = work.out[k, : work.saved[k]]
        if self.t[0] == 0.0:
            x = np.concatenate([work.start[k : k + 1], x])
        return self.t[: len(x)], x

    def _stand(self, k: int) -> tuple[Run, Advance]:
        """A run as it ended, with its counters."""
        work, run = self._work, self._runs[k]
        W = run.W.copy()
        W[run.I[T.W_STAT] :][: T.N_STAT] = work.counters[k]
        run = replace(run, W=W)
        return run, work.advance.at(run, work.x[k], work.state_i[k], work.state_f[k])

    def _why(self, k: int) -> str:
        work = self._work
        _, advance = self._stand(k)
        if work.status[k] == T.TOO_MANY_STEPS:
            return f"{advance.accepted} steps reached only t = {advance.t:.6g} s; raise max_steps or loosen the tolerances"
        if k in work.errors:
            name, problem = work.errors[k]
            return f"user function {name!r} raised {problem!r} at t = {advance.t:.6g} s"
        return str(failure_of(int(work.status[k]), advance))

    def _moved(self, given: Array) -> Array:
        """Largest change of a coordinate or velocity by the projection of each start; signs of quaternions do not count."""
        first, n = self._mechanisms[0], self._mechanisms[0].nq + self._mechanisms[0].nu
        runs, start = self._runs, self._work.start
        shared = all(run is runs[0] for run in runs)
        x = (
            runs[0].to_absolute(start)
            if shared
            else np.array([r.to_absolute(s[None])[0] for r, s in zip(runs, start, strict=True)])
        )
        change = np.abs(x[:, :n] - given[:, :n])
        for at in first.quaternion_columns if isinstance(first, Mechanism) else ():
            flipped = np.abs(x[:, at : at + 4] + given[:, at : at + 4])
            change[:, at : at + 4] = np.minimum(change[:, at : at + 4], flipped)
        moved: Array = change.max(axis=1, initial=0.0)
        moved[self._work.status == T.NOT_RUN] = np.nan
        return moved
