"""dalembert doctor"""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Annotated, Any

import typer

from dalembert.cli.console import Code, Voice, print_json, reported_errors

REQUIRED = ("numpy", "scipy", "numba", "llvmlite", "xarray", "numcodecs", "matplotlib", "pydantic", "PyYAML", "typer", "rich")
OPTIONAL = {
    "pyarrow": "export to Parquet",
    **dict.fromkeys(("h5netcdf", "h5py"), "export to netCDF"),
    "imageio-ffmpeg": "animations as .mp4",
    "pin": "benchmarks against Pinocchio",
}
OPTIONS = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")


def doctor(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """Show versions, the machine, the kernel cache and what is compiled; exit code 1 when something is wrong."""
    with reported_errors():
        findings = examine()
        if as_json:
            print_json(findings)
        else:
            _show(findings)
        if findings["problems"]:
            raise typer.Exit(Code.FAILED)


def examine() -> dict[str, Any]:
    """Everything that `doctor` shows, as plain data."""
    import numba

    from dalembert import __version__
    from dalembert.cli.kernels import KERNELS
    from dalembert.kernels.base.cache import CACHE, NOT_KEPT

    versions = {name: _version(name) for name in REQUIRED}
    problems = [f"{name} is not installed" for name, version in versions.items() if version is None]
    if CACHE is None:
        problems.append(NOT_KEPT.format(why="no cache folder can be written"))
    return {
        "versions": {"dalembert": __version__, "python": platform.python_version(), **versions},
        "optional": {name: _version(name) for name in OPTIONAL},
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "threads": int(numba.get_num_threads()),
        },
        "environment": {name: os.environ[name] for name in OPTIONS if name in os.environ},
        "cache": {"folder": str(CACHE or "none"), "writable": CACHE is not None},
        "kernels": {kernel.name: kernel.state for kernel in KERNELS},
        "problems": problems,
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    import llvmlite.binding  # type: ignore[import-untyped]

    return f"{platform.machine()}, {llvmlite.binding.get_host_cpu_name()}"


def _show(findings: dict[str, Any]) -> None:
    from rich.table import Column, Table

    from dalembert.cli.kernels import KERNELS

    table = Table("", "", Column(overflow="fold"), box=None, pad_edge=False, show_header=False)

    def row(part: str, name: str, value: object) -> None:
        table.add_row(part, name, str(value))

    for name, version in findings["versions"].items():
        row("version", name, version or "missing")
    for name, version in findings["optional"].items():
        row("optional", name, version or f"not installed ({OPTIONAL[name]})")
    for name, value in findings["machine"].items():
        row("machine", name, value)
    for name, value in findings["environment"].items():
        row("environment", name, value)
    for kernel in KERNELS:
        row("kernel", kernel.name, f"{findings['kernels'][kernel.name]} ({kernel.purpose})")
    row("results", "files", "only where --out and --plot say; nothing else is written but the cache")
    voice = Voice()
    voice.show(table)
    voice.say(f"python: {sys.executable}")  # paths stay whole, to be copied
    voice.say(f"cache, {'' if findings['cache']['writable'] else 'not '}writable: {findings['cache']['folder']}")
    if "not compiled" in findings["kernels"].values():
        voice.say("kernels are compiled when first needed; `dalembert warmup --all` compiles them now")
    for problem in findings["problems"]:
        voice.say(f"problem: {problem}")
    voice.say("all is well" if not findings["problems"] else "see the problems above")
