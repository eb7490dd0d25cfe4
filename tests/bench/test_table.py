from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sparingly.base.errors import InputError
from sparingly.bench import table as tables
from sparingly.bench.table import (
    COLUMNS,
    REQUEST,
    frame_of,
    merge_parts,
    merge_tables,
    missing_cells,
    parts_folder,
    read_table,
    read_with_parts,
    save_part,
    write_table,
)


def row(**more: Any) -> dict[str, Any]:
    usual = {
        "set": "demo",
        "entry": "random",
        "method": "random",
        "p_values": "own",
        "share": 0.1,
        "seed": 0,
        "resample": 0,
        "truth": "overall",
        "digest": "d",
        "version": "1",
        "status": "done",
    }
    return {**dict.fromkeys(COLUMNS), **usual, **more}


def test_a_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    frame = frame_of([row(seed=1, labels=5), row(seed=0, kendall_b=0.5)])
    write_table(tmp_path / "table.parquet", frame)
    found = read_table(tmp_path / "table.parquet")
    assert found.equals(frame.sort("seed"))
    assert list(found.columns) == list(COLUMNS)


def test_a_table_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert read_table(tmp_path / "absent.parquet").shape == (0, len(COLUMNS))


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_table(path)
    pl.DataFrame({"set": ["a"]}).write_parquet(path)
    with pytest.raises(InputError, match="no column family"):
        read_table(path)


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ({}, False),
        ({"digest": "other"}, True),
        ({"version": "2"}, True),
        ({"method": "random:unit=item"}, True),
        ({"estimator": "greg"}, True),
        ({"p_values": "full_set"}, True),
        ({"rounds": 5}, True),
        ({"stop": "futility"}, True),
        ({"truth": "fluency"}, True),
        ({"metric": "COMET"}, True),
        ({"seed": 1}, True),
        ({"share": 0.2}, True),
        ({"resample": 1}, True),
        ({"entry": "other"}, True),
    ],
)
def test_a_cell_is_missing_when_something_changed(changed: dict[str, Any], again: bool) -> None:
    assert bool(missing_cells([row(**changed)], frame_of([row()]))) is again


def test_what_failed_is_tried_again_and_what_cannot_be_is_not() -> None:
    assert missing_cells([row()], frame_of([row(status="failed")]))
    assert not missing_cells([row()], frame_of([row(status="not_applicable")]))
    assert set(missing_cells([row()], frame_of([]))[0]) == set(REQUEST)


def test_newer_rows_take_the_place_of_older_ones() -> None:
    older = frame_of([row(labels=1, digest="old"), row(seed=1, labels=2)])
    found = merge_tables(older, frame_of([row(labels=3)])).sort("seed")
    assert found["labels"].to_list() == [3, 2]


def test_parts_are_kept_beside_the_table_until_it_is_put_together(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_table(path, frame_of([row(labels=1)]))
    save_part(path, [row(seed=1, labels=2)])
    save_part(path, [row(seed=2, labels=3)])
    found = read_with_parts(path)
    assert sorted(found["labels"].to_list()) == [1, 2, 3]
    assert read_table(path).height == 1
    killed = parts_folder(path) / ".half.parquet.tmp"
    killed.write_bytes(b"killed while writing")
    os.utime(killed, (0, 0))
    assert merge_parts(path).equals(read_table(path))
    assert not parts_folder(path).exists()
    assert read_table(path)["labels"].to_list() == [1, 2, 3]


def test_what_another_run_keeps_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.parquet"
    save_part(path, [row(seed=1, labels=2)])
    half = parts_folder(path) / ".half.parquet.tmp"
    half.write_bytes(b"being written by another run")
    merged = tables._merge_with_parts

    def meanwhile(table: Path, parts: Sequence[Path]) -> pl.DataFrame:
        found = merged(table, parts)
        save_part(path, [row(seed=2, labels=3)])
        return found

    monkeypatch.setattr(tables, "_merge_with_parts", meanwhile)
    assert merge_parts(path)["labels"].to_list() == [2]
    monkeypatch.undo()
    assert half.exists()
    assert read_with_parts(path)["labels"].to_list() == [2, 3]
    assert merge_parts(path)["labels"].to_list() == [2, 3]


def test_a_table_that_another_run_wrote_meanwhile_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.parquet"
    save_part(path, [row(seed=1, labels=2)])
    merged = tables._merge_with_parts
    calls: list[int] = []

    def meanwhile(table: Path, parts: Sequence[Path]) -> pl.DataFrame:
        found = merged(table, parts)
        if not calls:
            write_table(path, frame_of([row(seed=2, labels=3)]))
        calls.append(len(parts))
        return found

    monkeypatch.setattr(tables, "_merge_with_parts", meanwhile)
    assert merge_parts(path)["labels"].to_list() == [2, 3]
    assert calls == [1, 1]


def test_a_part_that_is_gone_is_in_the_table(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    save_part(path, [row(seed=1, labels=2)])
    parts = tables._parts(path)
    merge_parts(path)
    assert tables._merge_with_parts(path, parts)["labels"].to_list() == [2]


def test_the_same_cell_kept_twice_is_the_later_one(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    save_part(path, [row(labels=1)])
    for part in parts_folder(path).iterdir():
        os.utime(part, (1, 1))
    save_part(path, [row(labels=2)])
    assert merge_parts(path)["labels"].to_list() == [2]


def test_parts_cannot_be_kept_in_the_place_of_a_file(tmp_path: Path) -> None:
    parts_folder(tmp_path / "table.parquet").write_text("no folder", encoding="utf-8")
    with pytest.raises(InputError):
        save_part(tmp_path / "table.parquet", [row()])
