"""``expect``: what judging everything would say of every pair of models, from every label there is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sparingly.base.arrays import Floats, Mask, ratio
from sparingly.base.cache import ResultCache
from sparingly.base.checks import check_level
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.format import cell_text
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.summary import Summary, Tabular
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.io import DataLike, as_evalset
from sparingly.infer.estimate.estimators import known_metrics
from sparingly.infer.estimate.sample import without_truth
from sparingly.signals.predict.features import FeatureTable, feature_arrays, prepare_features
from sparingly.signals.predict.regressors import Ridge, fit_ridge, model_intercepts

# --- from an estimate and the metrics to a belief about what the whole set would show ---
# In units in which the whole set's own noise is 1, a pair of models differs by z. Labels show ẑ = z + noise
# of variance c = (1/n − 1/N)·N; the metrics alone say g, up to a factor b. The belief before the labels:
#
#     z = b·g + r_j − r_k,   r_j ~ N(0, v_j·ζ²(1 − ρ²)/2),   b = ρ·ζ/rms(g)
#     log ζ ~ N(log 8, 0.7²),   atanh ρ ~ N(2.5·w, 0.6²)
#
# ζ is how far apart the models lie, ρ how well the metrics order them, and w the correlation of predictions
# and labels *within* items, cross-validated, which hints at ρ and is known after few labels. Labels weigh all
# values of (ζ, ρ); the answer is the mean of z. As w and the evidence vanish, so does the weight of g; as
# labels come, k = r²/(r² + c), with r² = (v_j + v_k)/2·ζ²(1 − ρ²), goes to 1 and the labels alone speak.
#
# Metrics misjudge some models altogether: a person among systems, say, or the newest model. So r_j has the
# heavy tails of Student's t with ν = 1: v_j = (ν + e_j²)/(ν + 1), with e_j the model's residual in units of
# its usual spread. For such a model the labels decide; for the others the metrics count, too.
#
# Few models cannot show that the metrics order them wrongly. So this belief is mixed with the one without
# metrics (ρ = 0): of M models it has the share (M − 1)/(M + 3), as if four comparisons spoke against it.

_DEVIATIONS = np.linspace(-2.5, 2.5, 11)
_TRUSTS = np.array([-0.4, 0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.2, 2.7])
_NO_SIGNAL = 1e-6
# After so many fits, tails hardly change.
_FITS_OF_TAILS = 3


@dataclass(frozen=True)
class BeliefPrior:
    """What is believed before any label; chosen on fully judged sets, see docs/research/coverage.md."""

    distance: float = 8.0  # ζ: how far apart models usually lie, in standard errors of the whole set
    distance_sd: float = 0.7  # the standard deviation of log ζ
    trust_by_within: float = 2.5  # atanh ρ by the correlation within items
    trust_sd: float = 0.6  # its standard deviation
    # ν: the degrees of freedom of what metrics miss of a model; infinite: as little as of the others.
    tails: float = 1.0
    doubt: float = 4.0  # how many comparisons of models speak against the metrics before any label

    def __post_init__(self) -> None:
        if not self.tails > 0:
            raise UsageError(f"Degrees of freedom are greater than 0, not {self.tails}.")


USUAL_PRIOR = BeliefPrior()


class Belief(NamedTuple):
    """What is believed of every pair of models."""

    z: Floats  # the mean of the belief
    sd: Floats  # its standard deviation
    label_weight: float  # the share k of what the labels say beyond the metrics, mean over the pairs
    trust: float  # the mean of ρ: how well the metrics are believed to order the models; 0 without metrics


def believe(
    observed: Floats,
    predicted: Floats,
    noise: Floats,
    *,
    models: int,
    within: float,
    scale: float,
    prior: BeliefPrior = USUAL_PRIOR,
) -> Belief:
    """Return the belief about every pair, in the symbols above.

    ``observed`` is ẑ, ``predicted`` g, ``noise`` c and ``within`` w. Pairs are as many observations as there
    are ``models`` less one, not more. ``scale`` is the whole set's noise in the units of ẑ, for ζ (residuals
    vary less than scores).
    """
    one, other = (
        _believe(observed, said, noise, models=models, within=within, scale=scale, prior=prior)
        for said in (predicted, np.zeros_like(predicted))
    )
    share = (models - 1) / (models - 1 + prior.doubt)
    variance = (
        share * one.sd**2 + (1.0 - share) * other.sd**2 + share * (1.0 - share) * (one.z - other.z) ** 2
    )
    return Belief(
        share * one.z + (1.0 - share) * other.z,
        np.sqrt(variance),
        share * one.label_weight + (1.0 - share) * other.label_weight,
        share * one.trust,
    )


def _believe(
    observed: Floats,
    predicted: Floats,
    noise: Floats,
    *,
    models: int,
    within: float,
    scale: float,
    prior: BeliefPrior,
) -> Belief:
    """Return the belief with metrics that say ``predicted``; without metrics where that is nothing."""
    size = float(np.sqrt(np.mean(predicted**2)))
    has_metrics = size > _NO_SIGNAL
    # The values of log ζ and atanh ρ that are weighed; ρ is 0 without metrics.
    steps = np.log(prior.distance) + prior.distance_sd * _DEVIATIONS
    grid = np.meshgrid(steps, _TRUSTS if has_metrics else np.zeros(1), indexing="ij")
    log_apart, trust = (values.ravel() for values in grid)
    distance = np.exp(log_apart) * scale
    correlation = np.tanh(trust)
    slope = correlation * distance / size if has_metrics else np.zeros(len(distance))
    usual_variance = (distance**2 * (1.0 - correlation**2))[:, None]
    residual = observed - slope[:, None] * predicted
    log_prior = -0.5 * ((log_apart - np.log(prior.distance)) / prior.distance_sd) ** 2
    if has_metrics:
        centre = prior.trust_by_within * max(within, 0.0)
        log_prior = log_prior - 0.5 * ((trust - centre) / prior.trust_sd) ** 2

    def weighed(tails: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the variance before labels and in all, and what labels say of every (ζ, ρ)."""
        prior_variance = usual_variance * tails
        total = prior_variance + noise
        log_likelihood = -0.5 * (np.log(total) + residual**2 / total).mean(axis=1) * (models - 1)
        weight = np.exp(log_prior + log_likelihood - (log_prior + log_likelihood).max())
        return prior_variance, total, weight / weight.sum()

    prior_variance, total, weight = weighed(np.ones(len(observed)))
    for _ in range(_FITS_OF_TAILS if has_metrics else 0):
        usual = weight @ (residual / np.sqrt(usual_variance + noise))
        prior_variance, total, weight = weighed(_heavy_tails(usual, models, prior.tails))
    label_weight = prior_variance / total
    means = slope[:, None] * predicted + label_weight * residual
    mean = weight @ means
    deviation = np.sqrt(np.maximum(weight @ (means**2 + label_weight * noise) - mean**2, 0.0))
    return Belief(mean, deviation, float(weight @ label_weight.mean(axis=1)), float(weight @ correlation))


