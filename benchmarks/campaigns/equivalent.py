"""Mutants that change nothing a test could see: (file, old line, new line), both without indentation, and why."""

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
}
