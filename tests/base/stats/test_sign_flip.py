from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base import rng
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats import sign_flip
from sparingly.base.stats.pairs import pair_indices
from sparingly.base.stats.sign_flip import FlipTest, pair_p_values, prefix_pair_p_values

METHODS: list[FlipTest] = ["auto", "sampled", "analytic"]


def keys_for(count: int) -> np.ndarray:
    return rng.keys_of([f"item {number}" for number in range(count)])


def noisy(items: int, models: int, seed: int = 0, step: float | None = None) -> np.ndarray:
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=(items, models)) + 0.1 * np.arange(models)
    return scores if step is None else np.round(scores / step) * step


def by_definition(differences: np.ndarray, signs: np.ndarray) -> float:
    """P(null > observed) + ½ P(null = observed) over rows of signs, with exact fractions as differences."""
    null = signs @ differences
    observed = differences.sum()
    return float((null > observed).mean() + 0.5 * (null == observed).mean())


@settings(max_examples=40)
@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 9), st.integers(2, 4)), elements=st.integers(-3, 3).map(float)
    )
)
def test_exact_is_the_enumeration_of_all_signs(scores: np.ndarray) -> None:
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=len(scores))))
    first, second = pair_indices(scores.shape[1])
    expected = [by_definition(scores[:, i] - scores[:, j], signs) for i, j in zip(first, second, strict=True)]
    for method in ("exact", "auto"):
        assert pair_p_values(scores, keys=keys_for(len(scores)), method=method).tolist() == expected


