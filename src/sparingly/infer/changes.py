"""``changes``: what moved between two estimates or rankings, by how much of its error, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from sparingly.base.errors import listing
from sparingly.base.format import decimal_text, score_decimals
from sparingly.base.summary import Summary, Tabular
from sparingly.data.values import plain
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate, EstimateSignature
from sparingly.infer.rank.rank import joint_of, rank_estimates
from sparingly.infer.rank.ranking import Ranking

# --- one side of the comparison: what an estimate and a ranking have in common ---

ComparedResult = Estimate | Ranking


@dataclass(frozen=True)
class ResultSide:
    """What is compared of a result: ``order`` is best first; models without a score are not in ``scores``.

    ``ranks`` are the possible ranks as text, or those by score where nothing is decided; ``groups`` are empty
    then. ``n`` and ``size`` are None for plain arrays. ``items`` are the ids that were chosen, ``labels`` how
    many rows asked for every model: None and empty where that is not known.
    """

    headline: str
    order: tuple[str, ...]
    scores: Mapping[str, float]
    errors: Mapping[str, float]
    ranks: Mapping[str, str]
    groups: Mapping[str, int]
    aspect: str
    target: str
    estimator: str
    n: int | None
    size: int | None
    signature: EstimateSignature | None
    items: frozenset[str] | None
    labels: Mapping[str, int]


def result_side(result: ComparedResult) -> ResultSide:
    """Return what is compared of an estimate or a ranking."""
    ranking = result if isinstance(result, Ranking) else _rank_if_decided(result)
    if isinstance(result, Estimate):
        signature = result.signature
        order = tuple(result.models[place] for place in result.order)
        scores = {name: float(result.scores[at]) for at, name in enumerate(result.models)}
        errors = {name: float(result.standard_errors[at]) for at, name in enumerate(result.models)}
    else:
        signature = None if result.signature is None else result.signature.scores
        order = tuple(row.model for row in result.models)
        scores = {row.model: row.score for row in result.models if row.score is not None}
        errors = {row.model: row.standard_error for row in result.models if row.standard_error is not None}
    # How many rows of the selection ask for every model.
    chosen, labels = result.selection, dict[str, int]()
    if chosen is not None and chosen.pairs is None:
        labels = dict.fromkeys(order, len(chosen))
        if chosen.models is not None:
            named = [order if names is None else names for names in chosen.models]
            labels = {name: sum(name in names for names in named) for name in order}
    ranks, groups = {name: str(place) for place, name in enumerate(order, 1)}, dict[str, int]()
    if ranking is not None:
        ranks = {row.model: row.ranks for row in ranking.models}
        groups = {row.model: row.group for row in ranking.models if row.group is not None}
    return ResultSide(
        **{name: getattr(result, name) for name in ("headline", "aspect", "estimator", "n", "size")},
        order=order,
        scores={name: score for name, score in scores.items() if np.isfinite(score)},
        errors={name: error for name, error in errors.items() if np.isfinite(error)},
        ranks=ranks,
        groups=groups,
        target=result.scores_of if isinstance(result, Ranking) else result.target,
        signature=signature,
        items=None if chosen is None else frozenset(chosen.items.tolist()),
        labels=labels,
    )


def _rank_if_decided(estimate: Estimate) -> Ranking | None:
    """Return the ranking by an estimate's joint errors; None where it decides nothing.

    Decisions describe inputs like these, and an estimate of this set has no errors for them.
    """
    scored = np.flatnonzero(np.isfinite(estimate.scores))
    if estimate.target == "set" or len(scored) < 2 or not joint_of(estimate).of_models(scored).has_errors:
        return None
    return rank_estimates(estimate, estimate, alpha=round(1 - estimate.level, 12))


# --- why two results can differ ---

NO_DIFFERENCE = "Nothing that is known of the two differs."


def reasons(
    earlier: ResultSide, later: ResultSide, *, labels: Sequence[Mapping[str, int]], unit: str = "items"
) -> tuple[str, ...]:
    """Return, a sentence each, what differs between two results that can have changed the scores."""
    sentences = []
    if earlier.aspect != later.aspect:
        sentences.append(
            f"Another aspect, {later.aspect} instead of {earlier.aspect}: the scores cannot be compared."
        )
    for name in ("target", "estimator"):
        before, after = getattr(earlier, name), getattr(later, name)
        if before != after:
            sentences.append(f"Another {name}: {before} before, {after} after.")
    if new := [name for name in later.order if name not in earlier.order]:
        sentences.append(f"Added: {listing(new)}; ranks count more models.")
    if removed := [name for name in earlier.order if name not in later.order]:
        sentences.append(f"Gone: {listing(removed)}; ranks count fewer models.")
    if earlier.n is not None and later.n is not None and earlier.n != later.n:
        word = "More" if later.n > earlier.n else "Fewer"
        sentences.append(f"{word} judged {unit}: {earlier.n} before, {later.n} after.")
    gains = {
        name: labels[1][name] - labels[0][name]
        for name in later.order
        if name in labels[0] and name in labels[1]
    }
    if any(gains.values()):
        changed = sorted((name for name in gains if gains[name]), key=lambda name: -abs(gains[name]))
        gained = listing(f"{name} {gains[name]:+d}" for name in changed)
        if len(set(gains.values())) == 1:
            gained = f"{next(iter(gains.values())):+d} on every model"
        sentences.append(f"Labels by model: {gained}.")
    signed = earlier.signature, later.signature
    if signed[0] is not None and signed[1] is not None:
        sentences += _signature_reasons(signed[0], signed[1], data_changed(earlier, later))
    elif signed[0] is not None or signed[1] is not None:
        sentences.append("Only one of the two has a signature, so the data behind them cannot be compared.")
    return tuple(sentences) or (NO_DIFFERENCE,)


def data_changed(earlier: ResultSide, later: ResultSide) -> bool:
    """Whether digests tell that what was read changed: those of other models and estimators always differ."""
    signed = earlier.signature, later.signature
    if signed[0] is None or signed[1] is None or signed[0].estimator != signed[1].estimator:
        return False
    return set(earlier.order) == set(later.order) and signed[0].inputs != signed[1].inputs


def _signature_reasons(earlier: EstimateSignature, later: EstimateSignature, changed: bool) -> Iterator[str]:
    if earlier.of != later.of:
        yield f"The set has {later.of} items instead of {earlier.of}."
    if changed:
        yield f"The data changed: the digest of what was read is {later.inputs} instead of {earlier.inputs}."
    if earlier.labels != later.labels and earlier.n == later.n and earlier.selection == later.selection:
        digests = f"{later.labels} instead of {earlier.labels}"
        yield f"The judgements themselves changed: their digest is {digests}."
    if earlier.selection != later.selection:
        if earlier.selection is None or later.selection is None:
            yield "Only one of the two says what was chosen to be judged."
        elif (before := earlier.selection.partition("|")[0]) != (after := later.selection.partition("|")[0]):
            yield f"Chosen by another method: {before} before, {after} after."
        else:
            yield "Another selection, by the same method."
    if (earlier.raters is None) != (later.raters is None):
        yield "Only one of the two counts how much raters vary."
    for name in ("level", "interval", "seed", "version"):
        values = getattr(earlier, name), getattr(later, name)
        if values[0] != values[1]:
            yield f"Another {name}: {values[0]} before, {values[1]} after."


# --- what moved ---

Shared = Literal["same", "again", "nested", "apart", "partly", "unknown", "other data", "other aspect"]
# A change of more joint errors than this is hardly chance.
MOVED = 2.0
SHARED_WORDS: Mapping[Shared, str] = {
    "same": "the same judgements: what changed is due to the method, not to chance.",
    "again": "the same items, judged otherwise: errors of changes are at most those of independent results.",
    "nested": "one holds the judgements of the other: errors of changes are those of what came in addition.",
    "apart": "no judged item in common: errors of changes are those of two independent results.",
    "partly": "some judged items in common: errors of changes are at most those of independent results.",
    "unknown": "which items were judged is not known: errors of changes are those of independent results.",
    "other data": "the data are not the same: errors of changes are those of independent results, and what "
    "moved may be the data's doing.",
    "other aspect": "another aspect was judged: only ranks and groups are compared.",
}
PICKED = "items were picked, not sampled: scores change with the picks, and no error can be given."


@dataclass(frozen=True)
class ModelChange:
    """What changed about one model; None where it was not there."""

    model: str  # the model
    # Its score before and after.
    before: float | None
    after: float | None
    change: float | None  # the difference
    error: float | None  # the standard error of the difference; None where it cannot be told
    ratio: float | None  # the change over its error
    # The ranks that were not ruled out, as text.
    ranks_before: str | None
    ranks_after: str | None
    # The significance group.
    group_before: int | None
    group_after: int | None
    # How many judgements of it there were, where that is known.
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
class Changes(Tabular):
    """What changed between two results, and why."""

    rows_key: ClassVar[str] = "models"

    before: str  # what the first result is, in one line
    after: str  # what the second is
    # The models, in the order of the second result; those that are gone come last.
    models: tuple[ModelChange, ...]
    shared: Shared  # how far the judgements of both are the same
    reasons: tuple[str, ...]  # why something can have changed
    notes: tuple[str, ...] = ()  # what to mind

    def __repr__(self) -> str:
        return f"Changes({self})"

    def __str__(self) -> str:
        """Return how much changed, in one line."""
        moved, reranked = (
            sum(getattr(model, name) for model in self.models) for name in ("moved", "reranked")
        )
        moved_scores = f"{moved} of {len(self.models)} scores moved by more than {MOVED:g} errors"
        return f"{moved_scores}, {reranked} changed ranks or group"

    def summary(self) -> Summary:
        """Return how much changed, every model before and after, and why."""
        decimals = score_decimals(
            [model.after for model in self.models], [model.error for model in self.models]
        )
        rows = []
        for model in self.models:
            change = (
                "-" if model.change is None else f"{model.change:+.{3 if decimals is None else decimals}f}"
            )
            scores = (decimal_text(value, decimals) for value in (model.before, model.after))
            error = f"{change} ± {decimal_text(model.error, decimals)}".removesuffix(" ± -")
            # What did not change once, and what did with an arrow.
            ranks = dict.fromkeys(text or "-" for text in (model.ranks_before, model.ranks_after))
            mark = " ←" if model.moved else "  "
            rows.append((model.model, *scores, f"{error}{mark}", " → ".join(ranks)))
        return Summary(
            (f"{self}.", *(f"Why: {reason}" for reason in self.reasons)),
            ("model", "before", "after", "change", "ranks"),
            tuple(rows),
            notes=self.notes,
            method=(f"Before: {self.before}.", f"After: {self.after}."),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        models = [{**plain(model), "moved": model.moved, "reranked": model.reranked} for model in self.models]
        return {**plain(self), "models": models}


def changes(
    before: ComparedResult,
    after: ComparedResult,
    *,
    labels: tuple[Mapping[str, int], Mapping[str, int]] | None = None,
    nested: bool = False,
    unit: str = "items",
) -> Changes:
    """Tell what moved between two estimates or rankings, by how much of its error, and why.

    Where the n₂ judged items of one result hold the n₁ of the other, the variance of a change is
    σ₁²·(1/n₁ − 1/n₂)/(1/n₁ − 1/N), without 1/N for inputs like these: the later mean is the earlier one and
    what came in addition. Otherwise it is σ₁² + σ₂², which is too large where some judgements are shared. A
    change of more than two errors needs a reason besides chance: see the reasons. Scores of
    two aspects are not subtracted, and where items were picked, not drawn, a change has no error.

    Args:
        before: An estimate or a ranking.
        after: Another one.
        labels: How many judgements of every model there were, before and after, where that is known.
        nested: Say that the second result contains the first one's judgements, if the results do not show it.
        unit: What was judged: items, or comparisons.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> few, more = (sparingly.select(data, "uniform", n, seed=1) for n in (60, 120))
        >>> found = sparingly.changes(*(sparingly.rank(data, one, "mqm") for one in (few, more)))
        >>> found.shared, len(found.models)
        ('nested', 6)
    """
    sides = result_side(before), result_side(after)
    shared: Shared = "nested" if nested else _shared_judgements(*sides)
    names = [*sides[1].order, *(name for name in sides[0].order if name not in sides[1].order)]
    counts = labels or (sides[0].labels, sides[1].labels)
    models = tuple(_model_change(name, *sides, shared, counts) for name in names)
    return Changes(
        before=sides[0].headline,
        after=sides[1].headline,
        models=models,
        shared=shared,
        reasons=reasons(*sides, labels=counts, unit=unit),
        notes=(SHARED_WORDS[shared], *((PICKED,) if _is_picked(*sides) else ())),
    )


def _shared_judgements(earlier: ResultSide, later: ResultSide) -> Shared:
    """Say how far the judgements of two results are the same."""
    signed = earlier.signature, later.signature
    if earlier.aspect != later.aspect:
        return "other aspect"
    if signed[0] is not None and signed[1] is not None:
        if signed[0].labels == signed[1].labels:
            return "same"
        if signed[0].of != signed[1].of or data_changed(earlier, later):
            return "other data"
    if earlier.items is None or later.items is None:
        return "unknown"
    if earlier.items == later.items:
        return "again"
    if earlier.items <= later.items or later.items <= earlier.items:
        return "nested"
    return "partly" if earlier.items & later.items else "apart"


def _is_picked(earlier: ResultSide, later: ResultSide) -> bool:
    return CHOSEN_ITEMS in (earlier.target, later.target)


def _model_change(
    name: str, earlier: ResultSide, later: ResultSide, shared: Shared, labels: Sequence[Mapping[str, int]]
) -> ModelChange:
    before, after = earlier.scores.get(name), later.scores.get(name)
    change = error = None
    if shared != "other aspect" and before is not None and after is not None:
        change = after - before
        # The same judgements leave nothing to chance, and chance did not pick items.
        errors = earlier.errors.get(name), later.errors.get(name)
        if shared != "same" and not _is_picked(earlier, later) and None not in errors:
            error = _change_error(name, earlier, later, shared)
    return ModelChange(
        model=name,
        before=before,
        after=after,
        change=change,
        error=error,
        ratio=change / error if change is not None and error else None,
        ranks_before=earlier.ranks.get(name),
        ranks_after=later.ranks.get(name),
        group_before=earlier.groups.get(name),
        group_after=later.groups.get(name),
        labels_before=labels[0].get(name),
        labels_after=labels[1].get(name),
    )


def _change_error(name: str, earlier: ResultSide, later: ResultSide, shared: Shared) -> float | None:
    """Return the standard error of a change; None where nothing is left to chance."""
    same_method = (earlier.target, earlier.estimator) == (later.target, later.estimator)
    if not (shared == "nested" and same_method and earlier.n and later.n and earlier.n != later.n):
        return float(np.hypot(earlier.errors[name], later.errors[name]))
    smaller, few, many = (earlier, earlier.n, later.n) if earlier.n < later.n else (later, later.n, earlier.n)
    # The variance is proportional to 1/n, less 1/N for a set of N.
    variance = 1.0 / few - (1.0 / smaller.size if smaller.target == "set" and smaller.size else 0.0)
    return (
        float(smaller.errors[name] * np.sqrt((1.0 / few - 1.0 / many) / variance)) if variance > 0 else None
    )
