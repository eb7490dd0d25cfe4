"""One method on one set with one seed, played back at several budgets on answers that are known."""

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
from sparingly.bench.grid import Entry, rounds_parameter, with_metric
from sparingly.bench.measures import (
    Measures,
    Outcome,
    estimate_outcome,
    expected_p_values,
    measured,
    own_outcome,
)
from sparingly.bench.sets import Part
from sparingly.choose.design.selector import Selector
from sparingly.choose.select import select
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.agreement import with_selection_weights
from sparingly.infer.rank.curve import sizes_of
from sparingly.infer.rank.measures import model_means, prefix_means
from sparingly.run.rounds.replay import ReplayRound, replay
from sparingly.run.rounds.stop.base import Progress, first_stop
from sparingly.run.rounds.strategy import State, Strategy, asked_cells

DONE, NOT_APPLICABLE, FAILED = "done", "not_applicable", "failed"


@dataclass(frozen=True, eq=False)
class Judgements:
    """What was judged at one budget, and what is known from it.

    Attributes:
        asked: items × models: what was judged.
        signature: Of the selection, or of the last round.
        chosen: The selection, where there is one.
        found: The estimate for the population, where there is one.
        expected: Returns the p-values that judging everything is expected to give.
        stopped_at: The number of judged outputs at which a stop ended it; None where none did.
    """

    asked: Mask
    signature: str
    chosen: Selection | None = None
    found: Estimate | None = None
    expected: Callable[[], Floats] | None = None
    stopped_at: int | None = None


@dataclass(frozen=True, eq=False)
class Cell:
    """A budget of a replay: how it ended, what was measured, and how long it took."""

    share: float
    status: str = DONE
    seconds: float = 0.0
    reason: str | None = None
    signature: str | None = None
    labels: int | None = None
    annotation_seconds: float | None = None
    stopped_at: int | None = None
    measures: Measures | None = None


def replay_entry(part: Part, entry: Entry, shares: Sequence[float], seed: int) -> list[Cell]:
    """Play an entry back at some budgets; what the set cannot serve, and what fails, is told in the cell."""
    _ = part.full.p_values  # shared by all methods, so none of them is charged for it
    sizes = sizes_of(shares, len(part.data))
    try:
        method = entry.made(part.judged.metric)
    except SparinglyError as error:
        return [_ended(share, NOT_APPLICABLE, error) for share in shares]
    if isinstance(method, Selector) and method.is_nested and entry.estimator is None:
        return _guarded(shares, lambda: list(_along_list(part, method, shares, sizes, seed)))
    return [
        _guarded([share], partial(_at_one, part, entry, share, int(size), seed))[0]
        for share, size in zip(shares, sizes, strict=True)
    ]


def _guarded(shares: Sequence[float], play: Callable[[], list[Cell]]) -> list[Cell]:
    """Return the cells of some budgets, or cells that tell why there is nothing."""
    try:
        return play()
    except SparinglyError as error:
        return [_ended(share, NOT_APPLICABLE, error) for share in shares]
    except Exception as error:  # one method that fails must not end a run of hours
        return [_ended(share, FAILED, f"{type(error).__name__}: {error}") for share in shares]


def _ended(share: float, status: str, reason: object) -> Cell:
    return Cell(share, status, reason=one_line(" ".join(str(reason).split())))


def _cell(part: Part, share: float, asked: Mask, outcome: Outcome, **more: Any) -> Cell:
    labels = asked.sum(axis=1)
    seconds = None if part.seconds is None else float(part.seconds @ labels)
    measures = measured(outcome, part.full)
    return Cell(share, labels=int(labels.sum()), annotation_seconds=seconds, measures=measures, **more)


def _along_list(
    part: Part, method: Selector, shares: Sequence[float], sizes: Ints, seed: int
) -> Iterator[Cell]:
    """Yield what the first items of a list say, at all sizes in one pass over them."""
    start = time.perf_counter()
    whole = select(part.seen, method, "100%", seed=seed)
    full, order = part.full, part.data.positions(whole.items)[: int(sizes.max())]
    scores, weights = full.values[order], full.weights_of(order)
    p_values = prefix_pair_p_values(
        scores,
        sizes,
        keys=full.keys[order],
        seed=full.seed,
        flips=full.flips,
        method=full.method,
        weights=weights,
    )
    means = prefix_means(scores, sizes, weights)
    seconds = (time.perf_counter() - start) / len(sizes)
    for share, size, mean, p_value in zip(shares, sizes, means, p_values, strict=True):
        asked: Mask = np.zeros(full.values.shape, bool)
        asked[order[:size]] = True
        signature = str(replace(whole.signature, budget=str(size), n=int(size)))
        yield _cell(part, share, asked, own_outcome(mean, p_value), seconds=seconds, signature=signature)


