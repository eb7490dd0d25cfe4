"""Checkpoints of the COMET family: found by name or folder, loaded once, and asked in one call.

The packages here are forks of one program, so they are called in the same way: ``download_model`` fetches a
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import DataError, UsageError, one_line

_INSIDE = Path("checkpoints", "model.ckpt")
_BATCH = 16


@dataclass(frozen=True)
class External:
    """A package of somebody else.

    Attributes:
        utility: The utility that needs it.
        package: Its name in Python.
        install: What pip is told.
        version: The version that this was written for.
    """

    utility: str
    package: str
    install: str
    version: str

    def ask(self, model: str, samples: Sequence[dict[str, str]], column: str) -> Floats:
        """Return a number for every sample; a model is a name on the hub, a folder or a checkpoint."""
        known = _loaded(self._module(), str(self._checkpoint(model)))
        if not samples:
            return np.zeros(0)
        torch = sys.modules.get("torch")
        gpus = int(torch is not None and torch.cuda.is_available())
        told = known.predict(list(samples), batch_size=_BATCH, gpus=gpus, progress_bar=False)
        found = np.asarray(told[column], np.float64)
        if found.shape != (len(samples),):
            raise DataError(
                f"{model} gave {column} of the shape {found.shape} for {len(samples)} samples: it is not for "
                f"{self.utility}."
            )
        return found

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
def _loaded(module: ModuleType, checkpoint: str) -> Any:
    """Load a checkpoint once: it is asked about many sets or batches."""
    return module.load_from_checkpoint(checkpoint)


def is_text(sources: Objects) -> NDArray[np.bool_]:
    """Return which sources are there: not missing, and not blank."""
    return np.array([bool(text) and not text.isspace() for text in sources], bool)


def tell_sources(external: External, model: str, sources: Objects) -> Floats:
    """Return a number for every source, each text asked about once; NaN where there is no text."""
    there = is_text(sources)
    texts = sorted({sources[place] for place in np.flatnonzero(there)})
    told = external.ask(model, [{"src": text} for text in texts], "scores")
    values = np.full(len(sources), np.nan)
    if texts:
        values[there] = told[np.searchsorted(np.array(texts, object), sources[there])]
    return values
