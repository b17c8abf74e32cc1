"""linearise: a mechanism about a steady state or motion, as a linear model in named independent coordinates.

In the chart Y of the state (neighbourhood.py, steady.py) with named coordinates and rates z = S Y:

    A = S A_Y S^-1      B = S D(Y')_w      C = D(y)_Y S^-1      D = D(y)_w

Holonomic and nonholonomic rows are eliminated exactly: derivatives are taken along states that meet them. Where the state is
not steady, z' = F(z) is differentiated itself, A = D(F)_Y S^-1. Drivers as inputs: driver_inputs.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.between_mechanisms import told_by
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.trajectory import Trajectory
from dalembert.errors import ModelError
from dalembert.formulations.evaluation import evaluate
from dalembert.model.model import Model
from dalembert.model.validation import by_name, shown
from dalembert.questions.driver_inputs import Column, column
from dalembert.questions.independent_coordinates import Named, independent
from dalembert.questions.inputs import input_unit, with_input
from dalembert.questions.linear_model import LinearModel
from dalembert.questions.neighbourhood import Neighbourhood, reference_run, refuse_massless
from dalembert.questions.outputs import Output, output_of
from dalembert.questions.state import solution_of_states, state_of
from dalembert.questions.steady import Linearised, divided, linearised
from dalembert.simulation.solution import Solution


@by_name
def linearise(
    model: Model | Mechanism,
    at: Trajectory | None = None,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str | tuple[object, ...] | Callable[[Solution], npt.ArrayLike]] = (),
) -> LinearModel:
    """A mechanism about a steady state or motion: A, B, C, D in named independent coordinates, eigenvalues and modes.

    at : default the initial state; an equilibrium; a state of a solution, `solution(t)`
    inputs : by name, functions or not: motors (what is added to their effort [N m or N]); forces and torques (what is added to
        the factor by which they are multiplied), "push.x", "push.y", "push.z" of a force "push" (what is added along an axis
        of its frame [N or N m]); drivers (what is added to their motion [rad or m], as a road to that of a wheel)
    outputs : a joint by name (its coordinates), a signal by name, ("position", "link") and so on for every output of a
        solution, or a function of a solution that gives (nt,) or (nt, n) values, alone or ("travel [m]", function)

    A motion is steady where joints, free bodies and spins about axes of symmetry go on at constant rates and nothing else
    changes: a governor at speed, a wheel that rolls straight on or in a circle. The model then holds in a frame that goes
    along. A state that is neither gets a warning with the size of what is left over.
    """
    names = _names("inputs", inputs)
    mechanism, t, x = state_of("linearise", model, at)
    refuse_massless("linearise", mechanism)
    if mechanism.degrees_of_freedom == 0 and not any(row.nonholonomic for row in mechanism.rows):
        raise ModelError("linearise: nothing can move freely: drivers and joints leave no freedom; use kinematics")
    around = Neighbourhood("linearise", mechanism, t, x)
    found = linearised(around)
    if not found.steady:
        warnings.warn(_unsteady(found), RuntimeWarning, stacklevel=2)
    positions, velocities = independent(around)
    S = around.derivative(_values(around.series, positions, velocities))
    A = S @ found.A if found.steady else _differentiated(around, positions, velocities)
    A = divided(A, S)
    states = (*(named.name for named in positions), *(f"{named.name}'" for named in velocities))
    wanted = [output_of(mechanism, one) for one in outputs]
    B, D, C_Y, shown = _inputs_and_outputs(around, found, names, wanted, S, (positions, velocities))
    rates = {a.name: float(r) for a, r in zip(found.zeta.actions, found.zeta.rates, strict=True) if r != 0.0}
    return LinearModel(
        A,
        B,
        divided(C_Y, S),
        D[0],
        state_names=states,
        input_names=names,
        output_names=tuple(name for name, _ in shown),
        input_units=tuple(input_unit(mechanism.model, name) for name in names),
        output_units=tuple(unit for _, unit in shown),
        t=t,
        steady_rates=rates,
        residual=found.residual,
        D_rate=D[1],
        D_acceleration=D[2],
        _chart=found,
        _around=around,
        _to_states=S,
    )


def _names(label: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ModelError(f"linearise: {label} is {shown(values)}; give a list of names, [{values!r}]")
    return tuple(str(getattr(value, "name", value)) for value in values)


def _unsteady(found: Linearised) -> str:
    return (
        f"linearise: the state is not steady: {found.left}; the model holds for a moment only."
        " Use at=da.equilibrium(model) (dalembert modes --equilibrium)"
    )


def _values(series: Trajectory, positions: list[Named], velocities: list[Named]) -> Array:
    return np.column_stack([*(one.value(series) for one in positions), *(one.rate(series) for one in velocities)])


def _differentiated(around: Neighbourhood, positions: list[Named], velocities: list[Named]) -> Array:
    """D(F) of z' = F(z), rates of rates by differences along the motion."""
    mechanism, step = around.mechanism, 1e-3
    nq = mechanism.nq
    rate = np.zeros_like(around.x)
    along = np.empty_like(around.states)
    for k, x in enumerate(around.states):
        around.run.rate(around.t, x, rate)
        along[k] = rate
    largest = np.abs(along[:, : nq + mechanism.nu]).max(initial=0.0) or 1.0
    h = step / largest
    turns = np.zeros((len(around.states), len(velocities)))
    for k, weight in ((1, 2 / 3), (2, -1 / 12)):
        for sign in (1, -1):
            series = mechanism.trajectory(around.series.t, around.states + sign * k * h * along)
            turns += sign * weight / h * np.column_stack([one.rate(series) for one in velocities])
    rates = np.column_stack([one.rate(around.series) for one in positions])
    return around.derivative(np.column_stack([rates, turns]))


