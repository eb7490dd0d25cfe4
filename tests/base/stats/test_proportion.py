"""Intervals for proportions: coverage by exact enumeration, widths beside Wilson's, and published values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, hypergeom, multinomial, norm

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.stats import proportion
from sparingly.base.stats.proportion import (
    effective_proportion_interval,
    proportion_bound,
    proportion_interval,
)

SIZES = (10, 11, 12, 13, 14, 15, 17, 20, 35, 70, 100, 200)


def wilson(n: int) -> tuple[Floats, Floats]:
    p, z = np.arange(n + 1) / n, float(norm.isf(0.025))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return centre - half, centre + half


def covered(low: Floats, high: Floats, n: int, p: Floats) -> Floats:
    """P(low(X) ≤ p ≤ high(X)) for X binomial, exactly."""
    chance = binom.pmf(np.arange(n + 1)[:, None], n, p)
    return np.asarray((chance * ((low[:, None] <= p) & (p <= high[:, None]))).sum(0))


@pytest.mark.parametrize("n", SIZES)
def test_coverage_and_width_in_an_infinite_population(n: int) -> None:
    low, high = proportion_interval(np.arange(n + 1), n)
    # Coverage jumps at the ends of the intervals: its infimum lies just beside one of them.
    ends = np.concatenate([low, high])
    ends = ends[(ends > 0) & (ends < 1)]
    assert covered(low, high, n, np.concatenate([ends - 1e-9, ends + 1e-9])).min() >= 0.92
    grid = (np.arange(1000) + 0.5) / 1000
    assert covered(low, high, n, grid).mean() >= 0.95
    reference = wilson(n)
    ratio = (high - low).mean() / (reference[1] - reference[0]).mean()
    assert ratio <= (1.10 if n < 20 else 1.05)
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0).all()
    assert low[0] == 0.0
    assert high[-1] == 1.0


@pytest.mark.parametrize(
    ("n", "size"),
    [(10, 11), (10, 15), (12, 20), (14, 30), (10, 50), (20, 100), (30, 200), (199, 200), (100, 500)],
)
@pytest.mark.parametrize("whole", [True, False])
def test_coverage_in_a_finite_set(n: int, size: int, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every number of successes in the set, by the exact sums and by the effective sample size."""
    if not whole:
        monkeypatch.setattr(proportion, "LARGEST_EXACT_SIZE", 0)
    low, high = proportion_interval(np.arange(n + 1), n, size)
    truth = np.arange(size + 1)
    chance = hypergeom.pmf(np.arange(n + 1)[:, None], size, truth, n)
    rate = truth / size
    held = (chance * ((low[:, None] <= rate + 1e-12) & (rate <= high[:, None] + 1e-12))).sum(0)
    assert held.min() >= 0.92
    assert held.mean() >= 0.95
    assert np.allclose(low * size, np.round(low * size))
    assert np.allclose(high * size, np.round(high * size))
    assert (low >= np.arange(n + 1) / size - 1e-12).all(), "the successes seen are in the set"
    assert (np.diff(low) >= 0).all()


def test_hypergeometric_ends_by_their_definition() -> None:
    size, n, k = 60, 17, 12
    truth = np.arange(size + 1)
    above = hypergeom.sf(k, size, truth, n) + 0.58 * hypergeom.pmf(k, size, truth, n)
    below = hypergeom.cdf(k - 1, size, truth, n) + 0.58 * hypergeom.pmf(k, size, truth, n)
    inside = truth[(above > 0.025) & (below > 0.025)] / size
    low, high = proportion_interval(k, n, size)
    assert (float(low), float(high)) == pytest.approx((inside.min(), inside.max()))


def test_everything_labelled_leaves_no_width() -> None:
    low, high = proportion_interval([0, 7, 7.5, 20], 20, 20)
    assert np.allclose(low, [0, 0.35, 0.375, 1])
    assert np.allclose(high, low)


