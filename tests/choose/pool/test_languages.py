"""Languages: said by a column, or identified; filters and quotas by them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from sparingly.base.errors import ExtraMissingError, UnknownNameError, UsageError
from sparingly.choose.pool import sources
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from sparingly.choose.pool.select import select_pool
from sparingly.choose.pool.sources import Languages
from sparingly.run.verify import verify_pool
from tests.choose.pool.pool_data import write_pool

GERMAN, ENGLISH = "Das ist ein schönes altes Haus am Fluss", "This is a beautiful old house by the river"
RUSSIAN, CHINESE = "Это красивый старый дом у реки", "这是河边一座美丽的老房子"
TEXTS = {"de": GERMAN, "en": ENGLISH, "ru": RUSSIAN, "zh": CHINESE}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> ScoredPool:
    folder = tmp_path_factory.mktemp("languages")
    records = [
        {"id": f"{name}{place}", "text": text + 3 * place * " 7", "language": "?" if place else None}
        for name, text in TEXTS.items()
        for place in range(3)
    ]
    return score_pool(write_pool(folder, [("jsonl", records)]), folder / "scored", identify=True)


def test_languages_are_identified() -> None:
    assert Languages(identify=True).identify_all([*TEXTS.values(), "123"], ["{}"] * 5) == [*TEXTS, "und"]
    assert Languages(identify=True, among=("de", "ru")).identify_all([ENGLISH, "123"], ["{}"] * 2) == [
        "de",
        "und",
    ]
    assert Languages(identify=True, among=("ru",)).identify_all([ENGLISH], ["{}"]) == ["ru"]


def test_a_column_goes_before_the_text() -> None:
    kept = [json.dumps({"lang": "fr"}), json.dumps({"lang": None}), json.dumps({"lang": " "}), "{}"]
    assert Languages("lang").identify_all([GERMAN] * 4, kept) == ["fr", None, None, None]
    assert Languages("lang", identify=True).identify_all([GERMAN] * 4, kept) == ["fr", "de", "de", "de"]


def test_what_cannot_be_identified_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="add identify=True"):
        Languages(among=("de",)).check()
    with pytest.raises(UnknownNameError, match="de"):
        Languages(identify=True, among=("deu",)).check()
    sources._identifier.cache_clear()
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    with pytest.raises(ExtraMissingError, match=r"sparingly\[langid\]"):
        Languages(identify=True).check()


def test_sources_of_some_languages_are_chosen_and_verified(spoken: ScoredPool) -> None:
    chosen = select_pool(spoken, 6, design="uniform", languages=["ru", "de"])
    assert sorted(chosen.selection.items) == [f"{name}{place}" for name in ("de", "ru") for place in range(3)]
    assert (chosen.removed["language"], chosen.selection.signature.of) == (6, 6)
    assert "languages=[de,ru]" in chosen.selection.signature.method
    assert verify_pool(chosen.selection, ScoredPool.load(spoken.folder)).ok
    assert select_pool(spoken, 3, design="top", languages=["de"], anchors=["zh0"]).selection.items[0] == "zh0"
    with pytest.raises(UnknownNameError, match="it"):
        select_pool(spoken, 2, design="top", languages=["it"])


def test_every_language_has_its_quota(spoken: ScoredPool) -> None:
    rows = select_pool(spoken, 8, design="pivotal", groups="language").rows
    assert {name: sum(row["language"] == name for row in rows) for name in TEXTS} == dict.fromkeys(TEXTS, 2)
    # What the record said is there, too, under a longer name.
    assert {row["given_language"] for row in rows if "given_language" in row} == {"?"}


def test_a_column_is_enough(tmp_path: Path) -> None:
    records = [{"id": str(place), "text": f"a {place}", "lang": "ab"[place % 2]} for place in range(10)]
    paths = write_pool(tmp_path, [("csv", records)])
    pool = score_pool(paths, tmp_path / "said", language="lang", keep=["other"])
    assert pool.column("language").to_series().to_list() == ["a", "b"] * 5
    assert set(select_pool(pool, 2, design="top", languages=["b"]).selection.items) < set("13579")
    plain = score_pool(paths, tmp_path / "plain")
    assert plain.column("language").to_series().null_count() == 10
    with pytest.raises(UsageError, match="are not known"):
        select_pool(plain, 2, design="top", languages=["b"])


def test_groups_are_crossed(spoken: ScoredPool) -> None:
    chosen = select_pool(spoken, 10, design="uniform", groups="language, length", bands=3)
    strata = chosen.selection.stratum
    assert strata is not None
    assert len(set(strata.tolist())) == 10
    assert verify_pool(chosen.selection, spoken).ok
    for name, row in zip(strata, chosen.rows, strict=True):
        language, _, band = name.partition(", ")
        low, high = (float(number) for number in band.partition(": ")[2].split(" to "))
        assert language == row["language"]
        assert low <= row["utility"] <= high
