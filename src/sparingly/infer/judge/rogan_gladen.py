"""The true rate from a judge's verdicts alone, with error rates learned elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError
from sparingly.infer.judge.error_rates import Rate, calibration
from sparingly.infer.judge.labelled import LabelledOutputs

# Below this sum of sensitivity and specificity, less one, the judge is hardly better than a coin.
LEAST_SKILL = 0.05
ELSEWHERE = (
    "the labels are not a random sample of these outputs, so the true score is right only if the judge errs "
    "as often here as there, which nothing here can check: label a random sample of these outputs."
)


@dataclass(frozen=True)
class CorrectedScore:
    """The judge's mean, corrected by errors that were learned elsewhere."""

    score: Rate  # the corrected mean, with its interval
    labels: int  # the labels that the errors were learned from
    method: str  # ``Rogan–Gladen`` for pass and fail, ``regression`` for grades


def corrected_score(labelled: LabelledOutputs, verdicts: Floats, level: float) -> CorrectedScore:
    """Return the true score behind a judge's scores (``verdicts``, of all outputs), by labels elsewhere.

    Pass and fail: θ = (q + Sp − 1)/(Se + Sp − 1), q the share that the judge passes (Rogan and Gladen 1978),
    with Lang and Reiczigel's (2014) interval, which adds a pseudo-count to each and holds for few labels.
    Grades: θ = a + b·mean, people's score regressed on the judge's (least squares, cluster-robust).
    """
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2.0))
    if not labelled.two_valued:
        return _by_regression(labelled, verdicts, level)
    good, passed = labelled.good, labelled.passed
    if good.all() or not good.any():
        lacking = "fail" if good.all() else "pass"
        raise DataError(
            f"No label elsewhere is a {lacking}, so the error rates of {labelled.judge} are unknown: add "
            f"labels of outputs that people {lacking}."
        )
    sensitivity, specificity = float(passed[good].mean()), float((~passed[~good]).mean())
    if sensitivity + specificity - 1.0 < LEAST_SKILL:
        raise DataError(
            f"{labelled.judge} passes {100 * sensitivity:.0f} % of good outputs and "
            f"{100 * (1 - specificity):.0f} % of bad ones, which says nothing about the true rate: label a "
            "random sample of the outputs themselves."
        )
    share = float((verdicts >= labelled.cut).mean())
    value = (share + specificity - 1.0) / (sensitivity + specificity - 1.0)
    # Lang and Reiczigel 2014, section 2.2: one more success and one more failure for each rate.
    n_good, n_bad = good.sum() + 2.0, (~good).sum() + 2.0
    size = len(verdicts) + z**2
    q = (share * len(verdicts) + z**2 / 2.0) / size
    se, sp = (passed[good].sum() + 1.0) / n_good, ((~passed[~good]).sum() + 1.0) / n_bad
    skill = se + sp - 1.0
    rate = (q + sp - 1.0) / skill
    of_good, of_bad = se * (1.0 - se) / n_good, sp * (1.0 - sp) / n_bad
    shift = 2.0 * z**2 * (rate * of_good - (1.0 - rate) * of_bad)
    spread = np.sqrt(q * (1.0 - q) / size + rate**2 * of_good + (1.0 - rate) ** 2 * of_bad) / skill
    low, high = rate + shift - z * spread, rate + shift + z * spread
    inside = np.clip([value, min(low, value), max(high, value)], 0.0, 1.0)
    ends = labelled.people
    score = Rate(*(float(ends.low + part * (ends.high - ends.low)) for part in inside))
    return CorrectedScore(score, len(labelled), "Rogan–Gladen")


def _by_regression(labelled: LabelledOutputs, verdicts: Floats, level: float) -> CorrectedScore:
    """Return the height of the line at the judge's mean: there, with that mean as origin, lies its offset."""
    height = calibration(labelled, level, origin=float(labelled.rescaled(verdicts).mean())).offset
    if height.value != height.value:
        raise DataError(f"{labelled.judge} gives all labelled outputs the same score, so it cannot be used.")
    low, high = labelled.people
    score = Rate(*(float(np.clip(end, low, high)) for end in height))
    return CorrectedScore(score, len(labelled), "regression")
