"""Contamination: how much of a source is in a reference corpus, such as training data or published tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import InputError
from sparingly.choose.pool.near_duplicates import ngram_hashes
from sparingly.choose.pool.records import OnProblem, RecordCounts, cut_files, pool_files, records
from sparingly.choose.pool.sources import Hashes, Layout, normalised, read_source, text_hashes

GRAM = 20
_BATCH = 20_000


@dataclass(frozen=True, eq=False)
class ReferenceCorpus:
    """The texts and the n-grams of a corpus as sorted hashes: eight bytes per letter of it."""

    texts: Hashes
    grams: Hashes
    tally: RecordCounts
    n: int = GRAM

    @property
    def digest(self) -> str:
        """A digest of what the corpus holds, whatever the order and number of its files."""
        total = sha256(self.texts.astype("<u8").tobytes())
        total.update(self.grams.astype("<u8").tobytes())
        return total.hexdigest()[:16]

    def overlap(self, texts: Sequence[str]) -> Floats:
        """Return the share of every text's character n-grams that are in the corpus; 1 for a whole text.

        Containment |G(text) ∩ G(corpus)| / |G(text)| with repeated n-grams counted as often as they occur: 1
        when all of the source can be read in the corpus, though not always in one piece.
        """
        hashes, starts = ngram_hashes(texts, self.n)
        counts = np.diff(np.r_[starts, len(hashes)])
        shares = np.add.reduceat(_is_member(hashes, self.grams), starts) / counts
        is_whole_text = _is_member(text_hashes([normalised(text) for text in texts]), self.texts)
        return np.asarray(np.maximum(shares, is_whole_text), np.float64)


def read_corpus(
    paths: str | Path | Iterable[str | Path], layout: Layout, bad: OnProblem = "skip", n: int = GRAM
) -> ReferenceCorpus:
    """Read a corpus from files of the kinds that a pool has."""
    texts: list[Hashes] = []
    grams: list[Hashes] = []
    tally = RecordCounts()
    sources = _texts(pool_files(paths)[0], layout, tally)
    while batch := list(islice(sources, _BATCH)):
        texts.append(text_hashes([normalised(text) for text in batch]))
        grams.append(np.unique(ngram_hashes(batch, n)[0]))
        if bad == "refuse":
            tally.refuse()
    if bad == "refuse":
        tally.refuse()
    if not texts:
        raise InputError("the corpus to compare with has no text")
    return ReferenceCorpus(np.unique(np.concatenate(texts)), np.unique(np.concatenate(grams)), tally, n)


def _texts(paths: Sequence[Path], layout: Layout, tally: RecordCounts) -> Iterator[str]:
    for file_range in cut_files(paths):
        raw_records, read = records(file_range)
        for raw in raw_records:
            tally.read += 1
            if source := read_source(raw, read, layout, tally, file_range.file):
                tally.good += 1
                yield source.text


def _is_member(values: Hashes, members: Hashes) -> Floats:
    places = np.minimum(np.searchsorted(members, values), len(members) - 1)
    return np.asarray(members[places] == values, np.float64)
