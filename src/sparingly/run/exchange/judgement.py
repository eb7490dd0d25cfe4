"""A judgement as it comes back from a tool, with everything that was known about the question."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sparingly.run.exchange.key import Question
from sparingly.run.exchange.spans import Span

Group = tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """Who gave an answer, when and how.

    Attributes:
        rater: The rater as the tool calls them; None where it does not say.
        where: Where it stands in the files, for the report: ``export.json, task 3``.
        seconds: How long it took.
        comment: What the rater said.
        when: When, as seconds since 1970, by which a later answer replaces an earlier one; the order of the
            files settles what has no time.
    """

    rater: str | None
    where: str
    seconds: float | None = None
    comment: str | None = None
    when: float | None = None


@dataclass(frozen=True)
class Judgement:
    """One answer: a score of an output, or a comparison or ranking of several.

    Attributes:
        question: What was asked.
        aspect: What was judged.
        rater: Who judged, by the name that ratings are kept under.
        groups: The models credited, best first in a ranking; of a pair those on the left and on the right.
        score: The score on the scale of the aspect; of a pair 1 where the left is better, -1, or 0 for a tie.
        ranks: The rank of every group of a ranking, 1 the best, equal ranks tied; empty otherwise.
        spans: What was marked.
        given: When and how.
    """

    question: Question
    aspect: str
    rater: str
    groups: tuple[Group, ...]
    score: float = 0.0
    ranks: tuple[float, ...] = ()
    spans: tuple[Span, ...] = ()
    given: Given = Given(None, "")

    @property
    def is_comparison(self) -> bool:
        """Whether outputs were compared rather than scored."""
        return len(self.groups) > 1 or bool(self.ranks)

    @property
    def cell(self) -> tuple[Any, ...]:
        """What a rater answers once: the item, what was shown, and the aspect."""
        shown = tuple(sorted(self.groups))
        return self.question.data, self.question.item, shown, self.aspect, self.rater

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for every model (or pair of models) credited; seconds are shared among them."""
        about = self._pairs() if self.is_comparison else [{"model": name} for name in self.groups[0]]
        seconds = None if self.given.seconds is None or not about else self.given.seconds / len(about)
        question = self.question
        common = {
            "data": question.data or None,
            "item": question.item,
            "aspect": self.aspect,
            "rater": self.rater,
            "score": self.score,
            "seconds": seconds,
            "comment": self.given.comment,
            "client": question.task or None,
            "round": question.round,
            "assigned": question.rater,
            "document": question.document,
            "context": json.dumps([*question.before, *question.after], ensure_ascii=False)
            if question.before or question.after
            else None,
            "spans": json.dumps([span.to_dict() for span in self.spans], ensure_ascii=False)
            if self.spans
            else None,
            "control": question.control,
        }
        return [{**common, **one, "probability": self._probability(one)} for one in about]

    def _probability(self, about: dict[str, Any]) -> float | None:
        return self.question.probabilities.get(about.get("model", ""), self.question.probability)

    def _pairs(self) -> list[dict[str, Any]]:
        if not self.ranks:
            return [
                {"first": left, "second": right, "score": self.score}
                for left in self.groups[0]
                for right in self.groups[1]
            ]
        placed = [(name, rank) for group, rank in zip(self.groups, self.ranks, strict=True) for name in group]
        return [
            {"first": one, "second": other, "score": float((rank < next_rank) - (rank > next_rank))}
            for (one, rank), (other, next_rank) in combinations(placed, 2)
        ]
