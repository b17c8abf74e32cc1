"""Mutants that change nothing that the uncompiled tests could see: (file, old line, new line) without indentation, and why."""

_SIGNS = "near[i] = x[i] + max(abs(x[i]), 1.0) * (LAST_DIGIT if (i >> (k // 2)) % 2 == k % 2 else -LAST_DIGIT)"
_LOOKED_AT = "a branch point is suspected where the weakest row changes, looked at in small steps and dismissed: time only"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "kernels/formulations/variational.py",
        "copy(system.jacobian, node.A, m * n)",
        "(copy(node.A, system.jacobian, m * n))",
    ): "with a closed curve only load_node evaluates rows: both hold A at the start of the step",
    (
        "kernels/time/runge_kutta.py",
        _SIGNS,
        _SIGNS.replace("% 2 == k", "% 3 == k"),
    ): "other signs of the last digits that the state is changed by; any show how rates round",
    (
        "kernels/time/runge_kutta.py",
        _SIGNS,
        _SIGNS.replace("max(abs(x[i]), 1.0)", "(max(1.0, abs(x[i])))"),
    ): "the same number",
    (
        "kernels/formulations/moving_frame.py",
        "respond_to_row(row if turn == 1 else int(pivot.row), system)",
        "respond_to_row(row if (turn != 1) else int(pivot.row), system)",
    ): _LOOKED_AT,
    ("kernels/formulations/moving_frame.py", "for turn in range(2):", "for turn in range(3):"): _LOOKED_AT,
    (
        "lagrangian/equations.py",
        "rng = np.random.default_rng(0)",
        "rng = np.random.default_rng(1)",
    ): "other random points where functions are tried",
    (
        "lagrangian/source.py",
        "if uses[node.index] == 1 and len(written) <= _LONGEST:",
        "if (uses[node.index] != 1) and len(written) <= _LONGEST:",
    ): "generated code repeats what it uses twice instead of naming it: the same numbers",
    (
        "compilation/pack.py",
        "**dict.fromkeys((T.W_RHS, T.W_DIAG), m + 6 * I[T.NHUB]),",
        "**dict.fromkeys((T.W_RHS, T.W_DIAG), m + 7 * I[T.NHUB]),",
    ): "longer work arrays",
    (
        "compilation/pack_codes.py",
        "sizes[T.W_A] = 6 * MOST_ROWS * bodies",
        "sizes[T.W_A] = 7 * MOST_ROWS * bodies",
    ): "longer work arrays",
    (
        "kernels/formulations/minimal_step.py",
        "tau, centre = 0.0, 0.0",
        "tau, centre = 0.0, 1.0",
    ): "project_across reads the centre only where tau > 0",
    (
        "kernels/time/ensemble.py",
        "copy(counters + N_STAT, mine.pivots, V_GUARD if system.w_pivot > 0 else 0)",
        "copy(counters + N_STAT, mine.pivots, V_GUARD if system.w_pivot > 1 else 0)",
    ): "the place of a section behind others: 0 where there is none, never 1",
    (
        "kernels/coordinates/kinematics.py",
        "for i in range(uintp(nq), uintp(end + 1)):",
        "for i in range(uintp(nq), uintp((end))):",
    ): "the power is not finite beside finite accelerations only where velocities are above 1e150 and T is not finite either",
    (
        "kernels/time/poses.py",
        "t = values[k] if abs(h) >= (1.0 - 1e-12) * abs(left) else way[NOW] + h",
        "t = values[k] if abs(h) >= (1.0 - 2e-12) * abs(left) else way[NOW] + h",
    ): "rounding of the way that is left: any number of its size",
    (
        "kernels/time/own_steps.py",
        "mean, change = max(mean, abs(d - 0.5 * h * (old[i] + new[i]))), max(change, abs(d))",
        "mean, change = max(mean, abs(d - 0.5 * h * (old[i] + new[i]))), (max(abs(d), change))",
    ): "the same number",
    (
        "kernels/mechanics/relations.py",
        "over = 1.0 / s if s > 0.0 else 0.0 * s  # between two points of one body that are the same",
        "over = 1.0 / s if s > 0.0 else 1.0 * s  # between two points of one body that are the same",
    ): "s is 0 there: the same number",
    (
        "kernels/base/dense.py",
        "largest = max(largest, abs(A[n * i + j]))",
        "largest = (max(abs(A[n * i + j]), largest))",
    ): "the same number",
    (
        "kernels/formulations/tree_invariants.py",
        "for b in range(1, system.nb + 1):",
        "for b in range(1, system.nb + 2):",
    ): "behind the last body's lies the ground's entry of the next section, zero, times finite numbers",
    (
        "kernels/time/saving.py",
        "left, right, spare, status = steps.left, steps.right, dense[dense.shape[0] - 1], OK",
        "left, right, spare, status = steps.left, steps.right, dense[dense.shape[0] - 2], OK",
    ): "a place for states of the extra stages: the last row of coefficients is written after them",
    (
        "compilation/assembly.py",
        "if steps == 1 and np.all(np.abs(g) <= POSITION_TOLERANCE * sizes):",
        "if steps == 1 and np.all((np.abs(g) < POSITION_TOLERANCE * sizes)):",
    ): "residuals of just the tolerance go on to _gauss_newton, whose first look leaves the same x: no iteration",
    (
        "kernels/formulations/minimal_end.py",
        "if pivot < NEAR or not make_tangent(onto_tangent, X, system):",
        "if (pivot <= NEAR) or not make_tangent(onto_tangent, X, system):",
    ): "differs where a computed pivot is 1e-5 to the last digit, a limit that any number of its size would do for",
    (
        "lagrangian/source.py",
        "uses = dict.fromkeys((node.index for node in nodes), 0)",
        "uses = dict.fromkeys((node.index for node in nodes), 1)",
    ): "generated code names what it uses once, too: the same numbers",
    (
        "kernels/time/implicit_runge_kutta.py",
        "one += e[0, j] * stages[j, i]",
        "one -= e[0, j] * stages[j, i]",
    ): "the sign of an estimate that is squared",
}
