"""``max_norm``: prefer items whose outputs lie far apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparingly.base.arrays import Floats
from sparingly.base.registry import parameter, register
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.differences import difference_norms
from sparingly.signals.embed.evalset import embed_outputs, embedding_fields


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

    embedding: str = parameter(
        "tfidf", "tfidf, a sentence-transformers model, or column:NAME, FILE.npy, FILE.parquet"
    )

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs, or the column with their vectors."""
        return embedding_fields(self.embedding, outputs=True)

    def values(self, data: EvalSet) -> Floats:
        """Return how far apart every item's outputs lie."""
        return difference_norms(*embed_outputs(data, self.embedding))
