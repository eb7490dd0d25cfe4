"""Small pools, written in every way that a pool can be."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Record = dict[str, Any]
_WORDS = (
    "ein",
    "кот",
    "猫は",
    "alpha",
    "beta",
    "river",
    "stone",
    "cloud",
    "seven",
    "green",
    "paper",
    "music",
)


def some_records(count: int, seed: int = 0) -> list[Record]:
    """Sources of 3 to 12 words in three domains; every tenth repeats an earlier text."""
    generator = np.random.default_rng(seed)
    records: list[Record] = []
    for place in range(count):
        words = generator.choice(_WORDS, int(generator.integers(3, 13)))
        text = f"{' '.join(words)} {place}"
        if place % 10 == 9:
            text = records[place // 2]["text"]
        domain = ("news", "chat", "law")[int(generator.integers(3))]
        records.append(
            {"id": f"s{place}", "text": text, "domain": domain, "hard": int(generator.integers(5))}
        )
    return records


def write_pool(folder: Path, shards: Sequence[tuple[str, Sequence[Record]]]) -> list[Path]:
    """Write every shard as its kind says."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, (kind, records) in enumerate(shards):
        path = folder / f"shard-{place}.{kind}"
        path.write_bytes(_content(kind, list(records)))
        paths.append(path)
    return paths


def _content(kind: str, records: list[Record]) -> bytes:
    if kind == "parquet":
        import polars as pl

        target = io.BytesIO()
        pl.DataFrame(records, infer_schema_length=None).write_parquet(target)
        return target.getvalue()
    if kind.startswith("csv"):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(records[0]) if records else ["id", "text"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        plain = text.getvalue().encode()
    else:
        plain = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records).encode()
    return gzip.compress(plain) if kind.endswith(".gz") else plain
