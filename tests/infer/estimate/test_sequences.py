from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.infer.estimate.scale import bernstein_sequence, betting_interval, betting_sequence

DRAWN = np.random.default_rng(4)
SCORES = DRAWN.beta(2, 5, 80)


def capital(scores: Floats, size: int, mean: float, level: float) -> tuple[float, float]:
    """The largest capital of bets on a higher and on a lower mean, one score after the other."""
    n, seen, squares, middle = len(scores), 0.0, 0.25, 0.5
    up = down = most_up = most_down = 1.0
    for place, score in enumerate(scores, 1):
        left = (size * mean - seen) / (size - place + 1)
        bet = np.sqrt(2 * np.log(2 / (1 - level)) / (squares / place * n))
        up *= 1 + min(bet, 0.75 / max(left, 1e-12)) * (score - left)
        down *= 1 - min(bet, 0.75 / max(1 - left, 1e-12)) * (score - left)
        most_up, most_down = max(most_up, up), max(most_down, down)
        squares += (score - middle) ** 2
        seen += score
        middle = (0.5 + seen) / (place + 1)
    return most_up, most_down


def test_the_ends_are_where_the_capital_reaches_its_limit() -> None:
    found = betting_interval(SCORES, 200, 0.0, 1.0, 0.9)
    limit = 2 / (1 - 0.9)
    assert capital(SCORES, 200, float(found.low[0]), 0.9)[0] == pytest.approx(limit, rel=1e-6)
    assert capital(SCORES, 200, float(found.high[0]), 0.9)[1] == pytest.approx(limit, rel=1e-6)
    inside = float(found.low[0] + found.high[0]) / 2
    assert max(capital(SCORES, 200, inside, 0.9)) < limit


def test_models_are_treated_one_by_one_and_scales_do_not_matter() -> None:
    both = np.column_stack([SCORES, SCORES**2])
    found = betting_interval(both, 200, 0.0, 1.0)
    alone = betting_interval(SCORES, 200, 0.0, 1.0)
    assert found.low[0] == alone.low[0]
    scaled = betting_interval(20 * both - 25, 200, -25.0, -5.0)
    assert scaled.low == pytest.approx(20 * found.low - 25)
    assert scaled.high == pytest.approx(20 * found.high - 25)


@pytest.mark.parametrize("make", [betting_sequence, bernstein_sequence])
def test_a_sequence_never_widens_and_ends_at_the_truth(make: object) -> None:
    assert callable(make)
    low, high = make(SCORES, 80, 0.0, 1.0)
    assert len(low) == 80
    assert (np.diff(low) >= -1e-12).all()
    assert (np.diff(high) <= 1e-12).all()
    assert (low <= SCORES.mean() + 1e-9).all()
    assert (high >= SCORES.mean() - 1e-9).all()
    assert high[40] - low[40] < 0.35


def test_everything_judged_leaves_nothing_open() -> None:
    found = betting_interval(SCORES, 80, 0.0, 1.0)
    assert found.low == pytest.approx([SCORES.mean()], abs=1e-9)
    assert found.high == pytest.approx([SCORES.mean()], abs=1e-9)


def test_bernstein_by_hand_for_one_score() -> None:
    # λ₁ = min(√(2 ln 40/(¼·ln 2)), ½) = ½; centre x₁, half width ((x − ½)²(ln 2 − ½) + ln 40)/½.
    low, high = bernstein_sequence(np.array([0.4]), 10, -100.0, 100.0)
    x = 100.4 / 200
    half = ((x - 0.5) ** 2 * (np.log(2) - 0.5) + np.log(40)) / 0.5
    assert half > 1
    assert (low[0], high[0]) == (-100.0, 100.0)


def test_scores_off_the_scale_and_wrong_scales_are_refused() -> None:
    with pytest.raises(DataError, match=r"between 0 and 0\.5"):
        betting_interval(SCORES, 200, 0.0, 0.5)
    with pytest.raises(UsageError, match=r"from 1\.0 to 0\.0"):
        betting_interval(SCORES, 200, 1.0, 0.0)
    with pytest.raises(UsageError, match="there cannot be 80"):
        betting_sequence(SCORES, 50, 0.0, 1.0)
    with pytest.raises(UsageError, match="A level"):
        bernstein_sequence(SCORES, 100, 0.0, 1.0, 2.0)
