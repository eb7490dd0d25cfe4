"""Model and item effects against plain means and against a dense mixed-model solution."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats, Mask
from sparingly.infer.expect.expect import fit_effects, item_share


def made(items: int, models: int, seed: int, item_sd: float = 1.0) -> Floats:
    draw = np.random.default_rng(seed)
    hard = draw.normal(size=(items, 1)) * item_sd
    return draw.normal(size=models) + hard + draw.normal(size=(items, models))


def dense(scores: Floats, judged: Mask, share: float) -> tuple[Floats, Floats]:
    """Generalised least squares and the best linear prediction, with the whole covariance written out."""
    rows, columns = np.nonzero(judged)
    values = scores[rows, columns] - scores[rows, columns].mean()
    of_model, of_item = np.eye(scores.shape[1])[columns], np.eye(len(scores))[rows]
    inverse = np.linalg.inv(np.eye(len(rows)) + share * of_item @ of_item.T)
    models = np.linalg.solve(of_model.T @ inverse @ of_model, of_model.T @ inverse @ values)
    return models, share * of_item.T @ inverse @ (values - of_model @ models)


@pytest.mark.parametrize("share", [1e-6, 0.3, 5.0])
def test_on_complete_data_models_are_plain_means(share: float) -> None:
    scores = made(30, 4, 1)
    found = fit_effects(scores, np.ones(scores.shape, bool), share)
    np.testing.assert_allclose(found.centre + found.models, scores.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("share", [0.05, 0.7, 4.0])
def test_with_gaps_it_solves_the_mixed_model(share: float) -> None:
    scores = made(25, 5, 2)
    judged = np.random.default_rng(3).random(scores.shape) < 0.5
    judged[0] = True
    found = fit_effects(scores, judged, share)
    models, items = dense(scores, judged, share)
    # Up to what keeps a model without labels solvable.
    np.testing.assert_allclose(found.models, models, atol=1e-5)
    np.testing.assert_allclose(found.items, items, atol=1e-5)


def test_a_hard_item_does_not_count_against_who_was_judged_on_it() -> None:
    """Only one model was judged on the hard items: its plain mean is too low, the fit is not."""
    draw = np.random.default_rng(4)
    hard = np.where(np.arange(60) < 30, -3.0, 0.0)[:, None]
    scores = hard + 0.1 * draw.normal(size=(60, 3))
    judged = np.ones(scores.shape, bool)
    judged[5:30, 1:] = False
    found = fit_effects(scores, judged, item_share(scores - scores.mean(axis=0), judged))
    assert np.ptp([scores[judged[:, place], place].mean() for place in range(3)]) > 0.9
    assert np.ptp(found.models) < 0.2


def test_an_item_and_a_model_without_labels_add_nothing() -> None:
    scores = made(10, 3, 5)
    judged = np.ones(scores.shape, bool)
    judged[4] = judged[:, 2] = False
    found = fit_effects(scores, judged, 0.5)
    assert found.items[4] == 0.0
    assert found.models[2] == 0.0


def test_the_share_of_items_is_found_again() -> None:
    """κ = σ_a²/σ_e² = 4; 2000 items with 6 labels tell it up to about a twentieth."""
    scores = made(2000, 6, 6, item_sd=2.0)
    left = scores - scores.mean(axis=0)
    everything = np.ones(scores.shape, bool)
    assert item_share(left, everything) == pytest.approx(4.0, rel=0.1)
    some = np.random.default_rng(7).random(scores.shape) < 0.6
    assert item_share(np.where(some, left, 0.0), some) == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("kind", ["one label an item", "no noise"])
def test_where_nothing_tells_items_are_taken_not_to_vary(kind: str) -> None:
    scores = made(8, 3, 8)
    judged = np.zeros(scores.shape, bool)
    judged[:, 0] = True
    if kind == "no noise":
        scores, judged = np.ones((8, 3)), np.ones((8, 3), bool)
    assert item_share(scores, judged) < 1e-5
