"""New models with a draw of their own, placed among models that people judged before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.errors import DataError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.bank import PARAMETERS, LabelBank, bank_notes, earlier_models, greg_predictions
from sparingly.infer.estimate.draw import sample_from
from sparingly.infer.estimate.estimate import without_truth
from sparingly.infer.estimate.intervals import IntervalOutcome
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.predictions import own_slopes
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.estimate.sample import JudgedSample, difference_form, single_items
from sparingly.infer.estimate.variance import ScoreErrors, join_separate_draws, nearest_covariance

FEWEST_SHARED = 30

# --- the draw: spread over what earlier models teach ---

EXPECTED = "people's scores of earlier models"


def draw_view(data: EvalSet, aspect: str, new: Sequence[str], seed: int) -> EvalSet:
    """Return the new models with one metric: what people's scores of the others make one expect of them.

    A draw that is spread over it holds as many items that earlier models found hard as the whole set does.
    Every item is as likely as any other, so scores stay unbiased whatever it is worth. Where no earlier model
    was judged, the set keeps its own metrics.
    """
    sample = _sample_of_labels(data, aspect)
    earlier = np.flatnonzero(sample.judged.any(axis=0) & ~np.isin(data.models, list(new)))
    view = data.without_labels().take(models=new)
    if not len(earlier):
        return view
    features = without_truth(data, aspect)
    bank = LabelBank.learn(sample, features, earlier, seed)
    columns = [data.models.index(name) for name in view.models]
    expected = np.column_stack([bank.expected(column) for column in columns])
    return view.with_parts(metrics={EXPECTED: expected})


def _sample_of_labels(data: EvalSet, aspect: str) -> JudgedSample:
    """Return every label of a set as if it had been certain: earlier models' labels are taken as they are."""
    scores = data.truth(aspect)
    rows = np.flatnonzero(~np.isnan(scores).all(axis=1))
    if not len(rows):
        raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
    return single_items(rows, scores[rows], np.ones((1, 1)), len(data))


# --- scores of the new models ---


def estimate_new_models(
    data: EvalSet, selection: Selection, drawn_from: EvalSet, aspect: str, request: EstimateRequest
) -> Estimate:
    """Estimate the models that a selection names from their labels, and from those of all other models.

    Given the earlier labels, what they predict is a number known of every item: the draw of the new models'
    items, with known probabilities over all items, makes the estimate unbiased.

    Args:
        data: All models with their labels; those of models that the selection does not name only predict.
        selection: The rows that were drawn for the new models.
        drawn_from: The set that they were drawn from, with these models alone (``draw_view``).
        aspect: What was judged.
        request: Target, level and kind of the intervals, scale and seed.
    """
    new = [data.models.index(name) for name in drawn_from.models]
    scores, features = data.truth(aspect), without_truth(data, aspect)
    part = sample_from(drawn_from, scores[:, new], selection)
    everything = _sample_of_labels(data, aspect)
    earlier = earlier_models(everything)
    earlier[:, new] = False
    learned: Mask = np.asarray(earlier[new].any(axis=1))
    predicted, fallen_back, notes = greg_predictions(
        part, features.take(models=drawn_from.models), np.flatnonzero(~learned), request.seed
    )
    base, added = np.zeros((2, *predicted.shape))
    for place in np.flatnonzero(learned).tolist():
        column = new[place]
        bank = LabelBank.learn(everything, features, np.flatnonzero(earlier[column]), request.seed)
        base[:, place], added[:, place] = bank.predict(part, data, place, request.seed, column=column)
    slopes = own_slopes(part, np.stack([base, added]))
    predicted += slopes[0] * base + slopes[1] * added
    fallen_back |= learned & ~slopes.any(axis=0)
    parameters = PARAMETERS if slopes.any() else 2.0 if predicted.any() else 1.0
    linear = difference_form(part, predicted, parameters=parameters)
    notes = (*notes, *bank_notes(drawn_from.models, learned, slopes))
    linear = replace(linear, fallen_back=fallen_back, notes=notes)
    return assemble(part, linear, drawn_from.models, request, aspect=aspect, estimator="bank")


