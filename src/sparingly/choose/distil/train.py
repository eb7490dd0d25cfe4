"""``distil``: learn utilities of past evaluations from sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Literal, NamedTuple

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.registry import Method
from sparingly.base.stats.correlation import pearson, spearman
from sparingly.choose.distil.card import (
    ENCODER,
    NGRAMS,
    Card,
    HoldOut,
    LearnedUtility,
    TrainingSet,
    families_of,
)
from sparingly.choose.distil.corpus import (
    Corpus,
    CorpusSet,
    Scale,
    Target,
    check_embedding,
    corpus_of,
    corpus_vectors,
    digest_of,
    folds_of,
    parse_targets,
)
from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.encoder.network import check_packages
from sparingly.choose.distil.encoder.settings import EncoderTraining
from sparingly.choose.distil.learner import Fit, fit
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.out_of_domain import script_shares, seen_bits, thresholds_of
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS

# --- How well a utility is told for texts that were not learned from


# Learns the targets of some texts; the name tells one part of a training from another.
Teach = Callable[[Ints, Floats, str], Fit | EncoderFit]


def held_out(
    corpus: Corpus, folds: Ints, teach: Teach, vectors: Floats | None = None, most: int | None = None
) -> tuple[HoldOut, ...]:
    """Learn without each fold (or the first few), predict it, and correlate set by set.

    A text of the fold is not learned from in any other set either: editions of one test set share sources.
    """
    told = np.full(corpus.targets.shape, np.nan)
    for number in np.unique(folds).tolist()[:most]:
        inside = folds == number
        free = ~np.isin(corpus.text, corpus.text[inside])
        rows, targets = corpus.training(free)
        if len(rows) < 2 or not (~np.isnan(targets)).any(axis=0).all():
            raise DataError(
                "Without the texts of one part, too few are left to learn from: hold items out instead "
                "(hold_out=items), or give other data."
            )
        known = teach(rows, targets, f"without-{number}")
        places = corpus.text[inside]
        there = None if vectors is None else vectors[places]
        told[inside] = known.predict([corpus.texts[place] for place in places], there)
    return tuple(_correlations(corpus, column, place) for place, column in enumerate(told.T))


def _correlations(corpus: Corpus, told: Floats, utility: int) -> HoldOut:
    ranks, lines, sizes = {}, [], []
    for place, part in enumerate(corpus.parts):
        rows = corpus.part == place
        true, guess = part.values[corpus.item[rows], utility], told[rows]
        known = ~(np.isnan(true) | np.isnan(guess))
        if known.sum() < 2:
            continue
        ranks[part.name] = spearman(guess[known], true[known])
        lines.append(pearson(guess[known], true[known]))
        sizes.append(int(known.sum()))
    if not sizes:
        return HoldOut(0.0, 0.0, {})
    mean = float(np.average(list(ranks.values()), weights=sizes))
    return HoldOut(mean, float(np.average(lines, weights=sizes)), ranks)


# --- ``distil``: learn utilities of past evaluations from sources


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
        from sparingly.choose.distil.encoder.training import fit_encoder

        return fit_encoder(texts, targets, training, how.seed, part)

    return teach


def _card(corpus: Corpus, how: _How, by: str, learned: tuple[LearnedUtility, ...], signature: str) -> Card:
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


def _models_of(part: CorpusSet) -> tuple[str, ...]:
    """Return the models that utilities were computed from; sources alone tell nothing of them."""
    return part.data.models if any(name.startswith(_OF_MODELS) for name in part.read) else ()


def _learned(
    corpus: Corpus, targets: Sequence[Target], told: Sequence[HoldOut]
) -> tuple[LearnedUtility, ...]:
    counts = [len(np.unique(corpus.text[~np.isnan(column)])) for column in corpus.targets.T]
    return tuple(
        LearnedUtility(target.name, str(target.utility), count, hold_out)
        for target, count, hold_out in zip(targets, counts, told, strict=True)
    )


def _training_sets(corpus: Corpus) -> tuple[TrainingSet, ...]:
    return tuple(_training_set(part) for part in corpus.parts)


def _training_set(part: CorpusSet) -> TrainingSet:
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
