"""``margin_settled``: stop when a question with a margin is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.data.evalset import Floats
from sparingly.infer.rank.pair_errors import pair_errors, pair_tells
from sparingly.run.rounds.state import Mask
from sparingly.run.rounds.stop.base import Progress, Stopped
from sparingly.run.rounds.stop.critical import pair_level
from sparingly.run.rounds.stop.settled import Look, critical_value
from sparingly.run.rounds.stop.testing import TestingStop


@register("margin_settled")
@dataclass(frozen=True, kw_only=True)
class MarginSettled(TestingStop):
    """Stops when differences are shown to lie on one side of a margin.

    The interval of a difference, low = d̂ − c·se to high = d̂ + c·se, holds at all looks at once.
    ``non-inferior``: low > −m shows that the model is not worse than the other by m or more, high < −m that
    it is. ``equivalent``: −m < low and high < m shows that two models are as good as each other, low > m or
    high < −m that they are not; without named models, every pair is to be equivalent or told apart (0
    outside the interval).

    Use it as a release gate: ask for non-inferiority with the margin that users would not notice.
    """

    reference: ClassVar[str] = "Schuirmann 1987; Jennison and Turnbull 1989"

    margin: float = parameter(help="the margin m, in units of the scores")
    question: Literal["non-inferior", "equivalent"] = parameter("equivalent", "what is asked")
    model: str | None = parameter(None, "the model that the question is about")
    against: str | None = parameter(None, "the model that it is compared with")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.margin > 0.0:
            raise UsageError(
                f"The margin is a number above zero in the unit of the scores, not {self.margin:g}."
            )
        if (self.model is None) != (self.against is None):
            raise UsageError("A margin is of two models, or of all pairs: give both model= and against=.")
        if self.question == "non-inferior" and self.model is None:
            raise UsageError("Non-inferiority is of one model against another: give model= and against=.")

    def check(self, progress: Progress) -> Stopped | None:
        """Stop when the interval, or every interval, lies on one side."""
        looks = [look for look in progress.looks(self.target) if look.tells]
        if not looks or (self.valid == "fixed" and not progress.final):
            return None
        if self.model is None or self.against is None:
            return self._all_pairs(looks, progress)
        places = [_place(progress.state.data.models, name) for name in (self.model, self.against)]
        # Two one-sided tests at α each are an interval of level 1 − 2α.
        half = self._halves(looks, min(2.0 * self.alpha, 0.99))[places[0], places[1]]
        apart = float(looks[-1].scores[places[0]] - looks[-1].scores[places[1]])
        answer = self._answer(apart - half, apart + half)
        if answer is None:
            return None
        said = f"{self.model} is {answer} to {self.against} by a margin of {self.margin:g}"
        return Stopped(f"{said}, with an error rate of {self.alpha:g}.", answer)

    def _answer(self, low: float, high: float) -> str | None:
        """Return what an interval of the difference shows."""
        if self.question == "non-inferior":
            return "non-inferior" if low > -self.margin else "inferior" if high < -self.margin else None
        if -self.margin < low and high < self.margin:
            return "equivalent"
        return "not equivalent" if low > self.margin or high < -self.margin else None

    def _all_pairs(self, looks: list[Look], progress: Progress) -> Stopped | None:
        now = looks[-1]
        count = len(now.scores)
        pairs: Mask = ~np.eye(count, dtype=bool)
        level = pair_level(now.covariance, pairs, self.alpha, degrees=now.freedom, seed=progress.state.seed)
        half = self._halves(looks, level)
        apart = np.abs(now.scores[:, None] - now.scores)
        shown = (apart > half) | (apart + half < self.margin)
        if not shown[pairs].all():
            return None
        same = int(((apart + half < self.margin) & (apart <= half))[np.triu_indices(count, 1)].sum())
        return Stopped(
            f"every pair is told apart or equivalent within {self.margin:g} ({same} of "
            f"{count * (count - 1) // 2} are equivalent), with an error rate of {self.alpha:g}."
        )

    def _halves(self, looks: list[Look], level: float) -> Floats:
        """Return half the width of every difference's interval; infinite where its error tells nothing."""
        now = looks[-1]
        critical = critical_value(looks, level, self.valid, self.spending)
        exact = now.exact[:, None] & now.exact
        told = np.where(pair_tells(now.covariance), critical * pair_errors(now.covariance), np.inf)
        return np.where(exact, 0.0, told)


def _place(models: tuple[str, ...], name: str) -> int:
    if name not in models:
        raise UnknownNameError("model", name, models)
    return models.index(name)
