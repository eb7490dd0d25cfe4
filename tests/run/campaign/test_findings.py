from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sparingly.base.stats.krippendorff import krippendorff_alpha
from sparingly.infer.rank.rank import rank
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.results import agreements, findings, standings
from tests.infer.judge.populations import judged_outputs
from tests.run.campaign.made import answer_all, begin, made_set, row, true_score


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "campaign.db")


def test_the_ranking_is_that_of_rank(place: str) -> None:
    data = made_set(60)
    with begin(place, data, budget=40, size=40) as campaign:
        campaign.next()
        answer_all(campaign, data)
        found, estimate = standings(campaign), campaign.estimate()
        ranking = rank(campaign.data(), estimate.selection, "overall")
        assert [one.model for one in found.models] == [one.model for one in ranking.models]
        assert [one.ranks for one in found.models] == [one.ranks for one in ranking.models]
        for one, other in zip(found.models, ranking.models, strict=True):
            assert one.chance_of_best == pytest.approx(other.chance_of_best, abs=0.01)
            assert one.score == pytest.approx(other.score)
            assert [one.low, one.score, one.high] == sorted(filter(None, (one.low, one.score, one.high)))
        assert found.ranking is not None
        assert found.summary.sentences[0] == ranking.answer()
        assert found.summary.rows == found.ranking.summary().rows


def test_what_was_not_drawn_by_chance_is_ranked_on_its_own_items(place: str) -> None:
    data = made_set(30)
    with begin(place, data, strategy="metric_var", budget=20, size=20) as campaign:
        campaign.next()
        answer_all(campaign, data)
        found = standings(campaign)
        assert all(one.ranks for one in found.models)
        assert [one.low for one in found.models] == [None, None, None]
        assert any("picked, not sampled" in note for note in found.summary.notes)


def test_too_few_answers_give_sentences(place: str) -> None:
    with begin(place) as campaign:
        assert standings(campaign).summary.notes == (
            "The data set data has no round yet: there is nothing to estimate from.",
        )
        campaign.next()
        answer_all(campaign)
        found = standings(campaign)
        assert found.models == ()
        assert sorted(row[0] for row in found.summary.rows) == ["Ash", "Beech", "Cedar"]
        assert any("too few to say who is better" in note for note in found.summary.notes)


def test_agreement_of_two_raters(place: str) -> None:
    data = made_set(20)
    with begin(place, data, budget=20, size=20) as campaign:
        campaign.next()
        questions = campaign.questions()
        scores = np.array([true_score(data, one.item, one.model) for one in questions])
        other = np.clip(scores + np.arange(len(scores)) % 7, 0, 100)
        for rater, values in (("ann", scores), ("ben", other)):
            campaign.record([row(one, value, rater) for one, value in zip(questions, values, strict=True)])
        (found,) = agreements(campaign, "data")
        assert found.alpha == pytest.approx(krippendorff_alpha(np.stack([scores, other], axis=1)))
        assert [found.low, found.alpha, found.high] == sorted(
            filter(None, (found.low, found.alpha, found.high))
        )
        assert (found.common, len(found.pairs), found.flags) == (60, 1, ())
        json.dumps(findings(campaign).to_dict(), allow_nan=False)


def test_nobody_shared_anything(place: str) -> None:
    with begin(place) as campaign:
        campaign.next()
        answer_all(campaign)
        (found,) = agreements(campaign, "data")
        assert (found.alpha, found.common) == (None, 0)
        assert "no output has two ratings yet" in found.notes[0]


def compared(campaign: Campaign) -> None:
    """Two raters compare the same outputs, and differ on every fourth."""
    campaign.next()
    asked = campaign.questions()
    for rater in ("ann", "ben"):
        scores = [place % 3 - 1 if rater == "ann" or place % 4 else 0 for place in range(len(asked))]
        campaign.record(
            {"rater": rater, "item": one.item, "first": one.model, "second": one.other, "score": score}
            for one, score in zip(asked, scores, strict=True)
        )


