"""The sources and outputs of an evaluation set as vectors: embedded here, or made elsewhere.

Vectors made elsewhere are matched by ids. ``vectors.npy`` holds a row per vector, and ``vectors.ids.tsv``
beside it a line per row: the item's id and, for outputs, a tab and the model's id. A Parquet file has the
columns ``item``, for outputs ``model``, and lists of numbers in one more (``vectors.parquet#name`` where
there are several). ``column:name`` is a column of the evaluation set itself: a vector per item, or per item
and model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, InputError, MissingDataError, UnknownNameError, listing
from sparingly.base.syntax import lacking
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.files import naming, text_lines
from sparingly.signals.embed.texts import TFIDF, embed_texts, unit_rows

Id = tuple[str, ...]

COLUMN = "column:"
EMBEDDING_HELP = "tfidf, a sentence-transformers model, or column:NAME, FILE.npy, FILE.parquet"
IDS = ".ids.tsv"


class Embedded(NamedTuple):
    """Vectors of length 1 (0 for an empty text), and a mask of the places with a text or a vector."""

    vectors: Floats  # items × dimensions, or items × models × dimensions
    present: NDArray[np.bool_]  # items, or items × models


def embed_sources(data: EvalSet, model: str = TFIDF) -> Embedded:
    """Return a vector for the source of every item."""
    return _embed(data, model, outputs=False)


def embed_outputs(data: EvalSet, model: str = TFIDF) -> Embedded:
    """Return a vector for what every model wrote for every item."""
    return _embed(data, model, outputs=True)


def embedding_fields(model: str, *, outputs: bool) -> frozenset[str]:
    """Return the fields that an embedding reads: texts, a column, or none if a file has the vectors."""
    if model.startswith(COLUMN):
        name = model.removeprefix(COLUMN)
        return frozenset({fields.cell(name) if outputs else fields.column(name)})
    return frozenset() if is_precomputed(model) else frozenset({"outputs" if outputs else "sources"})


def _embed(data: EvalSet, model: str, *, outputs: bool) -> Embedded:
    if is_precomputed(model):
        shape: tuple[int, ...] = data.shape if outputs else data.shape[:1]
        ids: list[Id] = [(item,) for item in data.items]
        if outputs:
            ids = [(item, model_id) for item in data.items for model_id in data.models]
        source = _read_vectors(data, model, ids, outputs=outputs)
        # Put vectors in the places of their ids; vectors of other items are ignored.
        if odd := next((name for name in source.ids if len(name) != len(shape)), None):
            expected = "an item and a model" if len(shape) == 2 else "an item"
            raise InputError(f'"{listing(odd)}" names no vector of {expected}', file=source.origin)
        places = {name: place for place, name in enumerate(ids)}
        place_of = np.fromiter((places.get(name, -1) for name in source.ids), np.int64, len(source.ids))
        rows = np.flatnonzero(place_of >= 0)
        if not len(rows):
            raise MissingDataError(
                f"There is no vector of any item of the evaluation set in {source.origin}."
            )
        counts = np.bincount(place_of[rows], minlength=len(ids))
        if counts.max() > 1:
            repeated = listing(ids[int(counts.argmax())])
            raise InputError(f'there are two vectors of "{repeated}"', file=source.origin)
        matrix = _matrix(source, rows)
        vectors = np.zeros((len(ids), matrix.shape[1]))
        vectors[place_of[rows]] = matrix
        vectors, present = vectors.reshape(*shape, -1), counts.astype(bool).reshape(shape)
        return Embedded(unit_rows(vectors), present)
    texts = data.outputs if outputs else data.sources
    if texts is None:
        field = "outputs" if outputs else "sources"
        raise MissingDataError(f"Embeddings of {field} need {field}, {lacking(field)}")
    flat = texts.ravel().tolist()
    present = np.fromiter((text is not None for text in flat), bool, len(flat)).reshape(texts.shape)
    return Embedded(embed_texts(flat, model).reshape(*texts.shape, -1), present)


def is_precomputed(model: str) -> bool:
    """Whether an embedding names vectors that exist already."""
    return model.startswith(COLUMN) or _path(model)[0].suffix in (".npy", ".parquet")


def _path(model: str) -> tuple[Path, str]:
    name, _, column = model.partition("#")
    return Path(name), column


class NamedVectors(NamedTuple):
    """Vectors with their ids, and the file or column that they come from."""

    ids: list[Id]
    vectors: list[Any] | NDArray[Any]
    origin: str


def _read_vectors(data: EvalSet, model: str, ids: list[Id], *, outputs: bool) -> NamedVectors:
    """Return the vectors of a file, or of a column of the set."""
    if not model.startswith(COLUMN):
        path, column = _path(model)
        return _read_npy(path) if path.suffix == ".npy" else _read_parquet(path, column)
    name = model.removeprefix(COLUMN)
    columns = data.cells if outputs else data.columns
    if name not in columns:
        kind = "cell column" if outputs else "column"
        raise UnknownNameError(kind, name, columns, "It is to hold the embeddings.")
    values = columns[name]
    # An array of vectors has one more axis than a column of lists.
    has_axis = values.ndim > (2 if outputs else 1)
    flat = list(values.reshape(len(ids), -1)) if has_axis else values.ravel().tolist()
    present = [
        (vector_id, value)
        for vector_id, value in zip(ids, flat, strict=True)
        if value is not None and not (isinstance(value, float) and np.isnan(value))
    ]
    return NamedVectors([part[0] for part in present], [part[1] for part in present], f'the column "{name}"')


def _matrix(source: NamedVectors, rows: NDArray[np.int64]) -> Floats:
    """Return some of the vectors as a matrix; raise DataError unless all are finite and of one length."""

    def bad(row: int) -> DataError:
        name = listing(source.ids[row])
        return DataError(f'The vector of "{name}" in {source.origin} is no list of finite numbers.')

    if isinstance(source.vectors, np.ndarray):
        matrix = np.asarray(source.vectors[rows], np.float64)
    else:
        vectors = []
        for row in rows:
            try:
                vector = np.asarray(source.vectors[row], np.float64)
            except (TypeError, ValueError):
                raise bad(row) from None
            if vector.ndim != 1 or not len(vector):
                raise bad(row)
            vectors.append(vector)
        lengths = sorted({len(vector) for vector in vectors})
        if len(lengths) > 1:
            raise DataError(
                f"The vectors in {source.origin} are of different lengths: {listing(map(str, lengths))}."
            )
        matrix = np.array(vectors)
    odd = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(odd):
        raise bad(rows[odd[0]])
    return matrix


def _read_npy(path: Path) -> NamedVectors:
    with naming(path):
        try:
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:
            raise InputError("the file holds no array of numbers", file=path) from None
    ids_file = path.with_suffix(IDS)
    ids: list[Id] = [tuple(line.split("\t")) for _, line in text_lines(ids_file)]
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or len(vectors) != len(ids):
        raise InputError(
            f"the array has the shape {vectors.shape}, and there are {len(ids)} ids in {ids_file.name}",
            file=path,
            fix="Write a row and a line for every vector",
        )
    return NamedVectors(ids, vectors, str(path))


def _read_parquet(path: Path, column: str) -> NamedVectors:
    import polars

    with naming(path):
        try:
            frame = polars.read_parquet(path)
        except polars.exceptions.PolarsError:
            raise InputError("the file cannot be read as Parquet", file=path) from None
    kinds = (polars.List, polars.Array)
    lists = [name for name, kind in frame.schema.items() if isinstance(kind, kinds)]
    column = column or (lists[0] if len(lists) == 1 else "")
    if column not in lists or "item" not in frame.columns:
        raise InputError(
            "the file must have a column item and one with lists of numbers",
            file=path,
            fix=f"Columns with lists: {listing(lists) or 'none'}; name one with {path.name}#column",
        )
    names = [name for name in ("item", "model") if name in frame.columns]
    ids = zip(*(frame[name].cast(polars.String).to_list() for name in names), strict=True)
    return NamedVectors(list(ids), frame[column].to_list(), str(path))
