"""The viewer's script and style sheet, bundled when the package is built (hatch_build.py)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dalembert.errors import ViewerError

FOLDER = Path(__file__).parent / "bundle"


@dataclass(frozen=True)
class Bundle:
    """Texts that go into a page."""

    script: str
    style: str


def read_bundle() -> Bundle:
    """The bundle; raises a `ViewerError` that says why, where there is none."""
    try:
        script = (FOLDER / "viewer.js").read_text(encoding="utf-8")
        return Bundle(script, (FOLDER / "viewer.css").read_text(encoding="utf-8"))
    except OSError:
        problem = FOLDER / "problem.txt"
        why = problem.read_text(encoding="utf-8").strip() if problem.exists() else "dalembert runs from its source"
        raise ViewerError(
            f"the viewer was not built: {why}; install dalembert again (pip install .) where npm packages can be fetched"
        ) from None
