from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.choose.design.probability_design import Systematic
from tests.choose.design.draws_data import made


@pytest.mark.parametrize("order", ["word", "column:word", "domain"])
def test_along_a_sorted_list_every_group_has_its_share(order: str) -> None:
    data = made()
    column = data.columns[order.removeprefix("column:")].astype(str)
    for seed in range(10):
        chosen = sparingly.select(data, f"systematic:order={order}", 20, seed=seed)
        rows = data.positions(chosen.items)
        for name in set(column):
            assert abs((column[rows] == name).sum() - (column == name).sum() / 3) < 1 + 1e-9


def test_by_a_metric() -> None:
    data = made()
    place = np.argsort(np.argsort(data.metrics["m"].mean(axis=1)))
    for seed in range(10):
        rows = data.positions(sparingly.select(data, "systematic:order=m", 20, seed=seed).items)
        assert np.bincount(place[rows] // 3, minlength=20).tolist() == [1] * 20


def test_by_the_utility() -> None:
    data = made()
    text = "systematic:utility=(metric_avg:metric=m),tau=0,order=utility"
    place = np.argsort(np.argsort(data.metrics["m"].mean(axis=1)))
    rows = data.positions(sparingly.select(data, text, 20).items)
    assert np.bincount(place[rows] // 3, minlength=20).tolist() == [1] * 20


def test_coordinates_are_what_the_list_is_sorted_by() -> None:
    data = made()
    assert Systematic().coordinates(data) is None
    found = Systematic(order="mixed").coordinates(data)
    assert found is not None
    assert found.shape == (60, 1)
    np.testing.assert_allclose(found[:4, 0], [0, 1, 2, 3])
    assert not np.isnan(found).any()
    by_text = Systematic(order="word").coordinates(data)
    assert by_text is not None
    assert by_text[7, 0] == 0, '"(none)" comes first'


def test_another_order_under_a_cost_warns() -> None:
    chosen = sparingly.select(made(), "systematic:order=m", "cost:150")
    assert any(note.endswith("so the budget can be overspent by chance.") for note in chosen.notes)
    kept = sparingly.select(made(), "systematic", "cost:150")
    assert not any("overspent" in note for note in kept.notes)


def test_errors() -> None:
    with pytest.raises(UnknownNameError, match='no metric or column "wrod"'):
        sparingly.select(made(), "systematic:order=wrod", 5)
    with pytest.raises(UsageError, match="order=utility needs a utility"):
        sparingly.select(made(), "systematic:order=utility", 5)
