"""What help on the page did to scores: raters saw a suggestion at random, so its effect is known and removed.

y_ijr = μ_j + θ_i + τ_j z_ijr + ε, where z says whether the suggestion was shown, by a known probability p.
Scores without help are those of y − τ_j z. The effects τ_j are estimated from z − p, which has nothing to do
with the output, and shrunk towards their common mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.rater_effects import RaterVariance
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.widen import widened

# Columns of ratings: 1 where help was shown, 0 where it was not; and the probability that it would be.
HELPED, HELP_PROBABILITY = "helped", "help_probability"
HELP_UNKNOWN = (
    "some ratings were given with help, and too few to tell what it did: these scores are partly with it."
)
# The effect of a model is known by itself where so many ratings were given with help, and without.
_FEWEST = 2
# With fewer models nothing can be said of how effects vary.
_FEWEST_TO_SHRINK = 3
_GRID = 61


@dataclass(frozen=True, eq=False)
class HelpEffects:
    """How much the help on the page raised the scores of each model (lowered them, where negative)."""

    aspect: str  # what was judged
    models: tuple[str, ...]  # the models
    effects: Floats  # τ_j, shrunk towards the common mean
    covariance: Floats  # its covariance, models × models
    common: float  # the common mean
    error: float  # its standard error
    shares: Floats  # the share of each model's ratings that were given with help
    helped: int  # how many ratings were given with help
    ratings: int  # how many there are
    freedom: float  # degrees of freedom of the errors

    @property
    def sentence(self) -> str:
        """Say what the help did."""
        low, high = float(self.effects.min()), float(self.effects.max())
        by_model = "" if len(self.models) < 2 else f" ({low:+.3g} to {high:+.3g} by model)"
        return (
            f"{self.helped} of {self.ratings} ratings were given with help, drawn at random: it changed "
            f"scores by {self.common:+.3g} ± {self.error:.2g}{by_model}; the scores are those without help."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        values = dict(plain({**vars(self), "effects": self.effects.tolist()}))
        return {**values, "covariance": self.covariance.tolist(), "shares": self.shares.tolist()}


def was_helped(data: EvalSet) -> bool:
    """Say whether some ratings of a set were given with help."""
    column = data.ratings.extra.get(HELPED)
    return column is not None and any(value == 1 for value in column)


def help_effects(data: EvalSet, aspect: str) -> HelpEffects | None:
    """Return what help did to an aspect; None where it cannot be told, as nobody judged without it, say."""
    if not was_helped(data):
        return None
    item_row, model, scores, shown, probability = _ratings_of(data, aspect)
    models = len(data.models)
    drawn = (probability > 0) & (probability < 1)
    counts = [np.bincount(model[drawn & ((shown > 0) == arm)], minlength=models) for arm in (False, True)]
    has_own = (counts[0] >= _FEWEST) & (counts[1] >= _FEWEST)
    item = np.unique(item_row, return_inverse=True)[1]
    if not has_own.any() or len(np.unique(item[drawn])) <= 2 * models:
        return None
    own, own_covariance = _own_effects(
        scores[drawn], item[drawn], model[drawn], (shown - probability)[drawn], has_own
    )
    effects, covariance, common, error = _shrunk(own, own_covariance, has_own)
    judged = np.maximum(np.bincount(model, minlength=models), 1)
    return HelpEffects(
        aspect=aspect,
        models=data.models,
        effects=effects,
        covariance=covariance,
        common=common,
        error=error,
        shares=np.bincount(model, shown, minlength=models) / judged,
        helped=int(shown.sum()),
        ratings=len(scores),
        freedom=float(len(np.unique(item[drawn])) - 1),
    )


def _ratings_of(data: EvalSet, aspect: str) -> tuple[Any, Any, Floats, Floats, Floats]:
    """Return item, model, score, whether help was shown, and its probability, of every rating.

    A combination of aspects is scored by output: there each output counts once, with the mean of its ratings.
    """
    table, models = data.ratings, len(data.models)
    name = aspect if aspect in table.aspects else table.aspects[0]
    of_name = (table.aspect == table.aspects.index(name)) & (table.model < models) & ~np.isnan(table.score)
    rows = np.flatnonzero(of_name)
    known = [np.nan if value is None else value for value in table.extra[HELP_PROBABILITY][rows]]
    item, model = table.item[rows].astype(np.int64), table.model[rows].astype(np.int64)
    shown = np.array([value == 1 for value in table.extra[HELPED][rows]], np.float64)
    probability, scores = np.array(known, np.float64), table.score[rows]
    if aspect in table.aspects:
        return item, model, scores, shown, probability
    cells, cell = np.unique(item * models + model, return_inverse=True)
    count = np.bincount(cell)
    item, model = np.divmod(cells, models)
    shown, probability = np.bincount(cell, shown) / count, np.bincount(cell, probability) / count
    scores = data.truth(aspect)[item, model]
    has_score = ~np.isnan(scores)
    return (
        item[has_score], model[has_score], scores[has_score], shown[has_score], probability[has_score]
    )  # fmt: skip


def without_help(data: EvalSet) -> EvalSet:
    """Return the set with scores as they would be without help; unchanged where nothing was shown."""
    table, scores = data.ratings, data.ratings.score.copy()
    if not was_helped(data):
        return data
    shown = np.array([value == 1 for value in table.extra[HELPED]], bool)
    for place, aspect in enumerate(table.aspects):
        effects = help_effects(data, aspect)
        if effects is not None:
            rows = np.flatnonzero(shown & (table.aspect == place) & (table.model < len(data.models)))
            scores[rows] -= effects.effects[table.model[rows]]
    extra = {name: column for name, column in table.extra.items() if name not in (HELPED, HELP_PROBABILITY)}
    ratings = replace(table, score=scores, extra=extra)
    aspects = {
        name: ratings.means(name, *data.shape) if name in table.aspects else values
        for name, values in data.aspects.items()
    }
    return data.with_parts(aspects=aspects, ratings=ratings)


def with_help_errors(
    estimate: Estimate, effects: HelpEffects, scale: tuple[float, float] | None = None
) -> Estimate:
    """Return an estimate from scores without help, whose errors count that its effects are estimates.

    Var(μ̂_j) grows by h_j² Var(τ̂_j), with h_j the share of the score that was given with help.
    """
    place = [effects.models.index(name) for name in estimate.models]
    share = effects.shares[place]
    nothing = np.zeros(len(place))
    extra = RaterVariance(
        severity=np.outer(share, share) * effects.covariance[np.ix_(place, place)],
        taste=nothing,
        noise=nothing,
        freedom=(effects.freedom, np.inf),
        anonymous_share=0.0,
    )
    wider = widened(estimate, extra, (effects.sentence,))
    wider = replace(
        wider,
        signature=estimate.signature,
        groups={name: with_help_errors(group, effects, scale) for name, group in estimate.groups.items()},
    )
    if scale is None:
        return wider
    ends = {name: np.clip(getattr(wider, name), *scale) for name in ("scores", "low", "high")}
    return replace(wider, **ends)


def _own_effects(
    scores: Floats, item: Any, model: Any, centred: Floats, has_own: Any
) -> tuple[Floats, Floats]:
    """Return each model's effect and their covariance, by generalised least squares.

    Items have effects in common (a random intercept); errors are by the jackknife over items, so that none is
    assumed to be as noisy as another.
    """
    count, models = int(item.max()) + 1, len(has_own)
    design = np.zeros((len(scores), 2 * models))
    design[np.arange(len(scores)), model] = 1.0
    design[np.arange(len(scores)), models + model] = centred
    design = design[:, np.concatenate([np.bincount(model, minlength=models) > 0, has_own])]
    residual = scores - design @ np.linalg.lstsq(design, scores, rcond=None)[0]
    size = np.bincount(item, minlength=count)
    within = residual - (np.bincount(item, residual, minlength=count) / np.maximum(size, 1))[item]
    spare = int((size[size > 0] - 1).sum())
    noise = float(within @ within) / spare if spare else 0.0
    of_items = max(float(residual @ residual) / len(residual) - noise, 0.0) if spare else 0.0
    # How much of an item's mean is taken off: all of it where items differ much.
    off = 1.0 - np.sqrt(noise / np.maximum(noise + size * of_items, 1e-300)) if of_items else np.zeros(count)

    def less_means(values: Floats) -> Floats:
        mean = np.bincount(item, values, minlength=count) / np.maximum(size, 1)
        return np.asarray(values - off[item] * mean[item])

    y = less_means(scores)
    x = np.column_stack([less_means(column) for column in design.T])
    # At most so many groups of items are left out in turn.
    group = np.unique(item, return_inverse=True)[1] % 400
    groups = int(group.max()) + 1
    squares = np.stack([x[group == one].T @ x[group == one] for one in range(groups)])
    products = np.stack([x[group == one].T @ y[group == one] for one in range(groups)])
    inverse = np.linalg.pinv(squares.sum(axis=0))
    whole = inverse @ products.sum(axis=0)
    left = np.stack(
        [
            np.linalg.pinv(squares.sum(axis=0) - squares[one]) @ (products.sum(axis=0) - products[one])
            for one in range(groups)
        ]
    )
    own = int(has_own.sum())
    errors = np.sqrt((groups - 1) / groups * ((left - whole)[:, -own:] ** 2).sum(axis=0))
    # How effects go together is that of the design: correlations from few items would be mostly noise.
    errors /= np.sqrt(np.diag(inverse)[-own:])
    return whole[-own:], inverse[-own:, -own:] * np.outer(errors, errors)


def _shrunk(own: Floats, covariance: Floats, has_own: Any) -> tuple[Floats, Floats, float, float]:
    """Return effects shrunk towards their mean, with covariance, and that mean with its error.

    τ_j ~ N(μ, σ²), flat in μ and σ: a mixture over σ, so that not knowing σ is counted, too. A model without
    an effect of its own has the common one.
    """
    count, models, ones = len(own), len(has_own), np.ones(len(own))
    place, other = np.flatnonzero(has_own), np.flatnonzero(~np.asarray(has_own))
    if count < _FEWEST_TO_SHRINK:
        best = np.linalg.pinv(covariance)
        variance = 1.0 / float(ones @ best @ ones)
        common = variance * float(ones @ best @ own)
        effects, errors = np.full(models, common), np.full((models, models), variance)
        effects[place], errors[np.ix_(place, place)] = own, covariance
        return effects, errors, common, variance**0.5
    widest = 3.0 * (float(np.std(own)) + float(np.sqrt(np.diag(covariance).max())))
    found = []
    for spread in np.linspace(0.0, widest, _GRID):
        between = spread**2
        total = np.linalg.pinv(covariance + between * np.eye(count))
        precision = float(ones @ total @ ones)
        mean = float(ones @ total @ own) / precision
        rest, pull = own - mean, ones - between * total @ ones
        effects, errors = np.full(models, mean), np.full((models, models), 1.0 / precision)
        effects[place] += between * total @ rest
        inner = between * np.eye(count) - between**2 * total + np.outer(pull, pull) / precision
        errors[np.ix_(place, place)] = inner
        errors[np.ix_(place, other)] = pull[:, None] / precision
        errors[np.ix_(other, place)] = pull / precision
        errors[other, other] += between
        likelihood = 0.5 * (np.linalg.slogdet(total)[1] - np.log(precision) - rest @ total @ rest)
        # The common mean goes along as a further model.
        found.append((likelihood, np.append(effects, mean), errors, 1.0 / precision))
    logs = np.array([one[0] for one in found])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    each = np.stack([one[1] for one in found])
    centre = weight @ each
    between_means = (each - centre).T @ (weight[:, None] * (each - centre))
    errors = np.tensordot(weight, np.stack([one[2] for one in found]), axes=1) + between_means[:-1, :-1]
    variance = float(weight @ np.array([one[3] for one in found]) + between_means[-1, -1])
    return centre[:-1], errors, float(centre[-1]), variance**0.5
