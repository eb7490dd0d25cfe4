"""``bank``: people's scores of earlier models on the same items predict one that was judged on few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.errors import DataError
from sparingly.base.format import counted
from sparingly.base.registry import register
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.assemble import EstimateRequest, assemble
from sparingly.infer.estimate.estimators import (
    FEWEST,
    Estimator,
    Greg,
    Split,
    fold_groups,
    known_metrics,
    labels_and_weights,
    metric_fields,
    own_slopes,
    splits_of,
)
from sparingly.infer.estimate.intervals import IntervalOutcome
from sparingly.infer.estimate.pairs import PairErrors
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.estimate.sample import (
    JudgedSample,
    LinearForm,
    difference_form,
    group_sums,
    sample_from,
    single_items,
    without_truth,
)
from sparingly.infer.estimate.variance import ScoreErrors, join_separate_draws, nearest_covariance

# A model has earlier ones where others were judged on so many times its items: fewer more are gaps.
DEEPER = 1.5
USED = "people's scores of earlier models on the same items sharpen {models}."
NO_USE = "people's scores of earlier models do not help to predict {models}, and are not used."
PARAMETERS = 3.0


def earlier_models(sample: JudgedSample) -> Mask:
    """Return models × models: which models count as earlier for each, where it has labels enough to learn.

    Those judged on at least half as many items again, for a model with at least 30 judged units.
    """
    judged = sample.judged.sum(axis=0)
    return np.asarray((judged >= DEEPER * judged[:, None]) & (sample.units >= FEWEST)[:, None])


@register("bank")
@dataclass(frozen=True)
class Bank(Estimator):
    """Predicts a model judged on fewer items than others from metrics and people's scores of those others.

    μ̂_j = N⁻¹ Σ_all f̂_ij + Σ_S (y_ij − f̂_ij)/π_ij / Σ_S 1/π_ij with f̂_ij = s_j a_ij + t_j b_ij. The first part
    comes from metrics, a_ij = α₁ m_ij + α₂ m̄_i, with m_ij predicted by what earlier models teach and m̄_i its
    mean over the models. The second is what earlier labels add, b_ij = β₁ m_ij + β₂ m̄_i + β₃ h_i − a_ij, with
    h_i the mean of people's scores of the earlier models on item i, less those models' means, shrunk by how
    many were judged. α and β are learned from the earlier models alone, each predicted from the others; where
    there is only one, from the new model's labels, cross-fitted. The slopes s_j and t_j are those of the new
    model's labels, shrunk. Earlier models are those with labels on half as many items again; a model without
    any, or with labels on fewer than 30 units, gets what ``greg`` gives.

    Use it to place a new model among others that people have judged before. It is the default where some
    models were judged on far fewer items than others.
    """

    reference: ClassVar[str] = "Särndal, Swensson and Wretman 1992, sections 6.3 and 9.7 (two phases)"

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read all metrics, and the texts for their lengths, where there are any."""
        return metric_fields(data, known_metrics(data))

    def linear(self, sample: JudgedSample, data: EvalSet, seed: int) -> LinearForm:
        """Return the difference estimator with predictions from metrics and from earlier models."""
        bank = predict_from_bank(sample, data, seed)
        by_metrics, fallen_back, notes = greg_predictions(sample, data, np.flatnonzero(~bank.new), seed)
        predicted = np.where(bank.new, bank.predicted, by_metrics)
        parameters = PARAMETERS if bank.slopes.any() else 2.0 if predicted.any() else 1.0
        linear = difference_form(sample, predicted, parameters=parameters, widening=bank.widening)
        fallen_back |= bank.new & ~bank.slopes.any(axis=0)
        return replace(
            linear, fallen_back=fallen_back, notes=(*notes, *bank_notes(data.models, bank.new, bank.slopes))
        )


def greg_predictions(
    sample: JudgedSample, data: EvalSet, models: Ints, seed: int
) -> tuple[Floats, Mask, tuple[str, ...]]:
    """Return predictions of some models as if there were no others, which fell back, and notes."""
    from sparingly.signals.predict.features import has_features

    predicted, fallen_back = np.zeros((sample.size, sample.models)), np.zeros(sample.models, bool)
    view = data.take(models=[data.models[place] for place in models]) if len(models) else data
    if not len(models) or not len(view.metrics) or not has_features(view):
        return predicted, fallen_back, ()
    linear = Greg().linear(sample.of_models(models), view, seed)
    if linear.predicted is not None:
        predicted[:, models] = linear.predicted
    if linear.fallen_back is not None:
        fallen_back[models] = linear.fallen_back
    return predicted, fallen_back, linear.notes


@dataclass(frozen=True, eq=False)
class BankPredictions:
    """Predictions of the models that have earlier ones."""

    new: Mask  # which models these are
    predicted: Floats  # items × models, with the slopes; 0 for other models
    # 2 × models: how far predictions count, from metrics and what the bank adds; 0 where that tells nothing
    # of the labels.
    slopes: Floats
    widening: Floats  # by how much errors exceed those of the residuals


