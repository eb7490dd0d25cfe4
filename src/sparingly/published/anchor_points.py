"""``anchor_points``: items that stand for clusters of items on which the models score alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.checks import check_names
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import parameter, register
from sparingly.base.syntax import lacking
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.clusters import Points, choose_nearest
from sparingly.choose.design.selector import Chosen, WholeSetSelector, file_stamp, remembered
from sparingly.choose.design.variables import Space, metric_points, text_points, with_means
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import embedding_fields


def settled_metrics(data: EvalSet, metrics: tuple[str, ...], method: str) -> tuple[str, ...]:
    """Return the metrics that are named, or all of them."""
    check_names("metric", metrics, data.metrics)
    if not len(data.metrics):
        raise MissingDataError(f"The method {method} needs metrics, {lacking('metrics')}")
    return metrics or tuple(data.metrics)


def space_fields(space: Space, metrics: tuple[str, ...], embedding: str) -> frozenset[str]:
    """Return the fields that the points of a space are made of."""
    if space == "metrics":
        return frozenset(map(fields.metric, metrics))
    return embedding_fields(embedding, outputs=space != "source")


def space_points(data: EvalSet, space: Space, metrics: tuple[str, ...], embedding: str) -> Floats:
    """Return where the items lie (items × dimensions); what has no score or text lies in the middle."""
    if space == "metrics":
        check_names("metric", metrics, data.metrics)
        return metric_points(data, metrics)
    key = ("points of a space", space, embedding, file_stamp(embedding))
    return remembered(data, key, lambda: text_points(data, space, embedding))


# --- anchor_points ---


@register("anchor_points")
@dataclass(frozen=True)
class AnchorPoints(WholeSetSelector):
    """Clusters items by how the models score on them, and takes the item nearest to each centre.

    μ̂_j = Σ_k (|C_k|/N)·y_kj, k the anchor of cluster C_k: min Σ_i ‖x_i − c(x_i)‖² with as many centres as the
    budget has items. x_i are the models' scores by the metrics, which stand in for correctness
    (``features=scores``), or discrimination and difficulty of item response theory, fitted to each metric
    (``features=irt``), standardised. The sizes of clusters are weights for rankings, no design weights.

    Choose it to compare with benchmarks made of anchors. There the clusters come from the answers of hundreds
    of other models, and an ability fitted to the anchors corrects the mean (p-IRT); with metrics of the same
    few models the weights rest on noise, and what p-IRT is for is done by ``greg`` on a probability sample.
    """

    reference: ClassVar[str] = "Maia Polo et al. 2024 (tinyBenchmarks), section 3; Vivek et al. 2024"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    features: Literal["scores", "irt"] = parameter("scores", "what items are clustered by")
    metrics: tuple[str, ...] = parameter((), "the metrics; default: all")
    weighted: bool = parameter(True, "whether items carry the sizes of their clusters as weights")

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the metrics."""
        return replace(self, metrics=settled_metrics(data, self.metrics, self.name))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metrics."""
        return frozenset(map(fields.metric, self.metrics))

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Cluster the candidates and take the item nearest to every centre."""
        count = self.count(budget, candidates)
        vectors = space_points(data, "metrics", self.metrics, "")
        if self.features == "irt":
            key = ("irt anchors", self.metrics)
            vectors = remembered(data, key, lambda: _item_parameters(data, self.metrics))
        has_score = np.any([~np.isnan(data.metrics[name]).all(axis=1) for name in self.metrics], axis=0)
        rows, missing = candidates[has_score[candidates]], candidates[~has_score[candidates]]
        points = Points(vectors[rows], rows, missing)
        return choose_nearest(data, points, count, "anchor points", weighted=self.weighted, seed=seed)


def _item_parameters(data: EvalSet, metrics: tuple[str, ...]) -> Floats:
    """Return discrimination and difficulty of the items by every metric, standardised."""
    from sparingly.published.irt import fit_irt

    fits = [
        fit_irt(data.metrics[name], method="map")
        for name in metrics
        if not np.isnan(data.metrics[name]).all()
    ]
    parts = [part for fit in fits for part in (fit.discrimination, fit.difficulty)]
    columns = with_means(np.column_stack(parts))
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))