def _inputs_and_outputs(
    around: Neighbourhood,
    found: Linearised,
    names: Sequence[str],
    wanted: list[Output],
    S: Array,
    named: tuple[list[Named], list[Named]],
) -> tuple[Array, tuple[Array, Array, Array], Array, list[tuple[str, str]]]:
    """B, D of inputs, their rates and second derivatives, derivatives of outputs along the chart, their names and units."""

    def values(solution: Solution) -> Array:
        return np.hstack([np.zeros((len(solution.t), 0)), *(output.values(solution) for output in wanted)])

    t, x = np.array([around.t]), around.x[None]
    near = solution_of_states(around.mechanism, around.series.t, around.states, around.evaluated) if wanted else None
    here = solution_of_states(around.mechanism, t, x, around.centre)
    at = values(here)[0]
    C_Y = np.zeros((0, len(S))) if near is None else around.derivative(values(near))
    columns = []
    for name in names:
        if name in {driver.name for driver in around.mechanism.model.drivers}:
            if not found.steady:
                raise ModelError(f"linearise: driver {name!r} as an input needs a steady state, and this one is not")
            states = partial(_values, positions=named[0], velocities=named[1])
            columns.append(column(around, found.zeta, name, found.A, S, C_Y, states, values))
            continue
        pushed = with_input("linearise", around.mechanism, name, around.t, around.x)
        there = told_by(pushed, around.mechanism, x)
        solution = solution_of_states(pushed, t, there, evaluate(reference_run(pushed), t, there))
        change = (solution.evaluated.acceleration - around.centre.acceleration).reshape(1, -1, 6)
        none = np.zeros(len(at))
        columns.append(Column(S @ around.in_chart(np.zeros_like(change), change)[0], (values(solution)[0] - at, none, none)))
    B = np.array([one.B for one in columns]).reshape(len(names), len(S)).T
    first, rate, second = (np.array([one.D[k] for one in columns]).reshape(len(names), len(at)).T for k in range(3))
    return B, (first, rate, second), C_Y, [column for output in wanted for column in output.columns(here)]