@pytest.mark.parametrize(
    ("k", "n", "ends"),
    [
        (81, 263, (0.2544, 0.3658)),
        (15, 148, (0.0601, 0.1581)),
        (0, 20, (0.0, 0.1391)),
        (1, 29, (0.0017, 0.1585)),
    ],
)
def test_half_of_the_observed_count_is_the_published_mid_p(
    k: int, n: int, ends: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Newcombe (1998), Statistics in Medicine 17, table I, method 6."""
    monkeypatch.setattr(proportion, "TAIL_SHARE", 0.5)
    low, high = proportion_interval(k, n)
    assert (float(low), float(high)) == pytest.approx(ends, abs=6e-5)


@pytest.mark.parametrize(("k", "n", "ends"), [(81, 263, (0.2527, 0.3676)), (15, 148, (0.0578, 0.1617))])
def test_bounds_are_clopper_and_pearsons(k: int, n: int, ends: tuple[float, float]) -> None:
    """Newcombe (1998), method 5: two bounds of 97.5 % each."""
    low = proportion_bound(k, n, level=0.975)
    high = proportion_bound(k, n, level=0.975, side="high")
    assert (float(low), float(high)) == pytest.approx(ends, abs=6e-5)


def test_all_successes_give_at_least_97_percent() -> None:
    assert float(proportion_bound(100, 100)) == pytest.approx(0.05 ** (1 / 100))
    assert float(proportion_bound(0, 100, side="high")) == pytest.approx(1 - 0.05 ** (1 / 100))
    # Of 400 items not drawn, at most 13 can fail before 100 successes in a row become unlikelier than 5 %.
    assert hypergeom.pmf(100, 500, 487, 100) > 0.05 > hypergeom.pmf(100, 500, 486, 100)
    assert float(proportion_bound(100, 100, 500)) == 487 / 500


def test_ties_as_half_wins_lie_between_whole_counts() -> None:
    low, high = proportion_interval([9, 9.5, 10], 20)
    assert low[0] < low[1] < low[2]
    assert high[0] < high[1] < high[2]
    nearly, _ = proportion_interval([5, 5 + 1e-7], 20)
    assert nearly[0] == pytest.approx(nearly[1], abs=1e-6)


def test_no_labels_say_nothing_and_missing_stays_missing() -> None:
    assert [float(end) for end in proportion_interval(0, 0)] == [0.0, 1.0]
    assert np.isnan(proportion_interval([np.nan, 3], 10)[0]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: proportion_interval(11, 10), "11 successes of 10 is not a proportion"),
        (lambda: proportion_interval(-1, 10), "-1 successes of 10"),
        (lambda: proportion_interval(5, 10, 8), "10 labels cannot come from 8 items"),
        (lambda: proportion_interval(5, 10, level=95), "between 0 and 1"),
        (lambda: proportion_bound(5, 10, side="left"), '"low" or "high", not "left"'),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_gets_one_sentence(call: object, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()  # type: ignore[operator]


# --- with predictions, weights or clusters ----------------------------------------------------------


def test_the_plain_error_gives_the_plain_interval() -> None:
    share, n = np.array([0.5, 0.9, 0.98]), 100
    plain = np.sqrt(share * (1 - share) / (n - 1))
    assert np.allclose(
        effective_proportion_interval(share, plain, n), proportion_interval(share * n, n), atol=1e-10
    )
    # In a finite set too, up to a step of 1/N.
    set_error = plain * np.sqrt(1 - n / 500)
    effective = effective_proportion_interval(share, set_error, n, 500)
    assert np.allclose(effective, proportion_interval(share * n, n, 500), atol=1 / 500 + 1e-9)


def test_clusters_widen_and_predictions_narrow() -> None:
    n, share = 100, 0.8
    plain = float(np.sqrt(share * (1 - share) / (n - 1)))
    widths = [
        float(np.subtract(*effective_proportion_interval(share, factor * plain, n)[::-1]))
        for factor in (0.5, 0.7, 1.0, 1.5, 2.0)
    ]
    assert widths == sorted(widths)
    few, many = (effective_proportion_interval(share, plain, n, freedom=df) for df in (4, 99))
    assert float(few[0]) < float(many[0])
    # Twice the error is a quarter of the labels.
    assert np.allclose(
        effective_proportion_interval(share, 2 * plain, n), proportion_interval(20, 25), atol=1e-10
    )


def test_labels_that_agree_count_as_many_as_they_are() -> None:
    assert np.allclose(effective_proportion_interval(1.0, 0.0, 50), proportion_interval(50, 50))
    assert np.allclose(effective_proportion_interval(1.03, 0.0, 50, share=1.0), proportion_interval(50, 50))
    low, high = effective_proportion_interval([0.4, 1.0], 0.0, 50, 50)
    assert np.allclose(low, [0.4, 1.0])
    assert np.allclose(high, [0.4, 1.0])


@pytest.mark.parametrize(("right_on_passes", "right_on_fails"), [(0.9, 0.9), (0.95, 0.95), (0.98, 0.6)])
@pytest.mark.parametrize("n", [10, 16, 24])
def test_coverage_with_a_judge(n: int, right_on_passes: float, right_on_fails: float) -> None:
    """Every table of label and verdict with its chance; the judge's pass rate over all inputs is given."""
    tables = np.array(
        [(a, b, c) for a in range(n + 1) for b in range(n + 1 - a) for c in range(n + 1 - a - b)]
    )
    tables = np.column_stack([tables, n - tables.sum(1)])
    label, verdict = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    y, j = tables @ label / n, tables @ verdict / n
    covariance, spread = tables[:, 0] / n - y * j, j * (1 - j)
    slope = np.divide(covariance, spread, out=np.zeros(len(y)), where=spread > 0)
    fit = np.divide(slope * covariance, y * (1 - y), out=np.zeros(len(y)), where=covariance != 0)
    slope *= np.divide(np.maximum(fit - 1 / (n - 2), 0), fit, out=np.zeros(len(y)), where=fit > 0)
    residual = np.maximum(y * (1 - y) - 2 * slope * covariance + slope**2 * spread, 0)
    error = np.sqrt(residual / (n - 1 - (slope != 0)))
    held = []
    for p in (0.5, 0.8, 0.9, 0.95, 0.98):
        cells = [p * right_on_passes, p * (1 - right_on_passes), (1 - p) * (1 - right_on_fails)]
        chance = multinomial.pmf(tables, n, [*cells, 1 - sum(cells)])
        estimate = y + slope * (cells[0] + cells[2] - j)
        low, high = effective_proportion_interval(estimate, error, n, share=y)
        held.append(chance @ ((low <= p) & (p <= high)))
        if p == 0.5:
            plain = proportion_interval(y * n, n)
            assert chance @ (high - low) < 0.95 * (chance @ (plain[1] - plain[0])), "the judge helps"
    assert min(held) >= 0.92
    assert np.mean(held) >= 0.94


def test_an_error_of_nothing_from_few_labels_is_not_believed() -> None:
    low, high = effective_proportion_interval(0.8, 0.0, 10)
    assert float(high - low) > 0.2
