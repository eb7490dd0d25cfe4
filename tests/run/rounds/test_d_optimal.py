from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.rounds.next_round import next_round
from sparingly.run.rounds.replay import replay

STRENGTHS = np.array([3.0, 0.1, 0.0, -0.1, -3.0])


def made(items: int = 120, seed: int = 0) -> EvalSet:
    """Five models: one far ahead, one far behind, three alike."""
    drawn = np.random.default_rng(seed)
    scores = STRENGTHS + drawn.logistic(size=(items, 5))
    return EvalSet.from_arrays(
        [f"i{place:03d}" for place in range(items)], list("abcde"), aspects={"good": scores}
    )


def asked(data: EvalSet, text: str, budget: Any, **more: Any) -> list[Selection]:
    return list(list(replay(data, text, budget, truth="good", **more))[-1].state.rounds)


def test_rounds_ask_for_new_comparisons_within_the_budget() -> None:
    rounds = asked(made(), "d_optimal", 75)
    assert [len(one) for one in rounds] == [20, 10, 10, 10, 10, 10, 5]
    rows = [(row.item, row.pair) for one in rounds for row in one]
    assert len(set(rows)) == 75


def test_close_pairs_get_more_comparisons_than_settled_ones() -> None:
    rounds = asked(made(), "d_optimal:mix=0.1", 400)
    counts = np.zeros((5, 5))
    for one in rounds:
        for first, second in one.pairs if one.pairs is not None else []:
            counts["abcde".index(first), "abcde".index(second)] += 1
    close = counts[1, 2] + counts[1, 3] + counts[2, 3]
    # The best against the worst model tells next to nothing.
    assert counts[0, 4] < close / 3


def test_chances_of_a_round_are_those_of_its_draws() -> None:
    data = made()
    first = next_round(data, "d_optimal:mix=1,first=1", 50, aspect="good")
    assert isinstance(first, Selection)
    assert first.probability == pytest.approx(1 / (10 * 120))


def test_strengths_follow_from_the_answers() -> None:
    data = made(400, seed=1)
    state = list(replay(data, "d_optimal", 600, truth="good"))[-1].state
    preferred = state.data.with_preferences_from("good")
    found = sparingly.bradley_terry(preferred, rounds=state.rounds)
    inside = [1, 2, 3]
    gaps = found.strengths[inside] - found.strengths[inside].mean()
    # A difference of two logistic scores is a little wider than a logistic one.
    assert np.abs(gaps - STRENGTHS[inside]).max() < 4 * found.standard_errors[inside].max()
    assert found.strengths.argmax() == 0


def test_a_full_set_ends_it() -> None:
    data = made(4)
    pairs = len(pair_indices(5)[0])
    assert sum(map(len, asked(data, "d_optimal", "100%"))) == 4 * pairs


def test_it_gives_no_scores() -> None:
    look = next(replay(made(), "d_optimal", 40, truth="good"))
    with pytest.raises(UsageError, match="bradley_terry"):
        look.strategy.estimate(look.state)


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="mix is a share"):
        next_round(made(), "d_optimal:mix=0", 40, aspect="good")
