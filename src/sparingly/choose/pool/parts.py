"""A part of a scored pool: some records read, scored and written once, with checksums.

Checksums are compared before anything is drawn, so that a part that was damaged, exchanged or cut off is an
error, and never another selection.
"""

from __future__ import annotations

import hashlib
import json
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import InputError
from sparingly.base.lazy import pl
from sparingly.base.rng import keys_of
from sparingly.choose.pool.near_duplicates import bands_of
from sparingly.choose.pool.records import (
    FileRange,
    OnProblem,
    Raw,
    Reader,
    RecordCounts,
    RecordProblem,
    records,
    shorten,
)
from sparingly.choose.pool.scorers import Scoring, score_batch, source_length
from sparingly.choose.pool.sources import (
    UNKNOWN_LANGUAGES,
    Languages,
    Layout,
    ReferenceCorpus,
    Source,
    normalised,
    read_source,
    text_hashes,
)
from sparingly.data import files, schema
from sparingly.data.values import as_id, as_mapping, shown
from sparingly.signals.length import SOURCE_LENGTH

CHECKSUM = "checksum"
SCORE_AGAIN = "Score the pool again with the same options: only damaged parts are scored again"
NO_CHECKSUMS = (
    "This pool was scored by an older sparingly and has no checksums, so damage to its files may go "
    "unnoticed. Score it again to add them."
)
_MISSING_FILE = "the file is gone"
# What numpy raises on damaged files, beside the errors of the operating system.
_DAMAGE = (
    *(ValueError, EOFError, OSError, SyntaxError, TypeError, OverflowError, MemoryError),
    tokenize.TokenError,
)
# Raised when the content of parts changes, so that parts of an older version are not reused.
_CONTENT = 3
TABLE, BANDS_FILE = "parquet", "near.npy"
_NAME = re.compile(r"part-[0-9a-f]+-[0-9]+")


@dataclass(frozen=True, eq=False)
class ScoringPlan:
    """How the records of a pool become parts in the folder ``out``."""

    out: Path
    layout: Layout
    scoring: Scoring
    bad: OnProblem = "skip"
    near: bool = False  # whether to compute the MinHash bands for near duplicates
    corpus: ReferenceCorpus | None = None  # what sources are compared with
    languages: Languages = UNKNOWN_LANGUAGES
    longest: int = 1_000_000  # bytes of a record
    rows: int = 100_000  # records of a part
    batch: int = 10_000  # texts that are scored at once

    def name_of(self, file_range: FileRange) -> str:
        """Return the name of a range's parts, which depends on the file and the plan."""
        state = file_range.path.stat()
        identity = [
            str(file_range.file),
            [state.st_size, state.st_mtime_ns, file_range.start, file_range.stop],
            asdict(self.layout),
            [self.scoring.name, self.near, None if self.corpus is None else self.corpus.digest],
            [self.longest, self.rows, list(asdict(self.languages).values()), _CONTENT],
        ]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class PoolPart:
    """A finished part: how the names of its files begin, and which records of which file it holds.

    ``checksums`` are the SHA-256 of its files by the endings of their names; none of a pool scored before
    there were checksums.
    """

    name: Annotated[str, _read_name]
    file: str
    line: int
    tally: Annotated[RecordCounts, _read_counts]
    checksums: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values."""
        values: dict[str, Any] = schema.write(self)
        return {**values, "tally": self.tally.to_dict(), "checksums": dict(sorted(self.checksums.items()))}

    def path(self, folder: Path, ending: str) -> Path:
        """Return one of the part's files."""
        return folder / f"{self.name}.{ending}"

    def problem(self, folder: Path, endings: Sequence[str]) -> tuple[Path, str] | None:
        """Return the first of some of the part's files that is not as it was written, and why."""
        for ending in endings:
            path, checksum = self.path(folder, ending), self.checksums.get(ending)
            if checksum is None:
                return path, "the file has no checksum, while others of the pool have one"
            try:
                with path.open("rb") as file:
                    is_same = hashlib.file_digest(file, "sha256").hexdigest() == checksum
            except FileNotFoundError:
                return path, _MISSING_FILE
            except OSError as error:
                return path, f"the file cannot be read ({error.strerror or error})"
            if not is_same:
                return path, "the file is not the one that was written: it is damaged or was exchanged"
        return None


def _read_name(value: Any, field: str) -> str:
    name = as_id(value, field)
    if not _NAME.fullmatch(name):
        raise InputError(f"{shown(name)} is not a name of a part", field=field)
    return name


def _read_counts(value: Any, field: str) -> RecordCounts:
    return RecordCounts.from_dict(as_mapping(value, field))


def score_range(file_range: FileRange, plan: ScoringPlan) -> list[PoolPart]:
    """Score the records of a range part by part; finished parts are skipped."""
    name = plan.name_of(file_range)
    raw_records, read = records(file_range, plan.longest)
    parts: list[PoolPart] = []
    while raws := list(islice(raw_records, plan.rows)):
        part_name = f"part-{name}-{len(parts):05d}"
        part = read_marker(plan.out / f"{part_name}.json")
        if part is None or part.name != part_name or part.problem(plan.out, tuple(part.checksums)):
            part = _score_records(raws, read, file_range.file, part_name, plan)
        elif plan.bad == "refuse":
            part.tally.refuse()
        parts.append(part)
    return parts


def read_marker(marker: Path) -> PoolPart | None:
    """Return the part of a marker; None if there is no marker, or it is damaged."""
    if not marker.exists():
        return None
    try:
        values = as_mapping(files.read_json(marker), "part")
        return None if values_problem(values) else schema.read(PoolPart, values)
    except InputError:
        return None


