"""What is refused before any page is asked: other hosts' names, bodies too large, too many requests.

It also gives every answer the headers that keep a page to itself.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
# Nothing from elsewhere, nothing inline: even a text that slipped through unescaped could not run.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_MOST_BUCKETS = 10_000


@dataclass(frozen=True)
class Limits:
    """How much is taken from one session, or from one address without a session.

    Attributes:
        most_bytes: The largest body of a request.
        each_second: How many requests a second in the long run.
        at_once: How many at once.
    """

    most_bytes: int = 2_000_000
    each_second: float = 20.0
    at_once: int = 200


class _Buckets:
    """A bucket of allowed requests for everyone, filled at a steady rate."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._lock = limits, Lock()
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, whose: str) -> bool:
        now = time.monotonic()
        with self._lock:
            left, before = self._held.pop(whose, (float(self._limits.at_once), now))
            left = min(self._limits.at_once, left + (now - before) * self._limits.each_second)
            allowed = left >= 1.0
            self._held[whose] = (left - 1.0 if allowed else left, now)
            if len(self._held) > _MOST_BUCKETS:
                self._held.popitem(last=False)
        return allowed


class _TooLargeError(Exception):
    """A body that grew beyond the limit while it was read."""


class Guard:
    """Stands before the application."""

    def __init__(
        self, app: App, *, whose: Callable[[Message], str], hosts: Sequence[str] | None, limits: Limits
    ) -> None:
        self._app, self._whose, self._limits = app, whose, limits
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._buckets = _Buckets(limits)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = _with_headers(scope, send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(sent, *refusal)
            return
        body = _Body(receive, self._limits.most_bytes)

        async def sent_in_time(message: Message) -> None:
            if not body.is_too_large:
                await sent(message)

        try:
            await self._app(scope, body.receive, sent_in_time)
        except Exception:
            # Who has gone away in the middle of a request gets no answer; that is no fault of the server.
            if not (body.is_cut_short or body.is_too_large):
                raise
        if body.is_too_large:
            await _refuse(sent, 413, "This is too large.")

    def _refusal(self, scope: Message) -> tuple[int, str] | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._hosts is not None and _without_port(host) not in self._hosts:
            return 400, "This server does not go by that name."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._limits.most_bytes:
            return 413, "This is too large."
        if not self._buckets.take(self._whose(scope)):
            return 429, "Too many requests: wait a moment."
        return None


class _Body:
    """Counts a body that does not say its length, and knows whether its sender went away."""

    def __init__(self, receive: Receive, most_bytes: int) -> None:
        self._receive, self._left = receive, most_bytes
        self._is_whole = self._is_gone = False

    @property
    def is_too_large(self) -> bool:
        """Whether more has come than is taken."""
        return self._left < 0

    @property
    def is_cut_short(self) -> bool:
        """Whether the sender went away before all of it had come."""
        return self._is_gone and not self._is_whole

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body", b""))
        if self.is_too_large:
            raise _TooLargeError
        self._is_gone = self._is_gone or message["type"] == "http.disconnect"
        self._is_whole = self._is_whole or (
            message["type"] == "http.request" and not message.get("more_body", False)
        )
        return message


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _with_headers(scope: Message, send: Send) -> Send:
    # What is shown to one person is kept by nobody; files that come with the package may be.
    kept = b"max-age=3600" if str(scope["path"]).startswith("/static/") else b"no-store"

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS, (b"cache-control", kept)]
        await send(message)

    return sent


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    if status == 429:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})
