"""What is released: sdist and wheel built twice are the same bytes and hold all licences; the wheel runs alone.

    python -m benchmarks.package            # builds, compares, installs into an empty environment, runs a mechanism
    python -m benchmarks.package --no-run   # builds and compares only

Needs a package index that pip can reach.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LICENCES = ("LICENSE", "licenses/three.txt", "licenses/uplot.txt")
SCRIPTS = ("viewer.js", "viewer.css")
LEFT_OUT = (".git", ".venv", "build", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", "_build")
BUILD = "import sys; from hatchling import build as b; print(b.build_sdist(sys.argv[1])); print(b.build_wheel(sys.argv[1]))"


def python_of(folder: Path) -> str:
    """The interpreter of a new environment."""
    venv.create(folder, with_pip=True)
    return str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def built(python: str, place: Path) -> dict[str, str]:
    """Names and SHA-256 of what a copy of the sources builds to."""
    source, out = place / "source", place / "out"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*LEFT_OUT))
    out.mkdir()
    subprocess.run([python, "-c", BUILD, str(out)], cwd=source, check=True, capture_output=True, text=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())}


def missing(out: Path) -> list[str]:
    """Licences and scripts that a release has to hold and does not."""
    wheel, sdist = next(out.glob("*.whl")), next(out.glob("*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = archive.namelist()
    with tarfile.open(sdist) as archive:
        in_sdist = archive.getnames()
    lacking = [f"{wheel.name}: {name}" for name in (*LICENCES, *SCRIPTS) if not any(n.endswith(name) for n in in_wheel)]
    return lacking + [f"{sdist.name}: {name}" for name in LICENCES if not any(n.endswith(name) for n in in_sdist)]


def run_alone(wheel: Path, place: Path) -> str:
    """Install a wheel with its dependencies into an empty environment, away from the sources; what it prints."""
    python = python_of(place / "alone")
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
    empty = place / "empty"
    empty.mkdir()
    command = [python, "-m", "dalembert", "run", "pendulum_3d", "--t-end", "0.5", "--out", "run.zarr", "--plot", "run.png"]
    printed = subprocess.run(command, cwd=empty, check=True, capture_output=True, text=True).stdout
    export = "import dalembert as da; da.load('run.zarr').export_html('run.html')"
    subprocess.run([python, "-c", export], cwd=empty, check=True)
    assert (empty / "run.html").stat().st_size > 500_000
    return printed


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        python = python_of(place / "tools")
        subprocess.run([python, "-m", "pip", "install", "-q", "hatchling>=1.26"], check=True)
        first, second = (built(python, place / name) for name in ("one", "two"))
        for name, digest in first.items():
            print(f"{name}: {'the same bytes twice' if second.get(name) == digest else 'DIFFERENT BYTES'} ({digest[:16]})")
        lacking = missing(place / "one" / "out")
        print("licences and scripts: " + (", ".join(lacking) + " MISSING" if lacking else "all there"))
        if first != second or lacking:
            sys.exit(1)
        if "--no-run" not in sys.argv:
            printed = run_alone(next((place / "one" / "out").glob("*.whl")), place)
            print(f"alone in an empty environment: {next(line for line in printed.splitlines() if 'trusted' in line)}")


if __name__ == "__main__":
    main()
