"""``changes``: what moved between two estimates or rankings, by how much of its error, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from sparingly.base.format import html_table
from sparingly.data.values import plain
from sparingly.infer.analysis.change_reasons import data_changed, reasons
from sparingly.infer.analysis.change_side import Result, Side, side_of
from sparingly.infer.estimate.result import CHOSEN_ITEMS

Shared = Literal["same", "again", "nested", "apart", "partly", "unknown", "other data", "other aspect"]
# A change of more joint errors than this is hardly chance.
MOVED = 2.0
SHARED_WORDS: Mapping[Shared, str] = {
    "same": "the same judgements: whatever moved was moved by the method, not by chance.",
    "again": "the same items, judged otherwise: errors of changes are at most those of independent results.",
    "nested": "one holds the judgements of the other: errors of changes are those of what came in addition.",
    "apart": "no judged item in common: errors of changes are those of two independent results.",
    "partly": "some judged items in common: errors of changes are at most those of independent results.",
    "unknown": "which items were judged is not known: errors of changes are those of independent results.",
    "other data": "the data are not the same: errors of changes are those of independent results, and what "
    "moved may be the data's doing.",
    "other aspect": "another aspect was judged: only ranks and groups are held against each other.",
}
PICKED = "items were picked, not drawn: scores move with what is picked, and no error tells that from chance."


@dataclass(frozen=True)
class ModelChange:
    """What changed about one model; None where it was not there.

    Attributes:
        model: The model.
        before: Its score before.
        after: Its score after.
        change: The difference.
        error: The standard error of the difference; None where it cannot be told.
        ratio: The change over its error.
        ranks_before: The ranks that were not ruled out before, as text.
        ranks_after: The same after.
        group_before: The significance group before.
        group_after: The same after.
        labels_before: How many judgements of it there were, where that is known.
        labels_after: The same after.
    """

    model: str
    before: float | None
    after: float | None
    change: float | None
    error: float | None
    ratio: float | None
    ranks_before: str | None
    ranks_after: str | None
    group_before: int | None
    group_after: int | None
    labels_before: int | None = None
    labels_after: int | None = None

    @property
    def moved(self) -> bool:
        """Whether the score changed by more than chance would."""
        return self.ratio is not None and abs(self.ratio) > MOVED

    @property
    def reranked(self) -> bool:
        """Whether its possible ranks or its group changed."""
        ranks, group = (self.ranks_before, self.ranks_after), (self.group_before, self.group_after)
        return None not in ranks and (ranks[0] != ranks[1] or group[0] != group[1])


@dataclass(frozen=True, repr=False)
class Changes:
    """What changed between two results, and why.

    Attributes:
        before: What the first result is, in one line.
        after: What the second is.
        models: The models, in the order of the second result; those that are gone come last.
        shared: How far the judgements of both are the same.
        reasons: Why something can have changed.
        notes: What to mind.
    """

    before: str
    after: str
    models: tuple[ModelChange, ...]
    shared: Shared
    reasons: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Changes({self})"

    def __str__(self) -> str:
        """Return how much changed, in one line."""
        moved, reranked = (sum(getattr(one, name) for one in self.models) for name in ("moved", "reranked"))
        of = len(self.models)
        return (
            f"{moved} of {of} scores moved by more than {MOVED:g} errors, {reranked} changed ranks or group"
        )

    def _repr_html_(self) -> str:
        columns = ("model", "before", "after", "change", "error", "ranks before", "ranks after")
        rows = [
            (one.model, one.before, one.after, one.change, one.error, one.ranks_before, one.ranks_after)
            for one in self.models
        ]
        return html_table(columns, rows, str(self), " ".join(self.reasons))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        models = [{**plain(asdict(one)), "moved": one.moved, "reranked": one.reranked} for one in self.models]
        return {**vars(self), "models": models, "reasons": list(self.reasons), "notes": list(self.notes)}


def changes(
    before: Result,
    after: Result,
    *,
    labels: tuple[Mapping[str, int], Mapping[str, int]] | None = None,
    nested: bool = False,
    unit: str = "items",
) -> Changes:
    """Tell what moved between two estimates or rankings, by how much of its error, and why.

    Where the n₂ judged items of one result hold the n₁ of the other, the variance of a change is
    σ₁²·(1/n₁ − 1/n₂)/(1/n₁ − 1/N), without 1/N for inputs like these: the later mean is the earlier one and
    what came in addition. Otherwise it is σ₁² + σ₂², which is too large where some judgements are shared. A
    change of more than two errors asks for a reason beside chance: look at what the reasons name. Scores of
    two aspects are not subtracted, and where items were picked, not drawn, no error of a change is told.

    Args:
        before: An estimate or a ranking.
        after: Another one.
        labels: How many judgements of every model there were, before and after, where that is known.
        nested: Say that the second result holds the judgements of the first, where the results do not tell.
        unit: What was judged: items, or comparisons.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> few, more = (sparingly.select(data, "uniform", n, seed=1) for n in (60, 120))
        >>> found = sparingly.changes(*(sparingly.rank(data, one, "overall") for one in (few, more)))
        >>> found.shared, len(found.models)
        ('nested', 8)
    """
    sides = side_of(before), side_of(after)
    shared: Shared = "nested" if nested else _shared(*sides)
    names = [*sides[1].order, *(name for name in sides[0].order if name not in sides[1].order)]
    known = labels or (sides[0].labels, sides[1].labels)
    models = tuple(_change(name, *sides, shared, known) for name in names)
    return Changes(
        before=sides[0].headline,
        after=sides[1].headline,
        models=models,
        shared=shared,
        reasons=reasons(*sides, labels=known, unit=unit),
        notes=(SHARED_WORDS[shared], *((PICKED,) if _picked(*sides) else ())),
    )


def _shared(before: Side, after: Side) -> Shared:
    """Say how far the judgements of two results are the same."""
    signed = before.signature, after.signature
    if before.aspect != after.aspect:
        return "other aspect"
    if signed[0] is not None and signed[1] is not None:
        if signed[0].labels == signed[1].labels:
            return "same"
        if signed[0].of != signed[1].of or data_changed(before, after):
            return "other data"
    if before.items is None or after.items is None:
        return "unknown"
    if before.items == after.items:
        return "again"
    if before.items <= after.items or after.items <= before.items:
        return "nested"
    return "partly" if before.items & after.items else "apart"


def _picked(before: Side, after: Side) -> bool:
    return CHOSEN_ITEMS in (before.target, after.target)


def _change(
    name: str, before: Side, after: Side, shared: Shared, labels: Sequence[Mapping[str, int]]
) -> ModelChange:
    scores = before.scores.get(name), after.scores.get(name)
    apart = shared == "other aspect" or scores[0] is None or scores[1] is None
    change = None if apart else (scores[1] or 0.0) - (scores[0] or 0.0)
    error = None if change is None else _error(name, before, after, shared)
    return ModelChange(
        model=name,
        before=scores[0],
        after=scores[1],
        change=change,
        error=error,
        ratio=change / error if change is not None and error else None,
        ranks_before=before.ranks.get(name),
        ranks_after=after.ranks.get(name),
        group_before=before.groups.get(name),
        group_after=after.groups.get(name),
        labels_before=labels[0].get(name),
        labels_after=labels[1].get(name),
    )


def _error(name: str, before: Side, after: Side, shared: Shared) -> float | None:
    """Return the standard error of a change; None where the same judgements leave nothing to chance."""
    if shared == "same" or _picked(before, after) or not {name} <= before.errors.keys() & after.errors.keys():
        return None
    alike = (before.target, before.estimator) == (after.target, after.estimator)
    if shared == "nested" and alike and before.n and after.n and before.n != after.n:
        small, large = (before, after) if before.n < after.n else (after, before)
        left = small.left_to_chance(small.n or 1)
        more = 1.0 / (small.n or 1) - 1.0 / (large.n or 1)
        return float(small.errors[name] * np.sqrt(more / left)) if left > 0 else None
    return float(np.hypot(before.errors[name], after.errors[name]))
