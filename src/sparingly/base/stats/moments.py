"""Means and variances of rows with missing values, principal axes, and numbers far from the others."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.lazy import special

_BLOCK = 4096


def row_means(scores: Floats) -> Floats:
    """Return the mean of every row over its present values, NaN where there are none."""
    # A matrix product sums rows several times faster than a reduction over a short axis.
    total = scores @ np.ones(scores.shape[1])
    means = total / scores.shape[1] if scores.shape[1] else np.full(len(scores), np.nan)
    gaps = np.flatnonzero(np.isnan(total))
    if len(gaps):
        present = ~np.isnan(scores[gaps])
        counts = present.sum(axis=1)
        sums = np.where(present, scores[gaps], 0.0).sum(axis=1)
        means[gaps] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.asarray(means)


def row_variances(scores: Floats) -> Floats:
    """Return the population variance of every row about its mean, missing values left out."""
    means, variances = row_means(scores), np.empty(len(scores))
    # In blocks that stay in the processor's cache: touching new memory would cost more than the sums.
    for start in range(0, len(scores), _BLOCK):
        rows = slice(start, start + _BLOCK)
        deviations = scores[rows] - means[rows, None]
        variances[rows] = np.einsum("ij,ij->i", deviations, deviations) / scores.shape[1]
    gaps = np.flatnonzero(np.isnan(variances))
    if len(gaps):
        variances[gaps] = row_means((scores[gaps] - means[gaps, None]) ** 2)
    return variances


def principal_axes(covariance: Floats, count: int, floor: float, *, relative: bool = True) -> Floats:
    """Return the axes of largest variance, columns × axes, scaled so that components have variance 1.

    At most ``count`` axes; those whose variance is not above the floor (``relative``: above this share of the
    largest variance) are left out.
    """
    variances, axes = np.linalg.eigh(covariance)
    best = np.argsort(-variances, kind="stable")[:count]
    best = best[variances[best] > (floor * variances[best[0]] if relative else floor)]
    return np.asarray(axes[:, best] / np.sqrt(variances[best]))


# --- outliers ---


Side = Literal["both", "low", "high"]
FEWEST = 4


def outlier_p_values(values: Floats, errors: Floats, side: Side = "both") -> Floats:
    """Return, for every number, the probability of lying so far from the others if it were one of them.

    NaN stays NaN, and all are NaN with fewer than four: of three, none can be called an outlier. Exact
    numbers have an error of 0; ``side`` says which deviations count. See ``outlier_p_value``.
    """
    p_values = np.full(len(values), np.nan)
    for place in np.flatnonzero(~np.isnan(values)):
        references = np.delete(values, place), np.delete(errors, place)
        p_values[place] = outlier_p_value(float(values[place]), float(errors[place]), *references, side)
    return p_values


def outlier_p_value(
    value: float, error: float, references: Floats, reference_errors: Floats, side: Side = "both"
) -> float:
    """Return the probability of lying so far from references if it were one of them; NaN with too few.

    t = (x − mean of the references)/√(v·(1 + 1/k)) with k references of variance v and Student's t at k − 1
    degrees of freedom: the externally studentised deviation. A number with a larger error than the references
    gets the difference of squared errors on top of v; v is at least their mean squared error.
    """
    present = ~np.isnan(references)
    count = int(present.sum())
    if count < FEWEST - 1:
        return float("nan")
    noise = float(np.mean(reference_errors[present] ** 2))
    spread = max(float(references[present].var(ddof=1)), noise)
    variance = spread * (1.0 + 1.0 / count) + max(error**2 - noise, 0.0)
    gap = value - float(references[present].mean())
    if variance <= 0.0:
        return 1.0 if abs(gap) <= 1e-12 * max(1.0, abs(value)) else 0.0
    low = float(special.stdtr(count - 1.0, gap / np.sqrt(variance)))
    return {"low": low, "high": 1.0 - low, "both": 2.0 * min(low, 1.0 - low)}[side]


# --- the bias of a sum of squares over documents of unequal length, and its degrees of freedom ---


# The assumed correlation of two items of a document. With 10 to 60 documents whose lengths differ as those of
# texts do, a true .1 to .6 leaves the factor right within 4 % and the degrees of freedom within 20 %.
INTRACLASS = 0.3


def cluster_correction(heft: Floats, squares: Floats, alike: float = INTRACLASS) -> tuple[Floats, Floats]:
    """Return κ and the degrees of freedom of κ Σ_d ψ_d², by column, for sums ψ_d of residuals from a mean.

    Document d stands for h_d (Σ 1/π of its judged items), a part p_d of all, and its sum varies by v_d =
    (1 − ρ) q_d + ρ h_d² with q_d = Σ 1/π². Taking off the mean leaves ψ_d = t_d − p_d Σt, so that E Σψ² =
    Σ v_d (1 − 2p_d + P) with P = Σp²; κ puts Σv in its place. The degrees of freedom are tr(A)²/tr(A²),
    A = √v (I − p1ᵀ − 1pᵀ + P·11ᵀ) √v (Bell and McCaffrey 2002; Imbens and Kolesár 2016). Equal documents give
    G/(G − 1) and G − 1; less than two documents give 1 and 0. Supports: how wide an interval must be that is
    learned from few documents of which some are long.

    ``heft`` is h and ``squares`` is q, documents × columns; ``alike`` is ρ.

    Examples:
        >>> import numpy as np
        >>> from sparingly.base.stats.moments import cluster_correction
        >>> lengths = np.array([[20.0], [5.0], [5.0], [5.0], [5.0]])
        >>> factor, freedom = cluster_correction(lengths, lengths)
        >>> float(factor[0].round(2)), float(freedom[0].round(2))
        (2.01, 2.27)
    """
    factor, freedom = np.ones(heft.shape[1]), np.zeros(heft.shape[1])
    several = (heft > 0).sum(axis=0) > 1
    heft = heft[:, several]
    v = (1.0 - alike) * squares[:, several] + alike * heft**2
    p = heft / heft.sum(axis=0)
    sum_v, sum_vp, sum_vpp = v.sum(axis=0), (v * p).sum(axis=0), (v * p**2).sum(axis=0)
    sum_pp = (p**2).sum(axis=0)
    trace = (v * (1.0 - 2.0 * p + sum_pp)).sum(axis=0)
    square_trace = (
        sum_pp**2 * sum_v**2 + 2.0 * sum_v * sum_vpp - 4.0 * sum_pp * sum_v * sum_vp + 2.0 * sum_vp**2
    )
    square_trace += (v**2 * (1.0 + 2.0 * (sum_pp - 2.0 * p))).sum(axis=0)
    factor[several], freedom[several] = sum_v / trace, trace**2 / square_trace
    return factor, freedom
