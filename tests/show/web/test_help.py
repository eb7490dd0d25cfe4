"""Help that is filled in for some questions, by chance, and taken out of the estimates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sparingly.base.errors import DataError, InputError, SparinglyError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.answers import placement_rows
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.help import Help
from sparingly.run.forms.answer import Answer, Placement
from tests.run.campaign.made import MODELS, made_set
from tests.show.web.visitor import Visitor, fields_of, ratings, served, web_of


def helped_set(items: int = 30, missing: int = 0) -> EvalSet:
    """Outputs with a judge's scores, which some items lack."""
    data = made_set(items)
    judge = np.full(data.shape, 70.0)
    judge[:missing] = np.nan
    return data.with_parts(metrics={**data.metrics, "judge": judge})


def placements(visitor: Visitor) -> list[dict[str, object]]:
    """Where and how every answer was given."""
    with visitor.web.campaign.database.reading() as connection:
        return placement_rows(connection, visitor.web.campaign.name, 10_000)


def test_suggestions_are_filled_in_by_chance_and_saved_with_the_answer(tmp_path: Path) -> None:
    options = {"help_from": "judge"}
    with served(tmp_path, helped_set(missing=15), budget=30, size=30, options=options) as app:
        anna, shown = Visitor(app, "anna"), 0
        while (question := anna.question())["page"] is not None:
            page = anna.page()
            suggested = [output["suggested"] for output in question["outputs"]]
            filled_in = [value for name, value in fields_of(page).items() if name.startswith("score:")]
            assert sorted(filled_in) == sorted("70" if one else "" for one in suggested)
            assert page.count("suggestion is filled in") == len([one for one in suggested if one])
            shown += len([one for one in suggested if one])
            assert anna.answer(question, 50).status_code == 200
        rows = placements(anna)
        assert len(rows) == 90
        with_help = [row for row in rows if "helped" in row]
        assert len(with_help) == 45
        assert {row["help_probability"] for row in with_help} == {0.5}
        assert 10 < shown == len([row for row in with_help if row["helped"]]) < 35
        found = web_of(app).help
        assert found is not None
        assert found.sentence.startswith("help from judge for 45 of 90 outputs; the others")
        # What was answered is shown again, not the suggestion.
        previous = anna.client.get("/rate").text
        assert "Nothing to judge now" in previous
        assert {row["score"] for row in ratings(anna)} == {50.0}


def test_marked_errors_are_suggested_from_a_file(tmp_path: Path) -> None:
    data, file = helped_set(4), tmp_path / "ai.jsonl"
    lines = [
        f'{{"item": "{item}", "model": "{model}", "spans": [{{"start": 0, "end": 3, "severity": "major"}}]}}'
        for item in data.items
        for model in MODELS
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    options = {"help_from": str(file), "help_share": 0.9, "form": "esa"}
    with served(tmp_path, data, budget=4, size=4, options=options) as app:
        question = Visitor(app, "anna").question()
        marks = [output["marks"] for output in question["outputs"]]
        assert [{"start": 0, "end": 3, "severity": "major"}] in marks
        bad = tmp_path / "bad.csv"
        bad.write_text(f"item,model,score\n{data.items[0]},{MODELS[0]},170\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"bad.csv, line 2: the score is 170, outside the scale"):
            Help(str(bad), 0.5, web_of(app).campaign.settings, {"data": data})


@pytest.mark.parametrize(
    ("options", "problem"),
    [({"help_share": 1.0}, "between 0 and 1, not 1"), ({"help_from": "jugde"}, "Did you mean judge"),
     ({"form": "mqm"}, "column spans")],
)  # fmt: skip
def test_help_that_cannot_be_given_is_refused(
    tmp_path: Path, options: dict[str, object], problem: str
) -> None:
    with (
        pytest.raises(SparinglyError, match=problem),
        served(tmp_path, helped_set(), options={"help_from": "judge", **options}),
    ):
        pass


@pytest.mark.parametrize(("strategy", "form"), [("pairs", None), ("uniform", "ranking")])
def test_comparisons_have_no_help(tmp_path: Path, strategy: str, form: str | None) -> None:
    options = {"help_from": "judge", "form": form}
    with (
        pytest.raises(UsageError, match="compares outputs"),
        served(tmp_path, helped_set(), strategy=strategy, options=options),
    ):
        pass


def test_estimates_are_of_the_scores_without_help(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    with Campaign.new(
        tmp_path / "c.db", helped_set(120), "uniform", 120, aspects="overall", scale=(0, 100)
    ) as campaign:
        campaign.next()
        questions = campaign.questions()
        shown = random.random(len(questions)) < 0.5
        noise = random.normal(0, 5, len(questions))
        unaided = 50 + 5 * np.array([MODELS.index(question.model) for question in questions]) + noise

        def answers(bias: float) -> list[Answer]:
            return [
                Answer(
                    "anna",
                    question.item,
                    float(score + bias * helped),
                    question.model,
                    client="page",
                    placement=Placement(1, 3, helped=bool(helped), help_probability=0.5),
                )
                for question, score, helped in zip(questions, unaided, shown, strict=True)
            ]

        campaign.record(answers(10.0), on_error="rollback")
        found, effects = campaign.estimate(target="population"), campaign.help_effects()
        assert effects is not None
        assert effects.common == pytest.approx(10.0, abs=3 * effects.error)
        # In the order of the models' names, as everywhere.
        truth = [50 + 5 * MODELS.index(model) for model in found.models]
        assert np.abs(found.scores - truth).max() < 3 * found.standard_errors.max()
        assert any("were given with help, drawn at random" in note for note in found.notes)
        assert campaign.rank().models[0].model == MODELS[2]
        assert campaign.verify().ok
        # The scale may be named: scores without help, a little beyond it, do not matter.
        scale = (0.0, float(campaign.data().ratings.score.max()))
        low = campaign.data().ratings.score.min()
        named = campaign.estimate(target="population", scale=(float(low), scale[1]))
        assert named.scores == pytest.approx(found.scores)
        assert campaign.rank(scale=scale).models[0].model == MODELS[2]
        with pytest.raises(DataError, match="is not on the scale from 0 to 1"):
            campaign.estimate(scale=(0.0, 1.0))
        # Without the correction every score would be five points too high, and the errors too small.
        raw = campaign.data().aspects["overall"].mean(axis=0) - truth
        assert raw.min() > 3
