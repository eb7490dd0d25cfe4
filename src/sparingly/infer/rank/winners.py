"""Which of two models wins, by how much, and how often a subset finds the winner.

From Ashury Tahan et al. 2024 (Label-Efficient Model Selection for Text Generation, sections 3, 5.3, 6.1).
The preference on an item is the model with the higher score, or a tie when the two are within ``tie``. The
winning probability of a model is its share of wins over all judged items, ties in the denominator (eq. 1);
the *margin* of a pair is P_A − P_B, its sign names the winner and its size is the winning distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError, listing
from sparingly.base.format import cell_text
from sparingly.base.stats.pairs import check_tie, checked_sizes, pair_count, pair_indices, preferred
from sparingly.base.summary import Summary, Tabular, html_table
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences
from sparingly.infer.rank.measures import nan_as_none

# --- margins from preferences ---
# An item's preference for A over B is 1, −1, 0 for a tie, or between them when it
# is soft. Several judgements of one item and pair are averaged first, so that an item counts once however
# many people judged it. The mean over items is the margin P_A − P_B: ties are in the denominator.

# A mean of votes smaller than this is rounding: the votes cancel.
CANCELLED = 1e-12


class Votes(NamedTuple):
    """One vote for every item and pair of models (a position in ``numpy.triu_indices``)."""

    item: Ints
    pair: Ints
    value: Floats


def margins_and_counts(
    preferences: Preferences, models: int, rows: Ints | Sequence[int] | None = None
) -> tuple[Floats, Ints]:
    """Return P_A − P_B of every pair of models, and the number of items behind it; NaN without any.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo().with_preferences_from("mqm", tie=0.5)
        >>> margins, _ = margins_and_counts(data.preferences, len(data.models))
        >>> bool((margins == pair_margins(data.truth("mqm"), tie=0.5)).all())
        True
    """
    votes = item_votes(preferences, models, rows)
    pairs = pair_count(models)
    counts = np.bincount(votes.pair, minlength=pairs).astype(np.int64)
    total = np.bincount(votes.pair, votes.value, pairs)
    margins = ratio(total, counts, np.nan)
    return np.where(np.abs(margins) < CANCELLED, 0.0, margins), counts


def item_votes(preferences: Preferences, models: int, rows: Ints | Sequence[int] | None = None) -> Votes:
    """Return one vote for every item and pair that were judged: the mean of its judgements."""
    valid = ~np.isnan(preferences.value) & (preferences.first != preferences.second)
    if rows is not None:
        valid &= np.isin(preferences.item, np.asarray(rows, np.int64))
    first, second = preferences.first[valid].astype(np.int64), preferences.second[valid].astype(np.int64)
    value = np.where(first < second, 1.0, -1.0) * preferences.value[valid]
    pair = pair_places(np.minimum(first, second), np.maximum(first, second), models)
    pairs = max(pair_count(models), 1)
    cells, place = np.unique(preferences.item[valid].astype(np.int64) * pairs + pair, return_inverse=True)
    per_item = np.bincount(place, value, len(cells)) / np.bincount(place, minlength=len(cells))
    return Votes(cells // pairs, cells % pairs, per_item)


def pair_places(low: Ints, high: Ints, models: int) -> Ints:
    """Return the places of pairs (low < high) among (0, 1), (0, 2), …, (1, 2), ….

    All pairs that begin with a smaller model come before.
    """
    return low * (2 * models - low - 1) // 2 + high - low - 1


# --- margins from scores, and how often a subset finds the winner ---


@dataclass(frozen=True)
class SuccessRate:
    """How often subsets find the winning model, over pairs of models and seeds."""

    rate: float  # share of the decided runs whose subset names the same winner
    standard_error: float  # √(rate·(1 − rate)/runs), as if runs were independent
    runs: int  # pairs × seeds with a winner on the full (sub)sample
    inconclusive: float  # share of those runs whose subset ends in a tie (never a success)
    tied: int  # pairs × seeds without a winner on the full (sub)sample: not in ``runs``
    distance: float  # mean winning distance on the full (sub)sample
    estimated_distance: float  # mean margin on the subset, positive towards the true winner
    bias: float  # mean of estimated minus true distance: above 0 when subsets exaggerate the winner's lead

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), value) for name, value in vars(self).items()]
        title = f"winner found in {self.rate:.1%} of {self.runs} runs"
        return html_table(("over pairs of models and seeds", ""), rows, title)


def pair_margins(values: Floats, tie: float = 0.0) -> Floats:
    """Return P_A − P_B for every pair of models (order of ``numpy.triu_indices``), from items × models.

    NaN for a pair that was never judged on the same item.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 5.0], [1.0, 4.0]])
        >>> pair_margins(scores)  # two wins, a tie, a loss
        array([0.25])
    """
    values = np.asarray(values, np.float64)
    margins: Floats = prefix_margins(values, [len(values)], tie)[0]
    return margins


def prefix_margins(values: Floats, sizes: Sequence[int] | Ints, tie: float = 0.0) -> Floats:
    """Return the margins (sizes × pairs) over the first k items for every k, reading the items once."""
    check_tie(tie)
    ascending, places = checked_sizes(sizes, len(values))
    values = values[: ascending[-1]]
    starts = np.concatenate([[0], ascending[:-1]])
    models = values.shape[1]
    margins = np.full((len(ascending), pair_count(models)), np.nan)
    begin = 0
    for model in range(models - 1):
        stop = begin + models - 1 - model
        wins = preferred(values[:, model, None] - values[:, model + 1 :], tie)
        judged = ~np.isnan(wins)
        total = np.add.reduceat(np.where(judged, wins, 0.0), starts, axis=0).cumsum(axis=0)
        count = np.add.reduceat(judged.astype(np.int64), starts, axis=0).cumsum(axis=0)
        np.divide(total, count, out=margins[:, begin:stop], where=count > 0)
        begin = stop
    return np.asarray(margins[places])


def distance_bias(subset: Floats, full_set: Floats) -> Floats:
    """Return the estimated minus the true winning distance, signed towards the full set's winner.

    sign(full)·subset − |full|, per pair; NaN for a pair tied on the full set. Random subsets average 0.
    """
    return np.where(_decided(full_set), np.sign(full_set) * subset - np.abs(full_set), np.nan)


def success(subset: Floats, full_set: Floats) -> Floats:
    """Return 1 where the subset names the full set's winner, 0 where not, NaN where the full set ties."""
    return np.where(_decided(full_set), (np.sign(subset) == np.sign(full_set)).astype(np.float64), np.nan)


