from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.registry import parse_method
from sparingly.choose.design.probability import inclusion_probabilities, sizes_of
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from tests.choose.design.draws_data import COUNT, SIZES, made

ALL = ["uniform", "systematic", "pivotal", "local_pivotal", "cube"]
SIZED = ALL[1:]


def there(column: Floats | None) -> Floats:
    assert column is not None
    return column


def probabilities(chosen: Selection) -> dict[str, float]:
    return dict(zip(chosen.items, there(chosen.probability).tolist(), strict=True))


# --- grammar and tau ----------------------------------------------------------------------------------


def test_the_grammar() -> None:
    text = "pivotal:utility=(metric_cons:metric=COMET),tau=0.5"
    assert str(parse_method(text)) == text
    assert str(parse_method("cube:balance=[metrics,domain]")) == "cube:balance=[metrics,domain]"
    assert str(parse_method("local_pivotal:space=source,dimensions=3")).startswith(
        "local_pivotal:space=source"
    )


@pytest.mark.parametrize("name", SIZED)
def test_tau_is_none_without_a_utility_and_a_half_with_one(name: str) -> None:
    plain = sparingly.select(made(), name, 12)
    assert "tau=0," in plain.signature.method + ","
    assert plain.probability == pytest.approx([12 / COUNT] * 12)
    vouched = sparingly.select(made(), f"{name}:utility=(metric_var:metric=m)", 12)
    assert "tau=0.5," in vouched.signature.method + ","
    assert f"{name}:utility=(metric_var:metric=m),tau=0.5" not in str(plain.signature)
    assert vouched.has_unequal_weights


@pytest.mark.parametrize("name", SIZED)
def test_probabilities_are_those_of_the_formula(name: str) -> None:
    data = made()
    chosen = sparingly.select(data, f"{name}:utility=(metric_avg:metric=gappy),tau=0.7", 15, seed=4)
    utility = -np.array(
        [row[~np.isnan(row)].mean() if not np.isnan(row).all() else np.nan for row in data.metrics["gappy"]]
    )
    expected = inclusion_probabilities(sizes_of(utility), 15, tau=0.7)
    rows = data.positions(chosen.items)
    np.testing.assert_allclose(there(chosen.probability), expected[rows], rtol=1e-12)
    np.testing.assert_allclose(there(chosen.utility), utility[rows])
    assert "1 of 60 items have no utility and count as average." in chosen.notes


def test_importance_multiplies() -> None:
    data = made()
    weight = np.asarray(data.columns["weight"], np.float64)
    alone = sparingly.select(data, "pivotal:weights=weight,tau=1", 20)
    both = sparingly.select(data, "pivotal:weights=weight,utility=(metric_var:metric=m)", 20)
    rows = data.positions(alone.items)
    np.testing.assert_allclose(there(alone.probability), (20 * weight / weight.sum())[rows])
    sizes = weight * sizes_of(data.metrics["m"].var(axis=1))
    expected = inclusion_probabilities(sizes, 20, tau=0.5)
    np.testing.assert_allclose(there(both.probability), expected[data.positions(both.items)], rtol=1e-6)
    assert "tau=0.5" in sparingly.select(data, "pivotal:weights=weight", 20).signature.method


def test_floor_and_cap() -> None:
    chosen = sparingly.select(made(), "pivotal:utility=(metric_var:metric=m),tau=0.9,floor=0.1,cap=0.4", 15)
    assert chosen.probability is not None
    assert chosen.probability.min() >= 0.1
    assert chosen.probability.max() <= 0.4


def test_equal_utilities_are_said() -> None:
    data = EvalSet.from_arrays([f"i{k}" for k in range(9)], ["x"], metrics={"m": np.ones((9, 1))})
    chosen = sparingly.select(data, "pivotal:utility=(metric_avg)", 3)
    assert chosen.probability == pytest.approx([1 / 3] * 3)
    assert "all utilities are equal, so they make nothing likelier to be drawn." in chosen.notes


# --- what is told -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_it_says_what_it_is(name: str) -> None:
    chosen = sparingly.select(made(), name, 12)
    assert chosen.meaning == "probability sample: scores estimate the whole set"
    assert any("every item had the inclusion probability 0.2." in note for note in chosen.notes)
    assert chosen.unit is None


def test_notes_tell_tau_and_the_extremes() -> None:
    data = made()
    chosen = sparingly.select(data, "pivotal:utility=(metric_var:metric=m)", 12)
    expected = inclusion_probabilities(sizes_of(data.metrics["m"].var(axis=1)), 12, tau=0.5)
    assert chosen.notes[0] == (
        f"tau 0.5: inclusion probabilities lie between {expected.min():.4g} and {expected.max():.4g}."
    )
    assert "weighted by one over the probabilities" in chosen.meaning


# --- documents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("utility", ["", ",utility=(metric_var:metric=m)"])
def test_documents_are_drawn_whole_and_their_items_share_the_probability(name: str, utility: str) -> None:
    if utility and name == "uniform":
        return
    data = made()
    seen: dict[str, float] = {}
    for seed in range(20):
        chosen = sparingly.select(data, f"{name}:unit=document{utility}", 30, seed=seed)
        rows = data.positions(chosen.items)
        assert chosen.unit is not None
        assert list(chosen.unit) == list(data.columns["document"][rows])
        for document in set(chosen.unit):
            size = SIZES[int(document[1:])]
            assert (chosen.unit == document).sum() == size
        chances = probabilities(chosen)
        by_document = {(unit, chances[item]) for unit, item in zip(chosen.unit, chosen.items, strict=True)}
        assert len(by_document) == len(set(chosen.unit))
        assert len(chosen) <= 30
        for unit, chance in by_document:
            assert seen.setdefault(unit, chance) == chance


