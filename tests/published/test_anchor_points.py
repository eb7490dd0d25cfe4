from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.published.anchor_points import AnchorPoints

SIZES = (9, 5, 3)
GROUP = np.repeat(np.arange(3), SIZES)


def made() -> EvalSet:
    """Three kinds of items on which the models answer alike; people's scores follow them."""
    answers = np.array([[0.0, 0.2, 0.9], [1.0, 0.3, 0.1], [0.8, 0.9, 1.0]])[GROUP]
    return EvalSet.from_arrays(
        [f"item {place:02d}" for place in range(17)],
        ["a", "b", "c"],
        metrics={"score": answers + 0.01 * np.random.default_rng(1).normal(size=answers.shape)},
        aspects={"overall": 10.0 * answers},
    )


def test_anchors_stand_for_their_clusters() -> None:
    data = made()
    chosen = select(data, "anchor_points", 3)
    assert chosen.cluster_weight is not None
    weight = dict(zip(GROUP[data.positions(chosen.items)].tolist(), chosen.cluster_weight, strict=True))
    assert weight == {0: 9.0, 1: 5.0, 2: 3.0}
    assert select(data, "anchor_points:weighted=false", 3).cluster_weight is None


def test_the_estimate_is_the_mean_weighted_by_shares_of_clusters() -> None:
    data = made()
    found = sparingly.estimate(data, select(data, "anchor_points", 3), "overall")
    assert found.scores == pytest.approx(data.aspects["overall"].mean(axis=0))
    assert found.target == "chosen", "cluster weights are no design weights"
    assert set(found.intervals) == {"none"}


def test_item_parameters_cluster_what_is_hard_alike() -> None:
    draw = np.random.default_rng(4)
    ability, hard = np.linspace(-2.0, 2.0, 8), np.repeat([-1.5, 1.5], 12)
    scores = 1.0 / (1.0 + np.exp(-2.0 * (ability - hard[:, None]))) + 0.02 * draw.normal(size=(24, 8))
    data = EvalSet.from_arrays(
        [f"i{row:02d}" for row in range(24)], [f"m{place}" for place in range(8)], metrics={"score": scores}
    )
    chosen = select(data, "anchor_points:features=irt", 2)
    assert sorted(hard[data.positions(chosen.items)]) == [-1.5, 1.5]
    assert chosen.cluster_weight is not None
    assert chosen.cluster_weight.tolist() == [12.0, 12.0]


def test_an_item_without_scores_comes_last_and_metrics_are_needed() -> None:
    data = made()
    scores = data.metrics["score"].copy()
    scores[4] = np.nan
    gap = EvalSet.from_arrays(data.items.tolist(), list(data.models), metrics={"score": scores})
    chosen = select(gap, AnchorPoints(), "100%")
    assert chosen.items[-1] == data.items[4]
    assert any("1 of 17 items have no vector" in note for note in chosen.notes)
    with pytest.raises(MissingDataError, match="anchor_points needs metrics"):
        select(data.only({"aspect:overall"}), "anchor_points", 3)
