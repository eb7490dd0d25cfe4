"""A source of a pool: id, text, language, further columns, and how much of it is in a reference corpus."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.checks import check_names
from sparingly.base.errors import ExtraMissingError, InputError, UsageError
from sparingly.base.syntax import argument
from sparingly.choose.pool.near_duplicates import ngram_hashes
from sparingly.choose.pool.records import (
    OnProblem,
    Raw,
    Reader,
    RecordCounts,
    RecordProblem,
    cut_files,
    is_binary,
    pool_files,
    records,
    shorten,
)
from sparingly.data.values import as_id, parse_number, plain

ID_COLUMNS, TEXT_COLUMNS = ("item", "id"), ("source", "text")
Hashes = NDArray[np.uint64]

_HALVES = re.compile("[\ud800-\udfff]")
_TEXT_ID = "text-"
_encoded, _quoted = json.JSONEncoder(default=str, sort_keys=True).encode, json.encoder.encode_basestring_ascii


@dataclass(frozen=True)
class Layout:
    """Which columns of a record hold what.

    Unless given, ids are in the first of ``item`` and ``id`` that a record has, and texts in the first of
    ``source`` and ``text``. A record without an id has one made from its text, the same wherever it stands.
    """

    id: str | None = None
    text: str | None = None
    keep: tuple[str, ...] | None = None  # the further columns that are kept; None for all of them
    score: str | None = None  # where the utility is a column


@dataclass(frozen=True, slots=True)
class Source:
    """One source: ``extra`` is a JSON object of its further columns, ``score`` NaN unless a column has it."""

    item: str
    text: str
    extra: str
    score: float


def source_of(record: Mapping[str, Any], layout: Layout) -> Source | RecordProblem:
    """Return the source of a record, or what is wrong with it."""
    column = _first(record, layout.text, TEXT_COLUMNS)
    text = None if column is None else record[column]
    if text is None or not isinstance(text, str) or not text.strip():
        problem = "no text" if text is None or isinstance(text, str) else f"this is not text: {text!r}"
        return RecordProblem("empty", f"{problem} in {layout.text or ' or '.join(TEXT_COLUMNS)}")
    if trouble := _unfit(text):
        return trouble
    id_column = _first(record, layout.id, ID_COLUMNS)
    if id_column is not None:
        try:
            item = as_id(record[id_column], "id")
        except InputError as error:
            return RecordProblem("no_id", f"{error.problem}: {shorten(text)}")
        if trouble := _unfit(item):
            return trouble
    elif layout.id is not None:
        return RecordProblem("no_id", f"no id in {layout.id}: {shorten(text)}")
    else:
        item = f"{_TEXT_ID}{text_hashes([normalised(text)])[0]:016x}"
    score = math.nan
    if layout.score is not None:
        value: Any = record.get(layout.score)
        with suppress(InputError, TypeError, ValueError, OverflowError):
            score = parse_number(value, layout.score) if isinstance(value, str) else float(value)
        if not math.isfinite(score) or isinstance(value, bool):
            return RecordProblem("no_score", f"no number in {layout.score}: {shorten(repr(value))}")
    left_out = {column, id_column, *(() if layout.keep is None else set(record) - set(layout.keep))}
    extra = {name: value for name, value in record.items() if value is not None and name not in left_out}
    return Source(item, text, _extra_json(extra), score)


def read_source(raw: Raw, read: Reader, layout: Layout, tally: RecordCounts, file: Path) -> Source | None:
    """Return the source of a record of a file; None of a bad one, which is counted."""
    line, content = raw
    record = read(content) if isinstance(content, bytes) else content
    source = record if isinstance(record, RecordProblem) else source_of(record, layout)
    if not isinstance(source, RecordProblem):
        return source
    tally.add(source, file, line)
    return None


def _first(record: Mapping[str, Any], column: str | None, usual: tuple[str, ...]) -> str | None:
    for name in usual if column is None else (column,):
        if record.get(name) is not None:
            return name
    return None


def _unfit(text: str) -> RecordProblem | None:
    if is_binary(text):
        return RecordProblem("binary", f"control characters: {shorten(text)}")
    if not text.isascii() and _HALVES.search(text):
        return RecordProblem("encoding", f"half a surrogate pair: {shorten(text)}")
    return None


def _extra_json(values: dict[str, Any]) -> str:
    """Return further columns as JSON; NaN and infinities become null, dates become text."""
    if not values:
        return "{}"
    if all(type(value) is str for value in values.values()):
        # What the encoder would write, in a third of the time.
        return f"{{{', '.join([f'{_quoted(name)}: {_quoted(values[name])}' for name in sorted(values)])}}}"
    text = _encoded(values)
    if "NaN" in text or "Infinity" in text:
        text = _encoded(_replace_nonfinite(values))
    return text


def _replace_nonfinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _replace_nonfinite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else plain(value)


def normalised(text: str) -> str:
    """Return a text with every run of white space as one space, so that exact duplicates are equal."""
    return " ".join(text.split())


def text_hashes(texts: list[str]) -> Hashes:
    """Return one 64-bit hash per text, equal for equal texts on every machine."""
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


EXTRA = "langid"
LANGUAGE = "language"


@dataclass(frozen=True)
class Languages:
    """How the languages of sources are determined: by a column of the records, or identified (py3langid).

    ``among`` are the languages to identify among; default: all that the identifier knows.
    """

    column: str | None = None
    identify: bool = False
    among: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise an error for a missing package or unknown languages before anything is read."""
        if self.among and not self.identify:
            raise UsageError(
                f"A list of languages is for identifying them: add {argument('identify', None)}."
            )
        if self.identify:
            _identifier(self.among)

    def identify_all(self, texts: Sequence[str], extra: Sequence[str]) -> list[str | None]:
        """Return the language of every text by its further columns (JSON), None where it is unknown."""
        stated: list[str | None] = [None] * len(texts)
        if self.column is not None:
            values = [json.loads(columns).get(self.column) for columns in extra]
            stated = [None if value is None else str(value).strip() or None for value in values]
        if not self.identify:
            return stated
        identifier = _identifier(self.among)
        return [
            identifier.classify(text)[0] if language is None else language
            for text, language in zip(texts, stated, strict=True)
        ]


UNKNOWN_LANGUAGES = Languages()


@lru_cache(maxsize=4)
def _identifier(languages: tuple[str, ...]) -> Any:
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise ExtraMissingError("Language identification", EXTRA) from None
    identifier: Any = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    names = list(identifier.labels)
    check_names("language", languages, names)
    if languages:
        identifier.set_languages(list(languages))
    # Where a text has nothing to go by, all classes are equally likely, and the answer is "und". A language
    # of two scripts has two of them.
    classes = Counter(identifier.nb_classes)
    if len(classes) > 1:
        identifier.min_confidence = 1.01 * max(classes.values()) / classes.total()
    return identifier


# --- contamination: how much of a source is in a corpus, such as training data or published tests ---


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
