"""Unequal probabilities: what they would gain, and whether a pilot's residuals say that they do.

A pilot's absolute residuals are learned from the metrics as scores are (cross-fitted, shrunk towards a
constant where nothing can be learned). That gives every item an expected size û of its residual. Of the
utilities that can be named in a design, the one that suits û best is tried on the residuals themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.choose.design.earned import WITHIN, variance_left
from sparingly.choose.design.probability import sizes_of
from sparingly.choose.utility.base import Utility
from sparingly.choose.utility.metric_avg import MetricAvg
from sparingly.choose.utility.metric_cons import MetricCons
from sparingly.choose.utility.metric_var import MetricVar
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.folds import together
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.plan.learn import cells_of
from sparingly.signals.predict.residuals import apart, expected_squares

TAUS = (0.25, 0.5, 0.75)
_WORTH, _SURE = 0.95, 1.64


@dataclass(frozen=True)
class Trial:
    """A utility, tried on the residuals of a pilot.

    Attributes:
        utility: The utility as text.
        tau: The share of the probabilities that goes by it.
        expected: The share of the variance that is left by it, by the learned sizes of residuals.
        found: The same by the pilot's own residuals.
        error: The standard error of that.
    """

    utility: str
    tau: float
    expected: float
    found: float
    error: float


@dataclass(frozen=True, eq=False)
class Unequal:
    """What unequal probabilities would do to the variance.

    Attributes:
        scores: The share of the variance of scores left by the best probabilities, (mean û)²/mean(û²).
        differences: The same for differences between models.
        within: The cross-fitted correlation of prediction and score across the models of an item.
        trial: The best utility that can be named, tried on the pilot; None where there is none.
        earned: Whether the pilot says that its probabilities are better than equal ones.
    """

    scores: float
    differences: float
    within: float
    trial: Trial | None
    earned: bool


def method_text(trial: Trial) -> str:
    """Return the method that draws by a utility, as text."""
    return f"local_pivotal:utility=({trial.utility}),tau={trial.tau:g}"


def unequal_chances(
    data: EvalSet,
    sample: Sample,
    residual: Floats,
    *,
    metrics: Sequence[str],
    within: float,
    for_differences: bool,
    seed: int,
) -> Unequal:
    """Return what unequal probabilities would gain, from the residuals of a pilot.

    Args:
        data: The set.
        sample: The pilot.
        residual: judged items × models: what a prediction left.
        metrics: The metrics whose utilities are tried.
        within: The cross-fitted correlation across the models of an item.
        for_differences: Whether differences between models matter, rather than scores.
        seed: Of the folds.
    """
    kinds = [_squared_sizes(data, sample, part, seed) for part in (residual, apart(residual))]
    scores, differences = (_best_share(squares) for squares in kinds)
    squares = kinds[int(for_differences)]
    own = ((np.nan_to_num(apart(residual)) if for_differences else residual) ** 2).sum(axis=1) / sample.draw
    # Of a single model there are no differences, and residuals without any size have no larger ones.
    tried = _candidates(data, metrics) if squares.any() and own.any() else ()
    trials = [_trial(text, sizes, squares, own, sample.rows) for text, sizes in tried]
    best = min(trials, key=lambda one: one.expected, default=None)
    if best is None:
        return Unequal(scores, differences, within, None, False)
    trial = best
    earned = (
        within >= WITHIN
        and max(trial.expected, trial.found) <= _WORTH
        and trial.found + _SURE * trial.error < 1.0
    )
    return Unequal(scores, differences, within, trial, earned)


def _squared_sizes(data: EvalSet, sample: Sample, residual: Floats, seed: int) -> Floats:
    """Return every item's expected squared residual, learned from those of the pilot."""
    labels, weights = cells_of(data, sample, residual)
    return expected_squares(data, labels, weights=weights, groups=together(sample), seed=seed)


def _best_share(squares: Floats) -> float:
    total = float(squares.mean())
    return float(np.sqrt(squares).mean() ** 2) / total if total > 0 else 1.0


def _candidates(data: EvalSet, metrics: Sequence[str]) -> Iterator[tuple[str, Floats]]:
    """Yield the utilities that are tried, as text, and the sizes that they give the items."""
    for metric in metrics:
        tried: tuple[Utility, ...] = (
            MetricAvg(metric=metric),
            MetricVar(metric=metric),
            MetricCons(metric=metric),
        )
        for utility in tried:
            sizes = sizes_of(utility.values(data))
            if float(np.ptp(sizes)) > 0:
                yield str(utility), sizes


def _trial(text: str, sizes: Floats, squares: Floats, own: Floats, rows: Ints) -> Trial:
    """Try a utility: choose τ by the learned squares, and look at the pilot's own."""
    even = sizes / sizes.mean()
    left = {tau: float((squares / (1 - tau + tau * even)).sum() / squares.sum()) for tau in TAUS}
    tau = min(left, key=left.__getitem__)
    found, error = variance_left(own, even[rows], tau)
    return Trial(text, tau, left[tau], found, error)