def bank_notes(models: Sequence[str], new: Mask, slopes: Floats) -> tuple[str, ...]:
    """Say which of the new models people's scores of earlier ones sharpen, and which they do not."""
    notes = []
    helpful = slopes[1] > 0
    for mask, text in ((new & helpful, USED), (new & ~helpful, NO_USE)):
        names = [name for name, is_meant in zip(models, mask, strict=True) if is_meant]
        if names:
            notes.append(text.format(models=names[0] if len(names) == 1 else counted(len(names), "model")))
    return tuple(notes)


def predict_from_bank(sample: JudgedSample, data: EvalSet, seed: int) -> BankPredictions:
    """Predict every model that has earlier ones from people's scores of these, and from metrics."""
    earlier = earlier_models(sample)
    new: Mask = np.asarray(earlier.any(axis=1))
    base, gain = np.zeros((2, sample.size, sample.models))
    banks: dict[bytes, LabelBank] = {}
    for model in np.flatnonzero(new).tolist():
        models = np.flatnonzero(earlier[model])
        if models.tobytes() not in banks:
            banks[models.tobytes()] = LabelBank.learn(sample, data, models, seed)
        base[:, model], gain[:, model] = banks[models.tobytes()].predict(sample, data, model, seed)
    slopes = own_slopes(sample, np.stack([base, gain])) * new
    predicted = slopes[0] * base + slopes[1] * gain
    widening = np.ones(sample.models)
    for model in np.flatnonzero(slopes[1]).tolist():
        widening[model] = _widening(sample, predicted[:, model], slopes[1, model] * gain[:, model], model)
    return BankPredictions(new, predicted, slopes, widening)


@dataclass(frozen=True, eq=False)
class LabelBank:
    """What people's scores of earlier models say of every item, and how far it predicts a model."""

    known: Mask  # of which items it says anything
    human: Floats  # h_i, the shrunk mean of the earlier models' scores on every item; 0 where there is none
    metrics: Floats  # items × models × features (m and m̄), centred; no features without metrics
    # The coefficients of the features and, last, of h; None where a single earlier model gives nothing to
    # learn them from.
    with_human: Floats | None
    without: Floats  # the coefficients of the features alone, for items without h

    @classmethod
    def learn(cls, sample: JudgedSample, data: EvalSet, models: Ints, seed: int) -> LabelBank:
        """Learn from the labels of some models."""
        from sparingly.signals.predict.regressors import fit_ridge

        labels, weights = labels_and_weights(sample, sample.scores)
        labels = np.where(np.isin(np.arange(sample.models), models), labels, np.nan)
        metrics = _metric_features(sample, data, labels, weights, seed)
        judged = ~np.isnan(labels[:, models])
        weight = np.where(judged, weights[:, models], 0.0)
        deviation = np.where(judged, labels[:, models], 0.0)
        deviation = np.where(judged, deviation - (weight * deviation).sum(axis=0) / weight.sum(axis=0), 0.0)
        counts, total = judged.sum(axis=1), deviation.sum(axis=1)
        prior = _prior_labels(deviation, counts)
        # Of an earlier model: what people said of the others, as it will be for a new one.
        of_others = ratio(total[:, None] - deviation, counts[:, None] - judged + prior)
        learns = np.where(judged & (counts > 1)[:, None], weight, 0.0)
        with_human, baseline = None, np.zeros(metrics.shape[2])
        if learns.any():
            own_metrics = metrics[:, models]
            rows = np.flatnonzero(learns.any(axis=1))
            features = np.concatenate([own_metrics, of_others[:, :, None]], axis=2)[rows]
            scale = float(learns[rows].sum() / (learns[rows] > 0).sum())
            with_human = fit_ridge(features, deviation[rows], learns[rows] / scale).coefficients
            if metrics.shape[2]:
                baseline = fit_ridge(own_metrics[rows], deviation[rows], learns[rows] / scale).coefficients
        return cls(counts > 0, ratio(total, counts + prior), metrics, with_human, baseline)

    def expected(self, model: int) -> Floats:
        """Return what is expected of a model on every item before it has a label."""
        if self.with_human is None:
            return self.human
        base = self.metrics[:, model] @ self.without
        return np.where(self.known, self._features(model) @ self.with_human, base)

    def _features(self, model: int) -> Floats:
        return np.concatenate([self.metrics[:, model], self.human[:, None]], axis=1)

    def predict(
        self, sample: JudgedSample, data: EvalSet, model: int, seed: int, column: int | None = None
    ) -> tuple[Floats, Floats]:
        """Return two parts of a model's prediction for all items: from metrics, and what the bank adds.

        The second is 0 where nothing is known, and on average over the items of which something is, so that
        the mean prediction does not depend on which items these are. ``column`` is the model's in the bank
        where that is not its place in the sample.
        """
        features = self._features(model if column is None else column)
        if self.with_human is not None:
            base = features[:, :-1] @ self.without
            gain = features @ self.with_human - base
        else:
            base, gain = self._from_own_labels(sample, data, model, features, seed)
        if self.known.all():
            return base, gain
        alike = np.ptp(sample.draw[self.known[sample.rows]]) <= 1e-9
        if not alike and _is_inside(sample, self.known, model):
            return base, np.zeros_like(base)
        return base, np.where(self.known, gain - gain[self.known].mean(), 0.0)

    @staticmethod
    def _from_own_labels(
        sample: JudgedSample, data: EvalSet, model: int, features: Floats, seed: int
    ) -> tuple[Floats, Floats]:
        """Return the parts by coefficients from the model's own labels, those of other folds for its own."""
        from sparingly.signals.predict.regressors import fit_ridge

        rows = np.flatnonzero(sample.judged[:, model])
        part = sample.of_model(model)
        splits = splits_of(part, data.keys, 5, seed)
        places, label, weight = sample.rows[rows], part.scores, part.share / part.share.mean()
        spread = features.std(axis=0)
        scaled = features / np.where(spread > 0, spread, 1.0)

        def coefficients(split: Split) -> Floats:
            learn = split.learn
            return fit_ridge(scaled[places[learn]][:, None], label[learn], weight[learn]).coefficients

        slopes = [coefficients(split) for split in splits]
        of_item = np.repeat(np.mean(slopes, axis=0)[None], sample.size, axis=0)
        for slope, split in zip(slopes, splits, strict=True):
            of_item[places[split.use]] = slope
        terms = of_item * (scaled - scaled.mean(axis=0))
        return terms[:, :-1].sum(axis=1), terms[:, -1]


