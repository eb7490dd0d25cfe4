"""``rank``: the order of the models, and how much of it the judgements support."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import DataError, UnknownNameError, UsageError, listing
from sparingly.base.registry import Method
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.data.importance import importance
from sparingly.data.plain import plain
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.rank.best import chance_of_best
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.expected import asked_models, expected_of
from sparingly.infer.rank.group_rules import any_member_groups, last_member_groups
from sparingly.infer.rank.means import settled
from sparingly.infer.rank.pair_errors import pair_tells
from sparingly.infer.rank.pair_tests import PairTests, permutation_tests, t_tests, wilcoxon_tests
from sparingly.infer.rank.rank_sets import checked, rank_sets
from sparingly.infer.rank.ranking import RankedModel, Ranking
from sparingly.infer.rank.signature import RankingSignature

Floats = NDArray[np.float64]
Test = Literal["t", "permutation", "wilcoxon"]
TOO_SURE = (
    "the items were not drawn by chance: p-values, ranks and groups are about these items, "
    "and are too sure of themselves where they are taken for the test set's."
)
SAME = "some models differ by the same on every judged item: that is no proof, so they are not told apart."
GroupsBy = Literal["rank_sets", "algorithm1", "mt_metrics_eval"]


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
class Known:
    """What is known of the models' scores: the scores, their joint covariance, its degrees of freedom.

    ``certain`` says whether an error of 0 means that nothing is left to chance.
    """

    models: tuple[str, ...]
    scores: Floats
    covariance: Floats
    freedom: float
    certain: bool = True

    @property
    def tells_nothing(self) -> bool:
        """Whether two models differ by the same on every judged item, which is no proof."""
        apart = np.abs(self.scores[:, None] - self.scores[None, :]) > 0
        return not self.certain and bool((apart & ~pair_tells(self.covariance)).any())

    def of_models(self, places: NDArray[np.int64]) -> Known:
        """Return what is known of some models."""
        names = tuple(self.models[place] for place in places)
        return replace(
            self, models=names, scores=self.scores[places], covariance=self.covariance[np.ix_(places, places)]
        )


def rank(
    data: EvalSet,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    estimator: str | Method | None = None,
    target: Literal["set", "population"] = "population",
    test: Test = "t",
    groups_by: GroupsBy = "rank_sets",
    alpha: float = 0.05,
    expect: bool = False,
    seed: int = 0,
) -> Ranking:
    """Rank the models from what was judged.

    Scores and their joint covariance come from ``estimate``; rank sets and groups from the largest of all
    pairwise t statistics, so that they hold for all models at once. A selection without inclusion
    probabilities is ranked on its own items, and says so.

    Args:
        data: The evaluation set with the judgements.
        selection: What was chosen to be judged; without it the judged items are taken for a uniform sample.
        aspect: What was judged; the only aspect unless given.
        estimator: How scores are estimated; see ``estimate``.
        target: Which models are better on inputs like these (``population``), or on this very ``set``.
        test: The test of each pair: ``t`` honours weights, documents and predictions; ``permutation`` and
            ``wilcoxon`` are for items that were all as likely to be drawn.
        groups_by: ``rank_sets`` (corrected), or a published rule without correction: ``algorithm1`` of Zouhar
            et al. 2025, or that of ``mt_metrics_eval``.
        alpha: The error rate.
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
    if selection is not None and selection.judged is not None:
        data = data.take(models=selection.judged)
    _check_weights(data, selection, test, groups_by)
    held = estimate(data, selection, aspect, estimator=estimator, target=target, interval="none", seed=seed)
    judged = _judged(data, selection, held)
    on_chosen = selection is not None and not selection.is_probability_sample
    known, notes = _with_scores(_of_chosen(held, judged) if on_chosen else _known(held))
    judged = judged.of_models([held.models.index(name) for name in known.models])
    tests = _tests(test, judged, known, seed)
    ranking = _ranked(known, tests, _standardised(held, judged, known), alpha, seed)
    ranking = _regrouped(ranking, known, judged, groups_by, seed)
    ranking = replace(ranking, signature=_signature(held, test, groups_by, alpha), selection=selection)
    ranking = replace(ranking, expected=expected_of(data, selection, held.aspect) if expect else None)
    if on_chosen:
        return _told(ranking, held, target="chosen", notes=(*held.notes, *notes, TOO_SURE))
    return _told(ranking, held, notes=(*held.notes, *notes), full_set=_full_set(held, known))


