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
from sparingly.base.stats.sign_flip import prefix_pair_p_values
from sparingly.bench.grid import GridEntry, rounds_parameter, with_metric
from sparingly.bench.measures import (
    Measures,
    ReplayOutcome,
    estimate_outcome,
    expected_p_values,
    measure,
    own_outcome,
)
from sparingly.bench.sets import ReplayData
from sparingly.choose.design.selector import Selector
from sparingly.choose.select import select
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.agreement import with_selection_weights
from sparingly.infer.rank.curve import sizes_of
from sparingly.infer.rank.measures import model_means, prefix_means
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
    ended = replay_until(part.data, method, count, stops, truth=part.truth, size=size, seed=seed)
    state, strategy = ended.look.state, ended.look.strategy
    if not state.rounds:
        raise UsageError(f"{strategy.name} asks for nothing with {count} items: {ended.look.finished}.")
    if any(selection.pairs is not None for selection in state.rounds):
        raise UsageError(f"{strategy.name} asks for comparisons, and the replay has scores.")
    spent = None if ended.stopped is None else int(part.questions(state.asked).sum())
    judgements = ReplayJudgements(state.asked, str(state.rounds[-1].signature), stopped_at=spent)
    if not strategy.gives_scores:
        return judgements
    options = {} if plan.estimator is None else {"estimator": with_metric(plan.estimator, part.judged.metric)}
    scores = strategy.estimate(state, target="population", interval="none", seed=seed, **options)

    def expected() -> tuple[Floats, Floats | None]:
        said = strategy.expected(state)
        return (expected_p_values(scores), None) if said is None else (said.p_values, said.scores)

    return replace(judgements, estimate=scores, expected=expected)


def _sign_flip_outcome(part: ReplayData, judgements: ReplayJudgements) -> ReplayOutcome:
    """Return the means and the sign-flip test of what was judged, weighed as the selection weighs items."""
    rows = np.flatnonzero(judgements.mask.any(axis=1))
    full_outcome = part.full_outcome
    if judgements.chosen is not None:
        full_outcome = with_selection_weights(full_outcome, judgements.chosen, part.data, rows)
    scores = np.where(judgements.mask, full_outcome.values, np.nan)[rows]
    weights = full_outcome.weights_of(rows)
    p_values = full_outcome.p_values_of(scores, full_outcome.keys[rows], weights)
    return own_outcome(model_means(scores, weights), p_values)
