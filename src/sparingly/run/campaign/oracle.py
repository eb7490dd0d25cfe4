"""Let a callable judge answer (a language model, say, or a table of known scores), each question once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from sparingly.base.errors import DataError, UsageError, one_line
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.history import History, paused_at, questions_at, unanswered
from sparingly.run.campaign.journal import Clock, Journal, timestamp
from sparingly.run.campaign.tables import CLAIMS, of_campaign, rows_of
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.question import Question

# --- Claims: no answer is paid for twice, and every call is counted first ---


class Claims:
    """The claims of one caller, which end by themselves after a while."""

    def __init__(
        self, database: Database, history: History, clock: Clock, *, rater: str, holder: str, lease: float
    ) -> None:
        self.database, self.history, self.clock = database, history, clock
        self.rater, self.holder, self.lease = rater, holder, lease
        self.campaign = history.settings.name

    def take(self, data: Sequence[str], count: int, most_calls: int | None) -> list[Question]:
        """Claim questions that nobody has judged or is judging now, and count a call for each."""
        with self.database.writing() as connection:
            # Locks the campaign against other callers; nothing is appended.
            journal = Journal(connection, self.campaign, self.clock)
            if journal.closed is not None or paused_at(connection, self.campaign) is not None:
                return []
            moment = timestamp(self.clock())
            room = count if most_calls is None else min(count, most_calls - self.calls(connection))
            rows = connection.execute(
                rows_of(CLAIMS, self.campaign, "data item model other until", rater=self.rater)
            )
            claimed_until = {tuple(cell): until for *cell, until in rows}
            settings, seq = self.history.settings, journal.last_seq
            free: list[Question] = []
            for name in data:
                questions = questions_at(connection, settings, name, seq)
                free += [
                    question
                    for question in unanswered(connection, settings, seq, questions)
                    if claimed_until.get(question.cell, "") <= moment
                ]
            claimed = free[: max(0, room)]
            for question in claimed:
                self._count(connection, question, is_claimed=question.cell in claimed_until)
        return claimed

    def count_retry(self, question: Question, most_calls: int | None) -> bool:
        """Count one more call about a claimed question; False where no call is left."""
        with self.database.writing() as connection:
            Journal(connection, self.campaign, self.clock)
            if most_calls is not None and self.calls(connection) >= most_calls:
                return False
            self._count(connection, question, is_claimed=True)
        return True

    def release(self, questions: Mapping[Question, int]) -> None:
        """Give questions back that were not judged, each with the calls about it that were not made."""
        with self.database.writing() as connection:
            Journal(connection, self.campaign, self.clock)
            for question, unmade in questions.items():
                values = {"until": "", "calls": CLAIMS.c.calls - unmade}
                connection.execute(update(CLAIMS).where(*self._row_of(question)).values(values))

    def calls(self, connection: Connection) -> int:
        """Return how many calls were made in this campaign, failed ones and those of other callers too."""
        table = CLAIMS.c
        query = select(func.coalesce(func.sum(table.calls), 0)).where(table.campaign == self.campaign)
        return int(connection.execute(query).scalar_one())

    def _count(self, connection: Connection, question: Question, *, is_claimed: bool) -> None:
        until = timestamp(self.clock() + timedelta(seconds=self.lease))
        lease = {"holder": self.holder, "until": until}
        if is_claimed:
            more = {**lease, "calls": CLAIMS.c.calls + 1}
            connection.execute(update(CLAIMS).where(*self._row_of(question)).values(more))
            return
        row = {"campaign": self.campaign, **self._key_of(question), **lease, "calls": 1}
        connection.execute(insert(CLAIMS), row)

    def _row_of(self, question: Question) -> list[ColumnElement[bool]]:
        return of_campaign(CLAIMS, self.campaign, **self._key_of(question))

    def _key_of(self, question: Question) -> dict[str, str]:
        cell = zip(("data", "item", "model", "other"), question.cell, strict=True)
        return {"rater": self.rater, **dict(cell)}


# --- Calls ---

Judged = float | Mapping[str, float]
Oracle = Callable[[Question], Judged]
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Patience:
    """How a judge that fails is asked again."""

    retries: int = 3  # how often a failed call is made again
    # How many seconds to wait before the first of them; twice as long before each further one.
    pause: float = 1.0
    # How many calls may be made in the whole campaign, failed ones too; None for any number.
    most_calls: int | None = None
    sleep: Callable[[float], None] = time.sleep  # what waits


class CallsSpentError(DataError):
    """No further call of the judge is allowed."""


@dataclass(frozen=True, eq=False)
class Caller:
    """Asks a judge about claimed questions, several at a time, and hands over every answer as it comes."""

    oracle: Oracle  # the judge: a question in, a score (or one per aspect) out
    rater: str
    claims: Claims
    check: Callable[[Answer], None]  # raises an error for an answer that would be refused
    record: Callable[[list[Answer]], object]  # stores the answers to one question in one transaction
    patience: Patience

    def answer(self, questions: list[Question], workers: int) -> Iterator[Question]:
        """Yield each question when its answer is saved; claims of what is not judged are released."""
        # For each question that has no answer yet, how many counted calls were not made.
        waiting = dict.fromkeys(questions, 1)
        running: dict[Future[list[Answer]], Question] = {}
        remaining = iter(questions)
        with ThreadPoolExecutor(workers) as pool:
            try:
                while True:
                    for question in islice(remaining, workers - len(running)):
                        running[pool.submit(self._ask, question)] = question
                        waiting[question] = 0
                    if not running:
                        return
                    finished, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        question = running.pop(future)
                        self._record_patiently(future.result())
                        del waiting[question]
                        yield question
            finally:
                # Answers that are paid for are recorded although one of the others failed.
                for future, question in running.items():
                    if not future.cancel() and future.exception() is None:
                        self._record_patiently(future.result())
                        del waiting[question]
                if waiting:
                    self.claims.release(waiting)

    def _record_patiently(self, answers: list[Answer]) -> None:
        """Record answers; they are paid for, so a database that does not answer is tried again."""
        for attempt in range(self.patience.retries + 1):
            try:
                self.record(answers)
            except DataError:
                if attempt == self.patience.retries:
                    raise
                self.patience.sleep(self.patience.pause * 2**attempt)
            else:
                return

    def _ask(self, question: Question) -> list[Answer]:
        """Call the judge until it gives an answer that can be used, or patience ends."""
        problem: Exception | None = None
        for attempt in range(self.patience.retries + 1):
            if attempt:
                self.patience.sleep(self.patience.pause * 2 ** (attempt - 1))
                if not self.claims.count_retry(question, self.patience.most_calls):
                    raise CallsSpentError("No call of the judge is left.") from problem
            started = time.perf_counter()
            try:
                return self._answers(question, self.oracle(question), time.perf_counter() - started)
            except Exception as error:
                problem = error
        raise DataError(
            one_line(
                f'The judge failed {self.patience.retries + 1} times on the item "{question.item}" '
                f"({problem}). Its answers so far are saved: run it again."
            )
        ) from problem

    def _answers(self, question: Question, result: Judged, seconds: float) -> list[Answer]:
        scores = result if isinstance(result, Mapping) else dict.fromkeys(question.aspects[:1], result)
        if missing := [name for name in question.aspects if name not in scores]:
            raise UsageError(f"The judge gave no score for {missing[0]}: return one for each aspect.")
        models: dict[str, Any] = (
            {"model": question.model}
            if question.other is None
            else {"pair": (question.model, question.other)}
        )
        share = seconds / len(question.aspects)
        answers = [
            Answer(self.rater, question.item, float(scores[name]), aspect=name, data=question.data,
                   seconds=share, **models)
            for name in question.aspects
        ]  # fmt: skip
        for answer in answers:
            self.check(answer)
        return answers


@contextmanager
def reporting(progress: bool | Report, title: str) -> Iterator[Report]:
    """Yield a function to call with how many answers there are, and how many were asked for."""
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=not progress, transient=True) as bar:
        task = bar.add_task(title, total=None)

        def show(answered_count: int, total: int) -> None:
            bar.update(task, completed=answered_count, total=total)

        yield show
