"""``rank``: the order of the models, and how much of it the judgements support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError, listing
from sparingly.base.format import counted, decimals_for, ends_text
from sparingly.base.registry import Method
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import pair_count
from sparingly.base.syntax import argument, either
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.infer.estimate.assemble import Target, targets_of
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.full_set_p import (
    USUAL_EFFECTS,
    EffectPrior,
    effect_grid,
    error_scales,
    full_set_chances,
)
from sparingly.infer.estimate.intervals import EXACT, FEWEST_UNITS
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.expect.expect import expect as expected_result
from sparingly.infer.rank.decisions import (
    GroupsBy,
    decide,
    published_groups,
)
from sparingly.infer.rank.measures import round_means
from sparingly.infer.rank.pair_tests import (
    PairTests,
    checked_scores,
    least_p,
    pair_errors,
    pair_tells,
    permutation_tests,
    t_tests,
    wilcoxon_tests,
)
from sparingly.infer.rank.ranking import DECISIONS, RankedModel, Ranking, RankingSignature

if TYPE_CHECKING:
    from sparingly.infer.estimate.bradley_terry import BradleyTerry

DRAWS = 20_000
# Up to this ratio, unequal error variances of the models are laid to chance or skew.
_UNEQUAL = 3.0
# Units behind scores whose covariance is taken for known.
_UNITS = 100.0


def chance_of_best(
    scores: Floats,
    covariance: Floats,
    *,
    degrees: float = math.inf,
    units: float | Floats | None = None,
    prior: EffectPrior = USUAL_EFFECTS,
    seed: int = 0,
    draws: int = DRAWS,
) -> Floats:
    """Return for every model the posterior probability that it is the best.

    μ̂ | μ ~ t_ν(μ, Σ̂),  μ_j ~ N(m, τ²),  log(τ/σ) ~ N(log 0.5, 0.8²), m unknown, σ² = units × mean error
    variance: empirical Bayes with τ and the scale of Σ̂ integrated over (Gelman et al., Bayesian Data
    Analysis, section 5.4). Σ̂ of few units is noise, too: it is shrunk to independent errors of like size,
    as if these had been seen in 8(M − 1) more units. A flat prior is too sure: the best of several noisy
    scores is partly luck. Models that never differ share their chance; one that is behind another by the
    same on every item has none.

    Use it to decide between few candidates; claims come from the tests. It describes what the covariance
    describes: the population of inputs like these, or this very set.

    Args:
        scores: One score per model, NaN for none; higher is better.
        covariance: The joint covariance of the scores.
        degrees: Its degrees of freedom.
        units: The number of judged units (items, documents) behind the scores, or behind each score where
            models were judged on different numbers of them; degrees + 1 unless given, 100 where the
            covariance is known.
        prior: What is believed of models before any label.
        seed: Settles the draws.
        draws: Their number.

    Examples:
        >>> import numpy as np, sparingly
        >>> chance_of_best(np.array([1.0, 1.0, -9.0]), np.diag([1.0, 1.0, 1.0])).round(1)
        array([0.5, 0.5, 0. ])
    """
    scores, covariance = checked_scores(scores, covariance)
    scored = np.flatnonzero(~np.isnan(scores))
    classes = _classes(scores[scored], covariance[np.ix_(scored, scored)])
    first = scored[[members[0] for members in classes]]
    usual = _UNITS if math.isinf(degrees) else degrees + 1.0
    count = np.broadcast_to(np.asarray(usual if units is None else units, np.float64), scores.shape)[first]
    normal = rng.generator(seed, "best").standard_normal((draws, len(first) - 1))
    shares = _shares_of_best(scores[first], covariance[np.ix_(first, first)], degrees, count, prior, normal)
    chance = np.zeros(len(scores))
    for members, share in zip(classes, shares, strict=True):
        chance[scored[members]] = share / len(members)
    return chance


def _classes(scores: Floats, covariance: Floats) -> list[list[int]]:
    """Return the models that may be the best in classes of equals, without those behind by a fixed amount."""
    differs = pair_tells(covariance)
    step = 1e-9 * max(float(np.ptp(scores)), float(pair_errors(covariance).max()), 1e-300)
    remaining, classes = list(range(len(scores))), []
    while remaining:
        first = remaining[0]
        alike = [model for model in remaining if model == first or not differs[first, model]]
        top = max(scores[alike])
        classes.append([model for model in alike if scores[model] >= top - step])
        remaining = [model for model in remaining if model not in alike]
    return classes


def _shares_of_best(
    scores: Floats, covariance: Floats, degrees: float, units: Floats, prior: EffectPrior, normal: Floats
) -> Floats:
    """Return the share of posterior draws in which each model is the best; every pair has an error."""
    count, draws = len(scores), len(normal)
    if count == 1:
        return np.ones(1)
    # Helmert's orthonormal contrasts, models × (models − 1).
    steps, basis = np.arange(1, count), np.triu(np.ones((count, count - 1)))
    basis[steps, steps - 1] = -steps
    basis = basis / np.sqrt(steps * (steps + 1.0))
    raw = basis.T @ covariance @ basis
    mean = float(np.trace(raw)) / (count - 1)
    errors, vectors = np.linalg.eigh(_shrunk(raw, covariance, basis, units, degrees, prior))
    errors, observed = np.maximum(errors, 0.0), vectors.T @ (basis.T @ scores)
    # Errors that are alike are estimated from all contrasts together (Satterthwaite).
    scales = error_scales(degrees * float(np.trace(raw)) ** 2 / float((raw**2).sum()))
    effects, log_weight = effect_grid(prior)
    single = mean * len(units) / float((1.0 / units).sum())
    spread, scale = np.repeat(effects**2 * single, len(scales)), np.tile(scales, len(effects))
    total = spread[:, None] + scale[:, None] * errors
    log_likelihood = -0.5 * (np.log(total) + observed**2 / total).sum(axis=1)
    weight = log_likelihood + np.repeat(log_weight, len(scales))
    weight = np.exp(weight - weight.max())
    cell = np.searchsorted(np.cumsum(weight) / weight.sum(), (np.arange(draws) + 0.5) / draws)
    noise = scale[cell, None] * errors
    pull = spread[cell, None] / (spread[cell, None] + noise)
    samples = (pull * observed + np.sqrt(pull * noise) * normal) @ (basis @ vectors).T
    return np.bincount(samples.argmax(axis=1), minlength=count) / draws


def _shrunk(
    raw: Floats, covariance: Floats, basis: Floats, units: Floats, degrees: float, prior: EffectPrior
) -> Floats:
    """Return the covariance of contrasts, shrunk to models with like and independent errors."""
    count = len(covariance)
    borrowed = prior.prior_units * (count - 1)
    weight = 0.0 if math.isinf(degrees) else borrowed / (borrowed + degrees)
    if count == 2 or weight == 0.0:
        return raw
    # The variances whose sums come nearest to those of the differences: se_jk² = r_j + r_k.
    squares = pair_errors(covariance) ** 2
    variances = (squares.sum(axis=1) - squares.sum() / (2 * (count - 1))) / (count - 2)
    variances = np.maximum(variances, 0.0) * units
    middle = float(np.median(variances[variances > 0]))
    ratio = np.clip(variances / middle, 1 / _UNEQUAL, _UNEQUAL)
    alike = basis.T @ np.diag(variances / ratio / units) @ basis
    return np.asarray((1 - weight) * raw + weight * alike * (np.trace(raw) / np.trace(alike)))


# --- the ranking ---

SAME_DIFFERENCES = (
    "some models differ by the same amount on every judged item: the error of that difference is unknown, "
    "so nothing is decided between them."
)


@dataclass(frozen=True, eq=False)
class ItemScores:
    """Judgements item by item: items × models, the items' keys, and how many items each stands for."""

    scores: Floats
    keys: Keys
    weights: Floats

    def of_models(self, columns: list[int]) -> ItemScores:
        """Return the judgements of some models; an item with none of them is left out."""
        scores = self.scores[:, columns]
        judged = ~np.isnan(scores).all(axis=1)
        return ItemScores(scores[judged], self.keys[judged], self.weights[judged])


