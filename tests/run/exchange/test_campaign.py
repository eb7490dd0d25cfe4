"""A campaign's open round goes to a tool, and its answers are recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import record_answers
from sparingly.run.exchange.tasks import make_campaign_tasks
from tests.run.exchange.fakes import Answers, csv_table, label_studio
from tests.run.exchange.helpers import awkward, slots

DATA = awkward()


def begun(folder: Path) -> sparingly.Campaign:
    return sparingly.Campaign.new(
        folder / "c.db", DATA, "uniform", 6, aspects="overall", scale=(0, 10), size=3, seed=2
    )


def five(task: str, token: str, aspect: str) -> float:
    return 5.0


def test_two_rounds_there_and_back(tmp_path: Path) -> None:
    key = tmp_path / "c.key.json"
    with begun(tmp_path) as campaign:
        with pytest.raises(UsageError, match="Nothing is open"):
            make_campaign_tasks(campaign)
        for number in (1, 2):
            campaign.next()
            tasks = make_campaign_tasks(campaign)
            assert {task.round for task in tasks} == {number}
            assert len(tasks) == 3
            out = tmp_path / f"round-{number}"
            sparingly.export_tasks(campaign, to="label-studio", folder=out, key=key)
            back = label_studio(sorted(out.iterdir()), Answers(tasks, five))
            taken = sparingly.import_answers(back, key=key, raters={"7": "Ada"})
            assert len(taken) == slots(tasks)
            recorded = record_answers(campaign, taken)
            assert (recorded.new, recorded.refused) == (18, 0)
            again = record_answers(campaign, taken)
            assert (again.same, again.new) == (18, 0)
            assert campaign.questions() == ()
        assert len(Key.load(key).questions) == 6
        ratings = campaign.ratings()
        assert {row["round"] for row in ratings} == {1, 2}
        assert {row["rater"] for row in ratings} == {"Ada"}
        assert {row["model"] for row in ratings} == set(DATA.models)


def test_only_what_nobody_judged_is_asked(tmp_path: Path) -> None:
    with begun(tmp_path) as campaign:
        campaign.next()
        questions = campaign.questions()
        done = [one for one in questions if one.item == questions[0].item]
        campaign.record(
            {"rater": "Bo", "item": one.item, "model": one.model, "score": 3} for one in done[:-1]
        )
        tasks = make_campaign_tasks(campaign)
        task = next(task for task in tasks if task.item == done[-1].item)
        assert list(tasks.key.questions[task.id].models_by_token.values()) == [(done[-1].model,)]


def test_errors_that_were_marked_are_kept(tmp_path: Path) -> None:
    from sparingly.run.campaign.answers import marks_at

    with begun(tmp_path) as campaign:
        campaign.next()
        tasks = make_campaign_tasks(campaign, kind="spans")
        sparingly.export_tasks(campaign, to="csv", folder=tmp_path / "out", kind="spans")
        back = csv_table(sorted((tmp_path / "out").iterdir()), Answers(tasks, five))
        taken = sparingly.import_answers(back, key=tmp_path / "out.key.json")
        record_answers(campaign, taken)
        with campaign.database.reading() as connection:
            marks = marks_at(connection, campaign.name, 10_000)
        assert len(marks) == 18
        assert {mark["severity"] for held in marks.values() for mark in held} == {"minor", "major"}


def test_pairs_with_equal_outputs_are_answered_too(tmp_path: Path) -> None:
    texts = np.array(DATA.outputs, object)
    texts[:3] = "the same words"
    data = awkward(texts).take(models=DATA.models[:2])
    with sparingly.Campaign.new(
        tmp_path / "p.db", data, "diffuse_iterative", 6, aspects="overall", seed=1
    ) as campaign:
        campaign.next()
        questions = campaign.questions()
        equal = [one for one in questions if one.output == one.other_output]
        tasks = make_campaign_tasks(campaign)
        assert 0 < len(equal) == len(questions) - len(tasks)
        sparingly.export_tasks(campaign, to="csv", folder=tmp_path / "out")
        back = csv_table(sorted((tmp_path / "out").iterdir()), Answers(tasks, five))
        taken = sparingly.import_answers(back, key=tmp_path / "out.key.json")
        assert record_answers(campaign, taken).new == len(questions)
        assert campaign.questions() == ()
        ties = [row for row in campaign.ratings() if row["rater"] == "same_output"]
        assert {row["item"] for row in ties} == {one.item for one in equal}
        assert {row["score"] for row in ties} == {0.0}
