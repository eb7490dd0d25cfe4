"""What a judge saves: how many labels a hundred are worth with it, and how many a goal needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.errors import DataError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimators import FEWEST, calibrate_predictions
from sparingly.infer.estimate.sample import JudgedSample, difference_form, group_sums
from sparingly.infer.judge.error_rates import Rate
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook
from sparingly.infer.plan.pilot import learn_values, pilot_of
from sparingly.infer.plan.power import item_covariance
from sparingly.infer.plan.sample_size import round_width

HUNDRED = 100.0


def labels_worth(data: EvalSet, sample: JudgedSample, level: float, seed: int) -> Rate | None:
    """Return how many labels without the judge are as good as 100 with it; None below 30 judged items.

    100/R with R = V_with/V_without, the variance that predictions from the metrics in ``data`` leave, learned
    from other labels (cross-fitted), over the variance of the labels themselves: those that ``plan`` uses.
    Its interval is that of ln R, linearised, u_i = (e_i² − R·r_i²)/π_i, by drawn units; no lower end lies
    below 100, since a judge that tells nothing is left out of the estimate.
    """
    from scipy.special import stdtrit

    from sparingly.signals.predict.features import has_features

    if sample.fewest_units < FEWEST:
        return None
    if not has_features(data):
        return Rate(HUNDRED, HUNDRED, HUNDRED)
    raw = difference_form(sample)
    raw_trace = float(np.trace(item_covariance(sample, raw.residual)))
    if not raw_trace > 0:
        return None
    linear = calibrate_predictions(sample, learn_values(data, sample, sample.scores, seed).held_out, 2.0)
    after = float(np.trace(item_covariance(sample, linear.residual, linear.parameters)))
    if linear.fallen_back is not None and linear.fallen_back.all():
        return Rate(HUNDRED, HUNDRED, HUNDRED)
    ratio = min(after / raw_trace, 1.0)
    # Σ_j e_ij²/π_ij of every row; a residual without a judgement is 0.
    squares = [(part**2 / sample.probability).sum(axis=1) for part in (linear.residual, raw.residual)]
    units = group_sums((squares[0] - ratio * squares[1])[:, None], sample.cluster)[:, 0]
    count = len(units)
    total = float(squares[1].sum())
    error = float(np.sqrt((units**2).sum() * count / (count - 1))) / (ratio * total) if ratio > 0 else 0.0
    half = float(stdtrit(count - 1.0, 0.5 + level / 2.0)) * error
    worth = HUNDRED / ratio if ratio > 0 else math.inf
    return Rate(worth, max(HUNDRED, worth * math.exp(-half)), worth * math.exp(half))


def only_metrics(data: EvalSet, names: Iterable[str]) -> EvalSet:
    """Return the set without its other metrics."""
    keep = {fields.metric(name) for name in names}
    excluded = {fields.metric(name) for name in data.metrics} - keep
    return data.only(name for name in data.fields if name not in excluded)


# --- how many labels a goal needs ---


@dataclass(frozen=True)
class LabelsNeeded:
    """How many items are to be judged for an interval of ± ``width``, with the judge and without it.

    None where nothing short of all items would do.
    """

    width: float
    with_judge: int | None
    without: int | None


def labels_needed(
    data: EvalSet, selection: Selection | None, aspect: str, half_width: float, level: float, seed: int
) -> LabelsNeeded | None:
    """Return what about half of the present half-width would take; by the planner, as ``plan`` prints it."""
    if not (math.isfinite(half_width) and half_width > 0):
        return None
    width = round_width(half_width / 2.0)
    goals = PlanGoals(width=width, target="set", level=level, seed=seed)
    try:
        pilot = pilot_of(data, selection, aspect, for_differences=False, seed=seed)
    except DataError:
        # Labels that are all alike do not tell how many more are needed.
        return None
    labels_alone = replace(pilot, data=only_metrics(pilot.data, ()), predicted=None, saving=None)
    counts = (PlanOutlook(part, goals).items_needed() for part in (pilot, labels_alone))
    return LabelsNeeded(width, *counts)
