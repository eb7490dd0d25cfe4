"""``margin_settled``: stop when a question with a margin is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.infer.rank.pair_errors import pair_errors, pair_tells
from sparingly.run.rounds.stop.base import Progress, Stopped
from sparingly.run.rounds.stop.critical import pair_level
from sparingly.run.rounds.stop.settled import Look, critical_value
from sparingly.run.rounds.stop.testing import TestingStop


@register("margin_settled")
@dataclass(frozen=True, kw_only=True)
class MarginSettled(TestingStop):
    """Stops when differences are shown to lie on one side of a margin.

    The interval of a difference, low = d̂ − c·se to high = d̂ + c·se, holds at all looks at once, each end
    with probability 1 − α. ``non-inferior``: low > −m shows that the model is not worse than the other by m
    or more, high < −m that it is. ``equivalent``: −m < low and high < m shows that two models are as good as
    each other; low > m or high < −m that they are not, with each end at 1 − α/2, since either end can err.
    Without named models, every pair is to be equivalent or told apart (0 outside the interval).

    Use it as a release gate: ask for non-inferiority with the margin that users would not notice.
    """

    reference: ClassVar[str] = "Schuirmann 1987; Jennison and Turnbull 1989; Tango 1998"

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
            return self._all_pairs(looks)
        places = [_place(progress.state.data.models, name) for name in (self.model, self.against)]
        answer = self.answer(looks, places[0], places[1])
        if answer is None:
            return None
        said = f"{self.model} is {answer} to {self.against} by a margin of {self.margin:g}"
        return Stopped(f"{said}, with an error rate of {self.alpha:g}.", answer)

    def answer(self, looks: Sequence[Look], first: int, second: int) -> str | None:
        """Return what some looks show of two models; None where nothing is shown yet."""
        apart = float(looks[-1].scores[first] - looks[-1].scores[second])
        # Two one-sided tests at α each are an interval of level 1 − 2α.
        half = float(self._halves(looks, min(2.0 * self.alpha, 0.99))[first, second])
        if self.question == "non-inferior":
            if apart - half > -self.margin:
                return "non-inferior"
            return "inferior" if apart + half < -self.margin else None
        if abs(apart) + half < self.margin:
            return "equivalent"
        # A difference can lie beyond the margin on either side: a two-sided test.
        wider = float(self._halves(looks, self.alpha)[first, second])
        return "not equivalent" if abs(apart) - wider > self.margin else None

    def _all_pairs(self, looks: Sequence[Look]) -> Stopped | None:
        apart, same = self.shown(looks)
        pairs = np.triu_indices(len(apart), 1)
        if not (apart | same)[pairs].all():
            return None
        return Stopped(
            f"every pair is told apart or equivalent within {self.margin:g} "
            f"({int((same & ~apart)[pairs].sum())} of {len(pairs[0])} are equivalent), with an error rate of "
            f"{self.alpha:g}."
        )

    def shown(self, looks: Sequence[Look]) -> tuple[Mask, Mask]:
        """Return models × models, by intervals that hold for all pairs: which differ, which are the same."""
        now = looks[-1]
        pairs: Mask = ~np.eye(len(now.scores), dtype=bool)
        half = self._halves(looks, pair_level(pairs, self.alpha))
        apart = np.abs(now.scores[:, None] - now.scores)
        return pairs & (apart > half), pairs & (apart + half < self.margin)

    def _halves(self, looks: Sequence[Look], level: float) -> Floats:
        """Return half the width of every difference's interval; infinite where its error tells nothing."""
        now = looks[-1]
        critical = critical_value(looks, level, self.valid, self.spending)
        exact = now.exact[:, None] & now.exact
        errors = np.sqrt(pair_errors(now.covariance) ** 2 + self._rest(now))
        return np.where(exact, 0.0, np.where(pair_tells(now.covariance), critical * errors, np.inf))

    def _rest(self, now: Look) -> Floats:
        """Return by how much the variance of a difference d̂ within the margin is larger on the margin.

        Two-valued scores r apart differ by m on average only if they differ on a share m/r of the items or
        more. So where fewer differ by chance, d̂ is small and so is its error. On the margin (m − |d̂|)/r more
        items differ: (m − |d̂|)(r − m − |d̂|)/n more variance, much as in a score test (Tango 1998).
        """
        apart = np.abs(now.scores[:, None] - now.scores)
        if now.step == 0.0 or now.judged is None:
            return np.zeros_like(apart)
        count = np.maximum(np.minimum(now.judged[:, None], now.judged), 1.0)
        more = np.maximum(self.margin - apart, 0.0) * np.maximum(now.step - self.margin - apart, 0.0)
        return np.asarray(more / count)


def _place(models: tuple[str, ...], name: str) -> int:
    if name not in models:
        raise UnknownNameError("model", name, models)
    return models.index(name)
