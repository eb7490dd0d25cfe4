"""``distil``: learn utilities of past evaluations from sources, and how well that works for other texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Literal

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.registry import Method
from sparingly.base.stats.correlation import pearson, spearman
from sparingly.base.syntax import argument, either
from sparingly.choose.distil.card import (
    ENCODER,
    NGRAMS,
    HoldOut,
    LearnedUtility,
    ModelCard,
    TrainingSet,
    families_of,
)
from sparingly.choose.distil.corpus import (
    Corpus,
    Scale,
    Target,
    assign_folds,
    build_corpus,
    corpus_vectors,
    embedding_digest,
    parse_targets,
)
from sparingly.choose.distil.encoder.fitted import EncoderFit
from sparingly.choose.distil.encoder.network import EncoderTraining, check_packages
from sparingly.choose.distil.learner import LightFit, fit_light
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.text_features import ngram_bits, script_shares, thresholds_of
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.signature import LETTERS

# Learns the targets of some texts; the name distinguishes the parts of a training.
FitFunction = Callable[[Ints, Floats, str], LightFit | EncoderFit]
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
    """Learn utilities of past evaluations from sources, to predict them for sources that no model has seen.

    Û(x) ≈ U(x, M) (Zouhar et al. 2025, eq. 10). The model's card has the hold-out correlation: with several
    data sets each is predicted from the others, with one its documents (or items) are held out in turn.

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
        hold_out: What is held out to see how well utilities are predicted: ``sets``, one at a time, where
            there are several, unless ``items`` is said (whole documents, where there are any).
        folds: When items are held out: in how many parts.
        seed: The seed of the folds and of the learner.
        families: The family of a model, if its name does not say it.
        languages: The languages of the sources, for the card.

    Examples:
        >>> import sparingly
        >>> model = sparingly.distil(sparingly.load_demo(), "metric_var:metric=chrF")
        >>> model.card.names, model.card.held_out_by
        (('metric_var',), 'documents')
        >>> model.predict(["A short one.", "Some longer sentence about trees."]).shape
        (2,)
    """
    if hold_out not in (None, *HOLD_OUTS):
        raise UnknownNameError("way to hold out", hold_out, HOLD_OUTS)
    if learner not in LEARNERS:
        raise UnknownNameError("learner", learner, LEARNERS)
    if scale not in SCALES:
        raise UnknownNameError("scale", scale, SCALES)
    if folds < 2:
        raise UsageError(f"At least 2 folds are needed to hold something out, not {folds}.")
    training = _encoder_settings(learner, features, encoder)
    features = training.base if training else features
    is_embedded = features != NGRAMS and training is None
    targets = parse_targets(utilities)
    corpus = build_corpus(_name_sets(data), targets, scale)
    vectors = corpus_vectors(corpus, features) if is_embedded else None
    by, parts = assign_folds(corpus, hold_out, folds, seed)

    def teach(rows: Ints, labels: Floats, part: str) -> LightFit | EncoderFit:
        texts = [corpus.texts[place] for place in rows]
        if training is None:
            text_vectors = None if vectors is None else vectors[rows]
            return fit_light(texts, labels, text_vectors, learner == "boosting", seed)
        from sparingly.choose.distil.encoder.training import fit_encoder

        return fit_encoder(texts, labels, training, seed, part)

    hold_outs = held_out(corpus, parts, teach, vectors, training.measured if training else None)
    fitted_model = teach(*corpus.training(np.ones(len(corpus.text), bool)), "whole")
    counts = [len(np.unique(corpus.text[~np.isnan(column)])) for column in corpus.targets.T]
    learned_utilities = tuple(
        LearnedUtility(target.name, str(target.utility), count, hold_out)
        for target, count, hold_out in zip(targets, counts, hold_outs, strict=True)
    )
    digest = embedding_digest(features) if is_embedded else None
    training_card = None
    if training and isinstance(fitted_model, EncoderFit):
        digest, training_card = fitted_model.started_from, fitted_model.training_card(training)
    # Sources alone say nothing of the models.
    of_models = [part for part in corpus.parts if any(name.startswith(_OF_MODELS) for name in part.read)]
    models = sorted({name for part in of_models for name in part.data.models})
    name = f"learner={learner},features={features},scale={scale}"
    card = ModelCard(
        learner=learner,
        features=features,
        embedding_digest=digest,
        scale=scale,
        seed=seed,
        texts=len(corpus.texts),
        held_out_by=by,
        utilities=learned_utilities,
        data=_training_sets(corpus),
        models=tuple(models),
        families=families_of(models, families),
        languages=tuple(languages),
        scripts=script_shares(corpus.texts),
        thresholds=thresholds_of(corpus.texts),
        signature=_signature(name, corpus, targets, training, seed),
        made_by=__version__,
        encoder=training_card,
    )
    return DistilledModel(card, fitted_model, ngram_bits(corpus.texts))


def _encoder_settings(
    learner: str, features: str, encoder: EncoderTraining | str | None
) -> EncoderTraining | None:
    """Return the settings of an encoder; None for other learners."""
    if learner != ENCODER:
        if encoder is not None:
            raise UsageError(
                f"Only an encoder starts from a transformer: add {argument('learner', 'encoder')}."
            )
        return None
    if features != NGRAMS:
        raise UsageError("An encoder reads texts by itself: leave out features.")
    if encoder is None:
        raise UsageError(
            f"An encoder starts from a transformer: name it or its folder: {either('--base …', 'encoder=…')}."
        )
    check_packages()
    return EncoderTraining(encoder) if isinstance(encoder, str) else encoder


def _name_sets(data: EvalSet | Mapping[str, EvalSet] | Sequence[EvalSet]) -> dict[str, EvalSet]:
    """Return sets by name; unnamed ones are numbered by digest, so that their order does not matter."""
    if isinstance(data, EvalSet):
        return {data.name or "data": data}
    if isinstance(data, Mapping):
        by_name = dict(data)
    else:
        several = sorted(data, key=lambda data_set: data_set.digest())
        by_name = {
            f"{data_set.name or 'data'}-{place}": data_set for place, data_set in enumerate(several, 1)
        }
    if not by_name:
        raise UsageError("There is no data set to learn from: give one file or more.")
    return by_name


def _training_sets(corpus: Corpus) -> tuple[TrainingSet, ...]:
    sets = []
    for part in corpus.parts:
        labels = fields.labels(part.read)
        inputs = part.data.digest(part.read - labels)
        label_digest = part.data.digest(labels) if labels else None
        sets.append(TrainingSet(part.name, len(part.data), inputs, label_digest))
    return tuple(sets)


def _signature(
    name: str, corpus: Corpus, targets: Sequence[Target], training: EncoderTraining | None, seed: int
) -> str:
    """Return how a model was made: the same line, from the same data, gives the same model."""
    utility_text = "+".join(f"({target.name}={target.utility.full_text})" for target in targets)
    sets = _training_sets(corpus)
    inputs = sha256("".join(f"{part.inputs}\x1f" for part in sets).encode())
    labels = sha256("".join(f"{part.labels}\x1f" for part in sets).encode())
    label_digest = labels.hexdigest()[:LETTERS] if any(part.labels for part in sets) else "none"
    return "|".join(
        (
            f"distil:{name}",
            f"utilities:{utility_text}",
            *([f"encoder:{training.text}"] if training else []),
            f"seed:{seed}",
            f"sets:{len(sets)}",
            f"texts:{len(corpus.texts)}",
            f"inputs:{inputs.hexdigest()[:LETTERS]}",
            f"labels:{label_digest}",
            f"version:{__version__}",
        )
    )


def held_out(
    corpus: Corpus, folds: Ints, teach: FitFunction, vectors: Floats | None, fold_limit: int | None
) -> tuple[HoldOut, ...]:
    """Learn without each fold (or the first few), predict it, and correlate set by set.

    A text of the fold is not learned from in any other set either: editions of one test set share sources.
    """
    predictions = np.full(corpus.targets.shape, np.nan)
    for number in np.unique(folds).tolist()[:fold_limit]:
        inside = folds == number
        free = ~np.isin(corpus.text, corpus.text[inside])
        rows, targets = corpus.training(free)
        if len(rows) < 2 or not (~np.isnan(targets)).any(axis=0).all():
            raise DataError(
                "Without the texts of one part, too few are left to learn from: hold items out instead "
                f"({argument('hold_out', 'items')}), or give other data."
            )
        fitted_model = teach(rows, targets, f"without-{number}")
        places = corpus.text[inside]
        held_vectors = None if vectors is None else vectors[places]
        predictions[inside] = fitted_model.predict([corpus.texts[place] for place in places], held_vectors)
    return tuple(_correlations(corpus, column, place) for place, column in enumerate(predictions.T))


def _correlations(corpus: Corpus, predictions: Floats, utility: int) -> HoldOut:
    ranks, lines, sizes = {}, [], []
    for place, part in enumerate(corpus.parts):
        rows = corpus.part == place
        true, guess = part.values[corpus.item[rows], utility], predictions[rows]
        present = ~(np.isnan(true) | np.isnan(guess))
        if present.sum() < 2:
            continue
        ranks[part.name] = spearman(guess[present], true[present])
        lines.append(pearson(guess[present], true[present]))
        sizes.append(int(present.sum()))
    if not sizes:
        return HoldOut(0.0, 0.0, {})
    mean = float(np.average(list(ranks.values()), weights=sizes))
    return HoldOut(mean, float(np.average(lines, weights=sizes)), ranks)
