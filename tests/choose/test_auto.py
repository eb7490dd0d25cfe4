"""What is drawn when no method is named: by what the data has, said in two sentences, and derived again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.choose.auto import AutoSelector, SelectionQuestion, automatic
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from tests.choose.pilot_data import piloted

ITEMS = 120


def made(
    metrics: int = 2, documents: bool = False, judged: int = 0, aspects: int = 1, items: int = ITEMS
) -> EvalSet:
    draw = np.random.default_rng(5)
    hard = draw.normal(size=(items, 1))
    scores = hard + draw.normal(size=(items, 3)) * (1.0 + 2.0 * (hard > 0.5))
    labels = np.where(np.arange(items)[:, None] < judged, scores, np.nan)
    columns: dict[str, Any] = {"cost": np.linspace(1, 3, items).tolist()}
    if documents:
        columns["document"] = [f"d{row // 5}" for row in range(items)]
    return EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(items)],
        ["a", "b", "c"],
        metrics={f"k{place}": scores + draw.normal(size=scores.shape) for place in range(metrics)},
        aspects={f"y{place}": labels for place in range(aspects)} if judged else {},
        columns=columns,
    )


@pytest.mark.parametrize(
    ("data", "budget", "question", "method", "words"),
    [
        (made(), 30, "ranking", "local_pivotal", "spread over 2 metrics (local_pivotal)"),
        (made(1, documents=True), 30, "best", "local_pivotal", "spread over 1 metric and documents"),
        (made(), "cost:60", "scores", "local_pivotal", "spread over 2 metrics"),
        (made(0, documents=True), 30, "ranking", "systematic:order=document", "along the documents"),
        (made(0, documents=True), "cost:60", "ranking", "uniform", "no draw exceeds the budget"),
        (made(0), 30, "scores", "uniform", "nothing is known about the items"),
        (made(judged=50), 30, "ranking", "local_pivotal", "equal probabilities"),
        (made(judged=39), 30, "scores", "local_pivotal", "equal probabilities"),
        (made(judged=ITEMS), 30, "scores", "local_pivotal", "equal probabilities"),
        (made(judged=50, aspects=2), 30, "scores", "local_pivotal", "equal probabilities"),
        (
            made(judged=50),
            30,
            "scores",
            "local_pivotal:utility=(residual_size),tau=pilot",
            "as far as the 50 judged items support it",
        ),
    ],
)
def test_the_design_goes_by_what_there_is(
    data: EvalSet, budget: int | str, question: SelectionQuestion, method: str, words: str
) -> None:
    found = automatic(data, Budget.parse(budget), question)
    assert str(found.method) == method
    assert words in found.why
    chosen = sparingly.select(data, None, budget, question=question, seed=4)
    assert chosen.why == found.why
    named = sparingly.select(data, method, budget, seed=4)
    assert chosen.signature == named.signature
    assert chosen.items.tolist() == named.items.tolist()
    assert chosen.is_probability_sample
    assert named.why == ""


@pytest.mark.parametrize("documents", [True, False])
@pytest.mark.parametrize("metrics", [0, 2])
def test_it_says_so_in_two_sentences_that_do_not_depend_on_names(metrics: int, documents: bool) -> None:
    why = automatic(made(metrics, documents), Budget.parse(9)).why
    assert why.count(". ") == 1
    assert why.startswith("auto draws ")
    assert why.endswith(".")


def test_all_ways_to_name_no_method_are_the_same() -> None:
    data = made(judged=60)
    forms = [
        sparingly.select(data, budget=20, question="scores"),
        sparingly.select(data, "auto", 20, question="scores"),
        sparingly.select(data, "auto:question=scores", 20),
        sparingly.select(data, AutoSelector(question="scores"), 20),
    ]
    assert len({str(form.to_dict()) for form in forms}) == 1
    assert forms[0].signature.labels is not None


def test_chances_are_equal_unless_a_pilot_earned_more() -> None:
    assert not sparingly.select(made(documents=True), budget=30).has_unequal_weights
    assert not sparingly.select(piloted(), budget=30).has_unequal_weights
    assert not sparingly.select(piloted(telling=False), budget=30, question="scores").has_unequal_weights
    earned = sparingly.select(piloted(), budget=30, question="scores")
    assert earned.has_unequal_weights
    assert sparingly.verify(earned, piloted()).ok


def test_labels_of_a_pilot_are_not_read_for_a_ranking() -> None:
    few, many = (sparingly.select(made(judged=judged), budget=30) for judged in (50, 100))
    assert few.to_dict() == many.to_dict()
    assert few.signature.labels is None


def test_parameters_of_the_design_go_to_what_was_chosen() -> None:
    data = made(documents=True)
    whole = sparingly.select(data, budget=30, unit="document")
    assert whole.unit is not None
    assert "documents" not in whole.why
    assert "unit=document" in whole.signature.method
    without = sparingly.select(made(0, documents=True), budget=30, unit="document")
    assert without.signature.method.startswith("uniform:unit=document")
    balanced = sparingly.select(data.with_column("domain", ["x", "y"] * 60), budget=30, balance="domain")
    assert balanced.signature.method.startswith("random:balance=domain")
    assert "balanced" in balanced.why
    longer = sparingly.select(data, budget="cost:60", cost="cost")
    assert longer.total_cost is not None
    assert longer.total_cost <= 60


def test_a_metric_without_any_score_is_left_out() -> None:
    data = made()
    empty = EvalSet.from_arrays(
        list(data.items),
        list(data.models),
        metrics={"k": data.metrics["k0"], "none": np.full(data.shape, np.nan)},
    )
    chosen = sparingly.select(empty, budget=20)
    assert "metrics=[k]" in chosen.signature.method
    assert "spread over 1 metric (" in chosen.why
    nothing = empty.only(["metric:none"])
    assert sparingly.select(nothing, budget=20).signature.method.startswith("uniform")


def test_a_file_keeps_the_reason_and_can_be_verified(tmp_path: Path) -> None:
    data = made(documents=True)
    chosen = sparingly.select(data, budget=20)
    chosen.save(tmp_path / "chosen.json")
    again = Selection.load(tmp_path / "chosen.json")
    assert again.why == chosen.why
    assert again.unknown == {}
    assert sparingly.verify(again, data).ok


def test_a_pool_and_a_crowd_work_as_with_any_method() -> None:
    data = made()
    first = sparingly.select(data, budget=60)
    second = sparingly.select(data, budget=10, pool=first, never=[first.items[0]])
    assert set(second.items) < set(first.items)
    assert second.why
    assert sparingly.select(data, budget=10, crowd=["a"], judge="rest").judged == ("b", "c")


def test_it_can_be_replayed_like_any_method() -> None:
    data = made(judged=ITEMS)
    drawn = sparingly.curve(data, "auto", "y0", shares=[0.2, 0.5], runs=3)
    assert drawn.method == "auto"
    right = sparingly.curve(data, "local_pivotal", "y0", shares=[0.2, 0.5], runs=3)
    np.testing.assert_array_equal(drawn.curve.values, right.curve.values)


@pytest.mark.parametrize(
    ("asked", "error", "sentence"),
    [
        (
            {"method": "uniform", "budget": 5, "question": "scores"},
            UsageError,
            "A question goes without a method",
        ),
        ({"budget": 5, "question": "order"}, UnknownNameError, 'no question "order"'),
        ({"method": "auto:rounds=3", "budget": 5}, UnknownNameError, 'no parameter of auto "rounds"'),
        ({}, UsageError, "Say how much may be judged"),
    ],
)
def test_what_cannot_be_gets_one_sentence(
    asked: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        sparingly.select(made(), **asked)


def test_it_is_a_design_only_after_it_has_seen_the_data() -> None:
    data, held = made(), as_selector("auto:question=best")
    assert str(held) == "auto:question=best"
    assert not held.is_nested
    assert as_selector(held.full_text) == held
    for use in (lambda: held.reads(data), lambda: held.choose(data, Budget.parse(5), np.arange(9), 0)):
        with pytest.raises(UsageError, match="only after it has seen the data"):
            use()
    assert str(held.resolve(data, Budget.parse(5))).startswith("local_pivotal")
