"""The sources and outputs of an evaluation set as vectors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.precomputed import COLUMN, column_vectors, file_vectors, is_precomputed
from sparingly.signals.embed.texts import TFIDF, embed_texts, unit_rows


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
