"""dalembert gallery"""

from __future__ import annotations

from typing import Annotated

import typer

from dalembert.cli.console import Voice, print_json


def gallery(as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False) -> None:
    """List the built-in mechanisms that `dalembert run` takes by name."""
    from rich.table import Table

    from dalembert.gallery import GALLERY

    entries = GALLERY.values()
    if as_json:
        print_json([{"name": e.name, "description": e.description, "source": e.source, "t_end": e.t_end} for e in entries])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is [source]")
    table.add_column("--t-end", no_wrap=True)
    for entry in entries:
        source = f" [{entry.source}]" if entry.source else ""
        table.add_row(entry.name, entry.description + source, f"{entry.t_end:g} s")
    Voice().show(table)