def _heavy_tails(residual: Floats, models: int, freedom: float) -> Floats:
    """Return (v_j + v_k)/2 of every pair: how many times the usual variance, by residuals in its units."""
    if np.isinf(freedom):
        return np.ones(len(residual))
    first, second = pair_indices(models)
    of_model = (np.bincount(first, residual, models) - np.bincount(second, residual, models)) / models
    # The residual of a pair has the variance of two models.
    variance = (freedom + 2.0 * of_model**2) / (freedom + 1.0)
    return np.asarray((variance[first] + variance[second]) / 2.0)


# --- expect ---

# --- scores as model effect + item effect ---

# The smallest variance of items, as a share of the variance within them.
_SMALLEST_SHARE = 1e-6


class Effects(NamedTuple):
    """The mean of all labels, what each model adds to it, and what each item adds.

    Items are shrunk by how few models were judged on them.
    """

    centre: float
    models: Floats
    items: Floats


def item_share(residual: Floats, judged: Mask) -> float:
    """Return κ = σ_a²/σ_e²: how much items vary beside the noise within them (analysis of variance).

    Learned from items on which two models or more were judged; 0 variance between items without any.
    """
    counts = judged.sum(axis=1)
    several = counts >= 2
    if not several.any():
        return _SMALLEST_SHARE
    values, judged_rows = residual[several], judged[several]
    means = np.where(judged_rows, values, 0.0).sum(axis=1) / counts[several]
    within_squares = float((np.where(judged_rows, values - means[:, None], 0.0) ** 2).sum())
    noise = within_squares / float((counts[several] - 1).sum())
    between = float((means**2).mean()) - noise / float(counts[several].mean())
    return max(between / noise, _SMALLEST_SHARE) if noise > 0 else _SMALLEST_SHARE


