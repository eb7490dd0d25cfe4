"""``expect``: what judging everything would say of every pair of models, from every label there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.format import html_table
from sparingly.base.levels import check_level
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.importance import importance
from sparingly.infer.estimate.estimate import without_truth
from sparingly.infer.expect.additive import fit_effects, item_share
from sparingly.infer.expect.belief import USUAL, Belief, Prior, believe
from sparingly.infer.expect.learned import Learned, learn_from
from sparingly.infer.expect.pair_spread import pair_variances, steadied

EVERY_LABEL = (
    "The expected ranking uses every label and what the metrics say: it predicts what judging everything "
    "would show. For scores with honest intervals use the estimate."
)
# Labels' worth of evidence that a model's residuals vary as all models' do.
_BORROWED = 10.0
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Expected:
    """What judging everything is expected to say; everything over pairs is in the order (0, 1), (0, 2), ….

    Attributes:
        models: The models.
        scores: The expected mean of every model over the whole set: the mean of all models, and by how much
            the model is believed to be above the others.
        p_values: The one-sided p-value of every pair that the whole set is expected to give (first above
            second): Φ(−z) at the mean z of the belief.
        z: The expected z of the whole set's own test.
        spread: How far z may still be off (a standard deviation): z of the whole set lies within 1.96 of them
            in 95 % of replays.
        labels: How many labels each model has.
        worth: pairs × 2: how much labels of its first and of its second model can still lower the error of
            the pair's p-value (see ``worth_of_labels``).
        within: The correlation of predictions and labels within items.
        trust: How well the metrics are believed to order the models (0: not at all, 1: fully).
        kept: The share of what labels say beyond the metrics that is believed by now.
    """

    models: tuple[str, ...]
    scores: Floats
    p_values: Floats
    z: Floats
    spread: Floats
    labels: Floats
    worth: Floats
    within: float
    trust: float
    kept: float

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
        one, other = self._place(first), self._place(second)
        if one == other:
            raise UsageError(f"An expectation is about two models, not about {first} and itself.")
        low, high = (end[one, other] for end in self.two_sided_range())
        pairs = list(zip(*pair_indices(len(self.models)), strict=True))
        is_ahead = bool(self.z[pairs.index((min(one, other), max(one, other)))] >= 0) == (one < other)
        better, worse = (first, second) if is_ahead else (second, first)
        return (
            f"Judging everything is expected to show {better} above {worse} with p = "
            f"{self.two_sided[one, other]:.2g} (95 % interval {low:.2g} to {high:.2g})."
        )

    def _place(self, model: str) -> int:
        if model not in self.models:
            raise UnknownNameError("model", model, self.models)
        return self.models.index(model)

    def __repr__(self) -> str:
        return f"Expected({' > '.join(self.order)}; metrics trusted {self.trust:.2f}, labels {self.kept:.2f})"

    def _repr_html_(self) -> str:
        rows = [(name, float(self.scores[self.models.index(name)])) for name in self.order]
        return html_table(("model", "expected score"), rows, "What judging everything would say", EVERY_LABEL)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON."""
        first, second = pair_indices(len(self.models))
        low, high = self.two_sided_range()
        pairs = [
            {
                "first": self.models[one],
                "second": self.models[other],
                "p": float(self.p_values[place]),
                "z": float(self.z[place]),
                "spread": float(self.spread[place]),
                "two_sided_range": [float(low[one, other]), float(high[one, other])],
            }
            for place, (one, other) in enumerate(zip(first, second, strict=True))
        ]
        return {
            "scores": dict(zip(self.models, self.scores.tolist(), strict=True)),
            "order": list(self.order),
            "pairs": pairs,
            **{name: getattr(self, name) for name in ("within", "trust", "kept")},
            "note": EVERY_LABEL,
        }


def expect(
    data: EvalSet,
    labels: ArrayLike | None = None,
    *,
    aspect: str | None = None,
    prior: Prior = USUAL,
) -> Expected:
    """Say what judging everything would show, from the labels there are and all metrics.

    Model means over the whole set come from an additive fit (metrics by ridge, items at random, models): μ_j
    is the mean of what was judged and of what is predicted for the rest. Each pair's difference is then
    weighed against what the metrics alone say (``sparingly.infer.expect.belief``), and turned into the
    p-value Φ(−d·√N/s) that the whole set would give, s the standard deviation of the raw differences.

    Use it to decide, while judgements come in, which model is likely to win and where labels are still worth
    having. It may use every label, whatever chose it, and is as good as the metrics are: publish scores from
    ``sparingly.estimate``.

    Args:
        data: The evaluation set.
        labels: Items × models, NaN where nobody has judged; the aspect's own unless given.
        aspect: What was judged: whose labels to take, where none are given, the only one there is unless
            named. A metric that is the truth itself predicts nothing.
        prior: What is believed before any label.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> labels = data.aspects["overall"].copy()
        >>> labels[40:] = float("nan")  # forty items were judged
        >>> sparingly.expect(data, labels).order[0]
        'Rowan'
    """
    if labels is None and aspect is None:
        aspect = the_only("aspect", None, data.aspects, "Name one: aspect=….")
    if aspect is not None:
        labels = data.truth(aspect) if labels is None else labels
        data = without_truth(data, aspect)
    known = np.asarray(labels, np.float64)
    judged = ~np.isnan(known)
    _check(data, known, judged)
    learned = learn_from(data, known)
    weights = importance(data)
    means, told = _means(known, judged, learned, weights)
    return _expected(data, known, judged, learned, means, told, weights, prior)


