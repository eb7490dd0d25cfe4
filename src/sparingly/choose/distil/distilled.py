"""``distilled``: a utility that was learned from past evaluations, for sources alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError
from sparingly.base.registry import parameter, register
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.saved import load_distilled
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet


@register("distilled")
@dataclass(frozen=True)
class Distilled(Utility):
    """Prefers sources on which a utility, learned from past evaluations, is expected to be high.

    u_i = Û(x_i) ≈ U(x_i, M), where Û was learned from the sources and utilities of other sets.

    Choose it when there are no outputs yet. The file's card (``sparingly distil info``) says how well the
    utility was told for held-out texts, and which models are at a disadvantage if they are judged now.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 10"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    model: str = parameter(help="the file of the model, made by sparingly distil train")
    utility: str | None = parameter(None, "which of its utilities; the only one there is unless given")
    embedding: str | None = parameter(
        None, "vectors of these sources, where the model learned from vectors that were given"
    )
    digest: str | None = parameter(None, "the digest of the model; filled in when something is chosen")

    def resolve(self, data: EvalSet) -> Self:
        """Settle which utility and which model is meant."""
        known = self.loaded()
        known.score(data.at([]), self.embedding)
        return replace(self, utility=known.card.names[known.place_of(self.utility)], digest=known.digest)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources, and the column with their vectors if there is one."""
        known = self.loaded()
        if not known.is_embedded:
            return frozenset({"sources"})
        from sparingly.signals.embed import embedding_fields

        return frozenset({"sources"}) | embedding_fields(self.embedding or known.card.features, outputs=False)

    def values(self, data: EvalSet) -> Floats:
        """Return what the model expects of every source."""
        return self.loaded().predict(data, self.utility, self.embedding)

    def loaded(self) -> DistilledModel:
        """Return the model; one that is not the model of the signature is an error."""
        known = load_distilled(self.model)
        if self.digest is not None and self.digest != known.digest:
            raise DataError(
                f"The model {self.model} has the digest {known.digest}, and {self.digest} is asked for: it "
                "was trained again, or is another one."
            )
        return known