def test_agreement_and_strengths_of_comparisons(place: str) -> None:
    data = made_set(20)
    with begin(place, data, strategy="d_optimal:first=30", budget=40, scale=None, size=10) as campaign:
        compared(campaign)
        (found,) = agreements(campaign, "data")
        table = campaign.data().preferences
        ann, ben = (table.value[table.rater == code] for code in (0, 1))
        assert found.alpha == pytest.approx(krippendorff_alpha(np.stack([ann, ben], axis=1), "nominal"))
        assert found.common == 30
        told = standings(campaign)
        assert told.summary.sentences[1].startswith("3 models, 60 comparisons")
        assert all(one.ranks for one in told.models)


def test_answers_in_words_on_a_scale_from_0_to_1(place: str) -> None:
    data = made_set(40)
    with begin(place, data, budget=12, size=12, scale=(0, 1)) as campaign:
        campaign.next()
        questions = campaign.questions()
        rows = [{**row(one, 0), "score": "pass" if one.model == "Ash" else "Fail"} for one in questions]
        assert campaign.record(rows).refused == 0
        found = standings(campaign)
        assert found.ranking is not None
        assert found.ranking.is_rate
        assert [one.interval for one in found.models][:2] == ["at least 82.5 %", "at most 17.5 %"]
        assert found.models[0].best_rank == found.models[0].worst_rank == 1
        assert campaign.estimate().signature is not None
        assert "|scale:0,1|" in str(campaign.estimate().signature)
        campaign.verify()


def test_a_word_is_refused_on_any_other_scale(place: str) -> None:
    with begin(place) as campaign:
        campaign.next()
        recorded = campaign.record([row(campaign.questions()[0], True)])
        assert recorded.refused == 1
        assert '"true"' in recorded.sentences[0]
        assert "words go with a scale from 0 to 1" in recorded.sentences[0]


def test_the_scale_of_a_campaign_bounds_its_intervals(place: str) -> None:
    data = made_set(40)
    with begin(place, data, budget=12, size=12, scale=(0, 100)) as campaign:
        campaign.next()
        campaign.record([row(one, 100.0) for one in campaign.questions()])
        found = campaign.estimate()
        assert found.signature is not None
        assert found.signature.scale == (0.0, 100.0)
        assert (found.low > 50).all()
        assert found.high.tolist() == [100.0] * 3
        assert all("interval" not in note for note in found.notes)


def test_constant_models_of_several_raters_are_not_told_apart(place: str) -> None:
    """Means such as (0.1 + 0.2 + 0.3) / 3 leave rounding that is no error."""
    data, levels = made_set(40), {"Ash": (0.1, 0.2, 0.3), "Beech": (0.3, 0.4, 0.1), "Cedar": (0.7, 0.1, 0.2)}
    with begin(place, data, budget=12, size=12, scale=None) as campaign:
        campaign.next()
        questions = list(campaign.questions())
        for turn, rater in enumerate(("ann", "bob", "cy")):
            campaign.record([row(one, levels[one.model][turn], rater) for one in questions])
        found = standings(campaign)
        assert {one.ranks for one in found.models} == {"1-3"}
        assert all(one.standard_error is None and one.low is None for one in found.models)


def test_where_people_pass_or_fail_the_standings_say_whether_the_judge_can_be_trusted(tmp_path: Path) -> None:
    texts = np.array([[f"output {place}"] for place in range(80)], object)
    data = judged_outputs(1, size=80, labels=None, outputs=texts)
    held = data.with_aspect("overall", data.aspects["ok"])
    bare = held.without_labels()
    with begin(str(tmp_path / "eval.db"), bare, scale=(0, 1), size=60, budget=60) as campaign:
        campaign.next()
        answer_all(campaign, held)
        found = standings(campaign)
    of_judge = [
        text for text in found.summary.sentences if text.startswith(("True pass rate ", "It passes "))
    ]
    assert len(of_judge) == 2
