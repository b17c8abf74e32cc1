"""How the sources are built, in numbers: argument lists, lines, knots of imports, repeated lines, files to touch, packing.

python -m benchmarks.house [--quick]: every measure with its goal; exit 1 where one misses it. --quick leaves out what compiles.
"""

from __future__ import annotations

import ast
import io
import itertools
import keyword
import os
import re
import subprocess
import sys
import tempfile
import time
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "dalembert"
RUN = 6  # lines that make a repetition
COMMON = 8  # places, above which a run of lines is too common to count

PAGE = ROOT / "docs" / "built.md"  # says what to open in order to add something
TOUCHED = {"joint": 2, "force": 2, "formulation": 3, "integrator with a tableau": 2}  # files, at most


def trees() -> dict[Path, ast.Module]:
    """Every source file, parsed."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def name_of(path: Path) -> str:
    """The module in a file."""
    return ".".join(("dalembert", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def import_graph(files: dict[Path, ast.Module]) -> dict[str, set[str]]:
    """Modules of the package that each imports, inside functions and for type checkers too."""
    modules = {name_of(path) for path in files}
    graph: dict[str, set[str]] = {}
    for path, tree in files.items():
        found: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {m if (m := f"{node.module}.{a.name}") in modules else node.module for a in node.names}
            elif isinstance(node, ast.Import):
                found |= {a.name for a in node.names}
        graph[name_of(path)] = (found & modules) - {"dalembert", name_of(path)}
    del graph["dalembert"]
    return graph


def knots(graph: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that reach each other."""
    reach = {v: reached(graph, v) for v in graph}
    return [{w for w in reach[v] if v in reach[w]} | {v} for v in graph]


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """What is imported from a module on."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        if (v := waiting.pop()) not in found:
            found.add(v)
            waiting += graph[v]
    return found


def shapes(text: str) -> list[str]:
    """Each line with code, with its names, strings and numbers left out."""
    lines: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            lines[token.start[0]].append(token.string if keyword.iskeyword(token.string) else "n")
        elif token.type in (tokenize.NUMBER, tokenize.STRING):
            lines[token.start[0]].append("v")
        elif token.type == tokenize.OP:
            lines[token.start[0]].append(token.string)
    return [" ".join(parts) for _, parts in sorted(lines.items())]


def repeated(files: dict[Path, ast.Module]) -> int:
    """Pairs of files, or places in one, that share a run of lines of the same shape; runs without much in them do not count."""
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path in files:
        lines = [line for line in shapes(path.read_text(encoding="utf-8")) if not line.startswith(("from", "import"))]
        for k in range(len(lines) - RUN + 1):
            run = tuple(lines[k : k + RUN])
            if sum(len(line) > 6 for line in run) >= RUN - 1:
                places[run].append((path, k))
    pairs: set[tuple[Path, Path]] = set()
    for found in places.values():
        if len(found) <= COMMON:
            apart = itertools.combinations(found, 2)
            pairs |= {(a, b) for (a, i), (b, j) in apart if a != b or abs(i - j) >= RUN}
    return len(pairs)


def to_open(kind: str) -> list[str]:
    """Files that the page on how it is built names for adding something, options included."""
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(rf"\| an? {kind} \|", line))
    return re.findall(r"`([\w/]+\.py)`", row)


def packs() -> dict[str, int]:
    """How often a model is packed while it is compiled: plain, planar, with redundant joints."""
    from dalembert import gallery
    from dalembert.compilation import assembly, compile, phases

    counts: dict[str, int] = {}
    before = assembly.pack
    for label, name, kind in (
        ("plain", "slider_crank", "absolute"),
        ("planar", "planar_quadrangle", "planar"),
        ("redundant", "bricard", "absolute"),
    ):
        counts[label] = 0

        def counted(*arguments: Any, label: str = label, **named: Any) -> Any:
            counts[label] += 1
            return before(*arguments, **named)

        assembly.pack = phases.pack = counted  # type: ignore[attr-defined]
        compile.compile(gallery.build(name), kind)  # type: ignore[call-overload]
    assembly.pack = phases.pack = before  # type: ignore[attr-defined]
    return counts


def cpu_of(arguments: list[str]) -> float:
    """CPU seconds of a process with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        begin = os.times()
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
        end = os.times()
    return end.children_user + end.children_system - begin.children_user - begin.children_system


def measures(quick: bool) -> list[tuple[str, float, float, str]]:
    """(what, value, goal, more)"""
    files = trees()
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    kernels = [path for path in files if "kernels" in path.relative_to(SOURCE).parts]
    functions = [f for path in kernels for f in ast.walk(files[path]) if isinstance(f, ast.FunctionDef)]
    longest = max(functions, key=lambda f: len(f.args.args) + len(f.args.kwonlyargs))
    knot = max(knots(import_graph(files)), key=len)
    rows: list[tuple[str, float, float, str]] = []
    for kind, goal in TOUCHED.items():
        touched = to_open(kind)
        rows.append((f"files to touch for a new {kind}", len(touched), goal, ", ".join(touched)))
    rows += [
        ("longest argument list in kernels", len(longest.args.args) + len(longest.args.kwonlyargs), 16, longest.name),
        ("lines in kernels", sum(lines[path] for path in kernels), 7800, ""),
        ("lines in all", sum(lines.values()), 42000, ""),
        ("longest file", max(lines.values()), 400, name_of(max(lines, key=lines.__getitem__))),
        ("modules at the root", len(list(SOURCE.glob("*.py"))), 12, ""),
        ("modules in kernels/ itself", len(list((SOURCE / "kernels").glob("*.py"))), 8, ""),
        ("largest knot of modules", len(knot), 12, ", ".join(sorted(m.removeprefix("dalembert.") for m in knot))),
        ("pairs of repeated lines", repeated(files), 40, ""),
    ]
    rows += [(f"pack per compile, {label}", count, 1, "") for label, count in packs().items()]
    if not quick:
        first = "import dalembert as da; da.simulate(da.gallery.build('pendulum_3d'), 0.1)"
        rows.append(("compile, default path, CPU s", cpu_of(["-c", first]), 5.5, "with the run and the import"))
        rows.append(("all kernels, CPU s", cpu_of(["-m", "dalembert", "warmup", "--all"]), 90, "warmup --all"))
    return rows


def main(arguments: list[str]) -> int:
    """Print the table; 1 where a measure misses its goal."""
    begin = time.perf_counter()
    rows = measures("--quick" in arguments)
    for what, value, goal, more in rows:
        print(f"{'ok  ' if value <= goal else 'OVER'} {what}: {value:g} (goal {goal:g}) {more}".rstrip())
    held = sum(value <= goal for _, value, goal, _ in rows)
    print(
        f"{held} of {len(rows)} hold, {time.perf_counter() - begin:.1f} s; run times: benchmarks/budgets.py, benchmarks.peers"
    )
    return int(held < len(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
