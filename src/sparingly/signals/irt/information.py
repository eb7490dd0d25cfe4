"""How much an item says about abilities: Fisher information, summed over the models."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt.model import IrtFit, expit

Form = Literal["published", "exact"]


def fisher_information(fit: IrtFit, form: Form = "published") -> Floats:
    """Return Σ over models of an item's information about ability, per item (eq. 16).

    With σ = σ(a (θ − b)), ``published`` is a² σ (1 − σ) (eq. 15, which leaves feasibility out). ``exact`` is
    what the responses of the model really say: (∂r̂/∂θ)²/s² = (c a σ (1 − σ))²/s² under normal noise, and
    c a² σ (1 − σ)²/(1 − c σ) for success and failure. Models without an ability are left out.
    """
    total = np.zeros(len(fit.discrimination))
    for ability in fit.ability[~np.isnan(fit.ability)]:
        total += item_information(fit, float(ability), form)
    return total


def item_information(fit: IrtFit, ability: float, form: Form = "published") -> Floats:
    """Return the information of every item about one ability (eq. 14)."""
    slope, top = fit.discrimination, fit.feasibility
    below = expit(-fit.estimates.logit_feasibility)
    steepness = slope * (ability - fit.difficulty)
    hit, missed = expit(steepness), expit(-steepness)
    if form == "published":
        return np.asarray(slope * slope * hit * missed)
    if fit.noise is not None:
        return np.asarray((top * slope * hit * missed / fit.noise) ** 2)
    # 1 − cσ is the sum of 1 − σ and (1 − c) σ; where both vanish, so does the information.
    whole = missed + below * hit
    share = np.divide(missed, whole, out=np.ones_like(whole), where=whole > 0.0)
    return np.asarray(top * slope * slope * hit * missed * share)
