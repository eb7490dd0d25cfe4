from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparingly.base.errors import DataError, UsageError
from sparingly.run.campaign.answers import Acknowledgement, marks_at
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.spans import Span
from tests.run.campaign.made import answer_all, begin, made_set, row


def test_answers_are_new_the_same_or_corrections(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question, other = campaign.questions()[:2]
        seen: list[Acknowledgement] = []
        rows = [row(question, 50), row(question, 50), row(question, 60), row(other, 50), row(question, 60)]
        recorded = campaign.record(rows, acknowledge=seen.append)
        assert (recorded.new, recorded.correction, recorded.same, recorded.refused) == (2, 1, 2, 0)
        assert [one.what for one in seen] == ["new", "same", "correction", "new", "same"]
        assert [one.seq for one in seen] == [3, 3, 4, 5, 4]
        again = campaign.record(rows[-2:])
        assert (again.new, again.same) == (0, 2)
        status = campaign.status().sets[0]
        assert (status.answers, status.corrections, status.raters) == (2, 1, 1)
        held = campaign.data()
        place = held.positions([question.item])[0], held.models.index(question.model)
        assert held.aspects["overall"][place] == 60.0


def test_an_answer_that_is_sent_again_late_does_not_undo_its_correction(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        campaign.record([row(question, 50, client="a"), row(question, 60, client="b")])
        again = campaign.record([row(question, 50, client="a")])
        assert (again.same, again.correction) == (1, 0)
        assert campaign.data().ratings.score.tolist() == [60.0]


def test_the_same_client_may_go_back_to_its_first_answer(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        recorded = campaign.record([row(question, score, client="a") for score in (50, 60, 50)])
        assert (recorded.new, recorded.correction) == (1, 2)
        assert campaign.data().ratings.score.tolist() == [50.0]
        assert campaign.status().sets[0].corrections == 2


def test_raters_each_have_their_own_answer(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        recorded = campaign.record([row(question, 40, "ann"), row(question, 60, "bob")])
        assert recorded.new == 2
        held = campaign.data()
        place = held.positions([question.item])[0], held.models.index(question.model)
        assert held.aspects["overall"][place] == 50.0
        assert held.ratings.raters == ("ann", "bob")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """A campaign to which every example adds raters of its own."""
    with begin(str(tmp_path_factory.mktemp("shared") / "campaign.db")) as campaign:
        campaign.next()
        yield campaign


NUMBER = count()
POSTS = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(0, 1), st.sampled_from([10, 20, 30]), st.sampled_from(["", "a", "b"])
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(posts=POSTS, batch=st.integers(1, 5))
def test_whatever_is_sent_the_last_answer_of_each_rater_counts(
    shared: Campaign, posts: list[tuple[int, int, int, str]], batch: int
) -> None:
    """Compared with a few lines that say what should happen."""
    prefix = f"example {next(NUMBER)} "
    cells = [(str(one.item), "Ash") for one in shared.rounds()[0]][:2]
    current: dict[tuple[int, int], int] = {}
    of_client: dict[tuple[int, int, str], int] = {}
    expected = []
    for rater, place, score, client in posts:
        key = rater, place
        if of_client.get((*key, client)) == score:
            expected.append("same")
            continue
        expected.append("correction" if key in current else "new")
        current[key] = of_client[(*key, client)] = score
    seen: list[Acknowledgement] = []
    rows = [
        {
            "item": cells[place][0],
            "model": "Ash",
            "rater": f"{prefix}{rater}",
            "score": score,
            "client": client,
        }
        for rater, place, score, client in posts
    ]
    shared.record(rows, batch=batch, acknowledge=seen.append)
    assert [one.what for one in seen] == expected
    held = shared.data()
    mine = [code for code, name in enumerate(held.ratings.raters) if name.startswith(prefix)]
    table = held.ratings
    stored = {
        (table.raters[rater].removeprefix(prefix), str(held.items[item]), held.models[model]): score
        for rater, item, model, score in zip(table.rater, table.item, table.model, table.score, strict=True)
        if rater in mine
    }
    assert stored == {(str(rater), *cells[place]): score for (rater, place), score in current.items()}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"item": "item-99"}, 'There is no item "item-99". Did you mean'),
        ({"model": "Bech"}, 'There is no model "Bech". Did you mean Beech?'),
        ({"aspect": "overal"}, 'There is no aspect "overal". Did you mean overall?'),
        ({"score": 101}, "is outside the scale of overall, 0 to 100."),
        ({"score": -0.5}, "The score -0.5 of the item"),
        ({"score": "high"}, '"high" is text, not a number'),
        ({"score": float("inf")}, "not a finite number"),
        ({"scor": 1}, 'there is no column "scor". Did you mean score?'),
        ({"data": "other"}, 'There is no data set "other"'),
        ({"seconds": -1}, "-1 seconds are less than none"),
        ({"comment": "a\0b"}, "has a letter that cannot be stored"),
        ({"rater": ""}, "the id is empty"),
        ({"first": "Ash"}, "the answer names a model and a pair"),
    ],
)
def test_a_refused_answer_is_one_sentence_and_the_rest_is_kept(
    where: str, changed: dict[str, Any], sentence: str
) -> None:
    with begin(where) as campaign:
        campaign.next()
        first, second, third = campaign.questions()[:3]
        rows = [row(first, 10), {**row(second, 20), **changed}, row(third, 30)]
        recorded = campaign.record(rows)
        assert (recorded.new, recorded.refused) == (2, 1)
        assert len(recorded.sentences) == 1
        assert sentence in recorded.sentences[0]
        assert "\n" not in recorded.sentences[0]
        before = campaign.status()
        with pytest.raises(UsageError, match="Nothing was recorded, because of one answer: "):
            campaign.record([row(first, 11), *rows[1:]], on_error="rollback")
        assert campaign.status() == before


