from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.choose.design.units import Groups
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented
from sparingly.published.incremental_strata import NO_INTERVAL, deviations_in
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.stop import BestSettled, Progress

BY = "incremental_strata:by=domain"


def uneven(seed: int = 0, **changed: Any) -> EvalSet:
    """Two strata of 100 items, the second with nine times the spread."""
    drawn = np.random.default_rng(seed)
    spread = np.repeat([1.0, 9.0], 100)[:, None]
    scores = spread * drawn.normal(size=(200, 2)) + [[0.0, 1.0]]
    parts: dict[str, Any] = {
        "aspects": {"good": scores},
        "metrics": {"m": scores + 0.1 * drawn.normal(size=scores.shape)},
        "columns": {"domain": ["calm"] * 100 + ["wild"] * 100},
    }
    return EvalSet.from_arrays([f"i{place:03d}" for place in range(200)], ["a", "b"], **{**parts, **changed})


def counts(data: EvalSet, text: str, budget: int = 60, **asked: Any) -> list[tuple[int, int]]:
    state = list(replay(data, text, budget, truth="good", **asked))[-1].state
    return [
        (sum(name == "calm" for name in one.stratum), sum(name == "wild" for name in one.stratum))
        for one in state.rounds
        if one.stratum is not None
    ]


def test_the_first_round_is_proportional() -> None:
    assert counts(uneven(), BY)[0] == (6, 6)


@pytest.mark.parametrize("spread", ["ratings", "knn,neighbours=3"])
def test_later_rounds_go_where_ratings_differ(spread: str) -> None:
    found = counts(uneven(), f"{BY},spread={spread}")
    assert [sum(one) for one in found] == [12] * 5
    calm, wild = np.sum(found[1:], axis=0)
    # N_l·σ_l is nine times as large in the second stratum: of 60 items 54 belong there.
    assert wild > 5 * calm


def test_no_item_is_drawn_twice_and_the_size_of_a_round_can_be_given() -> None:
    state = list(replay(uneven(), BY, 60, truth="good", size=25))[-1].state
    items = [item for one in state.rounds for item in one.items]
    assert len(set(items)) == len(items) == 60
    assert [len(one) for one in state.rounds] == [25, 25, 10]


def test_strata_that_are_used_up_leave_the_rest_to_others() -> None:
    assert np.sum(counts(uneven(), BY, 150), axis=0).tolist() == [50, 100]


def test_its_estimate_is_the_mean_of_the_strata() -> None:
    data = uneven()
    look = list(replay(data, BY, 60, truth="good"))[-1]
    found = look.strategy.estimate(look.state)
    judged = look.state.asked[:, 0]
    scores = data.aspects["good"]
    by_hand = 0.5 * scores[:100][judged[:100]].mean(axis=0) + 0.5 * scores[100:][judged[100:]].mean(axis=0)
    np.testing.assert_allclose(found.scores, by_hand)
    assert found.target == "set"


@pytest.mark.parametrize("interval", ["auto", "t"])
@pytest.mark.parametrize("target", ["set", "population"])
def test_it_prints_no_error_and_says_why(interval: str, target: str) -> None:
    look = list(replay(uneven(), BY, 60, truth="good"))[-1]
    found = look.strategy.estimate(look.state, interval=interval, target=target, by="domain")
    for one in (found, *found.groups.values()):
        assert np.isnan(one.standard_errors).all()
        assert np.isnan(one.covariance).all()
        assert np.isnan(one.low).all()
        assert set(one.intervals) == {"none"}
    assert found.notes.count(NO_INTERVAL) == 1
    apart = found.difference("a", "b")
    assert np.isnan(apart.standard_error)
    assert np.isnan(apart.low)
    assert apart.interval == "none"


def test_everything_judged_is_exact() -> None:
    look = list(replay(uneven(), BY, 200, truth="good"))[-1]
    found = look.strategy.estimate(look.state)
    np.testing.assert_allclose(found.low, uneven().aspects["good"].mean(axis=0))
    assert set(found.intervals) == {"exact"}
    assert NO_INTERVAL not in found.notes


def test_nothing_is_tested_on_scores_without_errors() -> None:
    look = list(replay(uneven(), BY, 60, truth="good"))[-1]
    with pytest.raises(UsageError, match="scores without errors"):
        BestSettled().check(Progress(look.state, look.strategy))


def test_neighbours_need_metrics() -> None:
    with pytest.raises(MissingDataError, match="needs metrics"):
        next_round(uneven(metrics={}), f"{BY},spread=knn", 60, aspect="good")


def test_the_published_warning_is_told() -> None:
    first = next_round(uneven(), BY, 60, aspect="good")
    assert isinstance(first, Selection)
    assert any("worse than random" in note for note in first.notes)


def test_a_budget_of_fewer_items_than_rounds_is_spent() -> None:
    data = load_invented()
    looks = list(sparingly.replay(data, "incremental_strata", 3, truth="overall"))
    assert [int(look.state.asked.any(axis=1).sum()) for look in looks] == [1, 2, 3, 3]


@pytest.mark.parametrize("spread", ["ratings", "knn,neighbours=3"])
def test_the_spread_can_be_learned_after_every_item(spread: str) -> None:
    found = counts(uneven(), f"{BY},update=rating,spread={spread}", 40)
    assert len(found) == 40
    assert {sum(one) for one in found} == {1}
    calm, wild = np.sum(found[10:], axis=0)
    assert wild > 3 * calm


def test_equal_predictions_have_no_spread() -> None:
    strata = Groups(("a", "b", "c"), np.arange(33) % 3)
    # 0.1 is no binary fraction: the mean of such numbers differs from them in the last bit.
    assert deviations_in(np.full((33, 1), 0.1), strata).tolist() == [1.0, 1.0, 1.0]
    odd = np.full((33, 1), 0.1)
    odd[::3] += 1e-6 * np.arange(11)[:, None]
    assert (deviations_in(odd, strata) > 0).tolist() == [True, False, False]