def _metric_features(
    sample: JudgedSample, data: EvalSet, labels: Floats, weights: Floats, seed: int
) -> Floats:
    """Return m and m̄, items × models × 2: predicted from metrics by these labels, held out, centred."""
    from sparingly.signals.predict import predict_scores
    from sparingly.signals.predict.features import has_features

    if not has_features(data):
        return np.zeros((sample.size, sample.models, 0))
    groups = fold_groups(sample)
    held_out = predict_scores(data, labels, weights=weights, groups=groups, seed=seed).held_out
    held_out = held_out - held_out.mean(axis=0)
    level = np.repeat(held_out.mean(axis=1, keepdims=True), sample.models, axis=1)
    return np.stack([held_out, level], axis=2)


def _prior_labels(deviation: Floats, counts: Ints) -> float:
    """Return λ of h_i = Σ_k z_ik/(c_i + λ): the variance within items over that between items."""
    several = counts > 1
    if not several.any():
        return 0.0
    means = deviation.sum(axis=1)[several] / counts[several]
    squares = (deviation**2).sum(axis=1)[several]
    noise = float((squares - counts[several] * means**2).sum() / (counts[several] - 1).sum())
    between = float((means**2 - noise / counts[several]).mean())
    return noise / max(between, noise / 20.0) if noise > 0 else 0.0


# --- earlier models that were judged on a part of the items ---
# h is known on S₁ only. Where the new model's items S were drawn from all items, with whatever chances, given
# S₁, h is one more number known of every item, and nothing is to be done. Where S was drawn inside S₁, what h
# adds is corrected to its mean over S₁, which has an error of its own: V = V_S(y − f̂) + V_S₁(added).


def _is_inside(sample: JudgedSample, known: Mask, model: int) -> bool:
    """Whether a model was judged on no item of which nothing is known."""
    return bool(known[sample.rows[sample.judged[:, model]]].all())


def _widening(sample: JudgedSample, predicted: Floats, added: Floats, model: int) -> float:
    """Return √(1 + V_S₁(added)/V_S(y − f̂)) of a model judged inside S₁; 1 of the others."""
    changed = added != 0.0
    rows = np.flatnonzero(changed[sample.rows])
    if changed.all() or not len(rows) or not _is_inside(sample, changed, model):
        return 1.0
    judged = np.flatnonzero(sample.judged[:, model])
    error = sample.values[judged, model] - predicted[sample.rows[judged]]
    first = _mean_variance(added[sample.rows[rows]], sample.cluster[rows], sample.size)
    second = _mean_variance(error, sample.cluster[judged], sample.size)
    return float(np.sqrt(1.0 + first / second)) if second > 0 else 1.0


def _mean_variance(values: Floats, cluster: Ints, size: int) -> float:
    """Return the variance of the mean of values that were drawn in clusters, equally likely."""
    sums = group_sums(values - values.mean(), cluster)
    units = max(len(np.unique(cluster)), 2)
    return float((1.0 - len(values) / size) * units / (units - 1.0) * (sums**2).sum() / len(values) ** 2)


# --- new models with a draw of their own, placed among models that people judged before ---

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

    ``data`` holds all models with their labels; those of models that the selection does not name only
    predict. ``drawn_from`` is the set that its rows were drawn from, with the new models alone
    (``draw_view``).
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

    ``predictions`` are from labels that were there before the first batch, ``data`` has those of now.
    ``looks`` are the rows of the draw up to every look, judged as far as they can be, each with the look
    before.
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
    # The judgements of all parts with their probabilities, for what pairs have in common.
    samples = [pair.sample for pair in pairs]
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
    sample = single_items(rows, scores[:, order], probability[:, order], len(data), **weighted)
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
