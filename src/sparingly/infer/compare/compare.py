"""``compare``: which of two models is better, by how much, and how many more labels would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.checks import check_alpha
from sparingly.base.errors import DataError, SparinglyError, UnknownNameError, UsageError, listing
from sparingly.base.registry import Method
from sparingly.base.syntax import command_with, either
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.infer.compare.head_to_head import POWER, HeadToHead, JudgeGain, MarginAnswer, parse_margin
from sparingly.infer.compare.strengths import WinMatrix, win_matrix
from sparingly.infer.compare.votes import frame_of, judge_votes, people_votes
from sparingly.infer.compare.wins import WinTally, position_bias, tally
from sparingly.infer.estimate.assemble import Target
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.plan.power import items_for
from sparingly.infer.plan.sample_size import MOST_LABELS, comparisons_for
from sparingly.infer.rank.rank import check_errors

SELECTION_OF_ITEMS = (
    "The data holds comparisons of two outputs, which are all counted, and a selection of items does not say "
    "which of them to count: leave the selection out."
)


def compare(
    data: DataLike,
    first: str | None = None,
    second: str | None = None,
    *,
    selection: Selection | None = None,
    aspect: str | None = None,
    target: Target = "population",
    margin: float | str | None = None,
    judge: str | None = None,
    estimator: str | Method | None = None,
    scale: Ends | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> HeadToHead | WinMatrix:
    """Compare two models: who wins, by how much, whether it is significant, and how many labels are missing.

    Where outputs were compared two at a time, by wins, losses and ties; else by scores, with the difference
    and the p-value that ``estimate`` and ``rank`` give for this pair. Without names the only two models are
    meant;
    of more than two whose outputs were compared, all are: a matrix of wins, and strengths.

    Args:
        data: The evaluation set (or its file, or a frame) with the judgements.
        first: The model in question; default: the first of the only two.
        second: The model that it is compared with.
        selection: What was chosen to be judged; without it the judged items are taken for a uniform sample.
        aspect: What was judged; the only aspect unless given, or a metric.
        target: What the answer is about: inputs like these (``population``), or this very ``set``.
        margin: Also ask whether the first is at most so much worse: "2%" for rates and wins, else a number.
        judge: The rater or metric whose votes on everything are a judge's; default: all metrics.
        estimator: How scores are estimated; see ``estimate``.
        scale: The lowest and the highest possible score.
        alpha: The error rate of the test; one less it is the level of intervals.
        seed: Seed of folds.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = sparingly.compare(data, "TMT_run1", "mtcarousel", aspect="mqm")
        >>> found.leader, found.settled
        ('TMT_run1', False)
    """
    data = as_evalset(data)
    check_alpha(alpha)
    if compares_outputs(data, aspect):
        if selection is not None:
            raise UsageError(SELECTION_OF_ITEMS)
        return compare_votes(
            data, first, second, aspect=aspect, target=target, margin=margin, judge=judge, alpha=alpha
        )
    if selection is not None and selection.judged is not None:
        data = data.take(models=selection.judged)
    names = pair_of(data, first, second)
    if judge is not None:
        if judge not in data.metrics:
            raise UnknownNameError("metric", judge, data.metrics)
        data = data.only(
            name for name in data.fields if not name.startswith("metric:") or name == f"metric:{judge}"
        )
    how: dict[str, Any] = {"target": target, "level": round(1.0 - alpha, 12), "scale": scale, "seed": seed}
    scores = estimate(data, selection, aspect, estimator=estimator, **how)
    base = None
    if estimator is None and scores.estimator == "greg" and not scores.outcome.fallen_back:
        base = estimate(data, selection, scores.aspect, estimator="weighted_mean", **how)
    return compare_scores(
        scores, *names, alpha=alpha, margin=margin, without_metrics=base, metrics=tuple(data.metrics)
    )


def compares_outputs(data: EvalSet, aspect: str | None) -> bool:
    """Say whether models are compared by votes between two outputs: these are there, and no scores."""
    table = data.preferences
    if not len(table):
        return False
    scored = [name for name in data.aspects if not np.isnan(data.aspects[name]).all()]
    if aspect is None:
        return not scored
    return aspect in table.aspects and aspect not in scored


def pair_of(data: EvalSet, first: str | None, second: str | None) -> tuple[str, str]:
    """Return the names of the two models, in the order given; the only two unless they are named."""
    models = data.models
    for name in (first, second):
        if name is not None and name not in models:
            raise UnknownNameError("model", name, models)
    if first is not None and first == second:
        raise UsageError(f"A comparison is of two models, not of {first} and itself.")
    if first is not None and second is not None:
        return first, second
    if len(models) < 2:
        raise UsageError(f"There is only one model, {listing(models)}: give a second file, or one with both.")
    if len(models) > 2:
        raise UsageError(
            f"There are {len(models)} models, {listing(models, 6)}: rank them all, or name two: "
            + either(command_with(*models[:2]), f'sparingly.compare(data, "{models[0]}", "{models[1]}")')
        )
    given = first if first is not None else second
    if given is None:
        return models[0], models[1]
    opponent = models[1] if given == models[0] else models[0]
    return (given, opponent) if first is not None else (opponent, given)


# --- by votes ---


def compare_votes(
    data: EvalSet,
    first: str | None = None,
    second: str | None = None,
    *,
    aspect: str | None = None,
    target: Target = "population",
    margin: float | str | None = None,
    judge: str | None = None,
    rounds: Sequence[Selection] = (),
    sampled: bool = True,
    alpha: float = 0.05,
) -> HeadToHead | WinMatrix:
    """Compare two models, or all, by votes between two outputs.

    ``rounds`` drew the comparisons, where that is known; where their items were picked and not ``sampled``, a
    judge's votes are of no use.
    """
    if first is None and second is None and len(data.models) > 2:
        if margin is not None:
            raise UsageError("A margin is about two models: name them.")
        how: dict[str, Any] = {"judge": judge, "rounds": rounds, "sampled": sampled}
        return win_matrix(data, aspect, **how, target=target, alpha=alpha)
    names = pair_of(data, first, second)
    places = data.models.index(names[0]), data.models.index(names[1])
    votes = people_votes(data, aspect, judge)
    frame = frame_of(data, votes)
    pair = votes.of_pair(*places)
    if len(np.unique(pair.item)) < 2:
        compared = "never" if not len(pair) else "on one item only"
        raise DataError(
            f"{names[0]} and {names[1]} were compared {compared}, too few to say who is better: "
            "compare them on 10 items or more."
        )
    of_judge = judge_votes(data, votes, frame, judge) if sampled else None
    outcome = tally(votes, frame, places, target=target, alpha=alpha, judge=of_judge)
    gain = None
    if of_judge is not None and (extra := round(outcome.votes * (outcome.judge_worth - 1.0))) > 0:
        gain = JudgeGain(of_judge.names, of_judge.voted_items, extra)
    margin_answer = None
    if margin is not None:
        size = parse_margin(margin, is_share=True, of="wins")
        margin_answer = MarginAnswer(
            *names, size, outcome.lead_low, outcome.lead_high, 1.0 - alpha, is_share=True
        )
    result = HeadToHead(
        first=names[0],
        second=names[1],
        aspect=aspect or "preferences",
        unit="comparison",
        n=outcome.votes,
        size=outcome.size,
        estimate=outcome.rate,
        low=outcome.low,
        high=outcome.high,
        p_value=outcome.p_value,
        alpha=alpha,
        target=target,
        tally=outcome,
        margin=margin_answer,
        judge=gain,
        position=position_bias(pair, alpha),
    )
    return replace(result, more=0 if result.settled else more_comparisons(outcome, alpha))


def more_comparisons(found: WinTally, alpha: float) -> int | None:
    """Return how many more comparisons a win rate like this takes to settle with 90 % power."""
    if not found.decided or abs(found.rate - 0.5) < 1e-9:
        return None
    try:
        count = comparisons_for(found.rate, alpha, POWER) / found.vote_worth
    except UsageError:
        return None
    return about(max(count / (found.decided / found.votes) - found.votes, 0.0))


def about(number: float) -> int:
    """Return a number rounded up: to 5s up to 100, to 10s up to 1,000, to two digits beyond."""
    step = 5 if number <= 100 else 10 if number <= 1000 else 10 ** (math.floor(math.log10(number)) - 1)
    return int(step * math.ceil(number / step - 1e-9))


# --- by scores ---


def compare_scores(
    found: Estimate,
    first: str,
    second: str,
    *,
    alpha: float = 0.05,
    margin: float | str | None = None,
    without_metrics: Estimate | None = None,
    metrics: Sequence[str] = (),
) -> HeadToHead:
    """Compare two models by scores: the difference, interval and p-value that their estimate has."""
    if found.target == CHOSEN_ITEMS or found.pairs is None:
        raise DataError(
            "These items were picked, not sampled, so they say nothing about inputs like these: "
            "sparingly rank shows the order on the chosen items."
        )
    places = found.models.index(first), found.models.index(second)
    left_row, other = (np.array([place]) for place in places)
    lacking = [
        name for name, place in zip((first, second), places, strict=True) if np.isnan(found.scores[place])
    ]
    if lacking:
        judged = listing(found.models[at] for at in np.flatnonzero(~np.isnan(found.scores)))
        verb = "was" if len(lacking) == 1 else "were"
        raise DataError(f"{' and '.join(lacking)} {verb} never judged. There are labels of: {judged}.")
    common = int(found.pairs.common_items(left_row, other)[0])
    if not common:
        raise DataError(
            f"No item was judged for both {first} and {second}: have both judged on the same items."
        )
    check_errors(found)
    difference = found.difference(first, second)
    counts = found.pairs.discordant(left_row, other, np.array([difference.difference]))
    p_value = float(found.pair_p_values()[places])
    error = difference.standard_error
    result = HeadToHead(
        first=first,
        second=second,
        aspect=found.aspect,
        unit="item",
        n=common,
        size=found.size,
        estimate=difference.difference,
        low=difference.low,
        high=difference.high,
        p_value=1.0 if np.isnan(p_value) else p_value,
        alpha=alpha,
        target=found.target,
        scores=(float(found.scores[places[0]]), float(found.scores[places[1]])),
        wins_by_item=None if counts is None else (int(counts[0][0]), int(counts[1][0])),
        is_rate=found.is_rate,
        margin=None
        if margin is None
        else _margin(found, found.pairs, (left_row, other), (first, second), margin, alpha),
        notes=found.notes,
    )
    gain = None
    if without_metrics is not None:
        raw = without_metrics.difference(first, second).standard_error
        extra = round(common * ((raw / error) ** 2 - 1.0)) if error > 0 and np.isfinite(raw) else 0
        gain = JudgeGain(tuple(metrics), found.size, extra) if extra > 0 else None
    return replace(result, judge=gain, more=0 if result.settled else _more_items(result, error))


def _margin(
    found: Estimate,
    pairs: PairErrors,
    places: tuple[Ints, Ints],
    names: tuple[str, str],
    margin: float | str,
    alpha: float,
) -> MarginAnswer:
    amount = parse_margin(margin, is_share=found.is_rate, of=f"scores of {found.aspect}")
    centre = found.scores[places[0]] - found.scores[places[1]]
    bounds = replace(pairs, level=1.0 - 2.0 * alpha)
    ends = bounds.intervals(*places, centre, [" − ".join(names)])[1]
    low, high = (float(end[0]) for end in (ends.low, ends.high))
    low, high = (-math.inf if math.isnan(low) else low), (math.inf if math.isnan(high) else high)
    return MarginAnswer(*names, amount, low, high, 1.0 - alpha, is_share=found.is_rate)


def _more_items(result: HeadToHead, error: float) -> int | None:
    """Return how many more items a difference like this takes to settle with 90 % power."""
    if result.leader is None:
        return None
    try:
        if result.wins_by_item is not None:
            wins, losses = result.wins_by_item
            rate, decided = wins / (wins + losses), (wins + losses) / result.n
            items: float | None = comparisons_for(rate, result.alpha, POWER) / decided
        else:
            remaining = 1.0 - result.n / result.size if result.target == "set" else 1.0
            spread = error * math.sqrt(result.n / remaining) if remaining > 0 else 0.0
            if not spread > 0:
                return None
            effect = abs(result.estimate) / spread
            items = items_for(effect, 2, 1.0 - result.alpha, POWER, MOST_LABELS)
    except SparinglyError:
        return None
    if items is None:
        return None
    if result.target == "set":
        items = items / (1.0 + items / result.size)
    return about(max(items - result.n, 0.0))
