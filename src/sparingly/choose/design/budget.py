"""Budgets: a count of items, a share of them, or a cost."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from sparingly.base.errors import UsageError
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
            raise UsageError(f"The budget must be above zero, not {format_number(self.amount)}. {_HOW}")
        if self.kind == "share" and self.amount > 1:
            raise UsageError(f"A share of {self.amount:.4%} is more than everything. {_HOW}")
        if self.kind == "count" and self.amount != int(self.amount):
            raise UsageError(f"A count of {self.amount} items is not a whole number. {_HOW}")

    def __str__(self) -> str:
        if self.kind == "share":
            return f"{format_number(round(self.amount * 100, 10))}%"
        return f"cost:{format_number(self.amount)}" if self.kind == "cost" else format_number(self.amount)

    @classmethod
    def parse(cls, value: int | float | str | Budget) -> Budget:
        """Read a budget: 100 items, 0.1 or "10%" of them, "cost:500", or "2h" where costs are seconds."""
        if isinstance(value, Budget):
            return value
        if isinstance(value, bool):
            raise UsageError(f"{value} is no budget. {_HOW}")
        if isinstance(value, int):
            return cls("count", float(value))
        if isinstance(value, float):
            if value >= 1:
                raise UsageError(f"Is {value} a count or a share? Write {int(value)} or \"{value:g}%\".")
            return cls("share", value)
        return cls._from_text(value.strip())

    @classmethod
    def _from_text(cls, text: str) -> Budget:
        try:
            if text.endswith("%"):
                return cls("share", float(text[:-1]) / 100)
            if text.startswith("cost:"):
                return cls("cost", float(text.removeprefix("cost:")))
            if match := _TIME.fullmatch(text):
                return cls("cost", float(match.group(1)) * _SECONDS[match.group(2)])
            return cls("count", float(int(text)))
        except UsageError:
            raise
        except ValueError:
            raise UsageError(f'"{text}" is no budget. {_HOW}') from None

    def count_of(self, total: int, what: str = "items") -> int:
        """Return the number of things to choose out of so many."""
        if self.kind == "share":
            # At least one, and 0.29 of 100 is 29 although 0.29 * 100 is a little less in binary.
            return max(1, math.floor(self.amount * total + 1e-9))
        if self.amount > total:
            raise UsageError(
                f"The budget of {format_number(self.amount)} {what} is larger than the {total} that can be chosen."
            )
        return int(self.amount)
