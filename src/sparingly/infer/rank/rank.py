"""``rank``: the order of the models, and how much of it the judgements support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UnknownNameError, UsageError, listing
from sparingly.base.format import counted, ends_text
from sparingly.base.registry import Method
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import pair_count
from sparingly.data.combine import with_scale
from sparingly.data.evalset import EvalSet
from sparingly.data.importance import importance
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.infer.estimate.assemble import Target, targets_of
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.full_set_p import full_set_chances
from sparingly.infer.estimate.intervals import EXACT, LEAST
from sparingly.infer.estimate.result import CHOSEN, Estimate
from sparingly.infer.estimate.scale import Scale
from sparingly.infer.expect.expect import Expected, expect
from sparingly.infer.rank.best import chance_of_best
from sparingly.infer.rank.decisions import any_member_groups, decide, last_member_groups
from sparingly.infer.rank.measures import settled
from sparingly.infer.rank.pair_tests import (
    PairTests,
    checked,
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


# What judging everything is expected to say, beside a ranking: from the labels that were asked for.


def expected_of(data: EvalSet, selection: Selection | None, aspect: str) -> Expected:
    """Return what judging everything is expected to say, from every label that was asked for."""
    labels = data.truth(aspect)
    if selection is not None:
        rows = np.unique(data.positions(selection.items))
        kept = np.full(labels.shape, np.nan)
        kept[rows] = np.where(asked_models(data, selection, rows), labels[rows], np.nan)
        labels = kept
    return expect(data, labels, aspect=aspect)


def asked_models(data: EvalSet, selection: Selection, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which models each item is to be judged on."""
    if selection.models is None:
        return np.ones((len(rows), len(data.models)), bool)
    asked = np.zeros((len(rows), len(data.models)), bool)
    places = np.searchsorted(rows, data.positions(selection.items))
    for place, names in zip(places, selection.models, strict=True):
        asked[place] |= np.array([names is None or name in names for name in data.models])
    return asked


# What a ranking is made of: the models' scores, their joint covariance, and the judgements item by item.


SAME = (
    "some models differ by the same amount on every judged item: the error of that difference is unknown, "
    "so nothing is decided between them."
)


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgements item by item: items × models, the items' keys, and how many items each stands for."""

    scores: Floats
    keys: Keys
    weights: Floats

    def of_models(self, places: list[int]) -> Judged:
        """Return the judgements of some models; an item with none of them is left out."""
        scores = self.scores[:, places]
        there = ~np.isnan(scores).all(axis=1)
        return Judged(scores[there], self.keys[there], self.weights[there])


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
        """Whether two models differ by the same on every judged item, which is no proof."""
        apart = np.abs(self.scores[:, None] - self.scores[None, :]) > 0
        unknown = np.isfinite(pair_errors(self.covariance)) & ~pair_tells(self.covariance, self.scores)
        if self.p_values is not None:
            unknown &= ~(self.p_values < 1.0)
        return not self.certain and bool((apart & unknown).any())

    @property
    def has_errors(self) -> bool:
        """Whether the error of any difference is known."""
        known = np.isfinite(pair_errors(self.covariance))
        np.fill_diagonal(known, False)
        return self.freedom >= 1 and bool(known.any())

    @property
    def order(self) -> list[int]:
        """The models' places, best first; equal scores by name, those without a score last."""
        means = settled(self.scores)
        keys = [(bool(np.isnan(mean)), -mean, name) for mean, name in zip(means, self.models, strict=True)]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def of_models(self, places: NDArray[np.int64]) -> JointScores:
        """Return what there is of some models."""
        names = tuple(self.models[place] for place in places)
        inside = np.ix_(places, places)
        return replace(
            self,
            models=names,
            scores=self.scores[places],
            covariance=self.covariance[inside],
            units=None if self.units is None else self.units[places],
            p_values=None if self.p_values is None else self.p_values[inside],
        )

    def tests(self) -> PairTests:
        """Return the test of every pair by its error."""
        given = self.scores, self.covariance, self.freedom
        return t_tests(*given, certain=self.certain, two_sided=self.p_values)

    def scored(self) -> tuple[JointScores, tuple[str, ...]]:
        """Return the models that have a score, and what to say of the others and of unknown errors."""
        there = np.flatnonzero(~np.isnan(self.scores))
        if len(there) < 2:
            raise DataError("A ranking needs two models that were judged.")
        part = self.of_models(there)
        lost = [name for name, score in zip(self.models, self.scores, strict=True) if np.isnan(score)]
        notes = (f"not judged, so not ranked: {listing(lost)}.",) if lost else ()
        return part, (*notes, *((SAME,) if part.has_same_differences else ()))


