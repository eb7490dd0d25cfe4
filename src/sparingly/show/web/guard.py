"""What is refused before any page is asked: other hosts' names, strangers' bodies, too large, too many.

Nothing of a body is read before its sender, size and kind are known to be good: only people with a link
send any, as a form or (to ``/api``) as JSON, in UTF-8. Every answer gets the headers that keep a page to
itself.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from sparingly.base.errors import DataError
from sparingly.show.web.sessions import Door, Sessions

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
# Where the guard leaves the session that it has read, so that no page reads it again.
SESSION = "sparingly.session"
_MOST_BUCKETS = 10_000
_WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_NO_SESSION = (401, "Open the link that you were sent.")
_TOO_LARGE = (413, "This is too large.")
_TOO_MANY = (429, "Too many requests: wait a moment.")
Refusal = tuple[int, str]


@dataclass(frozen=True)
class RequestLimits:
    """How much is taken from one link, or from one address without a session."""

    most_bytes: int = 2_000_000  # the largest body of a request
    each_second: float = 20.0  # how many requests a second in the long run
    at_once: int = 200  # how many at once
    request_bytes: int = 50_000  # a body counts as one more request for every so many bytes
    body_seconds: float = 60.0  # how long a body may take to arrive
    unfinished_bodies: int = 4  # how many bodies may have arrived in part at the same time


class _Buckets:
    """A bucket of allowed requests for everyone, filled at a steady rate."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits, self._lock = limits, Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, count: float = 1.0) -> bool:
        """Take so many requests out of somebody's bucket, where they are left."""
        time_now = time.monotonic()
        with self._lock:
            tokens, last_time = self._buckets.pop(client, (float(self._limits.at_once), time_now))
            tokens = min(self._limits.at_once, tokens + (time_now - last_time) * self._limits.each_second)
            allowed = tokens >= count
            self._buckets[client] = (tokens - count if allowed else tokens, time_now)
            if len(self._buckets) > _MOST_BUCKETS:
                self._buckets.popitem(last=False)
        return allowed


class _GoneError(Exception):
    """Whoever sent a request has gone away in the middle of it."""


