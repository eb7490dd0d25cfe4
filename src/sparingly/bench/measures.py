"""What a replay measures: how close the outcome of some judgements comes to that of judging everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.infer.estimate.full_set_p import full_set_p_values
from sparingly.infer.estimate.intervals import find_intervals
from sparingly.infer.estimate.pairs import interval_basis
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank import measures
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.rank import joint_of

ALPHA = 0.05
_BY_RANKING = ("pairwise_accuracy", "kendall_b", "top1_match", "rank_changes")
_ERROR = "mean_absolute_error"
Measures = dict[str, float | int | None]


@dataclass(frozen=True, eq=False)
class ReplayOutcome:
    """What some judgements say about the models."""

    scores: Floats  # the models' scores
    p_values: Floats  # one-sided p-values of all pairs, by which soft pairwise accuracy goes
    two_sided: Floats  # two-sided p-values of all pairs, by which pairs are called significant
    low: Floats | None = None  # the low ends of the intervals over this set, NaN where none is printed
    high: Floats | None = None  # the high ends
    ranked_by: Floats | None = None  # what the models are ranked by, where that is not their scores


def own_outcome(scores: Floats, p_values: Floats) -> ReplayOutcome:
    """Return the outcome of plain means and of the sign-flip test of the judged items, without intervals."""
    return ReplayOutcome(scores, p_values, 2.0 * np.minimum(p_values, 1.0 - p_values))


def estimate_outcome(estimate: Estimate, p_values: Floats, ranked_by: Floats | None = None) -> ReplayOutcome:
    """Return the outcome of an estimate for the population: its t tests, and its intervals over this set."""
    low, high = intervals_over_set(estimate)
    return ReplayOutcome(estimate.scores, p_values, t_p_values(estimate), low, high, ranked_by)


def t_p_values(estimate: Estimate) -> Floats:
    """Return the two-sided p-values of the ranking's t test; 1 where too few items tell nothing."""
    first, second = pair_indices(len(estimate.models))
    joint = joint_of(estimate)
    if not joint.has_errors:
        return np.ones(len(first))
    return np.nan_to_num(joint.tests().two_sided[first, second], nan=1.0)


def expected_p_values(estimate: Estimate) -> Floats:
    """Return the p-values that judging everything is expected to give, shrunk; NaN where none is known.

    Those of ``Estimate.full_set_p``, but also of pairs with fewer than 30 common items: too shaky to be shown
    to a user, on average they still come closer to the full set's than the p-values of the judged items.
    """
    first, second = pair_indices(len(estimate.models))
    pairs = estimate.pairs
    if pairs is None:
        return np.full(len(first), np.nan)
    errors = pairs.over_set.of_pairs(first, second)[0]
    if np.isnan(errors).all():
        return errors
    differences = estimate.scores[first] - estimate.scores[second]
    return full_set_p_values(differences, pairs.deviations(first, second), pairs.sample.size, errors=errors)


def intervals_over_set(estimate: Estimate) -> tuple[Floats, Floats]:
    """Return the 95 % intervals over this very set that an estimate for the population holds, too.

    They are those of the same estimate with ``target="set"``, which need not be computed again.
    """
    pairs = estimate.pairs
    if pairs is None:
        no_ends = np.full(len(estimate.models), np.nan)
        return no_ends, no_ends
    basis = interval_basis(estimate.models, estimate.scores, pairs.over_set, pairs.sample.is_complete)
    intervals = find_intervals(basis, estimate.level, "auto", pairs.seed)
    return intervals.low, intervals.high


def measure(outcome: ReplayOutcome, full_outcome: FullSet) -> Measures:
    """Return every measure of an outcome against judging everything, by its column of the table."""
    scores, truth = outcome.scores, full_outcome.means
    ranked_by = scores if outcome.ranked_by is None else outcome.ranked_by
    agreed = {name: float(measures.MEANS_MEASURES[name](ranked_by, truth)) for name in _BY_RANKING}
    error = float(measures.MEANS_MEASURES[_ERROR](scores, truth))
    first, second = pair_indices(len(truth))
    is_significant = outcome.two_sided < ALPHA
    has_wrong_sign = np.sign(scores[first] - scores[second]) * np.sign(truth[first] - truth[second]) < 0
    return {
        "soft_pairwise_accuracy": float(soft_pairwise_accuracy(outcome.p_values, full_outcome.p_values)),
        **agreed,
        "rank_changes": int(agreed["rank_changes"]),
        "pairwise_accuracy_tied": tied_accuracy(ranked_by, full_outcome),
        _ERROR: error,
        "bias": standardised_bias(scores, truth),
        **_coverage(outcome, truth),
        "pairs": len(first),
        "significant": int(is_significant.sum()),
        "wrong_sign": int((is_significant & has_wrong_sign).sum()),
    }


def tied_accuracy(scores: Floats, full_outcome: FullSet) -> float:
    """Return the share of pairs of models in the same order or tied on both sides, ties calibrated.

    acc_eq = (pairs in the same order + pairs tied twice) / all pairs (Deutsch et al. 2023). On the
    full set two models are tied where its two-sided sign-flip test does not tell them apart at .05; on the
    subset where their scores differ by no more than ε, with the ε among the subset's differences that
    agrees most. It tells whether a subset can also say which models are as good as each other.
    """
    first, second = pair_indices(len(scores))
    differences = np.nan_to_num(scores[first] - scores[second], nan=0.0)
    # The last bits of a difference hang on the order of summing.
    largest = float(np.abs(differences).max(initial=0.0)) or 1.0
    differences = np.asarray(np.round(differences / largest, 9), np.float64)
    p_values = full_outcome.p_values
    tied = 2.0 * np.minimum(p_values, 1.0 - p_values) >= ALPHA
    right = ~tied & (np.sign(differences) == np.sign(full_outcome.means[first] - full_outcome.means[second]))
    order = np.argsort(np.abs(differences), kind="stable")
    sizes = np.abs(differences)[order]
    # With the k smallest differences taken for ties: theirs that are ties, and the others in right order.
    hits = np.concatenate([[0], np.cumsum(tied[order])]) + right.sum()
    hits = hits - np.concatenate([[0], np.cumsum(right[order])])
    # Pairs that differ by the same are tied together; pairs without any difference always are.
    ends = np.append(sizes[1:] > sizes[:-1], True)
    allowed = np.concatenate([[sizes[0] > 0], ends])
    return float(hits[allowed].max() / len(differences))


def standardised_bias(scores: Floats, truth: Floats) -> float:
    """Return the mean over models of score − truth, in standard deviations of the models' true scores.

    Top-of-the-list selections are off by design: it tells by how much and in which direction.
    """
    spread = float(np.std(truth, ddof=1))
    judged = ~np.isnan(scores)
    if spread == 0 or not judged.any():
        return float("nan")
    return float((scores - truth)[judged].mean() / spread)


def _coverage(outcome: ReplayOutcome, truth: Floats) -> Measures:
    """Return how many intervals are printed, how many hold the full set's score, and their mean width."""
    if outcome.low is None or outcome.high is None:
        return {"intervals": 0, "covered": None, "width": None}
    printed = np.isfinite(outcome.low) & np.isfinite(outcome.high)
    # The last bits of a sum depend on the order of summing: exact intervals are a point.
    slack = 1e-9 * max(1.0, float(np.abs(truth).max()))
    inside = (outcome.low - slack <= truth) & (truth <= outcome.high + slack)
    count = int(printed.sum())
    width = float((outcome.high - outcome.low)[printed].mean()) if count else None
    return {"intervals": count, "covered": int((printed & inside).sum()), "width": width}
