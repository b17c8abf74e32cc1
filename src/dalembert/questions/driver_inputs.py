"""Motions of drivers as inputs of a linear model: w joins the motion of a driver, and with it come w' and w''.

In the chart Y of the state, with named coordinates z = S Y + s_0 w + s_1 w' and outputs y,

    Y' = A_Y Y + B_0 w + B_1 w' + B_2 w''       B_l = D_l Y' - A_Y D_l Y,    s_l = D_l z - S D_l Y

where D_l is the derivative by the l-th derivative of w of states projected onto the constraints that it moves. So

    z' = A z + b_0 w + b_1 w' + b_2 w''         b_0 = S B_0 - A s_0,  b_1 = S B_1 + s_0 - A s_1,  b_2 = S B_2 + s_1

States without derivatives of the input are z_1 = z - c w - b_2 w' with c = b_1 + A b_2: z_1' = A z_1 + (b_0 + A c) w. What of
w' and w'' outputs follow at once stays beside D. Derivatives are those of neighbourhood.py, by w'' a difference of one unit:
accelerations and reactions are linear in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.compilation.between_mechanisms import told_by
from dalembert.formulations.evaluation import evaluate
from dalembert.kernels.base import tables as T
from dalembert.questions.inputs import with_motion
from dalembert.questions.neighbourhood import POINTS, STEP, Neighbourhood, central, reference_run
from dalembert.questions.state import solution_of_states
from dalembert.questions.symmetries import Steady
from dalembert.simulation.solution import Solution

ROUNDING = 1e-9  # of the terms of a feedthrough: what is left of them is nothing
NOISE = 1e-13  # of an output's value: what a difference of two of them may be off


@dataclass(frozen=True, eq=False)
class Column:
    """Of one input: B, and D of its value, rate and second derivative."""

    B: Array
    D: tuple[Array, Array, Array]


def column(
    around: Neighbourhood,
    zeta: Steady,
    name: str,
    A_Y: Array,
    S: Array,
    C_Y: Array,
    named: Callable[[Solution], Array],
    outputs: Callable[[Solution], Array],
) -> Column:
    """A driver's motion as input. C_Y : derivative of the outputs by Y;  named, outputs : (nt, n) values of a solution"""
    n, k, m = len(A_Y), len(S), len(C_Y)

    def values(change: tuple[float, float, float]) -> Array:
        """Y, Y', z, y at the state that the changed driver projects this one to."""
        pushed = with_motion(around.mechanism, name, around.t, change)
        run, t, x = reference_run(pushed), np.array([around.t]), told_by(pushed, around.mechanism, around.x[None])
        if run.project(T.PROJECT, around.t, x[0], np.zeros_like(x[0]), run.view) != T.OK:
            raise around.refused(f"driver {name!r} cannot move by {max(change):.2g}")
        evaluated = evaluate(run, t, x)
        solution = solution_of_states(pushed, t, x, evaluated)
        x = told_by(around.mechanism, pushed, x)
        rate = around.chart_rates(x, evaluated.acceleration)
        rate = rate - zeta.in_chart(around, x) if zeta.actions else rate
        return np.concatenate([around.chart(x)[0], rate[0], named(solution)[0], outputs(solution)[0]])

    driver = next(driver for driver in around.mechanism.model.drivers if driver.name == name)
    h = STEP * (1.0 if driver.primitive.kind == "A" else around.size)
    here, pushed = values((0.0, 0.0, 0.0)), values((0.0, 0.0, 1.0))
    moved = [[values((j * h * q, j * h * v, 0.0)) for j in POINTS] for q, v in ((1, 0), (0, 1))]
    by = [*(central(np.array(along), h) for along in moved), pushed - here]
    sizes = [np.abs(one) for one in by[:2]] + [np.maximum(np.abs(here), np.abs(pushed))]
    B, s, d, scale = [], [], [], []
    noise = NOISE / ROUNDING * (np.abs(here[2 * n + k :]) + around.size)
    for one, size, step in zip(by, sizes, (h, h, 1.0), strict=True):
        dY, dY_rate, dz, dy = np.split(one, [n, 2 * n, 2 * n + k])
        B.append(dY_rate - A_Y @ dY)
        s.append(dz - S @ dY)
        d.append(dy - C_Y @ dY)
        scale.append(size[2 * n + k :] + np.abs(C_Y) @ np.abs(dY) + noise / step)
    A, C = S @ A_Y @ np.linalg.inv(S), C_Y @ np.linalg.inv(S)
    b_1, b_2 = S @ B[1] + s[0] - A @ s[1], S @ B[2] + s[1]
    c = b_1 + A @ b_2
    through = [d[0] - C @ s[0] + C @ c, d[1] - C @ s[1] + C @ b_2, d[2]]
    for level, more in enumerate((np.abs(s[0]) + np.abs(c), np.abs(s[1]) + np.abs(b_2), np.zeros(k))):
        small = np.abs(through[level]) <= ROUNDING * (scale[level] + np.abs(C) @ more)
        through[level] = np.where(small, 0.0, through[level]).reshape(m)
    return Column(S @ B[0] - A @ s[0] + A @ c, (through[0], through[1], through[2]))