def _signature(held: Estimate, test: Test, groups_by: GroupsBy, alpha: float) -> RankingSignature | None:
    if held.signature is None:
        return None
    return RankingSignature(scores=held.signature, test=test, groups_by=groups_by, alpha=alpha)


def _told(ranking: Ranking, held: Estimate, **parts: Any) -> Ranking:
    """Return the ranking with what it is about."""
    about = {name: getattr(held, name) for name in ("aspect", "estimator", "target", "n", "size")}
    return replace(ranking, **{**about, **parts})


def _known(held: Estimate) -> Known:
    """Return what an estimate knows; an error of 0 is certainty only where everything is judged."""
    certain = held.pairs is not None and held.pairs.whole
    return Known(held.models, held.scores, held.covariance, math.inf if certain else held.freedom, certain)


def _with_scores(known: Known) -> tuple[Known, tuple[str, ...]]:
    """Return the models that have a score, and what to say of the others and of errors that tell nothing."""
    scored = np.flatnonzero(~np.isnan(known.scores))
    if len(scored) < 2:
        raise DataError("A ranking needs two models that were judged.")
    part = known.of_models(scored)
    if not np.isfinite(part.covariance).all() or part.freedom < 1:
        raise DataError("Too few items (or documents) are judged to say how sure a ranking is: judge more.")
    lost = [name for name, score in zip(known.models, known.scores, strict=True) if np.isnan(score)]
    notes = (f"not judged, so not ranked: {listing(lost)}.",) if lost else ()
    return part, (*notes, *((SAME,) if part.tells_nothing else ()))


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
    given, spread = np.asarray(scores, np.float64), np.asarray(covariance, np.float64)
    names = models or tuple(f"model {place + 1}" for place in range(len(given)))
    if len(names) != len(given):
        raise UsageError(f"There are {len(given)} scores but {len(names)} names of models.")
    known = Known(tuple(names), *checked(given, spread), degrees)
    return _ranked(known, t_tests(given, spread, degrees), np.full(len(given), np.nan), alpha, seed)


def _ranked(known: Known, tests: PairTests, standardised: Floats, alpha: float, seed: int) -> Ranking:
    """Return the ranking by rank sets."""
    free = known.freedom
    sets = rank_sets(
        known.scores, known.covariance, alpha=alpha, degrees=free, seed=seed, certain=known.certain
    )
    best = np.full(len(known.scores), np.nan)
    if not known.tells_nothing:
        best = chance_of_best(known.scores, known.covariance, degrees=free, seed=seed)
    errors = np.sqrt(np.maximum(np.diag(known.covariance), 0.0))
    order = _order(known)
    models = tuple(
        RankedModel(
            model=known.models[place],
            score=plain(known.scores[place]),
            standard_error=plain(errors[place]),
            standardised=plain(standardised[place]),
            rank=rank,
            best_rank=int(sets.low[place]),
            worst_rank=int(sets.high[place]),
            group=None if np.isnan(known.scores[place]) else int(sets.group[place]),
            chance_of_best=None if np.isnan(best[place]) else float(best[place]),
        )
        for rank, place in enumerate(order, start=1)
    )
    inside = np.ix_(order, order)
    return Ranking(
        models=models,
        p_values=tests.two_sided[inside],
        corrected=decide(tests.agreeing(known.scores), known.scores, alpha=alpha).adjusted[inside],
        covariance=known.covariance[inside],
        freedom=known.freedom,
        test=tests.test,
        alpha=alpha,
        certain=known.certain,
    )


