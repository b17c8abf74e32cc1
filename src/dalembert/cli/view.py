"""dalembert view"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalembert.cli.console import Voice, reported_errors
from dalembert.errors import ModelError

if TYPE_CHECKING:
    from dalembert.results.solution import BodyResult

Run = Annotated[
    Path, typer.Argument(metavar="RUN", help="Result store, for example run.zarr; also one that a run is still writing.")
]
Compare = Annotated[Path | None, typer.Option(help="A second result store, shown as a ghost or side by side.")]
Out = Annotated[Path | None, typer.Option(help="Write instead of show: a page (.html) or an animation (.gif, .mp4).")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address.")]
Port = Annotated[int, typer.Option(help="Port of the live view; default: any that is free.")]


def view(run: Run, compare: Compare = None, out: Out = None, browser: Browser = True, port: Port = 0) -> None:
    """Show a run in the browser: it moves, with plots and the trust report. Ctrl-C ends the view.

    The page is served on this machine's own address and follows a run that is still being computed. With --out the
    view is written as one file that needs no network.

    Exit codes:
    0 = done, or ended by Ctrl-C; 1 = there is nothing to show;
    2 = bad input (result, option, path).
    """
    voice = Voice()
    with reported_errors():
        from dalembert.cli.source import check_result
        from dalembert.viewer.server import load_run

        for path in (run, compare):
            check_result(str(path or ""))
        others = [] if compare is None else [load_run(compare)]
        if out is not None:
            _write(run, others, out)
            voice.say(f"written: {out}")
            return
        if not 0 <= port < 65536:
            raise ModelError(f"option --port is {port}; give 0 to 65535")
        _serve(run, others, browser, port, voice)


def _write(run: Path, others: list[BodyResult], out: Path) -> None:
    from dalembert.viewer.animation import export_animation
    from dalembert.viewer.page import export_page
    from dalembert.viewer.server import load_run

    solution = load_run(run)
    if out.suffix.lower() == ".html":
        export_page([solution, *others], out)
    elif others:
        raise ModelError(
            f"option --compare has no meaning for {out.suffix or 'this file'}; write a page, --out {out.stem}.html"
        )
    else:
        export_animation(solution, out)


def _serve(run: Path, others: list[BodyResult], browser: bool, port: int, voice: Voice) -> None:
    import webbrowser

    from dalembert.viewer.server import LiveServer

    try:
        server = LiveServer(run, others, port=port)
    except OSError as problem:
        raise ModelError(f"option --port {port}: {problem.strerror}; choose another one") from None
    with server:
        voice.say(f"{run} is shown at {server.url} (Ctrl-C ends the view)")
        if browser:
            webbrowser.open(server.url)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            voice.say("\nended")
