from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.selection import Selection
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.release import rater_numbers, release
from tests.run.campaign.made import begin, made_set, row

NAMES = ("Wilhelmina", "Bartholomew", "Ottoline")


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    begun = begin(str(tmp_path / "campaign.db"), budget=8)
    begun.next()
    questions = begun.questions()
    for place, name in enumerate(NAMES):
        begun.record(
            [
                row(one, 10 * place + 1, name, seconds=3, comment=f"{name} was here", client=f"{name}-1")
                for one in questions[place:]
            ]
        )
    begun.record([row(questions[0], 99, NAMES[0], client="again")])
    return begun


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_nobody_is_named_anywhere(campaign: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = release(campaign, out, licence="CC-BY-4.0", seed=4)
    text = everything(out).decode()
    assert not any(name in text for name in NAMES)
    assert str(made.seed) not in json.loads((out / "release.json").read_text("utf-8")).values()
    assert "client" not in (out / "ratings.csv").read_text("utf-8").splitlines()[0]
    assert campaign.ratings()[0]["at"][:16] not in text
    campaign.disconnect()


def test_the_answers_that_count_under_numbers(campaign: Campaign, tmp_path: Path) -> None:
    made = release(campaign, tmp_path / "out", licence="CC0-1.0", seed=4)
    with (tmp_path / "out" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (made.raters, made.answers, len(rows)) == (3, 12 + 11 + 10, 33)
    numbers = rater_numbers(sorted(NAMES), 4)
    assert sorted(numbers.values()) == ["1", "2", "3"]
    assert Counter(one["rater"] for one in rows) == {
        numbers[name]: 12 - place for place, name in enumerate(NAMES)
    }
    assert [one["score"] for one in rows if one["rater"] == numbers[NAMES[0]]].count("99.0") == 1
    campaign.disconnect()


def test_numbers_hang_on_the_seed_and_not_on_the_alphabet() -> None:
    names = [f"rater {number}" for number in range(50)]
    one = rater_numbers(names, 1)
    assert one == rater_numbers(names, 1)
    assert one != rater_numbers(names, 2)
    assert [one[name] for name in names] != [str(number) for number in range(1, 51)]


def test_withdrawn_answers_are_not_released(campaign: Campaign, tmp_path: Path) -> None:
    campaign.withdraw_rater(NAMES[0])
    release(campaign, tmp_path / "out", licence="CC-BY-4.0")
    data = sparingly.load(tmp_path / "out" / "data" / "data.jsonl")
    assert len(data.ratings) == len(campaign.data().ratings) > 0
    assert data.ratings.raters == ("1", "2")
    campaign.disconnect()


def test_data_and_rounds_are_of_use_as_they_are(campaign: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    release(campaign, out, licence="CC-BY-4.0")
    data = sparingly.load(out / "data" / "data.jsonl")
    chosen = Selection.load(out / "rounds" / "data-1.json")
    assert data.ratings.raters == ("1", "2", "3")
    assert data.ratings.comments == 0
    (first,) = campaign.rounds()
    assert list(chosen.items) == list(first.items)
    assert chosen.probability is not None
    assert chosen.probability.tolist() == first.probability.tolist()  # type: ignore[union-attr]
    assert str(chosen.signature) == str(first.signature)
    estimate = sparingly.estimate(data, chosen, "overall", estimator="mean", interval="none")
    same = sparingly.estimate(campaign.data(), first, "overall", estimator="mean", interval="none")
    assert estimate.scores.tolist() == same.scores.tolist()
    campaign.disconnect()


def test_the_card_and_the_manifest(campaign: Campaign, tmp_path: Path) -> None:
    out = tmp_path / "out"
    release(campaign, out, licence="CC-BY-4.0", title="A | *first* <b>trial</b>")
    card = (out / "README.md").read_text("utf-8")
    assert card.startswith('---\npretty_name: "A | *first* <b>trial</b>"\nlicense: "CC-BY-4.0"\n---\n')
    assert "# A \\| \\*first\\* \\<b\\>trial\\</b\\>" in card
    assert "33 judgements by 3 raters, from a human evaluation of 1 data set in 1 round." in card
    assert "| overall | 0 to 100 | 33 |" in card
    assert "| data | 1 | 4 of 12 | 0.6667 |" in card
    manifest = json.loads((out / "release.json").read_text("utf-8"))
    assert (manifest["format"], manifest["licence"]) == ("sparingly/release", "CC-BY-4.0")
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    assert {*manifest["files"], "release.json"} == {
        path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()
    }
    campaign.disconnect()


def test_a_zip_is_the_folder_and_the_same_every_time(campaign: Campaign, tmp_path: Path) -> None:
    made = release(campaign, tmp_path / "out", licence="MIT", seed=1)
    packed = tmp_path / "trial.zip"
    release(campaign, packed, licence="MIT", seed=1)
    again = tmp_path / "again" / "trial.zip"
    again.parent.mkdir()
    release(campaign, again, licence="MIT", seed=1)
    assert packed.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(io.BytesIO(packed.read_bytes())) as archive:
        assert archive.namelist() == [f"trial/{name}" for name in made.files]
        for name in made.files:
            assert archive.read(f"trial/{name}") == (tmp_path / "out" / name).read_bytes()
    campaign.disconnect()


def test_comments_and_texts_only_where_they_are_wanted(campaign: Campaign, tmp_path: Path) -> None:
    release(campaign, tmp_path / "told", licence="MIT", comments=True)
    assert "Ottoline was here" in (tmp_path / "told" / "ratings.csv").read_text("utf-8")
    made = release(campaign, tmp_path / "bare", licence="MIT", texts=False)
    assert not any(name.startswith("data/") for name in made.files)
    assert b"source of item" not in everything(tmp_path / "bare")
    campaign.disconnect()


def test_what_cannot_be_written(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Name the licence of the release"):
        release(campaign, tmp_path / "out", licence=" ")
    (tmp_path / "there").mkdir()
    with pytest.raises(InputError, match="something at this place already"):
        release(campaign, tmp_path / "there", licence="MIT")
    with pytest.raises(InputError, match="the folder to write to does not exist"):
        release(campaign, tmp_path / "no" / "out", licence="MIT")
    campaign.disconnect()


def test_digests_of_comparisons_say_nothing_of_names(tmp_path: Path) -> None:
    """Whoever knows the names of few raters could try all orders until the digest fits."""
    data = made_set(20)
    settings = {"strategy": "d_optimal:first=6", "budget": 20, "scale": None, "size": 6}
    with begin(str(tmp_path / "campaign.db"), data, **settings) as begun:
        for _ in range(2):
            begun.next()
            begun.record(
                [
                    {"rater": NAMES[0], "item": one.item, "first": one.model, "second": one.other, "score": 1}
                    for one in begun.questions()
                ]
            )
        assert begun.rounds()[1].signature.labels is not None
        release(begun, tmp_path / "out", licence="MIT")
        second = Selection.load(tmp_path / "out" / "rounds" / "data-2.json")
    assert (second.signature.labels, second.signature.earlier) == (None, None)
    assert "made with the raters' names" in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert len(sparingly.load(tmp_path / "out" / "data" / "data.jsonl").preferences) == 12


def test_data_sets_with_names_that_no_file_can_have(tmp_path: Path) -> None:
    sets = {"en/de": made_set(), "en de": made_set(8, prefix="more")}
    with begin(str(tmp_path / "campaign.db"), sets, budget="50%") as begun:
        begun.next()
        made = release(begun, tmp_path / "out", licence="MIT")
    assert {name for name in made.files if name.startswith("data/")} == {
        "data/en-de.jsonl",
        "data/en-de-.jsonl",
    }
