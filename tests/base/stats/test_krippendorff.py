"""Krippendorff's α against his published examples and against the definition, pair by pair."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.krippendorff import LEVELS, Level, alpha_interval, krippendorff_alpha

X = np.nan
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, part C: four observers, twelve units.
FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, X, X, X],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, X, 3],
        [X, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, X],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, X],
    ]
).T
# The same paper, part A: two observers, two categories.
TWO_OBSERVERS = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], float).T
# The worked example with three coders and missing values.
THREE_CODERS = np.array(
    [
        [X, X, X, X, X, 3, 4, 1, 2, 1, 1, 3, 3, X, 3],
        [1, X, 2, 1, 3, 3, 4, 3, X, X, X, X, X, X, X],
        [X, X, 2, 1, 3, 4, 4, X, 2, 1, 1, 3, 3, X, 4],
    ]
).T


def by_definition(values: Floats, level: str) -> float:
    """α from every ordered pair of values, as the definition has it."""
    units = [[value for value in row if value == value] for row in values.tolist()]
    units = [unit for unit in units if len(unit) > 1]
    everything = [value for unit in units for value in unit]
    often = Counter(everything)

    def squared(one: float, other: float) -> float:
        if level == "nominal":
            return float(one != other)
        if level == "interval":
            return (one - other) ** 2
        if level == "ratio":
            return ((one - other) / (one + other)) ** 2 if one + other else 0.0
        low, high = min(one, other), max(one, other)
        between = sum(count for value, count in often.items() if low <= value <= high)
        return 0.0 if one == other else (between - (often[low] + often[high]) / 2) ** 2

    seen = sum(squared(*pair) / (len(unit) - 1) for unit in units for pair in permutations(unit, 2))
    chance = sum(squared(*pair) for pair in permutations(everything, 2)) / max(len(everything) - 1, 1)
    return 1 - seen / chance if chance else float("nan")


@pytest.mark.parametrize(
    ("values", "level", "published"),
    [
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
        (FOUR_OBSERVERS, "ratio", 0.797),
        (TWO_OBSERVERS, "nominal", 0.095),
        (THREE_CODERS, "nominal", 0.691),
        (THREE_CODERS, "interval", 0.811),
    ],
)
def test_published_examples(values: Floats, level: Level, published: float) -> None:
    assert round(krippendorff_alpha(values, level), 3) == published


@pytest.mark.parametrize("level", LEVELS)
@given(
    table=arrays(
        np.float64, st.tuples(st.integers(1, 7), st.integers(1, 4)), elements=st.sampled_from([X, 0, 1, 2, 5])
    )
)
def test_equals_the_definition(level: Level, table: Floats) -> None:
    assert krippendorff_alpha(table, level) == pytest.approx(by_definition(table, level), nan_ok=True)


def test_neither_order_nor_units_with_one_value_matter() -> None:
    random = np.random.default_rng(0)
    shuffled = FOUR_OBSERVERS[random.permutation(12)][:, random.permutation(4)]
    more = np.vstack([shuffled, [9, X, X, X]])
    assert krippendorff_alpha(more, "ordinal") == pytest.approx(krippendorff_alpha(FOUR_OBSERVERS, "ordinal"))


def test_interval_does_not_lose_digits_far_from_zero() -> None:
    far = krippendorff_alpha(FOUR_OBSERVERS + 1e8, "interval")
    assert far == pytest.approx(krippendorff_alpha(FOUR_OBSERVERS, "interval"), abs=1e-6)


def test_many_distinct_values_in_blocks() -> None:
    random = np.random.default_rng(1)
    values = random.gamma(2.0, size=(400, 1)) * random.lognormal(0, 0.2, (400, 2))
    assert krippendorff_alpha(values, "ratio") == pytest.approx(by_definition(values, "ratio"))


def test_agreement_that_cannot_be_told() -> None:
    assert np.isnan(krippendorff_alpha(np.array([[1.0, X], [X, 2.0]])))
    assert np.isnan(krippendorff_alpha(np.ones((5, 2))))


def test_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(2)
    held = 0
    for _ in range(120):
        values = random.normal(size=(60, 1)) + random.normal(scale=0.7, size=(60, 3))
        found = alpha_interval(values, random=random, draws=300)
        held += found.low <= 1 / (1 + 0.49) <= found.high
    assert held >= 0.88 * 120


def test_groups_that_hang_together_give_wider_intervals() -> None:
    random = np.random.default_rng(3)
    values = np.repeat(random.normal(size=(20, 2)) + random.normal(size=(20, 1)), 6, axis=0)
    alone = alpha_interval(values, random=np.random.default_rng(0))
    together = alpha_interval(values, random=np.random.default_rng(0), groups=np.repeat(np.arange(20), 6))
    assert together.alpha == alone.alpha
    assert together.high - together.low > 1.8 * (alone.high - alone.low)


def test_one_unit_has_no_interval() -> None:
    found = alpha_interval(np.array([[1.0, 2.0]]), random=np.random.default_rng(0))
    assert np.isnan(found.low)
    assert found.units == 1


def test_what_cannot_be_asked() -> None:
    with pytest.raises(UnknownNameError, match="level of measurement"):
        krippendorff_alpha(FOUR_OBSERVERS, "cardinal")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="0 or more"):
        krippendorff_alpha(-FOUR_OBSERVERS, "ratio")
    with pytest.raises(UsageError, match="units × raters"):
        krippendorff_alpha(np.ones(3))
