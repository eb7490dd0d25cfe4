"""Scales: which numbers an answer may be, and how one scale becomes another."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sparingly.base.errors import UsageError

_TEXT = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:,|-|–|:)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Scale:
    """The lowest and the highest score, both included."""

    low: float = 0.0
    high: float = 100.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise UsageError(f"A scale goes from a low number to a higher one, not from {self}.")

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    @classmethod
    def parse(cls, text: str) -> Scale:
        """Read a scale from ``0-100`` or ``0,100``."""
        match = _TEXT.fullmatch(text)
        if match is None:
            raise UsageError(f'The scale "{text}" is not two numbers: write 0-100.')
        return cls(float(match[1]), float(match[2]))

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high

    def to(self, other: Scale, score: float) -> float:
        """Return a score of this scale on another one, by a straight line through both ends."""
        if self == other:
            return score
        if score == self.high:
            return other.high
        share = (score - self.low) / (self.high - self.low)
        return other.low + share * (other.high - other.low)