@pytest.mark.parametrize("flips", [1, 7, 64, 100, 1000, 2050, 4100])
def test_sampled_follows_the_bits_of_the_items_keys(flips: int) -> None:
    scores = np.random.default_rng(1).integers(0, 4, (30, 5)).astype(float)
    keys = keys_for(30)
    words = rng.words(keys, 5, -(-flips // 64), "signflip")
    bits = [[int(words[item, flip // 64]) >> flip % 64 & 1 for item in range(30)] for flip in range(flips)]
    signs = 1.0 - 2.0 * np.array(bits)
    first, second = pair_indices(5)
    expected = [by_definition(scores[:, i] - scores[:, j], signs) for i, j in zip(first, second, strict=True)]
    p = pair_p_values(scores, keys=keys, seed=5, flips=flips, method="sampled")
    assert p == pytest.approx(np.array(expected), abs=1e-12)


def test_decimal_scores_tie_as_exactly_as_whole_ones() -> None:
    """0.1 is not a binary fraction: sums that are equal on paper differ in their last bits."""
    whole = np.random.default_rng(3).integers(0, 6, (40, 6)).astype(float)
    keys = keys_for(40)
    for scale, shift in ((0.1, 0.0), (1 / 3, 97.3), (1e-7, -4e-7)):
        scaled = pair_p_values(whole * scale + shift, keys=keys, method="sampled")
        assert np.array_equal(scaled, pair_p_values(whole, keys=keys, method="sampled"))
        few = pair_p_values(whole[:9] * scale + shift, keys=keys[:9])
        assert np.array_equal(few, pair_p_values(whole[:9], keys=keys[:9]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", [False, True])
def test_order_of_items_does_not_matter(method: FlipTest, missing: bool) -> None:
    scores = noisy(80, 5)
    if missing:
        scores[np.random.default_rng(4).random(scores.shape) < 0.2] = np.nan
    keys = keys_for(80)
    turn = np.random.default_rng(9).permutation(80)
    straight = pair_p_values(scores, keys=keys, method=method)
    assert straight == pytest.approx(pair_p_values(scores[turn], keys=keys[turn], method=method), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", [False, True])
def test_order_of_models_only_turns_p_into_one_minus_p(method: FlipTest, missing: bool) -> None:
    scores = noisy(60, 4, step=0.5)
    if missing:
        scores[np.random.default_rng(4).random(scores.shape) < 0.2] = np.nan
    keys = keys_for(60)
    straight = pair_p_values(scores, keys=keys, method=method)
    turned = pair_p_values(scores[:, ::-1], keys=keys, method=method)
    first, second = pair_indices(4)
    place = {(int(i), int(j)): at for at, (i, j) in enumerate(zip(first, second, strict=True))}
    for (i, j), at in place.items():
        assert straight[at] + turned[place[3 - j, 3 - i]] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_prefixes_equal_the_tests_of_their_items_alone(
    method: FlipTest, weighted: bool, missing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = noisy(70, 5, step=0.25)
    if missing:
        scores[np.random.default_rng(4).random(scores.shape) < 0.3] = np.nan
    weights = np.random.default_rng(5).uniform(0.0, 2.0, 70) if weighted else None
    keys = keys_for(70)
    sizes = [70, 5, 1, 13, 14, 40, 13, 41]
    options = {"seed": 2, "flips": 200, "method": method}
    alone = [
        pair_p_values(scores[:k], keys=keys[:k], weights=None if weights is None else weights[:k], **options)  # type: ignore[arg-type]
        for k in sizes
    ]
    monkeypatch.setattr(sign_flip, "_FLIP_CELLS", 200 * 16)
    monkeypatch.setattr(sign_flip, "_SUM_CELLS", 200 * 5 * 3)
    together = prefix_pair_p_values(scores, sizes, keys=keys, weights=weights, **options)  # type: ignore[arg-type]
    assert together == pytest.approx(np.array(alone), abs=1e-12)


def test_missing_cells_drop_the_item_for_the_pairs_of_that_model_only() -> None:
    scores, keys = noisy(60, 3), keys_for(60)
    gappy = scores.copy()
    gappy[::3, 2] = np.nan
    p = pair_p_values(gappy, keys=keys, method="sampled")
    there = ~np.isnan(gappy[:, 2])
    assert p[0] == pair_p_values(scores, keys=keys, method="sampled")[0]
    assert p[1:].tolist() == pair_p_values(scores[there], keys=keys[there], method="sampled")[1:].tolist()


def test_a_weight_of_zero_drops_an_item_and_a_common_factor_changes_nothing() -> None:
    scores, keys = noisy(60, 3), keys_for(60)
    weights = np.ones(60)
    weights[::4] = 0.0
    kept = weights > 0
    for method in METHODS:
        dropped = pair_p_values(scores, keys=keys, weights=weights, method=method)
        expected = pair_p_values(scores[kept], keys=keys[kept], method=method)
        assert dropped == pytest.approx(expected, abs=1e-12)
        scaled = pair_p_values(scores, keys=keys, weights=np.full(60, 7.0), method=method)
        assert scaled == pytest.approx(pair_p_values(scores, keys=keys, method=method), abs=1e-12)


def test_auto_enumerates_pairs_that_differ_on_few_of_many_items() -> None:
    scores, keys = noisy(200, 3), keys_for(200)
    scores[:, 1] = scores[:, 0]
    scores[[7, 90, 150], 1] += [1.0, 2.0, 4.0]
    p = pair_p_values(scores, keys=keys)
    assert p[0] == 1 - 1 / 16  # all eight patterns but the observed one, and half of that one
    assert p[1:].tolist() == pair_p_values(scores, keys=keys, method="sampled")[1:].tolist()


def test_models_that_never_differ_are_a_coin_toss() -> None:
    scores = np.repeat(noisy(100, 1), 2, axis=1)
    for method in METHODS:
        assert pair_p_values(scores, keys=keys_for(100), method=method).tolist() == [0.5]


def test_p_is_small_for_the_better_model() -> None:
    scores = np.column_stack([np.ones(30), np.zeros(30)]) + 0.01 * noisy(30, 2)
    for method in METHODS:
        assert pair_p_values(scores, keys=keys_for(30), method=method)[0] < 0.01


def test_exact_sampled_and_analytic_meet_in_the_limit() -> None:
    few, keys = noisy(18, 4, seed=6), keys_for(400)
    exact = pair_p_values(few, keys=keys[:18], method="exact")
    sampled = pair_p_values(few, keys=keys[:18], method="sampled", flips=40_000)
    assert np.abs(exact - sampled).max() < 4 * 0.5 / np.sqrt(40_000)
    many = noisy(400, 4, seed=6)
    sampled = pair_p_values(many, keys=keys, method="sampled", flips=40_000)
    analytic = pair_p_values(many, keys=keys, method="analytic")
    assert np.abs(analytic - sampled).max() < 4 * 0.5 / np.sqrt(40_000)


def test_published_counting_of_ties_differs_by_half_of_them_and_ever_less() -> None:
    """Published: P(null ≥ observed). With half-point scores the gap shows, and shrinks with the items."""
    gaps = []
    for items in (16, 256, 4096):
        scores, keys = noisy(items, 2, step=0.5), keys_for(items)
        bits = np.unpackbits(
            rng.words(keys, 0, 32, "signflip").astype("<u8").view(np.uint8), axis=1, bitorder="little"
        )
        null = (1.0 - 2.0 * bits.T) @ (scores[:, 0] - scores[:, 1])
        observed = (scores[:, 0] - scores[:, 1]).sum()
        published = (null >= observed).mean()
        ours = pair_p_values(scores, keys=keys, flips=2048, method="sampled")[0]
        assert published - ours == pytest.approx((null == observed).mean() / 2)
        gaps.append(published - ours)
    assert gaps[0] > gaps[2]
    assert gaps[2] < 0.005


def test_sampled_p_values_are_uniform_when_models_are_alike() -> None:
    generator = np.random.default_rng(0)
    p = [
        pair_p_values(
            generator.normal(size=(40, 2)), keys=keys_for(40), seed=run, flips=255, method="sampled"
        )[0]
        for run in range(800)
    ]
    counts = np.histogram(p, bins=10, range=(0.0, 1.0))[0]
    assert ((counts - 80.0) ** 2 / 80.0).sum() < 33.7  # 9 degrees of freedom, one in ten thousand


def test_seed_changes_the_flips() -> None:
    scores, keys = noisy(50, 3), keys_for(50)
    assert (pair_p_values(scores, keys=keys, seed=0) != pair_p_values(scores, keys=keys, seed=1)).any()


def test_the_input_is_left_as_it_was() -> None:
    scores = noisy(50, 3)
    scores[3, 1] = np.nan
    before = scores.copy()
    for method in METHODS:
        pair_p_values(scores, keys=keys_for(50), method=method, weights=np.full(50, 2.0))
    assert np.array_equal(scores, before, equal_nan=True)


def test_one_model_has_no_pairs() -> None:
    for method in METHODS:
        assert pair_p_values(noisy(30, 1), keys=keys_for(30), method=method).shape == (0,)


def test_wrong_calls_get_one_sentence() -> None:
    scores, keys = noisy(30, 3), keys_for(30)
    with pytest.raises(UsageError, match="stops at 20 items"):
        pair_p_values(scores, keys=keys, method="exact")
    with pytest.raises(UnknownNameError, match="guess"):
        pair_p_values(scores, keys=keys, method="guess")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="one key for each of 30"):
        pair_p_values(scores, keys=keys[:5])
    with pytest.raises(UsageError, match="at least 1, not 0"):
        pair_p_values(scores, keys=keys, flips=0)
    with pytest.raises(UsageError, match="at least one item"):
        pair_p_values(scores[:0], keys=keys[:0])
    with pytest.raises(UsageError, match="finite scores"):
        pair_p_values(np.full((30, 2), np.inf), keys=keys)
    with pytest.raises(UsageError, match="non-negative"):
        pair_p_values(scores, keys=keys, weights=np.full(30, -1.0))


def test_keys_make_the_order_of_rows_irrelevant() -> None:
    scores, keys = np.random.default_rng(3).normal(size=(30, 3)), keys_for(30)
    by_keys = pair_p_values(scores, keys=keys)
    assert by_keys == pytest.approx(pair_p_values(scores[::-1], keys=keys[::-1]), abs=1e-12)
    assert by_keys.tolist() != pair_p_values(scores).tolist()
