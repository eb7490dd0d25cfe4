"""The server of the pages: connections that send nothing keep nobody out.

A request's head, its body and the reading of an answer have time limits. Connections are counted: where there
are too many, the one that has waited longest without sending anything whole makes room. What goes wrong again
and again is logged once a minute.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

# So many files stay free for the database, and for connections that arrive at the same moment.
_OTHER_FILES, _BACKLOG = 256, 128
_LOGGERS = ("asyncio", "uvicorn.error", "sparingly")
_MOST_KINDS = 1000
# Nothing is being worked on: no request has come, or not the whole of one.
_WAITING = ("head", "idle", "body")


@dataclass(frozen=True)
class ServerLimits:
    """How long and for how many the server waits."""

    # How long the head of a request may take, from the opening of the connection or, on a connection in use,
    # from its first byte.
    head_seconds: float = 10.0
    # How long the body may take, or a part of the answer until it is read. The pages refuse a body a little
    # earlier, with a sentence.
    body_seconds: float = 90.0
    connections: int = 1000  # how many connections are open at most
    log_seconds: float = 60.0  # how long a message that was logged is not logged again


class Connection(H11Protocol):
    """A connection that is closed where it keeps the server waiting."""

    server_limits = ServerLimits()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None
        self._phase = ""
        self._since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there are too many, another one makes room, or this one goes."""
        super().connection_made(transport)
        self._enter("head", self.server_limits.head_seconds)
        if len(self.connections) <= self.server_limits.connections:
            return
        peers = [peer for peer in self.connections if isinstance(peer, Connection)]
        peers = [peer for peer in peers if peer.transport is not None and not peer.transport.is_closing()]
        if len(peers) > self.server_limits.connections:
            waiting = [peer for peer in peers if peer._phase in _WAITING and peer is not self]
            min(waiting, key=Connection._turn, default=self).abort()

    def _turn(self) -> tuple[bool, float]:
        """Return who makes room first: who never sent a whole request, then who has waited longest."""
        return self.cycle is not None and not self.cycle.more_body, self._since

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the time limit of a connection that is gone."""
        self._enter("gone")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what was sent."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """Wait for the other side to read."""
        super().pause_writing()
        self._enter("reading", self.server_limits.body_seconds)

    def resume_writing(self) -> None:
        """Go on writing."""
        super().resume_writing()
        self._enter("working")
        self._look()

    def abort(self) -> None:
        """Close the connection at once."""
        self._enter("gone")
        if self.transport is not None:
            self.transport.abort()

    def _look(self) -> None:
        """Follow what a connection waits for; a phase has one time limit however often something comes."""
        if self._phase in ("gone", "reading"):
            return
        if self.cycle is not None and self.cycle.more_body:
            self._enter("body", self.server_limits.body_seconds)
        elif self.cycle is None or self.cycle.response_complete:
            partly = bool(self.conn.trailing_data[0])
            # Without a byte of the next request, the server's own limit for idle connections holds.
            self._enter("head" if partly or self.cycle is None else "idle", self.server_limits.head_seconds)
        else:
            self._enter("working")

    def _enter(self, phase: str, seconds: float | None = None) -> None:
        if phase == self._phase:
            return
        self._phase, self._since = phase, time.monotonic()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds is not None:
            self._timer = self.loop.call_later(seconds, self.abort)


class RepeatFilter(logging.Filter):
    """Lets a message through once in a while, and says then how often it came meanwhile."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds, self._lock = seconds, threading.Lock()
        self._seen: dict[tuple[str, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a message is logged."""
        # Two messages are the same by their words and where the error arose, not by its particulars.
        error = record.exc_info[1] if record.exc_info else None
        place, trace = "", None if error is None else error.__traceback__
        while trace is not None:
            place, trace = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_next
        key = record.name, str(record.msg)[:200], type(error).__name__, place
        time_now = time.monotonic()
        with self._lock:
            at, missed = self._seen.get(key, (float("-inf"), 0))
            if time_now - at < self._seconds:
                self._seen[key] = (at, missed + 1)
                return False
            if len(self._seen) >= _MOST_KINDS:
                self._seen.clear()
            self._seen[key] = (time_now, 0)
        if missed:
            record.msg, record.args = f"{record.getMessage().rstrip()} ({missed:,} more like it before)", ()
        return True


def server_of(app: Any, *, behind_proxy: bool = False, limits: ServerLimits | None = None) -> uvicorn.Server:
    """Return a server of an application, ready to run.

    Args:
        app: The application.
        behind_proxy: Whether a proxy on this machine says whom it speaks for; without one nobody else may.
        limits: How long and for how many the server waits.
    """
    limits = limits or ServerLimits()
    limits = replace(limits, connections=min(limits.connections, _most_connections()))
    config = uvicorn.Config(
        app,
        http=type("Connection", (Connection,), {"server_limits": limits}),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=behind_proxy,
        ws="none",
        backlog=_BACKLOG,
        timeout_graceful_shutdown=5,
    )
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        for item in [item for item in logger.filters if isinstance(item, RepeatFilter)]:
            logger.removeFilter(item)
        logger.addFilter(RepeatFilter(limits.log_seconds))
    return uvicorn.Server(config)


def run(app: Any, listener: socket.socket, *, behind_proxy: bool = False) -> None:
    """Serve an application at a socket that listens, until Ctrl-C or SIGTERM; open requests are finished."""
    server = server_of(app, behind_proxy=behind_proxy)
    if threading.current_thread() is not threading.main_thread():
        server.run(sockets=[listener])
        return
    # Ctrl-C before the server listens to signals itself would leave a coroutine that nobody awaits. The
    # server raises a signal again in the end, and SIGTERM would then end the process at once.
    earlier = {one: signal.signal(one, server.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[listener])
    finally:
        for one, handler in earlier.items():
            signal.signal(one, handler)


def _most_connections() -> int:
    """Return how many connections the system lets a process have, with room for its other files."""
    try:
        import resource
    except ModuleNotFoundError:  # no such limits on this system
        return 1_000_000
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if soft == resource.RLIM_INFINITY else max(soft - _OTHER_FILES - _BACKLOG, soft // 2)
