"""A clock that goes backwards changes nothing but the times that are written down."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sparingly.run.campaign.campaign import Campaign
from tests.run.campaign.made import answer_all, begin, made_set, row, true_score


def backwards() -> Callable[[], datetime]:
    """A clock that loses an hour whenever it is read."""
    now = [datetime(2026, 3, 1, 12, tzinfo=UTC)]

    def read() -> datetime:
        now[0] -= timedelta(hours=1)
        return now[0]

    return read


def test_answers_are_in_the_order_of_their_numbers(where: str, tmp_path_factory: object) -> None:
    with begin(where, clock=backwards()) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        campaign.record([row(question, 10), row(question, 20)])
        rows = campaign.ratings()
        assert [one["seq"] for one in rows] == [3, 4]
        assert rows[0]["at"] > rows[1]["at"]
        assert campaign.data().ratings.score.tolist() == [20.0]
        answer_all(campaign)
        assert campaign.next()[0].number == 2
        assert campaign.verify().ok


def test_a_judge_is_asked_once_about_each_output(where: str) -> None:
    data = made_set()
    asked: list[tuple[str, str]] = []
    with begin(where, clock=backwards()) as campaign:

        def judge(question: object) -> float:
            item, model = question.item, question.model  # type: ignore[attr-defined]
            asked.append((item, model))
            return true_score(data, item, model)

        assert campaign.run(judge) == 24
    assert len(asked) == len(set(asked)) == 24
    with Campaign(where) as campaign:
        assert campaign.status().sets[0].outstanding == 0