def fit_effects(scores: Floats, judged: Mask, share: float) -> Effects:
    """Fit y_ij = c + u_j + a_i + e_ij with a_i ~ N(0, κ σ_e²) by the mixed-model equations.

    With q_i = κ/(1 + m_i κ) for an item with m_i labels, models solve
    (diag(n_j) − Σ_i q_i o_i o_iᵀ) u = b; then â_i = q_i Σ_j (y_ij − c − u_j). Where all models were judged on
    the same items, u_j are plain means.
    """
    indicator = judged.astype(np.float64)
    counts = indicator.sum(axis=1)
    values = np.where(judged, scores, 0.0)
    centre = float(values.sum() / max(counts.sum(), 1.0))
    deviation = np.where(judged, scores - centre, 0.0)
    pull = share / (1.0 + counts * share)
    matrix = np.diag(indicator.sum(axis=0) + _SMALLEST_SHARE) - indicator.T @ (indicator * pull[:, None])
    vector = deviation.sum(axis=0) - indicator.T @ (pull * deviation.sum(axis=1))
    models = np.linalg.solve(matrix, vector)
    return Effects(centre, models, np.asarray(pull * (deviation - indicator * models).sum(axis=1)))


# --- how much the differences of two models vary over items ---

# The weight of the prior spread of a pair, in items.
_PRIOR_ITEMS = 5.0
_NO_VARIANCE = 1e-18


class PairVariances(NamedTuple):
    """The variance of the differences of every pair of models over the ``common`` items judged for both.

    It is 0 where there are no two such items.
    """

    variance: Floats
    common: Floats


def pair_variances(scores: Floats, judged: Mask) -> PairVariances:
    """Return the variances of differences without ever forming items × pairs."""
    indicator = judged.astype(np.float64)
    values = np.where(judged, scores, 0.0)
    common = indicator.T @ indicator
    mean_difference = (values.T @ indicator - indicator.T @ values) / np.maximum(common, 1.0)
    own_squares = (values**2).T @ indicator
    squares = own_squares + own_squares.T - 2.0 * values.T @ values
    variance = np.maximum(squares - common * mean_difference**2, 0.0) / np.maximum(common - 1.0, 1.0)
    pairs = pair_indices(scores.shape[1])
    return PairVariances(variance[pairs], common[pairs])


def pooled_deviations(variances: PairVariances, closeness: Floats) -> Floats:
    """Return the standard deviation of every pair, with a prior from the others worth five items.

    The prior is the mean variance of all pairs, times the distance of the two models in the metrics:
    near copies differ on few items, and five items alone would not show it.
    """
    evidence = np.maximum(variances.common - 1.0, 0.0)
    mean = float((variances.variance * evidence).sum() / max(float(evidence.sum()), 1.0))
    expected = mean * closeness / closeness.mean()
    pooled = (variances.variance * evidence + _PRIOR_ITEMS * expected) / (evidence + _PRIOR_ITEMS)
    return np.asarray(np.sqrt(np.maximum(pooled, _NO_VARIANCE)))


# --- what the labels teach of the metrics ---

# Fewer labelled items teach nothing of the metrics.
FEWEST_ITEMS = 3
_NO_SPREAD = 1e-9


class MetricFit(NamedTuple):
    """What a ridge over all metrics learned."""

    predicted: Floats  # items × models, by the metrics alone: no model has an effect of its own
    # Items × models: a label less what is predicted of it (model effects included) when its item is left out;
    # 0 without a label.
    left_out: Floats
    # Items × models: predictions with model effects; that of a label when its item is left out.
    held_out: Floats
    within: float  # the correlation of those predictions and labels, item and model means taken out
    closeness: Floats  # of every pair of models: how far apart the metrics see them, with mean about 1


# Several commands fit the same labels.
_FITS: ResultCache[MetricFit] = ResultCache(size=8)


def fit_metrics(data: EvalSet, labels: Floats) -> MetricFit:
    """Learn from labels (items × models, NaN without one) what the metrics say of all items."""
    key = (data.keys.tobytes(), data.models, hashlib.sha256(labels.tobytes()).digest())
    return _FITS.get([data.store.items, *feature_arrays(data)], key, lambda: _fit_ridge(data, labels))


