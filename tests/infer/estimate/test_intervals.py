from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.infer.estimate.intervals import (
    IntervalBasis,
    IntervalOutcome,
    Tails,
    find_intervals,
    studentised_quantiles,
    why_withheld,
)


def spread_of(shape: Floats, whole: bool = False, models: int | None = None, **other: Any) -> IntervalBasis:
    """Scores 1, 2, … whose units contribute what is given."""
    deviation = shape - shape.mean(axis=0)
    single = deviation * len(shape)
    low, high = ((np.clip(single, *ends) ** 2).mean() for ends in ((None, 0.0), (0.0, None)))
    skew = (single**3).mean() / max((low + high) ** 1.5, 1e-300)
    kurtosis = (single**4).mean() / max((low + high) ** 2, 1e-300)
    parts: dict[str, Any] = {
        "names": [f"model {place}" for place in range(shape.shape[1])],
        "centre": np.arange(1.0, shape.shape[1] + 1),
        "errors": np.sqrt((deviation**2).sum(axis=0)),
        "shape": deviation,
        "counts": np.full(shape.shape[1], float(len(shape))),
        "tails": Tails(float(low), float(high), float(skew), float(kurtosis), models or shape.shape[1]),
        "stratum": np.zeros(len(shape), np.int64),
        "units": float(len(shape)),
        "freedom": len(shape) - 1.0,
        "complete": whole,
    }
    return IntervalBasis(**(parts | other))


def normal(n: int, columns: int = 3) -> Floats:
    return np.random.default_rng(0).normal(size=(n, columns)) / n


def one_far_out(n: int, columns: int) -> Floats:
    shape = np.zeros((n, columns))
    shape[0] = -1.0
    return shape / n


def fixed(kind: str) -> tuple[Floats, Floats]:
    assert kind in ("betting", "hoeffding")
    return np.full(3, -9.0), np.full(3, 9.0)


def t_interval(spread: IntervalBasis, level: float) -> tuple[Floats, Floats]:
    found = find_intervals(spread, level, "t", 0)
    return found.low, found.high


def test_student() -> None:
    spread = spread_of(normal(30))
    low, high = t_interval(spread, 0.9)
    assert high - spread.centre == pytest.approx(stats.t.ppf(0.95, 29) * spread.errors)
    assert spread.centre - low == pytest.approx(high - spread.centre)


def test_with_many_units_and_no_tail_it_is_student_s_interval() -> None:
    spread = spread_of(normal(20_000))
    found = find_intervals(spread, 0.95, "auto", 0)
    assert found.kinds == ("t", "t", "t")
    assert (found.outcome.printed, found.notes) == (3, ())
    assert found.high - found.low == pytest.approx(2 * stats.t.ppf(0.975, 19_999) * spread.errors, rel=0.02)


def test_few_units_widen_both_sides_and_a_tail_its_own() -> None:
    spread = spread_of(normal(12))
    found = find_intervals(spread, 0.95, "auto", 0)
    low, high = t_interval(spread, 0.95)
    assert (found.low < low).all()
    assert (found.high > high).all()
    tailed = spread_of(one_far_out(40, 3))
    found, (low, high) = find_intervals(tailed, 0.95, "auto", 0), t_interval(tailed, 0.95)
    assert ((low - found.low) > 5 * (found.high - high)).all()


def test_other_models_tell_what_a_constant_one_may_still_do() -> None:
    shape = normal(50)
    shape[:, 0] = 0.0
    found = find_intervals(spread_of(shape), 0.95, "auto", 0)
    assert found.kinds == ("t", "t", "t")
    assert found.low[0] < 1.0 < found.high[0]
    assert found.high[0] - found.low[0] < found.high[1] - found.low[1]


def test_under_ten_units_nothing_is_learned_from_the_sample() -> None:
    found = find_intervals(spread_of(normal(8)), 0.95, "auto", 0)
    assert found.kinds == ("none",) * 3
    assert np.isnan(found.low).all()
    assert np.isnan(found.high).all()
    assert found.outcome.withheld == 3
    assert found.notes == (
        "no interval for model 0, model 1, model 2: 8 drawn units are too few to learn an error from, "
        "10 are needed.",
    )
    instead = find_intervals(spread_of(normal(8)), 0.95, "auto", 0, fixed)
    assert instead.kinds == ("betting",) * 3
    assert instead.low.tolist() == [-9.0] * 3
    assert (instead.outcome.printed, instead.notes) == (3, ())


