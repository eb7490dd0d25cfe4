"""Selections from pools: the same whatever the files, with quotas, anchors and counts that add up."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.rng import keys_of
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.select import PoolSelection, select_pool
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.run.verify import verify_pool
from tests.choose.pool.pool_data import Record, some_records, write_pool

RECORDS = [*some_records(120), {"id": "s3", "text": "another text of s3", "domain": "law", "hard": 1}]
KINDS = ("jsonl", "jsonl.gz", "csv", "csv.gz", "parquet")
ASKED: list[dict[str, Any]] = [
    {"budget": 12, "design": "top", "groups": "domain"},
    {"budget": "10%", "design": "uniform"},
    {"budget": 11, "design": "pivotal", "groups": "length", "bands": 3, "quota": "share", "near": 0.5},
    {"budget": 9, "design": "systematic", "order": "utility", "never": ["s4", "s8"], "shortest": 6},
    {"budget": "cost:30", "design": "pivotal", "cost": "hard", "tau": 0.3, "anchors": ["s1", "s2"]},
    {"budget": "1h", "design": "top", "cost": "length", "duplicates": True, "longest": 9},
]

Way = tuple[int, list[tuple[str, int]], dict[str, Any]]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> ScoredPool:
    folder = tmp_path_factory.mktemp("pool")
    corpus = write_pool(folder / "corpus", [("jsonl", RECORDS[20:25])])
    paths = write_pool(folder, [("jsonl", RECORDS)])
    return score_pool(paths, folder / "scored", near=True, against=corpus, by="hard")


def rows_of(chosen: Selection) -> list[dict[str, Any]]:
    """The rows without what tells where they stood, which depends on the files."""
    rows = chosen.to_dict()["rows"]
    return [{name: value for name, value in row.items() if name != "provenance"} for row in rows]


@st.composite
def ways_to_write(draw: st.DrawFn) -> Way:
    """An order of the records, how many go into files of which kinds, and the parts to read them in."""
    kinds = draw(st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 100)), min_size=1, max_size=4))
    work = {"rows": draw(st.integers(5, 200)), "batch": draw(st.integers(1, 50))}
    return draw(st.integers(0, 1000)), kinds, {**work, "stretch": draw(st.integers(300, 5000))}


def shards_of(seed: int, kinds: list[tuple[str, int]]) -> list[tuple[str, list[Record]]]:
    """The records in an order that the seed gives, in files of these kinds; the last one takes the rest."""
    records = [RECORDS[place] for place in np.random.default_rng(seed).permutation(len(RECORDS))]
    ends = [0, *np.minimum(np.cumsum([count for _, count in kinds]), len(records) - 1).tolist()]
    ends[-1] = len(records)
    parts = [
        (kind, records[start:stop]) for (kind, _), (start, stop) in zip(kinds, pairwise(ends), strict=True)
    ]
    return [part for part in parts if part[1]]


@pytest.fixture(scope="module")
def drawn(pool: ScoredPool) -> list[PoolSelection]:
    return [select_pool(pool, **asked) for asked in ASKED]


@settings(max_examples=15)
@given(way=ways_to_write())
def test_the_selection_depends_on_the_sources_alone(
    tmp_path_factory: pytest.TempPathFactory,
    drawn: list[PoolSelection],
    way: Way,
) -> None:
    seed, kinds, work = way
    folder = tmp_path_factory.mktemp("again")
    again = score_pool(
        write_pool(folder, shards_of(seed, kinds)), folder / "scored", near=True, by="hard", **work
    )
    for asked, first in zip(ASKED, drawn, strict=True):
        second = select_pool(again, **asked)
        assert rows_of(first.selection) == rows_of(second.selection)
        assert first.removed == second.removed
        assert first.selection.signature.inputs == second.selection.signature.inputs


@pytest.mark.parametrize("asked", ASKED, ids=[f"{one['design']} {one['budget']}" for one in ASKED])
def test_counts_add_up_and_probabilities_are_known(pool: ScoredPool, asked: dict[str, Any]) -> None:
    chosen = select_pool(pool, **asked)
    signature = chosen.selection.signature
    assert chosen.scored == len(RECORDS) == sum(chosen.removed.values()) + signature.of
    assert len(set(chosen.selection.items)) == len(chosen) == signature.n
    assert chosen.selection.is_probability_sample is (asked["design"] != "top")
    assert verify_pool(Selection.from_dict(chosen.selection.to_dict()), pool).ok


def test_what_was_changed_by_hand_is_not_verified(pool: ScoredPool) -> None:
    values = select_pool(pool, design="uniform", quota={"law": 3, "news": 2}, groups="domain").selection
    assert verify_pool(values, pool).ok
    told = values.to_dict()
    told["rows"][0]["item"] = "s0" if told["rows"][0]["item"] != "s0" else "s1"
    assert "should not be there" in verify_pool(Selection.from_dict(told), pool).problems[0]
    other = select_pool(pool, 10, design="uniform", seed=1).selection.to_dict()
    other["signature"]["method"] = other["signature"]["method"].replace("by=hard", "by=soft")
    assert "scored with by=hard" in verify_pool(Selection.from_dict(other), pool).problems[0]
    plain = sparingly.select(load_invented(), "random", 5)
    assert "not drawn from a pool" in verify_pool(plain, pool).problems[0]


def test_the_top_is_the_top_of_every_group(pool: ScoredPool) -> None:
    chosen = select_pool(pool, 12, design="top", groups="domain").selection
    distinct: dict[str, Record] = {}
    for record in sorted(RECORDS, key=lambda one: int(keys_of([one["id"]])[0])):
        distinct.setdefault(record["text"], record)
    for domain in ("news", "chat", "law"):
        best = sorted((one["hard"] for one in distinct.values() if one["domain"] == domain), reverse=True)
        mine = [row.utility for row in chosen if row.stratum == domain]
        assert mine == best[:4]
    assert chosen.probability is None


def test_a_seed_settles_ties_and_draws(pool: ScoredPool) -> None:
    for design in ("top", "uniform", "systematic"):
        draws = {tuple(select_pool(pool, 8, design=design, seed=seed).selection.items) for seed in range(5)}
        assert len(draws) == 5


def test_probabilities_add_up_to_the_quota(pool: ScoredPool) -> None:
    whole = select_pool(pool, "100%", design="pivotal")
    assert {row.probability for row in whole.selection} == {1.0}
    uniform = select_pool(pool, 10, design="uniform", groups="domain", quota="share").selection
    sizes = {
        name: sum(row.stratum == name for row in whole_by_domain(pool)) for name in ("news", "chat", "law")
    }
    for row in uniform:
        mine = sum(other.stratum == row.stratum for other in uniform)
        assert row.probability == pytest.approx(mine / sizes[str(row.stratum)])


def whole_by_domain(pool: ScoredPool) -> Selection:
    return select_pool(pool, "100%", design="uniform", groups="domain").selection


def test_numbers_by_name_draw_from_their_groups_alone(pool: ScoredPool) -> None:
    chosen = select_pool(pool, design="uniform", groups="domain", quota={"law": 3, "news": 2})
    assert sorted(row.stratum or "" for row in chosen.selection) == ["law"] * 3 + ["news"] * 2
    sizes = [row.stratum for row in whole_by_domain(pool)]
    assert chosen.removed["no_quota"] == sizes.count("chat")
    assert sum(row.weight or 0 for row in chosen.selection) == pytest.approx(chosen.selection.signature.of)


def test_anchors_count_towards_the_number_of_their_group(pool: ScoredPool) -> None:
    domain = {str(row.item): row.stratum for row in whole_by_domain(pool)}
    news = sorted(name for name, group in domain.items() if group == "news")
    chat = sorted(name for name, group in domain.items() if group == "chat")
    asked: dict[str, Any] = {"groups": "domain", "quota": {"law": 3, "news": 4}}
    for design in ("top", "uniform", "pivotal"):
        chosen = select_pool(pool, design=design, anchors=[*news[:2], *chat[:5]], **asked).selection
        assert sorted(str(row.stratum) for row in chosen) == ["chat"] * 5 + ["law"] * 3 + ["news"] * 4
        if design == "uniform":
            assert sum(row.weight or 0 for row in chosen) == pytest.approx(chosen.signature.of)
        assert verify_pool(chosen, pool).ok
    with pytest.raises(UsageError, match="more anchors than the quota asks for in news"):
        select_pool(pool, design="uniform", anchors=news[:5], **asked)


def test_sources_that_could_not_be_drawn_are_not_spoken_for(pool: ScoredPool) -> None:
    domain = {str(row.item): row.stratum for row in whole_by_domain(pool)}
    news = sorted(name for name, group in domain.items() if group == "news")[:2]
    quota = {"law": 3, "news": 2}
    with pytest.raises(UsageError, match="leaves news without any draw"):
        select_pool(pool, design="uniform", anchors=news, groups="domain", quota=quota)
    with pytest.raises(UsageError, match="anchors take the whole budget"):
        select_pool(pool, 2, design="uniform", anchors=news)
    assert list(select_pool(pool, 2, design="top", anchors=news).selection.items) != []
    with pytest.raises(UsageError, match="leave out the other budget"):
        select_pool(pool, 10, design="uniform", groups="domain", quota=quota)


def test_anchors_stay_and_the_rest_is_refreshed(pool: ScoredPool) -> None:
    last = [str(name) for name in select_pool(pool, 20, design="uniform", seed=3).selection.items]
    anchors = last[:5]
    for design in ("top", "pivotal", "systematic", "uniform"):
        chosen = select_pool(pool, 15, design=design, anchors=anchors, never=last, shortest=5).selection
        assert set(chosen.items[:5]) == set(anchors)
        assert set(chosen.items) & set(last) == set(anchors)
        assert len(chosen) == 15
        assert [row.reason == "anchor" for row in chosen] == [True] * 5 + [False] * 10
        if chosen.probability is not None:
            assert chosen.probability[:5].tolist() == [1.0] * 5
            assert (chosen.probability[5:] < 1.0).all()
    with pytest.raises(UsageError, match="1 of 2 anchors are not in the pool: nowhere"):
        select_pool(pool, 15, design="top", anchors=["s1", "nowhere"])
    with pytest.raises(UsageError, match="anchors alone take 5 of the budget of 3"):
        select_pool(pool, 3, design="top", anchors=anchors)


def test_copies_of_what_must_not_be_chosen_go_too(pool: ScoredPool) -> None:
    copies = {record["id"] for record in RECORDS if record["text"] == RECORDS[4]["text"]}
    assert len(copies) > 2
    assert len(copies & set(select_pool(pool, "100%", design="top").selection.items)) == 1
    for name in sorted(copies):
        barred = select_pool(pool, "100%", design="top", never=[name])
        assert not copies & set(barred.selection.items)
        assert barred.removed["never"] == 1
        kept = select_pool(pool, "100%", design="top", anchors=[name])
        assert copies & set(kept.selection.items) == {name}
        several = select_pool(pool, "100%", design="top", never=[name], duplicates=True)
        assert not copies & set(several.selection.items)


def test_what_must_not_be_chosen_bars_its_likes_though_it_is_too_short_itself(tmp_path: Path) -> None:
    text = "a sentence that was published with last year's test set and must never be seen again"
    records = [
        {"id": "old", "text": text},
        {"id": "like", "text": f"{text} !"},
        {
            "id": "new",
            "text": "something else by far that no one has published yet, and it is longer by one than it",
        },
    ]
    pool = score_pool(write_pool(tmp_path, [("jsonl", records)]), tmp_path / "scored", near=True)
    words = len(text.split())
    chosen = select_pool(pool, "100%", design="top", never=["old"], near=0.8, shortest=words + 1)
    assert list(chosen.selection.items) == ["new"]
    assert {name: count for name, count in chosen.removed.items() if count} == {
        "near_duplicate": 1,
        "never": 1,
    }


def test_an_id_with_two_texts_is_chosen_once(pool: ScoredPool) -> None:
    chosen = select_pool(pool, "100%", design="top", duplicates=True)
    assert list(chosen.selection.items).count("s3") == 1
    assert chosen.removed["duplicate_id"] == 1
    assert chosen.removed["duplicate_text"] == 0


def test_lengths_and_overlap_filter(pool: ScoredPool) -> None:
    chosen = select_pool(pool, "100%", design="uniform", shortest=6, longest=8, overlap=0.9)
    lengths = [len(row["source"].split()) for row in chosen.rows]
    assert set(lengths) <= {6, 7, 8}
    assert not {"s20", "s21", "s22", "s23", "s24"} & set(chosen.selection.items)
    assert chosen.removed["overlap"] > 0


def test_costs_stay_within_the_budget(pool: ScoredPool) -> None:
    for design in ("top", "uniform", "pivotal", "systematic"):
        for seed in range(5):
            chosen = select_pool(pool, "cost:40", design=design, cost="hard", seed=seed, anchors=["s1"])
            assert chosen.selection.total_cost is not None
            assert 30 < chosen.selection.total_cost <= 40
    timed = select_pool(pool, "10min", design="uniform", cost="length").selection
    assert timed.cost_unit == "seconds"


def test_what_is_chosen_is_written_with_its_provenance(pool: ScoredPool, tmp_path: Path) -> None:
    chosen = select_pool(pool, 10, design="pivotal", groups="domain")
    by_id = {record["id"]: record for record in RECORDS[:-1] if record["id"] != "s3"}
    for kind in ("json", "jsonl", "csv", "parquet"):
        chosen.save(tmp_path / f"chosen.{kind}")
    assert Selection.load(tmp_path / "chosen.json").to_dict() == chosen.selection.to_dict()
    lines = [
        json.loads(line) for line in (tmp_path / "chosen.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [line["item"] for line in lines] == list(chosen.selection.items)
    for line in lines:
        if line["item"] in by_id:
            record = by_id[line["item"]]
            assert (line["source"], line["domain"], line["hard"]) == (
                record["text"],
                record["domain"],
                record["hard"],
            )
            assert line["line"] == RECORDS.index(record) + 1
    for table in (pl.read_csv(tmp_path / "chosen.csv"), pl.read_parquet(tmp_path / "chosen.parquet")):
        assert table.get_column("item").to_list() == list(chosen.selection.items)
        known = [row.probability for row in chosen.selection]
        assert table.get_column("probability").to_list() == pytest.approx(known)
    held = sparingly.load(tmp_path / "chosen.jsonl")
    assert set(held.items) == set(chosen.selection.items)
    with pytest.raises(UsageError, match=r"none of \.json, \.jsonl"):
        chosen.save(tmp_path / "chosen.docx")


def test_columns_with_our_names_get_longer_ones(tmp_path: Path) -> None:
    records = [{"item": f"i{place}", "text": f"text {place}", "file": "theirs"} for place in range(4)]
    pool = score_pool(write_pool(tmp_path, [("jsonl", records)]), tmp_path / "scored")
    (row, *_) = select_pool(pool, 2, design="uniform").rows
    assert row["given_file"] == "theirs"
    assert row["file"].endswith("shard-0.jsonl")


def test_columns_of_any_values_are_written(tmp_path: Path) -> None:
    odd = [1, "x", True, None, 2.5, 10**30, {"a": ["ü"]}, "ü"]
    records = [
        {
            "id": f"i{place}",
            "text": f"text {place}",
            "odd": value,
            "whole": place,
            "real": place / 2,
            'a "b"': "c",
        }
        for place, value in enumerate(odd)
    ]
    pool = score_pool(write_pool(tmp_path, [("jsonl", records)]), tmp_path / "scored")
    chosen = select_pool(pool, "100%", design="uniform", groups='a "b"')
    assert {row.stratum for row in chosen.selection} == {"c"}
    chosen.save(tmp_path / "a.parquet")
    table = pl.read_parquet(tmp_path / "a.parquet").sort("item")
    texts = ["1", "x", "true", None, "2.5", str(10**30), '{"a": ["ü"]}', "ü"]
    assert table.get_column("odd").to_list() == texts
    assert table.get_column("whole").to_list() == list(range(8))
    assert table.get_column("real").to_list() == [place / 2 for place in range(8)]
    chosen.save(tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {line["item"]: line.get("odd") for line in lines} == {
        f"i{place}": odd[place] for place in range(8)
    }


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"budget": 5, "design": "top", "order": "length"}, UsageError, "Only systematic"),
        ({"design": "top"}, UsageError, "Say how much"),
        ({"budget": 500, "design": "top"}, UsageError, "500 sources is larger"),
        ({"budget": 2, "design": "uniform", "groups": "domain"}, UsageError, "without any draw"),
        ({"budget": 5, "design": "top", "groups": "nowhere"}, UnknownNameError, "no saved column"),
        ({"design": "top", "groups": "domain", "quota": {"sport": 2}}, UnknownNameError, "no group"),
        ({"design": "top", "groups": "domain", "quota": {"law": 0}}, UsageError, "1 or more"),
        ({"design": "top", "groups": "domain", "quota": {"law": 999}}, UsageError, "fewer sources"),
        ({"budget": 5, "design": "top", "groups": "length", "bands": 1}, UsageError, "2 bands"),
        ({"budget": "cost:5", "design": "top"}, UsageError, "needs the cost"),
        ({"budget": 5, "design": "top", "cost": "domain"}, DataError, "have no cost"),
        ({"budget": 5, "design": "top", "near": 1.5}, UsageError, "near is a share"),
        ({"budget": 5, "design": "top", "shortest": 99}, DataError, "None of the 121 sources"),
        ({"budget": "1s", "design": "top", "cost": "length"}, UsageError, "too small"),
        (
            {"budget": "1h", "design": "systematic", "order": "length", "cost": "length"},
            UsageError,
            "leave out the order",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    pool: ScoredPool, asked: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        select_pool(pool, **asked)


def test_what_the_pool_was_not_scored_for_is_said(tmp_path: Path) -> None:
    score_pool(write_pool(tmp_path, [("jsonl", some_records(5))]), tmp_path / "scored")
    for name in ("near", "overlap"):
        with pytest.raises(UsageError, match="Score it with"):
            select_pool(tmp_path / "scored", 2, design="top", **{name: 0.5})  # type: ignore[arg-type]


def test_bands_hold_like_numbers_of_sources(pool: ScoredPool) -> None:
    chosen = select_pool(pool, "100%", design="uniform", groups="length", bands=3).selection
    _, sizes = np.unique([row.stratum for row in chosen], return_counts=True)
    assert len(sizes) == 3
    assert sizes.max() < 2 * sizes.min()