def _fit_ridge(data: EvalSet, labels: Floats) -> MetricFit:
    judged = ~np.isnan(labels)
    rows = np.flatnonzero(judged.any(axis=1))
    table = prepare_features(data, Ridge().features) if known_metrics(data) else None
    if table is None or not table.names or len(rows) < FEWEST_ITEMS:
        # Without metrics the fit is the models' means. Leaving an item out moves its model's mean from it.
        means = model_intercepts(np.where(judged, labels, 0.0), judged.astype(np.float64))
        counts, pairs = judged.sum(axis=0), len(pair_indices(data.shape[1])[0])
        left_out = np.where(judged, (labels - means) * (counts / np.maximum(counts - 1, 1)), 0.0)
        held_out = np.where(judged, labels - left_out, means)
        return MetricFit(np.zeros(data.shape), left_out, held_out, 0.0, np.ones(pairs))
    judged_rows = judged[rows]
    scores = np.where(judged_rows, labels[rows], 0.0)
    fit = fit_ridge(table.at(rows) * table.scales, scores, judged_rows.astype(np.float64))
    weights = fit.coefficients * table.scales
    predicted = np.zeros(data.shape)
    for block in table.blocks():
        predicted[block] = table.at(block) @ weights
    left_out = np.zeros(data.shape)
    left_out[rows] = np.where(judged_rows, fit.left_out, 0.0)
    # Leaving an item out also moves the model's own mean away from its label, which says nothing of metrics.
    counts = judged_rows.sum(axis=0)
    by_metrics = left_out[rows] * ((counts - 1) / np.maximum(counts, 1))
    predictions, centred = _centred(scores - by_metrics, judged_rows), _centred(scores, judged_rows)
    size = float(np.sqrt((predictions**2).sum() * (centred**2).sum()))
    correlation = float((predictions * centred).sum()) / size if size > 0 else 0.0
    held_out = np.where(judged, labels - left_out, predicted + fit.intercepts)
    return MetricFit(predicted, left_out, held_out, correlation, _closeness(table))


def _centred(values: Floats, judged: Mask) -> Floats:
    """Return values less the means of their items, then of their models."""
    centred = np.where(judged, values, 0.0)
    for axis in (1, 0):
        mean = centred.sum(axis=axis, keepdims=True) / np.maximum(judged.sum(axis=axis, keepdims=True), 1)
        centred = np.where(judged, centred - mean, 0.0)
    return centred


