"""The generator: a whole evaluation set that behaves like published ones, from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import population
from sparingly.data.synthetic.population import Recipe, draw_ratings, expected_seconds, names_of
from sparingly.data.synthetic.texts import VOCABULARIES, write_texts

METRICS = {"good": 0.6, "fair": 0.4, "weak": 0.15}
REFERENCE = "reference"
QUALITY, DIFFICULTY, DISCRIMINATION, WORDS = "latent_quality", "difficulty", "discrimination", "words"
_ITEMS_PER_DOCUMENT = 6


def make_evalset(
    items: int = 200,
    models: int | Sequence[str] = 8,
    *,
    seed: int = 0,
    documents: int | None = None,
    domains: int | Sequence[str] = tuple(VOCABULARIES),
    metrics: Mapping[str, float] | None = None,
    aspects: Sequence[str] = ("overall", "fluency"),
    raters: int | Sequence[str] = 4,
    rated_share: float = 1.0,
    raters_per_cell: float = 1.0,
    ability_spread: float = 0.7,
    missing: float | Mapping[str, float] = 0.0,
    texts: bool = True,
    references: bool = True,
    latent: bool = False,
) -> EvalSet:
    """Make an evaluation set that behaves like published ones; the same arguments give the same set.

    Args:
        items: The number of items.
        models: The number of models, or their names.
        seed: The seed of everything that is drawn.
        documents: The number of documents (default: a sixth of the items), 0 for none.
        domains: The number of domains, or their names.
        metrics: By name, the correlation with the true quality of outputs, pooled within items; it is
            lower with people's noisy ratings. Default: good 0.6, fair 0.4, weak 0.15.
        aspects: What is judged: first the quality itself, then others that are akin to it.
        raters: The number of raters, or their names; with 0 the aspects are true, without noise.
        rated_share: The share of the items that are judged, each on all models.
        raters_per_cell: Raters of each output; 1.2 gives every fifth output a second one.
        ability_spread: How far the best and the worst model are from the middle.
        missing: The share of cells that metrics lack, for all of them or by name.
        texts: Whether to write sources and outputs.
        references: Whether to write references with them.
        latent: Whether to keep what no real set tells: latent_quality, difficulty, discrimination.

    Examples:
        >>> import sparingly
        >>> sparingly.make_evalset(items=30, models=4, texts=False, raters=0)
        EvalSet(30 items x 4 models; metrics: good, fair, weak; aspects: overall, fluency; documents: 5)
    """
    metric_qualities = dict(METRICS if metrics is None else metrics)
    recipe = Recipe(
        items=names_of("item", items),
        models=names_of("model", models),
        seed=seed,
        documents=names_of(
            "document", max(1, items // _ITEMS_PER_DOCUMENT) if documents is None else documents
        ),
        domains=names_of("domain", domains),
        metrics=metric_qualities,
        aspects=names_of("aspect", aspects),
        raters=names_of("rater", raters),
        rated_share=rated_share,
        raters_per_cell=raters_per_cell,
        ability_spread=ability_spread,
        missing=dict(missing) if isinstance(missing, Mapping) else dict.fromkeys(metric_qualities, missing),
    )
    count = len(recipe.items)
    latents = population.draw_items(count, len(recipe.documents), len(recipe.domains), seed)
    abilities = population.draw_abilities(len(recipe.models), ability_spread, seed)
    qualities = population.draw_quality(latents, abilities, len(recipe.aspects), seed)
    parts: dict[str, Any] = {
        "metrics": {
            name: population.draw_metric(qualities[0], quality, name, recipe.missing.get(name, 0.0), seed)
            for name, quality in metric_qualities.items()
        },
        "columns": _columns(recipe, latents, latent),
        "aspects": {QUALITY: qualities[0]} if latent else {},
        "name": "synthetic",
    }
    rated = rng.generator(seed, "synthetic", "rated").permutation(count) < round(rated_share * count)
    if recipe.raters:
        parts["ratings"] = draw_ratings(qualities, latents, rated, recipe)
    else:
        parts["aspects"] |= {
            name: np.where(rated[:, None], quality, np.nan)
            for name, quality in zip(recipe.aspects, qualities, strict=True)
        }
    if texts:
        names = [recipe.domains[code] if code >= 0 else None for code in latents.domain.tolist()]
        sources, translations, outputs = write_texts(
            latents.words, names, qualities[0] / population.BEST, seed
        )
        parts |= {"sources": sources, "outputs": outputs}
        if references:
            parts["references"] = {REFERENCE: translations}
    return EvalSet.from_arrays(recipe.items, recipe.models, **parts)


def _columns(recipe: Recipe, items: population.SyntheticItems, latent: bool) -> dict[str, Any]:
    """Return the columns; the cost is a middle rater's seconds for one judgement of all models' outputs."""
    columns: dict[str, Any] = {}
    if recipe.documents:
        columns[fields.DOCUMENT] = np.array(recipe.documents, object)[items.document]
        columns[fields.POSITION] = items.position.astype(np.float64)
    if recipe.domains:
        columns[fields.DOMAIN] = np.array(recipe.domains, object)[items.domain]
    seconds = expected_seconds(items.words, len(recipe.aspects))
    columns[fields.COST] = np.round(len(recipe.models) * seconds, 1)
    columns[WORDS] = items.words
    if latent:
        columns[DIFFICULTY] = np.round(items.difficulty, population.DIGITS)
        columns[DISCRIMINATION] = np.round(items.discrimination, population.DIGITS)
    return columns
