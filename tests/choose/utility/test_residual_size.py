from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.choose.utility.residual_size import ResidualSize
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.features import Features
from sparingly.signals.predict.predict import centre_on_items, predict_scores, residual_sizes
from tests.choose.pilot_data import ITEMS, piloted, true_spread


def settled(data: EvalSet, **how: str) -> ResidualSize:
    return ResidualSize(**how).resolve(data)  # type: ignore[arg-type]


def test_it_is_made_of_two_predictions() -> None:
    data = piloted()
    labels = data.aspects["human"]
    features = Features(metrics=("quality", "doubt"), lengths=False)
    residual = labels - predict_scores(data, labels, features=features).held_out
    told = predict_scores(data, np.abs(residual), features=features).held_out
    least = 0.1 * np.nanmean(np.abs(residual))
    expected = np.sqrt((np.maximum(told, least) ** 2).sum(axis=1))
    np.testing.assert_allclose(settled(data).values(data), expected)


def test_it_finds_where_scores_are_far_from_predictions() -> None:
    data = piloted()
    found = settled(data).values(data)
    assert found.shape == (ITEMS,)
    assert np.corrcoef(found, true_spread())[0, 1] > 0.9


def test_where_nothing_can_be_learned_it_is_nearly_constant() -> None:
    data = piloted(known=False)
    found = settled(data).values(data)
    assert found.std() / found.mean() < 0.15


def test_a_ranking_does_not_mind_what_all_models_share() -> None:
    data = piloted()
    shared = true_spread()[:, None] * np.random.default_rng(9).normal(size=(ITEMS, 1)) * 5.0
    labels = data.aspects["human"] + shared
    plain, moved = (residual_sizes(data, human, goal="ranking") for human in (data.aspects["human"], labels))
    for found in (plain, moved):
        assert np.corrcoef(np.sqrt(found.expected), true_spread())[0, 1] > 0.9
    assert residual_sizes(data, labels).own.mean() > 3 * moved.own.mean()


def test_apart_leaves_what_orders_models() -> None:
    residual = np.array([[1.0, 3.0, np.nan], [2.0, np.nan, np.nan], [1.0, 2.0, 3.0]])
    expected = [[-1.0, 1.0, np.nan], [np.nan] * 3, [-1.0, 0.0, 1.0]]
    np.testing.assert_array_equal(centre_on_items(residual), expected)


def test_models_that_were_not_judged_are_taken_for_as_far_off() -> None:
    data = piloted()
    labels = data.aspects["human"].copy()
    rows = np.flatnonzero(~np.isnan(labels[:, 0]))
    labels[rows[0], 3:] = np.nan
    found = residual_sizes(data, labels)
    told = predict_scores(data, labels).held_out
    missed = (labels - told)[rows[0], :3]
    assert found.rows.tolist() == rows.tolist()
    assert found.own[0] == pytest.approx(6 * (missed**2).mean())


def test_equal_probabilities_of_the_pilot_change_nothing() -> None:
    data = piloted()
    plain, weighed = settled(data), settled(data, probability="chance")
    np.testing.assert_allclose(weighed.values(data), plain.values(data))
    assert weighed.chances(data)[~np.isnan(data.aspects["human"][:, 0])] == pytest.approx(80 / 300)


def test_it_reads_ratings_and_metrics_and_signs_them() -> None:
    data = piloted()
    chosen = sparingly.select(data, "residual_size", 20)
    assert chosen.signature.labels is not None
    assert "residual_size:aspect=human,goal=scores,metrics=[quality,doubt]" in chosen.signature.method
    read = settled(data, probability="chance").reads(data)
    assert read == {"aspect:human", "metric:quality", "metric:doubt", "column:chance"}


def test_without_ratings_or_metrics_it_says_so() -> None:
    data = piloted()
    with pytest.raises(MissingDataError, match="aspect"):
        sparingly.select(data.without_labels(), "residual_size", 20)
    bare = data.only(name for name in data.fields if not name.startswith("metric"))
    with pytest.raises(MissingDataError, match="needs metrics"):
        sparingly.select(bare, "residual_size", 20)
    with pytest.raises(UnknownNameError, match="quality"):
        sparingly.select(data, "residual_size:metrics=[qualty]", 20)


def test_probabilities_of_the_pilot_must_be_some() -> None:
    data = piloted()
    with pytest.raises(DataError, match="cannot be the inclusion probabilities"):
        settled(data, probability="weight").values(data)
    with pytest.raises(UsageError, match="chance"):
        sparingly.select(data, "residual_size:probability=chances", 20)


def test_with_three_judged_items_all_count_the_same() -> None:
    data = piloted(3)
    assert settled(data).values(data).tolist() == [1.0] * ITEMS
