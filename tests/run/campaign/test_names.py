"""Names with letters that no database keeps, and names that are too long for one."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest

from sparingly.base.errors import DataError, InputError
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.datasets import MOST_BYTES_TOGETHER
from sparingly.run.forms.answer import LONGEST_BYTES, Answer
from tests.run.campaign.made import begin, made_set, row
from tools.postgres_server import Server

LOST = {"half a pair": "a\ud800b", "NUL": "a\0b"}
PLACES = ("name", "data", "item", "document", "model", "aspect")


def random_name(size: int, seed: int = 1) -> str:
    """A name that cannot be compressed: indexes compress."""
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=size))  # noqa: S311


def set_with(item: str = "item-x", model: str = "Ash", document: str = "doc") -> EvalSet:
    names = [item, "item-1", "item-2", "item-3"]
    return EvalSet.from_arrays(
        names,
        [model, "Beech", "Cedar"],
        sources=[f"source {place}" for place in range(4)],
        columns={"document": [document, "doc-1", "doc-2", "doc-3"]},
    )


def begin_with(where: str, place: str, text: str) -> Campaign:
    """Begin a campaign in which one thing has a given name."""
    data = set_with(**{place: text}) if place in ("item", "model", "document") else set_with()
    changed: dict[str, Any] = {"name": text} if place == "name" else {}
    changed |= {"aspects": text} if place == "aspect" else {}
    return begin(where, {text: data} if place == "data" else data, budget=4, **changed)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_a_lost_letter_is_refused_before_anything_is_written(where: str, place: str, text: str) -> None:
    with pytest.raises(DataError, match="has a letter that no database keeps") as complaint:
        begin_with(where, place, text)
    assert text not in str(complaint.value)
    with pytest.raises(DataError, match=r"there is no such campaign|There is no campaign in"):
        Campaign(where)


@pytest.mark.parametrize("text", LOST.values(), ids=LOST)
def test_a_model_that_comes_late_is_refused_too(where: str, text: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        with pytest.raises(DataError, match=r"The model .* has a letter that no database keeps"):
            campaign.add_models(made_set(models=("Ash", "Beech", "Cedar", text)))
        assert campaign.verify().ok


@pytest.mark.parametrize("field", ["rater", "client", "comment", "item", "model", "aspect", "data"])
def test_an_answer_with_a_lost_letter_cannot_be_made(field: str) -> None:
    values: dict[str, Any] = {"rater": "ann", "item": "item-1", "model": "Ash", "score": 1.0}
    with pytest.raises(InputError, match=f"field {field}: .* has a letter that cannot be stored"):
        Answer(**{**values, field: "a\ud800b"})


def test_a_text_that_cannot_be_stored_is_one_sentence(where: str) -> None:
    """Whatever else comes with half a surrogate pair: nothing is written, and the campaign goes on."""
    with begin(where) as campaign:
        with (
            pytest.raises(DataError, match="A text has a letter that no database keeps"),
            campaign.database.writing() as connection,
        ):
            connection.exec_driver_sql("UPDATE sparingly_campaigns SET head = 'a\ud800b'")
        assert campaign.verify().ok


@pytest.mark.parametrize("place", PLACES)
def test_long_names_are_refused_by_a_server_and_not_by_a_file(where: str, place: str) -> None:
    text = random_name(4000)
    if not where.startswith("postgresql"):
        with begin_with(where, place, text) as campaign:
            assert campaign.run(lambda question: 50.0) == 12
            assert campaign.verify().ok
        return
    with pytest.raises(DataError, match="has 4000 bytes: the longest names of a campaign in PostgreSQL have"):
        begin_with(where, place, text)


@pytest.mark.parametrize("strategy", ["uniform", "d_optimal"])
def test_the_longest_names_that_are_taken_work(postgres: Server, strategy: str) -> None:
    sizes = len("campaign") + len("data") + 2 * 300 + len("overall")
    data = set_with(item=random_name(MOST_BYTES_TOGETHER - sizes), model=random_name(300, 2), document="")
    with begin(postgres.new_address(), data, strategy=strategy, budget=4) as campaign:
        rater, client = random_name(LONGEST_BYTES, 3), random_name(LONGEST_BYTES, 4)
        while campaign.next()[0].finished is None:
            rows = [one.to_rows()[0] for one in campaign.questions()]
            given = [{**one, "rater": rater, "client": client, "score": 1.0} for one in rows]
            assert campaign.record(given).refused == 0
        assert campaign.verify().ok


@pytest.mark.parametrize("field", ["rater", "client"])
def test_one_long_name_does_not_spoil_the_other_answers(where: str, field: str) -> None:
    with begin(where) as campaign:
        campaign.next()
        first, *others = campaign.questions()
        rows = [{**row(first, 50), field: random_name(LONGEST_BYTES + 1)}, *(row(one, 50) for one in others)]
        recorded = campaign.record(rows)
        assert (recorded.new, recorded.refused) == (len(others), 1)
        assert f"has more than {LONGEST_BYTES} bytes" in recorded.sentences[0]
