"""``all_settled``: stop when every pair of models is told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparingly.base.registry import register
from sparingly.run.rounds.stop.base import Progress, Stopped
from sparingly.run.rounds.stop.testing import TestingStop, asked_of


@register("all_settled")
@dataclass(frozen=True, kw_only=True)
class AllSettled(TestingStop):
    """Stops when every pair of models is told apart.

    A pair is told apart when |μ̂_j − μ̂_k| > c·se_jk, c at α over the number of pairs still open (Holm 1979)
    and for all looks, so that P(any pair in the wrong order, or told apart though equal) ≤ α. Over this very
    set no two models are equal until everything is judged, so only a wrong order counts there.

    Use it to rank all models. With the target ``population`` equal models are never told apart: add a budget
    or ``futility``. With the target ``set`` judging everything settles every pair.
    """

    reference: ClassVar[str] = (
        "Holm 1979; Lan and DeMets 1983; Maurer and Bretz 2013; Waudby-Smith et al. 2024"
    )

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when no pair is open."""
        found = self.settled(progress, asked_of("all", self.target))
        if found is None or found.open.any():
            return None
        return Stopped(f"all pairs of models are told apart, with an error rate of {self.alpha:g}.")
