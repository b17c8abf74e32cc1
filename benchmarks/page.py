"""What a page of 64 bodies and 10 s costs: its size, the time until its first picture, the script's time per frame.

python benchmarks/page.py

On a machine that does other work too, the processor time of all the browser's processes says more than the clock.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import dalembert as da
from dalembert.gallery import chain

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main() -> None:
    integrator = da.DormandPrince(rtol=1e-4, atol=1e-4)
    run = da.simulate(chain(64, angle=0.3), 10.0, integrator=integrator, save_at=np.linspace(0, 10, 1001))
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        path = Path(folder) / "chain.html"
        run.export_html(path)
        browser = browsers.chromium.launch(executable_path=program, args=FLAGS)
        system = browser.new_browser_cdp_session()

        def used() -> float:
            """Processor time of all the browser's processes [s]."""
            return sum(process["cpuTime"] for process in system.send("SystemInfo.getProcessInfo")["processInfo"])

        opened, worked = [], []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 760})
            begin, before = time.perf_counter(), used()
            page.goto(path.as_uri())
            while not page.evaluate("Boolean(window.viewer && viewer.scriptTimes().length > 0)"):
                page.wait_for_timeout(10)
            opened.append(time.perf_counter() - begin)
            worked.append(used() - before)
            while page.evaluate("viewer.scriptTimes().length") < 60:
                page.wait_for_timeout(50)
            frames = page.evaluate("viewer.scriptTimes()")[10:]
            page.close()
        browser.close()
        print(f"page {path.stat().st_size / 1e6:.2f} MB")
        print(f"first picture after {np.median(opened):.2f} s (median of {len(opened)}, software rendering)")
        print(f"processor time until then {np.median(worked):.2f} s")
        print(f"script {np.median(frames):.2f} ms a frame (median of {len(frames)})")


if __name__ == "__main__":
    main()
