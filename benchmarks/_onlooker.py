"""Somebody who opens, verifies and exports a campaign over and over while others write or are killed."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections import Counter
from types import TracebackType
from typing import Self

import sparingly
from sparingly.run.campaign.release import bundle_files, release_files


class Onlooker:
    """Looks at a campaign in a thread from ``with`` to its end, at least once.

    Attributes:
        looks: How often the campaign was opened, verified and exported.
        problems: What was wrong: an error, a verification that failed, or an export of several states.
    """

    def __init__(self, where: str, pause: float = 0.0) -> None:
        self.where, self.pause = where, pause
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
