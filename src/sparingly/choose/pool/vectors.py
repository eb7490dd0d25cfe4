"""The vectors of a scored pool: beside every part a file of embeddings and one of their sketches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError, UsageError
from sparingly.choose.pool.crew import Crew, in_order
from sparingly.choose.pool.embeddings import Embedding
from sparingly.choose.pool.parts import Part, table_of
from sparingly.choose.pool.scored import ScoredPool
from sparingly.choose.pool.sketches import Vectors, Words, sketches_of
from sparingly.choose.pool.work import Work
from sparingly.data import files

Rows = NDArray[np.int64]


def vectors_file(folder: Path, part: str, label: str) -> Path:
    """Return the file of a part's vectors, sources × dimensions."""
    return folder / f"{part}.{label}.npy"


def sketches_file(folder: Path, part: str, label: str) -> Path:
    """Return the file of a part's sketches, words × sources."""
    return folder / f"{part}.{label}.sketch.npy"


def embed_pool(pool: ScoredPool, embedding: Embedding, crew: Crew, how: Work) -> ScoredPool:
    """Embed the sources of every part that is not embedded yet; return the pool that has the embedding."""
    folder, done = pool.folder.resolve(), 0
    for count, (place, _) in enumerate(crew.each(embed_part, pool.parts, folder, embedding, how.batch), 1):
        done += pool.parts[place].tally.good
        how.tell(count, len(pool.parts), f"{done:,} sources embedded")
    return replace(pool, embedding=embedding.name)


def embed_part(part: Part, folder: Path, embedding: Embedding, batch: int) -> None:
    """Embed the sources of a part, unless that is done: the vectors are written last."""
    import polars as pl

    target = vectors_file(folder, part.name, embedding.label)
    if target.exists():
        return
    texts = pl.read_parquet(table_of(folder, part.name), columns=["source"], glob=False).to_series().to_list()
    # A text is embedded alike whatever batch it is in, so their size is one of memory only.
    blocks = [embedding.vectors(texts[start : start + batch]) for start in range(0, len(texts), batch)]
    vectors = np.concatenate(blocks) if blocks else np.zeros((0, 1), np.float16)
    _put(sketches_file(folder, part.name, embedding.label), sketches_of(vectors))
    _put(target, vectors)


def _put(path: Path, values: NDArray[Any]) -> None:
    def write(file: IO[bytes]) -> None:
        np.save(file, values)

    files.write_atomically(path, write)


def label_of(pool: ScoredPool) -> str:
    """Return the label of a pool's embedding; complain where it has none."""
    if pool.embedding is None:
        raise UsageError("The pool has no embeddings. Score it with: --embed hashed, or a model's name.")
    return Embedding(pool.embedding).label


def vectors_at(pool: ScoredPool, places: Rows) -> Vectors:
    """Return the vectors of some sources by their places among all of them, in the order asked for."""
    label = label_of(pool)
    if not len(places):
        return np.zeros((0, 1), np.float16)
    ends = np.cumsum([part.tally.good for part in pool.parts])
    owner = np.searchsorted(ends, places, side="right")
    order = np.argsort(owner, kind="stable")
    used, starts = np.unique(owner[order], return_index=True)
    width = _vectors(pool.folder, pool.parts[used[0]], label).shape[1]
    found = np.zeros((len(places), width), np.float16)
    for place, rows in zip(used.tolist(), np.split(order, starts[1:]), strict=True):
        vectors = _vectors(pool.folder, pool.parts[place], label)
        found[rows] = vectors[places[rows] - (ends[place] - len(vectors))]
    return found


def _vectors(folder: Path, part: Part, label: str) -> Vectors:
    return _loaded(vectors_file(folder, part.name, label), mmap_mode="r")


def _loaded(path: Path, mmap_mode: Literal["r"] | None = None) -> NDArray[Any]:
    try:
        held: NDArray[Any] = np.load(path, mmap_mode=mmap_mode)
    except FileNotFoundError:
        raise InputError(
            "the embeddings of a part are gone", file=path, fix="Score again with --embed"
        ) from None
    return held


def sketches_at(pool: ScoredPool, places: Rows) -> Words:
    """Return the sketches of some sources, words × sources."""
    label = label_of(pool)
    held = [_loaded(sketches_file(pool.folder, part.name, label)) for part in pool.parts]
    return np.ascontiguousarray(np.concatenate(held, axis=1)[:, places])


def over_vectors(pool: ScoredPool, function: Callable[..., NDArray[Any]], *shared: Any) -> NDArray[Any]:
    """Return ``function(vectors, *shared)`` over all parts, one array of all sources."""
    pieces = [(pool.folder.resolve(), part, label_of(pool)) for part in pool.parts]
    return np.concatenate(in_order(pool.crew, _applied, pieces, function, *shared))


def _applied(
    piece: tuple[Path, Part, str], function: Callable[..., NDArray[Any]], *shared: Any
) -> NDArray[Any]:
    return function(_vectors(*piece), *shared)
