from __future__ import annotations

import numpy as np
import pytest

import sparingly
from benchmarks.analyses.irt import NO_INTERVALS, ONE_MODEL, irt_check
from benchmarks.irt_intervals import fit_intervals
from sparingly.base.errors import UsageError
from sparingly.data.synthetic import load_invented
from sparingly.published.irt import fit_irt, scaled


def test_predictions_against_what_was_fitted() -> None:
    data = load_invented()
    found = irt_check(data, "irt:metric=learned,fit=map", bins=5, most=None)
    scores = data.metrics["learned"]
    predicted, observed = fit_irt(scores, method="map").predicted(), scaled(scores)
    assert found.responses == scores.size == len(found.points) == sum(one.responses for one in found.bins)
    assert found.error == pytest.approx(float(np.sqrt(np.mean((predicted - observed) ** 2))))
    assert found.correlation == pytest.approx(float(np.corrcoef(predicted.ravel(), observed.ravel())[0, 1]))
    order = np.argsort(predicted.ravel())
    for one, rows in zip(found.bins, np.array_split(order, 5), strict=True):
        assert one.predicted == pytest.approx(predicted.ravel()[rows].mean())
        assert one.observed == pytest.approx(observed.ravel()[rows].mean())
        assert one.low < one.observed < one.high
    point = found.points[9]
    place = data.positions([point.item])[0], data.models.index(point.model)
    assert (point.predicted, point.observed) == pytest.approx((predicted[place], observed[place]))


def test_abilities_with_intervals() -> None:
    data = load_invented()
    found = irt_check(data, "irt:metric=learned", level=0.8, most=10)
    low, high = fit_intervals(data.metrics["learned"]).intervals(0.8)
    assert [one.ability for one in found.abilities] == sorted(
        (one.ability for one in found.abilities), reverse=True
    )
    for one in found.abilities:
        place = data.models.index(one.model)
        assert (one.low, one.high) == pytest.approx((low.ability[place], high.ability[place]))
        assert one.ability == pytest.approx((low.ability[place] + high.ability[place]) / 2.0)
        assert one.mean == pytest.approx(float(scaled(data.metrics["learned"])[:, place].mean()))
    assert found.notes == ("Shown: 10 of 1920 single responses, drawn at random.",)


def test_the_fast_fit_knows_no_intervals() -> None:
    data = load_invented().at(range(60))
    found = irt_check(data, "irt:metric=learned,response=binary,fit=map")
    assert found.notes == (NO_INTERVALS,)
    assert all(one.low is None and one.high is None for one in found.abilities)
    assert (found.binary, found.points) == (True, ())
    made = fit_irt(data.metrics["learned"], response="binary", method="map")
    assert found.abilities[0].ability == pytest.approx(float(made.ability.max()))


def test_successes_have_intervals_too() -> None:
    data = load_invented().at(range(60))
    found = irt_check(data, "irt:metric=learned,response=binary")
    assert found.notes == ()
    assert all(one.low is not None and one.low < one.ability for one in found.abilities)


def test_missing_cells_and_models_without_scores() -> None:
    scores = np.array([[0.1, 0.9, np.nan], [0.2, 0.7, np.nan], [0.4, np.nan, np.nan], [0.0, 1.0, np.nan]])
    data = sparingly.EvalSet.from_arrays(list("wxyz"), list("abc"), metrics={"m": scores})
    found = irt_check(data, "irt:fit=map", bins=50)
    assert found.responses == len(found.bins) == 7
    assert {one.model for one in found.abilities} == {"a", "b"}
    assert found.to_dict()["bins"][0]["low"] is None, "one response has no interval"


def test_equal_scores_have_no_correlation() -> None:
    data = sparingly.EvalSet.from_arrays(list("wx"), list("ab"), metrics={"m": np.ones((2, 2))})
    assert np.isnan(irt_check(data, "irt:fit=map").correlation)


def test_what_cannot_be_asked() -> None:
    data = load_invented()
    with pytest.raises(UsageError, match="at least one bin, not 0"):
        irt_check(data, "irt:metric=learned", bins=0)
    with pytest.raises(UsageError, match="A level lies between 0 and 1"):
        irt_check(data, "irt:metric=learned", level=1.5)


@pytest.mark.parametrize("method", ["irt:metric=learned", "irt:metric=learned,response=binary"])
def test_one_model_is_fitted_to_itself_and_proves_nothing(method: str) -> None:
    found = irt_check(load_invented().take(models=["Rowan"]).at(range(60)), method)
    assert np.isnan(found.correlation)
    assert np.isnan(found.error)
    assert ONE_MODEL in found.notes
    assert str(found).endswith(": how well it fits cannot be told")
    assert found.to_dict()["correlation"] is None
