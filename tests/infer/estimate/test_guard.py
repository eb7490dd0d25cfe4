from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.estimate.guard import Outcome, supports_t, why_withheld, widening


def test_nothing_is_kept_back_with_a_hundred_units_and_little_skewness() -> None:
    skew = np.linspace(-2, 2, 9)
    assert supports_t(100, skew).all()
    assert supports_t(100_000, skew).all()


def test_few_units_or_a_long_tail_need_more_than_student() -> None:
    assert not supports_t(99, np.zeros(1)).any()
    assert not supports_t(100, np.array([2.1, -2.1, np.nan])).any()
    # A long tail does no harm among very many.
    assert supports_t(1000, np.array([4.4])).all()
    assert not supports_t(1000, np.array([4.6])).any()


@pytest.mark.parametrize(("units", "factor"), [(10, 1.3), (14, 1.3), (15, 1.15), (29, 1.15), (30, 1.0)])
def test_few_units_widen_and_a_tail_of_a_few_units_widens_more(units: int, factor: float) -> None:
    found = widening(units, np.array([0.0, 0.9, -np.sqrt(units / 9), np.nan]))
    assert found[:3] == pytest.approx([factor, factor, 1.15 * factor])
    assert np.isnan(found[3])


def test_below_ten_units_nothing_is_learned() -> None:
    assert np.isnan(widening(9, np.zeros(2))).all()


def test_reasons() -> None:
    assert why_withheld(7, "drawn units", True) == "7 drawn units are too few to learn an error from"
    assert "gave the same" in why_withheld(200, "drawn units", False)
    assert "too few of the 40 documents" in why_withheld(40, "documents", True)


def test_outcome_in_words_and_shares() -> None:
    outcome = Outcome(printed=3, widened=1, fallen_back=2)
    assert str(outcome) == "intervals: 3 printed, 1 widened, 2 fallen back"
    assert outcome.shares()["widened"] == 0.25
    assert outcome.shares()["fallen_back"] == 0.5
    assert str(Outcome()) == "intervals: none"
    assert sum(Outcome().shares().values()) == 0
