from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from benchmarks.best_calibration import chance_of_better
from sparingly.base.errors import UsageError
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.full_set_p import (
    EffectPrior,
    SetDocuments,
    chance_full_set_shows,
    full_set_chances,
    full_set_p_values,
)
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.rank import joint_of


def test_it_is_the_z_test_that_the_whole_set_would_have() -> None:
    # d̂ = .1, s = 1, N = 400: z = 2.
    found = full_set_p_values(np.array([0.1, -0.1, 0.0]), np.ones(3), 400)
    assert found == pytest.approx([norm.sf(2), norm.cdf(2), 0.5])


def test_noise_is_shrunk_away() -> None:
    # mean d̂² = .01 = se²: nothing is left; with se² = .005 half of each difference is.
    d = np.array([0.1, -0.1])
    assert full_set_p_values(d, np.ones(2), 400, errors=np.full(2, 0.1)) == pytest.approx([0.5, 0.5])
    half = full_set_p_values(d, np.ones(2), 400, errors=np.full(2, np.sqrt(0.005)))
    assert half == pytest.approx([norm.sf(1), norm.cdf(1)])


def test_no_spread_and_no_difference() -> None:
    found = full_set_p_values(np.array([0.0, 1.0, np.nan]), np.array([0.0, 0.0, 1.0]), 10)
    assert found[:2].tolist() == [0.5, 0.0]
    assert np.isnan(found[2])


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(UsageError, match="one deviation"):
        full_set_p_values(np.zeros(2), np.ones(3), 10)
    with pytest.raises(UsageError, match="one item or more"):
        full_set_p_values(np.zeros(2), np.ones(2), 0)


def test_a_fully_judged_set_shows_what_its_ranking_decides() -> None:
    for seed in range(20):
        draw = np.random.default_rng(seed)
        scores = draw.normal(size=(200, 1)) + draw.normal(size=(200, 5)) + np.linspace(0, 0.6, 5)
        found = estimate_scores(scores, target="population")
        assert found.pairs is not None
        joint = joint_of(found)
        decided = decide(joint.tests().agreeing(joint.scores), joint.scores)
        chance = full_set_chances(found.scores, found.pairs)
        off = ~np.eye(5, dtype=bool)
        # But for pairs on the verge, since tails are reckoned with in the mean over all pairs.
        clear = off & (np.abs(np.log(decided.adjusted / 0.05)) > 0.3)
        assert np.count_nonzero(clear) >= 14
        assert chance[clear] == pytest.approx((decided.adjusted <= 0.05)[clear].astype(float), abs=1e-6)


def test_over_this_set_any_difference_counts_once_all_is_judged() -> None:
    scores = np.random.default_rng(3).normal(size=(40, 3)) + np.array([0.0, 0.4, 0.1])
    over_set, beyond = (
        full_set_chances(found.scores, found.pairs)
        for target in ("set", "population")
        if (found := estimate_scores(scores, size=60, target=target)).pairs is not None
    )
    off = ~np.eye(3, dtype=bool)
    assert (over_set > beyond)[off].all()
    assert (over_set[off] > 0.5).all()
    order = chance_of_better(scores.mean(axis=0), np.cov(scores.T) * (1 / 40 - 1 / 60), degrees=39, units=120)
    assert over_set[off] == pytest.approx(np.maximum(order, order.T)[off], abs=0.03)


def test_the_correction_for_all_pairs_lowers_chances() -> None:
    apart, errors = np.array([0.12]), np.array([0.03])
    alone = chance_full_set_shows(apart, errors, np.ones(1), 400, models=2)
    many = chance_full_set_shows(
        np.concatenate([apart, np.zeros(44)]), np.full(45, 0.03), np.ones(45), 400, models=10
    )
    assert many[0] < alone[0] - 0.2


