"""Which pairs of models differ significantly after several looks, at one error for all pairs and looks.

Group-sequential: α(t) = 2 − 2Φ(z_{α/2}/√t) may be spent by the time t (Lan and DeMets 1983, with the shape of
O'Brien and Fleming 1979), little at first and most at the end; or α·t, evenly (Kim and DeMets 1987), which
settles what is clear earlier and what is close a little later. Successive looks have independent increments,
so Z_k is a Brownian motion at the information I_k over √I_k, and the chance to cross for the first time at a
look is a one-dimensional integral over where the motion was at the look before (Armitage, McPherson and Rowe
1969).

Anytime: the normal-mixture boundary of an asymptotic confidence sequence (Waudby-Smith et al. 2024), which
holds at every look at once, however many there are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.checks import check_alpha
from sparingly.base.errors import UsageError
from sparingly.infer.rank.pair_tests import pair_errors, pair_tells

# --- critical values of several looks ---

Valid = Literal["group_sequential", "anytime", "fixed"]
Spending = Literal["obrien_fleming", "even"]
StopQuestion = Literal["all", "order", "best"]
_NODES = 96
_FAR = 9.0
_STEPS = 60
# Levels are rounded down to steps of 2 %, so that boundaries can be remembered.
_LEVEL_STEP = 50.0
_LEAST_GROWTH = 1e-3


class _Motion(NamedTuple):
    """The critical values so far, and where the motion may be: nodes, and the mass at each."""

    critical: tuple[float, ...]
    nodes: Floats
    mass: Floats
    information: float


def spent_by(share: float, alpha: float, spending: Spending = "obrien_fleming") -> float:
    """Return the error that may be spent by the share t of the plan: 2 − 2Φ(z_{α/2}/√t), or α·t."""
    from scipy.special import ndtr, ndtri

    if share <= 0.0:
        return 0.0
    if spending == "even":
        return alpha * min(share, 1.0)
    return float(2.0 * ndtr(ndtri(alpha / 2.0) / math.sqrt(min(share, 1.0))))


def group_sequential(
    clock: tuple[float, ...],
    information: tuple[float, ...],
    alpha: float,
    spending: Spending = "obrien_fleming",
) -> float:
    """Return the two-sided critical value of the last of several looks.

    Args:
        clock: The share of the plan at every look, from 0 to 1, never falling: what the spending goes by.
        information: The information at every look, up to a common factor: what the increments go by.
        alpha: The error of all looks together, two-sided.
        spending: How it is spread over the looks.

    Examples:
        >>> from sparingly.run.rounds.stop.sequential import group_sequential
        >>> round(group_sequential((1.0,), (1.0,), 0.05), 2)
        1.96
        >>> round(group_sequential((0.5, 1.0), (0.5, 1.0), 0.05), 2)
        1.98
    """
    check_alpha(alpha)
    if len(clock) != len(information) or not clock:
        raise UsageError("Every look has one share of the plan and one information.")
    level = min(alpha, math.exp(math.floor(math.log(alpha) * _LEVEL_STEP + 1e-9) / _LEVEL_STEP))
    exact = level if len(clock) > 1 else alpha
    grown = [information[0]]
    for value in information[1:]:
        grown.append(max(value, grown[-1] * (1.0 + _LEAST_GROWTH)))
    scaled = tuple(round(value / grown[0], 9) for value in grown)
    return _motion_after(tuple(round(share, 9) for share in clock), scaled, exact, spending).critical[-1]


@lru_cache(maxsize=100_000)
def _motion_after(
    clock: tuple[float, ...], information: tuple[float, ...], alpha: float, spending: Spending
) -> _Motion:
    """Return the critical values of all looks, and the motion after the last of them."""
    from scipy.special import ndtri

    last = information[-1]
    if len(clock) == 1:
        share = spent_by(clock[0], alpha, spending)
        edge = float(-ndtri(share / 2.0)) * math.sqrt(last) if share > 1e-300 else math.inf
        nodes, weights = _nodes(edge, last)
        density = np.exp(-0.5 * nodes**2 / last) / math.sqrt(2.0 * math.pi * last)
        return _Motion((edge / math.sqrt(last),), nodes, weights * density, last)
    earlier = _motion_after(clock[:-1], information[:-1], alpha, spending)
    spread = math.sqrt(last - earlier.information)
    share = spent_by(clock[-1], alpha, spending) - spent_by(clock[-2], alpha, spending)
    edge = _edge(earlier, spread, share, last)
    nodes, weights = _nodes(edge, last)
    moved = (nodes[:, None] - earlier.nodes[None, :]) / spread
    density = np.exp(-0.5 * moved**2) @ earlier.mass / (spread * math.sqrt(2.0 * math.pi))
    return _Motion((*earlier.critical, edge / math.sqrt(last)), nodes, weights * density, last)


def _edge(earlier: _Motion, spread: float, share: float, information: float) -> float:
    """Return b with P(not crossed before, |X| ≥ b now) = share, by Newton's steps on the logarithm."""
    from scipy.special import ndtr

    if share <= 1e-14:
        return math.inf
    low, high = 0.0, 40.0 * math.sqrt(information)
    edge = min(high, earlier.critical[-1] * math.sqrt(earlier.information), 5.0 * math.sqrt(information))
    for _ in range(_STEPS):
        far, near = (earlier.nodes + edge) / spread, (earlier.nodes - edge) / spread
        tail = float(earlier.mass @ (ndtr(near) + ndtr(-far)))
        low, high = (edge, high) if tail > share else (low, edge)
        slope = float(earlier.mass @ (np.exp(-0.5 * near**2) + np.exp(-0.5 * far**2))) / spread
        step = 0.0
        if slope > 0 and tail > 0:
            step = tail * math.log(tail / share) * math.sqrt(2.0 * math.pi) / slope
        following = edge + step
        if not low < following < high or step == 0.0:
            following = (low + high) / 2.0
        if abs(following - edge) <= 1e-9 * math.sqrt(information):
            break
        edge = following
    return edge


