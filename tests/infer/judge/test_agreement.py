"""κ, AC1, correlation, and the alternative-annotator test."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.stats.pairs import benjamini_yekutieli
from sparingly.infer.estimate.rater_effects import rater_scores
from sparingly.infer.estimate.sample import sample_from
from sparingly.infer.judge.agreement import agreement_with_people, alternative_annotator, coefficients
from sparingly.infer.judge.labelled import labelled_outputs


def test_coefficients_of_a_table_by_hand() -> None:
    """Table 20, 5, 10, 15: a = .7; κ = (.7 − .5)/(1 − .5) = .4; π = .55, AC1 = (.7 − .495)/(1 − .495)."""
    x = np.r_[np.ones(25), np.zeros(25)]
    y = np.r_[np.ones(20), np.zeros(5), np.ones(10), np.zeros(15)]
    found = coefficients(x, y, np.ones(50), np.arange(50), True, 0.95)
    assert found.exact == pytest.approx(0.7)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.ac1 is not None
    assert found.ac1.value == pytest.approx((0.7 - 0.495) / (1 - 0.495))
    assert found.correlation.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    # The large-sample error of κ here is 0.128 (Fleiss, Cohen and Everitt 1969).
    assert found.kappa.high - found.kappa.low == pytest.approx(2 * 1.96 * 0.128, rel=0.1)


def test_weighted_kappa_of_grades_is_lins_concordance() -> None:
    random = np.random.default_rng(1)
    x = random.normal(0, 1, 200)
    y = 0.8 * x + random.normal(0.5, 0.5, 200)
    found = coefficients(x, y, np.ones(200), np.arange(200), False, 0.95)
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert found.kappa.value == pytest.approx(lin)
    assert found.ac1 is None


def test_answers_that_never_vary_have_no_kappa() -> None:
    found = coefficients(np.ones(20), np.ones(20), np.ones(20), np.arange(20), True, 0.95)
    assert np.isnan(found.kappa.value)
    assert np.isnan(found.correlation.value)


def with_raters(judge_noise: float, people: int = 4, items: int = 60, seed: int = 2) -> sparingly.EvalSet:
    random = np.random.default_rng(seed)
    quality = random.normal(50, 15, items)
    names = [f"i{row:03d}" for row in range(items)]
    rows = [(name, person) for name in names for person in range(people)]
    scores = np.clip(np.repeat(quality, people) + random.normal(0, 10, items * people), 0, 100)
    ratings = sparingly.Ratings(
        item=np.repeat(np.arange(items), people).astype(np.int32),
        rater=np.tile(np.arange(people), items).astype(np.int32),
        aspect=np.zeros(len(rows), np.int32),
        seconds=np.full(len(rows), np.nan),
        model=np.zeros(len(rows), np.int32),
        score=scores,
        raters=tuple(f"person {number}" for number in range(people)),
        aspects=("quality",),
    )
    judge = np.clip(quality + random.normal(0, judge_noise, items), 0, 100)
    return sparingly.EvalSet.from_arrays(
        names,
        ["m"],
        aspects={"quality": scores.reshape(items, people).mean(axis=1)[:, None]},
        metrics={"judge": judge[:, None]},
        ratings=ratings,
    )


def test_the_judge_stands_beside_what_two_people_reach() -> None:
    data = with_raters(judge_noise=25.0)
    part = labelled_outputs(data, sample_from(data, data.truth("quality"), None), "quality", "judge")
    found = agreement_with_people(part, rater_scores(data, "quality"), 0.95)
    assert found.two_people is not None
    assert found.judge_and_person is not None
    assert found.two_people.outputs == 60
    scores = rater_scores(data, "quality").table()[0]
    pairs = [np.corrcoef(scores[:, a], scores[:, b])[0, 1] for a in range(4) for b in range(a)]
    assert found.two_people.correlation.value == pytest.approx(np.mean(pairs), abs=0.03)
    assert found.judge_and_person.correlation.value < found.two_people.correlation.value


@pytest.mark.parametrize(("noise", "wins"), [(1.0, True), (60.0, False)])
def test_the_alternative_annotator_test(noise: float, wins: bool) -> None:
    data = with_raters(judge_noise=noise)
    part = labelled_outputs(data, sample_from(data, data.truth("quality"), None), "quality", "judge")
    found = alternative_annotator(part, rater_scores(data, "quality"))
    assert found is not None
    assert found.people == 4
    assert found.passes is wins
    assert (found.advantage > 0.5) is wins


def test_the_alternative_annotator_test_needs_three_people_and_thirty_items() -> None:
    for data in (with_raters(5.0, people=2), with_raters(5.0, items=29)):
        part = labelled_outputs(data, sample_from(data, data.truth("quality"), None), "quality", "judge")
        assert alternative_annotator(part, rater_scores(data, "quality")) is None


def test_benjamini_yekutieli_by_hand() -> None:
    """Σ1/i = 1.5 of two: .01 → .01·2·1.5/1 = .03, .04 → .04·2·1.5/2 = .06."""
    assert benjamini_yekutieli(np.array([0.04, 0.01])).tolist() == pytest.approx([0.06, 0.03])
