"""``embed_texts``: from texts to vectors, by character n-grams, a sentence-transformers model or a function.

Vectors are cached on disk by the digest of the model and that of every text, in the folder
``$SPARINGLY_CACHE`` or ``sparingly`` among the user's caches; ``SPARINGLY_CACHE=off`` turns the cache off.
"""

from __future__ import annotations

import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import (
    DataError,
    InputError,
    UnknownNameError,
    UsageError,
    import_extra,
    nearest,
    one_line,
)
from sparingly.base.progress import report_progress
from sparingly.data.files import write_atomically
from sparingly.signals.embed import tfidf

EXTRA = "embed"
_HUB_OWNERS = ("", "sentence-transformers/")
_SETTINGS = "modules.json"
_READ_BYTES = 1 << 20
VARIABLE, OFF = "SPARINGLY_CACHE", "off"
KEY_BYTES = 16

TextKeys = NDArray[np.void]
Vectors = NDArray[np.floating[Any]]
Embedder = Callable[[Sequence[str]], ArrayLike]

TFIDF = "tfidf"
# Fitting fewer texts takes no longer than reading their vectors from a file.
_FEWEST_CACHED = 1000
_BATCHES_PER_FILE = 16


def embed_texts(
    texts: Sequence[str | None], model: str | Embedder = TFIDF, *, batch: int = 64, cache: bool = True
) -> Floats:
    """Return a vector of length 1 for every text (texts × dimensions); near texts have near vectors.

    An empty text (or None) has the vector 0, whatever the model. Equal texts are embedded once, and the order
    of the texts changes nothing. Use it to compare outputs, or to spread a choice over sources.

    Args:
        texts: The texts.
        model: ``tfidf`` (character 2- to 4-grams of these very texts: no download, every language; vectors of
            different calls cannot be compared), the name or folder of a sentence-transformers model, or a
            function from a list of texts to an array with a row for each. A function that has a ``digest``
            (a text that changes when its answers do) is cached as models are.
        batch: How many texts a model gets at a time.
        cache: Whether vectors are cached on disk.

    Examples:
        >>> vectors = embed_texts(["the cat sat", "the cat sits", "Bonjour"])
        >>> vectors.shape
        (3, 3)
        >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
        True
    """
    if batch < 1:
        raise UsageError(f"A batch holds at least 1 text, not {batch}.")
    for text in texts:
        if text is not None and not isinstance(text, str):
            raise DataError(f"Only texts can be embedded, not {text!r}.")
    distinct = sorted({text for text in texts if text and not text.isspace()})
    if model == TFIDF:
        vectors = _fit_tfidf(distinct, cache)
    elif callable(model):
        vectors = _encode(distinct, model, batch, cache)
    elif not isinstance(model, str) or not model:
        raise UsageError(f"An embedding is a name, a folder or a function, not {model!r}.")
    elif "/" not in model and nearest(model, [TFIDF]):
        raise UnknownNameError("embedding", model, [TFIDF])
    else:
        vectors = _encode(distinct, SentenceModel(model, batch), batch, cache)
    places = {text: place for place, text in enumerate(distinct)}
    rows = np.fromiter((places.get(text or "", len(distinct)) for text in texts), np.int64, len(texts))
    return np.vstack([unit_rows(vectors), np.zeros(vectors.shape[1])])[rows]


