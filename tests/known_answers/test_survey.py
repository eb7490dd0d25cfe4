"""Scores and errors against R's survey 4.1.1: every number by ``Rscript tests/known_answers/survey.R``.

Where ours differ by convention it is said: predictions' residuals count by 1/probability here and by
calibrated weights there; unequal probabilities are Hájek and Deville's here and Brewer's there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.estimators import StratifiedMean
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import (
    JudgedSample,
    LinearForm,
    difference_form,
    restrict_to,
    sample_from_arrays,
)
from sparingly.infer.estimate.variance import set_errors
from tests.infer.estimate.sets import judged_set
from tests.known_answers.tables import columns

ITEMS = columns("items.csv")
SCORES = np.column_stack([ITEMS["first"], ITEMS["second"]])
STRATUM, DOCUMENT = ITEMS["stratum"].astype(int), ITEMS["document"].astype(int)
THEIRS = {
    "simple_first": 3.198,
    "simple_second": 2.9655,
    "simple_se_first": 0.268862189965,
    "simple_se_second": 0.312972435869,
    "simple_covariance": 0.0492324912281,
    "simple_gap": 0.2325,
    "simple_gap_se": 0.267906028956,
    "total_first": 191.88,
    "total_se_first": 16.1317313979,
    "endless_first": 3.198,
    "endless_second": 2.9655,
    "endless_se_first": 0.329287588271,
    "endless_se_second": 0.383311385718,
    "endless_covariance": 0.0738487368421,
    "stratified_first": 3.96666666667,
    "stratified_second": 3.54333333333,
    "stratified_se_first": 0.375199319457,
    "stratified_se_second": 0.462419257216,
    "stratified_covariance": 0.1294905625,
    "clustered_first": 3.6436,
    "clustered_second": 2.9024,
    "clustered_se_first": 0.454011593097,
    "clustered_se_second": 0.446255823491,
    "clustered_covariance": 0.180135923333,
    "everything_first": 3.42166666667,
    "everything_second": 3.082,
    "everything_se_first": 0.306343225349,
    "everything_se_second": 0.323315682117,
    "everything_covariance": 0.0717671212121,
    "ratio_first": 3.278,
    "ratio_second": 2.93266666667,
    "ratio_se_first": 0.288090246491,
    "ratio_se_second": 0.350299602797,
    "domain_first": 3.08090909091,
    "domain_second": 3.38363636364,
    "domain_se_first": 0.39971202414,
    "domain_se_second": 0.450349079531,
    "domain_covariance": 0.111996889293,
    "unequal_first": 3.34226134133,
    "unequal_second": 2.80150851947,
    "unequal_se_first": 0.342826750565,
    "unequal_se_second": 0.475323829708,
    "unequal_covariance": 0.107625062698,
    "unequal_total_first": 202.708400715,
    "unequal_total_se_first": 14.4854953204,
    "greg_simple_first": 3.57942884472,
    "greg_simple_second": 3.39555536727,
    "greg_simple_se_first": 0.17527124557,
    "greg_simple_se_second": 0.2408778497,
    "greg_simple_covariance": 0.010865449496,
    "greg_simple_residual_se_first": 0.174413975719,
    "greg_simple_residual_se_second": 0.211494479099,
    "greg_unequal_first": 3.37165711364,
    "greg_unequal_second": 2.83704052087,
    "greg_unequal_se_first": 0.218168404672,
    "greg_unequal_se_second": 0.176295679122,
    "greg_unequal_covariance": -0.0149252180462,
    "greg_unequal_residual_se_first": 0.219942692989,
    "greg_unequal_residual_se_second": 0.175522960286,
    "greg_stratified_first": 3.36315810751,
    "greg_stratified_second": 2.94574264881,
    "greg_stratified_se_first": 0.159785191953,
    "greg_stratified_se_second": 0.28038440531,
    "greg_stratified_covariance": 0.00834797107904,
    "greg_stratified_residual_se_first": 0.173984868496,
    "greg_stratified_residual_se_second": 0.296961451844,
    "post_first": 3.14362121212,
    "post_second": 2.84023484848,
    "post_se_first": 0.240720469973,
    "post_se_second": 0.266551608979,
    "post_covariance": 0.0354379060465,
    "two_phases_first": 3.21944444444,
    "two_phases_second": 3.13166666667,
    "two_phases_se_first": 0.453759985616,
    "two_phases_se_second": 0.423891152479,
    "two_phases_covariance": 0.123399286492,
}


def judged(name: str) -> Floats:
    """Return the scores of one draw, NaN elsewhere."""
    return np.where(ITEMS[name][:, None] > 0, SCORES, np.nan)


def check(name: str, scores: Floats, covariance: Floats) -> None:
    """Compare two scores, their errors and their covariance."""
    errors = np.sqrt(np.diag(covariance))
    for place, model in enumerate(("first", "second")):
        assert scores[place] == pytest.approx(THEIRS[f"{name}_{model}"], rel=1e-9)
        assert errors[place] == pytest.approx(THEIRS[f"{name}_se_{model}"], rel=1e-9)
    if f"{name}_covariance" in THEIRS:
        assert covariance[0, 1] == pytest.approx(THEIRS[f"{name}_covariance"], rel=1e-9)


def check_estimate(name: str, found: Estimate) -> None:
    check(name, found.scores, found.covariance)


def check_form(name: str, sample: JudgedSample, linear: LinearForm) -> None:
    check(name, linear.scores(sample), set_errors(sample, linear).covariance)


def test_a_simple_random_sample() -> None:
    found = estimate_scores(judged("simple"))
    check_estimate("simple", found)
    assert 60 * found.scores[0] == pytest.approx(THEIRS["total_first"])
    assert 60 * found.standard_errors[0] == pytest.approx(THEIRS["total_se_first"], rel=1e-9)
    gap = found.difference("model 0", "model 1")
    assert gap.difference == pytest.approx(THEIRS["simple_gap"])
    assert gap.standard_error == pytest.approx(THEIRS["simple_gap_se"], rel=1e-9)


def test_of_inputs_like_these_it_is_a_sample_of_an_endless_population() -> None:
    check_estimate("endless", estimate_scores(judged("simple"), target="population"))


def test_a_stratified_sample() -> None:
    chance = np.array([9 / 30, 6 / 20, 5 / 10])[STRATUM]
    sample = sample_from_arrays(judged("stratified"), chance, strata=STRATUM)
    check_form("stratified", sample, StratifiedMean().linear(sample, judged_set(4), 0))


def test_a_sample_of_documents() -> None:
    found = estimate_scores(judged("clustered"), 5 / 12, units=DOCUMENT, documents=DOCUMENT, interval="t")
    check_estimate("clustered", found)


def test_everything_judged_is_a_sample_of_documents_of_the_population() -> None:
    check_estimate("everything", estimate_scores(SCORES, documents=DOCUMENT, target="population"))


def test_importance_makes_the_mean_a_ratio() -> None:
    check_estimate("ratio", estimate_scores(judged("simple"), weights=ITEMS["weight"]))


def test_a_part_of_the_set() -> None:
    sample = sample_from_arrays(judged("simple"))
    check_form("domain", *restrict_to(sample, difference_form(sample), STRATUM == 0))


def test_unequal_probabilities() -> None:
    sample = sample_from_arrays(judged("unequal"), ITEMS["chance"])
    hajek, exact = difference_form(sample), difference_form(sample, exact=True)
    assert hajek.scores(sample)[0] == pytest.approx(THEIRS["unequal_first"])
    assert hajek.scores(sample)[1] == pytest.approx(THEIRS["unequal_second"])
    assert 60 * exact.scores(sample)[0] == pytest.approx(THEIRS["unequal_total_first"])
    # Hájek and Deville's approximation of the joint probabilities is not Brewer's.
    errors = set_errors(sample, hajek).standard_errors
    covariance = set_errors(sample, hajek).covariance[0, 1]
    assert covariance == pytest.approx(THEIRS["unequal_covariance"], rel=0.05)
    assert errors[0] == pytest.approx(THEIRS["unequal_se_first"], rel=0.02)
    assert errors[1] == pytest.approx(THEIRS["unequal_se_second"], rel=0.02)
    of_total = 60 * set_errors(sample, exact).standard_errors[0]
    assert of_total == pytest.approx(THEIRS["unequal_total_se_first"], rel=0.003)


def regression(sample: JudgedSample) -> tuple[Floats, Floats]:
    """Return what weighted least squares on x predicts for all items, and the judged items' g-weights."""
    x = np.column_stack([np.ones(60), ITEMS["x"]])
    seen, weight = x[sample.rows], sample.share[:, :1]
    inverse = np.linalg.inv(seen.T @ (weight * seen))
    slopes = inverse @ seen.T @ (weight * sample.values)
    lacking = x.sum(axis=0) - (weight * seen).sum(axis=0)
    return x @ slopes, 1.0 + seen @ inverse @ lacking


