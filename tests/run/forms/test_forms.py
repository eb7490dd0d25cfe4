"""Forms: one class in one file is enough to judge with it, on the pages and in a table."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.export_import import export_tasks, import_answers
from sparingly.run.exchange.reading import NO_CHOICE
from sparingly.run.forms.form import form_named, forms
from sparingly.run.forms.question import output_label
from sparingly.run.forms.ranking import RankingForm
from tests.run.forms.verdict import VerdictForm
from tests.show.web.visitor import Visitor, ratings, served, small_set

OUTPUTS = [["one", "two", "three"], ["four", "five", "six"]]


def test_a_form_of_one_file_is_judged_on_the_pages(tmp_path: Path) -> None:
    with served(
        tmp_path, small_set(OUTPUTS), budget=2, size=2, scale=(0, 1), options={"form": "verdict"}
    ) as app:
        anna = Visitor(app, "anna")
        page, question = anna.page(), anna.question()
        assert question["form"] == VerdictForm.name
        assert page.count("Pass</span>") == page.count("Fail</span>") == 3
        assert anna.answer(question, 0.5).json()["detail"] == "The answers are 1 (Pass), 0 (Fail), not 0.5."
        assert anna.answer(question, 1, 0, 1).status_code == 200
        assert sorted(row["score"] for row in ratings(anna)) == [0.0, 1.0, 1.0]


def test_a_form_of_one_file_is_judged_in_a_table(tmp_path: Path) -> None:
    data = small_set(OUTPUTS)
    chosen = sparingly.select(data, "uniform", 2, seed=1)
    done = export_tasks(data, chosen, to="csv", folder=tmp_path / "out", kind="verdict", scale="0-1")
    (path,), key = done.files, done.key
    assert key is not None
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row, verdict in zip(rows, ("✓", "✗", "fail", "1", "0.5", ""), strict=True):
        row["overall"] = verdict
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    report = import_answers(path, key=key, rater="anna")
    assert [answer.score for answer in report.answers] == [1.0, 0.0, 0.0, 1.0]
    assert report.left_out == {NO_CHOICE: 1, "no answer was given": 1}
    assert {answer.question.form for answer in report.answers if answer.question} == {"verdict"}


def test_forms_are_found_by_name_and_place() -> None:
    assert [form.name for form in forms("files") if type(form).__module__.startswith("sparingly.")] == [
        "pair", "ranking", "score", "spans",
    ]  # fmt: skip
    assert all(form.summary for place in ("pages", "files") for form in forms(place))
    with pytest.raises(UnknownNameError):
        form_named("spans", "pages")
    with pytest.raises(UnknownNameError):
        form_named("scores", "files")


def test_stars_stand_for_whole_numbers_of_a_short_scale() -> None:
    stars = form_named("stars", "pages")
    assert [score for score, _ in stars.field(Scale(1, 5)).choices] == [1, 2, 3, 4, 5]  # type: ignore[union-attr]
    assert [score for score, _ in stars.field(Scale()).choices] == [0, 25, 50, 75, 100]  # type: ignore[union-attr]


def test_of_two_outputs_there_are_three_answers() -> None:
    pair = form_named("pair", "pages")
    assert pair.score({"overall": -1.0}, "overall", None, ()) == -1.0
    for values in ({"overall": 0.5}, {}):
        with pytest.raises(UsageError):
            pair.score(values, "overall", None, ())


def test_an_order_stands_for_the_share_of_the_other_models_that_are_worse() -> None:
    ranking = RankingForm()
    assert ranking.scores([3, 2, 1], [1, 1, 1], Scale()) == [100, 50, 0]
    assert ranking.scores([7, 7, -1], [1, 1, 1], Scale(1, 5)) == [4, 4, 1]
    # What two models wrote counts for both, and they tie with each other.
    assert ranking.scores([2, 1], [2, 1], Scale(0, 1)) == [0.75, 0]
    assert ranking.scores([5], [1], Scale()) == [50]
    assert (
        sum(
            ranking.scores([4, 1, 3, 3], [1, 2, 1, 1], Scale())[at] * count
            for at, count in enumerate((1, 2, 1, 1))
        )
        == 250
    )
    with pytest.raises(UsageError, match="one order, and there are 2 aspects"):
        ranking.check(["fluency", "adequacy"])


def test_labels_of_outputs_are_letters() -> None:
    assert [output_label(place) for place in (1, 2, 26, 27, 52, 53, 703)] == [
        "A", "B", "Z", "AA", "AZ", "BA", "AAA",
    ]  # fmt: skip