def joint_of(found: Estimate) -> JointScores:
    """Return what an estimate tells; an error of 0 is certainty only where everything is judged."""
    certain = found.pairs is not None and found.pairs.whole
    freedom = math.inf if certain else found.freedom
    if found.pairs is None or certain:
        return JointScores(found.models, found.scores, found.covariance, freedom, certain)
    return JointScores(
        found.models,
        found.scores,
        found.covariance,
        freedom,
        certain,
        found.pairs.units,
        found.pair_p_values(),
    )


def joint_of_strengths(found: BradleyTerry) -> JointScores:
    """Return what comparisons tell of the models' strengths."""
    return JointScores(found.models, found.strengths, found.covariance, found.freedom, certain=False)


def joint_of_arrays(
    models: tuple[str, ...], scores: Floats, covariance: Floats, freedom: float
) -> JointScores:
    """Return given arrays; with finite degrees of freedom an error of 0 is no certainty."""
    return JointScores(models, *checked(scores, covariance), freedom, certain=math.isinf(freedom))


def joint_of_chosen(found: Estimate, judged: Judged) -> JointScores:
    """Return the means over the chosen items, by what they stand for, as if these were a sample.

    Σ̂_jk = n/(n − 1) Σ_i w_i² a_ij a_ik / (W_j W_k) with a the distance from the mean and W_j = Σ_i w_i over
    the items on which model j was judged.
    """
    there = ~np.isnan(judged.scores)
    share = there * judged.weights[:, None]
    if (there.sum(axis=0) < 2).any():
        raise DataError("Every model must be judged on two items or more to be ranked.")
    total = share.sum(axis=0)
    means = np.where(there, judged.scores, 0.0).T @ judged.weights / total
    away = np.where(there, judged.scores - means, 0.0) * share / total
    n = len(judged.scores)
    return JointScores(found.models, means, away.T @ away * n / (n - 1), float(n - 1), certain=False)


def judged_items(data: EvalSet, selection: Selection | None, aspect: str) -> Judged:
    """Return what was judged, of the items and models that the selection asks for."""
    scores = data.truth(aspect)
    if selection is None:
        return Judged(scores, data.keys, np.ones(len(data))).of_models(list(range(len(data.models))))
    rows, first = np.unique(data.positions(selection.items), return_index=True)
    weights = np.ones(len(rows)) if selection.cluster_weight is None else selection.cluster_weight[first]
    inside = np.where(asked_models(data, selection, rows), scores[rows], np.nan)
    return Judged(inside, data.keys[rows], weights).of_models(list(range(len(data.models))))


def check_errors(decisions: Estimate) -> None:
    """Say that too few units are judged to decide who is better, and what to do: another target, or more."""
    if joint_of(decisions).of_models(np.flatnonzero(~np.isnan(decisions.scores))).has_errors:
        return
    if decisions.pairs is None:
        raise DataError("These scores have no errors, so nothing can be decided between the models.")
    units, drawn = math.floor(decisions.pairs.errors.units), decisions.pairs.errors.drawn
    unit = "document" if "document" in drawn else "item"
    few = f"Only {counted(units, unit)} {'is' if units == 1 else 'are'} judged, too few to say"
    if decisions.target == "population" and decisions.pairs.sample.is_whole:
        raise DataError(
            f"{few} who is better on inputs like these; use --target set to rank the models on this set."
        )
    more = f"judge at least {LEAST}." if units < LEAST else "judge more."
    raise DataError(f"{few} who is better: {more}")


# ``rank``: the order of the models, and how much of it the judgements support.


Test = Literal["t", "permutation", "wilcoxon"]
GroupsBy = Literal["decisions", "algorithm1", "mt_metrics_eval"]
TOO_SURE = (
    "the items were picked, not sampled: p-values, ranks and groups hold for these items only and overstate "
    "what is known of the test set."
)
# Enough flips for a pair to be significant after the correction for all pairs.
_FLIPS, _FLIPS_PER_PAIR = 1000, 80


