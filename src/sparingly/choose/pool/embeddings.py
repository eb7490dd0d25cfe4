"""Embeddings of a pool's sources: one vector for every text, that no other text has a part in.

Vectors are kept as half-precision numbers, which are whole multiples of 2⁻²⁴. So sums of them, and products
of two vectors of length 1 (multiples of 2⁻⁴⁸), are exact in double precision: whoever computes them, in
blocks of whatever size, gets the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.choose.pool.shingles import shingles
from sparingly.signals.embed.texts import TFIDF, SentenceModel, embed_texts, folder_digest, unit_rows

Vectors = NDArray[np.float16]
Embedder = Callable[[Sequence[str]], ArrayLike]

HASHED = "hashed"
DIMENSIONS, GRAM = 128, 3
# So many coordinates one n-gram moves: one for each byte of its hash.
_MOVED = 8
# So many letters at once stay in the processor's cache.
_LETTERS = 2**17


@dataclass(frozen=True)
class Embedding:
    """How texts become vectors.

    Attributes:
        name: What tells it from others, and is written down: ``hashed``, a model's name on the hub, or a
            folder's name with a digest of what is in it.
        model: ``hashed``, the name or folder of a model, or a function of texts.
    """

    name: str
    model: str | Embedder = HASHED

    @property
    def label(self) -> str:
        """The part of a file's name that tells the embedding."""
        return sha256(self.name.encode()).hexdigest()[:10]

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for every text (texts × dimensions)."""
        if self.model == HASHED:
            return unit_rows(hashed_ngrams(texts)).astype(np.float16)
        model = _loaded(self.model) if isinstance(self.model, str) else self.model
        return embed_texts(texts, model, cache=False).astype(np.float16)


def embedding_of(model: str | Embedder) -> Embedding:
    """Return an embedding by what was asked for: ``hashed``, a sentence-transformers model, or a function."""
    if not isinstance(model, str):
        named: Any = getattr(model, "name", None)
        return Embedding(named or f"{model.__module__}:{getattr(model, '__qualname__', 'function')}", model)
    if model == TFIDF:
        raise UsageError(f"{TFIDF} is fitted to all texts at once, which a pool has not: use {HASHED}.")
    if model == HASHED:
        return Embedding(f"{HASHED}-{GRAM}-{DIMENSIONS}", HASHED)
    folder = Path(model)
    if folder.is_dir():
        return Embedding(f"{folder.resolve().name}@{folder_digest(folder)[:12]}", str(folder.resolve()))
    # Says at once, and not on every worker, that the package is missing.
    return Embedding(SentenceModel(model).name, model)


@lru_cache(maxsize=1)
def _loaded(model: str) -> SentenceModel:
    """Return a model that stays loaded from part to part; it is on the GPU where the machine has one."""
    return SentenceModel(model)


def hashed_ngrams(texts: Sequence[str]) -> Floats:
    """Return sums over the character 3-grams of every text (texts × 128), case and white space made alike.

    Every n-gram moves 8 coordinates up or down by 1, given by its hash: a sparse random projection of the
    counts of all n-grams (Achlioptas 2003; Li, Hastie and Church 2006), so that cosines are those of the
    counts up to about 1/√128. It knows every script and needs no download; texts are near when they are spelt
    alike, whatever they mean.
    """
    reach = np.cumsum([len(text) for text in texts], dtype=np.int64) // _LETTERS
    starts = np.flatnonzero(np.diff(reach, prepend=-1)).tolist()
    blocks = [_sums(texts[start:stop]) for start, stop in pairwise([*starts, len(texts)])]
    return np.concatenate(blocks) if blocks else np.zeros((0, DIMENSIONS))


def _sums(texts: Sequence[str]) -> Floats:
    grams = shingles(texts, GRAM)
    counts = np.diff(np.r_[grams.starts, len(grams.hashes)])
    # A byte of the hash is one of the 128 coordinates, and up or down.
    moves = grams.hashes.astype("<u8").view(np.uint8).reshape(-1, _MOVED)
    rows = np.repeat(np.arange(len(texts), dtype=np.int64) * 2 * DIMENSIONS, counts)
    size = 2 * DIMENSIONS * len(texts)
    found = np.zeros(size, np.int64)
    for move in moves.T:
        found += np.bincount(rows + move, minlength=size)
    up_and_down = found.reshape(len(texts), 2, DIMENSIONS)
    return (up_and_down[:, 0] - up_and_down[:, 1]).astype(np.float64)