# Found once: it takes as long as a look.
_gauss = lru_cache(maxsize=1)(partial(np.polynomial.legendre.leggauss, _NODES))


def _nodes(edge: float, information: float) -> tuple[Floats, Floats]:
    """Return nodes and weights of an integral over what lies within the edges."""
    reach = min(edge, _FAR * math.sqrt(information))
    nodes, weights = (np.asarray(part) * reach for part in _gauss())
    return nodes, weights


def anytime(progress: float, alpha: float) -> float:
    """Return the critical value, in standard errors, of a confidence sequence at a share of the plan.

    √(2(Vρ² + 1)/(Vρ²)·ln(√(Vρ² + 1)/α)) with ρ² = (−2 ln α + ln(1 − 2 ln α))/V_planned, V the information:
    tightest near the plan, and right at every look at once.

    Examples:
        >>> from sparingly.run.rounds.stop.sequential import anytime
        >>> round(anytime(1.0, 0.05), 2)
        3.04
    """
    check_alpha(alpha)
    tuned = -2.0 * math.log(alpha) + math.log(1.0 - 2.0 * math.log(alpha))
    scaled = max(progress, 1e-9) * tuned
    return math.sqrt(2.0 * (scaled + 1.0) / scaled * (0.5 * math.log(scaled + 1.0) - math.log(alpha)))


def with_freedom(critical: float, degrees: float) -> float:
    """Return the critical value of a t with the same two-sided level; infinite stays infinite."""
    from scipy.special import ndtr, stdtrit

    if math.isinf(degrees) or critical > 30.0:
        return critical
    return float(-stdtrit(degrees, float(ndtr(-critical))))


