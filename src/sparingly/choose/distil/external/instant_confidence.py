"""``comet_instant_confidence``: how unsure a quality metric is of the outputs of an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.moments import row_means
from sparingly.choose.distil.external.checkpoints import External, is_text
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet

PACKAGE = External(
    "comet_instant_confidence",
    "comet_early_exit",
    "comet-early-exit @ git+https://github.com/zouharvi/COMET-early-exit#subdirectory=comet_early_exit",
    "comet-early-exit 2.2.4",
)
_MODEL = "zouharvi/COMET-instant-confidence"


@register("comet_instant_confidence")
@dataclass(frozen=True)
class InstantConfidence(Utility):
    """Prefers items on whose outputs COMET-instant-confidence expects to be wrong by much (or by little).

    u_i = ±(1/M) Σ_j e(x_i, y_ij), with e the absolute error that the metric expects of its own score; the
    package calls it a confidence, but the higher it is, the less sure is the metric.

    In the published comparison it helped less than the variance of a metric; high errors did better than low.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A; Zouhar et al. 2025b"
    needs: ClassVar[tuple[str, ...]] = ("sources", "outputs")

    direction: Literal["high", "low"] = parameter("high", "whether expected errors should be high or low")
    model: str | None = parameter(None, "the folder or checkpoint of a model; the published one unless given")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources and the outputs."""
        return frozenset({"sources", "outputs"})

    def values(self, data: EvalSet) -> Floats:
        """Return the expected error, averaged over the models that have an output."""
        if data.sources is None or data.outputs is None:
            raise MissingDataError("The method comet_instant_confidence needs sources and outputs.")
        sources = np.repeat(data.sources[:, None], len(data.models), axis=1)
        there = np.array([[bool(cell) for cell in row] for row in data.outputs], bool).reshape(data.shape)
        there &= is_text(data.sources)[:, None]
        pairs = list(zip(sources[there], data.outputs[there], strict=True))
        distinct = sorted(set(pairs))
        samples = [{"src": source, "mt": output} for source, output in distinct]
        told = PACKAGE.ask(self.model or _MODEL, samples, "confidences")
        errors = np.full(data.shape, np.nan)
        number = dict(zip(distinct, told.tolist(), strict=True))
        errors[there] = [number[pair] for pair in pairs]
        means = row_means(errors)
        return means if self.direction == "high" else -means
