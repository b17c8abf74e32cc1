"""User functions on numbers with derivatives (kernels/base/dual.py): exact where they take such numbers, else by differences.

A function is compiled anew for these numbers. Where that fails (array expressions, np.linalg), and where it passes through
something without a derivative (v |v| at rest), it is called on plain numbers, and its derivatives by its inputs are central
differences, extrapolated [HairerNorsettWanner1993, II.9]: right to about 1e-11 for a function that is smooth over a thousandth
of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from dalembert.compilation.user_calls import Entry, one_of
from dalembert.compilation.user_functions import fresh
from dalembert.kernels.base import tables as T

# n inputs, m numbers of the value, p parameters lie one behind the other
SOURCE = """
def differenced(k, t, W, s, n, m, p):
    w, table = np.zeros(n + m + p), np.zeros((3, m))
    for i in range(n + p):
        at = i if i < n else m + i
        w[at] = value_of(W[s + at])
    status = real(k, value_of(t), w, 0)
    if status != 0:
        return status
    for i in range(m):
        W[s + n + i] = w[n + i] + 0.0 * t
    for j in range(n + p + 1):
        of_time, at = j == n + p, j if j < n else m + j
        d = t if of_time else W[s + at]
        x = value_of(d)
        for level in range(3):
            h = 1e-3 * max(1.0, abs(x)) / 2.0**level
            for i in range(m):
                table[level, i] = 0.0
            for sign in (1.0, -1.0):
                y = x + sign * h
                if not of_time:
                    w[at] = y
                status = real(k, y if of_time else value_of(t), w, 0)
                if status != 0:
                    return status
                for i in range(m):
                    table[level, i] += sign * w[n + i] / (2.0 * h)
        if not of_time:
            w[at] = x
        for i in range(m):
            first = (4.0 * table[1, i] - table[0, i]) / 3.0
            second = (4.0 * table[2, i] - table[1, i]) / 3.0
            W[s + n + i] += (16.0 * second - first) / 15.0 * (d - x)
    return 0


def all_smooth(W, first, m):
    fine = True
    for i in range(m):
        fine &= smooth(W[first + i])
    return fine
"""


def differentiated(entries: Sequence[Entry], row_source: str, real: Any, signature: Any) -> tuple[Any, list[str]]:
    """(a callback for numbers with derivatives, names of the functions that are differenced)

    real : the callback for plain numbers
    """
    from dalembert.kernels.base.compiler import JIT

    if not JIT:
        return _plain(entries, real), []
    exact = [_takes_duals(entry, real, signature) for entry in entries]
    made = _chosen(entries, exact, row_source, real, signature)
    return made, [entry.name for entry, fine in zip(entries, exact, strict=True) if not fine]


def _sizes(entry: Entry) -> str:
    """n, m and p of `differenced`."""
    return f"{entry.at}, {prod(entry.call.output)}, {len(entry.call.numbers)}"


def _takes_duals(entry: Entry, real: Any, signature: Any) -> bool:
    """Whether Numba compiles the function for numbers with derivatives."""
    try:
        _chosen([entry], [True], "", real, signature)
    except Exception:  # numba has several kinds without a common base
        return False
    return True


def _chosen(entries: Sequence[Entry], exact: Sequence[bool], row_source: str, real: Any, signature: Any) -> Any:
    from dalembert.kernels.base.compiler import generated
    from dalembert.kernels.base.dual import smooth, value_of

    lines = ["def callback(k, t, W, s):"]
    for i, (entry, fine) in enumerate(zip(entries, exact, strict=True)):
        test = f"if all_smooth(W, s + {entry.at}, {prod(entry.call.output)}):"
        body = [*entry.lines(f"f{i}"), test, "    return 0"] if fine else []
        body.append(f"return differenced(k, t, W, s, {_sizes(entry)})")
        lines += [f"    if k == {entry.number}:", *(f"        {line}" for line in body)]
    lines.append("    return rows(k, t, W, s)" if row_source else "    return 0")

    def given(module: str) -> dict[str, Any]:
        import numba

        names: dict[str, Any] = {"real": real, "value_of": value_of, "smooth": smooth, "np": np, "one": one_of()}
        names["functions"] = [entry.function for entry in entries]  # alive as long as the code
        for i, entry in enumerate(entries):
            if exact[i]:
                names[f"f{i}"] = fresh(entry.function, module)
        exec(SOURCE, names)
        for label in ("differenced", "all_smooth"):
            names[label] = numba.njit(error_model="numpy")(names[label])
        if row_source:
            names["rows"] = generated(row_source, "callback", signature)
        return names

    keys, calls = [entry.key for entry in entries], [line for entry in entries for line in entry.lines("real")]
    told = "\n".join([*keys, *calls, *map(str, exact), row_source, SOURCE])
    known = not any(key.startswith("id ") for key in keys)
    return generated("\n".join([*lines, ""]), "callback", signature, given=given, content=told, on_disk=known)


def _plain(entries: Sequence[Entry], real: Any) -> Callable[[int, Any, Any, int], int]:
    """In plain Python each call tries the function itself."""
    from dalembert.kernels.base.dual import Dual, smooth, value_of

    names: dict[str, Any] = {"real": real, "value_of": value_of, "np": np}
    exec(SOURCE, names)
    known = {entry.number: entry for entry in entries}

    def callback(k: int, t: Any, W: Any, s: int) -> int:
        if k not in known:
            return int(real(k, t, W, s))
        entry = known[k]
        try:
            value = np.asarray(entry.called(t, W, s), dtype=object).reshape(entry.call.output)
            exact = all(isinstance(v, Dual | int | float) and smooth(v) for v in value.ravel())
        except Exception:  # it does not take such numbers
            exact = False
        if not exact or value.shape != entry.call.output:
            return int(eval(f"differenced(k, t, W, s, {_sizes(entry)})", names | {"k": k, "t": t, "W": W, "s": s}))
        W[s + entry.at : s + entry.at + value.size] = value.ravel()
        return T.OK

    return callback
