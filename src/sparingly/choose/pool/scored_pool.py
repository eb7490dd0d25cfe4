"""A scored pool: the folder that ``score_pool`` writes, and its columns."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints
from sparingly.base.errors import InputError
from sparingly.base.lazy import pl
from sparingly.choose.pool.near_duplicates import BANDS
from sparingly.choose.pool.parts import (
    BANDS_FILE,
    CHECKSUM,
    NO_CHECKSUMS,
    TABLE,
    PoolPart,
    ScoringPlan,
    damaged,
    load_array,
    reading_table,
    values_problem,
    with_checksum,
)
from sparingly.choose.pool.records import RecordCounts, add_counts
from sparingly.choose.pool.sources import LANGUAGE, UNKNOWN_LANGUAGES
from sparingly.choose.pool.workers import Executor, SerialExecutor, map_in_order
from sparingly.data import files, schema
from sparingly.data.values import as_list, as_mapping, check_version

FORMAT, VERSION = "sparingly/pool", 1
MANIFEST = "pool.json"
UNLIKE = "unlike"
# Fields that are not read from their own key of the manifest.
_NOT_IN_FILE = "not in the file"
_EXAMPLES = 3
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_ -]+")

Keys = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class ScoredPool:
    """A pool whose sources are scored: its parts in the order of their files, and what is known of them."""

    folder: Annotated[Path, _NOT_IN_FILE]
    by: schema.Id  # the utility
    near: bool  # whether near duplicates can be found
    against: str | None  # the digest of the corpus that it was compared with
    passed_over: int = 0  # bad records of that corpus
    tally: Annotated[RecordCounts, _NOT_IN_FILE]
    duplicate_ids: int = 0  # sources with the id of another whose text differs
    duplicate_examples: tuple[str, ...] = ()
    languages: bool = False  # whether they are known, by a column or identified
    unlike: int = 0  # sources unlike the training texts of the utility's model
    notes: tuple[str, ...] = ()
    other_files: int = 0  # files in its folders of no kind that a pool has
    other_examples: tuple[str, ...] = ()
    embedding: str | None = None
    parts: tuple[PoolPart, ...]
    executor: Annotated[Executor, _NOT_IN_FILE] = field(default=SerialExecutor(), compare=False, repr=False)

    @classmethod
    def from_parts(
        cls, plan: ScoringPlan, parts: Sequence[PoolPart], other_files: Sequence[Path] = ()
    ) -> ScoredPool:
        """Put the parts together."""
        ordered = tuple(sorted(parts, key=lambda part: (part.file, part.line, part.name)))
        corpus = plan.corpus
        bare = cls(
            folder=plan.out,
            by=plan.scoring.name,
            near=plan.near,
            against=None if corpus is None else corpus.digest,
            passed_over=0 if corpus is None else corpus.tally.bad.total(),
            tally=add_counts(part.tally for part in ordered),
            languages=plan.languages != UNKNOWN_LANGUAGES,
            notes=plan.scoring.notes,
            other_files=len(other_files),
            other_examples=tuple(str(file) for file in other_files[:_EXAMPLES]),
            parts=ordered,
        )
        count, examples = _duplicate_ids(bare)
        unlike = int(bare.column(UNLIKE).to_series().sum()) if plan.scoring.flags and bare.tally.good else 0
        return replace(bare, duplicate_ids=count, duplicate_examples=examples, unlike=unlike)

    def to_dict(self) -> dict[str, Any]:
        """Return the pool as plain values, as its file holds it."""
        values: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        for name in (part.name for part in fields(self)):
            if name == "tally":
                values |= self.tally.to_dict()
            elif name not in ("folder", "executor"):
                values[name] = schema.write(getattr(self, name))
        return values | {"parts": [part.to_dict() for part in self.parts]}

    def save(self) -> None:
        """Write the manifest: the parts with their checksums, and its own checksum."""
        files.write_json(self.folder / MANIFEST, with_checksum(self.to_dict()))

    @classmethod
    def load(cls, folder: str | Path) -> ScoredPool:
        """Read a scored pool; its parts must be there."""
        path = Path(folder) / MANIFEST
        if not path.exists():
            raise InputError(
                "this is not a scored pool", file=folder, fix="Score it first with: sparingly pool score"
            )
        values = as_mapping(files.read_json(path), "pool")
        try:
            check_version(values, FORMAT, VERSION)
            parts = tuple(schema.read(PoolPart, part) for part in as_list(values.get("parts"), "parts"))
            counts = RecordCounts.from_dict(values)
            pool = schema.read(
                cls, values, folder=Path(folder), tally=counts, parts=parts, executor=SerialExecutor()
            )
        except InputError as error:
            raise error.at(file=path) from None
        if (CHECKSUM in values or pool.has_checksums) and (problem := values_problem(values)):
            raise damaged(path, problem)
        missing = [part for part in pool.parts if not part.path(pool.folder, TABLE).exists()]
        if missing:
            raise damaged(Path(folder), f"{len(missing)} parts are gone, such as {missing[0].name}")
        return pool

    @property
    def has_checksums(self) -> bool:
        """Whether the pool was scored since there are checksums."""
        return any(part.checksums for part in self.parts)

    @property
    def checksum_notes(self) -> tuple[str, ...]:
        """A warning if the pool is of an older version without checksums."""
        return () if self.has_checksums else (NO_CHECKSUMS,)

    def check(self, *endings: str) -> None:
        """Compare files of all parts, by the endings of their names, with their checksums, where it has any.

        Raises:
            InputError: A file is gone, damaged, or was exchanged for another.
        """
        if not self.has_checksums:
            return
        problems = map_in_order(self.executor, PoolPart.problem, self.parts, self.folder.resolve(), endings)
        damaged_files = [place for place in problems if place is not None]
        if damaged_files:
            (path, problem), more_files = damaged_files[0], len(damaged_files) - 1
            more = f" (and {more_files} more of {len(self.parts)} parts)" if more_files else ""
            raise damaged(path, f"{problem}{more}")

    def column(self, *names: str) -> pl.DataFrame:
        """Return some columns of all sources, part after part."""
        return pl.concat(map_in_order(self.executor, _columns, self._tables(), names))

    def extra_column(self, name: str) -> pl.Series:
        """Return an extra column of all sources as texts, null where a source has none."""
        if not _PLAIN_NAME.fullmatch(name):
            # Other names cannot be written in a path, and are looked up one source at a time.
            values = (json.loads(extra).get(name) for extra in self.column("kept").to_series())
            texts = [
                value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))
                for value in values
            ]
            return pl.Series(name, texts, pl.String)
        return pl.concat(map_in_order(self.executor, _extra_column, self._tables(), name)).to_series()

    def labels(self, name: str) -> pl.Series:
        """Return a label of all sources: the language, if known, or an extra column."""
        if name == LANGUAGE and self.languages:
            return self.column(LANGUAGE).to_series()
        return self.extra_column(name)

    def rows(self, places: Ints) -> pl.DataFrame:
        """Return whole sources by their places among all sources, in the given order."""
        requests, start = [], 0
        for part, table in zip(self.parts, self._tables(), strict=True):
            inside = np.flatnonzero((places >= start) & (places < start + part.tally.good))
            if len(inside):
                requests.append((table, places[inside] - start, inside))
            start += part.tally.good
        frames = map_in_order(self.executor, _rows, requests)
        if not frames:
            return pl.DataFrame({"item": []}, schema={"item": pl.String})
        return pl.concat(frames).sort("_asked").drop("_asked")

    def _tables(self) -> list[tuple[Path, int]]:
        """Return the table of every part with the number of its rows."""
        folder = self.folder.resolve()
        return [(part.path(folder, TABLE), part.tally.good) for part in self.parts]

    def band(self, place: int, rows: Ints) -> Keys:
        """Return one band of some sources."""
        # Copied, so that the file is closed again: there may be thousands of them.
        return np.concatenate([np.array(self._bands(part)[place]) for part in self.parts])[rows]

    def bands(self, rows: Ints) -> Keys:
        """Return all bands of some sources, bands × sources."""
        ends = np.cumsum([part.tally.good for part in self.parts])
        owner = np.searchsorted(ends, rows, side="right")
        bands = np.empty((BANDS, len(rows)), np.uint64)
        for place in np.unique(owner):
            inside, part = owner == place, self.parts[place]
            bands[:, inside] = self._bands(part)[:, rows[inside] - (ends[place] - part.tally.good)]
        return bands

    def _bands(self, part: PoolPart) -> Keys:
        """Return the bands of a part, as they lie in its file."""
        return load_array(part.path(self.folder, BANDS_FILE), (BANDS, part.tally.good))


def _columns(table: tuple[Path, int], names: Sequence[str] | None) -> pl.DataFrame:
    """Return columns of a part, all of them where none are named; it has as many rows as it should."""
    path, rows = table
    with reading_table(path):
        frame = pl.read_parquet(path, columns=None if names is None else list(names), glob=False)
    if len(frame) != rows:
        raise damaged(path, f"the table of a part has {len(frame)} rows instead of {rows}")
    return frame


def _extra_column(table: tuple[Path, int], name: str) -> pl.DataFrame:
    path = pl.col("kept").str.json_path_match(f'$["{name}"]').alias(name)
    frame = _columns(table, ("kept",))
    with reading_table(table[0]):
        return frame.select(path)


def _rows(request: tuple[tuple[Path, int], Ints, Ints]) -> pl.DataFrame:
    """Return some rows of a table, each with its place among all requested ones."""
    table, rows, places = request
    return _columns(table, None)[rows].with_columns(_asked=pl.Series(places))


def _duplicate_ids(pool: ScoredPool) -> tuple[int, tuple[str, ...]]:
    """Count the sources whose id another source with a different text has, the first one not counted.

    Equal pairs of id and text count once. It takes 40 bytes a source, where a hash table takes 200.
    """
    if not pool.tally.good:
        return 0, ()
    key = pool.column("key").to_series().to_numpy()
    order = np.argsort(key)
    is_repeated = key[order[1:]] == key[order[:-1]]
    shared = order[np.r_[is_repeated, False] | np.r_[False, is_repeated]]
    text = pool.column("text").to_series().gather(shared).to_numpy()
    pairs = pl.DataFrame({"key": key[shared], "text": text}).unique()
    several = pairs.group_by("key").len().filter(pl.col("len") > 1)
    if not len(several):
        return 0, ()
    example_keys = several.select("key").sort("key").head(_EXAMPLES)
    examples = pool.column("item", "key").join(example_keys, on="key", how="semi").unique().sort("item")
    return int(several.get_column("len").sum()) - len(several), tuple(examples.get_column("item").to_list())
