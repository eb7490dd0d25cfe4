"""Every strategy runs as a campaign: to its end, as in a replay, and derived again from the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import UsageError
from sparingly.base.registry import registered
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.questions import Question
from sparingly.run.rounds.replay import replay
from tests.run.campaign.made import begin, made_set, true_score

ITEMS, BUDGET = 60, 30
COMPARING = ("d_optimal", "diffuse_iterative")
STRATEGIES: dict[str, str] = {
    "one_shot": "one_shot:selector=(uniform)",
    **{name: name for name in ("waves", "allocate", "casf", "incremental_strata")},
    "d_optimal": "d_optimal",
    "diffuse_iterative": "diffuse_iterative",
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
