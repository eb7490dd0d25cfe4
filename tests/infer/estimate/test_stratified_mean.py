from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import UnknownNameError
from sparingly.infer.estimate.estimators import EMPTY, NO_STRATA, StratifiedMean
from sparingly.infer.estimate.sample import sample_from_arrays
from sparingly.infer.estimate.variance import set_errors
from tests.infer.estimate.samples import population
from tests.infer.estimate.sets import judged_set, some_rows, with_judged

STRATA = np.where(np.arange(30) < 6, "small", "large")


def test_it_is_the_sum_of_the_strata_however_many_were_drawn() -> None:
    # Drawn 2 of 6 and 6 of 24 although 3 and 4 were expected: eq. 1 counts the strata, not the draw.
    scores = population(30)
    first, second = [0, 4], [7, 9, 10, 20, 21, 29]
    seen = np.full_like(scores, np.nan)
    seen[first + second] = scores[first + second]
    sample = sample_from_arrays(seen, np.where(STRATA == "small", 0.5, 1 / 6), strata=STRATA)
    linear = StratifiedMean().linear(sample, judged_set(30), 0)
    expected = 6 / 30 * scores[first].mean(axis=0) + 24 / 30 * scores[second].mean(axis=0)
    assert linear.scores(sample) == pytest.approx(expected)
    small, large = (0.2**2 * 0.5 * np.cov(scores[first].T) / 2, 0.8**2 * 5 / 6 * np.cov(scores[second].T) / 6)
    assert set_errors(sample, linear).covariance == pytest.approx(small + large)


def test_a_stratum_with_one_item_is_not_without_error() -> None:
    # Joined with the other: the squared difference of what the two stand for, 4·(1 − 2) and 2·(4 − 2).
    sample = sample_from_arrays(
        [1.0, np.nan, np.nan, np.nan, 4.0, np.nan], [0.25] * 4 + [0.5] * 2, strata=list("aaaabb")
    )
    linear = StratifiedMean().linear(sample, judged_set(6), 0)
    assert linear.scores(sample) == pytest.approx([2.0])
    z, left = np.array([-4.0, 4.0]), np.array([0.75, 0.5])
    centre = left @ z / left.sum()
    assert set_errors(sample, linear).covariance[0, 0] == pytest.approx(2 * left @ (z - centre) ** 2 / 36)


def test_groups_of_a_column_help_where_they_differ() -> None:
    data = judged_set(120, group=["a", "b"] * 60)
    shifted = data.with_aspect("truth", data.aspects["truth"] + 5.0 * (np.arange(120) % 2)[:, None])
    judged, sample = with_judged(shifted, some_rows(shifted, 60))
    by_group = StratifiedMean(by="group").linear(sample, judged, 0)
    plain = StratifiedMean().linear(sample, judged, 0)
    assert plain.notes == (NO_STRATA,)
    assert by_group.parameters == 2.0
    less = set_errors(sample, by_group).standard_errors / set_errors(sample, plain).standard_errors
    assert (less < 0.7).all()
    assert StratifiedMean(by="group").reads(judged) == {"column:group"}


def test_a_stratum_without_judgements_takes_the_mean_of_the_others() -> None:
    data = judged_set(30, group=[*["a"] * 10, *["b"] * 20])
    judged, sample = with_judged(data, np.arange(10, 20))
    linear = StratifiedMean(by="group").linear(sample, judged, 0)
    assert linear.scores(sample) == pytest.approx(data.aspects["truth"][10:20].mean(axis=0))
    assert linear.notes == ("1 of 2 strata lack judgements of some model and take the mean of the others.",)


def test_with_an_empty_stratum_of_the_draw_it_is_the_weighted_mean() -> None:
    # Strata of 10, 10 and 4 items, and the last gave nothing: the mean of the others would not stand for it.
    scores = population(24)
    drawn = [0, 3, 5, 12, 17]
    seen = np.full_like(scores, np.nan)
    seen[drawn] = scores[drawn]
    sample = sample_from_arrays(seen, 0.25, strata=np.repeat(["a", "b", "c"], [10, 10, 4]))
    linear = StratifiedMean().linear(sample, judged_set(24), 0)
    assert linear.scores(sample) == pytest.approx(scores[drawn].mean(axis=0))
    assert linear.notes == (EMPTY.format(1),)


def test_an_unknown_column_is_named() -> None:
    judged, sample = with_judged(judged_set(30), np.arange(10))
    with pytest.raises(UnknownNameError, match='no column "topic"'):
        StratifiedMean(by="topic").linear(sample, judged, 0)


@pytest.mark.parametrize("estimator", [StratifiedMean(), StratifiedMean(by="group")])
def test_a_model_that_nobody_judged_has_no_score(estimator: StratifiedMean) -> None:
    scores = population(30)[:, :2]
    seen = np.full_like(scores, np.nan)
    seen[[0, 4, 7, 9, 20], 0] = scores[[0, 4, 7, 9, 20], 0]
    sample = sample_from_arrays(seen, 1 / 6, size=30, strata=STRATA)
    linear = estimator.linear(sample, judged_set(30, group=STRATA.tolist()), 0)
    assert np.isnan(linear.scores(sample)).tolist() == [False, True]
    assert linear.notes == ()