def _at_one(part: Part, entry: Entry, share: float, count: int, seed: int) -> list[Cell]:
    """Return the cell of one budget; entries that differ by their p-values share what was judged."""
    held, spent = _judged(part, entry.plan, count, seed)
    start = time.perf_counter()
    own = _own(part, held) if held.found is None or entry.p_values == "own" else None
    if held.found is None:
        assert own is not None  # noqa: S101 - without an estimate there are only the items' own p-values
        outcome = own
    else:
        outcome = estimate_outcome(held.found, _expected(part, held) if own is None else own.p_values)
    spent += time.perf_counter() - start
    told = {"signature": held.signature, "stopped_at": held.stopped_at}
    return [_cell(part, share, held.asked, outcome, seconds=spent, **told)]


@lru_cache(maxsize=16)
def _judged(part: Part, plan: Entry, count: int, seed: int) -> tuple[Judgements, float]:
    """Return what is judged and estimated at one budget, and the seconds that it took."""
    start = time.perf_counter()
    method = plan.made(part.judged.metric)
    play = _in_rounds if isinstance(method, Strategy) else _at_once
    held = play(part, plan, method, count, seed)
    return held, time.perf_counter() - start


def _at_once(part: Part, plan: Entry, method: Method, count: int, seed: int) -> Judgements:
    """Return what one selection says."""
    chosen = select(part.seen, method, count, seed=seed)
    asked, signature = asked_cells(part.data, [chosen]), str(chosen.signature)
    if plan.estimator is None:
        return Judgements(asked, signature, chosen)
    if not chosen.is_probability_sample:
        raise UsageError(f"{method.name} draws without chances, so no estimator can be used.")
    found = estimate(
        part.data.reveal(asked),
        chosen,
        part.truth,
        estimator=with_metric(plan.estimator, part.judged.metric),
        target="population",
        interval="none",
        seed=seed,
    )
    return Judgements(asked, signature, chosen, found, partial(expected_p_values, found))


def _in_rounds(part: Part, plan: Entry, method: Method, count: int, seed: int) -> Judgements:
    """Return what a strategy says at the end of its rounds, or where its stop ended it."""
    size = _round_size(method, plan.rounds, count)
    look, stopped = _last(replay(part.data, method, count, truth=part.truth, size=size, seed=seed), plan.stop)
    state, strategy = look.state, look.strategy
    if not state.rounds:
        raise UsageError(f"{strategy.name} asks for nothing with {count} items: {look.finished}.")
    if any(one.pairs is not None for one in state.rounds):
        raise UsageError(f"{strategy.name} asks for comparisons, and the replay has scores.")
    held = Judgements(
        state.asked, str(state.rounds[-1].signature), stopped_at=state.spent if stopped else None
    )
    if not strategy.gives_scores:
        return held
    asked = {} if plan.estimator is None else {"estimator": with_metric(plan.estimator, part.judged.metric)}
    found = strategy.estimate(state, target="population", interval="none", seed=seed, **asked)
    return replace(held, found=found, expected=lambda: _expected_by(strategy, state, found))


def _round_size(method: Method, rounds: int | None, count: int) -> int | None:
    """Return how many items a round has, where the strategy does not divide the budget itself."""
    divides = isinstance(method, Strategy) and rounds_parameter(method) is not None
    return None if divides or rounds is None else -(-count // rounds)


def _expected_by(strategy: Strategy, state: State, found: Estimate) -> Floats:
    """Return the p-values that a strategy expects of judging everything, or else those of its estimate."""
    own = strategy.expected_p_values(state)
    return expected_p_values(found) if own is None else own


def _last(looks: Iterator[ReplayRound], stop: str | None) -> tuple[ReplayRound, bool]:
    """Return the last look at a replay, and whether a stop ended it there."""
    progress: Progress | None = None
    for look in looks:
        final = look.finished is not None
        if stop is None:
            continue
        if progress is None:
            progress = Progress(look.state, look.strategy, final)
        else:
            progress = progress.then(look.state, final=final)
        if first_stop([stop], progress) is not None:
            return look, True
    return look, False


def _own(part: Part, held: Judgements) -> Outcome:
    """Return the means and the sign-flip test of what was judged, weighed as the selection weighs items."""
    rows = np.flatnonzero(held.asked.any(axis=1))
    full = (
        part.full if held.chosen is None else with_selection_weights(part.full, held.chosen, part.data, rows)
    )
    scores, weights = np.where(held.asked, full.values, np.nan)[rows], full.weights_of(rows)
    return own_outcome(model_means(scores, weights), full.p_values_of(scores, full.keys[rows], weights))


def _expected(part: Part, held: Judgements) -> Floats:
    """Return the p-values that judging everything is expected to give, one for every pair of models.

    Where none can be expected (no error is known, or two models have no two items in common), that of the
    judged items stands in its place.
    """
    assert held.expected is not None  # noqa: S101 - every estimate comes with it
    found = held.expected()
    unknown = np.isnan(found)
    return np.where(unknown, _own(part, held).p_values, found) if unknown.any() else found