def mean_success(subset: Floats, full_set: Floats) -> Floats:
    """Return the share of the full set's winners that subsets (… × pairs) find; NaN when all pairs tie.

    A pair that the subset does not judge on any item has no winner there, and counts as not found.
    """
    return _mean_over_decided(success(subset, full_set), full_set)


def mean_bias(subset: Floats, full_set: Floats) -> Floats:
    """Return the mean over pairs of estimated minus true winning distance; NaN when all pairs tie.

    Above 0 when subsets (… × pairs) exaggerate the winner's lead, as informative selections do (Ashury Tahan
    et al. 2024, Fig. 5). A pair that the subset does not judge on any item has a lead of 0 there.
    """
    return _mean_over_decided(distance_bias(np.nan_to_num(subset, nan=0.0), full_set), full_set)


def _mean_over_decided(values: Floats, full_set: Floats) -> Floats:
    decided = _decided(full_set)
    if not decided.any():
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(values[..., decided].mean(axis=-1))


def success_of(subset: Floats, full_set: Floats) -> SuccessRate:
    """Return how often margins on subsets name the winner of those on the full (sub)sample, run by run.

    A pair that a subset does not judge on any item has no winner there, and counts as not found.
    """
    decided = _decided(full_set)
    runs = int(decided.sum())
    tied = int((full_set == 0.0).sum())
    if runs == 0:
        nan = float("nan")
        return SuccessRate(nan, nan, 0, nan, tied, nan, nan, nan)
    subset, full_set = np.nan_to_num(subset[decided], nan=0.0), full_set[decided]
    rate = float(success(subset, full_set).mean())
    return SuccessRate(
        rate=rate,
        standard_error=float(np.sqrt(rate * (1.0 - rate) / runs)),
        runs=runs,
        inconclusive=float((subset == 0.0).mean()),
        tied=tied,
        distance=float(np.abs(full_set).mean()),
        estimated_distance=float((np.sign(full_set) * subset).mean()),
        bias=float(distance_bias(subset, full_set).mean()),
    )


def subsample(keys: rng.Keys, seed: int, share: float) -> Ints:
    """Return the rows of a random part of the items, by their keys and the seed alone."""
    if not 0.0 < share <= 1.0:
        raise UsageError(f"The share of a subsample must lie above 0 and at most 1, not {share}.")
    size = max(1, round(share * len(keys)))
    return np.sort(np.argsort(rng.stream(keys, seed, "subsample"), kind="stable")[:size])


def _decided(margins: Floats) -> Mask:
    return np.asarray(~np.isnan(margins) & (margins != 0.0))


# --- winners by the preferences that people gave, or by scores turned into preferences ---


