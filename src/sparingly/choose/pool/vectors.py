"""The vectors of a scored pool: beside every part a file of embeddings and one of their sketches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints
from sparingly.base.errors import UsageError
from sparingly.choose.pool.checksums import array_of, reading_table
from sparingly.choose.pool.crew import Crew, in_order
from sparingly.choose.pool.embeddings import Embedding
from sparingly.choose.pool.parts import TABLE, Part, part_in, write_part
from sparingly.choose.pool.scored import ScoredPool
from sparingly.choose.pool.sketches import Vectors, Words, sketches_of
from sparingly.choose.pool.work import Work


def vector_files(label: str) -> tuple[str, str]:
    """Return the endings of the files of vectors (sources × dimensions) and sketches (words × sources)."""
    return f"{label}.npy", f"{label}.sketch.npy"


def embed_pool(pool: ScoredPool, embedding: Embedding, crew: Crew, how: Work) -> ScoredPool:
    """Embed the sources of every part that is not embedded yet; return the pool that has the embedding."""
    folder, done, parts = pool.folder.resolve(), 0, list(pool.parts)
    for count, (place, part) in enumerate(crew.each(embed_part, pool.parts, folder, embedding, how.batch), 1):
        parts[place] = part
        done += part.tally.good
        how.tell(count, len(parts), f"{done:,} sources embedded")
    return replace(pool, parts=tuple(parts), embedding=embedding.name)


def embed_part(part: Part, folder: Path, embedding: Embedding, batch: int) -> Part:
    """Embed the sources of a part, unless that is done: a marker with the checksums is written last."""
    import polars as pl

    marker = f"{part.name}.{embedding.label}.json"
    before, endings = part_in(folder / marker), vector_files(embedding.label)
    if before is not None and before.name == part.name and not before.problem(folder, endings):
        return replace(part, checksums={**part.checksums, **before.checksums})
    table = part.path(folder, TABLE)
    with reading_table(table):
        texts = pl.read_parquet(table, columns=["source"], glob=False).to_series().to_list()
    # A text is embedded alike whatever batch it is in, so their size is one of memory only.
    blocks = [embedding.vectors(texts[start : start + batch]) for start in range(0, len(texts), batch)]
    vectors = np.concatenate(blocks) if blocks else np.zeros((0, 1), np.float16)
    content = dict(zip(endings, (_packed(vectors), _packed(sketches_of(vectors))), strict=True))
    return write_part(part, folder, content, marker)


def _packed(values: NDArray[Any]) -> BytesIO:
    content = BytesIO()
    np.save(content, values)
    return content


def label_of(pool: ScoredPool) -> str:
    """Return the label of a pool's embedding; complain where it has none."""
    if pool.embedding is None:
        raise UsageError("The pool has no embeddings. Score it with: --embed hashed, or a model's name.")
    return Embedding(pool.embedding).label


def vectors_at(pool: ScoredPool, places: Ints) -> Vectors:
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
    return array_of(part.path(folder, vector_files(label)[0]), (part.tally.good, None))


def sketches_at(pool: ScoredPool, places: Ints) -> Words:
    """Return the sketches of some sources, words × sources."""
    ending = vector_files(label_of(pool))[1]
    held = [array_of(part.path(pool.folder, ending), (None, part.tally.good)) for part in pool.parts]
    return np.ascontiguousarray(np.concatenate(held, axis=1)[:, places])


def over_vectors(pool: ScoredPool, function: Callable[..., NDArray[Any]], *shared: Any) -> NDArray[Any]:
    """Return ``function(vectors, *shared)`` over all parts, one array of all sources."""
    pieces = [(pool.folder.resolve(), part, label_of(pool)) for part in pool.parts]
    return np.concatenate(in_order(pool.crew, _applied, pieces, function, *shared))


def _applied(
    piece: tuple[Path, Part, str], function: Callable[..., NDArray[Any]], *shared: Any
) -> NDArray[Any]:
    return function(_vectors(*piece), *shared)
