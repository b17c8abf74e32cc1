"""The live view among strangers: who does not know its address gets nothing, who stays silent is put off."""

import base64
import hashlib
import http.client
import re
import socket
import time
import urllib.request
from urllib.parse import urlsplit

import pytest

from dalembert.viewer import server
from dalembert.viewer.page import page_of
from dalembert.viewer.server import LiveServer


@pytest.fixture
def live(crank, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "_PATIENCE", 0.5)
    crank.save(tmp_path / "run.zarr")
    with LiveServer(tmp_path / "run.zarr") as shown:
        yield shown


def status_of(url, path):
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_address_holds_a_token(live):
    token = urlsplit(live.url).path
    assert re.fullmatch(r"/[\w-]{22}/", token)
    assert status_of(live.url, token) == 200
    for path in ("/", "/events", token[:-2] + "x/", token + "events/", token.upper()):
        assert status_of(live.url, path) == 404


def test_headers(live):
    with urllib.request.urlopen(live.url, timeout=60) as answer:
        headers, page = answer.headers, answer.read().decode()
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Python" not in headers["Server"]
    check_hashes(policy, page)


def check_hashes(policy, page):
    for kind, text in (
        ("script", re.findall(r"<script>(.*?)</script>", page, re.S)[0]),
        ("style", re.findall(r"<style>(.*?)</style>", page, re.S)[0]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_a_page_on_disk_runs_its_own_script_only(crank):
    page = page_of([crank])
    policy = re.findall(r'Content-Security-Policy" content="(.*?)"', page)[0]
    assert "unsafe" not in policy
    check_hashes(policy, page)


def test_the_browser_accepts_the_hashes(open_tab, live):
    tab = open_tab(live.url)
    assert tab.state["end"] == pytest.approx(2.0)
    assert tab.complaints == []


def silent(live):
    address = urlsplit(live.url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def test_who_sends_nothing_is_put_off(live):
    with silent(live) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert connection.recv(1) == b""


def test_a_few_connections_at_most(crank, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "_PATIENCE", 30.0)
    crank.save(tmp_path / "run.zarr")
    with LiveServer(tmp_path / "run.zarr") as shown:
        waiting = [silent(shown) for _ in range(server._MOST_CONNECTIONS)]
        time.sleep(0.3)
        with silent(shown) as late:
            assert late.recv(1) == b""
        for connection in waiting:
            connection.close()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                assert status_of(shown.url, urlsplit(shown.url).path) == 200
                break
            except (ConnectionError, http.client.HTTPException):
                time.sleep(0.1)
        else:
            pytest.fail("places are not given back")


def test_a_browser_that_leaves_is_no_error(live, capfd):
    for path in ("", "events"):
        for _ in range(3):
            connection = silent(live)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # leaves with a reset
            request = f"GET {urlsplit(live.url).path}{path} HTTP/1.1\r\nHost: {urlsplit(live.url).netloc}\r\n\r\n"
            connection.sendall(request.encode())
            connection.close()
    time.sleep(1.5)
    assert capfd.readouterr().err == ""
