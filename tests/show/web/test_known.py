"""A tutorial that must be passed, and control items that look like any other page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fastapi import FastAPI

from sparingly.base.errors import InputError, MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.known import KnownItems
from sparingly.run.campaign.release import bundle_files
from tests.run.campaign.made import begin, made_set
from tests.show.web.visitor import (
    TestClient,
    Visitor,
    action_of,
    fields_of,
    ratings,
    served,
    small_set,
    web_of,
)


def known_set(answers: list[float], prefix: str = "known", **parts: object) -> EvalSet:
    """Items with one output and its known answer each."""
    items = [f"{prefix}-{place}" for place in range(len(answers))]
    return EvalSet.from_arrays(
        items,
        ["sample"],
        outputs=[[f"text of {item}"] for item in items],
        sources=[f"source of {item}" for item in items],
        aspects={"answer": np.array(answers)[:, None]},
        **parts,  # type: ignore[arg-type]
    )


def test_a_tutorial_goes_on_when_the_answer_is_right(tmp_path: Path) -> None:
    tutorial = known_set([90, 10], columns={"explanation": np.array(["It says <all> of it.", None], object)})
    with served(tmp_path, options={"tutorial": tutorial}) as app:
        anna = Visitor(app, "anna")
        for place, (wrong, right) in enumerate([("50", "70"), ("60", "10")]):
            page = anna.page()
            assert f"Tutorial, item {place + 1} of 2" in page
            assert f"text of known-{place}" in page
            fields = fields_of(page)
            (score,) = (name for name in fields if name.startswith("score:"))
            draft = anna.client.post(f"{action_of(page)}/draft", data={**fields, score: wrong})
            assert draft.status_code == 204
            again = anna.client.post(action_of(page), data={**fields, score: wrong})
            assert again.status_code == 422
            assert "Not quite: the answer is" in again.text
            assert ("It says &lt;all&gt; of it." in again.text) == (place == 0)
            anna.client.post(action_of(page), data={**fields, score: right})
        assert "Tutorial" not in anna.page()
        assert ratings(anna) == []
        # The first try is what is saved.
        known = web_of(app).known_answers
        assert known.counts() == {("anna", "tutorial"): (0, 2)}
        assert known.items("anna", "passed") == {"known-0", "known-1"}
        # Whoever comes later has a tutorial of their own.
        assert "Tutorial, item 1 of 2" in Visitor(app, "ben").page()


def test_nobody_does_the_tutorial_for_nothing(tmp_path: Path) -> None:
    options = {"tutorial": known_set([90]), "overlap": 0.0}
    with served(tmp_path, made_set(2), budget=1, size=1, options=options) as app:
        anna, ben = Visitor(app, "anna"), Visitor(app, "ben")
        assert "Tutorial, item 1 of 1" in anna.page()
        # The only page is lent to anna.
        assert "Others are working on what is left" in ben.page()
        web_of(app).access.retire("anna")
        assert "Tutorial, item 1 of 1" in ben.page()


def test_control_items_look_like_any_other_page(tmp_path: Path) -> None:
    controls = known_set([100, 0, 50], "item")
    data = made_set(24)
    with served(tmp_path, data, budget=24, size=24, options={"controls": controls}) as app:
        anna, shown = Visitor(app, "anna"), []
        while (question := anna.question())["page"] is not None:
            page = anna.page()
            is_control = "text of item" in page
            shown.append(is_control)
            assert set(re.findall(r"known|control", page.lower())) == set()
            scores = [80.0] if is_control else [50.0]
            assert anna.answer(question, *scores).json()["new"] == (1 if is_control else 3)
        assert [place for place, is_control in enumerate(shown) if is_control] == [5, 16]
        assert len(ratings(anna)) == 72
        ((key, (right, count)),) = web_of(app).known_answers.counts().items()
        assert (key, count) == (("anna", "control"), 2)
        by_item = {row["item"]: row["is_right"] for row in web_of(app).known_answers.rows()}
        assert right == list(by_item.values()).count(True)
        assert all(by_item[item] == (item == "item-0") for item in by_item)
        rows = bundle_files(web_of(app).campaign)["known_answers.jsonl"].splitlines()
        assert {json.loads(row)["item"] for row in rows} == set(by_item)
        with TestClient(app) as client:
            client.get(f"/o/{web_of(app).access.invite('organiser')}")
            assert f'<td class="numbers">{right} of 2</td>' in client.get("/organiser/raters").text


def test_a_control_item_that_cannot_be_judged_is_not_right(tmp_path: Path) -> None:
    with served(tmp_path, made_set(12), budget=12, size=12, options={"controls": known_set([100])}) as app:
        anna = Visitor(app, "anna")
        for _ in range(5):
            anna.answer(anna.question(), 50)
        question = anna.question()
        cards = [{"output": question["outputs"][0]["output"], "skip": "broken"}]
        body = {"page": question["page"], "client": question["client"], "cards": cards}
        assert anna.client.post("/api/answer", json=body, headers=anna.csrf).status_code == 200
        assert web_of(app).known_answers.counts() == {("anna", "control"): (0, 1)}
        assert web_of(app).campaign.status().sets[0].skipped == 0


def test_known_answers_are_there_and_on_the_scale(tmp_path: Path) -> None:
    with begin(str(tmp_path / "one.db")) as campaign:
        settings = campaign.settings
        with pytest.raises(InputError, match='the control item "known-1" has no known answer'):
            KnownItems(known_set([1, np.nan]), "control", settings)
        with pytest.raises(InputError, match='known answer 101 of the control item "known-0" is outside'):
            KnownItems(known_set([101]), "control", settings)
        with pytest.raises(MissingDataError, match="have no outputs"):
            KnownItems(known_set([1]).with_parts(outputs=None), "control", settings)
        with pytest.raises(UnknownNameError, match="aspect of the control items"):
            KnownItems(known_set([1]), "control", replace(settings, aspects={"a": (0, 1), "b": (0, 1)}))
        with pytest.raises(UsageError, match="need a scale"):
            KnownItems(known_set([1]), "control", replace(settings, aspects={"a": None}))


def test_pairs_have_no_known_answers(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="this campaign compares outputs"),
        served(tmp_path, strategy="pairs", size=None, options={"controls": known_set([1])}),
    ):
        pass


def test_pages_come_again_to_see_how_raters_agree_with_themselves(tmp_path: Path) -> None:
    with served(tmp_path, made_set(20), budget=20, size=20, options={"repeats": 0.2}) as app:
        anna, campaign = Visitor(app, "anna"), web_of(app).campaign
        pages, sources = 0, list[str]()
        while (question := anna.question())["page"] is not None:
            # What comes again is blank, and looks like any other page.
            page = anna.page()
            assert "You have judged this item" not in page
            assert all(not value for name, value in fields_of(page).items() if name.startswith("score:"))
            sources.append(question["source"][0])
            # The second time a score of 40 for 20 is near enough, that of 90 is not.
            again = sources.count(sources[-1]) > 1
            assert anna.answer(question, *((40, 90, 20) if again else (20,))).status_code == 200
            assert anna.answer(question, 20).status_code == 200
            pages += 1
        assert pages == 24 - 1
        assert len(campaign.ratings()) == 60
        assert {row["score"] for row in campaign.ratings()} == {20.0}
        assert web_of(app).known_answers.counts() == {("anna", "repeat"): (6, 9)}
        assert "6 of 9" in rater_page(app)


def rater_page(app: FastAPI) -> str:
    """The organiser's page of the raters."""
    organiser = Visitor(app)
    organiser.client.get(f"/o/{organiser.web.access.invite('organiser')}")
    return organiser.page("/organiser/raters")


