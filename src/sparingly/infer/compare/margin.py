"""A question with a margin: is a model at most so much worse than another (yes, no, or not yet)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sparingly.base.errors import UsageError
from sparingly.base.format import counted, number_text
from sparingly.infer.plan.sample_size import PERCENT, SD, Quantity

Answer = Literal["yes", "no", "not yet"]


@dataclass(frozen=True)
class MarginLook:
    """At which look a question that may be asked again was answered."""

    number: int  # the number of the look; 0 before the first
    of: int  # how many looks there are at most
    items: int  # how many items it saw
    following: int | None  # after how many items the next look is; None after the last
    ready: int  # how many items are judged in the order in which they were drawn


@dataclass(frozen=True)
class MarginAnswer:
    """Whether a model is at most a margin worse than another.

    ``yes`` where the low end of the interval of level 1 − 2α is above −margin, ``no`` where the high end is
    below it, else ``not yet``: each of the two is wrong with probability α at most (non-inferiority).
    """

    # The model in question, and the one that it is held against.
    model: str
    against: str
    margin: float  # the margin, in the unit of the scores; a share for rates
    # The ends of the interval of the difference, ``model`` less ``against``.
    low: float
    high: float
    level: float  # the confidence of each end by itself, 1 − α
    is_share: bool  # whether all of these are shares, which are printed in points
    # The look that gave the answer, where it may be asked again; ``level`` then holds over all looks.
    look: MarginLook | None = None

    @property
    def answer(self) -> Answer:
        """The answer."""
        if self.low > -self.margin:
            return "yes"
        return "no" if self.high < -self.margin else "not yet"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; an end that is not known is None."""
        ends = {
            name: end if math.isfinite(end) else None
            for name, end in (("low", self.low), ("high", self.high))
        }
        return {**asdict(self), **ends, "answer": self.answer}

    def __str__(self) -> str:
        """Return question and answer."""
        return self._sentence() if self.look is None else f"{self._sentence()} {self._look_text(self.look)}"

    def _look_text(self, look: MarginLook) -> str:
        """Say at which look this was answered, and when the next one is."""
        if not look.number:
            return f"The first look is at {counted(look.following or 0, 'item')}; {look.ready} are judged."
        spot = f"look {look.number} of at most {look.of}, at {counted(look.items, 'item')}"
        if self.answer != "not yet":
            return f"Answered at {spot}: later labels do not change it."
        if look.following is None:
            return "That was the last look: the budget is spent."
        return f"This is {spot}; the next is at {look.following}, and {look.ready} are judged."

    def _sentence(self) -> str:
        head = f"Is {self.model} at most {self._amount(self.margin)} worse than {self.against}?"
        over = "" if self.look is None else " over all looks"
        confidence = f"with {number_text(100 * self.level)} % confidence{over}"
        # Whether the two are within the margin of each other, by two one-sided tests (Schuirmann 1987).
        if -self.margin < self.low and self.high < self.margin:
            return f"{head} Yes: the two are within {self._amount(self.margin)} of each other, {confidence}."
        if self.answer == "no":
            return f"{head} No: at least {self._amount(-self.high, down=True)} worse, {confidence}."
        if self.low >= 0:
            return f"{head} Yes: at least as good, {confidence}."
        if not math.isfinite(self.low):
            return f"{head} Not yet: too little is known ({confidence})."
        worst = self._amount(-self.low)
        if self.answer == "yes":
            return f"{head} Yes: at most {worst} worse, {confidence}."
        return f"{head} Not yet: it may be up to {worst} worse ({confidence})."

    def _amount(self, value: float, *, down: bool = False) -> str:
        """Return an amount in points, or in the unit of the scores, rounded away from what is claimed."""
        if not self.is_share:
            return number_text(value, 3)
        points = (math.floor if down else math.ceil)(1000.0 * value + (1e-9 if down else -1e-9)) / 10.0
        return f"{points:g} point{'' if points == 1 else 's'}"


def parse_margin(text: float | str, *, is_share: bool, of: str) -> float:
    """Return a margin in the unit of what is compared: "2%" or 0.02 for rates, else a number."""
    quantity, whose = Quantity.parse(text), f"{of[:1].upper()}{of[1:]}"
    if quantity.unit == SD:
        unit = "in percent, such as 2%" if is_share else "in the unit of the scores, such as 2"
        raise UsageError(f"A margin is not in standard deviations: write it {unit}.")
    if is_share:
        if quantity.unit == PERCENT:
            return quantity.value / 100.0
        if quantity.value >= 1.0:
            raise UsageError(f"{whose} are rates: write the margin in percent, --margin {quantity.value:g}%.")
        return quantity.value
    if quantity.unit == PERCENT:
        raise UsageError(
            f"{whose} are not rates: write the margin in their unit, --margin {quantity.value:g}."
        )
    return quantity.value
