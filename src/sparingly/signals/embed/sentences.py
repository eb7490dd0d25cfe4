"""Sentence-transformers models as embedders: any name on the hub, or a local folder (extra ``embed``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import ExtraMissingError, UsageError, one_line

EXTRA = "embed"
_HUB_OWNERS = ("", "sentence-transformers/")
_SETTINGS = "modules.json"
_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class SentenceModel:
    """A sentence-transformers model, loaded when the first text is embedded."""

    name: str
    batch: int = 64

    def __post_init__(self) -> None:
        _package("sentence_transformers", self.name)

    @property
    def digest(self) -> str | None:
        """What tells this model from any other: a folder's content, or its revision on the hub.

        None while a model of the hub is not on this machine; loading it brings it here.
        """
        folder = Path(self.name)
        if folder.is_dir():
            return folder_digest(folder)
        revision = _hub_revision(self.name)
        return None if revision is None else _digest_of(f"{self.name}@{revision}")

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector per text."""
        vectors = self._model.encode(
            list(texts), batch_size=self.batch, show_progress_bar=False, convert_to_numpy=True
        )
        return np.asarray(vectors, np.float32)

    @cached_property
    def _model(self) -> Any:
        package = _package("sentence_transformers", self.name)
        try:
            return package.SentenceTransformer(self.name)
        except (OSError, ValueError, KeyError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise UsageError(
                one_line(
                    f'The embedding "{self.name}" cannot be loaded: it is no folder with a '
                    f"sentence-transformers model, and none can be fetched by that name ({reason})."
                )
            ) from None


def folder_digest(folder: Path) -> str:
    """Return the digest of the files of a folder: their names and their content."""
    total = blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"\x1f{path.relative_to(folder).as_posix()}\x1f{path.stat().st_size}\x1f".encode())
        with path.open("rb") as file:
            while part := file.read(_READ_BYTES):
                total.update(part)
    return total.hexdigest()


def _hub_revision(name: str) -> str | None:
    """Return the revision of a hub model that lies in the hub's own cache on this machine."""
    hub = _package("huggingface_hub", name)
    for owner in _HUB_OWNERS:
        if "/" in name and owner:
            continue
        found = hub.try_to_load_from_cache(f"{owner}{name}", _SETTINGS)
        if isinstance(found, str):
            return Path(found).parent.name
    return None


def _digest_of(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _package(package: str, model: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ExtraMissingError(f'The embedding "{model}"', EXTRA) from None