@dataclass(frozen=True)
class PairWinner:
    """Which of two models wins, judged on so many ``items``.

    ``winner`` is the one that is preferred more often; None for a tie, and for a pair that nobody judged.
    ``distance`` is the winning distance |P_first − P_second|; NaN for a pair that nobody judged.
    """

    first: str
    second: str
    winner: str | None
    distance: float
    items: int


@dataclass(frozen=True, repr=False)
class Winners(Tabular):
    """The winner of every pair of models, in the order of the models' names."""

    rows_key: ClassVar[str] = "pairs"

    by: str
    pairs: tuple[PairWinner, ...]

    def __repr__(self) -> str:
        judged = [pair for pair in self.pairs if pair.items]
        tied = sum(pair.winner is None for pair in judged)
        won = len(judged) - tied
        return f"Winners(by {self.by}: {won} of {len(self.pairs)} pairs have a winner, {tied} tie)"

    def __len__(self) -> int:
        return len(self.pairs)

    def summary(self) -> Summary:
        """Return how many pairs have a winner, and the pairs."""
        rows = tuple(tuple(map(cell_text, asdict(pair).values())) for pair in self.pairs)
        columns = ("first", "second", "winner", "distance", "items")
        return Summary((f"{self!r}".removeprefix("Winners(").removesuffix(")"),), columns, rows, texts=3)

    def between(self, first: str, second: str) -> PairWinner:
        """Return the outcome of two models, named in any order."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        names = sorted({name for pair in self.pairs for name in (pair.first, pair.second)})
        for name in (first, second):
            if name not in names:
                raise UnknownNameError("model", name, names)
        raise UsageError(f"A pair has two models, not {first} twice.")

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values: a distance that is not known is None."""
        return dict(nan_as_none(asdict(self)))


def winners(
    data: EvalSet,
    items: Selection | Sequence[str] | None = None,
    *,
    truth: str | None = None,
    aspect: str | None = None,
    tie: float = 0.0,
) -> Winners:
    """Return which model wins each pair, and by how much, on all items or on some of them.

    Args:
        data: The evaluation set.
        items: A selection (and so the models that it has judged), or ids of items; all items by default.
        truth: Scores to turn into preferences (an aspect, a metric, or a combination of aspects): the higher
            one wins. By default the set's own preferences are used.
        aspect: Which of the set's own preferences, where they are about several aspects.
        tie: With a truth: two scores that differ by no more are a tie.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = sparingly.winners(data, truth="mqm", tie=0.5)
        >>> found.between("TMT_run1", "nrpu-fjwu_run2").winner
        'TMT_run1'
    """
    if isinstance(items, Selection) and items.judged is not None:
        data = data.take(models=items.judged)
    ids = items.items if isinstance(items, Selection) else items
    rows = None if ids is None else data.positions(list(ids))
    if rows is not None and not len(rows):
        raise UsageError("Winners need at least one item.")
    if truth is not None:
        if aspect is not None:
            raise UsageError("Give a truth or an aspect of the preferences, not both.")
        scores = data.truth(truth) if rows is None else data.truth(truth)[rows]
        judged = (~np.isnan(scores)).astype(np.float64)
        counts = np.rint((judged.T @ judged)[pair_indices(scores.shape[1])]).astype(np.int64)
        margins, by = pair_margins(scores, tie), truth
    else:
        if tie != 0.0:
            raise UsageError("A tie width goes with a truth: preferences that were given name their ties.")
        table, by = own_preferences(data, aspect)
        margins, counts = margins_and_counts(table, len(data.models), rows)
    pairs = []
    for first, second, margin, count in zip(*pair_indices(len(data.models)), margins, counts, strict=True):
        names = data.models[first], data.models[second]
        winner = None if np.isnan(margin) or margin == 0.0 else names[int(margin < 0.0)]
        pairs.append(PairWinner(*names, winner, float(abs(margin)), int(count)))
    return Winners(by, tuple(pairs))


def own_preferences(data: EvalSet, aspect: str | None) -> tuple[Preferences, str]:
    """Return the set's own preferences of one aspect, and the name of the aspect."""
    table = data.preferences
    if not len(table):
        raise MissingDataError("The set has no preferences. Name scores to derive them from: truth=….")
    names = [table.aspects[code] for code in np.unique(table.aspect) if code >= 0]
    if aspect is not None:
        if aspect not in names:
            raise UnknownNameError("aspect of the preferences", aspect, names)
        return table.take(table.aspect == table.aspects.index(aspect)), aspect
    if len(np.unique(table.aspect)) > 1:
        raise UsageError(f"The preferences are about several aspects. Choose one: {listing(names)}.")
    return table, names[0] if names else "preferences"
