"""equilibrium: a pose at rest, or a steady motion, near a given state.

At rest, in displacements a along the constraints (neighbourhood.py), mass-orthonormal, with r the accelerations they allow:

    r(a) = 0,      K = -dr/da      eigenvalues of K [1/s^2]: squares of natural frequencies, negative where it is unstable

K holds the geometric stiffness of reactions, because r is differentiated along poses that meet the joints. Newton's method
with steps of limited length; where it does not bring r down, a step downhill, with eigenvalues of K made positive, as far as
forces do work. A steady motion solves Y' = zeta for the state and the rates of the actions (symmetries.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import without_time
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rows import dense_rows
from dalembert.compilation.trajectory import State
from dalembert.errors import ModelError, SimulationError
from dalembert.model.model import Model
from dalembert.model.validation import by_name, number, shown
from dalembert.questions.linear_model import LinearModel
from dalembert.questions.linearise import linearise
from dalembert.questions.neighbourhood import Neighbourhood, refuse_massless
from dalembert.questions.poses import apart, posed, scattered
from dalembert.questions.state import compiled, solution_of_states
from dalembert.questions.steady import RESTING, scale_of
from dalembert.questions.steady_motion import steady_motion
from dalembert.results.html_parts import BAD, GOOD, badge, beside, table
from dalembert.results.reactions import Reaction
from dalembert.simulation.solution import Solution
from dalembert.viewer.notebook import thumbnail

_STEPS = 200
MOST_STARTS = 100_000  # hours
_LARGEST = 0.4  # rotation [rad] of a step, or displacement over the size
_AT_REST = 1e-9  # accelerations that are left, against gravity and those of the parts


class Equilibrium(State):
    """A pose at rest or a steady motion, with the outputs of a solution: position("link"), reaction("A"), effort("motor"), ...

    residual : acceleration that is left, as part of what loads would give;  iterations : steps that it took
    stiffness : (f,) eigenvalues of the reduced stiffness by the masses [1/s^2]; empty for a steady motion
    steady_rates : what moves at a constant rate, by name
    """

    def __init__(
        self, mechanism: Mechanism, t: float, x: Array, *, residual: float, iterations: int, steady_rates: dict[str, float]
    ) -> None:
        super().__init__(mechanism, t, x)
        self.residual, self.iterations, self.steady_rates = residual, iterations, steady_rates
        self.stiffness = np.zeros(0)

    @cached_property
    def solution(self) -> Solution:
        """The same as a solution of one state."""
        told = {"kinematics": True, "pose": self._told()}
        return solution_of_states(self.mechanism, self.t, self.x, self._alone.evaluated, told)

    @cached_property
    def _alone(self) -> Solution:
        """Without what is said of its balance, which takes a linearisation."""
        return solution_of_states(self.mechanism, self.t, self.x)

    def _told(self) -> dict[str, object]:
        """What the trust report judges; rates : of actions, None at rest;  speed, scale, size : velocities [m/s], accelerations
        [m/s^2] that are there, of the mechanism [m]"""
        rates = ", ".join(f"{name!r} at {rate:.6g}" for name, rate in self.steady_rates.items())
        what = f"steady motion, {rates}" if rates else "at rest"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a state that is not steady: the report says so
            linear, verdict = self.linear, self.verdict
        around, still = linear._around, not self.steady_rates
        speed, scale = scale_of(around)
        told = {"rates": None, "limit": 10.0 * _AT_REST} if still else {"rates": linear.steady_rates, "limit": RESTING}
        return {"what": what, "verdict": verdict, "speed": speed, "scale": scale, "size": around.size, **told}

    def result(self) -> Solution:
        """Where outputs that only solutions have come from."""
        return self.solution

    def reaction(self, element: object) -> Reaction:
        """What a joint or driver does to its second body: .force, .torque (3,), world axes, acting at .point (3,)."""
        return without_time(self._alone.reaction(element))  # type: ignore[no-any-return]

    @property
    def potential_energy(self) -> float:
        """[J]"""
        return float(self._alone.energy.potential[0])

    @cached_property
    def linear(self) -> LinearModel:
        """`linearise` here, without inputs and outputs."""
        return linearise(self.mechanism, self)

    @property
    def stable(self) -> bool:
        """Whether a small push is followed by a small motion, in the linear approximation; neutral directions do not count."""
        if len(self.stiffness):
            return bool(np.all(self.stiffness >= -1e-9 * np.abs(self.stiffness).max())) and self.linear.stable
        return self.linear.stable

    @property
    def verdict(self) -> str:
        """What may be said: stable, if need be but for motions that nothing brings back, or unstable."""
        return self.linear.verdict if self.stable else "unstable"

    def _repr_html_(self) -> str:
        """For a notebook: whether it is stable, the pose, and the joint coordinates there."""
        head = badge(self.verdict, GOOD if self.stable else BAD)
        joints = [joint for joint in self.mechanism.model.joints if joint.coordinates]
        rows = [(j.name, ", ".join(f"{v:.6g}" for v in np.ravel(self.coordinate(j.name)))) for j in joints]
        both = beside(thumbnail(self.solution), table(("joint", "coordinates [rad or m]"), rows) if rows else "")
        return f"<div>{head} {escape(repr(self).strip('<>'))}{both}</div>"

    def __repr__(self) -> str:
        what = f"steady motion, {self.steady_rates}" if self.steady_rates else "at rest"
        name = self.mechanism.model.name or "model"
        return f"<Equilibrium of {name!r}: {what}, {self.verdict}, residual {self.residual:.1e}>"


@by_name
def equilibrium(
    model: Model | Mechanism,
    *,
    starts: int | Sequence[Mapping[str, float]] | None = None,
    rates: Mapping[str, float] | None = None,
) -> Equilibrium | list[Equilibrium]:
    """A pose at rest near the given one in which everything balances, stable or not; or a steady motion.

    starts : poses to start from, each {joint: coordinate [rad or m]}, or a number of random ones; gives the list of all
        different equilibria that were found, by potential energy
    rates : {name: rate [rad/s or m/s]} of what moves at a constant rate: joints, and for bodies that are free or on spherical
        joints "body.x" (shift), "joint.about_z" or "body.about_z" (turn in space), "body.spin_y" (about an axis of the body)

    Functions of time are taken as they are at t = 0.
    """
    mechanism = compiled("equilibrium", model)
    refuse_massless("equilibrium", mechanism)
    wanted = _rates(rates)
    if starts is None:
        return _one(mechanism, mechanism.x_0, wanted)
    if not isinstance(starts, int | Sequence) or (isinstance(starts, int) and starts > MOST_STARTS):
        raise ModelError(
            f"equilibrium: starts is {shown(starts)}; give a number up to {MOST_STARTS}, or a list of {{joint: coordinate}}"
        )
    poses = (
        scattered(mechanism, starts) if isinstance(starts, int) else [posed("equilibrium", mechanism, one) for one in starts]
    )
    found: list[Equilibrium] = []
    problem: SimulationError | None = None
    for x in poses:
        try:
            one = _one(mechanism, x, wanted)
        except SimulationError as error:
            problem = error
            continue
        if all(apart(mechanism, one.x[0], other.x[0]) > 1e-6 for other in found):
            found.append(one)
    if not found and problem is not None:
        raise problem
    return sorted(found, key=lambda one: one.potential_energy)


def _rates(rates: Mapping[str, float] | None) -> dict[str, float]:
    if rates is None:
        return {}
    if not isinstance(rates, Mapping):
        raise ModelError(f"equilibrium: rates is {shown(rates)}; give {{name: rate}}, such as {{'bearing': 10.0}}")
    return {str(name): number("equilibrium", f"rates[{name!r}]", value) for name, value in rates.items()}


def _one(mechanism: Mechanism, x: Array, rates: dict[str, float]) -> Equilibrium:
    if mechanism.degrees_of_freedom == 0 and not rates:
        fix = "use kinematics for its poses, inverse_dynamics (`dalembert inverse`) for what drivers supply to hold or move it"
        raise ModelError(f"equilibrium: nothing can move freely: drivers and joints leave no freedom; {fix}")
    if rates or np.abs(dense_rows(mechanism, 0.0, x)[2]).max(initial=0.0) > 0.0:
        state, found, iterations = steady_motion(mechanism, x, rates)
        moving = {a.name: float(r) for a, r in zip(found.zeta.actions, found.zeta.rates, strict=True) if r != 0.0}
        return Equilibrium(mechanism, 0.0, state, residual=found.residual, iterations=iterations, steady_rates=moving)
    x = x.copy()
    x[mechanism.nq : mechanism.nq + mechanism.nu] = 0.0
    return _at_rest(mechanism, x)


def _at_rest(mechanism: Mechanism, x: Array) -> Equilibrium:
    best, best_x, quiet = np.inf, x, 0
    for iterations in range(_STEPS):
        around = Neighbourhood("equilibrium", mechanism, 0.0, x, moving=False)
        n = around.positions.shape[1]
        size = _size(around.centre.acceleration[0], around)
        quiet = quiet + 1 if size > 0.5 * best else 0
        if size < best:
            best, best_x = size, around.x
        if best <= 1e-15 or (best <= _AT_REST and quiet > 1):
            made = Equilibrium(mechanism, 0.0, best_x, residual=best, iterations=iterations, steady_rates={})
            made.stiffness = _stiffness(mechanism, best_x)
            return made
        x = _next(around, around.rate[n:], -around.rates_derivative[n:])
    raise SimulationError(_keeps_moving(mechanism, best_x, best), time=0.0)


def _stiffness(mechanism: Mechanism, x: Array) -> Array:
    """Eigenvalues of K; of a rolling body, which has more displacements than velocities, of those that velocities allow."""
    around = Neighbourhood("equilibrium", mechanism, 0.0, x, moving=False)
    around.refuse_kinks()
    n = around.positions.shape[1]
    K = -around.rates_derivative[n:] @ (around.positions.T @ around.mass @ around.velocities)
    return np.asarray(np.sort(np.linalg.eigvals(K).real))


def _next(around: Neighbourhood, r: Array, K: Array) -> Array:
    """The next pose: Newton's, shortened until r falls; else downhill."""
    step = np.linalg.lstsq(K, r, rcond=1e-12)[0].astype(float)
    step = step * min(1.0, _LARGEST / max(around.largest(step), 1e-300))
    before = float(np.linalg.norm(r))
    part = 1.0
    while part > 0.05:
        x = _tried(around, part * step)
        if x is not None and np.linalg.norm(_accelerations(around, x)) <= (1.0 - 0.1 * part) * before:
            return x
        part *= 0.5
    if around.largest(step) < 1e-9 and np.linalg.norm(K @ step - r) <= 0.5 * before:  # rounding, not a K that vanishes
        return around.moved(step)
    if K.shape[0] != K.shape[1]:
        direction = K.T @ r
    else:
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        direction = vectors @ ((vectors.T @ r) / (np.abs(values) + 1e-6 * np.abs(values).max(initial=1.0)))
    direction *= min(1.0, _LARGEST / max(around.largest(direction), 1e-300))
    part = 1.0
    while part > 1e-4:
        x = _tried(around, part * direction)
        if x is not None:
            twist = around.positions @ direction
            there = around._evaluated(x[None]).acceleration[0]
            if twist @ around.mass @ (there + around.centre.acceleration[0]) > 0.0:  # forces do work on the way
                return x
        part *= 0.5
    return around.moved(part * direction)


