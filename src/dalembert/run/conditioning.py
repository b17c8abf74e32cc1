"""How a run went past singular configurations: the smallest pivot at the ends of its steps, branches that it may have changed.

The kernels note steps across which v_i of pivots.py turns over. Such a step is made again in small parts here. With z
and v, the unit singular vectors of the smallest singular value of all rows, z . G v keeps its sign from one part to the next
unless rows became dependent in between. There branches meet, and which one a run goes on with is left to rounding.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.compiled import Compiled, Series
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.rank import unit_rows
from dalembert.compilation.rows import bodies_of, dense_rows
from dalembert.compilation.topology import spanning_forest
from dalembert.errors import SimulationError
from dalembert.formulations.run import Run
from dalembert.integrators.integrator import Integrator
from dalembert.kernels.base import tables as T
from dalembert.run.statistics import Pivots
from dalembert.run.steps import one_step

PARTS = 12  # of a step that is looked at again
NEAR = 3.0  # condition within a part of a step from where rows become dependent; 1 where they are far from it
CROSSED = 1e3  # condition within 2e-5 of a step from where a sign changed: rows that become dependent there reach far more


def crossed(run: Run, pivots: Pivots, integrator: Integrator, states: Series) -> tuple[str, ...]:
    """One text for each singular configuration that the run went through."""
    found: list[tuple[float, float, list[str]]] = []
    if not pivots.steps or not has_loops(run.mechanism):
        return ()
    for t_0, t_1 in pivots.steps:
        if not any(t_0 <= t <= t_1 for t, _, _ in found):
            found += _look(run, integrator, states, t_0, t_1)
    texts = [
        f"a singular configuration was crossed at t = {t:.6g} s (condition {condition:.1e}): joints"
        f" {', '.join(map(repr, joints))} lock there, branches meet, and the run may have changed to another"
        for t, condition, joints in found
    ]
    if pivots.forgotten and found:
        texts.insert(0, f"{pivots.forgotten} steps before those named may have crossed others")
    return tuple(texts)


def has_loops(mechanism: Compiled) -> bool:
    """Whether constraints close loops of bodies, or more than one joins a pair: the rows of a tree are never dependent."""
    elements = {row.element: bodies_of(mechanism.I, row.primitive) for row in mechanism.rows}
    return bool(spanning_forest(int(mechanism.I[T.NB]), list(elements.values())).cuts)


def _look(run: Run, integrator: Integrator, states: Series, t_0: float, t_1: float) -> list[tuple[float, float, list[str]]]:
    """(time, condition, joints) of the crossing between two times, if there is one."""
    mechanism = run.mechanism
    assert isinstance(mechanism, Mechanism)
    saved = int(np.searchsorted(states.t, t_0, side="right")) - 1
    t, x_m = (float(states.t[saved]), states.x[saved]) if saved >= 0 else (mechanism.t_0, mechanism.x_0)
    t_1 = min(t_1, float(states.t[-1])) if len(states.t) else t_1
    last = mechanism.rank - 1

    def rows(t: float, x: Array) -> Array:
        here = np.array(run.to_absolute(x[None])[0])
        return unit_rows(mechanism, dense_rows(mechanism, t, here)[0][: mechanism.m])

    W = run.W.copy()  # what is looked at again leaves no trace
    x = run.from_absolute(x_m, t)
    try:
        if t_0 - t > 1e-9 * (t_1 - t_0):  # times of fixed steps may differ by rounding
            x = one_step(run, integrator, t, x, t_0)
            t = t_0
        for at in np.linspace(t_0, t_1, PARTS + 1)[1:].tolist():
            U, _, V = np.linalg.svd(rows(t, x), full_matrices=False)
            z, v = U[:, last], V[last]
            ahead = one_step(run, integrator, t, x, at)
            if float(z @ rows(at, ahead) @ v) < 0.0:
                begin, end = (t, x), at
                for _ in range(12):
                    half = 0.5 * (begin[0] + end)
                    middle = one_step(run, integrator, *begin, half)
                    if float(z @ rows(half, middle) @ v) < 0.0:
                        end = half
                    else:
                        begin = half, middle
                condition, joints = mechanism.locking(begin[0], np.array(run.to_absolute(begin[1][None])[0]))
                if condition > CROSSED:  # else z and v only turned
                    return [(begin[0], condition, joints)]
            t, x = at, ahead
    except SimulationError:  # no way on from here; where nothing locks, not for that reason
        condition, joints = mechanism.locking(t, np.array(run.to_absolute(x[None])[0]))
        return [(t, condition, joints)] if condition > NEAR else []
    finally:
        run.W[:] = W
    return []
