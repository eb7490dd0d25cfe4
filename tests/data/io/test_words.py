"""Two-valued scores in words: every reader takes them as 1 and 0, and says what does not go together."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import InputError
from sparingly.data.io.words import KINDS

ROLES: dict[str, Any] = {"roles": {"quality": "human", "check": "metric"}}


def table(path: Path, rows: list[str]) -> Path:
    path.write_text("item,model,quality,check\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "/".join(kind))
def test_words_of_every_kind_in_a_table(tmp_path: Path, kind: dict[str, float]) -> None:
    good, bad, *_ = kind
    last = list(kind)[-1]
    rows = [f"1,a,{good.upper()},0.1", f"1,b, {bad} ,0.2", "2,a,,0.3", f"2,b,{last.title()},0.4"]
    data = sparingly.load(table(tmp_path / "t.csv", rows), **ROLES)
    assert np.array_equal(data.aspects["quality"], [[1.0, 0.0], [np.nan, kind[last]]], equal_nan=True)


def test_metrics_and_tabs_and_frames(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("item\tmodel\tquality\tcheck\n1\ta\t3\tyes\n1\tb\t4\tNO\n", encoding="utf-8")
    assert sparingly.load(path, **ROLES).metrics["check"].tolist() == [[1.0, 0.0]]

    import polars as pl

    frame = pl.DataFrame(
        {
            "item": ["1", "1"],
            "model": ["a", "b"],
            "quality": pl.Series(["pass", "fail"], dtype=pl.Categorical),
            "check": [True, False],
        }
    )
    data = sparingly.from_frame(frame, **ROLES)
    assert data.aspects["quality"].tolist() == data.metrics["check"].tolist() == [[1.0, 0.0]]


def test_pass_and_fail_are_read_as_1_and_0_would_be(tmp_path: Path, shared_journeys: Path) -> None:
    """A judge's verdicts and people's labels of a log, as numbers and as words."""
    with (shared_journeys / "judge_2000.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    words = {"1": "Pass", "0": "Fail", "": ""}
    sets = []
    for name, written in (("numbers", dict(zip("10", "10", strict=True)) | {"": ""}), ("words", words)):
        path = tmp_path / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            out = csv.writer(file)
            out.writerow(["answer_id", "model", "judge_pass", "human_pass"])
            out.writerows(
                [row["answer_id"], "m", written[row["judge_pass"]], written[row["human_pass"]]]
                for row in rows
            )
        sets.append(sparingly.load(path))
    plain, read = sets
    assert len(read) == 2000
    assert np.array_equal(read.metrics["judge_pass"], plain.metrics["judge_pass"], equal_nan=True)
    assert np.array_equal(read.aspects["human_pass"], plain.aspects["human_pass"], equal_nan=True)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            ("pass", "maybe"),
            'line 3, field quality: "maybe" does not go with the other scores, which are pass or fail. '
            "Write pass or fail everywhere, or numbers everywhere.",
        ),
        (("maybe", "pass"), 'line 2, field quality: "maybe" does not go with the other scores'),
        (
            ("yes", "fail"),
            'line 3, field quality: "fail" does not go with the other scores, which are yes or no',
        ),
        (
            ("1", "win"),
            'line 2, field quality: "1" does not go with the other scores, which are win, loss or tie',
        ),
        (("fine", "poor"), 'line 2, field quality: "fine" is not a number'),
    ],
)
def test_what_does_not_go_together_in_a_table(tmp_path: Path, values: tuple[str, str], sentence: str) -> None:
    path = table(tmp_path / "t.csv", [f"1,a,{values[0]},1", f"1,b,{values[1]},2"])
    with pytest.raises(InputError) as caught:
        sparingly.load(path, **ROLES)
    assert str(caught.value).startswith(f"{path}, {sentence}")


def test_words_in_our_own_lines(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "t.jsonl",
        {"item": "1", "metrics": {"a": {"ok": True}, "b": {"ok": False}}, "aspects": {"a": {"q": " Good"}}},
        {"item": "2", "metrics": {"a": {"ok": None}, "b": {"ok": "TRUE"}}, "aspects": {"a": {"q": "bad"}}},
    )
    data = sparingly.load(path)
    assert np.array_equal(data.metrics["ok"], [[1.0, 0.0], [np.nan, 1.0]], equal_nan=True)
    assert np.array_equal(data.aspects["q"][:, 0], [1.0, 0.0])


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("pass", "poor", '"poor" does not go with the other scores, which are pass or fail'),
        ("pass", True, "true does not go with the other scores, which are pass or fail"),
        ("pass", 0.5, "0.5 does not go with the other scores, which are pass or fail"),
        (0.5, "pass", '"pass" is text, not a number'),
        (0.5, True, "true is not a number"),
    ],
)
def test_what_does_not_go_together_in_our_own_lines(
    tmp_path: Path, first: Any, second: Any, sentence: str
) -> None:
    path = lines(
        tmp_path / "t.jsonl",
        {"item": "1", "aspects": {"a": {"q": first}}},
        {"item": "2", "aspects": {"a": {"q": second}}},
    )
    with pytest.raises(InputError) as caught:
        sparingly.load(path)
    assert str(caught.value).startswith(f"{path}, line 2, field aspects.a.q: {sentence}")


# --- ratings ----------------------------------------------------------------------------------------


def rated(path: Path, scores: list[Any]) -> Path:
    """A file of one rating an item, as our own lines or as a table."""
    if path.suffix == ".jsonl":
        ratings = [{"model": "a", "rater": "r", "aspect": "q", "score": score} for score in scores]
        return lines(path, *({"item": str(row), "ratings": [one]} for row, one in enumerate(ratings)))
    rows = "".join(f"{row},a,r,q,{score}\n" for row, score in enumerate(scores))
    path.write_text(f"item,model,rater,aspect,score\n{rows}", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_ratings_in_words(tmp_path: Path, name: str) -> None:
    data = sparingly.load(rated(tmp_path / name, ["win", "Tie", "loss"]))
    assert data.ratings.score.tolist() == [1.0, 0.5, 0.0]
    assert data.ratings.comment is None


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_texts_beside_numbers_stay_comments(tmp_path: Path, name: str) -> None:
    data = sparingly.load(rated(tmp_path / name, [3, "good", 4]))
    assert np.array_equal(data.ratings.score, [3.0, np.nan, 4.0], equal_nan=True)
    assert data.ratings.comment is not None
    assert data.ratings.comment.tolist() == [None, "good", None]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_remarks_with_a_word_among_them_stay_comments(tmp_path: Path, name: str) -> None:
    data = sparingly.load(rated(tmp_path / name, ["too long", "good", "off topic"]))
    assert np.isnan(data.ratings.score).all()
    assert data.ratings.comment is not None
    assert data.ratings.comment.tolist() == ["too long", "good", "off topic"]


@pytest.mark.parametrize(("name", "line"), [("t.csv", 4), ("t.jsonl", 3)])
def test_one_other_word_among_ratings_is_named(tmp_path: Path, name: str, line: int) -> None:
    path = rated(tmp_path / name, ["pass", "fail", "unsure"])
    with pytest.raises(InputError) as caught:
        sparingly.load(path)
    assert f"{path}, line {line}, field" in str(caught.value)
    assert '"unsure" does not go with the other scores, which are pass or fail' in str(caught.value)


def test_a_truth_value_beside_numbers_is_no_rating(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2, field ratings\[0\]\.score: true is not a number"):
        sparingly.load(rated(tmp_path / "t.jsonl", [3, True]))


def only(word: Any, *, ratings: bool = False) -> list[dict[str, Any]]:
    """Twelve items of twenty that one model was judged on, always alike."""
    judged = {"ratings": [{"model": "a", "rater": "r", "aspect": "ok", "score": word}]}
    aspects = {"aspects": {"a": {"ok": word}}}
    return [
        {"item": f"i{row:02}", **((judged if ratings else aspects) if row < 12 else {})} for row in range(20)
    ]


@pytest.mark.parametrize("ratings", [False, True])
@pytest.mark.parametrize(
    ("word", "score", "ends"),
    [
        ("pass", "100.0 %", "at least 90.0 %"),
        ("NO", "0.0 %", "at most 10.0 %"),
        (True, "100.0 %", "at least"),
    ],
)
def test_one_word_alone_tells_the_scale(
    tmp_path: Path, word: Any, score: str, ends: str, ratings: bool
) -> None:
    data = sparingly.load(lines(tmp_path / "d.jsonl", *only(word, ratings=ratings)))
    found = sparingly.estimate(data)
    assert found.score_text(0) == score
    assert ends in found.interval_text(0)
    for name in ("again.jsonl", "again.parquet"):
        assert sparingly.save(data, tmp_path / name) == []
        again = sparingly.estimate(sparingly.load(tmp_path / name))
        assert again.interval_text(0) == found.interval_text(0)
    assert sparingly.save(data, tmp_path / "d.csv")[-1] == "scale of aspect:ok"


@pytest.mark.parametrize("rater", ["", "rater,"])
def test_one_word_alone_in_a_table_tells_the_scale(tmp_path: Path, rater: str) -> None:
    path, who = tmp_path / "t.csv", "r," if rater else ""
    rows = [f"i{row:02},a,{who}{'fail' if row < 12 else ''}" for row in range(20)]
    path.write_text(f"item,model,{rater}aspect:ok\n" + "\n".join(rows) + "\n")
    data = sparingly.load(path)
    assert sparingly.estimate(data).high[0] < 0.25


def test_zeros_that_are_numbers_tell_no_scale(tmp_path: Path) -> None:
    data = sparingly.load(lines(tmp_path / "d.jsonl", *only(0)))
    assert np.isnan(sparingly.estimate(data).high[0])
    assert sparingly.estimate(data, scale=(0, 1)).interval_text(0) == "at most 10.0 %"


def test_scores_that_are_replaced_lose_their_scale(tmp_path: Path) -> None:
    data = sparingly.load(lines(tmp_path / "d.jsonl", *only("pass")))
    assert np.isnan(sparingly.estimate(data.with_aspect("ok", 3 * data.aspects["ok"])).low[0])
    assert sparingly.estimate(data.with_column("year", [1] * 20)).low[0] > 0.7
    assert sparingly.estimate(data.take(items=data.items[:15])).low[0] > 0.7


def test_a_metric_in_words_is_flipped_with_its_scale(tmp_path: Path) -> None:
    records = [{"item": f"{row}", "metrics": {"a": {"bad": "yes"}}} for row in range(12)]
    data = sparingly.load(lines(tmp_path / "d.jsonl", *records), lower_is_better=["bad"])
    assert sparingly.estimate(data, None, "bad", target="population").low.tolist() == [-1.0]


@pytest.mark.parametrize("scales", ['{"aspect:ok": [1]}', '{"aspect:ok": [1, 0]}', '{"aspect:ok": [0, "b"]}'])
def test_a_header_with_a_bad_scale_is_one_sentence(tmp_path: Path, scales: str) -> None:
    path = tmp_path / "d.jsonl"
    head = f'{{"format": "sparingly/evalset", "version": 1, "scales": {scales}}}'
    path.write_text(f'{head}\n{{"item": "1", "aspects": {{"a": {{"ok": 1}}}}}}\n')
    with pytest.raises(InputError, match=r"line 1, field scales\.aspect:ok"):
        sparingly.load(path)
