"""How often one model wins against another: the win rate of what was decided, and the pull of the place."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.discordant import discordant_interval, discordant_p
from sparingly.base.stats.proportion import (
    effective_labels,
    effective_proportion_interval,
    proportion_interval,
)
from sparingly.infer.compare.votes import FEWEST_FOR_JUDGE, JudgeVotes, VoteFrame, VoteTable
from sparingly.infer.estimate.intervals import student

_ROUNDS = 12
# Fewer decided comparisons tell nothing of a bias.
_FEWEST = 10


@dataclass(frozen=True)
class WinTally:
    """Wins, losses and ties of the first of two models against the second, and what they say."""

    # Votes; a soft vote counts in parts.
    wins: float
    losses: float
    ties: float
    # How many comparisons there are, and on how many items.
    votes: int
    items: int
    # On how many further items both wrote the same: nobody is shown these; they count as ties.
    same_texts: int
    size: int  # on how many items the two could be compared, those with the same text included
    rate: float = math.nan  # the share of wins among what was decided; NaN where all are ties
    # The ends of its interval.
    low: float = 0.0
    high: float = 1.0
    p_value: float = 1.0  # of a win rate of one half
    # Wins less losses as a share of all comparisons, ties and same texts included, with an interval of level
    # 1 − 2α, whose ends are one-sided bounds: what a question with a margin is about.
    lead: float = 0.0
    lead_low: float = -1.0
    lead_high: float = 1.0
    judge_worth: float = 1.0  # how many comparisons without a judge are worth one with it; 1 without one
    vote_worth: float = 1.0  # how many votes on items of their own, without a judge, are worth one of these

    @property
    def decided(self) -> float:
        """The number of votes that are no tie."""
        return self.wins + self.losses

    @property
    def asked_share(self) -> float:
        """The share of items on which the two wrote different texts, or were compared all the same."""
        return 1.0 - self.same_texts / self.size if self.size > self.same_texts else 1.0


def tally(
    votes: VoteTable,
    frame: VoteFrame,
    models: tuple[int, int],
    *,
    target: str,
    alpha: float,
    judge: JudgeVotes | None = None,
) -> WinTally:
    """Count the votes between two models, and say how sure the win rate is.

    θ̂ = W/(W + L): ties say nothing of who is better, so they are left out of the rate and counted beside it.
    Given how many were decided, W is binomial (hypergeometric in a finite set): the interval of a proportion
    holds however many ties there are. With several votes on an item, soft votes or a judge, θ̂ is a ratio of
    sums over items (``item_ratio``), and its interval that of as many votes as would give its error.
    """
    pair = votes.of_pair(*models)
    size, same_texts = frame.counts(*models)
    wins, losses = (float(np.maximum(sign * pair.value, 0.0).sum()) for sign in (1.0, -1.0))
    items = len(np.unique(pair.item))
    counts = WinTally(wins, losses, len(pair) - wins - losses, len(pair), items, same_texts, size)
    cells = float(size - same_texts) if target == "set" else math.inf
    control = None if judge is None or items < FEWEST_FOR_JUDGE else _judge_of_pair(judge, pair, models)
    one_each = items == len(pair) and not pair.is_soft
    if one_each and control is None:
        return _by_count(counts, cells, alpha)
    result = _by_ratio(counts, pair, cells, alpha, control)
    return _by_count(counts, cells, alpha) if one_each and result.judge_worth == 1.0 else result


def _by_count(counts: WinTally, of: float, alpha: float) -> WinTally:
    """Return the tally of one vote for each item: exact, given how many were decided."""
    wins, losses, votes = counts.wins, counts.losses, float(counts.votes)
    # Outputs with the same text are ties that were not asked: so many comparisons stand for all.
    total = round(votes / counts.asked_share)
    ends = discordant_interval(wins, losses, total, of / counts.asked_share, 1.0 - 2.0 * alpha)
    result = replace(
        counts,
        p_value=float(discordant_p(wins, losses, votes, of)),
        lead=(wins - losses) / total,
        lead_low=float(ends[0]),
        lead_high=float(ends[1]),
    )
    if not counts.decided:
        return result
    in_set = math.inf
    if math.isfinite(of):
        in_set = max(round(float(proportion_interval(counts.decided, votes, of)[1]) * of), counts.decided)
    low, high = proportion_interval(wins, counts.decided, in_set, 1.0 - alpha)
    return replace(result, rate=wins / counts.decided, low=float(low), high=float(high))


def _by_ratio(
    counts: WinTally, pair: VoteTable, of: float, alpha: float, control: ItemControl | None
) -> WinTally:
    """Return the tally with items as clusters, and with the judge's votes where they tell something."""
    code = np.unique(pair.item, return_inverse=True)[1]
    votes, decided, value = (
        _sums(code, part) for part in (np.ones(len(pair)), np.abs(pair.value), pair.value)
    )
    lead = item_ratio(value, votes, of, control)
    reach = student(1.0 - 2.0 * alpha, lead.freedom) * lead.error if lead.freedom > 0 else math.inf
    ends = (max(lead.value - reach, -1.0), min(lead.value + reach, 1.0))
    low, high = (counts.asked_share * end for end in ends)
    result = replace(counts, lead=counts.asked_share * lead.value, lead_low=low, lead_high=high)
    if not counts.decided:
        return result
    rate = item_ratio((value + decided) / 2.0, decided, of, control and control.half)
    worth = 1.0
    if rate.uses_judge and rate.error > 0:
        worth = (item_ratio((value + decided) / 2.0, decided, of).error / rate.error) ** 2
    share = counts.wins / counts.decided
    # Votes that are all alike tell no error: then items count, not the votes on them.
    labels = max(float((decided > 0).sum()) if share in (0.0, 1.0) else counts.decided, 2.0)
    centre = min(max(rate.value, 0.0), 1.0)

    if not math.isfinite(rate.error):
        return replace(result, rate=centre)
    low, high, p_value = rate_of_error(centre, rate, labels, share, alpha)
    result = replace(result, rate=centre, low=low, high=high, p_value=p_value)
    spread = share * (1.0 - share) / counts.decided
    valid = rate.error > 0 and spread > 0
    return replace(result, judge_worth=worth, vote_worth=spread / rate.error**2 if valid else 1.0)


