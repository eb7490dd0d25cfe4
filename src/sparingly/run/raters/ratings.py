"""Ratings standardised by rater."""

from __future__ import annotations

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.rater_effects import rater_scores


def standardised(data: EvalSet, aspect: str | None = None, name: str | None = None) -> EvalSet:
    """Return the set with one more aspect: z-scores by rater, averaged over the raters of an output.

    z_ijr = (y_ijr − ȳ_r)/s_r with the mean and the standard deviation of all that rater r gave. It removes
    severity and how much of the scale a rater uses, but also any true difference between the items that
    raters were given: compare models on it where everyone judged all models of an item, and report raw
    scores beside it. A rater who always gives the same gets 0.

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; default: the only one.
        name: The name of the new aspect; default: ``<aspect>_z``.

    Examples:
        >>> import sparingly
        >>> data = sparingly.standardised(sparingly.load_demo(), "mqm")
        >>> "mqm_z" in data.aspects
        True
    """
    ratings = rater_scores(data, aspect)
    new_name = name or f"{ratings.aspect}_z"
    if new_name in data.aspects:
        raise UsageError(f'There is an aspect "{new_name}" already: give the new one another name.')
    count = ratings.judgements.astype(np.float64)
    mean = np.bincount(ratings.rater, ratings.score) / count
    deviations = ratings.score - mean[ratings.rater]
    spread = np.sqrt(np.bincount(ratings.rater, deviations**2) / np.maximum(count - 1.0, 1.0))
    # What is left of equal numbers after subtracting their mean is a matter of rounding.
    steady = spread <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    score = np.where(steady[ratings.rater], 0.0, deviations / np.where(steady, 1.0, spread)[ratings.rater])
    cells = ratings.item * len(data.models) + ratings.model
    size = len(data) * len(data.models)
    total, judged = np.bincount(cells, score, minlength=size), np.bincount(cells, minlength=size)
    means = np.where(judged > 0, total / np.maximum(judged, 1), np.nan).reshape(data.shape)
    return data.with_aspect(new_name, means)
