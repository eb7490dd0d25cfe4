"""``distil``: learn utilities of past evaluations from sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np

from sparingly._version import __version__
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import Method
from sparingly.choose.distil.card import NGRAMS, Card, Learned, TrainingSet
from sparingly.choose.distil.corpus import Corpus, Part, corpus_of, folds_of
from sparingly.choose.distil.families import families_of
from sparingly.choose.distil.holdout import HoldOut, held_out
from sparingly.choose.distil.learner import fit
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.targets import Scale, Target, parse_targets
from sparingly.choose.distil.unlike import script_shares, seen_bits, thresholds_of
from sparingly.choose.distil.vectors import check_embedding, corpus_vectors, digest_of
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS

LEARNERS, SCALES, HOLD_OUTS = ("ridge", "boosting"), ("zscore", "rank", "none"), ("sets", "items")
_OF_MODELS = ("metric:", "aspect:", "cell:", "outputs", "ratings", "preferences")


def distil(
    data: EvalSet | Mapping[str, EvalSet] | Sequence[EvalSet],
    utilities: Sequence[str | Method | Target] | str | Method | Target,
    *,
    learner: Literal["ridge", "boosting"] = "ridge",
    features: str = NGRAMS,
    scale: Scale = "zscore",
    hold_out: Literal["sets", "items"] | None = None,
    folds: int = 5,
    seed: int = 0,
    families: Mapping[str, str] | None = None,
    languages: Sequence[str] = (),
) -> DistilledModel:
    """Learn utilities of past evaluations from sources, to tell them for sources that no model has seen.

    Û(x) ≈ U(x, M) (Zouhar et al. 2025, eq. 10). The model's card has the hold-out correlation: with several
    data sets each is told by the others, with one its documents (or items) are held out in turn. Look at it
    before you rely on the model.

    Args:
        data: An evaluation set, or several, by name.
        utilities: What to learn: ``metric_var:metric=COMET``, with a name ``hard=metric_avg:metric=COMET``;
            ``aspect:overall`` and ``metric:COMET`` for minus the mean score over the models.
        learner: ``ridge``, or ``boosting`` of trees on top of it.
        features: ``ngrams`` of characters and words; or an embedding: a sentence-transformers model,
            ``column:name``, or a file of vectors. Length, rarity, type–token ratio, digits, punctuation and
            name-like words are always used.
        scale: How utilities of several sets are made comparable: ``zscore``, ``rank`` or ``none``.
        hold_out: What is held out to see how well utilities are told: ``sets``, one at a time, where there
            are several, unless ``items`` is said (whole documents, where there are any).
        folds: When items are held out: in how many parts.
        seed: Settles the folds and what boosting draws.
        families: The family of a model, where its name does not tell.
        languages: The languages of the sources, for the card.

    Examples:
        >>> import sparingly
        >>> model = sparingly.distil(sparingly.load_demo(), "metric_var:metric=learned")
        >>> model.card.names, model.card.held_out_by
        (('metric_var',), 'documents')
        >>> model.predict(["A short one.", "Some longer sentence about trees."]).shape
        (2,)
    """
    _check(learner, scale, hold_out, folds)
    how, targets = _How(learner, features, scale, seed), parse_targets(utilities)
    corpus = corpus_of(_named(data), targets, scale)
    if features != NGRAMS:
        check_embedding(features)
    vectors = None if features == NGRAMS else corpus_vectors(corpus, features)
    boosting = learner == "boosting"
    by, parts = folds_of(corpus, hold_out, folds, seed)
    told = held_out(corpus, parts, vectors, boosting, seed)
    known = fit(corpus.texts, corpus.training(np.ones(len(corpus.text), bool))[1], vectors, boosting, seed)
    card = _card(corpus, how, by, _learned(corpus, targets, told), _signature(corpus, how, targets))
    said = families_of(card.models, families)
    card = replace(card, families=said, languages=tuple(languages))
    return DistilledModel(card, known, seen_bits(corpus.texts))


class _How(NamedTuple):
    """How is learned."""

    learner: str
    features: str
    scale: str
    seed: int


def _card(corpus: Corpus, how: _How, by: str, learned: tuple[Learned, ...], signature: str) -> Card:
    """Return the card; the families of models are by their names."""
    models = sorted({name for part in corpus.parts for name in _models_of(part)})
    return Card(
        **how._asdict(),
        embedding_digest=None if how.features == NGRAMS else digest_of(how.features),
        texts=len(corpus.texts),
        held_out_by=by,
        utilities=learned,
        data=_training_sets(corpus),
        models=tuple(models),
        families=families_of(models),
        languages=(),
        scripts=script_shares(corpus.texts),
        thresholds=thresholds_of(corpus.texts),
        signature=signature,
        made_by=__version__,
    )


def _check(learner: str, scale: str, hold_out: str | None, folds: int) -> None:
    if hold_out not in (None, *HOLD_OUTS):
        raise UnknownNameError("way to hold out", hold_out, HOLD_OUTS)
    if learner not in LEARNERS:
        raise UnknownNameError("learner", learner, LEARNERS)
    if scale not in SCALES:
        raise UnknownNameError("scale", scale, SCALES)
    if folds < 2:
        raise UsageError(f"At least 2 folds are needed to hold something out, not {folds}.")


def _named(data: EvalSet | Mapping[str, EvalSet] | Sequence[EvalSet]) -> dict[str, EvalSet]:
    """Return sets by name; those without one are named by what is in them, so that their order is nothing."""
    if isinstance(data, EvalSet):
        return {data.name or "data": data}
    if isinstance(data, Mapping):
        found = dict(data)
    else:
        several = sorted(data, key=lambda one: one.digest())
        found = {f"{one.name or 'data'}-{place}": one for place, one in enumerate(several, 1)}
    if not found:
        raise UsageError("There is no data set to learn from.")
    return found


def _models_of(part: Part) -> tuple[str, ...]:
    """Return the models that utilities were computed from; sources alone tell nothing of them."""
    return part.data.models if any(name.startswith(_OF_MODELS) for name in part.read) else ()


def _learned(corpus: Corpus, targets: Sequence[Target], told: Sequence[HoldOut]) -> tuple[Learned, ...]:
    counts = [len(np.unique(corpus.text[~np.isnan(column)])) for column in corpus.targets.T]
    return tuple(
        Learned(target.name, str(target.utility), count, hold_out)
        for target, count, hold_out in zip(targets, counts, told, strict=True)
    )


def _training_sets(corpus: Corpus) -> tuple[TrainingSet, ...]:
    return tuple(_training_set(part) for part in corpus.parts)


def _training_set(part: Part) -> TrainingSet:
    labels = fields.labels(part.read)
    return TrainingSet(
        name=part.name,
        items=len(part.data),
        inputs=part.data.digest(part.read - labels),
        labels=part.data.digest(labels) if labels else None,
    )


def _signature(corpus: Corpus, how: _How, targets: Sequence[Target]) -> str:
    """Return how a model came about: the same line, from the same data, gives the same model."""
    learned = "+".join(f"({target.name}={target.utility.full_text})" for target in targets)
    sets = _training_sets(corpus)
    inputs, labels = sha256(), sha256()
    for one in sets:
        inputs.update(f"{one.inputs}\x1f".encode())
        labels.update(f"{one.labels}\x1f".encode())
    said = labels.hexdigest()[:LETTERS] if any(one.labels for one in sets) else "none"
    return "|".join(
        (
            f"distil:learner={how.learner},features={how.features},scale={how.scale}",
            f"utilities:{learned}",
            f"seed:{how.seed}",
            f"sets:{len(sets)}",
            f"texts:{len(corpus.texts)}",
            f"inputs:{inputs.hexdigest()[:LETTERS]}",
            f"labels:{said}",
            f"version:{__version__}",
        )
    )
