"""``estimate_scores``: the same estimates from plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.infer.estimate.assemble import Asked, Target, assemble
from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import Sample, sample_of
from sparingly.infer.estimate.scale import Scale
from sparingly.infer.estimate.small_sample import guarded


def estimate_scores(
    scores: Any,
    probability: Any = None,
    size: int | None = None,
    *,
    predictions: Any = None,
    guard: bool = True,
    models: Sequence[str] | None = None,
    target: Target = "set",
    level: float = 0.95,
    interval: Interval = "auto",
    scale: Scale | None = None,
    seed: int = 0,
    **drawn: Any,
) -> Estimate:
    """Estimate scores of a whole set from plain arrays: the weighted mean, or corrected predictions.

    Args:
        scores: items × models, NaN where not judged: the judged items (then give ``size``), or all items.
        probability: The chance to be judged: one number, one per row, or rows × models. Uniform unless given.
        size: The number of items in the set; the number of rows unless given.
        predictions: Predictions of the scores of *all* items × models, learned from other data or
            cross-fitted; the rows of ``scores`` must then be all items.
        guard: Whether predictions are shrunk, or not used, where few items are judged.
        models: The names of the models.
        target: This ``set``, or the ``population`` of inputs like these.
        level: The level of the intervals.
        interval: Their kind (see ``estimate``).
        scale: The lowest and the highest score that there can be.
        seed: The seed of the bootstrap.
        drawn: How rows were drawn: ``strata``, ``units`` (such as documents), ``coordinates`` (rows ×
            dimensions, of a spread draw), ``balance`` (rows × variables); and of all items ``weights``
            (importance) and ``documents`` (for the target ``population``).

    Examples:
        >>> import numpy, sparingly
        >>> scores = numpy.arange(200.0).reshape(100, 2)
        >>> found = sparingly.estimate_scores(scores, size=400)
        >>> found.scores, found.standard_errors.round(3)
        (array([ 99., 100.]), array([5.025, 5.025]))
    """
    asked = Asked(target, level, interval, scale, seed)
    sample = sample_of(scores, probability, size, **drawn)
    names = [f"model {place}" for place in range(sample.models)] if models is None else list(models)
    if len(names) != sample.models:
        raise UsageError(f"There are {sample.models} models but {len(names)} names.")
    if predictions is None:
        return assemble(
            sample, difference_form(sample), names, asked, aspect="score", estimator="weighted mean"
        )
    linear = _with_predictions(sample, np.asarray(predictions, np.float64), guard, np.shape(scores)[0])
    return assemble(sample, linear, names, asked, aspect="score", estimator="difference from predictions")


def _with_predictions(sample: Sample, predictions: Floats, guard: bool, rows: int) -> Linear:
    told = predictions[:, None] if predictions.ndim == 1 else predictions
    if told.shape != (sample.size, sample.models) or rows != sample.size:
        raise UsageError(
            f"Predictions are of all {sample.size} items × {sample.models} models, and so must the scores be "
            "(NaN where not judged)."
        )
    if np.isnan(told).any():
        raise UsageError("Predictions are needed for every item and model; some are missing.")
    if not guard:
        return difference_form(sample, told)
    kept = guarded(sample, told)
    linear = difference_form(sample, kept.predicted, parameters=2.0)
    return replace(linear, fallen_back=kept.fallen_back, notes=kept.notes())
