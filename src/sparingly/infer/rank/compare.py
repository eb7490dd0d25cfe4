"""Selections and methods compared with the full set: what judging everything would have said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.format import counted, decimal_text, decimals_for, share_text
from sparingly.base.progress import tracked
from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.base.stats.correlation import average_ranks
from sparingly.base.stats.sign_flip import FlipTest as Test
from sparingly.base.summary import IntervalCell, Summary, Tabular, html_table
from sparingly.base.syntax import argument
from sparingly.choose.crowd import Judge, ModelSides, sides_of
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector, select
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.infer.rank import curve as curves
from sparingly.infer.rank.agreement import (
    Agreement,
    FullSet,
    agreement_with,
    selected_cells,
    selection_weights,
)
from sparingly.infer.rank.measures import model_means, nan_as_none, rank_changes, round_means
from sparingly.infer.rank.winners import SuccessRate, pair_margins, subsample, success_of


@dataclass(frozen=True)
class ModelOutcome:
    """One model's mean and rank on the whole set and on the selection (none where it was not judged)."""

    model: str
    full_mean: float
    full_rank: int
    mean: float
    rank: int | None


@dataclass(frozen=True)
class PairOutcome:
    """Winners over all pairs of models.

    Ashury Tahan et al. (2024) call a pair a success when the subset names the model that wins more items
    of the whole set.
    """

    success_rate: float  # share of the pairs with a winner on the whole set that the selection gets right
    distance: float  # mean winning distance |P_A − P_B| on the whole set, over the pairs with a winner
    estimated_distance: float  # the same on the selection, positive towards the true winner
    tied: int  # pairs without a winner on the whole set, which are not in the rate


