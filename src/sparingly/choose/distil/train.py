"""``distil``: learn utilities of past evaluations from sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import Method
from sparingly.choose.distil.card import ENCODER, NGRAMS, Card, Learned, TrainingSet
from sparingly.choose.distil.corpus import Corpus, Part, corpus_of, folds_of
from sparingly.choose.distil.encoder.known import EncoderFit
from sparingly.choose.distil.encoder.packages import check_packages
from sparingly.choose.distil.encoder.training import EncoderTraining
from sparingly.choose.distil.families import families_of
from sparingly.choose.distil.holdout import HoldOut, Teach, held_out
from sparingly.choose.distil.learner import Fit, fit
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.targets import Scale, Target, parse_targets
from sparingly.choose.distil.unlike import script_shares, seen_bits, thresholds_of
from sparingly.choose.distil.vectors import check_embedding, corpus_vectors, digest_of
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS

LEARNERS = ("ridge", "boosting", ENCODER)
SCALES, HOLD_OUTS = ("zscore", "rank", "none"), ("sets", "items")
_OF_MODELS = ("metric:", "aspect:", "cell:", "outputs", "ratings", "preferences")


def distil(
    data: EvalSet | Mapping[str, EvalSet] | Sequence[EvalSet],
    utilities: Sequence[str | Method | Target] | str | Method | Target,
    *,
    learner: Literal["ridge", "boosting", "encoder"] = "ridge",
    features: str = NGRAMS,
    encoder: EncoderTraining | str | None = None,
    scale: Scale = "zscore",
    hold_out: Literal["sets", "items"] | None = None,
    folds: int = 5,
    seed: int = 0,
    families: Mapping[str, str] | None = None,
    languages: Sequence[str] = (),
) -> DistilledModel:
    """Learn utilities of past evaluations from sources, to tell them for sources that no model has seen.

    Û(x) ≈ U(x, M) (Zouhar et al. 2025, eq. 10). The model's card has the hold-out correlation: with several
    data sets each is told by the others, with one its documents (or items) are held out in turn.

    Args:
        data: An evaluation set, or several, by name.
        utilities: What to learn: ``metric_var:metric=COMET``, with a name ``hard=metric_avg:metric=COMET``;
            ``aspect:overall`` and ``metric:COMET`` for minus the mean score over the models.
        learner: ``ridge``; ``boosting`` of trees on top of it; or ``encoder``, a transformer.
        features: ``ngrams`` of characters and words; or an embedding: a sentence-transformers model,
            ``column:name``, or a file of vectors. Length, rarity, type–token ratio, digits, punctuation and
            name-like words are always used.
        encoder: The transformer that an encoder starts from, by name or folder; or all of its settings.
        scale: How utilities of several sets are made comparable: ``zscore``, ``rank`` or ``none``.
        hold_out: What is held out to see how well utilities are told: ``sets``, one at a time, where there
            are several, unless ``items`` is said (whole documents, where there are any).
        folds: When items are held out: in how many parts.
        seed: Settles the folds and what a learner draws.
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
    training = _training(learner, features, encoder)
    how = _How(learner, training.base if training else features, scale, seed)
    targets = parse_targets(utilities)
    corpus = corpus_of(_named(data), targets, scale)
    vectors = corpus_vectors(corpus, check_embedding(features)) if how.is_embedded else None
    by, parts = folds_of(corpus, hold_out, folds, seed)
    teach = _teacher(corpus, how, vectors, training)
    told = held_out(corpus, parts, teach, vectors, training.measured if training else None)
    known = teach(*corpus.training(np.ones(len(corpus.text), bool)), "whole")
    signature = _signature(corpus, how, targets, training)
    card = _card(corpus, how, by, _learned(corpus, targets, told), signature)
    card = replace(card, families=families_of(card.models, families), languages=tuple(languages))
    if training and isinstance(known, EncoderFit):
        card = replace(card, embedding_digest=known.started_from, encoder=known.training_card(training))
    return DistilledModel(card, known, seen_bits(corpus.texts))


class _How(NamedTuple):
    """How is learned."""

    learner: str
    features: str
    scale: str
    seed: int

    @property
    def is_embedded(self) -> bool:
        """Whether texts are told by vectors."""
        return self.features != NGRAMS and self.learner != ENCODER


def _training(learner: str, features: str, given: EncoderTraining | str | None) -> EncoderTraining | None:
    """Return how an encoder is trained; None for other learners."""
    if learner != ENCODER:
        if given is not None:
            raise UsageError("A transformer is given, and it is for the encoder: use learner=encoder.")
        return None
    if features != NGRAMS:
        raise UsageError("An encoder reads texts by itself: leave out features.")
    if given is None:
        raise UsageError("An encoder starts from a transformer: name it, or its folder (encoder=, --base).")
    check_packages()
    return EncoderTraining(given) if isinstance(given, str) else given


def _teacher(corpus: Corpus, how: _How, vectors: Floats | None, training: EncoderTraining | None) -> Teach:
    """Return what learns the targets of some texts of a corpus."""

    def teach(rows: Ints, targets: Floats, part: str) -> Fit | EncoderFit:
        texts = [corpus.texts[place] for place in rows]
        if training is None:
            given = None if vectors is None else vectors[rows]
            return fit(texts, targets, given, how.learner == "boosting", how.seed)
        from sparingly.choose.distil.encoder.fitting import fit_encoder

        return fit_encoder(texts, targets, training, how.seed, part)

    return teach


def _card(corpus: Corpus, how: _How, by: str, learned: tuple[Learned, ...], signature: str) -> Card:
    """Return the card; the families of models are by their names."""
    models = sorted({name for part in corpus.parts for name in _models_of(part)})
    return Card(
        **how._asdict(),
        embedding_digest=digest_of(how.features) if how.is_embedded else None,
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


def _signature(corpus: Corpus, how: _How, targets: Sequence[Target], training: EncoderTraining | None) -> str:
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
            *([f"encoder:{training.text}"] if training else []),
            f"seed:{how.seed}",
            f"sets:{len(sets)}",
            f"texts:{len(corpus.texts)}",
            f"inputs:{inputs.hexdigest()[:LETTERS]}",
            f"labels:{said}",
            f"version:{__version__}",
        )
    )
