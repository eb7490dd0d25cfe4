"""``diversity``: prefer items on which the models write different things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import parameter, register
from sparingly.base.syntax import lacking
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet
from sparingly.signals.overlap.similarity import (
    Bleu,
    Chrf,
    Dice,
    Similarity,
    Tokeniser,
    mean_cosines,
    mean_similarities,
)


@register("diversity")
@dataclass(frozen=True)
class Diversity(Utility):
    """Prefers items on which the models' outputs differ most.

    u_i = −(1/(k(k−1))) Σ_{j≠j'} sim(y_ij, y_ij'), over the ordered pairs of different models among the k that
    have an output; an item with fewer than two outputs has no utility. The similarity is the cosine of
    embeddings, Dice's coefficient of words, chrF or BLEU (0 to 100, as sacrebleu computes them, averaged over
    both directions). The printed equation 6 has no minus sign, and counts every output with itself.

    Choose it when there are outputs but no metric that you trust: where the models say the same, judging them
    cannot tell them apart.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 6"
    needs: ClassVar[tuple[str, ...]] = ("outputs",)

    similarity: Literal["embedding", "unigram", "chrf", "bleu"] = parameter(
        "embedding", "how the similarity of two outputs is measured"
    )
    embedding: str = parameter(
        "tfidf", "what embeds the outputs when similarity=embedding: tfidf, a model, or a file of vectors"
    )
    tokeniser: Tokeniser = parameter(  # noqa: RUF009 - a field
        "13a", "sacrebleu's tokeniser when similarity=bleu; zh for Chinese"
    )

    def resolve(self, data: EvalSet) -> Self:
        """Raise MissingDataError when there are no outputs."""
        if "outputs" in self.reads(data):
            _outputs(data)
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs, or the column that has their embeddings."""
        if self.similarity != "embedding":
            return frozenset({"outputs"})
        from sparingly.signals.embed import embedding_fields

        return embedding_fields(self.embedding, outputs=True)

    def values(self, data: EvalSet) -> Floats:
        """Return minus the mean similarity of every item's outputs."""
        if self.similarity == "embedding":
            from sparingly.signals.embed import embed_outputs

            return -mean_cosines(*embed_outputs(data, self.embedding))
        measures: dict[str, Similarity] = {"unigram": Dice(1), "chrf": Chrf(), "bleu": Bleu(self.tokeniser)}
        return -mean_similarities(_outputs(data), measures[self.similarity])


def _outputs(data: EvalSet) -> Objects:
    if data.outputs is None:
        raise MissingDataError(f"The method diversity needs outputs, {lacking('outputs')}")
    return data.outputs
