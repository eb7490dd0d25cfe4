"""Vectors kept on disk: by the digest of the model and the digest of every text.

A model has a folder; every batch adds one file with the digests of its texts and their vectors. Files are
written whole or not at all and never changed, so a run can be interrupted, repeated, or go on beside another
one. The folder is ``$SPARINGLY_CACHE``, or ``sparingly`` among the caches of the user; with
``SPARINGLY_CACHE=off`` nothing is kept.
"""

from __future__ import annotations

import os
import sys
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.data.files import write_atomically

VARIABLE, OFF = "SPARINGLY_CACHE", "off"
KEY_BYTES = 16

Keys = NDArray[np.void]
Vectors = NDArray[np.floating[Any]]


def cache_folder() -> Path | None:
    """Return the folder in which results are kept, or None when that is switched off."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.strip().lower() in ("", OFF) else Path(named).expanduser()
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "sparingly" / "cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sparingly"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparingly"


def text_keys(texts: Sequence[str]) -> Keys:
    """Return the digest of every text."""
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES) for text in texts)
    joined = b"".join(digest.digest() for digest in digests)
    return np.frombuffer(joined, np.dtype((np.void, KEY_BYTES)))


@dataclass(frozen=True)
class VectorCache:
    """The vectors of one model, in files of a folder."""

    folder: Path

    @classmethod
    def of_model(cls, model: object, wanted: bool = True) -> VectorCache | None:
        """Return the cache of what has a ``digest``; none when it has none or when nothing is to be kept."""
        root = cache_folder() if wanted else None
        # A digest may cost reading gigabytes, so it is asked for last.
        digest = None if root is None else getattr(model, "digest", None)
        return None if root is None or digest is None else cls(root / "embeddings" / digest)

    def find(self, keys: Keys) -> dict[int, Vectors]:
        """Return the vectors that are known, by the position of their key."""
        found: dict[int, Vectors] = {}
        wanted = {key.tobytes(): place for place, key in enumerate(keys)}
        for path in sorted(self.folder.glob("*.npz")) if self.folder.is_dir() else ():
            if len(found) == len(wanted):
                break
            found |= self._find_in(path, wanted)
        return found

    @staticmethod
    def _find_in(path: Path, wanted: dict[bytes, int]) -> dict[int, Vectors]:
        try:
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                joined = file["keys"].tobytes()
                known = [joined[start : start + KEY_BYTES] for start in range(0, len(joined), KEY_BYTES)]
                places = [(row, wanted[key]) for row, key in enumerate(known) if key in wanted]
                vectors = file["vectors"] if places else None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            # A file that cannot be read holds nothing; its texts are embedded again.
            return {}
        return {} if vectors is None else {place: vectors[row] for row, place in places}

    def add(self, keys: Keys, vectors: Vectors) -> None:
        """Keep vectors; where nothing can be written, say so and go on."""
        joined = keys.tobytes()
        name = blake2b(joined, digest_size=KEY_BYTES).hexdigest()

        def put(file: IO[bytes]) -> None:
            np.savez(file, keys=np.frombuffer(joined, np.uint8), vectors=vectors)

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / f"{name}.npz", put)
        except (OSError, InputError) as error:
            warnings.warn(
                f"Embeddings are not kept, because {self.folder} cannot be written to ({error}). "
                f"Set {VARIABLE} to another folder, or to {OFF}.",
                RuntimeWarning,
                stacklevel=2,
            )
