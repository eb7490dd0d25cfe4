"""Intervals for proportions.

Two-valued scores (pass or fail, won or lost) need intervals of their own: Student's leaves the scale,
fails near 0 and 1, and says nothing when all labels agree. All functions take arrays and broadcast.
``size`` is the number of items that the sample was drawn from without replacement; infinite means inputs
like these.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats
from sparingly.base.checks import check_level
from sparingly.base.errors import UsageError
from sparingly.base.lazy import special

# How much of the chance of exactly the observed count is added to each tail. 0.5 is the mid-p interval, 1 is
# Clopper and Pearson's. 0.5 falls to 91.3 % at n = 14 and to 91.7 % for large n; 0.58 holds 92.2 % or more at
# every p (n = 2 to 200, and up to 2,000 in steps) and stays within 1.05 times Wilson's width from n = 20.
TAIL_SHARE = 0.58
# Up to this many items the hypergeometric distribution is summed; beyond, its effective sample size is used.
LARGEST_EXACT_SIZE = 2000
# The gain from predictions is learned from the labels of the rarer kind: it is shrunk as if four more of them
# had shown none. Chosen on judges right equally often about passes and fails (benchmarks/proportions.py).
LABELS_WITHOUT_GAIN = 4.0


def proportion_interval(
    successes: ArrayLike, n: ArrayLike, size: ArrayLike = np.inf, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the two-sided interval of a proportion from n draws without replacement.

    low: the smallest p with P(X > k; p) + 0.58·P(X = k; p) > α/2, high likewise from the other side: a
    mid-p interval (Lancaster 1961; Agresti and Gottard 2005) with a little more than half of the
    observed count. X is hypergeometric for a finite size, and the ends are then multiples of 1/size;
    binomial for an infinite one. Counts that are not whole (ties as half wins) go through the beta form
    of the binomial tails, in a finite set with n·(N − 1)/(N − n) effective labels and ends rounded
    outwards to multiples of 1/N. Coverage averaged over p is at least 95 %, at each p at least 92 %.
    Supports: is the pass rate above the bar, how many labels are enough.

    Examples:
        >>> from sparingly.base.stats.proportion import proportion_interval
        >>> low, high = proportion_interval([18, 20], 20)
        >>> low.round(3), high.round(3)
        (array([0.702, 0.855]), array([0.984, 1.   ]))
    """
    check_level(level)
    k, labels, items = _counts(successes, n, size)
    return _ends(k, labels, items, (1.0 - level) / 2.0, TAIL_SHARE)


def proportion_bound(
    successes: ArrayLike,
    n: ArrayLike,
    size: ArrayLike = np.inf,
    level: float = 0.95,
    side: Literal["low", "high"] = "low",
) -> Floats:
    """Return a one-sided bound of a proportion: at least (``low``) or at most (``high``) this, at the level.

    The p with P(X ≥ k; p) = 1 − level (Clopper and Pearson 1934), so that it holds at every p with at
    least the level; 0.05^(1/n) for n of n. Finite sets and counts that are not whole as in
    ``proportion_interval``. Supports: may we ship, when every label was a pass.

    Examples:
        >>> from sparingly.base.stats.proportion import proportion_bound
        >>> float(proportion_bound(100, 100).round(4))
        0.9705
    """
    check_level(level)
    if side not in ("low", "high"):
        raise UsageError(f'The side of a bound is "low" or "high", not "{side}".')
    k, labels, items = _counts(successes, n, size)
    return _ends(k, labels, items, 1.0 - level, 1.0)[side == "high"]


