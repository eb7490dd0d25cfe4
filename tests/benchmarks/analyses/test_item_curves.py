from __future__ import annotations

import numpy as np
import pytest

import sparingly
from benchmarks.analyses.irt import fitted_responses, item_curves
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.data.synthetic import load_invented
from sparingly.published.irt import fit_irt, scaled

METHOD = "irt:metric=learned,fit=map"


def test_curves_are_those_of_the_fit() -> None:
    data = load_invented()
    found = item_curves(data, METHOD, items=["item-010", "item-002"])
    scores = data.metrics["learned"]
    fit = fit_irt(scores, method="map")
    rows = data.positions(["item-010", "item-002"])
    np.testing.assert_allclose([one.expected for one in found.curves], fit.curves(np.array(found.grid))[rows])
    np.testing.assert_allclose([one.observed for one in found.curves], scaled(scores)[rows])
    assert [one.item for one in found.curves] == ["item-010", "item-002"]
    assert found.models == data.models
    np.testing.assert_allclose(found.abilities, fit.ability)
    assert found.grid[0] == pytest.approx(fit.ability.min() - 1.0)
    assert found.grid[-1] == pytest.approx(fit.ability.max() + 1.0)
    first = found.curves[0]
    assert (first.discrimination, first.difficulty, first.feasibility) == pytest.approx(
        (fit.discrimination[rows[0]], fit.difficulty[rows[0]], fit.feasibility[rows[0]])
    )


def test_items_are_spread_over_the_utility() -> None:
    data = load_invented()
    found = item_curves(data, f"{METHOD},utility=difficulty", count=3)
    difficulty = fit_irt(data.metrics["learned"], method="map").difficulty
    assert [one.utility for one in found.curves] == pytest.approx(
        [difficulty.max(), sorted(difficulty)[::-1][120], difficulty.min()], abs=1e-6
    )
    assert len(item_curves(data.at([0, 1]), METHOD, count=9).curves) == 2
    assert len(found.table()["item"]) == 3 * len(found.grid)


def test_missing_scores_are_missing_points() -> None:
    scores = np.array([[0.1, 0.9, np.nan], [0.2, 0.7, 0.4], [np.nan, np.nan, np.nan], [0.0, 1.0, 0.3]])
    data = sparingly.EvalSet.from_arrays(list("wxyz"), list("abc"), metrics={"m": scores})
    found = item_curves(data, "irt:fit=map", items=["w"])
    assert np.isnan(found.curves[0].observed).tolist() == [False, False, True]
    assert found.to_dict()["curves"][0]["observed"][2] is None
    assert len(item_curves(data, "irt:fit=map").curves) == 3
    with pytest.raises(UsageError, match="The item y has no score by m"):
        item_curves(data, "irt:fit=map", items=["y"])


def test_success_and_failure() -> None:
    found = item_curves(load_invented(), "irt:metric=learned,response=binary,fit=map")
    assert found.response == "success by learned"
    assert {value for one in found.curves for value in one.observed} <= {0.0, 1.0}


def test_what_cannot_be_asked() -> None:
    data = load_invented()
    with pytest.raises(UsageError, match='"diffuse" is not item response theory: write irt'):
        item_curves(data, "diffuse")
    with pytest.raises(UsageError, match="Name at least one item"):
        item_curves(data, METHOD, items=[])
    with pytest.raises(UsageError, match="Name at least one item"):
        item_curves(data, METHOD, items="item-001")
    with pytest.raises(UsageError, match="at least one item, not 0"):
        item_curves(data, METHOD, count=0)
    with pytest.raises(UnknownNameError, match='no item "item-9"'):
        item_curves(data, METHOD, items=["item-9"])
    nothing = sparingly.EvalSet.from_arrays(["x"], ["a", "b"], metrics={"m": np.full((1, 2), np.nan)})
    with pytest.raises(DataError, match="No item has a score by m"):
        fitted_responses(nothing, "irt")