@dataclass(frozen=True, eq=False)
class JointScores:
    """The models' scores, their joint covariance, and its degrees of freedom.

    ``certain`` says whether an error of 0 means that nothing is left to chance, ``units`` how many items (or
    documents) the error of each score is learned from, where that is known. ``p_values`` are the two-sided
    p-values that belong to the printed intervals of differences; None where Student's t has to do.
    """

    models: tuple[str, ...]
    scores: Floats
    covariance: Floats
    freedom: float
    certain: bool = True
    units: Floats | None = None
    p_values: Floats | None = None

    @property
    def has_same_differences(self) -> bool:
        """Whether two models differ by the same amount on every judged item, which proves nothing."""
        differs = np.abs(self.scores[:, None] - self.scores[None, :]) > 0
        unknown = np.isfinite(pair_errors(self.covariance)) & ~pair_tells(self.covariance, self.scores)
        if self.p_values is not None:
            unknown &= ~(self.p_values < 1.0)
        return not self.certain and bool((differs & unknown).any())

    @property
    def has_errors(self) -> bool:
        """Whether the error of any difference is known."""
        finite = np.isfinite(pair_errors(self.covariance))
        np.fill_diagonal(finite, False)
        return self.freedom >= 1 and bool(finite.any())

    @property
    def order(self) -> list[int]:
        """The models' places, best first; equal scores by name, those without a score last."""
        means = round_means(self.scores)
        keys = [(bool(np.isnan(mean)), -mean, name) for mean, name in zip(means, self.models, strict=True)]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def of_models(self, columns: Ints) -> JointScores:
        """Return the joint scores of some models."""
        square = np.ix_(columns, columns)
        return replace(
            self,
            models=tuple(self.models[column] for column in columns),
            scores=self.scores[columns],
            covariance=self.covariance[square],
            units=None if self.units is None else self.units[columns],
            p_values=None if self.p_values is None else self.p_values[square],
        )

    def tests(self) -> PairTests:
        """Return the test of every pair by its error."""
        return t_tests(
            self.scores, self.covariance, self.freedom, certain=self.certain, two_sided=self.p_values
        )

    def with_scores(self) -> tuple[JointScores, tuple[str, ...]]:
        """Return the models that have a score, and notes on the others and on unknown errors."""
        scored = np.flatnonzero(~np.isnan(self.scores))
        if len(scored) < 2:
            raise DataError(
                "A ranking needs two models that were judged. Of one: "
                f"{either('sparingly estimate DATA', 'sparingly.estimate(data)')}"
            )
        part = self.of_models(scored)
        lost = [name for name, score in zip(self.models, self.scores, strict=True) if np.isnan(score)]
        notes = (f"not judged, so not ranked: {listing(lost)}.",) if lost else ()
        return part, (*notes, *((SAME_DIFFERENCES,) if part.has_same_differences else ()))


