from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose import Stratified
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet

DOCUMENTS = [f"d{number}" for number, size in enumerate([10, 6, 3, 1]) for _ in range(size)]


def made(**columns: Any) -> EvalSet:
    drawn = np.random.default_rng(3)
    first = drawn.normal(size=(20, 3)) * np.repeat([1.0, 4.0, 0.5, 1.0], [10, 6, 3, 1])[:, None]
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(20)],
        ["x", "y", "z"],
        metrics={"first": first, "second": drawn.normal(10.0, 5.0, size=(20, 3))},
        columns={"document": DOCUMENTS, **columns},
    )


def chance_by(chosen: sparingly.Selection) -> dict[str, float]:
    assert chosen.probability is not None
    assert chosen.stratum is not None
    return dict(zip(chosen.stratum, chosen.probability.round(9), strict=True))


def test_proportional_strata_of_documents_give_everyone_the_same_chance() -> None:
    chosen = select(made(), "stratified", 10, seed=1)
    assert set(chance_by(chosen).values()) == {0.5}
    counts = dict(zip(*np.unique(chosen.stratum.astype(str), return_counts=True), strict=True))  # type: ignore[union-attr]
    assert (counts["d0"], counts["d1"]) == (5, 3)
    assert counts["d2"] in (1, 2)
    assert chosen.signature.method.startswith("stratified:by=column:document,")
    assert "4 strata by document." in chosen.notes
    assert chosen.meaning.startswith("probability sample")


def test_documents_come_first_and_metrics_where_there_are_none() -> None:
    data = made()
    bare = data.only(["metric:first", "metric:second"])
    assert "by=metrics" in select(bare, "stratified:size=5", 10).signature.method
    with pytest.raises(MissingDataError, match="Strata need documents, metrics or a column"):
        select(data.only([]), "stratified", 5)


