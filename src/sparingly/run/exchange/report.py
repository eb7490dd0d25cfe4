"""What an import took and what it left out, and why: every answer in the files is counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.format import counted, html_table
from sparingly.data.files import without_formulas
from sparingly.run.exchange.files import write_csv, write_jsonl
from sparingly.run.exchange.judgement import Given, Judgement
from sparingly.run.exchange.key import Key, Question, Same

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet
    from sparingly.run.exchange.scale import Scale

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
        from sparingly.run.exchange.judged import with_rows

        return with_rows(data, self.rows(), {name: (one.low, one.high) for name, one in self.scales.items()})

    def controls_into(self, controls: EvalSet) -> EvalSet:
        """Return a set of control items with the ratings of them, for ``control_report``."""
        from sparingly.run.exchange.judged import with_rows

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
