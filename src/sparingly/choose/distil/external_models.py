"""Published models of others that predict utilities: COMET-instant-confidence, PreCOMET, Sentinel.

Nothing of them is part of this package: they work if their package and weights are installed, else the error
says what to install. Their checkpoints are read by their own packages, with pickle: load none that you do not
trust. The packages are forks of one program, so they are called in the same way: ``download_model`` fetches a
checkpoint of the hub, ``load_from_checkpoint`` reads it, and ``predict`` takes a list of samples.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import DataError, MissingDataError, UsageError, one_line
from sparingly.base.registry import parameter, register
from sparingly.base.stats.moments import row_means
from sparingly.base.syntax import lacking
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet

_INSIDE = Path("checkpoints", "model.ckpt")
_BATCH = 16


@dataclass(frozen=True)
class ExternalPackage:
    """A package of somebody else."""

    utility: str  # that needs it
    package: str  # its name in Python
    install: str  # the argument of pip install
    version: str  # that this was written for

    def predict(self, model: str, samples: Sequence[dict[str, str]], column: str) -> Floats:
        """Return a number for every sample; a model is a name on the hub, a folder or a checkpoint."""
        loaded_model = _load_checkpoint(self._module(), str(self._checkpoint(model)))
        if not samples:
            return np.zeros(0)
        torch = sys.modules.get("torch")
        gpus = int(torch is not None and torch.cuda.is_available())
        output = loaded_model.predict(list(samples), batch_size=_BATCH, gpus=gpus, progress_bar=False)
        scores = np.asarray(output[column], np.float64)
        if scores.shape != (len(samples),):
            raise DataError(
                f"{model} gave {column} of the shape {scores.shape} for {len(samples)} samples: it is not "
                f"for {self.utility}."
            )
        return scores

    def _module(self) -> ModuleType:
        try:
            return import_module(self.package)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != self.package:
                raise
            raise UsageError(
                f"The utility {self.utility} needs the package {self.package} (written for {self.version}), "
                f'which is not installed. Install it with: pip install "{self.install}"'
            ) from None

    def _checkpoint(self, model: str) -> Path:
        path = Path(model)
        if path.is_file():
            return path
        if path.is_dir():
            if not (path / _INSIDE).is_file():
                raise UsageError(f"The folder {model} has no {_INSIDE.as_posix()}: name another one.")
            return path / _INSIDE
        try:
            return Path(self._module().download_model(model))
        except Exception as error:  # the packages raise what they like when there is no network
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                one_line(
                    f"The weights {model} are not on this machine and cannot be fetched ({reason}): name a "
                    f"folder or a checkpoint with {self.utility}:model=…"
                )
            ) from None


@lru_cache(maxsize=2)
def _load_checkpoint(module: ModuleType, checkpoint: str) -> Any:
    """Load a checkpoint once, for many sets or batches."""
    return module.load_from_checkpoint(checkpoint)


def is_text(sources: Objects) -> NDArray[np.bool_]:
    """Return which sources are there: not missing, and not blank."""
    return np.array([bool(text) and not text.isspace() for text in sources], bool)


def predict_sources(external: ExternalPackage, model: str, sources: Objects) -> Floats:
    """Return a number for every source, each distinct text predicted once; NaN where there is no text."""
    present = is_text(sources)
    texts = sorted({sources[place] for place in np.flatnonzero(present)})
    predictions = external.predict(model, [{"src": text} for text in texts], "scores")
    values = np.full(len(sources), np.nan)
    if texts:
        values[present] = predictions[np.searchsorted(np.array(texts, object), sources[present])]
    return values


COMET_EARLY_EXIT = ExternalPackage(
    "comet_instant_confidence",
    "comet_early_exit",
    "comet-early-exit @ git+https://github.com/zouharvi/COMET-early-exit#subdirectory=comet_early_exit",
    "comet-early-exit 2.2.4",
)
_CONFIDENCE_MODEL = "zouharvi/COMET-instant-confidence"


@register("comet_instant_confidence")
@dataclass(frozen=True)
class InstantConfidence(Utility):
    """Prefers items where COMET-instant-confidence expects to be far off (or close).

    u_i = ±(1/M) Σ_j e(x_i, y_ij), with e the absolute error that the metric expects of its own score; the
    package calls it a confidence, but the higher it is, the less sure is the metric.

    In the published comparison it helped less than the variance of a metric; high errors did better than low.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A; Zouhar et al. 2025b"
    needs: ClassVar[tuple[str, ...]] = ("sources", "outputs")

    direction: Literal["high", "low"] = parameter("high", "whether expected errors should be high or low")
    model: str | None = parameter(None, "the folder or checkpoint of a model; default: the published one")

    def values(self, data: EvalSet) -> Floats:
        """Return the expected error, averaged over the models that have an output."""
        if data.sources is None or data.outputs is None:
            raise MissingDataError("The method comet_instant_confidence needs sources and outputs.")
        sources = np.repeat(data.sources[:, None], len(data.models), axis=1)
        present = np.array([[bool(cell) for cell in row] for row in data.outputs], bool).reshape(data.shape)
        present &= is_text(data.sources)[:, None]
        pairs = list(zip(sources[present], data.outputs[present], strict=True))
        distinct = sorted(set(pairs))
        samples = [{"src": source, "mt": output} for source, output in distinct]
        confidences = COMET_EARLY_EXIT.predict(self.model or _CONFIDENCE_MODEL, samples, "confidences")
        errors = np.full(data.shape, np.nan)
        number = dict(zip(distinct, confidences.tolist(), strict=True))
        errors[present] = [number[pair] for pair in pairs]
        means = row_means(errors)
        return means if self.direction == "high" else -means


