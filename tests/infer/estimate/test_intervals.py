from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from sparingly.base.errors import UsageError
from sparingly.infer.estimate.intervals import Spread, bootstrap_interval, find_intervals, t_interval
from tests.infer.estimate.samples import Floats


def spread_of(shape: Floats, whole: bool = False, **other: Any) -> Spread:
    """Scores 1, 2, … whose units contribute what is given."""
    deviation = shape - shape.mean(axis=0)
    parts: dict[str, Any] = {
        "names": [f"model {place}" for place in range(shape.shape[1])],
        "centre": np.arange(1.0, shape.shape[1] + 1),
        "errors": np.sqrt((deviation**2).sum(axis=0)),
        "shape": deviation,
        "stratum": np.zeros(len(shape), np.int64),
        "units": float(len(shape)),
        "freedom": len(shape) - 1.0,
        "whole": whole,
    }
    return Spread(**(parts | other))


def normal(n: int, columns: int = 2) -> Floats:
    return np.random.default_rng(0).normal(size=(n, columns)) / n


def fixed(kind: str) -> tuple[Floats, Floats]:
    assert kind in ("betting", "hoeffding")
    return np.full(2, -9.0), np.full(2, 9.0)


def test_student() -> None:
    spread = spread_of(normal(30))
    low, high = t_interval(spread, 0.9)
    assert high - spread.centre == pytest.approx(stats.t.ppf(0.95, 29) * spread.errors)
    assert spread.centre - low == pytest.approx(high - spread.centre)


def test_many_units_are_printed_as_they_are() -> None:
    found = find_intervals(spread_of(normal(150)), 0.95, "auto", 0)
    assert found.kinds == ("t", "t")
    assert (found.outcome.printed, found.notes) == (2, ())


def test_few_units_take_the_bootstrap_and_fewer_widen_it() -> None:
    found = find_intervals(spread_of(normal(50)), 0.95, "auto", 0)
    assert found.kinds == ("bootstrap", "bootstrap")
    assert found.outcome.printed == 2
    spread = spread_of(normal(20))
    wide = find_intervals(spread, 0.95, "auto", 0)
    assert wide.outcome.widened == 2
    assert wide.notes == ("with 20 drawn units, 2 intervals are widened by 15%.",)
    plain, student = bootstrap_interval(spread, 0.95, 0), t_interval(spread, 0.95)
    upper, lower = 1.15 * (plain[1] - spread.centre), 1.15 * (spread.centre - plain[0])
    assert wide.high - spread.centre == pytest.approx(np.maximum(upper, student[1] - spread.centre))
    assert spread.centre - wide.low == pytest.approx(np.maximum(lower, spread.centre - student[0]))


def test_a_long_tail_takes_the_bootstrap_whatever_the_number() -> None:
    shape = normal(150)
    shape[0, 1] = 1.0
    assert find_intervals(spread_of(shape), 0.95, "auto", 0).kinds[0] == "t"
    assert find_intervals(spread_of(shape), 0.95, "auto", 0).kinds[1] != "t"


def test_too_few_units_are_withheld_or_replaced() -> None:
    found = find_intervals(spread_of(normal(8)), 0.95, "auto", 0)
    assert found.kinds == ("none", "none")
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.outcome.withheld == 2
    assert found.notes == (
        "no interval for model 0, model 1: 8 drawn units are too few to learn an error from.",
    )
    instead = find_intervals(spread_of(normal(8)), 0.95, "auto", 0, fixed)
    assert instead.kinds == ("betting", "betting")
    assert (instead.outcome.replaced, instead.outcome.withheld) == (2, 0)
    assert instead.low.tolist() == [-9.0, -9.0]
    assert instead.notes[0].startswith("an interval from the scale alone for model 0, model 1")


def test_equal_scores_have_no_interval_while_others_have() -> None:
    shape = normal(150)
    shape[:, 0] = 0.0
    found = find_intervals(spread_of(shape), 0.95, "auto", 0)
    assert found.kinds == ("none", "t")
    assert found.notes == (
        "no interval for model 0: all judged items gave the same, and further ones may not.",
    )
    assert find_intervals(spread_of(shape), 0.95, "auto", 0, fixed).kinds == ("betting", "t")


def test_one_unit_that_differs_is_not_enough() -> None:
    shape = np.zeros((40, 1))
    shape[3] = 1.0
    found = find_intervals(spread_of(shape), 0.95, "auto", 0)
    assert found.kinds == ("none",)
    assert "too few of the 40 drawn units differ" in found.notes[0]


def test_nothing_left_to_chance_is_exact() -> None:
    found = find_intervals(spread_of(normal(5), whole=True), 0.95, "auto", 0)
    assert found.kinds == ("exact", "exact")
    assert found.low.tolist() == found.high.tolist() == [1.0, 2.0]


def test_what_is_asked_for_is_given_with_a_warning() -> None:
    found = find_intervals(spread_of(normal(20)), 0.95, "t", 0)
    assert found.kinds == ("t", "t")
    assert found.notes == ("t intervals may be too narrow with 20 drawn units: model 0, model 1.",)
    assert find_intervals(spread_of(normal(150)), 0.95, "t", 0).notes == ()
    assert find_intervals(spread_of(normal(40)), 0.95, "bootstrap", 0).notes == ()
    assert find_intervals(spread_of(normal(20)), 0.95, "bootstrap", 0).notes != ()
    none = find_intervals(spread_of(normal(150)), 0.95, "none", 0)
    assert none.kinds == ("none", "none")
    assert find_intervals(spread_of(normal(150)), 0.95, "hoeffding", 0, fixed).kinds == ("hoeffding",) * 2


def test_bounds_without_a_scale_and_wrong_levels_are_refused() -> None:
    with pytest.raises(UsageError, match=r"A hoeffding interval needs scale="):
        find_intervals(spread_of(normal(150)), 0.95, "hoeffding", 0)
    with pytest.raises(UsageError, match="A level lies between 0 and 1"):
        find_intervals(spread_of(normal(150)), 95, "auto", 0)
