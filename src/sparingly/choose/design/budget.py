"""Budgets: a count of items, a share of them, or a cost."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np

from sparingly.base.errors import UsageError, one_line
from sparingly.base.text import format_number

_TIME = re.compile(r"([0-9.]+) *(s|min|h)")
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
_HOW = 'Write a count (100), a share ("10%"), a cost ("cost:500") or a time ("2h", "90min", "600s").'


@dataclass(frozen=True)
class Budget:
    """How much may be judged: ``count`` items, a ``share`` of them, or a total ``cost``."""

    kind: Literal["count", "share", "cost"]
    amount: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.amount) or self.amount <= 0:
            raise UsageError(
                f"The budget must be a finite number above zero, not {format_number(self.amount)}. {_HOW}"
            )
        if self.kind == "share" and self.amount > 1:
            raise UsageError(f"A share of {self.amount:.4%} is more than everything. {_HOW}")
        if self.kind == "count" and self.amount != int(self.amount):
            raise UsageError(f"A count of {self.amount} items is not a whole number. {_HOW}")

    def __str__(self) -> str:
        if self.kind == "share":
            # Shifted as decimals, not multiplied: reading the text gives this very number back.
            return f"{Decimal(repr(float(self.amount))).scaleb(2).normalize():f}%"
        return f"cost:{format_number(self.amount)}" if self.kind == "cost" else format_number(self.amount)

    @classmethod
    def parse(cls, value: int | float | str | Budget) -> Budget:
        """Read a budget: 100 items, 0.1 or "10%" of them, "cost:500", or "2h" where costs are seconds."""
        if isinstance(value, Budget):
            return value
        if isinstance(value, str):
            text = value.strip()
            try:
                if text.endswith("%"):
                    return cls("share", float(f"{text[:-1].strip()}e-2"))
                if text.startswith("cost:"):
                    return cls("cost", float(text.removeprefix("cost:")))
                if match := _TIME.fullmatch(text):
                    return cls("cost", float(match.group(1)) * _SECONDS[match.group(2)])
                return cls("count", _as_float(int(text)))
            except UsageError:
                raise
            except ValueError:
                raise UsageError(one_line(f'"{text}" is not a budget. {_HOW}')) from None
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return cls("count", _as_float(int(value)))
        if not isinstance(value, float | np.floating):
            raise UsageError(one_line(f"{value!r} is not a budget. {_HOW}"))
        if math.isfinite(value) and value >= 1:
            share = 100 if value == 1 else value
            raise UsageError(f'Is {value:g} a count or a share? Write {int(value)} or "{share:g}%".')
        return cls("share", float(value))

    def count_of(self, total: int, noun: str = "items") -> int:
        """Return the number of things to choose out of so many."""
        if self.kind == "share":
            # At least one, and 0.29 of 100 is 29 although 0.29 * 100 is a little less in binary.
            return max(1, math.floor(self.amount * total + 1e-9))
        if self.amount > total:
            raise UsageError(
                f"The budget of {format_number(self.amount)} {noun} is larger than "
                f"the {total} that can be chosen."
            )
        return int(self.amount)

    def limit_of(self, total: float) -> float:
        """Return how much may be spent of a total: of all costs, or of a number of items."""
        if self.kind != "cost":
            return float(self.count_of(round(total)))
        if self.amount > total * (1 + 1e-12):
            raise UsageError(f"The budget {self} is larger than everything there is, which costs {total:g}.")
        return self.amount


def _as_float(count: int) -> float:
    """Return a whole number as a float; one that is too large for it is more than any pool holds."""
    try:
        return float(count)
    except OverflowError:
        return math.inf if count > 0 else -math.inf
