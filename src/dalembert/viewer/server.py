"""The live view: a page on this machine's own address that follows a run while it is computed.

`GET /<token>/` is the page, `GET /<token>/events` a stream of server-sent events: "scenes" once, "frames" while the run
grows, "done" at its end; "restart" if another run took its place, or it has other curves than before. Only this machine can
connect, and of its users only those who know the address.
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from dalembert.errors import StoreError, ViewerError
from dalembert.io.results import read
from dalembert.results.plain import INCOMPLETE
from dalembert.results.sampling import usable
from dalembert.results.solution import BodyResult
from dalembert.viewer.page import live_page, policy
from dalembert.viewer.scene import frames_of, report_of, scenes_of

ADDRESS = "127.0.0.1"
_NAMES = (ADDRESS, "localhost")
_LOOK_AGAIN = 0.5  # s
_STILL_THERE = 10.0  # s between signs of life
_PATIENCE = 15.0  # s for a request to come in, or for a part of the answer to be taken
_MOST_CONNECTIONS = 8


class LiveServer:
    """Serves a stored run, and others to compare it with, until closed.

    with LiveServer("run.zarr") as server:
        webbrowser.open(server.url)
    """

    def __init__(self, run: str | Path, compare: Sequence[BodyResult] = (), *, port: int = 0) -> None:
        self._path = Path(run)
        self._compare = tuple(compare)
        self._closed = threading.Event()
        first = load_run(self._path)  # raises here, not in a thread
        page = live_page(first.mechanism.model.name or "model").encode()
        self._token = secrets.token_urlsafe(16)
        self._http = _Server((ADDRESS, port), _handler(f"/{self._token}/", page, self.events))
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page; who does not know the token in it gets nothing."""
        return f"http://{ADDRESS}:{self._http.server_address[1]}/{self._token}/"

    def close(self) -> None:
        """End all connections and give the port back."""
        self._closed.set()
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> LiveServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def events(self) -> Iterator[tuple[str, Any]]:
        """(name, data) for one listener; ("", None) is a sign of life."""
        shown: BodyResult | None = None
        curves: list[Any] = []
        for solution in self._versions():
            if solution is None:
                yield "", None
                continue
            if shown is not None and not _continues(shown, solution):
                yield "restart", None
                return
            if not len(usable(solution)) and solution.status == INCOMPLETE:
                continue
            if shown is None:
                scenes = scenes_of((solution, *self._compare))
                curves = _curves(scenes[0])
                yield "scenes", scenes
            elif len(solution.t) > len(shown.t):
                frames = frames_of(solution, after=float(shown.t[-1]))
                if _curves(frames) != curves:  # the first external work
                    yield "restart", None
                    return
                yield "frames", frames
            shown = solution
            if solution.status != INCOMPLETE:
                yield "done", {"report": report_of(solution), "status": solution.status}
                return

    def _versions(self) -> Iterator[BodyResult | None]:
        """The run whenever more of it was written; None now and then, so that a lost listener is noticed."""
        seen, spoken = None, time.monotonic()
        commit = self._path / "commit" / "zarr.json"
        while not self._closed.is_set():
            with suppress(OSError, StoreError):  # the run is being replaced
                now = commit.stat().st_mtime_ns
                if now != seen:
                    solution = load_run(self._path)
                    seen, spoken = now, time.monotonic()
                    yield solution
            if time.monotonic() - spoken > _STILL_THERE:
                spoken = time.monotonic()
                yield None
            self._closed.wait(_LOOK_AGAIN)


def load_run(path: str | Path) -> BodyResult:
    """A stored run of a mechanism."""
    solution = read(path)
    if not isinstance(solution, BodyResult):
        raise ViewerError(f"{path}: {solution!r} has coordinates, but no bodies that could be shown; plot it instead")
    return solution


def _continues(old: BodyResult, new: BodyResult) -> bool:
    """Whether one is the other with more states."""
    n = len(old.t)
    same_model = old.mechanism.model.hash == new.mechanism.model.hash
    return same_model and len(new.t) >= n and np.array_equal(old.t, new.t[:n])


def _curves(frames: dict[str, Any]) -> list[Any]:
    """Names of all that is plotted."""
    return [(group["name"], [series["name"] for series in group["series"]]) for group in frames["groups"]]


class _Server(ThreadingHTTPServer):
    """A few connections at a time; a browser that leaves is no error."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._free = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """In a thread of its own, or not at all."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, then let the next one in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One line for what is not the connection's fault."""
        problem = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(problem, OSError):
            print(f"dalembert: live view: {type(problem).__name__}: {problem}", file=sys.stderr)


def _handler(root: str, page: bytes, events: Any) -> type[BaseHTTPRequestHandler]:
    places = {root: False, f"{root}events": True}
    security = {
        "Content-Security-Policy": f"{policy()}; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }

    class Handler(BaseHTTPRequestHandler):
        timeout = _PATIENCE
        server_version, sys_version = "dalembert", ""

        def do_GET(self) -> None:
            """The page or the events; a request that names another host comes from a foreign page and is refused."""
            if (self.headers.get("Host") or "").rpartition(":")[0] not in _NAMES:
                self.send_error(403)
                return
            found = [live for place, live in places.items() if hmac.compare_digest(self.path.encode(), place.encode())]
            if not found:
                self.send_error(404)
            elif found[0]:
                self._begin("text/event-stream")
                self._stream()
            else:
                self._begin("text/html; charset=utf-8", len(page))
                self.wfile.write(page)

        def end_headers(self) -> None:
            """Every answer says what a browser may do with it."""
            for name, value in security.items():
                self.send_header(name, value)
            super().end_headers()

        def _begin(self, kind: str, length: int | None = None) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "no-store")
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()

        def _stream(self) -> None:
            for name, data in events():
                text = f"event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n" if name else ": still there\n\n"
                self.wfile.write(text.encode())
                self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are nobody's business."""

    return Handler