def unit_rows(vectors: Floats) -> Floats:
    """Return vectors of length 1 in the same directions; a vector of 0 stays 0."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, norms, out=np.zeros(vectors.shape), where=norms > 0))


def _fit_tfidf(distinct: list[str], cache: bool) -> Floats:
    """Return TF-IDF vectors, cached on disk if fitting them takes long."""
    if len(distinct) < _FEWEST_CACHED:
        return tfidf.tfidf_vectors(distinct)
    keys = text_keys(distinct)
    # A fit depends on all of its texts.
    start = f"{tfidf.VERSION}\x1f{tfidf.DIMENSIONS}\x1f".encode()
    digest = blake2b(start + keys.tobytes(), digest_size=16).hexdigest()
    vector_cache = VectorCache.of_model(SimpleNamespace(digest=digest), cache)
    cached = vector_cache.find(keys) if vector_cache else {}
    if len(cached) == len(distinct):
        return _in_order(cached)
    vectors = tfidf.tfidf_vectors(distinct)
    if vector_cache:
        vector_cache.add(keys, vectors)
    return vectors


def _encode(distinct: list[str], model: Embedder, batch: int, cache: bool) -> Floats:
    """Embed the texts that are not cached, shortest first; cache every few batches."""
    keys = text_keys(distinct)
    vector_cache = VectorCache.of_model(model, cache)
    vectors_at = vector_cache.find(keys) if vector_cache else {}
    missing = sorted(set(range(len(distinct))) - set(vectors_at), key=lambda place: len(distinct[place]))
    for start in range(0, len(missing), batch * _BATCHES_PER_FILE):
        part = missing[start : start + batch * _BATCHES_PER_FILE]
        rows: list[Any] = []
        for vectors in _batches([distinct[place] for place in part], model, batch):
            report_progress(start + len(rows), len(missing))
            rows += list(vectors)
        vectors_at |= dict(zip(part, rows, strict=True))
        if len({len(row) for row in (*rows, next(iter(vectors_at.values())))}) > 1:
            raise DataError("The embedding gives some texts longer vectors than others.")
        # A model that was fetched just now has its digest only now.
        vector_cache = vector_cache or VectorCache.of_model(model, cache)
        if vector_cache:
            vector_cache.add(keys[part], np.stack(rows))
    return _in_order(vectors_at) if vectors_at else np.zeros((0, 1))


def _in_order(vectors_at: dict[int, Vectors]) -> Floats:
    return np.stack([vectors_at[place] for place in range(len(vectors_at))]).astype(np.float64)


def _batches(texts: list[str], model: Embedder, batch: int) -> Iterator[NDArray[Any]]:
    for start in range(0, len(texts), batch):
        part = texts[start : start + batch]
        vectors = np.asarray(model(part))
        if vectors.ndim != 2 or len(vectors) != len(part) or vectors.dtype.kind not in "fiu":
            raise DataError(
                f"The embedding of {len(part)} texts is an array of the shape {vectors.shape}, "
                "not a row of numbers for each."
            )
        if not np.isfinite(vectors).all():
            first = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise DataError(f'The embedding of "{part[first][:40]}" is not finite.')
        yield vectors


@dataclass(frozen=True)
class SentenceModel:
    """A sentence-transformers model, loaded when the first text is embedded."""

    name: str
    batch: int = 64

    def __post_init__(self) -> None:
        _package("sentence_transformers", self.name)

    @property
    def digest(self) -> str | None:
        """A digest of the model: a folder's content, or its revision on the hub.

        None until a model of the hub has been downloaded to this machine.
        """
        folder = Path(self.name)
        if folder.is_dir():
            return folder_digest(folder)
        hub = _package("huggingface_hub", self.name)
        for owner in ("",) if "/" in self.name else _HUB_OWNERS:
            path = hub.try_to_load_from_cache(f"{owner}{self.name}", _SETTINGS)
            if isinstance(path, str):
                text = f"{self.name}@{Path(path).parent.name}"
                return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return None

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
            sentence = (
                f'The embedding "{self.name}" cannot be loaded: it is not a folder with a '
                f"sentence-transformers model, and none can be fetched by that name ({reason})."
            )
            raise UsageError(one_line(sentence)) from None


def folder_digest(folder: Path) -> str:
    """Return the digest of the files of a folder: their names and their content."""
    total = blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        total.update(f"\x1f{path.relative_to(folder).as_posix()}\x1f{path.stat().st_size}\x1f".encode())
        with path.open("rb") as file:
            while part := file.read(_READ_BYTES):
                total.update(part)
    return total.hexdigest()


def _package(package: str, model: str) -> Any:
    return import_extra(package, f'The embedding "{model}"', EXTRA)


def cache_folder() -> Path | None:
    """Return the folder of the cache, or None when the cache is off."""
    setting = os.environ.get(VARIABLE)
    if setting is not None:
        return None if setting.strip().lower() in ("", OFF) else Path(setting).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "sparingly" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "sparingly"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparingly"


def text_keys(texts: Sequence[str]) -> TextKeys:
    """Return the digest of every text."""
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES) for text in texts)
    key_bytes = b"".join(digest.digest() for digest in digests)
    return np.frombuffer(key_bytes, np.dtype((np.void, KEY_BYTES)))


@dataclass(frozen=True)
class VectorCache:
    """The vectors of one model, in files of a folder.

    Every few batches add one file with the digests of their texts and the vectors. Files are written whole or
    not at all and never changed, so a run can be interrupted, repeated, or go on beside another one.
    """

    folder: Path

    @classmethod
    def of_model(cls, model: object, enabled: bool = True) -> VectorCache | None:
        """Return the cache of a model with a ``digest``; None without one, or when the cache is off."""
        root = cache_folder() if enabled else None
        # A digest may mean reading gigabytes, so it is computed last.
        digest = None if root is None else getattr(model, "digest", None)
        return None if root is None or digest is None else cls(root / "embeddings" / digest)

    def find(self, keys: TextKeys) -> dict[int, Vectors]:
        """Return the vectors that are cached, by the position of their key."""
        vectors: dict[int, Vectors] = {}
        places_of = {key.tobytes(): place for place, key in enumerate(keys)}
        for path in sorted(self.folder.glob("*.npz")) if self.folder.is_dir() else ():
            if len(vectors) == len(places_of):
                break
            try:
                with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                    file_keys = file["keys"].reshape(-1, KEY_BYTES)
                    rows = [(row, places_of.get(key.tobytes())) for row, key in enumerate(file_keys)]
                    if any(place is not None for _, place in rows):
                        file_vectors = file["vectors"]
                        vectors |= {place: file_vectors[row] for row, place in rows if place is not None}
            except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile):
                # A file that cannot be read holds nothing; its texts are embedded again.
                continue
        return vectors

    def add(self, keys: TextKeys, vectors: Vectors) -> None:
        """Write vectors; warn if the folder cannot be written to."""
        key_bytes = keys.tobytes()
        name = blake2b(key_bytes, digest_size=KEY_BYTES).hexdigest()

        def write(file: IO[bytes]) -> None:
            np.savez(file, keys=np.frombuffer(key_bytes, np.uint8), vectors=vectors)

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / f"{name}.npz", write)
        except (OSError, InputError) as error:
            warnings.warn(
                f"Embeddings are not cached, because {self.folder} cannot be written to ({error}). "
                f"Set {VARIABLE} to another folder, or to {OFF}.",
                RuntimeWarning,
                stacklevel=2,
            )
