"""What judging an item costs: from a column, from the user's own ratings, or from a published line."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError
from sparingly.base.format import counted
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.length import source_lengths

LENGTH, FIT, LINE = "length", "fit", "line"
SECONDS_PER_WORD, SECONDS_PER_ITEM = 0.15, 33.7
SECONDS = "seconds"
_FEWEST_TIMED = 10


def item_costs(data: EvalSet, cost: str) -> tuple[Floats, str]:
    """Return the cost of judging every item on all models, and its unit.

    ``length``: the seconds of one judgement by the line t = 0.15·|source| + 33.7 that Zouhar et al. (2025,
    section 5.2) fitted to error span annotation, times the number of models. ``fit``: the same with a line
    fitted to the seconds of the set's own ratings. ``line:a:b``: a + b·|source| seconds an item, which the
    first two become once they are resolved. Anything else names a column, in the user's own unit.
    """
    line = cost_line(data, cost) if cost in (LENGTH, FIT) else _parse_line(cost)
    if line is not None:
        return _check_costs(line[0] + line[1] * source_lengths(data), cost), SECONDS
    if cost not in data.columns:
        hint = f"Write {LENGTH} or {FIT} for seconds from the length of the sources."
        raise UnknownNameError("column of costs", cost, data.columns, hint)
    try:
        costs = np.array([np.nan if value is None else value for value in data.columns[cost]], np.float64)
    except (TypeError, ValueError):
        sentence = f'The column "{cost}" holds something that is not a number, so it cannot be a cost.'
        raise DataError(sentence) from None
    return _check_costs(costs, cost), ""


def unit_of(cost: str | None) -> str:
    """Return the unit of a resolved cost: seconds for a line, nothing for the user's own column."""
    return SECONDS if cost is not None and _parse_line(cost) is not None else ""


def cost_fields(cost: str) -> frozenset[str]:
    """Return the fields that a cost is computed from."""
    return frozenset({fields.column(cost) if _parse_line(cost) is None else "sources"})


def resolve_cost(data: EvalSet, cost: str) -> str:
    """Return a cost that does not depend on models or ratings: ``length`` and ``fit`` become their lines.

    So a selection made before there are models, or before more ratings arrive, stays verifiable.
    """
    if cost not in (LENGTH, FIT):
        return cost
    intercept, slope = cost_line(data, cost)
    return f"{LINE}:{intercept:.6g}:{slope:.6g}"


def cost_line(data: EvalSet, cost: str) -> tuple[float, float]:
    """Return a and b of the seconds a + b·|source| that an item takes, all of its models judged.

    Without models it is the time of one judgement.
    """
    intercept, slope = (SECONDS_PER_ITEM, SECONDS_PER_WORD) if cost == LENGTH else fit_seconds(data)
    models = max(1, len(data.models))
    return models * intercept, models * slope


def _parse_line(cost: str) -> tuple[float, float] | None:
    kind, _, numbers = cost.partition(":")
    try:
        intercept, slope = (float(number) for number in numbers.split(":"))
    except ValueError:
        return None
    return (intercept, slope) if kind == LINE else None


def fit_seconds(data: EvalSet) -> tuple[float, float]:
    """Fit seconds per rating = a + b·|source| to the set's own ratings; return a and b, neither negative.

    Times above the 95 % quantile are cut to it, because logged seconds contain breaks.
    """
    ratings = data.ratings
    lengths = source_lengths(data)
    timed = np.flatnonzero((ratings.seconds > 0) & ~np.isnan(lengths[ratings.item]))
    if len(timed) < _FEWEST_TIMED:
        raise MissingDataError(
            f"A cost fitted to seconds needs at least {_FEWEST_TIMED} ratings with seconds, "
            f"and there are {len(timed)}. Use cost={LENGTH}, or a column."
        )
    seconds = np.minimum(ratings.seconds[timed], np.quantile(ratings.seconds[timed], 0.95))
    words = lengths[ratings.item[timed]]
    slope, intercept = (-1.0, 0.0) if np.ptp(words) == 0 else np.polyfit(words, seconds, 1)
    # Least squares among the lines that neither start below zero nor fall.
    if slope < 0:
        return float(seconds.mean()), 0.0
    if intercept < 0:
        return 0.0, float((seconds * words).sum() / (words**2).sum())
    return float(intercept), float(slope)


def _check_costs(costs: Floats, name: str) -> Floats:
    if np.isnan(costs).any():
        lost = counted(int(np.isnan(costs).sum()), "item has", "items have")
        raise DataError(f'{lost} no cost by "{name}". Give every item one.')
    if np.isinf(costs).any():
        raise DataError(f'The cost "{name}" is infinite for {counted(int(np.isinf(costs).sum()), "item")}.')
    if (costs < 0).any():
        items = counted(int((costs < 0).sum()), "item")
        raise DataError(f'The cost "{name}" is negative for {items}. Costs are zero or more.')
    return costs
