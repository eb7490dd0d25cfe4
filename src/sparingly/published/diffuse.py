"""``diffuse``: items spread over the ways outputs differ; ``max_norm``: those where they differ most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.clusters import Points, choose_by_clusters, indices_of, kmeans
from sparingly.choose.design.selector import Chosen, WholeSetSelector, file_stamp, remembered
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet
from sparingly.published.linkage import EXACT_ITEMS, Linkage, linkage_of
from sparingly.signals.embed.differences import (
    difference_norms,
    filled_distances,
    mean_difference,
    stacked_differences,
)
from sparingly.signals.embed.evalset import EMBEDDING_HELP, embed_outputs, embed_sources, embedding_fields
from sparingly.signals.embed.texts import unit_rows


@register("max_norm")
@dataclass(frozen=True)
class MaxNorm(Utility):
    """Prefers items whose outputs have the largest difference vectors.

    u_i = √(mean_{j<k} ‖e_ij − e_ik‖²) over the pairs of models that have an output, with e the embeddings;
    for two models the norm of their difference vector.

    A baseline for ``diffuse``: the chosen items are informative one by one, but may all be alike or odd, and
    there it was less reliable than clustering.
    """

    reference: ClassVar[str] = "Ashury Tahan et al. 2024, appendix A.5"
    needs: ClassVar[tuple[str, ...]] = ("outputs",)

    embedding: str = parameter("tfidf", EMBEDDING_HELP)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs, or the column with their vectors."""
        return embedding_fields(self.embedding, outputs=True)

    def values(self, data: EvalSet) -> Floats:
        """Return how far apart every item's outputs lie."""
        return difference_norms(*embed_outputs(data, self.embedding))


# --- diffuse ---


Pairs = Literal["distance", "concat", "mean"]
_DIFFERENCES = {
    "concat": stacked_differences,
    "distance": filled_distances,
    "mean": mean_difference,
}
_STAGES = f"more than {EXACT_ITEMS} items: small clusters first, then the linkage of their centres."


@register("diffuse")
@dataclass(frozen=True)
class DiffUse(WholeSetSelector):
    """Clusters the differences between the models' outputs and takes one item from every cluster.

    d_i = e_iA − e_iB for two models, e being embeddings of the outputs; Ward's linkage, cut where as many
    clusters are left as the budget allows; the item nearest by cosine to the centre of its cluster. With more
    models d_i is made of the distances of all pairs (``distance``), of all difference vectors laid end to end
    (``concat``: with two models the difference vector itself), or of the mean difference vector (``mean``,
    which depends on the order of the models' names). The result has no inclusion probabilities: it favours
    items on which the models differ much, and is for rankings only.

    Choose it to find the better of two models with few labels. One linkage serves all budgets.
    """

    reference: ClassVar[str] = "Ashury Tahan et al. 2024, section 4; Zouhar et al. 2025, appendix A"
    needs: ClassVar[tuple[str, ...]] = ("outputs",)

    pairs: Pairs | None = parameter(  # noqa: RUF009 - a field
        None, "an item's vector: distance, concat or mean; default: concat for two models, else distance"
    )
    linkage: Literal["ward", "cosine", "kmeans"] = parameter(
        "ward", "how items are clustered: Ward, average linkage by cosine, or k-means++"
    )
    representative: Literal["cosine", "euclidean", "norm", "random"] = parameter(
        "cosine", "nearest to the centre by cosine or Euclidean distance, largest norm, or drawn"
    )
    features: Literal["difference", "source"] = parameter(
        "difference", "cluster differences between outputs, or embeddings of the sources instead"
    )
    models: tuple[str, ...] = parameter((), "the models whose outputs are compared; default: all")
    weighted: bool = parameter(False, "whether items carry the sizes of their clusters as weights")
    embedding: str = parameter("tfidf", EMBEDDING_HELP)

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the features, and check that the models are there."""
        return replace(self, pairs=self._settled_pairs(self._view(data)))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs or the sources, or the column with their vectors."""
        return embedding_fields(self.embedding, outputs=self.features == "difference")

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Cluster the candidates and take one item from every cluster."""
        count = self.count(budget, candidates)
        view = self._view(data)
        pairs = self._settled_pairs(view)
        key = (self.features, pairs, self.embedding, file_stamp(self.embedding), candidates.tobytes())
        points = remembered(view, ("points", *key), lambda: self._points(view, candidates, pairs))

        def tree() -> Linkage:
            if self.linkage == "cosine":
                return linkage_of(unit_rows(points.vectors), view.keys[points.rows], "cosine")
            return linkage_of(points.vectors, view.keys[points.rows], "ward")

        def clusters(inside: int) -> Ints:
            if self.linkage == "kmeans":
                return kmeans(points.vectors, inside, rng.generator(seed, "diffuse"))
            return remembered(view, (self.linkage, *key), tree).cut(inside)

        chosen = choose_by_clusters(
            view,
            points,
            count,
            clusters,
            representative=self.representative,
            weighted=self.weighted,
            seed=seed,
        )
        staged = self.linkage != "kmeans" and len(points.rows) > EXACT_ITEMS
        return replace(chosen, notes=(*chosen.notes, _STAGES)) if staged else chosen

    def _view(self, data: EvalSet) -> EvalSet:
        return data.take(models=self.models) if self.models else data

    def _settled_pairs(self, data: EvalSet) -> Pairs:
        if self.features == "difference" and len(data.models) < 2:
            raise DataError("Differences between outputs need two models, and there are fewer.")
        return self.pairs or ("concat" if len(data.models) == 2 else "distance")

    def _points(self, data: EvalSet, candidates: Ints, pairs: Pairs) -> Points:
        """Return the vectors that are clustered."""
        if self.features == "source":
            sources = embed_sources(data, self.embedding)
            rows, missing = indices_of(sources.present, candidates, "a source")
            return Points(sources.vectors[rows], rows, missing)
        vectors, present = embed_outputs(data, self.embedding)
        rows, missing = indices_of(present.sum(axis=1) > 1, candidates, "outputs of two models")
        if not np.array_equal(rows, np.arange(len(vectors))):
            vectors, present = vectors[rows], present[rows]
        return Points(_DIFFERENCES[pairs](vectors, present), rows, missing)
