"""A judge's run over a data set: every question is asked once, and every answer is saved as it comes."""

from __future__ import annotations

import json
import math
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import MissingDataError, UsageError, listing
from sparingly.base.format import share_text
from sparingly.base.syntax import argument, role_argument
from sparingly.data import files, schema
from sparingly.data.evalset import EvalSet
from sparingly.data.io.verdicts import (
    PAIRS,
    Verdict,
    VerdictHead,
    outputs_of,
    pairs_of,
    read_verdicts,
    text_digest,
    win_shares,
)
from sparingly.run.judging.endpoint import Endpoint, EndpointError, EndpointRefusedError, StoppedError
from sparingly.run.judging.prompt import PASS_FAIL, JudgePrompt

# Where nothing was read so far and so many questions were refused, all of them will be.
_ALL_REFUSED = 3
# An answer that cannot be read is asked for once more; where none of so many can be, the judge does not do.
_READINGS = 2
_NONE_READ = 10
_LONGEST_RAW = 4000
OnJudged = Callable[[int, int], None]


@dataclass(frozen=True)
class JudgeQuestion:
    """What is asked in one call: an item, and one output or two in the order in which they are shown."""

    item: str
    models: tuple[str, ...]
    texts: tuple[str, ...]
    source: str | None
    references: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """By which its verdict is found again."""
        return (self.item, *map(text_digest, self.texts))


@dataclass(frozen=True)
class TokenPrice:
    """What a million tokens cost: those that are sent, and those that the model writes."""

    sent: float
    written: float

    @classmethod
    def parse(cls, text: str) -> TokenPrice:
        """Read "0.15/0.60"."""
        try:
            sent, written = map(float, text.split("/"))
        except ValueError:
            sent = written = -1.0
        if not (0 <= sent < math.inf and 0 <= written < math.inf):
            raise UsageError(
                f"{argument('token_price')} is what a million tokens cost, sent and written, such as "
                f"0.15/0.60, not {text}."
            )
        return cls(sent, written)

    def cost(self, endpoint: Endpoint) -> float:
        """Return what the calls to an endpoint have cost so far."""
        sent, written = endpoint.tokens
        return (sent * self.sent + written * self.written) / 1e6


