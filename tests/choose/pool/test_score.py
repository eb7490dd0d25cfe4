"""Scoring: every record is accounted for, done once, and the same whatever the parts were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from tests.choose.pool.pool_data import some_records, write_pool

LINES = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from(
            [
                b'{"id": "a", "text": "good"}',
                b'{"id": "a", "text": "other"}',
                b'{"text": "no id"}',
                b'{"id": "e", "text": " "}',
                b'{"id": "h", "text": "\\ud800"}',
                b'{"id": "c", "text": "\\u0001"}',
                b'{"id": true, "text": "wrong id"}',
                b'{"id": "n", "text": 3}',
                b'{"id": "l", "text": "' + b"y" * 300 + b'"}',
            ]
        ),
    ),
    max_size=40,
)


def letters(texts: list[str]) -> Any:
    return np.array([len(text) for text in texts], float)


def without_some(texts: list[str]) -> Any:
    return np.array([np.nan if "猫" in text else 1.0 for text in texts])


@given(lines=LINES, rows=st.integers(1, 7))
def test_the_counts_add_up_whatever_is_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], rows: int
) -> None:
    folder = tmp_path_factory.mktemp("pool")
    path = folder / "a.jsonl"
    path.write_bytes(b'{"id": "first", "text": "always good"}\n' + b"\n".join(lines))
    pool = score_pool(path, folder / "scored", longest=100, rows=rows)
    full = sum(bool(line.strip()) for line in path.read_bytes().split(b"\n"))
    assert pool.tally.read == full
    assert pool.tally.read == pool.tally.good + pool.tally.bad.total()
    assert pool.tally.good == len(pool.column("key"))
    assert all(pool.tally.examples[kind] for kind in pool.tally.bad)


def test_columns_are_kept_with_their_place(tmp_path: Path) -> None:
    records = [
        {"id": 7, "text": "one two", "licence": "CC0", "nested": {"a": [1, None]}, "nan": float("nan")}
    ]
    pool = score_pool(write_pool(tmp_path, [("jsonl", records)]), tmp_path / "scored")
    row = pool.rows(np.array([0])).row(0, named=True)
    assert (row["item"], row["source"], row["utility"], row["line"]) == ("7", "one two", 2.0, 1)
    assert json.loads(row["kept"]) == {"licence": "CC0", "nan": None, "nested": {"a": [1, None]}}
    few = score_pool(tmp_path / "shard-0.jsonl", tmp_path / "few", keep=["licence"])
    assert json.loads(few.column("kept").item()) == {"licence": "CC0"}


def test_an_id_that_is_not_there_follows_from_the_text(tmp_path: Path) -> None:
    write_pool(tmp_path, [("txt", [])])[0].write_text("one  text\nanother\none text\n", encoding="utf-8")
    ids = score_pool(tmp_path / "shard-0.txt", tmp_path / "scored").column("item").to_series().to_list()
    assert ids[0] == ids[2] != ids[1]
    assert ids[0].startswith("text-")


def test_a_column_or_a_function_scores(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("csv", some_records(30)), ("parquet", some_records(30))])
    by_column = score_pool(paths, tmp_path / "column", by="hard").column("utility").to_series()
    assert by_column.to_list() == [float(record["hard"]) for record in some_records(30)] * 2
    expected = [float(len(record["text"])) for record in some_records(30)] * 2
    for by in (letters, f"{__name__}:letters"):
        for batch in (1, 7, 100):
            pool = score_pool(paths, tmp_path / f"{batch}", by=by, batch=batch)
            assert pool.column("utility").to_series().to_list() == expected


def test_what_cannot_be_scored_is_counted(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(30))])
    silent = sum("猫" in record["text"] for record in some_records(30))
    assert 0 < silent < 30
    pool = score_pool(paths, tmp_path / "scored", by=without_some)
    assert (pool.tally.good, pool.tally.bad) == (30 - silent, {"no_score": silent})
    with pytest.raises(DataError, match="no source: of 30 records, 30 no_score"):
        score_pool(paths, tmp_path / "column", by="nowhere")


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("nowhere:f", "cannot be imported"),
        ("json:nothing", "cannot be imported"),
        ("json:__name__", "is not a function"),
        (lambda texts: np.zeros(1), "must return one number per text"),
    ],
)
def test_a_wrong_function_is_refused(tmp_path: Path, by: Any, words: str) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(5))])
    with pytest.raises(UsageError, match=words):
        score_pool(paths, tmp_path / "scored", by=by)


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(60)), ("csv.gz", some_records(60, seed=1))])
    calls: list[int] = []

    def counting(texts: list[str]) -> Any:
        calls.append(len(texts))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return letters(texts)

    with pytest.raises(KeyboardInterrupt):
        score_pool(paths, tmp_path / "scored", by=counting, rows=20)
    assert not (tmp_path / "scored" / "pool.json").exists()
    pool = score_pool(paths, tmp_path / "scored", by=counting, rows=20)
    assert calls == [20] * 7
    assert pool.to_dict() == score_pool(paths, tmp_path / "scored", by=counting, rows=20).to_dict()
    assert calls == [20] * 7
    fresh = score_pool(paths, tmp_path / "fresh", by=letters, rows=20)
    assert pool.column("row").equals(fresh.column("row"))
    # A file that has changed is read again, the other one is not.
    paths[0].write_text('{"id": "new", "text": "only one now"}\n', encoding="utf-8")
    assert score_pool(paths, tmp_path / "scored", by=counting, rows=20).tally.read == 61
    assert calls == [20] * 7 + [1]


def test_workers_give_the_same_pool(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(60)), ("parquet", some_records(60, seed=1))])
    alone = score_pool(paths, tmp_path / "one", near=True, stretch=500)
    together = score_pool(paths, tmp_path / "two", near=True, stretch=500, jobs=2)
    assert alone.to_dict() == together.to_dict()
    assert len(alone.parts) > 4
    assert ScoredPool.load(tmp_path / "two").to_dict() == together.to_dict()


def test_the_first_bad_record_is_refused_when_asked(tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path, [("jsonl", some_records(5))])
    score_pool(path, tmp_path / "scored", bad="refuse")
    path.write_bytes(path.read_bytes() + b"\n{broken\n")
    for _ in range(2):
        with pytest.raises(InputError, match=r"line 7: not JSON: \{broken\. Fix it"):
            score_pool(path, tmp_path / "scored", bad="refuse")
        score_pool(path, tmp_path / "scored")


def test_workers_refuse_with_the_same_sentence(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(5)), ("csv", some_records(5))])
    paths[1].write_bytes(paths[1].read_bytes() + b"too,few\n")
    with pytest.raises(
        InputError, match=r"shard-1\.csv, line 7: 2 fields where the header has 4: too,few\. Fix"
    ):
        score_pool(paths, tmp_path / "scored", bad="refuse", jobs=2)


def test_scores_may_lie_inside_the_pool(tmp_path: Path) -> None:
    write_pool(tmp_path, [("jsonl", some_records(5))])
    first = score_pool(tmp_path, tmp_path / "scored")
    assert score_pool(tmp_path, tmp_path / "scored").to_dict() == first.to_dict()
    assert first.tally.read == 5


def test_an_id_with_two_texts_is_told_and_refused_when_asked(tmp_path: Path) -> None:
    twice = [{"id": "a", "text": "one"}, {"id": "a", "text": "two"}, {"id": "b", "text": "one"}]
    paths = write_pool(tmp_path, [("jsonl", twice), ("csv", [*twice[:1], *twice[2:]])])
    pool = score_pool(paths, tmp_path / "scored")
    assert (pool.duplicate_ids, pool.duplicate_examples) == (1, ("a",))
    with pytest.raises(InputError, match="1 sources have the id of another with a different text, such as a"):
        score_pool(paths, tmp_path / "scored", bad="refuse")


def test_a_folder_that_is_no_pool_or_has_lost_a_part_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a scored pool"):
        ScoredPool.load(tmp_path)
    pool = score_pool(write_pool(tmp_path, [("jsonl", some_records(5))]), tmp_path / "scored")
    (tmp_path / "scored" / f"{pool.parts[0].name}.parquet").unlink()
    with pytest.raises(InputError, match="1 parts are gone"):
        ScoredPool.load(tmp_path / "scored")


def test_progress_is_told(tmp_path: Path) -> None:
    paths = write_pool(tmp_path, [("jsonl", some_records(5)), ("csv", some_records(5))])
    told: list[tuple[int, int, str]] = []
    score_pool(paths, tmp_path / "scored", progress=lambda *said: told.append(said))
    assert told == [(1, 2, "5 records"), (2, 2, "10 records")]
