"""Many raters at once on the pages of ``sparingly serve``: how long each request takes, and nothing lost.

``python -m benchmarks.serve_load [--seconds 300] [--raters 100] [--kills 2] [--database sqlite]``
The server is started as a user starts it, in a process of its own; raters speak to it over sockets. They look
at a page for 3 to 7 seconds, save a draft, send, and press the button twice now and then. Meanwhile the
organiser looks at all pages and downloads everything, somebody else opens, verifies and exports the campaign,
and the server is killed (-9) and started again. What was acknowledged is compared with what is stored.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks._onlooker import Onlooker
from benchmarks._serve_raters import THINK, Log, Organiser, Rater, Visitor
from benchmarks.campaign_load import address

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
        asked = ["serve", self.where, "--port", str(self.port), "--once-links", str(links)]
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
    pages = int(raters * (seconds / THINK[0] + 3))
    data = sparingly.make_evalset(items=pages, models=4, seed=1)
    sparingly.Campaign.new(where, data, "uniform", pages, aspects="overall", scale=(0, 100)).disconnect()


def measure(folder: Path, *, raters: int, seconds: float, kills: int, database: str = "sqlite") -> Load:
    """Let raters judge for a while, kill the server now and then, and compare what is stored."""
    with address(database) as where:
        begin(where, raters, seconds)
        server = Server(folder, where)
        try:
            links = server.start(*(f"rater-{number:03d}" for number in range(raters)))
            with Onlooker(where, pause=1.0) as onlooker:
                log, took = _run(server, links, seconds, kills)
        finally:
            server.kill()
        for problem in onlooker.problems:
            print(problem, file=sys.stderr)
        return _compared(where, log, took, onlooker, {"database": database, "raters": raters, "kills": kills})


def _run(server: Server, links: dict[str, str], seconds: float, kills: int) -> tuple[Log, float]:
    begun = time.monotonic()
    people: list[Visitor] = [
        (Organiser if name == "organiser" else Rater)(name.removeprefix("rater "), link, begun + seconds)
        for name, link in links.items()
    ]
    problems: list[BaseException] = []

    def work(one: Visitor) -> None:
        try:
            one.work()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in people]
    for thread in threads:
        thread.start()
    for count in range(kills):
        time.sleep(max(0.0, begun + seconds * (count + 1) / (kills + 1) - time.monotonic()))
        server.kill()
        server.start()
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
    parser.add_argument("--database", action="append", choices=("sqlite", "postgresql"))
    asked = parser.parse_args()
    given = {"raters": asked.raters, "seconds": asked.seconds, "kills": asked.kills}
    for database in asked.database or ("sqlite", "postgresql"):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(Path(folder), database=database, **given)
        print(json.dumps(asdict(found)), flush=True)
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
