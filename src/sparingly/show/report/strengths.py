"""Strengths from comparisons in the form of scores, so that they are shown alike."""

from __future__ import annotations

import numpy as np

from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.infer.estimate.intervals import Outcome
from sparingly.infer.estimate.result import CHOSEN, Estimate


def estimate_from_strengths(found: BradleyTerry, aspect: str, *, drawn: bool) -> Estimate:
    """Return strengths as scores; ``drawn`` says whether the comparisons were drawn by known chances."""
    told = np.isfinite(found.low) & np.isfinite(found.high)
    return Estimate(
        models=found.models,
        scores=found.strengths,
        standard_errors=found.standard_errors,
        low=found.low,
        high=found.high,
        intervals=tuple("t" if one else "none" for one in told),
        covariance=found.covariance,
        freedom=found.freedom,
        target="population" if drawn else CHOSEN,
        level=found.level,
        aspect=f"strength by {aspect}",
        estimator="bradley_terry",
        n=found.comparisons,
        size=found.comparisons,
        outcome=Outcome(printed=int(told.sum()), withheld=int((~told).sum())),
        notes=(*found.notes, *_without(found)),
    )


def _without(found: BradleyTerry) -> list[str]:
    return [
        f"{model} has no strength: {why}."
        for model, why in zip(found.models, found.status, strict=True)
        if why
    ]
