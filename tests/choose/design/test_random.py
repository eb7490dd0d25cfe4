from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sparingly
from sparingly.base.errors import UsageError
from sparingly.choose import Random
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet

SEEDS = 3000


def columned(count: int = 30, **columns: list[Any]) -> EvalSet:
    return EvalSet.from_arrays([f"i{place:03d}" for place in range(count)], ["m"], columns=columns)


def inclusions(data: EvalSet, budget: Any, **design: Any) -> NDArray[np.bool_]:
    """Draw once for every seed; return seeds x items, whether the item was drawn."""
    method, amount = Random(**design), Budget.parse(budget)
    drawn = np.zeros((SEEDS, len(data)), bool)
    for seed in range(SEEDS):
        drawn[seed, method.choose(data, amount, np.arange(len(data)), seed).rows] = True
    return drawn


def assert_frequencies(drawn: NDArray[np.bool_], probability: NDArray[np.float64]) -> None:
    """Every frequency lies within 4.5 binomial standard errors, and together they are not too far off.

    A correct design fails this once in several thousand changes of the seeds.
    """
    error = np.sqrt(probability * (1 - probability) / SEEDS)
    scores = (drawn.mean(axis=0) - probability)[error > 0] / error[error > 0]
    assert np.abs(scores).max() < 4.5
    assert np.mean(scores**2) < 2.5
    assert (drawn.mean(axis=0)[error == 0] == probability[error == 0]).all()


# --- frequencies ------------------------------------------------------------------------------------


@pytest.mark.statistics
def test_items_are_drawn_as_often_as_their_probability_says() -> None:
    data = columned()
    drawn = inclusions(data, 7)
    assert (drawn.sum(axis=1) == 7).all()
    assert_frequencies(drawn, np.full(30, 7 / 30))


@pytest.mark.statistics
def test_pairs_of_items_are_drawn_as_in_a_simple_random_sample() -> None:
    drawn = inclusions(columned(12), 4).astype(float)
    together = (drawn.T @ drawn / SEEDS)[np.triu_indices(12, 1)]
    joint = 4 * 3 / (12 * 11)
    assert np.abs((together - joint) / np.sqrt(joint * (1 - joint) / SEEDS)).max() < 4.5


@pytest.mark.statistics
def test_balanced_draws_have_the_probabilities_of_their_groups() -> None:
    data = columned(domain=["x"] * 18 + ["y"] * 9 + ["z"] * 3)
    drawn = inclusions(data, 12, balance="domain")
    # Four each would be more than z has: 3 of 3, and the larger of the others takes the odd one.
    assert_frequencies(drawn, np.array([5 / 18] * 18 + [4 / 9] * 9 + [1.0] * 3))
    picked = sparingly.select(data, "random", 12, balance="domain")
    by_item = dict(
        zip(picked.items, picked.probability if picked.probability is not None else (), strict=True)
    )
    assert {round(by_item[name], 12) for name in by_item if name < "i018"} == {round(5 / 18, 12)}
    assert by_item["i029"] == 1.0


@pytest.mark.statistics
def test_documents_of_equal_size_have_equal_probabilities() -> None:
    data = columned(document=[f"d{place // 3}" for place in range(30)])
    drawn = inclusions(data, 10, unit="document")
    assert (drawn.sum(axis=1) == 9).all(), "a fourth document does not fit"
    assert_frequencies(drawn, np.full(30, 3 / 10))


# --- selections -------------------------------------------------------------------------------------


def test_probabilities_are_the_share_drawn() -> None:
    picked = sparingly.select(columned(), "random", 6, seed=4)
    assert picked.is_probability_sample
    assert picked.probability == pytest.approx([0.2] * 6)
    assert picked.weight == pytest.approx([5.0] * 6)
    assert picked.utility is None
    assert picked.notes == ()
    assert picked.row(0).reason == "drawn at random"


def test_a_larger_draw_holds_the_smaller() -> None:
    data = columned()
    small, large = (list(sparingly.select(data, "random", n, seed=9).items) for n in (5, 17))
    assert large[:5] == small


def test_other_items_do_not_change_the_draw_of_one() -> None:
    data = columned()
    everything = list(sparingly.select(data, "random", 30, seed=9).items)
    half = list(sparingly.select(data.take(items=data.items[::2]), "random", 15, seed=9).items)
    assert half == [name for name in everything if name in half]


def test_documents_of_different_sizes_have_no_probabilities() -> None:
    data = columned(6, document=["a", "a", "a", "b", "b", "c"])
    picked = sparingly.select(data, "random", 4, unit="document", seed=2)
    assert len(picked) <= 4
    assert picked.probability is None
    assert picked.notes == (
        "units of different size were taken until the budget was spent, "
        "so no inclusion probabilities are known.",
    )


def test_a_group_that_gets_nothing_takes_the_probabilities_away() -> None:
    data = columned(domain=["x"] * 20 + ["y"] * 9 + ["z"])
    picked = sparingly.select(data, "random", 2, balance="domain")
    assert picked.probability is None, "z has no chance, so nothing can be estimated for it"
    assert picked.notes == (
        "1 of 3 groups get nothing under this budget, so no inclusion probabilities are given.",
    )


def test_equal_costs_keep_the_probabilities_and_different_ones_do_not() -> None:
    equal = sparingly.select(columned(10, cost=[2.0] * 10), "random", "cost:7")
    assert len(equal) == 3
    assert equal.total_cost == 6
    assert equal.probability == pytest.approx([0.3] * 3)
    other = sparingly.select(columned(10, cost=[1.0 + place for place in range(10)]), "random", "cost:20")
    assert other.total_cost is not None
    assert other.total_cost <= 20
    assert other.probability is None


def test_cost_under_a_count_is_only_told() -> None:
    picked = sparingly.select(columned(10, cost=[2.0] * 10), "random", 3, cost="cost")
    assert picked.notes == ("judging the 3 chosen items costs 6; 3 random ones would cost 6 on average.",)


def test_short_groups_are_named() -> None:
    data = columned(9, domain=["x"] * 4 + ["y"] * 4 + ["z"])
    picked = sparingly.select(data, "random", 7, balance="domain")
    assert picked.notes == ("z has less than an equal quota of items; the other groups took the rest.",)
    assert picked.row(0).reason == "drawn at random in its domain"


@pytest.mark.parametrize(
    ("budget", "design", "sentence"),
    [
        (7, {}, "The budget of 7 items is larger than the 6 that can be chosen"),
        ("cost:13", {}, "cost:13 is larger than everything there is, which costs 12"),
        ("cost:1", {}, "The budget cost:1 is too small: the cheapest item costs 2"),
        (1, {"unit": "document"}, "The budget 1 is too small: the cheapest document costs 3"),
    ],
)
def test_errors_are_sentences(budget: Any, design: dict[str, Any], sentence: str) -> None:
    data = columned(6, cost=[2.0] * 6, document=["a"] * 3 + ["b"] * 3)
    with pytest.raises(UsageError, match=sentence):
        sparingly.select(data, "random", budget, **design)
