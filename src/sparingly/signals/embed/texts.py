"""``embed_texts``: the one door from texts to vectors."""

from __future__ import annotations

import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import (
    DataError,
    ExtraMissingError,
    InputError,
    UnknownNameError,
    UsageError,
    nearest,
    one_line,
)
from sparingly.data.files import write_atomically
from sparingly.signals.embed import tfidf

# --- Sentence-transformers models as embedders: any name on the hub, or a local folder (extra ``embed``)


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


# --- Vectors kept on disk: by the digest of the model and the digest of every text
# A model has a folder; every batch adds one file with the digests of its texts and their vectors. Files are
# written whole or not at all and never changed, so a run can be interrupted, repeated, or go on beside
# another one. The folder is ``$SPARINGLY_CACHE``, or ``sparingly`` among the caches of the user; with
# ``SPARINGLY_CACHE=off`` nothing is kept.


VARIABLE, OFF = "SPARINGLY_CACHE", "off"
KEY_BYTES = 16

TextKeys = NDArray[np.void]
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


def text_keys(texts: Sequence[str]) -> TextKeys:
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

    def find(self, keys: TextKeys) -> dict[int, Vectors]:
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

    def add(self, keys: TextKeys, vectors: Vectors) -> None:
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


# --- ``embed_texts``: the one door from texts to vectors


Embedder = Callable[[Sequence[str]], ArrayLike]

TFIDF = "tfidf"
# Fitting fewer texts takes no longer than reading their vectors from a file.
_FEWEST_KEPT = 1000
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
        cache: Whether vectors are kept on disk (see ``sparingly.signals.embed.texts``).

    Examples:
        >>> vectors = embed_texts(["the cat sat", "the cat sits", "Bonjour"])
        >>> vectors.shape
        (3, 3)
        >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
        True
    """
    if batch < 1:
        raise UsageError(f"A batch holds at least 1 text, not {batch}.")
    distinct = sorted({text for text in map(_checked, texts) if text and not text.isspace()})
    if model == TFIDF:
        vectors = _fitted(distinct, cache)
    else:
        vectors = _encoded(distinct, _embedder(model, batch), batch, cache)
    places = {text: place for place, text in enumerate(distinct)}
    rows = np.fromiter((places.get(text or "", len(distinct)) for text in texts), np.int64, len(texts))
    return np.vstack([unit_rows(vectors), np.zeros(vectors.shape[1])])[rows]


def unit_rows(vectors: Floats) -> Floats:
    """Return vectors of length 1 in the same directions; a vector of 0 stays 0."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, norms, out=np.zeros(vectors.shape), where=norms > 0))


def _checked(text: object) -> str | None:
    if text is None or isinstance(text, str):
        return text
    raise DataError(f"Only texts can be embedded, not {text!r}.")


def _embedder(model: str | Embedder, batch: int) -> Embedder:
    if callable(model):
        return model
    if not isinstance(model, str) or not model:
        raise UsageError(f"An embedding is a name, a folder or a function, not {model!r}.")
    if "/" not in model and nearest(model, [TFIDF]):
        raise UnknownNameError("embedding", model, [TFIDF])
    return SentenceModel(model, batch)


class _Fit(NamedTuple):
    """A fit to some texts: as a model it is told from others by all of them."""

    keys: TextKeys

    @property
    def digest(self) -> str:
        start = f"{tfidf.VERSION}\x1f{tfidf.DIMENSIONS}\x1f".encode()
        return blake2b(start + self.keys.tobytes(), digest_size=16).hexdigest()


def _fitted(distinct: list[str], cache: bool) -> Floats:
    """Return TF-IDF vectors, kept on disk where fitting them takes long."""
    if len(distinct) < _FEWEST_KEPT:
        return tfidf.tfidf_vectors(distinct)
    keys = text_keys(distinct)
    kept = VectorCache.of_model(_Fit(keys), cache)
    found = kept.find(keys) if kept else {}
    if len(found) == len(distinct):
        return _in_order(found)
    vectors = tfidf.tfidf_vectors(distinct)
    if kept:
        kept.add(keys, vectors)
    return vectors


def _encoded(distinct: list[str], model: Embedder, batch: int, cache: bool) -> Floats:
    """Embed the texts that are not known yet, shortest first, keeping every few batches."""
    keys = text_keys(distinct)
    kept = VectorCache.of_model(model, cache)
    found = kept.find(keys) if kept else {}
    missing = sorted(set(range(len(distinct))) - set(found), key=lambda place: len(distinct[place]))
    with _progress(len(missing)) as advance:
        for start in range(0, len(missing), batch * _BATCHES_PER_FILE):
            part = missing[start : start + batch * _BATCHES_PER_FILE]
            batches = _batches([distinct[place] for place in part], model, batch, advance)
            rows = [row for vectors in batches for row in vectors]
            found |= dict(zip(part, rows, strict=True))
            if len({len(row) for row in (*rows, next(iter(found.values())))}) > 1:
                raise DataError("The embedding gives some texts longer vectors than others.")
            # A model that was fetched just now has its digest only now.
            kept = kept or VectorCache.of_model(model, cache)
            if kept:
                kept.add(keys[part], np.stack(rows))
    return _in_order(found) if found else np.zeros((0, 1))


def _in_order(found: dict[int, Vectors]) -> Floats:
    return np.stack([found[place] for place in range(len(found))]).astype(np.float64)


def _batches(
    texts: list[str], model: Embedder, batch: int, advance: Callable[[int], None]
) -> Iterator[NDArray[Any]]:
    for start in range(0, len(texts), batch):
        part = texts[start : start + batch]
        vectors = np.asarray(model(part))
        if vectors.ndim != 2 or len(vectors) != len(part) or vectors.dtype.kind not in "fiu":
            raise DataError(
                f"The embedding of {len(part)} texts is an array of the shape {vectors.shape}, "
                "not a row of numbers for each."
            )
        if not np.isfinite(vectors).all():
            raise DataError(f'The embedding of "{_first_odd(part, vectors)}" is not finite.')
        advance(len(part))
        yield vectors


def _first_odd(texts: list[str], vectors: NDArray[Any]) -> str:
    return texts[int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])][:40]


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many texts are embedded, and be silent elsewhere."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not (total and console.is_terminal)) as bar:
        task = bar.add_task("embedding texts", total=total)
        yield lambda count: bar.advance(task, count)
