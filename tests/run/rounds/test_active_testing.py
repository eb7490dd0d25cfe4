from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import next_round, state_of
from sparingly.run.rounds.replay import ReplayRound, replay


def made(items: int = 150) -> tuple[EvalSet, Floats]:
    """Scores that follow a metric, and stray more where it is high."""
    draw = np.random.default_rng(3)
    metric = draw.normal(size=(items, 1)) + 0.3 * draw.normal(size=(items, 3))
    scores = metric + np.exp(metric) * draw.normal(size=metric.shape)
    data = EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(items)],
        ["a", "b", "c"],
        metrics={"metric": metric},
        aspects={"y": 50.0 + scores},
    )
    return data, 50.0 + scores


def last(text: str, budget: int, *, size: int | None = None) -> ReplayRound:
    return list(replay(made()[0], text, budget, truth="y", size=size, seed=4))[-1]


def test_without_a_surrogate_it_is_a_uniform_sample_with_its_plain_mean() -> None:
    look = last("active_testing:regressor=none", 40)
    rows = np.flatnonzero(look.state.asked.all(axis=1))
    found = look.strategy.estimate(look.state)
    assert len(rows) == 40
    assert found.scores == pytest.approx(made()[1][rows].mean(axis=0))
    assert all(one.utility is not None and set(one.utility) == {1.0} for one in look.state.rounds)


def test_items_on_which_predictions_are_far_off_are_drawn_first() -> None:
    data, _ = made()
    look = last("active_testing", 100)
    first, later = look.state.rounds[0], look.state.rounds[1]
    assert len(first) == 30
    assert first.utility is not None
    assert set(first.utility) == {1.0}
    level = data.metrics["metric"].mean(axis=1)
    drawn = data.positions(np.concatenate([one.items for one in look.state.rounds[1:3]]))
    assert level[drawn].mean() > level[data.positions(first.items)].mean()
    assert later.probability is None
    assert sum(len(one) for one in look.state.rounds) == 100
    assert len(look.state.rounds) == 5


def test_the_estimate_is_the_formula() -> None:
    data, scores = made()
    look = last("active_testing", 90)
    state, size = look.state, len(data)
    found = look.strategy.estimate(state)
    rows = np.concatenate([data.positions(one.items) for one in state.rounds])
    likelier = np.concatenate([one.utility for one in state.rounds if one.utility is not None])
    place = np.arange(1, 91)
    weights = 1.0 + (size - 90) / (size - place) * (1.0 / likelier - 1.0)
    predicted = look.strategy._surrogate(state)  # type: ignore[attr-defined]
    by_hand = predicted.mean(axis=0) + (weights[:, None] * (scores - predicted)[rows]).mean(axis=0)
    assert found.scores == pytest.approx(by_hand)
    assert found.n == 90
    assert set(found.intervals) == {"none"}
    assert (found.standard_errors > 0).all()
    assert any("approximate" in note for note in found.notes)
    assert set(look.strategy.estimate(state, interval="t").intervals) == {"t"}


def test_everything_judged_leaves_no_error() -> None:
    look = last("active_testing", 150)
    found = look.strategy.estimate(look.state)
    assert found.scores == pytest.approx(made()[1].mean(axis=0))
    assert not found.covariance.any()
    assert not any("approximate" in note for note in found.notes)


def test_a_missing_answer_is_told() -> None:
    data, scores = made()
    first = next_round(data, "active_testing", 60, aspect="y", seed=1)
    assert isinstance(first, Selection)
    lost = scores.copy()
    lost[data.positions(first.items[:1]), 0] = np.nan
    state, strategy = state_of(
        data.with_aspect("y", lost), "active_testing", 60, aspect="y", rounds=[first], all_fields=True
    )
    found = strategy.estimate(state)
    assert np.isfinite(found.scores).all()
    assert found.notes[0].startswith("1 output drawn but not judged")


def test_what_cannot_be_is_refused() -> None:
    data, _ = made()
    with pytest.raises(UsageError, match="The pilot is a share"):
        next_round(data, "active_testing:pilot=0", 60, aspect="y")
    look = last("active_testing", 60)
    with pytest.raises(UsageError, match="without estimator="):
        look.strategy.estimate(look.state, estimator="greg")
    state, strategy = state_of(data, "active_testing", 60, aspect="y", rounds=[])
    with pytest.raises(DataError, match="No judgement"):
        strategy.estimate(state)
    other = next_round(data, "uniform", 60, aspect="y")
    assert isinstance(other, Selection)
    state, strategy = state_of(data, "active_testing", 60, aspect="y", rounds=[other])
    with pytest.raises(UsageError, match="was not drawn by active_testing"):
        strategy.estimate(state)