def test_documents_count_their_items_against_the_budget() -> None:
    chosen = sparingly.select(made(), "uniform:unit=document", 30)
    (note,) = [note for note in chosen.notes if note.startswith("a draw like this")]
    assert re.match(r"a draw like this takes [\d.]+ items on average and at most \d+ of the 30[.;]", note)
    assert chosen.notes[0].startswith("every document had the inclusion probability")


def test_on_average_more_is_drawn_and_may_be_too_much() -> None:
    data = made()
    strict, loose = (
        [
            len(sparingly.select(data, f"local_pivotal:unit=document,spend={spend}", 20, seed=seed))
            for seed in range(40)
        ]
        for spend in ("at_most", "on_average")
    )
    assert max(strict) <= 20 < max(loose)
    assert np.mean(strict) < 0.7 * np.mean(loose)
    (hint,) = [
        note for note in sparingly.select(data, "local_pivotal:unit=document", 20).notes if "spend=" in note
    ]
    assert hint.endswith("; spend=on_average takes more, and can overspend.")


def test_all_documents_are_taken_when_all_fit() -> None:
    chosen = sparingly.select(made(), "pivotal:unit=document", "100%")
    assert len(chosen) == COUNT
    assert chosen.probability == pytest.approx([1.0] * COUNT)


# --- costs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("unit", ["item", "document"])
def test_no_draw_costs_more_than_the_budget_and_the_mean_is_told(name: str, unit: str) -> None:
    data, totals = made(), []
    for seed in range(60):
        chosen = sparingly.select(data, f"{name}:unit={unit}", "cost:180", seed=seed)
        assert chosen.total_cost is not None
        totals.append(chosen.total_cost)
    assert max(totals) <= 180
    (note,) = [note for note in chosen.notes if note.startswith("a draw like this")]
    mean, most, limit = (float(number) for number in re.findall(r"\d+\.?\d*(?=[ ;.])", note))
    assert limit == 180
    assert max(totals) <= most <= 180
    assert abs(np.mean(totals) - mean) < 5 * np.std(totals) / np.sqrt(60) + 0.01


def test_seconds_are_told_as_hours() -> None:
    chosen = sparingly.select(made(), "uniform", "10min", cost="length")
    (note,) = [note for note in chosen.notes if note.startswith("a draw like this")]
    assert note.endswith("hours of the 0.17 hours.")


def test_costs_are_known_under_a_count_and_change_nothing() -> None:
    data = made()
    plain = sparingly.select(data, "pivotal", 12, seed=3)
    known = sparingly.select(data, "pivotal", 12, seed=3, cost="cost")
    assert list(plain.items) == list(known.items)
    assert known.total_cost == sum(data.columns["cost"][data.positions(known.items)])


# --- pools and lists of what is never chosen ------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_two_phases_multiply(name: str) -> None:
    data = made()
    first = sparingly.select(data, "pivotal:utility=(metric_var:metric=m)", 40, seed=1)
    second = sparingly.select(data, name, 10, seed=2, pool=first)
    known = probabilities(first)
    assert second.pool_probability == pytest.approx([known[item] for item in second.items])
    assert second.probability == pytest.approx([known[item] * 0.25 for item in second.items])
    assert sparingly.verify(second, data).ok


@pytest.mark.parametrize("name", ALL)
def test_what_is_never_chosen_has_no_part(name: str) -> None:
    never = [f"i{place:02d}" for place in range(20)]
    chosen = sparingly.select(made(), name, 10, never=never)
    assert not set(never) & set(chosen.items)
    assert chosen.probability == pytest.approx([0.25] * 10)


# --- errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "budget", "kind", "sentence"),
    [
        ("pivotal:tau=0.5", 5, UsageError, "tau=0.5 has no effect"),
        ("pivotal:utility=(metric_var:metric=m),tau=1.2", 5, UsageError, "tau is a share from 0"),
        ("pivotal:tau=-1", 5, UsageError, "must be at least 0"),
        ("pivotal:cap=0.1", 30, UsageError, "A budget of 30 cannot be met"),
        ("pivotal:utility=(metric_avg:metric=m),tau=1", 5, UsageError, "would never be drawn"),
        ("pivotal:weights=gone", 5, UnknownNameError, "column of importance weights"),
        ("pivotal:weights=word", 5, DataError, "has no number"),
        ("pivotal:weights=mixed", 5, DataError, "for 1 item"),
        ("uniform", 61, UsageError, "larger than the 60"),
        ("uniform", "cost:9999", UsageError, "larger than everything there is"),
        ("uniform", "cost:1", UsageError, "The most expensive unit costs"),
        ("uniform:utility=(metric_var)", 5, UsageError, "parameter of uniform"),
    ],
)
def test_what_is_wrong_is_said(text: str, budget: Any, kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind, match=sentence) as caught:
        sparingly.select(made(), text, budget)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("values", [[-1.0, 1.0], [0.0, 0.0], [float("inf"), 1.0]])
def test_weights_that_are_none(values: list[float]) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x"], columns={"importance": values})
    with pytest.raises(DataError, match="weights are finite, 0 or more, and not all 0"):
        sparingly.select(data, "pivotal:weights=importance", 1)
