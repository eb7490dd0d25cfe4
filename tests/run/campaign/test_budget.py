"""The budget of a campaign can change while it runs."""

from __future__ import annotations

import pytest

from sparingly.base.errors import UsageError
from sparingly.data.selection import Selection
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.history import DataSnapshot
from sparingly.run.campaign.rounds import RoundDrawer
from sparingly.run.rounds.strategy import Finished
from tests.run.campaign.made import answer_all, begin


def judge_all(campaign: Campaign) -> list[int]:
    """Answer round after round, and return how many items each asked for."""
    sizes = []
    while (step := campaign.next()[0]).finished is None:
        assert step.selection is not None
        sizes.append(len(step.selection))
        assert answer_all(campaign)
    return sizes


@pytest.mark.parametrize("strategy", ["auto", "waves", "top:utility=(metric_var)"])
def test_a_finished_campaign_goes_on_with_a_larger_budget(where: str, strategy: str) -> None:
    with begin(where, strategy=strategy, budget=4, size=2) as campaign:
        first = judge_all(campaign)
        at = campaign.last_seq()
        assert campaign.status().sets[0].finished is not None
        campaign.set_budget("75%")
        status = campaign.status()
        assert (status.budget, status.sets[0].limit, status.sets[0].finished) == ("75%", 27, None)
        assert (campaign.status(at).budget, campaign.status(at).sets[0].limit) == ("4", 12)
        assert judge_all(campaign)
        items = [item for selection in campaign.rounds() for item in selection.items]
        assert len(items) == len(set(items)) == 9 > sum(first)
        assert campaign.outlook().limit == 27
        assert campaign.verify().ok
        if strategy != "top:utility=(metric_var)":
            whole = campaign.estimate().scores
        campaign.set_budget(12)
        judge_all(campaign)
        assert campaign.verify().ok
        assert campaign.budgets() == {"data": "12"}
        assert campaign.budgets(at) == {"data": "4"}
        if strategy == "auto":
            # With everything judged, the estimate is the mean of all labels.
            assert campaign.estimate(interval="none").scores == pytest.approx(
                campaign.data().aspects["overall"].mean(axis=0)
            )
            assert whole.shape == (3,)


def test_comparisons_go_on_too(where: str) -> None:
    with begin(where, strategy="pairs", budget=5, size=None, scale=None) as campaign:
        campaign.next()
        campaign.set_budget(9)
        (step,) = campaign.next(early=True)
        assert (step.number, len(step.selection or ())) == (2, 4)
        assert campaign.verify().ok


def test_what_is_asked_for_stays_spent(where: str) -> None:
    with begin(where, strategy="auto", budget=6) as campaign:
        campaign.next()
        with pytest.raises(UsageError, match="12 outputs are asked for already, and a budget of 3 is 9"):
            campaign.set_budget(3)
        with pytest.raises(UsageError, match="13"):
            campaign.set_budget(13)
        with pytest.raises(UsageError, match="counts items"):
            campaign.set_budget("2h")
        campaign.set_budget(4)
        answer_all(campaign)
        assert campaign.next()[0].finished is not None
        campaign.close()
        with pytest.raises(UsageError, match="is closed"):
            campaign.set_budget(8)


def test_a_selection_that_would_be_another_is_refused(where: str) -> None:
    with begin(where, strategy="uniform", budget=4) as campaign:
        campaign.next()
        with pytest.raises(UsageError, match="it would choose others"):
            campaign.set_budget(9)
        assert campaign.status().budget == "4"


@pytest.mark.parametrize("stop", ["best_settled:valid=anytime", "width_reached:w=1"])
def test_a_rule_that_tests_keeps_the_first_budget(where: str, stop: str) -> None:
    with begin(where, strategy="auto", budget=6, stop=["budget_spent", stop]) as campaign:
        campaign.set_budget(8)
        campaign.next()
        name = stop.partition(":")[0]
        with pytest.raises(UsageError, match=f"rule {name} divides its error over the budget of 8, which"):
            campaign.set_budget(9)
        assert campaign.budgets() == {"data": "8"}


def test_a_budget_that_changed_after_answers_is_noted(where: str) -> None:
    note = "the budget was changed after answers were seen: if it depended on them, scores may be biased"
    with begin(where, strategy="auto", budget=4, size=5, stop="budget_spent") as campaign:
        campaign.next()
        campaign.set_budget(10)
        judge_all(campaign)
        assert note not in campaign.estimate().notes
        at = campaign.last_seq()
        campaign.set_budget(11)
        assert note in campaign.estimate().notes
        assert note in campaign.rank().notes
        assert note not in campaign.estimate(at=at).notes


def test_a_budget_that_is_raised_meanwhile_is_not_spent(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decide = RoundDrawer.decide

    def decide_slowly(drawer: RoundDrawer, snapshot: DataSnapshot) -> Selection | Finished:
        decision = decide(drawer, snapshot)
        campaign.set_budget(8)
        return decision

    with begin(where, strategy="auto", budget=4) as campaign:
        campaign.next()
        answer_all(campaign)
        monkeypatch.setattr(RoundDrawer, "decide", decide_slowly)
        (step,) = campaign.next()
        assert (step.finished, step.new) == (None, False)
        monkeypatch.undo()
        (step,) = campaign.next()
        assert (step.number, step.new) == (2, True)
        assert campaign.verify().ok
