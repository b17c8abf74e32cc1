"""One HTML file that shows a run: no network, no other file; opens from disk."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from dalembert.io.atomic import written_whole
from dalembert.solution import Solution
from dalembert.viewer.bundle import read_bundle
from dalembert.viewer.scene import scene_of

# nothing may be loaded from elsewhere; a live page talks to the server that it came from
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; connect-src 'self'"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="dalembert">
<link rel="icon" href="data:image/svg+xml,{mark}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{data}
<script>{script}</script>
</body>
</html>
"""


def page_of(solutions: Sequence[Solution]) -> str:
    """The page of one run, or of two to compare: the second is the ghost."""
    title = solutions[0].mechanism.model.name or "model"
    scenes = json.dumps([scene_of(solution) for solution in solutions], allow_nan=False, separators=(",", ":"))
    inside = scenes.replace("<", "\\u003c")  # no text in a scene can end the script
    return _page(title, f'<script id="scenes" type="application/json">{inside}</script>')


def live_page(title: str) -> str:
    """The page that takes its run from the server's events."""
    return _page(title, "")


def export_page(solutions: Sequence[Solution], path: str | os.PathLike[str]) -> None:
    """Write the page whole or not at all."""
    page = page_of(solutions)
    with written_whole(Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _page(title: str, data: str) -> str:
    bundle = read_bundle()
    script = bundle.script.replace("</script", "<\\/script")
    mark = quote((Path(__file__).parent / "mark.svg").read_text(encoding="utf-8"))
    return _PAGE.format(policy=_POLICY, title=html.escape(title), mark=mark, style=bundle.style, data=data, script=script)