def joint_of(result: Estimate) -> JointScores:
    """Return the joint scores of an estimate; an error of 0 is certain only where everything is judged."""
    base = (result.models, result.scores, result.covariance)
    if result.pairs is None:
        return JointScores(*base, result.freedom, certain=False)
    if result.pairs.complete:
        return JointScores(*base, math.inf)
    return JointScores(*base, result.freedom, False, result.pairs.units, result.pair_p_values())


def joint_of_chosen(models: tuple[str, ...], judged: ItemScores) -> JointScores:
    """Return the weighted means over the chosen items, with errors as if these were a sample.

    Σ̂_jk = n/(n − 1) Σ_i w_i² a_ij a_ik / (W_j W_k) with a the distance from the mean and W_j = Σ_i w_i over
    the items on which model j was judged.
    """
    scored = ~np.isnan(judged.scores)
    share = scored * judged.weights[:, None]
    if (scored.sum(axis=0) < 2).any():
        raise DataError("Every model must be judged on two items or more to be ranked.")
    total = share.sum(axis=0)
    means = np.where(scored, judged.scores, 0.0).T @ judged.weights / total
    deviations = np.where(scored, judged.scores - means, 0.0) * share / total
    n = len(judged.scores)
    covariance = deviations.T @ deviations * n / (n - 1)
    return JointScores(models, means, covariance, float(n - 1), certain=False)


