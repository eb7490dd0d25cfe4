"""Made-up raters: some strict, some careless, some slow; and the ratings that they give.

A rating is ``quality + severity of the rater + noise of the rater``, a whole number from 0 to 100. A rater
takes a model's outputs for a whole document, as shared tasks hand them out, so that severity does not cancel
within an item.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.data.synthetic.latent import BEST, Items
from sparingly.data.synthetic.recipe import Recipe
from sparingly.data.tables import Ratings

SEVERITY, NOISE, NOISE_SPREAD = 4.0, 9.0, 0.25
SPEED_SPREAD, TIME_SPREAD = 0.3, 0.45
SECONDS, SECONDS_PER_WORD, FURTHER_ASPECT = 8.0, 0.7, 0.3
# The same moment of inattention hurts all aspects of a judgement.
_HALO = 0.5


def expected_seconds(words: Ints, aspects: int) -> Floats:
    """Return how long a middle rater needs for one output: reading, then each aspect beyond the first."""
    return np.asarray(
        (SECONDS + SECONDS_PER_WORD * words) * (1.0 + FURTHER_ASPECT * (aspects - 1)), np.float64
    )


def draw_ratings(
    qualities: Sequence[Floats], items: Items, rated: NDArray[np.bool_], recipe: Recipe
) -> Ratings:
    """Draw ratings of the rated items' outputs on every aspect (one quality each)."""
    item, model, rater = _assigned(items, rated, recipe)
    raters, aspects = recipe.raters, recipe.aspects
    random = rng.generator(recipe.seed, "synthetic", "ratings")
    severity = random.normal(0.0, SEVERITY, len(raters))
    severity -= severity.mean()
    carelessness = NOISE * np.exp(random.normal(0.0, NOISE_SPREAD, len(raters)))
    slowness = np.exp(random.normal(0.0, SPEED_SPREAD, len(raters)))
    halo = random.standard_normal(len(item))
    scores, seconds = np.empty((len(item), len(aspects))), np.empty((len(item), len(aspects)))
    for place, quality in enumerate(qualities):
        slip = np.sqrt(_HALO) * halo + np.sqrt(1 - _HALO) * random.standard_normal(len(item))
        given = quality[item, model] + severity[rater] + carelessness[rater] * slip
        scores[:, place] = np.clip(np.round(given), 0.0, BEST)
        usual = expected_seconds(items.words[item], 1) * (FURTHER_ASPECT if place else 1.0)
        taken = usual * slowness[rater] * np.exp(random.normal(0.0, TIME_SPREAD, len(item)))
        seconds[:, place] = np.round(taken, 1)
    count = len(aspects)
    return Ratings(
        item=np.repeat(item, count).astype(np.int32),
        model=np.repeat(model, count).astype(np.int32),
        rater=np.repeat(rater, count).astype(np.int32),
        aspect=np.tile(np.arange(count, dtype=np.int32), len(item)),
        score=scores.ravel(),
        seconds=seconds.ravel(),
        raters=tuple(raters),
        aspects=tuple(aspects),
    )


def _assigned(items: Items, rated: NDArray[np.bool_], recipe: Recipe) -> tuple[Ints, Ints, Ints]:
    """Return the item, model and rater of every judgement, in the order of items and models."""
    random = rng.generator(recipe.seed, "synthetic", "assignment")
    models, raters, per_cell = len(recipe.models), len(recipe.raters), recipe.raters_per_cell
    group = items.document if recipe.documents else np.arange(len(rated))
    turns = random.random((int(group.max()) + 1, models, raters)).argsort(axis=2)
    whole = int(per_cell)
    wanted = whole + (random.random((len(rated), models)) < per_cell - whole)
    slots = np.arange(min(raters, whole + 1))
    item, model, slot = np.nonzero(rated[:, None, None] & (slots < wanted[:, :, None]))
    return item, model, turns[group[item], model, slot]