def _score_records(raws: Sequence[Raw], read: Reader, file: Path, part: str, plan: ScoringPlan) -> PoolPart:
    """Score the records of a part; write its table, the MinHash bands, and last the marker."""
    tally = RecordCounts(read=len(raws))
    sources, lines = list[Source](), list[int]()
    for raw in raws:
        if source := read_source(raw, read, plan.layout, tally, file):
            sources.append(source)
            lines.append(raw[0])
    utility, unlike = _utilities(sources, plan)
    has_score = np.isfinite(utility)
    for place in np.flatnonzero(~has_score):
        text = shorten(sources[place].text)
        tally.add(
            RecordProblem("no_score", f"{plan.scoring.name} gives no number: {text}"), file, lines[place]
        )
    if plan.bad == "refuse":
        tally.refuse()
    rows = np.flatnonzero(has_score)
    scored, tally.good = [sources[row] for row in rows], len(rows)
    numbers: dict[str, Any] = {"line": np.array(lines, np.int64)[rows], "utility": utility[rows]}
    if plan.scoring.flags:
        numbers["unlike"] = unlike[rows]
    # Via memory, so that a full disk raises our own error and not one of the library.
    packed = BytesIO()
    _frame(scored, numbers, str(file), plan).write_parquet(packed)
    content = {TABLE: packed}
    if plan.near:
        content[BANDS_FILE] = BytesIO()
        np.save(content[BANDS_FILE], bands_of([source.text for source in scored]))
    return write_part(PoolPart(part, str(file), raws[0][0], tally), plan.out, content, f"{part}.json")


def _utilities(sources: Sequence[Source], plan: ScoringPlan) -> tuple[Floats, Mask]:
    """Return the utility of every source, and which sources the scorer flags."""
    scorer = plan.scoring.scorer
    if scorer is None:
        scores = np.fromiter((source.score for source in sources), np.float64, len(sources))
        return scores, np.zeros(len(sources), bool)
    texts = [source.text for source in sources]
    batches = [texts[start : start + plan.batch] for start in range(0, len(texts), plan.batch)]
    results = [score_batch(scorer, plan.scoring.name, batch) for batch in batches]
    if not results:
        return np.empty(0), np.empty(0, bool)
    return np.concatenate([scores for scores, _ in results]), np.concatenate([odd for _, odd in results])


def write_part(part: PoolPart, folder: Path, content: Mapping[str, BytesIO], marker: str) -> PoolPart:
    """Write files of a part by their endings, then the marker; return the part with their checksums."""
    sums = {}
    for ending, buffer in content.items():
        files.write_bytes(part.path(folder, ending), buffer.getbuffer())
        sums[ending] = hashlib.sha256(buffer.getbuffer()).hexdigest()
    files.write_json(folder / marker, with_checksum(replace(part, checksums=sums).to_dict()))
    return replace(part, checksums={**part.checksums, **sums})


def _frame(
    sources: Sequence[Source], numbers: Mapping[str, Any], file: str, plan: ScoringPlan
) -> pl.DataFrame:
    items, texts, extra = (
        [getattr(source, name) for source in sources] for name in ("item", "text", "extra")
    )
    # Without quotes, so that a number is the same source in JSON and in CSV, where it is a text.
    bare = (columns.replace('"', "") for columns in extra)
    row_texts = [
        f"{source.item}\x1f{source.text}\x1f{columns}\x1f{source.score!r}"
        for source, columns in zip(sources, bare, strict=True)
    ]
    columns: dict[str, Any] = {
        "item": pl.Series(items, dtype=pl.String),
        "source": pl.Series(texts, dtype=pl.String),
        "kept": pl.Series(extra, dtype=pl.String),
        "language": pl.Series(plan.languages.identify_all(texts, extra), dtype=pl.String),
        **numbers,
        "length": numbers["utility"] if plan.scoring.name == SOURCE_LENGTH else source_length(texts),
        "key": keys_of(items),
        "text": text_hashes([normalised(text) for text in texts]),
        "row": text_hashes(row_texts),
    }
    if plan.corpus is not None:
        columns["overlap"] = plan.corpus.overlap(texts) if texts else np.empty(0)
    return pl.DataFrame(columns).with_columns(file=pl.lit(file))


def damaged(path: Path, problem: str = "the file is damaged") -> InputError:
    """Return the error for a damaged file of a scored pool."""
    return InputError(problem, file=path, fix=SCORE_AGAIN)


def with_checksum(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a JSON file together with their checksum."""
    return {**values, CHECKSUM: _checksum_of(values)}


def values_problem(values: Mapping[str, Any]) -> str | None:
    """Return what is wrong with values that carry their checksum, or None."""
    if values.get(CHECKSUM) == _checksum_of(values):
        return None
    return "the values do not agree with their checksum: the file is damaged or was edited"


def _checksum_of(values: Mapping[str, Any]) -> str:
    content = {name: value for name, value in values.items() if name != CHECKSUM}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextmanager
def reading_table(path: Path) -> Iterator[None]:
    """Turn polars' errors on a damaged table into an InputError."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(path, f"the table of a part cannot be read ({type(error).__name__})") from None


def load_array(path: Path, shape: tuple[int | None, int | None]) -> NDArray[Any]:
    """Return the array of a file as it lies there; None stands for any length.

    Raises:
        InputError: The file is gone or damaged, or its array has another shape.
    """
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise damaged(path, _MISSING_FILE) from None
    except _DAMAGE as error:
        raise damaged(path, f"the numbers of a part cannot be read ({type(error).__name__})") from None
    if array.ndim != 2 or any(
        want not in (None, actual) for want, actual in zip(shape, array.shape, strict=True)
    ):
        raise damaged(path, f"the file holds an array of shape {array.shape}, which is not that of its part")
    return array
