"""What a ranking is made of: the models' scores, their joint covariance, and the judgements item by item."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, listing
from sparingly.base.format import counted
from sparingly.base.rng import Keys
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.intervals import LEAST
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.expected import asked_models
from sparingly.infer.rank.means import settled
from sparingly.infer.rank.pair_errors import checked, pair_errors, pair_tells
from sparingly.infer.rank.pair_tests import PairTests, t_tests

if TYPE_CHECKING:
    from sparingly.infer.estimate.bradley_terry import BradleyTerry

SAME = (
    "some models differ by the same amount on every judged item: the error of that difference is unknown, "
    "so nothing is decided between them."
)


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgements item by item: items × models, the items' keys, and how many items each stands for."""

    scores: Floats
    keys: Keys
    weights: Floats

    def of_models(self, places: list[int]) -> Judged:
        """Return the judgements of some models; an item with none of them is left out."""
        scores = self.scores[:, places]
        there = ~np.isnan(scores).all(axis=1)
        return Judged(scores[there], self.keys[there], self.weights[there])


@dataclass(frozen=True, eq=False)
class JointScores:
    """The models' scores, their joint covariance, and its degrees of freedom.

    ``certain`` says whether an error of 0 means that nothing is left to chance, ``units`` how many items (or
    documents) the error of each score is learned from, where that is known. ``p_values`` are the two-sided
    p-values that belong to the printed intervals of differences; None where Student's t has to do.
    """

    models: tuple[str, ...]
    scores: Floats
    covariance: Floats
    freedom: float
    certain: bool = True
    units: Floats | None = None
    p_values: Floats | None = None

    @property
    def has_same_differences(self) -> bool:
        """Whether two models differ by the same on every judged item, which is no proof."""
        apart = np.abs(self.scores[:, None] - self.scores[None, :]) > 0
        unknown = np.isfinite(pair_errors(self.covariance)) & ~pair_tells(self.covariance, self.scores)
        if self.p_values is not None:
            unknown &= ~(self.p_values < 1.0)
        return not self.certain and bool((apart & unknown).any())

    @property
    def has_errors(self) -> bool:
        """Whether the error of any difference is known."""
        known = np.isfinite(pair_errors(self.covariance))
        np.fill_diagonal(known, False)
        return self.freedom >= 1 and bool(known.any())

    @property
    def order(self) -> list[int]:
        """The models' places, best first; equal scores by name, those without a score last."""
        means = settled(self.scores)
        keys = [(bool(np.isnan(mean)), -mean, name) for mean, name in zip(means, self.models, strict=True)]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def of_models(self, places: NDArray[np.int64]) -> JointScores:
        """Return what there is of some models."""
        names = tuple(self.models[place] for place in places)
        inside = np.ix_(places, places)
        return replace(
            self,
            models=names,
            scores=self.scores[places],
            covariance=self.covariance[inside],
            units=None if self.units is None else self.units[places],
            p_values=None if self.p_values is None else self.p_values[inside],
        )

    def tests(self) -> PairTests:
        """Return the test of every pair by its error."""
        given = self.scores, self.covariance, self.freedom
        return t_tests(*given, certain=self.certain, two_sided=self.p_values)

    def scored(self) -> tuple[JointScores, tuple[str, ...]]:
        """Return the models that have a score, and what to say of the others and of unknown errors."""
        there = np.flatnonzero(~np.isnan(self.scores))
        if len(there) < 2:
            raise DataError("A ranking needs two models that were judged.")
        part = self.of_models(there)
        lost = [name for name, score in zip(self.models, self.scores, strict=True) if np.isnan(score)]
        notes = (f"not judged, so not ranked: {listing(lost)}.",) if lost else ()
        return part, (*notes, *((SAME,) if part.has_same_differences else ()))


def joint_of(found: Estimate) -> JointScores:
    """Return what an estimate tells; an error of 0 is certainty only where everything is judged."""
    certain = found.pairs is not None and found.pairs.whole
    freedom = math.inf if certain else found.freedom
    if found.pairs is None or certain:
        return JointScores(found.models, found.scores, found.covariance, freedom, certain)
    return JointScores(
        found.models,
        found.scores,
        found.covariance,
        freedom,
        certain,
        found.pairs.units,
        found.pair_p_values(),
    )


def joint_of_strengths(found: BradleyTerry) -> JointScores:
    """Return what comparisons tell of the models' strengths."""
    return JointScores(found.models, found.strengths, found.covariance, found.freedom, certain=False)


def joint_of_arrays(
    models: tuple[str, ...], scores: Floats, covariance: Floats, freedom: float
) -> JointScores:
    """Return given arrays; with finite degrees of freedom an error of 0 is no certainty."""
    return JointScores(models, *checked(scores, covariance), freedom, certain=math.isinf(freedom))


def joint_of_chosen(found: Estimate, judged: Judged) -> JointScores:
    """Return the means over the chosen items, by what they stand for, as if these were a sample.

    Σ̂_jk = n/(n − 1) Σ_i w_i² a_ij a_ik / (W_j W_k) with a the distance from the mean and W_j = Σ_i w_i over
    the items on which model j was judged.
    """
    there = ~np.isnan(judged.scores)
    share = there * judged.weights[:, None]
    if (there.sum(axis=0) < 2).any():
        raise DataError("Every model must be judged on two items or more to be ranked.")
    total = share.sum(axis=0)
    means = np.where(there, judged.scores, 0.0).T @ judged.weights / total
    away = np.where(there, judged.scores - means, 0.0) * share / total
    n = len(judged.scores)
    return JointScores(found.models, means, away.T @ away * n / (n - 1), float(n - 1), certain=False)


def judged_items(data: EvalSet, selection: Selection | None, aspect: str) -> Judged:
    """Return what was judged, of the items and models that the selection asks for."""
    scores = data.truth(aspect)
    if selection is None:
        return Judged(scores, data.keys, np.ones(len(data))).of_models(list(range(len(data.models))))
    rows, first = np.unique(data.positions(selection.items), return_index=True)
    weights = np.ones(len(rows)) if selection.cluster_weight is None else selection.cluster_weight[first]
    inside = np.where(asked_models(data, selection, rows), scores[rows], np.nan)
    return Judged(inside, data.keys[rows], weights).of_models(list(range(len(data.models))))


def check_errors(decisions: Estimate) -> None:
    """Say that too few units are judged to decide who is better, and what to do: another target, or more."""
    if joint_of(decisions).of_models(np.flatnonzero(~np.isnan(decisions.scores))).has_errors:
        return
    if decisions.pairs is None:
        raise DataError("These scores have no errors, so nothing can be decided between the models.")
    units, drawn = math.floor(decisions.pairs.errors.units), decisions.pairs.errors.drawn
    unit = "document" if "document" in drawn else "item"
    few = f"Only {counted(units, unit)} {'is' if units == 1 else 'are'} judged, too few to say"
    if decisions.target == "population" and decisions.pairs.sample.is_whole:
        raise DataError(
            f"{few} who is better on inputs like these; use --target set to rank the models on this set."
        )
    more = f"judge at least {LEAST}." if units < LEAST else "judge more."
    raise DataError(f"{few} who is better: {more}")
