"""Many raters at once on the pages of ``sparingly serve``: how long each request takes, and nothing lost.

``python -m benchmarks.serve_load [--seconds 300] [--raters 100] [--kills 2] [--full-disk] [--database …]``
The large one: ``--raters 200 --seconds 600 --kills 3 --full-disk --database sqlite`` (or ``postgresql``).
The server is started as a user starts it, in a process of its own; raters speak to it over sockets. They look
at a page for 3 to 7 seconds, save a draft, send, and press the button twice now and then. Meanwhile the
organiser looks at all pages and downloads everything, somebody else opens, verifies and exports the campaign,
and the server is killed (-9) and started again. With ``--full-disk`` the database lies on a small disk (which
root can make), and for a twelfth of the time there is no room on it; a PostgreSQL server that stops then is
started again. What was acknowledged is compared with what is stored.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np

import sparingly
from benchmarks.campaign_load import Onlooker, address
from tools.postgres_server import NoServerError, running_server
from tools.postgres_server import Server as PostgresServer

# --- raters and an organiser without a browser -----------------------------------------------------------


# How long a rater looks at a page. People take longer: this is several times their load.
THINK = (3.0, 7.0)
# All that an organiser can open, and how long they look at it.
ORGANISER_PAGES = (
    "", "/progress", "/raters", "/raters/agreement", "/ranking", "/ranking/now", "/next", "/next/now",
    "/downloads", "/downloads/everything.zip", "/downloads/hours.csv", "/log",
)  # fmt: skip
ORGANISER_THINK = 0.5
# In a long run there is more to read at every look, and the pauses between looks are so much of it.
ORGANISER_SHARE, ONLOOKER_SHARE = 1 / 200, 1 / 20
# Every so many pages a rater presses the button twice.
TWICE = 10
_PATIENCE, _AGAIN = 120.0, 0.2
_FORM = re.compile(r'<form id="judge"[^>]*action="([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="(csrf|client)" value="([^"]*)"')
_SCORE = re.compile(r'name="(score:[0-9a-f]{32}:\d+)"')
# What the organiser's pages say while the database cannot write.
_NO_ROOM = ("is full", "gave an error")
_CUT_OFF = (OSError, http.client.HTTPException)


@dataclass
class Log:
    """What raters did: how long each request took, by kind, what they sent and what was acknowledged."""

    waits: dict[str, list[float]] = field(default_factory=dict)
    sent: dict[str, tuple[str, frozenset[float]]] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    sent_again: int = 0
    cut_off: int = 0
    no_room: int = 0
    refused: list[int] = field(default_factory=list)

    def add(self, other: Log) -> None:
        """Take what another rater did."""
        for kind, waits in other.waits.items():
            self.waits.setdefault(kind, []).extend(waits)
        self.sent |= other.sent
        self.acknowledged |= other.acknowledged
        self.sent_again += other.sent_again
        self.cut_off += other.cut_off
        self.no_room += other.no_room
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
            if status == 503 or (status == 422 and any(words in text for words in _NO_ROOM)):
                self.log.no_room += 1
                if time.monotonic() > end:
                    raise AssertionError(f"{method} {kind} was answered with {status} for {_PATIENCE} s")
                time.sleep(_AGAIN)
                continue
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
        pause = max(ORGANISER_THINK, (self.until - time.monotonic()) * ORGANISER_SHARE)
        self.enter()
        while time.monotonic() < self.until:
            for page in ORGANISER_PAGES:
                self.ask("organiser", "GET", f"/organiser{page}")
                time.sleep(pause)
        self.leave()


# --- many raters at once ---------------------------------------------------------------------------------


SCRIPT = Path(sysconfig.get_path("scripts")) / "sparingly"
PROMISED_MS = 200.0
_START_SECONDS = 120.0


@dataclass(frozen=True)
class Load:
    """What came of it."""

    database: str
    raters: int
    seconds: float
    kills: int
    pages: int
    requests: int
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    longest_ms: float
    p95_by_kind_ms: dict[str, float]
    sent_again: int
    cut_off: int
    no_room: int
    lost: int
    doubled: int
    invented: int
    judged_by_two: int
    verified: bool
    organiser_pages: int
    exported: int
    problems: int

    @property
    def is_whole(self) -> bool:
        """Whether every answer is there, once, as it was sent, and every look at it found that."""
        wrong = (self.lost, self.doubled, self.invented, self.judged_by_two, self.problems)
        return self.verified and not any(wrong)


class Server:
    """``sparingly serve`` on a campaign, which can be killed and started again at the same place."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *raters: str) -> dict[str, str]:
        """Start it, and return the links by whose they are."""
        links = self.folder / "links.txt"
        links.unlink(missing_ok=True)
        asked = ["serve", self.where, "--port", str(self.port), "--once-links", str(links), "--overlap", "0"]
        asked += ["--secret-file", str(self.folder / "secret")]
        asked += ["--raters", ",".join(raters)] if raters else []
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(SCRIPT), *asked], cwd=self.folder, stdout=log, stderr=subprocess.STDOUT
            )
        end = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise SystemExit(
                    f"The server did not start: {(self.folder / 'server.log').read_text('utf-8')}"
                )
            time.sleep(0.05)
        lines = links.read_text("utf-8").splitlines()
        return dict(line.split("\t", 1) for line in lines)

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        """Say whether pages are there; the port takes connections a moment before."""
        if not (self.folder / "links.txt").exists():
            return False
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
                connection.sendall(b"GET /static/style.css HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                return connection.recv(12).startswith(b"HTTP/1.1 200")
        except OSError:
            return False


def begin(where: str, raters: int, seconds: float) -> None:
    """Begin a campaign that asks for more than the raters can judge in that time."""
    pages = int(raters * (1.25 * seconds / (sum(THINK) / 2) + 3))
    data = sparingly.make_evalset(items=pages, models=4, seed=1)
    sparingly.Campaign.new(where, data, "uniform", pages, aspects="overall", scale=(0, 100)).disconnect()


@dataclass
class SmallDisk:
    """A disk in memory that can be filled."""

    place: Path
    database: PostgresServer | None = None

    def fill(self) -> None:
        """Leave no room."""
        with suppress(OSError), (self.place / "balloon").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def empty(self) -> None:
        """Make room again; a server that gave up is started again."""
        (self.place / "balloon").unlink()
        if self.database is not None:
            with suppress(NoServerError):
                self.database.crash()
            self.database.start()


@contextmanager
def on_small_disk(database: str, folder: Path, answers: float) -> Iterator[tuple[str, SmallDisk]]:
    """Yield the address of an empty database on a disk with room for some answers, and the disk."""
    place = folder / "disk"
    place.mkdir()
    # A server writes everything twice or more: into its log, too.
    base, each = (192e6, 10e3) if database == "postgresql" else (32e6, 2e3)
    size = f"{(base + each * answers) / 1e6:.0f}m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    place.chmod(0o755)
    try:
        if database == "sqlite":
            yield str(place / "campaign.db"), SmallDisk(place)
            return
        for above in (folder, *folder.parents[:1]):
            above.chmod(0o755)
        with running_server(place) as server:
            yield server.new_address(), SmallDisk(place, server)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def on_any_disk(database: str) -> Iterator[tuple[str, None]]:
    """Yield the address of an empty database."""
    with address(database) as where:
        yield where, None


def measure(
    folder: Path,
    *,
    raters: int,
    seconds: float,
    kills: int,
    database: str = "sqlite",
    full_disk: bool = False,
) -> Load:
    """Let raters judge for a while, kill the server now and then, and compare what is stored."""
    answers = 4 * raters * seconds / (sum(THINK) / 2)
    with on_small_disk(database, folder, answers) if full_disk else on_any_disk(database) as (where, disk):
        begin(where, raters, seconds)
        server = Server(folder, where)
        try:
            links = server.start(*(f"rater-{number:03d}" for number in range(raters)))
            with Onlooker(where, pause=max(1.0, seconds * ONLOOKER_SHARE)) as onlooker:
                log, took = _run(server, links, seconds, kills, disk, onlooker)
        except BaseException:
            print((folder / "server.log").read_text("utf-8")[-5000:], file=sys.stderr)
            raise
        finally:
            server.kill()
        for problem in onlooker.problems:
            print(problem, file=sys.stderr)
        return _compared(where, log, took, onlooker, {"database": database, "raters": raters, "kills": kills})


def _run(
    server: Server,
    links: dict[str, str],
    seconds: float,
    kills: int,
    disk: SmallDisk | None,
    onlooker: Onlooker,
) -> tuple[Log, float]:
    begun = time.monotonic()
    people: list[Visitor] = [
        (Organiser if name == "organiser" else Rater)(name.removeprefix("rater "), link, begun + seconds)
        for name, link in links.items()
    ]
    problems: list[BaseException] = []

    def work(visitor: Visitor) -> None:
        try:
            visitor.work()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in people]
    for thread in threads:
        thread.start()
    for count in range(kills):
        time.sleep(max(0.0, begun + seconds * (count + 1) / (kills + 1) - time.monotonic()))
        server.kill()
        server.start()
    if disk is not None:
        # After the last kill, before the end.
        time.sleep(max(0.0, begun + seconds * (kills + 0.5) / (kills + 1) - time.monotonic()))
        onlooker.tolerant = True
        disk.fill()
        time.sleep(seconds / 12)
        disk.empty()
        time.sleep(2.0)
        onlooker.tolerant = False
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    log = Log()
    for one in people:
        log.add(one.log)
    return log, time.monotonic() - begun


