"""dalembert gallery"""

from __future__ import annotations

from typing import Annotated

import typer

from dalembert.cli.console import print_json, show_listed


def gallery(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """List the built-in mechanisms that `dalembert run` takes by name."""
    from dalembert.gallery import GALLERY

    entries = GALLERY.values()
    if as_json:
        print_json([{"name": e.name, "description": e.description, "source": e.source, "t_end": e.t_end} for e in entries])
        return
    rows = ((e.name, e.description + (f" [{e.source}]" if e.source else ""), e.t_end) for e in entries)
    show_listed(("name", "what it is [source]", "--t-end"), rows)
