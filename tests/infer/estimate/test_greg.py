from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.estimators import Greg, fold_groups
from sparingly.infer.estimate.sample import JudgedSample, difference_form
from sparingly.infer.estimate.variance import set_errors
from sparingly.signals.predict import predict_scores
from tests.infer.estimate.sets import judged_set, some_rows, with_judged

DATA = judged_set()
ROWS = some_rows(DATA, 60)


def labels(sample: JudgedSample) -> Floats:
    told = np.full((sample.size, sample.models), np.nan)
    told[sample.rows] = sample.scores
    return told


def test_without_the_guard_it_is_the_corrected_mean_of_held_out_predictions() -> None:
    judged, sample = with_judged(DATA, ROWS)
    told = predict_scores(judged, labels(sample), seed=4).held_out
    expected = told.mean(axis=0) + (DATA.aspects["truth"] - told)[ROWS].mean(axis=0)
    linear = Greg(guard=False).linear(sample, judged, 4)
    assert linear.scores(sample) == pytest.approx(expected)
    assert linear.parameters == 1.0


def test_in_sample_it_counts_what_was_fitted() -> None:
    judged, sample = with_judged(DATA, ROWS)
    told = predict_scores(judged, labels(sample), crossfit=False)
    linear = Greg(guard=False, crossfit=False).linear(sample, judged, 0)
    expected = told.everywhere.mean(axis=0) + (DATA.aspects["truth"] - told.everywhere)[ROWS].mean(axis=0)
    assert linear.scores(sample) == pytest.approx(expected)
    assert told.parameters is not None
    assert linear.parameters == pytest.approx(max(1.0, told.parameters))


def test_metrics_that_follow_people_make_errors_smaller() -> None:
    judged, sample = with_judged(DATA, ROWS)
    linear = Greg().linear(sample, judged, 0)
    plain = set_errors(sample, difference_form(sample)).standard_errors
    assert (set_errors(sample, linear).standard_errors < 0.6 * plain).all()
    assert linear.fallen_back is not None
    assert not linear.fallen_back.any()
    assert Greg().reads(judged) == {"metric:good", "metric:weak"}


def test_few_items_and_useless_metrics_fall_back() -> None:
    useless = judged_set(follows=0.0)
    for data, rows in ((DATA, ROWS[:20]), (useless, ROWS)):
        judged, sample = with_judged(data, rows)
        linear = Greg().linear(sample, judged, 0)
        assert linear.fallen_back is not None
        assert linear.fallen_back.all()
        assert linear.scores(sample) == pytest.approx(data.aspects["truth"][rows].mean(axis=0))
        assert "fall back to the weighted mean" in linear.notes[0]


def test_documents_stay_in_one_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    judged, sample = with_judged(DATA, np.arange(60))
    seen = {}

    def spy(*given: object, **named: object) -> object:
        seen.update(named)
        return predict_scores(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("sparingly.signals.predict.predict_scores", spy)
    Greg().linear(replace(sample, unit=np.arange(60) // 2), judged, 0)
    groups = np.asarray(seen["groups"])
    assert (groups[:60] == np.arange(60) // 2).all()
    assert len(np.unique(groups)) == 30 + 60
    Greg().linear(sample, judged, 0)
    assert seen["groups"] is None


def test_a_model_that_was_not_judged_has_no_score_and_hurts_nobody() -> None:
    judged, sample = with_judged(DATA, ROWS)
    scores = sample.scores.copy()
    scores[:, 1] = np.nan
    part = replace(sample, scores=scores)
    linear = Greg().linear(part, judged, 0)
    assert linear.fallen_back is not None
    assert not linear.fallen_back.any()
    assert np.isnan(linear.scores(part)[1])
    assert np.isfinite(linear.scores(part)[[0, 2]]).all()


def test_it_is_what_is_taken_unless_something_else_is_named() -> None:
    chosen = sparingly.select(DATA, "uniform", 60, seed=1)
    assert sparingly.estimate(DATA, chosen, "truth").estimator == "greg"
    bare = DATA.only(["aspect:truth"])
    assert sparingly.estimate(bare, chosen, "truth").estimator == "weighted_mean"
    strata = sparingly.select(DATA, "stratified:by=metrics,size=30", 60, seed=1)
    assert sparingly.estimate(DATA, strata, "truth").estimator == "greg"


def test_items_of_one_document_of_a_pool_stay_in_one_fold() -> None:
    _, sample = with_judged(DATA, ROWS)
    documents = np.arange(60) // 2
    groups = fold_groups(replace(sample, pool=np.full(60, 0.5), pool_unit=documents))
    assert groups is not None
    assert groups[sample.rows].tolist() == documents.tolist()
    assert len(np.unique(groups)) == 30 + 60