PRECOMET = ExternalPackage(
    "precomet", "precomet", "precomet @ git+https://github.com/zouharvi/PreCOMET", "precomet 2.2.4"
)
_PRECOMET_OWNER = "zouharvi/PreCOMET-"
# Which end of a published model's numbers is worth judging, as its authors use it.
_LOW = frozenset({"avg", "var", "diversity", "disc"})
_PRODUCTS = {"diffdisc": ("diff", "disc")}

PreCometTarget = Literal["avg", "var", "cons", "diversity", "diff", "disc", "diffdisc", "diffdisc_direct"]


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

    target: PreCometTarget = parameter("avg", "which utility; each has a model of its own")  # noqa: RUF009 - a field
    model: str | None = parameter(None, "the folder or checkpoint of a model; default: the published one")
    prefer: Literal["high", "low"] | None = parameter(
        None, "which end of the model's numbers is worth judging; default: by the target"
    )

    def values(self, data: EvalSet) -> Floats:
        """Return what the model says of every source, turned so that higher is better."""
        sources = data.sources
        if sources is None:
            raise MissingDataError(f"The method precomet needs sources, {lacking('sources')}")
        parts = (self.target,) if self.model else _PRODUCTS.get(self.target, (self.target,))
        predictions = [
            predict_sources(PRECOMET, self.model or f"{_PRECOMET_OWNER}{part}", sources) for part in parts
        ]
        is_low = self.prefer == "low" if self.prefer else self.target in _LOW
        return np.asarray(np.prod(predictions, axis=0) * (-1.0 if is_low else 1.0))


SENTINEL = ExternalPackage(
    "sentinel_src",
    "sentinel_metric",
    "sentinel_metric @ git+https://github.com/SapienzaNLP/guardians-mt-eval",
    "sentinel_metric 1.0",
)
_SENTINEL_MODELS = {"da": "sapienzanlp/sentinel-src-da", "mqm": "sapienzanlp/sentinel-src-mqm"}


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
    model: str | None = parameter(None, "the folder or checkpoint of a model; default: the published one")

    def values(self, data: EvalSet) -> Floats:
        """Return minus the expected quality of every source's translations."""
        if data.sources is None:
            raise MissingDataError(f"The method sentinel_src needs sources, {lacking('sources')}")
        return -predict_sources(SENTINEL, self.model or _SENTINEL_MODELS[self.scores], data.sources)