def requested_scores(data: EvalSet, selection: Selection | None, aspect: str) -> Floats:
    """Return the judgements that the selection asks for, items × models; all of them without a selection."""
    scores = data.truth(aspect)
    if selection is None:
        return scores
    requested = np.zeros(scores.shape, bool)
    models = True if selection.models is None else selection.model_mask(data.models)
    np.logical_or.at(requested, data.positions(selection.items), models)
    return np.where(requested, scores, np.nan)


def check_errors(decisions: Estimate) -> None:
    """Raise DataError where too few units are judged to decide who is better, and say what to do."""
    if joint_of(decisions).of_models(np.flatnonzero(~np.isnan(decisions.scores))).has_errors:
        return
    if decisions.pairs is None:
        raise DataError(
            "These scores have no errors, so nothing can be decided between the models: rank the data, not "
            "saved scores."
        )
    units = math.floor(decisions.pairs.errors.units)
    unit = "document" if "document" in decisions.pairs.errors.unit_name else "item"
    too_few = f"Only {counted(units, unit)} {'is' if units == 1 else 'are'} judged, too few to say"
    if decisions.target == "population" and decisions.pairs.sample.is_complete:
        raise DataError(
            f"{too_few} who is better on inputs like these; use {argument('target', 'set')} to rank "
            "the models on this set."
        )
    more = f"judge at least {FEWEST_UNITS}." if units < FEWEST_UNITS else "judge more."
    raise DataError(f"{too_few} who is better: {more}")


Test = Literal["t", "permutation", "wilcoxon"]
TOO_SURE = (
    "the items were picked, not sampled: p-values, ranks and groups hold for these items only and overstate "
    "what is known of the test set."
)
# Enough flips for a pair to be significant after the correction for all pairs.
_FLIPS, _FLIPS_PER_PAIR = 1000, 80


