"""Error rates of a judge: worked by hand, at the edges, and how often their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.stats.proportion import proportion_interval
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.sample import sample_from
from sparingly.infer.judge.error_rates import (
    Rate,
    RateArrays,
    calibration,
    error_rates,
    rates_from_classes,
    ratio_ends,
)
from sparingly.infer.judge.labelled import LabelledOutputs, labelled_outputs
from tests.infer.judge.populations import from_arrays, judged_outputs


def labelled(
    data: EvalSet, judge: str = "verdict", aspect: str = "ok", cut: float | None = None
) -> LabelledOutputs:
    return labelled_outputs(data, sample_from(data, data.truth(aspect), None), aspect, judge, cut)


def test_rates_use_the_verdicts_on_all_outputs() -> None:
    """70 of 100 pass; labels: of 7 passed 6 are good, of 5 failed 1 is.

    Good and passed 70·6/7 = 60, good and failed 30/5 = 6, bad and passed 10, bad and failed 24.
    """
    passed = np.r_[np.ones(70), np.zeros(30)]
    good = np.r_[np.ones(6), 0, np.full(63, np.nan), 1, np.zeros(4), np.full(25, np.nan)]
    data = from_arrays(good, passed, np.random.default_rng(0))
    found = error_rates(labelled(data), 0.95)
    assert found.table == ((6, 1), (1, 4))
    assert (found.passed, found.failed) == (70, 30)
    assert found.passes_bad.value == pytest.approx(10 / 34)
    assert found.fails_good.value == pytest.approx(6 / 66)


def test_rates_of_a_fully_labelled_set_are_plain_shares() -> None:
    data = judged_outputs(1, size=300, labels=None)
    part = labelled(data)
    found = error_rates(part, 0.95)
    assert found.passes_bad.value == pytest.approx(part.passed[~part.good].mean())
    assert found.fails_good.value == pytest.approx(1 - part.passed[part.good].mean())
    # As wide as the interval of that share by itself.
    low, high = proportion_interval((part.passed & ~part.good).sum(), (~part.good).sum())
    assert found.passes_bad.high - found.passes_bad.low == pytest.approx(high - low, rel=0.1)


def test_ratio_ends_by_hand() -> None:
    """p = .5 [.4, .6] over q = .25 [.2, .4]: (.125 − √(.015625 − .4·.4·.6·.1))/(.4·.1); above likewise."""
    first = RateArrays(np.array(0.5), np.array(0.4), np.array(0.6))
    second = RateArrays(np.array(0.25), np.array(0.2), np.array(0.4))
    low, high = ratio_ends(first, second)
    assert low == pytest.approx((0.125 - np.sqrt(0.015625 - 0.4 * 0.6 * 0.4 * 0.1)) / (0.4 * 0.1))
    assert high == pytest.approx((0.125 + np.sqrt(0.015625 - 0.6 * 0.4 * 0.2 * 0.3)) / (0.2 * 0.3))


def test_without_a_bad_label_what_it_passes_of_bad_ones_is_unknown() -> None:
    found = error_rates(labelled(judged_outputs(2, pass_rate=1.0)), 0.95)
    assert np.isnan(found.passes_bad.value)
    assert 0 < found.fails_good.value < 0.2


def test_a_judge_that_passes_everything() -> None:
    found = error_rates(labelled(judged_outputs(3, sensitivity=1.0, specificity=0.0)), 0.95)
    assert found.passes_bad == Rate(1.0, 1.0, 1.0)
    assert found.fails_good.value == 0.0


def test_a_judge_that_equals_the_labels_leaves_room_for_errors() -> None:
    found = error_rates(labelled(judged_outputs(4, sensitivity=1.0, specificity=1.0)), 0.95)
    assert found.passes_bad.value == found.fails_good.value == 0.0
    assert 0.02 < found.fails_good.high < found.passes_bad.high < 0.4


def test_unequal_weights_and_clusters_widen_the_interval() -> None:
    data = judged_outputs(5, labels=200)
    part = labelled(data)
    plain = error_rates(part, 0.95).fails_good
    weight = np.where(np.arange(len(part)) % 2, 4.0, 0.5)
    weighted = error_rates(
        LabelledOutputs(**{**vars(part), "weight": weight / weight.mean()}), 0.95
    ).fails_good
    clusters = np.arange(len(part)) // 10
    clustered = error_rates(LabelledOutputs(**{**vars(part), "cluster": clusters}), 0.95).fails_good
    assert weighted.high - weighted.low > 1.1 * (plain.high - plain.low)
    assert clustered.value == pytest.approx(plain.value)
    assert clustered.low <= clustered.value <= clustered.high


def test_calibration_is_a_line_with_bands() -> None:
    random = np.random.default_rng(6)
    judge = random.integers(1, 6, 400).astype(float)
    people = np.clip(np.round(1.5 + 0.5 * judge + random.normal(0, 0.4, 400)), 1, 5)
    data = from_arrays(people, judge, random)
    found = calibration(labelled(data), 0.95)
    assert found.slope.low < 0.5 < found.slope.high
    assert found.shift.value == pytest.approx((judge - people).mean())
    assert [band.low for band in found.bands] == [1, 2, 3, 4, 5]
    assert sum(band.labels for band in found.bands) == 400


def test_a_graded_judge_is_cut_above_the_middle_unless_said() -> None:
    random = np.random.default_rng(7)
    good = random.random(200) < 0.7
    grade = np.clip(np.round(2 + 2 * good + random.normal(0, 1, 200)), 1, 5)
    data = from_arrays(good, grade, random)
    assert labelled(data).cut == 4
    assert "from 4 on (above the middle" in labelled(data).notes()[0]
    assert labelled(data, cut=3).passed.sum() == (grade >= 3).sum()


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("pass_rate", "sensitivity", "specificity", "labels"),
    [
        (0.5, 0.9, 0.5, 100),
        (0.8, 0.8, 0.8, 100),
        (0.9, 0.99, 0.2, 100),
        (0.97, 0.9, 0.5, 40),
        (0.9, 0.9, 0.6, 300),
    ],
)
def test_intervals_of_error_rates_hold(
    pass_rate: float, sensitivity: float, specificity: float, labels: int
) -> None:
    """2,000 draws of outputs, verdicts and labels: 95 % intervals hold the truth in 93.5 % or more."""
    random = np.random.default_rng(8)
    cells = [
        pass_rate * sensitivity,
        pass_rate * (1 - sensitivity),
        (1 - pass_rate) * (1 - specificity),
        (1 - pass_rate) * specificity,
    ]
    counts = random.multinomial(600, cells, size=2000)
    sample = np.array([random.multivariate_hypergeometric(row, labels) for row in counts])
    classes = []
    for good, bad in ((0, 2), (1, 3)):
        total = sample[:, good] + sample[:, bad]
        low, high = proportion_interval(sample[:, good], np.maximum(total, 1))
        known = total > 0
        share = np.where(known, sample[:, good] / np.maximum(total, 1), 0.5)
        classes.append(RateArrays(share, np.where(known, low, 0.0), np.where(known, high, 1.0)))
    with np.errstate(all="ignore"):
        bad_passed, good_failed = rates_from_classes(
            counts[:, 0] + counts[:, 2], counts[:, 1] + counts[:, 3], *classes, level=0.95
        )
    for found, truth in ((bad_passed, 1 - specificity), (good_failed, 1 - sensitivity)):
        assert ((found.low <= truth + 1e-12) & (truth - 1e-12 <= found.high)).mean() >= 0.935
