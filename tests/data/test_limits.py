"""Small files that become large: refused in one sentence, quickly, and without filling the memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data import files
from sparingly.run.exchange.files import read_csv_rows

MEGABYTE = 2**20
_MEMORY = """
import sys, sparingly
try:
    sparingly.load(sys.argv[1])
except sparingly.InputError as error:
    print(error)
# The most memory that this program had; getrusage also counts what started it.
held = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(held.split()[1]) // 1024)
"""


def packed(path: Path, pack: Callable[[bytes], bytes], block: bytes, times: int, start: bytes = b"") -> Path:
    """Write a file that unpacks to a block many times over: packed streams may follow one another."""
    path.write_bytes((pack(start) if start else b"") + pack(block) * times)
    return path


@pytest.mark.parametrize(
    ("name", "pack", "block", "start"),
    [
        ("a.json.xz", lzma.compress, b" " * MEGABYTE, b"["),
        ("a.json.gz", gzip.compress, b"[]," * (MEGABYTE // 3), b"["),
        ("a.jsonl.gz", gzip.compress, b"a" * MEGABYTE, b"{"),
        ("a.csv.bz2", bz2.compress, b"a,b,1\n" * (MEGABYTE // 6), b"item,model,score\n"),
    ],
)
def test_a_packed_bomb_is_one_sentence_and_little_memory(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes], block: bytes, start: bytes
) -> None:
    path = packed(tmp_path / name, pack, block, 1000, start)
    assert path.stat().st_size < 5 * MEGABYTE
    ran = subprocess.run(
        [sys.executable, "-c", _MEMORY, str(path)], capture_output=True, text=True, check=True, timeout=100
    )
    said, megabytes = ran.stdout.splitlines()
    assert "unpacks to more than" in said
    assert "SPARINGLY_LIMITS=off" in said
    # It unpacks to 1,000 MB; python with what it imports takes a third of what is allowed here.
    assert int(megabytes) < 450


def test_the_limit_goes_with_the_size_of_the_file_and_can_be_turned_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files.most_bytes(1000) == files.UNPACKED_BYTES
    assert files.most_bytes(10 * MEGABYTE) == 1000 * MEGABYTE
    path = packed(tmp_path / "a.json.gz", gzip.compress, b" " * MEGABYTE, 40, b'"text"')
    with pytest.raises(InputError, match="unpacks to more than 32 MB"):
        files.read_json(path)
    monkeypatch.setenv(files.VARIABLE, "off")
    assert files.read_json(path) == "text"
    monkeypatch.setenv(files.VARIABLE, "maybe")
    with pytest.raises(UsageError, match="SPARINGLY_LIMITS is on or off, not maybe"):
        files.read_json(path)


def test_what_is_below_the_limit_is_read_whole(tmp_path: Path) -> None:
    lines = [f"line {place}" for place in range(50_000)]
    for suffix, pack in ((".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)):
        path = tmp_path / f"a.txt{suffix}"
        path.write_bytes(pack("\n".join(lines).encode()))
        assert [line for _, line in files.text_lines(path)] == lines


def test_a_packed_file_that_is_cut_off_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"item": 1}\n' * 5000)[:-20])
    with pytest.raises(InputError, match="ends too early"):
        list(files.json_lines(path))


def test_a_json_value_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "JSON_BYTES", MEGABYTE)
    path = tmp_path / "a.json"
    path.write_text(f'["{"x" * MEGABYTE}"]', encoding="utf-8")
    with pytest.raises(InputError, match=r"larger than 1 MB\. Write JSON Lines"):
        files.read_json(path)


def test_a_million_columns_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{place}" for place in range(10**6)) + "\n", encoding="utf-8")
    for read in (sparingly.load, lambda file: list(read_csv_rows(file))):
        with pytest.raises(InputError, match="1,000,000 columns, and at most 10,000 are read"):
            read(path)


def test_rows_and_texts_of_parquet_that_take_no_room_are_refused(tmp_path: Path) -> None:
    import polars as pl

    rows = {name: pl.repeat("x", 2_000_000, eager=True) for name in ("item", "model", "output")}
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="holds 2,000,000 rows of 3 columns"):
        sparingly.load(tmp_path / "rows.parquet")
    items = pl.Series("item", [f"i{place}" for place in range(1000)])
    texts = {"model": pl.repeat("m", 1000, eager=True), "output": pl.repeat("y" * 10**5, 1000, eager=True)}
    pl.DataFrame({"item": items, **texts}).write_parquet(tmp_path / "texts.parquet")
    with pytest.raises(InputError, match=r"95\.4 MB of text in one column"):
        sparingly.load(tmp_path / "texts.parquet")


@pytest.mark.parametrize("name", ["sparse.csv", "sparse.jsonl"])
def test_items_and_models_that_meet_nowhere_are_refused(tmp_path: Path, name: str) -> None:
    count, path = 20_000, tmp_path / name
    rows = (
        [f"i{place},m{place},1" for place in range(count)]
        if name.endswith("csv")
        else [f'{{"item": "i{place}", "outputs": {{"m{place}": "x"}}}}' for place in range(count)]
    )
    path.write_text("\n".join(["item,model,s", *rows] if name.endswith("csv") else rows), encoding="utf-8")
    with pytest.raises(InputError, match="20,000 items × 20,000 models are too many to hold"):
        sparingly.load(path)


def test_keys_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.jsonl"
    lines = [
        f'{{"item": "i{item}", "outputs": {{"m": "x"}}, '
        + ", ".join(f'"k{item}_{place}": 1' for place in range(100))
        + "}"
        for item in range(101)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="10,100 columns"):
        sparingly.load(path)
