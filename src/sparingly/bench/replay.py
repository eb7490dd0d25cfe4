"""Replay one method on one set with one seed, at several budgets, on known answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import SparinglyError, UsageError, one_line
from sparingly.base.registry import Method
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import prefix_pair_p_values
from sparingly.bench.grid import GridEntry, rounds_parameter, with_metric
from sparingly.bench.sets import ReplayData
from sparingly.choose.design.selector import Selector
from sparingly.choose.select import select
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.full_set_p import full_set_p_values
from sparingly.infer.estimate.intervals import find_intervals
from sparingly.infer.estimate.pairs import interval_basis
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank import measures
from sparingly.infer.rank.agreement import FullSet, selection_weights
from sparingly.infer.rank.curve import sizes_of
from sparingly.infer.rank.measures import model_means, prefix_means
from sparingly.infer.rank.rank import joint_of
from sparingly.run.rounds.replay import replay_until
from sparingly.run.rounds.strategy import Strategy, asked_cells

COMPLETED, NOT_APPLICABLE, FAILED = "done", "not_applicable", "failed"


@dataclass(frozen=True, eq=False)
class ReplayJudgements:
    """What was judged at one budget, and what follows from it."""

    mask: Mask  # items × models: what was judged
    signature: str  # of the selection, or of the last round
    chosen: Selection | None = None  # the selection, where there is one
    estimate: Estimate | None = None  # the estimate for the population, where there is one
    # Returns the p-values that judging everything is expected to give.
    expected: Callable[[], tuple[Floats, Floats | None]] | None = None
    # The number of judged outputs at which a stop ended it; None where none did.
    stopped_at: int | None = None


@dataclass(frozen=True, eq=False)
class ReplayCell:
    """A budget of a replay: how it ended, what was measured, and how long it took."""

    share: float
    status: str = COMPLETED
    seconds: float = 0.0
    reason: str | None = None
    signature: str | None = None
    labels: int | None = None
    annotation_seconds: float | None = None
    stopped_at: int | None = None
    measures: Measures | None = None


def replay_entry(part: ReplayData, entry: GridEntry, shares: Sequence[float], seed: int) -> list[ReplayCell]:
    """Replay an entry at some budgets; the cell says why where the method does not apply or fails."""
    _ = part.full_outcome.p_values  # computed once for all methods, so that none of them is charged for it
    sizes = sizes_of(shares, len(part.data))
    try:
        method = entry.make_method(part.judged.metric)
    except SparinglyError as error:
        return [_empty_cell(share, NOT_APPLICABLE, error) for share in shares]
    if isinstance(method, Selector) and method.is_nested and entry.estimator is None:
        return _guarded(shares, lambda: list(_along_list(part, method, shares, sizes, seed)))
    return [
        _guarded([share], partial(_replay_at_budget, part, entry, share, int(size), seed))[0]
        for share, size in zip(shares, sizes, strict=True)
    ]


def _guarded(shares: Sequence[float], play: Callable[[], list[ReplayCell]]) -> list[ReplayCell]:
    """Return the cells of some budgets, or cells that say why they are empty."""
    try:
        return play()
    except SparinglyError as error:
        return [_empty_cell(share, NOT_APPLICABLE, error) for share in shares]
    except Exception as error:  # one method that fails must not end a run of hours
        return [_empty_cell(share, FAILED, f"{type(error).__name__}: {error}") for share in shares]


def _empty_cell(share: float, status: str, reason: object) -> ReplayCell:
    return ReplayCell(share, status, reason=one_line(" ".join(str(reason).split())))


def _cell(part: ReplayData, share: float, mask: Mask, outcome: ReplayOutcome, **more: Any) -> ReplayCell:
    labels = part.questions(mask)
    seconds = None if part.seconds is None else float(part.seconds @ labels)
    measures = measure(outcome, part.full_outcome)
    return ReplayCell(share, labels=int(labels.sum()), annotation_seconds=seconds, measures=measures, **more)


def _along_list(
    part: ReplayData, method: Selector, shares: Sequence[float], sizes: Ints, seed: int
) -> Iterator[ReplayCell]:
    """Yield the cells of an ordered list at all sizes, computed in one pass."""
    start = time.perf_counter()
    selection = select(part.unlabelled, method, "100%", seed=seed)
    full_outcome, order = part.full_outcome, part.data.positions(selection.items)[: int(sizes.max())]
    scores, weights = full_outcome.values[order], full_outcome.weights_of(order)
    p_values = prefix_pair_p_values(
        scores,
        sizes,
        keys=full_outcome.keys[order],
        seed=full_outcome.seed,
        flips=full_outcome.flips,
        method=full_outcome.method,
        weights=weights,
    )
    means = prefix_means(scores, sizes, weights)
    seconds = (time.perf_counter() - start) / len(sizes)
    for share, size, mean, p_value in zip(shares, sizes, means, p_values, strict=True):
        mask: Mask = np.zeros(full_outcome.values.shape, bool)
        mask[order[:size]] = True
        signature = str(replace(selection.signature, budget=str(size), n=int(size)))
        yield _cell(part, share, mask, own_outcome(mean, p_value), seconds=seconds, signature=signature)


def _replay_at_budget(
    part: ReplayData, entry: GridEntry, share: float, count: int, seed: int
) -> list[ReplayCell]:
    """Return the cell of one budget; entries that differ only in p-values share the judgements."""
    judgements, spent = _judge_at_budget(part, entry.plan, count, seed)
    start = time.perf_counter()
    if judgements.estimate is None or judgements.expected is None:
        outcome = _sign_flip_outcome(part, judgements)
    elif entry.p_values == "own":
        outcome = estimate_outcome(judgements.estimate, _sign_flip_outcome(part, judgements).p_values)
    else:
        p_values, ranked_by = judgements.expected()
        if np.isnan(p_values).any():
            # Where none can be expected (no error is known, or two models have no two items in common), that
            # of the judged items stands in its place.
            own_p_values = _sign_flip_outcome(part, judgements).p_values
            p_values = np.where(np.isnan(p_values), own_p_values, p_values)
        outcome = estimate_outcome(judgements.estimate, p_values, ranked_by)
    spent += time.perf_counter() - start
    details = {"signature": judgements.signature, "stopped_at": judgements.stopped_at}
    return [_cell(part, share, judgements.mask, outcome, seconds=spent, **details)]


@lru_cache(maxsize=16)
def _judge_at_budget(
    part: ReplayData, plan: GridEntry, count: int, seed: int
) -> tuple[ReplayJudgements, float]:
    """Return what is judged and estimated at one budget, and the seconds that it took."""
    start = time.perf_counter()
    method = plan.make_method(part.judged.metric)
    play = _in_rounds if isinstance(method, Strategy) else _at_once
    judgements = play(part, plan, method, count, seed)
    return judgements, time.perf_counter() - start


def _at_once(part: ReplayData, plan: GridEntry, method: Method, count: int, seed: int) -> ReplayJudgements:
    """Return the judgements of one selection."""
    chosen = select(part.unlabelled, method, count, seed=seed)
    mask, signature = asked_cells(part.data, [chosen]), str(chosen.signature)
    if plan.estimator is None:
        return ReplayJudgements(mask, signature, chosen)
    if not chosen.is_probability_sample:
        raise UsageError(f"{method.name} draws without known probabilities, so no estimator can be used.")
    scores = estimate(
        part.data.reveal(mask),
        chosen,
        part.truth,
        estimator=with_metric(plan.estimator, part.judged.metric),
        target="population",
        interval="none",
        seed=seed,
    )
    return ReplayJudgements(mask, signature, chosen, scores, lambda: (expected_p_values(scores), None))


def _in_rounds(part: ReplayData, plan: GridEntry, method: Method, count: int, seed: int) -> ReplayJudgements:
    """Return the judgements of a strategy after its last round, or where its stop ended it."""
    divides = isinstance(method, Strategy) and rounds_parameter(method) is not None
    size = None if divides or plan.rounds is None else -(-count // plan.rounds)
    stops = [] if plan.stop is None else [plan.stop]
    replayed = replay_until(part.data, method, count, stops, truth=part.truth, size=size, seed=seed)
    state, strategy = replayed.look.state, replayed.look.strategy
    if not state.rounds:
        raise UsageError(f"{strategy.name} asks for nothing with {count} items: {replayed.look.finished}.")
    if any(selection.pairs is not None for selection in state.rounds):
        raise UsageError(f"{strategy.name} asks for comparisons, and the replay has scores.")
    spent = None if replayed.stopped is None else int(part.questions(state.asked).sum())
    judgements = ReplayJudgements(state.asked, str(state.rounds[-1].signature), stopped_at=spent)
    if not strategy.gives_scores:
        return judgements
    options = {} if plan.estimator is None else {"estimator": with_metric(plan.estimator, part.judged.metric)}
    scores = strategy.estimate(state, target="population", interval="none", seed=seed, **options)

    def expected() -> tuple[Floats, Floats | None]:
        expectation = strategy.expected(state)
        return (
            (expected_p_values(scores), None)
            if expectation is None
            else (expectation.p_values, expectation.scores)
        )

    return replace(judgements, estimate=scores, expected=expected)


def _sign_flip_outcome(part: ReplayData, judgements: ReplayJudgements) -> ReplayOutcome:
    """Return the means and the sign-flip test of what was judged, weighed as the selection weighs items."""
    rows = np.flatnonzero(judgements.mask.any(axis=1))
    full_outcome = part.full_outcome
    scores = np.where(judgements.mask, full_outcome.values, np.nan)[rows]
    weights = full_outcome.weights_of(rows)
    if judgements.chosen is not None:
        weights = selection_weights(judgements.chosen, part.data, rows)
    p_values = full_outcome.p_values_of(scores, full_outcome.keys[rows], weights)
    return own_outcome(model_means(scores, weights), p_values)


# --- what a replay measures: how close the outcome of some judgements comes to that of judging everything ---


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
