"""Runs to look at, and a real browser to look with: the system's Chromium, drawing in software."""

import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import slider_crank
from dalembert.gallery.chain import chain

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


@pytest.fixture(scope="session")
def press():
    """A driven slider-crank in a plane with a load of 20 N."""
    model = da.Model(name="press", plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.5)
    model.add_link("rod", (0, 0.1), (0.28, 0), mass=0.8)
    model.add_body("slider", **da.box(2.0, (0.06, 0.06, 0.06)).body(), position=(0.28, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "slider", point=(0.28, 0))
    model.add_prismatic("D", "ground", "slider", point=(0.28, 0), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 2 * np.pi)))
    model.add_force("load", "slider", (-20.0, 0))
    return model


@pytest.fixture(scope="session")
def crank():
    return da.simulate(slider_crank(), 2.0)


@pytest.fixture(scope="session")
def coarse_crank():
    """The same mechanism with large steps: another motion."""
    return da.simulate(slider_crank(), 2.0, integrator=da.RungeKutta4(step=0.02))


@pytest.fixture(scope="session")
def long_chain():
    """64 bodies, 10 s, 100 states per second."""
    integrator = da.DormandPrince(rtol=1e-4, atol=1e-4)
    return da.simulate(chain(64, angle=0.3), 10.0, integrator=integrator, save_at=np.linspace(0, 10, 1001))


@pytest.fixture(scope="session")
def program():
    """The browser's."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        pytest.skip(f"there is no browser: none of {', '.join(PROGRAMS)} is on the PATH")
    return found


@pytest.fixture(scope="session")
def browser(program):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as p:
        chromium = p.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium
        chromium.close()


class Tab:
    """A page with the viewer in it; complaints are what the browser's console would show in red."""

    def __init__(self, browser, url, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": 1280, "height": 760}, reduced_motion="reduce", color_scheme=scheme, accept_downloads=True
        )
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(url, timeout=180_000)  # a loaded machine draws in software
        self.wait("viewer.scriptTimes().length > 0")

    def wait(self, condition):
        """Until it is true, asked from outside: the page's own policy forbids it to evaluate text."""
        end = time.monotonic() + 60
        while not self.do(f"Boolean(window.viewer && {condition})"):
            assert time.monotonic() < end, f"still not: {condition}"
            self.page.wait_for_timeout(20)

    def do(self, expression):
        return self.page.evaluate(expression)

    @property
    def state(self):
        return self.do("viewer.state()")

    def screenshot(self, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.wait("viewer.settled()")
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")


@contextmanager
def tabs_of(browser):
    """A function that opens tabs; none of them may leave complaints behind."""
    tabs = []

    def open_(target, **options):
        url = target if isinstance(target, str) else target.as_uri()
        tabs.append(Tab(browser, url, **options))
        return tabs[-1]

    yield open_
    complaints = [complaint for tab in tabs for complaint in tab.complaints]
    for tab in tabs:
        tab.context.close()
    assert complaints == []


@pytest.fixture
def open_tab(browser):
    """open_tab(path or address, scheme="light") -> Tab"""
    with tabs_of(browser) as open_:
        yield open_


@pytest.fixture(scope="module")
def open_shared(browser):
    """The same for tabs that all tests of a file share."""
    with tabs_of(browser) as open_:
        yield open_


@pytest.fixture(scope="module")
def crank_page(crank, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "crank.html"
    crank.export_html(path)
    return path


@pytest.fixture(scope="module")
def shared_tab(open_shared, crank_page):
    return open_shared(crank_page)


@pytest.fixture
def tab(shared_tab):
    """The slider-crank at rest at t = 0, in a tab that tests share as long as they change nothing but the time."""
    shared_tab.do("viewer.pause(); viewer.scrub(0)")
    return shared_tab


@pytest.fixture
def fresh_tab(open_tab, crank_page):
    return open_tab(crank_page)