def _check(data: EvalSet, known: Floats, judged: Mask) -> None:
    if known.shape != data.shape:
        wanted, given = (" × ".join(map(str, shape)) for shape in (data.shape, known.shape))
        raise UsageError(f"Labels are items × models, {wanted}, not {given}.")
    if len(data.models) < 2:
        raise DataError("Expectations compare models, and there is only one.")
    if int((judged.sum(axis=1) >= 2).sum()) < 2:
        raise DataError(
            "Expectations need two items or more on which two models were judged. Judge more first."
        )


def _means(known: Floats, judged: Mask, learned: Learned, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the expected mean of every model over the whole set, and what the metrics alone say of it."""
    share = item_share(learned.left_out, judged)
    rest = np.where(judged, known - learned.predicted, 0.0)
    effects = fit_effects(rest, judged, share)
    told = learned.predicted + effects.centre + effects.models + effects.items[:, None]
    whole = np.where(judged, known, told)
    return np.average(whole, axis=0, weights=weights), np.average(learned.predicted, axis=0, weights=weights)


def _expected(
    data: EvalSet,
    known: Floats,
    judged: Mask,
    learned: Learned,
    means: Floats,
    told: Floats,
    weights: Floats | None,
    prior: Prior,
) -> Expected:
    from scipy.special import ndtr

    first, second = pair_indices(len(data.models))
    size = len(data) if weights is None else float(weights.sum() ** 2 / (weights**2).sum())
    raw = steadied(pair_variances(known, judged), learned.closeness)
    residual = steadied(pair_variances(learned.left_out, judged), learned.closeness)
    counts = judged.sum(axis=0).astype(np.float64)
    shares = _shares(learned.left_out, judged)
    left = np.maximum(1.0 / np.maximum(counts, 1.0) - 1.0 / len(data), 0.0)
    noise = np.maximum(len(data) * (shares * left[first] + (1.0 - shares) * left[second]), _NOTHING)
    units = np.sqrt(size) / residual
    belief = believe(
        (means[first] - means[second]) * units,
        (told[first] - told[second]) * units,
        noise,
        models=len(data.models),
        within=learned.within,
        scale=float(np.sqrt((raw**2).mean() / (residual**2).mean())),
        prior=prior,
    )
    ratio = residual / raw
    return Expected(
        models=data.models,
        scores=_believed(float(means.mean()), belief.z / units, len(data.models)),
        p_values=np.asarray(ndtr(-belief.z * ratio)),
        z=belief.z * ratio,
        spread=belief.sd * ratio,
        labels=counts,
        worth=worth_of_labels(belief, ratio, noise, shares),
        within=learned.within,
        trust=belief.trust,
        kept=belief.kept,
    )


def _believed(centre: float, apart: Floats, models: int) -> Floats:
    """Return scores whose differences come nearest to the believed ones: means over pairs."""
    first, second = pair_indices(models)
    above = np.bincount(first, apart, models) - np.bincount(second, apart, models)
    return np.asarray(centre + above / models)


def _shares(left_out: Floats, judged: Mask) -> Floats:
    """Return the share of every pair's first model in the variance of its difference."""
    counts = judged.sum(axis=1, keepdims=True)
    inside = np.where(judged, left_out - left_out.sum(axis=1, keepdims=True) / np.maximum(counts, 1), 0.0)
    squares, labels = (inside**2).sum(axis=0), judged.sum(axis=0)
    mean = float(squares.sum()) / float(labels.sum())
    own = (squares + _BORROWED * mean) / (labels + _BORROWED)
    first, second = pair_indices(judged.shape[1])
    total = own[first] + own[second]
    return np.asarray(np.divide(own[first], total, out=np.full(len(total), 0.5), where=total > 0))


def worth_of_labels(belief: Belief, ratio: Floats, noise: Floats, shares: Floats) -> Floats:
    """Return pairs × 2: a label of its model j lowers the error of a pair's p-value by about a_j/n_j².

    A p-value that is known up to σ can be off by about g = Φ(z + σ) − Φ(z − σ). A label lowers c by N/n_j²,
    and σ² = k·c by k² of that: a_j = ∂g/∂σ² · k² · (its share of the variance). Summed over a model's pairs,
    the best numbers of labels are proportional to √a_j: models whose pairs are all decided need none.
    """
    z = belief.z * ratio
    spread = np.maximum(belief.sd * ratio, 1e-3)
    moves = (np.exp(-0.5 * (z + spread) ** 2) + np.exp(-0.5 * (z - spread) ** 2)) / (2.0 * spread)
    kept = np.clip(belief.sd**2 / noise, 0.0, 1.0)
    gain = moves * (kept * ratio) ** 2
    return np.column_stack([gain * shares, gain * (1.0 - shares)])
