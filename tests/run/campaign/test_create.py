from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import SparinglyError, UsageError
from sparingly.data.synthetic import load_invented
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.settings import divide_budget
from tests.run.campaign.made import answer_all, begin, made_set


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 500), min_size=2),
    st.floats(0, 1, exclude_min=True),
)
def test_a_count_is_divided_by_size_and_none_is_left(sizes: dict[str, int], share: float) -> None:
    total = sum(sizes.values())
    count = max(len(sizes), int(share * total))
    parts = {name: int(part.amount) for name, part in divide_budget(count, sizes).items()}
    assert sum(parts.values()) == count
    assert min(parts.values()) >= 1
    exact = {name: count * size / total for name, size in sizes.items()}
    if all(part >= 1 for part in exact.values()):
        assert all(abs(parts[name] - exact[name]) < 1 for name in sizes)


def test_a_share_is_the_same_share_of_each() -> None:
    assert {str(part) for part in divide_budget("10%", {"a": 10, "b": 1000}).values()} == {"10%"}
    assert {
        name: str(part) for name, part in divide_budget({"a": 3, "b": "5%"}, {"a": 10, "b": 100}).items()
    } == {
        "a": "3",
        "b": "5%",
    }


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"budget": "cost:5"}, "A campaign counts items, not cost:5"),
        ({"budget": 13}, "larger than the 12 that can be chosen"),
        ({"strategy": "unifrom"}, "Did you mean uniform"),
        ({"strategy": "weighted_mean"}, "does not choose items"),
        ({"strategy": "metric_avg:metric=COMET"}, 'There is no metric "COMET"'),
        ({"stop": "uniform"}, "is not a rule to stop"),
        ({"scale": (5, 5)}, "the first must be lower"),
        ({"size": 0}, "A round asks for at least one item, not 0."),
        ({"aspects": ["one", "two"]}, "Combine them"),
        ({"aspects": []}, "Name what people judge"),
        ({"aspect": "fluency"}, 'There is no aspect or metric "fluency"'),
        ({"name": ""}, "A campaign needs a name"),
    ],
)
def test_what_cannot_begin_leaves_no_file(tmp_path: Path, changed: dict[str, Any], sentence: str) -> None:
    path = tmp_path / "campaign.db"
    with pytest.raises(SparinglyError) as complaint:
        begin(str(path), **changed)
    assert sentence in str(complaint.value)
    assert not path.exists()


def test_what_people_said_before_is_not_known_to_the_campaign(where: str) -> None:
    with begin(where) as campaign:
        assert len(campaign.data().ratings) == 0
        assert campaign.data(judged=False).fields == ("metric:chrF", "sources", "outputs")


def test_one_database_holds_several_campaigns(where: str) -> None:
    begin(where, name="one").disconnect()
    with begin(where, name="two") as two:
        two.next()
        answer_all(two)
    with pytest.raises(UsageError, match=r'There are 2 campaigns in .*: one, two\. Name one: name="one"'):
        Campaign(where)
    with pytest.raises(UsageError, match='There is a campaign "one" in'):
        begin(where, name="one")
    with Campaign(where, "one") as one:
        assert one.status().sets[0].answers == 0


def test_a_combination_of_aspects(where: str) -> None:
    aspects = {"fluency": (0.0, 10.0), "adequacy": (0.0, 100.0)}
    with begin(where, aspects=aspects, aspect="sum:of=[fluency,adequacy]", scale=None) as campaign:
        campaign.next()
        asked = campaign.questions()
        assert asked[0].aspects == ("fluency", "adequacy")
        rows = [
            {"rater": "a", "item": one.item, "model": one.model, "aspect": name, "score": 7}
            for one in asked
            for name in one.aspects
        ]
        assert campaign.record(rows).new == 2 * len(asked)
        assert campaign.record([{**rows[0], "score": 11}]).refused == 1
        assert campaign.next()[0].number == 2
        assert campaign.estimate(interval="none", estimator="mean").scores.tolist() == [14.0] * 3


def test_data_may_be_in_any_order_of_names(where: str) -> None:
    sets = {"z": made_set(), "a": made_set(seed=9)}
    with begin(where, sets, budget=9) as campaign:
        assert {name: str(part) for name, part in campaign.settings.budgets.items()} == {"a": "5", "z": "4"}


def test_without_a_strategy_it_is_auto_which_says_what_it_does(where: str) -> None:
    with Campaign.new(where, made_set(), budget=9, aspects="overall") as campaign:
        assert campaign.settings.strategy.startswith("auto:rounds=5,")
        assert set(campaign.why()) == {"data"}
        assert campaign.why()["data"].startswith("auto judges all models on the same items")
    with Campaign.new(where, made_set(), "uniform", 9, aspects="overall", name="other") as campaign:
        assert campaign.why() == {}
    with pytest.raises(UsageError, match="Say how much may be judged over all rounds"):
        Campaign.new(where, made_set(), aspects="overall", name="third")


def test_people_score_overall_where_nothing_says_what_they_judge(tmp_path: Path) -> None:
    data = load_invented().without_labels()
    with sparingly.Campaign.new(tmp_path / "c.db", data, budget=10) as running:
        assert running.settings.aspects == {"overall": (0.0, 100.0)}