def test_documents_lower_chances_and_few_of_them_leave_none() -> None:
    draw = np.random.default_rng(5)
    document = np.repeat(np.arange(40), 10)
    shared = draw.normal(size=(40, 3))[document]
    scores = shared + draw.normal(size=(400, 3)) + np.array([0.0, 0.3, 0.5])
    scores[draw.random(400) > 0.3] = np.nan
    plain, by_document, few = (
        full_set_chances(found.scores, found.pairs)
        for documents in (None, document, document // 8)
        if (found := estimate_scores(scores, target="population", documents=documents)).pairs is not None
    )
    off = ~np.eye(3, dtype=bool)
    assert (by_document < plain)[off].all()
    assert np.isnan(few).all()


def test_the_correlation_within_documents_is_learned_where_many_items_tell_it() -> None:
    few, many = (SetDocuments(50, 11.0, 40.0, repeated, 6.0) for repeated in (0.0, 1e6))
    assert few.expected_inflation(EffectPrior(document_correlation=0.2)) == pytest.approx(3.0)
    assert many.expected_inflation(EffectPrior(document_correlation=0.2)) == pytest.approx(6.0, abs=1e-3)


def test_the_chance_that_all_items_show_it_by_numerical_integration() -> None:
    size, seen, noise = 400, 2.5, 3.0
    # rank adds κ squared deviations for tails.
    full = 1.0 / size * (1 + 10 / size)
    chance = chance_full_set_shows(
        np.array([seen * np.sqrt(full)]),
        np.array([np.sqrt(noise * full)]),
        np.ones(1),
        size,
        models=2,
        unseen=10.0,
    )
    log_effect = np.linspace(-3, 3, 601)
    z = np.linspace(-60, 60, 24_001)
    room = (0.5 * np.exp(0.8 * log_effect)) ** 2 / full
    prior = np.exp(-0.5 * log_effect[:, None] ** 2) * stats.norm.pdf(z, scale=np.sqrt(room)[:, None])
    posterior = prior.sum(axis=0) * stats.norm.pdf(seen, z, np.sqrt(noise))
    expected = posterior[z > stats.t.ppf(0.975, size - 1)].sum() / posterior.sum()
    assert chance[0] == pytest.approx(expected, abs=0.005)


def test_noise_lowers_the_chance_and_more_items_raise_it() -> None:
    apart, spread = np.array([0.2, 0.2, 0.2]), np.ones(3)
    chance = chance_full_set_shows(apart, np.array([0.01, 0.1, 0.2]), spread, 400, models=3, degrees=30)
    assert chance[0] > chance[1] > chance[2] > 0.1
    # A set of twenty items does not show a fifth of a standard deviation, however sure the estimate.
    assert chance_full_set_shows(apart, np.full(3, 0.01), spread, 20, models=3).max() < 0.01


def test_the_same_difference_on_every_judged_item_says_nothing() -> None:
    chance = chance_full_set_shows(
        np.array([0.5, 0.5, np.nan]), np.array([0.0, 0.1, 0.1]), np.array([0.0, 1.0, 1.0]), 100, models=3
    )
    assert np.isnan(chance).tolist() == [True, False, True]


def test_chances_need_arrays_that_belong_together() -> None:
    with pytest.raises(UsageError, match="one error and one deviation"):
        chance_full_set_shows(np.zeros(2), np.ones(3), np.ones(2), 10, models=2)
    with pytest.raises(UsageError, match="two items and two models"):
        chance_full_set_shows(np.zeros(1), np.ones(1), np.ones(1), 1, models=2)


def test_chances_of_an_estimate_are_those_of_its_arrays() -> None:
    scores = np.random.default_rng(3).normal(size=(40, 3)) + np.array([0.0, 0.4, 0.1])
    found = estimate_scores(scores, size=600, target="population")
    assert found.pairs is not None
    square = full_set_chances(found.scores, found.pairs)
    apart = np.stack([scores[:, 0] - scores[:, 1], scores[:, 0] - scores[:, 2], scores[:, 1] - scores[:, 2]])
    spread = apart.std(axis=1, ddof=1)
    errors = spread * np.sqrt(1 / 40 - 1 / 600)
    by_hand = chance_full_set_shows(
        apart.mean(axis=1), errors, spread, 600, models=3, degrees=39, unseen=found.pairs.tails.unseen
    )
    assert square[[0, 0, 1], [1, 2, 2]] == pytest.approx(by_hand)
    assert square[[1, 2, 2], [0, 0, 1]] == pytest.approx(by_hand)
    assert np.isnan(np.diag(square)).all()
    few = estimate_scores(scores[:9], size=600, target="population")
    assert few.pairs is not None
    assert np.isnan(full_set_chances(few.scores, few.pairs)).all()