def rank(
    data: EvalSet,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    estimator: str | Method | None = None,
    target: Target | None = None,
    test: Test = "t",
    groups_by: GroupsBy = "decisions",
    alpha: float = 0.05,
    scale: Scale | None = None,
    expect: bool = False,
    seed: int = 0,
) -> Ranking:
    """Rank the models from what was judged.

    Every pair of models is decided once, corrected for all pairs (``decide``): possible ranks, groups and
    who may be the best follow from these decisions. Scores, standard errors and intervals are those of
    ``estimate``. A selection without inclusion probabilities is ranked on its own items, and says so.

    Args:
        data: The evaluation set with the judgements.
        selection: What was chosen to be judged; without it the judged items are taken for a uniform sample.
        aspect: What was judged; the only aspect unless given.
        estimator: How scores are estimated; see ``estimate``.
        target: What all numbers speak about: this ``set``, or the ``population`` of inputs like these. Unless
            given, scores and intervals are those of this set and decisions those of inputs like these.
        test: The test of each pair: ``t`` honours weights, documents and predictions; ``permutation`` and
            ``wilcoxon`` are for items that were all as likely to be drawn.
        groups_by: ``decisions``, or a published rule without correction: ``algorithm1`` of Zouhar et al.
            2025, or that of ``mt_metrics_eval``.
        alpha: The error rate of all decisions together; one less it is the level of intervals.
        scale: The lowest and the highest score that there can be; what the data tells of it unless given.
        expect: Whether to say what judging everything is expected to show, too (``sparingly.expect``).
        seed: Settles draws; the same seed gives the same answer.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", "40%", seed=1)
        >>> ranking = sparingly.rank(data, chosen, "overall")
        >>> ranking.models[0].model, ranking.models[0].ranks
        ('Rowan', '1-3')
    """
    _check_choice("test", test, get_args(Test))
    _check_choice("rule for groups", groups_by, get_args(GroupsBy))
    targets, data = targets_of(target), with_scale(data, aspect, scale)
    if selection is not None and selection.judged is not None:
        data = data.take(models=selection.judged)
    _check_weights(data, selection, test, groups_by)
    how: dict[str, Any] = {"estimator": estimator, "level": round(1 - alpha, 12), "seed": seed}
    shown = estimate(data, selection, aspect, target=targets.scores, **how)
    base = shown
    if shown.target != CHOSEN and targets.decisions != targets.scores:
        base = estimate(data, selection, aspect, target=targets.decisions, **how, interval="none")
    found = _of_judged(
        judged_items(data, selection, shown.aspect), shown, base, (test, groups_by, alpha, seed)
    )
    expected = expected_of(data, selection, shown.aspect) if expect else None
    return replace(found, selection=selection, expected=expected)


