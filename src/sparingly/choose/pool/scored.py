"""A scored pool: the folder that ``score_pool`` writes, and its numbers as arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.choose.pool.bad import Tally, total
from sparingly.choose.pool.overlap import Corpus
from sparingly.choose.pool.parts import Part, bands_file, table_of
from sparingly.data import files
from sparingly.data.values import as_mapping, check_version

if TYPE_CHECKING:
    import polars as pl

FORMAT, VERSION = "sparingly/pool", 1
MANIFEST = "pool.json"
_EXAMPLES = 3
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_ -]+")

Keys = NDArray[np.uint64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class ScoredPool:
    """A pool whose sources are scored.

    Attributes:
        folder: Where its parts lie.
        by: The utility.
        near: Whether near duplicates can be found.
        against: The digest of the corpus that it was compared with, or None.
        passed_over: How many records of that corpus were bad.
        parts: The parts, in the order of their files.
        tally: How many records were read and what they were.
        duplicate_ids: How many sources have the id of another whose text differs.
        duplicate_examples: Some such ids.
    """

    folder: Path
    by: str
    near: bool
    against: str | None
    passed_over: int
    parts: tuple[Part, ...]
    tally: Tally
    duplicate_ids: int
    duplicate_examples: tuple[str, ...]

    @classmethod
    def of(
        cls, folder: Path, by: str, near: bool, corpus: Corpus | None, parts: Sequence[Part]
    ) -> ScoredPool:
        """Put the parts together."""
        ordered = tuple(sorted(parts, key=lambda part: (part.file, part.line, part.name)))
        against, passed_over = (None, 0) if corpus is None else (corpus.digest, corpus.tally.bad.total())
        bare = cls(
            folder, by, near, against, passed_over, ordered, total(part.tally for part in ordered), 0, ()
        )
        count, examples = _duplicate_ids(bare)
        return cls(**{**vars(bare), "duplicate_ids": count, "duplicate_examples": examples})

    def to_dict(self) -> dict[str, Any]:
        """Return the pool as plain values, as its file holds it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "by": self.by,
            "near": self.near,
            "against": self.against,
            "passed_over": self.passed_over,
            **self.tally.to_dict(),
            "duplicate_ids": self.duplicate_ids,
            "duplicate_examples": list(self.duplicate_examples),
            "parts": [part.to_dict() for part in self.parts],
        }

    def save(self) -> None:
        """Write down which parts make up the pool."""
        files.write_json(self.folder / MANIFEST, self.to_dict())

    @classmethod
    def load(cls, folder: str | Path) -> ScoredPool:
        """Read a scored pool; its parts must be there."""
        path = Path(folder) / MANIFEST
        if not path.exists():
            raise InputError(
                "this is no scored pool", file=folder, fix="Score it first with: sparingly pool score"
            )
        values = as_mapping(files.read_json(path), "pool")
        check_version(values, FORMAT, VERSION)
        pool = cls(
            Path(folder),
            values["by"],
            values["near"],
            values["against"],
            values["passed_over"],
            tuple(Part.from_dict(part) for part in values["parts"]),
            Tally.from_dict(values),
            values["duplicate_ids"],
            tuple(values["duplicate_examples"]),
        )
        lost = [part.name for part in pool.parts if not table_of(pool.folder, part.name).exists()]
        if lost:
            raise InputError(f"{len(lost)} parts are gone, such as {lost[0]}", file=folder, fix="Score again")
        return pool

    def column(self, *names: str) -> pl.DataFrame:
        """Return some columns of all sources, part after part."""
        import polars as pl

        tables = [pl.scan_parquet(table_of(self.folder, part.name), glob=False) for part in self.parts]
        return pl.concat([table.select(names) for table in tables]).collect()

    def kept(self, name: str) -> pl.Series:
        """Return a kept column of all sources as texts, null where a source has none."""
        import polars as pl

        if not _PLAIN_NAME.fullmatch(name):
            # Other names cannot be written in a path, and are looked up one source at a time.
            found = (json.loads(kept).get(name) for kept in self.column("kept").to_series())
            return pl.Series(name, [_text(value) for value in found], pl.String)
        path = pl.col("kept").str.json_path_match(f'$["{name}"]').alias(name)
        tables = [pl.scan_parquet(table_of(self.folder, part.name), glob=False) for part in self.parts]
        return pl.concat([table.select(path) for table in tables]).collect().to_series()

    def rows(self, places: Rows) -> pl.DataFrame:
        """Return whole sources by their places among all sources, in the order asked for."""
        import polars as pl

        frames, start = [], 0
        for part in self.parts:
            stop = start + part.tally.good
            asked = np.flatnonzero((places >= start) & (places < stop))
            if len(asked):
                table = pl.read_parquet(table_of(self.folder, part.name), glob=False)
                frames.append(table[places[asked] - start].with_columns(_asked=pl.Series(asked)))
            start = stop
        if not frames:
            return pl.DataFrame({"item": []}, schema={"item": pl.String})
        return pl.concat(frames).sort("_asked").drop("_asked")

    def band(self, place: int, rows: Rows) -> Keys:
        """Return one band of some sources."""
        return np.concatenate([bands[place] for bands in self._bands()])[rows]

    def bands(self, rows: Rows) -> Keys:
        """Return all bands of some sources, bands × sources."""
        bands = self._bands()
        ends = np.cumsum([held.shape[1] for held in bands])
        owner = np.searchsorted(ends, rows, side="right")
        found = np.empty((len(bands[0]), len(rows)), np.uint64)
        for place in np.unique(owner):
            inside = owner == place
            found[:, inside] = bands[place][:, rows[inside] - (ends[place] - bands[place].shape[1])]
        return found

    def _bands(self) -> list[Keys]:
        return [np.load(bands_file(self.folder, part.name), mmap_mode="r") for part in self.parts]


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _duplicate_ids(pool: ScoredPool) -> tuple[int, tuple[str, ...]]:
    """Count the sources whose id stands for another text too, the first one of them not counted."""
    import polars as pl

    if not pool.tally.good:
        return 0, ()
    pairs = pool.column("key", "text").unique()
    several = pairs.group_by("key").len().filter(pl.col("len") > 1)
    if not len(several):
        return 0, ()
    wanted = several.select("key").sort("key").head(_EXAMPLES)
    named = pool.column("item", "key").join(wanted, on="key", how="semi").unique().sort("item")
    return int(several.get_column("len").sum()) - len(several), tuple(named.get_column("item").to_list())
