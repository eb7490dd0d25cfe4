"""Studies of methods on judged sets that papers report: random crowds, metrics, stability, success rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.registry import Method, parse_method
from sparingly.base.rng import Keys, keys_of, seed_list, stream
from sparingly.base.stats.sign_flip import FlipTest as Test
from sparingly.base.summary import html_table
from sparingly.base.text import format_value, text_value
from sparingly.choose.select import as_selector
from sparingly.data.describe.metrics import correlation
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.infer.rank.agreement import Agreement, FullSet, agreement_with
from sparingly.infer.rank.compare import (
    Stability,
    curve,
    default_shares,
    full_set,
    judged_part,
    method_curve,
    method_replay,
)
from sparingly.infer.rank.curve import SPA, mean_and_half_width, random_curve, sizes_of
from sparingly.infer.rank.measures import nan_as_none
from sparingly.infer.rank.winners import SuccessRate, margins_and_counts, pair_margins, subsample, success_of

# --- artificial crowds: a method sees some models, drawn at random, and is measured on the others ---


@dataclass(frozen=True)
class MeanOverCrowds:
    """A mean over crowds, with its 90 % t interval (NaN where there is one crowd only)."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        interval = "" if np.isnan(self.low) else f" ({self.low:.3f} to {self.high:.3f})"
        return f"{self.mean:.3f}{interval}"


