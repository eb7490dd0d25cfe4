"""What an import took and what it left out, and why: every answer in the files is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UnknownNameError
from sparingly.base.format import counted
from sparingly.base.summary import html_table
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.files import without_formulas
from sparingly.data.scale import Ends
from sparingly.data.tables import Preferences, Ratings
from sparingly.run.exchange.files import write_csv, write_jsonl
from sparingly.run.exchange.key import Key
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.question import Question

if TYPE_CHECKING:
    from sparingly.data.scale import Scale
    from sparingly.run.campaign.answers import RecordedCounts
    from sparingly.run.campaign.campaign import Campaign


# Who "judged" two equal outputs: nobody need be asked.
SAME_OUTPUT = "same_output"
COLUMNS = (
    "data", "item", "model", "first", "second", "aspect", "rater", "score", "seconds", "comment", "client",
    "round", "probability", "assigned", "document", "context", "spans",
)  # fmt: skip


@dataclass(frozen=True)
class ImportReport:
    """The answers that were taken, and the count of those left out by reason.

    ``read == len(answers) + sum(left_out.values())``: an answer is one output (or pair, or ranking) on one
    aspect by one rater, and one that belongs to nothing that is known counts once.

    Attributes:
        answers: The answers taken.
        read: How many answers the files hold.
        left_out: How many were left out, by reason.
        examples: Where the first few of them stand, by reason.
        controls: The answers about control items, left out of the ratings and kept for ``control_report``.
        same: Ties of models whose outputs are equal; nobody was asked.
        missing: How many answers are still to come.
        scales: The lowest and the highest score of every aspect that was asked for.
        notes: What to mind, in sentences.
    """

    answers: tuple[Answer, ...]
    read: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    controls: tuple[Answer, ...] = ()
    same: tuple[Answer, ...] = ()
    missing: int = 0
    scales: Mapping[str, Scale] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def headline(self) -> str:
        """What was taken, in one line."""
        omitted = sum(self.left_out.values())
        missing = f"{self.missing} {'is' if self.missing == 1 else 'are'} missing"
        return f"{counted(self.read, 'answer')} read: {len(self)} taken, {omitted} left out; {missing}"

    def __repr__(self) -> str:
        return f"ImportReport({self.headline})"

    def _repr_html_(self) -> str:
        rows = [(count, reason, "; ".join(self.examples[reason])) for reason, count in self.left_out.items()]
        return html_table(("left out", "because", "such as"), rows, self.headline, "; ".join(self.notes))

    def rows(self) -> list[dict[str, Any]]:
        """Return the ratings, one row per model credited, with what a campaign records and more."""
        return [row for answer in (*self.answers, *self.same) for row in answer.rows()]

    def control_rows(self) -> list[dict[str, Any]]:
        """Return the ratings of control items."""
        return [row for answer in self.controls for row in answer.rows()]

    def save(self, path: str | Path) -> None:
        """Write the ratings as CSV, or as JSON Lines where the name ends in ``.jsonl``."""
        path, rows = Path(path), self.rows()
        if ".jsonl" in path.suffixes:
            write_jsonl(path, [{name: row.get(name) for name in COLUMNS} for row in rows])
            return
        filled_columns = {name for row in rows for name, value in row.items() if value is not None}
        columns = filled_columns or {"item", "model", "aspect", "rater", "score"}
        safe = [without_formulas(row, ("comment",)) for row in rows]
        write_csv(path, [name for name in COLUMNS if name in columns], safe)

    def into(self, data: EvalSet) -> EvalSet:
        """Return an evaluation set with these ratings and preferences added to its own."""
        return with_rows(
            data, self.rows(), {name: (scale.low, scale.high) for name, scale in self.scales.items()}
        )

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
            "ratings": len(self.rows()),
            "controls": len(self.controls),
            "same_output": len(self.same),
            "missing": self.missing,
            "notes": list(self.notes),
        }


def answers_to(key: Key, question: Question) -> int:
    """Return how many answers a question asks for."""
    return len(_separate(key, question)) * len(key.asked_aspects)


def missing_from(key: Key, answers: Iterable[Answer]) -> int:
    """Return how many answers are still to come: as many raters for a cell as were asked about it.

    Raters are counted, not compared by name: a tool may call them otherwise.
    """
    raters: dict[tuple[Any, ...], set[str]] = {}
    for answer in answers:
        cell = (answer.data or "", answer.item, answer.models, answer.aspect)
        raters.setdefault(cell, set()).add(answer.rater)
    counts: dict[tuple[Any, ...], int] = {}
    for question in key.questions.values():
        for models in _separate(key, question) if question.control is None else ():
            for aspect in key.asked_aspects:
                cell = (question.data, question.item, models, aspect)
                counts[cell] = counts.get(cell, 0) + 1
    return sum(max(0, count - len(raters.get(cell, ()))) for cell, count in counts.items())


def ties_of(key: Key) -> tuple[Answer, ...]:
    """Return the ties of pairs with equal outputs, on every aspect."""
    return tuple(
        Answer(
            rater=SAME_OUTPUT,
            item=question.item,
            score=0.0,
            pair=(question.models[0], question.models[1]),
            aspect=aspect,
            data=question.data or None,
            question=question,
            origin="equal outputs",
        )
        for question in key.same
        for aspect in key.asked_aspects
    )


def _separate(key: Key, question: Question) -> list[tuple[str, ...]]:
    """Return the models of what is answered by itself: an output, or all outputs that are compared."""
    if key.form.compares:
        return [tuple(sorted(question.models))]
    return [tuple(sorted(output.models)) for output in question.outputs]


# --- into an evaluation set -----------------------------------------------------------------------------

RatingRows = Sequence[Mapping[str, Any]]
# What ratings carry beside their own columns.
_EXTRA_COLUMNS = ("round", "spans")


def with_rows(data: EvalSet, rows: RatingRows, scales: Mapping[str, Ends] | None = None) -> EvalSet:
    """Return a set with further ratings and preferences; a rated cell has the mean of its ratings.

    ``scales`` are those of the aspects that were asked for; earlier scores off such a scale leave it unknown.
    """
    single = [row for row in rows if row.get("model") is not None]
    pairs = [row for row in rows if row.get("model") is None]
    ratings = _ratings(data, single)
    aspects = dict(data.aspects)
    for name in sorted({row["aspect"] for row in single}):
        means = ratings.means(name, len(data), len(data.models) + len(data.references))
        means = means[:, : len(data.models)]
        aspects[name] = np.where(np.isnan(means), aspects[name], means) if name in aspects else means
    fitting_scales = {
        fields.aspect(name): (low, high)
        for name, (low, high) in (scales or {}).items()
        if name in aspects and not ((aspects[name] < low) | (aspects[name] > high)).any()
    }
    return data.with_parts(
        aspects=aspects,
        ratings=ratings,
        preferences=_preferences(data, pairs),
        scales={**data.scales, **fitting_scales},
    )


def _ratings(data: EvalSet, rows: RatingRows) -> Ratings:
    present = data.ratings
    if not rows:
        return present
    earlier = [None] * len(present) if present.comment is None else list(present.comment)
    return Ratings(
        model=np.concatenate([present.model, _places(rows, "model", data.models)]),
        score=np.concatenate([present.score, [row["score"] for row in rows]]),
        comment=_objects([*earlier, *(row.get("comment") for row in rows)]),
        **_shared_columns(data, present, rows),
    )


def _preferences(data: EvalSet, rows: RatingRows) -> Preferences:
    present = data.preferences
    if not rows:
        return present
    return Preferences(
        first=np.concatenate([present.first, _places(rows, "first", data.models)]),
        second=np.concatenate([present.second, _places(rows, "second", data.models)]),
        value=np.concatenate([present.value, [row["score"] for row in rows]]),
        **_shared_columns(data, present, rows),
    )


def _shared_columns(data: EvalSet, present: Ratings | Preferences, rows: RatingRows) -> dict[str, Any]:
    """Return the columns that ratings and preferences share, the new rows after those that are there."""
    raters = (*present.raters, *sorted({row["rater"] for row in rows} - set(present.raters)))
    aspects = (*present.aspects, *sorted({row["aspect"] for row in rows} - set(present.aspects)))
    seconds = [np.nan if row.get("seconds") is None else row["seconds"] for row in rows]
    extra = {
        name: _objects([*present.extra.get(name, [None] * len(present)), *(row.get(name) for row in rows)])
        for name in dict.fromkeys([*present.extra, *_EXTRA_COLUMNS])
    }
    items = data.positions(row["item"] for row in rows).astype(np.int32)
    return {
        "item": np.concatenate([present.item, items]),
        "raters": raters,
        "rater": np.concatenate([present.rater, _places(rows, "rater", raters)]),
        "aspects": aspects,
        "aspect": np.concatenate([present.aspect, _places(rows, "aspect", aspects)]),
        "seconds": np.concatenate([present.seconds, seconds]),
        "extra": {name: values for name, values in extra.items() if values is not None},
    }


def _places(rows: RatingRows, column: str, names: Sequence[str]) -> NDArray[np.int32]:
    place = {name: code for code, name in enumerate(names)}
    for row in rows:
        # Raters and aspects are all there, so that only a model can be unknown.
        if row[column] not in place:
            raise UnknownNameError("model", row[column], names)
    return np.array([place[row[column]] for row in rows], np.int32)


def _objects(values: list[Any]) -> NDArray[np.object_] | None:
    objects = np.empty(len(values), object)
    objects[:] = values
    return objects if any(value is not None for value in values) else None


def record_answers(campaign: Campaign, report: ImportReport) -> RecordedCounts:
    """Record the answers of an import with the errors that were marked; doing it again changes nothing.

    The id of a task is the client id of its answers: an answer that was changed in the tool and is imported
    again is a correction of the one before.
    """
    answers = [
        # Without its question an answer is checked for what no database keeps.
        replace(single, question=None, client=single.client or SAME_OUTPUT, marks=single.marks or None)
        for answer in (*report.answers, *report.same)
        for single in answer.each()
    ]
    return campaign.record(answers)