def rank(
    data: DataLike,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    estimator: str | Method | None = None,
    target: Target | None = None,
    test: Test = "t",
    groups_by: GroupsBy = "decisions",
    alpha: float = 0.05,
    scale: Ends | None = None,
    expect: bool = False,
    seed: int = 0,
) -> Ranking:
    """Rank the models from the judged items.

    Every pair of models is decided once, corrected for all pairs (``decide``): possible ranks, groups and
    who may be the best follow from these decisions. Scores, standard errors and intervals are those of
    ``estimate``. A selection without inclusion probabilities is ranked on its own items, and says so.

    Args:
        data: The evaluation set (or its file, or a frame) with the judgements.
        selection: What was chosen to be judged; without it the judged items are taken for a uniform sample.
        aspect: What was judged; default: the only aspect.
        estimator: How scores are estimated; see ``estimate``.
        target: What all numbers describe: this ``set``, or the ``population`` of inputs like these. Unless
            given, scores and intervals are those of this set and decisions those of inputs like these.
        test: The test of each pair: ``t`` accounts for weights, documents and predictions; ``permutation``
            and ``wilcoxon`` are for items that were all as likely to be drawn.
        groups_by: ``decisions``, or a published rule without correction: ``algorithm1`` of Zouhar et al.
            2025, or that of ``mt_metrics_eval``.
        alpha: The error rate of all decisions together; one less it is the level of intervals.
        scale: The lowest and the highest score that there can be; default: found in the data.
        expect: Whether to say what judging everything is expected to show, too (``sparingly.expect``).
        seed: Seed of the draws; the same seed gives the same answer.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", "40%", seed=1)
        >>> ranking = sparingly.rank(data, chosen, "mqm")
        >>> ranking.models[0].model, ranking.models[0].ranks
        ('TMT_run1', '1-4')
    """
    data = as_evalset(data)
    if aspect is None and not data.aspects and len(data.preferences):
        raise MissingDataError(
            f"The set holds {len(data.preferences):,} comparisons of two outputs and no scores: take "
            "sparingly.compare(data).ranking, or sparingly.bradley_terry(data)."
        )
    for kind, choice, choices in (
        ("test", test, get_args(Test)),
        ("rule for groups", groups_by, get_args(GroupsBy)),
    ):
        if choice not in choices:
            raise UnknownNameError(kind, choice, choices)
    targets, data = targets_of(target), data.with_scale(aspect, scale)
    if selection is not None and selection.judged is not None:
        data = data.take(models=selection.judged)
    _check_weights(data, selection, test, groups_by)
    settings: dict[str, Any] = {"estimator": estimator, "level": round(1 - alpha, 12), "seed": seed}
    scores = estimate(data, selection, aspect, target=targets.scores, **settings)
    decisions = scores
    if scores.target != CHOSEN_ITEMS and targets.decisions != targets.scores:
        decisions = estimate(data, selection, aspect, target=targets.decisions, **settings, interval="none")
    labels, weights = requested_scores(data, selection, scores.aspect), np.ones(len(data))
    if selection is not None and selection.cluster_weight is not None:
        rows, first = np.unique(data.positions(selection.items), return_index=True)
        weights[rows] = selection.cluster_weight[first]
    judged = ItemScores(labels, data.keys, weights).of_models(list(range(len(data.models))))
    on_chosen = decisions.target == CHOSEN_ITEMS
    joint = joint_of_chosen(decisions.models, judged) if on_chosen else joint_of(decisions)
    joint, joint_notes = joint.with_scores()
    if not on_chosen:
        check_errors(decisions)
    judged = judged.of_models([scores.models.index(name) for name in joint.models])
    if test == "t":
        tests = joint.tests()
    elif test == "wilcoxon":
        tests = wilcoxon_tests(judged.scores)
    else:
        flips = max(_FLIPS, _FLIPS_PER_PAIR * pair_count(len(joint.models)))
        tests = permutation_tests(judged.scores, judged.keys, seed=seed, flips=flips)
    ranking = _ranking(joint, tests, _columns_of(scores), alpha, seed)
    ranking = _with_standardised(ranking, scores, judged)
    if groups_by != DECISIONS:
        ranking = _with_published_groups(ranking, joint, judged, groups_by, seed)
    notes = (*scores.notes, *decisions.notes, *joint_notes, *ranking.notes)
    signature = None
    if scores.signature is not None:
        signature = RankingSignature(scores.signature, test, groups_by, alpha, decisions.target)
    return replace(
        _with_origin(ranking, scores, decisions, (*notes, TOO_SURE) if on_chosen else notes),
        signature=signature,
        would_be_significant=_full_set_decisions(decisions, joint, alpha),
        selection=selection,
        expected=expected_result(data, labels, aspect=scores.aspect) if expect else None,
    )


def rank_scores(
    scores: Floats,
    covariance: Floats,
    *,
    models: tuple[str, ...] | None = None,
    degrees: float = math.inf,
    alpha: float = 0.05,
    seed: int = 0,
) -> Ranking:
    """Rank models from plain arrays: their scores and the joint covariance of the scores.

    Examples:
        >>> import numpy as np, sparingly
        >>> found = sparingly.rank_scores(np.array([70.0, 80.0, 79.5]), np.eye(3), models=("a", "b", "c"))
        >>> found.groups
        (('b', 'c'), ('a',))
    """
    names = models or tuple(f"model {number + 1}" for number in range(len(scores)))
    if len(names) != len(scores):
        raise UsageError(f"There are {len(scores)} scores but {len(names)} names of models.")
    # With finite degrees of freedom an error of 0 is not certain.
    certain = math.isinf(degrees)
    joint = JointScores(tuple(names), *checked_scores(scores, covariance), degrees, certain=certain)
    errors, missing = np.sqrt(np.maximum(np.diag(joint.covariance), 0.0)), np.full(len(names), np.nan)
    columns = _Columns(joint.models, errors, missing, missing, [""] * len(names))
    return _ranking(joint, joint.tests(), columns, alpha, seed)


