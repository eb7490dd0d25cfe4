from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base import rng
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.curve import SHARES, curve, parity_size, random_order, random_parity

SIZES = np.arange(5, 13)
NOISY = np.array([0.2, 0.8, 0.3, 0.6, 0.7, 0.7, 0.65, 1.0])


def make(items: int = 80, models: int = 5) -> FullSet:
    generator = np.random.default_rng(0)
    noise = generator.normal(size=(items, models)) * generator.uniform(0.1, 3.0, (items, 1))
    return FullSet(
        noise + 0.2 * np.arange(models), rng.keys_of([f"item {n}" for n in range(items)]), flips=200
    )


def test_staying_and_first_crossing() -> None:
    assert parity_size(SIZES, NOISY, 0.65) == 9
    assert parity_size(SIZES, NOISY, 0.65, "first_crossing") == 6
    assert parity_size(SIZES, NOISY, 0.1) == 5
    assert parity_size(SIZES, NOISY, 0.9) == 12
    assert np.isnan(parity_size(SIZES, NOISY, 1.1))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1))
def test_staying_is_never_earlier_than_crossing(values: list[float], target: float) -> None:
    sizes = np.arange(1, len(values) + 1)
    stays = parity_size(sizes, np.array(values), target)
    crosses = parity_size(sizes, np.array(values), target, "first_crossing")
    if np.isnan(stays):
        assert values[-1] < target
    else:
        assert stays >= crosses
        assert all(value >= target - 1e-9 for value in values[int(stays) - 1 :])
        assert stays == 1 or values[int(stays) - 2] < target


def test_the_definition_step_by_step() -> None:
    full = make()
    baseline = random_parity(full, runs=4, seed=7)
    seeds = rng.seed_list(7, 8, "parity")
    target_sizes = [max(1, int(80 * share + 1e-9)) for share in SHARES]
    targets = np.mean(
        [curve(full, random_order(full, seed), target_sizes).values for seed in seeds[:4]], axis=0
    )
    assert baseline.targets == pytest.approx(targets)

    def raw(order: np.ndarray) -> float:
        dense = np.arange(4, 81)
        values = curve(full, order, dense).values
        needed = [parity_size(dense, values, target) for target in targets]
        return float(np.mean(np.array(needed) / target_sizes))

    assert baseline.raw == pytest.approx(np.mean([raw(random_order(full, seed)) for seed in seeds[4:]]))
    order = np.argsort(-full.values.var(axis=1))
    result = baseline.of(order)
    assert result.raw == pytest.approx(raw(order))
    assert result.share == pytest.approx(raw(order) / baseline.raw)


def test_random_selection_needs_about_what_random_selection_needs() -> None:
    full = make()
    baseline = random_parity(full, runs=10)
    shares = [baseline.of(random_order(full, 1000 + seed)).share for seed in range(30)]
    assert abs(np.mean(shares) - 1.0) < 4 * np.std(shares) * np.sqrt(1 / 30 + 1 / 10)


def test_the_oracle_needs_less() -> None:
    """Items on which the models stand in their true order are worth more than others."""
    full = make()
    order = np.argsort(-(full.values @ (np.arange(5) - 2.0)) / full.values.std(axis=1), kind="stable")
    assert random_parity(full, measure="kendall_b").of(order).share < 0.9


def test_measures_that_are_better_when_lower() -> None:
    full = make()
    mean_first = np.argsort(np.abs(full.values - full.means).sum(axis=1))
    result = random_parity(full, measure="mean_absolute_error").of(mean_first)
    assert np.isfinite(result.share)
    assert (np.diff(result.targets) < 0).sum() >= 7
    assert (result.sizes >= 4).all()


def test_scores_that_never_reach_the_truth() -> None:
    full = make()
    random = random_parity(full, runs=2)
    result = replace(random, targets=random.targets + 2.0).of(np.arange(80))
    assert np.isnan(result.sizes[0])  # no agreement is larger than 1
    assert np.isnan(result.share)


def test_order_of_items_does_not_matter() -> None:
    full = make(40)
    turn = np.random.default_rng(3).permutation(40)
    turned = FullSet(full.values[turn], full.keys[turn], flips=200)
    order = random_order(full, 5)
    straight = random_parity(full, runs=2).of(order)
    around = random_parity(turned, runs=2).of(np.argsort(turn)[order])
    assert around.share == pytest.approx(straight.share)


@pytest.mark.parametrize("items", [1, 2, 7, 19])
def test_small_sets_work(items: int) -> None:
    generator = np.random.default_rng(1)
    full = FullSet(generator.normal(size=(items, 3)), np.arange(items, dtype=np.uint64), flips=50)
    result = random_parity(full, runs=2).of(np.arange(items))
    assert np.isfinite(result.share)
    assert (result.target_sizes >= 1).all()


def test_large_sets_take_evenly_spaced_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparingly.infer.rank.curve._DENSE_SIZES", 20)
    dense = random_parity(make(), runs=1).dense
    assert dense[0] == 4
    assert dense[-1] == 80
    assert np.diff(dense).tolist() == [4] * 19


def test_rank_tests_take_fewer_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparingly.infer.rank.curve._DENSE_RANK_SIZES", 20)
    assert len(random_parity(make(), runs=1, measure="significance_retained_05").dense) == 20
    assert len(random_parity(make(), runs=1, measure="groups").dense) == 20
    assert len(random_parity(make(), runs=1, measure="kendall_b").dense) == 77


def test_finding_winners_has_a_parity_too() -> None:
    full = make()
    order = np.argsort(-(full.values @ (np.arange(5) - 2.0)) / full.values.std(axis=1), kind="stable")
    assert random_parity(full, measure="winner_success").of(order).share < 0.9


def test_a_notebook_shows_targets_and_sizes() -> None:
    result = random_parity(make(40), runs=2).of(np.arange(40))
    shown = result._repr_html_()
    assert f"{result.share:.1%} of random" in shown
    assert shown.count("<tr>") == 1 + len(SHARES)


def test_wrong_calls_get_one_sentence() -> None:
    with pytest.raises(UsageError, match="better when higher or lower"):
        random_parity(make(), measure="winner_bias")
    with pytest.raises(UnknownNameError, match="rule"):
        parity_size(SIZES, NOISY, 0.5, "luck")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least one random run"):
        random_parity(make(), runs=0)
    with pytest.raises(UsageError, match="all 80 items"):
        random_parity(make(), runs=1).of(np.arange(10))