def effective_proportion_interval(
    estimate: ArrayLike,
    error: ArrayLike,
    n: ArrayLike,
    size: ArrayLike = np.inf,
    level: float = 0.95,
    *,
    share: ArrayLike | None = None,
    freedom: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the interval of a proportion that was estimated with predictions, weights or clusters.

    The standard error is turned into an effective sample size (Korn and Graubard 1998), n_eff = n*/d,
    with n* = n·(N − 1)/(N − n) and the design effect d = error²/(s(1 − s)/(n − 1)·(1 − n/N)); then the
    interval is that of n_eff labels with the share ``estimate``, clipped to [0, 1]. A design effect
    below 1 (predictions help) is shrunk towards 1, (d·m + 4)/(m + 4) with m labels of the rarer kind,
    because a small error from few of them is often luck. Where all labels agree, d = 1: the number of
    labels counts. Ends in a finite set are multiples of 1/N.

    Args:
        estimate: The estimated proportion; outside of [0, 1] it is clipped.
        error: Its standard error, the finite-population factor included where the size is finite.
        n: The number of labels.
        size: The number of items that the estimate is about.
        level: The coverage of the interval.
        share: The share of successes among the labels (weighted where they are); the estimate if not given.
        freedom: Degrees of freedom of the error; n − 1 if not given. Fewer divide n_eff by (t(df)/t(n−1))².
    """
    check_level(level)
    centre, _, items = _broadcast(np.clip(estimate, 0.0, 1.0), n, size)
    labels = effective_labels(estimate, error, n, size, level, share=share, freedom=freedom)
    return _real_ends(centre, labels, items, (1.0 - level) / 2.0, TAIL_SHARE)


def effective_labels(
    estimate: ArrayLike,
    error: ArrayLike,
    n: ArrayLike,
    size: ArrayLike = np.inf,
    level: float = 0.95,
    *,
    share: ArrayLike | None = None,
    freedom: ArrayLike | None = None,
) -> Floats:
    """Return how many labels of a plain sample from an infinite population tell as much, n*/d as above."""
    centre, labels, items = _broadcast(np.clip(estimate, 0.0, 1.0), n, size)
    _check_size(labels, items)
    label_share = np.clip(centre if share is None else _as(share, centre), 0.0, 1.0)
    opposite = 1.0 - label_share
    rarer = labels * np.minimum(label_share, opposite)
    return labels_by_error(_as(error, centre), labels, items, level, label_share * opposite, rarer, freedom)


def labels_by_error(
    error: Floats,
    labels: Floats,
    items: Floats,
    level: float,
    variance: Floats,
    rarer: Floats,
    freedom: ArrayLike | None = None,
) -> Floats:
    """Return n*/d as above, for labels of which one alone has this ``variance``; ``rarer`` is m."""
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = variance * np.maximum(1.0 - labels / items, 0.0) / np.maximum(labels - 1.0, 0.0)
        effect = np.where(plain > 0, error * error / plain, 1.0)
    shrunk = (effect * rarer + LABELS_WITHOUT_GAIN) / (rarer + LABELS_WITHOUT_GAIN)
    effect = np.where(effect < 1.0, shrunk, effect)
    if freedom is not None:
        tail = 0.5 + level / 2.0
        degrees = np.minimum(_as(freedom, labels), labels - 1.0)
        with np.errstate(invalid="ignore"):
            wider = (special.stdtrit(degrees, tail) / special.stdtrit(labels - 1.0, tail)) ** 2
        effect = effect * np.where(wider > 1.0, wider, 1.0)
    return np.asarray(_effective(labels, items) / effect)


def _broadcast(*values: ArrayLike) -> tuple[Floats, ...]:
    return tuple(
        np.array(array) for array in np.broadcast_arrays(*(np.asarray(v, np.float64) for v in values))
    )


def _as(value: ArrayLike, like: Floats) -> Floats:
    return np.broadcast_to(np.asarray(value, np.float64), like.shape)


def _counts(successes: ArrayLike, n: ArrayLike, size: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return the counts, broadcast; raise UsageError unless they can be counts of one sample."""
    k, labels, items = _broadcast(successes, n, size)
    impossible = np.flatnonzero(((k < 0) | (k > labels + 1e-9)).ravel())
    if len(impossible):
        first = impossible[0]
        raise UsageError(f"{k.ravel()[first]:g} successes of {labels.ravel()[first]:g} is not a proportion.")
    _check_size(labels, items)
    return np.minimum(k, labels), labels, items


def _check_size(labels: Floats, items: Floats) -> None:
    impossible = np.flatnonzero((labels > items).ravel())
    if len(impossible):
        first = impossible[0]
        raise UsageError(f"{labels.ravel()[first]:g} labels cannot come from {items.ravel()[first]:g} items.")


def _effective(labels: Floats, items: Floats) -> Floats:
    """Return n·(N − 1)/(N − n), the labels from an infinite population worth as much; inf for n = N."""
    with np.errstate(divide="ignore", invalid="ignore"):
        finite = labels * (items - 1.0) / (items - labels)
    return np.where(np.isinf(items), labels, np.where(labels >= items, np.inf, finite))


def _ends(k: Floats, n: Floats, size: Floats, tail: float, weight: float) -> tuple[Floats, Floats]:
    """Return both ends: exact sums for whole counts in a set that is not too large, else the beta form."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = _real_ends(np.where(n > 0, k / n, 0.5), _effective(n, size), size, tail, weight)
        low, high = np.array(np.maximum(low, k / size)), np.array(np.minimum(high, 1.0 - (n - k) / size))
    is_whole = np.all([np.trunc(number) == number for number in (k, n, size)], axis=0)
    exact = (size <= LARGEST_EXACT_SIZE) & is_whole & (n > 0)
    if exact.any():
        rows, row_of = np.unique(np.stack([k[exact], n[exact], size[exact]], 1), axis=0, return_inverse=True)
        row_of = row_of.ravel()
        wins, labels, items = rows.astype(np.int64).T
        low[exact] = (_lowest_count(wins, labels, items, tail, weight) / items)[row_of]
        high[exact] = (1.0 - _lowest_count(labels - wins, labels, items, tail, weight) / items)[row_of]
    return low, high


def _lowest_count(
    k: NDArray[np.int64], n: NDArray[np.int64], size: NDArray[np.int64], tail: float, weight: float
) -> NDArray[np.int64]:
    """Return the smallest number K of successes in the set with P(X > k) + weight·P(X = k) > tail."""
    log_factorial = np.asarray(special.gammaln(np.arange(int(size.max()) + 2, dtype=np.float64) + 1.0))
    count = np.arange(int(n.max()) + 1)

    def choose(top: NDArray[np.int64], chosen: NDArray[np.int64]) -> Floats:
        possible = (chosen >= 0) & (chosen <= top)
        chosen = np.where(possible, chosen, 0)
        logs = log_factorial[top] - log_factorial[chosen] - log_factorial[np.where(possible, top - chosen, 0)]
        return np.where(possible, logs, -np.inf)

    weights = np.where(count > k[:, None], 1.0, np.where(count == k[:, None], weight, 0.0))
    total = choose(size, n)
    # K lies between the successes seen and what is left when every item not drawn succeeds.
    low, high = k.copy(), size - n + k
    while (low < high).any():
        middle = (low + high) // 2
        logs = choose(middle[:, None], count) + choose((size - middle)[:, None], n[:, None] - count)
        enough = (weights * np.exp(logs - total[:, None])).sum(1) > tail
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle + 1)
    return low


def _real_ends(p: Floats, n: Floats, size: Floats, tail: float, weight: float) -> tuple[Floats, Floats]:
    """Return both ends for a share p of n labels, neither of them whole."""
    is_census, count = np.isinf(n), np.where(np.isfinite(n), n, 0.0)
    low = np.where(is_census, p, _beta_low(p * count, count, tail, weight))
    high = np.where(is_census, p, 1.0 - _beta_low((1.0 - p) * count, count, tail, weight))
    # In a finite set the ends are rounded outwards to multiples of 1/N.
    is_rounded = np.isfinite(size) & ~is_census
    items = np.where(is_rounded, size, 1.0)
    low = np.where(is_rounded, np.floor(low * items + 1e-9) / items, low)
    high = np.where(is_rounded, np.ceil(high * items - 1e-9) / items, high)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _beta_low(k: Floats, n: Floats, tail: float, weight: float) -> Floats:
    """Return the p with weight·I_p(k, n − k + 1) + (1 − weight)·I_p(k + 1, n − k) = tail; 0 for k = 0.

    I_p(k, n − k + 1) = P(X ≥ k) for whole numbers. Newton's steps inside a bracket of the two beta
    quantiles.
    """
    k, n = np.broadcast_arrays(k, n)
    result = np.array(np.where(np.isnan(k) | np.isnan(n), np.nan, 0.0))
    positive = k > 1e-9
    wins = np.asarray(k[positive], np.float64)
    losses = np.maximum(n[positive] - wins, 0.0)
    all_won = losses < 1e-9
    losses_or_one = np.where(all_won, 1.0, losses)
    low = special.betaincinv(wins, losses + 1.0, tail)
    high = np.where(all_won, 1.0, special.betaincinv(wins + 1.0, losses_or_one, tail))
    at = 0.5 * (low + high)
    scale, more_scale = special.betaln(wins, losses + 1.0), special.betaln(wins + 1.0, losses_or_one)
    for _ in range(60):
        more = np.where(all_won, 0.0, special.betainc(wins + 1.0, losses_or_one, at))
        value = weight * special.betainc(wins, losses + 1.0, at) + (1.0 - weight) * more - tail
        low, high = np.where(value < 0, at, low), np.where(value < 0, high, at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            log_at, log_other = np.log(at), np.log1p(-at)
            density = np.exp((wins - 1.0) * log_at + losses * log_other - scale)
            beyond = np.exp(wins * log_at + (losses_or_one - 1.0) * log_other - more_scale)
            step = at - value / (weight * density + (1.0 - weight) * np.where(all_won, 0.0, beyond))
        step = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
        moved = np.max(np.abs(step - at), initial=0.0)
        at = step
        if moved < 1e-13:
            break
    result[positive] = at
    return result