def test_hours_hold_the_tutorial_repeats_and_what_could_not_be_judged(tmp_path: Path) -> None:
    options = {"tutorial": known_set([90]), "repeats": 0.5}
    with served(tmp_path, made_set(12), budget=12, size=12, options=options) as app:
        anna, campaign = Visitor(app, "anna"), web_of(app).campaign
        page = anna.page()
        (score,) = (name for name in fields_of(page) if name.startswith("score:"))
        again = anna.client.post(action_of(page), data={**fields_of(page), score: "10", "seconds": "20"}).text
        # A page that is shown again goes on counting, as the browser does.
        assert 'data-seconds="20.0"' in again
        assert campaign.hours()[0].seconds == campaign.overview().cost.seconds == 20
        anna.client.post(action_of(page), data={**fields_of(again), score: "90", "seconds": "35"})
        (hours,) = campaign.hours()
        assert (hours.answers, hours.seconds, hours.other_seconds) == (0, 35, 35)
        assert hours.seconds_per_answer is None
        question = anna.question()
        skips = [{"output": output["output"], "skip": "knowledge"} for output in question["outputs"]]
        assert anna.answer(question, 0, cards=skips, seconds=9).status_code == 200
        assert campaign.hours()[0].seconds == pytest.approx(44)
        while (question := anna.question())["page"] is not None:
            assert anna.answer(question, 50, seconds=30).status_code == 200
        (hours,), overview = campaign.hours(), campaign.overview()
        repeated = sum(row["kind"] == "repeat" for row in web_of(app).known_answers.rows()) // 3
        assert repeated >= 2
        assert hours.other_seconds == pytest.approx(44 + 30 * repeated)
        assert hours.seconds == pytest.approx(44 + 30 * repeated + 11 * 30)
        assert hours.seconds_per_answer == pytest.approx(10)
        assert overview.cost.seconds == pytest.approx(hours.seconds)
        assert overview.cost.seconds_per_answer == pytest.approx(10)
        assert campaign.verify().ok


