"""Raters against R's lme4 1.1.31 (REML, bobyqa): every number by ``Rscript tests/known_answers/lme4.R``."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.stats.crossed_effects import CrossedEffects, fit_crossed_effects
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings
from sparingly.infer.estimate.rater_effects import severity
from tests.known_answers.tables import columns

THEIRS = {
    "full_item_model": 6.749672544,
    "full_item": 4.057066089,
    "full_rater_model": 0.06483785237,
    "full_rater": 0.5549870357,
    "full_Residual": 1.178272932,
    "plain_item_model": 6.649097677,
    "plain_item": 4.065227876,
    "plain_rater": 0.5719253021,
    "plain_Residual": 1.264312212,
    "severity_0": -0.1896427782,
    "severity_1": -0.7270211832,
    "severity_2": -0.2092177779,
    "severity_3": 1.125881739,
    "severity_se_0": 0.2271207916,
    "severity_se_1": 0.2513798159,
    "severity_se_2": 0.2511430237,
    "severity_se_3": 0.2444391201,
    "severity_gap_se": 0.391595791,
    "crossed_item_model": 13.29545443,
    "crossed_item": 1.543560942,
    "crossed_rater_model": 0.4609848744,
    "crossed_rater": 3.879166892,
    "crossed_Residual": 1.818181804,
    "crossed_mean_se": 1.536066842,
    "crossed_gap_se": 1.588130689,
}


def fitted(*, taste: bool) -> CrossedEffects:
    table = columns("ratings.csv")
    item, model, rater = (table[name].astype(np.int64) for name in ("item", "model", "rater"))
    return fit_crossed_effects(table["score"], model, rater, [item * 4 + model, item], taste=taste)


@pytest.mark.parametrize("taste", [True, False])
def test_variances_are_those_of_the_best_fit(taste: bool) -> None:
    """A search over standard deviations from 0.5 stops with item and rater × model at 0."""
    found, name = fitted(taste=taste), "full" if taste else "plain"
    # Both optimisers stop within 1e-5 of the optimum.
    assert found.nested[0] == pytest.approx(THEIRS[f"{name}_item_model"], rel=2e-5)
    assert found.nested[1] == pytest.approx(THEIRS[f"{name}_item"], rel=2e-5)
    assert found.rater == pytest.approx(THEIRS[f"{name}_rater"], rel=2e-5)
    assert found.noise == pytest.approx(THEIRS[f"{name}_Residual"], rel=2e-5)
    assert found.taste == pytest.approx(THEIRS["full_rater_model"] if taste else 0.0, rel=1e-4)


def test_severities_and_their_errors() -> None:
    found = fitted(taste=True)
    errors = np.sqrt(np.diag(found.severity_covariance))
    for rater in range(4):
        assert found.severity[rater] == pytest.approx(THEIRS[f"severity_{rater}"], rel=1e-5)
        assert errors[rater] == pytest.approx(THEIRS[f"severity_se_{rater}"], rel=1e-5)
    gap = np.array([1.0, 0.0, 0.0, -1.0])
    error = np.sqrt(gap @ found.severity_covariance @ gap)
    assert error == pytest.approx(THEIRS["severity_gap_se"], rel=1e-5)


def crossed() -> EvalSet:
    """Twelve items, three models, four raters: everything judged by everyone."""
    item, model, rater = (part.ravel() for part in np.meshgrid(range(12), range(3), range(4), indexing="ij"))
    score = (7 * item + 3 * model) % 11 + 0.5 * rater**2 + (5 * item + 2 * model + 3 * rater) % 4
    score = score + 0.7 * ((model + 2 * rater) % 3) + 1.5 * (item % 5)
    means = score.reshape(12, 3, 4).mean(axis=2)
    table = Ratings(
        item=item.astype(np.int32),
        model=model.astype(np.int32),
        rater=rater.astype(np.int32),
        aspect=np.zeros(len(item), np.int32),
        score=score.astype(np.float64),
        seconds=np.full(len(item), np.nan),
        raters=("a", "b", "c", "d"),
        aspects=("good",),
    )
    names = [f"i{place:02d}" for place in range(12)]
    return EvalSet.from_arrays(names, ["m0", "m1", "m2"], aspects={"good": means}, ratings=table)


def test_errors_of_scores_for_other_items_and_raters() -> None:
    data = crossed()
    known = severity(data, "good")
    for name, theirs in {
        "item × model": "item_model",
        "item": "item",
        "rater × model": "rater_model",
        "rater": "rater",
        "noise": "Residual",
    }.items():
        assert known.variances[name] == pytest.approx(THEIRS[f"crossed_{theirs}"], rel=1e-4), name
    found = sparingly.estimate(data, None, "good", estimator="mean", target="population", interval="t")
    wider = sparingly.with_rater_errors(found, data).covariance
    own, shared = float(np.diag(wider).mean()), float(wider[~np.eye(3, dtype=bool)].mean())
    # Ours takes what 48 pairs of an item and a rater add for counted by the items; theirs does not.
    severe, taste = (known.variances[name] / 48 for name in ("rater", "rater × model"))
    assert np.sqrt(own + severe + taste) == pytest.approx(THEIRS["crossed_mean_se"], rel=1e-5)
    assert np.sqrt(2 * (own + taste - shared)) == pytest.approx(THEIRS["crossed_gap_se"], rel=1e-5)