@dataclass(frozen=True)
class JudgeRun:
    """What a run brought about."""

    head: VerdictHead  # how the judge was asked
    file: Path  # where the verdicts are
    questions: int  # how many questions the data has: outputs, or pairs in both orders
    verdicts: tuple[Verdict, ...]  # the answers so far to these, earlier runs included
    calls: int  # the calls of this run, repeated ones included
    stopped: str = ""  # why it ended early; empty where it did not
    scale_name: str = PASS_FAIL  # the scale of scores
    # The share of its comparisons that every model won, a tie counting half; empty for scores.
    wins: Mapping[str, float] = field(default_factory=dict)
    answered: int = 0  # how many of the answers are of this run
    # The tokens of this run, sent and written, as far as the endpoint counted them.
    tokens: tuple[int, int] = (0, 0)
    cost: float | None = None  # what these cost; None where no price is known

    @property
    def scores(self) -> list[float]:
        """The scores that could be read."""
        return [verdict.score for verdict in self.verdicts if verdict.score is not None]

    @property
    def failed(self) -> int:
        """How many answers could not be read."""
        return len(self.verdicts) - len(self.scores)

    @property
    def left(self) -> int:
        """How many questions have no answer yet."""
        return self.questions - len(self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        mean = float(np.mean(self.scores)) if self.scores else None
        names = ("questions", "failed", "left", "calls", "tokens", "cost", "wins", "stopped")
        return {
            **{name: schema.write(getattr(self, name)) for name in names},
            "judged": len(self.scores),
            "mean": None if self.head.ask == PAIRS else mean,
            "file": str(self.file),
            "signature": str(self.head),
        }

    def sentences(self) -> list[str]:
        """Return the result in words, the answer first."""
        scores = self.scores
        counts = f"{len(scores):,} of {self.questions:,}"
        if self.head.ask == PAIRS:
            wins = sorted(self.wins.items(), key=lambda row: -row[1])
            shares = listing((f"{name} won {share_text(share, 0)}" for name, share in wins), 4)
            first = f"The judge made {counts} comparisons (two for each pair)"
            first += f": {shares}" if wins else ""
        elif scores and self.scale_name == PASS_FAIL:
            first = f"The judge scored {counts} outputs: {share_text(float(np.mean(scores)), 0)} pass"
        elif scores:
            mean = f"{np.mean(scores):.3g} on average, from {self.head.low:g} to {self.head.high:g}"
            first = f"The judge scored {counts} outputs: {mean}"
        else:
            first = f"The judge scored {counts} outputs"
        lines = [f"{first}."]
        if both := _orders(self.verdicts):
            same = share_text(float(np.mean(both)), 0)
            lines.append(f"Its verdict was the same in both orders on {same} of {len(both):,} pairs.")
        if self.failed:
            noun = "answer" if self.failed == 1 else "answers"
            lines.append(f"{self.failed:,} {noun} could not be read.")
        if self.cost is not None and self.answered:
            remaining = (
                f"; the {self.left:,} that are left take about {self.cost / self.answered * self.left:.2f}"
            )
            lines.append(f"This run cost {self.cost:.2f}{remaining if self.left else ''}.")
        return lines


def _orders(verdicts: Sequence[Verdict]) -> list[bool]:
    """Return for every pair that was judged in both orders whether the verdict was the same."""
    scores = {verdict.key: verdict.score for verdict in verdicts if verdict.score is not None}
    return [
        score + scores[item, *reversed(pair)] == 1.0
        for (item, *pair), score in scores.items()
        if len(pair) == 2 and pair[0] < pair[1] and (item, *reversed(pair)) in scores
    ]


def questions_of(data: EvalSet, ask: str) -> list[JudgeQuestion]:
    """Return every question about a data set, once: equal outputs of an item are one, and no pair."""
    if data.outputs is None:
        raise MissingDataError(
            f"{data.name or 'The data'}: there are no outputs to judge. Name their column: "
            f"{role_argument('COLUMN', 'output')}."
        )
    questions: dict[tuple[str, ...], JudgeQuestion] = {}

    def add(row: int, models: Sequence[int], texts: Sequence[str]) -> None:
        references = () if data.reference_texts is None else data.reference_texts[row].tolist()
        question = JudgeQuestion(
            str(data.items[row]),
            tuple(data.models[place] for place in models),
            tuple(texts),
            None if data.sources is None else data.sources[row],
            tuple(text for text in references if text),
        )
        questions.setdefault(question.key, question)

    if ask == PAIRS:
        for row, first, second in pairs_of(data):
            texts = data.outputs[row, first], data.outputs[row, second]
            if texts[0] != texts[1]:
                add(row, (first, second), texts)
                add(row, (second, first), texts[::-1])
    else:
        for row, place, text in outputs_of(data):
            add(row, (place,), (text,))
    if not questions:
        what = "no item has two different outputs" if ask == PAIRS else "every output is empty"
        raise MissingDataError(f"{data.name or 'The data'}: {what}, so there is nothing to judge.")
    return list(questions.values())


def run_judge(
    data: EvalSet,
    file: Path,
    prompt: JudgePrompt,
    endpoint: Endpoint,
    *,
    model: str,
    name: str,
    temperature: float | None = 0.0,
    limit: int | None = None,
    token_price: TokenPrice | None = None,
    spend: float | None = None,
    workers: int = 4,
    on_judged: OnJudged | None = None,
    stop: threading.Event | None = None,
) -> JudgeRun:
    """Ask a judge for a verdict on everything in a data set that has none yet.

    Each answer is appended to the file and synced as it comes, so that a crash costs the calls under way and
    no more. The same call again goes on.

    Args:
        data: The outputs.
        file: Where the verdicts are, or will be.
        prompt: What is asked.
        endpoint: Who is asked.
        model: The model there.
        name: The metric that the verdicts become.
        temperature: Sent along unless None.
        limit: Most questions to ask now.
        token_price: What tokens cost.
        spend: Most to spend now, by ``token_price``: no question is asked that may exceed it.
        workers: Calls at a time.
        on_judged: Is called with the number of questions that have an answer, and of all.
        stop: When set, no further question is asked, and the answers under way are saved.
    """
    if spend is not None and (token_price is None or not spend > 0):
        need = "needs what tokens cost" if token_price is None else f"is a sum above zero, not {spend:g}"
        more = f": {argument('token_price', '0.15/0.60')}" if token_price is None else ""
        raise UsageError(f"{argument('spend')} {need}{more}.")
    head = VerdictHead(
        name=name,
        model=model,
        endpoint=endpoint.host,
        ask=prompt.ask,
        low=prompt.ends.low,
        high=prompt.ends.high,
        temperature=temperature,
        prompt=prompt.digest,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        version=__version__,
    )
    questions = questions_of(data, prompt.ask)
    head, known = _earlier(file, head)
    waiting = [question for question in questions if question.key not in known]
    before = done = len(questions) - len(waiting)
    reason = ""
    stop = threading.Event() if stop is None else stop
    if on_judged is not None:
        on_judged(done, len(questions))
    if waiting:
        with _appending(file, head, anew=not known) as append:
            ask = _Asking(prompt, endpoint, model, temperature, stop, token_price, spend)
            try:
                for record, verdict in ask.answers(
                    waiting[:limit], workers, any(map(_is_read, known.values()))
                ):
                    append(record)
                    known[verdict.key] = verdict
                    done += 1
                    if on_judged is not None:
                        on_judged(done, len(questions))
            except EndpointError as error:
                reason = str(error)
    verdicts = tuple(known[question.key] for question in questions if question.key in known)
    wins: dict[str, float] = {}
    if prompt.ask == PAIRS and any(map(_is_read, verdicts)):
        shares = win_shares(
            data, {verdict.key: verdict.score for verdict in verdicts if verdict.score is not None}
        )
        columns = zip(data.models, shares.T, strict=True)
        wins = {model: float(np.nanmean(part)) for model, part in columns if not np.isnan(part).all()}
    cost = None if token_price is None or endpoint.uncounted else token_price.cost(endpoint)
    run = JudgeRun(head, file, len(questions), verdicts, endpoint.calls, reason, prompt.scale, wins)
    return replace(run, answered=done - before, tokens=endpoint.tokens, cost=cost)


def _is_read(verdict: Verdict) -> bool:
    return verdict.score is not None


# --- calls --------------------------------------------------------------------------------------------

Answer = tuple[dict[str, Any], Verdict]


@dataclass(frozen=True)
class _Asking:
    """How questions become answers, several at a time."""

    prompt: JudgePrompt
    endpoint: Endpoint
    model: str
    temperature: float | None
    stop: threading.Event
    token_price: TokenPrice | None = None
    spend: float | None = None

    def is_spent(self, workers: int) -> bool:
        """Return whether one more call, and those under way, may cost more than is left."""
        if self.spend is None or self.token_price is None:
            return False
        if self.endpoint.uncounted:
            return True
        cost = self.token_price.cost(self.endpoint)
        return cost + cost / max(self.endpoint.counted, 1) * workers > self.spend

    def answers(self, questions: Sequence[JudgeQuestion], workers: int, works: bool) -> Iterator[Answer]:
        """Yield the answers as they come; once stopped, those to the calls under way.

        Refusals wait for the first answer that can be read (``works``): where there is none, the request is
        wrong and not the questions, and nothing is to be saved.
        """
        failures, refused, unread = list[Exception](), list[Answer](), 0
        for result in self._results(questions, workers):
            if isinstance(result, StoppedError):
                continue
            if isinstance(result, Exception):
                failures.append(result)
            elif "refused" in result[0] and not works:
                refused.append(result)
                if len(refused) >= _ALL_REFUSED:
                    self.stop.set()
            else:
                works = works or _is_read(result[1])
                unread += not works
                if works:
                    yield from refused
                    refused.clear()
                elif unread >= _NONE_READ:
                    self.stop.set()
                yield result
        if failures:
            raise failures[0]
        if self.spend is not None and self.endpoint.uncounted:
            use = f"{argument('limit', '20')} in place of {argument('spend', None)}"
            raise EndpointError(f"{self.endpoint.host} does not say how many tokens a call takes: use {use}.")
        if refused:
            raise EndpointError(f"{self.endpoint.host} refuses the request: {refused[0][0]['refused']}.")
        if unread >= _NONE_READ:
            raise EndpointError(f"None of {unread} answers could be read: look at the raw texts in the file.")

    def _results(self, questions: Sequence[JudgeQuestion], workers: int) -> Iterator[Answer | Exception]:
        """Yield what several threads bring, until all of them have ended."""
        waiting: queue.SimpleQueue[JudgeQuestion] = queue.SimpleQueue()
        results: queue.SimpleQueue[Answer | Exception | None] = queue.SimpleQueue()
        for question in questions:
            waiting.put(question)

        count = workers = min(workers, len(questions))

        def work() -> None:
            try:
                while not (self.stop.is_set() or self.is_spent(workers)):
                    results.put(self.answer(waiting.get_nowait()))
            except queue.Empty:
                pass
            except Exception as error:
                self.stop.set()
                results.put(error)
            finally:
                results.put(None)

        for _ in range(count):
            threading.Thread(target=work, daemon=True).start()
        while count:
            result = results.get()
            if result is None:
                count -= 1
            else:
                yield result

    def answer(self, question: JudgeQuestion) -> Answer:
        """Ask one question, once more where the answer cannot be read, and return what to save."""
        messages = self.prompt.messages(question.source, question.references, question.texts)
        body: dict[str, Any] = {"model": self.model, "messages": messages}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        raw, outcome, score = "", dict[str, Any](), None
        for _ in range(_READINGS):
            try:
                raw = self.endpoint.ask(body, self.stop.wait)
            except EndpointRefusedError as error:
                outcome = {"refused": str(error)}
                break
            if (verdict := self.prompt.read(raw)) is not None:
                score, reason = verdict
                outcome = {"reason": self.endpoint.scrubbed(reason)[:_LONGEST_RAW]}
                break
            outcome = {
                "failed": "no verdict in the answer",
                "raw": self.endpoint.scrubbed(raw)[:_LONGEST_RAW],
            }
        texts = list(question.key[1:])
        record = {"item": question.item, "models": list(question.models), "texts": texts, "score": score}
        record |= {**outcome, "at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        return record, Verdict(question.item, tuple(texts), score)


# --- the file -----------------------------------------------------------------------------------------


def _earlier(file: Path, head: VerdictHead) -> tuple[VerdictHead, dict[tuple[str, ...], Verdict]]:
    """Return the head and the answers of earlier runs; answers to another prompt are not mixed with these."""
    if not file.is_file() or not file.stat().st_size:
        return head, {}
    earlier, verdicts = read_verdicts(file)
    if not verdicts:
        return head, {}
    if not earlier.is_like(head):
        names = ("model", "endpoint", "ask", "low", "high", "temperature", "prompt")
        differ = [name for name in names if getattr(earlier, name) != getattr(head, name)]
        words = {"low": "scale", "high": "scale", "prompt": "rubric"}
        what = listing(dict.fromkeys(words.get(name, name) for name in differ))
        raise UsageError(
            f"{file} holds {len(verdicts):,} verdicts made with another {what}. "
            f"Move it away to judge again, or save separately with {argument('name', 'NAME')}."
        )
    return earlier, {verdict.key: verdict for verdict in verdicts}


@contextmanager
def _appending(file: Path, head: VerdictHead, *, anew: bool) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield what appends a record to the file and syncs it; a line that a crash cut off is removed first."""
    with files.naming_target(file), file.open("ab+") as target:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(target, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError(f"Another run-judge is writing to {file}: wait until it ends.") from None
        target.seek(0)
        target.truncate(0 if anew else target.read().rfind(b"\n") + 1)

        def write(line: str) -> None:
            # Half a surrogate pair is no UTF-8; its escape is JSON and stands for the same letter.
            target.write(line.encode("utf-8", "backslashreplace") + b"\n")
            target.flush()
            os.fsync(target.fileno())

        if anew:
            write(head.to_json())
        yield lambda record: write(json.dumps(record, ensure_ascii=False))
