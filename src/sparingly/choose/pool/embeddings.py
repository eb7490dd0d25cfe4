"""Embeddings of a pool's sources: one vector for every text, independent of all other texts.

Vectors are kept as half-precision numbers, which are whole multiples of 2⁻²⁴. So sums of them, and products
of two vectors of length 1 (multiples of 2⁻⁴⁸), are exact in double precision: blocks of any size give
the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.lazy import pl
from sparingly.base.syntax import argument
from sparingly.choose.pool.near_duplicates import Vectors, Words, letter_blocks, ngram_hashes, sketches_of
from sparingly.choose.pool.parts import TABLE, PoolPart, load_array, read_marker, reading_table, write_part
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.workers import Executor, WorkSettings, map_in_order
from sparingly.signals.embed.texts import (
    TFIDF,
    Embedder,
    SentenceModel,
    embed_texts,
    folder_digest,
    unit_rows,
)

HASHED = "hashed"
DIMENSIONS, GRAM = 128, 3
# So many coordinates one n-gram moves: one for each byte of its hash.
_MOVED = 8


@dataclass(frozen=True)
class PoolEmbedding:
    """How texts are embedded: by ``hashed``, the name or folder of a model, or a function of texts.

    Its name in files is ``hashed``, a model's name on the hub, or a folder's name with a digest of its
    content.
    """

    name: str
    model: str | Embedder = HASHED

    @property
    def label(self) -> str:
        """The label of the embedding in file names."""
        return sha256(self.name.encode()).hexdigest()[:10]

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for every text (texts × dimensions)."""
        if self.model == HASHED:
            return unit_rows(hashed_ngrams(texts)).astype(np.float16)
        model = _load_model(self.model) if isinstance(self.model, str) else self.model
        return embed_texts(texts, model, cache=False).astype(np.float16)


def parse_embedding(model: str | Embedder) -> PoolEmbedding:
    """Return the embedding for ``hashed``, a sentence-transformers model, or a function."""
    if not isinstance(model, str):
        custom_name: Any = getattr(model, "name", None)
        return PoolEmbedding(
            custom_name or f"{model.__module__}:{getattr(model, '__qualname__', 'function')}", model
        )
    if model == TFIDF:
        raise UsageError(f"{TFIDF} needs all texts at once, and a pool is read in parts: use {HASHED}.")
    if model == HASHED:
        return PoolEmbedding(f"{HASHED}-{GRAM}-{DIMENSIONS}", HASHED)
    folder = Path(model)
    if folder.is_dir():
        return PoolEmbedding(f"{folder.resolve().name}@{folder_digest(folder)[:12]}", str(folder.resolve()))
    # Raises here, and not on every worker, if the package is missing.
    return PoolEmbedding(SentenceModel(model).name, model)


@lru_cache(maxsize=1)
def _load_model(model: str) -> SentenceModel:
    """Return a model that stays loaded from part to part; it is on the GPU where the machine has one."""
    return SentenceModel(model)


def hashed_ngrams(texts: Sequence[str]) -> Floats:
    """Return sums over the character 3-grams of every text (texts × 128), case and white space made alike.

    Every n-gram moves 8 coordinates up or down by 1, given by its hash: a sparse random projection of the
    counts of all n-grams (Achlioptas 2003; Li, Hastie and Church 2006), so that cosines are those of the
    counts up to about 1/√128. It knows every script and needs no download; texts are near when they are spelt
    alike, whatever they mean.
    """
    blocks = [_projected_counts(block) for block in letter_blocks(texts)]
    return np.concatenate(blocks) if blocks else np.zeros((0, DIMENSIONS))


def _projected_counts(texts: Sequence[str]) -> Floats:
    hashes, starts = ngram_hashes(texts, GRAM)
    counts = np.diff(np.r_[starts, len(hashes)])
    # A byte of the hash is one of the 128 coordinates, and up or down.
    moves = hashes.astype("<u8").view(np.uint8).reshape(-1, _MOVED)
    rows = np.repeat(np.arange(len(texts), dtype=np.int64) * 2 * DIMENSIONS, counts)
    size = 2 * DIMENSIONS * len(texts)
    totals = np.zeros(size, np.int64)
    for move in moves.T:
        totals += np.bincount(rows + move, minlength=size)
    up_and_down = totals.reshape(len(texts), 2, DIMENSIONS)
    return (up_and_down[:, 0] - up_and_down[:, 1]).astype(np.float64)


