"""Many raters sending answers at once to one campaign: how many a second, how long each waits, nothing lost.

``python -m benchmarks.campaign_load [--seconds 60] [--raters 50] [--database sqlite --database postgresql]``
Raters are threads spread over several processes; each sends one answer after the other, without a pause, and
now and then the last one again, as a client does that was cut off. Meanwhile somebody else opens, verifies
and exports the campaign over and over. What was acknowledged is compared with what is stored in the end.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import multiprocessing
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

import sparingly
from sparingly.run.campaign.release import bundle_files, release_files
from tools.postgres_server import running_server

# --- somebody who looks at the campaign meanwhile --------------------------------------------------------


class Onlooker:
    """Looks at a campaign in a thread from ``with`` to its end, at least once.

    Attributes:
        looks: How often the campaign was opened, verified and exported.
        problems: What was wrong: an error, a verification that failed, or an export of several states.
    """

    def __init__(self, where: str, pause: float = 0.0) -> None:
        self.where, self.pause = where, pause
        # While the database has no room, that it says so is no problem.
        self.tolerant = False
        self.looks: Counter[str] = Counter()
        self.problems: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        while True:
            try:
                self._look()
            except Exception as error:
                if not self.tolerant:
                    self.problems.append(f"{type(error).__name__}: {error}")
            if self._over.wait(self.pause):
                return

    def _look(self) -> None:
        with sparingly.Campaign(self.where) as campaign:
            self.looks["opened"] += 1
            self.problems += campaign.verify().problems
            self.looks["verified"] += 1
            self._export(campaign)
            self.looks["exported"] += 1

    def _export(self, campaign: sparingly.Campaign) -> None:
        found = bundle_files(campaign)
        seq = json.loads(found["overview.json"])["seq"]
        answers = len(list(csv.DictReader(io.StringIO(found["answers.csv"].decode("utf-8-sig")))))
        events = len(found["events.jsonl"].splitlines())
        if answers + events != seq:
            self.problems.append(f"{answers} answers and {events} events were exported of {seq} entries")
        _, _, released = release_files(campaign, licence="CC0", title=None, comments=True, texts=True, seed=1)
        if released < answers:
            # Of several answers about the same thing the last is released; nobody corrects here.
            self.problems.append(f"{released} answers were released after {answers} were exported")


# --- many raters at once ---------------------------------------------------------------------------------


PROCESSES = 5
# Every so many answers are sent twice.
REPEAT = 10
CONTEXT = multiprocessing.get_context("forkserver")

Sent = tuple[str, str, str, float]


@dataclass(frozen=True)
class Load:
    """What came of it."""

    database: str
    raters: int
    seconds: float
    answers: int
    sent_again: int
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    longest_ms: float
    lost: int
    doubled: int
    invented: int
    verified: bool
    opened: int
    exported: int
    problems: int


def measure(database: str, where: str, *, raters: int, seconds: float, processes: int = PROCESSES) -> Load:
    """Let raters send answers for a while, then compare what was acknowledged with what is stored."""
    data = sparingly.make_evalset(items=200, models=8, seed=1)
    with sparingly.Campaign.new(where, data, "uniform", 200, aspects="overall", scale=(0, 100)) as campaign:
        campaign.next()
        cells = [(one.item, one.model) for one in campaign.questions()]
    with Onlooker(where) as onlooker:
        acknowledged, waits, took = _run(where, cells, raters, seconds, min(processes, raters))
    for problem in onlooker.problems:
        print(problem, file=sys.stderr)
    with sparingly.Campaign(where) as campaign:
        stored = [(one["rater"], one["item"], one["model"], one["score"]) for one in campaign.ratings()]
        verified = campaign.verify().ok
    milliseconds = 1000 * np.array(waits)
    p50, p95, p99 = (float(number) for number in np.percentile(milliseconds, (50, 95, 99)))
    told, kept = set(acknowledged), set(stored)
    return Load(
        database=database,
        raters=raters,
        seconds=round(took, 1),
        answers=len(stored),
        sent_again=len(acknowledged) - len(told),
        per_second=round(len(acknowledged) / took, 1),
        p50_ms=round(p50, 1),
        p95_ms=round(p95, 1),
        p99_ms=round(p99, 1),
        longest_ms=round(float(milliseconds.max()), 1),
        lost=len(told - kept),
        doubled=len(stored) - len(kept),
        invented=len(kept - told),
        verified=verified,
        opened=onlooker.looks["opened"],
        exported=onlooker.looks["exported"],
        problems=len(onlooker.problems),
    )


def _run(
    where: str, cells: list[tuple[str, str]], raters: int, seconds: float, processes: int
) -> tuple[list[Sent], list[float], float]:
    """Run the raters; return what was acknowledged, how long each answer took, and all of it."""
    barrier, pipes, running = CONTEXT.Barrier(processes), [], []
    for place in range(processes):
        here, there = CONTEXT.Pipe(duplex=False)
        names = [f"rater {number}" for number in range(place, raters, processes)]
        process = CONTEXT.Process(target=_process, args=(where, names, cells, seconds, barrier, there))
        process.start()
        there.close()
        pipes.append(here)
        running.append(process)
    acknowledged: list[Sent] = []
    waits: list[float] = []
    took = 0.0
    for pipe, process in zip(pipes, running, strict=True):
        some, long, last = pipe.recv()
        acknowledged += some
        waits += long
        took = max(took, last)
        process.join()
    return acknowledged, waits, took


def _process(
    where: str, names: list[str], cells: list[tuple[str, str]], seconds: float, barrier: Barrier, pipe: Pipe
) -> None:
    campaign = sparingly.Campaign(where)
    acknowledged: list[Sent] = []
    waits: list[float] = []
    barrier.wait()
    start = time.perf_counter()

    def rate(name: str) -> None:
        number = int(name.split()[1])
        for count in range(10**9):
            if time.perf_counter() - start > seconds or count >= len(cells):
                return
            item, model = cells[(count + 37 * number) % len(cells)]
            score = float((7 * count + number) % 101)
            answer = sparingly.Answer(name, item, score, model=model, client=f"{name}-{count}")
            for _ in range(2 if count % REPEAT == 0 else 1):
                before = time.perf_counter()
                if campaign.record([answer]).refused:
                    raise AssertionError("an answer was refused")
                waits.append(time.perf_counter() - before)
                acknowledged.append((name, item, model, score))

    threads = [threading.Thread(target=rate, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    campaign.disconnect()
    pipe.send((acknowledged, waits, took))


@contextmanager
def address(database: str) -> Iterator[str]:
    """Yield the address of an empty database on disk."""
    if database == "postgresql":
        with running_server() as server:
            yield server.new_address()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "campaign.db")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--raters", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--database", action="append", choices=("sqlite", "postgresql"))
    args = parser.parse_args()
    for database in args.database or ("sqlite", "postgresql"):
        with address(database) as where:
            found = measure(database, where, raters=args.raters, seconds=args.seconds)
        print(json.dumps(asdict(found)), flush=True)
        if found.lost or found.doubled or found.invented or not found.verified:
            raise SystemExit(f"{database}: answers were lost, doubled or invented")
        if found.problems:
            raise SystemExit(f"{database}: a healthy campaign was called damaged, or exported in part")


if __name__ == "__main__":
    main()
