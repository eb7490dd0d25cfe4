"""Shares and differences as people write them: 60%, 0.6, 0.3sd."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparingly.base.errors import UsageError, one_line

SD, PERCENT = "sd", "%"


@dataclass(frozen=True)
class Quantity:
    """A number above zero with its unit: none, ``sd`` or ``%``."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:g}{self.unit}"

    @classmethod
    def parse(cls, text: float | str | Quantity) -> Quantity:
        """Read 2.5, "4%" or "0.3sd"."""
        if isinstance(text, Quantity):
            return text
        written = str(text).strip()
        unit = next((unit for unit in (SD, PERCENT) if written.lower().endswith(unit)), "")
        try:
            value = float(written[: len(written) - len(unit)])
        except ValueError:
            raise UsageError(one_line(f'"{written}" is no number: write 2.5, 4% or 0.3sd.')) from None
        if not math.isfinite(value) or value <= 0:
            raise UsageError(f"Give a number above zero, not {written}.")
        return cls(value, unit)


def share(text: float | str, what: str) -> float:
    """Return a share between 0 and 1, given as 0.6 or "60%"."""
    given = Quantity.parse(text)
    if given.unit == PERCENT:
        # By its decimals, so that 4% is 0.04 and not its neighbour.
        value = float(f"{given.value!r}e-2") if "e" not in repr(given.value) else given.value / 100
    else:
        value = given.value
    if given.unit == SD or not value < 1:
        hint = f": write {given.value:g}%" if not given.unit and given.value <= 100 else ""
        raise UsageError(f"The {what} lies between 0 and 100 %, not {text}{hint}.")
    return value


def points(value: float, digits: int = 4) -> str:
    """Return a share as a percentage, without needless digits."""
    return f"{100 * value:.{digits}g} %"


def spoken(width: float, digits: int = 4) -> str:
    """Return a half-width of a share in points."""
    amount = f"{100 * width:.{digits}g}"
    return f"{amount} point{'' if amount == '1' else 's'}"


def chance(value: float) -> str:
    """Return a simulated probability in whole percent; almost certain is not certain."""
    if 0.995 <= value < 1.0:
        return "over 99 %"
    return "under 1 %" if value < 0.005 else f"{100 * value:.0f} %"
