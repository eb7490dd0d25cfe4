from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet

TOPICS = ["bank money loan credit", "dog cat horse cow", "rain snow wind sun"]


def made() -> EvalSet:
    """Three groups of items, alike in texts and in scores, with one item that lies far out."""
    group = np.repeat(np.arange(3), (6, 5, 4))
    scores = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[group]
    scores = scores + 0.1 * np.random.default_rng(1).normal(size=scores.shape)
    return EvalSet.from_arrays(
        [f"item {place:02d}" for place in range(15)],
        ["a", "b"],
        metrics={"score": scores, "noise": np.random.default_rng(2).normal(size=(15, 2))},
        sources=[f"{TOPICS[topic]} {place}" for place, topic in enumerate(group)],
        outputs=[[TOPICS[topic], f"{TOPICS[topic]} {place}"] for place, topic in enumerate(group)],
    )


@pytest.mark.parametrize("text", ["metrics=[score]", "space=source", "space=output_mean"])
def test_every_group_has_an_item_near_it(text: str) -> None:
    data = made()
    chosen = select(data, f"facility_location:{text}", 3)
    groups = np.searchsorted([6, 11], data.positions(chosen.items), side="right")
    assert sorted(groups) == [0, 1, 2]
    assert chosen.utility is not None
    assert (np.diff(chosen.utility) < 0).all()
    assert not chosen.is_probability_sample
    assert chosen.signature.method.startswith("facility_location:")


def test_the_first_item_is_the_one_in_the_middle() -> None:
    data = made()
    scores = np.column_stack([data.metrics["score"]])
    points = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    middle = int((points**2).sum(axis=1).argmin())
    assert select(data, "facility_location:metrics=[score]", 1).items[0] == data.items[middle]


def test_a_small_choice_begins_a_large_one_and_shut_items_are_left_out() -> None:
    data = made()
    large = select(data, "facility_location", 9)
    assert select(data, "facility_location", 4).items.tolist() == large.items[:4].tolist()
    without = select(data, "facility_location", 9, never=[large.items[0]])
    assert large.items[0] not in set(without.items)


def test_what_is_missing_is_named() -> None:
    data = made()
    with pytest.raises(UnknownNameError, match="metric"):
        select(data, "facility_location:metrics=[scores]", 3)
    with pytest.raises(MissingDataError, match="facility_location needs metrics"):
        select(data.only({"sources"}), "facility_location", 3)
    with pytest.raises(UsageError, match="a count or a share"):
        select(data, "facility_location", "cost:3")
