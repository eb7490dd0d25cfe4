"""Items that a selection was drawn from and that are not in the data: the sources of a pool, most often.

Whoever draws 2,000 of a million sources and lets models answer those has data on 2,000 items, and scores that
speak of a million. One over the chances of both draws is all that a weighted mean needs of the others.
"""

from __future__ import annotations

from dataclasses import replace

from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import Method
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.base import Estimator, as_estimator
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.weighted_mean import WeightedMean

NOTE = (
    "the items were drawn from {size:,}, of which {here:,} are in the data: scores are of all {size:,}, by "
    "the chances of the draw alone."
)


def items_outside(data: EvalSet, selection: Selection | None) -> int:
    """Return how many items the first draw had to choose from that are not in the data.

    Fewer items than there are now is an error: the chances are not of this set. So is a later round on its
    own: what the rounds before it asked for could not be drawn in it.
    """
    if selection is None:
        return 0
    first = selection.signature
    if first.round is not None and first.round > 1:
        raise UsageError(
            f"This is round {first.round} of several, in which items of earlier rounds could not be drawn: "
            "it does not speak for the set on its own. Estimate from the campaign."
        )
    while first.pool is not None:
        first = first.pool
    if first.of < len(data):
        raise DataError(
            f"The selection was drawn from {first.of} items, and this set has {len(data)}: "
            "scores can be estimated only of the set that it was drawn from."
        )
    return first.of - len(data)


def estimator_for(estimator: str | Method | None, outside: int, by: str | None) -> str | Method | None:
    """Return the estimator; where items are missing, the one that needs nothing of them."""
    if not outside:
        return estimator
    if by is not None:
        raise UsageError(
            f"Groups cannot be estimated: {outside:,} of the items that were drawn from are not in the data."
        )
    found: Estimator = as_estimator("weighted_mean" if estimator is None else estimator)
    if not isinstance(found, WeightedMean):
        raise UsageError(
            f"{found.name} needs all items that were drawn from, and {outside:,} of them are not in the "
            "data: use weighted_mean, or add them."
        )
    return found


def with_outside(sample: Sample, outside: int) -> Sample:
    """Return a sample whose scores also speak of the items that are not in the data."""
    if not outside:
        return sample
    if sample.weights is not None:
        raise UsageError(
            f"Items count by their weights, and {outside:,} of those that were drawn from are not in the "
            "data."
        )
    size = sample.size + outside
    return replace(sample, size=size, notes=(*sample.notes, NOTE.format(size=size, here=sample.size)))
