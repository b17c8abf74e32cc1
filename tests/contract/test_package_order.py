"""Data flow down: a module imports from its own stage and from those before it, inside functions too; no large knots."""

import ast
from pathlib import Path

import pytest

import dalembert

SOURCE = Path(dalembert.__file__).parent
STAGES = (
    ("arrays", "errors", "files", "kernels"),
    ("model", "lagrangian"),
    ("compilation", "gallery"),
    ("remarks",),
    ("formulations", "integrators"),
    ("run",),
    ("results",),
    ("plot", "viewer", "io"),
    ("simulation",),
    ("questions",),
    ("comparison", "benchmark", "bring_your_own", "bridges"),
    ("cli", "__main__"),
)
STAGE = {package: k for k, packages in enumerate(STAGES) for package in packages}
LARGEST_KNOT = 5


def name_of(path):
    return ".".join(("dalembert", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


FILES = {name_of(path): path for path in SOURCE.rglob("*.py")}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dalembert"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in FILES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)


@pytest.fixture(scope="module")
def imports():
    """Module -> those that it imports."""
    return {
        name: {m for m in imported(ast.parse(path.read_text())) if m in FILES and m not in ("dalembert", name)}
        for name, path in FILES.items()
        if name != "dalembert"
    }


def stage(module):
    return STAGE[module.split(".")[1]]


def test_every_package_has_a_stage(imports):
    assert {name.split(".")[1] for name in imports} == set(STAGE)


def test_nothing_imports_from_a_later_stage(imports):
    upwards = [f"{name} -> {other}" for name, others in imports.items() for other in others if stage(other) > stage(name)]
    assert not upwards


def test_kernels_import_only_kernels(imports):
    assert {m.split(".")[1] for name in imports if name.startswith("dalembert.kernels") for m in imports[name]} <= {"kernels"}


def components(graph):
    """Strongly connected components, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for v in graph:
        if v not in index:
            visit(v)
    return found


def test_no_large_knots(imports):
    largest = max(components(imports), key=len)
    assert len(largest) <= LARGEST_KNOT, largest


@pytest.mark.parametrize(
    ("graph", "largest"), [({"a": {"b"}, "b": {"a"}, "c": {"a"}}, 2), ({"a": {"b"}, "b": {"c"}, "c": set()}, 1)]
)
def test_knots_are_counted(graph, largest):
    assert max(len(part) for part in components(graph)) == largest