def test_what_was_not_asked_is_refused(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        asked = {one.item for one in campaign.questions()}
        item = next(name for name in made_set().items if name not in asked)
        recorded = campaign.record([Answer("ann", item, 50.0, model="Ash")])
        assert recorded.sentences == [f'line 1: No rater was given "Ash" on the item "{item}".']


def test_a_closed_campaign_takes_no_answers(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        campaign.close()
        with pytest.raises(UsageError, match="is closed: it takes no more answers"):
            campaign.record([row(question, 1)])
        with pytest.raises(UsageError, match="is closed already"):
            campaign.close()
        assert campaign.next()[0].number == 1
        assert campaign.status().closed


def test_two_data_sets_are_told_apart_by_their_items_or_by_name(where: str) -> None:
    sets = {"en-de": made_set(), "cs-uk": made_set(20, seed=6)}
    with begin(where, sets, budget="100%", size=20) as campaign:
        campaign.next()
        of = {name: {one.item for one in campaign.questions(name)} for name in sets}
        both = sorted(of["en-de"] & of["cs-uk"])[0]
        assert "Name one: data." in campaign.record([Answer("ann", both, 1.0, model="Ash")]).sentences[0]
        assert campaign.record([Answer("ann", both, 1.0, model="Ash", data="cs-uk")]).new == 1
        single = sorted(of["cs-uk"] - of["en-de"])[0]
        assert campaign.record([Answer("ann", single, 1.0, model="Ash")]).new == 1
        answers = {one.data: one.answers for one in campaign.status().sets}
        assert answers == {"cs-uk": 2, "en-de": 0}


def test_batches_are_acknowledged_when_they_are_there(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        counts: list[int] = []

        def acknowledge(one: Acknowledgement) -> None:
            counts.append(len(campaign.ratings()))

        questions = campaign.questions()[:4]
        campaign.record([row(one, 5) for one in questions], batch=2, acknowledge=acknowledge)
        assert counts == [2, 2, 4, 4]


def test_nothing_is_written_where_the_database_was_closed(where: str) -> None:
    campaign = begin(where)
    campaign.disconnect()
    with pytest.raises(UsageError, match="was closed: open the campaign again"):
        campaign.record([{"rater": "a", "item": "item-01", "model": "Ash", "score": 1}])


def test_answers_about_a_withdrawn_model_are_refused(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = next(one for one in campaign.questions() if one.model == "Ash")
        campaign.withdraw("Ash")
        assert campaign.record([row(question, 1)]).sentences == [
            'line 1: The model "Ash" was withdrawn from the campaign.'
        ]
        assert answer_all(campaign) == 8


def test_errors_are_of_the_house(where: str) -> None:
    with begin(where) as campaign, pytest.raises(DataError):
        campaign.record("no-such-file.csv")


def test_marked_errors_are_written_with_their_answer(where: str) -> None:
    first, other = (Span(0, 1, "minor"),), (Span(2, 3, "major"),)
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]

        def send(marks: tuple[Span, ...] | None) -> list[Acknowledgement]:
            seen: list[Acknowledgement] = []
            one = Answer("ann", question.item, 50.0, question.model, client="page-one", marks=marks)
            campaign.record([one], acknowledge=seen.append)
            return seen

        def kept() -> dict[int, Any]:
            with campaign.database.reading() as connection:
                return marks_at(connection, campaign.name, 99)

        (bare,) = send(None)
        assert (bare.what, kept()) == ("new", {})
        # The same answer, now with its marks: they are added, and nothing is doubled.
        for _ in range(2):
            assert [(one.what, one.seq) for one in send(first)] == [("same", bare.seq)]
        assert kept() == {bare.seq: [first[0].to_dict()]}
        # Other marks are another answer, although the score is the same.
        (changed,) = send(other)
        assert changed.what == "correction"
        assert kept() == {bare.seq: [first[0].to_dict()], changed.seq: [other[0].to_dict()]}
        (emptied,) = send(())
        assert (emptied.what, kept()[emptied.seq or 0]) == ("correction", [])
        assert campaign.verify().ok


def test_an_answer_that_is_undone_takes_its_marks_along(where: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        question = campaign.questions()[0]
        good = Answer("ann", question.item, 50.0, question.model, marks=(Span(0, 1, "minor"),))
        with pytest.raises(UsageError, match="Nothing was recorded"):
            campaign.record([good, Answer("ann", "nowhere", 50.0, question.model)], on_error="rollback")
        with campaign.database.reading() as connection:
            assert marks_at(connection, campaign.name, 99) == {}