def _compared(where: str, log: Log, took: float, onlooker: Onlooker, asked: dict[str, Any]) -> Load:
    with sparingly.Campaign(where) as held:
        rows, verified = held.ratings(), held.verify().ok
    stored: dict[str, frozenset[float]] = {}
    for row in rows:
        stored[row["client"]] = stored.get(row["client"], frozenset()) | {row["score"]}
    cells: dict[tuple[Any, ...], set[str]] = {}
    for row in rows:
        cells.setdefault((row["item"], row["model"], row["aspect"]), set()).add(row["rater"])
    waits = 1000 * np.array([wait for part in log.waits.values() for wait in part])
    p50, p95, p99 = (round(float(number), 1) for number in np.percentile(waits, (50, 95, 99)))
    return Load(
        **asked,
        seconds=round(took, 1),
        pages=len(log.acknowledged),
        requests=len(waits),
        per_second=round(len(waits) / took, 1),
        p50_ms=p50,
        p95_ms=p95,
        p99_ms=p99,
        longest_ms=round(float(waits.max()), 1),
        p95_by_kind_ms={
            kind: round(1000 * float(np.percentile(part, 95)), 1) for kind, part in sorted(log.waits.items())
        },
        sent_again=log.sent_again,
        cut_off=log.cut_off,
        no_room=log.no_room,
        lost=sum(stored.get(client) != log.sent[client][1] for client in log.acknowledged),
        doubled=len(rows) - sum(map(len, cells.values())),
        invented=len(set(stored) - set(log.sent)),
        judged_by_two=sum(len(who) > 1 for who in cells.values()),
        verified=verified,
        organiser_pages=len(log.waits["organiser"]),
        exported=onlooker.looks["exported"],
        problems=len(onlooker.problems),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--raters", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--full-disk", action="store_true", help="run out of room once; for root")
    parser.add_argument("--database", action="append", choices=("sqlite", "postgresql"))
    args = parser.parse_args()
    given = {name: getattr(args, name) for name in ("raters", "seconds", "kills", "full_disk")}
    for database in args.database or ("sqlite", "postgresql"):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(Path(folder), database=database, **given)
        print(json.dumps(asdict(found)), flush=True)
        handing, saving = (found.p95_by_kind_ms[kind] for kind in ("page", "answer"))
        print(
            f"{database}: lost {found.lost}, doubled {found.doubled}; 95 % of the pages were handed out "
            f"within {handing:.0f} ms, and of the answers saved within {saving:.0f} ms",
            flush=True,
        )
        if not found.is_whole:
            raise SystemExit(
                f"{database}: answers were lost, doubled or invented, or a look at them was wrong"
            )
        if found.p95_ms > PROMISED_MS:
            raise SystemExit(
                f"{database}: 95 % of the requests took up to {found.p95_ms} ms, promised are {PROMISED_MS:g}"
            )


if __name__ == "__main__":
    main()
