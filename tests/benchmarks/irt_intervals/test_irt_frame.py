from __future__ import annotations

import numpy as np
import pytest

from benchmarks.irt_intervals.integral import ScaleFrame, prior_bends, prior_slopes, widening
from sparingly.base.arrays import Floats
from sparingly.published.irt.model import Priors, expit

ABILITY = np.array([-1.2, 0.1, 0.4, 0.9, 2.0])
PRIORS = Priors(discrimination=(1.5, 0.6), difficulty=(0.3, 1.4))
STEP = 1e-4


def test_a_change_of_abilities_is_a_shift_a_stretch_and_the_rest() -> None:
    frame = ScaleFrame.from_abilities(ABILITY)
    np.testing.assert_allclose(frame.common @ np.ones(5), [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(frame.common @ (ABILITY - ABILITY.mean()), [0.0, 1.0], atol=1e-12)
    change = np.array([0.3, -0.2, 0.5, 0.1, 0.0])
    left = frame.remainder @ change
    np.testing.assert_allclose(frame.common @ left, 0.0, atol=1e-12)
    shift, stretch = frame.common @ change
    np.testing.assert_allclose(left + shift + stretch * frame.offsets, change, atol=1e-12)


@pytest.mark.parametrize("ability", [np.array([0.7]), np.array([0.7, 0.7, 0.7])])
def test_abilities_that_are_all_the_same_cannot_stretch(ability: Floats) -> None:
    frame = ScaleFrame.from_abilities(ability)
    assert (frame.common[1] == 0.0).all()
    np.testing.assert_allclose(frame.common[0] @ np.ones(len(ability)), 1.0)
    np.testing.assert_allclose(frame.remainder @ np.ones(len(ability)), 0.0, atol=1e-12)


def moved(shift: float, stretch: float, slope: float, difficulty: float) -> tuple[float, float]:
    """An item carried along when the origin moves and the unit grows by a factor exp(stretch)."""
    origin = ABILITY.mean()
    return slope * np.exp(-stretch), origin + shift + np.exp(stretch) * (difficulty - origin)


def log_prior(shift: float, stretch: float) -> float:
    slope, difficulty = moved(shift, stretch, 0.8, -0.5)
    away = [
        (value - mean) / sd
        for value, (mean, sd) in ((slope, PRIORS.discrimination), (difficulty, PRIORS.difficulty))
    ]
    return -0.5 * float(np.square(away).sum())


def test_derivatives_of_the_prior_are_numerical_ones() -> None:
    item = np.array([0.8]), np.array([-0.5]), float(ABILITY.mean()), PRIORS
    slopes, bends = prior_slopes(*item)[:, 0], prior_bends(*item)[:, 0]
    for place, (shift, stretch) in enumerate(((STEP, 0.0), (0.0, STEP))):
        up, down = log_prior(shift, stretch), log_prior(-shift, -stretch)
        assert slopes[place] == pytest.approx((up - down) / (2 * STEP), rel=1e-6)
        assert bends[2 * place] == pytest.approx((2 * log_prior(0, 0) - up - down) / STEP**2, rel=1e-5)
    corners = [one * other * log_prior(one * STEP, other * STEP) for one in (1, -1) for other in (1, -1)]
    assert bends[1] == pytest.approx(-sum(corners) / (4 * STEP**2), rel=1e-5)


def test_an_item_that_is_carried_along_keeps_its_curve() -> None:
    slope, difficulty = moved(0.3, 0.2, 0.8, -0.5)
    ability = ABILITY.mean() + 0.3 + np.exp(0.2) * (ABILITY - ABILITY.mean())
    np.testing.assert_allclose(expit(slope * (ability - difficulty)), expit(0.8 * (ABILITY + 0.5)))


def test_items_are_carried_by_a_shift_and_a_stretch() -> None:
    frame = ScaleFrame.from_abilities(ABILITY)
    carried = frame.frame_jacobian(np.array([[2.0], [0.8], [-0.5]]))
    assert carried.shape == (3, 6, 1)
    np.testing.assert_array_equal(carried[:, -1], 0.0)
    for change, (shift, stretch) in ((np.ones(5), (STEP, 0.0)), (frame.offsets, (0.0, STEP))):
        slope, difficulty = moved(shift, stretch, 0.8, -0.5)
        followed = carried[:, :5, 0] @ change
        expected = [0.0, (slope - 0.8) / STEP, (difficulty + 0.5) / STEP]
        np.testing.assert_allclose(followed, expected, rtol=1e-3, atol=1e-9)


def test_mixing_takes_the_common_part_from_the_scale() -> None:
    frame = ScaleFrame.from_abilities(ABILITY)
    mixing = frame.mixing()
    # Derivatives by abilities, noise, m and log k: what all abilities share is told by the last two.
    slopes = mixing @ np.array([5.0, -1.0, 2.0, 0.0, 1.0, 7.0, 0.4, -0.3])
    assert slopes[:5].sum() == pytest.approx(0.4)
    assert slopes[:5] @ frame.offsets == pytest.approx(-0.3)
    assert slopes[5] == 7.0


def test_widths_grow_with_abilities_unless_the_prior_of_items_holds_them() -> None:
    bend = np.array([2.0, 4.0])
    # Nothing but the unit is at stake: the second derivatives fall with its square, the widths grow with it.
    assert widening(bend, np.zeros(2)) == 1.0
    # As k grows, the prior of items makes up for what the second derivatives lose, in part or entirely.
    assert widening(bend, np.array([2.0, 4.0])) == pytest.approx(0.5)
    assert widening(bend, np.array([5.0, 9.0])) == 0.0
    assert widening(np.zeros(2), np.zeros(2)) == 1.0


def test_a_straight_function_bends_when_abilities_stretch_by_a_factor() -> None:
    frame, slope = ScaleFrame.from_abilities(ABILITY), np.array([0.5, -1.0, 2.0, 0.3, 1.0])

    def along(change: Floats) -> float:
        """The function after a change of abilities whose stretch is a factor."""
        shift, stretch = frame.common @ change
        return float(
            slope @ (frame.origin + shift + np.exp(stretch) * (frame.offsets + frame.remainder @ change))
        )

    gained = frame.bent(slope)
    for change in (frame.offsets, np.array([0.3, -0.2, 0.5, 0.1, 0.0])):
        up, down = along(1e-3 * change), along(-1e-3 * change)
        assert change @ gained @ change == pytest.approx((2 * along(0 * change) - up - down) / 1e-6, rel=1e-4)
