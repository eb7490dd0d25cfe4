"""What an import took and what it left out, and why: every answer in the files is counted once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError
from sparingly.base.format import counted, html_table
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.files import without_formulas
from sparingly.data.scale import Ends
from sparingly.data.tables import Preferences, Ratings
from sparingly.run.exchange.files import write_csv, write_jsonl
from sparingly.run.exchange.key import Key, Question, Same
from sparingly.run.forms.spans import Span

if TYPE_CHECKING:
    from sparingly.data.scale import Scale
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.record import Recorded


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


# Who "judged" two equal outputs: nobody need be asked.
SAME_OUTPUT = "same_output"
COLUMNS = (
    "data", "item", "model", "first", "second", "aspect", "rater", "score", "seconds", "comment", "client",
    "round", "probability", "assigned", "document", "context", "spans",
)  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """The answers that were taken, and the count of those left out by reason.

    ``read == len(judgements) + sum(left_out.values())``: an answer is one output (or pair, or ranking) on one
    aspect by one rater, and one that belongs to nothing that is known counts once.

    Attributes:
        judgements: The answers taken.
        read: How many answers the files hold.
        left_out: How many were left out, by reason.
        examples: Where the first few of them stand, by reason.
        controls: The answers about control items, left out of the ratings and kept for ``control_report``.
        same: Ties of models whose outputs are equal; nobody was asked.
        missing: How many answers are still to come.
        scales: The lowest and the highest score of every aspect that was asked for.
        notes: What to mind, in sentences.
    """

    judgements: tuple[Judgement, ...]
    read: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: tuple[Judgement, ...] = ()
    same: tuple[Judgement, ...] = ()
    missing: int = 0
    scales: Mapping[str, Scale] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.judgements)

    @property
    def headline(self) -> str:
        """What was taken, in one line."""
        left = sum(self.left_out.values())
        missing = f"{self.missing} {'is' if self.missing == 1 else 'are'} missing"
        return f"{counted(self.read, 'answer')} read: {len(self)} taken, {left} left out; {missing}"

    def __repr__(self) -> str:
        return f"Taken({self.headline})"

    def _repr_html_(self) -> str:
        rows = [(count, reason, "; ".join(self.examples[reason])) for reason, count in self.left_out.items()]
        return html_table(("left out", "because", "such as"), rows, self.headline, "; ".join(self.notes))

    def rows(self) -> list[dict[str, Any]]:
        """Return the ratings, one row per model credited, with what a campaign records and more."""
        return [row for one in (*self.judgements, *self.same) for row in one.rows()]

    def control_rows(self) -> list[dict[str, Any]]:
        """Return the ratings of control items."""
        return [row for one in self.controls for row in one.rows()]

    def save(self, path: str | Path) -> None:
        """Write the ratings as CSV, or as JSON Lines where the name ends in ``.jsonl``."""
        path, rows = Path(path), self.rows()
        if ".jsonl" in path.suffixes:
            write_jsonl(path, [{name: row.get(name) for name in COLUMNS} for row in rows])
            return
        there = {name for row in rows for name, value in row.items() if value is not None}
        wanted = there or {"item", "model", "aspect", "rater", "score"}
        safe = [without_formulas(row, ("comment",)) for row in rows]
        write_csv(path, [name for name in COLUMNS if name in wanted], safe)

    def into(self, data: EvalSet) -> EvalSet:
        """Return an evaluation set with these ratings and preferences added to its own."""
        return with_rows(data, self.rows(), {name: (one.low, one.high) for name, one in self.scales.items()})

    def controls_into(self, controls: EvalSet) -> EvalSet:
        """Return a set of control items with the ratings of them, for ``control_report``."""
        return with_rows(controls, self.control_rows())

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "read": self.read,
            "taken": len(self),
            "left_out": [
                {"reason": reason, "count": count, "examples": list(self.examples[reason])}
                for reason, count in self.left_out.items()
            ],
            "ratings": sum(len(one.rows()) for one in (*self.judgements, *self.same)),
            "controls": len(self.controls),
            "same_output": len(self.same),
            "missing": self.missing,
            "notes": list(self.notes),
        }


def answers_to(key: Key, question: Question) -> int:
    """Return how many answers a question asks for."""
    shown = 1 if key.kind in ("pair", "ranking") else len(question.outputs)
    return shown * len(key.asked_aspects)


def missing_from(key: Key, judgements: Iterable[Judgement]) -> int:
    """Return how many answers are still to come: as many raters for a cell as were asked about it.

    Raters are counted, not compared by name: a tool may call them otherwise.
    """
    answered: dict[tuple[Any, ...], set[str]] = {}
    for one in judgements:
        answered.setdefault(_asked(one.question, one.groups, one.aspect), set()).add(one.rater)
    asked: dict[tuple[Any, ...], int] = {}
    for question in key.questions.values():
        for groups in _groups(key, question) if question.control is None else ():
            for aspect in key.asked_aspects:
                cell = _asked(question, groups, aspect)
                asked[cell] = asked.get(cell, 0) + 1
    return sum(max(0, count - len(answered.get(cell, ()))) for cell, count in asked.items())


def ties_of(key: Key) -> tuple[Judgement, ...]:
    """Return the ties of pairs with equal outputs, on every aspect."""
    return tuple(_tie(one, aspect) for one in key.same for aspect in key.asked_aspects)


def _tie(one: Same, aspect: str) -> Judgement:
    first, second = one.pair
    question = Question(
        task="",
        item=one.item,
        outputs={},
        data=one.data,
        round=one.round,
        probability=one.probability,
    )
    return Judgement(
        question, aspect, SAME_OUTPUT, ((first,), (second,)), 0.0, given=Given(None, "equal outputs")
    )


def _asked(question: Question, groups: tuple[tuple[str, ...], ...], aspect: str) -> tuple[Any, ...]:
    return question.data, question.item, tuple(sorted(groups)), aspect


def _groups(key: Key, question: Question) -> list[tuple[tuple[str, ...], ...]]:
    credited = tuple(question.outputs.values())
    return [credited] if key.kind in ("pair", "ranking") else [(names,) for names in credited]


Rows = Sequence[Mapping[str, Any]]
Codes = NDArray[np.int32]
# What ratings carry beside their own columns.
_KEPT = ("round", "spans")


def with_rows(data: EvalSet, rows: Rows, scales: Mapping[str, Ends] | None = None) -> EvalSet:
    """Return a set with further ratings and preferences; a rated cell has the mean of its ratings.

    ``scales`` are those of the aspects that were asked for; earlier scores off such a scale leave it unknown.
    """
    single = [row for row in rows if row.get("model") is not None]
    pairs = [row for row in rows if row.get("model") is None]
    ratings = _ratings(data, single)
    means = {
        name: ratings.means(name, len(data), len(data.models) + len(data.references))
        for name in sorted({row["aspect"] for row in single})
    }
    aspects = dict(data.aspects)
    for name, found in means.items():
        own = found[:, : len(data.models)]
        aspects[name] = np.where(np.isnan(own), aspects[name], own) if name in aspects else own
    return data.with_parts(
        aspects=aspects,
        ratings=ratings,
        preferences=_preferences(data, pairs),
        scales={**data.scales, **_fitting(scales or {}, aspects)},
    )


def _fitting(scales: Mapping[str, Ends], aspects: Mapping[str, Floats]) -> dict[str, Ends]:
    """Return, by field, the scales that all scores of their aspect are on."""
    return {
        fields.aspect(name): (low, high)
        for name, (low, high) in scales.items()
        if name in aspects and not ((aspects[name] < low) | (aspects[name] > high)).any()
    }


def _ratings(data: EvalSet, rows: Rows) -> Ratings:
    before = data.ratings
    if not rows:
        return before
    comments = [row.get("comment") for row in rows]
    earlier = [None] * len(before) if before.comment is None else list(before.comment)
    return Ratings(
        item=np.concatenate([before.item, _items(data, rows)]),
        model=np.concatenate([before.model, _places(rows, "model", data.models, "model")]),
        score=np.concatenate([before.score, np.array([row["score"] for row in rows], np.float64)]),
        comment=_objects([*earlier, *comments]),
        **_who_and_what(before, rows),
    )


def _preferences(data: EvalSet, rows: Rows) -> Preferences:
    before = data.preferences
    if not rows:
        return before
    return Preferences(
        item=np.concatenate([before.item, _items(data, rows)]),
        first=np.concatenate([before.first, _places(rows, "first", data.models, "model")]),
        second=np.concatenate([before.second, _places(rows, "second", data.models, "model")]),
        value=np.concatenate([before.value, np.array([row["score"] for row in rows], np.float64)]),
        **_who_and_what(before, rows),
    )


def _who_and_what(before: Ratings | Preferences, rows: Rows) -> dict[str, Any]:
    """Return the columns that ratings and preferences share, the new rows after those that are there."""
    raters = (*before.raters, *sorted({row["rater"] for row in rows} - set(before.raters)))
    aspects = (*before.aspects, *sorted({row["aspect"] for row in rows} - set(before.aspects)))
    seconds = [np.nan if row.get("seconds") is None else row["seconds"] for row in rows]
    names = [*before.extra, *(name for name in _KEPT if name not in before.extra)]
    extra = {
        name: _objects([*before.extra.get(name, [None] * len(before)), *(row.get(name) for row in rows)])
        for name in names
    }
    return {
        "raters": raters,
        "rater": np.concatenate([before.rater, _places(rows, "rater", raters, "rater")]),
        "aspects": aspects,
        "aspect": np.concatenate([before.aspect, _places(rows, "aspect", aspects, "aspect")]),
        "seconds": np.concatenate([before.seconds, np.array(seconds, np.float64)]),
        "extra": {name: held for name, held in extra.items() if held is not None},
    }


def _items(data: EvalSet, rows: Rows) -> Codes:
    return data.positions(row["item"] for row in rows).astype(np.int32)


def _places(rows: Rows, column: str, names: Sequence[str], kind: str) -> Codes:
    place = {name: code for code, name in enumerate(names)}
    for row in rows:
        if row[column] not in place:
            raise UnknownNameError(kind, row[column], names)
    return np.array([place[row[column]] for row in rows], np.int32)


def _objects(values: list[Any]) -> NDArray[np.object_] | None:
    held = np.empty(len(values), object)
    held[:] = values
    return held if any(value is not None for value in values) else None


def record_taken(campaign: Campaign, taken: Taken) -> Recorded:
    """Record what was taken, with the errors that were marked; recording it again changes nothing.

    The id of a task is the client id of its answers: an answer that was changed in the tool and is imported
    again is a correction of the one before.
    """
    from sparingly.run.campaign.answers import Answer, Mark

    rows = [(row, one.spans) for one in (*taken.judgements, *taken.same) for row in one.rows()]
    answers = [
        Answer(
            rater=row["rater"],
            item=row["item"],
            score=row["score"],
            model=row.get("model"),
            pair=None if row.get("model") is not None else (row["first"], row["second"]),
            aspect=row["aspect"],
            data=row["data"],
            seconds=row["seconds"],
            comment=row["comment"],
            client=row["client"] or SAME_OUTPUT,
            marks=tuple(Mark(span.start, span.end, span.severity) for span in spans) or None,
        )
        for row, spans in rows
    ]
    return campaign.record(answers)
