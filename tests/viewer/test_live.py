"""The live view: a page that follows a run while it is written."""

import base64
import http.client
import urllib.request
from urllib.parse import urlsplit

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import StoreError
from dalembert.gallery import pendulum_3d
from dalembert.io.results import RunWriter
from dalembert.viewer import server
from dalembert.viewer.server import LiveServer


def writer_of(solution, path):
    """A run that is being written; write(a, b) puts states a to b on the disk."""
    writer = RunWriter(solution.mechanism, solution.settings, path, overwrite=True)

    def write(a, b):
        writer.append(solution.t[a:b], solution.x[a:b])
        writer._flush()

    return writer, write


def test_page_follows_a_run_to_its_end(open_tab, crank, tmp_path):
    path, half = tmp_path / "run.zarr", len(crank.t) // 2
    writer, write = writer_of(crank, path)
    write(0, half)
    with LiveServer(path) as live:
        tab = open_tab(live.url)
        assert tab.page.locator("button.chip").inner_text() == "still running"
        assert tab.state["end"] == pytest.approx(crank.t[half - 1])
        assert tab.state["following"]
        write(half, half + 20)
        tab.wait(f"viewer.state().end > {crank.t[half + 18]}")
        write(half + 20, len(crank.t))
        writer.close(crank)
        tab.wait("!viewer.state().following")
        assert tab.state["end"] == crank.t[-1]
        assert "✓ trusted" in tab.page.locator("button.chip").inner_text()
        for k in (half - 1, half + 7, -1):
            tab.do(f"viewer.scrub({float(crank.t[k])!r})")
            for body in tab.state["bodies"][0]:
                assert body["position"] == pytest.approx(crank.position(body["name"])[k], abs=1e-5)
        plot = next(plot for plot in tab.state["plots"] if plot["name"] == "energy")
        assert float(plot["values"][0].replace("−", "-")) == pytest.approx(crank.energy.kinetic[-1], rel=1e-3)
        tab.screenshot("live")


def test_events_in_order_and_without_repetition(crank, tmp_path):
    path = tmp_path / "run.zarr"
    writer, write = writer_of(crank, path)
    write(0, 30)
    with LiveServer(path) as live:
        events = live.events()
        name, (scene,) = next(events)
        assert name == "scenes"
        write(30, 60)
        name, part = next(events)
        assert name == "frames"
        write(60, len(crank.t))
        writer.close(crank)
        name, last = next(events)
        assert name == "frames"
        times = np.concatenate([decoded(piece["channel_times"], "<f8") for piece in (scene, part, last)])
        frames = np.concatenate([decoded(piece["times"], "<f8") for piece in (scene, part, last)])
        assert np.all(np.diff(times) > 0) and np.all(np.diff(frames) > 0)
        assert np.array_equal(times, frames) and times[-1] == crank.t[-1]
        name, end = next(events)
        assert (name, end["status"], end["report"]["verdict"]) == ("done", "complete", "pass")
        assert list(events) == []


def test_a_new_run_in_the_same_place_starts_again(crank, coarse_crank, tmp_path):
    path = tmp_path / "run.zarr"
    _, write = writer_of(crank, path)
    write(0, 30)
    with LiveServer(path) as live:
        events = live.events()
        assert next(events)[0] == "scenes"
        coarse_crank.save(path, overwrite=True)
        assert next(events)[0] == "restart"


def test_a_force_that_begins_to_work_starts_again(tmp_path):
    model = pendulum_3d()
    model.add_force("late push", model.bodies[0], (0.0, 5.0, 0.0), factor=da.SmoothStep(0.0, 1.0, 0.2, 0.3))
    pushed = da.simulate(model, 0.4, integrator=da.RungeKutta4(step=0.01))
    path = tmp_path / "run.zarr"
    _, write = writer_of(pushed, path)
    write(0, 10)
    with LiveServer(path) as live:
        events = live.events()
        name, (scene,) = next(events)
        assert name == "scenes" and len(scene["groups"][0]["series"]) == 3
        write(10, len(pushed.t))
        assert next(events)[0] == "restart"
        name, (scene,) = next(live.events())
        assert name == "scenes" and len(scene["groups"][0]["series"]) == 4


def test_only_this_machine_and_only_two_addresses(crank, tmp_path):
    crank.save(tmp_path / "run.zarr")
    with LiveServer(tmp_path / "run.zarr") as live:
        address = urlsplit(live.url)
        assert address.hostname == "127.0.0.1"
        with urllib.request.urlopen(live.url) as answer:
            assert b"EventSource" in answer.read()
        for path, host, status in (("/", "example.org", 403), ("/events", "example.org:80", 403), ("/", None, 404)):
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
            connection.request("GET", path, headers={"Host": host} if host else {})
            assert connection.getresponse().status == status
            connection.close()


def test_what_cannot_be_shown_is_refused_at_once(tmp_path):
    with pytest.raises(StoreError, match="nowhere"):
        LiveServer(tmp_path / "nowhere.zarr")


def test_a_run_without_bodies_is_refused(monkeypatch):
    """What a LagrangianSystem gives has coordinates only."""
    monkeypatch.setattr(server, "read", lambda path: "<a run of coordinates>")
    with pytest.raises(da.ViewerError, match="no bodies"):
        LiveServer("any.zarr")


def decoded(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def test_a_page_says_that_it_is_prepared_until_there_is_something_to_show(browser, crank, tmp_path):
    """It was empty while kernels were compiled."""
    _, write = writer_of(crank, tmp_path / "run.zarr")
    write(0, 0)
    with LiveServer(tmp_path / "run.zarr") as live:
        page = browser.new_page()
        page.goto(live.url)
        name, said = crank.mechanism.model.name, page.get_by_role("status").inner_text()
        assert said.startswith(f"{name}: the picture is being prepared")
        write(0, 30)
        page.wait_for_selector("canvas", timeout=60_000)
        assert page.get_by_text("being prepared").count() == 0
        page.close()
