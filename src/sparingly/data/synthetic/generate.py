"""The generator: a whole evaluation set that behaves like published ones, from a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic.texts import VOCABULARIES, write_texts
from sparingly.data.tables import Ratings

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
        latent: Whether to include what no real set has: latent_quality, difficulty, discrimination.

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
    latents = draw_items(count, len(recipe.documents), len(recipe.domains), seed)
    abilities = draw_abilities(len(recipe.models), ability_spread, seed)
    qualities = draw_quality(latents, abilities, len(recipe.aspects), seed)
    # The columns; the cost is a middle rater's seconds for one judgement of all models' outputs.
    columns: dict[str, Any] = {}
    if recipe.documents:
        columns[fields.DOCUMENT] = np.array(recipe.documents, object)[latents.document]
        columns[fields.POSITION] = latents.position.astype(np.float64)
    if recipe.domains:
        columns[fields.DOMAIN] = np.array(recipe.domains, object)[latents.domain]
    seconds = expected_seconds(latents.words, len(recipe.aspects))
    columns[fields.COST] = np.round(len(recipe.models) * seconds, 1)
    columns[WORDS] = latents.words
    if latent:
        columns[DIFFICULTY] = np.round(latents.difficulty, DIGITS)
        columns[DISCRIMINATION] = np.round(latents.discrimination, DIGITS)
    parts: dict[str, Any] = {
        "metrics": {
            name: draw_metric(qualities[0], quality, name, recipe.missing.get(name, 0.0), seed)
            for name, quality in metric_qualities.items()
        },
        "columns": columns,
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
        sources, translations, outputs = write_texts(latents.words, names, qualities[0] / BEST, seed)
        parts |= {"sources": sources, "outputs": outputs}
        if references:
            parts["references"] = {REFERENCE: translations}
    return EvalSet.from_arrays(recipe.items, recipe.models, **parts)


# --- the people and the things behind a made-up set: its recipe, true qualities, and what raters say ---


@dataclass(frozen=True)
class Recipe:
    """The arguments of ``make_evalset`` with every number of things turned into names."""

    items: tuple[str, ...]
    models: tuple[str, ...]
    seed: int
    documents: tuple[str, ...]
    domains: tuple[str, ...]
    metrics: Mapping[str, float]
    aspects: tuple[str, ...]
    raters: tuple[str, ...]
    rated_share: float
    raters_per_cell: float
    ability_spread: float
    missing: Mapping[str, float]

    def __post_init__(self) -> None:
        if not self.items or not self.models:
            raise UsageError("An evaluation set needs at least one item and one model.")
        if not self.aspects:
            raise UsageError("An evaluation set needs at least one aspect.")
        if len(self.documents) > len(self.items):
            raise UsageError(
                f"There are {len(self.documents)} documents for {len(self.items)} items,"
                " and every document needs an item."
            )
        if self.raters and not 0 < self.raters_per_cell <= len(self.raters):
            raise UsageError(
                f"raters_per_cell is {self.raters_per_cell} but must lie above 0 and not above"
                f" the number of raters, {len(self.raters)}."
            )
        for name, quality in self.metrics.items():
            if not -1.0 <= quality <= 1.0:
                raise UsageError(
                    f'The metric "{name}" is asked for a correlation of {quality}, beyond -1 and 1.'
                )
        _check_share("rated_share", self.rated_share)
        for name, share in self.missing.items():
            if name not in self.metrics:
                raise UnknownNameError("metric", name, self.metrics)
            _check_share("missing", share)


def names_of(kind: str, names: int | Sequence[str]) -> tuple[str, ...]:
    """Return the given names, or as many made-up ones, numbered so that they sort by their number."""
    if isinstance(names, str):
        raise UsageError(f'Give the {kind}s as a number or as a list of names, not as "{names}".')
    if not isinstance(names, int):
        if len(set(names)) < len(names):
            raise UsageError(f"Every {kind} needs a name of its own.")
        return tuple(names)
    if names < 0:
        raise UsageError(f"The number of {kind}s is {names} but must not be negative.")
    digits = len(str(names))
    return tuple(f"{kind}-{number:0{digits}d}" for number in range(1, names + 1))


def _check_share(name: str, share: float) -> None:
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"{name} is {share} but must lie between 0 and 1.")


# --- the hidden truth of a made-up set ---
# The quality of model m's output for item i is ``100 · σ(level + aᵢ (θₘ − bᵢ) + cᵢₘ)``: ability θ,
# difficulty b and discrimination a as in item response theory, and the fit c of this very model to this
# very item. Items of high discrimination tell models apart; they are what a selector looks for.

BEST = 100.0
DIGITS = 4
# These make the numbers look like those of published sets: most outputs are good, models differ less from
# each other than outputs of one model do, and metrics know items, and favour some models, beside quality.
LEVEL = 1.3
DIFFICULTY_SPREAD = 0.7
DOMAIN_SPREAD = 0.3
DISCRIMINATION_SPREAD = 0.7
FIT_SPREAD = 0.8
ASPECT_SHARE = 0.75
ITEM_BIAS = 1.0
MODEL_BIAS = 0.15
METRIC_NOISE_SPREAD = 0.3


@dataclass(frozen=True)
class SyntheticItems:
    """What is drawn for every item."""

    document: Ints  # the number of its document (-1: none)
    position: Ints  # its place in the document
    domain: Ints  # the number of its domain (-1: none)
    words: Ints  # the words of its source
    difficulty: Floats  # how hard it is (b)
    discrimination: Floats  # how well it tells models apart (a)


def draw_items(count: int, documents: int, domains: int, seed: int) -> SyntheticItems:
    """Draw items in documents of varied lengths; a document has one domain, near lengths and difficulties."""
    random = rng.generator(seed, "synthetic", "items")
    groups = documents or count
    # Every document has an item; few are long and many short.
    shares = random.gamma(1.2, 1.0, groups) + 1e-9
    lengths = 1 + random.multinomial(count - groups, shares / shares.sum())
    group = np.repeat(np.arange(groups), lengths)
    position = np.arange(count) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    domain_of_group = random.integers(0, max(domains, 1), groups)
    domain = domain_of_group[group]
    by_domain = random.normal(0.0, DOMAIN_SPREAD, max(domains, 1))
    wordy = random.normal(0.0, 0.3, max(domains, 1))[domain] + random.normal(0.0, 0.25, groups)[group]
    words = np.clip(np.exp(2.75 + wordy + random.normal(0.0, 0.4, count)), 5, 80).astype(np.int64)
    item_difficulty = random.normal(0.0, DIFFICULTY_SPREAD, count) + random.normal(0.0, 0.3, groups)[group]
    # Longer sources are somewhat harder.
    difficulty = by_domain[domain] + item_difficulty + 0.3 * (np.log(words) - 2.75)
    return SyntheticItems(
        document=group if documents else np.full(count, -1),
        position=position,
        domain=domain if domains else np.full(count, -1),
        words=words,
        difficulty=difficulty,
        discrimination=np.exp(random.normal(0.0, DISCRIMINATION_SPREAD, count)),
    )


def draw_abilities(models: int, spread: float, seed: int) -> Floats:
    """Draw the abilities of models: evenly spaced with some jitter, so that neighbours are hard to order."""
    random = rng.generator(seed, "synthetic", "models")
    even = (np.arange(models) - (models - 1) / 2) / max(models - 1, 1) * 2
    return random.permutation(spread * (even + random.normal(0.0, 0.25, models)))


def draw_quality(items: SyntheticItems, abilities: Floats, aspects: int, seed: int) -> list[Floats]:
    """Draw how good every output is (0 to 100, items x models), once for every aspect.

    The first aspect is the quality itself; the others share ``ASPECT_SHARE`` of the fit of model and item.
    """
    shape = (len(items.difficulty), len(abilities))
    ability = items.discrimination[:, None] * (abilities - items.difficulty[:, None]) + LEVEL
    fit = rng.generator(seed, "synthetic", "fit").standard_normal(shape)
    qualities = []
    for place in range(max(aspects, 1)):
        aspect_fit = fit
        if place:
            noise = rng.generator(seed, "synthetic", "aspect", str(place)).standard_normal(shape)
            aspect_fit = ASPECT_SHARE * fit + np.sqrt(1 - ASPECT_SHARE**2) * noise
        qualities.append(np.round(BEST / (1.0 + np.exp(-(ability + FIT_SPREAD * aspect_fit))), DIGITS))
    return qualities


def draw_metric(quality: Floats, correlation: float, name: str, missing: float, seed: int) -> Floats:
    """Draw a metric whose correlation with quality, pooled within items, is as given.

    With z the quality about its item's mean, scaled to unit variance over all outputs, the metric is
    ``item bias + r · z + √(1 − r²) · e`` with r the correlation. The error e holds noise
    that is larger on some items, and a bias for or against each model; it has unit variance within items and
    is uncorrelated with z.
    """
    random = rng.generator(seed, "synthetic", "metric", name)
    item_centred = quality - quality.mean(axis=1, keepdims=True)
    spread = np.sqrt((item_centred * item_centred).mean()) or 1.0
    error = random.standard_normal(quality.shape)
    error *= np.exp(random.normal(0.0, METRIC_NOISE_SPREAD, len(quality)))[:, None]
    # A metric's liking for each model, unrelated to how good the models are.
    strength = (item_centred / spread).mean(axis=0)
    bias = random.normal(0.0, MODEL_BIAS, len(strength))
    bias -= bias.mean()
    power = strength @ strength
    error += bias - strength * (bias @ strength / power) if power > 0 else bias
    error -= error.mean(axis=1, keepdims=True)
    error = error / (np.sqrt((error * error).mean()) or 1.0)
    scores = correlation * item_centred
    scores /= spread
    scores += np.sqrt(1.0 - correlation * correlation) * error
    # Metrics know which items are hard about as well as they know which outputs are good.
    level = quality.mean(axis=1)
    item_level = (level - level.mean()) / (level.std() or 1.0)
    unknown = random.standard_normal(len(quality))
    item = correlation * item_level + np.sqrt(1.0 - correlation * correlation) * unknown
    scores += ITEM_BIAS * item[:, None]
    scores = np.asarray(np.round(50.0 + 10.0 * scores, DIGITS))
    if missing > 0.0:
        holes = rng.generator(seed, "synthetic", "missing", name).random(scores.shape) < missing
        scores[holes] = np.nan
    return scores


# --- made-up raters ---
# A rating is ``quality + severity of the rater + noise of the rater``, a whole number from 0 to 100. A
# rater takes a model's outputs for a whole document, as shared tasks hand them out, so that severity does
# not cancel within an item.

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
    qualities: Sequence[Floats], items: SyntheticItems, rated: NDArray[np.bool_], recipe: Recipe
) -> Ratings:
    """Draw ratings of the rated items' outputs on every aspect (one quality each)."""
    raters, aspects, models = recipe.raters, recipe.aspects, len(recipe.models)
    # The item, model and rater of every judgement, in the order of items and models.
    random = rng.generator(recipe.seed, "synthetic", "assignment")
    group = items.document if recipe.documents else np.arange(len(rated))
    turns = random.random((int(group.max()) + 1, models, len(raters))).argsort(axis=2)
    full_raters = int(recipe.raters_per_cell)
    one_more = random.random((len(rated), models)) < recipe.raters_per_cell - full_raters
    slots = np.arange(min(len(raters), full_raters + 1))
    item, model, slot = np.nonzero(rated[:, None, None] & (slots < (full_raters + one_more)[:, :, None]))
    rater = turns[group[item], model, slot]

    random = rng.generator(recipe.seed, "synthetic", "ratings")
    severity = random.normal(0.0, SEVERITY, len(raters))
    severity -= severity.mean()
    carelessness = NOISE * np.exp(random.normal(0.0, NOISE_SPREAD, len(raters)))
    slowness = np.exp(random.normal(0.0, SPEED_SPREAD, len(raters)))
    halo = random.standard_normal(len(item))
    scores, seconds = np.empty((len(item), len(aspects))), np.empty((len(item), len(aspects)))
    for place, quality in enumerate(qualities):
        slip = np.sqrt(_HALO) * halo + np.sqrt(1 - _HALO) * random.standard_normal(len(item))
        opinion = quality[item, model] + severity[rater] + carelessness[rater] * slip
        scores[:, place] = np.clip(np.round(opinion), 0.0, BEST)
        usual = expected_seconds(items.words[item], 1) * (FURTHER_ASPECT if place else 1.0)
        time = usual * slowness[rater] * np.exp(random.normal(0.0, TIME_SPREAD, len(item)))
        seconds[:, place] = np.round(time, 1)
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


# --- the invented set: always the same, judged in full; for tests and reference pages ---


NAME = "invented"
MODELS = (
    "Alder 70B",
    "Alder 7B",
    "Birch",
    "Cedar-MT",
    "Elm + rerank (beam = 4)",
    "Hazel-instruct",
    "Juniper",
    "Rowan",
)
RATERS = ("Ada", "Bo", "Chidi", "Dana", "Emre")
INVENTED_METRICS = {"learned": 0.6, "judge": 0.45, "surface": 0.3, "noisy": 0.1}
# Of the first 24 seeds, one whose gains over random selection are near those of all of them on average.
SEED = 18


@cache
def load_invented() -> EvalSet:
    """Make the invented set: 240 items, eight models, four metrics, five raters, texts.

    Examples:
        >>> load_invented().shape
        (240, 8)
    """
    data = make_evalset(
        items=240,
        models=MODELS,
        seed=SEED,
        documents=36,
        metrics=INVENTED_METRICS,
        raters=RATERS,
        raters_per_cell=1.25,
        missing={"judge": 0.02},
    )
    return EvalSet(replace(data.store, name=NAME))