DAMAGED = {"controls": "damaged"}
WORDS = "one two three four five six seven eight nine ten"


def worded_set(items: int) -> EvalSet:
    """Outputs with words of their own, so that any replaced word is seen."""
    outputs = [
        [" ".join(f"{word}{item}{model}" for word in WORDS.split()) for model in "abc"]
        for item in range(items)
    ]
    return small_set(outputs)


def judged_damaged(visitor: Visitor, data: EvalSet, score: Callable[[str, bool], float]) -> list[list[bool]]:
    """Judge everything; return for each page which of its outputs were damaged, where some were."""
    assert data.outputs is not None
    texts, pages = set(data.outputs.flatten()), []
    while (question := visitor.question())["page"] is not None:
        shown = [[text for (text,) in output["texts"]] for output in question["outputs"]]
        damaged = [[text not in texts for text in pair] for pair in shown]
        # Nothing on the page tells that it is a control item.
        page = visitor.page()
        assert "damaged" not in page
        assert "degraded" not in page
        scores = [score(pair[0], marks[0]) for pair, marks in zip(shown, damaged, strict=True)]
        assert visitor.answer(question, *scores, seconds=10).status_code == 200
        if any(map(any, damaged)):
            pages.append([any(marks) for marks in damaged])
    return pages


@pytest.mark.parametrize(("when_damaged", "right"), [(20, 6), (60, 0)])
def test_damaged_outputs_must_not_score_higher(tmp_path: Path, when_damaged: int, right: int) -> None:
    data = worded_set(18)
    with served(tmp_path, data, budget=18, size=18, options=DAMAGED) as app:
        anna, web = Visitor(app, "anna"), web_of(app)
        pages = judged_damaged(anna, data, lambda _, damaged: when_damaged if damaged else 40)
        # One after every tenth page, all outputs of a page that was judged before.
        assert pages == [[True] * 3] * 2
        assert web.known_answers.counts() == {("anna", "control"): (right, 6)}
        assert {row["expected"] for row in web.known_answers.rows()} == {40}
        # No result has them; the organiser sees them, and the hours hold them.
        assert len(ratings(anna)) == 54
        assert (web.campaign.data().aspects["overall"] == 40).all()
        assert web.campaign.hours()[0].seconds == pytest.approx(200, abs=0.1)
        boss = Visitor(app)
        boss.client.get(f"/o/{web.access.invite('organiser')}")
        assert f'<td class="numbers">{right} of 6</td>' in boss.page("/organiser/raters")
        assert web.campaign.verify().ok


def test_of_outputs_in_order_the_last_one_is_damaged(tmp_path: Path) -> None:
    data = worded_set(12)
    with served(tmp_path, data, budget=12, size=12, options={**DAMAGED, "form": "ranking"}) as app:
        anna, counts = Visitor(app, "anna"), web_of(app).known_answers.counts
        # By the model, whose letter ends every word; the damaged one has words of others of its kind.
        pages = judged_damaged(anna, data, lambda text, _: {"a": 3.0, "b": 2.0, "c": 1.0}[text[-1]])
        assert [sum(page) for page in pages] == [1]
        assert counts() == {("anna", "control"): (1, 1)}


@pytest.mark.parametrize("careful", [True, False])
def test_of_two_outputs_the_worse_one_is_damaged(tmp_path: Path, careful: bool) -> None:
    data = worded_set(12)
    changed = {"strategy": "pairs", "budget": 18, "size": 18, "scale": None}
    with served(tmp_path, data, options=DAMAGED, **changed) as app:
        anna, seen = Visitor(app, "anna"), list[int]()
        assert data.outputs is not None
        texts = set(data.outputs.flatten())
        while (question := anna.question())["page"] is not None:
            answers = []
            for output in question["outputs"]:
                first, second = (text for (text,) in output["texts"])
                better = 1.0 if first[-1] < second[-1] else -1.0
                damaged = [text not in texts for text in (first, second)]
                if any(damaged):
                    # What lost has lost words, too.
                    assert damaged == [better < 0, better > 0]
                    seen.append(1)
                    better = better if careful else -better
                answers.append(better)
            assert anna.answer(question, *answers).status_code == 200
        assert len(seen) >= 1
        right = len(seen) if careful else 0
        assert web_of(app).known_answers.counts() == {("anna", "control"): (right, len(seen))}
        assert len(ratings(anna)) == 18
