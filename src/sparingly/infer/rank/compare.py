"""Selections and methods held against the full set: what judging everything would have said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.html import html_table
from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.base.stats.signflip import Method as Test
from sparingly.choose.select import as_selector, select
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, Floats, Rows
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.infer.rank import curve as curves
from sparingly.infer.rank import parity as parities
from sparingly.infer.rank import winners
from sparingly.infer.rank.agreement import Agreement, agreement_with
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.groups import Groups
from sparingly.infer.rank.means import model_means, settled


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

    Attributes:
        success_rate: Share of the pairs with a winner on the whole set that the selection gets right.
        distance: Mean winning distance |P_A − P_B| on the whole set, over the pairs with a winner.
        estimated_distance: The same on the selection, positive towards the true winner.
        tied: Pairs without a winner on the whole set, which are not in the rate.
    """

    success_rate: float
    distance: float
    estimated_distance: float
    tied: int


@dataclass(frozen=True, repr=False)
class Comparison:
    """A selection held against the whole set: models, agreement, winners of pairs, and what to mind."""

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
            f"{agreement.n} of {agreement.n_full} items against all, by {self.truth}: soft pairwise accuracy "
            f"{agreement.soft_pairwise_accuracy:.3f}, Kendall b {agreement.kendall_b:.3f}, "
            f"best model found: {best}"
        )

    def _repr_html_(self) -> str:
        columns = ("model", "rank, all", "rank, chosen", "mean, all", "mean, chosen")
        rows = [(one.model, one.full_rank, one.rank, one.full_mean, one.mean) for one in self.models]
        return html_table(columns, rows, str(self), "; ".join(self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        return {
            "truth": self.truth,
            "models": [_plain(asdict(model)) for model in self.models],
            "agreement": self.agreement.to_dict(),
            "pairs": _plain(asdict(self.pairs)),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class CurveComparison:
    """A method's agreement over budgets beside that of random selection."""

    truth: str
    method: str
    curve: curves.Curve
    random: curves.RandomCurve

    def __repr__(self) -> str:
        return (
            f"CurveComparison({self.curve.measure} by {self.truth}: {self.method} {self.curve.average:.4f}, "
            f"random {self.random.average:.4f}, over {len(self.curve.sizes)} budgets)"
        )

    def _repr_html_(self) -> str:
        columns = ("items", "share", self.method, "random", "random, low", "random, high")
        values = (self.curve.sizes, self.curve.shares, self.curve.values)
        rows = zip(*values, self.random.values, self.random.low, self.random.high, strict=True)
        title = f"{self.curve.measure} by {self.truth}"
        after = f"average {self.curve.average:.4f} against {self.random.average:.4f} for random"
        return html_table(columns, [tuple(map(float, row)) for row in rows], title, after)

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as plain values."""
        return {
            "truth": self.truth,
            "method": self.method,
            "measure": self.curve.measure,
            "sizes": self.curve.sizes.tolist(),
            "values": _numbers(self.curve.values),
            "average": _number(self.curve.average),
            "random": {
                "values": _numbers(self.random.values),
                "low": _numbers(self.random.low),
                "high": _numbers(self.random.high),
                "average": _number(self.random.average),
                "runs": self.random.runs,
            },
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class _Weighed(FullSet):
    """A full set whose subsets are weighed by their clusters, while its own outcome stays as it is."""

    whole: FullSet

    @cached_property
    def means(self) -> Floats:
        return self.whole.means

    @cached_property
    def p_values(self) -> Floats:
        return self.whole.p_values

    @cached_property
    def groups(self) -> Groups:
        return self.whole.groups


def full_set(data: EvalSet, truth: str, *, seed: int = 0, flips: int = 1000, test: Test = "auto") -> FullSet:
    """Return the outcome of judging everything by a truth, with what is computed from it kept."""
    values = data.truth(truth)
    return FullSet(values, data.keys, seed=seed, flips=flips, method=test, weights=_importance(data))


def judged_part(data: EvalSet, truth: str) -> tuple[EvalSet, tuple[str, ...]]:
    """Return the items and models that have a score by the truth, and notes on those that have none."""
    there = ~np.isnan(data.truth(truth))
    if not there.any():
        raise DataError(f"No item has a score by {truth}.")
    notes = []
    if not (items := there.any(axis=1)).all():
        notes.append(f"{int((~items).sum())} of {len(data)} items have no score by {truth} and are left out.")
        data = data.at(np.flatnonzero(items))
    if not (models := there.any(axis=0)).all():
        absent = [data.models[place] for place in np.flatnonzero(~models)]
        notes.append(f"No score by {truth}, and so left out: {listing(absent)}.")
        data = data.take(models=[name for name in data.models if name not in absent])
    if len(data.models) < 2:
        raise DataError(f"Only {listing(data.models)} has scores by {truth}, and comparing needs two models.")
    return data, tuple(notes)


def agree(
    data: EvalSet,
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
        >>> everything = sparingly.agree(data, list(data.items), truth="overall")
        >>> everything.agreement.soft_pairwise_accuracy
        1.0
    """
    part, notes = judged_part(data, truth)
    full = full_set(part, truth, seed=seed, flips=flips, test=test)
    ids = list(selection.items if isinstance(selection, Selection) else selection)
    data.positions(ids)
    here = set(part.items)
    rows = part.positions([name for name in ids if name in here])
    if not len(rows):
        raise DataError(f"No item of the selection has a score by {truth}.")
    if len(rows) < len(ids):
        notes = (*notes, f"{len(ids) - len(rows)} items of the selection have no score by {truth}.")
    if isinstance(selection, Selection) and not selection.is_probability_sample:
        notes = (*notes, RANKING_ONLY)
    full = _weighed(full, selection, part, rows)
    return Comparison(
        truth, _models(part, full, rows), agreement_with(full, rows), _pairs(full, rows, tie), notes
    )


def curve(
    data: EvalSet,
    method: str | Method,
    truth: str,
    *,
    shares: Sequence[float] | None = None,
    measure: str = curves.SPA,
    seed: int = 0,
    runs: int = 20,
    flips: int = 1000,
    test: Test = "auto",
) -> CurveComparison:
    """Return a method's agreement with the whole set over budgets, beside random selection's.

    Shares are 5 to 50 % by default (25 to 75 % for sets of 100 items or fewer, as published). The tests on
    the whole set are done once. Random selection is the mean of ``runs`` draws with its 90 % t interval.
    """
    if runs < 1:
        raise UsageError(f"A curve needs at least one random run, not {runs}.")
    part, _ = judged_part(data, truth)
    full = full_set(part, truth, seed=seed, flips=flips, test=test)
    wanted = default_shares(len(part)) if shares is None else shares
    sizes = curves.sizes_of(wanted, len(part))
    drawn = _method_curve(part, full, method, sizes, measure, seed)
    random = curves.random_curve(full, sizes, seed_list(seed, runs, "random curve"), measure)
    return CurveComparison(truth, str(as_selector(method)), drawn, random)


def parity(
    data: EvalSet,
    method: str | Method,
    truth: str,
    *,
    shares: Sequence[float] | None = None,
    measure: str = curves.SPA,
    rule: Literal["stays", "first_crossing"] = "stays",
    seed: int = 0,
    runs: int = 20,
    flips: int = 1000,
    test: Test = "auto",
) -> parities.Parity:
    """Return the share of random selection's labels that a method needs for the same agreement.

    Below 1 the method saves labels; above 1 it is worse than a random sample.
    """
    part, _ = judged_part(data, truth)
    full = full_set(part, truth, seed=seed, flips=flips, test=test)
    if not as_selector(method).is_nested:
        raise UsageError(
            "Parity needs a method whose smaller choices lie inside its larger ones, over single items."
        )
    order = part.positions(select(part, method, "100%", seed=seed).items)
    wanted = default_shares(len(part)) if shares is None else shares
    random = parities.random_parity(full, measure=measure, shares=wanted, rule=rule, runs=runs, seed=seed)
    return random.of(order)


def default_shares(items: int) -> tuple[float, ...]:
    """Return the shares over which curves are drawn: larger ones for small sets, as published."""
    return curves.SMALL_SET_SHARES if items <= 100 else curves.SHARES


def _method_curve(
    data: EvalSet, full: FullSet, method: str | Method, sizes: Rows, measure: str, seed: int
) -> curves.Curve:
    if as_selector(method).is_nested:
        order = data.positions(select(data, method, "100%", seed=seed).items)
        return curves.curve(full, order, sizes, measure)
    points, reached = [], []
    for size in sizes:
        chosen = select(data, method, int(size), seed=seed)
        rows = data.positions(chosen.items)
        weighed = _weighed(full, chosen, data, rows)
        points.append(curves.curve(weighed, rows, [len(rows)], measure).values[0])
        reached.append(len(rows))
    return curves.Curve(measure, np.array(reached, np.int64), np.array(points), len(full))


def _weighed(full: FullSet, selection: Selection | Sequence[str], data: EvalSet, rows: Rows) -> FullSet:
    """Return the full set with the weights by which a selection's items count, the truth unchanged."""
    weights = _selection_weights(selection, data, rows)
    if weights is None:
        return full
    how = {"seed": full.seed, "flips": full.flips}
    return _Weighed(full.values, full.keys, **how, method=full.method, weights=weights, whole=full)


def _selection_weights(selection: Selection | Sequence[str], data: EvalSet, rows: Rows) -> Floats | None:
    """Return weights by which a selection's items stand for others; the other items keep theirs.

    Items with unequal inclusion probabilities weigh one over them, as every estimate of the whole set must;
    items that stand for clusters weigh as many items as the cluster has. None where all weigh the same.
    """
    if not isinstance(selection, Selection):
        return None
    own = np.ones(len(selection))
    if selection.weight is not None and selection.has_unequal_weights:
        own = own * selection.weight
    if selection.cluster_weight is not None:
        own = own * selection.cluster_weight
    if np.ptp(own) == 0:
        return None
    by_item = dict(zip(selection.items, own, strict=True))
    known = _importance(data)
    weights = np.ones(len(data)) if known is None else known.copy()
    weights[rows] *= [by_item[data.items[row]] for row in rows]
    return np.asarray(weights)


def _importance(data: EvalSet) -> Floats | None:
    """Return how much every item matters, where the set says so."""
    if fields.WEIGHT not in data.columns:
        return None
    weights = data.columns[fields.WEIGHT]
    if np.isnan(weights).any():
        lost = int(np.isnan(weights).sum())
        raise DataError(f"{lost} of {len(data)} items have no weight. Give every item one, or none.")
    return weights


def _models(data: EvalSet, full: FullSet, rows: Rows) -> tuple[ModelOutcome, ...]:
    means = model_means(full.values[rows], full.weights_of(rows))
    ranks, full_ranks = _ranks(means), _ranks(full.means)
    outcomes = [
        ModelOutcome(
            name, float(full.means[place]), full_ranks[place] or 0, float(means[place]), ranks[place]
        )
        for place, name in enumerate(data.models)
    ]
    return tuple(sorted(outcomes, key=lambda outcome: (outcome.full_rank, outcome.model)))


def _ranks(means: Floats) -> list[int | None]:
    """Return ranks from 1 for the best mean; equal means share the better rank, a missing one has none."""
    rounded = settled(means)
    return [None if np.isnan(mean) else 1 + int((rounded > mean).sum()) for mean in rounded]


def _pairs(full: FullSet, rows: Rows, tie: float) -> PairOutcome:
    whole, part = winners.pair_margins(full.values, tie), winners.pair_margins(full.values[rows], tie)
    tied = int((whole == 0).sum())
    decided = ~np.isnan(whole) & (whole != 0)
    if not decided.any():
        return PairOutcome(float("nan"), 0.0, float("nan"), tied)
    # A pair that the selection does not judge on any item has no lead there, and no winner is found.
    here = np.nan_to_num(np.sign(whole) * part, nan=0.0)[decided]
    return PairOutcome(
        success_rate=float((here > 0).mean()),
        distance=float(np.abs(whole[decided]).mean()),
        estimated_distance=float(here.mean()),
        tied=tied,
    )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _numbers(values: Floats) -> list[float | None]:
    return [_number(value) for value in values]


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _number(value) if isinstance(value, float) else value for name, value in values.items()}
