"""Promises of utilities: plain references in Python, and maps that must not change the answer."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.arrays import Floats
from sparingly.base.registry import parse_method, registered
from sparingly.base.rng import order
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed import embed_texts
from tests.contracts import irt_reference
from tests.contracts.examples import utility_texts
from tests.contracts.made import build, made_set, scores

Row = Sequence[float]
Matrix = Sequence[Row]


def there(row: Row) -> list[float]:
    return [score for score in row if not math.isnan(score)]


def values(text: str, data: EvalSet) -> Floats:
    method = parse_method(text)
    assert isinstance(method, Utility)
    return method.resolve(data).values(data)


# --- references in plain Python ---------------------------------------------------------------------


def mean(matrix: Matrix) -> list[float]:
    return [statistics.fmean(known) if (known := there(row)) else math.nan for row in matrix]


def variance(matrix: Matrix) -> list[float]:
    return [statistics.pvariance(known) if (known := there(row)) else math.nan for row in matrix]


def sign(number: float) -> int:
    return (number > 0) - (number < 0)


def pairs(one: Row, other: Row) -> list[tuple[int, int]]:
    """The signs of every pair of models in two rows, over the models that both have."""
    both = [place for place in range(len(one)) if not math.isnan(one[place]) and not math.isnan(other[place])]
    return [
        (sign(one[low] - one[high]), sign(other[low] - other[high]))
        for index, low in enumerate(both)
        for high in both[index + 1 :]
    ]


def ranks(row: Row) -> list[float]:
    return [
        sum(other < value for other in row) + (1 + sum(other == value for other in row)) / 2 for value in row
    ]


def consistency(agreement: Callable[[Row, Row], float]) -> Callable[[Matrix], list[float]]:
    def of_matrix(matrix: Matrix) -> list[float]:
        whole = [statistics.fmean(there(column)) for column in zip(*matrix, strict=True)]
        return [agreement(row, whole) if there(row) else math.nan for row in matrix]

    return of_matrix


def spearman(row: Row, whole: Row) -> float:
    known = [(one, other) for one, other in zip(row, whole, strict=True) if not math.isnan(one)]
    one, other = (ranks(side) for side in zip(*known, strict=True))
    constant = len(set(one)) == 1 or len(set(other)) == 1
    return 0.0 if constant else statistics.correlation(one, other)


def kendall_c(row: Row, whole: Row) -> float:
    known = [(one, other) for one, other in zip(row, whole, strict=True) if not math.isnan(one)]
    levels = min(len({one for one, _ in known}), len({other for _, other in known}))
    balance = sum(one * other for one, other in pairs(row, whole))
    return 0.0 if levels < 2 else 2 * levels * balance / (len(known) ** 2 * (levels - 1))


def pairwise(row: Row, whole: Row) -> float:
    told_apart = [(one, other) for one, other in pairs(row, whole) if other]
    return sum(one == other for one, other in told_apart) / len(told_apart) if told_apart else 0.0


def negative(reference: Callable[[Matrix], list[float]]) -> Callable[[Matrix], list[float]]:
    return lambda matrix: [-value for value in reference(matrix)]


def rank_mix(matrix: Matrix) -> list[float]:
    parts = [(1, negative(mean)(matrix)), (2, variance(matrix))]
    known = [place for place, value in enumerate(parts[0][1]) if not math.isnan(value)]
    result = [math.nan] * len(matrix)
    shared = [(weight, ranks([round(part[place], 9) for place in known])) for weight, part in parts]
    for index, place in enumerate(known):
        result[place] = sum(weight * part[index] / len(known) for weight, part in shared) / 3
    return result


REFERENCES: dict[str, Callable[[Matrix], list[float]]] = {
    "metric_avg": negative(mean),
    "metric_var": variance,
    "metric_cons": consistency(spearman),
    "metric_cons:correlation=kendall": consistency(kendall_c),
    "metric_cons:correlation=pairwise": consistency(pairwise),
    "uncertainty": mean,
    "uncertainty:direction=low": negative(mean),
    "mix:of=(metric_avg)+(2*metric_var)": rank_mix,
}


# --- the same for utilities that read texts: a number for the vectors of every item's outputs ----------

Vectors = Sequence[Row]


def cosine(one: Row, other: Row) -> float:
    return sum(left * right for left, right in zip(one, other, strict=True))


def likeness(vectors: Vectors) -> float:
    return -statistics.fmean(cosine(one, other) for one, other in combinations(vectors, 2))


def distance(vectors: Vectors) -> float:
    squares = (math.dist(one, other) ** 2 for one, other in combinations(vectors, 2))
    return math.sqrt(statistics.fmean(squares))


OUTPUT_REFERENCES: dict[str, Callable[[Vectors], float]] = {"diversity": likeness, "max_norm": distance}


@pytest.mark.parametrize("text", OUTPUT_REFERENCES)
def test_values_of_outputs_are_those_of_the_plain_reference(text: str) -> None:
    data = made_set()
    assert data.outputs is not None
    embedded = embed_texts(data.outputs.ravel().tolist()).reshape(*data.shape, -1).tolist()
    expected = [OUTPUT_REFERENCES[text](vectors) for vectors in embedded]
    np.testing.assert_allclose(values(text, data), expected, rtol=0, atol=1e-6)


# --- the same for a utility that is fitted: a general optimiser stops a little before the optimum ------

FITTED_REFERENCES: dict[str, Callable[[Matrix], list[float]]] = {"irt:fit=map": irt_reference.diffdisc}


@pytest.mark.parametrize("text", FITTED_REFERENCES)
def test_fitted_values_are_those_of_the_plain_reference(text: str) -> None:
    data = made_set()
    expected = FITTED_REFERENCES[text](data.metrics["score"].tolist())
    np.testing.assert_allclose(values(text, data), expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("text", REFERENCES)
def test_values_are_those_of_the_plain_reference(text: str) -> None:
    data = made_set()
    expected = REFERENCES[text](data.metrics["score"].tolist())
    np.testing.assert_allclose(values(text, data), expected, rtol=0, atol=1e-12)


# What is learned is compared with its parts in tests/choose/utility and tests/choose/distil.
LEARNED = ("residual_size", "distilled", "precomet", "sentinel_src", "comet_instant_confidence")


def test_every_utility_of_the_package_has_a_reference() -> None:
    ours = {name for name, method in registered().items() if method.__module__.startswith("sparingly.")}
    utilities = {name for name in ours if issubclass(registered()[name], Utility)}
    texts = (*REFERENCES, *OUTPUT_REFERENCES, *FITTED_REFERENCES, *LEARNED)
    assert {text.partition(":")[0] for text in texts} == utilities


# --- maps that change nothing -----------------------------------------------------------------------

# Powers of two and small whole numbers leave ties ties and differences differences.
SCALES = st.sampled_from([0.25, 0.5, 2.0, 8.0, 1024.0])
SHIFTS = st.integers(-64, 64)


@given(scale=SCALES, shift=SHIFTS)
@pytest.mark.parametrize("correlation", ["spearman", "kendall", "pairwise"])
def test_consistency_does_not_change_under_a_rising_line(correlation: str, scale: float, shift: int) -> None:
    text = f"metric_cons:correlation={correlation}"
    whole = np.round(scores() * 10)
    moved = build(whole * scale + shift)
    np.testing.assert_allclose(values(text, moved), values(text, build(whole)), rtol=0, atol=1e-12)


@given(scale=SCALES, shift=SHIFTS)
@pytest.mark.parametrize("text", ["metric_var", "metric_avg", "uncertainty", "uncertainty:direction=low"])
def test_order_of_items_does_not_change_under_a_rising_line(text: str, scale: float, shift: int) -> None:
    whole = np.round(scores() * 10)
    plain, moved = build(whole), build(whole * scale + shift)
    orders = [order(values(text, data), data.keys, 3).tolist() for data in (plain, moved)]
    assert orders[0] == orders[1]


@given(shift=SHIFTS, scale=SCALES)
def test_variance_follows_the_square_of_the_scale(shift: int, scale: float) -> None:
    whole = np.round(scores() * 10)
    moved = values("metric_var", build(whole * scale + shift))
    np.testing.assert_allclose(moved, scale**2 * values("metric_var", build(whole)), rtol=1e-9)


@pytest.mark.parametrize("text", utility_texts())
def test_values_of_an_item_are_finite_or_missing(text: str) -> None:
    found = values(text, made_set())
    assert not np.isinf(found).any()


@pytest.mark.parametrize("text", utility_texts())
def test_sets_of_one_item_or_one_model_have_values(text: str) -> None:
    data = made_set()
    for view in (data.take(items=data.items[:1]), data.take(models=data.models[:1])):
        assert values(text, view).shape == (len(view),)
