"""Which pairs of models differ significantly after several looks, at one error for all pairs and looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.infer.rank.pair_tests import pair_errors, pair_tells
from sparingly.run.rounds.stop.spending import (
    Question,
    Spending,
    anytime,
    group_sequential,
    pair_level,
    with_freedom,
)

Valid = Literal["group_sequential", "anytime", "fixed"]


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of the models after a round.

    Attributes:
        scores: Their scores.
        covariance: Of the scores.
        freedom: Degrees of freedom.
        clock: The share of the plan that is spent, from 0 to 1.
        information: How much is known of a difference, up to a factor that is the same at every look.
        planned: The information at which a sequence that holds at any time is tightest.
        exact: Which models have nothing left to chance.
        step: How far the two values of two-valued scores are apart; 0 for other scores.
        judged: How many items each model was judged on; None where that is not known.
    """

    scores: Floats
    covariance: Floats
    freedom: float
    clock: float
    information: float
    planned: float
    exact: Mask
    step: float = 0.0
    judged: Floats | None = None

    @property
    def tells(self) -> bool:
        """Whether errors are known for at least two models, or nothing is left to chance."""
        has_error = np.isfinite(self.scores) & np.isfinite(np.diag(self.covariance))
        return bool(has_error.sum() > 1) and (self.freedom >= 1.0 or bool(self.exact.all()))


@dataclass(frozen=True, eq=False)
class SettledPairs:
    """Which pairs of models several looks settle.

    Attributes:
        above: models × models: the first is shown to be better than the second.
        same: models × models: everything is judged of both, and they are equal.
        critical: The critical value of the last look for what is open, in standard errors; infinite where
            nothing was tested.
        level: The two-sided level of each open comparison over all looks.
    """

    above: Mask
    same: Mask
    critical: float
    level: float

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
    question: Question = "all",
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
    question: Question,
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
