"""Raters and an organiser without a browser: each opens a link and asks again where it was cut off."""

from __future__ import annotations

import http.client
import re
import time
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import urlencode, urlsplit

import numpy as np

# How long a rater looks at a page. People take longer: this is several times their load.
THINK = (3.0, 7.0)
# All that an organiser can open, and how long they look at it.
ORGANISER_PAGES = (
    "", "/progress", "/raters", "/raters/agreement", "/ranking", "/ranking/now", "/next", "/next/now",
    "/downloads", "/downloads/everything.zip", "/downloads/hours.csv", "/log",
)  # fmt: skip
ORGANISER_THINK = 0.5
# Every so many pages a rater presses the button twice.
TWICE = 10
_PATIENCE, _AGAIN = 60.0, 0.2
_FORM = re.compile(r'<form id="judge"[^>]*action="([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="(csrf|client)" value="([^"]*)"')
_SCORE = re.compile(r'name="(score:[0-9a-f]{32}:\d+)"')
_CUT_OFF = (OSError, http.client.HTTPException)


@dataclass
class Log:
    """What raters did: how long each request took, by kind, what they sent and what was acknowledged."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    sent: dict[str, tuple[str, frozenset[float]]] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    sent_again: int = 0
    cut_off: int = 0
    refused: list[int] = field(default_factory=list)

    def add(self, other: Log) -> None:
        """Take what another rater did."""
        for kind, waits in other.waits.items():
            self.waits.setdefault(kind, []).extend(waits)
        self.sent |= other.sent
        self.acknowledged |= other.acknowledged
        self.sent_again += other.sent_again
        self.cut_off += other.cut_off
        self.refused += other.refused


class Visitor:
    """Somebody who opened a link; what they ask for is asked again where the server was killed meanwhile."""

    def __init__(self, name: str, link: str, until: float) -> None:
        self.name, self.until, self.log = name, until, Log()
        self._address = urlsplit(link)
        self._chance = np.random.default_rng([*name.encode()])
        self._connection: http.client.HTTPConnection | None = None
        self._cookie = ""

    def work(self) -> None:
        """Come in, and do what this visitor does until it is time to go."""
        raise NotImplementedError

    def enter(self) -> None:
        """Open the link."""
        self.ask("enter", "GET", self._address.path)

    def leave(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def ask(self, kind: str, method: str, path: str, fields: dict[str, str] | None = None) -> str:
        """Send a request until it is answered: a server that was killed comes back."""
        end = time.monotonic() + _PATIENCE
        while True:
            begun = time.perf_counter()
            try:
                status, text = self._send(method, path, fields)
            except _CUT_OFF:
                self.log.cut_off += 1
                self._connection = None
                if time.monotonic() > end:
                    raise
                time.sleep(_AGAIN)
                continue
            self.log.waits.setdefault(kind, []).append(time.perf_counter() - begun)
            if status >= 400:
                self.log.refused.append(status)
                raise AssertionError(f"{method} {kind} was answered with {status}: {text[:500]}")
            return text

    def _send(self, method: str, path: str, fields: dict[str, str] | None) -> tuple[int, str]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._address.netloc, timeout=_PATIENCE)
        body = None if fields is None else urlencode(fields)
        headers = {"Cookie": self._cookie} if self._cookie else {}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            text = answer.read().decode(errors="replace")
        except _CUT_OFF:
            self._connection.close()
            raise
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                self._cookie = value.partition(";")[0]
        return answer.status, text


class Rater(Visitor):
    """Somebody who judges page after page until a given moment."""

    def work(self) -> None:
        """Judge until it is time to go; what was sent and not acknowledged is sent again first."""
        time.sleep(self._chance.uniform(0.0, THINK[1]))
        self.enter()
        page = self.ask("page", "GET", "/rate")
        while time.monotonic() < self.until:
            page = self._judge(page)
        self.leave()

    def _judge(self, page: str) -> str:
        form, names = _FORM.search(page), _SCORE.findall(page)
        if form is None or not names:
            time.sleep(1.0)
            return self.ask("page", "GET", "/rate")
        hidden = {name: unescape(value) for name, value in _HIDDEN.findall(page)}
        scores = self._chance.choice(101, len(dict.fromkeys(names)), replace=False).tolist()
        fields = dict(zip(dict.fromkeys(names), map(str, scores), strict=True))
        think = self._chance.uniform(*THINK)
        time.sleep(think / 2)
        some = dict(list(fields.items())[:1])
        self.ask("draft", "POST", f"{form[1]}/draft", {**hidden, **some, "seconds": "1"})
        time.sleep(think / 2)
        self.log.sent[hidden["client"]] = (self.name, frozenset(map(float, scores)))
        for _ in range(2 if len(self.log.sent) % TWICE == 1 else 1):
            self.log.sent_again += hidden["client"] in self.log.acknowledged
            self.ask("answer", "POST", form[1], {**hidden, **fields, "seconds": f"{think:.1f}"})
            self.log.acknowledged.add(hidden["client"])
        return self.ask("page", "GET", "/rate")


class Organiser(Visitor):
    """Somebody who looks at every page of the organiser and takes everything home, over and over."""

    def work(self) -> None:
        """Look until it is time to go."""
        self.enter()
        while time.monotonic() < self.until:
            for page in ORGANISER_PAGES:
                self.ask("organiser", "GET", f"/organiser{page}")
                time.sleep(ORGANISER_THINK)
        self.leave()