def percents(low: float, high: float) -> str:
    """Return the interval of a share in whole percent, rounded outwards."""
    return f"[{math.floor(100 * low + 1e-9)}, {math.ceil(100 * high - 1e-9)}]"


# --- ratios of sums over items, with a judge as a control variate ---


@dataclass(frozen=True, eq=False)
class ItemControl:
    """A judge's votes less their mean over all items."""

    judged: Floats  # summed over the votes on each judged item
    everywhere: Floats  # what each of all items adds to the mean, times the number of votes
    rows: Ints  # the judged items, as positions among all
    parameters: int = 0  # how many numbers were fitted to people's votes

    @property
    def half(self) -> ItemControl:
        """The same for the win rate, which is half of the lead."""
        return replace(self, judged=self.judged / 2.0, everywhere=self.everywhere / 2.0)


def _judge_of_pair(judge: JudgeVotes, pair: VoteTable, models: tuple[int, int]) -> ItemControl:
    rows, code = np.unique(pair.item, return_inverse=True)
    sign = 1.0 if models[0] < models[1] else -1.0
    weight = np.zeros((judge.models, judge.models))
    weight[models, models[::-1]] = float(len(pair))
    return ItemControl(
        _sums(code, sign * judge.control(pair)),
        judge.spread(weight)[:, models[0]],
        rows,
        judge.parameters,
    )


def _sums(code: Ints, values: Floats) -> Floats:
    """Return the sums of values by item."""
    return np.asarray(np.bincount(code, values), np.float64)


@dataclass(frozen=True)
class ItemRatio:
    """A ratio of sums over items, its standard error and freedom, and whether a judge's votes are in it."""

    value: float
    error: float
    freedom: float
    uses_judge: bool = False


