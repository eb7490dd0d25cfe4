from __future__ import annotations

import pytest

from sparingly.base.errors import DataError
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.strategy import Finished, asked_cells
from tests.run.campaign.made import answer_all, begin, made_set, row


def test_a_round_waits_for_its_answers(where: str) -> None:
    with begin(where) as campaign:
        first = campaign.next()[0]
        assert (first.number, first.new, first.outstanding) == (1, True, 12)
        again = campaign.next()[0]
        assert (again.number, again.new, again.outstanding) == (1, False, 12)
        campaign.record([row(campaign.questions()[0], 1)])
        assert campaign.next()[0].outstanding == 11
        early = campaign.next(early=True)[0]
        assert (early.number, early.new, early.outstanding) == (2, True, 23)
        answer_all(campaign)
        done = campaign.next()[0]
        assert done.finished is not None
        assert campaign.next()[0].finished == done.finished
        assert campaign.status().sets[0].finished == "every chosen item was judged or assigned."
        assert campaign.verify().ok


@pytest.mark.parametrize("strategy", ["uniform", "waves", "metric_var:metric=chrF"])
def test_the_rounds_are_those_of_a_replay(where: str, strategy: str) -> None:
    data = made_set(20)
    with begin(where, data, strategy=strategy, budget=9, size=3) as campaign:
        while campaign.next()[0].finished is None:
            answer_all(campaign, data)
        drawn = campaign.rounds()
    last = list(replay(data, strategy, 9, truth="overall", size=3, seed=3))[-1]
    assert [list(one.items) for one in drawn] == [list(one.items) for one in last.state.rounds]
    assert all(one.signature.inputs == other.signature.inputs
               for one, other in zip(drawn, last.state.rounds, strict=True))  # fmt: skip


def test_a_round_knows_the_answers_up_to_its_number_and_no_later_ones(where: str) -> None:
    data = made_set(20)
    with begin(where, data, strategy="waves", budget=9, size=3) as campaign:
        campaign.next()
        answer_all(campaign, data)
        second = campaign.next()[0].selection
        at = campaign.status().last_seq
        # A correction that comes later changes the estimate, and not the round.
        first = campaign.ratings()[0]
        campaign.record([{**{k: first[k] for k in ("rater", "item", "model")}, "score": 0.25}])
        assert campaign.verify().ok
        assert second is not None
        with campaign.database.reading() as connection:
            known = campaign.history.at(connection, "data", at)
        assert list(known.rounds[1].items) == list(second.items)
        shown = data.reveal(asked_cells(data, known.rounds[:1]))
        again = next_round(shown, "waves", 9, aspect="overall", rounds=known.rounds[:1], size=3, seed=3)
        assert isinstance(again, Selection)
        assert list(again.items) == list(second.items)


def test_a_rule_stops_the_campaign(where: str) -> None:
    data = made_set(40)
    with begin(where, data, budget=40, size=20, stop="width_reached:w=1000") as campaign:
        campaign.next()
        answer_all(campaign, data)
        finished = campaign.next()[0].finished
        assert isinstance(finished, Finished)
        status = campaign.status().sets[0]
        assert (status.rounds, status.finished) == (1, finished.reason)
        assert status.saving == "Not needed: 60 of 120 outputs of the budget."
        assert status.saving in " ".join(campaign.status().summary().sentences)
        assert campaign.verify().ok


def test_a_budget_that_no_rule_has_left_is_not_called_unneeded(where: str) -> None:
    data = made_set(40)
    with begin(where, data, strategy="auto", budget=12, size=6) as campaign:
        campaign.next()
        answer_all(campaign, data)
        campaign.withdraw(data.models[-1])
        while any(step.finished is None for step in campaign.next()):
            answer_all(campaign, data)
        status = campaign.status().sets[0]
        assert status.finished is not None
        assert status.spent < status.limit
        assert status.saving == ""


def test_data_sets_share_one_budget(where: str) -> None:
    sets = {"en-de": made_set(10, prefix="de"), "cs-uk": made_set(30, prefix="uk")}
    with begin(where, sets, budget=12, size=2) as campaign:
        while any(step.finished is None for step in campaign.next()):
            rows = [row(one, 50) for one in campaign.questions()]
            campaign.record(rows)
        status = {one.data: one for one in campaign.status().sets}
        assert {name: one.spent for name, one in status.items()} == {"en-de": 9, "cs-uk": 27}
        assert sum(one.spent for one in status.values()) == 12 * 3
        assert [one.saving for one in status.values()] == ["", ""]
        assert campaign.verify().ok
        assert campaign.estimate("cs-uk", estimator="mean").n == 9


def test_a_strategy_that_asks_for_too_much_is_refused(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = next_round(made_set(), "uniform", 12, aspect="overall")
    with begin(where, budget=5) as campaign:
        monkeypatch.setattr("sparingly.run.campaign.rounds.next_round", lambda *_, **__: whole)
        with pytest.raises(DataError, match="asks for 36 outputs, and the budget leaves 15"):
            campaign.next()
        assert campaign.status().sets[0].rounds == 0
