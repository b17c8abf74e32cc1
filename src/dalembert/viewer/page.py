"""One HTML file that shows a run: no network, no other file; opens from disk."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from dalembert.files import written_whole
from dalembert.results.solution import BodyResult
from dalembert.viewer.bundle import read_bundle
from dalembert.viewer.scene import scenes_of

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
<noscript>{title}: this page moves and plots by its script, which is switched off here. Open it in a browser.</noscript>
{data}
<script>{script}</script>
</body>
</html>
"""


def page_of(solutions: Sequence[BodyResult]) -> str:
    """The page of one run, or of two to compare: the second is the ghost."""
    title = solutions[0].mechanism.model.name or "model"
    scenes = json.dumps(scenes_of(solutions), allow_nan=False, separators=(",", ":"))
    inside = scenes.replace("<", "\\u003c")  # no text in a scene can end the script
    return _page(title, f'<script id="scenes" type="application/json">{inside}</script>')


def live_page(title: str) -> str:
    """The page that takes its run from the server's events, and says so until they come."""
    waits = f"{html.escape(title)}: the picture is being prepared; the first time, kernels are compiled, which takes a while …"
    return _page(title, f'<p class="without" role="status">{waits}</p>')


def export_page(solutions: Sequence[BodyResult], path: str | os.PathLike[str]) -> None:
    """Write the page whole or not at all."""
    page = page_of(solutions)
    with written_whole(Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def policy() -> str:
    """What a page may do: run our script and style, by their hashes; nothing is loaded from elsewhere, a live page talks to
    the server that it came from."""
    script, style = (f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in _inline())
    return (
        f"default-src 'none'; script-src {script}; style-src {style}; img-src data: blob:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'"
    )


def _inline() -> tuple[str, str]:
    """Script and style as they stand in a page; a browser hashes them after it made every line end one \\n."""
    bundle = read_bundle()
    script, style = (text.replace("\r\n", "\n").replace("\r", "\n") for text in (bundle.script, bundle.style))
    return script.replace("</script", "<\\/script"), style.replace("</style", "<\\/style")


def _page(title: str, data: str) -> str:
    script, style = _inline()
    mark = quote((Path(__file__).parent / "mark.svg").read_text(encoding="utf-8"))
    return _PAGE.format(policy=policy(), title=html.escape(title), mark=mark, style=style, data=data, script=script)
