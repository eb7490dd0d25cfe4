from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.infer.estimate.sample import sample_from_arrays
from sparingly.run.rounds.active_testing import lure_form, lure_weights


@given(st.integers(1, 30), st.integers(0, 20))
def test_equal_chances_give_equal_weights(count: int, more: int) -> None:
    assert lure_weights(np.ones(count), count + more).tolist() == [1.0] * count


def test_the_weights_are_those_of_the_formula() -> None:
    size, chances = 6, np.array([0.3, 0.1, 0.5])
    left = size - np.arange(3)
    expected = [
        1.0 + (size - 3) / (size - m) * (1.0 / ((size - m + 1) * q) - 1.0) for m, q in enumerate(chances, 1)
    ]
    assert lure_weights(chances * left, size) == pytest.approx(expected)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_mean_over_all_draws_is_the_mean_of_all_items(count: int) -> None:
    """Chances of later draws hang on what was drawn and seen before: still exactly unbiased."""
    losses = np.array([3.0, -1.0, 10.0, 0.5])
    total = 0.0
    for order in permutations(range(4), count):
        chance, likelier, left, seen = 1.0, [], [0, 1, 2, 3], 0.0
        for row in order:
            sizes = np.array([1.0 + abs(place + seen) for place in left])
            own = float(sizes[left.index(row)] / sizes.sum())
            likelier.append(own * len(left))
            chance, seen = chance * own, seen + losses[row]
            left.remove(row)
        total += chance * float(lure_weights(np.array(likelier), 4) @ losses[list(order)]) / count
    assert total == pytest.approx(losses.mean())


def test_the_linear_form_is_the_estimate_by_hand() -> None:
    draw = np.random.default_rng(1)
    scores, predicted = draw.normal(size=(10, 2)), draw.normal(size=(10, 2))
    seen = np.where(np.isin(np.arange(10), [1, 4, 6])[:, None], scores, np.nan)
    seen[4, 1] = np.nan
    weights = np.array([0.5, 2.0, 1.1])
    sample = sample_from_arrays(seen, probability=0.3)
    found = lure_form(sample, weights, predicted).scores(sample)
    missed = scores - predicted
    assert found[0] == pytest.approx(predicted[:, 0].mean() + weights @ missed[[1, 4, 6], 0] / 3)
    assert found[1] == pytest.approx(predicted[:, 1].mean() + weights[[0, 2]] @ missed[[1, 6], 1] / 2)
