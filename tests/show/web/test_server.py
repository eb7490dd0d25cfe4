"""Connections that keep the server waiting, and errors that come again and again."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sparingly.show.web.guard import RequestLimits
from sparingly.show.web.server import RepeatFilter, ServerLimits, server_of
from tests.show.web.visitor import Visitor, served

HELLO = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """Reads all that is sent and says hello; fails where it is asked to."""
    if scope["type"] != "http":
        return
    if scope["path"] == "/fail":
        raise RuntimeError("what the test expects")
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.disconnect":
        return
    body = b"hello" if scope["path"] == "/hello" else b"x" * 30_000_000
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]}
    )
    for start in range(0, len(body), 100_000):
        part = body[start : start + 100_000]
        await send({"type": "http.response.body", "body": part, "more_body": start + 100_000 < len(body)})


@contextmanager
def running(app: Any, **limits: Any) -> Iterator[int]:
    """Yield the port of a server in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = server_of(app, limits=ServerLimits(**limits))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


def connect(port: int, sent: bytes = b"") -> socket.socket:
    """Open a connection and send something."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


def answer_on(connection: socket.socket) -> bytes:
    """Return what comes up to the end of a hello."""
    found = b""
    while not found.endswith(b"hello"):
        part = connection.recv(1000)
        assert part, found
        found += part
    return found


def seconds_until_closed(connection: socket.socket, drip: bytes = b"") -> float:
    """Return how long a connection stays open, while a byte is sent now and then."""
    begun = time.monotonic()
    connection.settimeout(0.1)
    while time.monotonic() - begun < 15:
        try:
            if drip:
                connection.sendall(drip)
            if not connection.recv(1000):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - begun


@pytest.mark.parametrize(
    ("sent", "drip"),
    [
        (b"", b""),
        (b"GET /hello HTTP/1.1\r\n", b""),
        (b"GET /hello HTTP/1.1\r\nx: ", b"x"),
        (b"POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (HELLO + b"GET /hello", b""),
    ],
    ids=["nothing", "half a head", "a head in drops", "a body in drops", "a second head"],
)
def test_connections_that_keep_waiting_are_closed(sent: bytes, drip: bytes) -> None:
    with running(hello, head_seconds=0.5, body_seconds=0.5) as port, connect(port, sent) as connection:
        assert 0.3 < seconds_until_closed(connection, drip) < 8
        with connect(port, HELLO) as other:
            assert other.recv(12) == b"HTTP/1.1 200"


def test_an_answer_that_nobody_reads_is_given_up() -> None:
    with (
        running(hello, body_seconds=0.5) as port,
        connect(port, HELLO.replace(b"hello", b"large")) as connection,
    ):
        time.sleep(2.5)
        read = 0
        while part := connection.recv(1_000_000):
            read += len(part)
        assert 0 < read < 30_000_000


def test_half_open_connections_keep_nobody_out() -> None:
    with running(hello, connections=20) as port, ExitStack() as idle:
        for _ in range(60):
            idle.enter_context(connect(port, b"GET /hello HTTP/1.1\r\n"))
        with connect(port, HELLO) as good:
            assert answer_on(good).startswith(b"HTTP/1.1 200")
            # Whoever has sent a whole request stays while others come and wait.
            for _ in range(60):
                idle.enter_context(connect(port))
            good.sendall(HELLO)
            assert answer_on(good).startswith(b"HTTP/1.1 200")


def test_a_body_that_does_not_come_is_refused(tmp_path: Path) -> None:
    with served(tmp_path, options={"limits": RequestLimits(body_seconds=0.3)}) as app:
        anna = Visitor(app, "anna")
        cookies = "; ".join(f"{name}={value}" for name, value in anna.client.cookies.items())
        head = f"POST /leave HTTP/1.1\r\nHost: x\r\nCookie: {cookies}\r\nContent-Length: 9\r\n"
        head += "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        with running(app) as port, connect(port, head.encode()) as connection:
            assert connection.recv(12) == b"HTTP/1.1 408"


def test_errors_are_logged_once(capfd: pytest.CaptureFixture[str]) -> None:
    with running(hello, log_seconds=3600.0) as port:
        for _ in range(30):
            with connect(port, HELLO.replace(b"hello", b"fail")) as connection:
                assert connection.recv(12) == b"HTTP/1.1 500"
            with connect(port, b"no request\r\n\r\n") as connection:
                assert connection.recv(12) == b"HTTP/1.1 400"
    said = capfd.readouterr().err
    assert said.count("Exception in ASGI application") == said.count("Invalid HTTP request received.") == 1


def test_what_was_left_out_of_the_log_is_counted() -> None:
    def record(words: str) -> logging.LogRecord:
        return logging.LogRecord("x", logging.ERROR, "x.py", 1, words, (), None)

    rare, always = RepeatFilter(0.2), RepeatFilter(0.0)
    assert [rare.filter(record("one")) for _ in range(5)] == [True, False, False, False, False]
    assert rare.filter(record("other"))
    time.sleep(0.25)
    again = record("one")
    assert rare.filter(again)
    assert again.getMessage() == "one (4 more like it before)"
    assert all(always.filter(record("one")) for _ in range(3))
