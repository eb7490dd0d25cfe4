"""Scales: the lowest and the highest possible score, and how one scale becomes another."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from sparingly.base.errors import UsageError

_TEXT = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:,|-|–|:)\s*(-?\d+(?:\.\d+)?)\s*")


# What a caller may give for a scale.
Ends = tuple[float, float]


class _LowAndHigh(NamedTuple):
    low: float
    high: float


class Scale(_LowAndHigh):
    """The lowest and the highest possible score, both included; as good as a pair of numbers.

    Examples:
        >>> Scale(1, 5).convert(3, Scale(0, 100))
        50.0
        >>> 6 in Scale(1, 5)
        False
    """

    __slots__ = ()

    def __new__(cls, low: float = 0.0, high: float = 100.0) -> Scale:
        """Make a scale; it goes from a finite number to a higher one."""
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UsageError(
                f"A scale goes from a finite number to a higher one, not from {low:g} to {high:g}."
            )
        return super().__new__(cls, low, high)

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read a scale from ``0-100`` or ``0,100``."""
        match = _TEXT.fullmatch(text)
        try:
            low, high = map(float, match.groups() if match else text.split(","))
        except ValueError:
            raise UsageError(f'The scale "{text}" is not two numbers: write 0,100.') from None
        return cls(low, high)

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def __contains__(self, score: object) -> bool:
        return self.low <= float(score) <= self.high  # type: ignore[arg-type]

    def convert(self, score: float, other: Scale) -> float:
        """Return a score of this scale on another one, by a straight line through both ends."""
        if self == other:
            return score
        if score == self.high:
            return other.high
        share = (score - self.low) / (self.high - self.low)
        return other.low + share * (other.high - other.low)
