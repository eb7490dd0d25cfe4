"""Parity over a table: entries that need a known part of random's labels."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.leaderboard.parity import Parities, baseline_on
from benchmarks.leaderboard.results import ANNOTATION_SECONDS, LABELS, SPA, Results, Runs
from sparingly.base.errors import UnknownNameError
from tests.benchmarks.leaderboard.arrays import ITEMS, MODELS, results_of, runs_of

SHARES = np.linspace(0.05, 0.5, 10)


def accuracy(share: np.ndarray | float) -> np.ndarray:
    return 1.0 - 0.06 * (np.minimum(share, 1.0) ** -0.4 - 1.0)


def entry(
    needs: float, seeds: int = 3, shares: np.ndarray = SHARES, noise: float = 0.0, key: int = 0
) -> Runs:
    generator = np.random.default_rng(key)
    values = np.tile(accuracy(shares / needs), (seeds, 1))
    noisy = values + noise * generator.normal(size=values.shape)
    return runs_of(np.clip(noisy, 0.0, 1.0), shares)


def table(**entries: Runs) -> Results:
    return results_of({("a", name): runs for name, runs in {"random": entry(1.0, 20), **entries}.items()})


@pytest.mark.parametrize("needs", [0.5, 0.8, 1.0, 1.3])
def test_without_noise_parity_is_what_an_entry_needs(needs: float) -> None:
    found = Parities(table(made=entry(needs))).on("a", "made")
    assert found is not None
    assert found.ratio.value == pytest.approx(needs, abs=0.03)
    assert found.random_raw == pytest.approx(1.0)
    assert found.ratio.range().high - found.ratio.range().low == pytest.approx(0.0, abs=1e-9)


def test_an_entry_at_three_budgets_is_held_to_all_targets() -> None:
    found = Parities(table(made=entry(0.8, shares=SHARES[[1, 4, 9]]))).on("a", "made")
    assert found is not None
    assert found.ratio.value == pytest.approx(0.8, abs=0.05)
    assert found.below > 0.0


def test_targets_beyond_the_largest_budget_are_counted() -> None:
    slow, quick = (Parities(table(made=entry(needs))).on("a", "made") for needs in (1.5, 0.6))
    assert slow is not None
    assert quick is not None
    assert slow.beyond == pytest.approx(0.4)  # of random's shares above 1/3: 35, 40, 45 and 50 %
    assert quick.beyond == 0.0
    assert quick.below == pytest.approx(0.1)


def test_parity_in_seconds_counts_the_seconds() -> None:
    made = entry(0.8)
    dear = Runs(made.shares, made.resamples, {**made.values, ANNOTATION_SECONDS: 45.0 * made.values[LABELS]})
    parities = Parities(table(made=made, dear=dear), unit=ANNOTATION_SECONDS)
    plain, twice = parities.on("a", "made"), parities.on("a", "dear")
    assert plain is not None
    assert twice is not None
    # A label costs 30 seconds, in the dear entry 45; towards the full set both pay the same.
    assert twice.raw == pytest.approx(1.5 * plain.raw, rel=0.05)


def test_without_seconds_there_is_no_parity_in_them() -> None:
    made = entry(0.8)
    untimed = Runs(made.shares, made.resamples, {**made.values, ANNOTATION_SECONDS: np.full((3, 10), np.nan)})
    assert Parities(table(made=untimed), unit=ANNOTATION_SECONDS).on("a", "made") is None
    assert Parities(table(made=untimed)).on("a", "made") is not None


def test_random_against_itself_is_one() -> None:
    found = Parities(table()).on("a", "random")
    assert found is not None
    assert found.ratio.range().low == found.ratio.value == 1.0


def test_parity_against_another_baseline() -> None:
    results = table(better=entry(0.8, 20), made=entry(0.6))
    found = Parities(results, "better").on("a", "made")
    assert found is not None
    assert found.ratio.value == pytest.approx(0.75, abs=0.03)


def test_noise_costs_random_as_much_as_the_entry_that_has_it() -> None:
    noisy = results_of({("a", "random"): entry(1.0, 100, noise=0.02)})
    baseline = baseline_on(noisy, "a")
    assert baseline is not None
    one, ten, fifty = (baseline.own(seeds)[0] for seeds in (1, 10, 50))
    assert one > ten > fifty > 0.99
    assert one > 1.02


def test_noise_widens_the_interval() -> None:
    def width(noise: float) -> float:
        runs = {
            ("a", "random"): entry(1.0, 100, noise=noise),
            ("a", "made"): entry(0.8, 10, noise=noise, key=1),
        }
        found = Parities(results_of(runs)).on("a", "made")
        assert found is not None
        around = found.ratio.range()
        assert around.low < 0.8 < around.high
        return around.high - around.low

    assert 0.0 < width(0.005) < width(0.02)


def test_a_list_without_resamples_has_no_interval_and_with_them_has_one() -> None:
    curve = accuracy(SHARES / 0.8)
    moved = curve + np.random.default_rng(1).normal(0.0, 0.01, (10, 10))
    results = table(alone=runs_of(curve, SHARES), moved=runs_of(curve, SHARES, resampled=moved))
    alone, with_resamples = (Parities(results).on("a", name) for name in ("alone", "moved"))
    assert alone is not None
    assert with_resamples is not None
    assert alone.ratio.value == with_resamples.ratio.value
    assert np.isnan(alone.ratio.range().low)
    assert with_resamples.ratio.range().low < 0.8 < with_resamples.ratio.range().high
    assert with_resamples.ratio.freedom == 9.0


def test_the_same_table_gives_the_same_draws_whatever_else_is_in_it() -> None:
    made = entry(0.8, 10, noise=0.01)
    one = Parities(table(made=made)).on("a", "made")
    other = Parities(table(aaa=entry(0.5), made=made)).on("a", "made")
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one.ratio.draws, other.ratio.draws)


def test_only_counting_sets_are_gone_over() -> None:
    runs = {(name, one): entry(1.0, 4) for name in "ab" for one in ("random", "made")}
    results = results_of(runs, apart=("b",))
    assert [*Parities(results).over("made")] == ["a"]
    assert [*Parities(results).over("made", ["a", "b"])] == ["a", "b"]


def test_the_full_set_lies_at_the_end() -> None:
    baseline = baseline_on(table(), "a")
    assert baseline is not None
    assert baseline.full == pytest.approx(ITEMS * MODELS)
    assert baseline.smallest == pytest.approx(MODELS)
    np.testing.assert_allclose(baseline.targets, accuracy(SHARES))


def test_unknown_units_and_rules_are_named() -> None:
    with pytest.raises(UnknownNameError, match="hours"):
        Parities(table(), unit="hours")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="often"):
        Parities(table(), rule="often")  # type: ignore[arg-type]


def test_an_entry_without_accuracies_has_no_parity() -> None:
    empty = runs_of(np.full((2, 10), np.nan), SHARES)
    assert Parities(table(made=empty)).on("a", "made") is None
    assert Parities(table()).on("a", "nobody") is None
    assert baseline_on(results_of({("a", "random"): empty}), "a") is None
    assert SPA in empty.values