def test_all_the_same_needs_a_scale() -> None:
    found = find_intervals(spread_of(np.zeros((40, 2))), 0.95, "auto", 0)
    assert found.kinds == ("none", "none")
    assert "all judgements are the same" in found.notes[0]
    scaled = find_intervals(spread_of(np.zeros((40, 2)), scale=(0.0, 2.0)), 0.95, "auto", 0)
    assert scaled.kinds == ("t", "t")
    unseen = 1 - 0.025 ** (1 / 40)
    assert scaled.low.tolist() == pytest.approx([1 - unseen, 2 - 2 * unseen])
    assert scaled.high.tolist() == pytest.approx([1 + unseen, 2.0])


def test_a_tail_of_one_unit_is_withheld_where_no_other_model_tells_of_it() -> None:
    shape = one_far_out(16, 1)
    found = find_intervals(spread_of(shape), 0.95, "auto", 0)
    assert found.kinds == ("bound",)
    assert np.isnan(found.low).all()
    assert np.isfinite(found.high).all()
    assert found.outcome.bounds == 1
    assert found.notes[0].startswith("no lower limit for model 0: a few of the 16 drawn units lie far")
    assert "14 more" in found.notes[0]
    # Enough units, more models, or a scale give the other side.
    assert find_intervals(spread_of(one_far_out(30, 1)), 0.95, "auto", 0).kinds == ("t",)
    assert find_intervals(spread_of(shape, models=3), 0.95, "auto", 0).kinds == ("t",)
    scaled = find_intervals(spread_of(shape, scale=(-5.0, 2.0)), 0.95, "auto", 0)
    assert -5.0 < scaled.low[0] < 1.0 < scaled.high[0] < 2.0


def test_no_interval_leaves_the_scale() -> None:
    found = find_intervals(spread_of(normal(12) * 5, scale=(0.9, 3.1)), 0.95, "auto", 0)
    assert (found.low >= 0.9).all()
    assert (found.high <= 3.1).all()


def test_proportions_and_exact_numbers() -> None:
    def ends(level: float) -> tuple[Floats, Floats]:
        return np.full(3, 0.1), np.full(3, level)

    found = find_intervals(spread_of(normal(12), proportions=ends), 0.95, "auto", 0)
    assert found.kinds == ("proportion",) * 3
    assert found.high.tolist() == [0.95] * 3
    known = find_intervals(spread_of(normal(12), exact=np.array([True, False, False])), 0.95, "auto", 0)
    assert known.kinds == ("exact", "t", "t")
    assert known.low[0] == known.high[0] == 1.0


def test_nothing_left_to_chance_is_exact() -> None:
    found = find_intervals(spread_of(normal(5), whole=True), 0.95, "auto", 0)
    assert found.kinds == ("exact",) * 3
    assert found.low.tolist() == found.high.tolist() == [1.0, 2.0, 3.0]


def test_what_is_asked_for_is_given_with_a_warning() -> None:
    found = find_intervals(spread_of(normal(12)), 0.95, "t", 0)
    assert found.kinds == ("t",) * 3
    assert found.notes == ("t intervals may be too narrow with 12 drawn units: model 0, model 1, model 2.",)
    assert find_intervals(spread_of(normal(1000)), 0.95, "t", 0).notes == ()
    spread = spread_of(normal(1000))
    start, end = studentised_quantiles(spread.shape, spread.stratum, 0.95, 0)
    low, high = spread.centre - end * spread.errors, spread.centre - start * spread.errors
    given = find_intervals(spread_of(normal(1000)), 0.95, "bootstrap", 0)
    assert (given.low.tolist(), given.high.tolist(), given.notes) == (low.tolist(), high.tolist(), ())
    none = find_intervals(spread_of(normal(150)), 0.95, "none", 0)
    assert none.kinds == ("none",) * 3
    assert find_intervals(spread_of(normal(150)), 0.95, "hoeffding", 0, fixed).kinds == ("hoeffding",) * 3


def test_bounds_without_a_scale_and_wrong_levels_are_refused() -> None:
    with pytest.raises(UsageError, match=r"A hoeffding interval needs the scale of .*scale=\(LOW, HIGH\)"):
        find_intervals(spread_of(normal(150)), 0.95, "hoeffding", 0)
    with pytest.raises(UsageError, match="A level lies between 0 and 1"):
        find_intervals(spread_of(normal(150)), 95, "auto", 0)


def test_outcome_in_words_and_shares() -> None:
    outcome = IntervalOutcome(printed=3, bounds=1, fallen_back=2)
    assert str(outcome) == "intervals: 3 printed, 1 bounds, 2 fallen back"
    assert outcome.shares()["bounds"] == 0.25
    assert outcome.shares()["fallen_back"] == 0.5
    assert str(IntervalOutcome()) == "intervals: none"
    assert sum(IntervalOutcome().shares().values()) == 0
    assert why_withheld(7, "drawn units") == "7 drawn units are too few to learn an error from, 10 are needed"
