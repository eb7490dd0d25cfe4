"""``precomet``: utilities that the published PreCOMET models tell from sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import parameter, register
from sparingly.choose.distil.external.checkpoints import External, tell_sources
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet

PACKAGE = External(
    "precomet", "precomet", "precomet @ git+https://github.com/zouharvi/PreCOMET", "precomet 2.2.4"
)
_OWNER = "zouharvi/PreCOMET-"
# Which end of a published model's numbers is worth judging, as its authors use it.
_LOW = frozenset({"avg", "var", "diversity", "disc"})
_PRODUCTS = {"diffdisc": ("diff", "disc")}

Target = Literal["avg", "var", "cons", "diversity", "diff", "disc", "diffdisc", "diffdisc_direct"]


@register("precomet")
@dataclass(frozen=True)
class PreComet(Utility):
    """Prefers sources that a PreCOMET model expects to be worth judging.

    u_i = ±f(x_i), with f a published model (XLM-RoBERTa, trained on human scores of WMT before 2023) for one
    utility; for ``diffdisc`` the product of those for difficulty and discrimination.

    Choose it for translation when there are no outputs yet, and no past evaluations of your own to distil.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 10 and appendix C"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    target: Target = parameter("avg", "which utility; each has a model of its own")  # noqa: RUF009 - a field
    model: str | None = parameter(None, "the folder or checkpoint of a model; the published one unless given")
    prefer: Literal["high", "low"] | None = parameter(
        None, "which end of the model's numbers is worth judging; by the target unless given"
    )

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources."""
        return frozenset({"sources"})

    def values(self, data: EvalSet) -> Floats:
        """Return what the model says of every source, turned so that higher is better."""
        sources = data.sources
        if sources is None:
            raise MissingDataError("The method precomet needs sources, and the evaluation set has none.")
        parts = (self.target,) if self.model else _PRODUCTS.get(self.target, (self.target,))
        told = [tell_sources(PACKAGE, self.model or f"{_OWNER}{part}", sources) for part in parts]
        is_low = self.prefer == "low" if self.prefer else self.target in _LOW
        return np.asarray(np.prod(told, axis=0) * (-1.0 if is_low else 1.0))