def _ranks(means: Floats) -> list[int | None]:
    """Return ranks from 1 for the best mean; equal means share the better rank, NaN has none."""
    rounded = round_means(means)
    return [None if np.isnan(mean) else 1 + int((rounded > mean).sum()) for mean in rounded]


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """A selection compared with the whole set: models, agreement, winners of pairs, and notes."""

    rows_key: ClassVar[str] = "models"

    truth: str
    models: tuple[ModelOutcome, ...]
    agreement: Agreement
    pairs: PairOutcome
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Comparison({self})"

    def __str__(self) -> str:
        """Return the outcome in one line."""
        agreement = self.agreement
        best = "yes" if agreement.top1_match == 1 else "no"
        return (
            f"{agreement.n:,} of {agreement.n_full:,} items against all, by {self.truth}: soft pairwise "
            f"accuracy {agreement.soft_pairwise_accuracy:.3f}, Kendall b {agreement.kendall_b:.3f}, "
            f"best model found: {best}"
        )

    def summary(self) -> Summary:
        """Return how close the chosen items come to all, and every model's ranks and means."""
        agreement = self.agreement
        verb = {1.0: "find the same best model", 0.0: "name another best model"}.get(
            agreement.top1_match, "leave the best model open"
        )
        pairs = counted(len(self.models) * (len(self.models) - 1) // 2, "pair")
        answer = (
            f"The {agreement.n} chosen items {verb} as all {agreement.n_full} and order "
            f"{share_text(agreement.pairwise_accuracy, 0)} of {pairs} alike (soft pairwise accuracy "
            f"{share_text(agreement.soft_pairwise_accuracy)}) on {self.truth}."
        )
        ends = [value for row in self.models for value in (row.full_mean, row.mean) if value is not None]
        decimals = decimals_for([(max(ends) - min(ends)) / 10.0]) if ends else None
        rows = tuple(
            (
                row.model,
                str(row.full_rank),
                f"{'-' if row.rank is None else row.rank}{' ←' if row.rank != row.full_rank else '  '}",
                decimal_text(row.full_mean, decimals),
                decimal_text(row.mean, decimals),
            )
            for row in self.models
        )
        columns = ("model", "rank, all", "rank, chosen", "mean, all", "mean, chosen")
        return Summary(
            (answer,), columns, rows, next_steps=("sparingly figure curve DATA",), notes=self.notes
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return dict(nan_as_none(asdict(self)))


@dataclass(frozen=True, eq=False, repr=False)
class CurveComparison(Tabular):
    """A method's agreement over budgets beside that of random selection."""

    truth: str
    method: str
    curve: curves.AgreementCurve
    random: curves.RandomCurve

    def __repr__(self) -> str:
        return (
            f"CurveComparison({self.curve.measure} by {self.truth}: {self.method} {self.curve.average:.4f}, "
            f"random {self.random.average:.4f}, over {len(self.curve.sizes)} budgets)"
        )

    def summary(self) -> Summary:
        """Return how far method and random items agree with judging everything, and budget by budget."""
        averages = f"{self.curve.average:.3f}, random selection {self.random.average:.3f}"
        measure = f"{self.curve.measure.replace('_', ' ')} by {self.truth}"
        sentence = (
            f"Over {len(self.curve.sizes)} budgets the method reaches {averages} on average ({measure})."
        )
        rows = tuple(
            (str(size), share_text(share), f"{value:.3f}", IntervalCell(low, middle, high), f"{middle:.3f}")
            for size, share, value, middle, low, high in zip(
                self.curve.sizes.tolist(),
                self.curve.shares.tolist(),
                self.curve.values.tolist(),
                self.random.values.tolist(),
                self.random.low.tolist(),
                self.random.high.tolist(),
                strict=True,
            )
        )
        columns = ("items", "share", "the method", "random, range", "random, mean")
        next_step = "sparingly figure curve DATA"
        return Summary((sentence,), columns, rows, 0, next_steps=(next_step,), method=(self.method,))

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per number of items: the method's value and random selection's."""
        values, random = self.to_dict(), self.to_dict()["random"]
        columns = values["sizes"], values["values"], random["values"], random["low"], random["high"]
        names = ("items", "value", "random", "random_low", "random_high")
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain values."""
        random = {name: getattr(self.random, name) for name in ("values", "low", "high", "average", "runs")}
        values = {name: getattr(self.curve, name) for name in ("measure", "sizes", "values", "average")}
        return dict(nan_as_none({"truth": self.truth, "method": self.method, **values, "random": random}))


def full_set(data: EvalSet, truth: str, *, seed: int = 0, flips: int = 1000, test: Test = "auto") -> FullSet:
    """Return the evaluation that judges everything by a truth."""
    values = data.truth(truth)
    return FullSet(values, data.keys, seed=seed, flips=flips, method=test, weights=data.importance)


@dataclass(frozen=True)
class MethodReplay:
    """A judged set on which a method is run again, with the models that it may look at (``visible``).

    ``crowd`` are the models that it does look at, where these are not all it may.
    """

    part: EvalSet
    visible: EvalSet
    crowd: tuple[str, ...] = ()

    def select(self, method: str | Method, budget: Any, seed: int, rows: Ints | None = None) -> Selection:
        """Run the method on the items, or on those at some rows."""
        view = self.visible if rows is None else self.visible.at(rows)
        return select(view, method, budget, seed=seed, crowd=self.crowd or None, judge="all")

    def order(self, method: str | Method, seed: int) -> Ints:
        """Return the rows of all items in the order in which the method takes them."""
        return self.part.positions(self.select(method, "100%", seed).items)


def method_replay(
    data: EvalSet, truth: str, crowd: Iterable[str] | None = None, judge: Judge = "rest"
) -> MethodReplay:
    """Return the set on which a method is run again; with a crowd it sees some models, others are judged."""
    sides = sides_of(data, crowd, judge)
    part, _ = judged_part(sides.of_judged(data), truth)
    if sides == ModelSides():
        return MethodReplay(part, part)
    return MethodReplay(part, data.take(items=part.items), sides.crowd)


def judged_part(data: EvalSet, truth: str) -> tuple[EvalSet, tuple[str, ...]]:
    """Return the items and models that have a score by the truth, and notes on those that have none."""
    judged = data.judged(truth)
    if not judged.any():
        raise DataError(f"No item has a score of {truth}: name another with {argument('aspect')}.")
    notes = []
    if not (items := judged.any(axis=1)).all():
        notes.append(f"{int((~items).sum())} of {len(data)} items have no {truth} score and are left out.")
        data = data.at(np.flatnonzero(items))
    if not (models := judged.any(axis=0)).all():
        absent = [data.models[column] for column in np.flatnonzero(~models)]
        notes.append(f"No {truth} score, and so left out: {listing(absent)}.")
        data = data.take(models=[name for name in data.models if name not in absent])
    if len(data.models) < 2:
        raise DataError(f"Only {listing(data.models)} has scores of {truth}, and comparing needs two models.")
    return data, tuple(notes)


def agree(
    data: DataLike,
    selection: Selection | Sequence[str],
    truth: str,
    *,
    seed: int = 0,
    flips: int = 1000,
    test: Test = "auto",
    tie: float = 0.0,
) -> Comparison:
    """Compare what a selection says about the models with what the whole set says.

    Args:
        data: The fully judged evaluation set.
        selection: The selection, or the ids of its items.
        truth: An aspect, a metric, or a combination of aspects (see ``EvalSet.truth``).
        seed: Seed of the sign flips.
        flips: Number of sign flips.
        test: ``auto``, ``sampled``, ``exact`` or ``analytic`` p-values.
        tie: Two scores that differ by no more are a tie when winners are counted.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> everything = sparingly.agree(data, list(data.items), truth="mqm")
        >>> everything.agreement.soft_pairwise_accuracy
        1.0
    """
    data = as_evalset(data)
    notes: tuple[str, ...] = ()
    judged = selection.judged if isinstance(selection, Selection) else None
    if judged is not None and set(judged) != set(data.models):
        count, data = len(data.models), data.take(models=judged)
        names = f"{len(data.models)} of {count} models that the selection judges"
        notes = (f"Only the {names} are compared: {listing(data.models)}.",)
    part, part_notes = judged_part(data, truth)
    reference = full_set(part, truth, seed=seed, flips=flips, test=test)
    ids = list(selection.items if isinstance(selection, Selection) else selection)
    data.positions(ids)  # an unknown id is an error
    cells = selected_cells(selection, part, reference.values)
    if not len(cells.rows):
        raise DataError(f"No chosen item has a score of {truth}: name another with {argument('aspect')}.")
    notes = (*notes, *part_notes)
    if lost := len(set(ids).difference(part.items)):
        notes = (*notes, f"{counted(lost, 'item')} of the selection without a score of {truth}.")
    if isinstance(selection, Selection) and not selection.is_probability_sample:
        notes = (*notes, RANKING_ONLY)
    weights = selection_weights(selection, part, cells.rows)
    scores = cells.scores(reference.values)
    means = model_means(scores, weights)
    ranks, full_ranks = _ranks(means), _ranks(reference.means)
    outcomes = [
        ModelOutcome(
            name, float(reference.means[column]), full_ranks[column] or 0, float(means[column]), rank
        )
        for column, (name, rank) in enumerate(zip(part.models, ranks, strict=True))
    ]
    success = success_of(pair_margins(scores, tie), pair_margins(reference.values, tie))
    distance = success.distance if success.runs else 0.0
    return Comparison(
        truth,
        tuple(sorted(outcomes, key=lambda outcome: (outcome.full_rank, outcome.model))),
        agreement_with(reference, cells.rows, subset_values=cells.values, row_weights=weights),
        PairOutcome(success.rate, distance, success.estimated_distance, success.tied),
        (*notes, *cells.notes(reference.values)),
    )


def curve(
    data: DataLike,
    method: str | Method,
    truth: str,
    *,
    shares: Sequence[float] | None = None,
    measure: str = curves.SPA,
    seed: int = 0,
    runs: int = 20,
    flips: int = 1000,
    test: Test = "auto",
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> CurveComparison:
    """Return a method's agreement with the whole set over budgets, beside random selection's.

    Shares are 5 to 50 % by default (25 to 75 % for sets of 100 items or fewer, as published). The tests on
    the whole set are done once. Random selection is the mean of ``runs`` draws with its 90 % t interval.
    With a ``crowd`` the method sees these models only, and both are measured on the models to ``judge``.
    """
    data = as_evalset(data)
    if runs < 1:
        raise UsageError(f"A curve needs at least one random run, not {runs}.")
    replay = method_replay(data, truth, crowd, judge)
    reference = full_set(replay.part, truth, seed=seed, flips=flips, test=test)
    shares = default_shares(len(reference)) if shares is None else shares
    sizes = curves.sizes_of(shares, len(reference))
    by_method = method_curve(replay, reference, method, sizes, measure, seed)
    random = curves.random_curve(reference, sizes, seed_list(seed, runs, "random curve"), measure)
    return CurveComparison(truth, str(as_selector(method)), by_method, random)


def parity(
    data: EvalSet,
    method: str | Method,
    truth: str,
    *,
    shares: Sequence[float] | None = None,
    measure: str = curves.SPA,
    rule: curves.ParityRule = "stays",
    seed: int = 0,
    runs: int = 20,
    flips: int = 1000,
    test: Test = "auto",
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> curves.Parity:
    """Return the share of random selection's labels that a method needs for the same agreement.

    Below 1 the method saves labels; above 1 it is worse than a random sample. With a ``crowd`` the method
    sees these models only, and both are measured on the models to ``judge``.
    """
    replay = method_replay(data, truth, crowd, judge)
    reference = full_set(replay.part, truth, seed=seed, flips=flips, test=test)
    if not as_selector(method).is_nested:
        raise UsageError(
            "Parity needs a method whose smaller choices lie inside its larger ones, over single items."
        )
    order = replay.order(method, seed)
    shares = default_shares(len(reference)) if shares is None else shares
    random = curves.random_parity(reference, measure=measure, shares=shares, rule=rule, runs=runs, seed=seed)
    return random.of(order)


def default_shares(items: int) -> tuple[float, ...]:
    """Return the shares over which curves are drawn: larger ones for small sets, as published."""
    return curves.SMALL_SET_SHARES if items <= 100 else curves.SHARES


def method_curve(
    replay: MethodReplay, full_set: FullSet, method: str | Method, sizes: Ints, measure: str, seed: int
) -> curves.AgreementCurve:
    """Return a method's agreement with the whole set over sizes."""
    if as_selector(method).is_nested:
        return curves.curve(full_set, replay.order(method, seed), sizes, measure)
    values, counts = [], []
    for size in tracked(sizes.tolist()):
        selection = replay.select(method, size, seed)
        cells = selected_cells(selection, replay.part, full_set.values)
        weights, count = selection_weights(selection, replay.part, cells.rows), len(cells.rows)
        options = {"subset_values": cells.values, "row_weights": weights}
        point = curves.curve(full_set, cells.rows, [count], measure, **options)
        values.append(point.values[0])
        counts.append(count if cells.values is None else round(float(cells.counts(full_set.values).mean())))
    return curves.AgreementCurve(measure, np.array(counts, np.int64), np.array(values), len(full_set))


# --- Stability: does the ranking of the models survive another draw of the items? ---


@dataclass(frozen=True)
class Stability:
    """Rank changes in repeated draws from one evaluation set, against the ranking of the full set.

    ``changes`` are the numbers of models whose rank differs, by draw; ``best`` to ``worst`` sum them up.
    ``changed_share`` is the share of draws with another ranking, ``differing_pairs`` that of pairs of draws
    whose rankings differ from each other, and ``draws_differ`` whether the draws do not all give one ranking.
    """

    changes: tuple[int, ...]
    changed_share: float
    best: int
    median: float
    worst: int
    differing_pairs: float
    draws_differ: bool

    def _repr_html_(self) -> str:
        rows = [
            ("draws with another ranking than the full set", f"{self.changed_share:.1%}"),
            ("models with another rank: best draw", self.best),
            ("median draw", self.median),
            ("worst draw", self.worst),
            ("pairs of draws that rank differently", f"{self.differing_pairs:.1%}"),
        ]
        return html_table(("stability", f"{len(self.changes)} draws"), rows)


def stability(subset_means: Floats, full_means: Floats) -> Stability:
    """Compare the rankings of several draws (draws × models) with the full set's and with each other.

    The number to watch is ``worst``: an evaluation is done once, and its draw may be that one. Where models
    have draws of their own, the means are each over the model's own items.
    """
    if subset_means.ndim != 2 or len(subset_means) == 0 or subset_means.shape[1:] != full_means.shape:
        raise UsageError(
            f"Stability needs draws × models and their means, not {subset_means.shape}, {full_means.shape}."
        )
    changes = rank_changes(subset_means, full_means).astype(int)
    ranks = np.nan_to_num(average_ranks(round_means(subset_means)), nan=0.0)
    repeats = np.unique(ranks, axis=0, return_counts=True)[1]
    draws = len(subset_means)
    pairs = draws * (draws - 1) / 2
    equal_pairs = float((repeats * (repeats - 1) / 2).sum())
    return Stability(
        changes=tuple(int(change) for change in changes),
        changed_share=float((changes > 0).mean()),
        best=int(changes.min()),
        median=float(np.median(changes)),
        worst=int(changes.max()),
        differing_pairs=1.0 - equal_pairs / pairs if pairs else 0.0,
        draws_differ=len(repeats) > 1,
    )


SEPARATE = (
    "models are judged on items of their own: rankings are by each model's own items, winners of pairs by "
    "the items that two models share.",
)


@dataclass(frozen=True)
class Draws:
    """How often repeated runs of a method, each on a ``share`` of the items, rank as the whole set does.

    ``stability`` is about the ranking of the models, ``success`` about the winners of pairs.
    """

    truth: str
    method: str
    budget: str
    share: float
    stability: Stability
    success: SuccessRate
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return dict(nan_as_none(asdict(self)))


def draws(
    data: EvalSet,
    method: str | Method,
    budget: int | float | str | Budget,
    truth: str,
    *,
    runs: int = 13,
    share: float = 0.8,
    seed: int = 0,
    tie: float = 0.0,
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> Draws:
    """Run a method on ``runs`` random parts of the set, each with its own seed, and compare with the whole.

    A part holds ``share`` of the items, so that methods without randomness differ between runs too
    (Ashury Tahan et al. 2024, section 5); ``share=1`` varies the seed alone (as in the 13 runs of Lo and
    Knowles 2023). A count that is larger than the part takes all of it. Items with unequal probabilities are
    weighed by one over them, and where every model has a draw of its own, its mean is over its own items.
    With a ``crowd`` the method sees these models only, and the models to ``judge`` are compared.
    """
    replay = method_replay(data, truth, crowd, judge)
    reference = full_set(replay.part, truth)
    amount = Budget.parse(budget)
    seeds = seed_list(seed, runs, "draws")
    if not seeds:
        raise UsageError("Draws need at least one run.")
    means, selected_margins, part_margins, notes = [], [], [], tuple[str, ...]()
    for run in seeds:
        rows = subsample(reference.keys, run, share)
        too_many = amount.kind == "count" and amount.amount > len(rows)
        selection = replay.select(method, Budget("count", len(rows)) if too_many else amount, run, rows)
        cells = selected_cells(selection, replay.part, reference.values)
        # Every model counts by the items on which it is judged.
        scores = cells.scores(reference.values)
        means.append(model_means(scores, selection_weights(selection, replay.part, cells.rows)))
        selected_margins.append(pair_margins(scores, tie))
        part_margins.append(pair_margins(reference.values[rows], tie))
        notes = notes if cells.values is None else SEPARATE
    success = success_of(np.concatenate(selected_margins), np.concatenate(part_margins))
    ranks = stability(np.array(means), reference.means)
    return Draws(truth, str(as_selector(method)), str(amount), share, ranks, success, notes)
