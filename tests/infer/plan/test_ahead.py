"""Planned half-widths are printed half-widths: on the pilot itself they are equal, elsewhere near."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
import sparingly.infer.plan.outlook
from sparingly.base.stats.proportion import proportion_interval
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook
from sparingly.infer.plan.pilot import pilot_of
from tests.infer.plan.sets import drawn_pilot, made_set

DATA = made_set()


def outlook_of(data: EvalSet, pilot: Selection | None) -> PlanOutlook:
    return PlanOutlook(pilot_of(data, pilot, "people", for_differences=False, seed=0), PlanGoals())


def printed(data: EvalSet, pilot: Selection) -> float:
    found = sparingly.estimate(data, pilot, "people")
    return float(np.nanmedian((found.high - found.low) / 2))


@pytest.mark.parametrize("n", [12, 29, 30, 80])
def test_as_many_items_as_the_pilot_has_print_what_it_prints(n: int) -> None:
    """Drawn by the default design and estimated by default, with predictions from 30 items on."""
    pilot = sparingly.select(DATA, budget=n, seed=3)
    assert outlook_of(DATA, pilot).half_width(n) == pytest.approx(printed(DATA, pilot), rel=1e-9)


def test_without_metrics_and_with_long_tails() -> None:
    bare = DATA.only(["aspect:people"])
    skewed = bare.with_aspect("people", -np.exp(bare.aspects["people"]))
    pilot = drawn_pilot(skewed, 40)
    found = sparingly.estimate(skewed, pilot, "people")
    assert outlook_of(skewed, pilot).half_width(40) == pytest.approx(printed(skewed, pilot), rel=1e-9)
    assert outlook_of(skewed, pilot).printed_at(40).covariance == pytest.approx(found.covariance)


def test_two_valued_scores_get_intervals_of_proportions() -> None:
    passed = DATA.with_aspect("people", (DATA.aspects["people"] > -1).astype(float)).only(["aspect:people"])
    pilot = drawn_pilot(passed, 50)
    found = sparingly.estimate(passed, pilot, "people")
    assert set(found.intervals) == {"proportion"}
    seen = outlook_of(passed, pilot)
    assert seen.half_width(50) == pytest.approx(printed(passed, pilot), rel=1e-9)
    # Beyond the pilot the shares stay: 100 items have those of 50, each item twice.
    share, size = found.scores, 400
    low, high = proportion_interval(np.round(100 * share), 100, size)
    assert seen.half_width(100) == pytest.approx(float(np.median(high - low)) / 2, rel=1e-9)


def test_below_ten_items_nothing_is_printed_and_all_items_leave_no_error() -> None:
    found = outlook_of(DATA, drawn_pilot(DATA, 60))
    assert np.isnan(found.half_width(9))
    assert found.half_width(10) > found.half_width(20) > found.half_width(100) > found.half_width(399)
    assert found.half_width(400) == 0.0
    assert not found.printed_at(400).covariance.any()


def test_very_many_items_follow_from_many(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = outlook_of(DATA, drawn_pilot(DATA, 60)).half_width(300)
    monkeypatch.setattr(sparingly.infer.plan.outlook, "_MOST_UNITS", 200)
    assert outlook_of(DATA, drawn_pilot(DATA, 60)).half_width(300) == pytest.approx(plain, rel=0.02)


def test_predictions_learned_from_fewer_items_explain_less() -> None:
    """On the whole set they explain two thirds; learned from 30 items about as much, as they are linear."""
    found = outlook_of(DATA, None)
    assert 0.0 <= found.pilot.learning_loss < 0.4
    slopes = [found._slope(n) for n in (30, 60, 120, 400)]
    assert slopes == sorted(slopes)
    assert slopes[-1] == 1.0