def _tried(around: Neighbourhood, step: Array) -> Array | None:
    try:
        return around.moved(step)
    except SimulationError:
        return None


def _accelerations(around: Neighbourhood, x: Array) -> Array:
    """sqrt(M) u': at rest its size is that of r."""
    try:
        found = around._evaluated(x[None]).acceleration[0]
    except SimulationError:
        return np.array([np.inf])
    return np.asarray(np.linalg.cholesky(around.mass).T @ found)


def _size(acceleration: Array, around: Neighbourhood) -> float:
    each = np.abs(acceleration.reshape(-1, 6))
    largest = max(float(each[:, :3].max(initial=0.0)), around.size * float(each[:, 3:].max(initial=0.0)))
    return largest / max(scale_of(around)[1], 1e-300)


def _keeps_moving(mechanism: Mechanism, x: Array, residual: float) -> str:
    solution = solution_of_states(mechanism, np.zeros(1), x[None])
    sizes = {body.name: float(np.linalg.norm(solution.acceleration(body.name)[0])) for body in mechanism.model.bodies}
    worst = max(sizes, key=lambda name: sizes[name])
    where = ", ".join(f"{value:.3g}" for value in solution.position(worst)[0])
    return (
        f"equilibrium: none was found: body {worst!r} keeps moving, at ({where}) m with {sizes[worst]:.3g} m/s^2 "
        f"({residual:.1e} of what the loads would give); hold it by a joint or a spring, or start nearer (starts=)"
    )
