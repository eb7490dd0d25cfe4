"""``futility``: stop when no budget in reach would settle what is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.infer.rank.pair_errors import pair_errors
from sparingly.run.rounds.state import State
from sparingly.run.rounds.stop.base import Progress, Stopped, information
from sparingly.run.rounds.stop.settled import Look, Settled, Valid, critical_value
from sparingly.run.rounds.stop.spending import Spending
from sparingly.run.rounds.stop.testing import TestingStop, asked_of, pair_names


@register("futility")
@dataclass(frozen=True, kw_only=True)
class Futility(TestingStop):
    """Stops when what is still open is not likely to be settled by the rest of the budget.

    When the budget is spent, z is normal with mean z·√r and variance r − 1, r = I_end/I_now, so the chance of
    a pair to be settled by then = Φ((|z|√r − c)/√(r − 1)) + Φ((−|z|√r − c)/√(r − 1)) (predictive power under
    a flat prior). It stops when that is below ``chance`` for every open pair.

    Use it beside ``best_settled`` or ``all_settled``, so that equal models do not eat the budget. It claims
    nothing about the pairs left open, so it costs no error.
    """

    reference: ClassVar[str] = "Spiegelhalter, Freedman and Blackburn 1986"

    question: Literal["all", "best"] = parameter("all", "what is to be settled: all pairs, or the best model")
    chance: float = parameter(0.1, "the least chance to be settled that is worth going on for")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.chance < 1.0:
            raise UsageError(f"The chance lies between 0 and 1, such as 0.1, not {self.chance:g}.")

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when the chance of every open pair is too small."""
        found = self.settled(progress, asked_of(self.question, self.target))
        looks = [look for look in progress.looks(self.target) if look.tells]
        if found is None or not looks:
            return None
        left = found.open
        if self.question == "best":
            left = left & found.candidates[:, None] & found.candidates
        if not left.any() or progress.final:
            return None
        chances = self._chances(looks, found, left, progress)
        if not float(np.nanmax(np.where(left, chances, 0.0))) < self.chance:
            return None
        names = pair_names(progress.state.data.models, left)
        many = "pair is" if len(names) == 1 else "pairs are"
        return Stopped(f"{len(names)} {many} not likely to be settled by the rest of the budget.", open=names)

    def _chances(self, looks: Sequence[Look], found: Settled, left: Mask, progress: Progress) -> Floats:
        end = information_at_end(progress.state, self.target)
        now = progress.estimates(self.target)[-1]
        least = None
        if self.target == "population" and now.pairs is not None:
            count = len(now.models)
            first, second = np.triu_indices(count, 1)
            least = np.zeros((count, count))
            least[first, second] = least[second, first] = now.pairs.deviations(first, second)
            least /= math.sqrt(now.size)
        return chance_to_settle(
            looks, found, left, end, self.alpha, self.valid, least, spending=self.spending
        )


def information_at_end(state: State, target: str) -> float:
    """Return the information when the budget is spent.

    Where not all models go on, the rest of the budget reaches further.
    """
    size = len(state.data)
    judged = state.asked.sum(axis=0)
    going = max(int((judged == judged.max()).sum()), 1)
    reached = min(size, int(judged.max()) + state.left // going)
    return information(max(state.limit // len(state.data.models), reached), size, target)


def chance_to_settle(
    looks: Sequence[Look],
    found: Settled,
    left: Mask,
    end: float,
    alpha: float,
    valid: Valid,
    least: Floats | None = None,
    *,
    spending: Spending = "obrien_fleming",
) -> Floats:
    """Return for every pair (models × models) the chance that it is settled when the budget is spent.

    Args:
        looks: What was known at every look.
        found: What is settled.
        left: The pairs that are asked about.
        end: The information when the budget is spent.
        alpha: The error rate.
        valid: How it is kept.
        least: The standard errors that judging everything would leave; 0 unless given.
        spending: How the error is spread over the looks.
    """
    from scipy.special import ndtr

    now = looks[-1]
    if math.isinf(end):
        return np.where(left, 1.0, 0.0)
    level = found.level if math.isfinite(found.critical) else alpha / max(int(left.sum()) // 2, 1)
    last = replace(now, clock=1.0, information=max(end, now.information))
    critical = critical_value([*looks, last], level, valid, spending)
    errors = pair_errors(now.covariance)
    ratio = np.full(errors.shape, end / now.information)
    if least is not None:
        room = np.divide(errors, least, out=np.full_like(errors, np.inf), where=least > 0)
        ratio = np.minimum(ratio, room**2)
    ratio = np.maximum(ratio, 1.0 + 1e-9)
    apart = np.abs(now.scores[:, None] - now.scores)
    z = np.divide(apart, errors, out=np.zeros_like(apart), where=errors > 0)
    ahead, spread = z * np.sqrt(ratio), np.sqrt(ratio - 1.0)
    return np.asarray(ndtr((ahead - critical) / spread) + ndtr((-ahead - critical) / spread))