@dataclass(frozen=True, eq=False, repr=False)
class CrowdCurve:
    """A method computed on random crowds and measured on the other models, beside random selection.

    The intervals are of means over the crowds that can be drawn from this set: they say what another crowd
    would have done here, not what the method does on another set.
    """

    truth: str
    method: str
    measure: str
    crowds: tuple[tuple[str, ...], ...]  # the models of every crowd
    judged: int  # how many models are left to judge
    shares: tuple[float, ...]  # the shares of the items that are judged
    values: Floats  # the method's agreement with the full set by ``measure``, crowds × shares
    random: Floats  # that of random selection on the same models, crowds × shares

    @property
    def average(self) -> MeanOverCrowds:
        """The method's mean over budgets and crowds."""
        return _mean(self.values.mean(axis=1))

    @property
    def random_average(self) -> MeanOverCrowds:
        """Random selection's mean over budgets and crowds."""
        return _mean(self.random.mean(axis=1))

    @property
    def gain(self) -> MeanOverCrowds:
        """The method's mean minus random's, crowd by crowd: an interval above 0 speaks for the method."""
        return _mean((self.values - self.random).mean(axis=1))

    def __repr__(self) -> str:
        return f"CrowdCurve({self})"

    def __str__(self) -> str:
        """Return the outcome in one line."""
        several = len(self.crowds) > 1
        count = f"{len(self.crowds)} random crowd{'s' if several else ''}"
        return (
            f"{self.method} on {count} of {len(self.crowds[0])}, {self.measure} by {self.truth} on the other "
            f"{self.judged} models: {self.average} against {self.random_average} for random; "
            f"gain {self.gain}{', 90 % intervals' if several else ''}"
        )

    def _repr_html_(self) -> str:
        columns = ("share", self.method, "low", "high", "random", "low", "high")
        parts = (np.array(self.shares), *_bounds(self.values), *_bounds(self.random))
        rows = [tuple(map(float, row)) for row in zip(*parts, strict=True)]
        return html_table(columns, rows, f"{self.measure} by {self.truth}", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values: a number that is not defined is None."""
        names = ("truth", "method", "measure", "crowds", "judged", "shares")
        curves = {
            name: dict(zip(("values", "low", "high"), _bounds(runs), strict=True))
            for name, runs in (("curve", self.values), ("random", self.random))
        }
        parts = {name: getattr(self, name) for name in (*names, "average", "random_average", "gain")}
        return dict(nan_as_none({**parts, **curves}))


def crowd(
    data: EvalSet,
    method: str | Method,
    truth: str,
    *,
    size: int = 4,
    runs: int = 10,
    draws: int = 10,
    shares: Sequence[float] | None = None,
    measure: str = SPA,
    seed: int = 0,
    flips: int = 1000,
    test: Test = "auto",
) -> CrowdCurve:
    """Compute a method on random crowds of models and measure it on the others (Zouhar et al. 2025, Table 4).

    U(x, M′) ≈ U(x, M) (eq. 11): every run draws ``size`` models M′, shows the method nothing of the others,
    and compares the ranking of the others on what it chooses with their ranking on all items, for every share
    (5 to 50 % by default). Random selection is the mean of ``draws`` draws for the same models. Where the
    gain is not above 0, outputs of some models are no reason to leave random selection.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> tried = crowd(data, "metric_var:metric=chrF", "mqm", size=3, runs=4)
        >>> len(tried.crowds), tried.judged
        (4, 3)
    """
    part, _ = judged_part(data, truth)
    models = len(part.models)
    if models < 3:
        raise DataError(
            f"A crowd and two models to judge need three models, and only {models} have scores by {truth}."
        )
    if not 1 <= size <= models - 2:
        raise UsageError(
            f"A crowd of the {models} models has 1 to {models - 2} of them, so that two are left to judge, "
            f"not {size}."
        )
    for name, count in (("crowd", runs), ("random draw", draws)):
        if count < 1:
            raise UsageError(f"At least one {name} is needed, not {count}.")
    shares = tuple(default_shares(len(part)) if shares is None else shares)
    crowds, values, random = [], [], []
    for run in seed_list(seed, runs, "crowds"):
        # The crowd depends on the models' names and the seed only.
        order = np.argsort(stream(keys_of(part.models), run, "crowd"), kind="stable")
        crowds.append(tuple(sorted(part.models[column] for column in order[:size])))
        replay = method_replay(part, truth, crowds[-1])
        reference = full_set(replay.part, truth, seed=seed, flips=flips, test=test)
        sizes = sizes_of(shares, len(reference))
        values.append(method_curve(replay, reference, method, sizes, measure, run).values)
        random.append(random_curve(reference, sizes, seed_list(run, draws, "random curve"), measure).values)
    return CrowdCurve(
        truth,
        str(as_selector(method)),
        measure,
        tuple(crowds),
        models - size,
        shares,
        np.stack(values),
        np.stack(random),
    )


def _mean(runs: Floats) -> MeanOverCrowds:
    return MeanOverCrowds(*(float(bound) for bound in _bounds(runs)))


def _bounds(runs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean over runs, and the low and the high end of its t interval."""
    middle, half = mean_and_half_width(runs)
    return middle, middle - half, middle + half


# --- how good must a metric be? Its correlation with the truth, and what selecting by it gains ---

_PLACE = "{metric}"


@dataclass(frozen=True)
class MetricQuality:
    """One metric: how it follows the truth, and what a selection by it is worth.

    ``pooled`` is Pearson's correlation with the truth over all outputs, ``differences`` that of differences
    between two models on one item; None where nothing varies. ``average`` is the mean agreement over the
    budgets of the method that uses this metric, ``random`` that of random selection.
    """

    metric: str
    pooled: float | None
    differences: float | None
    average: float
    random: float

    @property
    def gain(self) -> float:
        """By how much selecting by the metric is better than random selection."""
        return self.average - self.random


@dataclass(frozen=True, repr=False)
class MetricQualities:
    """Metrics in the order of their pooled correlation with the truth, the best first."""

    truth: str
    method: str
    measure: str
    metrics: tuple[MetricQuality, ...]

    def __repr__(self) -> str:
        helpful = sum(row.gain > 0 for row in self.metrics)
        return (
            f"MetricQualities({self.measure} by {self.truth}: {helpful} of {len(self.metrics)} metrics "
            f"are better than random under {self.method})"
        )

    def __len__(self) -> int:
        return len(self.metrics)

    def _repr_html_(self) -> str:
        columns = ("metric", "r, pooled", "r, differences", "average", "random", "gain")
        rows = [(*asdict(row).values(), row.gain) for row in self.metrics]
        return html_table(columns, rows, repr(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain values."""
        rows = nan_as_none([{**asdict(row), "gain": row.gain} for row in self.metrics])
        return {"truth": self.truth, "method": self.method, "measure": self.measure, "metrics": rows}


def metric_quality(
    data: EvalSet,
    truth: str,
    method: str = "metric_var:metric={metric}",
    *,
    metrics: Sequence[str] | None = None,
    shares: Sequence[float] | None = None,
    measure: str = SPA,
    seed: int = 0,
    runs: int = 20,
    flips: int = 1000,
    test: Test = "auto",
) -> MetricQualities:
    """Return every metric's correlation with the truth and what selecting by it gains over random selection.

    Selection by a metric is worth its effort only when the metric follows people well enough (Zouhar et al.
    2025, Fig. 6): on judged data of the same kind this tells which metrics do, and by how much.

    ``method`` is a method as text, with ``{metric}`` where the metric's name goes. All ``metrics`` are tried
    unless some are named; one that is the truth is left out. The other parameters are those of ``curve``:
    budgets (``shares``), the ``measure`` that is averaged over them, the number of random ``runs``, and the
    sign-flip ``test`` with its ``flips`` and ``seed``.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = metric_quality(data, "mqm", runs=5)
        >>> found.metrics[0].metric
        'chrF'
    """
    if _PLACE not in method:
        raise UsageError(f"Write {_PLACE} where the metric's name goes, as in metric_var:metric={_PLACE}.")
    part, _ = judged_part(data, truth)
    if not part.metrics:
        raise MissingDataError("The set has no metrics to examine.")
    names = list(part.metrics if metrics is None else metrics)
    for name in names:
        part.metrics[name]  # an unknown name is an error
    names = [name for name in names if truth not in (name, f"metric:{name}")]
    if not names:
        raise DataError("There is no metric but the truth itself.")
    rows: list[MetricQuality] = []
    for name in names:
        comparison = curve(
            part,
            parse_method(method.replace(_PLACE, format_value(text_value(name)))),
            truth,
            shares=shares,
            measure=measure,
            seed=seed,
            runs=1 if rows else runs,  # random selection does not depend on the metric
            flips=flips,
            test=test,
        )
        truth_r = correlation(part.metrics[name], part.truth(truth))
        random = rows[0].random if rows else comparison.random.average
        average = comparison.curve.average
        rows.append(MetricQuality(name, truth_r.pooled, truth_r.differences, average, random))
    rows.sort(key=lambda row: -np.inf if row.pooled is None else row.pooled, reverse=True)
    return MetricQualities(truth, method, measure, tuple(rows))


# --- stability over several sets ---


@dataclass(frozen=True)
class StabilityOverSets:
    """Repeated draws over several evaluation sets (translation directions, aspects).

    ``best``, ``median`` and ``worst`` are the numbers of sets with a changed ranking over the runs (run r:
    draw r of every set), ``differing_share`` the share of sets whose draws do not all give one ranking.
    """

    sets: int
    best: int
    median: float
    worst: int
    differing_share: float

    def _repr_html_(self) -> str:
        rows = [
            ("sets with a changed ranking: best run", self.best),
            ("median run", self.median),
            ("worst run", self.worst),
            ("sets whose draws do not all give one ranking", f"{self.differing_share:.1%}"),
        ]
        return html_table(("stability", f"{self.sets} sets"), rows)


def stability_over_sets(sets: Sequence[Stability]) -> StabilityOverSets:
    """Count, run by run, the evaluation sets whose ranking changed; report the best, median and worst run.

    As in Lo and Knowles 2023, where each year's translation directions were drawn 13 times, and as the share
    of data sets whose ranking depends on the draw in Ruan et al. 2024.

    Examples:
        >>> import numpy as np, sparingly
        >>> full = np.array([3.0, 2.0, 1.0])
        >>> steady = stability(np.array([[9.0, 5.0, 1.0], [8.0, 5.0, 2.0]]), full)
        >>> shaky = stability(np.array([[9.0, 5.0, 1.0], [5.0, 8.0, 2.0]]), full)
        >>> over = stability_over_sets([steady, shaky])
        >>> over.best, over.worst, over.differing_share
        (0, 1, 0.5)
    """
    runs = {len(result.changes) for result in sets}
    if len(runs) != 1:
        raise UsageError("Stability over several sets needs at least one set, and as many draws of each.")
    changed = (np.array([result.changes for result in sets]) > 0).sum(axis=0)
    return StabilityOverSets(
        sets=len(sets),
        best=int(changed.min()),
        median=float(np.median(changed)),
        worst=int(changed.max()),
        differing_share=float(np.mean([result.draws_differ for result in sets])),
    )


# --- how often a selection finds the winner ---

Ids = Sequence[str] | NDArray[np.object_] | NDArray[np.str_]
Chooser = Callable[[Ints, int], Ints]


def success_rate(
    values: Floats | Preferences,
    choose: Chooser,
    *,
    seeds: Sequence[int],
    ids: Ids | None = None,
    keys: Keys | None = None,
    share: float = 0.8,
    tie: float = 0.0,
) -> SuccessRate:
    """Return how often a selection finds the winner, over all pairs of models and several seeds.

    For each seed a large part of the items (``share``) is drawn and treated as if it were the full set, so
    that runs differ even for selections without randomness. ``values`` are items × models, or preferences
    that people gave, which name their own ties. ``choose`` is the selection: given the rows of the subsample
    and a seed, it returns the rows to judge. The subsample depends on the items' ``ids`` or their ``keys``;
    row numbers unless given.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 4.0], [6.0, 4.0]])
        >>> found = success_rate(scores, lambda rows, seed: rows[:2], seeds=[0, 1])
        >>> found.rate, found.bias
        (1.0, 0.0)
    """
    items = len(values)
    if isinstance(values, Preferences):
        # They know only the items that were compared.
        identified = ids if keys is None else keys
        items = int(values.item.max(initial=-1)) + 1 if identified is None else len(identified)
    hashed, margins_of = item_keys(items, ids, keys), _margins_of(values, tie)
    if not seeds:
        raise UsageError("A success rate needs at least one seed.")
    full_margins, subset_margins = [], []
    for seed in seeds:
        rows = subsample(hashed, seed, share)
        chosen = np.asarray(choose(rows, seed), np.int64)
        if chosen.size == 0 or not np.isin(chosen, rows).all():
            raise UsageError("A selection must choose at least one row, and only rows that it was given.")
        full_margins.append(margins_of(rows))
        subset_margins.append(margins_of(chosen))
    return success_of(np.concatenate(subset_margins), np.concatenate(full_margins))


def _margins_of(values: Floats | Preferences, tie: float) -> Callable[[Ints], Floats]:
    if not isinstance(values, Preferences):
        scores = np.asarray(values, np.float64)
        return lambda rows: pair_margins(scores[rows], tie)
    if not len(values):
        raise UsageError("A success rate needs at least one preference.")
    if tie != 0.0:
        raise UsageError("A tie width goes with scores: preferences that were given name their ties.")
    # A model that nobody compared has no margin, so that the number of models need not be known.
    models = int(max(values.first.max(), values.second.max())) + 1
    return lambda rows: margins_and_counts(values, models, rows)[0]


def item_keys(items: int, ids: Ids | None = None, keys: Keys | None = None) -> Keys:
    """Return one random key per item; signs and draws follow from it.

    With ids, the same item gets the same draws wherever it stands; without ids or keys the row number
    stands in for the id, and the draws depend on the order of the rows.
    """
    if ids is None:
        return np.arange(items, dtype=np.uint64) if keys is None else keys
    if keys is not None:
        raise UsageError("Give the ids of the items or their keys, not both.")
    if isinstance(ids, str) or len(ids) != items:
        raise UsageError(f"Give one id for each of the {items} items.")
    names = [str(name) for name in ids]
    if len(set(names)) < items:
        raise UsageError("Ids must differ from item to item.")
    return keys_of(names)


# --- agreement of plain arrays ---


def agreement(
    values: Floats,
    rows: Ints | Sequence[int],
    *,
    ids: Ids | None = None,
    keys: Keys | None = None,
    seed: int = 0,
    flips: int = 1000,
    method: Test = "auto",
    weights: Floats | None = None,
    subset_values: Floats | None = None,
) -> Agreement:
    """Compare the outcome on some rows of a score matrix with the outcome on all of them.

    The other parameters are those of ``FullSet``; ``ids`` are the items' ids, on which sign flips depend (row
    numbers unless given), and ``keys`` the 64-bit keys that were made from them. ``subset_values`` are other
    scores by which the subset is judged, such as a metric or one rater's.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, 4.0]])
        >>> agreement(scores, [0, 1, 2], ids=["a", "b", "c"]).soft_pairwise_accuracy
        1.0
    """
    values = np.asarray(values, np.float64)
    full_set = FullSet(
        values, item_keys(len(values), ids, keys), seed=seed, flips=flips, method=method, weights=weights
    )
    return agreement_with(full_set, rows, subset_values=subset_values)
