from __future__ import annotations

import numpy as np
import pytest

from sparingly.published.irt.fit import mirrored, moment_start
from sparingly.published.irt.model import CONTINUOUS, Response, as_responses, default_priors, expit
from tests.published.irt.simulated import simulate, with_gaps


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_start_is_near_the_means_of_items_and_follows_those_of_models(response: Response) -> None:
    scores = np.clip(simulate(CONTINUOUS, 200, 8, 1, response).scores, 0, 1)
    start, shared = moment_start(as_responses(scores, response), default_priors(response))
    logit, slope, difficulty = start.values
    curve = expit(logit) * expit(slope * (shared.ability.mean() - difficulty))
    assert np.corrcoef(curve, scores.mean(axis=1))[0, 1] > 0.97
    assert (slope > 0).all()
    assert np.corrcoef(shared.ability, scores.mean(axis=0))[0, 1] > 0.99
    assert difficulty.mean() == pytest.approx(0.0, abs=0.05)


def test_start_does_not_depend_on_the_order_of_items_or_models() -> None:
    scores = with_gaps(simulate(CONTINUOUS, 30, 6, 2).scores, 0.2, 1)
    rows, columns = np.random.default_rng(3).permutation(30), np.random.default_rng(4).permutation(6)
    start, shared = moment_start(as_responses(scores, "continuous"), CONTINUOUS)
    other, shuffled = moment_start(as_responses(scores[np.ix_(rows, columns)], "continuous"), CONTINUOUS)
    np.testing.assert_allclose(other.values, start.values[:, rows])
    np.testing.assert_allclose(shuffled.ability, shared.ability[columns])


def test_gaps_do_not_make_a_model_look_weak() -> None:
    scores = np.add.outer(np.linspace(0.1, 0.8, 40), [0.0, 0.1])
    # The better model lacks the scores of the easy items.
    scores[20:, 1] = np.nan
    _, shared = moment_start(as_responses(scores, "continuous"), CONTINUOUS)
    assert shared.ability[1] > shared.ability[0]


def test_a_mirrored_item_falls_through_the_same_point() -> None:
    scores = simulate(CONTINUOUS, 10, 5, 5).scores
    start, shared = moment_start(as_responses(scores, "continuous"), CONTINUOUS)
    turned = mirrored(start, shared)
    centre = shared.ability.mean()
    steepness, opposite = (state.values[1] * (centre - state.values[2]) for state in (start, turned))
    assert (turned.values[1] < 0).all()
    assert (np.sign(steepness) == np.sign(opposite)).all()
