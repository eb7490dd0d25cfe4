"""An intercept for every model: the mean of its labels, drawn a little towards the mean of all.

Metrics differ from people in how they see one model as a whole, so labels of all models can share slopes but
not an intercept. A difference between models then never passes for a slope; the intercept itself cancels from
an estimate of the model's mean.
"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats

# Labels' worth of prior for the difference between a model's intercept and the common one.
PRIOR_LABELS = 1.0


def intercept_smoother(totals: Floats) -> Floats:
    """Return K (models x models) with intercepts = K · (weighted sums of what is left to explain).

    It solves min Σ w_ij (r_ij − a − d_j)² + κ Σ d_j² with κ = ``PRIOR_LABELS``, for models whose labels weigh
    ``totals``: a model without labels gets the common intercept.
    """
    models = len(totals)
    common = np.column_stack([np.ones(models), np.eye(models)])
    inner = common.T @ (totals[:, None] * common)
    inner[1:, 1:] += PRIOR_LABELS * np.eye(models)
    return np.asarray(common @ np.linalg.solve(inner, common.T))


def model_intercepts(scores: Floats, weights: Floats) -> Floats:
    """Return the shrunk intercepts of scores, items x models, with weight 0 where there is none."""
    return np.asarray(intercept_smoother(weights.sum(axis=0)) @ (weights * scores).sum(axis=0))
