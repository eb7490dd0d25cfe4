"""Numbers as text: probabilities, shares, scores, intervals, counts; and small tables as HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

NO_INTERVAL = "no interval"
_SMALLEST = 0.001
_ONE_WORD = re.compile(r"\bp [<=] [.\d]|\d %|± [.\d]")


def percent(probability: float | None) -> str:
    """Return a probability as a percentage that never says 0 or 100: a simulated zero is "under 0.1 %".

    Whole percent from 1 to 99, one decimal beyond; a dash for None and NaN. Use it for every probability that
    was simulated or computed from a model, so that nobody reads certainty into few draws.

    Examples:
        >>> from sparingly.base.format import percent
        >>> percent(0.894), percent(0.004), percent(0.0), percent(1.0), percent(None)
        ('89 %', '0.4 %', 'under 0.1 %', 'over 99.9 %', '-')
    """
    if probability is None or probability != probability:
        return "-"
    if probability < _SMALLEST:
        return f"under {100 * _SMALLEST:.1f} %"
    if probability > 1 - _SMALLEST:
        return f"over {100 * (1 - _SMALLEST):.1f} %"
    return f"{100 * probability:.{0 if 0.01 <= probability <= 0.99 else 1}f} %"


def share_text(share: float | None, digits: int = 1) -> str:
    """Return a share as a percentage; a share below 1 never reads 100 %, one above 0 never 0 %.

    Examples:
        >>> from sparingly.base.format import share_text
        >>> share_text(0.93), share_text(0.9999), share_text(0.00001), share_text(1.0)
        ('93.0 %', 'over 99.9 %', 'under 0.1 %', '100.0 %')
    """
    if share is None or share != share:
        return "-"
    text, step = f"{100 * share + 0.0:.{digits}f} %", 10.0**-digits
    if share < 1 and text == f"{100:.{digits}f} %":
        return f"over {100 - step:.{digits}f} %"
    return f"under {step:.{digits}f} %" if share > 0 and text == f"{0:.{digits}f} %" else text


def number_text(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits, never a negative zero; a dash for None and NaN."""
    return "-" if value is None or value != value else f"{value + 0.0:.{digits}g}"


def decimals_for(errors: Iterable[float | None]) -> int | None:
    """Return the decimals for scores with these errors: the largest error has two digits; None without any.

    Examples:
        >>> from sparingly.base.format import decimals_for
        >>> decimals_for([0.167, 0.411]), decimals_for([2.04]), decimals_for([31.0]), decimals_for([0.0])
        (2, 1, 0, None)
    """
    largest = max((error for error in errors if error is not None and math.isfinite(error)), default=0.0)
    return None if largest <= 0 else min(max(1 - math.floor(math.log10(largest)), 0), 8)


def score_decimals(scores: Iterable[float | None], errors: Iterable[float | None]) -> int | None:
    """Return the decimals of scores: by their errors, or, where these are 0 or unknown, by their spread."""
    if (decimals := decimals_for(errors)) is not None:
        return decimals
    known = [score for score in scores if score is not None and math.isfinite(score)]
    return decimals_for([(max(known) - min(known)) / 10.0]) if known else None


def with_error(score: str, error: str) -> str:
    """Return a score and its standard error; the score alone where the error is 0 or unknown."""
    number = error.removesuffix(" points")
    return score if number == "-" or float(number.removeprefix("under ")) == 0 else f"{score} ± {error}"


def decimal_text(value: float | None, decimals: int | None, digits: int = 4) -> str:
    """Return a number with so many decimals, never a negative zero; without them, with so many digits."""
    if value is None or value != value or decimals is None:
        return number_text(value, digits)
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def score_text(score: float | None, *, is_rate: bool, decimals: int | None = None) -> str:
    """Return a score: a rate (a share of passes or wins) in percent, any other as a number.

    Every table and page prints scores with this function, errors with ``error_text``, intervals with
    ``ends_text``; ``decimals_for`` gives the decimals.
    """
    return share_text(score) if is_rate else decimal_text(score, decimals)


def error_text(error: float | None, *, is_rate: bool, decimals: int | None = None) -> str:
    """Return a standard error: of a rate in percentage points, of any other score as a number."""
    if error is None or error != error or not is_rate:
        return decimal_text(error, decimals_for([error]) if decimals is None else decimals)
    return f"{100 * error:.1f} points" if error >= 0.0005 or error == 0 else "under 0.1 points"


def ends_text(
    low: float | None, high: float | None, *, is_rate: bool = False, decimals: int | None = None
) -> str:
    """Return an interval in words: both ends, the one end that is finite, or that there is none.

    Ends of rates are rounded outwards, so that the printed interval holds as well.
    """
    low, high = (None if end is None or not math.isfinite(end) else end for end in (low, high))
    low_text, high_text = (
        _end_text(end, rounding) if is_rate else decimal_text(end, decimals)
        for end, rounding in ((low, math.floor), (high, math.ceil))
    )
    if low is None:
        return NO_INTERVAL if high is None else f"at most {high_text}"
    if high is None:
        return f"at least {low_text}"
    if is_rate:
        return f"{low_text} to {high_text}" if low < high else share_text(low)
    return f"[{low_text}, {high_text}]"


def _end_text(end: float | None, rounding: Callable[[float], int]) -> str:
    if end is None:
        return "-"
    # The slack keeps an end that is a whole tenth but for its last bits where it is.
    slack = 1e-9 if rounding is math.floor else -1e-9
    return f"{rounding(1000 * end + slack) / 10 + 0.0:.1f} %"


def p_text(p_value: float) -> str:
    """Return a p-value as papers print it.

    Examples:
        >>> from sparingly.base.format import p_text
        >>> p_text(0.0534), p_text(0.3), p_text(0.0002), p_text(1.0)
        ('p = .053', 'p = .30', 'p < .001', 'p = 1')
    """
    if p_value < 0.001:
        return "p < .001"
    if p_value >= 0.995:
        return "p = 1"
    digits = 2 if p_value >= 0.0995 else 3
    return f"p = {p_value:.{digits}f}".replace("0.", ".", 1)


def unbroken(text: str) -> str:
    """Return a text in which no line ends inside a p-value, or before a percent sign."""
    return _ONE_WORD.sub(lambda match: match[0].replace(" ", "\u00a0"), text)


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: 1 item, 2,000 items."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def cell_text(cell: object) -> str:
    """Return a cell's text: short numbers, nothing for None and NaN."""
    if cell is None or cell != cell:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