def _regrouped(ranking: Ranking, known: Known, judged: Judged, groups_by: GroupsBy, seed: int) -> Ranking:
    """Return the ranking with the groups of a published rule."""
    if groups_by == "rank_sets":
        return ranking
    order = np.array([place for place in _order(known) if not np.isnan(known.scores[place])])
    if groups_by == "algorithm1":
        group = last_member_groups(order, wilcoxon_tests(judged.scores).worse, alpha=ranking.alpha)
    else:
        worse = permutation_tests(judged.scores, judged.keys, seed=seed).worse
        group = any_member_groups(order, worse, alpha=ranking.alpha)
    by_name = dict(zip(known.models, group.tolist(), strict=True))
    models = tuple(
        one if one.group is None else replace(one, group=by_name[one.model]) for one in ranking.models
    )
    return replace(ranking, models=models, groups_by=groups_by)


def _order(known: Known) -> list[int]:
    """Return the models' places, best first; equal scores by name, those without a score last."""
    means = settled(known.scores)
    keys = [(bool(np.isnan(mean)), -mean, name) for mean, name in zip(means, known.models, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _judged(data: EvalSet, selection: Selection | None, held: Estimate) -> Judged:
    """Return what was judged, of the items and models that the selection asks for."""
    scores = data.truth(held.aspect)
    if selection is None:
        return Judged(scores, data.keys, np.ones(len(data))).of_models(list(range(len(data.models))))
    rows, first = np.unique(data.positions(selection.items), return_index=True)
    weights = np.ones(len(rows)) if selection.cluster_weight is None else selection.cluster_weight[first]
    asked = asked_models(data, selection, rows)
    inside = np.where(asked, scores[rows], np.nan)
    return Judged(inside, data.keys[rows], weights).of_models(list(range(len(data.models))))


def _of_chosen(held: Estimate, judged: Judged) -> Known:
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
    return Known(held.models, means, away.T @ away * n / (n - 1), float(n - 1), certain=False)


def _tests(test: Test, judged: Judged, known: Known, seed: int) -> PairTests:
    if test == "t":
        return t_tests(known.scores, known.covariance, known.freedom, certain=known.certain)
    return (
        wilcoxon_tests(judged.scores)
        if test == "wilcoxon"
        else permutation_tests(judged.scores, judged.keys, seed=seed)
    )


def _standardised(held: Estimate, judged: Judged, known: Known) -> Floats:
    """Return scores in standard deviations of single judgements from their mean, by what each stands for."""
    if held.pairs is None:
        values, share = judged.scores, np.repeat(judged.weights[:, None], judged.scores.shape[1], axis=1)
    else:
        values, share = held.pairs.sample.scores, held.pairs.sample.share
    there = ~np.isnan(values)
    weights, inside = share[there], values[there]
    centre = float(np.average(inside, weights=weights))
    spread = float(np.sqrt(np.average((inside - centre) ** 2, weights=weights)))
    return (known.scores - centre) / spread if spread > 0 else np.zeros(len(known.scores))


def _full_set(held: Estimate, known: Known) -> Floats | None:
    """Return the predicted full-set p-values, two-sided, as a matrix in the ranking's order."""
    if held.pairs is None:
        return None
    first, second = pair_indices(len(held.models))
    one_sided = held.full_set_p()
    square = np.full((len(held.models), len(held.models)), np.nan)
    square[first, second] = square[second, first] = 2.0 * np.minimum(one_sided, 1.0 - one_sided)
    order = [held.models.index(known.models[place]) for place in _order(known)]
    return np.asarray(square[np.ix_(order, order)])


def _check_choice(kind: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise UnknownNameError(kind, given, known)


def _check_weights(data: EvalSet, selection: Selection | None, test: Test, groups_by: GroupsBy) -> None:
    """Refuse tests that know nothing of weights where items count differently."""
    rule = test if test != "t" else groups_by
    if rule == "rank_sets":
        return
    unequal = selection is not None and selection.has_unequal_weights
    separate = selection is not None and selection.models is not None and len(set(selection.models)) > 1
    unequal |= importance(data) is not None
    if unequal or separate:
        why = "Every model has a draw of its own" if separate else "The items do not all count the same"
        raise UsageError(f"{why}, and {rule} knows nothing of weights: use the t test with rank sets.")
