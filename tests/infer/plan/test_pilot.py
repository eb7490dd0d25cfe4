from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.data.describe.metrics import correlation
from sparingly.infer.estimate.sample import ASSUMED
from sparingly.infer.plan.pilot import DOCUMENTS_UNKNOWN, TOO_SMALL, Pilot, pilot_of, pilot_without
from tests.infer.plan.sets import drawn_pilot, made_set

DATA = made_set()


def known(data: sparingly.EvalSet = DATA, n: int | None = 100, aspect: str | None = "people") -> Pilot:
    pilot = None if n is None else drawn_pilot(data, n)
    return pilot_of(data, pilot, aspect, for_differences=False, seed=0)


def test_a_pilot_tells_the_spread_and_what_the_metrics_save() -> None:
    found = known()
    rows = DATA.positions(drawn_pilot(DATA, 100).items)
    np.testing.assert_allclose(found.spread, np.cov(DATA.aspects["people"][np.sort(rows)].T))
    assert (found.n, found.size, found.truth, found.stands_in) == (100, 400, "people", False)
    assert found.saving is not None
    # Variance of scores: 1 + 1 + 1, of which the metric knows two thirds; of differences: half.
    assert found.saving.scores == pytest.approx(2 / 3, abs=0.07)
    assert found.saving.differences == pytest.approx(1 / 2, abs=0.1)
    assert np.trace(found.residual_spread) == pytest.approx(
        (1 - found.saving.scores) * np.trace(found.spread)
    )


def test_correlations_are_those_of_the_pilot_the_best_by_differences_first() -> None:
    found = known()
    assert [one.metric for one in found.correlations] == ["good", "weak"]
    rows = np.sort(DATA.positions(drawn_pilot(DATA, 100).items))
    expected = correlation(DATA.metrics["good"][rows], DATA.aspects["people"][rows], "good", "people")
    assert found.correlations[0] == expected


def test_scores_are_in_doubt_unless_everything_is_judged() -> None:
    some, everything = known(n=40), known(n=None)
    assert (some.scores.std(axis=0) > 0.01).all()
    truth = DATA.aspects["people"].mean(axis=0)
    np.testing.assert_allclose(everything.scores, np.broadcast_to(truth, everything.scores.shape))
    assert everything.saving is not None
    assert everything.saving.scores == pytest.approx(2 / 3, abs=0.05)


def test_judged_items_without_a_selection_are_said_to_be_assumed_uniform() -> None:
    some = np.where(np.arange(400)[:, None] < 50, DATA.aspects["people"], np.nan)
    found = pilot_of(DATA.with_aspect("some", some), None, "some", for_differences=False, seed=0)
    assert ASSUMED in found.notes


def test_a_pilot_below_thirty_items_says_nothing_of_metrics() -> None:
    found = known(n=20)
    assert (found.saving, found.unequal) == (None, None)
    assert TOO_SMALL in found.notes
    np.testing.assert_array_equal(found.residual_spread, found.spread)


def test_a_set_without_metrics_has_nothing_to_save() -> None:
    bare = DATA.only(["aspect:people"])
    found = known(bare, 60)
    assert (found.saving, found.unequal, found.correlations, found.notes) == (None, None, (), ())


def test_models_that_nobody_judged_are_left_out() -> None:
    scores = DATA.aspects["people"].copy()
    scores[:, 2] = np.nan
    found = known(DATA.with_aspect("people", scores), 60)
    assert found.data.models == ("model 0", "model 1", "model 3")
    assert "1 of 4 models was not judged: left out." in found.notes


def test_without_an_aspect_a_metric_stands_in() -> None:
    bare = DATA.without_labels().with_metric("copy", DATA.metrics["good"] + 0.1 * DATA.metrics["weak"])
    found = pilot_of(bare, None, None, for_differences=False, seed=0)
    # The two that agree with each other agree most with the others, the mixed one also with the third.
    assert found.truth == "copy"
    assert found.stands_in
    assert {one.metric for one in found.correlations} == {"good", "weak"}
    np.testing.assert_allclose(found.scores[0], bare.metrics["copy"].mean(axis=0))
    assert (found.scores == found.scores[0]).all()
    assert found.saving is None
    named = pilot_of(DATA, None, "metric:weak", for_differences=False, seed=0)
    assert (named.truth, named.stands_in) == ("weak", True)


def test_what_is_known_without_a_metric() -> None:
    found = pilot_without(known(), ["good"], for_differences=False, seed=0)
    assert found.saving is not None
    assert found.saving.scores < 0.05
    assert [one.metric for one in found.correlations] == ["weak"]


def test_other_inputs_vary_by_the_spread_over_the_items_and_documents() -> None:
    found = known()
    np.testing.assert_allclose(found.population_covariance, found.spread / 400)
    document = [f"d{place // 8}" for place in range(400)]
    grouped = made_set(columns={"document": document})
    shared = np.repeat(np.random.default_rng(5).normal(size=50), 8)[:, None]
    grouped = grouped.with_aspect("people", grouped.aspects["people"] + 2 * shared)
    clustered = known(grouped, 200)
    assert clustered.documents is not None
    assert np.trace(clustered.population_covariance) > 3 * np.trace(clustered.spread) / 400
    few = known(made_set(columns={"document": [f"d{place // 2}" for place in range(400)]}), 40)
    assert few.documents is None
    assert DOCUMENTS_UNKNOWN in few.notes


def test_what_is_no_pilot() -> None:
    top = sparingly.select(DATA, "metric_avg:metric=good", 50)
    with pytest.raises(UsageError, match="top of a list is not a pilot"):
        pilot_of(DATA, top, "people", for_differences=False, seed=0)
    with pytest.raises(DataError, match="A pilot of 9 judged items"):
        known(n=9)
    for score, hint in (
        (3.0, r'sparingly.sample_size\(detect="0.3sd", models=4\)'),
        (1.0, 'pass_rate="99%"'),
        (0.0, 'pass_rate="1%"'),
    ):
        with pytest.raises(DataError, match=f"the same score on all its judged items.*{hint}"):
            known(DATA.with_aspect("people", np.full((400, 4), score)))
    with pytest.raises(MissingDataError, match="needs a pilot's ratings or metrics"):
        pilot_of(DATA.only(()), None, None, for_differences=False, seed=0)
    with pytest.raises(MissingDataError, match="needs models"):
        pilot_of(DATA.take(models=[]), None, None, for_differences=False, seed=0)
    with pytest.raises(UsageError, match="There are 2 aspects"):
        pilot_of(DATA.with_aspect("more", DATA.aspects["people"]), None, None, for_differences=False, seed=0)


@pytest.mark.parametrize("n", [12, 30, 80])
def test_sets_without_anything_to_predict_from_are_planned_as_they_are_estimated(n: int) -> None:
    """No metrics, metrics that are all the same or missing, texts of one length: the plain mean is used."""
    people = {"people": DATA.aspects["people"]}
    same, missing = np.ones((400, 4)), np.full((400, 4), np.nan)
    for parts in (
        {},
        {"metrics": {"same": same, "missing": missing}},
        {"sources": ["two words"] * 400},
        {"metrics": {"same": same}, "sources": ["two words"] * 400},
        {"sources": ["word " * (1 + place % 9) for place in range(400)]},
    ):
        data = sparingly.EvalSet.from_arrays(list(DATA.items), DATA.models, aspects=people, **parts)
        found = known(data, n=n)
        assert (found.saving, found.predicted, found.notes) == (None, None, ())
        pilot = drawn_pilot(data, n)
        assert sparingly.estimate(data, pilot, "people").estimator == "weighted_mean"
