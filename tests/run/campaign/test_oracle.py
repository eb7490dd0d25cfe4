from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from sparingly.base.errors import DataError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.oracle import Claims, Patience
from sparingly.run.forms.question import Question
from tests.run.campaign.made import begin, made_set, true_score

DATA = made_set()


def truth(question: Question) -> float:
    return true_score(DATA, question.item, question.model)


def no_sleep(_: float) -> None:
    """Wait for nobody."""


@pytest.mark.parametrize("workers", [1, 4])
def test_a_judge_answers_everything_and_no_more(where: str, workers: int) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    told: list[tuple[int, int]] = []

    def judge(question: Question) -> float:
        assert question.output == f"{question.model} on {question.item}"
        assert question.source == f"source of {question.item}"
        seen[question.item, question.model] += 1
        return truth(question)

    with begin(where) as campaign:
        assert (
            campaign.run(judge, workers=workers, progress=lambda done, total: told.append((done, total)))
            == 24
        )
        assert campaign.run(judge) == 0
        status = campaign.status().sets[0]
        assert (status.answers, status.outstanding, status.corrections) == (24, 0, 0)
        assert campaign.verify().ok
    assert set(seen.values()) == {1}
    assert told[-1] == (24, 24)
    assert [done for done, _ in told] == list(range(1, 25))


def test_a_judge_that_fails_is_asked_again(where: str) -> None:
    calls: Counter[str] = Counter()
    waited: list[float] = []

    def judge(question: Question) -> float:
        calls[question.item + question.model] += 1
        if calls[question.item + question.model] == 1:
            raise TimeoutError("too many requests")
        # Outside the scale is a failure, too.
        return 1000.0 if calls[question.item + question.model] == 2 else truth(question)

    with begin(where, budget=2) as campaign:
        assert campaign.run(judge, patience=Patience(retries=2, pause=0.5, sleep=waited.append)) == 6
    assert waited == [0.5, 1.0] * 6


def test_patience_ends_and_what_was_answered_is_kept(where: str) -> None:
    def judge(question: Question) -> float:
        if question.model == "Cedar":
            raise ValueError("no\nnumber in the reply")
        return truth(question)

    with begin(where, budget=2) as campaign:
        with pytest.raises(
            DataError, match=r"The judge failed 3 times on the item .* Its answers so far are saved"
        ) as complaint:
            campaign.run(judge, patience=Patience(retries=2, sleep=no_sleep))
        assert "\n" not in str(complaint.value)
        kept = campaign.status().sets[0].answers
        assert 0 < kept < 6
        assert campaign.run(truth) == 6 - kept, "what was claimed is free again"


def test_calls_are_never_more_than_allowed(where: str) -> None:
    calls = [0]

    def judge(question: Question) -> float:
        calls[0] += 1
        if calls[0] % 2:
            raise TimeoutError
        return truth(question)

    patience = Patience(retries=5, sleep=no_sleep, most_calls=15)
    with begin(where) as campaign:
        answered = campaign.run(judge, patience=patience)
        assert (calls[0], answered) == (15, 7)
        # Counted in the database: another process has none left either.
        with Campaign(where) as other:
            assert other.run(judge, patience=patience) == 0
        assert calls[0] == 15


def test_two_callers_share_the_work(where: str) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    both = threading.Barrier(2)
    with begin(where, budget=12, size=12) as campaign:
        campaign.next()

        def judge(question: Question) -> float:
            seen[question.item, question.model] += 1
            return truth(question)

        counts: list[int] = []

        def call() -> None:
            with Campaign(where) as own:
                both.wait()
                counts.append(own.run(judge))

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(seen.values()) == {1}
        assert sum(counts) == campaign.status().sets[0].answers


def test_claims_of_a_caller_that_died_are_free_after_a_while(where: str) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with begin(where, budget=1, clock=lambda: now[0]) as campaign:
        campaign.next()
        claims = campaign.questions()
        gone = Claims(
            campaign.database, campaign.history, lambda: now[0], rater="judge", holder="x", lease=60
        )
        assert len(gone.take(["data"], 10, None)) == len(claims) == 3
        assert campaign.run(truth) == 0, "somebody else is asking"
        now[0] += timedelta(seconds=61)
        assert campaign.run(truth) == 3


def test_a_judge_of_several_aspects_gives_a_score_for_each(where: str) -> None:
    aspects = ["fluency", "adequacy"]
    with begin(where, aspects=aspects, aspect="mean:of=[fluency,adequacy]", budget=1) as campaign:
        with pytest.raises(DataError, match="gave no score for adequacy"):
            campaign.run(lambda question: 5.0, patience=Patience(retries=0))
        assert campaign.run(lambda question: {"fluency": 5.0, "adequacy": 6.0}) == 3
        assert campaign.status().sets[0].answers == 6


def test_an_answer_that_is_paid_for_is_kept_although_the_database_was_away(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    calls = [0]
    with begin(where, budget=1) as campaign:
        real, failures = campaign.record, iter([True, True, False, False, False])

        def away(answers: object, **options: object) -> object:
            if next(failures):
                raise DataError("The database is away.")
            return real(answers, **options)  # type: ignore[arg-type]

        def judge(question: Question) -> float:
            calls[0] += 1
            return truth(question)

        monkeypatch.setattr(campaign, "record", away)
        assert campaign.run(judge, patience=Patience(retries=2, pause=1.0, sleep=waited.append)) == 3
    assert waited == [1.0, 2.0]
    assert calls[0] == 3


def test_a_bar_is_silent_where_there_is_no_terminal(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    with begin(where, budget=1) as campaign:
        assert campaign.run(truth, progress=True) == 3
    assert capsys.readouterr().out == ""
