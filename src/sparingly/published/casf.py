"""``casf``: constrained active sampling, batch by batch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.cache import ResultCache
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.moments import principal_axes, row_means
from sparingly.base.syntax import lacking
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.variables import with_means
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.run.rounds.strategy import Finished, State, Strategy
from sparingly.signals.embed.evalset import embed_outputs
from sparingly.signals.overlap.similarity import Bigrams, count_bigrams

Similarity = Callable[[int], Floats]


def buckets(order: Ints, count: int) -> list[Ints]:
    """Cut items in the order of their quality into so many buckets, by even cuts.

    The paper's buckets of ⌊N/n⌋ items leave a rest beyond the last; even cuts differ by one item at most.
    """
    cuts = np.arange(count + 1) * len(order) // count
    return [order[low:high] for low, high in itertools.pairwise(cuts)]


def least_redundant(
    order: Ints, count: int, chosen: Ints, similarity: Similarity, tolerance: float
) -> tuple[Ints, Floats]:
    """Pick one item of every bucket by the rules of the constrained controller (Ruan et al. 2024).

    Vio(i) is the greatest similarity of an item with one that is chosen, this round's picks included; an
    item is feasible when Vio ≤ tolerance. Of a bucket the feasible item nearest in rank to its first is
    taken (rules 1 and 3); where none is feasible, the one with the least Vio (rule 2).

    ``order`` has the items that are left, best quality first, ``chosen`` those of earlier rounds. An item
    whose similarity cannot be told (NaN) is like nothing. Returned are the picks, in the order of the
    buckets, and the redundancy of each when it was picked.
    """
    worst = np.full(int(order.max(initial=-1)) + 1, 0.0)
    for item in chosen.tolist():
        worst = np.fmax(worst, similarity(item)[: len(worst)])
    picks, redundancy = np.empty(count, np.int64), np.empty(count)
    for place, bucket in enumerate(buckets(order, count)):
        violation = worst[bucket]
        feasible = np.flatnonzero(violation <= tolerance)
        best = int(feasible[0]) if len(feasible) else int(np.argmin(violation))
        picks[place], redundancy[place] = bucket[best], violation[best]
        worst = np.fmax(worst, similarity(int(bucket[best]))[: len(worst)])
    return picks, redundancy


# --- the learner of casf ---


Regressor = Literal[
    "boosting", "linear", "adaboost", "bagging", "tree", "extra_trees", "knn", "forest", "svm"
]
_REGRESSORS: dict[Regressor, str] = {
    "boosting": "ensemble.GradientBoostingRegressor",
    "linear": "linear_model.LinearRegression",
    "adaboost": "ensemble.AdaBoostRegressor",
    "bagging": "ensemble.BaggingRegressor",
    "tree": "tree.DecisionTreeRegressor",
    "extra_trees": "ensemble.ExtraTreesRegressor",
    "knn": "neighbors.KNeighborsRegressor",
    "forest": "ensemble.RandomForestRegressor",
    "svm": "svm.SVR",
}
CasfUnit = Literal["item", "cell"]


def standardised_sum(aspects: Sequence[Floats]) -> Floats:
    """Return the sum over aspects of scores standardised over what is judged (items × models).

    A cell that lacks one of the aspects is not judged. An aspect on which all scores are the same tells
    nothing apart and counts as 0.
    """
    total = np.zeros(aspects[0].shape)
    for scores in aspects:
        spread = float(np.nanstd(scores)) if np.isfinite(scores).any() else 0.0
        total = total + (scores - (np.nanmean(scores) if spread else scores)) / (spread or 1.0)
    return total


def text_features(data: EvalSet, count: int) -> list[Floats]:
    """Return where outputs lie on the largest axes of their embeddings (items × models each)."""
    if not count:
        return []
    embedded = embed_outputs(data)
    centred = embedded.vectors - embedded.vectors[embedded.present].mean(axis=0)
    seen = centred[embedded.present]
    axes = centred @ principal_axes(seen.T @ seen, count, 1e-12)
    axes[~embedded.present] = np.nan
    return list(np.moveaxis(axes, 2, 0))


def predicted_quality(
    metrics: Sequence[Floats],
    target: Floats,
    *,
    rows: CasfUnit,
    regressor: Regressor,
    settings: dict[str, int],
) -> Floats:
    """Return the predicted quality of every item: the sum over models of the standardised aspects.

    Features (``metrics``) and ``target`` are items × models, the target NaN where not judged. With rows of
    ``item`` it learns from one row per item with the metrics of all models as features (Ruan et al. 2024,
    eq. 2); with ``cell`` from one row per output, as their published code does.
    """
    # The mean of its model stands in for a score that is missing.
    cells = np.stack([with_means(scores) for scores in metrics], axis=-1)
    if rows == "item":
        features, observed = cells.reshape(len(target), -1), row_means(target) * target.shape[1]
    else:
        features, observed = cells.reshape(-1, cells.shape[-1]), target.ravel()
    judged = ~np.isnan(observed)
    if judged.sum() < 2:
        raise DataError(
            "casf has fewer than two judged items to learn from: record the earlier rounds first."
        )
    from sklearn import config_context

    learner = make_regressor(regressor, **settings)
    # Each of hundreds of trees would check the same numbers again.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        learner.fit(features[judged], observed[judged])
        predicted = np.asarray(learner.predict(features), np.float64)
    return predicted if rows == "item" else np.asarray(predicted.reshape(target.shape).sum(axis=1))


def make_regressor(name: Regressor, *, depth: int, trees: int, seed: int) -> Any:
    """Return one of the nine regressors of Ruan et al. 2024, Table 7, ready to fit.

    kNN and the support vector machine see standardised features, since both go by distances.
    """
    module, _, kind = _REGRESSORS[name].rpartition(".")
    regressor = getattr(import_module(f"sklearn.{module}"), kind)
    if name == "boosting":
        return regressor(max_depth=depth, n_estimators=trees, random_state=seed)
    if name in ("knn", "svm"):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), regressor())
    return regressor() if name == "linear" else regressor(random_state=seed)


# --- casf ---


FEWEST = 50
# The learner's random state and the order of ties: fixed, so that the picks follow from the data alone.
FIXED = 0
# All rounds compare the same outputs.
_bigrams: ResultCache[Bigrams] = ResultCache(size=1)
_SMALL_SET_NOTE = "the set has fewer than 50 items: Ruan et al. 2024 advise to judge all of them."


@register("casf")
@dataclass(frozen=True, kw_only=True)
class Casf(Strategy):
    """Picks items that cover all levels of predicted quality and repeat each other little, in phases.

    The first phase orders items by a metric; every later one by a learner's prediction, from the metrics, of
    q_i = Σ_j Σ_k z_ijk, the standardised aspects summed over models. The order is cut into as many buckets
    as items are wanted; the first of each is picked, or, with the controller, the nearest to it whose bigram
    redundancy with what is chosen is within the tolerance, else the least redundant.

    A ranking only: the picks follow from the data, whatever the seed, so they have no inclusion probabilities
    and no interval. ``text_axes`` lets the learner see the outputs, which the paper leaves to future work.
    With ``phases=1`` it is the paper's single-metric (``by=metric``) or eight-metric
    (``by=mean``) baseline, with ``controller=false`` its online sampling.
    """

    reference: ClassVar[str] = "Ruan et al. 2024"
    needs: ClassVar[tuple[str, ...]] = ("metrics", "outputs", "ratings")

    metric: str | None = parameter(None, "what orders the items of the first phase; default: the only metric")
    by: Literal["metric", "mean"] = parameter(
        "metric", "order the first phase by one metric, or by the mean of all standardised ones"
    )
    phases: int = parameter(5, "how many rounds the budget is divided into", minimum=1)
    mode: Literal["average", "preliminary_fixed"] = parameter(
        "average", "rounds of equal size, or a first one of the share preliminary and equal ones after it"
    )
    preliminary: float = parameter(
        0.1, "with mode=preliminary_fixed: the share of all items in the first round"
    )
    regressor: Regressor = parameter("boosting", "what learns")  # noqa: RUF009 - a field
    rows: CasfUnit = parameter("item", "learn from items (all models' metrics) or from single outputs")  # noqa: RUF009
    metrics: tuple[str, ...] = parameter((), "the learner's features; default: all metrics")
    aspects: tuple[str, ...] = parameter((), "what the learner predicts; default: the judged aspect")
    controller: bool = parameter(True, "whether redundancy with what is chosen counts")
    text_axes: int = parameter(
        0, "how many axes of the outputs' character n-grams the learner sees beside the metrics", minimum=0
    )
    tolerance: float = parameter(
        0.0, "the bigram redundancy up to which an item is not redundant", minimum=0.0
    )
    depth: int = parameter(4, "with regressor=boosting: how deep its trees are", minimum=1)
    trees: int = parameter(200, "with regressor=boosting: how many trees it has", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.preliminary < 1.0:
            raise UsageError(f"In casf, preliminary is a share between 0 and 1, not {self.preliminary:g}.")

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Resolve the metrics; raise an error that names what is missing."""
        names = self.metrics or tuple(data.metrics)
        for name in names:
            the_only("metric", name, data.metrics, "")
        if not names:
            raise MissingDataError(f"The method casf needs metrics, {lacking('metrics')}")
        metric = self.metric
        if self.by == "metric":
            metric = the_only("metric", self.metric, data.metrics, "Name the first phase's: casf:metric=….")
        if self._reads_outputs and data.outputs is None:
            raise MissingDataError(
                "The controller and the text axes of casf read outputs, and the evaluation set has none: "
                "write casf:controller=false,text_axes=0."
            )
        return replace(self, metrics=names, metric=metric)

    @property
    def _reads_outputs(self) -> bool:
        return self.phases > 1 and (self.controller or self.text_axes > 0)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metrics, and the outputs for the controller and the text axes."""
        metric_fields = {
            fields.metric(name) for name in (*self.metrics, *((self.metric,) if self.metric else ()))
        }
        return frozenset(metric_fields | ({"outputs"} if self._reads_outputs else set()))

    def label_fields(self, data: EvalSet, aspect: str) -> frozenset[str]:
        """Show the aspects that the learner predicts, beside the one that is judged."""
        more = {name for part in self.aspects for name in data.truth_fields(part)}
        return super().label_fields(data, aspect) | more

    def next_round(self, state: State) -> Chosen | Finished:
        """Order what is left by quality, and pick from every bucket."""
        open_rows = np.flatnonzero(~state.asked.any(axis=1))
        count = min(self._count(state), len(open_rows), state.left // len(state.data.models))
        if count < 1:
            return Finished("the phases of casf are over.")
        if state.number == 1:
            quality = self._preliminary(state.data)
        else:
            judged = [state.data.truth(name) for name in self.aspects] or [state.labels]
            quality = predicted_quality(
                [
                    *(state.data.metrics[name] for name in self.metrics),
                    *text_features(state.data, self.text_axes),
                ],
                standardised_sum(judged),
                rows=self.rows,
                regressor=self.regressor,
                settings={"depth": self.depth, "trees": self.trees, "seed": FIXED},
            )
        order = open_rows[rng.order(quality[open_rows], state.data.keys[open_rows], FIXED)]
        notes = (_SMALL_SET_NOTE,) if len(state.data) < FEWEST and state.number == 1 else ()
        if state.number == 1 or not self.controller:
            picks = np.array([bucket[0] for bucket in buckets(order, count)], np.int64)
            why = "first of its bucket by " + ("metric" if state.number == 1 else "predicted quality")
            return Chosen(rows=picks, utility=quality[picks], reason=why, notes=notes)
        assert state.data.outputs is not None  # noqa: S101 - resolve has seen to it
        outputs = state.data.outputs
        bigrams = _bigrams.get([outputs], (), lambda: count_bigrams(outputs))
        chosen = np.flatnonzero(state.asked.any(axis=1))
        picks, redundancy = least_redundant(order, count, chosen, bigrams.similarity, self.tolerance)
        infeasible = int((redundancy > self.tolerance).sum())
        if infeasible:
            notes = (*notes, f"{infeasible} of {count} buckets had no item within the tolerance.")
        return Chosen(
            rows=picks,
            utility=quality[picks],
            reason="least redundant of its bucket by predicted quality",
            notes=notes,
        )

    def _count(self, state: State) -> int:
        """Return how many items the next round has: what is planned up to it less what was asked for."""
        if state.size is not None:
            return state.size
        if state.number > self.phases:
            return 0
        total = state.budget.count_of(len(state.data))
        if self.phases == 1:
            return total - int(state.asked.any(axis=1).sum())
        first = total // self.phases
        if self.mode == "preliminary_fixed":
            first = max(1, int(self.preliminary * len(state.data) + 1e-9))
            if first >= total:
                raise UsageError(
                    f"The first round of casf alone takes {first} items, and the budget is {total}: "
                    "lower preliminary=."
                )
        upto = first + (total - first) * (state.number - 1) // (self.phases - 1)
        return upto - int(state.asked.any(axis=1).sum())

    def _preliminary(self, data: EvalSet) -> Floats:
        """Return the items' mean metric, or the mean of their standardised metrics; the mean if missing."""
        if self.by == "metric":
            means = row_means(data.metrics[self.metric or ""])
            return np.where(np.isnan(means), np.nanmean(means), means)
        standardised = np.zeros((len(self.metrics), len(data)))
        for place, name in enumerate(self.metrics):
            means = row_means(data.metrics[name])
            if spread := float(np.nanstd(means)):
                standardised[place] = np.nan_to_num((means - np.nanmean(means)) / spread)
        return np.asarray(standardised.mean(axis=0))
