"""A part of a scored pool: some records read, scored and written, so that they need not be done again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.rng import keys_of
from sparingly.choose.pool.bad import Bad, Tally, Trouble, start_of
from sparingly.choose.pool.languages import NOT_KNOWN, Languages
from sparingly.choose.pool.minhash import bands_of
from sparingly.choose.pool.overlap import Corpus
from sparingly.choose.pool.places import Stretch
from sparingly.choose.pool.records import Raw, Reader, records
from sparingly.choose.pool.scorers import Scoring, scores_of, source_length
from sparingly.choose.pool.sources import Layout, Source, normalised, source_of, text_hashes
from sparingly.data import files
from sparingly.signals.length import SOURCE_LENGTH

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
# Changes when what a part holds changes, so that parts of an older version are made anew.
_CONTENT = 2


@dataclass(frozen=True, eq=False)
class Plan:
    """How the records of a pool become parts.

    Attributes:
        out: The folder of the parts.
        layout: Which columns hold what.
        scoring: How sources are scored.
        bad: What to do with bad records.
        near: Whether to compute what near duplicates are found by.
        corpus: What sources are compared with, or None.
        languages: How the languages of sources are known.
        longest: The most bytes of a record.
        rows: The records of a part.
        batch: The texts that are scored at once.
    """

    out: Path
    layout: Layout
    scoring: Scoring
    bad: Bad = "skip"
    near: bool = False
    corpus: Corpus | None = None
    languages: Languages = NOT_KNOWN
    longest: int = 1_000_000
    rows: int = 100_000
    batch: int = 10_000

    def name_of(self, stretch: Stretch) -> str:
        """Return the name of a stretch's parts: another one where the file or the plan differs."""
        state = stretch.path.stat()
        told = [
            str(stretch.file),
            [state.st_size, state.st_mtime_ns, stretch.start, stretch.stop],
            asdict(self.layout),
            [self.scoring.name, self.near, None if self.corpus is None else self.corpus.digest],
            [self.longest, self.rows, self.languages.words, _CONTENT],
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Part:
    """A part that is done: its name, where its records stand, and what they were."""

    name: str
    file: str
    line: int
    tally: Tally

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values."""
        return {"name": self.name, "file": self.file, "line": self.line, "tally": self.tally.to_dict()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Part:
        """Read a part back."""
        return cls(values["name"], values["file"], values["line"], Tally.from_dict(values["tally"]))


def table_of(folder: Path, part: str) -> Path:
    """Return the file of a part's sources."""
    return folder / f"{part}.parquet"


def bands_file(folder: Path, part: str) -> Path:
    """Return the file of a part's bands, by which near duplicates are found."""
    return folder / f"{part}.near.npy"


def score_stretch(stretch: Stretch, plan: Plan) -> list[Part]:
    """Score the records of a stretch part by part; those that are done are passed over."""
    name = plan.name_of(stretch)
    found, read = records(stretch, plan.longest)
    parts: list[Part] = []
    while raws := list(islice(found, plan.rows)):
        part = f"part-{name}-{len(parts):05d}"
        parts.append(_done(plan, part) or _scored(raws, read, stretch.file, part, plan))
    return parts


def _done(plan: Plan, part: str) -> Part | None:
    """Return a part that was finished before: its marker is written last."""
    marker = plan.out / f"{part}.json"
    if not marker.exists():
        return None
    kept = Part.from_dict(files.read_json(marker))
    if plan.bad == "refuse":
        kept.tally.refuse()
    return kept


def _scored(raws: Sequence[Raw], read: Reader, file: Path, part: str, plan: Plan) -> Part:
    tally = Tally(read=len(raws))
    sources, lines = _sources(raws, read, file, plan.layout, tally)
    utility, unlike = _utilities(sources, plan)
    known = np.isfinite(utility)
    for place in np.flatnonzero(~known):
        text = start_of(sources[place].text)
        tally.add(Trouble("no_score", f"{plan.scoring.name} gives no number: {text}"), file, lines[place])
    if plan.bad == "refuse":
        tally.refuse()
    rows = np.flatnonzero(known)
    kept, tally.good = [sources[row] for row in rows], len(rows)
    made = Part(part, str(file), raws[0][0], tally)
    numbers: dict[str, Any] = {"line": np.array(lines, np.int64)[rows], "utility": utility[rows]}
    if plan.scoring.flags:
        numbers["unlike"] = unlike[rows]
    _write(kept, numbers, made, plan)
    return made


def _sources(
    raws: Sequence[Raw], read: Reader, file: Path, layout: Layout, tally: Tally
) -> tuple[list[Source], list[int]]:
    sources: list[Source] = []
    lines: list[int] = []
    for line, raw in raws:
        record = read(raw) if isinstance(raw, bytes) else raw
        source = record if isinstance(record, Trouble) else source_of(record, layout)
        if isinstance(source, Trouble):
            tally.add(source, file, line)
        else:
            sources.append(source)
            lines.append(line)
    return sources, lines


def _utilities(sources: Sequence[Source], plan: Plan) -> tuple[Floats, Mask]:
    """Return the utility of every source, and who is unlike the texts that the scorer knows."""
    scorer = plan.scoring.scorer
    if scorer is None:
        scores = np.fromiter((source.score for source in sources), np.float64, len(sources))
        return scores, np.zeros(len(sources), bool)
    texts = [source.text for source in sources]
    batches = [texts[start : start + plan.batch] for start in range(0, len(texts), plan.batch)]
    found = [scores_of(scorer, plan.scoring.name, batch) for batch in batches]
    if not found:
        return np.empty(0), np.empty(0, bool)
    return np.concatenate([scores for scores, _ in found]), np.concatenate([odd for _, odd in found])


def _write(sources: Sequence[Source], numbers: Mapping[str, Any], part: Part, plan: Plan) -> None:
    """Write the table, what finds near duplicates, and last the marker that says that both are there."""
    frame = _frame(sources, numbers, part.file, plan)
    texts = [source.text for source in sources]

    def put_frame(file: IO[bytes]) -> None:
        # By way of memory: a full disk is then told by the file, not from inside of the library.
        packed = BytesIO()
        frame.write_parquet(packed)
        file.write(packed.getbuffer())

    def put_bands(file: IO[bytes]) -> None:
        np.save(file, bands_of(texts))

    files.write_atomically(table_of(plan.out, part.name), put_frame)
    if plan.near:
        files.write_atomically(bands_file(plan.out, part.name), put_bands)
    files.write_json(plan.out / f"{part.name}.json", part.to_dict())


def _frame(sources: Sequence[Source], numbers: Mapping[str, Any], file: str, plan: Plan) -> pl.DataFrame:
    import polars as pl

    items, texts, kept = ([getattr(one, name) for one in sources] for name in ("item", "text", "kept"))
    columns: dict[str, Any] = {
        "item": pl.Series(items, dtype=pl.String),
        "source": pl.Series(texts, dtype=pl.String),
        "kept": pl.Series(kept, dtype=pl.String),
        "language": pl.Series(plan.languages.of(texts, kept), dtype=pl.String),
        **numbers,
        "length": numbers["utility"] if plan.scoring.name == SOURCE_LENGTH else source_length(texts),
        "key": keys_of(items),
        "text": text_hashes([normalised(text) for text in texts]),
        "row": text_hashes([_whole(source) for source in sources]),
    }
    if plan.corpus is not None:
        columns["overlap"] = plan.corpus.overlap(texts) if texts else np.empty(0)
    return pl.DataFrame(columns).with_columns(file=pl.lit(file))


def _whole(source: Source) -> str:
    """Return all that a source is, as one text."""
    # Without quotes, so that a number is the same source in JSON and in CSV, where it is a text.
    bare = source.kept.replace('"', "")
    return f"{source.item}\x1f{source.text}\x1f{bare}\x1f{source.score!r}"