def item_ratio(top: Floats, bottom: Floats, of: float, control: ItemControl | None = None) -> ItemRatio:
    """Return Σ top/Σ bottom over n items of a set of ``of``, with a judge's votes as a control variate.

    The error is that of z_i = top_i − θ̂·bottom_i, √(n/(n − 1)·Σz²)/Σ bottom, in a set times √(1 − n/N).
    With a judge, θ̂ − λ·Σc/Σ bottom, c the judge's votes less their mean over all N items: it takes away what
    the judged items have by luck, as far as the judge sees it. λ is the slope of z on c, shrunk by
    max(0, ρ² − 1/(n − 2))/ρ². For inputs like these the mean over the N items has an error, too: each of them
    adds λ·c_i/N (prediction-powered inference: Angelopoulos et al. 2023; Fisch et al. 2024).
    """
    total, n = float(bottom.sum()), len(top)
    value, freedom = float(top.sum()) / total, n - 1.0
    if n < 2:
        return ItemRatio(value, math.inf, 0.0)
    deviation, remaining = top - value * bottom, 1.0 if math.isinf(of) else max(1.0 - n / of, 0.0)
    error = math.sqrt(n / freedom * remaining * float(deviation @ deviation)) / total
    plain = ItemRatio(value, error, freedom)
    if control is None:
        return plain
    centred = control.judged - control.judged.mean()
    joint, squares = float(deviation @ centred), float(centred @ centred) * float(deviation @ deviation)
    gain, cost = (joint**2 / squares if squares > 0 else 0.0), 1.0 / (n - 2.0)
    freedom -= 1.0 + control.parameters
    if joint <= 0 or gain <= cost or freedom < 1:
        return plain
    slope = joint / float(centred @ centred) * (gain - cost) / gain
    residual = deviation - slope * centred
    if math.isinf(of):
        everywhere = slope * control.everywhere
        everywhere[control.rows] += residual
        variance = float(everywhere @ everywhere)
    else:
        variance = remaining * float(residual @ residual)
    adjusted = value - slope * float(control.judged.sum()) / total
    return ItemRatio(adjusted, math.sqrt(n / freedom * variance) / total, freedom, uses_judge=True)


def rate_of_error(
    centre: float, ratio: ItemRatio, labels: float, share: float, alpha: float
) -> tuple[float, float, float]:
    """Return the ends of the interval of a rate by its error, and the p-value of one half that belongs to it.

    The p-value is 1 less the level whose interval just reaches one half. The number of labels that an error
    is worth depends a little on the level, by Student's t: a few rounds find both.
    """
    how: dict[str, float] = {"share": share, "freedom": ratio.freedom}
    low, high = effective_proportion_interval(centre, ratio.error, labels, level=1.0 - alpha, **how)
    p_value = alpha
    for _ in range(_ROUNDS):
        level = min(max(1.0 - p_value, 1e-6), 1.0 - 1e-12)
        worth = effective_labels(centre, ratio.error, labels, level=level, **how)
        p_value = float(discordant_p(centre * worth, (1.0 - centre) * worth, worth))
    return float(low), float(high), p_value


# --- the pull of the place ---


@dataclass(frozen=True)
class PositionBias:
    """How often the output shown first won, among what was decided, both orders of a pair counting alike.

    Where orders were drawn, a share beyond one half is the pull of the place and not that of a model. The
    orders also balance it out of win rates; a strong pull still costs precision: ask for both orders, or
    explain the task better.
    """

    rate: float
    low: float
    high: float
    p_value: float
    votes: int
    alpha: float

    def __str__(self) -> str:
        text = "no position bias shown"
        if self.p_value <= self.alpha:
            text = f"people prefer what is shown {'first' if self.rate > 0.5 else 'second'}"
        ends = percents(self.low, self.high)
        return f"The output shown first won {100 * self.rate:.0f} % of decided comparisons {ends}: {text}."


def position_bias(votes: VoteTable, alpha: float) -> PositionBias | None:
    """Return how often the output shown first won; None where the side is unknown or little was decided."""
    decisive = votes.at((votes.shown != 0) & (votes.value != 0))
    if len(decisive) < _FEWEST:
        return None
    first_won = (decisive.value * decisive.shown > 0).astype(np.float64)
    pairs = np.unique(np.stack([decisive.first, decisive.second]), axis=1, return_inverse=True)[1].ravel()
    forward = np.bincount(pairs, decisive.shown > 0)[pairs]
    of_order = np.where(decisive.shown > 0, forward, np.bincount(pairs)[pairs] - forward)
    total = np.bincount(pairs)[pairs].astype(np.float64)
    # Both orders of a pair count alike; a pair that was shown in one order tells nothing.
    weight = np.where(of_order < total, total / (2.0 * of_order), 0.0)
    if (weight > 0).sum() < _FEWEST:
        return None
    code = np.unique(decisive.item, return_inverse=True)[1]
    ratio = item_ratio(_sums(code, weight * first_won), _sums(code, weight), math.inf)

    low, high, p_value = rate_of_error(ratio.value, ratio, float((weight > 0).sum()), ratio.value, alpha)
    return PositionBias(ratio.value, low, high, p_value, len(decisive), alpha)