def rank_estimates(scores: Estimate, decisions: Estimate, *, alpha: float = 0.05, seed: int = 0) -> Ranking:
    """Rank models by two estimates: one whose scores are shown, one on which decisions are based.

    For campaigns and rounds, where scores come from more than one draw.
    """
    joint, notes = joint_of(decisions).with_scores()
    check_errors(decisions)
    ranking = _ranking(joint, joint.tests(), _columns_of(scores), alpha, seed)
    ranking = replace(ranking, would_be_significant=_full_set_decisions(decisions, joint, alpha))
    return _with_origin(ranking, scores, decisions, (*notes, *ranking.notes))


def _full_set_decisions(decisions: Estimate, joint: JointScores, alpha: float) -> Floats | None:
    """Return how likely judging everything shows each difference, models in order; None where unknown."""
    if decisions.pairs is None or decisions.pairs.sample.is_complete:
        return None
    order = [decisions.models.index(joint.models[column]) for column in joint.order]
    return full_set_chances(decisions.scores, decisions.pairs, alpha=alpha)[np.ix_(order, order)]


def _with_origin(ranking: Ranking, scores: Estimate, decisions: Estimate, notes: tuple[str, ...]) -> Ranking:
    """Return the ranking with what its scores and decisions are of, and every note once."""
    return replace(
        ranking,
        **{name: getattr(scores, name) for name in ("aspect", "estimator", "n", "size", "is_rate")},
        target=decisions.target,
        scores_of=scores.target,
        notes=tuple(dict.fromkeys(notes)),
    )


def rank_strengths(fit: BradleyTerry, *, aspect: str, target: str, alpha: float, seed: int = 0) -> Ranking:
    """Rank models by their strengths, from comparisons of two outputs at a time.

    A model without a strength (one that won every comparison, say) is not ranked. It may still be the best,
    so that no chance to be the best is given then.
    """
    joint = JointScores(fit.models, fit.strengths, fit.covariance, fit.freedom, certain=False)
    joint, _ = joint.with_scores()
    lost = [f"{name}: {why}, so not ranked." for name, why in zip(fit.models, fit.status, strict=True) if why]
    decimals = decimals_for(np.asarray(fit.standard_errors).tolist())
    texts = [ends_text(low, high, decimals=decimals) for low, high in zip(fit.low, fit.high, strict=True)]
    columns = _Columns(fit.models, fit.standard_errors, fit.low, fit.high, texts)
    ranking = _ranking(joint, joint.tests(), columns, alpha, seed)
    models = tuple(replace(row, chance_of_best=None) for row in ranking.models) if lost else ranking.models
    return replace(
        ranking,
        models=models,
        aspect=aspect,
        estimator="bradley_terry",
        n=fit.comparisons,
        size=fit.comparisons,
        unit="comparisons",
        target=target,
        scores_of=target,
        notes=tuple(dict.fromkeys((*lost, *ranking.notes))),
    )


class _Columns(NamedTuple):
    """The columns beside the scores, model by model."""

    models: tuple[str, ...]
    standard_errors: Floats
    low: Floats
    high: Floats
    intervals: Sequence[str]


def _columns_of(result: Estimate) -> _Columns:
    """Return the columns of an estimate; an error of 0 without an exact interval is unknown."""
    exact = np.array([kind == EXACT for kind in result.intervals])
    errors = np.where((result.standard_errors == 0) & ~exact, np.nan, result.standard_errors)
    texts = [result.interval_text(column) for column in range(len(result.models))]
    return _Columns(result.models, errors, result.low, result.high, texts)


