"""Rules of the house that a program can check."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dalembert

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "dalembert"
MAX_LINES = 400
KERNEL_IMPORTS = ("__future__", "math", "numba", "numpy", "dalembert.kernels")
COMPILER_IMPORTS = (
    *(*KERNEL_IMPORTS, "collections", "gc", "hashlib", "linecache", "os", "pathlib", "sys", "sysconfig"),
    *(
        "tempfile",
        "time",
        "types",
        "typing",
        "contextlib",
        "ctypes",
        "dataclasses",
        "functools",
        "importlib.util",  # names of relative imports, which kernels of others may have
        "llvmlite",
        "operator",
        "pickle",
        "re",
        "threading",
        "uuid",
        "warnings",
        "weakref",
    ),
)
HEAVY = ("matplotlib", "numba", "pandas", "pydantic", "scipy", "sympy", "xarray", "yaml", "zarr")
TEXT_SUFFIXES = {".py", ".md", ".toml", ".bib", ".yaml", ".yml", ".json", ".txt", ".sh", ".cfg", ".js", ".mjs", ".css", ""}
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".ci")


def python_files(folder):
    return sorted(folder.rglob("*.py"))


def name_of(file):
    return file.relative_to(ROOT).as_posix()


def package_of(file):
    """The package that relative imports of a module start from."""
    return file.relative_to(ROOT / "src").parts[:-1]


def imports_of(source, package=()):
    """Every module that a source imports anywhere, relative imports resolved; `from a import b` gives a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            origin = ".".join((*base, *filter(None, [node.module])))
            found |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
    return found


def within(module, packages):
    return any(module == package or module.startswith(package + ".") for package in packages)


def silent_tests(source):
    """Names of the test functions that assert nothing."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not asserts_something(node)
    ]


def asserts_something(function):
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("raises", "warns", "fail") or name.startswith(("check_", "assert_")):
                return True
    return False


@pytest.mark.parametrize("file", python_files(ROOT / "src"), ids=name_of)
def test_no_source_file_is_too_long(file):
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{name_of(file)} has {lines} lines; it holds two ideas"


@pytest.mark.parametrize("file", python_files(PACKAGE / "kernels"), ids=name_of)
def test_kernels_import_only_numbers_and_kernels(file):
    source = file.read_text(encoding="utf-8")
    allowed = COMPILER_IMPORTS if file.parent.name == "base" else KERNEL_IMPORTS
    foreign = {module for module in imports_of(source, package_of(file)) if not within(module, allowed)}
    assert foreign <= {"dalembert"}  # `from dalembert import kernels` also names the package itself


@pytest.mark.parametrize("file", python_files(PACKAGE / "model"), ids=name_of)
def test_models_import_no_kernels(file):
    imported = imports_of(file.read_text(encoding="utf-8"), package_of(file))
    assert [module for module in imported if within(module, ("dalembert.kernels", "numba"))] == []


def test_import_rules_catch_violations():
    package = ("dalembert", "model")
    for line in ("from dalembert.kernels import rotation", "from dalembert import kernels", "from ..kernels import a"):
        assert any(within(module, ("dalembert.kernels",)) for module in imports_of(line, package)), line
    assert imports_of("from .body import Body", package) == {"dalembert.model.body", "dalembert.model.body.Body"}
    assert not within("numpyro", ("numpy",))


@pytest.mark.parametrize("file", sorted((ROOT / "tests").rglob("test_*.py")), ids=name_of)
def test_every_test_asserts_something(file):
    assert silent_tests(file.read_text(encoding="utf-8")) == []


def test_silent_tests_are_caught():
    source = "def test_a(): plot(1)\ndef test_b(): check_energy(1)\nclass TestC:\n    def test_d(self): run()"
    assert silent_tests(source) == ["test_a", "test_d"]


def test_no_machine_paths_or_registries():
    """Nothing in the tree points at one person's machine or at one package registry."""
    roots = "|".join(("tmp", "home", "work", "root", "Users", "opt"))
    hosts = "|".join(("pypi", "files.pythonhosted", "registry.npmjs"))
    forbidden = re.compile(rf"(?<![\w./:~-])/(?:{roots})/[\w.-]+|\b[A-Z]:\\\\?Users|\b(?:{hosts})\.org\b")
    assert forbidden.search("see /" + "home/someone/runs")
    assert forbidden.search("https://pypi" + ".org/simple")
    assert not forbidden.search("src/dalembert/work/home/x and a/b")
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.is_file()]
    files += [file for file in ROOT.iterdir() if file.is_file()]
    files = [file for file in files if file.suffix in TEXT_SUFFIXES and not {"__pycache__", "_build", ".git"} & set(file.parts)]
    found = [
        f"{name_of(file)}: {match[0]}"
        for file in files
        if (match := forbidden.search(file.read_text(encoding="utf-8", errors="replace")))
    ]
    assert len(files) > 10
    assert found == []


@pytest.mark.skipif(not (PACKAGE / "__init__.py").exists(), reason="the package has no __init__.py yet")
def test_import_loads_nothing_heavy():
    """`import dalembert` stays fast: heavy packages are loaded by what needs them."""
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import dalembert"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": ""},
        timeout=60,
    )
    loaded = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines() if line.startswith("import time:")}
    assert "dalembert" in loaded
    assert sorted(module for module in loaded if within(module, HEAVY)) == []


def test_recipe_has_the_lowest_versions_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = dict(re.findall(r"- ([\w-]+) >=([\d.]+)", (ROOT / "recipe" / "meta.yaml").read_text().partition("  run:")[2]))
    named["matplotlib"] = named.pop("matplotlib-base")
    assert named.pop("python") == project["requires-python"].removeprefix(">=")
    assert named == {name.lower(): version for name, version in (one.split(">=") for one in project["dependencies"])}
    assert f'version = "{dalembert.__version__}"' in (ROOT / "recipe" / "meta.yaml").read_text()
    assert f"version: {dalembert.__version__}\n" in (ROOT / "CITATION.cff").read_text()
