"""Where a run starts: at a model's initial data, at a state of another run, or where a run ended."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.between_mechanisms import told_by
from dalembert.compilation.compile import compile, usual_coordinates
from dalembert.compilation.compiled import KINDS, Compiled, Coordinates, OneState, Series
from dalembert.compilation.family import family_of
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.pack_motions import motion_rates, motions_of_rows, vanishes
from dalembert.compilation.phases import Phase, check_names, consistent
from dalembert.errors import ModelError
from dalembert.formulations import Formulation
from dalembert.integrators.integrator import Integrator
from dalembert.lagrangian.system import LagrangianSystem
from dalembert.model.model import Model
from dalembert.model.validation import number, shown
from dalembert.results.dense import methods_of
from dalembert.results.solution import Result
from dalembert.run.ending import Ending

WHOLE = Phase()  # all of a model is in force
_BUILT = (Model, Compiled, Result)
COARSE = 30.0  # tolerances that a driver may move between two numbers that are times; with more, steps go by its jumps


def refuse_coarse_times(mechanism: Compiled, integrator: Integrator, t_0: float, t_end: float) -> None:
    """Refuse times so large that fixed steps cannot be told apart, or that drivers jump from one to the next."""
    integrator.check_times(t_0, t_end)
    far, model = max(abs(t_0), abs(t_end)), mechanism.model
    apart = math.ulp(far)
    if apart <= 1e-11 or not integrator.adaptive or not isinstance(model, Model):
        return
    times = np.linspace(t_0, t_end, 65)
    for name, motion in motions_of_rows(model):
        value, rate = (float(np.abs(column).max()) for column in motion_rates(motion, times).T[:2])
        if rate * apart > COARSE * (integrator.atol + integrator.rtol * value):
            raise ModelError(
                f"{type(integrator).__name__}: numbers at t = {far:g} s are {apart:.1g} s apart, and {name!r} moves by"
                f" {rate * apart:.1g} in between, too much for rtol = {integrator.rtol:g} and atol = {integrator.atol:g};"
                " start at t = 0 and let functions of time add what is missing, or raise these"
            )


def refuse_vanishing_lengths(mechanism: Compiled, t_start: float, t_end: float) -> None:
    """A prescribed distance must stay above zero during the run: behind zero it would be followed as its absolute value."""
    for joint in mechanism.model.joints if mechanism.prescribes_lengths else ():
        for primitive in joint.primitives:
            if primitive.kind == "D" and primitive.motion is not None:
                t = vanishes(primitive.motion, t_start, t_end)
                if t is not None:
                    raise ModelError(
                        f"joint {joint.name!r}: its length reaches 0 at t = {t:.6g} s; give a length that stays above 0 until"
                        f" t_end = {t_end:g} s, or drive the coordinate of a joint (add_driver), which may change its sign"
                    )


class Start(NamedTuple):
    """mechanism : of the phase that begins, x_0 is the state;  t : when
    model, phase : the whole model, and what of it is not in force;  ending : of the run that goes on, None for a new start
    formulation, integrator : of that run, None for none
    """

    mechanism: Compiled
    t: float
    model: Any
    phase: Phase = WHOLE
    ending: Ending | None = None
    formulation: Formulation | None = None
    integrator: Integrator | None = None


def start_of(
    model: Model | LagrangianSystem | Compiled | Result,
    coordinates: Coordinates | None,
    formulation: Formulation | None,
    t_start: float | None,
    initial: Series | None,
    free: tuple[str, ...],
) -> Start:
    """Where `simulate` starts."""
    if isinstance(model, Result):
        given = {"coordinates": coordinates, "t_start": t_start, "initial": initial, "free": free or None}
        for label, value in given.items():
            if value is not None:
                raise ModelError(f"{label} is {shown(value)}, but a run goes on as it is, from its end; leave out {label}")
        return going_on(model)
    t = None if t_start is None else number("simulate", "t_start", t_start)
    if initial is not None and t is None:
        t = _state(initial)[0]
    if free:
        if not isinstance(model, Model):
            raise ModelError(f"free is for a Model of bodies; got {shown(model)}")
        check_names("simulate: free", model, free)
    phase = Phase(frozenset(free)) if free else WHOLE
    given_model = phase.of(model) if free and isinstance(model, Model) else model
    mechanism = as_compiled(given_model, coordinates, formulation, 0.0 if initial is not None else t or 0.0)
    whole = model if free else mechanism.whole or mechanism.model
    if free:
        mechanism = replace(mechanism, whole=whole)
    if t is not None and initial is None and isinstance(model, Compiled) and t != mechanism.t_0:
        raise ModelError(f"t_start is {t:g}, but the mechanism was compiled for t = {mechanism.t_0:g}; give the model")
    if initial is not None:
        mechanism = starting_at(mechanism, t or 0.0, _taken(mechanism, t or 0.0, initial))
    return Start(mechanism, mechanism.t_0 if t is None else t, whole, phase)


def variant_of(
    build: Any,
    parameters: Mapping[str, Any] | None,
    coordinates: Coordinates | None,
    formulation: Formulation | None,
    t_start: float | None,
    *,
    compiled: bool,
) -> Any:
    """What a function builds of parameters, or a LagrangianSystem with other ones; compiled with what is known of its family.

    Anything else stays as it is.
    """
    if isinstance(build, _BUILT) or (parameters is None and isinstance(build, LagrangianSystem)):
        if parameters is not None:
            raise ModelError(
                f"parameters go with a function that returns a Model, or with a LagrangianSystem; got {shown(build)}"
            )
        return build
    if not callable(build) and not isinstance(build, LagrangianSystem):
        fix = "give a Model, a LagrangianSystem, or a function that returns one"
        if isinstance(build, OneState):
            fix = "start its model there: simulate(model, t_end, initial=state)"
        raise ModelError(f"the model is {shown(build)}; {fix}")
    taken = KINDS if formulation is None else formulation.coordinates
    family = family_of(build, coordinates, 0.0 if t_start is None else number("simulate", "t_start", t_start), taken=taken)
    return family.mechanism(parameters or {}) if compiled else family.model(parameters or {})


def as_compiled(
    model: Model | LagrangianSystem | Compiled,
    coordinates: Coordinates | None,
    formulation: Formulation | None = None,
    t_start: float = 0.0,
) -> Compiled:
    """The model in tables; one that is already compiled stays as it is."""
    if not isinstance(model, Compiled):
        taken = KINDS if formulation is None else formulation.coordinates
        return compile(model, coordinates or usual_coordinates(model, taken), t_start=t_start)
    if coordinates not in (None, model.coordinates):
        raise ModelError(
            f"the mechanism was compiled in {model.coordinates!r} coordinates, not {coordinates!r}; give the model"
        )
    return model


def going_on(solution: Result) -> Start:
    """The end of a run, or its last state where nothing more is known of it."""
    last = solution.pieces[-1] if solution.pieces else solution
    if not len(last.t):
        raise ModelError("the run holds no states; simulate its model instead of going on with it")
    mechanism = starting_at(last.mechanism, last.end_time, last.end_state)
    return Start(mechanism, last.end_time, last.model, last.phase, last.ending, *methods_of(last))


def starting_at(mechanism: Any, t: float, x: Array) -> Any:
    """A mechanism with another initial state."""
    x = np.array(x)
    x.flags.writeable = False
    return replace(mechanism, x_0=x, t_0=t)


def _state(initial: object) -> tuple[float, Array]:
    if not isinstance(initial, Series) or initial.x.shape[0] != 1:
        raise ModelError(f"initial is {shown(initial)}; give one state of a solution, solution(t)")
    return float(initial.t[0]), initial.x[0]


def _taken(mechanism: Compiled, t: float, initial: Series) -> Array:
    """A state of another run of a model with the same bodies and joints, its external work left out."""
    x, other = _state(initial)[1].copy(), initial.mechanism
    for label, mine, theirs in zip(("bodies", "joints"), _structure(mechanism), _structure(other), strict=True):
        if mine != theirs:
            raise ModelError(
                f"initial is a state of another model: its {label} are {shown(list(theirs))}, those of this one"
                f" {shown(list(mine))}; give a state of a model with the same bodies and joints"
            )
    if isinstance(mechanism, Mechanism) and isinstance(other, Mechanism):
        x = told_by(mechanism, other, x[None])[0]
    x[mechanism.nq + mechanism.nu] = 0.0
    return consistent(mechanism, t, x, "initial")


def _structure(mechanism: Compiled) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not isinstance(mechanism, Mechanism):
        return tuple(mechanism.model.coordinates), ()
    model = mechanism.model
    bodies = tuple(f"{body.name} ({body.kind})" for body in model.bodies)
    return bodies, tuple(f"{j.name} ({j.type}, {j.first}, {j.second})" for j in model.joints)
