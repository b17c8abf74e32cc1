"""What a page of 64 bodies and 10 s costs: its size, the time until its first picture and what that is made of, the script's
time per frame.

python benchmarks/page.py

On a machine that does other work too, the processor time of all the browser's processes says more than the clock. It ends
within a minute: pages are opened, and frames counted, as long as there is time.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import dalembert as da
from dalembert.gallery import chain

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
OPENINGS, FRAMES, SECONDS = 5, 60, 25.0
# what the page marks, and what happened until then
PARTS = {
    "script": "page read, script begins",
    "data": "numbers read",
    "built": "bodies and buttons made",
    "picture": "shaders translated, first picture drawn",
    "furnished": "curves, tree and strip made",
}


def main() -> None:
    integrator = da.DormandPrince(rtol=1e-4, atol=1e-4)
    run = da.simulate(chain(64, angle=0.3), 10.0, integrator=integrator, save_at=np.linspace(0, 10, 1001))
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        path = Path(folder) / "chain.html"
        run.export_html(path)
        print(f"page {path.stat().st_size / 1e6:.2f} MB")
        browser = browsers.chromium.launch(executable_path=program, args=FLAGS)
        end = time.monotonic() + SECONDS
        opened = [opening(browser, path, end)]
        while len(opened) < OPENINGS and time.monotonic() < end:
            opened.append(opening(browser, path, end))
        browser.close()
    marks = {name: median(one["marks"][name] for one in opened) for name in PARTS}
    print(f"first picture after {marks['picture']:.2f} s (median of {len(opened)}, software rendering)")
    print(f"processor time until then {median(one['worked'] for one in opened):.2f} s")
    for (name, what), before in zip(PARTS.items(), [0.0, *marks.values()], strict=False):
        print(f"  {marks[name] - before:5.2f} s  {what}")
    frames = [frame for one in opened for frame in one["frames"]]
    print(f"script {median(frames):.2f} ms a frame (median of {len(frames)})")


def opening(browser: Browser, path: Path, end: float) -> dict[str, Any]:
    """One opening of the page: its marks [s], processor time of all the browser's processes until the picture [s], times of
    its script in frames [ms]."""
    system = browser.new_browser_cdp_session()

    def used() -> float:
        return sum(process["cpuTime"] for process in system.send("SystemInfo.getProcessInfo")["processInfo"])

    page = browser.new_page(viewport={"width": 1280, "height": 760})
    before = used()
    page.goto(path.as_uri(), wait_until="commit")
    page.set_default_timeout(20_000)
    while not page.evaluate("performance.getEntriesByName('picture').length"):
        page.wait_for_timeout(10)
    worked = used() - before
    while not page.evaluate("Boolean(window.viewer)"):
        page.wait_for_timeout(10)
    enough = min(end, time.monotonic() + 0.2 * SECONDS)
    while page.evaluate("viewer.scriptTimes().length") < FRAMES and time.monotonic() < enough:
        page.wait_for_timeout(50)
    frames = page.evaluate("viewer.scriptTimes()")[1:]  # the first one waits for shaders
    marks = page.evaluate("performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime / 1000])")
    page.close()
    return {"marks": dict(marks), "worked": worked, "frames": frames}


if __name__ == "__main__":
    main()