def vector_files(label: str) -> tuple[str, str]:
    """Return the endings of the files of vectors (sources × dimensions) and sketches (words × sources)."""
    return f"{label}.npy", f"{label}.sketch.npy"


def embed_pool(
    pool: ScoredPool, embedding: PoolEmbedding, executor: Executor, settings: WorkSettings
) -> ScoredPool:
    """Embed the sources of every part that is not embedded yet; return the pool that has the embedding."""
    folder, embedded, parts = pool.folder.resolve(), 0, list(pool.parts)
    for count, (place, part) in enumerate(
        executor.map_unordered(embed_part, pool.parts, folder, embedding, settings.batch), 1
    ):
        parts[place] = part
        embedded += part.tally.good
        settings.report(count, len(parts), f"{embedded:,} sources embedded")
    return replace(pool, parts=tuple(parts), embedding=embedding.name)


def embed_part(part: PoolPart, folder: Path, embedding: PoolEmbedding, batch: int) -> PoolPart:
    """Embed the sources of a part, unless that is done: a marker with the checksums is written last."""
    marker = f"{part.name}.{embedding.label}.json"
    previous, endings = read_marker(folder / marker), vector_files(embedding.label)
    if previous is not None and previous.name == part.name and not previous.problem(folder, endings):
        return replace(part, checksums={**part.checksums, **previous.checksums})
    table = part.path(folder, TABLE)
    with reading_table(table):
        texts = pl.read_parquet(table, columns=["source"], glob=False).to_series().to_list()
    # A text is embedded alike whatever batch it is in, so their size is one of memory only.
    blocks = [embedding.vectors(texts[start : start + batch]) for start in range(0, len(texts), batch)]
    vectors = np.concatenate(blocks) if blocks else np.zeros((0, 1), np.float16)
    content = {ending: BytesIO() for ending in endings}
    np.save(content[endings[0]], vectors)
    np.save(content[endings[1]], sketches_of(vectors))
    return write_part(part, folder, content, marker)


def label_of(pool: ScoredPool) -> str:
    """Return the label of a pool's embedding; raise UsageError if it has none."""
    if pool.embedding is None:
        raise UsageError(
            f"The pool has no embeddings. Score it with {argument('embed', 'hashed')}, or a model's name."
        )
    return PoolEmbedding(pool.embedding).label


def vectors_at(pool: ScoredPool, places: Ints) -> Vectors:
    """Return the vectors of some sources by their places among all of them, in the given order."""
    label = label_of(pool)
    if not len(places):
        return np.zeros((0, 1), np.float16)
    ends = np.cumsum([part.tally.good for part in pool.parts])
    owner = np.searchsorted(ends, places, side="right")
    order = np.argsort(owner, kind="stable")
    used_parts, starts = np.unique(owner[order], return_index=True)
    width = _vectors(pool.folder, pool.parts[used_parts[0]], label).shape[1]
    vectors = np.zeros((len(places), width), np.float16)
    for place, rows in zip(used_parts.tolist(), np.split(order, starts[1:]), strict=True):
        part_vectors = _vectors(pool.folder, pool.parts[place], label)
        vectors[rows] = part_vectors[places[rows] - (ends[place] - len(part_vectors))]
    return vectors


def _vectors(folder: Path, part: PoolPart, label: str) -> Vectors:
    return load_array(part.path(folder, vector_files(label)[0]), (part.tally.good, None))


def sketches_at(pool: ScoredPool, places: Ints) -> Words:
    """Return the sketches of some sources, words × sources."""
    ending = vector_files(label_of(pool))[1]
    sketches = [load_array(part.path(pool.folder, ending), (None, part.tally.good)) for part in pool.parts]
    return np.ascontiguousarray(np.concatenate(sketches, axis=1)[:, places])


def over_vectors(pool: ScoredPool, function: Callable[..., NDArray[Any]], *shared: Any) -> NDArray[Any]:
    """Return ``function(vectors, *shared)`` over all parts, one array of all sources."""
    pieces = [(pool.folder.resolve(), part, label_of(pool)) for part in pool.parts]
    return np.concatenate(map_in_order(pool.executor, _applied, pieces, function, *shared))


def _applied(
    piece: tuple[Path, PoolPart, str], function: Callable[..., NDArray[Any]], *shared: Any
) -> NDArray[Any]:
    return function(_vectors(*piece), *shared)
