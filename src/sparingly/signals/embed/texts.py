"""``embed_texts``: the one door from texts to vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UnknownNameError, UsageError, nearest
from sparingly.signals.embed import tfidf
from sparingly.signals.embed.cache import Keys, VectorCache, Vectors, text_keys
from sparingly.signals.embed.sentences import SentenceModel

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
        cache: Whether vectors are kept on disk (see ``sparingly.signals.embed.cache``).

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

    keys: Keys

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
