"""Let a callable judge answer: a language model, say, or a table of known scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sparingly.base.errors import DataError, UsageError, one_line
from sparingly.run.campaign.answers import Answer
from sparingly.run.campaign.claims import Claims
from sparingly.run.campaign.questions import Question
from sparingly.run.campaign.record import Acknowledgement
from sparingly.run.campaign.todo import Cell

Judged = float | Mapping[str, float]
Oracle = Callable[[Question], Judged]
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Patience:
    """How a judge that fails is asked again.

    Attributes:
        retries: How often a failed call is made again.
        pause: How many seconds to wait before the first of them; twice as long before each further one.
        most_calls: How many calls may be made in the whole campaign, failed ones too; None for any number.
        sleep: What waits.
    """

    retries: int = 3
    pause: float = 1.0
    most_calls: int | None = None
    sleep: Callable[[float], None] = time.sleep


class CallsSpentError(DataError):
    """No further call of the judge is allowed."""


@dataclass(frozen=True, eq=False)
class Caller:
    """Asks a judge about claimed cells, several at a time, and hands every answer over when it is there.

    Attributes:
        oracle: The judge: a question in, a score (or one per aspect) out.
        rater: The name under which its answers are kept.
        claims: What this caller has claimed.
        check: Complains about an answer that would be refused.
        record: Keeps the answers to one question and says what became of them.
        patience: How a judge that fails is asked again.
    """

    oracle: Oracle
    rater: str
    claims: Claims
    check: Callable[[Answer], None]
    record: Callable[[list[Answer]], list[Acknowledgement]]
    patience: Patience

    def answer(self, questions: list[tuple[Cell, Question]], workers: int) -> Iterator[Cell]:
        """Yield each cell when its answer is kept; what is not judged is given back."""
        # For each cell that has no answer yet, how many counted calls were not made.
        waiting = {cell: 1 for cell, _ in questions}
        running: dict[Future[list[Answer]], Cell] = {}
        left = iter(questions)
        with ThreadPoolExecutor(workers) as pool:
            try:
                while True:
                    for cell, question in islice(left, workers - len(running)):
                        running[pool.submit(self._ask, cell, question)] = cell
                        waiting[cell] = 0
                    if not running:
                        return
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        cell = running.pop(future)
                        self._keep(future.result())
                        del waiting[cell]
                        yield cell
            finally:
                for cell in self._keep_what_is_under_way(running):
                    del waiting[cell]
                if waiting:
                    self.claims.release(waiting)

    def _keep_what_is_under_way(self, running: Mapping[Future[list[Answer]], Cell]) -> set[Cell]:
        """Record answers that are paid for although one of the others failed; return what they are about."""
        kept = set()
        for future, cell in running.items():
            if not future.cancel() and future.exception() is None:
                self._keep(future.result())
                kept.add(cell)
        return kept

    def _keep(self, answers: list[Answer]) -> None:
        """Record answers; they are paid for, so a database that is away for a moment is tried again, too."""
        for attempt in range(self.patience.retries + 1):
            try:
                self.record(answers)
            except DataError:
                if attempt == self.patience.retries:
                    raise
                self.patience.sleep(self.patience.pause * 2**attempt)
            else:
                return

    def _ask(self, cell: Cell, question: Question) -> list[Answer]:
        """Call the judge until it gives an answer that can be used, or patience ends."""
        problem: Exception | None = None
        for attempt in range(self.patience.retries + 1):
            if attempt:
                self.patience.sleep(self.patience.pause * 2 ** (attempt - 1))
                if not self.claims.again(cell, self.patience.most_calls):
                    raise CallsSpentError("No call of the judge is left.") from problem
            started = time.perf_counter()
            try:
                return self._answers(question, self.oracle(question), time.perf_counter() - started)
            except Exception as error:
                problem = error
        raise DataError(
            one_line(
                f'The judge failed {self.patience.retries + 1} times on the item "{question.item}" '
                f"({problem}). What it answered so far is kept: run it again."
            )
        ) from problem

    def _answers(self, question: Question, given: Judged, seconds: float) -> list[Answer]:
        scores = given if isinstance(given, Mapping) else dict.fromkeys(question.aspects[:1], given)
        if missing := [name for name in question.aspects if name not in scores]:
            raise UsageError(f"The judge gave no score for {missing[0]}: return one for each aspect.")
        about: dict[str, Any] = (
            {"model": question.model}
            if question.other is None
            else {"pair": (question.model, question.other)}
        )
        share = seconds / len(question.aspects)
        answers = [
            Answer(self.rater, question.item, float(scores[name]), aspect=name, data=question.data,
                   seconds=share, **about)
            for name in question.aspects
        ]  # fmt: skip
        for answer in answers:
            self.check(answer)
        return answers


@contextmanager
def reporting(progress: bool | Report, what: str) -> Iterator[Report]:
    """Yield what is told how many answers are there and how many are asked for in the rounds so far."""
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=not progress, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield show