@dataclass(frozen=True, eq=False)
class EarlierPredictions:
    """What labels of earlier models predict of new ones: items × models, from metrics and what these add.

    ``slopes`` (2 × models) say how far both count before the new models have labels: 0 where that is unknown,
    as a single earlier model does not say how far it predicts another.
    """

    base: Floats
    added: Floats
    slopes: Floats

    @classmethod
    def learn(cls, earlier: EvalSet, drawn_from: EvalSet, aspect: str, seed: int) -> EarlierPredictions:
        """Learn from a set with the labels of earlier models; ``drawn_from`` holds the new ones."""
        sample, new = _sample_of_labels(earlier, aspect), list(drawn_from.models)
        judged = np.flatnonzero(sample.judged.any(axis=0) & ~np.isin(earlier.models, new))
        bank = LabelBank.learn(sample, without_truth(earlier, aspect), judged, seed)
        base, gain = np.zeros((2, len(earlier), len(new)))
        if bank.with_human is None:
            gain[:] = bank.human[:, None]
            return cls(base, gain, np.zeros((2, len(new))))
        for place, name in enumerate(new):
            column = earlier.models.index(name)
            base[:, place], gain[:, place] = bank.predict(sample, earlier, column, seed)
        return cls(base, gain, np.ones((2, len(new))))


def estimates_in_batches(
    predictions: EarlierPredictions,
    data: EvalSet,
    looks: Iterable[Selection],
    drawn_from: EvalSet,
    aspect: str,
    request: EstimateRequest,
) -> Iterator[Estimate]:
    """Yield the new models' scores at every look, each batch predicted from earlier labels only.

    μ̂ = Σ_S (y_i − f_b(i) + N⁻¹ Σ_all f_b)/π_i / Σ_S 1/π_i over batches b, the items between two looks. The
    slopes of f_b are learned from the new model's labels of the batches before b. Given what was known before
    it every batch is unbiased, so what one look adds to another is independent of it.

    Args:
        predictions: What labels predict that were there before the first batch.
        data: All models with the labels of now.
        looks: The rows of the draw up to every look, judged as far as they can be, each with the look before.
        drawn_from: The set that they were drawn from, with these models alone (``draw_view``).
        aspect: What was judged.
        request: Target, level and kind of the intervals, scale and seed.
    """
    scores = data.truth(aspect)[:, [data.models.index(name) for name in drawn_from.models]]
    parts, slopes = np.stack([predictions.base, predictions.added]), predictions.slopes
    predicted, is_fixed = np.zeros_like(predictions.base), np.zeros(len(data), bool)
    for selection in looks:
        part = sample_from(drawn_from, scores, selection)
        of_batch = np.einsum("kj,kij->ij", slopes, parts)
        predicted = np.where(is_fixed[:, None], predicted, of_batch - part.whole_mean(of_batch))
        is_fixed[part.rows] = True
        linear = difference_form(part, predicted)
        # The predictions of every batch have the mean 0 over all items.
        linear = replace(linear, fixed=linear.fixed - part.whole_mean(predicted))
        yield assemble(part, linear, drawn_from.models, request, aspect=aspect, estimator="bank")
        slopes = own_slopes(part, parts)


# --- one estimate of all models ---

# What the estimator of a signature ends in: the draws of the new models are in the campaign's journal.
WITH_BANK = "+bank"