def _ranking(joint: JointScores, tests: PairTests, columns: _Columns, alpha: float, seed: int) -> Ranking:
    """Return the ranking: all pairs decided once, and the models in order."""
    decisions = decide(tests.agreeing(joint.scores), joint.scores, alpha=alpha)
    # No chance to be the best where some error is unknown.
    chances, scored = np.full(len(joint.scores), np.nan), ~np.isnan(joint.scores)
    if not joint.has_same_differences and np.isfinite(joint.covariance[np.ix_(scored, scored)]).all():
        chances = chance_of_best(
            joint.scores, joint.covariance, degrees=joint.freedom, units=joint.units, seed=seed
        )
    shown_at = [columns.models.index(name) for name in joint.models]
    order = joint.order
    models = tuple(
        RankedModel(
            model=joint.models[column],
            score=plain(joint.scores[column]),
            standard_error=plain(columns.standard_errors[shown_at[column]]),
            standardised=None,
            rank=rank,
            best_rank=int(decisions.best_rank[column]),
            worst_rank=int(decisions.worst_rank[column]),
            group=int(decisions.group[column]) or None,
            chance_of_best=None if np.isnan(chances[column]) else float(chances[column]),
            low=plain(columns.low[shown_at[column]]),
            high=plain(columns.high[shown_at[column]]),
            interval=columns.intervals[shown_at[column]],
        )
        for rank, column in enumerate(order, start=1)
    )
    square = np.ix_(order, order)
    return Ranking(
        models=models,
        p_values=tests.two_sided[square],
        corrected=decisions.adjusted[square],
        covariance=joint.covariance[square],
        freedom=joint.freedom,
        test=tests.test,
        alpha=alpha,
        certain=joint.certain,
        notes=_too_few(joint, tests, alpha),
    )


def _too_few(joint: JointScores, tests: PairTests, alpha: float) -> tuple[str, ...]:
    """Return a note where so few units are judged that no difference can be significant."""
    pairs = pair_count(len(joint.models))
    if tests.test != "t" or 2.0 * least_p(joint.freedom) * pairs <= alpha:
        return ()
    units = next(n for n in range(2, 200) if 2.0 * least_p(n - 1.0) * pairs <= alpha)
    judged, need = counted(math.floor(joint.freedom + 1), "judged unit"), "needs" if pairs == 1 else "need"
    return (
        f"with {judged} no difference among {len(joint.models)} models can be significant, however large: "
        f"{counted(pairs, 'pair')} {need} at least {units}.",
    )


def _with_published_groups(
    ranking: Ranking, joint: JointScores, judged: ItemScores, groups_by: GroupsBy, seed: int
) -> Ranking:
    order = np.array([column for column in joint.order if not np.isnan(joint.scores[column])])
    if groups_by == "algorithm1":
        tests = wilcoxon_tests(judged.scores)
    else:
        tests = permutation_tests(judged.scores, judged.keys, seed=seed)
    group = published_groups(order, tests.worse, groups_by, alpha=ranking.alpha)
    by_name = dict(zip(joint.models, group.tolist(), strict=True))
    models = tuple(
        row if row.group is None else replace(row, group=by_name[row.model]) for row in ranking.models
    )
    return replace(ranking, models=models, groups_by=groups_by)


def _with_standardised(ranking: Ranking, result: Estimate, judged: ItemScores) -> Ranking:
    """Return the ranking with scores in standard deviations of single judgements from their mean."""
    if result.pairs is None:
        values, share = judged.scores, np.repeat(judged.weights[:, None], judged.scores.shape[1], axis=1)
    else:
        values, share = result.pairs.sample.scores, result.pairs.sample.share
    scored = ~np.isnan(values)
    weights, values = share[scored], values[scored]
    centre = float(np.average(values, weights=weights))
    spread = float(np.sqrt(np.average((values - centre) ** 2, weights=weights)))
    models = tuple(
        row if row.score is None else replace(row, standardised=(row.score - centre) / (spread or 1.0))
        for row in ranking.models
    )
    return replace(ranking, models=models)


def _check_weights(data: EvalSet, selection: Selection | None, test: Test, groups_by: GroupsBy) -> None:
    """Raise UsageError where items count differently and the test or rule ignores weights."""
    rule = test if test != "t" else groups_by
    if rule == DECISIONS:
        return
    unequal = selection is not None and selection.has_unequal_weights
    separate = selection is not None and selection.models is not None and len(set(selection.models)) > 1
    unequal |= data.importance is not None
    if unequal or separate:
        why = "Every model has its own sample" if separate else "The items do not all count the same"
        raise UsageError(f"{why}, and {rule} knows nothing of weights: use the t test with decisions.")
