"""The key: letters only, one file for its owner, whole again after reading."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import DataError, InputError
from sparingly.run.exchange.key import Key, model_tokens, task_id
from sparingly.run.exchange.tasks import make_tasks
from tests.run.exchange.helpers import all_of, awkward, pairs_of

DATA = awkward()


@given(st.sets(st.text(min_size=1), min_size=1, max_size=20), st.integers(0, 2**40), st.text(max_size=5))
@settings(max_examples=30)
def test_tokens_are_letters_and_depend_on_seed_and_model_only(names: set[str], seed: int, salt: str) -> None:
    tokens = model_tokens(names, seed, salt)
    assert set(tokens) == names
    assert len(set(tokens.values())) == len(names)
    assert all(len(token) == 8 and token.isascii() and token.islower() and token.isalpha()
               for token in tokens.values())  # fmt: skip
    one = sorted(names)[0]
    assert model_tokens([one], seed, salt)[one] == tokens[one]


def test_salt_and_seed_change_tokens() -> None:
    assert len({model_tokens(["m"], seed, salt)["m"] for seed in (0, 1) for salt in ("", "s")}) == 4
    assert task_id(0, "", "a", None) != task_id(0, "", "a", "b")


def test_a_key_is_the_same_after_reading_and_only_its_owner_opens_it(tmp_path: Path) -> None:
    tasks = make_tasks(DATA, pairs_of(DATA, [("a,b", "7", 'say "hi"'), ("1", "7", "a+b")]), salt="s", seed=4)
    key = replace(tasks.key, tool="csv", unknown={"later": 1})
    key.save(tmp_path / "key.json")
    assert Key.load(tmp_path / "key.json") == key
    text = json.dumps(json.loads((tmp_path / "key.json").read_text("utf-8")), sort_keys=True)
    (tmp_path / "sorted.json").write_text(text, encoding="utf-8")
    again = Key.load(tmp_path / "sorted.json")
    assert [list(one.by_token) for one in again.questions.values()] == [
        list(one.by_token) for one in key.questions.values()
    ]
    assert stat.S_IMODE((tmp_path / "key.json").stat().st_mode) == 0o600


def test_rounds_of_one_campaign_share_a_key_and_other_settings_do_not() -> None:
    first = make_tasks(DATA, all_of(DATA, 1)).key
    second = make_tasks(DATA, all_of(DATA, 2)).key
    both = first.merged(second)
    assert set(both.questions) == {*first.questions, *second.questions}
    assert first.merged(first).questions == first.questions
    with pytest.raises(DataError, match="another seed"):
        first.merged(make_tasks(DATA, all_of(DATA), seed=9).key)


def test_a_question_is_found_by_its_item_and_rater() -> None:
    key = make_tasks(DATA, all_of(DATA)).key
    question = next(iter(key.questions.values()))
    assert key.find(question.item) == question
    assert key.find(question.item, tokens=list(question.by_token)[:2], rater="Ada") == question
    assert key.find(question.item, tokens=["unknown"]) is None
    assert key.find("nothing") is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version": 2}, "newer than the version"),
        ({"format": "sparingly/selection"}, "not sparingly/key"),
        ({"scales": {"overall": [1]}}, "is not a scale"),
        ({"questions": 3}, "a list"),
        ({"questions": [{"task": "x"}]}, "not an id"),
        ({"questions": [{"task": "x", "item": "i", "shown": ["a"]}]}, "not those of the outputs"),
        ({"same": [{"item": "a", "pair": ["b"]}]}, "not a pair of models"),
    ],
)
def test_a_bad_key_gets_one_sentence(tmp_path: Path, change: dict[str, object], sentence: str) -> None:
    path = tmp_path / "key.json"
    path.write_text(json.dumps({**make_tasks(DATA, all_of(DATA)).key.to_dict(), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=sentence) as error:
        Key.load(path)
    assert "key.json" in str(error.value)
