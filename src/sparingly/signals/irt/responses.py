"""Scores as responses: scaled to 0–1, or cut into success and failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.signals.irt.priors import Response


@dataclass(frozen=True, eq=False)
class Responses:
    """What every model answered on every item, models x items, so that sums over models run along memory.

    Attributes:
        values: Between 0 and 1 (continuous), or 0 and 1 only (binary); 0 where missing.
        present: 1 where there is a response and 0 where not; None when nothing is missing.
        response: The form of the responses.
    """

    values: Floats
    present: Floats | None
    response: Response

    @property
    def shape(self) -> tuple[int, int]:
        """The number of models and of items."""
        models, items = self.values.shape
        return models, items

    @property
    def count(self) -> float:
        """How many responses there are."""
        return float(self.values.size if self.present is None else self.present.sum())

    def per_item(self) -> Floats:
        """Return how many models answered each item."""
        return self._counts(axis=0)

    def per_model(self) -> Floats:
        """Return how many items each model answered."""
        return self._counts(axis=1)

    def take(self, items: NDArray[np.intp] | slice) -> Responses:
        """Return the responses to some items."""
        present = None if self.present is None else np.ascontiguousarray(self.present[:, items])
        return Responses(np.ascontiguousarray(self.values[:, items]), present, self.response)

    def blocks(self, items: int) -> Iterator[Responses]:
        """Cut the responses into blocks of items, small enough for the processor's cache."""
        for start in range(0, self.shape[1], items):
            yield self.take(slice(start, start + items))

    def _counts(self, axis: int) -> Floats:
        if self.present is not None:
            return np.asarray(self.present.sum(axis=axis))
        return np.full(self.values.shape[1 - axis], float(self.values.shape[axis]))


def as_responses(
    scores: Floats, response: Response, threshold: float | None = None, *, scale: bool = True
) -> Responses:
    """Make responses from scores, items x models with NaN where missing, of which at least one is there."""
    as_it_is = scaled(scores) if scale else scores.copy()
    made = success(scores, threshold) if response == "binary" else as_it_is
    missing = np.isnan(scores)
    present = np.ascontiguousarray(~missing.T, np.float64) if missing.any() else None
    made[missing] = 0.0
    return Responses(np.ascontiguousarray(made.T), present, response)


def scaled(scores: Floats) -> Floats:
    """Scale scores so that the lowest of the metric is 0 and the highest 1; where all are equal, 0.5."""
    low, high = np.nanmin(scores), np.nanmax(scores)
    return scores * 0.0 + 0.5 if high == low else np.asarray((scores - low) / (high - low))


def success(scores: Floats, threshold: float | None = None) -> Floats:
    """Return 1 where a score is above the threshold, 0 where it is not, NaN where it is missing.

    Without a threshold the scores are cut at their median. Scores that are equal to the median then count as
    successes, unless counting them as failures gives a more even cut (a metric of zeros and ones has most of
    its scores at the median).
    """
    if threshold is None:
        known = scores[~np.isnan(scores)]
        median = np.median(known)
        reached, passed = np.mean(known >= median), np.mean(known > median)
        cut = scores >= median if abs(reached - 0.5) <= abs(passed - 0.5) else scores > median
    else:
        cut = scores > threshold
    return np.where(np.isnan(scores), np.nan, cut.astype(np.float64))
