"""Clients that send half a request, or a byte now and then, over raw sockets."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import pytest

from .conftest import Live, running, wait_for

HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """A server in a hurry."""
    words = ("--head-timeout", 1, "--body-timeout", 1.5, "--max-connections", 4, "--rate", 0)
    with running(tmp_path_factory.mktemp("slow"), "--model", "tiny", *words) as one:
        one.wait_ready()
        yield one


def connect(live: Live) -> socket.socket:
    host, _, port = live.address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=30)


@pytest.fixture
def line(live: Live):
    """A connection of ours."""
    with connect(live) as one:
        yield one


def rest(line: socket.socket) -> bytes:
    """Everything until the other side closes."""
    found = b""
    while piece := line.recv(65_536):
        found += piece
    return found


@pytest.mark.parametrize("begin", [b"", b"GET /heal", HEAD])
def test_half_a_head(live, begin):
    before, start = live.metric('refused_total{reason="slow"}'), time.monotonic()
    with connect(live) as line:
        line.sendall(begin)
        said = rest(line)
    assert 0.9 < time.monotonic() - start < 10
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"took longer than 1 s" in said
    assert live.metric('refused_total{reason="slow"}') == before + 1


def test_a_byte_now_and_then_does_not_help(line):
    start = time.monotonic()
    line.settimeout(0.2)
    said = b""
    for letter in HEAD * 50:
        with suppress(ConnectionError):  # it has said why before
            line.sendall(bytes([letter]))
        with suppress(TimeoutError):
            said += line.recv(65_536)
        if said:
            break
    assert said.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - start < 10


def test_half_a_head_after_a_whole_one(line):
    for _ in range(2):
        line.sendall(HEAD + b"\r\n")
        said = b""
        while not said.endswith(b"}"):
            said += line.recv(65_536)
        assert said.startswith(b"HTTP/1.1 200 ")
        time.sleep(1.5)  # a line that rests is no half head
    line.sendall(HEAD)
    assert rest(line).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_comes_in_drops(live, line):
    line.sendall(
        b"POST /v1/physics/world HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    )
    start = time.monotonic()
    line.settimeout(0.2)
    said = b""
    while not said and time.monotonic() - start < 20:
        with suppress(ConnectionError):  # it has said why before
            line.sendall(b" ")
        with suppress(TimeoutError):
            said += line.recv(65_536)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - start < 10
    assert live.client.get("/healthz").status_code == 200


def test_lines_that_are_only_open_are_bounded(live):
    lines = [connect(live) for _ in range(24)]
    try:
        answers = []
        for one in reversed(lines):  # the last ones are refused at once
            answers.append(rest(one))
            if answers[-1].startswith(b"HTTP/1.1 408 "):
                break
        refused = [one for one in answers if one.startswith(b"HTTP/1.1 503 ")]
        assert len(refused) >= 7
        assert all(b"Retry-After: 1" in one for one in refused)
    finally:
        for one in lines:
            one.close()
    wait_for(lambda: live.client.get("/healthz").status_code == 200)
