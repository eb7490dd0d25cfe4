"""Every strategy runs as a campaign: to its end, as in a replay, and derived again from the database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.catalogue import _CLASSES
from sparingly.base.errors import UsageError
from sparingly.base.registry import registered
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.bradley_terry import bradley_terry
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.forms.question import Question
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.strategy import OneShot
from tests.run.campaign.made import begin, made_set, true_score

ITEMS, BUDGET = 60, 30
COMPARING = ("d_optimal", "diffuse_iterative", "pairs")
STRATEGIES: dict[str, str] = {
    "one_shot": "one_shot:selector=(uniform)",
    **{name: name for name in ("auto", "waves", "casf", "incremental_strata", "active_testing")},
    "d_optimal": "d_optimal",
    "diffuse_iterative": "diffuse_iterative",
    "pairs": "pairs",
}


def answer(data: EvalSet, question: Question) -> float:
    first = true_score(data, question.item, question.model)
    if question.other is None:
        return first
    return float(np.sign(first - true_score(data, question.item, question.other)))


def answered(question: Question, score: float) -> dict[str, Any]:
    about = {"model": question.model} if question.other is None else {
        # Given the other way round, as a form that shows the outputs in random order would.
        "first": question.other, "second": question.model,
    }  # fmt: skip
    return {
        "rater": "ann",
        "item": question.item,
        **about,
        "score": score if question.other is None else -score,
    }


def play(campaign: Campaign, data: EvalSet) -> None:
    for _ in range(200):
        step = campaign.next()[0]
        if step.finished is not None:
            return
        recorded = campaign.record([answered(one, answer(data, one)) for one in campaign.questions()])
        assert recorded.refused == 0
    raise AssertionError("it never ends")


def test_every_strategy_is_here() -> None:
    assert set(STRATEGIES) == {name for name, method in registered().items() if method.kind == "strategy"}


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_campaign_is_a_replay_that_is_kept(name: str, tmp_path: Path) -> None:
    data = made_set(ITEMS).with_preferences_from("overall")
    with begin(str(tmp_path / "c.db"), data, strategy=STRATEGIES[name], budget=BUDGET, size=10) as campaign:
        play(campaign, data)
        drawn = campaign.rounds()
        assert campaign.verify().problems == ()
        status = campaign.status().sets[0]
        assert 0 < status.spent <= status.limit == (BUDGET if name in COMPARING else BUDGET * 3)
        if name in COMPARING:
            with pytest.raises(UsageError):
                campaign.estimate()
        else:
            assert campaign.estimate(interval="none").models == data.models
    last = list(replay(data, STRATEGIES[name], BUDGET, truth="overall", size=10, seed=3))[-1]
    expected = [[(row.item, row.models, row.pair) for row in one] for one in last.state.rounds]
    assert [[(row.item, row.models, row.pair) for row in one] for one in drawn] == expected


def test_comparisons_may_be_more_than_items(tmp_path: Path) -> None:
    data = made_set(10)
    with begin(str(tmp_path / "c.db"), data, strategy="d_optimal", budget=25, size=10) as campaign:
        play(campaign, data)
        assert campaign.status().sets[0].spent == 25
        held = campaign.data()
        assert len(held.preferences) == 25
        for place in range(25):
            item = str(held.items[held.preferences.item[place]])
            first, second = (
                held.models[int(code[place])] for code in (held.preferences.first, held.preferences.second)
            )
            gap = true_score(data, item, first) - true_score(data, item, second)
            assert held.preferences.value[place] == np.sign(gap)
        campaign.withdraw("Ash")
        assert set(campaign.data().models) == {"Beech", "Cedar"}
        assert campaign.verify().ok
    with pytest.raises(UsageError, match="larger than the 30 that can be chosen"):
        begin(str(tmp_path / "d.db"), data, strategy="d_optimal", budget=31)


def test_a_comparison_outside_its_scale_is_refused(tmp_path: Path) -> None:
    with begin(str(tmp_path / "c.db"), made_set(10), strategy="d_optimal", budget=5) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        rows = question.to_rows()
        assert {"first", "second", "first_output", "second_output"} <= set(rows[0])
        rows[0] |= {"rater": "ann", "score": 2}
        assert "is outside the scale of overall, -1 to 1" in campaign.record(rows).sentences[0]


@pytest.mark.parametrize("strategy", ["d_optimal", "diffuse_iterative:models=[Ash,Beech,Cedar]"])
def test_a_campaign_of_pairs_goes_on_without_a_model_that_left(tmp_path: Path, strategy: str) -> None:
    data = made_set(ITEMS, ("Ash", "Beech", "Cedar", "Dogwood"))
    with begin(str(tmp_path / "c.db"), data, strategy=strategy, budget=BUDGET, size=None) as campaign:
        campaign.next()
        questions = campaign.questions()
        kept = [one for one in questions if "Cedar" not in (one.model, one.other)]
        about_cedar = len(questions) - len(kept)
        campaign.record([answered(one, answer(data, one)) for one in kept])
        campaign.withdraw("Cedar")
        play(campaign, data)
        rounds = campaign.rounds()
        assert all("Cedar" not in (row.pair or ()) for one in rounds[1:] for row in one)
        assert sum(map(len, rounds)) <= BUDGET
        if strategy == "d_optimal":
            assert sum(map(len, rounds)) == BUDGET, "what is left goes to the others"
            status = campaign.status().sets[0]
            assert status.spent == status.limit == BUDGET, "what was asked about Cedar stays spent"
            assert campaign.strengths().models == ("Ash", "Beech", "Dogwood")
            assert "withdrawn: Cedar" in campaign.strengths().notes
        assert about_cedar > 0
        assert campaign.verify().ok


def test_strengths_of_drawn_comparisons_are_weighed_and_those_of_picked_ones_are_not(tmp_path: Path) -> None:
    data = made_set(ITEMS)
    with begin(str(tmp_path / "d.db"), data, strategy="d_optimal", budget=BUDGET, size=None) as campaign:
        with pytest.raises(UsageError, match="has no round yet"):
            campaign.strengths()
        play(campaign, data)
        found = campaign.strengths()
        wanted = bradley_terry(campaign.data(), rounds=campaign.rounds())
        assert np.allclose(found.strengths, wanted.strengths)
        assert campaign.compares()
    with begin(
        str(tmp_path / "p.db"), data, strategy="diffuse_iterative:p=0.01", budget=60, size=None
    ) as campaign:
        play(campaign, data)
        found = campaign.strengths()
        assert np.allclose(found.strengths, bradley_terry(campaign.data()).strengths, equal_nan=True)
        assert "picked, not drawn" in found.notes[-1]
    with begin(str(tmp_path / "u.db"), data) as campaign:
        campaign.next()
        assert not campaign.compares()
        with pytest.raises(UsageError, match="asks for scores"):
            campaign.strengths()


def test_comparisons_count_alike_however_often_the_budget_was_raised(tmp_path: Path) -> None:
    data = made_set(ITEMS)
    with begin(str(tmp_path / "once.db"), data, strategy="pairs", budget=90, size=None) as campaign:
        play(campaign, data)
        once, comparisons = campaign.strengths(), len(campaign.data().preferences)
    with begin(str(tmp_path / "twice.db"), data, strategy="pairs", budget=15, size=None) as campaign:
        play(campaign, data)
        campaign.set_budget(90)
        play(campaign, data)
        assert [len(one) for one in campaign.rounds()] == [15, 75]
        twice = campaign.strengths()
    assert (comparisons, twice.comparisons) == (90, 90)
    assert np.allclose(twice.strengths, once.strengths)
    assert np.allclose(twice.standard_errors, once.standard_errors)


def test_a_campaign_whose_strategy_is_gone_keeps_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, path = made_set(), str(tmp_path / "c.db")
    with begin(path, data, strategy="waves:tau=0.5") as campaign:
        campaign.next()
        campaign.record([answered(one, answer(data, one)) for one in campaign.questions()])
        judged = len(campaign.ratings())

    @dataclass(frozen=True, kw_only=True)
    class LaterWaves(OneShot):
        """The strategy as a later version has it: under its name, and without its parameters."""

    monkeypatch.setitem(_CLASSES["strategy"], "waves", LaterWaves)
    with Campaign(path) as campaign:
        assert len(campaign.ratings()) == judged > 0
        assert "only" in " ".join(campaign.estimate().notes)
        assert "is of an earlier version" in " ".join(campaign.verify().problems)
        with pytest.raises(UsageError, match=r"can be estimated, ranked and exported.*start a new campaign"):
            campaign.next()
