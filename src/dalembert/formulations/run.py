"""What a formulation hands to the integrator: tables with settings, a workspace, compiled slots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.compilation.callbacks import Callbacks
from dalembert.compilation.catalogue import compiled_kernel
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.compiled_loops import entry
from dalembert.compilation.lagrangian import GeneratedCode
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.tree import Tree
from dalembert.errors import SimulationError
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.views import System


@dataclass(frozen=True, eq=False)
class Run:
    """I, F, W as in kernels/base/tables.py; system, project and correct fill seams of kernels/base/slots.py.

    tree : the relative coordinates in which the run goes on, None when it uses the mechanism's own
    stages : 0 = Runge-Kutta stages are not projected, 1 = onto the constraints, 2 = onto constraints and invariants
    derived : module of the kernel of the same name that stands in for `system` with numbers with derivatives, "" for none
    own_slopes : of a formulation that makes its own steps, the loop that finds exact derivatives of forces for one, "" for
        none;  slopes_after : so many steps
    """

    mechanism: Compiled
    I: npt.NDArray[np.int64]
    F: Array
    W: Array
    system: Any
    project: Any
    correct: Any
    stages: int
    callbacks: Callbacks | GeneratedCode
    tree: Tree | None = None
    derived: str = ""
    own_slopes: str = ""
    slopes_after: int = 0

    def __post_init__(self) -> None:
        """The header of I names what fills the seams of the kernels, which read I, F and W by their addresses."""
        from dalembert.kernels.base.slots import CALLBACK_SIGNATURE, EQUATIONS_SIGNATURE, FORCES_SIGNATURE, address

        for label, dtype in (("I", np.int64), ("F", np.float64), ("W", np.float64)):
            array = getattr(self, label)
            if array.dtype != dtype or array.ndim != 1 or not array.flags.c_contiguous:
                raise TypeError(f"{label} of a run is not an array of one dimension of {dtype.__name__} in one piece")
        seams = {T.AT_EQUATIONS: self.system, T.AT_PROJECTION: self.project, T.AT_CORRECTION: self.correct}
        for place, function in seams.items():
            self.I[place] = address(function, EQUATIONS_SIGNATURE)
        self.I[T.AT_FORCES], self.I[T.AT_LAWS] = (address(seam, FORCES_SIGNATURE) for seam in (self.forces, self.laws))
        self.I[T.AT_CALLBACK] = address(self.callbacks.compiled, CALLBACK_SIGNATURE)
        if self.plain is self:
            object.__setattr__(self, "W", self.callbacks.with_room(self.W))
        self.I[T.F_SIZE], self.I[T.W_SIZE] = len(self.F), len(self.W)

    @cached_property
    def view(self) -> Any:
        """What kernels take."""
        return System(self.I, self.F, self.W)

    def again(self) -> Run:
        """The same with a workspace of its own, as that of this one is."""
        other, W = object.__new__(type(self)), self.W.copy()
        other.__dict__.update(self.__dict__, W=W, view=System(self.I, self.F, W))
        return other

    @property
    def lanes(self) -> int:
        """Runs side by side that its states belong to, component by component in turns."""
        return 1

    @property
    def as_told(self) -> bool:
        """Whether its states are those of its mechanism, of bodies and joints, and nothing more."""
        return type(self) is Run and self.tree is None and isinstance(self.mechanism, Mechanism)

    @property
    def plain(self) -> Run:
        """Without derivatives by parameters, which may lie behind the states (run/tangents.py)."""
        return self

    @property
    def moving(self) -> bool:
        """Whether times at which something breaks depend on parameters."""
        return False

    def pass_break(self, advance: Any) -> None:
        """Called after a step, after each where something is `moving`."""

    def tangents(self, x: Array) -> Array:
        """(nt, n, p) derivatives by parameters that (nt, ..) states of the run have behind them."""
        return np.zeros((len(x), 0, 0))

    def rate(self, t: float, x: Array, dx: Array) -> int:
        """dx <- x' at one state; status."""
        return int(self.system(T.RATE, t, x, dx, self.view))

    @property
    def size(self) -> int:
        """Number of coordinates and velocities in the state."""
        return int(self.I[T.NQ] + self.I[T.NU])

    @property
    def state_size(self) -> int:
        """Number of all components of the state."""
        return int(self.I[T.NX])

    @property
    def velocity_map(self) -> npt.NDArray[np.int64]:
        """Blocks of q' = N(q) u in the order of q: first coordinate, first velocity in the state, and how many q' = u follow,
        or -4 for Euler parameters driven by an angular velocity in body axes."""
        nq = int(self.I[T.NQ])
        starts: list[int] = []
        if self.tree is not None:
            starts = [int(link.q) for link in self.view.links if link.turn >= T.QUATERNION]
        elif isinstance(self.mechanism, Mechanism):
            starts = self.mechanism.quaternion_columns
        blocks, q, u = [], 0, nq
        for start in [*sorted(starts), nq]:
            if start > q:
                blocks.append((q, u, start - q))
            blocks.append((start, u + start - q, -4))
            q, u = start + 4, u + start - q + 3
        return np.array(blocks[:-1], dtype=np.int64).reshape(-1, 3)

    def from_absolute(self, x: Array, t: float = 0.0) -> Array:
        """The run's own state for one state of the mechanism at time t; a plain run also takes (nt, nx) of them."""
        return x.copy() if self.tree is None else self.tree.from_absolute(x)

    def beside(self, x: Array, near: Array) -> Array:
        """A first state, with what a run is free to choose (a basis) as in that of a run whose numbers hardly differ."""
        return x

    def to_absolute(self, x: Array) -> Array:
        """(nt, nx) states of the mechanism for (nt, n) states of the run."""
        if self.tree is None:
            return x
        I, F = self.tree.I, self.tree.F
        out = np.zeros((len(x), len(self.mechanism.x_0)))
        entry("tree_states")(np.ascontiguousarray(x), out, System(I, F, self.W[: I[T.W_DENSE]].copy()))
        return out

    def more(self, x: Array) -> dict[str, Array]:
        """What (nt, n) states of the run hold beyond those of the mechanism, by name, first axis time; kept with a solution."""
        return {}

    def restarts(self, x: Array) -> int:
        """How often a basis that is carried from step to step had to be found afresh up to this state."""
        return 0

    def failure(self, status: int, advance: Any) -> SimulationError | None:
        """Why a step ended with a status that only this run has; None for those that all have."""
        return None

    @property
    def passes(self) -> bool:
        """Whether it goes through singular configurations."""
        return False

    def stage_advice(self, condition: float) -> str:
        """What to do where implicit stages could not be solved, of a run that knows more than the integrator."""
        return ""

    def element_of_row(self, row: int) -> str:
        """The joint or driver that a constraint row of this run belongs to."""
        return self.mechanism.element_of_row(row) if self.tree is None else self.tree.row_elements[row]

    def element_of_primitive(self, primitive: int) -> str:
        """The joint or driver that a primitive of this run belongs to."""
        rows = [row for row in self.mechanism.rows if self.tree is None or row.element in self.tree.cut]
        names = {row.primitive: row.element for row in rows}
        return names.get(list(names)[primitive] if self.tree is not None else primitive, "?")

    @property
    def forces(self) -> Any:
        """The slot of force elements and prescribed motions; nothing is compiled for a model without any."""
        name = "force_elements" if self.I[T.NFORCE] > 0 or self.I[T.NMOTION] > 0 else "no_forces"
        if self.I[T.NCHOICE] > 0:
            name = "choosing_bodies" if self.tree is None else "choosing_cut_joints"
        elif self.I[T.NTRACED] > 0:
            name = "forces_and_rows"
        return compiled_kernel(name)

    @property
    def laws(self) -> Any:
        """The slot of force elements that few models have."""
        return compiled_kernel("force_laws" if self.I[T.NLAW] > 0 else "no_forces")
