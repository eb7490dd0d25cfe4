from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import sparingly
from sparingly.run.campaign.access import Audit
from sparingly.run.campaign.answers import save_marks
from sparingly.run.campaign.release import bundle_files
from sparingly.run.forms.spans import Span
from tests.run.campaign.made import answer_all, begin, made_set, row


def test_everything_is_in_it(where: str, tmp_path: Path) -> None:
    sets = {"en-de": made_set(), "en-uk": made_set(8, prefix="more")}
    with begin(where, sets, budget="50%") as campaign:
        campaign.next()
        one = campaign.questions()[0]
        campaign.record([row(one, 3, "ann", data=one.data, seconds=7, comment="läuft", client="first")])
        campaign.record([row(one, 4, "ann", data=one.data, client="second")])
        seq = campaign.status().last_seq
        with campaign.database.writing() as connection:
            save_marks(connection, campaign.name, {seq: (Span(0, 2, "major"),)})
        Audit(campaign.database, campaign.name).write("organiser", "looked")
        found = bundle_files(campaign)
        judged = campaign.data("en-de")
    answers = list(csv.DictReader(io.StringIO(found["answers.csv"].decode())))
    assert [(each["score"], each["comment"]) for each in answers] == [("3.0", "läuft"), ("4.0", "")]
    (marked,) = map(json.loads, found["marks.jsonl"].splitlines())
    assert marked["marks"] == [{"start": 0, "end": 2, "severity": "major"}]
    assert [json.loads(line)["what"] for line in found["log.jsonl"].splitlines()] == ["looked"]
    assert json.loads(found["overview.json"])["cost"]["seconds"] == 7
    assert {"data/en-de.jsonl", "data/en-uk.jsonl", "rounds/en-de-1.json", "rounds/en-uk-1.json"} <= set(
        found
    )
    (tmp_path / "data.jsonl").write_bytes(found["data/en-de.jsonl"])
    assert sparingly.load(tmp_path / "data.jsonl").digest() == judged.digest()


def test_a_campaign_without_answers(where: str) -> None:
    with begin(where) as campaign:
        found = bundle_files(campaign)
    assert "marks.jsonl" not in found
    assert found["answers.csv"].count(b"\n") == 1


def test_a_campaign_does_it_all_by_itself(where: str, tmp_path: Path) -> None:
    with begin(where) as campaign:
        campaign.next()
        answer_all(campaign)
        campaign.pause("tea")
        assert campaign.overview().pause is not None
        campaign.resume()
        assert campaign.findings().seq == campaign.overview().seq
        assert campaign.outlook().number == 2
        assert [one.rater for one in campaign.hours()] == ["ann"]
        assert campaign.release(tmp_path / "out.zip", licence="MIT").raters == 1