def test_bins_of_metrics_are_those_of_the_mean_standardised_score() -> None:
    data = made()
    chosen = select(data, "stratified:by=metrics,size=5", "100%")
    scores = [data.metrics[name] for name in ("first", "second")]
    mean = np.mean([(part - part.mean(axis=0)) / part.std(axis=0) for part in scores], axis=(0, 2))
    bin_of = {name: place // 5 for place, name in enumerate(data.items[np.argsort(mean)])}
    assert chosen.stratum is not None
    for name, label in zip(chosen.items, chosen.stratum, strict=True):
        assert label == f"bin {bin_of[name] + 1} of 4"


def test_one_metric_or_a_length_can_be_binned() -> None:
    data = made()
    by_first = select(data, "stratified:by=first,size=10", "100%")
    low = set(data.items[np.argsort(data.metrics["first"].mean(axis=1))[:10]])
    assert by_first.stratum is not None
    assert {
        name for name, label in zip(by_first.items, by_first.stratum, strict=True) if "1 of" in label
    } == low
    assert (
        "by=metrics,allocation" in select(data, "stratified:by=metrics,metrics=[first]", 5).signature.method
    )


def test_optimal_allocation_goes_by_the_spread_and_says_what_came_of_it() -> None:
    data, seen = made(), dict[str, float]()
    for seed in range(40):
        chosen = select(data, "stratified:allocation=optimal,spread=first", 10, seed=seed)
        seen |= chance_by(chosen)
    means = data.metrics["first"].mean(axis=1)
    spread = np.array([part.std() for part in np.split(means, [10, 16, 19])[:3]])
    # Eq. 2, where one item has the mean spread; the second document has fewer than its 10·N_l σ_l / Σ.
    weights = np.array([10, 6, 3, 1]) * [*spread, spread.mean()]
    assert 10 * weights[1] / weights.sum() > 6
    rest = 4 * weights / (weights.sum() - weights[1])
    assert seen == pytest.approx({"d0": rest[0] / 10, "d1": 1.0, "d2": rest[2] / 3, "d3": rest[3]})
    (advice,) = [note for note in chosen.notes if "Saldías et al. 2022, Table 1" in note]
    assert advice.startswith("optimal allocation goes by the spread of first")
    assert not any("Table 1" in note for note in select(data, "stratified", 10).notes)


def test_the_published_form_has_no_floor() -> None:
    data = made(guess=[*np.linspace(-1, 1, 10), *[2.0] * 6, 1.0, 2.0, 3.0, 7.0])
    chosen = select(data, "stratified:allocation=optimal,spread=guess,rounding=published", 8)
    # 8·(10·0.638, 0, 3·0.816, 0)/8.83 = 5.78, 0, 2.22, 0: six and two, and the others are merged.
    assert chance_by(chosen) == pytest.approx({"d0 and 1 more": 6 / 16, "d2 and 1 more": 2 / 4})


def test_residuals_of_a_column_decide_without_the_advice() -> None:
    data = made(residual=[1.0] * 10 + [2.0] * 6 + [1.0] * 4)
    chosen = select(data, "stratified:allocation=optimal,residual=residual", 13)
    # 13·(N_l σ_l)/Σ = 13·(10, 12, 3, 1)/26.
    found = chance_by(chosen)
    assert {name: found[name] for name in ("d0", "d1", "d2")} == {"d0": 0.5, "d1": 1.0, "d2": 0.5}
    assert not any("Table 1" in note for note in chosen.notes)


def test_a_stratum_without_spread_is_drawn_all_the_same() -> None:
    data = made(guess=[*np.linspace(-1, 1, 10), *[2.0] * 6, 1.0, 2.0, 3.0, 7.0])
    seen: dict[str, float] = {}
    for seed in range(60):
        seen |= chance_by(select(data, "stratified:allocation=optimal,spread=guess", 6, seed=seed))
    assert set(seen) == {"d0", "d1", "d2", "d3"}
    assert 0 < seen["d1"] < 0.2 * seen["d0"]
    # Nothing can be said of the spread of one item: it has the mean one.
    deviations = [np.linspace(-1, 1, 10).std(), 0.0, np.std([1.0, 2.0, 3.0])]
    assert seen["d3"] / seen["d0"] == pytest.approx(np.mean(deviations) / deviations[0])


def test_published_rounding_merges_empty_strata_and_marks_them() -> None:
    chosen = select(made(), "stratified:rounding=published", 5)
    assert [note for note in chosen.notes if note.startswith("merged: rounding left 1 of 4 strata")]
    found = chance_by(chosen)
    assert found["d2 and 1 more"] == pytest.approx(1 / 4)
    assert set(found) == {"d0", "d1", "d2 and 1 more"}


def test_items_by_importance() -> None:
    data = made(weight=[1.0] * 10 + [3.0] * 6 + [1.0] * 4)
    chosen = select(data, "stratified:weights=weight", 8)
    assert chance_by(chosen)["d1"] == pytest.approx(3 * chance_by(chosen)["d0"])
    assert any(note.startswith('drawn by the importance of the items ("weight")') for note in chosen.notes)


def test_strata_of_every_item_are_those_of_the_draw() -> None:
    data = made()
    for method in ("stratified:by=metrics,size=7", "stratified:rounding=published"):
        chosen = select(data, method, 5, never=["i03"])
        view = data.take(items=[name for name in data.items if name != "i03"])
        design = sparingly.parse_method(chosen.signature.method)
        assert isinstance(design, Stratified)
        labels = design.strata_of(view, Budget.parse(chosen.signature.budget))
        assert chosen.stratum is not None
        assert list(labels[view.positions(chosen.items)]) == list(chosen.stratum)
        sizes = dict(zip(*np.unique(labels.astype(str), return_counts=True), strict=True))
        assert sum(sizes.values()) == 19


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("stratified:spread=first", "spread and residual go with allocation=optimal"),
        ("stratified:allocation=optimal,spread=first,residual=document", "leave out one of them"),
        ("stratified:metrics=[first]", "metrics= goes with by=metrics or allocation=optimal"),
        ("stratified:by=COMET", 'There is no metric or column "COMET"'),
        ("stratified:by=metrics,metrics=[COMET]", 'There is no metric "COMET"'),
        ("stratified:weights=heft", 'There is no column "heft"'),
    ],
)
def test_what_does_not_go_together_is_said(method: str, sentence: str) -> None:
    with pytest.raises((UsageError, UnknownNameError), match=sentence):
        select(made(), method, 5)


