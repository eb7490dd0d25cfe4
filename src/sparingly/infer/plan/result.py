"""The plan: what a budget buys, as a user sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sparingly.base.format import counted, error_text, html_table
from sparingly.data.describe.correlations import Correlation
from sparingly.data.plain import plain
from sparingly.infer.plan.advice import Advice
from sparingly.infer.plan.judge_mix import JudgeMix
from sparingly.infer.plan.outlook import Wanted
from sparingly.infer.plan.pilot import Saving
from sparingly.infer.plan.precision import Precision
from sparingly.infer.plan.quantities import chance
from sparingly.infer.plan.spread import Documents
from sparingly.infer.plan.unequal import Unequal, method_text

_HEAD = ("items", "± scores", "difference", "right winner", "right pairs", "right order", "hours")


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What so many judged items are expected to tell, and what to do.

    Attributes:
        truth: What is planned for: an aspect, or the metric that stands in for people.
        stands_in: Whether a metric stands in for people.
        models: The models.
        n: Judged items of the pilot.
        size: Items of the set.
        wanted: What was asked for.
        is_rate: Whether scores are shares of passes or wins: half-widths and differences are then printed in
            points, as in an estimate.
        correlations: How every metric agrees with what was judged, the best by differences first.
        saving: The share of the variance that predictions from metrics explain; None if it cannot be told.
        unequal: What unequal probabilities would do to the variance; None likewise.
        documents: What drawing whole documents would do to the variance; None likewise.
        table: What budgets buy.
        needed: The fewest items for what is wanted (for a sure winner where nothing is); None if all are not
            enough.
        cost: How hours were reckoned, as text; None where they were not.
        judge: People and an LLM judge against people alone, where prices were given.
        advice: The recommendation.
        notes: What to mind.
    """

    truth: str
    stands_in: bool
    models: tuple[str, ...]
    n: int
    size: int
    wanted: Wanted
    is_rate: bool
    correlations: tuple[Correlation, ...]
    saving: Saving | None
    unequal: Unequal | None
    documents: Documents | None
    table: tuple[Precision, ...]
    needed: int | None
    cost: str | None
    judge: JudgeMix | None
    advice: Advice
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Plan({self.headline})"

    @property
    def headline(self) -> str:
        """What the plan is made from, in one line."""
        what = f"{counted(self.size, 'item')} and {counted(len(self.models), 'model')}"
        if self.stands_in:
            return f"Planned from a metric, {self.truth}, for {what}."
        return f"Planned from a pilot of {counted(self.n, 'item')}: {self.truth}, {what}."

    def __str__(self) -> str:
        """Return the recommendation, the table and the facts."""
        rows = [
            tuple(f"{cell:>12}" for cell in _HEAD),
            *(tuple(f"{cell:>12}" for cell in row) for row in self._rows()),
        ]
        body = [" ".join(row).rstrip() for row in rows]
        lines = [*self.advice.sentences, self.headline, *body, *self.facts(), *self.advice.commands()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        after = " ".join((*self.advice.sentences, *self.notes))
        return html_table(_HEAD, self._rows(), self.headline, after)

    def facts(self) -> tuple[str, ...]:
        """Return what the pilot tells of probabilities, documents and a judge, a sentence each."""
        return tuple(self._facts())

    def _facts(self) -> Iterator[str]:
        if self.unequal is not None:
            yield _unequal_fact(self.unequal)
        if self.documents is not None:
            yield (
                f"Whole documents instead of single items: {self.documents.scores:.2f} times as many items "
                f"for the same precision of scores, {self.documents.differences:.2f} times for differences."
            )
        if self.judge is not None:
            yield str(self.judge)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(row.n),
                error_text(row.half_width, is_rate=self.is_rate),
                error_text(row.detectable, is_rate=self.is_rate),
                *_chances(row, len(self.models)),
                "-" if row.hours is None else f"{row.hours:.1f}",
            )
            for row in self.table
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values; what is not known is None."""
        told = self.unequal
        kept = ("truth", "stands_in", "n", "size", "is_rate", "needed", "cost")
        return {
            **{name: getattr(self, name) for name in kept},
            "models": list(self.models),
            "wanted": asdict(self.wanted),
            "correlations": [asdict(one) for one in self.correlations],
            "saving": None if self.saving is None else asdict(self.saving),
            "unequal": None if told is None else _unequal(told),
            "documents": None if self.documents is None else asdict(self.documents),
            "table": [plain(asdict(row)) for row in self.table],
            "judge": None if self.judge is None else {**asdict(self.judge), "worth_it": self.judge.worth_it},
            "advice": {**plain(asdict(self.advice)), "commands": list(self.advice.commands())},
            "notes": list(self.notes),
        }


def _chances(row: Precision, models: int) -> tuple[str, ...]:
    """Return the probabilities of the right order as text; of one model there is none."""
    found = (row.right_winner, row.right_pairs, row.right_order)
    return tuple("-" if models < 2 else chance(value) for value in found)


def _unequal(told: Unequal) -> dict[str, Any]:
    names = ("scores", "differences", "within", "earned")
    trial = None if told.trial is None else asdict(told.trial)
    return {**{name: getattr(told, name) for name in names}, "trial": trial}


def _unequal_fact(unequal: Unequal) -> str:
    """Say whether unequal probabilities are worth it, and how to get them."""
    if not unequal.earned or unequal.trial is None:
        return "Unequal sampling would help too little here; not recommended."
    return (
        f"Unequal sampling would cut the variance to about {chance(unequal.trial.found)} "
        f"(± {100 * unequal.trial.error:.0f}): --method {method_text(unequal.trial)}"
    )