def pair_level(pairs: Mask, alpha: float, question: StopQuestion = "all") -> float:
    """Return the two-sided level of each comparison, so that together they err with probability α or less.

    ``all``: α over the number of pairs that are compared (Bonferroni; Holm 1979 where the pairs are those
    still open). ``order``: no two models are equal, so that a pair can err on one side only: twice that.
    ``best``: a best model is wrongly left out when any of its k comparisons errs on one side, with
    probability α/2 at α/k each. To name one of m equally good best models, m − 1 of them must be left out, so
    that happens with probability m/(m − 1)·α/2 ≤ α; with two models this is the two-sided test.

    It holds however few items there are. The largest t statistic under N(0, Σ̂) would ask for about 3 % less
    with many items, but with few items for many models Σ̂ is nearly singular, and it errs twice too often.

    Args:
        pairs: models × models: what is compared; a pair in either direction is one pair.
        alpha: The error of all comparisons together.
        question: Whether all pairs are to be distinguished or put in order, or the best model found.
    """
    compared = np.asarray(pairs | pairs.T)
    np.fill_diagonal(compared, False)
    if question == "best":
        return alpha / max(int(compared.sum(axis=1).max(initial=0)), 1)
    level = alpha / max(int(compared.sum()) // 2, 1)
    return min(2.0 * level, 0.99) if question == "order" else level


# --- the pairs that they settle ---


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of the models after a round."""

    scores: Floats  # their scores
    covariance: Floats  # of the scores
    freedom: float  # degrees of freedom
    clock: float  # the share of the plan that is spent, from 0 to 1
    information: float  # how much is known of a difference, up to a factor that is the same at every look
    planned: float  # the information at which a sequence that holds at any time is tightest
    exact: Mask  # which models have nothing left to chance
    step: float = 0.0  # how far the two values of two-valued scores are apart; 0 for other scores
    judged: Floats | None = None  # how many items each model was judged on; None where that is not known

    @property
    def tells(self) -> bool:
        """Whether errors are known for at least two models, or nothing is left to chance."""
        has_error = np.isfinite(self.scores) & np.isfinite(np.diag(self.covariance))
        return bool(has_error.sum() > 1) and (self.freedom >= 1.0 or bool(self.exact.all()))


@dataclass(frozen=True, eq=False)
class SettledPairs:
    """Which pairs of models several looks settle."""

    above: Mask  # models × models: the first is shown to be better than the second
    same: Mask  # models × models: everything is judged of both, and they are equal
    # The critical value of the last look for what is open, in standard errors; infinite where nothing was
    # tested.
    critical: float
    level: float  # the two-sided level of each open comparison over all looks

    @property
    def open(self) -> Mask:
        """What is not settled either way, models × models."""
        undecided = ~(self.above | self.above.T | self.same)
        np.fill_diagonal(undecided, False)
        return np.asarray(undecided)

    @property
    def candidates(self) -> Mask:
        """The models that no other is shown to beat."""
        return np.asarray(~self.above.any(axis=0))


def critical_value(
    looks: Sequence[Look], level: float, valid: Valid, spending: Spending = "obrien_fleming"
) -> float:
    """Return the critical value of the last look, in standard errors, at a two-sided level over all looks."""
    last = looks[-1]
    if valid == "fixed":
        from scipy.special import ndtri

        return with_freedom(float(-ndtri(level / 2.0)), last.freedom)
    if valid == "anytime":
        return with_freedom(anytime(last.information / last.planned, level), last.freedom)
    finite = [look for look in looks if math.isfinite(look.information)]
    if not finite:
        return 0.0
    path = group_sequential(
        tuple(look.clock for look in finite),
        tuple(look.information for look in finite),
        level,
        spending,
    )
    return with_freedom(path, last.freedom)


def settle_pairs(
    looks: Sequence[Look],
    alpha: float,
    valid: Valid,
    *,
    spending: Spending = "obrien_fleming",
    question: StopQuestion = "all",
    final: bool = False,
) -> SettledPairs:
    """Return the pairs that are settled after some looks, with probability α or less of any error.

    For ``all`` and ``order``, critical values are those of the pairs still open: what is settled stays so,
    and leaves its share of the error to the others (Holm 1979; Maurer and Bretz 2013 for several looks).
    ``all`` counts it as an error to tell equal models apart; ``order`` is for a set, where no two are equal,
    so that only a wrong order counts. For ``best`` critical values are those of all models. ``fixed`` looks
    once, at the end.
    """
    count = len(looks[-1].scores)
    pairs = no_settled_pairs(count, alpha)
    usable: list[Look] = []
    for number, look in enumerate(looks):
        if not look.tells:
            continue
        usable.append(look)
        if valid == "fixed" and not (final and number == len(looks) - 1):
            continue
        pairs = settle_next(pairs, usable, alpha, valid, question, spending=spending)
    return pairs


def no_settled_pairs(count: int, alpha: float) -> SettledPairs:
    """Return the pairs of so many models before the first look: none is settled."""
    return SettledPairs(np.zeros((count, count), bool), np.zeros((count, count), bool), math.inf, alpha)


def settle_next(
    earlier: SettledPairs,
    looks: Sequence[Look],
    alpha: float,
    valid: Valid,
    question: StopQuestion,
    *,
    spending: Spending = "obrien_fleming",
) -> SettledPairs:
    """Return the settled pairs with one more look, the last of ``looks``."""
    last = looks[-1]
    has_error = np.isfinite(last.scores) & np.isfinite(np.diag(last.covariance))
    differences = np.where(has_error[:, None] & has_error, last.scores[:, None] - last.scores, 0.0)
    covariance = np.where(has_error[:, None] & has_error, last.covariance, 0.0)
    errors, tells = pair_errors(covariance), pair_tells(covariance) & has_error[:, None] & has_error
    certain = last.exact[:, None] & last.exact
    pairs = SettledPairs(
        earlier.above | (certain & (differences > 0)),
        earlier.same | (certain & (differences == 0)),
        math.inf,
        alpha,
    )
    while True:
        compared = (np.ones_like(tells) if question == "best" else pairs.open) & tells
        if not (compared & pairs.open).any():
            return pairs
        level = pair_level(compared, alpha, question)
        critical = critical_value(looks, level, valid, spending)
        new = pairs.open & tells & (differences > critical * np.where(tells, errors, 1.0))
        pairs = SettledPairs(pairs.above | new, pairs.same, critical, level)
        if question == "best" or not new.any():
            return pairs
