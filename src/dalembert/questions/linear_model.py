"""A linear model z' = A z + B w, y = C z + D w of small deviations, with eigenvalues, modes and responses."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.mechanism import Mechanism
from dalembert.errors import ModelError
from dalembert.model.validation import Hinted, nearest, shown
from dalembert.questions.neighbourhood import Neighbourhood
from dalembert.questions.steady import Linearised, eigenvalues
from dalembert.results.html_parts import BAD, GOOD, badge, folded, table

ROUNDING = 1e-10  # of an eigenvalue, what of its parts is not shown
_TOLD = 4  # modes, of many

if TYPE_CHECKING:
    from dalembert.plot.linear import LinearPlots
    from dalembert.simulation.solution import Solution

Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Mode(Hinted):
    """A free motion exp(eigenvalue t) times a shape; a complex pair is one mode.

    eigenvalue : [1/s], imaginary part not negative;  frequency : |eigenvalue| / 2 pi [Hz], 0 where it does not oscillate
    damping_ratio : - real part / |eigenvalue|, negative where it grows;  state : (n,) shape in the states of the model
    """

    eigenvalue: complex
    state: Complex
    _names: tuple[str, ...]
    _states: tuple[str, ...]
    _bodies: Complex

    _meant: ClassVar = dict.fromkeys(
        ("shape", "vector", "eigenvector"),
        'mode.position("link"), .rotation("link") and .coordinate("A") are its shape, .state all of it in states of the model',
    )

    @property
    def frequency(self) -> float:
        return abs(self.eigenvalue) / (2.0 * np.pi) if self.eigenvalue.imag > 0.0 else 0.0

    @property
    def damping_ratio(self) -> float:
        return 0.0 - self.eigenvalue.real / abs(self.eigenvalue)  # no -0 where nothing damps

    def position(self, body: str) -> Complex:
        """(3,) displacement of the centre of mass, world axes; its size and phase are those of the shape."""
        return self._bodies[self._body(body), :3]

    def rotation(self, body: str) -> Complex:
        """(3,) small rotation [rad], world axes."""
        return self._bodies[self._body(body), 3:]

    def coordinate(self, name: str) -> complex:
        """Part of an independent coordinate or rate, by its name in `LinearModel.state_names`."""
        if name not in self._states:
            raise ModelError(f"there is no independent coordinate {name!r}; {nearest(name, self._states)}")
        return complex(self.state[self._states.index(name)])

    def _body(self, name: str) -> int:
        if name not in self._names:
            raise ModelError(f"there is no body {name!r}; {nearest(name, self._names)}")
        return self._names.index(name)

    def __repr__(self) -> str:
        return f"<Mode {self.eigenvalue:.6g} 1/s, {self.frequency:.6g} Hz, damping ratio {self.damping_ratio:.4g}>"


@dataclass(frozen=True, eq=False)
class LinearModel(Hinted):
    """z' = A z + B w, y = C z + D w: deviations z of independent coordinates and rates from a steady state or motion.

    state_names : of z, a joint "A" and its rate "A'" [rad, m, rad/s, m/s];  input_names, output_names : of w and y
    input_units, output_units : "" where they are not known, and of factors
    t : [s];  steady_rates : what moves at a constant rate, by name (a joint, "body.x", "body.about_z", "body.spin_y")
    residual : velocities and accelerations that are not steady, as part of those that are there
    D_rate, D_acceleration : what outputs follow at once of drivers, y = C z + D w + D_rate w' + D_acceleration w''.
        With drivers as inputs z is less than the deviations by what they follow at once of w and w'
    """

    A: Array
    B: Array
    C: Array
    D: Array
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    t: float
    steady_rates: dict[str, float]
    residual: float
    D_rate: Array
    D_acceleration: Array
    _chart: Linearised
    _around: Neighbourhood
    _to_states: Array

    _meant: ClassVar = {
        **{name: f"their names are linear.{name[:-1]}_names" for name in ("states", "inputs", "outputs")},
        **dict.fromkeys(
            ("report", "summary"),
            "linear.verdict says whether it is stable, linear.table() has its modes, linear.residual how far it is from steady",
        ),
        **dict.fromkeys(("damping", "dampings"), "linear.damping_ratios has those of the modes that oscillate"),
    }

    @property
    def mechanism(self) -> Mechanism:
        return self._around.mechanism

    @cached_property
    def eigenvalues(self) -> Complex:
        """All of A [1/s]; those that are zero, of cyclic coordinates and of steady motions next to this one, are exactly so."""
        return eigenvalues(self._chart)

    @cached_property
    def reduced_eigenvalues(self) -> Complex:
        """Those that are not zero: cyclic coordinates and the choice among steady motions are left out."""
        found = self.eigenvalues
        return np.asarray(found[found != 0.0])

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """One for each eigenvalue that is not zero, and for each pair, by frequency."""
        k, Q, upper = self._chart.staircase()
        values, shapes = np.linalg.eig(upper[k:, k:])
        found = []
        for value, shape in zip(values.astype(complex), shapes.T.astype(complex), strict=True):
            if value.imag >= 0.0:
                before = np.linalg.solve(value * np.eye(k) - upper[:k, :k], upper[:k, k:] @ shape)
                found.append(self._mode(complex(value), Q @ np.concatenate([before, shape])))
        return tuple(sorted(found, key=lambda mode: (round(abs(mode.eigenvalue.imag), 12), mode.eigenvalue.real)))

    @property
    def frequencies(self) -> Array:
        """Natural frequencies [Hz], not rad/s, of the modes that oscillate: |eigenvalue| / 2 pi."""
        return np.array([mode.frequency for mode in self.modes if mode.frequency > 0.0])

    @property
    def damping_ratios(self) -> Array:
        """Of the modes that oscillate, in the order of `frequencies`: - real part / |eigenvalue| [1]."""
        return np.array([mode.damping_ratio for mode in self.modes if mode.frequency > 0.0])

    @property
    def stable(self) -> bool:
        """Whether the state is steady and no eigenvalue has a positive real part, by more than rounding leaves."""
        return self.steady and not self._chart.grows

    @property
    def steady(self) -> bool:
        """Whether the motion stays as it is, so that stability has a meaning."""
        return self._chart.steady

    @property
    def verdict(self) -> str:
        """What may be said: stable, if need be but for what zero eigenvalues leave where it is, unstable or not steady."""
        if not self.stable:
            return "unstable" if self.steady else "not steady"
        return "stable but for motions that nothing brings back" if self._chart.staircase()[0] else "stable"

    def frequency_response(self, frequencies: npt.ArrayLike) -> Complex:
        """(n, outputs, inputs) C (i w - A)^-1 B + D + i w D_rate - w^2 D_acceleration, w = 2 pi f, infinite at a resonance

        frequencies : f [Hz]
        """
        self._refuse_unconnected("frequency_response")
        w = 2.0 * np.pi * np.atleast_1d(np.asarray(frequencies, dtype=float))
        if w.ndim != 1 or not np.isfinite(w).all():
            raise ModelError(f"frequency_response: frequencies are {shown(frequencies)}; give finite numbers [Hz]")
        found = np.full((len(w), *self.D.shape), np.inf, dtype=complex)
        for k, one in enumerate(w):
            direct = self.D + 1j * one * self.D_rate - one * one * self.D_acceleration
            with suppress(np.linalg.LinAlgError):
                found[k] = self.C @ np.linalg.solve(1j * one * np.eye(len(self.A)) - self.A, self.B) + direct
        return found

    def to_scipy(self) -> Any:
        """A scipy.signal.StateSpace."""
        from scipy.signal import StateSpace

        self._refuse_improper("to_scipy")
        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """A control.StateSpace with the same names, dots as blanks (it takes none), where python-control is installed."""
        try:
            import control  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            raise ModelError("to_control: python-control is not installed; install 'control', or use to_scipy") from None
        self._refuse_improper("to_control")
        names = {"states": self.state_names, "inputs": self.input_names, "outputs": self.output_names}
        allowed = {kind: [name.replace(".", " ") for name in listed] for kind, listed in names.items()}
        return control.ss(self.A, self.B, self.C, self.D, **allowed)

    def _refuse_unconnected(self, owner: str) -> None:
        if not self.input_names or not self.output_names:
            raise ModelError(f"{owner}: the linear model has no inputs or no outputs; give both to linearise")

    def _refuse_improper(self, owner: str) -> None:
        self._refuse_unconnected(owner)
        rows, columns = np.nonzero((self.D_rate != 0.0) | (self.D_acceleration != 0.0))
        if len(rows):
            raise ModelError(
                f"{owner}: output {self.output_names[rows[0]]!r} follows the rate or the acceleration of driver "
                f"{self.input_names[columns[0]]!r} at once, which has no state space; leave one of them out, or use "
                "frequency_response"
            )

    def motion(self, mode: int = 0, *, amplitude: float = 0.2, frames: int = 60) -> Solution:
        """One period of a mode as a `Solution`, without its decay; of one that does not oscillate, a swing of its shape there
        and back in 2 pi s. It is the shape at an amplitude that can be seen, closed pose by pose, and no motion of the model.

        mode : index into `modes`;  amplitude : of the largest rotation [rad], or displacement over the mechanism's size
        """
        from dalembert.questions.state import solution_of_states

        if not isinstance(mode, int) or not 0 <= mode < len(self.modes):
            raise ModelError(f"mode is {shown(mode)}; there are {len(self.modes)}, counted from 0")
        chosen, around = self.modes[mode], self._around
        n = around.positions.shape[1]
        y = np.linalg.solve(self._to_states, chosen.state).astype(complex)
        size = max(around.largest(y.real[:n]), around.largest(y.imag[:n]))
        turning = abs(chosen.eigenvalue.imag) or 1.0  # rad/s
        # rates of exp(i w t) instead of exp(lambda t)
        y[n:] *= 1j * turning / chosen.eigenvalue if chosen.eigenvalue else 0.0
        t = np.linspace(0.0, 2.0 * np.pi / turning, frames)
        states = np.array([around.moved((phase * y * amplitude / size).real) for phase in np.exp(1j * turning * t)])
        told = f"mode {mode}: {chosen.frequency:.4g} Hz" if chosen.eigenvalue.imag else f"mode {mode}: does not oscillate"
        return solution_of_states(around.mechanism, t, states, told={"kinematics": True, "mode": told})

    def view(self, mode: int = 0, *, amplitude: float = 0.2) -> Any:
        """Show a mode in the browser, or in place in a notebook; see `motion`."""
        return self.motion(mode, amplitude=amplitude).view()

    @property
    def plot(self) -> LinearPlots:
        """Figures: linear.plot.eigenvalues(), .bode(); .save(path, figure) writes one."""
        from dalembert.plot.linear import LinearPlots

        return LinearPlots(self)

    def table(self) -> list[dict[str, float]]:
        """One row per mode: real and imaginary part, frequency, damping ratio, time to half or double."""
        rows = []
        for mode in self.modes:
            value = mode.eigenvalue
            row = {"real": value.real, "imaginary": value.imag, "frequency": mode.frequency}
            rows.append(row | {"damping_ratio": mode.damping_ratio})
        return rows

    def texts(self, digits: int) -> list[list[str]]:
        """`table` for a person: parts that are rounding beside their eigenvalue, or beside the largest of all, are 0."""
        largest = max((abs(mode.eigenvalue) for mode in self.modes), default=0.0)
        rows = []
        for mode, row in zip(self.modes, self.table(), strict=True):
            size = abs(mode.eigenvalue)
            floor = max(ROUNDING * size, 1e-4 * ROUNDING * largest)
            whole = {"damping_ratio": floor / size if size else 0.0, "frequency": floor / (2 * np.pi)}
            rows.append([f"{value if abs(value) > whole.get(key, floor) else 0:.{digits}g}" for key, value in row.items()])
        return rows

    def __repr__(self) -> str:
        counts = f"{len(self.A)} states, {len(self.input_names)} inputs, {len(self.output_names)} outputs"
        ratios = [d if abs(d) > ROUNDING else 0.0 for d in self.damping_ratios]
        some = [f"{f:.4g} Hz (damping {d:.3g})" for f, d in zip(self.frequencies, ratios, strict=True)]
        modes = "; ".join(["", ", ".join(some[:_TOLD]) + ", ..." * (len(some) > _TOLD)]) if some else ""
        return f"<LinearModel of {self.mechanism.model.name or 'model'!r}: {counts}, {self.verdict}{modes}>"

    def _repr_html_(self) -> str:
        """For a notebook: whether it is stable, and its modes."""
        head = badge(self.verdict, GOOD if self.stable else BAD)
        rows = self.texts(4)
        modes = table(("real part [1/s]", "imaginary part [rad/s]", "frequency [Hz]", "damping ratio"), rows)
        names = {"states": self.state_names, "inputs": self.input_names, "outputs": self.output_names}
        lists = table((), [(what, ", ".join(listed) or "none") for what, listed in names.items()])
        return f"<div>{head} {escape(repr(self).strip('<>'))}{modes}{folded('names', lists)}</div>"

    def _mode(self, value: complex, y: Complex) -> Mode:
        around = self._around
        n = around.positions.shape[1]
        bodies = (around.positions @ y[:n]).reshape(-1, 6)
        if not np.abs(bodies).max(initial=0.0) > 0.0:
            bodies = (around.velocities @ y[n:]).reshape(-1, 6)
        R = around.bodies(around.x[None])[1][0]
        bodies = np.concatenate([bodies[:, :3], np.einsum("bij,bj->bi", R, bodies[:, 3:])], axis=1)
        largest = bodies.ravel()[np.argmax(np.abs(bodies))]
        return Mode(value, self._to_states @ y / largest, self.mechanism.body_names, self.state_names, bodies / largest)
