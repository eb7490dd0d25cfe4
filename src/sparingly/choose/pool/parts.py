"""A part of a scored pool: some records read, scored and written, so that they need not be done again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import InputError
from sparingly.base.rng import keys_of
from sparingly.choose.pool.bad import Bad, Tally, Trouble, start_of
from sparingly.choose.pool.checksums import file_problem, values_problem, with_checksum, write_with_checksum
from sparingly.choose.pool.languages import NOT_KNOWN, Languages
from sparingly.choose.pool.minhash import bands_of
from sparingly.choose.pool.overlap import Corpus
from sparingly.choose.pool.places import Stretch
from sparingly.choose.pool.records import Raw, Reader, records
from sparingly.choose.pool.scorers import Scoring, scores_of, source_length
from sparingly.choose.pool.sources import Layout, Source, normalised, source_of, text_hashes
from sparingly.data import files
from sparingly.data.values import as_id, as_mapping, as_whole, shown
from sparingly.signals.length import SOURCE_LENGTH

if TYPE_CHECKING:
    import polars as pl

# Changes when what a part holds changes, so that parts of an older version are made anew.
_CONTENT = 3
TABLE, BANDS_FILE = "parquet", "near.npy"
_NAME = re.compile(r"part-[0-9a-f]+-[0-9]+")


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
    """A part that is done.

    Attributes:
        name: How the names of its files begin.
        file: The file that its records come from.
        line: Where the first of them stands.
        tally: What the records were.
        checksums: The SHA-256 of its files by the endings of their names; none of a pool scored before there
            were checksums.
    """

    name: str
    file: str
    line: int
    tally: Tally
    checksums: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the part as plain values."""
        return {
            "name": self.name,
            "file": self.file,
            "line": self.line,
            "tally": self.tally.to_dict(),
            "checksums": dict(sorted(self.checksums.items())),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Part:
        """Read a part back."""
        name = as_id(values.get("name"), "name")
        if not _NAME.fullmatch(name):
            raise InputError(f"{shown(name)} is no name of a part", field="name")
        sums = as_mapping(values.get("checksums"), "checksums")
        return cls(
            name,
            as_id(values.get("file"), "file"),
            as_whole(values.get("line"), "line"),
            Tally.from_dict(as_mapping(values.get("tally"), "tally")),
            {ending: as_id(checksum, "checksums") for ending, checksum in sums.items()},
        )

    def path(self, folder: Path, ending: str) -> Path:
        """Return one of the part's files."""
        return folder / f"{self.name}.{ending}"

    def problem(self, folder: Path, endings: Sequence[str]) -> tuple[Path, str] | None:
        """Return the first of some of the part's files that is not as it was written, and why."""
        for ending in endings:
            path, checksum = self.path(folder, ending), self.checksums.get(ending)
            if checksum is None:
                return path, "the file has no checksum, while others of the pool have one"
            if problem := file_problem(path, checksum):
                return path, problem
        return None


def score_stretch(stretch: Stretch, plan: Plan) -> list[Part]:
    """Score the records of a stretch part by part; those that are done are passed over."""
    name = plan.name_of(stretch)
    found, read = records(stretch, plan.longest)
    parts: list[Part] = []
    while raws := list(islice(found, plan.rows)):
        part = f"part-{name}-{len(parts):05d}"
        parts.append(_done(plan, part) or _scored(raws, read, stretch.file, part, plan))
    return parts


def _done(plan: Plan, name: str) -> Part | None:
    """Return a part that was finished before: its marker is written last. What is damaged is not done."""
    part = part_in(plan.out / f"{name}.json")
    if part is None or part.name != name or part.problem(plan.out, tuple(part.checksums)):
        return None
    if plan.bad == "refuse":
        part.tally.refuse()
    return part


def part_in(marker: Path) -> Part | None:
    """Return the part that a marker speaks of; None where there is no marker, or it is damaged."""
    if not marker.exists():
        return None
    try:
        values = as_mapping(files.read_json(marker), "part")
        return None if values_problem(values) else Part.from_dict(values)
    except InputError:
        return None


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
    return _written(kept, numbers, made, plan)


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


def _written(sources: Sequence[Source], numbers: Mapping[str, Any], part: Part, plan: Plan) -> Part:
    """Write the table, what finds near duplicates, and last the marker that says that both are there."""
    # By way of memory: a full disk is then told by the file, not from inside of the library.
    packed = BytesIO()
    _frame(sources, numbers, part.file, plan).write_parquet(packed)
    content = {TABLE: packed}
    if plan.near:
        content[BANDS_FILE] = BytesIO()
        np.save(content[BANDS_FILE], bands_of([source.text for source in sources]))
    return write_part(part, plan.out, content, f"{part.name}.json")


def write_part(part: Part, folder: Path, content: Mapping[str, BytesIO], marker: str) -> Part:
    """Write files of a part by their endings, then the marker; return the part with their checksums."""
    sums = {
        ending: write_with_checksum(part.path(folder, ending), held.getbuffer())
        for ending, held in content.items()
    }
    files.write_json(folder / marker, with_checksum(replace(part, checksums=sums).to_dict()))
    return replace(part, checksums={**part.checksums, **sums})


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
