"""The estimator of waves: against simple random sampling, by enumeration, and with gaps."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.arrays import Floats
from sparingly.run.rounds.wave_estimate import Wave, combine


def uniform_waves(labels: Floats, sizes: list[int], predicted: list[Floats], seed: int) -> list[Wave]:
    """Return waves of so many items, drawn uniformly from what is left."""
    order = np.random.default_rng(seed).permutation(len(labels))
    waves, before, start = [], np.zeros(labels.shape, bool), 0
    for size, told in zip(sizes, predicted, strict=True):
        drawn = np.zeros(labels.shape, bool)
        drawn[order[start : start + size]] = True
        chance = np.where(drawn, size / (len(labels) - start), 1.0)
        waves.append(Wave(before, drawn, chance, np.broadcast_to(told, labels.shape)))
        before, start = before | drawn, start + size
    return waves


def made(items: int, models: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(60.0, 15.0, (items, models))


@given(
    st.lists(st.integers(2, 12), min_size=1, max_size=5),
    st.integers(1, 9),
    st.floats(-50, 50),
    st.integers(0, 99),
)
def test_without_learning_it_is_the_plain_mean(
    sizes: list[int], rest: int, constant: float, seed: int
) -> None:
    labels = made(sum(sizes) + rest, 3, seed)
    told = [np.full(3, constant + place) for place in range(len(sizes))]
    waves = uniform_waves(labels, sizes, told, seed)
    drawn = np.logical_or.reduce([wave.cells for wave in waves])
    found = combine(waves, np.where(drawn, labels, np.nan))
    np.testing.assert_allclose(found.scores, labels[drawn[:, 0]].mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(found.stands_for[drawn], len(labels) / sum(sizes), rtol=1e-9)


def test_one_wave_has_the_variance_of_a_simple_random_sample() -> None:
    labels = made(50, 4)
    wave = uniform_waves(labels, [20], [np.zeros(4)], 1)[0]
    found = combine([wave], np.where(wave.cells, labels, np.nan))
    inside = labels[wave.cells[:, 0]]
    np.testing.assert_allclose(found.covariance, np.cov(inside.T) * (1 / 20 - 1 / 50), rtol=1e-9)
    assert found.freedom == pytest.approx(19.0)


def test_variances_of_waves_add_up() -> None:
    labels = made(60, 2)
    waves = uniform_waves(labels, [20, 25], [np.zeros(2), np.ones(2)], 3)
    found = combine(waves, labels)
    weights = np.array([20 / (60 * 40), 25 / (40 * 15)])
    weights /= weights.sum()
    parts = [
        np.cov(labels[wave.cells[:, 0]].T) * left**2 * (1 / size - 1 / left) / 60**2
        for wave, size, left in zip(waves, (20, 25), (60, 40), strict=True)
    ]
    expected = sum(weight**2 * part for weight, part in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-9)


def test_it_is_unbiased_by_enumeration_whatever_earlier_waves_teach() -> None:
    labels = made(6, 2)
    total = np.zeros(2)
    count = 0
    for first in combinations(range(6), 2):
        rest = [row for row in range(6) if row not in first]
        # Chances of the second wave and its predictions hang on what the first one found.
        lean = 0.5 + 0.3 * np.tanh(labels[list(first)].mean() - 60.0)
        told = labels[list(first)].mean(axis=0) * np.linspace(0.5, 1.5, 6)[:, None]
        before = np.zeros((6, 2), bool)
        before[list(first)] = True
        # One of the two halves of the rest is taken: a draw of two with known chances.
        for half, chance in ((rest[:2], lean), (rest[2:], 1.0 - lean)):
            drawn = np.zeros((6, 2), bool)
            drawn[half] = True
            waves = [
                Wave(np.zeros((6, 2), bool), before, np.where(before, 2 / 6, 1.0), np.zeros((6, 2))),
                Wave(before, drawn, np.where(drawn, chance, 1.0), told),
            ]
            total += chance * combine(waves, np.where(before | drawn, labels, np.nan)).scores
        count += 1
    np.testing.assert_allclose(total / count, labels.mean(axis=0), rtol=1e-12)


def test_judging_everything_leaves_no_error() -> None:
    labels = made(30, 3)
    waves = uniform_waves(labels, [10, 20], [np.zeros(3), np.zeros(3)], 2)
    found = combine(waves, labels)
    np.testing.assert_allclose(found.scores, labels.mean(axis=0), rtol=1e-12)
    assert not found.covariance.any()


def test_a_model_that_was_left_out_keeps_its_own_waves() -> None:
    labels = made(40, 3)
    waves = uniform_waves(labels, [10, 10], [np.zeros(3), np.zeros(3)], 5)
    second = Wave(waves[1].earlier, waves[1].cells & np.array([True, True, False]), *_rest(waves[1]))
    found = combine([waves[0], second], labels)
    alone = combine(waves[:1], labels)
    assert found.scores[2] == pytest.approx(alone.scores[2])
    assert found.covariance[2, 2] == pytest.approx(alone.covariance[2, 2])
    both = combine(waves, labels)
    assert found.scores[0] == pytest.approx(both.scores[0])
    # A shared first wave is all that ties the two together.
    share = 10 / (40 * 30) / (10 / (40 * 30) + 10 / (30 * 20))
    assert found.covariance[0, 2] == pytest.approx(alone.covariance[0, 2] * share, rel=1e-6)


def _rest(wave: Wave) -> tuple[Floats, Floats]:
    return wave.chance, wave.predicted


def test_coordinated_draws_of_different_sizes_share_the_smaller_one() -> None:
    labels = made(4000, 2) + made(4000, 1, 7)
    order = np.random.default_rng(1).permutation(4000)
    drawn = np.zeros((4000, 2), bool)
    drawn[order[:1000], 0] = drawn[order[:400], 1] = True
    chance = np.where(drawn, np.array([0.25, 0.1]), 1.0)
    wave = Wave(np.zeros((4000, 2), bool), drawn, chance, np.zeros((4000, 2)))
    found = combine([wave], np.where(drawn, labels, np.nan))
    expected = np.cov(labels[order[:400]].T)[0, 1] * (1 / 1000 - 1 / 4000)
    assert found.covariance[0, 1] == pytest.approx(expected, rel=0.02)
    assert found.scores[1] == pytest.approx(labels[order[:400], 1].mean())


def test_what_did_not_come_in_is_missing_at_random() -> None:
    labels = made(40, 2)
    waves = uniform_waves(labels, [12, 8], [np.zeros(2), np.full(2, 60.0)], 4)
    seen = np.where(waves[0].cells | waves[1].cells, labels, np.nan)
    lost = np.flatnonzero(waves[0].cells[:, 0])[:3]
    seen[lost, 0] = np.nan
    found = combine(waves[:1], seen)
    assert found.scores[0] == pytest.approx(np.nanmean(seen[waves[0].cells[:, 0], 0]))
    assert found.scores[1] == pytest.approx(labels[waves[0].cells[:, 0], 1].mean())
    nothing = combine(waves[:1], np.full(labels.shape, np.nan))
    assert np.isnan(nothing.scores).all()
