"""Runs on show: in the browser, or inside a notebook."""

from __future__ import annotations

import html
import sys
import tempfile
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path

from dalembert.results.solution import BodyResult
from dalembert.viewer.page import page_of


@dataclass(frozen=True)
class View:
    """A page that shows a run; a notebook displays it in place. `path` is its file, None in a notebook."""

    page: str = field(repr=False)
    path: Path | None = None

    def _repr_html_(self) -> str:
        frame = "width:100%; height:560px; border:0; border-radius:8px"
        return f'<iframe style="{frame}" allow="fullscreen" srcdoc="{html.escape(self.page)}"></iframe>'


def view(solution: BodyResult, compare: BodyResult | None = None) -> View:
    """Show a run, and another one as its ghost. Outside notebooks the page is a temporary file that outlives Python."""
    page = page_of([solution] if compare is None else [solution, compare])
    if _in_notebook():
        return View(page)
    path = Path(tempfile.mkdtemp(prefix="dalembert-")) / "view.html"
    path.write_text(page, encoding="utf-8")
    if not webbrowser.open(path.as_uri()):
        print(f"no browser could be opened; the page is {path}", file=sys.stderr)
    return View(page, path)


def _in_notebook() -> bool:
    """Whether results of a cell are displayed as HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
