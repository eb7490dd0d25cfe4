"""Which of two models is better: decided once for all pairs; ranks, groups and sentences follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.checks import check_alpha
from sparingly.base.errors import UsageError
from sparingly.base.lazy import stats
from sparingly.base.stats.pairs import pair_indices, shaffer
from sparingly.infer.rank.measures import round_means

GroupsBy = Literal["decisions", "algorithm1", "mt_metrics_eval"]
_NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, eq=False)
class Decisions:
    """Which models are better than which; the probability of any false decision is at most α."""

    better: Mask  # models × models: whether the model of the row is decided better than that of the column
    adjusted: Floats  # models × models: the p-values corrected for all pairs, NaN where no test was made
    scores: Floats  # the models' scores, NaN for a model without one
    alpha: float  # the error rate

    @property
    def pairs(self) -> int:
        """The number of pairs of models, tested or not."""
        return len(self.better) * (len(self.better) - 1) // 2

    @property
    def decided(self) -> int:
        """The number of pairs that differ significantly."""
        return int(self.better.sum())

    @cached_property
    def best_rank(self) -> Ints:
        """The best rank that is not ruled out: 1 + the number of models decided to be better."""
        return np.asarray(1 + self.better.sum(axis=0))

    @cached_property
    def worst_rank(self) -> Ints:
        """The worst rank that is not ruled out: M − the number of models decided to be worse."""
        return np.asarray(len(self.better) - self.better.sum(axis=1))

    @cached_property
    def group(self) -> Ints:
        """Groups from 1, the best; 0 for a model without a score.

        A border lies between two neighbours in the order of scores where every model above is decided better
        than every model below it. Without such a border all models are in one group, whatever pairs differ.
        """
        order = np.lexsort((np.arange(len(self.scores)), -round_means(self.scores)))
        order = order[~np.isnan(self.scores[order])]
        inside = self.better[np.ix_(order, order)]
        # The first column from which on a row is decided to the end, greatest over the rows so far.
        undecided = np.where(inside, 0, np.arange(1, len(order) + 1)).max(axis=1, initial=0)
        reach = np.maximum.accumulate(undecided)
        opens = np.concatenate([[1], reach[:-1] <= np.arange(1, len(order))]).astype(np.int64)
        group = np.zeros(len(self.scores), np.int64)
        group[order] = np.cumsum(opens)[: len(order)]
        return group

    @property
    def sentence(self) -> str:
        """Say which groups there are, and how many pairs differ."""
        groups = int(self.group.max(initial=0))
        if self.pairs == 1:
            return f"The two models {'differ' if self.decided else 'do not differ'} significantly."
        if self.decided == 0:
            return f"No two models differ significantly ({self.pairs} pairs)."
        if self.decided == self.pairs:
            return f"All {self.pairs} pairs of models differ significantly."
        verb = "differs" if self.decided == 1 else "differ"
        differ = f"{self.decided:,} of {self.pairs:,} pairs {verb} significantly"
        if groups < 2:
            return f"No clear-cut groups yet; {differ}."
        count = _NUMERALS[groups] if groups < len(_NUMERALS) else str(groups)
        return f"{count.capitalize()} groups of models are clearly separated; {differ}."


def decide(p_values: Floats, scores: Floats, *, alpha: float = 0.05) -> Decisions:
    """Decide for every pair whether one is better; any decision is false with a probability of at most α.

    The p-values (two-sided, models × models; NaN where two models were never compared, which stay undecided)
    are corrected for all pairs by Shaffer's (1986) static step-down, which decides all that Holm's does and
    holds under any dependence. Where the corrected p-value is at most α, the model with the higher score is
    decided to be better. Everything that is claimed of models follows from these decisions: their possible
    ranks, groups, and who may be the best.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores, covariance = np.array([3.0, 2.9, 1.0]), 0.01 * np.eye(3)
        >>> from sparingly.infer.rank.pair_tests import t_tests
        >>> found = decide(t_tests(scores, covariance).two_sided, scores)
        >>> found.best_rank.tolist(), found.worst_rank.tolist(), found.group.tolist()
        ([1, 1, 3], [2, 2, 3], [1, 1, 2])
        >>> found.sentence
        'Two groups of models are clearly separated; 2 of 3 pairs differ significantly.'
    """
    check_alpha(alpha)
    scores, p_values = np.asarray(scores, np.float64), np.asarray(p_values, np.float64)
    count = len(scores) if scores.ndim == 1 else -1
    if p_values.shape != (count, count):
        raise UsageError(
            f"Decisions need one score per model and p-values of all pairs, not {scores.shape} "
            f"and {p_values.shape}."
        )
    first, second = pair_indices(count)
    adjusted = np.full((count, count), np.nan)
    adjusted[first, second] = adjusted[second, first] = shaffer(p_values[first, second])
    rounded = round_means(scores)
    better = (adjusted <= alpha) & (rounded[:, None] > rounded[None, :])
    return Decisions(better, adjusted, scores, alpha)


# --- groups by published rules ---


def published_groups(order: Ints, worse: Floats, rule: GroupsBy, *, alpha: float = 0.05) -> Ints:
    """Return groups by a published rule, without a correction for many tests, from the models best first.

    ``worse[j, k]`` is the one-sided p-value that model j is worse than model k. By ``algorithm1`` of Zouhar
    et al. 2025 a model opens a group when it is worse than the one before: a long list of small steps gives
    more groups than are there. By ``mt_metrics_eval`` a group opens as soon as any member of the last one is
    better, so that models of one group are not significantly worse than any other of it (p ≤ α counts as
    significant, as published).
    """
    check_alpha(alpha)
    group = np.zeros(len(worse), np.int64)
    members: list[int] = []
    current = 0
    for model in order.tolist():
        last_only = rule == "algorithm1"
        p = worse[model, members[-1:] if last_only else members]
        beaten = (p < alpha).any() if last_only else (p <= alpha).any()
        if not members or beaten:
            current, members = current + 1, []
        members.append(model)
        group[model] = current
    return group


# --- tests with a margin: non-inferiority and equivalence ---

ClaimKind = Literal["non-inferior", "equivalent", "superior"]


@dataclass(frozen=True)
class MarginTest:
    """The answer to a question with a margin about one model ``against`` another."""

    # ``non-inferior``: not worse by the margin or more; ``equivalent``: within the margin on both sides;
    # ``superior``: better by more than the margin.
    question: ClaimKind
    model: str
    against: str
    margin: float  # the margin, in the unit of the scores
    # Score of ``model`` minus score of ``against``, and its standard error.
    difference: float
    error: float
    p_value: float  # the p-value of the test; the larger of two for equivalence
    alpha: float  # the error rate

    @property
    def shown(self) -> bool:
        """Whether the judgements show it; what is not shown is not disproved."""
        return self.p_value < self.alpha

    def __str__(self) -> str:
        verb = "is" if self.shown else "was not shown to be"
        by = "by more than" if self.question == "superior" else "within"
        return (
            f"{self.model} {verb} {self.question} to {self.against} {by} {self.margin:g} "
            f"(difference {self.difference:.4g}, standard error {self.error:.3g}, p = {self.p_value:.3g})"
        )


def margin_test(
    question: ClaimKind,
    difference: float,
    error: float,
    margin: float,
    *,
    degrees: float = math.inf,
    alpha: float = 0.05,
    model: str = "model",
    against: str = "other",
    certain: bool = True,
) -> MarginTest:
    """Test a question with a margin from an estimated difference and its standard error.

    Non-inferiority: H₀ d ≤ −m, t = (d̂ + m)/se. Superiority: H₀ d ≤ m, t = (d̂ − m)/se. Equivalence: two
    one-sided tests (Schuirmann 1987), both must reject; their larger p-value is given. A release gate asks
    for non-inferiority with the margin that users would not notice. An error of 0 decides only where nothing
    is left to chance (``certain``); else it shows nothing.

    Examples:
        >>> import sparingly
        >>> margin_test("non-inferior", difference=-0.5, error=0.4, margin=2.0).shown
        True
    """
    if not math.isfinite(margin) or margin < 0 or (margin == 0 and question == "equivalent"):
        raise UsageError(f"The margin is a number above zero in the unit of the scores, not {margin:g}.")
    if not math.isfinite(difference) or not error >= 0:
        raise UsageError(f"{model} and {against} have no known difference, so no margin can be tested.")
    above, below, beyond = (
        _upper_tail(distance, error, degrees) if certain or error > 0 else 1.0
        for distance in (difference + margin, margin - difference, difference - margin)
    )
    p_value = {"non-inferior": above, "equivalent": max(above, below), "superior": beyond}[question]
    return MarginTest(question, model, against, margin, difference, error, p_value, alpha)


def _upper_tail(distance: float, error: float, degrees: float) -> float:
    """Return P(T > distance / error); without any error the sign of the distance decides."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    ratio = distance / error
    return float(stats.norm.sf(ratio) if math.isinf(degrees) else stats.t.sf(ratio, degrees))