class Guard:
    """Stands before the application; ``no_entry`` answers people who send a form without a session."""

    def __init__(
        self,
        app: App,
        *,
        sessions: Sessions,
        hosts: Sequence[str] | None,
        limits: RequestLimits,
        no_entry: App,
        health: Callable[[], object],
        base: str = "",
    ) -> None:
        self._app, self._sessions, self._limits, self._no_entry = app, sessions, limits, no_entry
        self._health, self._base = health, base
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._buckets = _Buckets(limits)
        # Bodies that have arrived in part, by sender; only the event loop counts them.
        self._unfinished: Counter[str] = Counter()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # A proxy may leave the base path in front or take it away.
        below = str(scope["path"]).removeprefix(self._base)
        if self._base and str(scope["path"]).startswith(self._base) and below[:1] in ("", "/"):
            scope = {**scope, "path": below or "/", "raw_path": (below or "/").encode()}
        # Pages of one person are cached nowhere; files that come with the package may be.
        caching = b"max-age=3600" if str(scope["path"]).startswith("/static/") else b"no-store"

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = [(name, self._placed(name, value)) for name, value in message.get("headers", ())]
                message["headers"] = [*sent, *HEADERS, (b"cache-control", caching)]
            await send(message)

        if scope["path"] == "/health":
            await self._tell_health(scope, send_with_headers)
            return
        refusal = self._refusal(scope)
        if refusal is None and scope["method"] not in _WITHOUT_BODY:
            try:
                received = await self._admitted(scope, receive)
            except _GoneError:
                # Who has gone away gets no answer; that is no fault of the server.
                return
            if isinstance(received, bytes):
                waiting = [{"type": "http.request", "body": received, "more_body": False}]

                async def body_first() -> Message:
                    return waiting.pop() if waiting else await receive()

                await self._app(scope, body_first, send_with_headers)
                return
            refusal = received
        if refusal is None:
            await self._app(scope, receive, send_with_headers)
        elif refusal == _NO_SESSION and not _is_program(scope):
            await self._no_entry(scope, receive, send_with_headers)
        else:
            await _refuse(scope, send_with_headers, *refusal)

    def _placed(self, name: bytes, value: bytes) -> bytes:
        """Put an address of ours that a page leads to below the base path."""
        leads = name in (b"location", b"hx-replace-url") and value.startswith(b"/")
        return self._base.encode() + value if leads else value

    async def _tell_health(self, scope: Message, send: Send) -> None:
        """Say whether the database answers, to whoever watches the server, by any name of it."""
        if not self._buckets.take(self._client_of(scope)):
            await _refuse(scope, send, *_TOO_MANY)
            return
        try:
            await run_in_threadpool(self._health)
        except DataError:
            await _refuse(scope, send, 503, "The database does not answer.")
        else:
            await _refuse(scope, send, 200, "ok")

    def _refusal(self, scope: Message) -> Refusal | None:
        """Return why a request is refused, by its head alone."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        name, colon, port = host.rpartition(":")
        without_port = name if colon and port.isdigit() else host
        if self._hosts is not None and without_port not in self._hosts:
            return 400, "This server does not go by that name."
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._limits.most_bytes:
            return _TOO_LARGE
        return None if self._buckets.take(self._client_of(scope)) else _TOO_MANY

    def _client_of(self, scope: Message) -> str:
        """Return whom a request is counted for: the link of a session with our signature, or an address.

        A link has one bucket however many sessions it begins.
        """
        cookies = Request(scope).cookies
        for door, name in self._sessions.cookies.items():
            link = self._sessions.link_of(cookies.get(name), door)
            if link is not None:
                return f"link {link}"
        client = scope.get("client")
        return f"address {client[0] if client else ''}"

    async def _admitted(self, scope: Message, receive: Receive) -> bytes | Refusal:
        """Return the body of a request, or why it is refused: by its sender, its kind, then its size."""
        door: Door = "organiser" if str(scope["path"]).startswith("/organiser") else "rater"
        cookie = Request(scope).cookies.get(self._sessions.cookies[door])
        try:
            session = await run_in_threadpool(self._sessions.read, cookie, door)
        except DataError:
            return 503, "This cannot be done at the moment. Try again."
        if session is None:
            return _NO_SESSION
        scope[SESSION] = session
        expected = _JSON if _is_program(scope) else _FORM
        if not _is_kind(dict(scope["headers"]), expected):
            return 415, f"Send this as {expected}, in UTF-8."
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await self._body(self._client_of(scope), receive)
        except TimeoutError:
            return 408, "This took too long to arrive. Send it again."

    async def _body(self, client: str, receive: Receive) -> bytes | Refusal:
        """Return a whole body, or why it is refused, whatever length it claimed.

        Every part is charged as it arrives, and few bodies may be unfinished: what one link can make the
        server hold is bounded even if no body ever ends.
        """
        parts: list[bytes] = []
        allowed_bytes = self._limits.most_bytes
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _GoneError
                part, is_last = message.get("body", b""), not message.get("more_body", False)
                allowed_bytes -= len(part)
                if allowed_bytes < 0:
                    return _TOO_LARGE
                if not self._buckets.take(client, len(part) / self._limits.request_bytes):
                    return _TOO_MANY
                if is_last:
                    return b"".join((*parts, part))
                if not parts:
                    if self._unfinished[client] >= self._limits.unfinished_bodies:
                        return _TOO_MANY
                    self._unfinished[client] += 1
                parts.append(part)
        finally:
            if parts:
                # Who has no other unfinished body is forgotten.
                self._unfinished -= Counter((client,))


def _is_program(scope: Message) -> bool:
    return str(scope["path"]).startswith("/api/")


def _is_kind(headers: dict[bytes, bytes], expected: str) -> bool:
    """Say whether a body is of the expected kind and in UTF-8; without a body there is nothing to say."""
    if b"content-type" not in headers:
        return headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers
    kind, *options = headers[b"content-type"].decode("latin-1").lower().split(";")
    pairs = [part.partition("=") for part in options]
    charsets = {value.strip(' "') for name, _, value in pairs if name.strip() == "charset"}
    return (
        kind.strip() == expected
        and charsets <= {"utf-8", "utf8"}
        and headers.get(b"content-encoding", b"identity") == b"identity"
    )


async def _refuse(scope: Message, send: Send, status: int, sentence: str) -> None:
    """Answer with a sentence; programs get it as JSON."""
    kind, body = b"text/plain; charset=utf-8", sentence
    if _is_program(scope):
        kind, body = b"application/json", json.dumps({"detail": sentence})
    headers = [(b"content-type", kind), (b"content-length", str(len(body.encode())).encode())]
    if status == 429:
        headers.append((b"retry-after", b"1"))
    if status == 408:
        # The rest of it is not waited for.
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
