from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base import rng

ids_strategy = st.lists(st.text(max_size=40), min_size=1, max_size=30)


@given(ids_strategy)
def test_a_key_depends_on_its_id_alone(ids: list[str]) -> None:
    keys = dict(zip(ids, rng.keys_of(ids).tolist(), strict=True))
    turned = list(reversed(ids))
    assert rng.keys_of(turned).tolist() == [keys[name] for name in turned]
    assert all(rng.keys_of([name])[0] == keys[name] for name in ids)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=30, unique=True))
def test_different_ids_have_different_keys(ids: list[str]) -> None:
    assert len(set(rng.keys_of(ids).tolist())) == len(ids)


def test_padding_does_not_make_ids_equal() -> None:
    ids = ["", "\0", "\0\0", "a", "a\0", "a" * 8, "a" * 8 + "\0", "a" * 16, "é", "e\u0301"]
    assert len(set(rng.keys_of(ids).tolist())) == len(ids)


def test_keys_are_the_same_on_every_machine() -> None:
    assert [f"{key:016x}" for key in rng.keys_of(["", "en-de#0", "an id longer than eight bytes"])] == [
        f"{_key_by_hand(name):016x}" for name in ("", "en-de#0", "an id longer than eight bytes")
    ]


def test_keys_do_not_depend_on_the_blocks_they_are_computed_in() -> None:
    ids = [f"item {number}" for number in range(65_536 + 3)]
    keys = rng.keys_of(ids)
    assert keys[65_534:].tolist() == rng.keys_of(ids[65_534:]).tolist()
    assert len(set(keys.tolist())) == len(ids)


def test_no_ids_no_keys() -> None:
    assert rng.keys_of([]).shape == (0,)


def test_one_very_long_id_is_folded_like_any_other() -> None:
    long = "x" * 100_000
    assert rng.keys_of(["a", long])[1] == rng.keys_of([long])[0] == _key_by_hand(long)


def test_lone_surrogates_have_keys() -> None:
    assert rng.keys_of(["\ud800"])[0] != rng.keys_of(["\ud801"])[0]


def test_seeds_and_purposes_give_unrelated_streams() -> None:
    keys = rng.keys_of([f"{number}" for number in range(4_000)])
    draws = [rng.uniforms(keys, 0), rng.uniforms(keys, 1), rng.uniforms(keys, 0, "other")]
    assert np.abs(np.corrcoef(draws) - np.eye(3)).max() < 4 / np.sqrt(4_000)


def test_uniforms_are_uniform() -> None:
    draws = rng.uniforms(rng.keys_of([f"id{number}" for number in range(50_000)]), 7)
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    counts = np.histogram(draws, bins=50, range=(0.0, 1.0))[0]
    chi_squared = ((counts - 1_000.0) ** 2 / 1_000.0).sum()
    assert 20.0 < chi_squared < 95.0  # 49 degrees of freedom; about one seed in ten thousand is outside


def test_bits_of_words_are_fair_and_independent_of_each_other() -> None:
    words = rng.words(rng.keys_of([f"id{number}" for number in range(2_000)]), 3, 2, "bits")
    assert words.shape == (2_000, 2)
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1).astype(np.float64)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(2_000)
    assert np.abs(np.corrcoef(bits.T) - np.eye(128)).max() < 6 / np.sqrt(2_000)


def test_more_words_begin_with_the_same_words() -> None:
    keys = rng.keys_of(["a", "b"])
    assert (rng.words(keys, 0, 5)[:, :2] == rng.words(keys, 0, 2)).all()


def test_generators_differ_by_purpose_and_repeat() -> None:
    first = rng.generator(1, "a").integers(0, 2**62, 4).tolist()
    assert first == rng.generator(1, "a").integers(0, 2**62, 4).tolist()
    assert first != rng.generator(1, "b").integers(0, 2**62, 4).tolist()
    assert first != rng.generator(2, "a").integers(0, 2**62, 4).tolist()
    assert rng.generator(1, "a", "b").integers(2**62) != rng.generator(1, "ab").integers(2**62)


def test_order_puts_the_highest_first_and_nan_last() -> None:
    keys = rng.keys_of(["a", "b", "c", "d"])
    values = np.array([1.0, np.nan, 3.0, 2.0])
    assert rng.order(values, keys, 0).tolist() == [2, 3, 0, 1]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 5))
def test_ties_follow_the_hash_and_not_the_place(values: list[int], seed: int) -> None:
    ids = np.array([f"id{number}" for number in range(len(values))])
    scores = np.array(values, np.float64)
    chosen = ids[rng.order(scores, rng.keys_of(ids.tolist()), seed)].tolist()
    shuffle = np.random.default_rng(seed).permutation(len(values))
    again = ids[shuffle][rng.order(scores[shuffle], rng.keys_of(ids[shuffle].tolist()), seed)].tolist()
    assert chosen == again


def test_ties_are_settled_differently_by_different_seeds() -> None:
    keys = rng.keys_of([f"id{number}" for number in range(20)])
    assert rng.order(np.zeros(20), keys, 0).tolist() != rng.order(np.zeros(20), keys, 1).tolist()


def test_the_last_bits_of_a_value_do_not_change_the_order() -> None:
    keys = rng.keys_of([f"id{number}" for number in range(50)])
    values = np.repeat(np.arange(10.0), 5)
    noisy = values * (1.0 + np.random.default_rng(0).uniform(-1e-13, 1e-13, 50))
    assert rng.order(values, keys, 0).tolist() == rng.order(noisy, keys, 0).tolist()


def test_rounding_keeps_what_is_worth_telling_apart() -> None:
    rounded = rng.round_to_range(np.array([0.0, 1e-8, 1.0, np.nan]))
    assert rounded[0] < rounded[1] < rounded[2]
    assert np.isnan(rounded[3])
    assert rng.round_to_range(np.array([0.0, 1e-11, 1.0]))[1] == 0.0


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [2.5, 2.5]])
def test_rounding_leaves_what_has_no_range(values: list[float]) -> None:
    array = np.array(values)
    assert np.array_equal(rng.round_to_range(array), array, equal_nan=True)


def test_seeds_that_follow_from_a_seed() -> None:
    seeds = rng.seed_list(3, 10, "runs")
    assert seeds == rng.seed_list(3, 10, "runs")
    assert len(set(seeds)) == 10
    assert seeds != rng.seed_list(4, 10, "runs")
    assert rng.seed_list(3, 4, "runs") == seeds[:4]


def _key_by_hand(name: str) -> int:
    """Fold an id into its key with plain integers: eight bytes at a time, length first."""
    mask, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def scramble(value: int) -> int:
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        return value ^ (value >> 31)

    encoded = name.encode()
    key = scramble((len(encoded) + golden) & mask)
    for start in range(0, len(encoded), 8):
        word = int.from_bytes(encoded[start : start + 8].ljust(8, b"\0"), "little")
        key = (scramble(key ^ word) + golden) & mask
    return key
