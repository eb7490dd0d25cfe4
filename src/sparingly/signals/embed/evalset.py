"""The sources and outputs of an evaluation set as vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, InputError, MissingDataError, UnknownNameError, listing
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.files import naming, text_lines
from sparingly.signals.embed.texts import TFIDF, embed_texts, unit_rows

# --- Vectors that were made elsewhere, matched by ids: ``.npy`` with ids beside it, Parquet, or a column
# ``vectors.npy`` holds a row per vector, and ``vectors.ids.tsv`` beside it a line per row: the item's id and,
# for outputs, a tab and the model's id. A Parquet file has the columns ``item``, for outputs ``model``, and
# lists of numbers in one more (``vectors.parquet#name`` where there are several). ``column:name`` is a column
# of the evaluation set itself: a vector per item, or per item and model.


Id = tuple[str, ...]

COLUMN = "column:"
IDS = ".ids.tsv"


def is_precomputed(model: str) -> bool:
    """Whether an embedding names vectors that are there already."""
    return model.startswith(COLUMN) or _path(model)[0].suffix in (".npy", ".parquet")


def column_vectors(data: EvalSet, name: str, *, outputs: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Return vectors from a column of the set, and where there are any."""
    fields = data.cells if outputs else data.columns
    if name not in fields:
        kind = "cell column" if outputs else "column"
        raise UnknownNameError(kind, name, fields, "It is to hold the embeddings.")
    values, shape = fields[name], data.shape if outputs else data.shape[:1]
    ids = _ids(data, outputs)
    # An array of vectors has one more axis than a column of lists.
    flat = list(values.reshape(len(ids), -1)) if values.ndim > len(shape) else values.ravel().tolist()
    given = [place for place, value in enumerate(flat) if not _is_missing(value)]
    named = _Named([ids[place] for place in given], [flat[place] for place in given], f'the column "{name}"')
    return _placed(named, ids, shape)


def file_vectors(data: EvalSet, model: str, *, outputs: bool) -> tuple[Floats, NDArray[np.bool_]]:
    """Return vectors from a file, and which items (and models) it has."""
    path, column = _path(model)
    named = _from_npy(path) if path.suffix == ".npy" else _from_parquet(path, column)
    return _placed(named, _ids(data, outputs), data.shape if outputs else data.shape[:1])


def _path(model: str) -> tuple[Path, str]:
    name, _, column = model.partition("#")
    return Path(name), column


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _ids(data: EvalSet, outputs: bool) -> list[Id]:
    if outputs:
        return [(item, model) for item in data.items for model in data.models]
    return [(item,) for item in data.items]


class _Named(NamedTuple):
    """Vectors with their ids, and where they are from."""

    ids: list[Id]
    vectors: list[Any] | NDArray[Any]
    where: str


def _placed(named: _Named, ids: list[Id], shape: tuple[int, ...]) -> tuple[Floats, NDArray[np.bool_]]:
    """Put vectors in the places of their ids; vectors of other items are passed over."""
    if odd := next((name for name in named.ids if len(name) != len(shape)), None):
        wanted = "an item and a model" if len(shape) == 2 else "an item"
        raise InputError(f'"{listing(odd)}" names no vector of {wanted}', file=named.where)
    places = {name: place for place, name in enumerate(ids)}
    found = np.fromiter((places.get(name, -1) for name in named.ids), np.int64, len(named.ids))
    rows = np.flatnonzero(found >= 0)
    if not len(rows):
        raise MissingDataError(f"There is no vector of any item of the evaluation set in {named.where}.")
    there = np.bincount(found[rows], minlength=len(ids))
    if there.max() > 1:
        raise InputError(f'there are two vectors of "{listing(ids[int(there.argmax())])}"', file=named.where)
    known = _matrix(named, rows)
    vectors = np.zeros((len(ids), known.shape[1]))
    vectors[found[rows]] = known
    return vectors.reshape(*shape, -1), there.astype(bool).reshape(shape)


def _matrix(named: _Named, rows: NDArray[np.int64]) -> Floats:
    """Return some of the vectors as rows of finite numbers of one length."""
    if isinstance(named.vectors, np.ndarray):
        matrix = np.asarray(named.vectors[rows], np.float64)
    else:
        vectors = [_vector(named.vectors[row]) for row in rows]
        if lost := [row for row, vector in zip(rows, vectors, strict=True) if vector is None]:
            raise DataError(_no_vector(named, lost[0]))
        lengths = sorted({len(vector) for vector in vectors if vector is not None})
        if len(lengths) > 1:
            raise DataError(
                f"The vectors in {named.where} are of different lengths: {listing(map(str, lengths))}."
            )
        matrix = np.array(vectors)
    odd = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(odd):
        raise DataError(_no_vector(named, rows[odd[0]]))
    return matrix


def _vector(value: Any) -> Floats | None:
    try:
        vector = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return None
    return vector if vector.ndim == 1 and len(vector) else None


def _no_vector(named: _Named, row: int) -> str:
    return f'The vector of "{listing(named.ids[row])}" in {named.where} is no list of finite numbers.'


def _from_npy(path: Path) -> _Named:
    with naming(path):
        try:
            vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:
            raise InputError("the file holds no array of numbers", file=path) from None
    beside = path.with_suffix(IDS)
    ids: list[Id] = [tuple(line.split("\t")) for _, line in text_lines(beside)]
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or len(vectors) != len(ids):
        raise InputError(
            f"the array has the shape {vectors.shape}, and there are {len(ids)} ids in {beside.name}",
            file=path,
            fix="Write a row and a line for every vector",
        )
    return _Named(ids, vectors, str(path))


def _from_parquet(path: Path, column: str) -> _Named:
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
    return _Named(list(ids), frame[column].to_list(), str(path))


# --- The sources and outputs of an evaluation set as vectors


class Embedded(NamedTuple):
    """Vectors of length 1 (0 for an empty text), and where there is a text or a vector at all."""

    vectors: Floats  # items × dimensions, or items × models × dimensions
    there: NDArray[np.bool_]  # items, or items × models


def embed_sources(data: EvalSet, model: str = TFIDF) -> Embedded:
    """Return a vector for the source of every item."""
    return _embedded(data, model, outputs=False)


def embed_outputs(data: EvalSet, model: str = TFIDF) -> Embedded:
    """Return a vector for what every model wrote for every item."""
    return _embedded(data, model, outputs=True)


def embedding_fields(model: str, *, outputs: bool) -> frozenset[str]:
    """Return the fields that an embedding reads: texts, a column, or none where a file has the vectors."""
    if model.startswith(COLUMN):
        name = model.removeprefix(COLUMN)
        return frozenset({fields.cell(name) if outputs else fields.column(name)})
    return frozenset() if is_precomputed(model) else frozenset({"outputs" if outputs else "sources"})


def _embedded(data: EvalSet, model: str, *, outputs: bool) -> Embedded:
    if model.startswith(COLUMN):
        vectors, there = column_vectors(data, model.removeprefix(COLUMN), outputs=outputs)
        return Embedded(unit_rows(vectors), there)
    if is_precomputed(model):
        vectors, there = file_vectors(data, model, outputs=outputs)
        return Embedded(unit_rows(vectors), there)
    texts = data.outputs if outputs else data.sources
    if texts is None:
        what = "outputs" if outputs else "sources"
        raise MissingDataError(f"Embeddings of {what} need {what}, and the evaluation set has none.")
    flat = texts.ravel().tolist()
    there = np.fromiter((text is not None for text in flat), bool, len(flat)).reshape(texts.shape)
    return Embedded(embed_texts(flat, model).reshape(*texts.shape, -1), there)
