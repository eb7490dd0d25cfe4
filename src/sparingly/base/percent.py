"""Chances as text."""

from __future__ import annotations

_LEAST = 0.001


def percent(chance: float | None) -> str:
    """Return a chance as a percentage that never says 0 or 100: a simulated zero is only "under 0.1 %".

    Whole percent from 1 to 99, one decimal beyond; a dash where there is none. Use it for every chance that
    was simulated or computed from a model, so that nobody reads certainty into few draws.

    Examples:
        >>> from sparingly.base.percent import percent
        >>> percent(0.894), percent(0.004), percent(0.0), percent(1.0), percent(None)
        ('89 %', '0.4 %', 'under 0.1 %', 'over 99.9 %', '-')
    """
    if chance is None or chance != chance:
        return "-"
    if chance < _LEAST:
        return f"under {100 * _LEAST:.1f} %"
    if chance > 1 - _LEAST:
        return f"over {100 * (1 - _LEAST):.1f} %"
    return f"{100 * chance:.0f} %" if 0.01 <= chance <= 0.99 else f"{100 * chance:.1f} %"