def join_estimates(parts: Sequence[Estimate], data: EvalSet) -> Estimate:
    """Join estimates of different models of a set, with draws of their own, so that all can be ranked.

    Scores, errors and intervals of each stay what they are. Draws of their own have nothing in common: over
    this set, errors of models of different parts are independent. Over inputs like these, the inputs are the
    same for all: the covariance is that of their scores on the items on which both were judged, over N.
    """
    if any(part.target == CHOSEN_ITEMS or part.pairs is None for part in parts):
        raise DataError(
            "Scores of new models cannot be compared with those of the earlier ones, whose items were "
            "not drawn with known probabilities."
        )
    names = [name for part in parts for name in part.models]
    order = np.argsort([data.models.index(name) for name in names])
    pairs = [part.pairs for part in parts if part.pairs is not None]
    sample = _joint_sample([pair.sample for pair in pairs], order, len(data))
    over_set = _ordered(join_separate_draws([pair.over_set for pair in pairs]), order)
    errors = over_set
    if parts[0].target != "set":
        errors = _ordered(join_separate_draws([pair.errors for pair in pairs]), order)
        part_of = np.repeat(np.arange(len(parts)), [len(part.models) for part in parts])[order]
        shared = np.where(part_of[:, None] != part_of, _shared_inputs(sample), 0.0)
        unknown = np.isnan(errors.covariance)
        covariance = nearest_covariance(np.where(unknown, 0.0, errors.covariance + shared))
        # Every score keeps its own error.
        own_variances = np.diag(np.where(unknown, 0.0, errors.covariance))
        scale = np.sqrt(ratio(own_variances, np.diag(covariance), 1.0))
        covariance = np.where(unknown, np.nan, covariance * scale[:, None] * scale)
        errors = replace(errors, covariance=covariance)
    first = pairs[0]
    joint = PairErrors(
        sample, errors, over_set, first.level, first.interval, first.seed,
        all(pair.complete for pair in pairs), None, first.scale, all(pair.two_valued for pair in pairs),
    )  # fmt: skip

    def joined(name: str) -> Floats:
        return np.asarray(np.concatenate([getattr(part, name) for part in parts])[order])

    outcomes = [vars(part.outcome) for part in parts]
    kinds = [kind for part in parts for kind in part.intervals]
    return replace(
        parts[0],
        models=tuple(names[place] for place in order),
        scores=joined("scores"),
        standard_errors=joined("standard_errors"),
        low=joined("low"),
        high=joined("high"),
        intervals=tuple(kinds[place] for place in order),
        covariance=errors.covariance,
        freedom=errors.freedom,
        n=len(sample.rows),
        outcome=IntervalOutcome(**{name: sum(each[name] for each in outcomes) for name in outcomes[0]}),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        pairs=joint,
    )


def _ordered(errors: ScoreErrors, order: Ints) -> ScoreErrors:
    return replace(
        errors,
        covariance=errors.covariance[np.ix_(order, order)],
        shape=errors.shape[:, order],
        units_judged=errors.counts[order],
    )


def _joint_sample(samples: Sequence[JudgedSample], order: Ints, size: int) -> JudgedSample:
    """Return the judgements of all parts with their probabilities, for what pairs have in common."""
    rows = np.unique(np.concatenate([sample.rows for sample in samples]))
    shape = (len(rows), sum(sample.models for sample in samples))
    scores, probability, start = np.full(shape, np.nan), np.ones(shape), 0
    for sample in samples:
        columns = slice(start, start + sample.models)
        places = np.searchsorted(rows, sample.rows)
        scores[places, columns], probability[places, columns] = sample.scores, sample.probability
        start += sample.models
    of = samples[0]
    weighted = {"weights": of.weights, "document": of.document}
    return single_items(rows, scores[:, order], probability[:, order], size, **weighted)


def _shared_inputs(sample: JudgedSample) -> Floats:
    """Return models × models: the covariance of scores over items, over N; 0 for under 30 common items.

    Over the items on which both were judged, each by what it stands for.
    """
    judged = sample.judged.astype(np.float64)
    root = np.sqrt(sample.share)
    total = np.maximum(sample.share.sum(axis=0), 1e-300)
    deviation = np.where(
        sample.judged, sample.values - (sample.share * sample.values).sum(axis=0) / total, 0.0
    )
    weight, count = root.T @ root, judged.T @ judged
    products = (root * deviation).T @ (root * deviation)
    covariance = np.divide(products, weight, out=np.zeros_like(products), where=count >= FEWEST_SHARED)
    return np.asarray(covariance / sample.size)
