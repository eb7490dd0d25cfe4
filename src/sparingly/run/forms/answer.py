"""The answer: what one person said of one output, or of outputs that were compared, on one aspect."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from sparingly.run.forms.question import Question
from sparingly.run.forms.spans import Span


@dataclass(frozen=True)
class Answer:
    """One judgement: a score of an output, which of two outputs is better, or a ranking of several.

    Attributes:
        rater: Who judged.
        item: The item.
        score: The score; for a pair 1 where the first is better, -1 where the second is, 0 for a tie.
        model: The model whose output was judged; None where outputs were compared.
        pair: The two models whose outputs were compared; None otherwise.
        aspect: What was judged; the only aspect of the campaign unless given.
        data: The data set; found by the item unless given.
        seconds: How long it took.
        comment: What the rater said.
        client: An id that the sender gives to this answer, so that sending it again changes nothing.
        marks: The errors that the rater marked in the output, in order; None where nobody looked for any.
        question: What was asked, where an annotation tool or a page asked it.
        also: Further models (or pairs) with the same outputs, which the answer is credited to, too.
        ranks: The rank of every model of a ranking, best first, 1 the best, equal ranks tied.
        time: When it was given, in seconds since 1970; None where nobody knows.
        origin: Where it stands in the files of a tool: ``export.json, task 3``.
    """

    rater: str
    item: str
    score: float
    model: str | None = None
    pair: tuple[str, str] | None = None
    aspect: str | None = None
    data: str | None = None
    seconds: float | None = None
    comment: str | None = None
    client: str = ""
    marks: tuple[Span, ...] | None = None
    question: Question | None = None
    also: tuple[tuple[str, ...], ...] = ()
    ranks: Mapping[str, float] = field(default_factory=dict)
    time: float | None = None
    origin: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that were judged, in the order of their names."""
        if self.ranks:
            return tuple(sorted(self.ranks))
        first = (self.model,) if self.model is not None else self.pair or ()
        return tuple(sorted({*first, *(name for names in self.also for name in names)}))

    def each(self) -> Iterator[Answer]:
        """Yield the answer once for every model, or pair of models, that it is credited to.

        The seconds are shared among them, so that their sum stays what was spent.
        """
        credited = list(self._credited())
        for score, *names in credited:
            yield Answer(
                rater=self.rater,
                item=self.item,
                score=score,
                model=names[0] if len(names) == 1 else None,
                pair=(names[0], names[1]) if len(names) == 2 else None,
                aspect=self.aspect,
                data=self.data,
                seconds=None if self.seconds is None else self.seconds / len(credited),
                comment=self.comment,
                client=self.client,
                marks=self.marks,
            )

    def _credited(self) -> Iterator[tuple[Any, ...]]:
        """Yield scores, each with the model or the two models that it is about."""
        if self.ranks:
            for (first, rank), (second, other) in combinations(self.ranks.items(), 2):
                yield float((rank < other) - (rank > other)), first, second
            return
        for names in ((self.model,) if self.pair is None else self.pair, *self.also):
            yield self.score, *names

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of a table for every model, or pair of models, that the answer is credited to."""
        question = self.question or Question(self.item)
        around = [passage.item for passage in (*question.before, *question.after)]
        spans = [span.to_dict() for span in self.marks or ()]
        return [
            {
                "data": self.data,
                "item": self.item,
                **(
                    {"model": answer.model}
                    if answer.pair is None
                    else {"first": answer.pair[0], "second": answer.pair[1]}
                ),
                "aspect": self.aspect,
                "rater": self.rater,
                "score": answer.score,
                "seconds": answer.seconds,
                "comment": self.comment,
                "client": self.client or None,
                "round": question.round,
                "probability": question.probabilities.get(answer.model or "", question.probability),
                "assigned": question.rater,
                "document": question.document,
                "context": json.dumps(around, ensure_ascii=False) if around else None,
                "spans": json.dumps(spans, ensure_ascii=False) if spans else None,
                "control": question.control,
            }
            for answer in self.each()
        ]