def _of_judged(
    judged: Judged, shown: Estimate, base: Estimate, how: tuple[Test, GroupsBy, float, int]
) -> Ranking:
    """Return the ranking from the scores to be shown and those that decisions are based on."""
    test, groups_by, alpha, seed = how
    on_chosen = base.target == CHOSEN
    joint, notes = (joint_of_chosen(base, judged) if on_chosen else joint_of(base)).scored()
    if not on_chosen:
        check_errors(base)
    judged = judged.of_models([shown.models.index(name) for name in joint.models])
    ranking = _ranked(joint, _tests(test, judged, joint, seed), _columns_of(shown), alpha, seed)
    ranking = _with_standardised(ranking, shown, judged)
    ranking = _regrouped(ranking, joint, judged, groups_by, seed)
    notes = (*shown.notes, *base.notes, *notes, *ranking.notes, *((TOO_SURE,) if on_chosen else ()))
    return replace(
        ranking,
        **{name: getattr(shown, name) for name in ("aspect", "estimator", "n", "size", "is_rate")},
        target=base.target,
        scores_of=shown.target,
        signature=_signature(shown, base.target, test, groups_by, alpha),
        would_be_significant=None if on_chosen else _would_show(base, joint, alpha),
        notes=tuple(dict.fromkeys(notes)),
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
    names = models or tuple(f"model {place + 1}" for place in range(len(scores)))
    if len(names) != len(scores):
        raise UsageError(f"There are {len(scores)} scores but {len(names)} names of models.")
    joint = joint_of_arrays(tuple(names), scores, covariance, degrees)
    errors, nothing = np.sqrt(np.maximum(np.diag(joint.covariance), 0.0)), np.full(len(names), np.nan)
    return _ranked(
        joint, joint.tests(), _Columns(joint.models, errors, nothing, nothing, [""] * len(names)), alpha, seed
    )


def rank_estimates(scores: Estimate, decisions: Estimate, *, alpha: float = 0.05, seed: int = 0) -> Ranking:
    """Rank models by estimates that are there: one to be shown, one for what decisions speak about.

    For campaigns and rounds, where scores come from more than one draw. It says why nothing can be ranked.
    """
    joint, notes = joint_of(decisions).scored()
    check_errors(decisions)
    ranking = _ranked(joint, joint.tests(), _columns_of(scores), alpha, seed)
    return replace(
        ranking,
        **{name: getattr(scores, name) for name in ("aspect", "estimator", "n", "size", "is_rate")},
        target=decisions.target,
        scores_of=scores.target,
        notes=tuple(dict.fromkeys((*notes, *ranking.notes))),
    )


def rank_strengths(found: BradleyTerry, *, aspect: str, target: str, alpha: float, seed: int = 0) -> Ranking:
    """Rank models by their strengths, from comparisons of two outputs at a time.

    A model without a strength (one that won every comparison, say) is not ranked. It may be the best all the
    same, so that then no chance to be the best is given.
    """
    joint, _ = joint_of_strengths(found).scored()
    lost = [
        f"{name}: {why}, so not ranked." for name, why in zip(found.models, found.status, strict=True) if why
    ]
    texts = [ends_text(low, high) for low, high in zip(found.low, found.high, strict=True)]
    columns = _Columns(found.models, found.standard_errors, found.low, found.high, texts)
    ranking = _ranked(joint, joint.tests(), columns, alpha, seed)
    models = tuple(replace(one, chance_of_best=None) for one in ranking.models) if lost else ranking.models
    return replace(
        ranking,
        models=models,
        aspect=aspect,
        estimator="bradley_terry",
        n=found.comparisons,
        size=found.comparisons,
        unit="comparisons",
        target=target,
        scores_of=target,
        notes=tuple(dict.fromkeys((*lost, *ranking.notes))),
    )


class _Columns(NamedTuple):
    """What is shown beside the scores, model by model."""

    models: tuple[str, ...]
    standard_errors: Floats
    low: Floats
    high: Floats
    intervals: Sequence[str]


def _columns_of(found: Estimate) -> _Columns:
    """Return what an estimate shows: an error of 0 whose interval is withheld is not known."""
    exact = np.array([kind == EXACT for kind in found.intervals])
    errors = np.where((found.standard_errors == 0) & ~exact, np.nan, found.standard_errors)
    texts = [found.interval_text(place) for place in range(len(found.models))]
    return _Columns(found.models, errors, found.low, found.high, texts)


def _ranked(joint: JointScores, tests: PairTests, shown: _Columns, alpha: float, seed: int) -> Ranking:
    """Return the ranking: all pairs decided once, the models in order with what follows from it."""
    decisions = decide(tests.agreeing(joint.scores), joint.scores, alpha=alpha)
    best = _chances(joint, seed)
    beside = [shown.models.index(name) for name in joint.models]
    order = joint.order
    models = tuple(
        RankedModel(
            model=joint.models[place],
            score=plain(joint.scores[place]),
            standard_error=plain(shown.standard_errors[beside[place]]),
            standardised=None,
            rank=rank,
            best_rank=int(decisions.best_rank[place]),
            worst_rank=int(decisions.worst_rank[place]),
            group=int(decisions.group[place]) or None,
            chance_of_best=None if np.isnan(best[place]) else float(best[place]),
            low=plain(shown.low[beside[place]]),
            high=plain(shown.high[beside[place]]),
            interval=shown.intervals[beside[place]],
        )
        for rank, place in enumerate(order, start=1)
    )
    inside = np.ix_(order, order)
    return Ranking(
        models=models,
        p_values=tests.two_sided[inside],
        corrected=decisions.adjusted[inside],
        covariance=joint.covariance[inside],
        freedom=joint.freedom,
        test=tests.test,
        alpha=alpha,
        certain=joint.certain,
        notes=_too_few(joint, tests, alpha),
    )


def _chances(joint: JointScores, seed: int) -> Floats:
    """Return every model's chance to be the best; NaN where some error is unknown."""
    scored = ~np.isnan(joint.scores)
    if joint.has_same_differences or not np.isfinite(joint.covariance[np.ix_(scored, scored)]).all():
        return np.full(len(joint.scores), np.nan)
    return chance_of_best(joint.scores, joint.covariance, degrees=joint.freedom, units=joint.units, seed=seed)


def _too_few(joint: JointScores, tests: PairTests, alpha: float) -> tuple[str, ...]:
    """Say where so few units were judged that no difference could be significant, however large."""
    pairs = pair_count(len(joint.models))
    if tests.test != "t" or 2.0 * least_p(joint.freedom) * pairs <= alpha:
        return ()
    units = next(n for n in range(2, 200) if 2.0 * least_p(n - 1.0) * pairs <= alpha)
    judged, need = counted(math.floor(joint.freedom + 1), "judged unit"), "needs" if pairs == 1 else "need"
    return (
        f"with {judged} no difference among {len(joint.models)} models can be significant, however large: "
        f"{counted(pairs, 'pair')} {need} at least {units}.",
    )


def _regrouped(
    ranking: Ranking, joint: JointScores, judged: Judged, groups_by: GroupsBy, seed: int
) -> Ranking:
    """Return the ranking with the groups of a published rule."""
    if groups_by == DECISIONS:
        return ranking
    order = np.array([place for place in joint.order if not np.isnan(joint.scores[place])])
    if groups_by == "algorithm1":
        group = last_member_groups(order, wilcoxon_tests(judged.scores).worse, alpha=ranking.alpha)
    else:
        worse = permutation_tests(judged.scores, judged.keys, seed=seed).worse
        group = any_member_groups(order, worse, alpha=ranking.alpha)
    by_name = dict(zip(joint.models, group.tolist(), strict=True))
    models = tuple(
        one if one.group is None else replace(one, group=by_name[one.model]) for one in ranking.models
    )
    return replace(ranking, models=models, groups_by=groups_by)


def _tests(test: Test, judged: Judged, joint: JointScores, seed: int) -> PairTests:
    if test == "t":
        return joint.tests()
    if test == "wilcoxon":
        return wilcoxon_tests(judged.scores)
    flips = max(_FLIPS, _FLIPS_PER_PAIR * pair_count(len(joint.models)))
    return permutation_tests(judged.scores, judged.keys, seed=seed, flips=flips)


def _with_standardised(ranking: Ranking, found: Estimate, judged: Judged) -> Ranking:
    """Return the ranking with scores in standard deviations of single judgements from their mean."""
    if found.pairs is None:
        values, share = judged.scores, np.repeat(judged.weights[:, None], judged.scores.shape[1], axis=1)
    else:
        values, share = found.pairs.sample.scores, found.pairs.sample.share
    there = ~np.isnan(values)
    weights, inside = share[there], values[there]
    centre = float(np.average(inside, weights=weights))
    spread = float(np.sqrt(np.average((inside - centre) ** 2, weights=weights)))
    away = [None if one.score is None else (one.score - centre) / (spread or 1.0) for one in ranking.models]
    models = [replace(one, standardised=own) for one, own in zip(ranking.models, away, strict=True)]
    return replace(ranking, models=tuple(models))


def _would_show(found: Estimate, joint: JointScores, alpha: float) -> Floats | None:
    """Return how likely judging everything shows each difference, as a matrix in the ranking's order."""
    if found.pairs is None or found.pairs.sample.is_whole:
        return None
    square = full_set_chances(found.scores, found.pairs, alpha=alpha)
    order = [found.models.index(joint.models[place]) for place in joint.order]
    return np.asarray(square[np.ix_(order, order)])


def _signature(
    found: Estimate, decisions: str, test: Test, groups_by: GroupsBy, alpha: float
) -> RankingSignature | None:
    if found.signature is None:
        return None
    return RankingSignature(found.signature, test, groups_by, alpha, decisions)


def _check_choice(kind: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise UnknownNameError(kind, given, known)


def _check_weights(data: EvalSet, selection: Selection | None, test: Test, groups_by: GroupsBy) -> None:
    """Refuse tests that know nothing of weights where items count differently."""
    rule = test if test != "t" else groups_by
    if rule == DECISIONS:
        return
    unequal = selection is not None and selection.has_unequal_weights
    separate = selection is not None and selection.models is not None and len(set(selection.models)) > 1
    unequal |= importance(data) is not None
    if unequal or separate:
        why = "Every model has its own sample" if separate else "The items do not all count the same"
        raise UsageError(f"{why}, and {rule} knows nothing of weights: use the t test with decisions.")
