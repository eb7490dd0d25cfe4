"""The generated pools, what a command is said to take, and the page's table."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from benchmarks.make_pool import SCRIPTS, write_pool
from benchmarks.pool_scale import block_of, watched
from sparingly.choose.pool.score import score_pool


def test_a_pool_is_as_it_is_said_to_be(tmp_path: Path) -> None:
    paths = write_pool(tmp_path / "plain", 60_000, files=2)
    records = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    texts = [record["text"] for record in records]
    assert len({record["id"] for record in records}) == 60_000
    assert 100 <= sum(len(text.encode()) for text in texts) / len(texts) <= 130
    assert len(set(texts)) / len(texts) == pytest.approx(0.9, abs=0.01)
    assert {record["language"] for record in records} == {script.language for script in SCRIPTS}


def test_the_seed_settles_a_pool_and_packing_changes_nothing(tmp_path: Path) -> None:
    plain, packed = (
        write_pool(tmp_path / name, 300, 2, packed=name == "packed", types=5000)
        for name in ("plain", "packed")
    )
    assert [gzip.decompress(path.read_bytes()) for path in packed] == [path.read_bytes() for path in plain]
    other = write_pool(tmp_path / "other", 300, 2, seed=2, types=5000)
    assert other[0].read_bytes() != plain[0].read_bytes()
    assert score_pool(tmp_path / "plain", tmp_path / "scored", bad="refuse").tally.good == 300


def test_a_command_is_watched_with_what_it_starts() -> None:
    child = "import time; held = bytearray(60_000_000); sum(range(4_000_000)); time.sleep(1)"
    both = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    taken = watched((sys.executable, "-c", both))
    assert taken.seconds > 1
    assert 60 < taken.megabytes < 200
    assert 0 < taken.processor < 20
    with pytest.raises(RuntimeError, match="ended with 3"):
        watched((sys.executable, "-c", "raise SystemExit(3)"))


def test_the_table_adds_up() -> None:
    taken = {"seconds": 10.0, "processor": 18.0, "megabytes": 500.0}
    run = {"sources": 1000, "megabytes": 200.0, "jobs": 2, "load_before": 0.5, "date": "2026-01-02"}
    whole = run | {"taken": {"score": taken, "select": taken, "score with near": taken}}
    block = block_of(
        {"runs": {"1000": whole, "2000": run | {"taken": {"score": taken}}}, "stages": {"read": 41_000.4}}
    )
    assert "| 1,000 | 0.20 GB | **both** | 20 | 36 | 50 | 0.50 GB |" in block
    assert "| 1,000 | 0.20 GB | score with near duplicates | 10 | 18 | 100 | 0.50 GB |" in block
    assert "| read | 41,000 |" in block
    assert block.count("| score |") == 1, "a run that is not finished is not shown"
