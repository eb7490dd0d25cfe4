"""Selections and methods held against the full set: what judging everything would have said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError, listing
from sparingly.base.format import counted, html_table
from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.base.stats.sign_flip import Method as Test
from sparingly.choose.crowd import Judge, Sides, sides_of
from sparingly.choose.select import as_selector, select
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import RANKING_ONLY, Selection
from sparingly.infer.rank import curve as curves
from sparingly.infer.rank import curve as parities
from sparingly.infer.rank import winners
from sparingly.infer.rank.agreement import (
    Agreement,
    Asked,
    FullSet,
    agreement_with,
    asked_of,
    importance,
    weighed,
)
from sparingly.infer.rank.measures import model_means, settled

# Outcomes of an evaluation: models by their means, pairs of models by their winners, all against chosen.


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


def model_outcomes(data: EvalSet, full: FullSet, asked: Asked) -> tuple[ModelOutcome, ...]:
    """Return every model's mean and rank, best on the whole set first."""
    means = model_means(asked.scores(full.values), full.weights_of(asked.rows))
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


def pair_outcome(full: FullSet, asked: Asked, tie: float) -> PairOutcome:
    """Return how many of the whole set's winners of pairs a selection finds, and by how much they lead."""
    whole = winners.pair_margins(full.values, tie)
    part = winners.pair_margins(asked.scores(full.values), tie)
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


# Selections and methods held against the full set: what judging everything would have said.


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


def full_set(data: EvalSet, truth: str, *, seed: int = 0, flips: int = 1000, test: Test = "auto") -> FullSet:
    """Return the outcome of judging everything by a truth, with what is computed from it kept."""
    values = data.truth(truth)
    return FullSet(values, data.keys, seed=seed, flips=flips, method=test, weights=importance(data))


@dataclass(frozen=True)
class Replay:
    """A judged set on which a method is run again.

    Attributes:
        part: The items and models that are judged.
        seen: The same items, with the models that the method may look at.
        crowd: The models that it does look at, where these are not all it may.
    """

    part: EvalSet
    seen: EvalSet
    crowd: tuple[str, ...] = ()

    def select(self, method: str | Method, budget: Any, seed: int, rows: Ints | None = None) -> Selection:
        """Run the method on the items, or on those at some rows."""
        view = self.seen if rows is None else self.seen.at(rows)
        return select(view, method, budget, seed=seed, crowd=self.crowd or None, judge="all")


def replay(data: EvalSet, truth: str, crowd: Iterable[str] | None = None, judge: Judge = "rest") -> Replay:
    """Return what a method is run again on: with a crowd it looks at some models and others are judged."""
    sides = sides_of(data, crowd, judge)
    part, _ = judged_part(sides.of_judged(data), truth)
    return Replay(part, part) if sides == Sides() else Replay(part, data.take(items=part.items), sides.crowd)


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
    data, said = _of_judged(data, selection)
    part, notes = judged_part(data, truth)
    notes = (*said, *notes)
    full = full_set(part, truth, seed=seed, flips=flips, test=test)
    ids = list(selection.items if isinstance(selection, Selection) else selection)
    data.positions(ids)
    asked = asked_of(selection, part, full.values)
    if not len(asked.rows):
        raise DataError(f"No item of the selection has a score by {truth}.")
    if lost := len(set(ids).difference(part.items)):
        notes = (*notes, f"{counted(lost, 'item')} of the selection without a score by {truth}.")
    if isinstance(selection, Selection) and not selection.is_probability_sample:
        notes = (*notes, RANKING_ONLY)
    full = weighed(full, selection, part, asked.rows)
    return Comparison(
        truth,
        model_outcomes(part, full, asked),
        agreement_with(full, asked.rows, subset_values=asked.values),
        pair_outcome(full, asked, tie),
        (*notes, *asked.notes(full.values)),
    )


def _of_judged(data: EvalSet, selection: Selection | Sequence[str]) -> tuple[EvalSet, tuple[str, ...]]:
    """Return the set with no other models than those that a selection judges, and say so."""
    judged = selection.judged if isinstance(selection, Selection) else None
    if judged is None or set(judged) == set(data.models):
        return data, ()
    part = data.take(models=judged)
    count = f"{len(part.models)} of {len(data.models)} models"
    return part, (f"Only the {count} that the selection judges are compared: {listing(part.models)}.",)


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
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> CurveComparison:
    """Return a method's agreement with the whole set over budgets, beside random selection's.

    Shares are 5 to 50 % by default (25 to 75 % for sets of 100 items or fewer, as published). The tests on
    the whole set are done once. Random selection is the mean of ``runs`` draws with its 90 % t interval.
    With a ``crowd`` the method sees these models only, and both are measured on the models to ``judge``.
    """
    if runs < 1:
        raise UsageError(f"A curve needs at least one random run, not {runs}.")
    again = replay(data, truth, crowd, judge)
    full = full_set(again.part, truth, seed=seed, flips=flips, test=test)
    wanted = default_shares(len(full)) if shares is None else shares
    sizes = curves.sizes_of(wanted, len(full))
    drawn = method_curve(again, full, method, sizes, measure, seed)
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
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> parities.Parity:
    """Return the share of random selection's labels that a method needs for the same agreement.

    Below 1 the method saves labels; above 1 it is worse than a random sample. With a ``crowd`` the method
    sees these models only, and both are measured on the models to ``judge``.
    """
    again = replay(data, truth, crowd, judge)
    full = full_set(again.part, truth, seed=seed, flips=flips, test=test)
    if not as_selector(method).is_nested:
        raise UsageError(
            "Parity needs a method whose smaller choices lie inside its larger ones, over single items."
        )
    order = again.part.positions(again.select(method, "100%", seed).items)
    wanted = default_shares(len(full)) if shares is None else shares
    random = parities.random_parity(full, measure=measure, shares=wanted, rule=rule, runs=runs, seed=seed)
    return random.of(order)


def default_shares(items: int) -> tuple[float, ...]:
    """Return the shares over which curves are drawn: larger ones for small sets, as published."""
    return curves.SMALL_SET_SHARES if items <= 100 else curves.SHARES


def method_curve(
    again: Replay, full: FullSet, method: str | Method, sizes: Ints, measure: str, seed: int
) -> curves.Curve:
    """Return a method's agreement with the whole set over sizes."""
    if as_selector(method).is_nested:
        order = again.part.positions(again.select(method, "100%", seed).items)
        return curves.curve(full, order, sizes, measure)
    points, reached = [], []
    for size in sizes:
        chosen = again.select(method, int(size), seed)
        asked = asked_of(chosen, again.part, full.values)
        counted, count = weighed(full, chosen, again.part, asked.rows), len(asked.rows)
        point = curves.curve(counted, asked.rows, [count], measure, subset_values=asked.values)
        points.append(point.values[0])
        reached.append(count if asked.values is None else round(float(asked.counts(full.values).mean())))
    return curves.Curve(measure, np.array(reached, np.int64), np.array(points), len(full))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _numbers(values: Floats) -> list[float | None]:
    return [_number(value) for value in values]


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _number(value) if isinstance(value, float) else value for name, value in values.items()}
