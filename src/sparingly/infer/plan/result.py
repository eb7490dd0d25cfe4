"""The plan: what a budget buys, as a user sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sparingly.base.html import html_table
from sparingly.data.describe.correlations import Correlation
from sparingly.data.plain import plain
from sparingly.infer.plan.advice import Advice
from sparingly.infer.plan.judge_mix import JudgeMix
from sparingly.infer.plan.outlook import Wanted
from sparingly.infer.plan.pilot import Saving
from sparingly.infer.plan.precision import Precision
from sparingly.infer.plan.spread import Documents
from sparingly.infer.plan.unequal import Unequal


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
        """What is planned, in one line."""
        known = (
            f"{self.truth}, a metric, in the place of people"
            if self.stands_in
            else f"a pilot of {self.n} items"
        )
        what = "scores" if self.stands_in else self.truth
        return f"{what} of {len(self.models)} models over {self.size} items, planned from {known}"

    def __str__(self) -> str:
        """Return the facts, the table and the recommendation."""
        head = ("items", "half-width", "finds", "right winner", "right pairs", "right order", "hours")
        rows = [
            tuple(f"{cell:>12}" for cell in head),
            *(tuple(f"{cell:>12}" for cell in row) for row in self._rows()),
        ]
        body = [" ".join(row).rstrip() for row in rows]
        lines = [self.headline, *self.facts(), *body, *self.advice.sentences, *self.advice.commands()]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        head = ("items", "half-width", "finds", "right winner", "right pairs", "right order", "hours")
        after = " ".join((*self.advice.sentences, *self.notes))
        return html_table(head, self._rows(), self.headline, after)

    def facts(self) -> tuple[str, ...]:
        """Return what the pilot tells of metrics, probabilities, documents and a judge, a line each."""
        return tuple(self._facts())

    def _facts(self) -> Iterator[str]:
        if self.saving is not None:
            yield (
                f"metrics explain {_percent(self.saving.scores)} of the variance of scores and "
                f"{_percent(self.saving.differences)} of that of differences (cross-fitted)"
            )
        if self.unequal is not None:
            at_best = f"{_percent(self.unequal.scores)} of the variance of scores"
            apart = f"{_percent(self.unequal.differences)} of that of differences"
            yield f"unequal probabilities would leave {at_best} and {apart} at best"
            yield _told_trial(self.unequal)
        if self.documents is not None:
            scores, others = f"{self.documents.scores:.2f}", f"{self.documents.differences:.2f}"
            how = f"the variance of scores by {scores} and that of differences by {others}"
            yield f"drawing whole documents would multiply {how}"
        if self.judge is not None:
            yield str(self.judge)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(row.n),
                f"{row.half_width:.3g}",
                f"{row.detectable:.3g}",
                _percent(row.right_winner),
                _percent(row.right_pairs),
                _percent(row.right_order),
                "-" if row.hours is None else f"{row.hours:.1f}",
            )
            for row in self.table
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values; what is not known is None."""
        told = self.unequal
        kept = ("truth", "stands_in", "n", "size", "needed", "cost")
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


def _unequal(told: Unequal) -> dict[str, Any]:
    names = ("scores", "differences", "within", "earned")
    trial = None if told.trial is None else asdict(told.trial)
    return {**{name: getattr(told, name) for name in names}, "trial": trial}


def _told_trial(unequal: Unequal) -> str:
    """Say how the utility that was tried did on the pilot."""
    if unequal.trial is None:
        return "there is no utility to draw by"
    left = f"{_percent(unequal.trial.found)} ± {100 * unequal.trial.error:.0f}"
    verdict = "that is worth it" if unequal.earned else "that does not earn them their place"
    return (
        f"by {unequal.trial.utility} with tau {unequal.trial.tau:g} they left {left} on the pilot: {verdict}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
