"""An OpenAI-compatible chat endpoint: one call at a time, made again where that can help.

The key is sent to the endpoint and nowhere else: it is in no file, no message and no ``repr``, and redirects
are refused, so that no other host sees it.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import IO, Any, NoReturn
from urllib.parse import SplitResult, urlsplit, urlunsplit

from sparingly._version import __version__
from sparingly.base.errors import DataError, UsageError, one_line

KEYS = ("SPARINGLY_API_KEY", "OPENAI_API_KEY")
PATH = "/chat/completions"
# A verdict is a few hundred bytes; nothing reads on for ever.
MOST_BYTES = 1_000_000
_BLOCK = 65_536
# Who asks for a longer pause wants us to come back another time.
LONGEST_PAUSE = 300.0
_TRANSIENT = (408, 409, 425, 429)
_COUNTED = ("prompt", "completion")
# What concerns one question only: too long, or refused by a filter.
_OF_ONE = (400, 413, 422)


class EndpointError(DataError):
    """The endpoint gives no answers; what it gave so far is saved."""


class StoppedError(EndpointError):
    """The run was stopped while a call waited for its turn."""


class EndpointRefusedError(DataError):
    """The endpoint refused one question, and may answer the next."""


@dataclass
class Endpoint:
    """Where the judge is asked, and how patiently."""

    url: str  # the address, with or without ``/chat/completions``; a query is sent along, and never shown
    timeout: float = 120.0  # seconds that one call may take
    attempts: int = 6  # how often a call is made before it counts as failed
    rate: float | None = None  # calls a minute, repeated ones included; None for as many as there are
    first_wait: float = 1.0  # seconds before the second attempt; doubled for each further one, with jitter
    calls: int = field(default=0, init=False)  # how many calls were made
    # How many tokens the endpoint counted: what was sent, what was written.
    tokens: tuple[int, int] = field(default=(0, 0), init=False)
    counted: int = field(default=0, init=False)  # how many answers came with these counts
    uncounted: int = field(default=0, init=False)  # how many came without
    _address: SplitResult = field(init=False, repr=False)
    _key: str = field(default="", init=False, repr=False)
    _next: float = field(default=0.0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        self._address = _address(self.url)
        # Nothing of the address but its host is ever shown.
        self.url = f"{self._address.scheme}://{self.host}"
        self._key = _key(self._address)
        if self.rate is not None and not self.rate > 0:
            raise UsageError(f"The rate is a number of calls a minute above zero, not {self.rate:g}.")

    @property
    def host(self) -> str:
        """The host, with its port where one was given."""
        port = "" if self._address.port is None else f":{self._address.port}"
        return f"{self._address.hostname}{port}"

    def ask(self, body: Mapping[str, Any], wait: Callable[[float], bool]) -> str:
        """Return what the model wrote.

        Args:
            body: The request, as JSON values.
            wait: Waits so many seconds; returns True where the run was stopped meanwhile.

        Raises:
            EndpointError: No answer after all attempts, or none to be expected for any question.
            StoppedError: The run was stopped meanwhile.
            EndpointRefusedError: This question was refused.
        """
        content, reason = json.dumps(body).encode(), ""
        for attempt in range(1, self.attempts + 1):
            if wait(self._turn()):
                raise StoppedError("Interrupted.")
            self.calls += 1
            try:
                return self._once(content)
            except _Again as error:
                reason = str(error)
                pause = self.first_wait * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311
                if error.pause > LONGEST_PAUSE:
                    raise self._failed(f"it asks to wait {error.pause:,.0f} seconds") from None
                # All calls wait: a limit holds for the key, not for one question.
                with self._lock:
                    self._next = max(self._next, time.monotonic() + error.pause if error.pause > 0 else 0.0)
                if attempt < self.attempts and wait(max(pause, error.pause)):
                    raise StoppedError("Interrupted.") from None
        raise self._failed(f"{reason}, {self.attempts} times in a row")

    def scrubbed(self, text: str) -> str:
        """Return a text in which the key does not occur."""
        return text.replace(self._key, "[key]") if self._key else text

    def _turn(self) -> float:
        """Return how long to wait for one's turn, by the rate and by what the endpoint asked for."""
        with self._lock:
            moment = time.monotonic()
            start = max(moment, self._next)
            if self.rate is not None:
                self._next = start + 60.0 / self.rate
            return start - moment

    def _once(self, content: bytes) -> str:
        headers = {"Content-Type": "application/json", "User-Agent": f"sparingly/{__version__}"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(urlunsplit(self._address), content, headers)  # noqa: S310 - checked
        try:
            with urllib.request.build_opener(_NoRedirects).open(request, timeout=self.timeout) as stream:
                text = _read(stream, self.timeout)
        except urllib.error.HTTPError as error:
            self._refuse(error)
        except (OSError, http.client.HTTPException) as error:
            cause = getattr(error, "reason", error)
            raise _Again(f"the connection failed ({_words(cause)})") from None
        try:
            reply = json.loads(text)
            self._count(reply.get("usage"))
            answer = reply["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise _Again("it sent no chat completion (is the address that of the API?)") from None
        if not isinstance(answer, str):
            raise EndpointRefusedError("the model wrote no text")
        return answer

    def _count(self, usage: object) -> None:
        """Add the tokens of a call, where the endpoint says how many there were."""
        counts = [usage.get(f"{name}_tokens") if isinstance(usage, dict) else None for name in _COUNTED]
        numbers = [count for count in counts if isinstance(count, int) and count >= 0]
        with self._lock:
            if len(numbers) == len(_COUNTED):
                self.tokens = (self.tokens[0] + numbers[0], self.tokens[1] + numbers[1])
                self.counted += 1
            else:
                self.uncounted += 1

    def _refuse(self, error: urllib.error.HTTPError) -> NoReturn:
        """Raise what a status that is no success means."""
        with error:
            try:
                reply = json.loads(error.read(_BLOCK))
                detail = reply["error"]["message"] if isinstance(reply.get("error"), dict) else reply["error"]
            except (ValueError, LookupError, TypeError, AttributeError, OSError, http.client.HTTPException):
                detail = error.reason
        reason = f"status {error.code}: {self.scrubbed(one_line(str(detail)))[:200]}".rstrip(": .")
        if 300 <= error.code < 400:
            place = urlsplit(error.headers.get("Location") or "").hostname
            raise self._failed(
                f"it redirects{f' to {place}' if place else ''}, and a key is sent nowhere else"
                ". Give the address that it redirects to"
            )
        if error.code >= 500 or error.code in _TRANSIENT:
            raise _Again(reason, _retry_after(error.headers.get("Retry-After")))
        if error.code in (401, 403):
            name = next((name for name in KEYS if os.environ.get(name)), None)
            hint = f"Is the key in {name} right" if name else f"Put a key into {KEYS[0]}"
            raise self._failed(f"{reason}. {hint}")
        raise EndpointRefusedError(reason) if error.code in _OF_ONE else self._failed(reason)

    def _failed(self, reason: str) -> EndpointError:
        return EndpointError(f"{self.host} gives no answer: {reason}.")


class _Again(Exception):  # noqa: N818 - no error yet
    """A call that may succeed when it is made again, and the pause that was asked for."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        self.pause = pause
        super().__init__(reason)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirect."""


def _read(reply: IO[bytes], seconds: float) -> bytes:
    """Return a reply of reasonable size that arrives in time; a slow drip is no answer."""
    end, blocks, size = time.monotonic() + seconds, list[bytes](), 0
    # One read of the socket at a time, so that the clock is looked at between them.
    read: Callable[[int], bytes] = getattr(reply, "read1", reply.read)
    while block := read(_BLOCK):
        size += len(block)
        if size > MOST_BYTES:
            raise EndpointRefusedError(f"the answer is longer than {MOST_BYTES:,} bytes")
        if time.monotonic() > end:
            raise TimeoutError("timed out")
        blocks.append(block)
    content = b"".join(blocks)
    expected = reply.getheader("Content-Length") if isinstance(reply, http.client.HTTPResponse) else None
    if expected is not None and expected.isdecimal() and len(content) < int(expected):
        raise http.client.IncompleteRead(content)
    return content


def _address(url: str) -> SplitResult:
    """Return the address of the calls, checked."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or not re.fullmatch(r"[!-~]+", url.strip())
    ):
        raise UsageError("--endpoint is a URL such as https://api.openai.com/v1 or http://localhost:8000/v1.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"A key does not belong into the URL: put it into {KEYS[0]}.")
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(PATH) else path + PATH, fragment="")


def _key(address: SplitResult) -> str:
    """Return the key from the environment; one that is meant for OpenAI goes nowhere in the clear."""
    for name in KEYS:
        key = os.environ.get(name, "").strip()
        if not key:
            continue
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"The key in {name} holds letters that no key has.")
        if name != KEYS[0] and address.scheme == "http" and not _is_here(address.hostname or ""):
            return ""
        return key
    return ""


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _retry_after(text: str | None) -> float:
    """Return the seconds of a Retry-After header: a number, or a date."""
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        try:
            date = parsedate_to_datetime(str(text))
        except ValueError:
            return 0.0
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, (date - datetime.now(UTC)).total_seconds())


def _words(cause: object) -> str:
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    if isinstance(cause, http.client.IncompleteRead):
        return "the answer was cut off"
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return one_line(str(text))[:100]
