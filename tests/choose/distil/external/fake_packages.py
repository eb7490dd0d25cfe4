"""Packages that are called as those of the COMET family are, and score by counting letters."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from types import ModuleType
from typing import Any

NAMES = ("precomet", "sentinel_metric", "comet_early_exit")


class Prediction(dict[str, Any]):
    """What ``predict`` returns: its parts by key, and as attributes."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Counting:
    """A model: the length of the source, and of the output where there is one."""

    def __init__(self, checkpoint: str, asked: list[Any]) -> None:
        self.checkpoint, self.asked = checkpoint, asked

    def predict(
        self, samples: list[dict[str, str]], batch_size: int = 16, gpus: int = 1, progress_bar: bool = True
    ) -> Prediction:
        self.asked.append((self.checkpoint, samples, gpus, progress_bar))
        scores = [float(len(sample["src"])) for sample in samples]
        found = Prediction(scores=scores, system_score=sum(scores) / len(scores))
        if "mt" in samples[0]:
            found["confidences"] = [float(len(sample["mt"])) for sample in samples]
        return found


def fake_package(name: str) -> ModuleType:
    """Return a package whose weights are all on the hub, except those that have ``missing`` in their name."""
    package = ModuleType(name)
    package.asked = []  # type: ignore[attr-defined]

    def download_model(
        model: str, saving_directory: str | None = None, local_files_only: bool = False
    ) -> str:
        if "missing" in model:
            raise KeyError(f"Model '{model}' not supported by COMET.")
        return f"hub/{model}/checkpoints/model.ckpt"

    def load_from_checkpoint(
        checkpoint_path: str, reload_hparams: bool = False, strict: bool = False
    ) -> Counting:
        return Counting(checkpoint_path, package.asked)

    package.download_model = download_model  # type: ignore[attr-defined]
    package.load_from_checkpoint = load_from_checkpoint  # type: ignore[attr-defined]
    return package


def install(modules: MutableMapping[str, Any] = sys.modules) -> dict[str, Any]:
    """Put a fake of each package where imports look first, and return them by name."""
    found = {name: fake_package(name) for name in NAMES}
    modules.update(found)
    return found
