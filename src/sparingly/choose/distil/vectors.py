"""The embedding of sources that a model learned from, made again for others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.choose.distil.corpus import Corpus
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed import embed_sources, embed_texts
from sparingly.signals.embed.evalset import is_precomputed
from sparingly.signals.embed.texts import TFIDF, SentenceModel


def check_embedding(name: str) -> str:
    """Return the name; the built-in embedding is refused: its vectors of other texts cannot be compared."""
    if name == TFIDF:
        raise UsageError(
            "The built-in embedding is fitted to the texts at hand, so nothing learned from it holds for "
            "others: use features=ngrams, or name a sentence-transformers model."
        )
    return name


def digest_of(name: str) -> str | None:
    """Return what tells the model behind an embedding from any other; None for given vectors."""
    return None if is_precomputed(name) else SentenceModel(name).digest


def corpus_vectors(corpus: Corpus, name: str) -> Floats:
    """Return a vector for every text of a corpus: the mean of the vectors of its rows."""
    rows = [embed_sources(part.data, name) for part in corpus.parts]
    if len({found.vectors.shape[1] for found in rows}) > 1:
        raise DataError("The embedding gives some data sets longer vectors than others.")
    for part, found in zip(corpus.parts, rows, strict=True):
        used = corpus.item[corpus.part == corpus.parts.index(part)]
        if not found.there[used].all():
            lost = part.data.items[used[~found.there[used]][0]]
            raise DataError(f'The item "{lost}" of "{part.name}" has a source but no vector.')
    total = np.zeros((len(corpus.texts), rows[0].vectors.shape[1]))
    for place, (text, item) in enumerate(zip(corpus.text, corpus.item, strict=True)):
        total[text] += rows[corpus.part[place]].vectors[item]
    return total / np.bincount(corpus.text, minlength=len(total))[:, None]


def vectors_for(data: EvalSet | Sequence[str], name: str, wanted: str | None, dimensions: int) -> Floats:
    """Return vectors of new sources, by the very embedding that a model learned from."""
    if wanted is not None and digest_of(name) != wanted:
        raise DataError(
            f'The embedding "{name}" is not the one that the model learned from: it has changed since.'
        )
    if isinstance(data, EvalSet):
        found = embed_sources(data, name)
        vectors = np.where(found.there[:, None], found.vectors, np.nan)
    elif is_precomputed(name):
        raise UsageError(
            f'The vectors "{name}" belong to items, and texts alone have none: give an evaluation set.'
        )
    else:
        vectors = embed_texts(data, name)
    if vectors.shape[1] != dimensions:
        raise DataError(
            f'The embedding "{name}" has {vectors.shape[1]} dimensions, and the model learned from '
            f"{dimensions}."
        )
    return vectors
