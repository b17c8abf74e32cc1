"""The program as a whole, and its smaller commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dalembert import __version__
from dalembert.cli import app
from dalembert.cli.kernels import KERNELS
from dalembert.gallery import GALLERY

SOURCE = Path(__file__).parents[2] / "src"
HEAVY = ("numba", "scipy", "xarray", "zarr", "matplotlib", "yaml", "sympy")  # typer itself imports pydantic


def call(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["view", "--help"],
        ["compare", "--help"],
        ["benchmark", "--help"],
        ["new", "--help"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_help_imports_nothing_heavy(arguments):
    program = (
        "import sys\nfrom dalembert.cli import app\n"
        f"try:\n    app({arguments!r})\nfinally:\n"
        f"    print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "HEAVY []" in result.stderr


def test_help_names_commands_and_exit_codes():
    text = call("--help").stdout
    assert call().stdout.split() == text.split()
    commands = (
        "run",
        "view",
        "plot",
        "compare",
        "kinematics",
        "gallery",
        "new",
        "check",
        "export",
        "benchmark",
        "warmup",
        "doctor",
    )
    for word in (*commands, "Exit codes", "130"):
        assert word in text
    for command in ("run", "view", "plot", "compare", "new", "check", "export", "benchmark"):
        assert "Exit codes" in call(command, "--help").stdout
    text = call("run", "--help").stdout
    for option in ("--t-end", "--formulation", "--projection", "--invariants", "--coordinates", "--integrator", "--rtol",
                   "--atol", "--step", "--save-every", "--out", "--plot", "--json", "--quiet"):  # fmt: skip
        assert option in text


def test_version():
    assert call("--version").stdout == f"dalembert {__version__}\n"


def test_unknown_command_is_one_line():
    result = call("rum", "slider_crank")
    assert result.exit_code == 2
    assert result.stderr.startswith("dalembert: error: No such command 'rum'")
    assert result.stderr.count("\n") == 1


def test_gallery_lists_everything():
    result = call("gallery")
    assert result.exit_code == 0
    for entry in GALLERY.values():
        assert entry.name in result.stdout
    entries = json.loads(call("gallery", "--json").stdout)
    assert [entry["name"] for entry in entries] == list(GALLERY)
    assert entries[0].keys() == {"name", "description", "source", "t_end"}


def test_kernels_are_all_there():
    """Every entry point of kernels/ is in the list that warmup and doctor use."""
    from numba.core.dispatcher import Dispatcher

    from dalembert.kernels.base.cache import DiskCache

    found = set()
    for file in (SOURCE / "dalembert" / "kernels").rglob("[a-z]*.py"):
        module = __import__(".".join(file.relative_to(SOURCE).with_suffix("").parts), fromlist=["*"])
        found |= {
            name
            for name, value in vars(module).items()
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__
            if isinstance(value._cache, DiskCache)
        }
    carried = {f"carried{width}{end}" for width in ("", "_many", "_four", "_few", "_one") for end in ("", "_correction")}
    within = {"factorise", "solve", "newton_update"}  # compiled with the kernels that call them
    only_derivatives = {"rate_columns", "exact_slopes", "exact_forces", "jet_derivatives", *carried}  # when they are asked for
    assert found - within - only_derivatives == {kernel.name for kernel in KERNELS}


def test_warmup_compiles_what_is_missing():
    result = call("warmup")
    assert result.exit_code == 0
    needed = [kernel for kernel in KERNELS if not kernel.optional]
    assert f"{len(needed)} kernels" in result.stdout
    assert "ready after" in result.stdout
    assert {kernel.state for kernel in needed} == {"cached"}
    assert "0 to compile" in call("warmup").stdout
    assert call("warmup", "--quiet").output == ""
    assert call("warmup", "--all").stdout.startswith(f"{len(KERNELS)} kernels")
    assert {kernel.state for kernel in KERNELS} == {"cached"}


@pytest.mark.slow
def test_warmup_into_an_empty_cache(tmp_path):
    """The cache moves with NUMBA_CACHE_DIR; before, nothing is compiled there, afterwards the default path is."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": str(tmp_path)}

    def program(*arguments):
        command = [sys.executable, "-c", "from dalembert.cli import app; app()", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=True).stdout

    assert set(json.loads(program("doctor", "--json"))["kernels"].values()) == {"not compiled"}
    needed = {kernel.name for kernel in KERNELS if not kernel.optional}
    assert f"{len(needed)} kernels, {len(needed)} to compile" in program("warmup")
    after = json.loads(program("doctor", "--json"))
    assert {name for name, state in after["kernels"].items() if state == "cached"} == needed
    assert after["cache"]["folder"] == str(tmp_path / "dalembert")


def test_doctor():
    result = call("doctor")
    assert result.exit_code == 0, result.output
    for word in ("dalembert", "numba", "cache", "writable", "runge_kutta", "all is well"):
        assert word in result.stdout
    findings = json.loads(call("doctor", "--json").stdout)
    assert "imageio-ffmpeg" in findings["optional"]
    assert findings["versions"]["dalembert"] == __version__
    assert findings["problems"] == []
    assert set(findings["kernels"]) == {kernel.name for kernel in KERNELS}
    assert findings["machine"]["cores"] >= 1


def test_doctor_shows_a_long_folder_whole(monkeypatch):
    from dalembert.cli import doctor

    folder = "/".join(["", *(f"folder{k}" for k in range(40))])
    findings = doctor.examine()
    monkeypatch.setattr(doctor, "examine", lambda: {**findings, "cache": {"folder": folder, "writable": True}})
    result = call("doctor")
    assert f"cache, writable: {folder}\n" in result.stdout and "…" not in result.stdout


def test_help_shows_no_type_of_flags():
    shown = call("export", "--help").stdout
    assert "<float>" in shown and "--quiet" in shown and "bool" not in shown and "bool" not in call("--help").stdout


def test_doctor_finds_what_is_wrong(monkeypatch):
    from dalembert.cli import doctor

    monkeypatch.setattr(doctor, "_version", lambda package: None)
    result = call("doctor")
    assert result.exit_code == 1
    assert "problem: numba is not installed" in result.stdout