@lru_cache(maxsize=8)
def _closeness(table: FeatureTable) -> Floats:
    """Return the root mean square over items and metrics of the models' standardised differences."""
    count = len(table.columns)
    models = len(table.models)
    cross, energy = np.zeros((models, models, count)), np.zeros(count)
    for block in table.blocks():
        features = table.at(block)[:, :, :count]
        features = features - features.mean(axis=1, keepdims=True)
        cross += np.einsum("ijk,ilk->jlk", features, features)
        energy += (features**2).sum(axis=(0, 1))
    varies = energy > _NO_SPREAD * max(float(energy.max(initial=0.0)), _NO_SPREAD)
    if not varies.any():
        return np.ones(models * (models - 1) // 2)
    shared = (cross[:, :, varies] / energy[varies]).mean(axis=2)
    own_size = np.diag(shared)
    squares = np.maximum(own_size[:, None] + own_size - 2.0 * shared, 0.0)[pair_indices(models)]
    size = np.sqrt(squares)
    return np.asarray(np.maximum(size / max(float(size.mean()), _NO_SPREAD), _NO_SPREAD))


# --- expect ---

EVERY_LABEL = (
    "The expected ranking uses every label and what the metrics say: it predicts what judging everything "
    "would show. For scores with valid intervals, use the estimate."
)
# The weight of the prior that a model's residuals vary as all models' do, in labels.
_PRIOR_LABELS = 10.0
_NO_NOISE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Expected(Tabular):
    """What judging everything is expected to say; everything over pairs is in the order (0, 1), (0, 2), …."""

    rows_key: ClassVar[str] = "scores"

    models: tuple[str, ...]  # the models
    # The expected mean of every model over the whole set: the mean of all models, and by how much the model
    # is believed to be above the others.
    scores: Floats
    # The one-sided p-value of every pair that the whole set is expected to give (first above second): Φ(−z)
    # at the mean z of the belief.
    p_values: Floats
    z: Floats  # the expected z of the whole set's own test
    # How far z may still be off (a standard deviation): z of the whole set lies within 1.96 of them in 95 %
    # of replays.
    spread: Floats
    labels: Floats  # how many labels each model has
    within: float  # the correlation of predictions and labels within items
    trust: float  # how well the metrics are believed to order the models (0: not at all, 1: fully)
    kept: float  # the share of what labels say beyond the metrics that is believed by now

    @property
    def order(self) -> tuple[str, ...]:
        """The models, the one that is expected to be best first."""
        return tuple(self.models[place] for place in np.argsort(-self.scores, kind="stable"))

    @property
    def two_sided(self) -> Floats:
        """The p-values of "these two differ": models × models, NaN on the diagonal."""
        from scipy.special import ndtr

        return self._square(2.0 * ndtr(-np.abs(self.z)))

    def two_sided_range(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends between which the two-sided p-values of all items are expected, models × models."""
        from scipy.special import ndtr, ndtri

        check_level(level)
        reach = float(ndtri((1.0 + level) / 2.0)) * self.spread
        size = np.abs(self.z)
        low, high = 2.0 * ndtr(-(size + reach)), 2.0 * ndtr(-np.maximum(size - reach, 0.0))
        return self._square(low), self._square(high)

    def _square(self, pairs: Floats) -> Floats:
        square = np.full((len(self.models), len(self.models)), np.nan)
        first, second = pair_indices(len(self.models))
        square[first, second] = square[second, first] = pairs
        return square

    def sentence(self, first: str, second: str) -> str:
        """Say what judging everything is expected to show of two models."""
        places = self._place(first), self._place(second)
        if places[0] == places[1]:
            raise UsageError(f"An expectation is about two models, not about {first} and itself.")
        low, high = (end[places] for end in self.two_sided_range())
        pair = list(zip(*pair_indices(len(self.models)), strict=True)).index((min(places), max(places)))
        is_ahead = bool(self.z[pair] >= 0) == (places[0] < places[1])
        better, worse = (first, second) if is_ahead else (second, first)
        return (
            f"Judging everything is expected to show {better} above {worse} with p = "
            f"{self.two_sided[places]:.2g} (95 % interval {low:.2g} to {high:.2g})."
        )

    def _place(self, model: str) -> int:
        if model not in self.models:
            raise UnknownNameError("model", model, self.models)
        return self.models.index(model)

    def __repr__(self) -> str:
        return f"Expected({' > '.join(self.order)}; metrics trusted {self.trust:.2f}, labels {self.kept:.2f})"

    def rows(self) -> list[dict[str, Any]]:
        """Return the expected score and the number of labels of every model, best first."""
        places = map(self.models.index, self.order)
        return [
            {"model": self.models[one], "score": float(self.scores[one]), "labels": int(self.labels[one])}
            for one in places
        ]

    def summary(self) -> Summary:
        """Return what judging everything is expected to show, model by model."""
        rows = tuple((row["model"], cell_text(row["score"]), str(row["labels"])) for row in self.rows())
        best = f"Judging everything is expected to show {self.order[0]} as the best."
        return Summary((best,), ("model", "expected score", "labels"), rows, notes=(EVERY_LABEL,))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        first, second = pair_indices(len(self.models))
        ranges = np.stack([end[first, second] for end in self.two_sided_range()], axis=1)
        columns = {"p": self.p_values, "z": self.z, "spread": self.spread, "two_sided_range": ranges}
        pairs = []
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            numbers = {name: column[place].tolist() for name, column in columns.items()}
            pairs.append({"first": self.models[one], "second": self.models[other], **numbers})
        return {
            "scores": dict(zip(self.models, self.scores.tolist(), strict=True)),
            "order": list(self.order),
            "pairs": pairs,
            **{name: getattr(self, name) for name in ("within", "trust", "kept")},
            "note": EVERY_LABEL,
        }


def expect(
    data: DataLike,
    labels: ArrayLike | None = None,
    *,
    aspect: str | None = None,
    prior: BeliefPrior = USUAL_PRIOR,
) -> Expected:
    """Say what judging everything would show, from the labels there are and all metrics.

    Model means over the whole set come from an additive fit (metrics by ridge, items at random, models): μ_j
    is the mean of what was judged and of what is predicted for the rest. Each pair's difference is then
    weighed against what the metrics alone say (``sparingly.infer.expect.expect``), and turned into the
    p-value Φ(−d·√N/s) that the whole set would give, s the standard deviation of the raw differences.

    Use it to decide, while judgements come in, which model is likely to win and where labels are still worth
    having. It may use every label, whatever chose it, and is as good as the metrics are: publish scores from
    ``sparingly.estimate``.

    Args:
        data: The evaluation set (or its file, or a frame).
        labels: Items × models, NaN where nobody has judged; default: the aspect's own.
        aspect: What was judged: whose labels to take, where none are given, the only one there is unless
            named. A metric that is the truth itself predicts nothing.
        prior: The prior before any label.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> labels = data.aspects["mqm"].copy()
        >>> labels[60:] = float("nan")  # sixty items were judged
        >>> sparingly.expect(data, labels).order[0]
        'TMT_run1'
    """
    data = as_evalset(data)
    from scipy.special import ndtr

    if labels is None and aspect is None:
        aspect = the_only("aspect", None, data.aspects)
    if aspect is not None:
        labels = data.truth(aspect) if labels is None else labels
        data = without_truth(data, aspect)
    scores, models = np.asarray(labels, np.float64), len(data.models)
    judged = ~np.isnan(scores)
    if scores.shape != data.shape:
        expected, shape_text = (" × ".join(map(str, shape)) for shape in (data.shape, scores.shape))
        raise UsageError(f"Labels are items × models, {expected}, not {shape_text}.")
    if models < 2:
        raise DataError("Expectations compare models, and there is only one.")
    if int((judged.sum(axis=1) >= 2).sum()) < 2:
        raise DataError(
            "Expectations need two items or more on which two models were judged. Judge more first."
        )
    fit, weights = fit_metrics(data, scores), data.importance

    # The expected mean of every model over the whole set, and what the metrics alone say of it.
    effects = fit_effects(
        np.where(judged, scores - fit.predicted, 0.0), judged, item_share(fit.left_out, judged)
    )
    predictions = fit.predicted + effects.centre + effects.models + effects.items[:, None]
    means = np.average(np.where(judged, scores, predictions), axis=0, weights=weights)
    predicted_means = np.average(fit.predicted, axis=0, weights=weights)

    first, second = pair_indices(models)
    size = len(data) if weights is None else float(weights.sum() ** 2 / (weights**2).sum())
    label_deviation = pooled_deviations(pair_variances(scores, judged), fit.closeness)
    residual_deviation = pooled_deviations(pair_variances(fit.left_out, judged), fit.closeness)
    counts, shares = judged.sum(axis=0).astype(np.float64), _shares(fit.left_out, judged)
    noise = label_noise(counts, len(data), shares)
    units = np.sqrt(size) / residual_deviation
    belief = believe(
        (means[first] - means[second]) * units,
        (predicted_means[first] - predicted_means[second]) * units,
        noise,
        models=models,
        within=fit.within,
        scale=float(np.sqrt((label_deviation**2).mean() / (residual_deviation**2).mean())),
        prior=prior,
    )
    ratio = residual_deviation / label_deviation
    # Scores whose differences come nearest to the believed ones: means over pairs.
    differences = belief.z / units
    above = np.bincount(first, differences, models) - np.bincount(second, differences, models)
    return Expected(
        models=data.models,
        scores=float(means.mean()) + above / models,
        p_values=np.asarray(ndtr(-belief.z * ratio)),
        z=belief.z * ratio,
        spread=belief.sd * ratio,
        labels=counts,
        within=fit.within,
        trust=belief.trust,
        kept=belief.label_weight,
    )


def label_noise(counts: Floats, size: int, shares: Floats) -> Floats:
    """Return c of every pair: the variance of what the labels show about what all N items would show.

    c = N·(s·(1/n_j − 1/N) + (1 − s)·(1/n_k − 1/N)) in units of the variance over all N items, s the first
    model's share in the variance of the difference: 0 once both models are judged on everything.
    """
    first, second = pair_indices(len(counts))
    remaining = np.maximum(1.0 / np.maximum(counts, 1.0) - 1.0 / size, 0.0)
    noise = size * (shares * remaining[first] + (1.0 - shares) * remaining[second])
    return np.asarray(np.maximum(noise, _NO_NOISE))


def _shares(left_out: Floats, judged: Mask) -> Floats:
    """Return the share of every pair's first model in the variance of its difference."""
    counts = judged.sum(axis=1, keepdims=True)
    inside = np.where(judged, left_out - left_out.sum(axis=1, keepdims=True) / np.maximum(counts, 1), 0.0)
    squares, labels = (inside**2).sum(axis=0), judged.sum(axis=0)
    mean = float(squares.sum()) / float(labels.sum())
    variance = (squares + _PRIOR_LABELS * mean) / (labels + _PRIOR_LABELS)
    first, second = pair_indices(judged.shape[1])
    total = variance[first] + variance[second]
    return ratio(variance[first], total, 0.5)
