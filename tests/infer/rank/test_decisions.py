from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.infer.rank.decisions import Decisions, decide


def _square(count: int, pairs: dict[tuple[int, int], float], other: float = 0.9) -> np.ndarray:
    p = np.full((count, count), other)
    for (one, two), value in pairs.items():
        p[one, two] = p[two, one] = value
    np.fill_diagonal(p, np.nan)
    return p


def test_ranks_and_groups_follow_from_the_decisions() -> None:
    # 0 and 1 are both better than 2 and 3: a clean cut.
    p = _square(4, {(0, 2): 1e-5, (0, 3): 1e-5, (1, 2): 1e-5, (1, 3): 1e-5})
    found = decide(p, np.array([4.0, 3.0, 2.0, 1.0]))
    assert (found.decided, found.pairs) == (4, 6)
    assert found.best_rank.tolist() == [1, 1, 3, 3]
    assert found.worst_rank.tolist() == [2, 2, 4, 4]
    assert found.group.tolist() == [1, 1, 2, 2]
    assert found.sentence == "Two groups of models are clearly separated; 4 of 6 pairs differ significantly."


def test_one_undecided_pair_across_a_border_leaves_no_group() -> None:
    p = _square(4, {(0, 2): 1e-5, (0, 3): 1e-5, (1, 3): 1e-5})
    found = decide(p, np.array([4.0, 3.0, 2.0, 1.0]))
    assert found.group.tolist() == [1, 1, 1, 1]
    assert found.best_rank.tolist() == [1, 1, 2, 3]
    assert found.worst_rank.tolist() == [2, 3, 4, 4]
    assert found.sentence == "No clear-cut groups yet; 3 of 6 pairs differ significantly."


def test_only_the_higher_score_can_be_decided_better() -> None:
    p = _square(3, {(0, 1): 0.0, (0, 2): 0.0, (1, 2): 0.0})
    found = decide(p, np.array([1.0, 3.0, 3.0 + 1e-12]))
    assert found.better.tolist() == [[False] * 3, [True, False, False], [True, False, False]]


def test_what_was_never_compared_stays_undecided() -> None:
    p = _square(3, {(0, 1): 1e-6, (0, 2): np.nan, (1, 2): np.nan})
    found = decide(p, np.array([2.0, 1.0, np.nan]))
    assert found.decided == 1
    assert found.group.tolist() == [1, 2, 0]
    assert (found.best_rank[2], found.worst_rank[2]) == (1, 3)
    assert np.isnan(found.adjusted[0, 2])


@pytest.mark.parametrize(
    ("p", "scores", "sentence"),
    [
        (_square(2, {(0, 1): 0.04}), [1.0, 2.0], "The two models differ significantly."),
        (_square(2, {}), [1.0, 2.0], "The two models do not differ significantly."),
        (_square(3, {}), [1.0, 2.0, 3.0], "No two models differ significantly (3 pairs)."),
        (_square(3, {}, 1e-6), [1.0, 2.0, 3.0], "All 3 pairs of models differ significantly."),
    ],
)
def test_sentences(p: np.ndarray, scores: list[float], sentence: str) -> None:
    assert decide(p, np.array(scores)).sentence == sentence


def _brute_groups(found: Decisions) -> list[int]:
    order = np.argsort(-found.scores, kind="stable")
    group, current = [0] * len(order), 1
    for place, model in enumerate(order):
        cut = place > 0 and found.better[np.ix_(order[:place], order[place:])].all()
        current += int(cut)
        group[model] = current
    return group


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_nothing_contradicts_the_decisions(models: int, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    scores = drawn.permutation(models).astype(float)
    p = np.triu(drawn.random((models, models)) ** 12, 1)
    p = p + p.T
    found = decide(p, scores)
    assert found.group.tolist() == _brute_groups(found)
    first, second = np.nonzero(found.better)
    assert (scores[first] > scores[second]).all()
    assert (found.best_rank <= found.worst_rank).all()
    assert found.best_rank[int(np.argmax(scores))] == 1
    order = drawn.permutation(models)
    again = decide(p[np.ix_(order, order)], scores[order])
    assert again.group.tolist() == found.group[order].tolist()
    assert again.best_rank.tolist() == found.best_rank[order].tolist()


def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(UsageError, match="p-values of all pairs"):
        decide(np.ones((2, 2)), np.ones(3))
    with pytest.raises(UsageError, match="alpha"):
        decide(np.ones((2, 2)), np.ones(2), alpha=1.0)


def test_one_pair_differs() -> None:
    found = decide(_square(3, {(0, 2): 1e-5}), np.array([3.0, 2.0, 1.0]))
    assert found.sentence == "No clear-cut groups yet; 1 of 3 pairs differs significantly."