def test_other_budgets_and_columns_without_numbers() -> None:
    with pytest.raises(UsageError, match="A cost budget needs costs"):
        select(made(), "stratified", "cost:5")
    with pytest.raises(UsageError, match=r"a cost of 1 is less than one item: only 0\.5 of them"):
        select(made(cost=[2.0] * 20), "stratified", "cost:1")
    with pytest.raises(DataError, match='The column "document" has no numbers, so it has no spread'):
        select(made(), "stratified:allocation=optimal,spread=document", 5)


PRICES = [1.0, 4.0] * 5 + [2.0] * 6 + [1.0, 1.0, 4.0, 9.0]


def test_under_a_cost_the_expected_cost_is_the_budget() -> None:
    data, spent, seen = made(price=PRICES), [], dict[str, float]()
    for seed in range(300):
        chosen = select(data, "stratified:cost=price", "cost:26", seed=seed)
        seen |= chance_by(chosen)
        spent.append(chosen.total_cost or 0.0)
    # Proportional: the same share of every stratum, 26 of what all cost.
    assert seen == pytest.approx(dict.fromkeys(seen, 26 / sum(PRICES)))
    assert np.mean(spent) == pytest.approx(26, abs=4 * float(np.std(spent)) / np.sqrt(300))
    (note,) = [note for note in chosen.notes if "at most" in note]
    assert note.startswith("a draw like this takes 26 on average and at most ")
    assert max(spent) <= float(note.split("at most ")[1].split(",")[0])


def test_the_greatest_cost_can_be_reached() -> None:
    data = made(price=PRICES)
    # A quarter of every stratum, 2.5, 1.5, 0.75 and 0.25: the dearest 2 and 1, and of two strata one more.
    chosen = [select(data, "stratified:cost=price", "cost:13", seed=seed) for seed in range(2000)]
    (note,) = [note for note in chosen[0].notes if "at most" in note]
    assert max(one.total_cost or 0.0 for one in chosen) == float(note.split("at most ")[1].split(",")[0])


def test_the_best_allocation_under_a_cost_takes_less_of_what_is_dear() -> None:
    data, seen = made(residual=[1.0] * 20, price=[1.0] * 10 + [4.0] * 10), dict[str, float]()
    for seed in range(60):
        method = "stratified:allocation=optimal,residual=residual,cost=price"
        seen |= chance_by(select(data, method, "cost:15", seed=seed))
    # n_l ∝ N_l σ_l/√c_l: half the chance at four times the cost; 10·π + 40·π/2 = 15.
    assert seen == pytest.approx({"d0": 0.5, "d1": 0.25, "d2": 0.25, "d3": 0.25})


def test_scores_are_estimated_from_a_draw_under_a_cost() -> None:
    scores = np.random.default_rng(1).normal(size=(20, 3))
    data = EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(20)],
        ["x", "y", "z"],
        aspects={"overall": scores},
        columns={"document": DOCUMENTS, "cost": PRICES},
    )
    found = [
        sparingly.estimate(data, select(data, "stratified", "cost:26", seed=seed), "overall").scores
        for seed in range(200)
    ]
    error = np.std(found, axis=0) / np.sqrt(200)
    assert (np.abs(np.mean(found, axis=0) - scores.mean(axis=0)) < 4 * error).all()


def test_published_rounding_under_a_cost_says_what_it_costs_on_average() -> None:
    data = made(price=PRICES)
    chosen = select(data, "stratified:cost=price,rounding=published", "cost:11", seed=1)
    # 11/52 of 10, 6, 3 and 1 items: 2.1, 1.3, 0.6 and 0.2, so 2, 1, 1 and none, which joins the third.
    assert chance_by(chosen) == pytest.approx({"d0": 0.2, "d1": 1 / 6, "d2 and 1 more": 0.25})
    (note,) = [note for note in chosen.notes if "at most" in note]
    # 2 of 25/10, 1 of 2 and 1 of 15/4 on average; 4 + 4 + 2 + 9 at most.
    assert note.startswith("a draw like this takes 10.75 on average and at most 19,")
    design = sparingly.parse_method(chosen.signature.method)
    assert isinstance(design, Stratified)
    assert set(design.strata_of(data, Budget.parse("cost:11"))) == {"d0", "d1", "d2 and 1 more"}
