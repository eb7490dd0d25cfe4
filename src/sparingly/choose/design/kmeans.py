"""``kmeans``: items that are spread over what the texts are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.centres import kmeans
from sparingly.choose.design.representatives import Points, choose_by_clusters, indices_of
from sparingly.choose.design.whole_set import WholeSetSelector, file_stamp, remembered
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import embed_outputs, embed_sources, embedding_fields


@register("kmeans")
@dataclass(frozen=True)
class KMeans(WholeSetSelector):
    """Clusters the items by their texts and takes the item nearest to the centre of every cluster.

    min Σ_i ‖e_i − c(e_i)‖² with k = the budget, e the embedding of the source, of one output (of ``model``,
    or of one drawn for every item), or the mean over the outputs. With ``weighted`` the chosen items carry
    the sizes of their clusters as weights, by which rankings can be computed; they are no design weights,
    and the result has no inclusion probabilities: it is for rankings only.

    Choose it to cover many topics when nothing but sources is known. Weighting was worse there.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    features: Literal["source", "output", "output_mean"] = parameter("source", "what is embedded")
    weighted: bool = parameter(False, "whether items carry the sizes of their clusters as weights")
    embedding: str = parameter(
        "tfidf", "tfidf, a sentence-transformers model, or column:NAME, FILE.npy, FILE.parquet"
    )
    model: str | None = parameter(
        None, "with features=output: whose outputs; one drawn per item unless given"
    )

    def __post_init__(self) -> None:
        if self.model is not None and self.features != "output":
            raise UsageError("The parameter model of kmeans goes with features=output.")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources or the outputs, or the column with their vectors."""
        return embedding_fields(self.embedding, outputs=self.features != "source")

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Cluster the candidates and take the item nearest to every centre."""
        count = self.count(budget, candidates)
        points = self._points(data, candidates, seed)

        def clusters(inside: int) -> Ints:
            return kmeans(points.vectors, inside, rng.generator(seed, "kmeans"))

        return choose_by_clusters(
            data, points, count, clusters, representative="euclidean", weighted=self.weighted, seed=seed
        )

    def _points(self, data: EvalSet, candidates: Ints, seed: int) -> Points:
        stamp = file_stamp(self.embedding)
        if self.features == "source":
            key = ("sources", self.embedding, stamp)
            vectors, there = remembered(data, key, lambda: embed_sources(data, self.embedding))
        else:
            key = ("outputs", self.embedding, stamp)
            embedded = remembered(data, key, lambda: embed_outputs(data, self.embedding))
            shares = self._shares(data, embedded.there, seed)
            vectors = np.einsum("ij,ijd->id", shares, embedded.vectors)
            there = np.asarray(shares.any(axis=1))
        what = "a source" if self.features == "source" else "an output"
        rows, without = indices_of(there, candidates, what)
        return Points(vectors[rows], rows, without)

    def _shares(self, data: EvalSet, there: NDArray[np.bool_], seed: int) -> Floats:
        """Return how much every output counts (items × models)."""
        counts = there.sum(axis=1, keepdims=True)
        if self.features == "output_mean":
            return np.asarray(there / np.maximum(counts, 1))
        if self.model is not None:
            if self.model not in data.models:
                raise UnknownNameError("model", self.model, data.models)
            return np.asarray(there * (np.array(data.models) == self.model), np.float64)
        drawn = rng.uniforms(data.keys, seed, "output of kmeans")[:, None] * counts
        # The n-th of the outputs that are there.
        return np.asarray(there & (np.cumsum(there, axis=1) == np.floor(drawn) + 1), np.float64)
