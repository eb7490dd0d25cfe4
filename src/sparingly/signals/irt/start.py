"""Where a fit starts: from moments of the responses, so that no order of items or models matters."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt.point import Points
from sparingly.signals.irt.priors import Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Shared

_DAMPING = 0.1
_NOISE = 0.15


def moment_start(responses: Responses, priors: Priors) -> tuple[Points, Shared]:
    """Return items and abilities that reproduce the mean response of every item and of every model.

    The logit of an item's mean, measured against where its curve levels off, is how far its difficulty lies
    below the typical ability; the spread of these logits over items is the typical discrimination, since
    difficulties have a standard deviation of 1.
    """
    level = _item_levels(responses)
    top = np.clip(_expit(priors.logit_feasibility[0]), (1.0 + level) / 2.0, 0.995)
    share = np.clip(level / top, 0.02, 0.98)
    logit = np.log(share / (1.0 - share))
    discrimination = float(np.clip(logit.std() / priors.difficulty[1], 0.3, 3.0))
    typical = logit.mean()
    steepness = max(float((top * share * (1.0 - share)).mean()), 0.02)
    ability = (typical + _model_levels(responses, level) / steepness) / discrimination
    difficulty = (typical - logit) / discrimination
    values = np.stack([np.log(top / (1.0 - top)), np.full(len(level), discrimination), difficulty])
    shared = Shared(ability, np.zeros(len(ability)), float(np.log(_NOISE)))
    return Points(values, np.full(len(level), _DAMPING)), shared


def mirrored(start: Points, shared: Shared) -> Points:
    """Return the same items with curves that fall where they rose, through the same typical response.

    An item on which better models do worse has its optimum at a negative discrimination, and between the two
    signs lies a flat curve of half the height that no small step crosses.
    """
    logit, discrimination, difficulty = start.values
    turned = np.stack([logit, -0.5 * discrimination, 2.0 * shared.ability.mean() - difficulty])
    return Points(turned, np.full(len(logit), _DAMPING))


def _item_levels(responses: Responses) -> Floats:
    """Return the mean response of every item, with one response of the grand mean added."""
    grand = responses.values.sum() / responses.count
    return np.asarray((responses.values.sum(axis=0) + grand) / (responses.per_item() + 1.0))


def _model_levels(responses: Responses, level: Floats) -> Floats:
    """Return how far every model is above the level of the items that it answered."""
    above = responses.values - level
    if responses.present is not None:
        above *= responses.present
    return np.asarray(above.sum(axis=1) / np.maximum(responses.per_model(), 1.0))


def _expit(value: float) -> float:
    return float(1.0 / (1.0 + np.exp(-value)))