@pytest.mark.parametrize("draw", ["simple", "stratified", "unequal"])
def test_greg_is_calibration(draw: str) -> None:
    chance = {"simple": 1 / 3, "stratified": np.array([0.3, 0.3, 0.5])[STRATUM], "unequal": ITEMS["chance"]}
    strata = STRATUM if draw == "stratified" else None
    sample = sample_from_arrays(judged(draw), chance[draw], strata=strata)
    predicted, calibrated = regression(sample)
    linear = difference_form(sample, predicted)
    name, errors = f"greg_{draw}", set_errors(sample, linear).standard_errors
    # Residuals weighed by 1/probability, as ours are; Brewer's approximation is 1 % away.
    close = 0.012 if draw == "unequal" else 1e-9
    weighed = replace(linear, residual=linear.residual * calibrated[:, None])
    theirs = set_errors(sample, weighed).standard_errors
    covariance = set_errors(sample, weighed).covariance[0, 1]
    assert covariance == pytest.approx(THEIRS[f"{name}_covariance"], rel=5 * close)
    for place, model in enumerate(("first", "second")):
        assert linear.scores(sample)[place] == pytest.approx(THEIRS[f"{name}_{model}"], rel=1e-9)
        assert errors[place] == pytest.approx(THEIRS[f"{name}_residual_se_{model}"], rel=close)
        # Calibrated weights on the same residuals.
        assert theirs[place] == pytest.approx(THEIRS[f"{name}_se_{model}"], rel=close)


def test_strata_afterwards_are_post_stratification() -> None:
    sample = sample_from_arrays(judged("simple"))
    drawn = STRATUM[sample.rows]
    means = np.array([sample.values[drawn == one].mean(axis=0) for one in range(3)])
    linear = difference_form(sample, means[STRATUM])
    # Theirs weigh residuals by how much of its stratum an item stands for.
    stands = np.array([30, 20, 10]) / np.bincount(drawn) / 3
    weighed = replace(linear, residual=linear.residual * stands[drawn][:, None])
    check("post", linear.scores(sample), set_errors(sample, weighed).covariance)


def test_a_sample_of_a_sample() -> None:
    sample = replace(sample_from_arrays(judged("both"), 0.3), pool=np.full(18, 0.6))
    check_form("two_phases", sample, difference_form(sample))
