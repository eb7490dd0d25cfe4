"""``sentinel_src``: difficulty of sources for translation, by the published Sentinel metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import parameter, register
from sparingly.choose.distil.external.checkpoints import External, tell_sources
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet

PACKAGE = External(
    "sentinel_src",
    "sentinel_metric",
    "sentinel_metric @ git+https://github.com/SapienzaNLP/guardians-mt-eval",
    "sentinel_metric 1.0",
)
_MODELS = {"da": "sapienzanlp/sentinel-src-da", "mqm": "sapienzanlp/sentinel-src-mqm"}


@register("sentinel_src")
@dataclass(frozen=True)
class SentinelSrc(Utility):
    """Prefers sources whose translations are expected to be poor, by a Sentinel metric that sees no output.

    u_i = −s(x_i), with s the quality that the metric expects from the source alone (Perrella et al. 2024).

    Choose it for translation when there are no outputs yet. It chooses much as ``metric_avg`` does.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A; Perrella et al. 2024"
    needs: ClassVar[tuple[str, ...]] = ("sources",)

    scores: Literal["da", "mqm"] = parameter("mqm", "which human scores it was trained on")
    model: str | None = parameter(None, "the folder or checkpoint of a model; the published one unless given")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the sources."""
        return frozenset({"sources"})

    def values(self, data: EvalSet) -> Floats:
        """Return minus the expected quality of every source's translations."""
        if data.sources is None:
            raise MissingDataError("The method sentinel_src needs sources, and the evaluation set has none.")
        return -tell_sources(PACKAGE, self.model or _MODELS[self.scores], data.sources)
