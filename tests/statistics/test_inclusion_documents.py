"""Strata, documents and snippets take each item as often as its inclusion probability says."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet

pytestmark = pytest.mark.statistics
ERROR = 1e-3  # of a whole test, whatever the number of its items
RUNS = 700
SIZES = [1, 1, 2, 3, 4, 5, 6, 8, 10, 20]
ITEMS = sum(SIZES)


def made() -> EvalSet:
    drawn = np.random.default_rng(9)
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(ITEMS)],
        ["x", "y"],
        metrics={"m": drawn.gamma(1.0, size=(ITEMS, 2))},
        columns={
            "document": [f"d{number}" for number, size in enumerate(SIZES) for _ in range(size)],
            "position": [place for size in SIZES for place in range(size)],
            "residual": drawn.gamma(2.0, size=ITEMS).tolist(),
            "weight": drawn.gamma(2.0, size=ITEMS).tolist(),
        },
    )


def drawn_counts(text: str, count: int, model: str | None = None) -> tuple[Floats, Floats, Floats]:
    """Return how often every item was taken, its probability, and the number of items of every draw."""
    data, budget = made(), Budget.parse(count)
    method = as_selector(text).resolve(data, budget)
    counts, claimed, sizes = np.zeros(ITEMS), np.full(ITEMS, np.nan), np.zeros(RUNS)
    for seed in range(RUNS):
        chosen = method.choose(data, budget, np.arange(ITEMS), seed)
        assert chosen.probability is not None
        rows, probability = chosen.rows, chosen.probability
        if model is not None:
            assert chosen.models is not None
            own = np.array([names == (model,) for names in chosen.models])
            rows, probability = rows[own], probability[own]
        known = ~np.isnan(claimed[rows])
        np.testing.assert_array_equal(claimed[rows][known], probability[known])
        counts[rows] += 1
        claimed[rows] = probability
        sizes[seed] = len(rows)
    assert not np.isnan(claimed).any(), "every item has a chance"
    return counts, claimed, sizes


def largest_z(counts: Floats, chances: Floats) -> float:
    """Return how many binomial standard errors the worst frequency is away from its probability."""
    loose = chances < 1 - 1e-9
    assert (counts[~loose] == RUNS).all()
    chances = chances[loose]
    return float(np.abs((counts[loose] / RUNS - chances) / np.sqrt(chances * (1 - chances) / RUNS)).max())


WORST = NormalDist().inv_cdf(1 - ERROR / 2 / ITEMS)

DESIGNS = {
    "stratified": 17,
    "stratified:by=metrics,size=8": 17,
    "stratified:allocation=optimal": 17,
    "stratified:allocation=optimal,residual=residual": 25,
    "stratified:rounding=published": 9,
    "stratified:weights=weight": 17,
    "documents": 17,
    "documents:chance=size": 17,
    "documents:weights=weight": 17,
    "snippets": 24,
    "snippets:wrap=true": 24,
    "snippets:weights=weight": 17,
    "snippets:kind=segment,context=0": 17,
    "snippets:kind=segment,weights=weight": 17,
    "snippets:kind=fixed,length=4": 17,
    "snippets:kind=fixed,length=4,chance=size,wrap=true": 12,
    "snippets:kind=document,chance=size": 17,
}


@pytest.mark.parametrize("text", DESIGNS)
def test_items_are_taken_as_often_as_their_probability_says(text: str) -> None:
    counts, claimed, sizes = drawn_counts(text, DESIGNS[text])
    assert largest_z(counts, claimed) < WORST
    # The budget is exact on average, and in every draw where single segments settle it.
    assert claimed.sum() == pytest.approx(DESIGNS[text])
    by_document = text.startswith("documents") or "kind=fixed" in text or "kind=document" in text
    assert by_document or np.ptp(sizes) == 0


def test_every_model_has_these_chances_by_itself() -> None:
    counts, claimed, _ = drawn_counts("snippets:matching=false,context=0", 24, "y")
    assert largest_z(counts, claimed) < WORST


def test_one_probability_for_all_segments_of_a_snippet_would_be_noticed() -> None:
    counts, claimed, _ = drawn_counts("snippets", 24)
    assert largest_z(counts, np.full(ITEMS, 24 / ITEMS)) > 2 * WORST > largest_z(counts, claimed)
